/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "decide/qm-elastic.h"
#include "qm-json-writer.h"

static void
set_number (JsonObject *object,
            const char *name,
            double      value)
{
  json_object_set_double_member (object, name, qm_json_figure (value));
}

static JsonArray *
steps_to_json (const GArray *steps)
{
  JsonArray *array = json_array_new ();

  for (guint i = 0; i < steps->len; i++)
    {
      const QmElasticStep *step = &g_array_index (steps, QmElasticStep, i);
      JsonObject *object = json_object_new ();

      set_number (object, "seconds", step->seconds);
      set_number (object, "requests_per_second", step->per_second);
      json_object_set_int_member (object, "replicas", step->replicas);
      json_object_set_int_member (object, "ready", step->ready);
      set_number (object, "utilisation", step->utilisation);
      set_number (object, "queued", step->queued);
      set_number (object, "p99_seconds", step->p99_seconds);
      set_number (object, "money", step->money);
      json_array_add_object_element (array, object);
    }

  return array;
}

static void
run_to_json (const QmElasticRun *run,
             JsonObject         *object)
{
  set_number (object, "cost", run->money);
  set_number (object, "p99_seconds", run->p99_seconds);
  set_number (object, "worst_p99_seconds", run->worst_p99_seconds);
  set_number (object, "mean_replicas", run->mean_replicas);
  json_object_set_int_member (object, "most_replicas", run->most_replicas);
  set_number (object, "late_share", run->late_share);
}

static JsonObject *
rule_to_json (const QmElasticRule *rule)
{
  JsonObject *object = json_object_new ();

  set_number (object, "target_utilisation", rule->target);
  set_number (object, "dead_band", rule->dead_band);
  json_object_set_int_member (object, "fewest", rule->fewest);
  json_object_set_int_member (object, "most", rule->most);
  set_number (object, "warm_up_seconds", rule->warm_up_seconds);
  set_number (object, "cool_down_seconds", rule->cool_down_seconds);
  set_number (object, "every_seconds", rule->every_seconds);

  return object;
}

/**
 * qm_elastic_to_json:
 * @self: a simulation
 * @currency: of the money
 *
 * Returns: (transfer full): as `elastic --json` prints it
 */
JsonNode *
qm_elastic_to_json (const QmElastic *self,
                    const char      *currency)
{
  JsonNode *node = json_node_new (JSON_NODE_OBJECT);
  JsonObject *root = json_object_new (), *replica = json_object_new ();
  JsonArray *fixed = json_array_new ();

  json_object_set_array_member (root, "series", steps_to_json (self->run.steps));
  run_to_json (&self->run, root);
  json_object_set_string_member (root, "currency", currency);
  set_number (root, "span_seconds", qm_load_span (self->load));
  set_number (replica, "requests_per_second", self->replica.per_second);
  set_number (replica, "per_hour", self->replica.money_per_hour);
  set_number (replica, "latency_p99_seconds", self->replica.latency_p99_seconds);
  json_object_set_object_member (root, "replica", replica);
  json_object_set_object_member (root, "rule", rule_to_json (&self->rule));
  for (guint i = 0; i < self->fixed->len; i++)
    {
      JsonObject *object = json_object_new ();
      const QmElasticRun *run = &g_array_index (self->fixed, QmElasticRun, i);

      json_object_set_int_member (object, "replicas", run->most_replicas);
      run_to_json (run, object);
      json_array_add_object_element (fixed, object);
    }
  json_object_set_array_member (root, "fixed", fixed);
  json_node_take_object (node, root);

  return node;
}
