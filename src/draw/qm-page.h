/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "qm-chart-private.h"
#include "qm-report.h"

G_BEGIN_DECLS

#define QM_PAGE_MARGIN 48.0

typedef enum {
  QM_BLOCK_TEXT,
  QM_BLOCK_ROW,
  QM_BLOCK_CHART,
  QM_BLOCK_SCENE,
} QmBlockKind;

/* How a cell of a table or a paragraph is written. */
typedef enum {
  QM_VOICE_TITLE,
  QM_VOICE_HEAD,
  QM_VOICE_SUBHEAD,
  QM_VOICE_LEAD,
  QM_VOICE_QUESTION,
  QM_VOICE_TEXT,
  QM_VOICE_NOTE,
  QM_VOICE_CELL,
  QM_VOICE_CELL_HEAD,
} QmVoice;

/**
 * QmBlock:
 * @before: space above it, unless it begins a page
 * @keep_next: it must not end a page
 * @new_page: it begins a page
 * @layouts: (element-type PangoLayout): the text, or the cells of a row
 * @columns: where the cells begin
 * @head: index of the block of the table's heads, repeated on a new page; -1
 * @destination: (nullable): name to link to
 * @link: (nullable): of @link_layout, at the right margin
 *
 * One thing of the report that is not split between pages.
 */
typedef struct {
  QmBlockKind kind;
  QmVoice voice;
  double before;
  double height;
  double indent;
  gboolean keep_next;
  gboolean new_page;
  GPtrArray *layouts;
  double columns[8];
  double table_width;
  int head;
  gboolean is_head;
  gboolean chosen;
  gboolean faint;
  char *text;                       /* of a heading, for the outline */
  char *destination;
  char *link;
  PangoLayout *link_layout;
  int number;                       /* in a disc before the text; 0 none */
  QmChart *chart;
  double chart_scale;
  QmScene *scene;
  char *alternative;                /* of a picture, in words */
  guint page;
  double y;
} QmBlock;

/**
 * QmDocument:
 *
 * A report as blocks: first all are made and measured, then put on pages, then
 * drawn, so nothing overlaps in any language.
 */
typedef struct {
  const QmWords *words;
  char *language;
  char *title;
  char *date_text;
  char *footer;
  double width, height;             /* of the paper, in points */
  PangoContext *context;
  GArray *blocks;                   /* of QmBlock */
  guint n_pages;
} QmDocument;

QmDocument *qm_document_new       (QmPaper        paper,
                                   const QmWords *words,
                                   const char    *language);
void        qm_document_free      (QmDocument    *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmDocument, qm_document_free)

double      qm_document_width     (const QmDocument *self);
double      qm_document_left_over (QmDocument    *self);

QmBlock    *qm_document_text      (QmDocument    *self,
                                   QmVoice        voice,
                                   const char    *text);
QmBlock    *qm_document_markup    (QmDocument    *self,
                                   QmVoice        voice,
                                   double         indent,
                                   double         right,
                                   const char    *markup);
QmBlock    *qm_document_heading   (QmDocument    *self,
                                   QmVoice        voice,
                                   const char    *text,
                                   const char    *destination);
int         qm_document_table     (QmDocument    *self,
                                   const double  *shares,
                                   guint          n_columns,
                                   const char * const *heads);
QmBlock    *qm_document_row       (QmDocument    *self,
                                   int            table,
                                   const double  *shares,
                                   guint          n_columns,
                                   const char * const *cells);
QmBlock    *qm_document_chart     (QmDocument    *self,
                                   QmChart       *chart,
                                   double         height);
QmBlock    *qm_document_scene     (QmDocument    *self,
                                   QmScene       *scene,
                                   const char    *alternative);
void        qm_document_link      (QmDocument    *self,
                                   QmBlock       *block,
                                   const char    *text,
                                   const char    *destination);

gboolean    qm_document_write     (QmDocument    *self,
                                   const char    *date,
                                   const char    *keywords,
                                   GOutputStream *stream,
                                   GCancellable  *cancellable,
                                   GError       **error);

QmTextStyle qm_voice_style        (QmVoice        voice);
void        qm_document_paginate  (QmDocument    *self);
double      qm_document_bottom    (const QmDocument *self);

G_END_DECLS
