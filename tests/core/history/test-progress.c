/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Lines as the trainers print them. */

#include "history/qm-progress.h"

#include <math.h>
#include <string.h>

static const struct {
  const char *line;
  double step, steps, loss, steps_per_second, samples_per_second, tokens_per_second;
} lines[] = {
  /* tqdm 4.66, also as Lightning uses it */
  { " 45%|████▌     | 450/1000 [00:45<00:55, 10.05it/s]", 450, 1000, NAN, 10.05, NAN, NAN },
  { " 1%|▏ | 10/1000 [00:23<38:01,  2.5s/it, loss=1.25]", 10, 1000, 1.25, 0.4, NAN, NAN },
  { "Epoch 0:  10%|█  | 10/100 [00:01<00:09, 9.80it/s, v_num=0, train_loss=2.30]", 10, 100, NAN, 9.8, NAN, NAN },
  { "100%|██████████| 5/5 [00:00<00:00, 1.50kit/s]", 5, 5, NAN, 1500, NAN, NAN },
  /* transformers' Trainer */
  { "{'loss': 2.5, 'grad_norm': 1.2, 'learning_rate': 1e-05, 'epoch': 0.33}", NAN, NAN, 2.5, NAN, NAN, NAN },
  { "{'loss': '0.9812', 'grad_norm': '1.2'}", NAN, NAN, 0.9812, NAN, NAN, NAN },
  { "{'eval_loss': 2.0, 'epoch': 0.5}", NAN, NAN, NAN, NAN, NAN, NAN },
  { "{'train_runtime': 150.0, 'train_samples_per_second': 16.0, 'train_steps_per_second': 2.0, 'train_loss': 2.3}", NAN, NAN, NAN, 2, 16, NAN },
  /* torchtitan, with its colours */
  { "[titan] 2025-03-05 - root - INFO - \033[31mstep: 10  \033[32mloss:  8.1234  \033[33mmemory: 10.50GiB(13.2%)  \033[34mtps: 2,345  mfu: 34.5%\033[39m",
    10, NAN, 8.1234, NAN, NAN, 2345 },
  /* nanoGPT */
  { "iter 10: loss 2.3456, time 125.00ms, mfu 12.30%", 10, NAN, 2.3456, 8, NAN, NAN },
  { "step 250: train loss 2.0012, val loss 2.1034", 250, NAN, 2.0012, NAN, NAN, NAN },
  /* llama.cpp */
  { "llama_perf_context_print:        eval time =    1564.04 ms /   127 runs   (   12.32 ms per token,    81.20 tokens per second)",
    NAN, NAN, NAN, NAN, NAN, 81.2 },
  /* Keras 2 and 3 */
  { "100/100 [==============================] - 5s 50ms/step - loss: 0.3421 - accuracy: 0.9", 100, 100, 0.3421, 20, NAN, NAN },
  { " 32/100 ━━━━━━━━━━━━━━━━━━━━ 5s 50ms/step - accuracy: 0.9 - loss: 0.3421", 32, 100, 0.3421, 20, NAN, NAN },
  /* Megatron-LM */
  { " iteration      100/    1000 | consumed samples: 25600 | elapsed time per iteration (ms): 1250.0 | global batch size: 256 | lm loss: 2.345678E+00 |",
    100, 1000, 2.345678, 0.8, NAN, NAN },
  /* what people write */
  { "step 30 loss 3.21 12,345.6 tokens/s", 30, NAN, 3.21, NAN, NAN, 12345.6 },
  { "throughput: 512.5 images/sec", NAN, NAN, NAN, NAN, 512.5, NAN },
  { "samples/s: 77", NAN, NAN, NAN, NAN, 77, NAN },
  /* no progress */
  { "Downloading shard 3 of 7 from example.org:8080", NAN, NAN, NAN, NAN, NAN, NAN },
  { "no loss of generality", NAN, NAN, NAN, NAN, NAN, NAN },
};

static void
assert_near (const char *line,
             double      value,
             double      expected)
{
  if (isnan (value) == isnan (expected) && (isnan (value) || fabs (value - expected) <= 1e-9 * expected))
    return;

  g_test_message ("%s: %g instead of %g", line, value, expected);
  g_test_fail ();
}

static void
test_lines (void)
{
  g_autoptr (QmProgressReader) reader = qm_progress_reader_new ();

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    {
      QmProgress progress;

      qm_progress_reader_line (reader, lines[i].line, &progress);
      assert_near (lines[i].line, progress.step, lines[i].step);
      assert_near (lines[i].line, progress.steps, lines[i].steps);
      assert_near (lines[i].line, progress.loss, lines[i].loss);
      assert_near (lines[i].line, progress.steps_per_second, lines[i].steps_per_second);
      assert_near (lines[i].line, progress.samples_per_second, lines[i].samples_per_second);
      assert_near (lines[i].line, progress.tokens_per_second, lines[i].tokens_per_second);
      g_assert_false (progress.out_of_memory);
    }
}

/* Output comes in pieces, and bars are drawn over themselves. */
static void
test_pieces (void)
{
  static const char text[] = "loading\n 1%|▏ | 1/100 [00:01<01:39, 1.00it/s]\r 2%|▏ | 2/100 [00:01<01:39, 2.00it/s, loss=3]\r"
                             "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n";

  for (gsize size = 1; size < 40; size += 7)
    {
      g_autoptr (QmProgressReader) reader = qm_progress_reader_new ();
      QmProgress latest;

      qm_progress_clear (&latest);
      for (gsize at = 0; at < strlen (text); at += size)
        qm_progress_reader_feed (reader, text + at, MIN (size, strlen (text) - at), &latest);
      g_assert_cmpfloat (latest.step, ==, 2);
      g_assert_cmpfloat (latest.steps_per_second, ==, 2);
      g_assert_cmpfloat (latest.loss, ==, 3);
      g_assert_true (latest.out_of_memory);
    }
}

/* Anything may be printed. */
static void
test_anything (void)
{
  g_autoptr (QmProgressReader) reader = qm_progress_reader_new ();
  g_autofree char *noise = g_malloc (20000);
  QmProgress latest;

  qm_progress_clear (&latest);
  for (int i = 0; i < 20000; i++)
    noise[i] = (char) (i * 7919 >> 3);
  qm_progress_reader_feed (reader, noise, 20000, &latest);
  memset (noise, '1', 20000);
  qm_progress_reader_feed (reader, noise, 20000, &latest);
  qm_progress_reader_feed (reader, "\n", 1, &latest);
  g_assert_true (isnan (latest.loss));
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/core/history/progress/lines", test_lines);
  g_test_add_func ("/core/history/progress/pieces", test_pieces);
  g_test_add_func ("/core/history/progress/anything", test_anything);

  return g_test_run ();
}
