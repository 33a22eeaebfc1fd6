/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/qm-model-formats.h"
#include "model/qm-model-json.h"

#include <math.h>

static QmPlan *
plan_of (const char *text)
{
  g_autofree char *full = g_strdup_printf ("{\"format\":\"quartermaster-plan\",\"version\":1,%s}", text);
  g_autoptr (GError) error = NULL;
  QmPlan *plan = qm_plan_from_data (full, -1, NULL, &error);

  g_assert_no_error (error);
  return plan;
}

static QmCatalog *
catalog (void)
{
  g_autofree char *directory = g_build_filename (g_getenv ("QM_DATA_DIR"), "catalog", NULL);
  g_autoptr (GError) error = NULL;
  QmCatalog *self = qm_catalog_load (directory, NULL, &error);

  g_assert_no_error (error);
  return self;
}

#define TASK(task) "\"task\":\"" task "\",\"activity\":\"train\","
#define SMALL "\"architecture\":{\"model_type\":\"llama\",\"hidden_size\":64,\"num_hidden_layers\":2," \
              "\"num_attention_heads\":4,\"intermediate_size\":128,\"vocab_size\":100," \
              "\"tie_word_embeddings\":false}"

/* two layers of 4·64² + 3·64·128 + 2·64, embedding and head of 100·64, a norm of 64 */
#define SMALL_PARAMETERS (2 * (4 * 64 * 64 + 3 * 64 * 128 + 2 * 64) + 2 * 100 * 64 + 64)

static void
test_architecture_and_count (void)
{
  g_autoptr (QmPlan) plan = plan_of (TASK ("language-model") "\"model\":{\"parameters\":90000," SMALL "}");
  g_autoptr (GError) error = NULL;
  g_autoptr (QmModel) model = qm_model_resolve (plan, NULL, NULL, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpfloat (model->parameters, ==, 90000);
  g_assert_cmpfloat (model->active_parameters, ==, 90000);
  g_assert_cmpfloat (model->architecture.parameters, ==, SMALL_PARAMETERS);
  g_assert_cmpint (model->read_by, ==, QM_READER_CONFIG);
  g_assert_nonnull (model->config);
}

static void
test_count_alone (void)
{
  g_autoptr (QmPlan) plan = plan_of (TASK ("language-model") "\"model\":{\"parameters\":7e9}");
  g_autoptr (QmModel) model = qm_model_resolve (plan, NULL, NULL, NULL, NULL);

  g_assert_cmpint (model->read_by, ==, QM_READER_PARAMETER_COUNT);
  g_assert_false (model->architecture.known);
  g_assert_cmpfloat (model->architecture.layers, ==, 33);
  g_assert_cmpfloat (model->architecture.hidden, ==, 4224);
  g_assert_cmpstr (model->name, ==, "7B");
}

static void
test_unknown_id (void)
{
  g_autoptr (QmCatalog) shipped = catalog ();
  g_autoptr (QmPlan) plan = plan_of (TASK ("image-classification") "\"model\":{\"id\":\"resnet-5o\"}");
  g_autoptr (QmPlan) sized = plan_of (TASK ("image-classification") "\"model\":{\"id\":\"my-net\",\"parameters\":1e7}");
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_plan_warning_free);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmModel) none = qm_model_resolve (plan, shipped, NULL, warnings, &error);
  g_autoptr (QmModel) model = NULL;

  g_assert_null (none);
  g_assert_error (error, QM_MODEL_ERROR, QM_MODEL_ERROR_UNKNOWN);
  g_assert_nonnull (strstr (error->message, "the nearest name is “resnet-5"));
  g_assert_cmpuint (warnings->len, ==, 0);
  model = qm_model_resolve (sized, shipped, NULL, warnings, NULL);
  g_assert_cmpfloat (model->parameters, ==, 1e7);
  g_assert_cmpuint (warnings->len, ==, 1);
  g_assert_cmpstr (((QmPlanWarning *) g_ptr_array_index (warnings, 0))->path, ==, "model.id");
}

/* timm: ResNet-50 at 224 pixels has 4.11 GMACs and 25.56 million parameters */
static void
test_vision_size (void)
{
  g_autoptr (QmCatalog) shipped = catalog ();
  g_autoptr (QmPlan) usual = plan_of (TASK ("image-classification") "\"model\":{\"id\":\"resnet-50\"}");
  g_autoptr (QmPlan) doubled = plan_of (TASK ("image-classification") "\"model\":{\"id\":\"resnet-50\"},"
                                        "\"training\":{\"image_size\":1792}");
  g_autoptr (QmModel) model = qm_model_resolve (usual, shipped, NULL, NULL, NULL);
  g_autoptr (QmModel) larger = qm_model_resolve (doubled, shipped, NULL, NULL, NULL);
  const QmModelEntry *nearest = qm_catalog_find_model (shipped, "resnet-50", 1792);
  g_autoptr (QmJsonBox) tree = qm_model_entry_parse (nearest);
  double size = nearest->image_size;
  double flops = json_object_get_double_member (qm_json_box_object (tree), "flops_per_sample");

  g_assert_true (model->catalogued);
  g_assert_cmpint (model->family, ==, QM_FAMILY_CONV);
  g_assert_cmpfloat (fabs (model->flops_per_sample / 8.2e9 - 1), <, 0.02);
  g_assert_cmpfloat (fabs (model->parameters / 25.56e6 - 1), <, 0.001);
  g_assert_cmpfloat (fabs (larger->pass_flops / (flops * (1792 / size) * (1792 / size)) - 1), <, 1e-9);
  g_assert_cmpfloat (larger->image_size, ==, 1792);
}

static void
test_speech_guess (void)
{
  g_autoptr (QmPlan) plan = plan_of (TASK ("speech") "\"model\":{\"parameters\":1e8}");
  g_autoptr (QmModel) model = qm_model_resolve (plan, NULL, NULL, NULL, NULL);

  g_assert_true (model->flops_guessed);
  g_assert_cmpfloat (model->flops_per_sample, ==, 2 * 1e8 * 50);
  g_assert_cmpfloat (model->ops, ==, 180);
  g_assert_cmpfloat (fabs (model->activations_per_sample / (7e-4 * 1e10) - 1), <, 1e-12);
}

static int
compare_doubles (gconstpointer a,
                 gconstpointer b)
{
  return *(const double *) a < *(const double *) b ? -1 : 1;
}

/* The work of models of which only the count is known, against what their
 * authors published: half of the guesses are within a factor of 1.5. */
static void
test_image_guess (void)
{
  g_autoptr (QmCatalog) shipped = catalog ();
  g_autoptr (GArray) ratios = g_array_new (FALSE, FALSE, sizeof (double));

  for (guint i = 0; i < qm_catalog_n_models (shipped); i++)
    {
      g_autoptr (QmJsonBox) tree = qm_model_entry_parse (qm_catalog_model (shipped, i));
      JsonObject *facts = qm_json_box_object (tree);
      double flops = json_object_get_double_member_with_default (facts, "flops_per_sample", 0);
      double size = json_object_get_double_member_with_default (facts, "image_size", 0);
      double count = json_object_get_double_member_with_default (facts, "parameters", 0);
      g_autoptr (QmPlan) plan = plan_of (TASK ("image-classification") "\"model\":{\"parameters\":1}");
      g_autoptr (QmModel) model = NULL;
      double ratio;

      if (qm_catalog_model (shipped, i)->task != QM_TASK_IMAGE_CLASSIFICATION || !(flops > 0 && size > 0 && count > 0))
        continue;
      plan->model.parameters = count;
      plan->training.image_size = size;
      model = qm_model_resolve (plan, NULL, NULL, NULL, NULL);
      g_assert_true (model->flops_guessed);
      ratio = model->flops_per_sample / flops;
      g_array_append_val (ratios, ratio);
    }

  g_assert_cmpuint (ratios->len, >, 1000);
  g_array_sort (ratios, compare_doubles);
  g_assert_cmpfloat (g_array_index (ratios, double, ratios->len / 4), >, 1 / 1.5);
  g_assert_cmpfloat (g_array_index (ratios, double, ratios->len * 3 / 4), <, 1.5);
}

/* a count that leaves the experts' share alone */
static void
test_experts (void)
{
  g_autoptr (QmPlan) plan = plan_of (TASK ("language-model") "\"model\":{\"parameters\":46702792704,\"architecture\":{"
                                     "\"model_type\":\"mixtral\",\"hidden_size\":4096,\"num_hidden_layers\":32,"
                                     "\"num_attention_heads\":32,\"num_key_value_heads\":8,"
                                     "\"intermediate_size\":14336,\"num_local_experts\":8,\"num_experts_per_tok\":2,"
                                     "\"vocab_size\":32000,\"tie_word_embeddings\":false}}");
  g_autoptr (QmModel) model = qm_model_resolve (plan, NULL, NULL, NULL, NULL);

  g_assert_cmpfloat (model->active_parameters, ==, 12879925248.0);
}

static void
test_shape_left_out (void)
{
  g_autoptr (QmPlan) plan = plan_of (TASK ("language-model") "\"model\":{\"parameters\":1e9,\"architecture\":{"
                                     "\"model_type\":\"llama\"}}");
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_plan_warning_free);
  g_autoptr (QmModel) model = qm_model_resolve (plan, NULL, NULL, warnings, NULL);

  g_assert_nonnull (model);
  g_assert_false (model->architecture.known);
  g_assert_cmpuint (warnings->len, ==, 1);
}

static void
test_json (void)
{
  g_autoptr (QmPlan) plan = plan_of (TASK ("language-model") "\"model\":{" SMALL "}");
  g_autoptr (QmModel) model = qm_model_resolve (plan, NULL, NULL, NULL, NULL);
  g_autoptr (JsonNode) node = qm_model_to_json (model, NULL);
  JsonObject *object = json_object_get_object_member (json_node_get_object (node), "model");
  JsonObject *cache = json_object_get_object_member (object, "kv_cache_bytes");

  g_assert_cmpint (json_object_get_int_member (object, "parameters"), ==, SMALL_PARAMETERS);
  g_assert_cmpint (json_object_get_int_member (object, "flops_per_token"), ==, 2 * (SMALL_PARAMETERS - 6400));
  g_assert_cmpint (json_object_get_int_member (object, "kv_cache_bytes_per_token"), ==, 2 * 2 * 64 * 2);
  g_assert_cmpint (json_object_get_int_member (json_object_get_object_member (cache, "2048"), "ideal"), ==,
                   2048 * 512);
  g_assert_cmpstr (json_object_get_string_member (object, "read_by"), ==, "config");
}

/* what was published of each: size of the file, or bytes of the weights */
static void
check_bytes (const char *id,
             const char *format,
             double      published,
             double      within)
{
  g_autoptr (QmCatalog) shipped = catalog ();
  const QmModelEntry *entry = qm_catalog_find_model (shipped, id, 0);
  g_autoptr (QmModel) model = NULL;
  QmFormatBits bits;

  g_assert_nonnull (entry);
  model = qm_model_from_entry (entry, NULL);
  g_assert_true (qm_format_bits (qm_catalog_table (shipped, "quantization"), format, &bits));
  g_assert_cmpfloat (fabs (qm_model_format_bytes (model, &bits) / published - 1), <, within);
}

/* Llama 3.1 8B: 4.58 GiB as Q4_K_M and 7.95 GiB as Q8_0 (llama.cpp's table); gpt-oss-120b: hf-mem, issue 60 */
static void
test_formats (void)
{
  QmFormatBits bits;

  check_bytes ("llama-3.1-8b", "gguf-q4_k_m", 4.58 * 1073741824.0, 0.01);
  check_bytes ("llama-3.1-8b", "gguf-q8_0", 7.95 * 1073741824.0, 0.01);
  check_bytes ("gpt-oss-120b", "mxfp4", 65248815744.0, 0.01);
  g_assert_false (qm_format_bits (NULL, "fp16", &bits));
}

/* The formula makes what the hub publishes, within the few thousandths that buffers add. */
static void
test_catalog_counts (void)
{
  g_autoptr (QmCatalog) shipped = catalog ();
  guint compared = 0;

  for (guint i = 0; i < qm_catalog_n_models (shipped); i++)
    {
      const QmModelEntry *entry = qm_catalog_model (shipped, i);
      g_autoptr (GError) error = NULL;
      g_autoptr (QmModel) model = qm_model_from_entry (entry, &error);

      g_assert_no_error (error);
      if (!entry->has_config || isnan (entry->parameters))
        continue;
      compared++;
      if (fabs (model->parameters / model->architecture.parameters - 1) > 0.005)
        g_error ("%s: %.0f, the formula makes %.0f", entry->id, model->parameters, model->architecture.parameters);
    }
  g_assert_cmpuint (compared, >, 100);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/resolve/architecture-and-count", test_architecture_and_count);
  g_test_add_func ("/resolve/count-alone", test_count_alone);
  g_test_add_func ("/resolve/unknown-id", test_unknown_id);
  g_test_add_func ("/resolve/vision-size", test_vision_size);
  g_test_add_func ("/resolve/speech-guess", test_speech_guess);
  g_test_add_func ("/resolve/image-guess", test_image_guess);
  g_test_add_func ("/resolve/experts", test_experts);
  g_test_add_func ("/resolve/shape-left-out", test_shape_left_out);
  g_test_add_func ("/resolve/json", test_json);
  g_test_add_func ("/resolve/formats", test_formats);
  g_test_add_func ("/resolve/catalog-counts", test_catalog_counts);
  return g_test_run ();
}
