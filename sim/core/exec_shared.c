/* Shared memory: loads, stores, lock bits and native atomics. */
#include <glib.h>

#include "base/bits.h"
#include "base/wide.h"
#include "sim/core/access.h"
#include "sim/core/async_copy.h"
#include "sim/core/bulk.h"
#include "sim/core/mbarrier.h"
#include "sim/core/record.h"
#include "sim/core/scheduler.h"
#include "sim/core/swap_loop.h"
#include "sim/core/tell.h"
#include "sim/core/try_wait.h"
#include "sim/core/undefined.h"

static uint32_t byte_mask(uint32_t bytes, uint32_t offset) {
  return (bytes >= 4 ? 15u : (1u << bytes) - 1) << offset;
}

static const char *shared_repair(const Issue *issue) {
  const Launch *launch = warp_block(issue->sm, issue->warp)->launch;
  if (!program_is_compiled(launch->program))
    return "raise .shared, or keep the lanes that have no element from the access";
  if (launch->shared_bytes <= launch->kernel->shared_system)
    return "give the launch dynamic shared memory (shared: BYTES, or --shared BYTES): the kernel has no __shared__ "
           "array of a fixed size";
  return "enlarge the __shared__ array (or the launch's dynamic shared memory), or keep the lanes that have no "
         "element "
         "from the access";
}

static void shared_fault(Issue *issue, const uint32_t relative[32], uint32_t bad, uint32_t bytes, uint32_t limit) {
  uint32_t address = relative[__builtin_ctz(bad)];
  if (place_in(address, bytes, limit) == PLACE_MISALIGNED)
    record_fault(issue, bad, "shared", address,
                 g_strdup_printf("misaligned %u-byte access to shared address 0x%x", bytes, address),
                 g_strdup_printf("make the address a multiple of %u", bytes));
  else
    record_fault(issue, bad, "shared", address,
                 g_strdup_printf("access to shared address 0x%x beyond the block's %u bytes", address, limit),
                 g_strdup(shared_repair(issue)));
}

/* Lanes whose access faults, if they make it. */
static uint32_t bad_lanes(const uint32_t relative[32], uint32_t bytes, uint32_t limit) {
  uint32_t bad = 0;
  for (unsigned lane = 0; lane < 32; lane++)
    bad |= place_in(relative[lane], bytes, limit) ? lane_bit[lane] : 0;
  return bad;
}

/* physical: start + base + offset. Returns 0 if in all lanes that leaves room for `bytes` (up to start + last), at a
 * multiple of their number. */
WIDE_CLONES static uint32_t place_lanes(const uint32_t base[restrict WARP_LANES], uint32_t offset, uint32_t start,
                                        uint32_t last, uint32_t bytes, uint32_t physical[restrict WARP_LANES]) {
  uint32_t odd = 0;
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    uint32_t relative = base[lane] + offset;
    odd |= (relative & (bytes - 1)) | (relative > last);
    physical[lane] = start + relative;
  }
  return odd;
}

bool shared_addresses(Issue *issue, const uint32_t base[32], uint32_t offset, uint32_t bytes, uint32_t physical[32]) {
  const Block *block = warp_block(issue->sm, issue->warp);
  uint32_t limit = block->shared_bytes, start = block->shared_base;
  offset -= block->rank_bits;
  uint32_t odd = place_lanes(base, offset, start, limit - bytes, bytes, physical);
  if (G_LIKELY(!odd && bytes <= limit))
    return true;
  uint32_t relative[32];
  for (unsigned lane = 0; lane < 32; lane++)
    relative[lane] = physical[lane] - start;
  uint32_t bad = bad_lanes(relative, bytes, limit) & issue->mask;
  if (bad)
    shared_fault(issue, relative, bad, bytes, limit);
  return !bad;
}

/* The same for an instruction on shared memory. */
static bool own_addresses(Issue *issue, uint32_t bytes, uint32_t physical[32]) {
  return shared_addresses(issue, issue_operand(issue, issue->inst->a), (uint32_t)issue->inst->imm, bytes, physical);
}

/* Takes the pipe and sets when the result is ready, and when the warp goes on. Returns when the service starts. */
SharedService shared_take(Issue *issue, const SharedCost *cost) {
  Sm *sm = issue->sm;
  const Machine *machine = issue->gpu->machine;
  SharedService service = shared_serve(&sm->shared, issue->warp->scheduler, issue->now, cost, &sm->jitter);
  scheduler_behind_fence(issue);
  if (service.start > issue->next + machine->sm.shared.run_ahead)
    issue->next = service.start - machine->sm.shared.run_ahead;
  return service;
}

/* The same, and counted. */
static uint64_t take_pipe(Issue *issue, const SharedCost *cost) {
  issue->sm->counters.shared_accesses++;
  issue->sm->counters.shared_passes += cost->passes;
  SharedService service = shared_take(issue, cost);
  issue->ready = service.ready;
  return service.start;
}

/* What barriers and fences of the block wait for. */
static void note_store(Issue *issue, uint64_t when) {
  Scheduler *scheduler = sm_scheduler(issue->sm, issue->warp);
  issue->warp->last_store = when;
  scheduler->last_store = MAX(scheduler->last_store, when);
}

/* The same for a load or store. */
static uint64_t serve(Issue *issue, const uint32_t physical[32], uint32_t bytes, bool locks) {
  SharedMemory *shared = &issue->sm->shared;
  bool load = issue->inst->op == OP_LDS, checks = load && issue->inst->lop;
  SharedPasses all = shared_access_passes(shared, locks ? &issue->sm->lock_unit : NULL, physical, issue->mask,
                                          access_words(bytes), load);
  SharedCost cost = checks ? shared_check_cost(shared, all.passes) : shared_cost(shared, all.passes);
  shared_add_parts(shared, &cost, all.parts, load);
  if (G_UNLIKELY(checks && issue->warp->tries_until))
    cost.hold_milli = cost.until_milli = 0; /* a try that wakes: it has been at the pipe (try_wait.h) */
  return take_pipe(issue, &cost);
}

static void report_shared(Issue *issue, AccessKind kind, const uint32_t physical[32], uint32_t bytes, uint32_t taken,
                          bool unlock) {
  if (G_UNLIKELY(issue->block->copying || issue->sm->bulk) && PROBE_WANTED(issue->gpu, hazard)) {
    if (issue->block->copying)
      async_copies_check(issue, physical, bytes);
    if (issue->sm->bulk)
      bulk_check(issue, physical, bytes, kind != ACCESS_READ);
  }
  if (!PROBE_WANTED(issue->gpu, access))
    return;
  uint64_t address[32];
  for (unsigned lane = 0; lane < 32; lane++)
    address[lane] = physical[lane];
  ProbePoint point = issue_point(issue, issue->mask);
  PROBE_FIRE(issue->gpu, access, &point, SPACE_SHARED, kind, address, bytes, taken, unlock, 0);
}

/* Bytes of a word that are to be accessed, and that nobody has given a value. */
static uint8_t undefined_bytes(const SharedMemory *shared, uint32_t word, uint32_t bytes, uint32_t offset) {
  return (uint8_t)(byte_mask(bytes, offset) & ~(shared->touched[word] >> SHARED_DEFINED));
}

/* The load meets bytes that nobody has given a value. */
static void load_undefined(Issue *issue, const uint32_t physical[32], uint32_t bytes) {
  const SharedMemory *shared = &issue->sm->shared;
  uint64_t address[32];
  for (unsigned lane = 0; lane < 32; lane++)
    address[lane] = physical[lane];
  for (uint32_t part = 0; part < access_words(bytes); part++) {
    uint8_t undefined[32] = {0};
    for (uint32_t rest = issue->mask; rest; rest &= rest - 1) {
      unsigned lane = (unsigned)__builtin_ctz(rest);
      uint32_t offset = physical[lane] % 4;
      undefined[lane] = undefined_bytes(shared, physical[lane] / 4 + part, bytes, offset);
      undefined[lane] = bytes < 4 ? undefined_narrowed(undefined[lane], bytes, offset) : undefined[lane];
    }
    undefined_loaded(issue, part, undefined, MEM_SHARED, address);
  }
}

/* The word of lane 0, if all lanes access whole words that follow each other; else -1. */
static int64_t row_of(const Issue *issue, const uint32_t physical[32], uint32_t bytes) {
  uint32_t differ = 0;
  if (issue->mask != ALL_LANES || bytes != 4)
    return -1;
  for (uint32_t lane = 0; lane < 32; lane++)
    differ |= physical[lane] ^ (physical[0] + 4 * lane);
  return differ ? -1 : (int64_t)(physical[0] / 4);
}

enum { ALL_BYTES = 15, ALL_DEFINED = ALL_BYTES << SHARED_DEFINED };

/* The lanes load words in a row. False: some have bytes that nobody has given a value. */
static bool load_row(Issue *issue, uint32_t word) {
  uint8_t *touched = &issue->sm->shared.touched[word], defined = ALL_DEFINED;
  for (unsigned lane = 0; lane < 32; lane++)
    defined &= touched[lane];
  for (unsigned lane = 0; lane < 32; lane++)
    touched[lane] |= ALL_BYTES;
  issue_write(issue, issue->inst->dst, &issue->sm->shared.words[word]);
  return defined == ALL_DEFINED;
}

static void load_shared(Issue *issue, const uint32_t physical[32], uint32_t bytes) {
  const uint32_t *values = issue->sm->shared.words;
  uint8_t *touched = issue->sm->shared.touched;
  const Inst *inst = issue->inst;
  uint32_t words = access_words(bytes), undefined = 0;
  int64_t first = row_of(issue, physical, bytes);
  if (first >= 0) {
    if (!load_row(issue, (uint32_t)first))
      load_undefined(issue, physical, bytes);
    return;
  }
  for (uint32_t part = 0; part < words; part++) {
    uint32_t row[32] = {0};
    for (uint32_t rest = issue->mask; rest; rest &= rest - 1) {
      unsigned lane = (unsigned)__builtin_ctz(rest);
      uint32_t word = physical[lane] / 4 + part, offset = physical[lane] % 4, mask = byte_mask(bytes, offset);
      row[lane] = bytes < 4 ? narrow_load(values[word], offset, inst->width) : values[word];
      undefined |= mask & ~((uint32_t)touched[word] >> SHARED_DEFINED);
      touched[word] |= (uint8_t)mask;
    }
    access_write(issue, part, row);
  }
  if (G_UNLIKELY(undefined))
    load_undefined(issue, physical, bytes);
}

void shared_put(Sm *sm, uint32_t word, uint32_t value, const WordChange *change, unsigned lane) {
  SharedMemory *shared = &sm->shared;
  shared->touched[word] |= ALL_BYTES | ALL_DEFINED;
  if (value == shared->words[word])
    return;
  gpu_hash_change(sm->gpu, HASH_SHARED, (uint64_t)sm->index << 24 | word, shared->words[word], value);
  shared->words[word] = value;
  change_log_note(&shared->changes, word, change, lane);
}

/* A word gets a new value from a lane. */
static inline void change_word(Issue *issue, uint32_t word, uint32_t value, const WordChange *change, unsigned lane) {
  SharedMemory *shared = &issue->sm->shared;
  if (value == shared->words[word])
    return;
  gpu_hash_change(issue->gpu, HASH_SHARED, (uint64_t)issue->sm->index << 24 | word, shared->words[word], value);
  shared->words[word] = value;
  change_log_note(&shared->changes, word, change, lane);
}

/* The lanes store words in a row, all of them with a value. */
static void store_row(Issue *issue, uint32_t word, uint64_t when) {
  SharedMemory *shared = &issue->sm->shared;
  WordChange change = access_change(issue, when);
  const uint32_t *data = access_data(issue, 0);
  uint32_t *words = &shared->words[word], changed = 0;
  for (unsigned lane = 0; lane < 32; lane++)
    changed += words[lane] != data[lane];
  if (changed == 32)
    change_log_note_words(&shared->changes, word, 32, &change, 0);
  for (unsigned lane = 0; changed && changed < 32 && lane < 32; lane++)
    if (words[lane] != data[lane])
      change_log_note(&shared->changes, word + lane, &change, lane);
  memcpy(words, data, 32 * sizeof *words);
  memset(&shared->touched[word], ALL_BYTES | ALL_DEFINED, 32);
  note_store(issue, when);
}

static void store_shared(Issue *issue, const uint32_t physical[32], uint32_t bytes, uint64_t when) {
  SharedMemory *shared = &issue->sm->shared;
  WordChange change = access_change(issue, when);
  bool lowest = issue->gpu->machine->sm.store_winner == STORE_LOWEST_LANE;
  bool some_undefined = issue->warp->undefined_rows != 0;
  uint8_t *touched = shared->touched;
  int64_t row = some_undefined || issue->gpu->hashes_memory ? -1 : row_of(issue, physical, bytes);
  if (row >= 0) {
    store_row(issue, (uint32_t)row, when);
    return;
  }
  for (uint32_t part = 0; part < access_words(bytes); part++) {
    const uint32_t *data = access_data(issue, part);
    for (uint32_t rest = issue->mask; rest;) {
      unsigned lane = access_next_store(rest, bytes, lowest);
      rest &= ~(1u << lane);
      uint32_t word = physical[lane] / 4 + part, offset = physical[lane] % 4;
      uint32_t value = bytes < 4 ? narrow_store(shared->words[word], offset, bytes, data[lane]) : data[lane];
      uint32_t mask = byte_mask(bytes, offset), defined = mask;
      if (G_UNLIKELY(some_undefined))
        defined &= ~((uint32_t)undefined_stored(issue, part, lane) << offset);
      if (G_UNLIKELY(defined != mask))
        undefined_keep(issue, part, lane, MEM_SHARED, 4 * (uint64_t)word + offset);
      touched[word] = (uint8_t)((touched[word] & ~(mask << SHARED_DEFINED)) | mask | defined << SHARED_DEFINED);
      change_word(issue, word, value, &change, lane);
    }
  }
  note_store(issue, when);
}

/* Some lanes load `value` (of each lane, or one of all) instead of what stands there. */
static void give_others(Issue *issue, const uint32_t physical[32], uint32_t lanes, const uint32_t *value, bool one) {
  uint32_t row[WARP_LANES];
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    row[lane] = lanes >> lane & 1         ? value[one ? 0 : lane]
                : issue->mask >> lane & 1 ? issue->sm->shared.words[physical[lane] / 4]
                                          : 0;
  access_write(issue, 0, row);
}

/* Some lanes load what stood there before a store of their warp, or will stand there behind one; or an older value
 * than the newest. */
static void give_other_lanes(Issue *issue, const uint32_t physical[32]) {
  const OlderRun *run = issue->gpu->older;
  const OlderLanes *older = run->lanes;
  uint32_t sm = issue->sm->index, slot = issue->warp->slot, pc = issue->warp->pc;
  if (older && older->cycle == issue->now && older->sm == sm && older->warp == slot && older->pc == pc)
    give_others(issue, physical, older->lanes, older->value, false);
  else if (older_run_has_shared(run, issue->now, sm, slot, pc))
    give_others(issue, physical, run->load.lanes, run->load.value, true);
}

bool shared_load(Issue *issue, const uint32_t base[WARP_LANES], uint32_t offset) {
  uint32_t physical[32], bytes = width_bytes[issue->inst->width];
  if (!shared_addresses(issue, base, offset, bytes, physical))
    return false;
  serve(issue, physical, bytes, false);
  report_shared(issue, ACCESS_READ, physical, bytes, 0, false);
  load_shared(issue, physical, bytes);
  if (G_UNLIKELY(issue->gpu->older != NULL))
    give_other_lanes(issue, physical);
  if (G_UNLIKELY(issue->inst->op == OP_LDS && issue->inst->lop == LDS_TRIES_PHASE))
    try_wait_look(issue, physical);
  return true;
}

bool shared_store(Issue *issue, const uint32_t base[WARP_LANES], uint32_t offset) {
  uint32_t physical[32], bytes = width_bytes[issue->inst->width];
  if (!shared_addresses(issue, base, offset, bytes, physical))
    return false;
  uint64_t when = serve(issue, physical, bytes, false);
  report_shared(issue, ACCESS_WRITE, physical, bytes, 0, false);
  store_shared(issue, physical, bytes, when);
  return true;
}

void exec_LDS(Issue *issue) { shared_load(issue, issue_operand(issue, issue->inst->a), (uint32_t)issue->inst->imm); }

void exec_STS(Issue *issue) { shared_store(issue, issue_operand(issue, issue->inst->a), (uint32_t)issue->inst->imm); }

/* ---- lock bits ---- */

static void hash_bit(Issue *issue, uint32_t index) {
  gpu_hash_change(issue->gpu, HASH_LOCK, (uint64_t)issue->sm->index << 24 | index, 0, 1);
}

/* Lanes in order: of those on one word, or on words with one lock bit, the lowest takes the bit if it was free. */
void exec_LDSLK(Issue *issue) {
  uint32_t physical[32], taken = 0;
  if (!own_addresses(issue, 4, physical))
    return;
  uint64_t when = serve(issue, physical, 4, true);
  ThreadId threads = warp_thread_base(warp_block(issue->sm, issue->warp), issue->warp);
  for (uint32_t rest = issue->mask; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    if (lock_unit_try(&issue->sm->lock_unit, physical[lane], thread_plus(threads, lane), issue->warp->pc, when))
      taken |= 1u << lane;
  }
  for (uint32_t rest = taken; issue->gpu->hashes_memory && rest; rest &= rest - 1)
    hash_bit(issue, lock_unit_index(&issue->sm->lock_unit, physical[__builtin_ctz(rest)]));
  issue->warp->holding |= taken;
  issue->sm->counters.lock_attempts += bits_count(issue->mask);
  issue->sm->counters.lock_failures += bits_count(issue->mask & ~taken);
  report_shared(issue, ACCESS_READ, physical, 4, taken, false);
  load_shared(issue, physical, 4);
  issue_set_pred(issue, issue->inst->pdst, taken);
}

/* Frees each distinct bit once; tells the detectors who freed what it didn't hold. */
static void unlock(Issue *issue, const uint32_t physical[32]) {
  LockUnit *unit = &issue->sm->lock_unit;
  ThreadId threads = warp_thread_base(warp_block(issue->sm, issue->warp), issue->warp);
  uint32_t seen[32], count = 0; /* bits that an earlier lane freed, or found free */
  for (uint32_t rest = issue->mask; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    uint32_t index = lock_unit_index(unit, physical[lane]);
    LockBit *bit = &unit->bit[index];
    if (bit->held) {
      if (!thread_equal(bit->owner, thread_plus(threads, lane))) {
        ProbePoint point = issue_point(issue, 1u << lane);
        tell_unlock_not_owned(&point, lane, physical[lane], index, bit);
      }
      bit->held = false;
      hash_bit(issue, index);
      seen[count++] = index;
      issue->sm->counters.lock_releases++;
      continue;
    }
    uint32_t i = 0;
    while (i < count && seen[i] != index)
      i++;
    if (i == count) {
      seen[count++] = index;
      ProbePoint point = issue_point(issue, 1u << lane);
      tell_unlock_not_owned(&point, lane, physical[lane], index, NULL);
    }
  }
}

void exec_STSUL(Issue *issue) {
  uint32_t physical[32];
  if (!own_addresses(issue, 4, physical))
    return;
  uint64_t when = serve(issue, physical, 4, true);
  report_shared(issue, ACCESS_WRITE, physical, 4, 0, true);
  store_shared(issue, physical, 4, when);
  unlock(issue, physical);
}

/* Lanes in order: a lane finds its bit free if a lane before it has freed that. */
static uint32_t lanes_that_unlock(const Issue *issue, const uint32_t physical[32]) {
  const LockUnit *unit = &issue->sm->lock_unit;
  bool own = issue->gpu->machine->sm.lock_unit.conditional_unlock == CONDITIONAL_UNLOCK_OWN;
  ThreadId threads = warp_thread_base(warp_block(issue->sm, issue->warp), issue->warp);
  uint32_t freed[32], count = 0, lanes = 0;
  for (uint32_t rest = issue->mask; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    uint32_t index = lock_unit_index(unit, physical[lane]), i = 0;
    const LockBit *bit = &unit->bit[index];
    while (i < count && freed[i] != index)
      i++;
    if (i < count || !bit->held || (own && !thread_equal(bit->owner, thread_plus(threads, lane))))
      continue;
    freed[count++] = index;
    lanes |= 1u << lane;
  }
  return lanes;
}

/* What the lanes do whose bit isn't held is no access. */
void exec_STSCUL(Issue *issue) {
  uint32_t physical[32], executing = issue->mask;
  if (!own_addresses(issue, 4, physical))
    return;
  uint32_t lanes = lanes_that_unlock(issue, physical);
  uint64_t when = serve(issue, physical, 4, true);
  issue->sm->counters.unlock_attempts += bits_count(executing);
  issue->sm->counters.unlock_failures += bits_count(executing & ~lanes);
  if (lanes) {
    issue->mask = lanes;
    report_shared(issue, ACCESS_WRITE, physical, 4, 0, true);
    store_shared(issue, physical, 4, when);
    unlock(issue, physical);
    issue->mask = executing;
  }
  issue_set_pred(issue, issue->inst->pdst, lanes);
}

/* ---- native atomics (on machines before sm_50 they work all the same, where the hardware has a loop of LDSLK) ---- */

/* ptxas makes ATOMS.POPC.INC of it. */
static bool only_counts(const Issue *issue) {
  const Inst *inst = issue->inst;
  const Kernel *kernel = issue->block->launch->kernel;
  if (inst->mode != ATOM_ADD || inst->width != WIDTH_32 || type_is_float(inst->type) || inst->b >= 0)
    return false;
  const ConstRef *operand = &kernel->consts[~inst->b];
  return operand->kind == CONST_IMMEDIATE && operand->value == 1 && inst->dst == (int16_t)kernel->nregs;
}

static SharedAtomic kind_of_atomic(const Issue *issue) {
  switch (issue->inst->mode) {
  case ATOM_CAS: return SHARED_CAS;
  case ATOM_EXCH: return SHARED_EXCHANGE;
  case ATOM_ARRIVE: return issue->inst->lop & MBARRIER_BEFORE_HOPPER ? SHARED_ARITHMETIC : SHARED_ARRIVAL;
  default: return only_counts(issue) ? SHARED_COUNT : SHARED_ARITHMETIC;
  }
}

static uint64_t serve_atomics(Issue *issue, const uint32_t physical[32], uint32_t bytes) {
  if (swap_loop_is(issue))
    return swap_loop_serve(issue, physical, bytes);
  SharedAtomic kind = kind_of_atomic(issue);
  uint32_t lanes = issue_merges(issue) ? issue->mask & -issue->mask : issue->mask;
  SharedCost cost = shared_atomic_cost(&issue->sm->shared, kind, physical, lanes, access_words(bytes));
  return take_pipe(issue, &cost);
}

/* Of a lane: 128 bits are exchanged, or compared and swapped, all four words at once. */
static void operate_on_four(Issue *issue, const AtomicOperands *operands, uint32_t word,
                            uint32_t old[ACCESS_PARTS_MAX][32], const WordChange *change, unsigned lane) {
  bool swaps = issue->inst->mode == ATOM_CAS, stores = true;
  for (uint32_t part = 0; part < ACCESS_PARTS_MAX; part++)
    stores &= atomic_agrees(issue->inst, old[part][lane], operands->b[part][lane]);
  for (uint32_t part = 0; stores && part < ACCESS_PARTS_MAX; part++)
    change_word(issue, word + part, (swaps ? operands->c : operands->b)[part][lane], change, lane);
}

static void operate_on_value(Issue *issue, const AtomicOperands *operands, uint32_t word, uint32_t byte,
                             uint32_t old[ACCESS_PARTS_MAX][32], const WordChange *change, unsigned lane) {
  const Inst *inst = issue->inst;
  uint32_t bytes = width_bytes[inst->width];
  uint64_t value = atomic_apply(inst, old[0][lane] | (uint64_t)old[1][lane] << 32, access_value(operands->b, lane),
                                access_value(operands->c, lane));
  uint32_t low = (uint32_t)value;
  change_word(issue, word, bytes < 4 ? narrow_store(issue->sm->shared.words[word], byte, bytes, low) : low, change,
              lane);
  if (bytes == 8)
    change_word(issue, word + 1, (uint32_t)(value >> 32), change, lane);
  if (G_UNLIKELY(inst->mode == ATOM_ARRIVE && issue->sm->trying))
    try_wait_changed(issue->sm, word + 1, old[1][lane], (uint32_t)(value >> 32), change->cycle);
}

/* Lanes in order. */
bool shared_atomic(Issue *issue, const uint32_t base[WARP_LANES], uint32_t offset) {
  SharedMemory *shared = &issue->sm->shared;
  const Inst *inst = issue->inst;
  uint32_t physical[32], bytes = width_bytes[inst->width], old[ACCESS_PARTS_MAX][32] = {{0}};
  UndefinedMet met;
  met.lanes = 0; /* the rest is set when it is needed */
  if (!shared_addresses(issue, base, offset, bytes, physical))
    return false;
  uint64_t when = serve_atomics(issue, physical, bytes);
  if (issue_merges(issue)) {
    issue->next += access_merge_before(issue->gpu->machine, inst, access_is_used(issue));
    issue->ready += access_merge_delay(issue->gpu->machine, inst);
  }
  report_shared(issue, ACCESS_ATOMIC, physical, bytes, 0, false);
  AtomicOperands operands = access_atomic_operands(issue);
  WordChange change = access_change(issue, when);
  for (uint32_t rest = issue->mask; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    uint32_t word = physical[lane] / 4, byte = physical[lane] % 4;
    uint64_t operand = access_value(operands.b, lane);
    for (uint32_t part = 0; part < access_words(bytes); part++) {
      old[part][lane] = bytes < 4 ? narrow_load(shared->words[word], byte, inst->width) : shared->words[word + part];
      uint8_t accessed = (uint8_t)byte_mask(bytes, byte), left = undefined_bytes(shared, word + part, bytes, byte);
      if (G_UNLIKELY(left))
        left = undefined_meet(&met, inst, part, lane, left, physical[lane], operand);
      shared->touched[word + part] |= (uint8_t)(accessed | (accessed & ~left) << SHARED_DEFINED);
    }
    if (G_UNLIKELY(bytes == 16))
      operate_on_four(issue, &operands, word, old, &change, lane);
    else
      operate_on_value(issue, &operands, word, byte, old, &change, lane);
  }
  note_store(issue, when);
  for (uint32_t part = 0; part < access_words(bytes) && op_info[inst->op].flags & OPF_LOAD; part++)
    access_write(issue, part, old[part]);
  if (G_UNLIKELY(met.lanes))
    undefined_atomic(issue, &met, MEM_SHARED, true);
  return true;
}

/* False, with a fault, if lanes make an mbarrier of no arrivals, or of more than it can count (the same word). */
static bool initialises_well(Issue *issue, const uint32_t base[32]) {
  AtomicOperands operands = access_atomic_operands(issue);
  uint32_t bad = 0;
  for (uint32_t rest = issue->mask; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    bad |= (uint32_t)!mbarrier_counts(issue->inst, access_value(operands.b, lane)).expected << lane;
  }
  if (bad)
    record_fault(issue, bad, "shared", base[__builtin_ctz(bad)] + (uint32_t)issue->inst->imm,
                 g_strdup("initialises an mbarrier that expects no arrival, or more than 1048575"),
                 g_strdup("let mbarrier.init expect 1 to 1048575 arrivals"));
  return !bad;
}

void exec_ATOMS(Issue *issue) {
  const Inst *inst = issue->inst;
  if (inst->mode == ATOM_EXCH && inst->lop == EXCH_INITS && !initialises_well(issue, issue_operand(issue, inst->a)))
    return;
  shared_atomic(issue, issue_operand(issue, issue->inst->a), (uint32_t)issue->inst->imm);
}
