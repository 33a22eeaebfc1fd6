/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <string.h>

#include "plan/qm-plan-fields.h"
#include "qm-error.h"

static gboolean
is_place (QmCatalog  *catalog,
          const char *word,
          gboolean    region)
{
  for (guint i = 0; i < qm_catalog_n_offers (catalog); i++)
    {
      const QmOffer *offer = qm_catalog_offer (catalog, i);

      if (g_strcmp0 (region ? offer->region : offer->provider, word) == 0)
        return TRUE;
    }

  return FALSE;
}

static char *
provider_words (QmCatalog *catalog)
{
  g_autoptr (GPtrArray) words = g_ptr_array_new ();

  for (guint i = 0; i < qm_catalog_n_offers (catalog); i++)
    {
      const char *provider = qm_catalog_offer (catalog, i)->provider;

      if (!g_ptr_array_find_with_equal_func (words, provider, g_str_equal, NULL))
        g_ptr_array_add (words, (gpointer) provider);
    }
  g_ptr_array_add (words, NULL);

  return g_strjoinv (", ", (char **) words->pdata);
}

/* A device, an offer, or the beginning of some up to a slash. */
static gboolean
is_there (QmCatalog  *catalog,
          const char *word)
{
  gboolean found = qm_catalog_find_device (catalog, word) != NULL;

  for (guint i = 0; !found && i < qm_catalog_n_offers (catalog); i++)
    found = g_str_has_prefix (qm_catalog_offer (catalog, i)->id, word) &&
            strchr ("/", qm_catalog_offer (catalog, i)->id[strlen (word)]) != NULL;

  return found;
}

static gboolean
check_places (const QmPlan *plan,
              QmCatalog    *catalog,
              GError      **error)
{
  g_autofree char *words = NULL;

  for (int i = 0; i < plan->places.cloud.n; i++)
    if (!is_place (catalog, plan->places.cloud.words[i], FALSE))
      {
        words = provider_words (catalog);
        qm_error_set (error, QM_PLAN_ERROR, QM_PLAN_ERROR_VALUE, "places.cloud", N_("\"{word}\" is not known; use any of {words}"),
                      "word", plan->places.cloud.words[i], "words", words, NULL);
        return FALSE;
      }
  for (int i = 0; i < plan->places.regions.n; i++)
    if (!is_place (catalog, plan->places.regions.words[i], TRUE))
      {
        qm_error_set (error, QM_PLAN_ERROR, QM_PLAN_ERROR_VALUE, "places.regions",
                      N_("no offer in \"{word}\" is in the catalog; use a region as the providers name it, e.g. us-east-1"),
                      "word", plan->places.regions.words[i], NULL);
        return FALSE;
      }

  for (int i = 0; i < plan->places.excluded.n; i++)
    if (!is_there (catalog, plan->places.excluded.words[i]))
      {
        qm_error_set (error, QM_PLAN_ERROR, QM_PLAN_ERROR_VALUE, "places.excluded",
                      N_("no offer, machine or device \"{word}\" is in the catalog"), "word", plan->places.excluded.words[i], NULL);
        return FALSE;
      }

  return TRUE;
}

static gboolean
check_device (QmCatalog   *catalog,
              const char  *path,
              const char  *device,
              GError     **error)
{
  const char *nearest = NULL;

  if (device[0] == '\0' || qm_catalog_find_device (catalog, device) != NULL)
    return TRUE;

  nearest = qm_catalog_nearest_id (catalog, "device", device);
  qm_error_set (error, QM_PLAN_ERROR, QM_PLAN_ERROR_VALUE, path,
                nearest != NULL ? N_("no device \"{word}\" is in the catalog; the nearest is \"{nearest}\"")
                                : N_("no device \"{word}\" is in the catalog; name one of those that \"quartermaster-cli catalog list\" shows"),
                "word", device, "nearest", nearest, NULL);
  return FALSE;
}

static gboolean
check_devices (const QmPlan *plan,
               QmCatalog    *catalog,
               GError      **error)
{
  if (!check_device (catalog, "configuration.device", plan->configuration.device, error))
    return FALSE;
  if (plan->configuration.offer[0] != '\0' && qm_catalog_find_offer (catalog, plan->configuration.offer) == NULL)
    {
      qm_error_set (error, QM_PLAN_ERROR, QM_PLAN_ERROR_VALUE, "configuration.offer",
                    N_("no offer \"{word}\" is in the catalog; the nearest is \"{nearest}\""), "word", plan->configuration.offer,
                    "nearest", qm_catalog_nearest_id (catalog, "offer", plan->configuration.offer), NULL);
      return FALSE;
    }
  for (int i = 0; i < plan->places.n_owned; i++)
    {
      g_autofree char *path = g_strdup_printf ("places.owned[%d].device", i);

      if (!check_device (catalog, path, plan->places.owned[i].device, error))
        return FALSE;
    }
  for (int i = 0; i < plan->n_quotes; i++)
    {
      g_autofree char *path = g_strdup_printf ("quotes[%d].device", i);

      if (!check_device (catalog, path, plan->quotes[i].device, error))
        return FALSE;
    }

  return TRUE;
}

/**
 * qm_plan_check_catalog:
 * @plan: a plan
 * @catalog: the catalog
 * @error: return location for a #QmPlanError
 *
 * Returns: whether the catalog has the places, offers and devices that the plan
 *   names
 */
gboolean
qm_plan_check_catalog (const QmPlan *plan,
                       QmCatalog    *catalog,
                       GError      **error)
{
  return check_places (plan, catalog, error) && check_devices (plan, catalog, error);
}
