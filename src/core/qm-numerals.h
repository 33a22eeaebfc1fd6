/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "qm-words.h"

G_BEGIN_DECLS

/* Numbers as texts, without what they count. */
double  qm_numeral_significant (double         value);
int     qm_numeral_decimals    (double         value,
                                int            decimals);
char   *qm_numeral_fixed       (const QmWords *words,
                                double         value,
                                int            decimals);
char   *qm_numeral_short       (const QmWords *words,
                                double         value);

G_END_DECLS
