/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-recommendation.h"

G_BEGIN_DECLS

#define QM_LAUNCH_ERROR (qm_launch_error_quark ())

/**
 * QmLaunchError:
 * @QM_LAUNCH_ERROR_FORMAT: no such format
 * @QM_LAUNCH_ERROR_SENSELESS: the format makes no sense for this choice; the
 *   message says why
 * @QM_LAUNCH_ERROR_TEMPLATE: a template that cannot be used
 */
typedef enum {
  QM_LAUNCH_ERROR_FORMAT,
  QM_LAUNCH_ERROR_SENSELESS,
  QM_LAUNCH_ERROR_TEMPLATE,
} QmLaunchError;

GQuark qm_launch_error_quark (void);

/**
 * QmLaunchFile:
 * @name: of the file, without a folder
 * @text: its content
 * @executable: a script
 */
typedef struct {
  char *name;
  char *text;
  gboolean executable;
} QmLaunchFile;

void        qm_launch_file_free     (QmLaunchFile     *self);

/**
 * QmLaunchFormat:
 * @id: its stable name
 * @name: for people
 * @start: (nullable): the command that starts the job
 * @needs: what a person must have first, as sentences
 * @guards: what the files see to by themselves, as sentences
 * @why_not: (nullable): why it makes no sense for this choice
 *
 * A way to start a job, in the language of the person.
 */
typedef struct {
  char *id;
  char *name;
  char *start;
  GStrv needs;
  GStrv guards;
  char *why_not;
} QmLaunchFormat;

void        qm_launch_format_free   (QmLaunchFormat   *self);

typedef struct _QmLauncher QmLauncher;

QmLauncher *qm_launcher_new         (const char       *template_directory,
                                     GError          **error);
void        qm_launcher_free        (QmLauncher       *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmLauncher, qm_launcher_free)

GStrv       qm_launcher_formats     (QmLauncher       *self);
GStrv       qm_launcher_providers   (QmLauncher       *self,
                                     const char       *format,
                                     QmCatalog        *catalog);
GPtrArray  *qm_launcher_describe    (QmLauncher       *self,
                                     JsonObject       *values,
                                     const QmWords    *words);
char       *qm_launch_check_driver  (const char       *driver,
                                     const char       *wanted,
                                     const QmWords    *words);
GPtrArray  *qm_launcher_fill        (QmLauncher       *self,
                                     const char       *format,
                                     JsonObject       *values,
                                     GError          **error);
GPtrArray  *qm_launcher_write       (QmLauncher       *self,
                                     const char       *format,
                                     QmEstimator      *estimator,
                                     const QmResolved *resolved,
                                     const QmChoice   *choice,
                                     const char       *date,
                                     GError          **error);

/* what every template can use, by name */
JsonObject *qm_launch_values        (QmEstimator      *estimator,
                                     const QmResolved *resolved,
                                     const QmChoice   *choice,
                                     const char       *date);

G_END_DECLS
