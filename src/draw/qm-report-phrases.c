/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "draw/qm-phrases.h"
#include "plan/qm-flow.h"
#include "qm-report-private.h"

/* The answer in a few words. */
char *
qm_report_headline (const QmReport *report)
{
  if (report->best == NULL)
    return g_strdup (report->words->translate (N_("Nothing that you allow can do this job")));

  return qm_phrase_headline (report->words, report->best);
}

static const char *
option_name (const QmPlan *plan,
             const char   *field)
{
  const QmQuestion *question = qm_flow_find_for (field, plan);
  g_autofree char *value = qm_plan_get_field (plan, field);

  for (const QmOption *option = question != NULL ? question->options : NULL; option != NULL && option->value != NULL; option++)
    if (g_strcmp0 (option->value, value) == 0)
      return option->name;

  return NULL;
}

/* What was asked, in a sentence. */
char *
qm_report_question (const QmReport *report)
{
  const QmWords *words = report->words;
  const QmPlan *plan = report->resolved->plan;
  const char *activity = option_name (plan, "activity");
  const char *model = report->resolved->model->name[0] != '\0' ? report->resolved->model->name : NULL;
  g_autofree char *money = qm_format_money (words, plan->limits.money, report->currency);
  g_autofree char *time = qm_format_seconds (words, plan->limits.hours * 3600);
  g_autofree char *what = NULL;

  what = g_strdup (activity != NULL ? words->translate (activity) : plan->title);
  if (model != NULL)
    {
      /* Translators: {what} is e.g. "Adapt a trained model", {model} its name */
      g_autofree char *with_model = qm_fill (words->translate (N_("{what}: {model}")), "what", what, "model", model, NULL);

      g_free (what);
      what = g_steal_pointer (&with_model);
    }

  if (isfinite (plan->limits.money) && isfinite (plan->limits.hours))
    return qm_fill (words->translate (N_("{what}, for at most {money}, within {time}. On which hardware?")), "what", what, "money",
                    money, "time", time, NULL);
  if (isfinite (plan->limits.money))
    return qm_fill (words->translate (N_("{what}, for at most {money}. On which hardware?")), "what", what, "money", money, NULL);
  if (isfinite (plan->limits.hours))
    return qm_fill (words->translate (N_("{what}, within {time}. On which hardware?")), "what", what, "time", time, NULL);

  return qm_fill (words->translate (N_("{what}. On which hardware?")), "what", what, NULL);
}

/* Where a choice is to be had. */
char *
qm_report_where (const QmReport *report,
                 const QmChoice *choice)
{
  const QmWords *words = report->words;

  if (choice->offer != NULL && choice->machines > 1)
    return g_strdup_printf ("%d × %s %s", choice->machines, choice->offer->provider_name, choice->offer->instance);
  if (choice->offer != NULL)
    return g_strdup_printf ("%s %s", choice->offer->provider_name, choice->offer->instance);

  switch (choice->place)
    {
    case QM_PLACE_THIS_COMPUTER: return g_strdup (words->translate (N_("this computer")));
    case QM_PLACE_OWNED: return g_strdup (words->translate (N_("your own")));
    case QM_PLACE_BUY: return g_strdup (words->translate (N_("to buy")));
    default: return g_strdup ("–");
    }
}

/* A heading and the text that goes with it, as markup. */
char *
qm_report_run_in (const QmReport *report,
                  const char     *heading,
                  const char     *text)
{
  g_autofree char *bold = g_markup_escape_text (heading, -1);
  g_autofree char *plain = text != NULL ? g_markup_escape_text (text, -1) : NULL;

  if (plain == NULL)
    return qm_fill (report->words->translate (N_("<b>{heading}.</b>")), "heading", bold, NULL);

  return qm_fill (report->words->translate (N_("<b>{heading}.</b> {text}")), "heading", bold, "text", plain, NULL);
}

static void
sentence (const QmWords *words,
          GString       *text,
          char          *next)
{
  g_autofree char *both = NULL;

  if (next == NULL)
    return;

  /* Translators: {next} is the sentence that follows {text}; not every language puts a space between them */
  both = text->len > 0 ? qm_fill (words->translate (N_("{text} {next}")), "text", text->str, "next", next, NULL) : g_strdup (next);
  g_string_assign (text, both);
  g_free (next);
}

static char *
terms (const QmReport *report)
{
  const QmWords *words = report->words;
  const QmChoice *best = report->best;
  const QmCost *cost = &best->estimate.cost;
  g_autofree char *where = qm_report_where (report, best);
  g_autofree char *hour = qm_format_money (words, cost->per_hour, report->currency);
  g_autofree char *price = qm_format_money (words, cost->purchase_money, report->currency);

  if (best->offer != NULL)
    return qm_fill (words->translate (cost->pricing == QM_PRICING_SPOT ? N_("It is {where} in {region}, {hour} an hour as spot.") :
                                                                         N_("It is {where} in {region}, {hour} an hour.")),
                    "where", where, "region", best->offer->region != NULL ? best->offer->region : "–", "hour", hour, NULL);
  if (best->place == QM_PLACE_BUY && isfinite (cost->purchase_money))
    return qm_fill (words->translate (N_("It costs about {price} to buy.")), "price", price, NULL);

  return NULL;
}

/* The choice in some sentences. */
char *
qm_report_verdict (const QmReport *report)
{
  const QmWords *words = report->words;
  const QmEstimate *estimate;
  GString *text = g_string_new (NULL);
  g_autofree char *need = NULL, *usable = NULL, *time = NULL, *money = NULL, *quality = NULL;

  if (report->best == NULL)
    {
      g_string_append (text, words->translate (N_("The reasons follow; a limit that is a little wider may be enough.")));
      return g_string_free (text, FALSE);
    }

  estimate = &report->best->estimate;
  need = qm_format_bytes (words, estimate->memory.need.p50);
  usable = qm_format_bytes (words, estimate->memory.usable_bytes);
  time = qm_phrase_finish (words, report->resolved->plan, estimate);
  money = qm_format_money (words, estimate->cost.money.p50, report->currency);
  quality = qm_report_quality (report, &estimate->accuracy);

  sentence (words, text, terms (report));
  if (qm_range_is_known (estimate->memory.need))
    sentence (words, text, qm_fill (words->translate (N_("The job needs {need} of {usable}.")), "need", need, "usable", usable, NULL));
  if (qm_range_is_known (estimate->time.finish) && report->resolved->plan->activity != QM_ACTIVITY_SERVE)
    sentence (words, text, qm_fill (words->translate (N_("It takes about {time}.")), "time", time, NULL));
  if (estimate->cost.known)
    sentence (words, text, qm_fill (words->translate (report->resolved->plan->activity == QM_ACTIVITY_SERVE ?
                                               N_("It costs about {money} a month.") : N_("It costs about {money}.")),
                             "money", money, NULL));
  if (qm_range_is_known (estimate->accuracy.value))
    sentence (words, text, qm_fill (words->translate (N_("Quality: {quality}.")), "quality", quality, NULL));

  return g_string_free (text, FALSE);
}

/* What is known of the quality, with what it is against. */
char *
qm_report_quality (const QmReport   *report,
                   const QmAccuracy *accuracy)
{
  const QmWords *words = report->words;
  g_autofree char *middle = NULL;

  if (!qm_range_is_known (accuracy->value))
    return g_strdup (words->translate (N_("unknown")));

  if (accuracy->is_relative)
    {
      middle = qm_format_points (words, accuracy->value.p50);
      if (accuracy->value.p10 == 0 && accuracy->value.p90 == 0)
        return g_strdup (words->translate (N_("nothing lost")));
      return qm_fill (words->translate (g_strcmp0 (accuracy->metric, "points-against-full") == 0 ?
                                        N_("{points} against training all weights") : N_("{points} against 16-bit weights")),
                      "points", middle, NULL);
    }
  if (g_strcmp0 (accuracy->metric, "loss") == 0)
    {
      middle = qm_format_number (words, accuracy->value.p50);
      return qm_fill (words->translate (N_("loss {value}")), "value", middle, NULL);
    }

  middle = qm_phrase_quality (words, accuracy);
  if (accuracy->basis == QM_ACCURACY_MEASURED)
    return qm_fill (words->translate (N_("{percent}, as the plan says")), "percent", middle, NULL);
  if (g_strcmp0 (accuracy->metric, "own-score") == 0)
    return qm_fill (words->translate (N_("{percent} by the trend of your results")), "percent", middle, NULL);

  return qm_fill (words->translate (N_("{percent} on a published benchmark")), "percent", middle, NULL);
}

/* A verdict on a row of the decision matrix. */
char *
qm_report_standing (const QmReport *report,
                    guint           row)
{
  const QmWords *words = report->words;
  const QmChoice *choice = qm_recommendation_row (report->recommendation, row);
  g_autofree char *detail = NULL;
  const char *standing = qm_phrase_standing (words, report->recommendation, row, &detail);

  /* The rows are numbered here: that is shorter than the name. */
  if (row > 0 && choice->within_limits && choice->dominated_by >= 0)
    {
      const QmChoice *better = qm_recommendation_row (report->recommendation, choice->dominated_by);
      g_autofree char *number = qm_format_count (words, choice->dominated_by + 1);
      g_autofree char *drawback = better->drawback != NULL ? qm_message_get_text (better->drawback, words) : NULL;

      return qm_phrase_is_beaten (better, choice)
               ? qm_fill (words->translate (N_("Beaten by row {n}")), "n", number, NULL)
               : qm_fill (words->translate (N_("Possible; row {n} is better, but: {drawback}")), "n", number, "drawback", drawback, NULL);
    }

  return detail != NULL ? qm_fill (words->translate (N_("{standing}: {detail}")), "standing", standing, "detail", detail, NULL)
                        : g_strdup (standing);
}

/* Of which day the prices are. */
char *
qm_report_prices (const QmReport *report)
{
  const QmWords *words = report->words;
  const char *oldest = NULL, *newest = NULL;
  g_autofree char *from = NULL, *to = NULL;

  for (guint i = 0; i < qm_recommendation_n_rows (report->recommendation); i++)
    {
      const char *day = qm_recommendation_row (report->recommendation, i)->estimate.cost.as_of;

      if (day == NULL)
        continue;
      if (oldest == NULL || strcmp (day, oldest) < 0)
        oldest = day;
      if (newest == NULL || strcmp (day, newest) > 0)
        newest = day;
    }
  if (oldest == NULL)
    return g_strdup (words->translate (N_("Ranges hold 8 of 10 outcomes.")));

  from = qm_format_date (words, oldest);
  to = qm_format_date (words, newest);
  if (strcmp (oldest, newest) == 0)
    return qm_fill (words->translate (N_("Ranges hold 8 of 10 outcomes. Prices of {date}.")), "date", to, NULL);

  return qm_fill (words->translate (N_("Ranges hold 8 of 10 outcomes. Prices of {from} to {to}.")), "from", from, "to", to, NULL);
}
