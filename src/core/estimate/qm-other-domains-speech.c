/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/qm-other-domains-private.h"

static double
beams (const QmOtherDomains *self)
{
  if (self->serving.beam > 0)
    return self->serving.beam;

  return self->engine.greedy ? 1 : self->constants->usual.whisper_beam;
}

static double
share_of_peak (const QmOtherDomains *self,
               const QmDomainSite   *site)
{
  const QmDomainRunConstants *constants = &self->constants->run;

  if (site->kind != QM_DOMAIN_KIND_CPU)
    return self->constants->speech.e;

  return self->run_rate == QM_DOMAIN_RATE_INT8 ? constants->cpu_e8 : constants->cpu_e32;
}

/* Spectra are made on the processor: slowly in Python, and aside where the
 * engine chooses its batches. */
static double
front_end_seconds (const QmOtherDomains *self,
                   const QmDomainSite   *site,
                   double                batch,
                   gboolean              free)
{
  const QmDomainSpeechConstants *constants = &self->constants->speech;
  double seconds = batch * constants->window_seconds * constants->mel;

  if (self->engine.python_front_end || (site->kind == QM_DOMAIN_KIND_CPU && !free))
    return seconds;

  return free ? 0 : seconds * constants->mel_native;
}

/* One token of every window: the decoder's weights, what it remembers of the
 * audio for each beam, and the launches. */
static double
token_seconds (const QmOtherDomains *self,
               const QmDomainSite   *site,
               double                batch,
               double                matrix_rate,
               QmDomainRun          *run)
{
  const QmDomainSpeechConstants *constants = &self->constants->speech;
  const QmDomainFacts *facts = &self->facts;
  double bytes = self->weight_bytes;
  double cross = 2 * facts->decoder_layers * facts->hidden * constants->window_frames * bytes;
  double rows = batch * beams (self);
  double tau = constants->tau[self->engine.speech] * (site->kind == QM_DOMAIN_KIND_CPU ? constants->cpu_tau : 1);

  run->memory = (facts->decoder_parameters * bytes + rows * cross) / site->bandwidth;
  run->overhead = facts->decoder_layers * tau;

  return run->memory + run->overhead + rows * 2 * facts->decoder_parameters / matrix_rate;
}

/**
 * qm_domain_run_whisper:
 * @self: a job that writes down speech with an encoder and a decoder
 * @site: a site
 * @run: (inout): the rate
 *
 * A window of audio passes the front end and the encoder once, and the decoder
 * once for every token of its text.
 */
void
qm_domain_run_whisper (const QmOtherDomains *self,
                       const QmDomainSite   *site,
                       QmDomainRun          *run)
{
  const QmOtherDomainsConstants *constants = self->constants;
  double batch = qm_domain_batch (self, site);
  gboolean free = !(site->given->micro_batch > 0);
  double tokens = constants->speech.tokens_window * (free ? constants->speech.free_tokens : 1);
  double peak = qm_domain_peak (site, self->run_rate, !self->engine.python_front_end, FALSE) * site->core_share;
  double matrix_rate = share_of_peak (self, site) * peak;
  double encoder = self->facts.pass_flops > 0 ? self->facts.pass_flops : constants->usual.whisper_flops;
  double front_end = front_end_seconds (self, site, batch, free);
  double token = token_seconds (self, site, batch, matrix_rate, run);

  run->compute = batch * encoder / matrix_rate;
  run->step = run->compute + tokens * token + front_end;
  run->memory *= tokens;
  run->overhead = run->overhead * tokens + front_end;
  run->batch = batch;
  run->flops = encoder + tokens * 2 * self->facts.decoder_parameters;
  run->samples_per_second = site->devices * batch / run->step;
  run->units_per_sample = constants->speech.window_seconds;
  run->unit = QM_UNIT_AUDIO_SECONDS;
  run->sigma = constants->sigma.whisper;
  run->known = TRUE;
}
