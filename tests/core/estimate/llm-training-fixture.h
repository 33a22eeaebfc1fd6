/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <math.h>

#include "estimate/qm-llm-training-private.h"
#include "hardware/qm-catalog.h"
#include "model/qm-model-resolve.h"

/* Shared by the tests of language-model training. */

typedef struct {
  QmCatalog *catalog;
  QmLlmTrainingConstants *constants;
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
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "data", "reference-llm-training.json", NULL);
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
  fixture->constants = qm_llm_training_constants_new (reference, &error);
  g_assert_no_error (error);
}

static inline void
tear_down (Fixture       *fixture,
           gconstpointer  data)
{
  qm_llm_training_constants_free (fixture->constants);
  g_object_unref (fixture->catalog);
}

static inline JsonNode *
load_json_file (const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *data = NULL;
  gsize length;

  g_file_get_contents (path, &data, &length, &error);
  g_assert_no_error (error);
  return load_json (data, (gssize) length);
}

/* Own plans, with figures by the reference predictor beside them. */
static inline JsonNode *
load_vectors (void)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "data", "llm-training.json", NULL);

  return load_json_file (path);
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

/* Two defaults that the model reader takes from the model's own code and the
 * reference does not: said in the file, both read the same. */
static inline void
say_defaults (JsonObject *architecture)
{
  const char *type = json_object_get_string_member_with_default (architecture, "model_type", "");

  if (!json_object_has_member (architecture, "vocab_size"))
    json_object_set_int_member (architecture, "vocab_size", 51200);
  if (g_str_equal (type, "falcon") && !json_object_has_member (architecture, "tie_word_embeddings"))
    json_object_set_boolean_member (architecture, "tie_word_embeddings", FALSE);
}

/* As a plan that embeds an architecture or gives the parameters alone. */
static inline QmModel *
read_model (const QmPlan *plan)
{
  g_autoptr (QmModel) model = qm_model_new ();
  g_autoptr (GError) error = NULL;

  if (plan->model.architecture != NULL)
    {
      say_defaults (qm_json_box_object (plan->model.architecture));
      qm_architecture_from_config (qm_json_box_object (plan->model.architecture), &model->architecture, &error);
    }
  else
    qm_architecture_guess (plan->model.parameters, &model->architecture);
  g_assert_no_error (error);

  model->parameters = plan->model.parameters;
  model->active_parameters = plan->model.active_parameters;
  return g_steal_pointer (&model);
}

static inline void
read_case (Fixture     *fixture,
           JsonObject  *object,
           QmPlan     **plan,
           QmModel    **model)
{
  g_autoptr (GError) error = NULL;

  *plan = qm_plan_from_object (json_object_get_object_member (object, "plan"), NULL, &error);
  g_assert_no_error (error);
  *model = read_model (*plan);
}

static inline void
predict (Fixture       *fixture,
         const QmPlan  *plan,
         const QmModel *model,
         QmEstimate    *estimate)
{
  g_autoptr (QmLlmTraining) training = qm_llm_training_new (fixture->constants, plan, model);
  const QmDevice *device = qm_catalog_find_device (fixture->catalog, plan->configuration.device);

  g_assert_nonnull (device);
  qm_estimate_clear (estimate);
  qm_llm_training_predict (training, device, &plan->configuration, estimate);
}

static inline void
predict_case (Fixture    *fixture,
              JsonObject *object,
              QmEstimate *estimate)
{
  g_autoptr (QmPlan) plan = NULL;
  g_autoptr (QmModel) model = NULL;

  read_case (fixture, object, &plan, &model);
  predict (fixture, plan, model, estimate);
}

#define ADD(path, function) g_test_add ("/llm-training/" path, Fixture, NULL, set_up, function, tear_down)
