/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

gboolean    qm_vocabulary_is_weights   (const char *word);
gboolean    qm_vocabulary_is_kv_cache  (const char *word);
gboolean    qm_vocabulary_is_framework (const char *word);
gboolean    qm_vocabulary_is_engine    (const char *word);
gboolean    qm_vocabulary_is_technique (const char *word);
gboolean    qm_vocabulary_is_attention_kernel (const char *word);
gboolean    qm_vocabulary_is_tuning    (const char *word);
gboolean    qm_vocabulary_is_interconnect (const char *words);
gboolean    qm_vocabulary_is_date      (const char *word);
guint       qm_edit_distance           (const char *a,
                                        const char *b);

G_END_DECLS
