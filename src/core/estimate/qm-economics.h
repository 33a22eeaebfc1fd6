/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <json-glib/json-glib.h>

#include "hardware/qm-device.h"

G_BEGIN_DECLS

#define QM_MAX_HOSTS 16

/* A computer to put bought devices into. */
typedef struct {
  guint classes;                    /* bit 1 << QmDeviceClass */
  int up_to_devices;
  double usd;
  double ram_bytes;
} QmHost;

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
  double host_watts;
  double amortisation_months;
  double hours_per_month;
  double start_up_seconds;
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
  QmHost hosts[QM_MAX_HOSTS];
  int n_hosts;
  JsonArray *large_providers;       /* of provider ids */
  JsonObject *currencies;           /* units of each per USD */
  char *currencies_as_of;
} QmEconomics;

QmEconomics *qm_economics_new         (JsonNode          *node,
                                       GError           **error);
void         qm_economics_free        (QmEconomics       *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmEconomics, qm_economics_free)

double       qm_economics_per_usd     (const QmEconomics *self,
                                       const char        *currency);
const QmHost *qm_economics_host       (const QmEconomics *self,
                                       const QmDevice    *device,
                                       int                devices);
gboolean     qm_economics_is_large_provider (const QmEconomics *self,
                                       const char        *provider);

G_END_DECLS
