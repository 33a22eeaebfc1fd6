/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-computer-page.h"

#include <glib/gi18n.h>
#include <math.h>

#include "decide/qm-diagnosis.h"
#include "draw/qm-chart-fits.h"
#include "draw/qm-language.h"
#include "history/qm-channels.h"
#include "qm-chart-view.h"
#include "qm-device-list.h"
#include "qm-device-page.h"
#include "qm-ui.h"

/* What limits now is judged by the last minute, every few samples. */
#define JUDGED_SECONDS 60
#define JUDGED_EVERY   5

/* Nothing works below this. */
#define IDLE 0.1

struct _QmComputerPage {
  AdwBin parent_instance;

  QmSession *session;
  QmWatcher *watcher;
  GtkWidget *list;                  /* in the sidebar of the window */
  GtkWidget *content;
  GtkWidget *notice;
  GtkWidget *notice_title;
  GtkWidget *notice_text;
  GtkWidget *fits;
  GCancellable *fitting;
  gboolean held;
  guint channels;                   /* that were known when the list was filled */
  guint samples;                    /* since the last judgement */
};

G_DEFINE_FINAL_TYPE (QmComputerPage, qm_computer_page, ADW_TYPE_BIN)

/* ------------------------------------------------------------------------ what fits */

typedef struct {
  QmEstimator *estimator;
  const QmDevice *device;           /* of the estimator's catalog */
  double usable_bytes;
} Fitting;

static void
fitting_free (Fitting *self)
{
  g_object_unref (self->estimator);
  g_free (self);
}

static void
find_fits (GTask        *task,
           gpointer      source,
           gpointer      data,
           GCancellable *cancellable)
{
  Fitting *fitting = data;
  QmFit *fits = g_new0 (QmFit, QM_N_FITS);

  qm_fits_find (fitting->estimator, fitting->device, fitting->usable_bytes, cancellable, fits);
  g_task_return_pointer (task, fits, g_free);
}

static void
fits_found (GObject      *source,
            GAsyncResult *result,
            gpointer      data)
{
  QmComputerPage *self = QM_COMPUTER_PAGE (source);
  g_autofree QmFit *fits = g_task_propagate_pointer (G_TASK (result), NULL);

  if (fits != NULL && self->fits != NULL)
    qm_chart_view_show (QM_CHART_VIEW (self->fits), qm_chart_new_fits (fits, qm_language_get_words ()));
}

static void
start_fitting (QmComputerPage *self,
               QmMachine      *machine,
               const char     *id)
{
  const QmProbedDevice *device = qm_device_page_find (machine, id);
  const QmProbedMemory *memory = qm_machine_memory (machine);
  g_autoptr (GTask) task = NULL;
  Fitting *fitting;

  g_cancellable_cancel (self->fitting);
  g_clear_object (&self->fitting);
  if (device != NULL ? device->device == NULL : !(g_str_equal (id, QM_PLACE_CPU) && qm_machine_cpu (machine)->device != NULL))
    return;

  fitting = g_new0 (Fitting, 1);
  fitting->estimator = g_object_ref (qm_session_get_estimator (self->session));
  fitting->device = device != NULL ? device->device : qm_machine_cpu (machine)->device;
  fitting->usable_bytes = device != NULL ? device->memory_bytes : memory->limit_bytes > 0 ? memory->limit_bytes : memory->total_bytes;
  self->fitting = g_cancellable_new ();
  task = g_task_new (self, self->fitting, fits_found, NULL);
  g_task_set_source_tag (task, start_fitting);
  g_task_set_task_data (task, fitting, (GDestroyNotify) fitting_free);
  g_task_run_in_thread (task, find_fits);
}

/* ----------------------------------------------------------------------- what limits */

static void
show_notice (QmComputerPage *self,
             const char     *title,
             const char     *text)
{
  gtk_widget_set_visible (self->notice, title != NULL);
  if (title == NULL)
    return;

  gtk_label_set_label (GTK_LABEL (self->notice_title), title);
  gtk_label_set_label (GTK_LABEL (self->notice_text), text);
  gtk_widget_set_visible (self->notice_text, text[0] != '\0');
}

static gboolean
is_working (const QmSeries *series,
            int             gpu)
{
  char name[QM_CHANNEL_SIZE];
  QmSeriesSummary busy, cpu;

  qm_series_summarise (series, gpu >= 0 ? qm_series_find (series, qm_channel_of_gpu (name, gpu, QM_CHANNEL_GPU_BUSY)) : -1, 0, G_MAXDOUBLE, &busy);
  qm_series_summarise (series, qm_series_find (series, QM_CHANNEL_CPU), 0, G_MAXDOUBLE, &cpu);

  return (busy.n > 0 && busy.mean > IDLE) || (gpu < 0 && cpu.n > 0 && cpu.mean > IDLE);
}

static char *
join_messages (GPtrArray *messages)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < messages->len; i++)
    {
      g_autofree char *sentence = qm_message_get_text (g_ptr_array_index (messages, i), qm_language_get_words ());

      g_string_append_printf (text, "%s%s", i > 0 ? "\n" : "", sentence);
    }

  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
judge (QmComputerPage *self)
{
  g_autoptr (QmSeries) series = qm_watcher_dup_series (self->watcher, JUDGED_SECONDS);
  g_autoptr (QmRun) run = qm_run_new ("now");
  QmDiagnosisContext context = { 0 };
  const char *id = qm_device_list_get (QM_DEVICE_LIST (self->list));
  g_autoptr (QmDiagnosis) diagnosis = NULL;
  g_autofree char *title = NULL, *text = NULL;
  int gpu = id != NULL ? qm_watcher_find_gpu (self->watcher, id) : -1;

  if (id == NULL || (gpu < 0 && !g_str_equal (id, QM_PLACE_CPU)) || !is_working (series, gpu))
    {
      show_notice (self, NULL, NULL);
      return;
    }

  diagnosis = qm_diagnose (run, series, &context);
  if (diagnosis->bottleneck == QM_BOTTLENECK_UNKNOWN || diagnosis->bottleneck == QM_BOTTLENECK_NONE)
    {
      show_notice (self, NULL, NULL);
      return;
    }
  title = qm_message_get_text (diagnosis->message, qm_language_get_words ());
  text = join_messages (diagnosis->evidence);
  show_notice (self, title, text);
}

static GtkWidget *
notice_new (QmComputerPage *self)
{
  GtkWidget *text = qm_ui_box (GTK_ORIENTATION_VERTICAL, 3);

  self->notice = qm_ui_box (GTK_ORIENTATION_HORIZONTAL, 12);
  gtk_widget_add_css_class (self->notice, "card");
  gtk_widget_add_css_class (self->notice, "notice");
  gtk_box_append (GTK_BOX (self->notice), gtk_image_new_from_icon_name ("dialog-information-symbolic"));
  self->notice_title = qm_ui_wrapped ("", "heading");
  self->notice_text = qm_ui_wrapped ("", NULL);
  gtk_box_append (GTK_BOX (text), self->notice_title);
  gtk_box_append (GTK_BOX (text), self->notice_text);
  gtk_widget_set_hexpand (text, TRUE);
  gtk_box_append (GTK_BOX (self->notice), text);
  gtk_widget_set_visible (self->notice, FALSE);

  return self->notice;
}

/* -------------------------------------------------------------------- one device */

static void
wake_clicked (QmComputerPage *self)
{
  qm_session_probe (self->session, TRUE);
}

/* What the person should do, or may. */
static void
add_advice (QmComputerPage       *self,
            const QmProbedDevice *device)
{
  GtkWidget *card, *text, *button;

  if (device == NULL || (device->remedy == NULL && !device->suspended))
    return;

  card = qm_ui_box (GTK_ORIENTATION_HORIZONTAL, 12);
  gtk_widget_add_css_class (card, "card");
  gtk_widget_add_css_class (card, "notice");
  gtk_box_append (GTK_BOX (card), gtk_image_new_from_icon_name (device->remedy != NULL ? "dialog-warning-symbolic" : "weather-clear-night-symbolic"));
  text = qm_ui_box (GTK_ORIENTATION_VERTICAL, 9);
  gtk_widget_set_hexpand (text, TRUE);
  gtk_box_append (GTK_BOX (card), text);
  gtk_box_append (GTK_BOX (text), qm_ui_wrapped (device->remedy != NULL ? device->remedy
                                                   : _("This card is asleep to save power, and looking at it would wake it. What stands here is "
                                                       "known without waking it."), NULL));
  if (device->suspended)
    {
      button = gtk_button_new_with_label (_("Wake and measure"));
      /* below the text, which a narrow window would else leave no room */
      gtk_widget_set_halign (button, GTK_ALIGN_START);
      g_signal_connect_swapped (button, "clicked", G_CALLBACK (wake_clicked), self);
      gtk_box_append (GTK_BOX (text), button);
    }
  gtk_box_append (GTK_BOX (self->content), card);
}

static GtkWidget *
head_new (QmMachine  *machine,
          const char *id)
{
  GtkWidget *head = adw_wrap_box_new ();
  GtkWidget *device = qm_device_head_new (machine, id);
  GtkWidget *record = gtk_button_new_with_label (_("Record a run…"));

  adw_wrap_box_set_child_spacing (ADW_WRAP_BOX (head), 12);
  adw_wrap_box_set_line_spacing (ADW_WRAP_BOX (head), 12);
  adw_wrap_box_set_justify (ADW_WRAP_BOX (head), ADW_JUSTIFY_SPREAD);
  gtk_widget_set_hexpand (device, TRUE);
  adw_wrap_box_append (ADW_WRAP_BOX (head), device);
  gtk_widget_add_css_class (record, "suggested-action");
  gtk_widget_add_css_class (record, "pill");
  gtk_widget_set_valign (record, GTK_ALIGN_START);
  gtk_widget_set_halign (record, GTK_ALIGN_END);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (record), "win.record");
  adw_wrap_box_append (ADW_WRAP_BOX (head), record);

  return head;
}

static void
show_device (QmComputerPage *self)
{
  QmMachine *machine = qm_session_get_machine (self->session);
  const char *id = qm_device_list_get (QM_DEVICE_LIST (self->list));

  qm_ui_clear (self->content);
  self->fits = NULL;
  if (machine == NULL || id == NULL)
    {
      gtk_box_append (GTK_BOX (self->content), qm_ui_heading (NULL, _("This computer"), _("Looking…")));
      return;
    }

  gtk_box_append (GTK_BOX (self->content), head_new (machine, id));
  add_advice (self, qm_device_page_find (machine, id));
  if (qm_machine_n_devices (machine) == 0)
    gtk_box_append (GTK_BOX (self->content), qm_ui_wrapped (_("No GPU or NPU was found. Plans work all the same; small jobs may run on the processor."),
                                                            "second"));
  gtk_box_append (GTK_BOX (self->content), notice_new (self));
  gtk_box_append (GTK_BOX (self->content), qm_device_cards_new (machine, self->watcher, id));
  self->fits = qm_chart_view_new (QM_CHART_FITS);
  gtk_widget_set_visible (self->fits, FALSE);
  gtk_box_append (GTK_BOX (self->content), self->fits);
  gtk_box_append (GTK_BOX (self->content), qm_device_details_new (machine, id));
  start_fitting (self, machine, id);
  judge (self);
}

static void
fill (QmComputerPage *self)
{
  QmMachine *machine = qm_session_get_machine (self->session);

  if (machine != NULL)
    qm_device_list_fill (QM_DEVICE_LIST (self->list), machine);
  show_device (self);
}

static void
sampled (QmComputerPage *self)
{
  guint channels = qm_watcher_n_channels (self->watcher);

  if (channels != self->channels)
    {
      self->channels = channels;
      fill (self);
    }
  if (++self->samples < JUDGED_EVERY || self->notice == NULL)
    return;

  self->samples = 0;
  judge (self);
}

static void
devices_changed (QmComputerPage *self)
{
  qm_session_probe (self->session, FALSE);
}

/* --------------------------------------------------------------------- while it is seen */

static void
hold (QmComputerPage *self,
      gboolean        hold)
{
  if (self->held == hold)
    return;

  self->held = hold;
  if (hold)
    qm_watcher_hold (self->watcher);
  else
    qm_watcher_release (self->watcher);
}

static gboolean
is_seen (QmComputerPage *self)
{
  GtkNative *native = gtk_widget_get_native (GTK_WIDGET (self));
  GdkSurface *surface = native != NULL ? gtk_native_get_surface (native) : NULL;
  GdkToplevelState state = surface != NULL && GDK_IS_TOPLEVEL (surface) ? gdk_toplevel_get_state (GDK_TOPLEVEL (surface)) : 0;

  return gtk_widget_get_mapped (GTK_WIDGET (self)) && !(state & (GDK_TOPLEVEL_STATE_MINIMIZED | GDK_TOPLEVEL_STATE_SUSPENDED));
}

static void
state_changed (QmComputerPage *self)
{
  hold (self, is_seen (self));
}

static void
qm_computer_page_map (GtkWidget *widget)
{
  GtkNative *native = gtk_widget_get_native (widget);
  GdkSurface *surface = native != NULL ? gtk_native_get_surface (native) : NULL;

  GTK_WIDGET_CLASS (qm_computer_page_parent_class)->map (widget);
  if (surface != NULL && GDK_IS_TOPLEVEL (surface))
    g_signal_connect_object (surface, "notify::state", G_CALLBACK (state_changed), widget, G_CONNECT_SWAPPED);
  state_changed (QM_COMPUTER_PAGE (widget));
}

static void
qm_computer_page_unmap (GtkWidget *widget)
{
  GtkNative *native = gtk_widget_get_native (widget);
  GdkSurface *surface = native != NULL ? gtk_native_get_surface (native) : NULL;

  if (surface != NULL)
    g_signal_handlers_disconnect_by_func (surface, state_changed, widget);
  hold (QM_COMPUTER_PAGE (widget), FALSE);
  GTK_WIDGET_CLASS (qm_computer_page_parent_class)->unmap (widget);
}

static void
qm_computer_page_dispose (GObject *object)
{
  QmComputerPage *self = QM_COMPUTER_PAGE (object);

  g_cancellable_cancel (self->fitting);
  g_clear_object (&self->fitting);
  g_clear_object (&self->session);
  g_clear_object (&self->watcher);
  g_clear_object (&self->list);
  self->fits = NULL;

  G_OBJECT_CLASS (qm_computer_page_parent_class)->dispose (object);
}

static void
qm_computer_page_class_init (QmComputerPageClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = qm_computer_page_dispose;
  GTK_WIDGET_CLASS (klass)->map = qm_computer_page_map;
  GTK_WIDGET_CLASS (klass)->unmap = qm_computer_page_unmap;
}

static void
qm_computer_page_init (QmComputerPage *self)
{
  self->content = qm_ui_box (GTK_ORIENTATION_VERTICAL, 18);
  adw_bin_set_child (ADW_BIN (self), qm_ui_page (self->content, 960));
}

/**
 * qm_computer_page_new:
 * @session: the session
 *
 * Returns: (transfer floating): what this computer has, and what it does while
 *   somebody looks
 */
GtkWidget *
qm_computer_page_new (QmSession *session)
{
  QmComputerPage *self = g_object_new (QM_TYPE_COMPUTER_PAGE, NULL);

  self->session = g_object_ref (session);
  self->watcher = qm_watcher_new (g_getenv ("QM_SYSROOT"));
  self->list = g_object_ref_sink (qm_device_list_new (self->watcher));
  g_signal_connect_object (self->list, "picked", G_CALLBACK (show_device), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->watcher, "sampled", G_CALLBACK (sampled), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->watcher, "devices-changed", G_CALLBACK (devices_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (session, "machine-changed", G_CALLBACK (fill), self, G_CONNECT_SWAPPED);
  fill (self);

  return GTK_WIDGET (self);
}

/**
 * qm_computer_page_get_list:
 * @self: the page
 *
 * Returns: (transfer none): its devices, for the sidebar
 */
GtkWidget *
qm_computer_page_get_list (QmComputerPage *self)
{
  return self->list;
}

/**
 * qm_computer_page_get_watcher:
 * @self: the page
 *
 * Returns: (transfer none): what the page shows
 */
QmWatcher *
qm_computer_page_get_watcher (QmComputerPage *self)
{
  return self->watcher;
}
