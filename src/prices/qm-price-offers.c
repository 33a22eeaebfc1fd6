/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "qm-error.h"
#include "qm-json-writer.h"
#include "qm-price-list.h"

/* Device memory in a list is rounded, or what the driver shows. */
#define MEMORY_TOLERANCE 0.12

/* Whole boards of modules are only sold with these. */
#define FULL_BOARD 8

typedef struct {
  QmPriceList *list;
  QmCatalog *catalog;
  GHashTable *known;                /* instance → QmOffer of the catalog */
  GHashTable *hosts;                /* "instance/region" → QmPriceRow, of hosts without accelerator */
  GHashTable *merged;               /* "instance/region" → JsonObject */
  const char *as_of;
  QmPriceSummary *summary;
} Import;

/* -------------------------------------------------------------- which device it is */

static gboolean
is_called (const QmDevice *device,
           const char     *name)
{
  g_autofree char *spaced = g_strdelimit (g_strdup (name), "-_", ' ');

  if (g_ascii_strcasecmp (device->id, name) == 0)
    return TRUE;
  for (guint i = 0; device->aliases[i] != NULL; i++)
    {
      g_autofree char *alias = g_strdelimit (g_strdup (device->aliases[i]), "-_", ' ');

      if (g_ascii_strcasecmp (alias, spaced) == 0)
        return TRUE;
    }

  return FALSE;
}

static gboolean
memory_agrees (const QmDevice *device,
               double          memory_gib)
{
  return !(memory_gib > 0) || fabs (device->memory_bytes / (1 << 30) / memory_gib - 1) <= MEMORY_TOLERANCE;
}

static gboolean
is_board (const QmDevice *device)
{
  return g_strcmp0 (device->link_type, "nvlink") == 0 || device->sold_in > 1;
}

/* The form of a card is mostly lost: the large clouds have boards, and so has
 * whoever rents out eight; elsewhere the slower card is assumed. */
static const QmDevice *
find_device (const Import     *self,
             const QmPriceRow *row)
{
  static const char * const with_boards[] = { "aws", "gcp", "azure", "oci", NULL };
  gboolean board = row->count >= FULL_BOARD || g_strv_contains (with_boards, self->list->provider);
  const QmDevice *found = NULL;

  for (guint i = 0; i < qm_catalog_n_devices (self->catalog); i++)
    {
      const QmDevice *device = qm_catalog_device (self->catalog, i);

      if (!is_called (device, row->accelerator) || !memory_agrees (device, row->memory_gib))
        continue;
      if (found == NULL || (is_board (device) == board && is_board (found) != board) ||
          (is_board (device) == is_board (found) && device->bandwidth_bytes_per_second < found->bandwidth_bytes_per_second))
        found = device;
    }

  return found;
}

static const QmOffer *
known_offer (const Import     *self,
             const QmPriceRow *row)
{
  return g_hash_table_lookup (self->known, row->instance);
}

/* ------------------------------------------------------------------------ one offer */

static void
set_number (JsonObject *object,
            const char *name,
            double      value)
{
  if (value > 0)
    json_object_set_double_member (object, name, qm_json_figure (value));
}

static void
keep_cheaper (JsonObject *object,
              const char *name,
              double      value)
{
  double before = json_object_get_double_member_with_default (object, name, INFINITY);

  if (value < before)
    json_object_set_double_member (object, name, qm_json_figure (value));
}

static JsonObject *
offer_new (const Import     *self,
           const QmPriceRow *row,
           const char       *device,
           double            count)
{
  const QmOffer *known = known_offer (self, row);
  JsonObject *object = json_object_new ();
  g_autofree char *id = g_strdup_printf ("%s/%s/%s", self->list->provider, row->instance, row->region);

  json_object_set_string_member (object, "id", id);
  json_object_set_string_member (object, "provider", self->list->provider);
  json_object_set_string_member (object, "instance", row->instance);
  json_object_set_string_member (object, "region", row->region);
  json_object_set_string_member (object, "kind", known != NULL && known->kind != NULL ? known->kind
                                 : strcmp (self->list->provider, "vast") == 0 ? "marketplace" : "vm");
  if (device != NULL)
    json_object_set_string_member (object, "device", device);
  set_number (object, "device_count", count);
  set_number (object, "vcpus", row->vcpus > 0 ? row->vcpus : known != NULL ? known->vcpus : 0);
  set_number (object, "ram_gib", row->ram_gib > 0 ? row->ram_gib : known != NULL ? known->ram_bytes / (1 << 30) : 0);
  set_number (object, "network_gbit_per_second", known != NULL ? known->network_bits_per_second / 1e9 : 0);
  set_number (object, "local_disk_gb", known != NULL ? known->local_disk_bytes / 1e9 : 0);
  if (known != NULL && known->intra_node != NULL)
    json_object_set_string_member (object, "intra_node", known->intra_node);
  json_object_set_string_member (object, "price_status", "listed");
  json_object_set_string_member (object, "as_of", self->as_of);
  json_object_set_string_member (object, "source", "import");

  return object;
}

/* Zones of one region are one offer, at the cheapest of their prices. */
static void
add_offer (Import           *self,
           const QmPriceRow *row,
           const char       *device,
           double            count)
{
  g_autofree char *key = g_strdup_printf ("%s/%s", row->instance, row->region);
  JsonObject *object = g_hash_table_lookup (self->merged, key);

  if (object == NULL)
    {
      object = offer_new (self, row, device, count);
      g_hash_table_insert (self->merged, g_steal_pointer (&key), object);
    }
  if (row->usd_per_hour > 0)
    keep_cheaper (object, "on_demand_usd_per_hour", row->usd_per_hour);
  if (row->spot_usd_per_hour > 0)
    keep_cheaper (object, "spot_usd_per_hour", row->spot_usd_per_hour);
}

static void
note_unknown (Import           *self,
              const QmPriceRow *row)
{
  self->summary->unknown++;
  for (guint i = 0; i < self->summary->names->len; i++)
    if (g_ascii_strcasecmp (self->summary->names->pdata[i], row->accelerator) == 0)
      return;
  g_ptr_array_add (self->summary->names, g_strdup (row->accelerator));
}

/* ---------------------------------------------------------------------------- Google */

/* Of a host and its accelerators Google has two prices; their sum is the offer.
 * Which host carries how many is not in the list: the catalog knows. */
static void
join_host (Import           *self,
           const QmPriceRow *accelerators)
{
  for (guint i = 0; i < qm_catalog_n_offers (self->catalog); i++)
    {
      const QmOffer *offer = qm_catalog_offer (self->catalog, i);
      g_auto (GStrv) parts = NULL;
      g_autofree char *key = NULL;
      const QmPriceRow *host;
      QmPriceRow row;

      if (strcmp (offer->provider, self->list->provider) != 0 || offer->device == NULL || offer->device_count != accelerators->count ||
          !is_called (offer->device, accelerators->accelerator))
        continue;
      parts = g_strsplit (offer->instance, "+", 2);
      key = g_strdup_printf ("%s/%s", parts[0], accelerators->region);
      host = g_hash_table_lookup (self->hosts, key);
      if (host == NULL)
        continue;
      row = *host;
      row.instance = (char *) offer->instance;
      row.usd_per_hour = host->usd_per_hour + accelerators->usd_per_hour;
      row.spot_usd_per_hour = host->spot_usd_per_hour + accelerators->spot_usd_per_hour;
      add_offer (self, &row, offer->device->id, offer->device_count);
    }
}

/* "tpu-v6e-8" is a slice of eight; up to v5p the number counts cores, two a chip. */
static double
chips_of_slice (char *name)
{
  static const char * const by_chip[] = { "tpu-v5litepod", "tpu-v5e", "tpu-v6e", NULL };
  char *dash = strrchr (name, '-');
  double number = dash != NULL ? g_ascii_strtod (dash + 1, NULL) : 0;

  if (!(number > 0))
    return 0;

  *dash = '\0';
  return g_strv_contains (by_chip, name) ? number : number / 2;
}

/* Of a slice of TPUs the list has a price and no machine. */
static gboolean
add_slice (Import           *self,
           const QmPriceRow *accelerators)
{
  g_autofree char *name = g_ascii_strdown (accelerators->accelerator, -1);
  double chips = chips_of_slice (name);

  if (!g_str_has_prefix (name, "tpu-"))
    return FALSE;

  for (guint i = 0; i < qm_catalog_n_offers (self->catalog); i++)
    {
      const QmOffer *offer = qm_catalog_offer (self->catalog, i);
      QmPriceRow row = *accelerators;

      if (strcmp (offer->provider, self->list->provider) != 0 || offer->device == NULL || offer->device_count != chips ||
          offer->device->device_class != QM_DEVICE_CLASS_TPU || !is_called (offer->device, name))
        continue;
      row.instance = (char *) offer->instance;
      add_offer (self, &row, offer->device->id, chips);
    }

  return TRUE;
}

/* --------------------------------------------------------------------------- the rest */

static void
add_row (Import           *self,
         const QmPriceRow *row)
{
  const QmOffer *known = known_offer (self, row);
  const QmDevice *device = row->accelerator[0] != '\0' ? find_device (self, row) : NULL;
  double count = row->count;

  if (row->instance[0] == '\0')
    {
      if (!add_slice (self, row))
        join_host (self, row);
      return;
    }

  /* What the catalog says of a machine was looked at; a list has one word for
   * several cards. */
  if (known != NULL && known->device != NULL && (row->accelerator[0] == '\0' ? known->device->device_class == QM_DEVICE_CLASS_CPU
                                                                            : is_called (known->device, row->accelerator)))
    {
      device = known->device;
      count = known->device_count;
    }
  if (device != NULL)
    add_offer (self, row, device->is_unknown ? NULL : device->id, count > 0 ? count : 1);
  else if (row->accelerator[0] != '\0')
    note_unknown (self, row);
}

static void
index_rows (Import *self)
{
  for (guint i = 0; i < qm_catalog_n_offers (self->catalog); i++)
    {
      const QmOffer *offer = qm_catalog_offer (self->catalog, i);

      if (strcmp (offer->provider, self->list->provider) == 0)
        g_hash_table_insert (self->known, (char *) offer->instance, (gpointer) offer);
    }
  for (guint i = 0; i < self->list->rows->len; i++)
    {
      QmPriceRow *row = self->list->rows->pdata[i];

      if (row->instance[0] != '\0' && row->accelerator[0] == '\0')
        g_hash_table_insert (self->hosts, g_strdup_printf ("%s/%s", row->instance, row->region), row);
    }
}

static gboolean
is_wanted_region (const Import       *self,
                  const char * const *regions,
                  const char         *region)
{
  if (regions != NULL)
    return g_strv_contains (regions, "all") || g_strv_contains (regions, region);

  for (guint i = 0; i < qm_catalog_n_offers (self->catalog); i++)
    {
      const QmOffer *offer = qm_catalog_offer (self->catalog, i);

      if (strcmp (offer->provider, self->list->provider) == 0 && g_strcmp0 (offer->region, region) == 0)
        return TRUE;
    }

  return FALSE;
}

static double
price_of (JsonObject *offer)
{
  double price = json_object_get_double_member_with_default (offer, "on_demand_usd_per_hour", INFINITY);

  return isfinite (price) ? price : json_object_get_double_member_with_default (offer, "spot_usd_per_hour", INFINITY) * 1e3;
}

static int
compare_ids (gconstpointer a,
             gconstpointer b)
{
  return strcmp (json_object_get_string_member (*(JsonObject * const *) a, "id"),
                 json_object_get_string_member (*(JsonObject * const *) b, "id"));
}

/* Of every machine the offers in the wanted regions, else the cheapest. */
static GPtrArray *
choose (const Import       *self,
        const char * const *regions)
{
  GPtrArray *chosen = g_ptr_array_new ();
  g_autoptr (GHashTable) cheapest = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GHashTable) there = g_hash_table_new (g_str_hash, g_str_equal);
  GHashTableIter iter;
  gpointer value, key;

  g_hash_table_iter_init (&iter, self->merged);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      const char *instance = json_object_get_string_member (value, "instance");
      JsonObject *before = g_hash_table_lookup (cheapest, instance);

      if (is_wanted_region (self, regions, json_object_get_string_member (value, "region")))
        {
          g_ptr_array_add (chosen, value);
          g_hash_table_add (there, (char *) instance);
        }
      if (before == NULL || price_of (value) < price_of (before) ||
          (price_of (value) == price_of (before) && compare_ids (&value, &before) < 0))
        g_hash_table_insert (cheapest, (char *) instance, value);
    }
  g_hash_table_iter_init (&iter, cheapest);
  while (regions == NULL && g_hash_table_iter_next (&iter, &key, &value))
    if (!g_hash_table_contains (there, key))
      g_ptr_array_add (chosen, value);
  g_ptr_array_sort (chosen, compare_ids);

  return chosen;
}

static JsonNode *
to_node (const Import *self,
         GPtrArray    *chosen,
         const char   *source)
{
  JsonNode *node = json_node_new (JSON_NODE_OBJECT);
  JsonObject *root = json_object_new (), *sources = json_object_new (), *text = json_object_new ();
  JsonArray *offers = json_array_new ();

  json_object_set_string_member (root, "format", "quartermaster-offers");
  json_object_set_int_member (root, "version", 1);
  json_object_set_string_member (root, "as_of", self->as_of);
  json_object_set_string_member (text, "text", source);
  json_object_set_object_member (sources, "import", text);
  json_object_set_object_member (root, "sources", sources);
  for (guint i = 0; i < chosen->len; i++)
    json_array_add_object_element (offers, json_object_ref (chosen->pdata[i]));
  json_object_set_array_member (root, "offers", offers);
  json_node_take_object (node, root);

  return node;
}

/**
 * qm_price_list_to_offers:
 * @self: a list
 * @catalog: the catalog
 * @regions: (nullable): of which regions, "all" for every one; %NULL for those
 *   that the catalog has, and the cheapest of machines that are not there
 * @source: what the offers name as their source
 * @as_of: when the prices held, ISO 8601
 * @summary: (out caller-allocates): what became of it
 * @error: return location for an error of %QM_PRICES_ERROR
 *
 * Returns: (transfer full) (nullable): a file of offers for a person's catalog
 */
JsonNode *
qm_price_list_to_offers (QmPriceList        *self,
                         QmCatalog          *catalog,
                         const char * const *regions,
                         const char         *source,
                         const char         *as_of,
                         QmPriceSummary     *summary,
                         GError            **error)
{
  g_autoptr (GHashTable) known = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GHashTable) hosts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) merged = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) json_object_unref);
  Import import = { self, catalog, known, hosts, merged, as_of, summary };
  g_autoptr (GPtrArray) chosen = NULL;

  *summary = (QmPriceSummary) { .names = g_ptr_array_new_with_free_func (g_free) };
  index_rows (&import);
  for (guint i = 0; i < self->rows->len; i++)
    add_row (&import, self->rows->pdata[i]);
  chosen = choose (&import, regions);
  summary->offers = chosen->len;
  if (chosen->len > 0)
    return to_node (&import, chosen, source);

  qm_error_set (error, QM_PRICES_ERROR, QM_PRICES_ERROR_EMPTY, NULL, N_("has no machine with a device of the catalog in these regions"), NULL);
  return NULL;
}

/**
 * qm_price_summary_clear:
 * @self: a summary
 */
void
qm_price_summary_clear (QmPriceSummary *self)
{
  g_clear_pointer (&self->names, g_ptr_array_unref);
}
