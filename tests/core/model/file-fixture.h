/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "model/qm-model-resolve.h"
#include "qm-message.h"

#include <string.h>

#include <glib/gstdio.h>

/* How many times longer everything takes under valgrind. */
#define SLOWER (g_getenv ("QM_TEST_VALGRIND") != NULL ? 60 : 1)

/* Where the files of a test lie. */
static char *folder;

static inline char *
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

static inline QmModel *
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

static inline int
run_in_folder (void)
{
  int status;

  folder = g_dir_make_tmp ("quartermaster-model-XXXXXX", NULL);
  status = g_test_run ();
  g_rmdir (folder);
  g_free (folder);
  return status;
}
