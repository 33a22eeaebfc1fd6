/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "qm-session-private.h"

typedef struct {
  QmSession *session;
  QmCatalog *catalog;
} Asked;

static void
asked_free (Asked *self)
{
  g_object_unref (self->session);
  g_object_unref (self->catalog);
  g_free (self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Asked, asked_free)

static void
probed (GObject      *source,
        GAsyncResult *result,
        gpointer      data)
{
  g_autoptr (Asked) asked = data;
  g_autoptr (QmMachine) machine = qm_machine_probe_finish (result, NULL);

  /* Its devices are those of the catalog it was asked with. Whoever read another one
   * has asked again. */
  if (machine != NULL && asked->catalog == asked->session->catalog)
    qm_session_set_machine (asked->session, machine);
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
  Asked *asked = g_new (Asked, 1);

  asked->session = g_object_ref (self);
  asked->catalog = g_object_ref (qm_session_get_catalog (self));
  qm_machine_probe_async (asked->catalog, g_getenv ("QM_SYSROOT"), wake, NULL, probed, asked);
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
