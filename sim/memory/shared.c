#include "sim/memory/shared.h"

#include <glib.h>
#include <string.h>

#include "base/bits.h"
#include "base/pages.h"

void shared_init(SharedMemory *shared, const Machine *machine) {
  uint32_t words = machine->sm.shared.bytes / 4;
  *shared = (SharedMemory){
      .bytes = machine->sm.shared.bytes,
      .banks = machine->sm.shared.banks,
      .pass_interval = machine->sm.shared.pass_interval,
      .own_interval = MAX(machine->sm.shared.pass_interval, machine->sm.shared.conflict_interval),
      .scheduler_interval = machine->sm.shared.scheduler_interval,
      .by_parts = machine->sm.shared.wide_access == WIDE_BY_PARTS,
      .part_latency = machine->sm.shared.part_latency,
      .part_interval = machine->sm.shared.part_interval,
      .turns_by_bank = machine->sm.shared.atomic_turns == TURNS_BY_BANK,
      .atomic = {[SHARED_ARITHMETIC] = {machine->sm.shared.atomic_interval, machine->sm.shared.atomic_extra, 0, 0},
                 [SHARED_EXCHANGE] = {machine->sm.shared.exchange_interval, machine->sm.shared.exchange_extra, 0,
                                      machine->sm.shared.quad_interval},
                 [SHARED_CAS] = {machine->sm.shared.cas_interval, machine->sm.shared.cas_extra,
                                 machine->sm.shared.wide_cas_extra, machine->sm.shared.quad_cas_interval},
                 [SHARED_COUNT] = {machine->sm.shared.count_interval, machine->sm.shared.atomic_extra, 0, 0},
                 [SHARED_ARRIVAL] = {machine->sm.shared.arrival_interval, machine->sm.shared.arrival_extra, 0, 0}},
      .quad_extra = machine->sm.shared.quad_extra,
      .check_interval = machine->sm.shared.check_interval,
      .check_extra = machine->sm.shared.check_extra,
      .generic_interval = machine->sm.shared.generic_interval,
      .copy_interval = machine->sm.shared.copy_interval,
      .group_interval = machine->sm.shared.group_interval,
      .latency = machine->sm.shared.latency,
      .jitter = machine->sm.jitter_cycles,
  };
  shared->bank_mask = (shared->banks & (shared->banks - 1)) == 0 ? shared->banks - 1 : 0;
  shared->words = PAGES_NEW(uint32_t, words);
  change_log_init(&shared->changes, words);
  shared->touched = PAGES_NEW(uint8_t, words);
  shared->lock = g_malloc0_n(machine->sm.lock_unit.bits, sizeof *shared->lock);
}

void shared_clear(SharedMemory *shared) {
  pages_free(shared->words);
  change_log_clear(&shared->changes);
  pages_free(shared->touched);
  g_free(shared->lock);
  *shared = (SharedMemory){0};
}

void shared_reset_range(SharedMemory *shared, uint32_t base, uint32_t bytes, bool defined) {
  uint32_t first = base / 4, count = (bytes + 3) / 4;
  uint32_t used = first < shared->given ? MIN(shared->given - first, count) : 0;
  memset(shared->words + first, 0, used * sizeof(uint32_t));
  memset(shared->touched + first, defined ? 15 << SHARED_DEFINED : 0, defined ? count : used);
  change_log_forget(&shared->changes, first, used);
  shared->given = MAX(shared->given, first + count);
}

/* The two shapes that nearly all accesses have: consecutive words, or one word for all. */
static bool is_conflict_free(const uint32_t address[32], uint32_t mask, uint32_t banks) {
  if (mask == UINT32_MAX && banks >= 32) {
    uint32_t apart = 0, steps = 0;
    for (uint32_t lane = 0; lane < 32; lane++) {
      apart |= address[lane] ^ address[0];
      steps |= address[lane] ^ (address[0] + 4 * lane);
    }
    return apart == 0 || steps == 0;
  }
  return (mask & (mask - 1)) == 0;
}

uint32_t shared_passes(SharedMemory *shared, const LockUnit *unit, const uint32_t address[32], uint32_t mask,
                       uint32_t words_each) {
  if (words_each == 1 && is_conflict_free(address, mask, shared->banks) &&
      (!unit || (unit->bits >= 32 && unit->low_bit == 2) || (mask & (mask - 1)) == 0))
    return 1;
  uint32_t seen[128], count = 0, most = 1;
  if (++shared->stamp == 0)
    shared->stamp = 1;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    uint32_t first = address[__builtin_ctz(rest)] / 4;
    for (uint32_t word = first; word < first + words_each; word++) {
      uint32_t bank = shared->bank_mask ? (word & shared->bank_mask) : word % shared->banks;
      bool fresh = shared->bank[bank].stamp != shared->stamp;
      if (!fresh && shared->bank[bank].word == word)
        continue; /* a broadcast within the bank's newest pass */
      bool known = false;
      for (uint32_t i = 0; !fresh && i < count && !known; i++)
        known = seen[i] == word;
      if (known)
        continue;
      seen[count++] = word;
      uint32_t pass = fresh ? 0 : shared->bank[bank].passes;
      if (unit) {
        uint32_t bit = lock_unit_index(unit, word * 4);
        if (shared->lock[bit].stamp == shared->stamp && shared->lock[bit].passes > pass)
          pass = shared->lock[bit].passes;
        shared->lock[bit].stamp = shared->stamp;
        shared->lock[bit].passes = pass + 1;
      }
      shared->bank[bank].stamp = shared->stamp;
      shared->bank[bank].passes = pass + 1;
      shared->bank[bank].word = word;
      if (pass + 1 > most)
        most = pass + 1;
    }
  }
  return most;
}

/* Among the lanes of `mask`, both of each two whose numbers differ in that bit have one place. */
static bool is_paired(const uint32_t address[32], uint32_t mask, uint32_t bit) {
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(rest), other = lane ^ bit;
    if (mask >> other & 1 && address[lane] != address[other])
      return false;
  }
  return true;
}

SharedPasses shared_access_passes(SharedMemory *shared, const LockUnit *unit, const uint32_t address[32],
                                  uint32_t mask, uint32_t words_each, bool load) {
  if (!shared->by_parts || words_each == 1)
    return (SharedPasses){shared_passes(shared, unit, address, mask, words_each), 1};
  SharedPasses all = {0};
  uint32_t lanes = 32 / words_each; /* of a part */
  for (uint32_t first = 0; first < 32; first += 2 * lanes) {
    uint32_t part = (1u << lanes) - 1, low = mask & part << first, high = mask & part << (first + lanes);
    bool joined = load && (is_paired(address, low | high, 1) || is_paired(address, low | high, 2));
    uint32_t of[2] = {joined ? low | high : low, joined ? 0 : high};
    for (uint32_t i = 0; i < 2; i++)
      if (of[i]) {
        all.passes += shared_passes(shared, unit, address, of[i], words_each);
        all.parts++;
      }
  }
  return all;
}

/* The most lanes that meet on one word, or on one bank. */
static uint32_t most_on(const uint32_t place[32], uint32_t mask) {
  uint32_t most = 0;
  while (mask) {
    uint32_t first = place[__builtin_ctz(mask)], same = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
      same |= place[__builtin_ctz(rest)] == first ? rest & -rest : 0;
    most = MAX(most, (uint32_t)bits_count(same));
    mask &= ~same;
  }
  return most;
}

/* Of the pipe's time, what it serves one access in so much time. */
static uint64_t share(const SharedMemory *shared, uint64_t own_milli) {
  return own_milli * shared->pass_interval / shared->own_interval;
}

static SharedCost cost_by_bank(const SharedMemory *shared, Milli interval, const uint32_t address[32],
                               uint32_t mask) {
  uint32_t bank[32];
  for (uint32_t lane = 0; lane < 32; lane++)
    bank[lane] = address[lane] / 4 % shared->banks;
  uint32_t turns = most_on(bank, mask);
  return (SharedCost){.passes = turns,
                      .hold_milli = share(shared, (uint64_t)turns * interval),
                      .own_milli = (uint64_t)(turns - 1) * interval,
                      .until_milli = (uint64_t)turns * interval};
}

enum { QUAD = 4 }; /* words of 128 bits */

/* How many addresses the lanes have. */
static uint32_t count_distinct(const uint32_t address[32], uint32_t mask) {
  uint32_t count = 0;
  for (; mask; count++) {
    uint32_t first = address[__builtin_ctz(mask)], same = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
      same |= address[__builtin_ctz(rest)] == first ? rest & -rest : 0;
    mask &= ~same;
  }
  return count;
}

/* So many passes, that interval apart. */
static SharedCost cost_of_passes(uint32_t passes, Milli interval) {
  return (SharedCost){.passes = passes,
                      .hold_milli = (uint64_t)passes * interval,
                      .own_milli = (uint64_t)(passes - 1) * interval,
                      .until_milli = (uint64_t)passes * interval};
}

SharedCost shared_check_cost(const SharedMemory *shared, uint32_t passes) {
  if (!shared->check_interval)
    return shared_cost(shared, passes);
  SharedCost cost = cost_of_passes(passes, shared->check_interval);
  cost.extra = shared->check_extra;
  return cost;
}

/* Lanes on one word go together. */
static SharedCost cost_together(SharedMemory *shared, SharedAtomic kind, const uint32_t address[32], uint32_t mask,
                                uint32_t words_each) {
  uint32_t passes = kind == SHARED_COUNT ? shared_passes(shared, NULL, address, mask, words_each)
                                         : count_distinct(address, mask);
  return cost_of_passes(passes, shared->atomic[kind].interval);
}

/* Distinct words take the passes that their banks need, then lanes on one word follow each other. */
static SharedCost cost_by_word(SharedMemory *shared, Milli interval, const uint32_t address[32], uint32_t mask,
                               uint32_t words_each) {
  uint32_t word[32];
  for (uint32_t lane = 0; lane < 32; lane++)
    word[lane] = address[lane] / 4;
  uint64_t behind = (uint64_t)(most_on(word, mask) - 1) * interval;
  SharedCost cost = shared_cost(shared, shared_passes(shared, NULL, address, mask, words_each));
  cost.hold_milli += share(shared, behind);
  cost.own_milli += behind;
  cost.until_milli += behind;
  return cost;
}

SharedCost shared_atomic_cost(SharedMemory *shared, SharedAtomic kind, const uint32_t address[32], uint32_t mask,
                              uint32_t words_each) {
  if (kind >= SHARED_COUNT && !shared->atomic[kind].interval)
    kind = SHARED_ARITHMETIC;
  Milli interval = shared->atomic[kind].interval;
  SharedCost cost = kind >= SHARED_COUNT    ? cost_together(shared, kind, address, mask, words_each)
                    : shared->turns_by_bank ? cost_by_bank(shared, interval, address, mask)
                                            : cost_by_word(shared, interval, address, mask, words_each);
  cost.extra = shared->atomic[kind].extra + (words_each > 1 ? shared->atomic[kind].wide_extra : 0);
  if (words_each == QUAD) {
    cost.extra += shared->quad_extra;
    cost.hold_milli = MAX(cost.hold_milli, shared->atomic[kind].quad_interval);
  }
  return cost;
}
