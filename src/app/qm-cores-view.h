/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

#include "probe/qm-watcher.h"

G_BEGIN_DECLS

#define QM_TYPE_CORES_VIEW (qm_cores_view_get_type ())
G_DECLARE_FINAL_TYPE (QmCoresView, qm_cores_view, QM, CORES_VIEW, GtkWidget)

/* How busy each logical processor is now: a bar for each, in rows. */
GtkWidget *qm_cores_view_new (QmWatcher *watcher);

G_END_DECLS
