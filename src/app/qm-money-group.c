/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-money-group.h"

#include <glib/gi18n.h>
#include <math.h>

#include "draw/qm-language.h"
#include "preferences/qm-preferences.h"
#include "qm-country-names.h"
#include "qm-ui.h"

struct _QmMoneyGroup {
  AdwPreferencesGroup parent_instance;

  QmSession *session;
  GSettings *settings;
  GStrv currencies;
  GStrv countries;
  GtkWidget *currency;
  GtkWidget *rate;                  /* what is counted with, and a way back */
  GtkWidget *forget;
  GtkWidget *own_rate;              /* where one types another */
  GtkWidget *electricity;
  GtkWidget *average;               /* takes the average again */
  GtkWidget *country;
  gboolean updating;
};

G_DEFINE_FINAL_TYPE (QmMoneyGroup, qm_money_group, ADW_TYPE_PREFERENCES_GROUP)

static const struct {
  const char *code;
  const char *name;
} names[] = {
  { "USD", N_("US dollar") },
  { "EUR", N_("Euro") },
  { "GBP", N_("Pound sterling") },
  { "CNY", N_("Chinese yuan") },
  { "JPY", N_("Japanese yen") },
  { "INR", N_("Indian rupee") },
  { "CHF", N_("Swiss franc") },
  { "CAD", N_("Canadian dollar") },
  { "AUD", N_("Australian dollar") },
  { "KRW", N_("South Korean won") },
  { "BRL", N_("Brazilian real") },
  { "SGD", N_("Singapore dollar") },
  { "HKD", N_("Hong Kong dollar") },
  { "TWD", N_("New Taiwan dollar") },
  { "SEK", N_("Swedish krona") },
  { "NOK", N_("Norwegian krone") },
  { "DKK", N_("Danish krone") },
  { "PLN", N_("Polish złoty") },
  { "TRY", N_("Turkish lira") },
  { "MXN", N_("Mexican peso") },
  { "ZAR", N_("South African rand") },
  { "RUB", N_("Russian rouble") },
  { "NZD", N_("New Zealand dollar") },
  { "ILS", N_("Israeli shekel") },
};

static char *
currency_name (const char *code)
{
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_str_equal (names[i].code, code))
      return g_strdup_printf ("%s (%s)", _(names[i].name), code);

  return g_strdup (code);
}

static const QmEconomics *
economics_of (QmMoneyGroup *self)
{
  return qm_estimator_get_economics (qm_session_get_estimator (self->session));
}

/* ------------------------------------------------------------------------- exchange */

static char *
describe_rate (QmMoneyGroup *self,
               const char   *currency)
{
  const QmWords *words = qm_language_get_words ();
  g_autofree char *as_of = NULL;
  g_autofree char *date = NULL;
  g_autofree char *money = NULL;
  double per_usd;
  gboolean own = qm_preferences_get_rate (self->settings, currency, &per_usd, &as_of);
  QmExchangeRate rate;

  if (g_str_equal (currency, "USD"))
    return g_strdup (_("Prices are in US dollars: nothing is converted."));
  if (own)
    rate = (QmExchangeRate) { per_usd, as_of, NULL };
  else if (!qm_economics_rate (economics_of (self), currency, &rate))
    return g_strdup (_("No rate is known: type one below."));

  money = qm_format_money (words, rate.per_usd, currency);
  date = rate.as_of[0] != '\0' ? qm_format_date (words, rate.as_of) : g_strdup (_("unknown date"));
  if (own)
    /* Translators: money, date */
    return g_strdup_printf (_("1 US dollar = %s, your rate of %s"), money, date);

  /* Translators: money, date */
  return g_strdup_printf (_("1 US dollar = %s, a rounded rate of %s. Type today's below."), money, date);
}

static void
show_rate (QmMoneyGroup *self)
{
  g_autofree char *currency = g_settings_get_string (self->settings, "currency");
  g_autofree char *text = describe_rate (self, currency);
  g_autofree char *title = g_strdup_printf (_("Your rate: how many %s one US dollar buys"), currency);
  double per_usd;

  adw_action_row_set_subtitle (ADW_ACTION_ROW (self->rate), text);
  gtk_widget_set_visible (self->forget, qm_preferences_get_rate (self->settings, currency, &per_usd, NULL));
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->own_rate), title);
  gtk_widget_set_visible (self->own_rate, !g_str_equal (currency, "USD"));
}

static void
set_wrong (GtkWidget *row,
           gboolean   wrong)
{
  if (wrong)
    gtk_widget_add_css_class (row, "error");
  else
    gtk_widget_remove_css_class (row, "error");
  gtk_accessible_update_state (GTK_ACCESSIBLE (row), GTK_ACCESSIBLE_STATE_INVALID,
                               wrong ? GTK_ACCESSIBLE_INVALID_TRUE : GTK_ACCESSIBLE_INVALID_FALSE, -1);
}

/* As people here write numbers: both points and commas are understood. */
static double
parse_number (const char *text)
{
  g_autofree char *plain = g_strdelimit (g_strstrip (g_strdup (text)), ",", '.');
  char *end;
  double value = g_ascii_strtod (plain, &end);

  return end != plain && *end == '\0' ? value : NAN;
}

static void
rate_applied (QmMoneyGroup *self)
{
  g_autofree char *currency = g_settings_get_string (self->settings, "currency");
  g_autofree char *today = qm_today ();
  double per_usd = parse_number (gtk_editable_get_text (GTK_EDITABLE (self->own_rate)));
  gboolean taken = per_usd > 0 && qm_preferences_set_rate (self->settings, currency, per_usd, today);

  set_wrong (self->own_rate, !taken);
  if (!taken)
    {
      adw_action_row_set_subtitle (ADW_ACTION_ROW (self->rate), _("A number above 0 is expected, such as 0.92"));
      return;
    }
  gtk_editable_set_text (GTK_EDITABLE (self->own_rate), "");
  show_rate (self);
}

static void
rate_forgotten (QmMoneyGroup *self)
{
  g_autofree char *currency = g_settings_get_string (self->settings, "currency");

  gtk_widget_grab_focus (self->own_rate);
  qm_preferences_set_rate (self->settings, currency, 0, NULL);
  show_rate (self);
}

/* ---------------------------------------------------------------------- electricity */

static double
per_usd_of (QmMoneyGroup *self,
            const char   *currency)
{
  double own;

  return qm_preferences_get_rate (self->settings, currency, &own, NULL) ? own : qm_economics_per_usd (economics_of (self), currency);
}

static void
show_electricity (QmMoneyGroup *self)
{
  const QmWords *words = qm_language_get_words ();
  g_autofree char *now = g_settings_get_string (self->settings, "currency");
  g_autofree char *currency = g_settings_get_string (self->settings, "electricity-currency");
  double price = g_settings_get_double (self->settings, "electricity-price");
  double average = economics_of (self)->electricity_usd_per_kwh * per_usd_of (self, now);
  g_autofree char *money = qm_format_money (words, average, now);
  g_autofree char *title = g_strdup_printf (_("Electricity, %s for each kWh"), price < 0 ? now : currency);
  g_autofree char *text = g_strdup_printf (price < 0 ? _("The average of households everywhere, %s") : _("Yours; the average of households everywhere is %s"),
                                           money);

  self->updating = TRUE;
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->electricity), title);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (self->electricity), text);
  adw_spin_row_set_value (ADW_SPIN_ROW (self->electricity), price < 0 ? average : price);
  gtk_widget_set_visible (self->average, price >= 0);
  self->updating = FALSE;
}

static void
electricity_changed (QmMoneyGroup *self)
{
  g_autofree char *now = g_settings_get_string (self->settings, "currency");

  if (self->updating)
    return;

  /* What was in another currency is typed anew in the one that is shown. */
  if (g_settings_get_double (self->settings, "electricity-price") < 0)
    g_settings_set_string (self->settings, "electricity-currency", now);
  g_settings_set_double (self->settings, "electricity-price", adw_spin_row_get_value (ADW_SPIN_ROW (self->electricity)));
  show_electricity (self);
}

static void
average_taken (QmMoneyGroup *self)
{
  gtk_widget_grab_focus (self->electricity);
  g_settings_reset (self->settings, "electricity-price");
  show_electricity (self);
}

/* --------------------------------------------------------------------------- choices */

static guint
position_of (const char * const *list,
             const char         *word)
{
  for (guint i = 0; list[i] != NULL; i++)
    if (g_str_equal (list[i], word))
      return i;

  return GTK_INVALID_LIST_POSITION;
}

static void
currency_chosen (QmMoneyGroup *self)
{
  guint index = adw_combo_row_get_selected (ADW_COMBO_ROW (self->currency));

  if (self->updating || index == GTK_INVALID_LIST_POSITION)
    return;

  g_settings_set_string (self->settings, "currency", self->currencies[index]);
  set_wrong (self->own_rate, FALSE);
  show_rate (self);
  show_electricity (self);
}

static void
country_chosen (QmMoneyGroup *self)
{
  guint index = adw_combo_row_get_selected (ADW_COMBO_ROW (self->country));

  if (!self->updating && index != GTK_INVALID_LIST_POSITION)
    g_settings_set_string (self->settings, "carbon-country", index == 0 ? "" : self->countries[index - 1]);
}

static GtkWidget *
combo_new (const char *title,
           GPtrArray  *texts)
{
  GtkWidget *row = adw_combo_row_new ();
  g_autoptr (GtkStringList) model = gtk_string_list_new ((const char * const *) texts->pdata);

  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  /* Below the title a long name has room. */
  adw_combo_row_set_use_subtitle (ADW_COMBO_ROW (row), TRUE);
  adw_combo_row_set_model (ADW_COMBO_ROW (row), G_LIST_MODEL (model));
  adw_combo_row_set_expression (ADW_COMBO_ROW (row), gtk_property_expression_new (GTK_TYPE_STRING_OBJECT, NULL, "string"));
  adw_combo_row_set_enable_search (ADW_COMBO_ROW (row), TRUE);

  return row;
}

/* Those of the catalog, and the one that is set. */
static GStrv
list_currencies (QmMoneyGroup *self)
{
  g_autoptr (GList) known = json_object_get_members (economics_of (self)->currencies);
  g_autofree char *now = g_settings_get_string (self->settings, "currency");
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();

  for (GList *l = known; l != NULL; l = l->next)
    g_strv_builder_add (builder, l->data);
  if (!json_object_has_member (economics_of (self)->currencies, now))
    g_strv_builder_add (builder, now);

  return g_strv_builder_end (builder);
}

static GtkWidget *
currency_row_new (QmMoneyGroup *self)
{
  g_autofree char *now = g_settings_get_string (self->settings, "currency");
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);

  self->currencies = list_currencies (self);
  for (guint i = 0; self->currencies[i] != NULL; i++)
    g_ptr_array_add (texts, currency_name (self->currencies[i]));
  g_ptr_array_add (texts, NULL);
  self->currency = combo_new (_("Currency"), texts);
  adw_combo_row_set_selected (ADW_COMBO_ROW (self->currency), position_of ((const char * const *) self->currencies, now));
  g_signal_connect_swapped (self->currency, "notify::selected", G_CALLBACK (currency_chosen), self);

  return self->currency;
}

static GtkWidget *
country_row_new (QmMoneyGroup *self)
{
  g_autofree char *now = g_settings_get_string (self->settings, "carbon-country");
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);
  guint index;

  self->countries = qm_country_codes ();
  g_ptr_array_add (texts, g_strdup (_("Average of the world")));
  for (guint i = 0; self->countries[i] != NULL; i++)
    {
      double grams = qm_economics_carbon_of (economics_of (self), self->countries[i]) * 1000;

      /* Translators: a country; grams of CO₂ for each kWh */
      g_ptr_array_add (texts, isnan (grams) ? g_strdup (qm_country_name (self->countries[i]))
                                            : g_strdup_printf (_("%s, %.0f g"), qm_country_name (self->countries[i]), grams));
    }
  g_ptr_array_add (texts, NULL);
  index = position_of ((const char * const *) self->countries, now);
  self->country = combo_new (_("Where your machines stand"), texts);
  adw_combo_row_set_selected (ADW_COMBO_ROW (self->country), index == GTK_INVALID_LIST_POSITION ? 0 : index + 1);
  g_signal_connect_swapped (self->country, "notify::selected", G_CALLBACK (country_chosen), self);

  return self->country;
}

static GtkWidget *
spin_new (const char *title,
          const char *subtitle,
          double      low,
          double      high,
          double      step,
          guint       digits)
{
  GtkWidget *row = adw_spin_row_new (gtk_adjustment_new (low, low, high, step, 10 * step, 0), step, digits);

  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), subtitle);

  return row;
}

static GtkWidget *
electricity_row_new (QmMoneyGroup *self)
{
  self->electricity = spin_new ("", "", 0, 100000, 0.01, 3);
  self->average = qm_ui_tool ("edit-undo-symbolic", _("Take the average"), G_CALLBACK (average_taken), self);
  gtk_widget_set_valign (self->average, GTK_ALIGN_CENTER);
  adw_action_row_add_suffix (ADW_ACTION_ROW (self->electricity), self->average);

  return self->electricity;
}

static void
qm_money_group_dispose (GObject *object)
{
  QmMoneyGroup *self = QM_MONEY_GROUP (object);

  g_clear_object (&self->session);
  g_clear_object (&self->settings);
  g_clear_pointer (&self->currencies, g_strfreev);
  g_clear_pointer (&self->countries, g_strfreev);

  G_OBJECT_CLASS (qm_money_group_parent_class)->dispose (object);
}

static void
qm_money_group_class_init (QmMoneyGroupClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = qm_money_group_dispose;
}

static void
qm_money_group_init (QmMoneyGroup *self)
{
}

static void
add_exchange (QmMoneyGroup *self)
{
  AdwPreferencesGroup *group = ADW_PREFERENCES_GROUP (self);

  adw_preferences_group_add (group, currency_row_new (self));
  self->rate = adw_action_row_new ();
  self->forget = qm_ui_tool ("edit-undo-symbolic", _("Forget your rate"), G_CALLBACK (rate_forgotten), self);
  gtk_widget_set_valign (self->forget, GTK_ALIGN_CENTER);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->rate), _("Rate of exchange"));
  adw_action_row_add_suffix (ADW_ACTION_ROW (self->rate), self->forget);
  adw_preferences_group_add (group, self->rate);
  self->own_rate = adw_entry_row_new ();
  adw_entry_row_set_show_apply_button (ADW_ENTRY_ROW (self->own_rate), TRUE);
  adw_entry_row_set_input_purpose (ADW_ENTRY_ROW (self->own_rate), GTK_INPUT_PURPOSE_NUMBER);
  g_signal_connect_swapped (self->own_rate, "apply", G_CALLBACK (rate_applied), self);
  adw_preferences_group_add (group, self->own_rate);
}

/**
 * qm_money_group_new:
 * @session: a session that has settings
 *
 * Returns: (transfer floating): currency, electricity, carbon and what a point
 *   of quality is worth
 */
GtkWidget *
qm_money_group_new (QmSession *session)
{
  QmMoneyGroup *self = g_object_new (QM_TYPE_MONEY_GROUP, "title", _("Money and electricity"), "description",
                                     _("New plans are in this currency; a plan that names its own keeps it. Where your machines stand counts for the "
                                       "CO₂ of their electricity; rented ones know their region."), NULL);
  AdwPreferencesGroup *group = ADW_PREFERENCES_GROUP (self);
  GtkWidget *cooling, *points;

  self->session = g_object_ref (session);
  self->settings = g_object_ref (qm_session_get_settings (session));
  add_exchange (self);
  adw_preferences_group_add (group, electricity_row_new (self));
  adw_preferences_group_add (group, country_row_new (self));

  cooling = spin_new (_("Cooling"), _("Power with cooling over power without: 1 in a room that needs none, 1.2 to 1.6 in a server room"), 1, 5, 0.05, 2);
  g_settings_bind (self->settings, "cooling-factor", cooling, "value", G_SETTINGS_BIND_DEFAULT);
  adw_preferences_group_add (group, cooling);
  points = spin_new (_("Worth of quality, in points"), _("A gain of fewer points is not worth twice the resources"), 0, 100, 0.1, 1);
  g_settings_bind (self->settings, "marginal-points", points, "value", G_SETTINGS_BIND_DEFAULT);
  adw_preferences_group_add (group, points);

  show_rate (self);
  show_electricity (self);
  g_signal_connect_swapped (self->electricity, "notify::value", G_CALLBACK (electricity_changed), self);

  return GTK_WIDGET (self);
}
