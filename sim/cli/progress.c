#include "sim/cli/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/quote.h"

enum { QUIET_SECONDS = 1, REWRITE_MICROSECONDS = 250000 };

void progress_init(Progress *progress, guint total) {
  *progress = (Progress){.wanted = isatty(STDERR_FILENO), .total = total, .started = g_get_monotonic_time()};
}

static double elapsed_seconds(const Progress *progress) {
  return (double)(g_get_monotonic_time() - progress->started) / G_USEC_PER_SEC;
}

/* "[2/5] spin on gtx570, schedule 3 of 10 (policy random, ...), about 3 s left" */
static void write_head(Progress *progress) {
  double elapsed = elapsed_seconds(progress);
  if (progress->ended)
    fprintf(stderr, "\r\033[K[%u/%u done] %s", progress->done, progress->total, progress->what);
  else
    fprintf(stderr, "\r\033[K[%u/%u] %s", progress->done + 1, progress->total, progress->what);
  if (progress->part)
    fprintf(stderr, ", %s", progress->part);
  if (progress->done)
    fprintf(stderr, ", about %.0f s left", elapsed / progress->done * (progress->total - progress->done));
  progress->shown = true;
  progress->last = g_get_monotonic_time();
}

void progress_step(Progress *progress, guint done, const char *what) {
  progress->done = done;
  g_free(progress->what);
  progress->what = quote_name(what);
  g_clear_pointer(&progress->part, g_free);
  if (!progress->wanted || elapsed_seconds(progress) < QUIET_SECONDS)
    return;
  write_head(progress);
  fflush(stderr);
}

void progress_ended(Progress *progress, guint done, const char *what) {
  progress->ended = true;
  progress_step(progress, done, what);
}

/* Takes the part. */
static void set_part(Progress *progress, char *part) {
  g_free(progress->part);
  progress->part = part;
  if (!progress->wanted || !progress->what || elapsed_seconds(progress) < QUIET_SECONDS)
    return;
  write_head(progress);
  fflush(stderr);
}

void progress_part(gpointer user, guint index, guint total, const char *what) {
  set_part(user, g_strdup_printf("schedule %u of %u (%s)", index + 1, total, what));
}

void progress_runs(gpointer user, guint done, guint total, const char *what) {
  g_autofree char *quoted = quote_name(what);
  set_part(user, g_strdup_printf("%u of %u runs done (%s)", done, total, quoted));
}

void progress_heartbeat(gpointer user, guint64 cycle, guint64 instructions) {
  Progress *progress = user;
  if (!progress->wanted || !progress->what || elapsed_seconds(progress) < QUIET_SECONDS ||
      g_get_monotonic_time() - progress->last < REWRITE_MICROSECONDS)
    return;
  write_head(progress);
  fprintf(stderr, ": %.1f million cycles, %.1f million instructions", (double)cycle / 1e6,
          (double)instructions / 1e6);
  if (progress->limit_cycles && cycle)
    fprintf(stderr, " (%.0f %% of the cycle limit)", 100.0 * (double)cycle / (double)progress->limit_cycles);
  fflush(stderr);
}

void progress_clear(Progress *progress) {
  if (progress->shown)
    fprintf(stderr, "\r\033[K");
  progress->shown = false;
}

void progress_end(Progress *progress) {
  progress_clear(progress);
  g_free(progress->what);
  progress->what = NULL;
  g_clear_pointer(&progress->part, g_free);
}
