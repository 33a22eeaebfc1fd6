/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"

#include <string.h>

#include "qm-template.h"

static const char hostile[] = "A 'job' of \"mine\"\n# and $more `x` \\ {{title|shell}}";

/* Each name that the template has in its places and sections, with @value. */
static JsonObject *
values_for (const char *text,
            const char *value)
{
  JsonObject *values = json_object_new ();

  for (const char *place = strstr (text, "{{"); place != NULL; place = strstr (place + 2, "{{"))
    {
      const char *start = place + 2 + (strchr ("#^/", place[2]) != NULL && place[2] != '\0');
      g_autofree char *name = g_strndup (start, strcspn (start, "|}"));

      if (g_utf8_validate (name, -1, NULL))
        json_object_set_string_member (values, name, value);
    }

  return values;
}

/* Text that should be a template: with values that go anywhere, with hostile
 * ones, and with none, which leaves out all sections. */
int
LLVMFuzzerTestOneInput (const guint8 *data,
                        gsize         size)
{
  static const char * const kinds[] = { "8", hostile, "" };
  const char *shipped = g_getenv ("QM_DATA_DIR");
  g_autofree char *folder = g_build_filename (shipped != NULL ? shipped : "data", "templates", NULL);
  g_autofree char *text = g_strndup ((const char *) data, size);

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autoptr (JsonObject) values = values_for (text, kinds[i]);
      g_autofree char *filled = qm_template_fill_text (folder, "text", text, values, NULL);

      g_assert_true (filled == NULL || g_utf8_validate (filled, -1, NULL) || !g_utf8_validate (text, -1, NULL));
    }

  return 0;
}
