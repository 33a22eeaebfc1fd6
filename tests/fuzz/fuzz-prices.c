/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"

#include "qm-price-list.h"

/* Text that should be a price list, made into offers of the shipped devices. */
int
LLVMFuzzerTestOneInput (const guint8 *data,
                        gsize         size)
{
  static QmCatalog *catalog;
  g_autofree char *text = g_strndup ((const char *) data, size);
  g_autoptr (QmPriceList) list = NULL;
  g_autoptr (JsonNode) offers = NULL;
  QmPriceSummary summary = { 0 };

  if (catalog == NULL)
    catalog = qm_catalog_load (fuzz_catalog (), NULL, NULL);
  g_assert_nonnull (catalog);

  list = qm_price_list_parse (catalog, text, size, "aws", NULL);
  if (list == NULL)
    return 0;
  offers = qm_price_list_to_offers (list, catalog, NULL, "a list", "2026-11-30", &summary, NULL);
  qm_price_summary_clear (&summary);
  return 0;
}
