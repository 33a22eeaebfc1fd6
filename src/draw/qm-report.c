/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-report.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "qm-file.h"
#include "draw/qm-phrases.h"
#include "qm-report-private.h"

#define MAX_REASONS  5
#define LINK_WIDTH   96

/* What comes nearest where nothing fits, on the first page. */
#define NEAREST_MISSES 18

static const char *
tr (const QmReport *report,
    const char     *msgid)
{
  return report->words->translate (msgid);
}

/* Which section has the figures behind a reason. */
static gboolean
section_for (const char  *code,
             const char **destination,
             const char **name)
{
  static const struct { const char *part; const char *destination; const char *name; } sections[] = {
    { "fits", "memory", N_("Memory") },
    { "time", "cost-time", N_("Cost and time") },
    { "money", "cost-time", N_("Cost and time") },
    { "spot", "cost-time", N_("Cost and time") },
    { "bound", "scaling", N_("Scaling") },
    { "one-", "scaling", N_("Scaling") },
  };

  for (guint i = 0; i < G_N_ELEMENTS (sections); i++)
    if (strstr (code, sections[i].part) != NULL)
      {
        *destination = sections[i].destination;
        *name = sections[i].name;
        return TRUE;
      }

  return FALSE;
}

static gboolean
has_section (const QmReport *report,
             const char     *destination)
{
  const struct { const char *destination; QmChartKind kind; } charts[] = {
    { "memory", QM_CHART_MEMORY }, { "cost-time", QM_CHART_COST_TIME }, { "scaling", QM_CHART_SCALING },
  };

  for (guint i = 0; i < G_N_ELEMENTS (charts); i++)
    if (strcmp (charts[i].destination, destination) == 0)
      {
        g_autoptr (QmChart) chart = qm_chart_new (charts[i].kind, report->estimator, report->recommendation, 0, report->words, NULL);

        return chart != NULL;
      }

  return FALSE;
}

static void
add_reason (QmReport  *report,
            QmMessage *message,
            int        number)
{
  g_autofree char *text = qm_message_get_text (message, report->words);
  g_autofree char *detail = qm_message_get_detail (message, report->words);
  g_autofree char *markup = qm_report_run_in (report, text, detail);
  const char *destination, *name;
  QmBlock *block = qm_document_markup (report->document, QM_VOICE_TEXT, 24, LINK_WIDTH, markup);

  block->number = number;
  block->height = MAX (block->height, 16);
  if (section_for (qm_message_get_code (message), &destination, &name) && has_section (report, destination))
    qm_document_link (report->document, block, tr (report, name), destination);
}

static void
reasons (QmReport *report)
{
  GPtrArray *list = report->best != NULL ? report->best->reasons : NULL;

  if (list == NULL || list->len == 0)
    return;

  qm_document_heading (report->document, QM_VOICE_SUBHEAD, tr (report, N_("Why this one")), NULL);
  for (guint i = 0; i < MIN (list->len, MAX_REASONS); i++)
    add_reason (report, g_ptr_array_index (list, i), i + 1);
}

static void
changes (QmReport *report)
{
  GPtrArray *list = qm_recommendation_get_sensitivities (report->recommendation);

  if (list == NULL || list->len == 0)
    return;

  qm_document_heading (report->document, QM_VOICE_SUBHEAD, tr (report, N_("What would change it")), NULL);
  for (guint i = 0; i < MIN (list->len, 4); i++)
    {
      const QmSensitivity *change = g_ptr_array_index (list, i);
      g_autofree char *text = qm_message_get_text (change->message, report->words);
      g_autofree char *detail = qm_message_get_detail (change->message, report->words);
      g_autofree char *plain = g_markup_escape_text (text, -1);
      g_autofree char *strong = detail != NULL ? g_markup_escape_text (detail, -1) : NULL;
      g_autofree char *markup = detail != NULL ? qm_fill (tr (report, N_("{text}: <b>{detail}</b>")), "text", plain, "detail", strong, NULL)
                                               : g_strdup (plain);

      qm_document_markup (report->document, QM_VOICE_TEXT, 0, 0, markup)->keep_next = i + 1 < MIN (list->len, 4);
    }
}

/* A chart with its finding, its description, and a number. */
static gboolean
figure (QmReport   *report,
        QmChartKind kind,
        const char *heading,
        const char *destination,
        double      height)
{
  g_autoptr (QmChart) chart = qm_chart_new (kind, report->estimator, report->recommendation, 0, report->words, NULL);
  g_autofree char *number = NULL;
  g_autofree char *explanation = NULL;
  g_autofree char *markup = NULL;
  g_autofree char *caption = NULL;

  if (chart == NULL)
    return FALSE;

  g_set_str (&chart->language, report->document->language);
  number = qm_format_count (report->words, ++report->n_figures);
  caption = qm_fill (tr (report, N_("Figure {n}. {what}.")), "n", number, "what", qm_chart_get_subtitle (chart), NULL);
  explanation = heading != NULL ? qm_report_explanation (report, kind) : NULL;
  markup = qm_report_run_in (report, qm_chart_get_title (chart), explanation);
  if (heading != NULL)
    qm_document_heading (report->document, QM_VOICE_HEAD, heading, destination);
  qm_document_markup (report->document, QM_VOICE_TEXT, 0, 0, markup)->keep_next = TRUE;
  qm_document_chart (report->document, g_steal_pointer (&chart), height)->keep_next = TRUE;
  qm_document_text (report->document, QM_VOICE_NOTE, caption);

  return TRUE;
}

static void
first_page (QmReport *report)
{
  g_autofree char *question = qm_report_question (report);
  g_autofree char *headline = qm_report_headline (report);
  g_autofree char *setup = report->best != NULL ? qm_phrase_setup (report->words, report->resolved->plan, &report->best->estimate) : NULL;
  g_autofree char *verdict = qm_report_verdict (report);
  double left;

  qm_document_text (report->document, QM_VOICE_QUESTION, question);
  qm_document_heading (report->document, QM_VOICE_TITLE, headline, "answer");
  qm_document_text (report->document, QM_VOICE_LEAD, verdict);
  if (setup != NULL)
    qm_document_text (report->document, QM_VOICE_TEXT, setup);
  if (report->best == NULL)
    {
      qm_document_heading (report->document, QM_VOICE_SUBHEAD, tr (report, N_("What was ruled out")), NULL);
      qm_report_rejections (report, NEAREST_MISSES);
      return;
    }

  qm_report_facts (report);
  reasons (report);
  changes (report);
  left = qm_document_left_over (report->document);
  if (left > 240)
    figure (report, QM_CHART_LATENCY, tr (report, N_("Waiting under load")), "latency", 0);
  figure (report, QM_CHART_COST_TIME, NULL, NULL, MIN (left - 70, 250));
}

static void
sections (QmReport *report)
{
  guint first = report->document->blocks->len;

  qm_report_answers (report);
  if (first < report->document->blocks->len)
    g_array_index (report->document->blocks, QmBlock, first).new_page = TRUE;

  figure (report, QM_CHART_MEMORY, tr (report, N_("Memory")), "memory", 0);
  qm_report_ladder (report);
  figure (report, QM_CHART_SIZING, tr (report, N_("Three ways to size it")), "sizing", 0);
  figure (report, QM_CHART_SCALING, tr (report, N_("Scaling")), "scaling", 0);
  figure (report, QM_CHART_SERVING, tr (report, N_("People and answers")), "serving", 0);
  figure (report, QM_CHART_ELASTIC, tr (report, N_("Replicas that follow the load")), "elastic", 0);
  figure (report, QM_CHART_COST_TIME, tr (report, N_("Cost and time")), "cost-time", 0);
  figure (report, QM_CHART_DECISION_HOURS, tr (report, N_("Which hardware at which deadline")), "decision-hours", 0);
  figure (report, QM_CHART_DECISION_MONEY, tr (report, N_("Which hardware at which budget")), "decision-money", 0);
  figure (report, QM_CHART_ACCURACY, tr (report, N_("Quality and cost")), "accuracy", 0);
  figure (report, QM_CHART_SPOT, tr (report, N_("Spot machines")), "spot", 0);
  figure (report, QM_CHART_BUY_OR_RENT, tr (report, N_("Buy or rent")), "buy-or-rent", 0);
  figure (report, QM_CHART_STAGES, tr (report, N_("From idea to product")), "stages", 0);
  qm_report_tables (report);
}

/**
 * qm_report_write:
 * @estimator: the estimator
 * @recommendation: what to report
 * @words: the reader's language
 * @language: the same as a tag, e.g. "zh_CN"
 * @date: ISO 8601; with the plan and the catalog it alone decides the bytes
 * @paper: its size
 * @stream: where to
 * @cancellable: (nullable): to stop
 * @error: return location for an error
 *
 * Writes the PDF report.
 *
 * Returns: whether it worked
 */
gboolean
qm_report_write (QmEstimator      *estimator,
                 QmRecommendation *recommendation,
                 const QmWords    *words,
                 const char       *language,
                 const char       *date,
                 QmPaper           paper,
                 GOutputStream    *stream,
                 GCancellable     *cancellable,
                 GError          **error)
{
  g_autoptr (QmDocument) document = qm_document_new (paper, words, language);
  const QmResolved *resolved = qm_recommendation_get_resolved (recommendation);
  QmReport report = {
    .document = document,
    .estimator = estimator,
    .recommendation = recommendation,
    .resolved = resolved,
    .words = words,
    .best = qm_recommendation_n_choices (recommendation) > 0 ? qm_recommendation_choice (recommendation, 0) : NULL,
    .currency = qm_plan_get_currency (resolved->plan),
  };
  g_autofree char *keywords = NULL;

  document->title = resolved->plan->title[0] != '\0' ? g_strdup (resolved->plan->title) : qm_report_headline (&report);
  document->date_text = qm_format_date (words, date);
  document->footer = qm_report_prices (&report);
  keywords = g_strdup_printf ("%s, %s", resolved->model->name,
                              report.best != NULL ? report.best->estimate.device->name : "GPU");
  first_page (&report);
  sections (&report);

  return qm_document_write (document, date, keywords, stream, cancellable, error);
}

/**
 * qm_report_write_file:
 * @estimator: the estimator
 * @recommendation: what to report
 * @words: the reader's language
 * @language: the same as a tag
 * @date: ISO 8601
 * @paper: its size
 * @path: the file
 * @cancellable: (nullable): to stop
 * @error: return location for an error
 *
 * Writes the PDF report to a file, whole or not at all.
 *
 * Returns: whether it worked
 */
gboolean
qm_report_write_file (QmEstimator      *estimator,
                      QmRecommendation *recommendation,
                      const QmWords    *words,
                      const char       *language,
                      const char       *date,
                      QmPaper           paper,
                      const char       *path,
                      GCancellable     *cancellable,
                      GError          **error)
{
  g_autoptr (GOutputStream) memory = g_memory_output_stream_new_resizable ();
  g_autoptr (GBytes) bytes = NULL;

  if (!qm_report_write (estimator, recommendation, words, language, date, paper, memory, cancellable, error) ||
      !g_output_stream_close (memory, cancellable, error))
    return FALSE;

  bytes = g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (memory));
  return qm_file_write (path, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), error);
}
