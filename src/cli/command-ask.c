/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw/qm-language.h"
#include "draw/qm-phrases.h"
#include "model/qm-model-resolve.h"
#include "plan/qm-flow.h"
#include "qm-cli.h"
#include "qm-error.h"

static char *
read_line (void)
{
  g_autoptr (GString) line = g_string_new (NULL);
  int c;

  while ((c = getchar ()) != EOF && c != '\n')
    g_string_append_c (line, c);
  if (c == EOF && line->len == 0)
    return NULL;

  return g_strstrip (g_string_free (g_steal_pointer (&line), FALSE));
}

static int
print_options (const QmQuestion *question)
{
  int n = 0;

  for (; question->options != NULL && question->options[n].value != NULL; n++)
    {
      const QmOption *option = &question->options[n];

      if (option->gloss != NULL)
        g_printerr ("  %d) %s: %s\n", n + 1, _(option->name), _(option->gloss));
      else
        g_printerr ("  %d) %s\n", n + 1, _(option->name));
    }

  return n;
}

/* The default that the next answers imply, as the window shows it. */
static char *
default_of (QmCli            *cli,
            const QmPlan     *plan,
            const QmQuestion *question)
{
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_plan_warning_free);
  g_autoptr (QmResolved) resolved = qm_resolve (plan, cli->catalog, NULL, warnings, NULL);

  return resolved != NULL ? qm_plan_get_field (resolved->plan, question->field) : NULL;
}

static void
print_question (const QmQuestion *question,
                const char       *default_value)
{
  g_printerr ("\n%s\n", _(question->title));
  if (question->gloss != NULL)
    g_printerr ("  (%s)\n", _(question->gloss));
  print_options (question);
  g_printerr (_("Your answer [%s]: "), default_value != NULL ? default_value : _("no answer"));
}

/* A number picks an option, anything else is the value itself. */
static const char *
chosen_value (const QmQuestion *question,
              const char       *answer)
{
  int n = 0, picked = atoi (answer);

  while (question->options != NULL && question->options[n].value != NULL)
    n++;
  if (question->kind == QM_ANSWER_CHOICE && picked >= 1 && picked <= n && strspn (answer, "0123456789") == strlen (answer))
    return question->options[picked - 1].value;

  return answer;
}

/* A name may be that of a file too. What is no model is asked again at once,
 * not found out at the end. */
static gboolean
take_model (QmCli       *cli,
            QmPlan      *plan,
            const char  *answer,
            GError     **error)
{
  g_autofree char *path = g_canonicalize_filename (answer, NULL);
  gboolean is_file = qm_catalog_find_model (cli->catalog, answer, 0) == NULL && g_file_test (path, G_FILE_TEST_EXISTS);
  const char *field = is_file ? "model.file" : "model.id";
  g_autoptr (QmModel) model = NULL;

  if (!qm_plan_set_field (plan, field, is_file ? path : answer, error))
    return FALSE;
  model = qm_model_resolve (plan, cli->catalog, NULL, NULL, error);
  if (model == NULL)
    qm_plan_set_field (plan, field, NULL, NULL);
  return model != NULL;
}

static gboolean
take_answer (QmCli             *cli,
             QmPlan            *plan,
             const QmQuestion  *question,
             const char        *answer,
             GError           **error)
{
  if (g_str_equal (question->field, "model.id"))
    return take_model (cli, plan, answer, error);
  if (!qm_plan_set_field (plan, question->field, chosen_value (question, answer), error))
    return FALSE;
  qm_answers_complete (plan, question->field);
  return TRUE;
}

static gboolean
ask (QmCli            *cli,
     QmPlan           *plan,
     const QmQuestion *question)
{
  g_autofree char *default_value = default_of (cli, plan, question);

  for (;;)
    {
      g_autofree char *answer = NULL;
      g_autofree char *problem = NULL;
      g_autoptr (GError) error = NULL;

      print_question (question, default_value);
      answer = read_line ();
      if (answer == NULL)
        return FALSE;
      if (answer[0] == '\0')
        {
          /* What the flow branches on must be in the plan. */
          if (question->field[0] != '\0' && strchr (question->field, '.') == NULL && default_value != NULL)
            qm_plan_set_field (plan, question->field, default_value, NULL);
          return TRUE;
        }
      if (take_answer (cli, plan, question, answer, &error))
        return TRUE;
      problem = qm_error_get_text (error, qm_language_get_words ());
      g_printerr ("%s\n", problem);
    }
}

static void
ask_all (QmCli  *cli,
         QmPlan *plan)
{
  for (guint i = 0; i < qm_flow_n_questions (); i++)
    {
      const QmQuestion *question = qm_flow_question (i);

      if (!qm_flow_applies (question, plan))
        continue;
      if (!ask (cli, plan, question))
        return;
    }
}

static void
answer_the_first (QmPlan *plan)
{
  if (plan->task == QM_TASK_UNSET)
    plan->task = QM_TASK_LANGUAGE_MODEL;
  if (plan->activity == QM_ACTIVITY_UNSET)
    plan->activity = QM_ACTIVITY_FINE_TUNE;
}

/**
 * qm_command_ask:
 * @cli: the program
 * @arguments: `ask [-o PLAN]`
 * @error: return location for an error
 *
 * Asks the questions of the window on the error output, reads answers from the
 * input, and prints the answer. An empty line takes the default; the end of the
 * input takes all that are left.
 *
 * Returns: whether it worked
 */
gboolean
qm_command_ask (QmCli   *cli,
                GStrv    arguments,
                GError **error)
{
  g_autofree char *output = NULL;
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &output, N_("Write the plan to FILE"), "FILE" },
    G_OPTION_ENTRY_NULL
  };
  g_auto (GStrv) left = g_strdupv (arguments);
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_plan_warning_free);
  g_autoptr (QmPlan) plan = qm_plan_new ();
  g_autoptr (QmResolved) resolved = NULL;
  g_autoptr (QmRecommendation) recommendation = NULL;

  if (!qm_cli_parse (cli, &left, entries, 0, 0, error) || qm_cli_get_catalog (cli, error) == NULL)
    return FALSE;

  ask_all (cli, plan);
  answer_the_first (plan);
  if (output != NULL && !qm_plan_save (plan, output, error))
    return FALSE;

  resolved = qm_resolve (plan, cli->catalog, NULL, warnings, error);
  if (resolved == NULL)
    return FALSE;
  recommendation = qm_cli_recommend (cli, resolved, error);
  if (recommendation == NULL)
    return FALSE;

  if (cli->json)
    {
      g_autoptr (JsonNode) node = qm_recommendation_to_json (recommendation, cli->estimator);

      qm_cli_print_json (node, TRUE);
      return TRUE;
    }
  g_printerr ("\n\n");
  for (guint i = 0; i < qm_recommendation_n_choices (recommendation); i++)
    {
      if (i > 0)
        g_print ("\n");
      qm_cli_print_choice (cli, qm_recommendation_get_resolved (recommendation), qm_recommendation_choice (recommendation, i), i == 0);
    }
  if (qm_recommendation_n_choices (recommendation) == 0)
    g_print ("%s\n", qm_phrase_nothing (qm_language_get_words (), qm_recommendation_get_resolved (recommendation)->given));
  qm_cli_print_assumed (qm_recommendation_get_resolved (recommendation));

  return TRUE;
}
