/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fit.h"

#include <math.h>
#include <string.h>

/* Penalised robust least squares on ln (estimate / measured): each constant is
 * pulled to its prior, so that only several cases together move it, and a few
 * cases far off pull little. Gauss-Newton with a numerical Jacobian and
 * Levenberg's damping, started from the priors. */

#define MOST_STEPS 16
#define STEP 1e-3

typedef enum {
  LOSS_SOFT_L1,
  LOSS_STUDENT,
} Loss;

/* noise: of the logarithm of a figure; scale: from where on the loss is linear;
 * crowd: figures of a source (or a sweep) beyond which each counts less. */
static const struct {
  Loss loss;
  double noise;
  double scale;
} losses[FIT_N_PARTS] = {
  [FIT_PART_TRAINING_MEMORY] = { LOSS_SOFT_L1, 0.07, 0.10 },
  [FIT_PART_TRAINING_RATE] = { LOSS_SOFT_L1, 0.07, 0.10 },
  [FIT_PART_INFERENCE_MEMORY] = { LOSS_SOFT_L1, 0.04, 0.04 },
  [FIT_PART_INFERENCE_RATE] = { LOSS_STUDENT, 0, 0 },
  [FIT_PART_DOMAINS] = { LOSS_SOFT_L1, 0.12, 0.10 },
};

#define STUDENT_FREEDOM 4.0

typedef struct {
  Fit *fit;
  FitPart part;
  GArray *figures;                  /* indices, sorted */
  guint *place;                     /* of a figure among @figures; G_MAXUINT elsewhere */
  GPtrArray *constants;             /* of the part, those that act on any of @figures */
  guint n;
  guint m;
  double *residuals;
  double *weights;
  double *jacobian;                 /* m rows of n */
  double *theta;
} Problem;

static double
student_scale (FitKey key)
{
  switch (key)
    {
    case FIT_KEY_DECODE: return 0.06;
    case FIT_KEY_PREFILL:
    case FIT_KEY_FIRST_TOKEN: return 0.15;
    default: return 0.12;
    }
}

static guint
count_in (GHashTable *counts,
          const char *word)
{
  return GPOINTER_TO_UINT (g_hash_table_lookup (counts, word));
}

static const char *
crowd_of (const Problem *problem,
          guint          i)
{
  FitFigure *figure = g_ptr_array_index (problem->fit->figures, g_array_index (problem->figures, guint, i));

  return fit_part_table (problem->part) == FIT_TABLE_INFERENCE ? figure->of->sweep : figure->of->group;
}

/* Every row of language-model training counts once, less where its source is
 * weak; elsewhere those of large sources or sweeps count less. */
static void
set_weights (Problem *problem)
{
  g_autoptr (GHashTable) counts = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < problem->m; i++)
    g_hash_table_replace (counts, (gpointer) crowd_of (problem, i), GUINT_TO_POINTER (count_in (counts, crowd_of (problem, i)) + 1));

  for (guint i = 0; i < problem->m; i++)
    {
      FitFigure *figure = g_ptr_array_index (problem->fit->figures, g_array_index (problem->figures, guint, i));
      double n = count_in (counts, crowd_of (problem, i));

      switch (fit_part_table (problem->part))
        {
        case FIT_TABLE_TRAINING:
          figure->weight = figure->of->high_trust ? 1 : 0.64;
          break;
        case FIT_TABLE_INFERENCE:
          figure->weight = pow (n, -0.25);
          break;
        default:
          figure->weight = fmin (1, sqrt (12 / n));
          break;
        }
    }
}

/* Half the derivative of the loss over the residual, and the loss itself. */
static double
robust (const Problem *problem,
        guint          i,
        double         residual,
        double        *loss)
{
  FitFigure *figure = g_ptr_array_index (problem->fit->figures, g_array_index (problem->figures, guint, i));
  double scale, noise, root;

  if (losses[problem->part].loss == LOSS_STUDENT)
    {
      scale = student_scale (figure->key);
      *loss = figure->weight * (STUDENT_FREEDOM + 1) * log1p (residual * residual / (scale * scale * STUDENT_FREEDOM));
      return figure->weight * (STUDENT_FREEDOM + 1) / (STUDENT_FREEDOM + residual * residual / (scale * scale)) / (scale * scale);
    }

  scale = losses[problem->part].scale;
  noise = losses[problem->part].noise;
  root = sqrt (1 + residual * residual / (scale * scale));
  *loss = figure->weight * 2 * scale * scale * (root - 1) / (noise * noise);
  return figure->weight / (root * noise * noise);
}

static double
encode (const FitConstant *constant,
        double             value)
{
  return constant->logarithm ? log (value) : value;
}

static double
decode (const FitConstant *constant,
        double             theta)
{
  return constant->logarithm ? exp (theta) : theta;
}

static double
cost_of (const Problem *problem,
         const double  *residuals,
         const double  *theta)
{
  double cost = 0, loss;

  for (guint i = 0; i < problem->m; i++)
    {
      robust (problem, i, residuals[i], &loss);
      cost += loss;
    }
  for (guint j = 0; j < problem->n; j++)
    {
      FitConstant *constant = g_ptr_array_index (problem->constants, j);
      double z = (theta[j] - encode (constant, constant->prior)) / constant->sd;

      cost += z * z;
    }

  return isfinite (cost) ? cost : G_MAXDOUBLE;
}

static void
apply (Problem      *problem,
       const double *theta,
       double       *residuals)
{
  for (guint j = 0; j < problem->n; j++)
    {
      FitConstant *constant = g_ptr_array_index (problem->constants, j);

      fit_constant_set (constant, decode (constant, theta[j]));
    }
  fit_reload (problem->fit, fit_part_table (problem->part));
  fit_residuals (problem->fit, problem->figures, residuals, NULL);
}

/* Only figures that a constant acts on are estimated again. */
static void
fill_jacobian (Problem *problem)
{
  g_autofree double *changed = g_new (double, problem->m);
  g_autoptr (GArray) subset = g_array_new (FALSE, FALSE, sizeof (guint));

  memset (problem->jacobian, 0, sizeof (double) * problem->n * problem->m);
  for (guint j = 0; j < problem->n; j++)
    {
      FitConstant *constant = g_ptr_array_index (problem->constants, j);

      g_array_set_size (subset, 0);
      for (guint i = 0; i < constant->acts_on->len; i++)
        if (problem->place[g_array_index (constant->acts_on, guint, i)] != G_MAXUINT)
          g_array_append_val (subset, g_array_index (constant->acts_on, guint, i));

      fit_constant_set (constant, decode (constant, problem->theta[j] + STEP));
      fit_reload (problem->fit, fit_part_table (problem->part));
      fit_residuals (problem->fit, subset, changed, NULL);
      fit_constant_set (constant, decode (constant, problem->theta[j]));

      for (guint i = 0; i < subset->len; i++)
        {
          guint row = problem->place[g_array_index (subset, guint, i)];

          problem->jacobian[row * problem->n + j] = (changed[i] - problem->residuals[row]) / STEP;
        }
    }
}

/* @hessian, n rows of n, becomes its Cholesky factor; @right the solution. */
static gboolean
solve (double *hessian,
       double *right,
       guint   n)
{
  for (guint i = 0; i < n; i++)
    {
      for (guint j = 0; j <= i; j++)
        {
          double sum = hessian[i * n + j];

          for (guint k = 0; k < j; k++)
            sum -= hessian[i * n + k] * hessian[j * n + k];
          if (i == j && !(sum > 0))
            return FALSE;
          hessian[i * n + j] = i == j ? sqrt (sum) : sum / hessian[j * n + j];
        }
    }

  for (guint i = 0; i < n; i++)
    {
      for (guint k = 0; k < i; k++)
        right[i] -= hessian[i * n + k] * right[k];
      right[i] /= hessian[i * n + i];
    }
  for (guint i = n; i-- > 0;)
    {
      for (guint k = i + 1; k < n; k++)
        right[i] -= hessian[k * n + i] * right[k];
      right[i] /= hessian[i * n + i];
    }

  return TRUE;
}

static void
fill_normal (Problem *problem,
             double   damping,
             double  *hessian,
             double  *right)
{
  guint n = problem->n;

  memset (hessian, 0, sizeof (double) * n * n);
  for (guint j = 0; j < n; j++)
    {
      FitConstant *constant = g_ptr_array_index (problem->constants, j);
      double precision = 1 / (constant->sd * constant->sd);

      hessian[j * n + j] = precision;
      right[j] = -(problem->theta[j] - encode (constant, constant->prior)) * precision;
    }

  for (guint i = 0; i < problem->m; i++)
    {
      const double *row = problem->jacobian + i * n;

      for (guint j = 0; j < n; j++)
        {
          double weighted = row[j] * problem->weights[i];

          if (weighted == 0)
            continue;
          right[j] -= weighted * problem->residuals[i];
          for (guint k = 0; k <= j; k++)
            hessian[j * n + k] += weighted * row[k];
        }
    }
  for (guint j = 0; j < n; j++)
    hessian[j * n + j] *= 1 + damping;
}

/* One damped step; FALSE where none lowers the cost. */
static gboolean
improve (Problem *problem,
         double  *damping,
         double  *cost)
{
  guint n = problem->n;
  g_autofree double *hessian = g_new (double, n * n), *step = g_new (double, n), *theta = g_new (double, n);
  g_autofree double *residuals = g_new (double, problem->m);

  for (int i = 0; i < 8; i++)
    {
      double next;

      fill_normal (problem, *damping, hessian, step);
      if (!solve (hessian, step, n))
        return FALSE;
      for (guint j = 0; j < n; j++)
        theta[j] = problem->theta[j] + CLAMP (step[j], -0.6, 0.6);

      apply (problem, theta, residuals);
      next = cost_of (problem, residuals, theta);
      if (next < *cost)
        {
          memcpy (problem->theta, theta, sizeof (double) * n);
          memcpy (problem->residuals, residuals, sizeof (double) * problem->m);
          *damping /= 4;
          *cost = next;
          return TRUE;
        }
      *damping *= 6;
    }

  return FALSE;
}

static void
choose_constants (Problem *problem)
{
  problem->constants = g_ptr_array_new ();
  for (guint i = 0; i < problem->fit->constants->len; i++)
    {
      FitConstant *constant = g_ptr_array_index (problem->fit->constants, i);
      gboolean acts = FALSE;

      if (constant->part != problem->part)
        continue;

      fit_constant_set (constant, constant->prior);
      for (guint j = 0; j < constant->acts_on->len && !acts; j++)
        acts = problem->place[g_array_index (constant->acts_on, guint, j)] != G_MAXUINT;
      if (acts)
        g_ptr_array_add (problem->constants, constant);
    }
  problem->n = problem->constants->len;
}

static void
prepare (Problem *problem)
{
  problem->m = problem->figures->len;
  problem->place = g_new (guint, problem->fit->figures->len);
  for (guint i = 0; i < problem->fit->figures->len; i++)
    problem->place[i] = G_MAXUINT;
  for (guint i = 0; i < problem->m; i++)
    problem->place[g_array_index (problem->figures, guint, i)] = i;

  set_weights (problem);
  choose_constants (problem);
  problem->residuals = g_new (double, problem->m);
  problem->weights = g_new (double, problem->m);
  problem->jacobian = g_new (double, problem->m * problem->n);
  problem->theta = g_new (double, problem->n);
  for (guint j = 0; j < problem->n; j++)
    problem->theta[j] = encode (g_ptr_array_index (problem->constants, j), ((FitConstant *) g_ptr_array_index (problem->constants, j))->prior);
}

/* Fits the constants of a part to @figures, indices in order; they stand in the
 * tables then, and those that act on none at their priors. Returns the cost. */
double
fit_part (Fit     *self,
          FitPart  part,
          GArray  *figures)
{
  Problem problem = { .fit = self, .part = part, .figures = figures };
  double damping = 1e-3, cost, loss;

  prepare (&problem);
  apply (&problem, problem.theta, problem.residuals);
  cost = cost_of (&problem, problem.residuals, problem.theta);

  for (int i = 0; i < MOST_STEPS; i++)
    {
      double before = cost;

      fill_jacobian (&problem);
      for (guint k = 0; k < problem.m; k++)
        problem.weights[k] = robust (&problem, k, problem.residuals[k], &loss);
      if (!improve (&problem, &damping, &cost) || before - cost < 2e-4 * cost)
        break;
    }

  apply (&problem, problem.theta, problem.residuals);
  g_ptr_array_unref (problem.constants);
  g_free (problem.place);
  g_free (problem.residuals);
  g_free (problem.weights);
  g_free (problem.jacobian);
  g_free (problem.theta);

  return cost;
}
