/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "figures.h"

#include <math.h>

#include "qm-chart-compare.h"
#include "qm-chart-methods.h"

/* Llama 3.1 8B with LoRA, micro-batch 4 x 2,048, on an L40S. */
static QmMemory
lora_memory (void)
{
  QmMemory memory = {
    .need = { 24.5 * GIB, 26.4 * GIB, 28.6 * GIB },
    .parts = {
      [QM_MEMORY_WEIGHTS] = 15.0 * GIB,
      [QM_MEMORY_GRADIENTS] = 0.15 * GIB,
      [QM_MEMORY_OPTIMIZER] = 0.5 * GIB,
      [QM_MEMORY_ACTIVATIONS] = 3.5 * GIB,
      [QM_MEMORY_LOGITS] = 5.9 * GIB,
      [QM_MEMORY_WORKSPACE] = 0.45 * GIB,
      [QM_MEMORY_CONTEXT] = 0.5 * GIB,
      [QM_MEMORY_FRAGMENTATION] = 0.4 * GIB,
    },
    .capacity_bytes = 48 * GIB,
    .usable_bytes = 45.0 * GIB,
    .quick_bytes = 19.3e9,
    .basic_bytes = 41.8e9,
  };

  memory.device = memory.need;
  return memory;
}

static QmChart *
memory_that_fits (const QmWords *words)
{
  QmMemory memory = lora_memory ();

  return qm_chart_describe_memory (&memory, "L40S", 1, 0.2, words);
}

static QmChart *
methods (const QmWords *words)
{
  const QmMethodMemory rows[] = {
    { QM_METHOD_FULL, { 121 * GIB, 144 * GIB, 173 * GIB } }, { QM_METHOD_LORA, { 24.5 * GIB, 26.4 * GIB, 28.6 * GIB } },
    { QM_METHOD_QLORA, { 16 * GIB, 18 * GIB, 20 * GIB } },
  };
  g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (QmMethodMemory));

  g_array_append_vals (list, rows, G_N_ELEMENTS (rows));
  return qm_chart_describe_methods (list, QM_METHOD_LORA, "L40S", 45.0 * GIB, words);
}

static QmChart *
compared (const QmWords *words)
{
  const QmComparedPlan plans[] = { { "A  Support assistant", { 9360, 14400, 22320 }, "USD" },
                                   { "B  Support assistant, at home", { 57600, 86400, 133200 }, "USD" } };

  return qm_chart_describe_compared (QM_COMPARED_TIME, plans, 43200, words);
}

static QmChart *
memory_that_does_not (const QmWords *words)
{
  QmMemory memory = lora_memory ();

  memory.usable_bytes = 16.0 * GIB;
  return qm_chart_describe_memory (&memory, "RTX 4060 Ti 16GB", 2, 0.2, words);
}

static QmChart *
sizing (const QmWords *words)
{
  QmMemory memory = lora_memory ();

  return qm_chart_describe_sizing (&memory, "L40S", TRUE, words);
}

static QmChart *
scaling (const QmWords *words)
{
  const struct { int n; double speed_up; double hours; double width; double money; QmBound bound; } points[] = {
    { 1, 1, 4.0, 0.35, 7.4, QM_BOUND_COMPUTE }, { 2, 1.9, 2.1, 0.35, 7.8, QM_BOUND_COMPUTE },
    { 4, 3.48, 1.15, 0.36, 12, QM_BOUND_COMPUTE }, { 8, 5.93, 0.68, 0.38, 20, QM_BOUND_OVERHEAD },
    { 16, 8.2, 0.49, 0.42, 29, QM_BOUND_OVERHEAD },
  };
  g_autoptr (GArray) curve = g_array_new (FALSE, FALSE, sizeof (QmScalingPoint));

  for (guint i = 0; i < G_N_ELEMENTS (points); i++)
    {
      QmScalingPoint point = { points[i].n, points[i].speed_up, qm_range_log_normal (points[i].hours * 3600, points[i].width),
                               qm_range_log_normal (points[i].money, 0.35), points[i].speed_up / points[i].n, points[i].bound };

      g_array_append_val (curve, point);
    }

  return qm_chart_describe_scaling (curve, "L40S", 1, "USD", words);
}

typedef struct {
  const char *device;
  int n;
  double hours;
  double money;
  QmMethod method;
  QmPlace place;
  double points;
} Row;

static const Row rows[] = {
  { "NVIDIA L40S", 1, 4.0, 7.4, QM_METHOD_LORA, QM_PLACE_CLOUD, -1 },
  { "NVIDIA GeForce RTX 4060 Ti 16GB", 1, 24, 2, QM_METHOD_QLORA, QM_PLACE_THIS_COMPUTER, -2 },
  { "NVIDIA L4", 1, 10.7, 9.1, QM_METHOD_QLORA, QM_PLACE_CLOUD, -2 },
  { "NVIDIA H100 SXM5 80GB", 1, 1.75, 12, QM_METHOD_LORA, QM_PLACE_CLOUD, -1 },
  { "NVIDIA L40S", 4, 1.15, 12.3, QM_METHOD_LORA, QM_PLACE_CLOUD, -1 },
  { "NVIDIA A100 SXM4 40GB", 8, 0.65, 14.3, QM_METHOD_LORA, QM_PLACE_CLOUD, -1 },
  { "NVIDIA H100 SXM5 80GB", 8, 0.4, 22, QM_METHOD_LORA, QM_PLACE_CLOUD, -1 },
  { "NVIDIA A10G", 1, 13.9, 14, QM_METHOD_QLORA, QM_PLACE_CLOUD, -2 },
  { "NVIDIA A100 SXM4 40GB", 1, 3.7, 13.6, QM_METHOD_LORA, QM_PLACE_CLOUD, -1 },
  { "NVIDIA T4", 1, 26, 14.1, QM_METHOD_QLORA, QM_PLACE_CLOUD, -2 },
  { "NVIDIA L40S", 8, 0.68, 20.3, QM_METHOD_LORA, QM_PLACE_CLOUD, -1 },
  { "NVIDIA A10G", 4, 3.8, 21.5, QM_METHOD_LORA, QM_PLACE_CLOUD, -1 },
  { "NVIDIA A100 SXM4 40GB", 8, 1.6, 35.1, QM_METHOD_FULL, QM_PLACE_CLOUD, 0 },
};

static QmDevice devices[G_N_ELEMENTS (rows)];
static QmChoice choices[G_N_ELEMENTS (rows)];
static const QmChoice *pointers[G_N_ELEMENTS (rows)];

static QmChoiceSet
choice_set (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      QmEstimate *estimate = &choices[i].estimate;

      devices[i].name = rows[i].device;
      choices[i] = (QmChoice) { .place = rows[i].place, .within_limits = rows[i].hours <= 12, .dominated_by = -1,
                                .ruled_out_against = -1, .machines = 1 };
      estimate->device = &devices[i];
      estimate->configuration.devices = rows[i].n;
      estimate->training.method = rows[i].method;
      estimate->time.seconds = estimate->time.finish = qm_range_log_normal (rows[i].hours * 3600, 0.35);
      estimate->cost = (QmCost) { .known = TRUE, .money = qm_range_log_normal (rows[i].money, 0.35),
                                  .per_hour = rows[i].money / rows[i].hours, .pricing = QM_PRICING_ON_DEMAND };
      estimate->accuracy = (QmAccuracy) { .metric = "points-against-full", .is_relative = TRUE,
                                          .value = { rows[i].points * 2, rows[i].points, 0 } };
      g_snprintf (choices[i].label, sizeof choices[i].label, "%d × %s", rows[i].n, rows[i].device);
      pointers[i] = &choices[i];
    }
  choices[G_N_ELEMENTS (rows) - 1].ruled_out_by_cost = TRUE;
  choices[G_N_ELEMENTS (rows) - 1].ruled_out_against = 0;

  return (QmChoiceSet) { .rows = pointers, .n = G_N_ELEMENTS (rows), .chosen = 0, .currency = "USD", .deadline_seconds = 12 * 3600,
                         .budget = 60, .minimum_quality = NAN };
}

static QmChart *
cost_time (const QmWords *words)
{
  QmChoiceSet set = choice_set ();

  return qm_chart_describe_cost_time (&set, words, NULL);
}

static QmChart *
accuracy (const QmWords *words)
{
  QmChoiceSet set = choice_set ();

  return qm_chart_describe_accuracy (&set, words, NULL);
}

static QmChart *
stages (const QmWords *words)
{
  QmStagePlan plans[] = {
    { QM_STAGE_PROTOTYPE, "1 × RTX 4060 Ti 16GB", 7, 0.6, NULL, NULL },
    { QM_STAGE_DEVELOPMENT, "1 × NVIDIA L40S, aws g6e.xlarge", 20, 37, NULL, NULL },
    { QM_STAGE_PRODUCTION, "1 × NVIDIA L40S, aws g6e.xlarge", 4, 7.4, NULL, NULL },
  };
  g_autoptr (GPtrArray) list = g_ptr_array_new ();

  for (guint i = 0; i < G_N_ELEMENTS (plans); i++)
    g_ptr_array_add (list, &plans[i]);

  return qm_chart_describe_stages (list, QM_STAGE_DEVELOPMENT, "USD", words);
}

static QmChart *
spot (const QmWords *words)
{
  const QmSpotFigures spot_figures = { .money = 5.14, .on_demand_money = 9.1, .seconds = 10.7 * 3600, .interruptions_per_hour = 0.15,
                                       .checkpoint_seconds = 60, .restart_seconds = 300 };

  return qm_chart_describe_spot (&spot_figures, "1 × L4", "USD", words);
}

static QmChart *
buy_or_rent (const QmWords *words)
{
  const QmOwningFigures owning = { .purchase = 11500, .lifetime_hours = 26280, .own_per_hour = 0.2, .rent_per_hour = { 1.5, 1.861, 2.3 },
                                   .break_even_hours = 11500 / (1.861 - 0.2) };

  return qm_chart_describe_buy_or_rent (&owning, "1 × NVIDIA L40S", "USD", words);
}

static QmChart *
serving (const QmWords *words)
{
  QmChoiceSet set = choice_set ();

  for (guint i = 0; i < G_N_ELEMENTS (choices); i++)
    choices[i].estimate.serving = (QmServingFigures) { .known = TRUE, .requests_per_second = 1.5 + 0.1 * i, .replicas = 1 + i % 3,
                                                       .latency_p99_seconds = qm_range_log_normal (9 + 2 * i, 0.5) };
  set.latency_seconds = 12;

  return qm_chart_describe_serving (&set, words, NULL);
}

static QmChart *
elastic (const QmWords *words)
{
  const QmElasticReplica replica = { .per_second = 12, .at_once = 8, .latency_p99_seconds = 2.4, .money_per_hour = 1.9, .parts = 1 };
  const QmElasticRule rule = { .target = 0.7, .dead_band = 0.1, .fewest = 2, .most = 16, .warm_up_seconds = 600,
                               .cool_down_seconds = 300, .every_seconds = 15 };
  g_autoptr (GArray) load = qm_load_of_a_day (30, 3);
  g_autoptr (QmElastic) fleet = qm_elastic_new (load, &replica, &rule);

  return qm_chart_describe_elastic (fleet, "1 × L40S 48GB", "USD", words);
}

static QmChart *
latency (const QmWords *words)
{
  static const double rates[] = { 0.5, 1.5, 3, 4.5, 6, 7, 8, 8.7, 9.4, 10.5 };
  g_autoptr (GArray) curve = g_array_new (FALSE, FALSE, sizeof (QmWaitPoint));

  for (guint i = 0; i < G_N_ELEMENTS (rates); i++)
    {
      QmWaitPoint point = { .requests_per_second = rates[i], .p50 = qm_range_log_normal (3 / (1.1 - rates[i] / 11), 0.3),
                            .p99 = qm_range_log_normal (7 / (1.1 - rates[i] / 11), 0.4), .error = 0.03 + rates[i] / 80,
                            .saturated = rates[i] > 10, .basis = QM_LATENCY_SIMULATED };

      g_array_append_val (curve, point);
    }

  return qm_chart_describe_latency (curve, 10, 6, 20, words);
}

/* Three answers under a deadline, after a stretch that nothing keeps. */
static QmChart *
decision (const QmWords *words)
{
  static const QmDevice devices[] = { { .name = "NVIDIA H100" }, { .name = "NVIDIA L40S" }, { .name = "NVIDIA L4" } };
  static const double ends[] = { 1, 3, 9, 40, 200 };
  g_autoptr (GArray) bands = g_array_new (FALSE, FALSE, sizeof (QmBand));

  for (guint i = 0; i + 1 < G_N_ELEMENTS (ends); i++)
    {
      QmBand band = { .from = ends[i], .to = ends[i + 1], .possible = i > 0 };

      if (i > 0)
        {
          band.choice.estimate.device = &devices[i - 1];
          band.choice.estimate.configuration.devices = i == 1 ? 8 : 1;
          band.choice.estimate.cost.money = qm_range_exact (90.0 / (i * i));
          g_strlcpy (band.choice.label, devices[i - 1].name, sizeof band.choice.label);
        }
      g_array_append_val (bands, band);
    }

  return qm_chart_describe_decision (bands, QM_DIAL_HOURS, 24, FALSE, "USD", words);
}

/* One replica would do; the rule keeps two. */
static QmChart *
standing_still (const QmWords *words)
{
  const QmElasticReplica replica = { .per_second = 8.2, .at_once = 8, .latency_p99_seconds = 2.4, .money_per_hour = 1.7, .parts = 1 };
  const QmElasticRule rule = { .target = 0.7, .dead_band = 0.1, .fewest = 2, .most = 8, .warm_up_seconds = 480,
                               .cool_down_seconds = 300, .every_seconds = 15 };
  g_autoptr (GArray) load = qm_load_of_a_day (2, 3);
  g_autoptr (QmElastic) fleet = qm_elastic_new (load, &replica, &rule);

  return qm_chart_describe_elastic (fleet, "1 × L40S 48GB", "USD", words);
}

const Figure figures[] = {
  { "memory", memory_that_fits },
  { "too-small", memory_that_does_not },
  { "sizing", sizing },
  { "methods", methods },
  { "compared", compared },
  { "scaling", scaling },
  { "cost-time", cost_time },
  { "accuracy", accuracy },
  { "stages", stages },
  { "spot", spot },
  { "buy-or-rent", buy_or_rent },
  { "serving", serving },
  { "elastic", elastic },
  { "standing-still", standing_still },
  { "decision", decision },
  { "latency", latency },
  { NULL, NULL },
};
