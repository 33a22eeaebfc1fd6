/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-price-store.h"

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
