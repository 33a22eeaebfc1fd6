/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "draw/qm-language.h"
#include "qm-application.h"

int
main (int   argc,
      char *argv[])
{
  g_autoptr (QmApplication) application = NULL;

  qm_language_init (NULL);
  application = qm_application_new ();

  return g_application_run (G_APPLICATION (application), argc, argv);
}
