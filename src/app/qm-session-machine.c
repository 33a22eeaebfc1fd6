/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "qm-session-private.h"

static void
probed (GObject      *source,
        GAsyncResult *result,
        gpointer      data)
{
  g_autoptr (QmSession) self = data;
  g_autoptr (QmMachine) machine = qm_machine_probe_finish (result, NULL);

  if (machine != NULL)
    qm_session_set_machine (self, machine);
}

/**
 * qm_session_probe:
 * @self: a session
 * @wake: whether cards that sleep are woken; where the person asked for it
 *
 * Looks at this computer anew, in a thread; "machine-changed" tells when it is done.
 */
void
qm_session_probe (QmSession *self,
                  gboolean   wake)
{
  qm_machine_probe_async (qm_session_get_catalog (self), g_getenv ("QM_SYSROOT"), wake, NULL, probed, g_object_ref (self));
}

/**
 * qm_session_set_owned:
 * @self: a session
 * @owned: (nullable): a computer of the person's beside this one; none where %NULL
 *
 * Replaces the first that the plan names; others stay.
 */
void
qm_session_set_owned (QmSession     *self,
                      const QmOwned *owned)
{
  g_autoptr (QmPlan) changed = qm_plan_copy (self->plan);
  QmPlaces *places = &changed->places;

  if (owned != NULL)
    {
      places->owned[0] = *owned;
      places->n_owned = MAX (1, places->n_owned);
    }
  else if (places->n_owned > 0)
    {
      places->n_owned--;
      memmove (&places->owned[0], &places->owned[1], places->n_owned * sizeof places->owned[0]);
    }
  if (qm_plan_equal (changed, self->plan))
    return;

  qm_session_set_plan (self, g_steal_pointer (&changed), qm_session_get_file (self));
}
