/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-architecture-families.h"

#include <string.h>

#include <gio/gio.h>

#include "qm-model-data.h"

#define FOLDER "/io/github/quartermaster/model/"
#define MAX_ANCESTORS 32

struct _QmFamilyTable {
  GKeyFile *file;
  GHashTable *groups;               /* (element-type utf8 utf8): the section of each type */
  GHashTable *families;             /* (element-type utf8 QmArchitectureFamily): those asked for */
};

struct _QmArchitectureFamily {
  char *type;
  QmFamilyTable *table;
  GPtrArray *groups;                /* (element-type utf8): the family's own first, then those that it is like */
  GHashTable *definitions;          /* (element-type utf8 QmDefinition): as far as they were asked for,
                                       an empty one where there is none */
  JsonObject *defaults;
};

static GBytes *
load (const char *name)
{
  g_autofree char *path = g_strconcat (FOLDER, name, NULL);

  return g_resource_lookup_data (qm_model_data_get_resource (), path, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
}

/* A line a type, each beginning with the type. */
static JsonObject *
find_defaults (const char *type)
{
  g_autoptr (GBytes) bytes = load ("defaults.jsonl");
  g_autofree char *start = g_strdup_printf ("{\"type\":\"%s\",", type);
  g_autoptr (JsonParser) parser = json_parser_new ();
  gsize length;
  const char *data = g_bytes_get_data (bytes, &length);
  const char *line = g_strstr_len (data, length, start);
  const char *end = line != NULL ? memchr (line, '\n', data + length - line) : NULL;

  if (end == NULL || !json_parser_load_from_data (parser, line, end - line, NULL))
    return json_object_new ();
  return json_object_ref (json_node_get_object (json_parser_get_root (parser)));
}

/* Families that no library describes say it in their section. */
static JsonObject *
own_defaults (GKeyFile   *file,
              const char *group,
              const char *type)
{
  g_autofree char *text = g_key_file_get_value (file, group, "defaults", NULL);
  g_autoptr (JsonParser) parser = json_parser_new ();

  if (text == NULL)
    return find_defaults (type);
  if (!json_parser_load_from_data (parser, text, -1, NULL) || !JSON_NODE_HOLDS_OBJECT (json_parser_get_root (parser)))
    g_error ("families.ini, %s: the defaults are no JSON object", group);
  return json_object_ref (json_node_get_object (json_parser_get_root (parser)));
}

static void
free_definition (QmDefinition *definition)
{
  g_strfreev (definition->parameters);
  qm_formula_free (definition->formula);
  g_free (definition);
}

/* The family itself, then each that it is like with what that one is like. */
static void
add_ancestors (QmArchitectureFamily *self,
               const char           *group)
{
  g_autofree char *like = g_key_file_get_string (self->table->file, group, "like", NULL);
  g_auto (GStrv) names = g_strsplit (like != NULL ? like : "", " ", -1);

  if (self->groups->len >= MAX_ANCESTORS)
    g_error ("families.ini: %s is like too many others", self->type);
  g_ptr_array_add (self->groups, g_strdup (group));
  for (gsize i = 0; names[i] != NULL; i++)
    {
      const char *found = g_hash_table_lookup (self->table->groups, names[i]);

      if (found == NULL)
        g_error ("families.ini: %s is like %s, which is not there", group, names[i]);
      add_ancestors (self, found);
    }
}

static void
free_family (QmArchitectureFamily *self)
{
  g_free (self->type);
  g_ptr_array_unref (self->groups);
  g_hash_table_unref (self->definitions);
  json_object_unref (self->defaults);
  g_free (self);
}

static QmArchitectureFamily *
new_family (QmFamilyTable *table,
            const char    *type,
            const char    *group)
{
  QmArchitectureFamily *self = g_new0 (QmArchitectureFamily, 1);

  self->type = g_strdup (type);
  self->table = table;
  self->groups = g_ptr_array_new_with_free_func (g_free);
  self->definitions = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) free_definition);
  self->defaults = own_defaults (table->file, group, type);
  add_ancestors (self, group);
  return self;
}

/**
 * qm_family_table_new:
 *
 * Returns: (transfer full): all families
 */
QmFamilyTable *
qm_family_table_new (void)
{
  QmFamilyTable *self = g_new0 (QmFamilyTable, 1);
  g_autoptr (GBytes) bytes = load ("families.ini");
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) groups = NULL;

  self->file = g_key_file_new ();
  if (!g_key_file_load_from_bytes (self->file, bytes, G_KEY_FILE_NONE, &error))
    g_error ("families.ini: %s", error->message);
  self->groups = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self->families = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) free_family);
  groups = g_key_file_get_groups (self->file, NULL);
  for (gsize i = 0; groups[i] != NULL; i++)
    {
      g_auto (GStrv) types = g_strsplit (groups[i], " ", -1);

      for (gsize type = 0; types[type] != NULL; type++)
        if (!g_hash_table_insert (self->groups, g_strdup (types[type]), g_strdup (groups[i])))
          g_error ("families.ini: %s has two sections", types[type]);
    }
  return self;
}

/**
 * qm_family_table_free:
 * @self: (nullable): all families
 */
void
qm_family_table_free (QmFamilyTable *self)
{
  if (self == NULL)
    return;
  g_hash_table_unref (self->families);
  g_hash_table_unref (self->groups);
  g_key_file_unref (self->file);
  g_free (self);
}

/**
 * qm_family_table_find:
 * @self: all families
 * @type: (nullable): `model_type` of a config.json, or a diffusers class
 * @fallback: (nullable): whose formulas to take where there are none for @type
 *
 * Returns: (transfer none) (nullable): what is known of the family
 */
QmArchitectureFamily *
qm_family_table_find (QmFamilyTable *self,
                      const char    *type,
                      const char    *fallback)
{
  const char *name = type != NULL ? type : "";
  QmArchitectureFamily *family = g_hash_table_lookup (self->families, name);
  const char *group = g_hash_table_lookup (self->groups, name);

  if (group == NULL && fallback != NULL)
    group = g_hash_table_lookup (self->groups, fallback);
  if (group == NULL)
    return NULL;
  if (family != NULL)
    return family;
  family = new_family (self, name, group);
  g_hash_table_insert (self->families, g_strdup (name), family);
  return family;
}

/**
 * qm_family_table_list:
 * @self: all families
 *
 * Returns: (transfer full): every `model_type` that is known
 */
GStrv
qm_family_table_list (QmFamilyTable *self)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  GHashTableIter iterator;
  gpointer type;

  g_hash_table_iter_init (&iterator, self->groups);
  while (g_hash_table_iter_next (&iterator, &type, NULL))
    g_strv_builder_add (builder, type);
  return g_strv_builder_end (builder);
}

/**
 * qm_architecture_family_type:
 * @self: a family
 *
 * Returns: (transfer none): the type it was found by
 */
const char *
qm_architecture_family_type (QmArchitectureFamily *self)
{
  return self->type;
}

/**
 * qm_architecture_family_defaults:
 * @self: a family
 *
 * Returns: (transfer none): what its library takes for keys that a config.json leaves out
 */
JsonObject *
qm_architecture_family_defaults (QmArchitectureFamily *self)
{
  return self->defaults;
}

/* From 1, for whoever has to mend it. */
static guint
find_line (const char *group,
           const char *key)
{
  g_autoptr (GBytes) bytes = load ("families.ini");
  g_autofree char *text = g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  g_autofree char *head = g_strdup_printf ("\n[%s]\n", group);
  g_autofree char *start = g_strdup_printf ("\n%s=", key);
  const char *section = strstr (text, head);
  const char *place = section != NULL ? strstr (section, start) : NULL;
  guint line = 1;

  for (const char *c = text; place != NULL && c <= place; c++)
    line += *c == '\n';
  return line;
}

/* A definition is written NAME = FORMULA or NAME(PARAMETER, …) = FORMULA. */
static char *
find_key (QmArchitectureFamily *self,
          const char           *name,
          const char          **group)
{
  gsize length = strlen (name);

  for (guint i = 0; i < self->groups->len; i++)
    {
      g_auto (GStrv) keys = NULL;

      *group = g_ptr_array_index (self->groups, i);
      keys = g_key_file_get_keys (self->table->file, *group, NULL, NULL);
      for (gsize key = 0; keys[key] != NULL; key++)
        if (g_str_has_prefix (keys[key], name) && (keys[key][length] == '\0' || keys[key][length] == '('))
          return g_strdup (keys[key]);
    }
  return NULL;
}

static GStrv
read_parameters (const char *key)
{
  const char *open = strchr (key, '(');
  g_autofree char *inside = NULL;
  GStrv parameters;

  if (open == NULL)
    return NULL;
  inside = g_strndup (open + 1, strlen (open) - 2);
  parameters = g_strsplit (inside, ",", -1);
  for (gsize i = 0; parameters[i] != NULL; i++)
    g_strstrip (parameters[i]);
  return parameters;
}

/**
 * qm_architecture_family_definition:
 * @self: a family
 * @name: of a definition
 *
 * Returns: (transfer none) (nullable): the family's own definition, else that
 *   of the nearest family that it is like
 */
const QmDefinition *
qm_architecture_family_definition (QmArchitectureFamily *self,
                                   const char           *name)
{
  QmDefinition *definition = g_hash_table_lookup (self->definitions, name);
  g_autofree char *key = NULL;
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  const char *group;

  if (definition != NULL)
    return definition->formula != NULL ? definition : NULL;
  definition = g_new0 (QmDefinition, 1);
  g_hash_table_insert (self->definitions, g_strdup (name), definition);
  key = find_key (self, name, &group);
  if (key == NULL)
    return NULL;
  text = g_key_file_get_value (self->table->file, group, key, NULL);
  definition->parameters = read_parameters (key);
  definition->formula = qm_formula_parse (text, &error);
  if (definition->formula == NULL)
    g_error ("families.ini:%u: %s of [%s]: %s", find_line (group, key), key, group, error->message);
  return definition;
}

/**
 * qm_architecture_family_word:
 * @self: (nullable): a family
 * @name: of a definition whose formula is a word in quotes
 *
 * Returns: (transfer none) (nullable): the word
 */
const char *
qm_architecture_family_word (QmArchitectureFamily *self,
                             const char           *name)
{
  const QmDefinition *definition = self != NULL ? qm_architecture_family_definition (self, name) : NULL;

  return definition != NULL && definition->formula->kind == QM_FORMULA_WORD ? definition->formula->name : NULL;
}
