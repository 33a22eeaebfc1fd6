/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-preferences-dialog.h"

#include <glib/gi18n.h>

#include "qm-money-group.h"
#include "qm-prices-group.h"

static GtkWidget *
switch_new (GSettings  *settings,
            const char *key,
            const char *title,
            const char *subtitle)
{
  GtkWidget *row = adw_switch_row_new ();

  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), subtitle);
  g_settings_bind (settings, key, row, "active", G_SETTINGS_BIND_DEFAULT);

  return row;
}

static gboolean
to_percent (GValue   *value,
            GVariant *variant,
            gpointer  data)
{
  g_value_set_double (value, 100 * g_variant_get_double (variant));
  return TRUE;
}

static GVariant *
from_percent (const GValue       *value,
              const GVariantType *type,
              gpointer            data)
{
  return g_variant_new_double (g_value_get_double (value) / 100);
}

static gboolean
to_index (GValue   *value,
          GVariant *variant,
          gpointer  data)
{
  g_value_set_uint (value, g_str_equal (g_variant_get_string (variant, NULL), "letter") ? 1 : 0);
  return TRUE;
}

static GVariant *
from_index (const GValue       *value,
            const GVariantType *type,
            gpointer            data)
{
  return g_variant_new_string (g_value_get_uint (value) == 1 ? "letter" : "a4");
}

static GtkWidget *
estimates_new (GSettings *settings)
{
  GtkWidget *group = adw_preferences_group_new ();
  GtkWidget *headroom = adw_spin_row_new_with_range (0, 90, 5);
  GtkWidget *paper = adw_combo_row_new ();
  g_autoptr (GtkStringList) papers = gtk_string_list_new (NULL);

  adw_preferences_group_set_title (ADW_PREFERENCES_GROUP (group), _("Estimates and reports"));
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (headroom), _("Memory to keep free, in %"));
  adw_action_row_set_subtitle (ADW_ACTION_ROW (headroom), _("Of plans that say nothing else. Memory is in GiB, as drivers report it; files and networks are in GB."));
  g_settings_bind_with_mapping (settings, "headroom", headroom, "value", G_SETTINGS_BIND_DEFAULT, to_percent, from_percent, NULL, NULL);
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (group), headroom);

  gtk_string_list_append (papers, _("A4"));
  gtk_string_list_append (papers, _("Letter"));
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (paper), _("Paper for reports"));
  adw_combo_row_set_model (ADW_COMBO_ROW (paper), G_LIST_MODEL (papers));
  g_settings_bind_with_mapping (settings, "paper", paper, "selected", G_SETTINGS_BIND_DEFAULT, to_index, from_index, NULL, NULL);
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (group), paper);

  return group;
}

static GtkWidget *
runs_new (GSettings *settings)
{
  GtkWidget *group = adw_preferences_group_new ();

  adw_preferences_group_set_title (ADW_PREFERENCES_GROUP (group), _("Your runs"));
  adw_preferences_group_set_description (ADW_PREFERENCES_GROUP (group), _("The history of runs stays on this computer. Nothing of it is ever sent."));
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (group),
                             switch_new (settings, "learn-from-runs", _("Correct estimates by your runs"),
                                         _("What you recorded or imported counts more than theory")));
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (group),
                             switch_new (settings, "keep-commands", _("Keep the commands of runs"),
                                         _("Of runs that are recorded from now on; they may hold names of files and people")));

  return group;
}

/**
 * qm_preferences_dialog_new:
 * @session: the session
 *
 * Returns: (transfer floating): the preferences
 */
AdwDialog *
qm_preferences_dialog_new (QmSession *session)
{
  AdwDialog *dialog = adw_preferences_dialog_new ();
  AdwPreferencesPage *page = ADW_PREFERENCES_PAGE (adw_preferences_page_new ());
  GSettings *settings = qm_session_get_settings (session);

  adw_preferences_page_add (page, ADW_PREFERENCES_GROUP (qm_prices_group_new (session)));
  if (settings != NULL)
    {
      adw_preferences_page_add (page, ADW_PREFERENCES_GROUP (qm_money_group_new (session)));
      adw_preferences_page_add (page, ADW_PREFERENCES_GROUP (estimates_new (settings)));
      adw_preferences_page_add (page, ADW_PREFERENCES_GROUP (runs_new (settings)));
    }
  adw_preferences_dialog_add (ADW_PREFERENCES_DIALOG (dialog), page);
  adw_dialog_set_content_height (dialog, 1240);

  return dialog;
}
