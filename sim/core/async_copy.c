#include "sim/core/async_copy.h"

#include "base/bits.h"
#include "sim/core/access.h"
#include "sim/core/mbarrier.h"
#include "sim/core/tell.h"
#include "sim/core/try_wait.h"

enum { GROUPS = 8 };

struct AsyncCopies {
  AsyncCopy *copy;
  uint32_t count, room;
  uint32_t made;    /* copies so far */
  uint32_t group;   /* that the next copy is in */
  uint32_t awaits;  /* those of groups before that are waited for */
  uint64_t ended[GROUPS]; /* when the end of a group has passed the pipe, of the newest groups, by number */
  GArray *arrivals; /* AsyncArrival, in order; NULL: there was none yet */
};

void async_copies_reset(Warp *warp) {
  if (warp->copies) {
    warp->copies->count = warp->copies->made = warp->copies->group = warp->copies->awaits = 0;
    if (warp->copies->arrivals)
      g_array_set_size(warp->copies->arrivals, 0);
  }
}

void async_copies_clear(Warp *warp) {
  if (warp->copies) {
    g_free(warp->copies->copy);
    g_clear_pointer(&warp->copies->arrivals, g_array_unref);
  }
  g_clear_pointer(&warp->copies, g_free);
}

static struct AsyncCopies *copies_of(Warp *warp) {
  if (!warp->copies)
    warp->copies = g_new0(struct AsyncCopies, 1);
  return warp->copies;
}

static AsyncCopy *add(Issue *issue) {
  struct AsyncCopies *copies = copies_of(issue->warp);
  if (copies->count == copies->room) {
    copies->room = MAX(16, 2 * copies->room);
    copies->copy = g_renew(AsyncCopy, copies->copy, copies->room);
  }
  if (copies->count == 0)
    issue->block->copying++;
  return &copies->copy[copies->count++];
}

/* Those that have come and were waited for go. */
static void drop_done(Sm *sm, Warp *warp) {
  struct AsyncCopies *copies = warp->copies;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < copies->count; i++)
    if (copies->copy[i].number || !copies->copy[i].waited)
      copies->copy[kept++] = copies->copy[i];
  if (copies->count && !kept)
    warp_block(sm, warp)->copying--;
  copies->count = kept;
}

const AsyncCopy *async_copies_find(const Warp *warp, uint64_t number) {
  for (uint32_t i = 0; warp->copies && i < warp->copies->count; i++)
    if (warp->copies->copy[i].number == number)
      return &warp->copies->copy[i];
  return NULL;
}

bool async_copies_awaited(const Warp *warp) {
  for (uint32_t i = 0; warp->copies && i < warp->copies->count; i++)
    if (warp->copies->copy[i].number && warp->copies->copy[i].group < warp->copies->awaits)
      return true;
  return false;
}

static ProbePoint point_of(Sm *sm, Warp *warp, uint32_t pc, uint32_t lanes, uint64_t now) {
  Block *block = warp_block(sm, warp);
  return (ProbePoint){.gpu = sm->gpu,
                      .sm = sm,
                      .block = block,
                      .warp = warp,
                      .inst = &block->launch->kernel->insts[pc],
                      .pc = pc,
                      .lanes = lanes,
                      .cycle = now};
}

/* ---- words ---- */

static void store_word(Sm *sm, const AsyncCopy *copy, unsigned lane, uint32_t part, uint32_t value,
                       const WordChange *change) {
  uint32_t place = copy->physical[lane] / 4 + part, valid = copy->valid[lane];
  uint32_t bytes = valid > 4 * part ? MIN(valid - 4 * part, 4u) : 0;
  if (bytes < 4)
    value &= (UINT32_C(1) << 8 * bytes) - 1;
  shared_put(sm, place, value, change, lane);
}

/* `data`: what the lanes have got; NULL: nothing. */
static void store(Sm *sm, const AsyncCopy *copy, const uint32_t (*data)[WARP_LANES], const WordChange *change) {
  for (uint32_t rest = copy->lanes; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    for (uint32_t part = 0; part < access_words(copy->bytes); part++)
      store_word(sm, copy, lane, part, data ? data[part][lane] : 0, change);
  }
}

/* ---- copies that are waited for ---- */

/* The copy is a store of its lanes from now on. */
static void tell_store(Sm *sm, Warp *warp, const AsyncCopy *copy, uint64_t now) {
  if (!PROBE_WANTED(sm->gpu, access))
    return;
  uint64_t address[WARP_LANES];
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    address[lane] = copy->physical[lane];
  ProbePoint point = point_of(sm, warp, copy->pc, copy->lanes, now);
  sm->copy_told = copy->issued + 1;
  PROBE_FIRE(sm->gpu, access, &point, SPACE_SHARED, ACCESS_WRITE, address, copy->bytes, 0, false, 0);
  sm->copy_told = 0;
}

static void tell_arrival(Sm *sm, Warp *warp, const AsyncArrival *arrival, uint64_t now) {
  if (!PROBE_WANTED(sm->gpu, access))
    return;
  uint64_t address[WARP_LANES];
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    address[lane] = arrival->physical[lane];
  ProbePoint point = point_of(sm, warp, arrival->pc, arrival->lanes, now);
  PROBE_FIRE(sm->gpu, access, &point, SPACE_SHARED, ACCESS_ATOMIC, address, MBARRIER_BYTES, 0, false, 0);
}

static bool covers(const AsyncArrival *arrival, const AsyncCopy *copy) {
  return (int32_t)(copy->made - arrival->made) < 0 && (copy->lanes & arrival->lanes);
}

/* True if some copy that it stands for hasn't come. */
static bool has_to_wait(const struct AsyncCopies *copies, const AsyncArrival *arrival) {
  for (uint32_t i = 0; i < copies->count; i++)
    if (copies->copy[i].number && covers(arrival, &copies->copy[i]))
      return true;
  return false;
}

void async_copies_arrive(Sm *sm, const Inst *inst, uint32_t place, uint32_t operand, const WordChange *change,
                         unsigned lane) {
  uint64_t word = sm->shared.words[place] | (uint64_t)sm->shared.words[place + 1] << 32;
  uint32_t before = (uint32_t)(word >> 32);
  word = mbarrier_arrive(inst, word, operand);
  shared_put(sm, place, (uint32_t)word, change, lane);
  shared_put(sm, place + 1, (uint32_t)(word >> 32), change, lane);
  try_wait_changed(sm, place + 1, before, (uint32_t)(word >> 32), change->cycle);
}

static void arrive(Sm *sm, Warp *warp, const AsyncArrival *arrival, uint64_t now) {
  const Block *block = warp_block(sm, warp);
  const Inst *inst = &block->launch->kernel->insts[arrival->pc];
  struct AsyncCopies *copies = warp->copies;
  for (uint32_t i = 0; i < copies->count; i++)
    if (!copies->copy[i].waited && covers(arrival, &copies->copy[i])) {
      copies->copy[i].waited = true;
      tell_store(sm, warp, &copies->copy[i], now);
    }
  tell_arrival(sm, warp, arrival, now);
  WordChange change = {.cycle = now, .thread = warp_thread_base(block, warp), .pc = arrival->pc};
  for (uint32_t rest = arrival->lanes; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    async_copies_arrive(sm, inst, arrival->physical[lane] / 4, arrival->operand[lane], &change, lane);
  }
}

/* Those that have nothing to wait for any more. */
static void arrive_all(Sm *sm, Warp *warp, uint64_t now) {
  GArray *arrivals = warp->copies->arrivals;
  for (guint i = 0; arrivals && i < arrivals->len;) {
    const AsyncArrival arrival = g_array_index(arrivals, AsyncArrival, i);
    if (has_to_wait(warp->copies, &arrival)) {
      i++;
      continue;
    }
    g_array_remove_index(arrivals, i);
    arrive(sm, warp, &arrival, now);
  }
}

const AsyncArrival *async_copies_arrivals(const Warp *warp, uint32_t *count) {
  const GArray *arrivals = warp->copies ? warp->copies->arrivals : NULL;
  *count = arrivals ? arrivals->len : 0;
  return arrivals ? (const AsyncArrival *)(gconstpointer)arrivals->data : NULL;
}

void async_copies_land(Sm *sm, Warp *warp, const Flight *flight, uint64_t now) {
  AsyncCopy *copy = (AsyncCopy *)async_copies_find(warp, flight->number);
  if (!copy || warp->state == WARP_FREE || !warp_block(sm, warp)->launch)
    return;
  WordChange change = {.cycle = now, .thread = flight->thread, .pc = copy->pc};
  store(sm, copy, flight->data, &change);
  copy->number = 0;
  arrive_all(sm, warp, now);
  drop_done(sm, warp);
}

/* ---- hazards ---- */

static bool overlaps(const AsyncCopy *copy, unsigned lane, uint32_t address, uint32_t bytes) {
  return address < copy->physical[lane] + copy->bytes && copy->physical[lane] < address + bytes;
}

/* Lanes of `issue` that access what the copy writes. */
static uint32_t meeting(const Issue *issue, const AsyncCopy *copy, const uint32_t physical[WARP_LANES],
                        uint32_t bytes) {
  uint32_t lanes = 0;
  for (uint32_t rest = issue->mask; rest; rest &= rest - 1)
    for (uint32_t others = copy->lanes; others; others &= others - 1)
      if (overlaps(copy, (unsigned)__builtin_ctz(others), physical[__builtin_ctz(rest)], bytes))
        lanes |= rest & -rest;
  return lanes;
}

void async_copies_check(const Issue *issue, const uint32_t physical[WARP_LANES], uint32_t bytes) {
  const Block *block = issue->block;
  for (uint32_t i = 0; i < block->warps; i++) {
    const struct AsyncCopies *copies = issue->sm->warps[block->warp_slot[i]].copies;
    for (uint32_t c = 0; copies && c < copies->count; c++) {
      uint32_t lanes = copies->copy[c].waited ? 0 : meeting(issue, &copies->copy[c], physical, bytes);
      if (!lanes)
        continue;
      ProbePoint point = issue_point(issue, lanes);
      tell_hazard(&point, HAZARD_SHARED | (physical[__builtin_ctz(lanes)] - block->shared_base), copies->copy[c].pc);
    }
  }
}

/* ---- the instructions ---- */

/* Lanes whose guard on the source is false get zeros. */
void exec_LDGSTS(Issue *issue) {
  const Inst *inst = issue->inst;
  uint32_t physical[WARP_LANES], bytes = width_bytes[inst->width], all = issue->mask;
  uint32_t loads = inst->lop ? all & issue_pred(issue, 0) : all;
  uint8_t valid[WARP_LANES] = {0};
  if (!shared_addresses(issue, issue_operand(issue, inst->b), 0, bytes, physical))
    return;
  SharedMemory *shared = &issue->sm->shared;
  SharedCost cost = shared_copy_cost(shared, shared_passes(shared, NULL, physical, all, access_words(bytes)));
  shared_take(issue, &cost);
  issue->mask = loads;
  bool fine = loads == 0 || access_fetch(issue, inst->lop == COPY_PART, valid);
  issue->mask = all;
  if (!fine)
    return;
  AsyncCopy *copy = add(issue);
  *copy = (AsyncCopy){.number = issue->flight ? issue->flight->number : 0,
                      .group = issue->warp->copies->group,
                      .issued = issue->now,
                      .made = issue->warp->copies->made,
                      .pc = issue->pc,
                      .lanes = all,
                      .bytes = bytes};
  issue->warp->copies->made++;
  memcpy(copy->physical, physical, sizeof physical);
  memcpy(copy->valid, valid, sizeof valid);
  if (PROBE_WANTED(issue->gpu, copy)) {
    ProbePoint point = issue_point(issue, all);
    PROBE_FIRE(issue->gpu, copy, &point, physical, bytes);
  }
  if (!copy->number) {
    WordChange change = access_change(issue, issue->now);
    store(issue->sm, copy, NULL, &change);
  }
}

void exec_COPYEND(Issue *issue) {
  struct AsyncCopies *copies = copies_of(issue->warp);
  SharedCost cost = shared_group_cost(&issue->sm->shared);
  uint64_t start = shared_take(issue, &cost).start;
  copies->ended[copies->group++ % GROUPS] = start + issue->gpu->machine->sm.shared.group_latency;
}

void exec_COPYWAIT(Issue *issue) {
  struct AsyncCopies *copies = issue->warp->copies;
  uint32_t left = (uint32_t)issue->inst->imm;
  if (!copies)
    return;
  copies->awaits = copies->group > left ? copies->group - left : 0;
  if (copies->awaits && copies->group - copies->awaits < GROUPS)
    issue->next = MAX(issue->next, copies->ended[(copies->awaits - 1) % GROUPS]);
  for (uint32_t i = 0; i < copies->count; i++) {
    AsyncCopy *copy = &copies->copy[i];
    if (copy->waited || copy->group >= copies->awaits)
      continue;
    copy->waited = true;
    tell_store(issue->sm, issue->warp, copy, issue->now);
  }
  drop_done(issue->sm, issue->warp);
}

void exec_COPYARRIVE(Issue *issue) {
  const Inst *inst = issue->inst;
  AsyncArrival arrival = {.pc = issue->pc, .lanes = issue->mask};
  if (!shared_addresses(issue, issue_operand(issue, inst->a), (uint32_t)inst->imm, MBARRIER_BYTES, arrival.physical))
    return;
  struct AsyncCopies *copies = copies_of(issue->warp);
  arrival.made = copies->made;
  memcpy(arrival.operand, issue_operand(issue, inst->b), sizeof arrival.operand);
  if (!copies->arrivals)
    copies->arrivals = g_array_new(FALSE, FALSE, sizeof(AsyncArrival));
  g_array_append_val(copies->arrivals, arrival);
  arrive_all(issue->sm, issue->warp, issue->now);
  drop_done(issue->sm, issue->warp);
}
