/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "decide/qm-quantization.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "estimate/qm-llm-inference-constants.h"
#include "estimate/qm-llm-inference.h"
#include "history/qm-csv.h"
#include "plan/qm-plan.h"
#include "qm-error.h"

#define ROUNDING 1e-9

/* No score falls further than to nothing. */
#define MOST_POINTS 100

static double
score_of (const QmQuantizationChoice *choice,
          const QmQuantizationWish   *wish)
{
  double lost = choice->points.p50 / MAX (wish->tolerance, 1e-3);

  return wish->weight * choice->saved - (1 - wish->weight) * lost;
}

static int
compare (gconstpointer a,
         gconstpointer b)
{
  const QmQuantizationChoice *x = a, *y = b;

  return x->score < y->score ? 1 : x->score > y->score ? -1 : strcmp (x->format, y->format);
}

/**
 * qm_quantization_choices:
 * @estimator: an estimator
 * @model: a language model
 * @wish: what may be lost, and what saving counts
 *
 * Decoding reads all weights once a token: what they are smaller by is what is
 * saved. The loss is the law fitted to published scores, by format, size and
 * tokens a parameter.
 *
 * Returns: (transfer full) (element-type QmQuantizationChoice): the formats whose
 *   loss is known, by their score, the best first
 */
GArray *
qm_quantization_choices (QmEstimator              *estimator,
                         const QmModel            *model,
                         const QmQuantizationWish *wish)
{
  const QmLlmInferenceConstants *constants = qm_estimator_get_inference_constants (estimator);
  GArray *choices = g_array_new (FALSE, FALSE, sizeof (QmQuantizationChoice));
  double whole = qm_llm_inference_weight_bytes (constants, &model->architecture, model->parameters, "bf16");

  for (int i = 0; i < constants->n_formats; i++)
    {
      const char *word = constants->formats[i].word;
      QmQuantizationLoss loss = qm_quantization_loss (constants, word, model->parameters, model->training_tokens);
      double bytes = qm_llm_inference_weight_bytes (constants, &model->architecture, model->parameters, word);
      QmQuantizationChoice choice = { .format = word };

      if (!loss.known || !(bytes > 0) || bytes > whole)
        continue;
      choice.bits = bytes * 8 / model->parameters;
      choice.points = (QmRange) { CLAMP (loss.points.p10, 0, MOST_POINTS), CLAMP (loss.points.p50, 0, MOST_POINTS),
                                  CLAMP (loss.points.p90, 0, MOST_POINTS) };
      choice.saved = 1 - bytes / whole;
      choice.tolerated = choice.points.p50 <= wish->tolerance;
      choice.score = score_of (&choice, wish);
      g_array_append_val (choices, choice);
    }
  g_array_sort (choices, compare);

  return choices;
}

/**
 * qm_quantization_best:
 * @choices: (element-type QmQuantizationChoice): of qm_quantization_choices()
 *
 * Returns: the index of the format that saves most of those whose loss is
 *   tolerated, of equals the one with the better score; -1 where none is
 */
int
qm_quantization_best (GArray *choices)
{
  int best = -1;

  for (guint i = 0; i < choices->len; i++)
    {
      const QmQuantizationChoice *choice = &g_array_index (choices, QmQuantizationChoice, i);

      if (choice->tolerated && (best < 0 || choice->saved > g_array_index (choices, QmQuantizationChoice, best).saved))
        best = i;
    }

  return best;
}

/* --------------------------------------------------------------------------- layers */

static void
layer_free (gpointer data)
{
  QmLayerLoss *layer = data;

  g_free (layer->name);
  g_free (layer);
}

static int
find_column (GPtrArray  *head,
             const char *name)
{
  for (guint i = 0; i < head->len; i++)
    if (g_ascii_strcasecmp (g_strstrip (head->pdata[i]), name) == 0)
      return i;

  return -1;
}

static double
number_at (GPtrArray *fields,
           int        at)
{
  const char *text = at >= 0 && at < (int) fields->len ? fields->pdata[at] : "";
  char *end;
  double value = g_ascii_strtod (text, &end);

  return end != text && *end == '\0' && isfinite (value) && value >= 0 && value <= 1e15 ? value : NAN;
}

static gboolean
refuse (GError     **error,
        int          line,
        const char  *msgid)
{
  qm_error_set (error, QM_PLAN_ERROR, QM_PLAN_ERROR_VALUE, NULL, msgid, NULL);
  if (error != NULL && line > 0)
    qm_error_locate (*error, NULL, line);

  return FALSE;
}

static gboolean
read_layer (GPtrArray  *fields,
            const int   at[3],
            int         line,
            GPtrArray  *layers,
            GError    **error)
{
  double points = number_at (fields, at[1]), parameters = number_at (fields, at[2]);
  QmLayerLoss *layer;

  if (isnan (points) || points > 100 || !(parameters > 0))
    return refuse (error, line, N_("a layer, the points that it loses (0 to 100) and its parameters are expected"));

  layer = g_new0 (QmLayerLoss, 1);
  layer->name = g_utf8_make_valid (at[0] < (int) fields->len ? fields->pdata[at[0]] : "", -1);
  layer->points = points;
  layer->parameters = parameters;
  g_ptr_array_add (layers, layer);

  return TRUE;
}

/**
 * qm_layer_losses_parse:
 * @text: (array length=length): a table with the columns `layer`, `points`,
 *   `parameters`
 * @length: its bytes
 * @error: return location for an error, with its line
 *
 * Returns: (transfer full) (nullable) (element-type QmLayerLoss): the layers
 */
GPtrArray *
qm_layer_losses_parse (const char  *text,
                       gsize        length,
                       GError     **error)
{
  g_autoptr (GPtrArray) layers = g_ptr_array_new_with_free_func (layer_free);
  g_autoptr (GPtrArray) fields = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) local_error = NULL;
  int at[3] = { -1, -1, -1 };
  gboolean has_head = FALSE;
  QmCsv csv;

  qm_csv_init (&csv, text, length);
  while (qm_csv_next (&csv, fields, &local_error))
    {
      if (has_head && !read_layer (fields, at, csv.line, layers, error))
        return NULL;
      if (has_head)
        continue;
      has_head = TRUE;
      at[0] = find_column (fields, "layer");
      at[1] = find_column (fields, "points");
      at[2] = find_column (fields, "parameters");
    }
  if (local_error != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&local_error));
      return NULL;
    }
  if (at[0] < 0 || at[1] < 0 || at[2] < 0 || layers->len == 0)
    {
      refuse (error, 1, N_("a table with the columns layer, points and parameters is expected"));
      return NULL;
    }

  return g_steal_pointer (&layers);
}

/* What is lost for each parameter that is made smaller. */
static int
compare_layers (gconstpointer a,
                gconstpointer b)
{
  const QmLayerLoss *x = *(QmLayerLoss * const *) a, *y = *(QmLayerLoss * const *) b;
  double difference = y->points / y->parameters - x->points / x->parameters;

  return difference > 0 ? 1 : difference < 0 ? -1 : strcmp (x->name, y->name);
}

/**
 * qm_layer_losses_keep:
 * @layers: (element-type QmLayerLoss): the layers; sorted, those that lose most
 *   for what they save first
 * @tolerance: percentage points that may be lost, by all together
 *
 * Keeps the layers in 16 bits that lose most for what they save, until the rest
 * together lose no more than is tolerated. What layers lose alone is taken to
 * add up.
 */
void
qm_layer_losses_keep (GPtrArray *layers,
                      double     tolerance)
{
  double lost = 0;

  g_ptr_array_sort (layers, compare_layers);
  for (guint i = 0; i < layers->len; i++)
    lost += ((QmLayerLoss *) layers->pdata[i])->points;
  for (guint i = 0; i < layers->len; i++)
    {
      QmLayerLoss *layer = layers->pdata[i];

      /* What rounding leaves of a sum is no loss. */
      layer->kept = layer->points > 0 && lost > tolerance + ROUNDING;
      if (layer->kept)
        lost -= layer->points;
    }
}

/**
 * qm_layer_losses_kept_share:
 * @layers: (element-type QmLayerLoss): of qm_layer_losses_keep()
 * @points: (out): percentage points that the others lose together
 *
 * Returns: the share of the parameters that stays in 16 bits
 */
double
qm_layer_losses_kept_share (GPtrArray *layers,
                            double    *points)
{
  double kept = 0, all = 0;

  *points = 0;
  for (guint i = 0; i < layers->len; i++)
    {
      const QmLayerLoss *layer = layers->pdata[i];

      all += layer->parameters;
      kept += layer->kept ? layer->parameters : 0;
      *points += layer->kept ? 0 : layer->points;
    }

  return kept / all;
}

/* ----------------------------------------------------------------------------- JSON */

static JsonObject *
choice_to_json (const QmQuantizationChoice *choice)
{
  JsonObject *object = json_object_new (), *points = json_object_new ();

  json_object_set_string_member (object, "format", choice->format);
  json_object_set_double_member (object, "bits", choice->bits);
  json_object_set_double_member (object, "saved", choice->saved);
  json_object_set_double_member (points, "p10", choice->points.p10);
  json_object_set_double_member (points, "p50", choice->points.p50);
  json_object_set_double_member (points, "p90", choice->points.p90);
  json_object_set_object_member (object, "points", points);
  json_object_set_double_member (object, "score", choice->score);
  json_object_set_boolean_member (object, "tolerated", choice->tolerated);

  return object;
}

static JsonObject *
layers_to_json (GPtrArray *layers)
{
  JsonObject *object = json_object_new ();
  JsonArray *kept = json_array_new ();
  double lost;
  double share = qm_layer_losses_kept_share (layers, &lost);

  for (guint i = 0; i < layers->len; i++)
    if (((QmLayerLoss *) layers->pdata[i])->kept)
      json_array_add_string_element (kept, ((QmLayerLoss *) layers->pdata[i])->name);
  json_object_set_array_member (object, "kept", kept);
  json_object_set_double_member (object, "kept_share", share);
  json_object_set_double_member (object, "points", lost);

  return object;
}

/**
 * qm_quantization_to_json:
 * @choices: (element-type QmQuantizationChoice): of qm_quantization_choices()
 * @layers: (nullable) (element-type QmLayerLoss): of qm_layer_losses_keep()
 * @wish: what they were asked for
 *
 * Returns: (transfer full): all of it
 */
JsonNode *
qm_quantization_to_json (GArray                   *choices,
                         GPtrArray                *layers,
                         const QmQuantizationWish *wish)
{
  JsonNode *node = json_node_new (JSON_NODE_OBJECT);
  JsonObject *root = json_object_new ();
  JsonArray *list = json_array_new ();
  int best = qm_quantization_best (choices);

  json_object_set_double_member (root, "tolerance", wish->tolerance);
  json_object_set_double_member (root, "weight", wish->weight);
  if (best >= 0)
    json_object_set_string_member (root, "best", g_array_index (choices, QmQuantizationChoice, best).format);
  else
    json_object_set_null_member (root, "best");
  for (guint i = 0; i < choices->len; i++)
    json_array_add_object_element (list, choice_to_json (&g_array_index (choices, QmQuantizationChoice, i)));
  json_object_set_array_member (root, "formats", list);
  if (layers != NULL)
    json_object_set_object_member (root, "layers", layers_to_json (layers));
  else
    json_object_set_null_member (root, "layers");
  json_node_take_object (node, root);

  return node;
}
