/* race_late.h - stores that accesses behind them overtake, in runs whose stores may be late (memory.late_stores).
 *
 * Such a run shows what the memory model allows where a fence is missing: two threads that each store to their own
 * word, and then look at the other's, both find the old value and go on. What races then is said by the detector;
 * the cause is a store that was performed after an access of its own thread behind it, to a word at which the
 * other thread looks. Of each warp the newest such pairs are kept. Ownership: a RaceWatch owns it, its RaceReport
 * borrows it. */
#ifndef LOCKSTEP_DETECT_RACE_RACE_LATE_H
#define LOCKSTEP_DETECT_RACE_RACE_LATE_H

#include "sim/detect/naming/finding.h"
#include "sim/detect/race/race_ends.h"

typedef struct RaceLate RaceLate;

/* NULL: the machine's stores aren't late. */
RaceLate *race_late_new(const Gpu *gpu);
void race_late_free(RaceLate *late);

/* A strong load or store of the warp whose lane 0 is `base`. */
typedef struct LateAccess {
  ThreadId base;
  uint64_t word; /* address / 4 */
  uint32_t pc, lanes;
  uint64_t issued, performed; /* cycles */
  bool write;
  bool atomic; /* an atomic operation */
} LateAccess;

/* A strong store of global memory is issued; a strong load or store is performed. */
void race_late_issued(RaceLate *late, const LateAccess *store);
void race_late_performed(RaceLate *late, const LateAccess *access);
/* What a warp did that shouldn't have been possible: an access of the warp whose lane 0 is `base`, issued in
 * `cycle`. */
typedef struct LateDeed {
  ThreadId base;
  uint64_t cycle;
  uint32_t pc;
} LateDeed;

/* If stores of one of the two were overtaken before, and the other looks at their words: adds a fence behind each of
 * them to what may help (Finding.fences). */
void race_late_explain(const RaceLate *late, Finding *finding, const LateDeed *one, const LateDeed *other);
/* The same of threads that wait for a word for ever: of all stores that were overtaken, those to that word
 * first, then those of who waits. */
void race_late_explain_wait(const RaceLate *late, Finding *finding);

#endif
