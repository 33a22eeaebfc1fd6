/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gstdio.h>
#include <string.h>

#include "qm-error.h"
#include "qm-launch.h"

typedef struct {
  char *folder;
  char *path;
} Fixture;

static void
set_up (Fixture       *fixture,
        gconstpointer  unused)
{
  fixture->folder = g_dir_make_tmp ("formats-XXXXXX", NULL);
  fixture->path = g_build_filename (fixture->folder, "formats.json", NULL);
}

static void
tear_down (Fixture       *fixture,
           gconstpointer  unused)
{
  g_remove (fixture->path);
  g_rmdir (fixture->folder);
  g_free (fixture->path);
  g_free (fixture->folder);
}

/* Reads @text as formats.json, and does with it what the program does. */
static char *
problem_of (Fixture    *fixture,
            const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmLauncher) launcher = NULL;
  g_autoptr (JsonObject) values = json_object_new ();

  g_assert_true (g_file_set_contents (fixture->path, text, -1, NULL));
  launcher = qm_launcher_new (fixture->folder, &error);
  if (launcher != NULL)
    {
      g_autoptr (GPtrArray) described = qm_launcher_describe (launcher, values, qm_words_english ());

      g_assert_no_error (error);
      for (guint i = 0; i < described->len; i++)
        {
          const QmLaunchFormat *format = g_ptr_array_index (described, i);
          g_autoptr (GPtrArray) files = qm_launcher_fill (launcher, format->id, values, NULL);

          g_assert_nonnull (format->name);
        }
      return NULL;
    }

  return qm_error_get_text (error, qm_words_english ());
}

static void
test_places (Fixture       *fixture,
             gconstpointer  unused)
{
  static const struct { const char *text, *problem; } cases[] = {
    { "", ":1: not JSON: " },
    { "{\n\"formats\": [\n", ":3: not JSON: " },
    { "[]", ": an object with \"formats\", a list, is expected" },
    { "{\"formats\": 3}", ": an object with \"formats\", a list, is expected" },
    { "{\"formats\":\n [1]}", ":2: formats[0]: an object is expected here" },
    { "{\"formats\":\n [{\"id\": \"a\",\n \"files\": []}]}", ":2: formats[0].name: it is missing" },
    { "{\"formats\":\n [{\"id\": \"a\",\n \"name\": 7, \"files\": []}]}", ":3: formats[0].name: a text is expected here" },
    { "{\"formats\": [{\"id\": \"../a\", \"name\": \"A\", \"files\": []}]}",
      ":1: formats[0].id: a name of small letters, digits and hyphens is expected here" },
    { "{\"formats\": [{\"id\": \"a\", \"name\": \"A\", \"files\": [\n{\"template\": \"../../etc/passwd\", \"name\": \"b\"}]}]}",
      ":2: formats[0].files[0].template: the name of a file, without a folder, is expected here" },
    { "{\"formats\": [{\"id\": \"a\", \"name\": \"A\", \"files\": [], \"needs\": [\n\"x\",\n{\"when\": \"y\"}]}]}",
      ":3: formats[0].needs[1].text: it is missing" },
    { "{\"formats\": [{\"id\": \"a\", \"name\": \"A\", \"files\": []},\n{\"id\": \"a\", \"name\": \"A\", \"files\": []}]}",
      ":2: formats[1].id: another format has this name" },
    { "{\"formats\": [{\"id\": \"a\", \"name\": \"A\", \"files\": [],\n\"whne\": []}]}",
      ":2: formats[0].whne: nothing here is called so; it is one of id, name, files, when, start, needs, guards" },
    { "{\"formats\": [{\"id\": \"a\", \"name\": \"A\", \"files\": [\n{\"template\": \"t\", \"name\": \"b\", \"unles\": \"c\"}]}]}",
      ":2: formats[0].files[0].unles: nothing here is called so; it is one of template, name, executable, when, unless" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *problem = problem_of (fixture, cases[i].text);

      g_assert_nonnull (problem);
      g_assert_true (g_str_has_prefix (problem, fixture->path));
      if (!g_str_has_prefix (problem + strlen (fixture->path), cases[i].problem))
        g_error ("%s\nsays: %s", cases[i].text, problem);
    }
}

/* The shipped file with each member in turn left out, or of another kind. */
static void
spoil (Fixture    *fixture,
       JsonNode   *root,
       JsonObject *object,
       guint      *refused)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_auto (GStrv) names = NULL;
  JsonObjectIter iter;
  const char *member;

  json_object_iter_init (&iter, object);
  while (json_object_iter_next (&iter, &member, NULL))
    g_strv_builder_add (builder, member);
  names = g_strv_builder_end (builder);

  for (char **name = names; *name != NULL; name++)
    for (int kind = 0; kind < 4; kind++)
      {
        g_autoptr (JsonNode) kept = json_node_copy (json_object_get_member (object, *name));
        g_autofree char *text = NULL;
        g_autofree char *problem = NULL;

        if (kind == 0)
          json_object_remove_member (object, *name);
        else
          json_object_set_member (object, *name, json_from_string (kind == 1 ? "null" : kind == 2 ? "[[]]" : "{\"a\": 1}", NULL));
        text = json_to_string (root, FALSE);
        problem = problem_of (fixture, text);
        *refused += problem != NULL;
        g_assert_true (problem == NULL || (strstr (problem, fixture->path) != NULL && !strstr (problem, "(null)")));
        json_object_set_member (object, *name, g_steal_pointer (&kept));
      }
}

static void
test_spoilt (Fixture       *fixture,
             gconstpointer  unused)
{
  g_autofree char *path = g_build_filename (g_getenv ("QM_DATA_DIR"), "templates", "formats.json", NULL);
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (GError) error = NULL;
  JsonNode *root;
  JsonObject *format, *file, *condition;
  guint refused = 0;

  json_parser_load_from_file (parser, path, &error);
  g_assert_no_error (error);
  root = json_parser_get_root (parser);
  format = json_array_get_object_element (json_object_get_array_member (json_node_get_object (root), "formats"), 0);
  file = json_array_get_object_element (json_object_get_array_member (format, "files"), 1);
  condition = json_array_get_object_element (json_object_get_array_member (format, "when"), 0);
  spoil (fixture, root, json_node_get_object (root), &refused);
  spoil (fixture, root, format, &refused);
  spoil (fixture, root, file, &refused);
  spoil (fixture, root, condition, &refused);
  g_assert_cmpuint (refused, >, 40);
}

/* Cut off anywhere, it is refused, and with its place. */
static void
test_cut (Fixture       *fixture,
          gconstpointer  unused)
{
  g_autofree char *path = g_build_filename (g_getenv ("QM_DATA_DIR"), "templates", "formats.json", NULL);
  g_autofree char *text = NULL;
  gsize length;

  g_assert_true (g_file_get_contents (path, &text, &length, NULL));
  g_strchomp (text);
  length = strlen (text);
  for (gsize cut = 1; cut < length; cut += 97)
    {
      g_autofree char *part = g_strndup (text, length - cut);
      g_autofree char *problem = problem_of (fixture, part);

      g_assert_nonnull (problem);
      g_assert_true (g_str_has_prefix (problem, fixture->path));
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/formats/places", Fixture, NULL, set_up, test_places, tear_down);
  g_test_add ("/formats/spoilt", Fixture, NULL, set_up, test_spoilt, tear_down);
  g_test_add ("/formats/cut", Fixture, NULL, set_up, test_cut, tear_down);

  return g_test_run ();
}
