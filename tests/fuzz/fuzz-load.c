/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"

#include <math.h>

#include "decide/qm-load.h"

/* Text that should be a load over time. */
int
LLVMFuzzerTestOneInput (const guint8 *data,
                        gsize         size)
{
  g_autofree char *text = g_strndup ((const char *) data, size);
  g_autoptr (GArray) load = qm_load_parse (text, NULL);
  guint hint = 0;

  if (load == NULL)
    return 0;
  g_assert_true (isfinite (qm_load_span (load)) && isfinite (qm_load_mean (load)) && isfinite (qm_load_peak (load)));
  g_assert_true (isfinite (qm_load_at (load, qm_load_span (load) / 2, &hint)));
  return 0;
}
