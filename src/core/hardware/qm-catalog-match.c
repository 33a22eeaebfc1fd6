/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "qm-catalog-private.h"

/* A driver shows a little less than the box says, and an error-correcting
 * memory loses a sixteenth. */
#define LEAST_SHOWN 0.87
#define MOST_SHOWN 1.02

/* Words of a name that some drivers add and others leave out. */
static gboolean
says_nothing (const char *word)
{
  static const char * const filler[] = {
    "nvidia", "amd", "intel", "corporation", "tesla", "grid", "gpu", "cpu", "processor", "with", NULL,
  };

  return *word == '\0' || g_strv_contains (filler, word) || g_str_has_suffix (word, "-core");
}

/* "p40-24q" is a slice of a P40, as the driver in a virtual machine names it:
 * cut the profile off. */
static gboolean
cut_profile (char *word)
{
  char *dash = strrchr (word, '-');
  gsize digits = dash != NULL ? strspn (dash + 1, "0123456789") : 0;

  if (digits == 0 || dash[1 + digits] == '\0' || strchr ("qabc", dash[1 + digits]) == NULL || dash[2 + digits] != '\0')
    return FALSE;

  *dash = '\0';
  return TRUE;
}

static gboolean
is_slice (const char *name)
{
  g_autofree char *lower = g_ascii_strdown (name != NULL ? name : "", -1);

  return cut_profile (lower);
}

/**
 * qm_catalog_reduce_name:
 * @name: what a driver or a catalog calls a device
 *
 * Trade marks, the maker's name and the like are left out, so that
 * "Intel(R) Xeon(R) Platinum 8480+ CPU @ 2.00GHz" and "Xeon Platinum 8480+"
 * agree.
 *
 * Returns: (transfer full): the words that tell devices apart, in lower case
 */
char *
qm_catalog_reduce_name (const char *name)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GString) kept = g_string_new (NULL);
  g_autofree char *lower = g_ascii_strdown (name, -1);
  g_auto (GStrv) words = NULL;

  g_string_append (text, lower);
  g_string_replace (text, "(r)", " ", 0);
  g_string_replace (text, "(tm)", " ", 0);
  words = g_strsplit (text->str, " ", -1);

  for (guint i = 0; words[i] != NULL; i++)
    {
      if (strcmp (words[i], "@") == 0)
        break;
      cut_profile (words[i]);
      /* "12th Gen Intel(R) Core(TM) i7-12700" */
      if (i == 0 && words[1] != NULL && strcmp (words[1], "gen") == 0)
        {
          i = 1;
          continue;
        }
      if (says_nothing (words[i]))
        continue;
      if (kept->len > 0)
        g_string_append_c (kept, ' ');
      g_string_append (kept, words[i]);
    }

  return g_string_free (g_steal_pointer (&kept), FALSE);
}

static gboolean
memory_agrees (const QmDevice *device,
               double          memory_bytes)
{
  return memory_bytes <= 0 || device->memory_bytes <= 0 || device->unified_memory
         || (memory_bytes >= LEAST_SHOWN * device->memory_bytes && memory_bytes <= MOST_SHOWN * device->memory_bytes);
}

static gboolean
has_name (QmCatalog      *self,
          const QmDevice *device,
          const char     *reduced)
{
  GPtrArray *named = reduced != NULL ? g_hash_table_lookup (self->devices_by_name, reduced) : NULL;

  return named != NULL && g_ptr_array_find (named, device, NULL);
}

/* Those of @devices that agree with the name, if any does; of these, those
 * that agree with the memory. */
static GPtrArray *
narrow (QmCatalog  *self,
        GPtrArray  *devices,
        const char *reduced,
        double      memory_bytes)
{
  GPtrArray *left = g_ptr_array_new ();
  gboolean name_helps = FALSE;

  for (guint i = 0; i < devices->len; i++)
    name_helps |= has_name (self, g_ptr_array_index (devices, i), reduced);

  for (guint i = 0; i < devices->len; i++)
    {
      const QmDevice *device = g_ptr_array_index (devices, i);

      if ((!name_helps || has_name (self, device, reduced)) && memory_agrees (device, memory_bytes))
        g_ptr_array_add (left, (gpointer) device);
    }
  return left;
}

/**
 * qm_catalog_match_device:
 * @self: a catalog
 * @pci_id: (nullable): vendor and device, "10de:20b0"
 * @name: (nullable): what the driver calls it
 * @memory_bytes: what the driver reports as total; 0 unknown
 *
 * Finds what a device of this computer is. The PCI id comes first; one that
 * several devices share is settled by the name and then by the memory. A
 * device whose name agrees may show less memory than its box says, as a slice
 * of one does. Where several are left, none is taken: the largest is never
 * assumed.
 *
 * Returns: (nullable): the device, %NULL where it is not known or not certain
 */
const QmDevice *
qm_catalog_match_device (QmCatalog  *self,
                         const char *pci_id,
                         const char *name,
                         double      memory_bytes)
{
  g_autofree char *id = pci_id != NULL ? g_ascii_strdown (pci_id, -1) : NULL;
  g_autofree char *reduced = name != NULL ? qm_catalog_reduce_name (name) : NULL;
  GPtrArray *devices = id != NULL ? g_hash_table_lookup (self->devices_by_pci_id, id) : NULL;
  g_autoptr (GPtrArray) left = NULL;

  if (devices == NULL && reduced != NULL)
    devices = g_hash_table_lookup (self->devices_by_name, reduced);
  if (devices == NULL)
    return NULL;
  if (devices->len == 1 && has_name (self, devices->pdata[0], reduced))
    return devices->pdata[0];

  /* what a slice has says nothing of the card it is cut from */
  left = narrow (self, devices, reduced, is_slice (name) ? 0 : memory_bytes);
  return left->len == 1 ? left->pdata[0] : NULL;
}

/* How many letters to add, leave out, change, or swap with their neighbour
 * turn @a into @b (optimal string alignment). */
static guint
edit_distance (const char *a,
               const char *b)
{
  gsize width = strlen (b) + 1;
  gsize height = strlen (a) + 1;
  g_autofree guint *cost = g_new0 (guint, width * height);

  for (gsize i = 0; i < height; i++)
    for (gsize j = 0; j < width; j++)
      {
        guint *here = cost + i * width + j;

        if (i == 0 || j == 0)
          {
            *here = i + j;
            continue;
          }
        *here = *(here - width - 1) + (a[i - 1] != b[j - 1]);
        *here = MIN (*here, MIN (*(here - 1), *(here - width)) + 1);
        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
          *here = MIN (*here, *(here - 2 * width - 2) + 1);
      }

  return cost[width * height - 1];
}

static guint
n_records (QmCatalog  *self,
           const char *kind)
{
  if (strcmp (kind, "offer") == 0)
    return self->offers->len;
  return strcmp (kind, "model") == 0 ? self->models->len : self->devices->len;
}

static const char *
id_of (QmCatalog  *self,
       const char *kind,
       guint       index)
{
  if (strcmp (kind, "offer") == 0)
    return qm_catalog_offer (self, index)->id;
  return strcmp (kind, "model") == 0 ? qm_catalog_model (self, index)->id : qm_catalog_device (self, index)->id;
}

/**
 * qm_catalog_nearest_id:
 * @self: a catalog
 * @kind: "device", "offer" or "model"
 * @id: an id that is not known
 *
 * For error messages: the known id with the fewest letters to change. An id
 * that goes on where @id ends is nearer than any other: "h100" means
 * "h100-pcie-80gb" and not "l40".
 *
 * Returns: (nullable): the id; %NULL where no known one has half its letters
 *   in common with @id
 */
const char *
qm_catalog_nearest_id (QmCatalog  *self,
                       const char *kind,
                       const char *id)
{
  const char *nearest = NULL;
  guint least = G_MAXUINT;
  g_autofree char *lower = g_ascii_strdown (id, -1);

  for (guint i = 0; i < n_records (self, kind); i++)
    {
      const char *known = id_of (self, kind, i);
      gboolean goes_on = strlen (id) > 1 && g_ascii_strncasecmp (known, id, strlen (id)) == 0;
      guint distance = goes_on ? 0 : edit_distance (lower, known);

      if (distance < least && (goes_on || distance * 2 <= MAX (strlen (id), strlen (known))))
        {
          least = distance;
          nearest = known;
        }
    }
  return nearest;
}
