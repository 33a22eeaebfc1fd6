/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <string.h>

#include "qm-launch-private.h"
#include "qm-message.h"

/**
 * qm_launch_format_free:
 * @self: (transfer full) (nullable): a format
 */
void
qm_launch_format_free (QmLaunchFormat *self)
{
  if (self == NULL)
    return;

  g_free (self->id);
  g_free (self->name);
  g_free (self->start);
  g_strfreev (self->needs);
  g_strfreev (self->guards);
  g_free (self->why_not);
  g_free (self);
}

/* @plain with the values in its places. */
static char *
with_values (const char *plain,
             JsonObject *values)
{
  GString *text = g_string_new (plain);
  JsonObjectIter iter;
  const char *name;
  JsonNode *node;

  json_object_iter_init (&iter, values);
  while (json_object_iter_next (&iter, &name, &node))
    {
      g_autofree char *place = g_strconcat ("{", name, "}", NULL);
      g_autofree char *value = NULL;

      if (strstr (text->str, place) == NULL)
        continue;
      value = json_node_get_value_type (node) == G_TYPE_STRING ? json_node_dup_string (node) : json_to_string (node, FALSE);
      g_string_replace (text, place, value, 0);
    }

  return g_string_free (text, FALSE);
}

/* An element is a sentence, or an object with "text" and when it applies. */
static GStrv
sentences (JsonObject    *format,
           const char    *name,
           JsonObject    *values,
           const QmWords *words)
{
  JsonArray *list = json_object_has_member (format, name) ? json_object_get_array_member (format, name) : NULL;
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();

  for (guint i = 0; list != NULL && i < json_array_get_length (list); i++)
    {
      JsonNode *node = json_array_get_element (list, i);
      JsonObject *object = JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
      const char *msgid = object != NULL ? json_object_get_string_member (object, "text") : json_node_get_string (node);

      if (object == NULL || qm_launch_applies (object, values))
        g_strv_builder_take (builder, with_values (words->translate (msgid), values));
    }

  return g_strv_builder_end (builder);
}

/* The command that starts the job: one, or the first of several that applies. */
static char *
start_of (JsonObject *format,
          JsonObject *values)
{
  JsonNode *node = json_object_get_member (format, "start");
  JsonArray *list = node != NULL && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;

  if (list == NULL)
    return node != NULL ? with_values (json_node_get_string (node), values) : NULL;

  for (guint i = 0; i < json_array_get_length (list); i++)
    if (qm_launch_applies (json_array_get_object_element (list, i), values))
      return with_values (json_object_get_string_member (json_array_get_object_element (list, i), "text"), values);

  return NULL;
}

/**
 * qm_launcher_describe:
 * @self: a launcher
 * @values: of qm_launch_values()
 * @words: the language of the person
 *
 * Returns: (transfer full) (element-type QmLaunchFormat): all formats, those
 *   that make no sense for the choice too, with the reason
 */
GPtrArray *
qm_launcher_describe (QmLauncher    *self,
                      JsonObject    *values,
                      const QmWords *words)
{
  JsonArray *list = qm_launcher_get_list (self);
  GPtrArray *formats = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_launch_format_free);

  for (guint i = 0; i < json_array_get_length (list); i++)
    {
      JsonObject *description = json_array_get_object_element (list, i);
      QmLaunchFormat *format = g_new0 (QmLaunchFormat, 1);
      const char *why = qm_launch_senseless (description, values);

      format->id = g_strdup (json_object_get_string_member (description, "id"));
      format->name = g_strdup (words->translate (json_object_get_string_member (description, "name")));
      format->start = start_of (description, values);
      format->needs = sentences (description, "needs", values, words);
      format->guards = sentences (description, "guards", values, words);
      format->why_not = why != NULL ? g_strdup (words->translate (why)) : NULL;
      g_ptr_array_add (formats, format);
    }

  return formats;
}

/* -1, 0 or 1: dotted versions are compared number by number. */
static int
compare_versions (const char *a,
                  const char *b)
{
  g_auto (GStrv) left = g_strsplit (a, ".", -1);
  g_auto (GStrv) right = g_strsplit (b, ".", -1);

  for (guint i = 0; left[i] != NULL && right[i] != NULL; i++)
    {
      guint64 x = g_ascii_strtoull (left[i], NULL, 10), y = g_ascii_strtoull (right[i], NULL, 10);

      if (x != y)
        return x < y ? -1 : 1;
    }

  return 0;
}

/**
 * qm_launch_check_driver:
 * @driver: name and version of a driver
 * @wanted: the least version that the software of the files takes; empty where
 *   any will do
 * @words: the language of the person
 *
 * Returns: (transfer full) (nullable): a sentence that says that the driver is
 *   too old and what to do, or %NULL where it is new enough or its version is
 *   not known
 */
char *
qm_launch_check_driver (const char    *driver,
                        const char    *wanted,
                        const QmWords *words)
{
  const char *version = strrchr (driver, ' ');
  g_autoptr (QmMessage) message = NULL;

  version = version != NULL ? version + 1 : driver;
  if (wanted[0] == '\0' || !g_ascii_isdigit (version[0]) || compare_versions (version, wanted) >= 0)
    return NULL;

  message = qm_message_new_filled ("driver-old",
                                   N_("The driver of this computer is {version}; the software in these files takes {wanted} or later. Update "
                                      "the driver, or take an image with an older CUDA."),
                                   "version", version, "wanted", wanted, NULL);
  return qm_message_get_text (message, words);
}
