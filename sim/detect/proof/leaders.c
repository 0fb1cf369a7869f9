#include "sim/detect/proof/leaders.h"

/* A shuffle and what stands before it in its basic block, whose first instruction is `first`. */
typedef struct Search {
  const Kernel *kernel;
  uint32_t first;
} Search;

static bool writes_register(const Search *search, uint32_t pc, int16_t reg) {
  RegList writes = inst_writes(&search->kernel->insts[pc], search->kernel->nregs);
  for (unsigned i = 0; i < writes.count; i++)
    if (writes.reg[i] == reg)
      return true;
  return false;
}

/* The newest instruction before `pc` that writes the register; -1: none in the block, or it is guarded. */
static int64_t writer_before(const Search *search, uint32_t pc, int16_t reg) {
  while (reg >= 0 && pc-- > search->first)
    if (writes_register(search, pc, reg))
      return inst_is_guarded(&search->kernel->insts[pc]) ? -1 : (int64_t)pc;
  return -1;
}

/* A number that is only moved keeps its value: where it comes from. */
static int64_t origin_before(const Search *search, uint32_t pc, int16_t reg) {
  int64_t writer = writer_before(search, pc, reg);
  while (writer >= 0 && search->kernel->insts[writer].op == OP_MOV)
    writer = writer_before(search, (uint32_t)writer, search->kernel->insts[writer].a);
  return writer;
}

/* FLO of the ballot of all who are there. */
static bool picks_leader(const Search *search, int64_t pc, uint32_t *from) {
  const Inst *inst = pc >= 0 ? &search->kernel->insts[pc] : NULL;
  if (!inst || inst->op != OP_FLO || inst->flags & INST_SH || inst->type == TYPE_S32)
    return false;
  int64_t vote = origin_before(search, (uint32_t)pc, inst->a);
  const Inst *ballot = vote >= 0 ? &search->kernel->insts[vote] : NULL;
  *from = (uint32_t)MAX(vote, 0);
  return ballot && ballot->op == OP_VOTE && ballot->psrc[0] == PRED_TRUE && !(ballot->psrc_not & 1) &&
         !(ballot->flags & INST_HAS_MASK);
}

static bool changes_groups(const Inst *inst) {
  return op_info[inst->op].flags & (OPF_SWITCH | OPF_BRANCH | OPF_CONTROL) || inst->op == OP_BREAK ||
         op_info[inst->op].unit == UNIT_BARRIER;
}

/* True if `inst` compares the leader's number, which `leader` works out, with a register: that one. */
static bool compares(const Search *search, uint32_t pc, int64_t leader, int16_t *number) {
  const Inst *inst = &search->kernel->insts[pc];
  if (inst->op != OP_ISETP || inst->cmp != CMP_EQ || inst_is_guarded(inst) || inst->psrc[0] != PRED_TRUE ||
      inst->psrc_not & 1 || inst->flags & (INST_NEG_A | INST_NEG_B | INST_CARRY_IN) || inst->a < 0 || inst->b < 0)
    return false;
  bool a = origin_before(search, pc, inst->a) == leader, b = origin_before(search, pc, inst->b) == leader;
  *number = a ? inst->b : inst->a;
  return a != b;
}

/* The comparison between `from` and the shuffle that makes the leader's predicate, which holds still behind it. */
static bool find_predicate(const Search *search, uint32_t shuffle, int64_t leader, Leader *found, uint32_t *at) {
  for (uint32_t pc = shuffle; pc-- > (uint32_t)leader;) {
    int16_t number;
    if (!compares(search, pc, leader, &number))
      continue;
    uint8_t predicate = search->kernel->insts[pc].pdst;
    bool stays = predicate < PRED_TRUE;
    for (uint32_t later = pc + 1; later < shuffle; later++)
      stays &= !(inst_pred_writes(&search->kernel->insts[later]) >> predicate & 1) &&
               !writes_register(search, later, number);
    *found = (Leader){.known = stays, .predicate = predicate, .number = number};
    *at = pc;
    return stays;
  }
  return false;
}

static bool look_at(const Search *search, uint32_t shuffle, Leader *found, uint32_t *at) {
  const Inst *inst = &search->kernel->insts[shuffle];
  if (inst->op != OP_SHFL || inst->mode != SHFL_IDX || inst_is_guarded(inst))
    return false;
  int64_t leader = origin_before(search, shuffle, inst->b);
  uint32_t from;
  if (!picks_leader(search, leader, &from) || !find_predicate(search, shuffle, leader, found, at))
    return false;
  for (uint32_t pc = from; pc < shuffle; pc++)
    if (changes_groups(&search->kernel->insts[pc]))
      return false;
  return true;
}

Leader *leaders_find(const Kernel *kernel, Liveness *live) {
  Leader *leaders = NULL;
  g_autoptr(Cfg) cfg = NULL;
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    if (kernel->insts[pc].op != OP_SHFL)
      continue;
    cfg = cfg ? cfg : cfg_new(kernel);
    const CfgBlock *block = g_ptr_array_index(cfg->blocks, cfg->block_of[pc]);
    Search search = {kernel, block->first};
    Leader found;
    uint32_t at;
    if (!look_at(&search, pc, &found, &at))
      continue;
    leaders = leaders ? leaders : g_new0(Leader, kernel->ninsts);
    leaders[pc] = found;
    for (uint32_t i = at + 1; i <= pc; i++) {
      live->live_preds[i] |= 1u << found.predicate;
      regset_put(&live->live_regs[i], (unsigned)found.number);
    }
  }
  return leaders;
}
