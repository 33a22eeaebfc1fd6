/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "figures.h"
#include "qm-file.h"
#include "qm-labels.h"

static const struct { double width, height; } sizes[] = {
  { 200, 150 }, { 340, 260 }, { 400, 620 }, { 640, 400 }, { 900, 460 }, { 2000, 900 },
};

static char *directory;

static void
for_each_figure (void (*check) (QmChart *chart, const char *name))
{
  for (const Figure *figure = figures; figure->name != NULL; figure++)
    {
      g_autoptr (QmChart) chart = figure->describe (qm_words_english ());

      g_test_message ("%s", figure->name);
      g_assert_nonnull (chart);
      check (chart, figure->name);
    }
}

static const char *
text_of (const QmScene *scene,
         guint          index)
{
  return pango_layout_get_text (g_array_index (scene->items, QmItem, index).layout);
}

static void
check_no_overlap (QmChart    *chart,
                  const char *name)
{
  for (guint size = 0; size < G_N_ELEMENTS (sizes); size++)
    {
      double scale;
      const QmScene *scene = qm_chart_scene (chart, sizes[size].width, sizes[size].height, &scale);

      for (guint i = 0; i < scene->items->len; i++)
        for (guint j = i + 1; j < scene->items->len; j++)
          {
            const QmItem *a = &g_array_index (scene->items, QmItem, i), *b = &g_array_index (scene->items, QmItem, j);

            if (a->kind == QM_ITEM_TEXT && b->kind == QM_ITEM_TEXT && qm_box_overlaps (qm_box_grow (a->box, -1), qm_box_grow (b->box, -1)))
              g_error ("%s at %.0f × %.0f: “%s” overlaps “%s”", name, sizes[size].width, sizes[size].height, text_of (scene, i),
                       text_of (scene, j));
          }
    }
}

static void
test_no_overlap (void)
{
  for_each_figure (check_no_overlap);
}

static void
check_inside (QmChart    *chart,
              const char *name)
{
  for (guint size = 0; size < G_N_ELEMENTS (sizes); size++)
    {
      double scale;
      const QmScene *scene = qm_chart_scene (chart, sizes[size].width, sizes[size].height, &scale);
      QmBox paper = { -1, -1, sizes[size].width / scale + 2, sizes[size].height / scale + 2 };

      g_assert_cmpfloat (scale, >, 0.2);
      for (guint i = 0; i < scene->items->len; i++)
        {
          const QmItem *item = &g_array_index (scene->items, QmItem, i);

          if (item->kind == QM_ITEM_TEXT && !qm_box_inside (item->box, paper))
            g_error ("%s at %.0f × %.0f: “%s” is cut off", name, sizes[size].width, sizes[size].height, text_of (scene, i));
        }
    }
}

static void
test_inside (void)
{
  for_each_figure (check_inside);
}

static void
check_words (QmChart    *chart,
             const char *name)
{
  g_assert_cmpuint (strlen (qm_chart_get_title (chart)), >, 10);
  g_assert_cmpuint (strlen (qm_chart_get_subtitle (chart)), >, 10);
  g_assert_nonnull (strstr (qm_chart_get_summary (chart), qm_chart_get_title (chart)));
  g_assert_cmpuint (qm_chart_n_table_rows (chart), >=, 3);
  g_assert_cmpuint (qm_chart_n_table_columns (chart), >=, 2);
  for (guint row = 0; row < qm_chart_n_table_rows (chart); row++)
    for (guint column = 0; column < qm_chart_n_table_columns (chart); column++)
      g_assert_null (strchr (qm_chart_table_cell (chart, row, column), '{'));
  g_assert_null (strchr (qm_chart_get_title (chart), '{'));
}

static void
test_words (void)
{
  for_each_figure (check_words);
}

/* Every mark is found by the pointer at its own place. */
static void
check_marks (QmChart    *chart,
             const char *name)
{
  double scale;
  const QmScene *scene = qm_chart_scene (chart, 900, 460, &scale);
  guint found = 0;

  g_assert_cmpuint (qm_chart_n_marks (chart), >=, 2);
  for (guint i = 0; i < scene->spots->len; i++)
    {
      QmPlaceOfMark spot = g_array_index (scene->spots, QmPlaceOfMark, i);
      double x = (spot.box.x + spot.box.width / 2) * scale, y = (spot.box.y + spot.box.height / 2) * scale;
      int mark;

      mark = qm_chart_mark_at (chart, 900, 460, x, y);
      g_assert_cmpint (mark, >=, 0);
      found += mark == (int) spot.mark;
      g_assert_cmpuint (strlen (qm_chart_mark_text (chart, mark)), >, 3);
    }
  g_assert_cmpuint (found, >=, scene->spots->len * 3 / 4);
  g_assert_cmpint (qm_chart_mark_at (chart, 900, 460, -100, -100), ==, -1);
}

/* A language whose sentences are long. */
static const char *
at_length (const char *msgid)
{
  g_autofree char *twice = g_strdup_printf ("%s, %s", msgid, msgid);

  return g_intern_string (twice);
}

static gboolean
is_long_text (const QmChart *chart,
              const char    *text)
{
  for (guint i = 0; i < chart->lines->len; i++)
    {
      const QmChartLine *line = &g_array_index (chart->lines, QmChartLine, i);

      if (g_strcmp0 (text, line->end_text) == 0 || g_strcmp0 (text, line->end_note) == 0)
        return TRUE;
    }

  return g_str_equal (text, chart->y.title);
}

/* Titles of axes and what stands behind the ends of lines. */
static void
test_long_texts (void)
{
  QmWords words = *qm_words_english ();
  guint seen = 0;

  words.translate = at_length;
  for (const Figure *figure = figures; figure->name != NULL; figure++)
    {
      g_autoptr (QmChart) chart = figure->describe (&words);
      const QmScene *scene;
      double scale;

      if (chart->y.title == NULL || chart->form != QM_FORM_PLANE)
        continue;
      scene = qm_chart_scene (chart, 300, 420, &scale);
      for (guint i = 0; i < scene->items->len; i++)
        {
          const QmItem *item = &g_array_index (scene->items, QmItem, i);

          if (item->kind != QM_ITEM_TEXT || !is_long_text (chart, text_of (scene, i)))
            continue;
          g_assert_cmpfloat (item->box.x + item->box.width, <=, scene->width + 0.5);
          seen++;
        }
    }
  g_assert_cmpuint (seen, >, 4);
}

/* Two labels in a row do not read as one. */
static void
test_labels_apart (void)
{
  const QmTextStyle style = { .size = 12, .ink = QM_INK_TEXT };
  guint in_a_row = 0;

  for (double x = 60; x < 260; x++)
    {
      g_autoptr (QmScene) scene = qm_scene_new ("en");
      QmLabeller labeller;
      const QmItem *a, *b;

      qm_labeller_init (&labeller, scene, (QmBox) { 0, 0, 400, 100 });
      g_assert_true (qm_labeller_put (&labeller, (QmPoint) { 60, 50 }, 4, "8 × first", &style, 100));
      g_assert_true (qm_labeller_put (&labeller, (QmPoint) { x, 50 }, 4, "8 × second", &style, 100));
      a = &g_array_index (scene->items, QmItem, 0);
      b = &g_array_index (scene->items, QmItem, 1);
      if (fabs (a->box.y - b->box.y) < a->box.height)
        {
          in_a_row++;
          g_assert_true (b->box.x >= a->box.x + a->box.width + 3 || a->box.x >= b->box.x + b->box.width + 3);
        }
      qm_labeller_clear (&labeller);
    }
  g_assert_cmpuint (in_a_row, >, 20);
}

/* A file is as high as what is in it, with a title of two lines at most here. */
static void
check_page_height (QmChart    *chart,
                   const char *name)
{
  double inside = qm_chart_least_height (chart, 860), height = qm_chart_page_height (chart, 900);

  g_assert_cmpfloat (height, >, inside);
  if (chart->form != QM_FORM_PLANE)
    g_assert_cmpfloat (height, <, MAX (150, inside + 120) + 1);
  g_assert_cmpfloat (qm_chart_page_height (chart, 300), >=, 150);
}

static void
test_page_height (void)
{
  for_each_figure (check_page_height);
}

static void
test_marks (void)
{
  for_each_figure (check_marks);
}

static char *
saved (QmChart    *chart,
       const char *name,
       const char *ending,
       double      width,
       double      height,
       gboolean    dark)
{
  g_autofree char *file = g_strdup_printf ("%s-%.0fx%.0f%s%s", name, width, height, dark ? "-dark" : "", ending);
  char *path = g_build_filename (directory, file, NULL);
  g_autoptr (GError) error = NULL;

  qm_chart_save (chart, path, width, height, dark, &error);
  g_assert_no_error (error);

  return path;
}

static void
check_saved (QmChart    *chart,
             const char *name)
{
  static const struct { const char *ending; const char *start; } kinds[] = {
    { ".png", "\211PNG" }, { ".svg", "<?xml" }, { ".pdf", "%PDF-1." },
  };

  for (guint kind = 0; kind < G_N_ELEMENTS (kinds); kind++)
    for (guint size = 0; size < G_N_ELEMENTS (sizes); size += 5)
      {
        g_autofree char *path = saved (chart, name, kinds[kind].ending, sizes[size].width, sizes[size].height, size > 0);
        g_autofree char *content = NULL;
        gsize length;

        g_assert_true (g_file_get_contents (path, &content, &length, NULL));
        g_assert_cmpuint (length, >, 1500);
        g_assert_true (g_str_has_prefix (content, kinds[kind].start));
        g_unlink (path);
      }
}

static void
test_save (void)
{
  for_each_figure (check_saved);
}

static void
test_same_bytes (void)
{
  g_autoptr (QmChart) first = figures[4].describe (qm_words_english ());
  g_autoptr (QmChart) second = figures[4].describe (qm_words_english ());
  g_autofree char *a = saved (first, "first", ".pdf", 600, 400, FALSE);
  g_autofree char *b = saved (second, "second", ".pdf", 600, 400, FALSE);
  g_autofree char *a_content = NULL;
  g_autofree char *b_content = NULL;
  gsize a_length, b_length;

  g_assert_true (g_file_get_contents (a, &a_content, &a_length, NULL));
  g_assert_true (g_file_get_contents (b, &b_content, &b_length, NULL));
  g_assert_cmpmem (a_content, a_length, b_content, b_length);
  g_unlink (a);
  g_unlink (b);
}

/* The size that was asked for, and the card's colour in the corner. */
static void
test_png (void)
{
  g_autoptr (QmChart) chart = figures[0].describe (qm_words_english ());
  g_autofree char *path = saved (chart, "corner", ".png", 640, 400, TRUE);
  cairo_surface_t *surface = cairo_image_surface_create_from_png (path);
  guint32 corner;

  g_assert_cmpint (cairo_image_surface_get_width (surface), ==, 640);
  g_assert_cmpint (cairo_image_surface_get_height (surface), ==, 400);
  corner = *(guint32 *) (gpointer) cairo_image_surface_get_data (surface) & 0xffffff;
  g_assert_cmphex (corner, ==, 0x333337);
  cairo_surface_destroy (surface);
  g_unlink (path);
}

static void
test_refused (void)
{
  g_autoptr (QmChart) chart = figures[0].describe (qm_words_english ());
  g_autofree char *unknown = g_build_filename (directory, "chart.bmp", NULL);
  g_autofree char *nowhere = g_build_filename (directory, "no", "such", "chart.png", NULL);
  g_autofree char *fine = g_build_filename (directory, "chart.png", NULL);
  g_autoptr (GError) error = NULL;

  g_assert_false (qm_chart_save (chart, unknown, 640, 400, FALSE, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED);
  g_clear_error (&error);
  g_assert_false (qm_chart_save (chart, nowhere, 640, 400, FALSE, &error));
  g_assert_error (error, QM_FILE_ERROR, G_FILE_ERROR_NOENT);
  g_clear_error (&error);
  g_assert_false (qm_chart_save (chart, fine, 199, 400, FALSE, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT);
  g_clear_error (&error);
  g_assert_false (qm_chart_save (chart, fine, 640, NAN, FALSE, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT);
  g_clear_error (&error);
  g_assert_false (qm_chart_save (chart, fine, 8001, 400, FALSE, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT);
  g_assert_false (g_file_test (fine, G_FILE_TEST_EXISTS));
}

/* What pays after forty years does not pay. */
static void
test_never_pays (void)
{
  const QmOwningFigures owning = { .purchase = 17000, .own_per_hour = 0.02, .rent_per_hour = { 0.05, 0.065, 0.08 },
                                   .break_even_hours = 17000 / (0.065 - 0.02), .lifetime_hours = 36 * 730 };
  g_autoptr (QmChart) chart = qm_chart_describe_buy_or_rent (&owning, "2 × NVIDIA L4", "USD", qm_words_english ());

  g_assert_cmpstr (qm_chart_get_title (chart), ==, "Buying 2 × NVIDIA L4 does not pay within 3\302\240years");
}

int
main (int   argc,
      char *argv[])
{
  int result;

  g_test_init (&argc, &argv, NULL);
  directory = g_dir_make_tmp ("quartermaster-draw-XXXXXX", NULL);
  g_test_add_func ("/chart/never-pays", test_never_pays);
  g_test_add_func ("/charts/no-overlap", test_no_overlap);
  g_test_add_func ("/charts/inside", test_inside);
  g_test_add_func ("/charts/words", test_words);
  g_test_add_func ("/charts/long-texts", test_long_texts);
  g_test_add_func ("/charts/labels-apart", test_labels_apart);
  g_test_add_func ("/charts/page-height", test_page_height);
  g_test_add_func ("/charts/marks", test_marks);
  g_test_add_func ("/charts/save", test_save);
  g_test_add_func ("/charts/same-bytes", test_same_bytes);
  g_test_add_func ("/charts/png", test_png);
  g_test_add_func ("/charts/refused", test_refused);
  result = g_test_run ();
  g_rmdir (directory);
  g_free (directory);

  return result;
}
