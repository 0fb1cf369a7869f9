/* Blocks and warps of an SM: they come when there is room, and go. */
#include <glib.h>
#include <string.h>

#include "base/pages.h"
#include "sim/core/async_copy.h"
#include "sim/core/barrier.h"
#include "sim/core/bulk.h"
#include "sim/core/cluster.h"
#include "sim/core/hold_once.h"
#include "sim/core/lane_groups.h"
#include "sim/core/occupancy.h"
#include "sim/core/remote.h"
#include "sim/core/scheduler.h"
#include "sim/core/slots.h"
#include "sim/core/sm.h"
#include "sim/core/sm_inner.h"
#include "sim/core/spin_backoff.h"
#include "sim/core/tell.h"
#include "sim/core/undefined.h"

/* Gives the next slot its part of the SM's arrays. Slots get theirs when their first warp comes, since a part takes
 * memory from then on. */
static void add_slot(Sm *sm) {
  const Machine *machine = sm->gpu->machine;
  uint32_t slot = sm->warp_slots++, rows = sm->gpu->register_rows, warps = machine->sm.max_warps;
  Warp *warp = &sm->warps[slot];
  warp->slot = slot;
  warp->regs = sm->register_rows + (size_t)slot * rows * WARP_LANES;
  warp->reg_ready = sm->ready_rows + (size_t)slot * sm->gpu->ready_rows;
  warp->stack = sm->stack_rows ? sm->stack_rows + (size_t)slot * machine->sm.simt_stack.depth : NULL;
  warp->groups = sm->lane_groups ? &sm->lane_groups[slot] : NULL;
  if (warp->groups)
    warp->groups->sync = (SyncRecords){.record = sm->sync_records + slot * WARP_LANES, .stride = warps * WARP_LANES};
}

/* Arrays are made when the first block comes: a machine with many SMs costs nothing for those that stay empty. */
static void make_ready(Sm *sm) {
  sm_begin(sm);
  const Machine *machine = sm->gpu->machine;
  uint32_t rows = sm->gpu->register_rows, warps = machine->sm.max_warps, depth = machine->sm.simt_stack.depth;
  sm->register_rows = PAGES_NEW(uint32_t, (size_t)warps * rows * WARP_LANES);
  sm->ready_rows = PAGES_NEW(uint64_t, (size_t)warps * sm->gpu->ready_rows);
  sm->written_rows = PAGES_NEW(uint32_t, (size_t)warps * rows);
  if (machine->sm.convergence == CONVERGENCE_BARRIER) {
    sm->lane_groups = PAGES_NEW(LaneGroups, warps);
    sm->sync_records = PAGES_NEW(SyncRecord, (size_t)CONVERGENCE_BARRIERS * warps * WARP_LANES);
  } else {
    sm->stack_rows = g_malloc_n((size_t)warps * depth, sizeof(StackEntry));
  }
  sm->warps = PAGES_NEW(Warp, warps);
  shared_init(&sm->shared, machine);
  lock_unit_init(&sm->lock_unit, machine);
  sm->spin_backoff = spin_backoff_new(machine);
  sm->ready = true;
}

void sm_clear(Sm *sm) {
  if (!sm->ready)
    return;
  flights_clear(&sm->flights);
  bulk_clear(sm);
  remote_clear(sm);
  for (uint32_t i = 0; i < sm->warp_slots; i++) {
    local_memory_clear(&sm->warps[i].local);
    local_defined_clear(&sm->warps[i].local_defined);
    g_free(sm->warps[i].undefined);
    async_copies_clear(&sm->warps[i]);
  }
  pages_free(sm->warps);
  pages_free(sm->register_rows);
  pages_free(sm->ready_rows);
  pages_free(sm->written_rows);
  g_free(sm->stack_rows);
  pages_free(sm->lane_groups);
  pages_free(sm->sync_records);
  shared_clear(&sm->shared);
  pages_free(sm->swapped);
  lock_unit_clear(&sm->lock_unit);
  spin_backoff_free(sm->spin_backoff);
  l1_free(sm->l1);
  sm_notes_clear(sm);
  g_free(sm->out);
  g_clear_pointer(&sm->undefined_kept, g_hash_table_destroy);
}

/* ---- placing a block ---- */

uint32_t sm_block_registers(const Machine *machine, const Launch *launch) {
  return occupancy_block_registers(machine, launch->kernel, launch->block_warps);
}

/* What a block of the launch takes of the SM's shared memory. */
static uint32_t shared_need(const Machine *machine, const Launch *launch) {
  return occupancy_block_shared(machine, launch->shared_bytes - launch->kernel->shared_system);
}

/* First fit from 0 in granules; false if no hole is large enough. */
static bool find_shared(const Sm *sm, const Launch *launch, uint32_t *base) {
  const Machine *machine = sm->gpu->machine;
  uint32_t need = shared_need(machine, launch), candidate = 0;
  if (launch->shared_bytes == 0) {
    *base = 0;
    return true;
  }
  for (bool moved = true; moved;) {
    moved = false;
    for (uint32_t i = 0; i < machine->sm.max_blocks; i++) {
      const Block *block = &sm->blocks[i];
      uint32_t end = block->shared_base + (block->launch ? shared_need(machine, block->launch) : 0);
      if (block->launch && block->shared_bytes && block->shared_base < candidate + need && candidate < end) {
        candidate = end;
        moved = true;
      }
    }
  }
  *base = candidate;
  return candidate + need <= machine->sm.shared.bytes;
}

/* How late a warp starts (sm.held_up): every other one; some of them so late that others have come far by then, or
 * are done. */
static uint64_t late_start(Sm *sm, const Block *block, uint32_t warp_in_block) {
  enum { VERY_LATE_EVERY = 8, VERY_LATE = 16 };
  if (sm->gpu->machine->sm.held_once)
    return hold_once_start(sm->gpu, block, warp_in_block);
  if (!sm->gpu->holds_up || !rng_below(&sm->held, 2))
    return 0;
  uint64_t late = rng_below(&sm->held, sm->gpu->machine->sm.held_up);
  return late % VERY_LATE_EVERY ? late : VERY_LATE * late;
}

static void start_warp(Sm *sm, Block *block, uint32_t warp_in_block, uint32_t slot, uint64_t now) {
  const Launch *launch = block->launch;
  Warp *warp = &sm->warps[slot];
  uint32_t rows = launch->kernel->nregs + SINK_ROWS, threads = launch->block_threads - warp_in_block * WARP_LANES;
  uint32_t lanes = threads >= WARP_LANES ? ALL_LANES : (1u << threads) - 1;
  Warp fresh = {.regs = warp->regs,
                .reg_ready = warp->reg_ready,
                .stack = warp->stack,
                .groups = warp->groups,
                .local = warp->local,
                .local_defined = warp->local_defined,
                .undefined = warp->undefined,
                .undefined_room = warp->undefined_room,
                .undefined_rows = warp->undefined_rows,
                .copies = warp->copies,
                .slot = slot,
                .unit = warp->unit,
                .sends = warp->sends,
                .scheduler = (uint16_t)(slot % sm->gpu->machine->sm.schedulers),
                .consts = launch->const_rows,
                .active = lanes,
                .alive = lanes,
                .lanes = lanes,
                .block_slot = block->slot,
                .warp_in_block = warp_in_block,
                .age = sm->gpu->ages++};
  fresh.pred[PRED_TRUE] = ALL_LANES;
  memset(fresh.left_from, 0xff, sizeof fresh.left_from); /* PAST_NOWHERE */
  if (launch->tracks_unset) {
    fresh.written = sm->written_rows + (size_t)slot * sm->gpu->register_rows;
    memset(fresh.written, 0, rows * sizeof(uint32_t));
  }
  *warp = fresh;
  sm_set_state(sm, warp, WARP_RUNNING);
  async_copies_reset(warp);
  bulk_reset(sm, warp);
  if (warp->groups)
    lane_groups_reset(warp->groups);
  local_memory_start(&warp->local, (launch->kernel->local_bytes + 3) / 4);
  local_defined_start(&warp->local_defined, (launch->kernel->local_bytes + 3) / 4);
  if (warp->undefined_rows)
    undefined_reset(warp);
  memset(warp->regs, 0, (size_t)rows * WARP_LANES * sizeof(uint32_t));
  memset(warp->reg_ready, 0, (rows + CONTROL_SCOREBOARDS) * sizeof(uint64_t));
  block->warp_slot[warp_in_block] = (uint8_t)slot;
  slots_begin(sm, slot, now);
  scheduler_come_to(sm, warp, &launch->decoded[warp->pc]);
  uint32_t jitter = sm->gpu->machine->sm.jitter_cycles;
  Rng *rng = sm->refilled ? &sm->starts : &sm->jitter;
  sm_wake(sm, warp, now + late_start(sm, block, warp_in_block) + (jitter ? rng_below(rng, jitter + 1) : 0));
}

static Block *free_block(Sm *sm) {
  for (uint32_t i = 0; i < sm->gpu->machine->sm.max_blocks; i++)
    if (!sm->blocks[i].launch)
      return &sm->blocks[i];
  return NULL;
}

static bool has_room(const Sm *sm, const Launch *launch) {
  const Machine *machine = sm->gpu->machine;
  return sm->resident_blocks < machine->sm.max_blocks &&
         sm->resident_warps + launch->block_warps <= machine->sm.max_warps &&
         sm->resident_threads + launch->block_warps * WARP_LANES <= machine->sm.max_threads &&
         sm->registers_used + sm_block_registers(machine, launch) <= machine->sm.registers;
}

bool sm_has_room(const Sm *sm, const Launch *launch) {
  uint32_t base;
  return has_room(sm, launch) && find_shared(sm, launch, &base);
}

/* The least of what is left of a limit, in blocks. */
static uint32_t blocks_in(uint32_t limit, uint32_t used, uint32_t need) {
  return need ? (limit - used) / need : UINT32_MAX;
}

/* How many shares of a block the holes in shared memory have room for, up to `most`. */
static uint32_t shared_room(const Sm *sm, const Launch *launch, uint32_t most) {
  const Machine *machine = sm->gpu->machine;
  uint32_t need = shared_need(machine, launch), count = 0, from = 0;
  if (!launch->shared_bytes)
    return most;
  while (count < most && from + need <= machine->sm.shared.bytes) {
    uint32_t next = from + need;
    bool taken = false;
    for (uint32_t i = 0; i < machine->sm.max_blocks; i++) {
      const Block *block = &sm->blocks[i];
      uint32_t end = block->shared_base + (block->launch ? shared_need(machine, block->launch) : 0);
      if (!taken && block->launch && block->shared_bytes && block->shared_base < from + need && from < end) {
        next = end;
        taken = true;
      }
    }
    count += !taken;
    from = next;
  }
  return count;
}

uint32_t sm_room(const Sm *sm, const Launch *launch, uint32_t most) {
  const Machine *machine = sm->gpu->machine;
  most = MIN(most, machine->sm.max_blocks - sm->resident_blocks);
  most = MIN(most, blocks_in(machine->sm.max_warps, sm->resident_warps, launch->block_warps));
  most = MIN(most, blocks_in(machine->sm.max_threads, sm->resident_threads, launch->block_warps * WARP_LANES));
  most = MIN(most, blocks_in(machine->sm.registers, sm->registers_used, sm_block_registers(machine, launch)));
  return shared_room(sm, launch, most);
}

/* The block's place in its grid, and in its cluster. */
static void number_block(Block *block, struct Cluster *cluster) {
  const Launch *launch = block->launch;
  block->ctaid[0] = (uint32_t)(block->index % launch->grid[0]);
  block->ctaid[1] = (uint32_t)(block->index / launch->grid[0] % launch->grid[1]);
  block->ctaid[2] = (uint32_t)(block->index / launch->grid[0] / launch->grid[1]);
  if (launch->cluster_blocks == 1)
    return;
  block->rank = cluster_rank(launch, block->ctaid);
  block->rank_bits = launch->kernel->ranked ? block->rank << CLUSTER_RANK_SHIFT : 0;
  block->cluster = cluster;
}

/* The lowest free slot of a scheduler's, or (`step` 1) of all from `from` on; SM_WARPS_MAX: there is none. */
static uint32_t free_slot(const Sm *sm, uint32_t from, uint32_t step) {
  for (uint32_t slot = from; slot < sm->gpu->machine->sm.max_warps; slot += step)
    if (slot >= sm->warp_slots || sm->warps[slot].state == WARP_FREE)
      return slot;
  return SM_WARPS_MAX;
}

/* Starts the warps of a block, for which there is room. sm.warp_slots: turns: each warp belongs to the scheduler
 * behind the one before; a block whose warps are as many for each scheduler begins one further than the block before
 * (an H200: warp_slots_h200.csv). */
static void start_warps(Sm *sm, Block *block, uint64_t now) {
  uint32_t schedulers = sm->gpu->machine->sm.schedulers, warps = block->warps;
  bool turns = sm->gpu->machine->sm.warp_slots == WARP_SLOTS_TURNS;
  for (uint32_t warp = 0, from = 0; warp < warps; warp++) {
    uint32_t slot = turns ? free_slot(sm, (sm->first_scheduler + warp) % schedulers, schedulers) : SM_WARPS_MAX;
    if (slot == SM_WARPS_MAX)
      slot = free_slot(sm, turns ? 0 : from, 1);
    while (slot >= sm->warp_slots)
      add_slot(sm);
    start_warp(sm, block, warp, slot, now);
    from = slot + 1;
  }
  sm->first_scheduler = (sm->first_scheduler + (warps % schedulers ? warps : 1)) % schedulers;
}

bool sm_try_place(Sm *sm, Launch *launch, uint64_t index, struct Cluster *cluster, uint64_t now) {
  uint32_t base;
  if (!has_room(sm, launch) || !find_shared(sm, launch, &base))
    return false;
  if (!sm->ready)
    make_ready(sm);
  Block *block = free_block(sm);
  *block = (Block){.launch = launch,
                   .index = index,
                   .slot = (uint32_t)(block - sm->blocks),
                   .shared_base = base,
                   .shared_bytes = launch->shared_bytes,
                   .warps = launch->block_warps,
                   .warps_left = launch->block_warps};
  number_block(block, cluster);
  if (cluster) {
    cluster->member[block->rank] = (ClusterMember){sm, block};
    remote_prepare(sm);
  }
  for (uint32_t id = 0; id < BLOCK_BARRIERS; id++)
    block->barrier[id] = (Barrier){.all = true};
  shared_reset_range(&sm->shared, base, launch->shared_bytes, !program_is_compiled(launch->program));
  sm->resident_blocks++;
  sm->resident_warps += launch->block_warps;
  sm->resident_threads += launch->block_warps * WARP_LANES;
  sm->registers_used += sm_block_registers(sm->gpu->machine, launch);
  sm->gpu->counters.blocks++;
  sm->gpu->counters.warps += launch->block_warps;
  sm->gpu->progress++;
  start_warps(sm, block, now);
  ProbePoint point = {.gpu = sm->gpu, .sm = sm, .block = block, .cycle = now};
  PROBE_FIRE(sm->gpu, block_start, &point);
  return true;
}

/* How many bytes of shared memory from `from` up to `to` were accessed. */
static uint64_t touched_bytes(const Sm *sm, uint64_t from, uint64_t to) {
  enum { WORDS = 8 };
  const uint64_t bytes = UINT64_C(0x0f0f0f0f0f0f0f0f);
  const uint8_t *touched = sm->shared.touched;
  uint64_t count = 0, words;
  for (; from < to && from % 4; from++)
    count += touched[from / 4] >> (from % 4) & 1;
  for (; from + 4 * WORDS <= to; from += 4 * WORDS) {
    memcpy(&words, touched + from / 4, WORDS);
    count += (uint64_t)__builtin_popcountll(words & bytes);
  }
  for (; from < to; from++)
    count += touched[from / 4] >> (from % 4) & 1;
  return count;
}

void sm_count_shared_bytes(Sm *sm, const Block *block) {
  const Gpu *gpu = sm->gpu;
  uint64_t base = block->shared_base, end = base + block->shared_bytes;
  uint64_t data = MIN(base + gpu->data_offset, end), data_end = MIN(data + gpu->data_bytes, end);
  uint64_t all = touched_bytes(sm, base, end);
  sm->counters.shared_bytes = MAX(sm->counters.shared_bytes, all);
  sm->counters.shared_bytes_beyond_data =
      MAX(sm->counters.shared_bytes_beyond_data, all - touched_bytes(sm, data, data_end));
  sm->counters.lock_bits = MAX(sm->counters.lock_bits, sm->lock_unit.distinct);
}

void sm_free_block(Sm *sm, Block *block) {
  const Launch *launch = block->launch;
  for (uint32_t i = 0; i < block->warps; i++)
    sm_set_state(sm, &sm->warps[block->warp_slot[i]], WARP_FREE);
  sm->resident_blocks--;
  sm->resident_warps -= launch->block_warps;
  sm->resident_threads -= launch->block_warps * WARP_LANES;
  sm->registers_used -= sm_block_registers(sm->gpu->machine, launch);
  block->launch = NULL;
  sm->refilled = true;
}

/* A block of a cluster has exited: its barrier may be complete now. The last takes the others along. */
static void leave_cluster(Gpu *gpu, Cluster *cluster, uint64_t now) {
  if (--cluster->left == 0)
    cluster_end(gpu, cluster);
  else if (cluster_is_complete(cluster))
    barrier_cluster_complete(cluster, now, NULL);
}

static void retire_block(Sm *sm, Block *block, uint64_t now) {
  Gpu *gpu = sm->gpu;
  ProbePoint point = {.gpu = gpu, .sm = sm, .block = block, .cycle = now};
  PROBE_FIRE(gpu, block_end, &point);
  sm_count_shared_bytes(sm, block);
  Launch *launch = block->launch;
  bool later = gpu->in_window && gpu->undispatched;
  if (block->cluster)
    leave_cluster(gpu, block->cluster, now);
  else if (!later)
    sm_free_block(sm, block);
  tell_block_finished(sm, launch, block, now);
}

void sm_finish_warp(Sm *sm, Warp *warp, uint64_t now) {
  Block *block = warp_block(sm, warp);
  sm_set_state(sm, warp, WARP_DONE);
  slots_end(sm, warp);
  bulk_warp_exits(sm, warp, now);
  block->finished |= 1u << warp->warp_in_block;
  block->warps_left--;
  sm->progress++;
  if (block->warps_left == 0)
    retire_block(sm, block, now);
  else
    barrier_warp_exited(sm, block, now);
}
