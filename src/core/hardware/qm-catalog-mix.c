/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "qm-catalog-private.h"

/* Nobody has more kinds in one machine. */
#define MOST_PARTS 16

static double
lesser (double a,
        double b)
{
  return fmin (a, b);
}

/* What both can do, as where each does the same share of the work. */
static void
take_lesser (QmDevice       *device,
             const QmDevice *part)
{
  device->compute_capability = lesser (device->compute_capability, part->compute_capability);
  device->memory_bytes = lesser (device->memory_bytes, part->memory_bytes);
  device->usable_bytes = lesser (device->usable_bytes, part->usable_bytes);
  device->bandwidth_bytes_per_second = lesser (device->bandwidth_bytes_per_second, part->bandwidth_bytes_per_second);
  device->tflops_fp64 = lesser (device->tflops_fp64, part->tflops_fp64);
  device->tflops_fp32 = lesser (device->tflops_fp32, part->tflops_fp32);
  device->tflops_tf32 = lesser (device->tflops_tf32, part->tflops_tf32);
  device->tflops_fp16 = lesser (device->tflops_fp16, part->tflops_fp16);
  device->tflops_bf16 = lesser (device->tflops_bf16, part->tflops_bf16);
  device->tflops_fp8 = lesser (device->tflops_fp8, part->tflops_fp8);
  device->tflops_int8 = lesser (device->tflops_int8, part->tflops_int8);
  device->tflops_fp4 = lesser (device->tflops_fp4, part->tflops_fp4);
  device->tflops_fp16_accumulate_fp16 = lesser (device->tflops_fp16_accumulate_fp16, part->tflops_fp16_accumulate_fp16);
  device->pcie_generation = MIN (device->pcie_generation, part->pcie_generation);
  device->power_watts += part->power_watts;
  device->price_usd += part->price_usd;
  device->is_hbm = device->is_hbm && part->is_hbm;
  device->unified_memory = device->unified_memory || part->unified_memory;
}

/* The largest first: it is what the mix is called by. */
static int
compare_memory (gconstpointer a,
                gconstpointer b)
{
  const QmDevice *x = *(const QmDevice * const *) a, *y = *(const QmDevice * const *) b;

  return x->usable_bytes != y->usable_bytes ? (x->usable_bytes < y->usable_bytes ? 1 : -1) : strcmp (x->id, y->id);
}

static const QmDevice *
mix_new (QmCatalog *self,
         GPtrArray *parts)
{
  QmDevice *mix = g_new0 (QmDevice, 1);
  g_autoptr (GString) id = g_string_new (NULL);
  g_autoptr (GString) name = g_string_new (NULL);

  g_ptr_array_add (self->allocations, mix);
  g_ptr_array_sort (parts, compare_memory);
  *mix = *(const QmDevice *) g_ptr_array_index (parts, 0);
  for (guint i = 0; i < parts->len; i++)
    {
      const QmDevice *part = g_ptr_array_index (parts, i);

      g_string_append_printf (id, "%s%s", i > 0 ? "+" : "", part->id);
      g_string_append_printf (name, "%s%s", i > 0 ? " + " : "", part->name);
      if (i > 0)
        take_lesser (mix, part);
    }
  mix->power_watts /= parts->len;
  mix->price_usd /= parts->len;
  mix->id = g_string_chunk_insert (self->chunk, id->str);
  mix->name = g_string_chunk_insert (self->chunk, name->str);
  mix->aliases = mix->pci_ids = qm_catalog_keep_strings (self, self->offers);
  mix->n_parts = parts->len;
  g_ptr_array_add (parts, NULL);
  mix->parts = (const QmDevice * const *) qm_catalog_keep_strings (self, parts);
  /* bridges join equal cards */
  mix->link_type = "none";
  mix->link_bytes_per_second = 0;

  return mix;
}

static gboolean
can_mix (GPtrArray *parts)
{
  const QmDevice *first = parts->len > 0 ? g_ptr_array_index (parts, 0) : NULL;

  if (parts->len < 2 || parts->len > MOST_PARTS)
    return FALSE;
  for (guint i = 0; i < parts->len; i++)
    {
      const QmDevice *part = g_ptr_array_index (parts, i);

      if (part->vendor != first->vendor || part->n_parts > 0 || part->is_unknown || part->whole != NULL)
        return FALSE;
    }

  return TRUE;
}

/**
 * qm_catalog_mix:
 * @self: a catalog
 * @id: ids of devices of one maker, joined by "+": "rtx-3090+rtx-3060-12gb"
 *
 * Different cards that work together in one machine. The figures of the whole
 * are the lesser of those of its parts: where each does the same share of the
 * work, the smallest is the bound. A mix is made when it is first asked for, and
 * then kept.
 *
 * Returns: (transfer none) (nullable): the mix, %NULL where one part is not
 *   known or they cannot work together
 */
const QmDevice *
qm_catalog_mix (QmCatalog  *self,
                const char *id)
{
  g_auto (GStrv) ids = g_strsplit (id, "+", -1);
  g_autoptr (GPtrArray) parts = g_ptr_array_new ();
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&self->mixes_lock);
  const QmDevice *mix = g_hash_table_lookup (self->mixes, id);

  if (mix != NULL)
    return mix;

  for (guint i = 0; ids[i] != NULL; i++)
    {
      const QmDevice *part = g_hash_table_lookup (self->devices_by_id, g_strstrip (ids[i]));

      if (part == NULL)
        return NULL;
      g_ptr_array_add (parts, (gpointer) part);
    }
  if (!can_mix (parts))
    return NULL;

  mix = mix_new (self, parts);
  g_hash_table_insert (self->mixes, g_strdup (id), (gpointer) mix);

  return mix;
}
