/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "qm-ledger-private.h"

/* By which words runs are found. A term is the beginning of a word, or a whole
 * value. For each term and BLOCK numbers of runs, the table has the set of runs
 * that have it: a bit for each number, or the numbers themselves where that is
 * shorter. Runs that have several terms are found by the bits in common, however
 * frequent each is, and none is read that has not all. */

#define BLOCK        8192
#define BITMAP_BYTES (BLOCK / 8)

/* Beginnings of up to so many letters are terms. What is longer is rarely told
 * apart only behind its twelfth letter. */
#define LONGEST_TERM 12

/* So many changes are kept until they are written. */
#define MOST_PENDING 500000

/* ----------------------------------------------------------------------- terms */

/* Letters of Chinese and Japanese stand for words, which nothing parts. */
static gboolean
stands_alone (gunichar c)
{
  GUnicodeScript script = g_unichar_get_script (c);

  return script == G_UNICODE_SCRIPT_HAN || script == G_UNICODE_SCRIPT_HIRAGANA || script == G_UNICODE_SCRIPT_KATAKANA;
}

/* Its words apart by spaces, without what tells "É" from "e". */
static char *
fold (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text != NULL ? text : "", -1);
  g_autofree char *folded = g_utf8_casefold (valid, -1);
  g_autofree char *parted = g_utf8_normalize (folded, -1, G_NORMALIZE_ALL);
  GString *words = g_string_new (NULL);

  for (const char *c = parted; *c != '\0'; c = g_utf8_next_char (c))
    {
      gunichar letter = g_utf8_get_char (c);
      gboolean alone = stands_alone (letter);

      if (g_unichar_ismark (letter))
        continue;
      if (alone || !g_unichar_isalnum (letter))
        g_string_append_c (words, ' ');
      if (g_unichar_isalnum (letter))
        g_string_append_unichar (words, letter);
      if (alone)
        g_string_append_c (words, ' ');
    }

  return g_string_free (words, FALSE);
}

/* A word in the question: the beginning that it is found by. */
static char *
beginning_of (const char *word)
{
  glong letters = MIN (g_utf8_strlen (word, -1), LONGEST_TERM);

  return g_strndup (word, g_utf8_offset_to_pointer (word, letters) - word);
}

/**
 * qm_ledger_add_words:
 * @terms: (element-type utf8): a set of terms
 * @text: (nullable): what was asked for
 *
 * Adds the terms that a run must have to be found by @text.
 */
void
qm_ledger_add_words (GHashTable *terms,
                     const char *text)
{
  g_autofree char *folded = fold (text);
  g_auto (GStrv) words = g_strsplit (folded, " ", -1);

  for (guint i = 0; words[i] != NULL; i++)
    if (words[i][0] != '\0')
      g_hash_table_add (terms, beginning_of (words[i]));
}

/* All beginnings of all words. */
static void
add_beginnings (GHashTable *terms,
                const char *text)
{
  g_autofree char *folded = fold (text);
  g_auto (GStrv) words = g_strsplit (folded, " ", -1);

  for (guint i = 0; words[i] != NULL; i++)
    {
      const char *end = words[i];

      for (int n = 0; n < LONGEST_TERM && *end != '\0'; n++)
        {
          end = g_utf8_next_char (end);
          g_hash_table_add (terms, g_strndup (words[i], end - words[i]));
        }
    }
}

/**
 * qm_ledger_add_facet:
 * @terms: (element-type utf8): a set of terms
 * @kind: `d` a device, `m` a model, `t` a tag
 * @value: (nullable): its name
 *
 * Adds the term that stands for exactly this value. It is longer than a word's.
 */
void
qm_ledger_add_facet (GHashTable *terms,
                     char        kind,
                     const char *value)
{
  g_autofree char *sum = value != NULL ? g_compute_checksum_for_string (G_CHECKSUM_SHA256, value, -1) : NULL;

  if (sum != NULL)
    g_hash_table_add (terms, g_strdup_printf ("q%c%.16s", kind, sum));
}

static void
add_terms_of_run (GHashTable  *terms,
                  const QmRun *run)
{
  add_beginnings (terms, run->label);
  add_beginnings (terms, run->command);
  add_beginnings (terms, run->machine);
  add_beginnings (terms, run->device);
  add_beginnings (terms, run->model);
  add_beginnings (terms, run->note);
  add_beginnings (terms, qm_run_status_to_word (run->status));
  add_beginnings (terms, qm_run_source_to_word (run->source));
  qm_ledger_add_facet (terms, 'd', run->device);
  qm_ledger_add_facet (terms, 'm', run->model);
  for (guint i = 0; i < run->tags->len; i++)
    {
      add_beginnings (terms, g_ptr_array_index (run->tags, i));
      qm_ledger_add_facet (terms, 't', g_ptr_array_index (run->tags, i));
    }
}

/* ------------------------------------------------------------------------ sets */

/* Returns whether @data is a set. */
static gboolean
unpack (const guint8 *data,
        int           length,
        guint8       *bits)
{
  memset (bits, 0, BITMAP_BYTES);
  if (length == BITMAP_BYTES)
    memcpy (bits, data, length);
  if (length == BITMAP_BYTES)
    return TRUE;

  for (int i = 0; i + 1 < length; i += 2)
    {
      guint at = data[i] | data[i + 1] << 8;

      if (at >= BLOCK)
        return FALSE;
      bits[at / 8] |= 1 << at % 8;
    }

  return length % 2 == 0 && length < BITMAP_BYTES;
}

static guint
count_bits (const guint8 *bits)
{
  guint n = 0;

  for (guint i = 0; i < BITMAP_BYTES; i += sizeof (guint64))
    {
      guint64 part;

      memcpy (&part, bits + i, sizeof part);
      n += (guint) __builtin_popcountll (part);
    }

  return n;
}

/* Returns how many bytes of @data, of BITMAP_BYTES, the set takes; 0 an empty one. */
static int
pack (const guint8 *bits,
      guint8       *data)
{
  int n = 0;

  if (count_bits (bits) * 2 >= BITMAP_BYTES)
    {
      memcpy (data, bits, BITMAP_BYTES);
      return BITMAP_BYTES;
    }

  for (guint at = 0; at < BLOCK; at++)
    if (bits[at / 8] == 0)
      at |= 7;
    else if ((bits[at / 8] >> at % 8 & 1) != 0)
      {
        data[n++] = at & 0xff;
        data[n++] = at >> 8;
      }

  return n;
}

/* Of the last block up to @block that has the term; -1 with no error where none has. */
static gint64
read_set (QmLedger    *self,
          const char  *term,
          gint64       block,
          guint8      *bits,
          GError     **error)
{
  sqlite3_stmt *statement =
    qm_ledger_query (self, error, "SELECT block, runs FROM terms WHERE term = ? AND block <= ? ORDER BY block DESC LIMIT 1", "si", term, block);
  int result = statement != NULL ? qm_ledger_step (self, error, statement) : -1;
  gboolean ok;

  if (result <= 0)
    return -1;

  block = sqlite3_column_int64 (statement, 0);
  ok = unpack (sqlite3_column_blob (statement, 1), sqlite3_column_bytes (statement, 1), bits);
  sqlite3_reset (statement);
  if (ok)
    return block;

  qm_ledger_set_error (self, error, SQLITE_CORRUPT);
  return -1;
}

static gboolean
write_set (QmLedger      *self,
           const char    *term,
           gint64         block,
           const guint8  *bits,
           GError       **error)
{
  guint8 data[BITMAP_BYTES];
  int length = pack (bits, data);
  sqlite3_stmt *statement;

  if (length == 0)
    return qm_ledger_run (self, error, "DELETE FROM terms WHERE term = ? AND block = ?", "si", term, block);

  statement = qm_ledger_query (self, error, "INSERT OR REPLACE INTO terms VALUES (?, ?, ?)", "si", term, block);
  if (statement == NULL)
    return FALSE;
  sqlite3_bind_blob (statement, 3, data, length, SQLITE_TRANSIENT);

  return qm_ledger_step (self, error, statement) == 0;
}

/* --------------------------------------------------------------------- changes */

/* The number of a run, and whether it gets the term or loses it. */
static gint64
change_of (gint64   id,
           gboolean has)
{
  return id * 2 + has;
}

static void
change_term (QmLedger   *self,
             const char *term,
             gint64      id,
             gboolean    has)
{
  GArray *changes = g_hash_table_lookup (self->pending, term);
  gint64 change = change_of (id, has);

  if (changes == NULL)
    {
      changes = g_array_new (FALSE, FALSE, sizeof (gint64));
      g_hash_table_insert (self->pending, g_strdup (term), changes);
    }
  /* what is lost and had again is as it was */
  if (has && changes->len > 0 && g_array_index (changes, gint64, changes->len - 1) == change_of (id, FALSE))
    g_array_set_size (changes, changes->len - 1);
  else
    g_array_append_val (changes, change);
  self->n_pending++;
}

static gboolean
is_removed (QmLedger  *self,
            gint64     id)
{
  sqlite3_stmt *statement = qm_ledger_query (self, NULL, "SELECT 1 FROM runs WHERE id = ? AND removed IS NULL", "i", id);
  gboolean there = statement != NULL && qm_ledger_step (self, NULL, statement) > 0;

  if (there)
    sqlite3_reset (statement);

  return !there;
}

/**
 * qm_ledger_index_run:
 * @self: a ledger, within a change
 * @id: the number of a run
 * @has: %FALSE before it is changed or removed, %TRUE after that
 * @error: return location for a #QM_LEDGER_ERROR
 *
 * Says that the run, as it stands now, is found by its words no longer, or from now
 * on. A run that was removed is found by none.
 *
 * Returns: whether it worked
 */
gboolean
qm_ledger_index_run (QmLedger  *self,
                     gint64     id,
                     gboolean   has,
                     GError   **error)
{
  g_autoptr (GHashTable) terms = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (QmRun) run = NULL;
  GHashTableIter iter;
  gpointer term;

  if (is_removed (self, id))
    return TRUE;
  run = qm_ledger_get (self, id, error);
  if (run == NULL)
    return FALSE;

  add_terms_of_run (terms, run);
  g_hash_table_iter_init (&iter, terms);
  while (g_hash_table_iter_next (&iter, &term, NULL))
    change_term (self, term, id, has);

  return self->n_pending < MOST_PENDING || qm_ledger_write_words (self, error);
}

static gboolean
change_block (QmLedger      *self,
              const char    *term,
              gint64         block,
              const gint64  *changes,
              guint          n,
              GError       **error)
{
  guint8 bits[BITMAP_BYTES];
  g_autoptr (GError) local_error = NULL;
  gint64 found = read_set (self, term, block, bits, &local_error);

  if (local_error != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&local_error));
      return FALSE;
    }
  if (found != block)
    memset (bits, 0, BITMAP_BYTES);
  for (guint i = 0; i < n; i++)
    {
      guint at = (changes[i] >> 1) % BLOCK;

      bits[at / 8] = (bits[at / 8] & ~(1 << at % 8)) | (changes[i] & 1) << at % 8;
    }

  return write_set (self, term, block, bits, error);
}

/* Changes of one block stand together: runs are added in the order of their numbers. */
static gboolean
write_term (QmLedger      *self,
            const char    *term,
            const GArray  *changes,
            GError       **error)
{
  const gint64 *all = (const gint64 *) changes->data;
  guint from = 0;

  for (guint i = 1; i <= changes->len; i++)
    if (i == changes->len || (all[i] >> 1) / BLOCK != (all[from] >> 1) / BLOCK)
      {
        if (!change_block (self, term, (all[from] >> 1) / BLOCK, all + from, i - from, error))
          return FALSE;
        from = i;
      }

  return TRUE;
}

/**
 * qm_ledger_write_words:
 * @self: a ledger, within a change
 * @error: return location for a #QM_LEDGER_ERROR
 *
 * Writes what qm_ledger_index_run() said, for many runs together.
 *
 * Returns: whether it was written
 */
gboolean
qm_ledger_write_words (QmLedger  *self,
                       GError   **error)
{
  g_autoptr (GList) terms = NULL;
  gboolean ok = TRUE;

  if (self->n_pending == 0)
    return TRUE;

  /* in the order of the table: neighbours are read and written together */
  terms = g_list_sort (g_hash_table_get_keys (self->pending), (GCompareFunc) strcmp);
  for (GList *l = terms; l != NULL && ok; l = l->next)
    {
      const GArray *changes = g_hash_table_lookup (self->pending, l->data);

      ok = changes->len == 0 || write_term (self, l->data, changes, error);
    }
  qm_ledger_forget_words (self);

  return ok;
}

/**
 * qm_ledger_forget_words:
 * @self: a ledger
 *
 * Forgets what qm_ledger_index_run() said and was not written.
 */
void
qm_ledger_forget_words (QmLedger *self)
{
  g_hash_table_remove_all (self->pending);
  self->n_pending = 0;
}

/* --------------------------------------------------------------------- finding */

/* Steps down to the next block that all terms have; -1 where there is none. */
static gint64
find_block (QmLedger            *self,
            const char * const  *terms,
            guint                n,
            gint64               block,
            guint8              *bits,
            GError             **error)
{
  guint8 other[BITMAP_BYTES] = { 0 };

  for (guint i = 0; i < n;)
    {
      gint64 found = read_set (self, terms[i], block, i == 0 ? bits : other, error);

      if (found < 0)
        return -1;
      if (i > 0 && found < block)
        {
          block = found;
          i = 0;
          continue;
        }
      block = found;
      for (guint k = 0; i > 0 && k < BITMAP_BYTES; k++)
        bits[k] &= other[k];
      i++;
    }

  return block;
}

/**
 * qm_ledger_find_words:
 * @self: a ledger
 * @terms: (element-type utf8): a set of terms, at least one
 * @before: only runs of lower numbers
 * @limit: how many at the most
 * @error: return location for a #QM_LEDGER_ERROR
 *
 * Returns: (transfer full) (element-type gint64) (nullable): the numbers of the
 *   runs that have all terms, the highest first
 */
GArray *
qm_ledger_find_words (QmLedger    *self,
                      GHashTable  *terms,
                      gint64       before,
                      guint        limit,
                      GError     **error)
{
  g_autofree const char **words = (const char **) g_hash_table_get_keys_as_array (terms, NULL);
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint64));
  g_autoptr (GError) local_error = NULL;
  gint64 block = (before - 1) / BLOCK;
  guint8 bits[BITMAP_BYTES];

  if (!qm_ledger_write_words (self, error))
    return NULL;

  while (ids->len < limit && (block = find_block (self, words, g_hash_table_size (terms), block, bits, &local_error)) >= 0)
    {
      for (int at = BLOCK - 1; at >= 0 && ids->len < limit; at--)
        {
          gint64 id = block * BLOCK + at;

          if (id < before && (bits[at / 8] >> at % 8 & 1) != 0)
            g_array_append_val (ids, id);
        }
      block--;
    }
  if (local_error == NULL)
    return g_steal_pointer (&ids);

  g_propagate_error (error, g_steal_pointer (&local_error));
  return NULL;
}
