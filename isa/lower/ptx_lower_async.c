/* Asynchronous copies to shared memory and barriers there (mbarrier). The words of a barrier, and what is done to
 * them, are those of ptxas 13.0 for sm_80 and sm_90 (sim/core/mbarrier.h). */
#include "isa/lower/ptx_lower_state.h"

enum { COPIES_FROM = 80, HOPPER = 90 };

static bool is_hopper(const Lower *lower) { return lower->target->capability >= HOPPER; }

/* -- addresses, order -- */

/* A barrier's address. A generic one is taken off the window of shared memory: any other becomes a fault. */
static bool barrier_address(Lower *lower, unsigned where, LowerAddress *address) {
  const PtxOperand *operand = lower_operand(lower, where);
  *address = lower_address_in(lower, operand, lower->inst->mods.space);
  if (lower->kernel->ranked && lower->inst->mods.space == PTX_SHARED_CLUSTER)
    return true; /* perhaps another block's: a generic address */
  if (address->space == 0) {
    address->base = lower_to_temp(lower, OP_IADD, TYPE_U32, address->base, lower_imm(lower, 0u - SHARED_WINDOW));
    address->space = PTX_SHARED;
    address->wide = false;
  }
  return address->space == PTX_SHARED ||
         lower_error(lower, operand->at, "an mbarrier lies in shared memory, this is `.%s`",
                     ptx_word_text((PtxWord)address->space));
}

static MemScope scope_of(const PtxInst *inst) { return inst->mods.scope == PTX_CLUSTER ? SCOPE_GPU : SCOPE_CTA; }

/* An access to a barrier, or to its high word. */
static VInst *reach(Lower *lower, Opcode op, const LowerAddress *address, MemWidth width, MemSem sem) {
  VInst *vinst = lower_op0(lower, op);
  lower_set_memory(lower, vinst, address, width);
  vinst->inst.sem = (uint8_t)sem;
  vinst->inst.scope = (uint8_t)scope_of(lower->inst);
  return vinst;
}

static LowerAddress high_word(const LowerAddress *address) {
  LowerAddress high = *address;
  high.offset += 4;
  return high;
}

static void add_to(Lower *lower, const LowerAddress *address, Value dst, Value number) {
  VInst *vinst = reach(lower, OP_ATOMS, address, WIDTH_32, SEM_RELAXED);
  vinst->dst = dst.index;
  vinst->dst_row = dst.row;
  vinst->b = number.index;
  vinst->b_row = number.row;
  vinst->inst.mode = ATOM_ADD;
  vinst->inst.type = TYPE_U32;
}

/* A number as a pair of registers. */
static Value widen(Lower *lower, Value number) {
  Value pair = lower_temp(lower, 2);
  lower_move(lower, pair, number, false);
  lower_move(lower, lower_row(pair, 1), lower_imm(lower, 0), false);
  return pair;
}

/* -- arrivals -- */

/* An arrival, which has no result where the barrier may be another block's. */
static Opcode arrival_op(const LowerAddress *address) { return address->space == PTX_SHARED ? OP_ATOMS : OP_RED; }

/* OP_ATOMS, OP_RED, or OP_COPYARRIVE, which has no result. */
static void arrive_at(Lower *lower, Opcode op, const LowerAddress *address, Value state, uint8_t how, Value number) {
  MemSem sem = lower->inst->mods.sem == PTX_RELAXED ? SEM_RELAXED : SEM_RELEASE;
  VInst *vinst = reach(lower, op, address, WIDTH_64, sem);
  vinst->dst = state.index;
  vinst->dst_row = state.row;
  vinst->b = number.index;
  vinst->b_row = number.row;
  vinst->inst.mode = ATOM_ARRIVE;
  vinst->inst.lop = is_hopper(lower) ? how : MBARRIER_BEFORE_HOPPER;
  vinst->inst.type = TYPE_U64;
  vinst->inst.wide = WIDE_DST | WIDE_B;
}

/* sm_80: `.noComplete` adds to both words, or to the high one; what it tells of the phase is in that. */
static void arrive_without_end(Lower *lower, const LowerAddress *address, Value state, bool drops) {
  Value number = lower_value(lower, 2, PTX_U32), old = VALUE_SINK;
  LowerAddress high = high_word(address);
  if (drops)
    add_to(lower, address, VALUE_SINK, number);
  if (state.index != VREG_SINK)
    old = lower_temp(lower, 1);
  add_to(lower, &high, old, number);
  if (state.index == VREG_SINK)
    return;
  lower_move(lower, state, old, false);
  lower_move(lower, lower_row(state, 1), old, false);
}

static void arrive_before_hopper(Lower *lower, const LowerAddress *address, Value state, bool drops) {
  const PtxInst *inst = lower->inst;
  if (inst->mods.mode2 == PTX_EXPECT_TX || (inst->mods.mode2 != PTX_NOCOMPLETE && inst->noperands == 3)) {
    lower_needs(lower, HOPPER, inst->mods.mode2 ? "mbarrier.arrive.expect_tx" : "a count of mbarrier.arrive");
    return;
  }
  if (inst->mods.mode2 == PTX_NOCOMPLETE) {
    arrive_without_end(lower, address, state, drops);
    return;
  }
  if (drops)
    add_to(lower, address, VALUE_SINK, lower_imm(lower, 1));
  arrive_at(lower, OP_ATOMS, address, state, 0, lower_imm64(lower, 0));
}

static void arrive(Lower *lower) {
  const PtxInst *inst = lower->inst;
  bool drops = inst->mods.mode == PTX_ARRIVE_DROP, expects = inst->mods.mode2 == PTX_EXPECT_TX;
  LowerAddress address;
  if (!barrier_address(lower, 1, &address))
    return;
  Value state = lower_result(lower, 0, PTX_B64).value;
  if (!is_hopper(lower)) {
    arrive_before_hopper(lower, &address, state, drops);
    return;
  }
  bool counts = inst->noperands == 3 && !expects;
  unsigned how =
      (counts ? MBARRIER_COUNT : MBARRIER_ONE) | (expects ? MBARRIER_EXPECTS : 0) | (drops ? MBARRIER_DROPS : 0);
  Value number = inst->noperands == 3 ? widen(lower, lower_value(lower, 2, PTX_U32)) : lower_imm64(lower, 0);
  arrive_at(lower, arrival_op(&address), &address, state, (uint8_t)how, number);
}

/* `expect_tx` and `complete_tx`: bytes alone. */
static void count_bytes(Lower *lower) {
  bool expects = lower->inst->mods.mode == PTX_EXPECT_TX;
  LowerAddress address;
  if (!lower_needs(lower, HOPPER, "mbarrier.expect_tx") || !barrier_address(lower, 0, &address))
    return;
  Value number = widen(lower, lower_value(lower, 1, PTX_U32));
  arrive_at(lower, arrival_op(&address), &address, VALUE_SINK, expects ? MBARRIER_EXPECTS : MBARRIER_COMPLETES,
            number);
}

/* -- the phase -- */

/* p = whether the phase of the barrier isn't that of bit 31 of `state`. */
static void look(Lower *lower, const LowerAddress *address, Value state, int32_t p) {
  MemSem sem = lower->inst->mods.sem == PTX_RELAXED ? SEM_RELAXED : SEM_ACQUIRE;
  bool tries = lower->inst->mods.mode == PTX_TRY_WAIT && lower->inst->noperands < 4 && is_hopper(lower);
  LowerAddress high = high_word(address);
  Value now = lower_temp(lower, 1), differs = lower_temp(lower, 1);
  VInst *vinst = reach(lower, OP_LDS, &high, WIDTH_32, sem);
  vinst->inst.lop = !is_hopper(lower) ? 0 : tries ? LDS_TRIES_PHASE : LDS_CHECKS_PHASE;
  vinst->dst = now.index;
  lower_logic(lower, LOP_XOR, differs, now, state);
  vinst = lower_op2(lower, OP_ISETP, VALUE_SINK, differs, lower_imm(lower, 0));
  vinst->inst.mode = tries ? ISETP_OF_TRY : 0;
  vinst->inst.cmp = CMP_LT;
  vinst->inst.type = TYPE_S32;
  vinst->pdst = p;
}

/* The high word of a state, or a parity where that has its phase. */
static Value state_of(Lower *lower) {
  if (lower->inst->mods.mode2 != PTX_PARITY)
    return lower_row(lower_value(lower, 2, PTX_B64), 1);
  return lower_to_temp(lower, OP_SHL, TYPE_U32, lower_value(lower, 2, PTX_U32), lower_imm(lower, 31));
}

/* `try_wait` looks; if it may sleep for a given time it does, and looks once more. */
static void test(Lower *lower) {
  bool tries = lower->inst->mods.mode == PTX_TRY_WAIT, sleeps = lower->inst->noperands == 4;
  LowerAddress address;
  if ((tries && !lower_needs(lower, HOPPER, "mbarrier.try_wait")) || !barrier_address(lower, 1, &address))
    return;
  Value state = state_of(lower), time = sleeps ? lower_value(lower, 3, PTX_U32) : VALUE_SINK;
  int32_t p = lower_pred_result(lower, lower_operand(lower, 0)), skip = NO_TARGET;
  if (!sleeps || p == VPRED_SINK) {
    look(lower, &address, state, p);
    return;
  }
  skip = lower_begin_skip(lower);
  look(lower, &address, state, p);
  lower->guard = (Pred){p, true};
  lower_op1(lower, OP_NANOSLEEP, VALUE_SINK, time);
  look(lower, &address, state, p);
  lower->guard = PRED_ALWAYS;
  lower_end_skip(lower, skip);
}

static void count_pending(Lower *lower) {
  Value high = lower_row(lower_value(lower, 1, PTX_B64), 1), left = lower_temp(lower, 1);
  uint32_t all = is_hopper(lower) ? 1u << 20 : 1u << 31;
  if (is_hopper(lower))
    lower_op2(lower, OP_BFE, left, high, lower_imm(lower, 20 << 8 | 11))->inst.type = TYPE_U32;
  else
    lower_logic(lower, LOP_AND, left, high, lower_imm(lower, all - 1));
  lower_op2(lower, OP_ISUB, lower_result(lower, 0, PTX_U32).value, lower_imm(lower, all), left);
}

/* -- the word -- */

/* sm_90: minus the arrivals, from bit 1 and from bit 43 on. */
static Value new_word(Lower *lower, Value count) {
  Value word = lower_temp(lower, 2);
  Value left = lower_to_temp(lower, OP_ISUB, TYPE_U32, lower_imm(lower, 1u << 20), count);
  lower_op2(lower, OP_SHL, word, left, lower_imm(lower, 1));
  lower_op2(lower, OP_SHL, lower_row(word, 1), left, lower_imm(lower, 11));
  return word;
}

/* sm_80: minus the arrivals, from 2^30 and from 2^31. */
static Value old_word(Lower *lower, Value count) {
  Value word = lower_temp(lower, 2);
  lower_op2(lower, OP_ISUB, word, lower_imm(lower, 1u << 30), count);
  lower_op2(lower, OP_ISUB, lower_row(word, 1), lower_imm(lower, 1u << 31), count);
  return word;
}

static void initialise(Lower *lower) {
  LowerAddress address;
  if (!barrier_address(lower, 0, &address))
    return;
  Value count = lower_value(lower, 1, PTX_U32);
  Value word = is_hopper(lower) ? new_word(lower, count) : old_word(lower, count);
  VInst *vinst = reach(lower, is_hopper(lower) ? OP_ATOMS : OP_STS, &address, WIDTH_64, SEM_WEAK);
  vinst->b = word.index;
  if (is_hopper(lower)) {
    vinst->dst = VREG_SINK;
    vinst->inst.mode = ATOM_EXCH;
    vinst->inst.lop = EXCH_INITS;
    vinst->inst.type = TYPE_U64;
    vinst->inst.wide = WIDE_DST | WIDE_B;
  }
}

void lower_MBARRIER(Lower *lower, const PtxInst *inst) {
  LowerAddress unused;
  if (!lower_needs(lower, COPIES_FROM, "mbarrier"))
    return;
  switch (inst->mods.mode) {
  case PTX_INIT: initialise(lower); break;
  case PTX_INVAL: barrier_address(lower, 0, &unused); break; /* the memory may be used for something else */
  case PTX_EXPECT_TX:
  case PTX_COMPLETE_TX: count_bytes(lower); break;
  case PTX_PENDING_COUNT: count_pending(lower); break;
  case PTX_TEST_WAIT:
  case PTX_TRY_WAIT: test(lower); break;
  default: arrive(lower); break;
  }
}

/* -- copies -- */

/* Whether the operand behind the size is a predicate: then nothing is read where it is true. */
static bool ignores_source(Lower *lower, const PtxOperand *operand) {
  PtxWord type;
  if (operand->kind != PTX_OPERAND_REG)
    return false;
  lower_operand_register(lower, operand, 0, &type);
  return type == PTX_PRED;
}

/* The low bits of the address say how many of the last bytes are zeros, and a predicate whether there are any
 * others. */
static Pred shorten(Lower *lower, LowerAddress *from, unsigned bytes) {
  const PtxOperand *operand = lower_operand(lower, 3);
  if (ignores_source(lower, operand)) {
    Pred ignored = lower_pred_of(lower, operand);
    return (Pred){ignored.index, !ignored.negated};
  }
  if (operand->kind == PTX_OPERAND_INTEGER) {
    from->offset += (int32_t)((bytes - (uint32_t)operand->bits) & (bytes - 1));
    return (Pred){VPRED_TRUE, operand->bits == 0};
  }
  Value size = lower_value_of(lower, operand, PTX_U32), left = lower_temp(lower, 1);
  Value missing = lower_to_temp(lower, OP_ISUB, TYPE_U32, lower_imm(lower, bytes), size);
  lower_logic(lower, LOP_AND, left, missing, lower_imm(lower, bytes - 1));
  from->base = lower_to_temp(lower, from->wide ? OP_IADD64 : OP_IADD, from->wide ? TYPE_U64 : TYPE_U32, from->base,
                             from->wide ? widen(lower, left) : left);
  return lower_compare(lower, CMP_NE, TYPE_U32, size, lower_imm(lower, 0));
}

static bool size_of(Lower *lower, unsigned *bytes) {
  const PtxOperand *operand = lower_operand(lower, 2);
  bool longest = lower->inst->mods.cache == PTX_CG;
  *bytes = (unsigned)MIN(operand->bits, (uint64_t)UINT32_MAX);
  if (*bytes == 16 || (!longest && (*bytes == 4 || *bytes == 8)))
    return true;
  return lower_error(lower, operand->at, "cp.async.%s copies %s bytes, found %u", longest ? "cg" : "ca",
                     longest ? "16" : "4, 8 or 16", *bytes);
}

/* A copy is a load past the L1, of either kind. */
static void copy(Lower *lower) {
  unsigned bytes;
  if (!size_of(lower, &bytes))
    return;
  LowerAddress to = lower_address_in(lower, lower_operand(lower, 0), lower->inst->mods.space);
  LowerAddress from = lower_address_in(lower, lower_operand(lower, 1), PTX_GLOBAL);
  bool shortened = lower->inst->noperands == (lower->inst->mods.flags & PTX_FLAG_HINT ? 5 : 4);
  Pred some = shortened ? shorten(lower, &from, bytes) : PRED_ALWAYS;
  if (to.offset)
    to.base = lower_to_temp(lower, OP_IADD, TYPE_U32, to.base, lower_imm(lower, (uint32_t)to.offset));
  VInst *vinst = lower_op0(lower, OP_LDGSTS);
  lower_set_memory(lower, vinst, &from, bytes == 16 ? WIDTH_128 : bytes == 8 ? WIDTH_64 : WIDTH_32);
  vinst->inst.cache = lower->inst->mods.cache == PTX_CG ? CACHE_CG : CACHE_CA;
  vinst->b = to.base.index;
  vinst->b_row = to.base.row;
  vinst->inst.lop = !shortened                                       ? COPY_ALL
                    : ignores_source(lower, lower_operand(lower, 3)) ? COPY_OR_ZEROS
                                                                     : COPY_PART;
  lower_set_psrc(vinst, 0, some);
}

static void wait_for_groups(Lower *lower, uint32_t left) { lower_op0(lower, OP_COPYWAIT)->inst.imm = (int32_t)left; }

/* Where the copies arrive in addition to those whom the barrier counts, one more is waited for, or on sm_90 one byte
 * more. */
static void arrive_when_copied(Lower *lower) {
  bool counted = lower->inst->mods.flags & PTX_FLAG_NOINC;
  LowerAddress address;
  if (!barrier_address(lower, 0, &address))
    return;
  LowerAddress high = high_word(&address);
  Value one = lower_imm64(lower, 1);
  if (!counted && is_hopper(lower))
    arrive_at(lower, OP_ATOMS, &address, VALUE_SINK, MBARRIER_EXPECTS, one);
  else if (!counted)
    add_to(lower, &high, VALUE_SINK, lower_imm(lower, UINT32_MAX));
  arrive_at(lower, OP_COPYARRIVE, &address, VALUE_SINK, counted ? MBARRIER_ONE : MBARRIER_COMPLETES, one);
}

void lower_complete_bytes(Lower *lower, unsigned where, uint32_t bytes) {
  LowerAddress address;
  if (!lower_needs(lower, HOPPER, "st.async") || !barrier_address(lower, where, &address))
    return;
  arrive_at(lower, arrival_op(&address), &address, VALUE_SINK, MBARRIER_COMPLETES, lower_imm64(lower, bytes));
  VInst *vinst = &g_array_index(lower->vkernel->insts, VInst, lower->vkernel->insts->len - 1);
  if (lower->kernel->ranked) /* PTX ISA: st.async, a release of scope .cluster */
    vinst->inst.scope = SCOPE_GPU;
}

void lower_CP(Lower *lower, const PtxInst *inst) {
  if (inst->mods.flags & PTX_FLAG_BULK) {
    lower_bulk(lower);
    return;
  }
  if (!lower_needs(lower, COPIES_FROM, "cp.async"))
    return;
  switch (inst->mods.mode2) {
  case PTX_COMMIT_GROUP: lower_op0(lower, OP_COPYEND); break;
  case PTX_WAIT_GROUP:
    wait_for_groups(lower, (uint32_t)MIN(lower_operand(lower, 0)->bits, (uint64_t)INT32_MAX));
    break;
  case PTX_WAIT_ALL:
    lower_op0(lower, OP_COPYEND);
    wait_for_groups(lower, 0);
    break;
  case PTX_MBARRIER: arrive_when_copied(lower); break;
  default: copy(lower); break;
  }
}
