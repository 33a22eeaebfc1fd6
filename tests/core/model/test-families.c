/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/qm-architecture-formula.h"
#include "model/qm-model-resolve.h"

#include <string.h>
#include <time.h>

static JsonNode *
load (const char *name)
{
  g_autofree char *path = g_build_filename (g_getenv ("G_TEST_SRCDIR"), "data", "configs", name, NULL);
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (GError) error = NULL;

  json_parser_load_from_file (parser, path, &error);
  g_assert_no_error (error);
  return json_parser_steal_root (parser);
}

static void
check_counts (const char *file,
              guint       least)
{
  g_autoptr (JsonNode) root = load (file);
  JsonArray *rows = json_node_get_array (root);
  guint wrong = 0;

  g_assert_cmpuint (json_array_get_length (rows), >=, least);
  for (guint i = 0; i < json_array_get_length (rows); i++)
    {
      JsonObject *row = json_array_get_object_element (rows, i);
      double expected = json_object_get_double_member (row, "parameters");
      g_autoptr (GError) error = NULL;
      QmArchitecture a;
      gboolean good = qm_architecture_from_config (json_object_get_object_member (row, "config"), &a, &error);

      if (good && a.parameters == expected)
        continue;
      wrong++;
      g_test_message ("row %u, %s: %.0f, should be %.0f %s", i, a.type, good ? a.parameters : 0, expected,
                      error != NULL ? error->message : "");
    }
  g_assert_cmpuint (wrong, ==, 0);
}

/* Counts of networks that transformers 5.24.0 and diffusers 0.42.1 built on
 * torch's meta device from these configurations, every tensor once. */
static void
test_counts (void)
{
  check_counts ("families.json", 1580);
}

/* Models that come with code of their own, by what was published of them. */
static void
test_published (void)
{
  check_counts ("published.json", 13);
}

/* lilbee#721: of the 64 layers of Qwen3.5-27B and its successor 16 keep a cache;
 * 65,536 tokens in q8_0 (17/32 of 16 bit) are 2.1 GiB, and not the 8.5 of all
 * layers. The state is the 149.625 MiB that llama.cpp logs for a conversation. */
static void
test_hybrid_cache (void)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  QmArchitecture a;

  g_assert_true (json_parser_load_from_data (parser, "{\"model_type\":\"qwen3_5_text\",\"hidden_size\":5120,"
    "\"intermediate_size\":17408,\"num_hidden_layers\":64,\"num_attention_heads\":24,\"num_key_value_heads\":4,"
    "\"head_dim\":256,\"full_attention_interval\":4,\"linear_num_key_heads\":16,\"linear_num_value_heads\":48,"
    "\"linear_key_head_dim\":128,\"linear_value_head_dim\":128,\"linear_conv_kernel_dim\":4}", -1, NULL));
  g_assert_true (qm_architecture_from_config (json_node_get_object (json_parser_get_root (parser)), &a, NULL));
  g_assert_cmpfloat (qm_architecture_kv_bytes (&a, 65536, 34 / 32.0), ==, 16.0 * 2 * 4 * 256 * 65536 * 34 / 32);
  g_assert_cmpfloat (2 * a.state_size, ==, 149.625 * 1024 * 1024);
}

/* A family nobody knows is counted all the same, and marked. */
static void
test_unknown (void)
{
  static const char * const texts[] = {
    "{\"model_type\":\"quite-new\",\"hidden_size\":4096,\"intermediate_size\":11008,\"num_hidden_layers\":32,"
    "\"num_attention_heads\":32,\"vocab_size\":32000,\"rms_norm_eps\":1e-5}",
    "{\"model_type\":\"quite-new\",\"text_config\":{\"model_type\":\"new_text\",\"hidden_size\":64,\"num_hidden_layers\":2,"
    "\"num_attention_heads\":4,\"vocab_size\":10}}",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (JsonParser) parser = json_parser_new ();
      QmArchitecture a;

      g_assert_true (json_parser_load_from_data (parser, texts[i], -1, NULL));
      g_assert_true (qm_architecture_from_config (json_node_get_object (json_parser_get_root (parser)), &a, NULL));
      g_assert_true (a.approximate);
      /* its sizes are those of Llama 2 7B */
      if (i == 0)
        g_assert_cmpfloat (a.parameters, ==, 6738415616.0);
    }
}

static gboolean
has_note (GPtrArray  *notes,
          const char *code)
{
  for (guint i = 0; i < notes->len; i++)
    if (g_str_equal (qm_message_get_code (notes->pdata[i]), code))
      return TRUE;
  return FALSE;
}

/* A kind of layer nobody knows makes a guess of a known family, also where the
 * language model is a part; layers that predict ahead are named, and left out. */
static void
test_notes (void)
{
  static const struct { const char *json, *code; gboolean guess; } rows[] = {
    { "{\"model_type\":\"qwen3\",\"num_hidden_layers\":2,\"layer_types\":[\"full_attention\",\"sliding_attention\"]}", NULL, FALSE },
    { "{\"model_type\":\"qwen3\",\"num_hidden_layers\":2,\"layer_types\":[\"full_attention\",\"quite_new\"]}", "model-layer-unknown", TRUE },
    { "{\"model_type\":\"gemma3\",\"text_config\":{\"model_type\":\"gemma3_text\",\"num_hidden_layers\":2,"
      "\"layer_types\":[\"quite_new\"]}}", "model-layer-unknown", TRUE },
    { "{\"model_type\":\"deepseek_v3\",\"num_hidden_layers\":61,\"num_nextn_predict_layers\":1}", "model-layers-ahead", FALSE },
    { "{\"model_type\":\"qwen3_next\",\"mtp_num_hidden_layers\":1}", "model-layers-ahead", FALSE },
    { "{\"model_type\":\"deepseek_v3\",\"num_hidden_layers\":61}", NULL, FALSE },
    { "{\"model_type\":\"deepseek_v3\",\"num_nextn_predict_layers\":0}", NULL, FALSE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (JsonParser) parser = json_parser_new ();
      g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_message_free);
      QmArchitecture a;

      g_test_message ("%s", rows[i].json);
      g_assert_true (json_parser_load_from_data (parser, rows[i].json, -1, NULL));
      g_assert_true (qm_architecture_read (json_node_get_object (json_parser_get_root (parser)), &a, notes, NULL));
      g_assert_true (a.approximate == rows[i].guess);
      g_assert_true (has_note (notes, "model-layer-unknown") == (g_strcmp0 (rows[i].code, "model-layer-unknown") == 0));
      g_assert_true (has_note (notes, "model-layers-ahead") == (g_strcmp0 (rows[i].code, "model-layers-ahead") == 0));
    }
}

/* Encoders and detectors keep no past; no vocabulary is made up for what is no
 * language model, and the note says that the count may be far off. */
static void
test_no_language (void)
{
  static const char * const texts[] = {
    "{\"model_type\":\"umt5\",\"architectures\":[\"UMT5EncoderModel\"]}", "{\"model_type\":\"yolos\"}", "{\"model_type\":\"detr\"}",
  };
  g_autoptr (JsonParser) unknown = json_parser_new ();
  QmArchitecture a;

  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (JsonParser) parser = json_parser_new ();

      g_assert_true (json_parser_load_from_data (parser, texts[i], -1, NULL));
      g_assert_true (qm_architecture_from_config (json_node_get_object (json_parser_get_root (parser)), &a, NULL));
      g_assert_false (a.approximate);
      g_assert_cmpfloat (qm_architecture_kv_bytes_per_token (&a, 2), ==, 0);
    }
  g_assert_true (json_parser_load_from_data (unknown, "{\"model_type\":\"new-eye\",\"hidden_size\":192,\"num_hidden_layers\":12,"
    "\"num_attention_heads\":3,\"intermediate_size\":768,\"image_size\":224,\"patch_size\":16}", -1, NULL));
  g_assert_true (qm_architecture_from_config (json_node_get_object (json_parser_get_root (unknown)), &a, NULL));
  g_assert_true (a.approximate);
  g_assert_cmpfloat (a.embedding_parameters, ==, 0);
}

/* Which layers see the whole context and which a window, as the library's
 * configuration has it where the file has no list of layers. */
static void
test_layers (void)
{
  static const struct { const char *json; double full, sliding, window; } rows[] = {
    { "{\"model_type\":\"gemma2\"}", 13, 13, 4096 },
    { "{\"model_type\":\"gemma3_text\"}", 4, 22, 4096 },
    { "{\"model_type\":\"cohere2\"}", 10, 30, 4096 },
    { "{\"model_type\":\"gpt_oss\"}", 18, 18, 128 },
    { "{\"model_type\":\"llama4_text\"}", 12, 36, 8192 },
    { "{\"model_type\":\"cwm\"}", 16, 48, 8192 },
    { "{\"model_type\":\"afmoe\"}", 8, 24, 1024 },
    { "{\"model_type\":\"gemma4_text\"}", 5, 25, 512 },
    { "{\"model_type\":\"olmo3\"}", 8, 24, 4096 },
    { "{\"model_type\":\"recurrent_gemma\",\"attention_window_size\":2048}", 0, 8, 2048 },
    { "{\"model_type\":\"jamba\"}", 4, 0, 0 },
    { "{\"model_type\":\"qwen3_next\"}", 12, 0, 0 },
    { "{\"model_type\":\"mistral\",\"sliding_window\":null}", 32, 0, 0 },
    { "{\"model_type\":\"mistral\",\"sliding_window\":4096}", 0, 32, 4096 },
    { "{\"model_type\":\"qwen2\",\"use_sliding_window\":true,\"sliding_window\":1000,\"max_window_layers\":20}", 20, 12, 1000 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (JsonParser) parser = json_parser_new ();
      QmArchitecture a;

      g_test_message ("%s", rows[i].json);
      g_assert_true (json_parser_load_from_data (parser, rows[i].json, -1, NULL));
      g_assert_true (qm_architecture_from_config (json_node_get_object (json_parser_get_root (parser)), &a, NULL));
      g_assert_cmpfloat (a.full_attention_layers, ==, rows[i].full);
      g_assert_cmpfloat (a.sliding_layers, ==, rows[i].sliding);
      g_assert_cmpfloat (a.window, ==, rows[i].window);
    }
}

static double
evaluate (const char *text)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QmFormula) formula = qm_formula_parse (text, &error);
  int steps = 10000;
  g_autoptr (QmFamilyTable) table = qm_family_table_new ();
  QmShape shape = { .steps = &steps, .table = table };
  QmScope scope = { .shape = &shape };
  double value;

  g_assert_no_error (error);
  json_parser_load_from_data (parser, "{\"a\":3,\"on\":true,\"word\":\"swish\",\"list\":[2,4,8],\"deep\":[[1,2],[3]],"
                              "\"inside\":{\"b\":7},\"none\":null}", -1, &error);
  g_assert_no_error (error);
  shape.keys.object = json_node_get_object (json_parser_get_root (parser));
  shape.class_name = "BertForMaskedLM";
  shape.family = qm_family_table_find (table, "llama", NULL);
  value = qm_scope_evaluate (&scope, formula).total;
  g_assert_no_error (shape.keys.error);
  return value;
}

static const struct {
  const char *text;
  double value;
} formulas[] = {
  { "1+2*3-4/2", 5 },
  { "(1+2)*3", 9 },
  { "-a+10", 7 },
  { "7>=7&&!0", 1 },
  { "1||0&&0", 0 },
  { "a*2!=6||on==0", 0 },
  { "if(on,a,missing)", 3 },
  { "opt(missing,5)+opt(none,6)+opt(a,7)", 14 },
  { "has(none)+has(a)+given(a)", 2 },
  { "is(word,'silu','swish')+contains(word,'wis')", 2 },
  { "arch('ForMaskedLM')+arch('Model','')", 1 },
  { "len(list)+at(list,1)+at(list,-1)+at(a,9)", 18 },
  { "at(deep,0,1)", 2 },
  { "each(list,x,x*x)", 84 },
  { "sum(i,4,i)", 6 },
  { "sum(i,2,sum(j,3,i*10+j))", 36 },
  { "inside.b", 7 },
  { "floor(7/2)+ceil(7/2)+round(2.6)+min(1,2)+max(1,2)+mod(7,4)+power(2,5)+up(100,64)", 176 },
  { "linear(10,20,0)+linear(10,20,1)", 420 },
  { "0.5*4e0", 2 },
};

static void
test_formulas (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (formulas); i++)
    {
      g_test_message ("%s", formulas[i].text);
      g_assert_cmpfloat (evaluate (formulas[i].text), ==, formulas[i].value);
    }
}

static void
test_bad_formulas (void)
{
  static const char * const texts[] = { "", "1+", "(1", "f(1,", "f(1", "'open", "1 2", "*3", "a b", ")" };
  g_autofree char *deep = g_strnfill (500, '(');

  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GError) error = NULL;

      g_test_message ("%s", texts[i]);
      g_assert_null (qm_formula_parse (texts[i], &error));
      g_assert_error (error, QM_MODEL_ERROR, QM_MODEL_ERROR_VALUE);
    }
  g_assert_null (qm_formula_parse (deep, NULL));
}

/* Every section can be read, and with nothing given no family does worse than complain. */
static void
test_empty (void)
{
  g_autoptr (QmFamilyTable) table = qm_family_table_new ();
  g_auto (GStrv) types = qm_family_table_list (table);

  g_assert_cmpuint (g_strv_length (types), >, 250);
  for (gsize i = 0; types[i] != NULL; i++)
    {
      g_autoptr (JsonObject) config = json_object_new ();
      g_autoptr (GError) error = NULL;
      QmArchitecture a;

      g_test_message ("%s", types[i]);
      json_object_set_string_member (config, "model_type", types[i]);
      if (!qm_architecture_from_config (config, &a, &error))
        g_assert_error (error, QM_MODEL_ERROR, QM_MODEL_ERROR_VALUE);
    }
}

/* Sizes that are within bounds one by one and absurd together take no time: of
 * the processor, whatever else the machine does. */
static void
test_absurd (void)
{
  static const char * const texts[] = {
    "{\"model_type\":\"qwen3_moe\",\"num_hidden_layers\":10000,\"hidden_size\":10000000,\"num_experts\":100000}",
    "{\"_class_name\":\"UNet2DConditionModel\",\"layers_per_block\":1e9,\"block_out_channels\":[320,640]}",
    "{\"model_type\":\"gemma4_text\",\"num_hidden_layers\":10000,\"num_kv_shared_layers\":-1000000000}",
    "{\"model_type\":\"swin\",\"depths\":[1e9,1e9],\"num_heads\":[1,2],\"embed_dim\":96}",
    "{\"model_type\":\"llava\",\"text_config\":{\"model_type\":\"llava\",\"text_config\":{}},\"vision_config\":{}}",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (JsonParser) parser = json_parser_new ();
      g_autoptr (GError) error = NULL;
      clock_t start = clock ();
      QmArchitecture a;

      g_test_message ("%s", texts[i]);
      g_assert_true (json_parser_load_from_data (parser, texts[i], -1, NULL));
      if (!qm_architecture_from_config (json_node_get_object (json_parser_get_root (parser)), &a, &error))
        g_assert_error (error, QM_MODEL_ERROR, QM_MODEL_ERROR_VALUE);
      g_assert_cmpfloat ((double) (clock () - start) / CLOCKS_PER_SEC, <, 0.2);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/families/no-language", test_no_language);
  g_test_add_func ("/families/counts", test_counts);
  g_test_add_func ("/families/published", test_published);
  g_test_add_func ("/families/layers", test_layers);
  g_test_add_func ("/families/hybrid-cache", test_hybrid_cache);
  g_test_add_func ("/families/unknown", test_unknown);
  g_test_add_func ("/families/formulas", test_formulas);
  g_test_add_func ("/families/bad-formulas", test_bad_formulas);
  g_test_add_func ("/families/empty", test_empty);
  g_test_add_func ("/families/absurd", test_absurd);
  g_test_add_func ("/families/notes", test_notes);
  return g_test_run ();
}
