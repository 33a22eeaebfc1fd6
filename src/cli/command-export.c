/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "config.h"
#include "draw/qm-language.h"
#include "export/qm-launch.h"
#include "qm-error.h"
#include "qm-file.h"
#include "qm-cli.h"

static char *
template_directory (void)
{
  const char *data = g_getenv ("QM_DATA_DIR");

  return g_build_filename (data != NULL ? data : QM_DATA_DIR, "templates", NULL);
}

static char *
today (void)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();

  return g_date_time_format (now, "%Y-%m-%d");
}

/* A field of a table for spreadsheets (RFC 4180). */
static void
append_field (GString    *line,
              const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, "\"", -1);
  g_autofree char *doubled = g_strjoinv ("\"\"", parts);

  g_string_append_printf (line, "%s\"%s\"", line->len > 0 && line->str[line->len - 1] != '\n' ? "," : "", doubled);
}

static void
append_number (GString *line,
               double   value)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append_c (line, ',');
  if (isfinite (value))
    g_string_append (line, g_ascii_formatd (buffer, sizeof buffer, "%.6g", value));
}

static char *
matrix_as_csv (QmRecommendation *recommendation)
{
  GString *text = g_string_new ("label,device,devices,nodes,offer,time_seconds_p10,time_seconds_p50,time_seconds_p90,"
                                "finish_seconds_p10,finish_seconds_p50,finish_seconds_p90,money_p10,money_p50,money_p90,memory_fraction,"
                                "within_limits\r\n");

  for (guint i = 0; i < qm_recommendation_n_rows (recommendation); i++)
    {
      const QmChoice *row = qm_recommendation_row (recommendation, i);
      const QmEstimate *estimate = &row->estimate;
      const double numbers[] = { estimate->time.seconds.p10, estimate->time.seconds.p50, estimate->time.seconds.p90,
                                 estimate->time.finish.p10, estimate->time.finish.p50, estimate->time.finish.p90,
                                 estimate->cost.money.p10, estimate->cost.money.p50, estimate->cost.money.p90,
                                 estimate->memory.need.p50 / estimate->memory.usable_bytes };

      append_field (text, row->label);
      append_field (text, estimate->device->id);
      append_number (text, estimate->configuration.devices);
      append_number (text, MAX (1, row->machines));
      append_field (text, row->offer != NULL ? row->offer->id : "");
      for (guint j = 0; j < G_N_ELEMENTS (numbers); j++)
        append_number (text, numbers[j]);
      g_string_append_printf (text, ",%s\r\n", row->within_limits ? "true" : "false");
    }

  return g_string_free (text, FALSE);
}

static void
add_file (GPtrArray  *files,
          const char *name,
          char       *text)
{
  QmLaunchFile *file = g_new0 (QmLaunchFile, 1);

  file->name = g_strdup (name);
  file->text = text;
  g_ptr_array_add (files, file);
}

/* What one export makes: the answer is sought once, however many formats are
 * written of it. */
typedef struct {
  QmCli *cli;
  const char *path;                 /* of the plan */
  const char *directory;
  gboolean force;
  QmLauncher *launcher;
  QmResolved *resolved;             /* (nullable): the plan */
  QmRecommendation *recommendation; /* (nullable): among all places of the plan */
  GString *failed;                  /* the formats that could not be written */
} Export;

static void
export_clear (Export *self)
{
  g_clear_pointer (&self->launcher, qm_launcher_free);
  g_clear_pointer (&self->resolved, qm_resolved_free);
  g_clear_object (&self->recommendation);
  if (self->failed != NULL)
    g_string_free (self->failed, TRUE);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Export, export_clear)

/* The best choice for which the format makes sense. */
static GPtrArray *
launch_files (Export           *self,
              const char       *format,
              QmRecommendation *recommendation,
              GError          **error)
{
  const QmResolved *resolved = qm_recommendation_get_resolved (recommendation);
  g_autofree char *date = today ();
  g_autoptr (GError) first = NULL;

  for (guint i = 0; i < qm_recommendation_n_rows (recommendation); i++)
    {
      const QmChoice *row = qm_recommendation_row (recommendation, i);
      g_autoptr (GError) local = NULL;
      g_autoptr (GPtrArray) files = NULL;

      if (!row->within_limits)
        continue;
      files = qm_launcher_write (self->launcher, format, self->cli->estimator, resolved, row, date, &local);
      if (files != NULL)
        return g_steal_pointer (&files);
      if (!g_error_matches (local, QM_LAUNCH_ERROR, QM_LAUNCH_ERROR_SENSELESS))
        {
          g_autofree char *why = qm_error_get_text (local, qm_language_get_words ());

          qm_error_set (error, QM_LAUNCH_ERROR, QM_LAUNCH_ERROR_TEMPLATE, NULL, N_("{format}: {choice}: {why}"), "format", format,
                        "choice", row->offer != NULL ? row->offer->id : row->label, "why", why, NULL);
          return NULL;
        }
      if (first == NULL)
        first = g_steal_pointer (&local);
    }

  if (first != NULL)
    g_propagate_error (error, g_steal_pointer (&first));
  else
    qm_error_set (error, QM_LAUNCH_ERROR, QM_LAUNCH_ERROR_SENSELESS, NULL, N_("{format}: {why}"), "format", format,
                  "=why", N_("nothing that may be used can do this job as you ask"), NULL);
  return NULL;
}

/* Of a format that starts the machines of some providers alone, the best of
 * those that the plan allows is wanted. */
static gboolean
keep_to_providers (QmResolved *resolved,
                   GStrv       providers)
{
  QmWordList *cloud = &resolved->plan->places.cloud;
  QmWordList kept = { 0 };

  for (guint i = 0; providers != NULL && providers[i] != NULL && kept.n < QM_MAX_WORDS; i++)
    if (cloud->n < 0 || qm_word_list_contains (cloud, providers[i]))
      qm_word_set (kept.words[kept.n++], providers[i]);
  if (kept.n == 0)
    return FALSE;

  *cloud = kept;
  resolved->plan->places.buy = QM_TERNARY_NO;
  resolved->plan->places.this_computer = QM_TERNARY_NO;
  return TRUE;
}

static QmRecommendation *
recommend (Export      *self,
           GStrv        providers,
           GError     **error)
{
  g_autoptr (QmResolved) kept = NULL;

  if (self->resolved == NULL)
    self->resolved = qm_cli_load_plan (self->cli, self->path, error);
  if (self->resolved == NULL)
    return NULL;

  kept = qm_resolved_copy (self->resolved);
  if (keep_to_providers (kept, providers))
    return qm_cli_recommend (self->cli, kept, error);
  if (self->recommendation == NULL)
    self->recommendation = qm_cli_recommend (self->cli, self->resolved, error);

  return self->recommendation != NULL ? g_object_ref (self->recommendation) : NULL;
}

static GPtrArray *
make_files (Export      *self,
            const char  *format,
            GError     **error)
{
  g_auto (GStrv) providers = qm_launcher_providers (self->launcher, format, self->cli->catalog);
  g_autoptr (QmRecommendation) recommendation = recommend (self, providers, error);
  g_autoptr (GPtrArray) files = NULL;

  if (recommendation == NULL)
    return NULL;
  if (strcmp (format, "csv") != 0 && strcmp (format, "json") != 0)
    return launch_files (self, format, recommendation, error);

  files = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_launch_file_free);
  if (strcmp (format, "csv") == 0)
    add_file (files, "choices.csv", matrix_as_csv (recommendation));
  else
    {
      g_autoptr (JsonNode) node = qm_recommendation_to_json (recommendation, self->cli->estimator);

      /* The same plan gives the same file; how long it was looked for is not of the answer. */
      json_object_remove_member (json_node_get_object (node), "seconds");
      add_file (files, "recommendation.json", json_to_string (node, TRUE));
    }

  return g_steal_pointer (&files);
}

/* Whether nothing is at @path, or a file that holds just @text. What cannot be
 * read, and whatever is no file, is somebody's. */
static gboolean
is_free (const char *path,
         const char *text)
{
  g_autofree char *there = NULL;
  gsize length;
  GStatBuf status;

  if (g_lstat (path, &status) != 0)
    return errno == ENOENT || errno == ENOTDIR;

  return S_ISREG (status.st_mode) && g_file_get_contents (path, &there, &length, NULL) && length == strlen (text) &&
         memcmp (there, text, length) == 0;
}

/* What a person wrote into a file of that name is not lost. */
static gboolean
check_free (GPtrArray   *files,
            const char  *directory,
            GError     **error)
{
  for (guint i = 0; i < files->len; i++)
    {
      const QmLaunchFile *file = g_ptr_array_index (files, i);
      g_autofree char *path = g_build_filename (directory, file->name, NULL);

      if (!is_free (path, file->text))
        {
          g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_EXIST, _("%s: is there already and holds something else; take another folder, or --force"), path);
          return FALSE;
        }
    }

  return TRUE;
}

static gboolean
write_together (GPtrArray   *files,
                const char  *directory,
                GError     **error)
{
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
  g_autofree QmFileText *texts = g_new0 (QmFileText, files->len);

  for (guint i = 0; i < files->len; i++)
    {
      const QmLaunchFile *file = g_ptr_array_index (files, i);

      g_ptr_array_add (paths, g_build_filename (directory, file->name, NULL));
      texts[i] = (QmFileText) { g_ptr_array_index (paths, i), file->text, file->executable };
    }
  if (!qm_file_write_together (texts, files->len, error))
    return FALSE;

  for (guint i = 0; i < paths->len; i++)
    g_print ("%s\n", (const char *) g_ptr_array_index (paths, i));
  return TRUE;
}

static gboolean
save (GPtrArray   *files,
      const char  *directory,
      gboolean     force,
      GError     **error)
{
  if (!force && !check_free (files, directory, error))
    return FALSE;
  if (g_mkdir_with_parents (directory, 0777) != 0)
    {
      int code = errno;

      g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (code), "%s: %s", directory, g_strerror (code));
      return FALSE;
    }

  return write_together (files, directory, error);
}

/* Each format to a folder of its own. One that makes no sense says why; one that
 * cannot be written keeps no other from being so. */
static void
export_one (Export     *self,
            const char *format)
{
  g_autofree char *folder = g_build_filename (self->directory, format, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) files = make_files (self, format, &error);
  g_autofree char *why = NULL;

  if (files != NULL && save (files, folder, self->force, &error))
    return;

  why = qm_error_get_text (error, qm_language_get_words ());
  g_printerr ("%s\n", why);
  if (!g_error_matches (error, QM_LAUNCH_ERROR, QM_LAUNCH_ERROR_SENSELESS))
    g_string_append_printf (self->failed, "%s%s", self->failed->len > 0 ? ", " : "", format);
}

static gboolean
export_all (Export  *self,
            GError **error)
{
  g_auto (GStrv) formats = qm_launcher_formats (self->launcher);
  g_autoptr (QmRecommendation) whole = recommend (self, NULL, error);

  /* Where there is no answer at all, it is said once. */
  if (whole == NULL)
    return FALSE;

  self->failed = g_string_new (NULL);
  for (guint i = 0; formats[i] != NULL; i++)
    export_one (self, formats[i]);
  export_one (self, "csv");
  export_one (self, "json");
  if (self->failed->len == 0)
    return TRUE;

  qm_error_set (error, QM_LAUNCH_ERROR, QM_LAUNCH_ERROR_TEMPLATE, NULL, N_("could not be written: {list}; the others are"),
                "list", self->failed->str, NULL);
  return FALSE;
}

/**
 * qm_command_export:
 * @cli: the program
 * @arguments: `export PLAN --format FORMAT -o DIR`
 * @error: return location for an error
 *
 * Writes the files that start the job, and prints their names.
 *
 * Returns: whether it worked
 */
gboolean
qm_command_export (QmCli   *cli,
                   GStrv    arguments,
                   GError **error)
{
  g_autofree char *format = NULL;
  g_autofree char *directory = NULL;
  gboolean force = FALSE;
  const GOptionEntry entries[] = {
    { "format", 0, 0, G_OPTION_ARG_STRING, &format, N_("What to write, e.g. gcloud, slurm, vllm; all writes each to a folder"), "FORMAT" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &directory, N_("The folder to write to"), "DIR" },
    { "force", 0, 0, G_OPTION_ARG_NONE, &force, N_("Write over files that are there already"), NULL },
    G_OPTION_ENTRY_NULL
  };
  g_auto (GStrv) left = g_strdupv (arguments);
  g_auto (Export) self = { .cli = cli };
  g_autoptr (GPtrArray) files = NULL;
  g_autofree char *templates = template_directory ();

  if (!qm_cli_parse (cli, &left, entries, 1, 1, error))
    return FALSE;
  if (format == NULL || directory == NULL)
    {
      g_set_error (error, QM_USAGE_ERROR, 0, _("export: %s is missing"), format == NULL ? "--format FORMAT" : "-o DIR");
      return FALSE;
    }
  self.path = left[1];
  self.directory = directory;
  self.force = force;
  self.launcher = qm_launcher_new (templates, error);
  if (self.launcher == NULL || qm_cli_get_estimator (cli, error) == NULL)
    return FALSE;

  if (strcmp (format, "all") == 0)
    return export_all (&self, error);
  files = make_files (&self, format, error);
  return files != NULL && save (files, directory, force, error);
}
