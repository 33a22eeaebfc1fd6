/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "draw/qm-language.h"
#include "first-frame.h"
#include "qm-application.h"

int
main (void)
{
  qm_language_init (NULL);
  return first_frame_run (GTK_APPLICATION (qm_application_new ()));
}
