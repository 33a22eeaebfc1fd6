/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-file.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
  char *folder;
  char *path;
  char *other;
} Fixture;

static void
set_up (Fixture       *self,
        gconstpointer  data)
{
  self->folder = g_dir_make_tmp (NULL, NULL);
  self->path = g_build_filename (self->folder, "file", NULL);
  self->other = g_build_filename (self->folder, "other", NULL);
}

static void
tear_down (Fixture       *self,
           gconstpointer  data)
{
  g_remove (self->path);
  g_remove (self->other);
  g_assert_cmpint (g_rmdir (self->folder), ==, 0);
  g_free (self->folder);
  g_free (self->path);
  g_free (self->other);
}

static void
assert_holds (const char *path,
              const char *expected)
{
  g_autoptr (GError) error = NULL;
  gsize length;
  g_autofree char *text = qm_file_read (path, 1000, &length, &error);

  g_assert_no_error (error);
  g_assert_cmpstr (text, ==, expected);
  g_assert_cmpuint (length, ==, strlen (expected));
}

static void
test_write (Fixture       *self,
            gconstpointer  data)
{
  g_assert_true (qm_file_write (self->path, "first", 5, NULL));
  assert_holds (self->path, "first");
  g_assert_true (qm_file_write (self->path, "", 0, NULL));
  assert_holds (self->path, "");
}

/* The file that a link leads to changes; the link stays one. */
static void
test_link (Fixture       *self,
           gconstpointer  data)
{
  g_assert_true (qm_file_write (self->other, "old", 3, NULL));
  g_assert_cmpint (symlink (self->other, self->path), ==, 0);
  g_assert_true (qm_file_write (self->path, "new", 3, NULL));
  g_assert_true (g_file_test (self->path, G_FILE_TEST_IS_SYMLINK));
  assert_holds (self->other, "new");
}

/* A pipe is written into; a file must not take its place. */
static void
test_pipe (Fixture       *self,
           gconstpointer  data)
{
  char text[8] = "";
  int reader;
  struct stat info;

  g_assert_cmpint (mkfifo (self->path, 0600), ==, 0);
  reader = g_open (self->path, O_RDONLY | O_NONBLOCK, 0);
  g_assert_true (qm_file_write (self->path, "through", 7, NULL));
  g_assert_cmpint (read (reader, text, 7), ==, 7);
  g_assert_cmpstr (text, ==, "through");
  close (reader);
  g_assert_cmpint (stat (self->path, &info), ==, 0);
  g_assert_true (S_ISFIFO (info.st_mode));
}

static void
test_refused (Fixture       *self,
              gconstpointer  data)
{
  g_autofree char *inside = g_build_filename (self->folder, "no", "file", NULL);
  g_autofree char *expected = g_strdup_printf ("%s: cannot be written: there is no such folder", inside);
  g_autoptr (GError) error = NULL;
  gsize length;

  g_assert_false (qm_file_write (inside, "x", 1, &error));
  g_assert_error (error, QM_FILE_ERROR, G_FILE_ERROR_NOENT);
  g_assert_cmpstr (error->message, ==, expected);
  g_clear_error (&error);

  g_assert_false (qm_file_write (self->folder, "x", 1, &error));
  g_assert_error (error, QM_FILE_ERROR, G_FILE_ERROR_ISDIR);
  g_clear_error (&error);
  g_assert_false (qm_file_write ("", "x", 1, &error));
  g_assert_error (error, QM_FILE_ERROR, G_FILE_ERROR_NOENT);
  g_clear_error (&error);

  g_assert_null (qm_file_read (self->path, 10, &length, &error));
  g_assert_error (error, QM_FILE_ERROR, G_FILE_ERROR_NOENT);
  g_clear_error (&error);
  g_assert_null (qm_file_read (self->folder, 10, &length, &error));
  g_assert_error (error, QM_FILE_ERROR, G_FILE_ERROR_ISDIR);
}

/* A device without an end is given up when it has given too much. */
static void
test_endless (Fixture       *self,
              gconstpointer  data)
{
  gsize length;
  g_autofree char *text = qm_file_read ("/dev/zero", 1000000, &length, NULL);

  g_assert_nonnull (text);
  g_assert_cmpuint (length, >, 1000000);
  g_assert_cmpuint (length, <, 2000000);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/disk/write", Fixture, NULL, set_up, test_write, tear_down);
  g_test_add ("/disk/link", Fixture, NULL, set_up, test_link, tear_down);
  g_test_add ("/disk/pipe", Fixture, NULL, set_up, test_pipe, tear_down);
  g_test_add ("/disk/refused", Fixture, NULL, set_up, test_refused, tear_down);
  g_test_add ("/disk/endless", Fixture, NULL, set_up, test_endless, tear_down);
  return g_test_run ();
}
