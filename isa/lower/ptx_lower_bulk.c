/* Copies in bulk between global and shared memory, and cache policies. */
#include "isa/lower/ptx_lower_state.h"

enum { BULK_FROM = 90 };

/* An address in shared memory. */
static Value shared_address(Lower *lower, unsigned where) {
  const PtxOperand *operand = lower_operand(lower, where);
  uint8_t space = lower->inst->mods.space;
  LowerAddress address = lower_address_in(lower, operand, space == PTX_SHARED_CLUSTER ? PTX_SHARED : space);
  if (address.space != PTX_SHARED)
    lower_error(lower, operand->at, "a copy in bulk takes an address in shared memory here, this is `.%s`",
                address.space ? ptx_word_text((PtxWord)address.space) : "generic");
  if (!address.offset)
    return address.base;
  return lower_to_temp(lower, OP_IADD, TYPE_U32, address.base, lower_imm(lower, (uint32_t)address.offset));
}

static VInst *copy(Lower *lower, Opcode op, const LowerAddress *global, Value shared, Value bytes) {
  VInst *vinst = lower_op0(lower, op);
  lower_set_memory(lower, vinst, global, WIDTH_32);
  vinst->dst = VREG_SINK;
  vinst->b = shared.index;
  vinst->b_row = shared.row;
  vinst->c = bytes.index;
  vinst->c_row = bytes.row;
  return vinst;
}

/* Operand b is a pair: where the bytes go, and the barrier that counts them. */
static void load(Lower *lower) {
  LowerAddress from = lower_address_in(lower, lower_operand(lower, 1), PTX_GLOBAL);
  Value pair = lower_temp(lower, 2), bytes = lower_value(lower, 2, PTX_U32);
  Value to = shared_address(lower, 0), barrier = shared_address(lower, 3);
  lower_move(lower, pair, to, false);
  lower_move(lower, lower_row(pair, 1), barrier, false);
  VInst *vinst = copy(lower, OP_BULKLOAD, &from, pair, bytes);
  vinst->inst.wide |= WIDE_B;
  vinst->inst.lop = MBARRIER_COMPLETES;
}

static void store(Lower *lower) {
  static const uint8_t modes[PTX_WORD_COUNT] = {
      [PTX_ADD] = ATOM_ADD, [PTX_MIN] = ATOM_MIN, [PTX_MAX] = ATOM_MAX, [PTX_INC] = ATOM_INC,
      [PTX_DEC] = ATOM_DEC, [PTX_AND] = ATOM_AND, [PTX_OR] = ATOM_OR,   [PTX_XOR] = ATOM_XOR};
  bool reduces = lower->inst->mods.mode == PTX_REDUCE;
  LowerAddress to = lower_address_in(lower, lower_operand(lower, 0), PTX_GLOBAL);
  Value from = shared_address(lower, 1), bytes = lower_value(lower, 2, PTX_U32);
  VInst *vinst = copy(lower, reduces ? OP_BULKRED : OP_BULKSTORE, &to, from, bytes);
  if (!reduces)
    return;
  PtxWord type = (PtxWord)lower->inst->mods.type;
  vinst->inst.mode = modes[lower->inst->mods.op];
  vinst->inst.type = (uint8_t)lower_data_type(type);
  vinst->inst.width = lower_is_wide(type) ? WIDTH_64 : WIDTH_32;
}

/* Whoever has waited until its bytes are written sees them: no copy in the L1 is older. */
static void wait(Lower *lower) {
  bool reads = lower->inst->mods.flags & PTX_FLAG_READ;
  VInst *waits = lower_op0(lower, OP_BULKWAIT);
  waits->inst.imm = (int32_t)MIN(lower_operand(lower, 0)->bits, (uint64_t)INT32_MAX);
  waits->inst.mode = reads ? BULKWAIT_READ : BULKWAIT_WRITTEN;
  if (reads)
    return;
  VInst *vinst = lower_op0(lower, OP_CCTL);
  vinst->inst.mode = FENCE_GL;
  vinst->inst.scope = SCOPE_GPU;
  vinst->inst.sem = SEM_ACQUIRE;
}

void lower_bulk(Lower *lower) {
  const PtxInst *inst = lower->inst;
  if (!lower_needs(lower, BULK_FROM, "cp.async.bulk"))
    return;
  if (inst->mods.cache == PTX_BYTES)
    load(lower);
  else if (inst->mods.cache == PTX_BULK_GROUP)
    store(lower);
  else if (inst->mods.mode2 == PTX_COMMIT_GROUP)
    lower_op0(lower, OP_BULKEND);
  else if (inst->mods.mode2 == PTX_WAIT_GROUP)
    wait(lower);
}

/* Policies choose what stays in the L2, which isn't modelled. */
void lower_CREATEPOLICY(Lower *lower, const PtxInst *inst) {
  (void)inst;
  if (lower_needs(lower, 80, "createpolicy"))
    lower_move(lower, lower_result(lower, 0, PTX_B64).value, lower_imm64(lower, 0), true);
}
