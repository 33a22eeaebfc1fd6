/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "qm-catalog-private.h"

#include "qm-enum-types.h"
#include "qm-enum.h"

/* The size that a vision model is asked about where none is said. */
#define USUAL_IMAGE_SIZE 224

/* The record names its task, or a kind that the file maps to one. */
static QmTask
read_task (QmRecord *record)
{
  JsonObject *root = json_node_get_object (record->file->root);
  JsonNode *tasks = json_object_get_member (root, "tasks");
  const char *kind = qm_record_string (record, "kind");
  const char *word = NULL;
  int value = 0;

  if (qm_record_string (record, "task") != NULL || kind == NULL)
    return qm_record_word (record, "task", QM_TYPE_TASK);

  if (tasks != NULL && JSON_NODE_HOLDS_OBJECT (tasks))
    word = json_object_get_string_member_with_default (json_node_get_object (tasks), kind, NULL);
  if (word == NULL || !qm_enum_from_word (QM_TYPE_TASK, word, &value))
    qm_record_fail (record, QM_CATALOG_ERROR_REFERENCE, "kind", N_("“{word}” is not one of the tasks of this file"), "word", kind, NULL);
  return value;
}

static gboolean
read_model (QmCatalog    *self,
            QmRecord     *record,
            QmModelEntry *entry)
{
  g_autoptr (GPtrArray) aliases = g_ptr_array_new ();
  QmRecord config;
  const char *name;

  entry->id = qm_record_require_string (record, "id");
  name = qm_record_string (record, "name");
  entry->name = name != NULL ? name : entry->id;
  entry->task = read_task (record);
  entry->parameters = qm_record_number (record, "parameters", NAN);
  entry->image_size = qm_record_number (record, "image_size", 0);
  qm_record_strings (record, "aliases", aliases);
  entry->aliases = qm_catalog_keep_strings (self, aliases);
  entry->has_config = qm_record_open_inside (record, "config", &config);
  entry->source = qm_record_source (record, "source", NULL);
  if (entry->source == NULL)
    qm_record_fail (record, QM_CATALOG_ERROR_MISSING, "source", N_("is missing"), NULL);

  return !record->failed;
}

/* A few readers ask for a few models: parsed text of all would take ten times the
 * memory of the text. */
static const char *
keep_text (QmCatalog *self,
           JsonNode  *node)
{
  g_autofree char *text = json_to_string (node, FALSE);

  return g_string_chunk_insert (self->chunk, text);
}

/**
 * qm_model_entry_parse:
 * @self: a model of a catalog
 *
 * Returns: (transfer full): all that the catalog says of it; "config" is the content
 *   of its config.json
 */
QmJsonBox *
qm_model_entry_parse (const QmModelEntry *self)
{
  g_autoptr (JsonParser) parser = json_parser_new_immutable ();

  /* It was written by keep_text(). */
  if (!json_parser_load_from_data (parser, self->text, -1, NULL))
    g_assert_not_reached ();

  return qm_json_box_new (json_parser_steal_root (parser));
}

/* A user's file replaces all entries of the ids that it has. */
static void
forget_models (QmCatalog *self,
               JsonArray *records)
{
  g_autoptr (GHashTable) ids = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < json_array_get_length (records); i++)
    {
      JsonNode *node = json_array_get_element (records, i);
      const char *id = JSON_NODE_HOLDS_OBJECT (node)
                       ? json_object_get_string_member_with_default (json_node_get_object (node), "id", NULL) : NULL;

      if (id != NULL)
        g_hash_table_add (ids, (char *) id);
    }
  for (guint i = self->models->len; i > 0; i--)
    if (g_hash_table_contains (ids, ((QmModelEntry *) g_ptr_array_index (self->models, i - 1))->id))
      g_ptr_array_remove_index (self->models, i - 1);
}

/**
 * qm_catalog_load_models:
 * @self: a catalog
 * @file: a file of the format "quartermaster-models"
 * @error: return location
 *
 * Adds the models of @file; those of a user's file take the place of others
 * with the same id. One id may have several entries that differ in image size.
 *
 * Returns: whether all records are sound
 */
gboolean
qm_catalog_load_models (QmCatalog      *self,
                        QmCatalogFile  *file,
                        GError        **error)
{
  JsonArray *records = qm_catalog_file_records (file, "models", error);

  if (records == NULL)
    return FALSE;
  if (file->is_users)
    forget_models (self, records);

  for (guint i = 0; i < json_array_get_length (records); i++)
    {
      QmModelEntry *entry = g_new0 (QmModelEntry, 1);
      g_autofree char *key = NULL;
      QmRecord record;

      g_ptr_array_add (self->allocations, entry);
      if (!qm_record_open (&record, file, "models", i, json_array_get_element (records, i), error)
          || !read_model (self, &record, entry))
        return FALSE;

      entry->text = keep_text (self, json_array_get_element (records, i));
      key = g_strdup_printf ("%s@%g", entry->id, entry->image_size);
      if (!g_hash_table_add (self->model_keys, g_steal_pointer (&key)) && !file->is_users)
        {
          qm_record_fail (&record, QM_CATALOG_ERROR_DUPLICATE, "id", N_("“{word}” is there twice"), "word", entry->id, NULL);
          return FALSE;
        }
      g_ptr_array_add (self->models, entry);
    }
  return TRUE;
}

/**
 * qm_catalog_index_models:
 * @self: a catalog whose models are all loaded
 *
 * Makes models findable by id and by alias.
 */
void
qm_catalog_index_models (QmCatalog *self)
{
  for (guint i = 0; i < self->models->len; i++)
    {
      QmModelEntry *entry = g_ptr_array_index (self->models, i);

      qm_catalog_index (self->models_by_id, entry->id, entry);
      for (guint j = 0; entry->aliases[j] != NULL; j++)
        qm_catalog_index (self->models_by_id, entry->aliases[j], entry);
    }
}

/**
 * qm_catalog_find_model:
 * @self: a catalog
 * @id: an id or alias
 * @image_size: in pixels; 0 where the plan does not say
 *
 * Returns: (nullable): the entry of that id whose image size is nearest to
 *   @image_size (without one: to 224), the first of equals
 */
const QmModelEntry *
qm_catalog_find_model (QmCatalog  *self,
                       const char *id,
                       double      image_size)
{
  GPtrArray *entries = id != NULL ? g_hash_table_lookup (self->models_by_id, id) : NULL;
  double want = image_size > 0 ? image_size : USUAL_IMAGE_SIZE;
  const QmModelEntry *nearest = NULL;
  double least = INFINITY;

  for (guint i = 0; entries != NULL && i < entries->len; i++)
    {
      const QmModelEntry *entry = g_ptr_array_index (entries, i);
      double size = entry->image_size;
      double distance = size > 0 ? fabs (size - want) : 0;

      if (distance < least)
        {
          least = distance;
          nearest = entry;
        }
    }
  return nearest;
}
