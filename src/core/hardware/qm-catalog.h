/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <json-glib/json-glib.h>

#include "qm-json-box.h"

#include "hardware/qm-device.h"
#include "model/qm-model.h"

G_BEGIN_DECLS

#define QM_CATALOG_ERROR (qm_catalog_error_quark ())

typedef enum {
  QM_CATALOG_ERROR_SYNTAX,
  QM_CATALOG_ERROR_TYPE,
  QM_CATALOG_ERROR_VALUE,
  QM_CATALOG_ERROR_MISSING,
  QM_CATALOG_ERROR_DUPLICATE,
  QM_CATALOG_ERROR_REFERENCE,
} QmCatalogError;

GQuark qm_catalog_error_quark (void);

#define QM_TYPE_CATALOG (qm_catalog_get_type ())
G_DECLARE_FINAL_TYPE (QmCatalog, qm_catalog, QM, CATALOG, GObject)

/**
 * QmModelEntry:
 *
 * One model of the catalog. Transformer-like ones have what their config.json would
 * hold; the vision entries have their figures instead.
 */
typedef struct {
  const char *id;
  const char *name;
  QmTask task;
  double parameters;                /* NAN where the entry does not say */
  double image_size;                /* 0 for models of other things */
  gboolean has_config;
  const char *text;                 /* the whole entry, see qm_model_entry_parse() */
  const char * const *aliases;      /* NULL-terminated */
  const char *source;               /* where the figures are from, written out */
} QmModelEntry;

QmJsonBox           *qm_model_entry_parse     (const QmModelEntry *self);

QmCatalog           *qm_catalog_load          (const char *shipped_directory,
                                               const char *user_directory,
                                               GError    **error);

QmCatalog           *qm_catalog_load_table    (const char *shipped_directory,
                                               const char *user_directory,
                                               const char *name,
                                               GError    **error);

QmCatalog           *qm_catalog_load_model    (const char *shipped_directory,
                                               const char *user_directory,
                                               const char *id,
                                               const char *table,
                                               GError    **error);

const QmDevice      *qm_catalog_find_device   (QmCatalog  *self,
                                               const char *id);
const QmDevice      *qm_catalog_match_device  (QmCatalog  *self,
                                               const char *pci_id,
                                               const char *name,
                                               double      memory_bytes);
guint                qm_catalog_n_devices     (QmCatalog  *self);
const QmDevice      *qm_catalog_device        (QmCatalog  *self,
                                               guint       index);
const QmDevice      *qm_catalog_mix           (QmCatalog  *self,
                                               const char *id);
guint                qm_catalog_n_slices      (QmCatalog  *self);
const QmDevice      *qm_catalog_slice         (QmCatalog  *self,
                                               guint       index);
const QmDevice      *qm_catalog_match_slice   (QmCatalog  *self,
                                               const QmDevice *whole,
                                               const char *profile);
int                  qm_catalog_device_index  (QmCatalog  *self,
                                               const QmDevice *device);

const QmOffer       *qm_catalog_find_offer    (QmCatalog  *self,
                                               const char *id);
guint                qm_catalog_n_offers      (QmCatalog  *self);
const QmOffer       *qm_catalog_offer         (QmCatalog  *self,
                                               guint       index);

guint                qm_catalog_n_models      (QmCatalog  *self);
const QmModelEntry  *qm_catalog_model         (QmCatalog  *self,
                                               guint       index);
const QmModelEntry  *qm_catalog_find_model    (QmCatalog  *self,
                                               const char *id,
                                               double      image_size);

const char          *qm_catalog_nearest_id    (QmCatalog  *self,
                                               const char *kind,
                                               const char *id);
JsonNode            *qm_catalog_table         (QmCatalog  *self,
                                               const char *name);

G_END_DECLS
