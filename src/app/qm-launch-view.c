/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-launch-view.h"

#include <adwaita.h>
#include <glib/gi18n.h>

#include "draw/qm-language.h"
#include "export/qm-launch.h"
#include "qm-code-card.h"
#include "qm-columns.h"
#include "qm-error.h"
#include "qm-ui.h"

struct _QmLaunchView {
  GtkBox parent_instance;

  QmLauncher *launcher;
  JsonObject *values;
  GPtrArray *formats;               /* of QmLaunchFormat */
  char *wanted;                     /* the format that was picked last */
  GtkWidget *ways;
  GtkWidget *lists;
  GtkWidget *start;
  GtkWidget *driver_notice;
  GtkWidget *cards;
  GtkWidget *others;
  gboolean filling;
};

G_DEFINE_FINAL_TYPE (QmLaunchView, qm_launch_view, GTK_TYPE_BOX)

static GtkWidget *
list_new (const char         *title,
          const char * const *texts,
          const char         *icon)
{
  GtkWidget *column = qm_ui_box (GTK_ORIENTATION_VERTICAL, 9);

  gtk_box_append (GTK_BOX (column), qm_ui_label (title, "caption-heading second"));
  for (guint i = 0; texts[i] != NULL; i++)
    {
      GtkWidget *line = qm_ui_box (GTK_ORIENTATION_HORIZONTAL, 9);
      GtkWidget *mark = gtk_image_new_from_icon_name (icon);
      GtkWidget *text = qm_ui_wrapped (texts[i], NULL);

      gtk_widget_set_valign (mark, GTK_ALIGN_START);
      gtk_widget_set_margin_top (mark, 2);
      gtk_widget_set_hexpand (text, TRUE);
      gtk_box_append (GTK_BOX (line), mark);
      gtk_box_append (GTK_BOX (line), text);
      gtk_box_append (GTK_BOX (column), line);
    }

  return column;
}

static void
copy_start (QmLaunchView *self)
{
  gdk_clipboard_set_text (gtk_widget_get_clipboard (GTK_WIDGET (self)), adw_action_row_get_subtitle (ADW_ACTION_ROW (self->start)));
  gtk_widget_activate_action (GTK_WIDGET (self), "win.show-toast", "s", _("Command copied"));
}

static void
show_lists (QmLaunchView         *self,
            const QmLaunchFormat *format)
{
  qm_columns_clear (QM_COLUMNS (self->lists));
  if (format->needs[0] != NULL)
    qm_columns_append (QM_COLUMNS (self->lists), list_new (_("Have this first"), (const char * const *) format->needs, "qm-flag-symbolic"));
  if (format->guards[0] != NULL)
    qm_columns_append (QM_COLUMNS (self->lists), list_new (_("Already seen to"), (const char * const *) format->guards, "object-select-symbolic"));
}

static void
show_files (QmLaunchView         *self,
            const QmLaunchFormat *format)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) files = qm_launcher_fill (self->launcher, format->id, self->values, &error);

  qm_ui_clear (self->cards);
  if (files == NULL)
    {
      g_autofree char *problem = qm_error_get_text (error, qm_language_get_words ());

      gtk_box_append (GTK_BOX (self->cards), qm_ui_wrapped (problem, "card notice"));
      return;
    }
  for (guint i = 0; i < files->len; i++)
    gtk_box_append (GTK_BOX (self->cards), qm_code_card_new (g_ptr_array_index (files, i)));
}

static void
show_format (QmLaunchView         *self,
             const QmLaunchFormat *format)
{
  gtk_widget_set_visible (gtk_widget_get_parent (self->start), format->start != NULL);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (self->start), format->start != NULL ? format->start : "");
  show_lists (self, format);
  show_files (self, format);
}

static void
way_toggled (GtkToggleButton *button,
             QmLaunchView    *self)
{
  const char *id = gtk_widget_get_name (GTK_WIDGET (button));

  if (self->filling || !gtk_toggle_button_get_active (button))
    return;

  g_set_str (&self->wanted, id);
  for (guint i = 0; i < self->formats->len; i++)
    {
      const QmLaunchFormat *format = g_ptr_array_index (self->formats, i);

      if (g_str_equal (format->id, id))
        show_format (self, format);
    }
}

static void
add_way (QmLaunchView         *self,
         const QmLaunchFormat *format,
         GtkWidget           **first)
{
  GtkWidget *button = gtk_toggle_button_new_with_label (format->name);

  gtk_widget_set_name (button, format->id);
  gtk_toggle_button_set_group (GTK_TOGGLE_BUTTON (button), *first != NULL ? GTK_TOGGLE_BUTTON (*first) : NULL);
  if (*first == NULL)
    *first = button;
  g_signal_connect (button, "toggled", G_CALLBACK (way_toggled), self);
  adw_wrap_box_append (ADW_WRAP_BOX (self->ways), button);
}

static void
add_other (QmLaunchView         *self,
           const QmLaunchFormat *format)
{
  GtkWidget *row = adw_action_row_new ();

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), format->name);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), format->why_not);
  adw_expander_row_add_row (ADW_EXPANDER_ROW (self->others), row);
}

static void
others_clear (QmLaunchView *self)
{
  GtkWidget *list = gtk_widget_get_parent (self->others);

  if (list != NULL)
    gtk_list_box_remove_all (GTK_LIST_BOX (list));
  self->others = adw_expander_row_new ();
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->others), _("Other ways, and why not here"));
  gtk_list_box_append (GTK_LIST_BOX (list), self->others);
}

/* The ways that make sense as buttons, with the one that was picked before where
 * it is among them; the others with their reasons. */
static void
fill (QmLaunchView *self)
{
  GtkWidget *first = NULL;
  GtkWidget *wanted = NULL;
  GtkWidget *way;

  self->filling = TRUE;
  while ((way = gtk_widget_get_first_child (self->ways)) != NULL)
    adw_wrap_box_remove (ADW_WRAP_BOX (self->ways), way);
  others_clear (self);
  for (guint i = 0; i < self->formats->len; i++)
    {
      const QmLaunchFormat *format = g_ptr_array_index (self->formats, i);

      if (format->why_not != NULL)
        {
          add_other (self, format);
          continue;
        }
      add_way (self, format, &first);
      if (wanted == NULL || g_strcmp0 (format->id, self->wanted) == 0)
        wanted = gtk_widget_get_last_child (self->ways);
    }
  self->filling = FALSE;
  gtk_widget_set_visible (GTK_WIDGET (self), first != NULL);
  if (wanted != NULL)
    {
      g_autofree char *kept = g_strdup (self->wanted);

      gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (wanted), TRUE);
      /* What was picked by hand is kept for the next choice that has it. */
      g_set_str (&self->wanted, kept);
    }
}

static const char *
driver_here (QmSession      *session,
             const QmChoice *choice)
{
  QmMachine *machine = choice->offer == NULL ? qm_session_get_machine (session) : NULL;

  for (guint i = 0; machine != NULL && i < qm_machine_n_devices (machine); i++)
    if (qm_machine_device (machine, i)->device == choice->estimate.device)
      return qm_machine_device (machine, i)->driver;

  return NULL;
}

static void
show_driver (QmLaunchView *self,
             const char   *driver)
{
  const char *wanted = json_object_get_string_member (self->values, "min_driver");
  g_autofree char *text = driver != NULL ? qm_launch_check_driver (driver, wanted, qm_language_get_words ()) : NULL;

  gtk_widget_set_visible (self->driver_notice, text != NULL);
  gtk_label_set_label (GTK_LABEL (self->driver_notice), text != NULL ? text : "");
}

/**
 * qm_launch_view_set:
 * @self: a view
 * @session: the session
 * @recommendation: its answer
 * @choice: (nullable): the choice of @recommendation to start; %NULL hides the view
 *
 * Shows how the job is started on the hardware of @choice.
 */
void
qm_launch_view_set (QmLaunchView     *self,
                    QmSession        *session,
                    QmRecommendation *recommendation,
                    const QmChoice   *choice)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autofree char *date = g_date_time_format (now, "%Y-%m-%d");

  gtk_widget_set_visible (GTK_WIDGET (self), choice != NULL && self->launcher != NULL);
  if (choice == NULL || self->launcher == NULL)
    return;

  g_clear_pointer (&self->values, json_object_unref);
  g_clear_pointer (&self->formats, g_ptr_array_unref);
  self->values = qm_launch_values (qm_session_get_estimator (session), qm_recommendation_get_resolved (recommendation), choice, date);
  self->formats = qm_launcher_describe (self->launcher, self->values, qm_language_get_words ());
  show_driver (self, driver_here (session, choice));
  fill (self);
}

/**
 * qm_launch_view_grab_focus:
 * @self: a view
 *
 * Brings the view in sight, with the focus on the way that is shown.
 */
void
qm_launch_view_grab_focus (QmLaunchView *self)
{
  for (GtkWidget *way = gtk_widget_get_first_child (self->ways); way != NULL; way = gtk_widget_get_next_sibling (way))
    if (GTK_IS_TOGGLE_BUTTON (way) && gtk_toggle_button_get_active (GTK_TOGGLE_BUTTON (way)))
      gtk_widget_grab_focus (way);
}

static GtkWidget *
boxed_list_new (void)
{
  GtkWidget *list = gtk_list_box_new ();

  gtk_widget_add_css_class (list, "boxed-list");
  gtk_list_box_set_selection_mode (GTK_LIST_BOX (list), GTK_SELECTION_NONE);

  return list;
}

static void
build_start (QmLaunchView *self)
{
  GtkWidget *list = boxed_list_new ();

  self->start = adw_action_row_new ();
  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (self->start), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->start), _("Start it with"));
  adw_action_row_set_subtitle_selectable (ADW_ACTION_ROW (self->start), TRUE);
  gtk_widget_add_css_class (self->start, "property");
  gtk_widget_add_css_class (self->start, "monospace-value");
  adw_action_row_add_suffix (ADW_ACTION_ROW (self->start),
                             qm_ui_tool ("edit-copy-symbolic", _("Copy the command"), G_CALLBACK (copy_start), self));
  gtk_list_box_append (GTK_LIST_BOX (list), self->start);
  gtk_box_append (GTK_BOX (self), list);
}

static void
qm_launch_view_finalize (GObject *object)
{
  QmLaunchView *self = QM_LAUNCH_VIEW (object);

  g_clear_pointer (&self->launcher, qm_launcher_free);
  g_clear_pointer (&self->values, json_object_unref);
  g_clear_pointer (&self->formats, g_ptr_array_unref);
  g_free (self->wanted);

  G_OBJECT_CLASS (qm_launch_view_parent_class)->finalize (object);
}

static void
qm_launch_view_class_init (QmLaunchViewClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = qm_launch_view_finalize;
}

static void
qm_launch_view_init (QmLaunchView *self)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *templates = qm_session_dup_data_path ("templates");
  GtkWidget *others = boxed_list_new ();

  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing (GTK_BOX (self), 12);
  self->launcher = qm_launcher_new (templates, &error);
  if (self->launcher == NULL)
    g_warning ("%s", error->message);

  gtk_box_append (GTK_BOX (self), qm_ui_label (_("Start it"), "heading"));
  self->ways = adw_wrap_box_new ();
  adw_wrap_box_set_child_spacing (ADW_WRAP_BOX (self->ways), 6);
  adw_wrap_box_set_line_spacing (ADW_WRAP_BOX (self->ways), 6);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->ways), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Ways to start it"), -1);
  gtk_box_append (GTK_BOX (self), self->ways);

  self->driver_notice = qm_ui_wrapped ("", "card notice");
  gtk_box_append (GTK_BOX (self), self->driver_notice);
  self->lists = qm_columns_new (300, 2, 18);
  gtk_box_append (GTK_BOX (self), self->lists);
  build_start (self);
  self->cards = qm_ui_box (GTK_ORIENTATION_VERTICAL, 12);
  gtk_box_append (GTK_BOX (self), self->cards);
  self->others = adw_expander_row_new ();
  gtk_list_box_append (GTK_LIST_BOX (others), self->others);
  gtk_box_append (GTK_BOX (self), others);
}

/**
 * qm_launch_view_new:
 *
 * Returns: (transfer floating): a view without a choice yet
 */
GtkWidget *
qm_launch_view_new (void)
{
  return g_object_new (QM_TYPE_LAUNCH_VIEW, NULL);
}
