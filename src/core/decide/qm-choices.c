/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "decide/qm-choices.h"

#include "decide/qm-hurdles.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#define MAX_CHOICES 8
#define MAX_ROWS    14

/* An alternative must be better in its own way by this much to be worth a line,
 * and save what is worth a thought. */
#define CLEARLY_CHEAPER 0.8
#define CLEARLY_FASTER  0.7
#define WORTH_WAITING   0.25          /* of the small hours */

/* Of the drawbacks, the gravest are told. */
#define MAX_DRAWBACKS 3

/* What costs so many times as much is no alternative; what is bought stays. */
#define ABSURDLY_DEAR 12
/* Nor what answers so many times later than people wait for. */
#define ABSURDLY_LATE 3

/* A power limit that costs less of the rates is not worth a line. */
#define NOTABLE_RATE 0.9

typedef gboolean (*RowFilter) (const QmSearch *search,
                               const QmRow    *row,
                               const QmChoice *best);

typedef struct {
  QmChoiceKind kind;
  QmObjective objective;            /* UNSET: the person's own */
  RowFilter filter;
} Slot;

static const QmPlacement *
placement_of (const QmSearch *search,
              const QmRow    *row)
{
  return &g_array_index (search->placements, QmPlacement, row->placement);
}

static const QmSolution *
solution_of (const QmSearch *search,
             const QmRow    *row)
{
  return &g_array_index (search->solutions, QmSolution, row->solution);
}

/**
 * qm_choice_clear:
 * @self: a choice
 *
 * Frees what @self holds, not @self.
 */
void
qm_choice_clear (QmChoice *self)
{
  g_clear_pointer (&self->reasons, g_ptr_array_unref);
  g_clear_pointer (&self->waits, g_array_unref);
  g_clear_pointer (&self->drawbacks, g_ptr_array_unref);
  g_clear_pointer (&self->drawback, qm_message_free);
}

/**
 * qm_choice_copy:
 * @source: a choice
 * @copy: (out caller-allocates): the same; lists are shared, free it with
 *   qm_choice_clear()
 */
void
qm_choice_copy (const QmChoice *source,
                QmChoice       *copy)
{
  *copy = *source;
  copy->reasons = source->reasons != NULL ? g_ptr_array_ref (source->reasons) : NULL;
  copy->waits = source->waits != NULL ? g_array_ref (source->waits) : NULL;
  copy->drawbacks = source->drawbacks != NULL ? g_ptr_array_ref (source->drawbacks) : NULL;
  copy->drawback = source->drawback != NULL ? qm_message_copy (source->drawback) : NULL;
}

/* What is rented of a processor is some of its cores, not the whole of it. */
static char *
hardware_name (const QmChoice *choice)
{
  const QmDevice *device = choice->estimate.device;
  int n = MAX (1, choice->estimate.configuration.devices);

  if (device->device_class == QM_DEVICE_CLASS_CPU && choice->offer != NULL && choice->offer->vcpus > 0)
    return g_strdup_printf ("%d × %d vCPU %s", n, choice->offer->vcpus, device->name);

  if (device->n_parts > 0)
    return n == device->n_parts ? g_strdup (device->name) : g_strdup_printf ("%d × (%s)", n / device->n_parts, device->name);

  return g_strdup_printf ("%d × %s", n, device->name);
}

/**
 * qm_choice_set_label:
 * @choice: (inout): a choice
 *
 * Names it by hardware and offer: proper names only, shown in every language.
 */
void
qm_choice_set_label (QmChoice *choice)
{
  g_autofree char *hardware = hardware_name (choice);

  if (choice->offer != NULL && choice->machines > 1)
    g_snprintf (choice->label, sizeof choice->label, "%s, %d × %s %s", hardware, choice->machines,
                choice->offer->provider_name, choice->offer->instance);
  else if (choice->offer != NULL)
    g_snprintf (choice->label, sizeof choice->label, "%s, %s %s", hardware, choice->offer->provider_name,
                choice->offer->instance);
  else
    g_strlcpy (choice->label, hardware, sizeof choice->label);
}

/**
 * qm_memory_is_taken:
 * @memory: of an estimate
 *
 * Returns: whether other programs hold so much of the memory that it fits only
 *   without them
 */
gboolean
qm_memory_is_taken (const QmMemory *memory)
{
  return memory->free_bytes > 0 && memory->fits && memory->need.p50 > memory->free_bytes;
}

/**
 * qm_memory_explain_taken:
 * @memory: of an estimate, where that is so
 *
 * Returns: (transfer full): how much is needed and how much is free
 */
QmMessage *
qm_memory_explain_taken (const QmMemory *memory)
{
  QmMessage *message = qm_message_new ("not-free-now", N_("It fits, but not now: {need} are needed, {free} are free"));

  qm_message_set_detail (message, N_("Other programs use the rest of the memory of this device. Close them first."));
  qm_message_add (message, "need", QM_ARGUMENT_BYTES, memory->need.p50);
  qm_message_add (message, "free", QM_ARGUMENT_BYTES, memory->free_bytes);

  return message;
}

/* Of this computer's device, where it costs a tenth of its rates or more. */
static QmMessage *
explain_power_limit (const QmPlacement *placement)
{
  double rate = placement->power_watts > 0 ? placement->device.tflops_fp32 / placement->catalogued->tflops_fp32 : 1;
  QmMessage *message;

  if (!(rate < NOTABLE_RATE))
    return NULL;

  message = qm_message_new ("power-limited", N_("Its power limit of {limit} W slows it: {share} of its rates at {usual} W"));
  qm_message_set_detail (message, N_("The driver lets this device draw less power than its data sheet is about. The estimate counts it. On a laptop, "
                                     "plug it in and choose its fastest power profile."));
  qm_message_add (message, "limit", QM_ARGUMENT_NUMBER, placement->power_watts);
  qm_message_add (message, "share", QM_ARGUMENT_PERCENT, rate);
  qm_message_add (message, "usual", QM_ARGUMENT_NUMBER, placement->catalogued->power_watts);

  return message;
}

static void
add_drawbacks_of_now (QmChoice          *choice,
                      const QmPlacement *placement)
{
  QmMessage *limited = explain_power_limit (placement);

  if (qm_memory_is_taken (&choice->estimate.memory))
    g_ptr_array_add (choice->drawbacks, qm_memory_explain_taken (&choice->estimate.memory));
  if (limited != NULL)
    g_ptr_array_add (choice->drawbacks, limited);
}

/**
 * qm_choice_from_row:
 * @search: a search
 * @row: one of its rows
 * @wish: the limits and the objective
 * @choice: (out caller-allocates): all figures of the row, and which limit it
 *   breaks; free it with qm_choice_clear()
 */
void
qm_choice_from_row (const QmSearch *search,
                    const QmRow    *row,
                    const QmWish   *wish,
                    QmChoice       *choice)
{
  const QmPlacement *placement = placement_of (search, row);
  const QmRecipe *recipe = g_ptr_array_index (search->recipes, solution_of (search, row)->recipe);
  const char *brief;
  double margin, seconds;

  *choice = (QmChoice) { .kind = QM_CHOICE_OTHER, .dominated_by = -1, .ruled_out_against = -1 };
  qm_search_complete (search, row, &choice->estimate);
  choice->estimate.memory.free_bytes = placement->free_bytes;
  choice->place = placement->place;
  choice->offer = placement->offer;
  choice->machines = solution_of (search, row)->machines;
  choice->reasons = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_message_free);
  choice->drawbacks = qm_hurdles_explain (row->drawbacks, recipe->stack.needs, search->job.economics, MAX_DRAWBACKS);
  add_drawbacks_of_now (choice, placement);
  brief = qm_hurdles_brief (row->drawbacks, search->job.economics);
  if (brief != NULL)
    choice->drawback = qm_message_add_text (qm_message_new ("drawback", brief), "needs", QM_ARGUMENT_NAME,
                                            recipe->stack.needs != NULL ? recipe->stack.needs : "");
  choice->hurdles = row->hurdles;
  choice->hurdle_set = row->drawbacks;
  choice->needs = recipe->stack.needs;
  choice->score = qm_search_score (search, row, wish, &choice->broken_limit, &margin);
  choice->within_limits = choice->broken_limit == QM_LIMIT_NONE;
  seconds = isnan (row->seconds) ? search->job.economics->hours_per_month * 3600 : row->seconds;
  choice->gpu_hours = choice->estimate.configuration.devices * seconds / 3600;
  qm_choice_set_label (choice);
}

/**
 * qm_choices_new:
 *
 * Returns: (transfer full) (element-type QmChoice): none yet; they are cleared
 *   with it
 */
GArray *
qm_choices_new (void)
{
  GArray *choices = g_array_new (FALSE, FALSE, sizeof (QmChoice));

  g_array_set_clear_func (choices, (GDestroyNotify) qm_choice_clear);
  return choices;
}

/* --------------------------------------------------------------- alternatives */

static gboolean
is_cheaper (const QmSearch *search,
            const QmRow    *row,
            const QmChoice *best)
{
  return row->money < CLEARLY_CHEAPER * best->estimate.cost.money.p50 &&
         best->estimate.cost.money.p50 - row->money > 0.5 * search->job.per_usd;
}

static gboolean
is_faster (const QmSearch *search,
           const QmRow    *row,
           const QmChoice *best)
{
  double saved = best->estimate.time.finish.p50 - row->finish_seconds;

  return row->finish_seconds < CLEARLY_FASTER * best->estimate.time.finish.p50 &&
         saved > WORTH_WAITING * search->job.economics->small_hours * 3600;
}

static gboolean
is_more_accurate (const QmSearch *search,
                  const QmRow    *row,
                  const QmChoice *best)
{
  return row->quality > best->estimate.accuracy.value.p50 + (best->estimate.accuracy.is_relative ? 0.2 : 0.002);
}

static gboolean
is_local (const QmSearch *search,
          const QmRow    *row,
          const QmChoice *best)
{
  QmPlace place = placement_of (search, row)->place;

  return place == QM_PLACE_THIS_COMPUTER || place == QM_PLACE_OWNED;
}

static gboolean
is_rented (const QmSearch *search,
           const QmRow    *row,
           const QmChoice *best)
{
  return row->is_rented;
}

static gboolean
is_reliable (const QmSearch *search,
             const QmRow    *row,
             const QmChoice *best)
{
  const QmPlacement *placement = placement_of (search, row);

  return row->is_rented && placement->pricing == QM_PRICING_ON_DEMAND &&
         g_strcmp0 (placement->offer->kind, "vm") == 0;
}

static gboolean
is_bought (const QmSearch *search,
           const QmRow    *row,
           const QmChoice *best)
{
  return row->is_bought && best->place != QM_PLACE_BUY;
}

static gboolean
is_cpu (const QmSearch *search,
        const QmRow    *row,
        const QmChoice *best)
{
  return placement_of (search, row)->device.device_class == QM_DEVICE_CLASS_CPU;
}

static gboolean
is_accelerator (const QmSearch *search,
                const QmRow    *row,
                const QmChoice *best)
{
  QmDeviceClass class = placement_of (search, row)->device.device_class;

  return class == QM_DEVICE_CLASS_TPU || class == QM_DEVICE_CLASS_NPU;
}

static gboolean
is_other_vendor (const QmSearch *search,
                 const QmRow    *row,
                 const QmChoice *best)
{
  const QmDevice *device = &placement_of (search, row)->device;

  return device->vendor != best->estimate.device->vendor && device->device_class != QM_DEVICE_CLASS_CPU;
}

static gboolean
is_other_device (const QmSearch *search,
                 const QmRow    *row,
                 const QmChoice *best)
{
  return !g_str_equal (placement_of (search, row)->device.id, best->estimate.device->id);
}

static const Slot slots[] = {
  { QM_CHOICE_CHEAPER, QM_OBJECTIVE_CHEAPEST, is_cheaper },
  { QM_CHOICE_FASTER, QM_OBJECTIVE_UNSET, is_faster },
  { QM_CHOICE_MORE_ACCURATE, QM_OBJECTIVE_UNSET, is_more_accurate },
  { QM_CHOICE_LOCAL, QM_OBJECTIVE_UNSET, is_local },
  { QM_CHOICE_CLOUD, QM_OBJECTIVE_UNSET, is_reliable },
  { QM_CHOICE_BUY, QM_OBJECTIVE_UNSET, is_bought },
  { QM_CHOICE_CPU, QM_OBJECTIVE_UNSET, is_cpu },
  { QM_CHOICE_ACCELERATOR, QM_OBJECTIVE_UNSET, is_accelerator },
  { QM_CHOICE_OTHER_VENDOR, QM_OBJECTIVE_UNSET, is_other_vendor },
  { QM_CHOICE_OTHER, QM_OBJECTIVE_UNSET, is_other_device },
};

/* Two lines of one device in one place on the same terms tell a reader nothing new. */
static gboolean
is_listed (const GArray   *choices,
           const QmSearch *search,
           const QmRow    *row)
{
  const QmPlacement *placement = placement_of (search, row);

  for (guint i = 0; i < choices->len; i++)
    {
      const QmChoice *choice = &g_array_index (choices, QmChoice, i);

      if (choice->place == placement->place && choice->estimate.device == placement->catalogued &&
          choice->estimate.cost.pricing == placement->pricing &&
          choice->estimate.configuration.devices == qm_solution_devices (solution_of (search, row), placement))
        return TRUE;
    }

  return FALSE;
}

/* Where nothing answers in time, those that are late are all there is. */
static gboolean
is_far_too_late (const QmSearch *search,
                 const QmRow    *row,
                 const QmChoice *best)
{
  double patience = ABSURDLY_LATE * search->job.plan->serving.latency_p99_seconds;

  return search->job.serving && row->latency_p99_seconds > patience &&
         !(best->estimate.serving.latency_p99_seconds.p50 > patience);
}

static gboolean
is_absurd (const QmSearch *search,
           const QmRow    *row,
           const QmChoice *best)
{
  double small = search->job.economics->small_money_usd * search->job.per_usd;

  if (is_far_too_late (search, row, best))
    return TRUE;

  return !row->is_bought &&
         row->money > ABSURDLY_DEAR * (best->estimate.cost.money.p50 + small);
}

typedef struct {
  RowFilter filter;
  const QmChoice *best;
  const GArray *choices;            /* that are listed already */
} Wanted;

static gboolean
is_wanted (const QmSearch *search,
           const QmRow    *row,
           gconstpointer   data)
{
  const Wanted *wanted = data;

  return wanted->filter (search, row, wanted->best) && !is_absurd (search, row, wanted->best) &&
         !is_listed (wanted->choices, search, row);
}

static int
best_row (const QmSearch *search,
          const QmWish   *wish,
          RowFilter       filter,
          const QmChoice *best,
          const GArray   *choices)
{
  const Wanted wanted = { filter, best, choices };

  return qm_search_best_of (search, wish, is_wanted, &wanted);
}

static void
append_row (const QmSearch *search,
            const QmWish   *wish,
            int             row,
            QmChoiceKind    kind,
            GArray         *choices)
{
  QmChoice choice;

  qm_choice_from_row (search, &g_array_index (search->rows, QmRow, row), wish, &choice);
  choice.kind = kind;
  g_array_append_val (choices, choice);
}

/**
 * qm_choices_pick:
 * @search: a search
 * @wish: the limits and the objective
 * @choices: (element-type QmChoice): the best row and one alternative of each
 *   kind are added to it; none where no row keeps the limits
 */
void
qm_choices_pick (const QmSearch *search,
                 const QmWish   *wish,
                 GArray         *choices)
{
  int row = qm_search_best (search, wish);

  if (row < 0)
    return;
  append_row (search, wish, row, QM_CHOICE_BEST, choices);

  for (guint i = 0; i < G_N_ELEMENTS (slots) && choices->len < MAX_CHOICES; i++)
    {
      QmChoice best = g_array_index (choices, QmChoice, 0);
      QmWish slot_wish = *wish;

      if (slots[i].objective != QM_OBJECTIVE_UNSET)
        slot_wish.objective = slots[i].objective;
      row = best_row (search, &slot_wish, slots[i].filter, &best, choices);
      if (row >= 0)
        append_row (search, wish, row, slots[i].kind, choices);
    }
}

/* ------------------------------------------------------------------- matrix */

/* How far outside the limits each row is: the broken limit's margin, 1 inside. */
static double *
measure_distances (const QmSearch *search,
                   const QmWish   *wish)
{
  double *distances = g_new (double, search->rows->len);

  for (guint i = 0; i < search->rows->len; i++)
    {
      QmLimit limit;

      qm_search_breaks (search, &g_array_index (search->rows, QmRow, i), wish, &limit, &distances[i]);
    }

  return distances;
}

static int
nearest_row (const QmSearch *search,
             const double   *distances,
             const QmChoice *best,
             const GArray   *rows)
{
  double nearest = INFINITY;
  int found = -1;

  for (guint i = 0; i < search->rows->len; i++)
    if (distances[i] < nearest && distances[i] > 1 && !is_listed (rows, search, &g_array_index (search->rows, QmRow, i)) &&
        (best == NULL || !is_absurd (search, &g_array_index (search->rows, QmRow, i), best)))
      {
        nearest = distances[i];
        found = i;
      }

  return found;
}

/* A drawback that the first row has as well tells nobody which to take. */
static void
tell_apart (const QmSearch *search,
            GArray         *rows)
{
  for (guint i = 1; i < rows->len; i++)
    {
      QmChoice *row = &g_array_index (rows, QmChoice, i);
      guint own = row->hurdle_set & ~g_array_index (rows, QmChoice, 0).hurdle_set;
      const char *brief = qm_hurdles_brief (own, search->job.economics);

      g_clear_pointer (&row->drawback, qm_message_free);
      if (brief != NULL)
        row->drawback = qm_message_add_text (qm_message_new ("drawback", brief), "needs", QM_ARGUMENT_NAME,
                                             row->needs != NULL ? row->needs : "");
    }
}

/**
 * qm_choices_fill_matrix:
 * @search: a search
 * @wish: the limits and the objective
 * @choices: (element-type QmChoice): what was picked
 * @rows: (element-type QmChoice): these are added to it, then more of other
 *   devices that keep the limits, then those that come nearest to keeping them
 */
void
qm_choices_fill_matrix (const QmSearch *search,
                        const QmWish   *wish,
                        const GArray   *choices,
                        GArray         *rows)
{
  g_autofree double *distances = NULL;
  int row;

  for (guint i = 0; i < choices->len; i++)
    {
      QmChoice copy;

      qm_choice_copy (&g_array_index (choices, QmChoice, i), &copy);
      g_array_append_val (rows, copy);
    }

  while (rows->len < MAX_ROWS - 4 && choices->len > 0)
    {
      QmChoice best = g_array_index (choices, QmChoice, 0);

      row = best_row (search, wish, is_rented, &best, rows);
      if (row < 0)
        break;
      append_row (search, wish, row, QM_CHOICE_OTHER, rows);
    }

  distances = measure_distances (search, wish);
  while (rows->len < MAX_ROWS && (row = nearest_row (search, distances, choices->len > 0 ? &g_array_index (choices, QmChoice, 0) : NULL, rows)) >= 0)
    append_row (search, wish, row, QM_CHOICE_OTHER, rows);
  tell_apart (search, rows);
}
