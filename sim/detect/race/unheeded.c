#include "sim/detect/race/unheeded.h"

#include "sim/detect/race/decides.h"
#include "sim/detect/race/reaching.h"

typedef struct Search {
  const Kernel *kernel;
  const Cfg *cfg;
  uint32_t access;
} Search;

/* What an instruction does to a word as a lock would be taken or given back. */
typedef struct LockStep {
  Origin place;
  Origin from, to; /* what it expects there: of a compare-and-swap only; what it leaves there */
} LockStep;

static bool is_atomic(const Inst *inst, AtomOp mode) {
  return (inst->op == OP_ATOM || inst->op == OP_ATOMS || inst->op == OP_RED) && inst->mode == mode;
}

static bool stores(const Inst *inst) {
  return is_atomic(inst, ATOM_EXCH) || ((inst->op == OP_ST || inst->op == OP_STS) && inst->sem != SEM_WEAK);
}

static Origin origin(const Search *search, uint32_t pc, int16_t operand) {
  return reaching_origin(search->kernel, search->cfg, pc, operand);
}

static LockStep step_at(const Search *search, uint32_t pc) {
  const Inst *inst = &search->kernel->insts[pc];
  bool swaps = is_atomic(inst, ATOM_CAS);
  return (LockStep){.place = origin(search, pc, inst->a),
                    .from = swaps ? origin(search, pc, inst->b) : (Origin){.known = false},
                    .to = origin(search, pc, swaps ? inst->c : inst->b)};
}

static bool is_number(const Origin *origin) {
  return origin->known && origin->constant && origin->value.kind == CONST_IMMEDIATE;
}

/* ---- ways ---- */

/* The instructions that ways from `from` come to which end at `past`. */
static bool *reach(const Search *search, uint32_t from, uint32_t past) {
  bool *reached = g_new0(bool, search->kernel->ninsts);
  g_autoptr(GArray) next = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  g_array_append_val(next, from);
  for (guint i = 0; i < next->len; i++) {
    uint32_t pc = g_array_index(next, uint32_t, i);
    const CfgBlock *block = cfg_block(search->cfg, search->cfg->block_of[pc]);
    bool open = true;
    for (; open && pc <= block->last; pc++) {
      open = !reached[pc] && pc != past;
      reached[pc] = true;
    }
    for (guint k = 0; open && k < block->successors->len; k++) {
      uint32_t first = cfg_block(search->cfg, g_array_index(block->successors, uint32_t, k))->first;
      g_array_append_val(next, first);
    }
  }
  return reached;
}

static bool is_passed(const Search *search, uint32_t attempt) {
  g_autofree bool *without = reach(search, 0, attempt);
  return !without[search->access];
}

/* Behind the access the word is set back to what it was before the attempt. */
static bool is_set_back(const Search *search, uint32_t attempt) {
  const Kernel *kernel = search->kernel;
  LockStep taken = step_at(search, attempt);
  g_autofree bool *behind = reach(search, search->access, attempt);
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    const Inst *inst = &kernel->insts[pc];
    if (!behind[pc] || pc == attempt || !stores(inst) || inst->imm != kernel->insts[attempt].imm ||
        op_info[inst->op].unit != op_info[kernel->insts[attempt].op].unit)
      continue;
    LockStep back = step_at(search, pc);
    if (reaching_is_same(&back.place, &taken.place) && is_number(&back.to) &&
        (taken.from.known ? reaching_is_same(&back.to, &taken.from) : back.to.value.value == 0))
      return true;
  }
  return false;
}

/* ---- attempts ---- */

static bool is_attempt(const Search *search, uint32_t pc) {
  const Inst *inst = &search->kernel->insts[pc];
  bool swaps = is_atomic(inst, ATOM_CAS);
  if ((!swaps && !is_atomic(inst, ATOM_EXCH)) || inst_is_guarded(inst) || inst->width != WIDTH_32)
    return false;
  LockStep step = step_at(search, pc);
  if (!is_number(&step.to) || (swaps && !is_number(&step.from)) || (!swaps && step.to.value.value == 0))
    return false;
  return !swaps || step.from.value.value != step.to.value.value;
}

int32_t unheeded_attempt(const Kernel *kernel, uint32_t pc) {
  g_autoptr(Cfg) cfg = NULL;
  g_autofree bool *decides = NULL, *accesses = g_new0(bool, kernel->ninsts);
  accesses[pc] = true;
  for (uint32_t at = kernel->ninsts; at-- > 0;) {
    if (!is_atomic(&kernel->insts[at], ATOM_CAS) && !is_atomic(&kernel->insts[at], ATOM_EXCH))
      continue;
    cfg = cfg ? cfg : cfg_new(kernel);
    Search search = {kernel, cfg, pc};
    if (!is_attempt(&search, at) || !is_passed(&search, at) || !is_set_back(&search, at))
      continue;
    decides = decides ? decides : decides_find(kernel, accesses, true, NULL);
    if (!decides[at])
      return (int32_t)at;
  }
  return NO_TARGET;
}
