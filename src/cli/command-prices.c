/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib-unix.h>
#include <glib/gi18n.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "draw/qm-language.h"
#include "prices/qm-price-update.h"
#include "qm-cli.h"
#include "qm-error.h"
#include "qm-file.h"

#define SHOWN_NAMES 8

typedef struct {
  QmCli *cli;
  char *provider;
  char *as_of;
  char **regions;
  JsonArray *results;
} Prices;

static void
print_summary (const Prices         *self,
               const char           *name,
               const char           *path,
               const QmPriceSummary *summary)
{
  g_autofree char *offers = qm_format_count (qm_language_get_words (), summary->offers);
  g_autofree char *unknown = NULL;

  if (self->cli->json)
    {
      JsonObject *object = json_object_new ();
      JsonArray *names = json_array_new ();

      json_object_set_string_member (object, "list", name);
      json_object_set_string_member (object, "file", path);
      json_object_set_int_member (object, "offers", summary->offers);
      json_object_set_int_member (object, "unknown_rows", summary->unknown);
      for (guint i = 0; i < summary->names->len; i++)
        json_array_add_string_element (names, summary->names->pdata[i]);
      json_object_set_array_member (object, "unknown_accelerators", names);
      json_array_add_object_element (self->results, object);
      return;
    }

  /* Translators: a name, a number, a file */
  g_print (_("%s: %s offers, kept in %s\n"), name, offers, path);
  if (summary->names->len == 0)
    return;
  if (summary->names->len > SHOWN_NAMES)
    g_ptr_array_set_size (summary->names, SHOWN_NAMES);
  g_ptr_array_add (summary->names, NULL);
  unknown = g_strjoinv (", ", (char **) summary->names->pdata);
  g_print (_("  left out, because the catalog does not know them: %s\n"), unknown);
}

static gboolean
store (const Prices  *self,
       const char    *text,
       gsize          length,
       const char    *name,
       const char    *as_of,
       GError       **error)
{
  g_autofree char *shipped = qm_cli_shipped_directory ();
  g_autofree char *own = qm_cli_user_directory ();
  QmPriceSource source = { text, length, name, self->provider, self->as_of != NULL ? self->as_of : as_of,
                           (const char * const *) self->regions };
  QmPriceSummary summary;
  g_autofree char *path = NULL;
  gboolean stored = qm_price_store (self->cli->catalog, shipped, own, &source, &summary, &path, error);

  if (stored)
    print_summary (self, name, path, &summary);
  else if (error != NULL)
    qm_error_locate (*error, name, 0);
  qm_price_summary_clear (&summary);

  return stored;
}

static gboolean
import_file (const Prices  *self,
             const char    *path,
             GError       **error)
{
  g_autofree char *name = g_filename_display_name (path);
  g_autofree char *date = qm_price_date_of_file (path);
  gsize length;
  g_autofree char *text = qm_file_read (path, qm_fetch_limits_usual.most_bytes, &length, error);

  return text != NULL && store (self, text, length, name, date, error);
}

/* ----------------------------------------------------------------------- the network */

typedef struct {
  const char *address;
  char *part_path;
  QmFetched fetched;
  GCancellable *cancellable;
  GMainLoop *loop;
  GError *error;
  gboolean came;
  gint64 shown;
} Download;

static void
show_progress (guint64  received,
               guint64  total,
               gpointer data)
{
  Download *download = data;
  gint64 now = g_get_monotonic_time ();

  if (!isatty (STDERR_FILENO) || now - download->shown < G_USEC_PER_SEC / 5)
    return;

  download->shown = now;
  if (total > 0)
    g_printerr ("\r%3.0f %%", 100.0 * received / total);
  else
    g_printerr ("\r%.1f MB", received / 1e6);
}

/* From the loop itself, which may not run yet. */
static gboolean
has_ended (gpointer data)
{
  g_main_loop_quit (data);
  return G_SOURCE_REMOVE;
}

static gpointer
fetch_in_thread (gpointer data)
{
  Download *download = data;

  download->came = qm_fetch (download->address, download->part_path, &qm_fetch_limits_usual, show_progress, download,
                             &download->fetched, download->cancellable, &download->error);
  g_idle_add (has_ended, download->loop);

  return NULL;
}

static gboolean
interrupted (gpointer data)
{
  g_cancellable_cancel (data);
  return G_SOURCE_CONTINUE;
}

static gboolean
update_from (const Prices  *self,
             const char    *address,
             GError       **error)
{
  Download download = { .address = address, .part_path = qm_price_part_path (address), .cancellable = g_cancellable_new (),
                        .loop = g_main_loop_new (NULL, FALSE) };
  guint signal = g_unix_signal_add (SIGINT, interrupted, download.cancellable);
  GThread *thread = g_thread_new ("fetch", fetch_in_thread, &download);
  gboolean stored = FALSE;

  g_main_loop_run (download.loop);
  g_thread_join (thread);
  g_source_remove (signal);
  if (isatty (STDERR_FILENO))
    g_printerr ("\r");
  if (download.came)
    {
      g_autofree char *date = download.fetched.date != NULL ? g_strdup (download.fetched.date) : qm_price_date_of_file (NULL);

      stored = store (self, download.fetched.text, download.fetched.length, address, date, error);
    }
  else
    {
      qm_error_locate (download.error, address, 0);
      g_propagate_error (error, download.error);
    }
  qm_fetched_clear (&download.fetched);
  g_free (download.part_path);
  g_object_unref (download.cancellable);
  g_main_loop_unref (download.loop);

  return stored;
}

static gboolean
is_sound_provider (const char *provider)
{
  return provider == NULL || (provider[0] != '\0' && strspn (provider, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen (provider));
}

static gboolean
is_date (const char *text)
{
  g_autoptr (GTimeZone) utc = g_time_zone_new_utc ();
  g_autofree char *time = text != NULL ? g_strconcat (text, "T00:00:00", NULL) : NULL;
  g_autoptr (GDateTime) date = time != NULL ? g_date_time_new_from_iso8601 (time, utc) : NULL;

  return text == NULL || date != NULL;
}

static gboolean
check (const Prices  *self,
       char         **left,
       GError       **error)
{
  gboolean updates = strcmp (left[1], "update") == 0;

  if (!updates && left[2] == NULL)
    g_set_error_literal (error, QM_USAGE_ERROR, 0, _("catalog: the price list to import is missing"));
  else if (!is_sound_provider (self->provider))
    g_set_error (error, QM_USAGE_ERROR, 0, _("--provider: \"%s\" is no id of a provider, such as aws"), self->provider);
  else if (!is_date (self->as_of))
    g_set_error (error, QM_USAGE_ERROR, 0, _("--as-of: \"%s\" is no date, such as 2026-11-30"), self->as_of);
  else
    return TRUE;

  return FALSE;
}

/* Every list is taken by itself: one that fails does not keep the others out. */
static gboolean
take_all (const Prices  *self,
          char         **names,
          gboolean       updates,
          GError       **error)
{
  gboolean all = TRUE;

  for (int i = 0; names[i] != NULL; i++)
    {
      g_autoptr (GError) local_error = NULL;

      if (updates ? update_from (self, names[i], &local_error) : import_file (self, names[i], &local_error))
        continue;
      all = FALSE;
      if (names[i + 1] == NULL || g_error_matches (local_error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        {
          g_propagate_error (error, g_steal_pointer (&local_error));
          return FALSE;
        }
      qm_cli_print_problem (local_error);
    }
  if (!all)
    g_set_error_literal (error, QM_USAGE_ERROR, 0, _("catalog: some of the lists could not be taken; the prices before them are kept"));

  return all;
}

/**
 * qm_command_prices:
 * @cli: the program
 * @arguments: `catalog import FILE…` or `catalog update [URL…]`
 * @error: return location for an error
 *
 * Makes price lists part of the person's catalog: files, or from the network,
 * which is asked here and nowhere else.
 *
 * Returns: whether all of them are there
 */
gboolean
qm_command_prices (QmCli   *cli,
                   GStrv    arguments,
                   GError **error)
{
  g_autofree char *regions = NULL;
  Prices self = { .cli = cli };
  const GOptionEntry entries[] = {
    { "provider", 0, 0, G_OPTION_ARG_STRING, &self.provider, N_("Whose prices they are"), "ID" },
    { "regions", 0, 0, G_OPTION_ARG_STRING, &regions, N_("Of which regions, or all"), "LIST" },
    { "as-of", 0, 0, G_OPTION_ARG_STRING, &self.as_of, N_("When they held"), "DATE" },
    G_OPTION_ENTRY_NULL
  };
  g_auto (GStrv) left = g_strdupv (arguments);
  g_auto (GStrv) addresses = NULL;
  gboolean updates, worked;

  if (!qm_cli_parse (cli, &left, entries, 1, G_MAXINT, error) || qm_cli_get_catalog (cli, error) == NULL)
    return FALSE;

  updates = strcmp (left[1], "update") == 0;
  self.regions = regions != NULL ? g_strsplit (regions, ",", -1) : NULL;
  self.results = json_array_new ();
  if (updates && left[2] == NULL)
    addresses = qm_price_usual_addresses (cli->catalog);
  worked = check (&self, left, error) && take_all (&self, addresses != NULL ? addresses : left + 2, updates, error);
  if (worked && cli->json)
    {
      g_autoptr (JsonNode) node = json_node_new (JSON_NODE_OBJECT);
      JsonObject *object = json_object_new ();

      json_object_set_array_member (object, "lists", json_array_ref (self.results));
      json_node_take_object (node, object);
      qm_cli_print_json (node, TRUE);
    }
  json_array_unref (self.results);
  g_strfreev (self.regions);
  g_free (self.provider);
  g_free (self.as_of);

  return worked;
}
