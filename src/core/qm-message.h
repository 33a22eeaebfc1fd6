/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "qm-words.h"

G_BEGIN_DECLS

/* What an argument of a message is; it decides how it is written. */
typedef enum {
  QM_ARGUMENT_NUMBER,
  QM_ARGUMENT_COUNT,
  QM_ARGUMENT_COUNT_SHORT,          /* 7.2 billion */
  QM_ARGUMENT_BYTES,
  QM_ARGUMENT_BYTES_RANGE,
  QM_ARGUMENT_FILE_BYTES,
  QM_ARGUMENT_SECONDS,
  QM_ARGUMENT_SECONDS_RANGE,
  QM_ARGUMENT_SECONDS_AGAINST,      /* p90 is the limit: qm_format_seconds_against() */
  QM_ARGUMENT_MONEY,
  QM_ARGUMENT_MONEY_RANGE,
  QM_ARGUMENT_PERCENT,
  QM_ARGUMENT_FACTOR,
  QM_ARGUMENT_POINTS,
  QM_ARGUMENT_DATE,
  QM_ARGUMENT_NAME,                 /* a proper name: written as it is */
  QM_ARGUMENT_WORDS,                /* a phrase of ours: translated */
} QmArgumentKind;

/**
 * QmMessage:
 *
 * A sentence with a stable code, written in English in the source with named
 * places, e.g. `"{used} of {capacity} are used"`, and filled with quantities
 * when it is shown. One message therefore serves JSON (English, C locale) and
 * the window (the reader's language).
 */
typedef struct _QmMessage QmMessage;

QmMessage  *qm_message_new        (const char     *code,
                                   const char     *msgid);
QmMessage  *qm_message_new_filled (const char    *code,
                                   const char     *msgid,
                                   ...) G_GNUC_NULL_TERMINATED;
QmMessage  *qm_message_new_valist (const char     *code,
                                   const char     *msgid,
                                   va_list         arguments);
QmMessage  *qm_message_copy       (const QmMessage *self);
void        qm_message_free       (QmMessage      *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmMessage, qm_message_free)

/* each returns @self, to be chained */
QmMessage  *qm_message_add        (QmMessage      *self,
                                   const char     *name,
                                   QmArgumentKind  kind,
                                   double          value);
QmMessage  *qm_message_add_range  (QmMessage      *self,
                                   const char     *name,
                                   QmArgumentKind  kind,
                                   QmRange         value);
QmMessage  *qm_message_add_seconds (QmMessage     *self,
                                   const char     *name,
                                   double          seconds,
                                   double          limit);
QmMessage  *qm_message_add_money  (QmMessage      *self,
                                   const char     *name,
                                   double          value,
                                   const char     *currency);
QmMessage  *qm_message_add_text   (QmMessage      *self,
                                   const char     *name,
                                   QmArgumentKind  kind,
                                   const char     *text);
QmMessage  *qm_message_set_detail (QmMessage      *self,
                                   const char     *msgid);
QmMessage  *qm_message_set_source (QmMessage      *self,
                                   const char     *source);

const char *qm_message_get_code   (const QmMessage *self);
const char *qm_message_get_source (const QmMessage *self);
char       *qm_message_get_text   (const QmMessage *self,
                                   const QmWords   *words);
char       *qm_message_get_detail (const QmMessage *self,
                                   const QmWords   *words);

G_END_DECLS
