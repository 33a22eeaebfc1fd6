/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-other-domains-private.h"

#include "estimate/qm-rules.h"

/* Bytes of a number. */
#define FULL 4.0
#define HALF 2.0

/* Cross-attention keeps the encoder's output of every layer; engines for
 * processors bring workspaces of their own. */
static void
store_speech (const QmOtherDomains *self,
              const QmDomainSite   *site,
              double                batch,
              double               *parts)
{
  const QmDomainMemoryConstants *constants = &self->constants->memory;
  const QmDomainFacts *facts = &self->facts;
  double element = self->run_rate == QM_DOMAIN_RATE_FP32 ? FULL : HALF;
  double frames = self->constants->speech.window_frames;
  double beams = self->serving.beam > 0 ? self->serving.beam : 1;
  gboolean files = self->engine_stated && self->engine.sixteen_bit_files;

  if (files)
    parts[QM_MEMORY_WEIGHTS] = qm_domain_parameters (self) * fmin (fmax (0.5, self->weight_bytes), HALF);
  parts[QM_MEMORY_KV_CACHE] = batch * 2 * facts->decoder_layers * facts->hidden * element *
                              (frames + beams * constants->speech_text);
  parts[QM_MEMORY_ACTIVATIONS] = batch * frames * facts->hidden * element * constants->speech_states +
                                 frames * frames * constants->speech_scores * element * fmin (batch, 2);
  parts[QM_MEMORY_WORKSPACE] = constants->speech_workspace;
  if (site->kind != QM_DOMAIN_KIND_CPU)
    return;

  parts[QM_MEMORY_WORKSPACE] = constants->cpu_workspace;
  if (!files)
    parts[QM_MEMORY_ACTIVATIONS] += batch * frames * frames * floor (facts->hidden / constants->speech_head) * element;
}

static void
store_images (const QmOtherDomains *self,
              double                batch,
              double               *parts)
{
  const QmDomainMemoryConstants *constants = &self->constants->memory;
  const QmDomainFacts *facts = &self->facts;
  double size = facts->image_size > 0 ? facts->image_size : 224;
  double tokens = facts->tokens > 0 ? facts->tokens : constants->generation_tokens;
  double hidden = facts->hidden > 0 ? facts->hidden : constants->generation_hidden;

  parts[QM_MEMORY_WEIGHTS] += constants->run_encoders * facts->encoder_parameters * fmax (0.5, self->weight_bytes);
  if (facts->vae_flops > 0)
    parts[QM_MEMORY_ACTIVATIONS] = batch * size * size * constants->vae_channels * HALF * constants->vae_maps;
  else
    parts[QM_MEMORY_ACTIVATIONS] = batch * tokens * hidden * HALF * constants->generation_states;
}

/* Layers of a transformer without a shape: its tokens follow from the FLOPs a
 * parameter, N = 12 L h^2 and A = 13 tokens L h from its blocks. */
static double
transformer_layers (const QmOtherDomains *self,
                    double                activations)
{
  double parameters = qm_domain_parameters (self);
  double tokens = self->facts.flops / (2 * parameters);
  double stacked = activations / (13 * tokens);

  return self->facts.layers > 0 ? self->facts.layers : CLAMP (12 * stacked * stacked / parameters, 4, 64);
}

/* Share of all activations that are there at once: of a network whose maps
 * shrink those of its first layers, of a transformer those of one block. */
static double
alive (const QmOtherDomains *self,
       double                activations)
{
  const QmDomainMemoryConstants *constants = &self->constants->memory;

  if (self->facts.family != QM_FAMILY_TRANSFORMER || !(self->facts.flops > 0) || !(constants->run_block > 0))
    return constants->run_activations;

  return constants->run_block / transformer_layers (self, activations);
}

static void
store_inference (const QmOtherDomains *self,
                 const QmDomainSite   *site,
                 double                batch,
                 double               *parts)
{
  const QmDomainMemoryConstants *constants = &self->constants->memory;
  double element = self->run_rate == QM_DOMAIN_RATE_FP32 ? FULL : HALF;
  double activations = self->facts.activations > 0 ? self->facts.activations : self->constants->usual.activations;

  parts[QM_MEMORY_WEIGHTS] = qm_domain_parameters (self) * fmax (0.5, self->weight_bytes);
  parts[QM_MEMORY_WORKSPACE] = constants->run_workspace;
  if (self->job == QM_DOMAIN_JOB_RUN_GENERATION)
    store_images (self, batch, parts);
  else if (self->job == QM_DOMAIN_JOB_RUN_WHISPER)
    store_speech (self, site, batch, parts);
  else
    parts[QM_MEMORY_ACTIVATIONS] = batch * activations * element * alive (self, activations);
}

static double
sum_of (const double *parts)
{
  double sum = 0;

  for (int i = 0; i < QM_MEMORY_N_PARTS; i++)
    sum += parts[i];

  return sum;
}

static void
add_reserve (const QmOtherDomains *self,
             const QmDomainSite   *site,
             double               *parts)
{
  if (site->kind == QM_DOMAIN_KIND_CPU)
    return;

  parts[QM_MEMORY_CONTEXT] = self->constants->memory.context;
  parts[QM_MEMORY_FRAGMENTATION] = self->constants->memory.fragmentation * parts[QM_MEMORY_ACTIVATIONS];
}

/* Keeps @rows parameters of the embedding tables, beside the dense part. Only
 * the rows a batch touches have gradients. */
static void
place_tables (const QmOtherDomains *self,
              double                rows,
              double               *parts)
{
  double dense = fmin (self->facts.dense_parameters, qm_domain_parameters (self));
  double weight = self->pure_16_bit ? HALF : FULL;

  if (self->job == QM_DOMAIN_JOB_RUN_RECOMMENDER)
    {
      parts[QM_MEMORY_WEIGHTS] = (dense + rows) * fmax (0.5, self->weight_bytes);
      return;
    }

  parts[QM_MEMORY_WEIGHTS] = (dense + rows) * weight;
  parts[QM_MEMORY_GRADIENTS] = dense * weight;
  parts[QM_MEMORY_OPTIMIZER] = (dense + rows) * qm_domain_states_bytes (self);
  parts[QM_MEMORY_COMMUNICATION] = fmin (parts[QM_MEMORY_COMMUNICATION], dense * weight);
}

/* Bytes a parameter of the tables takes on its device. */
static double
row_bytes (const QmOtherDomains *self)
{
  if (self->job == QM_DOMAIN_JOB_RUN_RECOMMENDER)
    return fmax (0.5, self->weight_bytes);

  return (self->pure_16_bit ? HALF : FULL) + qm_domain_states_bytes (self);
}

/* Tables that do not fit whole are spread over the devices; the rows least
 * looked up, for which there is no room then, go to the memory of the machines.
 * Those cost no time as long as all may fit after all. */
static void
relieve (const QmOtherDomains *self,
         const QmDomainSite   *site,
         double                budget,
         QmDomainStore        *store)
{
  gboolean spread = self->trains && self->facts.embedding_features >= self->constants->recommender.spread_from;
  double tables = fmax (0, qm_domain_parameters (self) - self->facts.dense_parameters) / (spread ? site->devices : 1);
  QmDomainStore eased = *store;
  double whole, room;

  eased.spread = TRUE;
  place_tables (self, tables, eased.parts);
  whole = sum_of (eased.parts);
  if (whole > budget)
    {
      place_tables (self, 0, eased.parts);
      room = ((1 - self->headroom) * budget - sum_of (eased.parts)) / row_bytes (self);
      /* not the tables are what is too large */
      if (!(room > 0) || !(tables > 0))
        return;

      room = fmin (room, tables);
      place_tables (self, room, eased.parts);
      eased.tables_on_host = TRUE;
      eased.host_bytes = (tables - room) * row_bytes (self) * (spread ? site->devices / site->nodes : 1);
      if (whole * exp (-QM_NORMAL_P90 * self->constants->sigma.memory) > budget)
        eased.host_share = 1 - room / tables;
    }

  *store = eased;
}

/**
 * qm_domain_store:
 * @self: a job
 * @site: a site
 * @batch: samples per device and micro-step
 * @budget: bytes that one device has for the job; 0 unknown
 * @store: (out caller-allocates): the bytes of one device, by part
 *
 * Sums up weights, gradients, optimizer states, what is kept of the activations
 * and workspaces. Embedding tables above @budget move to the machine's memory.
 */
void
qm_domain_store (const QmOtherDomains *self,
                 const QmDomainSite   *site,
                 double                batch,
                 double                budget,
                 QmDomainStore        *store)
{
  gboolean tables = self->job == QM_DOMAIN_JOB_TRAIN_RECOMMENDER || self->job == QM_DOMAIN_JOB_RUN_RECOMMENDER;

  *store = (QmDomainStore) { 0 };
  if (self->trains)
    qm_domain_store_training (self, site, batch, store->parts);
  else
    store_inference (self, site, batch, store->parts);

  add_reserve (self, site, store->parts);
  if (tables && site->kind != QM_DOMAIN_KIND_CPU && budget > 0 && sum_of (store->parts) > budget)
    relieve (self, site, budget, store);
}

/* All parts are affine in the batch from two samples on. @store is that of @batch. */
static double
largest_batch (const QmOtherDomains *self,
               const QmDomainSite   *site,
               double                batch,
               const QmDomainStore  *store,
               double                budget)
{
  double small = fmax (2, batch);
  QmDomainStore one, two;
  double slope, fixed;

  if (!(budget > 0))
    return 0;

  if (batch < small || store->spread)
    qm_domain_store (self, site, small, 0, &one);
  else
    one = *store;
  qm_domain_store (self, site, 2 * small, 0, &two);
  slope = (sum_of (two.parts) - sum_of (one.parts)) / small;
  fixed = sum_of (one.parts) - slope * small;

  return slope > 0 ? fmax (0, floor ((budget - fixed) / slope)) : 0;
}

/**
 * qm_domain_judge:
 * @self: a job
 * @site: a site
 * @tables_on_host: part of the model lies in the memory of the machine
 * @memory: (inout): whose need is known
 *
 * Compares the need with what the device has.
 */
void
qm_domain_judge (const QmOtherDomains *self,
                 const QmDomainSite   *site,
                 gboolean              tables_on_host,
                 QmMemory             *memory)
{
  double usable = site->device->usable_bytes;
  double need = memory->need.p50;

  memory->capacity_bytes = site->device->memory_bytes;
  memory->usable_bytes = usable;
  memory->verdict = QM_VERDICT_UNKNOWN;
  memory->fits = TRUE;
  memory->fit_probability = NAN;
  if (!(usable > 0))
    return;

  memory->fits = need <= usable;
  memory->fit_probability = qm_range_share_below (memory->need, usable);
  if (need > usable)
    memory->verdict = QM_VERDICT_DOES_NOT_FIT;
  else if (tables_on_host)
    memory->verdict = QM_VERDICT_PARTLY_IN_SYSTEM_MEMORY;
  else if (need <= (1 - self->headroom) * usable)
    memory->verdict = QM_VERDICT_FITS;
  else
    memory->verdict = need <= QM_TIGHT_SHARE * usable ? QM_VERDICT_TIGHT : QM_VERDICT_MAY_FIT;
}

/**
 * qm_domain_fill_memory:
 * @self: a job
 * @site: a site
 * @batch: samples per device and micro-step
 * @store: its bytes
 * @memory: (inout): where they are filled in
 *
 * What a processor needs is memory of its machine: it has none of its own.
 */
void
qm_domain_fill_memory (const QmOtherDomains *self,
                       const QmDomainSite   *site,
                       double                batch,
                       const QmDomainStore  *store,
                       QmMemory             *memory)
{
  const QmDomainSigmas *sigma = &self->constants->sigma;
  double width = QM_NORMAL_P90 * sigma->memory;
  double whole = sum_of (store->parts);
  double allocated = whole - store->parts[QM_MEMORY_CONTEXT] - store->parts[QM_MEMORY_FRAGMENTATION];

  for (int i = 0; i < QM_MEMORY_N_PARTS; i++)
    memory->parts[i] = store->parts[i];

  memory->host_bytes = store->host_bytes;
  if (site->kind == QM_DOMAIN_KIND_CPU)
    {
      memory->host_bytes = whole;
      memory->host = qm_range_log_normal (whole, QM_NORMAL_P90 * sigma->memory_host);
      memory->need = memory->host;
    }
  else
    {
      memory->need = qm_range_log_normal (whole, width);
      memory->device = memory->need;
      memory->allocated = qm_range_log_normal (allocated, width);
      memory->reserved = qm_range_log_normal (allocated + store->parts[QM_MEMORY_FRAGMENTATION], width);
    }

  if (self->shape.parameters > 0 || self->facts.parameters > 0)
    {
      memory->quick_bytes = qm_rule_quick_bytes (qm_domain_parameters (self));
      memory->basic_bytes = qm_rule_basic_bytes (qm_domain_parameters (self));
    }

  qm_domain_judge (self, site, store->tables_on_host, memory);
  if (self->trains)
    memory->largest_micro_batch = largest_batch (self, site, batch, store, (1 - self->headroom) * memory->usable_bytes);
  memory->state = qm_domain_memory_state (self, site);
}

/**
 * qm_domain_outline_memory:
 * @self: a job
 * @site: a site
 * @batch: samples per device and micro-step
 * @store: its bytes
 * @outline: (inout): where they are filled in, as qm_domain_fill_memory() does
 */
void
qm_domain_outline_memory (const QmOtherDomains *self,
                          const QmDomainSite   *site,
                          double                batch,
                          const QmDomainStore  *store,
                          QmOutline            *outline)
{
  const QmDomainSigmas *sigma = &self->constants->sigma;
  gboolean cpu = site->kind == QM_DOMAIN_KIND_CPU;
  double budget = (1 - self->headroom) * site->device->usable_bytes;

  outline->need_bytes = sum_of (store->parts);
  outline->need_width = QM_NORMAL_P90 * (cpu ? sigma->memory_host : sigma->memory);
  outline->host_bytes = cpu ? outline->need_bytes : store->host_bytes;
  outline->usable_bytes = site->device->usable_bytes;
  if (self->trains && outline->need_bytes <= budget)
    outline->largest_micro_batch = largest_batch (self, site, batch, store, budget);
}
