/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gio/gio.h>
#include <json-glib/json-glib.h>

#include "decide/qm-diagnosis.h"
#include "decide/qm-recommendation.h"
#include "history/qm-ledger.h"
#include "probe/qm-probe.h"

G_BEGIN_DECLS

/* Exit statuses, as the manual says. */
#define QM_EXIT_OK      0
#define QM_EXIT_FAILURE 1           /* of the machine: disk full, not readable */
#define QM_EXIT_INPUT   2           /* what was given is wrong */

#define QM_USAGE_ERROR (qm_usage_error_quark ())
GQuark qm_usage_error_quark (void);

/**
 * QmCli:
 *
 * What every command needs, made when first asked for.
 */
typedef struct {
  QmCatalog *catalog;
  QmEstimator *estimator;
  QmMachine *machine;
  gboolean json;
  GPtrArray *past_runs;             /* (nullable): what own runs took in memory */
  gboolean plain;                   /* estimates are not corrected by own runs */
  char *ledger;                     /* (nullable): another file than the person's ledger */
  int exit_status;                  /* of a command that was run; passed on */
  const char *usage;                /* translated: what the command takes */
} QmCli;

typedef struct {
  const char *name;
  const char *arguments;            /* msgid */
  const char *summary;              /* msgid */
  gboolean (*run) (QmCli *cli, GStrv arguments, GError **error);
} QmCommand;

/* one command a file; @arguments begin with the command's name */
gboolean qm_command_estimate  (QmCli *cli, GStrv arguments, GError **error);
gboolean qm_command_recommend (QmCli *cli, GStrv arguments, GError **error);
gboolean qm_command_ask       (QmCli *cli, GStrv arguments, GError **error);
gboolean qm_command_model     (QmCli *cli, GStrv arguments, GError **error);
gboolean qm_command_detect    (QmCli *cli, GStrv arguments, GError **error);
gboolean qm_command_diagnose  (QmCli *cli, GStrv arguments, GError **error);
gboolean qm_command_record    (QmCli *cli, GStrv arguments, GError **error);
gboolean qm_command_watch     (QmCli *cli, GStrv arguments, GError **error);
gboolean qm_command_ledger    (QmCli *cli, GStrv arguments, GError **error);
gboolean qm_command_export    (QmCli *cli, GStrv arguments, GError **error);
gboolean qm_command_catalog   (QmCli *cli, GStrv arguments, GError **error);
gboolean qm_command_prices    (QmCli *cli, GStrv arguments, GError **error);
gboolean qm_command_report    (QmCli *cli, GStrv arguments, GError **error);
gboolean qm_command_chart     (QmCli *cli, GStrv arguments, GError **error);
gboolean qm_command_elastic   (QmCli *cli, GStrv arguments, GError **error);
gboolean qm_command_tune      (QmCli *cli, GStrv arguments, GError **error);
gboolean qm_command_quantization (QmCli *cli, GStrv arguments, GError **error);
gboolean qm_command_settings  (QmCli *cli, GStrv arguments, GError **error);
gboolean qm_command_score     (QmCli *cli, GStrv arguments, GError **error);

/* A text in a column of @cells cells of a terminal, for "%-*s" or "%*s". */
#define QM_COLUMN(cells, text) qm_cli_column_bytes (cells, text), text

int          qm_cli_cells          (const char         *text);
int          qm_cli_column_bytes   (int                 cells,
                                    const char         *text);

/* shared by them */
gboolean     qm_cli_parse          (QmCli              *cli,
                                    GStrv              *arguments,
                                    const GOptionEntry *entries,
                                    int                 minimum,
                                    int                 maximum,
                                    GError            **error);
gboolean     qm_cli_may_run_commands (GError          **error);
char        *qm_cli_shipped_directory (void);
char        *qm_cli_user_directory (void);
char        *qm_cli_on_one_line    (const char         *text);
void         qm_cli_print_problem  (const GError       *error);
QmCatalog   *qm_cli_get_catalog    (QmCli              *cli,
                                    GError            **error);
QmCatalog   *qm_cli_load_table     (QmCli              *cli,
                                    const char         *name,
                                    GError            **error);
QmCatalog   *qm_cli_load_model     (QmCli              *cli,
                                    const char         *id,
                                    const char         *table,
                                    GError            **error);
QmEstimator *qm_cli_get_estimator  (QmCli              *cli,
                                    GError            **error);
QmMachine   *qm_cli_get_machine    (QmCli              *cli,
                                    GError            **error);
QmResolved  *qm_cli_load_plan      (QmCli              *cli,
                                    const char         *path,
                                    GError            **error);
QmResolved  *qm_cli_load_plan_without (QmCli           *cli,
                                    const char         *path,
                                    const char * const *without,
                                    const char         *output,
                                    GError            **error);
QmRecommendation *qm_cli_recommend (QmCli              *cli,
                                    const QmResolved   *resolved,
                                    GError            **error);
void         qm_cli_print_warnings (GPtrArray          *warnings,
                                    const char         *path);
void         qm_cli_print_json     (JsonNode           *node,
                                    gboolean            pretty);
void         qm_cli_print_choice   (QmCli              *cli,
                                    const QmResolved   *resolved,
                                    const QmChoice     *choice,
                                    gboolean            long_form);
void         qm_cli_print_nearest  (QmRecommendation   *recommendation);
void         qm_cli_print_assumed  (const QmResolved   *resolved);
void         qm_cli_print_message  (const QmMessage    *message);

/* the runs of the past */
gboolean     qm_cli_print_experience (QmCli            *cli,
                                    QmLedger           *ledger,
                                    GError            **error);
gboolean     qm_cli_print_suggestions (QmCli           *cli,
                                    QmLedger           *ledger,
                                    const char         *path,
                                    GError            **error);
gboolean     qm_cli_size           (QmCli              *cli,
                                    QmResolved         *resolved,
                                    GError            **error);
gboolean     qm_cli_learn          (QmCli              *cli,
                                    GError            **error);
QmDiagnosis *qm_cli_diagnose       (QmCli              *cli,
                                    QmRun              *run,
                                    const QmSeries     *series);
void         qm_cli_print_diagnosis (const QmDiagnosis *diagnosis);
void         qm_cli_print_run_line (const QmRun        *run);
void         qm_cli_print_run      (const QmRun        *run);

G_END_DECLS
