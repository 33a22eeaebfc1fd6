/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-calibration.h"

#include <glib/gi18n.h>
#include <math.h>

#include "estimate/qm-constants-reading.h"
#include "hardware/qm-catalog.h"
#include "qm-enum.h"
#include "qm-enum-types.h"
#include "qm-error.h"

typedef struct {
  const char *key;
  gsize offset;
} Figure;

#define NOISE(key, origin) { #key, G_STRUCT_OFFSET (QmCalibrationConstants, noise) + (origin) * sizeof (double) }
#define FIGURE(name) { #name, G_STRUCT_OFFSET (QmCalibrationConstants, name) }

static const Figure figures[] = {
  NOISE (noise_stress_test, QM_ORIGIN_STRESS_TEST),
  NOISE (noise_ledger, QM_ORIGIN_LEDGER),
  NOISE (noise_community, QM_ORIGIN_COMMUNITY),
  NOISE (noise_vendor, QM_ORIGIN_VENDOR),
  FIGURE (noise_per_year),
  FIGURE (own_share),
  FIGURE (common_share),
  FIGURE (other_device),
  FIGURE (same_arch),
  FIGURE (other_stack),
  FIGURE (other_task),
  FIGURE (other_activity),
  FIGURE (other_method),
  FIGURE (other_quantity),
  FIGURE (contention),
  FIGURE (freedom),
  FIGURE (surprise),
  FIGURE (over_ceiling),
};

static double
read_figure (JsonObject *table,
             const char *key)
{
  JsonNode *figure = table != NULL ? qm_constants_node (table, key, JSON_NODE_OBJECT) : NULL;

  return figure != NULL ? qm_constants_number (json_node_get_object (figure), "value", NAN) : NAN;
}

static gboolean
read_critical_batch (QmCriticalBatch *self,
                     JsonObject      *object)
{
  int task;

  if (!qm_enum_from_word (QM_TYPE_TASK, json_object_get_string_member_with_default (object, "task", ""), &task))
    return FALSE;

  self->task = task;
  self->samples = qm_constants_number (object, "samples", NAN);
  g_strlcpy (self->prefix, json_object_get_string_member_with_default (object, "prefix", ""), sizeof self->prefix);

  return self->samples > 0 && isfinite (self->samples);
}

static gboolean
read_critical_batches (QmCalibrationConstants *self,
                       JsonObject             *root,
                       GError                **error)
{
  JsonNode *node = root != NULL ? qm_constants_node (root, "critical_batches", JSON_NODE_ARRAY) : NULL;
  JsonArray *rows = node != NULL ? json_node_get_array (node) : NULL;

  self->n_critical_batches = 0;
  for (guint i = 0; rows != NULL && i < MIN (json_array_get_length (rows), QM_MAX_CRITICAL_BATCHES); i++)
    {
      JsonNode *row = json_array_get_element (rows, i);

      if (!JSON_NODE_HOLDS_OBJECT (row) ||
          !read_critical_batch (&self->critical_batches[self->n_critical_batches++], json_node_get_object (row)))
        {
          qm_error_set (error, QM_CATALOG_ERROR, QM_CATALOG_ERROR_MISSING, "critical_batches",
                        N_("a task and a number of samples are expected"), NULL);
          if (error != NULL)
            qm_error_locate (*error, "measurements.json", 0);
          return FALSE;
        }
    }

  return TRUE;
}

/**
 * qm_calibration_constants_read:
 * @self: (out caller-allocates): the constants
 * @node: (nullable): the content of `measurements.json`
 * @error: return location for an error of %QM_CATALOG_ERROR
 *
 * Returns: whether all are there and 0 or more; else @error names the one that
 *   is not
 */
gboolean
qm_calibration_constants_read (QmCalibrationConstants *self,
                               JsonNode               *node,
                               GError                **error)
{
  JsonObject *root = node != NULL && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
  JsonNode *table = root != NULL ? qm_constants_node (root, "calibration", JSON_NODE_OBJECT) : NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (figures); i++)
    {
      double value = read_figure (table != NULL ? json_node_get_object (table) : NULL, figures[i].key);

      if (!(value >= 0 && isfinite (value)))
        {
          g_autofree char *path = g_strdup_printf ("calibration.%s.value", figures[i].key);

          qm_error_set (error, QM_CATALOG_ERROR, QM_CATALOG_ERROR_MISSING, path, N_("a number is expected"), NULL);
          if (error != NULL)
            qm_error_locate (*error, "measurements.json", 0);
          return FALSE;
        }
      G_STRUCT_MEMBER (double, self, figures[i].offset) = value;
    }

  return read_critical_batches (self, root, error);
}
