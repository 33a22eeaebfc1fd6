/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "draw/qm-phrases.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "decide/qm-money.h"
#include "qm-chart-private.h"

/* Virtual cores of each machine where some cores of a processor are rented; else 0. */
static int
rented_cores (const QmChoice *choice)
{
  return choice->estimate.device->device_class == QM_DEVICE_CLASS_CPU && choice->offer != NULL ? choice->offer->vcpus : 0;
}

/**
 * qm_phrase_hardware:
 * @choice: a choice
 *
 * Returns: (transfer full): e.g. "2 × NVIDIA L40S", "1 × 8 vCPU AMD EPYC 9654"
 */
char *
qm_phrase_hardware (const QmChoice *choice)
{
  int n = MAX (1, choice->estimate.configuration.devices);
  int cores = rented_cores (choice);

  if (cores > 0)
    return g_strdup_printf ("%d × %d vCPU %s", n, cores, choice->estimate.device->name);

  return g_strdup_printf ("%d × %s", n, choice->estimate.device->name);
}

/**
 * qm_phrase_headline:
 * @words: the reader's language
 * @choice: a choice
 *
 * Returns: (transfer full): the choice as a sentence
 */
char *
qm_phrase_headline (const QmWords *words, const QmChoice *choice)
{
  int n = MAX (1, choice->estimate.configuration.devices);
  g_autofree char *hardware = n == 1 ? g_strdup (choice->estimate.device->name) : qm_phrase_hardware (choice);
  int cores = rented_cores (choice);

  /* Translators: virtual cores are what clouds rent out, usually two of them for
   * each core of the processor {device} */
  if (n == 1 && cores > 0)
    {
      g_autofree char *count = qm_format_count (words, cores);

      return qm_fill (words->translate_plural ("Rent a server with {n} virtual core ({device})",
                                               "Rent a server with {n} virtual cores ({device})", cores),
                      "n", count, "device", choice->estimate.device->name, NULL);
    }

  /* Translators: %s is the name of a GPU or processor, with a count before it
   * where there are several: "NVIDIA L4" or "4 × NVIDIA L4" */
  switch (choice->place)
    {
    case QM_PLACE_THIS_COMPUTER:
      return g_strdup_printf (words->translate (N_("Use this computer: %s")), hardware);
    case QM_PLACE_OWNED:
      return g_strdup_printf (words->translate (N_("Use your %s")), hardware);
    case QM_PLACE_BUY:
      return n == 1 ? g_strdup_printf (words->translate (N_("Buy one %s")), hardware) : g_strdup_printf (words->translate (N_("Buy %s")), hardware);
    case QM_PLACE_QUOTED:
    case QM_PLACE_UNSET:
      return g_strdup_printf (words->translate (N_("Take %s")), hardware);
    case QM_PLACE_CLOUD:
    default:
      return n == 1 ? g_strdup_printf (words->translate (N_("Rent one %s")), hardware) : g_strdup_printf (words->translate (N_("Rent %s")), hardware);
    }
}

/**
 * qm_phrase_finish:
 * @words: the reader's language
 * @plan: whose deadline the time is held against
 * @estimate: of a job
 *
 * Returns: (transfer full): when the result is there, e.g. "12 h 10 min" of a
 *   deadline of 12 h; a dash where it is unknown
 */
char *
qm_phrase_finish (const QmWords    *words,
                  const QmPlan     *plan,
                  const QmEstimate *estimate)
{
  double seconds = estimate->time.finish.p50;

  return isnan (seconds) ? g_strdup ("–") : qm_format_seconds_against (words, seconds, plan->limits.hours * 3600);
}

/**
 * qm_phrase_nothing:
 * @words: the reader's language
 * @plan: as it was given
 *
 * Returns: (transfer none): that there is no answer to it: who set no limit is
 *   not told of limits
 */
const char *
qm_phrase_nothing (const QmWords *words, const QmPlan *plan)
{
  return words->translate (qm_plan_has_limits (plan) ? N_("Nothing that may be used keeps all your limits")
                                                     : N_("Nothing that may be used can do this job"));
}

/* In natural logarithms of money, as hurdles are. */
#define EASIER 0.1

static const char *
outside (QmLimit limit)
{
  switch (limit)
    {
    case QM_LIMIT_MONEY:
      return N_("Over your budget");
    case QM_LIMIT_DEADLINE:
      return N_("After your deadline");
    case QM_LIMIT_LATENCY:
      return N_("Answers too slowly");
    case QM_LIMIT_PLACE:
      return N_("Not where you allow");
    case QM_LIMIT_ACCURACY:
      return N_("Below your quality");
    default:
      return N_("Outside your limits");
    }
}

/**
 * qm_phrase_is_beaten:
 * @better: a choice that is better in time, money and quality
 * @choice: than this one
 *
 * Returns: whether that is all there is to say: what is better in figures may
 *   yet be harder to use
 */
gboolean
qm_phrase_is_beaten (const QmChoice *better, const QmChoice *choice)
{
  return better->drawback == NULL || better->hurdles <= choice->hurdles + EASIER;
}

/* How many times the resources of the first row a row takes, by those counts that
 * rule it out: "2 × the devices, 3 × the device hours" */
static char *
ruling_counts (const QmWords *words, const QmChoice *first, const QmChoice *choice)
{
  const struct { gboolean fires; const char *text; double factor; } bases[] = {
    { choice->ruled_out_by_count, N_("{factor} the devices"),
      choice->estimate.configuration.devices / (double) MAX (1, first->estimate.configuration.devices) },
    { choice->ruled_out_by_gpu_hours, N_("{factor} the device hours"), choice->gpu_hours / first->gpu_hours },
    { choice->ruled_out_by_cost, N_("{factor} the money"), choice->estimate.cost.money.p50 / first->estimate.cost.money.p50 },
  };
  GString *counts = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (bases); i++)
    {
      g_autofree char *factor = bases[i].fires ? qm_format_factor (words, bases[i].factor) : NULL;
      g_autofree char *text = factor != NULL ? qm_fill (words->translate (bases[i].text), "factor", factor, NULL) : NULL;

      if (text != NULL)
        g_string_append_printf (counts, "%s%s", counts->len > 0 ? words->translate (N_(", ")) : "", text);
    }

  return g_string_free (counts, FALSE);
}

/* What the marginal rule says against a row, by which counts of resources. */
static char *
qm_phrase_ruled_out (const QmWords *words, QmRecommendation *recommendation, const QmChoice *choice)
{
  g_autofree char *counts = ruling_counts (words, qm_recommendation_row (recommendation, 0), choice);

  return qm_fill (words->translate (N_("{counts}, hardly better quality")), "counts", counts, NULL);
}

/**
 * qm_phrase_standing:
 * @words: the reader's language
 * @recommendation: a recommendation
 * @row: a row of its matrix
 * @detail: (out) (transfer full) (nullable): why, where there is more to say
 *
 * Returns: (transfer none): the verdict on the row
 */
const char *
qm_phrase_standing (const QmWords *words, QmRecommendation *recommendation, guint row, char **detail)
{
  const QmChoice *choice = qm_recommendation_row (recommendation, row);

  *detail = NULL;
  if (row == 0 && choice->within_limits)
    return words->translate (N_("Chosen"));
  if (!choice->within_limits)
    return words->translate (outside (choice->broken_limit));
  if (choice->dominated_by >= 0)
    {
      const QmChoice *better = qm_recommendation_row (recommendation, choice->dominated_by);
      g_autofree char *name = qm_phrase_hardware (better);
      g_autofree char *drawback = better->drawback != NULL ? qm_message_get_text (better->drawback, words) : NULL;

      if (!qm_phrase_is_beaten (better, choice))
        {
          /* Translators: {hardware} is better in time, money and quality, but has the {drawback} */
          *detail = qm_fill (words->translate (N_("{hardware} is better, but: {drawback}")), "hardware", name, "drawback", drawback, NULL);
          return words->translate (N_("Possible"));
        }
      /* Translators: {hardware} is better in time, money and quality */
      *detail = qm_fill (words->translate (N_("by {hardware}, in everything")), "hardware", name, NULL);
      return words->translate (N_("Beaten"));
    }
  if (choice->ruled_out_by_cost)
    {
      *detail = qm_phrase_ruled_out (words, recommendation, choice);
      return words->translate (N_("Not worth it"));
    }
  if (choice->place == QM_PLACE_QUOTED && choice->ruled_out_against >= 0)
    {
      *detail = qm_phrase_ruled_out (words, recommendation, choice);
      return words->translate (N_("Possible"));
    }

  *detail = choice->drawback != NULL ? qm_message_get_text (choice->drawback, words) : NULL;
  return words->translate (N_("Possible"));
}

/**
 * qm_phrase_rejection:
 * @words: the reader's language
 * @rejection: why a device was not chosen
 *
 * Returns: (transfer full): the reason, with the gravest drawback where there
 *   is one
 */
char *
qm_phrase_rejection (const QmWords *words, const QmRejection *rejection)
{
  g_autofree char *text = qm_message_get_text (rejection->message, words);
  g_autofree char *detail = qm_message_get_detail (rejection->message, words);

  if (detail == NULL)
    return g_steal_pointer (&text);

  /* Translators: {text} is a sentence, {detail} a drawback in a few words */
  return qm_fill (words->translate (N_("{text}; {detail}")), "text", text, "detail", detail, NULL);
}

/**
 * qm_phrase_rung:
 * @words: the reader's language
 * @rung: a rung of the ladder
 *
 * Returns: (transfer full): what it frees and costs, or why it does not
 */
char *
qm_phrase_rung (const QmWords *words, const QmRung *rung)
{
  g_autofree char *bytes = qm_format_bytes (words, rung->frees_bytes);
  g_autofree char *need = qm_format_bytes (words, rung->memory.need.p50);
  g_autofree char *factor = qm_format_factor (words, rung->time_factor);
  g_autofree char *host = qm_format_bytes (words, rung->host_bytes);
  gboolean timed = isfinite (rung->time_factor);

  switch (rung->state)
    {
    case QM_RUNG_ALREADY:
      return g_strdup (words->translate (N_("Already so")));
    case QM_RUNG_NO_USE:
      return g_strdup (words->translate (N_("Frees nothing here")));
    case QM_RUNG_IMPOSSIBLE:
      if (rung->host_bytes > 0)
        return qm_fill (words->translate (N_("Not possible: it takes {host} of system memory (RAM), more than the machine has")), "host", host,
                        NULL);
      return g_strdup (words->translate (N_("Not possible on this hardware")));
    case QM_RUNG_SPARE:
      if (rung->host_bytes > 0 && timed)
        return qm_fill (words->translate (N_("Would free {bytes}, in {factor} of the time; {host} of system memory (RAM) are needed")), "bytes",
                        bytes, "factor", factor, "host", host, NULL);
      return qm_fill (words->translate (timed ? N_("Would free {bytes}, in {factor} of the time") : N_("Would free {bytes}")),
                      "bytes", bytes, "factor", factor, NULL);
    case QM_RUNG_TAKEN:
    default:
      if (rung->host_bytes > 0 && timed)
        return qm_fill (words->translate (N_("Frees {bytes} and leaves {need}, in {factor} of the time; {host} of system memory (RAM) are needed")),
                        "bytes", bytes, "need", need, "factor", factor, "host", host, NULL);
      return qm_fill (words->translate (timed ? N_("Frees {bytes} and leaves {need}, in {factor} of the time")
                                              : N_("Frees {bytes} and leaves {need}")),
                      "bytes", bytes, "need", need, "factor", factor, NULL);
    }
}

/**
 * qm_phrase_way_out:
 * @words: the reader's language
 * @ladder: the ladder of a plan that does not fit
 * @detail: (out): what has to be changed, or what else there is to do
 *
 * Returns: (transfer full): whether there is a way to make it fit
 */
char *
qm_phrase_way_out (const QmWords *words, const QmLadder *ladder, char **detail)
{
  g_autoptr (GString) changes = g_string_new (NULL);
  g_autofree char *need = qm_format_bytes (words, ladder->reached.memory.need.p50);
  g_autofree char *usable = qm_format_bytes (words, ladder->reached.memory.usable_bytes);

  if (!ladder->fits)
    {
      *detail = g_strdup (words->translate (N_("Take a smaller model, a device with more memory, or more devices.")));
      return qm_fill (words->translate (N_("Even with all that saves memory it needs {need} of {usable}")), "need", need, "usable", usable,
                      NULL);
    }

  for (guint i = 0; i < ladder->rungs->len; i++)
    {
      const QmRung *rung = &g_array_index (ladder->rungs, QmRung, i);
      g_autofree char *title = qm_message_get_text (rung->message, words);

      if (rung->state == QM_RUNG_TAKEN)
        g_string_append_printf (changes, "%s%s", changes->len > 0 ? " · " : "", title);
    }
  *detail = g_strdup (changes->str);

  return qm_fill (words->translate (N_("With these changes it needs {need} of {usable}, and fits")), "need", need, "usable", usable, NULL);
}

/**
 * qm_phrase_terms:
 * @words: the reader's language
 * @plan: the plan
 * @choice: a choice
 *
 * Returns: (transfer full): where it is to be had, at what price of which date
 */
char *
qm_phrase_terms (const QmWords *words, const QmPlan   *plan,
                 const QmChoice *choice)
{
  const QmCost *cost = &choice->estimate.cost;
  g_autofree char *hour = qm_format_money (words, cost->per_hour, qm_plan_get_currency (plan));
  g_autofree char *purchase = qm_format_money (words, cost->purchase_money, qm_plan_get_currency (plan));
  g_autofree char *date = cost->as_of != NULL ? qm_format_date (words, cost->as_of) : g_strdup (words->translate (N_("unknown date")));

  if (choice->offer != NULL)
    /* Translators: provider, machine, region, price of an hour, on demand or spot, date */
    return g_strdup_printf (words->translate (N_("%s %s in %s, %s an hour (%s). Price of %s.")), choice->offer->provider_name, choice->offer->instance,
                            choice->offer->region != NULL ? choice->offer->region : words->translate (N_("any region")), hour,
                            words->translate (qm_pricing_name (cost, choice->offer)), date);
  if (choice->place == QM_PLACE_BUY)
    return g_strdup_printf (words->translate (N_("About %s to buy. Price of %s, an estimate.")), purchase, date);

  if (choice->place == QM_PLACE_QUOTED)
    return g_strdup (words->translate (N_("By the figures that the plan gives.")));

  if (choice->place == QM_PLACE_UNSET)
    return g_strdup (words->translate (N_("As you ask it can be neither rented nor bought: what it costs is not told.")));

  return g_strdup (words->translate (N_("Nothing to rent: only the power is paid for.")));
}

/**
 * qm_phrase_quality:
 * @words: the reader's language
 * @accuracy: what is known of the quality
 *
 * Returns: (transfer full): its middle
 */
char *
qm_phrase_quality (const QmWords *words, const QmAccuracy *accuracy)
{

  if (!qm_range_is_known (accuracy->value))
    return g_strdup (words->translate (N_("unknown")));
  if (accuracy->is_relative)
    return accuracy->value.p50 == 0 && accuracy->value.p10 == 0 ? g_strdup (words->translate (N_("best"))) : qm_format_points (words, accuracy->value.p50);
  if (g_strcmp0 (accuracy->metric, "loss") == 0)
    return g_strdup_printf (words->translate (N_("loss %.2f")), accuracy->value.p50);

  /* What is measured is told to a tenth of a point, what is a range is not. */
  return accuracy->basis == QM_ACCURACY_MEASURED ? qm_format_percent_tenths (words, accuracy->value.p50)
                                                 : qm_format_percent (words, accuracy->value.p50);
}

/* Of what a score is, and on which data. */
static const char *
score_words (const char *metric)
{
  static const struct { const char *metric; const char *text; } words[] = {
    { "own-score", N_("{low}–{high} by the trend of your results") },
    { "box-ap", N_("{low}–{high} average precision of boxes on COCO, not your data") },
    { "auc", N_("{low}–{high} area under the curve on Criteo, not your data") },
    { "hit-rate-10", N_("{low}–{high} found among ten on MovieLens, not your data") },
    { "ndcg-100", N_("{low}–{high} of the best order (NDCG at 100) on MovieLens, not your data") },
  };

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (g_strcmp0 (metric, words[i].metric) == 0)
      return words[i].text;

  return N_("{low}–{high} on ImageNet, not your data");
}

/**
 * qm_phrase_quality_range:
 * @words: the reader's language
 * @accuracy: what is known of the quality
 *
 * Returns: (transfer full): its range and what it is against
 */
char *
qm_phrase_quality_range (const QmWords *words, const QmAccuracy *accuracy)
{
  g_autofree char *low = NULL;
  g_autofree char *high = NULL;

  if (!qm_range_is_known (accuracy->value))
    return g_strdup (words->translate (N_("no published figure to go by")));

  if (accuracy->is_relative)
    {
      const char *against = g_strcmp0 (accuracy->metric, "points-against-full") == 0 ? words->translate (N_("training all weights")) : words->translate (N_("16-bit weights"));

      if (accuracy->value.p10 == accuracy->value.p90)
        return g_strdup_printf (words->translate (N_("nothing lost against %s")), against);
      low = qm_format_number (words, accuracy->value.p10);
      high = qm_format_number (words, accuracy->value.p90);
      return g_strdup_printf (words->translate (N_("%s to %s points against %s")), low, high, against);
    }
  if (g_strcmp0 (accuracy->metric, "loss") == 0)
    return g_strdup_printf (words->translate (N_("%.2f–%.2f nats by scaling laws")), accuracy->value.p10, accuracy->value.p90);

  if (accuracy->value.p10 == accuracy->value.p90)
    return g_strdup (words->translate (N_("as the plan says")));

  low = qm_format_percent (words, accuracy->value.p10);
  high = qm_format_percent (words, accuracy->value.p90);
  return qm_fill (words->translate (score_words (accuracy->metric)), "low", low, "high", high, NULL);
}

/**
 * qm_phrase_verdict:
 * @words: the reader's language
 * @verdict: whether it fits
 *
 * Returns: (transfer none): a word for it
 */
const char *
qm_phrase_verdict (const QmWords *words, QmVerdict verdict)
{
  switch (verdict)
    {
    case QM_VERDICT_FITS:
      return words->translate (N_("Fits"));
    case QM_VERDICT_TIGHT:
      return words->translate (N_("Tight"));
    case QM_VERDICT_MAY_FIT:
      return words->translate (N_("May fit"));
    case QM_VERDICT_PARTLY_IN_SYSTEM_MEMORY:
      return words->translate (N_("Partly in system memory"));
    case QM_VERDICT_DOES_NOT_FIT:
      return words->translate (N_("Does not fit"));
    case QM_VERDICT_UNKNOWN:
    default:
      return words->translate (N_("Unknown"));
    }
}

/**
 * qm_phrase_bound:
 * @words: the reader's language
 * @bound: what limits the speed
 *
 * Returns: (transfer none): a word for it
 */
const char *
qm_phrase_bound (const QmWords *words, QmBound bound)
{
  switch (bound)
    {
    case QM_BOUND_COMPUTE:
      return words->translate (N_("Arithmetic"));
    case QM_BOUND_MEMORY:
      return words->translate (N_("Bandwidth"));
    case QM_BOUND_COMMUNICATION:
      return words->translate (N_("Links"));
    case QM_BOUND_INPUT:
      return words->translate (N_("Data loading"));
    case QM_BOUND_OVERHEAD:
      return words->translate (N_("Overhead"));
    case QM_BOUND_UNSET:
    default:
      return "–";
    }
}

/**
 * qm_phrase_place:
 * @words: the reader's language
 * @place: where
 *
 * Returns: (transfer none): a word for it
 */
const char *
qm_phrase_place (const QmWords *words, QmPlace place)
{
  switch (place)
    {
    case QM_PLACE_THIS_COMPUTER:
      return words->translate (N_("This computer"));
    case QM_PLACE_OWNED:
      return words->translate (N_("Yours"));
    case QM_PLACE_BUY:
      return words->translate (N_("To buy"));
    case QM_PLACE_CLOUD:
      return words->translate (N_("To rent"));
    case QM_PLACE_QUOTED:
      return words->translate (N_("As the plan says"));
    case QM_PLACE_UNSET:
    default:
      return words->translate (N_("Not to be had"));
    }
}

/**
 * qm_phrase_stage:
 * @words: the reader's language
 * @stage: a stage of the project
 *
 * Returns: (transfer none): its name
 */
const char *
qm_phrase_stage (const QmWords *words, QmStage stage)
{
  switch (stage)
    {
    case QM_STAGE_PROTOTYPE:
      return words->translate (N_("Prototype"));
    case QM_STAGE_DEVELOPMENT:
      return words->translate (N_("Development"));
    case QM_STAGE_PRODUCTION:
      return words->translate (N_("Production"));
    case QM_STAGE_UNSET:
    default:
      return "";
    }
}
