/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "qm-cli.h"
#include "qm-json-writer.h"
#include "qm-score.h"

/* --------------------------------------------------------------------- JSON */

static void
set_number (JsonObject *object,
            const char *name,
            double      value)
{
  if (isfinite (value))
    json_object_set_double_member (object, name, qm_json_figure (value));
  else
    json_object_set_null_member (object, name);
}

static JsonArray *
cases_as_json (const QmScore *score)
{
  JsonArray *array = json_array_new ();

  for (guint i = 0; i < score->cases->len; i++)
    {
      const QmScored *scored = g_ptr_array_index (score->cases, i);
      JsonObject *object = json_object_new ();

      json_object_set_string_member (object, "id", scored->id);
      json_object_set_string_member (object, "key", scored->key);
      set_number (object, "measured", scored->measured);
      set_number (object, "p10", scored->estimated.p10);
      set_number (object, "p50", scored->estimated.p50);
      set_number (object, "p90", scored->estimated.p90);
      json_array_add_object_element (array, object);
    }

  return array;
}

static JsonArray *
failed_as_json (const QmScore *score)
{
  JsonArray *array = json_array_new ();

  for (guint i = 0; i < score->failed->len; i++)
    {
      const QmUnscored *unscored = g_ptr_array_index (score->failed, i);
      JsonObject *object = json_object_new ();

      json_object_set_string_member (object, "id", unscored->id);
      json_object_set_string_member (object, "key", unscored->key);
      json_object_set_string_member (object, "code", unscored->code);
      json_object_set_string_member (object, "message", unscored->message);
      json_array_add_object_element (array, object);
    }

  return array;
}

static JsonObject *
summary_as_json (const QmScore *score)
{
  JsonObject *object = json_object_new ();
  g_autoptr (GPtrArray) keys = qm_score_keys (score);

  for (guint i = 0; i < keys->len; i++)
    {
      const char *key = g_ptr_array_index (keys, i);
      QmScoreSummary summary = qm_score_summarise (score, key, NULL, NULL);
      JsonObject *child = json_object_new ();

      json_object_set_int_member (child, "cases", summary.cases);
      set_number (child, "median_error", summary.median_error);
      set_number (child, "p90_error", summary.p90_error);
      set_number (child, "bias", summary.bias);
      set_number (child, "coverage", summary.coverage);
      json_object_set_object_member (object, key, child);
    }

  return object;
}

static void
print_as_json (const QmScore *score)
{
  g_autoptr (JsonNode) node = json_node_new (JSON_NODE_OBJECT);
  JsonObject *root = json_object_new ();

  json_object_set_array_member (root, "cases", cases_as_json (score));
  json_object_set_array_member (root, "failed", failed_as_json (score));
  json_object_set_object_member (root, "summary", summary_as_json (score));
  json_node_take_object (node, root);
  qm_cli_print_json (node, TRUE);
}

/* --------------------------------------------------------------------- text */

static gboolean
has_group (const QmScored *scored,
           gpointer        group)
{
  return strcmp (scored->group, group) == 0;
}

static gboolean
has_task (const QmScored *scored,
          gpointer        task)
{
  return strcmp (scored->task, task) == 0;
}

static gboolean
has_tag (const QmScored *scored,
         gpointer        tag)
{
  return g_strv_contains ((const char * const *) scored->tags, tag);
}

static void
print_line (const char     *name,
            QmScoreSummary  summary)
{
  g_autofree char *width = isfinite (summary.median_width) ? g_strdup_printf ("%.2f", summary.median_width) : g_strdup ("–");

  if (summary.cases > 0)
    g_print ("  %-40s %5u %8.1f%% %8.1f%% %+8.1f%% %7.0f%% %*s\n", name, summary.cases, 100 * summary.median_error,
             100 * summary.p90_error, 100 * summary.bias, 100 * summary.coverage, QM_COLUMN (7, width));
}

static void
print_by (const QmScore *score,
          const char    *key,
          GHashTable    *names,
          QmScoreFilter  filter,
          const char    *title)
{
  g_autoptr (GList) sorted = g_list_sort (g_hash_table_get_keys (names), (GCompareFunc) strcmp);

  if (g_hash_table_size (names) < 2)
    return;
  for (GList *l = sorted; l != NULL; l = l->next)
    {
      g_autofree char *name = g_strdup_printf ("%s %s", title, (char *) l->data);

      print_line (name, qm_score_summarise (score, key, filter, l->data));
    }
}

static void
print_key (const QmScore *score,
           const char    *key)
{
  g_autoptr (GHashTable) groups = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GHashTable) tasks = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GHashTable) tags = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < score->cases->len; i++)
    {
      const QmScored *scored = g_ptr_array_index (score->cases, i);

      if (strcmp (scored->key, key) != 0)
        continue;
      g_hash_table_add (groups, scored->group);
      g_hash_table_add (tasks, scored->task);
      for (guint j = 0; scored->tags[j] != NULL; j++)
        g_hash_table_add (tags, scored->tags[j]);
    }

  print_line (key, qm_score_summarise (score, key, NULL, NULL));
  print_by (score, key, tasks, has_task, "  task");
  print_by (score, key, groups, has_group, "  group");
  print_by (score, key, tags, has_tag, "  tag");
}

static void
print (const QmScore *score)
{
  g_autoptr (GPtrArray) keys = qm_score_keys (score);

  g_print ("  %-*s %*s %*s %*s %*s %*s %*s\n", QM_COLUMN (40, _("figure")), QM_COLUMN (5, _("cases")), QM_COLUMN (9, _("median")),
           QM_COLUMN (9, _("90th")), QM_COLUMN (9, _("bias")), QM_COLUMN (8, _("in range")), QM_COLUMN (7, _("width")));
  for (guint i = 0; i < keys->len; i++)
    print_key (score, g_ptr_array_index (keys, i));

  g_print (_("\n%u could not be estimated\n"), score->failed->len);
  for (guint i = 0; i < score->failed->len; i++)
    {
      const QmUnscored *unscored = g_ptr_array_index (score->failed, i);

      g_print ("  %s %s: %s\n", unscored->id, unscored->key, unscored->message);
    }
}

/**
 * qm_command_score:
 * @cli: the program
 * @arguments: `score CASES.jsonl …`
 * @error: return location for an error
 *
 * Estimates measured cases and prints the errors, over all and by task, group
 * and tag.
 *
 * Returns: whether it worked
 */
gboolean
qm_command_score (QmCli   *cli,
                  GStrv    arguments,
                  GError **error)
{
  g_auto (GStrv) left = g_strdupv (arguments);
  g_autoptr (QmScore) score = qm_score_new ();

  /* measured cases are compared with what everybody's estimate is */
  cli->plain = TRUE;
  if (!qm_cli_parse (cli, &left, NULL, 1, 1000, error) || qm_cli_get_estimator (cli, error) == NULL)
    return FALSE;

  for (guint i = 1; left[i] != NULL; i++)
    if (!qm_score_add_file (score, cli->estimator, left[i], error))
      return FALSE;

  if (cli->json)
    print_as_json (score);
  else
    print (score);

  return TRUE;
}
