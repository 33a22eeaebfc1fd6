/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-recommendation.h"

G_BEGIN_DECLS

struct _QmRecommendation {
  GObject parent_instance;

  QmEstimator *estimator;
  QmResolved *resolved;
  QmHere *here;                     /* (nullable) */
  GArray *choices;                  /* of QmChoice */
  GArray *rows;                     /* of QmChoice */
  GArray *nearest;                  /* of QmChoice, at most one: of what fits nowhere */
  GArray *pinned;                   /* of QmChoice, at most one: as it stands, where a device is pinned */
  GPtrArray *rejections;
  GPtrArray *sensitivities;
  GPtrArray *stages;
  GPtrArray *warnings;
  guint64 considered;
  double seconds;
};

G_END_DECLS
