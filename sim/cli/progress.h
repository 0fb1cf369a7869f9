/* progress.h - on a terminal, after a second, a line on standard error that says how far the work is. Embedded. */
#ifndef LOCKSTEP_CLI_PROGRESS_H
#define LOCKSTEP_CLI_PROGRESS_H

#include <glib.h>
#include <stdbool.h>

typedef struct Progress {
  bool wanted, shown;
  guint total;
  gint64 started;
} Progress;

void progress_init(Progress *progress, guint total);
/* `done` of the steps are finished, and `what` is next. */
void progress_step(Progress *progress, guint done, const char *what);
/* Removes the line, before other output. */
void progress_clear(Progress *progress);

#endif
