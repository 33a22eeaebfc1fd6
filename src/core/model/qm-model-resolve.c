/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-model-private.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "qm-architecture-shape.h"
#include "qm-error.h"

/* Engines of gradient boosting are named where other tasks name a model. */
static const char * const boosters[] = { "xgboost", "lightgbm", "catboost", "h2o", "random-forest" };

/**
 * qm_model_note:
 * @self: a model
 * @note: (transfer full): what was assumed in reading it
 */
void
qm_model_note (QmModel   *self,
               QmMessage *note)
{
  if (self->notes == NULL)
    self->notes = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_message_free);
  g_ptr_array_add (self->notes, note);
}

/**
 * qm_model_set_name:
 * @self: a model
 * @name: any text from outside
 *
 * Takes over as much of @name as there is room for, in valid UTF-8 and without
 * control characters.
 */
void
qm_model_set_name (QmModel    *self,
                   const char *name)
{
  g_autofree char *valid = g_utf8_make_valid (name, -1);
  const char *end;

  for (char *c = valid; *c != '\0'; c++)
    if (g_ascii_iscntrl (*c))
      *c = ' ';
  g_strlcpy (self->name, valid, sizeof self->name);
  if (!g_utf8_validate (self->name, -1, &end))
    self->name[end - self->name] = '\0';
}

/**
 * qm_model_idle_parameters:
 * @self: a model
 *
 * Returns: parameters in the experts that one token does not meet
 */
double
qm_model_idle_parameters (const QmModel *self)
{
  return self->architecture.parameters - self->architecture.active_parameters;
}

static void
keep_config (QmModel    *self,
             JsonObject *config,
             QmJsonBox  *tree)
{
  QmJsonBox *before = self->config_tree;

  self->config = config;
  self->config_tree = qm_json_box_ref (tree);
  g_clear_pointer (&before, qm_json_box_unref);
}

/**
 * qm_model_read_shared_config:
 * @self: a model
 * @config: the content of a config.json
 * @tree: that @config is a part of; it is held
 * @error: return location for an error
 *
 * Returns: whether @config describes a model
 */
gboolean
qm_model_read_shared_config (QmModel     *self,
                             JsonObject  *config,
                             QmJsonBox   *tree,
                             GError     **error)
{
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_message_free);

  if (!qm_architecture_read (config, &self->architecture, notes, error))
    return FALSE;
  for (guint i = 0; i < notes->len; i++)
    qm_model_note (self, qm_message_copy (g_ptr_array_index (notes, i)));
  keep_config (self, config, tree);
  self->parameters = self->architecture.parameters;
  self->active_parameters = self->architecture.active_parameters;
  self->encoder_layers = self->architecture.encoder_layers;
  self->decoder_layers = self->architecture.decoder_layers;
  return TRUE;
}

/**
 * qm_model_read_config:
 * @self: a model
 * @config: the content of a config.json, of this thread alone
 * @error: return location for an error
 *
 * Returns: whether @config describes a model
 */
gboolean
qm_model_read_config (QmModel     *self,
                      JsonObject  *config,
                      GError     **error)
{
  g_autoptr (QmJsonBox) tree = qm_json_box_new_object (json_object_ref (config));

  return qm_model_read_shared_config (self, config, tree, error);
}

/**
 * qm_model_from_entry:
 * @entry: an entry of the catalog
 * @error: return location for an error
 *
 * Returns: (transfer full) (nullable): the model, at the image size of its entry
 */
QmModel *
qm_model_from_entry (const QmModelEntry  *entry,
                     GError             **error)
{
  g_autoptr (QmModel) self = qm_model_new ();
  g_autoptr (QmJsonBox) tree = qm_model_entry_parse (entry);
  JsonObject *facts = qm_json_box_object (tree);

  g_strlcpy (self->id, entry->id, sizeof self->id);
  qm_model_set_name (self, entry->name != NULL ? entry->name : entry->id);
  self->task = entry->task;
  self->read_by = QM_READER_CATALOG;
  self->catalogued = TRUE;
  if (entry->has_config && !qm_model_read_shared_config (self, json_object_get_object_member (facts, "config"), tree, error))
    return NULL;
  qm_model_read_facts (self, facts, tree);
  if (entry->source != NULL)
    self->source = entry->source;
  if (self->active_parameters <= 0)
    self->active_parameters = self->parameters - qm_model_idle_parameters (self);
  return g_steal_pointer (&self);
}

static gboolean
has_sizes (const QmPlanModel *given)
{
  return given->parameters > 0 || given->flops_per_sample > 0 || given->activations_per_sample > 0 ||
         given->dense_parameters > 0 || given->embedding_lookups > 0 || given->embedding_dim > 0 ||
         given->embedding_features > 0 || given->embedding_rows > 0 || given->mf_dim > 0 ||
         given->items_per_query > 0 || given->architecture != NULL || given->file != NULL;
}

static gboolean
is_booster (const QmPlan *plan)
{
  if (plan->task != QM_TASK_TABULAR)
    return FALSE;
  for (gsize i = 0; i < G_N_ELEMENTS (boosters); i++)
    if (g_str_has_prefix (plan->model.id, boosters[i]))
      return TRUE;
  return FALSE;
}

static void
warn (GPtrArray  *warnings,
      const char *path,
      QmMessage  *message)
{
  QmPlanWarning *warning;

  if (warnings == NULL)
    {
      qm_message_free (message);
      return;
    }
  warning = g_new0 (QmPlanWarning, 1);
  warning->path = g_strdup (path);
  warning->message = message;
  g_ptr_array_add (warnings, warning);
}

static double
asked_image_size (const QmPlan *plan)
{
  double first = qm_plan_is_training (plan) ? plan->training.image_size : plan->serving.image_size;

  if (first > 0)
    return first;
  return qm_plan_is_training (plan) ? plan->serving.image_size : plan->training.image_size;
}

static QmModel *
unknown_id (const QmPlan  *plan,
            QmCatalog     *catalog,
            GPtrArray     *warnings,
            GError       **error)
{
  const char *id = plan->model.id;
  const char *nearest = catalog != NULL ? qm_catalog_nearest_id (catalog, "model", id) : NULL;
  QmModel *self;

  if (!has_sizes (&plan->model) && !is_booster (plan))
    {
      if (nearest != NULL)
        qm_error_set (error, QM_MODEL_ERROR, QM_MODEL_ERROR_UNKNOWN, "model.id",
                      N_("no model is called “{word}”; the nearest name is “{nearest}”"), "word", id, "nearest", nearest, NULL);
      else
        qm_error_set (error, QM_MODEL_ERROR, QM_MODEL_ERROR_UNKNOWN, "model.id",
                      N_("no model is called “{word}”; give its parameters or its config.json"), "word", id, NULL);
      return NULL;
    }
  if (!is_booster (plan) && nearest != NULL)
    warn (warnings, "model.id",
          qm_message_new_filled ("unknown-model", N_("no model is called “{word}”; the sizes given are used (the nearest name is “{nearest}”)"),
                                 "word", id, "nearest", nearest, NULL));
  else if (!is_booster (plan))
    warn (warnings, "model.id",
          qm_message_new_filled ("unknown-model", N_("no model is called “{word}”; the sizes given are used"), "word", id, NULL));
  self = qm_model_new ();
  g_strlcpy (self->id, id, sizeof self->id);
  qm_model_set_name (self, id);
  return self;
}

static QmModel *
from_id (const QmPlan  *plan,
         QmCatalog     *catalog,
         GPtrArray     *warnings,
         GError       **error)
{
  const QmModelEntry *entry = NULL;

  if (plan->model.id[0] == '\0')
    return qm_model_new ();
  if (catalog != NULL)
    entry = qm_catalog_find_model (catalog, plan->model.id, asked_image_size (plan));
  if (entry == NULL)
    return unknown_id (plan, catalog, warnings, error);
  return qm_model_from_entry (entry, error);
}

static QmModel *
from_file (const QmPlan  *plan,
           const char    *base_directory,
           GError       **error)
{
  g_autofree char *path = NULL;

  if (g_path_is_absolute (plan->model.file) || base_directory == NULL)
    path = g_strdup (plan->model.file);
  else
    path = g_build_filename (base_directory, plan->model.file, NULL);
  return qm_model_from_file (path, error);
}

/* A shape may be left out where the count is given; anything it says must make sense. */
static gboolean
read_embedded (QmModel       *self,
               const QmPlan  *plan,
               GPtrArray     *warnings,
               GError       **error)
{
  QmJsonBox *tree = plan->model.architecture;
  JsonObject *config = qm_json_box_object (tree);
  QmConfigKeys keys = { .object = config };
  gboolean no_shape = !qm_config_keys_has (&keys, "hidden_size") && !qm_config_keys_has (&keys, "num_hidden_layers") &&
                      qm_config_keys_object (&keys, "text_config") == NULL &&
                      !qm_config_keys_has (&keys, "depths") && !qm_config_keys_has (&keys, "block_out_channels");

  if (no_shape && plan->model.parameters > 0)
    {
      warn (warnings, "model.architecture",
            qm_message_new ("no-sizes", N_("has no sizes; the shape is guessed from the parameter count")));
      keep_config (self, config, tree);
      return TRUE;
    }
  if (!qm_model_read_shared_config (self, config, tree, error))
    {
      if (error != NULL)
        qm_error_add_path (*error, "model.architecture");
      return FALSE;
    }
  if (self->read_by == QM_READER_NONE)
    self->read_by = QM_READER_CONFIG;
  return TRUE;
}

/* The count given stands; of experts, what one token does not meet stays what the shapes make it. */
static void
override_counts (QmModel           *self,
                 const QmPlanModel *given)
{
  if (given->parameters > 0)
    {
      double idle = self->architecture.known ? qm_model_idle_parameters (self) : 0;

      self->parameters = given->parameters;
      self->active_parameters = given->parameters > idle ? given->parameters - idle : given->parameters;
      if (self->read_by == QM_READER_NONE)
        self->read_by = QM_READER_PARAMETER_COUNT;
    }
  if (given->active_parameters > 0)
    self->active_parameters = given->active_parameters;
  if (self->active_parameters <= 0 || self->active_parameters > self->parameters)
    self->active_parameters = self->parameters;
}

static gboolean
is_language (QmTask task)
{
  return task == QM_TASK_LANGUAGE_MODEL || task == QM_TASK_TEXT_ENCODER;
}

static void
name_by_size (QmModel *self)
{
  if (self->name[0] != '\0' || self->parameters <= 0)
    return;
  if (self->architecture.type[0] != '\0')
    g_snprintf (self->name, sizeof self->name, "%s, ", self->architecture.type);
  if (self->parameters >= 1e9)
    g_snprintf (self->name + strlen (self->name), sizeof self->name - strlen (self->name), "%.3gB",
                self->parameters / 1e9);
  else
    g_snprintf (self->name + strlen (self->name), sizeof self->name - strlen (self->name), "%.3gM",
                self->parameters / 1e6);
}

/**
 * qm_model_resolve:
 * @plan: the answers
 * @catalog: (nullable): the catalog
 * @base_directory: (nullable): what `model.file` is relative to
 * @warnings: (nullable) (element-type QmPlanWarning): where to add warnings
 * @error: return location for an error
 *
 * What the plan's model is: a file, or a catalog entry, with an embedded
 * architecture and the plan's own figures laid over it. A plan that names no
 * model at all gives a model of which nothing is known.
 *
 * Where sizes and a parameter count are both given, `parameters` is the count
 * given and `architecture.parameters` what the sizes make.
 *
 * Returns: (transfer full) (nullable): the model
 */
QmModel *
qm_model_resolve (const QmPlan  *plan,
                  QmCatalog     *catalog,
                  const char    *base_directory,
                  GPtrArray     *warnings,
                  GError       **error)
{
  g_autoptr (QmModel) self = NULL;

  if (plan->model.file != NULL && plan->model.file[0] != '\0')
    self = from_file (plan, base_directory, error);
  else
    self = from_id (plan, catalog, warnings, error);
  if (self == NULL)
    return NULL;
  if (plan->model.architecture != NULL && !read_embedded (self, plan, warnings, error))
    return NULL;
  override_counts (self, &plan->model);
  if (plan->task != QM_TASK_UNSET)
    self->task = plan->task;
  if (is_language (self->task) && !self->architecture.known && self->parameters > 0)
    {
      char type[sizeof self->architecture.type];

      g_strlcpy (type, self->architecture.type, sizeof type);
      qm_architecture_guess (self->parameters, &self->architecture);
      g_strlcpy (self->architecture.type, type, sizeof type);
    }
  if (is_language (self->task) && plan->model.active_parameters > 0)
    qm_architecture_mix (&self->architecture, self->parameters, self->active_parameters);
  if (!is_language (self->task) && self->task != QM_TASK_TABULAR)
    qm_model_complete_facts (self, plan, asked_image_size (plan));
  name_by_size (self);
  return g_steal_pointer (&self);
}
