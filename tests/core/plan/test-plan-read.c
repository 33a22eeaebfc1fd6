/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/qm-plan.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "qm-error.h"
#include "qm-file.h"

#define HEAD "{\"format\":\"quartermaster-plan\",\"version\":1,\n\"task\":\"language-model\",\n\"activity\":\"fine-tune\""

static void
assert_error (const char *text,
              QmPlanError code,
              const char *message)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmPlan) plan = qm_plan_from_data (text, -1, NULL, &error);

  g_assert_null (plan);
  g_assert_error (error, QM_PLAN_ERROR, (int) code);
  g_assert_cmpstr (error->message, ==, message);
}

/* What follows is the parser's own text. */
static void
assert_not_json (const char *text,
                 const char *start)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmPlan) plan = qm_plan_from_data (text, -1, NULL, &error);

  g_assert_null (plan);
  g_assert_error (error, QM_PLAN_ERROR, QM_PLAN_ERROR_SYNTAX);
  g_assert_true (g_str_has_prefix (error->message, start));
}

static void
assert_field_error (const char *member,
                    QmPlanError code,
                    const char *message)
{
  g_autofree char *text = g_strconcat (HEAD ",\n", member, "}", NULL);

  assert_error (text, code, message);
}

static QmPlan *
read_with (const char *member,
           GPtrArray  *warnings)
{
  g_autofree char *text = g_strconcat (HEAD ",\n", member, "}", NULL);
  g_autoptr (GError) error = NULL;
  QmPlan *plan = qm_plan_from_data (text, -1, warnings, &error);

  g_assert_no_error (error);
  return plan;
}

static void
assert_warning (const char *member,
                int         line,
                const char *path,
                const char *text)
{
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_plan_warning_free);
  g_autoptr (QmPlan) plan = read_with (member, warnings);
  g_autofree char *found = NULL;
  const QmPlanWarning *warning;

  g_assert_nonnull (plan);
  g_assert_cmpuint (warnings->len, ==, 1);
  warning = g_ptr_array_index (warnings, 0);
  g_assert_cmpint (warning->line, ==, line);
  g_assert_cmpstr (warning->path, ==, path);
  found = qm_message_get_text (warning->message, qm_words_english ());
  g_assert_cmpstr (found, ==, text);
}

static void
test_syntax (void)
{
  assert_error ("", QM_PLAN_ERROR_SYNTAX, "1: empty; a JSON object is expected");
  assert_error ("[]", QM_PLAN_ERROR_SYNTAX, "1: an object is expected: this is no plan file");
  assert_not_json ("{\n\"format\": quartermaster}", "2: format: not JSON: ");
  assert_not_json (HEAD ",\n\"limits\": {\"money\": NaN}}", "4: limits.money: not JSON: ");
  assert_not_json (HEAD ",\n\"limits\": {\"money\": 1,}}", "4: limits: not JSON: ");
  assert_error ("{\"format\":\"quartermaster-plan\",\n\"version\":1,\n\"task\":\"\xff\"}", QM_PLAN_ERROR_SYNTAX,
                "3: not UTF-8; save the file as UTF-8");
  assert_error (HEAD ",\n\"training\": {\n\"epochs\": 3,\n\"epochs\": 4}}", QM_PLAN_ERROR_SYNTAX,
                "6: training.epochs: is there twice; leave one of them out");
  assert_field_error ("\"tr\\u0061ining\": {\"epochs\": 3}, \"training\": {\"epochs\": 4}", QM_PLAN_ERROR_SYNTAX,
                      "4: training: is there twice; leave one of them out");
  assert_field_error ("\"title\": \"a\\u0000b\"", QM_PLAN_ERROR_SYNTAX, "4: title: a text holds a zero byte; leave it out");
  assert_field_error ("\"limits\": {\"money\": 1e400}", QM_PLAN_ERROR_SYNTAX,
                      "4: limits.money: the number is too large; numbers up to 1e308 are possible");
  assert_field_error ("\"training\": {\"tokens\": 99999999999999999999}", QM_PLAN_ERROR_SYNTAX,
                      "4: training.tokens: the number is too large; whole numbers up to 9223372036854775807 are possible");
}

static void
test_no_length (void)
{
  const char utf16[] = "\377\376{\0}\0";
  g_autoptr (GError) error = NULL;
  g_autoptr (QmPlan) plan = qm_plan_from_data (utf16, sizeof utf16 - 1, NULL, &error);

  g_assert_null (plan);
  g_assert_cmpstr (error->message, ==, "1: not UTF-8; save the file as UTF-8");
}

static void
test_byte_order_mark (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmPlan) plan = qm_plan_from_data ("\357\273\277" HEAD "}", -1, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpint (plan->task, ==, QM_TASK_LANGUAGE_MODEL);
}

static void
test_length_without_end (void)
{
  const char text[] = HEAD "}garbage";
  g_autoptr (GError) error = NULL;
  g_autoptr (QmPlan) plan = qm_plan_from_data (text, strlen (HEAD "}"), NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpint (plan->activity, ==, QM_ACTIVITY_FINE_TUNE);
}

/* Every byte taken away, and every byte replaced, must end in a plan or an
 * error. */
static void
test_damaged (void)
{
  const char *whole = HEAD ",\"model\":{\"architecture\":{\"a\":[1,{\"b\":\"\\u0041\\\"\"}]}},\"places\":{\"owned\":[{\"device\":\"l4\"}]}}";
  const char bytes[] = "\"\\{}[],:0-e.\n";

  for (gsize cut = 1; cut < strlen (whole); cut++)
    {
      g_autoptr (QmPlan) plan = qm_plan_from_data (whole, cut, NULL, NULL);

      g_assert_null (plan);
      for (gsize i = 0; bytes[i] != '\0'; i++)
        {
          g_autofree char *text = g_strdup (whole);
          g_autoptr (GError) error = NULL;
          g_autoptr (QmPlan) damaged = NULL;

          text[cut] = bytes[i];
          damaged = qm_plan_from_data (text, -1, NULL, &error);
          g_assert_true ((damaged == NULL) == (error != NULL));
          g_assert_true (error == NULL || g_ascii_isdigit (error->message[0]));
          g_assert_true (error == NULL || strchr (error->message, '\n') == NULL);
        }
    }
}

static void
test_nesting (void)
{
  g_autoptr (GString) text = g_string_new (HEAD ",\n\"model\":{\"architecture\":{\"a\":");
  g_autoptr (GError) error = NULL;
  g_autoptr (QmPlan) plan = NULL;

  for (int i = 0; i < 100000; i++)
    g_string_append_c (text, '[');
  plan = qm_plan_from_data (text->str, text->len, NULL, &error);
  g_assert_null (plan);
  g_assert_error (error, QM_PLAN_ERROR, QM_PLAN_ERROR_SYNTAX);
  g_assert_true (g_str_has_prefix (error->message, "4: model.architecture.a[0]"));
  g_assert_true (g_str_has_suffix (error->message, ": nested too deep; a plan has four levels"));
}

static void
test_huge (void)
{
  gsize length = 16 * 1024 * 1024 + 1;
  g_autofree char *text = g_malloc (length + 1);
  g_autoptr (GError) error = NULL;
  g_autoptr (QmPlan) plan = NULL;

  memset (text, ' ', length);
  text[length] = '\0';
  plan = qm_plan_from_data (text, length, NULL, &error);
  g_assert_null (plan);
  g_assert_cmpstr (error->message, ==, "1: larger than 16 MiB: no plan file");
}

static void
test_format (void)
{
  assert_error ("{}", QM_PLAN_ERROR_FORMAT, "1: format: \"quartermaster-plan\" is expected: this is no plan file");
  assert_error ("{\n\"format\": 3}", QM_PLAN_ERROR_FORMAT, "2: format: \"quartermaster-plan\" is expected: this is no plan file");
  assert_error ("{\"format\":\"quartermaster-plan\"}", QM_PLAN_ERROR_FORMAT, "1: version: a whole number from 1 is expected");
  assert_error ("{\"format\":\"quartermaster-plan\",\n\"version\":0}", QM_PLAN_ERROR_FORMAT,
                "2: version: a whole number from 1 is expected");
  assert_error ("{\"format\":\"quartermaster-plan\",\n\"version\":\"1\"}", QM_PLAN_ERROR_FORMAT,
                "2: version: a whole number from 1 is expected");
  assert_error ("{\"format\":\"quartermaster-plan\",\n\"version\":2}", QM_PLAN_ERROR_FORMAT,
                "2: version: 2 was written by a later program; this one reads up to 1");
}

static void
test_missing (void)
{
  assert_error ("{\"format\":\"quartermaster-plan\",\"version\":1,\"activity\":\"train\"}", QM_PLAN_ERROR_MISSING,
                "1: task: is missing; every plan says its task and activity");
  assert_error ("{\"format\":\"quartermaster-plan\",\"version\":1,\"task\":\"other\",\n\"activity\":null}", QM_PLAN_ERROR_MISSING,
                "2: activity: is missing; every plan says its task and activity");
}

static void
test_types (void)
{
  assert_field_error ("\"title\": 7", QM_PLAN_ERROR_TYPE, "4: title: a text is expected, found a number");
  assert_field_error ("\"training\": {\"epochs\": \"3\"}", QM_PLAN_ERROR_TYPE, "4: training.epochs: a number is expected, found a text");
  assert_field_error ("\"training\":\n{\n\"compiled\": 1}", QM_PLAN_ERROR_TYPE,
                      "6: training.compiled: true or false is expected, found a number");
  assert_field_error ("\"training\": {\"method\": {}}", QM_PLAN_ERROR_TYPE, "4: training.method: a word is expected, found an object");
  assert_field_error ("\"training\": {\"lora_targets\": \"q_proj\"}", QM_PLAN_ERROR_TYPE,
                      "4: training.lora_targets: a list of words is expected, found a text");
  assert_field_error ("\"training\": {\"lora_targets\": [true]}", QM_PLAN_ERROR_TYPE,
                      "4: training.lora_targets: a list of words is expected, found true or false");
  assert_field_error ("\"model\": {\"architecture\": []}", QM_PLAN_ERROR_TYPE,
                      "4: model.architecture: an object is expected, found a list");
  assert_field_error ("\"limits\": 5", QM_PLAN_ERROR_TYPE, "4: limits: an object is expected");
}

static void
test_vocabularies (void)
{
  assert_error ("{\"format\":\"quartermaster-plan\",\"version\":1,\n\"task\":\"languagemodel\"}", QM_PLAN_ERROR_VALUE,
                "2: task: \"languagemodel\" is not known; use one of language-model, text-encoder, image-classification, "
                "object-detection, image-generation, speech, recommender, tabular, other");
  assert_field_error ("\"serving\": {\n\"weights\": \"int5\"}", QM_PLAN_ERROR_VALUE,
                      "5: serving.weights: \"int5\" is not known; use one of fp32, fp16, bf16, fp8, int8, int4, awq-int4, gptq-int4, "
                      "nf4, fp4, mxfp4, exl2-N, gguf-TYPE");
  assert_field_error ("\"serving\": {\"weights\": \"exl2-\"}", QM_PLAN_ERROR_VALUE,
                      "4: serving.weights: \"exl2-\" is not known; use one of fp32, fp16, bf16, fp8, int8, int4, awq-int4, gptq-int4, "
                      "nf4, fp4, mxfp4, exl2-N, gguf-TYPE");
  assert_field_error ("\"limits\": {\"currency\": \"usd\"}", QM_PLAN_ERROR_VALUE,
                      "4: limits.currency: \"usd\" is not known; use a code of three letters, e.g. USD");
  assert_field_error ("\"training\": {\"method\": \"lo\\nra\"}", QM_PLAN_ERROR_VALUE,
                      "4: training.method: \"lo?ra\" is not known; use one of full, lora, qlora, linear-probe");
}

static void
test_ranges (void)
{
  assert_field_error ("\"training\": {\"epochs\": -3}", QM_PLAN_ERROR_VALUE, "4: training.epochs: -3 is out of range; 1e-06 to 1000000 are possible");
  assert_field_error ("\"training\": {\"samples\": 1.5}", QM_PLAN_ERROR_VALUE,
                      "4: training.samples: 1.5 is not whole; a whole number is expected");
  assert_field_error ("\"limits\": {\"headroom\": 20}", QM_PLAN_ERROR_VALUE, "4: limits.headroom: 20 is out of range; 0 to 0.9 are possible");
  assert_field_error ("\"configuration\": {\"devices\": 0}", QM_PLAN_ERROR_VALUE,
                      "4: configuration.devices: 0 is out of range; 1 to 1000000 are possible");
}

static void
test_owned (void)
{
  g_autoptr (QmPlan) plan = read_with ("\"places\": {\"owned\": [{\"device\": \"rtx-3090\", \"devices\": 2}]}", NULL);

  g_assert_cmpint (plan->places.n_owned, ==, 1);
  g_assert_cmpstr (plan->places.owned[0].device, ==, "rtx-3090");
  g_assert_cmpint (plan->places.owned[0].devices, ==, 2);
  g_assert_cmpint (plan->places.owned[0].nodes, ==, 1);

  assert_field_error ("\"places\": {\"owned\": {}}", QM_PLAN_ERROR_TYPE, "4: places.owned: a list of machines is expected");
  assert_field_error ("\"places\": {\"owned\": [\n3]}", QM_PLAN_ERROR_TYPE,
                      "5: places.owned[0]: an object with device, devices, nodes and host_memory_bytes is expected");
  assert_field_error ("\"places\": {\"owned\": [{\"device\":\"l4\"},\n{\"devices\": 1}]}", QM_PLAN_ERROR_MISSING,
                      "5: places.owned[1]: device is missing; the id of a device of the catalog is expected");
  assert_field_error ("\"places\": {\"owned\": [{\"device\": \"l4\",\n\"devices\": \"2\"}]}", QM_PLAN_ERROR_TYPE,
                      "5: places.owned[0].devices: a whole number is expected");
  assert_field_error ("\"places\": {\"owned\": [{\"device\": \"l4\", \"nodes\": 0}]}", QM_PLAN_ERROR_VALUE,
                      "4: places.owned[0].nodes: a whole number from 1 to 1000000 is expected");
  assert_field_error ("\"places\": {\"owned\": [{\"device\": 4}]}", QM_PLAN_ERROR_TYPE,
                      "4: places.owned[0].device: the id of a device of the catalog is expected");
}

static void
test_quotes (void)
{
  g_autoptr (QmPlan) plan = read_with ("\"quotes\": [{\"device\": \"l4\", \"hours\": 7.5, \"money\": 12, \"accuracy\": 0.821},"
                                       "{\"device\": \"l4\", \"devices\": 8, \"nodes\": 2, \"hours\": 2, \"money\": 20, \"accuracy\": null}]", NULL);

  g_assert_cmpint (plan->n_quotes, ==, 2);
  g_assert_cmpstr (plan->quotes[0].device, ==, "l4");
  g_assert_cmpint (plan->quotes[0].devices, ==, 1);
  g_assert_cmpfloat (plan->quotes[0].hours, ==, 7.5);
  g_assert_cmpfloat (plan->quotes[0].money, ==, 12);
  g_assert_cmpfloat (plan->quotes[0].accuracy, ==, 0.821);
  g_assert_cmpint (plan->quotes[1].nodes, ==, 2);
  g_assert_true (isnan (plan->quotes[1].accuracy));

  assert_field_error ("\"quotes\": {}", QM_PLAN_ERROR_TYPE, "4: quotes: a list of hardware with its figures is expected");
  assert_field_error ("\"quotes\": [\n3]", QM_PLAN_ERROR_TYPE,
                      "5: quotes[0]: an object with device, devices, hours and money is expected");
  assert_field_error ("\"quotes\": [{\"device\":\"l4\", \"hours\": 1}]", QM_PLAN_ERROR_MISSING,
                      "4: quotes[0]: device, hours and money must be there");
  assert_field_error ("\"quotes\": [{\"device\":\"l4\", \"hours\": 0, \"money\": 1}]", QM_PLAN_ERROR_VALUE,
                      "4: quotes[0].hours: a number above 0 is expected");
  assert_field_error ("\"quotes\": [{\"device\":\"l4\", \"hours\": 1, \"money\": \"1\"}]", QM_PLAN_ERROR_TYPE,
                      "4: quotes[0].money: a number is expected");
  assert_field_error ("\"quotes\": [{\"device\":\"l4\", \"hours\": 1, \"money\": 1, \"accuracy\": 82}]", QM_PLAN_ERROR_VALUE,
                      "4: quotes[0].accuracy: a share from 0 to 1 is expected");
  assert_field_error ("\"quotes\": [{\"device\":\"l4\", \"devices\": 3, \"nodes\": 2, \"hours\": 1, \"money\": 1}]", QM_PLAN_ERROR_CONFLICT,
                      "4: quotes[0]: devices is the number of all machines together: a multiple of nodes");
}

static void
test_results (void)
{
  g_autoptr (QmPlan) plan = read_with ("\"results\": [{\"samples\": 1000, \"score\": 0.8}, {\"samples\": 4000, \"score\": 0.86}]", NULL);

  g_assert_cmpint (plan->n_results, ==, 2);
  g_assert_cmpfloat (plan->results[1].samples, ==, 4000);
  g_assert_cmpfloat (plan->results[1].score, ==, 0.86);

  assert_field_error ("\"results\": 0.8", QM_PLAN_ERROR_TYPE, "4: results: a list of samples and scores is expected");
  assert_field_error ("\"results\": [0.8]", QM_PLAN_ERROR_TYPE, "4: results[0]: an object with samples and score is expected");
  assert_field_error ("\"results\": [{\"samples\": 1000}]", QM_PLAN_ERROR_VALUE, "4: results[0]: samples and a score below 1 must be there");
  assert_field_error ("\"results\": [{\"samples\": 1000, \"score\": 80}]", QM_PLAN_ERROR_VALUE,
                      "4: results[0].score: a share from 0 to 1 is expected");
}

static void
test_conflicts (void)
{
  assert_field_error ("\"training\": {\n\"global_batch\": 64},\n\"configuration\": {\"data_parallel\": 8, \"micro_batch\": 4, "
                      "\"gradient_accumulation\": 3}",
                      QM_PLAN_ERROR_CONFLICT,
                      "5: training.global_batch: 64 is not micro_batch 4 × gradient_accumulation 3 × 8 replicas = 96; leave one of them out");
  assert_field_error ("\"configuration\": {\"devices\": 2, \"nodes\": 4}", QM_PLAN_ERROR_CONFLICT,
                      "4: configuration.nodes: more nodes than devices; a node holds at least one device");
  assert_field_error ("\"configuration\": {\"devices\": 4, \"data_parallel\": 4, \"tensor_parallel\": 2}", QM_PLAN_ERROR_CONFLICT,
                      "4: configuration.data_parallel: data × tensor × pipeline × context parallel = 8, but there are 4 devices");
  assert_field_error ("\"configuration\": {\"devices\": 2, \"tensor_parallel\": 4}", QM_PLAN_ERROR_CONFLICT,
                      "4: configuration.devices: data × tensor × pipeline × context parallel = 4, but there are 2 devices");
}

/* "global_batch wins if accumulation is missing". */
static void
test_batch_without_accumulation (void)
{
  g_autoptr (QmPlan) plan = read_with ("\"training\": {\"global_batch\": 64}, \"configuration\": {\"data_parallel\": 8, \"micro_batch\": 3}", NULL);

  g_assert_cmpfloat (plan->training.global_batch, ==, 64);
}

static void
test_warnings (void)
{
  assert_warning ("\"trainning\": {}", 4, "trainning", "not a field of a plan; the nearest is \"training\"");
  assert_warning ("\"training\": {\n\"epoch\": 3}", 5, "training.epoch", "not a field of a plan; the nearest is \"training.epochs\"");
  assert_warning ("\"epochs\": 3", 4, "epochs", "not a field of a plan; the nearest is \"training.epochs\"");
  assert_warning ("\"places\": {\"owned\": [{\"device\":\"l4\",\n\"count\": 3}]}", 5, "places.owned[0].count",
                  "not a field of a plan; the nearest is \"places.owned[].device\"");
  assert_warning ("\"serving\": {\n\"engine\": \"vlm\"}", 5, "serving.engine",
                  "\"vlm\" is not known; estimated with what is usual in its place");
  assert_warning ("\"configuration\": {\"interconnect\": \"wet-string\"}", 4, "configuration.interconnect",
                  "\"wet-string\" is not known; estimated with what is usual in its place");
  assert_warning ("\"training\": {\"techniques\": [\"chunked-cross-entropy\", \"magic\"]}", 4, "training.techniques",
                  "\"magic\" is not known; estimated with what is usual in its place");
}

static void
test_many_unknown_keys (void)
{
  g_autoptr (GString) members = g_string_new ("\"a\":1");
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_plan_warning_free);
  g_autoptr (QmPlan) plan = NULL;

  for (int i = 0; i < 10000; i++)
    g_string_append_printf (members, ",\"a%d\":1", i);
  plan = read_with (members->str, warnings);
  g_assert_nonnull (plan);
  g_assert_cmpuint (warnings->len, ==, 100);
}

static void
test_null_is_no_answer (void)
{
  g_autoptr (QmPlan) plan = read_with ("\"title\": null, \"limits\": {\"money\": null}, \"places\": {\"cloud\": null, \"owned\": null}, "
                                       "\"data\": {\"loader_workers\": null}, \"configuration\": {\"gpu_layers\": null}, \"serving\": null", NULL);

  g_assert_cmpstr (plan->title, ==, "");
  g_assert_true (isnan (plan->limits.money));
  g_assert_cmpint (plan->places.cloud.n, ==, -1);
  g_assert_cmpint (plan->places.n_owned, ==, 0);
  g_assert_cmpint (plan->data.loader_workers, ==, -1);
  g_assert_cmpint (plan->configuration.gpu_layers, ==, -1);
}

static void
test_nothing_is_an_answer (void)
{
  g_autoptr (QmPlan) plan = read_with ("\"places\": {\"cloud\": []}, \"data\": {\"loader_workers\": 0}, \"limits\": {\"money\": 0}, "
                                       "\"configuration\": {\"gpu_layers\": 0}", NULL);

  g_assert_cmpint (plan->places.cloud.n, ==, 0);
  g_assert_cmpint (plan->data.loader_workers, ==, 0);
  g_assert_cmpfloat (plan->limits.money, ==, 0);
  g_assert_cmpint (plan->configuration.gpu_layers, ==, 0);
}

static void
test_trees_are_not_tuned (void)
{
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_plan_warning_free);
  g_autoptr (QmPlan) plan = qm_plan_from_data ("{\"format\":\"quartermaster-plan\",\"version\":1,\"task\":\"tabular\",\"activity\":\"fine-tune\"}",
                                               -1, warnings, NULL);

  g_assert_nonnull (plan);
  g_assert_cmpuint (warnings->len, ==, 1);
  g_assert_cmpstr (((QmPlanWarning *) g_ptr_array_index (warnings, 0))->path, ==, "activity");
}

static void
test_file (void)
{
  g_autofree char *directory = g_dir_make_tmp (NULL, NULL);
  g_autofree char *path = g_build_filename (directory, "bad.qmplan", NULL);
  g_autofree char *expected = g_strdup_printf ("%s:4: training.epochs: -1 is out of range; 1e-06 to 1000000 are possible", path);
  g_autofree char *folder = g_strdup_printf ("%s: a folder; a plan file is expected", directory);
  g_autoptr (GError) error = NULL;

  g_assert_true (g_file_set_contents (path, HEAD ",\n\"training\": {\"epochs\": -1}}", -1, NULL));
  g_assert_null (qm_plan_load (path, NULL, &error));
  g_assert_error (error, QM_PLAN_ERROR, QM_PLAN_ERROR_VALUE);
  g_assert_cmpstr (error->message, ==, expected);
  g_clear_error (&error);

  g_assert_null (qm_plan_load (directory, NULL, &error));
  g_assert_cmpstr (error->message, ==, folder);
  g_clear_error (&error);

  g_remove (path);
  g_assert_null (qm_plan_load (path, NULL, &error));
  g_assert_error (error, QM_FILE_ERROR, G_FILE_ERROR_NOENT);
  g_rmdir (directory);
}

static void
test_locate (void)
{
  g_autofree char *directory = g_dir_make_tmp (NULL, NULL);
  g_autofree char *path = g_build_filename (directory, "plan.qmplan", NULL);
  g_autofree char *expected = g_strdup_printf ("%s:5: configuration.device: no such device", path);
  g_autoptr (GError) error = NULL;

  g_assert_true (g_file_set_contents (path, HEAD ",\n\"configuration\": {\n\"device\": \"x\"}}", -1, NULL));
  qm_error_set (&error, QM_PLAN_ERROR, QM_PLAN_ERROR_VALUE, "configuration.device", "no such device", NULL);
  qm_plan_locate_error (path, error);
  g_assert_cmpstr (error->message, ==, expected);
  g_remove (path);
  g_rmdir (directory);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/plan/read/syntax", test_syntax);
  g_test_add_func ("/plan/read/utf-16", test_no_length);
  g_test_add_func ("/plan/read/byte-order-mark", test_byte_order_mark);
  g_test_add_func ("/plan/read/length", test_length_without_end);
  g_test_add_func ("/plan/read/damaged", test_damaged);
  g_test_add_func ("/plan/read/nesting", test_nesting);
  g_test_add_func ("/plan/read/huge", test_huge);
  g_test_add_func ("/plan/read/format", test_format);
  g_test_add_func ("/plan/read/missing", test_missing);
  g_test_add_func ("/plan/read/types", test_types);
  g_test_add_func ("/plan/read/vocabularies", test_vocabularies);
  g_test_add_func ("/plan/read/ranges", test_ranges);
  g_test_add_func ("/plan/read/owned", test_owned);
  g_test_add_func ("/plan/read/quotes", test_quotes);
  g_test_add_func ("/plan/read/results", test_results);
  g_test_add_func ("/plan/read/conflicts", test_conflicts);
  g_test_add_func ("/plan/read/batch-without-accumulation", test_batch_without_accumulation);
  g_test_add_func ("/plan/read/warnings", test_warnings);
  g_test_add_func ("/plan/read/many-unknown-keys", test_many_unknown_keys);
  g_test_add_func ("/plan/read/null", test_null_is_no_answer);
  g_test_add_func ("/plan/read/nothing", test_nothing_is_an_answer);
  g_test_add_func ("/plan/read/trees", test_trees_are_not_tuned);
  g_test_add_func ("/plan/read/file", test_file);
  g_test_add_func ("/plan/read/locate", test_locate);

  return g_test_run ();
}
