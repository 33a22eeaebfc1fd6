/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>

#include "qm-question-row.h"
#include "qm-ui.h"

struct _QmProvidersRow {
  AdwExpanderRow parent_instance;

  QmSession *session;
  const QmQuestion *question;
  GPtrArray *checks;                /* of GtkCheckButton, in the order of @ids */
  GPtrArray *ids;                   /* what the plan calls the providers; the catalog's */
  gboolean updating;
};

G_DEFINE_FINAL_TYPE (QmProvidersRow, qm_providers_row, ADW_TYPE_EXPANDER_ROW)

/* ["aws","gcp"] of the plan file; NULL where none is ticked: any will do. */
static char *
answer_of_checks (QmProvidersRow *self)
{
  g_autoptr (JsonNode) node = json_node_new (JSON_NODE_ARRAY);
  g_autoptr (JsonArray) array = json_array_new ();

  for (guint i = 0; i < self->checks->len; i++)
    if (gtk_check_button_get_active (g_ptr_array_index (self->checks, i)))
      json_array_add_string_element (array, g_ptr_array_index (self->ids, i));
  json_node_set_array (node, array);

  return json_array_get_length (array) > 0 ? json_to_string (node, FALSE) : NULL;
}

static void
toggled (QmProvidersRow *self)
{
  g_autofree char *value = NULL;

  if (self->updating)
    return;

  value = answer_of_checks (self);
  qm_session_set_answer (self->session, self->question->field, value, NULL);
}

static gboolean
holds (JsonArray  *array,
       const char *id)
{
  for (guint i = 0; array != NULL && i < json_array_get_length (array); i++)
    if (g_strcmp0 (json_array_get_string_element (array, i), id) == 0)
      return TRUE;

  return FALSE;
}

static JsonArray *
array_of (const char *value)
{
  g_autoptr (JsonNode) node = value != NULL ? json_from_string (value, NULL) : NULL;

  return node != NULL && JSON_NODE_HOLDS_ARRAY (node) ? json_node_dup_array (node) : NULL;
}

static int
compare_names (gconstpointer a,
               gconstpointer b)
{
  const QmOffer *x = *(const QmOffer * const *) a, *y = *(const QmOffer * const *) b;

  return g_utf8_collate (x->provider_name, y->provider_name);
}

/* One offer of each provider, by the provider's name. */
static GPtrArray *
providers (QmCatalog *catalog)
{
  GPtrArray *found = g_ptr_array_new ();
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < qm_catalog_n_offers (catalog); i++)
    if (g_hash_table_add (seen, (gpointer) qm_catalog_offer (catalog, i)->provider))
      g_ptr_array_add (found, (gpointer) qm_catalog_offer (catalog, i));
  g_ptr_array_sort (found, compare_names);

  return found;
}

/**
 * qm_describe_providers:
 * @catalog: the catalog
 * @value: (nullable): the answer as the plan file has it
 *
 * Returns: (transfer full): the providers by name
 */
char *
qm_describe_providers (QmCatalog  *catalog,
                       const char *value)
{
  g_autoptr (JsonArray) array = array_of (value);
  g_autoptr (GPtrArray) offers = providers (catalog);
  GString *names = g_string_new (NULL);

  for (guint i = 0; i < offers->len; i++)
    {
      const QmOffer *offer = g_ptr_array_index (offers, i);

      if (holds (array, offer->provider))
        g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "", offer->provider_name);
    }
  if (names->len == 0)
    g_string_append (names, array != NULL ? _("None: nothing is rented") : _("Any"));

  return g_string_free (names, FALSE);
}

static void
update (QmProvidersRow *self)
{
  g_autofree char *value = qm_session_get_answer (self->session, self->question->field);
  g_autofree char *names = qm_describe_providers (qm_session_get_catalog (self->session), value);
  g_autoptr (JsonArray) array = array_of (value);

  self->updating = TRUE;
  for (guint i = 0; i < self->checks->len; i++)
    gtk_check_button_set_active (g_ptr_array_index (self->checks, i), holds (array, g_ptr_array_index (self->ids, i)));
  self->updating = FALSE;
  adw_expander_row_set_subtitle (ADW_EXPANDER_ROW (self), value != NULL ? names : _("Any; tick some to allow only those"));
}

static void
add_provider (QmProvidersRow *self,
              const QmOffer  *offer)
{
  GtkWidget *row = adw_action_row_new ();
  GtkWidget *check = gtk_check_button_new ();

  gtk_widget_set_name (check, offer->provider);
  gtk_widget_set_valign (check, GTK_ALIGN_CENTER);
  qm_ui_set_label (check, offer->provider_name);
  g_signal_connect_object (check, "toggled", G_CALLBACK (toggled), self, G_CONNECT_SWAPPED);
  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), offer->provider_name);
  adw_action_row_add_prefix (ADW_ACTION_ROW (row), check);
  adw_action_row_set_activatable_widget (ADW_ACTION_ROW (row), check);
  adw_expander_row_add_row (ADW_EXPANDER_ROW (self), row);
  g_ptr_array_add (self->checks, check);
  g_ptr_array_add (self->ids, (gpointer) offer->provider);
}

static void
qm_providers_row_dispose (GObject *object)
{
  QmProvidersRow *self = QM_PROVIDERS_ROW (object);

  g_clear_pointer (&self->checks, g_ptr_array_unref);
  g_clear_pointer (&self->ids, g_ptr_array_unref);
  g_clear_object (&self->session);

  G_OBJECT_CLASS (qm_providers_row_parent_class)->dispose (object);
}

static void
qm_providers_row_class_init (QmProvidersRowClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = qm_providers_row_dispose;
}

static void
qm_providers_row_init (QmProvidersRow *self)
{
  self->checks = g_ptr_array_new ();
  self->ids = g_ptr_array_new ();
}

/**
 * qm_providers_row_new:
 * @session: the session
 * @question: for providers of the catalog
 *
 * Returns: (transfer floating): a row that opens to a list to tick
 */
GtkWidget *
qm_providers_row_new (QmSession        *session,
                      const QmQuestion *question)
{
  QmProvidersRow *self = g_object_new (QM_TYPE_PROVIDERS_ROW, NULL);
  g_autoptr (GPtrArray) offers = providers (qm_session_get_catalog (session));

  self->session = g_object_ref (session);
  self->question = question;
  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (self), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self), _(question->title));
  adw_expander_row_set_title_lines (ADW_EXPANDER_ROW (self), 0);
  gtk_widget_set_name (GTK_WIDGET (self), question->field);
  for (guint i = 0; i < offers->len; i++)
    add_provider (self, g_ptr_array_index (offers, i));
  g_signal_connect_object (session, "plan-changed", G_CALLBACK (update), self, G_CONNECT_SWAPPED);
  update (self);

  return GTK_WIDGET (self);
}
