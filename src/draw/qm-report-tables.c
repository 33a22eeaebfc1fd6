/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "draw/qm-phrases.h"
#include "plan/qm-flow.h"
#include "qm-report-private.h"

#define MAX_REJECTIONS 14

static const char *
tr (const QmReport *report,
    const char     *msgid)
{
  return report->words->translate (msgid);
}

/* ------------------------------------------------------------------- answers */

static void
given_answers (QmReport *report)
{
  const double shares[] = { 0.42, 0.58 };
  const char *heads[] = { tr (report, N_("You told us")), "" };
  int table = qm_document_table (report->document, shares, 2, heads);

  for (guint i = 0; i < qm_flow_n_questions (); i++)
    {
      const QmQuestion *question = qm_flow_question (i);
      g_autofree char *given = qm_plan_get_field (report->resolved->given, question->field);
      g_autofree char *value = NULL;
      const char *cells[2];

      if (given == NULL || given[0] == '\0' || !qm_flow_applies (question, report->resolved->given))
        continue;
      value = qm_phrase_field_value (report->words, report->resolved->plan, question->field, given);
      cells[0] = tr (report, question->title);
      cells[1] = value;
      qm_document_row (report->document, table, shares, 2, cells);
    }
}

static void
assumptions (QmReport *report)
{
  const double shares[] = { 0.32, 0.2, 0.48 };
  const char *heads[] = { tr (report, N_("We assumed")), "", tr (report, N_("because")) };
  const GPtrArray *assumed = report->resolved->assumed;
  int table;

  if (assumed == NULL || assumed->len == 0)
    return;

  table = qm_document_table (report->document, shares, 3, heads);
  for (guint i = 0; i < assumed->len; i++)
    {
      const QmAssumption *assumption = g_ptr_array_index (assumed, i);
      g_autofree char *value = qm_phrase_field_value (report->words, report->resolved->plan, assumption->field, assumption->value);
      g_autofree char *why = qm_message_get_text (assumption->why, report->words);
      const char *cells[] = { qm_phrase_field_name (report->words, report->resolved->plan, assumption->field), value, why };

      qm_document_row (report->document, table, shares, 3, cells);
    }
}

/**
 * qm_report_answers:
 * @report: a report
 *
 * Adds the answers that were given and those that were assumed.
 */
void
qm_report_answers (QmReport *report)
{
  qm_document_heading (report->document, QM_VOICE_HEAD, tr (report, N_("Your answers and our assumptions")), "answers");
  given_answers (report);
  assumptions (report);
}

/* -------------------------------------------------------------------- matrix */

/* The middle over its range, or the one figure that is known. */
static char *
two_lines (char *middle,
           char *range)
{
  char *text = strcmp (middle, range) == 0 ? g_strdup (middle) : g_strconcat (middle, "\n", range, NULL);

  g_free (middle);
  g_free (range);

  return text;
}

static char *
time_cell (const QmReport   *report,
           const QmEstimate *estimate)
{
  const QmPlan *plan = report->resolved->plan;
  gboolean serves = plan->activity == QM_ACTIVITY_SERVE;
  QmRange seconds = serves ? estimate->serving.latency_p99_seconds : estimate->time.finish;
  double limit = serves ? plan->serving.latency_p99_seconds : plan->limits.hours * 3600;

  if (!qm_range_is_known (seconds))
    return g_strdup ("–");

  return two_lines (qm_format_seconds_against (report->words, seconds.p50, limit), qm_format_seconds_range (report->words, seconds));
}

static char *
cost_cell (const QmReport   *report,
           const QmEstimate *estimate)
{
  if (!qm_range_is_known (estimate->cost.money))
    return g_strdup ("–");

  return two_lines (qm_format_money (report->words, estimate->cost.money.p50, report->currency),
                    qm_format_money_range (report->words, estimate->cost.money, report->currency));
}

/* The figure alone: the section on quality says what it is against. */
static char *
quality_cell (const QmReport   *report,
              const QmAccuracy *accuracy)
{
  if (!qm_range_is_known (accuracy->value))
    return g_strdup ("–");
  if (accuracy->is_relative)
    return qm_format_points (report->words, accuracy->value.p50);
  if (g_strcmp0 (accuracy->metric, "loss") == 0)
    return qm_format_number (report->words, accuracy->value.p50);

  return qm_phrase_quality (report->words, accuracy);
}

static void
add_choice (QmReport       *report,
            int             table,
            const double   *shares,
            guint           index,
            const QmChoice *row)
{
  const QmEstimate *estimate = &row->estimate;
  g_autofree char *where = qm_report_where (report, row);
  g_autofree char *times = time_cell (report, estimate);
  g_autofree char *costs = cost_cell (report, estimate);
  g_autofree char *quality = quality_cell (report, &estimate->accuracy);
  g_autofree char *full = qm_format_percent (report->words, estimate->memory.need.p50 / estimate->memory.usable_bytes);
  g_autofree char *standing = qm_report_standing (report, index);
  g_autofree char *device = qm_device_short_name (estimate->device);
  g_autofree char *format = qm_phrase_format (report->words, report->resolved->plan, estimate);
  g_autofree char *hardware = g_strdup_printf ("%u. %d × %s%s%s", index + 1, MAX (1, estimate->configuration.devices), device,
                                               format != NULL ? "\n" : "", format != NULL ? format : "");
  const char *cells[] = { hardware, where, times, costs, quality, full, standing };
  QmBlock *block = qm_document_row (report->document, table, shares, 7, cells);

  block->chosen = report->best != NULL && index == 0;
  block->faint = !block->chosen && (!row->within_limits || row->dominated_by >= 0);
}

static void
matrix (QmReport *report)
{
  const double shares[] = { 0.19, 0.15, 0.12, 0.14, 0.12, 0.07, 0.21 };
  const char *heads[] = {
    tr (report, N_("Hardware")), tr (report, N_("Where")), tr (report, N_("Time")), tr (report, N_("Cost")),
    tr (report, N_("Quality")), tr (report, N_("Full")), tr (report, N_("Verdict")),
  };
  guint n = qm_recommendation_n_rows (report->recommendation);
  int table;

  if (n == 0)
    return;

  qm_document_heading (report->document, QM_VOICE_HEAD, tr (report, N_("All choices side by side")), "choices");
  table = qm_document_table (report->document, shares, 7, heads);
  for (guint i = 0; i < n; i++)
    add_choice (report, table, shares, i, qm_recommendation_row (report->recommendation, i));
  qm_document_text (report->document, QM_VOICE_NOTE,
                    tr (report, N_("Grey rows break a limit or are beaten in every respect. “Full” is the share of one device’s "
                                   "memory that is needed.")));
}

/* ------------------------------------------------------------------ messages */

static void
message_list (QmReport   *report,
              GPtrArray  *messages,
              const char *heading,
              const char *destination)
{
  if (messages == NULL || messages->len == 0)
    return;

  qm_document_heading (report->document, QM_VOICE_HEAD, heading, destination);
  for (guint i = 0; i < messages->len; i++)
    {
      QmMessage *message = g_ptr_array_index (messages, i);
      g_autofree char *text = qm_message_get_text (message, report->words);
      g_autofree char *detail = qm_message_get_detail (message, report->words);
      g_autofree char *markup = g_markup_printf_escaped ("<b>%s</b>%s%s", text, detail != NULL ? " — " : "",
                                                         detail != NULL ? detail : "");

      qm_document_markup (report->document, QM_VOICE_TEXT, 12, 0, markup);
    }
}

/* How far a rejected device is from being allowed, 1 not at all. */
static double
nearness (const QmRejection *rejection)
{
  return rejection->margin >= 1 ? rejection->margin : INFINITY;
}

static int
nearest_first (gconstpointer a,
               gconstpointer b)
{
  double first = nearness (*(const QmRejection **) a), second = nearness (*(const QmRejection **) b);

  return first < second ? -1 : first > second;
}

/* The nearest misses. */
void
qm_report_rejections (QmReport *report,
                      guint     most)
{
  const double shares[] = { 0.32, 0.68 };
  const char *heads[] = { tr (report, N_("Hardware")), tr (report, N_("Why not")) };
  GPtrArray *all = qm_recommendation_get_rejections (report->recommendation);
  g_autoptr (GPtrArray) list = g_ptr_array_new ();
  int table;

  for (guint i = 0; all != NULL && i < all->len; i++)
    if (((QmRejection *) g_ptr_array_index (all, i))->message != NULL)
      g_ptr_array_add (list, g_ptr_array_index (all, i));
  if (list->len == 0)
    return;

  g_ptr_array_sort (list, nearest_first);
  table = qm_document_table (report->document, shares, 2, heads);
  for (guint i = 0; i < MIN (list->len, most); i++)
    {
      const QmRejection *rejection = g_ptr_array_index (list, i);
      g_autofree char *name = g_strdup_printf ("%d × %s", MAX (1, rejection->devices), rejection->device->name);
      g_autofree char *why = qm_phrase_rejection (report->words, rejection);
      const char *cells[] = { name, why };

      qm_document_row (report->document, table, shares, 2, cells);
    }
}

static void
rejections (QmReport *report)
{
  GPtrArray *all = qm_recommendation_get_rejections (report->recommendation);

  if (report->best == NULL || all == NULL || all->len == 0)
    return;

  qm_document_heading (report->document, QM_VOICE_HEAD, tr (report, N_("What was ruled out")), "rejections");
  qm_report_rejections (report, MAX_REJECTIONS);
}

/* ------------------------------------------------------------------- sources */

typedef struct {
  char *what;
  char *source;
  char *date;
} Source;

static void
source_free (Source *self)
{
  g_free (self->what);
  g_free (self->source);
  g_free (self->date);
  g_free (self);
}

static void
add_source (GPtrArray  *list,
            const char *what,
            const char *source,
            char       *date)
{
  Source *entry;

  for (guint i = 0; i < list->len; i++)
    if (strcmp (((Source *) g_ptr_array_index (list, i))->what, what) == 0)
      source = NULL;
  if (source == NULL || source[0] == '\0')
    {
      g_free (date);
      return;
    }

  entry = g_new (Source, 1);
  *entry = (Source) { g_strdup (what), g_strdup (source), date != NULL ? date : g_strdup ("") };
  g_ptr_array_add (list, entry);
}

static GPtrArray *
collect_sources (QmReport *report)
{
  GPtrArray *list = g_ptr_array_new_with_free_func ((GDestroyNotify) source_free);
  const QmModel *model = report->resolved->model;

  if (report->best != NULL)
    add_source (list, tr (report, N_("Quality")), report->best->estimate.accuracy.source, NULL);
  if (model->name[0] != '\0')
    add_source (list, model->name, model->source, NULL);
  for (guint i = 0; i < qm_recommendation_n_rows (report->recommendation); i++)
    {
      const QmChoice *row = qm_recommendation_row (report->recommendation, i);

      if (row->offer != NULL)
        {
          g_autofree char *name = g_strdup_printf ("%s %s", row->offer->provider_name, row->offer->instance);

          add_source (list, name, row->offer->source,
                      row->estimate.cost.as_of != NULL ? qm_format_date (report->words, row->estimate.cost.as_of) : NULL);
        }
      if (row->estimate.device != NULL)
        add_source (list, row->estimate.device->name, row->estimate.device->source, NULL);
    }

  return list;
}

static void
sources (QmReport *report)
{
  const double shares[] = { 0.28, 0.54, 0.18 };
  const char *heads[] = { tr (report, N_("Figure")), tr (report, N_("Source")), tr (report, N_("As of")) };
  g_autoptr (GPtrArray) list = collect_sources (report);
  int table;

  if (list->len == 0)
    return;

  qm_document_heading (report->document, QM_VOICE_HEAD, tr (report, N_("Sources")), "sources");
  table = qm_document_table (report->document, shares, 3, heads);
  for (guint i = 0; i < list->len; i++)
    {
      const Source *entry = g_ptr_array_index (list, i);
      const char *cells[] = { entry->what, entry->source, entry->date };

      qm_document_row (report->document, table, shares, 3, cells)->faint = TRUE;
    }
}

/**
 * qm_report_tables:
 * @report: a report
 *
 * Adds the decision matrix, what to watch, what was ruled out, and
 * the sources.
 */
void
qm_report_tables (QmReport *report)
{
  matrix (report);
  message_list (report, qm_recommendation_get_warnings (report->recommendation), tr (report, N_("What to watch")), "watch");
  rejections (report);
  sources (report);
}
