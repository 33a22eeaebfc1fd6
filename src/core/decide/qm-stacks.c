/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "decide/qm-stacks.h"

#include "qm-enum.h"
#include "qm-enum-types.h"

static JsonArray *
array_member (JsonObject *object,
              const char *name)
{
  return json_object_has_member (object, name) ? json_object_get_array_member (object, name) : NULL;
}

static guint
bits (JsonObject *row,
      const char *name,
      GType       type)
{
  JsonArray *words = array_member (row, name);
  guint set = 0;

  for (guint i = 0; words != NULL && i < json_array_get_length (words); i++)
    {
      int value;

      if (qm_enum_from_word (type, json_array_get_string_element (words, i), &value))
        set |= 1u << value;
    }

  return set;
}

static int
strings (JsonObject  *row,
         const char  *name,
         const char **values,
         int          size)
{
  JsonArray *words = array_member (row, name);
  int n = words != NULL ? MIN (size, (int) json_array_get_length (words)) : 0;

  for (int i = 0; i < n; i++)
    values[i] = json_array_get_string_element (words, i);

  return n;
}

static QmStack
read_stack (JsonObject *row)
{
  QmStack stack = { 0 };

  stack.engine = json_object_get_string_member_with_default (row, "id", NULL);
  stack.tasks = bits (row, "tasks", QM_TYPE_TASK);
  stack.vendors = bits (row, "vendors", QM_TYPE_VENDOR);
  stack.classes = bits (row, "classes", QM_TYPE_DEVICE_CLASS);
  stack.methods = bits (row, "methods", QM_TYPE_METHOD);
  stack.min_compute_capability = json_object_get_double_member_with_default (row, "min_compute_capability", 0);
  strings (row, "ids", stack.ids, G_N_ELEMENTS (stack.ids));
  stack.n_formats = strings (row, "formats", stack.formats, QM_MAX_STACK_FORMATS);
  stack.n_reads = strings (row, "reads", stack.reads, QM_MAX_STACK_READS);
  stack.needs = json_object_get_string_member_with_default (row, "needs", NULL);

  return stack;
}

/**
 * qm_stacks_for_plan:
 * @catalog: a catalog with the table `stacks`
 * @plan: a resolved plan
 *
 * Returns: (transfer full) (element-type QmStack): the software that does the
 *   task of @plan; empty where the table is missing
 */
GArray *
qm_stacks_for_plan (QmCatalog    *catalog,
                    const QmPlan *plan)
{
  gboolean training = qm_plan_is_training (plan);
  GArray *stacks = g_array_new (FALSE, FALSE, sizeof (QmStack));
  JsonNode *table = qm_catalog_table (catalog, "stacks");
  JsonArray *rows = table != NULL ? array_member (json_node_get_object (table), training ? "training" : "engines") : NULL;

  for (guint i = 0; rows != NULL && i < json_array_get_length (rows); i++)
    {
      QmStack stack = read_stack (json_array_get_object_element (rows, i));

      if ((stack.tasks & (1u << plan->task)) == 0)
        continue;
      if (training && plan->training.method != QM_METHOD_UNSET && (stack.methods & (1u << plan->training.method)) == 0)
        continue;
      g_array_append_val (stacks, stack);
    }

  return stacks;
}

/**
 * qm_stack_runs_on:
 * @self: a stack
 * @device: a device
 *
 * Returns: whether the software runs on the hardware
 */
gboolean
qm_stack_runs_on (const QmStack  *self,
                  const QmDevice *device)
{
  if ((self->vendors & (1u << device->vendor)) == 0 || (self->classes & (1u << device->device_class)) == 0)
    return FALSE;
  if (device->vendor == QM_VENDOR_NVIDIA && device->compute_capability < self->min_compute_capability)
    return FALSE;
  if (self->ids[0] == NULL)
    return TRUE;

  for (guint i = 0; i < G_N_ELEMENTS (self->ids) && self->ids[i] != NULL; i++)
    if (g_str_equal (self->ids[i], device->id))
      return TRUE;

  return FALSE;
}
