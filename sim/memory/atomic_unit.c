#include "sim/memory/atomic_unit.h"

#include <glib.h>

#include "sim/engine/rng.h"
#include "sim/memory/mem_clock.h"

void atomic_rules_init(AtomicRules *rules, const Machine *machine) {
  *rules = (AtomicRules){.switch_busy = mem_clock_core(machine, machine->memory.atomic.switch_interval),
                         .reacquire_busy = mem_clock_core(machine, machine->memory.atomic.reacquire_interval),
                         .load_busy = mem_clock_core(machine, machine->memory.atomic.load_interval),
                         .load_again_busy = mem_clock_core(machine, machine->memory.atomic.load_again_interval),
                         .store_busy = mem_clock_core(machine, machine->memory.atomic.store_interval),
                         .by_line = machine->memory.atomic.occupies == ATOMIC_OCCUPIES_LINE,
                         .whole = machine->memory.atomic.holds == ATOMIC_HOLDS_SLICE &&
                                  machine->memory.atomic.occupies != ATOMIC_OCCUPIES_LINE,
                         .release_all = machine->memory.atomic.release == RELEASE_UNIT,
                         .queue = machine->memory.atomic.queue,
                         .batch_loads = machine->memory.atomic.batch_loads};
}

void atomic_unit_init(AtomicUnit *unit) { *unit = (AtomicUnit){.epoch = 1}; }

void atomic_unit_clear(AtomicUnit *unit) {
  g_free(unit->held);
  g_free(unit->started);
}

/* Whether an entry still says something. */
static bool is_held(const AtomicUnit *unit, const AtomicRules *rules, const HeldLine *entry, uint64_t milli) {
  return entry->waiting || entry->until > milli || (rules->release_all && entry->epoch == unit->epoch);
}

/* The entry of a line, or the free place where it would be. The table is never full. */
static HeldLine *entry_of(const AtomicUnit *unit, uint64_t line) {
  uint32_t place = (uint32_t)rng_mix(line) & (unit->size - 1);
  while (unit->held[place].line && unit->held[place].line != line + 1)
    place = (place + 1) & (unit->size - 1);
  return &unit->held[place];
}

/* Forgets the lines that aren't held any longer, and makes room for as many again as are left. */
static void clean(AtomicUnit *unit, const AtomicRules *rules, uint64_t milli) {
  HeldLine *old = unit->held;
  uint32_t old_size = unit->size, left = 0;
  for (uint32_t i = 0; i < old_size; i++)
    left += old[i].line && is_held(unit, rules, &old[i], milli);
  unit->size = 16;
  while (unit->size < 4 * left)
    unit->size *= 2;
  unit->held = g_new0(HeldLine, unit->size);
  unit->count = left;
  for (uint32_t i = 0; i < old_size; i++)
    if (old[i].line && is_held(unit, rules, &old[i], milli))
      *entry_of(unit, old[i].line - 1) = old[i];
  g_free(old);
}

bool atomic_unit_holds(AtomicUnit *unit, const AtomicRules *rules, uint64_t line, uint64_t milli) {
  if (!unit->count)
    return false;
  if (unit->free_at <= milli && !unit->waiting && !rules->by_line) {
    unit->epoch++; /* it has run empty: nothing is held */
    unit->count = 0;
    for (uint32_t i = 0; i < unit->size; i++)
      unit->held[i].line = 0;
    return false;
  }
  const HeldLine *entry = entry_of(unit, line);
  return entry->line && is_held(unit, rules, entry, milli);
}

/* When there is room in the queue: once the access so many places before has left it. */
static uint64_t wait_for_room(AtomicUnit *unit, const AtomicRules *rules, uint64_t milli) {
  if (!unit->started)
    unit->started = g_new0(uint64_t, rules->queue);
  return MAX(milli, unit->started[unit->oldest]);
}

/* From `milli` on, where all turns so far had been counted, until the end of a new one some line is locked, or the
 * unit busy. */
static void count_busy(AtomicUnit *unit, uint64_t milli, uint64_t end) {
  uint64_t from = MAX(milli, unit->busy_until);
  if (end > from)
    unit->busy += end - from;
  unit->busy_until = MAX(unit->busy_until, end);
}

/* A load of the line whose loads were the unit's last access, and still wait, has its turn with them. */
static bool joins_batch(const AtomicUnit *unit, const AtomicRules *rules, uint64_t line, MemKind kind,
                        uint64_t milli) {
  return kind == MEM_LOAD && unit->batched && unit->batched < rules->batch_loads && unit->last == line + 1 &&
         unit->batch.start >= milli;
}

/* The entry of a line, new if it has none. */
static HeldLine *hold(AtomicUnit *unit, const AtomicRules *rules, uint64_t line, uint64_t milli) {
  if (unit->count * 2 >= unit->size)
    clean(unit, rules, milli);
  HeldLine *entry = entry_of(unit, line);
  if (!entry->line) {
    unit->count++;
    *entry = (HeldLine){.line = line + 1};
  }
  return entry;
}

void atomic_unit_wait(AtomicUnit *unit, const AtomicRules *rules, uint64_t line, uint64_t milli) {
  if (!rules->whole)
    hold(unit, rules, line, milli)->waiting++;
  unit->waiting++;
}

void atomic_unit_called(AtomicUnit *unit, uint64_t line) {
  if (unit->size)
    entry_of(unit, line)->waiting--;
  unit->waiting--;
}

AtomicTurn atomic_unit_enter(AtomicUnit *unit, const AtomicRules *rules, uint64_t line, MemKind kind, uint64_t busy,
                             uint64_t milli) {
  if (joins_batch(unit, rules, line, kind, milli)) {
    unit->batched++;
    return (AtomicTurn){milli, unit->batch.start, unit->batch.end};
  }
  HeldLine none, *entry = rules->whole ? &none : hold(unit, rules, line, milli);
  if (rules->by_line) {
    uint64_t start = MAX(milli, entry->until);
    entry->until = start + busy;
    unit->last = line + 1;
    count_busy(unit, milli, entry->until);
    return (AtomicTurn){milli, start, entry->until};
  }
  if (kind == MEM_ATOMIC)
    busy += unit->last != line + 1 ? rules->switch_busy : unit->free_at <= milli ? rules->reacquire_busy : 0;
  if (kind == MEM_LOAD && (unit->last == line + 1 ? unit->batched > 0 : rules->whole))
    busy = rules->load_again_busy;
  uint64_t entered = wait_for_room(unit, rules, milli), start = MAX(entered, unit->free_at);
  unit->started[unit->oldest] = start;
  unit->oldest = unit->oldest + 1 < rules->queue ? unit->oldest + 1 : 0;
  if (unit->free_at <= milli)
    unit->epoch++;
  unit->last = line + 1;
  unit->free_at = start + busy;
  entry->until = unit->free_at;
  entry->epoch = unit->epoch;
  count_busy(unit, milli, unit->free_at);
  unit->batch = (AtomicTurn){entered, start, unit->free_at};
  unit->batched = kind == MEM_LOAD;
  return unit->batch;
}
