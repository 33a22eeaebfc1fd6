/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "qm-language.h"

#include <glib/gi18n.h>
#include <libintl.h>
#include <locale.h>
#include <string.h>

/* Message catalogs belong to the whole program, and so does this. */
static struct {
  QmWords words;
  char tag[32];
  char decimal_point[8];
  char thousands_separator[8];
} language;

static const char *
translate (const char *msgid)
{
  return msgid[0] != '\0' ? dgettext (GETTEXT_PACKAGE, msgid) : msgid;
}

static const char *
translate_plural (const char *one,
                  const char *many,
                  gulong      n)
{
  return dngettext (GETTEXT_PACKAGE, one, many, n);
}

/* gettext ignores LANGUAGE while the locale is C, and any other does. */
static void
leave_the_c_locale (const char *wanted)
{
  const char *now = setlocale (LC_MESSAGES, NULL);
  g_autofree char *own = g_strconcat (wanted, ".UTF-8", NULL);
  const char *others[] = { own, "en_US.UTF-8", "en_GB.UTF-8", "zh_CN.UTF-8", "de_DE.UTF-8" };

  if (now != NULL && strcmp (now, "C") != 0 && strcmp (now, "POSIX") != 0 && !g_str_has_prefix (now, "C."))
    return;

  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (setlocale (LC_MESSAGES, others[i]) != NULL)
      return;
}

static gboolean
is_english (const char *tag)
{
  return g_str_has_prefix (tag, "en") || strcmp (tag, "C") == 0 || strcmp (tag, "POSIX") == 0;
}

static void
set_tag (const char *chosen)
{
  const char * const *names = g_get_language_names ();
  const char *tag = chosen != NULL && chosen[0] != '\0' ? chosen : names[0];

  g_strlcpy (language.tag, is_english (tag) && !g_str_has_prefix (tag, "en") ? "en" : tag, sizeof language.tag);
  language.tag[strcspn (language.tag, ".@:")] = '\0';
}

/* What the locale says; where it says nothing, as C does, what English has. */
static void
set_numbers (void)
{
  const struct lconv *numbers = localeconv ();
  gboolean plain = numbers->thousands_sep[0] == '\0' && strcmp (numbers->decimal_point, ".") == 0;

  g_strlcpy (language.decimal_point, numbers->decimal_point, sizeof language.decimal_point);
  g_strlcpy (language.thousands_separator, plain ? "," : numbers->thousands_sep, sizeof language.thousands_separator);
}

/**
 * qm_language_init:
 * @tag: (nullable): a language, e.g. "zh_CN", that overrides the environment's
 *
 * Binds the message catalog, from the folder in the environment variable
 * `QM_LOCALE_DIR` where that is set, and takes the environment's locale. To be
 * called at the start, before any thread.
 */
void
qm_language_init (const char *tag)
{
  const char *directory = g_getenv ("QM_LOCALE_DIR");

  setlocale (LC_ALL, "");
  if (tag != NULL && tag[0] != '\0')
    {
      g_autofree char *locale = g_strconcat (tag, ".UTF-8", NULL);

      g_setenv ("LANGUAGE", tag, TRUE);
      setlocale (LC_ALL, locale);
      leave_the_c_locale (tag);
    }

  bindtextdomain (GETTEXT_PACKAGE, directory != NULL ? directory : QM_LOCALE_DIR);
  bind_textdomain_codeset (GETTEXT_PACKAGE, "UTF-8");
  textdomain (GETTEXT_PACKAGE);

  set_tag (tag);
  set_numbers ();
  language.words = (QmWords) { translate, translate_plural, language.decimal_point, language.thousands_separator };
}

/**
 * qm_language_get_words:
 *
 * Returns: (transfer none): words of the program's language; English before
 *   qm_language_init()
 */
const QmWords *
qm_language_get_words (void)
{
  return language.words.translate != NULL ? &language.words : qm_words_english ();
}

/**
 * qm_language_get_tag:
 *
 * Returns: the program's language, e.g. "en" or "zh_CN"
 */
const char *
qm_language_get_tag (void)
{
  return language.tag[0] != '\0' ? language.tag : "en";
}
