/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-live-drawing-private.h"

#include <glib/gi18n.h>
#include <math.h>

#include "draw/qm-language.h"
#include "qm-ui.h"

#define HEIGHT       124
#define SMALL_WIDTH  64
#define SMALL_HEIGHT 28

/* The picture moves by whole pixels, and no oftener than this. */
#define SHORTEST_MILLISECONDS 33


G_DEFINE_FINAL_TYPE (QmLiveDrawing, qm_live_drawing, GTK_TYPE_WIDGET)

/**
 * qm_live_format:
 * @look: what is measured
 * @value: a value; NaN unknown
 *
 * Returns: (transfer full): the value for people
 */
char *
qm_live_format (const QmLiveLook *look,
                double            value)
{
  const QmWords *words = qm_language_get_words ();
  g_autofree char *number = NULL;

  if (!isfinite (value))
    return g_strdup ("–");
  if (look->quantity == QM_QUANTITY_PERCENT)
    number = qm_format_percent (words, round (fabs (value) * 100) / 100);
  else if (look->quantity == QM_QUANTITY_BYTES)
    number = look->suffix != NULL ? qm_format_file_bytes (words, value) : qm_format_bytes (words, value);
  else
    number = qm_format_number (words, value);

  return g_strconcat (number, look->suffix, NULL);
}

/* One interval behind, so that the next sample comes in from the right; where
 * nothing should move, at the last. */
static double
end_of (QmLiveDrawing *self)
{
  guint n = qm_watcher_length (self->watcher);
  double last = n > 0 ? qm_watcher_time (self->watcher, n - 1) : 0;
  double interval = qm_watcher_get_interval (self->watcher);

  if (!adw_get_enable_animations (GTK_WIDGET (self)))
    return last;

  return CLAMP (g_get_monotonic_time () / 1e6 - interval, last - interval, last);
}

/* The sample that is nearest to the cursor; -1 none. */
static int
at_cursor (QmLiveDrawing *self,
           double         end)
{
  int n = (int) qm_watcher_length (self->watcher), nearest = -1;

  for (int i = 0; i < n && self->cursor >= 0; i++)
    if (nearest < 0 || fabs (qm_watcher_time (self->watcher, i) - end + self->cursor) <
                         fabs (qm_watcher_time (self->watcher, nearest) - end + self->cursor))
      nearest = i;

  return nearest;
}

static void
qm_live_drawing_snapshot (GtkWidget   *widget,
                          GtkSnapshot *snapshot)
{
  QmLiveDrawing *self = QM_LIVE_DRAWING (widget);
  double width = gtk_widget_get_width (widget), height = gtk_widget_get_height (widget), end = end_of (self);
  cairo_t *cr;

  if (width <= (self->small ? 0 : QM_LIVE_LABELS) || height <= (self->small ? 0 : QM_LIVE_FOOT))
    return;

  cr = gtk_snapshot_append_cairo (snapshot, &GRAPHENE_RECT_INIT (0, 0, width, height));
  qm_live_paint (self, cr, width, height, end, at_cursor (self, end));
  cairo_destroy (cr);
}

static void
qm_live_drawing_measure (GtkWidget      *widget,
                         GtkOrientation  orientation,
                         int             for_size,
                         int            *minimum,
                         int            *natural,
                         int            *minimum_baseline,
                         int            *natural_baseline)
{
  QmLiveDrawing *self = QM_LIVE_DRAWING (widget);

  if (orientation == GTK_ORIENTATION_VERTICAL)
    *minimum = *natural = self->small ? SMALL_HEIGHT : HEIGHT;
  else
    *minimum = *natural = self->small ? SMALL_WIDTH : 2 * QM_LIVE_LABELS;
}

/* ------------------------------------------------------------------------- movement */

static gboolean
moved (gpointer data)
{
  gtk_widget_queue_draw (data);
  return G_SOURCE_CONTINUE;
}

static void
restart (QmLiveDrawing *self)
{
  int width = gtk_widget_get_width (GTK_WIDGET (self)) - (self->small ? 0 : QM_LIVE_LABELS);
  double scale = MAX (1, gtk_widget_get_scale_factor (GTK_WIDGET (self)));

  g_clear_handle_id (&self->timer, g_source_remove);
  if (!gtk_widget_get_mapped (GTK_WIDGET (self)) || self->small || width <= 0 || !adw_get_enable_animations (GTK_WIDGET (self)))
    return;

  self->timer = g_timeout_add ((guint) MAX (SHORTEST_MILLISECONDS, QM_LIVE_SECONDS * 1000 / (width * scale)), moved, self);
}

static void
qm_live_drawing_size_allocate (GtkWidget *widget,
                               int        width,
                               int        height,
                               int        baseline)
{
  restart (QM_LIVE_DRAWING (widget));
}

static void
qm_live_drawing_map (GtkWidget *widget)
{
  GTK_WIDGET_CLASS (qm_live_drawing_parent_class)->map (widget);
  restart (QM_LIVE_DRAWING (widget));
}

static void
qm_live_drawing_unmap (GtkWidget *widget)
{
  g_clear_handle_id (&QM_LIVE_DRAWING (widget)->timer, g_source_remove);

  GTK_WIDGET_CLASS (qm_live_drawing_parent_class)->unmap (widget);
}

/* --------------------------------------------------------------------------- cursor */

/* "34% 12 s ago" */
static char *
describe (QmLiveDrawing *self)
{
  double end = end_of (self);
  int index = at_cursor (self, end);
  g_autofree char *value = NULL, *second = NULL, *ago = NULL;
  g_autoptr (GString) text = g_string_new (_("{value}, {time} ago"));

  if (index < 0)
    return NULL;

  value = qm_live_format (&self->look, qm_watcher_value (self->watcher, index, qm_watcher_find (self->watcher, self->channels[0])));
  ago = qm_format_seconds (qm_language_get_words (), fmax (0, end - qm_watcher_time (self->watcher, index)));
  if (self->channels[1] != NULL)
    {
      g_autofree char *first = g_steal_pointer (&value);

      second = qm_live_format (&self->look, qm_watcher_value (self->watcher, index, qm_watcher_find (self->watcher, self->channels[1])));
      value = g_strdup_printf ("%s + %s", first, second);
    }
  g_string_replace (text, "{value}", value, 0);
  g_string_replace (text, "{time}", ago, 0);

  return g_string_free (g_steal_pointer (&text), FALSE);
}

static gboolean
query_tooltip (GtkWidget  *widget,
               int         x,
               int         y,
               gboolean    keyboard,
               GtkTooltip *tooltip)
{
  g_autofree char *text = describe (QM_LIVE_DRAWING (widget));

  if (text == NULL)
    return FALSE;

  gtk_tooltip_set_text (tooltip, text);
  return TRUE;
}

static void
set_cursor (QmLiveDrawing *self,
            double         seconds,
            gboolean       aloud)
{
  g_autofree char *text = NULL;

  self->cursor = seconds < 0 ? -1 : MIN (seconds, QM_LIVE_SECONDS);
  gtk_widget_queue_draw (GTK_WIDGET (self));
  gtk_widget_trigger_tooltip_query (GTK_WIDGET (self));
  text = aloud ? describe (self) : NULL;
  if (text == NULL)
    return;

  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text, -1);
  gtk_accessible_announce (GTK_ACCESSIBLE (self), text, GTK_ACCESSIBLE_ANNOUNCEMENT_PRIORITY_MEDIUM);
}

static gboolean
key_pressed (GtkEventControllerKey *controller,
             guint                  key,
             guint                  code,
             GdkModifierType        state,
             QmLiveDrawing         *self)
{
  double step = qm_watcher_get_interval (self->watcher);

  if (key == GDK_KEY_Left)
    set_cursor (self, self->cursor < 0 ? 0 : self->cursor + step, TRUE);
  else if (key == GDK_KEY_Right)
    set_cursor (self, MAX (0, self->cursor - step), TRUE);
  else
    return GDK_EVENT_PROPAGATE;

  return GDK_EVENT_STOP;
}

static void
pointer_moved (GtkEventControllerMotion *controller,
               double                    x,
               double                    y,
               QmLiveDrawing            *self)
{
  double width = gtk_widget_get_width (GTK_WIDGET (self)) - QM_LIVE_LABELS;

  set_cursor (self, x <= width ? QM_LIVE_SECONDS * (1 - x / width) : -1, FALSE);
}

static void
pointer_left (QmLiveDrawing *self)
{
  set_cursor (self, -1, FALSE);
}

static void
add_cursor (QmLiveDrawing *self)
{
  GtkEventController *keys = gtk_event_controller_key_new ();
  GtkEventController *motion = gtk_event_controller_motion_new ();

  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  gtk_widget_set_has_tooltip (GTK_WIDGET (self), TRUE);
  g_signal_connect (keys, "key-pressed", G_CALLBACK (key_pressed), self);
  g_signal_connect (motion, "motion", G_CALLBACK (pointer_moved), self);
  g_signal_connect_swapped (motion, "leave", G_CALLBACK (pointer_left), self);
  gtk_widget_add_controller (GTK_WIDGET (self), keys);
  gtk_widget_add_controller (GTK_WIDGET (self), motion);
}

/* ------------------------------------------------------------------------- building */

static void
sampled (QmLiveDrawing *self)
{
  if (gtk_widget_get_mapped (GTK_WIDGET (self)))
    gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
qm_live_drawing_dispose (GObject *object)
{
  QmLiveDrawing *self = QM_LIVE_DRAWING (object);

  g_clear_handle_id (&self->timer, g_source_remove);
  g_clear_object (&self->watcher);

  G_OBJECT_CLASS (qm_live_drawing_parent_class)->dispose (object);
}

static void
qm_live_drawing_finalize (GObject *object)
{
  QmLiveDrawing *self = QM_LIVE_DRAWING (object);

  g_free (self->channels[0]);
  g_free (self->channels[1]);
  g_free (self->limit_text);

  G_OBJECT_CLASS (qm_live_drawing_parent_class)->finalize (object);
}

static void
qm_live_drawing_class_init (QmLiveDrawingClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = qm_live_drawing_dispose;
  G_OBJECT_CLASS (klass)->finalize = qm_live_drawing_finalize;
  widget_class->snapshot = qm_live_drawing_snapshot;
  widget_class->measure = qm_live_drawing_measure;
  widget_class->size_allocate = qm_live_drawing_size_allocate;
  widget_class->map = qm_live_drawing_map;
  widget_class->unmap = qm_live_drawing_unmap;
  widget_class->query_tooltip = query_tooltip;
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
  gtk_widget_class_set_css_name (widget_class, "chart");
}

static void
qm_live_drawing_init (QmLiveDrawing *self)
{
  self->cursor = -1;
  self->limit = NAN;
  qm_ui_follow_theme (GTK_WIDGET (self));
}

/**
 * qm_live_drawing_new:
 * @watcher: where the samples are from
 * @look: what is drawn; it is copied
 * @small: without axes, as in a list
 *
 * Returns: (transfer floating): a chart of the last minutes, that moves on by
 *   itself while it is seen
 */
GtkWidget *
qm_live_drawing_new (QmWatcher        *watcher,
                     const QmLiveLook *look,
                     gboolean          small)
{
  QmLiveDrawing *self = g_object_new (QM_TYPE_LIVE_DRAWING, NULL);

  self->watcher = g_object_ref (watcher);
  self->look = *look;
  self->small = small;
  for (int i = 0; i < 2; i++)
    self->channels[i] = g_strdup (look->channels[i]);
  if (!small)
    add_cursor (self);
  else
    gtk_widget_set_valign (GTK_WIDGET (self), GTK_ALIGN_CENTER);
  g_signal_connect_object (watcher, "sampled", G_CALLBACK (sampled), self, G_CONNECT_SWAPPED);

  return GTK_WIDGET (self);
}

/**
 * qm_live_drawing_set_limit:
 * @self: a chart
 * @value: where a line is drawn across; NaN for none
 * @text: (nullable): what it is
 */
void
qm_live_drawing_set_limit (QmLiveDrawing *self,
                           double         value,
                           const char    *text)
{
  self->limit = value;
  g_set_str (&self->limit_text, text);
}

/**
 * qm_live_drawing_is_known:
 * @self: a chart
 *
 * Returns: whether anything was measured of late
 */
gboolean
qm_live_drawing_is_known (QmLiveDrawing *self)
{
  guint n = qm_watcher_length (self->watcher);
  int channel = qm_watcher_find (self->watcher, self->channels[0]);

  for (guint i = n > QM_LIVE_SECONDS ? n - QM_LIVE_SECONDS : 0; i < n; i++)
    if (isfinite (qm_watcher_value (self->watcher, i, channel)))
      return TRUE;

  return FALSE;
}
