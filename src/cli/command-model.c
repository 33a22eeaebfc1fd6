/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>

#include "draw/qm-language.h"
#include "model/qm-model-json.h"
#include "model/qm-model-sheet.h"
#include "qm-cli.h"

/* Longer titles push their value away; that of the rest stays in a column. */
#define TITLE_WIDTH 42

static void
print_line (const char *title,
            const char *text,
            const char *origin)
{
  int width = TITLE_WIDTH - (int) g_utf8_strlen (title, -1);

  g_print ("  %s%*s %s\n", title, MAX (0, width), "", text);
  if (origin != NULL)
    g_print ("  %*s (%s)\n", TITLE_WIDTH, "", origin);
}

static void
print (const QmModel *model,
       JsonNode      *formats)
{
  const QmWords *words = qm_language_get_words ();
  g_autoptr (GPtrArray) facts = qm_model_sheet (model, formats);
  const char *last = NULL;

  g_print ("%s\n", model->name);
  for (guint i = 0; i < facts->len; i++)
    {
      const QmModelFact *fact = g_ptr_array_index (facts, i);
      g_autofree char *text = qm_message_get_text (fact->value, words);

      print_line (_(fact->title), text, fact->origin != last && fact->origin != NULL ? _(fact->origin) : NULL);
      last = fact->origin;
    }
  if (model->license != NULL)
    print_line (_("Licence"), model->license, NULL);
  if (model->source != NULL)
    print_line (_("Source"), model->source, NULL);
  for (guint i = 0; model->notes != NULL && i < model->notes->len; i++)
    {
      g_autofree char *text = qm_message_get_text (g_ptr_array_index (model->notes, i), words);

      print_line (_("Note"), text, NULL);
    }
}

/* The whole catalog is needed only to name an id that is near. */
static QmModel *
from_catalog (QmCli       *cli,
              QmCatalog   *catalog,
              const char  *id,
              GError     **error)
{
  const QmModelEntry *entry = qm_catalog_find_model (catalog, id, 0);
  QmCatalog *whole = entry == NULL ? qm_cli_get_catalog (cli, error) : NULL;
  const char *nearest = whole != NULL ? qm_catalog_nearest_id (whole, "model", id) : NULL;

  if (entry != NULL)
    return qm_model_from_entry (entry, error);
  if (whole == NULL)
    return NULL;
  if (nearest != NULL)
    g_set_error (error, QM_MODEL_ERROR, QM_MODEL_ERROR_UNKNOWN,
                 _("%s: no such file, and no model of that name in the catalog; the nearest is \"%s\""), id, nearest);
  else
    g_set_error (error, QM_MODEL_ERROR, QM_MODEL_ERROR_UNKNOWN,
                 _("%s: no such file, and no model of that name in the catalog"), id);
  return NULL;
}

/**
 * qm_command_model:
 * @cli: the program
 * @arguments: `model FILE|ID`
 * @error: return location for an error
 *
 * Prints what a model is: a file where there is one of that name, else an id
 * of the catalog.
 *
 * Returns: whether it worked
 */
gboolean
qm_command_model (QmCli   *cli,
                  GStrv    arguments,
                  GError **error)
{
  g_auto (GStrv) left = g_strdupv (arguments);
  g_autoptr (QmCatalog) catalog = NULL;
  g_autoptr (QmModel) model = NULL;
  gboolean is_file;

  if (!qm_cli_parse (cli, &left, NULL, 1, 1, error))
    return FALSE;

  /* Of a file only the table of formats is needed, which is there at once. */
  is_file = g_file_test (left[1], G_FILE_TEST_EXISTS);
  if (is_file)
    catalog = qm_cli_load_table (cli, "quantization", error);
  else
    catalog = qm_cli_load_model (cli, left[1], "quantization", error);
  if (catalog == NULL)
    return FALSE;
  model = is_file ? qm_model_from_file (left[1], error) : from_catalog (cli, catalog, left[1], error);
  if (model == NULL)
    return FALSE;

  if (cli->json)
    {
      g_autoptr (JsonNode) node = qm_model_to_json (model, catalog);

      qm_cli_print_json (node, TRUE);
    }
  else
    print (model, qm_catalog_table (catalog, "quantization"));

  return TRUE;
}
