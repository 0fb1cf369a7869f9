#include "sim/engine/stop.h"

StopReason stop_asked(const Stop *stop) {
  if (!stop)
    return STOP_NONE;
  if (stop->signal && *stop->signal)
    return STOP_SIGNAL;
  return stop->deadline && g_get_monotonic_time() >= stop->deadline ? STOP_SECONDS : STOP_NONE;
}

const char *stop_name(StopReason reason) {
  static const char *const names[STOP_COUNT] = {NULL, "limit-cycles", "window", "limit-seconds", "signal", "round"};
  return names[reason];
}

bool stop_is_final(StopReason reason) { return reason == STOP_SECONDS || reason == STOP_SIGNAL; }
