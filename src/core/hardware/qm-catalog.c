/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "qm-catalog-private.h"
#include "qm-error.h"
#include "qm-file.h"

/**
 * QmCatalog:
 *
 * What is known of devices, offers and models, and the tables of constants
 * beside them. A folder of JSON files is shipped; one of the user's, in the
 * same form, overrides it by id, and whole tables by name. It does not change
 * once it is loaded, and may then be read from every thread.
 */
G_DEFINE_FINAL_TYPE (QmCatalog, qm_catalog, G_TYPE_OBJECT)

QM_DEFINE_ERROR_DOMAIN ("qm-catalog-error-quark", qm_catalog_error_quark)

typedef gboolean (*LoadRecords) (QmCatalog *self, QmCatalogFile *file, GError **error);

static const struct {
  const char *format;
  LoadRecords load;
  void (*index) (QmCatalog *self);
} formats[] = {
  { "quartermaster-devices", qm_catalog_load_devices, qm_catalog_index_devices },
  { "quartermaster-slices", qm_catalog_load_slices, NULL },
  { "quartermaster-offers", qm_catalog_load_offers, NULL },
  { "quartermaster-models", qm_catalog_load_models, qm_catalog_index_models },
};

static void
qm_catalog_finalize (GObject *object)
{
  QmCatalog *self = QM_CATALOG (object);

  g_ptr_array_unref (self->devices);
  g_ptr_array_unref (self->slices);
  g_hash_table_unref (self->mixes);
  g_mutex_clear (&self->mixes_lock);
  g_ptr_array_unref (self->offers);
  g_ptr_array_unref (self->models);
  g_hash_table_unref (self->devices_by_id);
  g_hash_table_unref (self->devices_by_pci_id);
  g_hash_table_unref (self->devices_by_name);
  g_hash_table_unref (self->offers_by_id);
  g_hash_table_unref (self->model_keys);
  g_hash_table_unref (self->models_by_id);
  g_hash_table_unref (self->tables);
  g_ptr_array_unref (self->allocations);
  g_string_chunk_free (self->chunk);
  g_ptr_array_unref (self->files);

  G_OBJECT_CLASS (qm_catalog_parent_class)->finalize (object);
}

static void
qm_catalog_class_init (QmCatalogClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = qm_catalog_finalize;
}

static GHashTable *
new_index (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_ptr_array_unref);
}

static void
qm_catalog_init (QmCatalog *self)
{
  self->files = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_catalog_file_free);
  self->tables = g_hash_table_new (g_str_hash, g_str_equal);
  self->allocations = g_ptr_array_new_with_free_func (g_free);
  self->chunk = g_string_chunk_new (4096);
  self->devices = g_ptr_array_new ();
  self->slices = g_ptr_array_new ();
  self->mixes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_mutex_init (&self->mixes_lock);
  self->devices_by_id = g_hash_table_new (g_str_hash, g_str_equal);
  self->devices_by_pci_id = new_index ();
  self->devices_by_name = new_index ();
  self->offers = g_ptr_array_new ();
  self->offers_by_id = g_hash_table_new (g_str_hash, g_str_equal);
  self->models = g_ptr_array_new ();
  self->model_keys = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->models_by_id = new_index ();
}

/**
 * qm_catalog_keep_strings:
 * @self: a catalog
 * @strings: (element-type utf8): strings that live as long as @self
 *
 * Returns: (transfer none): @strings, ended by %NULL
 */
const char * const *
qm_catalog_keep_strings (QmCatalog *self,
                         GPtrArray *strings)
{
  const char **array = g_new0 (const char *, strings->len + 1);

  for (guint i = 0; i < strings->len; i++)
    array[i] = g_ptr_array_index (strings, i);
  g_ptr_array_add (self->allocations, array);

  return array;
}

/**
 * qm_catalog_index:
 * @index: key → #GPtrArray
 * @key: a key
 * @value: what is to be found by it
 *
 * Adds @value to what @key finds, once.
 */
void
qm_catalog_index (GHashTable *index,
                  const char *key,
                  gpointer    value)
{
  GPtrArray *found = g_hash_table_lookup (index, key);

  if (found == NULL)
    {
      found = g_ptr_array_new ();
      g_hash_table_insert (index, g_strdup (key), found);
    }
  if (!g_ptr_array_find (found, value, NULL))
    g_ptr_array_add (found, value);
}

static int
compare_names (gconstpointer a,
               gconstpointer b)
{
  return strcmp (*(const char * const *) a, *(const char * const *) b);
}

/* What to read of a catalog; everything where neither is said. */
typedef struct {
  const char *table;                /* (nullable): a table */
  const char *model;                /* (nullable): the files of models that hold this word */
} Part;

/* Parsing takes a hundred times as long as looking for a word. */
static gboolean
holds_model (const char *path,
             const char *id)
{
  g_autofree char *quoted = g_strdup_printf ("\"%s\"", id);
  g_autofree char *text = NULL;

  return g_file_get_contents (path, &text, NULL, NULL) && strstr (text, "\"quartermaster-models\"") != NULL
         && strstr (text, quoted) != NULL;
}

static gboolean
is_wanted (const char *directory,
           const char *name,
           const Part *part)
{
  g_autofree char *path = g_build_filename (directory, name, NULL);

  if (!g_str_has_suffix (name, ".json"))
    return FALSE;
  if (part->table == NULL && part->model == NULL)
    return TRUE;
  if (part->table != NULL && g_str_has_prefix (name, part->table) && g_str_equal (name + strlen (part->table), ".json"))
    return TRUE;
  return part->model != NULL && holds_model (path, part->model);
}

/* The *.json of @directory that are wanted, by name, so that errors do not
 * depend on the disk. */
static gboolean
read_directory (QmCatalog   *self,
                const char  *directory,
                gboolean     is_users,
                const Part  *part,
                GError     **error)
{
  g_autoptr (GError) reason = NULL;
  g_autoptr (GDir) dir = g_dir_open (directory, 0, &reason);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  const char *name;

  if (dir == NULL)
    {
      qm_file_set_error (error, directory, reason);
      return FALSE;
    }

  while ((name = g_dir_read_name (dir)) != NULL)
    if (is_wanted (directory, name, part))
      g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, compare_names);

  for (guint i = 0; i < names->len; i++)
    {
      g_autofree char *path = g_build_filename (directory, names->pdata[i], NULL);
      QmCatalogFile *file = qm_catalog_file_read (path, is_users, self->chunk, error);

      if (file == NULL)
        return FALSE;
      g_ptr_array_add (self->files, file);
    }
  return TRUE;
}

static gboolean
is_of_records (const QmCatalogFile *file)
{
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (g_strcmp0 (file->format, formats[i].format) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
takes_the_place_of (const QmCatalogFile *file,
                    const QmCatalogFile *other)
{
  if (!is_of_records (file))
    return g_str_equal (file->stem, other->stem);

  /* Devices and offers are read with an error for every field. */
  return g_str_equal (file->format, "quartermaster-models") && g_strcmp0 (file->format, other->format) == 0;
}

static gboolean
check_shapes (QmCatalog  *self,
              GError    **error)
{
  for (guint i = 0; i < self->files->len; i++)
    {
      QmCatalogFile *file = g_ptr_array_index (self->files, i);
      g_autoptr (GPtrArray) shipped = g_ptr_array_new ();

      for (guint j = 0; file->is_users && j < self->files->len; j++)
        {
          QmCatalogFile *other = g_ptr_array_index (self->files, j);

          if (!other->is_users && takes_the_place_of (file, other))
            g_ptr_array_add (shipped, other->root);
        }
      if (!qm_catalog_check_shape (file, shipped, error))
        return FALSE;
    }

  return TRUE;
}

/* Devices first: offers refer to them. */
static gboolean
load_records (QmCatalog  *self,
              GError    **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    {
      for (guint j = 0; j < self->files->len; j++)
        {
          QmCatalogFile *file = g_ptr_array_index (self->files, j);

          if (g_strcmp0 (file->format, formats[i].format) == 0 && !formats[i].load (self, file, error))
            return FALSE;
        }
      if (formats[i].index != NULL)
        formats[i].index (self);
    }
  return TRUE;
}

static QmCatalog *
load (const char  *shipped_directory,
      const char  *user_directory,
      const Part  *part,
      GError     **error)
{
  g_autoptr (QmCatalog) self = g_object_new (QM_TYPE_CATALOG, NULL);

  if (!read_directory (self, shipped_directory, FALSE, part, error))
    return NULL;
  if (user_directory != NULL && g_file_test (user_directory, G_FILE_TEST_IS_DIR)
      && !read_directory (self, user_directory, TRUE, part, error))
    return NULL;

  if (!check_shapes (self, error))
    return NULL;

  for (guint i = 0; i < self->files->len; i++)
    {
      QmCatalogFile *file = g_ptr_array_index (self->files, i);

      if (!is_of_records (file))
        g_hash_table_replace (self->tables, file->stem, file->root);
    }

  if (!load_records (self, error))
    return NULL;
  for (guint i = 0; i < self->files->len; i++)
    qm_catalog_file_forget (g_ptr_array_index (self->files, i), is_of_records (g_ptr_array_index (self->files, i)));

  return g_steal_pointer (&self);
}

/**
 * qm_catalog_load:
 * @shipped_directory: the folder that is installed with the program
 * @user_directory: (nullable): the user's own, which need not exist
 * @error: return location
 *
 * Reads all JSON files of both folders. A file whose "format" is
 * "quartermaster-devices", "-offers" or "-models" holds records, and a record
 * of the user's folder takes the place of one with the same id. Every other
 * file is a table, to be had by qm_catalog_table().
 *
 * Errors are of #QM_CATALOG_ERROR and say "FILE:LINE: FIELD: what is wrong",
 * or of #QM_FILE_ERROR.
 *
 * Returns: (transfer full) (nullable): the catalog, or %NULL with @error set
 */
QmCatalog *
qm_catalog_load (const char *shipped_directory,
                 const char *user_directory,
                 GError    **error)
{
  return load (shipped_directory, user_directory, &(Part) { NULL, NULL }, error);
}

/**
 * qm_catalog_load_table:
 * @shipped_directory: the folder that is installed with the program
 * @user_directory: (nullable): the user's own, which need not exist
 * @name: of a table
 * @error: return location
 *
 * Reads one table alone, which takes a small part of the time of all.
 *
 * Returns: (transfer full) (nullable): a catalog with nothing but that table,
 *   or %NULL with @error set
 */
QmCatalog *
qm_catalog_load_table (const char *shipped_directory,
                       const char *user_directory,
                       const char *name,
                       GError    **error)
{
  return load (shipped_directory, user_directory, &(Part) { .table = name }, error);
}

/**
 * qm_catalog_load_model:
 * @shipped_directory: the folder that is installed with the program
 * @user_directory: (nullable): the user's own, which need not exist
 * @id: an id or alias
 * @table: of the one table to read beside
 * @error: return location
 *
 * Reads only the files of models that may have an entry of that id.
 *
 * Returns: (transfer full) (nullable): a catalog in which qm_catalog_find_model()
 *   finds for @id what it finds in the whole, or %NULL with @error set
 */
QmCatalog *
qm_catalog_load_model (const char  *shipped_directory,
                       const char  *user_directory,
                       const char  *id,
                       const char  *table,
                       GError     **error)
{
  return load (shipped_directory, user_directory, &(Part) { table, id }, error);
}

/**
 * qm_catalog_find_device:
 * @self: a catalog
 * @id: an id, or a name that only one device has; several ids joined by "+";
 *   "unknown" is the processor of measured cases that name none
 *
 * Returns: (transfer none) (nullable): the device
 */
const QmDevice *
qm_catalog_find_device (QmCatalog  *self,
                        const char *id)
{
  const QmDevice *device = id != NULL ? g_hash_table_lookup (self->devices_by_id, id) : NULL;

  return device == NULL && id != NULL && strchr (id, '+') != NULL ? qm_catalog_mix (self, id) : device;
}

/**
 * qm_catalog_n_devices:
 * @self: a catalog
 *
 * Returns: how many devices it has, the unknown one not counted
 */
guint
qm_catalog_n_devices (QmCatalog *self)
{
  return self->devices->len;
}

/**
 * qm_catalog_device:
 * @self: a catalog
 * @index: less than qm_catalog_n_devices()
 *
 * Returns: (transfer none): one of the devices
 */
const QmDevice *
qm_catalog_device (QmCatalog *self,
                   guint      index)
{
  g_return_val_if_fail (index < self->devices->len, NULL);

  return g_ptr_array_index (self->devices, index);
}

/**
 * qm_catalog_device_index:
 * @self: a catalog
 * @device: a device
 *
 * Returns: its index, for qm_catalog_device(); -1 where it is not of @self
 */
int
qm_catalog_device_index (QmCatalog      *self,
                         const QmDevice *device)
{
  guint index = device->index;

  return index < self->devices->len && self->devices->pdata[index] == device ? (int) index : -1;
}

/**
 * qm_catalog_find_offer:
 * @self: a catalog
 * @id: provider/instance/region
 *
 * Returns: (transfer none) (nullable): the offer
 */
const QmOffer *
qm_catalog_find_offer (QmCatalog  *self,
                       const char *id)
{
  return id != NULL ? g_hash_table_lookup (self->offers_by_id, id) : NULL;
}

/**
 * qm_catalog_n_offers:
 * @self: a catalog
 *
 * Returns: how many offers it has
 */
guint
qm_catalog_n_offers (QmCatalog *self)
{
  return self->offers->len;
}

/**
 * qm_catalog_offer:
 * @self: a catalog
 * @index: less than qm_catalog_n_offers()
 *
 * Returns: (transfer none): one of the offers
 */
const QmOffer *
qm_catalog_offer (QmCatalog *self,
                  guint      index)
{
  g_return_val_if_fail (index < self->offers->len, NULL);

  return g_ptr_array_index (self->offers, index);
}

/**
 * qm_catalog_n_models:
 * @self: a catalog
 *
 * Returns: how many entries of models it has
 */
guint
qm_catalog_n_models (QmCatalog *self)
{
  return self->models->len;
}

/**
 * qm_catalog_model:
 * @self: a catalog
 * @index: less than qm_catalog_n_models()
 *
 * Returns: (transfer none): one of the entries
 */
const QmModelEntry *
qm_catalog_model (QmCatalog *self,
                  guint      index)
{
  g_return_val_if_fail (index < self->models->len, NULL);

  return g_ptr_array_index (self->models, index);
}

/**
 * qm_catalog_table:
 * @self: a catalog
 * @name: the name of a file without ".json"
 *
 * Returns: (transfer none) (nullable): what is in that file
 */
JsonNode *
qm_catalog_table (QmCatalog  *self,
                  const char *name)
{
  return g_hash_table_lookup (self->tables, name);
}
