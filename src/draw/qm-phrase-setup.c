/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "draw/qm-phrases.h"
#include "qm-chart-private.h"
#include "qm-enum.h"
#include "qm-enum-types.h"

/* The bits that a format has in its name, e.g. 4 of "gguf-q4_k_m", 16 of "bf16"; 0
 * where there are none. */
static int
bits_in_name (const char *format)
{
  const char *rest = strrchr (format, '-');

  rest = rest != NULL ? rest + 1 : format;
  while (*rest != '\0' && !g_ascii_isdigit (*rest))
    rest++;

  return (int) g_ascii_strtoll (rest, NULL, 10);
}

/* "4-bit (nf4)" */
static char *
format_of (const QmWords *words,
           const char    *format)
{
  g_autofree char *bits = qm_format_count (words, bits_in_name (format));

  if (format[0] == '\0')
    return NULL;
  if (bits_in_name (format) == 0)
    return g_strdup (format);

  /* Translators: how long numbers are, and the name of the format: "4-bit (nf4)" */
  return qm_fill (words->translate (N_("{bits}-bit ({format})")), "bits", bits, "format", format, NULL);
}

/* Of numbers as they are computed with: "bf16" of "amp-bf16". */
static const char *
precision_name (QmPrecision precision)
{
  const char *word = qm_enum_to_word (QM_TYPE_PRECISION, precision);

  return g_str_has_prefix (word, "amp-") ? word + strlen ("amp-") : word;
}

static gboolean
trains_adapters (const QmEstimate *estimate)
{
  return estimate->training.method == QM_METHOD_LORA || estimate->training.method == QM_METHOD_QLORA;
}

/* What the weights are stored in: of adapters those beneath them. */
static const char *
format_name (const QmPlan     *plan,
             const QmEstimate *estimate)
{
  if (!qm_plan_is_training (plan))
    return estimate->serving_plan.weights;
  if (estimate->training.method == QM_METHOD_QLORA && estimate->training.base_weights[0] == '\0')
    return "nf4";
  if (trains_adapters (estimate) && estimate->training.base_weights[0] != '\0')
    return estimate->training.base_weights;

  return estimate->training.precision != QM_PRECISION_UNSET ? precision_name (estimate->training.precision) : "";
}

/**
 * qm_phrase_format:
 * @words: the reader's language
 * @plan: the plan
 * @estimate: of it on some hardware
 *
 * Returns: (transfer full) (nullable): the number format of the weights, with its
 *   bits; %NULL where there are no weights or it is not known
 */
char *
qm_phrase_format (const QmWords    *words,
                  const QmPlan     *plan,
                  const QmEstimate *estimate)
{
  return plan->task == QM_TASK_TABULAR ? NULL : format_of (words, format_name (plan, estimate));
}

static void
add (GString *text,
     char    *part)
{
  if (part != NULL && part[0] != '\0')
    g_string_append_printf (text, "%s%s", text->len > 0 ? " · " : "", part);
  g_free (part);
}

static char *
phrase_weights (const QmWords    *words,
                const QmPlan     *plan,
                const QmEstimate *estimate)
{
  g_autofree char *format = qm_phrase_format (words, plan, estimate);
  const char *pattern;

  if (format == NULL)
    return NULL;

  if (!qm_plan_is_training (plan))
    pattern = N_("Weights {format}");
  else if (trains_adapters (estimate))
    pattern = N_("Adapters on {format} weights");
  else
    pattern = N_("Computed in {format}");

  return qm_fill (words->translate (pattern), "format", format, NULL);
}

static char *
phrase_batch (const QmWords    *words,
              const QmEstimate *estimate)
{
  const QmConfiguration *configuration = &estimate->configuration;
  g_autofree char *micro = qm_format_count (words, configuration->micro_batch);
  g_autofree char *steps = qm_format_count (words, configuration->gradient_accumulation);

  if (!(configuration->micro_batch > 0))
    return NULL;

  return qm_fill (words->translate (configuration->gradient_accumulation > 1 ? N_("{micro} at a time, {steps} such steps for one update")
                                                                             : N_("{micro} at a time")),
                  "micro", micro, "steps", steps, NULL);
}

static const char *
phrase_offload (QmOffload offload)
{
  switch (offload)
    {
    case QM_OFFLOAD_OPTIMIZER_CPU:
      return N_("optimizer in system memory");
    case QM_OFFLOAD_CPU:
      return N_("weights and optimizer in system memory");
    case QM_OFFLOAD_NVME:
      return N_("weights and optimizer on the drive");
    case QM_OFFLOAD_UNSET:
    case QM_OFFLOAD_NONE:
    default:
      return NULL;
    }
}

/* Of llama.cpp: the rest is the processor's. */
static char *
phrase_layers (const QmWords         *words,
               const QmConfiguration *configuration)
{
  g_autofree char *layers = qm_format_count (words, MAX (0, configuration->gpu_layers));
  g_autofree char *experts = qm_format_count (words, configuration->cpu_expert_layers);

  if (configuration->cpu_expert_layers > 0)
    return qm_fill (words->translate (N_("experts of {n} layers in system memory (--n-cpu-moe {n})")), "n", experts, NULL);
  if (configuration->gpu_layers >= 0)
    return qm_fill (words->translate (N_("{n} layers on the GPU (-ngl {n})")), "n", layers, NULL);

  return NULL;
}

/**
 * qm_phrase_setup:
 * @words: the reader's language
 * @plan: the plan
 * @estimate: of it on some hardware
 *
 * What tells the configuration from others on the same hardware: the number format,
 * the batch, what is computed again and what waits elsewhere.
 *
 * Returns: (transfer full) (nullable): it in a line; %NULL where there is nothing to
 *   tell
 */
char *
qm_phrase_setup (const QmWords    *words,
                 const QmPlan     *plan,
                 const QmEstimate *estimate)
{
  g_autoptr (GString) text = g_string_new (NULL);
  const char *offload = phrase_offload (estimate->configuration.offload);

  if (plan->task == QM_TASK_TABULAR)
    return NULL;

  add (text, phrase_weights (words, plan, estimate));
  if (qm_plan_is_training (plan))
    {
      add (text, phrase_batch (words, estimate));
      if (estimate->training.activation_checkpointing == QM_CHECKPOINTING_FULL)
        add (text, g_strdup (words->translate (N_("activations recomputed"))));
      if (offload != NULL)
        add (text, g_strdup (words->translate (offload)));
    }
  else
    {
      add (text, g_strdup (estimate->serving_plan.engine));
      add (text, phrase_layers (words, &estimate->configuration));
    }

  return text->len > 0 ? g_strdup (text->str) : NULL;
}
