/* atomic_unit.h - the atomic unit of a slice, and the lines that it holds.
 * Models: turns of an interval (memory.atomic), apart from the latency of a reply, which is longer; in order of
 * arrival. An atomic holds its line: loads and stores of that line go through the unit too, behind it. A held line is
 * released when none of its accesses waits in the unit any longer, or (release: unit) when nothing does. A unit of a
 * chip without L2 (occupies: line) locks a line alone: other lines pass. Or (holds: slice) whatever comes to the
 * slice goes through the unit while that is busy, in order; what isn't on the line of the access before takes no
 * longer than a load behind a load. An atomic on another line than the access before, or on that line once the unit
 * has run empty, takes the unit longer. A queue of so many; who finds it full waits outside. A load behind one of the
 * same line takes less (load_again_interval), or they have one turn together (batch_loads). Does not model: operands;
 * what the unit does when a result isn't used. Time: thousandths of an SM cycle; calls come by rising time, to the
 * cycle. Ownership: owns its table of lines, which grows with the lines held at a time. */
#ifndef LOCKSTEP_MEMORY_ATOMIC_UNIT_H
#define LOCKSTEP_MEMORY_ATOMIC_UNIT_H

#include <stdbool.h>

#include "sim/machine/machine.h"
#include "sim/memory/mem_request.h"

/* The same of all units. */
typedef struct AtomicRules {
  uint64_t switch_busy, reacquire_busy, load_busy, load_again_busy, store_busy;
  bool by_line, release_all, whole; /* whole: holds: slice */
  uint32_t queue, batch_loads;
} AtomicRules;

typedef struct HeldLine {
  uint64_t line;    /* its number and 1; 0: free */
  uint64_t until;   /* its last access that had a turn so far is over */
  uint32_t waiting; /* accesses that wait to be called (arbiter.h) */
  uint64_t epoch;   /* release: unit */
} HeldLine;

typedef struct AtomicTurn {
  uint64_t entered; /* there was room in the queue */
  uint64_t start;   /* its turn comes */
  uint64_t end;     /* and is over */
} AtomicTurn;

typedef struct AtomicUnit {
  uint64_t free_at; /* after all that it has accepted */
  uint64_t last;    /* the line of its last access, and 1 */
  uint64_t epoch;   /* how often it ran empty; starts with 1 */
  HeldLine *held;
  uint32_t size, count; /* of the table, a power of two or 0; entries taken */
  uint64_t *started;    /* when each of the last `queue` accesses left the queue, a ring */
  uint32_t oldest;
  AtomicTurn batch;          /* of the loads that have a turn together, if they are the unit's last access */
  uint32_t batched;          /* how many they are; 0: its last access is none */
  uint32_t waiting;          /* accesses that wait to be called, of all lines */
  uint64_t busy, busy_until; /* so far it was busy, or held a line, for so long; until when */
} AtomicUnit;

void atomic_rules_init(AtomicRules *rules, const Machine *machine);
void atomic_unit_init(AtomicUnit *unit);
void atomic_unit_clear(AtomicUnit *unit);
/* True if a load or store of that line, served now, has to go through the unit. */
bool atomic_unit_holds(AtomicUnit *unit, const AtomicRules *rules, uint64_t line, uint64_t milli);
/* The same where a unit holds all of its slice: true if anything that is served now has to go through the unit. */
static inline bool atomic_unit_busy(const AtomicUnit *unit, uint64_t milli) {
  return unit->waiting || unit->free_at > milli;
}
/* An access waits to be called (arbiter.h), and holds its line from now on. */
void atomic_unit_wait(AtomicUnit *unit, const AtomicRules *rules, uint64_t line, uint64_t milli);
/* It waits no longer: atomic_unit_enter() is next. */
void atomic_unit_called(AtomicUnit *unit, uint64_t line);
/* An atomic (which holds its line from now on), or another access to a line that is held, takes its place behind all
 * before. */
AtomicTurn atomic_unit_enter(AtomicUnit *unit, const AtomicRules *rules, uint64_t line, MemKind kind, uint64_t busy,
                             uint64_t milli);

#endif
