/* Have all warps been seen to do all that they can do, though words change? Programs that hang, and beside them
 * such as will go on, or may, as far as is seen. */
#include "sim/core/host.h"
#include "sim/detect/proof/closure.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

/* Accesses are performed 1000 cycles behind their issue, and answered 1000 later. */
#define SLOW "memory.latency=2000 memory.request_latency=1000 memory.bytes_per_cycle=100000 "
enum { WORDS = 8, BLOCKS = 2, BEFORE_CYCLES = 900, TRIES = 20, SHARED_BYTES = 16, WARP = 32 };

/* R0: the buffer, with a lock at 0x10; R1: 1; R9: number of the block; P0: it isn't block 0. */
#define START "S2R R9, SR_CTAid_X; MOV R0, c[0x0][0x20]; MOV R1, 1; MOV R3, RZ; ISETP.NE.AND P0, PT, R9, RZ, PT; "
#define LOCK "again: ATOM.CAS R5, [R0+0x10], RZ, R1; ISETP.NE.AND P1, PT, R5, RZ, PT; @P1 BRA again; "
#define UNLOCK "RED.EXCH [R0+0x10], RZ; "
#define L1 "sm.l1.bytes=1024 sm.l1.global_loads=cached "
#define FLAG "LD.CV R6, [R0]; "
#define UNLESS_FLAG "ISETP.EQ.AND P1, PT, R6, RZ, PT; @P1 BRA again; EXIT\n"

typedef struct Case {
  const char *what, *text;
  bool closed;
} Case;

static const Case cases[] = {
    {"under a lock all look at a flag", START LOCK FLAG UNLOCK UNLESS_FLAG, true},
    {"a lock that is tried, and missed, by who looks at the flag then",
     START "again: ATOM.CAS R5, [R0+0x10], RZ, R1; ISETP.NE.AND P1, PT, R5, RZ, PT; @P1 BRA look; " UNLOCK
           "look: " FLAG UNLESS_FLAG,
     true},
    {"they count their tries, and nothing comes of it", START LOCK "IADD R3, R3, 1; " FLAG UNLOCK UNLESS_FLAG, true},
    {"they count their tries, and give up",
     START LOCK "IADD R3, R3, 1; ISETP.GT.AND P2, PT, R3, 1000000, PT; @P2 EXIT; " FLAG UNLOCK UNLESS_FLAG, false},
    {"each try is counted in memory", START LOCK "RED.ADD [R0+0x8], R1; " FLAG UNLOCK UNLESS_FLAG, false},
    {"all turn one word over",
     START "again: LD.CV R4, [R0+0x8]; LOP.XOR R4, R4, 1; ST.WT [R0+0x8], R4; " FLAG UNLESS_FLAG, true},
    {"each turns a word of its own over",
     START "SHL R9, R9, 2; IADD R8, R0, R9; "
           "again: LD.CV R4, [R8+0x8]; LOP.XOR R4, R4, 1; ST.WT [R8+0x8], R4; MEMBAR.GL; " FLAG UNLESS_FLAG,
     true},
    {"one turns a word over, and the other waits for what it never is",
     START "@P0 BRA again\nwait: LD.CV R4, [R0+0x8]; ISETP.NE.AND P1, PT, R4, 2, PT; @P1 BRA wait; EXIT\n"
           "again: LOP.XOR R3, R3, 1; ST.WT [R0+0x8], R3; MEMBAR.GL; " FLAG UNLESS_FLAG,
     true},
    {"two words change in turns, and never are 1 both",
     START "@P0 BRA again\nwait: LD.CV R4, [R0+0x8]; LD.CV R5, [R0+0xc]; LOP.AND R4, R4, R5; "
           "ISETP.EQ.AND P1, PT, R4, RZ, PT; @P1 BRA wait; EXIT\n"
           "again: ST.WT [R0+0x8], R1; ST.WT [R0+0x8], RZ; MEMBAR.GL; ST.WT [R0+0xc], R1; ST.WT [R0+0xc], RZ; "
           "MEMBAR.GL; " FLAG UNLESS_FLAG,
     false},
    {"two words change in turns, and their sum is never 3",
     START "@P0 BRA again\nwait: LD.CV R4, [R0+0x8]; MEMBAR.GL; LD.CV R5, [R0+0xc]; IADD R4, R4, R5; "
           "ISETP.NE.AND P1, PT, R4, 3, PT; @P1 BRA wait; EXIT\n"
           "again: ST.WT [R0+0x8], R1; MEMBAR.GL; ST.WT [R0+0xc], R1; MEMBAR.GL; ST.WT [R0+0x8], RZ; MEMBAR.GL; "
           "ST.WT [R0+0xc], RZ; MEMBAR.GL; " FLAG UNLESS_FLAG,
     true},
    {"one looks at the clock",
     START LOCK "S2R R4, SR_ClockLo; ISETP.LT.AND P2, PT, R4, RZ, PT; @P2 EXIT; " FLAG UNLOCK UNLESS_FLAG, false},
    {"they arrive at a barrier again and again", START LOCK "BAR.ARV 0x1, 0x4000; " FLAG UNLOCK UNLESS_FLAG, false},
    {"they ask who they are", START LOCK "S2R R4, SR_CTAid_X; IADD R6, R4, RZ; " FLAG UNLOCK UNLESS_FLAG, true},
    {"a byte of the word is stored", START LOCK "ST.U8 [R0+0x8], R5; " FLAG UNLOCK UNLESS_FLAG, false},
};

/* Watches again and again, as a run does, and holds warps up now and then, since nothing else varies their times. */
static Circle *watch(Lab *lab, uint64_t before_cycles) {
  GpuStop stop;
  Closure *closure = closure_new(lab->gpu);
  Circle *circle = NULL;
  ck_assert_int_eq(gpu_run(lab->gpu, 1000000, before_cycles), GPU_LIMIT);
  lab->gpu->noisy = true;
  uint64_t progress = lab->gpu->progress;
  stop = GPU_BUDGET;
  for (unsigned i = 0; i < TRIES && !circle && stop == GPU_BUDGET && lab->gpu->progress == progress; i++)
    circle = closure_watch(closure, 0, UINT64_MAX, &stop);
  closure_free(closure);
  return circle;
}

START_TEST(tells_who_goes_on) {
  const Case *at = &cases[_i];
  g_autoptr(Lab) lab = lab_new("gpu.sms=2", at->text);
  lab_buffer(lab, WORDS);
  lab_launch_grid(lab, 0, BLOCKS, 1, 0, 0);
  Circle *circle = watch(lab, BEFORE_CYCLES);
  UNIT_ASSERT((circle != NULL) == at->closed, "%s", at->what);
  ck_assert(!circle || circle->words_change);
  circle_free(circle);
}
END_TEST

/* What all lanes find in their L1 is known at once: no reply comes. */
START_TEST(loads_that_hit) {
  g_autoptr(Lab) lab =
      lab_new("gpu.sms=2 " L1, START LOCK "LD R7, [R0+0x200]; " FLAG "LOP.OR R6, R6, R7; " UNLOCK UNLESS_FLAG);
  lab_buffer(lab, 256);
  lab_launch_grid(lab, 0, BLOCKS, 1, 0, 0);
  Circle *circle = watch(lab, 20 * BEFORE_CYCLES);
  ck_assert_uint_gt(lab->gpu->counters.l1_hits, 0);
  ck_assert_ptr_nonnull(circle);
  circle_free(circle);
}
END_TEST

/* Warps that are alike have been seen together, so that one that never gets the lock counts, too. Those that aren't
 * alike take longer. */
START_TEST(many_warps) {
  static const char *const texts[] = {
      START LOCK FLAG UNLOCK UNLESS_FLAG,
      START LOCK "S2R R4, SR_CTAid_X; LOP.AND R4, R4, 1; IADD R6, R4, RZ; " FLAG UNLOCK UNLESS_FLAG};
  g_autoptr(Lab) lab = lab_new("gpu.sms=8", texts[_i]);
  lab_buffer(lab, WORDS);
  lab_launch_grid(lab, 0, 8, 1, 0, 0);
  Circle *circle = watch(lab, BEFORE_CYCLES);
  ck_assert_ptr_nonnull(circle);
  circle_free(circle);
}
END_TEST

/* One warp of a block turns a word of shared memory over, the other waits for what it never is; or for what it is. */
START_TEST(shared_memory) {
  g_autofree char *text =
      g_strdup_printf("S2R R9, SR_Tid_X; MOV R1, 1; MOV R3, RZ; ISETP.GE.AND P0, PT, R9, 32, PT; @P0 BRA again\n"
                      "wait: LDS R4, [RZ]; ISETP.NE.AND P1, PT, R4, %d, PT; @P1 BRA wait; EXIT\n"
                      "again: LOP.XOR R3, R3, 1; STS [RZ], R3; LDS R4, [RZ+0x4]; ISETP.EQ.AND P1, PT, R4, RZ, PT; "
                      "@P1 BRA again; EXIT\n",
                      _i ? 1 : 2);
  g_autoptr(Lab) lab = lab_new("", text);
  lab_launch_grid(lab, 0, 1, 2 * WARP, SHARED_BYTES, 0);
  Circle *circle = watch(lab, 10);
  ck_assert((circle != NULL) == !_i);
  circle_free(circle);
}
END_TEST

/* Block 1 has exited, and what it did is under way: what it changes may let block 0 go. */
START_TEST(waits_for_what_is_under_way) {
  static const struct {
    const char *release;
    bool closed;
  } releases[] = {{"ST [R0], R1", false}, {"ST [R0], RZ", true}, {"RED.ADD [R0], R1", false}};
  g_autofree char *text =
      g_strconcat(START "@P0 BRA give\n" LOCK FLAG UNLOCK "ISETP.EQ.AND P1, PT, R6, RZ, PT; @P1 BRA again; EXIT\n"
                        "give: ",
                  releases[_i].release, "; EXIT\n", NULL);
  g_autoptr(Lab) lab = lab_new(SLOW "gpu.sms=2", text);
  uint32_t *data = lab_buffer(lab, WORDS);
  lab_launch_grid(lab, 0, BLOCKS, 1, 0, 0);
  Circle *circle = watch(lab, BEFORE_CYCLES);
  UNIT_ASSERT((circle != NULL) == releases[_i].closed, "%s", releases[_i].release);
  circle_free(circle);
  ck_assert_uint_eq(data[0] != 0, !releases[_i].closed);
}
END_TEST

/* The host waits for a bell that rings for a moment, and looks now and then: it hears it some time. Nobody goes on if
 * what it hears, once, is something else. */
START_TEST(the_host_hears_a_bell) {
  static const char *const rings[] = {"@P1 ST.WT [R0+0x4], R1; @P1 ST.WT [R0+0x4], RZ; ",
                                      "@P1 ST.WT [R0+0x4], R2; ISETP.NE.AND P1, PT, R1, R1, PT; "};
  g_autofree char *text = g_strconcat(
      "MOV R0, c[0x0][0x20]; MOV R8, c[0x0][0x24]; MOV R1, 1; MOV R2, 1000; ISETP.EQ.AND P1, PT, R1, R1, PT\n"
      "again: MOV R3, RZ\n"
      "wait: IADD R3, R3, 1; ISETP.LT.AND P0, PT, R3, R2, PT; @P0 BRA wait; ",
      rings[_i],
      "LD.CV R4, [R0]; LD.CV R5, [R8]; LOP.XOR R5, R5, 1; ST.WT [R8], R5; ISETP.EQ.AND P0, PT, R4, RZ, PT; "
      "@P0 BRA again; EXIT\n",
      NULL);
  g_autoptr(Lab) lab = lab_new("host.latency=1000 host.poll_interval=1000", text);
  g_autofree char *why = NULL;
  HostStep steps[] = {{.kind = HOST_POLL, .index = 1, .compare = HOST_EQ, .value = 1},
                      {.kind = HOST_WRITE, .value = 1}};
  uint32_t *data = lab_buffer(lab, WORDS);
  lab_buffer(lab, WORDS);
  backing_buffer(lab->backing, 0)->host = true;
  lab_launch(lab, 1, 1);
  ck_assert_msg(gpu_set_host(lab->gpu, steps, G_N_ELEMENTS(steps), &why), "%s", why);
  Circle *circle = watch(lab, 20000);
  ck_assert((circle != NULL) == (_i == 1));
  ck_assert_uint_eq(data[0], !_i);
  circle_free(circle);
}
END_TEST

/* Block 1 sleeps, and then finds in its local memory, by a generic address, what block 0 doesn't find in its own. */
START_TEST(local_memory_by_a_generic_address) {
  enum { STORE = 5, SLEEP = 9, LOAD = 10 };
  g_autoptr(Lab) lab = lab_new_local(
      "gpu.sms=2",
      "S2R R9, SR_CTAid_X; MOV R0, c[0x0][0x20]; MOV32I R10, 0xf0000000; MOV32I R11, 0xf4240; IMUL R11, R11, R9; "
      "ST [R10], R9; MOV R9, RZ\n"
      "again: LD.CV R6, [R0]; IADD R7, R6, RZ; MOV RZ, R11; LD R4, [R10]; LOP.OR R4, R4, R7; "
      "ISETP.EQ.AND P0, PT, R4, RZ, PT; @P0 BRA again; EXIT\n",
      SHARED_BYTES);
  lab_buffer(lab, WORDS);
  lab_inst(lab, STORE)->space = lab_inst(lab, LOAD)->space = MEM_GENERIC;
  lab_inst(lab, SLEEP)->op = OP_NANOSLEEP;
  lab_launch_grid(lab, 0, BLOCKS, 1, 0, 0);
  for (uint64_t cycle = 1; lab->trace->len < BLOCKS * (STORE + 1); cycle++)
    gpu_run(lab->gpu, 1, cycle);
  Circle *circle = watch(lab, lab->gpu->cycle + 1);
  ck_assert_ptr_null(circle);
  ck_assert_uint_gt(lab->gpu->progress, BLOCKS);
}
END_TEST

/* The second warp of block 0 empties the L1 some time, in which the first has found an old copy, 7, until then. It
 * will find the 1 that block 1 stores for a moment now and then. */
START_TEST(finds_an_old_copy) {
  enum { SLEEP_FIRST = 26, SLEEP_THIRD = 35, MANY = 256 };
  g_autoptr(Lab) lab = lab_new(
      "gpu.sms=2 sm.l1.bytes=16384 sm.l1.global_loads=cached",
      "MOV R0, c[0x0][0x20]; MOV R1, 1; MOV R5, 1; S2R R9, SR_CTAid_X; ISETP.NE.AND P0, PT, R9, RZ, PT; @P0 BRA "
      "rings; "
      "S2R R9, SR_Tid_X; ISETP.GE.AND P0, PT, R9, 32, PT; @P0 BRA empties\n"
      "ISETP.EQ.AND P1, PT, R9, RZ, PT; IADD R7, R0, 0x200; @P1 MOV R7, R0\n"
      "looks: ST [R0+0x200], RZ; LD.CA R4, [R7]; ISETP.NE.AND P0, PT, R4, 1, PT; VOTE.ALL RZ, P0, P0; MOV R4, RZ; "
      "@P0 BRA looks; EXIT\n"
      "rings: LD.CV R6, [R0+0x4]; IADD R6, R6, RZ; ST.WT [R0], RZ; MEMBAR.GL; NOP; NOP; NOP\n"
      "again: MOV RZ, 0x186a0; ST.WT [R0], R1; ST.WT [R0], RZ; MEMBAR.GL; LD.CV R6, [R0+0x4]; "
      "ISETP.EQ.AND P0, PT, R6, RZ, PT; @P0 BRA again; EXIT\n"
      "empties: LD.CV R6, [R0+0x4]; MOV RZ, 0x4e20; MEMBAR.GL; LD.CV R6, [R0+0x4]; ISETP.EQ.AND P0, PT, R6, RZ, PT; "
      "@P0 BRA empties; EXIT\n");
  uint32_t *data = lab_buffer(lab, MANY);
  data[0] = 7;
  lab_inst(lab, SLEEP_FIRST)->op = lab_inst(lab, SLEEP_THIRD)->op = OP_NANOSLEEP;
  lab_launch_grid(lab, 0, BLOCKS, 2 * WARP, 0, 0);
  while (data[0] == 7)
    gpu_run(lab->gpu, 1, UINT64_MAX);
  Circle *circle = watch(lab, lab->gpu->cycle + 1);
  ck_assert_ptr_null(circle);
}
END_TEST

/* A warp exits while the others are watched; these hang. */
START_TEST(one_exits_meanwhile) {
  g_autoptr(Lab) lab = lab_new("gpu.sms=2", START "MOV R2, 2000; @P0 BRA later\n" LOCK FLAG UNLOCK UNLESS_FLAG
                                                  "later: IADD R3, R3, 1; ISETP.LT.AND P1, PT, R3, R2, PT; "
                                                  "@P1 BRA later; EXIT\n");
  lab_buffer(lab, WORDS);
  lab_launch_grid(lab, 0, BLOCKS, 1, 0, 0);
  ck_assert_int_eq(gpu_run(lab->gpu, 1000000, BEFORE_CYCLES), GPU_LIMIT);
  uint64_t progress = lab->gpu->progress;
  GpuStop stop;
  Closure *closure = closure_new(lab->gpu);
  ck_assert_ptr_null(closure_watch(closure, 0, UINT64_MAX, &stop));
  ck_assert_uint_gt(lab->gpu->progress, progress);
  Circle *circle = closure_watch(closure, 0, UINT64_MAX, &stop);
  ck_assert_ptr_nonnull(circle);
  circle_free(circle);
  closure_free(closure);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("closure");
  TCase *tcase = tcase_create("closure");
  tcase_add_loop_test(tcase, tells_who_goes_on, 0, (int)G_N_ELEMENTS(cases));
  tcase_add_test(tcase, loads_that_hit);
  tcase_add_loop_test(tcase, many_warps, 0, 2);
  tcase_add_loop_test(tcase, shared_memory, 0, 2);
  tcase_add_loop_test(tcase, waits_for_what_is_under_way, 0, 3);
  tcase_add_loop_test(tcase, the_host_hears_a_bell, 0, 2);
  tcase_add_test(tcase, local_memory_by_a_generic_address);
  tcase_add_test(tcase, finds_an_old_copy);
  tcase_add_test(tcase, one_exits_meanwhile);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
