/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"

#include "model/qm-model-json.h"
#include "model/qm-model-private.h"

/* Bytes that should be a GGUF file. */
int
LLVMFuzzerTestOneInput (const guint8 *data,
                        gsize         size)
{
  g_auto (QmGguf) gguf = { 0 };
  g_autoptr (QmModel) model = NULL;
  g_autoptr (JsonNode) written = NULL;

  if (!qm_gguf_read_bytes (&gguf, data, size, NULL))
    return 0;
  model = qm_model_from_gguf_header (&gguf, NULL);
  if (model != NULL)
    written = qm_model_to_json (model, NULL);
  return 0;
}
