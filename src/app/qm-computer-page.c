/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-computer-page.h"

#include <glib/gi18n.h>

#include "draw/qm-language.h"
#include "qm-ui.h"

struct _QmComputerPage {
  AdwBin parent_instance;

  QmSession *session;
  GtkWidget *content;
};

G_DEFINE_FINAL_TYPE (QmComputerPage, qm_computer_page, ADW_TYPE_BIN)

static void
add_row (GtkWidget  *group,
         const char *title,
         const char *value)
{
  GtkWidget *row;

  if (value == NULL)
    return;

  row = adw_action_row_new ();
  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), value);
  adw_action_row_set_subtitle_selectable (ADW_ACTION_ROW (row), TRUE);
  gtk_widget_add_css_class (row, "property");
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (group), row);
}

static void
add_bytes (GtkWidget  *group,
           const char *title,
           double      bytes)
{
  g_autofree char *text = qm_format_bytes (qm_language_get_words (), bytes);

  if (bytes > 0)
    add_row (group, title, text);
}

static void
add_device (QmComputerPage       *self,
            const QmProbedDevice *device)
{
  GtkWidget *group = adw_preferences_group_new ();

  adw_preferences_group_set_title (ADW_PREFERENCES_GROUP (group), device->name != NULL ? device->name : device->id);
  if (device->remedy != NULL)
    adw_preferences_group_set_description (ADW_PREFERENCES_GROUP (group), device->remedy);
  add_bytes (group, _("Memory"), device->memory_bytes);
  add_bytes (group, _("Free now"), device->memory_free_bytes);
  add_row (group, _("Driver"), device->driver);
  add_row (group, _("Link"), device->link);
  add_row (group, _("Address"), device->id);
  if (device->suspended)
    add_row (group, _("State"), _("Asleep; it was not woken"));
  for (guint i = 0; device->unknown != NULL && i < device->unknown->len; i++)
    {
      const QmUnknown *unknown = g_ptr_array_index (device->unknown, i);
      g_autofree char *text = g_strdup_printf ("%s: %s", unknown->field, unknown->reason);

      add_row (group, _("Unknown"), text);
    }
  gtk_box_append (GTK_BOX (self->content), group);
}

static void
add_host (QmComputerPage *self,
          QmMachine      *machine)
{
  const QmProbedCpu *cpu = qm_machine_cpu (machine);
  const QmProbedMemory *memory = qm_machine_memory (machine);
  const QmProbedStorage *storage = qm_machine_storage (machine);
  GtkWidget *group = adw_preferences_group_new ();
  g_autofree char *cores = g_strdup_printf (ngettext ("%d core, %d usable threads", "%d cores, %d usable threads", cpu->cores), cpu->cores,
                                            cpu->usable_threads);
  g_autofree char *free_space = qm_format_file_bytes (qm_language_get_words (), storage->free_bytes);

  adw_preferences_group_set_title (ADW_PREFERENCES_GROUP (group), _("Processor and memory"));
  add_row (group, _("Processor"), cpu->model != NULL ? cpu->model : _("unknown"));
  add_row (group, _("Cores"), cores);
  add_row (group, _("Fast instructions"), cpu->features != NULL && cpu->features[0] != '\0' ? cpu->features : NULL);
  /* Translators: the memory beside the processor; "Memory" alone is mostly that of a graphics card */
  add_bytes (group, C_("processor", "Memory"), memory->total_bytes);
  add_bytes (group, _("Free now"), memory->available_bytes);
  add_bytes (group, _("Limit set for this session"), memory->limit_bytes);
  if (storage->free_bytes > 0)
    add_row (group, _("Free disk space"), free_space);
  gtk_box_append (GTK_BOX (self->content), group);
}

static void
update (QmComputerPage *self)
{
  QmMachine *machine = qm_session_get_machine (self->session);

  qm_ui_clear (self->content);
  gtk_box_append (GTK_BOX (self->content), qm_ui_heading (NULL, _("This computer"),
                                                          machine == NULL ? _("Looking…")
                                                          : qm_machine_n_devices (machine) > 0
                                                            ? _("What was found here counts as free of charge in every plan.")
                                                            : _("No GPU or NPU was found. Plans work all the same; small jobs may run on the processor.")));
  if (machine == NULL)
    return;

  for (guint i = 0; i < qm_machine_n_devices (machine); i++)
    add_device (self, qm_machine_device (machine, i));
  add_host (self, machine);
}

static void
qm_computer_page_dispose (GObject *object)
{
  g_clear_object (&QM_COMPUTER_PAGE (object)->session);

  G_OBJECT_CLASS (qm_computer_page_parent_class)->dispose (object);
}

static void
qm_computer_page_class_init (QmComputerPageClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = qm_computer_page_dispose;
}

static void
qm_computer_page_init (QmComputerPage *self)
{
  self->content = qm_ui_box (GTK_ORIENTATION_VERTICAL, 18);
  adw_bin_set_child (ADW_BIN (self), qm_ui_page (self->content, 760));
}

/**
 * qm_computer_page_new:
 * @session: the session
 *
 * Returns: (transfer floating): what this computer has
 */
GtkWidget *
qm_computer_page_new (QmSession *session)
{
  QmComputerPage *self = g_object_new (QM_TYPE_COMPUTER_PAGE, NULL);

  self->session = g_object_ref (session);
  g_signal_connect_object (session, "machine-changed", G_CALLBACK (update), self, G_CONNECT_SWAPPED);
  update (self);

  return GTK_WIDGET (self);
}
