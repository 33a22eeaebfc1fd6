/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-llm-inference-private.h"

#include <math.h>

/* Continuous batching. A step gives each running sequence a token and reads at
 * most one piece of the waiting prompts, for which the running ones wait.
 * Between two changes of the batch steps differ only by the growing context, so
 * they are taken together: the work follows the requests, not their tokens. */

#define N_RUNS 3
#define N_SIZES 12                  /* batches 1, 2, 4 … 2,048 */

/* What a step takes: affine in the context, tabulated over the batch. */
typedef struct {
  double seconds[N_SIZES];
  double per_context_token;
  double per_prompt_token;
  double slots;
  double pool_tokens;
  double chunk;
} Engine;

typedef struct {
  double arrival;
  double first;                     /* seconds from the arrival to the first token */
  double total;
  double prompt;                    /* tokens */
  double answer;
} Request;

typedef struct {
  double value;
  double weight;
} Sample;

/* One simulation. Requests are admitted and read in the order of arrival, so
 * three indices say what waits where. */
typedef struct {
  const Engine *engine;
  Request *requests;
  guint n;
  guint arrived;
  guint admitted;
  guint read;                       /* whose whole prompt is read */
  guint *heap;                      /* running, the one that ends first on top */
  double *ends;                     /* by request: the step at which it ends */
  guint running;
  guint done;
  double partly_read;               /* tokens of the first waiting prompt */
  double held;                      /* tokens in the pool */
  double context;                   /* of all running together */
  double step;
  double now;
  GArray *gaps;
} Simulation;

static void
engine_init (Engine               *self,
             const QmInferenceJob *job)
{
  const QmLlmInference *plan = job->plan;
  double prompt = plan->prompt, tokens = plan->prompt + plan->answer;
  double each = qm_inference_cached_bytes (job, tokens);
  QmInferenceStep short_context, long_context;

  for (int i = 0; i < N_SIZES; i++)
    {
      QmInferenceStep step;

      qm_inference_step (job, 1 << i, 1, &step);
      self->seconds[i] = step.seconds;
    }

  qm_inference_step (job, 16, 1, &short_context);
  qm_inference_step (job, 16, 4096, &long_context);
  self->per_context_token = (long_context.seconds - short_context.seconds) / (16 * 4095.0);
  self->per_prompt_token = qm_inference_prompt_seconds (job, prompt, 4, FALSE) / (4 * prompt);
  self->slots = floor (job->batch > 0 ? job->batch : qm_inference_slots (job));
  self->chunk = plan->constants->limits.prompt_chunk;
  self->pool_tokens = INFINITY;
  if (job->memory > 0 && each > 0)
    self->pool_tokens = qm_inference_pool_bytes (job) / (each / tokens);
}

static double
batch_seconds (const Engine *self,
               double        sequences)
{
  int i;

  /* A step that only reads prompts still passes over the weights in part. */
  if (sequences < 1)
    return self->seconds[0] / 2;

  i = MIN ((int) log2 (sequences), N_SIZES - 2);
  return self->seconds[i] + (sequences / (1 << i) - 1) * (self->seconds[i + 1] - self->seconds[i]);
}

static double
draw_normal (GRand *rand)
{
  return sqrt (-2 * log1p (-g_rand_double (rand))) * cos (2 * G_PI * g_rand_double (rand));
}

/* Tokens: log-normal with the given mean. */
static double
draw_length (GRand  *rand,
             double  mean,
             double  spread)
{
  return fmax (1, rint (mean * exp (spread * draw_normal (rand) - spread * spread / 2)));
}

static void
draw_requests (Simulation           *self,
               const QmInferenceJob *job,
               double                per_second,
               guint32               seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  double spread = job->plan->constants->limits.length_spread;
  double at = 0;

  for (guint i = 0; i < self->n; i++)
    {
      Request *request = &self->requests[i];

      at += -log1p (-g_rand_double (rand)) / per_second;
      *request = (Request) { .arrival = at };
      request->prompt = draw_length (rand, job->plan->prompt, spread);
      request->answer = draw_length (rand, job->plan->answer, spread);
      /* A request longer than the whole pool would wait for ever. */
      request->prompt = fmin (request->prompt, floor (self->engine->pool_tokens / 2));
      request->answer = fmin (request->answer, floor (self->engine->pool_tokens / 2));
    }
}

static void
heap_push (Simulation *self,
           guint       request)
{
  guint i = self->running++;

  while (i > 0 && self->ends[self->heap[(i - 1) / 2]] > self->ends[request])
    {
      self->heap[i] = self->heap[(i - 1) / 2];
      i = (i - 1) / 2;
    }
  self->heap[i] = request;
}

static guint
heap_pop (Simulation *self)
{
  guint top = self->heap[0];
  guint moved = self->heap[--self->running];
  guint i = 0;

  for (guint child = 1; child < self->running; child = 2 * i + 1)
    {
      if (child + 1 < self->running && self->ends[self->heap[child + 1]] < self->ends[self->heap[child]])
        child++;
      if (self->ends[self->heap[child]] >= self->ends[moved])
        break;
      self->heap[i] = self->heap[child];
      i = child;
    }
  self->heap[i] = moved;

  return top;
}

static void
admit (Simulation *self)
{
  while (self->arrived < self->n && self->requests[self->arrived].arrival <= self->now)
    self->arrived++;

  while (self->admitted < self->arrived && self->running + (self->admitted - self->read) < self->engine->slots)
    {
      const Request *next = &self->requests[self->admitted];

      if (self->held + next->prompt + next->answer > self->engine->pool_tokens)
        break;
      self->held += next->prompt + next->answer;
      self->admitted++;
    }
}

static void
finish (Simulation *self,
        guint       index)
{
  Request *request = &self->requests[index];

  request->total = self->now - request->arrival;
  self->held -= request->prompt + request->answer;
  self->done++;
}

/* Prompt tokens that the next step reads, and how many prompts that ends. */
static double
next_piece (const Simulation *self,
            guint            *ended,
            double           *partly_read)
{
  double room = self->engine->chunk;

  *ended = 0;
  *partly_read = self->partly_read;
  for (guint i = self->read; i < self->admitted && room > 0; i++)
    {
      double left = self->requests[i].prompt - *partly_read;

      if (left > room)
        {
          *partly_read += room;
          return self->engine->chunk;
        }
      room -= left;
      *partly_read = 0;
      (*ended)++;
    }

  return self->engine->chunk - room;
}

/* How many equal steps may be taken at once: until a sequence ends or, with a
 * slot free, a request arrives. */
static double
steps_ahead (const Simulation *self,
             double            seconds)
{
  double steps = self->running > 0 ? self->ends[self->heap[0]] - self->step : 1;
  double wait;

  if (self->read < self->admitted || self->running == 0)
    return 1;

  if (self->admitted == self->arrived && self->arrived < self->n)
    {
      wait = self->requests[self->arrived].arrival - self->now;
      steps = fmin (steps, fmax (1, ceil (wait / seconds)));
    }

  return fmax (1, steps);
}

static void
start_read (Simulation *self,
            guint       ended)
{
  for (guint last = self->read + ended; self->read < last; self->read++)
    {
      Request *request = &self->requests[self->read];

      request->first = self->now - request->arrival;
      if (request->answer <= 1)
        {
          finish (self, self->read);
          continue;
        }
      self->ends[self->read] = self->step + request->answer - 1;
      self->context += request->prompt + 1;
      heap_push (self, self->read);
    }
}

/* One change of the batch, and the equal steps before it. */
static void
advance (Simulation *self)
{
  const Engine *engine = self->engine;
  double sequences = self->running, partly_read, first, steps, seconds;
  guint ended;
  double fed = next_piece (self, &ended, &partly_read);

  first = batch_seconds (engine, sequences) + engine->per_context_token * self->context + engine->per_prompt_token * fed;
  steps = steps_ahead (self, first);
  seconds = first + engine->per_context_token * sequences * (steps - 1) / 2;

  self->now += steps * seconds;
  self->step += steps;
  self->context += steps * sequences;
  self->partly_read = partly_read;
  if (sequences > 0)
    {
      Sample gap = { seconds, steps * sequences };

      g_array_append_val (self->gaps, gap);
    }

  while (self->running > 0 && self->ends[self->heap[0]] <= self->step)
    {
      guint index = heap_pop (self);

      self->context -= self->requests[index].prompt + self->requests[index].answer;
      finish (self, index);
    }
  start_read (self, ended);
}

/* Runs until @enough requests are answered; later ones only keep up the load. */
static void
run (Simulation *self,
     guint       enough)
{
  self->arrived = self->admitted = self->read = self->running = self->done = 0;
  self->partly_read = self->held = self->context = self->step = self->now = 0;
  g_array_set_size (self->gaps, 0);

  while (self->done < enough)
    {
      admit (self);
      if (self->running == 0 && self->read == self->admitted)
        {
          self->now = self->requests[self->arrived].arrival;
          continue;
        }
      advance (self);
    }
}

static int
compare_samples (gconstpointer a,
                 gconstpointer b)
{
  double x = ((const Sample *) a)->value, y = ((const Sample *) b)->value;

  return (x > y) - (x < y);
}

static double
percentile (GArray *samples,
            double  share)
{
  double sum = 0, below = 0;

  if (samples->len == 0)
    return NAN;

  g_array_sort (samples, compare_samples);
  for (guint i = 0; i < samples->len; i++)
    sum += g_array_index (samples, Sample, i).weight;

  for (guint i = 0; i < samples->len; i++)
    {
      below += g_array_index (samples, Sample, i).weight;
      if (below >= share * sum)
        return g_array_index (samples, Sample, i).value;
    }

  return g_array_index (samples, Sample, samples->len - 1).value;
}

/* The answered requests behind the warm-up. */
static void
read_latency (Simulation *self,
              guint       warm_up,
              QmLatency  *latency)
{
  g_autoptr (GArray) firsts = g_array_sized_new (FALSE, FALSE, sizeof (Sample), self->n);
  g_autoptr (GArray) totals = g_array_sized_new (FALSE, FALSE, sizeof (Sample), self->n);

  for (guint i = warm_up; i < self->read; i++)
    {
      Sample first = { self->requests[i].first, 1 };
      Sample total = { self->requests[i].total, 1 };

      g_array_append_val (firsts, first);
      if (total.value > 0)
        g_array_append_val (totals, total);
    }

  latency->first_token_p50_seconds = percentile (firsts, 0.5);
  latency->first_token_p99_seconds = percentile (firsts, 0.99);
  latency->request_p50_seconds = percentile (totals, 0.5);
  latency->request_p99_seconds = percentile (totals, 0.99);
  latency->token_p50_seconds = percentile (self->gaps, 0.5);
  latency->token_p99_seconds = percentile (self->gaps, 0.99);
}

/* The run in the middle, by what is worst in a hundred requests. */
static void
pick_median (const QmLatency *runs,
             QmLatency       *latency)
{
  int middle = 0;
  double sum = 0, squares = 0, mean;

  for (int i = 0; i < N_RUNS; i++)
    {
      int below = 0;

      for (int j = 0; j < N_RUNS; j++)
        below += runs[j].request_p99_seconds < runs[i].request_p99_seconds ||
                 (runs[j].request_p99_seconds == runs[i].request_p99_seconds && j < i);
      if (below == N_RUNS / 2)
        middle = i;
      sum += runs[i].request_p99_seconds;
    }

  mean = sum / N_RUNS;
  for (int i = 0; i < N_RUNS; i++)
    squares += (runs[i].request_p99_seconds - mean) * (runs[i].request_p99_seconds - mean);

  *latency = runs[middle];
  latency->relative_error = sqrt (squares / (N_RUNS - 1)) / mean;
}

static void
simulation_init (Simulation   *self,
                 const Engine *engine,
                 guint         n)
{
  *self = (Simulation) { .engine = engine, .n = n };
  self->requests = g_new0 (Request, n);
  self->heap = g_new (guint, n);
  self->ends = g_new (double, n);
  self->gaps = g_array_sized_new (FALSE, FALSE, sizeof (Sample), 4 * n);
}

static void
simulation_clear (Simulation *self)
{
  g_free (self->requests);
  g_free (self->heap);
  g_free (self->ends);
  g_array_unref (self->gaps);
}

/* Requests per second of an engine that is never idle: as many sequences as
 * slots, pool and the reading of prompts let run, each step with its share of
 * new prompts. A running answer is longer than the mean one, since long ones
 * run longer. */
static double
capacity (const Engine         *engine,
          const QmInferenceJob *job)
{
  double prompt = job->plan->prompt, answer = job->plan->answer;
  double spread = job->plan->constants->limits.length_spread;
  double sequences = fmin (fmin (engine->slots, engine->pool_tokens / (prompt + answer)), engine->chunk * answer / prompt);
  double context = prompt + answer / 2 * exp (spread * spread);
  double seconds = batch_seconds (engine, sequences) + engine->per_context_token * sequences * context +
                   engine->per_prompt_token * prompt * sequences / answer;

  return sequences / answer / seconds;
}

/**
 * qm_llm_inference_simulate:
 * @self: a predictor
 * @device: what the job runs on
 * @configuration: how it is split
 * @requests_per_second: that come at the busiest time, whole job
 * @requests: how many to answer in each run, at least 100
 * @seed: of the random numbers: the same seed gives the same result
 *
 * Simulates continuous batching on one replica: arrivals at random, lengths
 * log-normal around the plan's, chunked reading of prompts, admission by free
 * slots and free cache. Three runs; the first tenth of each is left out.
 *
 * Returns: medians and 99th percentiles of what a request waits for its first
 *   token, between tokens, and in all
 */
QmLatency
qm_llm_inference_simulate (const QmLlmInference  *self,
                           const QmDevice        *device,
                           const QmConfiguration *configuration,
                           double                 requests_per_second,
                           guint                  requests,
                           guint32                seed)
{
  QmLatency latency = { NAN, NAN, NAN, NAN, NAN, NAN, NAN, TRUE };
  QmLatency runs[N_RUNS] = { 0 };
  guint enough = CLAMP (requests, 100, 1000000);
  guint warm_up;
  Engine engine;
  QmInferenceJob job;
  Simulation simulation;
  double rate;

  qm_inference_job_init (&job, self, device, -1, configuration);
  engine_init (&engine, &job);
  rate = requests_per_second / job.data;
  if (!(engine.pool_tokens >= self->prompt + self->answer))
    return latency;

  latency.saturated = FALSE;
  if (!(rate > 0) || isinf (rate))
    return latency;

  warm_up = (guint) (enough * self->constants->limits.warm_up);
  simulation_init (&simulation, &engine, enough + enough / 5);
  for (int i = 0; i < N_RUNS; i++)
    {
      draw_requests (&simulation, &job, rate, seed + i);
      run (&simulation, enough);
      read_latency (&simulation, warm_up, &runs[i]);
    }
  pick_median (runs, &latency);
  latency.saturated = rate > capacity (&engine, &job);
  simulation_clear (&simulation);

  return latency;
}
