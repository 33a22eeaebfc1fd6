/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/qm-model-resolve.h"

#include <string.h>

#include <glib/gstdio.h>

static char *folder;

static char *
write_file (const char *name,
            const void *data,
            gssize      length)
{
  char *path = g_build_filename (folder, name, NULL);
  g_autoptr (GError) error = NULL;

  g_file_set_contents (path, data, length, &error);
  g_assert_no_error (error);
  return path;
}

static QmModel *
read_data (const char  *name,
           const void  *data,
           gssize       length,
           GError     **error)
{
  g_autofree char *path = write_file (name, data, length);
  QmModel *model = qm_model_from_file (path, error);

  g_remove (path);
  return model;
}

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

/* ------------------------------------------------------------ safetensors */

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
  g_assert_cmpuint (model->notes->len, ==, 1);
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
  g_assert_cmpuint (model->notes->len, ==, 2);
}

/* ------------------------------------------------------------------- GGUF */

static void
put_32 (GByteArray *bytes,
        guint32     value)
{
  guint32 little = GUINT32_TO_LE (value);

  g_byte_array_append (bytes, (const guint8 *) &little, 4);
}

static void
put_64 (GByteArray *bytes,
        guint64     value)
{
  guint64 little = GUINT64_TO_LE (value);

  g_byte_array_append (bytes, (const guint8 *) &little, 8);
}

static void
put_string (GByteArray *bytes,
            const char *text)
{
  put_64 (bytes, strlen (text));
  g_byte_array_append (bytes, (const guint8 *) text, strlen (text));
}

static void
put_number (GByteArray *bytes,
            const char *key,
            guint32     value)
{
  put_string (bytes, key);
  put_32 (bytes, 4);
  put_32 (bytes, value);
}

static void
put_tensor (GByteArray *bytes,
            const char *name,
            guint64     columns,
            guint64     rows,
            guint32     type)
{
  put_string (bytes, name);
  put_32 (bytes, 2);
  put_64 (bytes, columns);
  put_64 (bytes, rows);
  put_32 (bytes, type);
  put_64 (bytes, 0);
}

static GByteArray *
gguf_start (guint32 version,
            guint64 tensors,
            guint64 entries)
{
  GByteArray *bytes = g_byte_array_new ();

  g_byte_array_append (bytes, (const guint8 *) "GGUF", 4);
  put_32 (bytes, version);
  put_64 (bytes, tensors);
  put_64 (bytes, entries);
  return bytes;
}

static GByteArray *
small_gguf (void)
{
  GByteArray *bytes = gguf_start (3, 3, 8);

  put_string (bytes, "general.architecture");
  put_32 (bytes, 8);
  put_string (bytes, "llama");
  put_string (bytes, "general.name");
  put_32 (bytes, 8);
  put_string (bytes, "Small one");
  put_number (bytes, "llama.embedding_length", 256);
  put_number (bytes, "llama.block_count", 2);
  put_number (bytes, "llama.attention.head_count", 8);
  put_number (bytes, "llama.attention.head_count_kv", 2);
  put_number (bytes, "llama.feed_forward_length", 512);
  put_string (bytes, "tokenizer.ggml.tokens");
  put_32 (bytes, 9);
  put_32 (bytes, 8);
  put_64 (bytes, 3);
  put_string (bytes, "a");
  put_string (bytes, "b");
  put_string (bytes, "c");
  put_tensor (bytes, "token_embd.weight", 256, 3, 0);
  put_tensor (bytes, "blk.0.ffn_up.weight", 256, 512, 12);
  put_tensor (bytes, "output.weight", 256, 3, 14);
  return bytes;
}

static void
test_gguf (void)
{
  g_autoptr (GByteArray) bytes = small_gguf ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QmModel) model = read_data ("small.gguf", bytes->data, bytes->len, &error);

  g_assert_no_error (error);
  g_assert_cmpfloat (model->parameters, ==, 256 * (3 + 512 + 3));
  /* 32-bit floats, Q4_K in blocks of 256 with 144 bytes, Q6_K with 210 */
  g_assert_cmpfloat (model->stored_bytes, ==, 256 * 3 * 4 + 512 * 144 + 3 * 210);
  g_assert_cmpstr (model->name, ==, "Small one");
  g_assert_cmpfloat (model->architecture.vocabulary, ==, 3);
  g_assert_false (model->architecture.tied);
  g_assert_cmpfloat (qm_architecture_kv_bytes_per_token (&model->architecture, 2), ==, 2 * 2 * 2 * 32 * 2);
  g_assert_cmpint (model->read_by, ==, QM_READER_GGUF);
}

/* A file that ends anywhere before its header does is refused, and harms nobody. */
static void
test_gguf_cut_short (void)
{
  g_autoptr (GByteArray) bytes = small_gguf ();

  for (guint length = 4; length < bytes->len; length++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (QmModel) model = read_data ("cut.gguf", bytes->data, length, &error);

      g_assert_null (model);
      g_assert_error (error, QM_MODEL_ERROR, QM_MODEL_ERROR_NOT_A_MODEL);
    }
}

/* With any one byte set to 255 a file is read or refused, never worse. */
static void
test_gguf_damaged (void)
{
  g_autoptr (GByteArray) bytes = small_gguf ();
  guint refused = 0;

  for (guint at = 0; at < bytes->len; at++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (QmModel) model = NULL;
      guint8 kept = bytes->data[at];

      bytes->data[at] = 255;
      model = read_data ("damaged.gguf", bytes->data, bytes->len, &error);
      bytes->data[at] = kept;
      g_assert_true ((model == NULL) == (error != NULL));
      refused += model == NULL;
    }
  g_assert_cmpuint (refused, >, 100);
}

static void
test_gguf_shards (void)
{
  g_autoptr (GByteArray) first = gguf_start (3, 0, 6);
  g_autoptr (GByteArray) second = gguf_start (3, 1, 0);
  g_autofree char *path = NULL;
  g_autofree char *other = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (QmModel) missing = NULL;
  g_autoptr (QmModel) model = NULL;

  put_string (first, "general.architecture");
  put_32 (first, 8);
  put_string (first, "llama");
  put_number (first, "llama.embedding_length", 256);
  put_number (first, "llama.block_count", 2);
  put_number (first, "llama.attention.head_count", 8);
  put_number (first, "split.count", 2);
  put_number (first, "split.no", 0);
  put_tensor (second, "output.weight", 256, 7, 1);
  path = write_file ("big-00001-of-00002.gguf", first->data, first->len);
  missing = qm_model_from_file (path, &error);
  g_assert_null (missing);
  g_assert_error (error, QM_MODEL_ERROR, QM_MODEL_ERROR_FILE);
  g_assert_nonnull (strstr (error->message, "big-00002-of-00002.gguf"));
  other = write_file ("big-00002-of-00002.gguf", second->data, second->len);
  model = qm_model_from_file (path, NULL);
  g_assert_cmpfloat (model->parameters, ==, 256 * 7);
  g_remove (path);
  g_remove (other);
}

/* ---------------------------------------------------- what is not a model */

static const struct {
  const char *name;
  const char *text;
  const char *says;
} others[] = {
  { "config.json", "", "the file is empty" },
  { "config.json", " \n ", "nothing but blanks" },
  { "config.json", "<!DOCTYPE html>", "web page" },
  { "model.safetensors", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n", "git lfs pull" },
  { "config.json", "{\"peft_type\":\"LORA\",\"r\":8,\"base_model_name_or_path\":\"org/base\"}", "(org/base)" },
  { "config.json", "{\"tokenizer_class\":\"T\",\"model_max_length\":1000000000000000019884624838656}", "tokenizer" },
  { "config.json", "{\"bos_token_id\":1,\"eos_token_id\":2,\"_from_model_config\":true}", "text generation" },
  { "config.json", "{\"_class_name\":\"StableDiffusionPipeline\",\"unet\":[\"diffusers\",\"U\"]}", "unet" },
  { "config.json", "[1,2]", "no JSON object" },
  { "config.json", "{\n\"a\": 1,\n}", "config.json:2: not valid JSON: " },
  { "pytorch_model.bin", "PK\3\4abcdefgh", "PyTorch" },
  { "model.pkl", "\x80\2}q", "pickle" },
  { "x.gguf", "GGML....", "does not begin" },
  { "weights.dat", "\x01\x02\xfe\xfc", "UTF-8" },
  { "config.json", "\xff\xfe{\x01", "UTF-16" },
  { "config.json", "{}", "hidden_size is missing" },
  { "config.json", "{\"hidden_size\":NaN}", "hidden_size is “NaN”" },
};

static void
test_other (gconstpointer data)
{
  gsize i = GPOINTER_TO_SIZE (data);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmModel) model = read_data (others[i].name, others[i].text, -1, &error);

  g_assert_null (model);
  g_assert_nonnull (error);
  g_assert_true (error->domain == QM_MODEL_ERROR);
  g_assert_nonnull (strstr (error->message, others[i].says));
}

static void
test_deep (void)
{
  g_autofree char *text = g_strnfill (200000, '[');
  g_autoptr (GError) error = NULL;
  g_autoptr (QmModel) model = read_data ("config.json", text, -1, &error);

  g_assert_null (model);
  g_assert_error (error, QM_MODEL_ERROR, QM_MODEL_ERROR_NOT_A_MODEL);
}

/* An Infinity that nobody needs does no harm, nor does a name with controls in it; a folder will do. */
static void
test_folder (void)
{
  g_autofree char *path = write_file ("config.json", "\xef\xbb\xbf{\"model_type\":\"llama\",\"hidden_size\":64.0,"
                                      "\"num_hidden_layers\":2,\"num_attention_heads\":4,\"intermediate_size\":128,"
                                      "\"limit\":[0,Infinity,-Infinity],\"_name_or_path\":\"\\u202e\\u0000x\","
                                      "\"vocab_size\":100}", -1);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmModel) model = qm_model_from_file (folder, &error);
  g_autoptr (QmModel) gone = NULL;

  g_assert_no_error (error);
  g_assert_cmpfloat (model->architecture.hidden, ==, 64);
  g_remove (path);
  gone = qm_model_from_file (folder, &error);
  g_assert_null (gone);
  g_assert_error (error, QM_MODEL_ERROR, QM_MODEL_ERROR_NOT_A_MODEL);
}

int
main (int   argc,
      char *argv[])
{
  int status;

  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("quartermaster-model-XXXXXX", NULL);
  g_test_add_func ("/file/safetensors", test_safetensors);
  g_test_add_func ("/file/safetensors-shapes", test_safetensors_shapes);
  g_test_add_func ("/file/index", test_index);
  g_test_add_func ("/file/gguf", test_gguf);
  g_test_add_func ("/file/gguf-cut-short", test_gguf_cut_short);
  g_test_add_func ("/file/gguf-damaged", test_gguf_damaged);
  g_test_add_func ("/file/gguf-shards", test_gguf_shards);
  g_test_add_func ("/file/deep", test_deep);
  g_test_add_func ("/file/folder", test_folder);
  for (gsize i = 0; i < G_N_ELEMENTS (bad_safetensors); i++)
    {
      g_autofree char *path = g_strdup_printf ("/file/bad-safetensors/%zu", i);

      g_test_add_data_func (path, GSIZE_TO_POINTER (i), test_bad_safetensors);
    }
  for (gsize i = 0; i < G_N_ELEMENTS (others); i++)
    {
      g_autofree char *path = g_strdup_printf ("/file/other/%zu", i);

      g_test_add_data_func (path, GSIZE_TO_POINTER (i), test_other);
    }
  status = g_test_run ();
  g_rmdir (folder);
  g_free (folder);
  return status;
}
