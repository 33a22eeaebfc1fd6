/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-model-private.h"

#include <math.h>
#include <string.h>

/* Frames a second and pixels of a patch: what a network passes over where only
 * its size is known. */
#define SPEECH_FRAMES_PER_SECOND 50
#define PATCH_PIXELS 16
#define USUAL_DIFFUSION_SIZE 512
#define USUAL_IMAGE_SIZE 224
#define USUAL_DETECTION_SIZE 640
#define FEWEST_PATCHES 256

typedef struct {
  const char *word;
  QmFamily family;
  double ops;                       /* kernel launches of one forward pass */
} FamilyWord;

static const FamilyWord family_words[] = {
  { "conv", QM_FAMILY_CONV, 180 },
  { "grouped", QM_FAMILY_GROUPED, 250 },
  { "depthwise", QM_FAMILY_DEPTHWISE, 320 },
  { "dense", QM_FAMILY_DENSE, 400 },
  { "convnext", QM_FAMILY_CONVNEXT, 200 },
  { "transformer", QM_FAMILY_TRANSFORMER, 190 },
  { "hybrid", QM_FAMILY_HYBRID, 350 },
  { "unet", QM_FAMILY_UNET, 900 },
  { "conv3d", QM_FAMILY_CONV3D, 200 },
};

/* Parts of names, tried in this order. */
static const struct {
  QmFamily family;
  const char *parts[10];
} name_parts[] = {
  { QM_FAMILY_CONVNEXT, { "convnext" } },
  { QM_FAMILY_HYBRID, { "swin", "maxvit", "gcvit", "davit", "twins" } },
  { QM_FAMILY_TRANSFORMER, { "vit", "deit", "beit", "mixer", "eva", "dit", "flux", "sd3", "clip", "dino" } },
  { QM_FAMILY_DEPTHWISE, { "efficientnet", "mobilenet", "mnasnet", "ghost" } },
  { QM_FAMILY_GROUPED, { "resnext", "regnet", "resnest" } },
  { QM_FAMILY_DENSE, { "densenet", "vovnet", "inception" } },
  { QM_FAMILY_UNET, { "stable-diffusion", "sdxl", "unet" } },
};

static QmFamily
family_of_name (const char *id)
{
  for (gsize i = 0; i < G_N_ELEMENTS (name_parts); i++)
    for (gsize part = 0; part < G_N_ELEMENTS (name_parts[i].parts) && name_parts[i].parts[part] != NULL; part++)
      if (strstr (id, name_parts[i].parts[part]) != NULL)
        return name_parts[i].family;
  return QM_FAMILY_CONV;
}

static QmFamily
family_of_word (const char *word)
{
  for (gsize i = 0; i < G_N_ELEMENTS (family_words); i++)
    if (g_str_equal (family_words[i].word, word))
      return family_words[i].family;
  return QM_FAMILY_OTHER;
}

static double
usual_ops (QmFamily family)
{
  for (gsize i = 0; i < G_N_ELEMENTS (family_words); i++)
    if (family_words[i].family == family)
      return family_words[i].ops;
  return 200;
}

static double
fact (JsonObject *facts,
      const char *key,
      double      fallback)
{
  JsonNode *node = json_object_get_member (facts, key);
  double value;

  if (node == NULL || !JSON_NODE_HOLDS_VALUE (node))
    return fallback;
  value = json_node_get_double (node);
  return isfinite (value) && value >= 0 ? value : fallback;
}

static void
read_quality (QmModel    *self,
              JsonObject *facts)
{
  JsonNode *range = json_object_get_member (facts, "top1_range");

  self->top1 = fact (facts, "top1", NAN);
  self->top1_low = self->top1_high = self->top1;
  if (range == NULL || !JSON_NODE_HOLDS_ARRAY (range) || json_array_get_length (json_node_get_array (range)) != 2)
    return;
  self->top1_low = json_array_get_double_element (json_node_get_array (range), 0);
  self->top1_high = json_array_get_double_element (json_node_get_array (range), 1);
}

static void
read_parts (QmModel    *self,
            JsonObject *facts)
{
  self->vae_flops = fact (facts, "vae_flops", 0);
  self->vae_activations = fact (facts, "vae_activations", 0);
  self->text_encoder_parameters = fact (facts, "text_encoder_parameters", 0);
  self->denoiser_parameters = fact (facts, "denoiser_parameters", 0);
  self->linear_parameters = fact (facts, "linear_parameters", 0);
  self->patches_per_volume = fact (facts, "patches_per_volume", 0);
  self->passes_per_step = fact (facts, "passes_per_step", 0);
  self->image_tokens = fact (facts, "tokens", 0);
  self->encoder_layers = fact (facts, "encoder_layers", 0);
  self->decoder_layers = fact (facts, "decoder_layers", 0);
  self->decoder_parameters = fact (facts, "decoder_parameters", 0);
  if (self->decoder_parameters > 0)
    self->encoder_parameters = MAX (0, self->parameters - self->decoder_parameters);
  self->dense_parameters = fact (facts, "dense_parameters", 0);
  self->embedding_lookups = fact (facts, "embedding_lookups", 0);
  self->embedding_dim = fact (facts, "embedding_dim", 0);
  self->embedding_features = fact (facts, "embedding_features", 0);
  self->embedding_rows = fact (facts, "embedding_rows", 0);
  self->items_per_query = fact (facts, "items_per_query", 0);
}

/**
 * qm_model_read_facts:
 * @self: a model
 * @facts: an entry of the model catalog
 * @tree: that @facts is a part of; it is held
 *
 * Takes over the figures that a catalog entry has beside or instead of a config.json.
 */
void
qm_model_read_facts (QmModel    *self,
                     JsonObject *facts,
                     QmJsonBox  *tree)
{
  const char *family = json_object_get_string_member_with_default (facts, "family", NULL);

  self->facts = facts;
  self->facts_tree = qm_json_box_ref (tree);
  self->license = json_object_get_string_member_with_default (facts, "license", NULL);
  self->source = json_object_get_string_member_with_default (facts, "source", NULL);
  self->training_tokens = fact (facts, "training_tokens", 0);
  self->parameters = fact (facts, "parameters", self->architecture.parameters);
  self->active_parameters = fact (facts, "active_parameters", 0);
  self->image_size = fact (facts, "image_size", 0);
  self->flops_per_sample = self->pass_flops = fact (facts, "flops_per_sample", 0);
  self->activations_per_sample = self->pass_activations = fact (facts, "activations_per_sample", 0);
  self->ops = fact (facts, "ops", 0);
  self->family = family != NULL ? family_of_word (family) : QM_FAMILY_UNKNOWN;
  g_strlcpy (self->kind, json_object_get_string_member_with_default (facts, "kind", ""), sizeof self->kind);
  g_strlcpy (self->series, json_object_get_string_member_with_default (facts, "series", ""), sizeof self->series);
  self->depth = fact (facts, "depth", 0);
  if (self->config == NULL)
    {
      self->architecture.hidden = fact (facts, "hidden", 0);
      self->architecture.layers = fact (facts, "layers", 0);
    }
  read_parts (self, facts);
  read_quality (self, facts);
}

/* Work grows with the area of the image; a detector's figures are of its own
 * input size, whatever size is asked about. */
static void
scale_to_size (QmModel *self,
               double   image_size)
{
  double ratio;

  if (image_size <= 0)
    return;
  if (self->image_size > 0 && self->image_tokens > 0)
    self->image_tokens *= (image_size / self->image_size) * (image_size / self->image_size);
  if (self->pass_flops > 0 && self->image_size > 0 && image_size != self->image_size &&
      !g_str_equal (self->kind, "detection"))
    {
      ratio = (image_size / self->image_size) * (image_size / self->image_size);
      self->pass_flops *= ratio;
      self->pass_activations *= ratio;
      self->flops_per_sample = self->pass_flops;
      self->activations_per_sample = self->pass_activations;
    }
  self->image_size = image_size;
}

static double
patches (double image_size,
         double usual_size)
{
  double side = (image_size > 0 ? image_size : usual_size) / PATCH_PIXELS;

  return MAX (1, side * side);
}

/* How often a sample passes through each weight, for who knows only how many
 * there are. Of the image models of the catalog, half lie between 0.7 and 1.03
 * passes for each patch, of the detectors between 0.9 and 2.1. */
static double
usual_passes (QmTask task,
              double image_size)
{
  switch (task)
    {
    case QM_TASK_SPEECH:
      return SPEECH_FRAMES_PER_SECOND;
    case QM_TASK_IMAGE_GENERATION:
      return MAX (FEWEST_PATCHES, patches (image_size, USUAL_DIFFUSION_SIZE));
    case QM_TASK_IMAGE_CLASSIFICATION:
      return patches (image_size, USUAL_IMAGE_SIZE);
    case QM_TASK_OBJECT_DETECTION:
      return patches (image_size, USUAL_DETECTION_SIZE);
    case QM_TASK_OTHER:
      return 1;
    default:
      return 0;
    }
}

static void
guess_flops (QmModel *self,
             QmTask   task,
             double   image_size)
{
  double passes = usual_passes (task, image_size);

  if (self->flops_per_sample > 0 || self->parameters <= 0 || passes == 0)
    return;
  self->flops_per_sample = self->pass_flops = 2 * self->parameters * passes;
  self->flops_guessed = TRUE;
}

static void
take (double *place,
      double  given)
{
  if (given > 0)
    *place = given;
}

static void
override_facts (QmModel           *self,
                const QmPlanModel *given)
{
  take (&self->flops_per_sample, given->flops_per_sample);
  take (&self->activations_per_sample, given->activations_per_sample);
  take (&self->embedding_lookups, given->embedding_lookups);
  take (&self->dense_parameters, given->dense_parameters);
  take (&self->items_per_query, given->items_per_query);
  take (&self->embedding_dim, given->embedding_dim);
  take (&self->embedding_features, given->embedding_features);
  take (&self->embedding_rows, given->embedding_rows);
}

/**
 * qm_model_complete_facts:
 * @self: a model with its catalog figures, where it has any
 * @plan: what is asked
 * @image_size: pixels; 0 the model's own
 *
 * Brings the figures to the size asked about, lets those of the plan win, and
 * fills in what is still missing from the family.
 */
void
qm_model_complete_facts (QmModel      *self,
                         const QmPlan *plan,
                         double        image_size)
{
  scale_to_size (self, image_size);
  override_facts (self, &plan->model);
  guess_flops (self, plan->task, image_size);
  if (self->family == QM_FAMILY_UNKNOWN)
    self->family = family_of_name (self->id);
  if (self->ops <= 0)
    self->ops = usual_ops (self->family);
  if (self->flops_per_sample <= 0 || self->activations_per_sample > 0)
    return;
  if (self->family == QM_FAMILY_TRANSFORMER)
    self->activations_per_sample = 1.2e-4 * self->flops_per_sample;
  else if (self->family == QM_FAMILY_UNET || self->family == QM_FAMILY_CONV)
    self->activations_per_sample = 7e-4 * self->flops_per_sample;
}
