/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "draw/qm-language.h"
#include "draw/qm-phrase-runs.h"
#include "history/qm-import.h"
#include "probe/qm-own-ledger.h"
#include "qm-cli.h"
#include "qm-error.h"
#include "qm-file.h"

typedef struct {
  QmCli *cli;
  QmLedger *ledger;
  char **words;                     /* behind the name of the action */
  QmLedgerQuery query;
} Action;

static gboolean
parse_id (const char  *word,
          gint64      *id,
          GError     **error)
{
  if (g_ascii_string_to_signed (word, 10, 1, G_MAXINT64, id, NULL))
    return TRUE;

  g_set_error (error, QM_USAGE_ERROR, 0, _("ledger: \"%s\" is no number of a run; see ledger list"), word);
  return FALSE;
}

/* ------------------------------------------------------------------------ list, show */

static gboolean
collect (Action     *action,
         GPtrArray  *runs,
         GError    **error)
{
  guint limit = action->query.limit > 0 ? action->query.limit : 50;

  do
    {
      g_auto (QmLedgerPage) page = { 0 };

      action->query.limit = limit - runs->len;
      if (!qm_ledger_find (action->ledger, &action->query, &page, error))
        return FALSE;
      action->query.before = page.next;
      while (page.runs->len > 0)
        g_ptr_array_add (runs, g_ptr_array_steal_index (page.runs, 0));
    }
  while (runs->len < limit && action->query.before > 0);

  return TRUE;
}

static gboolean
list (Action  *action,
      GError **error)
{
  g_autoptr (GPtrArray) runs = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_run_free);

  if (!collect (action, runs, error))
    return FALSE;

  if (action->cli->json)
    {
      g_autoptr (JsonNode) node = json_node_new (JSON_NODE_OBJECT);
      JsonObject *object = json_object_new ();
      JsonArray *array = json_array_new ();

      for (guint i = 0; i < runs->len; i++)
        json_array_add_element (array, qm_run_to_json (g_ptr_array_index (runs, i), NULL));
      json_object_set_array_member (object, "runs", array);
      json_object_set_int_member (object, "total", qm_ledger_count (action->ledger, NULL));
      json_node_take_object (node, object);
      qm_cli_print_json (node, TRUE);
      return TRUE;
    }

  for (guint i = 0; i < runs->len; i++)
    qm_cli_print_run_line (g_ptr_array_index (runs, i));
  if (runs->len == 0)
    g_print ("%s\n", _("No runs."));

  return TRUE;
}

static gboolean
show (Action  *action,
      GError **error)
{
  g_autoptr (QmRun) run = NULL;
  gint64 id;

  if (!parse_id (action->words[0], &id, error))
    return FALSE;
  run = qm_ledger_get (action->ledger, id, error);
  if (run == NULL)
    return FALSE;

  if (action->cli->json)
    {
      g_autoptr (QmSeries) series = qm_ledger_get_series (action->ledger, id, error);
      g_autoptr (JsonNode) node = NULL;

      if (series == NULL)
        return FALSE;
      node = qm_run_to_json (run, series);
      qm_cli_print_json (node, TRUE);
    }
  else
    qm_cli_print_run (run);

  return TRUE;
}

static JsonNode *
comparison_to_json (GArray    *pairs,
                    GPtrArray *differences)
{
  JsonNode *node = json_node_new (JSON_NODE_OBJECT);
  JsonObject *root = json_object_new (), *figures = json_object_new (), *plan = json_object_new ();

  for (guint i = 0; i < pairs->len; i++)
    {
      const QmFigurePair *pair = &g_array_index (pairs, QmFigurePair, i);
      JsonObject *object = json_object_new ();

      json_object_set_double_member (object, "first", pair->first);
      json_object_set_double_member (object, "second", pair->second);
      json_object_set_double_member (object, "ratio", pair->ratio);
      json_object_set_object_member (figures, pair->key, object);
    }
  for (guint i = 0; i < differences->len; i++)
    {
      const QmPlanDifference *difference = g_ptr_array_index (differences, i);
      JsonArray *both = json_array_new ();

      json_array_add_element (both, difference->first != NULL ? json_from_string (difference->first, NULL) : json_node_new (JSON_NODE_NULL));
      json_array_add_element (both, difference->second != NULL ? json_from_string (difference->second, NULL) : json_node_new (JSON_NODE_NULL));
      json_object_set_array_member (plan, difference->field, both);
    }
  json_object_set_object_member (root, "figures", figures);
  json_object_set_object_member (root, "plan", plan);
  json_node_take_object (node, root);

  return node;
}

static void
print_comparison (const QmRun *a,
                  const QmRun *b,
                  GArray      *pairs,
                  GPtrArray   *differences)
{
  const QmWords *words = qm_language_get_words ();

  for (guint i = 0; i < differences->len; i++)
    {
      const QmPlanDifference *difference = g_ptr_array_index (differences, i);

      g_print ("  %-36s %14s %14s\n", difference->field, difference->first != NULL ? difference->first : "–",
               difference->second != NULL ? difference->second : "–");
    }
  for (guint i = 0; i < pairs->len; i++)
    {
      const QmFigurePair *pair = &g_array_index (pairs, QmFigurePair, i);
      g_autofree char *first = qm_phrase_figure (words, pair->key, pair->first, a->unit);
      g_autofree char *second = qm_phrase_figure (words, pair->key, pair->second, b->unit);

      g_print ("  %-36s %*s %*s", pair->key, QM_COLUMN (14, first), QM_COLUMN (14, second));
      if (isfinite (pair->ratio))
        g_print (pair->ratio < 1e6 ? "   × %.2f" : "   × %.2g", pair->ratio);
      g_print ("\n");
    }
}

static gboolean
compare (Action  *action,
         GError **error)
{
  g_autoptr (QmRun) first = NULL;
  g_autoptr (QmRun) second = NULL;
  g_autoptr (GArray) pairs = NULL;
  g_autoptr (GPtrArray) differences = NULL;
  gint64 ids[2];

  if (!parse_id (action->words[0], &ids[0], error) || !parse_id (action->words[1], &ids[1], error))
    return FALSE;
  first = qm_ledger_get (action->ledger, ids[0], error);
  second = first != NULL ? qm_ledger_get (action->ledger, ids[1], error) : NULL;
  if (second == NULL)
    return FALSE;

  pairs = qm_runs_compare (first, second);
  differences = qm_runs_compare_plans (first, second);
  if (action->cli->json)
    {
      g_autoptr (JsonNode) node = comparison_to_json (pairs, differences);

      qm_cli_print_json (node, TRUE);
    }
  else
    print_comparison (first, second, pairs, differences);

  return TRUE;
}

/* ---------------------------------------------------------------------- in and out */

/* All files or none. */
static gboolean
import (Action  *action,
        GError **error)
{
  int added = 0, known = 0;

  if (qm_cli_get_catalog (action->cli, error) == NULL || !qm_ledger_begin (action->ledger, error))
    return FALSE;

  for (guint i = 0; action->words[i] != NULL; i++)
    {
      g_autoptr (GPtrArray) imported = qm_import_read (action->words[i], error);
      int n = -1;

      if (imported != NULL)
        {
          qm_import_name_devices (imported, action->cli->catalog);
          n = qm_import_add (action->ledger, imported, error);
        }
      if (n < 0)
        {
          qm_ledger_roll_back (action->ledger);
          return FALSE;
        }
      added += n;
      known += (int) imported->len - n;
    }
  if (!qm_ledger_commit (action->ledger, error))
    return FALSE;

  if (action->cli->json)
    g_print ("{\"added\": %d, \"known\": %d}\n", added, known);
  else
    {
      g_print (ngettext ("%d run was added.\n", "%d runs were added.\n", added), added);
      if (known > 0)
        g_print (ngettext ("%d was there already.\n", "%d were there already.\n", known), known);
    }

  return TRUE;
}

static gboolean
export (Action  *action,
        GError **error)
{
  const char *path = action->words[0];
  gboolean table = g_str_has_suffix (path, ".csv");
  g_autofree char *text = NULL;

  if (!table && !g_str_has_suffix (path, ".json") && strcmp (path, "-") != 0)
    {
      g_set_error_literal (error, QM_USAGE_ERROR, 0, _("ledger export: the name of the file ends in .json or .csv"));
      return FALSE;
    }

  text = table ? qm_export_csv (action->ledger, error) : qm_export_json (action->ledger, error);
  if (text == NULL)
    return FALSE;
  if (strcmp (path, "-") == 0)
    {
      fputs (text, stdout);
      return TRUE;
    }

  return qm_file_write (path, text, strlen (text), error);
}

/* ------------------------------------------------------------------------- changes */

static gboolean
each_run (Action  *action,
          gboolean (*change) (QmLedger *ledger, gint64 id, GError **error),
          GError **error)
{
  if (!qm_ledger_begin (action->ledger, error))
    return FALSE;

  for (guint i = 0; action->words[i] != NULL; i++)
    {
      gint64 id;

      if (parse_id (action->words[i], &id, error) && change (action->ledger, id, error))
        continue;
      qm_ledger_roll_back (action->ledger);
      return FALSE;
    }

  return qm_ledger_commit (action->ledger, error);
}

static gboolean
remove_one (QmLedger  *ledger,
            gint64     id,
            GError   **error)
{
  return qm_ledger_remove (ledger, id, g_get_real_time (), error);
}

static gboolean
remove_runs (Action  *action,
             GError **error)
{
  if (!each_run (action, remove_one, error))
    return FALSE;
  if (!action->cli->json)
    g_print ("%s\n", _("Removed. For 30 days, \"ledger restore ID\" brings it back."));

  return TRUE;
}

static gboolean
restore_runs (Action  *action,
              GError **error)
{
  return each_run (action, qm_ledger_restore, error);
}

static gboolean
note (Action  *action,
      GError **error)
{
  gint64 id;

  return parse_id (action->words[0], &id, error) && qm_ledger_set_note (action->ledger, id, action->words[1], error);
}

static gboolean
tag (Action  *action,
     GError **error)
{
  gint64 id;

  return parse_id (action->words[0], &id, error) &&
         qm_ledger_set_tags (action->ledger, id, (const char * const *) action->words + 1, error);
}

static gboolean
check (Action  *action,
       GError **error)
{
  if (!qm_ledger_check (action->ledger, error))
    return FALSE;
  if (!action->cli->json)
    g_print ("%s\n", _("The ledger is in order."));

  return TRUE;
}

static gboolean
calibration (Action  *action,
             GError **error)
{
  return qm_cli_print_experience (action->cli, action->ledger, error);
}

static gboolean
suggest (Action  *action,
         GError **error)
{
  return qm_cli_print_suggestions (action->cli, action->ledger, action->words[0], error);
}

static const struct {
  const char *name;
  guint least, most;                /* words that follow */
  const char *usage;
  gboolean (*run) (Action *action, GError **error);
} actions[] = {
  { "list", 0, 0, "ledger list [--search WORDS] [--device ID] [--tag TAG] [--sort KEY] [--limit N]", list },
  { "show", 1, 1, "ledger show ID", show },
  { "compare", 2, 2, "ledger compare ID ID", compare },
  { "import", 1, G_MAXUINT, "ledger import FILE…", import },
  { "export", 1, 1, "ledger export FILE.json|FILE.csv", export },
  { "note", 2, 2, "ledger note ID TEXT", note },
  { "tag", 1, G_MAXUINT, "ledger tag ID TAG…", tag },
  { "remove", 1, G_MAXUINT, "ledger remove ID…", remove_runs },
  { "restore", 1, G_MAXUINT, "ledger restore ID…", restore_runs },
  { "check", 0, 0, "ledger check", check },
  { "calibration", 0, 0, "ledger calibration", calibration },
  { "suggest", 1, 1, "ledger suggest PLAN", suggest },
};

static const char * const sort_names[] = { "added", "started", "label", "model", "device", "seconds", "throughput", "memory", NULL };

static gboolean
set_sort (QmLedgerQuery  *query,
          const char     *word,
          GError        **error)
{
  for (guint i = 0; word != NULL && sort_names[i] != NULL; i++)
    if (strcmp (sort_names[i], word) == 0)
      {
        query->sort = i;
        return TRUE;
      }
  if (word == NULL)
    return TRUE;

  g_set_error (error, QM_USAGE_ERROR, 0, _("--sort: \"%s\" is not known; it is one of %s"), word,
               "added, started, label, model, device, seconds, throughput, memory");
  return FALSE;
}

static gboolean
act (Action      *action,
     char       **left,
     const char  *path,
     GError     **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (actions); i++)
    {
      guint n = g_strv_length (left) - 2;

      if (strcmp (actions[i].name, left[1]) != 0)
        continue;
      if (n < actions[i].least || n > actions[i].most)
        {
          g_set_error (error, QM_USAGE_ERROR, 0, _("it is used so: %s"), actions[i].usage);
          return FALSE;
        }
      action->words = left + 2;
      action->ledger = qm_own_ledger_open (path, error);
      return action->ledger != NULL && actions[i].run (action, error);
    }

  g_set_error (error, QM_USAGE_ERROR, 0, _("ledger: \"%s\" is not known here; it is one of %s"), left[1],
               "list, show, compare, import, export, note, tag, remove, restore, check, calibration, suggest");
  return FALSE;
}

/**
 * qm_command_ledger:
 * @cli: the program
 * @arguments: `ledger ACTION …`
 * @error: return location for an error
 *
 * Shows and changes the runs of the past.
 *
 * Returns: whether it worked
 */
gboolean
qm_command_ledger (QmCli   *cli,
                   GStrv    arguments,
                   GError **error)
{
  g_autofree char *path = NULL, *sort = NULL, *search = NULL, *device = NULL, *model = NULL, *tag_wanted = NULL;
  gboolean ascending = FALSE;
  int limit = 50;
  const GOptionEntry entries[] = {
    { "ledger", 0, 0, G_OPTION_ARG_FILENAME, &path, N_("Another file than the person's ledger"), "FILE" },
    { "search", 0, 0, G_OPTION_ARG_STRING, &search, N_("Runs in which each of these words occurs"), "WORDS" },
    { "device", 0, 0, G_OPTION_ARG_STRING, &device, N_("Runs on this device"), "ID" },
    { "model", 0, 0, G_OPTION_ARG_STRING, &model, N_("Runs of this model"), "ID" },
    { "tag", 0, 0, G_OPTION_ARG_STRING, &tag_wanted, N_("Runs with this tag"), "TAG" },
    { "sort", 0, 0, G_OPTION_ARG_STRING, &sort, N_("By what to sort: added, started, label, model, device, seconds, throughput or memory"), "KEY" },
    { "ascending", 0, 0, G_OPTION_ARG_NONE, &ascending, N_("The smallest first"), NULL },
    { "limit", 0, 0, G_OPTION_ARG_INT, &limit, N_("How many at the most"), "N" },
    G_OPTION_ENTRY_NULL
  };
  g_auto (GStrv) left = g_strdupv (arguments);
  Action action = { .cli = cli };
  gboolean ok;

  if (!qm_cli_parse (cli, &left, entries, 1, G_MAXINT, error) || !set_sort (&action.query, sort, error))
    return FALSE;
  if (limit < 1)
    {
      g_set_error_literal (error, QM_USAGE_ERROR, 0, _("--limit: a number from 1 on is expected"));
      return FALSE;
    }

  action.query.text = search;
  action.query.device = device;
  action.query.model = model;
  action.query.tag = tag_wanted;
  action.query.ascending = ascending;
  action.query.limit = limit;
  ok = act (&action, left, path, error);
  g_clear_object (&action.ledger);

  return ok;
}
