/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/**
 * QmConfigKeys:
 * @object: a config.json or a part of it
 * @defaults: (nullable): what the family's library takes for keys that are absent
 * @error: the first thing found that no model can have
 *
 * A reader of config.json that knows the names every family uses. It remembers
 * its first error, so that a row of reads needs one check at the end.
 */
typedef struct {
  JsonObject *object;
  JsonObject *defaults;
  GError *error;
} QmConfigKeys;

gboolean    qm_config_keys_has     (QmConfigKeys *self,
                                    const char   *key);
double      qm_config_keys_count   (QmConfigKeys *self,
                                    const char   *key,
                                    double        fallback);
double      qm_config_keys_need    (QmConfigKeys *self,
                                    const char   *key);
double      qm_config_keys_number  (QmConfigKeys *self,
                                    const char   *key);
gboolean    qm_config_keys_assumed (QmConfigKeys *self,
                                    const char   *key);
gboolean    qm_config_keys_flag    (QmConfigKeys *self,
                                    const char   *key,
                                    gboolean      fallback);
const char *qm_config_keys_word    (QmConfigKeys *self,
                                    const char   *key);
JsonArray  *qm_config_keys_array   (QmConfigKeys *self,
                                    const char   *key);
JsonObject *qm_config_keys_object  (QmConfigKeys *self,
                                    const char   *key);
void        qm_config_keys_refuse  (QmConfigKeys *self,
                                    const char   *key,
                                    const char   *msgid,
                                    ...) G_GNUC_NULL_TERMINATED;

G_END_DECLS
