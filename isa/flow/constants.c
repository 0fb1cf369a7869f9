#include "isa/flow/constants.h"

#include <string.h>

#include "isa/flow/writers.h"

enum { CONSTS_MAX = 32000 }; /* a constant is an int16_t */

/* -- what holds a constant -- */

static bool holds_constant(const VInst *vinst) {
  return (vinst->inst.op == OP_MOV || vinst->inst.op == OP_MOV64) && vinst->a < 0 && !vinst_is_guarded(vinst) &&
         vinst->pdst == VPRED_SINK && !(vinst->inst.flags & ~(uint32_t)INST_SYNCED);
}

static bool is_immediate(const Writers *writers, int32_t operand, uint8_t rows) {
  for (unsigned row = 0; row < rows; row++)
    if (writers->vkernel->kernel->consts[~operand + (int32_t)row].kind != CONST_IMMEDIATE)
      return false;
  return true;
}

static uint64_t immediate(const Writers *writers, int32_t operand, uint8_t rows) {
  const ConstRef *constant = &writers->vkernel->kernel->consts[~operand];
  return constant[0].value | (rows == 2 ? (uint64_t)constant[1].value << 32 : 0);
}

static bool is_zero(const Writers *writers, int32_t operand, uint8_t rows) {
  return is_immediate(writers, operand, rows) && immediate(writers, operand, rows) == 0;
}

typedef enum { PLACE_A, PLACE_B, PLACE_C } Place;

/* Which operands of instructions that aren't arithmetic may be constants; for those of memory, see scratch.h. */
static bool takes_constant(const Writers *writers, const VInst *vinst, Place place, int32_t constant, uint8_t rows) {
  const Inst *inst = &vinst->inst;
  bool memory = op_info[inst->op].flags & (OPF_LOAD | OPF_STORE);
  bool near = inst->space == MEM_LOCAL || op_info[inst->op].unit == UNIT_SHARED;
  if (memory)
    return place == PLACE_A ? near && is_immediate(writers, constant, rows)
                            : is_zero(writers, constant, rows) && !vinst_operands(vinst).c;
  switch ((Opcode)inst->op) {
  case OP_SHFL: return place != PLACE_A;
  case OP_MATCH:
  case OP_REDUX: return place == PLACE_B;
  case OP_VOTE:
  case OP_ELECT:
  case OP_NANOSLEEP: return true;
  default: return false;
  }
}

/* -- folding -- */

typedef struct Operand {
  int32_t *reg;
  uint8_t *row, rows;
} Operand;

static bool is_sum(const VInst *vinst) {
  return (vinst->inst.op == OP_IADD || vinst->inst.op == OP_IADD64) && !(vinst->inst.flags & ~(uint32_t)INST_SYNCED);
}

/* Constants of an instruction, RZ aside: it may have one, a sum any number of immediates, since that is a constant
 * itself. */
typedef struct Constants {
  bool any, banked;
} Constants;

static void note_constant(const Writers *writers, Constants *constants, int32_t constant, uint8_t rows) {
  constants->any |= !is_zero(writers, constant, rows);
  constants->banked |= !is_immediate(writers, constant, rows);
}

static bool has_room(const Writers *writers, const VInst *vinst, const Constants *constants, int32_t constant,
                     uint8_t rows) {
  bool sum = is_sum(vinst) && is_immediate(writers, constant, rows);
  return is_zero(writers, constant, rows) || !(sum ? constants->banked : constants->any);
}

static void fold_operand(const Writers *writers, uint32_t i, const Operand *operand, Place place,
                         Constants *constants) {
  const VInst *vinst = writers_inst(writers, i);
  const VInst *maker = writers_maker(writers, i, *operand->reg, *operand->row, operand->rows);
  if (!maker || !holds_constant(maker))
    return;
  int32_t constant = maker->a - (int32_t)(*operand->row - maker->dst_row);
  bool arithmetic = unit_is_arithmetic(op_info[vinst->inst.op].unit);
  if (arithmetic ? !has_room(writers, vinst, constants, constant, operand->rows)
                 : !takes_constant(writers, vinst, place, constant, operand->rows))
    return;
  note_constant(writers, constants, constant, operand->rows);
  *operand->reg = constant;
  *operand->row = 0;
}

static void become_move(VInst *vinst, int32_t reg, uint8_t row) {
  vinst->inst.op = vinst->inst.op == OP_IADD64 ? OP_MOV64 : OP_MOV;
  vinst->inst.type = 0;
  vinst->inst.wide = vinst->inst.op == OP_MOV64 ? WIDE_DST | WIDE_A : 0;
  vinst->a = reg;
  vinst->a_row = row;
  vinst->b = VREG_SINK;
  vinst->b_row = 0;
}

/* The sum as a constant; VREG_SINK if there is no room for another. */
static int32_t sum_constant(const Writers *writers, GHashTable *sums, uint64_t sum) {
  VKernel *vkernel = writers->vkernel;
  gpointer known = g_hash_table_lookup(sums, &sum);
  if (known)
    return ~(GPOINTER_TO_INT(known) - 1);
  if (vkernel->kernel->nconsts + 2 > CONSTS_MAX)
    return VREG_SINK;
  int32_t constant = vkernel_immediate64(vkernel, sum);
  g_hash_table_insert(sums, g_memdup2(&sum, sizeof sum), GINT_TO_POINTER(~constant + 1));
  return constant;
}

/* A sum of constants is one, and a sum with 0 is a copy. */
static void fold_sum(const Writers *writers, VInst *vinst, GHashTable *sums) {
  uint8_t rows = vinst->inst.op == OP_IADD64 ? 2 : 1;
  if (!is_sum(vinst))
    return;
  bool a = vinst->a < 0 && is_immediate(writers, vinst->a, rows),
       b = vinst->b < 0 && is_immediate(writers, vinst->b, rows);
  if (a && b) {
    uint64_t sum = immediate(writers, vinst->a, rows) + immediate(writers, vinst->b, rows);
    int32_t constant = sum_constant(writers, sums, rows == 2 ? sum : (uint32_t)sum);
    if (constant != VREG_SINK)
      become_move(vinst, constant, 0);
  } else if (b && immediate(writers, vinst->b, rows) == 0) {
    become_move(vinst, vinst->a, vinst->a_row);
  } else if (a && immediate(writers, vinst->a, rows) == 0) {
    become_move(vinst, vinst->b, vinst->b_row);
  }
}

static void fold_inst(const Writers *writers, uint32_t i, GHashTable *sums) {
  VInst *vinst = writers_inst(writers, i);
  VOperands rows = vinst_operands(vinst);
  const Operand operands[] = {
      {&vinst->a, &vinst->a_row, rows.a}, {&vinst->b, &vinst->b_row, rows.b}, {&vinst->c, &vinst->c_row, rows.c}};
  Constants constants = {0};
  for (unsigned o = 0; o < G_N_ELEMENTS(operands); o++)
    if (operands[o].rows && *operands[o].reg < 0)
      note_constant(writers, &constants, *operands[o].reg, operands[o].rows);
  for (unsigned o = 0; o < G_N_ELEMENTS(operands); o++)
    fold_operand(writers, i, &operands[o], (Place)o, &constants);
  fold_sum(writers, vinst, sums);
}

void vkernel_fold_constants(VKernel *vkernel) {
  Writers writers;
  g_autoptr(GHashTable) sums = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
  writers_init(&writers, vkernel);
  for (uint32_t i = 0; i < vkernel->insts->len; i++)
    fold_inst(&writers, i, sums);
  writers_clear(&writers);
}

/* -- splitting -- */

/* A constant that a block has for itself. */
typedef struct Copy {
  uint32_t maker, block, before; /* the instruction that makes it, the block, the instruction that it stands before */
  int32_t reg;
} Copy;

typedef struct Split {
  Writers writers;
  GArray *copies;    /* Copy */
  GHashTable *known; /* (maker, block) to index + 1 */
} Split;

/* The copy for that block, which is made no later than at `place`. */
static int32_t copy_for(Split *split, uint32_t maker, uint32_t place) {
  const VInst *vinst = writers_inst(&split->writers, maker);
  uint32_t block = split->writers.flow.block_of[place];
  gpointer key = GSIZE_TO_POINTER((gsize)maker << 32 | block);
  guint index = GPOINTER_TO_UINT(g_hash_table_lookup(split->known, key));
  if (!index) {
    Copy copy = {maker, block, place, vkernel_register(split->writers.vkernel, vinst_operands(vinst).dst)};
    g_array_append_val(split->copies, copy);
    g_hash_table_insert(split->known, key, GUINT_TO_POINTER(index = split->copies->len));
  }
  Copy *copy = &g_array_index(split->copies, Copy, index - 1);
  copy->before = MIN(copy->before, place);
  return copy->reg;
}

static void split_operand(Split *split, uint32_t i, const Operand *operand) {
  const Writers *writers = &split->writers;
  const VInst *maker = writers_maker(writers, i, *operand->reg, *operand->row, operand->rows);
  if (!maker || operand->rows != 2 || !holds_constant(maker) || *operand->row != maker->dst_row ||
      vinst_operands(maker).dst != 2)
    return;
  uint32_t from = (uint32_t)writers->writer[writers_unit(writers, *operand->reg, *operand->row)];
  uint32_t place = writers_leave_loops(writers, from, i);
  if (writers->flow.block_of[place] == writers->flow.block_of[from])
    return;
  *operand->reg = copy_for(split, from, place);
  *operand->row = 0;
}

static int compare_copies(const void *x, const void *y) {
  const Copy *a = x, *b = y;
  if (a->before != b->before)
    return a->before < b->before ? -1 : 1;
  return a->maker < b->maker ? -1 : a->maker > b->maker;
}

static void put_copies(Split *split) {
  VKernel *vkernel = split->writers.vkernel;
  VEdit edit;
  guint next = 0;
  g_array_sort(split->copies, compare_copies);
  vedit_init(&edit, vkernel);
  for (uint32_t i = 0; i < vkernel->insts->len; i++) {
    edit.moved[i] = edit.insts->len;
    for (; next < split->copies->len && g_array_index(split->copies, Copy, next).before == i; next++) {
      const Copy *copy = &g_array_index(split->copies, Copy, next);
      VInst vinst = *writers_inst(&split->writers, copy->maker);
      vinst.inst.flags &= ~(uint32_t)INST_SYNCED;
      vinst.dst = copy->reg;
      vinst.dst_row = 0;
      vedit_append(&edit, &vinst);
    }
    vedit_append(&edit, writers_inst(&split->writers, i));
  }
  vedit_finish(&edit, vkernel);
}

static void split_inst(Split *split, uint32_t i) {
  VInst *vinst = writers_inst(&split->writers, i);
  VOperands rows = vinst_operands(vinst);
  const Operand operands[] = {
      {&vinst->a, &vinst->a_row, rows.a}, {&vinst->b, &vinst->b_row, rows.b}, {&vinst->c, &vinst->c_row, rows.c}};
  for (unsigned o = 0; o < G_N_ELEMENTS(operands); o++)
    split_operand(split, i, &operands[o]);
}

void vkernel_split_constants(VKernel *vkernel) {
  Split split = {.copies = g_array_new(FALSE, FALSE, sizeof(Copy)), .known = g_hash_table_new(NULL, NULL)};
  writers_init(&split.writers, vkernel);
  for (uint32_t i = 0; i < vkernel->insts->len; i++)
    split_inst(&split, i);
  if (split.copies->len)
    put_copies(&split);
  g_array_unref(split.copies);
  g_hash_table_destroy(split.known);
  writers_clear(&split.writers);
}
