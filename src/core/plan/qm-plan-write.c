/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "plan/qm-flow.h"
#include "plan/qm-plan-fields.h"
#include "qm-error.h"
#include "qm-file.h"
#include "qm-json-writer.h"

static JsonObject *
section_of (JsonObject *root,
            const char *path)
{
  const char *point = strchr (path, '.');
  g_autofree char *name = point != NULL ? g_strndup (path, point - path) : NULL;

  if (point == NULL)
    return root;
  if (!json_object_has_member (root, name))
    json_object_set_object_member (root, name, json_object_new ());

  return json_object_get_object_member (root, name);
}

static void
write_owned (JsonObject   *root,
             const QmPlan *plan)
{
  JsonArray *array;

  if (plan->places.n_owned == 0)
    return;

  array = json_array_new ();
  for (int i = 0; i < plan->places.n_owned; i++)
    {
      JsonObject *object = json_object_new ();

      json_object_set_string_member (object, "device", plan->places.owned[i].device);
      json_object_set_int_member (object, "devices", plan->places.owned[i].devices);
      json_object_set_int_member (object, "nodes", plan->places.owned[i].nodes);
      if (plan->places.owned[i].host_memory_bytes > 0)
        json_object_set_double_member (object, "host_memory_bytes", plan->places.owned[i].host_memory_bytes);
      json_array_add_object_element (array, object);
    }
  json_object_set_array_member (section_of (root, "places.owned"), "owned", array);
}

static void
write_quotes (JsonObject   *root,
              const QmPlan *plan)
{
  JsonArray *array;

  if (plan->n_quotes == 0)
    return;

  array = json_array_new ();
  for (int i = 0; i < plan->n_quotes; i++)
    {
      const QmQuote *quote = &plan->quotes[i];
      JsonObject *object = json_object_new ();

      json_object_set_string_member (object, "device", quote->device);
      json_object_set_int_member (object, "devices", quote->devices);
      json_object_set_int_member (object, "nodes", quote->nodes);
      json_object_set_double_member (object, "hours", quote->hours);
      json_object_set_double_member (object, "money", quote->money);
      if (!isnan (quote->accuracy))
        json_object_set_double_member (object, "accuracy", quote->accuracy);
      json_array_add_object_element (array, object);
    }
  json_object_set_array_member (root, "quotes", array);
}

static void
write_results (JsonObject   *root,
               const QmPlan *plan)
{
  JsonArray *array;

  if (plan->n_results == 0)
    return;

  array = json_array_new ();
  for (int i = 0; i < plan->n_results; i++)
    {
      JsonObject *object = json_object_new ();

      json_object_set_double_member (object, "samples", plan->results[i].samples);
      json_object_set_double_member (object, "score", plan->results[i].score);
      json_array_add_object_element (array, object);
    }
  json_object_set_array_member (root, "results", array);
}

/**
 * qm_plan_to_data:
 * @self: a plan
 * @length: (out) (optional): length of the text in bytes
 *
 * Returns: (transfer full): the text of a plan file: only what is answered, in
 *   a fixed order
 */
char *
qm_plan_to_data (const QmPlan *self,
                 gsize        *length)
{
  g_autoptr (JsonNode) node = json_node_new (JSON_NODE_OBJECT);
  JsonObject *root = json_object_new ();
  g_autofree char *text = NULL;
  char *data;
  guint n;
  const QmField *fields = qm_plan_fields (&n);

  json_object_set_string_member (root, "format", "quartermaster-plan");
  json_object_set_int_member (root, "version", 1);
  for (guint i = 0; i < n; i++)
    {
      const char *point = strchr (fields[i].path, '.');

      if (qm_plan_field_is_set (&fields[i], self))
        json_object_set_member (section_of (root, fields[i].path), point != NULL ? point + 1 : fields[i].path,
                                qm_plan_field_write (&fields[i], self));
    }
  write_owned (root, self);
  write_quotes (root, self);
  write_results (root, self);
  json_node_take_object (node, root);

  text = qm_json_to_text (node, TRUE);
  data = g_strconcat (text, "\n", NULL);
  if (length != NULL)
    *length = strlen (data);

  return data;
}

/**
 * qm_plan_save:
 * @self: a plan
 * @path: where to
 * @error: return location for a #QM_FILE_ERROR
 *
 * Writes the plan beside @path and renames it: the file is the old or the new
 * one, whole.
 *
 * Returns: whether it was written
 */
gboolean
qm_plan_save (const QmPlan  *self,
              const char    *path,
              GError       **error)
{
  gsize length;
  g_autofree char *data = qm_plan_to_data (self, &length);

  return qm_file_write (path, data, length, error);
}

/**
 * qm_configuration_to_json:
 * @self: a configuration
 *
 * Returns: (transfer full): an object with every field, null where unset
 */
JsonNode *
qm_configuration_to_json (const QmConfiguration *self)
{
  JsonNode *node = json_node_new (JSON_NODE_OBJECT);
  JsonObject *object = json_object_new ();
  QmPlan plan = { .configuration = *self };
  guint n;
  const QmField *fields = qm_plan_fields (&n);

  for (guint i = 0; i < n; i++)
    {
      const char *name = fields[i].path + strlen ("configuration.");

      if (!g_str_has_prefix (fields[i].path, "configuration."))
        continue;
      if (qm_plan_field_is_set (&fields[i], &plan))
        json_object_set_member (object, name, qm_plan_field_write (&fields[i], &plan));
      else
        json_object_set_null_member (object, name);
    }
  json_node_take_object (node, object);

  return node;
}

/**
 * qm_plan_get_field:
 * @plan: a plan
 * @field: e.g. `training.epochs`
 *
 * Returns: (transfer full) (nullable): the answer as text of the plan file,
 *   words without quotes; %NULL where it is not answered or no such field is
 */
char *
qm_plan_get_field (const QmPlan *plan,
                   const char   *field)
{
  const QmField *found = qm_plan_field_find (field);
  g_autoptr (JsonNode) node = NULL;

  if (found == NULL || !qm_plan_field_is_set (found, plan))
    return NULL;

  node = qm_plan_field_write (found, plan);
  if (JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING)
    return g_strdup (json_node_get_string (node));

  return qm_json_to_text (node, FALSE);
}

/* Words need no quotes here; lists are words with commas between. */
static JsonNode *
node_from_text (const QmField *field,
                const char    *value)
{
  JsonNode *node = NULL;

  if (field->kind == QM_FIELD_WORDS && value[0] != '[')
    {
      g_auto (GStrv) words = g_strsplit (value, ",", -1);
      JsonArray *array = json_array_new ();

      for (guint i = 0; words[i] != NULL; i++)
        if (g_strstrip (words[i])[0] != '\0')
          json_array_add_string_element (array, words[i]);
      node = json_node_new (JSON_NODE_ARRAY);
      json_node_take_array (node, array);
      return node;
    }
  if (field->kind == QM_FIELD_WORD || field->kind == QM_FIELD_TEXT || field->kind == QM_FIELD_ENUM)
    {
      node = json_node_new (JSON_NODE_VALUE);
      json_node_set_string (node, value);
      return node;
    }

  return json_from_string (value, NULL);
}

/**
 * qm_plan_set_field:
 * @plan: (inout): a plan
 * @field: e.g. `training.epochs`
 * @value: (nullable): the answer as text of the plan file; %NULL takes it back
 * @error: return location for a #QmPlanError
 *
 * The plan stays as it was where the answer cannot be.
 *
 * Returns: whether @value is an answer that can be
 */
gboolean
qm_plan_set_field (QmPlan      *plan,
                   const char  *field,
                   const char  *value,
                   GError     **error)
{
  const QmField *found = qm_plan_field_find (field);
  g_autoptr (JsonNode) node = NULL;
  g_autoptr (JsonNode) before = NULL;

  if (found == NULL)
    {
      qm_error_set (error, QM_PLAN_ERROR, QM_PLAN_ERROR_VALUE, field, N_("not a field of a plan"), NULL);
      return FALSE;
    }
  if (value == NULL)
    {
      qm_plan_field_unset (found, plan);
      return TRUE;
    }

  node = node_from_text (found, value);
  if (node == NULL)
    {
      qm_error_set (error, QM_PLAN_ERROR, QM_PLAN_ERROR_VALUE, field,
                    N_("\"{word}\" is not understood; a number, or true or false, is expected"), "word", value, NULL);
      return FALSE;
    }

  before = qm_plan_field_is_set (found, plan) ? qm_plan_field_write (found, plan) : json_node_new (JSON_NODE_NULL);
  if (qm_plan_field_read (found, plan, node, error))
    return TRUE;

  qm_plan_field_read (found, plan, before, NULL);
  return FALSE;
}
