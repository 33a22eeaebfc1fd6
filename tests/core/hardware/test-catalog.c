/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "hardware/qm-catalog.h"

#define GIB (1024.0 * 1024.0 * 1024.0)
#define MIB (1024.0 * 1024.0)

static QmCatalog *
load_shipped (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *directory = g_build_filename (g_getenv ("QM_DATA_DIR"), "catalog", NULL);
  QmCatalog *catalog = qm_catalog_load (directory, NULL, &error);

  g_assert_no_error (error);
  return catalog;
}

/* The counts are those of the survey that the data came from. */
static void
test_counts (void)
{
  g_autoptr (QmCatalog) catalog = load_shipped ();

  g_assert_cmpuint (qm_catalog_n_devices (catalog), ==, 248);
  g_assert_cmpuint (qm_catalog_n_offers (catalog), ==, 402);
  g_assert_cmpuint (qm_catalog_n_models (catalog), >=, 1304);
}

/* NVIDIA's data sheet of the A100: 40 GB, 1,555 GB/s, 312 TFLOPS, 600 GB/s. */
static void
test_data_sheet (void)
{
  g_autoptr (QmCatalog) catalog = load_shipped ();
  const QmDevice *a100 = qm_catalog_find_device (catalog, "a100-sxm4-40gb");

  g_assert_nonnull (a100);
  g_assert_cmpfloat (a100->memory_bytes, ==, 40 * GIB);
  g_assert_cmpfloat (a100->bandwidth_bytes_per_second, ==, 1555e9);
  g_assert_cmpfloat (a100->tflops_bf16, ==, 312);
  g_assert_cmpfloat (a100->tflops_fp8, ==, 0);
  g_assert_cmpfloat (a100->link_bytes_per_second, ==, 600e9);
  g_assert_cmpstr (a100->link_type, ==, "nvlink3");
  g_assert_cmpint (a100->pcie_generation, ==, 4);
  g_assert_cmpint (a100->vendor, ==, QM_VENDOR_NVIDIA);
  g_assert_cmpint (a100->device_class, ==, QM_DEVICE_CLASS_DATACENTER);
  g_assert_true (a100->is_hbm);
  g_assert_nonnull (g_strrstr (a100->source, "NVIDIA data sheet"));
  g_assert_cmpstr (a100->as_of, ==, "2026-03-05");
}

/* What nvidia-smi prints as total; elsewhere 0.985 of the box, and on Apple
 * computers the three quarters that the graphics part gets by default. */
static void
test_usable_memory (void)
{
  g_autoptr (QmCatalog) catalog = load_shipped ();

  g_assert_cmpfloat (qm_catalog_find_device (catalog, "a10g")->usable_bytes, ==, 23028 * MIB);
  g_assert_cmpfloat (qm_catalog_find_device (catalog, "rtx-4090")->usable_bytes, ==, 24564 * MIB);
  g_assert_cmpfloat (qm_catalog_find_device (catalog, "mi300x")->usable_bytes, ==, 0.985 * 192 * GIB);
  g_assert_cmpfloat (qm_catalog_find_device (catalog, "apple-m2-max")->usable_bytes, ==, 0.75 * 96 * GIB);
  g_assert_cmpfloat (qm_catalog_find_device (catalog, "epyc-9654")->usable_bytes, ==, 0);
  g_assert_cmpint (qm_catalog_find_device (catalog, "epyc-9654")->cpu_cores, ==, 96);
}

static void
test_unknown_device (void)
{
  g_autoptr (QmCatalog) catalog = load_shipped ();
  const QmDevice *unknown = qm_catalog_find_device (catalog, "unknown");

  g_assert_nonnull (unknown);
  g_assert_true (unknown->is_unknown);
  g_assert_cmpint (unknown->cpu_cores, ==, 16);
  g_assert_cmpfloat (unknown->bandwidth_bytes_per_second, ==, 68e9);
  for (guint i = 0; i < qm_catalog_n_devices (catalog); i++)
    g_assert_false (qm_catalog_device (catalog, i)->is_unknown);
}

/* Every figure has an origin and a date, every offer a device. */
static void
test_origins (void)
{
  g_autoptr (QmCatalog) catalog = load_shipped ();

  for (guint i = 0; i < qm_catalog_n_devices (catalog); i++)
    {
      const QmDevice *device = qm_catalog_device (catalog, i);

      g_assert_nonnull (device->source);
      g_assert_nonnull (device->as_of);
      g_assert_true (qm_catalog_find_device (catalog, device->id) == device);
    }
  for (guint i = 0; i < qm_catalog_n_offers (catalog); i++)
    {
      const QmOffer *offer = qm_catalog_offer (catalog, i);

      g_assert_nonnull (offer->source);
      g_assert_nonnull (offer->device);
      g_assert_true (qm_catalog_find_offer (catalog, offer->id) == offer);
      g_assert_true (isnan (offer->on_demand_usd_per_hour) || offer->as_of != NULL);
    }
}

/* AWS's list of 2026-07-20: a g5.12xlarge has four A10G and costs 5.672 USD
 * an hour; the spot price was seen in October 2025. */
static void
test_offer (void)
{
  g_autoptr (QmCatalog) catalog = load_shipped ();
  const QmOffer *offer = qm_catalog_find_offer (catalog, "aws/g5.12xlarge/us-east-1");
  const QmOffer *slice = qm_catalog_find_offer (catalog, "aws/g6f.xlarge/us-east-1");

  g_assert_nonnull (offer);
  g_assert_cmpstr (offer->device->id, ==, "a10g");
  g_assert_cmpfloat (offer->device_count, ==, 4);
  g_assert_cmpfloat (offer->on_demand_usd_per_hour, ==, 5.672);
  g_assert_cmpfloat (offer->spot_usd_per_hour, ==, 2.0813);
  g_assert_cmpstr (offer->as_of, ==, "2026-07-20");
  g_assert_cmpstr (offer->spot_as_of, ==, "2025-10");
  g_assert_cmpfloat (offer->network_bits_per_second, ==, 40e9);
  g_assert_cmpfloat (offer->ram_bytes, ==, 192 * GIB);
  g_assert_cmpint (offer->vcpus, ==, 48);
  g_assert_cmpfloat (slice->device_count, ==, 0.125);
}

/* People know the cloud of Google by that name, not as "gcp". */
static void
test_provider_names (void)
{
  g_autoptr (QmCatalog) catalog = load_shipped ();
  gboolean seen = FALSE;

  for (guint i = 0; i < qm_catalog_n_offers (catalog); i++)
    {
      const QmOffer *offer = qm_catalog_offer (catalog, i);

      g_test_message ("%s: %s", offer->provider, offer->provider_name);
      g_assert_true (g_ascii_isupper (offer->provider_name[0]));
      if (g_str_equal (offer->provider, "gcp"))
        {
          g_assert_cmpstr (offer->provider_name, ==, "Google Cloud");
          seen = TRUE;
        }
    }
  g_assert_true (seen);
}

/* A key of the file's list of sources stands for a sentence. */
static void
test_model_source (void)
{
  g_autoptr (QmCatalog) catalog = load_shipped ();
  const QmModelEntry *entry = qm_catalog_find_model (catalog, "llama-3.1-8b", 0);

  g_assert_nonnull (entry);
  g_assert_nonnull (strstr (entry->source, "model card"));
}

/* timm has ResNet-50 at several sizes: 4.11 GMACs at 224 pixels. */
static void
test_vision_model (void)
{
  g_autoptr (QmCatalog) catalog = load_shipped ();
  const QmModelEntry *usual = qm_catalog_find_model (catalog, "resnet-50", 0);
  const QmModelEntry *large = qm_catalog_find_model (catalog, "resnet-50", 400);

  g_assert_nonnull (usual);
  g_assert_cmpint (usual->task, ==, QM_TASK_IMAGE_CLASSIFICATION);
  g_assert_cmpfloat (usual->image_size, ==, 224);
  g_assert_cmpfloat (large->image_size, >, 224);
  g_assert_true (qm_catalog_find_model (catalog, "resnet50", 0) == usual);
  g_assert_null (qm_catalog_find_model (catalog, "resnet-51", 0));
}

/* A block of width d has 12 d² weights: 4 of attention, 8 of the two layers after it.
 * Widths are those of arXiv:2010.11929, 2106.04560 and 2012.12877. */
static void
test_vision_layers (void)
{
  static const struct {
    const char *id;
    int layers;
    double width;
  } known[] = {
    { "vit-tiny-patch16-224", 12, 192 }, { "deit-small-patch16-224", 12, 384 }, { "vit-base-patch16-224", 12, 768 },
    { "vit-large-patch16-224", 24, 1024 }, { "vit-huge-patch14-224", 32, 1280 }, { "vit-giant-patch14-224", 40, 1408 },
    { "beit-large-patch16-224", 24, 1024 }, { "cait-s24-224", 26, 384 },
  };
  g_autoptr (QmCatalog) catalog = load_shipped ();

  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    {
      const QmModelEntry *model = qm_catalog_find_model (catalog, known[i].id, 0);
      double blocks = 12 * known[i].layers * known[i].width * known[i].width;
      g_autoptr (QmJsonBox) tree = NULL;

      g_assert_nonnull (model);
      tree = qm_model_entry_parse (model);
      g_assert_cmpint (json_object_get_int_member (qm_json_box_object (tree), "layers"), ==, known[i].layers);
      g_assert_cmpfloat_with_epsilon (blocks / model->parameters, 1, 0.1);
    }
}

/* Counts that their makers publish, and one tie of embedding and head. */
static void
test_language_models (void)
{
  g_autoptr (QmCatalog) catalog = load_shipped ();
  const QmModelEntry *llama = qm_catalog_find_model (catalog, "llama-3.1-8b-instruct", 0);
  g_autoptr (QmJsonBox) tree = qm_model_entry_parse (llama);
  JsonObject *facts = qm_json_box_object (tree);
  guint with_config = 0;

  g_assert_cmpstr (llama->id, ==, "llama-3.1-8b");
  g_assert_cmpstr (llama->name, ==, "Llama 3.1 8B");
  g_assert_cmpint (llama->task, ==, QM_TASK_LANGUAGE_MODEL);
  g_assert_cmpint (json_object_get_int_member (facts, "parameters"), ==, 8030261248);
  g_assert_cmpint (json_object_get_int_member (json_object_get_object_member (facts, "config"), "num_key_value_heads"), ==, 8);
  g_assert_true (json_object_get_boolean_member (facts, "gated"));
  g_assert_cmpint (qm_catalog_find_model (catalog, "xgboost-exact", 0)->task, ==, QM_TASK_TABULAR);
  for (guint i = 0; i < qm_catalog_n_models (catalog); i++)
    with_config += qm_catalog_model (catalog, i)->has_config;
  g_assert_cmpuint (with_config, >=, 80);
}

/* Who buys or picks by the name must not get the one with half the memory. */
static void
test_names_differ (void)
{
  g_autoptr (QmCatalog) catalog = load_shipped ();
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < qm_catalog_n_devices (catalog); i++)
    if (!g_hash_table_add (seen, (char *) qm_catalog_device (catalog, i)->name))
      g_test_fail_printf ("two devices are called %s", qm_catalog_device (catalog, i)->name);
}

static void
test_names (void)
{
  g_autoptr (QmCatalog) catalog = load_shipped ();

  g_assert_cmpstr (qm_catalog_find_device (catalog, "Tesla T4")->id, ==, "t4");
  g_assert_cmpstr (qm_catalog_find_device (catalog, "RTX3070")->id, ==, "rtx-3070");
  g_assert_null (qm_catalog_find_device (catalog, "NVIDIA GeForce RTX 3080"));
  g_assert_null (qm_catalog_find_device (catalog, NULL));
  g_assert_cmpstr (qm_catalog_nearest_id (catalog, "device", "rtx-4009"), ==, "rtx-4090");
  g_assert_cmpstr (qm_catalog_nearest_id (catalog, "device", "h100"), ==, "h100-pcie-80gb");
  g_assert_cmpstr (qm_catalog_nearest_id (catalog, "model", "resent-50"), ==, "resnet-50");
  g_assert_cmpstr (qm_catalog_nearest_id (catalog, "offer", "aws/g4dn.12xlarge"), ==, "aws/g4dn.12xlarge/us-east-1");
  g_assert_null (qm_catalog_nearest_id (catalog, "device", "a washing machine that nobody knows"));
}

/* One model alone is what it is in the whole. */
static void
test_one_model (void)
{
  g_autoptr (QmCatalog) whole = load_shipped ();
  g_autofree char *directory = g_build_filename (g_getenv ("QM_DATA_DIR"), "catalog", NULL);

  for (guint i = 0; i < qm_catalog_n_models (whole); i += 97)
    {
      const QmModelEntry *entry = qm_catalog_model (whole, i), *found;
      const char *name = entry->aliases[0] != NULL ? entry->aliases[0] : entry->id;
      g_autoptr (GError) error = NULL;
      g_autoptr (QmCatalog) one = qm_catalog_load_model (directory, NULL, name, "quantization", &error);

      g_assert_no_error (error);
      found = qm_catalog_find_model (one, name, 0);
      g_assert_cmpstr (found->id, ==, qm_catalog_find_model (whole, name, 0)->id);
      g_assert_cmpstr (found->text, ==, qm_catalog_find_model (whole, name, 0)->text);
      g_assert_nonnull (qm_catalog_table (one, "quantization"));
      g_assert_cmpuint (qm_catalog_n_offers (one), ==, 0);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/catalog/counts", test_counts);
  g_test_add_func ("/catalog/data-sheet", test_data_sheet);
  g_test_add_func ("/catalog/usable-memory", test_usable_memory);
  g_test_add_func ("/catalog/unknown-device", test_unknown_device);
  g_test_add_func ("/catalog/origins", test_origins);
  g_test_add_func ("/catalog/offer", test_offer);
  g_test_add_func ("/catalog/provider-names", test_provider_names);
  g_test_add_func ("/catalog/model-source", test_model_source);
  g_test_add_func ("/catalog/vision-model", test_vision_model);
  g_test_add_func ("/catalog/vision-layers", test_vision_layers);
  g_test_add_func ("/catalog/language-models", test_language_models);
  g_test_add_func ("/catalog/names", test_names);
  g_test_add_func ("/catalog/names-differ", test_names_differ);
  g_test_add_func ("/catalog/one-model", test_one_model);

  return g_test_run ();
}
