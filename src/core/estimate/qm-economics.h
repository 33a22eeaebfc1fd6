/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <json-glib/json-glib.h>

#include "hardware/qm-device.h"
#include "plan/qm-plan.h"

G_BEGIN_DECLS

#define QM_MAX_HOSTS 16
#define QM_MAX_STARTS 16

/* A computer to put bought devices into. */
typedef struct {
  guint classes;                    /* bit 1 << QmDeviceClass */
  int up_to_devices;
  double usd;
  double ram_bytes;
} QmHost;

/* How engines start. The last of them is for all that no other names. */
typedef struct {
  JsonArray *engines;               /* of words */
  double image_bytes;               /* unpacked */
  double seconds;                   /* imports, compilation, graphs */
  double seconds_per_layer;
} QmEngineStart;

/**
 * QmEconomics:
 *
 * What money, power and time cost beside the rent: the figures of
 * `economics.json`, each with source and date there.
 */
typedef struct {
  double electricity_usd_per_kwh;
  double carbon_kg_per_kwh;
  double power_share;
  double idle_power_share;
  double host_watts;
  double amortisation_months;
  double hours_per_month;
  double start_up_seconds;
  double boot_seconds;              /* of a service's machine, as the next two */
  double image_bytes_per_second;
  double start_spread;
  double oldest_sold_year;
  double small_money_usd;
  double small_hours;
  double weight_of_time;
  double weight_of_point;
  double hurdle_devices;
  double hurdle_machines;
  double hurdle_replicas;
  double hurdle_stack;
  double hurdle_framework;
  double hurdle_old;
  double hurdle_arm_host;
  double hurdle_spot;
  double hurdle_marketplace;
  double hurdle_small_provider;
  double hurdle_purchase;
  double hurdle_home_service;
  double hurdle_unreliable_service;
  double hurdle_gpu_service;
  double hurdle_gpu_table;
  double hurdle_offload;
  double hurdle_late;
  double hurdle_tight;
  double hurdle_there;
  double hurdle_change;
  double idle_hours;                /* paid for nothing: failed starts, forgotten machines */
  double spot_interruptions_per_hour;
  double checkpoint_seconds;
  double restart_seconds;
  double mean_hours_between_failures;
  double prototype_share;
  double prototype_runs;
  double development_runs;
  double cooling_factor;
  double resale_share;
  double stale_months;
  QmHost hosts[QM_MAX_HOSTS];
  int n_hosts;
  QmEngineStart starts[QM_MAX_STARTS];
  int n_starts;                     /* 0: a person's own file that lacks them */
  JsonArray *large_providers;       /* of provider ids */
  JsonObject *currencies;           /* units of each per USD */
  char *currencies_as_of;
  char *currencies_source;
  JsonObject *egress;               /* (nullable): USD per GB by provider */
  JsonObject *carbon;               /* (nullable): the table of carbon intensities */

  /* what a plan adds, see qm_economics_apply(); borrowed from it */
  const char *own_currency;         /* (nullable): whose rate is the person's own */
  const char *own_rate_as_of;       /* "" where not said */
  double own_per_usd;
  double own_carbon_kg_per_kwh;     /* NaN: the average */
  double committed_discount;        /* of on-demand prices */
  double failed_seconds;            /* of @start_up_seconds, those of starts that fail */
  double upload_seconds;            /* of @start_up_seconds, those of bringing the data */
  double paid_idle_hours;           /* of a rented machine, after the job */
  double stored_gb;
  double storage_usd_per_gb_month;
  double sent_gb;
  double egress_usd_per_gb;         /* NaN: the provider's */
  double use_hours_per_month;       /* of what is bought; NaN unknown */
  double device_price_usd;          /* of the plan's device; NaN: the catalog's */
} QmEconomics;

/* What a carbon intensity is of. */
typedef enum {
  QM_CARBON_WORLD,
  QM_CARBON_COUNTRY,
  QM_CARBON_REGION,
  QM_CARBON_OWN,
} QmCarbonBasis;

/**
 * QmExchangeRate:
 * @per_usd: how much of the currency one US dollar buys
 * @as_of: when; "" unknown
 * @source: (nullable): from where; %NULL where the person set it
 */
typedef struct {
  double per_usd;
  const char *as_of;
  const char *source;
} QmExchangeRate;

QmEconomics *qm_economics_new         (JsonNode          *node,
                                       GError           **error);
void         qm_economics_free        (QmEconomics       *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmEconomics, qm_economics_free)

gboolean     qm_economics_set_carbon  (QmEconomics       *self,
                                       JsonNode          *node,
                                       GError           **error);
void         qm_economics_apply       (const QmEconomics *self,
                                       const QmPlan      *plan,
                                       QmEconomics       *applied);

double       qm_economics_per_usd     (const QmEconomics *self,
                                       const char        *currency);
gboolean     qm_economics_rate        (const QmEconomics *self,
                                       const char        *currency,
                                       QmExchangeRate    *rate);
double       qm_economics_carbon      (const QmEconomics *self,
                                       const QmOffer     *offer,
                                       QmCarbonBasis     *basis);
double       qm_economics_carbon_of   (const QmEconomics *self,
                                       const char        *country);
double       qm_economics_egress      (const QmEconomics *self,
                                       const char        *provider);
const QmHost *qm_economics_host       (const QmEconomics *self,
                                       const QmDevice    *device,
                                       int                devices);
const QmEngineStart *qm_economics_start (const QmEconomics *self,
                                       const char        *engine);
gboolean     qm_economics_is_large_provider (const QmEconomics *self,
                                       const char        *provider);

G_END_DECLS
