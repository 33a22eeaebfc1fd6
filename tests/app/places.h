/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "window-driver.h"

/**
 * Place:
 *
 * A page of the window, or what opens over it, in one of its states.
 */
typedef struct {
  const char *name;
  const char *plan;                 /* what it is about; NULL as it was */
  const char *page;                 /* of the plan, or "computer", "history" */
  const char *action;               /* opens something over it */
  void (*prepare) (Driver *driver);
} Place;

/* All that the program can show. Ends with a name that is NULL. */
extern const Place places[];

/* Shows it; returns what the keyboard is in: the dialog, or the window. */
GtkWidget *place_open  (const Place *self,
                        Driver      *driver);
void       place_close (Driver      *driver);
