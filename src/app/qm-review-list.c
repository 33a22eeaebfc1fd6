/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>
#include <string.h>

#include "draw/qm-language.h"
#include "qm-columns.h"
#include "qm-own-rows.h"
#include "qm-question-row.h"
#include "qm-ui.h"
#include "qm-wizard-page.h"

#define QM_TYPE_REVIEW_LIST (qm_review_list_get_type ())
G_DECLARE_FINAL_TYPE (QmReviewList, qm_review_list, QM, REVIEW_LIST, GtkBox)

struct _QmReviewList {
  GtkBox parent_instance;

  QmSession *session;
  QmWizardPage *page;               /* not owned: it holds this list */
  GtkWidget *answers;
  GtkWidget *assumptions;
};

G_DEFINE_FINAL_TYPE (QmReviewList, qm_review_list, GTK_TYPE_BOX)

static const char *
currency (QmReviewList *self)
{
  return qm_plan_get_currency (qm_session_get_plan (self->session));
}

static void
activated (GtkListBox    *list,
           GtkListBoxRow *row,
           QmReviewList  *self)
{
  const int *page = g_object_get_data (G_OBJECT (row), "page");

  if (page != NULL)
    g_signal_emit_by_name (self->page, "jump", *page);
}

/* Names of models may be one long word; all else breaks between words. */
static GtkWidget *
value_new (const char *value,
           gboolean    is_name)
{
  GtkWidget *label = qm_ui_wrapped (value, "value");

  gtk_label_set_wrap_mode (GTK_LABEL (label), is_name ? PANGO_WRAP_WORD_CHAR : PANGO_WRAP_WORD);
  gtk_label_set_natural_wrap_mode (GTK_LABEL (label), GTK_NATURAL_WRAP_NONE);
  gtk_label_set_justify (GTK_LABEL (label), GTK_JUSTIFY_RIGHT);
  gtk_label_set_xalign (GTK_LABEL (label), 1);
  gtk_label_set_max_width_chars (GTK_LABEL (label), 22);

  return label;
}

/* Pressed it leads to the page, where there is one to go to. */
static void
add_row (GtkWidget  *list,
         const int  *page,
         const char *title,
         const char *subtitle,
         const char *value,
         gboolean    is_name)
{
  GtkWidget *row = adw_action_row_new ();
  GtkWidget *label = value_new (value, is_name);

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  if (subtitle != NULL)
    adw_action_row_set_subtitle (ADW_ACTION_ROW (row), subtitle);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), label);
  if (page != NULL)
    {
      GtkWidget *pencil = gtk_image_new_from_icon_name ("document-edit-symbolic");

      adw_action_row_add_suffix (ADW_ACTION_ROW (row), pencil);
      gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), TRUE);
      g_object_set_data_full (G_OBJECT (row), "page", g_memdup2 (page, sizeof *page), g_free);
    }
  gtk_list_box_append (GTK_LIST_BOX (list), row);
}

static void
add_question (GtkWidget        *list,
              const QmQuestion *question,
              const char       *subtitle,
              const char       *value)
{
  const int page = question->page;

  add_row (list, &page, _(question->title), subtitle, value, question->kind == QM_ANSWER_WORD);
}

static char *
model_name (QmReviewList *self)
{
  const QmResolved *resolved = qm_session_get_resolved (self->session);

  return g_strdup (resolved != NULL ? resolved->model->name : _("unknown"));
}

static char *
describe (QmReviewList     *self,
          const QmQuestion *question,
          const char       *value)
{
  if (strcmp (question->field, "model.id") == 0)
    return model_name (self);
  if (strcmp (question->field, "places.cloud") == 0)
    return qm_describe_providers (qm_session_get_catalog (self->session), value);

  return qm_describe_answer (question, value, currency (self));
}

static gboolean
is_assumed (const QmResolved *resolved,
            const char       *field)
{
  for (guint i = 0; i < resolved->assumed->len; i++)
    if (strcmp (((QmAssumption *) g_ptr_array_index (resolved->assumed, i))->field, field) == 0)
      return TRUE;

  return FALSE;
}

/* What was answered, and the first questions in any case. */
static void
fill_answers (QmReviewList     *self,
              const QmResolved *resolved)
{
  for (guint i = 0; i < qm_flow_n_questions (); i++)
    {
      const QmQuestion *question = qm_flow_question (i);
      g_autofree char *value = qm_session_get_effective (self->session, question->field);
      gboolean always = question->page == QM_PAGE_TASK || question->kind == QM_ANSWER_MONEY || question->kind == QM_ANSWER_HOURS ||
                        strcmp (question->field, "activity") == 0 || strcmp (question->field, "model.id") == 0;
      g_autofree char *text = NULL;

      if (!qm_flow_applies (question, resolved->plan) ||
          (!always && (value == NULL || is_assumed (resolved, question->field))))
        continue;
      text = describe (self, question, value);
      add_question (self->answers, question, NULL, text);
    }
}

/* Computers that the person has beside this one are no answer of a field. */
static void
fill_owned (QmReviewList     *self,
            const QmResolved *resolved)
{
  const QmPlaces *places = &resolved->given->places;
  const int page = QM_PAGE_BUDGET;

  for (int i = 0; i < places->n_owned; i++)
    {
      const QmDevice *device = qm_catalog_find_device (qm_session_get_catalog (self->session), places->owned[i].device);
      g_autofree char *text = g_strdup_printf ("%d × %s", places->owned[i].devices, device != NULL ? device->name : places->owned[i].device);

      add_row (self->answers, &page, _("Another computer of yours"), NULL, text, FALSE);
    }
}

static void
add_own_rows (QmReviewList *self,
              QmOwnKind     kind,
              int           page)
{
  int n = qm_own_rows_count (kind, qm_session_get_plan (self->session));
  /* Translators: of offers or results that the person entered */
  g_autofree char *count = g_strdup_printf (g_dngettext (NULL, "%d row", "%d rows", n), n);

  if (n > 0)
    add_row (self->answers, &page, qm_own_rows_title (kind), NULL, count, FALSE);
}

static void
fill_assumptions (QmReviewList     *self,
                  const QmResolved *resolved)
{
  for (guint i = 0; i < resolved->assumed->len; i++)
    {
      const QmAssumption *assumption = g_ptr_array_index (resolved->assumed, i);
      const QmQuestion *question = qm_flow_find_for (assumption->field, resolved->plan);
      g_autofree char *why = qm_message_get_text (assumption->why, qm_language_get_words ());
      g_autofree char *value = NULL;

      if (question == NULL || !qm_flow_applies (question, resolved->plan))
        continue;
      value = describe (self, question, assumption->value);
      add_question (self->assumptions, question, why, value);
    }
}

static void
update (QmReviewList *self)
{
  const QmResolved *resolved = qm_session_get_resolved (self->session);

  gtk_list_box_remove_all (GTK_LIST_BOX (self->answers));
  gtk_list_box_remove_all (GTK_LIST_BOX (self->assumptions));
  if (resolved == NULL)
    {
      add_row (self->answers, NULL, _("The answers do not fit together"), qm_session_get_problem (self->session), "", FALSE);
      return;
    }

  fill_answers (self, resolved);
  fill_owned (self, resolved);
  add_own_rows (self, QM_OWN_RESULTS, QM_PAGE_SCALE);
  add_own_rows (self, QM_OWN_QUOTES, QM_PAGE_BUDGET);
  fill_assumptions (self, resolved);
}

static GtkWidget *
column_new (QmReviewList *self,
            const char   *title,
            GtkWidget   **list)
{
  GtkWidget *column = qm_ui_box (GTK_ORIENTATION_VERTICAL, 9);

  *list = gtk_list_box_new ();
  gtk_widget_add_css_class (*list, "boxed-list");
  gtk_list_box_set_selection_mode (GTK_LIST_BOX (*list), GTK_SELECTION_NONE);
  gtk_widget_set_valign (*list, GTK_ALIGN_START);
  qm_ui_set_label (*list, title);
  g_signal_connect (*list, "row-activated", G_CALLBACK (activated), self);
  gtk_box_append (GTK_BOX (column), qm_ui_label (title, "heading"));
  gtk_box_append (GTK_BOX (column), *list);

  return column;
}

static void
qm_review_list_dispose (GObject *object)
{
  g_clear_object (&QM_REVIEW_LIST (object)->session);

  G_OBJECT_CLASS (qm_review_list_parent_class)->dispose (object);
}

static void
qm_review_list_class_init (QmReviewListClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = qm_review_list_dispose;
}

static void
qm_review_list_init (QmReviewList *self)
{
  GtkWidget *columns = qm_columns_new (340, 2, 18);

  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  qm_columns_append (QM_COLUMNS (columns), column_new (self, _("What you told us"), &self->answers));
  qm_columns_append (QM_COLUMNS (columns), column_new (self, _("What we assumed"), &self->assumptions));
  gtk_box_append (GTK_BOX (self), columns);
}

/**
 * qm_review_list_new:
 * @session: the session
 * @page: the page that holds it, told to jump
 *
 * Returns: (transfer floating): answers and assumptions beside each other
 */
GtkWidget *
qm_review_list_new (QmSession    *session,
                    QmWizardPage *page)
{
  QmReviewList *self = g_object_new (QM_TYPE_REVIEW_LIST, NULL);

  self->session = g_object_ref (session);
  self->page = page;
  qm_ui_update_in_sight (GTK_WIDGET (self), session, "plan-changed", G_CALLBACK (update));

  return GTK_WIDGET (self);
}
