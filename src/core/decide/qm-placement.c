/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "decide/qm-placement.h"

#include <math.h>
#include <string.h>

#include "estimate/qm-device-view.h"

/* Virtual cores of one physical core, as clouds count them. */
#define THREADS_PER_CORE 2

/* Cards that are bought together: one, a pair, a workstation, a server. */
static const int bought_counts[] = { 1, 2, 4, 8 };

typedef struct {
  QmEstimator *estimator;
  QmCatalog *catalog;
  const QmPlan *plan;
  QmEconomics economics;            /* of the catalog and the plan */
  guint8 *limits;
  GArray *placements;
} Builder;

static gboolean
wanted (const QmWordList *list,
        const char       *word)
{
  return list->n < 0 || (word != NULL && qm_word_list_contains (list, word));
}

/* "No quota, sold out": the offer, its machine in every region, or its device. */
static gboolean
is_excluded (const QmPlan   *plan,
             const QmOffer  *offer,
             const QmDevice *device)
{
  const QmWordList *excluded = &plan->places.excluded;

  for (int i = 0; i < excluded->n; i++)
    {
      const char *word = excluded->words[i];
      gsize length = strlen (word);

      if (strcmp (word, device->id) == 0 || (offer != NULL && strncmp (offer->id, word, length) == 0 &&
                                             (offer->id[length] == '\0' || offer->id[length] == '/')))
        return TRUE;
    }

  return FALSE;
}

/**
 * qm_offer_is_wanted:
 * @offer: an offer
 * @plan: a plan
 *
 * Returns: whether it is one of whole devices that are known, and the plan allows
 *   its provider, its region and itself
 */
gboolean
qm_offer_is_wanted (const QmOffer *offer,
                    const QmPlan  *plan)
{
  const QmPlaces *places = &plan->places;

  /* A slice of a GPU is another device than the whole; nothing is known of its speed. */
  if (offer->device == NULL || offer->device->is_unknown || (offer->device_count > 0 && offer->device_count < 1))
    return FALSE;

  return wanted (&places->cloud, offer->provider) && wanted (&places->regions, offer->region) &&
         !is_excluded (plan, offer, offer->device);
}

static void
note_limit (Builder        *self,
            const QmDevice *device,
            QmLimit         limit)
{
  int index = qm_catalog_device_index (self->catalog, device);

  if (index >= 0 && self->limits[index] == QM_LIMIT_NONE)
    self->limits[index] = limit;
}

/**
 * qm_placement_set_cores:
 * @placement: (inout): on a processor
 * @cores: how many of its cores may be used; from 1 on
 *
 * Some cores are a part of the processor: so is what they compute, and up to
 * twice their share of what it reads.
 */
void
qm_placement_set_cores (QmPlacement *placement,
                        int          cores)
{
  QmDevice *device = &placement->device;
  double share = device->cpu_cores > 0 ? (double) cores / device->cpu_cores : 1;

  placement->cpu_cores = cores;
  device->cpu_cores = cores;
  device->tflops_fp64 *= share;
  device->tflops_fp32 *= share;
  device->tflops_fp16 *= share;
  device->tflops_bf16 *= share;
  device->tflops_fp8 *= share;
  device->tflops_int8 *= share;
  device->bandwidth_bytes_per_second *= share > 1 ? share : MIN (1, 2 * share);
  device->power_watts *= share;
}

/* A CPU's device memory is the memory of its machine. */
static void
set_memory (QmPlacement *placement,
            double       ram_bytes)
{
  placement->ram_bytes = ram_bytes;
  if (placement->device.device_class != QM_DEVICE_CLASS_CPU)
    return;

  placement->device.memory_bytes = ram_bytes;
  placement->device.usable_bytes = ram_bytes * 0.95;
}

static QmPlacement
placement_new (const QmDevice *device,
               int             per_machine,
               QmPlace         place,
               QmPricing       pricing)
{
  QmPlacement placement = { 0 };

  placement.device = *device;
  placement.catalogued = device;
  placement.per_machine = per_machine;
  placement.place = place;
  placement.pricing = pricing;
  placement.cpu_cores = device->device_class == QM_DEVICE_CLASS_CPU ? device->cpu_cores : 0;

  return placement;
}

/* Cards of one maker that differ work together too. */
static void
add_mix (Builder      *self,
         const QmHere *here)
{
  g_autoptr (GString) id = g_string_new (NULL);
  const QmDevice *mix;
  gboolean differ = FALSE;

  for (int i = 0; i < here->n_devices; i++)
    {
      if (here->devices[i] == NULL || here->devices[i]->unified_memory)
        continue;
      differ |= id->len > 0 && !g_str_equal (here->devices[i]->id, id->str) && strstr (id->str, here->devices[i]->id) == NULL;
      g_string_append_printf (id, "%s%s", id->len > 0 ? "+" : "", here->devices[i]->id);
    }
  mix = differ ? qm_catalog_find_device (self->catalog, id->str) : NULL;
  if (mix != NULL)
    {
      QmPlacement placement = placement_new (mix, mix->n_parts, QM_PLACE_THIS_COMPUTER, QM_PRICING_OWNED);

      placement.max_machines = 1;
      placement.host_cores = here->cpu_cores;
      placement.ram_bytes = here->ram_bytes;
      g_array_append_val (self->placements, placement);
    }
}

/* Of two figures of which 0 says nothing. */
static double
least_known (double a,
             double b)
{
  return a > 0 && b > 0 ? MIN (a, b) : MAX (a, b);
}

/**
 * qm_placement_set_measured:
 * @placement: (inout): on a card of this computer
 * @here: what this computer has
 * @k: index of the card, the last of those that work together
 *
 * What the k-th of equal cards and those before it have in common: the least that is
 * known.
 */
void
qm_placement_set_measured (QmPlacement  *placement,
                           const QmHere *here,
                           int           k)
{
  double power = here->power_watts[k];

  placement->free_bytes = here->free_bytes[k];
  for (int j = 0; j < k; j++)
    if (here->devices[j] == here->devices[k])
      {
        placement->free_bytes = least_known (placement->free_bytes, here->free_bytes[j]);
        power = least_known (power, here->power_watts[j]);
      }
  placement->power_watts = power;
  qm_device_view_limited (here->devices[k], power, &placement->device);
  if (here->usable_bytes[k] > 0)
    placement->device.usable_bytes = here->usable_bytes[k];
}

static void
add_this_computer (Builder      *self,
                   const QmHere *here)
{
  if (here == NULL)
    return;

  for (int i = 0; i < here->n_devices; i++)
    {
      QmPlacement placement;
      int same = 0;

      if (here->devices[i] == NULL)
        continue;
      /* Equal cards work together: the k-th of a kind stands for k of them. */
      for (int j = 0; j <= i; j++)
        same += here->devices[j] == here->devices[i];

      placement = placement_new (here->devices[i], same, QM_PLACE_THIS_COMPUTER, QM_PRICING_OWNED);
      qm_placement_set_measured (&placement, here, i);
      placement.max_machines = 1;
      placement.ram_bytes = here->ram_bytes;
      g_array_append_val (self->placements, placement);
    }

  add_mix (self, here);

  if (here->cpu != NULL)
    {
      QmPlacement placement = placement_new (here->cpu, 1, QM_PLACE_THIS_COMPUTER, QM_PRICING_OWNED);

      if (here->cpu_cores > 0)
        qm_placement_set_cores (&placement, here->cpu_cores);
      placement.max_machines = 1;
      set_memory (&placement, here->ram_bytes);
      g_array_append_val (self->placements, placement);
    }
}

/* The person may know it of the device that is planned, where it is not rented. */
static double
ram_of (const Builder  *self,
        const QmDevice *device,
        double          known)
{
  const QmConfiguration *pinned = &self->plan->configuration;

  return pinned->host_memory_bytes > 0 && strcmp (device->id, pinned->device) == 0 ? pinned->host_memory_bytes : known;
}

/* Each of the cards alone, and all together. */
static void
add_owned_mix (Builder        *self,
               const QmDevice *mix,
               int             nodes,
               double          ram_bytes)
{
  QmPlacement placement = placement_new (mix, mix->n_parts, QM_PLACE_OWNED, QM_PRICING_OWNED);

  placement.max_machines = nodes;
  placement.ram_bytes = ram_bytes;
  g_array_append_val (self->placements, placement);
  for (int i = 0; i < mix->n_parts; i++)
    {
      QmPlacement alone = placement_new (mix->parts[i], 1, QM_PLACE_OWNED, QM_PRICING_OWNED);

      alone.max_machines = 1;
      alone.ram_bytes = ram_bytes;
      if (i == 0 || mix->parts[i] != mix->parts[i - 1])
        g_array_append_val (self->placements, alone);
    }
}

static void
add_owned (Builder *self)
{
  const QmPlaces *places = &self->plan->places;

  for (int i = 0; i < places->n_owned; i++)
    {
      const QmOwned *owned = &places->owned[i];
      const QmDevice *device = qm_catalog_find_device (self->catalog, owned->device);
      int nodes = MAX (1, owned->nodes);
      int per_machine = MAX (1, owned->devices / nodes);

      if (device != NULL && device->n_parts > 0)
        {
          add_owned_mix (self, device, nodes, ram_of (self, device, owned->host_memory_bytes));
          continue;
        }
      for (int n = 1; device != NULL && n <= per_machine; n = n < per_machine ? MIN (2 * n, per_machine) : n + 1)
        {
          QmPlacement placement = placement_new (device, n, QM_PLACE_OWNED, QM_PRICING_OWNED);

          placement.max_machines = n == per_machine ? nodes : 1;
          placement.ram_bytes = ram_of (self, device, owned->host_memory_bytes);
          g_array_append_val (self->placements, placement);
        }
    }
}

/* What one costs, new; the person may know it of the device that is planned. */
static double
price_of (const Builder  *self,
          const QmDevice *device)
{
  if (!isnan (self->economics.device_price_usd) && strcmp (device->id, self->plan->configuration.device) == 0)
    return self->economics.device_price_usd;

  return device->price_usd;
}

static void
add_bought (Builder *self)
{
  const QmEconomics *economics = &self->economics;

  for (guint i = 0; i < qm_catalog_n_devices (self->catalog); i++)
    {
      const QmDevice *device = qm_catalog_device (self->catalog, i);

      double price = price_of (self, device);

      if (!(price > 0) || is_excluded (self->plan, NULL, device))
        continue;
      /* Whoever names a price can have it. */
      if (price == device->price_usd && (g_strcmp0 (device->status, "announced") == 0 || device->launch_year < economics->oldest_sold_year))
        continue;

      for (guint j = 0; j < G_N_ELEMENTS (bought_counts); j++)
        {
          const QmHost *host = qm_economics_host (economics, device, bought_counts[j]);
          QmPlacement placement;

          if (host == NULL || bought_counts[j] < device->sold_in)
            continue;
          placement = placement_new (device, bought_counts[j], QM_PLACE_BUY, QM_PRICING_PURCHASE);
          placement.purchase_usd = price * bought_counts[j] + host->usd;
          placement.max_machines = 1;
          set_memory (&placement, ram_of (self, device, host->ram_bytes));
          g_array_append_val (self->placements, placement);
        }
    }
}

static void
add_offer (Builder       *self,
           const QmOffer *offer,
           QmPricing      pricing,
           double         usd_per_hour)
{
  QmPlacement placement;
  int count = MAX (1, (int) offer->device_count);

  if (!(usd_per_hour > 0))
    return;
  if (pricing == QM_PRICING_ON_DEMAND && self->economics.committed_discount > 0)
    {
      pricing = QM_PRICING_COMMITTED;
      usd_per_hour *= 1 - self->economics.committed_discount;
    }

  placement = placement_new (offer->device, count, QM_PLACE_CLOUD, pricing);
  placement.offer = offer;
  placement.usd_per_hour = usd_per_hour;
  placement.max_machines = g_strcmp0 (offer->kind, "marketplace") == 0 || g_strcmp0 (offer->kind, "serverless") == 0 ? 1 : 64;
  if (placement.cpu_cores > 0 && offer->vcpus > 0)
    qm_placement_set_cores (&placement, MAX (1, offer->vcpus / THREADS_PER_CORE));
  placement.host_cores = (offer->vcpus + THREADS_PER_CORE - 1) / THREADS_PER_CORE;
  placement.host_network_bits_per_second = offer->network_bits_per_second;
  set_memory (&placement, offer->ram_bytes);
  if (offer->network_bits_per_second > 0 && offer->device->vendor != QM_VENDOR_GOOGLE)
    g_snprintf (placement.interconnect, sizeof placement.interconnect, "network-%d",
                (int) (offer->network_bits_per_second / 1e9));
  g_array_append_val (self->placements, placement);
}

static void
add_cloud (Builder *self)
{
  const QmPlaces *places = &self->plan->places;

  for (guint i = 0; i < qm_catalog_n_offers (self->catalog); i++)
    {
      const QmOffer *offer = qm_catalog_offer (self->catalog, i);
      gboolean priced = offer->on_demand_usd_per_hour > 0 || offer->spot_usd_per_hour > 0;

      if (!qm_offer_is_wanted (offer, self->plan))
        continue;
      if (!priced)
        note_limit (self, offer->device, QM_LIMIT_NO_PRICE);

      if (places->spot != QM_SPOT_PREFERRED || !(offer->spot_usd_per_hour > 0))
        add_offer (self, offer, QM_PRICING_ON_DEMAND, offer->on_demand_usd_per_hour);
      if (places->spot != QM_SPOT_NEVER)
        add_offer (self, offer, QM_PRICING_SPOT, offer->spot_usd_per_hour);
    }
}

static void
note_where_nothing_is_to_be_had (Builder *self)
{
  guint n = qm_catalog_n_devices (self->catalog);
  g_autofree gboolean *there = g_new0 (gboolean, n);

  for (guint i = 0; i < self->placements->len; i++)
    {
      int index = qm_catalog_device_index (self->catalog, g_array_index (self->placements, QmPlacement, i).catalogued);

      if (index >= 0)
        there[index] = TRUE;
    }

  for (guint i = 0; i < n; i++)
    {
      const QmDevice *device = qm_catalog_device (self->catalog, i);

      if (there[i])
        self->limits[i] = QM_LIMIT_NONE;
      else if (self->limits[i] == QM_LIMIT_NONE)
        self->limits[i] = device->price_usd > 0 ? QM_LIMIT_PLACE : QM_LIMIT_NO_PRICE;
    }
}

/**
 * qm_placements_list:
 * @estimator: an estimator
 * @resolved: a plan
 * @here: (nullable): what this computer has
 * @device_limits: (out caller-allocates) (array): a #QmLimit for each device of
 *   the catalog: %QM_LIMIT_NONE where it is to be had
 *
 * Returns: (transfer full) (element-type QmPlacement): every kind of machine
 *   that the person's answers allow
 */
GArray *
qm_placements_list (QmEstimator      *estimator,
                    const QmResolved *resolved,
                    const QmHere     *here,
                    guint8           *device_limits)
{
  const QmPlan *plan = resolved->plan;
  Builder self = { .estimator = estimator, .catalog = qm_estimator_get_catalog (estimator), .plan = plan, .limits = device_limits };

  qm_economics_apply (qm_estimator_get_economics (estimator), plan, &self.economics);
  /* on demand and spot, and a few more to buy: an array that grows is moved each time */
  self.placements = g_array_sized_new (FALSE, FALSE, sizeof (QmPlacement), 2 * qm_catalog_n_offers (self.catalog) + 64);

  if (plan->places.this_computer != QM_TERNARY_NO)
    add_this_computer (&self, here);
  add_owned (&self);
  if (plan->places.buy != QM_TERNARY_NO)
    add_bought (&self);
  if (plan->places.on_premises != QM_TERNARY_YES)
    add_cloud (&self);

  note_where_nothing_is_to_be_had (&self);

  return self.placements;
}
