/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "estimate/qm-economics.h"
#include "hardware/qm-catalog.h"
#include "qm-error.h"

#define BYTES_PER_GB    1e9
#define GRAMS_PER_KG    1000.0

/* Intensities are figures, or the name of a region or country that has one. */
#define MOST_LINKS 3

/* ------------------------------------------------------------------------- money */

/**
 * qm_economics_rate:
 * @self: the figures
 * @currency: an ISO 4217 code
 * @rate: (out caller-allocates): how much of it one US dollar buys
 *
 * Returns: whether a rate is known; one of the person's own comes first
 */
gboolean
qm_economics_rate (const QmEconomics *self,
                   const char        *currency,
                   QmExchangeRate    *rate)
{
  if (g_strcmp0 (self->own_currency, currency) == 0)
    {
      *rate = (QmExchangeRate) { self->own_per_usd, self->own_rate_as_of, NULL };
      return TRUE;
    }
  if (!json_object_has_member (self->currencies, currency))
    return FALSE;

  *rate = (QmExchangeRate) { json_object_get_double_member (self->currencies, currency), self->currencies_as_of,
                             self->currencies_source };
  return TRUE;
}

/**
 * qm_economics_per_usd:
 * @self: the figures
 * @currency: an ISO 4217 code
 *
 * Returns: how much of @currency one US dollar buys; NaN where no rate is known
 */
double
qm_economics_per_usd (const QmEconomics *self,
                      const char        *currency)
{
  QmExchangeRate rate;

  return qm_economics_rate (self, currency, &rate) ? rate.per_usd : NAN;
}

/**
 * qm_economics_egress:
 * @self: the figures
 * @provider: id of a provider
 *
 * Returns: US dollars for a GB that leaves its network, the first terabytes of
 *   a month; NaN where it is not known
 */
double
qm_economics_egress (const QmEconomics *self,
                     const char        *provider)
{
  if (!isnan (self->egress_usd_per_gb))
    return self->egress_usd_per_gb;

  return self->egress != NULL && json_object_has_member (self->egress, provider)
           ? json_object_get_double_member (self->egress, provider) : NAN;
}

/* ------------------------------------------------------------------------ carbon */

static gboolean
is_intensity (JsonNode *node)
{
  GType type = JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : G_TYPE_INVALID;

  return (type == G_TYPE_INT64 || type == G_TYPE_DOUBLE) && json_node_get_double (node) >= 0 && json_node_get_double (node) < 5000;
}

static gboolean
check_intensities (JsonObject  *root,
                   const char  *section,
                   gboolean     may_link,
                   GError     **error)
{
  JsonNode *node = json_object_get_member (root, section);
  g_autoptr (GList) names = NULL;

  if (node == NULL || !JSON_NODE_HOLDS_OBJECT (node))
    {
      qm_error_set (error, QM_CATALOG_ERROR, QM_CATALOG_ERROR_MISSING, section, N_("an object is expected"), NULL);
      return FALSE;
    }

  names = json_object_get_members (json_node_get_object (node));
  for (GList *l = names; l != NULL; l = l->next)
    {
      JsonNode *value = json_object_get_member (json_node_get_object (node), l->data);
      gboolean link = JSON_NODE_HOLDS_VALUE (value) && json_node_get_value_type (value) == G_TYPE_STRING;

      if (!is_intensity (value) && !(may_link && link))
        {
          g_autofree char *path = g_strconcat (section, ".", l->data, NULL);

          qm_error_set (error, QM_CATALOG_ERROR, QM_CATALOG_ERROR_VALUE, path, N_("grams of CO2 for each kWh are expected, 0 to 5000"), NULL);
          return FALSE;
        }
    }

  return TRUE;
}

/**
 * qm_economics_set_carbon:
 * @self: the figures
 * @node: (nullable): the content of `carbon.json`; %NULL for none
 * @error: return location for an error of %QM_CATALOG_ERROR
 *
 * Returns: whether the table is sound
 */
gboolean
qm_economics_set_carbon (QmEconomics  *self,
                         JsonNode     *node,
                         GError      **error)
{
  JsonObject *root = node != NULL && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;

  if (root == NULL)
    return TRUE;
  if (!check_intensities (root, "countries", FALSE, error) || !check_intensities (root, "regions", TRUE, error))
    {
      if (error != NULL)
        qm_error_locate (*error, "carbon.json", 0);
      return FALSE;
    }

  g_clear_pointer (&self->carbon, json_object_unref);
  self->carbon = json_object_ref (root);
  return TRUE;
}

/**
 * qm_economics_carbon_of:
 * @self: the figures
 * @country: its ISO 3166 code of two letters
 *
 * Returns: kilograms of CO2 equivalent for a kilowatt-hour there; NaN unknown
 */
double
qm_economics_carbon_of (const QmEconomics *self,
                        const char        *country)
{
  JsonObject *countries = self->carbon != NULL ? json_object_get_object_member (self->carbon, "countries") : NULL;

  return countries != NULL && json_object_has_member (countries, country)
           ? json_object_get_double_member (countries, country) / GRAMS_PER_KG : NAN;
}

/* Of a region, by the links of the table; what is no region may be a country. */
static double
carbon_of_region (const QmEconomics *self,
                  const char        *name,
                  QmCarbonBasis     *basis)
{
  JsonObject *regions = json_object_get_object_member (self->carbon, "regions");

  for (int i = 0; i < MOST_LINKS; i++)
    {
      JsonNode *node = json_object_get_member (regions, name);

      *basis = QM_CARBON_COUNTRY;
      if (node == NULL)
        return qm_economics_carbon_of (self, name);
      *basis = QM_CARBON_REGION;
      if (json_node_get_value_type (node) != G_TYPE_STRING)
        return json_node_get_double (node) / GRAMS_PER_KG;
      name = json_node_get_string (node);
    }

  return NAN;
}

/**
 * qm_economics_carbon:
 * @self: the figures, with what the plan adds
 * @offer: (nullable): what is rented; %NULL for a machine of the person
 * @basis: (out): what the figure is of
 *
 * Returns: kilograms of CO2 equivalent for a kilowatt-hour where the machine
 *   stands, of the world where that is not known
 */
double
qm_economics_carbon (const QmEconomics *self,
                     const QmOffer     *offer,
                     QmCarbonBasis     *basis)
{
  double found = NAN;

  if (offer == NULL && !isnan (self->own_carbon_kg_per_kwh))
    {
      *basis = QM_CARBON_OWN;
      return self->own_carbon_kg_per_kwh;
    }
  if (offer != NULL && offer->region != NULL && self->carbon != NULL)
    {
      g_autofree char *name = g_strdup_printf ("%s/%s", offer->provider, offer->region);

      found = carbon_of_region (self, name, basis);
      if (isnan (found))
        found = carbon_of_region (self, offer->region, basis);
    }
  if (!isnan (found))
    return found;

  *basis = QM_CARBON_WORLD;
  return self->carbon_kg_per_kwh;
}

/* ---------------------------------------------------------------------- of a plan */

static void
replace (double *figure,
         double  own,
         double  factor)
{
  if (!isnan (own))
    *figure = own * factor;
}

/* Once through the data: they are brought once, and read again where they lie. */
static double
data_bytes (const QmPlan *plan)
{
  double samples = qm_plan_is_training (plan) ? plan->training.samples : plan->serving.samples;

  return plan->data.bytes_per_sample > 0 ? samples * plan->data.bytes_per_sample : 0;
}

/* Data in a store of the cloud are there already. */
static double
seconds_to_upload (const QmPlan *plan)
{
  const QmCosts *costs = &plan->costs;
  gboolean there = plan->data.storage == QM_STORAGE_OBJECT_STORE || plan->data.storage == QM_STORAGE_NETWORK;
  double bytes = !isnan (costs->upload_bytes) ? costs->upload_bytes : there ? 0 : data_bytes (plan);

  return isnan (costs->upload_bits_per_second) ? 0 : bytes * 8 / costs->upload_bits_per_second;
}

static void
apply_rate (QmEconomics  *applied,
            const QmPlan *plan)
{
  if (isnan (plan->costs.currency_per_usd))
    return;

  applied->own_currency = qm_plan_get_currency (plan);
  applied->own_rate_as_of = plan->costs.currency_as_of;
  applied->own_per_usd = plan->costs.currency_per_usd;
}

/**
 * qm_economics_apply:
 * @self: the figures of the catalog
 * @plan: a plan, which must live as long as @applied is used
 * @applied: (out caller-allocates): the same with what the plan says of money
 *   and power; it borrows from both and is not to be freed
 */
void
qm_economics_apply (const QmEconomics *self,
                    const QmPlan      *plan,
                    QmEconomics       *applied)
{
  const QmCosts *costs = &plan->costs;
  double usd;

  *applied = *self;
  apply_rate (applied, plan);
  usd = 1 / qm_economics_per_usd (applied, qm_plan_get_currency (plan));
  replace (&applied->electricity_usd_per_kwh, costs->electricity_per_kwh, usd);
  replace (&applied->own_carbon_kg_per_kwh, costs->carbon_kg_per_kwh, 1);
  replace (&applied->cooling_factor, costs->cooling_factor, 1);
  replace (&applied->committed_discount, costs->committed_discount, 1);
  replace (&applied->storage_usd_per_gb_month, costs->storage_per_gb_month, usd);
  replace (&applied->egress_usd_per_gb, costs->egress_per_gb, usd);
  replace (&applied->spot_interruptions_per_hour, costs->interruptions_per_hour, 1);
  replace (&applied->checkpoint_seconds, costs->checkpoint_seconds, 1);
  replace (&applied->restart_seconds, costs->restart_seconds, 1);
  replace (&applied->device_price_usd, costs->device_price, usd);
  replace (&applied->resale_share, costs->resale_share, 1);
  replace (&applied->amortisation_months, costs->lifetime_months, 1);
  replace (&applied->use_hours_per_month, costs->use_hours_per_month, 1);
  applied->stored_gb = (isnan (costs->stored_bytes) ? data_bytes (plan) : costs->stored_bytes) / BYTES_PER_GB;
  applied->sent_gb = isnan (costs->sent_bytes) ? 0 : costs->sent_bytes / BYTES_PER_GB;

  applied->failed_seconds = isnan (costs->failed_starts) ? 0 : costs->failed_starts * self->start_up_seconds;
  applied->upload_seconds = seconds_to_upload (plan);
  applied->start_up_seconds += applied->failed_seconds + applied->upload_seconds;
  if (isnan (costs->idle_hours))
    return;
  /* What the person says is in the cost, and no longer a mere risk. */
  applied->paid_idle_hours = costs->idle_hours;
  applied->idle_hours = 0;
}
