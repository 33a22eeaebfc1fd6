/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "plan/qm-plan-fields.h"
#include "qm-error.h"

#define FORMAT "quartermaster-plan"
#define VERSION 1

/* What a quote may say at most: as the limits of a plan. */
#define LONGEST_QUOTE 1e9
#define DEAREST_QUOTE 1e12
#define LARGEST_MEMORY 1e15

/* A text full of keys that mean nothing shall not be answered at length. */
#define MOST_WARNINGS 100

/* Changes a plan of version N into one of version N + 1. */
typedef gboolean (*Migration) (JsonObject *object);

/* One entry for each version before the present one; index 0 is version 1. */
static const Migration migrations[VERSION] = { NULL };

typedef struct {
  QmJsonLines *lines;               /* (nullable) */
  GPtrArray *warnings;              /* (nullable) */
  guint n_warnings;
} Reader;

static gboolean read_object (Reader      *self,
                             QmPlan      *plan,
                             JsonObject  *object,
                             const char  *prefix,
                             GError     **error);

/* Says on which line it is, for the file's name to be put in front. */
static gboolean
fail_at (Reader  *self,
         GError **error)
{
  const char *path = error != NULL ? qm_error_get_path (*error) : NULL;

  if (self->lines != NULL && path != NULL)
    qm_error_locate (*error, NULL, MAX (1, qm_json_lines_find (self->lines, path)));

  return FALSE;
}

static gboolean
fail (Reader      *self,
      const char  *path,
      GError     **error,
      QmPlanError  code,
      const char  *msgid)
{
  qm_error_set (error, QM_PLAN_ERROR, code, path, msgid, NULL);
  return fail_at (self, error);
}

static gboolean
fail_long (Reader      *self,
           const char  *path,
           guint        most,
           GError     **error)
{
  qm_error_set (error, QM_PLAN_ERROR, QM_PLAN_ERROR_VALUE, path, N_("is too long a list; at most {most} entries are possible"), "#most", (double) most, NULL);
  return fail_at (self, error);
}

static void
warn (Reader     *self,
      const char *path,
      QmMessage  *message)
{
  QmPlanWarning *warning;

  if (self->warnings == NULL || self->n_warnings++ >= MOST_WARNINGS)
    {
      qm_message_free (message);
      return;
    }

  warning = g_new0 (QmPlanWarning, 1);
  warning->line = self->lines != NULL ? qm_json_lines_find (self->lines, path) : 0;
  warning->path = qm_plan_quote (path);
  warning->message = message;
  g_ptr_array_add (self->warnings, warning);
}

static void
warn_unknown_key (Reader     *self,
                  const char *path,
                  const char *nearest)
{
  warn (self, path, qm_message_new_filled ("unknown-field", N_("not a field of a plan; the nearest is \"{nearest}\""), "nearest", nearest, NULL));
}

static gboolean
is_section (const char *path)
{
  gsize length = strlen (path);
  guint n;
  const QmField *fields = qm_plan_fields (&n);

  for (guint i = 0; i < n; i++)
    if (strncmp (fields[i].path, path, length) == 0 && fields[i].path[length] == '.')
      return TRUE;

  return FALSE;
}

/* ------------------------------------------------------------------------ owned */

static gboolean
read_owned_count (Reader      *self,
                  const char  *path,
                  JsonNode    *node,
                  int         *value,
                  GError     **error)
{
  double number;

  if (JSON_NODE_HOLDS_NULL (node))
    return TRUE;
  if (!JSON_NODE_HOLDS_VALUE (node) || (json_node_get_value_type (node) != G_TYPE_INT64 && json_node_get_value_type (node) != G_TYPE_DOUBLE))
    return fail (self, path, error, QM_PLAN_ERROR_TYPE, N_("a whole number is expected"));

  number = json_node_get_double (node);
  if (!(number >= 1 && number <= 1000000) || number != floor (number))
    return fail (self, path, error, QM_PLAN_ERROR_VALUE, N_("a whole number from 1 to 1000000 is expected"));
  *value = (int) number;

  return TRUE;
}

static gboolean
read_figure (Reader      *self,
             const char  *path,
             JsonNode    *node,
             double       highest,
             double      *value,
             GError     **error)
{
  if (JSON_NODE_HOLDS_NULL (node))
    return TRUE;
  if (!JSON_NODE_HOLDS_VALUE (node) || (json_node_get_value_type (node) != G_TYPE_INT64 && json_node_get_value_type (node) != G_TYPE_DOUBLE))
    return fail (self, path, error, QM_PLAN_ERROR_TYPE, N_("a number is expected"));

  *value = json_node_get_double (node);
  if (*value > 0 && *value <= highest)
    return TRUE;

  return highest == 1 ? fail (self, path, error, QM_PLAN_ERROR_VALUE, N_("a share from 0 to 1 is expected"))
                      : fail (self, path, error, QM_PLAN_ERROR_VALUE, N_("a number above 0 is expected"));
}

static gboolean
read_owned_device (Reader      *self,
                   const char  *path,
                   JsonNode    *node,
                   QmWord       device,
                   GError     **error)
{
  if (!JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) != G_TYPE_STRING ||
      strlen (json_node_get_string (node)) >= sizeof (QmWord))
    return fail (self, path, error, QM_PLAN_ERROR_TYPE, N_("the id of a device of the catalog is expected"));

  qm_word_set (device, json_node_get_string (node));
  return TRUE;
}

static gboolean
read_owned_machine (Reader      *self,
                    const char  *machine,
                    QmOwned     *owned,
                    JsonNode    *node,
                    GError     **error)
{
  g_autoptr (GList) members = NULL;

  if (!JSON_NODE_HOLDS_OBJECT (node))
    return fail (self, machine, error, QM_PLAN_ERROR_TYPE, N_("an object with device, devices, nodes and host_memory_bytes is expected"));

  *owned = (QmOwned) { .devices = 1, .nodes = 1 };
  members = json_object_get_members (json_node_get_object (node));
  for (GList *l = members; l != NULL; l = l->next)
    {
      g_autofree char *path = g_strconcat (machine, ".", l->data, NULL);
      JsonNode *member = json_object_get_member (json_node_get_object (node), l->data);
      gboolean ok = TRUE;

      if (g_str_equal (l->data, "device"))
        ok = read_owned_device (self, path, member, owned->device, error);
      else if (g_str_equal (l->data, "devices"))
        ok = read_owned_count (self, path, member, &owned->devices, error);
      else if (g_str_equal (l->data, "nodes"))
        ok = read_owned_count (self, path, member, &owned->nodes, error);
      else if (g_str_equal (l->data, "host_memory_bytes"))
        ok = read_figure (self, path, member, LARGEST_MEMORY, &owned->host_memory_bytes, error);
      else
        warn_unknown_key (self, path, "places.owned[].device");
      if (!ok)
        return FALSE;
    }

  return owned->device[0] != '\0' ||
         fail (self, machine, error, QM_PLAN_ERROR_MISSING, N_("device is missing; the id of a device of the catalog is expected"));
}

static gboolean
read_owned (Reader      *self,
            QmPlan      *plan,
            JsonNode    *node,
            GError     **error)
{
  JsonArray *array;
  guint n;

  if (JSON_NODE_HOLDS_NULL (node))
    return TRUE;
  if (!JSON_NODE_HOLDS_ARRAY (node))
    return fail (self, "places.owned", error, QM_PLAN_ERROR_TYPE, N_("a list of machines is expected"));

  array = json_node_get_array (node);
  n = json_array_get_length (array);
  if (n > QM_MAX_OWNED)
    return fail_long (self, "places.owned", QM_MAX_OWNED, error);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *path = g_strdup_printf ("places.owned[%u]", i);

      if (!read_owned_machine (self, path, &plan->places.owned[i], json_array_get_element (array, i), error))
        return FALSE;
    }
  plan->places.n_owned = n;

  return TRUE;
}

/* ------------------------------------------------------------------------ quotes */

static gboolean
read_quote_member (Reader      *self,
                   const char  *quote_path,
                   const char  *name,
                   QmQuote     *quote,
                   JsonNode    *node,
                   GError     **error)
{
  g_autofree char *path = g_strconcat (quote_path, ".", name, NULL);

  if (g_str_equal (name, "device"))
    return read_owned_device (self, path, node, quote->device, error);
  if (g_str_equal (name, "devices"))
    return read_owned_count (self, path, node, &quote->devices, error);
  if (g_str_equal (name, "nodes"))
    return read_owned_count (self, path, node, &quote->nodes, error);
  if (g_str_equal (name, "hours"))
    return read_figure (self, path, node, LONGEST_QUOTE, &quote->hours, error);
  if (g_str_equal (name, "money"))
    return read_figure (self, path, node, DEAREST_QUOTE, &quote->money, error);
  if (g_str_equal (name, "accuracy"))
    return read_figure (self, path, node, 1, &quote->accuracy, error);

  warn_unknown_key (self, path, "quotes[].device");
  return TRUE;
}

static gboolean
read_quote (Reader      *self,
            const char  *path,
            gpointer     row,
            JsonNode    *node,
            GError     **error)
{
  QmQuote *quote = row;
  g_autoptr (GList) members = NULL;

  if (!JSON_NODE_HOLDS_OBJECT (node))
    return fail (self, path, error, QM_PLAN_ERROR_TYPE, N_("an object with device, devices, hours and money is expected"));

  *quote = (QmQuote) { .devices = 1, .nodes = 1, .hours = NAN, .money = NAN, .accuracy = NAN };
  members = json_object_get_members (json_node_get_object (node));
  for (GList *l = members; l != NULL; l = l->next)
    if (!read_quote_member (self, path, l->data, quote, json_object_get_member (json_node_get_object (node), l->data), error))
      return FALSE;
  if (quote->device[0] == '\0' || isnan (quote->hours) || isnan (quote->money))
    return fail (self, path, error, QM_PLAN_ERROR_MISSING, N_("device, hours and money must be there"));

  return quote->devices % quote->nodes == 0 ||
         fail (self, path, error, QM_PLAN_ERROR_CONFLICT, N_("devices is the number of all machines together: a multiple of nodes"));
}

typedef gboolean (*ReadRow) (Reader     *self,
                             const char *path,
                             gpointer    row,
                             JsonNode   *node,
                             GError    **error);

/* A list of at most QM_MAX_ROWS objects of @size bytes each, one after the other from @rows. */
static gboolean
read_rows (Reader      *self,
           const char  *name,
           const char  *expected,
           ReadRow      read_row,
           gpointer     rows,
           gsize        size,
           int         *n_rows,
           JsonNode    *node,
           GError     **error)
{
  JsonArray *array;
  guint n;

  if (JSON_NODE_HOLDS_NULL (node))
    return TRUE;
  if (!JSON_NODE_HOLDS_ARRAY (node))
    return fail (self, name, error, QM_PLAN_ERROR_TYPE, expected);

  array = json_node_get_array (node);
  n = json_array_get_length (array);
  if (n > QM_MAX_ROWS)
    return fail_long (self, name, QM_MAX_ROWS, error);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *path = g_strdup_printf ("%s[%u]", name, i);

      if (!read_row (self, path, (guint8 *) rows + i * size, json_array_get_element (array, i), error))
        return FALSE;
    }
  *n_rows = n;

  return TRUE;
}

/* ----------------------------------------------------------------------- results */

static gboolean
read_result (Reader      *self,
             const char  *path,
             gpointer     row,
             JsonNode    *node,
             GError     **error)
{
  QmResult *result = row;
  g_autoptr (GList) members = NULL;

  if (!JSON_NODE_HOLDS_OBJECT (node))
    return fail (self, path, error, QM_PLAN_ERROR_TYPE, N_("an object with samples and score is expected"));

  *result = (QmResult) { NAN, NAN };
  members = json_object_get_members (json_node_get_object (node));
  for (GList *l = members; l != NULL; l = l->next)
    {
      g_autofree char *member = g_strconcat (path, ".", l->data, NULL);
      JsonNode *value = json_object_get_member (json_node_get_object (node), l->data);
      gboolean ok = TRUE;

      if (g_str_equal (l->data, "samples"))
        ok = read_figure (self, member, value, DEAREST_QUOTE, &result->samples, error);
      else if (g_str_equal (l->data, "score"))
        ok = read_figure (self, member, value, 1, &result->score, error);
      else
        warn_unknown_key (self, member, "results[].score");
      if (!ok)
        return FALSE;
    }

  return (result->samples > 0 && result->score < 1) ||
         fail (self, path, error, QM_PLAN_ERROR_VALUE, N_("samples and a score below 1 must be there"));
}

/* ------------------------------------------------------------------------ fields */

/* A word of an open vocabulary that the program does not know: it does what it
 * can without. */
static void
warn_unknown_words (Reader        *self,
                    const QmField *field,
                    const QmPlan  *plan)
{
  gconstpointer at = qm_plan_field_pointer (field, plan);
  const QmWordList *list = field->kind == QM_FIELD_WORDS ? at : NULL;
  int n = list != NULL ? list->n : 1;

  if (field->check == NULL || field->words != NULL)
    return;
  for (int i = 0; i < n; i++)
    {
      const char *word = list != NULL ? list->words[i] : at;
      g_autofree char *quote = qm_plan_quote (word);

      if (word[0] != '\0' && !field->check (word))
        warn (self, field->path,
              qm_message_new_filled ("unknown-word", N_("\"{word}\" is not known; estimated with what is usual in its place"),
                                     "word", quote, NULL));
    }
}

static gboolean
read_field (Reader        *self,
            const QmField *field,
            QmPlan        *plan,
            JsonNode      *node,
            GError       **error)
{
  if (!qm_plan_field_read (field, plan, node, error))
    return fail_at (self, error);

  warn_unknown_words (self, field, plan);
  return TRUE;
}

static gboolean
read_member (Reader      *self,
             QmPlan      *plan,
             const char  *path,
             JsonNode    *node,
             GError     **error)
{
  const QmField *field = qm_plan_field_find (path);

  if (field != NULL)
    return read_field (self, field, plan, node, error);
  if (strcmp (path, "places.owned") == 0)
    return read_owned (self, plan, node, error);
  if (strcmp (path, "quotes") == 0)
    return read_rows (self, "quotes", N_("a list of hardware with its figures is expected"), read_quote, plan->quotes,
                      sizeof (QmQuote), &plan->n_quotes, node, error);
  if (strcmp (path, "results") == 0)
    return read_rows (self, "results", N_("a list of samples and scores is expected"), read_result, plan->results,
                      sizeof (QmResult), &plan->n_results, node, error);
  if (is_section (path))
    return JSON_NODE_HOLDS_NULL (node) ||
           (JSON_NODE_HOLDS_OBJECT (node) && read_object (self, plan, json_node_get_object (node), path, error)) ||
           (!JSON_NODE_HOLDS_OBJECT (node) && fail (self, path, error, QM_PLAN_ERROR_TYPE, N_("an object is expected")));

  if (strcmp (path, "format") != 0 && strcmp (path, "version") != 0 && self->n_warnings < MOST_WARNINGS)
    warn_unknown_key (self, path, qm_plan_field_nearest (path));

  return TRUE;
}

static gboolean
read_object (Reader      *self,
             QmPlan      *plan,
             JsonObject  *object,
             const char  *prefix,
             GError     **error)
{
  g_autoptr (GList) members = json_object_get_members (object);

  for (GList *l = members; l != NULL; l = l->next)
    {
      g_autofree char *path = prefix != NULL ? g_strconcat (prefix, ".", l->data, NULL) : g_strdup (l->data);

      /* A name with a point in it is no path. */
      if (strpbrk (l->data, ".[") != NULL)
        warn_unknown_key (self, path, qm_plan_field_nearest (path));
      else if (!read_member (self, plan, path, json_object_get_member (object, l->data), error))
        return FALSE;
    }

  return TRUE;
}

/* ----------------------------------------------------------------------- version */

static gboolean
is_of_type (JsonNode *node,
            GType     type)
{
  return node != NULL && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == type;
}

static gboolean
check_format (Reader      *self,
              JsonObject  *object,
              gint64      *version,
              GError     **error)
{
  JsonNode *format = json_object_get_member (object, "format");
  JsonNode *number = json_object_get_member (object, "version");

  if (!is_of_type (format, G_TYPE_STRING) || strcmp (json_node_get_string (format), FORMAT) != 0)
    return fail (self, "format", error, QM_PLAN_ERROR_FORMAT, N_("\"quartermaster-plan\" is expected: this is no plan file"));
  if (!is_of_type (number, G_TYPE_INT64) || json_node_get_int (number) < 1)
    return fail (self, "version", error, QM_PLAN_ERROR_FORMAT, N_("a whole number from 1 is expected"));

  *version = json_node_get_int (number);
  if (*version <= VERSION)
    return TRUE;

  qm_error_set (error, QM_PLAN_ERROR, QM_PLAN_ERROR_FORMAT, "version",
                N_("{version} was written by a later program; this one reads up to {newest}"),
                "#version", (double) *version, "#newest", (double) VERSION, NULL);
  return fail_at (self, error);
}

static gboolean
migrate (Reader      *self,
         JsonObject  *object,
         gint64       version,
         GError     **error)
{
  for (; version < VERSION; version++)
    if (migrations[version - 1] != NULL && !migrations[version - 1] (object))
      return fail (self, "version", error, QM_PLAN_ERROR_FORMAT, N_("this plan could not be brought up to date"));

  return TRUE;
}

/**
 * qm_plan_read:
 * @object: what a plan file holds
 * @lines: (nullable): of the text that @object was read from
 * @warnings: (nullable) (element-type QmPlanWarning): what is odd is added here
 * @error: return location for a #QmPlanError, whose message begins with the
 *   line where there are @lines
 *
 * Returns: (transfer full): the plan, or %NULL with @error set
 */
QmPlan *
qm_plan_read (JsonObject   *object,
              QmJsonLines  *lines,
              GPtrArray    *warnings,
              GError      **error)
{
  g_autoptr (QmPlan) plan = qm_plan_new ();
  Reader self = { lines, warnings, 0 };
  gint64 version;

  if (!check_format (&self, object, &version, error) || !migrate (&self, object, version, error) ||
      !read_object (&self, plan, object, NULL, error))
    return NULL;
  if (!qm_plan_check (plan, error))
    {
      fail_at (&self, error);
      return NULL;
    }
  if (plan->task == QM_TASK_TABULAR && plan->activity == QM_ACTIVITY_FINE_TUNE)
    warn (&self, "activity", qm_message_new ("trees", N_("trees are not fine-tuned; estimated as \"train\"")));

  if (!isnan (plan->costs.device_price) && plan->configuration.device[0] == '\0')
    warn (&self, "costs.device_price", qm_message_new ("price-of-nothing", N_("is the price of configuration.device, which is missing; it is not used")));
  if (plan->costs.currency_as_of[0] != '\0' && isnan (plan->costs.currency_per_usd))
    warn (&self, "costs.currency_as_of", qm_message_new ("date-of-nothing", N_("is the date of costs.currency_per_usd, which is missing; it is not used")));

  return g_steal_pointer (&plan);
}

/**
 * qm_plan_from_object:
 * @object: what a plan file holds
 * @warnings: (nullable) (element-type QmPlanWarning): what is odd is added here
 * @error: return location for a #QmPlanError
 *
 * Returns: (transfer full): the plan, or %NULL with @error set
 */
QmPlan *
qm_plan_from_object (JsonObject  *object,
                     GPtrArray   *warnings,
                     GError     **error)
{
  return qm_plan_read (object, NULL, warnings, error);
}
