/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "qm-chart-choices.h"

G_BEGIN_DECLS

#define GIB 1073741824.0

typedef struct {
  const char *name;
  QmChart *(*describe) (const QmWords *words);
} Figure;

/* Charts from figures written by hand, one for each form; ends with NULL. */
extern const Figure figures[];

G_END_DECLS
