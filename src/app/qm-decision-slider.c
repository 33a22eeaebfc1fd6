/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-decision-slider.h"

#include <glib/gi18n.h>
#include <math.h>

#include "decide/qm-bands.h"
#include "draw/qm-chart.h"
#include "draw/qm-language.h"
#include "draw/qm-phrases.h"
#include "qm-background.h"
#include "qm-ui.h"

#define TRACK 12
#define KNOB 10
#define GAP 4
#define STEP 1.1
#define PALE 0.45

struct _QmDecisionSlider {
  GtkWidget parent_instance;

  QmSession *session;
  const QmQuestion *question;
  QmDial dial;
  GArray *bands;
  GCancellable *cancellable;
  gboolean dragging;
};

G_DEFINE_FINAL_TYPE (QmDecisionSlider, qm_decision_slider, GTK_TYPE_WIDGET)

/* -------------------------------------------------------------------- values */

static const QmBand *
band_at (QmDecisionSlider *self,
         guint             i)
{
  return &g_array_index (self->bands, QmBand, i);
}

static double
lowest (QmDecisionSlider *self)
{
  return band_at (self, 0)->from;
}

static double
highest (QmDecisionSlider *self)
{
  return band_at (self, self->bands->len - 1)->to;
}

/* The answer as given; NaN where there is no limit. */
static double
current (QmDecisionSlider *self)
{
  g_autofree char *answer = qm_session_get_answer (self->session, self->question->field);

  return answer != NULL ? g_ascii_strtod (answer, NULL) : NAN;
}

static const QmBand *
find_band (QmDecisionSlider *self,
           double            value)
{
  guint i = 0;

  /* without a limit nothing is out of reach */
  if (isnan (value))
    return band_at (self, self->bands->len - 1);
  while (i + 1 < self->bands->len && value >= band_at (self, i)->to)
    i++;

  return band_at (self, i);
}

static char *
name_of (const QmBand *band)
{
  return band->possible ? qm_phrase_hardware (&band->choice) : g_strdup (_("nothing does"));
}

static char *
format_value (QmDecisionSlider *self,
              double            value)
{
  const QmWords *words = qm_language_get_words ();

  if (isnan (value))
    return g_strdup (_("no limit"));

  return self->dial == QM_DIAL_HOURS
           ? qm_format_seconds (words, value * 3600)
           : qm_format_money (words, value, qm_plan_get_currency (qm_session_get_plan (self->session)));
}

static void
announce (QmDecisionSlider *self)
{
  double value = current (self);
  g_autofree char *shown = format_value (self, value);
  g_autofree char *name = NULL;
  g_autofree char *text = NULL;

  gtk_widget_queue_draw (GTK_WIDGET (self));
  if (self->bands->len == 0)
    return;

  name = name_of (find_band (self, value));
  /* Translators: a limit and what is chosen under it: "12 hours: 1 × NVIDIA L40S" */
  text = g_strdup_printf (_("%s: %s"), shown, name);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self),
                                  GTK_ACCESSIBLE_PROPERTY_VALUE_MIN, lowest (self),
                                  GTK_ACCESSIBLE_PROPERTY_VALUE_MAX, highest (self),
                                  GTK_ACCESSIBLE_PROPERTY_VALUE_NOW, isnan (value) ? highest (self) : CLAMP (value, lowest (self), highest (self)),
                                  GTK_ACCESSIBLE_PROPERTY_VALUE_TEXT, text, -1);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self), text);
}

/* Two digits are as exact as anybody means a limit. */
static void
set_value (QmDecisionSlider *self,
           double            value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  double unit;

  value = CLAMP (value, lowest (self), highest (self));
  unit = pow (10, floor (log10 (value)) - 1);
  value = rint (value / unit) * unit;
  value = CLAMP (value, self->question->minimum, self->question->maximum);
  g_ascii_formatd (text, sizeof text, "%.6g", value);
  qm_session_set_answer (self->session, self->question->field, text, NULL);
}

/* ------------------------------------------------------------------- drawing */

static double
position_of (QmDecisionSlider *self,
             double            value)
{
  double width = gtk_widget_get_width (GTK_WIDGET (self)) - 2 * KNOB;
  double share = isnan (value) ? 1 : log (value / lowest (self)) / log (highest (self) / lowest (self));
  gboolean mirrored = gtk_widget_get_direction (GTK_WIDGET (self)) == GTK_TEXT_DIR_RTL;

  share = CLAMP (share, 0, 1);
  return KNOB + (mirrored ? 1 - share : share) * width;
}

static double
value_at (QmDecisionSlider *self,
          double            x)
{
  double width = gtk_widget_get_width (GTK_WIDGET (self)) - 2 * KNOB;
  double share = CLAMP ((x - KNOB) / width, 0, 1);

  if (gtk_widget_get_direction (GTK_WIDGET (self)) == GTK_TEXT_DIR_RTL)
    share = 1 - share;

  return lowest (self) * pow (highest (self) / lowest (self), share);
}

/* Hardware has one colour wherever it wins: that of where it does first. */
static GdkRGBA
color_of (QmDecisionSlider *self,
          const QmBand     *band,
          double            alpha)
{
  const QmPalette *palette = qm_ui_roles ();
  const QmColor colors[] = { palette->blue, palette->orange, palette->teal, palette->purple, palette->ochre, palette->grey };
  QmColor color;
  guint n = 0;

  for (const QmBand *other = band_at (self, 0); other != band; other++)
    {
      if (other->possible && other->choice.estimate.device == band->choice.estimate.device &&
          other->choice.estimate.configuration.devices == band->choice.estimate.configuration.devices)
        break;
      n += other->possible;
    }
  color = colors[n % G_N_ELEMENTS (colors)];

  return (GdkRGBA) { color.red, color.green, color.blue, color.alpha * alpha };
}

static int
text_height (QmDecisionSlider *self)
{
  g_autoptr (PangoLayout) layout = gtk_widget_create_pango_layout (GTK_WIDGET (self), "0");
  int height;

  pango_layout_get_pixel_size (layout, NULL, &height);
  return height;
}

/* Returns whether there was room after @free_from, which moves behind the text. */
static gboolean
draw_text (QmDecisionSlider *self,
           GtkSnapshot      *snapshot,
           const char       *text,
           double            center,
           double            y,
           gboolean          bold,
           double           *free_from)
{
  g_autoptr (PangoLayout) layout = gtk_widget_create_pango_layout (GTK_WIDGET (self), text);
  double width = gtk_widget_get_width (GTK_WIDGET (self));
  PangoRectangle size;
  GdkRGBA color;
  double x;

  if (bold)
    {
      g_autoptr (PangoAttrList) attributes = pango_attr_list_new ();

      pango_attr_list_insert (attributes, pango_attr_weight_new (PANGO_WEIGHT_BOLD));
      pango_layout_set_attributes (layout, attributes);
    }
  pango_layout_get_pixel_extents (layout, NULL, &size);
  x = CLAMP (center - size.width / 2.0, 0, MAX (0, width - size.width));
  if (free_from != NULL && x < *free_from)
    return FALSE;
  if (free_from != NULL)
    *free_from = x + size.width + 2 * GAP;

  gtk_widget_get_color (GTK_WIDGET (self), &color);
  color.alpha *= bold ? 1 : 0.72;
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (snapshot, &GRAPHENE_POINT_INIT (x, y));
  gtk_snapshot_append_layout (snapshot, layout, &color);
  gtk_snapshot_restore (snapshot);
  return TRUE;
}

/* Where a name stands above its stretch, within the window; bold is a little wider. */
static void
extents_of (QmDecisionSlider *self,
            const char       *name,
            const QmBand     *band,
            double           *start,
            double           *end)
{
  g_autoptr (PangoLayout) layout = gtk_widget_create_pango_layout (GTK_WIDGET (self), name);
  double center = (position_of (self, band->from) + position_of (self, band->to)) / 2;
  double window = gtk_widget_get_width (GTK_WIDGET (self));
  int width;

  pango_layout_get_pixel_size (layout, &width, NULL);
  width += width / 12;
  *start = CLAMP (center - width / 2.0, 0, MAX (0, window - width));
  *end = *start + width;
}

static void
draw_track (QmDecisionSlider *self,
            GtkSnapshot      *snapshot,
            double            y)
{
  const QmBand *winner = find_band (self, current (self));
  GdkRGBA ink;

  gtk_widget_get_color (GTK_WIDGET (self), &ink);
  for (guint i = 0; i < self->bands->len; i++)
    {
      const QmBand *band = band_at (self, i);
      double from = position_of (self, band->from), to = position_of (self, band->to);
      graphene_rect_t rect = GRAPHENE_RECT_INIT (MIN (from, to), y, MAX (1, fabs (to - from) - 1), TRACK);
      GdkRGBA color;

      if (!band->possible)
        {
          qm_ui_append_hatching (snapshot, &rect, &ink);
          continue;
        }
      color = color_of (self, band, band == winner ? 1 : PALE);
      gtk_snapshot_append_color (snapshot, &color, &rect);
    }
}

/* Who wins now stands above its stretch; who wins elsewhere where the name has room. */
static void
draw_names (QmDecisionSlider *self,
            GtkSnapshot      *snapshot)
{
  const QmBand *winner = find_band (self, current (self));
  double free_from = 0, start, end;
  g_autofree char *bold = name_of (winner);

  extents_of (self, bold, winner, &start, &end);
  draw_text (self, snapshot, bold, (start + end) / 2, 0, TRUE, NULL);
  for (guint i = 0; i < self->bands->len; i++)
    {
      const QmBand *band = band_at (self, i);
      g_autofree char *name = name_of (band);
      double from = position_of (self, band->from), to = position_of (self, band->to);
      double left, right;

      extents_of (self, name, band, &left, &right);
      if (band == winner || right - left > fabs (to - from) + 6 * GAP || (left < end + 2 * GAP && right > start - 2 * GAP))
        continue;
      draw_text (self, snapshot, name, (from + to) / 2, 0, FALSE, &free_from);
    }
}

static void
draw_ticks (QmDecisionSlider *self,
            GtkSnapshot      *snapshot,
            double            y)
{
  double free_from = -1;

  for (guint i = 0; i <= self->bands->len; i++)
    {
      double value = i < self->bands->len ? band_at (self, i)->from : highest (self);
      g_autofree char *text = format_value (self, value);

      draw_text (self, snapshot, text, position_of (self, value), y, FALSE, &free_from);
    }
}

static void
draw_knob (QmDecisionSlider *self,
           GtkSnapshot      *snapshot,
           double            middle)
{
  double x = position_of (self, current (self));
  graphene_rect_t rect = GRAPHENE_RECT_INIT (x - KNOB, middle - KNOB, 2 * KNOB, 2 * KNOB);
  GskRoundedRect round;
  GdkRGBA white = { 1, 1, 1, 1 }, edge;

  gtk_widget_get_color (GTK_WIDGET (self), &edge);
  edge.alpha *= 0.6;
  gsk_rounded_rect_init_from_rect (&round, &rect, KNOB);
  gtk_snapshot_push_rounded_clip (snapshot, &round);
  gtk_snapshot_append_color (snapshot, &white, &rect);
  gtk_snapshot_pop (snapshot);
  gtk_snapshot_append_border (snapshot, &round, (float[4]) { 1.5f, 1.5f, 1.5f, 1.5f }, (GdkRGBA[4]) { edge, edge, edge, edge });
}

static void
qm_decision_slider_snapshot (GtkWidget   *widget,
                             GtkSnapshot *snapshot)
{
  QmDecisionSlider *self = QM_DECISION_SLIDER (widget);
  double y = text_height (self) + GAP + (KNOB - TRACK / 2.0);

  if (self->bands->len == 0)
    return;

  draw_names (self, snapshot);
  draw_track (self, snapshot, y);
  draw_knob (self, snapshot, y + TRACK / 2.0);
  draw_ticks (self, snapshot, y + TRACK / 2.0 + KNOB + GAP);
}

static void
qm_decision_slider_measure (GtkWidget      *widget,
                            GtkOrientation  orientation,
                            int             for_size,
                            int            *minimum,
                            int            *natural,
                            int            *minimum_baseline,
                            int            *natural_baseline)
{
  int height = 2 * text_height (QM_DECISION_SLIDER (widget)) + 2 * GAP + 2 * KNOB;

  *minimum = orientation == GTK_ORIENTATION_HORIZONTAL ? 120 : height;
  *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 360 : height;
  *minimum_baseline = *natural_baseline = -1;
}

/* ------------------------------------------------------------------- answers */

static void
bands_done (GObject      *source,
            GAsyncResult *result,
            gpointer      data)
{
  QmDecisionSlider *self = QM_DECISION_SLIDER (source);
  g_autoptr (GArray) bands = qm_background_bands_finish (result);

  /* A later answer has taken over. */
  if (bands == NULL)
    return;

  g_clear_object (&self->cancellable);
  g_array_unref (self->bands);
  self->bands = g_steal_pointer (&bands);
  gtk_widget_set_visible (GTK_WIDGET (self), self->bands->len > 1);
  announce (self);
}

static void
answered (QmDecisionSlider *self)
{
  QmRecommendation *recommendation = qm_session_get_recommendation (self->session);
  QmMachine *machine = qm_session_get_machine (self->session);
  QmHere here = { 0 };

  g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
  /* Who wins at a value does not hang on the value; the scale stays under the hand. */
  if (recommendation == NULL || self->dragging)
    return;

  if (machine != NULL)
    qm_machine_get_here (machine, &here);
  self->cancellable = g_cancellable_new ();
  qm_background_bands (G_OBJECT (self), recommendation, &here, self->dial, self->cancellable, bands_done);
}

/* --------------------------------------------------------------------- hands */

static void
drag_begin (GtkGestureDrag   *gesture,
            double            x,
            double            y,
            QmDecisionSlider *self)
{
  if (self->bands->len == 0)
    return;

  self->dragging = TRUE;
  gtk_gesture_set_state (GTK_GESTURE (gesture), GTK_EVENT_SEQUENCE_CLAIMED);
  gtk_widget_grab_focus (GTK_WIDGET (self));
  set_value (self, value_at (self, x));
}

static void
drag_update (GtkGestureDrag   *gesture,
             double            dx,
             double            dy,
             QmDecisionSlider *self)
{
  double x, y;

  if (self->bands->len > 0 && gtk_gesture_drag_get_start_point (gesture, &x, &y))
    set_value (self, value_at (self, x + dx));
}

static void
drag_end (GtkGestureDrag   *gesture,
          double            dx,
          double            dy,
          QmDecisionSlider *self)
{
  self->dragging = FALSE;
  answered (self);
}

/* To the next value with another answer. */
static double
next_change (QmDecisionSlider *self,
             double            value,
             gboolean          up)
{
  guint n = self->bands->len;

  for (guint i = 1; i < n; i++)
    {
      double change = band_at (self, up ? i : n - i)->from;

      if (up ? change > value * 1.02 : change < value * 0.98)
        return up ? change * 1.01 : change * 0.99;
    }

  return up ? highest (self) : lowest (self);
}

static gboolean
key_pressed (GtkEventControllerKey *controller,
             guint                  key,
             guint                  code,
             GdkModifierType        modifiers,
             QmDecisionSlider      *self)
{
  gboolean mirrored = gtk_widget_get_direction (GTK_WIDGET (self)) == GTK_TEXT_DIR_RTL;
  double value = current (self);

  if (self->bands->len == 0)
    return GDK_EVENT_PROPAGATE;
  if (isnan (value))
    value = highest (self);

  switch (key)
    {
    case GDK_KEY_Left:
    case GDK_KEY_Right:
      set_value (self, (key == GDK_KEY_Right) != mirrored ? value * STEP : value / STEP);
      return GDK_EVENT_STOP;
    case GDK_KEY_Page_Up:
    case GDK_KEY_Page_Down:
      set_value (self, next_change (self, value, key == GDK_KEY_Page_Up));
      return GDK_EVENT_STOP;
    case GDK_KEY_Home:
    case GDK_KEY_End:
      set_value (self, key == GDK_KEY_Home ? lowest (self) : highest (self));
      return GDK_EVENT_STOP;
    default:
      return GDK_EVENT_PROPAGATE;
    }
}

static void
qm_decision_slider_finalize (GObject *object)
{
  QmDecisionSlider *self = QM_DECISION_SLIDER (object);

  g_clear_object (&self->cancellable);
  g_clear_object (&self->session);
  g_clear_pointer (&self->bands, g_array_unref);

  G_OBJECT_CLASS (qm_decision_slider_parent_class)->finalize (object);
}

static void
qm_decision_slider_class_init (QmDecisionSliderClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = qm_decision_slider_finalize;
  widget_class->snapshot = qm_decision_slider_snapshot;
  widget_class->measure = qm_decision_slider_measure;
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_SLIDER);
  gtk_widget_class_set_css_name (widget_class, "decisionslider");
}

static void
qm_decision_slider_init (QmDecisionSlider *self)
{
  GtkGesture *drag = gtk_gesture_drag_new ();
  GtkEventController *keys = gtk_event_controller_key_new ();

  self->bands = g_array_new (FALSE, FALSE, sizeof (QmBand));
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
  gtk_widget_add_css_class (GTK_WIDGET (self), "caption");
  g_signal_connect (drag, "drag-begin", G_CALLBACK (drag_begin), self);
  g_signal_connect (drag, "drag-update", G_CALLBACK (drag_update), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (drag));
  g_signal_connect (drag, "drag-end", G_CALLBACK (drag_end), self);
  g_signal_connect (keys, "key-pressed", G_CALLBACK (key_pressed), self);
  gtk_widget_add_controller (GTK_WIDGET (self), keys);
  qm_ui_follow_theme (GTK_WIDGET (self));
}

/**
 * qm_decision_slider_is_for:
 * @question: a question of the flow
 *
 * Returns: whether it asks for a limit that the slider can turn
 */
gboolean
qm_decision_slider_is_for (const QmQuestion *question)
{
  return g_str_equal (question->field, "limits.money") || g_str_equal (question->field, "limits.hours");
}

/**
 * qm_decision_slider_new:
 * @session: the session
 * @question: one that qm_decision_slider_is_for()
 *
 * Its track is coloured by the hardware that wins at each value of a limit, worked
 * out in a thread of its own after each answer; hatched where nothing does.
 *
 * Returns: (transfer floating): a slider, hidden until there is something to choose
 */
GtkWidget *
qm_decision_slider_new (QmSession        *session,
                        const QmQuestion *question)
{
  QmDecisionSlider *self = g_object_new (QM_TYPE_DECISION_SLIDER, NULL);

  self->session = g_object_ref (session);
  self->question = question;
  self->dial = g_str_equal (question->field, "limits.hours") ? QM_DIAL_HOURS : QM_DIAL_MONEY;
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, _(question->title), -1);
  g_signal_connect_object (session, "plan-changed", G_CALLBACK (announce), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (session, "answered", G_CALLBACK (answered), self, G_CONNECT_SWAPPED);
  answered (self);

  return GTK_WIDGET (self);
}

/**
 * qm_decision_slider_get_bands:
 * @self: a slider
 *
 * Returns: (transfer none) (element-type QmBand): which hardware wins at each value
 */
const GArray *
qm_decision_slider_get_bands (QmDecisionSlider *self)
{
  return self->bands;
}
