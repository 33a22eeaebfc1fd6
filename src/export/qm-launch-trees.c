/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "qm-launch-private.h"

/* What XGBoost takes itself where nothing is said. */
#define USUAL_TREES 500
#define USUAL_DEPTH 6
#define USUAL_BINS 256

/* LightGBM counts leaves alone: of a tree that is full to its depth, as many as
 * it takes. */
#define MOST_LEAVES 131072

static gboolean
is_engine (const QmModel *model,
           const char    *name)
{
  return g_str_has_prefix (model->id, name);
}

static void
add_engine (JsonObject      *values,
            const QmModel   *model,
            const QmDevice  *device,
            int              devices)
{
  gboolean cpu = device->device_class == QM_DEVICE_CLASS_CPU;
  gboolean planned = is_engine (model, "lightgbm"), lightgbm = planned && cpu && devices <= 1;

  qm_launch_set_flag (values, "lightgbm", lightgbm);
  qm_launch_set_flag (values, "lightgbm_planned", planned);
  qm_launch_set_flag (values, "instead", (planned && !lightgbm) || is_engine (model, "catboost") || is_engine (model, "h2o"));
  qm_launch_set_flag (values, "exact", is_engine (model, "xgboost-exact") && cpu && devices <= 1);
  qm_launch_set_flag (values, "forest", is_engine (model, "random-forest"));
}

static void
add_shape (JsonObject      *values,
           const QmTabular *table)
{
  gboolean leafwise = table->leaves > 0;
  double depth = table->depth > 0 ? table->depth : leafwise ? 0 : USUAL_DEPTH;

  qm_launch_set_flag (values, "leafwise", leafwise);
  qm_launch_set_count (values, "tree_depth", depth);
  qm_launch_set_count (values, "tree_leaves", leafwise ? table->leaves : fmin (MOST_LEAVES, exp2 (depth)));
  qm_launch_set_count (values, "tree_bins", table->bins > 0 ? table->bins : USUAL_BINS);
  qm_launch_set_count (values, "trees_planned", table->trees > 0 ? table->trees : USUAL_TREES);
}

/**
 * qm_launch_add_trees:
 * @values: what templates can use
 * @software: the table of that name
 * @resolved: a plan
 * @choice: one of its choices
 *
 * Adds what boosts trees over a table, in the place of PyTorch: whether it does,
 * the engine and the shape of the trees. XGBoost stands in for what has no start
 * of its own.
 */
void
qm_launch_add_trees (JsonObject       *values,
                     JsonObject       *software,
                     const QmResolved *resolved,
                     const QmChoice   *choice)
{
  const QmDevice *device = choice->estimate.device;
  gboolean trees = qm_plan_is_training (resolved->plan) && resolved->plan->task == QM_TASK_TABULAR;

  qm_launch_set_flag (values, "trees", trees);
  qm_launch_set_flag (values, "trains_network", qm_plan_is_training (resolved->plan) && !trees);
  qm_launch_set_flag (values, "trees_on_gpu", trees && device->vendor == QM_VENDOR_NVIDIA);
  add_engine (values, resolved->model, device, choice->estimate.configuration.devices);
  add_shape (values, &resolved->plan->tabular);
  qm_launch_set_text (values, "boosting_version",
                      qm_launch_inner_text (software, "boosting", json_object_get_boolean_member (values, "lightgbm") ? "lightgbm" : "xgboost"));
  if (!trees)
    return;

  qm_launch_set_text (values, "image", qm_launch_inner_text (software, "boosting", "image"));
  if (device->vendor != QM_VENDOR_NVIDIA)
    return;
  qm_launch_set_text (values, "cuda", qm_launch_inner_text (software, "boosting", "cuda"));
  qm_launch_set_text (values, "min_driver", qm_launch_inner_text (software, "boosting", "min_driver"));
}
