/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The sanitizer of threads sees nothing of GLib, which is not built with it, and
 * would take what a GMutex guards for a race. These come before GLib's own and
 * tell it. */

#include <dlfcn.h>
#include <glib.h>

void __tsan_acquire (void *address);
void __tsan_release (void *address);

static void (*real_lock) (GMutex *mutex);
static void (*real_unlock) (GMutex *mutex);

static void __attribute__ ((constructor))
find (void)
{
  *(void **) &real_lock = dlsym (RTLD_NEXT, "g_mutex_lock");
  *(void **) &real_unlock = dlsym (RTLD_NEXT, "g_mutex_unlock");
}

void
(g_mutex_lock) (GMutex *mutex)
{
  if (real_lock == NULL)
    find ();
  real_lock (mutex);
  __tsan_acquire (mutex);
}

void
(g_mutex_unlock) (GMutex *mutex)
{
  if (real_unlock == NULL)
    find ();
  __tsan_release (mutex);
  real_unlock (mutex);
}
