/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "qm-json-error.h"

#include <string.h>

#define PLACE "<data>:"
#define WIDE_COLON "\357\274\232"

/* Behind the next colon, of whatever width, and the blanks after it. */
static const char *
behind_colon (const char *text)
{
  const char *narrow = strchr (text, ':');
  const char *wide = strstr (text, WIDE_COLON);

  if (narrow == NULL && wide == NULL)
    return NULL;

  text = wide == NULL || (narrow != NULL && narrow < wide) ? narrow + 1 : wide + strlen (WIDE_COLON);
  return text + strspn (text, " ");
}

/**
 * qm_json_error_split:
 * @message: of a #JsonParserError
 * @line: (out): on which line it is; 1 where the message does not say
 *
 * The parser writes "<data>:LINE:COLUMN: Parse error: WHAT", the words "Parse
 * error" and the colons around them in the person's language.
 *
 * Returns: WHAT, or @message where it is of another form
 */
const char *
qm_json_error_split (const char *message,
                     guint      *line)
{
  const char *place = strstr (message, PLACE);
  const char *rest;

  *line = 1;
  if (place == NULL)
    return message;

  *line = MAX (1, g_ascii_strtoull (place + strlen (PLACE), NULL, 10));
  rest = behind_colon (place + strlen (PLACE));       /* the column */
  rest = rest != NULL ? behind_colon (rest) : NULL;   /* "Parse error" */
  rest = rest != NULL ? behind_colon (rest) : NULL;

  return rest != NULL ? rest : message;
}
