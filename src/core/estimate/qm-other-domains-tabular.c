/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-other-domains-private.h"

#include <string.h>

#define MILLION 1e6
#define NANO 1e-9

/* The fixed cost of a tree grows with the root of its leaves, up to this depth. */
#define FIXED_LEVELS 10
#define FIXED_LEAVES 1024

typedef struct {
  double rows;
  double trees;
  double levels;
  double features;                  /* that a histogram is made of */
  double histogram_seconds;
  double tree_seconds;
  double network_seconds;
  double sigma;
  gboolean sparse;
} Boosting;

static double
levels_of (const QmOtherDomains *self)
{
  const QmTabular *given = &self->tabular;
  double levels = self->constants->tabular.levels;

  if (given->depth > 0)
    levels = given->depth;
  else if (given->leaves > 0)
    levels = log2 (given->leaves);

  return self->booster == QM_DOMAIN_BOOSTER_CATBOOST ? fmin (levels, self->constants->tabular.catboost_levels) : levels;
}

static gboolean
is_xgboost (const QmOtherDomains *self)
{
  return self->booster == QM_DOMAIN_BOOSTER_XGBOOST || self->booster == QM_DOMAIN_BOOSTER_XGBOOST_EXACT;
}

/* Many columns on many rows are one-hot: most values are zero, and engines
 * bundle columns that are never set together. */
static void
take_table (const QmOtherDomains *self,
            Boosting             *boosting)
{
  const QmDomainTabularConstants *constants = &self->constants->tabular;
  const QmDomainSigmas *sigma = &self->constants->sigma;
  const QmTabular *given = &self->tabular;
  double features = given->features > 0 ? given->features : constants->features;
  gboolean wide = features > constants->wide;
  gboolean deep = given->depth > 0 || given->leaves > 0;

  boosting->rows = self->training.samples > 0 ? self->training.samples : constants->rows;
  boosting->trees = given->trees > 0 ? given->trees : constants->trees;
  boosting->levels = levels_of (self);
  boosting->sparse = wide && boosting->rows > MILLION;
  boosting->features = boosting->sparse ? constants->bundles * sqrt (features / 1000) : features;
  if (given->nonzero_features > 0)
    boosting->features = given->nonzero_features;

  boosting->sigma = hypot (wide ? sigma->tabular_features : 0, deep ? 0 : sigma->tabular_depth) * sigma->tabular_share;
  boosting->sigma = hypot (boosting->sigma, sigma->cases[QM_DOMAIN_RANGE_TABULAR]);
}

/* Speed over that of the machine the constants are of. */
static double
speed_of (const QmOtherDomains *self,
          const QmDomainSite   *site)
{
  const QmDomainTabularConstants *constants = &self->constants->tabular;

  if (site->kind == QM_DOMAIN_KIND_GPU)
    return site->bandwidth / (constants->v100_bandwidth * self->constants->device.bw_hbm);

  return pow (site->cores / constants->cores, constants->core_scaling) *
         pow (site->cpu_generation, constants->cpu_generation);
}

static void
take_time (const QmOtherDomains *self,
           const QmDomainSite   *site,
           Boosting             *boosting)
{
  const QmDomainTabularConstants *constants = &self->constants->tabular;
  gboolean gpu = site->kind == QM_DOMAIN_KIND_GPU;
  double columns = boosting->features * (boosting->sparse && is_xgboost (self) ? constants->sparse_cost : 1);
  double cell = constants->ns[gpu][self->booster] * NANO * (columns + constants->partition) * boosting->levels /
                speed_of (self, site);
  double leaves = exp2 (fmin (boosting->levels, FIXED_LEVELS));

  /* rows beyond the caches of a processor */
  if (!gpu)
    cell *= 1 + constants->cache_miss * fmax (0, log10 (boosting->rows / MILLION));

  boosting->histogram_seconds = boosting->trees * boosting->rows / site->nodes * cell;
  boosting->tree_seconds = boosting->trees * constants->fixed[gpu][self->booster] * sqrt (leaves / FIXED_LEAVES) /
                           (gpu ? 1 : sqrt (site->cpu_generation));
  boosting->network_seconds = site->nodes > 1 ? boosting->trees * constants->network_tree : 0;
}

static void
fill_rate (const Boosting     *boosting,
           const QmDomainSite *site,
           QmEstimate         *estimate)
{
  QmThroughput *throughput = &estimate->throughput;
  double seconds = boosting->histogram_seconds + boosting->tree_seconds + boosting->network_seconds;
  double width = QM_NORMAL_P90 * boosting->sigma;

  throughput->known = TRUE;
  throughput->unit = QM_UNIT_ROWS;
  throughput->per_second = qm_range_log_normal (boosting->rows * boosting->trees / seconds, width);
  throughput->per_device_per_second = qm_range_scale (throughput->per_second, 1 / site->devices);
  throughput->samples_per_second = throughput->per_second.p50;
  throughput->step_seconds = qm_range_log_normal (seconds / boosting->trees, width);
  throughput->memory_seconds = boosting->histogram_seconds;
  throughput->communication_seconds = boosting->network_seconds;
  throughput->overhead_seconds = boosting->tree_seconds;
  throughput->bound_by = boosting->histogram_seconds > boosting->tree_seconds ? QM_BOUND_MEMORY : QM_BOUND_OVERHEAD;
  estimate->time.seconds = qm_range_log_normal (seconds, width);
}

/* The table lies in the memory of the machine, as the engine's library keeps
 * it; a GPU holds bin numbers and gradients beside. */
static void
fill_store (const QmOtherDomains *self,
            const QmDomainSite   *site,
            const Boosting       *boosting,
            QmMemory             *memory)
{
  const QmDomainTabularConstants *constants = &self->constants->tabular;
  gboolean compact = self->booster == QM_DOMAIN_BOOSTER_LIGHTGBM || self->booster == QM_DOMAIN_BOOSTER_CATBOOST;
  double per_row = compact ? constants->bytes_row_lightgbm : constants->bytes_row_xgboost;
  double per_value = compact ? constants->bytes_value_lightgbm : constants->bytes_value_xgboost;
  double rows = boosting->rows / site->nodes;
  double width = QM_NORMAL_P90 * self->constants->sigma.memory_host;

  memory->host_bytes = (per_row + boosting->features * per_value) * rows + constants->host_bytes;
  memory->host = qm_range_log_normal (memory->host_bytes, width);
  memory->parts[QM_MEMORY_WORKSPACE] = memory->host_bytes;
  memory->need = memory->host;
  if (site->kind != QM_DOMAIN_KIND_CPU)
    {
      double table = (per_row + boosting->features * constants->device_value) * rows;

      memory->parts[QM_MEMORY_WORKSPACE] = table;
      memory->parts[QM_MEMORY_CONTEXT] = self->constants->memory.context;
      memory->need = qm_range_log_normal (table + self->constants->memory.context, 2 * width);
    }
}

/**
 * qm_domain_tabular:
 * @self: a job of gradient boosting
 * @site: a site
 * @estimate: (inout): where rate, time and memory are filled in
 *
 * Every level of every tree reads all rows and sorts their features into
 * histograms; each tree costs a fixed time beside. The rate counts rows of all
 * trees. Nothing is said of running a model that is trained.
 */
void
qm_domain_tabular (const QmOtherDomains *self,
                   const QmDomainSite   *site,
                   QmEstimate           *estimate)
{
  Boosting boosting = { 0 };

  take_table (self, &boosting);
  take_time (self, site, &boosting);
  fill_rate (&boosting, site, estimate);
  fill_store (self, site, &boosting, &estimate->memory);
  estimate->memory.state = site->kind == QM_DOMAIN_KIND_CPU ? QM_STATE_THIN : QM_STATE_NEW;
  estimate->throughput.state = self->booster == QM_DOMAIN_BOOSTER_H2O ? QM_STATE_ENGINE : QM_STATE_THIN;
  qm_domain_judge (self, site, FALSE, &estimate->memory);
}
