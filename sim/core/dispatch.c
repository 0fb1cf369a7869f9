#include "sim/core/dispatch.h"

#include "sim/core/cached.h"
#include "sim/core/cluster.h"
#include "sim/core/host.h"
#include "sim/core/occupancy.h"
#include "sim/core/retire.h"
#include "sim/core/sm.h"
#include "sim/machine/carveout.h"

/* A launch may run once the one before it in its stream has finished, and with it all earlier ones, and the host has
 * started it. */
static bool may_run(const Launch *launch) {
  const Launch *previous = launch->previous;
  return !launch->held && (!previous || previous->finished);
}

/* A kernel that starts alone on the chip finds all lock bits free, and its blocks go to the first SMs: a block has
 * the SM that it had in the launch before (mem_sleep_h100.csv). */
static void begin_alone(Gpu *gpu) {
  for (guint i = 0; i < gpu->launches->len; i++) {
    const Launch *launch = gpu_launch(gpu, i);
    if (launch->next_block != launch->finished_blocks)
      return;
  }
  gpu->next_sm = 0;
  for (uint32_t i = 0; i < gpu->used_sms; i++)
    if (gpu->sms[i].ready)
      lock_unit_release_all(&gpu->sms[i].lock_unit);
}

/* What its blocks have of the array that shared memory and the L1 have in common. */
static uint32_t carveout_of(const Gpu *gpu, const Launch *launch) {
  const Machine *machine = gpu->machine;
  uint32_t own = launch->shared_bytes - launch->kernel->shared_system;
  Occupancy occupancy =
      occupancy_of(machine, launch->kernel, launch->block, launch->shared_bytes - launch->kernel->shared_bytes);
  CarveoutWish wish = {.threads = launch->block_threads,
                       .blocks = occupancy.blocks,
                       .shared_bytes = own ? occupancy_block_shared(machine, own) : 0,
                       .asked = launch->carveout};
  return carveout_bytes(machine, &wish);
}

/* A kernel that starts sees what was written before. Where the L1 is what shared memory leaves, it has its new
 * size. */
static void renew_l1s(Gpu *gpu) {
  uint32_t carveout = 0;
  for (guint i = 0; i < gpu->launches->len; i++) {
    const Launch *launch = gpu_launch(gpu, i);
    if (launch->started && !launch->finished)
      carveout = MAX(carveout, carveout_of(gpu, launch));
  }
  uint32_t bytes = gpu->machine->sm.l1.bytes - carveout;
  for (uint32_t i = 0; i < gpu->used_sms; i++) {
    if (!gpu->sms[i].ready)
      continue;
    L1 **l1 = &gpu->sms[i].l1;
    if (*l1)
      l1_invalidate(*l1);
    if (bytes != gpu->l1_bytes)
      g_clear_pointer(l1, l1_free);
  }
  if (bytes == gpu->l1_bytes)
    return;
  cached_free_memory(gpu);
  gpu->l1_bytes = bytes;
}

/* ---- the order of blocks ---- */

/* A seeded permutation of the numbers below 4^half: a Feistel network of four rounds. */
static uint64_t shuffle(uint64_t number, unsigned half, uint64_t key) {
  uint64_t mask = (UINT64_C(1) << half) - 1, left = number >> half, right = number & mask;
  for (uint64_t round = 0; round < 4; round++) {
    uint64_t mixed = rng_mix(right ^ rng_mix(key + round)) & mask, next = left ^ mixed;
    left = right;
    right = next;
  }
  return left << half | right;
}

/* The numbers below `count` permuted: those that the shuffle takes beyond are shuffled on. */
static uint64_t shuffle_below(uint64_t number, uint64_t count, uint64_t key) {
  unsigned half = 1;
  while (half < 32 && UINT64_C(1) << (2 * half) < count)
    half++;
  do
    number = shuffle(number, half, key);
  while (number >= count);
  return number;
}

/* The cluster of a launch (of one block: the block) that is dispatched in turn `turn`, by grid.dispatch_order. */
static uint64_t cluster_in_turn(const Gpu *gpu, const Launch *launch, uint64_t turn) {
  uint64_t clusters = launch->blocks / launch->cluster_blocks;
  switch (gpu->machine->grid.dispatch_order) {
  case DISPATCH_REVERSE: return clusters - 1 - turn;
  case DISPATCH_RANDOM: return shuffle_below(turn, clusters, rng_mix(gpu->seed) + launch->index);
  default: return turn;
  }
}

bool dispatch_is_pending(const Gpu *gpu, const Launch *launch, uint64_t block) {
  if (launch->cluster_blocks == 1 && gpu->machine->grid.dispatch_order != DISPATCH_RANDOM) {
    uint64_t first, last;
    dispatch_pending_blocks(gpu, launch, &first, &last);
    return block >= first && block <= last;
  }
  uint64_t cluster = cluster_of_block(launch, block), size = launch->cluster_blocks;
  for (uint64_t turn = launch->next_block / size; turn < launch->blocks / size; turn++)
    if (cluster_in_turn(gpu, launch, turn) == cluster)
      return true;
  return false;
}

void dispatch_pending_blocks(const Gpu *gpu, const Launch *launch, uint64_t *first, uint64_t *last) {
  /* Blocks of a cluster need not follow each other. */
  DispatchOrder order = launch->cluster_blocks > 1 ? DISPATCH_RANDOM : gpu->machine->grid.dispatch_order;
  *first = order == DISPATCH_FORWARD ? launch->next_block : 0;
  *last = launch->blocks - 1 - (order == DISPATCH_REVERSE ? launch->next_block : 0);
}

/* The next block, or all of its cluster. */
static bool place_somewhere(Gpu *gpu, Launch *launch, uint64_t now) {
  uint64_t block = cluster_in_turn(gpu, launch, launch->next_block / launch->cluster_blocks);
  if (launch->cluster_blocks > 1)
    return cluster_try_place(gpu, launch, block, now);
  uint32_t sms = gpu->machine->gpu.sms;
  for (uint32_t i = 0; i < sms; i++) {
    uint32_t index = (gpu->next_sm + i) % sms;
    for (; gpu->used_sms <= index; gpu->used_sms++)
      sm_init(&gpu->sms[gpu->used_sms], gpu, gpu->used_sms);
    if (sm_try_place(&gpu->sms[index], launch, block, NULL, now)) {
      gpu->next_sm = (index + 1) % sms;
      return true;
    }
  }
  return false;
}

/* All that the launch follows has ended. Its blocks may wait for room all the same. */
static void start(Gpu *gpu, Launch *launch, uint64_t now) {
  launch->started = true;
  uint64_t free = MAX(now, launch->previous ? launch->previous->last_end : 0);
  launch->first = launch->free_at = free + gpu->machine->grid.launch_overhead;
  renew_l1s(gpu);
}

/* Places the launch's next block, if an SM has room. During the overhead of a launch the dispatcher is free for
 * blocks of others. */
static bool dispatch_block(Gpu *gpu, Launch *launch, uint64_t now) {
  uint64_t free_at = MAX(now, gpu->dispatch_free_at);
  bool starting = launch->free_at > free_at;
  uint64_t when = starting ? MAX(launch->free_at, gpu->starts_free_at) : free_at;
  if (launch->next_block == 0)
    begin_alone(gpu);
  if (!place_somewhere(gpu, launch, when))
    return false;
  launch->next_block += launch->cluster_blocks;
  if (launch->next_block == launch->blocks)
    gpu->undispatched--;
  uint64_t next = when + launch->cluster_blocks * (uint64_t)gpu->machine->grid.dispatch_interval;
  if (starting)
    gpu->starts_free_at = launch->free_at = next;
  else
    gpu->dispatch_free_at = next;
  return true;
}

/* There may be thousands of launches, and most of them one behind the other. */
static void pass_placed(Gpu *gpu) {
  while (gpu->placed_launches < gpu->launches->len &&
         gpu_launch(gpu, gpu->placed_launches)->next_block == gpu_launch(gpu, gpu->placed_launches)->blocks)
    gpu->placed_launches++;
}

/* Blocks in the machine's order, one each dispatch_interval, to the SMs in turn, as long as one has room. Those of
 * launches that have waited for room come `later` cycles later. True if all have found room. */
static bool dispatch_launch(Gpu *gpu, Launch *launch, uint64_t now, uint64_t later) {
  uint64_t from = launch->started ? now + later : now;
  if (!launch->started)
    start(gpu, launch, now);
  while (launch->next_block < launch->blocks && dispatch_block(gpu, launch, from))
    ;
  return launch->next_block == launch->blocks;
}

/* With grid.launch_order in-turn, others wait with a launch whose blocks don't all find room: with one that has begun
 * first of all, since the host may start launches in another order than theirs. */
static void dispatch(Gpu *gpu, uint64_t now, uint64_t later) {
  bool in_turn = gpu->machine->grid.launch_order == LAUNCHES_IN_TURN;
  pass_placed(gpu);
  for (int begun = in_turn && gpu->host; begun >= 0; begun--)
    for (guint i = gpu->placed_launches; i < gpu->launches->len; i++) {
      Launch *launch = gpu_launch(gpu, i);
      if (launch->next_block == launch->blocks || !may_run(launch) || (begun && !launch->started))
        continue;
      if (!dispatch_launch(gpu, launch, now, later) && in_turn)
        return;
    }
}

void dispatch_blocks(Gpu *gpu, uint64_t now) { dispatch(gpu, now, 0); }

void dispatch_refill(Gpu *gpu, uint64_t now) { dispatch(gpu, now, gpu->machine->grid.refill_latency); }

bool dispatch_waits_for_room(Gpu *gpu, uint32_t cycles) {
  pass_placed(gpu);
  for (guint i = gpu->placed_launches; i < gpu->launches->len; i++) {
    const Launch *launch = gpu_launch(gpu, i), *previous = launch->previous;
    if (launch->next_block == launch->blocks)
      continue;
    bool follows = previous && previous->next_block < previous->blocks;
    if (launch->held || gpu->machine->grid.refill_latency < cycles || (!launch->started && !follows))
      return false;
    if (launch->started && gpu->machine->grid.launch_order == LAUNCHES_IN_TURN)
      return true; /* so do those behind it */
  }
  return true;
}

/* The launch ends when its blocks have exited and their stores are performed. */
static void end_launch(Gpu *gpu, Launch *launch) {
  if (launch->finished || launch->finished_blocks < launch->blocks || launch->under_way)
    return;
  launch->finished = true;
  uint64_t known = retire_end(gpu, launch);
  launch->last_end = MAX(launch->last_end, known);
  gpu->unfinished_launches--;
  gpu->end_cycle = MAX(gpu->end_cycle, launch->last_end);
  if (gpu->host)
    host_launch_finished(gpu->host, launch, launch->last_end);
}

void dispatch_end_launches(Gpu *gpu) {
  while (gpu->ended_launches < gpu->launches->len && gpu_launch(gpu, gpu->ended_launches)->finished)
    gpu->ended_launches++;
  for (guint i = gpu->ended_launches; i < gpu->launches->len; i++)
    end_launch(gpu, gpu_launch(gpu, i));
}
