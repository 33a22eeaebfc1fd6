/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-price-fetch.h"

#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <libsoup/soup.h>
#include <string.h>

#include "qm-error.h"
#include "qm-file.h"
#include "qm-price-list.h"

#define CHUNK_BYTES    65536
#define MOST_REDIRECTS 5

const QmFetchLimits qm_fetch_limits_usual = { 64 * 1024 * 1024, 30, 900 };

typedef struct {
  SoupSession *session;
  const QmFetchLimits *limits;
  const char *part_path;
  char *tag_path;                   /* of what version the part is */
  QmFetchProgress progress;
  gpointer data;
  GCancellable *cancellable;
  gint64 deadline;
} Fetch;

static gboolean
refuse (GError     **error,
        int          code,
        const char  *msgid)
{
  qm_error_set (error, QM_PRICES_ERROR, code, NULL, msgid, NULL);
  return FALSE;
}

/* Prices decide what people pay: nobody on the way may change them. A server on
 * this computer is nobody else. */
static gboolean
is_secure (GUri *uri)
{
  static const char * const here[] = { "127.0.0.1", "::1", "localhost", NULL };
  const char *host = g_uri_get_host (uri);

  return strcmp (g_uri_get_scheme (uri), "https") == 0 ||
         (strcmp (g_uri_get_scheme (uri), "http") == 0 && host != NULL && g_strv_contains (here, host));
}

static guint64
size_of_part (const Fetch *self)
{
  GStatBuf status;

  return g_stat (self->part_path, &status) == 0 ? status.st_size : 0;
}

static void
drop_part (const Fetch *self)
{
  g_unlink (self->part_path);
  g_unlink (self->tag_path);
}

/* Only the same version of the list can be gone on with. */
static char *
tag_of_part (const Fetch *self)
{
  char *tag = NULL;

  if (size_of_part (self) == 0 || !g_file_get_contents (self->tag_path, &tag, NULL, NULL))
    return NULL;

  return g_strstrip (tag);
}

static SoupMessage *
message_for (const Fetch *self,
             GUri        *uri)
{
  SoupMessage *message = soup_message_new_from_uri (SOUP_METHOD_GET, uri);
  SoupMessageHeaders *headers = soup_message_get_request_headers (message);
  g_autofree char *tag = tag_of_part (self);

  soup_message_add_flags (message, SOUP_MESSAGE_NO_REDIRECT);
  soup_message_headers_replace (headers, "Accept-Encoding", "identity");
  if (tag != NULL)
    {
      soup_message_headers_set_range (headers, size_of_part (self), -1);
      soup_message_headers_replace (headers, "If-Range", tag);
    }

  return message;
}

static gboolean
is_of_the_network (const GError *error)
{
  return error->domain == G_RESOLVER_ERROR || g_error_matches (error, G_IO_ERROR, G_IO_ERROR_NETWORK_UNREACHABLE) ||
         g_error_matches (error, G_IO_ERROR, G_IO_ERROR_HOST_UNREACHABLE) ||
         g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CONNECTION_REFUSED);
}

/* What went wrong, in words of one's own: the previous prices are kept. */
static gboolean
explain (GError     **error,
         GError      *reason)
{
  g_autoptr (GError) taken = reason;

  if (g_error_matches (taken, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      g_propagate_error (error, g_steal_pointer (&taken));
      return FALSE;
    }
  if (is_of_the_network (taken))
    return refuse (error, QM_PRICES_ERROR_OFFLINE, N_("the server cannot be reached: this computer may be offline; the prices stay as they are"));
  if (g_error_matches (taken, G_IO_ERROR, G_IO_ERROR_TIMED_OUT))
    return refuse (error, QM_PRICES_ERROR_TOO_SLOW, N_("the server is too slow; what came is kept, and the next try goes on from there"));

  qm_error_set (error, QM_PRICES_ERROR, QM_PRICES_ERROR_SERVER, NULL,
                N_("the server breaks off ({word}); what came is kept, and the next try goes on from there"), "word", taken->message, NULL);
  return FALSE;
}

/* ---------------------------------------------------------------------------- bytes */

static GOutputStream *
open_part (const Fetch  *self,
           gboolean      goes_on,
           GError      **error)
{
  g_autoptr (GFile) file = g_file_new_for_path (self->part_path);

  if (goes_on)
    return G_OUTPUT_STREAM (g_file_append_to (file, G_FILE_CREATE_PRIVATE, NULL, error));

  return G_OUTPUT_STREAM (g_file_replace (file, NULL, FALSE, G_FILE_CREATE_PRIVATE, NULL, error));
}

static gboolean
copy (const Fetch   *self,
      GInputStream  *from,
      GOutputStream *to,
      guint64        received,
      guint64        total,
      GError       **error)
{
  g_autofree char *chunk = g_malloc (CHUNK_BYTES);
  g_autoptr (GError) reason = NULL;
  gssize n;

  while ((n = g_input_stream_read (from, chunk, CHUNK_BYTES, self->cancellable, &reason)) > 0)
    {
      received += n;
      if (received > self->limits->most_bytes)
        {
          drop_part (self);
          return refuse (error, QM_PRICES_ERROR_TOO_LARGE, N_("the list is larger than a price list can be; the prices stay as they are"));
        }
      if (!g_output_stream_write_all (to, chunk, n, NULL, NULL, error))
        return FALSE;
      if (self->progress != NULL)
        self->progress (received, total, self->data);
      if (g_get_monotonic_time () > self->deadline)
        return refuse (error, QM_PRICES_ERROR_TOO_SLOW, N_("the server is too slow; what came is kept, and the next try goes on from there"));
    }
  if (n < 0)
    return explain (error, g_steal_pointer (&reason));
  if (total > 0 && received < total)
    return refuse (error, QM_PRICES_ERROR_SERVER, N_("the server ends too early; what came is kept, and the next try goes on from there"));

  return TRUE;
}

static void
keep_tag (const Fetch        *self,
          SoupMessageHeaders *headers)
{
  const char *tag = soup_message_headers_get_one (headers, "ETag");

  /* A weak one does not promise the same bytes. */
  if (tag != NULL && !g_str_has_prefix (tag, "W/"))
    g_file_set_contents (self->tag_path, tag, -1, NULL);
  else
    g_unlink (self->tag_path);
}

/* Of how many bytes in all the answer speaks; whether it goes on where the part
 * ends. */
static gboolean
read_extent (const Fetch *self,
             SoupMessage *message,
             gboolean    *goes_on,
             guint64     *total)
{
  SoupMessageHeaders *headers = soup_message_get_response_headers (message);
  goffset start, end, whole;

  *goes_on = FALSE;
  *total = soup_message_headers_get_encoding (headers) == SOUP_ENCODING_CONTENT_LENGTH
             ? (guint64) MAX (0, soup_message_headers_get_content_length (headers)) : 0;
  if (soup_message_get_status (message) != SOUP_STATUS_PARTIAL_CONTENT)
    return TRUE;
  if (!soup_message_headers_get_content_range (headers, &start, &end, &whole) || start != (goffset) size_of_part (self))
    return FALSE;

  *goes_on = TRUE;
  *total += start;
  return TRUE;
}

static gboolean
receive (const Fetch   *self,
         SoupMessage   *message,
         GInputStream  *stream,
         QmFetched     *fetched,
         GError       **error)
{
  SoupMessageHeaders *headers = soup_message_get_response_headers (message);
  g_autoptr (GOutputStream) part = NULL;
  gboolean goes_on;
  guint64 total, before;

  if (!read_extent (self, message, &goes_on, &total))
    {
      drop_part (self);
      return refuse (error, QM_PRICES_ERROR_SERVER, N_("the server sends another part than was asked for; the prices stay as they are"));
    }
  if (total > self->limits->most_bytes)
    {
      drop_part (self);
      return refuse (error, QM_PRICES_ERROR_TOO_LARGE, N_("the list is larger than a price list can be; the prices stay as they are"));
    }

  before = goes_on ? size_of_part (self) : 0;
  part = open_part (self, goes_on, error);
  if (part == NULL)
    return FALSE;
  keep_tag (self, headers);
  fetched->resumed = before;
  if (!copy (self, stream, part, before, total, error))
    {
      g_output_stream_close (part, NULL, NULL);
      return FALSE;
    }

  return g_output_stream_close (part, NULL, error);
}

/* -------------------------------------------------------------------------- messages */

static char *
date_of (SoupMessage *message)
{
  const char *text = soup_message_headers_get_one (soup_message_get_response_headers (message), "Last-Modified");
  g_autoptr (GDateTime) date = text != NULL ? soup_date_time_new_from_http_string (text) : NULL;

  return date != NULL ? g_date_time_format (date, "%Y-%m-%d") : NULL;
}

static gboolean
is_redirect (guint status)
{
  return status == SOUP_STATUS_MOVED_PERMANENTLY || status == SOUP_STATUS_FOUND || status == SOUP_STATUS_SEE_OTHER ||
         status == SOUP_STATUS_TEMPORARY_REDIRECT || status == SOUP_STATUS_PERMANENT_REDIRECT;
}

typedef enum {
  STEP_DONE,
  STEP_FAILED,
  STEP_AGAIN,                       /* elsewhere, or without the part */
} Step;

static Step
refuse_status (guint    status,
               GError **error)
{
  g_autofree char *word = g_strdup_printf ("%u %s", status, soup_status_get_phrase (status));

  qm_error_set (error, QM_PRICES_ERROR, QM_PRICES_ERROR_SERVER, NULL, N_("the server answers {word}; the prices stay as they are"),
                "word", word, NULL);
  return STEP_FAILED;
}

static Step
ask (const Fetch  *self,
     GUri        **uri,
     QmFetched    *fetched,
     GError      **error)
{
  g_autoptr (SoupMessage) message = message_for (self, *uri);
  g_autoptr (GError) reason = NULL;
  g_autoptr (GInputStream) stream = soup_session_send (self->session, message, self->cancellable, &reason);
  guint status = soup_message_get_status (message);
  const char *location = soup_message_headers_get_one (soup_message_get_response_headers (message), "Location");

  if (stream == NULL)
    {
      explain (error, g_steal_pointer (&reason));
      return STEP_FAILED;
    }
  if (is_redirect (status) && location != NULL)
    {
      GUri *next = g_uri_parse_relative (*uri, location, SOUP_HTTP_URI_FLAGS, NULL);

      if (next == NULL)
        return refuse_status (status, error);
      g_uri_unref (*uri);
      *uri = next;
      return STEP_AGAIN;
    }
  if (status == SOUP_STATUS_REQUESTED_RANGE_NOT_SATISFIABLE && size_of_part (self) > 0)
    {
      drop_part (self);
      return STEP_AGAIN;
    }
  if (status != SOUP_STATUS_OK && status != SOUP_STATUS_PARTIAL_CONTENT)
    return refuse_status (status, error);

  fetched->date = date_of (message);
  return receive (self, message, stream, fetched, error) ? STEP_DONE : STEP_FAILED;
}

static gboolean
ask_along (const Fetch  *self,
           const char   *address,
           QmFetched    *fetched,
           GError      **error)
{
  GUri *uri = g_uri_parse (address, SOUP_HTTP_URI_FLAGS, NULL);
  Step step = STEP_AGAIN;

  for (int i = 0; step == STEP_AGAIN && i <= MOST_REDIRECTS; i++)
    {
      if (uri == NULL || !is_secure (uri))
        {
          refuse (error, QM_PRICES_ERROR_INSECURE, N_("prices are fetched from https addresses only"));
          step = STEP_FAILED;
        }
      else
        step = ask (self, &uri, fetched, error);
    }
  g_clear_pointer (&uri, g_uri_unref);
  if (step == STEP_AGAIN)
    return refuse (error, QM_PRICES_ERROR_SERVER, N_("the server leads from one address to another without end"));

  return step == STEP_DONE;
}

/**
 * qm_fetch:
 * @address: of a list, https
 * @part_path: where what came so far is kept, to go on from
 * @limits: when to give up
 * @progress: (nullable) (scope call): told what came
 * @data: for it
 * @fetched: (out caller-allocates): the list; qm_fetched_clear() frees it
 * @cancellable: (nullable): to stop
 * @error: return location for an error of %QM_PRICES_ERROR
 *
 * Fetches a price list; blocks, so it belongs into a thread where there is a
 * window. What breaks off is gone on with next time, where the server says that
 * it still has the same version.
 *
 * Returns: whether the whole list came
 */
gboolean
qm_fetch (const char           *address,
          const char           *part_path,
          const QmFetchLimits  *limits,
          QmFetchProgress       progress,
          gpointer              data,
          QmFetched            *fetched,
          GCancellable         *cancellable,
          GError              **error)
{
  g_autoptr (SoupSession) session = soup_session_new_with_options ("timeout", limits->idle_seconds, "user-agent", "quartermaster ", NULL);
  g_autofree char *tag_path = g_strconcat (part_path, ".etag", NULL);
  Fetch self = { session, limits, part_path, tag_path, progress, data, cancellable,
                 g_get_monotonic_time () + (gint64) limits->most_seconds * G_USEC_PER_SEC };

  *fetched = (QmFetched) { 0 };
  soup_session_remove_feature_by_type (session, SOUP_TYPE_CONTENT_DECODER);
  if (!ask_along (&self, address, fetched, error))
    return FALSE;

  fetched->text = qm_file_read (part_path, limits->most_bytes, &fetched->length, error);
  drop_part (&self);

  return fetched->text != NULL;
}

/**
 * qm_fetched_clear:
 * @self: what was fetched
 */
void
qm_fetched_clear (QmFetched *self)
{
  g_clear_pointer (&self->text, g_free);
  g_clear_pointer (&self->date, g_free);
}
