/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-model-formats.h"
#include "qm-model-private.h"

#include <glib/gi18n.h>
#include <stdlib.h>
#include <string.h>

#include "qm-error.h"
#include "qm-safetensors-reader.h"

#define MAX_BYTES 1e16
#define MAX_SHARDS 2000

/* As many missing files as a sentence can name. */
#define MAX_NAMED 4

static JsonObject *
object_in (JsonObject *object,
           const char *key)
{
  JsonNode *node = object != NULL ? json_object_get_member (object, key) : NULL;

  return node != NULL && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
}

static double
number_in (JsonObject *object,
           const char *key)
{
  JsonNode *node = object != NULL ? json_object_get_member (object, key) : NULL;
  GType type = node != NULL && JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : G_TYPE_INVALID;

  return type == G_TYPE_INT64 || type == G_TYPE_DOUBLE ? json_node_get_double (node) : 0;
}

/* How wide packed weights are, by what their tool wrote into the config.json. */
static double
bits_of_config (JsonObject *config)
{
  JsonObject *places[] = { config, object_in (config, "text_config") };

  for (gsize i = 0; i < G_N_ELEMENTS (places); i++)
    {
      JsonObject *quantization = object_in (places[i], "quantization_config");
      JsonObject *groups = object_in (quantization, "config_groups");
      g_autoptr (GList) names = groups != NULL ? json_object_get_members (groups) : NULL;
      double bits = number_in (quantization, "bits");

      if (bits == 0 && names != NULL)
        bits = number_in (object_in (object_in (groups, names->data), "weights"), "num_bits");
      if (bits == 0)
        bits = number_in (object_in (places[i], "quantization"), "bits");
      if (bits >= 1 && bits <= 16)
        return bits;
    }
  return 0;
}

/* The config.json in the weights' folder. */
typedef struct {
  JsonObject *config;               /* (nullable): its content */
  GError *reason;                   /* (nullable): why it cannot be used, though it is there */
} Beside;

static void
clear_beside (Beside *self)
{
  g_clear_pointer (&self->config, json_object_unref);
  g_clear_error (&self->reason);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Beside, clear_beside)

static Beside
find_beside (const char *folder)
{
  g_autofree char *file = g_build_filename (folder, "config.json", NULL);
  Beside beside = { 0 };

  if (g_file_test (file, G_FILE_TEST_IS_REGULAR))
    beside.config = qm_model_load_config (file, &beside.reason);
  return beside;
}

static void
note (QmModel    *self,
      const char *code,
      const char *msgid)
{
  qm_model_note (self, qm_message_new (code, msgid));
}

/* Files may leave out what is tied, and hold layers for tokens further ahead.
 * Where only bytes are known they tell less: packed weights take half a byte. */
static void
compare_counts (QmModel             *self,
                const QmSafetensors *header,
                gboolean             bytes_only)
{
  const QmArchitecture *a = &self->architecture;
  double least = bytes_only ? 0.2 : 0.75, most = bytes_only ? 2.5 : 1.25;

  if (header->parameters > least * (a->parameters - a->embedding_parameters) &&
      header->parameters < most * (a->parameters + a->embedding_parameters))
    return;
  qm_model_note (self, qm_message_add (qm_message_add (qm_message_new ("model-config-contradicts",
    N_("The config.json beside the weights makes {described} parameters and they hold {held}: it is another model's, or they "
       "are packed in a way that is not known")),
    "described", QM_ARGUMENT_COUNT_SHORT, a->parameters), "held", QM_ARGUMENT_COUNT_SHORT, header->parameters));
}

/* Shapes come from the config.json beside the file, else from the tensors. */
static void
find_shapes (QmModel             *self,
             Beside              *beside,
             const QmSafetensors *header)
{
  g_autoptr (JsonObject) seen = NULL;

  if (beside->config != NULL && qm_model_read_config (self, beside->config, &beside->reason))
    {
      compare_counts (self, header, header->bytes_only);
      return;
    }
  seen = qm_tensor_shapes_to_config (&header->shapes);
  if (seen != NULL && qm_model_read_config (self, seen, NULL))
    {
      note (self, beside->reason != NULL ? "model-config-useless" : "model-shapes-from-tensors", beside->reason != NULL
            ? N_("The config.json beside the file cannot be used, open it alone to see why: layers and cache are from the "
                 "shapes of the tensors, without windows")
            : N_("No config.json beside the file tells its sizes: layers and cache are from the "
                 "shapes of its tensors, without windows"));
      return;
    }
  note (self, beside->reason != NULL ? "model-config-useless" : "model-shapes-guessed", beside->reason != NULL
        ? N_("The config.json beside the file cannot be used, open it alone to see why: the layers are guessed from the "
             "parameter count, and the cache is not known")
        : N_("No config.json beside the file tells its sizes: the layers are guessed from the parameter "
             "count, and the cache is not known"));
  qm_architecture_guess (header->parameters, &self->architecture);
}

/* Bytes that differ more than what some layers left unpacked make are of another way of packing. */
#define FARTHEST_PACKING 1.6

/* What config.json says of packed weights against what there is of them. */
static void
note_quantization (QmModel    *self,
                   JsonObject *config,
                   double      bytes)
{
  double said = config != NULL ? qm_model_quantized_bytes (self) : 0;
  double factor = said > 0 && bytes > 0 ? MAX (said / bytes, bytes / said) : 1;

  if (factor > FARTHEST_PACKING)
    qm_model_note (self, qm_message_add (qm_message_add (qm_message_new ("model-packing-contradicts",
      N_("The config.json says that weights are packed to {said}, and the files hold {held}: what they hold is counted")),
      "said", QM_ARGUMENT_FILE_BYTES, said), "held", QM_ARGUMENT_FILE_BYTES, bytes));
}

/* Counts come from the file itself. */
static QmModel *
finish (Beside               *beside,
        const QmSafetensors  *header,
        GError              **error)
{
  g_autoptr (QmModel) self = qm_model_new ();
  gboolean adapter = header->adapter_parameters > header->parameters / 2;

  if (adapter)
    qm_error_set (error, QM_MODEL_ERROR, QM_MODEL_ERROR_NOT_A_MODEL, NULL,
                  N_("these are the weights of an adapter, such as LoRA; give the model that it was made for"), NULL);
  else if (header->parameters <= 0)
    qm_error_set (error, QM_MODEL_ERROR, QM_MODEL_ERROR_NOT_A_MODEL, NULL, N_("the file holds no weights"), NULL);
  if (adapter || header->parameters <= 0)
    return NULL;
  find_shapes (self, beside, header);
  self->parameters = header->parameters;
  self->active_parameters = MAX (0, header->parameters - qm_model_idle_parameters (self));
  self->stored_bytes = header->bytes;
  self->read_by = QM_READER_SAFETENSORS;
  if (header->cut_short)
    note (self, "model-cut-short", N_("The file is shorter than its header says: the download may not have ended"));
  if (header->doubtful)
    note (self, "model-tensors-doubtful", N_("The list of tensors in the file does not fit together: the counts may be wrong"));
  if (header->repeated > 0)
    qm_model_note (self, qm_message_new_filled ("model-tensors-repeated",
                                                N_("The files hold {count} tensors more than once: each is counted once"),
                                                "#count", header->repeated, NULL));
  qm_model_take_quantization (self);
  note_quantization (self, beside->config, header->bytes);
  if (header->guessed)
    note (self, "model-packing-guessed", N_("Weights are packed, and no config.json beside the file says how wide they "
          "are: 4 bits were taken where their scales do not tell"));
  return g_steal_pointer (&self);
}

/* ------------------------------------------------------ models in several files */

/* Names that lead out of the folder are not followed. */
static GPtrArray *
find_missing (const char *folder,
              GPtrArray  *files)
{
  GPtrArray *missing = g_ptr_array_new ();

  for (guint i = 0; i < files->len; i++)
    {
      g_autofree char *path = g_build_filename (folder, g_ptr_array_index (files, i), NULL);

      if (strchr (g_ptr_array_index (files, i), G_DIR_SEPARATOR) != NULL || !g_file_test (path, G_FILE_TEST_IS_REGULAR))
        g_ptr_array_add (missing, g_ptr_array_index (files, i));
    }
  return missing;
}

static char *
name_some (GPtrArray *names)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_auto (GStrv) some = NULL;

  for (guint i = 0; i < MIN (MAX_NAMED, names->len); i++)
    g_strv_builder_add (builder, g_ptr_array_index (names, i));
  if (names->len > MAX_NAMED)
    g_strv_builder_add (builder, "…");
  some = g_strv_builder_end (builder);
  return g_strjoinv (", ", some);
}

static QmModel *
read_files (const char  *folder,
            GPtrArray   *files,
            GError     **error)
{
  g_auto (Beside) beside = find_beside (folder);
  g_auto (QmSafetensors) header = { .packed_bits = bits_of_config (beside.config) };

  for (guint i = 0; i < files->len; i++)
    {
      g_autofree char *path = g_build_filename (folder, g_ptr_array_index (files, i), NULL);

      if (!qm_safetensors_add_file (&header, path, error))
        {
          if (error != NULL && qm_error_get_file (*error) == NULL)
            qm_error_locate (*error, g_ptr_array_index (files, i), 0);
          return NULL;
        }
    }
  return finish (&beside, &header, error);
}

static int
compare_names (gconstpointer a,
               gconstpointer b)
{
  return strcmp (*(const char * const *) a, *(const char * const *) b);
}

/* Every file that the index names, once. */
static GPtrArray *
files_of_index (JsonObject *map)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  GPtrArray *files = g_ptr_array_new_with_free_func (g_free);
  JsonObjectIter iterator;
  const char *tensor;
  JsonNode *node;

  json_object_iter_init (&iterator, map);
  while (json_object_iter_next (&iterator, &tensor, &node))
    {
      gboolean word = JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING;
      const char *file = word ? json_node_get_string (node) : NULL;

      if (file != NULL && file[0] != '\0' && files->len <= MAX_SHARDS &&
          g_hash_table_add (seen, (char *) file))
        g_ptr_array_add (files, g_strdup (file));
    }
  g_ptr_array_sort (files, compare_names);
  return files;
}

static double
bytes_per_weight (JsonObject *config)
{
  static const char * const keys[] = { "torch_dtype", "dtype" };

  for (gsize i = 0; config != NULL && i < G_N_ELEMENTS (keys); i++)
    {
      JsonNode *node = json_object_get_member (config, keys[i]);

      if (node != NULL && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING)
        return g_str_equal (json_node_get_string (node), "float32") ? 4 : 2;
    }
  return 2;
}

/* Of the files that an index names not all are there. */
static QmModel *
from_total (Beside      *beside,
            double       bytes,
            GPtrArray   *missing,
            GError     **error)
{
  QmSafetensors header = { .bytes = bytes, .bytes_only = TRUE, .parameters = bytes / bytes_per_weight (beside->config) };
  g_autofree char *names = name_some (missing);
  QmModel *self;

  if (!(bytes > 0 && bytes < MAX_BYTES) && missing->len == 0)
    {
      qm_error_set (error, QM_MODEL_ERROR, QM_MODEL_ERROR_VALUE, "metadata.total_size",
                    N_("the index names no file, and metadata.total_size is missing"), NULL);
      return NULL;
    }
  if (!(bytes > 0 && bytes < MAX_BYTES))
    {
      qm_error_set (error, QM_MODEL_ERROR, QM_MODEL_ERROR_VALUE, "metadata.total_size",
                    N_("metadata.total_size is missing, and so are files that the index names: {names}"),
                    "names", names, NULL);
      return NULL;
    }
  self = finish (beside, &header, error);
  if (self == NULL)
    return NULL;
  if (self->architecture.known && beside->config != NULL)
    {
      self->read_by = QM_READER_CONFIG;
      self->parameters = self->architecture.parameters;
      self->active_parameters = self->architecture.active_parameters;
    }
  else
    note (self, "model-bytes-only", N_("The index tells bytes, not parameters: weights of 16 bits were taken"));
  if (missing->len > 0)
    qm_model_note (self, qm_message_add_text (qm_message_new ("model-files-missing", N_("The index names files that are not there: {names}")),
                                              "names", QM_ARGUMENT_NAME, names));
  return self;
}

/**
 * qm_model_from_weight_index:
 * @path: a model.safetensors.index.json
 * @index: its content
 * @error: return location for an error
 *
 * Reads the headers of all files that it names where they are there. Else it
 * goes by the config.json, or by `total_size`, which is bytes.
 *
 * Returns: (transfer full) (nullable): the model
 */
QmModel *
qm_model_from_weight_index (const char  *path,
                            JsonObject  *index,
                            GError     **error)
{
  JsonObject *map = object_in (index, "weight_map");
  g_autofree char *folder = g_path_get_dirname (path);
  g_auto (Beside) beside = { 0 };
  g_autoptr (GPtrArray) files = map != NULL ? files_of_index (map) : g_ptr_array_new ();
  g_autoptr (GPtrArray) missing = find_missing (folder, files);

  if (files->len > MAX_SHARDS)
    {
      qm_error_set (error, QM_MODEL_ERROR, QM_MODEL_ERROR_VALUE, "weight_map",
                    N_("the index names more than {most} files, which no model has"), "#most", (double) MAX_SHARDS, NULL);
      return NULL;
    }
  if (files->len > 0 && missing->len == 0)
    return read_files (folder, files, error);
  beside = find_beside (folder);
  return from_total (&beside, number_in (object_in (index, "metadata"), "total_size"), missing, error);
}

/* A name like model-00002-of-00004.safetensors: all names of the row. */
static GPtrArray *
files_of_row (const char *name)
{
  static const char * const pattern = "-00000-of-00000.safetensors";
  gsize length = strlen (name), tail = strlen (pattern);
  const char *place = length > tail ? name + length - tail : NULL;
  GPtrArray *files;
  int count;

  if (place == NULL || !g_str_has_prefix (place + 6, "-of-"))
    return NULL;
  count = atoi (place + strlen ("-00000-of-"));
  if (count < 2 || count > MAX_SHARDS)
    return NULL;
  files = g_ptr_array_new_with_free_func (g_free);
  for (int i = 1; i <= count; i++)
    g_ptr_array_add (files, g_strdup_printf ("%.*s-%05d-of-%05d.safetensors", (int) (place - name), name, i, count));
  return files;
}

static QmModel *
from_row (const char  *folder,
          GPtrArray   *files,
          GError     **error)
{
  g_autoptr (GPtrArray) missing = find_missing (folder, files);
  g_autofree char *names = name_some (missing);

  if (missing->len == 0)
    return read_files (folder, files, error);
  qm_error_set (error, QM_MODEL_ERROR, QM_MODEL_ERROR_FILE, NULL,
                N_("the model is in {count} files, and missing are: {names}"), "#count", (double) files->len,
                "names", names, NULL);
  return NULL;
}

/**
 * qm_model_from_safetensors:
 * @path: a safetensors file; of several, any
 * @error: return location for an error
 *
 * Returns: (transfer full) (nullable): the model
 */
QmModel *
qm_model_from_safetensors (const char  *path,
                           GError     **error)
{
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *name = g_path_get_basename (path);
  g_autoptr (GPtrArray) row = files_of_row (name);
  g_autoptr (GPtrArray) one = g_ptr_array_new ();

  if (row != NULL)
    return from_row (folder, row, error);
  g_ptr_array_add (one, name);
  return read_files (folder, one, error);
}
