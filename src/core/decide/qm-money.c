/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "decide/qm-money.h"

#include <glib/gi18n.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/**
 * qm_cost_parts_list:
 * @self: what the money is for
 * @parts: (out caller-allocates): those that cost anything, in a fixed order
 *
 * Returns: how many
 */
guint
qm_cost_parts_list (const QmCostParts *self,
                    QmCostPart         parts[QM_MOST_COST_PARTS])
{
  const QmCostPart all[QM_MOST_COST_PARTS] = {
    { "purchase", N_("Buying it"), self->purchase },
    { "machine", N_("The machine while it works"), self->machine },
    { "start_up", N_("Starting the machine"), self->start_up },
    { "failed_starts", N_("Starts that fail"), self->failed_starts },
    { "upload", N_("Bringing the data there"), self->upload },
    { "idle", N_("Hours that it stands idle"), self->idle },
    { "storage", N_("Keeping the data there"), self->storage },
    { "egress", N_("Bringing results back"), self->egress },
    { "power", N_("Power and cooling"), self->power },
  };
  guint n = 0;

  for (guint i = 0; i < QM_MOST_COST_PARTS; i++)
    if (all[i].money > 0)
      parts[n++] = all[i];

  return n;
}

/**
 * qm_pricing_name:
 * @cost: a cost
 * @offer: (nullable): what is rented
 *
 * Returns: (transfer none): on what terms, a msgid
 */
const char *
qm_pricing_name (const QmCost  *cost,
                 const QmOffer *offer)
{
  if (cost->pricing == QM_PRICING_SPOT)
    return N_("spot");
  if (cost->pricing == QM_PRICING_COMMITTED)
    return N_("committed");
  if (offer != NULL && g_strcmp0 (offer->kind, "serverless") == 0)
    return N_("serverless");
  if (offer != NULL && g_strcmp0 (offer->kind, "per-gpu") == 0)
    return N_("on demand, per GPU");

  return N_("on demand");
}

/* A date may lack its day and month: then it is as young as it can be. */
static int
month_of (const char *date,
          int         missing)
{
  int year = 0, month = 0, n = sscanf (date, "%4d-%2d", &year, &month);

  return n < 1 ? -1 : 12 * year + (n < 2 || month < 1 || month > 12 ? missing : month);
}

/**
 * qm_months_old:
 * @as_of: (nullable): when a price held, ISO 8601; a year or month is enough
 * @today: (nullable): the day it is, ISO 8601
 *
 * Returns: how many months lie between, at least; -1 where either is unknown
 */
int
qm_months_old (const char *as_of,
               const char *today)
{
  int then = as_of != NULL ? month_of (as_of, 12) : -1, now = today != NULL ? month_of (today, 1) : -1;

  return then < 0 || now < 0 ? -1 : MAX (0, now - then);
}

/* ------------------------------------------------------------------------- in words */

static QmMessage *
explain_rate (const QmEconomics *economics,
              const char        *currency)
{
  QmExchangeRate rate;
  QmMessage *message;

  if (strcmp (currency, "USD") == 0 || !qm_economics_rate (economics, currency, &rate))
    return NULL;

  message = qm_message_new ("exchange-rate", N_("1 US dollar is counted as {money}"));
  qm_message_add_money (message, "money", rate.per_usd, currency);
  qm_message_add_text (message, "date", QM_ARGUMENT_DATE, rate.as_of);
  if (rate.source == NULL)
    return qm_message_set_detail (message, rate.as_of[0] != '\0' ? N_("The rate is your own, of {date}.") : N_("The rate is your own."));

  qm_message_set_source (message, rate.source);
  return qm_message_set_detail (message, N_("The rate is of {date}, rounded, and from memory: set today's in the preferences."));
}

/* The computer around bought cards, and where its power comes from. */
static QmMessage *
explain_host (const QmEconomics *economics,
              const QmChoice    *choice,
              const char        *currency)
{
  const QmEstimate *estimate = &choice->estimate;
  int devices = MAX (1, estimate->configuration.devices);
  const QmHost *host = qm_economics_host (economics, estimate->device, devices);
  double watts = devices * estimate->device->power_watts + economics->host_watts;
  QmMessage *message;

  if (choice->place != QM_PLACE_BUY || host == NULL)
    return NULL;

  message = qm_message_new ("host", host->usd > 0 ? N_("{money} of the price are for the computer around it")
                                                  : N_("The price is of the device alone"));
  qm_message_set_detail (message, host->usd > 0
                           ? N_("Board, processor, memory, case and a power supply for at least {watts} W, with slots for {devices}.")
                           : N_("It goes into a computer that is there, with a free slot for {devices} and a power supply for at least {watts} W."));
  if (choice->estimate.device->device_class == QM_DEVICE_CLASS_LAPTOP || choice->estimate.device->device_class == QM_DEVICE_CLASS_INTEGRATED ||
      choice->estimate.device->device_class == QM_DEVICE_CLASS_NPU)
    {
      qm_message_free (message);
      return NULL;
    }
  qm_message_add_money (message, "money", host->usd * qm_economics_per_usd (economics, currency), currency);
  qm_message_add (message, "watts", QM_ARGUMENT_COUNT, ceil (watts / 50) * 50);

  return qm_message_add (message, "devices", QM_ARGUMENT_COUNT, devices);
}

static QmMessage *
explain_carbon (const QmChoice *choice)
{
  static const char * const details[] = {
    [QM_CARBON_WORLD] = N_("Where the machine stands is not known: the average of the world, {grams} g for each kWh."),
    [QM_CARBON_COUNTRY] = N_("By the average of the country it stands in, {grams} g for each kWh."),
    [QM_CARBON_REGION] = N_("By the grid of {region}, {grams} g for each kWh."),
    [QM_CARBON_OWN] = N_("By what you say of your electricity, {grams} g for each kWh."),
  };
  const QmCost *cost = &choice->estimate.cost;
  QmMessage *message;

  if (!qm_range_is_known (cost->kg_co2e))
    return NULL;

  message = qm_message_new ("carbon", N_("It takes about {kwh} kWh, which stand for {kg} kg of CO₂"));
  qm_message_set_detail (message, details[cost->carbon_basis]);
  qm_message_add (message, "kwh", QM_ARGUMENT_NUMBER, cost->kwh.p50);
  qm_message_add (message, "kg", QM_ARGUMENT_NUMBER, cost->kg_co2e.p50);
  qm_message_add (message, "grams", QM_ARGUMENT_NUMBER, cost->carbon_kg_per_kwh * 1000);

  return qm_message_add_text (message, "region", QM_ARGUMENT_NAME,
                              choice->offer != NULL && choice->offer->region != NULL ? choice->offer->region : "");
}

static void
take (GPtrArray *messages,
      QmMessage *message)
{
  if (message != NULL)
    g_ptr_array_add (messages, message);
}

/**
 * qm_money_explain:
 * @estimator: an estimator
 * @resolved: a plan
 * @choice: its estimate
 * @messages: (element-type QmMessage): rate of exchange, machine around what is
 *   bought, carbon are added to it
 */
void
qm_money_explain (QmEstimator      *estimator,
                  const QmResolved *resolved,
                  const QmChoice   *choice,
                  GPtrArray        *messages)
{
  const char *currency = qm_plan_get_currency (resolved->plan);
  QmEconomics economics;

  if (!choice->estimate.cost.known)
    return;

  qm_economics_apply (qm_estimator_get_economics (estimator), resolved->plan, &economics);
  take (messages, explain_rate (&economics, currency));
  take (messages, explain_host (&economics, choice, currency));
  take (messages, explain_carbon (choice));
}

/* ------------------------------------------------------------------------- doubtful */

static QmMessage *
warn_of_price (const QmChoice *choice,
               const char     *today,
               double          stale_months)
{
  const char *as_of = choice->estimate.cost.as_of;
  int months = qm_months_old (as_of, today);
  QmMessage *message;

  if (choice->place != QM_PLACE_CLOUD && choice->place != QM_PLACE_BUY)
    return NULL;
  if (as_of == NULL || as_of[0] == '\0')
    return qm_message_new ("undated-price", N_("Nobody wrote down when this price held: ask before you count on it"));
  if (months <= stale_months)
    return NULL;

  message = qm_message_new ("old-price", N_("The price is of {date}, {months} months ago or more: take newer ones, or ask before you count on it"));
  qm_message_add_text (message, "date", QM_ARGUMENT_DATE, as_of);

  return qm_message_add (message, "months", QM_ARGUMENT_COUNT, months);
}

static QmMessage *
warn_of_rate (const QmEconomics *economics,
              const char        *currency,
              const char        *today)
{
  QmExchangeRate rate;
  QmMessage *message;
  int months;

  if (strcmp (currency, "USD") == 0 || !qm_economics_rate (economics, currency, &rate))
    return NULL;
  months = qm_months_old (rate.as_of, today);
  if (months <= economics->stale_months)
    return NULL;

  message = qm_message_new ("old-rate", N_("The rate of exchange is of {date}: set today's"));
  qm_message_add_text (message, "date", QM_ARGUMENT_DATE, rate.as_of);

  return message;
}

/**
 * qm_money_warn:
 * @estimator: an estimator; without a day, see qm_estimator_set_today(), nothing
 *   is old
 * @resolved: a plan
 * @choice: its estimate
 * @messages: (element-type QmMessage): prices and rates that are old, and what
 *   has no price, are added to it
 */
void
qm_money_warn (QmEstimator      *estimator,
               const QmResolved *resolved,
               const QmChoice   *choice,
               GPtrArray        *messages)
{
  const char *today = qm_estimator_get_today (estimator);
  const QmCosts *costs = &resolved->plan->costs;
  QmEconomics economics;

  qm_economics_apply (qm_estimator_get_economics (estimator), resolved->plan, &economics);
  if (choice->place == QM_PLACE_UNSET && isnan (choice->estimate.device->price_usd) && isnan (costs->device_price))
    take (messages, qm_message_new ("no-price", N_("No price of this device is known: say what one costs (costs.device_price), and buying is "
                                                   "compared with renting")));
  else if (choice->place == QM_PLACE_UNSET)
    take (messages, qm_message_new ("not-to-be-had", N_("It is not said to be yours (places.owned), and as you ask it can be neither rented nor "
                                                        "bought: what it costs is not told")));
  if (!choice->estimate.cost.known)
    return;

  if (choice->offer != NULL && costs->sent_bytes > 0 && isnan (qm_economics_egress (&economics, choice->offer->provider)))
    take (messages, qm_message_new ("no-egress-price", N_("What it costs to bring results back is not known of this provider and not counted: "
                                                          "say it (costs.egress_per_gb)")));
  if (today == NULL)
    return;

  take (messages, warn_of_price (choice, today, economics.stale_months));
  take (messages, warn_of_rate (&economics, qm_plan_get_currency (resolved->plan), today));
}
