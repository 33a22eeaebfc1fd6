/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>

#include "decide/qm-capacity.h"
#include "decide/qm-ladder.h"
#include "draw/qm-phrases.h"
#include "qm-report-private.h"

static const char *
tr (const QmReport *report,
    const char     *msgid)
{
  return report->words->translate (msgid);
}

static void
add_rung (QmReport     *report,
          int           table,
          const double *shares,
          const QmRung *rung)
{
  const QmWords *words = report->words;
  g_autofree char *title = qm_message_get_text (rung->message, words);
  g_autofree char *detail = qm_message_get_detail (rung->message, words);
  g_autofree char *bytes = qm_format_bytes (words, rung->frees_bytes);
  g_autofree char *time = isfinite (rung->time_factor) ? qm_format_factor (words, rung->time_factor) : g_strdup ("–");
  const char *cells[] = { title, detail, bytes, time };

  qm_document_row (report->document, table, shares, 4, cells);
}

static void
capacity (QmReport       *report,
          const QmChoice *choice)
{
  g_autoptr (QmMessage) message = NULL;
  g_autofree char *text = NULL, *detail = NULL, *markup = NULL;
  QmCapacity bounds;

  qm_capacity_solve (report->estimator, report->resolved, &choice->estimate, &bounds);
  message = qm_capacity_explain (&bounds);
  if (message == NULL)
    return;

  text = qm_message_get_text (message, report->words);
  detail = qm_message_get_detail (message, report->words);
  markup = qm_report_run_in (report, text, detail);
  qm_document_markup (report->document, QM_VOICE_TEXT, 0, 0, markup);
}

/* Whether there is a way to make a job fit that fits nowhere. */
static void
way_out (QmReport       *report,
         const QmLadder *ladder)
{
  g_autofree char *detail = NULL;
  g_autofree char *text = qm_phrase_way_out (report->words, ladder, &detail);
  g_autofree char *markup = qm_report_run_in (report, text, detail);

  qm_document_markup (report->document, QM_VOICE_TEXT, 0, 0, markup);
}

static QmLadder *
ladder_of (QmReport *report)
{
  g_autoptr (QmResolved) resolved = NULL;

  if (report->best == NULL)
    return qm_ladder_of_nearest (report->recommendation);
  if (report->best->estimate.device == NULL || report->resolved->plan->task == QM_TASK_TABULAR)
    return NULL;

  resolved = qm_ladder_resolve (report->resolved, &report->best->estimate);
  return qm_ladder_with (report->estimator, resolved, report->best->estimate.device, 0);
}

/* How far the memory of the choice goes, and what to do should it run out; where
 * nothing fits, of what comes nearest. */
void
qm_report_ladder (QmReport *report)
{
  const double shares[] = { 0.30, 0.46, 0.13, 0.11 };
  gboolean nowhere = report->best == NULL;
  const char *heads[] = { tr (report, nowhere ? N_("What saves memory") : N_("If memory runs out")), "", tr (report, N_("Frees")),
                          tr (report, N_("Time")) };
  g_autoptr (QmLadder) ladder = ladder_of (report);
  int table = -1;

  if (ladder == NULL)
    return;

  capacity (report, nowhere ? qm_recommendation_get_nearest (report->recommendation) : report->best);
  if (nowhere)
    way_out (report, ladder);
  for (guint i = 0; i < ladder->rungs->len; i++)
    {
      const QmRung *rung = &g_array_index (ladder->rungs, QmRung, i);

      if (rung->state != QM_RUNG_SPARE && rung->state != QM_RUNG_TAKEN)
        continue;
      if (table < 0)
        table = qm_document_table (report->document, shares, 4, heads);
      add_rung (report, table, shares, rung);
    }
}
