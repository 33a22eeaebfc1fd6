/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-device-list.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "draw/qm-language.h"
#include "history/qm-channels.h"
#include "qm-live-drawing.h"
#include "qm-ui.h"

struct _QmDeviceList {
  AdwBin parent_instance;

  QmWatcher *watcher;
  GtkWidget *list;
  char *picked;
  gboolean filling;
};

G_DEFINE_FINAL_TYPE (QmDeviceList, qm_device_list, ADW_TYPE_BIN)

static guint picked_signal;

/* What a row needs to follow the samples. */
typedef struct {
  char *id;
  char *address;                    /* where others have the same name; else NULL */
  GtkWidget *detail;
} Row;

static void
row_free (Row *self)
{
  g_free (self->id);
  g_free (self->address);
  g_free (self);
}

static Row *
row_of (GtkListBoxRow *row)
{
  return g_object_get_data (G_OBJECT (row), "device");
}

static float
gpu_latest (QmDeviceList *self,
            int           gpu,
            const char   *what)
{
  char name[QM_CHANNEL_SIZE];

  return gpu >= 0 ? qm_watcher_latest (self->watcher, qm_channel_of_gpu (name, gpu, what)) : NAN;
}

/* "64% · 5.2 GiB of 16 GiB" */
static char *
detail_of_gpu (QmDeviceList *self,
               const char   *id)
{
  const QmWords *words = qm_language_get_words ();
  int gpu = qm_watcher_find_gpu (self->watcher, id);
  float busy = gpu_latest (self, gpu, QM_CHANNEL_GPU_BUSY), used = gpu_latest (self, gpu, QM_CHANNEL_GPU_MEMORY);
  g_autofree char *share = isfinite (busy) ? qm_format_percent (words, busy) : NULL;
  g_autofree char *bytes = isfinite (used) ? qm_format_bytes (words, used) : NULL;

  if (share != NULL && bytes != NULL)
    return g_strdup_printf ("%s · %s", share, bytes);

  return g_strdup (share != NULL ? share : bytes != NULL ? bytes : _("not measured"));
}

static char *
detail_of (QmDeviceList *self,
           const char   *id)
{
  const QmWords *words = qm_language_get_words ();
  double first, second;
  g_autofree char *a = NULL, *b = NULL;

  if (g_str_equal (id, QM_PLACE_CPU))
    {
      first = qm_watcher_latest (self->watcher, QM_CHANNEL_CPU);
      return isfinite (first) ? qm_format_percent (words, first) : g_strdup ("–");
    }
  if (g_str_equal (id, QM_PLACE_MEMORY))
    {
      first = qm_watcher_latest (self->watcher, QM_CHANNEL_MEMORY);
      second = qm_watcher_latest (self->watcher, QM_CHANNEL_MEMORY_TOTAL);
      a = qm_format_bytes (words, first);
      b = qm_format_bytes (words, second);
      /* Translators: memory in use, of all there is */
      return isfinite (first) ? g_strdup_printf (_("%s of %s"), a, b) : g_strdup ("–");
    }
  if (!g_str_equal (id, QM_PLACE_DISK) && !g_str_equal (id, QM_PLACE_NETWORK))
    return detail_of_gpu (self, id);

  first = qm_watcher_latest (self->watcher, g_str_equal (id, QM_PLACE_DISK) ? QM_CHANNEL_DISK_READ : QM_CHANNEL_NETWORK_RECEIVE);
  second = qm_watcher_latest (self->watcher, g_str_equal (id, QM_PLACE_DISK) ? QM_CHANNEL_DISK_WRITE : QM_CHANNEL_NETWORK_SEND);
  if (!isfinite (first) || !isfinite (second))
    return g_strdup ("–");
  a = qm_format_file_bytes (words, first + second);

  return g_strconcat (a, "/s", NULL);
}

static void
sampled (QmDeviceList *self)
{
  GtkListBoxRow *row;

  if (!gtk_widget_get_mapped (GTK_WIDGET (self)))
    return;
  for (int i = 0; (row = gtk_list_box_get_row_at_index (GTK_LIST_BOX (self->list), i)) != NULL; i++)
    {
      Row *data = row_of (row);
      g_autofree char *now = detail_of (self, data->id);
      g_autofree char *text = data->address != NULL ? g_strdup_printf ("%s · %s", data->address, now) : NULL;

      gtk_label_set_label (GTK_LABEL (data->detail), text != NULL ? text : now);
    }
}

/* A sidebar is narrow, and whoever has cards of one maker knows which. */
static const char *
without_maker (const char *name)
{
  static const char * const makers[] = { "NVIDIA GeForce ", "NVIDIA ", "AMD ", "Intel(R) ", "Intel " };

  for (guint i = 0; i < G_N_ELEMENTS (makers); i++)
    if (g_str_has_prefix (name, makers[i]))
      return name + strlen (makers[i]);

  return name;
}

static void
add_row (QmDeviceList     *self,
         const char       *id,
         const char       *name,
         const char       *address,
         const QmLiveLook *look)
{
  GtkWidget *row = gtk_list_box_row_new ();
  GtkWidget *line = qm_ui_box (GTK_ORIENTATION_HORIZONTAL, 9);
  GtkWidget *text = qm_ui_box (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *label = qm_ui_label (without_maker (name), NULL);
  Row *data = g_new0 (Row, 1);

  data->id = g_strdup (id);
  data->address = g_strdup (address);
  data->detail = qm_ui_label (address != NULL ? address : "–", "caption second");
  /* names of cards differ at their ends: an instance, a laptop's chip */
  gtk_label_set_ellipsize (GTK_LABEL (label), g_str_equal (id, QM_PLACE_CPU) ? PANGO_ELLIPSIZE_END : PANGO_ELLIPSIZE_MIDDLE);
  gtk_widget_add_css_class (label, "may-be-cut");
  gtk_widget_set_tooltip_text (label, name);
  gtk_label_set_ellipsize (GTK_LABEL (data->detail), PANGO_ELLIPSIZE_END);
  gtk_box_append (GTK_BOX (text), label);
  gtk_box_append (GTK_BOX (text), data->detail);
  gtk_widget_set_hexpand (text, TRUE);
  gtk_widget_set_valign (text, GTK_ALIGN_CENTER);
  gtk_box_append (GTK_BOX (line), text);
  if (look->channels[0] != NULL)
    {
      GtkWidget *drawing = qm_live_drawing_new (self->watcher, look, TRUE);

      gtk_accessible_update_state (GTK_ACCESSIBLE (drawing), GTK_ACCESSIBLE_STATE_HIDDEN, TRUE, -1);
      gtk_box_append (GTK_BOX (line), drawing);
    }
  gtk_widget_add_css_class (line, "device-row");
  qm_ui_set_label (row, name);
  gtk_accessible_update_relation (GTK_ACCESSIBLE (row), GTK_ACCESSIBLE_RELATION_DESCRIBED_BY, data->detail, NULL, -1);
  gtk_list_box_row_set_child (GTK_LIST_BOX_ROW (row), line);
  g_object_set_data_full (G_OBJECT (row), "device", data, (GDestroyNotify) row_free);
  gtk_list_box_append (GTK_LIST_BOX (self->list), row);
}

/* What tells devices of one name apart: "19:00.0"; NULL for others. */
static const char *
address_of (QmMachine            *machine,
            const QmProbedDevice *device)
{
  guint same = 0;

  for (guint i = 0; i < qm_machine_n_devices (machine); i++)
    same += g_strcmp0 (qm_machine_device (machine, i)->name, device->name) == 0;
  if (same < 2)
    return NULL;

  return g_str_has_prefix (device->id, "0000:") ? device->id + strlen ("0000:") : device->id;
}

static void
add_gpu (QmDeviceList         *self,
         QmMachine            *machine,
         const QmProbedDevice *device)
{
  char name[QM_CHANNEL_SIZE];
  int gpu = qm_watcher_find_gpu (self->watcher, device->id);
  QmLiveLook look = { .ink = QM_INK_BLUE, .quantity = QM_QUANTITY_PERCENT, .top = 1 };

  if (gpu >= 0)
    look.channels[0] = qm_channel_of_gpu (name, gpu, QM_CHANNEL_GPU_BUSY);
  add_row (self, device->id, device->name != NULL ? device->name : device->id, address_of (machine, device), &look);
}

static void
add_host (QmDeviceList *self,
          QmMachine    *machine)
{
  const QmLiveLook cpu = { .channels = { QM_CHANNEL_CPU }, .ink = QM_INK_TEAL, .quantity = QM_QUANTITY_PERCENT, .top = 1 };
  const QmLiveLook memory = { .channels = { QM_CHANNEL_MEMORY }, .ink = QM_INK_PURPLE, .quantity = QM_QUANTITY_BYTES,
                              .top = qm_machine_memory (machine)->total_bytes };
  const QmLiveLook disk = { .channels = { QM_CHANNEL_DISK_READ, QM_CHANNEL_DISK_WRITE }, .ink = QM_INK_ORANGE, .quantity = QM_QUANTITY_BYTES };
  const QmLiveLook network = { .channels = { QM_CHANNEL_NETWORK_RECEIVE, QM_CHANNEL_NETWORK_SEND }, .ink = QM_INK_GREY,
                               .quantity = QM_QUANTITY_BYTES };
  const char *model = qm_machine_cpu (machine)->model;

  add_row (self, QM_PLACE_CPU, model != NULL ? model : _("Processor"), NULL, &cpu);
  add_row (self, QM_PLACE_MEMORY, C_("processor", "Memory"), NULL, &memory);
  add_row (self, QM_PLACE_DISK, _("Disks"), NULL, &disk);
  add_row (self, QM_PLACE_NETWORK, _("Network"), NULL, &network);
}

/* The one that was chosen, where it is still there; else the first. */
static void
pick_again (QmDeviceList *self)
{
  g_autofree char *before = g_strdup (self->picked);
  GtkListBoxRow *row, *found = gtk_list_box_get_row_at_index (GTK_LIST_BOX (self->list), 0);

  for (int i = 0; (row = gtk_list_box_get_row_at_index (GTK_LIST_BOX (self->list), i)) != NULL; i++)
    if (g_strcmp0 (row_of (row)->id, before) == 0)
      found = row;
  gtk_list_box_select_row (GTK_LIST_BOX (self->list), found);
  if (found != NULL)
    g_set_str (&self->picked, row_of (found)->id);
}

/**
 * qm_device_list_fill:
 * @self: a list
 * @machine: this computer
 *
 * Shows its devices, those that the catalog knows first: what jobs run on. The one
 * that was chosen stays so where it is still there.
 */
void
qm_device_list_fill (QmDeviceList *self,
                     QmMachine    *machine)
{
  self->filling = TRUE;
  gtk_list_box_remove_all (GTK_LIST_BOX (self->list));
  for (int known = TRUE; known >= FALSE; known--)
    for (guint i = 0; i < qm_machine_n_devices (machine); i++)
      if (known == (qm_machine_device (machine, i)->device != NULL))
        add_gpu (self, machine, qm_machine_device (machine, i));
  add_host (self, machine);
  pick_again (self);
  self->filling = FALSE;
  sampled (self);
}

/**
 * qm_device_list_get:
 * @self: a list
 *
 * Returns: (transfer none) (nullable): the id of the device that is chosen
 */
const char *
qm_device_list_get (QmDeviceList *self)
{
  return self->picked;
}

static void
selected (GtkListBox    *list,
          GtkListBoxRow *row,
          QmDeviceList  *self)
{
  if (self->filling || row == NULL || g_strcmp0 (row_of (row)->id, self->picked) == 0)
    return;

  g_set_str (&self->picked, row_of (row)->id);
  g_signal_emit (self, picked_signal, 0, self->picked);
}

static void
qm_device_list_dispose (GObject *object)
{
  QmDeviceList *self = QM_DEVICE_LIST (object);

  g_clear_object (&self->watcher);
  g_clear_pointer (&self->picked, g_free);

  G_OBJECT_CLASS (qm_device_list_parent_class)->dispose (object);
}

static void
qm_device_list_class_init (QmDeviceListClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = qm_device_list_dispose;

  picked_signal = g_signal_new ("picked", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
}

static void
qm_device_list_init (QmDeviceList *self)
{
  self->list = gtk_list_box_new ();
  gtk_widget_add_css_class (self->list, "navigation-sidebar");
  qm_ui_set_label (self->list, _("Devices"));
  /* A row that Tab comes to is picked: Tab goes on to the page, arrows to the others. */
  gtk_list_box_set_tab_behavior (GTK_LIST_BOX (self->list), GTK_LIST_TAB_ITEM);
  g_signal_connect (self->list, "row-selected", G_CALLBACK (selected), self);
  adw_bin_set_child (ADW_BIN (self), self->list);
}

/**
 * qm_device_list_new:
 * @watcher: where the samples are from
 *
 * Returns: (transfer floating): an empty list
 */
GtkWidget *
qm_device_list_new (QmWatcher *watcher)
{
  QmDeviceList *self = g_object_new (QM_TYPE_DEVICE_LIST, NULL);

  self->watcher = g_object_ref (watcher);
  g_signal_connect_object (watcher, "sampled", G_CALLBACK (sampled), self, G_CONNECT_SWAPPED);

  return GTK_WIDGET (self);
}
