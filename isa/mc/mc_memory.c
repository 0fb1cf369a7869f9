/* Lowering of loads, stores, atomic operations, fences, constant banks. */
#include <string.h>

#include "isa/mc/mc_build.h"

/* ---- what modifiers say ---- */

static MemWidth width_of(const McBuild *build) {
  return mc_has(build, "U8")    ? WIDTH_U8
         : mc_has(build, "S8")  ? WIDTH_S8
         : mc_has(build, "U16") ? WIDTH_U16
         : mc_has(build, "S16") ? WIDTH_S16
         : mc_has(build, "64")  ? WIDTH_64
         : mc_has(build, "128") ? WIDTH_128
                                : WIDTH_32;
}

static unsigned words_of(MemWidth width) { return width == WIDTH_128 ? 4 : width == WIDTH_64 ? 2 : 1; }

static MemScope scope_of(const McBuild *build) {
  return mc_has(build, "SM") || mc_has(build, "CTA")   ? SCOPE_CTA
         : mc_has(build, "GPU") || mc_has(build, "VC") ? SCOPE_GPU
                                                       : SCOPE_SYS;
}

/* An access is strong for a scope, or weak. */
static void set_order(const McBuild *build, Inst *inst) {
  bool strong = mc_has(build, "STRONG") || mc_has(build, "MMIO");
  inst->sem = strong ? SEM_RELAXED : SEM_WEAK;
  inst->scope = strong ? (uint8_t)scope_of(build) : SCOPE_GPU;
}

static MemSpace space_of(const McBuild *build) {
  const char *root = build->inst->root;
  return g_str_has_suffix(root, "S")                                                       ? MEM_SHARED
         : g_str_has_suffix(root, "L")                                                     ? MEM_LOCAL
         : strcmp(root, "LD") == 0 || strcmp(root, "ST") == 0 || strcmp(root, "ATOM") == 0 ? MEM_GENERIC
                                                                                           : MEM_GLOBAL;
}

/* ---- addresses ---- */

static McOperand plain_register(McOperandKind kind, int number) {
  return (McOperand){.kind = (uint8_t)kind, .number = (int16_t)number, .base = MC_NO_REGISTER};
}

static int16_t sum(McBuild *build, Opcode op, int16_t a, int16_t b) {
  bool wide = op == OP_IADD64;
  Inst inst = mc_blank(build, op);
  inst.a = a;
  inst.b = b;
  inst.wide = wide ? WIDE_DST | WIDE_A | WIDE_B : 0;
  inst.dst = mc_scratch(build, wide ? 2 : 1);
  mc_emit(build, &inst);
  return inst.dst;
}

/* A 32-bit register as one term of a 64-bit address: that and the other term. */
static int16_t widened_sum(McBuild *build, const McOperand *base, int16_t other) {
  Inst inst = mc_blank(build, OP_IMADW);
  inst.type = TYPE_U32;
  inst.wide = WIDE_DST | WIDE_C;
  inst.a = mc_value(build, base);
  inst.b = mc_constant(build, 1);
  inst.c = other;
  inst.dst = mc_scratch(build, 2);
  mc_emit(build, &inst);
  return inst.dst;
}

/* [R2.64+UR4+0x8]: two words. A register without a mark is a pair, too. */
static int16_t wide_address(McBuild *build, const McOperand *memory) {
  McOperand base = plain_register(MC_REGISTER, memory->base), uniform = plain_register(MC_UNIFORM, memory->uniform);
  bool has_base = memory->base != MC_NO_REGISTER && memory->base != MC_RZ;
  if (memory->uniform == MC_NO_REGISTER)
    return has_base && memory->part == MC_U32 ? widened_sum(build, &base, mc_constant_pair(build, 0))
           : has_base                         ? mc_pair(build, &base)
                                              : mc_constant_pair(build, 0);
  int16_t other = mc_pair(build, &uniform);
  return !has_base                ? other
         : memory->part == MC_U32 ? widened_sum(build, &base, other)
                                  : sum(build, OP_IADD64, mc_pair(build, &base), other);
}

/* [R2.X4+UR4+0x8]: one word. */
static int16_t narrow_address(McBuild *build, const McOperand *memory) {
  McOperand base = plain_register(MC_REGISTER, memory->base), uniform = plain_register(MC_UNIFORM, memory->uniform);
  int16_t row = memory->base == MC_NO_REGISTER ? mc_constant(build, 0) : mc_value(build, &base);
  bool adds = memory->uniform != MC_NO_REGISTER && memory->uniform != MC_URZ;
  if (memory->scale > 1) {
    Inst inst = mc_blank(build, OP_ISCADD);
    inst.a = row;
    inst.b = adds ? mc_value(build, &uniform) : mc_constant(build, 0);
    inst.mode = (uint8_t)__builtin_ctz(memory->scale);
    inst.dst = mc_scratch(build, 1);
    mc_emit(build, &inst);
    return inst.dst;
  }
  if (!adds)
    return row;
  if (memory->base == MC_NO_REGISTER || memory->base == MC_RZ)
    return mc_value(build, &uniform);
  return sum(build, OP_IADD, row, mc_value(build, &uniform));
}

bool mc_address(McBuild *build, Inst *inst, const McOperand *memory, MemSpace space) {
  if (memory->kind != MC_MEMORY)
    return mc_refuse(build);
  bool wide = space == MEM_GLOBAL || space == MEM_GENERIC;
  inst->space = (uint8_t)space;
  inst->imm = memory->offset;
  inst->a = wide ? wide_address(build, memory) : narrow_address(build, memory);
  inst->flags |= wide ? INST_ADDR64 : 0;
  inst->wide |= wide ? WIDE_A : 0;
  return !build->failed;
}

static Opcode op_in(MemSpace space, Opcode global, Opcode shared, Opcode local) {
  return space == MEM_SHARED ? shared : space == MEM_LOCAL ? local : global;
}

/* ---- loads and stores ---- */

bool mc_load(McBuild *build) {
  MemSpace space = space_of(build);
  Inst inst = mc_blank(build, op_in(space, OP_LD, OP_LDS, OP_LDL));
  guint at = mc_is_predicate(mc_at(build, 0)) ? 1 : 0; /* LDG.E P0, R2, ...: a predicate that nobody reads */
  inst.width = (uint8_t)width_of(build);
  set_order(build, &inst);
  if (inst.sem == SEM_RELAXED && inst.scope == SCOPE_CTA)
    inst.cache = CACHE_CA;
  if (mc_count(build) != at + 2 || !mc_address(build, &inst, mc_at(build, at + 1), space))
    return mc_refuse(build);
  inst.dst = mc_destination(build, mc_at(build, at), words_of(inst.width));
  mc_emit(build, &inst);
  return true;
}

/* A value of several registers, which RZ stands for, too. */
static int16_t stored_value(McBuild *build, const McOperand *operand, unsigned words) {
  McOperand last = *operand;
  bool many = words > 1 && operand->kind == MC_REGISTER && operand->number != MC_RZ;
  if (many) {
    last.number = (int16_t)(operand->number + (int16_t)words - 1);
    mc_value(build, &last); /* they are all in use */
  }
  return mc_value(build, operand);
}

bool mc_store(McBuild *build) {
  MemSpace space = space_of(build);
  Inst inst = mc_blank(build, op_in(space, OP_ST, OP_STS, OP_STL));
  inst.width = (uint8_t)width_of(build);
  set_order(build, &inst);
  if (mc_count(build) != 2 || !mc_address(build, &inst, mc_at(build, 0), space))
    return mc_refuse(build);
  inst.b = stored_value(build, mc_at(build, 1), words_of(inst.width));
  mc_emit(build, &inst);
  return true;
}

/* ---- atomic operations ---- */

/* How many words are added at a time, each on its own: F32x2, F32x4; of halves F16x4, F16x8. */
static unsigned floats_of(const McBuild *build) {
  bool four = mc_has(build, "F32x4") || mc_has(build, "F16x8") || mc_has(build, "BF16x8"),
       two = mc_has(build, "F32x2") || mc_has(build, "F16x4") || mc_has(build, "BF16x4");
  return four ? 4 : two ? 2 : 1;
}

static bool set_atomic(McBuild *build, Inst *inst) {
  static const char *const names[] = {"ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR", "EXCH", "CAS"};
  guint op = G_N_ELEMENTS(names);
  for (guint i = 0; i < G_N_ELEMENTS(names); i++)
    op = mc_has(build, names[i]) ? i : op;
  bool halves = mc_has(build, "F16x2") || mc_has(build, "F16x4") || mc_has(build, "F16x8");
  bool brains = mc_has(build, "BF16x2") || mc_has(build, "BF16_V2") || mc_has(build, "BF16x4") ||
                mc_has(build, "BF16x8");
  bool four = mc_has(build, "128");
  if (op == G_N_ELEMENTS(names) || (four && op != ATOM_EXCH && op != ATOM_CAS) ||
      ((halves || brains || floats_of(build) > 1) && op != ATOM_ADD))
    return mc_refuse(build);
  bool wide = mc_has(build, "64") || mc_has(build, "S64") || mc_has(build, "F64") || mc_has(build, "U64");
  inst->mode = (uint8_t)op;
  inst->type = halves                                         ? TYPE_F16
               : brains                                       ? TYPE_BF16
               : mc_has(build, "F32") || floats_of(build) > 1 ? TYPE_F32
               : mc_has(build, "F64")                         ? TYPE_F64
               : mc_has(build, "S64")                         ? TYPE_S64
               : wide                                         ? TYPE_U64
               : mc_has(build, "S32")                         ? TYPE_S32
                                                              : TYPE_U32;
  inst->width = four ? WIDTH_128 : wide ? WIDTH_64 : WIDTH_32;
  inst->wide |= wide ? WIDE_B : 0;
  inst->flags |= mc_has(build, "FTZ") ? INST_FTZ : 0;
  inst->sem = SEM_RELAXED;
  return true;
}

/* Operands b, and c of a CAS, from operand `at` on. */
static bool set_operands(McBuild *build, Inst *inst, guint at) {
  bool wide = inst->wide & WIDE_B, swaps = inst->mode == ATOM_CAS;
  unsigned words = MAX(floats_of(build), words_of(inst->width));
  if (mc_count(build) != at + (swaps ? 2 : 1))
    return mc_refuse(build);
  inst->b = wide ? mc_pair(build, mc_at(build, at)) : stored_value(build, mc_at(build, at), words);
  if (swaps) {
    inst->c = wide ? mc_pair(build, mc_at(build, at + 1)) : stored_value(build, mc_at(build, at + 1), words);
    inst->wide |= wide ? WIDE_C : 0;
  }
  return !build->failed;
}

/* The predicate of ATOM: it was done. Where generic addresses of shared memory have no such operation it is false,
 * and the program does it in steps; here they have each. */
static void was_done(McBuild *build, const McOperand *predicate) {
  if (predicate->number == MC_PT)
    return;
  Inst inst = mc_blank(build, OP_PLOP3);
  inst.mode = 0xff;
  inst.pdst = mc_predicate_out(predicate);
  mc_emit(build, &inst);
}

/* One operation for each float; what they have of scoreboards each of them raises. */
static void emit_each(McBuild *build, Inst *inst) {
  unsigned count = floats_of(build);
  bool stays = inst->b < 0, drops = inst->dst == MC_ROW_SINK;
  build->raises_each = count > 1;
  inst->flags |= count == 4 ? INST_OF_FOUR : count == 2 ? INST_OF_TWO : 0;
  for (unsigned i = 0; i < count; i++) {
    mc_emit(build, inst);
    inst->flags = (inst->flags & ~(uint32_t)(INST_OF_TWO | INST_OF_FOUR)) | INST_OF_VECTOR;
    inst->imm += 4;
    inst->b += stays ? 0 : 1;
    inst->dst += drops ? 0 : 1;
  }
}

/* CAST.SPIN: whether it stored, in place of what was there. */
static void swapped(McBuild *build, const Inst *swap, const McOperand *to) {
  bool wide = swap->width == WIDTH_64;
  Inst same = mc_blank(build, wide ? OP_ISETP64 : OP_ISETP), choose = mc_blank(build, OP_SEL);
  same.type = wide ? TYPE_U64 : TYPE_U32;
  same.cmp = CMP_EQ;
  same.a = swap->dst;
  same.b = swap->b;
  same.wide = wide ? WIDE_A | WIDE_B : 0;
  same.pdst = mc_scratch_predicate(build);
  mc_emit(build, &same);
  choose.a = mc_constant(build, 1);
  choose.b = mc_constant(build, 0);
  choose.psrc[0] = same.pdst;
  choose.dst = mc_destination(build, to, wide ? 2 : 1);
  mc_emit(build, &choose);
  if (wide && choose.dst != MC_ROW_SINK) {
    Inst high = mc_blank(build, OP_MOV);
    high.dst = (int16_t)(choose.dst + 1);
    high.a = mc_constant(build, 0);
    mc_emit(build, &high);
  }
}

/* ATOM.E.CAST.SPIN PT, R3, [R8], R2, R3: of generic memory, where another block's shared memory may be. */
static bool compare_and_tell(McBuild *build) {
  bool wide = mc_has(build, "64");
  Inst inst = mc_blank(build, OP_ATOM);
  inst.mode = ATOM_CAS;
  inst.width = wide ? WIDTH_64 : WIDTH_32;
  inst.type = wide ? TYPE_U64 : TYPE_U32;
  inst.wide = wide ? WIDE_B | WIDE_DST : 0;
  inst.sem = SEM_RELAXED;
  inst.scope = SCOPE_GPU;
  if (!mc_address(build, &inst, mc_at(build, 2), MEM_GENERIC) || !set_operands(build, &inst, 3))
    return mc_refuse(build);
  inst.dst = mc_scratch(build, words_of(inst.width));
  was_done(build, mc_at(build, 0));
  mc_emit(build, &inst);
  swapped(build, &inst, mc_at(build, 1));
  return true;
}

bool mc_atom(McBuild *build) {
  if (mc_has(build, "CAST"))
    return compare_and_tell(build);
  Inst inst = mc_blank(build, OP_ATOM);
  if (!mc_is_predicate(mc_at(build, 0)) || !set_atomic(build, &inst) ||
      !mc_address(build, &inst, mc_at(build, 2), space_of(build)) || !set_operands(build, &inst, 3))
    return mc_refuse(build);
  inst.scope = (uint8_t)scope_of(build);
  inst.wide |= inst.width == WIDTH_64 ? WIDE_DST : 0;
  inst.dst = mc_destination(build, mc_at(build, 1), floats_of(build) * words_of(inst.width));
  was_done(build, mc_at(build, 0));
  emit_each(build, &inst);
  return true;
}

bool mc_red(McBuild *build) {
  Inst inst = mc_blank(build, OP_RED);
  MemSpace space = strcmp(build->inst->root, "RED") == 0 && !mc_has(build, "E") ? MEM_GENERIC : MEM_GLOBAL;
  if (!set_atomic(build, &inst) || !mc_address(build, &inst, mc_at(build, 0), space) ||
      !set_operands(build, &inst, 1))
    return mc_refuse(build);
  inst.scope = (uint8_t)scope_of(build);
  emit_each(build, &inst);
  return true;
}

bool mc_atoms(McBuild *build) {
  Inst inst = mc_blank(build, OP_ATOMS);
  bool arrives = mc_has(build, "ARRIVE"), counts = mc_has(build, "POPC"), tells = mc_has(build, "CAST");
  if (arrives) {
    inst.mode = ATOM_ARRIVE;
    inst.lop = MBARRIER_BEFORE_HOPPER;
    inst.width = WIDTH_64;
    inst.type = TYPE_U64;
    inst.b = mc_constant_pair(build, 0);
    inst.wide = WIDE_B;
    inst.sem = SEM_RELAXED;
  } else if (counts || tells) {
    inst.mode = counts ? ATOM_ADD : ATOM_CAS;
    inst.width = mc_has(build, "64") ? WIDTH_64 : WIDTH_32;
    inst.type = mc_has(build, "64") ? TYPE_U64 : TYPE_U32;
    inst.wide = mc_has(build, "64") ? WIDE_B : 0;
    inst.sem = SEM_RELAXED;
  } else if (!set_atomic(build, &inst)) {
    return false;
  }
  if (!mc_address(build, &inst, mc_at(build, 1), MEM_SHARED) ||
      (!counts && !arrives && !set_operands(build, &inst, 2)))
    return mc_refuse(build);
  if (counts)
    inst.b = mc_constant(build, 1);
  inst.scope = SCOPE_GPU;
  inst.wide |= inst.width == WIDTH_64 ? WIDE_DST : 0;
  inst.dst =
      tells ? mc_scratch(build, words_of(inst.width)) : mc_destination(build, mc_at(build, 0), words_of(inst.width));
  mc_emit(build, &inst);
  if (tells)
    swapped(build, &inst, mc_at(build, 0));
  return true;
}

/* ---- fences ---- */

bool mc_membar(McBuild *build) {
  static const uint8_t fences[] = {[SCOPE_GPU] = FENCE_GL, [SCOPE_CTA] = FENCE_CTA, [SCOPE_SYS] = FENCE_SYS};
  Inst inst = mc_blank(build, OP_MEMBAR);
  if (!mc_only(build, "SC", "ALL", "GPU", "SYS", "CTA", "SM", "VC", NULL))
    return mc_refuse(build);
  inst.scope = (uint8_t)scope_of(build);
  inst.mode = fences[inst.scope];
  inst.sem = mc_has(build, "SC") ? SEM_SC : SEM_ACQ_REL;
  mc_emit(build, &inst);
  return true;
}

bool mc_nothing(McBuild *build) {
  Inst inst = mc_blank(build, OP_NOP);
  mc_emit(build, &inst);
  return true;
}

bool mc_cctl(McBuild *build) {
  if (!mc_has(build, "IVALL")) /* a prefetch; what the L2 should keep (RML2) or may forget (DML2) */
    return mc_has(build, "PF1") || mc_has(build, "PF1.5") || mc_has(build, "PF2") || mc_has(build, "PF") ||
                   mc_has(build, "RML2") || mc_has(build, "DML2")
               ? mc_nothing(build)
               : mc_refuse(build);
  Inst inst = mc_blank(build, OP_CCTL);
  inst.mode = FENCE_GL;
  inst.scope = SCOPE_GPU;
  inst.sem = SEM_ACQUIRE;
  mc_emit(build, &inst);
  return true;
}

/* ---- asynchronous copies ---- */

/* LDGSTS.E.BYPASS.128.ZFILL [R7+0x10], desc[UR4][R2.64], P1: without BYPASS it goes through the L1. Without ZFILL the
 * predicate alone says whether anything is read. */
bool mc_ldgsts(McBuild *build) {
  const McOperand *to = mc_at(build, 0);
  Inst inst = mc_blank(build, OP_LDGSTS);
  if (!mc_only(build, "E", "BYPASS", "64", "128", "ZFILL", "LTC64B", "LTC128B", "LTC256B", NULL) ||
      to->kind != MC_MEMORY || !mc_address(build, &inst, mc_at(build, 1), MEM_GLOBAL))
    return mc_refuse(build);
  inst.width = (uint8_t)width_of(build);
  inst.cache = mc_has(build, "BYPASS") ? CACHE_CG : CACHE_CA;
  inst.b = narrow_address(build, to);
  if (to->offset)
    inst.b = sum(build, OP_IADD, inst.b, mc_constant(build, (uint32_t)to->offset));
  inst.lop = mc_has(build, "ZFILL") ? COPY_PART : mc_count(build) > 2 ? COPY_OR_ZEROS : COPY_ALL;
  if (inst.lop)
    mc_predicate_in(&inst, 0, mc_at(build, 2));
  inst.dst = MC_ROW_SINK;
  mc_emit(build, &inst);
  return true;
}

bool mc_ldgdepbar(McBuild *build) {
  Inst inst = mc_blank(build, OP_COPYEND);
  mc_emit(build, &inst);
  return true;
}

bool mc_qspc(McBuild *build) {
  const McOperand *memory = mc_at(build, 2);
  Inst inst = mc_blank(build, OP_ISSPACEP);
  if (memory->kind != MC_MEMORY)
    return mc_refuse(build);
  inst.space = mc_has(build, "S") || mc_has(build, "D") ? MEM_SHARED : mc_has(build, "L") ? MEM_LOCAL : MEM_GLOBAL;
  inst.pdst = mc_predicate_out(mc_at(build, 0));
  inst.a = wide_address(build, memory);
  if (memory->offset)
    inst.a = sum(build, OP_IADD64, inst.a, mc_constant_pair(build, (uint64_t)(int64_t)memory->offset));
  inst.wide = WIDE_A;
  mc_emit(build, &inst);
  return true;
}

/* ---- constant banks ---- */

/* The bytes of a narrow constant, out of its word. */
static bool narrow_constant(McBuild *build, const McOperand *operand, MemWidth width) {
  McOperand word = *operand;
  word.offset &= ~3;
  uint32_t position = 8u * ((uint32_t)operand->offset & 3), length = width == WIDTH_U8 || width == WIDTH_S8 ? 8 : 16;
  Inst inst = mc_blank(build, OP_BFE);
  inst.type = width == WIDTH_S8 || width == WIDTH_S16 ? TYPE_S32 : TYPE_U32;
  inst.a = mc_value(build, &word);
  inst.b = mc_constant(build, position | length << 8);
  inst.dst = mc_destination(build, mc_at(build, 0), 1);
  mc_emit(build, &inst);
  return true;
}

static bool known_constant(McBuild *build, const McOperand *operand, MemWidth width) {
  bool wide = width == WIDTH_64;
  if (width != WIDTH_32 && !wide)
    return width != WIDTH_128 ? narrow_constant(build, operand, width) : mc_refuse(build);
  /* LDC takes a pipe and some time; ULDC no more than any other instruction. */
  bool loads = build->inst->root[0] == 'L';
  Inst inst = mc_blank(build, wide ? loads ? OP_LDC64 : OP_MOV64 : loads ? OP_LDC : OP_MOV);
  inst.a = wide ? mc_pair(build, operand) : mc_value(build, operand);
  inst.wide = wide ? WIDE_DST | WIDE_A : 0;
  inst.imm = loads ? operand->bank << 16 | operand->offset : 0; /* which line of the constant cache it touches */
  inst.dst = mc_destination(build, mc_at(build, 0), wide ? 2 : 1);
  mc_emit(build, &inst);
  return true;
}

/* c[bank][register + offset]. Bank 0 holds parameters, the others lie in variables. */
static bool indexed_constant(McBuild *build, const McOperand *operand, MemWidth width) {
  McOperand index = plain_register(operand->base != MC_NO_REGISTER ? MC_REGISTER : MC_UNIFORM,
                                   operand->base != MC_NO_REGISTER ? operand->base : operand->uniform);
  Inst inst = mc_blank(build, OP_LD);
  inst.width = (uint8_t)width;
  if (operand->bank == 0) {
    inst.space = MEM_PARAM;
    inst.a = mc_value(build, &index);
    inst.imm = operand->offset; /* from the bank's first byte */
  } else {
    int variable = mc_bank_variable(build, operand->bank);
    if (variable < 0)
      return mc_refuse(build);
    inst.space = MEM_CONST;
    inst.flags |= INST_ADDR64;
    inst.wide |= WIDE_A;
    inst.imm = operand->offset;
    inst.a = widened_sum(build, &index, mc_symbol_pair(build, (uint32_t)variable, 0));
  }
  inst.dst = mc_destination(build, mc_at(build, 0), words_of(width));
  mc_emit(build, &inst);
  return true;
}

bool mc_ldc(McBuild *build) {
  const McOperand *operand = mc_at(build, 1);
  MemWidth width = width_of(build);
  if (operand->kind != MC_CONSTANT || !mc_only(build, "64", "U8", "S8", "U16", "S16", "128", NULL))
    return mc_refuse(build);
  bool indexed = (operand->base != MC_NO_REGISTER && operand->base != MC_RZ) || operand->uniform != MC_NO_REGISTER;
  McOperand still = *operand;
  still.base = MC_NO_REGISTER;
  return indexed ? indexed_constant(build, operand, width) : known_constant(build, &still, width);
}
