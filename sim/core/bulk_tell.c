/* What detectors hear of copies in bulk: hazards, and what their lanes do by them (bulk.h). */
#include "sim/core/access.h"
#include "sim/core/async_copy.h"
#include "sim/core/bulk.h"
#include "sim/core/bulk_unit.h"
#include "sim/core/mbarrier.h"
#include "sim/core/record.h"
#include "sim/core/remote.h"
#include "sim/core/tell.h"

/* What a copy does, as instructions that a lane could do it by: weak accesses, relaxed additions, and a release at
 * the barrier. */
static const Inst as_load = {.op = OP_BULKLOAD}, as_store = {.op = OP_BULKSTORE},
                  as_reduction = {.op = OP_RED, .mode = ATOM_ADD, .sem = SEM_RELAXED, .scope = SCOPE_GPU},
                  as_arrival = {.op = OP_ATOMS, .mode = ATOM_ARRIVE, .sem = SEM_RELEASE, .scope = SCOPE_GPU};

static ProbePoint point_of(Sm *sm, Warp *warp, const BulkCopy *copy, const Inst *inst, uint64_t now) {
  return (ProbePoint){.gpu = sm->gpu,
                      .sm = sm,
                      .block = warp_block(sm, warp),
                      .warp = warp,
                      .inst = inst,
                      .pc = copy->pc,
                      .lanes = 1u << copy->lane,
                      .cycle = now};
}

/* An address in its shared memory, as probes have it. */
static uint64_t shared_of(const Sm *sm, const BulkCopy *copy, uint32_t physical) {
  return copy->to == sm ? physical : remote_address(copy->to->index, physical);
}

/* So many bytes: those in global memory, and in other blocks' shared memory, are performed at once. */
static void tell_bytes(Sm *sm, const ProbePoint *point, const BulkCopy *copy, AccessSpace space, AccessKind kind,
                       uint64_t at, uint32_t bytes) {
  uint64_t address[WARP_LANES] = {0};
  static const uint32_t nothing[FLIGHT_ROWS][WARP_LANES];
  bool shared = space == SPACE_SHARED, apart = !shared || copy->to != sm;
  address[copy->lane] = at;
  uint64_t number = apart ? ++sm->flights.made * sm->gpu->machine->gpu.sms + sm->index : 0;
  PROBE_FIRE(sm->gpu, access, point, space, kind, address, bytes, 0, false, number);
  if (!apart || !PROBE_WANTED(sm->gpu, performed))
    return;
  ProbePoint done = {
      .gpu = sm->gpu, .sm = sm, .inst = point->inst, .pc = copy->pc, .lanes = point->lanes, .cycle = point->cycle};
  AccessPart part = {.number = number,
                     .shared = shared,
                     .kind = kind,
                     .address = address,
                     .bytes = bytes,
                     .data = nothing,
                     .last = true};
  PROBE_FIRE(sm->gpu, performed, &done, &part);
}

static void tell_piece(Sm *sm, const ProbePoint *point, const BulkCopy *copy, AccessSpace space, AccessKind kind,
                       uint32_t offset) {
  uint64_t at = space == SPACE_GLOBAL ? copy->address + offset : shared_of(sm, copy, copy->physical + offset);
  tell_bytes(sm, point, copy, space, kind, at, BULK_ALIGNMENT);
}

uint64_t bulk_told_since(const Sm *sm) {
  return sm && sm->bulk && sm->bulk->telling ? sm->bulk->telling->issued : UINT64_MAX;
}

/* Its lane reads what the copy does now, if it hasn't been told yet. */
static void tell_reads(Sm *sm, BulkCopy *copy, uint64_t now) {
  Warp *warp = warp_of(sm, copy);
  bool in = way_of(copy) == WAY_IN;
  if (copy->reads_told || !warp || !PROBE_WANTED(sm->gpu, access))
    return;
  copy->reads_told = true;
  ProbePoint point = point_of(sm, warp, copy, in ? &as_load : &as_store, now);
  sm->bulk->telling = copy;
  for (uint32_t offset = 0; offset < copy->bytes; offset += BULK_ALIGNMENT)
    tell_piece(sm, &point, copy, in ? SPACE_GLOBAL : SPACE_SHARED, ACCESS_READ, offset);
  sm->bulk->telling = NULL;
}

/* All that the copy does is done by its lane now. */
static void tell_copy(Sm *sm, BulkCopy *copy, uint64_t now) {
  Warp *warp = warp_of(sm, copy);
  bool in = way_of(copy) == WAY_IN, reduces = copy->inst->op == OP_BULKRED;
  tell_reads(sm, copy, now);
  if (copy->told || !warp)
    return;
  copy->told = true;
  if (!PROBE_WANTED(sm->gpu, access))
    return;
  ProbePoint point = point_of(sm, warp, copy, reduces ? &as_reduction : in ? &as_load : &as_store, now);
  sm->bulk->telling = copy;
  for (uint32_t offset = 0; offset < copy->bytes; offset += BULK_ALIGNMENT)
    tell_piece(sm, &point, copy, in ? SPACE_SHARED : SPACE_GLOBAL, reduces ? ACCESS_ATOMIC : ACCESS_WRITE, offset);
  sm->bulk->telling = NULL;
}

void bulk_tell_count(Sm *sm, Warp *warp, const BulkCopy *copy, uint64_t now) {
  if (!PROBE_WANTED(sm->gpu, access))
    return;
  ProbePoint point = point_of(sm, warp, copy, &as_arrival, now);
  tell_bytes(sm, &point, copy, SPACE_SHARED, ACCESS_ATOMIC, shared_of(sm, copy, copy->barrier), MBARRIER_BYTES);
}

/* ---- hazards ---- */

static bool overlaps(const BulkCopy *copy, uint32_t address, uint32_t bytes) {
  return address < copy->physical + copy->bytes && copy->physical < address + bytes;
}

/* Nobody may do that to the copy's bytes yet: they are being written, or are read until its lane has waited for its
 * group, however soon they have been. */
static bool is_open(const Sm *sm, const BulkCopy *copy, bool stores) {
  if (is_end(copy) || copy->to != sm)
    return false;
  return way_of(copy) == WAY_IN ||
         (stores && (!copy->read || copy->group >= sm->bulk->groups[copy->slot].awaited[copy->lane]));
}

static void check_copy(const Issue *issue, BulkCopy *copy, const uint32_t physical[WARP_LANES], uint32_t mask,
                       uint32_t bytes, bool stores) {
  uint32_t lanes = 0;
  if (copy->launch != issue->block->launch || !is_open(issue->sm, copy, stores) || !warp_of(issue->sm, copy))
    return;
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    lanes |= overlaps(copy, physical[__builtin_ctz(rest)], bytes) ? rest & -rest : 0;
  if (!lanes)
    return;
  ProbePoint point = issue_point(issue, lanes);
  tell_hazard(&point, HAZARD_SHARED | (physical[__builtin_ctz(lanes)] - issue->block->shared_base), copy->pc);
}

static void check(const Issue *issue, const uint32_t physical[WARP_LANES], uint32_t mask, uint32_t bytes,
                  bool stores) {
  const struct BulkUnit *unit = issue->sm->bulk;
  for (guint i = 0; i < unit->copies->len; i++)
    check_copy(issue, copy_at(issue->sm, i), physical, mask, bytes, stores);
  for (guint i = 0; i < unit->untold->len; i++)
    check_copy(issue, g_ptr_array_index(unit->untold, i), physical, mask, bytes, stores);
}

void bulk_check(const Issue *issue, const uint32_t physical[WARP_LANES], uint32_t bytes, bool stores) {
  check(issue, physical, issue->mask, bytes, stores);
}

void bulk_tell_begin(const Issue *issue, const BulkCopy *copy) {
  Sm *sm = issue->sm;
  bool in = way_of(copy) == WAY_IN;
  uint32_t physical[WARP_LANES];
  physical[copy->lane] = copy->physical;
  if (sm->bulk && copy->to == sm && PROBE_WANTED(issue->gpu, hazard))
    check(issue, physical, 1u << copy->lane, copy->bytes, in);
  if (!PROBE_WANTED(issue->gpu, bulk))
    return;
  ProbePoint point = issue_point(issue, 1u << copy->lane);
  PROBE_FIRE(issue->gpu, bulk, &point, shared_of(sm, copy, copy->physical), copy->bytes, in);
}

/* ---- ends ---- */

/* Its lane does it when it waits, for a release before that doesn't hand it on. */
static bool is_untold(const Sm *sm, const BulkCopy *copy) {
  return way_of(copy) == WAY_OUT && !copy->told && (PROBE_WANTED(sm->gpu, access) || PROBE_WANTED(sm->gpu, hazard));
}

bool bulk_tell_end(Sm *sm, BulkCopy *copy, uint64_t now) {
  tell_reads(sm, copy, now);
  if (is_untold(sm, copy))
    return false;
  tell_copy(sm, copy, now);
  return true;
}

static bool is_of(const Warp *warp, const BulkCopy *copy) {
  return copy->slot == warp->slot && copy->age == warp->age;
}

/* A wait of its lane came to that many groups. */
static bool is_waited_for(const Warp *warp, const BulkCopy *copy, const uint32_t groups[WARP_LANES]) {
  return way_of(copy) == WAY_OUT && is_of(warp, copy) && copy->group < groups[copy->lane];
}

/* What the lanes that have waited know of now. A wait for reads alone says nothing of what is written. */
static void tell_awaited(const Issue *issue) {
  Sm *sm = issue->sm;
  const BulkGroups *groups = &sm->bulk->groups[issue->warp->slot];
  for (guint i = 0; i < sm->bulk->copies->len; i++) {
    BulkCopy *copy = copy_at(sm, i);
    if (is_waited_for(issue->warp, copy, groups->written))
      tell_copy(sm, copy, issue->now);
    else if (is_waited_for(issue->warp, copy, groups->awaited) && !is_end(copy))
      tell_reads(sm, copy, issue->now);
  }
  for (guint i = sm->bulk->untold->len; i-- > 0;) {
    BulkCopy *copy = g_ptr_array_index(sm->bulk->untold, i);
    if (!is_waited_for(issue->warp, copy, groups->written))
      continue;
    tell_copy(sm, copy, issue->now);
    g_ptr_array_remove_index(sm->bulk->untold, i);
  }
}

void exec_BULKWAIT(Issue *issue) {
  uint32_t left = (uint32_t)issue->inst->imm;
  if (!issue->sm->bulk)
    return;
  BulkGroups *groups = &issue->sm->bulk->groups[issue->warp->slot];
  for (uint32_t rest = issue->mask; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    uint32_t over = groups->ended[lane] > left ? groups->ended[lane] - left : 0;
    groups->awaited[lane] = MAX(groups->awaited[lane], over);
    if (issue->inst->mode == BULKWAIT_WRITTEN)
      groups->written[lane] = MAX(groups->written[lane], over);
  }
  tell_awaited(issue);
}

void bulk_warp_exits(Sm *sm, const Warp *warp, uint64_t now) {
  for (guint i = sm->bulk ? sm->bulk->untold->len : 0; i-- > 0;) {
    BulkCopy *copy = g_ptr_array_index(sm->bulk->untold, i);
    if (!is_of(warp, copy))
      continue;
    tell_copy(sm, copy, now);
    g_ptr_array_remove_index(sm->bulk->untold, i);
  }
}
