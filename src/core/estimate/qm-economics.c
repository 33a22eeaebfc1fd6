/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-economics.h"

#include <glib/gi18n.h>
#include <math.h>

#include "hardware/qm-catalog.h"
#include "qm-enum.h"
#include "qm-enum-types.h"
#include "qm-error.h"

typedef struct {
  const char *key;
  gsize offset;
  double fallback;                  /* of a person's own file that lacks it; NaN: must be there */
} Figure;

#define FIGURE(name) { #name, G_STRUCT_OFFSET (QmEconomics, name), NAN }
#define FIGURE_OR(name, fallback) { #name, G_STRUCT_OFFSET (QmEconomics, name), fallback }

static const Figure figures[] = {
  FIGURE (electricity_usd_per_kwh),
  FIGURE (carbon_kg_per_kwh),
  FIGURE (power_share),
  FIGURE (host_watts),
  FIGURE (amortisation_months),
  FIGURE (hours_per_month),
  FIGURE (start_up_seconds),
  FIGURE (idle_hours),
  FIGURE (oldest_sold_year),
  FIGURE (small_money_usd),
  FIGURE (small_hours),
  FIGURE (weight_of_time),
  FIGURE (weight_of_point),
  FIGURE (hurdle_devices),
  FIGURE (hurdle_machines),
  FIGURE (hurdle_replicas),
  FIGURE (hurdle_stack),
  FIGURE (hurdle_framework),
  FIGURE (hurdle_old),
  FIGURE (hurdle_arm_host),
  FIGURE (hurdle_spot),
  FIGURE (hurdle_marketplace),
  FIGURE (hurdle_small_provider),
  FIGURE (hurdle_purchase),
  FIGURE (hurdle_home_service),
  FIGURE (hurdle_unreliable_service),
  FIGURE (hurdle_gpu_service),
  FIGURE (hurdle_gpu_table),
  FIGURE (hurdle_offload),
  FIGURE (hurdle_late),
  FIGURE (hurdle_tight),
  FIGURE (hurdle_there),
  FIGURE (hurdle_change),
  FIGURE (spot_interruptions_per_hour),
  FIGURE (checkpoint_seconds),
  FIGURE (restart_seconds),
  FIGURE (mean_hours_between_failures),
  FIGURE (prototype_share),
  FIGURE (prototype_runs),
  FIGURE (development_runs),
  FIGURE_OR (idle_power_share, 0.15),
  FIGURE_OR (cooling_factor, 1),
  FIGURE_OR (resale_share, 0),
  FIGURE_OR (stale_months, 6),
  FIGURE_OR (boot_seconds, 120),
  FIGURE_OR (image_bytes_per_second, 35e6),
  FIGURE_OR (start_spread, 2),
};

static void
refuse (GError     **error,
        const char  *path,
        const char  *msgid)
{
  qm_error_set (error, QM_CATALOG_ERROR, QM_CATALOG_ERROR_MISSING, path, msgid, NULL);
  if (error != NULL)
    qm_error_locate (*error, "economics.json", 0);
}

static gboolean
read_figures (QmEconomics  *self,
              JsonObject   *root,
              GError      **error)
{
  JsonObject *table = json_object_has_member (root, "figures") ? json_object_get_object_member (root, "figures") : NULL;

  for (guint i = 0; i < G_N_ELEMENTS (figures); i++)
    {
      JsonObject *figure = table != NULL && json_object_has_member (table, figures[i].key)
                             ? json_object_get_object_member (table, figures[i].key) : NULL;
      double value = figure != NULL ? json_object_get_double_member_with_default (figure, "value", NAN) : figures[i].fallback;

      if (!isfinite (value))
        {
          g_autofree char *path = g_strdup_printf ("figures.%s.value", figures[i].key);

          refuse (error, path, N_("a number is expected"));
          return FALSE;
        }
      G_STRUCT_MEMBER (double, self, figures[i].offset) = value;
    }

  return TRUE;
}

static guint
class_bits (JsonArray *words)
{
  guint bits = 0;

  for (guint i = 0; words != NULL && i < json_array_get_length (words); i++)
    {
      int value;

      if (qm_enum_from_word (QM_TYPE_DEVICE_CLASS, json_array_get_string_element (words, i), &value))
        bits |= 1u << value;
    }

  return bits;
}

static gboolean
read_hosts (QmEconomics  *self,
            JsonObject   *root,
            GError      **error)
{
  JsonArray *hosts = json_object_has_member (root, "hosts") ? json_object_get_array_member (root, "hosts") : NULL;
  guint n = hosts != NULL ? json_array_get_length (hosts) : 0;

  if (n == 0 || n > QM_MAX_HOSTS)
    {
      refuse (error, "hosts", N_("1 to 16 are expected"));
      return FALSE;
    }

  for (guint i = 0; i < n; i++)
    {
      JsonObject *host = json_array_get_object_element (hosts, i);

      if (!json_object_has_member (host, "classes"))
        {
          refuse (error, "hosts", N_("every host names the classes of devices it is for"));
          return FALSE;
        }
      self->hosts[i].classes = class_bits (json_object_get_array_member (host, "classes"));
      self->hosts[i].up_to_devices = json_object_get_int_member_with_default (host, "up_to_devices", 1);
      self->hosts[i].usd = json_object_get_double_member_with_default (host, "usd", 0);
      self->hosts[i].ram_bytes = json_object_get_double_member_with_default (host, "ram_gib", 0) * 1073741824.0;
    }
  self->n_hosts = n;

  return TRUE;
}

static void
read_starts (QmEconomics *self,
             JsonObject  *root)
{
  JsonArray *starts = json_object_has_member (root, "starts") ? json_object_get_array_member (root, "starts") : NULL;

  for (guint i = 0; starts != NULL && i < MIN (json_array_get_length (starts), QM_MAX_STARTS); i++)
    {
      JsonObject *start = json_array_get_object_element (starts, i);

      if (!json_object_has_member (start, "engines"))
        continue;

      self->starts[self->n_starts++] = (QmEngineStart) {
        .engines = json_array_ref (json_object_get_array_member (start, "engines")),
        .image_bytes = json_object_get_double_member_with_default (start, "image_bytes", 0),
        .seconds = json_object_get_double_member_with_default (start, "seconds", 0),
        .seconds_per_layer = json_object_get_double_member_with_default (start, "seconds_per_layer", 0),
      };
    }
}

/* Prices are multiplied by it. */
static gboolean
is_rate (JsonNode *node)
{
  GType type = JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : G_TYPE_INVALID;

  return (type == G_TYPE_INT64 || type == G_TYPE_DOUBLE) && json_node_get_double (node) > 0 && json_node_get_double (node) < 1e12;
}

static gboolean
check_rates (JsonObject  *rates,
             GError     **error)
{
  g_autoptr (GList) names = json_object_get_members (rates);

  for (GList *l = names; l != NULL; l = l->next)
    if (!is_rate (json_object_get_member (rates, l->data)))
      {
        g_autofree char *path = g_strconcat ("currencies.per_usd.", l->data, NULL);

        refuse (error, path, N_("a rate above 0 is expected"));
        return FALSE;
      }

  return TRUE;
}

static gboolean
read_currencies (QmEconomics  *self,
                 JsonObject   *root,
                 GError      **error)
{
  JsonObject *currencies = json_object_has_member (root, "currencies")
                             ? json_object_get_object_member (root, "currencies") : NULL;

  if (currencies == NULL || !json_object_has_member (currencies, "per_usd"))
    {
      refuse (error, "currencies.per_usd", N_("an object of rates is expected"));
      return FALSE;
    }

  self->currencies = json_object_ref (json_object_get_object_member (currencies, "per_usd"));
  if (!check_rates (self->currencies, error))
    return FALSE;
  if (json_object_has_member (root, "large_providers"))
    self->large_providers = json_array_ref (json_object_get_array_member (root, "large_providers"));
  self->currencies_as_of = g_strdup (json_object_get_string_member_with_default (currencies, "as_of", ""));
  self->currencies_source = g_strdup (json_object_get_string_member_with_default (currencies, "source", ""));
  if (json_object_has_member (root, "egress"))
    self->egress = json_object_ref (json_object_get_object_member (json_object_get_object_member (root, "egress"), "usd_per_gb"));
  return TRUE;
}

/**
 * qm_economics_new:
 * @node: (nullable): the content of `economics.json`
 * @error: return location for an error of %QM_CATALOG_ERROR
 *
 * Returns: (transfer full): the figures, or %NULL with @error set that names
 *   the field that is wrong
 */
QmEconomics *
qm_economics_new (JsonNode  *node,
                  GError   **error)
{
  g_autoptr (QmEconomics) self = g_new0 (QmEconomics, 1);
  JsonObject *root;

  if (node == NULL || !JSON_NODE_HOLDS_OBJECT (node))
    {
      refuse (error, NULL, N_("an object is expected"));
      return NULL;
    }

  root = json_node_get_object (node);
  self->own_carbon_kg_per_kwh = self->egress_usd_per_gb = self->use_hours_per_month = self->device_price_usd = NAN;
  if (!read_figures (self, root, error) || !read_hosts (self, root, error) || !read_currencies (self, root, error))
    return NULL;
  read_starts (self, root);

  return g_steal_pointer (&self);
}

/**
 * qm_economics_free:
 * @self: (transfer full) (nullable): the figures
 */
void
qm_economics_free (QmEconomics *self)
{
  if (self == NULL)
    return;

  g_clear_pointer (&self->currencies, json_object_unref);
  g_clear_pointer (&self->large_providers, json_array_unref);
  for (int i = 0; i < self->n_starts; i++)
    json_array_unref (self->starts[i].engines);
  g_clear_pointer (&self->egress, json_object_unref);
  g_clear_pointer (&self->carbon, json_object_unref);
  g_free (self->currencies_as_of);
  g_free (self->currencies_source);
  g_free (self);
}

/**
 * qm_economics_host:
 * @self: the figures
 * @device: what is bought
 * @devices: how many of it, in one computer
 *
 * Returns: (transfer none) (nullable): the computer around the devices, the
 *   smallest that holds them; %NULL where none does
 */
const QmHost *
qm_economics_host (const QmEconomics *self,
                   const QmDevice    *device,
                   int                devices)
{
  for (int i = 0; i < self->n_hosts; i++)
    {
      const QmHost *host = &self->hosts[i];

      if ((host->classes & (1u << device->device_class)) != 0 && devices <= host->up_to_devices)
        return host;
    }

  return NULL;
}

/**
 * qm_economics_start:
 * @self: the figures
 * @engine: word of an engine; "" none
 *
 * Returns: (transfer none) (nullable): how it starts
 */
const QmEngineStart *
qm_economics_start (const QmEconomics *self,
                    const char        *engine)
{
  for (int i = 0; i < self->n_starts; i++)
    for (guint k = 0; k < json_array_get_length (self->starts[i].engines); k++)
      if (g_strcmp0 (json_array_get_string_element (self->starts[i].engines, k), engine) == 0)
        return &self->starts[i];

  return self->n_starts > 0 ? &self->starts[self->n_starts - 1] : NULL;
}

/**
 * qm_economics_is_large_provider:
 * @self: the figures
 * @provider: id of a provider
 *
 * Returns: whether most organisations have an account there
 */
gboolean
qm_economics_is_large_provider (const QmEconomics *self,
                                const char        *provider)
{
  for (guint i = 0; self->large_providers != NULL && i < json_array_get_length (self->large_providers); i++)
    if (g_strcmp0 (json_array_get_string_element (self->large_providers, i), provider) == 0)
      return TRUE;

  return FALSE;
}
