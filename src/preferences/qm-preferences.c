/* SPDX-License-Identifier: GPL-3.0-or-later */
#define G_SETTINGS_ENABLE_BACKEND
#include "qm-preferences.h"

#include <gio/gsettingsbackend.h>
#include <math.h>
#include <string.h>

#include "config.h"
#include "plan/qm-vocabulary.h"

/* A currency whose unit is worth more than a thousand dollars, or so little that
 * a dollar buys a billion of them, is a slip of the keyboard. */
#define LEAST_PER_USD 1e-6
#define MOST_PER_USD  1e9

#define RATES "exchange-rates"

/* On a server without a desktop nothing would keep what is set: dconf writes
 * through the session bus, and GLib's last resort is memory. */
static gboolean
forgets (GSettingsBackend *backend)
{
  g_autofree char *bus = NULL;

  if (strcmp (G_OBJECT_TYPE_NAME (backend), "GMemorySettingsBackend") == 0)
    return TRUE;
  if (strcmp (G_OBJECT_TYPE_NAME (backend), "DConfSettingsBackend") != 0)
    return FALSE;

  bus = g_dbus_address_get_for_bus_sync (G_BUS_TYPE_SESSION, NULL, NULL);
  return bus == NULL;
}

/* A file keeps them then, unless forgetting is asked for. */
static GSettings *
open_kept (GSettingsSchema *schema)
{
  g_autoptr (GSettingsBackend) usual = g_settings_backend_get_default ();
  g_autoptr (GSettingsBackend) backend = NULL;
  g_autofree char *path = g_build_filename (g_get_user_config_dir (), "glib-2.0", "settings", "keyfile", NULL);

  if (g_getenv ("GSETTINGS_BACKEND") == NULL && forgets (usual))
    backend = g_keyfile_settings_backend_new (path, "/", NULL);

  return g_settings_new_full (schema, backend, NULL);
}

/**
 * qm_preferences_open:
 *
 * Returns: (transfer full) (nullable): what the person set once for all; %NULL
 *   where the schema is not installed
 */
GSettings *
qm_preferences_open (void)
{
  GSettingsSchemaSource *source = g_settings_schema_source_get_default ();
  g_autoptr (GSettingsSchema) schema = source != NULL ? g_settings_schema_source_lookup (source, QM_SCHEMA_ID, TRUE) : NULL;

  /* One of an older program lacks what is asked for here. */
  return schema != NULL && g_settings_schema_has_key (schema, RATES) ? open_kept (schema) : NULL;
}

/**
 * qm_preferences_keep_commands:
 *
 * Returns: whether the command of a run is kept in the ledger
 */
gboolean
qm_preferences_keep_commands (void)
{
  g_autoptr (GSettings) settings = qm_preferences_open ();

  return settings == NULL || g_settings_get_boolean (settings, "keep-commands");
}

/**
 * qm_today:
 *
 * Returns: (transfer full): the day it is here, ISO 8601
 */
char *
qm_today (void)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_local ();

  return g_date_time_format (now, "%Y-%m-%d");
}

/* ------------------------------------------------------------------------- exchange */

static gboolean
is_currency (const char *code)
{
  return strlen (code) == 3 && strspn (code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 3;
}

static gboolean
is_sound_rate (double per_usd)
{
  return isfinite (per_usd) && per_usd >= LEAST_PER_USD && per_usd <= MOST_PER_USD;
}

/**
 * qm_preferences_get_rate:
 * @settings: (nullable): the preferences
 * @currency: an ISO 4217 code
 * @per_usd: (out): how much of it one US dollar buys
 * @as_of: (out) (optional): of which day; "" unknown
 *
 * What others wrote into the settings may be anything: a rate that cannot be is
 * none.
 *
 * Returns: whether the person set a rate of their own
 */
gboolean
qm_preferences_get_rate (GSettings   *settings,
                         const char  *currency,
                         double      *per_usd,
                         char       **as_of)
{
  g_autoptr (GVariant) rates = settings != NULL ? g_settings_get_value (settings, RATES) : NULL;
  const char *date;
  double rate;

  if (rates == NULL || !g_variant_lookup (rates, currency, "(d&s)", &rate, &date) || !is_sound_rate (rate))
    return FALSE;

  *per_usd = rate;
  if (as_of != NULL)
    *as_of = g_strdup (qm_vocabulary_is_date (date) ? date : "");
  return TRUE;
}

/**
 * qm_preferences_set_rate:
 * @settings: the preferences
 * @currency: an ISO 4217 code
 * @per_usd: how much of it one US dollar buys; 0 forgets the rate
 * @as_of: (nullable): of which day, ISO 8601
 *
 * Returns: whether that can be, and was kept
 */
gboolean
qm_preferences_set_rate (GSettings  *settings,
                         const char *currency,
                         double      per_usd,
                         const char *as_of)
{
  g_autoptr (GVariant) rates = g_settings_get_value (settings, RATES);
  g_autoptr (GVariantDict) dictionary = NULL;
  GVariantBuilder builder;
  GVariantIter iter;
  const char *name, *date;
  double rate;

  if (!is_currency (currency) || (per_usd != 0 && !is_sound_rate (per_usd)) ||
      (as_of != NULL && as_of[0] != '\0' && !qm_vocabulary_is_date (as_of)))
    return FALSE;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a{s(ds)}"));
  g_variant_iter_init (&iter, rates);
  while (g_variant_iter_next (&iter, "{&s(d&s)}", &name, &rate, &date))
    if (strcmp (name, currency) != 0)
      g_variant_builder_add (&builder, "{s(ds)}", name, rate, date);
  if (per_usd != 0)
    g_variant_builder_add (&builder, "{s(ds)}", currency, per_usd, as_of != NULL ? as_of : "");

  return g_settings_set_value (settings, RATES, g_variant_builder_end (&builder));
}

/* ----------------------------------------------------------------------- for a plan */

/**
 * qm_preferences_carbon:
 * @settings: (nullable): the preferences
 * @economics: the figures of the catalog
 *
 * Returns: kilograms of CO2 for a kilowatt-hour of the person's own electricity;
 *   NaN where they said neither that nor the country
 */
double
qm_preferences_carbon (GSettings         *settings,
                       const QmEconomics *economics)
{
  g_autofree char *country = NULL;
  double own;

  if (settings == NULL)
    return NAN;

  own = g_settings_get_double (settings, "carbon-intensity");
  country = g_settings_get_string (settings, "carbon-country");
  return own >= 0 ? own : qm_economics_carbon_of (economics, country);
}

static void
fill (double *answer,
      double  value)
{
  if (isnan (*answer))
    *answer = value;
}

/**
 * qm_preferences_fill_currency:
 * @settings: (nullable): the preferences
 * @plan: (inout): a plan
 *
 * Money that is still to be said is in the currency of the preferences. A limit
 * of money without a currency means US dollars, here and elsewhere.
 */
void
qm_preferences_fill_currency (GSettings *settings,
                              QmPlan    *plan)
{
  g_autofree char *currency = settings != NULL ? g_settings_get_string (settings, "currency") : g_strdup ("");

  if (plan->limits.currency[0] == '\0' && isnan (plan->limits.money) && is_currency (currency))
    g_strlcpy (plan->limits.currency, currency, sizeof plan->limits.currency);
}

static void
fill_electricity (GSettings         *settings,
                  const QmEconomics *economics,
                  QmPlan            *plan)
{
  g_autofree char *currency = g_settings_get_string (settings, "electricity-currency");
  double price = g_settings_get_double (settings, "electricity-price"), from, to;
  QmEconomics applied;

  if (price < 0 || !isnan (plan->costs.electricity_per_kwh))
    return;

  qm_economics_apply (economics, plan, &applied);
  if (!qm_preferences_get_rate (settings, currency, &from, NULL))
    from = qm_economics_per_usd (economics, currency);
  to = qm_economics_per_usd (&applied, qm_plan_get_currency (plan));
  if (strcmp (currency, qm_plan_get_currency (plan)) == 0)
    plan->costs.electricity_per_kwh = price;
  else if (isfinite (price / from * to))
    plan->costs.electricity_per_kwh = price / from * to;
}

/**
 * qm_preferences_fill_plan:
 * @settings: (nullable): the preferences
 * @economics: the figures of the catalog
 * @plan: (inout): a plan; what it says itself stays as it is
 *
 * Completes a plan by what the person said once for all.
 */
void
qm_preferences_fill_plan (GSettings         *settings,
                          const QmEconomics *economics,
                          QmPlan            *plan)
{
  g_autofree char *as_of = NULL;
  double per_usd, cooling;

  if (settings == NULL)
    return;

  qm_preferences_fill_currency (settings, plan);
  if (isnan (plan->costs.currency_per_usd) && qm_preferences_get_rate (settings, qm_plan_get_currency (plan), &per_usd, &as_of))
    {
      plan->costs.currency_per_usd = per_usd;
      qm_word_set (plan->costs.currency_as_of, as_of);
    }
  fill_electricity (settings, economics, plan);
  fill (&plan->costs.carbon_kg_per_kwh, qm_preferences_carbon (settings, economics));
  cooling = g_settings_get_double (settings, "cooling-factor");
  if (cooling > 1)
    fill (&plan->costs.cooling_factor, cooling);
  /* The usual is no answer, so that it is still said to be assumed. */
  if (g_settings_get_double (settings, "headroom") != 0.2)
    fill (&plan->limits.headroom, g_settings_get_double (settings, "headroom"));
  if (g_settings_get_double (settings, "marginal-points") != 0.5)
    fill (&plan->limits.marginal_points, g_settings_get_double (settings, "marginal-points"));
}
