/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "model/qm-model-resolve.h"

G_BEGIN_DECLS

/* what `quartermaster-cli model --json` prints */
JsonNode *qm_model_to_json (const QmModel *self,
                            QmCatalog     *catalog);

G_END_DECLS
