/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "hardware/qm-catalog.h"

G_BEGIN_DECLS

#define QM_PRICES_ERROR (qm_prices_error_quark ())

/**
 * QmPricesError:
 * @QM_PRICES_ERROR_FORMAT: no price list that is known
 * @QM_PRICES_ERROR_PROVIDER: nothing says whose prices they are
 * @QM_PRICES_ERROR_EMPTY: no row of it is of use
 * @QM_PRICES_ERROR_OFFLINE: there is no network, or the server is not to be found
 * @QM_PRICES_ERROR_SERVER: it answers with an error, or breaks off
 * @QM_PRICES_ERROR_TOO_LARGE: it is larger than a price list can be
 * @QM_PRICES_ERROR_INSECURE: not an https address
 * @QM_PRICES_ERROR_TOO_SLOW: nothing came for a long time
 */
typedef enum {
  QM_PRICES_ERROR_FORMAT,
  QM_PRICES_ERROR_PROVIDER,
  QM_PRICES_ERROR_EMPTY,
  QM_PRICES_ERROR_OFFLINE,
  QM_PRICES_ERROR_SERVER,
  QM_PRICES_ERROR_TOO_LARGE,
  QM_PRICES_ERROR_INSECURE,
  QM_PRICES_ERROR_TOO_SLOW,
} QmPricesError;

GQuark qm_prices_error_quark (void);

/* One price, as a list has it, after its own mistakes are mended. */
typedef struct {
  char *instance;
  char *accelerator;
  char *region;
  double count;                     /* of accelerators; 0 none */
  double vcpus;                     /* 0 unknown, and so the next */
  double ram_gib;
  double memory_gib;                /* of one accelerator */
  double usd_per_hour;              /* NaN unknown */
  double spot_usd_per_hour;         /* NaN unknown */
} QmPriceRow;

/**
 * QmPriceList:
 * @provider: its id in the catalog
 * @rows: (element-type QmPriceRow)
 * @skipped: rows without a price
 */
typedef struct {
  char *provider;
  GPtrArray *rows;
  guint skipped;
} QmPriceList;

QmPriceList *qm_price_list_parse     (QmCatalog    *catalog,
                                      const char   *text,
                                      gsize         length,
                                      const char   *provider,
                                      GError      **error);
void         qm_price_list_free      (QmPriceList  *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmPriceList, qm_price_list_free)

char        *qm_price_provider       (QmCatalog    *catalog,
                                      const char   *path);

/**
 * QmPriceSummary:
 * @offers: that the list became
 * @unknown: rows whose accelerator is no device of the catalog
 * @names: (element-type utf8): what those are called, each once
 */
typedef struct {
  guint offers;
  guint unknown;
  GPtrArray *names;
} QmPriceSummary;

JsonNode    *qm_price_list_to_offers (QmPriceList        *self,
                                      QmCatalog          *catalog,
                                      const char * const *regions,
                                      const char         *source,
                                      const char         *as_of,
                                      QmPriceSummary     *summary,
                                      GError            **error);
void         qm_price_summary_clear  (QmPriceSummary     *self);

G_END_DECLS
