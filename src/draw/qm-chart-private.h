/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "decide/qm-service.h"
#include "qm-axis.h"
#include "qm-chart.h"
#include "qm-scene.h"

G_BEGIN_DECLS

#define QM_TEXT_SIZE 12.0
#define QM_NO_MARK   G_MAXUINT

/* Fills {places} of a translated sentence; pairs of name and text, then NULL. */
char *qm_fill (const char *sentence,
               ...) G_GNUC_NULL_TERMINATED;

/* One part of a stacked bar. */
typedef struct {
  char *name;
  char *value_text;
  double value;
  QmInk ink;
  QmHatch hatch;
  guint mark;
} QmPart;

/**
 * QmChartRow:
 * @parts: (element-type QmPart) (nullable): a stacked bar
 * @value: a marker with its range
 * @bar: @value is drawn as a bar from 0 with its range
 * @note: a short remark beside the value, or a sentence below where @note_below
 */
typedef struct {
  char *name;
  char *value_text;
  char *note;
  GArray *parts;
  QmRange value;
  QmMarker marker;
  QmInk ink;
  QmHatch hatch;
  gboolean hollow;
  gboolean bar;
  gboolean chosen;
  gboolean note_below;
  guint mark;
} QmChartRow;

/**
 * QmChartLimit:
 * @hard: a full line; else dashed
 * @beyond: what lies past it is hatched, up to @beyond_to
 */
typedef struct {
  char *text;
  double value;
  double beyond_to;
  gboolean hard;
  gboolean beyond;
  gboolean on_y;
} QmChartLimit;

/* A mark in the plane. */
typedef struct {
  char *name;
  double x, y;
  QmRange range_x, range_y;
  gboolean range_along;             /* both move together: drawn as one slanted line */
  QmMarker marker;
  gboolean hollow;
  QmInk ink;
  gboolean chosen;
  gboolean faint;
  guint mark;
} QmChartPoint;

typedef struct {
  double x, y, low, high;
} QmVertex;

/**
 * QmChartLine:
 * @vertices: (element-type QmVertex): their band is drawn where low < high
 * @end_text: stands at its right end; nullable
 * @end_note: below it; nullable
 */
typedef struct {
  GArray *vertices;
  char *end_text;
  char *end_note;
  QmInk ink;
  double line_width;
  double dash;
  gboolean step;
  gboolean area;                    /* filled down to the axis */
  gboolean faint;
} QmChartLine;

/* A stretch of the x axis in which something holds. */
typedef struct {
  char *text;
  double low, high;
  gboolean tinted;
  gboolean text_at_bottom;
} QmChartZone;

/* What the difference of two points is worth. */
typedef struct {
  double x1, y1, x2, y2;
  char *text;
  char *note;
} QmChartBracket;

/* A line of the table below the plot; cells stand under the x values. */
typedef struct {
  char *head;
  char **cells;
} QmChartColumns;

typedef struct {
  char *text;
  char *note;
} QmCardFact;

typedef struct {
  char *head;
  char *title;
  char *subtitle;
  char *note;
  QmCardFact facts[2];
  gboolean current;
  guint mark;
} QmChartCard;

typedef struct {
  QmMarker marker;
  gboolean hollow;
  QmInk ink;
  char *text;
} QmChartKey;

typedef struct {
  char *text;
  int row;
} QmMark;

typedef enum {
  QM_FORM_ROWS,
  QM_FORM_PLANE,
  QM_FORM_CARDS,
} QmForm;

/* The layout drawn last: a redraw at the same size computes nothing. */
typedef struct {
  QmScene *scene;
  double width, height, scale;
} QmLaidOut;

/* The description of a chart: what there is to see, no places yet. */
struct _QmChart {
  QmChartKind kind;
  QmForm form;
  const QmWords *words;
  char *language;
  char *title;
  char *subtitle;
  char *summary;
  GPtrArray *table;                 /* of GStrv */
  GArray *marks;                    /* of QmMark */
  QmAxis x, y;
  GArray *rows;                     /* of QmChartRow */
  GArray *limits;                   /* of QmChartLimit */
  GArray *points;                   /* of QmChartPoint */
  GArray *lines;                    /* of QmChartLine */
  GArray *zones;                    /* of QmChartZone */
  GArray *brackets;                 /* of QmChartBracket */
  GArray *columns;                  /* of QmChartColumns */
  GArray *column_values;            /* of double: the x of the cells */
  GArray *cards;                    /* of QmChartCard */
  GArray *keys;                     /* of QmChartKey */
  double chosen_column;             /* x of the highlighted cells; NaN none */
  QmLaidOut *laid_out;
};

QmChart *qm_chart_alloc       (QmChartKind      kind,
                               QmForm           form,
                               const QmWords   *words);
GArray  *qm_parts_new         (void);
guint    qm_chart_add_mark    (QmChart         *self,
                               char            *text,
                               int              row);
void     qm_chart_add_record  (QmChart         *self,
                               ...) G_GNUC_NULL_TERMINATED;
void     qm_chart_add_limit   (QmChart         *self,
                               double           value,
                               char            *text,
                               gboolean         hard);

/* laid out for a size; rows and cards also say what height they need */
double   qm_chart_lay_rows    (const QmChart   *self,
                               QmScene         *scene,
                               double           width,
                               double           height);
double   qm_chart_lay_plane   (const QmChart   *self,
                               QmScene         *scene,
                               double           width,
                               double           height);
double   qm_chart_lay_cards   (const QmChart   *self,
                               QmScene         *scene,
                               double           width,
                               double           height);
const QmScene *qm_chart_scene (const QmChart   *self,
                               double           width,
                               double           height,
                               double          *scale);
double   qm_chart_least_height (const QmChart  *self,
                               double           width);
double   qm_chart_least_width (const QmChart   *self);

char    *qm_device_short_name (const QmDevice *device);

/* texts of the parts of memory, in plain words */
const char *qm_memory_part_name (QmMemoryPart   part);

/* the charts, from plain figures */
QmChart *qm_chart_describe_memory (const QmMemory *memory,
                                   const char     *device_name,
                                   int             devices,
                                   double          headroom,
                                   const QmWords  *words);
QmChart *qm_chart_describe_sizing (const QmMemory *memory,
                                   const char     *device_name,
                                   gboolean        training,
                                   const QmWords  *words);
QmChart *qm_chart_describe_scaling (const GArray  *curve,
                                   const char     *device_name,
                                   int             chosen,
                                   const char     *currency,
                                   const QmWords  *words);
QmChart *qm_chart_describe_latency   (const GArray   *curve,
                                   double          capacity,
                                   double          peak,
                                   double          target_seconds,
                                   const QmWords  *words);
QmChart *qm_chart_describe_stages (const GPtrArray *stages,
                                   QmStage         current,
                                   const char     *currency,
                                   const QmWords  *words);

G_END_DECLS
