/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "qm-price-list.h"

G_BEGIN_DECLS

/**
 * QmPriceSource:
 * @text: (array length=length): the list
 * @name: what the offers name as their source
 * @provider: (nullable): whose it is; %NULL to go by @name
 * @as_of: when the prices held, ISO 8601
 * @regions: (nullable): of which regions; see qm_price_list_to_offers()
 */
typedef struct {
  const char *text;
  gsize length;
  const char *name;
  const char *provider;
  const char *as_of;
  const char * const *regions;
} QmPriceSource;

/**
 * QmOwnPrices:
 * @provider: whose prices they are
 * @as_of: when they held, ISO 8601; "" unknown
 * @source: where they are from
 * @offers: how many
 *
 * A list that is part of a person's catalog.
 */
typedef struct {
  char *provider;
  char *as_of;
  char *source;
  guint offers;
} QmOwnPrices;

GPtrArray *qm_own_prices_list   (const char *user_directory);
gboolean   qm_own_prices_remove (const char *user_directory,
                                 const char *provider,
                                 GError    **error);

gboolean qm_price_store (QmCatalog           *catalog,
                         const char          *shipped_directory,
                         const char          *user_directory,
                         const QmPriceSource *source,
                         QmPriceSummary      *summary,
                         char               **path,
                         GError             **error);

G_END_DECLS
