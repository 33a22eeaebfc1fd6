/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "decide/qm-bands.h"
#include "varied-plans.h"
#include "shipped.h"

#define PLANS 40
#define FIRST_SEED 3000

static QmRecommendation *
recommend_at (const QmPlan *plan,
              QmDial        dial,
              double        value)
{
  g_autoptr (QmPlan) limited = qm_plan_copy (plan);
  g_autoptr (QmResolved) resolved = NULL;
  g_autoptr (GError) error = NULL;

  if (dial == QM_DIAL_MONEY)
    limited->limits.money = value;
  else
    limited->limits.hours = value;
  resolved = qm_resolve (limited, catalog, NULL, NULL, &error);
  g_assert_no_error (error);

  return qm_recommend (estimator, resolved, NULL, NULL);
}

/* Whether the program chooses what the band says, in the middle of it. */
static gboolean
is_chosen (const QmPlan *plan,
           QmDial        dial,
           const QmBand *band)
{
  g_autoptr (QmRecommendation) there = recommend_at (plan, dial, sqrt (band->from * band->to));
  const QmEstimate *a, *b;

  g_assert_cmpint (band->possible, ==, qm_recommendation_n_choices (there) > 0);
  if (!band->possible)
    return TRUE;

  a = &band->choice.estimate;
  b = &qm_recommendation_choice (there, 0)->estimate;
  return a->device == b->device && a->configuration.devices == b->configuration.devices;
}

typedef struct {
  guint right;
  guint wrong;
} Tally;

static guint
check_plan (const QmPlan *plan,
            QmDial        dial,
            Tally        *tally)
{
  g_autoptr (QmRecommendation) answer = recommend_at (plan, dial, NAN);
  g_autoptr (GArray) bands = qm_recommendation_bands (answer, NULL, dial, NULL);

  for (guint i = 0; i < bands->len; i++)
    {
      const QmBand *band = &g_array_index (bands, QmBand, i);

      g_assert_cmpfloat (band->from, <, band->to);
      g_assert_cmpfloat (band->from, >, 0);
      if (i > 0)
        g_assert_cmpfloat (band->from, ==, g_array_index (bands, QmBand, i - 1).to);
      if (is_chosen (plan, dial, band))
        tally->right++;
      else
        {
          tally->wrong++;
          g_test_message ("%s %d: %g to %g", plan->title, dial, band->from, band->to);
        }
    }

  return bands->len;
}

static void
test_bands (void)
{
  guint several = 0;
  Tally tally = { 0 };

  for (guint32 seed = FIRST_SEED; seed < FIRST_SEED + PLANS; seed++)
    {
      g_autoptr (QmPlan) plan = varied_plan_new (catalog, seed);

      /* another method may be offered where this one keeps no limits */
      if (plan->task == QM_TASK_LANGUAGE_MODEL && plan->activity == QM_ACTIVITY_FINE_TUNE)
        plan->training.method = QM_METHOD_QLORA;
      for (QmDial dial = QM_DIAL_MONEY; dial < QM_N_DIALS; dial++)
        several += check_plan (plan, dial, &tally) > 2;
    }
  g_assert_cmpuint (several, >, PLANS / 2);
  /* An answer that holds for less than a step of the scale may be passed over. */
  g_test_message ("%u right, %u wrong", tally.right, tally.wrong);
  g_assert_cmpuint (tally.wrong * 20, <, tally.right);
}

/* People wait for answers, not for the end of a job. */
static void
test_service (void)
{
  Tally tally = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (QmPlan) plan = qm_plan_from_data ("{\"format\":\"quartermaster-plan\",\"version\":1,\"task\":\"language-model\","
                                               "\"activity\":\"serve\",\"model\":{\"id\":\"llama-3.1-8b\"}}", -1, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (check_plan (plan, QM_DIAL_HOURS, &tally), ==, 0);
  g_assert_cmpuint (check_plan (plan, QM_DIAL_MONEY, &tally), >, 1);
  g_assert_cmpuint (tally.wrong, ==, 0);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  shipped_load ();

  g_test_add_func ("/decide/bands/as-chosen", test_bands);
  g_test_add_func ("/decide/bands/service", test_service);

  return shipped_run ();
}
