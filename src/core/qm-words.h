/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "qm-range.h"

G_BEGIN_DECLS

/**
 * QmWords:
 * @translate: a sentence in the reader's language
 * @translate_plural: the same, with a count
 * @decimal_point: as the reader writes it
 * @thousands_separator: likewise; may be empty
 *
 * How quantities and sentences are written for a reader. The core never asks
 * the environment for this: it is handed in. Data formats and English output
 * use qm_words_english().
 */
typedef struct {
  const char *(*translate)        (const char *msgid) G_GNUC_FORMAT (1);
  const char *(*translate_plural) (const char *one,
                                   const char *many,
                                   gulong      n);
  const char *decimal_point;
  const char *thousands_separator;
} QmWords;

const QmWords *qm_words_english (void);

/* Quantities for people: two or three significant digits, a no-break space, the
 * unit. A range is "26–31 GiB". Unknown values give "unknown". All results:
 * (transfer full). */
char *qm_format_number        (const QmWords *words, double value);
char *qm_format_count         (const QmWords *words, double value);
char *qm_format_count_short   (const QmWords *words, double value);
char *qm_format_bytes         (const QmWords *words, double bytes);
char *qm_format_bytes_range   (const QmWords *words, QmRange bytes);
char *qm_format_file_bytes    (const QmWords *words, double bytes);
char *qm_format_seconds       (const QmWords *words, double seconds);
char *qm_format_seconds_against (const QmWords *words, double seconds, double limit);
char *qm_format_seconds_range (const QmWords *words, QmRange seconds);
char *qm_format_money         (const QmWords *words, double value, const char *currency);
char *qm_format_money_range   (const QmWords *words, QmRange value, const char *currency);
char *qm_format_percent       (const QmWords *words, double fraction);
char *qm_format_percent_tenths (const QmWords *words, double fraction);
char *qm_format_factor        (const QmWords *words, double factor);
char *qm_format_points        (const QmWords *words, double points);
char *qm_format_date          (const QmWords *words, const char *iso_date);

void  qm_text_close_up        (GString       *text);

G_END_DECLS
