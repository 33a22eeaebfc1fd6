/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <string.h>

#include "qm-probe-private.h"

/* Between the name of a card and that of a profile it is cut by. */
#define MIG " MIG "

static void
unknown_free (QmUnknown *self)
{
  g_free (self->reason);
  g_free (self);
}

/**
 * qm_probed_device_new:
 * @id: its address
 *
 * Returns: (transfer full): a device of which nothing else is known
 */
QmProbedDevice *
qm_probed_device_new (const char *id)
{
  QmProbedDevice *self = g_new0 (QmProbedDevice, 1);

  self->id = g_strdup (id);
  self->unknown = g_ptr_array_new_with_free_func ((GDestroyNotify) unknown_free);

  return self;
}

/**
 * qm_probed_device_free:
 * @self: (transfer full): a device
 */
void
qm_probed_device_free (QmProbedDevice *self)
{
  g_free (self->id);
  g_free (self->name);
  g_free (self->vendor);
  g_free (self->pci_id);
  g_free (self->driver);
  g_free (self->link);
  g_free (self->remedy);
  g_ptr_array_unref (self->unknown);
  g_free (self);
}

/**
 * qm_probed_device_is_unknown:
 * @self: a device
 * @field: one of its fields
 *
 * Returns: whether a reason is recorded why it could not be read
 */
gboolean
qm_probed_device_is_unknown (const QmProbedDevice *self,
                             const char           *field)
{
  for (guint i = 0; i < self->unknown->len; i++)
    if (strcmp (((QmUnknown *) g_ptr_array_index (self->unknown, i))->field, field) == 0)
      return TRUE;

  return FALSE;
}

/**
 * qm_probed_device_unknown:
 * @self: a device
 * @field: what could not be read; static
 * @reason: why
 *
 * Records why a field could not be read. The first reason stands: what is found
 * out later only follows from it.
 */
void
qm_probed_device_unknown (QmProbedDevice *self,
                          const char     *field,
                          const char     *reason)
{
  QmUnknown *unknown;

  if (qm_probed_device_is_unknown (self, field))
    return;

  unknown = g_new0 (QmUnknown, 1);
  unknown->field = field;
  unknown->reason = g_strdup (reason);
  g_ptr_array_add (self->unknown, unknown);
}

/* No device of a computer draws less or more. */
#define LEAST_WATTS 1
#define MOST_WATTS  5000

/**
 * qm_probed_device_set_power_limit:
 * @self: a device
 * @watts: what its driver says it may draw; nonsense is no answer
 */
void
qm_probed_device_set_power_limit (QmProbedDevice *self,
                                  double          watts)
{
  if (watts >= LEAST_WATTS && watts <= MOST_WATTS)
    self->power_limit_watts = watts;
}

static void
forget_reason (QmProbedDevice *self,
               const char     *field)
{
  for (guint i = self->unknown->len; i > 0; i--)
    if (strcmp (((QmUnknown *) g_ptr_array_index (self->unknown, i - 1))->field, field) == 0)
      g_ptr_array_remove_index (self->unknown, i - 1);
}

/* What a GPU shares with the processor is the system memory, all of which may be
 * taken by others: no more than there is, and no more free than is free. What is
 * set apart for it is none of the system's, which counts the rest. */
static void
share_memory (QmProbedDevice       *self,
              const QmProbedMemory *memory)
{
  double total = memory->limit_bytes > 0 ? memory->limit_bytes : memory->total_bytes;

  if (total <= 0)
    return;
  self->memory_bytes = self->memory_kind == QM_MEMORY_KIND_UNIFIED || self->memory_bytes <= 0 ? total
                       : MIN (self->memory_bytes, total + self->carve_out_bytes);
  self->memory_free_bytes = MIN (self->memory_bytes, MAX (memory->available_bytes, self->memory_free_bytes));
  forget_reason (self, "memory_bytes");
}

static const char *
name_of_vendor (const char *vendor)
{
  static const struct { const char *vendor; const char *name; } names[] = {
    { "nvidia", "NVIDIA" }, { "amd", "AMD" }, { "intel", "Intel" }, { "apple", "Apple" }, { "aws", "AWS" }, { "google", "Google" },
    { "arm", "Arm" }, { "broadcom", "Broadcom" }, { "qualcomm", "Qualcomm" }, { "vivante", "Vivante" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_strcmp0 (vendor, names[i].vendor) == 0)
      return names[i].name;

  return NULL;
}

static char *
describe (const QmProbedDevice *self)
{
  const char *vendor = name_of_vendor (self->vendor);
  const char *id = self->pci_id != NULL ? self->pci_id : self->id;

  return vendor != NULL ? g_strdup_printf (_("%s device %s"), vendor, id) : g_strdup_printf (_("Device %s"), id);
}

static void
explain_memory (QmProbedDevice *self)
{
  if (self->memory_bytes > 0)
    return;

  if (self->driver == NULL)
    qm_probed_device_unknown (self, "memory_bytes", _("no driver is loaded for it"));
  /* programs of Google's virtual machines drive the accelerator by it */
  else if (strcmp (self->driver, "vfio-pci") == 0 && g_strcmp0 (self->vendor, "google") != 0)
    qm_probed_device_unknown (self, "memory_bytes", _("it is passed on to a virtual machine"));
  else
    qm_probed_device_unknown (self, "memory_bytes", _("its driver does not tell"));
}

/* "NVIDIA A100-SXM4-40GB MIG 1g.5gb" is cut from a card of the name before. */
static const char *
profile_of (const char *name)
{
  const char *cut = name != NULL ? strstr (name, MIG) : NULL;

  return cut != NULL ? cut + strlen (MIG) : NULL;
}

static char *
name_of_card (const char *name)
{
  const char *profile = profile_of (name);

  return profile != NULL ? g_strndup (name, profile - strlen (MIG) - name) : g_strdup (name);
}

/**
 * qm_probed_device_settle:
 * @self: a device, all that its drivers tell read
 * @catalog: the catalog
 * @memory: the system memory
 *
 * Finds the device in the catalog, which names what the driver did not; a
 * measured size picks among cards that share an id. No size is taken from the
 * data sheet: what was not read stays unknown, with the reason.
 */
void
qm_probed_device_settle (QmProbedDevice       *self,
                         QmCatalog            *catalog,
                         const QmProbedMemory *memory)
{
  g_autofree char *card = name_of_card (self->name);

  self->device = qm_catalog_match_device (catalog, self->pci_id, card,
                                          self->memory_kind == QM_MEMORY_KIND_DEDICATED ? self->memory_bytes : 0);
  if (profile_of (self->name) != NULL)
    self->device = qm_catalog_match_slice (catalog, self->device, profile_of (self->name));
  if (self->name == NULL && self->device != NULL)
    self->name = g_strdup (self->device->name);
  if (self->name == NULL)
    self->name = describe (self);

  if (self->device != NULL && self->device->unified_memory && self->memory_kind == QM_MEMORY_KIND_UNKNOWN && !self->suspended)
    self->memory_kind = QM_MEMORY_KIND_UNIFIED;
  if (self->memory_kind == QM_MEMORY_KIND_UNIFIED || self->memory_kind == QM_MEMORY_KIND_CARVE_OUT)
    share_memory (self, memory);
  explain_memory (self);
}
