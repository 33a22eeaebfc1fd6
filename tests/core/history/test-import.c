/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Logs as the programs write them, small enough to be reckoned by hand. */

#include <locale.h>
#include <math.h>

#include "history/qm-import.h"
#include "ledger-fixture.h"
#include "qm-error.h"

#define MIB (1024.0 * 1024.0)

static GPtrArray *
import (const char *text)
{
  g_autoptr (GError) error = NULL;
  GPtrArray *imported = qm_import_data (text, strlen (text), 1000000, &error);

  g_assert_no_error (error);
  return imported;
}

static const QmRun *
run_at (GPtrArray *imported,
        guint      index)
{
  return ((QmImported *) g_ptr_array_index (imported, index))->run;
}

static const QmSeries *
series_at (GPtrArray *imported,
           guint      index)
{
  return ((QmImported *) g_ptr_array_index (imported, index))->series;
}

static double
value_at (const QmSeries *series,
          guint           row,
          const char     *channel)
{
  return qm_series_value (series, row, qm_series_find (series, channel));
}

static void
test_nvidia_smi (void)
{
  /* two cards; the second has no sensor for its power */
  g_autoptr (GPtrArray) imported = import (
    "timestamp, index, name, utilization.gpu [%], memory.used [MiB], power.draw [W], clocks_throttle_reasons.active\n"
    "2026/05/01 12:00:00.500, 0, NVIDIA L40S, 90 %, 20000 MiB, 300.50 W, 0x0000000000000004\n"
    "2026/05/01 12:00:00.501, 1, NVIDIA L40S, 10 %, 1000 MiB, [N/A], 0x0000000000000060\n"
    "2026/05/01 12:00:01.500, 0, NVIDIA L40S, 100 %, 22000 MiB, 310.00 W, 0x0000000000000000\n"
    "2026/05/01 12:00:01.501, 1, NVIDIA L40S, [Not Supported], 1500 MiB, [N/A], 0x0000000000000000\n");
  const QmRun *run = run_at (imported, 0);
  const QmSeries *series = series_at (imported, 0);

  g_assert_cmpuint (imported->len, ==, 1);
  g_assert_cmpint (run->source, ==, QM_RUN_SOURCE_NVIDIA_SMI);
  g_assert_cmpstr (run->device, ==, "NVIDIA L40S");
  g_assert_cmpint (run->devices, ==, 2);
  /* date -ud 2026-05-01T12:00:00 +%s */
  g_assert_cmpint (run->started, ==, 1777636800 * G_TIME_SPAN_SECOND + 500000);
  g_assert_cmpfloat (qm_run_measured (run, "memory.per_device_bytes"), ==, 22000 * MIB);
  g_assert_cmpuint (qm_series_length (series), ==, 2);
  g_assert_cmpfloat_with_epsilon (value_at (series, 0, "gpu0_utilization"), 0.9, 1e-6);
  g_assert_cmpfloat_with_epsilon (value_at (series, 0, "gpu1_utilization"), 0.1, 1e-6);
  g_assert_true (isnan (value_at (series, 1, "gpu1_utilization")));
  g_assert_true (isnan (value_at (series, 0, "gpu1_power_watts")));
  g_assert_cmpfloat (value_at (series, 0, "gpu0_throttled"), ==, 1);
  g_assert_cmpfloat (value_at (series, 0, "gpu1_throttled"), ==, 2);
  g_assert_cmpfloat (value_at (series, 1, "gpu0_power_watts"), ==, 310);
}

/* For a reader who writes 0,5: others write 0.5 all the same. */
static void
test_nvidia_smi_commas (void)
{
  if (setlocale (LC_NUMERIC, "de_DE.UTF-8") == NULL)
    {
      g_test_skip ("there is no locale de_DE.UTF-8");
      return;
    }
  test_nvidia_smi ();
  setlocale (LC_NUMERIC, "C");
}

/* Without units and without an index. */
static void
test_nvidia_smi_bare (void)
{
  g_autoptr (GPtrArray) imported = import ("timestamp, utilization.gpu [%], memory.used [MiB]\r\n"
                                           "2026/05/01 12:00:00.000, 50, 100\r\n"
                                           "2026/05/01 12:00:02.000, 70, 300\r\n");

  g_assert_cmpuint (qm_series_length (series_at (imported, 0)), ==, 2);
  g_assert_cmpfloat (run_at (imported, 0)->seconds, ==, 2);
  g_assert_cmpfloat_with_epsilon (qm_run_measured (run_at (imported, 0), "run.gpu_utilization"), 0.6, 1e-6);
}

static void
test_trainer_state (void)
{
  g_autoptr (GPtrArray) imported = import (
    "{\n \"global_step\": 300, \"epoch\": 1.0, \"log_history\": [\n"
    "  {\"epoch\": 0.33, \"learning_rate\": 1e-5, \"loss\": 2.5, \"step\": 100},\n"
    "  {\"epoch\": 0.66, \"grad_norm\": NaN, \"loss\": 2.25, \"step\": 200},\n"
    "  {\"eval_loss\": 2.0, \"step\": 200},\n"
    "  {\"epoch\": 1.0, \"step\": 300, \"total_flos\": 1e15, \"train_loss\": 2.3, \"train_runtime\": 150.0,"
    " \"train_samples_per_second\": 16.0, \"train_steps_per_second\": 2.0}\n ]\n}");
  const QmRun *run = run_at (imported, 0);

  g_assert_cmpint (run->status, ==, QM_RUN_STATUS_FINISHED);
  g_assert_cmpfloat (run->seconds, ==, 150);
  g_assert_cmpstr (run->unit, ==, "samples");
  g_assert_cmpfloat (qm_run_measured (run, "throughput.per_second"), ==, 16);
  g_assert_cmpfloat (qm_run_measured (run, "throughput.step_seconds"), ==, 0.5);
  g_assert_cmpfloat (qm_run_measured (run, "run.loss"), ==, 2.25);
  g_assert_cmpuint (qm_series_length (series_at (imported, 0)), ==, 2);
  g_assert_cmpfloat (g_array_index (series_at (imported, 0)->times, double, 0), ==, 50);
}

static void
test_llama_bench (void)
{
  static const char text[] =
    "[{\"build_number\": 4000, \"cpu_info\": \"AMD Ryzen\", \"gpu_info\": \"NVIDIA GeForce RTX 4090\", \"model_type\": \"llama 8B Q4_K - Medium\","
    " \"model_n_params\": 8030261248, \"n_gpu_layers\": 99, \"n_prompt\": 512, \"n_gen\": 0, \"test_time\": \"2026-05-01T12:00:00Z\","
    " \"avg_ns\": 50000000, \"avg_ts\": 10240.0},"
    " {\"cpu_info\": \"AMD Ryzen\", \"gpu_info\": \"\", \"model_type\": \"qwen3 4B F16\", \"model_n_params\": 4022468096,"
    " \"n_gpu_layers\": 0, \"n_prompt\": 0, \"n_gen\": 128, \"avg_ns\": 1000000000, \"avg_ts\": 128.0}]";
  g_autoptr (GPtrArray) imported = import (text);
  g_autoptr (GPtrArray) lines = import ("{\"n_gen\": 0, \"n_prompt\": 8, \"avg_ts\": 1.0}\n{\"n_gen\": 8, \"n_prompt\": 0, \"avg_ts\": 2.0}\n");

  g_assert_cmpuint (imported->len, ==, 2);
  g_assert_cmpfloat (qm_run_measured (run_at (imported, 0), "serving.prefill_tokens_per_second"), ==, 10240);
  g_assert_cmpstr (run_at (imported, 0)->device, ==, "NVIDIA GeForce RTX 4090");
  g_assert_nonnull (strstr (run_at (imported, 0)->plan, "\"weights\":\"gguf-q4_k_m\""));
  g_assert_cmpfloat (qm_run_measured (run_at (imported, 1), "serving.decode_tokens_per_second"), ==, 128);
  g_assert_cmpstr (run_at (imported, 1)->device, ==, "AMD Ryzen");
  g_assert_nonnull (strstr (run_at (imported, 1)->plan, "\"weights\":\"gguf-f16\""));
  g_assert_cmpuint (lines->len, ==, 2);
}

/* Two steps of 100 µs. Kernels from 0 to 80 and, beside each other, from 100 to
 * 150 and 120 to 160; a collective from 70 to 90, of which 10 are alone, and
 * one from 180 to 200. Busy: 80 + 10 + 60 + 20 of 200. */
static void
test_pytorch (void)
{
  g_autoptr (GPtrArray) imported = import (
    "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA A100-SXM4-40GB\"}],\n \"traceEvents\": [\n"
    "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#1\", \"pid\": 9, \"ts\": 1000, \"dur\": 100},\n"
    "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#2\", \"pid\": 9, \"ts\": 1100, \"dur\": 100},\n"
    "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"enumerate(DataLoader)#_Single\", \"pid\": 9, \"ts\": 1160, \"dur\": 20},\n"
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm \\\"a\\\" {b\", \"pid\": 0, \"ts\": 1000.0, \"dur\": 80, \"args\": {\"device\": 0, \"grid\": [1, {\"x\": 2}]}},\n"
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"ncclDevKernel_AllReduce\", \"pid\": 0, \"ts\": 1070, \"dur\": 20, \"args\": {\"device\": 0}},\n"
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"ts\": 1120, \"dur\": 40, \"args\": {\"device\": 0}},\n"
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"ts\": 1100, \"dur\": 50, \"args\": {\"device\": 0}},\n"
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"ncclDevKernel_AllReduce\", \"pid\": 0, \"ts\": 1180, \"dur\": 20, \"args\": {\"device\": 0}},\n"
    "{\"ph\": \"i\", \"name\": \"mark\", \"ts\": 1}\n]}");
  const QmRun *run = run_at (imported, 0);

  g_assert_cmpint (run->source, ==, QM_RUN_SOURCE_PYTORCH_PROFILER);
  g_assert_cmpstr (run->device, ==, "NVIDIA A100-SXM4-40GB");
  g_assert_cmpfloat_with_epsilon (qm_run_measured (run, "throughput.step_seconds"), 100e-6, 1e-12);
  g_assert_cmpfloat_with_epsilon (qm_run_measured (run, "run.gpu_utilization"), 170 / 200.0, 1e-9);
  g_assert_cmpfloat_with_epsilon (qm_run_measured (run, "run.communication_share"), 30 / 200.0, 1e-9);
  g_assert_cmpfloat_with_epsilon (qm_run_measured (run, "run.input_share"), 20 / 200.0, 1e-9);
  g_assert_cmpfloat_with_epsilon (value_at (series_at (imported, 0), 0, "gpu0_utilization"), 1, 1e-6);
}

static void
test_tensorflow (void)
{
  g_autoptr (GPtrArray) trace = import (
    "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n"
    "{\"ph\": \"M\", \"pid\": 3, \"name\": \"process_name\", \"args\": {\"name\": \"/device:TPU:0\"}},\n"
    "{\"ph\": \"M\", \"pid\": 701, \"name\": \"process_name\", \"args\": {\"name\": \"/host:CPU\"}},\n"
    "{\"ph\": \"X\", \"pid\": 701, \"name\": \"python\", \"ts\": 0, \"dur\": 500},\n"
    "{\"ph\": \"X\", \"pid\": 3, \"name\": \"fusion.1\", \"ts\": 100, \"dur\": 60},\n"
    "{\"ph\": \"X\", \"pid\": 3, \"name\": \"all-reduce.1\", \"ts\": 180, \"dur\": 20}\n]}");
  g_autoptr (GPtrArray) tables = import ("[{\"cols\": [], \"rows\": [], \"p\": {\"steptime_ms_average\": \"12.5\", \"infeed_percent_average\": \"40%\"}}]");

  g_assert_cmpint (run_at (trace, 0)->source, ==, QM_RUN_SOURCE_TENSORFLOW_PROFILER);
  g_assert_cmpstr (run_at (trace, 0)->device, ==, "TPU");
  g_assert_cmpfloat_with_epsilon (qm_run_measured (run_at (trace, 0), "run.gpu_utilization"), 0.8, 1e-9);
  g_assert_cmpfloat_with_epsilon (qm_run_measured (run_at (trace, 0), "run.communication_share"), 0.2, 1e-9);
  g_assert_cmpfloat_with_epsilon (qm_run_measured (run_at (tables, 0), "throughput.step_seconds"), 0.0125, 1e-9);
  g_assert_cmpfloat_with_epsilon (qm_run_measured (run_at (tables, 0), "run.input_share"), 0.4, 1e-9);
}

static void
test_watched (void)
{
  g_autoptr (GPtrArray) imported = import ("{\"time\":\"2026-05-01T12:00:00Z\",\"seconds\":0,\"cpu_utilization\":0.5,\"cores\":[0.2,0.8]}\n"
                                           "{\"time\":\"2026-05-01T12:00:01Z\",\"seconds\":1,\"cpu_utilization\":null,\"cores\":[0.2,0.8]}\n");

  g_assert_cmpuint (qm_series_length (series_at (imported, 0)), ==, 2);
  g_assert_cmpfloat (value_at (series_at (imported, 0), 0, "cpu_utilization"), ==, 0.5);
  g_assert_true (isnan (value_at (series_at (imported, 0), 1, "cpu_utilization")));
}

/* A table that a person keeps. */
static void
test_table (void)
{
  g_autoptr (GPtrArray) imported = import ("label,device,started,throughput.per_second,tags\n"
                                           "\"one, two\",rtx-3060,2026-05-01T12:00:00Z,120.5,night; first\n"
                                           "three,,2026-05-02,,\n");

  g_assert_cmpuint (imported->len, ==, 2);
  g_assert_cmpstr (run_at (imported, 0)->label, ==, "one, two");
  g_assert_cmpfloat (qm_run_measured (run_at (imported, 0), "throughput.per_second"), ==, 120.5);
  g_assert_cmpuint (run_at (imported, 0)->tags->len, ==, 2);
  g_assert_null (run_at (imported, 1)->device);
  g_assert_true (isnan (qm_run_measured (run_at (imported, 1), "throughput.per_second")));
}

/* ----------------------------------------------------------------- out and in again */

static void
check_round (Fixture *self,
             char  *(*export) (QmLedger *, GError **))
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmRun) run = make_run ("a");
  g_autoptr (QmRun) bare = qm_run_new ("b");
  g_autoptr (QmSeries) series = make_series ();
  g_autoptr (GPtrArray) imported = NULL;
  g_autofree char *text = NULL, *again = NULL;

  bare->status = QM_RUN_STATUS_FAILED;
  bare->source = QM_RUN_SOURCE_TABLE;
  g_set_str (&run->diagnosis, "{\"bottleneck\":\"input\"}");
  g_assert_true (qm_ledger_add (self->ledger, run, series, NULL));
  g_assert_true (qm_ledger_add (self->ledger, bare, NULL, NULL));
  text = export (self->ledger, &error);
  g_assert_no_error (error);

  imported = import (text);
  g_assert_cmpuint (imported->len, ==, 2);
  assert_same_run (run, run_at (imported, 0));
  assert_same_run (bare, run_at (imported, 1));
  assert_same_series (series, series_at (imported, 0));
  g_assert_null (series_at (imported, 1));

  /* what is there is not added again, and a ledger made of the file is the same */
  g_assert_cmpint (qm_import_add (self->ledger, imported, NULL), ==, 0);
  g_assert_true (qm_ledger_remove (self->ledger, 1, 1, NULL));
  g_assert_true (qm_ledger_remove (self->ledger, 2, 1, NULL));
  g_assert_cmpint (qm_import_add (self->ledger, imported, &error), ==, 2);
  g_assert_no_error (error);
  g_assert_cmpint (qm_ledger_count (self->ledger, NULL), ==, 2);
  again = export (self->ledger, NULL);
  if (export == qm_export_csv)
    g_assert_cmpstr (again, ==, text);
}

static void
test_round_json (Fixture       *self,
                 gconstpointer  data)
{
  check_round (self, qm_export_json);
}

static void
test_round_csv (Fixture       *self,
                gconstpointer  data)
{
  check_round (self, qm_export_csv);
}

/* --------------------------------------------------------------------- what is wrong */

static const struct {
  const char *text;
  int code;
  const char *begins;               /* of the message: its line */
} wrong[] = {
  { "hello", QM_IMPORT_ERROR_FORMAT, "none of the logs" },
  { "", QM_IMPORT_ERROR_FORMAT, "none of the logs" },
  { "{\"a\": 1}", QM_IMPORT_ERROR_FORMAT, "JSON, but none" },
  { "{\n\"log_history\": [\n{\"step\": }\n]}", QM_IMPORT_ERROR_SYNTAX, "3: not valid JSON" },
  { "{\"log_history\": []}", QM_IMPORT_ERROR_VALUE, "log_history is empty" },
  { "timestamp, memory.used [MiB]\n2026/05/01 12:00:00.000, 1 MiB\nyesterday, 1 MiB\n", QM_IMPORT_ERROR_VALUE, "3: \"yesterday\"" },
  { "timestamp, memory.used [MiB]\n2026/05/01 12:00:00.000, much\n", QM_IMPORT_ERROR_VALUE, "2: \" much\"" },
  { "timestamp, memory.used [MiB]\n2026/05/01 12:00:00.000\n", QM_IMPORT_ERROR_SYNTAX, "2: 1 fields" },
  { "timestamp, memory.used [MiB]\n", QM_IMPORT_ERROR_VALUE, "2: no measurement" },
  { "timestamp, pstate\n2026/05/01 12:00:00.000, P0\n", QM_IMPORT_ERROR_FORMAT, "1: there is no column" },
  { "{\"traceEvents\": [\n{\"ph\": \"X\", \"ts\": 1, \"dur\": 1},\n{\"ph\": \"X\", \"ts\"", QM_IMPORT_ERROR_SYNTAX, "3: the trace is broken off" },
  { "{\"traceEvents\": []}", QM_IMPORT_ERROR_VALUE, "the trace has no step" },
  { "[{\"n_gen\": 1, \"avg_ts\": null}]", QM_IMPORT_ERROR_VALUE, "test 1 of llama-bench" },
  { "label,throughput\na,1\n", QM_IMPORT_ERROR_FORMAT, "1: no column \"throughput\"" },
  { "label,throughput.per_second\na,1\n\"b\nc\",fast\n", QM_IMPORT_ERROR_VALUE, "3: \"fast\"" },
  { "label,note\na,\"open\n", QM_IMPORT_ERROR_SYNTAX, "2: a quotation mark" },
  { "label,note\na,\"b\"c\n", QM_IMPORT_ERROR_SYNTAX, "2: behind a closing" },
  { "{\"format\":\"quartermaster-ledger\",\"version\":2,\"runs\":[]}", QM_IMPORT_ERROR_FORMAT, "an exported ledger of version 2" },
  { "{\"format\":\"quartermaster-ledger\",\"version\":1,\"runs\":[{}]}", QM_IMPORT_ERROR_VALUE, "a run has no uid" },
  { "{\"seconds\":0}\n{\"seconds\":\"x\"}\n", QM_IMPORT_ERROR_VALUE, "2: not a line of watch" },
  { "label,note\na,\xff\n", QM_IMPORT_ERROR_SYNTAX, "2: not UTF-8" },
};

static void
test_wrong (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autoptr (GError) error = NULL;

      g_test_message ("%s", wrong[i].begins);
      g_assert_null (qm_import_data (wrong[i].text, strlen (wrong[i].text), 0, &error));
      g_assert_error (error, QM_IMPORT_ERROR, wrong[i].code);
      g_assert_true (g_str_has_prefix (error->message, wrong[i].begins));
    }
}

/* Cut anywhere, a log is read as far as it makes sense or refused. */
static void
test_cut (void)
{
  static const char text[] =
    "{\"traceEvents\": [{\"ph\": \"M\", \"pid\": 3, \"name\": \"process_name\", \"args\": {\"name\": \"/device:TPU:0\"}}, "
    "{\"ph\": \"X\", \"pid\": 3, \"name\": \"f\\\\\", \"ts\": 1, \"dur\": 2, \"args\": {\"a\": [{}, \"]\"]}}]}";

  for (gsize n = 0; n <= strlen (text); n++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *cut = g_strndup (text, n);
      g_autoptr (GPtrArray) imported = qm_import_data (cut, n, 0, &error);

      g_assert_true ((imported != NULL) == (error == NULL));
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/core/history/import/nvidia-smi", test_nvidia_smi);
  g_test_add_func ("/core/history/import/nvidia-smi-commas", test_nvidia_smi_commas);
  g_test_add_func ("/core/history/import/nvidia-smi-bare", test_nvidia_smi_bare);
  g_test_add_func ("/core/history/import/trainer-state", test_trainer_state);
  g_test_add_func ("/core/history/import/llama-bench", test_llama_bench);
  g_test_add_func ("/core/history/import/pytorch", test_pytorch);
  g_test_add_func ("/core/history/import/tensorflow", test_tensorflow);
  g_test_add_func ("/core/history/import/watched", test_watched);
  g_test_add_func ("/core/history/import/table", test_table);
  g_test_add ("/core/history/import/round-json", Fixture, NULL, set_up, test_round_json, tear_down);
  g_test_add ("/core/history/import/round-csv", Fixture, NULL, set_up, test_round_csv, tear_down);
  g_test_add_func ("/core/history/import/wrong", test_wrong);
  g_test_add_func ("/core/history/import/cut", test_cut);

  return g_test_run ();
}
