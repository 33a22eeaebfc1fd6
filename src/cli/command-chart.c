/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>

#include "decide/qm-load.h"
#include "draw/qm-chart.h"
#include "draw/qm-language.h"
#include "qm-cli.h"
#include "qm-enum.h"
#include "qm-draw-enum-types.h"

#define DEFAULT_WIDTH  900
#define SMALLEST       200
#define LARGEST        8000

static gboolean
parse_kind (const char  *word,
            QmChartKind *kind,
            GError     **error)
{
  g_autoptr (GEnumClass) kinds = g_type_class_ref (QM_TYPE_CHART_KIND);
  GEnumValue *value = word != NULL ? g_enum_get_value_by_nick (kinds, word) : NULL;
  GString *words = NULL;

  if (value != NULL)
    {
      *kind = value->value;
      return TRUE;
    }

  words = g_string_new (NULL);
  for (guint i = 0; i < kinds->n_values; i++)
    g_string_append_printf (words, "%s%s", i > 0 ? ", " : "", kinds->values[i].value_nick);
  if (word != NULL)
    g_set_error (error, QM_USAGE_ERROR, 0, _("--kind: \"%s\" is not known; use one of %s"), word, words->str);
  else
    g_set_error (error, QM_USAGE_ERROR, 0, _("chart: --kind is missing; use one of %s"), words->str);
  g_string_free (words, TRUE);

  return FALSE;
}

static gboolean
check_size (int      width,
            int      height,
            GError **error)
{
  if (width >= SMALLEST && width <= LARGEST && (height == 0 || (height >= SMALLEST && height <= LARGEST)))
    return TRUE;

  g_set_error (error, QM_USAGE_ERROR, 0, _("a chart of %d × %d is not possible; each side must be %d to %d"), width, height,
               SMALLEST, LARGEST);
  return FALSE;
}

/**
 * qm_command_chart:
 * @cli: the program
 * @arguments: `chart PLAN --kind KIND -o FILE`
 * @error: return location for an error
 *
 * Writes one chart: PNG, SVG or PDF, by the ending of the name.
 *
 * Returns: whether it worked
 */
gboolean
qm_command_chart (QmCli   *cli,
                  GStrv    arguments,
                  GError **error)
{
  g_autofree char *output = NULL;
  g_autofree char *kind_word = NULL;
  g_autofree char *load_path = NULL;
  gboolean dark = FALSE;
  int width = DEFAULT_WIDTH, height = 0;
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &output, N_("Write to FILE"), "FILE" },
    { "kind", 0, 0, G_OPTION_ARG_STRING, &kind_word, N_("Which chart"), "KIND" },
    { "load", 0, 0, G_OPTION_ARG_FILENAME, &load_path, N_("How the load changes over time"), "FILE" },
    { "dark", 0, 0, G_OPTION_ARG_NONE, &dark, N_("On a dark ground"), NULL },
    { "width", 0, 0, G_OPTION_ARG_INT, &width, N_("Width in pixels or points"), "N" },
    { "height", 0, 0, G_OPTION_ARG_INT, &height, N_("Height in pixels or points"), "N" },
    G_OPTION_ENTRY_NULL
  };
  g_auto (GStrv) left = g_strdupv (arguments);
  g_autoptr (QmResolved) resolved = NULL;
  g_autoptr (QmRecommendation) recommendation = NULL;
  g_autoptr (QmChart) chart = NULL;
  g_autoptr (GArray) load = NULL;
  g_autoptr (GError) local_error = NULL;
  QmChartKind kind;

  if (!qm_cli_parse (cli, &left, entries, 1, 1, error) || !parse_kind (kind_word, &kind, error) ||
      !check_size (width, height, error))
    return FALSE;
  if (output == NULL)
    {
      g_set_error_literal (error, QM_USAGE_ERROR, 0, _("chart: -o FILE is missing"));
      return FALSE;
    }

  if (load_path != NULL && (load = qm_load_read (load_path, error)) == NULL)
    return FALSE;

  resolved = qm_cli_load_plan (cli, left[1], error);
  if (resolved == NULL || !qm_cli_size (cli, resolved, error))
    return FALSE;
  recommendation = qm_cli_recommend (cli, resolved, error);
  if (recommendation == NULL)
    return FALSE;

  chart = load != NULL && kind == QM_CHART_ELASTIC
            ? qm_chart_new_elastic (cli->estimator, recommendation, 0, load, qm_language_get_words (), &local_error)
            : qm_chart_new (kind, cli->estimator, recommendation, 0, qm_language_get_words (), &local_error);
  if (chart != NULL && qm_chart_save (chart, output, width, height > 0 ? height : qm_chart_page_height (chart, width), dark, &local_error))
    return TRUE;

  /* A chart that the plan has nothing for, or an ending that no writer knows, is
   * the caller's mistake, not the machine's. */
  if (g_error_matches (local_error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND) ||
      g_error_matches (local_error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED))
    g_set_error_literal (error, QM_USAGE_ERROR, 0, local_error->message);
  else
    g_propagate_error (error, g_steal_pointer (&local_error));
  return FALSE;
}
