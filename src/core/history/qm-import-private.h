/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "history/qm-import.h"

G_BEGIN_DECLS

/**
 * QmImportFile:
 * @data: UTF-8, ended by a NUL
 * @sum: of @data: what is imported a second time has the same uid
 * @modified: microseconds since 1970, for what says nothing of its time
 */
typedef struct {
  const char *data;
  gsize length;
  const char *sum;
  gint64 modified;
} QmImportFile;

QmRun     *qm_import_new_run       (const QmImportFile *file,
                                    guint               index,
                                    QmRunSource         source);
void       qm_import_take          (GPtrArray          *imported,
                                    QmRun              *run,
                                    QmSeries           *series);
void       qm_import_refuse        (GError            **error,
                                    QmImportError       code,
                                    int                 line,
                                    const char         *msgid,
                                    ...) G_GNUC_NULL_TERMINATED;
JsonNode  *qm_import_parse         (const char         *data,
                                    gsize               length,
                                    GError            **error);

/* each returns FALSE with @error set, or adds to @imported */
gboolean   qm_import_own_json      (const QmImportFile *file,
                                    JsonNode           *root,
                                    GPtrArray          *imported,
                                    GError            **error);
gboolean   qm_import_own_csv       (const QmImportFile *file,
                                    GPtrArray          *imported,
                                    GError            **error);
gboolean   qm_import_watched       (const QmImportFile *file,
                                    GPtrArray          *imported,
                                    GError            **error);
gboolean   qm_import_nvidia_smi    (const QmImportFile *file,
                                    GPtrArray          *imported,
                                    GError            **error);
gboolean   qm_import_trainer_state (const QmImportFile *file,
                                    JsonNode           *root,
                                    GPtrArray          *imported,
                                    GError            **error);
gboolean   qm_import_llama_bench   (const QmImportFile *file,
                                    JsonNode           *root,
                                    GPtrArray          *imported,
                                    GError            **error);
gboolean   qm_import_trace         (const QmImportFile *file,
                                    GPtrArray          *imported,
                                    GError            **error);
gboolean   qm_import_tables        (const QmImportFile *file,
                                    JsonNode           *root,
                                    GPtrArray          *imported,
                                    GError            **error);

/* members of an object; NULL and NaN where they are not there or of another type */
const char *qm_import_text         (JsonObject         *object,
                                    const char         *name);
double      qm_import_number       (JsonObject         *object,
                                    const char         *name);
JsonArray  *qm_import_array        (JsonObject         *object,
                                    const char         *name);
JsonObject *qm_import_object       (JsonObject         *object,
                                    const char         *name);

QmRun     *qm_run_from_json        (JsonObject         *object,
                                    QmSeries          **series,
                                    GError            **error);

char      *qm_time_to_text         (gint64              time);
gboolean   qm_time_from_text       (const char         *text,
                                    gint64             *time);

G_END_DECLS
