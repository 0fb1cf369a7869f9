#include "isa/flow/uniform.h"

#include <string.h>

#include "isa/flow/divergence.h"

enum { NO_BLOCK = -1, MANY_BLOCKS = -2 };

typedef struct Uniform {
  const VKernel *vkernel;
  uint8_t *fits;   /* of each register */
  uint8_t *made;   /* of each register: something writes it */
  uint8_t *remade; /* of each register: one instruction writes it, which can stand anywhere */
  int32_t
      *block; /* of each register: the block of all instructions that write or read it, or NO_BLOCK, MANY_BLOCKS */
  uint8_t *parted; /* of each register: an instruction writes it where lanes may be apart */
  bool changed;
} Uniform;

static const VInst *inst_at(const Uniform *uniform, guint i) {
  return &g_array_index(uniform->vkernel->insts, VInst, i);
}

static void drop(Uniform *uniform, int32_t reg) {
  if (reg < 0 || reg == VREG_SINK || !uniform->fits[reg])
    return;
  uniform->fits[reg] = 0;
  uniform->changed = true;
}

/* -- operations -- */

/* What the launch gives is in the constant bank. */
static bool is_launch_constant(uint8_t special) {
  switch ((SpecialReg)special) {
  case SR_NTID_X:
  case SR_NTID_Y:
  case SR_NTID_Z:
  case SR_NCTAID_X:
  case SR_NCTAID_Y:
  case SR_NCTAID_Z:
  case SR_ENVREG1:
  case SR_ENVREG2:
  case SR_NCLUSTERID_X:
  case SR_NCLUSTERID_Y:
  case SR_NCLUSTERID_Z:
  case SR_CLUSTER_NCTAID_X:
  case SR_CLUSTER_NCTAID_Y:
  case SR_CLUSTER_NCTAID_Z:
  case SR_CLUSTER_NCTARANK:
  case SR_IS_CLUSTER: return true;
  default: return false;
  }
}

static bool is_block_register(uint8_t special) {
  return special == SR_CTAID_X || special == SR_CTAID_Y || special == SR_CTAID_Z || special == SR_CLUSTER_CTARANK ||
         (special >= SR_CLUSTERID_X && special <= SR_CLUSTERID_Z) ||
         (special >= SR_CLUSTER_CTAID_X && special <= SR_CLUSTER_CTAID_Z);
}

/* Operations of the uniform datapath of sm_75 to sm_90: UMOV, ULDC, S2UR, UIADD3, UIMAD, ULEA, ULOP3, USHF, UPRMT,
 * UPOPC, UFLO, UBREV. */
static bool is_uniform_operation(const VInst *vinst) {
  const Inst *inst = &vinst->inst;
  if (vinst_is_guarded(vinst) || vinst->pdst != VPRED_SINK || vinst->pdst2 != VPRED_SINK ||
      inst->flags & (INST_CARRY_IN | INST_CARRY_OUT | INST_MARKS))
    return false;
  switch ((Opcode)inst->op) {
  case OP_S2R: return is_launch_constant(inst->mode) || is_block_register(inst->mode);
  case OP_MOV:
  case OP_MOV64:
  case OP_IADD:
  case OP_ISUB:
  case OP_IMUL:
  case OP_IMAD:
  case OP_IMULW:
  case OP_IMADW:
  case OP_IADD64:
  case OP_ISUB64:
  case OP_SHL:
  case OP_SHR:
  case OP_SHL64:
  case OP_SHR64:
  case OP_SHF:
  case OP_LOP:
  case OP_LOP64:
  case OP_LOP3:
  case OP_BFE:
  case OP_PRMT:
  case OP_POPC:
  case OP_FLO:
  case OP_BREV: return true;
  default: return false;
  }
}

static bool can_be_remade(const VInst *vinst) {
  bool move = vinst->inst.op == OP_MOV || vinst->inst.op == OP_MOV64;
  return move ? vinst->a < 0 : vinst->inst.op == OP_S2R && is_launch_constant(vinst->inst.mode);
}

/* -- places -- */

static void note_block(Uniform *uniform, int32_t reg, int32_t block) {
  int32_t *known = &uniform->block[reg];
  *known = *known == NO_BLOCK || *known == block ? block : MANY_BLOCKS;
}

static void note_inst(Uniform *uniform, const VInst *vinst, const Divergence *divergence, uint32_t block) {
  VRegUse uses[8];
  unsigned count = vinst_reads(vinst, uses);
  for (unsigned u = 0; u < count; u++)
    note_block(uniform, uses[u].reg, (int32_t)block);
  count = vinst_writes(vinst, uses);
  for (unsigned u = 0; u < count; u++) {
    int32_t reg = uses[u].reg;
    note_block(uniform, reg, (int32_t)block);
    uniform->remade[reg] = !uniform->made[reg] && can_be_remade(vinst);
    uniform->made[reg] = 1;
    uniform->parted[reg] |= divergence->diverged[block];
  }
}

/* A value that lanes make one after the other is in the way of those who aren't there: only one block may know it. */
static void drop_parted(Uniform *uniform, const Flow *flow) {
  Loops loops;
  Divergence divergence;
  loops_init(&loops, flow);
  divergence_init(&divergence, uniform->vkernel, flow, &loops);
  for (guint i = 0; i < uniform->vkernel->insts->len; i++)
    note_inst(uniform, inst_at(uniform, i), &divergence, flow->block_of[i]);
  for (guint r = 0; r < uniform->vkernel->rows->len; r++)
    if (!uniform->made[r] || (uniform->parted[r] && !uniform->remade[r] && uniform->block[r] == MANY_BLOCKS))
      drop(uniform, (int32_t)r);
  divergence_clear(&divergence);
  loops_clear(&loops);
}

/* -- operands -- */

typedef struct Operand {
  int32_t reg;
  uint8_t rows;
} Operand;

static bool is_zero(const Uniform *uniform, Operand operand) {
  for (unsigned row = 0; row < operand.rows; row++) {
    const ConstRef *constant = &uniform->vkernel->kernel->consts[~operand.reg + (int32_t)row];
    if (constant->kind != CONST_IMMEDIATE || constant->value != 0)
      return false;
  }
  return true;
}

static bool fits(const Uniform *uniform, Operand operand) {
  return operand.rows && (operand.reg < 0 || (operand.reg != VREG_SINK && uniform->fits[operand.reg]));
}

static bool is_uniform(const Uniform *uniform, const VInst *vinst, const Operand operands[3]) {
  if (!is_uniform_operation(vinst))
    return false;
  for (unsigned o = 0; o < 3; o++)
    if (operands[o].rows && !fits(uniform, operands[o]))
      return false;
  return true;
}

static bool is_same(const Operand operands[3], unsigned o) {
  bool same = false;
  for (unsigned other = o + 1; other < 3; other++)
    same |= operands[other].rows && operands[other].reg == operands[o].reg;
  return same;
}

/* Arithmetic has one place for a constant or a uniform register. */
static void drop_crowded(Uniform *uniform, const Operand operands[3]) {
  unsigned constants = 0;
  for (unsigned o = 0; o < 3; o++)
    constants += operands[o].rows && operands[o].reg < 0 && !is_zero(uniform, operands[o]);
  for (unsigned o = 3; o-- > 0;)
    if (operands[o].reg >= 0 && fits(uniform, operands[o]) && !is_same(operands, o) && constants++)
      drop(uniform, operands[o].reg);
}

static void visit(Uniform *uniform, const VInst *vinst) {
  VOperands rows = vinst_operands(vinst);
  const Operand operands[] = {{vinst->a, rows.a}, {vinst->b, rows.b}, {vinst->c, rows.c}};
  if (is_uniform(uniform, vinst, operands))
    return; /* a register that isn't uniform gets a copy of the result */
  if (rows.dst)
    drop(uniform, vinst->dst);
  if (unit_is_arithmetic(op_info[vinst->inst.op].unit)) {
    drop_crowded(uniform, operands);
    return;
  }
  for (unsigned o = op_info[vinst->inst.op].unit == UNIT_SHARED; o < 3; o++)
    if (operands[o].rows)
      drop(uniform, operands[o].reg);
}

/* Drops until nothing changes: what isn't uniform makes others that aren't. */
static void visit_all(Uniform *uniform) {
  do {
    uniform->changed = false;
    for (guint i = 0; i < uniform->vkernel->insts->len; i++)
      visit(uniform, inst_at(uniform, i));
  } while (uniform->changed);
}

uint8_t *uniform_registers(const VKernel *vkernel, const Flow *flow) {
  guint n = vkernel->rows->len;
  g_autofree uint8_t *bytes = g_new0(uint8_t, 3 * (gsize)n + 1);
  g_autofree int32_t *block = g_new(int32_t, n + 1);
  Uniform uniform = {.vkernel = vkernel,
                     .fits = g_new(uint8_t, n + 1),
                     .made = bytes,
                     .remade = bytes + n,
                     .parted = bytes + 2 * (gsize)n,
                     .block = block};
  memset(uniform.fits, 1, n + 1);
  memset(block, 0xff, n * sizeof *block);
  visit_all(&uniform);
  if (!memchr(uniform.fits, 1, n)) {
    g_free(uniform.fits);
    return NULL;
  }
  drop_parted(&uniform, flow);
  visit_all(&uniform);
  return uniform.fits;
}
