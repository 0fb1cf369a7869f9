#include "sim/core/barrier.h"

#include "base/bits.h"
#include "sim/core/lane_groups.h"
#include "sim/core/tell.h"

/* What a reduction gives to `lanes` of a warp that wait at instruction `pc`. */
static void give_result(Sm *sm, const Barrier *barrier, Warp *warp, uint32_t pc, uint32_t lanes) {
  const Launch *launch = warp_block(sm, warp)->launch;
  Issue issue = {.inst = &launch->kernel->insts[pc],
                 .regs = warp->regs,
                 .consts = warp->consts,
                 .pred = warp->pred,
                 .mask = lanes};
  uint32_t row[WARP_LANES];
  switch ((BarMode)issue.inst->mode) {
  case BAR_RED_POPC:
    for (unsigned lane = 0; lane < WARP_LANES; lane++)
      row[lane] = barrier->population;
    issue_write(&issue, issue.inst->dst, row);
    break;
  case BAR_RED_AND: issue_set_pred(&issue, issue.inst->pdst, barrier->all ? ALL_LANES : 0); break;
  case BAR_RED_OR: issue_set_pred(&issue, issue.inst->pdst, barrier->any ? ALL_LANES : 0); break;
  default: break;
  }
}

/* PTX has the result in the instruction; machine code reads it by a B2R behind it. */
static uint64_t result_delay(const Gpu *gpu, const Kernel *kernel, uint32_t pc) {
  bool reads = kernel->insts[pc].mode >= BAR_RED_POPC && !kernel->control && machine_knows_code(gpu->machine);
  return reads ? gpu->machine->sm.latency.sysreg : 0;
}

/* The lane groups that wait at barrier `id` may go on. */
static void release_groups(Sm *sm, const Barrier *barrier, Warp *warp, uint32_t id, uint64_t resume) {
  const LaneGroups *groups = warp->groups;
  const Kernel *kernel = warp_block(sm, warp)->launch->kernel;
  uint64_t delay = 0;
  for (uint32_t i = 0; i < groups->count; i++) {
    const LaneGroup *group = &groups->group[i];
    if (group->state != GROUP_AT_BARRIER || group->which != id)
      continue;
    const Inst *inst = &kernel->insts[group->pc];
    uint32_t guard = warp->pred[inst->guard];
    give_result(sm, barrier, warp, group->pc, group->mask & (inst->flags & INST_GUARD_NOT ? ~guard : guard));
    delay = result_delay(sm->gpu, kernel, group->pc);
  }
  lane_groups_barrier_done(warp, id, resume + delay);
}

/* Lets the block's warps go. `self` is the arrival that completes it (its warp goes on at self->next), or NULL. */
static void let_go(Sm *sm, Block *block, uint32_t id, uint64_t now, uint64_t resume, Issue *self) {
  Gpu *gpu = sm->gpu;
  Barrier barrier = block->barrier[id];
  block->barrier[id] = (Barrier){.all = true};
  sm->counters.barriers_completed++;
  sm->progress++;
  ProbePoint point = {.gpu = gpu, .sm = sm, .block = block, .cycle = now};
  PROBE_FIRE(gpu, barrier_complete, &point, id, barrier.arrived, barrier.waiting);
  for (uint32_t rest = barrier.waiting; rest; rest &= rest - 1) {
    Warp *warp = &sm->warps[block->warp_slot[__builtin_ctz(rest)]];
    bool itself = self && self->warp == warp; /* it chooses who runs when it has done */
    uint64_t held = gpu->holds_up && !itself && !gpu->machine->sm.held_once ? sm_hold_up(sm) : 0;
    if (warp->groups) {
      release_groups(sm, &barrier, warp, id, resume + held);
      if (!itself)
        lane_groups_wake(sm, warp, now);
      continue;
    }
    give_result(sm, &barrier, warp, warp->barrier_pc, warp->barrier_mask);
    sm_set_state(sm, warp, WARP_RUNNING);
    if (itself)
      self->next = MAX(self->next, resume);
    else
      sm_resume(sm, warp, resume + held);
  }
}

/* All blocks of the launch have come to SYNCBLOCKS. */
static void let_blocks_go(Gpu *gpu, Launch *launch, uint64_t now, Issue *self) {
  uint64_t resume = launch->met + gpu->machine->grid.barrier_latency;
  launch->blocks_met = launch->met = 0;
  PROBE_FIRE(gpu, blocks_meet, gpu, launch);
  for (uint32_t i = 0; i < gpu->used_sms; i++)
    for (uint32_t slot = 0; gpu->sms[i].ready && slot < gpu->machine->sm.max_blocks; slot++)
      if (gpu->sms[i].blocks[slot].launch == launch)
        let_go(&gpu->sms[i], &gpu->sms[i].blocks[slot], GRID_BARRIER, now, resume, self);
}

/* The block comes to SYNCBLOCKS. Launches with one don't run in windows (Launch.orderly), so the other blocks can be
 * looked at. */
static void come_to_grid(Sm *sm, Block *block, uint64_t now, Issue *self) {
  Launch *launch = block->launch;
  Barrier *barrier = &block->barrier[GRID_BARRIER];
  Milli interval = sm->gpu->machine->grid.barrier_interval;
  if (barrier->whole)
    return;
  barrier->whole = true;
  uint64_t counted = milli_cycle(milli_serve(&launch->met_milli, MAX(barrier->latest, now), interval) + interval);
  launch->met = MAX(launch->met, counted);
  sm->progress++;
  if (++launch->blocks_met < launch->blocks)
    return;
  sm->counters.grid_barriers++;
  let_blocks_go(sm->gpu, launch, now, self);
}

/* The block's warps go on at `resume`, those that wait already and those that will. */
static void pass_cluster(Sm *sm, Block *block, uint64_t now, uint64_t resume, Issue *self) {
  block->cluster_phase++;
  block->cluster_over = resume;
  let_go(sm, block, CLUSTER_BARRIER, now, resume, self);
}

void barrier_cluster_complete(Cluster *cluster, uint64_t now, Issue *self) {
  Gpu *gpu = cluster->member[0].sm->gpu;
  uint64_t latest = now;
  for (uint32_t i = 0; i < cluster->blocks; i++)
    latest = MAX(latest, cluster->member[i].block->barrier[CLUSTER_BARRIER].latest);
  PROBE_FIRE(gpu, cluster_meets, gpu, cluster);
  for (uint32_t i = 0; i < cluster->blocks; i++) {
    Block *block = cluster->member[i].block;
    pass_cluster(cluster->member[i].sm, block, now, latest + gpu->machine->sm.cluster.barrier_latency, self);
  }
}

/* All warps of the block that haven't exited have arrived at the barrier of its cluster. */
static void come_to_cluster(Sm *sm, Block *block, uint64_t now, Issue *self) {
  if (block->cluster && cluster_is_complete(block->cluster)) {
    barrier_cluster_complete(block->cluster, now, self);
  } else if (!block->cluster) {
    uint64_t latest = MAX(block->barrier[CLUSTER_BARRIER].latest, now);
    pass_cluster(sm, block, now, latest + sm->gpu->machine->sm.barrier.arrive_to_resume, self);
  }
}

static void complete(Sm *sm, Block *block, uint32_t id, uint64_t now, Issue *self) {
  uint64_t latest = MAX(block->barrier[id].latest, now);
  if (id == GRID_BARRIER)
    come_to_grid(sm, block, now, self);
  else if (id == CLUSTER_BARRIER)
    come_to_cluster(sm, block, now, self);
  else
    let_go(sm, block, id, now, latest + sm->gpu->machine->sm.barrier.arrive_to_resume, self);
}

static bool is_complete(const Block *block, const Barrier *barrier) {
  return barrier_completes(barrier, barrier_unfinished(block));
}

static void reduce(Issue *issue, Barrier *barrier) {
  if (issue->inst->mode < BAR_RED_POPC)
    return;
  uint32_t value = issue_pred(issue, 0) & issue->mask;
  barrier->population += bits_count(value);
  barrier->all = barrier->all && value == issue->mask;
  barrier->any = barrier->any || value != 0;
}

/* True if this count and that of earlier arrivals go together. */
static bool agree_on_count(const Block *block, Barrier *barrier, uint32_t expected) {
  if (!barrier_counts_agree(block->warps, barrier->expected, expected))
    return false;
  if (barrier->expected != expected)
    barrier->expected = 0;
  return true;
}

/* The warp arrives at barrier `id` with the lanes that came last: tells which of its lanes the guard left out, and which
 * have exited. */
static void tell_partial(const Issue *issue, uint32_t id) {
  const Warp *warp = issue->warp;
  const LaneGroups *groups = warp->groups;
  uint32_t missing = warp->lanes & ~groups->executed[id];
  if (!missing)
    return;
  ProbePoint point = issue_point(issue, groups->executed[id]);
  point.pc = groups->come_pc[id];
  point.inst = &warp_block(issue->sm, warp)->launch->kernel->insts[point.pc];
  tell_partial_barrier(&point, missing & warp->alive, missing & ~warp->alive);
}

/* True if all lanes of the warp that haven't exited have come to barrier `id`; then it arrives, and they may come anew. */
static bool all_have_come(const Issue *issue, uint32_t id) {
  LaneGroups *groups = issue->warp->groups;
  if (issue->warp->alive & ~groups->come[id])
    return false;
  tell_partial(issue, id);
  groups->gathering &= ~(1u << id);
  groups->come[id] = groups->executed[id] = 0;
  return true;
}

/* Lanes come to barrier `id`: those of `lanes` by themselves or with their group, of which `issue->mask` execute it. */
static void come(Issue *issue, uint32_t id, uint32_t lanes) {
  LaneGroups *groups = issue->warp->groups;
  groups->gathering |= 1u << id;
  groups->come[id] |= lanes;
  groups->executed[id] |= issue->mask;
  groups->come_pc[id] = issue->warp->pc;
}

static bool waits_at(const LaneGroups *groups, uint32_t id) {
  for (uint32_t i = 0; i < groups->count; i++)
    if (groups->group[i].state == GROUP_AT_BARRIER && groups->group[i].which == id)
      return true;
  return false;
}

/* When an arrival that takes effect at `effective` has been counted, behind those of other warps of the SM. */
static uint64_t counted(const Issue *issue, uint64_t effective) {
  Milli interval = issue->gpu->machine->sm.barrier.arrival_interval;
  if (!interval)
    return effective;
  return milli_cycle(milli_serve(&issue->sm->barrier_free_milli, effective, interval) + interval);
}

/* The warp counts as arrived. */
static void count_warp(Issue *issue, Barrier *barrier) {
  const Warp *warp = issue->warp;
  uint32_t drained = issue->gpu->machine->sm.barrier.store_drain;
  uint64_t effective = drained && warp->last_store ? MAX(issue->now, warp->last_store + drained) : issue->now;
  if (machine_knows_code(issue->gpu->machine) && issue->inst->flags & INST_HAS_COUNT)
    effective += issue->gpu->machine->sm.encoded.barrier_count;
  uint64_t done = counted(issue, effective);
  barrier->latest = MAX(barrier->latest, done);
  barrier->arrived |= 1u << warp->warp_in_block;
  barrier->threads += WARP_LANES;
  issue->sm->counters.barrier_arrivals++;
}

/* A warp that has arrived and waits, with some lane group at least, is let go when the barrier completes. */
static void note_waiting(Block *block, const Warp *warp, uint32_t id) {
  uint32_t bit = 1u << warp->warp_in_block;
  bool waits = warp->groups ? waits_at(warp->groups, id) && !(warp->groups->gathering >> id & 1)
                            : warp->state == WARP_AT_BARRIER;
  if (waits)
    block->barrier[id].waiting |= block->barrier[id].arrived & bit;
}

/* The lanes of the running group that come to the barrier. With INST_UNALIGNED each lane is its own master; otherwise those
 * that the guard leaves out come with their group. */
static uint32_t lanes_that_come(const Issue *issue) {
  return issue->inst->flags & INST_UNALIGNED ? issue->mask : issue->warp->active;
}

/* The issuing warp, or its lane group, waits. */
static void wait_at(Issue *issue, uint32_t id) {
  Warp *warp = issue->warp;
  issue->sm->stall[warp->slot] = STALL_BARRIER;
  if (warp->groups) {
    lane_groups_wait_at_barrier(warp, id, lanes_that_come(issue));
    return;
  }
  sm_set_state(issue->sm, warp, WARP_AT_BARRIER);
  warp->barrier = id;
  warp->barrier_pc = warp->pc;
  warp->barrier_mask = issue->mask;
}

bool barrier_arrive(Issue *issue, uint32_t id, uint32_t expected) {
  Sm *sm = issue->sm;
  Warp *warp = issue->warp;
  Block *block = warp_block(sm, warp);
  Barrier *barrier = &block->barrier[id];
  bool waits = issue->inst->mode != BAR_ARV;
  if (!barrier->open)
    *barrier = (Barrier){.all = true, .expected = expected, .open = true};
  else if (!agree_on_count(block, barrier, expected))
    return false;
  reduce(issue, barrier);
  if (warp->groups)
    come(issue, id, lanes_that_come(issue));
  if (waits)
    wait_at(issue, id);
  if (!warp->groups || all_have_come(issue, id))
    count_warp(issue, barrier);
  note_waiting(block, warp, id);
  if (is_complete(block, barrier))
    complete(sm, block, id, issue->now, issue);
  return true;
}

void barrier_cluster_wait(Issue *issue) {
  wait_at(issue, CLUSTER_BARRIER);
  note_waiting(warp_block(issue->sm, issue->warp), issue->warp, CLUSTER_BARRIER);
}

void barrier_lanes_exited(Issue *issue) {
  Warp *warp = issue->warp;
  LaneGroups *groups = warp->groups;
  Block *block = warp_block(issue->sm, warp);
  for (uint32_t rest = warp->alive ? groups->gathering : 0; rest; rest &= rest - 1) {
    uint32_t id = (uint32_t)__builtin_ctz(rest);
    if (!all_have_come(issue, id))
      continue;
    count_warp(issue, &block->barrier[id]);
    note_waiting(block, warp, id);
    if (is_complete(block, &block->barrier[id]))
      complete(issue->sm, block, id, issue->now, issue);
  }
}

void barrier_warp_exited(Sm *sm, Block *block, uint64_t now) {
  for (uint32_t id = 0; id < BLOCK_BARRIERS; id++) {
    Barrier *barrier = &block->barrier[id];
    if (!barrier->expected && is_complete(block, barrier))
      complete(sm, block, id, now, NULL);
  }
}
