/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/**
 * QmGguf:
 * @metadata: numbers, words and short lists of numbers by their key; of other
 *   lists the length, under the key with `#` behind it
 * @parameters: elements of all tensors
 * @bytes: of all tensors
 * @tensors: how many there are
 * @names: (element-type utf8 utf8): of them, a set
 * @repeated: tensors that were there before, and are not counted again
 * @has_output: whether the output head is a tensor of its own
 * @cut_short: whether a file ends before its last tensor
 * @doubtful: whether tensors overlap, as where the list names one twice
 *
 * What the header of a GGUF file says.
 */
typedef struct {
  JsonObject *metadata;
  double parameters;
  double bytes;
  double tensors;
  GHashTable *names;
  double repeated;
  gboolean has_output;
  gboolean cut_short;
  gboolean doubtful;
} QmGguf;

gboolean qm_gguf_read_bytes (QmGguf       *self,
                             const guint8 *data,
                             gsize         length,
                             GError      **error);
gboolean qm_gguf_read  (QmGguf      *self,
                        const char  *path,
                        GError     **error);
gboolean qm_gguf_read_after (QmGguf  *self,
                             QmGguf       *before,
                             const char   *path,
                             GError      **error);
void     qm_gguf_clear (QmGguf      *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QmGguf, qm_gguf_clear)

G_END_DECLS
