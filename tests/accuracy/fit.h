/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <json-glib/json-glib.h>

#include "cli/qm-score.h"
#include "estimate/qm-llm-inference-private.h"
#include "estimate/qm-llm-training.h"
#include "estimate/qm-other-domains.h"
#include "plan/qm-defaults.h"

G_BEGIN_DECLS

/* Files of constants, each with a predictor of its own. */
typedef enum {
  FIT_TABLE_TRAINING,
  FIT_TABLE_INFERENCE,
  FIT_TABLE_DOMAINS,
  FIT_N_TABLES,
} FitTable;

/* Constants that are fitted together, on figures of one kind. */
typedef enum {
  FIT_PART_TRAINING_MEMORY,
  FIT_PART_TRAINING_RATE,
  FIT_PART_INFERENCE_MEMORY,
  FIT_PART_INFERENCE_RATE,
  FIT_PART_DOMAINS,
  FIT_N_PARTS,
} FitPart;

/* What is reported together. */
typedef enum {
  FIT_TRAINING_MEMORY,
  FIT_INFERENCE_MEMORY,
  FIT_OTHER_MEMORY,
  FIT_HOST_MEMORY,
  FIT_TRAINING_RATE,
  FIT_ENCODER_VISION,
  FIT_DIFFUSION,
  FIT_DECODE,
  FIT_PROMPT,
  FIT_SERVING,
  FIT_VISION_INFERENCE,
  FIT_OTHER_INFERENCE,
  FIT_RECOMMENDER_TABULAR,
  FIT_N_FAMILIES,
} FitFamily;

typedef enum {
  FIT_KEY_MEMORY,
  FIT_KEY_HOST,
  FIT_KEY_PER_DEVICE,
  FIT_KEY_PER_SECOND,
  FIT_KEY_SAMPLES,
  FIT_KEY_STEP,
  FIT_KEY_TFLOPS,
  FIT_KEY_MFU,
  FIT_KEY_FINISH,                   /* a whole run: its tokens or samples over the time */
  FIT_KEY_DECODE,
  FIT_KEY_PREFILL,
  FIT_KEY_FIRST_TOKEN,
  FIT_KEY_SECONDS,                  /* of a tabular job */
  FIT_N_KEYS,
} FitKey;

typedef struct {
  char *id;
  char *group;
  char *sweep;                      /* with the group */
  char *basis;
  char *scope;
  GStrv tags;
  gboolean high_trust;
  FitTable table;
  QmResolved *resolved;
  const QmDevice *device;
  gboolean can_fit;                 /* whether memory.fits was measured: only out-of-memory runs are */
  double fits;
} FitCase;

/* One measured figure. */
typedef struct {
  FitCase *of;
  FitPart part;
  FitFamily family;
  FitKey key;
  double measured;
  double weight;
  char *stratum;                    /* what its range is taken from */
  double widening;                  /* its half-width over that of the stratum */
  guint fold;
  double residual;                  /* ln estimate / measured, out of sample */
  double half_width;
} FitFigure;

/* A number in a table that the fit may move. */
typedef struct {
  FitPart part;
  FitTable table;
  JsonObject *owner;
  char *member;
  char *name;
  double prior;
  double sd;
  gboolean logarithm;
  double shipped;
  GArray *acts_on;                  /* indices of figures */
} FitConstant;

typedef struct {
  QmCatalog *catalog;
  JsonNode *tables[FIT_N_TABLES];
  QmLlmTrainingConstants *training;
  QmLlmInferenceConstants *inference;
  QmOtherDomainsConstants *domains;
  GPtrArray *cases;                 /* of FitCase */
  GPtrArray *figures;               /* of FitFigure, those of a case one behind another */
  GPtrArray *constants;             /* of FitConstant */
} Fit;

/* cases */
gboolean    fit_read_cases       (Fit         *self,
                                  const char  *folder,
                                  GError     **error);
void        fit_case_free        (FitCase     *self);
void        fit_figure_free      (FitFigure   *self);

/* tables and estimates */
gboolean    fit_read_tables      (Fit         *self,
                                  const char  *folder,
                                  GError     **error);
void        fit_reload           (Fit         *self,
                                  FitTable     table);
void        fit_estimate         (Fit         *self,
                                  FitCase     *measured_case,
                                  QmEstimate  *estimate);
double      fit_figure_estimate  (FitFigure   *figure,
                                  const QmEstimate *estimate,
                                  double      *half_width);
void        fit_residuals        (Fit         *self,
                                  GArray      *figures,
                                  double      *residuals,
                                  double      *half_widths);
char       *fit_inference_key    (Fit         *self,
                                  FitCase     *measured_case,
                                  const char  *level);

/* constants */
void        fit_find_constants   (Fit         *self);
void        fit_constant_free    (FitConstant *self);
double      fit_constant_get     (FitConstant *self);
void        fit_constant_set     (FitConstant *self,
                                  double       value);
void        fit_find_influence   (Fit         *self,
                                  FitPart      part);
FitTable    fit_part_table       (FitPart      part);
void        fit_set_evidence     (Fit         *self,
                                  GArray      *figures);

/* fitting */
double      fit_part             (Fit         *self,
                                  FitPart      part,
                                  GArray      *figures);

/* ranges */
void        fit_find_strata      (Fit         *self,
                                  FitPart      part);
void        fit_find_states      (Fit         *self,
                                  GArray      *figures);
void        fit_set_half_widths  (GPtrArray   *figures,
                                  GPtrArray   *extra);
JsonObject *fit_widths_to_json   (GPtrArray   *figures,
                                  GPtrArray   *extra);

/* report */
void        fit_report_header    (const char  *title);
void        fit_report           (GPtrArray   *runs);
void        fit_report_by        (GPtrArray   *runs,
                                  const char  *what);
void        fit_report_fits      (Fit         *self);

G_END_DECLS
