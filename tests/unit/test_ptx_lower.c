#include <glib.h>
#include <string.h>

#include "isa/lower/ptx_lower.h"
#include "isa/ptx/ptx_example.h"
#include "tests/unit/ptx_lab.h"
#include "tests/unit/unit.h"

static const PtxTarget fermi = {.capability = 20, .max_registers = 255};
static const PtxTarget pascal = {.capability = 61, .max_registers = 255};
static const PtxTarget hopper = {.capability = 90, .convergence_barriers = true, .max_registers = 255};

/* -- the corpus -- */

/* What of tests/ptx/ can't run, and why: the file's name begins with this. */
static const struct {
  const char *file, *message;
  unsigned below; /* only on machines of less than this capability; 0: on all */
} refused[] = {
    {"atomics_", "an atomic operation on 16 bits needs compute capability 7.0, and the machine has 6.1", 70},
    {"calls_", "calls itself: recursion isn't supported", 0},
    {"specials_", "%pm0 isn't supported: there are no performance monitors", 0},
    {"votes_", "match needs compute capability 7.0, and the machine has 6.1", 70},
};

static const char *reason_for(const char *file, const PtxTarget *target) {
  for (guint i = 0; i < G_N_ELEMENTS(refused); i++)
    if (g_str_has_prefix(file, refused[i].file) && (!refused[i].below || target->capability < refused[i].below))
      return refused[i].message;
  return NULL;
}

static void check_file(const char *folder, const char *name, const PtxTarget *target) {
  g_autofree char *path = g_build_filename(folder, name, NULL), *text = NULL;
  ck_assert(g_file_get_contents(path, &text, NULL, NULL));
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Program) program = ptx_lab_lower(path, text, target, diag);
  g_autofree char *messages = diag_render(diag);
  const char *reason = reason_for(name, target);
  if (reason)
    ck_assert_msg(!program && strstr(messages, reason), "%s on %u: %s", name, target->capability, messages);
  else
    ck_assert_msg(program && program->kernels->len > 0, "%s on %u: %s", name, target->capability, messages);
}

START_TEST(lowers_corpus) {
  g_autofree char *folder = g_build_filename(g_getenv("SRCDIR"), "tests", "ptx", NULL);
  g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
  unsigned count = 0;
  for (const char *name; (name = g_dir_read_name(dir)); count++) {
    if (!g_str_has_suffix(name, ".ptx"))
      continue;
    check_file(folder, name, &pascal);
    check_file(folder, name, &hopper);
  }
  ck_assert_uint_ge(count, 50);
}
END_TEST

/* -- every form of the table: it is lowered, or an error says why not -- */

START_TEST(lowers_every_form) {
  enum { CHOICES = 10 };
  const PtxTarget *const targets[] = {&fermi, &pascal, &hopper};
  const PtxTarget *target = targets[_i];
  PtxOps *ops = ptx_ops_new();
  unsigned refusals = 0;
  for (unsigned form = 0; form < ptx_ops_form_count(ops); form++)
    for (unsigned choice = 0; choice < 2 * CHOICES; choice++) {
      g_autofree char *mnemonic = ptx_ops_example(ops, (uint16_t)form, choice / 2, choice % 2);
      g_autofree char *inst = ptx_example(ops, mnemonic);
      g_autofree char *text =
          g_strconcat(LAB_HEAD ".func callee(.param .b32 a) { ret; }\n", LAB_OPEN + strlen(LAB_HEAD),
                      "TABLE: .branchtargets DONE;\n@%p7 ", inst, ";", LAB_CLOSE, NULL);
      g_autoptr(Diag) diag = diag_new();
      g_autoptr(Program) program = ptx_lab_lower("k.ptx", text, target, diag);
      g_autofree char *messages = diag_render(diag);
      if (program)
        continue;
      refusals++;
      bool says = strstr(messages, "isn't supported") || strstr(messages, "needs compute capability") ||
                  strstr(messages, "can't be written") || strstr(messages, "atomic operations are for");
      ck_assert_msg(says, "%s: %s", inst, messages);
    }
  ptx_ops_free(ops);
  ck_assert_uint_ge(refusals, 1);
}
END_TEST

/* -- the choice of opcodes -- */

static const struct {
  const char *body, *opcodes;
} choices[] = {
    {"add.s32 %r1, %r2, 5;", "IADD"},
    {"add.sat.s32 %r1, %r2, %r3;", "IADD"},
    {"add.cc.u32 %r1, %r2, %r3; addc.u64 %l1, %l2, %l3;", "IADD IADD64"},
    {"mad.lo.s32 %r1, %r2, %r3, %r4;", "IMAD"},
    {"mad.wide.u32 %l1, %r2, %r3, %l4;", "IMADW"},
    {"madc.hi.cc.u32 %r1, %r2, %r3, %r4;", "IMAD"},
    {"mad.hi.s16 %h1, %h2, %h3, %h4;", "BFE BFE IMUL SHR IADD BFE"},
    {"mul.wide.s32 %l1, %r2, 4;", "IMULW"},
    {"mul.hi.u16 %h1, %h2, %h3;", "IMUL SHR BFE"},
    {"add.s16 %h1, %h2, %h3;", "IADD BFE"},
    {"max.s16 %h1, %h2, -1;", "BFE IMNMX BFE"},
    {"mul24.hi.u32 %r1, %r2, %r3;", "BFE BFE IMULW SHF"},
    {"sad.u64 %l1, %l2, %l3, %l4;", "IMNMX64 IMNMX64 ISUB64 IADD64"},
    {"min.s16x2 %r1, %r2, %r3;", "BFE BFE IMNMX BFE BFE IMNMX BFI"},
    {"add.f32 %f1, %f2, %f3; sub.f64 %d1, %d2, %d3;", "DADD FADD"},
    {"fma.rn.f32 %f1, %f2, %f3, 1.5;", "FFMA"},
    {"neg.f32 %f1, %f2; abs.f64 %d1, %d2;", "FADD LOP64"},
    {"copysign.f64 %d1, %d2, %d3;", "BFI"},
    {"max.NaN.xorsign.abs.f32 %f1, %f2, %f3;", "FMNMX LOP BFI"},
    {"rcp.rn.f32 %f1, %f2; rcp.approx.f32 %f2, %f3;", "FDIV MUFU"},
    {"and.pred %p1, %p2, !%p3; not.pred %p1, %p2;", "PSETP PSETP"},
    {"not.b16 %h1, %h2; and.b16 %h3, %h1, 3;", "LOP BFE LOP"},
    {"bfe.u32 %r1, %r2, 4, 8; bfe.s64 %l1, %l2, %r3, %r4;", "BFI BFE64 BFE"},
    {"bfi.b32 %r1, %r2, %r3, 0, 8;", "BFI"},
    {"clz.b64 %r1, %l1; bfind.shiftamt.u32 %r2, %r3;", "FLO64 IMNMX FLO"},
    {"setp.lt.s32 %p1, %r1, %r2; setp.ne.b64 %p2, %l1, 0; setp.gtu.f64 %p3, %d1, %d2;", "ISETP ISETP64 DSETP"},
    {"set.lt.u32.s32 %r1, %r2, -5; set.gt.f32.f32 %f1, %f2, %f3;", "ISET FSETP SEL"},
    {"slct.u32.s32 %r1, %r2, %r3, %r4;", "ISETP SEL"},
    {"mov.b32 {%h1, %h2}, %r1; mov.b32 %r2, {%h3, %h4};", "BFI BFE BFE"},
    {"mov.b64 %l1, {%r1, %r2};", "MOV MOV"},
    {"mov.b128 %q1, -1; mov.b128 %q2, %q1; st.global.b128 [%l1], %q2;", "MOV64 MOV64 ST"},
    {"mov.b128 %q1, {%r1, %r2, %r3, %r4}; st.global.b128 [%l1], %q1;", "ST"},
    {"ld.global.b128 %q1, [%l1]; mov.b128 {%r1, %r2, %r3, %r4}, %q1;", "LD"},
    {"ld.global.b128 %q1, [%l1]; st.shared.b128 [%r1], %q1; st.release.gpu.b128 [%l1], 5;", "LD STS MOV64 MOV64 ST"},
    {"cvt.u32.u16 %r1, %h1; st.global.u32 [%l1], %r1; cvt.s64.s32 %l2, %r1; st.global.u64 [%l1], %l2;",
     "ST MOV SHR ST"},
    {"cvt.u64.u32 %l2, %r1; atom.global.exch.b64 %l2, [%l7], %l2;", "MOV ATOM MOV"},
    {"cvt.rn.f32.s32 %f1, %r1; cvt.rzi.s32.f32 %r1, %f2; cvt.f64.f32 %d1, %f2; cvt.sat.u8.s32 %h1, %r2;",
     "I2F F2I CVT CVT BFE"},
    {"cvt.sat.f32.f32 %f1, %f2; cvt.rni.f32.f32 %f2, %f3;", "FADD CVT"},
    {"cvta.shared.u64 %l1, %l2; cvta.to.shared.u64 %l3, %l4;", "IADD64 ISUB64"},
    {"mov.u32 %r1, %tid.x; mov.u64 %l1, %clock64;", "S2R S2R"},
    {"ld.global.v4.u32 %v, [%l1]; add.u32 %r1, %v.x, %v.w;", "LD IADD"},
    {"ld.global.v2.u8 {%h1, %h2}, [%l1];", "LD BFE BFE"},
    {"ld.global.s8 %h1, [%l1]; ld.global.s8 %r1, [%l1]; ld.global.s16 %l2, [%l1]; atom.global.exch.b64 %l2, [%l7], "
     "%l2;",
     "LD BFE LD LD SHR ATOM"},
    {"ld.shared.u32 %r1, [%l1]; st.local.u8 [%l1], %r1; ld.local.u16 %h1, [%l1];", "LDS STL LDL"},
    {"ld.param.u64 %l5, [in]; st.global.u32 [%l5], 0;", "MOV64 ST"},
    {"mov.u64 %l5, in; ld.param.u32 %r1, [%l5+4];", "MOV64 LD"},
    {"atom.shared.add.u32 %r1, [%l1], 1; atom.add.u32 _, [%l1], 1; red.shared.add.u32 [%l1], 1;", "ATOMS RED ATOMS"},
    {"atom.cas.b64 %l1, [%l2], 0, 1;", "MOV64 MOV64 ATOM"},
    {"membar.gl; fence.acq_rel.sys;", "MEMBAR MEMBAR"},
    {"bar.sync 0; barrier.red.popc.u32 %r1, 1, 64, %p1;", "BAR BAR"},
    {"vote.ballot.b32 %r1, %p1; activemask.b32 %r2;", "VOTE VOTE"},
    {"bar.warp.sync -1; prefetch.global.L1 [%l1]; brkpt;", ""},
    {"shfl.sync.up.b32 %r1|%p1, %r2, 1, 0, -1;", "SHFL"},
    {"shfl.idx.sync.b32 %r1, %r2, 1, 0, -1; vote.ballot.sync.b32 %r3, %p1, -1;", "SHFL VOTE"},
    {"shl.b16 %h1, %h2, 3; shr.s64 %l1, %l2, %r3;", "SHR64 SHL BFE"},
    {"lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 0x96, %p2; prmt.b32 %r1, %r2, %r3, %r4;", "LOP3 PRMT"},
    {"szext.wrap.s32 %r1, %r2, %r3; bmsk.clamp.b32 %r1, %r2, %r3;", "LOP SHL BFE SHL IADD SHL"},
    {"nanosleep.u32 100; trap;", "NANOSLEEP TRAP"},
    {"ld.global.nc.cg.u32 %r1, [%l1]; ld.global.cs.nc.L1::no_allocate.L2::128B.u32 %r2, [%l1];", "LD LD"},
    {"ld.global.nc.u32 %r1, [%l1]; ld.global.nc.ca.L2::256B.u32 %r2, [%l1];", "LD LD"},
    {"T: .branchtargets DONE, TWO, DONE; brx.idx %r1, T; TWO: @%p4 exit;", "ISETP EXIT ISETP EXIT EXIT"},
    {"@%p1 add.u64 %l1, %l2, 1; @!%p1 bra DONE; @%p4 exit;", "IADD64 EXIT EXIT"},
};

/* Uses of what the instruction may have written, without which it would be dropped. */
#define USES                                                                                                        \
  "\nUSES: st.global.v4.u32 [%l7], {%r1, %r2, %r3, %r4}; st.global.v2.u64 [%l7], {%l1, %l2}; st.global.u64 [%l7], " \
  "%l3;"                                                                                                            \
  "st.global.u16 [%l7], %h1; st.global.u16 [%l7], %h2; st.global.u16 [%l7], %h3; st.global.v2.f32 [%l7], {%f1, "    \
  "%f2};"                                                                                                           \
  "st.global.v2.f64 [%l7], {%d1, %d2}; @%p1 exit; @%p2 exit; @%p3 exit;"

static char *opcodes_of(const char *body) {
  g_autofree char *used = g_strconcat(body, USES, NULL);
  g_autoptr(Program) program = ptx_lab_lower_body(used, &pascal);
  return ptx_lab_opcodes(program_kernel(program, 0));
}

START_TEST(chooses_opcodes) {
  g_autofree char *tail = opcodes_of(""), *found = opcodes_of(choices[_i].body);
  g_autofree char *expected = g_strconcat(choices[_i].opcodes, *choices[_i].opcodes ? " " : "", tail, NULL);
  ck_assert_msg(strcmp(found, expected) == 0, "%s became\n%s, not\n%s", choices[_i].body, found, expected);
}
END_TEST

/* Copies and barriers, for sm_86 and sm_90. */
static const struct {
  const char *body, *before, *hopper;
} async_choices[] = {
    {"cp.async.ca.shared.global [%r1+4], [%l1], 8; cp.async.commit_group;", "IADD LDGSTS COPYEND EXIT",
     "IADD LDGSTS COPYEND EXIT"},
    {"cp.async.cg.shared::cta.global.L2::128B [%r1], [%l1], 16, %r2; cp.async.wait_all;",
     "ISUB ISETP LOP MOV IADD64 LDGSTS COPYEND COPYWAIT EXIT",
     "ISUB ISETP LOP MOV IADD64 LDGSTS COPYEND COPYWAIT EXIT"},
    {"cp.async.ca.shared.global [%r1], [%l1], 16, 4; cp.async.wait_group 3;", "LDGSTS COPYWAIT EXIT",
     "LDGSTS COPYWAIT EXIT"},
    {"cp.async.ca.shared.global [%r1], [%l1], 4, %p1;", "LDGSTS EXIT", "LDGSTS EXIT"},
    {"cp.async.mbarrier.arrive.shared.b64 [%r1];", "ATOMS COPYARRIVE EXIT", "ATOMS COPYARRIVE EXIT"},
    {"cp.async.mbarrier.arrive.noinc.b64 [%l1];", "IADD COPYARRIVE EXIT", "IADD COPYARRIVE EXIT"},
    {"mbarrier.init.shared.b64 [%r1], %r2;", "ISUB ISUB STS EXIT", "ISUB SHL SHL ATOMS EXIT"},
    {"mbarrier.inval.shared.b64 [%r1];", "EXIT", "EXIT"},
    {"mbarrier.arrive.b64 _, [%l1];", "IADD ATOMS EXIT", "IADD ATOMS EXIT"},
    {"mbarrier.arrive_drop.release.cta.shared.b64 _, [%r1];", "ATOMS ATOMS EXIT", "ATOMS EXIT"},
    {"mbarrier.arrive_drop.noComplete.shared.b64 _, [%r1], 3;", "ATOMS ATOMS EXIT", "MOV MOV ATOMS EXIT"},
    {"mbarrier.test_wait.shared.b64 %p1, [%r1], %l1; @%p1 exit; trap;", "LDS LOP ISETP EXIT TRAP EXIT",
     "LDS LOP ISETP EXIT TRAP EXIT"},
    {"mbarrier.try_wait.parity.shared.b64 %p1, [%r1], %r2; @%p1 exit; trap;", NULL,
     "SHL LDS LOP ISETP EXIT TRAP EXIT"},
    {"mbarrier.try_wait.shared.b64 %p1, [%r1], %l1, 900; @%p1 exit; trap;", NULL,
     "LDS LOP ISETP NANOSLEEP LDS LOP ISETP EXIT TRAP EXIT"},
    {"mbarrier.arrive.expect_tx.shared.b64 _, [%r1], %r2; mbarrier.complete_tx.shared::cta.relaxed.cluster.b64 "
     "[%r1], 8;",
     NULL, "MOV MOV MOV ATOMS ATOMS EXIT"},
    {"add.f16 %h1, %h2, %h3; st.global.u16 [%l1], %h1; neg.ftz.f16x2 %r1, %r2; st.global.u32 [%l1], %r1;",
     "HADD2 HADD2 ST ST EXIT", "HADD2 HADD2 ST ST EXIT"},
    {"fma.rn.relu.bf16x2 %r1, %r2, %r3, %r4; st.global.u32 [%l1], %r1;", "HFMA2 ST EXIT", "HFMA2 ST EXIT"},
    {"max.NaN.f16 %h1, %h2, %h3; st.global.u16 [%l1], %h1;", "HMNMX2 ST EXIT", "HMNMX2 ST EXIT"},
    {"setp.lt.and.f16x2 %p1|%p2, %r1, %r2, %p3; @%p1 exit; @!%p2 exit; trap;", "HSETP2 EXIT EXIT TRAP EXIT",
     "HSETP2 EXIT EXIT TRAP EXIT"},
    {"set.gt.f16x2.f16x2 %r1, %r2, %r3; st.global.u32 [%l1], %r1; set.gt.u16.f16 %h1, %h2, %h3; st.global.u16 [%l1], "
     "%h1;",
     "HSETP2 HSET2 SEL ST ST EXIT", "HSETP2 HSET2 SEL ST ST EXIT"},
    {"cvt.rn.f16.f32 %h1, %f1; cvt.f32.bf16 %f2, %h1; st.global.f32 [%l1], %f2;", "CVT CVT ST EXIT",
     "CVT CVT ST EXIT"},
    {"cvt.rz.bf16x2.f32 %r1, %f1, %f2; st.global.u32 [%l1], %r1;", "CVT CVT BFI ST EXIT", "CVT CVT BFI ST EXIT"},
    {"atom.global.cas.b128 %q1, [%l1], %q2, %q3; atom.shared.exch.b128 _, [%r1], %q1; atom.exch.b128 _, [%l1], -1;",
     NULL, "ATOM MOV64 MOV64 ATOMS ATOM EXIT"},
    {"atom.global.add.noftz.f16x2 %r1, [%l1], %r2; red.shared.add.noftz.f16x2 [%r3], %r1;", "ATOM ATOMS EXIT",
     "ATOM ATOMS EXIT"},
    {"red.global.add.v2.f32 [%l1], {%f1, %f2}; st.global.f32 [%l2], %f1;", NULL, "RED RED ST EXIT"},
    {"ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%l1]; atom.global.add.v2.f32 {%f5, %f6}, [%l1], {%f3, %f4}; "
     "st.global.v2.f32 [%l2], {%f6, %f5};",
     NULL, "LD ATOM ATOM MOV MOV ST EXIT"},
    {"ld.global.v2.f32 {%f1, %f2}, [%l1]; atom.global.add.v2.f32 {%f3, %f4}, [%l1], {%f1, %f2};", NULL,
     "LD RED RED EXIT"},
    {"ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%l1]; red.global.add.noftz.v4.f16x2 [%l1], {%r1, %r2, %r3, %r4};", NULL,
     "LD RED RED RED RED EXIT"},
    {"red.release.gpu.add.noftz.v2.bf16x2 [%l1], {%r1, %r2};", NULL, "RED RED EXIT"},
    {"discard.global.L2 [%l1], 128; applypriority.global.L2::evict_normal [%l1], 128;", "EXIT", "EXIT"},
    {"mbarrier.pending_count.b64 %r1, %l1; st.global.u32 [%l2], %r1;", "LOP ISUB ST EXIT", "BFE ISUB ST EXIT"},
    {"setmaxnreg.dec.sync.aligned.u32 24; setmaxnreg.inc.sync.aligned.u32 240;", NULL, "EXIT"},
    {"griddepcontrol.launch_dependents; griddepcontrol.wait;", NULL, "EXIT"},
    {"mapa.shared::cluster.u32 %r1, %r2, %r3; mapa.u64 %l2, %l3, 0; st.global.u32 [%l2], %r1;", NULL, "ST EXIT"},
    {"getctarank.shared::cluster.u32 %r1, %r2; getctarank.u64 %r2, %l3; st.global.u32 [%l2+4], %r1; "
     "st.global.u32 [%l2], %r2;",
     NULL, "ST ST EXIT"},
    {"barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;", NULL, "BAR EXIT"},
    {"barrier.cluster.arrive.relaxed; barrier.cluster.wait; ld.mmio.relaxed.sys.u32 %r1, [%l1];", NULL,
     "BAR LD EXIT"},
    {"fence.mbarrier_init.release.cluster; fence.proxy.async.shared::cta;", "MEMBAR MEMBAR FENCEVIEW EXIT",
     "MEMBAR MEMBAR FENCEVIEW EXIT"},
    {"fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;", "EXIT", "EXIT"},
    {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%l1+16], %r2, [%r3+8];", NULL,
     "IADD BULKLOAD EXIT"},
    {"cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint [%r1], [%l1], 64, [%r3], %l2;",
     NULL, "BULKLOAD EXIT"},
    {"cp.async.bulk.global.shared::cta.bulk_group [%l1], [%r1+32], %r2; cp.async.bulk.commit_group;", NULL,
     "IADD BULKSTORE BULKEND EXIT"},
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.min.s64 [%l1], [%r1], %r2; cp.async.bulk.wait_group.read 2;",
     NULL, "BULKRED BULKWAIT EXIT"},
    {"cp.async.bulk.prefetch.L2.global [%l1], %r2; cp.async.bulk.wait_group 0;", NULL, "BULKWAIT CCTL EXIT"},
    {"st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r1], {%r2, %r3}, [%r4];", NULL,
     "STS ATOMS EXIT"},
    {"createpolicy.fractional.L2::evict_last.b64 %l2, 1.0; ld.global.L2::cache_hint.u32 %r1, [%l1], %l2; "
     "st.global.L2::cache_hint.u32 [%l3], %r1, %l2;",
     "LD ST EXIT", "LD ST EXIT"},
    {"cp.async.cg.shared.global.L2::cache_hint [%r1], [%l1], 16, %l2;", "LDGSTS EXIT", "LDGSTS EXIT"},
    {"red.global.add.L2::cache_hint.u32 [%l1], %r1, %l2; atom.global.cas.L2::cache_hint.b32 %r1, [%l1], %r2, %r3, "
     "%l2;",
     "RED ATOM EXIT", "RED ATOM EXIT"},
};

static void check_opcodes(const char *body, const PtxTarget *target, const char *expected) {
  g_autoptr(Program) program = ptx_lab_lower_body(body, target);
  g_autofree char *found = ptx_lab_opcodes(program_kernel(program, 0));
  ck_assert_msg(strcmp(g_strchomp(found), expected) == 0, "%s became\n%s, not\n%s", body, found, expected);
}

START_TEST(chooses_async_opcodes) {
  static const PtxTarget ampere = {.capability = 86, .convergence_barriers = true, .max_registers = 255};
  if (async_choices[_i].before)
    check_opcodes(async_choices[_i].body, &ampere, async_choices[_i].before);
  check_opcodes(async_choices[_i].body, &hopper, async_choices[_i].hopper);
}
END_TEST

/* The guard of an instruction stays on what has an effect, not on temporaries. */
START_TEST(guards_effects_only) {
  g_autoptr(Program) program =
      ptx_lab_lower_body("@!%p1 mad24.lo.s32 %r1, %r2, %r3, %r4; st.global.u32 [%l1], %r1;", &pascal);
  const Kernel *kernel = program_kernel(program, 0);
  ck_assert_uint_eq(kernel->ninsts, 6);
  for (uint32_t i = 0; i < 3; i++)
    ck_assert_msg(!inst_is_guarded(&kernel->insts[i]), "instruction %u", i);
  ck_assert_uint_eq(kernel->insts[3].op, OP_IADD);
  ck_assert(kernel->insts[3].flags & INST_GUARD_NOT);
}
END_TEST

START_TEST(keeps_order_and_scope) {
  g_autoptr(Program) program =
      ptx_lab_lower_body("ld.acquire.gpu.global.u32 %r1, [%l1+-4]; st.volatile.global.u32 [%l1], %r1;\n"
                         "atom.global.add.f32 %f1, [%l1], %f2; atom.acq_rel.cta.inc.u32 %r1, [%l1], 7; membar.sys;\n"
                         "ld.global.cg.u32 %r2, [%l1]; fence.sc.cluster;",
                         &hopper);
  const Inst *inst = program_kernel(program, 0)->insts;
  ck_assert(inst[0].sem == SEM_ACQUIRE && inst[0].scope == SCOPE_GPU && inst[0].space == MEM_GLOBAL &&
            inst[0].imm == -4 && inst[0].flags & INST_ADDR64);
  ck_assert(inst[1].sem == SEM_VOLATILE);
  ck_assert(inst[2].sem == SEM_RELAXED && inst[2].scope == SCOPE_GPU && inst[2].type == TYPE_F32);
  ck_assert(inst[3].sem == SEM_ACQ_REL && inst[3].scope == SCOPE_CTA && inst[3].space == MEM_GENERIC &&
            inst[3].mode == ATOM_INC);
  ck_assert(inst[4].sem == SEM_SC && inst[4].mode == FENCE_SYS && inst[4].scope == SCOPE_SYS);
  ck_assert(inst[5].cache == CACHE_CG && inst[5].sem == SEM_WEAK);
  ck_assert(inst[6].sem == SEM_SC && inst[6].mode == FENCE_GL);
}
END_TEST

/* Each word of a group of four, and the address: ten registers. */
START_TEST(swaps_four_registers) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Program) program = ptx_lab_lower("k.ptx",
                                             LAB_OPEN "ld.global.b128 %q2, [%l1]; ld.global.b128 %q3, [%l1];\n"
                                                      "atom.global.cas.b128 %q1, [%l2], %q2, %q3;\n"
                                                      "st.global.b128 [%l1], %q1;" LAB_CLOSE,
                                             &hopper, diag);
  ck_assert_ptr_nonnull(program);
  const Kernel *kernel = program_kernel(program, 0);
  uint32_t at = 0;
  while (at < kernel->ninsts && kernel->insts[at].op != OP_ATOM)
    at++;
  ck_assert_uint_lt(at, kernel->ninsts);
  const Inst *inst = &kernel->insts[at];
  ck_assert_uint_eq(inst_reads(inst).count, 10);
  ck_assert_uint_eq(inst_writes(inst, kernel->nregs).count, 4);
  ck_assert(inst->width == WIDTH_128 && inst->dst % 4 == 0 && inst->b % 4 == 0 && inst->c % 4 == 0);
}
END_TEST

/* ptxas 13.0, sm_90 (0x98e is RED, 0x98a, 0x9a8 and 0x9a9 are ATOM, 0x98c is ATOMS): the result is read, or it
 * isn't. */
START_TEST(reduces_atomics_that_nobody_reads) {
  static const struct {
    const char *atom, *read, *unread;
  } cases[] = {
      {"atom.global.add.u32 %r1, [%l1], %r2;", "ATOM", "RED"},
      {"atom.release.gpu.global.inc.u32 %r1, [%l1], %r2;", "ATOM", "RED"},
      {"@%p1 atom.relaxed.cta.global.max.s32 %r1, [%l1], %r2;", "ATOM", "RED"},
      {"atom.acquire.gpu.global.add.u32 %r1, [%l1], %r2;", "ATOM", "ATOM"},
      {"atom.acq_rel.gpu.global.add.u32 %r1, [%l1], %r2;", "ATOM", "ATOM"},
      {"atom.global.exch.b32 %r1, [%l1], %r2;", "ATOM", "ATOM"},
      {"atom.global.cas.b32 %r1, [%l1], %r2, %r3;", "ATOM", "ATOM"},
      {"atom.add.u32 %r1, [%l1], %r2;", "ATOM", "ATOM"},
      {"atom.shared.add.u32 %r1, [%r5], %r2;", "ATOMS", "ATOMS"},
  };
  for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++)
    for (unsigned used = 0; used < 2; used++) {
      g_autofree char *body = g_strconcat(cases[i].atom,
                                          used ? " add.u32 %r4, %r1, 1; st.global.u32 [%l1], %r4;"
                                               : " add.u32 %r4, %r1, 1; st.global.u32 [%l1], %r3;",
                                          NULL);
      g_autoptr(Program) program = ptx_lab_lower_body(body, &hopper);
      const Kernel *kernel = program_kernel(program, 0);
      uint32_t at = 0;
      while (at < kernel->ninsts && !(op_info[kernel->insts[at].op].flags & OPF_ATOMIC))
        at++;
      ck_assert_msg(at < kernel->ninsts, "%s", body);
      ck_assert_msg(g_str_equal(op_info[kernel->insts[at].op].id, used ? cases[i].read : cases[i].unread), "%s",
                    body);
    }
}
END_TEST

/* An exchange or CAS whose result nobody reads has no register on Fermi (Mesa) and Hopper (ptxas). */
START_TEST(drops_results_of_atomics) {
  static const struct {
    const PtxTarget *target;
    bool drops;
  } cases[] = {{&fermi, true}, {&pascal, false}, {&hopper, true}};
  static const char *const atoms[] = {"atom.global.exch.b32 %r1, [%l1], %r2;",
                                      "atom.global.cas.b32 %r1, [%l1], %r2, %r3;"};
  for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++)
    for (unsigned a = 0; a < G_N_ELEMENTS(atoms); a++) {
      g_autoptr(Program) program = ptx_lab_lower_body(atoms[a], cases[i].target);
      const Kernel *kernel = program_kernel(program, 0);
      uint32_t at = 0;
      while (at < kernel->ninsts && kernel->insts[at].op != OP_ATOM)
        at++;
      ck_assert_uint_lt(at, kernel->ninsts);
      ck_assert_int_eq(kernel->insts[at].dst == (int)kernel->nregs, cases[i].drops);
    }
}
END_TEST

/* Sixty values at once fit what launch bounds leave, or some of them go to local memory. Limits as of ptxas 13.0 for
 * sm_90. */
START_TEST(limits_registers_by_launch_bounds) {
  enum { VALUES = 58 };
  static const struct {
    const char *bounds;
    unsigned limit;
    bool spills;
  } cases[] = {{"", 255, false},
               {".maxntid 1024", 64, false},
               {".maxntid 1024 .minnctapersm 2", 32, true},
               {".maxnreg 40", 40, true},
               {".maxnreg 10", 24, true},
               {".reqntid 640", 96, false},
               {".maxntid 640 .minnctapersm 3", 32, true},
               {".minnctapersm 4", 255, false}};
  static const PtxTarget bounded = {.capability = 90,
                                    .convergence_barriers = true,
                                    .max_registers = 255,
                                    .sm_registers = 65536,
                                    .register_granule = 256};
  for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
    GString *text = g_string_new(LAB_HEAD ".entry k(.param .u64 a) ");
    g_string_append_printf(text, "%s { .reg .b32 %%r<%d>; .reg .b64 %%l; ld.param.u64 %%l, [a];\n", cases[i].bounds,
                           VALUES);
    for (unsigned v = 0; v < VALUES; v++)
      g_string_append_printf(text, "ld.global.u32 %%r%u, [%%l+%u];\n", v, 4 * v);
    for (unsigned v = VALUES; v-- > 0;)
      g_string_append_printf(text, "st.global.u32 [%%l+%u], %%r%u;\n", 4 * v + 4, v);
    g_string_append(text, "ret; }");
    g_autoptr(Program) program = ptx_lab_lower_good(text->str, &bounded);
    const Kernel *kernel = program_kernel(program, 0);
    ck_assert_msg(kernel->nregs <= cases[i].limit, "%s: %u", cases[i].bounds, kernel->nregs);
    ck_assert_msg((kernel->spill_bytes > 0) == cases[i].spills, "%s: %u bytes", cases[i].bounds, kernel->spill_bytes);
    g_string_free(text, TRUE);
  }
}
END_TEST

/* -- parameters, variables -- */

/* %reserved_smem_offset_*: behind the kernel's own variables, in front of dynamic ones, and only where somebody
 * asks. */
START_TEST(finds_the_reserved_memory) {
  static const char names[][8] = {"begin", "end", "cap", "0", "1"};
  static const uint32_t values[] = {112, 1136, 1024, 112, 624};
  for (unsigned i = 0; i < G_N_ELEMENTS(values); i++) {
    g_autofree char *body =
        g_strdup_printf(".shared .align 4 .b8 own[100]; .reg .b32 %%a; mov.u32 %%r1, own; "
                        "mov.u32 %%r2, %%reserved_smem_offset_%s; st.global.v2.u32 [%%l1], {%%r1, %%r2};",
                        names[i]);
    g_autoptr(Program) program = ptx_lab_lower_body(body, &hopper);
    const Kernel *kernel = program_kernel(program, 0);
    ck_assert_uint_eq(kernel->shared_bytes, 1136);
    ck_assert_uint_eq(kernel->insts[1].op, OP_MOV);
    ck_assert_uint_eq(kernel->consts[~kernel->insts[1].a].value, values[i]);
  }
  g_autoptr(Program) without = ptx_lab_lower_body(".shared .b8 own[100]; mov.u32 %r1, own;", &hopper);
  ck_assert_uint_eq(program_kernel(without, 0)->shared_bytes, 100);
}
END_TEST

/* Since Volta a thread's program counter takes two registers; R1 is the stack pointer; a kernel that calls has at
 * least 24. */
START_TEST(counts_registers_as_ptxas) {
  static const struct {
    const char *body;
    unsigned pascal, hopper;
  } cases[] = {
      {"ret;", 2, 4},
      {"ld.param.u64 %l, [a]; st.global.u32 [%l], 0; ret;", 4, 6},
      {"ld.param.u64 %l, [a]; st.global.u32 [%l], 1; ret;", 6, 8},
      {"{ .param .b64 f; .param .b64 b; .param .b32 r; st.param.b64 [f], 0; st.param.b64 [b], 0; "
       "call.uni (r), vprintf, (f, b); } ret;",
       22, 24},
  };
  for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text =
        g_strdup_printf(LAB_HEAD ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 b);\n"
                                 ".entry k(.param .u64 a) { .reg .b64 %%l; %s }",
                        cases[i].body);
    g_autoptr(Program) old = ptx_lab_lower_good(text, &pascal), new = ptx_lab_lower_good(text, &hopper);
    unsigned on_pascal = kernel_registers(program_kernel(old, 0)),
             on_hopper = kernel_registers(program_kernel(new, 0));
    ck_assert_msg(on_pascal == cases[i].pascal && on_hopper == cases[i].hopper, "%s: %u, %u", cases[i].body,
                  on_pascal, on_hopper);
  }
}
END_TEST

/* 1024 ballots in a loop, added up one by one, or all when the last one is there; ptxas 13.0 takes 8 registers for
 * either. */
START_TEST(combines_ballots_at_once) {
  enum { VOTES = 1024 };
  for (unsigned late = 0; late < 2; late++) {
    GString *text =
        g_string_new(LAB_HEAD ".entry k(.param .u64 a, .param .u32 n) { .reg .b32 %v<1024>, %s<1025>, %t, %i; ");
    g_string_append(text, ".reg .b64 %l; .reg .pred %p; mov.u32 %t, %tid.x; mov.u32 %s0, 0; mov.u32 %i, 0; LOOP:\n");
    for (unsigned v = 0; v < VOTES; v++) {
      g_string_append_printf(text, "setp.gt.u32 %%p, %%t, %u; vote.sync.ballot.b32 %%v%u, %%p, -1;\n", v, v);
      if (!late)
        g_string_append_printf(text, "add.s32 %%s%u, %%s%u, %%v%u;\n", v + 1, v, v);
    }
    for (unsigned v = 0; late && v < VOTES; v++)
      g_string_append_printf(text, "add.s32 %%s%u, %%s%u, %%v%u;\n", v + 1, v, v);
    g_string_append(text, "mov.u32 %s0, %s1024; add.s32 %i, %i, 1; ld.param.u32 %t, [n]; setp.lt.u32 %p, %i, %t; "
                          "mov.u32 %t, %tid.x; @%p bra LOOP; ld.param.u64 %l, [a]; st.global.u32 [%l], %s0; ret; }");
    g_autoptr(Program) program = ptx_lab_lower_good(text->str, &hopper);
    const Kernel *kernel = program_kernel(program, 0);
    ck_assert_msg(kernel_registers(kernel) <= 10 && kernel->spill_bytes == 0, "%s: %u, %u bytes",
                  late ? "late" : "at once", kernel_registers(kernel), kernel->spill_bytes);
    g_string_free(text, TRUE);
  }
}
END_TEST

START_TEST(lays_out_parameters) {
  g_autoptr(Program) program = ptx_lab_lower_good(
      LAB_HEAD
      ".entry k(.param .u8 a, .param .u32 b, .param .align 8 .b8 c[12], .param .f64 d, .param .u64 .ptr .global "
      "e)\n.reqntid 8, 2 { .reg .b32 %r<4>; .reg .b16 %h; ld.param.u8 %h, [a]; ld.param.v2.u32 {%r0, %r1}, [c+4]; "
      "add.u32 %r2, %r0, %r1; cvt.u32.u16 %r3, %h; bar.sync %r2, %r3; ret; }",
      &pascal);
  static const struct {
    uint32_t offset, bytes;
    uint8_t type;
    bool array;
  } expected[] = {{0, 1, TYPE_U8, false},
                  {4, 4, TYPE_U32, false},
                  {8, 12, TYPE_U8, true},
                  {24, 8, TYPE_F64, false},
                  {32, 8, TYPE_U64, false}};
  const Kernel *kernel = program_kernel(program, 0);
  ck_assert_uint_eq(kernel->params->len, G_N_ELEMENTS(expected));
  for (guint i = 0; i < G_N_ELEMENTS(expected); i++) {
    const KernelParam *param = &g_array_index(kernel->params, KernelParam, i);
    ck_assert_msg(param->offset == expected[i].offset && param->bytes == expected[i].bytes &&
                      param->bytes_array == expected[i].array &&
                      (param->bytes_array || param->type == expected[i].type),
                  "parameter %u", i);
  }
  ck_assert_uint_eq(kernel->param_bytes, 40);
  ck_assert_uint_eq(kernel->max_threads, 16);
  ck_assert(kernel->exact_block[0] == 8 && kernel->exact_block[1] == 2 && kernel->exact_block[2] == 1);
  unsigned banks = 0;
  for (uint32_t i = 0; i < kernel->nconsts; i++)
    banks += kernel->consts[i].kind == CONST_BANK;
  ck_assert_uint_eq(banks, 3);
}
END_TEST

START_TEST(places_shared_memory) {
  g_autoptr(Program) program = ptx_lab_lower_good(
      LAB_HEAD
      ".shared .align 4 .b8 head[5]; .shared .b64 wide; .shared .b8 unused[1000]; .extern .shared .align 16 .b8 "
      "tail[];\n.func f() { .shared .b32 own; .reg .b32 %r; ld.shared.u32 %r, [own]; st.shared.u32 [tail+4], %r; "
      "ret; }\n"
      ".entry with() { .reg .b64 %l; ld.shared.u64 %l, [wide]; st.shared.b8 [head], %l; call f; ret; }\n"
      ".entry without() { ret; }\n",
      &pascal);
  const Kernel *kernel = program_kernel(program, 0);
  ck_assert_uint_eq(kernel->shared_bytes, 32); /* head 0-4, wide 8-15, own 16-19; tail is aligned to 16 */
  ck_assert_uint_eq(program_kernel(program, 1)->shared_bytes, 0);
  const Inst *last = &kernel->insts[kernel->ninsts - 2];
  ck_assert_uint_eq(last->op, OP_STS);
  ck_assert_uint_eq(kernel->consts[~last->a].value + (uint32_t)last->imm, 36);
}
END_TEST

static const ProgramVariable *variable(const Program *program, const char *name) {
  for (guint i = 0; i < program->variables->len; i++) {
    const ProgramVariable *candidate = g_ptr_array_index(program->variables, i);
    if (strcmp(candidate->name, name) == 0)
      return candidate;
  }
  return NULL;
}

START_TEST(makes_variables) {
  g_autoptr(Program) program = ptx_lab_lower_good(
      LAB_HEAD
      ".global .align 4 .u16 few[4] = {1, 2, 0, 0xffff};\n.const .f32 half = 0.5; .global .b8 lost[8];\n"
      ".visible .global .b32 seen[3];\n.global .b8 target[8];\n"
      ".global .u64 pointers[2] = {generic(target)+4, few};\n"
      ".global .align 8 .b8 bytes[10] = {7, 0, 0, 0, 0xFF(target), 0xFF00(target), 0xFF0000(target), "
      "0xFF000000(target), 0xFF00000000(target), 1};\n"
      ".entry k() { .global .u32 few; .reg .b64 %l; .reg .b32 %r; .reg .f32 %f; mov.u64 %l, pointers; ld.u64 %l, "
      "[%l]; ld.const.f32 %f, [half]; ld.global.u32 %r, [few+0]; ld.global.u8 %r, [bytes]; ret; }\n",
      &pascal);
  const ProgramVariable *few = variable(program, "few"), *half = variable(program, "half"),
                        *pointers = variable(program, "pointers"), *bytes = variable(program, "bytes");
  ck_assert(few && half && pointers && bytes && variable(program, "target"));
  ck_assert(few->bytes == 8 && few->init[0] == 0x20001 && few->init[1] == 0xffff0000u);
  ck_assert(half->constant && half->init[0] == 0x3f000000);
  ck_assert(!variable(program, "lost") && variable(program, "seen"));
  ck_assert(variable(program, "few$2"));
  ck_assert_uint_eq(pointers->relocs->len, 2);
  const ProgramReloc *first = &g_array_index(pointers->relocs, ProgramReloc, 0);
  ck_assert(first->word == 0 && first->addend == 4 &&
            g_ptr_array_index(program->variables, first->symbol) == variable(program, "target"));
  ck_assert_uint_eq(g_array_index(pointers->relocs, ProgramReloc, 1).word, 2);
  ck_assert(bytes->relocs->len == 1 && g_array_index(bytes->relocs, ProgramReloc, 0).word == 1);
  ck_assert(bytes->init[0] == 7 && bytes->init[1] == 0 && bytes->init[2] == 0x100);
}
END_TEST

/* -- calls -- */

START_TEST(inlines_calls) {
  g_autoptr(Program) program = ptx_lab_lower_good(
      LAB_HEAD
      ".func (.param .b32 r) add_one(.param .b32 a) { .local .b32 spill; .reg .b32 %r<2>; .reg .pred %p; "
      "ld.param.u32 %r0, [a]; st.local.u32 [spill], %r0; setp.eq.u32 %p, %r0, 0; @%p bra ZERO; add.u32 %r1, %r0, 1; "
      "st.param.b32 [r], %r1; ret; ZERO: st.param.b32 [r], 5; ret; }\n"
      ".func (.reg .u32 out) twice(.reg .u32 v) { add.u32 out, v, v; ret; }\n"
      ".entry k(.param .u64 p) { .local .b64 own; .reg .b64 %l; .reg .b32 %r<4>; .reg .pred %q; ld.param.u64 %l, "
      "[p];\n"
      "ld.global.u32 %r0, [%l]; { .param .b32 x; .param .b32 y; st.param.b32 [x], %r0; call (y), add_one, (x); "
      "ld.param.b32 %r1, [y]; }\n"
      "call (%r2), twice, (%r1); call (%r3), twice, (%r2); setp.eq.u32 %q, %r3, 0; @%q call (%r3), add_one, (%r3);\n"
      "st.global.u32 [%l], %r3; ret; }\n",
      &pascal);
  const Kernel *kernel = program_kernel(program, 0);
  g_autofree char *found = ptx_lab_opcodes(kernel);
  ck_assert_str_eq(
      found, "MOV64 LD STL ISETP BRA IADD BRA MOV IADD IADD ISETP BRA STL ISETP BRA IADD BRA MOV MOV64 ST EXIT");
  ck_assert_uint_eq(kernel->local_bytes, 32); /* the calls have their places one after the other */
  ck_assert_int_eq(kernel->insts[6].target, 8);
  ck_assert_int_eq(kernel->insts[11].target, 18);
}
END_TEST

START_TEST(calls_builtins) {
  g_autoptr(Program) program = ptx_lab_lower_good(
      LAB_HEAD
      ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
      ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e) "
      ".noreturn;\n"
      ".global .b8 text[4] = {104, 105};\n"
      ".entry k() { .reg .b32 %r; .reg .b64 %l; mov.u64 %l, text; { .param .b64 a; .param .b64 b; .param .b32 r; "
      "st.param.b64 [a], %l; "
      "st.param.b64 "
      "[b], 0; call.uni (r), vprintf, (a, b); ld.param.b32 %r, [r]; }\n"
      "{ .param .b64 a; st.param.b64 [a], %l; .param .b32 c; st.param.b32 [c], 7; call __assertfail, (a, a, c, a, "
      "a); } }\n",
      &pascal);
  g_autofree char *found = ptx_lab_opcodes(program_kernel(program, 0));
  ck_assert_msg(strstr(found, "PRINTF") && strstr(found, "ASSERTFAIL"), "%s", found);
}
END_TEST

/* Memory that nobody uses is taken all the same; the registers of the ABI belong to it. */
START_TEST(calls_the_heap) {
  g_autoptr(Program) program = ptx_lab_lower_good(
      LAB_HEAD
      ".extern .func (.param .b64 r) malloc(.param .b64 a);\n"
      ".extern .func (.param .b64 r) __cuda_syscall_aligned_malloc(.param .b64 a, .param .b64 b);\n"
      ".extern .func free(.param .b64 a);\n"
      ".entry k() { .reg .b64 %l;\n"
      "{ .param .b64 a; .param .b64 r; st.param.b64 [a], 24; call.uni (r), malloc, (a); ld.param.b64 %l, [r]; }\n"
      "{ .param .b64 a; .param .b64 b; .param .b64 r; st.param.b64 [a], 24; st.param.b64 [b], 64;\n"
      "call.uni (r), __cuda_syscall_aligned_malloc, (a, b); }\n"
      "{ .param .b64 a; st.param.b64 [a], %l; call.uni free, (a); } ret; }\n",
      &pascal);
  const Kernel *kernel = program_kernel(program, 0);
  const Inst *taken = NULL, *aligned = NULL, *given = NULL;
  for (uint32_t i = 0; i < kernel->ninsts; i++) {
    const Inst *inst = &kernel->insts[i];
    if (inst->op == OP_MALLOC)
      *(taken ? &aligned : &taken) = inst;
    given = inst->op == OP_FREE ? inst : given;
  }
  ck_assert(taken && aligned && given);
  ck_assert_int_eq(taken->dst, given->a);
  ck_assert_uint_eq(kernel->consts[~taken->b].value, 1);
  ck_assert_uint_ge(kernel_registers(kernel), 22);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("ptx_lower");
  TCase *tcase = tcase_create("lower");
  tcase_set_timeout(tcase, 120 * unit_patience());
  tcase_add_test(tcase, lowers_corpus);
  tcase_add_loop_test(tcase, lowers_every_form, 0, 3);
  tcase_add_loop_test(tcase, chooses_opcodes, 0, (int)G_N_ELEMENTS(choices));
  tcase_add_loop_test(tcase, chooses_async_opcodes, 0, (int)G_N_ELEMENTS(async_choices));
  tcase_add_test(tcase, guards_effects_only);
  tcase_add_test(tcase, keeps_order_and_scope);
  tcase_add_test(tcase, swaps_four_registers);
  tcase_add_test(tcase, reduces_atomics_that_nobody_reads);
  tcase_add_test(tcase, drops_results_of_atomics);
  tcase_add_test(tcase, limits_registers_by_launch_bounds);
  tcase_add_test(tcase, counts_registers_as_ptxas);
  tcase_add_test(tcase, combines_ballots_at_once);
  tcase_add_test(tcase, lays_out_parameters);
  tcase_add_test(tcase, finds_the_reserved_memory);
  tcase_add_test(tcase, places_shared_memory);
  tcase_add_test(tcase, makes_variables);
  tcase_add_test(tcase, inlines_calls);
  tcase_add_test(tcase, calls_builtins);
  tcase_add_test(tcase, calls_the_heap);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
