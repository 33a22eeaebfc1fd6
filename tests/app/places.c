/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "places.h"

#include "plan/qm-plan.h"
#include "qm-history-page.h"
#include "qm-live-card.h"

#define PLAN(rest) "{\"format\":\"quartermaster-plan\",\"version\":1," rest "}"

#define TUNE    PLAN ("\"task\":\"language-model\",\"activity\":\"fine-tune\",\"model\":{\"id\":\"llama-3.1-8b\"}," \
                      "\"training\":{\"method\":\"lora\",\"samples\":20000,\"epochs\":3},\"limits\":{\"money\":60,\"hours\":12}")
#define SERVE   PLAN ("\"task\":\"language-model\",\"activity\":\"serve\",\"stage\":\"production\",\"model\":{\"id\":\"llama-3.1-8b\"}," \
                      "\"serving\":{\"requests_per_second\":3}")
#define PICTURE PLAN ("\"task\":\"image-classification\",\"activity\":\"train\",\"model\":{\"id\":\"resnet50\"}," \
                      "\"training\":{\"samples\":1281167,\"epochs\":90}")
#define QUOTED  PLAN ("\"task\":\"image-classification\",\"activity\":\"train\",\"model\":{\"id\":\"resnet50\"}," \
                      "\"training\":{\"samples\":1281167,\"epochs\":90}," \
                      "\"quotes\":[{\"device\":\"v100-sxm2-16gb\",\"devices\":4,\"hours\":72,\"money\":580,\"accuracy\":0.821}]," \
                      "\"results\":[{\"samples\":10000,\"score\":0.41},{\"samples\":100000,\"score\":0.66}]")
#define NOTHING PLAN ("\"task\":\"language-model\",\"activity\":\"fine-tune\",\"model\":{\"id\":\"llama-3.1-70b\"}," \
                      "\"training\":{\"method\":\"full\",\"samples\":20000,\"epochs\":3}," \
                      "\"places\":{\"owned\":[{\"device\":\"rtx-4060-ti-16gb\",\"devices\":1}],\"cloud\":[],\"buy\":false}")
#define NO_FILE PLAN ("\"task\":\"language-model\",\"activity\":\"serve\",\"model\":{\"file\":\"not-there.gguf\"}")

#define TRAINER "{\"global_step\":40,\"log_history\":[{\"loss\":2.0,\"step\":10},{\"loss\":1.5,\"step\":20},{\"loss\":1.2,\"step\":40}," \
                "{\"step\":40,\"train_runtime\":80.0,\"train_samples_per_second\":16.0,\"train_steps_per_second\":0.5,\"train_loss\":1.5}]}"

static GFile *
write_file (const char *name,
            const char *text)
{
  g_autofree char *path = driver_path (name);
  g_autoptr (GError) error = NULL;

  g_file_set_contents (path, text, -1, &error);
  g_assert_no_error (error);
  return g_file_new_for_path (path);
}

static GtkWidget *
one_of (Driver *driver,
        GType   type)
{
  g_autoptr (GPtrArray) found = driver_find_all (GTK_WIDGET (driver->window), type);

  g_assert_cmpuint (found->len, ==, 1);
  return g_ptr_array_index (found, 0);
}

/* --------------------------------------------------------------------- states */

static GtkWidget *
shown_run (Driver *driver)
{
  g_autoptr (GPtrArray) rows = driver_find_all (GTK_WIDGET (driver->window), ADW_TYPE_ACTION_ROW);

  for (guint i = 0; i < rows->len; i++)
    if (g_object_get_data (g_ptr_array_index (rows, i), "run") != NULL)
      return g_ptr_array_index (rows, i);

  return NULL;
}

static gboolean
has_run (Driver *driver)
{
  return shown_run (driver) != NULL;
}

static void
import_run (Driver *driver)
{
  g_autoptr (GFile) file = write_file ("trainer_state.json", TRAINER);

  qm_history_page_import (QM_HISTORY_PAGE (one_of (driver, QM_TYPE_HISTORY_PAGE)), file);
  driver_wait (driver, has_run);
}

/* The page of a device fills when the first samples are there. */
static gboolean
has_cards (Driver *driver)
{
  g_autoptr (GPtrArray) cards = driver_find_all (GTK_WIDGET (driver->window), QM_TYPE_LIVE_CARD);

  return cards->len > 0;
}

static void
wait_for_cards (Driver *driver)
{
  driver_wait (driver, has_cards);
}

static gboolean
has_dialog (Driver *driver)
{
  return adw_application_window_get_visible_dialog (ADW_APPLICATION_WINDOW (driver->window)) != NULL;
}

static void
open_run (Driver *driver)
{
  driver_wait (driver, has_run);
  gtk_widget_activate (shown_run (driver));
  driver_wait (driver, has_dialog);
}

static void
open_quote (Driver *driver)
{
  driver_press (driver_find (driver_page (driver), "add-quote"));
  driver_wait (driver, has_dialog);
}

static void
open_result (Driver *driver)
{
  driver_press (driver_find (driver_page (driver), "add-result"));
  driver_wait (driver, has_dialog);
}

static void
open_comparison (Driver *driver)
{
  g_autoptr (GFile) file = write_file ("other.qmplan", SERVE);

  qm_window_compare (driver->window, file);
  driver_wait (driver, has_dialog);
}

static void
open_broken (Driver *driver)
{
  g_autoptr (GFile) file = write_file ("broken.qmplan", "{\"format\": ");

  qm_window_open_file (driver->window, file);
  driver_wait (driver, has_dialog);
}

static void
unfold_chart_tables (Driver *driver)
{
  g_autoptr (GPtrArray) toggles = driver_find_all (driver_page (driver), GTK_TYPE_TOGGLE_BUTTON);

  for (guint i = 0; i < toggles->len; i++)
    if (g_strcmp0 (gtk_button_get_icon_name (g_ptr_array_index (toggles, i)), "view-list-symbolic") == 0)
      gtk_toggle_button_set_active (g_ptr_array_index (toggles, i), TRUE);
}

static void
save_plan (Driver *driver)
{
  g_autoptr (GFile) file = write_file ("saved.qmplan", TUNE);
  g_autofree char *uri = g_file_get_uri (file);

  gtk_recent_manager_add_full (gtk_recent_manager_get_default (), uri,
                               &(GtkRecentData) { .mime_type = (char *) "application/vnd.quartermaster.plan+json", .app_name = (char *) "test",
                                                  .app_exec = (char *) "test" });
  driver_settle (driver);
  qm_window_show_page (driver->window, "task");
  qm_window_show_page (driver->window, "start");
}

const Place places[] = {
  { "start", NULL, "start", NULL, NULL },
  { "start, with a plan", NULL, "start", NULL, save_plan },
  { "task", TUNE, "task", NULL, NULL },
  { "activity, tune", TUNE, "activity", NULL, NULL },
  { "model, tune", TUNE, "model", NULL, NULL },
  { "scale, tune", TUNE, "scale", NULL, NULL },
  { "stage, tune", TUNE, "stage", NULL, NULL },
  { "budget, tune", TUNE, "budget", NULL, NULL },
  { "review, tune", TUNE, "review", NULL, NULL },
  { "answer, tune", TUNE, "answer", NULL, NULL },
  { "answer, tables of the charts", TUNE, "answer", NULL, unfold_chart_tables },
  { "breakdown", TUNE, "answer", "win.breakdown", NULL },
  { "compare", TUNE, "answer", NULL, open_comparison },
  { "not a plan", TUNE, "answer", NULL, open_broken },
  { "activity, serve", SERVE, "activity", NULL, NULL },
  { "scale, serve", SERVE, "scale", NULL, NULL },
  { "budget, serve", SERVE, "budget", NULL, NULL },
  { "answer, serve", SERVE, "answer", NULL, NULL },
  { "scale, pictures", PICTURE, "scale", NULL, NULL },
  { "answer, pictures", PICTURE, "answer", NULL, NULL },
  { "scale, own results", QUOTED, "scale", NULL, NULL },
  { "a result", QUOTED, "scale", NULL, open_result },
  { "budget, own offers", QUOTED, "budget", NULL, NULL },
  { "an offer", QUOTED, "budget", NULL, open_quote },
  { "review, own rows", QUOTED, "review", NULL, NULL },
  { "answer, nothing fits", NOTHING, "answer", NULL, NULL },
  { "answer, no model file", NO_FILE, "answer", NULL, NULL },
  { "model, no model file", NO_FILE, "model", NULL, NULL },
  { "this computer", TUNE, "computer", NULL, wait_for_cards },
  { "record a run", NULL, "computer", "win.record", NULL },
  { "history, empty", NULL, "history", NULL, NULL },
  { "history, a run", NULL, "history", NULL, import_run },
  { "a run", NULL, "history", NULL, open_run },
  { "preferences", NULL, "start", "app.preferences", NULL },
  { "shortcuts", NULL, "start", "app.shortcuts", NULL },
  { "about", NULL, "start", "app.about", NULL },
  { "guide", NULL, "start", "win.guide('')", NULL },
  { "guide, unfolded", NULL, "start", "win.guide('range')", NULL },
  { NULL, NULL, NULL, NULL, NULL },
};

/* --------------------------------------------------------------------- opening */

static void
take_plan (const Place *self,
           Driver      *driver)
{
  g_autoptr (GError) error = NULL;
  QmPlan *plan = qm_plan_from_data (self->plan, -1, NULL, &error);

  g_assert_no_error (error);
  qm_session_set_plan (driver->session, plan, NULL);
}

static void
activate (Driver     *driver,
          const char *action)
{
  g_autoptr (GVariant) target = NULL;
  g_autofree char *name = NULL;
  const char *parameter = strchr (action, '(');
  g_autofree char *inside = parameter != NULL ? g_strndup (parameter + 1, strlen (parameter) - 2) : NULL;

  name = g_strndup (action, parameter != NULL ? (gsize) (parameter - action) : strlen (action));
  target = inside != NULL ? g_variant_ref_sink (g_variant_new_parsed (inside)) : NULL;
  g_assert_true (gtk_widget_activate_action_variant (GTK_WIDGET (driver->window), name, target));
}

GtkWidget *
place_open (const Place *self,
            Driver      *driver)
{
  AdwDialog *dialog;

  if (self->plan != NULL)
    take_plan (self, driver);
  if (g_str_equal (self->page, "computer") || g_str_equal (self->page, "history"))
    gtk_widget_activate_action (GTK_WIDGET (driver->window), "win.show-place", "s", self->page);
  else
    qm_window_show_page (driver->window, self->page);
  driver_settle (driver);
  if (self->action != NULL)
    activate (driver, self->action);
  if (self->prepare != NULL)
    self->prepare (driver);
  driver_settle (driver);
  dialog = adw_application_window_get_visible_dialog (ADW_APPLICATION_WINDOW (driver->window));

  return dialog != NULL ? GTK_WIDGET (dialog) : GTK_WIDGET (driver->window);
}

void
place_close (Driver *driver)
{
  AdwDialog *dialog;

  while ((dialog = adw_application_window_get_visible_dialog (ADW_APPLICATION_WINDOW (driver->window))) != NULL)
    {
      adw_dialog_force_close (dialog);
      driver_settle (driver);
    }
}
