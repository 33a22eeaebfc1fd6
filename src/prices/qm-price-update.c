/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-price-update.h"

#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <string.h>

#include "qm-context.h"
#include "qm-error.h"
#include "qm-file.h"

/* How often a reader is told how far it is. */
#define BETWEEN_REPORTS (G_USEC_PER_SEC / 10)

typedef struct {
  QmCatalog *catalog;
  char *shipped_directory;
  char *user_directory;
  char **names;
  QmPriceProgressFunc progress;
  gpointer progress_data;
  GMainContext *context;
  GCancellable *cancellable;
  guint index;
  gint64 reported;
} Update;

static void
update_free (Update *self)
{
  g_object_unref (self->catalog);
  g_free (self->shipped_directory);
  g_free (self->user_directory);
  g_strfreev (self->names);
  g_main_context_unref (self->context);
  g_clear_object (&self->cancellable);
  g_free (self);
}

static void
outcome_free (gpointer data)
{
  QmPriceOutcome *self = data;

  g_free (self->name);
  g_free (self->provider);
  g_clear_error (&self->error);
  g_free (self);
}

/**
 * qm_price_usual_addresses:
 * @catalog: the catalog
 *
 * Returns: (transfer full) (array zero-terminated=1): where newer prices are
 *   looked for when no address is given, by `providers.json`
 */
char **
qm_price_usual_addresses (QmCatalog *catalog)
{
  JsonNode *table = qm_catalog_table (catalog, "providers");
  JsonObject *lists = table != NULL ? json_object_get_object_member (json_node_get_object (table), "lists") : NULL;
  JsonArray *providers = lists != NULL ? json_object_get_array_member (lists, "providers") : NULL;
  GStrvBuilder *builder = g_strv_builder_new ();

  for (guint i = 0; providers != NULL && i < json_array_get_length (providers); i++)
    {
      GString *address = g_string_new (json_object_get_string_member (lists, "address"));

      g_string_replace (address, "{provider}", json_array_get_string_element (providers, i), 0);
      g_strv_builder_take (builder, g_string_free (address, FALSE));
    }

  return g_strv_builder_unref_to_strv (builder);
}

/**
 * qm_price_part_path:
 * @address: of a list
 *
 * Returns: (transfer full): where what came of it is kept until the rest comes
 */
char *
qm_price_part_path (const char *address)
{
  const char *from_environment = g_getenv ("QM_USER_DIR");
  g_autofree char *sum = g_compute_checksum_for_string (G_CHECKSUM_SHA256, address, -1);
  g_autofree char *name = g_strdup_printf ("%.16s.part", sum);
  g_autofree char *folder = from_environment != NULL ? g_build_filename (from_environment, "cache", NULL)
                                                     : g_build_filename (g_get_user_cache_dir (), "quartermaster", "prices", NULL);

  g_mkdir_with_parents (folder, 0700);
  return g_build_filename (folder, name, NULL);
}

/**
 * qm_price_date_of_file:
 * @path: a file
 *
 * Returns: (transfer full): when it was last changed, ISO 8601; of what is no
 *   file, today
 */
char *
qm_price_date_of_file (const char *path)
{
  GStatBuf status;
  g_autoptr (GDateTime) date = path != NULL && g_stat (path, &status) == 0 ? g_date_time_new_from_unix_utc (status.st_mtime)
                                                                           : g_date_time_new_now_utc ();

  return g_date_time_format (date, "%Y-%m-%d");
}

/* ------------------------------------------------------------------------- progress */

typedef struct {
  QmPriceProgress progress;
  char *name;
  QmPriceProgressFunc tell;
  gpointer data;
  GCancellable *cancellable;
} Report;

static void
report_free (gpointer data)
{
  Report *self = data;

  g_free (self->name);
  g_clear_object (&self->cancellable);
  g_free (self);
}

/* After a stop, who was to be told may be gone. */
static gboolean
deliver (gpointer data)
{
  Report *self = data;

  if (!g_cancellable_is_cancelled (self->cancellable))
    self->tell (&self->progress, self->data);

  return G_SOURCE_REMOVE;
}

static void
report (guint64  received,
        guint64  total,
        gpointer data)
{
  Update *self = data;
  gint64 now = g_get_monotonic_time ();
  Report *message;

  if (self->progress == NULL || (received > 0 && now - self->reported < BETWEEN_REPORTS))
    return;

  self->reported = now;
  message = g_new0 (Report, 1);
  message->name = g_strdup (self->names[self->index]);
  message->progress = (QmPriceProgress) { self->index, g_strv_length (self->names), message->name, received, total };
  message->tell = self->progress;
  message->data = self->progress_data;
  message->cancellable = self->cancellable != NULL ? g_object_ref (self->cancellable) : NULL;
  qm_context_send (self->context, deliver, message, report_free);
}

/* ---------------------------------------------------------------------------- lists */

static gboolean
is_address (const char *name)
{
  return strstr (name, "://") != NULL;
}

static gboolean
get_text (Update     *self,
          const char *name,
          QmFetched  *fetched,
          GError    **error)
{
  g_autofree char *part = NULL;

  *fetched = (QmFetched) { 0 };
  if (!is_address (name))
    {
      fetched->text = qm_file_read (name, qm_fetch_limits_usual.most_bytes, &fetched->length, error);
      fetched->date = qm_price_date_of_file (name);
      return fetched->text != NULL;
    }

  part = qm_price_part_path (name);
  if (!qm_fetch (name, part, &qm_fetch_limits_usual, report, self, fetched, self->cancellable, error))
    return FALSE;
  if (fetched->date == NULL)
    fetched->date = qm_price_date_of_file (NULL);

  return TRUE;
}

static QmPriceOutcome *
take (Update *self)
{
  QmPriceOutcome *outcome = g_new0 (QmPriceOutcome, 1);
  const char *name = self->names[self->index];
  QmPriceSummary summary = { 0 };
  g_autofree char *path = NULL;
  QmFetched fetched;

  outcome->name = g_strdup (name);
  outcome->provider = qm_price_provider (self->catalog, name);
  report (0, 0, self);
  if (get_text (self, name, &fetched, &outcome->error))
    {
      QmPriceSource source = { fetched.text, fetched.length, name, outcome->provider, fetched.date, NULL };

      qm_price_store (self->catalog, self->shipped_directory, self->user_directory, &source, &summary, &path, &outcome->error);
      outcome->offers = summary.offers;
      qm_price_summary_clear (&summary);
    }
  qm_fetched_clear (&fetched);

  return outcome;
}

static void
update_in_thread (GTask        *task,
                  gpointer      source,
                  gpointer      data,
                  GCancellable *cancellable)
{
  Update *self = data;
  g_autoptr (GPtrArray) outcomes = g_ptr_array_new_with_free_func (outcome_free);

  for (self->index = 0; self->names[self->index] != NULL && !g_cancellable_is_cancelled (cancellable); self->index++)
    g_ptr_array_add (outcomes, take (self));
  g_task_return_pointer (task, g_steal_pointer (&outcomes), (GDestroyNotify) g_ptr_array_unref);
}

/**
 * qm_price_update_async:
 * @catalog: the catalog as it is
 * @shipped_directory: of the catalog that came with the program
 * @user_directory: of the person's own
 * @names: (array zero-terminated=1): addresses, https, or files
 * @progress: (nullable): told how far it is, in the context of the caller
 * @progress_data: for it; must live until @callback is called or @cancellable
 *   is cancelled
 * @cancellable: (nullable): to stop; lists that are whole by then stay
 * @callback: called when it is done
 * @data: for it
 *
 * Makes price lists part of a person's catalog, each by itself and whole or not
 * at all.
 */
void
qm_price_update_async (QmCatalog           *catalog,
                       const char          *shipped_directory,
                       const char          *user_directory,
                       const char * const  *names,
                       QmPriceProgressFunc  progress,
                       gpointer             progress_data,
                       GCancellable        *cancellable,
                       GAsyncReadyCallback  callback,
                       gpointer             data)
{
  g_autoptr (GTask) task = g_task_new (NULL, cancellable, callback, data);
  Update *self = g_new0 (Update, 1);

  self->catalog = g_object_ref (catalog);
  self->shipped_directory = g_strdup (shipped_directory);
  self->user_directory = g_strdup (user_directory);
  self->names = g_strdupv ((char **) names);
  self->progress = progress;
  self->progress_data = progress_data;
  self->context = g_main_context_ref_thread_default ();
  self->cancellable = cancellable != NULL ? g_object_ref (cancellable) : NULL;
  g_task_set_source_tag (task, qm_price_update_async);
  g_task_set_task_data (task, self, (GDestroyNotify) update_free);
  /* What was taken before a stop is told. */
  g_task_set_check_cancellable (task, FALSE);
  g_task_run_in_thread (task, update_in_thread);
}

/**
 * qm_price_update_finish:
 * @result: of qm_price_update_async()
 * @error: return location for an error
 *
 * Returns: (transfer full) (element-type QmPriceOutcome): what became of each
 *   list that it came to
 */
GPtrArray *
qm_price_update_finish (GAsyncResult  *result,
                        GError       **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}
