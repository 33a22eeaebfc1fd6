/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib.h>

/* What libFuzzer calls, and replay.c for each file of the corpus. */
int LLVMFuzzerTestOneInput (const guint8 *data,
                            gsize         size);
