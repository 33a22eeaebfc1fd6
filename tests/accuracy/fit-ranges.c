/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Ranges from residuals out of sample: half-widths of a stratum hold four of
 * five, and strata with few figures are drawn to what is known of more. The
 * widths of a figure never use the residuals of its own fold. */

#define LEVEL 0.78
#define STRATUM_PRIOR 12
#define STATE_PRIOR 8
#define CLASS_PRIOR 40
#define MOST_HALF_WIDTH 1.2
#define FACTOR_STEP 1.01

static const char *const states[] = { "cell", "thin", "engine", "new" };

static int
compare_doubles (gconstpointer a,
                 gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

/* The half-width that holds LEVEL of figures like @values, which are few: the
 * (n + 1)-th is to lie within as well. */
static double
half_width_of (GArray *values)
{
  double position = fmin (1, LEVEL * (values->len + 1) / values->len) * (values->len - 1);
  guint below = (guint) position;

  g_array_sort (values, compare_doubles);
  if (below + 1 >= values->len)
    return g_array_index (values, double, values->len - 1);

  return g_array_index (values, double, below) * (1 - position + below) + g_array_index (values, double, below + 1) * (position - below);
}

/* -------------------------------------------------------- strata by a constant */

static gboolean
is_width (const char *name)
{
  static const char *const classes[] = {
    "range.memory.", "range.rate.", "sigma.train-", "sigma.infer-", "sigma.tabular", "sigma.memory",
  };

  for (guint i = 0; i < G_N_ELEMENTS (classes); i++)
    if (g_str_has_prefix (name, classes[i]))
      return TRUE;

  return FALSE;
}

/* The stratum of a figure is the width in the table that its range follows most. */
void
fit_find_strata (Fit     *self,
                 FitPart  part)
{
  FitTable table = fit_part_table (part);
  JsonObject *constants = json_object_get_object_member (json_node_get_object (self->tables[table]), "constants");
  g_autoptr (GList) names = json_object_get_members (constants);
  g_autoptr (GArray) figures = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autofree double *residuals = g_new (double, self->figures->len), *before = g_new (double, self->figures->len);
  g_autofree double *after = g_new (double, self->figures->len), *most = g_new0 (double, self->figures->len);

  for (guint i = 0; i < self->figures->len; i++)
    if (((FitFigure *) g_ptr_array_index (self->figures, i))->part == part)
      g_array_append_val (figures, i);

  fit_residuals (self, figures, residuals, before);
  for (GList *l = names; l != NULL; l = l->next)
    {
      JsonObject *line = json_object_get_object_member (constants, l->data);
      double value = json_object_get_double_member (line, "value");

      if (!is_width (l->data))
        continue;

      json_object_set_double_member (line, "value", value * FACTOR_STEP);
      fit_reload (self, table);
      fit_residuals (self, figures, residuals, after);
      json_object_set_double_member (line, "value", value);

      for (guint i = 0; i < figures->len; i++)
        {
          FitFigure *figure = g_ptr_array_index (self->figures, g_array_index (figures, guint, i));

          if (!(before[i] > 0) || fabs (after[i] / before[i] - 1) <= most[i] + 1e-9)
            continue;
          most[i] = fabs (after[i] / before[i] - 1);
          g_free (figure->stratum);
          figure->stratum = g_strdup (l->data);
          figure->widening = before[i] / value;
        }
    }
  fit_reload (self, table);
}

/* ------------------------------------------------------------ strata by a state */

static const char *
quantity_of (const FitFigure *figure)
{
  switch (figure->key)
    {
    case FIT_KEY_MEMORY: return "memory";
    case FIT_KEY_DECODE: return "decode";
    case FIT_KEY_PREFILL: return "prefill";
    case FIT_KEY_FIRST_TOKEN: return "first_token";
    default: return "serving";
    }
}

/* How much evidence there is of each figure, by the evidence in the table: seen
 * from its range when each state has a width of its own. */
void
fit_find_states (Fit    *self,
                 GArray *figures)
{
  static const char *const words[] = { "memory", "decode", "prefill", "first_token", "serving" };
  JsonObject *ranges = json_object_get_object_member (json_node_get_object (self->tables[FIT_TABLE_INFERENCE]), "ranges");
  g_autofree double *residuals = g_new (double, figures->len), *half_widths = g_new (double, figures->len);

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    {
      JsonObject *line = json_object_new ();

      for (guint j = 0; j < G_N_ELEMENTS (states); j++)
        json_object_set_double_member (line, states[j], 10.0 * (j + 1));
      json_object_set_object_member (line, "by_class", json_object_new ());
      json_object_set_object_member (ranges, words[i], line);
    }
  fit_reload (self, FIT_TABLE_INFERENCE);
  fit_residuals (self, figures, residuals, half_widths);

  for (guint i = 0; i < figures->len; i++)
    {
      FitFigure *figure = g_ptr_array_index (self->figures, g_array_index (figures, guint, i));
      g_autofree char *class_word = fit_inference_key (self, figure->of, "cls");
      guint state = (guint) CLAMP (lround (half_widths[i] / 10), 1, 4) - 1;

      g_free (figure->stratum);
      figure->stratum = g_strjoin ("/", quantity_of (figure), states[state], class_word, NULL);
    }
}

static gboolean
stratum_begins (const FitFigure *figure,
                const char      *quantity,
                const char      *state)
{
  gsize n = strlen (quantity);

  if (strncmp (figure->stratum, quantity, n) != 0 || figure->stratum[n] != '/')
    return FALSE;

  return state == NULL || (g_str_has_prefix (figure->stratum + n + 1, state) && figure->stratum[n + 1 + strlen (state)] == '/');
}

static const char *
class_of (const FitFigure *figure)
{
  return strrchr (figure->stratum, '/') + 1;
}

static const char *
state_of (const FitFigure *figure)
{
  for (guint i = 0; i < G_N_ELEMENTS (states); i++)
    {
      const char *found = strstr (figure->stratum, states[i]);

      if (found != NULL && found > figure->stratum && found[-1] == '/' && found[strlen (states[i])] == '/')
        return states[i];
    }

  return states[0];
}

static GArray *
errors_of (GPtrArray  *figures,
           const char *quantity,
           const char *state)
{
  GArray *errors = g_array_new (FALSE, FALSE, sizeof (double));

  for (guint i = 0; figures != NULL && i < figures->len; i++)
    {
      FitFigure *figure = g_ptr_array_index (figures, i);
      double error = fabs (figure->residual);

      if (stratum_begins (figure, quantity, state))
        g_array_append_val (errors, error);
    }

  return errors;
}

static double
least_width (const char *quantity,
             guint       state)
{
  static const double memory[] = { 0, 0.06, 0.10, 0.12 };

  return strcmp (quantity, "memory") == 0 ? memory[state] : 0;
}

/* Widths of the states of a quantity: each is drawn to 1.25 times that of the
 * state of which more is known, and is never less. */
static void
state_widths (GPtrArray  *figures,
              GPtrArray  *extra,
              const char *quantity,
              double     *widths)
{
  double better = 0;

  for (guint i = 0; i < G_N_ELEMENTS (states); i++)
    {
      g_autoptr (GArray) errors = errors_of (figures, quantity, states[i]);
      g_autoptr (GArray) all = errors_of (figures, quantity, NULL);
      g_autoptr (GArray) more = i >= 2 ? errors_of (extra, quantity, states[i]) : NULL;
      double up = better > 0 ? better * 1.25 : all->len > 0 ? half_width_of (all) : 0.3;

      if (more != NULL)
        g_array_append_vals (errors, more->data, more->len);
      widths[i] = errors->len > 0 ? (errors->len * half_width_of (errors) + STATE_PRIOR * up) / (errors->len + STATE_PRIOR) : up;
      widths[i] = fmin (MOST_HALF_WIDTH, fmax (fmax (widths[i], better), least_width (quantity, i)));
      better = widths[i];
    }
}

static double
class_width (GPtrArray    *figures,
             const char   *quantity,
             const char   *class_word,
             const double *widths)
{
  g_autoptr (GArray) errors = g_array_new (FALSE, FALSE, sizeof (double));

  for (guint i = 0; i < figures->len; i++)
    {
      FitFigure *figure = g_ptr_array_index (figures, i);

      if (!stratum_begins (figure, quantity, NULL) || strcmp (class_of (figure), class_word) != 0)
        continue;
      for (guint j = 0; j < G_N_ELEMENTS (states); j++)
        if (strcmp (state_of (figure), states[j]) == 0)
          {
            double error = fabs (figure->residual) / widths[j];

            g_array_append_val (errors, error);
          }
    }

  if (errors->len == 0)
    return 1;

  return CLAMP ((errors->len * half_width_of (errors) + CLASS_PRIOR) / (errors->len + CLASS_PRIOR), 0.6, 2.0);
}

static double
width_by_state (GPtrArray       *others,
                GPtrArray       *extra,
                const FitFigure *figure)
{
  double widths[G_N_ELEMENTS (states)];

  state_widths (others, extra, quantity_of (figure), widths);
  for (guint i = 0; i < G_N_ELEMENTS (states); i++)
    if (strcmp (state_of (figure), states[i]) == 0)
      return widths[i] * class_width (others, quantity_of (figure), class_of (figure), widths);

  return widths[0];
}

/* ---------------------------------------------------------------------- both */

static gboolean
same_kind (const FitFigure *a,
           const FitFigure *b)
{
  return a->part == b->part && (fit_part_table (a->part) != FIT_TABLE_DOMAINS || strcmp (a->stratum, b->stratum) == 0);
}

static double
width_by_stratum (GPtrArray       *others,
                  const FitFigure *figure)
{
  g_autoptr (GArray) own = g_array_new (FALSE, FALSE, sizeof (double)), all = g_array_new (FALSE, FALSE, sizeof (double));
  double pooled, share;

  for (guint i = 0; i < others->len; i++)
    {
      FitFigure *other = g_ptr_array_index (others, i);
      double error = fabs (other->residual) / other->widening;

      if (!same_kind (figure, other))
        continue;
      g_array_append_val (all, error);
      if (strcmp (other->stratum, figure->stratum) == 0)
        g_array_append_val (own, error);
    }

  if (all->len == 0)
    return figure->half_width / figure->widening;

  pooled = half_width_of (all);
  share = own->len >= 4 ? (double) own->len / (own->len + STRATUM_PRIOR) : 0;
  return share > 0 ? exp (share * log (half_width_of (own)) + (1 - share) * log (pooled)) : pooled;
}

/* Sets the half-width of each figure by the residuals of other folds, and of
 * @extra where little is known. */
void
fit_set_half_widths (GPtrArray *figures,
                     GPtrArray *extra)
{
  for (guint i = 0; i < figures->len; i++)
    {
      FitFigure *figure = g_ptr_array_index (figures, i);
      g_autoptr (GPtrArray) others = g_ptr_array_new ();

      if (figure->stratum == NULL)
        continue;

      for (guint j = 0; j < figures->len; j++)
        {
          FitFigure *other = g_ptr_array_index (figures, j);

          if (other->fold != figure->fold && other->stratum != NULL && other->part == figure->part)
            g_ptr_array_add (others, other);
        }
      if (fit_part_table (figure->part) == FIT_TABLE_INFERENCE)
        figure->half_width = width_by_state (others, extra, figure);
      else
        figure->half_width = width_by_stratum (others, figure) * figure->widening;
    }
}

static void
add_state_widths (JsonObject *object,
                  GPtrArray  *figures,
                  GPtrArray  *extra)
{
  for (guint i = 0; i < figures->len; i++)
    {
      FitFigure *figure = g_ptr_array_index (figures, i);
      const char *quantity = quantity_of (figure);
      double widths[G_N_ELEMENTS (states)];
      JsonObject *line, *classes;

      if (fit_part_table (figure->part) != FIT_TABLE_INFERENCE)
        continue;

      if (!json_object_has_member (object, quantity))
        {
          line = json_object_new ();
          state_widths (figures, extra, quantity, widths);
          for (guint j = 0; j < G_N_ELEMENTS (states); j++)
            json_object_set_double_member (line, states[j], widths[j]);
          json_object_set_object_member (line, "by_class", json_object_new ());
          json_object_set_object_member (object, quantity, line);
        }
      line = json_object_get_object_member (object, quantity);
      classes = json_object_get_object_member (line, "by_class");
      if (json_object_has_member (classes, class_of (figure)))
        continue;
      for (guint j = 0; j < G_N_ELEMENTS (states); j++)
        widths[j] = json_object_get_double_member (line, states[j]);
      json_object_set_double_member (classes, class_of (figure), class_width (figures, quantity, class_of (figure), widths));
    }
}

/* The widths that all @figures, out of sample, give. */
JsonObject *
fit_widths_to_json (GPtrArray *figures,
                    GPtrArray *extra)
{
  JsonObject *object = json_object_new ();

  for (guint i = 0; i < figures->len; i++)
    {
      FitFigure *figure = g_ptr_array_index (figures, i);

      if (figure->stratum != NULL && fit_part_table (figure->part) != FIT_TABLE_INFERENCE &&
          !json_object_has_member (object, figure->stratum))
        json_object_set_double_member (object, figure->stratum, width_by_stratum (figures, figure));
    }
  add_state_widths (object, figures, extra);

  return object;
}
