/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "figures.h"

#include <math.h>

/* Llama 3.1 8B with LoRA, micro-batch 4 x 2,048, on an L40S. */
static QmMemory
lora_memory (void)
{
  QmMemory memory = {
    .need = { 24.5 * GIB, 26.4 * GIB, 28.6 * GIB },
    .parts = {
      [QM_MEMORY_WEIGHTS] = 15.0 * GIB,
      [QM_MEMORY_GRADIENTS] = 0.15 * GIB,
      [QM_MEMORY_OPTIMIZER] = 0.5 * GIB,
      [QM_MEMORY_ACTIVATIONS] = 3.5 * GIB,
      [QM_MEMORY_LOGITS] = 5.9 * GIB,
      [QM_MEMORY_WORKSPACE] = 0.45 * GIB,
      [QM_MEMORY_CONTEXT] = 0.5 * GIB,
      [QM_MEMORY_FRAGMENTATION] = 0.4 * GIB,
    },
    .capacity_bytes = 48 * GIB,
    .usable_bytes = 45.0 * GIB,
    .quick_bytes = 19.3e9,
    .basic_bytes = 41.8e9,
  };

  memory.device = memory.need;
  return memory;
}

QmChart *
figures_memory (const QmWords *words)
{
  QmMemory memory = lora_memory ();

  return qm_chart_describe_memory (&memory, "L40S", 0.2, words);
}
