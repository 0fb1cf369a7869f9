/* lock_times.h - how long locks in global memory are held, and how long each takes from one owner to the next: a
 * subscriber to one run.
 * A lock is a word that a compare-and-swap or exchange whose result decides a loop has changed (polling_tries()). Who
 * changed it so has taken it; the next store or other atomic operation on it, whoever makes it, frees it. Ticket
 * locks, whose words say whose turn it is, aren't seen.
 * A transfer goes from the moment in which an owner frees the lock to the moment in which the next one has it. When
 * that is can be said in four ways (LockTransfer), which differ by what a loaded memory system makes wait: keep them
 * apart.
 * Only a transfer that somebody waited for counts: a try failed since the lock was taken. Otherwise the time is
 * nobody's wait.
 * Ownership: the caller's. It borrows launches of the Gpu until the run has ended. */
#ifndef LOCKSTEP_STUDY_LOCK_TIMES_H
#define LOCKSTEP_STUDY_LOCK_TIMES_H

#include "sim/core/gpu.h"

/* From when on. The first three last until the reply of the successful try is back at its warp, as a program can
 * measure it. */
typedef enum {
  TRANSFER_FROM_FENCE,  /* the fence before the unlock begins: where a program reads the time that it leaves */
  TRANSFER_FROM_UNLOCK, /* the unlock is issued */
  TRANSFER_FROM_PORT,   /* it leaves its SM */
  TRANSFER_AT_L2,       /* it is performed, and only until the successful try is performed */
  TRANSFERS
} LockTransfer;

/* Of one lock, or of all. Times in thousandths of a cycle, added up. */
typedef struct LockSums {
  uint64_t taken, failed; /* tries, one for each lane */
  uint64_t freed, held;   /* from the try that took it until it was freed, both performed */
  uint64_t handovers;     /* transfers that somebody waited for */
  uint64_t transfer[TRANSFERS];
} LockSums;

typedef struct LockTime {
  uint64_t address;
  LockSums sums;
} LockTime;

typedef struct LockTimes LockTimes;

LockTimes *lock_times_new(void);
void lock_times_free(LockTimes *times);
Probe *lock_times_probe(LockTimes *times);
/* All locks together. */
LockSums lock_times_all(const LockTimes *times);
/* The `count` locks with the most tries, the first first. LockTime *, borrowed. Free the array. */
GPtrArray *lock_times_top(const LockTimes *times, guint count);

#endif
