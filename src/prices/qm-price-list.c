/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-price-list.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "history/qm-csv.h"
#include "qm-error.h"

QM_DEFINE_ERROR_DOMAIN ("qm-prices-error-quark", qm_prices_error_quark)

#define MIB_PER_GIB 1024.0

/* A device memory of more than this is a number of MiB. */
#define MOST_GIB 2048.0

/* A price this near to that on demand says that there is no spot market. */
#define SAME_PRICE 0.999

/* SkyPilot's figure for a TPU whose price it does not know. */
#define UNKNOWN_TPU_PRICE 700.0

typedef enum {
  COLUMN_INSTANCE,
  COLUMN_ACCELERATOR,
  COLUMN_COUNT,
  COLUMN_VCPUS,
  COLUMN_RAM,
  COLUMN_REGION,
  COLUMN_PRICE,
  COLUMN_SPOT,
  COLUMN_MEMORY,
  COLUMN_VENDOR,
  N_COLUMNS,
} Column;

/* The columns of both kinds of lists; they come in any order. */
static const char * const skypilot[N_COLUMNS] = {
  "InstanceType", "AcceleratorName", "AcceleratorCount", "vCPUs", "MemoryGiB", "Region", "Price", "SpotPrice", "GpuInfo", NULL,
};
static const char * const gpuhunt[N_COLUMNS] = {
  "instance_name", "gpu_name", "gpu_count", "cpu", "memory", "location", "price", "spot", "gpu_memory", "gpu_vendor",
};

typedef struct {
  int at[N_COLUMNS];
  gboolean is_gpuhunt;
} Layout;

static int
find (GPtrArray  *head,
      const char *name)
{
  for (guint i = 0; name != NULL && i < head->len; i++)
    if (g_ascii_strcasecmp (g_strstrip (head->pdata[i]), name) == 0)
      return i;

  return -1;
}

static gboolean
read_head (GPtrArray  *head,
           Layout     *layout,
           GError    **error)
{
  const char * const *names = find (head, "instance_name") >= 0 ? gpuhunt : skypilot;

  layout->is_gpuhunt = names == gpuhunt;
  for (int i = 0; i < N_COLUMNS; i++)
    layout->at[i] = find (head, names[i]);
  if (layout->at[COLUMN_INSTANCE] >= 0 && layout->at[COLUMN_PRICE] >= 0 && layout->at[COLUMN_ACCELERATOR] >= 0 &&
      layout->at[COLUMN_REGION] >= 0)
    return TRUE;

  qm_error_set (error, QM_PRICES_ERROR, QM_PRICES_ERROR_FORMAT, NULL,
                N_("is no price list of SkyPilot (InstanceType, AcceleratorName, Region, Price) or gpuhunt (instance_name, gpu_name, "
                   "location, price)"), NULL);
  return FALSE;
}

static const char *
cell (const Layout *layout,
      GPtrArray    *fields,
      Column        column)
{
  int at = layout->at[column];

  return at >= 0 && at < (int) fields->len ? fields->pdata[at] : "";
}

static double
number (const char *text,
        double      missing)
{
  char *end;
  double value = g_ascii_strtod (text, &end);

  return end != text && *end == '\0' && isfinite (value) && value >= 0 ? value : missing;
}

/* A Python dictionary, JSON, or a bare name: what matters is "SizeInMiB": 81920,
 * which RunPod gives in GiB. */
static double
memory_of_info (const char *info)
{
  const char *size = strstr (info, "SizeInMiB");
  double value;

  if (size == NULL)
    return 0;

  size += strlen ("SizeInMiB");
  value = g_ascii_strtod (size + strcspn (size, "0123456789"), NULL);
  return value > MOST_GIB ? value / MIB_PER_GIB : value;
}

static void
row_free (gpointer data)
{
  QmPriceRow *row = data;

  g_free (row->instance);
  g_free (row->accelerator);
  g_free (row->region);
  g_free (row);
}

static QmPriceRow *
read_row (const Layout *layout,
          GPtrArray    *fields)
{
  QmPriceRow *row = g_new0 (QmPriceRow, 1);
  const char *accelerator = cell (layout, fields, COLUMN_ACCELERATOR);
  double price = number (cell (layout, fields, COLUMN_PRICE), NAN);

  row->instance = g_strstrip (g_strdup (cell (layout, fields, COLUMN_INSTANCE)));
  row->accelerator = g_strstrip (g_strdup (g_str_has_prefix (accelerator, "tpu-") && layout->is_gpuhunt ? accelerator + 4 : accelerator));
  row->region = g_strstrip (g_strdup (cell (layout, fields, COLUMN_REGION)));
  row->count = number (cell (layout, fields, COLUMN_COUNT), row->accelerator[0] != '\0' ? 1 : 0);
  row->vcpus = number (cell (layout, fields, COLUMN_VCPUS), 0);
  row->ram_gib = number (cell (layout, fields, COLUMN_RAM), 0);
  row->usd_per_hour = price > 0 ? price : NAN;
  row->spot_usd_per_hour = NAN;
  if (!layout->is_gpuhunt)
    {
      double spot = number (cell (layout, fields, COLUMN_SPOT), NAN);

      row->spot_usd_per_hour = spot > 0 ? spot : NAN;
      row->memory_gib = memory_of_info (cell (layout, fields, COLUMN_MEMORY));
      return row;
    }

  row->memory_gib = number (cell (layout, fields, COLUMN_MEMORY), 0);
  if (g_ascii_strcasecmp (cell (layout, fields, COLUMN_SPOT), "true") == 0)
    {
      row->spot_usd_per_hour = row->usd_per_hour;
      row->usd_per_hour = NAN;
    }

  return row;
}

/* ------------------------------------------------- what single providers get wrong */

/* Azure's list says 12 GPUs of an ND96 machine, which has 8. */
static void
mend_azure (QmPriceRow *row)
{
  if (row->count == 12 && strstr (row->instance, "ND96") != NULL)
    row->count = 8;
}

/* Every offer is said to have the same processor, and names are cut short: the
 * memory, given for all GPUs together, tells "RTX4060" from a 4060 Ti. */
static void
mend_vast (QmPriceRow *row)
{
  static const struct { const char *name; double from_gib; const char *meant; } names[] = {
    { "RTX4060", 9, "RTX4060Ti" }, { "RTX4070", 13, "RTX4070TiSUPER" },
  };

  row->vcpus = row->ram_gib = 0;
  if (row->count > 1)
    row->memory_gib /= row->count;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_ascii_strcasecmp (row->accelerator, names[i].name) == 0 && row->memory_gib >= names[i].from_gib)
      g_set_str (&row->accelerator, names[i].meant);
  if (g_ascii_strcasecmp (row->accelerator, "RTX3060") == 0 && row->memory_gib > 0 && row->memory_gib < 9)
    g_set_str (&row->accelerator, "RTX3060Ti");
}

static void
mend (QmPriceRow *row,
      const char *provider)
{
  if (strcmp (provider, "azure") == 0)
    mend_azure (row);
  if (strcmp (provider, "vast") == 0)
    mend_vast (row);
  if (row->usd_per_hour == UNKNOWN_TPU_PRICE && g_str_has_prefix (row->accelerator, "tpu"))
    row->usd_per_hour = row->spot_usd_per_hour = NAN;
  if (row->spot_usd_per_hour >= SAME_PRICE * row->usd_per_hour)
    row->spot_usd_per_hour = NAN;
}

static gboolean
is_known_provider (QmCatalog  *catalog,
                   const char *id)
{
  for (guint i = 0; i < qm_catalog_n_offers (catalog); i++)
    if (g_strcmp0 (qm_catalog_offer (catalog, i)->provider, id) == 0)
      return TRUE;

  return FALSE;
}

static const char *
other_name (QmCatalog  *catalog,
            const char *word)
{
  JsonNode *table = qm_catalog_table (catalog, "providers");
  JsonObject *root = table != NULL && JSON_NODE_HOLDS_OBJECT (table) ? json_node_get_object (table) : NULL;
  JsonObject *aliases = root != NULL && json_object_has_member (root, "aliases") ? json_object_get_object_member (root, "aliases") : NULL;

  return aliases != NULL ? json_object_get_string_member_with_default (aliases, word, NULL) : NULL;
}

/**
 * qm_price_provider:
 * @catalog: the catalog
 * @path: of a list, or an address: `…/aws/vms.csv`, `gcp.csv`
 *
 * Returns: (transfer full) (nullable): whose prices they are, by the name of the
 *   file or its folder; %NULL where neither is a provider
 */
char *
qm_price_provider (QmCatalog  *catalog,
                   const char *path)
{
  g_auto (GStrv) parts = g_strsplit_set (path, "/\\", -1);
  guint n = g_strv_length (parts);

  for (guint i = 0; i < MIN (n, 2); i++)
    {
      g_autofree char *word = g_ascii_strdown (parts[n - 1 - i], -1);
      const char *alias;

      word[strcspn (word, ".?")] = '\0';
      alias = other_name (catalog, word);
      if (alias != NULL)
        return g_strdup (alias);
      if (is_known_provider (catalog, word))
        return g_steal_pointer (&word);
    }

  return NULL;
}

/**
 * qm_price_list_parse:
 * @catalog: the catalog, for the names of providers
 * @text: (array length=length): a CSV of SkyPilot's catalogs or of gpuhunt
 * @length: its bytes
 * @provider: whose it is
 * @error: return location for an error of %QM_PRICES_ERROR, or of CSV with its
 *   line
 *
 * Reads a price list by its head; the known mistakes of the lists are mended.
 *
 * Returns: (transfer full) (nullable): the list
 */
QmPriceList *
qm_price_list_parse (QmCatalog   *catalog,
                     const char  *text,
                     gsize        length,
                     const char  *provider,
                     GError     **error)
{
  g_autoptr (QmPriceList) self = g_new0 (QmPriceList, 1);
  g_autoptr (GPtrArray) fields = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) local_error = NULL;
  gboolean has_head = FALSE;
  Layout layout;
  QmCsv csv;

  self->provider = g_strdup (provider);
  self->rows = g_ptr_array_new_with_free_func (row_free);
  qm_csv_init (&csv, text, length);
  while (qm_csv_next (&csv, fields, &local_error))
    {
      QmPriceRow *row;

      if (!has_head)
        {
          if (!read_head (fields, &layout, error))
            return NULL;
          has_head = TRUE;
          continue;
        }
      row = read_row (&layout, fields);
      mend (row, provider);
      if (isnan (row->usd_per_hour) && isnan (row->spot_usd_per_hour))
        {
          self->skipped++;
          row_free (row);
        }
      else
        g_ptr_array_add (self->rows, row);
    }
  if (local_error != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&local_error));
      return NULL;
    }
  if (self->rows->len == 0)
    {
      qm_error_set (error, QM_PRICES_ERROR, has_head ? QM_PRICES_ERROR_EMPTY : QM_PRICES_ERROR_FORMAT, NULL,
                    N_("holds no prices"), NULL);
      return NULL;
    }

  return g_steal_pointer (&self);
}

/**
 * qm_price_list_free:
 * @self: (transfer full) (nullable): a list
 */
void
qm_price_list_free (QmPriceList *self)
{
  if (self == NULL)
    return;

  g_free (self->provider);
  g_clear_pointer (&self->rows, g_ptr_array_unref);
  g_free (self);
}
