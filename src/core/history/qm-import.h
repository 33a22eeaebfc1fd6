/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "hardware/qm-catalog.h"
#include "history/qm-ledger.h"
#include "history/qm-run.h"
#include "history/qm-series.h"

G_BEGIN_DECLS

#define QM_IMPORT_ERROR (qm_import_error_quark ())

/**
 * QmImportError:
 * @QM_IMPORT_ERROR_FORMAT: the file is none of those that can be read
 * @QM_IMPORT_ERROR_SYNTAX: it is broken off or badly formed
 * @QM_IMPORT_ERROR_VALUE: something in it cannot be
 * @QM_IMPORT_ERROR_TOO_LARGE: it is larger than is read
 */
typedef enum {
  QM_IMPORT_ERROR_FORMAT,
  QM_IMPORT_ERROR_SYNTAX,
  QM_IMPORT_ERROR_VALUE,
  QM_IMPORT_ERROR_TOO_LARGE,
} QmImportError;

GQuark     qm_import_error_quark  (void);

/* A run, and what was measured over its time. */
typedef struct {
  QmRun *run;
  QmSeries *series;                 /* (nullable) */
} QmImported;

void       qm_imported_free       (QmImported   *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmImported, qm_imported_free)

GPtrArray *qm_import_read         (const char   *path,
                                   GError      **error);
GPtrArray *qm_import_data         (const char   *data,
                                   gsize         length,
                                   gint64        modified,
                                   GError      **error);
void       qm_import_name_devices (GPtrArray    *imported,
                                   QmCatalog    *catalog);
int        qm_import_add          (QmLedger     *ledger,
                                   GPtrArray    *imported,
                                   GError      **error);

char      *qm_export_json         (QmLedger     *ledger,
                                   GError      **error);
char      *qm_export_csv          (QmLedger     *ledger,
                                   GError      **error);

/* one run as an object, with its series where @series is not NULL */
JsonNode  *qm_run_to_json         (const QmRun  *run,
                                   const QmSeries *series);

G_END_DECLS
