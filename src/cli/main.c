/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "draw/qm-language.h"
#include "qm-cli.h"
#include "qm-error.h"
#include "qm-file.h"

static const QmCommand commands[] = {
  { "estimate", N_("PLAN [--json]"), N_("memory, time and cost of one configuration"), qm_command_estimate },
  { "recommend", N_("PLAN [--json] [--top N]"), N_("the hardware to run the plan on, and why"), qm_command_recommend },
  { "ask", N_("[-o PLAN]"), N_("the questions of the window, in a terminal"), qm_command_ask },
  { "model", N_("FILE|FOLDER|ID [--json]"), N_("what a model is"), qm_command_model },
  { "detect", N_("[--json] [--capture DIR]"), N_("what this computer has"), qm_command_detect },
  { "watch", N_("[--seconds N] [--interval S] [--json]"), N_("what this computer does, second by second"), qm_command_watch },
  { "record", N_("[--label L] [--plan PLAN] [--timeout S] -- COMMAND…"), N_("run a command under observation"), qm_command_record },
  { "ledger", N_("list|show|compare|import|export|note|tag|remove|restore …"), N_("the runs of the past"), qm_command_ledger },
  { "diagnose", N_("FILE|ID|--oom PLAN [--json]"), N_("what holds a run up; how to make a plan fit into memory"), qm_command_diagnose },
  { "catalog", N_("list | show ID | import FILE… | update [URL…] [--json]"), N_("devices, offers and models, with their sources"), qm_command_catalog },
  { "report", N_("PLAN -o FILE.pdf [--paper a4|letter] [--language L]"), N_("the report as a PDF"), qm_command_report },
  { "chart", N_("PLAN --kind KIND -o FILE.png|svg|pdf"), N_("one chart"), qm_command_chart },
  { "export", N_("PLAN --format FORMAT -o DIR"), N_("files that start the job"), qm_command_export },
  { "elastic", N_("PLAN [--load FILE.csv] [--json]"), N_("replicas that follow the load, against fixed fleets"), qm_command_elastic },
  { "tune", N_("PLAN [--json] | -- COMMAND with {batch} {workers} {accumulation}"), N_("the fastest settings of a training job, in few trials"), qm_command_tune },
  { "quantization", N_("PLAN [--tolerance POINTS] [--weight W] [--layers FILE.csv] [--json]"), N_("the formats of a language model's weights: what they save, and what they lose"), qm_command_quantization },
  { "settings", N_("[get KEY | set KEY VALUE | reset KEY] [--json]"), N_("currency and rates, electricity, carbon, and what else holds for all plans"), qm_command_settings },
  { "score", N_("CASES.jsonl [--json]"), N_("compare with measured cases"), qm_command_score },
};

static void
print_help (void)
{
  g_print (_("Usage: quartermaster-cli COMMAND …\n\nWhat hardware should I run this AI job on?\n\n"));
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    g_print ("  %-12s %s\n               %s\n", commands[i].name, _(commands[i].arguments), _(commands[i].summary));
  g_print (_("\nMore: man quartermaster-cli\n"));
}

static const QmCommand *
find_command (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    if (strcmp (commands[i].name, name) == 0)
      return &commands[i];

  return NULL;
}

static gboolean
is_of_the_machine (const GError *error)
{
  if (error->domain == QM_LEDGER_ERROR)
    return error->code != QM_LEDGER_ERROR_NOT_FOUND;

  return error->domain == G_IO_ERROR || error->domain == G_FILE_ERROR || error->domain == QM_FILE_ERROR;
}

static void
print_json_error (const GError *error)
{
  g_autoptr (JsonNode) node = json_node_new (JSON_NODE_OBJECT);
  g_autofree char *message = g_utf8_make_valid (error->message, -1);
  JsonObject *root = json_object_new ();
  JsonObject *object = json_object_new ();

  json_object_set_string_member (object, "domain", g_quark_to_string (error->domain));
  json_object_set_int_member (object, "code", error->code);
  json_object_set_string_member (object, "message", message);
  if (qm_error_get_path (error) != NULL)
    json_object_set_string_member (object, "path", qm_error_get_path (error));
  else
    json_object_set_null_member (object, "path");
  json_object_set_object_member (root, "error", object);
  json_node_take_object (node, root);
  qm_cli_print_json (node, TRUE);
}

static int
report_error (const QmCli  *cli,
              const GError *error)
{
  qm_cli_print_problem (error);
  if (cli->json)
    print_json_error (error);

  return is_of_the_machine (error) ? QM_EXIT_FAILURE : QM_EXIT_INPUT;
}

static int
run (const QmCommand *command,
     GStrv            arguments)
{
  QmCli cli = { 0 };
  g_autoptr (GError) error = NULL;
  g_autofree char *name = g_strdup_printf ("quartermaster-cli %s", arguments[0]);
  int status = QM_EXIT_OK;

  g_set_prgname (name);
  cli.usage = command != NULL ? _(command->arguments) : NULL;

  /* Options may be wrong: whether JSON is wanted must be known before. */
  cli.json = g_strv_contains ((const char * const *) arguments, "--json");
  if (command == NULL)
    g_set_error (&error, QM_USAGE_ERROR, 0, _("no command \"%s\"; see quartermaster-cli --help"), arguments[0]);
  if (command == NULL || !command->run (&cli, arguments, &error))
    status = report_error (&cli, error);
  else if (cli.exit_status != 0)
    status = cli.exit_status;

  g_clear_object (&cli.machine);
  g_free (cli.ledger);
  g_clear_object (&cli.estimator);
  g_clear_pointer (&cli.past_runs, g_ptr_array_unref);
  g_clear_object (&cli.catalog);
  if ((fflush (stdout) != 0 || ferror (stdout)) && status == QM_EXIT_OK)
    {
      g_printerr ("quartermaster-cli: %s\n", _("the output could not be written"));
      status = QM_EXIT_FAILURE;
    }

  return status;
}

/* Where a standard stream is closed, the next file that is opened would take
 * its number, and be written into. */
static void
keep_standard_streams (void)
{
  while (TRUE)
    {
      int fd = g_open ("/dev/null", O_RDONLY, 0);

      if (fd > STDERR_FILENO)
        close (fd);
      if (fd < 0 || fd > STDERR_FILENO)
        return;
    }
}

int
main (int   argc,
      char *argv[])
{
  g_auto (GStrv) arguments = g_strdupv (argv + 1);

  keep_standard_streams ();
  qm_language_init (NULL);

  if (argc < 2)
    {
      g_printerr ("quartermaster-cli: %s\n", _("a command is missing; see quartermaster-cli --help"));
      return QM_EXIT_INPUT;
    }
  if (strcmp (argv[1], "--help") == 0 || strcmp (argv[1], "-h") == 0 || strcmp (argv[1], "help") == 0)
    {
      print_help ();
      return QM_EXIT_OK;
    }
  if (strcmp (argv[1], "--version") == 0)
    {
      g_print ("quartermaster-cli %s\n", QM_VERSION);
      return QM_EXIT_OK;
    }

  return run (find_command (argv[1]), arguments);
}
