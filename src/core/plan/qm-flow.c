/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/qm-flow.h"

#include <glib/gi18n.h>
#include <string.h>

/* --------------------------------------------------------- who is asked what */

#define T(task) (1u << QM_TASK_##task)

static gboolean
is_one_of (const QmPlan *plan,
           guint         tasks)
{
  return (tasks & (1u << plan->task)) != 0;
}

static gboolean
trains (const QmPlan *plan)
{
  return qm_plan_is_training (plan);
}

static gboolean
can_be_tuned (const QmPlan *plan)
{
  return plan->activity == QM_ACTIVITY_FINE_TUNE && plan->task != QM_TASK_TABULAR;
}

static gboolean
pre_trains (const QmPlan *plan)
{
  return plan->task == QM_TASK_LANGUAGE_MODEL && plan->activity == QM_ACTIVITY_TRAIN;
}

static gboolean
trains_on_chats (const QmPlan *plan)
{
  return plan->task == QM_TASK_LANGUAGE_MODEL && plan->activity == QM_ACTIVITY_FINE_TUNE;
}

static gboolean
trains_on_texts (const QmPlan *plan)
{
  return trains (plan) && plan->task == QM_TASK_TEXT_ENCODER;
}

static gboolean
trains_on_text (const QmPlan *plan)
{
  return trains (plan) && is_one_of (plan, T (LANGUAGE_MODEL) | T (TEXT_ENCODER));
}

static gboolean
trains_on_images (const QmPlan *plan)
{
  return trains (plan) && is_one_of (plan, T (IMAGE_CLASSIFICATION) | T (OBJECT_DETECTION) | T (IMAGE_GENERATION));
}

static gboolean
trains_on_speech (const QmPlan *plan)
{
  return trains (plan) && plan->task == QM_TASK_SPEECH;
}

static gboolean
trains_on_clicks (const QmPlan *plan)
{
  return trains (plan) && plan->task == QM_TASK_RECOMMENDER;
}

static gboolean
trains_a_table (const QmPlan *plan)
{
  return trains (plan) && plan->task == QM_TASK_TABULAR;
}

static gboolean
trains_something_else (const QmPlan *plan)
{
  return trains (plan) && plan->task == QM_TASK_OTHER;
}

static gboolean
trains_a_network (const QmPlan *plan)
{
  return trains (plan) && plan->task != QM_TASK_TABULAR;
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
ends (const QmPlan *plan)
{
  return !serves (plan);
}

static gboolean
writes_text (const QmPlan *plan)
{
  return qm_plan_is_inference (plan) && plan->task == QM_TASK_LANGUAGE_MODEL;
}

static gboolean
chats (const QmPlan *plan)
{
  return serves (plan) && plan->task == QM_TASK_LANGUAGE_MODEL;
}

static gboolean
reads_text (const QmPlan *plan)
{
  return qm_plan_is_inference (plan) && is_one_of (plan, T (LANGUAGE_MODEL) | T (TEXT_ENCODER));
}

static gboolean
looks_at_images (const QmPlan *plan)
{
  return qm_plan_is_inference (plan) && is_one_of (plan, T (IMAGE_CLASSIFICATION) | T (OBJECT_DETECTION));
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

static gboolean
has_known_models (const QmPlan *plan)
{
  return plan->task != QM_TASK_OTHER;
}

static gboolean
is_known_by_size (const QmPlan *plan)
{
  return plan->task == QM_TASK_OTHER && plan->model.id[0] == '\0' && plan->model.file == NULL && plan->model.architecture == NULL;
}

static gboolean
may_rent (const QmPlan *plan)
{
  return plan->places.on_premises != QM_TERNARY_YES && plan->places.cloud.n != 0;
}

/* Asked only to take it back. */
static gboolean
is_excluding (const QmPlan *plan)
{
  return plan->places.excluded.n > 0;
}

static gboolean
may_leave (const QmPlan *plan)
{
  return plan->places.on_premises != QM_TERNARY_YES;
}

/* ------------------------------------------------------------------- options */

#define END { NULL, NULL, NULL, NULL, NULL }

static const QmOption tasks[] = {
  { "language-model", N_("Chat and writing"), N_("Assistants, summaries, code"), "qm-chat-symbolic", N_("language model") },
  { "text-encoder", N_("Sort and search text"), N_("Spam, topics, semantic search"), "qm-text-symbolic", N_("text encoder") },
  { "image-classification", N_("Recognise pictures"), N_("Which of these is it?"), "qm-image-symbolic", N_("image classification") },
  { "object-detection", N_("Find things in pictures"), N_("Where is it, what outline?"), "qm-detect-symbolic",
    N_("detection, segmentation") },
  { "image-generation", N_("Make pictures"), N_("From a prompt or a sketch"), "qm-paint-symbolic", N_("diffusion model") },
  { "speech", N_("Speech"), N_("Minutes, subtitles, dictation"), "qm-mic-symbolic", N_("speech recognition") },
  { "recommender", N_("Recommend"), N_("Feeds, shops, adverts"), "qm-cart-symbolic", N_("recommender") },
  { "tabular", N_("Tables and forecasts"), N_("Churn, prices, demand"), "qm-table-symbolic", N_("random forest, boosting") },
  { "other", N_("Something else"), N_("I only know its size"), "qm-other-symbolic", N_("any network") },
  END,
};

static const QmOption activities[] = {
  { "train", N_("Train from scratch"), N_("Begin with nothing and learn everything from your data. Rarely needed."), "qm-rocket-symbolic",
    N_("training, pre-training") },
  { "fine-tune", N_("Fine-tune"), N_("Start from a finished model and teach it your style or your facts. Most newcomers want this."),
    "qm-tune-symbolic", N_("fine-tuning") },
  { "serve", N_("Serve people"), N_("Answer requests as they come, day and night."), "qm-chat-symbolic", N_("online inference") },
  { "batch-inference", N_("Run over a batch"), N_("Work through a pile of data once. Nobody waits for a single answer."), "qm-db-symbolic",
    N_("offline inference") },
  END,
};

static const QmOption methods[] = {
  { "full", N_("Change all of it"), N_("Best quality. Needs the most memory."), NULL, N_("full fine-tuning") },
  { "lora", N_("Train a small add-on"), N_("Nearly the same quality with far less memory."), NULL, N_("LoRA") },
  { "qlora", N_("Add-on on a compressed model"), N_("Fits a desktop card. Slower, and a little less exact."), NULL,
    N_("QLoRA, 4-bit weights") },
  { "linear-probe", N_("Only the last layer"), N_("Quick, for tasks close to what the model already knows."), NULL, N_("linear probe") },
  END,
};

static const QmOption stages[] = {
  { "prototype", N_("Prototype"), N_("Ideas change every day"), "qm-bulb-symbolic",
    N_("You try whether it works at all: a little data, a small model, many short runs. Wrong turns are normal.") },
  { "development", N_("Development"), N_("The plan stands, the details move"), "qm-tune-symbolic",
    N_("The model and the data are chosen. You tune settings with whole runs and compare them.") },
  { "production", N_("Production"), N_("It must work, every time"), "qm-rocket-symbolic",
    N_("One last full training, then people rely on it. Speed, safety and a spare matter more than the price of one run.") },
  END,
};

static const QmOption storages[] = {
  { "nvme", N_("Fast disk in the machine"), N_("What most machines come with"), NULL, N_("NVMe") },
  { "sata-ssd", N_("Ordinary solid-state disk"), N_("Older machines"), NULL, N_("SATA SSD") },
  { "hdd", N_("Spinning disk"), N_("Large and slow"), NULL, N_("hard disk") },
  { "network", N_("Network drive"), N_("Shared with other machines"), NULL, N_("NFS, SMB") },
  { "object-store", N_("Cloud storage"), N_("Fetched while the job runs"), NULL, N_("object store") },
  { "memory", N_("In memory"), N_("Loaded before the job starts"), NULL, N_("RAM") },
  END,
};

static const QmOption objectives[] = {
  { "balanced", N_("A fair balance"), N_("Money and time both count"), "qm-target-symbolic", NULL },
  { "cheapest", N_("As cheap as possible"), N_("Time matters only for the deadline"), "qm-coin-symbolic", NULL },
  { "fastest", N_("As fast as possible"), N_("Money matters only for the budget"), "qm-clock-symbolic", NULL },
  { "most-accurate", N_("As good as possible"), N_("Quality first, then money"), "qm-star-symbolic", NULL },
  END,
};

static const QmOption spots[] = {
  { "allowed", N_("Allowed when it pays"), N_("Far cheaper; interruptions are counted in"), NULL, NULL },
  { "never", N_("Never"), N_("Only machines that stay"), NULL, NULL },
  { "preferred", N_("Wherever there are any"), N_("Cheapest, if nobody waits"), NULL, NULL },
  END,
};

/* -------------------------------------------------------------------- typical */

static const double some_chats[] = { 1000, 5000, 20000, 100000, 0 };
static const double some_texts[] = { 10000, 50000, 500000, 20000000, 0 };
static const double some_pictures[] = { 1000, 5000, 50000, 1281167, 0 };
static const double some_segments[] = { 1200, 12000, 120000, 1200000, 0 };
static const double some_clicks[] = { 1e6, 1e7, 1e8, 1e9, 0 };
static const double some_rows[] = { 10000, 100000, 1e6, 1e7, 0 };
static const double some_samples[] = { 1000, 10000, 100000, 1e6, 0 };
static const double many_tokens[] = { 1e9, 1e10, 1e11, 1e12, 0 };
static const double few_epochs[] = { 1, 2, 3, 5, 0 };
static const double more_epochs[] = { 1, 10, 50, 90, 0 };
static const double lengths[] = { 200, 512, 750, 2048, 4000, 0 };
static const double picture_sizes[] = { 224, 384, 512, 640, 1024, 0 };
static const double columns[] = { 10, 50, 200, 1000, 0 };
static const double some_trees[] = { 100, 500, 1000, 0 };
static const double question_lengths[] = { 128, 512, 2048, 8192, 0 };
static const double answer_lengths[] = { 64, 256, 512, 1024, 0 };
static const double loads[] = { 0.1, 1, 10, 100, 0 };
static const double peaks[] = { 1, 2, 3, 5, 0 };
static const double waits[] = { 0.2, 1, 5, 12, 30, 0 };
static const double first_words[] = { 0.5, 1, 2, 5, 0 };
static const double piles[] = { 1000, 100000, 1e6, 1e7, 0 };
static const double denoising[] = { 4, 20, 30, 50, 0 };
static const double amounts_of_money[] = { 20, 100, 500, 2000, 10000, 0 };
static const double amounts_of_hours[] = { 1, 6, 12, 24, 72, 168, 0 };
static const double parameter_counts[] = { 1e7, 1e8, 1e9, 7e9, 7e10, 0 };
static const double headrooms[] = { 0.1, 0.2, 0.3, 0 };
static const double accuracies[] = { 0.7, 0.75, 0.8, 0.85, 0 };

/* ------------------------------------------------------------------ questions */

#define CHOICE(field, page, title, gloss, options, applies) \
  { field, QM_PAGE_##page, QM_ANSWER_CHOICE, title, gloss, NULL, 0, 0, options, NULL, applies }
#define NUMBER(field, title, gloss, unit, minimum, maximum, typical, applies) \
  { field, QM_PAGE_SCALE, QM_ANSWER_NUMBER, title, gloss, unit, minimum, maximum, NULL, typical, applies }
#define SAMPLES(title, gloss, unit, typical, applies) NUMBER ("training.samples", title, gloss, unit, 1, 1e12, typical, applies)
#define LIMIT(field, kind, title, gloss, unit, minimum, maximum, typical, applies) \
  { field, QM_PAGE_BUDGET, QM_ANSWER_##kind, title, gloss, unit, minimum, maximum, NULL, typical, applies }

static const QmQuestion table[] = {
  CHOICE ("task", TASK, N_("What do you want to do?"), NULL, tasks, NULL),
  CHOICE ("activity", ACTIVITY, N_("Train it or use it?"), NULL, activities, NULL),
  CHOICE ("training.method", ACTIVITY, N_("How much of the model do you want to change?"), N_("Fine-tuning method"), methods, can_be_tuned),
  { "model.id", QM_PAGE_MODEL, QM_ANSWER_WORD, N_("Which model?"), N_("Its name in the catalog, or its file or folder"), NULL, 0, 0, NULL, NULL, has_known_models },
  { "model.parameters", QM_PAGE_MODEL, QM_ANSWER_NUMBER, N_("How large is the model?"), N_("Parameters: the numbers it has learned"),
    N_("parameters"), 1000, 1e13, NULL, parameter_counts, is_known_by_size },

  SAMPLES (N_("How many example conversations?"), N_("One question with its answer is one example"), N_("examples"), some_chats, trains_on_chats),
  SAMPLES (N_("How many texts?"), N_("A sentence or a paragraph is one example"), N_("texts"), some_texts, trains_on_texts),
  SAMPLES (N_("How many pictures?"), N_("Samples in one pass through the data"), N_("pictures"), some_pictures, trains_on_images),
  SAMPLES (N_("How many pieces of speech?"), N_("Of thirty seconds each; an hour has 120"), N_("pieces"), some_segments, trains_on_speech),
  SAMPLES (N_("How many clicks or views?"), N_("Interactions in one pass through the data"), N_("interactions"), some_clicks, trains_on_clicks),
  SAMPLES (N_("How many rows?"), N_("One thing to predict for is one row"), N_("rows"), some_rows, trains_a_table),
  SAMPLES (N_("How many examples?"), N_("Samples in one pass through the data"), N_("examples"), some_samples, trains_something_else),
  NUMBER ("training.tokens", N_("How much text?"), N_("Counted in tokens: about three quarters of a word"), N_("tokens"), 1000, 1e15,
          many_tokens, pre_trains),
  NUMBER ("training.sequence_length", N_("How long is one example?"), N_("Counted in tokens: about three quarters of a word"), N_("tokens"),
          16, 1048576, lengths, trains_on_text),
  NUMBER ("training.image_size", N_("How large are the pictures?"), N_("Side of the square that the model sees"), N_("pixels"), 16, 4096,
          picture_sizes, trains_on_images),
  NUMBER ("training.epochs", N_("How many times through the data?"), N_("Epochs"), NULL, 0.01, 1000, few_epochs, trains_on_text),
  NUMBER ("training.epochs", N_("How many times through the data?"), N_("Epochs"), NULL, 0.01, 1000, more_epochs, trains_on_images),
  NUMBER ("training.epochs", N_("How many times through the data?"), N_("Epochs"), NULL, 0.01, 1000, few_epochs, trains_on_speech),
  NUMBER ("training.epochs", N_("How many times through the data?"), N_("Epochs"), NULL, 0.01, 1000, few_epochs, trains_on_clicks),
  NUMBER ("training.epochs", N_("How many times through the data?"), N_("Epochs"), NULL, 0.01, 1000, more_epochs, trains_something_else),
  NUMBER ("tabular.features", N_("How many columns?"), N_("Features"), N_("columns"), 1, 100000, columns, trains_a_table),
  NUMBER ("tabular.trees", N_("How many trees?"), N_("Boosting rounds"), N_("trees"), 1, 100000, some_trees, trains_a_table),
  CHOICE ("data.storage", SCALE, N_("Where is the data kept?"), N_("A slow disk can starve a fast card"), storages, trains_a_network),

  NUMBER ("serving.requests_per_second", N_("How many requests a second?"), N_("Average over the day: 30,000 people with 3 each make 1, 200 colleagues with 20 each 0.05"),
          N_("a second"), 0.0001, 100000, loads, serves),
  NUMBER ("serving.peak_factor", N_("How much busier is the busiest time?"), N_("Evening peak over the average"), N_("times"), 1, 100, peaks,
          serves),
  NUMBER ("serving.samples", N_("How many pieces are there to work through?"), N_("Documents, pictures, rows: samples in all"), N_("pieces"),
          1, 1e12, piles, works_through),
  NUMBER ("serving.input_tokens", N_("How long is what it reads?"), N_("Tokens: about three quarters of a word"), N_("tokens"), 1, 1048576,
          question_lengths, reads_text),
  NUMBER ("serving.output_tokens", N_("How long is what it writes?"), N_("Tokens: about three quarters of a word"), N_("tokens"), 1, 131072,
          answer_lengths, writes_text),
  NUMBER ("serving.image_size", N_("How large are the pictures?"), N_("Side of the square that the model sees"), N_("pixels"), 16, 4096,
          picture_sizes, looks_at_images),
  NUMBER ("serving.image_size", N_("How large are the pictures?"), N_("Side of the finished picture"), N_("pixels"), 64, 4096, picture_sizes,
          makes_images),
  NUMBER ("serving.denoising_steps", N_("How many steps for a picture?"), N_("Denoising steps; more seldom look better"), N_("steps"), 1,
          1000, denoising, makes_images),
  NUMBER ("serving.latency_p99_seconds", N_("Within how long must the answer be complete?"), N_("For 99 of 100 requests (p99 latency)"),
          N_("seconds"), 0.001, 3600, waits, serves),
  NUMBER ("serving.first_token_seconds", N_("How soon must the first word appear?"), N_("Time to first token"), N_("seconds"), 0.01, 600,
          first_words, chats),

  CHOICE ("stage", STAGE, N_("Where are you in the project?"), NULL, stages, NULL),

  LIMIT ("limits.money", MONEY, N_("How much money for this run?"), N_("Everything counted: machine, storage, failed starts"), NULL, 0, 1e9,
         amounts_of_money, ends),
  LIMIT ("limits.money", MONEY, N_("How much money a month?"), N_("Everything counted: machines, storage, spares"), NULL, 0, 1e9,
         amounts_of_money, serves),
  LIMIT ("limits.hours", HOURS, N_("When must it be ready?"), N_("Counted from the start of the run; a rented machine takes some minutes before it"), N_("hours"), 0.01, 100000,
         amounts_of_hours, ends),
  CHOICE ("limits.objective", BUDGET, N_("What matters most?"), N_("Within the limits above"), objectives, NULL),
  LIMIT ("limits.min_accuracy", FRACTION, N_("How good must it be at least?"), N_("Share of pictures recognised: top-1 on ImageNet"), NULL, 0,
         1, accuracies, classifies),
  LIMIT ("places.this_computer", YES_NO, N_("May it run on this computer?"), N_("Costs only electricity"), NULL, 0, 0, NULL, NULL),
  LIMIT ("places.buy", YES_NO, N_("May a card be bought?"), N_("Compared with renting"), NULL, 0, 0, NULL, NULL),
  LIMIT ("places.on_premises", YES_NO, N_("Must the data stay on your premises?"), N_("Rules out every cloud"), NULL, 0, 0, NULL, NULL),
  LIMIT ("places.cloud", WORDS, N_("From whom may machines be rented?"), N_("Cloud providers; no answer means any"), NULL, 0, 0, NULL,
         may_leave),
  LIMIT ("places.regions", WORDS, N_("In which regions?"), N_("As the providers name them; no answer means any"), NULL, 0, 0, NULL, may_rent),
  LIMIT ("places.excluded", WORDS, N_("What can you not get?"), N_("Offers or devices without a quota or sold out"), NULL, 0, 0, NULL, is_excluding),
  CHOICE ("places.spot", BUDGET, N_("Cheaper machines that may stop?"), N_("Spot instances: interruptions are counted in"), spots, may_rent),
  LIMIT ("limits.headroom", FRACTION, N_("How much memory is to stay free?"),
         /* xgettext:no-c-format */
         N_("Headroom for what no estimate foresees; 20% is usual"), NULL, 0, 0.9, headrooms, NULL),
};

static const struct {
  const char *title;
  const char *name;
  const char *intro;
} pages[QM_N_PAGES] = {
  [QM_PAGE_TASK] = { N_("What do you want to do?"), N_("Task"),
                     N_("Pick what is closest. Each choice changes the questions that follow, and you can come back at any time.") },
  [QM_PAGE_ACTIVITY] = { N_("Train it or use it?"), N_("Activity"), N_("Using a finished model needs far less hardware than changing it.") },
  [QM_PAGE_MODEL] = { N_("Which model?"), N_("Model"), N_("Pick a known one, read a file, or give only its size.") },
  [QM_PAGE_SCALE] = { N_("How much data, how many people?"), N_("Data and people"),
                      N_("A guess will do. What you leave open takes the usual value, shown in grey.") },
  [QM_PAGE_STAGE] = { N_("Where are you in the project?"), N_("Project stage"),
                      N_("Each stage may take other hardware. You get a plan for all three; this one is worked out first.") },
  [QM_PAGE_BUDGET] = { N_("What are your limits?"), N_("Budget and limits"),
                       N_("Leave open what does not matter to you. Colours show which hardware wins at each value: drag to see the answer change.") },
  [QM_PAGE_REVIEW] = { N_("Is everything right?"), N_("Review"),
                       N_("Everything that decides the answer is on this page. Select a line to change it; you come back here.") },
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
 * Returns: (transfer none) (nullable): the first question that asks for it
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
 * qm_flow_applies:
 * @question: a question
 * @plan: the answers so far
 *
 * Returns: whether it is asked
 */
gboolean
qm_flow_applies (const QmQuestion *question,
                 const QmPlan     *plan)
{
  return question->applies == NULL || question->applies (plan);
}

/**
 * qm_flow_find_for:
 * @field: a field of the plan, e.g. `training.epochs`
 * @plan: the answers so far
 *
 * Returns: (transfer none) (nullable): the question that asks for it in the
 *   words of the plan's task, where it is asked
 */
const QmQuestion *
qm_flow_find_for (const char   *field,
                  const QmPlan *plan)
{
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    if (strcmp (table[i].field, field) == 0 && qm_flow_applies (&table[i], plan))
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

/**
 * qm_flow_page_title_for:
 * @page: a page of the wizard
 * @plan: the answers so far
 *
 * Returns: (transfer none): its title, a question in the words of the plan's
 *   activity; to be translated
 */
const char *
qm_flow_page_title_for (QmPage        page,
                        const QmPlan *plan)
{
  if (page != QM_PAGE_SCALE || plan->activity == QM_ACTIVITY_UNSET)
    return pages[page].title;

  return serves (plan) ? N_("How many people, how fast?") : N_("How much data?");
}

/**
 * qm_flow_page_intro:
 * @page: a page of the wizard
 * @plan: the answers so far
 *
 * Returns: (transfer none): the line below the title; to be translated
 */
const char *
qm_flow_page_intro (QmPage        page,
                    const QmPlan *plan)
{
  if (page == QM_PAGE_MODEL && plan->task == QM_TASK_OTHER)
    return N_("The number of parameters is enough for a first answer; a file says more.");

  return pages[page].intro;
}
