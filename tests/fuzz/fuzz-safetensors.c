/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"

#include "model/qm-model-private.h"
#include "model/qm-safetensors-reader.h"

/* Bytes that should be the header of a safetensors file. */
int
LLVMFuzzerTestOneInput (const guint8 *data,
                        gsize         size)
{
  g_auto (QmSafetensors) header = { 0 };
  g_autoptr (JsonObject) config = NULL;
  g_autoptr (QmModel) model = NULL;

  if (!qm_safetensors_add_header (&header, (const char *) data, size, 1e9, NULL))
    return 0;
  config = qm_tensor_shapes_to_config (&header.shapes);
  model = qm_model_new ();
  if (config != NULL)
    qm_model_read_config (model, config, NULL);
  return 0;
}
