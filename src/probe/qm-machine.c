/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-probe-private.h"

struct _QmMachine {
  GObject parent_instance;

  GPtrArray *devices;               /* of QmProbedDevice */
  QmProbedCpu cpu;
  QmProbedMemory memory;
  QmProbedStorage storage;
};

G_DEFINE_FINAL_TYPE (QmMachine, qm_machine, G_TYPE_OBJECT)

static void
qm_machine_finalize (GObject *object)
{
  QmMachine *self = QM_MACHINE (object);

  g_ptr_array_unref (self->devices);
  g_free (self->cpu.model);
  g_free (self->cpu.features);
  g_free (self->storage.path);
  g_free (self->storage.kind);

  G_OBJECT_CLASS (qm_machine_parent_class)->finalize (object);
}

static void
qm_machine_class_init (QmMachineClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = qm_machine_finalize;
}

static void
qm_machine_init (QmMachine *self)
{
  self->devices = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_probed_device_free);
}

static QmMachine *
probe (QmCatalog    *catalog,
       const char   *sysroot,
       gboolean      wake,
       GCancellable *cancellable)
{
  QmMachine *self = g_object_new (QM_TYPE_MACHINE, NULL);
  const char *root = sysroot != NULL ? sysroot : "";

  qm_probe_cpu (root, &self->cpu);
  self->cpu.device = qm_probe_match_cpu (catalog, self->cpu.model);
  qm_probe_memory (root, &self->memory);
  qm_probe_storage (root, g_get_home_dir (), &self->storage);

  qm_probe_pci (root, wake, self->devices);
  qm_probe_soc (root, self->devices);
  qm_probe_nvml (root, self->devices, cancellable);
  for (guint i = 0; i < self->devices->len; i++)
    qm_probed_device_settle (g_ptr_array_index (self->devices, i), catalog, &self->memory);

  return self;
}

/**
 * qm_machine_probe:
 * @catalog: the catalog, to name what is found
 * @sysroot: (nullable): a captured tree; %NULL for this computer
 * @cancellable: (nullable): a #GCancellable
 *
 * Looks at what this computer has. Takes well under a second, two at most where
 * a driver hangs; never wakes a card that sleeps.
 *
 * Returns: (transfer full): what was found
 */
QmMachine *
qm_machine_probe (QmCatalog    *catalog,
                  const char   *sysroot,
                  GCancellable *cancellable)
{
  return probe (catalog, sysroot, FALSE, cancellable);
}

/**
 * qm_machine_probe_waking:
 * @catalog: the catalog, to name what is found
 * @sysroot: (nullable): a captured tree; %NULL for this computer
 * @cancellable: (nullable): a #GCancellable
 *
 * As qm_machine_probe(), and cards that sleep are woken and measured: where the
 * person asked for it.
 *
 * Returns: (transfer full): what was found
 */
QmMachine *
qm_machine_probe_waking (QmCatalog    *catalog,
                         const char   *sysroot,
                         GCancellable *cancellable)
{
  return probe (catalog, sysroot, TRUE, cancellable);
}

typedef struct {
  QmCatalog *catalog;
  char *sysroot;
  gboolean wake;
} Probe;

static void
probe_free (Probe *self)
{
  g_object_unref (self->catalog);
  g_free (self->sysroot);
  g_free (self);
}

static void
probe_in_thread (GTask        *task,
                 gpointer      source,
                 gpointer      data,
                 GCancellable *cancellable)
{
  Probe *wanted = data;

  g_task_return_pointer (task, probe (wanted->catalog, wanted->sysroot, wanted->wake, cancellable), g_object_unref);
}

/**
 * qm_machine_is_flatpak:
 * @sysroot: (nullable): a captured tree; %NULL for this computer
 *
 * Returns: whether this program runs in the sandbox of a Flatpak, which shows
 *   the hardware but no other program
 */
gboolean
qm_machine_is_flatpak (const char *sysroot)
{
  return qm_tree_has (sysroot != NULL ? sysroot : "", "", ".flatpak-info");
}

/**
 * qm_machine_probe_async:
 * @catalog: the catalog
 * @sysroot: (nullable): a captured tree; %NULL for this computer
 * @wake: whether cards that sleep are woken
 * @cancellable: (nullable): a #GCancellable
 * @callback: called when it is done
 * @user_data: for @callback
 *
 * Looks at this computer in a thread.
 */
void
qm_machine_probe_async (QmCatalog           *catalog,
                        const char          *sysroot,
                        gboolean             wake,
                        GCancellable        *cancellable,
                        GAsyncReadyCallback  callback,
                        gpointer             user_data)
{
  g_autoptr (GTask) task = g_task_new (NULL, cancellable, callback, user_data);
  Probe *wanted = g_new0 (Probe, 1);

  wanted->catalog = g_object_ref (catalog);
  wanted->sysroot = g_strdup (sysroot);
  wanted->wake = wake;
  g_task_set_source_tag (task, qm_machine_probe_async);
  g_task_set_task_data (task, wanted, (GDestroyNotify) probe_free);
  g_task_run_in_thread (task, probe_in_thread);
}

/**
 * qm_machine_probe_finish:
 * @result: what the callback got
 * @error: return location for an error
 *
 * Returns: (transfer full): what was found, or %NULL with @error set
 */
QmMachine *
qm_machine_probe_finish (GAsyncResult  *result,
                         GError       **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}

/**
 * qm_machine_n_devices:
 * @self: a machine
 *
 * Returns: how many GPUs and NPUs it has
 */
guint
qm_machine_n_devices (QmMachine *self)
{
  return self->devices->len;
}

/**
 * qm_machine_device:
 * @self: a machine
 * @index: from 0
 *
 * Returns: (transfer none): a GPU or NPU
 */
const QmProbedDevice *
qm_machine_device (QmMachine *self,
                   guint      index)
{
  return g_ptr_array_index (self->devices, index);
}

/**
 * qm_machine_cpu:
 * @self: a machine
 *
 * Returns: (transfer none): its processor
 */
const QmProbedCpu *
qm_machine_cpu (QmMachine *self)
{
  return &self->cpu;
}

/**
 * qm_machine_memory:
 * @self: a machine
 *
 * Returns: (transfer none): its system memory
 */
const QmProbedMemory *
qm_machine_memory (QmMachine *self)
{
  return &self->memory;
}

/**
 * qm_machine_storage:
 * @self: a machine
 *
 * Returns: (transfer none): the disk of the home folder
 */
const QmProbedStorage *
qm_machine_storage (QmMachine *self)
{
  return &self->storage;
}

/* A card whose instances are listed apart is not there a second time. */
static gboolean
is_split (QmMachine            *self,
          const QmProbedDevice *device)
{
  g_autofree char *prefix = g_strconcat (device->id, "/", NULL);

  for (guint i = 0; i < self->devices->len; i++)
    if (g_str_has_prefix (((QmProbedDevice *) g_ptr_array_index (self->devices, i))->id, prefix))
      return TRUE;

  return FALSE;
}

/**
 * qm_machine_get_here:
 * @self: a machine
 * @here: (out caller-allocates): what it means to the core
 */
void
qm_machine_get_here (QmMachine *self,
                     QmHere    *here)
{
  *here = (QmHere) { 0 };
  for (guint i = 0; i < self->devices->len && here->n_devices < (int) G_N_ELEMENTS (here->devices); i++)
    {
      const QmProbedDevice *device = g_ptr_array_index (self->devices, i);

      if (device->device == NULL || is_split (self, device))
        continue;
      here->devices[here->n_devices] = device->device;
      here->usable_bytes[here->n_devices] = device->memory_bytes;
      here->free_bytes[here->n_devices] = device->memory_free_bytes;
      here->power_watts[here->n_devices] = device->power_limit_watts;
      here->n_devices++;
    }

  here->cpu = self->cpu.device;
  here->cpu_cores = MIN (self->cpu.cores, self->cpu.usable_threads);
  here->ram_bytes = self->memory.limit_bytes > 0 ? self->memory.limit_bytes : self->memory.total_bytes;
}

/* ----------------------------------------------------------------------- JSON */

static void
set_text (JsonObject *object,
          const char *name,
          const char *text)
{
  if (text != NULL)
    json_object_set_string_member (object, name, text);
  else
    json_object_set_null_member (object, name);
}

static void
set_bytes (JsonObject *object,
           const char *name,
           double      bytes)
{
  if (bytes > 0)
    json_object_set_int_member (object, name, (gint64) bytes);
  else
    json_object_set_null_member (object, name);
}

static void
set_number (JsonObject *object,
            const char *name,
            double      value)
{
  if (value > 0)
    json_object_set_double_member (object, name, value);
  else
    json_object_set_null_member (object, name);
}

static JsonObject *
device_to_object (const QmProbedDevice *device)
{
  static const char * const kinds[] = { "unknown", "dedicated", "carve-out", "unified" };
  JsonObject *object = json_object_new ();
  JsonObject *unknown = json_object_new ();

  set_text (object, "id", device->id);
  set_text (object, "name", device->name);
  set_text (object, "vendor", device->vendor);
  set_text (object, "pci", device->pci_id);
  set_bytes (object, "memory_bytes", device->memory_bytes);
  set_bytes (object, "memory_free_bytes", device->memory_free_bytes);
  set_text (object, "memory_kind", kinds[device->memory_kind]);
  set_text (object, "driver", device->driver);
  set_text (object, "link", device->link);
  set_number (object, "power_limit_watts", device->power_limit_watts);
  set_text (object, "catalog_id", device->device != NULL ? device->device->id : NULL);
  json_object_set_boolean_member (object, "suspended", device->suspended);
  for (guint i = 0; i < device->unknown->len; i++)
    {
      const QmUnknown *field = g_ptr_array_index (device->unknown, i);

      json_object_set_string_member (unknown, field->field, field->reason);
    }
  json_object_set_object_member (object, "unknown", unknown);
  set_text (object, "remedy", device->remedy);

  return object;
}

/**
 * qm_machine_to_json:
 * @self: a machine
 *
 * Returns: (transfer full): the object of `detect --json`
 */
JsonNode *
qm_machine_to_json (QmMachine *self)
{
  JsonNode *node = json_node_new (JSON_NODE_OBJECT);
  JsonObject *root = json_object_new ();
  JsonObject *cpu = json_object_new ();
  JsonObject *memory = json_object_new ();
  JsonObject *storage = json_object_new ();
  JsonArray *devices = json_array_new ();

  for (guint i = 0; i < self->devices->len; i++)
    json_array_add_object_element (devices, device_to_object (g_ptr_array_index (self->devices, i)));
  json_object_set_array_member (root, "devices", devices);

  set_text (cpu, "model", self->cpu.model);
  json_object_set_int_member (cpu, "sockets", self->cpu.sockets);
  json_object_set_int_member (cpu, "cores", self->cpu.cores);
  json_object_set_int_member (cpu, "threads", self->cpu.threads);
  json_object_set_int_member (cpu, "usable_threads", self->cpu.usable_threads);
  set_text (cpu, "features", self->cpu.features);
  set_text (cpu, "catalog_id", self->cpu.device != NULL ? self->cpu.device->id : NULL);
  json_object_set_object_member (root, "cpu", cpu);

  set_bytes (memory, "total_bytes", self->memory.total_bytes);
  set_bytes (memory, "available_bytes", self->memory.available_bytes);
  set_bytes (memory, "limit_bytes", self->memory.limit_bytes);
  json_object_set_object_member (root, "memory", memory);

  set_text (storage, "kind", self->storage.kind);
  set_bytes (storage, "total_bytes", self->storage.total_bytes);
  set_bytes (storage, "free_bytes", self->storage.free_bytes);
  json_object_set_object_member (root, "storage", storage);
  json_node_take_object (node, root);

  return node;
}
