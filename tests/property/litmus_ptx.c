#include "tests/property/litmus.h"

#define R(word) \
  { LITMUS_READ, word, 0 }
#define W(word, value) \
  { LITMUS_WRITE, word, value }
enum { X, Y };

const LitmusTest litmus_tests[] = {
    {"MP", 2, {{W(X, 1), W(Y, 1)}, {R(Y), R(X)}}},
    {"SB", 2, {{W(X, 1), R(Y)}, {W(Y, 1), R(X)}}},
    {"LB", 2, {{R(X), W(Y, 1)}, {R(Y), W(X, 1)}}},
    {"IRIW", 4, {{W(X, 1)}, {W(Y, 1)}, {R(X), R(Y)}, {R(Y), R(X)}}},
    {"CoRR", 2, {{W(X, 1)}, {R(X), R(X)}}},
    {"CoRW", 2, {{R(X), W(X, 1)}, {W(X, 2)}}},
    {"CoWR", 2, {{W(X, 1), R(X)}, {W(X, 2)}}},
    {"CoWW", 2, {{W(X, 1), W(X, 2)}, {R(X), R(X)}}},
    {"2+2W", 2, {{W(X, 1), W(Y, 2)}, {W(Y, 1), W(X, 2)}}},
    {"R", 2, {{W(X, 1), W(Y, 1)}, {W(Y, 2), R(X)}}},
    {"S", 2, {{W(X, 2), W(Y, 1)}, {R(Y), W(X, 1)}}},
};
const LitmusForm litmus_forms[] = {
    {"plain", "ld", "st", REACH_NOBODY, REACH_NOBODY},
    {"volatile", "ld.volatile", "st.volatile", REACH_SYS, REACH_NOBODY},
    {"relaxed.cta", "ld.relaxed.cta", "st.relaxed.cta", REACH_CTA, REACH_NOBODY},
    {"relaxed.gpu", "ld.relaxed.gpu", "st.relaxed.gpu", REACH_GPU, REACH_NOBODY},
    {"relaxed.sys", "ld.relaxed.sys", "st.relaxed.sys", REACH_SYS, REACH_NOBODY},
    {"acq_rel.cta", "ld.acquire.cta", "st.release.cta", REACH_CTA, REACH_CTA},
    {"acq_rel.gpu", "ld.acquire.gpu", "st.release.gpu", REACH_GPU, REACH_GPU},
    {"acq_rel.sys", "ld.acquire.sys", "st.release.sys", REACH_SYS, REACH_SYS},
};
const LitmusFence litmus_fences[] = {
    {"none", "", REACH_NOBODY, false},
    {"acq_rel.cta", "fence.acq_rel.cta;", REACH_CTA, false},
    {"acq_rel.gpu", "fence.acq_rel.gpu;", REACH_GPU, false},
    {"acq_rel.sys", "fence.acq_rel.sys;", REACH_SYS, false},
    {"sc.cta", "fence.sc.cta;", REACH_CTA, true},
    {"sc.gpu", "fence.sc.gpu;", REACH_GPU, true},
    {"sc.sys", "fence.sc.sys;", REACH_SYS, true},
};
const unsigned litmus_test_count = G_N_ELEMENTS(litmus_tests);
const unsigned litmus_form_count = G_N_ELEMENTS(litmus_forms);
const unsigned litmus_fence_count = G_N_ELEMENTS(litmus_fences);
const char *const litmus_places[] = {"warp", "block", "SM", "TPC", "distant"};

unsigned litmus_cases(LitmusCase *cases, unsigned room) {
  unsigned count = 0;
  for (unsigned test = 0; test < litmus_test_count; test++)
    for (unsigned form = 0; form < litmus_form_count; form++)
      for (unsigned fence = 0; fence < litmus_fence_count; fence++) {
        if (fence && litmus_forms[form].ordered)
          continue;
        if (count < room)
          cases[count] = (LitmusCase){&litmus_tests[test], &litmus_forms[form], &litmus_fences[fence]};
        count++;
      }
  return count;
}

char *litmus_name(const LitmusCase *one) {
  char *name = g_strdup_printf("litmus_%s_%s_%s", one->test->name, one->form->name, one->fence->name);
  return g_strdelimit(name, "+.", '_');
}

/* Thread 0 of each block claims a place on its SM: `table` has eight for each, of group * 8 + role or 0xffffffff.
 * With several roles in a block (`apart` threads from one to the next) they follow the one that stands there. %r4:
 * the role; %r5: the group. */
static const char prologue[] =
    "{\n"
    ".reg .pred %p<4>; .reg .b32 %r<32>; .reg .b64 %rd<16>;\n"
    ".shared .align 4 .u32 claimed;\n"
    "ld.param.u64 %rd1, [table]; ld.param.u64 %rd2, [claims];\n"
    "mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra CLAIMED;\n"
    "mov.u32 %r2, %smid; mad.wide.u32 %rd2, %r2, 4, %rd2;\n"
    "atom.relaxed.gpu.global.add.u32 %r3, [%rd2], 1;\n"
    "mov.u32 %r4, 0xffffffff; setp.gt.u32 %p1, %r3, 7; @%p1 bra NOTE;\n"
    "shl.b32 %r2, %r2, 3; add.u32 %r2, %r2, %r3; mad.wide.u32 %rd1, %r2, 4, %rd1;\n"
    "ld.global.u32 %r4, [%rd1];\n"
    "NOTE: st.shared.u32 [claimed], %r4;\n"
    "CLAIMED: bar.sync 0;\n"
    "ld.shared.u32 %r4, [claimed]; setp.eq.u32 %p1, %r4, 0xffffffff; @%p1 bra DONE;\n"
    "ld.param.u32 %r6, [apart]; rem.u32 %r7, %r1, %r6; setp.ne.u32 %p1, %r7, 0; @%p1 bra DONE;\n"
    "shr.u32 %r5, %r4, 3; and.b32 %r4, %r4, 7; div.u32 %r7, %r1, %r6; add.u32 %r4, %r4, %r7;\n";
/* %r10, %r11: what the loads give. %rd3: where the threads meet; %rd4, %rd5: the words of this try; %rd6: the
 * results. */
static const char loop[] =
    "setp.ge.u32 %p1, %r4, THREADS; @%p1 bra DONE;\n"
    "ld.param.u64 %rd3, [meet]; ld.param.u64 %rd4, [words]; ld.param.u64 %rd6, [results];\n"
    "ld.param.u32 %r8, [rounds]; ld.param.u32 %r9, [stride]; cvt.u64.u32 %rd7, %r9;\n"
    "mad.wide.u32 %rd3, %r5, 128, %rd3;\n"
    "mul.lo.u32 %r12, %r5, %r8; cvt.u64.u32 %rd8, %r12; mul.lo.u64 %rd9, %rd8, %rd7;\n"
    "shl.b64 %rd9, %rd9, 1; add.s64 %rd4, %rd4, %rd9;\n"
    "shl.b64 %rd8, %rd8, 5; add.s64 %rd6, %rd6, %rd8; mad.wide.u32 %rd6, %r4, 8, %rd6;\n"
    "ld.param.u32 %r13, [seed]; mad.lo.u32 %r13, %r5, 77777, %r13; mad.lo.u32 %r13, %r4, 31337, %r13;\n"
    "ld.param.u32 %r14, [spread]; ld.param.u32 %r15, [warm]; mov.u32 %r16, 0; mov.u32 %r17, 0; mov.u32 %r18, 0;\n"
    "NEXT: setp.ge.u32 %p1, %r16, %r8; @%p1 bra LAST;\n"
    "add.s64 %rd5, %rd4, %rd7; mov.u32 %r10, 3; mov.u32 %r11, 3;\n"
    "setp.eq.u32 %p1, %r15, 0; @%p1 bra MEET;\n"
    "ld.global.u32 %r19, [%rd4]; add.u32 %r18, %r18, %r19; ld.global.u32 %r19, [%rd5]; add.u32 %r18, %r18, %r19;\n"
    "MEET: add.u32 %r17, %r17, THREADS; mov.u32 %r21, 0; atom.relaxed.gpu.global.add.u32 %r20, [%rd3], 1;\n"
    "SPIN: ld.relaxed.gpu.global.u32 %r20, [%rd3]; setp.ge.u32 %p1, %r20, %r17; @%p1 bra MET;\n"
    "add.u32 %r21, %r21, 1; setp.lt.u32 %p1, %r21, 100000; @%p1 bra SPIN; bra LAST;\n"
    "MET: mad.lo.u32 %r13, %r13, 1664525, 1013904223; shr.u32 %r22, %r13, 16; rem.u32 %r22, %r22, %r14;\n"
    "mov.u32 %r23, %clock;\n"
    "WAIT: mov.u32 %r24, %clock; sub.u32 %r24, %r24, %r23; setp.lt.u32 %p1, %r24, %r22; @%p1 bra WAIT;\n";
static const char epilogue[] = "TRIED: st.global.u32 [%rd6], %r10; st.global.u32 [%rd6+4], %r11;\n"
                               "add.s64 %rd6, %rd6, 32; add.s64 %rd4, %rd5, %rd7; add.u32 %r16, %r16, 1; bra NEXT;\n"
                               "LAST: setp.eq.u32 %p1, %r18, 0; @%p1 bra DONE; st.global.u32 [%rd6], %r18;\n"
                               "DONE: ret;\n}\n";

static void append_access(const LitmusCase *one, const LitmusAccess *access, unsigned index, GString *out) {
  unsigned address = 4 + access->word;
  if (access->kind == LITMUS_READ)
    g_string_append_printf(out, "%s.global.u32 %%r%u, [%%rd%u];\n", one->form->load, 10 + index, address);
  else
    g_string_append_printf(out, "%s.global.u32 [%%rd%u], %u;\n", one->form->store, address, access->value);
}

static void append_thread(const LitmusCase *one, unsigned thread, GString *out) {
  const LitmusAccess *accesses = one->test->accesses[thread];
  g_string_append_printf(out, "T%u:\n", thread);
  append_access(one, &accesses[0], 0, out);
  if (accesses[1].kind) {
    g_string_append_printf(out, "%s%s", one->fence->text, *one->fence->text ? "\n" : "");
    append_access(one, &accesses[1], 1, out);
  }
  g_string_append(out, "bra TRIED;\n");
}

void litmus_ptx(const LitmusCase *one, GString *out) {
  static const char parameters[] =
      "(.param .u64 table, .param .u64 claims, .param .u64 meet, .param .u64 words, .param .u64 results,\n"
      " .param .u32 rounds, .param .u32 stride, .param .u32 apart, .param .u32 spread, .param .u32 warm,\n"
      " .param .u32 seed)\n";
  g_autofree char *name = litmus_name(one);
  g_autofree char *threads = g_strdup_printf("%u", one->test->threads);
  g_autoptr(GString) start = g_string_new(loop);
  g_string_replace(start, "THREADS", threads, 0);
  g_string_append_printf(out, ".visible .entry %s%s%s%s", name, parameters, prologue, start->str);
  for (unsigned thread = 1; thread < one->test->threads; thread++)
    g_string_append_printf(out, "setp.eq.u32 %%p1, %%r4, %u; @%%p1 bra T%u;\n", thread, thread);
  for (unsigned thread = 0; thread < one->test->threads; thread++)
    append_thread(one, thread, out);
  g_string_append(out, epilogue);
}
