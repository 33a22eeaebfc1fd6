/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "decide/qm-choices.h"

/* A number format gains where the device has units or kernels for it, and never
 * elsewhere: on every graphics device of the catalog. */

#define PLAN(text) "{'format': 'quartermaster-plan', 'version': 1, " text "}"
#define ROUNDING (1 + 1e-9)

static QmCatalog *catalog;
static QmEstimator *estimator;

/* With @word in the place of the one that stands there as %s. */
static QmEvaluator *
prepare (const char *text,
         const char *word)
{
  g_auto (GStrv) parts = g_strsplit (text, "%s", -1);
  g_autofree char *whole = g_strjoinv (word, parts);
  g_autofree char *json = g_strdelimit (g_strdup (whole), "'", '"');
  g_autoptr (GError) error = NULL;
  g_autoptr (QmPlan) plan = qm_plan_from_data (json, -1, NULL, &error);
  g_autoptr (QmResolved) resolved = NULL;

  g_assert_no_error (error);
  resolved = qm_resolve (plan, catalog, NULL, NULL, &error);
  g_assert_no_error (error);

  return qm_evaluator_new (estimator, resolved->plan, resolved->model);
}

static QmEstimate
evaluate (const QmEvaluator *evaluator,
          const QmDevice    *device,
          int                batch)
{
  QmConfiguration configuration = { .devices = 1, .gpu_layers = -1, .micro_batch = batch };
  QmEstimate estimate;

  qm_estimate_clear (&estimate);
  qm_evaluator_evaluate (evaluator, device, &configuration, &estimate);

  return estimate;
}

static double
rate (const QmEvaluator *evaluator,
      const QmDevice    *device,
      int                batch)
{
  QmEstimate estimate = evaluate (evaluator, device, batch);

  return estimate.throughput.known ? estimate.throughput.per_second.p50 : NAN;
}

static void
assert_at_most (const QmDevice *device,
                double          found,
                double          most)
{
  if (found <= most * ROUNDING)
    return;

  g_test_message ("%s: %g, at most %g was expected", device->id, found, most);
  g_test_fail ();
}

static gboolean
is_graphics (const QmDevice *device)
{
  return (device->vendor == QM_VENDOR_NVIDIA || device->vendor == QM_VENDOR_AMD) && device->tflops_fp32 > 0 &&
         device->device_class != QM_DEVICE_CLASS_CPU && device->device_class != QM_DEVICE_CLASS_NPU;
}

/* Calls @check with every graphics device. */
static void
on_every_device (void (*check) (const QmDevice *device, gpointer data),
                 gpointer data)
{
  guint n = 0;

  for (guint i = 0; i < qm_catalog_n_devices (catalog); i++)
    {
      const QmDevice *device = qm_catalog_device (catalog, i);

      if (!is_graphics (device))
        continue;
      check (device, data);
      n++;
    }

  g_assert_cmpuint (n, >, 100);
}

static const char *const training_plans[] = {
  PLAN ("'task': 'language-model', 'activity': 'train', 'model': {'id': 'llama-3.2-1b'},"
        " 'training': {'sequence_length': 2048, 'precision': '%s'}"),
  PLAN ("'task': 'language-model', 'activity': 'fine-tune', 'model': {'id': 'llama-3.1-8b'},"
        " 'training': {'sequence_length': 1024, 'method': 'lora', 'precision': '%s'}"),
  PLAN ("'task': 'text-encoder', 'activity': 'train', 'model': {'id': 'bert-large-uncased'},"
        " 'training': {'sequence_length': 512, 'precision': '%s'}"),
  PLAN ("'task': 'image-classification', 'activity': 'train', 'model': {'id': 'resnet-50'}, 'training': {'precision': '%s'}"),
  PLAN ("'task': 'image-generation', 'activity': 'train', 'model': {'id': 'stable-diffusion-2.0-base-unet'},"
        " 'training': {'image_size': 512, 'precision': '%s'}"),
  PLAN ("'task': 'recommender', 'activity': 'train', 'model': {'id': 'ncf'}, 'training': {'precision': '%s'}"),
};

enum { FP32, TF32, FP16, BF16, FP8, FP4, N_PRECISIONS };

static const char *const precisions[N_PRECISIONS] = { "fp32", "tf32", "amp-fp16", "amp-bf16", "fp8", "fp4" };

static void
check_training (const QmDevice *device,
                gpointer        data)
{
  QmEvaluator *const *evaluators = data;
  double rates[N_PRECISIONS];
  double half;

  for (int i = 0; i < N_PRECISIONS; i++)
    {
      rates[i] = rate (evaluators[i], device, 8);
      if (isnan (rates[i]))
        return;
    }

  half = fmax (rates[FP16], rates[BF16]);
  if (!(device->tflops_fp8 > 0))
    assert_at_most (device, rates[FP8], half);
  if (!(device->tflops_fp4 > 0))
    assert_at_most (device, rates[FP4], fmax (half, rates[FP8]));
  if (!(device->tflops_tf32 > 0))
    assert_at_most (device, rates[TF32], fmax (half, rates[FP32]));

  /* and none loses tens of times where its units are slow */
  assert_at_most (device, 0.9 * rates[FP32], rates[TF32]);
  assert_at_most (device, 0.9 * rates[FP32], half);
}

static void
test_training (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (training_plans); i++)
    {
      QmEvaluator *evaluators[N_PRECISIONS];

      for (int j = 0; j < N_PRECISIONS; j++)
        evaluators[j] = prepare (training_plans[i], precisions[j]);
      on_every_device (check_training, evaluators);
      for (int j = 0; j < N_PRECISIONS; j++)
        qm_evaluator_free (evaluators[j]);
    }
}

enum { PLAIN, LOW8, LOW4, N_WIDTHS };

/* Unfused frameworks and engines alike; formats that no kernel computes widen. */
static const char *const running_plans[] = {
  PLAN ("'task': 'image-classification', 'activity': 'serve', 'model': {'id': 'resnet-50'}, 'serving': {'engine': 'pytorch', 'weights': '%s'}"),
  PLAN ("'task': 'text-encoder', 'activity': 'serve', 'model': {'id': 'bert-large-uncased'}, 'serving': {'engine': 'tensorrt', 'weights': '%s'}"),
  PLAN ("'task': 'image-generation', 'activity': 'serve', 'model': {'id': 'sdxl'}, 'serving': {'engine': 'pytorch', 'weights': '%s'}"),
  PLAN ("'task': 'speech', 'activity': 'serve', 'model': {'id': 'whisper-large-v3'}, 'serving': {'engine': 'transformers', 'weights': '%s'}"),
};

static void
check_running (const QmDevice *device,
               gpointer        data)
{
  QmEvaluator *const *evaluators = data;
  double plain = rate (evaluators[PLAIN], device, 16);
  gboolean kernels = device->vendor == QM_VENDOR_NVIDIA && device->compute_capability >= 8;

  if (isnan (plain) || kernels)
    return;
  if (!(device->tflops_fp8 > 0))
    assert_at_most (device, rate (evaluators[LOW8], device, 16), plain);
  if (!(device->tflops_fp4 > 0))
    assert_at_most (device, rate (evaluators[LOW4], device, 16), fmax (plain, rate (evaluators[LOW8], device, 16)));
}

static void
test_running (void)
{
  const char *const words[N_WIDTHS] = { "fp16", "fp8", "fp4" };

  for (guint i = 0; i < G_N_ELEMENTS (running_plans); i++)
    {
      QmEvaluator *evaluators[N_WIDTHS];

      for (int j = 0; j < N_WIDTHS; j++)
        evaluators[j] = prepare (running_plans[i], words[j]);
      on_every_device (check_running, evaluators);
      for (int j = 0; j < N_WIDTHS; j++)
        qm_evaluator_free (evaluators[j]);
    }
}

#define SERVE(engine, batch) \
  PLAN ("'task': 'language-model', 'activity': 'serve', 'model': {'id': 'llama-3.1-8b'}, 'serving': {'engine': '" engine "'," \
        " 'weights': '%s', 'input_tokens': 1024, 'output_tokens': 256, 'concurrency': " #batch "}")

static double
decoding (const QmEvaluator *evaluator,
          const QmDevice    *device)
{
  return evaluate (evaluator, device, 0).serving.decode_tokens_per_second.p50;
}

static double
reading (const QmEvaluator *evaluator,
         const QmDevice    *device)
{
  return evaluate (evaluator, device, 0).serving.prefill_tokens_per_second.p50;
}

typedef double (*Measure) (const QmEvaluator *evaluator,
                           const QmDevice    *device);

typedef struct {
  const QmEvaluator *narrow;
  const QmEvaluator *plain;
  Measure measure;
  gboolean (*applies) (const QmDevice *device);
} Pair;

static void
check_pair (const QmDevice *device,
            gpointer        data)
{
  const Pair *pair = data;

  if (pair->applies == NULL || pair->applies (device))
    assert_at_most (device, pair->measure (pair->narrow, device), pair->measure (pair->plain, device));
}

static void
assert_no_gain (const char *plan,
                const char *format,
                Measure     measure,
                gboolean  (*applies) (const QmDevice *device))
{
  g_autoptr (QmEvaluator) narrow = prepare (plan, format);
  g_autoptr (QmEvaluator) plain = prepare (plan, "fp16");
  Pair pair = { narrow, plain, measure, applies };

  on_every_device (check_pair, &pair);
}

static gboolean
has_no_fp8 (const QmDevice *device)
{
  return !(device->tflops_fp8 > 0);
}

static gboolean
has_no_fp8_kernels (const QmDevice *device)
{
  return has_no_fp8 (device) && device->compute_capability < 8;
}

static gboolean
has_no_fp4_kernels (const QmDevice *device)
{
  return !(device->tflops_fp4 > 0) && device->compute_capability < 8;
}

/* bitsandbytes unpacks 4-bit weights into memory for more than one token at a time
 * (its MatMul4Bit), so that batches gain nothing and prompts neither. */
static void
test_unpacked_in_memory (void)
{
  assert_no_gain (SERVE ("transformers", 64), "nf4", decoding, NULL);
  assert_no_gain (SERVE ("transformers", 16), "nf4", decoding, NULL);
  assert_no_gain (SERVE ("vllm", 64), "nf4", decoding, NULL);
  assert_no_gain (SERVE ("transformers", 1), "nf4", reading, NULL);
  assert_no_gain (SERVE ("vllm", 1), "nf4", reading, NULL);
}

/* Weights alone in 4 bits are multiplied in 16: long prompts, which products bind,
 * gain nothing. */
static void
test_weights_alone (void)
{
  const char *const prompts = PLAN ("'task': 'language-model', 'activity': 'serve', 'model': {'id': 'llama-3.1-8b'},"
                                    " 'serving': {'engine': 'vllm', 'weights': '%s', 'input_tokens': 8192, 'output_tokens': 1, 'concurrency': 8}");
  g_autoptr (QmEvaluator) plain = prepare (prompts, "fp16");
  const char *const formats[] = { "awq-int4", "gptq-int4" };
  const QmDevice *device = qm_catalog_find_device (catalog, "a100-sxm4-80gb");

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    {
      g_autoptr (QmEvaluator) narrow = prepare (prompts, formats[i]);

      g_assert_cmpfloat (reading (narrow, device), <, 1.02 * reading (plain, device));
    }
}

/* No V100 or T4 has 8-bit floating-point units or kernels that unpack such
 * weights; an A100 has the latter: one stream gains, prompts do not. */
static void
test_floating_point (void)
{
  g_autoptr (QmEvaluator) narrow = prepare (SERVE ("vllm", 1), "fp8"), plain = prepare (SERVE ("vllm", 1), "fp16");
  g_autoptr (QmEvaluator) narrow_batch = prepare (SERVE ("vllm", 8), "fp8"), plain_batch = prepare (SERVE ("vllm", 8), "fp16");
  const QmDevice *ampere = qm_catalog_find_device (catalog, "a100-sxm4-80gb");
  const QmDevice *hopper = qm_catalog_find_device (catalog, "h100-sxm5-80gb");

  assert_no_gain (SERVE ("vllm", 1), "fp8", decoding, has_no_fp8_kernels);
  assert_no_gain (SERVE ("vllm", 64), "fp8", decoding, has_no_fp8_kernels);
  assert_no_gain (SERVE ("sglang", 16), "fp8", decoding, has_no_fp8_kernels);
  assert_no_gain (SERVE ("transformers", 16), "fp8", decoding, has_no_fp8_kernels);
  assert_no_gain (SERVE ("vllm", 16), "fp4", decoding, has_no_fp4_kernels);

  g_assert_cmpfloat (decoding (narrow, ampere), >, 1.3 * decoding (plain, ampere));
  g_assert_cmpfloat (reading (narrow_batch, ampere), <, 1.02 * reading (plain_batch, ampere));
  g_assert_cmpfloat (reading (narrow_batch, hopper), >, 1.3 * reading (plain_batch, hopper));
}

int
main (int   argc,
      char *argv[])
{
  g_autoptr (GError) error = NULL;
  g_autofree char *directory = NULL;
  int status;

  g_test_init (&argc, &argv, NULL);
  directory = g_build_filename (g_getenv ("QM_DATA_DIR"), "catalog", NULL);
  catalog = qm_catalog_load (directory, NULL, &error);
  g_assert_no_error (error);
  estimator = qm_estimator_new (catalog, &error);
  g_assert_no_error (error);

  g_test_add_func ("/number-formats/training", test_training);
  g_test_add_func ("/number-formats/running", test_running);
  g_test_add_func ("/number-formats/unpacked-in-memory", test_unpacked_in_memory);
  g_test_add_func ("/number-formats/weights-alone", test_weights_alone);
  g_test_add_func ("/number-formats/floating-point", test_floating_point);
  status = g_test_run ();

  g_clear_object (&estimator);
  g_clear_object (&catalog);
  return status;
}
