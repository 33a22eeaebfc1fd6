/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "draw/qm-language.h"
#include "draw/qm-phrases.h"
#include "plan/qm-plan.h"
#include "qm-answer-page.h"
#include "qm-chart-view.h"
#include "qm-techniques.h"
#include "qm-wizard-page.h"
#include "window-driver.h"

static const char * const pages[] = { "start", "task", "activity", "model", "scale", "stage", "budget", "review", "answer" };

/* ----------------------------------------------- what the answer ought to be */

/* What the core says to the plan as it is saved, by the way of the command line. */
static QmRecommendation *
recommend (Driver *driver)
{
  g_autofree char *path = driver_path ("walk.qmplan");
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmPlan) plan = NULL;
  g_autoptr (QmEstimator) estimator = NULL;
  g_autoptr (QmResolved) resolved = NULL;
  g_autoptr (QmRecommendation) answer = NULL;
  QmHere here = { .n_devices = 0 };

  g_assert_true (qm_session_save (driver->session, file, &error));
  plan = qm_plan_load (path, NULL, &error);
  g_assert_no_error (error);
  estimator = qm_estimator_new (qm_session_get_catalog (driver->session), &error);
  g_assert_no_error (error);
  resolved = qm_resolve (plan, qm_session_get_catalog (driver->session), NULL, NULL, &error);
  g_assert_no_error (error);
  qm_machine_get_here (qm_session_get_machine (driver->session), &here);

  answer = qm_recommend (estimator, resolved, &here, NULL);
  if (!qm_recommendation_can_simulate (answer))
    return g_steal_pointer (&answer);

  /* as many requests as the window simulates in the end */
  return qm_recommendation_simulate (answer, 3000, NULL);
}

static void
assert_facts (GtkWidget        *page,
              QmRecommendation *expected)
{
  const QmWords *words = qm_language_get_words ();
  const QmPlan *plan = qm_recommendation_get_resolved (expected)->plan;
  const QmEstimate *estimate = &qm_recommendation_choice (expected, 0)->estimate;
  gboolean serves = plan->activity == QM_ACTIVITY_SERVE;
  g_autoptr (GPtrArray) cards = driver_find_all (page, QM_TYPE_FACT_CARD);
  g_autofree char *memory = qm_format_bytes (words, estimate->memory.need.p50);
  g_autofree char *time = qm_format_seconds (words, serves ? estimate->serving.latency_p99_seconds.p50 : estimate->time.finish.p50);
  g_autofree char *money = qm_format_money (words, estimate->cost.money.p50, "USD");
  g_autofree char *quality = qm_phrase_quality (words, &estimate->accuracy);

  g_assert_cmpuint (cards->len, ==, QM_N_FACTS);
  g_assert_true (driver_shows (g_ptr_array_index (cards, QM_FACT_MEMORY), memory));
  g_assert_true (driver_shows (g_ptr_array_index (cards, QM_FACT_TIME), time));
  g_assert_true (driver_shows (g_ptr_array_index (cards, QM_FACT_MONEY), money));
  g_assert_true (driver_shows (g_ptr_array_index (cards, QM_FACT_QUALITY), quality));
}

static void
assert_matrix (GtkWidget        *page,
               QmRecommendation *expected)
{
  g_autoptr (GPtrArray) views = driver_find_all (page, GTK_TYPE_COLUMN_VIEW);
  GtkWidget *view;

  g_assert_cmpuint (views->len, ==, 1);
  view = g_ptr_array_index (views, 0);
  g_assert_cmpuint (qm_recommendation_n_rows (expected), >, 1);
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (gtk_column_view_get_model (GTK_COLUMN_VIEW (view)))), ==,
                    qm_recommendation_n_rows (expected));
  for (guint i = 0; i < qm_recommendation_n_rows (expected); i++)
    {
      const QmChoice *row = qm_recommendation_row (expected, i);
      g_autofree char *hardware = qm_phrase_hardware (row);
      g_autofree char *money = qm_format_money (qm_language_get_words (), row->estimate.cost.money.p50, "USD");

      g_assert_true (driver_shows (view, hardware));
      g_assert_true (driver_shows (view, money));
    }
}

static void
assert_answer (Driver *driver)
{
  g_autoptr (QmRecommendation) expected = recommend (driver);
  GtkWidget *page = driver_page (driver);
  GtkWidget *headline = driver_find (page, "headline");
  g_autofree char *sentence = NULL;

  g_assert_cmpuint (qm_recommendation_n_choices (expected), >, 0);
  sentence = qm_phrase_headline (qm_language_get_words (), qm_recommendation_choice (expected, 0));
  g_assert_cmpstr (gtk_label_get_text (GTK_LABEL (headline)), ==, sentence);
  assert_facts (page, expected);
  assert_matrix (page, expected);
}

/* --------------------------------------------------------------- the two walks */

static void
test_next_only (void)
{
  g_auto (Driver) driver = { NULL };

  driver_open (&driver, 1100, 900);
  for (guint i = 0; i + 1 < G_N_ELEMENTS (pages); i++)
    {
      driver_assert_page (&driver, pages[i]);
      driver_press_action (&driver, "win.next");
    }
  driver_assert_page (&driver, "answer");
  assert_answer (&driver);
}

static void
assert_field (Driver     *driver,
              const char *field,
              const char *value)
{
  g_autofree char *answer = qm_session_get_answer (driver->session, field);

  g_assert_cmpstr (answer, ==, value);
}

static void
press_card (Driver     *driver,
            const char *name)
{
  driver_press (driver_find (driver_page (driver), name));
  driver_settle (driver);
}

static gboolean
is_filtered (Driver *driver)
{
  GtkWidget *list = driver_find (driver_page (driver), "models");

  return g_list_model_get_n_items (G_LIST_MODEL (gtk_list_view_get_model (GTK_LIST_VIEW (list)))) == 1;
}

/* A person types a name and takes what is left. */
static void
pick_model (Driver     *driver,
            const char *id)
{
  g_autoptr (GPtrArray) searches = driver_find_all (driver_page (driver), GTK_TYPE_SEARCH_ENTRY);
  GtkWidget *list = driver_find (driver_page (driver), "models");

  g_assert_cmpuint (searches->len, ==, 1);
  gtk_editable_set_text (g_ptr_array_index (searches, 0), id);
  driver_wait (driver, is_filtered);
  gtk_selection_model_select_item (gtk_list_view_get_model (GTK_LIST_VIEW (list)), 0, TRUE);
  driver_settle (driver);
  assert_field (driver, "model.id", id);
}

static void
answer_first_pages (Driver *driver)
{
  driver_press_action (driver, "win.next");
  press_card (driver, "image-classification");
  assert_field (driver, "task", "image-classification");
  press_card (driver, "language-model");
  assert_field (driver, "task", "language-model");
  driver_press_action (driver, "win.next");
  press_card (driver, "serve");
  assert_field (driver, "activity", "serve");
  driver_press_action (driver, "win.next");
  pick_model (driver, "mistral-7b-v0.3");
  driver_press_action (driver, "win.next");
}

static void
answer_last_pages (Driver *driver)
{
  GtkWidget *page = driver_page (driver);

  driver_assert_page (driver, "scale");
  driver_enter (page, "serving.requests_per_second", "2.5");
  driver_enter (page, "serving.output_tokens", "0.3k");
  assert_field (driver, "serving.requests_per_second", "2.5");
  assert_field (driver, "serving.output_tokens", "300");
  driver_press_action (driver, "win.next");
  press_card (driver, "production");
  assert_field (driver, "stage", "production");
  driver_press_action (driver, "win.next");

  page = driver_page (driver);
  driver_assert_page (driver, "budget");
  driver_enter (page, "limits.money", "9,000");
  assert_field (driver, "limits.money", "9000");
  adw_combo_row_set_selected (ADW_COMBO_ROW (driver_find (page, "limits.objective")), 1);
  assert_field (driver, "limits.objective", "cheapest");
  adw_switch_row_set_active (ADW_SWITCH_ROW (driver_find (page, "places.buy")), FALSE);
  assert_field (driver, "places.buy", "false");
  adw_expander_row_set_expanded (ADW_EXPANDER_ROW (driver_find (page, "places.cloud")), TRUE);
  driver_settle (driver);
  gtk_check_button_set_active (GTK_CHECK_BUTTON (driver_find (page, "gcp")), TRUE);
  gtk_check_button_set_active (GTK_CHECK_BUTTON (driver_find (page, "aws")), TRUE);
  assert_field (driver, "places.cloud", "[\"aws\",\"gcp\"]");
  driver_settle (driver);
}

/* Every page as the one before it left it. */
static void
go_back_and_forth (Driver *driver)
{
  GtkWidget *card;

  for (int i = 0; i < 5; i++)
    driver_press_action (driver, "win.back");
  driver_assert_page (driver, "task");
  card = driver_find (driver_page (driver), "language-model");
  g_assert_true (gtk_toggle_button_get_active (GTK_TOGGLE_BUTTON (card)));
  for (int i = 0; i < 3; i++)
    driver_press_action (driver, "win.next");
  driver_assert_page (driver, "scale");
  g_assert_cmpstr (gtk_editable_get_text (GTK_EDITABLE (driver_find (driver_page (driver), "serving.requests_per_second"))), ==, "2.5");
  for (int i = 0; i < 2; i++)
    driver_press_action (driver, "win.next");
  driver_assert_page (driver, "budget");
  assert_field (driver, "model.id", "mistral-7b-v0.3");
  assert_field (driver, "limits.money", "9000");
}

static GtkWidget *
review_row (Driver     *driver,
            const char *title)
{
  g_autoptr (GPtrArray) rows = driver_find_all (driver_page (driver), ADW_TYPE_ACTION_ROW);

  for (guint i = 0; i < rows->len; i++)
    if (g_str_equal (adw_preferences_row_get_title (g_ptr_array_index (rows, i)), title))
      return g_ptr_array_index (rows, i);

  g_error ("the review has no %s", title);
}

/* A line of the review leads to its page, and Next back to the review. */
static void
edit_in_review (Driver *driver)
{
  driver_assert_page (driver, "review");
  g_assert_true (driver_shows (review_row (driver, "How much money a month?"), "9,000\302\240USD"));
  g_assert_true (driver_shows (review_row (driver, "From whom may machines be rented?"), "AWS, Google Cloud"));
  gtk_widget_activate (review_row (driver, "How many requests a second?"));
  driver_settle (driver);
  driver_assert_page (driver, "scale");
  driver_enter (driver_page (driver), "serving.requests_per_second", "3");
  driver_press_action (driver, "win.next");
  driver_assert_page (driver, "review");
  assert_field (driver, "serving.requests_per_second", "3");
}

static void
test_own_answers (void)
{
  g_auto (Driver) driver = { NULL };

  driver_open (&driver, 1100, 900);
  answer_first_pages (&driver);
  answer_last_pages (&driver);
  go_back_and_forth (&driver);
  driver_press_action (&driver, "win.next");
  edit_in_review (&driver);
  driver_press_action (&driver, "win.next");
  driver_assert_page (&driver, "answer");
  assert_answer (&driver);
}

/* ------------------------------------------------------------- other answers */

static void
open_plan (Driver     *driver,
           const char *content)
{
  g_autofree char *path = driver_path ("given.qmplan");
  g_autoptr (GFile) file = g_file_new_for_path (path);

  g_assert_true (g_file_set_contents (path, content, -1, NULL));
  driver_open (driver, 1100, 900);
  qm_window_open_file (driver->window, file);
  driver_settle (driver);
  driver_assert_page (driver, "answer");
}

static void
pick_row (Driver *driver,
          guint   row)
{
  g_autoptr (GPtrArray) views = driver_find_all (driver_page (driver), GTK_TYPE_COLUMN_VIEW);

  gtk_selection_model_select_item (gtk_column_view_get_model (g_ptr_array_index (views, 0)), row, TRUE);
  driver_settle (driver);
}

/* Headline, facts and reasons are those of the row that is looked at. */
static void
test_other_row (void)
{
  g_auto (Driver) driver = { NULL };
  QmRecommendation *recommendation;
  GtkWidget *page;

  open_plan (&driver, "{\"format\":\"quartermaster-plan\",\"version\":1,\"title\":\"Photos\",\"task\":\"image-classification\","
                      "\"activity\":\"train\",\"model\":{\"id\":\"resnet50\"}}");
  recommendation = qm_session_get_recommendation (driver.session);
  page = driver_page (&driver);
  g_assert_true (driver_shows (page, "Our choice for “Photos”"));
  for (guint i = qm_recommendation_n_rows (recommendation) - 1; i > 0; i--)
    {
      const QmChoice *row = qm_recommendation_row (recommendation, i);
      g_autofree char *sentence = qm_phrase_headline (qm_language_get_words (), row);
      g_autofree char *memory = qm_format_bytes (qm_language_get_words (), row->estimate.memory.need.p50);

      pick_row (&driver, i);
      g_assert_cmpstr (gtk_label_get_text (GTK_LABEL (driver_find (page, "headline"))), ==, sentence);
      g_assert_true (driver_shows (page, memory));
      g_assert_true (driver_shows (page, "Another choice for “Photos”"));
    }
  pick_row (&driver, 0);
  g_assert_true (driver_shows (page, "Our choice for “Photos”"));
}

/* Seventy thousand million parameters from scratch in two hours for 10 USD. */
static void
test_nothing_fits (void)
{
  g_auto (Driver) driver = { NULL };
  g_autoptr (GPtrArray) cards = NULL;
  GtkWidget *page;

  open_plan (&driver, "{\"format\":\"quartermaster-plan\",\"version\":1,\"title\":\"Dream\",\"task\":\"language-model\","
                      "\"activity\":\"train\",\"model\":{\"id\":\"llama-3.1-70b\"},\"limits\":{\"money\":10,\"hours\":2}}");
  page = driver_page (&driver);
  cards = driver_find_all (page, QM_TYPE_FACT_CARD);
  g_assert_true (driver_shows (page, "No choice for “Dream”"));
  g_assert_true (driver_shows (page, "Nothing that may be used keeps all your limits"));
  g_assert_true (driver_shows (page, "What stands in the way"));
  g_assert_false (driver_shows (page, "Why this one"));
  g_assert_cmpuint (cards->len, ==, 0);
  assert_matrix (page, qm_session_get_recommendation (driver.session));
}

static GtkWidget *
shown_of_type (GtkWidget *page,
               GType      type)
{
  g_autoptr (GPtrArray) found = driver_find_all (page, type);

  return found->len > 0 ? g_ptr_array_index (found, 0) : NULL;
}

/* Whether a label of it begins with @text. */
static gboolean
begins_with (GtkWidget  *root,
             const char *text)
{
  g_autoptr (GPtrArray) labels = driver_find_all (root, GTK_TYPE_LABEL);

  for (guint i = 0; i < labels->len; i++)
    if (g_str_has_prefix (gtk_label_get_text (g_ptr_array_index (labels, i)), text))
      return TRUE;

  return FALSE;
}

/* Where nothing has the memory, the chart shows what comes nearest, and one press
 * turns on what makes it fit. */
static void
test_fits_nowhere (void)
{
  g_auto (Driver) driver = { NULL };
  g_autoptr (GPtrArray) charts = NULL;
  g_autoptr (QmLadder) ladder = NULL;
  g_autofree char *need = NULL, *reached = NULL;
  const QmWords *words = qm_language_get_words ();
  GtkWidget *page, *techniques, *button;

  open_plan (&driver, "{\"format\":\"quartermaster-plan\",\"version\":1,\"title\":\"Large\",\"task\":\"language-model\","
                      "\"activity\":\"fine-tune\",\"model\":{\"id\":\"llama-3.1-8b\"},\"training\":{\"method\":\"full\"},"
                      "\"configuration\":{\"device\":\"rtx-3060-12gb\",\"devices\":1,\"offload\":\"none\"}}");
  page = driver_page (&driver);
  ladder = qm_ladder_of_nearest (qm_session_get_recommendation (driver.session));
  g_assert_nonnull (ladder);
  g_assert_true (driver_shows (page, "No choice for “Large”"));
  charts = driver_find_all (page, QM_TYPE_CHART_VIEW);
  g_assert_cmpuint (charts->len, ==, 2);

  techniques = shown_of_type (page, QM_TYPE_TECHNIQUES);
  g_assert_nonnull (techniques);
  need = qm_format_bytes (words, ladder->planned.memory.need.p50);
  reached = qm_format_bytes (words, ladder->reached.memory.need.p50);
  g_assert_true (begins_with (techniques, need));
  g_assert_false (begins_with (techniques, reached));
  button = driver_find (techniques, "way-out");
  driver_press (button);
  g_assert_true (begins_with (techniques, reached));
  g_assert_false (gtk_widget_get_visible (button));
}

/* A model that nobody knows: no answer is better than an old one. */
static void
test_contradiction (void)
{
  g_auto (Driver) driver = { NULL };
  GtkWidget *page;

  open_plan (&driver, "{\"format\":\"quartermaster-plan\",\"version\":1,\"title\":\"Gone\",\"task\":\"language-model\","
                      "\"activity\":\"serve\",\"model\":{\"id\":\"no-such-model\"}}");
  page = driver_page (&driver);
  g_assert_nonnull (qm_session_get_problem (driver.session));
  g_assert_true (driver_shows (page, "The answers do not fit together"));
  g_assert_true (driver_shows (page, qm_session_get_problem (driver.session)));
  g_assert_false (driver_shows (page, "Why this one"));

  g_assert_true (qm_session_set_answer (driver.session, "model.id", "llama-3.1-8b", NULL));
  driver_settle (&driver);
  assert_answer (&driver);
}

/* Each example opens as a new plan, and there is an answer to it. */
/* The first page does not wait for the catalog, and whoever leaves it at once is
 * served all the same. Pages that nobody has seen hold nothing. */
static void
test_start (void)
{
  g_auto (Driver) driver = { NULL };

  driver_present (&driver, 1100, 900);
  g_assert_true (qm_session_get_loading (driver.session));
  driver_assert_page (&driver, "start");
  g_assert_true (driver_shows (driver_page (&driver), "What hardware should I run this AI job on?"));
  g_assert_true (qm_session_get_loading (driver.session));

  gtk_widget_activate_action (GTK_WIDGET (driver.window), "win.next", NULL);
  g_assert_false (qm_session_get_loading (driver.session));
  driver_assert_page (&driver, "task");
  driver_settle (&driver);
  g_assert_nonnull (driver_find (driver_page (&driver), "language-model"));
  for (guint page = QM_PAGE_ACTIVITY; page < QM_N_PAGES; page++)
    g_assert_null (adw_navigation_page_get_child (driver_find_page (&driver, qm_page_tag (page))));
}

static void
test_examples (void)
{
  static const char * const files[] = { "chat-assistant.qmplan", "colleagues.qmplan", "pictures.qmplan", "table.qmplan" };
  g_auto (Driver) driver = { NULL };

  driver_open (&driver, 1100, 900);
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      QmRecommendation *recommendation;

      gtk_widget_activate_action (GTK_WIDGET (driver.window), "win.open-example", "s", files[i]);
      driver_settle (&driver);
      driver_assert_page (&driver, "answer");
      recommendation = qm_session_get_recommendation (driver.session);
      g_assert_nonnull (recommendation);
      g_assert_cmpuint (qm_recommendation_n_choices (recommendation), >, 0);
      g_assert_true (qm_recommendation_choice (recommendation, 0)->within_limits);
      g_assert_null (qm_session_get_file (driver.session));
      g_assert_cmpuint (qm_recommendation_get_warnings (recommendation)->len, <=, 1);
    }
}

static void
add_tests (void)
{
  g_test_add_func ("/wizard/start", test_start);
  g_test_add_func ("/wizard/examples", test_examples);
  g_test_add_func ("/window/wizard/next-only", test_next_only);
  g_test_add_func ("/window/wizard/own-answers", test_own_answers);
  g_test_add_func ("/window/answer/other-row", test_other_row);
  g_test_add_func ("/window/answer/fits-nowhere", test_fits_nowhere);
  g_test_add_func ("/window/answer/nothing-fits", test_nothing_fits);
  g_test_add_func ("/window/answer/contradiction", test_contradiction);
}

int
main (int   argc,
      char *argv[])
{
  return driver_run (argc, argv, add_tests);
}
