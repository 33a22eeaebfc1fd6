/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "file-fixture.h"

#include <unistd.h>

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
  { "config.json", "{\"peft_type\":\"LORA\",\"hidden_size\":64}", "LoRA adapter" },
  { "config.json", "{\"tokenizer_class\":\"T\",\"model_max_length\":1000000000000000019884624838656}", "tokenizer" },
  { "config.json", "{\"bos_token_id\":1,\"eos_token_id\":2,\"_from_model_config\":true}", "text generation" },
  { "config.json", "{\"_class_name\":\"StableDiffusionPipeline\",\"unet\":[\"diffusers\",\"U\"]}", "unet" },
  { "config.json", "[1,2]", "no JSON object" },
  { "config.json", "{\n\"a\": 1,\n}", "config.json:2: not valid JSON: " },
  { "pytorch_model.bin", "PK\3\4abcdefgh", "PyTorch" },
  { "model.h5", "\x89HDF\r\n", "HDF5" },
  { "model.tar.gz", "\x1f\x8b\x08", "compressed archive" },
  { "ggml-model.bin", "tjgg\1", "before GGUF" },
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
test_vocabulary (void)
{
  g_autoptr (GString) text = g_string_new ("{\"a\":0");
  g_autoptr (GError) error = NULL;
  g_autoptr (QmModel) model = NULL;

  for (int i = 1; i < 300; i++)
    g_string_append_printf (text, ",\"w%d\":%d", i, i);
  g_string_append_c (text, '}');
  model = read_data ("vocab.json", text->str, text->len, &error);
  g_assert_null (model);
  g_assert_error (error, QM_MODEL_ERROR, QM_MODEL_ERROR_NOT_A_MODEL);
  g_assert_nonnull (strstr (error->message, "vocabulary"));
}

/* Blanks beyond what the first bytes show. */
static void
test_padded (void)
{
  g_autofree char *blanks = g_strnfill (5000, ' ');
  g_autofree char *text = g_strconcat (blanks, "{\"model_type\":\"gpt2\",\"n_embd\":64,\"n_layer\":2,\"n_head\":4}", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmModel) model = read_data ("config.json", text, -1, &error);

  g_assert_no_error (error);
  g_assert_cmpfloat (model->architecture.layers, ==, 2);
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

/* Of a folder that holds an image pipeline the network that makes the image is read. */
static void
test_pipeline_folder (void)
{
  g_autofree char *inner = g_build_filename (folder, "transformer", NULL);
  g_autofree char *index = write_file ("model_index.json", "{\"_class_name\":\"FluxPipeline\",\"transformer\":[\"diffusers\",\"a\"]}", -1);
  g_autofree char *config = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (QmModel) model = NULL;

  g_assert_cmpint (g_mkdir (inner, 0700), ==, 0);
  config = write_file ("transformer/config.json", "{\"_class_name\":\"FluxTransformer2DModel\",\"guidance_embeds\":true}", -1);
  model = qm_model_from_file (folder, &error);
  g_assert_no_error (error);
  /* what is published of FLUX.1 dev */
  g_assert_cmpfloat (model->parameters, ==, 11901408320.0);
  g_assert_true (g_str_has_prefix (model->name, "quartermaster-model-"));
  g_assert_cmpuint (model->notes->len, ==, 1);
  g_remove (config);
  g_remove (inner);
  g_remove (index);
}

/* Folders, and links that lead nowhere, that bear the name of a file are not read. */
static void
test_odd_folder (void)
{
  g_autofree char *inner = g_build_filename (folder, "config.json", NULL);
  g_autofree char *link = g_build_filename (folder, "model.safetensors", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmModel) model = NULL;

  g_mkdir (inner, 0700);
  g_assert_cmpint (symlink ("nowhere", link), ==, 0);
  model = qm_model_from_file (folder, &error);
  g_assert_null (model);
  g_assert_nonnull (strstr (error->message, "the folder holds no config.json"));
  g_remove (link);
  g_rmdir (inner);
}

/* The verdicts that come with the broken files, where they are there. */
static void
test_shared_broken (void)
{
  g_autofree char *near = g_build_filename (g_getenv ("G_TEST_SRCDIR"), "..", "..", "shared", "data", "configs", NULL);
  g_autofree char *far = g_build_filename (g_getenv ("G_TEST_SRCDIR"), "..", "..", "..", "shared", "data", "configs", NULL);
  const char *directory = g_file_test (near, G_FILE_TEST_IS_DIR) ? near : far;
  g_autofree char *list = g_build_filename (directory, "expected.json", NULL);
  g_autoptr (JsonParser) parser = json_parser_new ();
  JsonObject *broken;
  JsonObjectIter iterator;
  const char *name;
  JsonNode *node;

  if (!json_parser_load_from_file (parser, list, NULL))
    {
      g_test_skip ("no such folder");
      return;
    }
  broken = json_object_get_object_member (json_node_get_object (json_parser_get_root (parser)), "broken");
  json_object_iter_init (&iterator, broken);
  while (json_object_iter_next (&iterator, &name, &node))
    {
      JsonObject *row = json_node_get_object (node);
      const char *verdict = json_object_get_string_member (row, "verdict");
      g_autofree char *path = g_build_filename (directory, json_object_get_string_member (row, "file"), NULL);
      g_autoptr (GError) error = NULL;
      gint64 start = g_get_monotonic_time ();
      g_autoptr (QmModel) model = qm_model_from_file (path, &error);

      g_test_message ("%s: %s", name, error != NULL ? error->message : "read");
      g_assert_true ((model == NULL) == (error != NULL));
      g_assert_cmpint (g_get_monotonic_time () - start, <, SLOWER * 200 * 1000);
      if (g_str_has_prefix (verdict, "reject"))
        g_assert_null (model);
      if (g_str_equal (verdict, "reject-with-help"))
        g_assert_error (error, QM_MODEL_ERROR, QM_MODEL_ERROR_NOT_A_MODEL);
      if (g_str_equal (verdict, "accept") || g_str_equal (verdict, "warn"))
        g_assert_no_error (error);
      if (g_str_equal (verdict, "warn"))
        g_assert_cmpuint (model->notes->len, >, 0);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/file/shared-broken", test_shared_broken);
  g_test_add_func ("/file/vocabulary", test_vocabulary);
  g_test_add_func ("/file/padded", test_padded);
  g_test_add_func ("/file/deep", test_deep);
  g_test_add_func ("/file/folder", test_folder);
  g_test_add_func ("/file/odd-folder", test_odd_folder);
  g_test_add_func ("/file/pipeline-folder", test_pipeline_folder);
  for (gsize i = 0; i < G_N_ELEMENTS (others); i++)
    {
      g_autofree char *path = g_strdup_printf ("/file/other/%zu", i);

      g_test_add_data_func (path, GSIZE_TO_POINTER (i), test_other);
    }
  return run_in_folder ();
}
