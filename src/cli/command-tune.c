/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "draw/qm-language.h"
#include "history/qm-ledger.h"
#include "probe/qm-own-ledger.h"
#include "qm-cli.h"
#include "qm-error.h"
#include "qm-tune-state.h"

/* A search by hand would try them all; this takes a fifth of that. */
#define SHARE_OF_GRID 5

/* A command that fails this often at once is not to be tuned but to be mended. */
#define MOST_FAILURES 3

typedef struct _Tuning Tuning;

typedef gboolean (*MeasureFunc) (Tuning                *self,
                                 const QmTunerSettings *settings,
                                 QmTuneTrial           *trial,
                                 GError               **error);

struct _Tuning {
  QmCli *cli;
  QmTunerSpace space;
  QmTuner *tuner;
  MeasureFunc measure;
  QmTuneState state;                /* of a command */
  char **command;                   /* with places */
  double limit_seconds;
  char *ledger_path;                /* NULL: the person's */
  char *last_line;
  const QmResolved *resolved;       /* of a plan */
  const QmEstimate *estimate;
  gboolean grid;
  guint most_trials;
};

/* ------------------------------------------------------------------ on a command */

static char **
fill_places (const Tuning          *self,
             const QmTunerSettings *settings)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();

  for (int i = 0; self->command[i] != NULL; i++)
    {
      g_autoptr (GString) argument = g_string_new (self->command[i]);

      for (int knob = 0; knob < (int) G_N_ELEMENTS (qm_tune_knob_names); knob++)
        {
          g_autofree char *place = g_strdup_printf ("{%s}", qm_tune_knob_names[knob]);
          g_autofree char *value = g_strdup_printf ("%.0f", self->space.values[knob][settings->at[knob]]);

          g_string_replace (argument, place, value, 0);
        }
      g_strv_builder_add (builder, argument->str);
    }

  return g_strv_builder_end (builder);
}

static gboolean
has_place (char       **command,
           const char  *name)
{
  g_autofree char *place = g_strdup_printf ("{%s}", name);

  for (int i = 0; command[i] != NULL; i++)
    if (strstr (command[i], place) != NULL)
      return TRUE;

  return FALSE;
}

/* A rate of samples is one of the ledger's figures; the time of a run has its own
 * place there. */
static gboolean
note_in_ledger (const Tuning      *self,
                char             **command,
                const QmTrialRun  *outcome,
                GError           **error)
{
  static const QmRunStatus statuses[] = { QM_RUN_STATUS_FINISHED, QM_RUN_STATUS_OUT_OF_MEMORY, QM_RUN_STATUS_FAILED,
                                          QM_RUN_STATUS_TIMED_OUT, QM_RUN_STATUS_STOPPED };
  g_autofree char *uid = g_uuid_string_random ();
  g_autoptr (QmRun) run = qm_run_new (uid);
  g_autoptr (QmLedger) ledger = qm_own_ledger_open (self->ledger_path, error);

  if (ledger == NULL)
    return FALSE;

  g_free (run->label);
  run->label = g_strdup (self->command[0]);
  run->command = g_strjoinv (" ", command);
  run->started = g_get_real_time () - (gint64) (outcome->seconds * 1e6);
  run->seconds = outcome->seconds;
  run->status = statuses[outcome->outcome];
  run->source = QM_RUN_SOURCE_RECORDED;
  run->exit_status = outcome->status;
  qm_run_add_tag (run, "tune");
  if (outcome->printed_rate && outcome->outcome == QM_OUTCOME_DONE)
    qm_run_set_measured (run, "throughput.per_second", outcome->per_second);

  return qm_ledger_add (ledger, run, NULL, error);
}

static gboolean
measure_command (Tuning                *self,
                 const QmTunerSettings *settings,
                 QmTuneTrial           *trial,
                 GError               **error)
{
  g_auto (GStrv) command = fill_places (self, settings);
  QmTrialRun run;

  if (!qm_trial_run ((const char * const *) command, self->limit_seconds, &run, error))
    return FALSE;

  *trial = (QmTuneTrial) { *settings, run.outcome, run.per_second, run.seconds, run.status };
  g_free (self->last_line);
  self->last_line = run.last_line;

  return run.outcome == QM_OUTCOME_STOPPED ||
         (qm_tune_state_add (&self->state, trial, error) && note_in_ledger (self, command, &run, error));
}

/* -------------------------------------------------------------------- on a model */

static gboolean
measure_model (Tuning                *self,
               const QmTunerSettings *settings,
               QmTuneTrial           *trial,
               GError               **error)
{
  g_autoptr (QmPlan) plan = qm_plan_copy (self->resolved->plan);
  g_autoptr (QmEvaluator) evaluator = NULL;
  QmEstimate estimate;

  plan->configuration = self->estimate->configuration;
  plan->training = self->estimate->training;
  plan->training.global_batch = 0;
  plan->configuration.micro_batch = self->space.values[QM_KNOB_BATCH][settings->at[QM_KNOB_BATCH]];
  plan->configuration.gradient_accumulation = self->space.values[QM_KNOB_ACCUMULATION][settings->at[QM_KNOB_ACCUMULATION]];
  plan->data.loader_workers = (int) self->space.values[QM_KNOB_WORKERS][settings->at[QM_KNOB_WORKERS]];
  evaluator = qm_evaluator_new (self->cli->estimator, plan, self->resolved->model);
  qm_evaluator_evaluate (evaluator, self->estimate->device, &plan->configuration, &estimate);

  *trial = (QmTuneTrial) { .settings = *settings, .outcome = QM_OUTCOME_FAILED, .per_second = estimate.throughput.samples_per_second };
  if (estimate.memory.need.p50 > estimate.memory.usable_bytes)
    trial->outcome = QM_OUTCOME_OUT_OF_MEMORY;
  else if (estimate.throughput.known && trial->per_second > 0)
    trial->outcome = QM_OUTCOME_DONE;

  return TRUE;
}

/* ---------------------------------------------------------------------- printing */

static const char *
outcome_words (QmOutcome outcome)
{
  switch (outcome)
    {
    case QM_OUTCOME_OUT_OF_MEMORY:
      return _("out of memory");
    case QM_OUTCOME_TOO_LONG:
      return _("took too long");
    case QM_OUTCOME_STOPPED:
      return _("stopped");
    case QM_OUTCOME_FAILED:
    case QM_OUTCOME_DONE:
    default:
      return _("failed");
    }
}

static char *
settings_words (const Tuning          *self,
                const QmTunerSettings *settings)
{
  return g_strdup_printf (_("batch %.0f, workers %.0f, accumulation %.0f"),
                          self->space.values[QM_KNOB_BATCH][settings->at[QM_KNOB_BATCH]],
                          self->space.values[QM_KNOB_WORKERS][settings->at[QM_KNOB_WORKERS]],
                          self->space.values[QM_KNOB_ACCUMULATION][settings->at[QM_KNOB_ACCUMULATION]]);
}

static double
reward_of_last (const Tuning *self)
{
  const GArray *trials = qm_tuner_get_trials (self->tuner);

  return qm_tuner_reward (self->tuner, &g_array_index (trials, QmTunerTrial, trials->len - 1));
}

static gboolean
is_best (const Tuning *self)
{
  const GArray *trials = qm_tuner_get_trials (self->tuner);

  return qm_tuner_best (self->tuner) == &g_array_index (trials, QmTunerTrial, trials->len - 1);
}

static void
print_trial_json (const Tuning      *self,
                  const QmTuneTrial *trial,
                  gboolean           resumed)
{
  g_autoptr (JsonNode) node = json_node_new (JSON_NODE_OBJECT);
  JsonObject *object = json_object_new ();

  json_object_set_int_member (object, "trial", qm_tuner_get_trials (self->tuner)->len);
  json_object_set_object_member (object, "settings", qm_tune_settings_json (&self->space, &trial->settings));
  json_object_set_object_member (object, "metrics", qm_tune_metrics_json (trial));
  json_object_set_double_member (object, "reward", reward_of_last (self));
  json_object_set_boolean_member (object, "best", is_best (self));
  json_object_set_boolean_member (object, "resumed", resumed);
  json_node_take_object (node, object);
  qm_cli_print_json (node, FALSE);
}

static void
print_trial (const Tuning      *self,
             const QmTuneTrial *trial,
             gboolean           resumed)
{
  g_autofree char *settings = settings_words (self, &trial->settings);
  g_autofree char *rate = qm_format_number (qm_language_get_words (), trial->per_second);

  if (self->cli->json)
    {
      print_trial_json (self, trial, resumed);
      return;
    }

  g_print (_("%u of at most %u: %s: "), qm_tuner_get_trials (self->tuner)->len, self->most_trials, settings);
  if (trial->outcome == QM_OUTCOME_DONE)
    /* Translators: a number of samples or runs */
    g_print (_("%s a second"), rate);
  else
    g_print ("%s", outcome_words (trial->outcome));
  g_print ("%s%s\n", is_best (self) ? _(", the best so far") : "", resumed ? _(" (from before)") : "");
}

static void
print_result_json (const Tuning *self,
                   gboolean      stopped)
{
  const QmTunerTrial *best = qm_tuner_best (self->tuner);
  g_autoptr (JsonNode) node = json_node_new (JSON_NODE_OBJECT);
  JsonObject *object = json_object_new (), *result;

  if (best != NULL)
    {
      result = json_object_new ();
      json_object_set_object_member (result, "settings", qm_tune_settings_json (&self->space, &best->settings));
      json_object_set_double_member (result, "per_second", best->metrics.per_second);
      json_object_set_object_member (object, "result", result);
    }
  else
    json_object_set_null_member (object, "result");
  json_object_set_int_member (object, "trials", qm_tuner_get_trials (self->tuner)->len);
  json_object_set_boolean_member (object, "stopped", stopped);
  json_node_take_object (node, object);
  qm_cli_print_json (node, FALSE);
}

static void
print_result (const Tuning *self,
              gboolean      stopped)
{
  const QmTunerTrial *best = qm_tuner_best (self->tuner);
  g_autofree char *settings = best != NULL ? settings_words (self, &best->settings) : NULL;

  if (self->cli->json)
    {
      print_result_json (self, stopped);
      return;
    }

  if (stopped)
    g_print (_("Stopped. The same command goes on from here.\n"));
  if (best != NULL)
    g_print (_("Best: %s\n"), settings);
  else
    g_print (_("None of the settings worked.\n"));
}

/* ------------------------------------------------------------------------- running */

static gboolean
fails_always (const Tuning *self)
{
  const GArray *trials = qm_tuner_get_trials (self->tuner);
  guint failures = 0;

  for (guint i = 0; i < trials->len; i++)
    {
      const QmTunerTrial *trial = &g_array_index (trials, QmTunerTrial, i);

      failures += trial->failed && !trial->out_of_memory;
    }

  return failures >= MOST_FAILURES && failures == trials->len;
}

static gboolean
next_settings (const Tuning    *self,
               QmTunerSettings *settings)
{
  guint done = qm_tuner_get_trials (self->tuner)->len;

  if (!self->grid)
    return qm_tuner_next (self->tuner, settings);

  *settings = qm_tuner_space_settings (&self->space, done);
  return done < MIN (self->most_trials, qm_tuner_space_size (&self->space));
}

static gboolean
search (Tuning  *self,
        GError **error)
{
  QmTunerSettings settings;
  gboolean stopped = FALSE;

  while (!stopped && next_settings (self, &settings))
    {
      QmTuneTrial trial;

      if (!self->measure (self, &settings, &trial, error))
        return FALSE;
      stopped = trial.outcome == QM_OUTCOME_STOPPED;
      if (stopped)
        break;
      qm_tune_trial_observe (&trial, self->tuner);
      print_trial (self, &trial, FALSE);
      if (fails_always (self) && self->command != NULL)
        {
          g_set_error (error, QM_USAGE_ERROR, 0, _("tune: the command fails whatever is set; its last line: %s"),
                       self->last_line != NULL ? self->last_line : "");
          return FALSE;
        }
    }
  print_result (self, stopped);

  return TRUE;
}

static void
begin (Tuning *self,
       int     most_trials)
{
  guint size = qm_tuner_space_size (&self->space);
  QmTunerTheory theory;

  self->most_trials = most_trials > 0 ? (guint) most_trials : self->grid ? size : (size + SHARE_OF_GRID - 1) / SHARE_OF_GRID;
  self->most_trials = MIN (self->most_trials, size);
  qm_tuner_theory_usual (&theory, &self->space);
  self->tuner = qm_tuner_new (&self->space, &theory, self->most_trials);
}

static gboolean
tune_command (Tuning      *self,
              const char  *path,
              int          most_trials,
              GError     **error)
{
  g_autofree char *usual = qm_tune_default_path ((const char * const *) self->command, &self->space);

  if (!qm_tune_state_open (&self->state, path != NULL ? path : usual, &self->space, (const char * const *) self->command, error))
    return FALSE;

  begin (self, most_trials);
  self->measure = measure_command;
  for (guint i = 0; i < self->state.trials->len; i++)
    {
      const QmTuneTrial *trial = &g_array_index (self->state.trials, QmTuneTrial, i);

      qm_tune_trial_observe (trial, self->tuner);
      print_trial (self, trial, TRUE);
    }

  return search (self, error);
}

static gboolean
tune_plan (Tuning      *self,
           const char  *path,
           int          most_trials,
           GError     **error)
{
  g_autoptr (QmResolved) resolved = qm_cli_load_plan (self->cli, path, error);
  g_autoptr (QmRecommendation) recommendation = resolved != NULL ? qm_cli_recommend (self->cli, resolved, error) : NULL;

  if (recommendation == NULL)
    return FALSE;
  if (!qm_plan_is_training (resolved->plan))
    {
      g_set_error (error, QM_USAGE_ERROR, 0, _("%s: only jobs that train have a batch to tune"), path);
      return FALSE;
    }
  if (qm_recommendation_n_choices (recommendation) == 0)
    {
      g_set_error (error, QM_USAGE_ERROR, 0, _("%s: nothing that is allowed can run this job"), path);
      return FALSE;
    }

  self->resolved = resolved;
  self->estimate = &qm_recommendation_choice (recommendation, 0)->estimate;
  self->measure = measure_model;
  if (!self->cli->json)
    g_print ("%s\n", qm_recommendation_choice (recommendation, 0)->label);
  begin (self, most_trials);

  return search (self, error);
}

/* ------------------------------------------------------------------------ arguments */

static gboolean
set_values (Tuning      *self,
            char       **lists,
            GError     **error)
{
  static const char * const usual[] = { "1,2,4,8,16,32,64,128", "0,2,4,8", "1,2,4" };

  self->space.cores = g_get_num_processors ();
  for (int knob = 0; knob < QM_N_KNOBS; knob++)
    self->space.n[knob] = 1;
  self->space.values[QM_KNOB_REPLICAS][0] = 1;
  for (int knob = 0; knob < (int) G_N_ELEMENTS (usual); knob++)
    {
      gboolean varies = self->command == NULL || has_place (self->command, qm_tune_knob_names[knob]);
      const char *list = lists[knob] != NULL ? lists[knob] : varies ? usual[knob] : knob == QM_KNOB_WORKERS ? "0" : "1";

      if (!varies && lists[knob] != NULL)
        {
          g_set_error (error, QM_USAGE_ERROR, 0, _("tune: the command has no {%s} to set"), qm_tune_knob_names[knob]);
          return FALSE;
        }
      if (!qm_tune_knob_values (&self->space, knob, list))
        {
          g_set_error (error, QM_USAGE_ERROR, 0, _("--%s: \"%s\" is not a list of at most %d rising whole numbers, such as 8,16,32"),
                       qm_tune_knob_names[knob], list, QM_MOST_VALUES);
          return FALSE;
        }
    }
  if (self->command == NULL || qm_tuner_space_size (&self->space) > 1)
    return TRUE;

  g_set_error_literal (error, QM_USAGE_ERROR, 0, _("tune: the command has none of {batch}, {workers} and {accumulation} to set"));
  return FALSE;
}

/* What follows "--" belongs to the command. */
static char **
split_command (char **arguments)
{
  for (int i = 0; arguments[i] != NULL; i++)
    if (strcmp (arguments[i], "--") == 0)
      {
        char **command = g_strdupv (arguments + i + 1);

        for (int j = i; arguments[j] != NULL; j++)
          g_clear_pointer (&arguments[j], g_free);
        return command;
      }

  return NULL;
}

static void
tuning_clear (Tuning *self)
{
  g_clear_pointer (&self->tuner, qm_tuner_free);
  qm_tune_state_clear (&self->state);
  g_free (self->last_line);
  g_free (self->ledger_path);
}

static gboolean
check (char   **left,
       char   **command,
       int      most_trials,
       double   limit,
       GError **error)
{
  if (command == NULL && left[1] == NULL)
    g_set_error_literal (error, QM_USAGE_ERROR, 0, _("tune: a plan, or -- and a command with {batch}, is missing"));
  else if (command != NULL && (left[1] != NULL || command[0] == NULL))
    g_set_error_literal (error, QM_USAGE_ERROR, 0, _("tune: give a plan, or a command after --, not both"));
  else if (most_trials < 0 || !(limit >= 0))
    g_set_error_literal (error, QM_USAGE_ERROR, 0, _("tune: --trials and --limit are not below 0"));
  else
    return command == NULL || qm_cli_may_run_commands (error);

  return FALSE;
}

/**
 * qm_command_tune:
 * @cli: the program
 * @arguments: `tune PLAN`, or `tune -- COMMAND with {batch} {workers} {accumulation}`
 * @error: return location for an error
 *
 * Finds the settings of a training job that are fastest, in a fifth of the trials
 * of a full search: on the model of the job, or by running the command.
 *
 * Returns: whether it worked
 */
gboolean
qm_command_tune (QmCli   *cli,
                 GStrv    arguments,
                 GError **error)
{
  g_autofree char *state = NULL;
  g_autofree char *batch = NULL;
  g_autofree char *workers = NULL;
  g_autofree char *accumulation = NULL;
  int most_trials = 0;
  Tuning self = { .cli = cli };
  const GOptionEntry entries[] = {
    { "trials", 0, 0, G_OPTION_ARG_INT, &most_trials, N_("Stop after N trials"), "N" },
    { "grid", 0, 0, G_OPTION_ARG_NONE, &self.grid, N_("Try all settings"), NULL },
    { "batch", 0, 0, G_OPTION_ARG_STRING, &batch, N_("Batches to try"), "LIST" },
    { "workers", 0, 0, G_OPTION_ARG_STRING, &workers, N_("Numbers of loaders to try"), "LIST" },
    { "accumulation", 0, 0, G_OPTION_ARG_STRING, &accumulation, N_("Accumulations to try"), "LIST" },
    { "state", 0, 0, G_OPTION_ARG_FILENAME, &state, N_("Where trials are kept, to go on from"), "FILE" },
    { "ledger", 0, 0, G_OPTION_ARG_FILENAME, &self.ledger_path, N_("Another file than the person's ledger"), "FILE" },
    { "limit", 0, 0, G_OPTION_ARG_DOUBLE, &self.limit_seconds, N_("End a trial after so long"), "SECONDS" },
    G_OPTION_ENTRY_NULL
  };
  g_auto (GStrv) left = g_strdupv (arguments);
  g_auto (GStrv) command = split_command (left);
  char *lists[3];
  gboolean worked;

  cli->json = cli->json && command == NULL;
  if (!qm_cli_parse (cli, &left, entries, 0, 1, error) || !check (left, command, most_trials, self.limit_seconds, error))
    return FALSE;

  lists[0] = batch;
  lists[1] = workers;
  lists[2] = accumulation;
  self.command = command;
  worked = set_values (&self, lists, error) &&
           (command != NULL ? tune_command (&self, state, most_trials, error) : tune_plan (&self, left[1], most_trials, error));
  tuning_clear (&self);

  return worked;
}
