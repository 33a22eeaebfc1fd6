/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "qm-architecture-families.h"
#include "qm-config-keys.h"
#include "qm-model.h"

G_BEGIN_DECLS

/* What a layer has in place of attention, and of the feed-forward part. */
typedef enum {
  QM_MIXER_FULL,
  QM_MIXER_SLIDING,
  QM_MIXER_LINEAR,
  QM_MIXER_MAMBA,
  QM_MIXER_NONE,
} QmMixer;

typedef enum {
  QM_FFN_DENSE,
  QM_FFN_EXPERTS,
  QM_FFN_NONE,
} QmFfn;

/**
 * QmShape:
 * @keys: the part of the config.json that tells of the language model
 * @outer: all of it
 * @a: the record being filled
 * @dense_ffn: FFN width of the layers without experts
 * @inner: width of the recurrent layers' inner state
 * @notes: (nullable) (element-type utf8): what was assumed
 *
 * A config.json on its way to a #QmArchitecture.
 */
typedef struct {
  QmConfigKeys keys;
  QmConfigKeys outer;
  const QmArchitectureFamily *family;
  QmTraits traits;
  QmArchitecture *a;
  double dense_ffn;
  double inner;
  GPtrArray *notes;
} QmShape;

gboolean qm_architecture_read           (JsonObject     *config,
                                         QmArchitecture *architecture,
                                         GPtrArray      *notes,
                                         GError        **error);

gboolean qm_shape_is_type               (QmShape        *self,
                                         const char     *type);
void     qm_shape_note                  (QmShape        *self,
                                         const char     *text);

QmMixer  qm_shape_mixer                 (QmShape        *self,
                                         int             layer);
QmFfn    qm_shape_ffn                   (QmShape        *self,
                                         int             layer);
void     qm_shape_count_layers          (QmShape        *self);
double   qm_shape_state_elements        (QmShape        *self,
                                         QmMixer         mixer);

double   qm_shape_norm                  (QmShape        *self,
                                         double          width);
double   qm_shape_recurrent_parameters  (QmShape        *self,
                                         QmMixer         mixer);
void     qm_shape_count_decoder         (QmShape        *self);
void     qm_shape_count_encoder         (QmShape        *self);
void     qm_shape_count_encoder_decoder (QmShape        *self);
void     qm_shape_count_vision          (QmShape        *self);
void     qm_shape_count_two_towers      (QmShape        *self);
void     qm_shape_count_residual        (QmShape        *self);
void     qm_shape_count_unet            (QmShape        *self);
double   qm_shape_vision_tower          (QmShape        *self);

G_END_DECLS
