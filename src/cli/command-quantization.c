/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>

#include "decide/qm-quantization.h"
#include "draw/qm-language.h"
#include "qm-cli.h"
#include "qm-error.h"
#include "qm-file.h"

/* A table of layers is small. */
#define MOST_BYTES (4 * 1024 * 1024)

#define FORMAT_CELLS 18
#define NUMBER_CELLS 8

static void
print_choice (const QmQuantizationChoice *choice,
              gboolean                    best)
{
  const QmWords *words = qm_language_get_words ();
  g_autofree char *bits = qm_format_number (words, choice->bits);
  g_autofree char *saved = qm_format_percent (words, choice->saved);
  g_autofree char *lost = qm_format_number (words, choice->points.p50);
  g_autofree char *most = qm_format_number (words, choice->points.p90);

  g_print ("%s %-*s %*s %*s %*s %*s %*.2f\n", best ? "→" : " ", FORMAT_CELLS, choice->format, QM_COLUMN (NUMBER_CELLS, bits),
           QM_COLUMN (NUMBER_CELLS, saved), QM_COLUMN (NUMBER_CELLS, lost), QM_COLUMN (NUMBER_CELLS, most), NUMBER_CELLS, choice->score);
}

static void
print_layers (GPtrArray *layers)
{
  const QmWords *words = qm_language_get_words ();
  double lost;
  g_autofree char *share = qm_format_percent (words, qm_layer_losses_kept_share (layers, &lost));
  g_autofree char *points = qm_format_number (words, lost);

  g_print ("\n%s\n", _("Layers that stay in 16 bits:"));
  for (guint i = 0; i < layers->len; i++)
    {
      const QmLayerLoss *layer = layers->pdata[i];
      g_autofree char *name = layer->kept ? qm_cli_on_one_line (layer->name) : NULL;

      if (name != NULL)
        g_print ("  %s\n", name);
    }
  /* Translators: percent, points */
  g_print (_("They hold %s of the parameters; the others lose %s points together.\n"), share, points);
}

static void
print (GArray    *choices,
       GPtrArray *layers)
{
  int best = qm_quantization_best (choices);

  g_print ("  %-*s %*s %*s %*s %*s %*s\n", QM_COLUMN (FORMAT_CELLS, _("Format")), QM_COLUMN (NUMBER_CELLS, _("Bits")),
           QM_COLUMN (NUMBER_CELLS, _("Saves")), QM_COLUMN (NUMBER_CELLS, _("Points")), QM_COLUMN (NUMBER_CELLS, _("Up to")),
           QM_COLUMN (NUMBER_CELLS, _("Score")));
  for (guint i = 0; i < choices->len; i++)
    print_choice (&g_array_index (choices, QmQuantizationChoice, i), (int) i == best);
  g_print ("\n%s\n", best >= 0 ? _("→ saves most of those that lose no more than you tolerate. Bits: of a parameter. Saves: share of 16-bit "
                                   "weights that need not be kept and read. Points: of quality lost, and up to how many. Score: what is "
                                   "saved against what is lost; higher is better.")
                               : _("No format loses as little as that: keep 16 bits, or keep the layers that lose most (--layers)."));
  if (layers != NULL)
    print_layers (layers);
}

static GPtrArray *
read_layers (const char  *path,
             GError     **error)
{
  gsize length;
  g_autofree char *text = qm_file_read (path, MOST_BYTES, &length, error);
  GPtrArray *layers = text != NULL ? qm_layer_losses_parse (text, length, error) : NULL;

  if (text != NULL && layers == NULL && error != NULL)
    qm_error_locate (*error, path, 0);

  return layers;
}

static gboolean
check (const QmQuantizationWish *wish,
       GError                  **error)
{
  if (wish->tolerance >= 0 && wish->tolerance <= 100 && wish->weight >= 0 && wish->weight <= 1)
    return TRUE;

  g_set_error_literal (error, QM_USAGE_ERROR, 0, _("quantization: --tolerance is 0 to 100 points, --weight is 0 to 1"));
  return FALSE;
}

static QmResolved *
load_plan (QmCli       *cli,
           const char  *path,
           GError     **error)
{
  g_autoptr (QmResolved) resolved = qm_cli_get_estimator (cli, error) != NULL ? qm_cli_load_plan (cli, path, error) : NULL;

  if (resolved == NULL || resolved->plan->task == QM_TASK_LANGUAGE_MODEL)
    return g_steal_pointer (&resolved);

  g_set_error (error, QM_USAGE_ERROR, 0, _("%s: only of language models is it known what formats lose"), path);
  return NULL;
}

/**
 * qm_command_quantization:
 * @cli: the program
 * @arguments: `quantization PLAN`
 * @error: return location for an error
 *
 * Scores the formats of a language model's weights: what they save against what
 * they lose; with a table of layers, those that had better stay as they are.
 *
 * Returns: whether it worked
 */
gboolean
qm_command_quantization (QmCli   *cli,
                         GStrv    arguments,
                         GError **error)
{
  QmQuantizationWish wish = QM_QUANTIZATION_WISH_USUAL;
  g_autofree char *path = NULL;
  const GOptionEntry entries[] = {
    { "tolerance", 0, 0, G_OPTION_ARG_DOUBLE, &wish.tolerance, N_("Points of quality that may be lost; usually 1"), "POINTS" },
    { "weight", 0, 0, G_OPTION_ARG_DOUBLE, &wish.weight, N_("What saving counts in the score, 0 to 1; usually 0.5"), "W" },
    { "layers", 0, 0, G_OPTION_ARG_FILENAME, &path, N_("What each layer loses: columns layer, points, parameters"), "FILE" },
    G_OPTION_ENTRY_NULL
  };
  g_auto (GStrv) left = g_strdupv (arguments);
  g_autoptr (QmResolved) resolved = NULL;
  g_autoptr (GPtrArray) layers = NULL;
  g_autoptr (GArray) choices = NULL;

  if (!qm_cli_parse (cli, &left, entries, 1, 1, error) || !check (&wish, error) ||
      (path != NULL && (layers = read_layers (path, error)) == NULL))
    return FALSE;
  resolved = load_plan (cli, left[1], error);
  if (resolved == NULL)
    return FALSE;

  if (layers != NULL)
    qm_layer_losses_keep (layers, wish.tolerance);
  choices = qm_quantization_choices (cli->estimator, resolved->model, &wish);
  if (cli->json)
    {
      g_autoptr (JsonNode) node = qm_quantization_to_json (choices, layers, &wish);

      qm_cli_print_json (node, TRUE);
    }
  else
    print (choices, layers);

  return TRUE;
}
