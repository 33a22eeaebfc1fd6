/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-launch-private.h"

#include <glib/gi18n.h>
#include <string.h>

#include "qm-error.h"
#include "qm-template.h"

struct _QmLauncher {
  char *directory;
  JsonParser *parser;
  JsonArray *formats;               /* belongs to @parser */
};

QM_DEFINE_ERROR_DOMAIN ("qm-launch-error-quark", qm_launch_error_quark)

/**
 * qm_launch_file_free:
 * @self: (transfer full) (nullable): a file
 */
void
qm_launch_file_free (QmLaunchFile *self)
{
  if (self == NULL)
    return;

  g_free (self->name);
  g_free (self->text);
  g_free (self);
}

/**
 * qm_launcher_new:
 * @template_directory: the folder with `formats.json` and the templates
 * @error: return location for an error: where `formats.json` is not as it must
 *   be, with the line
 *
 * Returns: (transfer full): a launcher, or %NULL with @error set
 */
QmLauncher *
qm_launcher_new (const char  *template_directory,
                 GError     **error)
{
  g_autoptr (QmLauncher) self = g_new0 (QmLauncher, 1);
  g_autofree char *path = g_build_filename (template_directory, "formats.json", NULL);

  self->directory = g_strdup (template_directory);
  self->parser = json_parser_new ();
  self->formats = qm_launch_load_formats (self->parser, path, error);
  if (self->formats == NULL)
    return NULL;

  return g_steal_pointer (&self);
}

/**
 * qm_launcher_free:
 * @self: (transfer full) (nullable): a launcher
 */
void
qm_launcher_free (QmLauncher *self)
{
  if (self == NULL)
    return;

  g_clear_object (&self->parser);
  g_free (self->directory);
  g_free (self);
}

/**
 * qm_launcher_formats:
 * @self: a launcher
 *
 * Returns: (transfer full): the ids of all formats
 */
GStrv
qm_launcher_formats (QmLauncher *self)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();

  for (guint i = 0; i < json_array_get_length (self->formats); i++)
    g_strv_builder_add (builder, json_object_get_string_member (json_array_get_object_element (self->formats, i), "id"));

  return g_strv_builder_end (builder);
}

/**
 * qm_launcher_get_list:
 * @self: a launcher
 *
 * Returns: (transfer none): the descriptions of all formats
 */
JsonArray *
qm_launcher_get_list (QmLauncher *self)
{
  return self->formats;
}

static JsonObject *
find_format (QmLauncher  *self,
             const char  *id,
             GError     **error)
{
  g_auto (GStrv) known = qm_launcher_formats (self);
  g_autofree char *list = g_strjoinv (", ", known);

  for (guint i = 0; i < json_array_get_length (self->formats); i++)
    {
      JsonObject *format = json_array_get_object_element (self->formats, i);

      if (strcmp (json_object_get_string_member (format, "id"), id) == 0)
        return format;
    }

  qm_error_set (error, QM_LAUNCH_ERROR, QM_LAUNCH_ERROR_FORMAT, NULL, N_("no format is called \"{format}\"; use one of {list}"),
                "format", id, "list", list, NULL);
  return NULL;
}

static gboolean
holds (JsonObject *condition,
       JsonObject *values)
{
  JsonNode *node = json_object_get_member (values, json_object_get_string_member (condition, "value"));
  g_autofree char *text = NULL;

  if (node == NULL)
    return FALSE;
  text = json_node_get_value_type (node) == G_TYPE_STRING ? json_node_dup_string (node) : json_to_string (node, FALSE);

  return strcmp (text, json_object_get_string_member (condition, "is")) == 0;
}

/**
 * qm_launch_senseless:
 * @format: the description of a format
 * @values: of qm_launch_values()
 *
 * Returns: (nullable): the reason of the first condition that does not hold, as
 *   a message to translate; %NULL where all do
 */
const char *
qm_launch_senseless (JsonObject *format,
                     JsonObject *values)
{
  JsonArray *conditions = json_object_has_member (format, "when") ? json_object_get_array_member (format, "when") : NULL;

  for (guint i = 0; conditions != NULL && i < json_array_get_length (conditions); i++)
    {
      JsonObject *condition = json_array_get_object_element (conditions, i);

      if (!holds (condition, values))
        return json_object_get_string_member (condition, "why");
    }

  return NULL;
}

/**
 * qm_launch_applies:
 * @part: of the description of a format: a file, or a sentence
 * @values: of qm_launch_values()
 *
 * Returns: whether it belongs to this choice: the value that "when" names is
 *   true, and the one that "unless" names is not
 */
gboolean
qm_launch_applies (JsonObject *part,
                   JsonObject *values)
{
  const char *when = json_object_get_string_member_with_default (part, "when", NULL);
  const char *unless = json_object_get_string_member_with_default (part, "unless", NULL);

  return (when == NULL || json_object_get_boolean_member_with_default (values, when, FALSE)) &&
         (unless == NULL || !json_object_get_boolean_member_with_default (values, unless, FALSE));
}

/**
 * qm_launcher_get_conditions:
 * @self: a launcher
 * @format: the id of a format
 *
 * Returns: (transfer none) (nullable): when the format makes sense
 */
JsonArray *
qm_launcher_get_conditions (QmLauncher *self,
                            const char *format)
{
  JsonObject *description = find_format (self, format, NULL);

  return description != NULL && json_object_has_member (description, "when") ? json_object_get_array_member (description, "when") : NULL;
}

static QmLaunchFile *
write_file (QmLauncher  *self,
            JsonObject  *description,
            JsonObject  *values,
            GError     **error)
{
  const char *template = json_object_get_string_member (description, "template");
  g_autofree char *text = qm_template_fill (self->directory, template, values, error);
  QmLaunchFile *file;

  if (text == NULL)
    return NULL;

  file = g_new0 (QmLaunchFile, 1);
  file->name = g_strdup (json_object_get_string_member (description, "name"));
  file->text = g_steal_pointer (&text);
  file->executable = json_object_get_boolean_member_with_default (description, "executable", FALSE);

  return file;
}

/**
 * qm_launcher_fill:
 * @self: a launcher
 * @format: the id of a format
 * @values: of qm_launch_values()
 * @error: return location for an error
 *
 * Returns: (transfer full) (element-type QmLaunchFile): the files, or %NULL with
 *   @error set; where the format makes no sense %QM_LAUNCH_ERROR_SENSELESS
 */
GPtrArray *
qm_launcher_fill (QmLauncher  *self,
                  const char  *format,
                  JsonObject  *values,
                  GError     **error)
{
  JsonObject *description = find_format (self, format, error);
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_launch_file_free);
  JsonArray *list;
  const char *why;

  if (description == NULL)
    return NULL;

  why = qm_launch_senseless (description, values);
  if (why != NULL)
    {
      qm_error_set (error, QM_LAUNCH_ERROR, QM_LAUNCH_ERROR_SENSELESS, NULL, N_("{format}: {why}"),
                    "format", format, "=why", why, NULL);
      return NULL;
    }

  list = json_object_get_array_member (description, "files");
  for (guint i = 0; i < json_array_get_length (list); i++)
    {
      JsonObject *described = json_array_get_object_element (list, i);
      QmLaunchFile *file;

      if (!qm_launch_applies (described, values))
        continue;
      file = write_file (self, described, values, error);
      if (file == NULL)
        return NULL;
      g_ptr_array_add (files, file);
    }

  return g_steal_pointer (&files);
}

/**
 * qm_launcher_write:
 * @self: a launcher
 * @format: the id of a format
 * @estimator: an estimator
 * @resolved: a plan
 * @choice: one of its choices
 * @date: of the day, ISO 8601
 * @error: return location for an error
 *
 * Writes the files that start the job on the hardware of @choice.
 *
 * Returns: (transfer full) (element-type QmLaunchFile): the files, or %NULL with
 *   @error set; where the format makes no sense %QM_LAUNCH_ERROR_SENSELESS
 */
GPtrArray *
qm_launcher_write (QmLauncher       *self,
                   const char       *format,
                   QmEstimator      *estimator,
                   const QmResolved *resolved,
                   const QmChoice   *choice,
                   const char       *date,
                   GError          **error)
{
  g_autoptr (JsonObject) values = qm_launch_values (estimator, resolved, choice, date);

  return qm_launcher_fill (self, format, values, error);
}
