/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "qm-tensor-shapes.h"

G_BEGIN_DECLS

/**
 * QmSafetensors:
 * @packed_bits: of a weight in tensors that pack several into an integer, 0
 *   where the headers must tell
 * @parameters: weights in all tensors
 * @bytes: of all tensors
 * @bytes_only: whether no header was read, and @parameters are what the bytes make
 * @guessed: whether the width of packed weights was guessed
 * @cut_short: whether a file ends before its last tensor
 * @doubtful: whether tensors overlap, leave gaps or take other bytes than their
 *   sizes make, as where the list names one twice
 * @end: of the last tensor of the file that was read last, in bytes
 * @adapter_parameters: of the weights, those of an adapter: some models hold one
 *   beside their own
 * @names: (nullable) (element-type utf8 utf8): of the tensors so far, a set
 * @repeated: tensors that were there before, and are not counted again
 * @file_bytes: of all tensors of the file that was read last
 * @shapes: what names and shapes of tensors give away
 *
 * What the headers of one or more safetensors files say.
 */
typedef struct {
  double packed_bits;
  double parameters;
  double bytes;
  gboolean bytes_only;
  gboolean guessed;
  gboolean cut_short;
  gboolean doubtful;
  double end;
  double adapter_parameters;
  GHashTable *names;
  double repeated;
  double file_bytes;
  QmTensorShapes shapes;
} QmSafetensors;

void     qm_safetensors_clear      (QmSafetensors *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QmSafetensors, qm_safetensors_clear)

gboolean qm_safetensors_add_header (QmSafetensors *self,
                                    const char    *text,
                                    gsize          length,
                                    double         data_bytes,
                                    GError       **error);
gboolean qm_safetensors_add_file   (QmSafetensors *self,
                                    const char    *path,
                                    GError       **error);

G_END_DECLS
