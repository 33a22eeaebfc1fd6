/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "file-fixture.h"

#include <time.h>

#include <stdio.h>
#include <unistd.h>

static GByteArray *
safetensors (const char *header,
             guint64     announced)
{
  GByteArray *bytes = g_byte_array_new ();
  guint64 length = GUINT64_TO_LE (announced > 0 ? announced : strlen (header));

  g_byte_array_append (bytes, (const guint8 *) &length, 8);
  g_byte_array_append (bytes, (const guint8 *) header, strlen (header));
  return bytes;
}

static void
test_safetensors (void)
{
  g_autoptr (GByteArray) bytes = safetensors ("{\"__metadata__\":null,"
    "\"a.weight\":{\"dtype\":\"F16\",\"shape\":[10,20],\"data_offsets\":[0,400]},"
    "\"b.qweight\":{\"dtype\":\"I32\",\"shape\":[4,8],\"data_offsets\":[400,528]},"
    "\"b.scales\":{\"dtype\":\"F16\",\"shape\":[1,8],\"data_offsets\":[528,544]}}", 0);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmModel) model = NULL;

  g_byte_array_set_size (bytes, bytes->len + 544);
  model = read_data ("x.safetensors", bytes->data, bytes->len, &error);
  g_assert_no_error (error);
  /* an integer of 32 bits holds eight weights of 4 */
  g_assert_cmpfloat (model->parameters, ==, 200 + 32 * 8);
  g_assert_cmpfloat (model->stored_bytes, ==, 544);
  g_assert_cmpint (model->read_by, ==, QM_READER_SAFETENSORS);
  g_assert_false (model->architecture.known);
  /* that layers and widths of weights were guessed */
  g_assert_cmpuint (model->notes->len, ==, 2);
}

static double
count_weights (const char *header)
{
  g_autoptr (GByteArray) bytes = safetensors (header, 0);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmModel) model = read_data ("x.safetensors", bytes->data, bytes->len, &error);

  g_assert_no_error (error);
  return model->parameters;
}

#define TENSOR(name, type, shape) "\"" name "\":{\"dtype\":\"" type "\",\"shape\":" shape ",\"data_offsets\":[0,0]}"

/* Layouts of the tools' own documentation: MLX packs in columns of 32-bit
 * integers with a scale a group of 64, compressed-tensors eight weights of 4
 * bits in an integer, bitsandbytes and MXFP4 two in a byte. */
static void
test_packed (void)
{
  g_assert_cmpfloat (count_weights ("{" TENSOR ("a.weight", "U32", "[100,64]") "," TENSOR ("a.scales", "F16", "[100,8]") ","
                                    TENSOR ("a.biases", "F16", "[100,8]") "}"), ==, 100 * 512);
  g_assert_cmpfloat (count_weights ("{" TENSOR ("a.weight", "U32", "[100,128]") "," TENSOR ("a.scales", "F16", "[100,8]") ","
                                    TENSOR ("a.biases", "F16", "[100,8]") "}"), ==, 100 * 512);
  g_assert_cmpfloat (count_weights ("{" TENSOR ("a.weight_packed", "I32", "[100,64]") ","
                                    TENSOR ("a.weight_scale", "BF16", "[100,16]") ","
                                    TENSOR ("a.weight_shape", "I64", "[2]") "}"), ==, 100 * 512);
  g_assert_cmpfloat (count_weights ("{" TENSOR ("a.weight", "U8", "[800,1]") "," TENSOR ("a.weight.absmax", "U8", "[25]") ","
                                    TENSOR ("a.weight.quant_map", "F32", "[16]") "}"), ==, 1600);
  g_assert_cmpfloat (count_weights ("{" TENSOR ("e_blocks", "U8", "[4,90,16]") "," TENSOR ("e_scales", "U8", "[4,90]") "}"),
                     ==, 4 * 90 * 32);
  g_assert_cmpfloat (count_weights ("{" TENSOR ("a.weight", "F8_E4M3", "[256,256]") ","
                                    TENSOR ("a.weight_scale_inv", "F32", "[2,2]") "," TENSOR ("a.bias", "BF16", "[256]") "}"),
                     ==, 256 * 256 + 256);
}

/* huggingface.js#2003: how wide the weights are stood in `text_config`, and 32-bit
 * integers that held eight of them were counted as one. */
static void
test_packed_by_config (void)
{
  g_autoptr (GByteArray) bytes = safetensors ("{" TENSOR ("a.weight_packed", "I32", "[100,64]") "}", 0);
  g_autofree char *config = write_file ("config.json", "{\"text_config\":{\"quantization_config\":{\"quant_method\":"
    "\"compressed-tensors\",\"config_groups\":{\"group_0\":{\"weights\":{\"num_bits\":8}}}}}}", -1);
  g_autofree char *path = write_file ("model.safetensors", bytes->data, bytes->len);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmModel) model = qm_model_from_file (path, &error);

  g_assert_no_error (error);
  g_assert_cmpfloat (model->parameters, ==, 100 * 64 * 4);
  g_remove (path);
  g_remove (config);
}

/* Any file of a row stands for all; those that are not there are named. */
static void
test_rows (void)
{
  g_autoptr (GByteArray) one = safetensors ("{" TENSOR ("a", "F16", "[10]") "}", 0);
  g_autoptr (GByteArray) two = safetensors ("{" TENSOR ("b", "F16", "[20]") "}", 0);
  g_autofree char *first = write_file ("model-00001-of-00002.safetensors", one->data, one->len);
  g_autofree char *second = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (QmModel) missing = qm_model_from_file (first, &error);
  g_autoptr (QmModel) model = NULL;

  g_assert_null (missing);
  g_assert_error (error, QM_MODEL_ERROR, QM_MODEL_ERROR_FILE);
  g_assert_nonnull (strstr (error->message, "model-00002-of-00002.safetensors"));
  second = write_file ("model-00002-of-00002.safetensors", two->data, two->len);
  model = qm_model_from_file (second, NULL);
  g_assert_cmpfloat (model->parameters, ==, 30);
  g_remove (first);
  g_remove (second);
}

/* In a folder the tensors count before the configuration, which tells of the layers. */
static void
test_header_wins (void)
{
  g_autoptr (GByteArray) bytes = safetensors ("{" TENSOR ("a", "F16", "[123]") "}", 0);
  g_autofree char *weights = write_file ("model.safetensors", bytes->data, bytes->len);
  g_autofree char *config = write_file ("config.json", "{\"model_type\":\"llama\",\"hidden_size\":64,\"vocab_size\":10,"
                                        "\"num_hidden_layers\":2,\"num_attention_heads\":4,\"intermediate_size\":128}", -1);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmModel) model = qm_model_from_file (folder, &error);

  g_assert_no_error (error);
  g_assert_cmpfloat (model->parameters, ==, 123);
  g_assert_cmpfloat (model->architecture.layers, ==, 2);
  g_assert_cmpint (model->read_by, ==, QM_READER_SAFETENSORS);
  g_remove (weights);
  g_remove (config);
}

static gboolean
has_note (const QmModel *model,
          const char    *code)
{
  for (guint i = 0; model->notes != NULL && i < model->notes->len; i++)
    if (g_str_equal (qm_message_get_code (g_ptr_array_index (model->notes, i)), code))
      return TRUE;
  return FALSE;
}

#define CONFIG_OF_8B "{\"model_type\":\"llama\",\"hidden_size\":4096,\"vocab_size\":128256,\"num_hidden_layers\":32," \
                     "\"num_attention_heads\":32,\"num_key_value_heads\":8,\"intermediate_size\":14336}"

static void
check_beside (const char *config,
              const char *code)
{
  g_autoptr (GByteArray) bytes = safetensors ("{" TENSOR ("a", "F16", "[123]") "}", 0);
  g_autofree char *weights = write_file ("model.safetensors", bytes->data, bytes->len);
  g_autofree char *beside = write_file ("config.json", config, -1);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmModel) model = qm_model_from_file (folder, &error);

  g_assert_no_error (error);
  g_assert_cmpfloat (model->parameters, ==, 123);
  g_assert_true (has_note (model, code));
  g_remove (weights);
  g_remove (beside);
}

/* A config.json that is of another model, or is broken, lies beside the weights. */
static void
test_config_beside (void)
{
  check_beside (CONFIG_OF_8B, "model-config-contradicts");
  check_beside ("{\"hidden_size\":NaN", "model-config-useless");
  check_beside ("<html>", "model-config-useless");
  check_beside ("{\"model_type\":\"llama\",\"hidden_size\":-5}", "model-config-useless");
}

/* Names as peft, LyCORIS, kohya and diffusers write them. */
static void
test_other_adapters (void)
{
  static const char * const headers[] = {
    "{" TENSOR ("base_model.model.layers.0.mlp.down_proj.ia3_l", "F16", "[64]") "}",
    "{" TENSOR ("prompt_embeddings", "F16", "[20,64]") "}",
    "{" TENSOR ("lora_unet_mid.hada_w1_a", "F16", "[8,64]") "}",
    "{" TENSOR ("unet.mid.attn1.to_k_lora.down.weight", "F16", "[8,64]") "}",
    "{" TENSOR ("base_model.model.model.embed_tokens.weight", "F16", "[100,64]") ","
        TENSOR ("base_model.model.q_proj.lora_A.weight", "F16", "[8,64]") "}",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (headers); i++)
    {
      g_autoptr (GByteArray) bytes = safetensors (headers[i], 0);
      g_autoptr (GError) error = NULL;
      g_autoptr (QmModel) model = read_data ("x.safetensors", bytes->data, bytes->len, &error);

      g_assert_null (model);
      g_assert_error (error, QM_MODEL_ERROR, QM_MODEL_ERROR_NOT_A_MODEL);
    }
  /* Phi-4-multimodal keeps the adapters of its senses beside its own weights. */
  g_assert_cmpfloat (count_weights ("{" TENSOR ("model.layers.0.mlp.down_proj.base_layer.weight", "BF16", "[64,128]") ","
                                    TENSOR ("model.layers.0.mlp.down_proj.lora_A.vision.weight", "BF16", "[8,128]") "}"),
                     ==, 64 * 128 + 8 * 128);
}

static void
test_index_of_too_many (void)
{
  g_autoptr (GString) text = g_string_new ("{\"metadata\":{\"total_size\":200},\"weight_map\":{");
  g_autoptr (GError) error = NULL;
  g_autoptr (QmModel) model = NULL;

  for (int i = 0; i < 2500; i++)
    g_string_append_printf (text, "%s\"t%d\":\"m%d.safetensors\"", i > 0 ? "," : "", i, i);
  g_string_append (text, "}}");
  model = read_data ("model.safetensors.index.json", text->str, -1, &error);
  g_assert_null (model);
  g_assert_nonnull (strstr (error->message, "more than 2000 files"));
}

static void
test_adapter (void)
{
  g_autoptr (GByteArray) bytes = safetensors ("{" TENSOR ("base_model.model.q_proj.lora_A.weight", "F16", "[8,64]") "}", 0);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmModel) model = read_data ("adapter_model.safetensors", bytes->data, bytes->len, &error);

  g_assert_null (model);
  g_assert_error (error, QM_MODEL_ERROR, QM_MODEL_ERROR_NOT_A_MODEL);
  g_assert_nonnull (strstr (error->message, "LoRA"));
}

/* A file of 10 GB, most of it a hole. */
static void
test_large (void)
{
  g_autoptr (GByteArray) bytes = safetensors ("{\"a\":{\"dtype\":\"F16\",\"shape\":[50000,100000],"
                                              "\"data_offsets\":[0,10000000000]}}", 0);
  g_autofree char *path = write_file ("large.safetensors", bytes->data, bytes->len);
  FILE *stream = g_fopen (path, "r+b");
  g_autoptr (GError) error = NULL;
  g_autoptr (QmModel) model = NULL;
  gint64 start;

  g_assert_nonnull (stream);
  g_assert_cmpint (ftruncate (fileno (stream), 10000000000 + bytes->len), ==, 0);
  fclose (stream);
  start = g_get_monotonic_time ();
  model = qm_model_from_file (path, &error);
  g_assert_cmpint (g_get_monotonic_time () - start, <, SLOWER * 50 * 1000);
  g_assert_no_error (error);
  g_assert_cmpfloat (model->parameters, ==, 5e9);
  g_assert_cmpfloat (model->stored_bytes, ==, 1e10);
  g_remove (path);
}

/* Grouped-query attention: two layers of 128-wide keys and values at 16 bits are 1024 bytes a token */
static void
test_safetensors_shapes (void)
{
  g_autoptr (GByteArray) bytes = safetensors ("{"
    "\"model.embed_tokens.weight\":{\"dtype\":\"F16\",\"shape\":[50,512],\"data_offsets\":[0,51200]},"
    "\"model.layers.1.self_attn.q_proj.weight\":{\"dtype\":\"F16\",\"shape\":[512,512],\"data_offsets\":[0,524288]},"
    "\"model.layers.1.self_attn.k_proj.weight\":{\"dtype\":\"F16\",\"shape\":[128,512],\"data_offsets\":[0,131072]},"
    "\"model.layers.0.mlp.up_proj.weight\":{\"dtype\":\"F16\",\"shape\":[1000,512],\"data_offsets\":[0,1024000]}}", 0);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmModel) model = read_data ("x.safetensors", bytes->data, bytes->len, &error);

  g_assert_no_error (error);
  g_assert_cmpfloat (model->parameters, ==, 512 * (50 + 512 + 128 + 1000));
  g_assert_cmpfloat (model->architecture.layers, ==, 2);
  g_assert_cmpfloat (model->architecture.ffn, ==, 1000);
  g_assert_true (model->architecture.tied);
  g_assert_cmpfloat (qm_architecture_kv_bytes_per_token (&model->architecture, 2), ==, 1024);
}

static const struct {
  const char *header;
  guint64 announced;
} bad_safetensors[] = {
  { "{}", G_MAXUINT64 },
  { "{}", 200000000 },
  { "{}", 1000 },
  { "{}", 0 },
  { "[1]", 0 },
  { "{\"a\":{\"dtype\":\"F16\",\"shape\":[-1],\"data_offsets\":[0,4]}}", 0 },
  { "{\"a\":{\"dtype\":\"F16\",\"shape\":[2.5],\"data_offsets\":[0,4]}}", 0 },
  { "{\"a\":{\"dtype\":\"F16\",\"shape\":[9223372036854775807,9223372036854775807],\"data_offsets\":[0,4]}}", 0 },
  { "{\"a\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[8,4]}}", 0 },
  { "{\"a\":{\"dtype\":\"F16\",\"shape\":[2]}}", 0 },
  { "{\"a\":{\"dtype\":7,\"shape\":[2],\"data_offsets\":[0,4]}}", 0 },
  { "{\"a\":null}", 0 },
  { "{\"a\":", 0 },
};

static void
test_bad_safetensors (gconstpointer data)
{
  gsize i = GPOINTER_TO_SIZE (data);
  g_autoptr (GByteArray) bytes = safetensors (bad_safetensors[i].header, bad_safetensors[i].announced);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmModel) model = read_data ("bad.safetensors", bytes->data, bytes->len, &error);

  g_assert_null (model);
  g_assert_nonnull (error);
  g_assert_true (error->domain == QM_MODEL_ERROR);
}

/* Llama 2 7B in 16 bits: 6,738,415,616 parameters in twice as many bytes */
static void
test_index (void)
{
  const char *text = "{\"metadata\":{\"total_size\":13476831232},\"weight_map\":{\"a\":\"not-here.safetensors\"}}";
  g_autoptr (GError) error = NULL;
  g_autoptr (QmModel) model = read_data ("model.safetensors.index.json", text, -1, &error);

  g_assert_no_error (error);
  g_assert_cmpfloat (model->parameters, ==, 6738415616.0);
  g_assert_cmpuint (model->notes->len, ==, 3);
}

/* The format asks that tensors follow each other without gaps or overlaps, each
 * as long as its sizes make: what does not is counted, and marked. */
static void
test_doubtful (void)
{
  static const struct { const char *header; gboolean doubtful; } rows[] = {
    { "{\"a\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[0,4]},\"b\":{\"dtype\":\"F8_E4M3\",\"shape\":[4],\"data_offsets\":[4,8]}}", FALSE },
    { "{\"a\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[0,4]},\"b\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[2,6]}}", TRUE },
    { "{\"a\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[0,4]},\"a\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[4,8]}}", TRUE },
    { "{\"a\":{\"dtype\":\"F16\",\"shape\":[1000],\"data_offsets\":[0,8]}}", TRUE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GByteArray) bytes = safetensors (rows[i].header, 0);
      g_autoptr (GError) error = NULL;
      g_autoptr (QmModel) model = NULL;

      g_byte_array_set_size (bytes, bytes->len + 8);
      model = read_data ("x.safetensors", bytes->data, bytes->len, &error);
      g_assert_no_error (error);
      g_assert_cmpint (has_note (model, "model-tensors-doubtful"), ==, rows[i].doubtful);
    }
}

/* A header may be as long as a text that begins with any sign: 60 is “<”. */
static void
test_any_length (void)
{
  for (int length = 60; length < 60 + 256; length++)
    {
      g_autofree char *padded = g_strdup_printf ("%-*s", length, "{\"a\":{\"dtype\":\"F16\",\"shape\":[2],"
                                                 "\"data_offsets\":[0,4]}}");
      g_autoptr (GByteArray) bytes = safetensors (padded, 0);
      g_autoptr (GError) error = NULL;
      g_autoptr (QmModel) model = NULL;

      g_byte_array_set_size (bytes, bytes->len + 4);
      model = read_data (length % 2 ? "x.safetensors" : "weights.dat", bytes->data, bytes->len, &error);
      g_assert_no_error (error);
      g_assert_cmpfloat (model->parameters, ==, 2);
    }
}

/* A tensor that two files hold is one tensor. */
static void
test_repeated (void)
{
  g_autoptr (GByteArray) first = safetensors ("{\"a\":{\"dtype\":\"F16\",\"shape\":[1000],\"data_offsets\":[0,2000]},"
                                              "\"b\":{\"dtype\":\"F16\",\"shape\":[200],\"data_offsets\":[2000,2400]}}", 0);
  g_autoptr (GByteArray) second = safetensors ("{\"b\":{\"dtype\":\"F16\",\"shape\":[200],\"data_offsets\":[0,400]},"
                                               "\"c\":{\"dtype\":\"F16\",\"shape\":[30],\"data_offsets\":[400,460]}}", 0);
  g_autofree char *one = NULL, *two = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (QmModel) model = NULL;

  g_byte_array_set_size (first, first->len + 2400);
  g_byte_array_set_size (second, second->len + 460);
  one = write_file ("m-00001-of-00002.safetensors", first->data, first->len);
  two = write_file ("m-00002-of-00002.safetensors", second->data, second->len);
  model = qm_model_from_file (one, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (model->parameters, ==, 1230);
  g_assert_cmpfloat (model->stored_bytes, ==, 2460);
  g_assert_true (has_note (model, "model-tensors-repeated"));
  g_assert_false (has_note (model, "model-tensors-doubtful"));
  g_remove (one);
  g_remove (two);
}

#define PACKED "{\"model_type\":\"llama\",\"hidden_size\":256,\"num_hidden_layers\":4,\"num_attention_heads\":4,\"intermediate_size\":512," \
               "\"vocab_size\":64,\"quantization_config\":%s}"

/* How weights are packed is taken over, or noted where it is not known or not true. */
static void
test_packing_words (void)
{
  static const struct { const char *quantization, *word; } rows[] = {
    { "{\"quant_method\":\"awq\",\"bits\":4,\"group_size\":128}", "awq-int4" },
    { "{\"quant_method\":\"gptq\",\"bits\":8,\"group_size\":128}", "int8" },
    { "{\"quant_method\":\"bitsandbytes\",\"load_in_4bit\":true}", "nf4" },
    { "{\"quant_method\":\"mxfp4\"}", "mxfp4" },
    { "{\"quant_method\":\"fp8\",\"weight_block_size\":[128,128]}", "fp8" },
    { "{\"quant_method\":\"spqr\",\"bits\":3}", NULL },
    { "{}", NULL },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *text = g_strdup_printf (PACKED, rows[i].quantization);
      g_autoptr (QmModel) model = read_data ("config.json", text, -1, NULL);

      g_assert_cmpstr (model->stored_format, ==, rows[i].word);
      g_assert_cmpint (has_note (model, "model-packing-unknown"), ==, rows[i].word == NULL);
    }
}

static void
test_packing_untrue (void)
{
  g_autofree char *text = g_strdup_printf (PACKED, "{\"quant_method\":\"awq\",\"bits\":4,\"group_size\":128}");
  g_autofree char *config = write_file ("config.json", text, -1);
  g_autoptr (QmModel) described = qm_model_from_file (config, NULL);
  gint64 n = described->parameters;
  g_autofree char *header = g_strdup_printf ("{\"a\":{\"dtype\":\"F16\",\"shape\":[%" G_GINT64_FORMAT "],\"data_offsets\":[0,%" G_GINT64_FORMAT "]}}", n, 2 * n);
  g_autoptr (GByteArray) bytes = safetensors (header, 0);
  g_autoptr (QmModel) model = NULL;

  g_byte_array_set_size (bytes, bytes->len + 2 * n);
  model = read_data ("x.safetensors", bytes->data, bytes->len, NULL);
  g_assert_cmpfloat (model->parameters, ==, n);
  g_assert_true (has_note (model, "model-packing-contradicts"));
  g_remove (config);
}

/* What an index names that leads out of its folder is not followed, and missed. */
static void
test_index_outside (void)
{
  g_autoptr (GByteArray) bytes = safetensors ("{\"a\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[0,4]}}", 0);
  g_autofree char *shard = write_file ("a.safetensors", bytes->data, bytes->len);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmModel) model = read_data ("model.safetensors.index.json", "{\"metadata\":{\"total_size\":2000},\"weight_map\":"
                                         "{\"a\":\"a.safetensors\",\"b\":\"../b.safetensors\"}}", -1, &error);

  g_assert_no_error (error);
  g_assert_cmpfloat (model->parameters, ==, 1000);
  g_assert_true (has_note (model, "model-files-missing"));
  g_remove (shard);
}

/* The index of a trillion parameters in 4 bits: 60 layers of 384 experts with
 * three matrices, each in three tensors. Only the names of its files are kept,
 * written how they may be; another map of that length is refused. */
static void
test_index_long (void)
{
  static const char * const keys[] = { "weight_map", "weight_maps" };

  for (gsize k = 0; k < G_N_ELEMENTS (keys); k++)
    {
      g_autoptr (GString) text = g_string_new ("{\"metadata\":{\"total_size\":2000},\n ");
      g_autoptr (GError) error = NULL;
      g_autoptr (QmModel) model = NULL;
      clock_t start;

      g_string_append_printf (text, "\"%s\" : {", keys[k]);
      for (int i = 0; i < 60 * 384 * 9; i++)
        g_string_append_printf (text, "%s\n \"model.layers.%d.experts.%d\": \"model-%05d-of-00060.safetensors\"", i > 0 ? "," : "",
                                i / 3456, i % 3456, i / 3456 + 1);
      g_string_append (text, "\n }\n}");
      start = clock ();
      model = read_data ("model.safetensors.index.json", text->str, text->len, &error);
      g_assert_cmpfloat ((double) (clock () - start) / CLOCKS_PER_SEC, <, 0.5);
      if (k == 0)
        g_assert_true (has_note (model, "model-files-missing"));
      else
        g_assert_error (error, QM_MODEL_ERROR, QM_MODEL_ERROR_NOT_A_MODEL);
    }
}

/* Of an index that is not written plainly the parser takes every name. */
static void
test_index_odd (void)
{
  static const char * const texts[] = {
    "{\"weight_map\":{}}", "{\"weight_map\":{\"a\\n\":\"a.safetensors\",\"b\":\"b.safetensors\"}}", "{\"weight_map\":{\"a\":1}}",
    "{\"weight_map\":{\"a\":\"a.safetensors\",}}", "{\"weight_map\":{\"a\":\"a.safe", "{\"weight_map\":{", "{\"weight_map\":{\"a\"",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (QmModel) model = read_data ("model.safetensors.index.json", texts[i], -1, &error);

      g_assert_null (model);
      g_assert_error (error, QM_MODEL_ERROR, (i < 3 ? QM_MODEL_ERROR_VALUE : QM_MODEL_ERROR_NOT_A_MODEL));
      if (i == 1)
        g_assert_nonnull (strstr (error->message, "a.safetensors, b.safetensors"));
    }
}

/* A file beside the index that is not what its name says is named, and what it is. */
static void
test_index_pointer (void)
{
  g_autofree char *shard = write_file ("a.safetensors", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n", -1);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmModel) model = read_data ("model.safetensors.index.json", "{\"weight_map\":{\"a\":\"a.safetensors\"}}", -1, &error);

  g_assert_null (model);
  g_assert_nonnull (strstr (error->message, "git lfs pull"));
  g_assert_true (g_str_has_prefix (error->message, "a.safetensors"));
  g_remove (shard);
}

/* A million tensors, more than any model has, take neither time nor memory. */
static void
test_many (void)
{
  g_autoptr (GString) text = g_string_new ("{");
  g_autoptr (GByteArray) bytes = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (QmModel) model = NULL;
  gint64 start;

  for (int i = 0; i < 1000000; i++)
    g_string_append_printf (text, "%s\"t%d\":{\"dtype\":\"F16\",\"shape\":[1],\"data_offsets\":[%d,%d]}", i > 0 ? "," : "",
                            i, 2 * i, 2 * i + 2);
  g_string_append_c (text, '}');
  bytes = safetensors (text->str, 0);
  start = g_get_monotonic_time ();
  model = read_data ("x.safetensors", bytes->data, bytes->len, &error);
  g_assert_null (model);
  g_assert_error (error, QM_MODEL_ERROR, QM_MODEL_ERROR_NOT_A_MODEL);
  g_test_message ("%.3f s", (g_get_monotonic_time () - start) / 1e6);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/file/safetensors", test_safetensors);
  g_test_add_func ("/file/safetensors-shapes", test_safetensors_shapes);
  g_test_add_func ("/file/packed", test_packed);
  g_test_add_func ("/file/packed-by-config", test_packed_by_config);
  g_test_add_func ("/file/rows", test_rows);
  g_test_add_func ("/file/header-wins", test_header_wins);
  g_test_add_func ("/file/config-beside", test_config_beside);
  g_test_add_func ("/file/index-of-too-many", test_index_of_too_many);
  g_test_add_func ("/file/adapter", test_adapter);
  g_test_add_func ("/file/other-adapters", test_other_adapters);
  g_test_add_func ("/file/large", test_large);
  g_test_add_func ("/file/doubtful", test_doubtful);
  g_test_add_func ("/file/repeated", test_repeated);
  g_test_add_func ("/file/packing-words", test_packing_words);
  g_test_add_func ("/file/packing-untrue", test_packing_untrue);
  g_test_add_func ("/file/any-length", test_any_length);
  g_test_add_func ("/file/index-outside", test_index_outside);
  g_test_add_func ("/file/index-pointer", test_index_pointer);
  g_test_add_func ("/file/many", test_many);
  g_test_add_func ("/file/index", test_index);
  g_test_add_func ("/file/index-long", test_index_long);
  g_test_add_func ("/file/index-odd", test_index_odd);
  for (gsize i = 0; i < G_N_ELEMENTS (bad_safetensors); i++)
    {
      g_autofree char *path = g_strdup_printf ("/file/bad-safetensors/%zu", i);

      g_test_add_data_func (path, GSIZE_TO_POINTER (i), test_bad_safetensors);
    }
  return run_in_folder ();
}
