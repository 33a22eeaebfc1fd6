/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* What a screen reader is told of the program that this is: the tree on the
 * accessibility bus, asked for as Orca does. */

/* at-spi2-core, atspi-constants.h */
enum {
  ACCESSIBLE_ROLE_ALERT = 2,
  ACCESSIBLE_ROLE_COMBO_BOX = 11,
  ACCESSIBLE_ROLE_LIST = 31,
  ACCESSIBLE_ROLE_LIST_ITEM = 32,
  ACCESSIBLE_ROLE_PANEL = 39,
  ACCESSIBLE_ROLE_SCROLL_PANE = 49,
};

typedef struct {
  char *name;
  char *description;
  char *where;                      /* the names of what it lies in */
  guint depth;
  guint role;
  guint64 states;
  gboolean in_alert;
  gboolean in_combo_box;
} AccessibleNode;

typedef struct _AccessibleBus AccessibleBus;

AccessibleBus *accessible_bus_new                (void);
void           accessible_bus_free               (AccessibleBus        *self);

/* All nodes that are shown, of AccessibleNode. */
GPtrArray     *accessible_bus_read               (AccessibleBus        *self);
gboolean       accessible_node_is_stop           (const AccessibleNode *node);
gboolean       accessible_node_is_named          (const AccessibleNode *node);
gboolean       accessible_role_is_generic        (guint                 role);

/* What was announced since the last call. */
GStrv          accessible_bus_take_announcements (AccessibleBus        *self);

G_END_DECLS
