/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-techniques.h"

#include <glib/gi18n.h>
#include <math.h>

#include "decide/qm-ladder.h"
#include "draw/qm-language.h"
#include "draw/qm-phrases.h"
#include "qm-range-bar.h"
#include "qm-ui.h"

#define MOVE_MILLISECONDS 250

struct _QmTechniques {
  GtkBox parent_instance;

  GtkWidget *summary;
  GtkWidget *way_out;               /* a button */
  GtkWidget *bar;
  GtkWidget *list;
  GPtrArray *rows;                  /* of AdwSwitchRow, one for each rung */
  AdwAnimation *animation;
  QmEstimator *estimator;
  QmResolved *resolved;             /* the plan on the hardware of the choice */
  const QmDevice *device;
  double seconds;                   /* of the job; NaN in serving */
  guint wanted;                     /* bits 1 << index of a rung */
  guint fitting;                    /* the same, of those that make it fit; 0 none, or it does */
  gboolean updating;
  QmRange from;                     /* what the bar moves from and to */
  QmRange to;
  double usable;
  double headroom;
};

G_DEFINE_FINAL_TYPE (QmTechniques, qm_techniques, GTK_TYPE_BOX)

static double
between (double from,
         double to,
         double share)
{
  return from + (to - from) * share;
}

static void
move_bar (double        share,
          QmTechniques *self)
{
  QmRange range = { between (self->from.p10, self->to.p10, share), between (self->from.p50, self->to.p50, share),
                    between (self->from.p90, self->to.p90, share) };

  qm_range_bar_set (QM_RANGE_BAR (self->bar), range, 0, MAX (self->usable, MAX (self->from.p90, self->to.p90)),
                    (1 - self->headroom) * self->usable);
}

static void
show_memory (QmTechniques *self,
             QmRange       need)
{
  self->from = qm_range_is_known (self->to) ? self->to : need;
  self->to = need;
  adw_animation_reset (self->animation);
  adw_animation_play (self->animation);
}

static void
show_summary (QmTechniques   *self,
              const QmLadder *ladder)
{
  const QmWords *words = qm_language_get_words ();
  g_autofree char *need = qm_format_bytes (words, ladder->reached.memory.need.p50);
  g_autofree char *usable = qm_format_bytes (words, ladder->reached.memory.usable_bytes);
  const char *verdict = qm_phrase_verdict (words, ladder->reached.memory.verdict);
  double seconds = self->seconds;
  g_autofree char *time = NULL;
  g_autofree char *text = NULL;

  for (guint i = 0; i < ladder->rungs->len; i++)
    if (g_array_index (ladder->rungs, QmRung, i).state == QM_RUNG_TAKEN)
      seconds *= g_array_index (ladder->rungs, QmRung, i).time_factor;
  time = qm_format_seconds (words, seconds);

  /* Translators: amount of memory, amount of memory, whether it fits, duration */
  text = isnan (seconds) ? g_strdup_printf (_("%s of %s: %s"), need, usable, verdict)
                         : g_strdup_printf (_("%s of %s: %s · %s"), need, usable, verdict, time);
  gtk_label_set_label (GTK_LABEL (self->summary), text);
}

static void
show_rung (AdwSwitchRow *row,
           const QmRung *rung)
{
  const QmWords *words = qm_language_get_words ();
  g_autofree char *title = qm_message_get_text (rung->message, words);
  g_autofree char *detail = qm_message_get_detail (rung->message, words);
  g_autofree char *effect = qm_phrase_rung (words, rung);
  g_autofree char *subtitle = g_strdup_printf ("%s\n%s", effect, detail);

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), subtitle);
  adw_switch_row_set_active (row, rung->state == QM_RUNG_TAKEN || rung->state == QM_RUNG_ALREADY);
  gtk_widget_set_sensitive (GTK_WIDGET (row), rung->state == QM_RUNG_TAKEN || rung->state == QM_RUNG_SPARE);
}

static void
show (QmTechniques   *self,
      const QmLadder *ladder)
{
  self->updating = TRUE;
  for (guint i = 0; i < self->rows->len && i < ladder->rungs->len; i++)
    show_rung (g_ptr_array_index (self->rows, i), &g_array_index (ladder->rungs, QmRung, i));
  self->updating = FALSE;

  self->usable = ladder->reached.memory.usable_bytes;
  show_summary (self, ladder);
  gtk_widget_set_visible (self->way_out, self->fitting != 0 && !ladder->fits);
  show_memory (self, ladder->reached.memory.need);
}

static void
update (QmTechniques *self)
{
  g_autoptr (QmLadder) ladder = qm_ladder_with (self->estimator, self->resolved, self->device, self->wanted);

  show (self, ladder);
}

static void
switched (AdwSwitchRow *row,
          GParamSpec   *pspec,
          QmTechniques *self)
{
  guint index;

  if (self->updating || !g_ptr_array_find (self->rows, row, &index))
    return;

  if (adw_switch_row_get_active (row))
    self->wanted |= 1u << index;
  else
    self->wanted &= ~(1u << index);
  update (self);
}

static void
take_way_out (QmTechniques *self)
{
  self->wanted = self->fitting;
  update (self);
}

/* What has to be turned on where the job does not fit as it is. */
static guint
fitting_rungs (QmTechniques   *self,
               const QmLadder *ladder)
{
  g_autoptr (QmLadder) down = NULL;
  guint taken = 0;

  if (ladder->fits)
    return 0;

  down = qm_ladder_new (self->estimator, self->resolved, self->device);
  for (guint i = 0; down->fits && i < down->rungs->len; i++)
    if (g_array_index (down->rungs, QmRung, i).state == QM_RUNG_TAKEN)
      taken |= 1u << i;

  return taken;
}

/* What can be switched comes first; the rest is folded away. */
static void
make_rows (QmTechniques   *self,
           const QmLadder *ladder)
{
  GtkWidget *others = adw_expander_row_new ();
  gboolean any = FALSE;

  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (others), _("Already so, or of no use here"));
  gtk_list_box_remove_all (GTK_LIST_BOX (self->list));
  g_ptr_array_set_size (self->rows, 0);
  for (guint i = 0; i < ladder->rungs->len; i++)
    {
      GtkWidget *row = adw_switch_row_new ();
      gboolean of_use = g_array_index (ladder->rungs, QmRung, i).state == QM_RUNG_SPARE;

      g_signal_connect (row, "notify::active", G_CALLBACK (switched), self);
      if (of_use)
        gtk_list_box_append (GTK_LIST_BOX (self->list), row);
      else
        adw_expander_row_add_row (ADW_EXPANDER_ROW (others), row);
      any |= !of_use;
      g_ptr_array_add (self->rows, row);
    }
  gtk_list_box_append (GTK_LIST_BOX (self->list), others);
  gtk_widget_set_visible (others, any);
}

static void
qm_techniques_dispose (GObject *object)
{
  QmTechniques *self = QM_TECHNIQUES (object);

  g_clear_object (&self->animation);
  g_clear_pointer (&self->rows, g_ptr_array_unref);
  g_clear_object (&self->estimator);
  g_clear_pointer (&self->resolved, qm_resolved_free);

  G_OBJECT_CLASS (qm_techniques_parent_class)->dispose (object);
}

static void
qm_techniques_class_init (QmTechniquesClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = qm_techniques_dispose;
}

static void
qm_techniques_init (QmTechniques *self)
{
  GtkWidget *head = qm_ui_box (GTK_ORIENTATION_VERTICAL, 6);

  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing (GTK_BOX (self), 9);
  self->rows = g_ptr_array_new ();
  self->to = QM_RANGE_UNKNOWN;

  self->summary = qm_ui_wrapped ("", "second numeric");
  self->bar = qm_range_bar_new (QM_RANGE_BAR_BLUE);
  gtk_box_append (GTK_BOX (head), qm_ui_label (_("Ways to need less memory"), "heading"));
  gtk_box_append (GTK_BOX (head), self->summary);
  gtk_box_append (GTK_BOX (head), self->bar);
  self->way_out = gtk_button_new_with_mnemonic (_("_Turn on what makes it fit"));
  gtk_widget_set_halign (self->way_out, GTK_ALIGN_START);
  gtk_widget_set_name (self->way_out, "way-out");
  gtk_widget_set_visible (self->way_out, FALSE);
  g_signal_connect_swapped (self->way_out, "clicked", G_CALLBACK (take_way_out), self);
  gtk_box_append (GTK_BOX (head), self->way_out);
  gtk_box_append (GTK_BOX (self), head);

  self->list = gtk_list_box_new ();
  gtk_widget_add_css_class (self->list, "boxed-list");
  gtk_list_box_set_selection_mode (GTK_LIST_BOX (self->list), GTK_SELECTION_NONE);
  qm_ui_set_label (self->list, _("Ways to need less memory"));
  gtk_box_append (GTK_BOX (self), self->list);

  self->animation = adw_timed_animation_new (GTK_WIDGET (self), 0, 1, MOVE_MILLISECONDS,
                                             adw_callback_animation_target_new ((AdwAnimationTargetFunc) move_bar, self, NULL));
}

/**
 * qm_techniques_new:
 *
 * Returns: (transfer floating): switches, empty until there is a choice
 */
GtkWidget *
qm_techniques_new (void)
{
  return g_object_new (QM_TYPE_TECHNIQUES, NULL);
}

/**
 * qm_techniques_set:
 * @self: switches
 * @estimator: an estimator
 * @resolved: the plan
 * @choice: one of its choices
 *
 * Shows what would save memory on @choice, nothing of it turned on. Hidden
 * where nothing is known of its memory.
 */
void
qm_techniques_set (QmTechniques     *self,
                   QmEstimator      *estimator,
                   const QmResolved *resolved,
                   const QmChoice   *choice)
{
  const QmEstimate *estimate = &choice->estimate;
  g_autoptr (QmLadder) ladder = NULL;

  g_set_object (&self->estimator, estimator);
  g_clear_pointer (&self->resolved, qm_resolved_free);
  self->resolved = qm_ladder_resolve (resolved, estimate);
  self->device = estimate->device;
  self->seconds = estimate->time.seconds.p50;
  self->headroom = qm_plan_get_headroom (resolved->plan);
  self->wanted = 0;
  self->to = QM_RANGE_UNKNOWN;

  gtk_widget_set_visible (GTK_WIDGET (self), resolved->plan->task != QM_TASK_TABULAR && qm_range_is_known (estimate->memory.need));
  if (!gtk_widget_get_visible (GTK_WIDGET (self)))
    return;

  ladder = qm_ladder_with (estimator, self->resolved, self->device, 0);
  self->fitting = fitting_rungs (self, ladder);
  make_rows (self, ladder);
  show (self, ladder);
}
