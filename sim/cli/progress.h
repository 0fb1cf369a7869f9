/* progress.h - on a terminal, after a second, a line on standard error that says how far the work is. Embedded. */
#ifndef LOCKSTEP_CLI_PROGRESS_H
#define LOCKSTEP_CLI_PROGRESS_H

#include <glib.h>
#include <stdbool.h>

typedef struct Progress {
  bool wanted, shown;
  guint total;
  gint64 started, last; /* microseconds; `last`: when the line was written */
  guint done;
  bool ended;           /* `what` is the step that ended last, not the next one */
  char *what, *part;    /* the step, and what it does of it; NULL: it isn't known */
  guint64 limit_cycles; /* of the run under way */
} Progress;

void progress_init(Progress *progress, guint total);
/* `done` of the steps are finished, and `what` is next. */
void progress_step(Progress *progress, guint done, const char *what);
/* The same; `what` is the newest of those that are finished. */
void progress_ended(Progress *progress, guint done, const char *what);
/* Within a step: schedule `index` (from 0) of `total` begins, or something else with it, as `what` says; `user` is
 * the Progress. */
void progress_part(gpointer user, guint index, guint total, const char *what);
/* Within a step: `done` of `total` runs have ended, and `what` begins; `user` is the Progress. */
void progress_runs(gpointer user, guint done, guint total, const char *what);
/* How far the run under way is (RunOptions.heartbeat); `user` is the Progress. */
void progress_heartbeat(gpointer user, guint64 cycle, guint64 instructions);
/* Removes the line, before other output. */
void progress_clear(Progress *progress);
/* Removes the line for good and frees what the Progress holds. */
void progress_end(Progress *progress);

#endif
