/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-chart-fits.h"

#include <glib/gi18n.h>
#include <math.h>

#include "qm-chart-private.h"

static const struct {
  const char *name;
  QmInk ink;
  QmHatch hatch;
} looks[QM_N_FITS] = {
  [QM_FIT_CHAT_4_BIT] = { N_("Chat, 4-bit weights"), QM_INK_TEAL, QM_HATCH_DOTS },
  [QM_FIT_CHAT_8_BIT] = { N_("Chat, 8-bit weights"), QM_INK_TEAL, QM_HATCH_DOTS },
  [QM_FIT_CHAT_16_BIT] = { N_("Chat, 16-bit weights"), QM_INK_TEAL, QM_HATCH_DOTS },
  [QM_FIT_QLORA] = { N_("Fine-tune, QLoRA"), QM_INK_BLUE, QM_HATCH_NONE },
  [QM_FIT_LORA] = { N_("Fine-tune, LoRA"), QM_INK_BLUE, QM_HATCH_NONE },
  [QM_FIT_FULL] = { N_("Fine-tune all of it"), QM_INK_ORANGE, QM_HATCH_RISING },
};

static char *
title_of (const QmFit   *fits,
          const QmWords *words)
{
  double chat = 0, tune = 0;
  g_autofree char *most = NULL, *tuned = NULL;

  for (int way = 0; way < QM_N_FITS; way++)
    {
      double *best = way < QM_FIT_QLORA ? &chat : &tune;

      *best = fmax (*best, fits[way].parameters);
    }
  most = qm_format_count_short (words, chat);
  tuned = qm_format_count_short (words, tune);
  if (chat > 0 && tune > 0)
    return qm_fill (words->translate (N_("It can chat with models up to {chat} and fine-tune up to {tune}")), "chat", most, "tune", tuned, NULL);
  if (chat > 0)
    return qm_fill (words->translate (N_("It can chat with models up to {chat}; fine-tuning needs more memory")), "chat", most, NULL);

  return g_strdup (words->translate (N_("Its memory is too small for the language models of the catalog")));
}

static void
add_way (QmChart     *self,
         const QmFit *fit)
{
  const char *name = self->words->translate (looks[fit->way].name);
  QmChartRow row = { .value = QM_RANGE_UNKNOWN, .bar = TRUE, .ink = looks[fit->way].ink, .hatch = looks[fit->way].hatch };

  row.name = g_strdup (name);
  if (fit->model != NULL)
    {
      row.value = qm_range_exact (fit->parameters);
      row.value_text = qm_format_count_short (self->words, fit->parameters);
      row.note = g_strdup (fit->model);
    }
  else
    row.value_text = g_strdup (self->words->translate (N_("none")));
  row.mark = qm_chart_add_mark (self, fit->model != NULL ? g_strdup_printf ("%s: %s, %s", name, row.value_text, fit->model)
                                                         : g_strdup_printf ("%s: %s", name, row.value_text), -1);
  qm_chart_add_record (self, name, row.value_text, fit->model != NULL ? fit->model : "", NULL);
  g_array_append_val (self->rows, row);
}

/**
 * qm_chart_new_fits:
 * @fits: (array fixed-size=6): of qm_fits_find()
 * @words: the reader's language
 *
 * Returns: (transfer full): the largest model of the catalog that fits in each
 *   way of using it
 */
QmChart *
qm_chart_new_fits (const QmFit    fits[QM_N_FITS],
                   const QmWords *words)
{
  QmChart *self = qm_chart_alloc (QM_CHART_FITS, QM_FORM_ROWS, words);
  double most = 0;

  for (int way = 0; way < QM_N_FITS; way++)
    most = fmax (most, fits[way].parameters);
  self->title = title_of (fits, words);
  self->subtitle = g_strdup (words->translate (N_("The largest model of the catalog that fits and leaves room to spare: one person and 2,500 tokens, "
                                                  "or training on texts of 2,048")));
  self->x = (QmAxis) { .quantity = QM_QUANTITY_COUNT, .high = most > 0 ? most * 1.15 : 1,
                       .title = g_strdup (words->translate (N_("Parameters"))) };
  qm_chart_add_record (self, words->translate (N_("Use")), words->translate (N_("Parameters")), words->translate (N_("Model")), NULL);
  for (int way = 0; way < QM_N_FITS; way++)
    add_way (self, &fits[way]);
  self->summary = qm_fill (words->translate (N_("{title}. {what}.")), "title", self->title, "what", self->subtitle, NULL);

  return self;
}
