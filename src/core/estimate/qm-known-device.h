/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "estimate/qm-llm-inference-private.h"
#include "estimate/qm-llm-training-private.h"
#include "estimate/qm-other-domains-private.h"

G_BEGIN_DECLS

/**
 * QmKnownDevice:
 * @id: of the device, the catalog's own string
 *
 * What the predictors look up by the names of a device, looked up once.
 */
struct _QmKnownDevice {
  const char *id;
  const QmLlmFamily *family;
  double mamf;
  int arch;                         /* among those of inference, on its own units */
  QmDomainSite site;                /* with what the device alone tells */
};

G_END_DECLS
