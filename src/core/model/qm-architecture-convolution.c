/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-architecture-shape.h"

#include <math.h>

#define MAX_STAGES 16

static double
convolution (double kernel,
             double from,
             double to)
{
  return kernel * kernel * from * to;
}

static double
classes (QmShape *self)
{
  JsonObject *names = qm_config_keys_object (&self->keys, "id2label");

  return qm_config_keys_count (&self->keys, "num_labels", names != NULL ? json_object_get_size (names) : 1000);
}

/* A list of sizes, one a stage. A list that is none is refused. */
static int
read_list (QmShape    *self,
           const char *key,
           double     *values)
{
  JsonArray *array = qm_config_keys_array (&self->keys, key);
  int n = array != NULL ? MIN (MAX_STAGES, (int) json_array_get_length (array)) : 0;

  for (int i = 0; i < n; i++)
    {
      JsonNode *node = json_array_get_element (array, i);

      values[i] = JSON_NODE_HOLDS_VALUE (node) ? json_node_get_double (node) : 0;
      if (!(values[i] >= 1 && values[i] <= 1e5 && values[i] == floor (values[i])))
        qm_config_keys_refuse (&self->keys, "%s should be a list of whole numbers from 1 to 100000", key);
    }
  if (n == 0)
    qm_config_keys_refuse (&self->keys, "%s is missing, and should be a list of whole numbers", key);
  return n;
}

static double
residual_block (double   from,
                double   to,
                gboolean bottleneck)
{
  double narrow = to / 4;

  if (bottleneck)
    return from * narrow + 2 * narrow + convolution (3, narrow, narrow) + 2 * narrow + narrow * to + 2 * to;
  return convolution (3, from, to) + 2 * to + convolution (3, to, to) + 2 * to;
}

/**
 * qm_shape_count_residual:
 * @self: a shape
 *
 * Fills in the counts of a ResNet (He 2015) with its classifier.
 */
void
qm_shape_count_residual (QmShape *self)
{
  QmConfigKeys *keys = &self->keys;
  double depths[MAX_STAGES], widths[MAX_STAGES];
  int stages = read_list (self, "depths", depths);
  gboolean bottleneck = g_strcmp0 (qm_config_keys_word (keys, "layer_type"), "basic") != 0;
  double width = qm_config_keys_count (keys, "embedding_size", 64);
  double sum = convolution (7, qm_config_keys_count (keys, "num_channels", 3), width) + 2 * width;

  if (read_list (self, "hidden_sizes", widths) != stages)
    qm_config_keys_refuse (keys, "depths and hidden_sizes should have one number for each stage");
  for (int i = 0; i < stages && keys->error == NULL; i++)
    {
      if (width != widths[i] || i > 0)
        sum += width * widths[i] + 2 * widths[i];
      sum += residual_block (width, widths[i], bottleneck) +
             (depths[i] - 1) * residual_block (widths[i], widths[i], bottleneck);
      width = widths[i];
      self->a->layers += depths[i] * (bottleneck ? 3 : 2);
    }
  self->a->hidden = width;
  self->a->parameters = self->a->active_parameters = sum + classes (self) * (width + 1);
}

typedef struct {
  double time;                      /* width of the time embedding */
  double cross;                     /* width of the text embedding */
  double layers;                    /* residual blocks a stage */
  int stages;
  double widths[MAX_STAGES];
  double depths[MAX_STAGES];        /* transformer layers an attention block */
  gboolean attends[MAX_STAGES];
} Unet;

static double
unet_residual (const Unet *self,
               double      from,
               double      to)
{
  double sum = 2 * from + convolution (3, from, to) + to + self->time * to + to + 2 * to + convolution (3, to, to) + to;

  return from != to ? sum + from * to + to : sum;
}

static double
unet_attention (const Unet *self,
                int         stage)
{
  double c = self->widths[stage];
  double layer = 6 * c + 4 * c * c + c + 2 * c * c + 2 * self->cross * c + c + 12 * c * c + 9 * c;

  return 2 * c + 2 * (c * c + c) + self->depths[stage] * layer;
}

static double
unet_down (const Unet *self)
{
  double from = self->widths[0];
  double sum = 0;

  for (int i = 0; i < self->stages; i++)
    {
      double to = self->widths[i];

      sum += unet_residual (self, from, to) + (self->layers - 1) * unet_residual (self, to, to);
      if (self->attends[i])
        sum += self->layers * unet_attention (self, i);
      if (i < self->stages - 1)
        sum += convolution (3, to, to) + to;
      from = to;
    }
  return sum;
}

/* Each block of the way up also takes what the way down left at its height. */
static double
unet_up (const Unet *self)
{
  double below = self->widths[self->stages - 1];
  double sum = 0;

  for (int i = self->stages - 1; i >= 0; i--)
    {
      double to = self->widths[i];
      double skipped = self->widths[MAX (0, i - 1)];

      for (int layer = 0; layer <= (int) self->layers; layer++)
        sum += unet_residual (self, (layer == 0 ? below : to) + (layer == (int) self->layers ? skipped : to), to);
      if (self->attends[i])
        sum += (self->layers + 1) * unet_attention (self, i);
      if (i > 0)
        sum += convolution (3, to, to) + to;
      below = to;
    }
  return sum;
}

static void
read_unet (QmShape *self,
           Unet    *unet)
{
  QmConfigKeys *keys = &self->keys;
  JsonArray *blocks = qm_config_keys_array (keys, "down_block_types");

  unet->stages = read_list (self, "block_out_channels", unet->widths);
  unet->time = 4 * unet->widths[0];
  unet->cross = qm_config_keys_count (keys, "cross_attention_dim", 1280);
  unet->layers = MIN (100, qm_config_keys_count (keys, "layers_per_block", 2));
  for (int i = 0; i < MAX_STAGES; i++)
    unet->depths[i] = 1;
  if (qm_config_keys_array (keys, "transformer_layers_per_block") != NULL)
    read_list (self, "transformer_layers_per_block", unet->depths);
  for (int i = 0; i < unet->stages; i++)
    {
      JsonNode *node = blocks != NULL && i < (int) json_array_get_length (blocks) ? json_array_get_element (blocks, i)
                                                                                  : NULL;
      const char *word = node != NULL && JSON_NODE_HOLDS_VALUE (node) ? json_node_get_string (node) : NULL;

      unet->attends[i] = word != NULL ? strstr (word, "CrossAttn") != NULL : i < unet->stages - 1;
    }
}

/**
 * qm_shape_count_unet:
 * @self: a shape
 *
 * Fills in the counts of the denoising network of Stable Diffusion (Rombach
 * 2021), and of its larger sister with a second embedding.
 */
void
qm_shape_count_unet (QmShape *self)
{
  QmConfigKeys *keys = &self->keys;
  Unet unet = { 0 };
  double first, last, added = qm_config_keys_count (keys, "projection_class_embeddings_input_dim", 0);
  double into = qm_config_keys_count (keys, "in_channels", 4), out = qm_config_keys_count (keys, "out_channels", 4);
  double sum;

  read_unet (self, &unet);
  if (keys->error != NULL)
    return;
  first = unet.widths[0];
  last = unet.widths[unet.stages - 1];
  sum = convolution (3, into, first) + first + first * unet.time + unet.time + unet.time * unet.time + unet.time;
  if (added > 0)
    sum += added * unet.time + unet.time + unet.time * unet.time + unet.time;
  sum += unet_down (&unet) + 2 * unet_residual (&unet, last, last) + unet_attention (&unet, unet.stages - 1);
  sum += unet_up (&unet) + 2 * first + convolution (3, first, out) + out;
  self->a->layers = unet.stages;
  self->a->hidden = last;
  self->a->parameters = self->a->active_parameters = sum;
}
