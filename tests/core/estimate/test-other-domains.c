/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "other-domains-fixture.h"

#define GB 1e9

static QmPlan *
plan_from_text (const char *text)
{
  g_autoptr (JsonNode) node = load_json (text, -1);
  g_autoptr (GError) error = NULL;
  QmPlan *plan = qm_plan_from_object (json_node_get_object (node), NULL, &error);

  g_assert_no_error (error);
  return plan;
}

static void
predict_on (Fixture        *fixture,
            const QmPlan   *plan,
            const QmDevice *device,
            QmEstimate     *estimate)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmModel) model = qm_model_resolve (plan, fixture->catalog, NULL, NULL, &error);
  g_autoptr (QmOtherDomains) domains = NULL;

  g_assert_no_error (error);
  domains = qm_other_domains_new (fixture->constants, plan, model);
  qm_estimate_clear (estimate);
  qm_other_domains_predict (domains, device, &plan->configuration, estimate);
}

static void
predict_text (Fixture    *fixture,
              const char *text,
              QmEstimate *estimate)
{
  g_autoptr (QmPlan) plan = plan_from_text (text);

  predict (fixture, plan, estimate);
}

static JsonNode *
copy_constants (Fixture *fixture)
{
  JsonNode *table = qm_catalog_table (fixture->catalog, "constants-other-domains");
  g_autoptr (JsonGenerator) generator = json_generator_new ();
  g_autofree char *text = NULL;

  json_generator_set_root (generator, table);
  text = json_generator_to_data (generator, NULL);
  return load_json (text, -1);
}

/* An image takes its denoising steps, with guidance two passes each. What the
 * plan counts itself is the whole image already. Published: SDXL, 20 guided
 * steps, are 270.4 TFLOP. */
static void
test_steps (Fixture       *fixture,
            gconstpointer  data)
{
#define IMAGE(model, steps) "{\"format\":\"quartermaster-plan\",\"version\":1,\"task\":\"image-generation\"," \
    "\"activity\":\"batch-inference\",\"model\":{" model "},\"serving\":{\"engine\":\"pytorch\",\"weights\":\"fp16\"," \
    "\"image_size\":1024," steps "},\"configuration\":{\"device\":\"h100-sxm5-80gb\",\"devices\":1,\"micro_batch\":4}}"
  QmEstimate named, counted, unguided, distilled, twice;

  predict_text (fixture, IMAGE ("\"id\":\"sdxl\"", "\"denoising_steps\":20"), &named);
  predict_text (fixture, IMAGE ("\"id\":\"sdxl\",\"flops_per_sample\":270448000000000", "\"denoising_steps\":20"), &counted);
  predict_text (fixture, IMAGE ("\"id\":\"sdxl\"", "\"denoising_steps\":20,\"guidance\":false"), &unguided);
  g_assert_cmpfloat (fabs (named.throughput.per_second.p50 / counted.throughput.per_second.p50 - 1), <, 0.01);
  g_assert_cmpfloat (unguided.throughput.per_second.p50, >, 1.5 * named.throughput.per_second.p50);
  g_assert_cmpfloat (unguided.throughput.per_second.p50, <, 2.0 * named.throughput.per_second.p50);

  predict_text (fixture, IMAGE ("\"id\":\"flux.1-dev\"", "\"denoising_steps\":20"), &distilled);
  predict_text (fixture, IMAGE ("\"id\":\"flux.1-dev\"", "\"denoising_steps\":20,\"guidance\":true"), &twice);
  g_assert_cmpfloat (distilled.throughput.per_second.p50, >, 1.8 * twice.throughput.per_second.p50);
#undef IMAGE
}

static void
test_missing_constant (Fixture       *fixture,
                       gconstpointer  data)
{
  g_autoptr (JsonNode) node = copy_constants (fixture);
  g_autoptr (GError) error = NULL;
  QmOtherDomainsConstants *constants;

  json_object_remove_member (json_object_get_object_member (json_node_get_object (node), "constants"), "speech.tau.openvino");
  constants = qm_other_domains_constants_new (node, &error);
  g_assert_null (constants);
  g_assert_error (error, QM_CATALOG_ERROR, QM_CATALOG_ERROR_MISSING);
  g_assert_nonnull (strstr (error->message, "speech.tau.openvino"));
}

static void
test_missing_table (Fixture       *fixture,
                    gconstpointer  data)
{
  static const char *const tables[] = { "architectures", "link-domains", "frameworks", "engines", "weights", "boosters", "constants" };

  for (gsize i = 0; i < G_N_ELEMENTS (tables); i++)
    {
      g_autoptr (JsonNode) node = copy_constants (fixture);
      g_autoptr (GError) error = NULL;

      json_object_remove_member (json_node_get_object (node), tables[i]);
      g_assert_null (qm_other_domains_constants_new (node, &error));
      g_assert_error (error, QM_CATALOG_ERROR, QM_CATALOG_ERROR_MISSING);
      g_assert_nonnull (strstr (error->message, tables[i]));
    }
}

static void
test_unknown_reference (Fixture       *fixture,
                        gconstpointer  data)
{
  g_autoptr (JsonNode) node = copy_constants (fixture);
  g_autoptr (GError) error = NULL;
  JsonArray *frameworks = json_object_get_array_member (json_node_get_object (node), "frameworks");

  json_object_set_string_member (json_array_get_object_element (frameworks, 0), "stack", "caffe");
  g_assert_null (qm_other_domains_constants_new (node, &error));
  g_assert_error (error, QM_CATALOG_ERROR, QM_CATALOG_ERROR_REFERENCE);
  g_assert_nonnull (strstr (error->message, "caffe"));
}

/* The parts sum to the p50 of what is needed. */
static void
test_parts (Fixture       *fixture,
            gconstpointer  data)
{
  g_autoptr (JsonNode) vectors = load_vectors ();
  JsonArray *cases = json_object_get_array_member (json_node_get_object (vectors), "cases");

  for (guint i = 0; i < json_array_get_length (cases); i++)
    {
      QmEstimate estimate;
      double sum = 0;

      predict_case (fixture, json_array_get_object_element (cases, i), &estimate);
      for (int part = 0; part < QM_MEMORY_N_PARTS; part++)
        sum += estimate.memory.parts[part];
      g_assert_cmpfloat_with_epsilon (sum / estimate.memory.need.p50, 1, 1e-9);
    }
}

/* The largest batch leaves the headroom free, one more does not. */
static void
test_largest_micro_batch (Fixture       *fixture,
                          gconstpointer  data)
{
  g_autoptr (JsonNode) vectors = load_vectors ();
  g_autoptr (QmPlan) plan = read_plan (find_case (vectors, "resnet-a100-pytorch"));
  QmEstimate estimate;
  double largest;

  plan->limits.headroom = 0.1;
  predict (fixture, plan, &estimate);
  largest = estimate.memory.largest_micro_batch;
  g_assert_cmpfloat (largest, >, 128);

  plan->configuration.micro_batch = largest;
  predict (fixture, plan, &estimate);
  g_assert_cmpfloat (estimate.memory.need.p50, <=, 0.9 * estimate.memory.usable_bytes);
  g_assert_cmpint (estimate.memory.verdict, ==, QM_VERDICT_FITS);

  plan->configuration.micro_batch = largest + 1;
  predict (fixture, plan, &estimate);
  g_assert_cmpfloat (estimate.memory.need.p50, >, 0.9 * estimate.memory.usable_bytes);
  g_assert_cmpint (estimate.memory.verdict, ==, QM_VERDICT_MAY_FIT);
}

/* The contract's four verdicts, on one device of four sizes. */
static void
test_verdicts (Fixture       *fixture,
               gconstpointer  data)
{
  static const struct {
    double share;
    QmVerdict verdict;
  } sizes[] = {
    { 0.79, QM_VERDICT_FITS }, { 0.85, QM_VERDICT_TIGHT }, { 0.95, QM_VERDICT_MAY_FIT }, { 1.05, QM_VERDICT_DOES_NOT_FIT },
    { 0, QM_VERDICT_UNKNOWN },
  };
  g_autoptr (JsonNode) vectors = load_vectors ();
  g_autoptr (QmPlan) plan = read_plan (find_case (vectors, "vit-mi300x"));
  QmEstimate estimate;
  double need;

  predict (fixture, plan, &estimate);
  need = estimate.memory.need.p50;
  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      QmDevice device = *estimate.device;

      device.usable_bytes = sizes[i].share > 0 ? need / sizes[i].share : 0;
      predict_on (fixture, plan, &device, &estimate);
      g_assert_cmpint (estimate.memory.verdict, ==, sizes[i].verdict);
      g_assert_cmpint (estimate.memory.fits, ==, sizes[i].share <= 1);
      if (sizes[i].share > 0)
        g_assert_cmpint (estimate.memory.fit_probability > 0.5, ==, sizes[i].share < 1);
    }
}

#define BERT "\"architecture\": {\"model_type\": \"bert\", \"hidden_size\": 768, \"num_hidden_layers\": 12, " \
             "\"num_attention_heads\": 12, \"intermediate_size\": 3072, \"vocab_size\": 30522, " \
             "\"max_position_embeddings\": 512}, \"parameters\": 109514298"

/* Padded tokens are counted: texts a second are those over the length. */
static void
test_texts (Fixture       *fixture,
            gconstpointer  data)
{
  QmEstimate estimate;

  predict_text (fixture,
                "{\"format\": \"quartermaster-plan\", \"version\": 1, \"task\": \"text-encoder\", \"activity\": \"batch-inference\","
                " \"model\": {" BERT "}, \"serving\": {\"engine\": \"pytorch\", \"weights\": \"fp16\", \"input_tokens\": 200, \"samples\": 1000000},"
                " \"configuration\": {\"device\": \"a10\", \"devices\": 1, \"micro_batch\": 32}}", &estimate);
  g_assert_cmpint (estimate.throughput.unit, ==, QM_UNIT_TOKENS);
  g_assert_cmpfloat_with_epsilon (estimate.throughput.per_second.p50 / estimate.throughput.samples_per_second, 200, 1e-9);
  g_assert_cmpfloat_with_epsilon (estimate.time.seconds.p50 * estimate.throughput.samples_per_second / 1e6, 1, 1e-9);
  g_assert_cmpfloat (estimate.throughput.step_seconds.p50, ==, estimate.serving.latency_p50_seconds.p50);
  g_assert_cmpfloat_with_epsilon (32 / estimate.serving.latency_p50_seconds.p50 / estimate.throughput.samples_per_second, 1, 1e-9);
}

/* What a plan leaves open, and what no case used, widens the range. */
static void
test_widths (Fixture       *fixture,
             gconstpointer  data)
{
  g_autoptr (JsonNode) vectors = load_vectors ();
  g_autoptr (QmPlan) plan = read_plan (find_case (vectors, "resnet-a100-pytorch"));
  QmEstimate stated, open, unseen, unheard;
  QmDevice device;

  predict (fixture, plan, &stated);
  device = *stated.device;
  device.arch = "Of tomorrow";
  predict_on (fixture, plan, &device, &unseen);
  qm_word_set (plan->training.framework, "");
  predict (fixture, plan, &open);
  qm_word_set (plan->training.framework, "unheard-of");
  predict (fixture, plan, &unheard);

  g_assert_cmpint (stated.throughput.state, ==, QM_STATE_CELL);
  g_assert_cmpint (open.throughput.state, ==, QM_STATE_THIN);
  g_assert_cmpint (unseen.throughput.state, ==, QM_STATE_ENGINE);
  g_assert_cmpint (unheard.throughput.state, ==, QM_STATE_NEW);
  g_assert_cmpfloat (qm_range_half_width (open.throughput.per_second), >, qm_range_half_width (stated.throughput.per_second));
  g_assert_cmpfloat (qm_range_half_width (unseen.throughput.per_second), >, qm_range_half_width (stated.throughput.per_second));
  g_assert_cmpfloat (qm_range_half_width (unheard.throughput.per_second), >, qm_range_half_width (stated.throughput.per_second));
}

#define DLRM_XL "{\"format\": \"quartermaster-plan\", \"version\": 1, \"task\": \"recommender\", \"activity\": \"train\"," \
                " \"model\": {\"id\": \"dlrm-xl\"}, \"training\": {\"method\": \"full\", \"precision\": \"amp-fp16\"," \
                " \"optimizer\": \"sgd\", \"global_batch\": 65536, \"framework\": \"nvidia-tuned\"}," \
                " \"configuration\": {\"device\": \"a100-sxm4-80gb\", \"devices\": %d, \"nodes\": 1}}"

/* 113e9 parameters of 4 bytes: an eighth of the tables fits on one device of
 * 80 GB, the whole does not. */
static void
test_embedding_tables (Fixture       *fixture,
                       gconstpointer  data)
{
  g_autofree char *one = g_strdup_printf (DLRM_XL, 1);
  g_autofree char *eight = g_strdup_printf (DLRM_XL, 8);
  QmEstimate alone, spread;

  predict_text (fixture, one, &alone);
  predict_text (fixture, eight, &spread);

  g_assert_cmpint (alone.memory.verdict, ==, QM_VERDICT_PARTLY_IN_SYSTEM_MEMORY);
  g_assert_true (alone.memory.fits);
  g_assert_cmpfloat (alone.memory.need.p50, <=, 0.8 * alone.memory.usable_bytes);
  g_assert_cmpfloat (alone.memory.host_bytes, >, (452 - 80) * GB);
  g_assert_cmpfloat (alone.memory.host_bytes, <, 452 * GB);

  g_assert_true (spread.memory.fits);
  g_assert_cmpfloat (spread.memory.host_bytes, ==, 0);
  g_assert_cmpfloat (spread.memory.parts[QM_MEMORY_WEIGHTS], >=, 56.5 * GB);
  g_assert_cmpfloat (spread.memory.parts[QM_MEMORY_WEIGHTS], <, 57 * GB);
  g_assert_cmpfloat (spread.throughput.per_device_per_second.p50, >, 2 * alone.throughput.per_device_per_second.p50);
}

/* Nothing is said where nothing follows. */
static void
test_failures (Fixture       *fixture,
               gconstpointer  data)
{
  g_autoptr (JsonNode) vectors = load_vectors ();
  g_autoptr (QmPlan) plan = read_plan (find_case (vectors, "resnet-tensorrt-int8-l4"));
  QmEstimate estimate;
  QmDevice device;

  predict_text (fixture,
                "{\"format\": \"quartermaster-plan\", \"version\": 1, \"task\": \"image-classification\", \"activity\": \"train\","
                " \"model\": {\"activations_per_sample\": 25000000}, \"configuration\": {\"device\": \"a10\", \"devices\": 1, \"micro_batch\": 32}}",
                &estimate);
  g_assert_cmpstr (estimate.failure, ==, "no-flops");
  g_assert_false (estimate.throughput.known);
  g_assert_true (isnan (estimate.throughput.per_second.p50));
  g_assert_cmpfloat (estimate.memory.need.p50, >, 25000000 * 16);

  predict (fixture, plan, &estimate);
  device = *estimate.device;
  device.tflops_fp32 = device.tflops_fp16 = device.tflops_bf16 = device.tflops_int8 = 0;
  predict_on (fixture, plan, &device, &estimate);
  g_assert_cmpstr (estimate.failure, ==, "no-rate");
  g_assert_false (estimate.throughput.known);

  predict_text (fixture,
                "{\"format\": \"quartermaster-plan\", \"version\": 1, \"task\": \"tabular\", \"activity\": \"serve\","
                " \"model\": {\"id\": \"xgboost\"}, \"configuration\": {\"device\": \"a10\", \"devices\": 1}}", &estimate);
  g_assert_cmpstr (estimate.failure, ==, "no-rate");
}

/* A processor has no memory of its own. */
static void
test_processor (Fixture       *fixture,
                gconstpointer  data)
{
  g_autoptr (JsonNode) vectors = load_vectors ();
  g_autoptr (QmPlan) plan = read_plan (find_case (vectors, "resnet-cpu-int8"));
  QmEstimate all, half;

  predict (fixture, plan, &half);
  plan->configuration.cpu_cores = 0;
  predict (fixture, plan, &all);

  g_assert_cmpint (all.configuration.cpu_cores, ==, 56);
  g_assert_true (isnan (all.memory.device.p50));
  g_assert_cmpfloat (all.memory.need.p50, ==, all.memory.host_bytes);
  g_assert_cmpfloat (all.memory.parts[QM_MEMORY_CONTEXT], ==, 0);
  g_assert_cmpfloat (all.throughput.per_second.p50, >, 1.2 * half.throughput.per_second.p50);
  g_assert_cmpfloat (all.throughput.per_second.p50, <=, 2 * half.throughput.per_second.p50);
}

/* Few workers that decode large images hold everything up. */
static void
test_loader (Fixture       *fixture,
             gconstpointer  data)
{
  g_autoptr (JsonNode) vectors = load_vectors ();
  g_autoptr (QmPlan) plan = read_plan (find_case (vectors, "resnet-a100-pytorch"));
  QmEstimate free, held;

  predict (fixture, plan, &free);
  plan->data.bytes_per_sample = 110e3;
  plan->data.loader_workers = 4;
  predict (fixture, plan, &held);

  g_assert_cmpint (held.throughput.bound_by, ==, QM_BOUND_INPUT);
  g_assert_cmpfloat_with_epsilon (held.throughput.per_second.p50, 600, 1e-6);
  g_assert_cmpfloat_with_epsilon (held.throughput.step_seconds.p50, 128 / 600.0, 1e-9);
  g_assert_cmpfloat (free.throughput.per_second.p50, >, held.throughput.per_second.p50);
}

/* A frozen network is passed forward alone: a third of the FLOPs, and neither
 * gradients nor states but of the head. */
static void
test_linear_probe (Fixture       *fixture,
                   gconstpointer  data)
{
  g_autoptr (JsonNode) vectors = load_vectors ();
  g_autoptr (QmPlan) plan = read_plan (find_case (vectors, "resnet-a100-pytorch"));
  QmEstimate full, probe;

  predict (fixture, plan, &full);
  plan->training.method = QM_METHOD_LINEAR_PROBE;
  plan->training.trainable_parameters = 2049000;
  predict (fixture, plan, &probe);

  g_assert_cmpfloat_with_epsilon (full.throughput.compute_seconds / probe.throughput.compute_seconds, 3, 1e-9);
  g_assert_cmpfloat (probe.throughput.per_second.p50, >, full.throughput.per_second.p50);
  g_assert_cmpfloat (probe.memory.parts[QM_MEMORY_GRADIENTS], ==, 4 * 2049000);
  g_assert_cmpfloat (probe.memory.parts[QM_MEMORY_OPTIMIZER], ==, 4 * 2049000);
  g_assert_cmpfloat (probe.memory.parts[QM_MEMORY_WEIGHTS], ==, full.memory.parts[QM_MEMORY_WEIGHTS]);
  g_assert_cmpfloat (probe.memory.need.p50, <, full.memory.need.p50);
  g_assert_cmpfloat (probe.trainable_parameters, ==, 2049000);
  g_assert_cmpint (probe.throughput.state, ==, QM_STATE_NEW);
}

/* A block of ViT-L/16 writes 10 widths of a token and 16 scores of each pair: 63.5 M
 * numbers in 24 layers of 197 tokens of 1024 (fvcore). With gradient checkpointing
 * (timm, by blocks) autocast keeps the input of each in 32 bits, 1.24 GB
 * of a batch of 64, and both copies of what one of them writes, at least 0.68 GB;
 * the forward pass is computed twice. Without backward pass there is nothing to save. */
static void
test_recomputed_blocks (Fixture       *fixture,
                        gconstpointer  data)
{
#define VIT(training) "{\"format\":\"quartermaster-plan\",\"version\":1,\"task\":\"image-classification\",\"activity\":\"train\"," \
    "\"model\":{\"id\":\"vit-large-patch16-224\"},\"training\":{\"precision\":\"amp-fp16\"," training "}," \
    "\"configuration\":{\"device\":\"t4\",\"devices\":1,\"micro_batch\":64}}"
  double inputs = 64 * 24 * 197 * 1024 * 4.0, block = 64 * 63.52e6 / 24 * 2 * 2;
  QmEstimate kept, recomputed, probe, probe_recomputed;

  predict_text (fixture, VIT ("\"method\":\"full\""), &kept);
  predict_text (fixture, VIT ("\"method\":\"full\",\"activation_checkpointing\":\"full\""), &recomputed);
  g_assert_cmpfloat (recomputed.memory.parts[QM_MEMORY_ACTIVATIONS], >=, inputs + block);
  g_assert_cmpfloat (recomputed.memory.parts[QM_MEMORY_ACTIVATIONS], <=, 1.4 * inputs + 2 * block);
  g_assert_cmpfloat (recomputed.memory.need.p50, <, 16 * 304.33e6 + 1.4 * inputs + 2 * block + 1e9);
  g_assert_cmpfloat_with_epsilon (recomputed.throughput.compute_seconds / kept.throughput.compute_seconds, 4.0 / 3, 1e-9);

  predict_text (fixture, VIT ("\"method\":\"linear-probe\""), &probe);
  predict_text (fixture, VIT ("\"method\":\"linear-probe\",\"activation_checkpointing\":\"full\""), &probe_recomputed);
  g_assert_cmpfloat (probe_recomputed.memory.need.p50, ==, probe.memory.need.p50);
#undef VIT
}

/* A batch and a micro-batch say how many micro-steps there are: one update of the
 * weights in all of them. */
static void
test_accumulation (Fixture       *fixture,
                   gconstpointer  data)
{
#define VIT(configuration) "{\"format\":\"quartermaster-plan\",\"version\":1,\"task\":\"image-classification\",\"activity\":\"train\"," \
    "\"model\":{\"id\":\"vit-large-patch16-224\"},\"training\":{\"precision\":\"amp-fp16\",\"global_batch\":64}," \
    "\"configuration\":{\"device\":\"t4\",\"devices\":1,\"micro_batch\":1" configuration "}}"
  QmEstimate told, derived;

  predict_text (fixture, VIT (",\"gradient_accumulation\":64"), &told);
  predict_text (fixture, VIT (""), &derived);
  g_assert_cmpfloat (derived.configuration.gradient_accumulation, ==, 64);
  g_assert_cmpfloat (derived.throughput.per_second.p50, ==, told.throughput.per_second.p50);
#undef VIT
}

/* What is frozen is counted by hand. Denoisers, by the public configurations of
 * the UNets: 859,520,964 parameters in Stable Diffusion 1.5, of which 270,209,280
 * are in linear layers, and 2,567,463,684 in SDXL, of which 2,233,603,520 are;
 * the text encoders and the image encoder of SDXL have 901,377,153. diffusers
 * keeps them all in 16 bit below an adapter (train_text_to_image_lora_sdxl.py:
 * weight_dtype), and only denoisers are quantised, where they are linear. */
static void
test_frozen_weights (Fixture       *fixture,
                     gconstpointer  data)
{
#define TUNE(task, model, training) "{\"format\":\"quartermaster-plan\",\"version\":1,\"task\":\"" task "\",\"activity\":\"fine-tune\"," \
    "\"model\":{\"id\":\"" model "\"},\"training\":{\"trainable_parameters\":1000000," training "}," \
    "\"configuration\":{\"device\":\"rtx-4090\",\"devices\":1,\"micro_batch\":1}}"
#define SDXL(training) TUNE ("image-generation", "sdxl", training)
  static const struct
  {
    const char *plan;
    double expected;
  } cases[] = {
    { SDXL ("\"method\":\"lora\",\"precision\":\"amp-fp16\""), 2 * 3468840837.0 + 4e6 },
    { SDXL ("\"method\":\"lora\""), 2 * 3468840837.0 + 4e6 },
    { SDXL ("\"method\":\"lora\",\"precision\":\"fp32\""), 4 * 3468840837.0 + 4e6 },
    { SDXL ("\"method\":\"lora\",\"precision\":\"amp-fp16\",\"base_weights\":\"fp32\""), 4 * 3468840837.0 + 4e6 },
    { SDXL ("\"method\":\"qlora\",\"precision\":\"amp-bf16\""), 0.55 * 2233603520.0 + 2 * (3468840837.0 - 2233603520.0) + 4e6 },
    { SDXL ("\"method\":\"lora\",\"base_weights\":\"int8\""), 2233603520.0 + 2 * (3468840837.0 - 2233603520.0) + 4e6 },
    { TUNE ("image-generation", "stable-diffusion-1.5-unet", "\"method\":\"qlora\""), 0.55 * 270209280.0 + 2 * (859520964.0 - 270209280.0) + 4e6 },
    { SDXL ("\"method\":\"lora\",\"latents_stored\":true"), 2 * 2567463684.0 + 4e6 },
    { TUNE ("image-generation", "dit-xl-2", "\"method\":\"lora\""), 2 * 675129632.0 + 4e6 },
    /* CLIP-L, CLIP-G and the encoder of T5-XXL; the last alone */
    { TUNE ("image-generation", "sd3-medium", "\"method\":\"lora\",\"latents_stored\":true"), 2 * 2.03e9 + 4e6 },
    { TUNE ("image-generation", "sd3-medium", "\"method\":\"lora\",\"latents_stored\":false"),
      2 * (2.03e9 + 123650304.0 + 694659840.0 + 4762310656.0) + 4e6 },
    { TUNE ("image-generation", "pixart-alpha-1024", "\"method\":\"lora\""), 2 * 611e6 + 4e6 },
    { TUNE ("image-generation", "pixart-alpha-1024", "\"method\":\"lora\",\"latents_stored\":false"), 2 * (611e6 + 4762310656.0) + 4e6 },
    { TUNE ("image-classification", "vit-large-patch16-224", "\"method\":\"lora\",\"precision\":\"amp-fp16\""), 2 * 304330000.0 + 4e6 },
    { TUNE ("image-classification", "vit-large-patch16-224", "\"method\":\"qlora\""), 0.55 * 304330000.0 + 4e6 },
    { TUNE ("image-classification", "resnet-50", "\"method\":\"qlora\""), 2 * 25560000.0 + 4e6 },
    { TUNE ("image-classification", "resnet-50", "\"method\":\"linear-probe\",\"precision\":\"amp-fp16\""), 4 * 25560000.0 },
    { TUNE ("image-classification", "resnet-50", "\"method\":\"linear-probe\",\"base_weights\":\"fp16\""), 2 * 25560000.0 },
    { TUNE ("text-encoder", "xlm-roberta-large", "\"method\":\"lora\""), 2 * 559890432.0 + 4e6 },
    /* 24 layers of 12 h^2 in linear layers */
    { TUNE ("text-encoder", "xlm-roberta-large", "\"method\":\"qlora\""), 0.55 * 301989888.0 + 2 * (559890432.0 - 301989888.0) + 4e6 },
    { TUNE ("speech", "whisper-large-v3", "\"method\":\"lora\""), 2 * 1543500000.0 + 4e6 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      QmEstimate estimate;

      predict_text (fixture, cases[i].plan, &estimate);
      g_test_message ("%s", cases[i].plan);
      g_assert_cmpfloat_with_epsilon (estimate.memory.parts[QM_MEMORY_WEIGHTS] / cases[i].expected, 1, 1e-3);
      g_assert_cmpfloat_with_epsilon (estimate.memory.parts[QM_MEMORY_OPTIMIZER], 8e6, 1);
    }
#undef SDXL
#undef TUNE
}

/* huggingface/blog, sd3.md (A100 80 GB, fp16, 28 steps with guidance, 1024 pixels):
 * 18.765 GB with all three text encoders. The larger encoder reads every prompt of
 * PixArt too: 4.76 billion parameters beside 0.61. */
static void
test_text_encoders (Fixture       *fixture,
                    gconstpointer  data)
{
#define IMAGE(model) "{\"format\":\"quartermaster-plan\",\"version\":1,\"task\":\"image-generation\",\"activity\":\"batch-inference\"," \
    "\"model\":{\"id\":\"" model "\"},\"serving\":{\"engine\":\"diffusers\",\"weights\":\"fp16\",\"denoising_steps\":28," \
    "\"guidance\":true,\"image_size\":1024},\"configuration\":{\"device\":\"a100-sxm4-80gb\",\"devices\":1,\"micro_batch\":1}}"
  g_autoptr (GError) error = NULL;
  g_autoptr (QmOtherDomainsConstants) shipped =
    qm_other_domains_constants_new (qm_catalog_table (fixture->catalog, "constants-other-domains"), &error);
  Fixture own = { fixture->catalog, shipped };
  QmEstimate estimate;

  g_assert_no_error (error);
  predict_text (&own, IMAGE ("sd3-medium"), &estimate);
  g_test_message ("%.2f GB (%.2f to %.2f)", estimate.memory.need.p50 / GB, estimate.memory.need.p10 / GB, estimate.memory.need.p90 / GB);
  g_assert_cmpfloat (estimate.memory.need.p10, <, 18.765 * GB);
  g_assert_cmpfloat (estimate.memory.need.p90, >, 18.765 * GB);
  g_assert_cmpfloat_with_epsilon (estimate.memory.parts[QM_MEMORY_WEIGHTS] / (2 * 7.61e9), 1, 0.01);

  predict_text (&own, IMAGE ("pixart-alpha-1024"), &estimate);
  g_assert_cmpfloat_with_epsilon (estimate.memory.parts[QM_MEMORY_WEIGHTS] / (2 * 5.373e9), 1, 0.01);
#undef IMAGE
}

/* Of a pipeline the denoiser alone is trained: by autocast 4 bytes of weights, 4 of
 * gradients and 8 of Adam's for each of its parameters, and 2 for what is frozen
 * beside it (diffusers, train_text_to_image_sdxl.py). */
static void
test_trained_pipeline (Fixture       *fixture,
                       gconstpointer  data)
{
  QmEstimate estimate;

  predict_text (fixture, "{\"format\":\"quartermaster-plan\",\"version\":1,\"task\":\"image-generation\",\"activity\":\"fine-tune\","
                         "\"model\":{\"id\":\"sdxl\"},\"training\":{\"method\":\"full\",\"precision\":\"amp-fp16\"},"
                         "\"configuration\":{\"device\":\"a100-sxm4-80gb\",\"devices\":1,\"micro_batch\":1}}", &estimate);
  g_assert_cmpfloat (estimate.trainable_parameters, ==, 2567463684.0);
  g_assert_cmpfloat_with_epsilon (estimate.memory.parts[QM_MEMORY_WEIGHTS] / (4 * 2567463684.0 + 2 * 901377153.0), 1, 1e-9);
  g_assert_cmpfloat_with_epsilon (estimate.memory.parts[QM_MEMORY_GRADIENTS] / (4 * 2567463684.0), 1, 1e-9);
  g_assert_cmpfloat_with_epsilon (estimate.memory.parts[QM_MEMORY_OPTIMIZER] / (8 * 2567463684.0), 1, 1e-9);
}

/* What is filled in of the training: nothing is left unset. */
static void
test_resolved (Fixture       *fixture,
               gconstpointer  data)
{
  g_autoptr (JsonNode) vectors = load_vectors ();
  QmEstimate estimate;

  predict_case (fixture, find_case (vectors, "resnet-3090-x2-unstated"), &estimate);
  g_assert_cmpint (estimate.training.precision, ==, QM_PRECISION_AMP_FP16);
  g_assert_cmpint (estimate.training.optimizer, ==, QM_OPTIMIZER_ADAMW);
  g_assert_cmpint (estimate.configuration.data_parallel, ==, 2);
  g_assert_cmpfloat (estimate.configuration.micro_batch, ==, 64);
  g_assert_cmpfloat (estimate.training.global_batch, ==, 128);
  g_assert_cmpfloat_with_epsilon (estimate.trainable_parameters / 25557032, 1, 1e-3);

  predict_case (fixture, find_case (vectors, "flux-lora-4090"), &estimate);
  g_assert_cmpfloat (estimate.trainable_parameters, ==, 20e6);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  ADD ("steps", test_steps);
  ADD ("missing-constant", test_missing_constant);
  ADD ("missing-table", test_missing_table);
  ADD ("unknown-reference", test_unknown_reference);
  ADD ("parts", test_parts);
  ADD ("largest-micro-batch", test_largest_micro_batch);
  ADD ("verdicts", test_verdicts);
  ADD ("texts", test_texts);
  ADD ("widths", test_widths);
  ADD ("embedding-tables", test_embedding_tables);
  ADD ("failures", test_failures);
  ADD ("processor", test_processor);
  ADD ("loader", test_loader);
  ADD ("linear-probe", test_linear_probe);
  ADD ("recomputed-blocks", test_recomputed_blocks);
  ADD ("accumulation", test_accumulation);
  ADD ("frozen-weights", test_frozen_weights);
  ADD ("trained-pipeline", test_trained_pipeline);
  ADD ("text-encoders", test_text_encoders);
  ADD ("resolved", test_resolved);

  return g_test_run ();
}
