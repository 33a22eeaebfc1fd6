/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "hardware/qm-catalog.h"
#include "hardware/qm-catalog-record.h"

G_BEGIN_DECLS

struct _QmCatalog
{
  GObject parent_instance;

  GPtrArray *files;                 /* of QmCatalogFile: the shipped ones by name, then the user's */
  GHashTable *tables;               /* stem → JsonNode, of files that hold no records */
  GPtrArray *allocations;           /* arrays of strings */
  GStringChunk *chunk;

  GPtrArray *devices;               /* of QmDevice */
  GHashTable *devices_by_id;        /* id or unambiguous name → QmDevice */
  GHashTable *devices_by_pci_id;    /* "10de:20b0" → GPtrArray of QmDevice */
  GHashTable *devices_by_name;      /* what drivers call them, reduced → GPtrArray of QmDevice */
  QmDevice *unknown_device;         /* (nullable) */
  GHashTable *mixes;                /* id → QmDevice, made when first asked for */
  GMutex mixes_lock;
  GPtrArray *slices;                /* of QmDevice: parts of the devices */

  GPtrArray *offers;                /* of QmOffer */
  GHashTable *offers_by_id;

  GPtrArray *models;                /* of QmModelEntry */
  GHashTable *model_keys;           /* "id@image size": what is there already */
  GHashTable *models_by_id;         /* id or alias → GPtrArray of QmModelEntry */
};

gboolean             qm_catalog_load_devices  (QmCatalog      *self,
                                               QmCatalogFile  *file,
                                               GError        **error);
void                 qm_catalog_index_devices (QmCatalog      *self);
gboolean             qm_catalog_load_slices   (QmCatalog      *self,
                                               QmCatalogFile  *file,
                                               GError        **error);
gboolean             qm_catalog_load_offers   (QmCatalog      *self,
                                               QmCatalogFile  *file,
                                               GError        **error);
gboolean             qm_catalog_load_models   (QmCatalog      *self,
                                               QmCatalogFile  *file,
                                               GError        **error);
void                 qm_catalog_index_models  (QmCatalog      *self);

gboolean             qm_catalog_check_shape   (QmCatalogFile  *file,
                                               GPtrArray      *shipped,
                                               GError        **error);

const char * const  *qm_catalog_keep_strings  (QmCatalog      *self,
                                               GPtrArray      *strings);
void                 qm_catalog_index         (GHashTable     *index,
                                               const char     *key,
                                               gpointer        value);
char                *qm_catalog_reduce_name   (const char     *name);

G_END_DECLS
