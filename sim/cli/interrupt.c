#include "sim/cli/interrupt.h"

#include <stddef.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t came;
static time_t since; /* seconds; only the handler uses it */

static void end_now(int number) {
  (void)number;
  _exit(128 + (came ? came : SIGTERM));
}

/* timeout(1) sends its signal twice at once, and means it once. */
static void note(int number) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (!came) {
    came = number;
    since = now.tv_sec;
    alarm(INTERRUPT_GRACE_SECONDS);
  } else if (now.tv_sec - since > 1) {
    end_now(number);
  }
}

void interrupt_install(void) {
  struct sigaction first = {.sa_handler = note, .sa_flags = SA_RESTART};
  struct sigaction last = {.sa_handler = end_now};
  sigfillset(&first.sa_mask);
  sigemptyset(&last.sa_mask);
  sigaction(SIGALRM, &last, NULL);
  struct sigaction before;
  for (int i = 0; i < 2; i++) {
    int number = i ? SIGTERM : SIGINT;
    /* What a shell has told its background jobs to ignore stays ignored. */
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
      sigaction(number, &first, NULL);
  }
}

const volatile sig_atomic_t *interrupt_signal(void) { return &came; }

const char *interrupt_name(void) { return came == SIGINT ? "SIGINT" : came == SIGTERM ? "SIGTERM" : NULL; }

int interrupt_status(int status) { return came ? 128 + came : status; }
