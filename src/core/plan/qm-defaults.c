/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/qm-defaults.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "plan/qm-flow.h"
#include "plan/qm-plan-fields.h"

/* A default of the flow: @value is text of the plan file. It applies to tasks
 * and activities given as bits; the first row that applies wins. */
typedef struct {
  const char *field;
  guint tasks;
  guint activities;
  const char *value;
  const char *code;
  const char *why;
} Default;

#define T(task) (1u << QM_TASK_##task)
#define A(activity) (1u << QM_ACTIVITY_##activity)
#define ANY 0xffffffffu
#define TRAINING (A (TRAIN) | A (FINE_TUNE))
#define INFERENCE (A (SERVE) | A (BATCH_INFERENCE))
#define IMAGES (T (IMAGE_CLASSIFICATION) | T (OBJECT_DETECTION))

static const Default defaults[] = {
  { "stage", ANY, ANY, "development", "usual-stage", N_("most people who ask are past the first trial") },

  { "training.method", T (LANGUAGE_MODEL) | T (IMAGE_GENERATION), A (FINE_TUNE), "lora", "adapters",
    N_("adapters reach nearly the same quality for a fraction of the memory") },
  { "training.method", ANY, TRAINING, "full", "all-weights", N_("models of this kind are usually trained whole") },

  { "training.sequence_length", T (LANGUAGE_MODEL), A (TRAIN), "2048", "usual-length", N_("a usual length of training texts") },
  { "training.sequence_length", T (LANGUAGE_MODEL), A (FINE_TUNE), "1024", "usual-length", N_("longer than most questions with their answers") },
  { "training.sequence_length", T (TEXT_ENCODER), TRAINING, "128", "usual-length", N_("sentences and short paragraphs") },
  { "training.image_size", T (IMAGE_CLASSIFICATION), TRAINING, "224", "usual-size", N_("what most image models are trained with") },
  { "training.image_size", T (OBJECT_DETECTION), TRAINING, "640", "usual-size", N_("what most detectors are trained with") },
  { "training.image_size", T (IMAGE_GENERATION), TRAINING, "512", "usual-size", N_("half a thousand pixels are enough to learn a style") },

  { "training.samples", T (LANGUAGE_MODEL), A (FINE_TUNE), "10000", "usual-data", N_("a usual instruction data set") },
  { "training.samples", T (TEXT_ENCODER), A (FINE_TUNE), "50000", "usual-data", N_("a usual labelled data set") },
  { "training.samples", T (TEXT_ENCODER), A (TRAIN), "20000000", "usual-data", N_("a small corpus to train an encoder from scratch") },
  { "training.samples", T (IMAGE_CLASSIFICATION), A (TRAIN), "1281167", "imagenet", N_("the size of ImageNet") },
  { "training.samples", T (IMAGE_CLASSIFICATION), A (FINE_TUNE), "50000", "usual-data", N_("a usual collection of one's own pictures") },
  { "training.samples", T (OBJECT_DETECTION), TRAINING, "118287", "coco", N_("the size of COCO") },
  { "training.samples", T (IMAGE_GENERATION), A (FINE_TUNE), "1000", "usual-data", N_("enough pictures for a style or a subject") },
  { "training.samples", T (IMAGE_GENERATION), A (TRAIN), "10000000", "usual-data", N_("a small collection to train a generator from scratch") },
  { "training.samples", T (SPEECH), TRAINING, "100000", "usual-data", N_("about eight hundred hours in pieces of thirty seconds") },
  { "training.samples", T (RECOMMENDER), TRAINING, "100000000", "usual-data", N_("a few months of clicks of a middling site") },
  { "training.samples", T (TABULAR), TRAINING, "1000000", "usual-data", N_("a million rows") },
  { "training.samples", T (OTHER), TRAINING, "100000", "usual-data", N_("a middling data set") },

  { "training.epochs", T (IMAGE_CLASSIFICATION), A (TRAIN), "90", "usual-epochs", N_("the usual recipe for image models from scratch") },
  { "training.epochs", T (IMAGE_CLASSIFICATION) | T (SPEECH) | T (OTHER), TRAINING, "10", "usual-epochs", N_("usual for fine-tuning") },
  { "training.epochs", T (OBJECT_DETECTION), TRAINING, "50", "usual-epochs", N_("usual for detectors that start from trained weights") },
  { "training.epochs", T (IMAGE_GENERATION), A (FINE_TUNE), "20", "usual-epochs", N_("a few thousand steps in all") },
  { "training.epochs", T (LANGUAGE_MODEL) | T (TEXT_ENCODER), A (FINE_TUNE), "3", "usual-epochs", N_("more seldom helps and makes it repeat the data") },
  { "training.epochs", ANY, TRAINING, "1", "usual-epochs", N_("the data are seen once") },

  { "training.global_batch", T (LANGUAGE_MODEL), A (FINE_TUNE), "32", "usual-batch", N_("a usual batch for fine-tuning") },
  { "training.global_batch", T (LANGUAGE_MODEL), A (TRAIN), "256", "usual-batch", N_("half a million tokens a step, usual for small models") },
  { "training.global_batch", T (TEXT_ENCODER), A (FINE_TUNE), "32", "usual-batch", N_("a usual batch for fine-tuning") },
  { "training.global_batch", T (TEXT_ENCODER), A (TRAIN), "2048", "usual-batch", N_("a usual batch for encoders") },
  { "training.global_batch", T (IMAGE_CLASSIFICATION), TRAINING, "256", "usual-batch", N_("a usual batch for image models") },
  { "training.global_batch", T (OBJECT_DETECTION) | T (IMAGE_GENERATION) | T (SPEECH), TRAINING, "16", "usual-batch",
    N_("a usual batch for models with large inputs") },
  { "training.global_batch", T (RECOMMENDER), TRAINING, "65536", "usual-batch", N_("recommenders are trained with very large batches") },
  { "training.global_batch", T (OTHER), TRAINING, "64", "usual-batch", N_("a middling batch") },

  { "tabular.features", T (TABULAR), TRAINING, "50", "usual-table", N_("a middling table") },
  { "tabular.trees", T (TABULAR), TRAINING, "500", "usual-table", N_("a usual number of trees") },
  { "tabular.depth", T (TABULAR), TRAINING, "8", "usual-table", N_("a usual depth") },

  { "serving.input_tokens", T (LANGUAGE_MODEL), INFERENCE, "512", "usual-request", N_("a question with some context") },
  { "serving.output_tokens", T (LANGUAGE_MODEL), INFERENCE, "256", "usual-request", N_("an answer of about two hundred words") },
  { "serving.input_tokens", T (TEXT_ENCODER), INFERENCE, "128", "usual-request", N_("sentences and short paragraphs") },
  { "serving.requests_per_second", T (LANGUAGE_MODEL), A (SERVE), "1", "usual-load", N_("some thousands of people a day") },
  { "serving.requests_per_second", T (IMAGE_GENERATION), A (SERVE), "0.1", "usual-load", N_("some thousand pictures a day") },
  { "serving.requests_per_second", ANY, A (SERVE), "20", "usual-load", N_("a middling web service") },
  { "serving.peak_factor", ANY, A (SERVE), "3", "evening-peak", N_("the busiest minutes of a day have about three times the mean") },
  { "serving.first_token_seconds", T (LANGUAGE_MODEL), A (SERVE), "2", "patience", N_("people think that nothing happens if the first word takes longer") },
  { "serving.latency_p99_seconds", T (LANGUAGE_MODEL), A (SERVE), "30", "patience", N_("people read along while it writes") },
  { "serving.latency_p99_seconds", T (IMAGE_GENERATION), A (SERVE), "30", "patience", N_("people wait for a picture") },
  { "serving.latency_p99_seconds", T (SPEECH), A (SERVE), "10", "patience", N_("people wait for half a minute of speech to be written down") },
  { "serving.latency_p99_seconds", ANY, A (SERVE), "0.2", "patience", N_("a page that waits longer feels slow") },
  { "serving.samples", T (LANGUAGE_MODEL), A (BATCH_INFERENCE), "100000", "usual-data", N_("a usual batch of documents") },
  { "serving.samples", T (IMAGE_GENERATION), A (BATCH_INFERENCE), "10000", "usual-data", N_("a usual batch of pictures") },
  { "serving.samples", ANY, A (BATCH_INFERENCE), "1000000", "usual-data", N_("a usual batch") },
  { "serving.image_size", T (IMAGE_CLASSIFICATION), INFERENCE, "224", "usual-size", N_("what most image models are trained with") },
  { "serving.image_size", T (OBJECT_DETECTION), INFERENCE, "640", "usual-size", N_("what most detectors are trained with") },
  { "serving.image_size", T (IMAGE_GENERATION), INFERENCE, "512", "usual-size", N_("a usual picture") },
  { "serving.denoising_steps", T (IMAGE_GENERATION), INFERENCE, "30", "usual-steps", N_("more steps seldom look better") },

  { "data.bytes_per_sample", IMAGES, ANY, "110000", "usual-file", N_("a usual picture file") },
  { "data.bytes_per_sample", T (LANGUAGE_MODEL) | T (TEXT_ENCODER), ANY, "2000", "usual-file", N_("about a page of text") },
  { "data.storage", ANY, TRAINING, "nvme", "usual-storage", N_("what machines come with") },

  { "limits.objective", ANY, ANY, "balanced", "balanced", N_("money and time both count") },
  { "limits.currency", ANY, ANY, "USD", "usual-currency", N_("cloud prices are in US dollars") },
  { "limits.headroom", ANY, ANY, "0.2", "headroom", N_("a fifth of the memory stays free for what no estimate foresees") },
  { "places.this_computer", ANY, ANY, "true", "place", N_("what is there costs nothing") },
  { "places.buy", ANY, ANY, "true", "place", N_("buying is compared with renting") },
  { "places.on_premises", ANY, ANY, "false", "place", N_("the data may be sent to a provider") },
};

/* Models for who names none; the first that the catalog has is taken. */
static const struct {
  guint tasks;
  guint activities;
  const char *ids[4];
} usual_models[] = {
  { T (LANGUAGE_MODEL), A (TRAIN), { "gpt2", "gpt2-small", NULL } },
  { T (LANGUAGE_MODEL), ANY, { "llama-3.1-8b", "llama-3-8b", "llama-2-7b", NULL } },
  { T (TEXT_ENCODER), ANY, { "bert-base-uncased", "bert-base", NULL } },
  { T (IMAGE_CLASSIFICATION), ANY, { "resnet-50", "resnet50", NULL } },
  { T (OBJECT_DETECTION), ANY, { "yolov8s", "faster-rcnn-r50-fpn", NULL } },
  { T (IMAGE_GENERATION), ANY, { "stable-diffusion-1.5", "sd-1.5", "sdxl", NULL } },
  { T (SPEECH), ANY, { "whisper-small", "whisper-large-v3", NULL } },
  { T (RECOMMENDER), ANY, { "dlrm-small", "dlrm", NULL } },
  { T (TABULAR), ANY, { "xgboost", NULL } },
};

typedef struct {
  QmPlan *plan;
  GPtrArray *assumed;
} Resolver;

static void
assumption_free (QmAssumption *self)
{
  g_free (self->field);
  g_free (self->value);
  qm_message_free (self->why);
  g_free (self);
}

static gboolean
is_answered (const QmPlan *plan,
             const char   *field)
{
  return qm_plan_field_is_set (qm_plan_field_find (field), plan);
}

static void
assume (Resolver   *self,
        const char *field,
        const char *value,
        const char *code,
        const char *why)
{
  QmAssumption *assumption;

  if (is_answered (self->plan, field) || !qm_plan_set_field (self->plan, field, value, NULL))
    return;

  assumption = g_new0 (QmAssumption, 1);
  assumption->field = g_strdup (field);
  assumption->value = g_strdup (value);
  assumption->why = qm_message_new (code, why);
  g_ptr_array_add (self->assumed, assumption);
}

static gboolean
model_is_named (const QmPlanModel *model)
{
  return model->id[0] != '\0' || model->file != NULL || model->architecture != NULL || model->parameters > 0 ||
         model->flops_per_sample > 0;
}

static void
assume_model (Resolver  *self,
              QmCatalog *catalog)
{
  if (model_is_named (&self->plan->model))
    return;

  for (guint i = 0; i < G_N_ELEMENTS (usual_models); i++)
    {
      if ((usual_models[i].tasks & (1u << self->plan->task)) == 0 || (usual_models[i].activities & (1u << self->plan->activity)) == 0)
        continue;
      for (guint j = 0; usual_models[i].ids[j] != NULL; j++)
        if (qm_catalog_find_model (catalog, usual_models[i].ids[j], 0) != NULL)
          {
            assume (self, "model.id", usual_models[i].ids[j], "usual-model", N_("a model that many people begin with"));
            return;
          }
    }
}

/* Device and recipe are both given: the plan tells of one run. */
static gboolean
describes_a_run (const QmPlan *plan)
{
  if (plan->configuration.device[0] == '\0')
    return FALSE;
  if (qm_plan_is_training (plan))
    return plan->training.method != QM_METHOD_UNSET;

  return plan->serving.engine[0] != '\0' || plan->serving.weights[0] != '\0';
}

/* In a plan that tells of one run, what says nothing of how it runs may be
 * filled in all the same; in the rest, absence itself tells the predictors
 * something. */
static gboolean
says_nothing_of_the_run (const char *field)
{
  static const char * const harmless[] = {
    "stage", "training.samples", "training.tokens", "serving.requests_per_second", "serving.peak_factor",
    "serving.latency_p99_seconds", "serving.samples", NULL
  };

  return g_str_has_prefix (field, "limits.") || g_str_has_prefix (field, "places.") || g_strv_contains (harmless, field);
}

/* A new plan has a purpose: fill what a newcomer left out, from the table. */
static void
assume_answers (Resolver *self,
                gboolean  pinned)
{
  gboolean counted = self->plan->training.samples > 0 || self->plan->training.tokens > 0;

  for (guint i = 0; i < G_N_ELEMENTS (defaults); i++)
    {
      const Default *row = &defaults[i];

      /* Who says how much there is without saying how often means once. */
      if (counted && strcmp (row->field, "training.epochs") == 0)
        continue;
      if ((row->tasks & (1u << self->plan->task)) == 0 || (row->activities & (1u << self->plan->activity)) == 0 ||
          (pinned && !says_nothing_of_the_run (row->field)))
        continue;
      assume (self, row->field, row->value, row->code, row->why);
    }

  /* A service that must answer cannot vanish. */
  if (self->plan->activity == QM_ACTIVITY_SERVE && self->plan->stage == QM_STAGE_PRODUCTION)
    assume (self, "places.spot", "never", "no-spot", N_("a service that must answer cannot run on machines that vanish"));
  else
    assume (self, "places.spot", "allowed", "spot", N_("spot machines cost less than half; interruptions are counted in"));
}

/* Twenty tokens for each parameter is what costs least for the loss reached
 * (Hoffmann et al. 2022). */
static void
assume_tokens (Resolver      *self,
               const QmModel *model)
{
  char tokens[G_ASCII_DTOSTR_BUF_SIZE];

  if (self->plan->task != QM_TASK_LANGUAGE_MODEL || self->plan->activity != QM_ACTIVITY_TRAIN ||
      self->plan->training.samples > 0 || !(model->parameters > 0))
    return;

  g_ascii_formatd (tokens, sizeof tokens, "%.0f", 20 * model->parameters);
  assume (self, "training.tokens", tokens, "chinchilla", N_("twenty tokens for each parameter: the least compute for the loss reached"));
}

static gboolean
check_devices (const QmPlan *plan,
               QmCatalog    *catalog,
               GError      **error)
{
  const char *device = plan->configuration.device;

  if (device[0] != '\0' && qm_catalog_find_device (catalog, device) == NULL)
    {
      g_set_error (error, QM_PLAN_ERROR, QM_PLAN_ERROR_VALUE,
                   "configuration.device: no device \"%s\" is in the catalog; the nearest is \"%s\"", device,
                   qm_catalog_nearest_id (catalog, "device", device));
      return FALSE;
    }
  if (plan->configuration.offer[0] != '\0' && qm_catalog_find_offer (catalog, plan->configuration.offer) == NULL)
    {
      g_set_error (error, QM_PLAN_ERROR, QM_PLAN_ERROR_VALUE,
                   "configuration.offer: no offer \"%s\" is in the catalog; the nearest is \"%s\"", plan->configuration.offer,
                   qm_catalog_nearest_id (catalog, "offer", plan->configuration.offer));
      return FALSE;
    }
  for (int i = 0; i < plan->places.n_owned; i++)
    if (qm_catalog_find_device (catalog, plan->places.owned[i].device) == NULL)
      {
        g_set_error (error, QM_PLAN_ERROR, QM_PLAN_ERROR_VALUE,
                     "places.owned: no device \"%s\" is in the catalog; the nearest is \"%s\"", plan->places.owned[i].device,
                     qm_catalog_nearest_id (catalog, "device", plan->places.owned[i].device));
        return FALSE;
      }

  return TRUE;
}

/**
 * qm_resolve:
 * @plan: a plan, at least its task and activity answered
 * @catalog: the catalog
 * @base_directory: (nullable): where a model file's name is relative to
 * @warnings: (nullable) (element-type QmPlanWarning): what is odd is added here
 * @error: return location for a #QmPlanError or #QmModelError
 *
 * Finds out what the model is and fills in what is missing, each with its
 * reason. What absence itself tells the predictors (framework, layout,
 * checkpointing) stays absent.
 *
 * Returns: (transfer full): the plan, ready to be estimated, or %NULL with
 *   @error set
 */
QmResolved *
qm_resolve (const QmPlan *plan,
            QmCatalog    *catalog,
            const char   *base_directory,
            GPtrArray    *warnings,
            GError      **error)
{
  g_autoptr (QmResolved) resolved = g_new0 (QmResolved, 1);
  gboolean pinned = describes_a_run (plan);
  Resolver resolver;

  resolved->given = qm_plan_copy (plan);
  resolved->plan = qm_plan_copy (plan);
  resolved->assumed = g_ptr_array_new_with_free_func ((GDestroyNotify) assumption_free);
  resolver = (Resolver) { resolved->plan, resolved->assumed };

  if (!check_devices (plan, catalog, error))
    return NULL;

  assume_model (&resolver, catalog);
  resolved->model = qm_model_resolve (resolved->plan, catalog, base_directory, warnings, error);
  if (resolved->model == NULL)
    return NULL;

  assume_tokens (&resolver, resolved->model);
  assume_answers (&resolver, pinned);

  return g_steal_pointer (&resolved);
}

/**
 * qm_resolved_copy:
 * @self: a resolved plan
 *
 * Returns: (transfer full): a copy
 */
QmResolved *
qm_resolved_copy (const QmResolved *self)
{
  QmResolved *copy = g_new0 (QmResolved, 1);

  copy->given = qm_plan_copy (self->given);
  copy->plan = qm_plan_copy (self->plan);
  copy->model = qm_model_copy (self->model);
  copy->assumed = g_ptr_array_new_with_free_func ((GDestroyNotify) assumption_free);
  for (guint i = 0; i < self->assumed->len; i++)
    {
      const QmAssumption *assumption = g_ptr_array_index (self->assumed, i);
      QmAssumption *duplicate = g_new0 (QmAssumption, 1);

      duplicate->field = g_strdup (assumption->field);
      duplicate->value = g_strdup (assumption->value);
      duplicate->why = qm_message_copy (assumption->why);
      g_ptr_array_add (copy->assumed, duplicate);
    }

  return copy;
}

/**
 * qm_resolved_free:
 * @self: (transfer full) (nullable): a resolved plan
 */
void
qm_resolved_free (QmResolved *self)
{
  if (self == NULL)
    return;

  qm_plan_free (self->given);
  qm_plan_free (self->plan);
  qm_model_free (self->model);
  g_clear_pointer (&self->assumed, g_ptr_array_unref);
  g_free (self);
}
