/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fit.h"

#include <locale.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>

/* quartermaster-fit: fits the constants of the predictors to measured cases and
 * says how good they are on cases that they were not fitted to. */

#define FOLDS 5
#define TOLERANCE 1e-9

static char *cases_folder, *catalog_folder, *write_file, *rows_file;
static char **only;
static int assignments = 4;
static gboolean shipped_only, leave_out, by_group, by_tag, by_device;

static const GOptionEntry options[] = {
  { "cases", 'c', 0, G_OPTION_ARG_FILENAME, &cases_folder, "Folder of measured cases", "FOLDER" },
  { "catalog", 'd', 0, G_OPTION_ARG_FILENAME, &catalog_folder, "Folder of the catalog", "FOLDER" },
  { "part", 'p', 0, G_OPTION_ARG_STRING_ARRAY, &only, "training-memory, training-rate, inference-memory, inference-rate or domains; all by default", "PART" },
  { "assignments", 'n', 0, G_OPTION_ARG_INT, &assignments, "Assignments to folds (4)", "N" },
  { "shipped", 's', 0, G_OPTION_ARG_NONE, &shipped_only, "Only what the shipped constants reach, in sample", NULL },
  { "leave-out", 'l', 0, G_OPTION_ARG_NONE, &leave_out, "Leave out one source after another as well", NULL },
  { "by-group", 'g', 0, G_OPTION_ARG_NONE, &by_group, "Tables by source and stratum", NULL },
  { "by-tag", 't', 0, G_OPTION_ARG_NONE, &by_tag, "Tables by tag", NULL },
  { "by-device", 0, 0, G_OPTION_ARG_NONE, &by_device, "Tables by device", NULL },
  { "write", 'w', 0, G_OPTION_ARG_FILENAME, &write_file, "Write constants fitted to all cases, and widths", "FILE" },
  { "rows", 'r', 0, G_OPTION_ARG_FILENAME, &rows_file, "Write every figure with its mean residual", "FILE" },
  { NULL }
};

static const char *const part_words[FIT_N_PARTS] = { "training-memory", "training-rate", "inference-memory", "inference-rate", "domains" };

static gboolean
is_chosen (FitPart part)
{
  return only == NULL || g_strv_contains ((const char *const *) only, part_words[part]);
}

/* Another program's way to compare is worth nothing: what is fitted is what
 * `score` compares. */
static void
check_against_score (Fit *self)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmEstimator) estimator = qm_estimator_new (self->catalog, &error);
  g_autoptr (QmScore) score = qm_score_new ();
  g_autoptr (GHashTable) scored = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  static const char *const names[] = { "training-llm", "inference-llm", "training-vision", "inference-other", "training-tabular" };
  static const char *const paths[FIT_N_KEYS] = {
    [FIT_KEY_MEMORY] = "memory.per_device_bytes", [FIT_KEY_HOST] = "memory.host_bytes",
    [FIT_KEY_PER_DEVICE] = "throughput.per_device_per_second", [FIT_KEY_PER_SECOND] = "throughput.per_second",
    [FIT_KEY_SAMPLES] = "throughput.samples_per_second", [FIT_KEY_STEP] = "throughput.step_seconds",
    [FIT_KEY_TFLOPS] = "throughput.tflops_per_device", [FIT_KEY_MFU] = "throughput.mfu",
    [FIT_KEY_DECODE] = "serving.decode_tokens_per_second", [FIT_KEY_PREFILL] = "serving.prefill_tokens_per_second",
    [FIT_KEY_FIRST_TOKEN] = "serving.first_token_seconds", [FIT_KEY_SECONDS] = "time.seconds",
  };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *name = g_strconcat (names[i], ".jsonl", NULL), *path = g_build_filename (cases_folder, name, NULL);

      if (!qm_score_add_file (score, estimator, path, &error))
        g_error ("%s", error->message);
    }
  for (guint i = 0; i < score->cases->len; i++)
    {
      QmScored *one = g_ptr_array_index (score->cases, i);

      g_hash_table_insert (scored, g_strconcat (one->id, " ", one->key, NULL), one);
    }
  for (guint i = 0; i < self->figures->len; i++)
    {
      FitFigure *figure = g_ptr_array_index (self->figures, i);
      g_autofree char *key = g_strconcat (figure->of->id, " ", paths[figure->key], NULL);
      QmScored *one = paths[figure->key] != NULL ? g_hash_table_lookup (scored, key) : NULL;
      QmEstimate estimate;

      if (one == NULL)
        continue;
      fit_estimate (self, figure->of, &estimate);
      if (fabs (fit_figure_estimate (figure, &estimate, NULL) / one->estimated.p50 - 1) > TOLERANCE)
        g_error ("%s: %g here, %g in score", key, fit_figure_estimate (figure, &estimate, NULL), one->estimated.p50);
    }
}

/* ---------------------------------------------------------------- assignments */

static void
shuffle (GPtrArray *words,
         guint32    seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);

  for (guint i = words->len; i > 1; i--)
    {
      guint j = (guint) g_rand_int_range (rand, 0, (gint32) i);
      gpointer swap = words->pdata[i - 1];

      words->pdata[i - 1] = words->pdata[j];
      words->pdata[j] = swap;
    }
}

/* Sweeps stay together. */
static void
assign_folds (Fit     *self,
              FitPart  part,
              guint32  seed)
{
  g_autoptr (GPtrArray) sweeps = g_ptr_array_new ();
  g_autoptr (GHashTable) folds = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < self->figures->len; i++)
    {
      FitFigure *figure = g_ptr_array_index (self->figures, i);

      if (figure->part == part && g_hash_table_add (folds, figure->of->sweep))
        g_ptr_array_add (sweeps, figure->of->sweep);
    }
  shuffle (sweeps, seed);
  for (guint i = 0; i < sweeps->len; i++)
    g_hash_table_insert (folds, sweeps->pdata[i], GUINT_TO_POINTER (i % FOLDS));

  for (guint i = 0; i < self->figures->len; i++)
    {
      FitFigure *figure = g_ptr_array_index (self->figures, i);

      if (figure->part == part)
        figure->fold = GPOINTER_TO_UINT (g_hash_table_lookup (folds, figure->of->sweep));
    }
}

/* Each source is a fold; returns how many. */
static guint
assign_groups (Fit     *self,
               FitPart  part)
{
  g_autoptr (GHashTable) groups = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < self->figures->len; i++)
    {
      FitFigure *figure = g_ptr_array_index (self->figures, i);

      if (figure->part != part)
        continue;
      if (!g_hash_table_contains (groups, figure->of->group))
        g_hash_table_insert (groups, figure->of->group, GUINT_TO_POINTER (g_hash_table_size (groups)));
      figure->fold = GPOINTER_TO_UINT (g_hash_table_lookup (groups, figure->of->group));
    }

  return g_hash_table_size (groups);
}

static void
choose (Fit      *self,
        FitPart   part,
        guint     fold,
        GArray  **inside,
        GArray  **outside)
{
  *inside = g_array_new (FALSE, FALSE, sizeof (guint));
  *outside = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = 0; i < self->figures->len; i++)
    {
      FitFigure *figure = g_ptr_array_index (self->figures, i);

      if (figure->part == part)
        g_array_append_val (figure->fold == fold ? *inside : *outside, i);
    }
}

static void
keep_residuals (Fit          *self,
                GArray       *figures,
                const double *residuals,
                const double *half_widths)
{
  for (guint i = 0; i < figures->len; i++)
    {
      FitFigure *figure = g_ptr_array_index (self->figures, g_array_index (figures, guint, i));

      figure->residual = residuals[i];
      figure->half_width = half_widths[i];
    }
}

/* Fits outside each fold and keeps the residuals inside it. */
static void
cross_validate (Fit     *self,
                FitPart  part,
                guint    folds)
{
  for (guint fold = 0; fold < folds; fold++)
    {
      g_autoptr (GArray) inside = NULL, outside = NULL;
      g_autofree double *residuals = g_new (double, self->figures->len), *half_widths = g_new (double, self->figures->len);

      choose (self, part, fold, &inside, &outside);
      if (inside->len == 0)
        continue;
      fit_part (self, part, outside);
      fit_residuals (self, inside, residuals, half_widths);
      keep_residuals (self, inside, residuals, half_widths);
      if (fit_part_table (part) == FIT_TABLE_INFERENCE)
        {
          fit_set_evidence (self, outside);
          fit_find_states (self, inside);
        }
    }
}

/* ----------------------------------------------------------------------- runs */

static FitFigure *
figure_copy (const FitFigure *figure)
{
  FitFigure *copy = g_memdup2 (figure, sizeof *figure);

  copy->stratum = g_strdup (figure->stratum);
  return copy;
}

static GPtrArray *
keep_run (Fit *self)
{
  GPtrArray *run = g_ptr_array_new_with_free_func ((GDestroyNotify) fit_figure_free);

  for (guint i = 0; i < self->figures->len; i++)
    if (is_chosen (((FitFigure *) g_ptr_array_index (self->figures, i))->part))
      g_ptr_array_add (run, figure_copy (g_ptr_array_index (self->figures, i)));

  return run;
}

/* As the constants in the tables are, in sample. */
static GPtrArray *
run_as_is (Fit *self)
{
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autofree double *residuals = g_new (double, self->figures->len), *half_widths = g_new (double, self->figures->len);

  for (guint i = 0; i < self->figures->len; i++)
    g_array_append_val (all, i);
  fit_residuals (self, all, residuals, half_widths);
  keep_residuals (self, all, residuals, half_widths);

  return keep_run (self);
}

static GPtrArray *
run_folds (Fit       *self,
           guint32    seed,
           GPtrArray *extra)
{
  GPtrArray *run;

  for (FitPart part = 0; part < FIT_N_PARTS; part++)
    if (is_chosen (part))
      {
        assign_folds (self, part, seed);
        cross_validate (self, part, FOLDS);
      }
  run = keep_run (self);
  fit_set_half_widths (run, extra);

  return run;
}

static GPtrArray *
run_groups (Fit *self)
{
  GPtrArray *run;

  for (FitPart part = 0; part < FIT_N_PARTS; part++)
    if (is_chosen (part))
      cross_validate (self, part, assign_groups (self, part));
  run = keep_run (self);
  fit_set_half_widths (run, NULL);

  return run;
}

static void
report_runs (const char *title,
             GPtrArray  *runs)
{
  fit_report_header (title);
  fit_report (runs);
  if (by_group)
    {
      fit_report_by (runs, "group");
      fit_report_by (runs, "stratum");
    }
  if (by_tag)
    fit_report_by (runs, "tag");
  if (by_device)
    fit_report_by (runs, "device");
}

/* --------------------------------------------------------------------- writing */

static gboolean
write_json (JsonObject  *object,
            const char  *path,
            GError     **error)
{
  g_autoptr (JsonNode) node = json_node_init_object (json_node_alloc (), object);
  g_autofree char *content = json_to_string (node, TRUE);

  return g_file_set_contents (path, content, -1, error);
}

/* Fits each part to all its figures. */
static void
fit_all (Fit *self)
{
  for (FitPart part = 0; part < FIT_N_PARTS; part++)
    {
      g_autoptr (GArray) none = NULL, all = NULL;

      if (!is_chosen (part))
        continue;
      choose (self, part, G_MAXUINT, &none, &all);
      g_printerr ("%s: cost %.3f\n", part_words[part], fit_part (self, part, all));
      fit_find_influence (self, part);
    }
}

static JsonObject *
constants_to_json (Fit *self)
{
  JsonObject *constants = json_object_new ();

  for (guint i = 0; i < self->constants->len; i++)
    {
      FitConstant *constant = g_ptr_array_index (self->constants, i);
      JsonObject *line = json_object_new ();

      if (!is_chosen (constant->part))
        continue;
      json_object_set_double_member (line, "value", fit_constant_get (constant));
      json_object_set_double_member (line, "shipped", constant->shipped);
      json_object_set_double_member (line, "prior", constant->prior);
      json_object_set_int_member (line, "rows", constant->acts_on->len);
      json_object_set_object_member (constants, constant->name, line);
    }

  return constants;
}

static JsonObject *
run_to_json (GPtrArray *runs)
{
  JsonObject *rows = json_object_new ();
  GPtrArray *first = g_ptr_array_index (runs, 0);

  for (guint i = 0; i < first->len; i++)
    {
      FitFigure *figure = g_ptr_array_index (first, i);
      JsonObject *line = json_object_new ();
      g_autofree char *name = g_strdup_printf ("%s %d", figure->of->id, figure->key);
      double residual = 0;

      for (guint k = 0; k < runs->len; k++)
        residual += ((FitFigure *) g_ptr_array_index ((GPtrArray *) g_ptr_array_index (runs, k), i))->residual / runs->len;
      json_object_set_string_member (line, "group", figure->of->group);
      json_object_set_int_member (line, "family", figure->family);
      json_object_set_double_member (line, "measured", figure->measured);
      json_object_set_double_member (line, "residual", residual);
      json_object_set_double_member (line, "half_width", figure->half_width);
      json_object_set_string_member (line, "stratum", figure->stratum != NULL ? figure->stratum : "");
      json_object_set_object_member (rows, name, line);
    }

  return rows;
}

static GPtrArray *
pooled (GPtrArray *runs)
{
  GPtrArray *all = g_ptr_array_new ();

  for (guint i = 0; i < runs->len; i++)
    for (guint j = 0; j < ((GPtrArray *) g_ptr_array_index (runs, i))->len; j++)
      g_ptr_array_add (all, g_ptr_array_index ((GPtrArray *) g_ptr_array_index (runs, i), j));

  return all;
}

static GArray *
figures_of_inference (Fit *self)
{
  GArray *figures = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint i = 0; i < self->figures->len; i++)
    if (fit_part_table (((FitFigure *) g_ptr_array_index (self->figures, i))->part) == FIT_TABLE_INFERENCE)
      g_array_append_val (figures, i);

  return figures;
}

static gboolean
write_fit (Fit        *self,
           GPtrArray  *runs,
           GPtrArray  *extra,
           GError    **error)
{
  g_autoptr (GPtrArray) all = pooled (runs);
  g_autoptr (GArray) inference = figures_of_inference (self);
  g_autoptr (JsonObject) root = json_object_new ();
  JsonObject *evidence = json_object_get_object_member (json_node_get_object (self->tables[FIT_TABLE_INFERENCE]), "evidence");

  json_object_set_object_member (root, "widths", fit_widths_to_json (all, extra));
  for (guint i = 0; i < self->figures->len; i++)
    ((FitFigure *) g_ptr_array_index (self->figures, i))->fold = 0;
  fit_all (self);
  fit_set_evidence (self, inference);
  json_object_set_object_member (root, "constants", constants_to_json (self));
  json_object_set_object_member (root, "evidence", json_object_ref (evidence));

  return write_json (root, write_file, error);
}

/* ------------------------------------------------------------------------ main */

static void
prepare (Fit *self)
{
  fit_find_constants (self);
  for (FitPart part = 0; part < FIT_N_PARTS; part++)
    {
      if (!is_chosen (part))
        continue;
      if (fit_part_table (part) != FIT_TABLE_INFERENCE)
        fit_find_strata (self, part);
      fit_find_influence (self, part);
    }
  fit_all (self);
}

static gboolean
run (Fit     *self,
     GError **error)
{
  g_autoptr (GPtrArray) runs = g_ptr_array_new_with_free_func ((GDestroyNotify) g_ptr_array_unref);
  g_autoptr (GPtrArray) groups = g_ptr_array_new_with_free_func ((GDestroyNotify) g_ptr_array_unref);
  g_autoptr (GPtrArray) as_is = g_ptr_array_new_with_free_func ((GDestroyNotify) g_ptr_array_unref);
  GPtrArray *extra = NULL;

  g_ptr_array_add (as_is, run_as_is (self));
  report_runs ("As shipped, in sample", as_is);
  fit_report_fits (self);
  if (shipped_only)
    return rows_file == NULL || write_json (run_to_json (as_is), rows_file, error);

  prepare (self);
  if (leave_out)
    {
      g_ptr_array_add (groups, run_groups (self));
      extra = g_ptr_array_index (groups, 0);
    }
  for (int i = 0; i < assignments; i++)
    g_ptr_array_add (runs, run_folds (self, (guint32) i + 1, extra));

  report_runs ("Cross-validated: fitted to four fifths, scored on the fifth", runs);
  if (leave_out)
    report_runs ("One source left out", groups);
  if (rows_file != NULL && !write_json (run_to_json (runs), rows_file, error))
    return FALSE;

  return write_file == NULL || write_fit (self, runs, extra, error);
}

int
main (int    argc,
      char **argv)
{
  g_autoptr (GOptionContext) context = g_option_context_new ("- fit the constants to measured cases");
  g_autoptr (GError) error = NULL;
  Fit fit = { 0 };

  setlocale (LC_ALL, "C.UTF-8");
  setpriority (PRIO_PROCESS, 0, 19);
  g_option_context_add_main_entries (context, options, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error))
    {
      g_printerr ("%s\n", error->message);
      return 2;
    }

  if (cases_folder == NULL || catalog_folder == NULL)
    {
      g_printerr ("both --cases and --catalog are needed\n");
      return 2;
    }
  if (!fit_read_tables (&fit, catalog_folder, &error) || !fit_read_cases (&fit, cases_folder, &error))
    {
      g_printerr ("%s\n", error->message);
      return 1;
    }
  check_against_score (&fit);
  if (!run (&fit, &error))
    {
      g_printerr ("%s\n", error->message);
      return 1;
    }

  return 0;
}
