/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "qm-architecture-families.h"
#include "qm-config-keys.h"
#include "qm-message.h"
#include "qm-model.h"

G_BEGIN_DECLS

/* What a layer has in place of attention, and of the feed-forward part. */
typedef enum {
  QM_MIXER_FULL,
  QM_MIXER_SLIDING,
  QM_MIXER_LINEAR,
  QM_MIXER_MAMBA,
  QM_MIXER_NONE,
  QM_N_MIXERS,
} QmMixer;

typedef enum {
  QM_FFN_DENSE,
  QM_FFN_EXPERTS,
  QM_FFN_NONE,
  QM_N_FFNS,
} QmFfn;

/**
 * QmAmount:
 * @total: a number, or how many weights
 * @linear: of them, those in matrices that quantisation packs
 */
typedef struct {
  double total;
  double linear;
} QmAmount;

typedef struct _QmShape QmShape;

/**
 * QmShape:
 * @keys: a config.json, or the part of one that tells of a network in it
 * @nothing: (nullable): what @keys reads where the file does not describe the part
 * @outer: (nullable): the shape that it is a part of
 * @table: all families
 * @family: (nullable): what is known of its family
 * @approximate: whether the family, or a kind of layer, of it or of a part is not known
 * @odd_layers: whether a word of its list of layers is not known
 * @class_name: which of the family's networks, as in `architectures`; "" unknown
 * @counted: whether @mixers and @ffns are
 * @mixers: how many layers of each kind
 * @ffns: the same for their second halves
 * @steps: what formulas may still take, so that no file keeps the machine busy
 * @notes: (nullable) (element-type QmMessage): what was assumed
 *
 * A config.json on its way to a #QmArchitecture.
 */
struct _QmShape {
  QmConfigKeys keys;
  JsonObject *nothing;
  QmShape *outer;
  QmFamilyTable *table;
  QmArchitectureFamily *family;
  gboolean approximate;
  gboolean odd_layers;
  const char *class_name;
  gboolean counted;
  int mixers[QM_N_MIXERS];
  int ffns[QM_N_FFNS];
  int *steps;
  GPtrArray *notes;
};

gboolean    qm_architecture_read     (JsonObject     *config,
                                      QmArchitecture *architecture,
                                      GPtrArray      *notes,
                                      GError        **error);

void        qm_shape_note            (QmShape        *self,
                                      const char     *code,
                                      const char     *key,
                                      const char     *msgid);
void        qm_shape_doubt           (QmShape        *self);
void        qm_shape_open            (QmShape        *self,
                                      QmShape        *outer,
                                      const char     *key,
                                      const char     *fallback);
void        qm_shape_close           (QmShape        *self);

int         qm_shape_layers          (QmShape        *self);
QmMixer     qm_shape_mixer           (QmShape        *self,
                                      int             layer);
QmFfn       qm_shape_ffn             (QmShape        *self,
                                      int             layer);
void        qm_shape_count_layers    (QmShape        *self);

gboolean    qm_shape_defines         (QmShape        *self,
                                      const char     *name);
QmAmount    qm_shape_evaluate        (QmShape        *self,
                                      const char     *name);
double      qm_shape_value           (QmShape        *self,
                                      const char     *name,
                                      double          fallback);

G_END_DECLS
