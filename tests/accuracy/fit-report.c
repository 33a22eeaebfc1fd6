/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fit.h"

#include <math.h>
#include <string.h>

/* Prints tables in Markdown. Several runs are several assignments to folds: a
 * figure of the table is the mean over them. */

typedef struct {
  const char *name;
  double median;                    /* most, of the error */
  double p90;
  double width;                     /* most, of the median p90 / p10 */
} Bound;

/* What is asked of each family; widths of memory are shares of the centre. */
static const Bound bounds[FIT_N_FAMILIES] = {
  [FIT_TRAINING_MEMORY] = { "Memory, training language models", 0.075, 0.24, 0.32 },
  [FIT_INFERENCE_MEMORY] = { "Memory, serving language models", 0.03, 0.15, 0.10 },
  [FIT_OTHER_MEMORY] = { "Memory, elsewhere", 0.08, 0.30, 0.36 },
  [FIT_HOST_MEMORY] = { "System memory", 0.20, 0.60, INFINITY },
  [FIT_TRAINING_RATE] = { "Rate, training language models", 0.075, 0.30, 1.8 },
  [FIT_ENCODER_VISION] = { "Rate, training encoders and vision", 0.11, 0.32, 1.8 },
  [FIT_DIFFUSION] = { "Rate, training diffusion", 0.10, 0.50, 1.8 },
  [FIT_DECODE] = { "Decoding, one stream", 0.09, 0.33, 2.0 },
  [FIT_PROMPT] = { "Prefill and first token", 0.20, 0.57, 2.2 },
  [FIT_SERVING] = { "Serving in batches", 0.125, 0.34, 2.0 },
  [FIT_VISION_INFERENCE] = { "Rate, running vision", 0.11, 0.44, 2.0 },
  [FIT_OTHER_INFERENCE] = { "Rate, running encoders, images, speech", 0.15, 0.42, 2.0 },
  [FIT_RECOMMENDER_TABULAR] = { "Recommenders and tables", 0.27, 0.70, 2.8 },
};

typedef struct {
  guint n;
  double median;
  double p90;
  double bias;
  double groups;
  double coverage;
  double width;
} Summary;

typedef gboolean (*Chooser) (const FitFigure *figure,
                             const char      *word);

static int
compare_doubles (gconstpointer a,
                 gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

static double
quantile (GArray *values,
          double  share)
{
  double position = share * (values->len - 1);
  guint below = (guint) position;

  if (values->len == 0)
    return NAN;

  g_array_sort (values, compare_doubles);
  if (below + 1 >= values->len)
    return g_array_index (values, double, values->len - 1);

  return g_array_index (values, double, below) * (1 - position + below) + g_array_index (values, double, below + 1) * (position - below);
}

static gboolean
is_memory (FitFamily family)
{
  return family <= FIT_HOST_MEMORY;
}

static double
median_of_groups (GHashTable *groups)
{
  g_autoptr (GArray) medians = g_array_new (FALSE, FALSE, sizeof (double));
  GHashTableIter iter;
  gpointer errors;

  g_hash_table_iter_init (&iter, groups);
  while (g_hash_table_iter_next (&iter, NULL, &errors))
    {
      double median = quantile (errors, 0.5);

      g_array_append_val (medians, median);
    }

  return quantile (medians, 0.5);
}

static void
note_group (GHashTable *groups,
            const char *group,
            double      error)
{
  GArray *errors = g_hash_table_lookup (groups, group);

  if (errors == NULL)
    {
      errors = g_array_new (FALSE, FALSE, sizeof (double));
      g_hash_table_insert (groups, (gpointer) group, errors);
    }
  g_array_append_val (errors, error);
}

static Summary
summarise (GPtrArray  *figures,
           FitFamily   family,
           Chooser     chooser,
           const char *word)
{
  g_autoptr (GArray) errors = g_array_new (FALSE, FALSE, sizeof (double)), widths = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GArray) biases = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GHashTable) groups = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, (GDestroyNotify) g_array_unref);
  Summary summary = { 0 };

  for (guint i = 0; i < figures->len; i++)
    {
      FitFigure *figure = g_ptr_array_index (figures, i);
      double bias = expm1 (figure->residual), error = fabs (bias);
      double width = is_memory (family) ? 2 * sinh (figure->half_width) : exp (2 * figure->half_width);

      if (figure->family != family || (chooser != NULL && !chooser (figure, word)))
        continue;
      g_array_append_val (errors, error);
      g_array_append_val (biases, bias);
      g_array_append_val (widths, width);
      note_group (groups, figure->of->group, error);
      summary.coverage += fabs (figure->residual) <= figure->half_width;
    }

  summary.n = errors->len;
  summary.median = quantile (errors, 0.5);
  summary.p90 = quantile (errors, 0.9);
  summary.bias = quantile (biases, 0.5);
  summary.width = quantile (widths, 0.5);
  summary.groups = median_of_groups (groups);
  summary.coverage /= MAX (1, summary.n);

  return summary;
}

/* Means over the runs. */
static Summary
summarise_runs (GPtrArray  *runs,
                FitFamily   family,
                Chooser     chooser,
                const char *word)
{
  Summary mean = { 0 };

  for (guint i = 0; i < runs->len; i++)
    {
      Summary one = summarise (g_ptr_array_index (runs, i), family, chooser, word);

      mean.n = one.n;
      mean.median += one.median / runs->len;
      mean.p90 += one.p90 / runs->len;
      mean.bias += one.bias / runs->len;
      mean.groups += one.groups / runs->len;
      mean.coverage += one.coverage / runs->len;
      mean.width += one.width / runs->len;
    }

  return mean;
}

static void
print_width (FitFamily family,
             double    width)
{
  if (is_memory (family))
    g_print (" %.0f %% |", 100 * width);
  else
    g_print (" %.2f |", width);
}

static void
print_line (const char    *name,
            const Summary *s,
            FitFamily      family)
{
  g_print ("| %s | %u | %.1f %% | %.0f %% | %.1f %% | %+.1f %% | %.0f %% |", name, s->n, 100 * s->median, 100 * s->p90,
           100 * s->groups, 100 * s->bias, 100 * s->coverage);
  print_width (family, s->width);
}

void
fit_report_header (const char *title)
{
  g_print ("\n%s\n\n| Figures | Cases | Median error | 90th percentile | Median of sources | Bias | Within p10–p90 | Width | Asked |\n", title);
  g_print ("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |\n");
}

/* One line for each family, with what is asked of it. */
void
fit_report (GPtrArray *runs)
{
  for (FitFamily family = 0; family < FIT_N_FAMILIES; family++)
    {
      const Bound *bound = &bounds[family];
      Summary s = summarise_runs (runs, family, NULL, NULL);

      if (s.n == 0)
        continue;

      print_line (bound->name, &s, family);
      g_print (" %s%.1f, %s%.0f %%, ", s.median > bound->median ? "✗ " : "", 100 * bound->median, s.p90 > bound->p90 ? "✗ " : "",
               100 * bound->p90);
      if (isfinite (bound->width))
        g_print ("%s%g; ", s.width > bound->width ? "✗ " : "", bound->width);
      g_print ("%s75–90 %% |\n", s.coverage < 0.75 || s.coverage > 0.90 ? "✗ " : "");
    }
}

static gboolean
has_group (const FitFigure *figure,
           const char      *word)
{
  return strcmp (figure->of->group, word) == 0;
}

static gboolean
has_tag (const FitFigure *figure,
         const char      *word)
{
  return g_strv_contains ((const char *const *) figure->of->tags, word);
}

static gboolean
has_stratum (const FitFigure *figure,
             const char      *word)
{
  return g_strcmp0 (figure->stratum, word) == 0;
}

static gboolean
has_device (const FitFigure *figure,
            const char      *word)
{
  return strcmp (figure->of->device->id, word) == 0;
}

static void
add_words (GHashTable      *words,
           const FitFigure *figure,
           const char      *what)
{
  if (strcmp (what, "group") == 0)
    g_hash_table_add (words, figure->of->group);
  else if (strcmp (what, "stratum") == 0)
    g_hash_table_add (words, figure->stratum != NULL ? figure->stratum : (char *) "none");
  else if (strcmp (what, "device") == 0)
    g_hash_table_add (words, (gpointer) figure->of->device->id);
  else
    for (guint i = 0; figure->of->tags[i] != NULL; i++)
      g_hash_table_add (words, figure->of->tags[i]);
}

/* One line for each family and group, tag, stratum or device. */
void
fit_report_by (GPtrArray  *runs,
               const char *what)
{
  GPtrArray *figures = g_ptr_array_index (runs, 0);
  Chooser chooser = strcmp (what, "group") == 0 ? has_group : strcmp (what, "stratum") == 0 ? has_stratum
                    : strcmp (what, "device") == 0 ? has_device : has_tag;

  for (FitFamily family = 0; family < FIT_N_FAMILIES; family++)
    {
      g_autoptr (GHashTable) words = g_hash_table_new (g_str_hash, g_str_equal);
      g_autoptr (GList) sorted = NULL;

      for (guint i = 0; i < figures->len; i++)
        if (((FitFigure *) g_ptr_array_index (figures, i))->family == family)
          add_words (words, g_ptr_array_index (figures, i), what);

      sorted = g_list_sort (g_hash_table_get_keys (words), (GCompareFunc) strcmp);
      for (GList *l = sorted; l != NULL; l = l->next)
        {
          Summary s = summarise_runs (runs, family, chooser, l->data);
          g_autofree char *name = g_strconcat (bounds[family].name, ": ", (char *) l->data, NULL);

          print_line (name, &s, family);
          g_print ("\n");
        }
    }
}

/* Of runs that ended out of memory, and of those that ran: how many are given a
 * probability to fit that says so, with the constants as shipped. */
void
fit_report_fits (Fit *self)
{
  guint full = 0, said_full = 0, ran = 0, said_ran = 0, may = 0;

  for (guint i = 0; i < self->cases->len; i++)
    {
      FitCase *of = g_ptr_array_index (self->cases, i);
      gboolean variant = g_strv_contains ((const char *const *) of->tags, "device-variant");
      gboolean assumed = of->can_fit && g_strv_contains ((const char *const *) of->tags, "device-assumed");
      QmEstimate estimate;
      double probability;

      fit_estimate (self, of, &estimate);
      probability = estimate.memory.fit_probability;
      if (variant || assumed || isnan (probability) || !qm_range_is_known (estimate.memory.need))
        continue;

      may += estimate.memory.verdict == QM_VERDICT_MAY_FIT;
      full += of->can_fit;
      said_full += of->can_fit && probability < 0.5;
      ran += !of->can_fit;
      said_ran += !of->can_fit && probability >= 0.5;
      if ((probability < 0.5) != of->can_fit)
        g_print ("misjudged: %s %s, %.2f; %.1f of %.1f GB\n", of->can_fit ? "out of memory" : "ran", of->id, probability,
                 estimate.memory.need.p50 / 1e9, estimate.memory.usable_bytes / 1e9);
    }

  g_print ("\nOut of memory with a probability to fit below one half: %u of %u (90 %% asked). Ran with at least one half: %u of %u = %.1f %% "
           "(97 %% asked). May fit: %u of %u = %.1f %% (at most 10 %%).\n", said_full, full, said_ran, ran, 100.0 * said_ran / MAX (1, ran), may,
           full + ran, 100.0 * may / MAX (1, full + ran));
}
