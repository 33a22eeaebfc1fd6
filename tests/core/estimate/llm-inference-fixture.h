/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <math.h>

#include "estimate/qm-llm-inference.h"
#include "hardware/qm-catalog.h"
#include "model/qm-model-resolve.h"

/* Shared by the tests of language-model inference. */

typedef struct {
  QmCatalog *catalog;
  QmLlmInferenceConstants *constants;
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
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "data", "reference-llm-inference.json", NULL);
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
  fixture->constants = qm_llm_inference_constants_new (reference, qm_catalog_table (fixture->catalog, "quantization"), &error);
  g_assert_no_error (error);
}

static inline void
tear_down (Fixture       *fixture,
           gconstpointer  data)
{
  qm_llm_inference_constants_free (fixture->constants);
  g_object_unref (fixture->catalog);
}

/* Own plans, with figures by the reference predictor beside them. */
static inline JsonObject *
load_vectors (JsonNode **root)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "data", "llm-inference.json", NULL);
  g_autofree char *data = NULL;
  g_autoptr (GError) error = NULL;
  gsize length;

  g_file_get_contents (path, &data, &length, &error);
  g_assert_no_error (error);
  *root = load_json (data, (gssize) length);
  return json_node_get_object (*root);
}

/* As a plan that embeds an architecture or gives the parameters alone. */
static inline QmModel *
read_model (JsonObject *config,
            double      parameters,
            double      active_parameters)
{
  g_autoptr (QmModel) model = qm_model_new ();
  g_autoptr (GError) error = NULL;

  if (config != NULL)
    qm_architecture_from_config (config, &model->architecture, &error);
  else
    qm_architecture_guess (parameters, &model->architecture);
  g_assert_no_error (error);

  model->parameters = parameters;
  model->active_parameters = active_parameters > 0 ? active_parameters : model->architecture.active_parameters;
  return g_steal_pointer (&model);
}

static inline void
read_plan (JsonObject  *object,
           QmPlan     **plan,
           QmModel    **model)
{
  g_autoptr (GError) error = NULL;

  *plan = qm_plan_from_object (object, NULL, &error);
  g_assert_no_error (error);
  *model = read_model ((*plan)->model.architecture != NULL ? qm_json_box_object ((*plan)->model.architecture) : NULL,
                       (*plan)->model.parameters, (*plan)->model.active_parameters);
}

static inline JsonObject *
find_case (JsonObject *vectors,
           const char *id)
{
  JsonArray *cases = json_object_get_array_member (vectors, "cases");

  for (guint i = 0; i < json_array_get_length (cases); i++)
    {
      JsonObject *object = json_array_get_object_element (cases, i);

      if (g_str_equal (json_object_get_string_member (object, "id"), id))
        return object;
    }

  g_assert_not_reached ();
}

static inline const QmDevice *
find_device (Fixture      *fixture,
             const QmPlan *plan)
{
  static const QmDevice none = { .id = NULL };

  if (plan->configuration.device[0] == '\0')
    return &none;

  g_assert_nonnull (qm_catalog_find_device (fixture->catalog, plan->configuration.device));
  return qm_catalog_find_device (fixture->catalog, plan->configuration.device);
}

static inline void
predict (Fixture       *fixture,
         const QmPlan  *plan,
         const QmModel *model,
         QmEstimate    *estimate)
{
  g_autoptr (QmLlmInference) inference = qm_llm_inference_new (fixture->constants, plan, model);

  qm_estimate_clear (estimate);
  qm_llm_inference_predict (inference, find_device (fixture, plan), &plan->configuration, estimate);
}

#define ADD(path, function) g_test_add ("/llm-inference/" path, Fixture, NULL, set_up, function, tear_down)
