/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-llm-training-constants.h"

#include <string.h>

/**
 * qm_llm_training_constants_find_framework:
 * @self: constants
 * @word: `training.framework` of a plan
 *
 * Returns: its index in the table of frameworks; where the table has no such
 *   framework the index after the last one, where a framework stands that
 *   nothing is known of
 */
int
qm_llm_training_constants_find_framework (const QmLlmTrainingConstants *self,
                                          const char                   *word)
{
  int i = 0;

  while (i < self->n_frameworks && strcmp (self->frameworks[i].word, word) != 0)
    i++;

  return i;
}

/**
 * qm_llm_training_constants_frozen_bits:
 * @self: constants
 * @word: `training.base_weights` of a plan
 *
 * Returns: bits a frozen weight takes; 0 where @word is unknown
 */
double
qm_llm_training_constants_frozen_bits (const QmLlmTrainingConstants *self,
                                       const char                   *word)
{
  for (int i = 0; i < self->n_frozen; i++)
    {
      if (strcmp (self->frozen[i].word, word) == 0)
        return self->frozen[i].bits;
    }

  return 0;
}

/**
 * qm_llm_training_constants_find_family:
 * @self: constants
 * @device_id: of the catalog
 * @family: (out) (transfer none): the family that the device behaves like
 * @mamf: (out): the best matrix rate reached on it over its peak
 */
void
qm_llm_training_constants_find_family (const QmLlmTrainingConstants *self,
                                       const char                   *device_id,
                                       const QmLlmFamily           **family,
                                       double                       *mamf)
{
  for (int i = 0; i < self->n_devices; i++)
    {
      const QmLlmDeviceKind *device = &self->devices[i];

      if (device_id[0] == device->prefix[0] && strncmp (device_id, device->prefix, device->length) == 0)
        {
          *family = &self->families[device->family];
          *mamf = device->mamf;
          return;
        }
    }

  *family = &self->families[self->n_families - 1];
  *mamf = self->mamf;
}
