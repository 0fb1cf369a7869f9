/* Code that a late store could tell apart: a strong store, and behind it, on some path without a fence of the GPU, a
 * strong access to another word. */
#include <glib.h>

#include "sim/detect/race/unfenced.h"
#include "tests/unit/ptx_lab.h"
#include "tests/unit/unit.h"

typedef struct Case {
  const char *name, *body;
  bool has_pair;
} Case;

#define ADDRESS "ld.param.u64 %l0, [in];\n"
#define STORE ADDRESS "st.volatile.global.u32 [%l0], 1;\n"
#define LOAD "ld.volatile.global.u32 %r1, [%l0+4];\n"
#define USE "st.global.u32 [%l0+64], %r1;\n"

static const Case cases[] = {
    {"a load behind a store", STORE LOAD USE, true},
    {"a store behind a store", STORE "st.volatile.global.u32 [%l0+4], 1;", true},
    {"an atomic operation behind a store", STORE "atom.global.add.u32 %r1, [%l0+4], 1;\n" USE, true},
    {"a reduction behind a store", STORE "red.global.add.u32 [%l0+4], 1;", true},
    {"a fence between", STORE "membar.gl;" LOAD USE, false},
    {"a fence of the system between", STORE "membar.sys;" LOAD USE, false},
    {"a fence.acq_rel, which loads may pass stores at", STORE "fence.acq_rel.gpu;" LOAD USE, true},
    {"two of them", STORE "fence.acq_rel.gpu;fence.acq_rel.sys;" LOAD USE, true},
    {"a fence.sc behind it", STORE "fence.acq_rel.gpu;fence.sc.gpu;" LOAD USE, false},
    {"a fence.acq_rel, and a store", STORE "fence.acq_rel.gpu;st.volatile.global.u32 [%l0+4], 1;", false},
    {"a fence.acq_rel, and an atomic operation", STORE "fence.acq_rel.gpu;atom.global.add.u32 %r1, [%l0+4], 1;\n" USE,
     false},
    {"a fence.acq_rel, and a load of the same word",
     STORE "fence.acq_rel.gpu;ld.volatile.global.u32 %r1, [%l0];\n" USE, false},
    {"a fence.acq_rel on one path, and a fence on the other",
     STORE "mov.u32 %r2, %tid.x;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra L;\nmembar.gl;\nbra M;\nL: "
           "fence.acq_rel.gpu;\nM: " LOAD USE,
     true},
    {"a fence of the block only", STORE "membar.cta;" LOAD USE, true},
    {"a release behind the store", STORE "st.release.gpu.global.u32 [%l0+4], 1;", false},
    {"an acquire behind the store", STORE "ld.acquire.gpu.global.u32 %r1, [%l0+4];\n" USE, true},
    {"relaxed accesses", ADDRESS "st.relaxed.gpu.global.u32 [%l0], 1;\nld.relaxed.gpu.global.u32 %r1, [%l0+4];\n" USE,
     true},
    {"the same word", STORE "ld.volatile.global.u32 %r1, [%l0];\n" USE, false},
    {"a load that comes first", ADDRESS LOAD "st.volatile.global.u32 [%l0], %r1;", false},
    {"a plain store", ADDRESS "st.global.u32 [%l0], 1;\n" LOAD USE, false},
    {"a plain load", STORE "ld.global.u32 %r1, [%l0+4];\n" USE, false},
    {"a store to shared memory", ADDRESS "st.volatile.shared.u32 [16], 1;\n" LOAD USE, false},
    {"an atomic operation isn't late",
     ADDRESS "atom.global.exch.b32 %r0, [%l0], 1;\n" LOAD "st.global.v2.u32 [%l0+64], {%r0, %r1};", false},
    {"a fence on one of two paths",
     STORE "mov.u32 %r2, %tid.x;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra L;\nmembar.gl;\nL: " LOAD USE, true},
    {"a fence on both",
     STORE
     "mov.u32 %r2, %tid.x;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra L;\nmembar.gl;\nbra M;\nL: membar.gl;\nM: " LOAD USE,
     false},
    {"a load before it, in a loop",
     ADDRESS "L: " LOAD "st.volatile.global.u32 [%l0], %r1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;", true},
    {"the same with a fence in the loop",
     ADDRESS "L: " LOAD "st.volatile.global.u32 [%l0], %r1;\nmembar.gl;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;",
     false},
    {"a later store has a pair", STORE "membar.gl;\nst.volatile.global.u32 [%l0+8], 1;\n" LOAD USE, true},
};

START_TEST(finds_pairs) {
  const PtxTarget target = {.capability = 90, .convergence_barriers = true, .max_registers = 255};
  g_autoptr(Program) program = ptx_lab_lower_body(cases[_i].body, &target);
  ck_assert_msg(unfenced_has_pair(g_ptr_array_index(program->kernels, 0)) == cases[_i].has_pair, "%s",
                cases[_i].name);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("unfenced");
  TCase *tcase = tcase_create("unfenced");
  tcase_add_loop_test(tcase, finds_pairs, 0, G_N_ELEMENTS(cases));
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
