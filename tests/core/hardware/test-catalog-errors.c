/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gstdio.h>
#include <math.h>

#include "hardware/qm-catalog.h"
#include "qm-file.h"

/* Two folders that a test fills. */
typedef struct {
  char *shipped;
  char *user;
} Folders;

static const char device[] = "{\"id\": \"one\", \"name\": \"Card One\", \"vendor\": \"nvidia\", \"class\": \"consumer\", "
                             "\"memory_gib\": 8, \"source\": \"a page\"}";

static void
set_up (Folders       *folders,
        gconstpointer  data)
{
  folders->shipped = g_dir_make_tmp ("qm-shipped-XXXXXX", NULL);
  folders->user = g_dir_make_tmp ("qm-user-XXXXXX", NULL);
}

static void
remove_folder (char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      g_remove (path);
    }
  g_rmdir (folder);
  g_free (folder);
}

static void
tear_down (Folders       *folders,
           gconstpointer  data)
{
  remove_folder (folders->shipped);
  remove_folder (folders->user);
}

static void
put (const char *folder,
     const char *name,
     const char *text)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autoptr (GError) error = NULL;

  g_file_set_contents (path, text, -1, &error);
  g_assert_no_error (error);
}

/* A file of records, each on a line of its own, the first on line 3. */
static void
put_records (const char *folder,
             const char *name,
             const char *kind,
             const char *records)
{
  g_autofree char *text = g_strdup_printf ("{\"format\": \"quartermaster-%s\", \"sources\": {\"page\": {\"text\": \"a page\"}},\n"
                                           "\"tasks\": {\"chat\": \"language-model\"}, \"%s\": [\n%s\n]}\n", kind, kind, records);

  put (folder, name, text);
}

static void
assert_error (Folders    *folders,
              int         code,
              const char *message)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (qm_catalog_load (folders->shipped, folders->user, &error));
  g_assert_error (error, QM_CATALOG_ERROR, code);
  g_assert_cmpstr (error->message, ==, message);
}

/* Each row is one record that is wrong, behind a sound one on line 3. */
static const struct {
  const char *kind;
  const char *record;
  int code;
  const char *message;
} faults[] = {
  { "devices", "{\"id\": \"two\", \"name\": \"Two\", \"vendor\": \"amd\", \"class\": \"consumer\", \"source\": \"x y\",\n \"bandwidth_gb_per_second\": \"448\"}",
    QM_CATALOG_ERROR_TYPE, "devices.json:5: bandwidth_gb_per_second: a number is expected, found a text" },
  { "devices", "{\"id\": \"two\", \"name\": \"Two\", \"vendor\": \"amd\", \"class\": \"consumer\", \"source\": \"x y\", \"memory_gib\": -8}",
    QM_CATALOG_ERROR_VALUE, "devices.json:4: memory_gib: must not be negative, found -8" },
  { "devices", "{\"id\": \"two\", \"vendor\": \"amd\", \"class\": \"consumer\", \"source\": \"x y\"}",
    QM_CATALOG_ERROR_MISSING, "devices.json:4: name: is missing" },
  { "devices", "{\"id\": \"two\", \"name\": \"Two\", \"vendor\": \"amd\", \"class\": \"consumer\"}",
    QM_CATALOG_ERROR_MISSING, "devices.json:4: source: is missing" },
  { "devices", "{\"id\": \"two\", \"name\": \"Two\", \"vendor\": \"amd\", \"class\": \"toy\", \"source\": \"x y\"}",
    QM_CATALOG_ERROR_VALUE, "devices.json:4: class: “toy” is not one of datacenter, workstation, consumer, laptop, edge, integrated, tpu, npu, cpu" },
  { "devices", "{\"id\": \"two\", \"name\": \"Two\", \"vendor\": \"amd\", \"class\": \"consumer\", \"source\": [\"page\", \"book: 3\"]}",
    QM_CATALOG_ERROR_REFERENCE, "devices.json:4: source: “book” is not one of the sources of this file" },
  { "devices", "{\"id\": \"two\", \"name\": \"Two\", \"vendor\": \"amd\", \"class\": \"consumer\", \"source\": \"x y\", \"tflops\": {\"fp16\": true}}",
    QM_CATALOG_ERROR_TYPE, "devices.json:4: tflops.fp16: a number is expected, found true or false" },
  { "devices", "{\"id\": \"two\", \"name\": \"Two\", \"vendor\": \"amd\", \"class\": \"consumer\", \"source\": \"x y\", \"link\": \"pcie\"}",
    QM_CATALOG_ERROR_TYPE, "devices.json:4: link: an object is expected, found a text" },
  { "devices", "{\"id\": \"two\", \"name\": \"Two\", \"vendor\": \"amd\", \"class\": \"consumer\", \"source\": \"x y\", \"pci_ids\": [1]}",
    QM_CATALOG_ERROR_TYPE, "devices.json:4: pci_ids: a list of texts is expected, found a number in it" },
  { "devices", "{\"id\": \"two\", \"name\": \"Two\", \"vendor\": \"amd\", \"class\": \"consumer\", \"source\": \"x y\", \"unified_memory\": 1}",
    QM_CATALOG_ERROR_TYPE, "devices.json:4: unified_memory: true or false is expected, found a number" },
  { "devices", "{\"id\": \"two\", \"name\": \"Two\", \"vendor\": \"amd\", \"class\": \"consumer\", \"source\": \"x y\", \"usable_fraction\": 1.5}",
    QM_CATALOG_ERROR_VALUE, "devices.json:4: usable_fraction: must be from 0 to 1, found 1.5" },
  { "devices", "{\"id\": \"one\", \"name\": \"Two\", \"vendor\": \"amd\", \"class\": \"consumer\", \"source\": \"x y\"}",
    QM_CATALOG_ERROR_DUPLICATE, "devices.json:4: id: “one” is there twice" },
  { "devices", "[]", QM_CATALOG_ERROR_TYPE, "devices.json:4: devices: a record is expected, found a list" },
  { "offers", "{\"id\": \"a/b/c\", \"provider\": \"a\", \"instance\": \"b\", \"device\": \"onne\", \"source\": \"page: 2\"}",
    QM_CATALOG_ERROR_REFERENCE, "offers.json:3: device: “onne” is no device of the catalog; the nearest is “one”" },
  { "models", "{\"id\": \"m\", \"task\": \"singing\", \"source\": \"page\"}",
    QM_CATALOG_ERROR_VALUE, "models.json:3: task: “singing” is not one of language-model, text-encoder, image-classification, object-detection, "
                            "image-generation, speech, recommender, tabular, other" },
  { "models", "{\"id\": \"m\", \"kind\": \"song\", \"source\": \"page\"}",
    QM_CATALOG_ERROR_REFERENCE, "models.json:3: kind: “song” is not one of the tasks of this file" },
  { "models", "{\"id\": \"m\", \"kind\": \"chat\", \"source\": \"page\"},\n{\"id\": \"m\", \"kind\": \"chat\", \"source\": \"page\"}",
    QM_CATALOG_ERROR_DUPLICATE, "models.json:4: id: “m” is there twice" },
};

static void
test_faults (Folders       *folders,
             gconstpointer  data)
{
  for (guint i = 0; i < G_N_ELEMENTS (faults); i++)
    {
      gboolean is_device = g_str_equal (faults[i].kind, "devices");
      g_autofree char *name = g_strconcat (faults[i].kind, ".json", NULL);
      g_autofree char *both = g_strconcat (device, ",\n", faults[i].record, NULL);

      put_records (folders->shipped, "devices.json", "devices", device);
      put_records (folders->shipped, "offers.json", "offers", "");
      put_records (folders->shipped, "models.json", "models", "");
      put_records (folders->shipped, name, faults[i].kind, is_device ? both : faults[i].record);
      assert_error (folders, faults[i].code, faults[i].message);
    }
}

static void
test_syntax (Folders       *folders,
             gconstpointer  data)
{
  g_autoptr (GError) error = NULL;

  put (folders->shipped, "table.json", "{\n\"a\": 1,\n\"b\": ]\n}\n");
  g_assert_null (qm_catalog_load (folders->shipped, NULL, &error));
  g_assert_error (error, QM_CATALOG_ERROR, QM_CATALOG_ERROR_SYNTAX);
  g_assert_true (g_str_has_prefix (error->message, "table.json:3: not valid JSON: unexpected character `]'"));
}

static void
test_no_records (Folders       *folders,
                 gconstpointer  data)
{
  put (folders->shipped, "devices.json", "{\"format\": \"quartermaster-devices\"}");
  assert_error (folders, QM_CATALOG_ERROR_MISSING, "devices.json:1: devices: a list of records is expected");
}

static void
test_no_folder (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (qm_catalog_load ("/nowhere/at/all", NULL, &error));
  g_assert_error (error, QM_FILE_ERROR, G_FILE_ERROR_NOENT);
}

/* An error in a user's file names it by its whole path. */
static void
test_user_error (Folders       *folders,
                 gconstpointer  data)
{
  g_autofree char *message = g_strdup_printf ("%s/mine.json:3: vendor: is missing", folders->user);

  put_records (folders->user, "mine.json", "devices", "{\"id\": \"mine\", \"name\": \"Mine\", \"class\": \"cpu\", \"source\": \"x y\"}");
  assert_error (folders, QM_CATALOG_ERROR_MISSING, message);
}

static void
test_override (Folders       *folders,
               gconstpointer  data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmCatalog) catalog = NULL;

  put_records (folders->shipped, "devices.json", "devices", device);
  put_records (folders->shipped, "offers.json", "offers",
               "{\"id\": \"a/b\", \"provider\": \"a\", \"instance\": \"b\", \"device\": \"one\", \"on_demand_usd_per_hour\": 2, \"source\": \"page\"}");
  put_records (folders->shipped, "models.json", "models",
               "{\"id\": \"m\", \"kind\": \"chat\", \"parameters\": 1, \"source\": \"page\"},\n{\"id\": \"n\", \"kind\": \"chat\", \"source\": \"page\"}");
  put (folders->shipped, "constants.json", "{\"value\": 1}");
  put (folders->shipped, "kept.json", "{\"value\": 3}");
  put_records (folders->user, "devices.json", "devices",
               "{\"id\": \"one\", \"name\": \"My Card\", \"vendor\": \"acme\", \"class\": \"consumer\", \"memory_gib\": 12, \"source\": \"x y\"}");
  put_records (folders->user, "offers.json", "offers",
               "{\"id\": \"a/b\", \"provider\": \"a\", \"instance\": \"b\", \"device\": \"one\", \"on_demand_usd_per_hour\": 5, \"source\": \"page\"}");
  put_records (folders->user, "models.json", "models", "{\"id\": \"m\", \"kind\": \"chat\", \"parameters\": 2, \"source\": \"page\"}");
  put (folders->user, "constants.json", "{\"value\": 2}");

  catalog = qm_catalog_load (folders->shipped, folders->user, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (qm_catalog_n_devices (catalog), ==, 1);
  g_assert_cmpstr (qm_catalog_find_device (catalog, "one")->name, ==, "My Card");
  g_assert_cmpint (qm_catalog_device (catalog, 0)->vendor, ==, QM_VENDOR_OTHER);
  g_assert_null (qm_catalog_find_device (catalog, "Card One"));
  g_assert_cmpuint (qm_catalog_n_offers (catalog), ==, 1);
  g_assert_cmpfloat (qm_catalog_offer (catalog, 0)->on_demand_usd_per_hour, ==, 5);
  g_assert_true (isnan (qm_catalog_offer (catalog, 0)->spot_usd_per_hour));
  g_assert_true (qm_catalog_offer (catalog, 0)->device == qm_catalog_device (catalog, 0));
  g_assert_cmpuint (qm_catalog_n_models (catalog), ==, 2);
  g_assert_cmpfloat (qm_catalog_find_model (catalog, "m", 0)->parameters, ==, 2);
  g_assert_cmpint (json_object_get_int_member (json_node_get_object (qm_catalog_table (catalog, "constants")), "value"), ==, 2);
  g_assert_cmpint (json_object_get_int_member (json_node_get_object (qm_catalog_table (catalog, "kept")), "value"), ==, 3);
  g_assert_null (qm_catalog_table (catalog, "devices"));
}

/* A folder of the user's that is not there is none. */
static void
test_no_user_folder (Folders       *folders,
                     gconstpointer  data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmCatalog) catalog = NULL;

  put_records (folders->shipped, "devices.json", "devices", device);
  catalog = qm_catalog_load (folders->shipped, "/nowhere/at/all", &error);
  g_assert_no_error (error);
  g_assert_cmpuint (qm_catalog_n_devices (catalog), ==, 1);
  g_assert_cmpstr (qm_catalog_find_device (catalog, "Card One")->source, ==, "a page");
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/catalog/faults", Folders, NULL, set_up, test_faults, tear_down);
  g_test_add ("/catalog/syntax", Folders, NULL, set_up, test_syntax, tear_down);
  g_test_add ("/catalog/no-records", Folders, NULL, set_up, test_no_records, tear_down);
  g_test_add_func ("/catalog/no-folder", test_no_folder);
  g_test_add ("/catalog/user-error", Folders, NULL, set_up, test_user_error, tear_down);
  g_test_add ("/catalog/override", Folders, NULL, set_up, test_override, tear_down);
  g_test_add ("/catalog/no-user-folder", Folders, NULL, set_up, test_no_user_folder, tear_down);

  return g_test_run ();
}
