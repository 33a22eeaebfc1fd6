/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "qm-price-fetch.h"
#include "qm-price-store.h"

G_BEGIN_DECLS

/**
 * QmPriceOutcome:
 * @name: address or file of the list
 * @provider: (nullable): whose prices they are; %NULL where that is not known
 * @offers: that it became
 * @error: (nullable): why the prices before are kept
 *
 * What became of one list.
 */
typedef struct {
  char *name;
  char *provider;
  guint offers;
  GError *error;
} QmPriceOutcome;

/**
 * QmPriceProgress:
 * @index: of the list, from 0
 * @n: how many lists
 * @name: its address
 * @received: bytes
 * @total: bytes; 0 unknown
 */
typedef struct {
  guint index;
  guint n;
  const char *name;
  guint64 received;
  guint64 total;
} QmPriceProgress;

/* called in the main context that asked */
typedef void (*QmPriceProgressFunc) (const QmPriceProgress *progress,
                                     gpointer               data);

char      **qm_price_usual_addresses (QmCatalog           *catalog);
char       *qm_price_part_path       (const char          *address);
char       *qm_price_date_of_file    (const char          *path);

void        qm_price_update_async    (QmCatalog           *catalog,
                                      const char          *shipped_directory,
                                      const char          *user_directory,
                                      const char * const  *names,
                                      QmPriceProgressFunc  progress,
                                      gpointer             progress_data,
                                      GCancellable        *cancellable,
                                      GAsyncReadyCallback  callback,
                                      gpointer             data);
GPtrArray  *qm_price_update_finish   (GAsyncResult        *result,
                                      GError             **error);

G_END_DECLS
