/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <math.h>

#include "estimate/qm-other-domains.h"
#include "hardware/qm-catalog.h"
#include "model/qm-model-resolve.h"

/* Shared by the tests of vision, text encoders, image generation, speech,
 * recommenders and gradient boosting. */

typedef struct {
  QmCatalog *catalog;
  QmOtherDomainsConstants *constants;
} Fixture;

static inline JsonNode *
load_json (const char *data,
           gssize      length)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (GError) error = NULL;

  json_parser_load_from_data (parser, data, length, &error);
  g_assert_no_error (error);
  return json_parser_steal_root (parser);
}

/* The constants of the reference predictor: the figures beside the vectors were
 * made with them, whatever is fitted later. */
static inline JsonNode *
load_reference (void)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "data", "reference-other-domains.json", NULL);
  g_autofree char *data = NULL;
  g_autoptr (GError) error = NULL;

  g_file_get_contents (path, &data, NULL, &error);
  g_assert_no_error (error);
  return load_json (data, -1);
}

static inline void
set_up (Fixture       *fixture,
        gconstpointer  data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonNode) reference = load_reference ();
  g_autofree char *directory = g_build_filename (g_getenv ("QM_DATA_DIR"), "catalog", NULL);

  fixture->catalog = qm_catalog_load (directory, NULL, &error);
  g_assert_no_error (error);
  fixture->constants = qm_other_domains_constants_new (reference, &error);
  g_assert_no_error (error);
}

static inline void
tear_down (Fixture       *fixture,
           gconstpointer  data)
{
  qm_other_domains_constants_free (fixture->constants);
  g_object_unref (fixture->catalog);
}

/* Own plans, with figures by the reference predictor beside them. */
static inline JsonNode *
load_vectors (void)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "data", "other-domains.json", NULL);
  g_autofree char *data = NULL;
  g_autoptr (GError) error = NULL;
  gsize length;

  g_file_get_contents (path, &data, &length, &error);
  g_assert_no_error (error);
  return load_json (data, (gssize) length);
}

static inline JsonObject *
find_case (JsonNode   *vectors,
           const char *id)
{
  JsonArray *cases = json_object_get_array_member (json_node_get_object (vectors), "cases");

  for (guint i = 0; i < json_array_get_length (cases); i++)
    {
      JsonObject *object = json_array_get_object_element (cases, i);

      if (g_str_equal (json_object_get_string_member (object, "id"), id))
        return object;
    }

  g_assert_not_reached ();
}

static inline void
predict (Fixture      *fixture,
         const QmPlan *plan,
         QmEstimate   *estimate)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmModel) model = qm_model_resolve (plan, fixture->catalog, NULL, NULL, &error);
  g_autoptr (QmOtherDomains) domains = NULL;
  const QmDevice *device = qm_catalog_find_device (fixture->catalog, plan->configuration.device);

  g_assert_no_error (error);
  g_assert_nonnull (device);
  domains = qm_other_domains_new (fixture->constants, plan, model);
  qm_estimate_clear (estimate);
  qm_other_domains_predict (domains, device, &plan->configuration, estimate);
}

static inline QmPlan *
read_plan (JsonObject *object)
{
  g_autoptr (GError) error = NULL;
  QmPlan *plan = qm_plan_from_object (json_object_get_object_member (object, "plan"), NULL, &error);

  g_assert_no_error (error);
  return plan;
}

static inline void
predict_case (Fixture    *fixture,
              JsonObject *object,
              QmEstimate *estimate)
{
  g_autoptr (QmPlan) plan = read_plan (object);

  predict (fixture, plan, estimate);
}

#define ADD(path, function) g_test_add ("/other-domains/" path, Fixture, NULL, set_up, function, tear_down)
