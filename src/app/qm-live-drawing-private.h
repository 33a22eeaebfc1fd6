/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "qm-live-drawing.h"

G_BEGIN_DECLS

#define QM_LIVE_LABELS 56           /* width of the axis, at the right */
#define QM_LIVE_FOOT   18           /* height of the times below */

struct _QmLiveDrawing {
  GtkWidget parent_instance;

  QmWatcher *watcher;
  QmLiveLook look;
  char *channels[2];
  gboolean small;
  double limit;                     /* NaN none */
  char *limit_text;
  guint timer;                      /* while it is on the screen */
  double cursor;                    /* seconds before the end; negative: none */
};

/* qm-live-paint.c */
void qm_live_paint (QmLiveDrawing *self,
                    cairo_t       *cr,
                    double         width,
                    double         height,
                    double         end,
                    int            cursor);

G_END_DECLS
