/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-error.h"

#include <string.h>

#include "plan/qm-plan.h"

/* A language that says everything backwards, but for the places. */
static const char *
translate (const char *msgid)
{
  return strcmp (msgid, "{value} is too much; {most} will do") == 0 ? "do will {most} ;much too is {value}"
         : strcmp (msgid, "a number") == 0 ? "rebmun a" : msgid;
}

static const QmWords backwards = { translate, NULL, ",", "." };

static void
test_text (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;

  qm_error_set (&error, QM_PLAN_ERROR, QM_PLAN_ERROR_VALUE, "training.epochs", "{value} is too much; {most} will do",
                "#value", 12345678.0, "=most", "a number", NULL);
  g_assert_error (error, QM_PLAN_ERROR, QM_PLAN_ERROR_VALUE);
  g_assert_cmpstr (error->message, ==, "training.epochs: 12345678 is too much; a number will do");
  g_assert_cmpstr (qm_error_get_path (error), ==, "training.epochs");

  qm_error_locate (error, NULL, 7);
  g_assert_cmpstr (error->message, ==, "7: training.epochs: 12345678 is too much; a number will do");
  qm_error_locate (error, "a.qmplan", 0);
  g_assert_cmpstr (error->message, ==, "a.qmplan:7: training.epochs: 12345678 is too much; a number will do");
  g_assert_cmpstr (qm_error_get_file (error), ==, "a.qmplan");

  text = qm_error_get_text (error, &backwards);
  g_assert_cmpstr (text, ==, "a.qmplan:7: training.epochs: do will rebmun a ;much too is 12345678");
}

static void
test_path (void)
{
  g_autoptr (GError) error = NULL;

  qm_error_set (&error, QM_PLAN_ERROR, QM_PLAN_ERROR_VALUE, "hidden_size", "hidden_size is missing", NULL);
  g_assert_cmpstr (error->message, ==, "hidden_size is missing");
  qm_error_add_path (error, "model.architecture");
  g_assert_cmpstr (qm_error_get_path (error), ==, "model.architecture.hidden_size");
  g_assert_cmpstr (error->message, ==, "model.architecture.hidden_size: hidden_size is missing");
}

static void
test_copy (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) copy = NULL;
  g_autofree char *text = NULL;

  qm_error_set (&error, QM_PLAN_ERROR, QM_PLAN_ERROR_VALUE, "a.b", "{value} is too much; {most} will do", "value", "x", "most", "y", NULL);
  copy = g_error_copy (error);
  g_clear_error (&error);
  text = qm_error_get_text (copy, &backwards);
  g_assert_cmpstr (text, ==, "a.b: do will y ;much too is x");
}

/* Nobody wants to know: nothing is leaked, and nothing written. */
static void
test_ignored (void)
{
  qm_error_set (NULL, QM_PLAN_ERROR, QM_PLAN_ERROR_VALUE, "a", "{word}", "word", "x", NULL);
}

static void
test_of_others (void)
{
  g_autoptr (GError) error = g_error_new_literal (G_FILE_ERROR, G_FILE_ERROR_NOENT, "no");
  g_autofree char *text = qm_error_get_text (error, &backwards);

  qm_error_locate (error, "file", 3);
  qm_error_add_path (error, "a");
  g_assert_cmpstr (error->message, ==, "no");
  g_assert_cmpstr (text, ==, "no");
  g_assert_null (qm_error_get_path (error));
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/error/text", test_text);
  g_test_add_func ("/error/path", test_path);
  g_test_add_func ("/error/copy", test_copy);
  g_test_add_func ("/error/ignored", test_ignored);
  g_test_add_func ("/error/of-others", test_of_others);
  return g_test_run ();
}
