/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "qm-error.h"
#include "qm-preferences.h"

#define RATE "rate-"

static const char * const keys[] = {
  "currency", "electricity-price", "carbon-country", "carbon-intensity", "cooling-factor", "headroom", "marginal-points",
  "learn-from-runs", "keep-commands", "paper", NULL,
};

/**
 * qm_preferences_keys:
 *
 * Returns: (transfer none) (array zero-terminated=1): what can be set by words;
 *   beside them `rate-` with the code of a currency
 */
const char * const *
qm_preferences_keys (void)
{
  return keys;
}

QM_DEFINE_ERROR_DOMAIN ("qm-preferences-error-quark", qm_preferences_error_quark)

static gboolean
refuse (GError     **error,
        const char  *key,
        const char  *msgid)
{
  qm_error_set (error, qm_preferences_error_quark (), 0, key, msgid, NULL);
  return FALSE;
}

/* "0.92 2026-11-30" or "0.92" */
static gboolean
set_rate (GSettings   *settings,
          const char  *key,
          const char  *text,
          GError     **error)
{
  g_auto (GStrv) words = g_strsplit (text, " ", 2);
  char *end = NULL;
  double per_usd = words[0] != NULL ? g_ascii_strtod (words[0], &end) : NAN;

  if (words[0] != NULL && end != words[0] && *end == '\0' && per_usd != 0 &&
      qm_preferences_set_rate (settings, key + strlen (RATE), per_usd, words[1] != NULL ? g_strstrip (words[1]) : ""))
    return TRUE;

  return refuse (error, key, N_("how much of the currency one US dollar buys is expected, and of which day, such as \"0.92 2026-11-30\""));
}

/* The price of electricity is in the currency that is set. */
static gboolean
set_value (GSettings   *settings,
           const char  *key,
           GVariant    *value,
           GError     **error)
{
  g_autoptr (GSettingsSchema) schema = NULL;
  g_autoptr (GSettingsSchemaKey) about = NULL;
  g_autofree char *currency = g_settings_get_string (settings, "currency");

  g_object_get (settings, "settings-schema", &schema, NULL);
  about = g_settings_schema_get_key (schema, key);
  if (!g_settings_schema_key_range_check (about, value))
    return refuse (error, key, N_("this value cannot be"));
  if (!g_settings_set_value (settings, key, value))
    return refuse (error, key, N_("cannot be changed here: the settings are locked"));
  if (strcmp (key, "electricity-price") == 0)
    g_settings_set_string (settings, "electricity-currency", currency);

  return TRUE;
}

static gboolean
is_code (const char *key,
         const char *text)
{
  gsize length = strspn (text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

  return text[length] == '\0' && (strcmp (key, "currency") == 0 ? length == 3
                                   : strcmp (key, "carbon-country") == 0 ? length == 2 || length == 0 : TRUE);
}

/* @text as a value of the type that the key has; %NULL where it is none */
static GVariant *
parse (GSettings  *settings,
       const char *key,
       const char *text)
{
  g_autoptr (GVariant) now = g_settings_get_value (settings, key);
  char *end;
  double number;

  if (g_variant_is_of_type (now, G_VARIANT_TYPE_STRING))
    return strcmp (key, "paper") == 0 || is_code (key, text) ? g_variant_new_string (text) : NULL;
  if (g_variant_is_of_type (now, G_VARIANT_TYPE_BOOLEAN))
    return strcmp (text, "true") == 0 ? g_variant_new_boolean (TRUE) : strcmp (text, "false") == 0 ? g_variant_new_boolean (FALSE) : NULL;

  number = g_ascii_strtod (text, &end);
  return end != text && *end == '\0' && isfinite (number) ? g_variant_new_double (number) : NULL;
}

static gboolean
is_rate (const char *key)
{
  return g_str_has_prefix (key, RATE);
}

static gboolean
check_key (const char  *key,
           GError     **error)
{
  g_autofree char *known = g_strjoinv (", ", (char **) keys);

  if (is_rate (key) || g_strv_contains (keys, key))
    return TRUE;

  qm_error_set (error, qm_preferences_error_quark (), 0, key, N_("is no setting; there are {words} and rate-CURRENCY"), "words", known, NULL);
  return FALSE;
}

/**
 * qm_preferences_set_text:
 * @settings: the preferences
 * @key: one of qm_preferences_keys(), or `rate-EUR`
 * @text: (nullable): the value; %NULL for what is usual
 * @error: return location for an error that names the key
 *
 * Returns: whether it was kept
 */
gboolean
qm_preferences_set_text (GSettings   *settings,
                         const char  *key,
                         const char  *text,
                         GError     **error)
{
  g_autoptr (GVariant) value = NULL;

  if (!check_key (key, error))
    return FALSE;
  if (text == NULL && is_rate (key))
    return qm_preferences_set_rate (settings, key + strlen (RATE), 0, NULL) ||
           refuse (error, key, N_("a code of three letters, e.g. USD"));
  if (text == NULL)
    {
      g_settings_reset (settings, key);
      return TRUE;
    }
  if (is_rate (key))
    return set_rate (settings, key, text, error);

  value = parse (settings, key, text);
  if (value == NULL)
    return refuse (error, key, N_("this value cannot be"));
  g_variant_ref_sink (value);

  return set_value (settings, key, value, error);
}

/**
 * qm_preferences_get_text:
 * @settings: the preferences
 * @key: one of qm_preferences_keys(), or `rate-EUR`
 *
 * Returns: (transfer full) (nullable): what is set, in the words that
 *   qm_preferences_set_text() takes; %NULL where that is no setting, or no rate
 */
char *
qm_preferences_get_text (GSettings  *settings,
                         const char *key)
{
  g_autoptr (GVariant) value = NULL;
  g_autofree char *as_of = NULL;
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  double per_usd;

  if (is_rate (key))
    return qm_preferences_get_rate (settings, key + strlen (RATE), &per_usd, &as_of)
             ? g_strstrip (g_strdup_printf ("%s %s", g_ascii_formatd (number, sizeof number, "%.10g", per_usd), as_of)) : NULL;
  if (!g_strv_contains (keys, key))
    return NULL;

  value = g_settings_get_value (settings, key);
  if (g_variant_is_of_type (value, G_VARIANT_TYPE_STRING))
    return g_variant_dup_string (value, NULL);
  if (g_variant_is_of_type (value, G_VARIANT_TYPE_BOOLEAN))
    return g_strdup (g_variant_get_boolean (value) ? "true" : "false");

  return g_strdup (g_ascii_formatd (number, sizeof number, "%.10g", g_variant_get_double (value)));
}
