#include "tests/unit/virtual_lab.h"

VKernel *lab_virtual(void) {
  Kernel *kernel = g_new0(Kernel, 1);
  kernel->name = g_strdup("k");
  kernel->line = 7;
  return vkernel_new(kernel);
}

uint32_t lab_add(VKernel *vkernel, VInst vinst) {
  g_array_append_val(vkernel->insts, vinst);
  return vkernel->insts->len - 1;
}

VInst lab_op(Opcode op, int32_t dst, int32_t a, int32_t b) {
  VInst vinst = vinst_new(op);
  vinst.dst = dst;
  vinst.a = a;
  vinst.b = b;
  return vinst;
}

VInst lab_set(int32_t pdst, CmpOp cmp, int32_t a, int32_t b) {
  VInst vinst = lab_op(OP_ISETP, VREG_SINK, a, b);
  vinst.pdst = pdst;
  vinst.inst.cmp = (uint8_t)cmp;
  return vinst;
}

VInst lab_branch(uint32_t target, int32_t guard, bool negated) {
  VInst vinst = vinst_new(OP_BRA);
  vinst.guard = guard;
  vinst.inst.target = (int32_t)target;
  vinst.inst.flags = negated ? INST_GUARD_NOT : 0;
  return vinst;
}

int32_t lab_const(VKernel *vkernel, uint32_t value) { return vkernel_immediate(vkernel, value); }

void lab_load(VKernel *vkernel, int32_t dst, MemWidth width, int32_t address) {
  VInst vinst = lab_op(OP_LDS, dst, address, VREG_SINK);
  vinst.inst.width = (uint8_t)width;
  lab_add(vkernel, vinst);
}

void lab_store(VKernel *vkernel, int32_t address, MemWidth width, int32_t value) {
  VInst vinst = lab_op(OP_STS, VREG_SINK, address, value);
  vinst.inst.width = (uint8_t)width;
  lab_add(vkernel, vinst);
}

/* -- the interpreter -- */

/* An instruction with plain numbers: registers by row, constants by ~row, predicates with -1 for PT. */
typedef struct Step {
  const Inst *inst;
  VOperands rows;
  int32_t dst, a, b, c, guard, pdst, pdst2, psrc;
} Step;

typedef struct Machine {
  const Kernel *kernel;
  uint32_t *row;
  uint8_t *pred;
  GHashTable *local; /* address + 1 -> word */
  int32_t sink_row;
  LabRun run;
} Machine;

static uint32_t value_at(const Machine *machine, int32_t operand, unsigned row) {
  return operand < 0 ? machine->kernel->consts[~operand].value : machine->row[operand + (int32_t)row];
}

static uint64_t wide_at(const Machine *machine, int32_t operand) {
  uint64_t high = operand < 0 ? 0 : value_at(machine, operand, 1);
  return value_at(machine, operand, 0) | high << 32;
}

static bool pred_at(const Machine *machine, int32_t pred) { return pred < 0 || machine->pred[pred]; }

static void write_pred(Machine *machine, int32_t pred, bool value) {
  if (pred >= 0)
    machine->pred[pred] = value;
}

static void write_rows(Machine *machine, const Step *step, const uint32_t *values, unsigned count) {
  if (step->dst == machine->sink_row)
    return;
  for (unsigned row = 0; row < count; row++)
    machine->row[step->dst + (int32_t)row] = values[row];
}

static uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t z = (a ^ b * UINT64_C(0x9e3779b97f4a7c15)) + UINT64_C(0xd1342543de82ef95);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  return z ^ z >> 27;
}

static bool compare(const Inst *inst, uint32_t a, uint32_t b) {
  int order = inst->type == TYPE_S32 ? ((int32_t)a > (int32_t)b) - ((int32_t)a < (int32_t)b) : (a > b) - (a < b);
  switch ((CmpOp)inst->cmp) {
  case CMP_LT: return order < 0;
  case CMP_LE: return order <= 0;
  case CMP_GT: return order > 0;
  case CMP_GE: return order >= 0;
  case CMP_NE: return order != 0;
  default: return order == 0;
  }
}

/* The predicate that a step reads. */
static bool read_at(const Machine *machine, const Step *step) {
  return pred_at(machine, step->psrc) != (step->inst->psrc_not & 1);
}

static void write_wide(Machine *machine, const Step *step, uint64_t value) {
  uint32_t rows[2] = {(uint32_t)value, (uint32_t)(value >> 32)};
  write_rows(machine, step, rows, 2);
}

static gpointer local_key(const Step *step, uint32_t address, unsigned row) {
  return GUINT_TO_POINTER(address + (uint32_t)step->inst->imm + 4 * row + 1);
}

static void execute(Machine *machine, const Step *step) {
  uint32_t rows[4] = {0};
  uint32_t a = step->rows.a ? value_at(machine, step->a, 0) : 0, b = step->rows.b ? value_at(machine, step->b, 0) : 0;
  switch (step->inst->op) {
  case OP_MOV: write_rows(machine, step, &a, 1); break;
  case OP_MOV64: write_wide(machine, step, wide_at(machine, step->a)); break;
  case OP_IADD:
    rows[0] = a + b;
    write_rows(machine, step, rows, 1);
    break;
  case OP_IADD64: write_wide(machine, step, wide_at(machine, step->a) + wide_at(machine, step->b)); break;
  case OP_IMULW: {
    bool is_signed = step->inst->type == TYPE_S32;
    write_wide(machine, step, is_signed ? (uint64_t)((int64_t)(int32_t)a * (int32_t)b) : (uint64_t)a * b);
    break;
  }
  case OP_SHL64: write_wide(machine, step, b > 63 ? 0 : wide_at(machine, step->a) << b); break;
  case OP_SHR:
    rows[0] = (uint32_t)((int32_t)a >> MIN(b, 31));
    write_rows(machine, step, rows, 1);
    break;
  case OP_POPC64:
    rows[0] = (uint32_t)mix(wide_at(machine, step->a), 3);
    write_rows(machine, step, rows, 1);
    break;
  case OP_SEL:
    rows[0] = pred_at(machine, step->psrc) ? a : b;
    write_rows(machine, step, rows, 1);
    break;
  case OP_ISETP: {
    bool is = compare(step->inst, a, b), with = read_at(machine, step), either = step->inst->lop == LOP_OR;
    write_pred(machine, step->pdst, either ? is || with : is && with);
    write_pred(machine, step->pdst2, either ? !is || with : !is && with);
    break;
  }
  case OP_PSETP: write_pred(machine, step->pdst, read_at(machine, step)); break;
  case OP_LDS:
    for (unsigned row = 0; row < step->rows.dst; row++)
      rows[row] = (uint32_t)mix(a + (uint32_t)step->inst->imm, row);
    write_rows(machine, step, rows, step->rows.dst);
    break;
  case OP_LDL:
    for (unsigned row = 0; row < step->rows.dst; row++)
      rows[row] = GPOINTER_TO_UINT(g_hash_table_lookup(machine->local, local_key(step, a, row)));
    write_rows(machine, step, rows, step->rows.dst);
    break;
  case OP_STL:
    for (unsigned row = 0; row < step->rows.b; row++)
      g_hash_table_insert(machine->local, local_key(step, a, row), GUINT_TO_POINTER(value_at(machine, step->b, row)));
    break;
  case OP_STS:
    a += (uint32_t)step->inst->imm;
    for (unsigned row = 0; row < step->rows.b; row++)
      machine->run.digest = mix(machine->run.digest, mix(a + row, value_at(machine, step->b, row)));
    machine->run.stores++;
    break;
  default: break;
  }
}

static LabRun run(Machine *machine, const Step *steps, uint32_t count, uint32_t limit) {
  uint32_t pc = 0;
  machine->local = g_hash_table_new(NULL, NULL);
  for (uint32_t n = 0; n < limit && pc < count; n++) {
    const Step *step = &steps[pc++];
    if (pred_at(machine, step->guard) == ((step->inst->flags & INST_GUARD_NOT) != 0))
      continue;
    if (step->inst->op == OP_EXIT) {
      machine->run.ended = true;
      break;
    }
    if (step->inst->op == OP_BRA)
      pc = (uint32_t)step->inst->target;
    else
      execute(machine, step);
  }
  g_hash_table_unref(machine->local);
  g_free(machine->row);
  g_free(machine->pred);
  return machine->run;
}

static int32_t virtual_row(const uint32_t *first, int32_t operand, uint8_t row) {
  return operand < 0 || operand == VREG_SINK ? operand : (int32_t)first[operand] + row;
}

LabRun lab_run_virtual(const VKernel *vkernel, uint32_t limit) {
  guint n = vkernel->insts->len;
  g_autofree uint32_t *first = g_new(uint32_t, vkernel->rows->len + 1);
  uint32_t rows = 0;
  for (guint r = 0; r < vkernel->rows->len; r++) {
    first[r] = rows;
    rows += g_array_index(vkernel->rows, uint8_t, r);
  }
  g_autofree Step *steps = g_new(Step, n + 1);
  for (guint i = 0; i < n; i++) {
    const VInst *vinst = &g_array_index(vkernel->insts, VInst, i);
    steps[i] = (Step){.inst = &vinst->inst,
                      .rows = vinst_operands(vinst),
                      .dst = virtual_row(first, vinst->dst, vinst->dst_row),
                      .a = virtual_row(first, vinst->a, vinst->a_row),
                      .b = virtual_row(first, vinst->b, vinst->b_row),
                      .c = virtual_row(first, vinst->c, vinst->c_row),
                      .guard = vinst->guard,
                      .pdst = vinst->pdst,
                      .pdst2 = vinst->pdst2,
                      .psrc = vinst->psrc[0]};
  }
  Machine machine = {.kernel = vkernel->kernel,
                     .row = g_new0(uint32_t, rows + 1),
                     .pred = g_new0(uint8_t, vkernel->npreds + 1),
                     .sink_row = VREG_SINK};
  return run(&machine, steps, n, limit);
}

static int32_t read_pred(uint8_t pred) { return pred == PRED_TRUE ? -1 : pred; }
static int32_t written_pred(uint8_t pred) { return pred == PRED_SINK ? -1 : pred; }

LabRun lab_run_kernel(const Kernel *kernel, uint32_t limit) {
  g_autofree Step *steps = g_new(Step, kernel->ninsts + 1);
  for (uint32_t i = 0; i < kernel->ninsts; i++) {
    const Inst *inst = &kernel->insts[i];
    VInst form = {.inst = *inst};
    steps[i] = (Step){.inst = inst,
                      .rows = vinst_operands(&form),
                      .dst = inst->dst,
                      .a = inst->a,
                      .b = inst->b,
                      .c = inst->c,
                      .guard = read_pred(inst->guard),
                      .pdst = written_pred(inst->pdst),
                      .pdst2 = written_pred(inst->pdst2),
                      .psrc = read_pred(inst->psrc[0])};
  }
  Machine machine = {.kernel = kernel,
                     .row = g_new0(uint32_t, kernel->nregs + SINK_ROWS),
                     .pred = g_new0(uint8_t, PRED_ROWS),
                     .sink_row = (int32_t)kernel->nregs};
  return run(&machine, steps, kernel->ninsts, limit);
}
