/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"

#include "model/qm-model-json.h"
#include "model/qm-model-private.h"

/* Text that should be a config.json, read and written out. */
int
LLVMFuzzerTestOneInput (const guint8 *data,
                        gsize         size)
{
  g_autoptr (JsonNode) root = NULL;
  g_autoptr (JsonNode) written = NULL;
  g_autoptr (QmModel) model = NULL;

  if (!g_utf8_validate_len ((const char *) data, size, NULL))
    return 0;
  root = qm_json_text_parse ((const char *) data, size, QM_JSON_TEXT_MOST_IN_CONFIG, NULL);
  if (root == NULL || !JSON_NODE_HOLDS_OBJECT (root) || !qm_model_refuse_other_json (json_node_get_object (root), NULL))
    return 0;
  model = qm_model_new ();
  if (qm_model_read_config (model, json_node_get_object (root), NULL))
    written = qm_model_to_json (model, NULL);
  return 0;
}
