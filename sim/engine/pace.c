#include "sim/engine/pace.h"

/* Portions. CLEARLY: one way is so many times as quick, and the other is tried more seldom. */
enum { SETTLES = 8, TIMED = 24, RESTS = 1024, RESTS_LONG = 8192 };
#define CLEARLY 1.15

static double quotient(const Pace *pace) {
  double quicker = pace->cost[!pace->alone], other = pace->cost[pace->alone];
  return quicker > 0 ? other / quicker : 1;
}

static uint32_t turn_of(const Pace *pace) {
  if (!pace->rests)
    return SETTLES + TIMED;
  return SETTLES + (quotient(pace) > CLEARLY ? RESTS_LONG : RESTS);
}

static void begin_turn(Pace *pace, bool alone, bool rests) {
  pace->alone = alone;
  pace->rests = rests;
  pace->portions = 0;
  pace->spent = pace->done = 0;
}

/* Behind a trial the quicker way rests; behind a rest, or before both are known, the other is tried. */
static void end_turn(Pace *pace) {
  pace->cost[!pace->alone] = pace->spent / pace->done;
  bool both = pace->cost[0] > 0 && pace->cost[1] > 0;
  if (pace->rests || !both)
    begin_turn(pace, !pace->alone, false);
  else
    begin_turn(pace, pace->cost[0] < pace->cost[1], true);
}

void pace_note(Pace *pace, uint64_t work, uint64_t nanoseconds) {
  if (pace->portions >= SETTLES) {
    pace->spent += (double)nanoseconds;
    pace->done += (double)work;
  }
  pace->portions++;
  if (pace->portions >= turn_of(pace) && pace->done > 0)
    end_turn(pace);
}
