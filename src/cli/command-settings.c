/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <string.h>

#include "preferences/qm-preferences.h"
#include "qm-cli.h"

static void
add (JsonObject *object,
     const char *key,
     const char *text)
{
  if (object != NULL)
    json_object_set_string_member (object, key, text);
  else
    g_print ("%s %s\n", key, text);
}

/* All settings, and then the rates that are set. */
static void
list (const QmCli *cli,
      GSettings   *settings)
{
  g_autoptr (JsonNode) node = json_node_new (JSON_NODE_OBJECT);
  JsonObject *object = cli->json ? json_object_new () : NULL;
  g_autoptr (GVariant) rates = g_settings_get_value (settings, "exchange-rates");
  GVariantIter iter;
  const char *currency;

  for (const char * const *key = qm_preferences_keys (); *key != NULL; key++)
    {
      g_autofree char *text = qm_preferences_get_text (settings, *key);

      add (object, *key, text);
    }
  g_variant_iter_init (&iter, rates);
  while (g_variant_iter_next (&iter, "{&s(d&s)}", &currency, NULL, NULL))
    {
      g_autofree char *key = g_strconcat ("rate-", currency, NULL);
      g_autofree char *text = qm_preferences_get_text (settings, key);

      if (text != NULL)
        add (object, key, text);
    }
  if (object == NULL)
    return;

  json_node_take_object (node, object);
  qm_cli_print_json (node, TRUE);
}

static gboolean
get (GSettings   *settings,
     const char  *key,
     GError     **error)
{
  g_autofree char *text = qm_preferences_get_text (settings, key);

  if (text == NULL)
    {
      g_set_error (error, QM_USAGE_ERROR, 0, _("settings: nothing is set of \"%s\""), key);
      return FALSE;
    }
  g_print ("%s\n", text);

  return TRUE;
}

/**
 * qm_command_settings:
 * @cli: the program
 * @arguments: `settings [get KEY | set KEY VALUE… | reset KEY]`
 * @error: return location for an error
 *
 * Shows and changes what the person said once for all; the window has the same.
 *
 * Returns: whether it worked
 */
gboolean
qm_command_settings (QmCli   *cli,
                     GStrv    arguments,
                     GError **error)
{
  g_auto (GStrv) left = g_strdupv (arguments);
  g_autoptr (GSettings) settings = NULL;
  gboolean done = FALSE;
  guint n;

  if (!qm_cli_parse (cli, &left, NULL, 0, 4, error))
    return FALSE;
  settings = qm_preferences_open ();
  if (settings == NULL)
    {
      g_set_error_literal (error, G_FILE_ERROR, G_FILE_ERROR_NOENT, _("settings: the schema of the settings is not installed"));
      return FALSE;
    }

  n = g_strv_length (left);
  if (n == 1)
    {
      list (cli, settings);
      return TRUE;
    }
  if (n == 3 && strcmp (left[1], "get") == 0)
    return get (settings, left[2], error);
  if (n == 3 && strcmp (left[1], "reset") == 0)
    done = qm_preferences_set_text (settings, left[2], NULL, error);
  else if (n >= 4 && strcmp (left[1], "set") == 0)
    {
      g_autofree char *value = g_strjoinv (" ", left + 3);

      done = qm_preferences_set_text (settings, left[2], value, error);
    }
  else
    g_set_error_literal (error, QM_USAGE_ERROR, 0, _("settings: get KEY, set KEY VALUE or reset KEY is expected"));
  g_settings_sync ();

  return done;
}
