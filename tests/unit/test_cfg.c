#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "isa/flow/cfg.h"
#include "isa/flow/flow.h"
#include "isa/flow/past.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

static const CfgBlock *block_at(const Cfg *cfg, uint32_t pc) {
  return g_ptr_array_index(cfg->blocks, cfg->block_of[pc]);
}

/* "b0->1,2 b1->x": the edges of each block; x is the virtual exit. */
static char *show_edges(const Cfg *cfg) {
  GString *text = g_string_new(NULL);
  for (guint b = 0; b < cfg->blocks->len; b++) {
    const CfgBlock *block = g_ptr_array_index(cfg->blocks, b);
    g_string_append_printf(text, "%sb%u->", b ? " " : "", b);
    for (guint i = 0; i < block->successors->len; i++)
      g_string_append_printf(text, "%s%u", i ? "," : "", g_array_index(block->successors, uint32_t, i));
    if (block->exits)
      g_string_append(text, block->successors->len ? ",x" : "x");
  }
  return g_string_free(text, FALSE);
}

typedef struct Shape {
  const char *text, *edges;
} Shape;

static const Shape shapes[] = {
    {"NOP; EXIT", "b0->x"},
    {"@P0 BRA t; NOP; t: EXIT", "b0->1,2 b1->2 b2->x"},
    {"BRA t; NOP; t: EXIT", "b0->2 b1->2 b2->x"},
    {"@PT BRA t; NOP; t: EXIT", "b0->2 b1->2 b2->x"},
    {"@!PT BRA t; NOP; t: EXIT", "b0->1 b1->2 b2->x"},
    {"@P0 EXIT; EXIT", "b0->1,x b1->x"},
    {"l: NOP; @P0 BRA l; EXIT", "b0->0,1 b1->x"},
    {"l: BRA l", "b0->0"},
    /* .S goes to the target of the SSY, whatever its guard */
    {"SSY t; @P0 BRA e; NOP.S; e: @P1 NOP.S; t: EXIT", "b0->1,2 b1->3 b2->3 b3->x"},
    /* nested: the inner .S must not reach the outer target */
    {"SSY o; SSY i; NOP.S; i: NOP.S; o: EXIT", "b0->1 b1->2 b2->x"},
    /* arriving at the target pops, so that the next .S belongs to the outer one */
    {"SSY o; SSY i; NOP; i: NOP.S; NOP; o: EXIT", "b0->1 b1->3 b2->3 b3->x"},
    /* without any SSY, .S has nowhere to go */
    {"NOP.S; EXIT", "b0->1 b1->x"},
    {"PBK o; l: @P0 BRK; BRA l; o: EXIT", "b0->1 b1->2,3 b2->1 b3->x"},
    {"PBK o; l: PCNT c; @P0 BRK; @P1 CONT; NOP; c: BRA l; o: EXIT", "b0->1 b1->2,5 b2->3,4 b3->4 b4->1 b5->x"},
    {"@P0 BRK; EXIT", "b0->1,x b1->x"},
    /* each return goes where its own call came from */
    {"CAL f; @P0 EXIT; CAL f; EXIT; f: NOP; RET", "b0->4 b1->2,x b2->4 b3->x b4->1,3"},
    {"CAL f; EXIT; f: @P0 CAL f; RET", "b0->2 b1->x b2->2,3 b3->1,3"},
    {"RET", "b0->x"},
};

START_TEST(finds_edges) {
  g_autoptr(Program) program = lab_parse(shapes[_i].text);
  g_autoptr(Cfg) cfg = cfg_new(program_kernel(program, 0));
  g_autofree char *edges = show_edges(cfg);
  ck_assert_msg(strcmp(edges, shapes[_i].edges) == 0, "%s\ngave  %s\nnot   %s", shapes[_i].text, edges,
                shapes[_i].edges);
}
END_TEST

START_TEST(knows_what_is_reachable) {
  g_autoptr(Program) program = lab_parse("BRA t; NOP; t: EXIT; NOP");
  g_autoptr(Cfg) cfg = cfg_new(program_kernel(program, 0));
  ck_assert(block_at(cfg, 0)->reachable);
  ck_assert(!block_at(cfg, 1)->reachable);
  ck_assert(block_at(cfg, 2)->reachable);
  ck_assert(!block_at(cfg, 3)->reachable);
  ck_assert(cfg_past_end(program_kernel(program, 0)) == NO_TARGET);
}
END_TEST

/* -- reconvergence -- */

typedef struct Join {
  const char *text;
  unsigned branch;
  int reconv;
  const char *joins; /* one character for each instruction: J has INST_JOIN_TARGET */
} Join;

static const Join joins[] = {
    {"@P0 BRA e; NOP; BRA j; e: NOP; j: NOP; EXIT", 0, 4, "....J."},
    {"l: NOP; @P0 BRA l; NOP; EXIT", 1, 2, "..J."},
    {"@P0 BRA e; EXIT; e: EXIT", 0, NO_TARGET, "..."},
    {"@P0 EXIT; @P1 BRA e; NOP; e: EXIT", 1, 3, "...J"},
    {"BRA e; e: EXIT", 0, 1, ".."},
    {"SSY t; @P0 BRA e; NOP.S; e: NOP.S; t: EXIT", 1, 4, "....J"},
    /* a loop without exit */
    {"l: @P0 BRA a; NOP; a: NOP; BRA l", 0, 2, "..J."},
    /* the same with its end before its start; ways that part stay together for a round */
    {"BRA h; l: NOP; h: @P0 BRA l; NOP; BRA l", 2, 1, ".J..."},
    {"l: @P0 BRA a; NOP; BRA l; a: NOP; BRA l", 0, NO_TARGET, "....."},
    /* if inside a loop */
    {"l: @P0 BRA a; NOP; a: @P1 BRA l; EXIT", 0, 2, "..JJ"},
    {"PBK o; l: @P0 BRK; @P1 BRA m; NOP; m: BRA l; o: EXIT", 2, 4, "....J."},
    /* both sides call one function: they rejoin behind the calls, not in it */
    {"@P0 BRA e; CAL f; BRA j; e: CAL f; j: EXIT; f: NOP; RET", 0, 4, "....J.."},
    {"@P0 BRA e; CAL f; e: CAL f; EXIT; f: NOP; RET", 0, 2, "..J..."},
    {"CAL f; CAL f; EXIT; f: @P0 BRA g; NOP; g: RET", 3, 5, ".....J"},
    {"CAL f; CAL f; EXIT; f: @P0 BRA g; RET; g: RET", 3, NO_TARGET, "......"},
};

START_TEST(finds_reconvergence) {
  const Join *j = &joins[_i];
  g_autoptr(Program) program = lab_parse(j->text);
  const Kernel *kernel = program_kernel(program, 0);
  ck_assert_msg(kernel->insts[j->branch].reconv == j->reconv, "%s: %d", j->text, kernel->insts[j->branch].reconv);
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
    ck_assert_msg(!!(kernel->insts[pc].flags & INST_JOIN_TARGET) == (j->joins[pc] == 'J'), "%s: %u", j->text, pc);
}
END_TEST

/* -- what may be unset -- */

typedef struct Unset {
  const char *text, *marks; /* U: INST_MAYBE_UNSET */
} Unset;

static const Unset unset_cases[] = {
    {"MOV R1, RZ; IADD R2, R1, R3; EXIT", ".U."},
    {"S2R R1, SR_LaneId; IADD R1, R1, 1; EXIT", "..."},
    {"@P0 MOV R1, RZ; EXIT", "U."},
    {"LDSLK P0, R1, [RZ+4]; @P0 IADD R2, R1, 1; @P0 STSUL [RZ+4], R2; EXIT", "...."},
    /* set under a guard: known under the same one only */
    {"ISETP.EQ P0, PT, RZ, 1; @P0 MOV R1, RZ; @P0 MOV R2, R1; @!P0 MOV R2, R1; MOV R2, R1; EXIT", "...UU."},
    {"ISETP.EQ P0, PT, RZ, 1; @P0 MOV R1, RZ; @!P0 MOV R1, 1; MOV R2, R1; EXIT", "....."},
    {"ISETP.EQ P0, PT, RZ, 1; @P0 MOV R1, RZ; ISETP.EQ P0, PT, RZ, 2; @P0 MOV R2, R1; EXIT", "...U."},
    /* ... and across a branch not even then */
    {"ISETP.EQ P0, PT, RZ, 1; @P0 MOV R1, RZ; BRA n; n: @P0 MOV R2, R1; EXIT", "...U."},
    /* both sides of a branch, or one */
    {"ISETP.EQ P0, PT, RZ, 1; @P0 BRA e; MOV R1, RZ; BRA j; e: MOV R1, 1; j: MOV R2, R1; EXIT", "......."},
    {"ISETP.EQ P0, PT, RZ, 1; @P0 BRA j; MOV R1, RZ; j: MOV R2, R1; EXIT", "...U."},
    /* predicates, the carry, register groups */
    {"SEL R1, RZ, 1, P3; PSETP P1, PT, P2, PT; EXIT", "UU."},
    {"IADD.X R1, RZ, 1; IADD R1.CC, RZ, 1; IADD.X R2, RZ, 1; EXIT", "U..."},
    {"MOV R2, RZ; STS.64 [0x8], R2; MOV R3, RZ; STS.64 [0x8], R2; EXIT", ".U..."},
    {"LDS.128 R4, [0x0]; IADD R1, R6, R7; EXIT", "..."},
    {"BAR.SYNC R1; BAR.RED.POPC R1, 0, P1; VOTE.ANY RZ, P1, PT; EXIT", "UU.."},
    {"@!PT MOV R2, R1; EXIT", ".."},
    {"ATOM.CAS R1, [RZ+4], RZ, R1; ATOM.ADD R2, [RZ+4], R1; EXIT", "U.."},
};

START_TEST(marks_unset_reads) {
  const Unset *u = &unset_cases[_i];
  g_autoptr(Program) program = lab_parse(u->text);
  const Kernel *kernel = program_kernel(program, 0);
  ck_assert_uint_eq(kernel->ninsts, strlen(u->marks));
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
    ck_assert_msg(!!(kernel->insts[pc].flags & INST_MAYBE_UNSET) == (u->marks[pc] == 'U'), "%s: instruction %u",
                  u->text, pc);
}
END_TEST

/* -- liveness -- */

START_TEST(finds_live_names) {
  g_autoptr(Program) program =
      lab_parse("S2R R1, SR_Tid_X; ISETP.EQ P1, PT, R1, RZ; @P1 MOV R2, 5; l: IADD R1, R1, R2;\n"
                "ISETP.LT P0, PT, R1, 9; @P0 BRA l; STS [R1], R2; EXIT");
  Liveness live = cfg_liveness(program_kernel(program, 0));
  static const uint64_t regs[] = {1 << 2,          1 << 1 | 1 << 2, 1 << 1 | 1 << 2, 1 << 1 | 1 << 2,
                                  1 << 1 | 1 << 2, 1 << 1 | 1 << 2, 1 << 1 | 1 << 2, 0};
  static const uint16_t preds[] = {0, 0, 1 << 1, 0, 0, 1, 0, 0};
  for (unsigned pc = 0; pc < G_N_ELEMENTS(regs); pc++) {
    ck_assert_msg(live.live_regs[pc].word[0] == regs[pc], "registers before %u: %" G_GINT64_MODIFIER "x", pc,
                  live.live_regs[pc].word[0]);
    ck_assert_msg(live.live_preds[pc] == preds[pc], "predicates before %u: %x", pc, live.live_preds[pc]);
  }
  liveness_clear(&live);
}
END_TEST

START_TEST(refuses_too_many_registers) {
  Kernel kernel = {.nregs = REGSET_MAX + 1};
  unit_expect_precondition("dataflow-registers");
  cfg_liveness(&kernel);
}
END_TEST

/* -- against a naive reference, on programs from a seed -- */

static char *make_program(GRand *random, unsigned count) {
  static const char *const lines[] = {
      "NOP",     "NOP.S",       "MOV R%u, R%u", "@P%u MOV R%u, R%u", "ISETP.EQ P%u, PT, R%u, RZ",
      "SSY l%u", "@P0 BRA l%u", "@P1 BRA l%u",  "BRA l%u",           "PBK l%u",
      "@P2 BRK", "CAL l%u",     "@P1 RET",      "@P3 EXIT"};
  GString *text = g_string_new(NULL);
  for (unsigned i = 0; i < count; i++) {
    const char *line = lines[g_rand_int_range(random, 0, G_N_ELEMENTS(lines))];
    g_string_append_printf(text, "l%u: ", i);
    for (const char *p = line; *p; p++)
      if (p[0] == '%' && p++)
        g_string_append_printf(text, "%d", g_rand_int_range(random, 0, strchr(line, 'l') ? (gint32)count : 6));
      else
        g_string_append_c(text, *p);
    g_string_append(text, "\n");
  }
  g_string_append_printf(text, "l%u: EXIT\n", count);
  return g_string_free(text, FALSE);
}

enum { BLOCKS_MAX = 64 };

/* Post-dominators of the blocks that reach an exit, as sets: pdom(b) = {b} + the intersection over its successors. */
static void naive_postdominators(const Cfg *cfg, uint64_t *sets, uint64_t *reaching) {
  bool changed = true;
  *reaching = 0;
  for (guint b = 0; b < cfg->blocks->len; b++)
    sets[b] = UINT64_MAX;
  while (changed) {
    changed = false;
    for (guint b = 0; b < cfg->blocks->len; b++) {
      const CfgBlock *block = g_ptr_array_index(cfg->blocks, b);
      uint64_t meet = block->exits ? 0 : UINT64_MAX, reach = block->exits ? (uint64_t)1 << b : 0;
      for (guint i = 0; i < block->successors->len; i++) {
        uint32_t next = g_array_index(block->successors, uint32_t, i);
        meet &= sets[next];
        reach |= *reaching >> next & 1 ? (uint64_t)1 << b : 0;
      }
      meet |= (uint64_t)1 << b;
      changed |= meet != sets[b] || (reach & ~*reaching);
      sets[b] = meet;
      *reaching |= reach;
    }
  }
}

static bool every_block_exits(const Cfg *cfg, uint64_t reaching) {
  return reaching == (cfg->blocks->len == 64 ? UINT64_MAX : ((uint64_t)1 << cfg->blocks->len) - 1);
}

START_TEST(postdominators_match_the_sets) {
  unsigned compared = 0;
  GRand *random = g_rand_new_with_seed(11);
  for (unsigned round = 0; round < 1000; round++) {
    g_autofree char *text = make_program(random, 2 + round % 40);
    g_autoptr(Program) program = lab_parse(text);
    g_autoptr(Cfg) cfg = cfg_new(program_kernel(program, 0));
    uint64_t sets[BLOCKS_MAX], reaching;
    naive_postdominators(cfg, sets, &reaching);
    if (!every_block_exits(cfg, reaching))
      continue;
    compared++;
    for (guint b = 0; b < cfg->blocks->len; b++) {
      const CfgBlock *block = g_ptr_array_index(cfg->blocks, b);
      uint64_t strict = sets[b] & ~((uint64_t)1 << b);
      /* The immediate one is the strict post-dominator that all the others post-dominate. */
      uint64_t expected = block->ipdom == NO_TARGET ? 0 : sets[block->ipdom];
      ck_assert_msg(strict == expected, "round %u, block %u: ipdom %d\n%s", round, b, block->ipdom, text);
    }
  }
  g_rand_free(random);
  ck_assert_uint_ge(compared, 200);
}
END_TEST

/* The two analyses satisfy their equations at each instruction. */
START_TEST(dataflow_satisfies_its_equations) {
  unsigned compared = 0;
  GRand *random = g_rand_new_with_seed(12);
  for (unsigned round = 0; round < 500; round++) {
    g_autofree char *text = make_program(random, 2 + round % 40);
    g_autoptr(Program) program = lab_parse(text);
    const Kernel *kernel = program_kernel(program, 0);
    g_autoptr(Cfg) cfg = cfg_new(kernel);
    Liveness live = cfg_liveness(kernel);
    Flow flow;
    flow_init(&flow, kernel);
    bool incomplete = flow.incomplete; /* then all is taken to be wanted */
    flow_clear(&flow);
    compared += !incomplete;
    for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
      if (incomplete) {
        ck_assert_uint_eq(live.live_regs[pc].word[0], UINT64_MAX);
        continue;
      }
      const Inst *inst = &kernel->insts[pc];
      const CfgBlock *block = block_at(cfg, pc);
      uint64_t after = pc < block->last ? live.live_regs[pc + 1].word[0] : 0;
      for (guint i = 0; pc == block->last && i < block->successors->len; i++) {
        const CfgBlock *next = g_ptr_array_index(cfg->blocks, g_array_index(block->successors, uint32_t, i));
        after |= live.live_regs[next->first].word[0];
      }
      RegList reads = inst_reads(inst), writes = inst_writes(inst, kernel->nregs);
      for (unsigned i = 0; i < writes.count && !inst_is_guarded(inst); i++)
        after &= ~((uint64_t)1 << writes.reg[i]);
      for (unsigned i = 0; i < reads.count; i++)
        after |= (uint64_t)1 << reads.reg[i];
      ck_assert_msg(live.live_regs[pc].word[0] == after, "round %u, instruction %u\n%s", round, pc, text);
    }
    liveness_clear(&live);
  }
  ck_assert_uint_ge(compared, 100);
  g_rand_free(random);
}
END_TEST

/* What no walk can bound must still end: thousands of nested stacks, calls from everywhere. */
START_TEST(large_graphs_end) {
  g_autoptr(GString) text = g_string_new(NULL);
  for (unsigned i = 0; i < 20000; i++)
    g_string_append_printf(text, "SSY 0x%x\n@P0 BRA 0x%x\nCAL 0x%x\n@P1 NOP.S\n", 8 * (i * 7919 % 80000),
                           8 * (i * 104729 % 80000), 8 * (i * 31 % 80000));
  g_string_append(text, "@P2 RET\nEXIT\n");
  g_autoptr(Program) program = lab_parse(text->str);
  ck_assert_uint_eq(program_kernel(program, 0)->ninsts, 80002);
}
END_TEST

typedef struct PastCase {
  const char *text;
  uint32_t pc, left; /* an instruction, and where lanes worked last */
  Past past;
} PastCase;

static const PastCase pasts[] = {
    {"@P0 BRA e; BAR.SYNC 0; MOV R1, RZ; e: MOV R2, RZ; EXIT", 1, 4, PAST_BEHIND},
    /* both ways end without work: then it is an early return */
    {"MOV R1, RZ; @P0 BRA e; BAR.SYNC 0; MOV R1, RZ; e: EXIT", 2, 1, PAST_EARLY},
    {"MOV R1, RZ; @P0 BRA r; BAR.SYNC 0; MOV R2, RZ; EXIT; r: MOV R1, RZ; EXIT", 2, 6, PAST_EARLY},
    /* they executed it, and others do so again in a loop that they have left */
    {"l: BAR.SYNC 0; @P0 BRA l; MOV R1, RZ; EXIT", 0, 3, PAST_BEHIND},
    {"BAR.SYNC 0; @P0 BRA l; MOV R1, RZ; l: MOV R1, RZ; EXIT", 0, 4, PAST_EARLY},
    /* they left from within the loop */
    {"l: MOV R1, RZ; @P0 BRA e; BAR.SYNC 0; BRA l; e: EXIT", 2, 1, PAST_EARLY},
    {"l: @P1 BRA s; BAR.SYNC 0; s: MOV R1, RZ; @P0 BRA l; EXIT", 1, 3, PAST_EARLY},
    {"l: @P0 BRA e; BAR.SYNC 0; BRA l; e: MOV R1, RZ; EXIT", 1, 4, PAST_BEHIND},
    /* they have done something that others see, in another branch; or have gone on there without */
    {"@P0 BRA e; BAR.SYNC 0; MOV R1, RZ; EXIT; e: ST [R1], RZ; EXIT", 1, 5, PAST_BESIDE},
    {"@P0 BRA e; BAR.SYNC 0; MOV R1, RZ; EXIT; e: LD R2, [R1]; EXIT", 1, 5, PAST_EARLY},
    {"ST [R1], RZ; @P0 BRA e; BAR.SYNC 0; MOV R1, RZ; EXIT; e: EXIT", 2, 1, PAST_EARLY},
    {"@P1 BRA e; l: BAR.SYNC 0; MOV R1, RZ; EXIT; e: ST [R1], RZ; @P0 BRA l; EXIT", 1, 5, PAST_EARLY},
};

START_TEST(knows_who_went_past) {
  const PastCase *past = &pasts[_i];
  g_autofree char *text = g_strconcat(".kernel k\n", past->text, NULL);
  g_strdelimit(text, ";", '\n');
  g_autoptr(Program) program = lab_parse(text);
  const Kernel *kernel = program_kernel(program, 0);
  ck_assert_msg(kernel->insts[past->left].flags & INST_LEAVES, "%s: nobody leaves at %u", past->text, past->left);
  ck_assert_msg(past_skipped(kernel, past->pc, past->left) == past->past, "%s", past->text);
  ck_assert_int_eq(past_skipped(kernel, past->pc, PAST_NOWHERE), PAST_EARLY);
}
END_TEST

START_TEST(draws_the_graph) {
  g_autoptr(Program) program = lab_parse(".kernel k\nMOV R1, RZ\n@P0 BRA e\nNOP\ne: EXIT\nNOP\nEXIT");
  g_autofree char *dot = cfg_dot(program, program_kernel(program, 0));
  static const char *const parts[] = {"digraph \"k\" {\n",
                                      "label=\"prog.sass: k\"",
                                      "b0 [label=\"0000  MOV R1, RZ\\l0008  @P0 BRA 0x18\\l\"];",
                                      "b0 -> b2 [label=\"taken\"];",
                                      "b0 -> b1 [label=\"else\"];",
                                      "b0 -> b2 [style=dashed, constraint=false, label=\"reconverges\"];",
                                      "b2 -> exit;",
                                      "style=dotted];\n",
                                      "\n}\n"};
  for (unsigned i = 0; i < G_N_ELEMENTS(parts); i++)
    ck_assert_msg(strstr(dot, parts[i]), "no %s in\n%s", parts[i], dot);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("cfg");
  TCase *tcase = tcase_create("cfg");
  tcase_add_loop_test(tcase, finds_edges, 0, G_N_ELEMENTS(shapes));
  tcase_add_test(tcase, knows_what_is_reachable);
  tcase_add_loop_test(tcase, finds_reconvergence, 0, G_N_ELEMENTS(joins));
  tcase_add_loop_test(tcase, marks_unset_reads, 0, G_N_ELEMENTS(unset_cases));
  tcase_add_test(tcase, finds_live_names);
  unit_add_precondition_test(tcase, refuses_too_many_registers);
  tcase_add_test(tcase, postdominators_match_the_sets);
  tcase_add_test(tcase, dataflow_satisfies_its_equations);
  tcase_add_test(tcase, large_graphs_end);
  tcase_add_loop_test(tcase, knows_who_went_past, 0, G_N_ELEMENTS(pasts));
  tcase_add_test(tcase, draws_the_graph);
  tcase_set_timeout(tcase, 30);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
