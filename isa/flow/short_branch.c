#include "isa/flow/short_branch.h"

/* Seen with ptxas 13.0 on sm_90: six stores and the barrier are predicated, seven aren't. A side without a barrier
 * has one plain load from global memory at most: two are rarely predicated. */
enum { SIDE_MAX = 7, LOADS_MAX = 1, DIVISION = 20 };

typedef struct Shortener {
  VKernel *vkernel;
  Flow flow;
  int32_t *guard;       /* of each block: the predicate that its instructions get, or VPRED_TRUE */
  uint8_t *guard_not;   /* of each block: that predicate is negated */
  uint8_t *drop_branch; /* of each block: the branch at its end goes */
} Shortener;

/* One way of a branch: a block that only the branch leads to, and that leads to one block only. */
typedef struct Side {
  uint32_t block, next, cost, loads; /* plain ones from global memory */
  bool has_barrier, has_fence;
} Side;

static const VInst *inst_at(const Shortener *shorten, uint32_t i) {
  return &g_array_index(shorten->vkernel->insts, VInst, i);
}

static const VInst *last_of(const Shortener *shorten, uint32_t block) {
  return inst_at(shorten, shorten->flow.first[block + 1] - 1);
}

static bool is_plain_branch(const VInst *vinst) {
  return vinst->inst.op == OP_BRA && vinst->inst.target != NO_TARGET;
}

/* What an instruction counts for: 64-bit arithmetic is two instructions, a shift is usually part of an addition, and
 * a division takes some twenty. */
static uint32_t cost_of(const VInst *vinst) {
  VOperands operands = vinst_operands(vinst);
  if (vinst->inst.op == OP_SHL)
    return 0;
  if (op_info[vinst->inst.op].unit == UNIT_DIVIDE)
    return DIVISION;
  return op_info[vinst->inst.op].unit == UNIT_ALU && operands.dst == 2 ? 2 : 1;
}

static bool can_be_predicated(const VInst *vinst, int32_t predicate) {
  const OpInfo *info = &op_info[vinst->inst.op];
  bool atomic = info->flags & OPF_ATOMIC && !inst_is_syncs(&vinst->inst);
  if (vinst_is_guarded(vinst) || atomic || info->flags & (OPF_CONTROL | OPF_BRANCH | OPF_SWITCH) ||
      info->unit == UNIT_SHUFFLE || info->unit == UNIT_VOTE || vinst->inst.flags & INST_UNALIGNED)
    return false;
  return !vinst_writes_pred(vinst, predicate);
}

static bool is_marked(const Kernel *kernel, uint32_t i) {
  for (uint32_t m = 0; m < kernel->nmarks; m++)
    if (kernel->marks[m].pc == i)
      return true;
  return false;
}

static bool is_plain_load(const VInst *vinst) {
  const OpInfo *info = &op_info[vinst->inst.op];
  bool constant = vinst->inst.space == MEM_CONST || vinst->inst.space == MEM_PARAM;
  return info->unit == UNIT_GLOBAL && info->flags & OPF_LOAD && vinst->inst.sem == SEM_WEAK && !constant;
}

static bool find_side(const Shortener *shorten, uint32_t block, int32_t predicate, Side *side) {
  const Flow *flow = &shorten->flow;
  if (block >= flow->nblocks || flow->exits[block] || flow->in.start[block + 1] - flow->in.start[block] != 1 ||
      flow->out.start[block + 1] - flow->out.start[block] != 1)
    return false;
  *side = (Side){.block = block, .next = flow->out.to[flow->out.start[block]]};
  for (uint32_t i = flow->first[block]; i < flow->first[block + 1]; i++) {
    const VInst *vinst = inst_at(shorten, i);
    bool ends = i + 1 == flow->first[block + 1] && is_plain_branch(vinst) && !vinst_is_guarded(vinst);
    if (ends)
      break;
    if (!can_be_predicated(vinst, predicate) || is_marked(shorten->vkernel->kernel, i))
      return false;
    side->cost += cost_of(vinst);
    side->has_barrier |= (op_info[vinst->inst.op].flags & OPF_BARRIER) != 0;
    side->has_fence |= vinst->inst.op == OP_MEMBAR;
    side->loads += is_plain_load(vinst);
  }
  return side->cost <= SIDE_MAX;
}

static bool is_short(const Side *side) { return side->has_barrier || (!side->has_fence && side->loads <= LOADS_MAX); }

static bool are_short(const Side *side, const Side *other) {
  return side->has_barrier || other->has_barrier || (is_short(side) && is_short(other));
}

static void guard_side(Shortener *shorten, const Side *side, const VInst *branch, bool taken) {
  bool negated = branch->inst.flags & INST_GUARD_NOT;
  shorten->guard[side->block] = branch->guard;
  shorten->guard_not[side->block] = taken ? negated : !negated;
}

static bool is_lone_branch(const Shortener *shorten, uint32_t block) {
  return shorten->flow.first[block] + 1 == shorten->flow.first[block + 1] && is_plain_branch(last_of(shorten, block));
}

/* The block ends in a branch past the next block, or to the one behind that. */
static void predicate_branch(Shortener *shorten, uint32_t block) {
  const VInst *branch = last_of(shorten, block);
  Side other, taken, behind;
  if (!is_plain_branch(branch) || !vinst_is_guarded(branch) || branch->guard < 0 ||
      shorten->guard[block] != VPRED_TRUE || !find_side(shorten, block + 1, branch->guard, &other))
    return;
  uint32_t target = shorten->flow.block_of[branch->inst.target];
  if (other.next == target && is_short(&other)) { /* if */
    guard_side(shorten, &other, branch, false);
    shorten->drop_branch[block] = 1;
  } else if (target == block + 2 && find_side(shorten, target, branch->guard, &taken) && taken.next == other.next &&
             are_short(&other, &taken)) { /* if and else */
    guard_side(shorten, &other, branch, false);
    guard_side(shorten, &taken, branch, true);
    shorten->drop_branch[block] = shorten->drop_branch[other.block] = 1;
  } else if (target == block + 2 && is_lone_branch(shorten, other.block) && other.next == block + 3 &&
             find_side(shorten, target, branch->guard, &taken) &&
             find_side(shorten, other.next, branch->guard, &behind) && taken.next == behind.next &&
             are_short(&taken, &behind)) { /* the same, the sides the other way round, as nvcc has it */
    guard_side(shorten, &taken, branch, true);
    guard_side(shorten, &behind, branch, false);
    shorten->drop_branch[block] = shorten->drop_branch[other.block] = shorten->drop_branch[taken.block] = 1;
  }
}

/* -- registers -- */

enum { NO_HOME = -1, MANY_HOMES = -2 };

static void note_home(int32_t *home, uint32_t block, bool first_is_write) {
  *home = *home == (int32_t)block || (*home == NO_HOME && first_is_write) ? (int32_t)block : MANY_HOMES;
}

/* Of each register: the block that writes it before reading it, if no other has it, else MANY_HOMES. */
static int32_t *find_homes(const Shortener *shorten) {
  guint n = shorten->vkernel->rows->len;
  int32_t *home = g_new(int32_t, n + 1);
  for (guint r = 0; r < n; r++)
    home[r] = NO_HOME;
  for (uint32_t i = 0; i < shorten->vkernel->insts->len; i++) {
    VRegUse uses[8];
    uint32_t block = shorten->flow.block_of[i];
    unsigned count = vinst_reads(inst_at(shorten, i), uses);
    for (unsigned u = 0; u < count; u++)
      note_home(&home[uses[u].reg], block, false);
    count = vinst_writes(inst_at(shorten, i), uses);
    for (unsigned u = 0; u < count; u++)
      note_home(&home[uses[u].reg], block, true);
  }
  return home;
}

static bool is_own(const VInst *vinst, const int32_t *home, uint32_t block) {
  VRegUse uses[8];
  int32_t preds[2];
  unsigned count = vinst_writes(vinst, uses);
  return count == 1 && vinst_pred_writes(vinst, preds) == 0 && home[uses[0].reg] == (int32_t)block;
}

static void rewrite(Shortener *shorten) {
  const Flow *flow = &shorten->flow;
  g_autofree int32_t *home = find_homes(shorten);
  VEdit edit;
  vedit_init(&edit, shorten->vkernel);
  for (uint32_t b = 0; b < flow->nblocks; b++)
    for (uint32_t i = flow->first[b]; i < flow->first[b + 1]; i++) {
      VInst vinst = *inst_at(shorten, i);
      bool branches = is_plain_branch(&vinst);
      edit.moved[i] = edit.insts->len;
      if (branches && shorten->drop_branch[b])
        continue;
      if (!branches && shorten->guard[b] != VPRED_TRUE) {
        vinst.guard = shorten->guard[b];
        vinst.inst.flags |= shorten->guard_not[b] ? INST_GUARD_NOT : 0;
        vinst.own = is_own(&vinst, home, b);
      }
      g_array_append_val(edit.insts, vinst);
    }
  vedit_finish(&edit, shorten->vkernel);
}

void short_branches_predicate(VKernel *vkernel) {
  Shortener shorten = {.vkernel = vkernel};
  vkernel_flow(vkernel, &shorten.flow);
  uint32_t n = shorten.flow.nblocks;
  shorten.guard = g_new(int32_t, n + 1);
  shorten.guard_not = g_new0(uint8_t, n + 1);
  shorten.drop_branch = g_new0(uint8_t, n + 1);
  for (uint32_t b = 0; b < n; b++)
    shorten.guard[b] = VPRED_TRUE;
  bool found = false;
  for (uint32_t b = 0; b < n; b++) {
    predicate_branch(&shorten, b);
    found |= shorten.drop_branch[b];
  }
  if (found)
    rewrite(&shorten);
  flow_clear(&shorten.flow);
  g_free(shorten.guard);
  g_free(shorten.guard_not);
  g_free(shorten.drop_branch);
}
