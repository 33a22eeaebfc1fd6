/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fit.h"

#include <math.h>
#include <string.h>

/* The constants that have a prior, which figures each acts on, and how much
 * evidence there is of engines. */

static const FitTable part_tables[FIT_N_PARTS] = {
  [FIT_PART_TRAINING_MEMORY] = FIT_TABLE_TRAINING,
  [FIT_PART_TRAINING_RATE] = FIT_TABLE_TRAINING,
  [FIT_PART_INFERENCE_MEMORY] = FIT_TABLE_INFERENCE,
  [FIT_PART_INFERENCE_RATE] = FIT_TABLE_INFERENCE,
  [FIT_PART_DOMAINS] = FIT_TABLE_DOMAINS,
};

FitTable
fit_part_table (FitPart part)
{
  return part_tables[part];
}

void
fit_constant_free (FitConstant *self)
{
  g_free (self->member);
  g_free (self->name);
  g_array_unref (self->acts_on);
  g_free (self);
}

double
fit_constant_get (FitConstant *self)
{
  return json_object_get_double_member (self->owner, self->member);
}

/* The table is to be loaded again. */
void
fit_constant_set (FitConstant *self,
                  double       value)
{
  json_object_set_double_member (self->owner, self->member, value);
}

static void
add_constant (Fit        *self,
              FitPart     part,
              JsonObject *owner,
              const char *member,
              char       *name,
              double      prior,
              double      sd,
              gboolean    logarithm)
{
  FitConstant *constant = g_new0 (FitConstant, 1);

  constant->part = part;
  constant->owner = owner;
  constant->member = g_strdup (member);
  constant->name = name;
  constant->prior = prior;
  constant->sd = sd;
  constant->logarithm = logarithm;
  constant->shipped = fit_constant_get (constant);
  constant->acts_on = g_array_new (FALSE, FALSE, sizeof (guint));
  g_ptr_array_add (self->constants, constant);
}

/* Constants as lines, with their priors beside them. */
static void
find_lines (Fit        *self,
            FitTable    table,
            FitPart     part,
            const char *prefix)
{
  JsonObject *constants = json_object_get_object_member (json_node_get_object (self->tables[table]), "constants");
  g_autoptr (GList) names = json_object_get_members (constants);

  for (GList *l = names; l != NULL; l = l->next)
    {
      JsonObject *line = json_object_get_object_member (constants, l->data);

      if (!g_str_has_prefix (l->data, prefix) || !json_object_has_member (line, "sd"))
        continue;

      add_constant (self, part, line, "value", g_strdup (l->data), json_object_get_double_member (line, "prior"),
                    json_object_get_double_member (line, "sd"),
                    strcmp (json_object_get_string_member_with_default (line, "sd_of", "logarithm"), "logarithm") == 0);
    }
}

static double
centre_of (JsonObject *prior,
           const char *level,
           const char *key)
{
  JsonObject *centres = json_object_has_member (prior, "centres") ? json_object_get_object_member (prior, "centres") : NULL;

  if (centres == NULL || !json_object_has_member (centres, level))
    return 1;

  return json_object_get_double_member_with_default (json_object_get_object_member (centres, level), key, 1);
}

/* Adds the keys of a level that cases of the part have. */
static void
add_keys (Fit        *self,
          FitPart     part,
          const char *level,
          JsonObject *prior,
          JsonObject *factors)
{
  FitCase *last = NULL;

  for (guint i = 0; i < self->figures->len; i++)
    {
      FitFigure *figure = g_ptr_array_index (self->figures, i);
      g_autofree char *key = NULL;

      if (figure->part != part || figure->of == last)
        continue;

      last = figure->of;
      key = fit_inference_key (self, figure->of, level);
      if (!json_object_has_member (factors, key))
        json_object_set_double_member (factors, key, centre_of (prior, level, key));
    }
}

static void
find_factors (Fit        *self,
              FitPart     part,
              const char *table,
              JsonObject *line)
{
  JsonObject *prior = json_object_get_object_member (line, "prior");
  JsonObject *levels = json_object_get_object_member (prior, "levels");
  JsonObject *factors = json_object_get_object_member (line, "factors");
  g_autoptr (GList) names = json_object_get_members (levels);

  for (GList *l = names; l != NULL; l = l->next)
    {
      g_autoptr (GList) keys = NULL;

      if (!json_object_has_member (factors, l->data))
        json_object_set_object_member (factors, l->data, json_object_new ());
      if (!json_object_has_member (prior, "keys"))
        add_keys (self, part, l->data, prior, json_object_get_object_member (factors, l->data));

      keys = json_object_get_members (json_object_get_object_member (factors, l->data));
      for (GList *k = keys; k != NULL; k = k->next)
        add_constant (self, part, json_object_get_object_member (factors, l->data), k->data,
                      g_strdup_printf ("%s/%s/%s", table, (char *) l->data, (char *) k->data),
                      centre_of (prior, l->data, k->data), json_object_get_double_member (levels, l->data), TRUE);
    }
}

static void
find_inference (Fit *self)
{
  JsonObject *tables = json_object_get_object_member (json_node_get_object (self->tables[FIT_TABLE_INFERENCE]), "tables");
  g_autoptr (GList) names = json_object_get_members (tables);
  static const char *const of_memory[] = { "ws", "cpu_copy", "context", "process", "profile", NULL };

  for (GList *l = names; l != NULL; l = l->next)
    {
      JsonObject *line = json_object_get_object_member (tables, l->data);
      FitPart part = g_strv_contains (of_memory, l->data) ? FIT_PART_INFERENCE_MEMORY : FIT_PART_INFERENCE_RATE;
      JsonObject *prior = json_object_has_member (line, "prior") ? json_object_get_object_member (line, "prior") : NULL;

      if (prior == NULL)
        continue;

      if (json_object_get_double_member (prior, "sd") > 0)
        add_constant (self, part, line, "base", g_strconcat (l->data, "/base", NULL), json_object_get_double_member (prior, "base"),
                      json_object_get_double_member (prior, "sd"), TRUE);
      find_factors (self, part, l->data, line);
    }
}

/* Finds all constants that have a prior. */
void
fit_find_constants (Fit *self)
{
  self->constants = g_ptr_array_new_with_free_func ((GDestroyNotify) fit_constant_free);

  find_lines (self, FIT_TABLE_TRAINING, FIT_PART_TRAINING_MEMORY, "mem.");
  find_lines (self, FIT_TABLE_TRAINING, FIT_PART_TRAINING_RATE, "rate.");
  find_lines (self, FIT_TABLE_DOMAINS, FIT_PART_DOMAINS, "");
  find_inference (self);
  fit_reload (self, FIT_TABLE_INFERENCE);
}

static void
note_changes (FitConstant  *constant,
              GArray       *figures,
              const double *before,
              const double *after)
{
  for (guint i = 0; i < figures->len; i++)
    {
      guint index = g_array_index (figures, guint, i);
      gboolean known = FALSE;

      if (fabs (after[i] - before[i]) < 1e-7)
        continue;
      for (guint j = 0; j < constant->acts_on->len && !known; j++)
        known = g_array_index (constant->acts_on, guint, j) == index;
      if (!known)
        g_array_append_val (constant->acts_on, index);
    }
}

static int
compare_indices (gconstpointer a,
                 gconstpointer b)
{
  return (*(const guint *) a > *(const guint *) b) - (*(const guint *) a < *(const guint *) b);
}

/* Finds which figures the constants of a part act on, from where they are now;
 * adds to what was found before. */
void
fit_find_influence (Fit     *self,
                    FitPart  part)
{
  g_autoptr (GArray) figures = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autofree double *before = NULL, *after = NULL;

  for (guint i = 0; i < self->figures->len; i++)
    if (((FitFigure *) g_ptr_array_index (self->figures, i))->part == part)
      g_array_append_val (figures, i);

  before = g_new (double, figures->len);
  after = g_new (double, figures->len);
  fit_residuals (self, figures, before, NULL);
  for (guint i = 0; i < self->constants->len; i++)
    {
      FitConstant *constant = g_ptr_array_index (self->constants, i);
      double value = fit_constant_get (constant);

      if (constant->part != part)
        continue;

      fit_constant_set (constant, constant->logarithm ? value * 1.1 : value + 0.1);
      fit_reload (self, constant->table = part_tables[part]);
      fit_residuals (self, figures, after, NULL);
      fit_constant_set (constant, value);
      note_changes (constant, figures, before, after);
      g_array_sort (constant->acts_on, compare_indices);
    }

  fit_reload (self, part_tables[part]);
}

/* --------------------------------------------------------------- evidence */

static const char *
quantity_word (const FitFigure *figure)
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

/* Writes into the inference table how many sweeps among @figures tell of each
 * engine, on a class of devices and with a kernel. */
void
fit_set_evidence (Fit    *self,
                  GArray *figures)
{
  static const char *const words[] = { "memory", "decode", "prefill", "first_token", "serving" };
  static const char *const levels[] = { "cell", "ek" };
  JsonObject *evidence = json_object_get_object_member (json_node_get_object (self->tables[FIT_TABLE_INFERENCE]), "evidence");
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    json_object_set_object_member (evidence, words[i], json_object_new ());

  for (guint i = 0; i < figures->len; i++)
    {
      FitFigure *figure = g_ptr_array_index (self->figures, g_array_index (figures, guint, i));
      JsonObject *counts = json_object_get_object_member (evidence, quantity_word (figure));

      for (guint j = 0; j < G_N_ELEMENTS (levels); j++)
        {
          g_autofree char *key = fit_inference_key (self, figure->of, levels[j]);

          if (g_hash_table_add (seen, g_strjoin ("\n", quantity_word (figure), key, figure->of->sweep, NULL)))
            json_object_set_int_member (counts, key, json_object_get_int_member_with_default (counts, key, 0) + 1);
        }
    }

  fit_reload (self, FIT_TABLE_INFERENCE);
}
