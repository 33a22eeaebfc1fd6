/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "decide/qm-bands.h"
#include "qm-decision-slider.h"
#include "window-driver.h"

static QmDecisionSlider *
slider_of (Driver *driver,
           QmDial  dial)
{
  g_autoptr (GPtrArray) sliders = driver_find_all (driver_page (driver), QM_TYPE_DECISION_SLIDER);

  g_assert_cmpuint (sliders->len, ==, QM_N_DIALS);
  return g_ptr_array_index (sliders, dial);
}

static gboolean
has_bands (Driver *driver)
{
  return qm_decision_slider_get_bands (slider_of (driver, QM_DIAL_MONEY))->len > 1 &&
         qm_decision_slider_get_bands (slider_of (driver, QM_DIAL_HOURS))->len > 1;
}

static void
open_limits (Driver *driver)
{
  driver_open (driver, 1100, 900);
  for (int i = 0; i < 6; i++)
    driver_press_action (driver, "win.next");
  driver_assert_page (driver, "budget");
}

static gboolean
press (QmDecisionSlider *slider,
       guint             key)
{
  g_autoptr (GListModel) controllers = gtk_widget_observe_controllers (GTK_WIDGET (slider));
  gboolean handled = FALSE;

  for (guint i = 0; i < g_list_model_get_n_items (controllers); i++)
    {
      g_autoptr (GtkEventController) controller = g_list_model_get_item (controllers, i);

      if (GTK_IS_EVENT_CONTROLLER_KEY (controller))
        g_signal_emit_by_name (controller, "key-pressed", key, 0, 0, &handled);
    }

  return handled;
}

static double
answer_of (Driver     *driver,
           const char *field)
{
  g_autofree char *answer = qm_session_get_answer (driver->session, field);

  return answer != NULL ? g_ascii_strtod (answer, NULL) : NAN;
}

static const QmBand *
band_with (QmDecisionSlider *slider,
           double            value)
{
  const GArray *bands = qm_decision_slider_get_bands (slider);

  for (guint i = 0; i < bands->len; i++)
    if (value < g_array_index (bands, QmBand, i).to)
      return &g_array_index (bands, QmBand, i);

  return &g_array_index (bands, QmBand, bands->len - 1);
}

/* What the track says at a value is what is chosen there, from jump to jump. */
static void
test_as_painted (void)
{
  g_auto (Driver) driver = { NULL };
  guint looked_at = 0;

  open_limits (&driver);
  qm_session_set_answer (driver.session, "activity", "fine-tune", NULL);
  driver_settle (&driver);
  driver_wait (&driver, has_bands);
  g_assert_true (press (slider_of (&driver, QM_DIAL_HOURS), GDK_KEY_End));
  for (int i = 0; i < 3; i++)
    {
      QmRecommendation *recommendation;
      const QmBand *band;
      double before = answer_of (&driver, "limits.hours");

      g_assert_true (press (slider_of (&driver, QM_DIAL_HOURS), GDK_KEY_Page_Down));
      g_assert_cmpfloat (answer_of (&driver, "limits.hours"), <, before);
      band = band_with (slider_of (&driver, QM_DIAL_HOURS), answer_of (&driver, "limits.hours"));
      if (!band->possible || band->to < 1.2 * band->from)
        continue;
      qm_session_set_answer (driver.session, "limits.hours", g_ascii_dtostr ((char[G_ASCII_DTOSTR_BUF_SIZE]) { 0 }, G_ASCII_DTOSTR_BUF_SIZE, sqrt (band->from * band->to)), NULL);
      {
        const QmDevice *painted = band->choice.estimate.device;
        int devices = band->choice.estimate.configuration.devices;

        driver_settle (&driver);
        recommendation = qm_session_get_recommendation (driver.session);
        g_assert_cmpuint (qm_recommendation_n_choices (recommendation), >, 0);
        g_assert_cmpstr (qm_recommendation_choice (recommendation, 0)->estimate.device->id, ==, painted->id);
        g_assert_cmpint (qm_recommendation_choice (recommendation, 0)->estimate.configuration.devices, ==, devices);
        looked_at++;
      }
      driver_wait (&driver, has_bands);
    }
  g_assert_cmpuint (looked_at, >, 0);
}

static void
test_keys (void)
{
  g_auto (Driver) driver = { NULL };
  QmDecisionSlider *slider;
  double value;

  open_limits (&driver);
  qm_session_set_answer (driver.session, "activity", "fine-tune", NULL);
  driver_settle (&driver);
  driver_wait (&driver, has_bands);
  slider = slider_of (&driver, QM_DIAL_MONEY);
  g_assert_true (gtk_widget_get_focusable (GTK_WIDGET (slider)));
  press (slider, GDK_KEY_End);
  value = answer_of (&driver, "limits.money");
  g_assert_cmpfloat (value, >, 0);
  press (slider, GDK_KEY_Left);
  g_assert_cmpfloat (answer_of (&driver, "limits.money"), <, value);
  press (slider, GDK_KEY_Right);
  press (slider, GDK_KEY_Home);
  driver_settle (&driver);
  g_assert_cmpuint (qm_recommendation_n_choices (qm_session_get_recommendation (driver.session)), ==, 0);
  g_assert_false (press (slider, GDK_KEY_Tab));
}

static void
add_tests (void)
{
  g_test_add_func ("/window/slider/as-painted", test_as_painted);
  g_test_add_func ("/window/slider/keys", test_keys);
}

int
main (int   argc,
      char *argv[])
{
  return driver_run (argc, argv, add_tests);
}
