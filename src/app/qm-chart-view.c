/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-chart-view.h"

#include <glib/gi18n.h>

#include "draw/qm-language.h"
#include "qm-chart-drawing.h"
#include "qm-error.h"
#include "qm-file-choice.h"
#include "qm-ui.h"

struct _QmChartView {
  GtkBox parent_instance;

  QmChartKind kind;
  QmChart *chart;
  GtkWidget *title;
  GtkWidget *subtitle;
  GtkWidget *stack;
  GtkWidget *drawing;
  GtkWidget *table;
  GtkWidget *toggle;
};

G_DEFINE_FINAL_TYPE (QmChartView, qm_chart_view, GTK_TYPE_BOX)

static guint row_picked_signal;

/* Only while it is looked at: a plan that changes would have hundreds of labels
 * made anew that nobody sees. */
static void
fill_table (QmChartView *self)
{
  GtkWidget *child;

  if (self->chart == NULL || !gtk_toggle_button_get_active (GTK_TOGGLE_BUTTON (self->toggle)))
    return;

  while ((child = gtk_widget_get_first_child (self->table)) != NULL)
    gtk_grid_remove (GTK_GRID (self->table), child);

  for (guint row = 0; row < qm_chart_n_table_rows (self->chart); row++)
    for (guint column = 0; column < qm_chart_n_table_columns (self->chart); column++)
      {
        GtkWidget *label = qm_ui_cell (qm_chart_table_cell (self->chart, row, column), row == 0 ? "caption-heading" : "numeric");

        gtk_grid_attach (GTK_GRID (self->table), label, column, row, 1, 1);
      }
}

/**
 * qm_chart_view_show:
 * @self: a card
 * @chart: (transfer full) (nullable): a chart; %NULL hides the card
 */
void
qm_chart_view_show (QmChartView *self,
                    QmChart     *chart)
{
  g_clear_pointer (&self->chart, qm_chart_free);
  self->chart = chart;
  gtk_widget_set_visible (GTK_WIDGET (self), self->chart != NULL);
  qm_chart_drawing_set (QM_CHART_DRAWING (self->drawing), self->chart);
  if (self->chart == NULL)
    return;

  gtk_label_set_label (GTK_LABEL (self->title), qm_chart_get_title (self->chart));
  qm_ui_set_label (gtk_widget_get_ancestor (self->table, GTK_TYPE_SCROLLED_WINDOW), qm_chart_get_title (self->chart));
  gtk_label_set_label (GTK_LABEL (self->subtitle), qm_chart_get_subtitle (self->chart));
  fill_table (self);
}

/**
 * qm_chart_view_set:
 * @self: a card
 * @estimator: the estimator
 * @recommendation: the answer
 * @row: the row of its matrix that is looked at
 *
 * Draws the chart anew. A chart that makes no sense for the plan hides.
 */
void
qm_chart_view_set (QmChartView      *self,
                   QmEstimator      *estimator,
                   QmRecommendation *recommendation,
                   guint             row)
{
  qm_chart_view_show (self, qm_chart_new (self->kind, estimator, recommendation, row, qm_language_get_words (), NULL));
}

static void
toggled (GtkToggleButton *button,
         QmChartView     *self)
{
  fill_table (self);
  gtk_stack_set_visible_child (GTK_STACK (self->stack), gtk_toggle_button_get_active (button) ? gtk_widget_get_ancestor (self->table, GTK_TYPE_SCROLLED_WINDOW) : self->drawing);
}

static void
mark_activated (QmChartDrawing *drawing,
                int             row,
                QmChartView    *self)
{
  g_signal_emit (self, row_picked_signal, 0, row);
}

static void
save_chosen (GtkWidget *widget,
             GFile     *file)
{
  QmChartView *self = QM_CHART_VIEW (widget);
  g_autoptr (GError) error = NULL;
  g_autofree char *problem = NULL;

  if (g_file_peek_path (file) == NULL || self->chart == NULL)
    return;
  if (qm_chart_save (self->chart, g_file_peek_path (file), 900, qm_chart_page_height (self->chart, 900), FALSE, &error))
    return;

  problem = qm_error_get_text (error, qm_language_get_words ());
  gtk_widget_activate_action (widget, "win.show-message", "s", problem);
}

static void
save_clicked (GtkButton   *button,
              QmChartView *self)
{
  qm_file_choice_save (GTK_WIDGET (self), _("Save chart"), "quartermaster-chart.svg", save_chosen);
}

static GtkWidget *
head_new (QmChartView *self)
{
  GtkWidget *head = qm_ui_box (GTK_ORIENTATION_HORIZONTAL, 6);
  GtkWidget *text = qm_ui_box (GTK_ORIENTATION_VERTICAL, 3);
  GtkWidget *save = gtk_button_new_from_icon_name ("document-save-symbolic");

  self->title = qm_ui_wrapped ("", "title-4");
  self->subtitle = qm_ui_wrapped ("", "caption second");
  gtk_box_append (GTK_BOX (text), self->title);
  gtk_box_append (GTK_BOX (text), self->subtitle);
  gtk_widget_set_hexpand (text, TRUE);
  gtk_box_append (GTK_BOX (head), text);

  self->toggle = gtk_toggle_button_new ();
  gtk_button_set_icon_name (GTK_BUTTON (self->toggle), "view-list-symbolic");
  gtk_widget_set_tooltip_text (self->toggle, _("Show as table"));
  gtk_widget_set_valign (self->toggle, GTK_ALIGN_START);
  gtk_widget_add_css_class (self->toggle, "flat");
  g_signal_connect (self->toggle, "toggled", G_CALLBACK (toggled), self);
  gtk_box_append (GTK_BOX (head), self->toggle);

  gtk_widget_set_tooltip_text (save, _("Save chart"));
  gtk_widget_set_valign (save, GTK_ALIGN_START);
  gtk_widget_add_css_class (save, "flat");
  g_signal_connect (save, "clicked", G_CALLBACK (save_clicked), self);
  gtk_box_append (GTK_BOX (head), save);

  return head;
}

static void
qm_chart_view_dispose (GObject *object)
{
  QmChartView *self = QM_CHART_VIEW (object);

  if (self->drawing != NULL)
    qm_chart_drawing_set (QM_CHART_DRAWING (self->drawing), NULL);
  self->drawing = NULL;
  g_clear_pointer (&self->chart, qm_chart_free);

  G_OBJECT_CLASS (qm_chart_view_parent_class)->dispose (object);
}

static void
qm_chart_view_class_init (QmChartViewClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = qm_chart_view_dispose;

  row_picked_signal = g_signal_new ("row-picked", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1,
                                    G_TYPE_INT);
}

static void
qm_chart_view_init (QmChartView *self)
{
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing (GTK_BOX (self), 12);
  gtk_widget_add_css_class (GTK_WIDGET (self), "card");
  gtk_widget_add_css_class (GTK_WIDGET (self), "sheet");
  gtk_box_append (GTK_BOX (self), head_new (self));

  self->drawing = qm_chart_drawing_new ();
  g_signal_connect (self->drawing, "mark-activated", G_CALLBACK (mark_activated), self);
  self->table = gtk_grid_new ();
  gtk_grid_set_column_spacing (GTK_GRID (self->table), 18);
  gtk_grid_set_row_spacing (GTK_GRID (self->table), 6);

  self->stack = gtk_stack_new ();
  gtk_stack_set_vhomogeneous (GTK_STACK (self->stack), FALSE);
  gtk_stack_add_child (GTK_STACK (self->stack), self->drawing);
  gtk_stack_add_child (GTK_STACK (self->stack), qm_ui_sideways (self->table));
  gtk_box_append (GTK_BOX (self), self->stack);
}

/**
 * qm_chart_view_new:
 * @kind: which chart
 *
 * Returns: (transfer floating): a card for it, without a chart yet
 */
GtkWidget *
qm_chart_view_new (QmChartKind kind)
{
  QmChartView *self = g_object_new (QM_TYPE_CHART_VIEW, NULL);

  self->kind = kind;
  return GTK_WIDGET (self);
}

/**
 * qm_chart_view_get_chart:
 * @self: a card
 *
 * Returns: (transfer none) (nullable): what it shows
 */
const QmChart *
qm_chart_view_get_chart (QmChartView *self)
{
  return self->chart;
}
