/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gstdio.h>
#include <string.h>

#include "qm-page.h"
#include "qm-file.h"

/* Reports on the real catalog, read back with poppler's programs. */

#define LORA                                                                                                                  \
  "{\"format\":\"quartermaster-plan\",\"version\":1,\"title\":\"Support assistant\",\"task\":\"language-model\","           \
  "\"activity\":\"fine-tune\",\"stage\":\"development\",\"model\":{\"id\":\"llama-3.1-8b\"},"                               \
  "\"training\":{\"method\":\"lora\",\"samples\":20000,\"epochs\":3,\"sequence_length\":750},"                              \
  "\"limits\":{\"money\":60,\"currency\":\"USD\",\"hours\":12}}"
#define SERVE                                                                                                                 \
  "{\"format\":\"quartermaster-plan\",\"version\":1,\"title\":\"Support service\",\"task\":\"language-model\","             \
  "\"activity\":\"serve\",\"model\":{\"id\":\"llama-3.1-8b\"},\"serving\":{\"input_tokens\":750,\"output_tokens\":250,"     \
  "\"requests_per_second\":1}}"
#define TOO_MUCH                                                                                                              \
  "{\"format\":\"quartermaster-plan\",\"version\":1,\"title\":\"It's too (much) \\\\ here\",\"task\":\"language-model\","   \
  "\"activity\":\"train\",\"model\":{\"parameters\":4e11},\"training\":{\"tokens\":1e12},\"limits\":{\"money\":60,\"hours\":12}}"

#define TOO_LARGE                                                                                                             \
  "{\"format\":\"quartermaster-plan\",\"version\":1,\"task\":\"language-model\",\"activity\":\"fine-tune\","                 \
  "\"model\":{\"id\":\"llama-3.1-8b\"},\"training\":{\"method\":\"full\"},"                                                \
  "\"configuration\":{\"device\":\"rtx-3060-12gb\",\"devices\":1,\"offload\":\"none\"}}"

static QmEstimator *estimator;
static char *directory;

static QmRecommendation *
recommend (const char *json)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmPlan) plan = qm_plan_from_data (json, -1, NULL, &error);
  g_autoptr (QmResolved) resolved = NULL;

  g_assert_no_error (error);
  resolved = qm_resolve (plan, qm_estimator_get_catalog (estimator), NULL, NULL, &error);
  g_assert_no_error (error);

  return qm_recommend (estimator, resolved, NULL, NULL);
}

static char *
write_report (const char    *json,
              const QmWords *words,
              const char    *language,
              QmPaper        paper,
              const char    *name)
{
  g_autoptr (QmRecommendation) recommendation = recommend (json);
  g_autoptr (GError) error = NULL;
  char *path = g_build_filename (directory, name, NULL);

  qm_report_write_file (estimator, recommendation, words, language, "2026-07-20", paper, path, NULL, &error);
  g_assert_no_error (error);

  return path;
}

/* What one of poppler's programs prints; NULL where it is not installed. */
static char *
poppler (const char *first,
         const char *second,
         const char *path,
         const char *last)
{
  g_autofree char *program = g_find_program_in_path (first);
  const char *arguments[5] = { first };
  guint n = 1;
  char *output = NULL;
  int status;

  if (program == NULL)
    {
      g_test_skip ("poppler-utils are not installed");
      return NULL;
    }
  if (second != NULL)
    arguments[n++] = second;
  arguments[n++] = path;
  if (last != NULL)
    arguments[n++] = last;
  g_assert_true (g_spawn_sync (NULL, (char **) arguments, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &output, NULL, &status, NULL));
  g_assert_cmpint (status, ==, 0);

  return output;
}

static void
assert_has (const char *text,
            const char *part)
{
  if (strstr (text, part) == NULL)
    g_error ("“%s” is missing in:\n%s", part, text);
}

static int
n_pages (const char *info)
{
  const char *line = strstr (info, "Pages:");

  g_assert_nonnull (line);
  return atoi (line + strlen ("Pages:"));
}

static void
test_text (void)
{
  g_autofree char *path = write_report (LORA, qm_words_english (), "en", QM_PAPER_A4, "text.pdf");
  g_autofree char *text = poppler ("pdftotext", "-layout", path, "-");

  if (text != NULL)
    {
      assert_has (text, "Support assistant");
      assert_has (text, "Llama 3.1 8B");
      assert_has (text, "Why this one");
      assert_has (text, "Your answers and our assumptions");
      assert_has (text, "All choices side by side");
      assert_has (text, "From idea to product");
      assert_has (text, "20 July 2026");
      assert_has (text, "20,000");
      assert_has (text, "60 USD");
      g_assert_null (strchr (text, '{'));
    }
  g_unlink (path);
}

static void
test_properties (void)
{
  g_autofree char *path = write_report (LORA, qm_words_english (), "en", QM_PAPER_A4, "properties.pdf");
  g_autofree char *info = poppler ("pdfinfo", NULL, path, NULL);

  if (info != NULL)
    {
      assert_has (info, "Title:           Support assistant");
      assert_has (info, "Author:          Quartermaster");
      assert_has (info, "Tagged:          yes");
      assert_has (info, "(A4)");
      assert_has (info, "PDF version:     1.7");
      assert_has (info, "2026");
      g_assert_cmpint (n_pages (info), >=, 3);
      g_assert_cmpint (n_pages (info), <=, 12);
    }
  g_unlink (path);
}

static void
test_structure (void)
{
  g_autofree char *path = write_report (LORA, qm_words_english (), "en", QM_PAPER_A4, "structure.pdf");
  g_autofree char *structure = poppler ("pdfinfo", "-struct-text", path, NULL);
  g_autofree char *destinations = poppler ("pdfinfo", "-dests", path, NULL);
  g_autofree char *fonts = poppler ("pdffonts", NULL, path, NULL);

  if (structure != NULL)
    {
      assert_has (structure, "Document");
      assert_has (structure, "H1");
      assert_has (structure, "H2");
      assert_has (structure, "Table");
      assert_has (structure, "TH");
      assert_has (structure, "Figure");
      assert_has (structure, "Link");
      assert_has (destinations, "\"memory\"");
      assert_has (destinations, "\"sources\"");
      assert_has (fonts, "yes yes yes");
      g_assert_null (strstr (fonts, "Type 3"));
      g_assert_null (strstr (fonts, " no "));
    }
  g_unlink (path);
}

static void
test_letter (void)
{
  g_autofree char *path = write_report (LORA, qm_words_english (), "en", QM_PAPER_LETTER, "letter.pdf");
  g_autofree char *info = poppler ("pdfinfo", NULL, path, NULL);

  if (info != NULL)
    assert_has (info, "612 x 792");
  g_unlink (path);
}

static void
test_serving (void)
{
  g_autofree char *path = write_report (SERVE, qm_words_english (), "en", QM_PAPER_A4, "serving.pdf");
  g_autofree char *text = poppler ("pdftotext", "-layout", path, "-");

  if (text != NULL)
    assert_has (text, "Cost of a month");
  g_unlink (path);
}

/* What fits nowhere is drawn where it comes nearest, with what would make it fit. */
static void
test_fits_nowhere (void)
{
  g_autofree char *path = write_report (TOO_LARGE, qm_words_english (), "en", QM_PAPER_A4, "nowhere.pdf");
  g_autofree char *text = poppler ("pdftotext", "-layout", path, "-");

  if (text == NULL)
    return;

  assert_has (text, "Nothing that you allow can do this job");
  assert_has (text, "RTX 3060");
  assert_has (text, "With these changes it needs");
  assert_has (text, "What saves memory");
  assert_has (text, "Store the frozen weights in 4 bits");
}

/* The report of a plan that nothing can do says so, on whole pages. */
static void
test_nothing_fits (void)
{
  g_autofree char *path = write_report (TOO_MUCH, qm_words_english (), "en", QM_PAPER_A4, "nothing.pdf");
  g_autofree char *text = poppler ("pdftotext", "-layout", path, "-");

  if (text != NULL)
    {
      assert_has (text, "It's too (much) \\ here");
      assert_has (text, "Nothing that you allow can do this job");
      assert_has (text, "What was ruled out");
    }
  g_unlink (path);
}

static void
test_same_bytes (void)
{
  g_autofree char *first = write_report (LORA, qm_words_english (), "en", QM_PAPER_A4, "first.pdf");
  g_autofree char *second = write_report (LORA, qm_words_english (), "en", QM_PAPER_A4, "second.pdf");
  g_autofree char *a = NULL;
  g_autofree char *b = NULL;
  gsize a_length, b_length;

  g_assert_true (g_file_get_contents (first, &a, &a_length, NULL));
  g_assert_true (g_file_get_contents (second, &b, &b_length, NULL));
  g_assert_cmpmem (a, a_length, b, b_length);
  g_unlink (first);
  g_unlink (second);
}

/* Other words of another length: some are Chinese here, all others thrice as long. */
static const char *
chinese (const char *msgid)
{
  static const struct { const char *english; const char *chinese; } words[] = {
    { "Why this one", "为什么选它" }, { "Your answers and our assumptions", "您的回答与我们的假设" },
    { "All choices side by side", "所有选择并列" }, { "Memory", "显存" }, { "Rent one {hardware}", "租用一块 {hardware}" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (strcmp (msgid, words[i].english) == 0)
      return words[i].chinese;

  return msgid;
}

static const char *
chinese_plural (const char *one,
                const char *many,
                gulong      n)
{
  return many;
}

static const char *
long_words (const char *msgid)
{
  g_autofree char *text = strlen (msgid) > 3 && strchr (msgid, '{') == NULL ? g_strdup_printf ("%s und %s", msgid, msgid) :
                                                                               g_strdup (msgid);

  return g_intern_string (text);
}

static void
test_chinese (void)
{
  const QmWords words = { chinese, chinese_plural, ".", "," };
  g_autofree char *path = write_report (LORA, &words, "zh_CN", QM_PAPER_A4, "chinese.pdf");
  g_autofree char *text = poppler ("pdftotext", "-layout", path, "-");
  g_autofree char *fonts = poppler ("pdffonts", NULL, path, NULL);

  if (text != NULL)
    {
      assert_has (text, "为什么选它");
      assert_has (text, "您的回答与我们的假设");
      g_assert_null (strstr (fonts, "Type 3"));
    }
  g_unlink (path);
}

static void
assert_apart (const QmBlock *above,
              const QmBlock *below)
{
  if (above->page == below->page)
    g_assert_cmpfloat (above->y + above->height, <=, below->y + 0.01);
  else
    g_assert_cmpuint (above->page + 1, ==, below->page);
}

/* Blocks follow each other, none is below the foot, and no heading ends a page. */
static void
test_pages (gconstpointer data)
{
  const QmWords words = { data, chinese_plural, ".", "," };
  g_autoptr (QmDocument) document = qm_document_new (QM_PAPER_LETTER, &words, "de");
  const double shares[] = { 0.2, 0.8 };
  const char *cells[] = { "A cell that is wider than its column", "b" };
  int table;

  for (guint section = 0; section < 12; section++)
    {
      qm_document_heading (document, QM_VOICE_HEAD, words.translate ("A heading of a section"), "here");
      for (guint i = 0; i < section; i++)
        qm_document_text (document, QM_VOICE_TEXT, words.translate ("Some words that take a line, or two where they are long, or three."));
      table = qm_document_table (document, shares, 2, cells);
      for (guint i = 0; i < 2 + section * 3; i++)
        qm_document_row (document, table, shares, 2, cells);
    }

  qm_document_paginate (document);
  g_assert_cmpuint (document->n_pages, >, 5);
  for (guint i = 0; i < document->blocks->len; i++)
    {
      const QmBlock *block = &g_array_index (document->blocks, QmBlock, i);

      g_assert_cmpfloat (block->y + block->height, <=, qm_document_bottom (document));
      if (i + 1 < document->blocks->len)
        assert_apart (block, block + 1);
      if (block->text != NULL)
        g_assert_cmpuint (block->page, ==, (block + 1)->page);
    }
}

static void
test_unwritable (void)
{
  g_autoptr (QmRecommendation) recommendation = recommend (LORA);
  g_autofree char *path = g_build_filename (directory, "no", "such", "report.pdf", NULL);
  g_autoptr (GError) error = NULL;

  g_assert_false (qm_report_write_file (estimator, recommendation, qm_words_english (), "en", "2026-07-20", QM_PAPER_A4, path, NULL,
                                        &error));
  g_assert_error (error, QM_FILE_ERROR, G_FILE_ERROR_NOENT);
}

static void
test_cancelled (void)
{
  g_autoptr (QmRecommendation) recommendation = recommend (LORA);
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;

  g_cancellable_cancel (cancellable);
  g_assert_false (qm_report_write (estimator, recommendation, qm_words_english (), "en", "2026-07-20", QM_PAPER_A4, stream, cancellable,
                                   &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

int
main (int   argc,
      char *argv[])
{
  g_autofree char *folder = NULL;
  g_autoptr (QmCatalog) catalog = NULL;
  g_autoptr (GError) error = NULL;
  int result;

  g_test_init (&argc, &argv, NULL);
  folder = g_build_filename (g_getenv ("QM_DATA_DIR"), "catalog", NULL);
  catalog = qm_catalog_load (folder, NULL, &error);
  g_assert_no_error (error);
  estimator = qm_estimator_new (catalog, &error);
  g_assert_no_error (error);
  directory = g_dir_make_tmp ("quartermaster-report-XXXXXX", NULL);

  g_test_add_func ("/report/text", test_text);
  g_test_add_func ("/report/properties", test_properties);
  g_test_add_func ("/report/structure", test_structure);
  g_test_add_func ("/report/letter", test_letter);
  g_test_add_func ("/report/serving", test_serving);
  g_test_add_func ("/report/fits-nowhere", test_fits_nowhere);
  g_test_add_func ("/report/nothing-fits", test_nothing_fits);
  g_test_add_func ("/report/same-bytes", test_same_bytes);
  g_test_add_func ("/report/chinese", test_chinese);
  g_test_add_data_func ("/report/pages/short", chinese, test_pages);
  g_test_add_data_func ("/report/pages/long", long_words, test_pages);
  g_test_add_func ("/report/unwritable", test_unwritable);
  g_test_add_func ("/report/cancelled", test_cancelled);
  result = g_test_run ();
  g_rmdir (directory);
  g_free (directory);
  g_object_unref (estimator);

  return result;
}
