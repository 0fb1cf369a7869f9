/* Loads, stores, atomics, fences. */
#include "isa/lower/ptx_lower_state.h"

/* -- spaces and addresses -- */

static const char *space_name(uint8_t space) { return ptx_word_text((PtxWord)space); }

/* One of GLOBAL, SHARED, LOCAL, CONST, PARAM, or 0 (generic). That of a cluster is the block's own, unless
 * its clusters may have several (lower_address_in()). A variable without `.SPACE` says itself where it lies. */
static uint8_t space_in(Lower *lower, const PtxOperand *address, uint8_t space) {
  if (space == PTX_SHARED_CTA || space == PTX_SHARED_CLUSTER)
    space = PTX_SHARED;
  if (space == PTX_PARAM_ENTRY || space == PTX_PARAM_FUNC)
    space = PTX_PARAM;
  if (address->kind != PTX_OPERAND_MEM_VAR)
    return space;
  const PtxVar *var = ptx_var(lower->module, address->index);
  if (space && space != var->space)
    lower_error(lower, address->at, "`%s` is a `.%s` variable, but this is %s.%s",
                ptx_module_name(lower->module, var->name), space_name(var->space),
                ptx_op_mnemonic((PtxOp)lower->inst->op), space_name(space));
  return var->space;
}

static uint8_t space_of(Lower *lower, const PtxOperand *address) {
  return space_in(lower, address, lower->inst->mods.space);
}

/* A variable of the block's own shared memory, in a kernel whose clusters may have several blocks. */
static LowerAddress ranked_variable(Lower *lower, const PtxOperand *operand) {
  return (LowerAddress){.base = lower->rank_base,
                        .space = PTX_SHARED,
                        .offset = (int32_t)lower->var_byte[operand->index] + operand->offset};
}

/* An address in shared memory of a cluster of several blocks is a generic one, as ptxas has it. */
static LowerAddress of_cluster(const Lower *lower, LowerAddress address, uint8_t space) {
  if (!lower->kernel->ranked || space != PTX_SHARED_CLUSTER)
    return address;
  address.space = 0;
  address.offset = (int32_t)((uint32_t)address.offset + SHARED_WINDOW);
  return address;
}

/* Shared, local and parameter addresses fit the low word. */
LowerAddress lower_address_in(Lower *lower, const PtxOperand *operand, uint8_t space) {
  LowerAddress address = {.space = space_in(lower, operand, space), .offset = 0};
  if (lower->kernel->ranked && address.space == PTX_SHARED && operand->kind == PTX_OPERAND_MEM_VAR)
    return of_cluster(lower, ranked_variable(lower, operand), space);
  bool pairs = address.space == 0 || address.space == PTX_GLOBAL || address.space == PTX_CONST;
  if (operand->kind == PTX_OPERAND_MEM_REG) {
    PtxWord type;
    address.base = lower_register(lower, lower->frame, operand->index, &type);
    address.wide = pairs && lower_is_wide(type);
    address.offset = operand->offset;
  } else if (operand->kind == PTX_OPERAND_MEM_VAR) {
    address.base = lower_address(lower, operand, false, 0);
  } else {
    address.base = lower_imm(lower, (uint32_t)operand->bits);
    if (operand->bits > UINT32_MAX)
      lower_error(lower, operand->at, "an address above 4 GiB isn't supported");
  }
  return of_cluster(lower, address, space);
}

static LowerAddress address_of(Lower *lower, const PtxOperand *operand) {
  return lower_address_in(lower, operand, lower->inst->mods.space);
}

/* -- order, scope, caches -- */

static MemSem sem_of(const PtxInst *inst) {
  switch (inst->mods.sem) {
  case PTX_VOLATILE: return SEM_VOLATILE;
  case PTX_RELAXED: return SEM_RELAXED;
  case PTX_ACQUIRE: return SEM_ACQUIRE;
  case PTX_RELEASE: return SEM_RELEASE;
  case PTX_ACQ_REL: return SEM_ACQ_REL;
  case PTX_SC: return SEM_SC;
  default: return SEM_WEAK;
  }
}

static MemScope scope_of(const PtxInst *inst) {
  return inst->mods.scope == PTX_CTA ? SCOPE_CTA : inst->mods.scope == PTX_SYS ? SCOPE_SYS : SCOPE_GPU;
}

static CacheOp cache_of(const PtxInst *inst) {
  static const uint8_t caches[PTX_WORD_COUNT] = {
      [PTX_CA] = CACHE_CA, [PTX_CG] = CACHE_CG, [PTX_CS] = CACHE_CS, [PTX_LU] = CACHE_CS,
      [PTX_CV] = CACHE_CV, [PTX_WB] = CACHE_WB, [PTX_WT] = CACHE_WT};
  return (CacheOp)caches[inst->mods.cache];
}

static MemSpace memory_space(uint8_t space) {
  switch (space) {
  case PTX_GLOBAL: return MEM_GLOBAL;
  case PTX_CONST: return MEM_CONST;
  case PTX_PARAM: return MEM_PARAM;
  case PTX_SHARED: return MEM_SHARED;
  case PTX_LOCAL: return MEM_LOCAL;
  default: return MEM_GENERIC;
  }
}

void lower_set_memory(Lower *lower, VInst *vinst, const LowerAddress *address, MemWidth width) {
  vinst->a = address->base.index;
  vinst->a_row = address->base.row;
  vinst->inst.imm = address->offset;
  vinst->inst.space = (uint8_t)memory_space(address->space);
  vinst->inst.width = (uint8_t)width;
  vinst->inst.sem = (uint8_t)sem_of(lower->inst);
  vinst->inst.scope = (uint8_t)scope_of(lower->inst);
  vinst->inst.cache = (uint8_t)cache_of(lower->inst);
  bool of_block =
      vinst->inst.scope == SCOPE_CTA && (vinst->inst.sem == SEM_RELAXED || vinst->inst.sem == SEM_ACQUIRE);
  if (of_block && vinst->inst.op == OP_LD) /* LDG.E.STRONG.SM: as ptxas has it, it may hit the L1 */
    vinst->inst.cache = CACHE_CA;
  vinst->inst.flags |= address->wide ? (uint32_t)INST_ADDR64 : 0;
  if (lower->inst->mods.flags & PTX_FLAG_NC && vinst->inst.op == OP_LD)
    vinst->inst.flags |= INST_READ_ONLY;
}

/* -- vectors -- */

/* All lanes together as one access. */
static bool group_width(Lower *lower, MemWidth *width, uint8_t *rows) {
  unsigned bytes = ptx_type_bytes((PtxWord)lower->inst->mods.type) * lower_lanes(lower->inst);
  *rows = (uint8_t)MAX(bytes / 4, 1);
  switch (bytes) {
  case 2: *width = WIDTH_U16; return true;
  case 4: *width = WIDTH_32; return true;
  case 8: *width = WIDTH_64; return true;
  case 16: *width = WIDTH_128; return true;
  default: lower_unsupported(lower, "an access of more than 16 bytes"); return false;
  }
}

static PtxWord access_type(const Lower *lower) { return (PtxWord)lower->inst->mods.type; }

/* -- loads -- */

static Opcode load_op(uint8_t space) { return space == PTX_SHARED ? OP_LDS : space == PTX_LOCAL ? OP_LDL : OP_LD; }

static void load_to(Lower *lower, Value dst, const LowerAddress *address, MemWidth width) {
  VInst *vinst = lower_op0(lower, load_op(address->space));
  vinst->dst = dst.index;
  vinst->dst_row = dst.row;
  lower_set_memory(lower, vinst, address, width);
}

static MemWidth load_width(PtxWord type, unsigned reg_bytes) {
  switch (ptx_type_bytes(type)) {
  case 1: return lower_is_signed(type) ? WIDTH_S8 : WIDTH_U8;
  case 2: return lower_is_signed(type) && reg_bytes > 2 ? WIDTH_S16 : WIDTH_U16;
  case 8: return WIDTH_64;
  case 16: return WIDTH_128;
  default: return WIDTH_32;
  }
}

/* The load itself extends; only a signed byte in a register of 16 bits is cut again. */
static void load_one(Lower *lower, const PtxOperand *dst, const LowerAddress *address) {
  PtxWord type = access_type(lower);
  unsigned bytes = ptx_type_bytes(type);
  Result result = lower_result_of(lower, dst, type);
  MemWidth width = load_width(type, result.reg_bytes);
  bool cut = width == WIDTH_S8 && result.reg_bytes == 2;
  load_to(lower, cut ? result.value : result.reg, address, width);
  if (cut)
    result.type = PTX_S16; /* the load has extended it */
  else if (bytes < 8)
    result.type = lower_is_signed(type) ? PTX_S32 : PTX_U32;
  lower_finish(lower, &result);
}

static void load_lane(Lower *lower, const PtxOperand *dst, Value group, unsigned lane) {
  PtxWord type = access_type(lower);
  unsigned byte = lane * ptx_type_bytes(type);
  if (dst->kind != PTX_OPERAND_SINK)
    lower_take(lower, dst, type, lower_row(group, byte / 4), byte % 4);
}

static void load(Lower *lower) {
  const PtxInst *inst = lower->inst;
  const PtxOperand *dst = lower_operand(lower, 0), *source = lower_operand(lower, 1);
  if (space_of(lower, source) == PTX_PARAM && source->kind == PTX_OPERAND_MEM_VAR) {
    lower_param_load(lower);
    return;
  }
  LowerAddress address = address_of(lower, source);
  if (lower_lanes(inst) == 1) {
    PtxOperand only = lower_lane(lower, dst, 0);
    load_one(lower, &only, &address);
    return;
  }
  MemWidth width;
  uint8_t rows = 1;
  if (!group_width(lower, &width, &rows))
    return;
  Value group = lower_temp(lower, rows);
  load_to(lower, group, &address, width);
  for (unsigned lane = 0; lane < lower_lanes(inst); lane++) {
    PtxOperand part = lower_lane(lower, dst, lane);
    load_lane(lower, &part, group, lane);
  }
}

void lower_LD(Lower *lower, const PtxInst *inst) { load(lower); }

void lower_LDU(Lower *lower, const PtxInst *inst) { load(lower); }

/* -- stores -- */

/* A value in registers, for the forms whose data has to be in consecutive ones. */
static Value in_registers(Lower *lower, Value value, bool wide) {
  if (value.index >= 0 || !wide)
    return value;
  Value copy = lower_temp(lower, 2);
  lower_move(lower, copy, value, true);
  return copy;
}

/* One row of lanes of 8 or 16 bits: each is put in front of those before it. */
static void gather_narrow(Lower *lower, const PtxOperand *src, Value dst, unsigned first, unsigned count) {
  PtxWord type = access_type(lower);
  unsigned bits = ptx_type_bytes(type) * 8;
  PtxOperand part = lower_lane(lower, src, first);
  Value row = lower_low_bits(lower, &part, type);
  for (unsigned i = 1; i < count; i++) {
    part = lower_lane(lower, src, first + i);
    Value value = lower_low_bits(lower, &part, type), joined = i + 1 < count ? lower_temp(lower, 1) : dst;
    lower_op3(lower, OP_BFI, joined, value, lower_imm(lower, bits << 8 | i * bits), row);
    row = joined;
  }
}

/* The lanes of a vector in their rows. */
static Value gather(Lower *lower, const PtxOperand *src, uint8_t rows) {
  PtxWord type = access_type(lower);
  unsigned bytes = ptx_type_bytes(type), lanes = lower_lanes(lower->inst);
  Value group = lower_temp(lower, rows);
  if (bytes < 4) {
    for (unsigned row = 0; row < rows; row++)
      gather_narrow(lower, src, lower_row(group, row), row * lanes / rows, lanes / rows);
    return group;
  }
  for (unsigned lane = 0; lane < lanes; lane++) {
    PtxOperand part = lower_lane(lower, src, lane);
    lower_move(lower, lower_row(group, lane * bytes / 4), lower_value_of(lower, &part, type), bytes == 8);
  }
  return group;
}

static MemWidth store_width(PtxWord type) {
  switch (ptx_type_bytes(type)) {
  case 1: return WIDTH_U8;
  case 2: return WIDTH_U16;
  case 8: return WIDTH_64;
  case 16: return WIDTH_128;
  default: return WIDTH_32;
  }
}

/* A store takes the low bytes of a register, however wide it is. */
static Value store_value(Lower *lower, const PtxOperand *src, PtxWord type) {
  if (ptx_type_bytes(type) < 4)
    return lower_low_bits(lower, src, type);
  return in_registers(lower, lower_value_of(lower, src, type), lower_is_wide(type));
}

void lower_ST(Lower *lower, const PtxInst *inst) {
  const PtxOperand *target = lower_operand(lower, 0), *src = lower_operand(lower, 1);
  if (space_of(lower, target) == PTX_PARAM) {
    if (target->kind == PTX_OPERAND_MEM_VAR)
      lower_param_write(lower);
    else
      lower_unsupported(lower, "st.param with an address in a register");
    return;
  }
  if (space_of(lower, target) == PTX_CONST) {
    lower_error(lower, inst->at, "a `.const` variable can't be written");
    return;
  }
  MemWidth width = store_width(access_type(lower));
  uint8_t rows = 1;
  if (lower_lanes(inst) > 1 && !group_width(lower, &width, &rows))
    return;
  PtxOperand only = lower_lane(lower, src, 0);
  Value value = lower_lanes(inst) > 1 ? gather(lower, src, rows) : store_value(lower, &only, access_type(lower));
  LowerAddress address = address_of(lower, target);
  Opcode op = address.space == PTX_SHARED ? OP_STS : address.space == PTX_LOCAL ? OP_STL : OP_ST;
  VInst *vinst = lower_op0(lower, op);
  vinst->b = value.index;
  vinst->b_row = value.row;
  lower_set_memory(lower, vinst, &address, width);
  if (inst->mods.flags & PTX_FLAG_ASYNC)
    lower_complete_bytes(lower, 2, ptx_type_bytes(access_type(lower)) * lower_lanes(inst));
}

/* Only hints. */
void lower_PREFETCH(Lower *lower, const PtxInst *inst) { address_of(lower, lower_operand(lower, 0)); }

void lower_PREFETCHU(Lower *lower, const PtxInst *inst) { address_of(lower, lower_operand(lower, 0)); }

static void hint_of_line(Lower *lower, const char *what) {
  if (lower_needs(lower, 80, what))
    address_of(lower, lower_operand(lower, 0));
}

void lower_DISCARD(Lower *lower, const PtxInst *inst) { hint_of_line(lower, "discard"); }

void lower_APPLYPRIORITY(Lower *lower, const PtxInst *inst) { hint_of_line(lower, "applypriority"); }

/* -- atomics -- */

static AtomOp atom_op(uint8_t word) {
  static const uint8_t ops[PTX_WORD_COUNT] = {
      [PTX_ADD] = ATOM_ADD, [PTX_MIN] = ATOM_MIN, [PTX_MAX] = ATOM_MAX, [PTX_INC] = ATOM_INC,   [PTX_DEC] = ATOM_DEC,
      [PTX_AND] = ATOM_AND, [PTX_OR] = ATOM_OR,   [PTX_XOR] = ATOM_XOR, [PTX_EXCH] = ATOM_EXCH, [PTX_CAS] = ATOM_CAS};
  return (AtomOp)ops[word];
}

/* What machines of before have no instruction for. */
static bool has_atomic(Lower *lower, const PtxInst *inst) {
  PtxWord type = (PtxWord)inst->mods.type;
  uint8_t op = inst->mods.op;
  if (lower_lanes(inst) > 1)
    return lower_needs(lower, 90, "an atomic addition of vectors");
  if (type == PTX_B128)
    return lower_needs(lower, 90, "an atomic operation on 128 bits");
  if (ptx_type_bytes(type) == 2)
    return lower_needs(lower, type == PTX_BF16 ? 90 : 70, "an atomic operation on 16 bits");
  if (type == PTX_F64)
    return lower_needs(lower, 60, "an atomic addition of f64");
  if (lower_is_half(type))
    return lower_needs(lower, type == PTX_BF16X2 ? 90 : 60, "an atomic addition of this type");
  bool newer = op == PTX_MIN || op == PTX_MAX || op == PTX_AND || op == PTX_OR || op == PTX_XOR;
  return !(lower_is_wide(type) && newer) || lower_needs(lower, 32, "this atomic operation on 64 bits");
}

/* An operation without a result; that on shared memory has one that nobody reads. */
static VInst *operate(Lower *lower, const LowerAddress *address, Value result, Value b, Value c) {
  const PtxInst *inst = lower->inst;
  PtxWord type = (PtxWord)inst->mods.type;
  bool wide = lower_is_wide(type), shared = address->space == PTX_SHARED;
  bool drops = result.index == VREG_SINK && inst->mods.op != PTX_CAS && inst->mods.op != PTX_EXCH;
  VInst *vinst = lower_op0(lower, shared ? OP_ATOMS : drops ? OP_RED : OP_ATOM);
  lower_set_memory(lower, vinst, address, store_width(type));
  vinst->dst = result.index;
  vinst->dst_row = result.row;
  vinst->b = b.index;
  vinst->b_row = b.row;
  vinst->inst.mode = (uint8_t)atom_op(inst->mods.op);
  vinst->inst.type = type == PTX_B128 ? TYPE_U32 : (uint8_t)lower_data_type(type); /* 128 bits are no number */
  vinst->inst.wide = wide ? WIDE_DST | WIDE_B : 0;
  if (inst->mods.op == PTX_CAS) {
    vinst->c = c.index;
    vinst->c_row = c.row;
    vinst->inst.wide |= wide ? WIDE_C : 0;
  }
  if (!inst->mods.sem)
    vinst->inst.sem = SEM_RELAXED;
  if (type == PTX_F32 && !shared)
    vinst->inst.flags |= INST_FTZ; /* PTX ISA: the addition in global memory flushes subnormal numbers */
  return vinst;
}

/* Each lane of `.v2` and `.v4` is an operation of its own; the values are read before any result is written. */
static void operate_on_lanes(Lower *lower, LowerAddress address, Value values, bool has_result) {
  unsigned lanes = lower_lanes(lower->inst);
  Value old = has_result ? lower_temp(lower, (uint8_t)lanes) : VALUE_SINK;
  for (unsigned lane = 0; lane < lanes; lane++) {
    VInst *vinst = operate(lower, &address, has_result ? lower_row(old, lane) : old, lower_row(values, lane),
                           VALUE_SINK);
    vinst->inst.flags |= (uint32_t)(lane ? INST_OF_VECTOR : lanes == 2 ? INST_OF_TWO : INST_OF_FOUR);
    address.offset += 4;
  }
  for (unsigned lane = 0; has_result && lane < lanes; lane++) {
    PtxOperand part = lower_lane(lower, lower_operand(lower, 0), lane);
    load_lane(lower, &part, old, lane);
  }
}

/* `where` is the number of the address. */
static void atomic(Lower *lower, unsigned where, bool has_result) {
  const PtxInst *inst = lower->inst;
  PtxWord type = (PtxWord)inst->mods.type;
  bool wide = lower_is_wide(type), is_vector = lower_lanes(inst) > 1;
  if (!has_atomic(lower, inst))
    return;
  const PtxOperand *target = lower_operand(lower, where);
  Value result = VALUE_SINK, b, c = VALUE_SINK;
  if (has_result && !is_vector)
    result = lower_result(lower, 0, type).reg; /* 16 bits come zero-extended */
  b = is_vector ? gather(lower, lower_operand(lower, where + 1), (uint8_t)lower_lanes(inst))
                : in_registers(lower, lower_value(lower, where + 1, type), wide);
  if (inst->mods.op == PTX_CAS)
    c = in_registers(lower, lower_value(lower, where + 2, type), wide);
  LowerAddress address = address_of(lower, target);
  if (address.space == PTX_CONST || address.space == PTX_LOCAL || address.space == PTX_PARAM) {
    lower_error(lower, target->at, "atomic operations are for global and shared memory");
    return;
  }
  if (is_vector)
    operate_on_lanes(lower, address, b, has_result);
  else
    operate(lower, &address, result, b, c);
}

void lower_ATOM(Lower *lower, const PtxInst *inst) { atomic(lower, 1, true); }

void lower_RED(Lower *lower, const PtxInst *inst) { atomic(lower, 0, false); }

static VInst *lock_access(Lower *lower, Opcode op, PtxWord pointer, Value address, AtomOp mode, Value b) {
  VInst *vinst = lower_op0(lower, op);
  vinst->a = address.index;
  vinst->a_row = address.row;
  vinst->b = b.index;
  vinst->b_row = b.row;
  vinst->inst.mode = (uint8_t)mode;
  vinst->inst.type = TYPE_U32;
  vinst->inst.width = WIDTH_32;
  vinst->inst.space = MEM_GLOBAL;
  vinst->inst.sem = SEM_RELAXED;
  vinst->inst.flags |= lower_is_wide(pointer) ? INST_LOCK | INST_ADDR64 : INST_LOCK;
  return vinst;
}

void lower_lock_try(Lower *lower, PtxWord pointer, Value address, Value old) {
  Value free = in_registers(lower, lower_imm(lower, 0), false),
        taken = in_registers(lower, lower_imm(lower, 1), false);
  VInst *vinst = lock_access(lower, OP_ATOM, pointer, address, ATOM_CAS, free);
  vinst->dst = old.index;
  vinst->dst_row = old.row;
  vinst->c = taken.index;
  vinst->c_row = taken.row;
}

void lower_lock_release(Lower *lower, PtxWord pointer, Value address) {
  lock_access(lower, OP_RED, pointer, address, ATOM_EXCH, in_registers(lower, lower_imm(lower, 0), false));
}

/* -- fences -- */

static void fence(Lower *lower, FenceScope scope, MemSem sem) {
  static const MemScope scopes[] = {
      [FENCE_CTA] = SCOPE_CTA, [FENCE_GL] = SCOPE_GPU, [FENCE_SYS] = SCOPE_SYS, [FENCE_INIT] = SCOPE_GPU};
  VInst *vinst = lower_op0(lower, OP_MEMBAR);
  vinst->inst.mode = (uint8_t)scope;
  vinst->inst.scope = (uint8_t)scopes[scope];
  vinst->inst.sem = (uint8_t)sem;
}

void lower_fence_of_gpu(Lower *lower) { fence(lower, FENCE_GL, SEM_ACQ_REL); }

static FenceScope fence_scope(uint8_t word) {
  return word == PTX_CTA ? FENCE_CTA : word == PTX_SYS ? FENCE_SYS : FENCE_GL;
}

void lower_MEMBAR(Lower *lower, const PtxInst *inst) { fence(lower, fence_scope(inst->mods.mode), SEM_SC); }

/* Acquire and release fences are made as strong as both together. As ptxas has them, that between accesses and the
 * copies of the async proxy is one of the block, and that behind `mbarrier.init` takes no time. */
void lower_FENCE(Lower *lower, const PtxInst *inst) {
  bool proxy = inst->mods.flags & PTX_FLAG_PROXY, global = inst->mods.space == PTX_GLOBAL;
  if (proxy && inst->mods.mode == PTX_ALIAS) {
    lower_unsupported(lower, "fence.proxy.alias");
  } else if (proxy && inst->mods.mode == PTX_ASYNC_GENERIC && inst->mods.sem == PTX_ACQUIRE) {
    return; /* as ptxas has it */
  } else if (proxy) {
    fence(lower, FENCE_CTA, SEM_ACQ_REL);
    lower_op0(lower, OP_FENCEVIEW)->inst.mode = global;
  } else if (inst->mods.mode == PTX_MBARRIER_INIT) {
    fence(lower, FENCE_INIT, SEM_ACQ_REL);
  } else {
    fence(lower, fence_scope(inst->mods.scope), inst->mods.sem == PTX_SC ? SEM_SC : SEM_ACQ_REL);
  }
}
