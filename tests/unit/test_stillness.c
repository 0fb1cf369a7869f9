/* Has everything come to rest? Programs that hang, and beside them such as will go on by something that isn't a word
 * of memory, or isn't performed yet. */
#include "sim/detect/proof/stillness.h"
#include "sim/detect/proof/warp_digest.h"
#include "tests/unit/lab.h"
#include "tests/unit/ptx_lab.h"
#include "tests/unit/unit.h"

/* Accesses are performed 1000 cycles behind their issue, and answered 1000 later. */
#define SLOW "memory.latency=2000 memory.request_latency=1000 memory.bytes_per_cycle=100000 "
enum { WORDS = 8, BLOCKS = 2, THREADS = 96, BEFORE_CYCLES = 900, LOCAL_BYTES = 8 };

/* R0: the buffer; R1: 1; R9: number of the block; P0: it isn't block 0. */
#define START "S2R R9, SR_CTAid_X; MOV R0, c[0x0][0x20]; MOV R1, 1; MOV R3, RZ; ISETP.NE.AND P0, PT, R9, RZ, PT; "
#define POLLS "wait: LD.CV R5, [R0]; ISETP.EQ.AND P1, PT, R5, RZ, PT; @P1 BRA wait; EXIT\n"

typedef struct Case {
  const char *what, *text;
  bool still;
} Case;

static const Case cases[] = {
    {"all poll", START POLLS, true},
    {"in circles of two lengths",
     START "@P0 BRA long\n" POLLS "long: LD.CV R5, [R0]; IADD R6, R5, 1; IADD R7, R6, 1; LD.CV R8, [R0+0x4]; "
           "LOP.OR R5, R5, R8; ISETP.EQ.AND P1, PT, R5, RZ, PT; @P1 BRA long; EXIT\n",
     true},
    {"one counts its tries, and nothing comes of it",
     START "again: IADD R3, R3, 1; LD.CV R5, [R0]; ISETP.EQ.AND P1, PT, R5, RZ, PT; @P1 BRA again; EXIT\n", true},
    {"one counts its tries, and gives up",
     START "again: IADD R3, R3, 1; ISETP.GT.AND P2, PT, R3, 1000000, PT; @P2 EXIT; LD.CV R5, [R0]; "
           "ISETP.EQ.AND P1, PT, R5, RZ, PT; @P1 BRA again; EXIT\n",
     false},
    {"one stores what is there",
     START "again: ST.WT [R0+0x8], RZ; LD.CV R5, [R0]; ISETP.EQ.AND P1, PT, R5, RZ, PT; "
           "@P1 BRA again; EXIT\n",
     true},
    {"one stores what changes",
     START "again: LOP.XOR R3, R3, 1; ST.WT [R0+0x8], R3; LD.CV R5, [R0]; "
           "ISETP.EQ.AND P1, PT, R5, RZ, PT; @P1 BRA again; EXIT\n",
     false},
    {"one adds nothing",
     START "again: RED.ADD [R0+0x8], RZ; LD.CV R5, [R0]; ISETP.EQ.AND P1, PT, R5, RZ, PT; "
           "@P1 BRA again; EXIT\n",
     true},
    {"all but one try to take a lock that nobody gives back",
     START "again: MOV R4, 2; ATOM.CAS R5, [R0+0x10], RZ, R4; ISETP.NE.AND P1, PT, R5, RZ, PT; @P1 BRA again; EXIT\n",
     true},
    {"one arrives at a barrier again and again",
     START "again: BAR.ARV 0x1, 0x4000; LD.CV R5, [R0]; ISETP.EQ.AND P1, PT, R5, RZ, PT; @P1 BRA again; EXIT\n",
     false},
    {"one looks at the clock",
     START "again: S2R R4, SR_ClockLo; ISETP.LT.AND P2, PT, R4, RZ, PT; @P2 EXIT; "
           "LD.CV R4, [R0]; ISETP.EQ.AND P1, PT, R4, RZ, PT; @P1 BRA again; EXIT\n",
     false},
    {"all have come to a barrier but one that polls", START "@P0 BRA meet\n" POLLS "meet: BAR.SYNC 0x0; EXIT\n",
     true},
};

static Circle *watch(Lab *lab) {
  GpuStop stop;
  ck_assert_int_eq(gpu_run(lab->gpu, 1000000, BEFORE_CYCLES), GPU_LIMIT);
  Circle *circle = stillness_watch(lab->gpu, UINT64_MAX, UINT64_MAX, &stop);
  ck_assert(circle == NULL || stop == GPU_BUDGET);
  return circle;
}

START_TEST(tells_who_goes_on) {
  const Case *at = &cases[_i];
  g_autoptr(Lab) lab = lab_new("gpu.sms=2", at->text);
  lab_buffer(lab, WORDS);
  lab_launch_grid(lab, 0, BLOCKS, THREADS, 0, 0);
  Circle *circle = watch(lab);
  UNIT_ASSERT((circle != NULL) == at->still, "%s", at->what);
  circle_free(circle);
}
END_TEST

/* What a warp counts in its local memory is in no register at the end of its loop. */
START_TEST(counts_in_local_memory) {
  g_autoptr(Lab) lab =
      lab_new_local("",
                    START "again: LD R4, [RZ]; IADD R4, R4, 1; ST [RZ], R4; ISETP.GT.AND P2, PT, R4, 1000000, PT; "
                          "@P2 EXIT; LD.CV R4, [R0]; ISETP.EQ.AND P1, PT, R4, RZ, PT; @P1 BRA again; EXIT\n",
                    LOCAL_BYTES);
  enum { FIRST_LOAD = 5, FIRST_STORE = 7 };
  ck_assert_int_eq(lab_inst(lab, FIRST_LOAD)->op, OP_LD);
  ck_assert_int_eq(lab_inst(lab, FIRST_STORE)->op, OP_ST);
  lab_inst(lab, FIRST_LOAD)->op = OP_LDL;
  lab_inst(lab, FIRST_STORE)->op = OP_STL;
  lab_buffer(lab, WORDS);
  lab_launch(lab, 1, THREADS);
  ck_assert(!watch(lab));
}
END_TEST

/* Block 1 has exited, and what it did is under way: what it changes may let block 0 go. */
START_TEST(waits_for_what_is_under_way) {
  static const struct {
    const char *release;
    bool still;
  } releases[] = {
      {"ST [R0], R1", false}, {"ST [R0], RZ", true}, {"RED.ADD [R0], R1", false}, {"RED.ADD [R0], RZ", true}};
  g_autofree char *text = g_strconcat(START "@P0 BRA give\n" POLLS "give: ", releases[_i].release, "; EXIT\n", NULL);
  g_autoptr(Lab) lab = lab_new(SLOW "gpu.sms=2", text);
  uint32_t *data = lab_buffer(lab, WORDS);
  lab_launch_grid(lab, 0, BLOCKS, THREADS, 0, 0);
  Circle *circle = watch(lab);
  UNIT_ASSERT((circle != NULL) == releases[_i].still, "%s", releases[_i].release);
  circle_free(circle);
  if (!releases[_i].still)
    lab_finish(lab);
  ck_assert_uint_eq(data[0] != 0, !releases[_i].still);
}
END_TEST

/* Who polls shared memory has gone round long before the store of the block that has exited is performed. */
START_TEST(waits_longer_than_a_round) {
  g_autoptr(Lab) lab = lab_new("gpu.sms=2 memory.latency=60000 memory.request_latency=30000",
                               START "@P0 BRA give\nwait: LDS R5, [RZ]; ISETP.EQ.AND P1, PT, R5, RZ, PT; "
                                     "@P1 BRA wait; EXIT\ngive: ST [R0], R1; EXIT\n");
  uint32_t *data = lab_buffer(lab, WORDS);
  lab_launch_grid(lab, 0, BLOCKS, THREADS, 4, 0);
  ck_assert(!watch(lab));
  ck_assert_uint_eq(data[0], 1);
  GpuStop stop;
  Circle *circle = stillness_watch(lab->gpu, UINT64_MAX, UINT64_MAX, &stop);
  ck_assert_ptr_nonnull(circle);
  circle_free(circle);
}
END_TEST

/* A watch of many warps, whose circle is long, costs no more than its share of the run. */
START_TEST(stays_within_its_share) {
  enum { MANY = 1024, PIECE = 1000, WHOLE = 1000000 };
  g_autoptr(Lab) lab =
      lab_new("gpu.sms=2", START "wait: MOV R3, 250\ndown: IADD R3, R3, -1; ISETP.GT.AND P2, PT, R3, RZ, PT; "
                                 "@P2 BRA down; LD.CV R5, [R0]; ISETP.EQ.AND P1, PT, R5, RZ, PT; @P1 BRA wait; "
                                 "EXIT\n");
  lab_buffer(lab, WORDS);
  lab_launch_grid(lab, 0, BLOCKS, MANY, 0, 0);
  GpuStop stop;
  ck_assert_int_eq(gpu_run(lab->gpu, PIECE, UINT64_MAX), GPU_BUDGET);
  uint64_t before = lab->gpu->counters.warp_instructions;
  ck_assert_ptr_null(stillness_watch(lab->gpu, 0, UINT64_MAX, &stop));
  ck_assert_uint_lt(lab->gpu->counters.warp_instructions - before, CIRCLE_SHARE_LEAST + PIECE);
  Circle *circle = stillness_watch(lab->gpu, WHOLE, UINT64_MAX, &stop);
  ck_assert_ptr_nonnull(circle);
  circle_free(circle);
}
END_TEST

/* Locks that are tried stand before words that are looked at, and more threads before fewer. */
START_TEST(says_what_they_look_at) {
  g_autoptr(Lab) lab = lab_new("gpu.sms=2", START "@P0 BRA try\n" POLLS "try: ATOM.CAS R5, [R0+0x10], RZ, R1; "
                                                  "ISETP.NE.AND P1, PT, R5, RZ, PT; @P1 BRA try; EXIT\n");
  uint32_t *data = lab_buffer(lab, WORDS);
  data[4] = 7;
  lab_launch_grid(lab, 0, BLOCKS, THREADS, 0, 0);
  Circle *circle = watch(lab);
  ck_assert_ptr_nonnull(circle);
  ck_assert_uint_eq(circle->words->len, 2);
  const CircleWord *lock = &g_array_index(circle->words, CircleWord, 0), *flag = lock + 1;
  ck_assert(lock->atomic && !flag->atomic && !lock->sm && !flag->sm);
  ck_assert_uint_eq(lock->address, flag->address + 0x10);
  ck_assert_uint_eq(lock->threads, THREADS);
  ck_assert_uint_eq(flag->threads, THREADS);
  circle_free(circle);
}
END_TEST

/* A few words of another launch's memory say nothing: it hasn't begun, since it waits for the first one to end. */
START_TEST(launches_behind_wait) {
  g_autoptr(Lab) lab = lab_new("", ".kernel first\n" START POLLS ".kernel second\nEXIT;\n");
  lab_buffer(lab, WORDS);
  lab_launch_grid(lab, 0, 1, THREADS, 0, 0);
  lab_launch_grid(lab, 1, 1, THREADS, 0, 0);
  Circle *circle = watch(lab);
  ck_assert_ptr_nonnull(circle);
  circle_free(circle);
}
END_TEST

/* What printf() returns says when nothing more is taken: who waits for that goes on some time. */
START_TEST(printing_until_it_fails) {
  static const char *const uses[] = {"setp.ge.s32 %p1, %r1, 0;",
                                     "ld.volatile.global.u32 %r2, [%l1]; setp.ge.s32 %p1, %r2, 0;"};
  g_autofree char *text = g_strconcat(
      LAB_HEAD ".extern .func (.param .b32 taken) vprintf(.param .b64 a, .param .b64 b);\n"
               ".global .align 4 .b8 words[4] = {120, 10};\n.visible .entry k()\n{ " LAB_REGS
               "mov.u64 %l1, words; cvta.global.u64 %l2, %l1;\nAGAIN: {\n"
               ".param .b64 p; .param .b64 q; .param .b32 r;\nst.param.b64 [p], %l2; st.param.b64 [q], 0;\n"
               "call.uni (r), vprintf, (p, q); ld.param.b32 %r1, [r]; }\n",
      uses[_i], "\n@%p1 bra AGAIN;\nret; }\n", NULL);
  PtxTarget target = {.capability = 60, .max_registers = 255};
  Program *program = ptx_lab_lower_good(text, &target);
  KernelState state = {0};
  kernel_state_init(&state, program_kernel(program, 0));
  ck_assert_int_eq(state.clocked, !_i);
  kernel_state_clear(&state);
  program_free(program);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("stillness");
  TCase *tcase = tcase_create("stillness");
  tcase_add_loop_test(tcase, tells_who_goes_on, 0, (int)G_N_ELEMENTS(cases));
  tcase_add_test(tcase, counts_in_local_memory);
  tcase_add_loop_test(tcase, waits_for_what_is_under_way, 0, 4);
  tcase_add_test(tcase, waits_longer_than_a_round);
  tcase_add_test(tcase, stays_within_its_share);
  tcase_add_test(tcase, says_what_they_look_at);
  tcase_add_test(tcase, launches_behind_wait);
  tcase_add_loop_test(tcase, printing_until_it_fails, 0, 2);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
