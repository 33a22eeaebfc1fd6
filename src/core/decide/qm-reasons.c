/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>

#include "decide/qm-choices.h"
#include "decide/qm-cold-start.h"
#include "decide/qm-host.h"

/* More is not read. */
#define MAX_REASONS 6

/* Less than this beyond the run itself is not worth a sentence. */
#define SHOWN_OVERHEAD 0.03

static QmMessage *
why_memory (const QmChoice *choice)
{
  const QmMemory *memory = &choice->estimate.memory;
  gboolean roomy = memory->verdict == QM_VERDICT_FITS;
  QmMessage *message;

  if (!qm_range_is_known (memory->need) || !(memory->usable_bytes > 0))
    return NULL;

  message = qm_message_new (roomy ? "fits-with-room" : "fits-tightly",
                            roomy ? N_("It fits with room to spare") : N_("It fits, but only just"));
  qm_message_set_detail (message, N_("{need} of {usable} on each device are needed; the range is {range}."));
  qm_message_add (message, "need", QM_ARGUMENT_BYTES, memory->need.p50);
  qm_message_add_range (message, "range", QM_ARGUMENT_BYTES_RANGE, memory->need);

  return qm_message_add (message, "usable", QM_ARGUMENT_BYTES, memory->usable_bytes);
}

static QmMessage *
why_deadline (const QmChoice *choice,
              const QmWish   *wish)
{
  const QmTime *time = &choice->estimate.time;
  gboolean told = time->start_up_seconds > SHOWN_OVERHEAD * time->seconds.p50;
  QmMessage *message;

  if (!qm_range_is_known (time->finish))
    return NULL;

  if (isnan (wish->seconds))
    {
      message = qm_message_new ("time", N_("Done in about {time}"));
      qm_message_set_detail (message, told
                               ? N_("Eight runs in ten take {range}, with the {start} that the rented machine needs to start.")
                               : N_("Eight runs in ten take {range}."));
    }
  else
    {
      message = time->finish.p50 > wish->seconds ? qm_message_new ("late", N_("Done in about {time}, after your deadline"))
                                                 : qm_message_new ("in-time", N_("Done in about {time}, before your deadline"));
      qm_message_set_detail (message, told
                               ? N_("Eight runs in ten take {range}, with the {start} that the rented machine needs to start; "
                                    "the chance to keep {deadline} is {chance}.")
                               : N_("Eight runs in ten take {range}; the chance to keep {deadline} is {chance}."));
      qm_message_add (message, "deadline", QM_ARGUMENT_SECONDS, wish->seconds);
      qm_message_add (message, "chance", QM_ARGUMENT_PERCENT,
                      qm_range_share_below (time->seconds, (wish->seconds - time->start_up_seconds) *
                                                           time->seconds.p50 / (time->finish.p50 - time->start_up_seconds)));
    }
  qm_message_add_seconds (message, "time", time->finish.p50, wish->seconds);
  qm_message_add (message, "start", QM_ARGUMENT_SECONDS, time->start_up_seconds);

  return qm_message_add_range (message, "range", QM_ARGUMENT_SECONDS_RANGE, time->finish);
}

/**
 * qm_reason_load:
 * @job: a job
 * @choice: an answer to it
 *
 * Returns: (transfer full) (nullable): how it carries the busiest minutes; %NULL
 *   where no load is known
 */
QmMessage *
qm_reason_load (const QmJob    *job,
                const QmChoice *choice)
{
  const QmServingFigures *serving = &choice->estimate.serving;
  QmMessage *message;

  if (!job->serving || !(job->peak_requests_per_second > 0))
    return NULL;

  message = qm_message_new ("carries-load", N_("It carries your busiest minutes"));
  if (serving->latency_basis == QM_LATENCY_SIMULATED)
    qm_message_set_detail (message, N_("{peak} requests a second at the peak; {replicas} × {rate} a second with a fifth in reserve. "
                                       "Simulated: half of the answers are there within {median}, 99 of 100 within {range}."));
  else if (serving->latency_basis == QM_LATENCY_QUEUE)
    qm_message_set_detail (message, N_("{peak} requests a second at the peak; {replicas} × {rate} a second with a fifth in reserve. "
                                       "By the law of queues half of the answers are there within {median}, 99 of 100 within {range}."));
  else
    qm_message_set_detail (message, N_("{peak} requests a second at the peak; {replicas} × {rate} a second with a fifth in reserve. "
                                       "The slowest of a hundred answers takes about {latency}."));
  qm_message_add (message, "peak", QM_ARGUMENT_NUMBER, job->peak_requests_per_second);
  qm_message_add (message, "replicas", QM_ARGUMENT_COUNT, serving->replicas);
  qm_message_add (message, "rate", QM_ARGUMENT_NUMBER, serving->requests_per_second);
  qm_message_add (message, "median", QM_ARGUMENT_SECONDS, serving->latency_p50_seconds.p50);
  qm_message_add_range (message, "range", QM_ARGUMENT_SECONDS_RANGE, serving->latency_p99_seconds);

  return qm_message_add (message, "latency", QM_ARGUMENT_SECONDS, serving->latency_p99_seconds.p50);
}

/* The cheapest of other devices among those that keep the limits. */
static const QmChoice *
cheapest_other (const QmChoice *choice,
                const GArray   *rows)
{
  const QmChoice *cheapest = NULL;

  for (guint i = 0; i < rows->len; i++)
    {
      const QmChoice *row = &g_array_index (rows, QmChoice, i);

      if (!row->within_limits || row->estimate.device == choice->estimate.device)
        continue;
      if (cheapest == NULL || row->estimate.cost.money.p50 < cheapest->estimate.cost.money.p50)
        cheapest = row;
    }

  return cheapest;
}

/* What another that costs less asks for in return. */
static const char *
in_return (const QmChoice *choice,
           const QmChoice *other)
{
  double points = other->estimate.accuracy.value.p50 - choice->estimate.accuracy.value.p50;

  if (other->estimate.time.finish.p50 > 1.05 * choice->estimate.time.finish.p50)
    return N_("{hour} for each hour that it runs. {other} costs less, {other_money}, but takes {other_time}.");
  if (points * (choice->estimate.accuracy.is_relative ? 1 : 100) < -0.1)
    return N_("{hour} for each hour that it runs. {other} costs less, {other_money}, but its quality is lower.");
  if (other->hurdles > choice->hurdles)
    return N_("{hour} for each hour that it runs. {other} costs less, {other_money}, but asks more of you: see its drawbacks.");

  return N_("{hour} for each hour that it runs. {other} costs less, {other_money}.");
}

/* What is bought costs at once, and then its power. */
static QmMessage *
split_purchase (const QmSearch *search,
                const QmChoice *choice,
                QmMessage      *message)
{
  qm_message_set_detail (message, search->job.serving
                           ? N_("{purchase} to buy, spread over {months} months, and {hour} of power for each hour.")
                           : N_("{purchase} to buy, and {hour} of power for each hour that it runs."));
  qm_message_add_money (message, "purchase", choice->estimate.cost.purchase_money, qm_plan_get_currency (search->job.plan));

  return qm_message_add (message, "months", QM_ARGUMENT_COUNT, search->job.economics->amortisation_months);
}

static QmMessage *
why_money (const QmSearch *search,
           const QmChoice *choice,
           const GArray   *rows)
{
  const QmChoice *other = cheapest_other (choice, rows);
  const char *currency = qm_plan_get_currency (search->job.plan);
  QmMessage *message;

  if (!choice->estimate.cost.known)
    return NULL;

  message = qm_message_new ("money", search->job.serving ? N_("It costs about {money} a month") : N_("It costs about {money}"));
  qm_message_add_money (message, "money", choice->estimate.cost.money.p50, currency);
  qm_message_add_money (message, "hour", choice->estimate.cost.per_hour, currency);
  if (choice->offer != NULL)
    qm_message_set_source (message, choice->offer->source);
  if (choice->estimate.cost.purchase_money > 0)
    return split_purchase (search, choice, message);
  if (other == NULL)
    return qm_message_set_detail (message, N_("{hour} for each hour that it runs."));

  qm_message_set_detail (message, other->estimate.cost.money.p50 < choice->estimate.cost.money.p50
                           ? in_return (choice, other)
                           : N_("{hour} for each hour that it runs. The next cheapest, {other}, costs {other_money}."));
  qm_message_add_text (message, "other", QM_ARGUMENT_NAME, other->label);
  qm_message_add (message, "other_time", QM_ARGUMENT_SECONDS, other->estimate.time.finish.p50);

  return qm_message_add_money (message, "other_money", other->estimate.cost.money.p50, currency);
}

/* How much is lost while the device waits for data. */
static QmMessage *
why_input (const QmChoice *choice)
{
  static const char * const details[] = {
    [QM_INPUT_NONE] = N_("It would be {factor} as fast if the data came faster: more loader workers would help."),
    [QM_INPUT_DECODING] = N_("It would be {factor} as fast if the data came faster: more cores, files that are made smaller beforehand, or decoding on the device would help."),
    [QM_INPUT_STORAGE] = N_("It would be {factor} as fast if the data came faster: copy them to a faster disk or into memory first."),
    [QM_INPUT_NETWORK] = N_("It would be {factor} as fast if the data came faster: copy them to a local disk first."),
  };
  const QmThroughput *throughput = &choice->estimate.throughput;
  QmMessage *message;

  if (!(throughput->input_gain > 1.02))
    return NULL;

  message = qm_message_new ("input-bound", N_("Loading the data limits the speed"));
  qm_message_set_detail (message, details[throughput->input_limit]);

  return qm_message_add (message, "factor", QM_ARGUMENT_FACTOR, throughput->input_gain);
}

static QmMessage *
why_bound (const QmChoice *choice)
{
  static const struct { QmBound bound; const char *code; const char *text; const char *detail; } words[] = {
    { QM_BOUND_COMPUTE, "compute-bound", N_("Arithmetic limits the speed"),
      N_("The device computes for most of each step, as it should: a faster one would help in proportion.") },
    { QM_BOUND_MEMORY, "memory-bound", N_("Memory bandwidth limits the speed"),
      N_("Most of each step goes into moving data: bandwidth matters more than peak arithmetic.") },
    { QM_BOUND_COMMUNICATION, "communication-bound", N_("Traffic between devices limits the speed"),
      N_("More devices would help little; faster links would.") },
    { QM_BOUND_INPUT, "input-bound", N_("Loading the data limits the speed"),
      N_("More loader workers or faster storage would help; a faster device would not.") },
    { QM_BOUND_OVERHEAD, "overhead-bound", N_("Software overhead limits the speed"),
      N_("Starting the operations takes longer than the work in them: larger batches or compilation would help.") },
  };

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (words[i].bound == choice->estimate.throughput.bound_by && !(choice->estimate.throughput.input_gain > 1.02))
      return qm_message_set_detail (qm_message_new (words[i].code, words[i].text), words[i].detail);

  return NULL;
}

static QmMessage *
why_simple (const QmSearch *search,
            const QmChoice *choice)
{
  int devices = choice->estimate.configuration.devices;
  QmMessage *message;

  if (choice->place == QM_PLACE_THIS_COMPUTER)
    return qm_message_set_detail (qm_message_new ("already-here", N_("You have it already")),
                                  N_("Nothing to rent, nothing to set up: only the power is paid for."));
  if (devices == 1)
    return qm_message_set_detail (qm_message_new ("one-device", N_("One device is enough")),
                                  N_("No job to split, no links between devices, nothing to tune."));
  if (choice->machines == 1)
    {
      message = qm_message_new ("one-machine", N_("One machine is enough"));
      qm_message_set_detail (message, N_("{devices} devices in one machine: no network between machines to set up."));
      return qm_message_add (message, "devices", QM_ARGUMENT_COUNT, devices);
    }

  return NULL;
}

static QmMessage *
why_spot (const QmSearch *search,
          const QmChoice *choice)
{
  QmMessage *message;

  if (choice->estimate.cost.pricing != QM_PRICING_SPOT)
    return NULL;

  message = qm_message_new ("spot", N_("The price is a spot price: the machine may be taken away"));
  if (!(choice->estimate.time.checkpoint_every_seconds > 0) ||
      choice->estimate.time.checkpoint_every_seconds > choice->estimate.time.seconds.p50)
    return message;

  qm_message_set_detail (message, N_("Save a checkpoint every {interval}; lost work and restarts are counted in."));
  return qm_message_add (message, "interval", QM_ARGUMENT_SECONDS, choice->estimate.time.checkpoint_every_seconds);
}

static QmMessage *
why_alternative (const QmSearch *search,
                 const QmChoice *choice,
                 const QmChoice *best)
{
  double money = choice->estimate.cost.money.p50 / best->estimate.cost.money.p50;
  double time = choice->estimate.time.finish.p50 / best->estimate.time.finish.p50;
  QmMessage *message;

  if (isnan (time))
    {
      message = qm_message_new ("against-best", N_("{money_factor} of the money of the first choice"));
      return qm_message_add (message, "money_factor", QM_ARGUMENT_FACTOR, money);
    }

  message = qm_message_new ("against-best", N_("{money_factor} of the money and {time_factor} of the time of the first choice"));
  qm_message_add (message, "money_factor", QM_ARGUMENT_FACTOR, money);

  return qm_message_add (message, "time_factor", QM_ARGUMENT_FACTOR, time);
}

static void
take (QmChoice  *choice,
      QmMessage *message)
{
  if (message != NULL)
    g_ptr_array_add (choice->reasons, message);
}

/**
 * qm_choices_explain:
 * @search: a search
 * @wish: the limits and the objective
 * @choices: (element-type QmChoice): the first is given three to six sentences,
 *   the others what differs; each, what to mind
 * @rows: (element-type QmChoice): what they are compared with
 */
void
qm_choices_explain (const QmSearch *search,
                    const QmWish   *wish,
                    GArray         *choices,
                    const GArray   *rows)
{
  for (guint i = 0; i < choices->len; i++)
    {
      QmChoice *choice = &g_array_index (choices, QmChoice, i);

      if (i > 0)
        take (choice, why_alternative (search, choice, &g_array_index (choices, QmChoice, 0)));
      take (choice, why_memory (choice));
      take (choice, qm_host_explain (&choice->estimate));
      take (choice, why_deadline (choice, wish));
      take (choice, qm_reason_load (&search->job, choice));
      take (choice, why_money (search, choice, rows));
      take (choice, why_spot (search, choice));
      take (choice, why_input (choice));
      for (guint j = 0; j < choice->drawbacks->len && choice->reasons->len < MAX_REASONS; j++)
        take (choice, qm_message_copy (g_ptr_array_index (choice->drawbacks, j)));
      if (i > 0)
        continue;
      if (choice->reasons->len < MAX_REASONS - 1)
        take (choice, qm_cold_start_explain (&choice->estimate.serving));
      if (choice->reasons->len < MAX_REASONS - 1)
        take (choice, why_simple (search, choice));
      if (choice->reasons->len < MAX_REASONS - 1)
        take (choice, why_bound (choice));
    }
}

/**
 * qm_choice_break_even:
 * @search: a search
 * @wish: the limits and the objective
 * @choice: (inout): hours and months of use are set after which buying it has
 *   cost less than the cheapest rent for the same work
 */
void
qm_choice_break_even (const QmSearch *search,
                      const QmWish   *wish,
                      QmChoice       *choice)
{
  double cheapest = INFINITY, hours, saved_per_hour;

  if (choice->place != QM_PLACE_BUY)
    return;

  for (guint i = 0; i < search->rows->len; i++)
    {
      const QmRow *row = &g_array_index (search->rows, QmRow, i);

      if (g_array_index (search->placements, QmPlacement, row->placement).place == QM_PLACE_CLOUD)
        cheapest = MIN (cheapest, row->money);
    }
  if (isinf (cheapest))
    return;

  hours = search->job.serving ? search->job.economics->hours_per_month : choice->estimate.time.seconds.p50 / 3600;
  saved_per_hour = cheapest / hours - choice->estimate.cost.per_hour;
  if (!(saved_per_hour > 0))
    return;

  choice->estimate.cost.break_even_hours = choice->estimate.cost.purchase_money * (1 - search->job.economics->resale_share) /
                                           saved_per_hour;
  choice->estimate.cost.break_even_months = choice->estimate.cost.break_even_hours / search->job.economics->use_hours_per_month;
}
