/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"

#include "plan/qm-plan.h"

/* Text that should be a plan. What was read is written, and is then the same plan. */
int
LLVMFuzzerTestOneInput (const guint8 *data,
                        gsize         size)
{
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_plan_warning_free);
  g_autoptr (QmPlan) plan = qm_plan_from_data ((const char *) data, size, warnings, NULL);
  g_autoptr (QmPlan) again = NULL;
  g_autofree char *written = NULL;

  if (plan == NULL)
    return 0;
  written = qm_plan_to_data (plan, NULL);
  again = qm_plan_from_data (written, -1, NULL, NULL);
  g_assert_nonnull (again);
  g_assert_true (qm_plan_equal (plan, again));
  return 0;
}
