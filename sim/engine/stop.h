/* stop.h - why a run may end before its verdict: a limit, or a signal. A Stop is shared by all runs of a command and
 * may be asked from any thread; it is the only thing in a run that depends on the host. */
#ifndef LOCKSTEP_ENGINE_STOP_H
#define LOCKSTEP_ENGINE_STOP_H

#include <glib.h>
#include <signal.h>
#include <stdbool.h>

typedef enum { STOP_NONE, STOP_CYCLES, STOP_WINDOW, STOP_SECONDS, STOP_SIGNAL, STOP_ROUND, STOP_COUNT } StopReason;

typedef struct Stop {
  gint64 deadline;                     /* g_get_monotonic_time() when the time is over; 0: never */
  const volatile sig_atomic_t *signal; /* the number of the signal that came, 0 before; NULL: nobody listens */
} Stop;

/* STOP_SIGNAL, STOP_SECONDS, or STOP_NONE as long as runs may go on; `stop` may be NULL. */
StopReason stop_asked(const Stop *stop);
/* "signal", "limit-cycles" and so on; NULL of STOP_NONE. */
const char *stop_name(StopReason reason);
/* True if the reason ends the whole command: STOP_CYCLES, STOP_WINDOW (ScenarioMeasure.window) and STOP_ROUND (a
 * counter would have to come round) end one run. */
bool stop_is_final(StopReason reason);

#endif
