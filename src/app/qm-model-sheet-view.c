/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gi18n.h>

#include "draw/qm-language.h"
#include "model/qm-model-sheet.h"
#include "qm-model-sheet-view.h"
#include "qm-ui.h"

static void
add_fact (GtkWidget  *sheet,
          const char *name,
          const char *value,
          const char *origin)
{
  GtkWidget *line = qm_ui_box (GTK_ORIENTATION_VERTICAL, 0);

  gtk_box_append (GTK_BOX (line), qm_ui_wrapped (name, "caption second"));
  gtk_box_append (GTK_BOX (line), qm_ui_wrapped (value, NULL));
  if (origin != NULL)
    gtk_box_append (GTK_BOX (line), qm_ui_wrapped (origin, "caption second"));
  gtk_box_append (GTK_BOX (sheet), line);
}

static void
add_notes (GtkWidget     *sheet,
           const QmModel *model)
{
  for (guint i = 0; model->notes != NULL && i < model->notes->len; i++)
    {
      g_autofree char *text = qm_message_get_text (g_ptr_array_index (model->notes, i), qm_language_get_words ());

      add_fact (sheet, _("Note"), text, NULL);
    }
}

/**
 * qm_model_sheet_fill:
 * @sheet: a box, which is emptied
 * @model: (nullable): a model
 * @catalog: (nullable): the catalog, for the formats of weights
 *
 * Shows what there is to know of a model, and where each figure comes from;
 * where several in a row come from the same place it is said once.
 */
void
qm_model_sheet_fill (GtkWidget     *sheet,
                     const QmModel *model,
                     QmCatalog     *catalog)
{
  g_autoptr (GPtrArray) facts = NULL;

  qm_ui_clear (sheet);
  if (model == NULL)
    return;
  gtk_box_append (GTK_BOX (sheet), qm_ui_wrapped (model->name, "title-4"));
  facts = qm_model_sheet (model, catalog != NULL ? qm_catalog_table (catalog, "quantization") : NULL);
  for (guint i = 0; i < facts->len; i++)
    {
      const QmModelFact *fact = g_ptr_array_index (facts, i);
      g_autofree char *text = qm_message_get_text (fact->value, qm_language_get_words ());
      gboolean ends = i + 1 == facts->len || ((QmModelFact *) g_ptr_array_index (facts, i + 1))->origin != fact->origin;

      add_fact (sheet, _(fact->title), text, ends && fact->origin != NULL ? _(fact->origin) : NULL);
    }
  if (model->license != NULL)
    add_fact (sheet, _("Licence"), model->license, NULL);
  if (model->source != NULL)
    add_fact (sheet, _("Source of these figures"), model->source, NULL);
  add_notes (sheet, model);
}
