/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>

#include "decide/qm-choices.h"

static void
rejection_free (QmRejection *self)
{
  qm_message_free (self->message);
  g_free (self);
}

/* By what factor a limit is broken; @without says it where there is none, as
 * for a budget of nothing. */
static QmMessage *
by_factor (const char *code,
           const char *with,
           const char *without,
           double      margin)
{
  if (!isfinite (margin))
    return qm_message_new (code, without);

  return qm_message_add (qm_message_new (code, with), "factor", QM_ARGUMENT_FACTOR, margin);
}

static QmMessage *
explain (QmLimit         limit,
         double          margin,
         const QmChoice *best)
{
  switch (limit)
    {
    case QM_LIMIT_MEMORY:
      return by_factor ("memory", N_("Needs {factor} of the memory that may be filled, the headroom kept free"),
                        N_("How much memory it has is not known"), margin);
    case QM_LIMIT_HOST_MEMORY:
      return qm_message_new ("host-memory", N_("The machine has too little system memory"));
    case QM_LIMIT_SUPPORT:
      return qm_message_new ("support", N_("The usual software for this job does not run on it"));
    case QM_LIMIT_PLACE:
      return qm_message_new ("place", N_("Not to be had in the places you allowed"));
    case QM_LIMIT_MONEY:
      return by_factor ("money", N_("Costs {factor} of your budget"), N_("Costs more than your budget"), margin);
    case QM_LIMIT_DEADLINE:
      return by_factor ("deadline", N_("Takes {factor} of the time you have"), N_("Takes longer than the time you have"), margin);
    case QM_LIMIT_LATENCY:
      return by_factor ("latency", N_("Answers take {factor} of the time you allow"), N_("Answers take longer than you allow"), margin);
    case QM_LIMIT_LOAD:
      return qm_message_new ("load", N_("Too many machines would be needed for the load"));
    case QM_LIMIT_ACCURACY:
      return qm_message_new ("accuracy", N_("The model does not reach the accuracy you ask for"));
    case QM_LIMIT_NO_PRICE:
      return qm_message_new ("no-price", N_("No price is known"));
    case QM_LIMIT_NO_RATE:
      return qm_message_new ("no-rate", N_("The data sheet lacks what its speed follows from"));
    case QM_LIMIT_BATCH:
      return qm_message_new ("batch", N_("A batch has fewer samples than it has devices"));
    case QM_LIMIT_COUNT:
      return qm_message_new ("count", N_("Not to be had in the number that you fixed"));
    case QM_LIMIT_BEATEN:
      return qm_message_add_text (by_factor ("beaten", N_("Keeps your limits, but {choice} is better: {factor} of its money"),
                                             N_("Keeps your limits, but {choice} is better"), margin),
                                  "choice", QM_ARGUMENT_NAME, best != NULL ? best->label : "");
    case QM_LIMIT_NONE:
    default:
      return NULL;
    }
}

/* What the devices with rows of their own break, or by how much they are beaten. */
static void
note_rows (QmSearch       *search,
           const QmWish   *wish,
           const QmChoice *best,
           QmLimit        *limits,
           double         *margins,
           int            *counts)
{
  QmCatalog *catalog = qm_estimator_get_catalog (search->job.estimator);
  g_autoptr (GHashTable) indices = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < qm_catalog_n_devices (catalog); i++)
    g_hash_table_insert (indices, (gpointer) qm_catalog_device (catalog, i), GUINT_TO_POINTER (i + 1));

  for (guint i = 0; i < search->rows->len; i++)
    {
      const QmRow *row = &g_array_index (search->rows, QmRow, i);
      const QmPlacement *placement = &g_array_index (search->placements, QmPlacement, row->placement);
      guint index = GPOINTER_TO_UINT (g_hash_table_lookup (indices, placement->catalogued));
      QmLimit limit;
      double margin;

      if (index-- == 0)
        continue;
      qm_search_score (search, row, wish, &limit, &margin);
      if (limit == QM_LIMIT_NONE)
        {
          limit = QM_LIMIT_BEATEN;
          margin = best != NULL ? row->money / best->estimate.cost.money.p50 : 1;
        }
      /* Being beaten comes after every broken limit; of two alike, the nearer counts. */
      if ((limit == QM_LIMIT_BEATEN && limits[index] != QM_LIMIT_BEATEN) ||
          ((limit == QM_LIMIT_BEATEN) == (limits[index] == QM_LIMIT_BEATEN) && (counts[index] == 0 || margin < margins[index])))
        {
          limits[index] = limit;
          margins[index] = margin;
          counts[index] = g_array_index (search->solutions, QmSolution, row->solution).estimate.configuration.devices;
        }
    }
}

static gboolean
is_chosen (const QmDevice *device,
           const GArray   *choices)
{
  for (guint i = 0; i < choices->len; i++)
    if (g_array_index (choices, QmChoice, i).estimate.device == device)
      return TRUE;

  return FALSE;
}

/* One line for every device of the catalog that is not among the choices: its
 * first failing constraint and by how much. */
GPtrArray *
qm_search_rejections (QmSearch     *search,
                      const QmWish *wish,
                      const GArray *choices,
                      const GArray *rows)
{
  QmCatalog *catalog = qm_estimator_get_catalog (search->job.estimator);
  guint n = qm_catalog_n_devices (catalog);
  const QmChoice *best = choices->len > 0 ? &g_array_index (choices, QmChoice, 0) : NULL;
  GPtrArray *rejections = g_ptr_array_new_with_free_func ((GDestroyNotify) rejection_free);
  g_autofree QmLimit *limits = g_new0 (QmLimit, n);
  g_autofree double *margins = g_new0 (double, n);
  g_autofree int *counts = g_new0 (int, n);

  for (guint i = 0; i < n; i++)
    {
      limits[i] = search->device_limits[i];
      margins[i] = search->device_margins[i];
    }
  note_rows (search, wish, best, limits, margins, counts);

  for (guint i = 0; i < n; i++)
    {
      const QmDevice *device = qm_catalog_device (catalog, i);
      QmRejection *rejection;
      QmMessage *message = is_chosen (device, choices) ? NULL : explain (limits[i], margins[i], best);

      if (message == NULL)
        continue;
      rejection = g_new0 (QmRejection, 1);
      rejection->device = device;
      rejection->devices = MAX (1, counts[i]);
      rejection->limit = limits[i];
      rejection->margin = margins[i];
      rejection->message = message;
      g_ptr_array_add (rejections, rejection);
    }

  return rejections;
}
