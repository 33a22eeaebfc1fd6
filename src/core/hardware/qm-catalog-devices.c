/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>

#include "qm-catalog-private.h"

#include "qm-enum-types.h"
#include "qm-enum.h"

#define MIB (1024.0 * 1024.0)
#define GIB (1024.0 * MIB)
#define GIGA 1e9

static void
read_memory (QmRecord *record,
             QmDevice *device)
{
  JsonObject *root = json_node_get_object (record->file->root);
  double shared = json_object_get_double_member_with_default (root, "usable_fraction", 0.985);
  double fraction = qm_record_number (record, "usable_fraction", shared);
  double reported = qm_record_number (record, "reported_mib", 0) * MIB;

  if (fraction > 1)
    qm_record_fail (record, QM_CATALOG_ERROR_VALUE, "usable_fraction", N_("must be from 0 to 1, found {value}"), "#value", fraction, NULL);

  device->memory_bytes = qm_record_number (record, "memory_gib", 0) * GIB;
  device->usable_bytes = reported > 0 ? reported : device->memory_bytes * fraction;
  device->memory_type = qm_record_string (record, "memory_type");
  device->is_hbm = device->memory_type != NULL && g_strrstr (device->memory_type, "HBM") != NULL;
  device->memories = MAX (1, (int) qm_record_number (record, "memories", 1));
  device->unified_memory = qm_record_boolean (record, "unified_memory");
  device->bandwidth_bytes_per_second = qm_record_number (record, "bandwidth_gb_per_second", 0) * GIGA;
}

static void
read_rates (QmRecord *record,
            QmDevice *device)
{
  QmRecord tflops;

  device->tflops_fp16_accumulate_fp16 = qm_record_number (record, "tflops_fp16_accumulate_fp16", 0);
  if (!qm_record_open_inside (record, "tflops", &tflops))
    return;

  device->tflops_fp64 = qm_record_number (&tflops, "fp64", 0);
  device->tflops_fp32 = qm_record_number (&tflops, "fp32", 0);
  device->tflops_tf32 = qm_record_number (&tflops, "tf32", 0);
  device->tflops_fp16 = qm_record_number (&tflops, "fp16", 0);
  device->tflops_bf16 = qm_record_number (&tflops, "bf16", 0);
  device->tflops_fp8 = qm_record_number (&tflops, "fp8", 0);
  device->tflops_int8 = qm_record_number (&tflops, "int8", 0);
  device->tflops_fp4 = qm_record_number (&tflops, "fp4", 0);
  qm_record_close_inside (record, &tflops);
}

/* The makers of laptops allow the same chip more or less power than its figures are of. */
static void
read_power (QmRecord *record,
            QmDevice *device)
{
  JsonObject *root = json_node_get_object (record->file->root);
  QmRecord laptop;

  device->power_watts = qm_record_number (record, "power_watts", 0);
  device->power_exponent = json_object_get_double_member_with_default (root, "power_exponent", 0);
  device->most_rate = 1;
  if (!qm_record_open_inside (record, "laptop", &laptop))
    return;

  if (device->tflops_fp32 > 0)
    device->most_rate = fmax (1, qm_record_number (&laptop, "tflops_fp32", 0) / device->tflops_fp32);
  qm_record_close_inside (record, &laptop);
}

static void
read_link (QmRecord *record,
           QmDevice *device)
{
  QmRecord link;
  const char *pcie;

  if (!qm_record_open_inside (record, "link", &link))
    return;

  device->link_type = qm_record_string (&link, "type");
  device->link_bytes_per_second = qm_record_number (&link, "gb_per_second", 0) * GIGA;
  pcie = qm_record_string (&link, "pcie");
  device->pcie_generation = pcie != NULL && g_ascii_isdigit (*pcie) ? g_ascii_digit_value (*pcie) : 0;
  qm_record_close_inside (record, &link);
}

static double
read_price (QmRecord *record)
{
  QmRecord price;
  double usd = NAN;

  if (qm_record_open_inside (record, "price", &price))
    {
      usd = qm_record_number (&price, "usd", NAN);
      qm_record_close_inside (record, &price);
    }
  return usd;
}

/* Whoever adds a maker of hardware need not touch the program: it is "other". */
static QmVendor
read_vendor (QmRecord *record)
{
  const char *word = qm_record_require_string (record, "vendor");
  int value = QM_VENDOR_OTHER;

  if (word != NULL)
    qm_enum_from_word (QM_TYPE_VENDOR, word, &value);
  return value;
}

static void
read_origin (QmCatalog *self,
             QmRecord  *record,
             QmDevice  *device)
{
  const char *newest = NULL;
  const char *as_of = qm_record_string (record, "as_of");
  JsonObject *root = json_node_get_object (record->file->root);
  const char *all = json_object_get_string_member_with_default (root, "as_of", NULL);

  device->source = qm_record_source (record, "source", &newest);
  if (device->source == NULL)
    qm_record_fail (record, QM_CATALOG_ERROR_MISSING, "source", N_("is missing"), NULL);
  if (as_of == NULL)
    as_of = newest != NULL || all == NULL ? newest : g_string_chunk_insert_const (self->chunk, all);
  device->as_of = as_of;
  device->status = qm_record_string (record, "status");
  device->confidence = qm_record_string (record, "confidence");
  device->notes = qm_record_string (record, "notes");
  device->host_arch = qm_record_string (record, "host_arch");
  device->sold_in = MAX (1, (int) qm_record_number (record, "sold_in", 1));
}

/* Names that drivers use, then those of other catalogs. */
static void
read_names (QmCatalog *self,
            QmRecord  *record,
            QmDevice  *device)
{
  g_autoptr (GPtrArray) aliases = g_ptr_array_new ();
  g_autoptr (GPtrArray) pci_ids = g_ptr_array_new ();
  g_autoptr (GPtrArray) stacks = g_ptr_array_new ();
  QmRecord other;

  qm_record_strings (record, "aliases", aliases);
  if (qm_record_open_inside (record, "catalog_names", &other))
    {
      g_autoptr (GList) catalogs = json_object_get_members (other.object);

      for (GList *l = catalogs; l != NULL; l = l->next)
        qm_record_strings (&other, l->data, aliases);
      qm_record_close_inside (record, &other);
    }
  qm_record_strings (record, "pci_ids", pci_ids);
  qm_record_strings (record, "pci_ids_unverified", pci_ids);
  qm_record_strings (record, "stacks", stacks);

  device->aliases = qm_catalog_keep_strings (self, aliases);
  device->pci_ids = qm_catalog_keep_strings (self, pci_ids);
  device->stacks = qm_catalog_keep_strings (self, stacks);
}

static gboolean
read_device (QmCatalog *self,
             QmRecord  *record,
             QmDevice  *device)
{
  device->id = qm_record_require_string (record, "id");
  device->name = qm_record_require_string (record, "name");
  device->vendor = read_vendor (record);
  device->device_class = qm_record_word (record, "class", QM_TYPE_DEVICE_CLASS);
  device->arch = qm_record_string (record, "arch");
  device->compute_capability = qm_record_number (record, "compute_capability", 0);
  device->launch_year = qm_record_number (record, "launch_year", 0);
  device->cpu_cores = qm_record_number (record, "cpu_cores", 0);
  device->is_unknown = qm_record_boolean (record, "unknown");
  read_memory (record, device);
  read_rates (record, device);
  read_power (record, device);
  read_link (record, device);
  device->price_usd = read_price (record);
  read_names (self, record, device);
  read_origin (self, record, device);

  return !record->failed;
}

/* Puts @device where one of the same id was, or behind all. */
static gboolean
add_device (QmCatalog *self,
            QmRecord  *record,
            QmDevice  *device)
{
  QmDevice *before = g_hash_table_lookup (self->devices_by_id, device->id);

  if (before != NULL && !record->file->is_users)
    {
      qm_record_fail (record, QM_CATALOG_ERROR_DUPLICATE, "id", N_("“{word}” is there twice"), "word", device->id, NULL);
      return FALSE;
    }

  g_hash_table_replace (self->devices_by_id, (char *) device->id, device);
  if (device->is_unknown)
    {
      self->unknown_device = device;
      return TRUE;
    }

  device->index = before != NULL ? before->index : self->devices->len;
  if (before != NULL)
    self->devices->pdata[device->index] = device;
  else
    g_ptr_array_add (self->devices, device);
  return TRUE;
}

/**
 * qm_catalog_load_devices:
 * @self: a catalog
 * @file: a file of the format "quartermaster-devices"
 * @error: return location
 *
 * Adds the devices of @file; those of a user's file take the place of others
 * with the same id.
 *
 * Returns: whether all records are sound
 */
gboolean
qm_catalog_load_devices (QmCatalog      *self,
                         QmCatalogFile  *file,
                         GError        **error)
{
  JsonArray *records = qm_catalog_file_records (file, "devices", error);

  if (records == NULL)
    return FALSE;

  for (guint i = 0; i < json_array_get_length (records); i++)
    {
      QmDevice *device = g_new0 (QmDevice, 1);
      QmRecord record;

      g_ptr_array_add (self->allocations, device);
      if (!qm_record_open (&record, file, "devices", i, json_array_get_element (records, i), error)
          || !read_device (self, &record, device)
          || !add_device (self, &record, device))
        return FALSE;
    }
  return TRUE;
}

static void
index_names (QmCatalog      *self,
             GHashTable     *exact,
             const QmDevice *device)
{
  g_autofree char *reduced = qm_catalog_reduce_name (device->name);

  qm_catalog_index (self->devices_by_name, reduced, (gpointer) device);
  qm_catalog_index (exact, device->name, (gpointer) device);
  for (guint i = 0; device->aliases[i] != NULL; i++)
    {
      g_autofree char *alias = qm_catalog_reduce_name (device->aliases[i]);

      qm_catalog_index (self->devices_by_name, alias, (gpointer) device);
      qm_catalog_index (exact, device->aliases[i], (gpointer) device);
    }
  for (guint i = 0; device->pci_ids[i] != NULL; i++)
    {
      g_autofree char *pci_id = g_ascii_strdown (device->pci_ids[i], -1);

      qm_catalog_index (self->devices_by_pci_id, pci_id, (gpointer) device);
    }
}

/**
 * qm_catalog_index_devices:
 * @self: a catalog whose devices are all loaded
 *
 * Makes devices findable by name and PCI id. A name that several devices share
 * finds none of them: the largest is never assumed.
 */
void
qm_catalog_index_devices (QmCatalog *self)
{
  g_autoptr (GHashTable) exact = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_ptr_array_unref);
  GHashTableIter iter;
  char *name;
  GPtrArray *devices;

  for (guint i = 0; i < self->devices->len; i++)
    index_names (self, exact, g_ptr_array_index (self->devices, i));

  g_hash_table_iter_init (&iter, exact);
  while (g_hash_table_iter_next (&iter, (gpointer *) &name, (gpointer *) &devices))
    if (devices->len == 1 && !g_hash_table_contains (self->devices_by_id, name))
      g_hash_table_insert (self->devices_by_id, g_string_chunk_insert_const (self->chunk, name), devices->pdata[0]);
}
