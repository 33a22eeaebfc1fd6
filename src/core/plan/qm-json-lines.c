/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "plan/qm-plan-fields.h"

/* json-glib tells no positions of what it has parsed. This walks the text once
 * more, well-formed as it is known to be, and finds the line of one member. */

#define MAX_DEPTH 64

typedef struct {
  const char *at;
  const char *end;
  int line;
} Walker;

static void
skip_space (Walker *self)
{
  while (self->at < self->end && strchr (" \t\r\n", *self->at) != NULL)
    {
      self->line += *self->at == '\n';
      self->at++;
    }
}

/* @name gets the text between the quotes, escapes and all, cut to its size. */
static void
skip_string (Walker *self,
             char   *name,
             gsize   size)
{
  gsize n = 0;

  for (self->at++; self->at < self->end && *self->at != '"'; self->at++)
    {
      if (n + 1 < size)
        name[n++] = *self->at;
      if (*self->at == '\\')
        self->at++;
    }
  if (size > 0)
    name[n] = '\0';
  self->at++;
}

static void
skip_value (Walker *self)
{
  int depth = 0;

  do
    {
      skip_space (self);
      if (self->at >= self->end)
        return;
      if (*self->at == '"')
        skip_string (self, NULL, 0);
      else
        {
          depth += *self->at == '{' || *self->at == '[';
          depth -= *self->at == '}' || *self->at == ']';
          self->at++;
        }
      if (depth == 0 && self->at < self->end && strchr (",}] \t\r\n", *self->at) != NULL)
        return;
    }
  while (self->at < self->end);
}

static int
find_member (Walker      *self,
             const char **steps,
             int          depth)
{
  char name[256];

  skip_space (self);
  if (depth > MAX_DEPTH || self->at >= self->end || *self->at != '{')
    return 0;
  self->at++;

  for (;;)
    {
      int line;

      skip_space (self);
      if (self->at >= self->end || *self->at != '"')
        return 0;
      line = self->line;
      skip_string (self, name, sizeof name);
      skip_space (self);
      self->at++;
      if (strcmp (name, steps[0]) == 0)
        {
          int inner = steps[1] != NULL ? find_member (self, steps + 1, depth + 1) : line;

          return inner > 0 ? inner : line;
        }
      skip_value (self);
      skip_space (self);
      if (self->at >= self->end || *self->at != ',')
        return 0;
      self->at++;
    }
}

/**
 * qm_json_line_of:
 * @data: a JSON text that has been parsed without an error
 * @length: its length in bytes
 * @path: names of members with points between, e.g. `training.epochs`
 *
 * Returns: the line on which the member is named, or the nearest one around it
 *   that is there; 0 where there is none
 */
int
qm_json_line_of (const char *data,
                 gsize       length,
                 const char *path)
{
  g_auto (GStrv) steps = g_strsplit (path, ".", -1);
  Walker walker = { data, data + length, 1 };

  return steps[0] != NULL ? find_member (&walker, (const char **) steps, 0) : 0;
}
