/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>

#include "draw/qm-language.h"
#include "model/qm-model-json.h"
#include "qm-cli.h"

static void
print (const QmModel *model)
{
  const QmWords *words = qm_language_get_words ();
  const QmArchitecture *shape = &model->architecture;
  g_autofree char *parameters = qm_format_count (words, model->parameters);
  g_autofree char *active = qm_format_count (words, model->active_parameters);
  g_autofree char *weights = qm_format_file_bytes (words, model->parameters * 2);
  g_autofree char *kv = qm_format_file_bytes (words, qm_architecture_kv_bytes_per_token (shape, 2));

  g_print ("%s\n", model->name);
  g_print ("  %-*s %s\n", QM_COLUMN (22, _("Parameters")), parameters);
  if (model->active_parameters > 0 && model->active_parameters < model->parameters)
    g_print ("  %-*s %s\n", QM_COLUMN (22, _("Active per token")), active);
  if (shape->layers > 0)
    g_print ("  %-*s %.0f × %.0f\n", QM_COLUMN (22, _("Layers × width")), shape->layers, shape->hidden);
  g_print ("  %-*s %s\n", QM_COLUMN (22, _("Weights in 16 bit")), weights);
  if (model->task == QM_TASK_LANGUAGE_MODEL)
    g_print ("  %-*s %s\n", QM_COLUMN (22, _("KV cache of a token")), kv);
  if (model->license != NULL)
    g_print ("  %-*s %s\n", QM_COLUMN (22, _("Licence")), model->license);
  if (model->source != NULL)
    g_print ("  %-*s %s\n", QM_COLUMN (22, _("Source")), model->source);
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
  g_autoptr (QmModel) model = NULL;

  if (!qm_cli_parse (cli, &left, NULL, 1, 1, error) || qm_cli_get_catalog (cli, error) == NULL)
    return FALSE;

  if (g_file_test (left[1], G_FILE_TEST_EXISTS))
    model = qm_model_from_file (left[1], error);
  else
    {
      const QmModelEntry *entry = qm_catalog_find_model (cli->catalog, left[1], 0);

      if (entry == NULL)
        {
          const char *nearest = qm_catalog_nearest_id (cli->catalog, "model", left[1]);

          if (nearest != NULL)
            g_set_error (error, QM_MODEL_ERROR, QM_MODEL_ERROR_UNKNOWN,
                         _("%s: no such file, and no model of that name in the catalog; the nearest is \"%s\""), left[1], nearest);
          else
            g_set_error (error, QM_MODEL_ERROR, QM_MODEL_ERROR_UNKNOWN,
                         _("%s: no such file, and no model of that name in the catalog"), left[1]);
          return FALSE;
        }
      model = qm_model_from_entry (entry, error);
    }
  if (model == NULL)
    return FALSE;

  if (cli->json)
    {
      g_autoptr (JsonNode) node = qm_model_to_json (model, cli->catalog);

      qm_cli_print_json (node, TRUE);
    }
  else
    print (model);

  return TRUE;
}
