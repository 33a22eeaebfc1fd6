/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-architecture-formula.h"

#include <glib/gi18n.h>
#include <string.h>

/* More are refused when the keys are read. */
#define MAX_LAYERS 20000

/* Libraries' words for what a layer keeps of the past, the first that the word
 * holds; what holds none of them is not known. */
static gboolean
mixer_from_word (const char *word,
                 QmMixer    *mixer)
{
  static const struct { const char *part; QmMixer mixer; } parts[] = {
    { "sliding", QM_MIXER_SLIDING }, { "chunked", QM_MIXER_SLIDING }, { "window", QM_MIXER_SLIDING },
    { "swa", QM_MIXER_SLIDING }, { "local", QM_MIXER_SLIDING }, { "linear", QM_MIXER_LINEAR },
    { "conv", QM_MIXER_LINEAR }, { "kda", QM_MIXER_LINEAR }, { "gdn", QM_MIXER_LINEAR },
    { "gated_delta", QM_MIXER_LINEAR }, { "lightning", QM_MIXER_LINEAR }, { "mamba", QM_MIXER_MAMBA },
    { "ssm", QM_MIXER_MAMBA }, { "recurrent", QM_MIXER_MAMBA }, { "hybrid", QM_MIXER_FULL },
    { "full", QM_MIXER_FULL }, { "global", QM_MIXER_FULL }, { "attention", QM_MIXER_FULL },
    { "sparse", QM_MIXER_FULL }, { "dense", QM_MIXER_FULL }, { "mla", QM_MIXER_FULL }, { "mha", QM_MIXER_FULL },
    { "gqa", QM_MIXER_FULL },
  };

  *mixer = word != NULL && (g_str_equal (word, "moe") || g_str_equal (word, "mlp")) ? QM_MIXER_NONE : QM_MIXER_FULL;
  if (word == NULL || *mixer == QM_MIXER_NONE)
    return TRUE;
  for (gsize i = 0; i < G_N_ELEMENTS (parts); i++)
    if (strstr (word, parts[i].part) != NULL)
      {
        *mixer = parts[i].mixer;
        return TRUE;
      }
  return FALSE;
}

/* A list shorter than the layers begins anew. */
static const char *
string_element (JsonArray *array,
                int        layer)
{
  JsonNode *node;

  if (array == NULL || json_array_get_length (array) == 0 || layer < 0)
    return NULL;
  node = json_array_get_element (array, layer % json_array_get_length (array));
  if (!JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) != G_TYPE_STRING)
    return NULL;
  return json_node_get_string (node);
}

static gboolean
is_list_of_words (QmConfigKeys *keys,
                  const char   *key)
{
  JsonArray *array = qm_config_keys_array (keys, key);

  for (guint i = 0; array != NULL && i < json_array_get_length (array); i++)
    {
      JsonNode *node = json_array_get_element (array, i);

      if (!JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) != G_TYPE_STRING)
        return FALSE;
    }
  return array != NULL;
}

/* A pattern may be shorter than the layers that it is for, a list of them all
 * may not. */
static void
check_layer_words (QmShape *self,
                   int      layers)
{
  QmConfigKeys own = { .object = self->keys.object };
  gboolean there = qm_config_keys_has (&own, "layer_types");
  JsonArray *array = there ? qm_config_keys_array (&own, "layer_types") : NULL;
  guint length = array != NULL ? json_array_get_length (array) : 0;

  if (there && !is_list_of_words (&own, "layer_types"))
    qm_config_keys_refuse (&self->keys, "layer_types", N_("{key} should be a list of words, one for each layer"), NULL);
  else if (length > 0 && layers > 0 && (length > (guint) layers || layers % length != 0))
    qm_shape_note (self, "model-layers-contradict", NULL,
                   N_("The list of kinds of layers is not as long as there are layers: it is cut off or begins anew"));
}

static const char *
layer_word (QmShape *self,
            int      layer)
{
  return string_element (qm_config_keys_array (&self->keys, "layer_types"), layer);
}

/* One letter a layer: M Mamba, E experts, * attention, - feed-forward. */
static char
pattern_letter (QmShape *self,
                int      layer)
{
  const char *pattern = qm_config_keys_word (&self->keys, "hybrid_override_pattern");

  return pattern != NULL && layer >= 0 && layer < (int) strlen (pattern) ? pattern[layer] : '\0';
}

static QmMixer
mixer_from_letter (char letter)
{
  switch (letter)
    {
    case 'M':
      return QM_MIXER_MAMBA;
    case '*':
      return QM_MIXER_FULL;
    default:
      return QM_MIXER_NONE;
    }
}

/* What the family says of a layer, where the file has no list. */
static gboolean
rule_holds (QmShape    *self,
            const char *name,
            int         layer)
{
  const QmDefinition *rule = self->family != NULL ? qm_architecture_family_definition (self->family, name) : NULL;
  QmLocal local = { .name = "i", .value = layer };
  QmScope scope = { .shape = self, .locals = &local };

  return rule != NULL && qm_scope_evaluate (&scope, rule->formula).total != 0;
}

static QmMixer
recurrent_mixer (QmShape *self)
{
  return g_strcmp0 (qm_architecture_family_word (self->family, "recurrent"), "linear") == 0
         ? QM_MIXER_LINEAR : QM_MIXER_MAMBA;
}

/**
 * qm_shape_mixer:
 * @self: a shape
 * @layer: from 0
 *
 * Which past a layer keeps: from the list of layers where the config.json has
 * one, else by the rules `recurs` and `slides` of its family.
 *
 * Returns: the kind of the layer's first half
 */
QmMixer
qm_shape_mixer (QmShape *self,
                int      layer)
{
  const char *word = layer_word (self, layer);
  QmMixer mixer;

  mixer_from_word (word, &mixer);
  /* One library's word for what keeps a state is another's. */
  if (word != NULL && (mixer == QM_MIXER_LINEAR || mixer == QM_MIXER_MAMBA) && qm_shape_defines (self, "recurrent"))
    return recurrent_mixer (self);
  /* Whether plain attention is to all or to a window the family knows. */
  if (word != NULL && !g_str_equal (word, "attention"))
    return mixer;
  if (word != NULL)
    return rule_holds (self, "slides", layer) ? QM_MIXER_SLIDING : QM_MIXER_FULL;
  if (qm_config_keys_has (&self->keys, "hybrid_override_pattern"))
    return mixer_from_letter (pattern_letter (self, layer));
  if (rule_holds (self, "recurs", layer))
    return recurrent_mixer (self);
  return rule_holds (self, "slides", layer) ? QM_MIXER_SLIDING : QM_MIXER_FULL;
}

/**
 * qm_shape_ffn:
 * @self: a shape
 * @layer: from 0
 *
 * Returns: the kind of the layer's second half
 */
QmFfn
qm_shape_ffn (QmShape *self,
              int      layer)
{
  const char *word;

  if (qm_config_keys_has (&self->keys, "hybrid_override_pattern"))
    switch (pattern_letter (self, layer))
      {
      case 'E':
        return QM_FFN_EXPERTS;
      case '-':
        return QM_FFN_DENSE;
      default:
        return QM_FFN_NONE;
      }
  word = layer_word (self, layer);
  if (rule_holds (self, "halves", layer))
    return g_strcmp0 (word, "moe") == 0 ? QM_FFN_EXPERTS : g_strcmp0 (word, "mlp") == 0 ? QM_FFN_DENSE : QM_FFN_NONE;
  if (rule_holds (self, "no_ffn", layer))
    return QM_FFN_NONE;
  return rule_holds (self, "routes", layer) ? QM_FFN_EXPERTS : QM_FFN_DENSE;
}

/**
 * qm_shape_layers:
 * @self: a shape
 *
 * Returns: how many layers its stack has
 */
int
qm_shape_layers (QmShape *self)
{
  double layers = qm_shape_defines (self, "stack") ? qm_shape_evaluate (self, "stack").total
                                                   : qm_config_keys_count (&self->keys, "num_hidden_layers", 0);

  return layers >= 0 && layers <= MAX_LAYERS ? layers : 0;
}

/* What such layers hold and keep is anybody's guess; the first is named. */
static void
doubt_unknown_word (QmShape *self,
                    int      layer)
{
  const char *word = layer_word (self, layer);
  g_autofree char *start = NULL;
  QmMixer mixer;

  if (self->odd_layers || mixer_from_word (word, &mixer))
    return;
  self->odd_layers = TRUE;
  start = g_utf8_substring (word, 0, MIN (40, g_utf8_strlen (word, -1)));
  qm_shape_doubt (self);
  qm_shape_note (self, "model-layer-unknown", start,
                 N_("Layers of the kind {key} are not known: a guess, counted like those that attend to everything"));
}

/**
 * qm_shape_count_layers:
 * @self: a shape
 *
 * Fills in how many layers of each kind there are, once.
 */
void
qm_shape_count_layers (QmShape *self)
{
  int layers;

  if (self->counted)
    return;
  self->counted = TRUE;
  layers = qm_shape_layers (self);
  check_layer_words (self, layers);
  for (int i = 0; i < layers && self->keys.error == NULL; i++)
    {
      doubt_unknown_word (self, i);
      self->mixers[qm_shape_mixer (self, i)]++;
      self->ffns[qm_shape_ffn (self, i)]++;
    }
}
