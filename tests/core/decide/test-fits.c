/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "decide/qm-fits.h"

static QmEstimator *estimator;

static void
find (const char *device,
      double      usable,
      QmFit      *fits)
{
  const QmDevice *found = qm_catalog_find_device (qm_estimator_get_catalog (estimator), device);

  g_assert_nonnull (found);
  g_assert_true (qm_fits_find (estimator, found, usable, NULL, fits));
}

/* Weights alone: 4 bits take half of 8, 8 half of 16; LoRA keeps what QLoRA packs
 * to a quarter; training all takes 16 bytes a parameter and more. */
static void
test_order (void)
{
  QmFit fits[QM_N_FITS];
  double capacity = 24.0 * 1024 * 1024 * 1024;

  find ("rtx-4090", 0, fits);
  g_assert_cmpfloat (fits[QM_FIT_CHAT_4_BIT].parameters, >, fits[QM_FIT_CHAT_8_BIT].parameters);
  g_assert_cmpfloat (fits[QM_FIT_CHAT_8_BIT].parameters, >, fits[QM_FIT_CHAT_16_BIT].parameters);
  g_assert_cmpfloat (fits[QM_FIT_CHAT_16_BIT].parameters, >, 0);
  g_assert_cmpfloat (fits[QM_FIT_CHAT_16_BIT].parameters * 2, <, capacity);
  g_assert_cmpfloat (fits[QM_FIT_CHAT_4_BIT].parameters * 0.5, <, capacity);
  g_assert_cmpfloat (fits[QM_FIT_QLORA].parameters, >, fits[QM_FIT_LORA].parameters);
  g_assert_cmpfloat (fits[QM_FIT_LORA].parameters, >, fits[QM_FIT_FULL].parameters);
  g_assert_cmpfloat (fits[QM_FIT_FULL].parameters * 16, <, capacity);
  for (int way = 0; way < QM_N_FITS; way++)
    g_assert_nonnull (fits[way].model);
}

/* Less of the memory: smaller models, down to none. */
static void
test_less_memory (void)
{
  QmFit whole[QM_N_FITS], half[QM_N_FITS], none[QM_N_FITS];

  find ("rtx-4090", 0, whole);
  find ("rtx-4090", 8e9, half);
  find ("rtx-4090", 1e8, none);
  for (int way = 0; way < QM_N_FITS; way++)
    {
      g_assert_cmpfloat (half[way].parameters, <, whole[way].parameters);
      g_assert_null (none[way].model);
    }
}

static void
test_cancelled (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  QmFit fits[QM_N_FITS];

  g_cancellable_cancel (cancellable);
  g_assert_false (qm_fits_find (estimator, qm_catalog_find_device (qm_estimator_get_catalog (estimator), "rtx-4090"), 0, cancellable, fits));
}

int
main (int   argc,
      char *argv[])
{
  g_autoptr (GError) error = NULL;
  g_autofree char *directory = NULL;
  g_autoptr (QmCatalog) catalog = NULL;
  int status;

  g_test_init (&argc, &argv, NULL);
  directory = g_build_filename (g_getenv ("QM_DATA_DIR"), "catalog", NULL);
  catalog = qm_catalog_load (directory, NULL, &error);
  g_assert_no_error (error);
  estimator = qm_estimator_new (catalog, &error);
  g_assert_no_error (error);

  g_test_add_func ("/fits/order", test_order);
  g_test_add_func ("/fits/less-memory", test_less_memory);
  g_test_add_func ("/fits/cancelled", test_cancelled);
  status = g_test_run ();
  g_object_unref (estimator);

  return status;
}
