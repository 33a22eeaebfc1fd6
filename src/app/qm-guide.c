/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-guide.h"

#include <glib/gi18n.h>
#include <string.h>

#include "qm-ui.h"

typedef struct {
  GPtrArray *rows;                  /* of AdwExpanderRow, in the order of the guide */
  GPtrArray *groups;                /* of AdwPreferencesGroup */
} Guide;

static void
guide_free (Guide *self)
{
  g_ptr_array_unref (self->rows);
  g_ptr_array_unref (self->groups);
  g_free (self);
}

static gboolean
holds (const QmGuideEntry *entry,
       const char         *wanted)
{
  const char * const texts[] = { _(entry->title), _(entry->gloss), _(entry->text) };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autofree char *folded = g_utf8_casefold (texts[i], -1);

      if (strstr (folded, wanted) != NULL)
        return TRUE;
    }

  return FALSE;
}

static void
search_changed (GtkEditable *search,
                Guide       *self)
{
  g_autofree char *wanted = g_utf8_casefold (gtk_editable_get_text (search), -1);
  const QmGuidePart *parts = qm_guide_get_parts ();
  guint row = 0;

  for (guint i = 0; parts[i].title != NULL; i++)
    {
      gboolean any = FALSE;

      for (const QmGuideEntry *entry = parts[i].entries; entry->id != NULL; entry++)
        {
          gboolean found = holds (entry, wanted);

          gtk_widget_set_visible (g_ptr_array_index (self->rows, row++), found);
          any |= found;
        }
      gtk_widget_set_visible (g_ptr_array_index (self->groups, i), any);
    }
}

static GtkWidget *
row_new (const QmGuideEntry *entry)
{
  GtkWidget *row = adw_expander_row_new ();
  GtkWidget *inner = gtk_list_box_row_new ();
  GtkWidget *text = qm_ui_wrapped (_(entry->text), NULL);

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), _(entry->title));
  adw_expander_row_set_subtitle (ADW_EXPANDER_ROW (row), _(entry->gloss));
  gtk_widget_set_margin_start (text, 12);
  gtk_widget_set_margin_end (text, 12);
  gtk_widget_set_margin_top (text, 12);
  gtk_widget_set_margin_bottom (text, 12);
  gtk_list_box_row_set_child (GTK_LIST_BOX_ROW (inner), text);
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (inner), FALSE);
  qm_ui_set_label (inner, _(entry->text));
  adw_expander_row_add_row (ADW_EXPANDER_ROW (row), inner);
  gtk_widget_set_name (row, entry->id);

  return row;
}

/* The entry that was asked for is open, and what the keyboard stands on. */
static void
open_topic (AdwDialog *dialog,
            Guide     *self,
            const char *topic)
{
  for (guint i = 0; i < self->rows->len; i++)
    {
      GtkWidget *row = g_ptr_array_index (self->rows, i);

      if (g_strcmp0 (gtk_widget_get_name (row), topic) != 0)
        continue;
      adw_expander_row_set_expanded (ADW_EXPANDER_ROW (row), TRUE);
      adw_dialog_set_focus (dialog, row);
    }
}

static GtkWidget *
group_new (Guide             *self,
           const QmGuidePart *part)
{
  GtkWidget *group = adw_preferences_group_new ();

  adw_preferences_group_set_title (ADW_PREFERENCES_GROUP (group), _(part->title));
  for (const QmGuideEntry *entry = part->entries; entry->id != NULL; entry++)
    {
      GtkWidget *row = row_new (entry);

      g_ptr_array_add (self->rows, row);
      adw_preferences_group_add (ADW_PREFERENCES_GROUP (group), row);
    }
  g_ptr_array_add (self->groups, group);

  return group;
}

/**
 * qm_guide_new:
 * @topic: (nullable): the id of an entry to open
 *
 * Returns: (transfer floating): a dialog with the guide, and a search in it
 */
AdwDialog *
qm_guide_new (const char *topic)
{
  AdwDialog *dialog = adw_dialog_new ();
  GtkWidget *view = adw_toolbar_view_new ();
  GtkWidget *page = adw_preferences_page_new ();
  GtkWidget *search = gtk_search_entry_new ();
  GtkWidget *bar = adw_clamp_new ();
  Guide *self = g_new0 (Guide, 1);

  self->rows = g_ptr_array_new ();
  self->groups = g_ptr_array_new ();
  g_object_set_data_full (G_OBJECT (dialog), "guide", self, (GDestroyNotify) guide_free);
  for (const QmGuidePart *part = qm_guide_get_parts (); part->title != NULL; part++)
    adw_preferences_page_add (ADW_PREFERENCES_PAGE (page), ADW_PREFERENCES_GROUP (group_new (self, part)));

  gtk_search_entry_set_placeholder_text (GTK_SEARCH_ENTRY (search), _("Search the guide"));
  qm_ui_set_label (search, _("Search the guide"));
  g_signal_connect (search, "search-changed", G_CALLBACK (search_changed), self);
  adw_clamp_set_child (ADW_CLAMP (bar), search);
  gtk_widget_set_margin_start (bar, 12);
  gtk_widget_set_margin_end (bar, 12);
  gtk_widget_set_margin_bottom (bar, 6);

  adw_toolbar_view_add_top_bar (ADW_TOOLBAR_VIEW (view), adw_header_bar_new ());
  adw_toolbar_view_add_top_bar (ADW_TOOLBAR_VIEW (view), bar);
  adw_toolbar_view_set_content (ADW_TOOLBAR_VIEW (view), page);
  adw_dialog_set_title (dialog, _("Guide"));
  adw_dialog_set_child (dialog, view);
  adw_dialog_set_content_width (dialog, 620);
  adw_dialog_set_content_height (dialog, 720);
  adw_dialog_set_focus (dialog, search);
  if (topic != NULL)
    open_topic (dialog, self, topic);

  return dialog;
}
