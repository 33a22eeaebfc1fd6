/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-matrix.h"

#include <glib/gi18n.h>
#include <math.h>

#include "draw/qm-language.h"
#include "draw/qm-phrases.h"
#include "qm-ui.h"

/* A row of the matrix as an object; the recommendation owns what it shows. */
#define QM_TYPE_MATRIX_ITEM (qm_matrix_item_get_type ())
G_DECLARE_FINAL_TYPE (QmMatrixItem, qm_matrix_item, QM, MATRIX_ITEM, GObject)

struct _QmMatrixItem {
  GObject parent_instance;

  QmRecommendation *recommendation;
  guint row;
};

G_DEFINE_FINAL_TYPE (QmMatrixItem, qm_matrix_item, G_TYPE_OBJECT)

static void
qm_matrix_item_dispose (GObject *object)
{
  g_clear_object (&QM_MATRIX_ITEM (object)->recommendation);

  G_OBJECT_CLASS (qm_matrix_item_parent_class)->dispose (object);
}

static void
qm_matrix_item_class_init (QmMatrixItemClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = qm_matrix_item_dispose;
}

static void
qm_matrix_item_init (QmMatrixItem *self)
{
}

struct _QmMatrix {
  GtkBox parent_instance;

  GListStore *store;
  GtkSingleSelection *selection;
  GtkColumnViewColumn *time;        /* not owned: the view's */
  gboolean updating;
};

G_DEFINE_FINAL_TYPE (QmMatrix, qm_matrix, GTK_TYPE_BOX)

static guint row_picked_signal;

typedef enum {
  COLUMN_HARDWARE,
  COLUMN_TIME,
  COLUMN_MONEY,
  COLUMN_QUALITY,
  COLUMN_MEMORY,
  COLUMN_BOUND,
  COLUMN_VERDICT,
  N_COLUMNS
} Column;

static const QmChoice *
choice_of (QmMatrixItem *item)
{
  return qm_recommendation_row (item->recommendation, item->row);
}

/* --------------------------------------------------------------------- cells */

static const QmPlan *
plan_of (QmMatrixItem *item)
{
  return qm_recommendation_get_resolved (item->recommendation)->plan;
}

static void
hardware_cell (QmMatrixItem *item,
               char        **first,
               char        **second)
{
  const QmChoice *choice = choice_of (item);
  const char *pricing = choice->estimate.cost.pricing == QM_PRICING_SPOT ? _("spot") : NULL;
  g_autofree char *format = qm_phrase_format (qm_language_get_words (), plan_of (item), &choice->estimate);
  g_autofree char *where = NULL;

  *first = qm_phrase_hardware (choice);
  if (choice->offer == NULL)
    where = g_strdup (qm_phrase_place (qm_language_get_words (), choice->place));
  else if (pricing != NULL)
    where = g_strdup_printf ("%s %s, %s", choice->offer->provider_name, choice->offer->instance, pricing);
  else
    where = g_strdup_printf ("%s %s", choice->offer->provider_name, choice->offer->instance);
  *second = format != NULL ? g_strdup_printf ("%s · %s", where, format) : g_strdup (where);
}

static void
verdict_cell (QmMatrixItem *item,
              char        **first,
              char        **second)
{
  *first = g_strdup (qm_phrase_standing (qm_language_get_words (), item->recommendation, item->row, second));
}

/* Of a job the whole of it, of a service the wait for an answer. */
static QmRange
seconds_of (QmMatrixItem *item)
{
  const QmEstimate *estimate = &choice_of (item)->estimate;

  return plan_of (item)->activity == QM_ACTIVITY_SERVE ? estimate->serving.latency_p99_seconds : estimate->time.finish;
}

/* What that is held against; NaN nothing. */
static double
limit_of (QmMatrixItem *item)
{
  const QmPlan *plan = plan_of (item);

  return plan->activity == QM_ACTIVITY_SERVE ? plan->serving.latency_p99_seconds : plan->limits.hours * 3600;
}

static void
time_cell (QmMatrixItem *item,
           char        **first,
           char        **second)
{
  const QmWords *words = qm_language_get_words ();
  QmRange seconds = seconds_of (item);

  *first = qm_range_is_known (seconds) ? qm_format_seconds_against (words, seconds.p50, limit_of (item)) : g_strdup ("–");
  *second = qm_range_is_known (seconds) ? qm_format_seconds_range (words, seconds) : NULL;
}

static void
cell_text (QmMatrixItem *item,
           Column        column,
           char        **first,
           char        **second)
{
  const QmWords *words = qm_language_get_words ();
  const QmChoice *choice = choice_of (item);
  const QmEstimate *estimate = &choice->estimate;
  const QmPlan *plan = plan_of (item);
  QmRange fraction = qm_range_scale (estimate->memory.need, 1 / estimate->memory.usable_bytes);

  switch (column)
    {
    case COLUMN_HARDWARE:
      hardware_cell (item, first, second);
      break;
    case COLUMN_TIME:
      time_cell (item, first, second);
      break;
    case COLUMN_MONEY:
      *first = qm_format_money (words, estimate->cost.money.p50, qm_plan_get_currency (plan));
      *second = qm_format_money_range (words, estimate->cost.money, qm_plan_get_currency (plan));
      break;
    case COLUMN_QUALITY:
      *first = qm_phrase_quality (qm_language_get_words (), &estimate->accuracy);
      break;
    case COLUMN_MEMORY:
      *first = isfinite (fraction.p50) ? qm_format_percent (words, fraction.p50) : g_strdup ("–");
      *second = isfinite (fraction.p50) ? qm_format_bytes (words, estimate->memory.need.p50) : NULL;
      break;
    case COLUMN_BOUND:
      *first = g_strdup (qm_phrase_bound (qm_language_get_words (), estimate->throughput.bound_by));
      break;
    case COLUMN_VERDICT:
    case N_COLUMNS:
    default:
      verdict_cell (item, first, second);
      break;
    }
}

/* Cut short, two rows may read the same: what is long takes more lines. */
static void
setup_cell (GtkSignalListItemFactory *factory,
            GtkListItem              *item)
{
  GtkWidget *cell = qm_ui_box (GTK_ORIENTATION_VERTICAL, 0);

  gtk_box_append (GTK_BOX (cell), qm_ui_wrapped ("", "numeric"));
  gtk_box_append (GTK_BOX (cell), qm_ui_wrapped ("", "caption second numeric"));
  gtk_widget_set_valign (cell, GTK_ALIGN_CENTER);
  gtk_list_item_set_child (item, cell);
}

static void
bind_cell (GtkSignalListItemFactory *factory,
           GtkListItem              *item,
           gpointer                  data)
{
  QmMatrixItem *row = gtk_list_item_get_item (item);
  const QmChoice *choice = choice_of (row);
  GtkWidget *cell = gtk_list_item_get_child (item);
  GtkWidget *second_label = gtk_widget_get_last_child (cell);
  g_autofree char *first = NULL;
  g_autofree char *second = NULL;

  cell_text (row, GPOINTER_TO_INT (data), &first, &second);
  /* A range without width says nothing more. */
  if (g_strcmp0 (first, second) == 0)
    g_clear_pointer (&second, g_free);
  gtk_label_set_label (GTK_LABEL (gtk_widget_get_first_child (cell)), first);
  gtk_label_set_label (GTK_LABEL (second_label), second != NULL ? second : "");
  gtk_widget_set_visible (second_label, second != NULL);
  gtk_widget_set_tooltip_text (cell, first);
  if (!choice->within_limits || (row->row > 0 && (choice->dominated_by >= 0 || choice->ruled_out_by_cost)))
    gtk_widget_add_css_class (cell, "ruled-out");
  else
    gtk_widget_remove_css_class (cell, "ruled-out");
}

/* ------------------------------------------------------------------- sorting */

static double
sort_value (QmMatrixItem *item,
            Column        column)
{
  const QmEstimate *estimate = &choice_of (item)->estimate;

  switch (column)
    {
    case COLUMN_TIME:
      return seconds_of (item).p50;
    case COLUMN_MONEY:
      return estimate->cost.money.p50;
    case COLUMN_QUALITY:
      return -estimate->accuracy.value.p50;
    case COLUMN_MEMORY:
      return estimate->memory.need.p50 / estimate->memory.usable_bytes;
    case COLUMN_HARDWARE:
    case COLUMN_BOUND:
    case COLUMN_VERDICT:
    case N_COLUMNS:
    default:
      return item->row;
    }
}

static int
compare (gconstpointer a,
         gconstpointer b,
         gpointer      data)
{
  double x = sort_value ((QmMatrixItem *) a, GPOINTER_TO_INT (data));
  double y = sort_value ((QmMatrixItem *) b, GPOINTER_TO_INT (data));

  return x < y ? GTK_ORDERING_SMALLER : x > y ? GTK_ORDERING_LARGER : GTK_ORDERING_EQUAL;
}

static void
selected (QmMatrix *self)
{
  QmMatrixItem *item = gtk_single_selection_get_selected_item (self->selection);

  if (!self->updating && item != NULL)
    g_signal_emit (self, row_picked_signal, 0, (int) item->row);
}

/* Returns: (transfer none): the column, which is the view's */
static GtkColumnViewColumn *
add_column (GtkColumnView *view,
            Column         column,
            const char    *title,
            int            width)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  g_autoptr (GtkColumnViewColumn) added = gtk_column_view_column_new (title, factory);
  g_autoptr (GtkSorter) sorter = GTK_SORTER (gtk_custom_sorter_new (compare, GINT_TO_POINTER (column), NULL));

  g_signal_connect (factory, "setup", G_CALLBACK (setup_cell), NULL);
  g_signal_connect (factory, "bind", G_CALLBACK (bind_cell), GINT_TO_POINTER (column));
  gtk_column_view_column_set_sorter (added, sorter);
  gtk_column_view_column_set_expand (added, column == COLUMN_HARDWARE || column == COLUMN_VERDICT);
  gtk_column_view_column_set_fixed_width (added, width);
  gtk_column_view_column_set_resizable (added, TRUE);
  gtk_column_view_append_column (view, added);

  return added;
}

static void
qm_matrix_dispose (GObject *object)
{
  QmMatrix *self = QM_MATRIX (object);

  if (self->selection != NULL)
    g_signal_handlers_disconnect_by_data (self->selection, self);
  g_clear_object (&self->selection);
  g_clear_object (&self->store);

  G_OBJECT_CLASS (qm_matrix_parent_class)->dispose (object);
}

static void
qm_matrix_class_init (QmMatrixClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = qm_matrix_dispose;

  row_picked_signal = g_signal_new ("row-picked", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1,
                                    G_TYPE_INT);
}

static void
qm_matrix_init (QmMatrix *self)
{
  GtkWidget *view = gtk_column_view_new (NULL);
  GtkWidget *scrolled = gtk_scrolled_window_new ();
  GtkSortListModel *sorted;

  self->store = g_list_store_new (QM_TYPE_MATRIX_ITEM);
  add_column (GTK_COLUMN_VIEW (view), COLUMN_HARDWARE, _("Hardware"), 235);
  self->time = add_column (GTK_COLUMN_VIEW (view), COLUMN_TIME, _("Time"), 134);
  add_column (GTK_COLUMN_VIEW (view), COLUMN_MONEY, _("Cost"), 113);
  add_column (GTK_COLUMN_VIEW (view), COLUMN_QUALITY, _("Quality"), 105);
  /* Before what a window of the usual width has no room for. */
  add_column (GTK_COLUMN_VIEW (view), COLUMN_VERDICT, _("Verdict"), 175);
  add_column (GTK_COLUMN_VIEW (view), COLUMN_MEMORY, _("Memory"), 80);
  add_column (GTK_COLUMN_VIEW (view), COLUMN_BOUND, _("Limited by"), 95);

  sorted = gtk_sort_list_model_new (g_object_ref (G_LIST_MODEL (self->store)),
                                    g_object_ref (gtk_column_view_get_sorter (GTK_COLUMN_VIEW (view))));
  self->selection = gtk_single_selection_new (G_LIST_MODEL (sorted));
  gtk_single_selection_set_autoselect (self->selection, FALSE);
  gtk_column_view_set_model (GTK_COLUMN_VIEW (view), GTK_SELECTION_MODEL (self->selection));
  g_signal_connect_swapped (self->selection, "notify::selected", G_CALLBACK (selected), self);

  gtk_column_view_set_tab_behavior (GTK_COLUMN_VIEW (view), GTK_LIST_TAB_ITEM);
  gtk_widget_add_css_class (view, "matrix");
  qm_ui_set_label (view, _("All choices side by side"));
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scrolled), view);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scrolled), GTK_POLICY_AUTOMATIC, GTK_POLICY_NEVER);
  qm_ui_scroll_page_from (scrolled);
  gtk_scrolled_window_set_propagate_natural_height (GTK_SCROLLED_WINDOW (scrolled), TRUE);
  gtk_widget_set_hexpand (scrolled, TRUE);
  gtk_widget_add_css_class (scrolled, "card");
  gtk_widget_set_overflow (scrolled, GTK_OVERFLOW_HIDDEN);
  gtk_box_append (GTK_BOX (self), scrolled);
}

/**
 * qm_matrix_new:
 *
 * Returns: (transfer floating): an empty matrix
 */
GtkWidget *
qm_matrix_new (void)
{
  return g_object_new (QM_TYPE_MATRIX, NULL);
}

/**
 * qm_matrix_set:
 * @self: a matrix
 * @recommendation: the answer whose rows it shows
 */
void
qm_matrix_set (QmMatrix         *self,
               QmRecommendation *recommendation)
{
  gboolean serves = qm_recommendation_get_resolved (recommendation)->plan->activity == QM_ACTIVITY_SERVE;

  gtk_column_view_column_set_title (self->time, serves ? _("Waiting time") : _("Time"));
  self->updating = TRUE;
  g_list_store_remove_all (self->store);
  for (guint i = 0; i < qm_recommendation_n_rows (recommendation); i++)
    {
      g_autoptr (QmMatrixItem) item = g_object_new (QM_TYPE_MATRIX_ITEM, NULL);

      item->recommendation = g_object_ref (recommendation);
      item->row = i;
      g_list_store_append (self->store, item);
    }
  self->updating = FALSE;
  if (qm_recommendation_n_rows (recommendation) > 0)
    qm_matrix_pick (self, 0);
}

/**
 * qm_matrix_pick:
 * @self: a matrix
 * @row: a row of the recommendation
 *
 * Selects it, wherever it is sorted.
 */
void
qm_matrix_pick (QmMatrix *self,
                guint     row)
{
  GListModel *model = G_LIST_MODEL (self->selection);

  for (guint i = 0; i < g_list_model_get_n_items (model); i++)
    {
      g_autoptr (QmMatrixItem) item = g_list_model_get_item (model, i);

      if (item->row == row)
        gtk_single_selection_set_selected (self->selection, i);
    }
}
