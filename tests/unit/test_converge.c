/* vkernel_converge against what ptxas does with the same PTX (tests/converge/): for each kernel and architecture the
 * order of BSSY, BSYNC, BREAK, YIELD, WARPSYNC and block barriers. differences.txt lists the kernels that differ, and
 * why. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "isa/flow/short_branch.h"
#include "tests/unit/ptx_lab.h"
#include "tests/unit/unit.h"
#include "tests/unit/virtual_lab.h"

static const unsigned capabilities[] = {75, 80, 90};

static char *data_path(const char *name) {
  const char *source = g_getenv("SRCDIR");
  return g_build_filename(source ? source : ".", "tests", "converge", name, NULL);
}

static char *read_data(const char *name) {
  g_autofree char *path = data_path(name);
  char *text = NULL;
  ck_assert_msg(g_file_get_contents(path, &text, NULL, NULL), "can't read %s", path);
  return text;
}

/* -- what ptxas does -- */

/* The letter of an instruction that counts: [ BSSY, ] BSYNC, x BREAK, y YIELD, w WARPSYNC, b BAR, 0: another one.
 * sm_75 has its YIELD at the loop's end, under a branch; there only BSSY and YIELD are counted. */
static char letter_of(const char *name, unsigned capability) {
  static const struct {
    const char *name;
    char letter;
  } letters[] = {{"BSSY", '['}, {"BSYNC", ']'}, {"YIELD", 'y'}, {"WARPSYNC", 'w'}, {"BAR", 'b'}, {"BREAK", 'x'}};
  for (unsigned i = 0; i < G_N_ELEMENTS(letters); i++)
    if (g_str_has_prefix(name, letters[i].name))
      return capability == 75 && i != 0 && i != 2 ? 0 : letters[i].letter;
  return 0;
}

static int compare_letters(const void *x, const void *y) { return *(const char *)x - *(const char *)y; }

static void end_shape(GString *shape, unsigned capability) {
  if (capability == 75)
    qsort(shape->str, shape->len, 1, compare_letters);
}

static void keep_shape(GHashTable *shapes, const char *kernel, GString *shape, unsigned capability) {
  end_shape(shape, capability);
  g_hash_table_insert(shapes, g_strdup(kernel), g_strdup(shape->str));
  g_string_truncate(shape, 0);
}

/* Kernel name -> shape. */
static GHashTable *recorded_shapes(unsigned capability) {
  g_autofree char *name = g_strdup_printf("sm_%u.sass.txt", capability), *text = read_data(name);
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  GHashTable *shapes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  g_autoptr(GString) shape = g_string_new(NULL);
  const char *kernel = NULL;
  for (unsigned i = 0; lines[i]; i++) {
    if (g_str_has_prefix(lines[i], "kernel ")) {
      if (kernel)
        keep_shape(shapes, kernel, shape, capability);
      kernel = lines[i] + strlen("kernel ");
    } else if (lines[i][0] == ' ') {
      g_auto(GStrv) words = g_strsplit(g_strstrip(lines[i]), " ", -1);
      char letter = letter_of(words[1][0] == '@' ? words[2] : words[1], capability);
      if (letter)
        g_string_append_c(shape, letter);
    }
  }
  keep_shape(shapes, kernel, shape, capability);
  return shapes;
}

/* -- what we do -- */

static Program *lower(const char *file, unsigned capability) {
  g_autoptr(Diag) diag = diag_new();
  g_autofree char *text = read_data(file);
  PtxTarget target = {.capability = capability, .convergence_barriers = true, .max_registers = 255};
  Program *program = ptx_lab_lower(file, text, &target, diag);
  g_autofree char *messages = diag_render(diag);
  ck_assert_msg(program, "%s", messages);
  return program;
}

static char *shape_of(const Kernel *kernel, unsigned capability) {
  GString *shape = g_string_new(NULL);
  for (uint32_t i = 0; i < kernel->ninsts; i++) {
    char letter = letter_of(op_info[kernel->insts[i].op].id, capability);
    if (letter)
      g_string_append_c(shape, letter);
  }
  end_shape(shape, capability);
  return g_string_free(shape, FALSE);
}

/* -- the differences -- */

/* "sm_90 kernel OURS REASON...": the reason may not be missing. */
static const char *find_difference(char **lines, unsigned capability, const char *kernel) {
  g_autofree char *prefix = g_strdup_printf("sm_%u %s ", capability, kernel);
  for (unsigned i = 0; lines[i]; i++)
    if (g_str_has_prefix(lines[i], prefix))
      return lines[i] + strlen(prefix);
  return NULL;
}

static bool is_listed(const char *difference, const char *shape) {
  gsize length = strlen(shape);
  return difference && strncmp(difference, shape, length) == 0 && difference[length] == ' ' &&
         strlen(difference) > length + 10;
}

START_TEST(barriers_stand_where_ptxas_puts_them) {
  unsigned capability = capabilities[_i];
  g_autofree char *text = read_data("differences.txt");
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  g_autoptr(GHashTable) recorded = recorded_shapes(capability);
  g_autoptr(GString) wrong = g_string_new(NULL);
  Program *program = lower("convergence.ptx", capability);
  ck_assert_uint_eq(program->kernels->len, g_hash_table_size(recorded));
  for (guint k = 0; k < program->kernels->len; k++) {
    const Kernel *kernel = program_kernel(program, k);
    const char *want = g_hash_table_lookup(recorded, kernel->name);
    const char *difference = find_difference(lines, capability, kernel->name);
    g_autofree char *shape = shape_of(kernel, capability);
    ck_assert_msg(want, "no recorded %s", kernel->name);
    if (strcmp(shape, want) == 0 ? difference != NULL : !is_listed(difference, shape))
      g_string_append_printf(wrong, "sm_%u %s %s (ptxas %s)\n", capability, kernel->name, *shape ? shape : "-", want);
  }
  ck_assert_msg(wrong->len == 0, "\n%s", wrong->str);
  program_free(program);
}
END_TEST

/* -- ways out of a loop -- */

static const Kernel *find_kernel(const Program *program, const char *name) {
  for (guint k = 0; k < program->kernels->len; k++)
    if (g_str_equal(program_kernel(program, k)->name, name))
      return program_kernel(program, k);
  return NULL;
}

/* tests/converge/exits.txt, line by line. */
START_TEST(loops_yield_as_their_exits_say) {
  g_autofree char *text = read_data("exits.txt");
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  g_autoptr(GString) wrong = g_string_new(NULL);
  Program *program = lower("exits.ptx", 90);
  guint count = 0;
  for (unsigned i = 0; lines[i]; i++) {
    g_auto(GStrv) words = g_strsplit(lines[i], " ", -1);
    if (lines[i][0] == '#' || g_strv_length(words) < 2)
      continue;
    const Kernel *kernel = find_kernel(program, words[0]);
    ck_assert_msg(kernel, "no kernel %s", words[0]);
    unsigned yields = 0;
    for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
      yields += kernel->insts[pc].op == OP_YIELD;
    if (yields != g_ascii_strtoull(words[1], NULL, 10))
      g_string_append_printf(wrong, "%s %u (ptxas %s)\n", words[0], yields, words[1]);
    count++;
  }
  ck_assert_uint_eq(program->kernels->len, count);
  ck_assert_msg(wrong->len == 0, "\n%s", wrong->str);
  program_free(program);
}
END_TEST

/* -- atomic operations -- */

/* A letter for each atomic operation. */
static char *merges_of(const Kernel *kernel) {
  static const char letters[] = {[MERGE_NONE] = '-', [MERGE_COUNT] = 'c', [MERGE_REDUX] = 'r', [MERGE_WARP] = 'w'};
  GString *text = g_string_new(NULL);
  for (uint32_t i = 0; i < kernel->ninsts; i++)
    if (op_info[kernel->insts[i].op].flags & OPF_ATOMIC)
      g_string_append_c(text, letters[kernel->insts[i].cmp]);
  return g_string_free(text, FALSE);
}

/* tests/converge/merge.txt, line by line. */
START_TEST(atomics_merge_where_ptxas_merges_them) {
  g_autofree char *text = read_data("merge.txt");
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  g_autoptr(GString) wrong = g_string_new(NULL);
  Program *program = lower("merge.ptx", capabilities[_i]);
  guint count = 0;
  for (unsigned i = 0; lines[i]; i++) {
    g_auto(GStrv) words = g_strsplit(lines[i], " ", -1);
    if (lines[i][0] == '#' || g_strv_length(words) < 4)
      continue;
    const Kernel *kernel = find_kernel(program, words[0]);
    ck_assert_msg(kernel, "no kernel %s", words[0]);
    g_autofree char *merges = merges_of(kernel);
    if (strcmp(merges, words[1 + _i]) != 0)
      g_string_append_printf(wrong, "sm_%u %s %s (ptxas %s)\n", capabilities[_i], words[0], merges, words[1 + _i]);
    count++;
  }
  ck_assert_uint_eq(program->kernels->len, count);
  ck_assert_msg(wrong->len == 0, "\n%s", wrong->str);
  program_free(program);
}
END_TEST

/* -- mbarriers -- */

/* As shape_of(), with a letter for each operation of shared memory: a, p under a predicate. */
static char *syncs_of(const Kernel *kernel) {
  GString *shape = g_string_new(NULL);
  for (uint32_t i = 0; i < kernel->ninsts; i++) {
    const Inst *inst = &kernel->insts[i];
    char letter = inst->op == OP_ATOMS ? inst_is_guarded(inst) ? 'p' : 'a' : letter_of(op_info[inst->op].id, 90);
    if (letter)
      g_string_append_c(shape, letter);
  }
  return g_string_free(shape, FALSE);
}

static bool are_same_letters(const char *x, const char *y) {
  g_autofree char *a = g_strdup(x), *b = g_strdup(y);
  qsort(a, strlen(a), 1, compare_letters);
  qsort(b, strlen(b), 1, compare_letters);
  return strcmp(a, b) == 0;
}

static const struct {
  const char *file;
  unsigned capability, column;
} arrivals[] = {{"arrive.ptx", 80, 1}, {"arrive.ptx", 90, 2}, {"arrive_90.ptx", 90, 2}};

/* tests/converge/arrive.txt, line by line. */
START_TEST(arrivals_part_no_lanes_where_ptxas_says_so) {
  g_autofree char *text = read_data("arrive.txt");
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  g_autoptr(GString) wrong = g_string_new(NULL);
  Program *program = lower(arrivals[_i].file, arrivals[_i].capability);
  guint count = 0;
  for (unsigned i = 0; lines[i]; i++) {
    g_auto(GStrv) words = g_strsplit(lines[i], " ", -1);
    const Kernel *kernel = g_strv_length(words) < 3 ? NULL : find_kernel(program, words[0]);
    if (!kernel)
      continue;
    const char *want = words[arrivals[_i].column];
    g_autofree char *shape = syncs_of(kernel);
    if (!are_same_letters(shape, want))
      g_string_append_printf(wrong, "sm_%u %s %s (ptxas %s)\n", arrivals[_i].capability, words[0], shape, want);
    count++;
  }
  ck_assert_uint_eq(program->kernels->len, count);
  ck_assert_msg(wrong->len == 0, "\n%s", wrong->str);
  program_free(program);
}
END_TEST

/* -- by hand -- */

static VInst special(int32_t dst, SpecialReg which) {
  VInst vinst = lab_op(OP_S2R, dst, VREG_SINK, VREG_SINK);
  vinst.inst.mode = (uint8_t)which;
  return vinst;
}

static VInst atomic(VKernel *vkernel, int32_t dst, int32_t address) {
  VInst vinst = lab_op(OP_ATOM, dst, address, lab_const(vkernel, 1));
  vinst.inst.mode = ATOM_EXCH;
  return vinst;
}

static unsigned count_op(const VKernel *vkernel, Opcode op) {
  unsigned count = 0;
  for (guint i = 0; i < vkernel->insts->len; i++)
    count += g_array_index(vkernel->insts, VInst, i).inst.op == op;
  return count;
}

static const Inst *inst_at(const VKernel *vkernel, uint32_t i) {
  return &g_array_index(vkernel->insts, VInst, i).inst;
}

/* `depth` ifs in one another, by the thread's number, with an atomic in each. */
static VKernel *nested_ifs(unsigned depth) {
  VKernel *vkernel = lab_virtual();
  int32_t tid = vkernel_register(vkernel, 1), old = vkernel_register(vkernel, 1);
  g_autofree uint32_t *branches = g_new(uint32_t, depth);
  lab_add(vkernel, special(tid, SR_TID_X));
  for (unsigned d = 0; d < depth; d++) {
    int32_t p = vkernel_predicate(vkernel);
    lab_add(vkernel, lab_set(p, CMP_LT, tid, lab_const(vkernel, d)));
    branches[d] = lab_add(vkernel, lab_branch(0, p, false));
    lab_add(vkernel, atomic(vkernel, old, tid));
  }
  for (unsigned d = depth; d-- > 0;) {
    g_array_index(vkernel->insts, VInst, branches[d]).inst.target = (int32_t)vkernel->insts->len;
    lab_add(vkernel, atomic(vkernel, old, tid));
  }
  lab_add(vkernel, vinst_new(OP_EXIT));
  return vkernel;
}

START_TEST(nested_branches_have_barriers_by_depth) {
  VKernel *vkernel = nested_ifs(3);
  vkernel_converge(vkernel, 90, true);
  ck_assert_uint_eq(vkernel->kernel->convergence_barriers, 3);
  unsigned begun = 0;
  for (guint i = 0; i < vkernel->insts->len; i++) {
    const Inst *inst = inst_at(vkernel, i);
    if (inst->op != OP_BSSY)
      continue;
    ck_assert_uint_eq(inst->mode, begun++);
    ck_assert_uint_eq(inst_at(vkernel, (uint32_t)inst->target)->op, OP_BSYNC);
    ck_assert_uint_eq(inst_at(vkernel, (uint32_t)inst->target)->mode, inst->mode);
    /* right before the branch, which goes to the BSYNC */
    ck_assert_uint_eq(inst_at(vkernel, i + 1)->op, OP_BRA);
    ck_assert_int_eq(inst_at(vkernel, i + 1)->target, inst->target);
  }
  ck_assert_uint_eq(begun, 3);
  vkernel_free(vkernel);
}
END_TEST

START_TEST(the_innermost_go_without_a_barrier) {
  VKernel *vkernel = nested_ifs(20);
  vkernel_converge(vkernel, 90, true);
  ck_assert_uint_eq(vkernel->kernel->convergence_barriers, CONVERGENCE_BARRIERS);
  ck_assert_uint_eq(count_op(vkernel, OP_BSSY), CONVERGENCE_BARRIERS);
  ck_assert_uint_eq(count_op(vkernel, OP_BSYNC), CONVERGENCE_BARRIERS);
  vkernel_free(vkernel);
}
END_TEST

/* A loop at the very start: BSSY before it, and the way round leaves it out. */
START_TEST(a_loop_at_the_start_has_room_before_it) {
  VKernel *vkernel = lab_virtual();
  int32_t old = vkernel_register(vkernel, 1), p = vkernel_predicate(vkernel);
  lab_add(vkernel, atomic(vkernel, old, lab_const(vkernel, 64)));
  lab_add(vkernel, lab_set(p, CMP_NE, old, lab_const(vkernel, 0)));
  lab_add(vkernel, lab_branch(0, p, false));
  lab_add(vkernel, atomic(vkernel, old, lab_const(vkernel, 64)));
  lab_add(vkernel, vinst_new(OP_EXIT));
  vkernel_converge(vkernel, 90, true);
  static const Opcode want[] = {OP_BSSY, OP_YIELD, OP_ATOM, OP_ISETP, OP_BRA, OP_BSYNC, OP_ATOM, OP_EXIT};
  ck_assert_uint_eq(vkernel->insts->len, G_N_ELEMENTS(want));
  for (guint i = 0; i < G_N_ELEMENTS(want); i++)
    ck_assert_msg(inst_at(vkernel, i)->op == want[i], "%u: %s", i, op_info[inst_at(vkernel, i)->op].id);
  ck_assert_int_eq(inst_at(vkernel, 4)->target, 1);
  vkernel_free(vkernel);
}
END_TEST

/* A block of a loop that stands before the loop's header, and that the header jumps back to, begins no loop: its
 * lanes wait for nothing, and the YIELD stands at the header. */
START_TEST(a_block_that_stands_earlier_begins_no_loop) {
  VKernel *vkernel = lab_virtual();
  int32_t old = vkernel_register(vkernel, 1), p = vkernel_predicate(vkernel);
  lab_add(vkernel, lab_branch(2, VPRED_TRUE, false));
  lab_add(vkernel, lab_branch(5, VPRED_TRUE, false)); /* that block */
  lab_add(vkernel, atomic(vkernel, old, lab_const(vkernel, 64)));
  lab_add(vkernel, lab_set(p, CMP_NE, old, lab_const(vkernel, 0)));
  lab_add(vkernel, lab_branch(1, p, false));
  lab_add(vkernel, lab_set(p, CMP_NE, old, lab_const(vkernel, 1)));
  lab_add(vkernel, lab_branch(2, p, false));
  lab_add(vkernel, vinst_new(OP_EXIT));
  vkernel_converge(vkernel, 90, true);
  ck_assert_uint_eq(count_op(vkernel, OP_YIELD), 1);
  for (guint i = 0; i + 1 < vkernel->insts->len; i++)
    if (inst_at(vkernel, i)->op == OP_YIELD)
      ck_assert_int_eq(inst_at(vkernel, i + 1)->op, OP_ATOM);
  vkernel_free(vkernel);
}
END_TEST

/* if (tid < 1) goto b; a: ...; the block at `meet` is also reached from where no lane has parted: round the BSYNC. */
START_TEST(others_pass_by_the_meeting_point) {
  VKernel *vkernel = lab_virtual();
  int32_t tid = vkernel_register(vkernel, 1), block = vkernel_register(vkernel, 1),
          old = vkernel_register(vkernel, 1);
  int32_t by_block = vkernel_predicate(vkernel), by_tid = vkernel_predicate(vkernel),
          last = vkernel_predicate(vkernel);
  lab_add(vkernel, special(tid, SR_TID_X));
  lab_add(vkernel, special(block, SR_CTAID_X));
  lab_add(vkernel, lab_set(by_block, CMP_LT, block, lab_const(vkernel, 1)));
  lab_add(vkernel, lab_set(by_tid, CMP_LT, tid, lab_const(vkernel, 1)));
  lab_add(vkernel, lab_set(last, CMP_LT, block, lab_const(vkernel, 5)));
  lab_add(vkernel, lab_branch(9, by_block, false)); /* 5 */
  lab_add(vkernel, lab_branch(8, by_tid, false));   /* 6 */
  lab_add(vkernel, atomic(vkernel, old, tid));
  lab_add(vkernel, lab_branch(11, VPRED_TRUE, false)); /* 8 */
  lab_add(vkernel, lab_branch(13, last, false));       /* 9 */
  lab_add(vkernel, atomic(vkernel, old, block));
  lab_add(vkernel, atomic(vkernel, old, tid)); /* 11 */
  lab_add(vkernel, vinst_new(OP_EXIT));
  lab_add(vkernel, atomic(vkernel, old, tid)); /* 13 */
  lab_add(vkernel, vinst_new(OP_EXIT));
  vkernel_converge(vkernel, 90, true);
  ck_assert_uint_eq(count_op(vkernel, OP_BSSY), 1);
  ck_assert_uint_eq(count_op(vkernel, OP_BSYNC), 1);
  for (guint i = 0; i < vkernel->insts->len; i++)
    if (inst_at(vkernel, i)->op == OP_BSSY)
      ck_assert_uint_eq(inst_at(vkernel, (uint32_t)inst_at(vkernel, i)->target)->op, OP_BSYNC);
  vkernel_free(vkernel);
}
END_TEST

/* for (;;) { if (tid < 1) {} else if (tid < 5) break; if (tid < 7) break; }: the lanes that stay meet before the
 * second if.
 * Lanes leave by the branch's taken side, or by the other. */
START_TEST(who_stays_in_a_loop_meets_in_each_round) {
  bool taken = _i;
  VKernel *vkernel = lab_virtual();
  int32_t tid = vkernel_register(vkernel, 1), sum = vkernel_register(vkernel, 1), old = vkernel_register(vkernel, 1);
  int32_t p = vkernel_predicate(vkernel), q = vkernel_predicate(vkernel), r = vkernel_predicate(vkernel);
  lab_add(vkernel, special(tid, SR_TID_X));
  lab_add(vkernel, lab_op(OP_IADD, sum, tid, tid)); /* 1 */
  lab_add(vkernel, lab_set(p, CMP_LT, tid, lab_const(vkernel, 1)));
  lab_add(vkernel, lab_branch(8, p, false));
  lab_add(vkernel, lab_set(q, CMP_LT, tid, lab_const(vkernel, 5)));
  lab_add(vkernel, lab_branch(taken ? 11 : 7, q, false)); /* 5 */
  lab_add(vkernel, taken ? lab_op(OP_IADD, sum, sum, sum) : lab_branch(11, VPRED_TRUE, false));
  lab_add(vkernel, lab_op(OP_IADD, sum, sum, tid));
  lab_add(vkernel, lab_set(r, CMP_LT, sum, lab_const(vkernel, 7))); /* 8 */
  lab_add(vkernel, lab_branch(1, r, true));
  lab_add(vkernel, atomic(vkernel, old, tid));
  lab_add(vkernel, atomic(vkernel, old, tid)); /* 11 */
  lab_add(vkernel, vinst_new(OP_EXIT));
  vkernel_converge(vkernel, 90, true);
  static const Opcode want[] = {OP_S2R,  OP_BSSY, OP_IADD,  OP_ISETP, OP_BSSY, OP_BRA,  OP_ISETP, OP_BREAK, OP_BRA,
                                OP_IADD, OP_IADD, OP_BSYNC, OP_ISETP, OP_BRA,  OP_ATOM, OP_BSYNC, OP_ATOM,  OP_EXIT};
  ck_assert_uint_eq(vkernel->insts->len, G_N_ELEMENTS(want));
  for (guint i = 0; i < G_N_ELEMENTS(want); i++)
    ck_assert_msg(inst_at(vkernel, i)->op == (i == 9 && !taken ? OP_BRA : want[i]), "%u: %s", i,
                  op_info[inst_at(vkernel, i)->op].id);
  const VInst *leave = &g_array_index(vkernel->insts, VInst, 7);
  ck_assert_uint_eq(leave->inst.mode, inst_at(vkernel, 4)->mode);
  ck_assert_uint_ne(leave->inst.mode, inst_at(vkernel, 1)->mode);
  ck_assert_int_eq(leave->guard, q);
  ck_assert_int_eq((leave->inst.flags & INST_GUARD_NOT) != 0, !taken);
  ck_assert_int_eq(inst_at(vkernel, 4)->target, 11);
  ck_assert_int_eq(inst_at(vkernel, 13)->target, 2);
  vkernel_free(vkernel);
}
END_TEST

/* 100,000 branches, one after another and in one another. */
START_TEST(large_kernels_end_soon) {
  VKernel *vkernel = nested_ifs(3000);
  g_array_set_size(vkernel->insts, vkernel->insts->len - 1);
  int32_t old = vkernel_register(vkernel, 1);
  for (unsigned i = 0; i < 20000; i++) {
    int32_t p = vkernel_predicate(vkernel);
    lab_add(vkernel, lab_set(p, CMP_LT, 0, lab_const(vkernel, i % 50)));
    lab_add(vkernel, lab_branch(vkernel->insts->len + 2, p, false));
    lab_add(vkernel, atomic(vkernel, old, 0));
  }
  lab_add(vkernel, vinst_new(OP_EXIT));
  clock_t start = clock();
  vkernel_converge(vkernel, 90, true);
  double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  ck_assert_msg(seconds < 5 * unit_patience(), "%.1f s", seconds);
  vkernel_free(vkernel);
}
END_TEST

/* Kernels in letters: s ST, b BAR, a ATOM, d a 64-bit addition, l SHL, p writes P0, e EXIT; `?N` branches to item N
 * if P0, `!N` if not, `>N` always. Afterwards an instruction under P0 has `+` before it, one under !P0 `-`. */
typedef struct Short {
  const char *what, *before, *after;
} Short;

static const Short shorts[] = {
    {"an if", "?5 s b s s e", "-s -b -s -s e"},
    {"an if that the way on jumps to", "?3 s >6 b s >1 e", "?3 s >6 b s >1 e"},
    {"an if and else", "?4 s b >6 b s e", "-s -b +b +s e"},
    {"as nvcc has it", "?2 >5 b s >6 b e", "+b +s -b e"},
    {"as nvcc has an if", "!2 >4 b s e", "-b -s e"},
    {"seven instructions", "?8 s s s s s s b e", "-s -s -s -s -s -s -b e"},
    {"eight", "?9 s s s s s s s b e", "?9 s s s s s s s b e"},
    {"64-bit additions are two", "?6 d d d b s e", "?6 d d d b s e"},
    {"shifts are none", "?9 l l l s s s s b e", "-l -l -l -s -s -s -s -b e"},
    {"without a barrier", "?3 s s e", "-s -s e"},
    {"with a fence", "?4 s f s e", "?4 s f s e"},
    {"a fence and a barrier", "?4 s f b e", "-s -f -b e"},
    {"a load", "?4 g s s e", "-g -s -s e"},
    {"two loads", "?4 g g s e", "?4 g g s e"},
    {"a load and two of constants", "?5 g k k s e", "-g -k -k -s e"},
    {"two loads that are volatile", "?4 v v s e", "-v -v -s e"},
    {"a division", "?3 i s e", "?3 i s e"},
    {"an atomic", "?4 s a b e", "?4 s a b e"},
    {"what the predicate is written by", "?4 p s b e", "?4 p s b e"},
    {"a side that others come to", "?4 s b >1 s e", "?4 s b >1 s e"},
};

static VInst short_inst(VKernel *vkernel, char letter) {
  int32_t pair = 0, word = 1;
  VInst wide = lab_op(OP_IADD64, pair, pair, pair);
  wide.inst.wide = WIDE_DST | WIDE_A | WIDE_B;
  switch (letter) {
  case 's': return lab_op(OP_STS, VREG_SINK, word, word);
  case 'b': return lab_op(OP_BAR, VREG_SINK, lab_const(vkernel, 0), VREG_SINK);
  case 'a': return atomic(vkernel, word, word);
  case 'd': return wide;
  case 'l': return lab_op(OP_SHL, word, word, word);
  case 'p': return lab_set(0, CMP_LT, word, word);
  case 'f': return vinst_new(OP_MEMBAR);
  case 'i': return lab_op(OP_IDIV, word, word, word);
  case 'v':
    wide = lab_op(OP_LD, word, word, VREG_SINK);
    wide.inst.sem = SEM_VOLATILE;
    return wide;
  case 'g': return lab_op(OP_LD, word, word, VREG_SINK);
  case 'k':
    wide = lab_op(OP_LD, word, word, VREG_SINK);
    wide.inst.space = MEM_CONST;
    return wide;
  default: return vinst_new(OP_EXIT);
  }
}

static char *short_text(const VKernel *vkernel) {
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < vkernel->insts->len; i++) {
    const VInst *vinst = &g_array_index(vkernel->insts, VInst, i);
    bool negated = vinst->inst.flags & INST_GUARD_NOT;
    g_string_append(text, i ? " " : "");
    if (vinst->inst.op == OP_BRA) {
      g_string_append_printf(text, "%c%d", vinst->guard < 0 ? '>' : negated ? '!' : '?', vinst->inst.target);
      continue;
    }
    static const struct {
      Opcode op;
      char letter;
    } letters[] = {{OP_STS, 's'},   {OP_BAR, 'b'},    {OP_ATOM, 'a'}, {OP_IADD64, 'd'}, {OP_SHL, 'l'},
                   {OP_ISETP, 'p'}, {OP_MEMBAR, 'f'}, {OP_IDIV, 'i'}, {OP_EXIT, 'e'}};
    if (vinst->guard >= 0)
      g_string_append_c(text, negated ? '-' : '+');
    for (unsigned k = 0; k < G_N_ELEMENTS(letters); k++)
      if (letters[k].op == (Opcode)vinst->inst.op)
        g_string_append_c(text, letters[k].letter);
    if (vinst->inst.op == OP_LD)
      g_string_append_c(text, vinst->inst.sem == SEM_VOLATILE ? 'v' : vinst->inst.space == MEM_CONST ? 'k' : 'g');
  }
  return g_string_free(text, FALSE);
}

/* A kernel of such letters. */
static VKernel *kernel_of_letters(const char *letters) {
  VKernel *vkernel = lab_virtual();
  vkernel_register(vkernel, 2);
  vkernel_register(vkernel, 1);
  vkernel_predicate(vkernel);
  g_auto(GStrv) items = g_strsplit(letters, " ", -1);
  for (unsigned i = 0; items[i]; i++)
    lab_add(vkernel, strchr("?!>", items[i][0]) ? lab_branch((uint32_t)atoi(items[i] + 1),
                                                             items[i][0] == '>' ? VPRED_TRUE : 0, items[i][0] == '!')
                                                : short_inst(vkernel, items[i][0]));
  return vkernel;
}

START_TEST(short_branches_around_barriers_are_predicated) {
  const Short *one = &shorts[_i];
  VKernel *vkernel = kernel_of_letters(one->before);
  short_branches_predicate(vkernel);
  g_autofree char *text = short_text(vkernel);
  ck_assert_msg(g_str_equal(text, one->after), "%s: %s instead of %s", one->what, text, one->after);
  vkernel_free(vkernel);
}
END_TEST

static const Short straight[] = {
    {"a branch over a branch", "?2 >4 s s a e", "!3 s s a e"},
    {"with the opposite guard", "!2 >4 s s a e", "?3 s s a e"},
    {"that others came to", "?2 >4 s s ?1 e", "!3 s s ?3 e"},
    {"a branch over two", "?3 >4 >5 s s e", "?2 >3 s s e"},
    {"a branch over an instruction", "?3 s >4 s a e", "?3 s >4 s a e"},
    {"a branch to a branch", "?3 s e >5 s a e", "?4 s e s a e"},
    {"on to the next, whom others come to", "?2 s >3 a !1 e", "?2 s a !1 e"},
    {"on, past one that nobody comes to", "?4 s >4 >1 a e", "?2 s a e"},
    {"two in a circle", "?2 s >3 >2 e", "?2 s >2 e"},
    {"with a guard to the next", "s ?2 a e", "s ?2 a e"},
};

START_TEST(branches_are_straightened) {
  const Short *one = &straight[_i];
  VKernel *vkernel = kernel_of_letters(one->before);
  for (guint i = 0; i < vkernel->insts->len; i++)
    g_array_index(vkernel->insts, VInst, i).together = true;
  vkernel_straighten(vkernel);
  g_autofree char *text = short_text(vkernel);
  ck_assert_msg(g_str_equal(text, one->after), "%s: %s instead of %s", one->what, text, one->after);
  vkernel_free(vkernel);
}
END_TEST

/* Where lanes may part it says who goes on at once. */
START_TEST(a_branch_that_parts_lanes_stays) {
  VKernel *vkernel = kernel_of_letters("?2 >4 s s a e");
  vkernel_straighten(vkernel);
  g_autofree char *text = short_text(vkernel);
  ck_assert_str_eq(text, "?2 >4 s s a e");
  vkernel_free(vkernel);
}
END_TEST

/* A mark stays where it stands, and so does the branch there. */
START_TEST(a_branch_with_a_mark_stays) {
  VKernel *vkernel = kernel_of_letters("?2 >4 s s a e");
  g_array_index(vkernel->insts, VInst, 0).together = true;
  vkernel->kernel->marks = g_new0(Mark, 1);
  vkernel->kernel->nmarks = 1;
  vkernel->kernel->marks[0].pc = 1;
  vkernel_straighten(vkernel);
  g_autofree char *text = short_text(vkernel);
  ck_assert_str_eq(text, "?2 >4 s s a e");
  vkernel_free(vkernel);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("converge");
  TCase *tcase = tcase_create("converge");
  tcase_add_loop_test(tcase, barriers_stand_where_ptxas_puts_them, 0, G_N_ELEMENTS(capabilities));
  tcase_add_test(tcase, loops_yield_as_their_exits_say);
  tcase_add_loop_test(tcase, atomics_merge_where_ptxas_merges_them, 0, G_N_ELEMENTS(capabilities));
  tcase_add_loop_test(tcase, arrivals_part_no_lanes_where_ptxas_says_so, 0, G_N_ELEMENTS(arrivals));
  tcase_add_test(tcase, nested_branches_have_barriers_by_depth);
  tcase_add_test(tcase, the_innermost_go_without_a_barrier);
  tcase_add_test(tcase, a_loop_at_the_start_has_room_before_it);
  tcase_add_test(tcase, a_block_that_stands_earlier_begins_no_loop);
  tcase_add_test(tcase, others_pass_by_the_meeting_point);
  tcase_add_loop_test(tcase, who_stays_in_a_loop_meets_in_each_round, 0, 2);
  tcase_add_loop_test(tcase, short_branches_around_barriers_are_predicated, 0, G_N_ELEMENTS(shorts));
  tcase_add_loop_test(tcase, branches_are_straightened, 0, G_N_ELEMENTS(straight));
  tcase_add_test(tcase, a_branch_that_parts_lanes_stays);
  tcase_add_test(tcase, a_branch_with_a_mark_stays);
  tcase_add_test(tcase, large_kernels_end_soon);
  tcase_set_timeout(tcase, 60);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
