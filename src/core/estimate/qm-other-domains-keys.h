/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "estimate/qm-other-domains-constants.h"

G_BEGIN_DECLS

/* Where each constant of the file goes. */
typedef struct {
  const char *key;
  gsize offset;
} QmDomainKey;

extern const QmDomainKey qm_domain_keys[];
extern const gsize qm_domain_n_keys;

G_END_DECLS
