/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-run.h"

#include <math.h>
#include <string.h>

#include "qm-json-writer.h"

static const char * const status_words[] = {
  "", "running", "finished", "failed", "stopped", "timed-out", "out-of-memory", "interrupted",
};

static const char * const source_words[] = {
  "", "recorded", "nvidia-smi", "trainer-state", "llama-bench", "pytorch-profiler", "tensorflow-profiler", "table",
};

static void
figure_clear (QmFigure *self)
{
  g_free (self->key);
}

/**
 * qm_run_new:
 * @uid: what tells it from every other run
 *
 * Returns: (transfer full): a run nothing is known of
 */
QmRun *
qm_run_new (const char *uid)
{
  QmRun *self = g_new0 (QmRun, 1);

  self->uid = g_strdup (uid);
  self->seconds = NAN;
  self->exit_status = -1;
  self->label = g_strdup ("");
  self->tags = g_ptr_array_new_with_free_func (g_free);
  self->figures = g_array_new (FALSE, TRUE, sizeof (QmFigure));
  g_array_set_clear_func (self->figures, (GDestroyNotify) figure_clear);

  return self;
}

/**
 * qm_run_free:
 * @self: (nullable): a run
 */
void
qm_run_free (QmRun *self)
{
  if (self == NULL)
    return;

  g_free (self->uid);
  g_free (self->label);
  g_free (self->command);
  g_free (self->machine);
  g_free (self->device);
  g_free (self->model);
  g_free (self->unit);
  g_free (self->plan);
  g_free (self->diagnosis);
  g_free (self->note);
  g_ptr_array_unref (self->tags);
  g_array_unref (self->figures);
  g_free (self);
}

/**
 * qm_run_add_tag:
 * @self: a run
 * @tag: a word or some
 *
 * Blanks at the ends are dropped; a tag that is there is not added again.
 *
 * Returns: whether it was added
 */
gboolean
qm_run_add_tag (QmRun      *self,
                const char *tag)
{
  g_autofree char *clean = g_strstrip (g_strdup (tag));

  if (clean[0] == '\0' || g_ptr_array_find_with_equal_func (self->tags, clean, g_str_equal, NULL))
    return FALSE;

  g_ptr_array_add (self->tags, g_steal_pointer (&clean));
  return TRUE;
}

/**
 * qm_run_join_tags:
 * @self: a run
 *
 * Returns: (transfer full): its tags, with commas between
 */
char *
qm_run_join_tags (const QmRun *self)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < self->tags->len; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? ", " : "", (const char *) g_ptr_array_index (self->tags, i));

  return g_string_free (g_steal_pointer (&text), FALSE);
}

/**
 * qm_run_figure:
 * @self: a run
 * @key: path of the estimate
 *
 * Returns: (nullable) (transfer none): the figure; valid until one is added
 */
QmFigure *
qm_run_figure (const QmRun *self,
               const char  *key)
{
  for (guint i = 0; i < self->figures->len; i++)
    {
      QmFigure *figure = &g_array_index (self->figures, QmFigure, i);

      if (strcmp (figure->key, key) == 0)
        return figure;
    }

  return NULL;
}

/**
 * qm_run_ensure_figure:
 * @self: a run
 * @key: path of the estimate
 *
 * Returns: (transfer none): the figure, which is added where it is missing;
 *   valid until another is added
 */
QmFigure *
qm_run_ensure_figure (QmRun      *self,
                      const char *key)
{
  QmFigure *found = qm_run_figure (self, key);
  QmFigure figure = { NULL, QM_RANGE_UNKNOWN, NAN };

  if (found != NULL)
    return found;

  figure.key = g_strdup (key);
  g_array_append_val (self->figures, figure);

  return &g_array_index (self->figures, QmFigure, self->figures->len - 1);
}

/**
 * qm_run_measured:
 * @self: a run
 * @key: path of the estimate
 *
 * Returns: what was measured; NaN where it was not
 */
double
qm_run_measured (const QmRun *self,
                 const char  *key)
{
  const QmFigure *figure = qm_run_figure (self, key);

  return figure != NULL ? figure->measured : NAN;
}

/**
 * qm_run_set_measured:
 * @self: a run
 * @key: path of the estimate
 * @value: what was measured; nothing happens where it is not finite
 */
void
qm_run_set_measured (QmRun      *self,
                     const char *key,
                     double      value)
{
  if (isfinite (value))
    qm_run_ensure_figure (self, key)->measured = value;
}

/**
 * qm_run_predicted:
 * @self: a run
 * @key: path of the estimate
 *
 * Returns: the p50 of what was predicted; NaN where nothing was
 */
double
qm_run_predicted (const QmRun *self,
                  const char  *key)
{
  const QmFigure *figure = qm_run_figure (self, key);

  return figure != NULL ? figure->predicted.p50 : NAN;
}

static int
word_index (const char * const *words,
            guint               n,
            const char         *word)
{
  for (guint i = 1; i < n; i++)
    if (g_strcmp0 (words[i], word) == 0)
      return i;

  return 0;
}

/**
 * qm_run_status_to_word:
 * @status: how a run ended
 *
 * Returns: the word of files and JSON
 */
const char *
qm_run_status_to_word (QmRunStatus status)
{
  return (guint) status < G_N_ELEMENTS (status_words) ? status_words[status] : "";
}

/**
 * qm_run_status_from_word:
 * @word: (nullable): a word of files and JSON
 *
 * Returns: what it means; %QM_RUN_STATUS_UNSET where it is none
 */
QmRunStatus
qm_run_status_from_word (const char *word)
{
  return word_index (status_words, G_N_ELEMENTS (status_words), word);
}

/**
 * qm_run_source_to_word:
 * @source: where the figures of a run are from
 *
 * Returns: the word of files and JSON
 */
const char *
qm_run_source_to_word (QmRunSource source)
{
  return (guint) source < G_N_ELEMENTS (source_words) ? source_words[source] : "";
}

/**
 * qm_run_source_from_word:
 * @word: (nullable): a word of files and JSON
 *
 * Returns: what it means; %QM_RUN_SOURCE_UNSET where it is none
 */
QmRunSource
qm_run_source_from_word (const char *word)
{
  return word_index (source_words, G_N_ELEMENTS (source_words), word);
}

/* ------------------------------------------------------------------ comparison */

static void
add_pair (GArray      *pairs,
          const char  *key,
          const QmRun *first,
          const QmRun *second)
{
  QmFigurePair pair = { key, qm_run_measured (first, key), qm_run_measured (second, key), NAN };

  pair.ratio = pair.second / pair.first;
  if (isfinite (pair.first) || isfinite (pair.second))
    g_array_append_val (pairs, pair);
}

/**
 * qm_runs_compare:
 * @first: a run
 * @second: another
 *
 * Returns: (transfer full) (element-type QmFigurePair): every figure that was
 *   measured in one of them, those of @first first; valid as long as both runs
 */
GArray *
qm_runs_compare (const QmRun *first,
                 const QmRun *second)
{
  GArray *pairs = g_array_new (FALSE, FALSE, sizeof (QmFigurePair));

  for (guint i = 0; i < first->figures->len; i++)
    add_pair (pairs, g_array_index (first->figures, QmFigure, i).key, first, second);
  for (guint i = 0; i < second->figures->len; i++)
    {
      const char *key = g_array_index (second->figures, QmFigure, i).key;

      if (qm_run_figure (first, key) == NULL)
        add_pair (pairs, key, first, second);
    }

  return pairs;
}

static void
flatten (GHashTable *fields,
         const char *path,
         JsonNode   *node)
{
  JsonObjectIter iter;
  const char *name;
  JsonNode *member;

  if (!JSON_NODE_HOLDS_OBJECT (node))
    {
      if (!JSON_NODE_HOLDS_NULL (node))
        g_hash_table_insert (fields, g_strdup (path), qm_json_to_text (node, FALSE));
      return;
    }

  json_object_iter_init (&iter, json_node_get_object (node));
  while (json_object_iter_next (&iter, &name, &member))
    {
      g_autofree char *inner = path[0] != '\0' ? g_strdup_printf ("%s.%s", path, name) : g_strdup (name);

      flatten (fields, inner, member);
    }
}

static GHashTable *
fields_of (const QmRun *run)
{
  GHashTable *fields = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_autoptr (JsonNode) node = run->plan != NULL ? json_from_string (run->plan, NULL) : NULL;

  if (node != NULL)
    flatten (fields, "", node);
  g_hash_table_remove (fields, "format");
  g_hash_table_remove (fields, "version");
  g_hash_table_remove (fields, "title");

  return fields;
}

static void
difference_free (QmPlanDifference *self)
{
  g_free (self->field);
  g_free (self->first);
  g_free (self->second);
  g_free (self);
}

static void
add_difference (GPtrArray  *differences,
                const char *field,
                const char *first,
                const char *second)
{
  QmPlanDifference *difference;

  if (g_strcmp0 (first, second) == 0)
    return;

  difference = g_new0 (QmPlanDifference, 1);
  difference->field = g_strdup (field);
  difference->first = g_strdup (first);
  difference->second = g_strdup (second);
  g_ptr_array_add (differences, difference);
}

static int
compare_fields (gconstpointer a,
                gconstpointer b)
{
  const QmPlanDifference *first = *(QmPlanDifference * const *) a, *second = *(QmPlanDifference * const *) b;

  return strcmp (first->field, second->field);
}

/**
 * qm_runs_compare_plans:
 * @first: a run
 * @second: another
 *
 * Returns: (transfer full) (element-type QmPlanDifference): the fields in which
 *   their plans differ, by name
 */
GPtrArray *
qm_runs_compare_plans (const QmRun *first,
                       const QmRun *second)
{
  GPtrArray *differences = g_ptr_array_new_with_free_func ((GDestroyNotify) difference_free);
  g_autoptr (GHashTable) a = fields_of (first);
  g_autoptr (GHashTable) b = fields_of (second);
  GHashTableIter iter;
  gpointer key, value;

  g_hash_table_iter_init (&iter, a);
  while (g_hash_table_iter_next (&iter, &key, &value))
    add_difference (differences, key, value, g_hash_table_lookup (b, key));
  g_hash_table_iter_init (&iter, b);
  while (g_hash_table_iter_next (&iter, &key, &value))
    if (!g_hash_table_contains (a, key))
      add_difference (differences, key, NULL, value);
  g_ptr_array_sort (differences, compare_fields);

  return differences;
}
