/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "qm-cli.h"
#include "qm-enum.h"
#include "qm-enum-types.h"

static void
set_number (JsonObject *object,
            const char *name,
            double      value)
{
  if (isfinite (value) && value != 0)
    json_object_set_double_member (object, name, value);
  else
    json_object_set_null_member (object, name);
}

static void
set_text (JsonObject *object,
          const char *name,
          const char *value)
{
  if (value != NULL)
    json_object_set_string_member (object, name, value);
  else
    json_object_set_null_member (object, name);
}

static JsonObject *
device_to_object (const QmDevice *device)
{
  JsonObject *object = json_object_new ();

  set_text (object, "id", device->id);
  set_text (object, "name", device->name);
  set_text (object, "vendor", qm_enum_to_word (QM_TYPE_VENDOR, device->vendor));
  set_text (object, "class", qm_enum_to_word (QM_TYPE_DEVICE_CLASS, device->device_class));
  set_text (object, "arch", device->arch);
  set_number (object, "memory_bytes", device->memory_bytes);
  set_number (object, "usable_bytes", device->usable_bytes);
  set_text (object, "memory_type", device->memory_type);
  set_number (object, "bandwidth_bytes_per_second", device->bandwidth_bytes_per_second);
  set_number (object, "tflops_fp32", device->tflops_fp32);
  set_number (object, "tflops_fp16", device->tflops_fp16);
  set_number (object, "tflops_bf16", device->tflops_bf16);
  set_number (object, "tflops_fp8", device->tflops_fp8);
  set_number (object, "tflops_int8", device->tflops_int8);
  set_number (object, "power_watts", device->power_watts);
  set_number (object, "link_bytes_per_second", device->link_bytes_per_second);
  set_number (object, "price_usd", device->price_usd);
  set_text (object, "confidence", device->confidence);
  set_text (object, "notes", device->notes);
  set_text (object, "source", device->source);
  set_text (object, "as_of", device->as_of);

  return object;
}

static JsonObject *
offer_to_object (const QmOffer *offer)
{
  JsonObject *object = json_object_new ();

  set_text (object, "id", offer->id);
  set_text (object, "provider", offer->provider);
  set_text (object, "instance", offer->instance);
  set_text (object, "region", offer->region);
  set_text (object, "device", offer->device != NULL ? offer->device->id : NULL);
  set_number (object, "devices", offer->device_count);
  json_object_set_int_member (object, "vcpus", offer->vcpus);
  set_number (object, "ram_bytes", offer->ram_bytes);
  set_number (object, "on_demand_usd_per_hour", offer->on_demand_usd_per_hour);
  set_number (object, "spot_usd_per_hour", offer->spot_usd_per_hour);
  set_text (object, "price_status", offer->price_status);
  set_text (object, "source", offer->source);
  set_text (object, "as_of", offer->as_of);
  set_text (object, "spot_as_of", offer->spot_as_of);

  return object;
}

static void
print_array (const char *name,
             JsonArray  *array,
             JsonObject *root)
{
  json_object_set_array_member (root, name, array);
}

static JsonNode *
model_to_node (const QmModelEntry *model)
{
  g_autoptr (QmJsonBox) tree = qm_model_entry_parse (model);

  return qm_json_box_dup_root (tree);
}

static JsonNode *
list_as_json (QmCatalog *catalog)
{
  JsonNode *node = json_node_new (JSON_NODE_OBJECT);
  JsonObject *root = json_object_new ();
  JsonArray *devices = json_array_new ();
  JsonArray *offers = json_array_new ();
  JsonArray *models = json_array_new ();

  for (guint i = 0; i < qm_catalog_n_devices (catalog); i++)
    json_array_add_object_element (devices, device_to_object (qm_catalog_device (catalog, i)));
  for (guint i = 0; i < qm_catalog_n_slices (catalog); i++)
    json_array_add_object_element (devices, device_to_object (qm_catalog_slice (catalog, i)));
  for (guint i = 0; i < qm_catalog_n_offers (catalog); i++)
    json_array_add_object_element (offers, offer_to_object (qm_catalog_offer (catalog, i)));
  for (guint i = 0; i < qm_catalog_n_models (catalog); i++)
    json_array_add_element (models, model_to_node (qm_catalog_model (catalog, i)));
  print_array ("devices", devices, root);
  print_array ("offers", offers, root);
  print_array ("models", models, root);
  json_node_take_object (node, root);

  return node;
}

static void
list (QmCatalog *catalog)
{
  for (guint i = 0; i < qm_catalog_n_devices (catalog); i++)
    g_print ("%-*s %-36s %s\n", QM_COLUMN (8, _("device")), qm_catalog_device (catalog, i)->id, qm_catalog_device (catalog, i)->name);
  for (guint i = 0; i < qm_catalog_n_slices (catalog); i++)
    g_print ("%-*s %-36s %s\n", QM_COLUMN (8, _("slice")), qm_catalog_slice (catalog, i)->id, qm_catalog_slice (catalog, i)->name);
  for (guint i = 0; i < qm_catalog_n_offers (catalog); i++)
    {
      const QmOffer *offer = qm_catalog_offer (catalog, i);

      g_print ("%-*s %-52s %s\n", QM_COLUMN (8, _("offer")), offer->id, offer->device != NULL ? offer->device->name : "");
    }
  for (guint i = 0; i < qm_catalog_n_models (catalog); i++)
    {
      const QmModelEntry *model = qm_catalog_model (catalog, i);

      /* a model of images is there once for each size it was counted with */
      g_print ("%-*s %-36s %s", QM_COLUMN (8, _("model")), model->id, model->name);
      if (model->image_size > 0)
        g_print (", %.0f × %.0f", model->image_size, model->image_size);
      g_print ("\n");
    }
}

/* The ids most like @id, one of each kind; NULL where there is none. */
static char *
nearest (QmCatalog  *catalog,
         const char *id)
{
  const char *kinds[] = { "device", "offer", "model" };
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_auto (GStrv) found = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      const char *name = qm_catalog_nearest_id (catalog, kinds[i], id);

      if (name != NULL)
        g_strv_builder_add (builder, name);
    }
  found = g_strv_builder_end (builder);

  return found[0] != NULL ? g_strjoinv (", ", found) : NULL;
}

static gboolean
show (QmCli       *cli,
      const char  *id,
      GError     **error)
{
  const QmDevice *device = qm_catalog_find_device (cli->catalog, id);
  const QmOffer *offer = qm_catalog_find_offer (cli->catalog, id);
  const QmModelEntry *model = qm_catalog_find_model (cli->catalog, id, 0);
  g_autoptr (JsonNode) node = NULL;

  if (device == NULL && offer == NULL && model == NULL)
    {
      g_autofree char *near = nearest (cli->catalog, id);

      if (near != NULL)
        g_set_error (error, QM_CATALOG_ERROR, QM_CATALOG_ERROR_MISSING,
                     _("no device, offer or model \"%s\" in the catalog; near it are: %s"), id, near);
      else
        g_set_error (error, QM_CATALOG_ERROR, QM_CATALOG_ERROR_MISSING,
                     _("no device, offer or model \"%s\" in the catalog"), id);
      return FALSE;
    }

  node = device != NULL || offer != NULL ? json_node_new (JSON_NODE_OBJECT) : model_to_node (model);
  if (device != NULL)
    json_node_take_object (node, device_to_object (device));
  else if (offer != NULL)
    json_node_take_object (node, offer_to_object (offer));
  qm_cli_print_json (node, TRUE);

  return TRUE;
}

/**
 * qm_command_catalog:
 * @cli: the program
 * @arguments: `catalog list`, `catalog show ID`, or what qm_command_prices() takes
 * @error: return location for an error
 *
 * Prints devices, offers and models, each figure with its source and date.
 *
 * Returns: whether it worked
 */
gboolean
qm_command_catalog (QmCli   *cli,
                    GStrv    arguments,
                    GError **error)
{
  static const char * const of_prices[] = { "import", "update", "--help", "-h" };
  g_auto (GStrv) left = g_strdupv (arguments);

  for (guint i = 0; i < G_N_ELEMENTS (of_prices); i++)
    if (g_strv_contains ((const char * const *) arguments, of_prices[i]))
      return qm_command_prices (cli, arguments, error);
  if (!qm_cli_parse (cli, &left, NULL, 1, 2, error) || qm_cli_get_catalog (cli, error) == NULL)
    return FALSE;

  if (strcmp (left[1], "list") == 0 && left[2] == NULL)
    {
      if (cli->json)
        {
          g_autoptr (JsonNode) node = list_as_json (cli->catalog);

          qm_cli_print_json (node, TRUE);
        }
      else
        list (cli->catalog);
      return TRUE;
    }
  if (strcmp (left[1], "show") == 0 && left[2] != NULL)
    return show (cli, left[2], error);

  if (strcmp (left[1], "show") == 0)
    g_set_error_literal (error, QM_USAGE_ERROR, 0, _("catalog: the ID of what to show is missing"));
  else if (strcmp (left[1], "list") == 0)
    g_set_error_literal (error, QM_USAGE_ERROR, 0, _("catalog: \"list\" takes no more arguments"));
  else
    g_set_error (error, QM_USAGE_ERROR, 0, _("catalog: \"%s\" is not known here; use \"list\", \"show ID\", \"import FILE\" or \"update\""), left[1]);
  return FALSE;
}
