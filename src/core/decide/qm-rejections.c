/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "decide/qm-choices.h"
#include "decide/qm-hurdles.h"

/* Natural logarithm of the factor from which on it no longer matters. */
#define MOST_BEATEN 20.0
/* Of quality: what is told apart. */
#define LEAST_POINTS 0.1

static void
rejection_free (QmRejection *self)
{
  qm_message_free (self->message);
  g_free (self);
}

/* By what factor a limit is broken; where there is none, as for a budget of nothing,
 * without it. */
static const char *
say_broken (QmLimit  limit,
            gboolean by_factor)
{
  switch (limit)
    {
    case QM_LIMIT_MEMORY:
      return by_factor ? N_("Needs {factor} of the memory that may be filled, the headroom kept free") : N_("How much memory it has is not known");
    case QM_LIMIT_HOST_MEMORY: return N_("The machine has too little system memory");
    case QM_LIMIT_SUPPORT: return N_("The usual software for this job does not run on it");
    case QM_LIMIT_PLACE: return N_("Not to be had in the places you allowed");
    case QM_LIMIT_MONEY: return by_factor ? N_("Costs {factor} of your budget") : N_("Costs more than your budget");
    case QM_LIMIT_DEADLINE: return by_factor ? N_("Takes {factor} of the time you have") : N_("Takes longer than the time you have");
    case QM_LIMIT_LATENCY:
      return by_factor ? N_("Even an answer that has it to itself takes {factor} of the time you allow") : N_("Answers take longer than you allow");
    case QM_LIMIT_LOAD: return N_("Too many machines would be needed for the load");
    case QM_LIMIT_ACCURACY: return N_("The model does not reach the accuracy you ask for");
    case QM_LIMIT_NO_PRICE: return N_("No price is known");
    case QM_LIMIT_NO_RATE: return N_("The data sheet lacks what its speed follows from");
    case QM_LIMIT_BATCH: return N_("A batch has fewer samples than it has devices");
    case QM_LIMIT_COUNT: return N_("Not to be had in the number that you fixed");
    case QM_LIMIT_BEATEN:
    case QM_LIMIT_NONE:
    default:
      return NULL;
    }
}

static QmMessage *
explain (QmLimit limit,
         double  margin)
{
  static const char * const codes[] = {
    [QM_LIMIT_MEMORY] = "memory", [QM_LIMIT_HOST_MEMORY] = "host-memory", [QM_LIMIT_SUPPORT] = "support", [QM_LIMIT_PLACE] = "place",
    [QM_LIMIT_MONEY] = "money", [QM_LIMIT_DEADLINE] = "deadline", [QM_LIMIT_LATENCY] = "latency", [QM_LIMIT_LOAD] = "load",
    [QM_LIMIT_ACCURACY] = "accuracy", [QM_LIMIT_NO_PRICE] = "no-price", [QM_LIMIT_NO_RATE] = "no-rate", [QM_LIMIT_BATCH] = "batch",
    [QM_LIMIT_COUNT] = "count",
  };
  const char *text = say_broken (limit, isfinite (margin));

  return text != NULL ? qm_message_add (qm_message_new (codes[limit], text), "factor", QM_ARGUMENT_FACTOR, margin) : NULL;
}

/* Points of quality that a row has less than the choice; 0 where either is unknown. */
static double
points_less (const QmRow    *row,
             const QmChoice *best)
{
  const QmAccuracy *accuracy = &best->estimate.accuracy;
  double less = (accuracy->value.p50 - row->quality) * (accuracy->is_relative ? 1 : 100);

  return accuracy->is_relative == row->is_relative && less > LEAST_POINTS ? less : 0;
}

/* What the chosen one is better in: told too where the money and the time are not it. */
static const char *
say_beaten (double money,
            double time,
            double points)
{
  if (points > 0)
    return isfinite (time)
             ? N_("Keeps your limits, but {choice} is better: this costs {money} of its money, takes {time} of its time and has {points} less quality")
             : N_("Keeps your limits, but {choice} is better: this costs {money} of its money and has {points} less quality");
  if (money < 1 && !(time > 1))
    return isfinite (time)
             ? N_("Keeps your limits by the best guess, but {choice} is surer to, or less work: this costs {money} of its money and takes {time} of its time")
             : N_("Keeps your limits by the best guess, but {choice} is surer to, or less work: this costs {money} of its money");

  return isfinite (time) ? N_("Keeps your limits, but {choice} is better: this costs {money} of its money and takes {time} of its time")
                         : N_("Keeps your limits, but {choice} is better: this costs {money} of its money");
}

/* What the chosen one is better in, and what else is to be said against it. */
static QmMessage *
explain_beaten (const QmSearch *search,
                const QmRow    *row,
                const QmChoice *best)
{
  const QmRecipe *recipe = g_ptr_array_index (search->recipes,
                                              g_array_index (search->solutions, QmSolution, row->solution).recipe);
  double time = row->finish_seconds / best->estimate.time.finish.p50;
  double money = row->money / best->estimate.cost.money.p50;
  double points = points_less (row, best);
  guint offload = row->drawbacks & (1u << QM_HURDLE_OFFLOAD);
  /* That it fits only with a part elsewhere must not go unsaid. */
  guint told = offload != 0 ? offload : row->hurdles > best->hurdles ? row->drawbacks : 0;
  const char *drawback = qm_hurdles_brief (told, search->job.economics);
  QmMessage *message = qm_message_new ("beaten", say_beaten (money, time, points));

  qm_message_add_text (message, "choice", QM_ARGUMENT_NAME, best->label);
  qm_message_add (message, "money", QM_ARGUMENT_FACTOR, money);
  qm_message_add (message, "time", QM_ARGUMENT_FACTOR, time);
  qm_message_add (message, "points", QM_ARGUMENT_POINTS, points);
  if (drawback == NULL)
    return message;

  qm_message_set_detail (message, drawback);
  return qm_message_add_text (message, "needs", QM_ARGUMENT_NAME, recipe->stack.needs != NULL ? recipe->stack.needs : "");
}

/* What of a device comes nearest to being chosen. */
typedef struct {
  QmLimit limit;
  double margin;                    /* needed over allowed; of what is beaten, in money's worth */
  int count;
  int row;                          /* -1 none */
} Nearest;

/* Being beaten comes after every broken limit; of two alike, the nearer counts. */
static gboolean
is_nearer (const Nearest *noted,
           QmLimit        limit,
           double         margin)
{
  if ((limit == QM_LIMIT_BEATEN) != (noted->limit == QM_LIMIT_BEATEN))
    return limit == QM_LIMIT_BEATEN;

  return noted->row < 0 || margin < noted->margin;
}

/* By how much a row that keeps the limits is beaten. */
static double
beaten_by (double          score,
           const QmChoice *best)
{
  return best != NULL ? exp (MIN (score - best->score, MOST_BEATEN)) : 1;
}

/* What the devices with rows of their own break, or by how much they are beaten. */
static void
note_rows (QmSearch       *search,
           const QmWish   *wish,
           const QmChoice *best,
           Nearest        *nearest)
{
  QmCatalog *catalog = qm_estimator_get_catalog (search->job.estimator);

  for (guint i = 0; i < search->rows->len; i++)
    {
      const QmRow *row = &g_array_index (search->rows, QmRow, i);
      const QmPlacement *placement = &g_array_index (search->placements, QmPlacement, row->placement);
      int index = qm_catalog_device_index (catalog, placement->catalogued);
      QmLimit limit;
      double margin;

      if (index < 0)
        continue;
      if (!qm_search_breaks (search, row, wish, &limit, &margin))
        {
          /* What is out at the least it can score need not be weighed. */
          limit = QM_LIMIT_BEATEN;
          if (!is_nearer (&nearest[index], limit, beaten_by (qm_search_least_score (search, row, wish), best)))
            continue;
          margin = beaten_by (qm_search_score (search, row, wish, &(QmLimit) { 0 }, &(double) { 0 }), best);
        }
      if (is_nearer (&nearest[index], limit, margin))
        {
          int count = qm_solution_devices (&g_array_index (search->solutions, QmSolution, row->solution), placement);

          nearest[index] = (Nearest) { limit, margin, count, i };
        }
    }
}

static gboolean
is_chosen (const QmDevice *device,
           const GArray   *choices)
{
  for (guint i = 0; i < choices->len; i++)
    if (g_array_index (choices, QmChoice, i).estimate.device == device)
      return TRUE;

  return FALSE;
}

/* What a reader can do something about comes first: a limit of their own, then
 * what the hardware lacks, and last what cannot be had at all. */
static int
rank_of (const QmRejection *rejection)
{
  switch (rejection->limit)
    {
    case QM_LIMIT_MONEY:
    case QM_LIMIT_DEADLINE:
    case QM_LIMIT_LATENCY:
    case QM_LIMIT_LOAD:
    case QM_LIMIT_ACCURACY:
      return 0;
    case QM_LIMIT_PLACE:
    case QM_LIMIT_NO_PRICE:
    case QM_LIMIT_NO_RATE:
    case QM_LIMIT_SUPPORT:
      return 2;
    case QM_LIMIT_NONE:
    case QM_LIMIT_MEMORY:
    case QM_LIMIT_HOST_MEMORY:
    case QM_LIMIT_BATCH:
    case QM_LIMIT_COUNT:
    case QM_LIMIT_BEATEN:
    default:
      return 1;
    }
}

static int
compare_rejections (gconstpointer data_a,
                    gconstpointer data_b)
{
  const QmRejection *a = *(QmRejection * const *) data_a, *b = *(QmRejection * const *) data_b;

  if (rank_of (a) != rank_of (b))
    return rank_of (a) - rank_of (b);
  if (a->margin != b->margin)
    return a->margin < b->margin ? -1 : 1;

  return strcmp (a->device->id, b->device->id);
}

/**
 * qm_search_rejections:
 * @search: a search
 * @wish: the limits and the objective
 * @choices: (element-type QmChoice): what was picked
 * @rows: (element-type QmChoice): what is shown beside
 *
 * Returns: (transfer full) (element-type QmRejection): one line for every device
 *   of the catalog that is not among the choices, with the first limit that it
 *   breaks and by how much; what came nearest first
 */
GPtrArray *
qm_search_rejections (QmSearch     *search,
                      const QmWish *wish,
                      const GArray *choices,
                      const GArray *rows)
{
  QmCatalog *catalog = qm_estimator_get_catalog (search->job.estimator);
  guint n = qm_catalog_n_devices (catalog);
  const QmChoice *best = choices->len > 0 ? &g_array_index (choices, QmChoice, 0) : NULL;
  GPtrArray *rejections = g_ptr_array_new_with_free_func ((GDestroyNotify) rejection_free);
  g_autofree Nearest *nearest = g_new0 (Nearest, n);

  for (guint i = 0; i < n; i++)
    nearest[i] = (Nearest) { search->device_limits[i], search->device_margins[i], 0, -1 };
  note_rows (search, wish, best, nearest);

  for (guint i = 0; i < n; i++)
    {
      const QmDevice *device = qm_catalog_device (catalog, i);
      gboolean beaten = nearest[i].limit == QM_LIMIT_BEATEN && nearest[i].row >= 0 && best != NULL;
      QmRejection *rejection;
      QmMessage *message;

      if (is_chosen (device, choices))
        continue;
      message = beaten ? explain_beaten (search, &g_array_index (search->rows, QmRow, nearest[i].row), best)
                       : explain (nearest[i].limit, nearest[i].margin);
      if (message == NULL)
        continue;
      rejection = g_new0 (QmRejection, 1);
      rejection->device = device;
      rejection->devices = MAX (1, nearest[i].count);
      rejection->limit = nearest[i].limit;
      rejection->margin = nearest[i].margin;
      rejection->message = message;
      g_ptr_array_add (rejections, rejection);
    }
  g_ptr_array_sort (rejections, compare_rejections);

  return rejections;
}

static const QmRejection *
rejection_of (const char      *device,
              const GPtrArray *rejections)
{
  for (guint i = 0; i < rejections->len; i++)
    {
      const QmRejection *rejection = g_ptr_array_index (rejections, i);

      if (g_str_equal (rejection->device->id, device))
        return rejection;
    }

  return NULL;
}

static QmMessage *
say_not_yours (const QmRejection *rejection)
{
  gboolean small = rejection->limit == QM_LIMIT_MEMORY && isfinite (rejection->margin);
  const char *broken = say_broken (rejection->limit, isfinite (rejection->margin));
  QmMessage *message = small ? qm_message_new ("yours-too-small", N_("Your {device} has too little memory for this job"))
                             : qm_message_new ("yours-not-chosen", N_("Your {device} is not among the choices"));

  qm_message_set_detail (message, small ? N_("It needs {factor} of the memory that may be filled. A smaller model, numbers of fewer bits or a "
                                             "smaller share of the model to change may fit.")
                                  : broken != NULL ? broken : N_("It could do the job, but they suit you better."));
  qm_message_add (message, "factor", QM_ARGUMENT_FACTOR, rejection->margin);

  return qm_message_add_text (message, "device", QM_ARGUMENT_NAME, rejection->device->name);
}

/**
 * qm_rejections_explain_owned:
 * @plan: a plan
 * @rejections: (element-type QmRejection): what was ruled out
 * @rows: (element-type QmChoice): what is shown
 * @messages: (element-type QmMessage): those on what the person owns elsewhere and
 *   does not find among @rows are added
 */
void
qm_rejections_explain_owned (const QmPlan    *plan,
                             const GPtrArray *rejections,
                             const GArray    *rows,
                             GPtrArray       *messages)
{
  for (int i = 0; i < plan->places.n_owned; i++)
    {
      const QmRejection *rejection = rejection_of (plan->places.owned[i].device, rejections);

      if (rejection != NULL && !is_chosen (rejection->device, rows))
        g_ptr_array_add (messages, say_not_yours (rejection));
    }
}
