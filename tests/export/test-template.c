/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gstdio.h>
#include <string.h>

#include "qm-template.h"

typedef struct {
  char *folder;
  char *path;
} Fixture;

static void
set_up (Fixture       *fixture,
        gconstpointer  template)
{
  fixture->folder = g_dir_make_tmp ("template-XXXXXX", NULL);
  fixture->path = g_build_filename (fixture->folder, "one", NULL);
  g_assert_true (g_file_set_contents (fixture->path, template, -1, NULL));
}

static void
tear_down (Fixture       *fixture,
           gconstpointer  template)
{
  g_remove (fixture->path);
  g_rmdir (fixture->folder);
  g_free (fixture->path);
  g_free (fixture->folder);
}

/* What the template makes of a value. */
static char *
fill (Fixture    *fixture,
      const char *value)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonObject) values = json_object_new ();
  char *filled;

  json_object_set_string_member (values, "value", value);
  filled = qm_template_fill (fixture->folder, "one", values, &error);
  g_assert_no_error (error);

  return filled;
}

/* YAML 1.2, 5.1: the letters that a stream may hold; and none that end a line
 * or turn its direction. */
static gboolean
is_printable (gunichar letter)
{
  return (letter >= 0x20 && letter <= 0x7e) || (letter >= 0xa0 && letter <= 0xd7ff && letter != 0x2028 && letter != 0x2029 &&
         letter != 0x061c && !(letter >= 0x200e && letter <= 0x200f) && !(letter >= 0x202a && letter <= 0x202e) &&
         !(letter >= 0x2066 && letter <= 0x2069)) || (letter >= 0xe000 && letter <= 0xfdcf) || (letter >= 0xfdf0 && letter <= 0xfefe) ||
         (letter >= 0xff00 && letter <= 0xfffd) || (letter >= 0x10000 && letter <= 0x10ffff && (letter & 0xffff) < 0xfffe);
}

/* No language is given a letter that its reader refuses, whichever letter a
 * person typed; those that it takes stay. */
static void
test_letters (Fixture       *fixture,
              gconstpointer  template)
{
  for (gunichar letter = 1; letter < 0x110000; letter += letter < 0x3000 || (letter >= 0xd700 && letter < 0x10010) ? 1 : 0xfff)
    {
      g_autoptr (GString) value = g_string_new ("a");
      g_autofree char *written = NULL;
      g_auto (GStrv) lines = NULL;

      if (!g_unichar_validate (letter))
        continue;
      g_string_append_unichar (value, letter);
      g_string_append_c (value, 'z');
      written = fill (fixture, value->str);
      lines = g_strsplit (written, "\n", -1);
      g_assert_cmpuint (g_strv_length (lines), ==, 6);
      g_assert_true (is_printable (letter) == (strcmp (lines[0], value->str) == 0));
      for (guint i = 0; lines[i] != NULL; i++)
        for (const char *c = lines[i]; *c != '\0'; c = g_utf8_next_char (c))
          if (!is_printable (g_utf8_get_char (c)))
            g_error ("U+%04X: line %u has U+%04X", letter, i, g_utf8_get_char (c));
    }
}

/* Letters of one's own language that have Latin ones to stand for them. */
static void
test_names (Fixture       *fixture,
            gconstpointer  template)
{
  static const struct { const char *value, *name; } cases[] = {
    { "My first job", "my-first-job" }, { "Größe & façade", "grosse-facade" }, { "-x-", "x" }, { "7 days", "job-7-days" }, { "why?", "why" },
    { "Yes", "job-yes" }, { "null", "job-null" }, { "yes-and-no", "yes-and-no" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *name = fill (fixture, cases[i].value);

      g_assert_cmpstr (name, ==, cases[i].name);
    }
}

/* RFC 1123: what a cluster takes; and two plans are two names. */
static void
test_names_differ (Fixture       *fixture,
                   gconstpointer  template)
{
  static const char * const values[] = {
    "微调大模型", "微调小模型", "模型", "تدريب", "학습", "!!!", "???", "🚀", "🚀🚀", "Llama 微调", "Llama 训练", "\xff\xfe",
    "a very long title of a plan that goes on and on: the first", "a very long title of a plan that goes on and on: the second",
    "9999999999999999999999999999999999999999999999999999", "job",
  };
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    {
      g_autofree char *name = fill (fixture, values[i]);

      if (!g_regex_match_simple ("^[a-z]([a-z0-9-]{0,46}[a-z0-9])?$", name, 0, 0))
        g_error ("\"%s\" is named \"%s\"", values[i], name);
      if (!g_hash_table_add (seen, g_strdup (name)))
        g_error ("\"%s\" has the name of another: \"%s\"", values[i], name);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/template/letters", Fixture,
              "{{value|comment}}\n{{value|json}}\n{{value|yaml}}\n{{value|python}}\n{{value|shell}}\n{{value|docker}}",
              set_up, test_letters, tear_down);
  g_test_add ("/template/names", Fixture, "{{value|name}}", set_up, test_names, tear_down);
  g_test_add ("/template/names-differ", Fixture, "{{value|name}}", set_up, test_names_differ, tear_down);

  return g_test_run ();
}
