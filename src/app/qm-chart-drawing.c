/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-chart-drawing.h"

#include <adwaita.h>
#include <math.h>

#include "qm-ui.h"

struct _QmChartDrawing {
  GtkWidget parent_instance;

  const QmChart *chart;             /* not owned: the card's */
  int cursor;                       /* a mark, -1 none */
};

G_DEFINE_FINAL_TYPE (QmChartDrawing, qm_chart_drawing, GTK_TYPE_WIDGET)

static guint mark_activated_signal;

static void
qm_chart_drawing_snapshot (GtkWidget   *widget,
                           GtkSnapshot *snapshot)
{
  QmChartDrawing *self = QM_CHART_DRAWING (widget);
  double width = gtk_widget_get_width (widget), height = gtk_widget_get_height (widget);
  QmPalette palette;
  cairo_t *cr;

  if (self->chart == NULL || width < 1 || height < 1)
    return;

  palette = qm_ui_palette (widget);
  cr = gtk_snapshot_append_cairo (snapshot, &GRAPHENE_RECT_INIT (0, 0, width, height));
  qm_chart_draw (self->chart, cr, width, height, &palette);
  if (self->cursor >= 0 && gtk_widget_has_focus (widget))
    qm_chart_draw_cursor (self->chart, cr, width, height, &palette, self->cursor);
  cairo_destroy (cr);
}

static GtkSizeRequestMode
qm_chart_drawing_get_request_mode (GtkWidget *widget)
{
  return GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH;
}

static void
qm_chart_drawing_measure (GtkWidget      *widget,
                          GtkOrientation  orientation,
                          int             for_size,
                          int            *minimum,
                          int            *natural,
                          int            *minimum_baseline,
                          int            *natural_baseline)
{
  QmChartDrawing *self = QM_CHART_DRAWING (widget);

  *minimum_baseline = *natural_baseline = -1;
  if (orientation == GTK_ORIENTATION_HORIZONTAL)
    {
      *minimum = 240;
      *natural = 640;
      return;
    }

  *minimum = *natural = self->chart != NULL ? (int) ceil (qm_chart_natural_height (self->chart, for_size > 0 ? for_size : 640)) : 0;
}

static int
mark_under (QmChartDrawing *self,
            double          x,
            double          y)
{
  if (self->chart == NULL)
    return -1;

  return qm_chart_mark_at (self->chart, gtk_widget_get_width (GTK_WIDGET (self)), gtk_widget_get_height (GTK_WIDGET (self)), x, y);
}

static gboolean
query_tooltip (GtkWidget  *widget,
               int         x,
               int         y,
               gboolean    keyboard,
               GtkTooltip *tooltip)
{
  QmChartDrawing *self = QM_CHART_DRAWING (widget);
  int mark = keyboard ? self->cursor : mark_under (self, x, y);

  if (mark < 0 || self->chart == NULL)
    return FALSE;

  gtk_tooltip_set_text (tooltip, qm_chart_mark_text (self->chart, mark));
  return TRUE;
}

static void
move_cursor (QmChartDrawing *self,
             int             to)
{
  int n = self->chart != NULL ? (int) qm_chart_n_marks (self->chart) : 0;

  if (n == 0)
    return;

  self->cursor = CLAMP (to, 0, n - 1);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                  qm_chart_mark_text (self->chart, self->cursor), -1);
  gtk_accessible_announce (GTK_ACCESSIBLE (self), qm_chart_mark_text (self->chart, self->cursor),
                           GTK_ACCESSIBLE_ANNOUNCEMENT_PRIORITY_MEDIUM);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
activate (QmChartDrawing *self,
          int             mark)
{
  int row = mark >= 0 && self->chart != NULL ? qm_chart_mark_row (self->chart, mark) : -1;

  if (row >= 0)
    g_signal_emit (self, mark_activated_signal, 0, row);
}

static gboolean
key_pressed (GtkEventControllerKey *controller,
             guint                  key,
             guint                  code,
             GdkModifierType        state,
             QmChartDrawing        *self)
{
  switch (key)
    {
    case GDK_KEY_Left:
    case GDK_KEY_Up:
      move_cursor (self, self->cursor - 1);
      return GDK_EVENT_STOP;
    case GDK_KEY_Right:
    case GDK_KEY_Down:
      move_cursor (self, self->cursor + 1);
      return GDK_EVENT_STOP;
    case GDK_KEY_Home:
      move_cursor (self, 0);
      return GDK_EVENT_STOP;
    case GDK_KEY_End:
      move_cursor (self, G_MAXINT);
      return GDK_EVENT_STOP;
    case GDK_KEY_Return:
    case GDK_KEY_KP_Enter:
    case GDK_KEY_space:
      activate (self, self->cursor);
      return GDK_EVENT_STOP;
    default:
      return GDK_EVENT_PROPAGATE;
    }
}

/* Whoever comes back hears of the whole first. */
static void
left (QmChartDrawing *self)
{
  self->cursor = -1;
  if (self->chart != NULL)
    gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, qm_chart_get_summary (self->chart), -1);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
pressed (GtkGestureClick *gesture,
         int              presses,
         double           x,
         double           y,
         QmChartDrawing  *self)
{
  gtk_widget_grab_focus (GTK_WIDGET (self));
  activate (self, mark_under (self, x, y));
}

static void
qm_chart_drawing_class_init (QmChartDrawingClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  widget_class->snapshot = qm_chart_drawing_snapshot;
  widget_class->measure = qm_chart_drawing_measure;
  widget_class->get_request_mode = qm_chart_drawing_get_request_mode;
  widget_class->query_tooltip = query_tooltip;
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
  gtk_widget_class_set_css_name (widget_class, "chart");

  mark_activated_signal = g_signal_new ("mark-activated", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                        G_TYPE_NONE, 1, G_TYPE_INT);
}

static void
qm_chart_drawing_init (QmChartDrawing *self)
{
  GtkEventController *keys = gtk_event_controller_key_new ();
  GtkEventController *focus = gtk_event_controller_focus_new ();
  GtkGesture *click = gtk_gesture_click_new ();

  self->cursor = -1;
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  gtk_widget_set_has_tooltip (GTK_WIDGET (self), TRUE);
  g_signal_connect (keys, "key-pressed", G_CALLBACK (key_pressed), self);
  g_signal_connect (click, "pressed", G_CALLBACK (pressed), self);
  g_signal_connect_swapped (focus, "leave", G_CALLBACK (left), self);
  gtk_widget_add_controller (GTK_WIDGET (self), keys);
  gtk_widget_add_controller (GTK_WIDGET (self), focus);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (click));
  qm_ui_follow_theme (GTK_WIDGET (self));
}

/**
 * qm_chart_drawing_new:
 *
 * Returns: (transfer floating): a drawing without a chart
 */
GtkWidget *
qm_chart_drawing_new (void)
{
  return g_object_new (QM_TYPE_CHART_DRAWING, NULL);
}

/**
 * qm_chart_drawing_set:
 * @self: a drawing
 * @chart: (nullable): what it shows; it must stay until another is set
 */
void
qm_chart_drawing_set (QmChartDrawing *self,
                      const QmChart  *chart)
{
  self->chart = chart;
  self->cursor = -1;
  if (chart != NULL)
    gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, qm_chart_get_title (chart),
                                    GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, qm_chart_get_summary (chart), -1);
  gtk_widget_queue_resize (GTK_WIDGET (self));
}
