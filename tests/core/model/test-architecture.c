/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/qm-model-json.h"
#include "model/qm-model-resolve.h"

#include <math.h>

static JsonObject *
load (const char *path)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (GError) error = NULL;

  json_parser_load_from_file (parser, path, &error);
  g_assert_no_error (error);
  return json_object_ref (json_node_get_object (json_parser_get_root (parser)));
}

static JsonObject *
parse (const char *text)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (GError) error = NULL;

  json_parser_load_from_data (parser, text, -1, &error);
  g_assert_no_error (error);
  return json_object_ref (json_node_get_object (json_parser_get_root (parser)));
}

static double
number (JsonObject *object,
        const char *key)
{
  return json_object_get_double_member_with_default (object, key, NAN);
}

static void
check_cache (const char           *name,
             const QmArchitecture *a,
             JsonObject           *cache)
{
  JsonObject *contexts;
  g_autoptr (GList) members = NULL;
  double full, sliding;

  if (json_object_has_member (cache, "self_attention_bytes_per_decoder_token"))
    {
      g_assert_cmpfloat (qm_architecture_kv_bytes_per_token (a, 2), ==,
                         number (cache, "self_attention_bytes_per_decoder_token"));
      if (isfinite (number (cache, "cross_attention_bytes_per_encoder_token")))
        g_assert_cmpfloat (2 * a->cross_cache_elements, ==, number (cache, "cross_attention_bytes_per_encoder_token"));
      if (isfinite (number (cache, "encoder_tokens_fixed")))
        g_assert_cmpfloat (a->encoder_tokens, ==, number (cache, "encoder_tokens_fixed"));
      return;
    }
  full = number (cache, "bytes_per_token_full_layers");
  sliding = number (cache, "bytes_per_token_sliding_layers_inside_window");
  g_assert_cmpfloat (qm_architecture_kv_bytes_per_token (a, 2), ==, full + sliding);
  contexts = json_object_get_object_member (cache, "bytes_at_context");
  members = json_object_get_members (contexts);
  for (GList *member = members; member != NULL; member = member->next)
    {
      double bytes = qm_architecture_kv_bytes (a, g_ascii_strtod (member->data, NULL), 2);

      if (bytes != number (contexts, member->data))
        g_error ("%s at %s: %.0f", name, (char *) member->data, bytes);
    }
}

static void
check_moe (const QmArchitecture *a,
           JsonObject           *moe)
{
  g_assert_cmpfloat (a->experts, ==, number (moe, "experts"));
  g_assert_cmpfloat (a->experts_per_token, ==, number (moe, "experts_per_token"));
  g_assert_cmpfloat (a->active_parameters, ==, number (moe, "params_active_per_token_incl_embedding"));
}

/* Bytes of all weights, in the plain formats and as the file has them packed. */
static void
check_weights (const char *directory,
               JsonObject *expected)
{
  g_autofree char *path = g_build_filename (directory, json_object_get_string_member (expected, "file"), NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmModel) model = qm_model_from_file (path, &error);
  g_autoptr (JsonNode) node = NULL;
  JsonObject *given, *bytes;
  static const char * const formats[] = { "fp32", "bf16", "int8", "int4_no_overhead" };

  g_assert_no_error (error);
  node = qm_model_to_json (model, NULL);
  bytes = json_object_get_object_member (json_object_get_object_member (json_node_get_object (node), "model"),
                                         "weight_bytes");
  given = json_object_has_member (expected, "weight_bytes") ? json_object_get_object_member (expected, "weight_bytes") : NULL;
  for (gsize i = 0; given != NULL && i < G_N_ELEMENTS (formats); i++)
    if (isfinite (number (given, formats[i])))
      g_assert_cmpfloat (number (bytes, formats[i]), ==, number (given, formats[i]));
  given = json_object_has_member (expected, "quantised") ? json_object_get_object_member (expected, "quantised") : NULL;
  if (given != NULL && isfinite (number (given, "weights_bytes_estimate")))
    g_assert_cmpfloat (number (bytes, "as_configured"), ==, number (given, "weights_bytes_estimate"));
}

static void
check_model (const char *directory,
             const char *name,
             JsonObject *expected)
{
  g_autofree char *path = g_build_filename (directory, json_object_get_string_member (expected, "file"), NULL);
  g_autoptr (JsonObject) config = load (path);
  g_autoptr (GError) error = NULL;
  QmArchitecture a;
  double total = number (expected, "params_total");

  g_test_message ("%s", name);
  if (!isfinite (total))
    total = number (expected, "params_language");
  qm_architecture_from_config (config, &a, &error);
  g_assert_no_error (error);
  if (a.parameters != total)
    g_error ("%s: %.0f, should be %.0f", name, a.parameters, total);
  if (isfinite (number (expected, "params_input_embedding")))
    g_assert_cmpfloat (a.embedding_parameters, ==, number (expected, "params_input_embedding"));
  if (json_object_has_member (expected, "moe"))
    check_moe (&a, json_object_get_object_member (expected, "moe"));
  if (json_object_get_null_member (expected, "kv_cache"))
    g_assert_cmpfloat (qm_architecture_kv_bytes (&a, 1000, 2), ==, 0);
  else
    check_cache (name, &a, json_object_get_object_member (expected, "kv_cache"));
  if (json_object_has_member (expected, "recurrent_state"))
    g_assert_cmpfloat (2 * a.state_size, ==, number (json_object_get_object_member (expected, "recurrent_state"),
                                                     "state_bytes_fp32_per_sequence"));
}

static void
check_all (const char *directory)
{
  g_autofree char *path = g_build_filename (directory, "expected.json", NULL);
  g_autoptr (JsonObject) expected = NULL;
  g_autoptr (GList) names = NULL;
  JsonObject *models;

  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    {
      g_test_skip ("no such folder");
      return;
    }
  expected = load (path);
  models = json_object_get_object_member (expected, "models");
  names = json_object_get_members (models);
  g_assert_nonnull (names);
  for (GList *name = names; name != NULL; name = name->next)
    {
      JsonObject *model = json_object_get_object_member (models, name->data);

      check_model (directory, name->data, model);
      check_weights (directory, model);
    }
}

static void
test_shared (void)
{
  g_autofree char *directory = g_build_filename (g_getenv ("G_TEST_SRCDIR"), "..", "..", "shared", "data", "configs",
                                                 NULL);
  g_autofree char *beside = g_build_filename (g_getenv ("G_TEST_SRCDIR"), "..", "..", "..", "shared", "data",
                                              "configs", NULL);

  check_all (g_file_test (directory, G_FILE_TEST_IS_DIR) ? directory : beside);
}

static void
test_own (void)
{
  g_autofree char *directory = g_build_filename (g_getenv ("G_TEST_SRCDIR"), "data", "configs", NULL);

  check_all (directory);
}

static void
test_refused (gconstpointer data)
{
  const char * const *row = data;
  g_autoptr (JsonObject) config = parse (row[0]);
  g_autoptr (GError) error = NULL;
  QmArchitecture a;

  g_assert_false (qm_architecture_from_config (config, &a, &error));
  g_assert_error (error, QM_MODEL_ERROR, QM_MODEL_ERROR_VALUE);
  g_assert_cmpstr (error->message, ==, row[1]);
}

#define BASE "\"model_type\":\"llama\",\"vocab_size\":1000,"

static const char * const refused[][2] = {
  { "{}", "hidden_size is missing; a model needs hidden_size, num_hidden_layers and num_attention_heads, or the "
    "names its family has for them" },
  { "{" BASE "\"hidden_size\":64,\"num_hidden_layers\":null,\"num_attention_heads\":4}",
    "num_hidden_layers is null, and should be a number" },
  { "{" BASE "\"hidden_size\":64,\"num_hidden_layers\":-2,\"num_attention_heads\":4}",
    "num_hidden_layers is -2, and cannot be negative" },
  { "{" BASE "\"hidden_size\":64,\"n_layer\":2.5,\"num_attention_heads\":4}",
    "n_layer is 2.5, and should be a whole number" },
  { "{" BASE "\"hidden_size\":64,\"num_hidden_layers\":2,\"num_attention_heads\":0}",
    "num_attention_heads is 0, and should be 1 or more" },
  { "{" BASE "\"hidden_size\":64,\"num_hidden_layers\":2,\"num_attention_heads\":4,\"num_key_value_heads\":8}",
    "num_key_value_heads is 8, more than the 4 attention heads" },
  { "{" BASE "\"hidden_size\":\"64k\",\"num_hidden_layers\":2,\"num_attention_heads\":4}",
    "hidden_size is “64k”, and should be a number" },
  { "{" BASE "\"hidden_size\":9223372036854775807,\"num_hidden_layers\":2,\"num_attention_heads\":4}",
    "hidden_size is 9.22337203685478e+18, more than the 10000000 that any model has" },
  { "{" BASE "\"hidden_size\":66,\"num_hidden_layers\":2,\"num_attention_heads\":4}",
    "hidden_size is 66, and should be a multiple of the 4 attention heads" },
  { "{" BASE "\"hidden_size\":64,\"num_hidden_layers\":2,\"num_attention_heads\":4,\"num_experts\":2,"
    "\"num_experts_per_tok\":3}", "num_experts_per_tok is 3, more than the 2 experts" },
  { "{" BASE "\"hidden_size\":64,\"num_hidden_layers\":2,\"num_attention_heads\":4,\"tie_word_embeddings\":\"true\"}",
    "tie_word_embeddings should be true or false" },
  { "{" BASE "\"hidden_size\":64,\"num_hidden_layers\":2,\"num_attention_heads\":4,\"layer_types\":[1,2]}",
    "layer_types should be a list of words, one for each layer" },
  { "{" BASE "\"hidden_size\":64,\"num_hidden_layers\":2,\"num_attention_heads\":4,\"layer_types\":\"full_attention\"}",
    "layer_types should be a list of words, one for each layer" },
  { "{" BASE "\"hidden_size\":64,\"num_hidden_layers\":2,\"num_attention_heads\":4,\"head_dim\":true}",
    "head_dim should be a number" },
  { "{" BASE "\"hidden_size\":64,\"num_hidden_layers\":2,\"num_attention_heads\":4,\"intermediate_size\":0}",
    "intermediate_size is 0, and should be 1 or more" },
  { "{\"model_type\":\"llama\",\"hidden_size\":64,\"num_hidden_layers\":2,\"num_attention_heads\":4,\"vocab_size\":0}",
    "vocab_size is 0, and should be 1 or more" },
};

/* N = 12·L·h² at h = 128·L: 12·128²·L³ at L = 32 is 6.44e9 */
static void
test_guess (void)
{
  QmArchitecture a;

  qm_architecture_guess (12.0 * 128 * 128 * 32 * 32 * 32, &a);

  g_assert_false (a.known);
  g_assert_cmpfloat (a.layers, ==, 32);
  g_assert_cmpfloat (a.hidden, ==, 4096);
  g_assert_cmpfloat (a.heads, ==, 32);
  g_assert_cmpfloat (a.kv_heads, ==, 32);
  g_assert_cmpfloat (a.head_size, ==, 128);
  qm_architecture_guess (1000, &a);
  g_assert_cmpfloat (a.layers, ==, 2);
  g_assert_cmpfloat (a.hidden, ==, 128);
}

/* q8_0 keeps 34 bytes for 32 elements: 17/32 of the 16-bit cache */
static void
test_cache_precision (void)
{
  g_autoptr (JsonObject) config = parse ("{" BASE "\"hidden_size\":64,\"num_hidden_layers\":2,"
                                         "\"num_attention_heads\":4}");
  QmArchitecture a;

  g_assert_true (qm_architecture_from_config (config, &a, NULL));
  g_assert_cmpfloat (qm_architecture_kv_bytes (&a, 100, 2), ==, 2 * 2 * 64 * 2 * 100);
  g_assert_cmpfloat (qm_architecture_kv_bytes (&a, 100, 34 / 32.0), ==, 2 * 2 * 64 * 2 * 100 * 17 / 32.0);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/architecture/shared", test_shared);
  g_test_add_func ("/architecture/own", test_own);
  g_test_add_func ("/architecture/guess", test_guess);
  g_test_add_func ("/architecture/cache-precision", test_cache_precision);
  for (gsize i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_autofree char *path = g_strdup_printf ("/architecture/refused/%zu", i);

      g_test_add_data_func (path, refused[i], test_refused);
    }
  return g_test_run ();
}
