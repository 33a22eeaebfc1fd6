/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "qm-catalog-private.h"

#define GIB (1024.0 * 1024.0 * 1024.0)

/* How a kind of card can be cut. */
typedef struct {
  double compute_slices;
  double memory_slices;
  double multiprocessors;           /* of the whole; 0 unknown */
  const char *source;
  const char *as_of;
} Cutting;

/* "3g.40gb" has three of the compute slices and what its memory is called. */
static gboolean
read_name (const char *name,
           double     *compute,
           double     *gib)
{
  return name != NULL && sscanf (name, "%lfg.%lfgb", compute, gib) == 2 && *compute > 0 && *gib > 0;
}

static void
scale_rates (QmDevice *device,
             double    share)
{
  device->tflops_fp64 *= share;
  device->tflops_fp32 *= share;
  device->tflops_tf32 *= share;
  device->tflops_fp16 *= share;
  device->tflops_bf16 *= share;
  device->tflops_fp8 *= share;
  device->tflops_int8 *= share;
  device->tflops_fp4 *= share;
  device->tflops_fp16_accumulate_fp16 *= share;
  device->power_watts *= share;
}

/* A part of @whole. Slices have no link of their own to each other, and none is
 * sold. */
static void
cut (QmCatalog      *self,
     const QmDevice *whole,
     const Cutting  *cutting,
     QmRecord       *record,
     const char     *name)
{
  QmDevice *slice = g_new0 (QmDevice, 1);
  double compute = 0, gib = 0;
  double memory = qm_record_number (record, "memory_slices", 0) / cutting->memory_slices;
  double multiprocessors = qm_record_number (record, "multiprocessors", 0);
  double reported = qm_record_number (record, "reported_gib", 0) * GIB;
  g_autofree char *id = g_strconcat (whole->id, "-", name, NULL);
  g_autofree char *title = g_strconcat (whole->name, " MIG ", name, NULL);

  g_ptr_array_add (self->allocations, slice);
  read_name (name, &compute, &gib);
  *slice = *whole;
  slice->id = g_string_chunk_insert (self->chunk, id);
  slice->name = g_string_chunk_insert (self->chunk, title);
  slice->aliases = slice->pci_ids = qm_catalog_keep_strings (self, self->offers);
  slice->memory_bytes = gib * GIB;
  slice->usable_bytes = reported > 0 ? reported : whole->usable_bytes * memory;
  slice->bandwidth_bytes_per_second *= memory;
  slice->link_type = "none";
  slice->link_bytes_per_second = 0;
  slice->price_usd = NAN;
  slice->source = cutting->source;
  slice->as_of = cutting->as_of;
  slice->whole = whole;
  scale_rates (slice, multiprocessors > 0 && cutting->multiprocessors > 0 ? multiprocessors / cutting->multiprocessors
                                                                         : compute / cutting->compute_slices);

  g_ptr_array_add (self->slices, slice);
  g_hash_table_insert (self->devices_by_id, (char *) slice->id, slice);
  g_hash_table_insert (self->devices_by_id, (char *) slice->name, slice);
}

static gboolean
cut_all (QmCatalog *self,
         QmRecord  *record,
         GPtrArray *wholes,
         Cutting   *cutting,
         JsonArray *profiles,
         GError   **error)
{
  for (guint i = 0; i < json_array_get_length (profiles); i++)
    {
      QmRecord profile;
      const char *name;
      double compute, gib;

      if (!qm_record_open (&profile, record->file, "slices", record->index, json_array_get_element (profiles, i), error))
        return FALSE;
      name = qm_record_require_string (&profile, "name");
      if (name != NULL && !read_name (name, &compute, &gib))
        qm_record_fail (&profile, QM_CATALOG_ERROR_VALUE, "name", N_("“{word}” is no profile like 1g.10gb"), "word", name, NULL);
      if (profile.failed)
        return FALSE;
      for (guint j = 0; j < wholes->len; j++)
        cut (self, g_ptr_array_index (wholes, j), cutting, &profile, name);
      if (profile.failed)
        return FALSE;
    }

  return TRUE;
}

static gboolean
read_cutting (QmCatalog  *self,
              QmRecord   *record,
              GError    **error)
{
  g_autoptr (GPtrArray) ids = g_ptr_array_new ();
  g_autoptr (GPtrArray) wholes = g_ptr_array_new ();
  JsonNode *profiles = json_object_get_member (record->object, "profiles");
  Cutting cutting = { 0 };

  cutting.compute_slices = qm_record_number (record, "compute_slices", 0);
  cutting.memory_slices = qm_record_number (record, "memory_slices", 0);
  cutting.multiprocessors = qm_record_number (record, "multiprocessors", 0);
  cutting.source = qm_record_source (record, "source", &cutting.as_of);
  qm_record_strings (record, "devices", ids);
  for (guint i = 0; i < ids->len; i++)
    {
      const QmDevice *whole = qm_catalog_find_device (self, g_ptr_array_index (ids, i));

      if (whole == NULL)
        qm_record_fail (record, QM_CATALOG_ERROR_REFERENCE, "devices", N_("“{word}” is not one of the devices"),
                        "word", g_ptr_array_index (ids, i), NULL);
      else
        g_ptr_array_add (wholes, (gpointer) whole);
    }
  if (!(cutting.compute_slices > 0) || !(cutting.memory_slices > 0) || profiles == NULL || !JSON_NODE_HOLDS_ARRAY (profiles))
    qm_record_fail (record, QM_CATALOG_ERROR_MISSING, "profiles", N_("is missing"), NULL);

  return !record->failed && cut_all (self, record, wholes, &cutting, json_node_get_array (profiles), error);
}

/**
 * qm_catalog_load_slices:
 * @self: a catalog whose devices are all loaded
 * @file: a file of the format "quartermaster-slices"
 * @error: return location
 *
 * Adds what cards can be cut into: devices of their own, with a part of the
 * memory, its bandwidth and the multiprocessors, to be found by
 * "DEVICE-PROFILE" but not listed among the devices.
 *
 * Returns: whether all records are sound
 */
gboolean
qm_catalog_load_slices (QmCatalog      *self,
                        QmCatalogFile  *file,
                        GError        **error)
{
  JsonArray *records = qm_catalog_file_records (file, "slices", error);

  if (records == NULL)
    return FALSE;

  for (guint i = 0; i < json_array_get_length (records); i++)
    {
      QmRecord record;

      if (!qm_record_open (&record, file, "slices", i, json_array_get_element (records, i), error) ||
          !read_cutting (self, &record, error))
        return FALSE;
    }

  return TRUE;
}

/**
 * qm_catalog_n_slices:
 * @self: a catalog
 *
 * Returns: how many slices of cards it has
 */
guint
qm_catalog_n_slices (QmCatalog *self)
{
  return self->slices->len;
}

/**
 * qm_catalog_slice:
 * @self: a catalog
 * @index: less than qm_catalog_n_slices()
 *
 * Returns: (transfer none): one of the slices
 */
const QmDevice *
qm_catalog_slice (QmCatalog *self,
                  guint      index)
{
  g_return_val_if_fail (index < self->slices->len, NULL);

  return g_ptr_array_index (self->slices, index);
}

/**
 * qm_catalog_match_slice:
 * @self: a catalog
 * @whole: (nullable): a card
 * @profile: what the driver calls the slice: "1g.5gb", "1g.5gb+me"
 *
 * Returns: (transfer none) (nullable): the slice of @whole, %NULL where it is
 *   not known; a part of a slice ("1c.3g.20gb") is none
 */
const QmDevice *
qm_catalog_match_slice (QmCatalog      *self,
                        const QmDevice *whole,
                        const char     *profile)
{
  g_autofree char *name = g_ascii_strdown (profile, -1);
  g_autofree char *id = NULL;

  /* media engines, or none of them, are not what matters here */
  name[strcspn (name, "+- ")] = '\0';
  id = whole != NULL ? g_strconcat (whole->id, "-", name, NULL) : NULL;

  return qm_catalog_find_device (self, id);
}
