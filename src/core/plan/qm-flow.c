/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/qm-flow.h"

#include <glib/gi18n.h>
#include <string.h>

/* --------------------------------------------------------- who is asked what */

static gboolean
trains (const QmPlan *plan)
{
  return qm_plan_is_training (plan);
}

static gboolean
fine_tunes_large (const QmPlan *plan)
{
  return plan->activity == QM_ACTIVITY_FINE_TUNE && (plan->task == QM_TASK_LANGUAGE_MODEL || plan->task == QM_TASK_IMAGE_GENERATION);
}

static gboolean
trains_on_text (const QmPlan *plan)
{
  return trains (plan) && (plan->task == QM_TASK_LANGUAGE_MODEL || plan->task == QM_TASK_TEXT_ENCODER);
}

static gboolean
trains_on_images (const QmPlan *plan)
{
  return trains (plan) && (plan->task == QM_TASK_IMAGE_CLASSIFICATION || plan->task == QM_TASK_OBJECT_DETECTION ||
                           plan->task == QM_TASK_IMAGE_GENERATION);
}

static gboolean
trains_on_samples (const QmPlan *plan)
{
  return trains (plan) && !(plan->task == QM_TASK_LANGUAGE_MODEL && plan->activity == QM_ACTIVITY_TRAIN);
}

static gboolean
pre_trains (const QmPlan *plan)
{
  return plan->task == QM_TASK_LANGUAGE_MODEL && plan->activity == QM_ACTIVITY_TRAIN;
}

static gboolean
trains_a_network (const QmPlan *plan)
{
  return trains (plan) && plan->task != QM_TASK_TABULAR;
}

static gboolean
trains_a_table (const QmPlan *plan)
{
  return trains (plan) && plan->task == QM_TASK_TABULAR;
}

static gboolean
serves (const QmPlan *plan)
{
  return plan->activity == QM_ACTIVITY_SERVE;
}

static gboolean
works_through (const QmPlan *plan)
{
  return plan->activity == QM_ACTIVITY_BATCH_INFERENCE;
}

static gboolean
writes_text (const QmPlan *plan)
{
  return qm_plan_is_inference (plan) && plan->task == QM_TASK_LANGUAGE_MODEL;
}

static gboolean
reads_text (const QmPlan *plan)
{
  return qm_plan_is_inference (plan) && (plan->task == QM_TASK_LANGUAGE_MODEL || plan->task == QM_TASK_TEXT_ENCODER);
}

static gboolean
makes_images (const QmPlan *plan)
{
  return qm_plan_is_inference (plan) && plan->task == QM_TASK_IMAGE_GENERATION;
}

static gboolean
classifies (const QmPlan *plan)
{
  return plan->task == QM_TASK_IMAGE_CLASSIFICATION;
}

/* ------------------------------------------------------------------- options */

static const QmOption tasks[] = {
  { "language-model", N_("Work with language"), N_("Chat assistant, summaries, code: language model"), "qm-chat-symbolic" },
  { "text-encoder", N_("Sort or search texts"), N_("Spam, topics, semantic search: text encoder"), "qm-text-symbolic" },
  { "image-classification", N_("Recognise pictures"), N_("Which product, which plant: image classification"), "qm-image-symbolic" },
  { "object-detection", N_("Find things in pictures"), N_("Where are the cars: detection and segmentation"), "qm-detect-symbolic" },
  { "image-generation", N_("Make pictures"), N_("Illustrations from words: diffusion model"), "qm-paint-symbolic" },
  { "speech", N_("Understand speech"), N_("Minutes, subtitles: speech recognition"), "qm-mic-symbolic" },
  { "recommender", N_("Recommend things"), N_("What people buy or watch next: recommender"), "qm-star-symbolic" },
  { "tabular", N_("Predict from a table"), N_("Prices, churn, risk: gradient boosting, random forest"), "qm-table-symbolic" },
  { "other", N_("Something else"), N_("Any other neural network"), "qm-other-symbolic" },
  { NULL, NULL, NULL, NULL },
};

static const QmOption activities[] = {
  { "train", N_("Train from scratch"), N_("Begin with random weights"), "qm-flag-symbolic" },
  { "fine-tune", N_("Adapt a trained model"), N_("Fine-tune it on your own data"), "qm-tune-symbolic" },
  { "serve", N_("Let people use it"), N_("Serve requests as they come"), "qm-rocket-symbolic" },
  { "batch-inference", N_("Work through a pile"), N_("Batch inference: nobody waits for a single answer"), "qm-db-symbolic" },
  { NULL, NULL, NULL, NULL },
};

static const QmOption methods[] = {
  { "full", N_("All weights"), N_("Full fine-tuning: best quality, most memory"), NULL },
  { "lora", N_("Small adapters"), N_("LoRA: nearly the same quality, far less memory"), NULL },
  { "qlora", N_("Small adapters on a compressed model"), N_("QLoRA: 4-bit weights, the least memory"), NULL },
  { "linear-probe", N_("Only the last layer"), N_("Linear probe: quick, for small changes"), NULL },
  { NULL, NULL, NULL, NULL },
};

static const QmOption stages[] = {
  { "prototype", N_("Trying things out"), N_("Prototype: the model still changes"), NULL },
  { "development", N_("Getting it right"), N_("Development: settings are tuned, runs are repeated"), NULL },
  { "production", N_("For real"), N_("Production: the last run, or people depend on it"), NULL },
  { NULL, NULL, NULL, NULL },
};

static const QmOption storages[] = {
  { "nvme", N_("Fast disk in the machine"), N_("NVMe SSD"), NULL },
  { "sata-ssd", N_("Ordinary SSD"), N_("SATA SSD"), NULL },
  { "hdd", N_("Spinning disk"), N_("Hard disk"), NULL },
  { "network", N_("Network drive"), N_("NFS, SMB"), NULL },
  { "object-store", N_("Cloud storage"), N_("S3, GCS, Blob: object store"), NULL },
  { "memory", N_("All in memory"), N_("Loaded before the run"), NULL },
  { NULL, NULL, NULL, NULL },
};

static const QmOption objectives[] = {
  { "balanced", N_("Both count"), N_("A fair balance of money and time"), NULL },
  { "cheapest", N_("As cheap as possible"), N_("Time matters only for the deadline"), NULL },
  { "fastest", N_("As fast as possible"), N_("Money matters only for the budget"), NULL },
  { "most-accurate", N_("As good as possible"), N_("Quality first, then money"), NULL },
  { NULL, NULL, NULL, NULL },
};

static const QmOption spots[] = {
  { "allowed", N_("Where it pays"), N_("Spot machines cost less and may be taken away"), NULL },
  { "never", N_("Never"), N_("Only machines that stay"), NULL },
  { "preferred", N_("Wherever there are any"), N_("Spot first"), NULL },
  { NULL, NULL, NULL, NULL },
};

/* -------------------------------------------------------------------- typical */

static const double chats[] = { 1000, 10000, 50000, 200000, 0 };
static const double few_epochs[] = { 1, 3, 10, 90, 0 };
static const double lengths[] = { 128, 512, 1024, 2048, 8192, 0 };
static const double many_tokens[] = { 1e9, 1e10, 1e11, 1e12, 0 };
static const double sizes[] = { 224, 384, 512, 640, 1024, 0 };
static const double batches[] = { 16, 32, 64, 256, 1024, 0 };
static const double columns[] = { 10, 50, 200, 1000, 0 };
static const double trees[] = { 100, 500, 1000, 0 };
static const double questions[] = { 128, 512, 2048, 8192, 0 };
static const double answers[] = { 64, 256, 512, 1024, 0 };
static const double loads[] = { 0.1, 1, 10, 100, 0 };
static const double peaks[] = { 1, 2, 3, 5, 0 };
static const double waits[] = { 0.1, 0.5, 2, 10, 30, 0 };
static const double first_words[] = { 0.5, 1, 2, 5, 0 };
static const double piles[] = { 1000, 100000, 1000000, 10000000, 0 };
static const double steps[] = { 4, 20, 30, 50, 0 };
static const double money[] = { 20, 100, 500, 2000, 10000, 0 };
static const double hours[] = { 1, 6, 24, 72, 168, 0 };
static const double bytes[] = { 2000, 20000, 110000, 1000000, 0 };

static const QmQuestion table[] = {
  { "task", QM_PAGE_TASK, QM_ANSWER_CHOICE, N_("What do you want to do?"), NULL, NULL, 0, 0, tasks, NULL, NULL },
  { "activity", QM_PAGE_ACTIVITY, QM_ANSWER_CHOICE, N_("Train it or use it?"), NULL, NULL, 0, 0, activities, NULL, NULL },
  { "training.method", QM_PAGE_ACTIVITY, QM_ANSWER_CHOICE, N_("How much of the model may change?"), N_("Fine-tuning method"), NULL, 0, 0,
    methods, NULL, fine_tunes_large },
  { "model.id", QM_PAGE_MODEL, QM_ANSWER_WORD, N_("Which model?"), N_("A name of the catalog"), NULL, 0, 0, NULL, NULL, NULL },
  { "training.samples", QM_PAGE_SCALE, QM_ANSWER_NUMBER, N_("How many examples do you have?"), N_("Samples in one epoch"), N_("samples"),
    1, 1e12, NULL, chats, trains_on_samples },
  { "training.tokens", QM_PAGE_SCALE, QM_ANSWER_NUMBER, N_("How much text do you have?"), N_("Tokens; a word is about 1.3"), N_("tokens"),
    1000, 1e14, NULL, many_tokens, pre_trains },
  { "training.epochs", QM_PAGE_SCALE, QM_ANSWER_NUMBER, N_("How often is all of it seen?"), N_("Epochs"), NULL, 0.01, 1000, NULL, few_epochs,
    trains_a_network },
  { "training.sequence_length", QM_PAGE_SCALE, QM_ANSWER_NUMBER, N_("How long is a text at most?"), N_("Sequence length"), N_("tokens"), 16,
    1048576, NULL, lengths, trains_on_text },
  { "training.image_size", QM_PAGE_SCALE, QM_ANSWER_NUMBER, N_("How large are the pictures?"), N_("Side length"), N_("pixels"), 16, 4096,
    NULL, sizes, trains_on_images },
  { "training.global_batch", QM_PAGE_SCALE, QM_ANSWER_NUMBER, N_("How many examples for one step?"), N_("Global batch size"), N_("samples"),
    1, 1e6, NULL, batches, trains_a_network },
  { "tabular.features", QM_PAGE_SCALE, QM_ANSWER_NUMBER, N_("How many columns?"), N_("Features"), NULL, 1, 100000, NULL, columns,
    trains_a_table },
  { "tabular.trees", QM_PAGE_SCALE, QM_ANSWER_NUMBER, N_("How many trees?"), N_("Boosting rounds"), NULL, 1, 100000, NULL, trees,
    trains_a_table },
  { "data.bytes_per_sample", QM_PAGE_SCALE, QM_ANSWER_NUMBER, N_("How large is an example on disk?"), N_("Bytes per sample"), N_("bytes"), 1,
    1e10, NULL, bytes, trains_a_network },
  { "data.storage", QM_PAGE_SCALE, QM_ANSWER_CHOICE, N_("Where do the data lie?"), N_("Storage"), NULL, 0, 0, storages, NULL,
    trains_a_network },
  { "serving.requests_per_second", QM_PAGE_SCALE, QM_ANSWER_NUMBER, N_("How many requests come in a second?"), N_("On average over the day"),
    N_("requests/s"), 0.0001, 100000, NULL, loads, serves },
  { "serving.peak_factor", QM_PAGE_SCALE, QM_ANSWER_NUMBER, N_("How much busier is the busiest time?"), N_("Peak over mean"), NULL, 1, 100,
    NULL, peaks, serves },
  { "serving.samples", QM_PAGE_SCALE, QM_ANSWER_NUMBER, N_("How many pieces are there to work through?"), N_("Samples in all"),
    N_("samples"), 1, 1e12, NULL, piles, works_through },
  { "serving.input_tokens", QM_PAGE_SCALE, QM_ANSWER_NUMBER, N_("How long is a question?"), N_("Input tokens"), N_("tokens"), 1, 1048576,
    NULL, questions, reads_text },
  { "serving.output_tokens", QM_PAGE_SCALE, QM_ANSWER_NUMBER, N_("How long is an answer?"), N_("Output tokens"), N_("tokens"), 1, 131072,
    NULL, answers, writes_text },
  { "serving.denoising_steps", QM_PAGE_SCALE, QM_ANSWER_NUMBER, N_("How many steps for a picture?"), N_("Denoising steps"), NULL, 1, 1000,
    NULL, steps, makes_images },
  { "serving.latency_p99_seconds", QM_PAGE_SCALE, QM_ANSWER_NUMBER, N_("How long may the slowest answer take?"),
    N_("99 of 100 are faster: latency p99"), N_("seconds"), 0.001, 3600, NULL, waits, serves },
  { "serving.first_token_seconds", QM_PAGE_SCALE, QM_ANSWER_NUMBER, N_("How soon must the first word come?"), N_("Time to first token"),
    N_("seconds"), 0.01, 600, NULL, first_words, writes_text },
  { "stage", QM_PAGE_STAGE, QM_ANSWER_CHOICE, N_("Where are you in the project?"), NULL, NULL, 0, 0, stages, NULL, NULL },
  { "limits.money", QM_PAGE_BUDGET, QM_ANSWER_MONEY, N_("How much may it cost?"), N_("Of the whole job; of a month where people use it"),
    NULL, 0, 1e9, NULL, money, NULL },
  { "limits.hours", QM_PAGE_BUDGET, QM_ANSWER_HOURS, N_("How long may it take?"), N_("Deadline"), N_("hours"), 0.01, 100000, NULL, hours,
    trains },
  { "limits.objective", QM_PAGE_BUDGET, QM_ANSWER_CHOICE, N_("What matters most?"), NULL, NULL, 0, 0, objectives, NULL, NULL },
  { "limits.min_accuracy", QM_PAGE_BUDGET, QM_ANSWER_FRACTION, N_("How good must it be at least?"), N_("Top-1 accuracy on ImageNet"), NULL, 0,
    1, NULL, NULL, classifies },
  { "limits.headroom", QM_PAGE_BUDGET, QM_ANSWER_FRACTION, N_("How much memory is to stay free?"), N_("Headroom"), NULL, 0, 0.9, NULL, NULL,
    NULL },
  { "places.this_computer", QM_PAGE_BUDGET, QM_ANSWER_YES_NO, N_("May it run on this computer?"), NULL, NULL, 0, 0, NULL, NULL, NULL },
  { "places.buy", QM_PAGE_BUDGET, QM_ANSWER_YES_NO, N_("May something be bought?"), NULL, NULL, 0, 0, NULL, NULL, NULL },
  { "places.on_premises", QM_PAGE_BUDGET, QM_ANSWER_YES_NO, N_("Must the data stay with you?"), N_("No cloud"), NULL, 0, 0, NULL, NULL,
    NULL },
  { "places.spot", QM_PAGE_BUDGET, QM_ANSWER_CHOICE, N_("May the machine be taken away for a lower price?"), N_("Spot machines"), NULL, 0, 0,
    spots, NULL, NULL },
};

static const struct {
  const char *title;
  const char *name;
} pages[QM_N_PAGES] = {
  [QM_PAGE_TASK] = { N_("What do you want to do?"), N_("Task") },
  [QM_PAGE_ACTIVITY] = { N_("Train it or use it?"), N_("Activity") },
  [QM_PAGE_MODEL] = { N_("Which model?"), N_("Model") },
  [QM_PAGE_SCALE] = { N_("How much data, how many people?"), N_("Data and people") },
  [QM_PAGE_STAGE] = { N_("Where are you in the project?"), N_("Project stage") },
  [QM_PAGE_BUDGET] = { N_("Budget and limits"), N_("Budget and limits") },
  [QM_PAGE_REVIEW] = { N_("Is everything right?"), N_("Review") },
};

/**
 * qm_flow_n_questions:
 *
 * Returns: how many questions there are
 */
guint
qm_flow_n_questions (void)
{
  return G_N_ELEMENTS (table);
}

/**
 * qm_flow_question:
 * @index: from 0
 *
 * Returns: (transfer none): a question, in the order in which they are asked
 */
const QmQuestion *
qm_flow_question (guint index)
{
  g_return_val_if_fail (index < G_N_ELEMENTS (table), NULL);

  return &table[index];
}

/**
 * qm_flow_find:
 * @field: a field of the plan, e.g. `training.epochs`
 *
 * Returns: (transfer none) (nullable): the question that asks for it
 */
const QmQuestion *
qm_flow_find (const char *field)
{
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    if (strcmp (table[i].field, field) == 0)
      return &table[i];

  return NULL;
}

/**
 * qm_flow_page_title:
 * @page: a page of the wizard
 *
 * Returns: (transfer none): its title, a question; to be translated
 */
const char *
qm_flow_page_title (QmPage page)
{
  return pages[page].title;
}

/**
 * qm_flow_page_name:
 * @page: a page of the wizard
 *
 * Returns: (transfer none): its short name; to be translated
 */
const char *
qm_flow_page_name (QmPage page)
{
  return pages[page].name;
}
