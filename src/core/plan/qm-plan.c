/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/qm-plan.h"

#include <math.h>
#include <string.h>

#include "plan/qm-plan-fields.h"
#include "qm-error.h"

/* Estimates are of what is foreseen: allocators, other programs and longer
 * inputs than usual are not. */
#define USUAL_HEADROOM 0.2

QM_DEFINE_ERROR_DOMAIN ("qm-plan-error-quark", qm_plan_error_quark)

G_DEFINE_BOXED_TYPE (QmPlan, qm_plan, qm_plan_copy, qm_plan_free)

/**
 * qm_plan_new:
 *
 * Returns: (transfer full): a plan in which nothing is answered
 */
QmPlan *
qm_plan_new (void)
{
  QmPlan *self = g_new0 (QmPlan, 1);
  guint n;
  const QmField *fields = qm_plan_fields (&n);

  for (guint i = 0; i < n; i++)
    qm_plan_field_unset (&fields[i], self);

  return self;
}

/**
 * qm_plan_copy:
 * @self: a plan
 *
 * Returns: (transfer full): a copy
 */
QmPlan *
qm_plan_copy (const QmPlan *self)
{
  QmPlan *copy = g_memdup2 (self, sizeof *self);

  copy->title = g_strdup (self->title);
  copy->model.file = g_strdup (self->model.file);
  qm_json_box_ref (self->model.architecture);

  return copy;
}

/**
 * qm_plan_free:
 * @self: (transfer full) (nullable): a plan
 */
void
qm_plan_free (QmPlan *self)
{
  if (self == NULL)
    return;

  g_free (self->title);
  g_free (self->model.file);
  g_clear_pointer (&self->model.architecture, qm_json_box_unref);
  g_free (self);
}

static gboolean
same_quotes (const QmPlan *a,
             const QmPlan *b)
{
  if (a->n_quotes != b->n_quotes || a->n_results != b->n_results)
    return FALSE;
  for (int i = 0; i < a->n_results; i++)
    if (a->results[i].samples != b->results[i].samples || a->results[i].score != b->results[i].score)
      return FALSE;
  for (int i = 0; i < a->n_quotes; i++)
    {
      const QmQuote *x = &a->quotes[i], *y = &b->quotes[i];

      if (!g_str_equal (x->device, y->device) || x->devices != y->devices || x->nodes != y->nodes || x->hours != y->hours ||
          x->money != y->money || !(x->accuracy == y->accuracy || (isnan (x->accuracy) && isnan (y->accuracy))))
        return FALSE;
    }

  return TRUE;
}

/**
 * qm_plan_equal:
 * @a: a plan
 * @b: another
 *
 * Returns: whether both give the same answers
 */
gboolean
qm_plan_equal (const QmPlan *a,
               const QmPlan *b)
{
  guint n;
  const QmField *fields = qm_plan_fields (&n);

  for (guint i = 0; i < n; i++)
    if (!qm_plan_field_equal (&fields[i], a, b))
      return FALSE;

  if (a->places.n_owned != b->places.n_owned)
    return FALSE;
  for (int i = 0; i < a->places.n_owned; i++)
    {
      const QmOwned *x = &a->places.owned[i], *y = &b->places.owned[i];

      if (!g_str_equal (x->device, y->device) || x->devices != y->devices || x->nodes != y->nodes || x->host_memory_bytes != y->host_memory_bytes)
        return FALSE;
    }

  return same_quotes (a, b);
}

/**
 * qm_plan_get_currency:
 * @self: a plan
 *
 * Returns: (transfer none): the ISO 4217 code of its currency, US dollars where
 *   it names none
 */
const char *
qm_plan_get_currency (const QmPlan *self)
{
  return self->limits.currency[0] != '\0' ? self->limits.currency : "USD";
}

/**
 * qm_plan_get_headroom:
 * @self: a plan
 *
 * Returns: the share of memory that is to stay free, 0 to 1: the usual fifth
 *   where it says none
 */
double
qm_plan_get_headroom (const QmPlan *self)
{
  return isnan (self->limits.headroom) ? USUAL_HEADROOM : self->limits.headroom;
}

/**
 * qm_plan_has_limits:
 * @self: a plan as it was given
 *
 * Returns: whether the person set any limit on money, time, quality or latency
 */
gboolean
qm_plan_has_limits (const QmPlan *self)
{
  return !isnan (self->limits.money) || !isnan (self->limits.hours) || !isnan (self->limits.min_accuracy) ||
         self->serving.latency_p99_seconds > 0;
}

/**
 * qm_plan_is_training:
 * @self: a plan
 *
 * Returns: whether weights are changed
 */
gboolean
qm_plan_is_training (const QmPlan *self)
{
  return self->activity == QM_ACTIVITY_TRAIN || self->activity == QM_ACTIVITY_FINE_TUNE;
}

/**
 * qm_plan_is_inference:
 * @self: a plan
 *
 * Returns: whether a model is used as it is
 */
gboolean
qm_plan_is_inference (const QmPlan *self)
{
  return self->activity == QM_ACTIVITY_SERVE || self->activity == QM_ACTIVITY_BATCH_INFERENCE;
}

/**
 * qm_word_set:
 * @word: (inout): a word
 * @value: (nullable): what it is to hold; cut after 63 bytes
 */
void
qm_word_set (QmWord      word,
             const char *value)
{
  g_strlcpy (word, value != NULL ? value : "", sizeof (QmWord));
}

/**
 * qm_word_list_contains:
 * @self: a list, given or not
 * @word: a word
 *
 * Returns: whether @word is in it
 */
gboolean
qm_word_list_contains (const QmWordList *self,
                       const char       *word)
{
  for (int i = 0; i < self->n; i++)
    if (g_str_equal (self->words[i], word))
      return TRUE;

  return FALSE;
}

/**
 * qm_plan_warning_free:
 * @self: (transfer full) (nullable): a warning
 */
void
qm_plan_warning_free (QmPlanWarning *self)
{
  if (self == NULL)
    return;

  g_free (self->path);
  qm_message_free (self->message);
  g_free (self);
}

/**
 * qm_plan_total_samples:
 * @plan: a plan
 *
 * Returns: samples over all epochs, or of the whole batch job; 0 where the plan
 *   does not say
 */
double
qm_plan_total_samples (const QmPlan *plan)
{
  double epochs = plan->training.epochs > 0 ? plan->training.epochs : 1;

  if (qm_plan_is_inference (plan))
    return plan->serving.samples;
  if (plan->training.samples > 0)
    return plan->training.samples * epochs;
  if (plan->training.tokens > 0 && plan->training.sequence_length > 0)
    return plan->training.tokens * epochs / plan->training.sequence_length;

  return 0;
}

/**
 * qm_plan_total_tokens:
 * @plan: a plan
 *
 * Returns: tokens over all epochs; 0 where the plan does not say. A sample
 *   whose tokens are not counted is as long as the sequence length
 */
double
qm_plan_total_tokens (const QmPlan *plan)
{
  double epochs = plan->training.epochs > 0 ? plan->training.epochs : 1;

  if (plan->training.tokens > 0)
    return plan->training.tokens * epochs;

  return plan->training.samples * plan->training.sequence_length * epochs;
}

/**
 * qm_plan_exclude:
 * @self: a plan
 * @id: of an offer or a device that cannot be had
 *
 * Remembers it, the last of them in place of the first where there are too many.
 *
 * Returns: whether @id fits into a plan
 */
gboolean
qm_plan_exclude (QmPlan     *self,
                 const char *id)
{
  QmWordList *list = &self->places.excluded;

  if (strlen (id) >= sizeof (QmWord))
    return FALSE;
  if (list->n > 0 && qm_word_list_contains (list, id))
    return TRUE;

  if (list->n == QM_MAX_WORDS)
    {
      memmove (list->words, list->words + 1, (QM_MAX_WORDS - 1) * sizeof (QmWord));
      list->n--;
    }
  list->n = MAX (0, list->n);
  qm_word_set (list->words[list->n++], id);

  return TRUE;
}
