/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-file.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "qm-error.h"

QM_DEFINE_ERROR_DOMAIN ("qm-file-error-quark", qm_file_error_quark)

/* Most of a file is read in pieces of this size: a device without an end is
 * given up when it has given too much, not before. */
#define PIECE (64 * 1024)

/* As many as the system itself follows. */
#define MOST_LINKS 40

/* What has gone wrong, in the reader's language, for the errors that people
 * meet; what the system says, for the others. */
static const char *
words_for (int      code,
           gboolean writing)
{
  switch (code)
    {
    case G_FILE_ERROR_NOENT:
    case G_FILE_ERROR_NOTDIR:
      return writing ? N_("there is no such folder") : N_("there is no such file");
    case G_FILE_ERROR_ACCES:
    case G_FILE_ERROR_PERM:
      return writing ? N_("you may not write there") : N_("you may not read it");
    case G_FILE_ERROR_ROFS:
      return N_("the disk cannot be written to");
    case G_FILE_ERROR_NOSPC:
      return N_("the disk is full");
    case G_FILE_ERROR_ISDIR:
      return N_("it is a folder");
    case G_FILE_ERROR_NXIO:
      return N_("it is a pipe or a device; an ordinary file is wanted");
    case G_FILE_ERROR_LOOP:
      return N_("its links lead in a circle");
    case G_FILE_ERROR_NAMETOOLONG:
      return N_("the name is too long");
    default:
      return NULL;
    }
}

static void
set_error (GError     **error,
           const char  *path,
           int          number,
           gboolean     writing)
{
  int code = g_file_error_from_errno (number);
  const char *words = words_for (code, writing);
  g_autofree char *name = g_filename_display_name (path);
  QmMessage *message = qm_message_new ("error", writing ? N_("cannot be written: {reason}") : N_("cannot be read: {reason}"));

  if (error == NULL)
    {
      qm_message_free (message);
      return;
    }

  qm_message_add_text (message, "reason", words != NULL ? QM_ARGUMENT_WORDS : QM_ARGUMENT_NAME,
                       words != NULL ? words : g_strerror (number));
  qm_error_take (error, QM_FILE_ERROR, code, NULL, message);
  qm_error_locate (*error, name[0] != '\0' ? name : "\"\"", 0);
}

static gboolean
read_all (int      fd,
          gsize    most,
          GString *text)
{
  gssize n = 1;

  while (n != 0 && text->len <= most)
    {
      gsize before = text->len;

      g_string_set_size (text, before + PIECE);
      n = read (fd, text->str + before, PIECE);
      g_string_truncate (text, before + MAX (n, 0));
      if (n < 0 && errno != EINTR)
        return FALSE;
    }

  return TRUE;
}

/* Reads and closes @fd; below 0 it could not be opened. */
static char *
read_from (int          fd,
           const char  *path,
           gsize        most,
           gsize       *length,
           GError     **error)
{
  int number = errno;
  g_autoptr (GString) text = g_string_new (NULL);
  gboolean ok;

  if (fd < 0)
    {
      set_error (error, path, number, FALSE);
      return NULL;
    }

  ok = read_all (fd, most, text);
  number = errno;
  close (fd);
  if (!ok)
    {
      set_error (error, path, number, FALSE);
      return NULL;
    }
  *length = text->len;

  return g_string_free (g_steal_pointer (&text), FALSE);
}

/**
 * qm_file_read:
 * @path: a file, a pipe or a device
 * @most: how many bytes are wanted at the most
 * @length: (out): how many were read: more than @most where there are more
 * @error: return location for a #QM_FILE_ERROR that begins with @path
 *
 * Returns: (transfer full) (nullable): what is in the file, ended by a NUL
 */
char *
qm_file_read (const char  *path,
              gsize        most,
              gsize       *length,
              GError     **error)
{
  return read_from (g_open (path, O_RDONLY | O_CLOEXEC, 0), path, most, length, error);
}

/* 0, or the number of the error of something that is no file. */
static int
check_regular (const struct stat *info)
{
  return S_ISREG (info->st_mode) ? 0 : S_ISDIR (info->st_mode) ? EISDIR : ENXIO;
}

/**
 * qm_file_read_regular:
 * @path: a file, or a link to one
 * @most: how many bytes are wanted at the most
 * @length: (out): how many were read: more than @most where there are more
 * @error: return location for a #QM_FILE_ERROR that begins with @path
 *
 * Reads what must be an ordinary file: a pipe that nobody writes into is refused
 * at once, not waited for.
 *
 * Returns: (transfer full) (nullable): what is in the file, ended by a NUL
 */
char *
qm_file_read_regular (const char  *path,
                      gsize        most,
                      gsize       *length,
                      GError     **error)
{
  int fd = g_open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
  struct stat info;
  int number;

  if (fd < 0)
    return read_from (fd, path, most, length, error);

  number = fstat (fd, &info) != 0 ? errno : check_regular (&info);
  if (number != 0)
    {
      close (fd);
      set_error (error, path, number, FALSE);
      return NULL;
    }

  return read_from (fd, path, most, length, error);
}

static gboolean
write_all (int         fd,
           const char *data,
           gsize       length)
{
  while (length > 0)
    {
      gssize n = write (fd, data, length);

      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return FALSE;
      data += n;
      length -= n;
    }

  return TRUE;
}

/* A pipe or a device takes what it is given; a file must not take its place. */
static gboolean
write_into (const char  *path,
            const char  *data,
            gsize        length,
            GError     **error)
{
  int fd = g_open (path, O_WRONLY | O_CLOEXEC, 0);
  gboolean ok = fd >= 0 && write_all (fd, data, length);
  int number = errno;

  if (fd >= 0 && close (fd) != 0 && ok)
    {
      ok = FALSE;
      number = errno;
    }
  if (!ok)
    set_error (error, path, number, TRUE);

  return ok;
}

/* GLib's messages name temporary files, and are in the language of the person:
 * the codes are all that is of use. */
static int
number_of (const GError *error)
{
  static const int numbers[] = { ENOENT, ENOTDIR, EACCES, EPERM, EROFS, ENOSPC, EISDIR, ELOOP, ENAMETOOLONG };

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (g_error_matches (error, G_FILE_ERROR, g_file_error_from_errno (numbers[i])) ||
        g_error_matches (error, G_IO_ERROR, g_io_error_from_errno (numbers[i])))
      return numbers[i];

  return EIO;
}

/**
 * qm_file_set_error:
 * @error: return location
 * @path: a file that could not be read
 * @reason: (nullable): what GLib says of it
 *
 * Says it in the program's own words.
 */
void
qm_file_set_error (GError       **error,
                   const char    *path,
                   const GError  *reason)
{
  set_error (error, path, reason != NULL ? number_of (reason) : EIO, FALSE);
}

/**
 * qm_file_write:
 * @path: where to
 * @data: (array length=length): what to write
 * @length: its bytes
 * @error: return location for a #QM_FILE_ERROR that begins with @path
 *
 * Writes a file beside @path and renames it: the file is the old or the new
 * one, whole. A link is followed; a pipe or a device is written into.
 *
 * Returns: whether it was written
 */
gboolean
qm_file_write (const char  *path,
               const char  *data,
               gsize        length,
               GError     **error)
{
  g_autoptr (GError) local_error = NULL;
  char *real = realpath (path, NULL);
  struct stat info;
  gboolean ok;

  if (path[0] == '\0' || (stat (path, &info) == 0 && S_ISDIR (info.st_mode)))
    {
      free (real);
      set_error (error, path, path[0] == '\0' ? ENOENT : EISDIR, TRUE);
      return FALSE;
    }
  if (stat (path, &info) == 0 && !S_ISREG (info.st_mode))
    {
      free (real);
      return write_into (path, data, length, error);
    }

  ok = g_file_set_contents_full (real != NULL ? real : path, data, length,
                                 G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE, 0666, &local_error);
  free (real);
  if (!ok)
    set_error (error, path, number_of (local_error), TRUE);

  return ok;
}

/* Where the links at @path lead, whether anything is there or not. */
static char *
follow_links (const char *path)
{
  g_autofree char *at = g_strdup (path);

  for (int i = 0; i < MOST_LINKS; i++)
    {
      g_autofree char *target = g_file_read_link (at, NULL);
      g_autofree char *folder = g_path_get_dirname (at);
      g_autofree char *next = NULL;

      if (target == NULL)
        return g_steal_pointer (&at);
      next = g_path_is_absolute (target) ? g_strdup (target) : g_build_filename (folder, target, NULL);
      g_set_str (&at, next);
    }

  return NULL;
}

/* Writes @file beside @target; its name, or %NULL with errno set. */
static char *
write_beside (const QmFileText *file,
              const char       *target)
{
  g_autofree char *part = g_strconcat (target, ".part-XXXXXX", NULL);
  int fd = g_mkstemp_full (part, O_WRONLY | O_CLOEXEC, file->executable ? 0777 : 0666);
  gboolean ok = fd >= 0 && write_all (fd, file->text, strlen (file->text));
  int number = errno;

  if (fd >= 0 && close (fd) != 0 && ok)
    {
      ok = FALSE;
      number = errno;
    }
  if (!ok && fd >= 0)
    g_unlink (part);
  errno = number;

  return ok ? g_steal_pointer (&part) : NULL;
}

static char *
prepare (const QmFileText  *file,
         char             **target,
         GError           **error)
{
  struct stat info;
  int number = 0;
  char *part = NULL;

  *target = follow_links (file->path);
  if (*target == NULL)
    number = ELOOP;
  else if (stat (*target, &info) == 0)
    number = check_regular (&info);
  if (number == 0)
    {
      part = write_beside (file, *target);
      number = errno;
    }
  if (part == NULL)
    set_error (error, file->path, number, TRUE);

  return part;
}

/**
 * qm_file_write_together:
 * @files: (array length=n_files): files that belong together
 * @n_files: how many
 * @error: return location for a #QM_FILE_ERROR that begins with the path
 *
 * Writes all of them, or none: each beside its place first, and only once all
 * are whole they take their places. A link is followed; a pipe, a device and a
 * folder are left as they are.
 *
 * Returns: whether they were written
 */
gboolean
qm_file_write_together (const QmFileText *files,
                        guint             n_files,
                        GError          **error)
{
  g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) targets = g_ptr_array_new_with_free_func (g_free);
  gboolean ok = TRUE;

  for (guint i = 0; ok && i < n_files; i++)
    {
      char *target = NULL;
      char *part = prepare (&files[i], &target, error);

      g_ptr_array_add (targets, target);
      g_ptr_array_add (parts, part);
      ok = part != NULL;
    }
  for (guint i = 0; ok && i < n_files; i++)
    {
      ok = g_rename (g_ptr_array_index (parts, i), g_ptr_array_index (targets, i)) == 0;
      if (!ok)
        set_error (error, files[i].path, errno, TRUE);
    }

  /* Of those that took their places nothing is left here. */
  for (guint i = 0; !ok && i < parts->len; i++)
    if (g_ptr_array_index (parts, i) != NULL)
      g_unlink (g_ptr_array_index (parts, i));

  return ok;
}
