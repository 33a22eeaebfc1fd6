/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "decide/qm-choices.h"
#include "decide/qm-placement.h"
#include "estimate/qm-device-view.h"

/* Devices that are not simply one card with one memory: slices, cards that
 * differ, several memories in one device, memory shared with the processor. */

#define GIB (1024.0 * 1024 * 1024)

#define SERVE(model, engine, weights) \
  "'task': 'language-model', 'activity': 'serve', 'model': {'id': '" model "'}, 'serving': {'engine': '" engine "'," \
  " 'weights': '" weights "', 'input_tokens': 2048, 'output_tokens': 256, 'concurrency': 1}"

#define TRAIN \
  "'task': 'language-model', 'activity': 'train', 'model': {'parameters': 1e9}, 'training': {'framework': 'pytorch'," \
  " 'precision': 'bf16', 'sequence_length': 1024, 'activation_checkpointing': 'full'}"

static QmCatalog *catalog;
static QmEstimator *estimator;

static QmEstimate
estimate_of (const char *job,
             const char *configuration)
{
  g_autofree char *text = g_strdup_printf ("{'format': 'quartermaster-plan', 'version': 1, %s, 'configuration': {%s}}", job, configuration);
  g_autofree char *json = g_strdelimit (g_strdup (text), "'", '"');
  g_autoptr (GError) error = NULL;
  g_autoptr (QmPlan) plan = qm_plan_from_data (json, -1, NULL, &error);
  g_autoptr (QmResolved) resolved = NULL;
  QmChoice choice;
  QmEstimate estimate;

  g_assert_no_error (error);
  resolved = qm_resolve (plan, catalog, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (qm_estimate_pinned (estimator, resolved, NULL, &choice, &error));
  estimate = choice.estimate;
  qm_choice_clear (&choice);

  return estimate;
}

/* nvidia-smi mig -lgip on an H100: 1g.10gb has 9.75 GiB and 16 of 132
 * multiprocessors; the guide gives it one of eight memory slices. */
static void
test_slice (void)
{
  const QmDevice *whole = qm_catalog_find_device (catalog, "h100-sxm5-80gb");
  const QmDevice *slice = qm_catalog_find_device (catalog, "h100-sxm5-80gb-1g.10gb");
  QmEstimate part, all;

  g_assert_nonnull (slice);
  g_assert_true (slice->whole == whole);
  g_assert_cmpfloat (slice->usable_bytes, ==, 9.75 * GIB);
  g_assert_cmpfloat_with_epsilon (slice->bandwidth_bytes_per_second, whole->bandwidth_bytes_per_second / 8, 1);
  g_assert_cmpfloat_with_epsilon (slice->tflops_bf16 / whole->tflops_bf16, 16.0 / 132, 1e-9);
  g_assert_cmpfloat_with_epsilon (qm_catalog_find_device (catalog, "a100-sxm4-40gb-3g.20gb")->tflops_bf16,
                                  qm_catalog_find_device (catalog, "a100-sxm4-40gb")->tflops_bf16 * 3 / 7, 1e-6);

  part = estimate_of (SERVE ("llama-3.1-8b", "vllm", "bf16"), "'device': 'h100-sxm5-80gb-1g.10gb', 'devices': 1");
  all = estimate_of (SERVE ("llama-3.1-8b", "vllm", "bf16"), "'device': 'h100-sxm5-80gb', 'devices': 1");
  g_assert_cmpint (part.memory.verdict, ==, QM_VERDICT_DOES_NOT_FIT);
  g_assert_cmpint (all.memory.verdict, ==, QM_VERDICT_FITS);
  part = estimate_of (SERVE ("llama-3.2-1b", "vllm", "bf16"), "'device': 'h100-sxm5-80gb-1g.10gb', 'devices': 1");
  all = estimate_of (SERVE ("llama-3.2-1b", "vllm", "bf16"), "'device': 'h100-sxm5-80gb', 'devices': 1");
  g_assert_true (part.memory.fits);
  g_assert_cmpfloat (part.serving.decode_tokens_per_second.p50, <, all.serving.decode_tokens_per_second.p50 / 2);
}

/* Names as drivers give them. */
static void
test_slice_names (void)
{
  const QmDevice *whole = qm_catalog_find_device (catalog, "a100-sxm4-40gb");

  g_assert_cmpstr (qm_catalog_match_slice (catalog, whole, "1g.5gb")->id, ==, "a100-sxm4-40gb-1g.5gb");
  g_assert_cmpstr (qm_catalog_match_slice (catalog, whole, "1g.5gb+me")->id, ==, "a100-sxm4-40gb-1g.5gb");
  g_assert_null (qm_catalog_match_slice (catalog, whole, "1c.3g.20gb"));
  g_assert_null (qm_catalog_match_slice (catalog, whole, "1g.10gb.x"));
  g_assert_null (qm_catalog_match_slice (catalog, NULL, "1g.5gb"));
}

/* 24 and 12 GB: layers go where there is room, so that both hold 36 GB together;
 * in data parallel training the smaller one is the bound (as in
 * huggingface/transformers#35636). */
static void
test_mix (void)
{
  QmEstimate one = estimate_of (SERVE ("llama-3.1-70b", "llama.cpp", "gguf-q2_k"), "'device': 'rtx-3090', 'devices': 1");
  QmEstimate both = estimate_of (SERVE ("llama-3.1-70b", "llama.cpp", "gguf-q2_k"), "'device': 'rtx-3090+rtx-3060-12gb'");
  QmEstimate small = estimate_of (SERVE ("llama-3.1-8b", "vllm", "bf16"), "'device': 'rtx-3060-12gb', 'devices': 2");
  QmEstimate tensor = estimate_of (SERVE ("llama-3.1-8b", "vllm", "bf16"), "'device': 'rtx-3060-12gb+rtx-3090', 'devices': 2");
  QmEstimate learn_small = estimate_of (TRAIN, "'device': 'rtx-3060-12gb', 'devices': 2, 'data_parallel': 2, 'micro_batch': 1, 'sharding': 'none'");
  QmEstimate learn = estimate_of (TRAIN, "'device': 'rtx-3090+rtx-3060-12gb', 'devices': 2, 'data_parallel': 2, 'micro_batch': 1, 'sharding': 'none'");
  double large = qm_catalog_find_device (catalog, "rtx-3090")->usable_bytes;
  double little = qm_catalog_find_device (catalog, "rtx-3060-12gb")->usable_bytes;

  g_assert_false (one.memory.fits);
  g_assert_true (both.memory.fits);
  g_assert_cmpint (both.configuration.devices, ==, 2);
  g_assert_cmpfloat_with_epsilon (2 * both.memory.usable_bytes, large + little, 1);

  g_assert_cmpfloat_with_epsilon (tensor.memory.usable_bytes, small.memory.usable_bytes, 1);
  g_assert_cmpfloat_with_epsilon (learn.memory.usable_bytes, little, 1);
  g_assert_cmpfloat_with_epsilon (learn.memory.need.p50 / learn_small.memory.need.p50, 1, 1e-9);
  g_assert_cmpfloat_with_epsilon (learn.throughput.per_second.p50 / learn_small.throughput.per_second.p50, 1, 0.02);
}

/* Each card's time counts with its share of the layers: 2/3 at 936 GB/s and 1/3 at
 * 360 GB/s are 608 GB/s together. */
static void
test_mix_speed (void)
{
  QmEstimate one = estimate_of (SERVE ("llama-3.1-8b", "llama.cpp", "gguf-q8_0"), "'device': 'rtx-3090', 'devices': 1");
  QmEstimate both = estimate_of (SERVE ("llama-3.1-8b", "llama.cpp", "gguf-q8_0"), "'device': 'rtx-3090+rtx-3060-12gb'");

  g_assert_cmpfloat_with_epsilon (both.serving.decode_tokens_per_second.p50 / one.serving.decode_tokens_per_second.p50, 608.0 / 936, 0.08);
}

static void
test_no_mix (void)
{
  g_assert_null (qm_catalog_find_device (catalog, "rtx-3090+rx-7900-xtx"));
  g_assert_null (qm_catalog_find_device (catalog, "rtx-3090+toaster"));
  g_assert_true (qm_catalog_find_device (catalog, "rtx-3060-12gb+rtx-3090") == qm_catalog_find_device (catalog, "rtx-3060-12gb+rtx-3090"));
}

/* pytorch/xla#1881: a v3-8 has 128 GB and a job dies at 16: eight memories. */
static void
test_memories (void)
{
  QmEstimate replicas = estimate_of (TRAIN, "'device': 'tpu-v3', 'devices': 4, 'data_parallel': 4, 'micro_batch': 2, 'sharding': 'none'");
  QmEstimate shared = estimate_of (TRAIN, "'device': 'tpu-v3', 'devices': 4, 'data_parallel': 4, 'micro_batch': 2, 'sharding': 'zero3'");
  QmEstimate newer = estimate_of (TRAIN, "'device': 'tpu-v4', 'devices': 4, 'data_parallel': 4, 'micro_batch': 2, 'sharding': 'none'");

  g_assert_cmpfloat_with_epsilon (replicas.memory.capacity_bytes, 16 * GIB, 1);
  g_assert_cmpfloat (shared.memory.need.p50, <, replicas.memory.need.p50);
  g_assert_cmpint (replicas.configuration.devices, ==, 4);
  g_assert_cmpfloat_with_epsilon (newer.memory.capacity_bytes, 32 * GIB, 1);
}

/* AlexsJones/llmfit#754: an M3 with 16 GB gives its graphics 11.84 GiB; #964: a
 * Ryzen AI Max+ 395 with 128 GB 96 GB; #102: a GB10 shows 119.7 GiB. */
static void
test_unified (void)
{
  QmEstimate m3 = estimate_of (SERVE ("llama-3.1-8b", "llama.cpp", "gguf-q4_k_m"), "'device': 'apple-m3', 'devices': 1, 'memory_bytes': 17179869184");
  QmEstimate strix = estimate_of (SERVE ("llama-3.1-8b", "llama.cpp", "gguf-q4_k_m"), "'device': 'ryzen-ai-max-395', 'devices': 1");
  QmEstimate spark = estimate_of (SERVE ("llama-3.1-8b", "llama.cpp", "gguf-q4_k_m"), "'device': 'dgx-spark-gb10', 'devices': 1");

  g_assert_cmpfloat_with_epsilon (m3.memory.usable_bytes / (11.84 * GIB), 1, 0.02);
  g_assert_cmpfloat_with_epsilon (strix.memory.usable_bytes / (96 * GIB), 1, 0.02);
  g_assert_cmpfloat_with_epsilon (spark.memory.usable_bytes / (119.7 * GIB), 1, 0.005);
}

/* huggingface/huggingface.js#1197: a laptop's RTX 4090 is another chip, 32.98 against
 * 82.6 TFLOP/s, with 16 GB against 24. */
static void
test_laptop (void)
{
  const QmDevice *laptop = qm_catalog_find_device (catalog, "rtx-4090-laptop");
  const QmDevice *desktop = qm_catalog_find_device (catalog, "rtx-4090");

  g_assert_cmpfloat (laptop->memory_bytes, ==, 16 * GIB);
  g_assert_cmpfloat (desktop->memory_bytes, ==, 24 * GIB);
  g_assert_cmpfloat_with_epsilon (laptop->tflops_fp32 / desktop->tflops_fp32, 32.98 / 82.6, 0.02);
}

/* NVIDIA's comparison of its laptop chips (recalled; `laptop` in devices.json): the
 * same chip with the least and the most power, TFLOPS in 32 bits. */
static const struct {
  const char *id;
  double most_watts, most_tflops;
} laptops[] = {
  { "rtx-3050-laptop", 80, 7.127 }, { "rtx-3060-laptop", 115, 13.08 }, { "rtx-3070-laptop", 125, 16.59 },
  { "rtx-3080-laptop", 150, 21.01 }, { "rtx-4050-laptop", 115, 12.13 },
};

static void
test_power_limit (void)
{
  const QmDevice *desktop = qm_catalog_find_device (catalog, "rtx-4090");
  QmDevice view;

  for (guint i = 0; i < G_N_ELEMENTS (laptops); i++)
    {
      const QmDevice *device = qm_catalog_find_device (catalog, laptops[i].id);

      qm_device_view_limited (device, laptops[i].most_watts, &view);
      g_assert_cmpfloat_with_epsilon (view.tflops_fp32 / laptops[i].most_tflops, 1, 0.06);
      g_assert_cmpfloat (view.bandwidth_bytes_per_second, ==, device->bandwidth_bytes_per_second);
      /* and no more with still more */
      qm_device_view_limited (device, 10 * laptops[i].most_watts, &view);
      g_assert_cmpfloat_with_epsilon (view.tflops_fp32, laptops[i].most_tflops, 1e-9);
      qm_device_view_limited (device, 0, &view);
      g_assert_cmpfloat (view.tflops_fp32, ==, device->tflops_fp32);
    }

  /* a card of the data sheet's power is no faster with more */
  qm_device_view_limited (desktop, 600, &view);
  g_assert_cmpfloat (view.tflops_bf16, ==, desktop->tflops_bf16);
  qm_device_view_limited (desktop, 225, &view);
  g_assert_cmpfloat (view.tflops_bf16, <, desktop->tflops_bf16);
}

static const QmMessage *
find_drawback (const QmChoice *choice,
               const char     *code)
{
  for (guint i = 0; i < choice->drawbacks->len; i++)
    if (strcmp (qm_message_get_code (g_ptr_array_index (choice->drawbacks, i)), code) == 0)
      return g_ptr_array_index (choice->drawbacks, i);

  return NULL;
}

/* The time of a job on this computer, a laptop that may draw @watts. */
static double
time_on_laptop (double   watts,
                gboolean is_told)
{
  g_autoptr (QmPlan) plan = qm_plan_from_data ("{\"format\":\"quartermaster-plan\",\"version\":1,\"task\":\"image-classification\",\"activity\":\"train\","
    "\"model\":{\"id\":\"resnet-50\"},\"training\":{\"samples\":50000,\"epochs\":90},\"places\":{\"this_computer\":true,\"cloud\":[],\"buy\":false}}", -1, NULL, NULL);
  g_autoptr (QmResolved) resolved = qm_resolve (plan, catalog, NULL, NULL, NULL);
  QmHere here = { .devices = { qm_catalog_find_device (catalog, "rtx-4060-laptop") }, .power_watts = { watts }, .n_devices = 1 };
  g_autoptr (QmRecommendation) recommendation = qm_recommend (estimator, resolved, &here, NULL);
  const QmChoice *choice;

  g_assert_cmpuint (qm_recommendation_n_choices (recommendation), >, 0);
  choice = qm_recommendation_choice (recommendation, 0);
  g_assert_cmpint (choice->place, ==, QM_PLACE_THIS_COMPUTER);
  g_assert_cmpstr (choice->estimate.device->id, ==, "rtx-4060-laptop");
  g_assert_true (is_told == (find_drawback (choice, "power-limited") != NULL));

  return choice->estimate.time.seconds.p50;
}

/* yunusemreyl/omen-space#82: stuck at 55 W, or boosted to 140 W. */
static void
test_limited_laptop (void)
{
  double usual = time_on_laptop (115, FALSE);

  g_assert_cmpfloat (time_on_laptop (0, FALSE), ==, usual);
  g_assert_cmpfloat (time_on_laptop (110, FALSE), >, usual);
  g_assert_cmpfloat (time_on_laptop (55, TRUE), >, 1.1 * usual);
  g_assert_cmpfloat (time_on_laptop (140, FALSE), <, usual);
}

/* Of two equal cards one sleeps, and its driver does not say: what the other has counts. */
static void
test_unread_card (void)
{
  const QmDevice *card = qm_catalog_find_device (catalog, "rtx-4060-laptop");
  static const double read[][3] = { { 0, 55, 55 }, { 55, 0, 55 }, { 70, 55, 55 }, { 0, 0, 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (read); i++)
    {
      QmHere here = { .devices = { card, card }, .power_watts = { read[i][0], read[i][1] },
                      .free_bytes = { 1e8 * read[i][0], 1e8 * read[i][1] }, .n_devices = 2 };
      QmPlacement placement = { .place = QM_PLACE_THIS_COMPUTER };

      qm_placement_set_measured (&placement, &here, 1);
      g_assert_cmpfloat (placement.power_watts, ==, read[i][2]);
      g_assert_cmpfloat (placement.free_bytes, ==, 1e8 * read[i][2]);
    }
}

int
main (int    argc,
      char **argv)
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

  g_test_add_func ("/device-kinds/slice", test_slice);
  g_test_add_func ("/device-kinds/slice-names", test_slice_names);
  g_test_add_func ("/device-kinds/mix", test_mix);
  g_test_add_func ("/device-kinds/mix-speed", test_mix_speed);
  g_test_add_func ("/device-kinds/no-mix", test_no_mix);
  g_test_add_func ("/device-kinds/memories", test_memories);
  g_test_add_func ("/device-kinds/unified", test_unified);
  g_test_add_func ("/device-kinds/laptop", test_laptop);
  g_test_add_func ("/device-kinds/power-limit", test_power_limit);
  g_test_add_func ("/device-kinds/limited-laptop", test_limited_laptop);
  g_test_add_func ("/device-kinds/unread-card", test_unread_card);
  status = g_test_run ();

  g_object_unref (estimator);
  g_object_unref (catalog);
  return status;
}
