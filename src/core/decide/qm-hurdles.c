/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "decide/qm-hurdles.h"

#include <glib/gi18n.h>
#include <math.h>

/* NVIDIA's software keeps up with Turing and later. */
#define OLD_COMPUTE_CAPABILITY 7.5

/* Accelerators of a whole board, and what several such machines weigh beside as
 * many of another kind. */
#define WHOLE_BOARD 8
#define SHARE_OF_BOARDS 0.4

typedef struct {
  gsize weight;                     /* offset in QmEconomics */
  const char *code;                 /* NULL: it ranks, but is not worth a sentence */
  const char *title;
  const char *detail;
  const char *brief;
} Hurdle;

#define WEIGHT(name) .weight = G_STRUCT_OFFSET (QmEconomics, name)

static const Hurdle hurdles[QM_N_HURDLES] = {
  [QM_HURDLE_DEVICES] = { WEIGHT (hurdle_devices), "several-devices", N_("Several devices share the work"),
    N_("The program must be started for all of them; if one fails, all stop."), N_("several devices to set up") },
  [QM_HURDLE_MACHINES] = { WEIGHT (hurdle_machines), "several-machines", N_("Several machines share the work"),
    N_("They need a fast network, a launcher and the data on each of them."), N_("several machines to set up") },
  [QM_HURDLE_REPLICAS] = { WEIGHT (hurdle_replicas), NULL, NULL, NULL, NULL },
  [QM_HURDLE_STACK] = { WEIGHT (hurdle_stack), "other-stack", N_("It runs {needs} instead of CUDA"),
    N_("Most recipes work on it; some need another build or do without a fast path."), N_("{needs} instead of CUDA") },
  [QM_HURDLE_FRAMEWORK] = { WEIGHT (hurdle_framework), "other-framework", N_("Your code must be ported to {needs}"),
    N_("PyTorch code for GPUs does not run on it as it is: count days of work."), N_("to be ported to {needs}") },
  [QM_HURDLE_OLD] = { WEIGHT (hurdle_old), "old-device", N_("Support of this card is ending"),
    N_("New releases of the libraries leave its generation out."), N_("support is ending") },
  [QM_HURDLE_ARM_HOST] = { WEIGHT (hurdle_arm_host), "arm-host", N_("The machine around it has an ARM processor"),
    N_("Some packages and containers exist for x86 only."), N_("ARM processor") },
  [QM_HURDLE_SPOT] = { WEIGHT (hurdle_spot), NULL, NULL, NULL, N_("may be taken away") },
  [QM_HURDLE_MARKETPLACE] = { WEIGHT (hurdle_marketplace), "marketplace", N_("It is a stranger’s computer"),
    N_("Marketplaces rent out private machines: keep confidential data away, and copies of your results elsewhere."),
    N_("a stranger’s machine") },
  [QM_HURDLE_PER_GPU] = { WEIGHT (hurdle_marketplace), "per-gpu-price", N_("The price is of one GPU of a larger machine"),
    N_("Ask the provider whether one is sold alone."), N_("sold by the GPU") },
  [QM_HURDLE_SMALL_PROVIDER] = { WEIGHT (hurdle_small_provider), "small-provider", N_("A smaller provider rents it out"),
    N_("It has fewer regions and machines than the large clouds: look whether one is free."), N_("small provider") },
  [QM_HURDLE_PURCHASE] = { WEIGHT (hurdle_purchase), "to-be-bought", N_("It must be bought first"),
    N_("Ordering it and building it in take days; afterwards it stays, or can be sold."), N_("to be bought first") },
  [QM_HURDLE_HOME_SERVICE] = { WEIGHT (hurdle_home_service), "home-service", N_("You would keep it running yourself"),
    N_("People depend on a service day and night: power, network and repairs are yours."), N_("yours to keep running") },
  [QM_HURDLE_UNRELIABLE_SERVICE] = { WEIGHT (hurdle_unreliable_service), "unreliable-service",
    N_("People would depend on a machine that may vanish"),
    N_("Keep a second one elsewhere, or pay for one that stays."), N_("may vanish under a service") },
  [QM_HURDLE_GPU_SERVICE] = { WEIGHT (hurdle_gpu_service), NULL, NULL, NULL, NULL },
  [QM_HURDLE_GPU_TABLE] = { WEIGHT (hurdle_gpu_table), "gpu-for-tables", N_("A GPU is to be set up"),
    N_("Processors train trees of this size quickly, with nothing to set up."), N_("a GPU to set up") },
  [QM_HURDLE_OFFLOAD] = { WEIGHT (hurdle_offload), "offload", N_("A part waits in system memory"),
    N_("It fits only by moving data over the bus in each step, which is slow."), N_("a part in system memory") },
  [QM_HURDLE_LATE] = { WEIGHT (hurdle_late), "late-answers", N_("Answers take longer than people usually wait"),
    N_("Nobody is turned away, but who waits for the end of an answer needs patience."), N_("slow answers") },
  [QM_HURDLE_TIGHT] = { WEIGHT (hurdle_tight), "tight", N_("It fits, but less memory stays free than you ask for"),
    N_("Nothing else that fits keeps your limits. What no estimate foresees may end it: try it before you count on it."),
    N_("hardly any memory to spare") },
  [QM_HURDLE_THERE] = { WEIGHT (hurdle_there), NULL, NULL, NULL, NULL },
};

static double
weight_of (const QmEconomics *economics,
           QmHurdle           hurdle)
{
  return G_STRUCT_MEMBER (double, economics, hurdles[hurdle].weight);
}

static guint
of_device (const QmJob       *job,
           const QmPlacement *placement,
           const QmRecipe    *recipe)
{
  const QmDevice *device = &placement->device;
  gboolean cpu = device->device_class == QM_DEVICE_CLASS_CPU;
  guint set = 0;

  if (placement->per_machine > 1)
    set |= 1u << QM_HURDLE_DEVICES;
  if (recipe->stack.needs != NULL)
    set |= 1u << (device->device_class == QM_DEVICE_CLASS_TPU || device->device_class == QM_DEVICE_CLASS_NPU
                    ? QM_HURDLE_FRAMEWORK : QM_HURDLE_STACK);
  if (device->vendor == QM_VENDOR_NVIDIA && device->compute_capability < OLD_COMPUTE_CAPABILITY)
    set |= 1u << QM_HURDLE_OLD;
  if (!cpu && g_strcmp0 (device->host_arch, "arm64") == 0)
    set |= 1u << QM_HURDLE_ARM_HOST;
  if (!cpu && job->plan->task == QM_TASK_TABULAR)
    set |= 1u << QM_HURDLE_GPU_TABLE;
  if (!cpu && job->serving)
    set |= 1u << QM_HURDLE_GPU_SERVICE;

  return set;
}

static guint
of_offer (const QmJob   *job,
          const QmOffer *offer)
{
  guint set = 0;

  if (offer == NULL)
    return 0;

  if (!qm_economics_is_large_provider (job->economics, offer->provider))
    set |= 1u << QM_HURDLE_SMALL_PROVIDER;
  if (g_strcmp0 (offer->kind, "marketplace") == 0)
    set |= 1u << QM_HURDLE_MARKETPLACE;
  /* A price per GPU may be of a machine that holds more of them. */
  if (g_strcmp0 (offer->kind, "per-gpu") == 0)
    set |= 1u << QM_HURDLE_PER_GPU;

  return set;
}

static guint
of_terms (const QmJob       *job,
          const QmPlacement *placement)
{
  guint set = of_offer (job, placement->offer);
  gboolean spot = placement->pricing == QM_PRICING_SPOT;

  /* A prototype has no users who would miss it. */
  if (job->serving && job->plan->stage != QM_STAGE_PROTOTYPE && (spot || (set & (1u << QM_HURDLE_MARKETPLACE)) != 0))
    set |= 1u << QM_HURDLE_UNRELIABLE_SERVICE;
  if (spot)
    set |= 1u << QM_HURDLE_SPOT;
  if (placement->pricing == QM_PRICING_PURCHASE)
    set |= 1u << QM_HURDLE_PURCHASE | (job->serving ? 1u << QM_HURDLE_HOME_SERVICE : 0);
  if (placement->place == QM_PLACE_THIS_COMPUTER || placement->place == QM_PLACE_OWNED)
    set |= 1u << QM_HURDLE_THERE;

  return set;
}

/* How many times longer the slowest answers take than people usually wait. Who
 * gave a limit has it kept instead. */
static double
lateness (const QmJob      *job,
          const QmSolution *solution)
{
  double usual = job->plan->serving.latency_p99_seconds;

  if (!job->serving || job->resolved->given->serving.latency_p99_seconds > 0 || !(usual > 0))
    return 1;

  return solution->latency_p99_seconds / usual;
}

/* How often the weight counts: those of counts once for every doubling. */
static double
times (QmHurdle           hurdle,
       const QmJob       *job,
       const QmPlacement *placement,
       const QmSolution  *solution)
{
  switch (hurdle)
    {
    case QM_HURDLE_DEVICES:
      return log2 (placement->per_machine);
    case QM_HURDLE_MACHINES:
      /* Whole boards come with the network that single cards lack. */
      return log2 (solution->machines) * (placement->per_machine >= WHOLE_BOARD ? SHARE_OF_BOARDS : 1);
    case QM_HURDLE_REPLICAS:
      return log2 (solution->machines);
    case QM_HURDLE_SPOT:
      /* All of them must be there at once, and one that goes stops the rest. */
      return 1 + log2 (MAX (solution->machines, (double) placement->per_machine * solution->machines / WHOLE_BOARD));
    case QM_HURDLE_LATE:
      return log2 (lateness (job, solution));
    default:
      return 1;
    }
}

/**
 * qm_hurdles_weigh:
 * @job: a job
 * @placement: a machine and its terms
 * @recipe: how the job is done
 * @solution: on how many machines
 * @set: (out): the hurdles there are, bits 1 << #QmHurdle
 *
 * Returns: how hard it is to set up and keep, in natural logarithms of money
 */
double
qm_hurdles_weigh (const QmJob       *job,
                  const QmPlacement *placement,
                  const QmRecipe    *recipe,
                  const QmSolution  *solution,
                  guint             *set)
{
  const QmOutline *outline = &solution->outline;
  double sum = 0;

  *set = of_device (job, placement, recipe) | of_terms (job, placement);
  if (solution->machines > 1)
    *set |= 1u << (job->serving ? QM_HURDLE_REPLICAS : QM_HURDLE_MACHINES);
  if (solution->offload > QM_OFFLOAD_NONE)
    *set |= 1u << QM_HURDLE_OFFLOAD;
  if (lateness (job, solution) > 1)
    *set |= 1u << QM_HURDLE_LATE;
  if (outline->need_bytes > (1 - qm_plan_get_headroom (job->plan)) * outline->usable_bytes)
    *set |= 1u << QM_HURDLE_TIGHT;

  for (int i = 0; i < QM_N_HURDLES; i++)
    if (*set & (1u << i))
      sum += weight_of (job->economics, i) * times (i, job, placement, solution);

  return sum;
}

static int
heaviest (guint              set,
          const QmEconomics *economics)
{
  int found = -1;

  for (int i = 0; i < QM_N_HURDLES; i++)
    if ((set & (1u << i)) != 0 && hurdles[i].title != NULL &&
        (found < 0 || weight_of (economics, i) > weight_of (economics, found)))
      found = i;

  return found;
}

/**
 * qm_hurdles_explain:
 * @set: bits 1 << #QmHurdle
 * @needs: (nullable): the software that takes the place of CUDA, a proper name
 * @economics: what they weigh
 * @most: how many to say at most
 *
 * Returns: (transfer full) (element-type QmMessage): what to mind, the
 *   heaviest first
 */
GPtrArray *
qm_hurdles_explain (guint              set,
                    const char        *needs,
                    const QmEconomics *economics,
                    guint              most)
{
  GPtrArray *messages = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_message_free);
  int next;

  /* One warning of a machine that vanishes is enough. */
  if (set & (1u << QM_HURDLE_UNRELIABLE_SERVICE))
    set &= ~(1u << QM_HURDLE_MARKETPLACE);

  while (messages->len < most && (next = heaviest (set, economics)) >= 0)
    {
      QmMessage *message = qm_message_new (hurdles[next].code, hurdles[next].title);

      qm_message_set_detail (message, hurdles[next].detail);
      qm_message_add_text (message, "needs", QM_ARGUMENT_NAME, needs != NULL ? needs : "");
      g_ptr_array_add (messages, message);
      set &= ~(1u << next);
    }

  return messages;
}

/**
 * qm_hurdles_brief:
 * @set: bits 1 << #QmHurdle
 * @economics: what they weigh
 *
 * Returns: (nullable): the heaviest in a few words, which may have the place
 *   {needs}; %NULL where there is none to mention
 */
const char *
qm_hurdles_brief (guint              set,
                  const QmEconomics *economics)
{
  int found = -1;

  for (int i = 0; i < QM_N_HURDLES; i++)
    if ((set & (1u << i)) != 0 && hurdles[i].brief != NULL &&
        (found < 0 || weight_of (economics, i) > weight_of (economics, found)))
      found = i;

  return found >= 0 ? hurdles[found].brief : NULL;
}
