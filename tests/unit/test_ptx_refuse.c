/* What lowering refuses: a kernel, a module, or what would grow beyond its limits; and with which message. */
#include <glib.h>
#include <string.h>

#include "isa/lower/ptx_lower.h"
#include "isa/ptx/ptx_parse.h"
#include "isa/ptx/ptx_print.h"
#include "tests/unit/ptx_lab.h"
#include "tests/unit/same.h"
#include "tests/unit/unit.h"

static const PtxTarget fermi = {.capability = 20, .max_registers = 255};
static const PtxTarget pascal = {.capability = 61, .max_registers = 255};
static const PtxTarget ampere = {.capability = 86, .convergence_barriers = true, .max_registers = 255};
static const PtxTarget hopper = {.capability = 90, .convergence_barriers = true, .max_registers = 255};

static const struct {
  const char *body, *message;
} errors[] = {
    {"fence.proxy.alias;", "7:1: error: fence.proxy.alias isn't supported"},
    {"griddepcontrol.wait;", "7:1: error: griddepcontrol needs compute capability 9.0, and the machine has 2.0"},
    {"setmaxnreg.dec.sync.aligned.u32 24;",
     "7:1: error: setmaxnreg needs compute capability 9.0, and the machine has 2.0"},
    {"ld.global.v4.u64 {%l1, %l2, %l3, %l4}, [%l5];", "7:1: error: an access of more than 16 bytes isn't supported"},
    {"barrier.cluster.wait;", "7:1: error: barrier.cluster needs compute capability 9.0, and the machine has 2.0"},
    {"mov.u32 %r1, %pm3;", "7:14: error: %pm3 isn't supported: there are no performance monitors"},
    {"cvta.param.u64 %l1, in;", "7:1: error: a generic address of a parameter isn't supported"},
    {"st.param.u32 [in], 1;", "7:1: error: a kernel can't write its parameters"},
    {"ld.param.u32 %r1, [big+12];", "7:19: error: this access lies outside of `big`, which has 12 bytes"},
    {"ld.param.u32 %r1, [big+2];", "7:19: error: byte 2 of `big` isn't aligned for this access"},
    {"shfl.up.b32 %r1, %r2, 1, 0;", "7:1: error: shfl needs compute capability 3.0, and the machine has 2.0"},
    {"redux.sync.add.u32 %r1, %r2, -1;", "7:1: error: redux needs compute capability 8.0, and the machine has 2.0"},
    {"atom.add.f64 %d1, [%l1], %d2;",
     "7:1: error: an atomic addition of f64 needs compute capability 6.0, and the machine has 2.0"},
    {"atom.max.u64 %l2, [%l1], %l3;",
     "7:1: error: this atomic operation on 64 bits needs compute capability 3.2, and the machine has 2.0"},
    {"cp.async.ca.shared.global [%r1], [%l2], 4;",
     "7:1: error: cp.async needs compute capability 8.0, and the machine has 2.0"},
    {"mbarrier.init.shared.b64 [%r1], 3;",
     "7:1: error: mbarrier needs compute capability 8.0, and the machine has 2.0"},
    {"{ .param .b32 x; .reg .b64 %a; mov.u64 %a, x; }",
     "7:44: error: the address of the parameter `x` of a function isn't supported"},
};

/* The messages of a text that can't be lowered, the file's name left out of the first. */
static void expect_errors(const char *text, const PtxTarget *target, const char *expected) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Program) program = ptx_lab_lower("k.ptx", text, target, diag);
  g_autofree char *messages = diag_render(diag);
  ck_assert_msg(!program, "lowered: %.2000s", text);
  ck_assert_msg(g_str_has_prefix(messages, "k.ptx:") && g_str_has_prefix(messages + strlen("k.ptx:"), expected),
                "found %s, expected %s", messages, expected);
}

START_TEST(reports_error) {
  g_autofree char *text = g_strconcat(LAB_OPEN, errors[_i].body, LAB_CLOSE, NULL);
  expect_errors(text, &fermi, errors[_i].message);
}
END_TEST

/* On machines that have copies and barriers. */
static const struct {
  const char *body, *message;
  const PtxTarget *target;
} async_errors[] = {
    {"cp.async.cg.shared.global [%r1], [%l2], 8;", "7:41: error: cp.async.cg copies 16 bytes, found 8", &hopper},
    {"cp.async.ca.shared.global [%r1], [%l2], 12;", "7:41: error: cp.async.ca copies 4, 8 or 16 bytes, found 12",
     &hopper},
    {"mbarrier.arrive.shared.b64 %l1, [%r1], 2;",
     "7:1: error: a count of mbarrier.arrive needs compute capability 9.0, and the machine has 8.6", &ampere},
    {"mbarrier.arrive.expect_tx.shared.b64 %l1, [%r1], 2;",
     "7:1: error: mbarrier.arrive.expect_tx needs compute capability 9.0, and the machine has 8.6", &ampere},
    {"mbarrier.complete_tx.shared.b64 [%r1], 2;",
     "7:1: error: mbarrier.expect_tx needs compute capability 9.0, and the machine has 8.6", &ampere},
    {"mbarrier.try_wait.shared.b64 %p1, [%r1], %l1;",
     "7:1: error: mbarrier.try_wait needs compute capability 9.0, and the machine has 8.6", &ampere},
    {"mapa.u64 %l1, %l2, 1;", "7:1: error: an address in another block of a cluster of one block isn't supported",
     &hopper},
    {"getctarank.u64 %r1, %l2;", "7:1: error: getctarank needs compute capability 9.0, and the machine has 8.6",
     &ampere},
    {"add.rn.bf16x2 %r1, %r2, %r3;",
     "7:1: error: this operation on bf16 needs compute capability 9.0, and the machine has 8.6", &ampere},
    {"atom.global.add.noftz.bf16x2 %r1, [%l1], %r2;",
     "7:1: error: an atomic addition of this type needs compute capability 9.0, and the machine has 8.6", &ampere},
    {"red.global.add.noftz.bf16 [%l1], %h1;",
     "7:1: error: an atomic operation on 16 bits needs compute capability 9.0, and the machine has 8.6", &ampere},
    {"atom.global.add.v2.f32 {%f1, %f2}, [%l1], {%f1, %f2};",
     "7:1: error: an atomic addition of vectors needs compute capability 9.0, and the machine has 8.6", &ampere},
    {"red.shared.add.v2.f32 [%r1], {%f1, %f2};", "7:15: error: `.v2` can't stand here in `red.shared.add.v2.f32`",
     &hopper},
    {"atom.global.cas.b128 %q1, [%l1], %q2, %q3;",
     "7:1: error: an atomic operation on 128 bits needs compute capability 9.0, and the machine has 8.6", &ampere},
    {"atom.shared.exch.b128 %q1, [%r1], %q2;",
     "7:1: error: an atomic operation on 128 bits needs compute capability 9.0, and the machine has 8.6", &ampere},
    {".local .b128 x; atom.exch.b128 %q1, [x], %q2;",
     "7:37: error: atomic operations are for global and shared memory", &hopper},
    {"ld.global.v2.b128 {%q1, %q2}, [%l1];", "7:1: error: an access of more than 16 bytes isn't supported", &hopper},
    {".local .b64 x; mbarrier.inval.b64 [x];", "7:35: error: an mbarrier lies in shared memory, this is `.local`",
     &hopper},
};

START_TEST(reports_async_error) {
  g_autofree char *text = g_strconcat(LAB_OPEN, async_errors[_i].body, LAB_CLOSE, NULL);
  expect_errors(text, async_errors[_i].target, async_errors[_i].message);
}
END_TEST

/* What stands in one kernel, or between kernels, and isn't supported or known: the kernel before it and the one
 * behind run. */
static const struct {
  const char *head, *body, *message; /* of the kernel in the middle */
} refusals[] = {
    {"()", "frobnicate.b32 %r1, %r2;", "unknown instruction `frobnicate`"},
    {"()", "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 32;", "`tcgen05.alloc` isn't supported"},
    {"()", "ld.global.frob.u32 %r1, [%l1];", "ld has no modifier `.frob`"},
    {"()", "ld.global.b128 %r1, [%l1];", "ld expects a `.b128` here, but `%r1` is a `.b32`"},
    {"()", ".reg .b128 %q; ld.global.u32 %q, [%l1];", "ld expects a `.u32` here, but `%q` is a `.b128`"},
    {"()", ".reg .b128 %q; ld.global.u32 %r1, [%q];", "a `.b128` can't be an address"},
    {"()", ".reg .b128 %q; mov.b64 %l1, %q;", "mov expects a `.b64` here, but `%q` is a `.b128`"},
    {"()", ".reg .b128 %q; mov.b128 %q, {%l1, %r1};", "mov expects a `.b64` here, but `%r1` is a `.b32`"},
    {"()", ".reg .b128 %q; mov.b128 %q, 1.0;", "mov expects an integer here, found `1.0`"},
    {"()", ".reg .b128 %q; atom.global.add.b128 %q, [%l1], %q;",
     "`.b128` can't stand here in `atom.global.add.b128`"},
    {"()", ".reg .b128 %q; red.global.exch.b128 [%l1], %q;", "red has no modifier `.exch`"},
    {"()", "mov.u32 %r1, %frob;", "there is no register `%frob` here"},
    {"()", "mov.u32 %r1, %frob.x;", "there is no register `%frob.x` here"},
    {"()", ".frob 3, 4;", "unknown directive `.frob`"},
    {"()", ".reg .u128 %q<4>; mov.b128 %q1, {%l1, %l2};", "`.u128` isn't supported in a declaration"},
    {"()", "ld.global.v2.u32 {%r1, %x}, [%l1];", "there is no register `%x` here"},
    {"()", "{ add.u32 %r1, %r2 }", "expected `,` or `;`, found `}`"},
    {"()", "bra NOWHERE;", "there is no label `NOWHERE` here"},
    {"()", "tex.1d.v4.s32.s32 {%r1, %r2, %r3, %r4}, [image, {%r5}];", "`tex.1d` isn't supported"},
    {"()", "suld.b.1d.b32.trap {%r1}, [image, {%r5}];", "`suld.b` isn't supported"},
    {"() .blocksareclusters .explicitcluster", "", "`.blocksareclusters` isn't supported here"},
    {"(.param .frob a)", "ld.param.u32 %r1, [a];", "`.frob` isn't supported in a declaration"},
    {"()", "call broken;", "unknown instruction `frobnicate`"},
};

START_TEST(refuses_a_kernel_alone) {
  g_autofree char *text = g_strconcat(
      LAB_HEAD ".global .texref image;\n.func broken() { frobnicate; ret; }\n.alias other, broken;\n"
               ".visible .entry before() { ret; }\n.visible .entry bad",
      refusals[_i].head, "\n{ " LAB_REGS, refusals[_i].body,
      "\nret; }\n.visible .entry behind(.param .u64 a) { .reg .b64 %l; ld.param.u64 %l, [a]; st.global.u64 [%l], %l; "
      "ret; }\n",
      NULL);
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(PtxModule) module = ptx_parse("k.ptx", text, strlen(text), diag);
  g_autoptr(Program) program = module ? ptx_lower(module, &hopper, diag) : NULL;
  g_autofree char *messages = diag_render(diag);
  ck_assert_msg(program && !diag_has_errors(diag), "%s\n%s", messages, text);
  ck_assert_uint_eq(program->kernels->len, 3);
  ck_assert(!program_kernel(program, 0)->refusal && !program_kernel(program, 2)->refusal);
  ck_assert_uint_eq(program_kernel(program, 2)->ninsts, 3);
  const Kernel *bad = program_kernel(program, 1);
  ck_assert_str_eq(bad->name, "bad");
  ck_assert_msg(bad->refusal, "%s", text);
  ck_assert_str_eq(diag_item(bad->refusal, 0)->message, refusals[_i].message);
  g_autofree char *printed = ptx_print_module(module);
  g_autoptr(PtxModule) again = ptx_parse("k.ptx", printed, strlen(printed), diag);
  ck_assert_msg(again && same_module(module, again), "%s", printed);
}
END_TEST

static const struct {
  const char *text, *message;
} module_errors[] = {
    {LAB_HEAD ".global .b32 x;", " error: there is no kernel (`.entry`)"},
    {LAB_HEAD ".entry k() { .reg .b32 %r; add.u32 %r, %r, 1; }",
     "4:28: error: `k` can run past its last instruction; end it with `ret` or `exit`"},
    {LAB_HEAD ".func f() { call f; ret; } .entry k() { call f; ret; }",
     "4:7: error: `f` calls itself: recursion isn't supported"},
    {LAB_HEAD
     ".func g(); .func h(); .func f() { call g; ret; } .func g() { call h; ret; } .func h() { call f; ret; } "
     ".entry k() { call f; ret; }",
     "4:29: error: `f` calls `g`, which calls `h`, which calls `f`: recursion isn't supported"},
    {LAB_HEAD
     ".func f() { ret; } .func g() { ret; }\n.entry k() { .reg .b64 %l; mov.u64 %l, f; T: .calltargets f, g; "
     "call %l, T; "
     "ret; }",
     "5:65: error: a call through a register isn't supported, but for one that can call one function only; here 2 "
     "come "
     "into question"},
    {LAB_HEAD
     ".shared .b32 s; .global .u64 p = generic(s);\n.entry k() { .reg .b64 %l; ld.global.u64 %l, [p]; ret; }",
     "4:30: error: the address of the `.shared` variable `s` as an initial value isn't supported"},
    {LAB_HEAD ".extern .global .b32 e;\n.entry k() { .reg .b32 %r; ld.global.u32 %r, [e]; ret; }",
     "5:46: error: `e` is in another file, which isn't supported"},
    {LAB_HEAD ".func f(.param .b32 a) { trap; } .entry k() { .param .b64 x; call f, (x); ret; }",
     "4:71: error: this isn't what the function takes: `.b32` of 4 bytes"},
    {LAB_HEAD ".extern .func (.param .b32 r) __dequeue(.param .b64 q);\n"
              ".entry k() { .param .b64 q; .param .b32 r; call (r), __dequeue, (q); ret; }",
     "5:44: error: `__dequeue` is declared otherwise; expected `extern \"C\" __device__ unsigned long long "
     "__dequeue(void *queue);`"},
    {LAB_HEAD ".extern .func __lock_release(.param .b64 l, .param .b32 n);\n"
              ".entry k() { .param .b64 l; .param .b32 n; call __lock_release, (l, n); ret; }",
     "5:44: error: `__lock_release` is declared otherwise; expected `extern \"C\" __device__ void "
     "__lock_release(unsigned *lock);`"},
};

START_TEST(reports_module_error) { expect_errors(module_errors[_i].text, &pascal, module_errors[_i].message); }
END_TEST

/* What is wrong with a function refuses the kernels that reach it, each with its own errors, and no other. */
START_TEST(refuses_kernels) {
  static const char text[] = LAB_HEAD ".shared .b32 s;\n"
                                      ".func bad() { fence.proxy.alias; ret; }\n"
                                      ".func again() { call again; ret; }\n"
                                      ".entry first() { call bad; ret; }\n"
                                      ".entry second() { .reg .b32 %r; mov.u32 %r, s; ret; }\n"
                                      ".entry third() { call bad; call again; ret; }\n"
                                      ".entry fourth() { call again; ret; }\n"
                                      ".entry fifth() { mma.sync.aligned.m8n8k4.f16 {%h1}; }\n"
                                      ".entry sixth() { .reg .b32 %r; match.any.sync.b32 %r, %r, -1; ret; }\n";
  static const char *const messages[] = {
      "k.ptx:5:15: error: fence.proxy.alias isn't supported\n",
      NULL,
      "k.ptx:6:7: error: `again` calls itself: recursion isn't supported\n",
      "k.ptx:6:7: error: `again` calls itself: recursion isn't supported\n",
      "k.ptx:11:18: error: `mma.sync` isn't supported\n",
      "k.ptx:12:32: error: match needs compute capability 7.0, and the machine has 6.1\n"};
  static const char *const names[] = {"first", "second", "third", "fourth", "fifth", "sixth"};
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(PtxModule) module = ptx_parse("k.ptx", text, strlen(text), diag);
  ck_assert(module != NULL);
  g_autoptr(Program) program = ptx_lower(module, &pascal, diag);
  ck_assert(program && !diag_has_errors(diag));
  ck_assert_uint_eq(program->kernels->len, G_N_ELEMENTS(names));
  for (guint i = 0; i < program->kernels->len; i++) {
    const Kernel *kernel = program_kernel(program, i);
    g_autofree char *found = kernel->refusal ? diag_render(kernel->refusal) : NULL;
    ck_assert_str_eq(kernel->name, names[i]);
    ck_assert_msg(g_strcmp0(found, messages[i]) == 0, "%s: %s", kernel->name, found);
    ck_assert(!kernel->refusal == (kernel->ninsts > 0));
  }
  ck_assert_uint_eq(program_kernel(program, 1)->shared_bytes, 4);
}
END_TEST

/* 2 to the power 30 calls. */
START_TEST(limits_growth) {
  GString *text = g_string_new(LAB_HEAD ".func f0() { ret; }\n");
  for (unsigned i = 1; i <= 30; i++)
    g_string_append_printf(text, ".func f%u() { call f%u; call f%u; ret; }\n", i, i - 1, i - 1);
  g_string_append(text, ".entry k() { call f30; ret; }\n");
  g_autofree char *all = g_string_free(text, FALSE);
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Program) program = ptx_lab_lower("k.ptx", all, &pascal, diag);
  g_autofree char *messages = diag_render(diag);
  ck_assert_msg(!program && strstr(messages, "instructions once calls are inlined"), "%s", messages);
}
END_TEST

static char *deep(unsigned depth) {
  GString *text = g_string_new(LAB_HEAD ".func f0() { ret; }\n");
  for (unsigned i = 1; i <= depth; i++)
    g_string_append_printf(text, ".func f%u() { call f%u; ret; }\n", i, i - 1);
  g_string_append_printf(text, ".entry k() { call f%u; ret; }\n", depth);
  return g_string_free(text, FALSE);
}

START_TEST(limits_depth) {
  g_autofree char *good = deep(200), *bad = deep(2000);
  g_autoptr(Program) program = ptx_lab_lower_good(good, &pascal);
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Program) none = ptx_lab_lower("k.ptx", bad, &pascal, diag);
  g_autofree char *messages = diag_render(diag);
  ck_assert_msg(!none && strstr(messages, "calls are nested more than 256 deep"), "%s", messages);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("ptx_refuse");
  TCase *tcase = tcase_create("refuse");
  tcase_set_timeout(tcase, 120 * unit_patience());
  tcase_add_loop_test(tcase, reports_error, 0, (int)G_N_ELEMENTS(errors));
  tcase_add_loop_test(tcase, reports_async_error, 0, (int)G_N_ELEMENTS(async_errors));
  tcase_add_loop_test(tcase, refuses_a_kernel_alone, 0, (int)G_N_ELEMENTS(refusals));
  tcase_add_loop_test(tcase, reports_module_error, 0, (int)G_N_ELEMENTS(module_errors));
  tcase_add_test(tcase, refuses_kernels);
  tcase_add_test(tcase, limits_growth);
  tcase_add_test(tcase, limits_depth);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
