/* The order of instructions within a block (isa/flow/schedule.h), and what it costs in registers. */
#include "isa/flow/pressure.h"
#include "isa/flow/schedule.h"
#include "tests/unit/unit.h"
#include "tests/unit/virtual_lab.h"

/* Two rounds of an unrolled loop: what uses the first value comes behind the second access, whose address doesn't
 * wait. */
typedef struct Scheduled {
  const char *what;
  Opcode access;
  MemSem sem;
  uint8_t merged; /* MergeMode */
  Opcode between; /* OP_NOP, or what stands between the two: no access passes it */
  Opcode order[6];
} Scheduled;

static const Scheduled scheduled_accesses[] = {
    {"loads of shared memory", OP_LDS, SEM_WEAK, MERGE_NONE, OP_NOP, {OP_LDS, OP_IMUL, OP_LDS, OP_IADD, OP_IADD}},
    {"loads with a store between",
     OP_LDS,
     SEM_WEAK,
     MERGE_NONE,
     OP_STS,
     {OP_LDS, OP_IMUL, OP_IADD, OP_STS, OP_LDS, OP_IADD}},
    {"loads with a fence between",
     OP_LDS,
     SEM_WEAK,
     MERGE_NONE,
     OP_MEMBAR,
     {OP_LDS, OP_IMUL, OP_IADD, OP_MEMBAR, OP_LDS, OP_IADD}},
    {"volatile loads", OP_LD, SEM_VOLATILE, MERGE_NONE, OP_NOP, {OP_LD, OP_IMUL, OP_LD, OP_IADD, OP_IADD}},
    {"loads that acquire", OP_LD, SEM_ACQUIRE, MERGE_NONE, OP_NOP, {OP_IMUL, OP_LD, OP_IADD, OP_LD, OP_IADD}},
    {"atomics", OP_ATOM, SEM_RELAXED, MERGE_NONE, OP_NOP, {OP_ATOM, OP_IMUL, OP_ATOM, OP_IADD, OP_IADD}},
    {"atomics that acquire", OP_ATOM, SEM_ACQUIRE, MERGE_NONE, OP_NOP, {OP_IMUL, OP_ATOM, OP_IADD, OP_ATOM, OP_IADD}},
    {"atomics of a warp that are one",
     OP_ATOM,
     SEM_RELAXED,
     MERGE_WARP,
     OP_NOP,
     {OP_ATOM, OP_IMUL, OP_IADD, OP_ATOM, OP_IADD}},
    {"loads with a meeting between",
     OP_LDS,
     SEM_WEAK,
     MERGE_NONE,
     OP_WARPSYNC,
     {OP_LDS, OP_IADD, OP_WARPSYNC, OP_IMUL, OP_LDS, OP_IADD}},
};

START_TEST(accesses_come_before_what_uses_them) {
  enum { ADDRESS, FIRST, SUM, NEXT, SECOND, TOTAL, REGISTERS };
  const Scheduled *one = &scheduled_accesses[_i];
  VKernel *vkernel = lab_virtual();
  for (unsigned r = 0; r < REGISTERS; r++)
    vkernel_register(vkernel, 1);
  VInst first = lab_op(one->access, FIRST, ADDRESS, VREG_SINK), second = lab_op(one->access, SECOND, NEXT, VREG_SINK);
  first.inst.sem = second.inst.sem = one->sem;
  first.inst.cmp = second.inst.cmp = one->merged;
  lab_add(vkernel, first);
  lab_add(vkernel, lab_op(OP_IADD, SUM, FIRST, FIRST));
  if (one->between == OP_STS)
    lab_add(vkernel, lab_op(OP_STS, VREG_SINK, ADDRESS, SUM));
  else if (one->between != OP_NOP)
    lab_add(vkernel, vinst_new(one->between));
  lab_add(vkernel, lab_op(OP_IMUL, NEXT, ADDRESS, ADDRESS));
  lab_add(vkernel, second);
  lab_add(vkernel, lab_op(OP_IADD, TOTAL, SUM, SECOND));
  lab_add(vkernel, vinst_new(OP_EXIT));
  vkernel_schedule(vkernel, 255);
  for (guint i = 0; i + 1 < vkernel->insts->len; i++)
    UNIT_ASSERT(g_array_index(vkernel->insts, VInst, i).inst.op == one->order[i], "%s: instruction %u is %s",
                one->what, i, op_info[g_array_index(vkernel->insts, VInst, i).inst.op].sass);
  vkernel_free(vkernel);
}
END_TEST

/* A load, a store of what it gave, and another load, which comes before the store or doesn't. */
static const struct {
  const char *what;
  Opcode store, load;
  MemSpace space; /* of the store */
  bool strong, other_base;
  MemWidth width;
  int32_t at;
  bool passes;
  MemSem sem; /* of the store */
} passed_stores[] = {
    {"shared memory, then global", OP_STS, OP_LD, MEM_SHARED, false, true, WIDTH_32, 0, true, SEM_WEAK},
    {"global memory, then shared", OP_ST, OP_LDS, MEM_GLOBAL, false, true, WIDTH_32, 0, true, SEM_WEAK},
    {"a generic address", OP_ST, OP_LDS, MEM_GENERIC, false, true, WIDTH_32, 0, false, SEM_WEAK},
    {"the next word", OP_ST, OP_LD, MEM_GLOBAL, false, false, WIDTH_32, 4, true, SEM_WEAK},
    {"the same word", OP_ST, OP_LD, MEM_GLOBAL, false, false, WIDTH_32, 0, false, SEM_WEAK},
    {"the next word, wider ones", OP_ST, OP_LD, MEM_GLOBAL, false, false, WIDTH_64, 4, false, SEM_WEAK},
    {"the word before, by another address", OP_ST, OP_LD, MEM_GLOBAL, false, true, WIDTH_32, -4, false, SEM_WEAK},
    {"a strong load of the next word", OP_ST, OP_LD, MEM_GLOBAL, true, false, WIDTH_32, 4, false, SEM_WEAK},
    {"an atomic of shared memory", OP_ATOMS, OP_LD, MEM_SHARED, false, true, WIDTH_32, 0, true, SEM_RELAXED},
    {"one that acquires", OP_ATOMS, OP_LD, MEM_SHARED, false, true, WIDTH_32, 0, false, SEM_ACQUIRE},
    {"one that releases", OP_ATOMS, OP_LD, MEM_SHARED, false, true, WIDTH_32, 0, false, SEM_RELEASE},
    {"an atomic, then a strong load", OP_ATOMS, OP_LD, MEM_SHARED, true, true, WIDTH_32, 0, false, SEM_RELAXED},
    {"an atomic of its space", OP_ATOMS, OP_LDS, MEM_SHARED, false, true, WIDTH_32, 0, false, SEM_RELAXED},
    {"an atomic of global memory", OP_ATOM, OP_LDS, MEM_GLOBAL, false, true, WIDTH_32, 0, true, SEM_RELAXED},
    {"an atomic at a generic address", OP_ATOM, OP_LDS, MEM_GENERIC, false, true, WIDTH_32, 0, false, SEM_RELAXED},
    {"a reduction in the next word", OP_RED, OP_LD, MEM_GLOBAL, false, false, WIDTH_32, 4, false, SEM_RELAXED},
    {"a volatile store to shared memory", OP_STS, OP_LD, MEM_SHARED, false, true, WIDTH_32, 0, true, SEM_VOLATILE},
    {"a volatile store of the next word", OP_ST, OP_LD, MEM_GLOBAL, false, false, WIDTH_32, 4, false, SEM_VOLATILE},
};

START_TEST(loads_pass_stores_to_other_words) {
  enum { ADDRESS, OTHER, FIRST, SECOND, REGISTERS };
  VKernel *vkernel = lab_virtual();
  for (unsigned r = 0; r < REGISTERS; r++)
    vkernel_register(vkernel, 2);
  int32_t base = passed_stores[_i].other_base ? OTHER : ADDRESS;
  VInst store = lab_op(passed_stores[_i].store, VREG_SINK, ADDRESS, FIRST);
  VInst load = lab_op(passed_stores[_i].load, SECOND, base, VREG_SINK);
  store.inst.space = passed_stores[_i].space;
  store.inst.sem = passed_stores[_i].sem;
  store.inst.width = load.inst.width = passed_stores[_i].width;
  load.inst.imm = passed_stores[_i].at;
  load.inst.sem = passed_stores[_i].strong ? SEM_RELAXED : SEM_WEAK;
  lab_add(vkernel, lab_op(OP_LD, FIRST, ADDRESS, VREG_SINK));
  lab_add(vkernel, store);
  lab_add(vkernel, load);
  lab_add(vkernel, vinst_new(OP_EXIT));
  vkernel_schedule(vkernel, 255);
  Opcode second = g_array_index(vkernel->insts, VInst, 1).inst.op;
  UNIT_ASSERT((second == passed_stores[_i].load) == passed_stores[_i].passes, "%s", passed_stores[_i].what);
  vkernel_free(vkernel);
}
END_TEST

/* A loop that polls: its YIELD comes behind a load, and stays before an atomic. */
START_TEST(a_yield_comes_behind_a_load) {
  const Opcode access[] = {OP_LD, OP_LDS, OP_ATOM};
  enum { ADDRESS, VALUE, REGISTERS };
  VKernel *vkernel = lab_virtual();
  for (unsigned r = 0; r < REGISTERS; r++)
    vkernel_register(vkernel, 1);
  VInst poll = lab_op(access[_i], VALUE, ADDRESS, VREG_SINK);
  poll.inst.sem = SEM_RELAXED;
  lab_add(vkernel, vinst_new(OP_YIELD));
  lab_add(vkernel, poll);
  lab_add(vkernel, lab_branch(0, VPRED_TRUE, false));
  vkernel_schedule(vkernel, 255);
  guint behind = access[_i] == OP_ATOM ? 0 : 1;
  ck_assert_int_eq(g_array_index(vkernel->insts, VInst, behind).inst.op, OP_YIELD);
  ck_assert_int_eq(g_array_index(vkernel->insts, VInst, 1 - behind).inst.op, access[_i]);
  vkernel_free(vkernel);
}
END_TEST

/* Nothing comes between a try of an mbarrier and the comparison that says how it went. */
START_TEST(a_try_stays_with_its_comparison) {
  enum { ADDRESS, STATE, OTHER, SUM, REGISTERS };
  VKernel *vkernel = lab_virtual();
  for (unsigned r = 0; r < REGISTERS; r++)
    vkernel_register(vkernel, 1);
  vkernel_predicate(vkernel);
  VInst try = lab_op(OP_LDS, STATE, ADDRESS, VREG_SINK), compare = lab_op(OP_ISETP, VREG_SINK, STATE, OTHER);
  try.inst.lop = LDS_TRIES_PHASE;
  compare.inst.mode = ISETP_OF_TRY;
  compare.pdst = 0;
  lab_add(vkernel, try);
  lab_add(vkernel, compare);
  lab_add(vkernel, lab_op(OP_IADD, SUM, ADDRESS, ADDRESS));
  lab_add(vkernel, lab_op(OP_IMUL, SUM, ADDRESS, OTHER));
  lab_add(vkernel, vinst_new(OP_EXIT));
  vkernel_schedule(vkernel, 255);
  ck_assert_int_eq(g_array_index(vkernel->insts, VInst, 0).inst.op, OP_LDS);
  ck_assert_int_eq(g_array_index(vkernel->insts, VInst, 1).inst.op, OP_ISETP);
  vkernel_free(vkernel);
}
END_TEST

/* Rounds of an unrolled loop, each with a load whose address another load brings, and a sum. */
enum { CHAIN_ROUNDS = 4 };
static VKernel *chained_rounds(MemSem sem, unsigned rounds, unsigned kept) {
  VKernel *vkernel = lab_virtual();
  int32_t base = vkernel_register(vkernel, 1), sum = vkernel_register(vkernel, 1);
  int32_t *held = g_new(int32_t, kept + 1);
  for (unsigned k = 0; k < kept; k++) {
    held[k] = vkernel_register(vkernel, 1);
    lab_add(vkernel, lab_op(OP_IADD, held[k], base, base));
  }
  for (unsigned round = 0; round < rounds; round++) {
    int32_t place = vkernel_register(vkernel, 1), value = vkernel_register(vkernel, 1);
    VInst first = lab_op(OP_LD, place, base, VREG_SINK), second = lab_op(OP_LD, value, place, VREG_SINK);
    first.inst.imm = (int32_t)(4 * round);
    first.inst.sem = second.inst.sem = sem;
    lab_add(vkernel, first);
    lab_add(vkernel, second);
    lab_add(vkernel, lab_op(OP_FADD, sum, sum, value));
  }
  for (unsigned k = 0; k < kept; k++)
    lab_add(vkernel, lab_op(OP_ST, VREG_SINK, base, held[k]));
  lab_add(vkernel, lab_op(OP_ST, VREG_SINK, base, sum));
  lab_add(vkernel, vinst_new(OP_EXIT));
  g_free(held);
  return vkernel;
}

/* How many loads of `base` stand before the first that waits for another. */
static unsigned loads_ahead(const VKernel *vkernel) {
  unsigned count = 0;
  for (guint i = 0; i < vkernel->insts->len; i++) {
    const VInst *vinst = &g_array_index(vkernel->insts, VInst, i);
    if (vinst->inst.op == OP_LD && vinst->a != 0)
      break;
    count += vinst->inst.op == OP_LD;
  }
  return count;
}

static const struct {
  MemSem sem;
  unsigned ahead;
} chains[] = {{SEM_WEAK, 4}, {SEM_VOLATILE, 1}, {SEM_RELAXED, 1}, {SEM_ACQUIRE, 1}};

/* The first loads of all rounds are under way before the second of one. */
START_TEST(plain_loads_pass_loads_that_wait) {
  VKernel *vkernel = chained_rounds(chains[_i].sem, CHAIN_ROUNDS, 0);
  vkernel_schedule(vkernel, 255);
  ck_assert_uint_eq(loads_ahead(vkernel), chains[_i].ahead);
  vkernel_free(vkernel);
}
END_TEST

/* What uses a load comes below what the warp stops at, but for a fence of its own, or one of a short branch. */
static const struct {
  Opcode op;
  MemSem sem;
  bool guarded, sinks;
} stops[] = {{OP_BAR, SEM_WEAK, false, true},     {OP_ST, SEM_RELEASE, false, true},
             {OP_ATOM, SEM_ACQ_REL, false, true}, {OP_LD, SEM_ACQUIRE, false, true},
             {OP_MEMBAR, SEM_SC, false, false},   {OP_ST, SEM_RELEASE, true, false}};

START_TEST(uses_of_loads_sink_below_stops) {
  enum { ADDRESS, VALUE, SUM, OTHER, REGISTERS };
  VKernel *vkernel = lab_virtual();
  for (unsigned r = 0; r < REGISTERS; r++)
    vkernel_register(vkernel, 1);
  VInst stop = lab_op(stops[_i].op, VREG_SINK, ADDRESS, ADDRESS);
  stop.inst.sem = stops[_i].sem;
  stop.guard = stops[_i].guarded ? vkernel_predicate(vkernel) : VPRED_TRUE;
  lab_add(vkernel, lab_op(OP_LD, VALUE, ADDRESS, VREG_SINK));
  lab_add(vkernel, lab_op(OP_IADD, SUM, VALUE, VALUE));
  lab_add(vkernel, stop);
  lab_add(vkernel, lab_op(OP_ST, VREG_SINK, ADDRESS, SUM));
  lab_add(vkernel, vinst_new(OP_EXIT));
  vkernel_schedule(vkernel, 255);
  Opcode second = g_array_index(vkernel->insts, VInst, 1).inst.op;
  ck_assert_int_eq(second, stops[_i].sinks ? stops[_i].op : OP_IADD);
  vkernel_free(vkernel);
}
END_TEST

static unsigned peak_of(const VKernel *vkernel) {
  Pressure *pressure = pressure_new(vkernel);
  unsigned peak = pressure_peak(pressure);
  pressure_free(pressure);
  return peak;
}

/* So many rounds, and so many values that are kept over them: `ahead` loads are sent at once, within `rows` if a
 * thread has so many. */
static const struct {
  unsigned rounds, kept, rows, most;
} rooms[] = {{38, 0, 255, 28}, {38, 15, 255, 28}, {38, 24, 255, 36}, {30, 0, 16, 12}, {38, 40, 255, 51}};

START_TEST(loads_take_the_registers_that_there_are) {
  VKernel *vkernel = chained_rounds(SEM_WEAK, rooms[_i].rounds, rooms[_i].kept);
  vkernel_schedule(vkernel, rooms[_i].rows);
  ck_assert_uint_gt(loads_ahead(vkernel), 4);
  ck_assert_uint_le(peak_of(vkernel), rooms[_i].most);
  ck_assert_uint_ge(peak_of(vkernel), rooms[_i].most - 3);
  vkernel_free(vkernel);
}
END_TEST

/* Rows in use follow the order in which a stretch is issued, and come out the same. */
START_TEST(pressure_is_that_of_the_order) {
  VKernel *vkernel = chained_rounds(SEM_WEAK, CHAIN_ROUNDS, 3);
  Pressure *pressure = pressure_new(vkernel);
  unsigned count = vkernel->insts->len - 1, peak = 0;
  pressure_begin(pressure, vkernel, 0, count);
  for (unsigned i = 0; i < count; i++) {
    int change = pressure_change(pressure, i);
    unsigned before = pressure_now(pressure);
    pressure_issue(pressure, i);
    ck_assert_int_eq((int)pressure_now(pressure), (int)before + change);
    peak = MAX(peak, pressure_now(pressure));
  }
  ck_assert_uint_eq(peak, pressure_peak(pressure));
  ck_assert_uint_eq(pressure_now(pressure), 0);
  pressure_restart(pressure);
  for (unsigned round = 0; round < CHAIN_ROUNDS; round++)
    pressure_issue(pressure, 3 + 3 * round);
  ck_assert_uint_eq(pressure_now(pressure), CHAIN_ROUNDS);
  pressure_free(pressure);
  vkernel_free(vkernel);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("schedule");
  TCase *tcase = tcase_create("schedule");
  tcase_add_loop_test(tcase, accesses_come_before_what_uses_them, 0, G_N_ELEMENTS(scheduled_accesses));
  tcase_add_loop_test(tcase, a_yield_comes_behind_a_load, 0, 3);
  tcase_add_loop_test(tcase, loads_pass_stores_to_other_words, 0, G_N_ELEMENTS(passed_stores));
  tcase_add_test(tcase, a_try_stays_with_its_comparison);
  tcase_add_loop_test(tcase, plain_loads_pass_loads_that_wait, 0, G_N_ELEMENTS(chains));
  tcase_add_loop_test(tcase, uses_of_loads_sink_below_stops, 0, G_N_ELEMENTS(stops));
  tcase_add_loop_test(tcase, loads_take_the_registers_that_there_are, 0, G_N_ELEMENTS(rooms));
  tcase_add_test(tcase, pressure_is_that_of_the_order);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
