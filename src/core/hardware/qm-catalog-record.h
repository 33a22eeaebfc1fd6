/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "qm-json-box.h"

G_BEGIN_DECLS

/* One file of a catalog folder, parsed. */
typedef struct {
  char *path;                       /* to open it */
  char *shown;                      /* as error messages call it */
  char *stem;                       /* "devices" of devices.json */
  char *text;                       /* to tell lines of; NULL once the catalog is loaded */
  JsonNode *root;                   /* of @tree; NULL once all of it is in records */
  QmJsonBox *tree;
  GStringChunk *strings;            /* of the catalog: what records say, kept longer than @tree */
  const char *format;               /* (nullable): "quartermaster-devices" ... */
  JsonObject *sources;              /* (nullable): key → text and date of a source */
  gboolean is_users;
} QmCatalogFile;

QmCatalogFile *qm_catalog_file_read     (const char     *path,
                                         gboolean        is_users,
                                         GStringChunk   *strings,
                                         GError        **error);
void           qm_catalog_file_free     (QmCatalogFile  *self);
void           qm_catalog_file_forget   (QmCatalogFile  *self,
                                         gboolean        whole);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmCatalogFile, qm_catalog_file_free)

guint          qm_catalog_file_line     (QmCatalogFile  *self,
                                         const char     *array,
                                         guint           index,
                                         const char     *field);
JsonArray     *qm_catalog_file_records  (QmCatalogFile  *self,
                                         const char     *array,
                                         GError        **error);

/* A reader of one record. The first error sticks, so that a reader of many
 * fields asks once, at its end. */
typedef struct {
  QmCatalogFile *file;
  const char *array;                /* the member that holds the records */
  guint index;                      /* of this record among them */
  const char *inside;               /* (nullable): the member that @object is the value of */
  JsonObject *object;
  GError **error;
  gboolean failed;
} QmRecord;

gboolean       qm_record_open           (QmRecord       *self,
                                         QmCatalogFile  *file,
                                         const char     *array,
                                         guint           index,
                                         JsonNode       *node,
                                         GError        **error);
gboolean       qm_record_open_inside    (QmRecord       *self,
                                         const char     *field,
                                         QmRecord       *inside);
void           qm_record_close_inside   (QmRecord       *self,
                                         QmRecord       *inside);
void           qm_record_fail           (QmRecord       *self,
                                         int             code,
                                         const char     *field,
                                         const char     *msgid,
                                         ...) G_GNUC_NULL_TERMINATED;
double         qm_record_number         (QmRecord       *self,
                                         const char     *field,
                                         double          missing);
const char    *qm_record_string         (QmRecord       *self,
                                         const char     *field);
const char    *qm_record_require_string (QmRecord       *self,
                                         const char     *field);
gboolean       qm_record_boolean        (QmRecord       *self,
                                         const char     *field);
void           qm_record_strings        (QmRecord       *self,
                                         const char     *field,
                                         GPtrArray      *strings);
int            qm_record_word           (QmRecord       *self,
                                         const char     *field,
                                         GType           type);
const char    *qm_record_source         (QmRecord       *self,
                                         const char     *field,
                                         const char    **as_of);

G_END_DECLS
