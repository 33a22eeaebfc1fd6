/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-device-page.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "draw/qm-language.h"
#include "history/qm-channels.h"
#include "qm-columns.h"
#include "qm-cores-view.h"
#include "qm-device-list.h"
#include "qm-live-card.h"
#include "qm-ui.h"

/**
 * qm_device_page_find:
 * @machine: this computer
 * @id: of one of its devices, or of what is beside them
 *
 * Returns: (transfer none) (nullable): the GPU or NPU of that id
 */
const QmProbedDevice *
qm_device_page_find (QmMachine  *machine,
                     const char *id)
{
  for (guint i = 0; i < qm_machine_n_devices (machine); i++)
    if (g_strcmp0 (qm_machine_device (machine, i)->id, id) == 0)
      return qm_machine_device (machine, i);

  return NULL;
}

/* ---------------------------------------------------------------------------- head */

static void
add_chip (GtkWidget *chips,
          char      *text)
{
  GtkWidget *label;

  if (text != NULL && text[0] != '\0')
    {
      label = qm_ui_wrapped (text, "fact-chip");
      adw_wrap_box_append (ADW_WRAP_BOX (chips), label);
    }
  g_free (text);
}

static void
add_device_chips (GtkWidget            *chips,
                  const QmProbedDevice *device)
{
  const QmWords *words = qm_language_get_words ();
  g_autofree char *memory = device->memory_bytes > 0 ? qm_format_bytes (words, device->memory_bytes) : NULL;
  double bandwidth = device->device != NULL ? device->device->bandwidth_bytes_per_second : 0;
  g_autofree char *rate = bandwidth > 0 ? qm_format_file_bytes (words, bandwidth) : NULL;

  add_chip (chips, memory == NULL ? NULL : device->memory_kind == QM_MEMORY_KIND_UNIFIED
                     /* Translators: memory that processor and GPU share */
                     ? g_strdup_printf (_("%s shared with the processor"), memory) : g_strdup (memory));
  add_chip (chips, rate != NULL ? g_strdup_printf ("%s/s", rate) : NULL);
  add_chip (chips, g_strdup (device->link));
  /* Translators: of a graphics card, with its version */
  add_chip (chips, device->driver != NULL ? g_strdup_printf (_("driver %s"), device->driver) : NULL);
  add_chip (chips, device->suspended ? g_strdup (_("asleep")) : NULL);
}

static void
add_host_chips (GtkWidget  *chips,
                QmMachine  *machine,
                const char *id)
{
  const QmWords *words = qm_language_get_words ();
  const QmProbedCpu *cpu = qm_machine_cpu (machine);
  const QmProbedMemory *memory = qm_machine_memory (machine);
  const QmProbedStorage *storage = qm_machine_storage (machine);
  g_autofree char *total = qm_format_bytes (words, memory->total_bytes);
  g_autofree char *limit = qm_format_bytes (words, memory->limit_bytes);
  g_autofree char *disk = qm_format_file_bytes (words, storage->total_bytes);
  g_autofree char *free_space = qm_format_file_bytes (words, storage->free_bytes);

  if (g_str_equal (id, QM_PLACE_CPU))
    {
      add_chip (chips, g_strdup_printf (ngettext ("%d core", "%d cores", cpu->cores), cpu->cores));
      add_chip (chips, g_strdup_printf (ngettext ("%d usable thread", "%d usable threads", cpu->usable_threads), cpu->usable_threads));
    }
  else if (g_str_equal (id, QM_PLACE_MEMORY))
    {
      add_chip (chips, g_strdup (total));
      add_chip (chips, memory->limit_bytes > 0 ? g_strdup_printf (_("limited to %s for this session"), limit) : NULL);
    }
  else if (g_str_equal (id, QM_PLACE_DISK) && storage->total_bytes > 0)
    {
      add_chip (chips, g_strdup (disk));
      add_chip (chips, g_strdup_printf (_("%s free"), free_space));
      add_chip (chips, g_strcmp0 (storage->kind, "unknown") != 0 ? g_ascii_strup (storage->kind != NULL ? storage->kind : "", -1) : NULL);
    }
}

static const char *
name_of (QmMachine            *machine,
         const QmProbedDevice *device,
         const char           *id)
{
  if (device != NULL)
    return device->name != NULL ? device->name : device->id;
  if (g_str_equal (id, QM_PLACE_CPU))
    return qm_machine_cpu (machine)->model != NULL ? qm_machine_cpu (machine)->model : _("Processor");
  if (g_str_equal (id, QM_PLACE_MEMORY))
    return C_("processor", "Memory");

  return g_str_equal (id, QM_PLACE_DISK) ? _("Disks") : _("Network");
}

static const char *
icon_of (const QmProbedDevice *device,
         const char           *id)
{
  if (device != NULL || g_str_equal (id, QM_PLACE_CPU))
    return "qm-chip-symbolic";
  if (g_str_equal (id, QM_PLACE_MEMORY))
    return "qm-memory-symbolic";

  return g_str_equal (id, QM_PLACE_DISK) ? "qm-db-symbolic" : "qm-cloud-symbolic";
}

/**
 * qm_device_head_new:
 * @machine: this computer
 * @id: of what is shown
 *
 * Returns: (transfer floating): its name and the facts that matter
 */
GtkWidget *
qm_device_head_new (QmMachine  *machine,
                    const char *id)
{
  const QmProbedDevice *device = qm_device_page_find (machine, id);
  GtkWidget *head = qm_ui_box (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *text = qm_ui_box (GTK_ORIENTATION_VERTICAL, 6);
  GtkWidget *chips = adw_wrap_box_new ();
  GtkWidget *title = qm_ui_wrapped (name_of (machine, device, id), "title-2");

  adw_wrap_box_set_child_spacing (ADW_WRAP_BOX (chips), 6);
  adw_wrap_box_set_line_spacing (ADW_WRAP_BOX (chips), 6);
  if (device != NULL)
    add_device_chips (chips, device);
  else
    add_host_chips (chips, machine, id);
  gtk_box_append (GTK_BOX (head), qm_ui_icon_tile (icon_of (device, id), FALSE));
  gtk_box_append (GTK_BOX (text), title);
  gtk_box_append (GTK_BOX (text), chips);
  gtk_widget_set_hexpand (text, TRUE);
  gtk_box_append (GTK_BOX (head), text);

  return head;
}

/* --------------------------------------------------------------------------- charts */

static GtkWidget *
add_card (GtkWidget        *columns,
          QmWatcher        *watcher,
          const char       *title,
          const QmLiveLook *look)
{
  GtkWidget *card = qm_live_card_new (watcher, title, look);

  qm_columns_append (QM_COLUMNS (columns), card);
  return card;
}

/* The notes of the cards of a GPU follow what it does. */
typedef struct {
  QmWatcher *watcher;
  int gpu;
  GtkWidget *memory;
  GtkWidget *power;
  GtkWidget *temperature;
} Notes;

static float
latest (const Notes *self,
        const char  *what)
{
  char name[QM_CHANNEL_SIZE];

  return qm_watcher_latest (self->watcher, qm_channel_of_gpu (name, self->gpu, what));
}

static void
note_memory (const Notes *self)
{
  const QmWords *words = qm_language_get_words ();
  float used = latest (self, QM_CHANNEL_GPU_MEMORY), total = latest (self, QM_CHANNEL_GPU_MEMORY_TOTAL);
  g_autofree char *all = qm_format_bytes (words, total);
  g_autofree char *left = qm_format_bytes (words, total - used);
  g_autofree char *text = NULL;

  if (!isfinite (used) || !isfinite (total))
    return;
  /* Translators: memory of a graphics card: all of it, and what is free */
  text = g_strdup_printf (_("of %s, %s free"), all, left);
  qm_live_card_set_note (QM_LIVE_CARD (self->memory), text);
  qm_live_card_set_limit (QM_LIVE_CARD (self->memory), total, all);
}

static void
note_power (const Notes *self)
{
  float limit = latest (self, QM_CHANNEL_GPU_POWER_LIMIT);
  g_autofree char *text = NULL;

  if (!isfinite (limit) || limit <= 0)
    return;
  text = g_strdup_printf (_("limit %.0f W"), limit);
  qm_live_card_set_limit (QM_LIVE_CARD (self->power), limit, text);
}

static void
note_temperature (const Notes *self)
{
  float clock = latest (self, QM_CHANNEL_GPU_CLOCK), reasons = latest (self, QM_CHANNEL_GPU_THROTTLED);
  const char *slowed = !isfinite (reasons) ? NULL : (int) reasons & QM_THROTTLED_THERMAL ? _("slowed by heat")
                       : (int) reasons & QM_THROTTLED_POWER ? _("slowed by its power limit") : reasons > 0 ? _("slowed") : _("not slowed");
  g_autofree char *mhz = isfinite (clock) ? g_strdup_printf ("%.0f MHz", clock / 1e6) : NULL;
  g_autofree char *text = mhz != NULL && slowed != NULL ? g_strdup_printf ("%s, %s", mhz, slowed) : g_strdup (mhz != NULL ? mhz : slowed);

  qm_live_card_set_note (QM_LIVE_CARD (self->temperature), text);
}

static void
update_notes (GtkWidget *columns)
{
  const Notes *notes = g_object_get_data (G_OBJECT (columns), "notes");

  note_memory (notes);
  note_power (notes);
  note_temperature (notes);
}

static void
add_gpu_cards (GtkWidget *columns,
               QmWatcher *watcher,
               int        gpu)
{
  char a[QM_CHANNEL_SIZE], b[QM_CHANNEL_SIZE];
  QmLiveLook look = { .channels = { qm_channel_of_gpu (a, gpu, QM_CHANNEL_GPU_BUSY) }, .ink = QM_INK_BLUE,
                      .quantity = QM_QUANTITY_PERCENT, .top = 1 };
  Notes *notes = g_new0 (Notes, 1);

  notes->watcher = watcher;
  notes->gpu = gpu;
  /* Translators: how busy a device is */
  add_card (columns, watcher, C_("device", "Use"), &look);
  look = (QmLiveLook) { .channels = { qm_channel_of_gpu (a, gpu, QM_CHANNEL_GPU_MEMORY) }, .ink = QM_INK_PURPLE, .quantity = QM_QUANTITY_BYTES };
  notes->memory = add_card (columns, watcher, _("Memory"), &look);
  look = (QmLiveLook) { .channels = { qm_channel_of_gpu (a, gpu, QM_CHANNEL_GPU_POWER) }, .ink = QM_INK_ORANGE,
                        .quantity = QM_QUANTITY_NUMBER, .suffix = "\302\240W" };
  notes->power = add_card (columns, watcher, _("Power"), &look);
  look = (QmLiveLook) { .channels = { qm_channel_of_gpu (a, gpu, QM_CHANNEL_GPU_TEMPERATURE) }, .ink = QM_INK_TEAL,
                        .quantity = QM_QUANTITY_NUMBER, .suffix = "\302\240°C", .top = 100 };
  notes->temperature = add_card (columns, watcher, _("Temperature"), &look);
  look = (QmLiveLook) { .channels = { qm_channel_of_gpu (a, gpu, QM_CHANNEL_GPU_MEMORY_BUSY) }, .ink = QM_INK_PURPLE,
                        .quantity = QM_QUANTITY_PERCENT, .top = 1 };
  /* Translators: how much of the time a graphics card reads or writes its memory */
  add_card (columns, watcher, _("Memory traffic"), &look);
  look = (QmLiveLook) { .channels = { qm_channel_of_gpu (a, gpu, QM_CHANNEL_GPU_PCIE_RECEIVE), qm_channel_of_gpu (b, gpu, QM_CHANNEL_GPU_PCIE_SEND) },
                        .ink = QM_INK_GREY, .quantity = QM_QUANTITY_BYTES, .suffix = "/s" };
  qm_live_card_set_note (QM_LIVE_CARD (add_card (columns, watcher, _("Traffic with the computer"), &look)), _("received, and sent (dashed)"));
  g_object_set_data_full (G_OBJECT (columns), "notes", notes, g_free);
  g_signal_connect_object (watcher, "sampled", G_CALLBACK (update_notes), columns, G_CONNECT_SWAPPED);
}

static void
add_cores (GtkWidget *columns,
           QmWatcher *watcher)
{
  GtkWidget *card = qm_ui_box (GTK_ORIENTATION_VERTICAL, 9);

  gtk_widget_add_css_class (card, "card");
  gtk_widget_add_css_class (card, "sheet");
  gtk_box_append (GTK_BOX (card), qm_ui_wrapped (_("Each core"), "heading"));
  gtk_box_append (GTK_BOX (card), qm_ui_wrapped (_("A training that keeps one core busy and the others idle has too few loaders"), "caption second"));
  gtk_box_append (GTK_BOX (card), qm_cores_view_new (watcher));
  qm_columns_append (QM_COLUMNS (columns), card);
}

static void
add_host_cards (GtkWidget  *columns,
                QmWatcher  *watcher,
                const char *id)
{
  const QmLiveLook cpu = { .channels = { QM_CHANNEL_CPU }, .ink = QM_INK_TEAL, .quantity = QM_QUANTITY_PERCENT, .top = 1 };
  const QmLiveLook waiting = { .channels = { QM_CHANNEL_CPU_WAITING }, .ink = QM_INK_ORANGE, .quantity = QM_QUANTITY_PERCENT, .top = 1 };
  const QmLiveLook memory = { .channels = { QM_CHANNEL_MEMORY }, .ink = QM_INK_PURPLE, .quantity = QM_QUANTITY_BYTES };
  const QmLiveLook swap = { .channels = { QM_CHANNEL_SWAP }, .ink = QM_INK_ORANGE, .quantity = QM_QUANTITY_BYTES, .suffix = "/s" };
  const QmLiveLook disk = { .channels = { QM_CHANNEL_DISK_READ, QM_CHANNEL_DISK_WRITE }, .ink = QM_INK_ORANGE,
                            .quantity = QM_QUANTITY_BYTES, .suffix = "/s" };
  const QmLiveLook busy = { .channels = { QM_CHANNEL_DISK_BUSY }, .ink = QM_INK_ORANGE, .quantity = QM_QUANTITY_PERCENT, .top = 1 };
  const QmLiveLook network = { .channels = { QM_CHANNEL_NETWORK_RECEIVE, QM_CHANNEL_NETWORK_SEND }, .ink = QM_INK_BLUE,
                               .quantity = QM_QUANTITY_BYTES, .suffix = "/s" };

  if (g_str_equal (id, QM_PLACE_CPU))
    {
      add_card (columns, watcher, C_("device", "Use"), &cpu);
      add_cores (columns, watcher);
      qm_live_card_set_note (QM_LIVE_CARD (add_card (columns, watcher, _("Waiting for disks"), &waiting)), _("idle because data is not there yet"));
    }
  else if (g_str_equal (id, QM_PLACE_MEMORY))
    {
      GtkWidget *card = add_card (columns, watcher, C_("processor", "Memory"), &memory);

      g_object_set_data (G_OBJECT (columns), "memory", card);
      qm_live_card_set_note (QM_LIVE_CARD (add_card (columns, watcher, _("Swapping"), &swap)), _("memory that is moved to disk and back"));
    }
  else if (g_str_equal (id, QM_PLACE_DISK))
    {
      qm_live_card_set_note (QM_LIVE_CARD (add_card (columns, watcher, _("Reading and writing"), &disk)), _("read, and written (dashed)"));
      qm_live_card_set_note (QM_LIVE_CARD (add_card (columns, watcher, C_("device", "Use"), &busy)), _("of the busiest disk"));
    }
  else
    qm_live_card_set_note (QM_LIVE_CARD (add_card (columns, watcher, _("Receiving and sending"), &network)), _("received, and sent (dashed)"));
}

/**
 * qm_device_cards_new:
 * @machine: this computer
 * @watcher: where the samples are from
 * @id: of what is shown
 *
 * Returns: (transfer floating): live charts of it, side by side
 */
GtkWidget *
qm_device_cards_new (QmMachine  *machine,
                     QmWatcher  *watcher,
                     const char *id)
{
  GtkWidget *columns = qm_columns_new (320, 2, 12);
  int gpu = qm_watcher_find_gpu (watcher, id);

  if (qm_device_page_find (machine, id) == NULL)
    add_host_cards (columns, watcher, id);
  else if (gpu >= 0)
    add_gpu_cards (columns, watcher, gpu);
  if (g_str_equal (id, QM_PLACE_MEMORY))
    {
      double total = qm_machine_memory (machine)->total_bytes;
      g_autofree char *text = qm_format_bytes (qm_language_get_words (), total);

      if (total > 0)
        qm_live_card_set_limit (QM_LIVE_CARD (g_object_get_data (G_OBJECT (columns), "memory")), total, text);
    }

  return columns;
}

/* -------------------------------------------------------------------------- details */

static void
add_bytes (GtkWidget  *group,
           const char *title,
           double      bytes)
{
  g_autofree char *text = qm_format_bytes (qm_language_get_words (), bytes);

  if (bytes > 0)
    qm_ui_add_property (group, title, text);
}

static const char *
name_of_field (const char *field)
{
  static const struct { const char *field; const char *name; } names[] = {
    { "memory_bytes", N_("Memory") }, { "memory_free_bytes", N_("Free memory") }, { "driver", N_("Driver") }, { "link", N_("Link") },
    { "name", N_("Name") },
  };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_str_equal (names[i].field, field))
      return _(names[i].name);

  return field;
}

static void
add_power_limit (GtkWidget            *group,
                 const QmProbedDevice *device)
{
  double usual = device->device != NULL ? device->device->power_watts : 0;
  g_autofree char *text = usual > 0 ? g_strdup_printf (_("%.0f W of %.0f W"), device->power_limit_watts, usual)
                                    : g_strdup_printf (_("%.0f W"), device->power_limit_watts);

  if (device->power_limit_watts > 0)
    qm_ui_add_property (group, _("Power limit"), text);
}

static void
add_device (GtkWidget            *group,
            const QmProbedDevice *device)
{
  add_bytes (group, _("Memory"), device->memory_bytes);
  add_bytes (group, _("Free now"), device->memory_free_bytes);
  if (device->memory_bytes <= 0 && device->device != NULL && device->device->memory_bytes > 0)
    add_bytes (group, _("Memory by its data sheet"), device->device->memory_bytes);
  for (guint i = 0; device->unknown != NULL && i < device->unknown->len; i++)
    {
      const QmUnknown *unknown = g_ptr_array_index (device->unknown, i);
      g_autofree char *text = g_strdup_printf (_("unknown: %s"), unknown->reason);

      qm_ui_add_property (group, name_of_field (unknown->field), text);
    }
  add_power_limit (group, device);
  qm_ui_add_property (group, _("Driver"), device->driver);
  qm_ui_add_property (group, _("Link"), device->link);
  qm_ui_add_property (group, _("Address"), device->id);
}

/**
 * qm_device_details_new:
 * @machine: this computer
 * @id: of what is shown
 *
 * Returns: (transfer floating): all that was found out, to be read and copied
 */
GtkWidget *
qm_device_details_new (QmMachine  *machine,
                       const char *id)
{
  const QmProbedDevice *device = qm_device_page_find (machine, id);
  const QmProbedCpu *cpu = qm_machine_cpu (machine);
  const QmProbedMemory *memory = qm_machine_memory (machine);
  GtkWidget *group = adw_preferences_group_new ();
  g_autofree char *cores = g_strdup_printf (ngettext ("%d core, %d usable threads", "%d cores, %d usable threads", cpu->cores), cpu->cores,
                                            cpu->usable_threads);

  adw_preferences_group_set_title (ADW_PREFERENCES_GROUP (group), _("Details"));
  if (device != NULL)
    add_device (group, device);
  else if (g_str_equal (id, QM_PLACE_CPU))
    {
      qm_ui_add_property (group, _("Processor"), cpu->model);
      qm_ui_add_property (group, _("Cores"), cores);
      qm_ui_add_property (group, _("Fast instructions"), cpu->features);
    }
  else if (g_str_equal (id, QM_PLACE_MEMORY))
    {
      add_bytes (group, C_("processor", "Memory"), memory->total_bytes);
      add_bytes (group, _("Free now"), memory->available_bytes);
      add_bytes (group, _("Limit set for this session"), memory->limit_bytes);
    }
  else
    gtk_widget_set_visible (group, FALSE);

  return group;
}
