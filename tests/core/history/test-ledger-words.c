/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The index of words of a ledger, where there are many words and many runs. */

#include "ledger-search.h"

static const char * const vocabulary[] = { "alpha", "alpine", "beta", "Bêta", "模型", "模糊", "gamma", "g", "delta12345678", "delta12345679", "" };

static char *
some_words (GRand *rand)
{
  GString *text = g_string_new (NULL);

  for (int n = g_rand_int_range (rand, 0, 4); n > 0; n--)
    g_string_append_printf (text, "%s ", vocabulary[g_rand_int_range (rand, 0, G_N_ELEMENTS (vocabulary))]);

  return g_string_free (text, FALSE);
}

/* By going through all: whether each word of @wanted begins one of @text. The
 * vocabulary has one word that differs behind its twelfth letter, and one that
 * differs by an accent. */
static gboolean
has_words (const char *text,
           const char *wanted)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1), all = g_strsplit (wanted, " ", -1);

  for (guint i = 0; all[i] != NULL; i++)
    {
      g_autofree char *word = g_strndup (g_str_equal (all[i], "Bêta") ? "beta" : all[i], g_str_has_prefix (all[i], "delta") ? 12 : 99);
      gboolean found = word[0] == '\0';

      for (guint k = 0; words[k] != NULL && !found; k++)
        found = g_str_has_prefix (g_str_equal (words[k], "Bêta") ? "beta" : words[k], word) || (word[0] == 'b' && g_str_equal (words[k], "Bêta"));
      if (!found)
        return FALSE;
    }

  return TRUE;
}

#define MANY 60

typedef struct {
  gint64 id;
  char *note;
  gboolean removed;
} Noted;

static void
assert_all_found (Fixture    *self,
                  Noted      *runs,
                  const char *wanted)
{
  g_autoptr (GString) expected = g_string_new (NULL);

  for (int i = MANY - 1; i >= 0; i--)
    if (!runs[i].removed && has_words (runs[i].note, wanted))
      g_string_append_printf (expected, "%s%" G_GINT64_FORMAT, expected->len > 0 ? " " : "", runs[i].id);
  assert_found (self, expected->str, .text = wanted, .limit = MANY);
}

static void
change_one (Fixture *self,
            GRand   *rand,
            Noted   *run)
{
  if (run->removed)
    g_assert_true (qm_ledger_restore (self->ledger, run->id, NULL));
  else if (g_rand_boolean (rand))
    g_assert_true (qm_ledger_remove (self->ledger, run->id, 5, NULL));
  if (run->removed || !qm_ledger_set_note (self->ledger, run->id, "", NULL))
    run->removed = !run->removed;
  if (run->removed)
    return;

  g_free (run->note);
  run->note = some_words (rand);
  g_assert_true (qm_ledger_set_note (self->ledger, run->id, run->note, NULL));
}

/* Runs across the blocks of the index, noted, removed and had back at random, are
 * found as by going through all of them. */
static void
test_as_by_hand (Fixture       *self,
                 gconstpointer  data)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  Noted runs[MANY] = { 0 };

  for (int i = 0; i < MANY; i++)
    {
      g_autofree char *uid = g_strdup_printf ("%d", i);
      g_autofree char *skip = g_strdup_printf ("UPDATE sqlite_sequence SET seq = max (seq, %d) WHERE name = 'runs'", i * 8192 / 7);

      g_assert_true (qm_ledger_execute (self->ledger, NULL, skip));
      runs[i] = (Noted) { add (self, uid, "", NULL), some_words (rand), FALSE };
      g_assert_true (qm_ledger_set_note (self->ledger, runs[i].id, runs[i].note, NULL));
    }
  for (int round = 0; round < 300; round++)
    {
      g_autofree char *wanted = some_words (rand);

      change_one (self, rand, &runs[g_rand_int_range (rand, 0, MANY)]);
      assert_all_found (self, runs, wanted);
    }
  for (int i = 0; i < MANY; i++)
    g_free (runs[i].note);
}

static guint
count_found (Fixture    *self,
             const char *text)
{
  QmLedgerQuery query = { .text = text, .limit = 20000 };
  g_auto (QmLedgerPage) page = { 0 };

  g_assert_true (qm_ledger_find (self->ledger, &query, &page, NULL));
  for (guint i = 1; i < page.runs->len; i++)
    g_assert_cmpint (((QmRun *) g_ptr_array_index (page.runs, i))->id, <, ((QmRun *) g_ptr_array_index (page.runs, i - 1))->id);

  return page.runs->len;
}

/* Words of half of the runs each, in blocks that are full and in such as are not;
 * within the change that adds them as well as after it. */
static void
test_frequent_words (Fixture       *self,
                     gconstpointer  data)
{
  g_assert_true (qm_ledger_begin (self->ledger, NULL));
  g_assert_true (qm_ledger_execute (self->ledger, NULL, "INSERT INTO sqlite_sequence VALUES ('runs', 7000)"));
  for (int i = 0; i < 2400; i++)
    {
      g_autofree char *uid = g_strdup_printf ("%d", i);

      add (self, uid, i % 2 == 0 ? "even run" : "odd run", i % 3 == 0 ? "l4" : NULL);
    }
  g_assert_cmpuint (count_found (self, "even"), ==, 1200);
  g_assert_true (qm_ledger_commit (self->ledger, NULL));
  g_assert_cmpuint (count_found (self, "run"), ==, 2400);
  g_assert_cmpuint (count_found (self, "odd"), ==, 1200);
  g_assert_cmpuint (count_found (self, "odd l4"), ==, 400);
  g_assert_cmpuint (count_found (self, "even odd"), ==, 0);

  g_assert_true (qm_ledger_begin (self->ledger, NULL));
  for (int i = 0; i < 2000; i++)
    g_assert_true (qm_ledger_remove (self->ledger, 7001 + i, 1, NULL));
  g_assert_true (qm_ledger_commit (self->ledger, NULL));
  g_assert_cmpuint (count_found (self, "run"), ==, 400);
  g_assert_cmpuint (count_found (self, "odd"), ==, 200);
  g_assert_true (qm_ledger_restore (self->ledger, 7001, NULL));
  g_assert_cmpuint (count_found (self, "even"), ==, 201);
}

/* An index that is none is damage, and no crash. */
static void
test_damaged_index (Fixture       *self,
                    gconstpointer  data)
{
  static const char * const sets[] = { "x'ffff'", "x'0100ff'", "zeroblob (1025)", "zeroblob (4000)", "'text'" };

  add (self, "a", "base", NULL);
  for (guint i = 0; i < G_N_ELEMENTS (sets); i++)
    {
      g_autofree char *damage = g_strconcat ("UPDATE terms SET runs = ", sets[i], NULL);
      QmLedgerQuery query = { .text = "base run" };
      g_auto (QmLedgerPage) page = { 0 };
      g_autoptr (GError) error = NULL;

      g_assert_true (qm_ledger_execute (self->ledger, NULL, damage));
      query.text = "base";
      g_assert_false (qm_ledger_find (self->ledger, &query, &page, &error));
      g_assert_error (error, QM_LEDGER_ERROR, QM_LEDGER_ERROR_DAMAGED);
    }
}

/* What can be made of the runs is made anew where it was lost, and nothing else
 * of the ledger is. */
static void
test_lost_tables (Fixture       *self,
                  gconstpointer  data)
{
  add (self, "a", "base run", "l4");
  add (self, "b", "other run", NULL);
  g_assert_true (qm_ledger_remove (self->ledger, 2, 5, NULL));
  g_assert_true (qm_ledger_execute (self->ledger, NULL, "DROP TABLE terms; DROP TABLE totals"));
  reopen (self);

  g_assert_cmpint (qm_ledger_count (self->ledger, NULL), ==, 1);
  assert_found (self, "1", .text = "base");
  assert_found (self, "", .text = "other");
  g_assert_true (qm_ledger_restore (self->ledger, 2, NULL));
  add (self, "c", "third run", NULL);
  assert_found (self, "3 2 1", .text = "run");
  assert_found (self, "1", .device = "l4");
  g_assert_cmpint (qm_ledger_count (self->ledger, NULL), ==, 3);
}

#define ADD(name, function) g_test_add ("/core/history/ledger-words/" name, Fixture, NULL, set_up, function, tear_down)

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  ADD ("as-by-hand", test_as_by_hand);
  ADD ("frequent-words", test_frequent_words);
  ADD ("damaged-index", test_damaged_index);
  ADD ("lost-tables", test_lost_tables);

  return g_test_run ();
}
