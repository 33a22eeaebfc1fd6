/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/qm-defaults.h"
#include "plan/qm-flow.h"
#include "plan/qm-plan-fields.h"

static QmCatalog *
load_catalog (void)
{
  g_autofree char *directory = g_build_filename (g_getenv ("QM_DATA_DIR"), "catalog", NULL);
  g_autoptr (GError) error = NULL;
  QmCatalog *self = qm_catalog_load (directory, NULL, &error);

  g_assert_no_error (error);
  return self;
}

static void
assert_takes (const QmQuestion *question,
              const char       *value)
{
  g_autoptr (QmPlan) plan = qm_plan_new ();
  g_autoptr (GError) error = NULL;
  g_autofree char *got = NULL;

  g_assert_true (qm_plan_set_field (plan, question->field, value, &error));
  g_assert_no_error (error);
  got = qm_plan_get_field (plan, question->field);
  g_assert_nonnull (got);
}

static void
assert_options (const QmQuestion *question)
{
  guint n = 0;

  for (; question->options != NULL && question->options[n].value != NULL; n++)
    {
      g_assert_nonnull (question->options[n].name);
      assert_takes (question, question->options[n].value);
    }
  g_assert_true ((question->kind == QM_ANSWER_CHOICE) == (n >= 2));
}

static void
assert_numbers (const QmQuestion *question)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  for (guint i = 0; question->typical != NULL && question->typical[i] > 0; i++)
    {
      g_assert_cmpfloat (question->typical[i], >=, question->minimum);
      g_assert_cmpfloat (question->typical[i], <=, question->maximum);
      if (i > 0)
        g_assert_cmpfloat (question->typical[i], >, question->typical[i - 1]);
      assert_takes (question, g_ascii_formatd (text, sizeof text, "%.10g", question->typical[i]));
    }
  if (question->maximum > 0)
    {
      assert_takes (question, g_ascii_formatd (text, sizeof text, "%.10g", question->minimum));
      assert_takes (question, g_ascii_formatd (text, sizeof text, "%.10g", question->maximum));
    }
}

static void
test_questions (void)
{
  QmPage last = QM_PAGE_TASK;

  for (guint i = 0; i < qm_flow_n_questions (); i++)
    {
      const QmQuestion *question = qm_flow_question (i);

      g_test_message ("%s", question->field);
      g_assert_nonnull (qm_plan_field_find (question->field));
      g_assert_nonnull (qm_flow_find (question->field));
      g_assert_true (g_str_has_suffix (question->title, "?"));
      g_assert_cmpint (question->page, >=, last);
      assert_options (question);
      assert_numbers (question);
      last = question->page;
    }
}

static void
test_pages (void)
{
  g_autoptr (QmPlan) plan = qm_plan_new ();

  for (int page = QM_PAGE_TASK; page < QM_N_PAGES; page++)
    {
      g_assert_true (g_str_has_suffix (qm_flow_page_title (page), "?"));
      g_assert_true (g_str_has_suffix (qm_flow_page_title_for (page, plan), "?"));
      g_assert_nonnull (qm_flow_page_name (page));
      g_assert_nonnull (qm_flow_page_intro (page, plan));
    }
  plan->activity = QM_ACTIVITY_SERVE;
  g_assert_cmpstr (qm_flow_page_title_for (QM_PAGE_SCALE, plan), ==, "How many people, how fast?");
}

/* Takes the default of every question that is asked, as the window preselects
 * it, and ends with a plan that changes nothing when it is resolved again. */
static void
walk (QmCatalog  *catalog,
      QmTask      task,
      QmActivity  activity)
{
  g_autoptr (QmPlan) plan = qm_plan_new ();
  g_autoptr (GHashTable) asked = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmResolved) first = NULL;
  g_autoptr (QmResolved) last = NULL;
  guint on_page[QM_N_PAGES] = { 0 };

  plan->task = task;
  plan->activity = activity;
  first = qm_resolve (plan, catalog, NULL, NULL, &error);
  g_assert_no_error (error);

  for (guint i = 0; i < qm_flow_n_questions (); i++)
    {
      const QmQuestion *question = qm_flow_question (i);
      g_autofree char *value = qm_plan_get_field (first->plan, question->field);

      if (!qm_flow_applies (question, plan))
        continue;
      g_test_message ("%d %d %s", task, activity, question->field);
      g_assert_true (g_hash_table_add (asked, (gpointer) question->field));
      g_assert_true (qm_flow_find_for (question->field, plan) == question);
      g_assert_true (value == NULL || qm_plan_set_field (plan, question->field, value, &error));
      g_assert_no_error (error);
      on_page[question->page]++;
    }

  last = qm_resolve (plan, catalog, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (qm_plan_equal (first->plan, last->plan));
  for (int page = QM_PAGE_TASK; page < QM_PAGE_REVIEW; page++)
    g_assert_cmpuint (on_page[page], >, 0);
}

static void
test_walk (void)
{
  g_autoptr (QmCatalog) catalog = load_catalog ();

  for (int task = QM_TASK_LANGUAGE_MODEL; task <= QM_TASK_OTHER; task++)
    for (int activity = QM_ACTIVITY_TRAIN; activity <= QM_ACTIVITY_BATCH_INFERENCE; activity++)
      walk (catalog, task, activity);
}

/* Except for what means "no limit", every question has a default. */
static void
test_defaults (void)
{
  static const char * const open[] = { "limits.money", "limits.hours", "limits.min_accuracy", "places.cloud", "places.regions" };
  g_autoptr (QmCatalog) catalog = load_catalog ();

  for (int task = QM_TASK_LANGUAGE_MODEL; task <= QM_TASK_OTHER; task++)
    for (int activity = QM_ACTIVITY_TRAIN; activity <= QM_ACTIVITY_BATCH_INFERENCE; activity++)
      {
        g_autoptr (QmPlan) plan = qm_plan_new ();
        g_autoptr (QmResolved) resolved = NULL;

        plan->task = task;
        plan->activity = activity;
        resolved = qm_resolve (plan, catalog, NULL, NULL, NULL);
        for (guint i = 0; i < qm_flow_n_questions (); i++)
          {
            const QmQuestion *question = qm_flow_question (i);
            g_autofree char *value = qm_plan_get_field (resolved->plan, question->field);
            gboolean is_open = FALSE;

            for (guint j = 0; j < G_N_ELEMENTS (open); j++)
              is_open |= g_str_equal (open[j], question->field);
            if (!qm_flow_applies (question, plan))
              continue;
            g_test_message ("%d %d %s", task, activity, question->field);
            g_assert_true ((value == NULL) == is_open);
          }
      }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/flow/questions", test_questions);
  g_test_add_func ("/flow/pages", test_pages);
  g_test_add_func ("/flow/walk", test_walk);
  g_test_add_func ("/flow/defaults", test_defaults);

  return g_test_run ();
}
