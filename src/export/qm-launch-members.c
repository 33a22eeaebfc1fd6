/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "qm-launch-private.h"

/**
 * qm_launch_set_text:
 * @values: what templates can use
 * @name: of the value
 * @text: (nullable): %NULL is no text, as the empty one
 */
void
qm_launch_set_text (JsonObject *values,
                    const char *name,
                    const char *text)
{
  json_object_set_string_member (values, name, text != NULL ? text : "");
}

/**
 * qm_launch_set_count:
 * @values: what templates can use
 * @name: of the value
 * @value: rounded; 0 where it is unknown
 */
void
qm_launch_set_count (JsonObject *values,
                     const char *name,
                     double      value)
{
  json_object_set_int_member (values, name, isfinite (value) && value > 0 ? (gint64) llround (value) : 0);
}

/**
 * qm_launch_set_flag:
 * @values: what templates can use
 * @name: of the value
 * @value: whether it holds
 */
void
qm_launch_set_flag (JsonObject *values,
                    const char *name,
                    gboolean    value)
{
  json_object_set_boolean_member (values, name, value);
}

/**
 * qm_launch_inner_text:
 * @object: (nullable): a table
 * @group: of an object in it
 * @name: (nullable): of a text in that
 *
 * Returns: (transfer none): the text; empty where there is none
 */
const char *
qm_launch_inner_text (JsonObject *object,
                      const char *group,
                      const char *name)
{
  JsonObject *inner = object != NULL && json_object_has_member (object, group) ? json_object_get_object_member (object, group) : NULL;

  return inner != NULL && name != NULL ? json_object_get_string_member_with_default (inner, name, "") : "";
}
