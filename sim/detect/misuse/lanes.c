/* Barriers and member masks: lanes that don't come to them. */
#include "base/bits.h"
#include "isa/flow/past.h"
#include "sim/core/lane_groups.h"
#include "sim/core/members.h"
#include "sim/detect/misuse/report.h"

/* Those of `exited` that took another path than the instruction before they exited. *how: the lowest of them. */
static uint32_t lanes_past(Misuse *misuse, const ProbePoint *point, uint32_t exited, Past *how) {
  uint32_t past = 0;
  for (uint32_t rest = exited; rest; rest &= rest - 1) {
    const Launch *launch = point->block->launch;
    uint32_t left = point->warp->left_from[__builtin_ctz(rest)];
    uint64_t key = (uint64_t)launch->index << 48 ^ (uint64_t)point->pc << 24 ^ left;
    gpointer known;
    if (!g_hash_table_lookup_extended(misuse->skipped, &key, NULL, &known)) {
      known = GINT_TO_POINTER(past_skipped(launch->kernel, point->pc, left));
      g_hash_table_insert(misuse->skipped, g_memdup2(&key, sizeof key), known);
    }
    if (known && !past)
      *how = (Past)GPOINTER_TO_INT(known);
    past |= known ? rest & -rest : 0;
  }
  return past;
}

static const char *how_text(Past how) {
  return how == PAST_BESIDE ? "which took another branch and exited" : "which went past it and exited";
}

/* Lanes of the point come to a block barrier without the `missing` ones of their warp. */
static void add_partial_barrier(Misuse *misuse, const ProbePoint *point, uint32_t missing, const char *how) {
  g_autofree char *who = report_who(point), *others = lanes_text(missing);
  report_add(misuse, FINDING_PARTIAL_BARRIER, point,
             g_strdup_printf("%s arrive%s at a barrier without %s of the same warp%s%s", who, report_ending(point),
                             others, how ? ", " : "", how ? how : ""),
             "let the lanes of a warp rejoin before the barrier");
}

static void partial_barrier(void *user, const ProbePoint *point, uint32_t absent, uint32_t exited) {
  bool each_by_itself = point->inst->flags & INST_UNALIGNED; /* who has exited isn't waited for */
  Past how = PAST_EARLY;
  uint32_t past = each_by_itself ? 0 : lanes_past(user, point, exited, &how);
  if (absent | past)
    add_partial_barrier(user, point, absent | past, absent ? NULL : how_text(how));
}

/* A WARPSYNC that brings the lanes together for the block barrier behind it. */
static bool is_before_barrier(const ProbePoint *point) {
  const Kernel *kernel = point->block->launch->kernel;
  return point->inst->op == OP_WARPSYNC && point->pc + 1 < kernel->ninsts &&
         op_info[kernel->insts[point->pc + 1].op].flags & OPF_BARRIER;
}

static const char *operation_name(const ProbePoint *point) {
  const Inst *behind = members_exchange(point->block->launch->kernel, point->pc);
  switch ((Opcode)(point->inst->op == OP_WARPSYNC && behind ? behind : point->inst)->op) {
  case OP_SHFL: return "shuffle";
  case OP_VOTE: return "vote";
  case OP_MATCH: return "match";
  case OP_REDUX: return "reduction";
  case OP_ELECT: return "election";
  case OP_WARPSYNC: return "barrier of the warp";
  default: return "barrier of the warp (before this)";
  }
}

static void odd_mask(void *user, const ProbePoint *point, uint32_t absent, uint32_t strangers) {
  Past how = PAST_EARLY;
  uint32_t alive = point->warp->alive, missing = (absent & alive) | lanes_past(user, point, absent & ~alive, &how);
  if (!missing && !strangers)
    return;
  if (!strangers && is_before_barrier(point)) {
    add_partial_barrier(user, point, missing, missing & alive ? NULL : how_text(how));
    return;
  }
  ProbePoint those = *point;
  if (strangers)
    those.lanes = strangers;
  g_autofree char *who = report_who(&those), *others = lanes_text(missing);
  if (strangers)
    report_add(user, FINDING_SYNC_MASK, &those,
               g_strdup_printf("%s execute%s a %s with a mask that leaves out the lane itself", who,
                               report_ending(&those), operation_name(point)),
               "each lane that executes it must be in its own mask");
  else
    report_add(
        user, FINDING_SYNC_MASK, point,
        g_strdup_printf("%s execute%s a %s whose mask names %s of the same warp, %s", who, report_ending(point),
                        operation_name(point), others, missing & alive ? "which are elsewhere" : how_text(how)),
        "compute the mask before the lanes part (__ballot_sync() of the condition), or take the operation out of "
        "the branch");
}

/* The lanes that a group waits for at a WARPSYNC. */
static uint32_t absent_at_warpsync(const Warp *warp, const LaneGroup *group) {
  uint32_t come = 0;
  for (uint32_t i = 0; i < warp->groups->count; i++) {
    const LaneGroup *other = &warp->groups->group[i];
    come |= other->state == GROUP_AT_WARPSYNC && other->which == group->which ? other->mask : 0;
  }
  return group->which & warp->alive & ~come;
}

/* Groups that wait for each other for ever, each at a WARPSYNC of its own mask. */
static void conclude_masks(Misuse *misuse, ProbePoint point) {
  const LaneGroups *groups = point.warp->groups;
  for (uint32_t i = 0; i < groups->count; i++)
    for (uint32_t j = 0; j < groups->count; j++) {
      const LaneGroup *one = &groups->group[i], *other = &groups->group[j];
      if (one->state != GROUP_AT_WARPSYNC || other->state != GROUP_AT_WARPSYNC || one->mask > other->mask)
        continue;
      uint32_t absent = absent_at_warpsync(point.warp, one) & other->mask;
      if (!absent || !(absent_at_warpsync(point.warp, other) & one->mask))
        continue;
      point.pc = one->pc;
      point.inst = &point.block->launch->kernel->insts[one->pc];
      point.lanes = one->mask;
      odd_mask(misuse, &point, absent, 0);
    }
}

static void conclude_warp(Misuse *misuse, const Gpu *gpu, const Sm *sm, const Warp *warp) {
  const Block *block = &sm->blocks[warp->block_slot];
  for (uint32_t id = 0; id < BLOCK_BARRIERS; id++) {
    uint32_t come = warp->groups->come[id], pc = warp->groups->come_pc[id], absent = warp->alive & ~come;
    const Inst *inst = &block->launch->kernel->insts[pc];
    ProbePoint point = {.gpu = gpu,
                        .sm = sm,
                        .block = block,
                        .warp = warp,
                        .inst = inst,
                        .pc = pc,
                        .lanes = come,
                        .cycle = gpu->cycle};
    if (come && absent && !(inst->flags & INST_UNALIGNED))
      partial_barrier(misuse, &point, absent, 0);
  }
  conclude_masks(misuse, (ProbePoint){.gpu = gpu, .sm = sm, .block = block, .warp = warp, .cycle = gpu->cycle});
}

void misuse_conclude_lanes(Misuse *misuse) {
  const Gpu *gpu = misuse->gpu;
  for (uint32_t i = 0; i < gpu->used_sms; i++)
    for (uint32_t slot = 0; gpu->sms[i].lane_groups && slot < gpu->sms[i].warp_slots; slot++) {
      const Warp *warp = &gpu->sms[i].warps[slot];
      if (warp->state == WARP_RUNNING || warp->state == WARP_AT_BARRIER)
        conclude_warp(misuse, gpu, &gpu->sms[i], warp);
    }
}

Misuse *misuse_new_lanes(Gpu *gpu, GPtrArray *findings) {
  Misuse *misuse = report_new(gpu, findings, (Probe){.partial_barrier = partial_barrier, .odd_mask = odd_mask});
  misuse->skipped = g_hash_table_new_full(bits_hash_key, g_int64_equal, g_free, NULL);
  return misuse;
}
