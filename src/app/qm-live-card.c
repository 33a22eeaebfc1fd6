/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-live-card.h"

#include "qm-ui.h"

struct _QmLiveCard {
  GtkBox parent_instance;

  QmWatcher *watcher;
  QmLiveLook look;
  char *channels[2];
  GtkWidget *note;
  GtkWidget *value;
  GtkWidget *drawing;
};

G_DEFINE_FINAL_TYPE (QmLiveCard, qm_live_card, GTK_TYPE_BOX)

static void
sampled (QmLiveCard *self)
{
  g_autofree char *text = qm_live_format (&self->look, qm_watcher_latest (self->watcher, self->channels[0]));

  gtk_widget_set_visible (GTK_WIDGET (self), qm_live_drawing_is_known (QM_LIVE_DRAWING (self->drawing)));
  if (self->channels[1] != NULL)
    {
      g_autofree char *second = qm_live_format (&self->look, qm_watcher_latest (self->watcher, self->channels[1]));
      g_autofree char *both = g_strdup_printf ("%s + %s", text, second);

      gtk_label_set_label (GTK_LABEL (self->value), both);
    }
  else
    gtk_label_set_label (GTK_LABEL (self->value), text);
}

static void
qm_live_card_dispose (GObject *object)
{
  QmLiveCard *self = QM_LIVE_CARD (object);

  g_clear_object (&self->watcher);
  g_clear_pointer (&self->channels[0], g_free);
  g_clear_pointer (&self->channels[1], g_free);

  G_OBJECT_CLASS (qm_live_card_parent_class)->dispose (object);
}

static void
qm_live_card_class_init (QmLiveCardClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = qm_live_card_dispose;
  gtk_widget_class_set_accessible_role (GTK_WIDGET_CLASS (klass), GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
qm_live_card_init (QmLiveCard *self)
{
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing (GTK_BOX (self), 9);
  gtk_widget_add_css_class (GTK_WIDGET (self), "card");
  gtk_widget_add_css_class (GTK_WIDGET (self), "sheet");
}

/**
 * qm_live_card_new:
 * @watcher: where the samples are from
 * @title: what is measured
 * @look: how it is drawn; it is copied
 *
 * Returns: (transfer floating): a card, hidden until something is known
 */
GtkWidget *
qm_live_card_new (QmWatcher        *watcher,
                  const char       *title,
                  const QmLiveLook *look)
{
  QmLiveCard *self = g_object_new (QM_TYPE_LIVE_CARD, NULL);
  GtkWidget *head = qm_ui_box (GTK_ORIENTATION_HORIZONTAL, 6);
  GtkWidget *text = qm_ui_box (GTK_ORIENTATION_VERTICAL, 0);

  self->watcher = g_object_ref (watcher);
  self->look = *look;
  for (int i = 0; i < 2; i++)
    self->channels[i] = g_strdup (look->channels[i]);
  self->note = qm_ui_wrapped ("", "caption second");
  gtk_widget_set_visible (self->note, FALSE);
  gtk_box_append (GTK_BOX (text), qm_ui_wrapped (title, "heading"));
  gtk_box_append (GTK_BOX (text), self->note);
  gtk_widget_set_hexpand (text, TRUE);
  self->value = qm_ui_label ("–", look->channels[1] != NULL ? "title-4" : "title-3");
  gtk_widget_set_valign (self->value, GTK_ALIGN_START);
  gtk_box_append (GTK_BOX (head), text);
  gtk_box_append (GTK_BOX (head), self->value);
  gtk_box_append (GTK_BOX (self), head);

  self->drawing = qm_live_drawing_new (watcher, look, FALSE);
  qm_ui_set_label (self->drawing, title);
  qm_ui_set_label (GTK_WIDGET (self), title);
  gtk_widget_set_vexpand (self->drawing, TRUE);
  gtk_widget_set_valign (self->drawing, GTK_ALIGN_END);
  gtk_box_append (GTK_BOX (self), self->drawing);
  g_signal_connect_object (watcher, "sampled", G_CALLBACK (sampled), self, G_CONNECT_SWAPPED);
  sampled (self);

  return GTK_WIDGET (self);
}

/**
 * qm_live_card_set_note:
 * @self: a card
 * @note: (nullable): a line below its title
 */
void
qm_live_card_set_note (QmLiveCard *self,
                       const char *note)
{
  gtk_widget_set_visible (self->note, note != NULL && note[0] != '\0');
  gtk_label_set_label (GTK_LABEL (self->note), note != NULL ? note : "");
}

/**
 * qm_live_card_set_limit:
 * @self: a card
 * @limit: a value that cannot or should not be exceeded; NaN none
 * @text: (nullable): what it is
 */
void
qm_live_card_set_limit (QmLiveCard *self,
                        double      limit,
                        const char *text)
{
  qm_live_drawing_set_limit (QM_LIVE_DRAWING (self->drawing), limit, text);
}
