/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-range-bar.h"

#include <adwaita.h>
#include <math.h>

#include "draw/qm-chart.h"
#include "qm-ui.h"

#define HEIGHT 18
#define TRACK 8
#define DOT 5

struct _QmRangeBar {
  GtkWidget parent_instance;

  QmRangeBarRole role;
  QmRange range;
  double minimum;
  double maximum;
  double limit;
};

G_DEFINE_FINAL_TYPE (QmRangeBar, qm_range_bar, GTK_TYPE_WIDGET)

static GdkRGBA
rgba (QmColor color,
      double  alpha)
{
  return (GdkRGBA) { color.red, color.green, color.blue, color.alpha * alpha };
}

static GdkRGBA
role_color (QmRangeBar *self,
            double      alpha)
{
  const QmPalette *palette = qm_ui_roles ();

  switch (self->role)
    {
    case QM_RANGE_BAR_TEAL:
      return rgba (palette->teal, alpha);
    case QM_RANGE_BAR_ORANGE:
      return rgba (palette->orange, alpha);
    case QM_RANGE_BAR_PURPLE:
      return rgba (palette->purple, alpha);
    case QM_RANGE_BAR_BLUE:
    default:
      return rgba (palette->blue, alpha);
    }
}

static double
position (QmRangeBar *self,
          double      value,
          double      width)
{
  double share = (value - self->minimum) / (self->maximum - self->minimum);
  gboolean mirrored = gtk_widget_get_direction (GTK_WIDGET (self)) == GTK_TEXT_DIR_RTL;

  share = CLAMP (share, 0, 1);
  return (mirrored ? 1 - share : share) * width;
}

static void
append_bar (GtkSnapshot   *snapshot,
            double         from,
            double         to,
            double         y,
            double         height,
            const GdkRGBA *color)
{
  GskRoundedRect rounded;
  graphene_rect_t rect = GRAPHENE_RECT_INIT (MIN (from, to), y, fabs (to - from), height);

  gsk_rounded_rect_init_from_rect (&rounded, &rect, MIN (height, fabs (to - from)) / 2);
  gtk_snapshot_push_rounded_clip (snapshot, &rounded);
  gtk_snapshot_append_color (snapshot, color, &rect);
  gtk_snapshot_pop (snapshot);
}

static void
qm_range_bar_snapshot (GtkWidget   *widget,
                       GtkSnapshot *snapshot)
{
  QmRangeBar *self = QM_RANGE_BAR (widget);
  double width = gtk_widget_get_width (widget);
  double y = (gtk_widget_get_height (widget) - TRACK) / 2.0;
  GdkRGBA text, track, fill, pale;

  gtk_widget_get_color (widget, &text);
  track = text;
  track.alpha *= 0.12;
  append_bar (snapshot, 0, width, y, TRACK, &track);
  if (!qm_range_is_known (self->range) || !(self->maximum > self->minimum))
    return;

  fill = role_color (self, 1);
  pale = role_color (self, 0.45);
  append_bar (snapshot, position (self, self->minimum, width), position (self, self->range.p50, width), y, TRACK, &fill);
  append_bar (snapshot, position (self, self->range.p10, width), position (self, self->range.p90, width), y, TRACK, &pale);
  append_bar (snapshot, position (self, self->range.p50, width) - DOT, position (self, self->range.p50, width) + DOT,
              y + TRACK / 2.0 - DOT, 2 * DOT, &fill);
  if (!isnan (self->limit) && self->limit <= self->maximum)
    {
      double x = position (self, self->limit, width);

      gtk_snapshot_append_color (snapshot, &text, &GRAPHENE_RECT_INIT (round (x) - 1, y - 4, 2, TRACK + 8));
    }
}

static void
qm_range_bar_measure (GtkWidget      *widget,
                      GtkOrientation  orientation,
                      int             for_size,
                      int            *minimum,
                      int            *natural,
                      int            *minimum_baseline,
                      int            *natural_baseline)
{
  *minimum = orientation == GTK_ORIENTATION_HORIZONTAL ? 40 : HEIGHT;
  *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 84 : HEIGHT;
  *minimum_baseline = *natural_baseline = -1;
}

static void
qm_range_bar_class_init (QmRangeBarClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  widget_class->snapshot = qm_range_bar_snapshot;
  widget_class->measure = qm_range_bar_measure;
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_PRESENTATION);
  gtk_widget_class_set_css_name (widget_class, "rangebar");
}

static void
qm_range_bar_init (QmRangeBar *self)
{
  self->range = QM_RANGE_UNKNOWN;
  qm_ui_follow_theme (GTK_WIDGET (self));
}

/**
 * qm_range_bar_new:
 * @role: which colour
 *
 * Returns: (transfer floating): a bar without a range
 */
GtkWidget *
qm_range_bar_new (QmRangeBarRole role)
{
  QmRangeBar *self = g_object_new (QM_TYPE_RANGE_BAR, NULL);

  self->role = role;
  return GTK_WIDGET (self);
}

/**
 * qm_range_bar_set:
 * @self: a bar
 * @range: what it shows
 * @minimum: at its start
 * @maximum: at its end
 * @limit: a mark; NaN for none
 */
void
qm_range_bar_set (QmRangeBar *self,
                  QmRange     range,
                  double      minimum,
                  double      maximum,
                  double      limit)
{
  self->range = range;
  self->minimum = minimum;
  self->maximum = maximum;
  self->limit = limit;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}
