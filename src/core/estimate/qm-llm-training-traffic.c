/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-llm-training-private.h"

#include <math.h>
#include <string.h>

static const char *const network_kinds[] = {
  "infiniband-", "roce-", "ethernet-", "efa-", "omnipath-", "omni-path-", "network-", "rdma-",
};

/* Bytes per second and device of the network that the configuration names;
 * @otherwise where it gives no figure. The figure is Gbit/s of a machine. */
static double
stated_network (const QmLlmJob *job,
                double          otherwise)
{
  const char *words = job->given->interconnect;
  double devices = job->nodes > 0 ? fmax (1, job->devices / job->nodes) : job->plan->constants->link.domain;

  for (gsize i = 0; i < G_N_ELEMENTS (network_kinds); i++)
    {
      const char *found = strstr (words, network_kinds[i]);
      double gigabits = found != NULL ? g_ascii_strtod (found + strlen (network_kinds[i]), NULL) : 0;

      if (gigabits > 0)
        return gigabits / 8 / devices * 1e9;
    }

  return otherwise;
}

static QmLlmLinks
slice_links (const QmLlmJob *job)
{
  const QmLlmLinkConstants *k = &job->plan->constants->link;
  const QmDevice *device = job->device;
  double fabric = device->link_bytes_per_second > 0 ? device->link_bytes_per_second : k->unknown_fabric * 1e9;
  int slices = MAX (1, job->given->slices);

  return (QmLlmLinks) {
    .inside = k->fast * fabric / 2,
    .domain = floor (job->devices / slices),
    .between = 1e9 * (device->vendor == QM_VENDOR_GOOGLE ? k->nic_dcn : k->nic_efa_trainium),
  };
}

/* Whether the devices of a machine reach each other by a fabric of their own. A
 * bridge joins two cards, and is there where the plan says so: servers of such
 * cards usually have it. */
static gboolean
has_fabric (const QmLlmJob *job)
{
  const QmLlmLinkConstants *k = &job->plan->constants->link;
  const QmDevice *device = job->device;
  double cards = job->nodes > 0 ? job->devices / job->nodes : job->devices;

  if (!(device->link_bytes_per_second > 0))
    return FALSE;
  if (device->link_type == NULL || strstr (device->link_type, "bridge") == NULL || strstr (job->given->interconnect, "nvlink") != NULL)
    return TRUE;

  return cards <= k->bridge_cards && (device->device_class == QM_DEVICE_CLASS_DATACENTER || k->bridge_unstated > 0);
}

/**
 * qm_llm_links:
 * @job: a job
 *
 * Returns: what collectives reach in and between fast domains: the fabric of
 *   the device or PCIe, and the network that the configuration names or the
 *   usual one
 */
QmLlmLinks
qm_llm_links (const QmLlmJob *job)
{
  const QmLlmLinkConstants *k = &job->plan->constants->link;
  const QmDevice *device = job->device;
  const char *interconnect = job->given->interconnect;
  double pcie = 1e9 * k->pcie * (device->pcie_generation >= 5 ? k->pcie5 : k->pcie4);
  double network = job->family->nic;
  QmLlmLinks links;

  if (device->vendor == QM_VENDOR_GOOGLE || device->vendor == QM_VENDOR_AWS)
    return slice_links (job);

  if (device->device_class == QM_DEVICE_CLASS_CONSUMER)
    pcie *= k->staged;
  links.inside = has_fabric (job) ? k->fast * device->link_bytes_per_second / 2 : pcie;
  links.domain = job->family->domain;
  if (interconnect[0] != '\0')
    {
      network = stated_network (job, network);
      if (strstr (interconnect, "nvl72") != NULL)
        links.domain = 72;
      if (strstr (interconnect, "tcpx") != NULL)
        network = k->nic_tcpx * 1e9;
    }
  links.between = k->slow * network;

  return links;
}

/* All-reduces of a layer's activations, four a pass forward and back and more
 * with what is computed again. Beyond a domain its devices sum inside first, then
 * each sends its part by its own adapter: one after the other, since a layer waits. */
static double
tensor_seconds (const QmLlmJob   *job,
                const QmLlmLinks *links)
{
  const QmLlmRateConstants *k = &job->plan->constants->rate;
  const QmLlmShape *s = &job->plan->shape;
  double exposed = job->stack == QM_LLM_STACK_MEGATRON ? k->tensor_exposed_megatron : k->tensor_exposed_other;
  double inside = fmin (job->tensor, links->domain);
  double domains = job->tensor / inside;
  double passes = 4;

  if (job->plan->probe)
    passes = 2;
  else if (job->checkpointing == QM_CHECKPOINTING_SELECTIVE)
    passes = 5;
  else if (job->checkpointing == QM_CHECKPOINTING_FULL)
    passes = 6;

  return exposed * s->layers / job->pipeline * passes * 2 * job->tokens * s->hidden *
         ((inside - 1) / inside / links->inside + (domains - 1) / domains / inside / links->between);
}

/* The ring of keys and values of a split sequence. */
static double
context_seconds (const QmLlmJob   *job,
                 const QmLlmLinks *links)
{
  const QmLlmRateConstants *k = &job->plan->constants->rate;
  const QmLlmShape *s = &job->plan->shape;
  double bytes = 4 * s->key * job->tokens * (job->context - 1) / job->tensor;
  double link = job->tensor * job->context <= links->domain ? links->inside : links->between;

  return k->context_exposed * s->layers / job->pipeline * 3 * bytes / link;
}

/* Two all-to-alls each way; a token crosses once to a domain, whatever the
 * number of its experts there. */
static double
expert_seconds (const QmLlmJob   *job,
                const QmLlmLinks *links)
{
  const QmLlmRateConstants *k = &job->plan->constants->rate;
  const QmLlmShape *s = &job->plan->shape;
  double ranks = job->expert * job->tensor;
  double outside = (ranks - fmin (links->domain, ranks)) / ranks;
  double once = fmin (1, ceil (ranks / links->domain) / s->experts_per_token);
  double bytes = 4 * s->experts_per_token * job->tokens * s->hidden * 2 / job->tensor * s->layers / job->pipeline;

  return k->expert_exposed * bytes * fmax ((1 - outside) / links->inside, outside * once / links->between);
}

/**
 * qm_llm_model_parallel_seconds:
 * @job: a job
 * @links: its links
 *
 * Returns: time of tensor-, context- and expert-parallel collectives of one
 *   micro-batch that no computation hides
 */
double
qm_llm_model_parallel_seconds (const QmLlmJob   *job,
                               const QmLlmLinks *links)
{
  double seconds = 0;

  if (job->tensor > 1)
    seconds += tensor_seconds (job, links);
  if (job->context > 1)
    seconds += context_seconds (job, links);
  if (job->expert > 1 && job->plan->shape.moe)
    seconds += expert_seconds (job, links);

  return seconds;
}

/* A gather or reduce-scatter over all replicas: the parts inside and between
 * the domains overlap, so the slower one counts. */
static double
collective_seconds (const QmLlmLinks *links,
                    double            replicas,
                    double            inside,
                    double            bytes)
{
  double domains = fmax (1, replicas / inside);

  return fmax ((inside - 1) / inside * bytes / links->inside,
               (domains - 1) / domains * bytes / inside / links->between);
}

static double
hybrid_seconds (const QmLlmJob   *job,
                const QmLlmLinks *links,
                double            replicas,
                double            weights,
                double            gradients)
{
  double group = fmin (job->shards, replicas);
  gboolean is_inside = group <= links->domain || job->device->vendor == QM_VENDOR_GOOGLE;
  double link = is_inside ? links->inside : links->between;

  return job->accumulation * (2 * weights + gradients) * (group - 1) / group / link +
         2 * gradients / group * (1 - group / replicas) / links->between;
}

/* Experts reduce in a group of their own, mostly between the domains:
 * gradients one way, 16-bit weights the other. */
static double
mixture_seconds (const QmLlmJob   *job,
                 const QmLlmLinks *links,
                 double            replicas,
                 double            inside,
                 double            local)
{
  double experts = job->plan->shape.expert_parameters / (job->pipeline * job->expert);
  double bytes = job->stack == QM_LLM_STACK_MEGATRON ? 6 : 4;
  double group = fmax (1, replicas / job->expert);
  double near = fmax (1, floor (links->domain / (job->tensor * job->expert)));
  double between = 0;

  if (group > near)
    between = (group / near - 1) / fmax (1, group / near) / near / links->between;

  return bytes / 2 * collective_seconds (links, replicas, inside, 2 * (local - experts)) +
         bytes * experts * fmax ((near - 1) / near / links->inside, between);
}

static double
gathered_bytes_per_weight (const QmLlmTraining *plan)
{
  /* 4.4 bit: the quantised matrices and the 16-bit embeddings together */
  if (plan->training.method == QM_METHOD_QLORA)
    return 0.55;

  return plan->fp8_frozen ? 1 : 2;
}

/**
 * qm_llm_reduced_parameters:
 * @job: a job
 *
 * Returns: parameters whose gradients a device reduces, the mean over the
 *   stages; without expert parallelism tensor parallelism splits experts too
 */
double
qm_llm_reduced_parameters (const QmLlmJob *job)
{
  const QmLlmShape *s = &job->plan->shape;
  double ranks = job->expert > 1 ? job->expert : job->tensor;

  return (s->parameters - s->expert_parameters) / (job->tensor * job->pipeline) +
         s->expert_parameters / (job->pipeline * ranks);
}

/**
 * qm_llm_data_parallel_seconds:
 * @job: a job
 * @links: its links
 *
 * Returns: time that the collectives of one step over the replicas take, hidden
 *   or not: two gathers of weights and a reduce-scatter per micro-batch where
 *   weights are split, one all-reduce of the gradients else
 */
double
qm_llm_data_parallel_seconds (const QmLlmJob   *job,
                              const QmLlmLinks *links)
{
  const QmLlmTraining *plan = job->plan;
  double replicas = job->data * job->context;
  double local = qm_llm_reduced_parameters (job);
  double weights = local * gathered_bytes_per_weight (plan);
  double gradients = 2 * (plan->frozen ? plan->trainable : local);
  double inside = job->tensor <= links->domain ? floor (links->domain / job->tensor) : 1;
  gboolean fp8 = qm_llm_native_precision (job->device, plan->training.precision) == QM_PRECISION_FP8 && job->stack == QM_LLM_STACK_MEGATRON && job->sharding == QM_SHARDING_ZERO1;
  double gathered = fp8 && !plan->frozen ? plan->constants->link.fp8_gather : 2;

  if (replicas <= 1)
    return 0;

  inside = fmax (1, fmin (replicas, inside));
  if (job->sharding == QM_SHARDING_ZERO3)
    return job->accumulation * (2 * collective_seconds (links, replicas, inside, weights) +
                                collective_seconds (links, replicas, inside, gradients));

  if (job->sharding == QM_SHARDING_HYBRID)
    return hybrid_seconds (job, links, replicas, weights, gradients);

  if (plan->shape.moe && job->expert > 1 && !plan->frozen)
    return mixture_seconds (job, links, replicas, inside, local);

  /* gradients one way, weights the other */
  return collective_seconds (links, replicas, inside, gradients * (1 + gathered / 2));
}
