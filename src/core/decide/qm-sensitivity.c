/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <math.h>

#include "decide/qm-choices.h"

/* A limit is varied over three orders of magnitude each way. */
#define SPAN 1000.0
#define STEPS 24

static void
sensitivity_free (QmSensitivity *self)
{
  qm_message_free (self->message);
  g_free (self);
}

/**
 * qm_sensitivities_new:
 *
 * Returns: (transfer full) (element-type QmSensitivity): none yet
 */
GPtrArray *
qm_sensitivities_new (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify) sensitivity_free);
}

typedef struct {
  const char *field;
  gsize offset;                     /* in QmWish */
  double unit;                      /* of the field, in units of the wish */
} Dial;

static const Dial dials[] = {
  { "limits.hours", G_STRUCT_OFFSET (QmWish, seconds), 3600 },
  { "limits.money", G_STRUCT_OFFSET (QmWish, money), 1 },
};

static int
best_at (const QmSearch *search,
         const QmWish   *wish,
         const Dial     *dial,
         double          value)
{
  QmWish varied = *wish;

  G_STRUCT_MEMBER (double, &varied, dial->offset) = value;
  return qm_search_best (search, &varied);
}

static gboolean
same_hardware (const QmSearch *search,
               int             a,
               int             b)
{
  const QmRow *row_a, *row_b;
  const QmPlacement *placement_a, *placement_b;

  if (a < 0 || b < 0)
    return a == b;

  row_a = &g_array_index (search->rows, QmRow, a);
  row_b = &g_array_index (search->rows, QmRow, b);
  placement_a = &g_array_index (search->placements, QmPlacement, row_a->placement);
  placement_b = &g_array_index (search->placements, QmPlacement, row_b->placement);

  return placement_a->catalogued == placement_b->catalogued &&
         qm_solution_devices (&g_array_index (search->solutions, QmSolution, row_a->solution), placement_a) ==
           qm_solution_devices (&g_array_index (search->solutions, QmSolution, row_b->solution), placement_b);
}

/* Two significant digits, on the side where the change has happened. */
static double
rounded (double   value,
         gboolean up)
{
  double unit = pow (10, floor (log10 (value)) - 1);

  return (up ? ceil (value / unit - 1e-9) : floor (value / unit + 1e-9)) * unit;
}

/* What comes then, and on what terms: at spot prices it may be taken away. */
static const char *
what_then (const QmChoice *choice,
           gboolean        over)
{
  gboolean spot = choice->estimate.cost.pricing == QM_PRICING_SPOT;

  if (choice->label[0] == '\0')
    return N_("Nothing would do");
  if (over)
    return spot ? N_("{choice} at spot prices, because the first choice could go over it")
                : N_("{choice}, because the first choice could go over it");

  return spot ? N_("{choice} at spot prices") : "{choice}";
}

static QmMessage *
describe (const Dial     *dial,
          gboolean        above,
          double          threshold,
          const QmChoice *choice,
          double          first,
          gboolean        monthly,
          const char     *currency)
{
  gboolean hours = dial->offset == G_STRUCT_OFFSET (QmWish, seconds);
  QmMessage *message;

  if (hours)
    message = qm_message_new (above ? "hours-above" : "hours-below",
                              above ? N_("With more than {limit} to wait") : N_("With less than {limit} to wait"));
  else
    message = qm_message_new (above ? "money-above" : "money-below",
                              above ? (monthly ? N_("With more than {limit} a month to spend") : N_("With more than {limit} to spend"))
                                    : (monthly ? N_("With less than {limit} a month to spend") : N_("With less than {limit} to spend")));

  /* A limit above the best guess still changes the answer where the range reaches over it. */
  qm_message_set_detail (message, what_then (choice, !above && threshold * dial->unit > first));
  qm_message_add_text (message, "choice", QM_ARGUMENT_NAME, choice->label);
  if (hours)
    return qm_message_add (message, "limit", QM_ARGUMENT_SECONDS, threshold * dial->unit);

  return qm_message_add_money (message, "limit", threshold, currency);
}

/* Where between @inside and @outside the answer changes, on the outer side. */
static double
narrow (const QmSearch *search,
        const QmWish   *wish,
        const Dial     *dial,
        int             now,
        double          inside,
        double          outside)
{
  for (int i = 0; i < 10; i++)
    {
      double middle = sqrt (inside * outside);

      if (same_hardware (search, now, best_at (search, wish, dial, middle)))
        inside = middle;
      else
        outside = middle;
    }

  return outside;
}

/* Nobody sets a limit of a few coins or minutes. */
static gboolean
is_trifle (const QmSearch *search,
           const Dial     *dial,
           double          value)
{
  const QmEconomics *economics = search->job.economics;

  return dial->offset == G_STRUCT_OFFSET (QmWish, seconds) ? value < economics->small_hours * 3600
                                                           : value < economics->small_money_usd * search->job.per_usd;
}

static void
find_change (const QmSearch *search,
             const QmWish   *wish,
             const Dial     *dial,
             int             now,
             QmRange         first,
             double          from,
             gboolean        up,
             GPtrArray      *found)
{
  const char *currency = qm_plan_get_currency (search->job.plan);
  double factor = pow (SPAN, 1.0 / STEPS);
  double inside = from, outside = from;
  int other = now;
  QmSensitivity *sensitivity;
  QmChoice choice = { 0 };

  for (int i = 0; i < STEPS && same_hardware (search, now, other); i++)
    {
      inside = outside;
      outside = up ? inside * factor : inside / factor;
      other = best_at (search, wish, dial, outside);
    }
  if (same_hardware (search, now, other))
    return;
  outside = narrow (search, wish, dial, now, inside, outside);
  if (is_trifle (search, dial, outside))
    return;

  other = best_at (search, wish, dial, outside);
  if (other >= 0)
    qm_choice_from_row (search, &g_array_index (search->rows, QmRow, other), wish, &choice);
  sensitivity = g_new0 (QmSensitivity, 1);
  sensitivity->field = dial->field;
  sensitivity->above = up;
  sensitivity->threshold = rounded (outside / dial->unit, up);
  g_strlcpy (sensitivity->choice, choice.label, sizeof sensitivity->choice);
  sensitivity->message = describe (dial, up, sensitivity->threshold, &choice, first.p50, search->job.serving, currency);
  g_ptr_array_add (found, sensitivity);
  qm_choice_clear (&choice);
}

static void
if_it_must_stay (const QmSearch *search,
                 const QmWish   *wish,
                 int             now,
                 GPtrArray      *found)
{
  QmWish varied = *wish;
  QmSensitivity *sensitivity;
  QmChoice choice = { 0 };
  int other;

  varied.local_only = TRUE;
  other = qm_search_best (search, &varied);
  if (wish->local_only || same_hardware (search, now, other))
    return;

  if (other >= 0)
    qm_choice_from_row (search, &g_array_index (search->rows, QmRow, other), wish, &choice);
  sensitivity = g_new0 (QmSensitivity, 1);
  sensitivity->field = "places.on_premises";
  sensitivity->above = TRUE;
  sensitivity->threshold = NAN;
  g_strlcpy (sensitivity->choice, choice.label, sizeof sensitivity->choice);
  sensitivity->message = qm_message_new ("on-premises", N_("If the data may not leave your place"));
  qm_message_set_detail (sensitivity->message, what_then (&choice, FALSE));
  qm_message_add_text (sensitivity->message, "choice", QM_ARGUMENT_NAME, sensitivity->choice);
  g_ptr_array_add (found, sensitivity);
  qm_choice_clear (&choice);
}

/**
 * qm_search_sensitivities:
 * @search: a search
 * @wish: the limits and the objective
 * @choices: (element-type QmChoice): what was picked
 *
 * Nothing is evaluated anew, the rows are only ranked under other limits.
 *
 * Returns: (transfer full) (element-type QmSensitivity): what would have to
 *   change for the answer to change
 */
GPtrArray *
qm_search_sensitivities (const QmSearch *search,
                         const QmWish   *wish,
                         const GArray   *choices)
{
  GPtrArray *found = qm_sensitivities_new ();
  int now = qm_search_best (search, wish);
  const QmEstimate *estimate;

  if (now < 0)
    return found;

  estimate = &g_array_index (choices, QmChoice, 0).estimate;
  for (guint i = 0; i < G_N_ELEMENTS (dials); i++)
    {
      gboolean hours = i == 0;
      double limit = G_STRUCT_MEMBER (double, wish, dials[i].offset);
      QmRange first = hours ? estimate->time.finish : estimate->cost.money;

      if (!(first.p50 > 0))
        continue;
      /* A limit that the first choice keeps in nine cases of ten is no reason for
       * another: above it two that are nearly alike would only change places. */
      find_change (search, wish, &dials[i], now, first, isnan (limit) ? first.p90 : MIN (limit, first.p90), FALSE, found);
      if (!isnan (limit))
        find_change (search, wish, &dials[i], now, first, limit, TRUE, found);
    }
  if_it_must_stay (search, wish, now, found);

  return found;
}
