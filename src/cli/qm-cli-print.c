/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "decide/qm-capacity.h"
#include "draw/qm-language.h"
#include "draw/qm-phrases.h"
#include "qm-cli.h"
#include "qm-error.h"

/**
 * qm_cli_cells:
 * @text: a text
 *
 * Returns: how many cells of a terminal it takes: Chinese letters take two each
 */
int
qm_cli_cells (const char *text)
{
  int cells = 0;

  for (; *text != '\0'; text = g_utf8_next_char (text))
    {
      gunichar c = g_utf8_get_char (text);

      cells += g_unichar_iszerowidth (c) ? 0 : g_unichar_iswide (c) ? 2 : 1;
    }

  return cells;
}

/**
 * qm_cli_column_bytes:
 * @cells: how wide the column is
 * @text: what is in it
 *
 * printf() counts bytes where a terminal has cells.
 *
 * Returns: how many bytes @text has with the blanks that fill the column
 */
int
qm_cli_column_bytes (int         cells,
                     const char *text)
{
  return (int) strlen (text) + MAX (0, cells - qm_cli_cells (text));
}

static void
print_memory (const QmMemory *memory,
              const QmWords  *words)
{
  g_autofree char *need = qm_format_bytes (words, memory->need.p50);
  g_autofree char *range = qm_format_bytes_range (words, memory->need);
  g_autofree char *usable = qm_format_bytes (words, memory->usable_bytes > 0 ? memory->usable_bytes : NAN);

  if (qm_range_is_known (memory->need))
    g_print ("  %-*s %s  (%s) / %s: %s\n", QM_COLUMN (10, _("Memory")), need, range, usable, qm_phrase_verdict (words, memory->verdict));
}

static const char *
latency_basis (QmLatencyBasis basis)
{
  switch (basis)
    {
    case QM_LATENCY_SIMULATED:
      return _("simulated at your peak");
    case QM_LATENCY_QUEUE:
      return _("by the law of queues");
    case QM_LATENCY_SPREAD:
    case QM_LATENCY_UNSET:
    default:
      return _("by the spread of lengths");
    }
}

static void
print_serving (const QmEstimate *estimate,
               const QmWords    *words)
{
  const QmServingFigures *serving = &estimate->serving;
  g_autofree char *first = qm_format_seconds (words, serving->first_token_seconds.p50);
  g_autofree char *p99 = qm_format_seconds (words, serving->latency_p99_seconds.p50);
  g_autofree char *p50 = qm_format_seconds (words, serving->latency_p50_seconds.p50);
  g_autofree char *range = qm_format_seconds_range (words, serving->latency_p99_seconds);
  g_autofree char *cold = qm_format_seconds (words, serving->cold_start.seconds.p50);
  g_autofree char *cold_range = qm_format_seconds_range (words, serving->cold_start.seconds);

  if (!serving->known)
    return;
  if (qm_range_is_known (serving->first_token_seconds))
    g_print ("  %-*s %s\n", QM_COLUMN (10, _("First word")), first);
  if (qm_range_is_known (serving->latency_p99_seconds))
    {
      g_print ("  %-*s %s\n", QM_COLUMN (10, _("Half within")), p50);
      g_print ("  %-*s %s  (%s; %s)\n", QM_COLUMN (10, _("Slowest 1%")), p99, range, latency_basis (serving->latency_basis));
    }
  if (serving->replicas > 0)
    g_print ("  %-*s %d\n", QM_COLUMN (10, _("Replicas")), serving->replicas);
  if (qm_range_is_known (serving->cold_start.seconds))
    g_print ("  %-*s %s  (%s)\n", QM_COLUMN (10, _("Cold start")), cold, cold_range);
}

static void
print_quality (const QmAccuracy *accuracy,
               const QmWords    *words)
{
  g_autofree char *value = qm_phrase_quality (words, accuracy);
  g_autofree char *range = qm_phrase_quality_range (words, accuracy);

  g_print ("  %-*s %s  (%s)\n", QM_COLUMN (10, _("Quality")), value, range);
}

/* Of a rented machine, what passes before it works. */
static char *
phrase_start (const QmTime *time)
{
  const QmWords *words = qm_language_get_words ();
  g_autofree char *seconds = qm_format_seconds (words, time->start_up_seconds);

  if (!(time->start_up_seconds > 0))
    return g_strdup ("");

  return g_strdup_printf (_("; %s of it to start the machine"), seconds);
}

/**
 * qm_cli_print_choice:
 * @cli: the program
 * @resolved: the plan
 * @choice: a choice
 * @long_form: with the reasons
 *
 * Prints a choice for people.
 */
void
qm_cli_print_choice (QmCli            *cli,
                     const QmResolved *resolved,
                     const QmChoice   *choice,
                     gboolean          long_form)
{
  const QmWords *words = qm_language_get_words ();
  const QmEstimate *estimate = &choice->estimate;
  const char *currency = qm_plan_get_currency (resolved->plan);
  g_autofree char *setup = qm_phrase_setup (words, resolved->plan, estimate);
  g_autofree char *time = qm_phrase_finish (words, resolved->plan, estimate);
  g_autofree char *time_range = qm_format_seconds_range (words, estimate->time.finish);
  g_autofree char *start = phrase_start (&estimate->time);
  g_autofree char *money = qm_format_money (words, estimate->cost.money.p50, currency);
  g_autofree char *money_range = qm_format_money_range (words, estimate->cost.money, currency);

  g_print ("%s  [%s%s]\n", choice->label, qm_phrase_place (words, choice->place),
           estimate->cost.pricing == QM_PRICING_SPOT ? _(", at spot prices") : "");
  if (setup != NULL)
    g_print ("  %-*s %s\n", QM_COLUMN (10, _("Setup")), setup);
  print_memory (&estimate->memory, words);
  if (qm_range_is_known (estimate->time.finish))
    g_print ("  %-*s %s  (%s%s)\n", QM_COLUMN (10, _("Time")), time, time_range, start);
  if (estimate->cost.known && strcmp (money, money_range) == 0)
    g_print ("  %-*s %s%s\n", QM_COLUMN (10, _("Cost")), money, resolved->plan->activity == QM_ACTIVITY_SERVE ? _(" a month") : "");
  else if (estimate->cost.known)
    g_print ("  %-*s %s  (%s)%s\n", QM_COLUMN (10, _("Cost")), money, money_range,
             resolved->plan->activity == QM_ACTIVITY_SERVE ? _(" a month") : "");
  print_serving (estimate, words);
  print_quality (&estimate->accuracy, words);

  for (guint i = 0; long_form && choice->reasons != NULL && i < choice->reasons->len; i++)
    qm_cli_print_message (g_ptr_array_index (choice->reasons, i));
}

/**
 * qm_cli_print_nearest:
 * @recommendation: an answer
 *
 * Prints, where the job fits nowhere, what comes nearest and whether there is a
 * way to make it fit.
 */
void
qm_cli_print_nearest (QmRecommendation *recommendation)
{
  const QmWords *words = qm_language_get_words ();
  const QmChoice *nearest = qm_recommendation_get_nearest (recommendation);
  g_autoptr (QmLadder) ladder = qm_ladder_of_nearest (recommendation);
  g_autoptr (QmMessage) bounds = NULL;
  g_autofree char *text = NULL, *detail = NULL;
  QmCapacity capacity;

  if (ladder == NULL)
    return;

  g_print ("\n%s\n", _("What comes nearest"));
  g_print ("%s\n", nearest->label);
  print_memory (&nearest->estimate.memory, words);
  text = qm_phrase_way_out (words, ladder, &detail);
  g_print ("  • %s\n    %s\n", text, detail);
  qm_capacity_solve (qm_recommendation_get_estimator (recommendation), qm_recommendation_get_resolved (recommendation),
                     &nearest->estimate, &capacity);
  bounds = qm_capacity_explain (&capacity);
  if (bounds != NULL)
    qm_cli_print_message (bounds);
}

/**
 * qm_cli_print_assumed:
 * @resolved: the plan
 *
 * Prints what was taken for answers that are missing, and why.
 */
void
qm_cli_print_assumed (const QmResolved *resolved)
{
  const QmWords *words = qm_language_get_words ();

  if (resolved->assumed->len == 0)
    return;

  g_print ("\n%s\n", _("What we assumed"));
  for (guint i = 0; i < resolved->assumed->len; i++)
    {
      const QmAssumption *assumption = g_ptr_array_index (resolved->assumed, i);
      const char *name = qm_phrase_field_name (words, resolved->plan, assumption->field);
      g_autofree char *value = qm_phrase_field_value (words, resolved->plan, assumption->field, assumption->value);
      g_autofree char *why = qm_message_get_text (assumption->why, words);

      g_print ("  • %s %s (%s)\n", name, value, why);
    }
}

/**
 * qm_cli_on_one_line:
 * @text: what a person or file named
 *
 * Names may hold anything, and a terminal obeys much of it.
 *
 * Returns: (transfer full): the same without control characters
 */
char *
qm_cli_on_one_line (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  GString *line = g_string_new (NULL);

  for (const char *c = valid; *c != '\0'; c = g_utf8_next_char (c))
    if (g_unichar_iscntrl (g_utf8_get_char (c)))
      g_string_append_c (line, ' ');
    else
      g_string_append_unichar (line, g_utf8_get_char (c));

  return g_string_free (line, FALSE);
}

/**
 * qm_cli_print_problem:
 * @error: what went wrong
 *
 * Says it in one line on the standard error.
 */
void
qm_cli_print_problem (const GError *error)
{
  g_autofree char *text = qm_error_get_text (error, qm_language_get_words ());
  g_autofree char *line = qm_cli_on_one_line (text);

  g_printerr ("quartermaster-cli: %s\n", line);
}
