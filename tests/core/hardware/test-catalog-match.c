/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "hardware/qm-catalog.h"

#define MIB (1024.0 * 1024.0)

/* PCI ids are of pci.ids, names what drivers print; @id is %NULL where nothing
 * certain can be said. */
static const struct {
  const char *pci_id;
  const char *name;
  double mib;
  const char *id;
} readings[] = {
  /* one id, one card */
  { "10de:20b2", "NVIDIA A100-SXM4-80GB", 81920, "a100-sxm4-80gb" },
  { "10DE:20B2", NULL, 0, "a100-sxm4-80gb" },
  /* a slice of a card keeps its id and name, and shows less memory */
  { "10de:20b2", "NVIDIA A100-SXM4-80GB", 9856, "a100-sxm4-80gb" },
  /* an id alone with a memory that the card does not have: not certain */
  { "10de:20b2", NULL, 40960, NULL },
  /* one id, two capacities: the measured memory tells */
  { "10de:2d04", "NVIDIA GeForce RTX 5060 Ti", 16311, "rtx-5060-ti-16gb" },
  { "10de:2d04", "NVIDIA GeForce RTX 5060 Ti", 8151, "rtx-5060-ti-8gb" },
  { "10de:2d04", "NVIDIA GeForce RTX 5060 Ti", 0, NULL },
  { "10de:2d04", NULL, 0, NULL },
  /* one id, two names of the same capacity */
  { "1002:73bf", "AMD Radeon RX 6900 XT", 16368, "rx-6900-xt" },
  { "1002:73bf", NULL, 16368, NULL },
  { "1002:744c", NULL, 24560, "rx-7900-xtx" },
  { "1002:744c", NULL, 20464, "rx-7900-xt" },
  { "10de:1e30", "Quadro RTX 8000", 49152, "quadro-rtx-8000" },
  /* names alone */
  { NULL, "NVIDIA GeForce RTX 3080", 12288, "rtx-3080-12gb" },
  { NULL, "NVIDIA GeForce RTX 3080", 0, NULL },
  { NULL, "NVIDIA GeForce RTX 4090 Laptop GPU", 16376, "rtx-4090-laptop" },
  { NULL, "GRID P40-24Q", 24576, "p40" },
  { "10de:20b0", "NVIDIA A100-20C", 20475, "a100-sxm4-40gb" },
  { NULL, "Apple M1", 0, "apple-m1" },
  { NULL, "Apple M1", 8192, "apple-m1" },
  { NULL, "Intel(R) Xeon(R) Platinum 8480+", 0, "xeon-8480plus" },
  { NULL, "Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz", 0, "xeon-8380" },
  { NULL, "AMD EPYC 7763 64-Core Processor", 0, "epyc-7763" },
  { NULL, "12th Gen Intel(R) Core(TM) i5-12400", 0, "core-i5-12400" },
  /* what nobody knows */
  { "ffff:0001", "Card of the future", 8192, NULL },
  { NULL, NULL, 8192, NULL },
};

static void
test_readings (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *directory = g_build_filename (g_getenv ("QM_DATA_DIR"), "catalog", NULL);
  g_autoptr (QmCatalog) catalog = qm_catalog_load (directory, NULL, &error);

  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (readings); i++)
    {
      const QmDevice *device = qm_catalog_match_device (catalog, readings[i].pci_id, readings[i].name, readings[i].mib * MIB);

      g_test_message ("%s %s %g MiB", readings[i].pci_id, readings[i].name, readings[i].mib);
      g_assert_cmpstr (device != NULL ? device->id : NULL, ==, readings[i].id);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/catalog/match/readings", test_readings);

  return g_test_run ();
}
