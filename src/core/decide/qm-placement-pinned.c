/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>

#include "decide/qm-placement.h"
#include "qm-error.h"

static double
price (const QmOffer *offer)
{
  return offer->on_demand_usd_per_hour > 0 ? offer->on_demand_usd_per_hour
         : offer->spot_usd_per_hour > 0 ? offer->spot_usd_per_hour : INFINITY;
}

/* The cheapest offer that the plan allows whose machine holds exactly the devices
 * of one node. */
static const QmOffer *
cheapest_offer (QmCatalog         *catalog,
                const QmPlan      *plan,
                const QmPlacement *placement)
{
  const QmOffer *best = NULL;

  if (plan->places.on_premises == QM_TERNARY_YES)
    return NULL;

  for (guint i = 0; i < qm_catalog_n_offers (catalog); i++)
    {
      const QmOffer *offer = qm_catalog_offer (catalog, i);

      if (offer->device != placement->catalogued || MAX (1, offer->device_count) != placement->per_machine ||
          isinf (price (offer)) || !qm_offer_is_wanted (offer, plan))
        continue;
      if (best == NULL || price (offer) < price (best))
        best = offer;
    }

  return best;
}

static gboolean
take_here (const QmPlan *plan,
           const QmHere *here,
           int           devices,
           QmPlacement  *placement)
{
  int same = 0, last = 0;

  if (here == NULL || plan->places.this_computer == QM_TERNARY_NO)
    return FALSE;

  for (int i = 0; i < here->n_devices; i++)
    if (here->devices[i] == placement->catalogued)
      {
        last = i;
        same++;
      }
  if (same < devices && !(here->cpu == placement->catalogued && devices == 1))
    return FALSE;

  if (same > 0)
    qm_placement_set_measured (placement, here, last);
  placement->place = QM_PLACE_THIS_COMPUTER;
  placement->pricing = QM_PRICING_OWNED;
  placement->ram_bytes = here->ram_bytes;
  return TRUE;
}

/* Only what the person said is there. */
static gboolean
take_owned (const QmPlan *plan,
            int           devices,
            QmPlacement  *placement)
{
  for (int i = 0; i < plan->places.n_owned; i++)
    {
      const QmOwned *owned = &plan->places.owned[i];

      if (!g_str_equal (owned->device, placement->device.id) || owned->devices < devices)
        continue;
      placement->place = QM_PLACE_OWNED;
      placement->pricing = QM_PRICING_OWNED;
      placement->ram_bytes = owned->host_memory_bytes;
      return TRUE;
    }

  return FALSE;
}

static gboolean
take_offer (const QmOffer *offer,
            QmPlacement   *placement)
{
  if (offer == NULL)
    return FALSE;

  placement->place = QM_PLACE_CLOUD;
  placement->offer = offer;
  placement->ram_bytes = offer->ram_bytes;
  placement->pricing = offer->on_demand_usd_per_hour > 0 ? QM_PRICING_ON_DEMAND : QM_PRICING_SPOT;
  placement->usd_per_hour = price (offer);
  return TRUE;
}

/* The computer around it is bought with it. */
static void
take_bought (QmEstimator  *estimator,
             const QmPlan *plan,
             QmPlacement  *placement)
{
  QmEconomics economics;
  const QmHost *host;
  double usd;

  qm_economics_apply (qm_estimator_get_economics (estimator), plan, &economics);
  usd = isnan (economics.device_price_usd) ? placement->device.price_usd : economics.device_price_usd;
  host = qm_economics_host (&economics, placement->catalogued, placement->per_machine);
  if (plan->places.buy == QM_TERNARY_NO || !(usd > 0) || host == NULL)
    return;

  placement->place = QM_PLACE_BUY;
  placement->pricing = QM_PRICING_PURCHASE;
  placement->purchase_usd = usd * placement->per_machine + host->usd;
  placement->ram_bytes = host->ram_bytes;
}

static const QmDevice *
find_device (QmCatalog   *catalog,
             const char  *id,
             GError     **error)
{
  const QmDevice *device = qm_catalog_find_device (catalog, id);
  const char *nearest = device == NULL ? qm_catalog_nearest_id (catalog, "device", id) : NULL;

  if (id[0] == '\0')
    qm_error_set (error, QM_PLAN_ERROR, QM_PLAN_ERROR_MISSING, "configuration.device",
                  N_("is missing; name a device of the catalog"), NULL);
  else if (device == NULL)
    qm_error_set (error, QM_PLAN_ERROR, QM_PLAN_ERROR_VALUE, "configuration.device",
                  nearest != NULL ? N_("no device \"{word}\" is in the catalog; the nearest is \"{nearest}\"")
                                  : N_("no device \"{word}\" is in the catalog; name one of those that \"quartermaster-cli catalog list\" shows"),
                  "word", id, "nearest", nearest, NULL);

  return device;
}

/**
 * qm_placement_of_pinned:
 * @estimator: an estimator
 * @plan: a resolved plan whose configuration names a device
 * @here: (nullable): what this computer has
 * @placement: (out caller-allocates): where the configuration is to be had
 * @error: return location for an error
 *
 * The offer that the plan names; else this computer, what the person said is
 * theirs, the cheapest offer, a purchase, the first that there is and may be used.
 * Where there is none, its place is %QM_PLACE_UNSET and what it costs is unknown.
 *
 * Returns: whether the plan names a device that the catalog knows
 */
gboolean
qm_placement_of_pinned (QmEstimator   *estimator,
                        const QmPlan  *plan,
                        const QmHere  *here,
                        QmPlacement   *placement,
                        GError       **error)
{
  const QmConfiguration *pinned = &plan->configuration;
  QmCatalog *catalog = qm_estimator_get_catalog (estimator);
  const QmDevice *device = find_device (catalog, pinned->device, error);
  int devices = MAX (1, pinned->devices);

  if (device == NULL)
    return FALSE;

  *placement = (QmPlacement) { .device = *device, .catalogued = device, .per_machine = MAX (1, devices / MAX (1, pinned->nodes)) };
  if (device->n_parts > 0)
    placement->per_machine = device->n_parts;
  if (device->device_class == QM_DEVICE_CLASS_CPU && pinned->cpu_cores > 0)
    qm_placement_set_cores (placement, pinned->cpu_cores);

  if (pinned->offer[0] != '\0')
    take_offer (qm_catalog_find_offer (catalog, pinned->offer), placement);
  else if (!take_here (plan, here, devices, placement) && !take_owned (plan, devices, placement) &&
           !take_offer (cheapest_offer (catalog, plan, placement), placement))
    take_bought (estimator, plan, placement);
  if (pinned->host_memory_bytes > 0)
    placement->ram_bytes = pinned->host_memory_bytes;

  return TRUE;
}
