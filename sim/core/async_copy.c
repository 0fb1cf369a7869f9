#include "sim/core/async_copy.h"

#include "base/bits.h"
#include "sim/core/access.h"
#include "sim/core/tell.h"

struct AsyncCopies {
  AsyncCopy *copy;
  uint32_t count, room;
  uint32_t group;  /* that the next copy is in */
  uint32_t awaits; /* those of groups before that are waited for */
};

void async_copies_reset(Warp *warp) {
  if (warp->copies) {
    warp->copies->count = warp->copies->group = warp->copies->awaits = 0;
  }
}

void async_copies_clear(Warp *warp) {
  if (warp->copies)
    g_free(warp->copies->copy);
  g_clear_pointer(&warp->copies, g_free);
}

static AsyncCopy *add(Issue *issue) {
  Warp *warp = issue->warp;
  if (!warp->copies)
    warp->copies = g_new0(struct AsyncCopies, 1);
  struct AsyncCopies *copies = warp->copies;
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

void async_copies_land(Sm *sm, Warp *warp, const Flight *flight, uint64_t now) {
  AsyncCopy *copy = (AsyncCopy *)async_copies_find(warp, flight->number);
  if (!copy || warp->state == WARP_FREE || !warp_block(sm, warp)->launch)
    return;
  WordChange change = {.cycle = now, .thread = flight->thread, .pc = copy->pc};
  store(sm, copy, flight->data, &change);
  copy->number = 0;
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

/* Lanes whose guard on the source (ZFILL) is false get zeros. */
void exec_LDGSTS(Issue *issue) {
  const Inst *inst = issue->inst;
  uint32_t physical[WARP_LANES], bytes = width_bytes[inst->width], all = issue->mask;
  uint32_t loads = inst->lop ? all & issue_pred(issue, 0) : all;
  uint8_t valid[WARP_LANES] = {0};
  if (!shared_addresses(issue, issue_operand(issue, inst->b), 0, bytes, physical))
    return;
  issue->mask = loads;
  bool fine = loads == 0 || access_fetch(issue, inst->lop, valid);
  issue->mask = all;
  if (!fine)
    return;
  AsyncCopy *copy = add(issue);
  *copy = (AsyncCopy){.number = issue->flight ? issue->flight->number : 0,
                      .group = issue->warp->copies->group,
                      .pc = issue->pc,
                      .lanes = all,
                      .bytes = bytes};
  memcpy(copy->physical, physical, sizeof physical);
  memcpy(copy->valid, valid, sizeof valid);
  if (!copy->number) {
    WordChange change = access_change(issue, issue->now);
    store(issue->sm, copy, NULL, &change);
  }
}

void exec_COPYEND(Issue *issue) {
  if (issue->warp->copies)
    issue->warp->copies->group++;
}

/* The copy is a store of its lanes from now on. */
static void tell_store(const Issue *issue, const AsyncCopy *copy) {
  if (!PROBE_WANTED(issue->gpu, access))
    return;
  uint64_t address[WARP_LANES];
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    address[lane] = copy->physical[lane];
  ProbePoint point = issue_point(issue, copy->lanes);
  point.pc = copy->pc;
  point.inst = &issue->block->launch->kernel->insts[copy->pc];
  PROBE_FIRE(issue->gpu, access, &point, SPACE_SHARED, ACCESS_WRITE, address, copy->bytes, 0, false, 0);
}

void exec_COPYWAIT(Issue *issue) {
  struct AsyncCopies *copies = issue->warp->copies;
  uint32_t left = (uint32_t)issue->inst->imm;
  if (!copies)
    return;
  copies->awaits = copies->group > left ? copies->group - left : 0;
  for (uint32_t i = 0; i < copies->count; i++) {
    AsyncCopy *copy = &copies->copy[i];
    if (copy->waited || copy->group >= copies->awaits)
      continue;
    copy->waited = true;
    tell_store(issue, copy);
  }
  drop_done(issue->sm, issue->warp);
}
