/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <json-glib/json-glib.h>

#include "estimate/qm-estimate.h"

G_BEGIN_DECLS

/* Memory and rate of everything but language models: vision, encoders, image generation,
 * speech, recommenders, gradient boosting. */

typedef struct _QmOtherDomainsConstants QmOtherDomainsConstants;
typedef struct _QmOtherDomains QmOtherDomains;

QmOtherDomainsConstants *qm_other_domains_constants_new  (JsonNode                     *node,
                                                        GError                      **error);
void                    qm_other_domains_constants_free (QmOtherDomainsConstants       *self);

/* what depends on the answers and the model alone, computed once */
QmOtherDomains          *qm_other_domains_new            (const QmOtherDomainsConstants *constants,
                                                        const QmPlan                 *plan,
                                                        const QmModel                *model);
void                    qm_other_domains_free           (QmOtherDomains                *self);

/* memory, throughput and the resolved configuration; nothing is allocated */
void                    qm_other_domains_predict        (const QmOtherDomains          *self,
                                                        const QmDevice               *device,
                                                        const QmConfiguration        *configuration,
                                                        QmEstimate                   *estimate);

/* of the same what a search needs */
void                    qm_other_domains_outline        (const QmOtherDomains          *self,
                                                        const QmDevice               *device,
                                                        const QmKnownDevice          *known,
                                                        const QmConfiguration        *configuration,
                                                        QmOutline                    *outline);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmOtherDomainsConstants, qm_other_domains_constants_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmOtherDomains, qm_other_domains_free)

G_END_DECLS
