/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "qm-launch-private.h"

/* A task of SkyPilot may run on any of several clouds: on the machine of the
 * choice, or on the same devices of another that the plan allows. */

static gboolean
is_allowed (const QmPlan *plan,
            const char   *provider)
{
  for (int i = 0; i < plan->places.cloud.n; i++)
    if (strcmp (plan->places.cloud.words[i], provider) == 0)
      return TRUE;

  return plan->places.cloud.n < 0;
}

static gboolean
is_offered (QmCatalog  *catalog,
            const char *provider,
            const char *device,
            int         count)
{
  for (guint i = 0; i < qm_catalog_n_offers (catalog); i++)
    {
      const QmOffer *offer = qm_catalog_offer (catalog, i);

      if (strcmp (offer->provider, provider) == 0 && offer->device != NULL && strcmp (offer->device->id, device) == 0 && offer->device_count == count)
        return TRUE;
    }

  return FALSE;
}

/* What SkyPilot calls the device. */
static const char *
find_accelerator (QmCatalog  *catalog,
                  const char *id)
{
  JsonNode *table = qm_catalog_table (catalog, "devices");
  JsonArray *rows = table != NULL ? json_object_get_array_member (json_node_get_object (table), "devices") : NULL;

  for (guint i = 0; rows != NULL && i < json_array_get_length (rows); i++)
    {
      JsonObject *row = json_array_get_object_element (rows, i);
      JsonObject *names;

      if (strcmp (json_object_get_string_member (row, "id"), id) != 0 || !json_object_has_member (row, "catalog_names"))
        continue;
      names = json_object_get_object_member (row, "catalog_names");
      return json_object_has_member (names, "skypilot")
               ? json_array_get_string_element (json_object_get_array_member (names, "skypilot"), 0) : NULL;
    }

  return NULL;
}

/* A list of words in the table of software. */
static JsonArray *
list_words (QmCatalog  *catalog,
            const char *group,
            const char *name)
{
  JsonNode *table = qm_catalog_table (catalog, "software");

  return table != NULL ? json_object_get_array_member (json_object_get_object_member (json_node_get_object (table), group), name) : NULL;
}

static gboolean
has_word (JsonArray  *list,
          const char *word)
{
  for (guint i = 0; list != NULL && i < json_array_get_length (list); i++)
    if (strcmp (json_array_get_string_element (list, i), word) == 0)
      return TRUE;

  return FALSE;
}

/* The clouds that SkyPilot knows. */
static JsonArray *
list_clouds (QmCatalog *catalog)
{
  return list_words (catalog, "skypilot_clouds", "clouds");
}

/* Several machines that work on one job or one copy: whether the provider puts them close together, and
 * whether more than its usual network is between them. Google's machines with
 * cards that are attached cannot be placed. */
static void
add_network (JsonObject     *values,
             QmCatalog      *catalog,
             gboolean        training,
             const QmChoice *choice)
{
  const char *instance = choice->offer != NULL ? choice->offer->instance : "";
  const char *provider = choice->offer != NULL ? choice->offer->provider : "";
  g_auto (GStrv) series = g_strsplit (instance, "-", 2);
  const QmConfiguration *c = &choice->estimate.configuration;
  int per_machine = MAX (1, c->devices) / MAX (1, choice->machines);
  int copy = MAX (1, c->tensor_parallel) * MAX (1, c->pipeline_parallel);
  gboolean linked = choice->machines > 1 && (training || copy > MAX (1, per_machine));
  int apart = MAX (1, (int) ceil ((double) copy / MAX (1, per_machine)));

  qm_launch_set_flag (values, "linked", linked);
  qm_launch_set_flag (values, "gpudirect", linked && has_word (list_words (catalog, "gcp_gpudirect", "instances"), instance));
  qm_launch_set_flag (values, "close_together", linked && instance[0] != '\0' && strchr (instance, '+') == NULL);
  qm_launch_set_flag (values, "fast_network", linked && has_word (list_words (catalog, "skypilot_clouds", "fast_networks"), provider));
  qm_launch_set_flag (values, "slow_disk", has_word (list_words (catalog, "gcp_slow_disks", "series"), series[0] != NULL ? series[0] : ""));
  qm_launch_set_count (values, "nodes_per_copy", apart);
  qm_launch_set_count (values, "service_replicas", MAX (1, choice->machines / apart));
}

/**
 * qm_launch_add_clouds:
 * @values: what templates can use
 * @catalog: a catalog
 * @plan: a plan
 * @choice: one of its choices
 *
 * Adds the clouds that SkyPilot may use: "cloud", that of the choice where
 * SkyPilot knows it, and whether another has the same devices; and how several
 * machines are brought together: "linked", "close_together",
 * "gpudirect", "fast_network"; how many a copy of a service takes; and
 * "slow_disk", where Google would give magnetic disks.
 */
void
qm_launch_add_clouds (JsonObject     *values,
                      QmCatalog      *catalog,
                      const QmPlan   *plan,
                      const QmChoice *choice)
{
  JsonArray *clouds = list_clouds (catalog);
  const QmDevice *device = choice->estimate.device;
  const char *provider = choice->offer != NULL ? choice->offer->provider : "";
  const char *accelerator = find_accelerator (catalog, device->id);
  int count = MAX (1, choice->estimate.configuration.devices) / MAX (1, choice->machines);

  add_network (values, catalog, qm_plan_is_training (plan), choice);
  qm_launch_set_text (values, "cloud", "");
  qm_launch_set_flag (values, "sky_cloud", FALSE);
  qm_launch_set_text (values, "accelerator", accelerator);
  for (guint i = 0; clouds != NULL && i < json_array_get_length (clouds); i++)
    {
      const char *cloud = json_array_get_string_element (clouds, i);
      g_autofree char *flag = g_strconcat ("also_", cloud, NULL);
      gboolean other = strcmp (provider, cloud) != 0;

      if (!other)
        {
          qm_launch_set_text (values, "cloud", provider);
          qm_launch_set_flag (values, "sky_cloud", TRUE);
        }
      qm_launch_set_flag (values, flag, other && accelerator != NULL && is_allowed (plan, cloud) &&
                                        is_offered (catalog, cloud, device->id, count));
    }
}

/**
 * qm_launcher_providers:
 * @self: a launcher
 * @format: the id of a format
 * @catalog: a catalog
 *
 * Returns: (transfer full) (nullable): the providers whose machines alone the
 *   format starts; %NULL where it starts any
 */
GStrv
qm_launcher_providers (QmLauncher *self,
                       const char *format,
                       QmCatalog  *catalog)
{
  JsonArray *conditions = qm_launcher_get_conditions (self, format);
  JsonArray *clouds = list_clouds (catalog);
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  gboolean bound = FALSE;

  for (guint i = 0; conditions != NULL && i < json_array_get_length (conditions); i++)
    {
      JsonObject *condition = json_array_get_object_element (conditions, i);
      const char *value = json_object_get_string_member (condition, "value");

      if (strcmp (value, "provider") == 0)
        g_strv_builder_add (builder, json_object_get_string_member (condition, "is"));
      for (guint j = 0; strcmp (value, "sky_cloud") == 0 && clouds != NULL && j < json_array_get_length (clouds); j++)
        g_strv_builder_add (builder, json_array_get_string_element (clouds, j));
      bound = bound || strcmp (value, "provider") == 0 || strcmp (value, "sky_cloud") == 0;
    }

  return bound ? g_strv_builder_end (builder) : NULL;
}
