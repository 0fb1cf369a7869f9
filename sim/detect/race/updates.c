#include "sim/detect/race/updates.h"

#include <string.h>

#include "sim/detect/race/reaching.h"

enum { DEPTH_MAX = 6, STEPS_MAX = 512 };

typedef struct Search {
  const Kernel *kernel;
  const Cfg *cfg;
  GArray *updates; /* Update */
  uint32_t store;
} Search;

bool updates_is_strong(const Inst *inst, uint32_t flag) {
  uint32_t flags = op_info[inst->op].flags;
  bool plain = flags & flag && !(flags & (OPF_ATOMIC | OPF_LOCK | OPF_UNLOCK));
  return plain && inst->sem != SEM_WEAK && (inst->width == WIDTH_32 || inst->width == WIDTH_64) &&
         (op_info[inst->op].unit == UNIT_GLOBAL || op_info[inst->op].unit == UNIT_SHARED);
}

/* ---- what depends on the load ---- */

static void want_all(GArray *wants, const Inst *inst, uint32_t pc) {
  RegList reads = inst_reads(inst);
  for (unsigned i = 0; i < reads.count && wants->len < STEPS_MAX; i++) {
    Reached next = {.pc = pc, .reg = reads.reg[i]};
    if (next.reg >= 0)
      g_array_append_val(wants, next);
  }
  for (uint32_t rest = inst_pred_reads(inst); rest && wants->len < STEPS_MAX; rest &= rest - 1) {
    Reached next = {.pc = pc, .mask = rest & -rest, .reg = -1};
    g_array_append_val(wants, next);
  }
}

/* By way of registers and addresses; also where that isn't known. */
static bool depends(const Search *search, Reached first, uint32_t load) {
  g_autoptr(GArray) wants = g_array_new(FALSE, FALSE, sizeof(Reached));
  g_autofree bool *seen = g_new0(bool, search->kernel->ninsts);
  bool whole;
  g_array_append_val(wants, first);
  for (guint i = 0; i < wants->len; i++) {
    Reached want = g_array_index(wants, Reached, i);
    g_autoptr(GArray) writers = reaching_writers(search->kernel, search->cfg, &want, &whole);
    for (guint k = 0; k < writers->len; k++) {
      uint32_t pc = g_array_index(writers, uint32_t, k);
      if (pc == load)
        return true;
      if (!seen[pc])
        want_all(wants, &search->kernel->insts[pc], pc);
      seen[pc] = true;
    }
  }
  return wants->len >= STEPS_MAX;
}

static bool operand_depends(const Search *search, uint32_t pc, int16_t operand, bool wide, uint32_t load) {
  if (operand < 0)
    return false;
  return depends(search, (Reached){.pc = pc, .reg = operand}, load) ||
         (wide && depends(search, (Reached){.pc = pc, .reg = (int16_t)(operand + 1)}, load));
}

/* ---- whether the store is come to ---- */

static void spread(const Cfg *cfg, bool *reached, bool backwards) {
  for (bool more = true; more;) {
    more = false;
    for (guint i = 0; i < cfg->blocks->len; i++) {
      const CfgBlock *block = cfg_block(cfg, i);
      const GArray *next = backwards ? block->predecessors : block->successors;
      for (guint k = 0; reached[i] && k < next->len; k++) {
        bool *there = &reached[g_array_index(next, uint32_t, k)];
        more |= !*there;
        *there = true;
      }
    }
  }
}

/* Some guard on a way from the load to the store hangs on what was loaded. */
static bool decides(const Search *search, uint32_t load, uint32_t store) {
  const Cfg *cfg = search->cfg;
  uint32_t from = cfg->block_of[load], to = cfg->block_of[store];
  g_autofree bool *behind = g_new0(bool, cfg->blocks->len), *before = g_new0(bool, cfg->blocks->len);
  bool straight = from == to && load < store;
  behind[from] = before[to] = true;
  if (!straight) {
    spread(cfg, behind, false);
    spread(cfg, before, true);
  }
  for (uint32_t pc = 0; pc < search->kernel->ninsts; pc++) {
    const Inst *inst = &search->kernel->insts[pc];
    uint32_t block = cfg->block_of[pc];
    bool between = behind[block] && before[block] && (!straight || (pc > load && pc <= store));
    bool chooses = pc == store || op_info[inst->op].flags & (OPF_BRANCH | OPF_CONTROL);
    if (between && chooses && inst_is_guarded(inst) &&
        depends(search, (Reached){.pc = pc, .mask = inst_pred_reads(inst), .reg = -1}, load))
      return true;
  }
  return false;
}

/* ---- from the store back to the load ---- */

static UpdateKind both(UpdateKind one, UpdateKind other) {
  if (one == UPDATE_NOTHING || one == other)
    return other;
  bool changes = one == UPDATE_ADDS || one == UPDATE_FLIPS || one == UPDATE_MIXES;
  bool also = other == UPDATE_ADDS || other == UPDATE_FLIPS || other == UPDATE_MIXES;
  return changes && also ? UPDATE_MIXES : UPDATE_OTHER;
}

/* A maximum or minimum of its operands as they are. */
static UpdateKind extreme_kind(const Inst *inst, unsigned place) {
  enum { CHANGES = INST_NEG_A | INST_NEG_B | INST_ABS_A | INST_ABS_B };
  if (place > 1 || inst->psrc[0] != PRED_TRUE || inst->flags & CHANGES)
    return UPDATE_OTHER;
  return inst->psrc_not & 1 ? UPDATE_RAISES : UPDATE_LOWERS;
}

static DataType extreme_type(const Inst *inst) {
  bool is_unsigned = inst->type == TYPE_U32 || inst->type == TYPE_U64;
  switch (inst->op) {
  case OP_FMNMX: return TYPE_F32;
  case OP_DMNMX: return TYPE_F64;
  case OP_IMNMX64: return is_unsigned ? TYPE_U64 : TYPE_S64;
  default: return is_unsigned ? TYPE_U32 : TYPE_S32;
  }
}

/* What the instruction does to operand `place` (0: a). */
static UpdateKind kind_of(const Inst *inst, unsigned place) {
  if (inst->flags & (INST_SAT | INST_HI | INST_CARRY_IN))
    return UPDATE_OTHER;
  switch (inst->op) {
  case OP_IADD:
  case OP_IADD64:
  case OP_FADD:
  case OP_DADD: return place < 2 && !(inst->flags & (INST_ABS_A | INST_ABS_B)) ? UPDATE_ADDS : UPDATE_OTHER;
  case OP_ISUB:
  case OP_ISUB64: return place < 2 ? UPDATE_ADDS : UPDATE_OTHER;
  case OP_IMAD:
  case OP_IMAD64:
  case OP_FFMA:
  case OP_DFMA: return place == 2 ? UPDATE_ADDS : UPDATE_OTHER;
  case OP_IMUL:
  case OP_IMUL64:
  case OP_FMUL:
  case OP_DMUL: return place < 2 && !(inst->flags & (INST_ABS_A | INST_ABS_B)) ? UPDATE_SCALES : UPDATE_OTHER;
  case OP_IMNMX:
  case OP_IMNMX64:
  case OP_FMNMX:
  case OP_DMNMX: return extreme_kind(inst, place);
  case OP_LOP:
  case OP_LOP64:
    if (place > 1 || (inst->lop != LOP_XOR && inst->flags & (place ? INST_INV_B : INST_INV_A)))
      return UPDATE_OTHER;
    return inst->lop == LOP_XOR   ? UPDATE_FLIPS
           : inst->lop == LOP_OR  ? UPDATE_SETS
           : inst->lop == LOP_AND ? UPDATE_CLEARS
                                  : UPDATE_OTHER;
  default: return UPDATE_OTHER;
  }
}

static unsigned operands_of(const Inst *inst) {
  bool product = inst->op == OP_IMAD || inst->op == OP_IMAD64 || inst->op == OP_FFMA || inst->op == OP_DFMA;
  return product ? 3 : 2;
}

static bool is_copy(const Inst *inst) { return inst->op == OP_MOV || inst->op == OP_MOV64; }

static void come_to(Search *search, uint32_t load, UpdateKind kind) {
  const Inst *first = &search->kernel->insts[load], *store = &search->kernel->insts[search->store];
  if (kind >= UPDATE_NOTHING || first->width != store->width || op_info[first->op].unit != op_info[store->op].unit ||
      decides(search, load, search->store))
    return;
  Update update = {.load = load, .store = search->store, .kind = kind};
  g_array_append_val(search->updates, update);
}

static void follow(Search *search, uint32_t pc, int16_t operand, UpdateKind kind, unsigned depth);

/* `place`: which operand of the instruction is followed; the others mustn't depend on what is found. */
static void follow_place(Search *search, uint32_t pc, unsigned place, UpdateKind kind, unsigned depth) {
  const Inst *inst = &search->kernel->insts[pc];
  const int16_t operands[] = {inst->a, inst->b, inst->c};
  UpdateKind done = kind_of(inst, place);
  if (done == UPDATE_OTHER || operands[place] < 0)
    return;
  guint found = search->updates->len;
  follow(search, pc, operands[place], both(kind, done), depth);
  for (guint i = search->updates->len; i-- > found;) {
    uint32_t load = g_array_index(search->updates, Update, i).load;
    bool wide = search->kernel->insts[load].width == WIDTH_64, other = false;
    for (unsigned k = 0; k < operands_of(inst); k++)
      other |= k != place && operand_depends(search, pc, operands[k], wide, load);
    Update *update = &g_array_index(search->updates, Update, i);
    update->floats |= (op_info[inst->op].flags & OPF_FLOAT) != 0;
    update->type = extreme_type(inst);
    if (other)
      g_array_remove_index(search->updates, i);
  }
}

static void follow(Search *search, uint32_t pc, int16_t operand, UpdateKind kind, unsigned depth) {
  int32_t writer =
      operand < 0 || depth == DEPTH_MAX ? NO_TARGET : reaching_only(search->kernel, search->cfg, pc, operand);
  if (writer == NO_TARGET)
    return;
  const Inst *inst = &search->kernel->insts[writer];
  if (updates_is_strong(inst, OPF_LOAD))
    come_to(search, (uint32_t)writer, kind);
  else if (is_copy(inst))
    follow(search, (uint32_t)writer, inst->a, kind, depth + 1);
  else
    for (unsigned place = 0; place < 3; place++)
      follow_place(search, (uint32_t)writer, place, kind, depth + 1);
}

GArray *updates_find(const Kernel *kernel) {
  g_autoptr(Cfg) cfg = NULL;
  Search search = {.kernel = kernel, .updates = g_array_new(FALSE, FALSE, sizeof(Update))};
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    if (!updates_is_strong(&kernel->insts[pc], OPF_STORE))
      continue;
    cfg = cfg ? cfg : cfg_new(kernel);
    search.cfg = cfg;
    search.store = pc;
    follow(&search, pc, kernel->insts[pc].b, UPDATE_NOTHING, 0);
  }
  if (cfg)
    updates_find_chosen(kernel, cfg, search.updates);
  return search.updates;
}

/* ---- what is lost ---- */

static double as_double(const uint32_t *words) {
  double value;
  memcpy(&value, words, sizeof value);
  return value;
}

static float as_float(const uint32_t *words) {
  float value;
  memcpy(&value, words, sizeof value);
  return value;
}

static uint64_t as_wide(const uint32_t *words) { return (uint64_t)words[1] << 32 | words[0]; }

static bool is_less(DataType type, const uint32_t *one, const uint32_t *other) {
  switch (type) {
  case TYPE_S32: return (int32_t)one[0] < (int32_t)other[0];
  case TYPE_F32: return as_float(one) < as_float(other);
  case TYPE_F64: return as_double(one) < as_double(other);
  case TYPE_S64: return (int64_t)as_wide(one) < (int64_t)as_wide(other);
  case TYPE_U64: return as_wide(one) < as_wide(other);
  default: return one[0] < other[0];
  }
}

bool updates_outdoes(const Update *update, const uint32_t *stored, const uint32_t *now) {
  return update->kind == UPDATE_RAISES ? !is_less(update->type, stored, now) : !is_less(update->type, now, stored);
}

bool updates_keeps(const Update *update, const UpdateValues *values, uint32_t word) {
  uint32_t now = values->now[word], stored = values->stored[word];
  if (update_is_extreme(update))
    return updates_outdoes(update, values->stored, values->now);
  if (update->kind == UPDATE_SETS)
    return (now & ~stored) == 0;
  if (update->kind == UPDATE_CLEARS)
    return (stored & ~now) == 0;
  return now == values->loaded[word];
}

/* ---- as an atomic operation ---- */

static bool writes_between(const Kernel *kernel, int16_t reg, uint32_t from, uint32_t end) {
  for (uint32_t pc = from; reg >= 0 && pc < end; pc++)
    if (inst_writes_to(&kernel->insts[pc], kernel->nregs, reg))
      return true;
  return false;
}

static bool have_one_guard(const Kernel *kernel, uint32_t load, uint32_t store) {
  const Inst *first = &kernel->insts[load], *last = &kernel->insts[store];
  bool same = first->guard == last->guard && !((first->flags ^ last->flags) & INST_GUARD_NOT);
  for (uint32_t pc = load; pc < store && inst_is_guarded(first); pc++)
    same &= !(inst_pred_writes(&kernel->insts[pc]) >> first->guard & 1);
  return same;
}

/* Each has loaded the address into its register anew, from one constant. */
static bool have_one_constant(const Kernel *kernel, const Cfg *cfg, uint32_t load, uint32_t store) {
  int16_t one = kernel->insts[load].a, other = kernel->insts[store].a;
  int32_t first = one < 0 ? NO_TARGET : reaching_only(kernel, cfg, load, one),
          last = other < 0 ? NO_TARGET : reaching_only(kernel, cfg, store, other);
  if (first == NO_TARGET || last == NO_TARGET)
    return false;
  const Inst *from = &kernel->insts[first], *then = &kernel->insts[last];
  return is_copy(from) && from->op == then->op && from->a < 0 && from->a == then->a && from->dst == one &&
         then->dst == other;
}

static bool have_one_address(const Kernel *kernel, const Cfg *cfg, uint32_t load, uint32_t store) {
  const Inst *first = &kernel->insts[load], *last = &kernel->insts[store];
  bool wide = first->flags & INST_ADDR64;
  if (first->imm != last->imm || (first->flags ^ last->flags) & INST_ADDR64)
    return false;
  bool same = first->a == last->a && !writes_between(kernel, first->a, load, store) &&
              !(wide && first->a >= 0 && writes_between(kernel, (int16_t)(first->a + 1), load, store));
  return same || have_one_constant(kernel, cfg, load, store);
}

static bool name_operation(const Inst *inst, const Update *update, AtomicUpdate *atomic) {
  enum { CHANGES = INST_NEG_A | INST_NEG_B | INST_INV_A | INST_INV_B | INST_CARRY_OUT };
  if (inst->flags & CHANGES)
    return false;
  atomic->op = update->kind == UPDATE_RAISES   ? ATOM_MAX
               : update->kind == UPDATE_LOWERS ? ATOM_MIN
               : inst->op != OP_LOP            ? ATOM_ADD
               : inst->lop == LOP_AND          ? ATOM_AND
               : inst->lop == LOP_OR           ? ATOM_OR
                                               : ATOM_XOR;
  atomic->type = update_is_extreme(update) ? update->type : inst->op == OP_FADD ? TYPE_F32 : TYPE_U32;
  return inst->op == OP_IADD || inst->op == OP_FADD || inst->op == OP_LOP || inst->op == OP_IMNMX;
}

/* The other value is there at the load, and the store follows it wherever it is greater, or smaller. */
static bool chosen_as_atomic(const Kernel *kernel, const Cfg *cfg, const Update *update, AtomicUpdate *atomic) {
  const Inst *load = &kernel->insts[update->load], *store = &kernel->insts[update->store];
  *atomic = (AtomicUpdate){.load = update->load,
                           .store = update->store,
                           .operand = store->b,
                           .op = update->kind == UPDATE_RAISES ? ATOM_MAX : ATOM_MIN,
                           .type = update->type};
  Origin before = reaching_origin(kernel, cfg, update->load, store->b),
         then = reaching_origin(kernel, cfg, update->store, store->b);
  return load->width == WIDTH_32 && (update->type == TYPE_S32 || update->type == TYPE_U32) &&
         update->load < update->store && !inst_is_guarded(load) && reaching_is_same(&before, &then) &&
         !writes_between(kernel, store->b, update->load, update->store) &&
         have_one_address(kernel, cfg, update->load, update->store);
}

bool updates_as_atomic(const Kernel *kernel, const Update *update, AtomicUpdate *atomic) {
  g_autoptr(Cfg) cfg = cfg_new(kernel);
  if (update->chosen)
    return chosen_as_atomic(kernel, cfg, update, atomic);
  const Inst *load = &kernel->insts[update->load], *store = &kernel->insts[update->store];
  int32_t pc = reaching_only(kernel, cfg, update->store, store->b);
  if (load->width != WIDTH_32 || cfg->block_of[update->load] != cfg->block_of[update->store] ||
      pc <= (int32_t)update->load || pc >= (int32_t)update->store)
    return false;
  const Inst *inst = &kernel->insts[pc];
  *atomic = (AtomicUpdate){.load = update->load, .store = update->store};
  bool first = inst->a == load->dst;
  atomic->operand = first ? inst->b : inst->a;
  return (first || inst->b == load->dst) && name_operation(inst, update, atomic) &&
         !writes_between(kernel, load->dst, update->load + 1, (uint32_t)pc) &&
         !writes_between(kernel, atomic->operand, update->load, (uint32_t)pc) &&
         have_one_guard(kernel, update->load, update->store) &&
         have_one_address(kernel, cfg, update->load, update->store);
}
