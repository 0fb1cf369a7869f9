#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "isa/flow/copies.h"
#include "sim/engine/rng.h"
#include "tests/unit/unit.h"
#include "tests/unit/virtual_lab.h"

enum { MAX_REGISTERS = 255, PROGRAMS = 400, STEPS = 20000 };

static void finish(VKernel *vkernel) { lab_add(vkernel, vinst_new(OP_EXIT)); }

static Kernel *allocate(VKernel *vkernel) {
  g_autoptr(Diag) diag = diag_new();
  Kernel *kernel = vkernel_allocate(vkernel, MAX_REGISTERS, "k.ptx", diag);
  g_autofree char *messages = diag_render(diag);
  ck_assert_msg(kernel, "%s", messages);
  vkernel_free(vkernel);
  return kernel;
}

static unsigned count_op(const Kernel *kernel, Opcode op) {
  unsigned count = 0;
  for (uint32_t i = 0; i < kernel->ninsts; i++)
    count += kernel->insts[i].op == op;
  return count;
}

/* -- random programs -- */

/* Values in scope by rows (1, 2 and 4: index 0, 1, 2), and predicates. */
typedef struct Maker {
  Rng rng;
  VKernel *vkernel;
  GArray *values[3], *preds; /* int32_t */
  int budget;
} Maker;

static int32_t pick(Maker *maker, const GArray *from) {
  return g_array_index(from, int32_t, rng_below(&maker->rng, from->len));
}

/* A new value, or one that is there: unguarded only, since a guarded write doesn't define. */
static int32_t target(Maker *maker, unsigned kind, VInst *vinst) {
  bool fresh = rng_below(&maker->rng, 2) && vinst->guard == VPRED_TRUE;
  return fresh ? vkernel_register(maker->vkernel, (uint8_t)(1u << kind)) : pick(maker, maker->values[kind]);
}

static void define(Maker *maker, unsigned kind, int32_t value) {
  for (guint i = 0; i < maker->values[kind]->len; i++)
    if (g_array_index(maker->values[kind], int32_t, i) == value)
      return;
  g_array_append_val(maker->values[kind], value);
}

/* A row of any value, or a constant. */
static int32_t source(Maker *maker, uint8_t *row) {
  unsigned kind = rng_below(&maker->rng, 4);
  if (kind == 3)
    return lab_const(maker->vkernel, rng_below(&maker->rng, 8));
  *row = (uint8_t)rng_below(&maker->rng, 1u << kind);
  return pick(maker, maker->values[kind]);
}

/* A pair, or the upper or lower half of a quad. */
static int32_t wide_source(Maker *maker, uint8_t *row) {
  if (rng_below(&maker->rng, 3))
    return pick(maker, maker->values[1]);
  *row = (uint8_t)(2 * rng_below(&maker->rng, 2));
  return pick(maker, maker->values[2]);
}

static void guard(Maker *maker, VInst *vinst) {
  if (rng_below(&maker->rng, 5))
    return;
  vinst->guard = pick(maker, maker->preds);
  vinst->inst.flags |= rng_below(&maker->rng, 2) ? INST_GUARD_NOT : 0;
}

static void make_narrow(Maker *maker, Opcode op) {
  VInst vinst = vinst_new(op);
  guard(maker, &vinst);
  vinst.a = source(maker, &vinst.a_row);
  vinst.b = source(maker, &vinst.b_row);
  if (op == OP_SEL)
    vinst.psrc[0] = pick(maker, maker->preds);
  /* Some write one row of a pair or quad that is there: the parts of vectors. */
  unsigned kind = rng_below(&maker->rng, 4) ? 0 : 1 + rng_below(&maker->rng, 2);
  if (kind == 0) {
    vinst.dst = target(maker, 0, &vinst);
    define(maker, 0, vinst.dst);
  } else {
    vinst.dst = pick(maker, maker->values[kind]);
    vinst.dst_row = (uint8_t)rng_below(&maker->rng, 1u << kind);
  }
  lab_add(maker->vkernel, vinst);
}

static void make_wide(Maker *maker, Opcode op) {
  VInst vinst = vinst_new(op);
  guard(maker, &vinst);
  vinst.inst.wide = op == OP_IMULW ? WIDE_DST : op == OP_POPC64 ? WIDE_A : WIDE_DST | WIDE_A | WIDE_B;
  vinst.a = op == OP_IMULW ? source(maker, &vinst.a_row) : wide_source(maker, &vinst.a_row);
  if (op == OP_IMULW)
    vinst.b = source(maker, &vinst.b_row);
  else if (op == OP_IADD64)
    vinst.b = wide_source(maker, &vinst.b_row);
  unsigned kind = op == OP_POPC64 ? 0 : 1;
  vinst.dst = target(maker, kind, &vinst);
  define(maker, kind, vinst.dst);
  lab_add(maker->vkernel, vinst);
}

static void make_access(Maker *maker, bool load) {
  unsigned kind = rng_below(&maker->rng, 3);
  VInst vinst = vinst_new(load ? OP_LDS : OP_STS);
  vinst.inst.width = kind == 0 ? WIDTH_32 : kind == 1 ? WIDTH_64 : WIDTH_128;
  guard(maker, &vinst);
  vinst.a = source(maker, &vinst.a_row);
  if (load) {
    vinst.dst = target(maker, kind, &vinst);
    define(maker, kind, vinst.dst);
  } else {
    vinst.b = pick(maker, maker->values[kind]);
  }
  lab_add(maker->vkernel, vinst);
}

static void make_compare(Maker *maker) {
  VInst vinst = lab_set(pick(maker, maker->preds), rng_below(&maker->rng, 2) ? CMP_LT : CMP_EQ, 0, 0);
  guard(maker, &vinst);
  vinst.a = source(maker, &vinst.a_row);
  vinst.b = source(maker, &vinst.b_row);
  if (rng_below(&maker->rng, 3) == 0)
    vinst.pdst2 = pick(maker, maker->preds);
  if (vinst.pdst2 == vinst.pdst)
    vinst.pdst2 = VPRED_SINK;
  lab_add(maker->vkernel, vinst);
}

static void make_block(Maker *maker, unsigned depth);

static void patch(Maker *maker, uint32_t branch) {
  g_array_index(maker->vkernel->insts, VInst, branch).inst.target = (int32_t)maker->vkernel->insts->len;
}

static void make_if(Maker *maker, unsigned depth) {
  uint32_t skip = lab_add(maker->vkernel, lab_branch(0, pick(maker, maker->preds), rng_below(&maker->rng, 2)));
  make_block(maker, depth + 1);
  if (rng_below(&maker->rng, 2)) {
    uint32_t end = lab_add(maker->vkernel, lab_branch(0, VPRED_TRUE, false));
    patch(maker, skip);
    make_block(maker, depth + 1);
    patch(maker, end);
  } else {
    patch(maker, skip);
  }
}

/* Three rounds, the counter copied as nvcc copies a loop's variable. */
static void make_loop(Maker *maker, unsigned depth) {
  VKernel *vkernel = maker->vkernel;
  int32_t i = vkernel_register(vkernel, 1), next = vkernel_register(vkernel, 1), again = vkernel_predicate(vkernel);
  lab_add(vkernel, lab_op(OP_MOV, i, lab_const(vkernel, 0), VREG_SINK));
  uint32_t head = vkernel->insts->len;
  make_block(maker, depth + 1);
  lab_add(vkernel, lab_op(OP_IADD, next, i, lab_const(vkernel, 1)));
  lab_add(vkernel, lab_op(OP_MOV, i, next, VREG_SINK));
  lab_add(vkernel, lab_set(again, CMP_LT, i, lab_const(vkernel, 3)));
  lab_add(vkernel, lab_branch(head, again, false));
}

static void make_inst(Maker *maker, unsigned depth) {
  static const Opcode narrow[] = {OP_MOV, OP_MOV, OP_IADD, OP_SEL},
                      wide[] = {OP_MOV64, OP_IADD64, OP_IMULW, OP_POPC64};
  unsigned choice = rng_below(&maker->rng, 20);
  if (choice < 8)
    make_narrow(maker, narrow[rng_below(&maker->rng, G_N_ELEMENTS(narrow))]);
  else if (choice < 12)
    make_wide(maker, wide[rng_below(&maker->rng, G_N_ELEMENTS(wide))]);
  else if (choice < 16)
    make_access(maker, choice < 14);
  else if (choice < 18)
    make_compare(maker);
  else if (depth < 3)
    choice == 18 ? make_if(maker, depth) : make_loop(maker, depth);
}

/* What a block defines is out of scope behind it. */
static void make_block(Maker *maker, unsigned depth) {
  guint known[3];
  for (unsigned kind = 0; kind < 3; kind++)
    known[kind] = maker->values[kind]->len;
  for (unsigned n = 2 + rng_below(&maker->rng, 12); n > 0 && maker->budget > 0; n--, maker->budget--)
    make_inst(maker, depth);
  for (unsigned kind = 0; kind < 3; kind++)
    g_array_set_size(maker->values[kind], known[kind]);
}

static VKernel *make_program(uint64_t seed, unsigned preds) {
  static const Opcode makes[] = {OP_MOV, OP_IMULW, OP_LDS};
  Maker maker = {.vkernel = lab_virtual(), .preds = g_array_new(FALSE, FALSE, sizeof(int32_t)), .budget = 150};
  rng_seed(&maker.rng, seed, 0);
  for (unsigned kind = 0; kind < 3; kind++) {
    maker.values[kind] = g_array_new(FALSE, FALSE, sizeof(int32_t));
    for (unsigned i = 0; i < 3; i++) {
      VInst vinst = lab_op(makes[kind], vkernel_register(maker.vkernel, (uint8_t)(1u << kind)),
                           lab_const(maker.vkernel, 3 * kind + i), lab_const(maker.vkernel, i));
      vinst.inst.wide = kind == 1 ? WIDE_DST : 0;
      vinst.inst.width = kind == 2 ? WIDTH_128 : WIDTH_32;
      lab_add(maker.vkernel, vinst);
      define(&maker, kind, vinst.dst);
    }
  }
  for (unsigned p = 0; p < preds; p++) {
    int32_t pred = vkernel_predicate(maker.vkernel);
    lab_add(maker.vkernel, lab_set(pred, CMP_LT, lab_const(maker.vkernel, p % 5), lab_const(maker.vkernel, p % 7)));
    g_array_append_val(maker.preds, pred);
  }
  while (maker.budget > 0)
    make_block(&maker, 0);
  finish(maker.vkernel);
  for (unsigned kind = 0; kind < 3; kind++)
    g_array_unref(maker.values[kind]);
  g_array_unref(maker.preds);
  return maker.vkernel;
}

/* Groups stand at multiples of their size; a wide destination is equal to a source or apart from it. */
static void check_places(const Kernel *kernel, unsigned seed) {
  for (uint32_t i = 0; i < kernel->ninsts; i++) {
    const Inst *inst = &kernel->insts[i];
    VInst form = {.inst = *inst};
    VOperands rows = vinst_operands(&form);
    const int16_t at[] = {inst->dst, inst->a, inst->b, inst->c};
    const uint8_t size[] = {rows.dst, rows.a, rows.b, rows.c};
    for (unsigned o = 0; o < G_N_ELEMENTS(at); o++) {
      if (at[o] < 0 || size[o] == 0 || (uint32_t)at[o] >= kernel->nregs)
        continue;
      UNIT_ASSERT(at[o] % size[o] == 0 && (uint32_t)at[o] + size[o] <= kernel->nregs, "seed %u, %u: operand %u at %d",
                  seed, i, o, at[o]);
      bool apart = at[o] + size[o] <= at[0] || at[0] + size[0] <= at[o], same = at[o] == at[0] && size[o] == size[0];
      bool narrow_load = inst->op == OP_LDS && size[0] < size[o];
      UNIT_ASSERT(o == 0 || size[0] == 0 || apart || same || narrow_load,
                  "seed %u, %u: operand %u overlaps the result", seed, i, o);
    }
  }
}

static void check_program(unsigned seed, unsigned preds) {
  VKernel *vkernel = make_program(seed, preds);
  LabRun before = lab_run_virtual(vkernel, STEPS);
  vkernel_fold_copies(vkernel);
  Kernel *kernel = allocate(vkernel);
  LabRun after = lab_run_kernel(kernel, 3 * STEPS);
  UNIT_ASSERT(before.ended && after.ended, "seed %u doesn't end", seed);
  UNIT_ASSERT(before.stores == after.stores && before.digest == after.digest, "seed %u: another result", seed);
  check_places(kernel, seed);
  kernel_free(kernel);
}

START_TEST(random_programs_keep_their_meaning) {
  for (unsigned seed = 0; seed < PROGRAMS; seed++)
    check_program(seed, 3);
}
END_TEST

START_TEST(predicates_without_a_place_are_spilled) {
  for (unsigned seed = 0; seed < PROGRAMS / 8; seed++)
    check_program(seed, 60);
}
END_TEST

/* -- known cases -- */

/* R1 is the stack pointer, and isn't given to any value. */
enum { STACK_POINTER = 1 };

START_TEST(a_chain_needs_one_row) {
  VKernel *vkernel = lab_virtual();
  int32_t last = vkernel_register(vkernel, 1);
  lab_load(vkernel, last, WIDTH_32, lab_const(vkernel, 0));
  for (unsigned i = 0; i < 100; i++) {
    int32_t next = vkernel_register(vkernel, 1);
    lab_add(vkernel, lab_op(OP_IADD, next, last, last));
    last = next;
  }
  lab_store(vkernel, lab_const(vkernel, 0), WIDTH_32, last);
  finish(vkernel);
  Kernel *kernel = allocate(vkernel);
  ck_assert_uint_eq(kernel->nregs, 1 + STACK_POINTER);
  kernel_free(kernel);
}
END_TEST

/* `count` values loaded, then all stored. */
static VKernel *many_values(unsigned count, MemWidth width, uint8_t rows) {
  VKernel *vkernel = lab_virtual();
  for (unsigned i = 0; i < count; i++)
    lab_load(vkernel, vkernel_register(vkernel, rows), width, lab_const(vkernel, i));
  for (unsigned i = 0; i < count; i++)
    lab_store(vkernel, lab_const(vkernel, i), width, (int32_t)i);
  finish(vkernel);
  return vkernel;
}

START_TEST(values_live_at_once_need_a_row_each) {
  Kernel *kernel = allocate(many_values(37, WIDTH_32, 1));
  ck_assert_uint_eq(kernel->nregs, 37 + STACK_POINTER);
  kernel_free(kernel);
  kernel = allocate(many_values(37, WIDTH_64, 2));
  ck_assert_uint_eq(kernel->nregs, 74 + 2 * STACK_POINTER);
  kernel_free(kernel);
}
END_TEST

/* Of two vectors one is gone, and of the other one word: a single value takes the word's place, so that another
 * vector has the first one's. */
START_TEST(single_values_leave_groups_of_four_whole) {
  enum { FILLERS = 12 };
  VKernel *vkernel = lab_virtual();
  int32_t gone = vkernel_register(vkernel, 4), part = vkernel_register(vkernel, 4),
          sum = vkernel_register(vkernel, 1), single = vkernel_register(vkernel, 1),
          last = vkernel_register(vkernel, 4);
  int32_t kept[] = {vkernel_register(vkernel, 1), vkernel_register(vkernel, 1)}; /* the rows beside R1 */
  lab_load(vkernel, sum, WIDTH_32, lab_const(vkernel, 0));
  for (unsigned k = 0; k < G_N_ELEMENTS(kept); k++)
    lab_load(vkernel, kept[k], WIDTH_32, lab_const(vkernel, 4 * k));
  lab_load(vkernel, gone, WIDTH_128, lab_const(vkernel, 16));
  lab_load(vkernel, part, WIDTH_128, lab_const(vkernel, 32));
  lab_store(vkernel, lab_const(vkernel, 48), WIDTH_128, gone);
  for (unsigned i = 0; i < FILLERS; i++)
    lab_add(vkernel, lab_op(OP_IADD, sum, sum, sum));
  VInst take = lab_op(OP_IADD, single, part, sum);
  lab_add(vkernel, take);
  lab_load(vkernel, last, WIDTH_128, lab_const(vkernel, 64));
  lab_store(vkernel, lab_const(vkernel, 80), WIDTH_128, last);
  lab_store(vkernel, lab_const(vkernel, 96), WIDTH_32, single);
  for (uint8_t row = 1; row < 4; row++) {
    VInst add = lab_op(OP_IADD, sum, sum, part);
    add.b_row = row;
    lab_add(vkernel, add);
  }
  lab_store(vkernel, lab_const(vkernel, 112), WIDTH_32, sum);
  for (unsigned k = 0; k < G_N_ELEMENTS(kept); k++)
    lab_store(vkernel, lab_const(vkernel, 116 + 4 * k), WIDTH_32, kept[k]);
  finish(vkernel);
  Kernel *kernel = allocate(vkernel);
  ck_assert_uint_le(kernel->nregs, 12);
  kernel_free(kernel);
}
END_TEST

START_TEST(the_parts_of_vectors_need_no_moves) {
  VKernel *vkernel = lab_virtual();
  int32_t in = vkernel_register(vkernel, 4), out = vkernel_register(vkernel, 4);
  lab_load(vkernel, in, WIDTH_128, lab_const(vkernel, 0));
  for (uint8_t i = 0; i < 4; i++) {
    int32_t part = vkernel_register(vkernel, 1), sum = vkernel_register(vkernel, 1);
    VInst take = lab_op(OP_MOV, part, in, VREG_SINK), give = lab_op(OP_MOV, out, sum, VREG_SINK);
    take.a_row = give.dst_row = i;
    lab_add(vkernel, take);
    lab_add(vkernel, lab_op(OP_IADD, sum, part, part));
    lab_add(vkernel, give);
  }
  lab_store(vkernel, lab_const(vkernel, 0), WIDTH_128, out);
  finish(vkernel);
  LabRun before = lab_run_virtual(vkernel, STEPS);
  Kernel *kernel = allocate(vkernel);
  ck_assert_uint_eq(count_op(kernel, OP_MOV), 0);
  ck_assert_uint_eq(kernel->nregs, 4 + 4 * STACK_POINTER);
  ck_assert_uint_eq(lab_run_kernel(kernel, STEPS).digest, before.digest);
  kernel_free(kernel);
}
END_TEST

START_TEST(a_loop_variable_needs_no_move) {
  VKernel *vkernel = lab_virtual();
  int32_t i = vkernel_register(vkernel, 1), next = vkernel_register(vkernel, 1), again = vkernel_predicate(vkernel);
  lab_load(vkernel, i, WIDTH_32, lab_const(vkernel, 0));
  lab_store(vkernel, lab_const(vkernel, 0), WIDTH_32, i);
  lab_add(vkernel, lab_op(OP_IADD, next, i, lab_const(vkernel, 1)));
  lab_add(vkernel, lab_set(again, CMP_LT, next, lab_const(vkernel, 9)));
  lab_add(vkernel, lab_op(OP_MOV, i, next, VREG_SINK));
  lab_add(vkernel, lab_branch(1, again, false));
  finish(vkernel);
  Kernel *kernel = allocate(vkernel);
  ck_assert_uint_eq(count_op(kernel, OP_MOV), 0);
  ck_assert_uint_eq(kernel->nregs, 1 + STACK_POINTER);
  ck_assert_int_eq(kernel->insts[4].target, 1);
  kernel_free(kernel);
}
END_TEST

START_TEST(dead_arithmetic_goes_and_loads_stay) {
  VKernel *vkernel = lab_virtual();
  int32_t loaded = vkernel_register(vkernel, 1), sum = vkernel_register(vkernel, 1),
          more = vkernel_register(vkernel, 1);
  lab_load(vkernel, loaded, WIDTH_32, lab_const(vkernel, 0));
  lab_add(vkernel, lab_op(OP_IADD, sum, loaded, loaded));
  lab_add(vkernel, lab_op(OP_IADD, more, sum, loaded));
  lab_add(vkernel, lab_set(vkernel_predicate(vkernel), CMP_LT, more, loaded));
  finish(vkernel);
  Kernel *kernel = allocate(vkernel);
  ck_assert_uint_eq(kernel->ninsts, 2);
  ck_assert_uint_eq(count_op(kernel, OP_LDS), 1);
  kernel_free(kernel);
}
END_TEST

/* What is written and read under one guard isn't live before; what a guarded write leaves is. */
START_TEST(a_guarded_write_keeps_what_was_there) {
  VKernel *vkernel = lab_virtual();
  int32_t p = vkernel_predicate(vkernel), kept = vkernel_register(vkernel, 1), other = vkernel_register(vkernel, 1);
  lab_load(vkernel, kept, WIDTH_32, lab_const(vkernel, 0));
  lab_add(vkernel, lab_set(p, CMP_EQ, kept, lab_const(vkernel, 1)));
  lab_load(vkernel, other, WIDTH_32, lab_const(vkernel, 5));
  VInst write = lab_op(OP_IADD, kept, other, lab_const(vkernel, 1));
  write.guard = p;
  lab_add(vkernel, write);
  lab_store(vkernel, lab_const(vkernel, 0), WIDTH_32, kept);
  finish(vkernel);
  LabRun before = lab_run_virtual(vkernel, STEPS);
  Kernel *kernel = allocate(vkernel);
  ck_assert_uint_eq(kernel->nregs, 2 + STACK_POINTER);
  ck_assert_uint_eq(lab_run_kernel(kernel, STEPS).digest, before.digest);
  kernel_free(kernel);
}
END_TEST

/* A mark keeps its instruction; labels and branches go where their instruction went. */
START_TEST(places_in_the_program_survive) {
  VKernel *vkernel = lab_virtual();
  int32_t x = vkernel_register(vkernel, 1), y = vkernel_register(vkernel, 1);
  lab_load(vkernel, x, WIDTH_32, lab_const(vkernel, 0));
  lab_add(vkernel, lab_branch(4, VPRED_TRUE, false));
  lab_add(vkernel, lab_op(OP_MOV, y, x, VREG_SINK));
  lab_add(vkernel, lab_op(OP_MOV, y, y, VREG_SINK));
  lab_add(vkernel, lab_op(OP_MOV, y, x, VREG_SINK));
  lab_store(vkernel, lab_const(vkernel, 0), WIDTH_32, y);
  finish(vkernel);
  Kernel *kernel = vkernel->kernel;
  kernel->marks = g_new0(Mark, 2);
  kernel->marks[0] = (Mark){3, 1};
  kernel->marks[1] = (Mark){4, 2};
  kernel->nmarks = 2;
  kernel->labels = g_new0(Label, 1);
  kernel->labels[0] = (Label){g_strdup("here"), 2};
  kernel->nlabels = 1;
  kernel = allocate(vkernel);
  /* LDS, BRA, MOV (mark 1), MOV (mark 2), STS, EXIT */
  ck_assert_uint_eq(kernel->ninsts, 6);
  ck_assert_int_eq(kernel->insts[1].target, 3);
  ck_assert_uint_eq(kernel->labels[0].pc, 2);
  ck_assert_uint_eq(kernel->marks[0].pc, 2);
  ck_assert_uint_eq(kernel->marks[1].pc, 3);
  ck_assert(kernel->insts[3].flags & INST_MARKS);
  ck_assert(!(kernel->insts[4].flags & INST_MARKS));
  kernel_free(kernel);
}
END_TEST

START_TEST(discarded_pairs_write_no_other_row) {
  VKernel *vkernel = lab_virtual();
  lab_load(vkernel, VREG_SINK, WIDTH_64, lab_const(vkernel, 0));
  lab_load(vkernel, VREG_SINK, WIDTH_32, lab_const(vkernel, 0));
  finish(vkernel);
  Kernel *kernel = allocate(vkernel);
  ck_assert_uint_eq(kernel->nregs, 2 + 2 * STACK_POINTER);
  ck_assert_int_eq(kernel->insts[0].dst, 2);
  ck_assert_int_eq(kernel->insts[1].dst, 4);
  kernel_free(kernel);
}
END_TEST

/* As many values at once as there is room for stay in registers; of more, some live in local memory. */
START_TEST(values_beyond_the_limit_are_spilled) {
  static const struct {
    unsigned values, limit;
    bool spills;
  } cases[] = {{250, MAX_REGISTERS, false}, {300, MAX_REGISTERS, true}, {2000, MAX_REGISTERS, true}, {60, 24, true}};
  for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(Diag) diag = diag_new();
    VKernel *vkernel = many_values(cases[i].values, WIDTH_32, 1);
    LabRun before = lab_run_virtual(vkernel, STEPS);
    Kernel *kernel = vkernel_allocate(vkernel, cases[i].limit, "k.ptx", diag);
    g_autofree char *messages = diag_render(diag);
    ck_assert_msg(kernel, "%s", messages);
    LabRun after = lab_run_kernel(kernel, 3 * STEPS);
    ck_assert_uint_le(kernel->nregs, cases[i].limit);
    ck_assert(before.stores == after.stores && before.digest == after.digest);
    ck_assert_int_eq(kernel->spill_bytes > 0, cases[i].spills);
    ck_assert_uint_ge(kernel->local_bytes, kernel->spill_bytes);
    vkernel_free(vkernel);
    kernel_free(kernel);
  }
}
END_TEST

START_TEST(spilled_programs_keep_their_meaning) {
  static const unsigned limits[] = {32, 24, 20, 16};
  unsigned spilled = 0;
  for (unsigned seed = 0; seed < PROGRAMS; seed++) {
    unsigned limit = limits[seed % G_N_ELEMENTS(limits)];
    g_autoptr(Diag) diag = diag_new();
    VKernel *vkernel = make_program(seed, 5);
    LabRun before = lab_run_virtual(vkernel, STEPS);
    Kernel *kernel = vkernel_allocate(vkernel, limit, "k.ptx", diag);
    g_autofree char *messages = diag_render(diag);
    UNIT_ASSERT(kernel && kernel->nregs <= limit, "seed %u: %s", seed, messages);
    LabRun after = lab_run_kernel(kernel, 6 * STEPS);
    UNIT_ASSERT(before.stores == after.stores && before.digest == after.digest, "seed %u: another result", seed);
    check_places(kernel, seed);
    spilled += kernel->spill_bytes > 0;
    vkernel_free(vkernel);
    kernel_free(kernel);
  }
  ck_assert_uint_ge(spilled, PROGRAMS / 8);
}
END_TEST

START_TEST(one_instruction_has_to_fit) {
  g_autoptr(Diag) diag = diag_new();
  VKernel *vkernel = many_values(8, WIDTH_128, 4);
  ck_assert_ptr_null(vkernel_allocate(vkernel, 3, "k.ptx", diag));
  g_autofree char *messages = diag_render(diag);
  ck_assert_str_eq(messages, "k.ptx:7: error: kernel `k` needs 8 registers a thread; its limit is 3\n");
  vkernel_free(vkernel);
}
END_TEST

/* 200,000 instructions in blocks of a few, with values that live through many of them. */
START_TEST(large_kernels_end_soon) {
  enum { BLOCKS = 25000, LONG = 100 };
  VKernel *vkernel = lab_virtual();
  int32_t p = vkernel_predicate(vkernel);
  for (unsigned i = 0; i < LONG; i++)
    lab_load(vkernel, vkernel_register(vkernel, 1), WIDTH_32, lab_const(vkernel, i));
  lab_add(vkernel, lab_set(p, CMP_LT, 0, 1));
  for (unsigned b = 0; b < BLOCKS; b++) {
    uint32_t skip = lab_add(vkernel, lab_branch(0, p, false));
    for (unsigned i = 0; i < 7; i++) {
      int32_t local = vkernel_register(vkernel, 1);
      lab_add(vkernel, lab_op(OP_IADD, local, (int32_t)((b + i) % LONG), 0));
      lab_add(vkernel, lab_op(OP_MOV, (int32_t)((b + 3 * i) % LONG), local, VREG_SINK));
    }
    g_array_index(vkernel->insts, VInst, skip).inst.target = (int32_t)vkernel->insts->len;
  }
  for (unsigned i = 0; i < LONG; i++)
    lab_store(vkernel, lab_const(vkernel, i), WIDTH_32, (int32_t)i);
  finish(vkernel);
  clock_t start = clock();
  Kernel *kernel = allocate(vkernel);
  double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  ck_assert_uint_le(kernel->nregs, LONG + 2);
  ck_assert_msg(seconds < 5 * unit_patience(), "%.1f s", seconds);
  kernel_free(kernel);
}
END_TEST

/* -- bad calls -- */

START_TEST(refuses_three_rows) {
  unit_expect_precondition("virtual-register-rows");
  vkernel_register(lab_virtual(), 3);
}
END_TEST

START_TEST(refuses_an_empty_kernel) {
  unit_expect_precondition("virtual-kernel-instructions");
  allocate(lab_virtual());
}
END_TEST

START_TEST(refuses_an_operand_left_out) {
  unit_expect_precondition("virtual-operand-set");
  VKernel *vkernel = lab_virtual();
  lab_store(vkernel, lab_const(vkernel, 0), WIDTH_32, VREG_SINK);
  finish(vkernel);
  allocate(vkernel);
}
END_TEST

START_TEST(refuses_an_odd_pair) {
  unit_expect_precondition("virtual-operand-aligned");
  VKernel *vkernel = lab_virtual();
  int32_t quad = vkernel_register(vkernel, 4);
  lab_load(vkernel, quad, WIDTH_128, lab_const(vkernel, 0));
  VInst store = lab_op(OP_STS, VREG_SINK, lab_const(vkernel, 0), quad);
  store.inst.width = WIDTH_64;
  store.b_row = 1;
  lab_add(vkernel, store);
  finish(vkernel);
  allocate(vkernel);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("allocate");
  TCase *tcase = tcase_create("allocate");
  tcase_add_test(tcase, random_programs_keep_their_meaning);
  tcase_add_test(tcase, predicates_without_a_place_are_spilled);
  tcase_add_test(tcase, a_chain_needs_one_row);
  tcase_add_test(tcase, values_live_at_once_need_a_row_each);
  tcase_add_test(tcase, the_parts_of_vectors_need_no_moves);
  tcase_add_test(tcase, a_loop_variable_needs_no_move);
  tcase_add_test(tcase, dead_arithmetic_goes_and_loads_stay);
  tcase_add_test(tcase, a_guarded_write_keeps_what_was_there);
  tcase_add_test(tcase, places_in_the_program_survive);
  tcase_add_test(tcase, discarded_pairs_write_no_other_row);
  tcase_add_test(tcase, single_values_leave_groups_of_four_whole);
  tcase_add_test(tcase, values_beyond_the_limit_are_spilled);
  tcase_add_test(tcase, spilled_programs_keep_their_meaning);
  tcase_add_test(tcase, one_instruction_has_to_fit);
  tcase_add_test(tcase, large_kernels_end_soon);
  unit_add_precondition_test(tcase, refuses_three_rows);
  unit_add_precondition_test(tcase, refuses_an_empty_kernel);
  unit_add_precondition_test(tcase, refuses_an_operand_left_out);
  unit_add_precondition_test(tcase, refuses_an_odd_pair);
  tcase_set_timeout(tcase, 60);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
