/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/qm-defaults.h"

#include <glib/gi18n.h>
#include <math.h>

#include "plan/qm-flow.h"
#include "plan/qm-plan-fields.h"
#include "qm-error.h"

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
  { "training.method", T (LANGUAGE_MODEL) | T (IMAGE_GENERATION), A (FINE_TUNE), "lora", "adapters",
    N_("adapters reach nearly the same quality for a fraction of the memory") },
  { "training.method", ~T (TABULAR), TRAINING, "full", "all-weights", N_("models of this kind are usually trained whole") },

  { "training.sequence_length", T (LANGUAGE_MODEL), A (FINE_TUNE), "512", "usual-length", N_("a question with its answer") },
  { "training.sequence_length", T (TEXT_ENCODER), TRAINING, "128", "usual-length", N_("sentences and short paragraphs") },
  { "training.image_size", T (IMAGE_CLASSIFICATION), TRAINING, "224", "usual-size", N_("what most image models are trained with") },
  { "training.image_size", T (OBJECT_DETECTION), TRAINING, "640", "usual-size", N_("what most detectors are trained with") },
  { "training.image_size", T (IMAGE_GENERATION), TRAINING, "512", "usual-size", N_("half a thousand pixels are enough to learn a style") },

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

  { "serving.input_tokens", T (LANGUAGE_MODEL), INFERENCE, "512", "usual-request", N_("a question with some context") },
  { "serving.output_tokens", T (LANGUAGE_MODEL), INFERENCE, "256", "usual-request", N_("an answer of about two hundred words") },
  { "serving.input_tokens", T (TEXT_ENCODER), INFERENCE, "128", "usual-request", N_("sentences and short paragraphs") },
  { "serving.peak_factor", ANY, A (SERVE), "3", "evening-peak", N_("the busiest minutes of a day have about three times the mean") },
  { "serving.first_token_seconds", T (LANGUAGE_MODEL), A (SERVE), "2", "patience",
    N_("people think that nothing happens if the first word takes longer") },
  { "serving.latency_p99_seconds", T (LANGUAGE_MODEL), A (SERVE), "30", "patience", N_("people read along while it writes") },
  { "serving.latency_p99_seconds", T (IMAGE_GENERATION), A (SERVE), "30", "patience", N_("people wait for a picture") },
  { "serving.latency_p99_seconds", T (SPEECH), A (SERVE), "10", "patience", N_("people wait for half a minute of speech to be written down") },
  { "serving.latency_p99_seconds", ANY, A (SERVE), "0.2", "patience", N_("a page that waits longer feels slow") },
  { "serving.image_size", T (IMAGE_CLASSIFICATION), INFERENCE, "224", "usual-size", N_("what most image models are trained with") },
  { "serving.image_size", T (OBJECT_DETECTION), INFERENCE, "640", "usual-size", N_("what most detectors are trained with") },
  { "serving.image_size", T (IMAGE_GENERATION), INFERENCE, "512", "usual-size", N_("a usual picture") },
  { "serving.denoising_steps", T (IMAGE_GENERATION), INFERENCE, "30", "usual-steps", N_("more steps seldom look better") },

  { "data.bytes_per_sample", IMAGES, TRAINING, "110000", "usual-file", N_("a usual picture file") },
  { "data.bytes_per_sample", T (LANGUAGE_MODEL) | T (TEXT_ENCODER), TRAINING, "2000", "usual-file", N_("about a page of text") },
  { "data.storage", ANY, TRAINING, "nvme", "usual-storage", N_("what machines come with") },
};

/* On what terms. */
static const Default terms[] = {
  { "limits.objective", ANY, ANY, "balanced", "balanced", N_("money and time both count") },
  { "limits.currency", ANY, ANY, "USD", "usual-currency", N_("cloud prices are in US dollars") },
  { "limits.headroom", ANY, ANY, "0.2", "headroom", N_("a fifth of the memory stays free for what no estimate foresees") },
  { "places.this_computer", ANY, ANY, "true", "place", N_("what is there costs nothing") },
  { "places.buy", ANY, ANY, "true", "place", N_("buying is compared with renting") },
  { "places.on_premises", ANY, ANY, "false", "place", N_("the data may be sent to a provider") },
};

/* How much there is to do. It changes how long a job takes, not how it runs. */
static const Default amounts[] = {
  { "training.samples", T (LANGUAGE_MODEL), A (FINE_TUNE), "10000", "usual-data", N_("a usual instruction data set") },
  { "training.samples", T (TEXT_ENCODER), A (FINE_TUNE), "50000", "usual-data", N_("a usual labelled data set") },
  { "training.samples", T (TEXT_ENCODER), A (TRAIN), "20000000", "usual-data", N_("a small corpus to train an encoder from scratch") },
  { "training.samples", T (IMAGE_CLASSIFICATION), A (TRAIN), "1281167", "imagenet", N_("the size of ImageNet") },
  { "training.samples", T (IMAGE_CLASSIFICATION), A (FINE_TUNE), "50000", "usual-data", N_("a usual collection of one's own pictures") },
  { "training.samples", T (OBJECT_DETECTION), A (TRAIN), "118287", "coco", N_("the size of COCO") },
  { "training.samples", T (OBJECT_DETECTION), A (FINE_TUNE), "5000", "usual-data", N_("as many pictures as people mark by hand") },
  { "training.samples", T (IMAGE_GENERATION), A (FINE_TUNE), "1000", "usual-data", N_("enough pictures for a style or a subject") },
  { "training.samples", T (IMAGE_GENERATION), A (TRAIN), "10000000", "usual-data", N_("a small collection to train a generator from scratch") },
  { "training.samples", T (SPEECH), A (TRAIN), "1000000", "usual-data", N_("about eight thousand hours in pieces of thirty seconds") },
  { "training.samples", T (SPEECH), A (FINE_TUNE), "12000", "usual-data", N_("about a hundred hours in pieces of thirty seconds") },
  { "training.samples", T (RECOMMENDER), TRAINING, "100000000", "usual-data", N_("a few months of clicks of a middling site") },
  { "training.samples", T (TABULAR), TRAINING, "1000000", "usual-data", N_("a million rows") },
  { "training.samples", T (OTHER), TRAINING, "100000", "usual-data", N_("a middling data set") },

  { "training.epochs", T (IMAGE_CLASSIFICATION), A (TRAIN), "90", "usual-epochs", N_("the usual recipe for image models from scratch") },
  { "training.epochs", T (SPEECH) | T (LANGUAGE_MODEL) | T (TEXT_ENCODER), A (FINE_TUNE), "3", "usual-epochs",
    N_("more seldom helps and makes it repeat the data") },
  { "training.epochs", T (IMAGE_CLASSIFICATION) | T (OTHER), TRAINING, "10", "usual-epochs", N_("usual for data sets of this size") },
  { "training.epochs", T (OBJECT_DETECTION), TRAINING, "50", "usual-epochs", N_("usual for detectors that start from trained weights") },
  { "training.epochs", T (IMAGE_GENERATION), A (FINE_TUNE), "20", "usual-epochs", N_("a few thousand steps in all") },
  { "training.epochs", ANY, TRAINING, "1", "usual-epochs", N_("the data are seen once") },

  { "serving.samples", T (LANGUAGE_MODEL), A (BATCH_INFERENCE), "100000", "usual-data", N_("a usual batch of documents") },
  { "serving.samples", T (IMAGE_GENERATION), A (BATCH_INFERENCE), "10000", "usual-data", N_("a usual batch of pictures") },
  { "serving.samples", T (SPEECH), A (BATCH_INFERENCE), "100000", "usual-data", N_("about eight hundred hours in pieces of thirty seconds") },
  { "serving.samples", ANY, A (BATCH_INFERENCE), "1000000", "usual-data", N_("a usual batch") },
};

/* Requests a second of a service, by the stage of the project. */
static const struct {
  guint tasks;
  QmStage stage;
  const char *value;
  const char *why;
} loads[] = {
  { T (LANGUAGE_MODEL) | T (SPEECH), QM_STAGE_PROTOTYPE, "0.1", N_("a few colleagues who try it") },
  { T (LANGUAGE_MODEL) | T (SPEECH), QM_STAGE_DEVELOPMENT, "1", N_("some ten thousand people a day") },
  { T (LANGUAGE_MODEL) | T (SPEECH), QM_STAGE_PRODUCTION, "3", N_("some ten thousand people a day, several requests each") },
  { T (IMAGE_GENERATION), QM_STAGE_PROTOTYPE, "0.01", N_("a few colleagues who try it") },
  { T (IMAGE_GENERATION), QM_STAGE_DEVELOPMENT, "0.1", N_("some thousand pictures a day") },
  { T (IMAGE_GENERATION), QM_STAGE_PRODUCTION, "0.5", N_("some ten thousand pictures a day") },
  { ANY, QM_STAGE_PROTOTYPE, "1", N_("a few colleagues who try it") },
  { ANY, QM_STAGE_DEVELOPMENT, "20", N_("a middling web service") },
  { ANY, QM_STAGE_PRODUCTION, "50", N_("a busy web service") },
};

/* Models for who names none; the first that the catalog has is taken. */
static const struct {
  guint tasks;
  guint activities;
  const char *ids[4];
} usual_models[] = {
  { T (LANGUAGE_MODEL), A (TRAIN), { "gpt2", "opt-125m", NULL } },
  { T (LANGUAGE_MODEL), ANY, { "llama-3.1-8b", "llama-3-8b", "llama-2-7b", NULL } },
  { T (TEXT_ENCODER), ANY, { "bert-base-uncased", NULL } },
  { T (IMAGE_CLASSIFICATION), ANY, { "resnet-50", NULL } },
  { T (OBJECT_DETECTION), ANY, { "yolov8s", "faster-rcnn-r50-fpn", NULL } },
  { T (IMAGE_GENERATION), ANY, { "stable-diffusion-1.5", "sdxl", NULL } },
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
  assume (self, "model.parameters", "100000000", "usual-model", N_("a network of middling size"));
}

/* Answers that others imply. */
static gboolean
is_settled (const QmPlan *plan,
            const char   *field)
{
  return g_str_equal (field, "training.global_batch") &&
         (plan->configuration.micro_batch > 0 || plan->configuration.gradient_accumulation > 0);
}

static void
assume_rows (Resolver      *self,
             const Default *rows,
             gsize          n)
{
  for (gsize i = 0; i < n; i++)
    if (!is_settled (self->plan, rows[i].field) && (rows[i].tasks & (1u << self->plan->task)) != 0 &&
        (rows[i].activities & (1u << self->plan->activity)) != 0)
      assume (self, rows[i].field, rows[i].value, rows[i].code, rows[i].why);
}

static void
assume_number (Resolver   *self,
               const char *field,
               double      value,
               const char *code,
               const char *why)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (text, sizeof text, "%.0f", value);
  assume (self, field, text, code, why);
}

/* Twenty tokens for each parameter is what costs least for the loss reached
 * (Hoffmann et al. 2022). */
static void
assume_amount (Resolver      *self,
               const QmModel *model)
{
  QmTraining *training = &self->plan->training;
  gboolean given = training->samples > 0 || training->tokens > 0;

  if (!qm_plan_is_training (self->plan))
    {
      assume_rows (self, amounts, G_N_ELEMENTS (amounts));
      return;
    }

  if (given)
    assume (self, "training.epochs", "1", "given-data", N_("the data are seen once unless the plan says more"));
  else if (self->plan->task == QM_TASK_LANGUAGE_MODEL && self->plan->activity == QM_ACTIVITY_TRAIN && model->parameters > 0)
    assume_number (self, "training.tokens", 20 * model->parameters, "chinchilla",
                   N_("twenty tokens for each parameter: the least compute for the loss reached"));

  /* Tokens say as much as samples. */
  for (gsize i = 0; i < G_N_ELEMENTS (amounts); i++)
    if (training->tokens == 0 || !g_str_equal (amounts[i].field, "training.samples"))
      assume_rows (self, &amounts[i], 1);
}

static void
assume_sizes_of_model (Resolver      *self,
                       const QmModel *model)
{
  double longest = model->architecture.max_positions > 0 ? MIN (2048, model->architecture.max_positions) : 2048;
  gboolean training = qm_plan_is_training (self->plan);

  if (self->plan->task == QM_TASK_LANGUAGE_MODEL && self->plan->activity == QM_ACTIVITY_TRAIN)
    assume_number (self, "training.sequence_length", longest, "usual-length", N_("a usual length of training texts"));
  if (model->image_size > 0)
    assume_number (self, training ? "training.image_size" : "serving.image_size", model->image_size, "size-of-model",
                   N_("what this model is made for"));
  if (training && self->plan->task == QM_TASK_TABULAR && self->plan->tabular.leaves == 0)
    assume (self, "tabular.depth", "8", "usual-table", N_("a usual depth"));
}

static void
assume_load (Resolver *self)
{
  /* Who says how many wait at once has said what the load is. */
  if (self->plan->activity != QM_ACTIVITY_SERVE || self->plan->serving.concurrency > 0)
    return;

  for (gsize i = 0; i < G_N_ELEMENTS (loads); i++)
    if (loads[i].stage == self->plan->stage && (loads[i].tasks & (1u << self->plan->task)) != 0)
      assume (self, "serving.requests_per_second", loads[i].value, "usual-load", loads[i].why);
}

/* A service that must answer cannot vanish. */
static void
assume_spot (Resolver *self)
{
  if (self->plan->activity == QM_ACTIVITY_SERVE && self->plan->stage == QM_STAGE_PRODUCTION)
    assume (self, "places.spot", "never", "no-spot", N_("a service that must answer cannot run on machines that vanish"));
  else
    assume (self, "places.spot", "allowed", "spot", N_("spot machines cost less than half; interruptions are counted in"));
}

/* What nobody says who wants to know what to use, and everybody who tells how a
 * run is made. Where it is said, what is not said tells the predictors
 * something, too, and stays unsaid. */
static gboolean
describes_a_run (const QmPlan *plan)
{
  const QmConfiguration *configuration = &plan->configuration;

  if (configuration->device[0] == '\0')
    return FALSE;

  return plan->training.precision != QM_PRECISION_UNSET || plan->training.framework[0] != '\0' || plan->serving.engine[0] != '\0' ||
         plan->serving.weights[0] != '\0' || plan->tabular.trees > 0 || configuration->data_parallel > 0 ||
         configuration->sharding != QM_SHARDING_UNSET || configuration->micro_batch > 0 || configuration->gradient_accumulation > 0;
}

/* The length that the predictor counts with where a run does not say. */
static void
assume_length (Resolver *self)
{
  if (self->plan->task == QM_TASK_LANGUAGE_MODEL && qm_plan_is_training (self->plan))
    assume (self, "training.sequence_length", "2048", "usual-length", N_("a usual length of training texts"));
}

/* Who names a file means to run what is in it. */
static void
assume_format (Resolver      *self,
               const QmModel *model)
{
  if (model->stored_format != NULL && self->plan->task == QM_TASK_LANGUAGE_MODEL && !qm_plan_is_training (self->plan))
    assume (self, "serving.weights", model->stored_format, "file-format", N_("the file of the model holds them so"));
}

static void
assume_all (Resolver      *self,
            const QmModel *model)
{
  assume (self, "stage", "development", "usual-stage", N_("most people who ask are past the first trial"));
  assume_amount (self, model);
  if (!describes_a_run (self->plan))
    {
      assume_sizes_of_model (self, model);
      assume_rows (self, defaults, G_N_ELEMENTS (defaults));
      assume_load (self);
    }
  else
    {
      assume_length (self);
    }
  assume_format (self, model);
  assume_rows (self, terms, G_N_ELEMENTS (terms));
  assume_spot (self);
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
  Resolver resolver;

  resolved->given = qm_plan_copy (plan);
  resolved->plan = qm_plan_copy (plan);
  resolved->assumed = g_ptr_array_new_with_free_func ((GDestroyNotify) assumption_free);
  resolver = (Resolver) { resolved->plan, resolved->assumed };

  if (!qm_plan_check_catalog (plan, catalog, error))
    return NULL;

  assume_model (&resolver, catalog);
  resolved->model = qm_model_resolve (resolved->plan, catalog, base_directory, warnings, error);
  if (resolved->model == NULL || !qm_plan_check_model (plan, resolved->model, error))
    return NULL;

  assume_all (&resolver, resolved->model);

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
  copy->past_runs = self->past_runs != NULL ? g_ptr_array_ref (self->past_runs) : NULL;
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
 * qm_answers_complete:
 * @plan: the answers so far
 * @field: the one that was just given
 *
 * A plan that gives the amount of data means one pass over them where it says
 * no more. A person who answers questions means the usual number of passes, and
 * is told: it is written down beside the amount.
 */
void
qm_answers_complete (QmPlan     *plan,
                     const char *field)
{
  if (!g_str_equal (field, "training.samples") || !is_answered (plan, field) || is_answered (plan, "training.epochs"))
    return;

  for (gsize i = 0; i < G_N_ELEMENTS (amounts); i++)
    if (g_str_equal (amounts[i].field, "training.epochs") && (amounts[i].tasks & (1u << plan->task)) != 0 &&
        (amounts[i].activities & (1u << plan->activity)) != 0)
      {
        qm_plan_set_field (plan, "training.epochs", amounts[i].value, NULL);
        return;
      }
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
  g_clear_pointer (&self->past_runs, g_ptr_array_unref);
  g_free (self);
}
