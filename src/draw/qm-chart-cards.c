/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>

#include "qm-chart-private.h"

/* Cards side by side, one below the other where that is too narrow. */

#define GUTTER      12
#define PADDING     14
#define LEAST_CARD  210


static QmTextStyle
styled (double size,
        int    weight,
        QmInk  ink,
        double wrap)
{
  return (QmTextStyle) { .size = size, .weight = weight, .ink = ink, .wrap = wrap };
}

static double
lay_facts (QmScene           *scene,
           const QmChartCard *card,
           double             x,
           double             y,
           double             width)
{
  double half = (width - GUTTER) / 2, bottom = y;

  for (guint i = 0; i < G_N_ELEMENTS (card->facts); i++)
    {
      QmTextStyle note = styled (QM_TEXT_SIZE, 400, QM_INK_SECOND, half);
      QmTextStyle value = styled (14, 700, QM_INK_TEXT, half);
      QmBox box;

      if (card->facts[i].text == NULL)
        continue;
      box = qm_scene_text (scene, x + i * (half + GUTTER), y, card->facts[i].note, &note);
      box = qm_scene_text (scene, box.x, box.y + box.height + 1, card->facts[i].text, &value);
      bottom = MAX (bottom, box.y + box.height);
    }

  return bottom;
}

static double
lay_card (QmScene           *scene,
          const QmChartCard *card,
          guint              number,
          double             x,
          double             y,
          double             width)
{
  double inner = width - 2 * PADDING, left = x + PADDING;
  QmTextStyle head = styled (13, 600, QM_INK_TEXT, inner - 30);
  QmTextStyle title = styled (16, 700, QM_INK_TEXT, inner);
  QmTextStyle wrapped = styled (QM_TEXT_SIZE, 400, QM_INK_SECOND, inner);
  QmTextStyle digit = { .size = 11, .weight = 700, .ink = card->current ? QM_INK_CARD : QM_INK_TEXT, .horizontal = 0.5, .vertical = 0.5 };
  g_autofree char *text = g_strdup_printf ("%u", number);
  QmBox box;

  qm_scene_rectangle (scene, (QmBox) { left, y + PADDING - 1, 20, 20 }, 10, card->current ? QM_INK_BLUE : QM_INK_GREY,
                      card->current ? 1 : 0.25);
  qm_scene_text (scene, left + 10, y + PADDING + 9, text, &digit);
  box = qm_scene_text (scene, left + 28, y + PADDING + 1, card->head, &head);
  box = qm_scene_text (scene, left, MAX (box.y + box.height, y + PADDING + 20) + 8, card->title, &title);
  if (card->subtitle != NULL)
    box = qm_scene_text (scene, left, box.y + box.height + 2, card->subtitle, &wrapped);
  box.y = lay_facts (scene, card, left, box.y + box.height + 8, inner);
  if (card->note != NULL)
    {
      box = qm_scene_text (scene, left, box.y + 9, card->note, &wrapped);
      box.y += box.height;
    }

  return box.y + PADDING - y;
}

static double
tallest (const QmChart *self,
         double         width)
{
  g_autoptr (QmScene) trial = qm_scene_new (self->language);
  double height = 0;

  for (guint i = 0; i < self->cards->len; i++)
    {
      double own = lay_card (trial, &g_array_index (self->cards, QmChartCard, i), i + 1, 0, 0, width);

      height = MAX (height, own);
    }

  return height;
}

/**
 * qm_chart_lay_cards:
 * @self: a chart of cards
 * @scene: an empty scene
 * @width: to fill
 * @height: to fill; 0: as little as it takes
 *
 * Returns: the height that it takes
 */
double
qm_chart_lay_cards (const QmChart *self,
                    QmScene       *scene,
                    double         width,
                    double         height)
{
  guint n = self->cards->len;
  double share = (width - (n - 1) * GUTTER) / n;
  gboolean stacked = share < LEAST_CARD;
  double card_width = stacked ? width - 4 : share - 2, card_height = tallest (self, card_width);

  for (guint i = 0; i < n; i++)
    {
      const QmChartCard *card = &g_array_index (self->cards, QmChartCard, i);
      QmBox box = { stacked ? 2 : 1 + i * (share + GUTTER), 2 + (stacked ? i * (card_height + GUTTER) : 0), card_width, card_height };

      scene->layer = QM_LAYER_GROUND;
      qm_scene_rectangle (scene, box, 10, QM_INK_TEXT, 0.04);
      if (card->current)
        qm_scene_frame (scene, box, 10, QM_INK_BLUE, 2);
      scene->layer = QM_LAYER_SHAPES;
      lay_card (scene, card, i + 1, box.x, box.y, box.width);
      qm_scene_spot (scene, card->mark, box);
    }

  return 4 + (stacked ? n * card_height + (n - 1) * GUTTER : card_height);
}

static const char *
stage_name (QmStage stage)
{
  switch (stage)
    {
    case QM_STAGE_PROTOTYPE: return N_("Prototype");
    case QM_STAGE_DEVELOPMENT: return N_("Development");
    case QM_STAGE_PRODUCTION:
    case QM_STAGE_UNSET:
    default: return N_("Production");
    }
}

/* "1 × L40S, aws g6e.xlarge" is title and subtitle. */
static void
split_label (const char  *label,
             char       **title,
             char       **subtitle)
{
  g_auto (GStrv) parts = g_strsplit (label, ", ", 2);

  *title = g_strdup (parts[0] != NULL ? parts[0] : label);
  *subtitle = parts[0] != NULL && parts[1] != NULL ? g_strdup (parts[1]) : NULL;
}

static void
add_stage (QmChart           *self,
           const QmStagePlan *stage,
           QmStage            current,
           const char        *currency)
{
  const QmWords *words = self->words;
  QmChartCard card = { .current = stage->stage == current };

  card.head = g_strdup (words->translate (stage_name (stage->stage)));
  split_label (stage->label, &card.title, &card.subtitle);
  card.note = stage->message != NULL ? qm_message_get_text (stage->message, words) : NULL;
  card.facts[0].note = g_strdup (words->translate (N_("time")));
  card.facts[0].text = qm_format_seconds (words, stage->hours * 3600);
  card.facts[1].note = g_strdup (words->translate (N_("cost")));
  card.facts[1].text = qm_format_money (words, stage->money, currency);
  card.mark = qm_chart_add_mark (self, g_strdup_printf ("%s: %s, %s, %s", card.head, stage->label, card.facts[0].text,
                                                        card.facts[1].text), -1);
  qm_chart_add_record (self, card.head, stage->label, card.facts[0].text, card.facts[1].text, card.note != NULL ? card.note : "",
                       NULL);
  g_array_append_val (self->cards, card);
}

/**
 * qm_chart_describe_stages:
 * @stages: (element-type QmStagePlan): one or more
 * @current: where the project is
 * @currency: of the money
 * @words: the reader's language
 *
 * Returns: (transfer full): the steps from idea to product as cards
 */
QmChart *
qm_chart_describe_stages (const GPtrArray *stages,
                          QmStage          current,
                          const char      *currency,
                          const QmWords   *words)
{
  QmChart *self = qm_chart_alloc (QM_CHART_STAGES, QM_FORM_CARDS, words);
  double money = 0;
  g_autofree char *sum = NULL;

  qm_chart_add_record (self, words->translate (N_("Stage")), words->translate (N_("Hardware")), words->translate (N_("Time")),
                       words->translate (N_("Cost")), words->translate (N_("What for")), NULL);
  for (guint i = 0; i < stages->len; i++)
    {
      const QmStagePlan *stage = g_ptr_array_index (stages, i);

      add_stage (self, stage, current, currency);
      money += stage->money;
    }
  sum = qm_format_money (words, money, currency);
  self->title = isfinite (money) ? qm_fill (words->translate (N_("From idea to product for about {money}")), "money", sum, NULL) :
                                   g_strdup (words->translate (N_("From idea to product")));
  self->subtitle = g_strdup (words->translate (N_("Each stage on the hardware that suits it, with hours and money")));
  self->summary = qm_fill (words->translate (N_("{title}. {what}.")), "title", self->title, "what", self->subtitle, NULL);

  return self;
}
