/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-recommendation.h"

G_BEGIN_DECLS

/**
 * QmPlacement:
 * @device: a copy of the catalog's, with the memory that is there for the job
 * @catalogued: the catalog's own record
 * @per_machine: devices of one machine
 * @usd_per_hour: of one machine; 0 where it is the person's
 * @purchase_usd: of one machine; 0 where nothing is bought
 * @local: of this computer or owned: the machines that are there; 0 no bound
 *
 * A kind of machine, and the terms on which it is to be had.
 */
typedef struct {
  QmDevice device;
  const QmDevice *catalogued;
  int per_machine;
  int max_machines;
  QmPlace place;
  const QmOffer *offer;
  QmPricing pricing;
  double usd_per_hour;
  double purchase_usd;
  int cpu_cores;
  int host_cores;                   /* of one machine; 0 unknown, as the next */
  double host_network_bits_per_second;
  double ram_bytes;
  double free_bytes;                /* of this computer's device, just now; 0 unknown */
  double power_watts;               /* that its driver lets it draw; 0 unknown */
  QmWord interconnect;              /* between machines; "" as usual */
} QmPlacement;

/* Every machine that may be used for the plan. Devices that are to be had
 * nowhere, or only where the person does not want them, go to @rejected with
 * %QM_LIMIT_PLACE or %QM_LIMIT_NO_PRICE, one bit per device index of the catalog. */
GArray *qm_placements_list (QmEstimator      *estimator,
                            const QmResolved *resolved,
                            const QmHere     *here,
                            guint8           *device_limits);
gboolean qm_placement_of_pinned (QmEstimator   *estimator,
                                 const QmPlan  *plan,
                                 const QmHere  *here,
                                 QmPlacement   *placement,
                                 GError       **error);
gboolean qm_offer_is_wanted (const QmOffer *offer,
                             const QmPlan  *plan);
void qm_placement_set_measured (QmPlacement  *placement,
                                const QmHere *here,
                                int           k);
void qm_placement_set_cores (QmPlacement *placement,
                             int          cores);

G_END_DECLS
