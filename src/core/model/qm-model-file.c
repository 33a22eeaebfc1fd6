/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-model-formats.h"
#include "qm-model-private.h"

#include <glib/gi18n.h>
#include <string.h>

#include <gio/gio.h>

#include "qm-error.h"
#include "qm-file.h"

/* Index files of the largest models hold a few megabytes. */
#define MAX_JSON_BYTES (64 * 1024 * 1024)
#define SNIFF_BYTES 512

/* Files that lie beside a model and say nothing of its size, by a key that only they have. */
static const struct {
  const char *key;
  const char *also;                 /* (nullable): must be there too */
  const char *text;
} others[] = {
  { "peft_type", NULL, N_("this is a LoRA adapter, which holds no sizes of the model; give the config.json of the model "
    "that it was made for") },
  { "lora_alpha", NULL, N_("this is a LoRA adapter, which holds no sizes of the model; give the config.json of the model "
    "that it was made for") },
  { "tokenizer_class", NULL, N_("this is a tokenizer's configuration; give the config.json beside it") },
  { "added_tokens", "model", N_("this is a tokenizer; give the config.json beside it") },
  { "image_processor_type", NULL, N_("this is an image processor's configuration; give the config.json beside it") },
  { "feature_extractor_type", NULL, N_("this is a feature extractor's configuration; give the config.json beside it") },
  { "train_batch_size", NULL, N_("this is a training configuration; give the config.json of the model") },
  { "log_history", NULL, N_("this is a training log; give the config.json of the model") },
};

/* Sizes by any name: with one of them a file is taken for a model. */
static const char * const size_keys[] = {
  "hidden_size", "d_model", "n_embd", "dim", "text_config", "num_hidden_layers", "n_layer", "depths",
  "block_out_channels", "encoder_layers", "num_layers", "n_layers",
};

static gboolean
has_any_size (JsonObject *object)
{
  for (gsize i = 0; i < G_N_ELEMENTS (size_keys); i++)
    if (json_object_has_member (object, size_keys[i]))
      return TRUE;
  return FALSE;
}

static void
refuse (GError     **error,
        const char  *msgid)
{
  qm_error_set (error, QM_MODEL_ERROR, QM_MODEL_ERROR_NOT_A_MODEL, NULL, msgid, NULL);
}

static gboolean
is_pipeline (JsonObject *object)
{
  JsonNode *node = json_object_get_member (object, "_class_name");

  return node != NULL && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING &&
         g_str_has_suffix (json_node_get_string (node), "Pipeline");
}

static gboolean
refuse_adapter (JsonObject  *object,
                const char  *msgid,
                GError     **error)
{
  JsonNode *node = json_object_get_member (object, "base_model_name_or_path");
  const char *base = node != NULL && JSON_NODE_HOLDS_VALUE (node) ? json_node_get_string (node) : NULL;

  if (base != NULL && base[0] != '\0')
    {
      g_autofree char *start = g_utf8_substring (base, 0, MIN (80, g_utf8_strlen (base, -1)));

      qm_error_set (error, QM_MODEL_ERROR, QM_MODEL_ERROR_NOT_A_MODEL, NULL, N_("{sentence} ({base})"), "=sentence", msgid,
                    "base", start, NULL);
    }
  else
    {
      refuse (error, msgid);
    }
  return FALSE;
}

/* Hundreds of words, each with its number. */
static gboolean
is_vocabulary (JsonObject *object)
{
  JsonObjectIter iterator;
  const char *name;
  JsonNode *node;

  if (json_object_get_size (object) < 200)
    return FALSE;
  json_object_iter_init (&iterator, object);
  while (json_object_iter_next (&iterator, &name, &node))
    if (!JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) != G_TYPE_INT64)
      return FALSE;
  return TRUE;
}

/**
 * qm_model_refuse_other_json:
 * @object: the content of a JSON file
 * @error: return location for an error
 *
 * Returns: %FALSE with a sentence that says what the file is and what to give
 *   instead, where it is one of those that are often taken for a config.json
 */
gboolean
qm_model_refuse_other_json (JsonObject  *object,
                            GError     **error)
{
  if (is_pipeline (object))
    {
      refuse (error, N_("this is the index of an image pipeline; give the config.json in its folder unet or transformer"));
      return FALSE;
    }
  if (has_any_size (object) && !json_object_has_member (object, "peft_type"))
    return TRUE;
  for (gsize i = 0; i < G_N_ELEMENTS (others); i++)
    if (json_object_has_member (object, others[i].key) &&
        (others[i].also == NULL || json_object_has_member (object, others[i].also)))
      return refuse_adapter (object, others[i].text, error);
  if (json_object_has_member (object, "model_type") || json_object_has_member (object, "_class_name"))
    return TRUE;
  if (is_vocabulary (object))
    {
      refuse (error, N_("this is a tokenizer's vocabulary; give the config.json beside it"));
      return FALSE;
    }
  if (json_object_has_member (object, "_from_model_config") || json_object_has_member (object, "eos_token_id"))
    {
      refuse (error, N_("these are settings for text generation; give the config.json beside the file"));
      return FALSE;
    }
  return TRUE;
}

static char *
read_bytes (const char  *path,
            gsize        max,
            gsize       *length,
            GError     **error)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GError) reason = NULL;
  g_autoptr (GFileInputStream) stream = g_file_read (file, NULL, &reason);
  g_autofree char *data = NULL;

  if (stream == NULL)
    {
      qm_file_set_error (error, path, reason);
      return NULL;
    }
  data = g_malloc (max + 1);
  if (!g_input_stream_read_all (G_INPUT_STREAM (stream), data, max, length, NULL, &reason))
    {
      qm_file_set_error (error, path, reason);
      return NULL;
    }
  data[*length] = '\0';
  return g_steal_pointer (&data);
}

static gboolean
find_size (const char  *path,
           guint64     *size,
           GFileType   *type,
           GError     **error)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GError) reason = NULL;
  g_autoptr (GFileInfo) info = g_file_query_info (file, G_FILE_ATTRIBUTE_STANDARD_SIZE ","
                                                  G_FILE_ATTRIBUTE_STANDARD_TYPE,
                                                  G_FILE_QUERY_INFO_NONE, NULL, &reason);

  if (info == NULL)
    {
      qm_file_set_error (error, path, reason);
      return FALSE;
    }
  *size = g_file_info_get_size (info);
  *type = g_file_info_get_file_type (info);
  return TRUE;
}

static const struct {
  const char *bytes;
  gsize length;
  const char *text;
} beginnings[] = {
  { "\xff\xfe", 2, N_("this is text in UTF-16; save it as UTF-8") },
  { "\xfe\xff", 2, N_("this is text in UTF-16; save it as UTF-8") },
  { "version https://git-lfs", 23, N_("this is a Git LFS pointer, not the file itself; run “git lfs pull” in its folder") },
  { "PK\3\4", 4, N_("this is a PyTorch checkpoint or another archive, which is not opened; give the config.json or a "
                    "safetensors file") },
  { "\x89HDF", 4, N_("this is an HDF5 file, as Keras writes it, which is not opened; give the config.json or a "
                     "safetensors file") },
  { "\x1f\x8b", 2, N_("this is a compressed archive; unpack it and give the model in it") },
  { "tjgg", 4, N_("this is a GGML file from before GGUF; convert it, or give the config.json") },
  { "lmgg", 4, N_("this is a GGML file from before GGUF; convert it, or give the config.json") },
  { "algg", 4, N_("this is a LoRA adapter, which holds no sizes of the model; give the config.json of the model "
                  "that it was made for") },
};

/* What the first bytes give away, where they are not a model's. */
static gboolean
refuse_beginning (const char  *data,
                  gsize        length,
                  GError     **error)
{
  gsize start = 0;

  for (gsize i = 0; i < G_N_ELEMENTS (beginnings); i++)
    if (length >= beginnings[i].length && memcmp (data, beginnings[i].bytes, beginnings[i].length) == 0)
      {
        refuse (error, beginnings[i].text);
        return TRUE;
      }
  if (length >= 2 && data[0] == '\x80' && data[1] >= 2 && data[1] <= 5)
    refuse (error, N_("this is a Python pickle, which is not opened; give the config.json or a safetensors file"));
  else
    {
      while (start < length && g_ascii_isspace (data[start]))
        start++;
      if (start == length && length < SNIFF_BYTES)
        refuse (error, length == 0 ? N_("the file is empty") : N_("the file holds nothing but blanks"));
      else if (start < length && data[start] == '<')
        refuse (error, N_("this is a web page, as a failed download leaves it; give the file itself"));
      else
        return FALSE;
    }
  return TRUE;
}

/**
 * qm_model_refuse_first_bytes:
 * @path: a file that is not what it should be
 * @error: return location for an error
 *
 * Returns: %TRUE with a sentence that says what the file is, where its first
 *   bytes tell
 */
gboolean
qm_model_refuse_first_bytes (const char  *path,
                             GError     **error)
{
  gsize length = 0;
  g_autofree char *first = read_bytes (path, SNIFF_BYTES, &length, NULL);

  return first != NULL && refuse_beginning (first, length, error);
}

/* A byte order mark of UTF-8 is let pass. */
static JsonNode *
parse_file (const char  *path,
            GError     **error)
{
  gsize length = 0;
  guint64 size;
  GFileType type;
  g_autofree char *data = NULL;
  const char *start;

  if (!find_size (path, &size, &type, error))
    return NULL;
  if (size > MAX_JSON_BYTES)
    {
      refuse (error, N_("the file is neither GGUF nor safetensors, and too large for a config.json"));
      return NULL;
    }
  data = read_bytes (path, size, &length, error);
  if (data == NULL)
    return NULL;
  start = length >= 3 && memcmp (data, "\xef\xbb\xbf", 3) == 0 ? data + 3 : data;
  length -= start - data;
  if (g_utf8_validate_len (start, length, NULL))
    return qm_json_text_parse (start, length, QM_JSON_TEXT_MOST_IN_CONFIG, error);
  refuse (error, N_("the file is neither GGUF, safetensors nor UTF-8 text; give a config.json, a safetensors file or a "
          "GGUF file"));
  return NULL;
}

/**
 * qm_model_load_config:
 * @path: a config.json
 * @error: return location for an error
 *
 * Returns: (transfer full) (nullable): its content
 */
JsonObject *
qm_model_load_config (const char  *path,
                      GError     **error)
{
  g_autoptr (JsonNode) root = parse_file (path, error);

  if (root == NULL)
    return NULL;
  if (!JSON_NODE_HOLDS_OBJECT (root))
    {
      refuse (error, N_("the file holds no JSON object; give a config.json"));
      return NULL;
    }
  return json_object_ref (json_node_get_object (root));
}

static QmModel *
from_config_file (const char  *path,
                  GError     **error)
{
  g_autoptr (JsonObject) config = qm_model_load_config (path, error);
  g_autoptr (QmModel) self = NULL;

  if (config == NULL)
    return NULL;
  if (json_object_has_member (config, "weight_map"))
    return qm_model_from_weight_index (path, config, error);
  if (!qm_model_refuse_other_json (config, error))
    return NULL;
  self = qm_model_new ();
  if (!qm_model_read_config (self, config, error))
    return NULL;
  self->read_by = QM_READER_CONFIG;
  qm_model_take_quantization (self);
  return g_steal_pointer (&self);
}

static gboolean
ends_with_any (const char         *name,
               const char * const *endings)
{
  for (gsize i = 0; endings[i] != NULL; i++)
    if (g_str_has_suffix (name, endings[i]))
      return TRUE;
  return FALSE;
}

/* The better, the smaller: files that list their tensors before those that
 * describe them, then those that only help to say what the folder is. */
static int
rank_name (const char *name)
{
  static const char * const first[] = { "model.safetensors.index.json", "diffusion_pytorch_model.safetensors.index.json",
                                        "model.safetensors", "diffusion_pytorch_model.safetensors" };
  static const char * const last[] = { "config.json", "params.json", "model_index.json", "adapter_config.json",
                                       "tokenizer_config.json" };
  static const char * const weights[] = { ".gguf", ".safetensors", NULL };

  for (gsize i = 0; i < G_N_ELEMENTS (first); i++)
    if (g_str_equal (name, first[i]))
      return i;
  if (ends_with_any (name, weights))
    return strstr (name, "mmproj") != NULL || strstr (name, "adapter") != NULL ? 99 : 10;
  for (gsize i = 0; i < G_N_ELEMENTS (last); i++)
    if (g_str_equal (name, last[i]))
      return 20 + i;
  return G_MAXINT;
}

/* Of an image pipeline the network that makes the image. */
static char *
find_denoiser (const char *folder)
{
  static const char * const names[] = { "transformer", "unet", "prior" };

  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *inner = g_build_filename (folder, names[i], NULL);
      g_autofree char *config = g_build_filename (inner, "config.json", NULL);

      if (g_file_test (config, G_FILE_TEST_IS_REGULAR))
        return g_steal_pointer (&inner);
    }
  return NULL;
}

static char *
find_in_directory (const char  *path,
                   GError     **error)
{
  g_autofree char *denoiser = NULL;
  g_autoptr (GError) reason = NULL;
  g_autoptr (GDir) directory = g_dir_open (path, 0, &reason);
  g_autofree char *best = NULL;
  const char *name;

  if (directory == NULL)
    {
      qm_file_set_error (error, path, reason);
      return NULL;
    }
  while ((name = g_dir_read_name (directory)) != NULL)
    {
      g_autofree char *full = g_build_filename (path, name, NULL);
      int rank = rank_name (name), best_rank = best != NULL ? rank_name (best) : G_MAXINT;

      if (rank > best_rank || (rank == best_rank && (best == NULL || strcmp (name, best) > 0)) ||
          !g_file_test (full, G_FILE_TEST_IS_REGULAR))
        continue;
      g_free (best);
      best = g_strdup (name);
    }
  if (best != NULL && g_str_equal (best, "model_index.json"))
    denoiser = find_denoiser (path);
  if (denoiser != NULL)
    return find_in_directory (denoiser, error);
  if (best != NULL)
    return g_build_filename (path, best, NULL);
  refuse (error, N_("the folder holds no config.json, safetensors file or GGUF file"));
  return NULL;
}

static QmModel *
from_regular_file (const char  *path,
                   GError     **error)
{
  gsize length = 0;
  g_autofree char *first = read_bytes (path, SNIFF_BYTES, &length, error);

  if (first == NULL)
    return NULL;
  if (length >= 4 && memcmp (first, "GGUF", 4) == 0)
    return qm_model_from_gguf (path, error);
  if (g_str_has_suffix (path, ".safetensors") || (length > 9 && first[8] == '{' && memchr (first, '\0', 8) != NULL))
    return qm_model_from_safetensors (path, error);
  if (refuse_beginning (first, length, error))
    return NULL;
  if (g_str_has_suffix (path, ".gguf"))
    {
      refuse (error, N_("the file is called GGUF but does not begin like one"));
      return NULL;
    }
  return from_config_file (path, error);
}

/* The folder names the model where the file has its usual name. */
static void
name_after_path (QmModel    *self,
                 const char *path)
{
  g_autofree char *base = g_path_get_basename (path);
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *folder_name = g_path_get_basename (folder);
  char *dot = strrchr (base, '.');
  gboolean usual = g_str_has_prefix (base, "config.") || g_str_has_prefix (base, "model") ||
                   g_str_has_prefix (base, "params.") || g_str_has_prefix (base, "diffusion_pytorch_model");

  if (self->name[0] != '\0')
    return;
  if (dot != NULL && dot != base)
    *dot = '\0';
  qm_model_set_name (self, usual && !g_str_equal (folder_name, ".") ? folder_name : base);
}

/* The pipeline's own folder names it, not that of its part. */
static void
note_pipeline (QmModel    *self,
               const char *folder,
               const char *path)
{
  g_autofree char *inner = g_path_get_dirname (path);
  g_autofree char *outer = g_path_get_dirname (inner);
  g_autofree char *index = g_build_filename (outer, "model_index.json", NULL);
  g_autofree char *absolute = g_canonicalize_filename (folder, NULL);
  g_autofree char *name = g_path_get_basename (absolute);

  if (!g_file_test (index, G_FILE_TEST_IS_REGULAR))
    return;
  qm_model_set_name (self, name);
  qm_model_note (self, qm_message_new ("model-pipeline-part", N_("Of the image pipeline only the network that makes the image is "
                                       "counted: text encoders and the autoencoder come on top")));
}

/* An error that comes from a file beside this one has named it. */
static void
name_file (const char  *path,
           GError     **error)
{
  g_autofree char *name = g_filename_display_name (path);

  if (error != NULL && qm_error_get_file (*error) == NULL)
    qm_error_locate (*error, name, 0);
}

/**
 * qm_model_from_file:
 * @path: a config.json, a safetensors file or its index, a GGUF file, or a
 *   folder that holds one
 * @error: return location for an error
 *
 * Headers alone are read, and no length in them is trusted unchecked. What is
 * no model is %QM_MODEL_ERROR_NOT_A_MODEL, with a sentence that says what it
 * is and what to give instead.
 *
 * Returns: (transfer full) (nullable): the model
 */
QmModel *
qm_model_from_file (const char  *path,
                    GError     **error)
{
  const char *folder = path;
  g_autofree char *found = NULL;
  g_autoptr (QmModel) self = NULL;
  guint64 size;
  GFileType type;

  if (!find_size (path, &size, &type, error))
    return NULL;
  if (type == G_FILE_TYPE_DIRECTORY)
    {
      found = find_in_directory (path, error);
      if (found == NULL)
        {
          name_file (path, error);
          return NULL;
        }
      path = found;
    }
  else if (type != G_FILE_TYPE_REGULAR)
    {
      refuse (error, N_("this is no ordinary file"));
      name_file (path, error);
      return NULL;
    }
  self = from_regular_file (path, error);
  if (self != NULL && found != NULL)
    note_pipeline (self, folder, path);
  if (self != NULL)
    name_after_path (self, path);
  else
    name_file (path, error);
  return g_steal_pointer (&self);
}
