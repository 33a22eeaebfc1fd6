/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-choice-cards.h"

#include <glib/gi18n.h>
#include <string.h>

#include "qm-columns.h"
#include "qm-ui.h"

#define CARD_WIDTH 230

struct _QmChoiceCards {
  GtkWidget parent_instance;

  QmSession *session;
  const QmQuestion *question;
  GtkWidget *columns;
  GPtrArray *buttons;               /* in the order of the options */
  gboolean updating;
};

G_DEFINE_FINAL_TYPE (QmChoiceCards, qm_choice_cards, GTK_TYPE_WIDGET)

static void
toggled (GtkToggleButton *button,
         QmChoiceCards   *self)
{
  guint index;

  if (self->updating || !gtk_toggle_button_get_active (button))
    return;
  if (g_ptr_array_find (self->buttons, button, &index))
    qm_session_set_answer (self->session, self->question->field, self->question->options[index].value, NULL);
}

static void
update (QmChoiceCards *self)
{
  g_autofree char *value = qm_session_get_effective (self->session, self->question->field);

  self->updating = TRUE;
  for (guint i = 0; i < self->buttons->len; i++)
    {
      GtkWidget *button = g_ptr_array_index (self->buttons, i);
      gboolean chosen = g_strcmp0 (value, self->question->options[i].value) == 0;

      gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (button), chosen);
      gtk_widget_set_opacity (g_object_get_data (G_OBJECT (button), "tick"), chosen ? 1 : 0);
    }
  self->updating = FALSE;
}

static GtkWidget *
card_content (const QmOption *option,
              GtkWidget     **tick)
{
  GtkWidget *content = qm_ui_box (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *text = qm_ui_box (GTK_ORIENTATION_VERTICAL, 3);

  if (option->icon != NULL)
    gtk_box_append (GTK_BOX (content), qm_ui_icon_tile (option->icon, FALSE));
  gtk_box_append (GTK_BOX (text), qm_ui_wrapped (_(option->name), "heading"));
  if (option->gloss != NULL)
    gtk_box_append (GTK_BOX (text), qm_ui_wrapped (_(option->gloss), NULL));
  if (option->term != NULL)
    gtk_box_append (GTK_BOX (text), qm_ui_wrapped (_(option->term), "caption second"));
  gtk_widget_set_hexpand (text, TRUE);
  gtk_widget_set_valign (text, GTK_ALIGN_START);
  gtk_box_append (GTK_BOX (content), text);

  *tick = gtk_image_new_from_icon_name ("object-select-symbolic");
  gtk_widget_set_valign (*tick, GTK_ALIGN_START);
  gtk_widget_add_css_class (*tick, "accent");
  gtk_box_append (GTK_BOX (content), *tick);

  return content;
}

static void
add_card (QmChoiceCards  *self,
          const QmOption *option)
{
  GtkWidget *button = gtk_toggle_button_new ();
  GtkWidget *tick;

  gtk_button_set_child (GTK_BUTTON (button), card_content (option, &tick));
  g_object_set_data (G_OBJECT (button), "tick", tick);
  gtk_widget_add_css_class (button, "card");
  gtk_widget_add_css_class (button, "choice");
  gtk_widget_set_name (button, option->value);
  qm_ui_set_label (button, _(option->name));
  if (self->buttons->len > 0)
    gtk_toggle_button_set_group (GTK_TOGGLE_BUTTON (button), g_ptr_array_index (self->buttons, 0));
  g_ptr_array_add (self->buttons, button);
  g_signal_connect (button, "toggled", G_CALLBACK (toggled), self);
  qm_columns_append (QM_COLUMNS (self->columns), button);
}

/* Whoever comes in from outside stands on the answer, not on the first card. */
static gboolean
qm_choice_cards_focus (GtkWidget        *widget,
                       GtkDirectionType  direction)
{
  QmChoiceCards *self = QM_CHOICE_CARDS (widget);

  if (gtk_widget_get_focus_child (widget) == NULL)
    for (guint i = 0; i < self->buttons->len; i++)
      if (gtk_toggle_button_get_active (g_ptr_array_index (self->buttons, i)))
        return gtk_widget_grab_focus (g_ptr_array_index (self->buttons, i));

  return GTK_WIDGET_CLASS (qm_choice_cards_parent_class)->focus (widget, direction);
}

static void
qm_choice_cards_dispose (GObject *object)
{
  QmChoiceCards *self = QM_CHOICE_CARDS (object);

  g_clear_pointer (&self->columns, gtk_widget_unparent);
  g_clear_pointer (&self->buttons, g_ptr_array_unref);
  g_clear_object (&self->session);

  G_OBJECT_CLASS (qm_choice_cards_parent_class)->dispose (object);
}

static void
qm_choice_cards_class_init (QmChoiceCardsClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = qm_choice_cards_dispose;
  GTK_WIDGET_CLASS (klass)->focus = qm_choice_cards_focus;
  gtk_widget_class_set_layout_manager_type (GTK_WIDGET_CLASS (klass), GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_accessible_role (GTK_WIDGET_CLASS (klass), GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
qm_choice_cards_init (QmChoiceCards *self)
{
  self->buttons = g_ptr_array_new ();
}

/**
 * qm_choice_cards_new:
 * @session: the session
 * @question: a question with options
 * @columns: how many cards lie beside each other at most
 *
 * Returns: (transfer floating): the cards, the answer or its default picked
 */
GtkWidget *
qm_choice_cards_new (QmSession        *session,
                     const QmQuestion *question,
                     int               columns)
{
  QmChoiceCards *self = g_object_new (QM_TYPE_CHOICE_CARDS, NULL);

  self->session = g_object_ref (session);
  self->question = question;
  self->columns = qm_columns_new (CARD_WIDTH, columns, 12);
  gtk_widget_set_parent (self->columns, GTK_WIDGET (self));
  for (int i = 0; question->options[i].value != NULL; i++)
    add_card (self, &question->options[i]);
  qm_ui_set_label (GTK_WIDGET (self), _(question->title));
  g_signal_connect_object (session, "plan-changed", G_CALLBACK (update), self, G_CONNECT_SWAPPED);
  update (self);

  return GTK_WIDGET (self);
}
