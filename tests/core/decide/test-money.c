/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "decide/qm-figures.h"
#include "decide/qm-money.h"
#include "shipped.h"

/* What a plan says of money and power, in its cost: expected values are worked
 * out by hand beside each test. */

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QmChoice, qm_choice_clear)

#define HEAD "{\"format\":\"quartermaster-plan\",\"version\":1,\"task\":\"language-model\",\"activity\":\"fine-tune\"," \
             "\"model\":{\"id\":\"llama-3.1-8b\"},\"training\":{\"method\":\"lora\",\"samples\":20000,\"epochs\":3}"
#define ON_A_T4 ",\"configuration\":{\"device\":\"t4\",\"devices\":1,\"offer\":\"aws/g4dn.xlarge/us-east-1\"}}"
#define EXACT(a, b) g_assert_cmpfloat_with_epsilon (a, b, 1e-6 * fabs (b))

static void
estimate (const char *json,
          QmChoice   *choice)
{
  g_autoptr (QmResolved) resolved = resolve (json);
  g_autoptr (GError) error = NULL;

  qm_estimate_pinned (estimator, resolved, NULL, choice, &error);
  g_assert_no_error (error);
}

static double
sum_of (const QmCostParts *parts)
{
  QmCostPart list[QM_MOST_COST_PARTS];
  guint n = qm_cost_parts_list (parts, list);
  double sum = 0;

  for (guint i = 0; i < n; i++)
    sum += list[i].money;

  return sum;
}

/* A g4dn.xlarge for p dollars an hour, 40 % off by commitment, a dollar worth
 * half a unit: p x 0.6 x 0.5 an hour. Starting takes 600 s, a start that fails
 * the same; 1e9 bytes at 1e7 bit/s take 800 s; 2 hours idle; 5 GB sent at 0.09. */
static void
test_parts (void)
{
  g_auto (QmChoice) plain = { 0 };
  QmChoice choice;
  double hour, hours;

  estimate (HEAD ON_A_T4, &plain);
  estimate (HEAD ",\"limits\":{\"currency\":\"EUR\"},\"costs\":{\"currency_per_usd\":0.5,\"committed_discount\":0.4,"
            "\"idle_hours\":2,\"failed_starts\":1,\"upload_bytes\":1e9,\"upload_bits_per_second\":1e7,"
            "\"stored_bytes\":1e12,\"storage_per_gb_month\":0.02,\"sent_bytes\":5e9,\"egress_per_gb\":0.09}" ON_A_T4, &choice);

  hour = choice.estimate.cost.per_hour;
  EXACT (hour, plain.estimate.cost.per_hour * 0.6 * 0.5);
  g_assert_cmpint (choice.estimate.cost.pricing, ==, QM_PRICING_COMMITTED);
  EXACT (choice.estimate.cost.parts.start_up, hour / 6);
  EXACT (choice.estimate.cost.parts.failed_starts, hour / 6);
  EXACT (choice.estimate.cost.parts.upload, hour * 800 / 3600);
  EXACT (choice.estimate.cost.parts.idle, hour * 2);
  EXACT (choice.estimate.cost.parts.egress, 0.45);
  hours = choice.estimate.time.seconds.p50 / 3600 + (600 + 600 + 800) / 3600.0 + 2;
  EXACT (choice.estimate.cost.parts.storage, 1000 * 0.02 * hours / 730);
  EXACT (choice.estimate.cost.parts.machine, hour * choice.estimate.time.seconds.p50 / 3600);
  EXACT (sum_of (&choice.estimate.cost.parts), choice.estimate.cost.money.p50);
  /* 70 W: 0.8 of them at work, 0.15 while it waits; 120 W around it always */
  EXACT (choice.estimate.cost.kwh.p50, (56 + 120) / 1000.0 * choice.estimate.time.seconds.p50 / 3600 +
                                         (10.5 + 120) / 1000.0 * (2000 / 3600.0 + 2));

  /* without a word of it nothing of it is counted */
  EXACT (sum_of (&plain.estimate.cost.parts), plain.estimate.cost.money.p50);
  g_assert_cmpfloat (plain.estimate.cost.parts.idle + plain.estimate.cost.parts.egress + plain.estimate.cost.parts.storage, ==, 0);
  qm_choice_clear (&choice);
}

/* The price of traffic out of a provider's network is known of some. */
static void
test_egress (void)
{
  QmEconomics economics;
  g_autoptr (QmPlan) plan = qm_plan_new ();

  qm_economics_apply (qm_estimator_get_economics (estimator), plan, &economics);
  EXACT (qm_economics_egress (&economics, "aws"), 0.09);
  g_assert_cmpfloat (qm_economics_egress (&economics, "runpod"), ==, 0);
  g_assert_true (isnan (qm_economics_egress (&economics, "vast")));
  plan->costs.egress_per_gb = 0.05;
  qm_economics_apply (qm_estimator_get_economics (estimator), plan, &economics);
  EXACT (qm_economics_egress (&economics, "vast"), 0.05);
}

/* An own card: 0.8 of its board power and 120 W around it, 1.2 times that with
 * cooling, at 0.30 the kWh. */
static void
test_power (void)
{
  g_autoptr (QmResolved) resolved = resolve (HEAD ",\"costs\":{\"electricity_per_kwh\":0.3,\"carbon_kg_per_kwh\":0.05,"
    "\"cooling_factor\":1.2},\"places\":{\"this_computer\":false,\"cloud\":[],\"buy\":false,"
    "\"owned\":[{\"device\":\"rtx-3090\"}]}}");
  g_autoptr (QmRecommendation) recommendation = qm_recommend (estimator, resolved, NULL, NULL);
  const QmEstimate *found = &qm_recommendation_choice (recommendation, 0)->estimate;
  double kilowatts, hours;

  kilowatts = (0.8 * 350 + 120) * 1.2 / 1000;
  hours = found->time.seconds.p50 / 3600;
  g_assert_cmpfloat (found->device->power_watts, ==, 350);
  EXACT (found->cost.kwh.p50, kilowatts * hours);
  EXACT (found->cost.money.p50, kilowatts * hours * 0.3);
  EXACT (found->cost.parts.power, kilowatts * hours * 0.3);
  EXACT (found->cost.kg_co2e.p50, kilowatts * hours * 0.05);
  g_assert_cmpint (found->cost.carbon_basis, ==, QM_CARBON_OWN);
}

/* A service on several machines of one's own: each draws 120 W around its cards,
 * so that the energy of a month is what is paid for it, at 0.30 the kWh. */
static void
test_service_power (void)
{
  g_autoptr (QmResolved) resolved = resolve ("{\"format\":\"quartermaster-plan\",\"version\":1,\"task\":\"language-model\","
    "\"activity\":\"serve\",\"model\":{\"id\":\"llama-3.1-8b\"},\"serving\":{\"requests_per_second\":40},"
    "\"costs\":{\"electricity_per_kwh\":0.3},\"places\":{\"this_computer\":false,\"cloud\":[],\"buy\":false,"
    "\"owned\":[{\"device\":\"rtx-3090\",\"devices\":64,\"nodes\":64}]}}");
  g_autoptr (QmRecommendation) recommendation = qm_recommend (estimator, resolved, NULL, NULL);
  const QmChoice *choice = qm_recommendation_choice (recommendation, 0);
  double kilowatts = (choice->estimate.configuration.devices * 0.8 * 350 + choice->machines * 120) / 1000;

  g_assert_cmpint (choice->machines, >, 1);
  EXACT (choice->estimate.cost.kwh.p50, kilowatts * 730);
  EXACT (choice->estimate.cost.parts.power, kilowatts * 730 * 0.3);
}

/* Google's own figures of 2024, gCO2eq/kWh: us-central1 412.72, us-east4 323.05
 * (Northern Virginia, where us-east-1 of AWS is); of France in 2023 56 by
 * Our World in Data. */
static void
test_carbon (void)
{
  static const struct { const char *provider, *region; double kg; QmCarbonBasis basis; } cases[] = {
    { "gcp", "us-central1", 0.413, QM_CARBON_REGION },
    { "aws", "us-east-1", 0.323, QM_CARBON_REGION },
    { "vast", "FR", 0.056, QM_CARBON_COUNTRY },
    { "hyperstack", "NORWAY-1", 0.030, QM_CARBON_COUNTRY },
    { "vast", "nowhere", 0.48, QM_CARBON_WORLD },
    { "vast", NULL, 0.48, QM_CARBON_WORLD },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const QmOffer offer = { .provider = cases[i].provider, .region = cases[i].region };
      QmCarbonBasis basis;

      g_assert_cmpfloat_with_epsilon (qm_economics_carbon (qm_estimator_get_economics (estimator), &offer, &basis), cases[i].kg, 5e-4);
      g_assert_cmpint (basis, ==, cases[i].basis);
    }
}

/* A table that no one can have meant is refused, and a circle ends. */
static void
test_bad_carbon (void)
{
  static const char * const bad[] = {
    "{}", "{\"countries\": {}}", "{\"countries\": {\"DE\": -1}, \"regions\": {}}", "{\"countries\": {\"DE\": \"much\"}, \"regions\": {}}",
    "{\"countries\": {}, \"regions\": {\"aws/x\": 1e300}}", "{\"countries\": {}, \"regions\": {\"aws/x\": []}}",
  };
  g_autoptr (GError) error = NULL;
  g_autoptr (QmEconomics) economics = qm_economics_new (qm_catalog_table (catalog, "economics"), &error);
  g_autoptr (JsonNode) circle = json_from_string ("{\"countries\": {}, \"regions\": {\"aws/x\": \"aws/y\", \"aws/y\": \"aws/x\"}}", NULL);
  const QmOffer offer = { .provider = "aws", .region = "x" };
  QmCarbonBasis basis;

  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (JsonNode) node = json_from_string (bad[i], NULL);

      g_assert_nonnull (node);
      g_assert_false (qm_economics_set_carbon (economics, node, &error));
      g_clear_error (&error);
    }
  g_assert_true (qm_economics_set_carbon (economics, circle, NULL));
  EXACT (qm_economics_carbon (economics, &offer, &basis), 0.48);
  g_assert_cmpint (basis, ==, QM_CARBON_WORLD);
}

static void
test_age (void)
{
  g_assert_cmpint (qm_months_old ("2026-05-01", "2026-11-30"), ==, 6);
  g_assert_cmpint (qm_months_old ("2025-03", "2026-11-30"), ==, 20);
  /* a year alone may mean its last month */
  g_assert_cmpint (qm_months_old ("2025", "2026-11-30"), ==, 11);
  g_assert_cmpint (qm_months_old ("2027-01", "2026-11-30"), ==, 0);
  g_assert_cmpint (qm_months_old ("unknown", "2026-11-30"), ==, -1);
  g_assert_cmpint (qm_months_old (NULL, "2026-11-30"), ==, -1);
  g_assert_cmpint (qm_months_old ("2026-05-01", NULL), ==, -1);
}

static gboolean
warns_of (const char *code,
          const char *today,
          const char *json)
{
  g_autoptr (QmResolved) resolved = resolve (json);
  g_autoptr (GPtrArray) messages = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_message_free);
  g_auto (QmChoice) choice = { 0 };

  g_assert_true (qm_estimate_pinned (estimator, resolved, NULL, &choice, NULL));
  qm_estimator_set_today (estimator, today);
  qm_money_warn (estimator, resolved, &choice, messages);
  qm_estimator_set_today (estimator, NULL);
  for (guint i = 0; i < messages->len; i++)
    if (strcmp (qm_message_get_code (messages->pdata[i]), code) == 0)
      return TRUE;

  return FALSE;
}

/* The offer of AWS is of 2026-07-20, the shipped rates are of 2025-01. */
static void
test_old (void)
{
  g_assert_false (warns_of ("old-price", NULL, HEAD ON_A_T4));
  g_assert_false (warns_of ("old-price", "2027-01-31", HEAD ON_A_T4));
  g_assert_true (warns_of ("old-price", "2027-02-01", HEAD ON_A_T4));
  g_assert_false (warns_of ("old-rate", "2026-11-30", HEAD ON_A_T4));
  g_assert_true (warns_of ("old-rate", "2026-11-30", HEAD ",\"limits\":{\"currency\":\"EUR\"}" ON_A_T4));
  g_assert_false (warns_of ("old-rate", "2026-11-30", HEAD ",\"limits\":{\"currency\":\"EUR\"},\"costs\":"
                            "{\"currency_per_usd\":0.9,\"currency_as_of\":\"2026-11-01\"}" ON_A_T4));
}

/* An own rate comes first, also of a currency that the catalog does not have. */
static void
test_rate (void)
{
  g_autoptr (QmPlan) plan = qm_plan_new ();
  QmEconomics economics;
  QmExchangeRate rate;

  g_strlcpy (plan->limits.currency, "ISK", sizeof plan->limits.currency);
  qm_economics_apply (qm_estimator_get_economics (estimator), plan, &economics);
  g_assert_false (qm_economics_rate (&economics, "ISK", &rate));
  plan->costs.currency_per_usd = 138;
  qm_economics_apply (qm_estimator_get_economics (estimator), plan, &economics);
  g_assert_true (qm_economics_rate (&economics, "ISK", &rate));
  g_assert_cmpfloat (rate.per_usd, ==, 138);
  g_assert_null (rate.source);
  /* 150 kronur a kWh are 150 / 138 dollars */
  plan->costs.electricity_per_kwh = 150;
  qm_economics_apply (qm_estimator_get_economics (estimator), plan, &economics);
  EXACT (economics.electricity_usd_per_kwh, 150.0 / 138);
}

static const QmChoice *
bought (QmRecommendation *recommendation)
{
  for (guint i = 0; i < qm_recommendation_n_rows (recommendation); i++)
    if (qm_recommendation_row (recommendation, i)->place == QM_PLACE_BUY &&
        qm_recommendation_row (recommendation, i)->estimate.cost.break_even_hours > 0)
      return qm_recommendation_row (recommendation, i);

  return NULL;
}

/* With half of its price left a machine has paid for itself in half the hours;
 * at 100 hours of use a month that is so many hundredths of months. */
static void
test_break_even (void)
{
#define ONE_CARD HEAD ",\"places\":{\"this_computer\":false},\"configuration\":{\"device\":\"rtx-4090\"}"
  g_autoptr (QmResolved) plain = resolve (ONE_CARD "}");
  g_autoptr (QmResolved) sold = resolve (ONE_CARD ",\"costs\":{\"resale_share\":0.5,\"use_hours_per_month\":100}}");
  g_autoptr (QmRecommendation) first = qm_recommend (estimator, plain, NULL, NULL);
  g_autoptr (QmRecommendation) second = qm_recommend (estimator, sold, NULL, NULL);
  const QmCost *kept = &bought (first)->estimate.cost, *given = &bought (second)->estimate.cost;

  g_assert_true (isnan (kept->break_even_months));
  g_assert_cmpfloat (kept->purchase_money, ==, given->purchase_money);
  EXACT (given->break_even_hours, kept->break_even_hours / 2);
  EXACT (given->break_even_months, given->break_even_hours / 100);
}

/* Requirements E5: after so many hours the card, less what it is sold for, has cost
 * what the cheapest rent costs more than its power. */
static void
test_break_even_hours (void)
{
  g_autoptr (QmResolved) plain = resolve (HEAD ",\"places\":{\"this_computer\":false,\"cloud\":[\"lambda\",\"hyperstack\"]},"
                                               "\"configuration\":{\"device\":\"rtx-a6000\",\"devices\":1},\"costs\":{\"resale_share\":0.25}}");
  g_autoptr (QmRecommendation) answer = qm_recommend (estimator, plain, NULL, NULL);
  const QmChoice *own = bought (answer);
  double rent = INFINITY, hours = own->estimate.time.seconds.p50 / 3600;

  for (guint i = 0; i < qm_recommendation_n_rows (answer); i++)
    if (qm_recommendation_row (answer, i)->place == QM_PLACE_CLOUD)
      rent = MIN (rent, qm_recommendation_row (answer, i)->estimate.cost.money.p50 / hours);
  g_assert_true (isfinite (rent));
  g_assert_cmpfloat_with_epsilon (own->estimate.cost.break_even_hours * (rent - own->estimate.cost.per_hour) /
                                  (0.75 * own->estimate.cost.purchase_money), 1, 1e-6);
}

/* A price that only the person knows: one more machine to buy. */
static void
test_device_price (void)
{
#define TO_BUY HEAD ",\"places\":{\"this_computer\":false,\"cloud\":[]},\"configuration\":{\"device\":\"t4\"}"
  g_autoptr (QmResolved) plain = resolve (TO_BUY "}");
  g_autoptr (QmResolved) priced = resolve (TO_BUY ",\"costs\":{\"device_price\":700}}");
  g_autoptr (QmRecommendation) first = qm_recommend (estimator, plain, NULL, NULL);
  g_autoptr (QmRecommendation) second = qm_recommend (estimator, priced, NULL, NULL);

  g_assert_cmpuint (qm_recommendation_n_choices (first), ==, 0);
  g_assert_cmpuint (qm_recommendation_n_choices (second), >, 0);
  g_assert_cmpint (qm_recommendation_choice (second, 0)->place, ==, QM_PLACE_BUY);
  g_assert_cmpfloat (fmod (qm_recommendation_choice (second, 0)->estimate.cost.purchase_money, 100), ==, 0);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  shipped_load ();

  g_test_add_func ("/money/parts", test_parts);
  g_test_add_func ("/money/egress", test_egress);
  g_test_add_func ("/money/power", test_power);
  g_test_add_func ("/money/service-power", test_service_power);
  g_test_add_func ("/money/carbon", test_carbon);
  g_test_add_func ("/money/bad-carbon", test_bad_carbon);
  g_test_add_func ("/money/age", test_age);
  g_test_add_func ("/money/old", test_old);
  g_test_add_func ("/money/rate", test_rate);
  g_test_add_func ("/money/break-even", test_break_even);
  g_test_add_func ("/money/break-even-hours", test_break_even_hours);
  g_test_add_func ("/money/device-price", test_device_price);

  return shipped_run ();
}
