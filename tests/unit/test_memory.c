/* The memory instructions of PTX programs. Kernels are Fermi SASS whose instructions get what only PTX has: a space,
 * 64-bit addresses and operands, an order, other opcodes. */
#include <glib.h>
#include <string.h>

#include "sim/core/access.h"
#include "sim/core/symbols.h"
#include "sim/engine/rng.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

#define TIMES "sm.issue_interval=2 sm.latency.alu=18 "

/* ---- spaces ---- */

/* Whatever the lanes store, and in whatever order, each reads what it stored last; another block finds zeros. */
START_TEST(local_memory_holds_what_lanes_store) {
  enum { WORDS = 2 * LOCAL_PAGE_WORDS + 3, STORES = 400 };
  static uint32_t expected[WORDS][32];
  LocalMemory local = {0};
  Rng rng;
  rng_seed(&rng, (uint64_t)_i, 0);
  for (unsigned block = 0; block < 3; block++) {
    local_memory_start(&local, WORDS);
    memset(expected, 0, sizeof expected);
    for (unsigned i = 0; i < STORES; i++) {
      uint32_t word = rng_below(&rng, WORDS), mask = rng_below(&rng, 2) ? ALL_LANES : (uint32_t)rng_next(&rng);
      uint32_t values[32], spread = rng_below(&rng, 8) == 0 ? 5 : 1;
      for (unsigned lane = 0; lane < 32; lane++)
        values[lane] = i % 7 + rng_below(&rng, spread);
      local_memory_store(&local, word, mask, ALL_LANES, values);
      for (unsigned lane = 0; lane < 32; lane++)
        expected[word][lane] = mask >> lane & 1 ? values[lane] : expected[word][lane];
    }
    for (uint32_t word = 0; word < WORDS; word++)
      for (unsigned lane = 0; lane < 32; lane++)
        ck_assert_uint_eq(local_memory_word(&local, word, lane), expected[word][lane]);
  }
  local_memory_clear(&local);
}
END_TEST

/* Zeros take nothing, a word that all lanes share takes one word, whoever else has exited. */
START_TEST(local_memory_takes_what_is_stored) {
  const uint32_t zeros[32] = {0};
  uint32_t same[32], own[32];
  for (unsigned lane = 0; lane < 32; lane++) {
    same[lane] = 7;
    own[lane] = lane;
  }
  LocalMemory local = {0};
  local_memory_start(&local, 3 * LOCAL_PAGE_WORDS);
  local_memory_store(&local, 5, ALL_LANES, ALL_LANES, zeros);
  ck_assert_ptr_null(local.pages[0]);
  local_memory_store(&local, LOCAL_PAGE_WORDS, ALL_LANES, ALL_LANES, same);
  local_memory_store(&local, LOCAL_PAGE_WORDS + 1, 0xff, 0xff, same);
  ck_assert_ptr_null(local.pages[1]->each);
  ck_assert_uint_eq(local_memory_word(&local, LOCAL_PAGE_WORDS + 1, 7), 7);
  local_memory_store(&local, LOCAL_PAGE_WORDS + 2, 0xff, ALL_LANES, same);
  ck_assert_ptr_nonnull(local.pages[1]->each);
  ck_assert_uint_eq(local_memory_word(&local, LOCAL_PAGE_WORDS, 31), 7);
  ck_assert_uint_eq(local_memory_word(&local, LOCAL_PAGE_WORDS + 2, 31), 0);
  local_memory_store(&local, 2 * LOCAL_PAGE_WORDS, ALL_LANES, ALL_LANES, own);
  ck_assert_uint_eq(local_memory_word(&local, 2 * LOCAL_PAGE_WORDS, 31), 31);
  ck_assert_ptr_null(local.pages[0]);
  local_memory_clear(&local);
}
END_TEST

/* Lanes of one warp in all three windows; each kind of access leaves the others alone. */
START_TEST(generic_lanes_go_by_their_window) {
  static const char text[] = "LD R2, [R0]; ST [R0], R3; LD R4, [R0]; EXIT; NOP; MOV R8, RZ";
  g_autoptr(Lab) lab = lab_new_local("", text, 64);
  uint32_t *data = lab_buffer(lab, 32);
  for (uint32_t pc = 0; pc < 3; pc++)
    lab_inst(lab, pc)->space = MEM_GENERIC;
  lab_launch_grid(lab, 0, 1, 32, 256, 0);
  lab_place(lab);
  Warp *warp = lab_warp(lab, 0);
  uint32_t values[32];
  for (unsigned lane = 0; lane < 32; lane++)
    values[lane] = 300 + lane;
  uint32_t *shared = lab->gpu->sms[0].shared.words, base = (uint32_t)backing_buffer(lab->backing, 0)->base;
  for (unsigned lane = 0; lane < 32; lane++) {
    data[lane] = 100 + lane;
    shared[lane] = 200 + lane;
    local_memory_store(&warp->local, 3, 1u << lane, ALL_LANES, values);
    lab_row(lab, 0, 0)[lane] = lane % 3 == 0   ? base + 4 * lane
                               : lane % 3 == 1 ? SHARED_WINDOW + 4 * lane
                                               : LOCAL_WINDOW + 12;
    lab_row(lab, 0, 3)[lane] = 1000 + lane;
  }
  lab_finish(lab);
  for (unsigned lane = 0; lane < 32; lane++) {
    unsigned kind = lane % 3;
    ck_assert_uint_eq(lab_row(lab, 0, 2)[lane], (kind + 1) * 100 + lane);
    ck_assert_uint_eq(lab_row(lab, 0, 4)[lane], 1000 + lane);
    ck_assert_uint_eq(data[lane], kind == 0 ? 1000 + lane : 100 + lane);
    ck_assert_uint_eq(shared[lane], kind == 1 ? 1000 + lane : 200 + lane);
    ck_assert_uint_eq(local_memory_word(&warp->local, 3, lane), kind == 2 ? 1000 + lane : 300 + lane);
  }
}
END_TEST

/* 64-bit addresses take both rows; 128-bit values four. */
START_TEST(wide_addresses_and_values) {
  g_autoptr(Lab) lab = lab_new("", "LD.128 R4, [R0+0x10]; ST.64 [R0+0x8], R6; EXIT; MOV R8, RZ");
  uint32_t *data = lab_buffer(lab, 8);
  lab_inst(lab, 0)->flags |= INST_ADDR64;
  lab_inst(lab, 1)->flags |= INST_ADDR64;
  for (uint32_t i = 0; i < 8; i++)
    data[i] = 10 + i;
  lab_launch(lab, 1, 1);
  lab_place(lab);
  lab_set_row(lab, 0, (uint32_t)backing_buffer(lab->backing, 0)->base, 0);
  lab_finish(lab);
  for (unsigned i = 0; i < 4; i++)
    ck_assert_uint_eq(lab_row(lab, 0, 4 + i)[0], 14 + i);
  ck_assert_uint_eq(data[2], 16);
  ck_assert_uint_eq(data[3], 17);
}
END_TEST

/* The sink is one row, however wide the load: the row behind it is another warp's. */
START_TEST(wide_loads_into_the_sink) {
  g_autoptr(Lab) lab =
      lab_new("sm.max_thread_registers=63", "MOV R0, c[0x0][0x20]; LD.128 R4, [R0]; EXIT; MOV R62, RZ");
  uint32_t *data = lab_buffer(lab, 4);
  lab_inst(lab, 1)->dst = (int16_t)program_kernel(lab->program, 0)->nregs;
  for (unsigned i = 0; i < 4; i++)
    data[i] = 7;
  lab_launch(lab, 1, 64);
  lab_place(lab);
  lab_finish(lab);
  for (unsigned reg = 1; reg < 62; reg++)
    ck_assert_uint_eq(lab_row(lab, 1, reg)[5], 0);
}
END_TEST

START_TEST(parameters_by_address) {
  g_autoptr(Lab) lab = lab_new(TIMES "sm.latency.constant=24", "LD R1, [R0]; LD.U8 R2, [R0+0x5]; LD.64 R4, [R0+0x8]; "
                                                               "IADD R6, R4, R5; EXIT");
  for (uint32_t pc = 0; pc < 3; pc++)
    lab_inst(lab, pc)->space = MEM_PARAM;
  lab_arg(lab, 0x11223344);
  lab_arg(lab, 0x55667788);
  lab_arg(lab, 5);
  program_kernel(lab->program, 0)->param_bytes = 16; /* the last word isn't given */
  lab_launch(lab, 1, 1);
  lab_finish(lab);
  ck_assert_uint_eq(lab_row(lab, 0, 1)[0], 0x11223344);
  ck_assert_uint_eq(lab_row(lab, 0, 2)[0], 0x77);
  ck_assert_uint_eq(lab_row(lab, 0, 6)[0], 5);
  ck_assert_uint_eq(lab_cycle(lab, 0, 3, 0), 4 + 24);
}
END_TEST

START_TEST(constants_are_read_in_their_space) {
  g_autoptr(Lab) lab = lab_new(TIMES "sm.latency.constant=24", "MOV R0, c[0x0][0x20]; LD R1, [R0]; MOV R2, R1; EXIT");
  uint32_t *data = lab_buffer(lab, 1);
  *data = 9;
  backing_buffer(lab->backing, 0)->constant = true;
  lab_inst(lab, 1)->space = MEM_CONST;
  lab_launch(lab, 1, 1);
  lab_finish(lab);
  ck_assert_uint_eq(lab_row(lab, 0, 2)[0], 9);
  ck_assert_uint_eq(lab_cycle(lab, 0, 2, 0), 18 + 24);
  ck_assert_uint_eq(lab->gpu->counters.global_accesses, 0);
}
END_TEST

/* ---- local memory ---- */

START_TEST(local_memory_is_each_lanes_own) {
  static const char text[] = "LD R2, [R0]; ST [R0], R1; LD R3, [R0]; LD.U8 R4, [R0+0x1]; MOV R5, R3; EXIT";
  g_autoptr(Lab) lab = lab_new_local(TIMES "sm.latency.local=80 sm.max_warps=48", text, 128);
  for (uint32_t pc = 0; pc < 4; pc++)
    lab_inst(lab, pc)->op = pc == 1 ? OP_STL : OP_LDL;
  lab_launch(lab, 9, 1024); /* more than fit: later blocks find zeros again */
  lab_place(lab);
  for (unsigned slot = 0; slot < 32; slot++)
    for (unsigned lane = 0; lane < 32; lane++) {
      lab_row(lab, slot, 0)[lane] = lane * 4;
      lab_row(lab, slot, 1)[lane] = 0x10000 * slot + 0x300 + lane;
    }
  lab_finish(lab);
  for (unsigned slot = 0; slot < 32; slot++)
    for (unsigned lane = 0; lane < 32; lane++)
      ck_assert_uint_eq(lab_row(lab, slot, 2)[lane], 0);
  for (guint i = 0; i < lab->trace->len; i++)
    if (lab_issue(lab, i)->pc == 4 && lab_issue(lab, i)->block == 0 && lab_issue(lab, i)->warp == 0)
      ck_assert_uint_ge(lab_issue(lab, i)->cycle, 80);
}
END_TEST

START_TEST(local_memory_keeps_values) {
  g_autoptr(Lab) lab = lab_new_local("", "ST.64 [R0], R2; LD.64 R4, [R0]; LD.U16 R6, [R0+0x2]; EXIT; MOV R7, RZ", 16);
  lab_inst(lab, 0)->op = OP_STL;
  lab_inst(lab, 1)->op = lab_inst(lab, 2)->op = OP_LDL;
  lab_launch(lab, 1, 32);
  lab_place(lab);
  lab_set_row(lab, 0, 8, 0);
  lab_set_row(lab, 2, 0xabcd0000, 1);
  lab_set_row(lab, 3, 500, 1);
  lab_finish(lab);
  for (unsigned lane = 0; lane < 32; lane++) {
    ck_assert_uint_eq(lab_row(lab, 0, 4)[lane], 0xabcd0000 + lane);
    ck_assert_uint_eq(lab_row(lab, 0, 5)[lane], 500 + lane);
    ck_assert_uint_eq(lab_row(lab, 0, 6)[lane], 0xabcd);
  }
}
END_TEST

START_TEST(too_much_local_memory_is_refused) {
  g_autoptr(Lab) lab = lab_new_local("", "EXIT", LOCAL_BYTES_MAX + 1);
  g_autofree char *why = NULL;
  LaunchConfig config = {
      .program = lab->program, .kernel = program_kernel(lab->program, 0), .grid = {1, 1, 1}, .block = {1, 1, 1}};
  ck_assert(!gpu_add_launch(lab->gpu, &config, &why));
  ck_assert_msg(strstr(why, "524289 bytes of local memory"), "%s", why);
}
END_TEST

/* ---- atomics ---- */

typedef struct AtomicCase {
  AtomOp op;
  DataType type;
  MemWidth width;
  uint64_t old, b, c, result;
} AtomicCase;

#define F32_1_5 0x3fc00000
#define F32_2 0x40000000
#define F32_3_5 0x40600000
#define F64_1_5 UINT64_C(0x3ff8000000000000)
#define F64_2 UINT64_C(0x4000000000000000)
#define F64_3_5 UINT64_C(0x400c000000000000)
#define MINUS(n) ((uint32_t) - (int32_t)(n))

static const AtomicCase atomics[] = {
    {ATOM_ADD, TYPE_U32, WIDTH_32, 0xffffffff, 2, 0, 1},
    {ATOM_ADD, TYPE_U64, WIDTH_64, 0xffffffff, 2, 0, 0x100000001},
    {ATOM_ADD, TYPE_F32, WIDTH_32, F32_1_5, F32_2, 0, F32_3_5},
    {ATOM_ADD, TYPE_F64, WIDTH_64, F64_1_5, F64_2, 0, F64_3_5},
    {ATOM_MIN, TYPE_S32, WIDTH_32, MINUS(1), 1, 0, MINUS(1)},
    {ATOM_MIN, TYPE_U32, WIDTH_32, MINUS(1), 1, 0, 1},
    {ATOM_MAX, TYPE_S32, WIDTH_32, MINUS(1), 1, 0, 1},
    {ATOM_MAX, TYPE_U32, WIDTH_32, MINUS(1), 1, 0, MINUS(1)},
    {ATOM_MIN, TYPE_S64, WIDTH_64, UINT64_MAX, 1, 0, UINT64_MAX},
    {ATOM_MIN, TYPE_U64, WIDTH_64, UINT64_MAX, 1, 0, 1},
    {ATOM_MAX, TYPE_S64, WIDTH_64, UINT64_MAX, 1, 0, 1},
    {ATOM_MAX, TYPE_U64, WIDTH_64, UINT64_MAX, 1, 0, UINT64_MAX},
    {ATOM_INC, TYPE_U32, WIDTH_32, 6, 7, 0, 7},
    {ATOM_INC, TYPE_U32, WIDTH_32, 7, 7, 0, 0},
    {ATOM_DEC, TYPE_U32, WIDTH_32, 0, 7, 0, 7},
    {ATOM_DEC, TYPE_U32, WIDTH_32, 8, 7, 0, 7},
    {ATOM_DEC, TYPE_U32, WIDTH_32, 3, 7, 0, 2},
    {ATOM_AND, TYPE_U64, WIDTH_64, UINT64_C(0xff00000000000f), UINT64_C(0xf0000000000009), 0,
     UINT64_C(0xf0000000000009)},
    {ATOM_OR, TYPE_U64, WIDTH_64, UINT64_C(1) << 40, 1, 0, (UINT64_C(1) << 40) + 1},
    {ATOM_XOR, TYPE_U64, WIDTH_64, UINT64_C(3) << 40, UINT64_C(1) << 40, 0, UINT64_C(2) << 40},
    {ATOM_EXCH, TYPE_U64, WIDTH_64, 5, UINT64_C(7) << 33, 0, UINT64_C(7) << 33},
    {ATOM_CAS, TYPE_U64, WIDTH_64, UINT64_C(5) << 32, UINT64_C(5) << 32, 9, 9},
    {ATOM_CAS, TYPE_U64, WIDTH_64, UINT64_C(5) << 32, 0, 9, UINT64_C(5) << 32},
    {ATOM_CAS, TYPE_U32, WIDTH_32, 5, 5, 9, 9},
    {ATOM_CAS, TYPE_U16, WIDTH_U16, 5, 0xabcd0005, 0xabcd0009, 9},
    {ATOM_CAS, TYPE_U16, WIDTH_U16, 5, 6, 9, 5},
};

/* In global memory, in shared memory, and both through generic addresses: old value and result. */
START_TEST(atomics_work_alike_in_all_spaces) {
  static const struct {
    Opcode op;
    MemSpace space;
    bool shared;
  } ways[] = {{OP_ATOM, MEM_GLOBAL, false}, {OP_ATOMS, MEM_GLOBAL, true}, {OP_ATOM, MEM_GENERIC, false},
              {OP_ATOM, MEM_GENERIC, true}, {OP_RED, MEM_GLOBAL, false},  {OP_RED, MEM_GENERIC, true}};
  const AtomicCase *c = &atomics[_i];
  for (unsigned w = 0; w < G_N_ELEMENTS(ways); w++) {
    if (ways[w].op == OP_RED && c->op == ATOM_CAS)
      continue;
    g_autoptr(Lab) lab = lab_new("", ways[w].op == OP_RED ? "RED.ADD [R0+0x10], R2; EXIT; MOV R8, RZ"
                                                          : "ATOM.CAS R6, [R0+0x10], R2, R4; EXIT; MOV R8, RZ");
    bool wide = c->width == WIDTH_64;
    Inst *inst = lab_inst(lab, 0);
    inst->op = ways[w].op;
    inst->space = ways[w].space;
    inst->mode = c->op;
    inst->type = c->type;
    inst->width = c->width;
    inst->wide = wide ? WIDE_DST | WIDE_B | WIDE_C : 0;
    uint32_t *data = lab_buffer(lab, 8);
    lab_launch_grid(lab, 0, 1, 1, 64, 0);
    lab_place(lab);
    uint32_t *words = ways[w].shared ? lab->gpu->sms[0].shared.words : data;
    uint32_t base = ways[w].shared ? 0 : (uint32_t)backing_buffer(lab->backing, 0)->base;
    lab_set_row(lab, 0, ways[w].shared && ways[w].space == MEM_GENERIC ? SHARED_WINDOW : base, 0);
    words[4] = (uint32_t)c->old;
    words[5] = wide ? (uint32_t)(c->old >> 32) : 77;
    for (unsigned half = 0; half < 2; half++) {
      lab_set_row(lab, 2 + half, (uint32_t)(c->b >> 32 * half), 0);
      lab_set_row(lab, 4 + half, (uint32_t)(c->c >> 32 * half), 0);
    }
    lab_finish(lab);
    uint64_t result = words[4] | (wide ? (uint64_t)words[5] << 32 : 0);
    uint64_t old = lab_row(lab, 0, 6)[0] | (wide ? (uint64_t)lab_row(lab, 0, 7)[0] << 32 : 0);
    ck_assert_msg(result == c->result, "case %d, way %u: result %" G_GINT64_MODIFIER "x", _i, w, result);
    ck_assert_msg(ways[w].op == OP_RED || old == c->old, "case %d, way %u: old %" G_GINT64_MODIFIER "x", _i, w, old);
    ck_assert_msg(wide || words[5] == 77, "case %d, way %u: the next word", _i, w);
  }
}
END_TEST

/* Lanes in order: each finds what those before it left. */
START_TEST(lanes_follow_each_other) {
  for (unsigned shared = 0; shared < 2; shared++) {
    g_autoptr(Lab) lab = lab_new("", "ATOM.ADD R2, [R0], R1; EXIT");
    lab_buffer(lab, 1);
    lab_inst(lab, 0)->op = shared ? OP_ATOMS : OP_ATOM;
    lab_launch_grid(lab, 0, 1, 32, 64, 0);
    lab_place(lab);
    lab_set_row(lab, 0, shared ? 0 : (uint32_t)backing_buffer(lab->backing, 0)->base, 0);
    lab_set_row(lab, 1, 1, 1);
    lab_finish(lab);
    for (unsigned lane = 0; lane < 32; lane++)
      ck_assert_uint_eq(lab_row(lab, 0, 2)[lane], lane * (lane + 1) / 2);
  }
}
END_TEST

/* Passes by bank, and atomic_interval for each further lane on one word. */
START_TEST(shared_atomics_take_their_time) {
  static const struct {
    uint32_t step, wrap, cycles;
  } cases[] = {
      {4, 128, 30},             /* a word and a bank each */
      {0, 128, 30 + 31 * 4},    /* all on one word */
      {4, 64, 30 + 4},          /* two lanes a word */
      {128, 4096, 30 + 31 * 2}, /* one bank, 32 words */
  };
  for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(Lab) lab = lab_new("sm.shared.latency=30 sm.shared.pass_interval=2 sm.shared.atomic_interval=4",
                                 "ATOM.ADD R2, [R0], R1; MOV R3, R2; EXIT");
    lab_inst(lab, 0)->op = OP_ATOMS;
    lab_launch_grid(lab, 0, 1, 32, 4096, 0);
    lab_place(lab);
    for (unsigned lane = 0; lane < 32; lane++)
      lab_row(lab, 0, 0)[lane] = lane * cases[i].step % cases[i].wrap;
    lab_finish(lab);
    /* the latency is that of the decoded unit: shared */
    ck_assert_msg(lab_cycle(lab, 0, 1, 0) == cases[i].cycles, "case %u: %d", i, (int)lab_cycle(lab, 0, 1, 0));
  }
}
END_TEST

/* ---- faults ---- */

typedef struct FaultCase {
  const char *text;
  MemSpace space;
  Opcode op; /* 0: as written */
  uint32_t address, high;
  const char *words;
} FaultCase;

static const FaultCase faults[] = {
    {"LD R1, [R0]", MEM_GENERIC, 0, SHARED_WINDOW + 64, 0, "shared address 0x40 beyond the block's 64 bytes"},
    {"LD R1, [R0]", MEM_GENERIC, 0, SHARED_WINDOW + 2, 0, "misaligned 4-byte access to shared address 0x2"},
    {"LD R1, [R0]", MEM_GENERIC, 0, LOCAL_WINDOW + 16, 0, "local address 0x10 beyond the thread's 16 bytes"},
    {"LD.64 R2, [R0]", MEM_GENERIC, 0, LOCAL_WINDOW + 4, 0, "misaligned 8-byte access to local address 0x4"},
    {"ST [R0], R0", MEM_GENERIC, 0, LOCAL_WINDOW + 13, 0, "misaligned 4-byte access to local address 0xd"},
    {"LD R1, [R0]", MEM_GENERIC, 0, LOCAL_WINDOW - 4, 0, "global address 0xeffffffc, which is in no buffer; it lies"},
    {"LD R1, [R0]", MEM_GENERIC, 0, SHARED_WINDOW, 1, "global address 0x1e0000000, which is in no buffer"},
    {"ATOM.ADD R1, [R0], R0", MEM_GENERIC, 0, LOCAL_WINDOW, 0, "atomic operation on local address 0x0"},
    {"ATOM.ADD R1, [R0], R0", MEM_GLOBAL, OP_ATOMS, 64, 0, "shared address 0x40 beyond the block's 64 bytes"},
    {"LD R1, [R0]", MEM_GLOBAL, OP_LDL, 16, 0, "local address 0x10 beyond the thread's 16 bytes"},
    {"LD R1, [R0]", MEM_PARAM, 0, 4, 0, "parameter byte 0x4 beyond the kernel's 4"},
    {"LD R1, [R0]", MEM_PARAM, 0, 2, 0, "misaligned 4-byte access to parameter byte 0x2"},
    {"LD R1, [R0]", MEM_CONST, 0, BACKING_FIRST_ADDRESS, 0, "which is in `buffer`, not a constant"},
    {"LD R1, [R0]", MEM_CONST, 0, BACKING_FIRST_ADDRESS + 1028, 0,
     "constant address 0x10404, which is in no buffer; it lies 4 bytes after the start of `table` (1 words)"},
    {"ST [R0], R0", MEM_GLOBAL, 0, BACKING_FIRST_ADDRESS + 5120, 0, "which is in no buffer"},
    {"ST [R0], R0", MEM_GLOBAL, 0, BACKING_FIRST_ADDRESS + 1024, 0, "write to constant memory, `table`"},
    {"RED.ADD [R0], R0", MEM_GENERIC, 0, BACKING_FIRST_ADDRESS + 1024, 0, "write to constant memory, `table`"},
    {"ST [R0], R0", MEM_CONST, 0, BACKING_FIRST_ADDRESS + 1024, 0, "write to constant memory, `table`"},
    {"BRK", MEM_GLOBAL, OP_TRAP, 0, 0, "executed a trap"},
};

START_TEST(bad_accesses_are_faults) {
  const FaultCase *c = &faults[_i];
  g_autofree char *text = g_strdup_printf("%s; EXIT; MOV R4, RZ", c->text);
  g_autoptr(Lab) lab = lab_new_local("", text, 16);
  backing_add(lab->backing, "buffer", 64, NULL);
  backing_buffer(lab->backing, backing_add(lab->backing, "table", 1, NULL))->constant = true;
  lab_arg(lab, 0);
  Inst *inst = lab_inst(lab, 0);
  inst->space = c->space;
  inst->op = c->op ? c->op : inst->op;
  inst->flags |= INST_ADDR64;
  lab_launch_grid(lab, 0, 1, 1, 64, 0);
  lab_place(lab);
  lab_set_row(lab, 0, c->address, 0);
  lab_set_row(lab, 1, c->high, 0);
  lab_expect_fault(lab, c->words);
  ck_assert_uint_eq(lab->gpu->fault.lanes, 1);
}
END_TEST

/* ---- module variables ---- */

static ProgramVariable *add_variable(Program *program, const char *name, bool constant, uint32_t bytes,
                                     uint32_t align, const uint32_t *init) {
  ProgramVariable *variable = g_new0(ProgramVariable, 1);
  *variable = (ProgramVariable){.name = g_strdup(name),
                                .constant = constant,
                                .bytes = bytes,
                                .align = align,
                                .init = init ? g_memdup2(init, (bytes + 3) / 4 * 4) : NULL};
  g_ptr_array_add(program->variables, variable);
  return variable;
}

START_TEST(places_variables) {
  static const uint32_t init[] = {7, 8, 0, 0};
  g_autoptr(Program) program = program_new("p.ptx", DIALECT_PTX);
  add_variable(program, "a", false, 6, 4, NULL);
  ProgramVariable *b = add_variable(program, "b", true, 16, 1024, init);
  b->relocs = g_array_new(FALSE, FALSE, sizeof(ProgramReloc));
  ProgramReloc reloc = {.word = 2, .symbol = 2, .addend = 4};
  g_array_append_val(b->relocs, reloc);
  add_variable(program, "c", false, 0, 0, NULL);
  Backing *backing = backing_new();
  backing_add(backing, "first", 3, NULL);
  g_autofree uint64_t *symbols = symbols_place(program, backing);
  ck_assert_uint_eq(backing->buffers->len, 4);
  for (guint i = 0; i < 3; i++) {
    ck_assert_uint_eq(symbols[i], backing_buffer(backing, i + 1)->base);
    ck_assert(backing_buffer(backing, i + 1)->constant == (i == 1));
  }
  ck_assert_uint_eq(symbols[1] % 1024, 0);
  ck_assert_uint_eq(backing_buffer(backing, 1)->words, 2);
  const uint32_t *words = backing_buffer(backing, 2)->data;
  ck_assert(words[0] == 7 && words[1] == 8 && words[2] == (uint32_t)symbols[2] + 4 && words[3] == 0);
  ck_assert(backing_fits(backing));
  backing_free(backing);
}
END_TEST

START_TEST(launches_come_before_the_run) {
  g_autoptr(Lab) lab = lab_new("", "EXIT");
  lab_launch(lab, 1, 32);
  lab_finish(lab);
  unit_expect_precondition("gpu-launch-late");
  lab_launch(lab, 1, 32);
}
END_TEST

START_TEST(symbols_become_constants) {
  g_autoptr(Lab) lab = lab_new("", "MOV R0, 0x1234567; EXIT");
  Kernel *kernel = program_kernel(lab->program, 0);
  add_variable(lab->program, "v", false, 64, 4, NULL);
  g_autofree uint64_t *symbols = symbols_place(lab->program, lab->backing);
  for (uint32_t i = 0; i < kernel->nconsts; i++)
    if (kernel->consts[i].value == 0x1234567)
      kernel->consts[i] = (ConstRef){.kind = CONST_SYMBOL, .symbol = 0, .value = 8};
  g_autofree char *why = NULL;
  LaunchConfig config = {
      .program = lab->program, .kernel = kernel, .grid = {1, 1, 1}, .block = {1, 1, 1}, .symbols = symbols};
  ck_assert(gpu_add_launch(lab->gpu, &config, &why));
  lab_finish(lab);
  ck_assert_uint_eq(lab_row(lab, 0, 0)[0], symbols[0] + 8);
}
END_TEST

START_TEST(symbols_must_be_given) {
  g_autoptr(Lab) lab = lab_new("", "MOV R0, 0x1234567; EXIT");
  Kernel *kernel = program_kernel(lab->program, 0);
  kernel->consts[0].kind = CONST_SYMBOL;
  unit_expect_precondition("launch-symbols");
  lab_launch(lab, 1, 1);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("memory");
  TCase *tcase = tcase_create("memory");
  tcase_add_loop_test(tcase, local_memory_holds_what_lanes_store, 0, 8);
  tcase_add_test(tcase, local_memory_takes_what_is_stored);
  tcase_add_test(tcase, generic_lanes_go_by_their_window);
  tcase_add_test(tcase, wide_addresses_and_values);
  tcase_add_test(tcase, wide_loads_into_the_sink);
  tcase_add_test(tcase, parameters_by_address);
  tcase_add_test(tcase, constants_are_read_in_their_space);
  tcase_add_test(tcase, local_memory_is_each_lanes_own);
  tcase_add_test(tcase, local_memory_keeps_values);
  tcase_add_test(tcase, too_much_local_memory_is_refused);
  tcase_add_loop_test(tcase, atomics_work_alike_in_all_spaces, 0, G_N_ELEMENTS(atomics));
  tcase_add_test(tcase, lanes_follow_each_other);
  tcase_add_test(tcase, shared_atomics_take_their_time);
  tcase_add_loop_test(tcase, bad_accesses_are_faults, 0, G_N_ELEMENTS(faults));
  tcase_add_test(tcase, places_variables);
  tcase_add_test(tcase, symbols_become_constants);
  unit_add_precondition_test(tcase, launches_come_before_the_run);
  unit_add_precondition_test(tcase, symbols_must_be_given);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
