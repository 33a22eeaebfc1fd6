/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "qm-gguf-reader.h"
#include "qm-message.h"
#include "qm-model-resolve.h"

G_BEGIN_DECLS

void        qm_model_note               (QmModel      *self,
                                         QmMessage    *note);
void        qm_model_set_name           (QmModel      *self,
                                         const char   *name);
gboolean    qm_model_read_config        (QmModel      *self,
                                         JsonObject   *config,
                                         GError      **error);
gboolean    qm_model_read_shared_config (QmModel      *self,
                                         JsonObject   *config,
                                         QmJsonBox    *tree,
                                         GError      **error);
void        qm_model_read_facts         (QmModel      *self,
                                         JsonObject   *facts,
                                         QmJsonBox    *tree);
void        qm_model_complete_facts     (QmModel      *self,
                                         const QmPlan *plan,
                                         double        image_size);
double      qm_model_idle_parameters    (const QmModel *self);

/* The parser goes through a kilobyte and a microsecond for each value. A header
 * of safetensors with eighty thousand tensors holds half a million. */
#define QM_JSON_TEXT_MOST_IN_CONFIG 200000
#define QM_JSON_TEXT_MOST_IN_HEADER 500000

JsonNode   *qm_json_text_parse          (const char   *data,
                                         gsize         length,
                                         int           most,
                                         GError      **error);

gboolean    qm_model_refuse_other_json  (JsonObject   *object,
                                         GError      **error);
JsonObject *qm_model_load_config        (const char   *path,
                                         GError      **error);
gboolean    qm_model_refuse_first_bytes (const char   *path,
                                         GError      **error);
QmModel    *qm_model_from_safetensors   (const char   *path,
                                         GError      **error);
QmModel    *qm_model_from_weight_index  (const char   *path,
                                         JsonObject   *index,
                                         GError      **error);
QmModel    *qm_model_from_gguf_header   (const QmGguf *gguf,
                                         GError      **error);
QmModel    *qm_model_from_gguf          (const char   *path,
                                         GError      **error);

G_END_DECLS
