/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "decide/qm-choices.h"

#include <glib/gi18n.h>
#include <math.h>

/* Rows that the person brings: what an offer, an article or own runs say of time,
 * money and quality. They are weighed by these figures; of the estimate only what
 * is not said is taken, such as the memory. */

/* Neither rented nor bought: nothing is known of its terms. */
static void
set_place (QmChoice *row)
{
  row->dominated_by = row->ruled_out_against = -1;
  row->kind = QM_CHOICE_OTHER;
  row->place = QM_PLACE_QUOTED;
}

/* Everything that follows from the estimated time is unknown. */
static void
set_figures (const QmQuote *quote,
             QmEstimate    *estimate)
{
  const QmRange seconds = qm_range_exact (quote->hours * 3600);
  QmCost *cost = &estimate->cost;

  estimate->time = (QmTime) { .seconds = seconds, .finish = seconds, .with_interruptions_seconds = NAN };
  *cost = (QmCost) {
    .known = TRUE, .money = qm_range_exact (quote->money), .per_hour = quote->money / quote->hours,
    .per_million_units = QM_RANGE_UNKNOWN, .purchase_money = NAN, .break_even_hours = NAN, .break_even_months = NAN,
    .carbon_kg_per_kwh = cost->carbon_kg_per_kwh, .carbon_basis = cost->carbon_basis,
    .kwh = QM_RANGE_UNKNOWN, .kg_co2e = QM_RANGE_UNKNOWN,
  };
  cost->parts.machine = quote->money;
  if (!isnan (quote->accuracy))
    estimate->accuracy = (QmAccuracy) { .metric = "top-1", .value = qm_range_exact (quote->accuracy), .basis = QM_ACCURACY_MEASURED,
                                        .source = "as the plan says" };
}

/* Against what the estimate has for the same hardware. */
static QmMessage *
compare_with_estimate (const QmQuote *quote,
                       QmRange        estimated)
{
  QmMessage *message;

  if (!qm_range_is_known (estimated))
    return qm_message_new ("quoted", N_("These are the figures that the plan gives, not an estimate"));

  message = qm_message_new ("quoted", N_("The plan says {quoted}; the estimate for the same hardware is {time}"));
  qm_message_set_detail (message, N_("Eight runs in ten of what the plan describes take {range}. Where both lie far apart, the plan and "
                                     "the figures are not of the same job."));
  qm_message_add (message, "quoted", QM_ARGUMENT_SECONDS, quote->hours * 3600);
  qm_message_add (message, "time", QM_ARGUMENT_SECONDS, estimated.p50);

  return qm_message_add_range (message, "range", QM_ARGUMENT_SECONDS_RANGE, estimated);
}

static QmLimit
broken_limit (const QmQuote  *quote,
              const QmLimits *limits)
{
  if (quote->accuracy < limits->min_accuracy)
    return QM_LIMIT_ACCURACY;
  if (quote->hours > limits->hours)
    return QM_LIMIT_DEADLINE;

  return quote->money > limits->money ? QM_LIMIT_MONEY : QM_LIMIT_NONE;
}

/* As the rows of the search are weighed; what is unknown weighs nothing. */
static double
score (const QmQuote     *quote,
       const QmEconomics *economics,
       QmObjective        objective)
{
  double money = log (quote->money), time = log (quote->hours);
  double points = isnan (quote->accuracy) ? 0 : economics->weight_of_point * 100 * (1 - quote->accuracy);

  switch (objective)
    {
    case QM_OBJECTIVE_CHEAPEST:
      return money;
    case QM_OBJECTIVE_FASTEST:
      return time;
    case QM_OBJECTIVE_MOST_ACCURATE:
      return 100 * points + money + economics->weight_of_time * time;
    case QM_OBJECTIVE_BALANCED:
    case QM_OBJECTIVE_UNSET:
    default:
      return money + economics->weight_of_time * time + points;
    }
}

static void
add_quote (QmEstimator      *estimator,
           const QmResolved *resolved,
           const QmQuote    *quote,
           GArray           *rows)
{
  g_autoptr (QmResolved) pinned = qm_resolved_copy (resolved);
  g_autoptr (QmPlan) empty = qm_plan_new ();
  QmConfiguration *configuration = &pinned->plan->configuration;
  QmChoice row;
  QmRange estimated;

  *configuration = empty->configuration;
  qm_word_set (configuration->device, quote->device);
  configuration->devices = quote->devices;
  configuration->nodes = quote->nodes;
  if (!qm_estimate_pinned (estimator, pinned, NULL, &row, NULL))
    return;

  estimated = row.estimate.time.seconds;
  set_figures (quote, &row.estimate);
  set_place (&row);
  row.offer = NULL;
  row.gpu_hours = quote->devices * quote->hours;
  row.broken_limit = broken_limit (quote, &resolved->plan->limits);
  row.within_limits = row.broken_limit == QM_LIMIT_NONE;
  row.score = score (quote, qm_estimator_get_economics (estimator), resolved->plan->limits.objective);
  g_ptr_array_add (row.reasons, compare_with_estimate (quote, estimated));
  qm_choice_set_label (&row);
  g_array_append_val (rows, row);
}

/* Those that keep the limits first, the best of them before the others. */
static int
compare_rows (gconstpointer a,
              gconstpointer b)
{
  const QmChoice *x = a, *y = b;

  if (x->within_limits != y->within_limits)
    return x->within_limits ? -1 : 1;

  return x->score < y->score ? -1 : x->score > y->score;
}

/**
 * qm_quotes_fill:
 * @estimator: an estimator
 * @resolved: a plan
 * @choices: (element-type QmChoice): the hardware that the plan quotes and that
 *   keeps the limits is added to it, the best first
 * @rows: (element-type QmChoice): likewise all that it quotes
 */
void
qm_quotes_fill (QmEstimator      *estimator,
                const QmResolved *resolved,
                GArray           *choices,
                GArray           *rows)
{
  for (int i = 0; i < resolved->plan->n_quotes; i++)
    add_quote (estimator, resolved, &resolved->plan->quotes[i], rows);
  g_array_sort (rows, compare_rows);
  for (guint i = 0; i < rows->len && g_array_index (rows, QmChoice, i).within_limits; i++)
    {
      QmChoice copy;

      qm_choice_copy (&g_array_index (rows, QmChoice, i), &copy);
      copy.kind = i == 0 ? QM_CHOICE_BEST : QM_CHOICE_OTHER;
      g_array_append_val (choices, copy);
    }
}

static double
figure_of (const QmChoice *row,
           gboolean        hours)
{
  return hours ? row->estimate.time.finish.p50 / 3600 : row->estimate.cost.money.p50;
}

/* The first row would break a limit that is a little tighter than what it takes:
 * then it is the best of those that take less. */
static void
add_sensitivity (const QmResolved *resolved,
                 const GArray     *rows,
                 gboolean          hours,
                 GPtrArray        *found)
{
  double threshold = figure_of (&g_array_index (rows, QmChoice, 0), hours);
  QmSensitivity *sensitivity = g_new0 (QmSensitivity, 1);

  for (guint i = 1; i < rows->len && sensitivity->choice[0] == '\0'; i++)
    {
      const QmChoice *row = &g_array_index (rows, QmChoice, i);

      if (row->within_limits && figure_of (row, hours) < threshold)
        g_strlcpy (sensitivity->choice, row->label, sizeof sensitivity->choice);
    }
  sensitivity->field = hours ? "limits.hours" : "limits.money";
  sensitivity->threshold = threshold;
  sensitivity->message = qm_message_new (hours ? "hours-below" : "money-below", hours ? N_("With less than {limit} to wait")
                                                                                      : N_("With less than {limit} to spend"));
  qm_message_set_detail (sensitivity->message, sensitivity->choice[0] != '\0' ? "{choice}" : N_("Nothing would do"));
  qm_message_add_text (sensitivity->message, "choice", QM_ARGUMENT_NAME, sensitivity->choice);
  if (hours)
    qm_message_add (sensitivity->message, "limit", QM_ARGUMENT_SECONDS, 3600 * threshold);
  else
    qm_message_add_money (sensitivity->message, "limit", threshold, qm_plan_get_currency (resolved->plan));
  g_ptr_array_add (found, sensitivity);
}

/**
 * qm_quotes_sensitivities:
 * @resolved: a plan that quotes hardware
 * @rows: (element-type QmChoice): of qm_quotes_fill()
 *
 * Returns: (transfer full) (element-type QmSensitivity): what else of @rows would
 *   be chosen with less time, with less money
 */
GPtrArray *
qm_quotes_sensitivities (const QmResolved *resolved,
                         const GArray     *rows)
{
  GPtrArray *found = qm_sensitivities_new ();

  if (rows->len == 0 || !g_array_index (rows, QmChoice, 0).within_limits)
    return found;

  add_sensitivity (resolved, rows, TRUE, found);
  add_sensitivity (resolved, rows, FALSE, found);

  return found;
}
