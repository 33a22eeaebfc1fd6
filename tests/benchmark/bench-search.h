/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "estimate/qm-estimator.h"

void bench_search        (QmCatalog   *catalog,
                          QmEstimator *estimator);
void bench_growth        (int          factor);
void bench_write_answers (QmCatalog   *catalog,
                          QmEstimator *estimator,
                          const char  *folder);
