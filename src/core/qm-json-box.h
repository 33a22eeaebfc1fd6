/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/**
 * QmJsonBox:
 * @root: what was read; nobody changes it or takes references of its parts
 *
 * JSON that threads share. #JsonObject and #JsonArray count their references
 * without atomic operations (json-glib 1.10): two threads that hold and let go
 * the same one free it too early. Who needs a part of a tree holds its box.
 */
typedef struct {
  JsonNode *root;
} QmJsonBox;

QmJsonBox  *qm_json_box_new        (JsonNode        *root);
QmJsonBox  *qm_json_box_new_object (JsonObject      *object);
QmJsonBox  *qm_json_box_ref        (QmJsonBox       *self);
void        qm_json_box_unref      (QmJsonBox       *self);
JsonObject *qm_json_box_object     (const QmJsonBox *self);
JsonNode   *qm_json_box_dup_root   (const QmJsonBox *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmJsonBox, qm_json_box_unref)

G_END_DECLS
