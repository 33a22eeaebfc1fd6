/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"

#include "history/qm-import.h"

/* Text that should be a log or an exported ledger: read, and kept in a ledger in memory. */
int
LLVMFuzzerTestOneInput (const guint8 *data,
                        gsize         size)
{
  static QmLedger *ledger;
  g_autofree char *text = g_strndup ((const char *) data, size);
  g_autoptr (GPtrArray) imported = NULL;
  g_autoptr (JsonNode) written = NULL;

  if (ledger == NULL)
    ledger = qm_ledger_open (":memory:", NULL);
  g_assert_nonnull (ledger);

  imported = qm_import_data (text, size, G_GINT64_CONSTANT (1777636800000000), NULL);
  if (imported == NULL)
    return 0;
  for (guint i = 0; i < imported->len; i++)
    {
      QmImported *one = g_ptr_array_index (imported, i);

      g_clear_pointer (&written, json_node_unref);
      written = qm_run_to_json (one->run, one->series);
    }
  qm_import_add (ledger, imported, NULL);
  return 0;
}
