/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-tune-state.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "qm-error.h"
#include "qm-file.h"
#include "qm-json-writer.h"

#define FORMAT     "quartermaster-tune"
#define MOST_BYTES (16 * 1024 * 1024)

QM_DEFINE_ERROR_DOMAIN ("qm-tune-error-quark", qm_tune_error_quark)

const char * const qm_tune_knob_names[3] = { "batch", "workers", "accumulation" };

static const char * const outcomes[] = { "done", "out-of-memory", "failed", "too-long" };

/**
 * qm_tune_knob_values:
 * @space: (inout): where the values go
 * @knob: of which knob
 * @list: whole numbers with commas, at most %QM_MOST_VALUES, rising
 *
 * Returns: whether @list is such a list
 */
gboolean
qm_tune_knob_values (QmTunerSpace *space,
                     QmKnob        knob,
                     const char   *list)
{
  g_auto (GStrv) words = g_strsplit (list, ",", -1);
  guint n = g_strv_length (words);

  if (n == 0 || n > QM_MOST_VALUES)
    return FALSE;

  for (guint i = 0; i < n; i++)
    {
      guint64 value;

      if (!g_ascii_string_to_unsigned (g_strstrip (words[i]), 10, knob == QM_KNOB_WORKERS ? 0 : 1, 1 << 30, &value, NULL) ||
          (i > 0 && value <= space->values[knob][i - 1]))
        return FALSE;
      space->values[knob][i] = value;
    }
  space->n[knob] = n;

  return TRUE;
}

/**
 * qm_tune_settings_json:
 * @space: what can be set
 * @settings: some of it
 *
 * Returns: (transfer full): the values by their names
 */
JsonObject *
qm_tune_settings_json (const QmTunerSpace    *space,
                       const QmTunerSettings *settings)
{
  JsonObject *object = json_object_new ();

  for (int knob = 0; knob < (int) G_N_ELEMENTS (qm_tune_knob_names); knob++)
    json_object_set_int_member (object, qm_tune_knob_names[knob], (gint64) space->values[knob][settings->at[knob]]);

  return object;
}

/**
 * qm_tune_metrics_json:
 * @trial: a trial
 *
 * Returns: (transfer full): what came of it
 */
JsonObject *
qm_tune_metrics_json (const QmTuneTrial *trial)
{
  JsonObject *object = json_object_new ();

  json_object_set_string_member (object, "outcome", outcomes[trial->outcome]);
  if (trial->outcome == QM_OUTCOME_DONE)
    json_object_set_double_member (object, "per_second", qm_json_figure (trial->per_second));
  else
    json_object_set_null_member (object, "per_second");
  json_object_set_double_member (object, "seconds", qm_json_figure (trial->seconds));
  json_object_set_int_member (object, "exit_status", trial->status);

  return object;
}

static JsonNode *
to_json (const QmTuneState *self)
{
  JsonNode *node = json_node_new (JSON_NODE_OBJECT);
  JsonObject *root = json_object_new (), *space = json_object_new ();
  JsonArray *command = json_array_new (), *trials = json_array_new ();

  json_object_set_string_member (root, "format", FORMAT);
  json_object_set_int_member (root, "version", 1);
  for (guint i = 0; self->command[i] != NULL; i++)
    json_array_add_string_element (command, self->command[i]);
  json_object_set_array_member (root, "command", command);
  for (int knob = 0; knob < (int) G_N_ELEMENTS (qm_tune_knob_names); knob++)
    {
      JsonArray *values = json_array_new ();

      for (int i = 0; i < self->space->n[knob]; i++)
        json_array_add_int_element (values, (gint64) self->space->values[knob][i]);
      json_object_set_array_member (space, qm_tune_knob_names[knob], values);
    }
  json_object_set_object_member (root, "space", space);
  for (guint i = 0; i < self->trials->len; i++)
    {
      const QmTuneTrial *trial = &g_array_index (self->trials, QmTuneTrial, i);
      JsonObject *object = json_object_new ();

      json_object_set_object_member (object, "settings", qm_tune_settings_json (self->space, &trial->settings));
      json_object_set_object_member (object, "metrics", qm_tune_metrics_json (trial));
      json_array_add_object_element (trials, object);
    }
  json_object_set_array_member (root, "trials", trials);
  json_node_take_object (node, root);

  return node;
}

/* A search of another command or of other values is another search. */
static gboolean
is_same (const QmTuneState *self,
         JsonObject        *root)
{
  g_autoptr (JsonNode) mine = to_json (self);
  JsonObject *own = json_node_get_object (mine);

  return json_object_has_member (root, "command") && json_object_has_member (root, "space") &&
         json_node_equal (json_object_get_member (own, "command"), json_object_get_member (root, "command")) &&
         json_node_equal (json_object_get_member (own, "space"), json_object_get_member (root, "space"));
}

static JsonObject *
member_object (JsonObject *object,
               const char *name)
{
  JsonNode *node = object != NULL ? json_object_get_member (object, name) : NULL;

  return node != NULL && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
}

static gboolean
read_settings (const QmTunerSpace *space,
               JsonObject         *object,
               QmTunerSettings    *settings)
{
  *settings = (QmTunerSettings) { { 0 } };
  for (int knob = 0; knob < (int) G_N_ELEMENTS (qm_tune_knob_names); knob++)
    {
      JsonNode *node = object != NULL ? json_object_get_member (object, qm_tune_knob_names[knob]) : NULL;
      int at = 0;

      if (node == NULL || !JSON_NODE_HOLDS_VALUE (node))
        return FALSE;
      while (at < space->n[knob] && space->values[knob][at] != json_node_get_double (node))
        at++;
      if (at == space->n[knob])
        return FALSE;
      settings->at[knob] = at;
    }

  return TRUE;
}

static gboolean
read_trial (const QmTunerSpace *space,
            JsonNode           *node,
            QmTuneTrial        *trial)
{
  JsonObject *object = JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
  JsonObject *metrics = member_object (object, "metrics");
  const char *outcome = metrics != NULL ? json_object_get_string_member_with_default (metrics, "outcome", "") : "";

  if (!read_settings (space, member_object (object, "settings"), &trial->settings))
    return FALSE;

  trial->per_second = metrics != NULL ? json_object_get_double_member_with_default (metrics, "per_second", 0) : 0;
  trial->seconds = metrics != NULL ? json_object_get_double_member_with_default (metrics, "seconds", 0) : 0;
  trial->status = metrics != NULL ? (int) json_object_get_int_member_with_default (metrics, "exit_status", 0) : 0;
  for (guint i = 0; i < G_N_ELEMENTS (outcomes); i++)
    if (strcmp (outcomes[i], outcome) == 0)
      {
        trial->outcome = i;
        return i != QM_OUTCOME_DONE || trial->per_second > 0;
      }

  return FALSE;
}

static gboolean
read_trials (QmTuneState  *self,
             JsonObject   *root,
             GError      **error)
{
  JsonNode *node = json_object_get_member (root, "trials");
  JsonArray *trials = node != NULL && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;

  for (guint i = 0; trials != NULL && i < json_array_get_length (trials); i++)
    {
      QmTuneTrial trial;

      if (!read_trial (self->space, json_array_get_element (trials, i), &trial))
        {
          g_autofree char *path = g_strdup_printf ("trials[%u]", i);

          qm_error_set (error, QM_TUNE_ERROR, QM_TUNE_ERROR_SYNTAX, path, N_("is not a trial of this search"), NULL);
          return FALSE;
        }
      g_array_append_val (self->trials, trial);
    }

  return TRUE;
}

static gboolean
read_text (QmTuneState  *self,
           const char   *text,
           gsize         length,
           GError      **error)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  JsonNode *root;

  json_parser_set_strict (parser, TRUE);
  if (!json_parser_load_from_data (parser, text, length, NULL) || (root = json_parser_get_root (parser)) == NULL ||
      !JSON_NODE_HOLDS_OBJECT (root) ||
      strcmp (json_object_get_string_member_with_default (json_node_get_object (root), "format", ""), FORMAT) != 0)
    {
      qm_error_set (error, QM_TUNE_ERROR, QM_TUNE_ERROR_SYNTAX, NULL, N_("is not the state of a search for settings"), NULL);
      return FALSE;
    }
  if (!is_same (self, json_node_get_object (root)))
    {
      qm_error_set (error, QM_TUNE_ERROR, QM_TUNE_ERROR_OTHER, NULL,
                    N_("is of another command or of other values; name another file with --state"), NULL);
      return FALSE;
    }

  return read_trials (self, json_node_get_object (root), error);
}

/**
 * qm_tune_default_path:
 * @command: a command with places
 * @space: the values
 *
 * Returns: (transfer full): a file of the person's own data that only a search of
 *   this command over these values, in this folder, has
 */
char *
qm_tune_default_path (const char * const *command,
                      const QmTunerSpace *space)
{
  const char *from_environment = g_getenv ("QM_USER_DIR");
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  g_autofree char *folder = g_get_current_dir ();
  g_autofree char *name = NULL;

  g_checksum_update (checksum, (const guchar *) folder, strlen (folder) + 1);
  for (guint i = 0; command[i] != NULL; i++)
    g_checksum_update (checksum, (const guchar *) command[i], strlen (command[i]) + 1);
  for (int knob = 0; knob < (int) G_N_ELEMENTS (qm_tune_knob_names); knob++)
    g_checksum_update (checksum, (const guchar *) space->values[knob], sizeof (double) * space->n[knob]);
  name = g_strdup_printf ("%.16s.json", g_checksum_get_string (checksum));

  return from_environment != NULL ? g_build_filename (from_environment, "tune", name, NULL)
                                  : g_build_filename (g_get_user_data_dir (), "quartermaster", "tune", name, NULL);
}

/**
 * qm_tune_state_open:
 * @self: (out caller-allocates): the state; qm_tune_state_clear() frees it, also
 *   after an error
 * @path: its file, which may not exist yet
 * @space: what can be set
 * @command: with places for it
 * @error: return location for an error of %QM_TUNE_ERROR or of the file
 *
 * Returns: whether what was tried before, if anything, is there
 */
gboolean
qm_tune_state_open (QmTuneState         *self,
                    const char          *path,
                    const QmTunerSpace  *space,
                    const char * const  *command,
                    GError             **error)
{
  g_autofree char *text = NULL;
  g_autofree char *name = g_filename_display_name (path);
  gsize length;

  *self = (QmTuneState) { g_strdup (path), space, command, g_array_new (FALSE, FALSE, sizeof (QmTuneTrial)) };
  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    return TRUE;

  text = qm_file_read (path, MOST_BYTES, &length, error);
  if (text == NULL)
    return FALSE;
  if (read_text (self, text, length, error))
    return TRUE;

  if (error != NULL)
    qm_error_locate (*error, name, 0);
  return FALSE;
}

/**
 * qm_tune_state_clear:
 * @self: a state
 */
void
qm_tune_state_clear (QmTuneState *self)
{
  g_clear_pointer (&self->path, g_free);
  g_clear_pointer (&self->trials, g_array_unref);
}

/**
 * qm_tune_state_add:
 * @self: a state
 * @trial: what was tried
 * @error: return location for an error of the file
 *
 * Returns: whether it is on the disk
 */
gboolean
qm_tune_state_add (QmTuneState        *self,
                   const QmTuneTrial  *trial,
                   GError            **error)
{
  g_autoptr (JsonNode) node = NULL;
  g_autofree char *text = NULL;
  g_autofree char *folder = g_path_get_dirname (self->path);

  g_array_append_val (self->trials, *trial);
  node = to_json (self);
  text = qm_json_to_text (node, TRUE);
  g_mkdir_with_parents (folder, 0755);

  return qm_file_write (self->path, text, strlen (text), error);
}

/**
 * qm_tune_trial_observe:
 * @trial: what was tried
 * @tuner: (inout): learns from it
 */
void
qm_tune_trial_observe (const QmTuneTrial *trial,
                       QmTuner           *tuner)
{
  QmTunerTrial seen = { .settings = trial->settings, .metrics = { NAN, NAN, NAN, NAN, NAN },
                        .failed = trial->outcome != QM_OUTCOME_DONE,
                        .out_of_memory = trial->outcome == QM_OUTCOME_OUT_OF_MEMORY };

  if (!seen.failed)
    seen.metrics.per_second = trial->per_second;
  qm_tuner_observe (tuner, &seen);
}
