/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-prices-group.h"

#include <glib/gi18n.h>
#include <string.h>

#include "draw/qm-language.h"
#include "prices/qm-price-update.h"
#include "qm-error.h"
#include "qm-ui.h"

struct _QmPricesGroup {
  AdwPreferencesGroup parent_instance;

  QmSession *session;
  GtkWidget *update;                /* the row that starts, shows and stops it */
  GtkWidget *button;
  GtkWidget *bar;
  GtkWidget *address;
  GtkWidget *import;
  GtkWidget *lists;
  GPtrArray *rows;                  /* in @lists */
  GCancellable *cancellable;        /* of the update that runs; NULL none */
};

G_DEFINE_FINAL_TYPE (QmPricesGroup, qm_prices_group, ADW_TYPE_PREFERENCES_GROUP)

static const char *
name_of (QmPricesGroup *self,
         const char    *provider)
{
  QmCatalog *catalog = qm_session_get_catalog (self->session);

  for (guint i = 0; i < qm_catalog_n_offers (catalog); i++)
    if (g_strcmp0 (qm_catalog_offer (catalog, i)->provider, provider) == 0)
      return qm_catalog_offer (catalog, i)->provider_name;

  return provider;
}

/* ---------------------------------------------------------------------------- lists */

static void show_lists (QmPricesGroup *self);

static void
say (QmPricesGroup *self,
     const char    *text)
{
  adw_action_row_set_subtitle (ADW_ACTION_ROW (self->update), text);
  if (gtk_widget_get_mapped (GTK_WIDGET (self)))
    gtk_accessible_announce (GTK_ACCESSIBLE (self), text, GTK_ACCESSIBLE_ANNOUNCEMENT_PRIORITY_MEDIUM);
}

static void
say_error (QmPricesGroup *self,
           const GError  *error)
{
  g_autofree char *text = qm_error_get_text (error, qm_language_get_words ());

  say (self, text);
}

static void
reload (QmPricesGroup *self)
{
  g_autoptr (GError) error = NULL;

  if (!qm_session_reload (self->session, &error))
    say_error (self, error);
  show_lists (self);
}

static void
remove_clicked (QmPricesGroup *self,
                GtkWidget     *button)
{
  g_autofree char *own = qm_session_dup_own_catalog ();
  g_autoptr (GError) error = NULL;

  if (!qm_own_prices_remove (own, g_object_get_data (G_OBJECT (button), "provider"), &error))
    {
      say_error (self, error);
      return;
    }
  gtk_widget_grab_focus (self->update);
  reload (self);
  say (self, _("Removed. The prices that came with the program count again."));
}

static GtkWidget *
list_row_new (QmPricesGroup     *self,
              const QmOwnPrices *prices)
{
  GtkWidget *row = adw_action_row_new ();
  g_autofree char *label = g_strdup_printf (_("Remove the prices of %s"), name_of (self, prices->provider));
  GtkWidget *button = qm_ui_tool ("user-trash-symbolic", label, G_CALLBACK (remove_clicked), self);
  g_autofree char *date = prices->as_of[0] != '\0' ? qm_format_date (qm_language_get_words (), prices->as_of) : g_strdup (_("unknown date"));
  g_autofree char *detail = g_strdup_printf (ngettext ("%s · %u offer", "%s · %u offers", prices->offers), date, prices->offers);

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), name_of (self, prices->provider));
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), detail);
  if (prices->source[0] != '\0')
    gtk_widget_set_tooltip_text (row, prices->source);
  g_object_set_data_full (G_OBJECT (button), "provider", g_strdup (prices->provider), g_free);
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), button);

  return row;
}

/* From the oldest to the newest of the offers: what came with the program. */
static char *
range_of_dates (QmCatalog *catalog)
{
  const char *oldest = NULL, *newest = NULL;
  g_autofree char *from = NULL;
  g_autofree char *to = NULL;

  for (guint i = 0; i < qm_catalog_n_offers (catalog); i++)
    {
      const char *date = qm_catalog_offer (catalog, i)->as_of;

      if (date == NULL)
        continue;
      if (oldest == NULL || strcmp (date, oldest) < 0)
        oldest = date;
      if (newest == NULL || strcmp (date, newest) > 0)
        newest = date;
    }
  if (oldest == NULL)
    return g_strdup ("");

  from = qm_format_date (qm_language_get_words (), oldest);
  to = qm_format_date (qm_language_get_words (), newest);
  return g_strdup_printf (_("Prices of %s to %s"), from, to);
}

static void
show_lists (QmPricesGroup *self)
{
  g_autofree char *own = qm_session_dup_own_catalog ();
  g_autoptr (GPtrArray) prices = qm_own_prices_list (own);
  g_autofree char *dates = range_of_dates (qm_session_get_catalog (self->session));

  for (guint i = 0; i < self->rows->len; i++)
    adw_expander_row_remove (ADW_EXPANDER_ROW (self->lists), self->rows->pdata[i]);
  g_ptr_array_set_size (self->rows, 0);
  for (guint i = 0; i < prices->len; i++)
    {
      GtkWidget *row = list_row_new (self, prices->pdata[i]);

      g_ptr_array_add (self->rows, row);
      adw_expander_row_add_row (ADW_EXPANDER_ROW (self->lists), row);
    }
  adw_expander_row_set_subtitle (ADW_EXPANDER_ROW (self->lists), dates);
  adw_expander_row_set_enable_expansion (ADW_EXPANDER_ROW (self->lists), prices->len > 0);
  if (prices->len == 0)
    adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->lists), _("Only the prices that came with the program"));
  else
    {
      g_autofree char *title = g_strdup_printf (ngettext ("%u newer list in use", "%u newer lists in use", prices->len), prices->len);

      adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->lists), title);
    }
}

/* --------------------------------------------------------------------------- update */

static void
set_running (QmPricesGroup *self,
             gboolean       running)
{
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->update), running ? _("Taking prices") : _("Newer prices"));
  gtk_button_set_label (GTK_BUTTON (self->button), running ? _("Cancel") : _("Update"));
  gtk_widget_set_visible (self->bar, running);
  gtk_widget_set_sensitive (self->address, !running);
  gtk_widget_set_sensitive (self->import, !running);
  gtk_accessible_update_state (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_STATE_BUSY, running, -1);
}

static void
progressed (const QmPriceProgress *progress,
            gpointer               data)
{
  QmPricesGroup *self = data;
  double part = progress->total > 0 ? MIN (1, (double) progress->received / progress->total) : progress->received > 0 ? 0.5 : 0;
  g_autofree char *provider = qm_price_provider (qm_session_get_catalog (self->session), progress->name);
  g_autofree char *text = g_strdup_printf (_("%u of %u lists, reading %s"), progress->index + 1, progress->n,
                                           provider != NULL ? name_of (self, provider) : progress->name);

  gtk_progress_bar_set_fraction (GTK_PROGRESS_BAR (self->bar), (progress->index + part) / progress->n);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (self->update), text);
}

static char *
describe_problem (const QmPriceOutcome *outcome)
{
  g_autofree char *name = g_path_get_basename (outcome->name);
  g_autofree char *text = qm_error_get_text (outcome->error, qm_language_get_words ());

  return g_strdup_printf ("%s: %s", name, text);
}

static char *
describe_outcomes (QmPricesGroup *self,
                   GPtrArray     *outcomes,
                   gboolean       stopped)
{
  guint taken = 0, offers = 0, failed = 0;
  g_autofree char *reason = NULL;

  for (guint i = 0; i < outcomes->len; i++)
    {
      QmPriceOutcome *outcome = outcomes->pdata[i];

      if (outcome->error == NULL)
        {
          taken++;
          offers += outcome->offers;
          continue;
        }
      if (!g_error_matches (outcome->error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        failed++;
      g_free (reason);
      reason = describe_problem (outcome);
    }
  if (failed == 0 && stopped)
    return g_strdup (taken > 0 ? _("Stopped. The lists that were whole by then are in use.") : _("Stopped. The prices stay as they are."));
  if (failed > 0 && taken == 0)
    return g_strdup_printf (_("Nothing was changed: %s"), reason);
  if (failed > 0)
    return g_strdup_printf (_("%u lists were taken, %u not: %s"), taken, failed, reason);

  return g_strdup_printf (ngettext ("%u list was taken, with %u offers.", "%u lists were taken, with %u offers.", taken), taken, offers);
}

static void
updated (GObject      *source,
         GAsyncResult *result,
         gpointer      data)
{
  g_autoptr (QmPricesGroup) self = data;
  g_autoptr (GPtrArray) outcomes = qm_price_update_finish (result, NULL);
  gboolean stopped = g_cancellable_is_cancelled (self->cancellable);
  g_autofree char *text = NULL;

  g_clear_object (&self->cancellable);
  /* The window may be closed. */
  if (outcomes == NULL || self->session == NULL)
    return;

  text = describe_outcomes (self, outcomes, stopped);
  set_running (self, FALSE);
  reload (self);
  say (self, text);
}

/**
 * qm_prices_group_take:
 * @self: the group
 * @names: (array zero-terminated=1): addresses or files of price lists
 *
 * Takes them, unless others are being taken.
 */
void
qm_prices_group_take (QmPricesGroup      *self,
                      const char * const *names)
{
  g_autofree char *shipped = qm_session_dup_data_path ("catalog");
  g_autofree char *own = qm_session_dup_own_catalog ();

  if (self->cancellable != NULL)
    return;

  self->cancellable = g_cancellable_new ();
  gtk_progress_bar_set_fraction (GTK_PROGRESS_BAR (self->bar), 0);
  set_running (self, TRUE);
  qm_price_update_async (qm_session_get_catalog (self->session), shipped, own, names, progressed, self, self->cancellable, updated,
                         g_object_ref (self));
}

static void
update_clicked (QmPricesGroup *self)
{
  g_auto (GStrv) addresses = NULL;

  if (self->cancellable != NULL)
    {
      g_cancellable_cancel (self->cancellable);
      return;
    }

  addresses = qm_price_usual_addresses (qm_session_get_catalog (self->session));
  qm_prices_group_take (self, (const char * const *) addresses);
}

static void
address_applied (QmPricesGroup *self)
{
  g_autofree char *address = g_strstrip (g_strdup (gtk_editable_get_text (GTK_EDITABLE (self->address))));
  const char *names[] = { address, NULL };

  /* A path typed here would be read as a file. */
  if (strstr (address, "://") == NULL)
    say (self, _("An address begins with https://"));
  else
    qm_prices_group_take (self, names);
}

static void
file_chosen (GObject      *source,
             GAsyncResult *result,
             gpointer      data)
{
  g_autoptr (QmPricesGroup) self = data;
  g_autoptr (GListModel) files = gtk_file_dialog_open_multiple_finish (GTK_FILE_DIALOG (source), result, NULL);
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
  g_auto (GStrv) list = NULL;

  if (files == NULL || self->session == NULL)
    return;

  for (guint i = 0; i < g_list_model_get_n_items (files); i++)
    {
      g_autoptr (GFile) file = g_list_model_get_item (files, i);
      char *path = g_file_get_path (file);

      if (path != NULL)
        g_strv_builder_take (names, path);
    }
  list = g_strv_builder_end (names);
  if (list[0] != NULL)
    qm_prices_group_take (self, (const char * const *) list);
}

static void
import_clicked (QmPricesGroup *self)
{
  g_autoptr (GtkFileDialog) dialog = gtk_file_dialog_new ();
  g_autoptr (GtkFileFilter) filter = gtk_file_filter_new ();
  g_autoptr (GListStore) filters = g_list_store_new (GTK_TYPE_FILE_FILTER);

  gtk_file_filter_set_name (filter, _("Price lists (CSV)"));
  gtk_file_filter_add_suffix (filter, "csv");
  g_list_store_append (filters, filter);
  gtk_file_dialog_set_filters (dialog, G_LIST_MODEL (filters));
  gtk_file_dialog_set_title (dialog, _("Import price lists"));
  gtk_file_dialog_open_multiple (dialog, GTK_WINDOW (gtk_widget_get_root (GTK_WIDGET (self))), NULL, file_chosen, g_object_ref (self));
}

/* ------------------------------------------------------------------------- building */

static GtkWidget *
update_row_new (QmPricesGroup *self)
{
  GtkWidget *box = qm_ui_box (GTK_ORIENTATION_VERTICAL, 0);

  self->update = adw_action_row_new ();
  self->button = gtk_button_new_with_label (_("Update"));
  self->bar = gtk_progress_bar_new ();
  gtk_widget_set_valign (self->button, GTK_ALIGN_CENTER);
  g_signal_connect_swapped (self->button, "clicked", G_CALLBACK (update_clicked), self);
  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (self->update), FALSE);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (self->update), _("From the lists of SkyPilot, some megabytes. Nothing about you or your plans is sent."));
  gtk_widget_set_valign (self->bar, GTK_ALIGN_CENTER);
  gtk_widget_set_size_request (self->bar, 80, -1);
  qm_ui_set_label (self->bar, _("How far it is"));
  gtk_box_append (GTK_BOX (box), self->bar);
  gtk_widget_set_valign (box, GTK_ALIGN_CENTER);
  adw_action_row_add_suffix (ADW_ACTION_ROW (self->update), box);
  adw_action_row_add_suffix (ADW_ACTION_ROW (self->update), self->button);

  return self->update;
}

static void
qm_prices_group_dispose (GObject *object)
{
  QmPricesGroup *self = QM_PRICES_GROUP (object);

  g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->session);
  g_clear_pointer (&self->rows, g_ptr_array_unref);

  G_OBJECT_CLASS (qm_prices_group_parent_class)->dispose (object);
}

/* What runs is not gone on with where nobody sees it. */
static void
qm_prices_group_unroot (GtkWidget *widget)
{
  g_cancellable_cancel (QM_PRICES_GROUP (widget)->cancellable);

  GTK_WIDGET_CLASS (qm_prices_group_parent_class)->unroot (widget);
}

static void
qm_prices_group_class_init (QmPricesGroupClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = qm_prices_group_dispose;
  GTK_WIDGET_CLASS (klass)->unroot = qm_prices_group_unroot;
}

static void
qm_prices_group_init (QmPricesGroup *self)
{
  self->rows = g_ptr_array_new ();
}

/**
 * qm_prices_group_new:
 * @session: the session
 *
 * Returns: (transfer floating): the price lists in use
 */
GtkWidget *
qm_prices_group_new (QmSession *session)
{
  QmPricesGroup *self = g_object_new (QM_TYPE_PRICES_GROUP, "title", _("Prices"), "description",
                                      _("Every answer names the date of its prices. The network is asked when you press Update, and never else."),
                                      NULL);
  AdwPreferencesGroup *group = ADW_PREFERENCES_GROUP (self);

  self->session = g_object_ref (session);
  adw_preferences_group_add (group, update_row_new (self));

  self->lists = adw_expander_row_new ();
  adw_preferences_group_add (group, self->lists);

  self->import = adw_button_row_new ();
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->import), _("Import price lists from files…"));
  g_signal_connect_swapped (self->import, "activated", G_CALLBACK (import_clicked), self);
  adw_preferences_group_add (group, self->import);

  self->address = adw_entry_row_new ();
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->address), _("Another address of a list"));
  adw_entry_row_set_show_apply_button (ADW_ENTRY_ROW (self->address), TRUE);
  adw_entry_row_set_input_purpose (ADW_ENTRY_ROW (self->address), GTK_INPUT_PURPOSE_URL);
  g_signal_connect_swapped (self->address, "apply", G_CALLBACK (address_applied), self);
  adw_preferences_group_add (group, self->address);

  set_running (self, FALSE);
  show_lists (self);

  return GTK_WIDGET (self);
}
