/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-country-names.h"

#include <glib/gi18n.h>

/* Those whose electricity the catalog knows. */
static const struct {
  const char *code;
  const char *name;
} countries[] = {
  { "AE", N_("United Arab Emirates") },
  { "AR", N_("Argentina") },
  { "AT", N_("Austria") },
  { "AU", N_("Australia") },
  { "BD", N_("Bangladesh") },
  { "BE", N_("Belgium") },
  { "BG", N_("Bulgaria") },
  { "BR", N_("Brazil") },
  { "CA", N_("Canada") },
  { "CH", N_("Switzerland") },
  { "CL", N_("Chile") },
  { "CN", N_("China") },
  { "CO", N_("Colombia") },
  { "CY", N_("Cyprus") },
  { "CZ", N_("Czechia") },
  { "DE", N_("Germany") },
  { "DK", N_("Denmark") },
  { "EE", N_("Estonia") },
  { "EG", N_("Egypt") },
  { "ES", N_("Spain") },
  { "FI", N_("Finland") },
  { "FR", N_("France") },
  { "GB", N_("United Kingdom") },
  { "GR", N_("Greece") },
  { "HK", N_("Hong Kong") },
  { "HR", N_("Croatia") },
  { "HU", N_("Hungary") },
  { "ID", N_("Indonesia") },
  { "IE", N_("Ireland") },
  { "IL", N_("Israel") },
  { "IN", N_("India") },
  { "IS", N_("Iceland") },
  { "IT", N_("Italy") },
  { "JP", N_("Japan") },
  { "KE", N_("Kenya") },
  { "KR", N_("South Korea") },
  { "KZ", N_("Kazakhstan") },
  { "LT", N_("Lithuania") },
  { "LU", N_("Luxembourg") },
  { "LV", N_("Latvia") },
  { "MX", N_("Mexico") },
  { "MY", N_("Malaysia") },
  { "NG", N_("Nigeria") },
  { "NL", N_("Netherlands") },
  { "NO", N_("Norway") },
  { "NZ", N_("New Zealand") },
  { "PE", N_("Peru") },
  { "PH", N_("Philippines") },
  { "PK", N_("Pakistan") },
  { "PL", N_("Poland") },
  { "PT", N_("Portugal") },
  { "QA", N_("Qatar") },
  { "RO", N_("Romania") },
  { "RS", N_("Serbia") },
  { "RU", N_("Russia") },
  { "SA", N_("Saudi Arabia") },
  { "SE", N_("Sweden") },
  { "SG", N_("Singapore") },
  { "SI", N_("Slovenia") },
  { "SK", N_("Slovakia") },
  { "TH", N_("Thailand") },
  { "TR", N_("Türkiye") },
  { "TW", N_("Taiwan") },
  { "UA", N_("Ukraine") },
  { "US", N_("United States") },
  { "VN", N_("Vietnam") },
  { "ZA", N_("South Africa") },
};

/**
 * qm_country_name:
 * @code: ISO 3166, of two letters
 *
 * Returns: (transfer none): what it is called; @code where that is not known
 */
const char *
qm_country_name (const char *code)
{
  for (guint i = 0; i < G_N_ELEMENTS (countries); i++)
    if (g_str_equal (countries[i].code, code))
      return _(countries[i].name);

  return code;
}

static int
compare (gconstpointer a,
         gconstpointer b)
{
  return g_utf8_collate (qm_country_name (*(const char * const *) a), qm_country_name (*(const char * const *) b));
}

/**
 * qm_country_codes:
 *
 * Returns: (transfer full) (array zero-terminated=1): the countries with a name,
 *   sorted by it
 */
char **
qm_country_codes (void)
{
  g_autoptr (GPtrArray) codes = g_ptr_array_new ();

  for (guint i = 0; i < G_N_ELEMENTS (countries); i++)
    g_ptr_array_add (codes, g_strdup (countries[i].code));
  g_ptr_array_sort (codes, compare);
  g_ptr_array_add (codes, NULL);

  return (char **) g_ptr_array_steal (codes, NULL);
}
