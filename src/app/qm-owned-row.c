/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>

#include "draw/qm-language.h"
#include "qm-question-row.h"
#include "qm-ui.h"

#define GIB (1024.0 * 1024 * 1024)

/* As many as people have; a plan file may name more. */
#define MOST_CARDS 16
#define MOST_GIB 4096

/* One computer, as most people have. Others that a plan file names stay as they are. */
struct _QmOwnedRow {
  AdwExpanderRow parent_instance;

  QmSession *session;
  GPtrArray *devices;               /* of QmDevice, the catalog's; the first is NULL: none */
  GtkWidget *device;
  GtkWidget *count;
  GtkWidget *memory;
  gboolean updating;
};

G_DEFINE_FINAL_TYPE (QmOwnedRow, qm_owned_row, ADW_TYPE_EXPANDER_ROW)

static int
compare_names (gconstpointer a,
               gconstpointer b)
{
  const QmDevice *x = *(const QmDevice * const *) a, *y = *(const QmDevice * const *) b;

  return x == NULL ? -1 : y == NULL ? 1 : g_utf8_collate (x->name, y->name);
}

static void
list_devices (QmOwnedRow *self)
{
  QmCatalog *catalog = qm_session_get_catalog (self->session);

  g_ptr_array_add (self->devices, NULL);
  for (guint i = 0; i < qm_catalog_n_devices (catalog); i++)
    {
      const QmDevice *device = qm_catalog_device (catalog, i);

      if (device->device_class != QM_DEVICE_CLASS_CPU && device->device_class != QM_DEVICE_CLASS_TPU && !device->is_unknown)
        g_ptr_array_add (self->devices, (gpointer) device);
    }
  g_ptr_array_sort (self->devices, compare_names);
}

/* What the spin rows cannot show stays: a part of a GiB, and the machines where the
 * cards still come out even. */
static void
read_rows (QmOwnedRow *self,
           QmOwned    *owned)
{
  double memory = adw_spin_row_get_value (ADW_SPIN_ROW (self->memory));

  owned->devices = (int) adw_spin_row_get_value (ADW_SPIN_ROW (self->count));
  if (owned->nodes < 1 || owned->devices % owned->nodes != 0)
    owned->nodes = 1;
  if (memory != round (owned->host_memory_bytes / GIB))
    owned->host_memory_bytes = GIB * memory;
}

static void
changed (QmOwnedRow *self)
{
  const QmPlaces *places = &qm_session_get_plan (self->session)->places;
  const QmDevice *device = g_ptr_array_index (self->devices, adw_combo_row_get_selected (ADW_COMBO_ROW (self->device)));
  QmOwned owned = { .nodes = 1 };

  if (self->updating)
    return;
  if (device == NULL)
    {
      qm_session_set_owned (self->session, NULL);
      return;
    }

  if (places->n_owned > 0)
    owned = places->owned[0];
  qm_word_set (owned.device, device->id);
  read_rows (self, &owned);
  qm_session_set_owned (self->session, &owned);
}

static guint
index_of (QmOwnedRow *self,
          const char *id)
{
  for (guint i = 1; i < self->devices->len; i++)
    if (g_str_equal (((const QmDevice *) g_ptr_array_index (self->devices, i))->id, id))
      return i;

  return 0;
}

static void
show_value (GtkWidget *row,
            double     value,
            double     most)
{
  GtkAdjustment *adjustment = adw_spin_row_get_adjustment (ADW_SPIN_ROW (row));

  gtk_adjustment_set_upper (adjustment, fmax (value, most));
  gtk_adjustment_set_value (adjustment, value);
}

static void
update (QmOwnedRow *self)
{
  const QmPlaces *places = &qm_session_get_plan (self->session)->places;
  const QmOwned none = { .devices = 1 };
  const QmOwned *owned = places->n_owned > 0 ? &places->owned[0] : &none;
  guint index = index_of (self, owned->device);
  const QmDevice *device = g_ptr_array_index (self->devices, index);
  g_autofree char *summary = device != NULL ? g_strdup_printf ("%d × %s", owned->devices, device->name) : NULL;

  self->updating = TRUE;
  adw_combo_row_set_selected (ADW_COMBO_ROW (self->device), index);
  show_value (self->count, owned->devices, MOST_CARDS);
  show_value (self->memory, round (owned->host_memory_bytes / GIB), MOST_GIB);
  self->updating = FALSE;
  gtk_widget_set_sensitive (self->count, device != NULL);
  gtk_widget_set_sensitive (self->memory, device != NULL);
  adw_expander_row_set_subtitle (ADW_EXPANDER_ROW (self), summary != NULL ? summary : _("None; only this one counts as yours"));
}

static GtkWidget *
add_spin (QmOwnedRow *self,
          const char *title,
          const char *subtitle,
          double      lowest,
          double      highest)
{
  GtkWidget *row = adw_spin_row_new_with_range (lowest, highest, 1);

  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  if (subtitle != NULL)
    adw_action_row_set_subtitle (ADW_ACTION_ROW (row), subtitle);
  g_signal_connect_object (row, "notify::value", G_CALLBACK (changed), self, G_CONNECT_SWAPPED);
  adw_expander_row_add_row (ADW_EXPANDER_ROW (self), row);

  return row;
}

static void
add_device (QmOwnedRow *self)
{
  g_autoptr (GtkStringList) names = gtk_string_list_new (NULL);

  gtk_string_list_append (names, _("None"));
  for (guint i = 1; i < self->devices->len; i++)
    gtk_string_list_append (names, ((const QmDevice *) g_ptr_array_index (self->devices, i))->name);

  self->device = adw_combo_row_new ();
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->device), _("Its graphics card"));
  adw_combo_row_set_expression (ADW_COMBO_ROW (self->device), gtk_property_expression_new (GTK_TYPE_STRING_OBJECT, NULL, "string"));
  adw_combo_row_set_model (ADW_COMBO_ROW (self->device), G_LIST_MODEL (names));
  adw_combo_row_set_enable_search (ADW_COMBO_ROW (self->device), TRUE);
  adw_combo_row_set_search_match_mode (ADW_COMBO_ROW (self->device), GTK_STRING_FILTER_MATCH_MODE_SUBSTRING);
  qm_ui_show_whole_names (ADW_COMBO_ROW (self->device));
  gtk_widget_set_name (self->device, "owned-device");
  g_signal_connect_object (self->device, "notify::selected", G_CALLBACK (changed), self, G_CONNECT_SWAPPED);
  adw_expander_row_add_row (ADW_EXPANDER_ROW (self), self->device);
}

static void
qm_owned_row_dispose (GObject *object)
{
  QmOwnedRow *self = QM_OWNED_ROW (object);

  g_clear_pointer (&self->devices, g_ptr_array_unref);
  g_clear_object (&self->session);

  G_OBJECT_CLASS (qm_owned_row_parent_class)->dispose (object);
}

static void
qm_owned_row_class_init (QmOwnedRowClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = qm_owned_row_dispose;
}

static void
qm_owned_row_init (QmOwnedRow *self)
{
  self->devices = g_ptr_array_new ();
}

/**
 * qm_owned_row_new:
 * @session: the session
 *
 * Returns: (transfer floating): a row that opens to what another computer of the
 *   person's has
 */
GtkWidget *
qm_owned_row_new (QmSession *session)
{
  QmOwnedRow *self = g_object_new (QM_TYPE_OWNED_ROW, NULL);

  self->session = g_object_ref (session);
  self->updating = TRUE;
  list_devices (self);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self), _("Do you have another computer with a graphics card?"));
  adw_expander_row_set_title_lines (ADW_EXPANDER_ROW (self), 0);
  gtk_widget_set_name (GTK_WIDGET (self), "places.owned");
  add_device (self);
  self->count = add_spin (self, _("How many of them"), NULL, 1, MOST_CARDS);
  self->memory = add_spin (self, _("System memory (RAM) in GiB"), _("What does not fit on the card may wait there; 0 where you do not know"), 0, MOST_GIB);
  gtk_widget_set_name (self->count, "owned-count");
  gtk_widget_set_name (self->memory, "owned-memory");
  self->updating = FALSE;
  g_signal_connect_object (session, "plan-changed", G_CALLBACK (update), self, G_CONNECT_SWAPPED);
  update (self);

  return GTK_WIDGET (self);
}
