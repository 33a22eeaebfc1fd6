/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "qm-application.h"
#include "qm-window.h"

/**
 * Driver:
 *
 * A window on the screen and what is in it, for tests that use its widgets as
 * a person does.
 */
typedef struct {
  QmWindow *window;
  QmSession *session;
} Driver;

/* Once in a program; it has a folder of its own for all that is stored. Where
 * there is no screen the tests are skipped. */
int         driver_run          (int          argc,
                                 char        *argv[],
                                 void       (*add_tests) (void));
char       *driver_path         (const char  *name);

void        driver_present      (Driver      *self,
                                 int          width,
                                 int          height);
void        driver_open         (Driver      *self,
                                 int          width,
                                 int          height);
void        driver_close        (Driver      *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Driver, driver_close)

/* until the answer is there and has been drawn; until @done holds */
void        driver_settle       (Driver      *self);
void        driver_wait         (Driver      *self,
                                 gboolean   (*done) (Driver *self));

GtkWidget  *driver_page         (Driver      *self);
AdwNavigationPage *driver_find_page (Driver     *self,
                                     const char *tag);
GtkWidget  *driver_find         (GtkWidget   *root,
                                 const char  *name);
GPtrArray  *driver_find_all     (GtkWidget   *root,
                                 GType        type);
gboolean    driver_shows        (GtkWidget   *root,
                                 const char  *text);
void        driver_press        (GtkWidget   *button);
void        driver_press_action (Driver      *self,
                                 const char  *action);
void        driver_enter        (GtkWidget   *root,
                                 const char  *name,
                                 const char  *text);
void        driver_assert_page  (Driver      *self,
                                 const char  *tag);
