/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

/**
 * QmGuideEntry:
 * @id: by which a link finds it
 * @title: the question, or the term of the field
 * @gloss: the answer in a few words
 * @text: the answer
 */
typedef struct {
  const char *id;
  const char *title;
  const char *gloss;
  const char *text;
} QmGuideEntry;

/* One part of the guide: its heading, and entries that end with an empty one. */
typedef struct {
  const char *title;
  const QmGuideEntry *entries;
} QmGuidePart;

/* all parts; the last has no title */
const QmGuidePart *qm_guide_get_parts (void);

/* What the terms mean, how an estimate comes about, how sure it is. */
AdwDialog         *qm_guide_new       (const char *topic);

G_END_DECLS
