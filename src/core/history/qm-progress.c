/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "qm-progress.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* A longer line is no line of progress. */
#define LONGEST_LINE 4096

/* A number as programs write it: 1,234.5 or 1e-05 or 2.3k. */
#define NUMBER "([0-9][0-9,]*\\.?[0-9]*(?:[eE][-+]?[0-9]+)?)"
#define GAP "['\"]?[ \\t]*[:=][ \\t]*['\"]?[ \\t]*"

typedef enum {
  AS_IT_IS,
  OF_TIME,                          /* seconds for one: turned over */
  OF_MILLISECONDS,
} Turn;

/* What stands in the output of common trainers, the most certain first: a field
 * is taken from the first pattern that has it. */
static const struct {
  const char *pattern;
  gsize field;                      /* offset in QmProgress */
  Turn turn;
} patterns[] = {
  /* tqdm: 45%|██  | 450/1000 [00:45<00:55, 10.05it/s, loss=1.2] */
  { "\\| *[0-9]+/([0-9]+) *\\[", offsetof (QmProgress, steps), AS_IT_IS },
  { "\\| *([0-9]+)/[0-9]+ *\\[", offsetof (QmProgress, step), AS_IT_IS },
  { "[ ,]" NUMBER "[ ]?[kM]?(?:it|step|steps|batch|batches|iter|iters)/s(?:ec(?:ond)?)?\\b", offsetof (QmProgress, steps_per_second), AS_IT_IS },
  { "[ ,]" NUMBER "[ ]?s(?:ec)?/(?:it|step|batch|iter)\\b", offsetof (QmProgress, steps_per_second), OF_TIME },
  /* Hugging Face's Trainer: {'train_steps_per_second': 2.0} */
  { "train_tokens_per_second" GAP NUMBER, offsetof (QmProgress, tokens_per_second), AS_IT_IS },
  { "train_samples_per_second" GAP NUMBER, offsetof (QmProgress, samples_per_second), AS_IT_IS },
  { "train_steps_per_second" GAP NUMBER, offsetof (QmProgress, steps_per_second), AS_IT_IS },
  /* Keras: 100/100 ━━━━ 5s 52ms/step - loss: 0.3 */
  { "\\b" NUMBER "[ ]?ms/step\\b", offsetof (QmProgress, steps_per_second), OF_MILLISECONDS },
  { "^[ ]*([0-9]+)/[0-9]+[ ]+[^ 0-9]", offsetof (QmProgress, step), AS_IT_IS },
  { "^[ ]*[0-9]+/([0-9]+)[ ]+[^ 0-9]", offsetof (QmProgress, steps), AS_IT_IS },
  /* nanoGPT: iter 10: loss 2.34, time 123.45ms */
  { "\\biter [0-9]+: .*\\btime " NUMBER "ms", offsetof (QmProgress, steps_per_second), OF_MILLISECONDS },
  /* Megatron: iteration 100/ 1000 | … elapsed time per iteration (ms): 1234.5 */
  { "elapsed time per iteration \\(ms\\): " NUMBER, offsetof (QmProgress, steps_per_second), OF_MILLISECONDS },
  { "\\biteration +([0-9]+)/ *[0-9]+", offsetof (QmProgress, step), AS_IT_IS },
  { "\\biteration +[0-9]+/ *([0-9]+)", offsetof (QmProgress, steps), AS_IT_IS },
  /* torchtitan: step: 10  loss: 8.1  memory: 10GiB  tps: 2,345 */
  { "\\btps: *" NUMBER, offsetof (QmProgress, tokens_per_second), AS_IT_IS },
  /* llama.cpp: eval time = 12 ms / 127 runs (0.1 ms per token, 81.2 tokens per second) */
  { NUMBER " tokens per second", offsetof (QmProgress, tokens_per_second), AS_IT_IS },
  /* whatever names its unit */
  { NUMBER " ?(?:tokens?|toks?|tok)(?:/| per )s(?:ec(?:ond)?)?\\b", offsetof (QmProgress, tokens_per_second), AS_IT_IS },
  { "\\b(?:tokens?|tok)(?:/|_per_)s(?:ec(?:ond)?)?\\b" GAP NUMBER, offsetof (QmProgress, tokens_per_second), AS_IT_IS },
  { NUMBER " ?(?:samples?|images?|imgs?|examples?|sequences?)(?:/| per )s(?:ec(?:ond)?)?\\b", offsetof (QmProgress, samples_per_second), AS_IT_IS },
  { "\\b(?:samples?|images?|imgs?|examples?)(?:/|_per_)s(?:ec(?:ond)?)?\\b" GAP NUMBER, offsetof (QmProgress, samples_per_second), AS_IT_IS },
  { "\\b(?:steps?|it|iters?)(?:/|_per_)s(?:ec(?:ond)?)?\\b" GAP NUMBER, offsetof (QmProgress, steps_per_second), AS_IT_IS },
  { "\\b(?:global_step|step|iter)['\"]?[ :=]+([0-9]+)\\b", offsetof (QmProgress, step), AS_IT_IS },
  { "(?<![a-z]_)(?<!val )(?<!eval )(?<!test )\\b(?:lm |train )?loss(?:" GAP "|[ ]+)" NUMBER, offsetof (QmProgress, loss), AS_IT_IS },
};

struct _QmProgressReader {
  GRegex *regexes[G_N_ELEMENTS (patterns)];
  GRegex *colours;
  GRegex *out_of_memory;
  GString *line;                    /* that has begun */
};

/**
 * qm_progress_clear:
 * @self: (out caller-allocates): progress of which nothing is known
 */
void
qm_progress_clear (QmProgress *self)
{
  *self = (QmProgress) { NAN, NAN, NAN, NAN, NAN, NAN, FALSE };
}

/**
 * qm_progress_reader_new:
 *
 * Returns: (transfer full): a reader of the output of programs
 */
QmProgressReader *
qm_progress_reader_new (void)
{
  QmProgressReader *self = g_new0 (QmProgressReader, 1);

  for (guint i = 0; i < G_N_ELEMENTS (patterns); i++)
    self->regexes[i] = g_regex_new (patterns[i].pattern, G_REGEX_CASELESS, 0, NULL);
  self->colours = g_regex_new ("\\x1b\\[[0-9;?]*[A-Za-z]", 0, 0, NULL);
  self->out_of_memory = g_regex_new ("out of memory|outofmemoryerror|cannot allocate memory|\\bMemoryError\\b|RESOURCE_EXHAUSTED",
                                     G_REGEX_CASELESS, 0, NULL);
  self->line = g_string_new (NULL);

  return self;
}

/**
 * qm_progress_reader_free:
 * @self: (nullable): a reader
 */
void
qm_progress_reader_free (QmProgressReader *self)
{
  if (self == NULL)
    return;

  for (guint i = 0; i < G_N_ELEMENTS (patterns); i++)
    g_regex_unref (self->regexes[i]);
  g_regex_unref (self->colours);
  g_regex_unref (self->out_of_memory);
  g_string_free (self->line, TRUE);
  g_free (self);
}

static double
number_of (const char *text,
           Turn        turn)
{
  g_auto (GStrv) parts = g_strsplit (text, ",", -1);
  g_autofree char *plain = g_strjoinv ("", parts);
  double value = g_ascii_strtod (plain, NULL);

  if (turn == AS_IT_IS)
    return value;

  return value > 0 ? (turn == OF_MILLISECONDS ? 1000 : 1) / value : NAN;
}

/* "2.5kit/s" */
static double
scale_of (const char *line,
          int         end)
{
  const char *at = line + end + (line[end] == ' ');

  if ((at[0] == 'k' || at[0] == 'M') && g_ascii_isalpha (at[1]) && strchr (at, '/') != NULL)
    return at[0] == 'k' ? 1e3 : 1e6;

  return 1;
}

static gboolean
is_before_comma_of_thousands (const char *digits)
{
  /* "0.5," ends a number, "1,234" is one */
  return digits[0] == ',' && g_ascii_isdigit (digits[1]);
}

/* Something that is asked of every line must be quick to say no. */
static gboolean
may_say_something (const char *line)
{
  return strpbrk (line, "0123456789") != NULL || strcasestr (line, "memory") != NULL;
}

/**
 * qm_progress_reader_line:
 * @self: a reader
 * @line: a line of output
 * @progress: (out caller-allocates): what it says
 *
 * Returns: whether it says anything of progress
 */
gboolean
qm_progress_reader_line (QmProgressReader *self,
                         const char       *line,
                         QmProgress       *progress)
{
  g_autofree char *plain = NULL;
  gboolean found = FALSE;

  qm_progress_clear (progress);
  if (!may_say_something (line) || !g_utf8_validate (line, -1, NULL))
    return FALSE;

  plain = strchr (line, '\033') != NULL ? g_regex_replace_literal (self->colours, line, -1, 0, "", 0, NULL) : g_strdup (line);
  progress->out_of_memory = g_regex_match (self->out_of_memory, plain, 0, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (patterns); i++)
    {
      double *field = (double *) ((char *) progress + patterns[i].field);
      g_autoptr (GMatchInfo) match = NULL;
      g_autofree char *digits = NULL;
      int end;

      if (!isnan (*field) || !g_regex_match (self->regexes[i], plain, 0, &match))
        continue;
      digits = g_match_info_fetch (match, 1);
      g_match_info_fetch_pos (match, 1, NULL, &end);
      if (is_before_comma_of_thousands (plain + end))
        continue;
      *field = number_of (digits, patterns[i].turn) * scale_of (plain, end);
      found = TRUE;
    }

  return found || progress->out_of_memory;
}

static void
merge (QmProgress       *latest,
       const QmProgress *news)
{
  double *to[] = { &latest->step, &latest->steps, &latest->loss, &latest->steps_per_second, &latest->samples_per_second, &latest->tokens_per_second };
  const double from[] = { news->step, news->steps, news->loss, news->steps_per_second, news->samples_per_second, news->tokens_per_second };

  for (guint i = 0; i < G_N_ELEMENTS (to); i++)
    if (!isnan (from[i]))
      *to[i] = from[i];
  latest->out_of_memory |= news->out_of_memory;
}

/**
 * qm_progress_reader_feed:
 * @self: a reader
 * @data: (array length=length): the next piece of output
 * @length: its bytes
 * @latest: (inout): what was said last of each
 *
 * Lines end with a newline, or with the carriage return by which bars are drawn
 * over themselves.
 *
 * Returns: whether @latest has news
 */
gboolean
qm_progress_reader_feed (QmProgressReader *self,
                         const char       *data,
                         gsize             length,
                         QmProgress       *latest)
{
  gboolean news = FALSE;

  for (gsize i = 0; i < length; i++)
    {
      QmProgress progress;

      if (data[i] != '\n' && data[i] != '\r')
        {
          if (self->line->len < LONGEST_LINE)
            g_string_append_c (self->line, data[i]);
          continue;
        }
      if (self->line->len > 0 && qm_progress_reader_line (self, self->line->str, &progress))
        {
          merge (latest, &progress);
          news = TRUE;
        }
      g_string_truncate (self->line, 0);
    }

  return news;
}
