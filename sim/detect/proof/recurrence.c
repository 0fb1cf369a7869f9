#include "sim/detect/proof/recurrence.h"

#include "isa/flow/cfg.h"
#include "sim/core/bulk.h"
#include "sim/core/host.h"
#include "sim/core/lane_groups.h"
#include "sim/memory/lock_queue.h"

/* Registers and predicates whose value can matter to what the program does. */
typedef struct Slice {
  RegSet regs;
  uint32_t preds;
} Slice;

/* What an instruction must know because of what it does itself. */
static void add_roots(const Inst *inst, Slice *slice) {
  RegList reads = inst_reads(inst);
  uint32_t flags = op_info[inst->op].flags;
  Unit unit = op_info[inst->op].unit;
  if (inst->op == OP_NANOSLEEP)
    return; /* how long it takes is no state */
  if (inst->op == OP_BRA || flags & (OPF_BRANCH | OPF_CONTROL) || unit == UNIT_BARRIER || unit == UNIT_VOTE ||
      unit == UNIT_SHARED || unit == UNIT_GLOBAL || unit == UNIT_LOCAL) {
    for (unsigned i = 0; i < reads.count; i++)
      regset_put(&slice->regs, (unsigned)reads.reg[i]);
    slice->preds |= inst_pred_reads(inst);
  }
}

/* One register set for the whole kernel: whatever reaches a root, over any path. */
static Slice slice_kernel(const Kernel *kernel) {
  Slice slice = {0}, before;
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
    add_roots(&kernel->insts[pc], &slice);
  do {
    before = slice;
    for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
      const Inst *inst = &kernel->insts[pc];
      RegList reads = inst_reads(inst), writes = inst_writes(inst, kernel->nregs);
      bool matters = inst_pred_writes(inst) & slice.preds;
      for (unsigned i = 0; i < writes.count; i++)
        matters |= regset_has(&slice.regs, (unsigned)writes.reg[i]);
      for (unsigned i = 0; matters && i < reads.count; i++)
        regset_put(&slice.regs, (unsigned)reads.reg[i]);
      slice.preds |= matters ? inst_pred_reads(inst) : 0;
    }
  } while (!regset_equal(slice.regs, before.regs) || slice.preds != before.preds);
  return slice;
}

static uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ (hash >> 32);
}

/* The groups of a warp; their order says who runs next. */
static uint64_t digest_groups(const LaneGroups *groups) {
  uint64_t sum = mix(groups->gathering, groups->marked);
  for (uint32_t i = 0; i < groups->count; i++) {
    const LaneGroup *group = &groups->group[i];
    sum = mix(sum, i) +
          mix(mix(mix(group->state, group->mask), (uint64_t)group->pc << 32 | group->which), group->yields);
  }
  for (unsigned barrier = 0; barrier < CONVERGENCE_BARRIERS; barrier++)
    for (uint32_t rest = groups->sync.used[barrier]; rest; rest &= rest - 1) {
      const SyncRecord *record = sync_record(&groups->sync, barrier, (unsigned)__builtin_ctz(rest));
      sum += mix(mix(barrier + 1, record->lanes), (uint64_t)record->away << 32 | groups->sync.saved[barrier]);
    }
  for (unsigned id = 0; id < BLOCK_BARRIERS; id++)
    sum += groups->come[id] ? mix(mix(~(uint64_t)id, groups->come[id]), groups->executed[id]) : 0;
  return sum;
}

static uint64_t digest_warp(uint64_t hash, const Sm *sm, const Warp *warp, const Slice *slice,
                            const Liveness *liveness) {
  hash = mix(hash, (uint64_t)warp->pc << 32 | warp->active);
  hash = mix(hash, (uint64_t)warp->state << 32 | warp->alive);
  for (uint32_t i = 0; i < warp->depth; i++)
    hash = mix(mix(hash, (uint64_t)warp->stack[i].pc << 32 | warp->stack[i].mask), warp->stack[i].kind);
  uint32_t preds = liveness->live_preds[warp->pc];
  if (warp->groups)
    hash = mix(hash, digest_groups(warp->groups));
  for (uint32_t i = 0; warp->groups && i < warp->groups->count; i++)
    preds |= liveness->live_preds[warp->groups->group[i].pc];
  for (uint32_t i = 0; i < warp->depth; i++)
    preds |= liveness->live_preds[warp->stack[i].pc];
  for (preds &= slice->preds; preds; preds &= preds - 1)
    hash = mix(hash, warp->pred[__builtin_ctz(preds)]);
  /* Lanes that wait elsewhere on the stack may need other registers than those live here: all of the slice count. */
  for (unsigned reg = 0; reg < REGSET_MAX; reg++) {
    if (!regset_has(&slice->regs, reg))
      continue;
    for (unsigned lane = 0; lane < WARP_LANES; lane += 2)
      hash = mix(hash, (uint64_t)flights_register(&sm->flights, warp, reg, lane) << 32 |
                           flights_register(&sm->flights, warp, reg, lane + 1));
  }
  return hash;
}

/* True if a clock value can matter: then a state that comes back says nothing about the next time. */
static bool reads_clock(const Kernel *kernel, const Slice *slice) {
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    const Inst *inst = &kernel->insts[pc];
    if (op_info[inst->op].unit != UNIT_SYSREG || !special_is_clock(inst->mode))
      continue;
    RegList writes = inst_writes(inst, kernel->nregs);
    for (unsigned i = 0; i < writes.count; i++)
      if (regset_has(&slice->regs, (unsigned)writes.reg[i]))
        return true;
  }
  return false;
}

/* What a warp sleeps for. */
typedef struct Waking {
  const Sm *sm;
  SmSleep at_start;
} Waking;

typedef struct Watched {
  GPtrArray *warps; /* Warp * */
  GArray *launches; /* guint: of each warp */
  GArray *wakings;  /* Waking: of each warp */
  uint64_t *issued; /* of each SM: accesses to global memory, before the watch began */
  Slice *slices;
  Liveness *liveness;
  bool clocked; /* a clock value can matter to one of them */
} Watched;

/* True if a warp has slept since the watch began, until its memory accesses are performed, say: then the machine
 * hasn't come back to where it was, since that time goes by. */
static bool somebody_sleeps(const Gpu *gpu, const Watched *watched) {
  for (guint i = 0; i < watched->warps->len; i++) {
    const Warp *warp = g_ptr_array_index(watched->warps, i);
    const Waking *waking = &g_array_index(watched->wakings, Waking, i);
    SmSleep now = sm_sleep(waking->sm, warp);
    if (warp->state == WARP_RUNNING && (now.blocked || now.until > gpu->cycle) &&
        now.blocked == waking->at_start.blocked && now.until == waking->at_start.until)
      return true;
  }
  return false;
}

/* True if something is under way that was so when the watch began: it may still change what somebody waits for. */
static bool something_is_under_way(const Gpu *gpu, const Watched *watched) {
  for (uint32_t i = 0; i < gpu->used_sms; i++)
    if (gpu->sms[i].ready &&
        (flights_oldest(&gpu->sms[i].flights) <= watched->issued[i] || bulk_is_busy(&gpu->sms[i])))
      return true;
  return false;
}

/* Who has come to the barriers of the warp's block. */
static uint64_t digest_barriers(uint64_t hash, const Sm *sm, const Warp *warp) {
  const Block *block = &sm->blocks[warp->block_slot];
  for (unsigned id = 0; id < BLOCK_BARRIERS; id++)
    if (block->barrier[id].open)
      hash = mix(mix(hash, id), (uint64_t)block->barrier[id].threads << 32 | block->barrier[id].expected);
  return hash;
}

static uint64_t digest(const Gpu *gpu, const Watched *watched) {
  uint64_t hash = gpu->memory_hash ^ lock_queues_digest(gpu->locks);
  for (guint i = 0; i < watched->warps->len; i++) {
    guint launch = g_array_index(watched->launches, guint, i);
    const Sm *sm = g_array_index(watched->wakings, Waking, i).sm;
    const Warp *warp = g_ptr_array_index(watched->warps, i);
    hash = digest_warp(hash, sm, warp, &watched->slices[launch], &watched->liveness[launch]);
    hash = digest_barriers(hash, sm, warp);
  }
  return hash;
}

/* Where the warps are, and nothing else: cheap, and enough to tell most states apart. */
static uint64_t digest_places(const Watched *watched) {
  uint64_t hash = 0;
  for (guint i = 0; i < watched->warps->len; i++) {
    const Warp *warp = g_ptr_array_index(watched->warps, i);
    hash = hash * UINT64_C(0x9e3779b97f4a7c15) + ((uint64_t)warp->active << 32 | warp->pc);
  }
  return hash;
}

/* What matters in the kernel of a launch that runs, once. */
static void watch_launch(Watched *watched, const Launch *launch) {
  if (watched->liveness[launch->index].live_regs)
    return;
  watched->slices[launch->index] = slice_kernel(launch->kernel);
  watched->liveness[launch->index] = cfg_liveness(launch->kernel);
}

static void watch_init(Watched *watched, Gpu *gpu) {
  *watched = (Watched){0};
  watched->warps = g_ptr_array_new();
  watched->launches = g_array_new(FALSE, FALSE, sizeof(guint));
  watched->wakings = g_array_new(FALSE, FALSE, sizeof(Waking));
  watched->slices = g_new0(Slice, gpu->launches->len);
  watched->liveness = g_new0(Liveness, gpu->launches->len);
  watched->issued = g_new0(uint64_t, gpu->machine->gpu.sms);
  for (uint32_t i = 0; i < gpu->used_sms; i++) {
    watched->issued[i] = gpu->sms[i].ready ? gpu->sms[i].flights.made : 0;
    for (uint32_t slot = 0; slot < gpu->sms[i].warp_slots; slot++) {
      Warp *warp = &gpu->sms[i].warps[slot];
      if (warp->state != WARP_RUNNING && warp->state != WARP_AT_BARRIER)
        continue;
      g_ptr_array_add(watched->warps, warp);
      guint launch = warp_block(&gpu->sms[i], warp)->launch->index;
      g_array_append_val(watched->launches, launch);
      Waking waking = {&gpu->sms[i], sm_sleep(&gpu->sms[i], warp)};
      g_array_append_val(watched->wakings, waking);
      watch_launch(watched, gpu_launch(gpu, launch));
      watched->clocked |= reads_clock(gpu_launch(gpu, launch)->kernel, &watched->slices[launch]);
    }
  }
}

static void watch_clear(Watched *watched, const Gpu *gpu) {
  for (guint i = 0; i < gpu->launches->len; i++)
    liveness_clear(&watched->liveness[i]);
  g_free(watched->liveness);
  g_free(watched->slices);
  g_ptr_array_free(watched->warps, TRUE);
  g_array_free(watched->launches, TRUE);
  g_array_free(watched->wakings, TRUE);
  g_free(watched->issued);
}

/* What no loop can repeat for ever: all but barriers. */
static uint64_t moves(const Gpu *gpu) { return gpu->progress - gpu->counters.barriers_completed; }

bool recurrence_watch(Gpu *gpu, uint64_t limit_cycles, GpuStop *stop) {
  Watched watched;
  watch_init(&watched, gpu);
  uint64_t moved = moves(gpu);
  unsigned returns = 0;
  *stop = GPU_BUDGET;
  if (watched.warps->len <= RECURRENCE_WARPS_MAX && !watched.clocked && host_is_still(gpu->host)) {
    gpu->hashes_memory = true;
    gpu->memory_hash = 0; /* changes from here on: it is 0 again when memory is as it was */
    uint64_t places = digest_places(&watched), start = digest(gpu, &watched);
    unsigned window = MIN((unsigned)RECURRENCE_WINDOW, RECURRENCE_DIGESTS / MAX(watched.warps->len, 1u));
    for (unsigned i = 0; i < window && returns < RECURRENCES_NEEDED; i++) {
      *stop = gpu_run(gpu, 1, limit_cycles);
      if (*stop != GPU_BUDGET || moves(gpu) != moved)
        break;
      returns += gpu->memory_hash == 0 && digest_places(&watched) == places && !somebody_sleeps(gpu, &watched) &&
                 !something_is_under_way(gpu, &watched) && lock_queues_are_still(gpu->locks, gpu->cycle) &&
                 digest(gpu, &watched) == start;
    }
    gpu->hashes_memory = false;
  }
  watch_clear(&watched, gpu);
  return returns >= RECURRENCES_NEEDED;
}
