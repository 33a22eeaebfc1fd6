/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Adding runs, and finding them. */

#include "ledger-fixture.h"

static inline gint64
add (Fixture    *self,
     const char *uid,
     const char *label,
     const char *device)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmRun) run = qm_run_new (uid);

  run->status = QM_RUN_STATUS_FINISHED;
  run->source = QM_RUN_SOURCE_RECORDED;
  g_set_str (&run->label, label);
  g_set_str (&run->device, device);
  qm_ledger_add (self->ledger, run, NULL, &error);
  g_assert_no_error (error);

  return run->id;
}

/* The numbers of what is found, e.g. "3 1". */
static inline char *
found (Fixture       *self,
       QmLedgerQuery  query)
{
  g_autoptr (GError) error = NULL;
  g_auto (QmLedgerPage) page = { 0 };
  GString *ids = g_string_new (NULL);

  qm_ledger_find (self->ledger, &query, &page, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < page.runs->len; i++)
    g_string_append_printf (ids, "%s%" G_GINT64_FORMAT, i > 0 ? " " : "", ((QmRun *) g_ptr_array_index (page.runs, i))->id);

  return g_string_free (ids, FALSE);
}

#define assert_found(self, expected, ...) \
  G_STMT_START { \
    g_autofree char *ids = found (self, (QmLedgerQuery) { __VA_ARGS__ }); \
    g_assert_cmpstr (ids, ==, expected); \
  } G_STMT_END
