/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-own-rows.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "draw/qm-language.h"
#include "qm-ui.h"
#include "qm-window.h"

struct _QmOwnRows {
  AdwPreferencesGroup parent_instance;

  QmSession *session;
  QmOwnKind kind;
  GtkWidget *add;
  GPtrArray *rows;                  /* those that are shown */
};

G_DEFINE_FINAL_TYPE (QmOwnRows, qm_own_rows, ADW_TYPE_PREFERENCES_GROUP)

/**
 * qm_own_rows_title:
 * @kind: which rows
 *
 * Returns: what they are called, translated
 */
const char *
qm_own_rows_title (QmOwnKind kind)
{
  return kind == QM_OWN_QUOTES ? _("Offers of your own") : _("Results of your own");
}

/**
 * qm_own_rows_count:
 * @kind: which rows
 * @plan: a plan
 *
 * Returns: how many it has
 */
int
qm_own_rows_count (QmOwnKind     kind,
                   const QmPlan *plan)
{
  return kind == QM_OWN_QUOTES ? plan->n_quotes : plan->n_results;
}

/* ------------------------------------------------------------------------- one row */

static char *
quote_title (QmOwnRows     *self,
             const QmQuote *quote)
{
  const QmDevice *device = qm_catalog_find_device (qm_session_get_catalog (self->session), quote->device);

  return g_strdup_printf ("%d × %s", quote->devices, device != NULL ? device->name : quote->device);
}

/* "72 h · €580 · 82.1 %" */
static char *
quote_figures (QmOwnRows     *self,
               const QmQuote *quote)
{
  const QmWords *words = qm_language_get_words ();
  g_autofree char *time = qm_format_seconds (words, quote->hours * 3600);
  g_autofree char *money = qm_format_money (words, quote->money, qm_plan_get_currency (qm_session_get_plan (self->session)));
  g_autofree char *score = isnan (quote->accuracy) ? NULL : qm_format_percent_tenths (words, quote->accuracy);

  return g_strjoin (" · ", time, money, score, NULL);
}

static char *
row_title (QmOwnRows    *self,
           const QmPlan *plan,
           int           index)
{
  const QmWords *words = qm_language_get_words ();
  g_autofree char *samples = NULL;

  if (self->kind == QM_OWN_QUOTES)
    return quote_title (self, &plan->quotes[index]);

  samples = qm_format_count (words, plan->results[index].samples);
  /* Translators: a number of samples that a run was trained on */
  return g_strdup_printf (_("%s samples"), samples);
}

static char *
row_figures (QmOwnRows    *self,
             const QmPlan *plan,
             int           index)
{
  if (self->kind == QM_OWN_QUOTES)
    return quote_figures (self, &plan->quotes[index]);

  return qm_format_percent_tenths (qm_language_get_words (), plan->results[index].score);
}

static void
remove_row (QmPlan    *plan,
            QmOwnKind  kind,
            int        index)
{
  if (kind == QM_OWN_QUOTES)
    {
      plan->n_quotes--;
      memmove (&plan->quotes[index], &plan->quotes[index + 1], (plan->n_quotes - index) * sizeof (QmQuote));
      return;
    }

  plan->n_results--;
  memmove (&plan->results[index], &plan->results[index + 1], (plan->n_results - index) * sizeof (QmResult));
}

static int
index_of (GtkWidget *row)
{
  return GPOINTER_TO_INT (g_object_get_data (G_OBJECT (row), "index"));
}

static void
remove_clicked (GtkWidget *row)
{
  QmOwnRows *self = QM_OWN_ROWS (gtk_widget_get_ancestor (row, QM_TYPE_OWN_ROWS));
  GtkRoot *root = gtk_widget_get_root (row);
  g_autoptr (QmPlan) changed = qm_plan_copy (qm_session_get_plan (self->session));

  /* The row goes with the focus that it has. */
  gtk_widget_grab_focus (self->add);
  remove_row (changed, self->kind, index_of (row));
  qm_session_change_plan (self->session, changed);
  if (QM_IS_WINDOW (root))
    qm_window_show_toast (QM_WINDOW (root), _("Row removed"), _("Undo"), "win.undo");
}

static void
open_dialog (QmOwnRows *self,
             int        index)
{
  GtkWidget *dialog = self->kind == QM_OWN_QUOTES ? qm_quote_dialog_new (self->session, index) : qm_result_dialog_new (self->session, index);

  adw_dialog_present (ADW_DIALOG (dialog), GTK_WIDGET (self));
}

static void
row_activated (GtkWidget *row)
{
  open_dialog (QM_OWN_ROWS (gtk_widget_get_ancestor (row, QM_TYPE_OWN_ROWS)), index_of (row));
}

static void
add_clicked (QmOwnRows *self)
{
  open_dialog (self, -1);
}

static GtkWidget *
row_new (QmOwnRows    *self,
         const QmPlan *plan,
         int           index)
{
  GtkWidget *row = adw_action_row_new ();
  g_autofree char *title = row_title (self, plan, index);
  g_autofree char *figures = row_figures (self, plan, index);
  /* Translators: the hardware or the samples of a row */
  g_autofree char *removes = g_strdup_printf (_("Remove %s"), title);
  GtkWidget *bin = qm_ui_tool ("user-trash-symbolic", removes, G_CALLBACK (remove_clicked), row);

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  adw_action_row_set_title_lines (ADW_ACTION_ROW (row), 0);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), figures);
  qm_ui_set_label (bin, removes);
  gtk_widget_set_name (bin, self->kind == QM_OWN_QUOTES ? "remove-quote" : "remove-result");
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), bin);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), gtk_image_new_from_icon_name ("document-edit-symbolic"));
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), TRUE);
  g_object_set_data (G_OBJECT (row), "index", GINT_TO_POINTER (index));
  g_signal_connect (row, "activated", G_CALLBACK (row_activated), NULL);

  return row;
}

/* ----------------------------------------------------------------------- the group */

static void
update (QmOwnRows *self)
{
  const QmPlan *plan = qm_session_get_plan (self->session);
  int n = qm_own_rows_count (self->kind, plan);

  for (guint i = 0; i < self->rows->len; i++)
    adw_preferences_group_remove (ADW_PREFERENCES_GROUP (self), g_ptr_array_index (self->rows, i));
  g_ptr_array_set_size (self->rows, 0);
  for (int i = 0; i < n; i++)
    {
      GtkWidget *row = row_new (self, plan, i);

      adw_preferences_group_add (ADW_PREFERENCES_GROUP (self), row);
      g_ptr_array_add (self->rows, row);
    }
  gtk_widget_set_sensitive (self->add, n < QM_MAX_ROWS);
}

static void
qm_own_rows_dispose (GObject *object)
{
  QmOwnRows *self = QM_OWN_ROWS (object);

  g_clear_object (&self->session);
  g_clear_pointer (&self->rows, g_ptr_array_unref);

  G_OBJECT_CLASS (qm_own_rows_parent_class)->dispose (object);
}

static void
qm_own_rows_class_init (QmOwnRowsClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = qm_own_rows_dispose;
}

static void
qm_own_rows_init (QmOwnRows *self)
{
  self->rows = g_ptr_array_new ();
}

/**
 * qm_own_rows_new:
 * @session: the session
 * @kind: which rows
 *
 * Returns: (transfer floating): the rows of the plan, to be added, changed and
 *   removed
 */
GtkWidget *
qm_own_rows_new (QmSession *session,
                 QmOwnKind  kind)
{
  QmOwnRows *self = g_object_new (QM_TYPE_OWN_ROWS, "title", qm_own_rows_title (kind), NULL);
  AdwPreferencesGroup *group = ADW_PREFERENCES_GROUP (self);

  self->session = g_object_ref (session);
  self->kind = kind;
  adw_preferences_group_set_description (group, kind == QM_OWN_QUOTES
    ? _("Hardware whose time and price you know, from an offer or from runs. While there are rows here only they are compared: nothing else is looked for.")
    : _("What runs of yours reached with other amounts of data. From two on, the quality with yours follows from them."));
  self->add = qm_ui_tool ("list-add-symbolic", kind == QM_OWN_QUOTES ? _("Add an offer") : _("Add a result"), G_CALLBACK (add_clicked), self);
  qm_ui_set_label (self->add, kind == QM_OWN_QUOTES ? _("Add an offer") : _("Add a result"));
  gtk_widget_set_name (self->add, kind == QM_OWN_QUOTES ? "add-quote" : "add-result");
  adw_preferences_group_set_header_suffix (group, self->add);
  g_signal_connect_object (session, "plan-changed", G_CALLBACK (update), self, G_CONNECT_SWAPPED);
  update (self);

  return GTK_WIDGET (self);
}
