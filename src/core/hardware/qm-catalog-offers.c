/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>

#include "qm-catalog-private.h"

#define GIB (1024.0 * 1024.0 * 1024.0)
#define GIGA 1e9

/* The accelerator; where there is none, the host processor; where that is not
 * known either, the unknown one. */
static const QmDevice *
read_device (QmCatalog *self,
             QmRecord  *record,
             double    *count)
{
  const char *accelerator = qm_record_string (record, "device");
  const char *host = qm_record_string (record, "host_cpu");
  const char *field = accelerator != NULL ? "device" : "host_cpu";
  const char *id = accelerator != NULL ? accelerator : host;
  const QmDevice *device;
  const char *nearest;

  *count = qm_record_number (record, "device_count", 1);
  if (record->failed || id == NULL)
    return self->unknown_device;

  device = g_hash_table_lookup (self->devices_by_id, id);
  if (device != NULL)
    return device;

  nearest = qm_catalog_nearest_id (self, "device", id);
  qm_record_fail (record, QM_CATALOG_ERROR_REFERENCE, field, N_("“{word}” is no device of the catalog; the nearest is “{nearest}”"),
                  "word", id, "nearest", nearest != NULL ? nearest : "", NULL);
  return NULL;
}

static void
read_prices (QmCatalog *self,
             QmRecord  *record,
             QmOffer   *offer)
{
  offer->on_demand_usd_per_hour = qm_record_number (record, "on_demand_usd_per_hour", NAN);
  offer->spot_usd_per_hour = qm_record_number (record, "spot_usd_per_hour", NAN);
  offer->price_status = qm_record_string (record, "price_status");
  offer->as_of = qm_record_string (record, "as_of");
  offer->spot_as_of = qm_record_string (record, "spot_as_of");
  if (offer->spot_as_of == NULL && !isnan (offer->spot_usd_per_hour))
    offer->spot_as_of = offer->as_of;
  offer->source = qm_record_source (record, "source", NULL);
  offer->note = qm_record_string (record, "note");
  if (offer->source == NULL)
    qm_record_fail (record, QM_CATALOG_ERROR_MISSING, "source", N_("is missing"), NULL);
  qm_record_source (record, "spot_source", NULL);
}

static const char *
name_of_provider (QmCatalog  *self,
                  const char *id)
{
  JsonNode *table = qm_catalog_table (self, "providers");
  JsonObject *root = table != NULL && JSON_NODE_HOLDS_OBJECT (table) ? json_node_get_object (table) : NULL;
  JsonNode *names = root != NULL ? json_object_get_member (root, "names") : NULL;
  JsonNode *name = names != NULL && JSON_NODE_HOLDS_OBJECT (names) && id != NULL ? json_object_get_member (json_node_get_object (names), id) : NULL;

  return name != NULL && JSON_NODE_HOLDS_VALUE (name) && json_node_get_string (name) != NULL ? json_node_get_string (name) : id;
}

static gboolean
read_offer (QmCatalog *self,
            QmRecord  *record,
            QmOffer   *offer)
{
  offer->id = qm_record_require_string (record, "id");
  offer->provider = qm_record_require_string (record, "provider");
  offer->provider_name = name_of_provider (self, offer->provider);
  offer->instance = qm_record_require_string (record, "instance");
  offer->region = qm_record_string (record, "region");
  offer->kind = qm_record_string (record, "kind");
  offer->intra_node = qm_record_string (record, "intra_node");
  offer->device = read_device (self, record, &offer->device_count);
  offer->vcpus = qm_record_number (record, "vcpus", 0);
  offer->ram_bytes = qm_record_number (record, "ram_gib", 0) * GIB;
  offer->local_disk_bytes = qm_record_number (record, "local_disk_gb", 0) * GIGA;
  offer->network_bits_per_second = qm_record_number (record, "network_gbit_per_second", 0) * GIGA;
  read_prices (self, record, offer);

  return !record->failed;
}

static gboolean
add_offer (QmCatalog *self,
           QmRecord  *record,
           QmOffer   *offer)
{
  QmOffer *before = g_hash_table_lookup (self->offers_by_id, offer->id);
  guint place;

  if (before != NULL && !record->file->is_users)
    {
      qm_record_fail (record, QM_CATALOG_ERROR_DUPLICATE, "id", N_("“{word}” is there twice"), "word", offer->id, NULL);
      return FALSE;
    }

  g_hash_table_replace (self->offers_by_id, (char *) offer->id, offer);
  if (before != NULL && g_ptr_array_find (self->offers, before, &place))
    self->offers->pdata[place] = offer;
  else
    g_ptr_array_add (self->offers, offer);
  return TRUE;
}

/**
 * qm_catalog_load_offers:
 * @self: a catalog whose devices are all loaded
 * @file: a file of the format "quartermaster-offers"
 * @error: return location
 *
 * Adds the offers of @file; those of a user's file take the place of others
 * with the same id.
 *
 * Returns: whether all records are sound
 */
gboolean
qm_catalog_load_offers (QmCatalog      *self,
                        QmCatalogFile  *file,
                        GError        **error)
{
  JsonArray *records = qm_catalog_file_records (file, "offers", error);

  if (records == NULL)
    return FALSE;

  for (guint i = 0; i < json_array_get_length (records); i++)
    {
      QmOffer *offer = g_new0 (QmOffer, 1);
      QmRecord record;

      g_ptr_array_add (self->allocations, offer);
      if (!qm_record_open (&record, file, "offers", i, json_array_get_element (records, i), error)
          || !read_offer (self, &record, offer)
          || !add_offer (self, &record, offer))
        return FALSE;
    }
  return TRUE;
}
