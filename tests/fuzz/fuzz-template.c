/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"

#include "qm-template.h"

static const char values[] =
  "{\"title\": \"A 'job' of \\\"mine\\\"\\n# and more\", \"name\": \"my-job\", \"devices\": 8, \"share\": 0.5, \"training\": true, \"language\": false}";

/* Text that should be a template. */
int
LLVMFuzzerTestOneInput (const guint8 *data,
                        gsize         size)
{
  static JsonNode *root;
  g_autofree char *text = g_strndup ((const char *) data, size);
  g_autofree char *filled = NULL;

  if (root == NULL)
    root = json_from_string (values, NULL);
  g_assert_nonnull (root);
  filled = qm_template_fill ("template", text, json_node_get_object (root), NULL);
  return 0;
}
