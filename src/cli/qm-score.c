/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-score.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "qm-error.h"
#include "qm-file.h"
#include "qm-json-error.h"

#define LARGEST_FILE (256 * 1024 * 1024)

static void
scored_free (QmScored *self)
{
  g_free (self->id);
  g_free (self->key);
  g_free (self->group);
  g_free (self->task);
  g_strfreev (self->tags);
  g_free (self);
}

static void
unscored_free (QmUnscored *self)
{
  g_free (self->id);
  g_free (self->key);
  g_free (self->code);
  g_free (self->message);
  g_free (self);
}

/**
 * qm_score_new:
 *
 * Returns: (transfer full): a score without cases
 */
QmScore *
qm_score_new (void)
{
  QmScore *self = g_new0 (QmScore, 1);

  self->cases = g_ptr_array_new_with_free_func ((GDestroyNotify) scored_free);
  self->failed = g_ptr_array_new_with_free_func ((GDestroyNotify) unscored_free);

  return self;
}

/**
 * qm_score_free:
 * @self: (transfer full) (nullable): a score
 */
void
qm_score_free (QmScore *self)
{
  if (self == NULL)
    return;

  g_ptr_array_unref (self->cases);
  g_ptr_array_unref (self->failed);
  g_free (self);
}

static const char *
text_member (JsonObject *object,
             const char *name,
             const char *otherwise)
{
  JsonNode *node = json_object_get_member (object, name);

  return node != NULL && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING
           ? json_node_get_string (node) : otherwise;
}

static void
fail (QmScore    *self,
      const char *id,
      const char *key,
      const char *code,
      const char *message)
{
  QmUnscored *unscored = g_new0 (QmUnscored, 1);

  unscored->id = g_strdup (id);
  unscored->key = g_strdup (key);
  unscored->code = g_strdup (code);
  unscored->message = g_strdup (message);
  g_ptr_array_add (self->failed, unscored);
}

/* ------------------------------------------------------- reading an estimate */

static JsonNode *
find_node (JsonNode   *root,
           const char *path)
{
  g_auto (GStrv) steps = g_strsplit (path, ".", -1);
  JsonNode *node = root;

  for (guint i = 0; steps[i] != NULL && node != NULL; i++)
    node = JSON_NODE_HOLDS_OBJECT (node) ? json_object_get_member (json_node_get_object (node), steps[i]) : NULL;

  return node;
}

static gboolean
is_number (JsonNode *node)
{
  return node != NULL && JSON_NODE_HOLDS_VALUE (node) &&
         (json_node_get_value_type (node) == G_TYPE_INT64 || json_node_get_value_type (node) == G_TYPE_DOUBLE);
}

static QmRange
range_of_node (JsonNode *node)
{
  JsonObject *object;

  if (node == NULL || JSON_NODE_HOLDS_NULL (node))
    return QM_RANGE_UNKNOWN;
  if (JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_BOOLEAN)
    return qm_range_exact (json_node_get_boolean (node));
  if (is_number (node))
    return qm_range_exact (json_node_get_double (node));
  if (!JSON_NODE_HOLDS_OBJECT (node))
    return QM_RANGE_UNKNOWN;

  object = json_node_get_object (node);
  return (QmRange) { json_object_get_double_member_with_default (object, "p10", NAN),
                     json_object_get_double_member_with_default (object, "p50", NAN),
                     json_object_get_double_member_with_default (object, "p90", NAN) };
}

/* What was read: by the framework's counters, of the process, or of the device. */
static QmRange
memory_by_basis (const QmMemory *memory,
                 const char     *basis)
{
  if (strcmp (basis, "allocated") == 0)
    return memory->allocated;
  if (strcmp (basis, "reserved") == 0)
    return memory->reserved;
  if (strcmp (basis, "whole-device") == 0)
    return memory->device;

  return memory->need;
}

static QmRange
estimated (const QmChoice   *choice,
           const QmResolved *resolved,
           JsonNode         *estimate,
           JsonObject       *measured_case,
           const char       *key)
{
  const QmServing *serving = &resolved->plan->serving;
  QmRange range = range_of_node (find_node (estimate, key));

  /* A loss against something is no score, and one metric says nothing of another. */
  if (g_str_has_prefix (key, "accuracy.") &&
      (choice->estimate.accuracy.is_relative ||
       g_strcmp0 (choice->estimate.accuracy.metric, text_member (measured_case, "accuracy_metric", choice->estimate.accuracy.metric)) != 0))
    return QM_RANGE_UNKNOWN;
  if (strcmp (key, "memory.per_device_bytes") == 0)
    return memory_by_basis (&choice->estimate.memory, text_member (measured_case, "memory_basis", "not-stated"));
  if (strcmp (key, "memory.host_bytes") == 0 && qm_range_is_known (choice->estimate.memory.host))
    return choice->estimate.memory.host;
  if (strcmp (key, "throughput.samples_per_second") == 0 && qm_range_is_known (range))
    return qm_range_log_normal (range.p50, qm_range_half_width (choice->estimate.throughput.per_second));
  if (strcmp (key, "throughput.mfu") == 0 || strcmp (key, "throughput.tflops_per_device") == 0)
    return qm_range_log_normal (range.p50, qm_range_half_width (choice->estimate.throughput.per_second));

  /* Some count the tokens read as well as those written. */
  if (strcmp (key, "throughput.per_second") == 0 && serving->output_tokens > 0 &&
      strcmp (text_member (measured_case, "measured_scope", ""), "input+output") == 0)
    return qm_range_scale (range, (serving->input_tokens + serving->output_tokens) / serving->output_tokens);

  return range;
}

/* --------------------------------------------------------------------- cases */

static GStrv
tags_of (JsonObject *measured_case)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  JsonArray *tags = json_object_has_member (measured_case, "tags") ? json_object_get_array_member (measured_case, "tags") : NULL;

  for (guint i = 0; tags != NULL && i < json_array_get_length (tags); i++)
    g_strv_builder_add (builder, json_array_get_string_element (tags, i));

  return g_strv_builder_end (builder);
}

static void
take (QmScore    *self,
      JsonObject *measured_case,
      const char *key,
      double      measured,
      QmRange     estimate)
{
  QmScored *scored = g_new0 (QmScored, 1);
  JsonObject *plan = json_object_get_object_member (measured_case, "plan");

  scored->id = g_strdup (text_member (measured_case, "id", "?"));
  scored->key = g_strdup (key);
  scored->group = g_strdup (text_member (measured_case, "group", "none"));
  scored->task = g_strdup (text_member (plan, "task", "none"));
  scored->tags = tags_of (measured_case);
  scored->measured = measured;
  scored->estimated = estimate;
  g_ptr_array_add (self->cases, scored);
}

static const char *
why_unknown (const char     *key,
             const QmChoice *choice)
{
  if (g_str_has_prefix (key, "accuracy.") && qm_range_is_known (choice->estimate.accuracy.value))
    return "the program says nothing of this metric: the accuracy in it is unknown";
  if (g_str_has_prefix (key, "accuracy."))
    return "the program says that the accuracy is unknown";
  if (choice->estimate.failure != NULL)
    return choice->estimate.failure;
  if (g_str_has_prefix (key, "throughput.") || g_str_has_prefix (key, "time."))
    return "the rate is unknown: the plan or the catalog lacks what it follows from";

  return "the estimate has no such figure for this plan";
}

static void
score_key (QmScore          *self,
           JsonObject       *measured_case,
           const char       *key,
           const QmChoice   *choice,
           const QmResolved *resolved,
           JsonNode         *estimate)
{
  const char *id = text_member (measured_case, "id", "?");
  JsonNode *node = json_object_get_member (json_object_get_object_member (measured_case, "measured"), key);
  double measured = range_of_node (node).p50;
  QmRange range;

  if (isnan (measured))
    {
      fail (self, id, key, "not-a-number", "the measured value is no number");
      return;
    }

  range = estimated (choice, resolved, estimate, measured_case, key);
  if (qm_range_is_known (range))
    take (self, measured_case, key, measured, range);
  else
    fail (self, id, key, "unknown", why_unknown (key, choice));
}

static void
fail_all (QmScore    *self,
          JsonObject *measured_case,
          const char *code,
          const char *message)
{
  g_autoptr (GList) keys = json_object_get_members (json_object_get_object_member (measured_case, "measured"));

  for (GList *l = keys; l != NULL; l = l->next)
    fail (self, text_member (measured_case, "id", "?"), l->data, code, message);
}

/* Figures of the model alone, which no device changes. */
static gboolean
needs_device (const char *key)
{
  return !g_str_has_prefix (key, "model.") && strcmp (key, "serving.kv_cache_bytes") != 0;
}

static void
score_case (QmScore     *self,
            QmEstimator *estimator,
            JsonObject  *measured_case)
{
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_plan_warning_free);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmResolved) resolved = NULL;
  g_autoptr (QmPlan) plan = qm_plan_from_object (json_object_get_object_member (measured_case, "plan"), warnings, &error);
  g_autoptr (JsonNode) estimate = NULL;
  g_autoptr (GList) keys = NULL;
  gboolean no_device;
  QmChoice choice;

  if (plan != NULL)
    resolved = qm_resolve (plan, qm_estimator_get_catalog (estimator), NULL, warnings, &error);
  if (resolved == NULL)
    {
      fail_all (self, measured_case, "plan", error->message);
      return;
    }
  no_device = resolved->plan->configuration.device[0] == '\0';
  if (no_device)
    qm_word_set (resolved->plan->configuration.device, "unknown");
  if (!qm_estimate_pinned (estimator, resolved, NULL, &choice, &error))
    {
      fail_all (self, measured_case, "device", error->message);
      return;
    }

  estimate = qm_choice_to_json (estimator, resolved, &choice);
  keys = json_object_get_members (json_object_get_object_member (measured_case, "measured"));
  for (GList *l = keys; l != NULL; l = l->next)
    if (no_device && needs_device (l->data))
      fail (self, text_member (measured_case, "id", "?"), l->data, "device", "configuration.device is missing; name a device of the catalog");
    else
      score_key (self, measured_case, l->data, &choice, resolved, estimate);
  qm_choice_clear (&choice);
}

static gboolean
refuse (const char  *path,
        guint        line,
        GError     **error,
        const char  *msgid,
        const char  *what)
{
  g_autofree char *name = g_filename_display_name (path);

  qm_error_set (error, QM_PLAN_ERROR, QM_PLAN_ERROR_FORMAT, NULL, msgid, "what", what, NULL);
  if (error != NULL)
    qm_error_locate (*error, name, line);

  return FALSE;
}

static gboolean
check_case (JsonNode    *root,
            const char  *path,
            guint        line,
            GError     **error)
{
  JsonObject *object = root != NULL && JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root) : NULL;
  JsonNode *plan = object != NULL ? json_object_get_member (object, "plan") : NULL;
  JsonNode *measured = object != NULL ? json_object_get_member (object, "measured") : NULL;

  if (plan != NULL && JSON_NODE_HOLDS_OBJECT (plan) && measured != NULL && JSON_NODE_HOLDS_OBJECT (measured))
    return TRUE;

  return refuse (path, line, error, N_("a measured case is expected: an object with \"plan\" and \"measured\""), NULL);
}

/**
 * qm_score_add_file:
 * @self: a score
 * @estimator: an estimator
 * @path: a file of measured cases, one JSON object a line
 * @error: return location for an error
 *
 * Estimates every case and adds it; what cannot be estimated is kept with its
 * reason.
 *
 * Returns: whether the file could be read
 */
gboolean
qm_score_add_file (QmScore      *self,
                   QmEstimator  *estimator,
                   const char   *path,
                   GError      **error)
{
  g_autofree char *data = NULL;
  g_auto (GStrv) lines = NULL;
  g_autoptr (JsonParser) parser = json_parser_new ();
  gsize length;
  guint n = 0;

  data = qm_file_read (path, LARGEST_FILE, &length, error);
  if (data == NULL)
    return FALSE;
  if (length > LARGEST_FILE || memchr (data, '\0', length) != NULL)
    return refuse (path, 0, error, N_("not a file of measured cases"), NULL);

  json_parser_set_strict (parser, TRUE);
  lines = g_strsplit (data, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      g_autoptr (GError) local_error = NULL;

      if (g_strstrip (lines[i])[0] == '\0')
        continue;
      if (!json_parser_load_from_data (parser, lines[i], -1, &local_error))
        {
          guint line;

          return refuse (path, i + 1, error, N_("not JSON: {what}"), qm_json_error_split (local_error->message, &line));
        }
      if (!check_case (json_parser_get_root (parser), path, i + 1, error))
        return FALSE;
      score_case (self, estimator, json_node_get_object (json_parser_get_root (parser)));
      n++;
    }

  return n > 0 || refuse (path, 1, error, N_("empty; one measured case a line is expected"), NULL);
}

/* ------------------------------------------------------------------- summary */

static int
compare_doubles (gconstpointer a,
                 gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

/* Sorts @values. */
static double
quantile (GArray *values,
          double  share)
{
  double position;
  guint below;

  if (values->len == 0)
    return NAN;

  g_array_sort (values, compare_doubles);
  position = share * (values->len - 1);
  below = (guint) floor (position);
  if (below + 1 >= values->len)
    return g_array_index (values, double, values->len - 1);

  return g_array_index (values, double, below) +
         (position - below) * (g_array_index (values, double, below + 1) - g_array_index (values, double, below));
}

/**
 * qm_score_summarise:
 * @self: a score
 * @key: a path into the estimate
 * @filter: (nullable): which cases count
 * @data: for @filter
 *
 * Returns: median and 90th percentile of |estimate / measured − 1|, median of the
 *   signed ratio, share of cases within p10–p90, over the cases that count
 */
QmScoreSummary
qm_score_summarise (const QmScore *self,
                    const char    *key,
                    QmScoreFilter  filter,
                    gpointer       data)
{
  g_autoptr (GArray) errors = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GArray) signed_errors = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GArray) widths = g_array_new (FALSE, FALSE, sizeof (double));
  QmScoreSummary summary = { 0 };
  guint covered = 0;

  for (guint i = 0; i < self->cases->len; i++)
    {
      const QmScored *scored = g_ptr_array_index (self->cases, i);
      double ratio, error, width;

      if (strcmp (scored->key, key) != 0 || (filter != NULL && !filter (scored, data)))
        continue;
      /* Of yes and no, and of what was measured as nothing, the difference counts. */
      ratio = scored->measured != 0 ? scored->estimated.p50 / scored->measured - 1 : scored->estimated.p50;
      error = fabs (ratio);
      width = scored->estimated.p90 / scored->estimated.p10;
      g_array_append_val (errors, error);
      g_array_append_val (signed_errors, ratio);
      g_array_append_val (widths, width);
      covered += scored->measured >= scored->estimated.p10 && scored->measured <= scored->estimated.p90;
    }

  summary.cases = errors->len;
  summary.median_error = quantile (errors, 0.5);
  summary.p90_error = quantile (errors, 0.9);
  summary.bias = quantile (signed_errors, 0.5);
  summary.median_width = quantile (widths, 0.5);
  summary.coverage = errors->len > 0 ? (double) covered / errors->len : NAN;

  return summary;
}

/**
 * qm_score_keys:
 * @self: a score
 *
 * Returns: (transfer container) (element-type utf8): the paths that cases have,
 *   each once, in the order met
 */
GPtrArray *
qm_score_keys (const QmScore *self)
{
  GPtrArray *keys = g_ptr_array_new ();

  for (guint i = 0; i < self->cases->len; i++)
    {
      const QmScored *scored = g_ptr_array_index (self->cases, i);

      if (!g_ptr_array_find_with_equal_func (keys, scored->key, g_str_equal, NULL))
        g_ptr_array_add (keys, scored->key);
    }

  return keys;
}
