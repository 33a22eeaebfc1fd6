/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-cores-view.h"

#include <glib/gi18n.h>
#include <math.h>

#include "draw/qm-chart.h"
#include "qm-ui.h"

#define GAP        3
#define LEAST_BAR  7                /* with its gap */
#define MOST_BAR   28
#define ROW_HEIGHT 44
#define MOST_ROWS  4

struct _QmCoresView {
  GtkWidget parent_instance;

  QmWatcher *watcher;
};

G_DEFINE_FINAL_TYPE (QmCoresView, qm_cores_view, GTK_TYPE_WIDGET)

static int
n_rows (guint  n,
        double width)
{
  double fit = MAX (1, floor (width / LEAST_BAR));

  return (int) CLAMP (ceil (n / fit), 1, MOST_ROWS);
}

static void
qm_cores_view_snapshot (GtkWidget   *widget,
                        GtkSnapshot *snapshot)
{
  QmCoresView *self = QM_CORES_VIEW (widget);
  double width = gtk_widget_get_width (widget), height = gtk_widget_get_height (widget);
  QmColor ink = qm_ui_roles ()->teal;
  GdkRGBA full = { (float) ink.red, (float) ink.green, (float) ink.blue, 1 }, pale = full;
  guint n;
  const float *cores = qm_watcher_get_cores (self->watcher, &n);
  int rows = n_rows (n, width);
  guint across = MAX (1, (n + rows - 1) / rows);
  double bar = MIN (MOST_BAR, width / across), row_height = MIN (ROW_HEIGHT, height / rows);

  pale.alpha = 0.16f;
  for (guint i = 0; i < n; i++)
    {
      double x = i % across * bar, y = i / across * row_height, tall = row_height - GAP;
      double busy = isfinite (cores[i]) ? CLAMP (cores[i], 0, 1) : 0;
      double wide = MAX (1, bar - (bar > 2 * GAP ? GAP : 0));

      gtk_snapshot_append_color (snapshot, &pale, &GRAPHENE_RECT_INIT ((float) x, (float) y, (float) wide, (float) tall));
      gtk_snapshot_append_color (snapshot, &full, &GRAPHENE_RECT_INIT ((float) x, (float) (y + tall * (1 - busy)), (float) wide,
                                                                       (float) (tall * busy)));
    }
}

static GtkSizeRequestMode
qm_cores_view_get_request_mode (GtkWidget *widget)
{
  return GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH;
}

static void
qm_cores_view_measure (GtkWidget      *widget,
                       GtkOrientation  orientation,
                       int             for_size,
                       int            *minimum,
                       int            *natural,
                       int            *minimum_baseline,
                       int            *natural_baseline)
{
  guint n;

  qm_watcher_get_cores (QM_CORES_VIEW (widget)->watcher, &n);
  if (orientation == GTK_ORIENTATION_HORIZONTAL)
    *minimum = *natural = 100;
  else
    *minimum = *natural = ROW_HEIGHT * n_rows (n, for_size > 0 ? for_size : 300);
}

static gboolean
query_tooltip (GtkWidget  *widget,
               int         x,
               int         y,
               gboolean    keyboard,
               GtkTooltip *tooltip)
{
  guint n;
  const float *cores = qm_watcher_get_cores (QM_CORES_VIEW (widget)->watcher, &n);
  int rows = n_rows (n, gtk_widget_get_width (widget));
  guint across = MAX (1, (n + rows - 1) / rows);
  double bar = MIN (MOST_BAR, (double) gtk_widget_get_width (widget) / across);
  guint core = (guint) (x / bar) + y / ROW_HEIGHT * across;
  g_autofree char *text = NULL;

  if (keyboard || core >= n || x >= across * bar || !isfinite (cores[core]))
    return FALSE;

  text = g_strdup_printf (_("Core %u: %.0f%%"), core, cores[core] * 100.0);
  gtk_tooltip_set_text (tooltip, text);
  return TRUE;
}

/* Seen as a picture; heard as a sentence, when it is asked for. */
static void
sampled (QmCoresView *self)
{
  guint n, busy = 0;
  const float *cores = qm_watcher_get_cores (self->watcher, &n);
  g_autofree char *text = NULL;

  if (!gtk_widget_get_mapped (GTK_WIDGET (self)))
    return;

  for (guint i = 0; i < n; i++)
    busy += cores[i] > 0.5f;
  text = g_strdup_printf (ngettext ("%u of %u core is more than half busy", "%u of %u cores are more than half busy", n), busy, n);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text, -1);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
first_sampled (QmCoresView *self)
{
  gtk_widget_queue_resize (GTK_WIDGET (self));
  g_signal_handlers_disconnect_by_func (self->watcher, first_sampled, self);
}

static void
qm_cores_view_dispose (GObject *object)
{
  g_clear_object (&QM_CORES_VIEW (object)->watcher);

  G_OBJECT_CLASS (qm_cores_view_parent_class)->dispose (object);
}

static void
qm_cores_view_class_init (QmCoresViewClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = qm_cores_view_dispose;
  widget_class->snapshot = qm_cores_view_snapshot;
  widget_class->measure = qm_cores_view_measure;
  widget_class->get_request_mode = qm_cores_view_get_request_mode;
  widget_class->query_tooltip = query_tooltip;
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
qm_cores_view_init (QmCoresView *self)
{
  gtk_widget_set_has_tooltip (GTK_WIDGET (self), TRUE);
}

/**
 * qm_cores_view_new:
 * @watcher: where the samples are from
 *
 * Returns: (transfer floating): bars that follow it
 */
GtkWidget *
qm_cores_view_new (QmWatcher *watcher)
{
  QmCoresView *self = g_object_new (QM_TYPE_CORES_VIEW, NULL);

  self->watcher = g_object_ref (watcher);
  qm_ui_set_label (GTK_WIDGET (self), _("Cores"));
  g_signal_connect_object (watcher, "sampled", G_CALLBACK (sampled), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (watcher, "sampled", G_CALLBACK (first_sampled), self, G_CONNECT_SWAPPED);

  return GTK_WIDGET (self);
}
