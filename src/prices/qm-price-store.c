/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-price-store.h"

#include <errno.h>
#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <string.h>

#include "qm-error.h"
#include "qm-file.h"
#include "qm-json-writer.h"

/* Whether the catalog can be loaded with a file in it: in a folder of its own,
 * before it takes the place of another. */
static gboolean
check (const char  *shipped_directory,
       const char  *user_directory,
       const char  *name,
       const char  *text,
       GError     **error)
{
  g_autofree char *folder = g_build_filename (user_directory, ".check-XXXXXX", NULL);
  g_autofree char *path = NULL;
  g_autoptr (QmCatalog) catalog = NULL;

  if (g_mkdtemp (folder) == NULL)
    {
      g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "%s: %s", user_directory, g_strerror (errno));
      return FALSE;
    }

  path = g_build_filename (folder, name, NULL);
  if (qm_file_write (path, text, strlen (text), error))
    catalog = qm_catalog_load (shipped_directory, folder, error);
  g_unlink (path);
  g_rmdir (folder);

  return catalog != NULL;
}

/**
 * qm_price_store:
 * @catalog: the catalog as it is
 * @shipped_directory: of the catalog that came with the program
 * @user_directory: of the person's own
 * @source: a price list
 * @summary: (out caller-allocates): what became of it; also after an error
 * @path: (out): the file that holds the offers now
 * @error: return location for an error
 *
 * Makes a price list part of a person's catalog, whole or not at all: the list
 * of the same provider before is replaced when the new one is sound.
 *
 * Returns: whether it is there
 */
gboolean
qm_price_store (QmCatalog            *catalog,
                const char           *shipped_directory,
                const char           *user_directory,
                const QmPriceSource  *source,
                QmPriceSummary       *summary,
                char                **path,
                GError              **error)
{
  g_autofree char *provider = source->provider != NULL ? g_strdup (source->provider) : qm_price_provider (catalog, source->name);
  g_autoptr (QmPriceList) list = NULL;
  g_autoptr (JsonNode) node = NULL;
  g_autofree char *name = NULL;
  g_autofree char *text = NULL;

  *summary = (QmPriceSummary) { 0 };
  if (provider == NULL)
    {
      qm_error_set (error, QM_PRICES_ERROR, QM_PRICES_ERROR_PROVIDER, NULL,
                    N_("does not say whose prices it has: name the provider with --provider"), NULL);
      return FALSE;
    }

  list = qm_price_list_parse (catalog, source->text, source->length, provider, error);
  node = list != NULL ? qm_price_list_to_offers (list, catalog, source->regions, source->name, source->as_of, summary, error) : NULL;
  if (node == NULL)
    return FALSE;

  name = g_strdup_printf ("offers-%s.json", provider);
  text = qm_json_to_text (node, TRUE);
  g_mkdir_with_parents (user_directory, 0755);
  if (!check (shipped_directory, user_directory, name, text, error))
    return FALSE;

  *path = g_build_filename (user_directory, name, NULL);
  return qm_file_write (*path, text, strlen (text), error);
}

/* --------------------------------------------------------------- what is there already */

#define PREFIX "offers-"
#define SUFFIX ".json"

static void
own_prices_free (gpointer data)
{
  QmOwnPrices *self = data;

  g_free (self->provider);
  g_free (self->as_of);
  g_free (self->source);
  g_free (self);
}

static char *
provider_of_file (const char *name)
{
  gsize length = strlen (name), around = strlen (PREFIX) + strlen (SUFFIX);

  return g_str_has_prefix (name, PREFIX) && g_str_has_suffix (name, SUFFIX) && length > around
           ? g_strndup (name + strlen (PREFIX), length - around) : NULL;
}

static JsonObject *
object_member (JsonObject *object,
               const char *name)
{
  JsonNode *node = object != NULL ? json_object_get_member (object, name) : NULL;

  return node != NULL && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
}

/* The file is the person's: it may hold anything. */
static char *
text_member (JsonObject *object,
             const char *name)
{
  JsonNode *node = object != NULL ? json_object_get_member (object, name) : NULL;

  return g_strdup (node != NULL && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING
                     ? json_node_get_string (node) : "");
}

static QmOwnPrices *
read_own_prices (const char *path,
                 const char *provider)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  QmOwnPrices *self = g_new0 (QmOwnPrices, 1);
  JsonNode *root, *offers;
  JsonObject *object;

  json_parser_set_strict (parser, TRUE);
  root = json_parser_load_from_file (parser, path, NULL) ? json_parser_get_root (parser) : NULL;
  object = root != NULL && JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root) : NULL;
  offers = object != NULL ? json_object_get_member (object, "offers") : NULL;
  self->provider = g_strdup (provider);
  self->as_of = text_member (object, "as_of");
  self->source = text_member (object_member (object_member (object, "sources"), "import"), "text");
  self->offers = offers != NULL && JSON_NODE_HOLDS_ARRAY (offers) ? json_array_get_length (json_node_get_array (offers)) : 0;

  return self;
}

static int
compare_providers (gconstpointer a,
                   gconstpointer b)
{
  return strcmp ((*(QmOwnPrices * const *) a)->provider, (*(QmOwnPrices * const *) b)->provider);
}

/**
 * qm_own_prices_list:
 * @user_directory: of the person's own catalog
 *
 * Returns: (transfer full) (element-type QmOwnPrices): the price lists in it
 */
GPtrArray *
qm_own_prices_list (const char *user_directory)
{
  GPtrArray *found = g_ptr_array_new_with_free_func (own_prices_free);
  g_autoptr (GDir) folder = g_dir_open (user_directory, 0, NULL);
  const char *name;

  while (folder != NULL && (name = g_dir_read_name (folder)) != NULL)
    {
      g_autofree char *provider = provider_of_file (name);
      g_autofree char *path = g_build_filename (user_directory, name, NULL);

      if (provider != NULL)
        g_ptr_array_add (found, read_own_prices (path, provider));
    }
  g_ptr_array_sort (found, compare_providers);

  return found;
}

/**
 * qm_own_prices_remove:
 * @user_directory: of the person's own catalog
 * @provider: whose list
 * @error: return location for an error
 *
 * The prices that came with the program count again.
 *
 * Returns: whether the list is gone
 */
gboolean
qm_own_prices_remove (const char  *user_directory,
                      const char  *provider,
                      GError     **error)
{
  g_autofree char *name = g_strconcat (PREFIX, provider, SUFFIX, NULL);
  g_autofree char *path = g_build_filename (user_directory, name, NULL);

  if (strchr (provider, G_DIR_SEPARATOR) == NULL && (g_unlink (path) == 0 || errno == ENOENT))
    return TRUE;

  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (errno), "%s: %s", name, g_strerror (errno));
  return FALSE;
}
