/* Every opcode and modifier against op_cases.def, on edge values, random values and all kinds of masks. */
#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "isa/sass_names.h"
#include "sim/engine/rng.h"
#include "tests/unit/lab.h"
#include "tests/unit/oracle.h"
#include "tests/unit/unit.h"

static uint32_t bank(uint32_t offset) { return offset * 0x9e3779b1u; }

/* ---- the list of cases ---- */

typedef enum { KIND_CASE, KIND_STATE, KIND_RUN } Kind;
typedef enum { SHARED, GLOBAL } Space;

/* RUN: blocks of 5 x 4 x 2 threads, a full warp and one of 8 lanes, and a grid of 2 x 2 x 2 blocks. */
enum {
  BLOCK_X = 5,
  BLOCK_Y = 4,
  BLOCK_Z = 2,
  THREADS = 40,
  GRID_X = 2,
  GRID_Y = 2,
  GRID_Z = 2,
  SECOND_ARGUMENT = 77
};
/* P0 in the first eleven threads; R0 is the thread in the block. */
enum { BELOW_P0 = 11 };
#define SET_P0                                                                                     \
  "S2R R0, SR_Tid_X; S2R R1, SR_Tid_Y; S2R R2, SR_Tid_Z; IMAD R1, R2, 4, R1; IMAD R0, R1, 5, R0; " \
  "ISETP.LT P0, PT, R0, 11, PT; "

typedef struct Case {
  Opcode op;
  Kind kind;
  const char *text;
  Space space;
  uint32_t align;
} Case;

static const Case cases[] = {
#define CASE(op_, text_, ...) {.op = OP_##op_, .kind = KIND_CASE, .text = text_},
#define STATE(op_, space_, align_, text_, ...) \
  {.op = OP_##op_, .kind = KIND_STATE, .text = text_, .space = space_, .align = align_},
#define RUN(op_, text_, ...) {.op = OP_##op_, .kind = KIND_RUN, .text = text_},
#include "tests/unit/op_cases.def"
};

/* ---- CASE: one lane of arithmetic ---- */

typedef struct Lane {
  uint32_t a, b, c;
  bool q0, q1, q2, q3, q4, cc;
  uint32_t mask, votes;
} Lane;

typedef struct Result {
  uint32_t d, p, p2, cc;
} Result;

static Result expected_result(unsigned which, const Lane *lane) {
  const uint32_t a = lane->a, b = lane->b, c = lane->c, mask = lane->mask, votes = lane->votes;
  const bool q0 = lane->q0, q1 = lane->q1, q2 = lane->q2, q3 = lane->q3, q4 = lane->q4, cc = lane->cc;
  (void)b, (void)c, (void)mask, (void)votes, (void)q0, (void)q1, (void)q2, (void)q3, (void)q4, (void)cc;
  unsigned i = 0;
#define CASE(op_, text_, ...) \
  if (i++ == which)           \
    return (Result){__VA_ARGS__};
#define STATE(...) i++;
#define RUN(...) i++;
#include "tests/unit/op_cases.def"
  ck_abort_msg("no case %u", which);
}

enum { EDGE_ROWS = (OPERAND_EDGES * OPERAND_EDGES + 31) / 32, RANDOM_ROWS = 60 };

/* The rows that an executor works on, and what they were. */
typedef struct Rows {
  uint32_t regs[(SASS_REGISTERS_MAX + 1) * WARP_LANES], regs_before[(SASS_REGISTERS_MAX + 1) * WARP_LANES];
  uint32_t pred[PRED_ROWS], pred_before[PRED_ROWS];
  uint32_t *consts;
} Rows;

/* Row `index` of inputs: all pairs of edges first, then random words. */
static void fill_rows(Rows *rows, unsigned index, Rng *rng) {
  for (unsigned i = 0; i < G_N_ELEMENTS(rows->regs); i++)
    rows->regs[i] = operand_word(rng);
  for (unsigned lane = 0; lane < WARP_LANES && index < EDGE_ROWS; lane++) {
    unsigned pair = (index * WARP_LANES + lane) % (OPERAND_EDGES * OPERAND_EDGES);
    rows->regs[lane] = operand_edges[pair / OPERAND_EDGES];
    rows->regs[WARP_LANES + lane] = operand_edges[pair % OPERAND_EDGES];
  }
  for (unsigned i = 0; i < PRED_ROWS; i++)
    rows->pred[i] = (uint32_t)rng_next(rng);
  if (index % 4 == 1)
    rows->pred[0] = index % 8 == 1 ? 0 : ALL_LANES; /* unanimous votes */
  rows->pred[PRED_TRUE] = ALL_LANES;
  memcpy(rows->regs_before, rows->regs, sizeof rows->regs);
  memcpy(rows->pred_before, rows->pred, sizeof rows->pred);
}

static uint32_t some_mask(unsigned index, Rng *rng) {
  switch (index % 4) {
  case 0: return 0;
  case 1: return 1u << (index / 4 % 32);
  default: return (uint32_t)rng_next(rng);
  }
}

static Lane lane_of(const Rows *rows, unsigned lane, uint32_t mask) {
  const uint32_t *regs = rows->regs_before + lane, *pred = rows->pred_before;
  return (Lane){.a = regs[0],
                .b = regs[WARP_LANES],
                .c = regs[2 * WARP_LANES],
                .q0 = bit(pred[0], lane),
                .q1 = bit(pred[1], lane),
                .q2 = bit(pred[2], lane),
                .q3 = bit(pred[3], lane),
                .q4 = bit(pred[4], lane),
                .cc = bit(pred[PRED_CARRY], lane),
                .mask = mask,
                .votes = pred[0]};
}

static void check_lane(unsigned which, const Kernel *kernel, const Rows *rows, unsigned lane, uint32_t mask) {
  const Inst *inst = &kernel->insts[0];
  const RegList writes = inst_writes(inst, kernel->nregs);
  const Lane in = lane_of(rows, lane, mask);
  const bool runs = bit(mask, lane);
  const Result want = expected_result(which, &in);
  for (unsigned reg = 0; reg < kernel->nregs; reg++) {
    uint32_t got = rows->regs[reg * WARP_LANES + lane], before = rows->regs_before[reg * WARP_LANES + lane];
    uint32_t right = runs && writes.count && reg == (unsigned)writes.reg[0] ? want.d : before;
    UNIT_ASSERT(got == right, "%s, lane %u of mask %x: R%u is %x, must be %x (a %x, b %x, c %x, P0-2 %d%d%d, CC %d)",
                cases[which].text, lane, mask, reg, got, right, in.a, in.b, in.c, in.q0, in.q1, in.q2, in.cc);
  }
  for (unsigned p = 0; p < PRED_ROWS; p++) {
    if (p == PRED_SINK)
      continue;
    bool carries = p == PRED_CARRY && inst->flags & INST_CARRY_OUT, right = bit(rows->pred_before[p], lane);
    if (runs && (p == inst->pdst || p == inst->pdst2 || carries))
      right = carries ? want.cc : p == inst->pdst ? want.p : want.p2;
    UNIT_ASSERT(bit(rows->pred[p], lane) == right,
                "%s, lane %u of mask %x: P%u must be %d (a %x, b %x, P0-2 %d%d%d, CC %d)", cases[which].text, lane,
                mask, p, right, in.a, in.b, in.q0, in.q1, in.q2, in.cc);
  }
}

static uint32_t *constant_rows(const Kernel *kernel) {
  uint32_t *rows = g_new(uint32_t, kernel->nconsts * WARP_LANES + 1);
  for (uint32_t i = 0; i < kernel->nconsts * WARP_LANES; i++) {
    const ConstRef *ref = &kernel->consts[i / WARP_LANES];
    rows[i] = ref->kind == CONST_IMMEDIATE ? ref->value : bank(ref->value);
  }
  return rows;
}

static void check_case(unsigned which) {
  g_autofree char *text = g_strconcat(cases[which].text, "\nEXIT", NULL);
  g_autoptr(Program) program = lab_parse(text);
  const Kernel *kernel = program_kernel(program, 0);
  ck_assert_uint_eq(kernel->insts[0].op, cases[which].op);
  g_autofree Rows *rows = g_new(Rows, 1);
  rows->consts = constant_rows(kernel);
  Rng rng;
  rng_seed(&rng, 7, which);
  for (unsigned index = 0; index < EDGE_ROWS + RANDOM_ROWS; index++) {
    fill_rows(rows, index, &rng);
    for (unsigned part = 0; part < 2; part++) {
      uint32_t mask = part == 0 ? ALL_LANES : some_mask(index, &rng);
      memcpy(rows->regs, rows->regs_before, sizeof rows->regs);
      memcpy(rows->pred, rows->pred_before, sizeof rows->pred);
      Issue issue = {
          .inst = &kernel->insts[0], .regs = rows->regs, .consts = rows->consts, .pred = rows->pred, .mask = mask};
      executors[cases[which].op](&issue);
      for (unsigned lane = 0; lane < WARP_LANES; lane++)
        check_lane(which, kernel, rows, lane, mask);
    }
  }
  g_free(rows->consts);
}

/* ---- STATE: memory and lock bits, one instruction on a machine ---- */

enum { MEMORY_BYTES = 1024, LOCK_BITS = 1024, STATE_REGS = 12, STATE_ROUNDS = 12 };

typedef struct State {
  uint32_t regs[STATE_REGS][WARP_LANES], pred[PRED_ROWS];
  uint8_t memory[2][MEMORY_BYTES];
  bool lock[LOCK_BITS];
} State;

static uint32_t load_bytes(const State *state, Space space, uint32_t address, unsigned bytes) {
  uint32_t offset = address - (space == GLOBAL ? BACKING_FIRST_ADDRESS : 0), value = 0;
  for (unsigned i = 0; i < bytes; i++)
    value |= (uint32_t)state->memory[space][offset + i] << (8 * i);
  return value;
}

static void store_bytes(State *state, Space space, uint32_t address, unsigned bytes, uint32_t value) {
  uint32_t offset = address - (space == GLOBAL ? BACKING_FIRST_ADDRESS : 0);
  for (unsigned i = 0; i < bytes; i++)
    state->memory[space][offset + i] = (uint8_t)(value >> (8 * i));
}

static bool take_bit(State *state, uint32_t address) {
  bool was_free = !state->lock[address / 4 % LOCK_BITS];
  state->lock[address / 4 % LOCK_BITS] = true;
  return was_free;
}

static void set_pred(State *state, unsigned number, unsigned lane, bool value) {
  state->pred[number] = (state->pred[number] & ~(1u << lane)) | (uint32_t)value << lane;
}

static void act_lane(unsigned which, State *state, unsigned lane) {
  unsigned i = 0;
  bool result = false;
  int written = -1;
  const Space space = cases[which].space;
#define R(n) state->regs[n][lane]
#define P(n) *(written = (n), &result)
#define load(address, bytes) load_bytes(state, space, address, bytes)
#define store(address, bytes, value) store_bytes(state, space, address, bytes, value)
#define take(address) take_bit(state, address)
#define held(address) (state->lock[(address) / 4 % LOCK_BITS])
#define release(address) (state->lock[(address) / 4 % LOCK_BITS] = false)
#define CASE(...) i++;
#define STATE(op_, space_, align_, text_, ...) \
  if (i++ == which) {                          \
    __VA_ARGS__;                               \
  }
#define RUN(...) i++;
#include "tests/unit/op_cases.def"
#undef R
#undef P
#undef load
#undef store
#undef take
#undef held
#undef release
  if (written >= 0)
    set_pred(state, (unsigned)written, lane, result);
}

/* Lanes act in order; but with `lowest`, of those that store to one word the lowest wins, of 128 bytes at a time. */
static unsigned lane_in_turn(const Case *what, unsigned turn, bool lowest) {
  unsigned lanes = what->align > 4 ? 128 / what->align : WARP_LANES;
  bool stores = what->op == OP_ST || what->op == OP_STS || what->op == OP_STSUL;
  return stores && lowest ? turn / lanes * lanes + lanes - 1 - turn % lanes : turn;
}

/* Addresses, operands, memory and lock bits. Few different words, so that lanes meet and CAS finds what it
 * compares. */
static void fill_state(State *state, const Case *what, Rng *rng) {
  static const uint32_t words[] = {0,          1,          2,          5,          0x7fffffff, 0x80000000,
                                   0xffffffff, 0x3f800000, 0xbf000000, 0x00000003, 0x007fffff, 0x807ffff0,
                                   0x7f800000, 0xff800000, 0x80112233, 0x7fc12345};
  enum { WORDS = G_N_ELEMENTS(words) };
  uint32_t base = what->space == GLOBAL ? BACKING_FIRST_ADDRESS : 0, kinds = 2 + rng_below(rng, WORDS - 1);
  uint32_t spread = 1 + rng_below(rng, 600) / what->align;
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    for (unsigned reg = 0; reg < STATE_REGS; reg++)
      state->regs[reg][lane] = words[rng_below(rng, kinds)];
    state->regs[0][lane] = base + 0x40 + what->align * rng_below(rng, spread);
    state->regs[2][lane] = base + 0x40 + what->align * rng_below(rng, spread);
    state->regs[3][lane] = 0;
  }
  for (unsigned p = 0; p < PRED_TRUE; p++)
    state->pred[p] = (uint32_t)rng_next(rng);
  state->pred[0] = rng_below(rng, 3) == 0   ? 1u << rng_below(rng, 32)
                   : rng_below(rng, 4) == 0 ? ALL_LANES
                                            : state->pred[0];
  for (unsigned i = 0; i < 2 * MEMORY_BYTES / 4; i++)
    store_bytes(state, i % 2 ? GLOBAL : SHARED, (i % 2 ? BACKING_FIRST_ADDRESS : 0) + i / 2 * 4, 4,
                words[rng_below(rng, kinds)]);
  for (unsigned i = 0; i < LOCK_BITS; i++)
    state->lock[i] = rng_below(rng, 3) == 0;
}

/* Queues in all states, and words of none. */
static void fill_queues(State *state, uint32_t bytes, Rng *rng) {
  for (unsigned at = 0; at < MEMORY_BYTES; at += bytes) {
    uint32_t room = rng_below(rng, 10), head = rng_below(rng, room + 1), count = rng_below(rng, room + 2);
    if (rng_below(rng, 8))
      store_bytes(state, GLOBAL, BACKING_FIRST_ADDRESS + at, 4, head | count << 8 | room << 16);
  }
}

static void put_state(Lab *lab, const State *state, uint32_t *global) {
  Sm *sm = &lab->gpu->sms[0];
  for (unsigned i = 0; i < MEMORY_BYTES / 4; i++) {
    sm->shared.words[i] = load_bytes(state, SHARED, 4 * i, 4);
    global[i] = load_bytes(state, GLOBAL, BACKING_FIRST_ADDRESS + 4 * i, 4);
  }
  for (unsigned i = 0; i < LOCK_BITS; i++)
    sm->lock_unit.bit[i].held = state->lock[i];
  memcpy(lab_row(lab, 0, 0), state->regs, sizeof state->regs);
  memcpy(lab_warp(lab, 0)->pred, state->pred, PRED_TRUE * sizeof state->pred[0]);
}

static void check_state(Lab *lab, const State *state, const uint32_t *global, const char *text, unsigned round) {
  const Sm *sm = &lab->gpu->sms[0];
  for (unsigned i = 0; i < MEMORY_BYTES / 4; i++) {
    UNIT_ASSERT(sm->shared.words[i] == load_bytes(state, SHARED, 4 * i, 4), "%s, round %u: shared word %u", text,
                round, i);
    UNIT_ASSERT(global[i] == load_bytes(state, GLOBAL, BACKING_FIRST_ADDRESS + 4 * i, 4),
                "%s, round %u: global word %u is %x, not %x", text, round, i, global[i],
                load_bytes(state, GLOBAL, BACKING_FIRST_ADDRESS + 4 * i, 4));
  }
  for (unsigned i = 0; i < LOCK_BITS; i++)
    UNIT_ASSERT(sm->lock_unit.bit[i].held == state->lock[i], "%s, round %u: lock bit %u", text, round, i);
  for (unsigned reg = 0; reg < STATE_REGS; reg++)
    for (unsigned lane = 0; lane < WARP_LANES; lane++)
      UNIT_ASSERT(lab_row(lab, 0, reg)[lane] == state->regs[reg][lane], "%s, round %u: R%u of lane %u is %x, not %x",
                  text, round, reg, lane, lab_row(lab, 0, reg)[lane], state->regs[reg][lane]);
  for (unsigned p = 0; p < PRED_TRUE; p++)
    UNIT_ASSERT(lab_warp(lab, 0)->pred[p] == state->pred[p], "%s, round %u: P%u", text, round, p);
}

static void check_state_case(unsigned which) {
  const Case *what = &cases[which];
  g_autofree char *text = g_strconcat(".reg 12\n.shared 1024\n", what->text, "\nEXIT", NULL);
  g_autofree State *state = g_new0(State, 1);
  Rng rng;
  rng_seed(&rng, 8, which);
  for (unsigned round = 0; round < STATE_ROUNDS; round++) {
    bool lowest = round % 2;
    g_autoptr(Lab) lab =
        lab_new(lowest ? "sm.store_winner=lowest-lane memory.queue.bytes=32" : "memory.queue.bytes=32", text);
    const Inst *inst = &program_kernel(lab->program, 0)->insts[0];
    ck_assert_uint_eq(inst->op, what->op);
    uint32_t *global = lab_buffer(lab, MEMORY_BYTES / 4);
    uint32_t threads = round == 0 ? 32 : 1 + rng_below(&rng, 32);
    lab_launch(lab, 1, threads);
    lab_place(lab);
    fill_state(state, what, &rng);
    if (what->op == OP_ENQUEUE || what->op == OP_DEQUEUE)
      fill_queues(state, what->align, &rng);
    put_state(lab, state, global);
    uint32_t alive = lab_warp(lab, 0)->active,
             guard = inst->guard == PRED_TRUE ? ALL_LANES : state->pred[inst->guard];
    uint32_t mask = alive & (inst->flags & INST_GUARD_NOT ? ~guard : guard);
    ck_assert_uint_eq(alive, threads == 32 ? ALL_LANES : (1u << threads) - 1);
    for (unsigned turn = 0; turn < WARP_LANES; turn++) {
      unsigned lane = lane_in_turn(&cases[which], turn, lowest);
      if (bit(mask, lane))
        act_lane(which, state, lane);
    }
    lab_finish(lab);
    check_state(lab, state, global, what->text, round);
  }
}

/* ---- RUN: whole programs ---- */

static uint32_t expected_run(unsigned which, uint32_t t, const uint32_t *ctaid, uint32_t slot, uint64_t clock) {
  const uint32_t x = t % BLOCK_X, y = t / BLOCK_X % BLOCK_Y, z = t / BLOCK_X / BLOCK_Y;
  const uint32_t bx = ctaid[0], by = ctaid[1], bz = ctaid[2];
  (void)x, (void)y, (void)z, (void)bx, (void)by, (void)bz, (void)slot, (void)clock;
  unsigned i = 0;
#define CASE(...) i++;
#define STATE(...) i++;
#define RUN(op_, text_, ...) \
  if (i++ == which)          \
    return (uint32_t)(__VA_ARGS__);
#include "tests/unit/op_cases.def"
  ck_abort_msg("no case %u", which);
}

static void check_run(unsigned which) {
  g_autofree char *text = g_strconcat(".reg 12\n", cases[which].text, NULL);
  g_autoptr(Lab) lab = lab_new("sm.jitter_cycles=5", text);
  const uint32_t args[2] = {1, SECOND_ARGUMENT};
  LaunchConfig config = {.program = lab->program,
                         .kernel = program_kernel(lab->program, 0),
                         .grid = {GRID_X, GRID_Y, GRID_Z},
                         .block = {BLOCK_X, BLOCK_Y, BLOCK_Z},
                         .args = (const uint8_t *)args,
                         .args_bytes = sizeof args};
  g_autofree char *why = NULL;
  UNIT_ASSERT(gpu_add_launch(lab->gpu, &config, &why), "%s", why);
  lab_finish(lab);
  const Sm *sm = &lab->gpu->sms[0];
  for (unsigned slot = 0; slot < 16; slot++) {
    const Warp *warp = lab_warp(lab, slot);
    const Block *block = &sm->blocks[warp->block_slot];
    uint32_t first = warp->warp_in_block * WARP_LANES;
    for (uint32_t lane = 0; lane < WARP_LANES && first + lane < THREADS; lane++) {
      uint32_t right = expected_run(which, first + lane, block->ctaid, slot, lab_cycle(lab, slot, 0, 0));
      uint32_t got = lab_row(lab, slot, 9)[lane];
      UNIT_ASSERT(got == right, "%s: thread %u of block %u has %u, not %u", cases[which].text, first + lane,
                  (unsigned)block->index, got, right);
    }
  }
}

/* ---- tests ---- */

START_TEST(does_what_the_documentation_says) {
  const OpInfo *info = &op_info[_i];
  /* New instructions have no SASS text. Those that only touch rows are in row_cases.def; those of memory and of lane
   * groups have tests of their own: test_memory, test_lane_groups, test_kernels. */
  bool found = info->flags & OPF_NEW;
  for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
    if (cases[i].op != (Opcode)_i)
      continue;
    found = true;
    if (cases[i].kind == KIND_CASE)
      check_case(i);
    else if (cases[i].kind == KIND_STATE)
      check_state_case(i);
    else
      check_run(i);
  }
  ck_assert_msg(found, "%s has no case in op_cases.def", op_info[_i].id);
}
END_TEST

static bool has_modifier(const char *text, const char *name) {
  g_autofree char *dotted = g_strconcat(".", name, NULL);
  gsize length = strlen(dotted);
  for (const char *at = strstr(text, dotted); at; at = strstr(at + 1, dotted))
    if (strchr(". ,;", at[length]) || at[length] == '\0')
      return true;
  return false;
}

START_TEST(every_modifier_has_a_case) {
  g_autofree const char **names = sass_names_candidates((Opcode)_i);
  for (unsigned n = 0; names[n]; n++) {
    bool found = strcmp(names[n], "S") == 0;
    for (unsigned i = 0; i < G_N_ELEMENTS(cases) && !found; i++)
      found = cases[i].op == (Opcode)_i && has_modifier(cases[i].text, names[n]);
    ck_assert_msg(found, "%s.%s has no case in op_cases.def", op_info[_i].sass, names[n]);
  }
}
END_TEST

START_TEST(every_special_register_has_a_case) {
  const char *const *names = sass_names_specials();
  for (unsigned n = 0; n < SR_FERMI_COUNT; n++) {
    bool found = false;
    for (unsigned i = 0; i < G_N_ELEMENTS(cases) && !found; i++)
      found = cases[i].op == OP_S2R && strstr(cases[i].text, names[n]) != NULL;
    ck_assert_msg(found, "%s has no case in op_cases.def", names[n]);
  }
}
END_TEST

/* Sign modifiers: each that an opcode takes on an operand occurs. */
START_TEST(every_operand_modifier_has_a_case) {
  uint32_t takes = sass_names_operand_flags((Opcode)_i), seen = 0;
  for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
    if (cases[i].op != (Opcode)_i || cases[i].kind == KIND_RUN)
      continue;
    g_autofree char *text = g_strconcat(cases[i].text, "\nEXIT", NULL);
    g_autoptr(Program) program = lab_parse(text);
    seen |= program_kernel(program, 0)->insts[0].flags;
  }
  ck_assert_msg((takes & ~seen) == 0, "%s: flags %x have no case in op_cases.def", op_info[_i].sass, takes & ~seen);
}
END_TEST

/* 64-bit sums and differences in two instructions, the use of .CC and .X. */
START_TEST(carries_through_64_bits) {
  g_autoptr(Lab) lab = lab_new("", "IADD R4.CC, R0, R2; IADD.X R5, R1, R3; IADD R6.CC, R0, -R2; IADD.X R7, R1, -R3\n"
                                   "ISUB R8.CC, R0, R2; ISUB.X R9, R1, R3; EXIT");
  Rng rng;
  rng_seed(&rng, 3, 3);
  lab_launch(lab, 1, 32);
  lab_place(lab);
  uint64_t a[32], b[32];
  for (unsigned lane = 0; lane < 32; lane++) {
    a[lane] = rng_next(&rng) >> rng_below(&rng, 40);
    b[lane] = lane % 3 == 0 ? a[lane] ^ (lane % 2) : rng_next(&rng) >> rng_below(&rng, 40);
    uint32_t words[4] = {low(a[lane]), high(a[lane]), low(b[lane]), high(b[lane])};
    for (unsigned reg = 0; reg < 4; reg++)
      lab_row(lab, 0, reg)[lane] = words[reg];
  }
  lab_finish(lab);
  for (unsigned lane = 0; lane < 32; lane++) {
    for (unsigned reg = 4; reg < 10; reg += 2) {
      uint64_t got = lab_row(lab, 0, reg)[lane] | (uint64_t)lab_row(lab, 0, reg + 1)[lane] << 32;
      ck_assert_uint_eq(got, reg == 4 ? a[lane] + b[lane] : a[lane] - b[lane]);
    }
  }
}
END_TEST

typedef struct FaultCase {
  const char *text, *words;
} FaultCase;

/* clang-format off */
static const FaultCase faults[] = {
    {".shared 64\nMOV R0, 0x40; LDS R1, [R0]; EXIT", "beyond the block's 64 bytes"},
    {".shared 64\nMOV R0, 0x3e; LDS R1, [R0]; EXIT", "misaligned 4-byte access to shared address 0x3e"},
    {".shared 64\nLDS.U16 R1, [0x1]; EXIT", "misaligned 2-byte"},
    {".shared 64\nSTS.64 [0x3c], R2; EXIT", "misaligned 8-byte"},
    {".shared 64\nLDS.128 R4, [0x38]; EXIT", "misaligned 16-byte"},
    {".shared 62\nLDS R1, [0x3c]; EXIT", "beyond the block's 62 bytes"},
    {"LDS R1, [RZ]; EXIT", "beyond the block's 0 bytes"},
    {".shared 64\nLDS R1, [RZ+-0x4]; EXIT", "beyond"},
    {".shared 64\nLDSLK P0, R1, [0x40]; EXIT", "beyond"},
    {".shared 64\nSTSUL [0x41], R1; EXIT", "misaligned"},
    {"LD R1, [RZ]; EXIT", "global address 0x0, which is in no buffer"},
    {"MOV R0, c[0x0][0x20]; LD R1, [R0+0x100]; EXIT", "256 bytes after the start of `buffer` (64 words)"},
    {"MOV R0, c[0x0][0x20]; ST [R0+-0x4], R1; EXIT", "in no buffer"},
    {"MOV R0, c[0x0][0x20]; LD.128 R4, [R0+0xf8]; EXIT", "misaligned 16-byte"},
    {"MOV R0, c[0x0][0x20]; RED.ADD [R0+0x2], R1; EXIT", "misaligned 4-byte access to global"},
    {"MOV R0, c[0x0][0x20]; MOV R1, 1; LD.E R2, [R0]; EXIT", "global address 0x100010000"},
    {"MOV R0, -4; MOV R1, -1; LD.E R2, [R0]; EXIT", "global address 0xfffffffffffffffc, which is in no buffer"},
    {"MOV R1, 16; BAR.SYNC R1; EXIT", "barrier 16 of a block that has 16"},
    {"MOV R1, 48; BAR.SYNC 0x0, R1; EXIT", "thread count of 48"},
    {"BAR.SYNC 0x0, R1; EXIT", "thread count of 0"},
    {"S2R R1, SR_LaneId; BAR.SYNC R1; EXIT", "barrier 1 in lane 1, but 0 in lane 0"},
    {"S2R R1, SR_LaneId; ISETP.EQ P0, PT, R1, RZ, PT; @P0 CAL f; EXIT; f: RET", "only part of the active lanes"},
    {"NOP.S; EXIT", "isn't a convergence point"},
    {"BRK; EXIT", "BRK without an enclosing PBK"},
    {"CONT; EXIT", "CONT without an enclosing PCNT"},
    {"RET; EXIT", "RET without an enclosing CAL"},
};
/* clang-format on */

START_TEST(faults_name_the_cause) {
  g_autoptr(Lab) lab = lab_new("", faults[_i].text);
  lab_buffer(lab, 64);
  lab_launch(lab, 1, 32);
  lab_expect_fault(lab, faults[_i].words);
}
END_TEST

/* The same accesses by lanes that don't execute them do nothing. */
START_TEST(no_fault_without_a_lane) {
  static const char *const quiet[] = {"LDS R1, [0x40]",
                                      "STS.64 [0x3c], R2",
                                      "LDSLK P1, R1, [0x41]",
                                      "STSUL [0x80], R1",
                                      "LD R1, [RZ]",
                                      "ST [RZ], R1",
                                      "ATOM.ADD R1, [RZ], R2",
                                      "RED.ADD [RZ], R1",
                                      "BRK",
                                      "CONT",
                                      "RET",
                                      "CAL 0x0",
                                      "BAR.SYNC 0x0, R9",
                                      "EXIT",
                                      "BRA 0x0",
                                      "SSY 0x0"};
  g_autofree char *text = g_strdup_printf(".shared 64\n@P0 %s; EXIT", quiet[_i]);
  g_autoptr(Lab) lab = lab_new("", text);
  lab_launch(lab, 1, 32);
  lab_finish(lab);
  ck_assert_msg(lab->trace->len == 2, "%s", quiet[_i]);
  ck_assert_msg(lab_warp(lab, 0)->depth == 0, "%s", quiet[_i]);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("exec");
  TCase *tcase = tcase_create("exec");
  tcase_add_loop_test(tcase, does_what_the_documentation_says, 0, OP_COUNT);
  tcase_add_loop_test(tcase, every_modifier_has_a_case, 0, OP_COUNT);
  tcase_add_loop_test(tcase, every_operand_modifier_has_a_case, 0, OP_COUNT);
  tcase_add_test(tcase, every_special_register_has_a_case);
  tcase_add_test(tcase, carries_through_64_bits);
  tcase_add_loop_test(tcase, faults_name_the_cause, 0, G_N_ELEMENTS(faults));
  tcase_add_loop_test(tcase, no_fault_without_a_lane, 0, 16);
  tcase_set_timeout(tcase, 30);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
