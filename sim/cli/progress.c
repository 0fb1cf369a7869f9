#include "sim/cli/progress.h"

#include <stdio.h>
#include <unistd.h>

void progress_init(Progress *progress, guint total) {
  *progress = (Progress){.wanted = isatty(STDERR_FILENO), .total = total, .started = g_get_monotonic_time()};
}

void progress_step(Progress *progress, guint done, const char *what) {
  double elapsed = (double)(g_get_monotonic_time() - progress->started) / G_USEC_PER_SEC;
  if (!progress->wanted || elapsed < 1)
    return;
  fprintf(stderr, "\r\033[K[%u/%u] %s", done + 1, progress->total, what);
  if (done)
    fprintf(stderr, ", about %.0f s left", elapsed / done * (progress->total - done));
  fflush(stderr);
  progress->shown = true;
}

void progress_clear(Progress *progress) {
  if (progress->shown)
    fprintf(stderr, "\r\033[K");
  progress->shown = false;
}
