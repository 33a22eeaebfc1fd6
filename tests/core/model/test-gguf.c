/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "file-fixture.h"

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

static void
add_zeros (GByteArray *bytes,
           guint       n)
{
  guint before = bytes->len;

  g_byte_array_set_size (bytes, before + n);
  memset (bytes->data + before, 0, n);
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

static GByteArray *
gguf_part_of (guint16 count,
              guint16 place,
              guint64 tensors)
{
  GByteArray *bytes = gguf_start (3, tensors, place == 0 ? 7 : 3);

  put_number (bytes, "split.count", count);
  put_number (bytes, "split.no", place);
  put_number (bytes, "split.tensors.count", 1298);
  if (place == 0)
    {
      put_string (bytes, "general.architecture");
      put_32 (bytes, 8);
      put_string (bytes, "llama");
      put_number (bytes, "llama.embedding_length", 256);
      put_number (bytes, "llama.block_count", 2);
      put_number (bytes, "llama.attention.head_count", 8);
    }
  for (guint64 i = 0; i < tensors; i++)
    {
      g_autofree char *name = g_strdup_printf ("blk.%d.ffn_up.weight", (int) (1000 * place + i));

      put_tensor (bytes, name, 256, 2, 1);
    }
  return bytes;
}

static GByteArray *
gguf_part (guint16 place,
           guint64 tensors)
{
  return gguf_part_of (2, place, tensors);
}

/* FreeToken#154: `split.no` counts from 0 and the names from 1,
 * `split.tensors.count` is of all files (694 + 604), and only the first names
 * the architecture. eullm#394: one file of several was picked. */
static void
test_gguf_parts (void)
{
  g_autoptr (GByteArray) first = gguf_part (0, 694);
  g_autoptr (GByteArray) second = gguf_part (1, 604);
  g_autofree char *path = write_file ("big-00001-of-00002.gguf", first->data, first->len);
  g_autofree char *other = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (QmModel) missing = qm_model_from_file (path, &error);
  g_autoptr (QmModel) model = NULL;
  g_autoptr (QmModel) again = NULL;

  g_assert_null (missing);
  g_assert_error (error, QM_MODEL_ERROR, QM_MODEL_ERROR_FILE);
  g_assert_nonnull (strstr (error->message, "big-00002-of-00002.gguf"));
  other = write_file ("big-00002-of-00002.gguf", second->data, second->len);
  model = qm_model_from_file (path, NULL);
  g_assert_cmpfloat (model->parameters, ==, 1298 * 512);
  g_assert_cmpstr (model->architecture.type, ==, "llama");
  for (guint i = 0; i < model->notes->len; i++)
    g_assert_cmpstr (qm_message_get_code (g_ptr_array_index (model->notes, i)), !=, "model-tensors-missing");
  again = qm_model_from_file (other, NULL);
  g_assert_cmpfloat (again->parameters, ==, model->parameters);
  g_remove (path);
  g_remove (other);
}

/* Two parts that hold the same tensors: the second is a copy of the first under another name. */
static void
test_gguf_repeated (void)
{
  g_autoptr (GByteArray) first = gguf_part (0, 694);
  g_autoptr (GByteArray) second = gguf_start (3, 694, 3);
  g_autofree char *path = write_file ("twice-00001-of-00002.gguf", first->data, first->len), *other = NULL;
  g_autoptr (QmModel) model = NULL;
  gboolean noted = FALSE;

  put_number (second, "split.count", 2);
  put_number (second, "split.no", 1);
  put_number (second, "split.tensors.count", 694);
  for (int i = 0; i < 694; i++)
    {
      g_autofree char *name = g_strdup_printf ("blk.%d.ffn_up.weight", i);

      put_tensor (second, name, 256, 2, 1);
    }
  other = write_file ("twice-00002-of-00002.gguf", second->data, second->len);
  model = qm_model_from_file (path, NULL);
  g_assert_cmpfloat (model->parameters, ==, 694 * 512);
  for (guint i = 0; i < model->notes->len; i++)
    noted = noted || g_str_equal (qm_message_get_code (g_ptr_array_index (model->notes, i)), "model-tensors-repeated");
  g_assert_true (noted);
  g_remove (path);
  g_remove (other);
}

/* Files of another model, or none at all, under the names of parts. */
static void
test_gguf_wrong_parts (void)
{
  static const char * const says[] = { "big-00002-of-00002.gguf", "begin like one", "not named like one" };

  for (gsize i = 0; i < G_N_ELEMENTS (says); i++)
    {
      g_autoptr (GByteArray) first = gguf_part (0, 2);
      g_autofree char *path = write_file (i == 2 ? "renamed.gguf" : "big-00001-of-00002.gguf", first->data, first->len);
      g_autofree char *other = write_file ("big-00002-of-00002.gguf", i == 1 ? (gconstpointer) "<html>" : first->data,
                                           i == 1 ? 6 : first->len);
      g_autoptr (GError) error = NULL;
      g_autoptr (QmModel) model = qm_model_from_file (path, &error);

      g_assert_null (model);
      g_assert_nonnull (strstr (error->message, says[i]));
      g_remove (path);
      g_remove (other);
    }
}

/* A part of another split of the same model bears the right number and name. */
static void
test_gguf_part_of_another (void)
{
  g_autoptr (GByteArray) first = gguf_part (0, 2);
  g_autoptr (GByteArray) second = gguf_part_of (7, 1, 2);
  g_autofree char *path = write_file ("big-00001-of-00002.gguf", first->data, first->len);
  g_autofree char *other = write_file ("big-00002-of-00002.gguf", second->data, second->len);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmModel) model = qm_model_from_file (path, &error);

  g_assert_null (model);
  g_assert_nonnull (strstr (error->message, "another part"));
  g_remove (path);
  g_remove (other);
}

/* A download that has not ended, and tensors at one place: both are counted, and marked. */
static void
test_gguf_marks (void)
{
  g_autoptr (GByteArray) bytes = small_gguf ();
  g_autoptr (QmModel) model = read_data ("small.gguf", bytes->data, bytes->len, NULL);
  g_autoptr (GByteArray) one = gguf_start (3, 1, 1);
  g_autoptr (QmModel) whole = NULL;
  gboolean cut = FALSE, doubtful = FALSE;

  for (guint i = 0; i < model->notes->len; i++)
    {
      cut |= g_str_equal (qm_message_get_code (g_ptr_array_index (model->notes, i)), "model-cut-short");
      doubtful |= g_str_equal (qm_message_get_code (g_ptr_array_index (model->notes, i)), "model-tensors-doubtful");
    }
  g_assert_true (cut && doubtful);
  put_string (one, "general.architecture");
  put_32 (one, 8);
  put_string (one, "llama");
  put_tensor (one, "blk.0.weight", 10, 10, 1);
  add_zeros (one, 200);
  whole = read_data ("whole.gguf", one->data, one->len, NULL);
  for (guint i = 0; i < whole->notes->len; i++)
    {
      const char *code = qm_message_get_code (g_ptr_array_index (whole->notes, i));

      g_assert_cmpstr (code, !=, "model-cut-short");
      g_assert_cmpstr (code, !=, "model-tensors-doubtful");
    }
}

/* What nobody told of is still counted by its own table. */
static void
test_gguf_unknown (void)
{
  g_autoptr (GByteArray) bytes = gguf_start (3, 1, 1);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmModel) model = NULL;

  put_string (bytes, "general.architecture");
  put_32 (bytes, 8);
  put_string (bytes, "quite-new");
  put_tensor (bytes, "blk.0.weight", 1000, 1000, 77);
  add_zeros (bytes, 4242);
  model = read_data ("new.gguf", bytes->data, bytes->len, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (model->parameters, ==, 1e6);
  g_assert_cmpfloat (model->stored_bytes, ==, 4242);
}

/* A billion tensors are refused at once. */
static void
test_gguf_absurd (void)
{
  g_autoptr (GByteArray) bytes = gguf_start (3, 1000000000, 0);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmModel) model = NULL;
  gint64 start = g_get_monotonic_time ();

  add_zeros (bytes, (1 << 20) - bytes->len);
  model = read_data ("absurd.gguf", bytes->data, bytes->len, &error);
  g_assert_null (model);
  g_assert_error (error, QM_MODEL_ERROR, QM_MODEL_ERROR_NOT_A_MODEL);
  g_assert_cmpint (g_get_monotonic_time () - start, <, SLOWER * 200 * 1000);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/file/gguf", test_gguf);
  g_test_add_func ("/file/gguf-cut-short", test_gguf_cut_short);
  g_test_add_func ("/file/gguf-damaged", test_gguf_damaged);
  g_test_add_func ("/file/gguf-parts", test_gguf_parts);
  g_test_add_func ("/file/gguf-repeated", test_gguf_repeated);
  g_test_add_func ("/file/gguf-wrong-parts", test_gguf_wrong_parts);
  g_test_add_func ("/file/gguf-part-of-another", test_gguf_part_of_another);
  g_test_add_func ("/file/gguf-marks", test_gguf_marks);
  g_test_add_func ("/file/gguf-unknown", test_gguf_unknown);
  g_test_add_func ("/file/gguf-absurd", test_gguf_absurd);
  return run_in_folder ();
}
