/* The lock bits: which bit, who takes it, who frees it, and what it costs (SEMANTICS, "Lock unit"). */
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "sim/memory/lock_unit.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

/* ---- which bit ---- */

START_TEST(address_bits_2_to_11_select_the_bit) {
  g_autoptr(Machine) machine = lab_machine("");
  LockUnit unit;
  lock_unit_init(&unit, machine);
  ck_assert_uint_eq(unit.bits, 1024);
  for (uint32_t address = 0; address < 49152; address++) {
    uint32_t index = 0;
    for (unsigned from = 2; from <= 11; from++)
      index += (address >> from) % 2 << (from - 2);
    UNIT_ASSERT(lock_unit_index(&unit, address) == index, "address %x", address);
  }
  lock_unit_clear(&unit);
}
END_TEST

/* clang-format off */
static const struct { const char *settings; uint32_t bits, granule; } sizes[] = {
    {"sm.lock_unit.bits=2048", 2048, 4}, {"sm.lock_unit.bits=256", 256, 4}, {"sm.lock_unit.bits=1", 1, 4},
    {"sm.lock_unit.bits=1000", 1000, 4}, {"sm.lock_unit.low_bit=7", 1024, 128},
     {"sm.lock_unit.bits=3 sm.lock_unit.low_bit=4", 3, 16},
};
/* clang-format on */

START_TEST(bits_and_low_bit_are_parameters) {
  g_autoptr(Machine) machine = lab_machine(sizes[_i].settings);
  LockUnit unit;
  lock_unit_init(&unit, machine);
  for (uint32_t address = 0; address < 49152; address++)
    UNIT_ASSERT(lock_unit_index(&unit, address) == address / sizes[_i].granule % sizes[_i].bits, "address %x",
                address);
  lock_unit_clear(&unit);
}
END_TEST

START_TEST(a_bit_is_taken_once) {
  g_autoptr(Machine) machine = lab_machine("");
  LockUnit unit;
  lock_unit_init(&unit, machine);
  ck_assert(lock_unit_try(&unit, 0x10, thread_id(0, 0, 7), 3, 100));
  ck_assert(!lock_unit_try(&unit, 0x10, thread_id(0, 0, 8), 4, 101));
  ck_assert(!lock_unit_try(&unit, 0x10 + 4096, thread_id(0, 0, 9), 5, 102));
  ck_assert(lock_unit_try(&unit, 0x14, thread_id(0, 0, 8), 4, 103));
  const LockBit *bit = &unit.bit[4];
  ck_assert(bit->held && bit->owner.thread == 7 && bit->pc == 3 && bit->since == 100 && bit->address == 0x10);
  lock_unit_release_all(&unit);
  ck_assert(!bit->held);
  ck_assert(lock_unit_try(&unit, 0x10 + 4096, thread_id(0, 0, 9), 5, 104));
  ck_assert_uint_eq(unit.distinct, 2);
  lock_unit_clear(&unit);
}
END_TEST

/* ---- who takes it ---- */

/* R1 is the address; P1 gates. Which lanes took a bit is asked of P0. */
typedef struct Contest {
  const char *what, *settings, *address; /* makes R1 of R0, the lane */
  uint32_t lanes, winners;
} Contest;

/* clang-format off */
static const Contest contests[] = {
    {"a word each", "", "SHL R1, R0, 2", 0xffffffff, 0xffffffff},
    {"one word", "", "MOV R1, 8", 0xffffffff, 0x00000001},
    {"one word, without the lowest lanes", "", "MOV R1, 8", 0xfffff800, 0x00000800},
    {"one word, one lane", "", "MOV R1, 8", 0x00400000, 0x00400000},
    {"two words, in turn", "", "LOP.AND R1, R0, 1; SHL R1, R1, 2", 0xffffffff, 0x00000003},
    {"two words, the lower half of the lanes the upper word", "", "SHR R1, R0, 4; SHL R1, R1, 2", 0xfffffff8,
     0x00010008},
    {"aliases, 1024 words apart", "", "LOP.AND R1, R0, 7; SHL R1, R1, 12", 0xffffffff, 0x00000001},
    {"aliases, without the lowest lane", "", "LOP.AND R1, R0, 7; SHL R1, R1, 12", 0xfffffffe, 0x00000002},
    {"1023 words apart", "", "LOP.AND R1, R0, 7; IMUL R1, R1, 4092", 0xff, 0xff},
    {"1024 words apart, 2048 bits: two bits", "sm.lock_unit.bits=2048", "LOP.AND R1, R0, 7; SHL R1, R1, 12", 0xff,
     0x03},
    {"a word each, 8 bits", "sm.lock_unit.bits=8", "SHL R1, R0, 2", 0xffffffff, 0x000000ff},
    {"a word each, 8 bits, some lanes", "sm.lock_unit.bits=8", "SHL R1, R0, 2", 0xffff00f0, 0x000f00f0},
    {"a word each, one bit", "sm.lock_unit.bits=1", "SHL R1, R0, 2", 0xffffffff, 0x00000001},
    {"a word each, a bit for 16 words", "sm.lock_unit.low_bit=6", "SHL R1, R0, 2", 0xffffffff, 0x00010001},
};
/* clang-format on */

START_TEST(one_winner_a_bit_the_lowest_lane) {
  const Contest *contest = &contests[_i];
  g_autofree char *text = g_strdup_printf(
      ".shared 32768\nS2R R0, SR_LaneId; %s; STS [R1], R0; @P1 LDSLK P0, R2, [R1]; EXIT", contest->address);
  g_autoptr(Lab) lab = lab_new(contest->settings, text);
  lab_launch(lab, 1, 32);
  lab_place(lab);
  Warp *warp = lab_warp(lab, 0);
  warp->pred[1] = contest->lanes;
  warp->pred[0] = 0x5a5a5a5a; /* stays in lanes that don't execute */
  memset(lab_row(lab, 0, 2), 0xee, 32 * 4);
  lab_finish(lab);
  uint32_t right = contest->winners | (0x5a5a5a5a & ~contest->lanes);
  ck_assert_msg(warp->pred[0] == right, "%s: P0 is %x, not %x", contest->what, warp->pred[0], right);
  ck_assert_uint_eq(warp->holding, contest->winners);
  const Sm *sm = &lab->gpu->sms[0];
  for (unsigned lane = 0; lane < 32; lane++) {
    bool runs = contest->lanes >> lane & 1;
    uint32_t stored = sm->shared.words[lab_row(lab, 0, 1)[lane] / 4];
    ck_assert_uint_eq(lab_row(lab, 0, 2)[lane],
                      runs ? stored : 0xeeeeeeee); /* winners and losers alike get the word */
  }
  uint32_t held = 0, winners = (uint32_t)__builtin_popcount(contest->winners);
  for (unsigned i = 0; i < sm->lock_unit.bits; i++)
    held += sm->lock_unit.bit[i].held;
  ck_assert_uint_eq(held, winners);
  ck_assert_uint_eq(lab->gpu->counters.lock_attempts, (uint32_t)__builtin_popcount(contest->lanes));
  ck_assert_uint_eq(lab->gpu->counters.lock_failures, (uint32_t)__builtin_popcount(contest->lanes) - winners);
  ck_assert_uint_eq(lab->gpu->counters.lock_bits, winners);
}
END_TEST

START_TEST(a_held_bit_is_given_to_nobody) {
  g_autoptr(Lab) lab = lab_new("", ".shared 128\nLDSLK P0, RZ, [RZ]; LDSLK P1, R1, [RZ]; LDSLK P2, R1, [0x4]; EXIT");
  lab_launch(lab, 1, 32);
  lab_finish(lab);
  const uint32_t *pred = lab_warp(lab, 0)->pred;
  ck_assert(pred[0] == 1 && pred[1] == 0 && pred[2] == 1); /* the holder, too, fails the second time */
}
END_TEST

/* ---- who frees it ---- */

typedef struct Told {
  unsigned count, lanes;
  bool was_free;
  ThreadId owner;
} Told;

static void note_unlock(void *user, const ProbePoint *point, unsigned lane, uint32_t address, uint32_t bit,
                        const LockBit *was) {
  Told *told = user;
  told->count++;
  told->lanes |= 1u << lane;
  told->was_free = !was;
  told->owner = was ? was->owner : THREAD_NONE;
}

static void note_exit(void *user, const ProbePoint *point, uint32_t bit, const LockBit *held) {
  Told *told = user;
  told->count++;
  told->lanes |= point->lanes;
}

/* What a program says about unlocks of bits that the lane doesn't hold. */
static Told told_unlocks(const char *text, uint32_t threads, bool exits, uint32_t *pred) {
  g_autoptr(Lab) lab = lab_new("", text);
  Told told = {0};
  Probe probe = {
      .user = &told, .unlock_not_owned = exits ? NULL : note_unlock, .exit_holding = exits ? note_exit : NULL};
  gpu_subscribe(lab->gpu, &probe);
  lab_launch(lab, 1, threads);
  lab_finish(lab);
  for (unsigned p = 0; pred && p < 4; p++)
    pred[p] = lab_warp(lab, 0)->pred[p];
  return told;
}

#define LANE0 ".shared 8192\nS2R R0, SR_Tid_X; ISETP.EQ P6, PT, R0, RZ, PT; "

START_TEST(stsul_frees_whoever_holds) {
  uint32_t pred[4];
  Told told =
      told_unlocks(LANE0 "@P6 LDSLK P0, RZ, [RZ]; @P6 STSUL [RZ], R0; @P6 LDSLK P1, RZ, [RZ]; EXIT", 32, false, pred);
  ck_assert(pred[0] == 1 && pred[1] == 1 && told.count == 0); /* its own */
  told =
      told_unlocks(LANE0 "@P6 LDSLK P0, RZ, [RZ]; @!P6 STSUL [RZ], R0; @P6 LDSLK P1, RZ, [RZ]; EXIT", 3, false, pred);
  ck_assert(pred[1] == 1 && told.count == 1 && told.lanes == 2 && !told.was_free && thread_lane(told.owner) == 0);
  told = told_unlocks(LANE0 "@P6 LDSLK P0, RZ, [RZ]; @!P6 STSUL [0x1000], R0; @P6 LDSLK P1, RZ, [RZ]; EXIT", 3, false,
                      pred);
  ck_assert(pred[1] == 1 && told.count == 1); /* an alias frees it as well */
  told = told_unlocks(LANE0 "@P6 STSUL [0x8], R0; @P6 LDSLK P1, RZ, [0x8]; EXIT", 32, false, pred);
  ck_assert(pred[1] == 1 && told.count == 1 && told.was_free); /* freeing a free bit changes nothing */
  told = told_unlocks(LANE0 "@P6 LDSLK P0, RZ, [RZ]; @P6 STSUL [0x4], R0; @P6 LDSLK P1, RZ, [RZ]; EXIT", 32, false,
                      pred);
  ck_assert(pred[1] == 0 && told.count == 1); /* another bit stays */
}
END_TEST

/* ---- STSCUL ---- */

/* Some lanes hold bits; then some try to put. R1 is the address of both. */
typedef struct Put {
  const char *what, *settings, *address;
  uint32_t takers, putters, stored, held; /* held: how many bits afterwards */
} Put;

/* clang-format off */
static const Put puts[] = {
    {"nobody holds", "held", "MOV R1, 8", 0, 0xffffffff, 0, 0},
    {"a word each, all held", "held", "SHL R1, R0, 2", 0xffffffff, 0xffffffff, 0xffffffff, 0},
    {"a word each, some held", "held", "SHL R1, R0, 2", 0x00ff00ff, 0xffffffff, 0x00ff00ff, 0},
    {"a word each, some put", "held", "SHL R1, R0, 2", 0xffffffff, 0x0f000000, 0x0f000000, 28},
    {"one word: the lowest lane stores", "held", "MOV R1, 8", 0xffffffff, 0xffffff00, 0x00000100, 0},
    {"one word, the holder among others", "held", "MOV R1, 8", 0x00000010, 0x00000012, 0x00000002, 0},
    {"aliases: one stores", "held", "SHL R1, R0, 12", 0x00000002, 0x00000007, 0x00000001, 0},
    {"one word, own: the holder stores", "own", "MOV R1, 8", 0x00000010, 0xffffffff, 0x00000010, 0},
    {"one word, own: another lane doesn't", "own", "MOV R1, 8", 0x00000010, 0x0000000f, 0, 1},
    {"aliases, own", "own", "SHL R1, R0, 12", 0x00000006, 0x00000007, 0x00000002, 0},
};
/* clang-format on */

START_TEST(stscul_stores_and_frees_what_is_held) {
  const Put *put = &puts[_i];
  g_autofree char *settings = g_strconcat("sm.lock_unit.conditional_unlock=", put->settings, NULL);
  g_autofree char *text =
      g_strdup_printf(".shared 32768\nS2R R0, SR_LaneId; IADD R2, R0, 100; %s; @P1 LDSLK P0, RZ, [R1]; "
                      "@P2 STSCUL P3, [R1], R2; EXIT",
                      put->address);
  g_autoptr(Lab) lab = lab_new(settings, text);
  lab_launch(lab, 1, strstr(put->address, "12") ? 8 : 32);
  lab_place(lab);
  Warp *warp = lab_warp(lab, 0);
  warp->pred[1] = put->takers;
  warp->pred[2] = put->putters;
  warp->pred[3] = 0xa5a5a5a5; /* stays in lanes that don't execute */
  lab_finish(lab);
  uint32_t right = put->stored | (0xa5a5a5a5 & ~put->putters);
  ck_assert_msg(warp->pred[3] == right, "%s: P3 is %x, not %x", put->what, warp->pred[3], right);
  const Sm *sm = &lab->gpu->sms[0];
  uint32_t held = 0;
  for (unsigned i = 0; i < sm->lock_unit.bits; i++)
    held += sm->lock_unit.bit[i].held;
  ck_assert_msg(held == put->held, "%s: %u bits are held", put->what, held);
  for (unsigned lane = 0; lane < 32; lane++) {
    uint32_t word = sm->shared.words[lab_row(lab, 0, 1)[lane] / 4];
    if (put->stored >> lane & 1)
      ck_assert_msg(word == 100 + lane, "%s: lane %u left %u", put->what, lane, word);
    else if (!put->stored)
      ck_assert_msg(word == 0, "%s: word of lane %u is %u", put->what, lane, word);
  }
  uint32_t tried = (uint32_t)__builtin_popcount(put->putters), done = (uint32_t)__builtin_popcount(put->stored);
  ck_assert_uint_eq(lab->gpu->counters.unlock_attempts, tried);
  ck_assert_uint_eq(lab->gpu->counters.unlock_failures, tried - done);
  ck_assert_uint_eq(lab->gpu->counters.lock_releases, done);
}
END_TEST

/* Warp 1 frees what warp 0 holds, which then takes it again. */
START_TEST(another_warp_frees_it) {
  g_autoptr(Lab) lab = lab_new(
      "", ".shared 128\nS2R R0, SR_Tid_X; SHR R1, R0, 5; ISETP.EQ P6, PT, R1, RZ, PT\n"
          "@P6 LDSLK P0, RZ, [RZ]; BAR.SYNC 0; @!P6 STSUL [RZ], R0; BAR.SYNC 0; @P6 LDSLK P1, RZ, [RZ]; EXIT");
  Told told = {0};
  Probe probe = {.user = &told, .unlock_not_owned = note_unlock};
  gpu_subscribe(lab->gpu, &probe);
  lab_launch(lab, 1, 64);
  lab_finish(lab);
  ck_assert(lab_warp(lab, 0)->pred[0] == 1 && lab_warp(lab, 0)->pred[1] == 1);
  ck_assert(told.count == 1 && thread_warp(told.owner) == 0);
  ck_assert_uint_eq(lab->gpu->sms[0].shared.words[0], 63); /* the highest lane's value stays */
  ck_assert_uint_eq(lab->gpu->counters.lock_releases, 1);  /* one bit, freed once */
}
END_TEST

START_TEST(plain_accesses_leave_the_bits_alone) {
  g_autoptr(Lab) lab =
      lab_new("", ".shared 4096\nS2R R0, SR_LaneId; SHL R0, R0, 2; LDS R1, [R0]; STS [R0], R0; LDS.64 R2, [RZ]; "
                  "STS.U8 [R0+0x1], R0; STS.128 [RZ], R4; EXIT");
  lab_launch(lab, 1, 32);
  lab_place(lab);
  LockBit *bit = lab->gpu->sms[0].lock_unit.bit;
  for (unsigned i = 0; i < 1024; i++)
    bit[i] = (LockBit){.held = i % 3 == 0, .owner = thread_id(0, 0, i), .since = i, .address = i, .pc = i};
  lab_finish(lab);
  for (unsigned i = 0; i < 1024; i++)
    UNIT_ASSERT(bit[i].held == (i % 3 == 0) && bit[i].owner.thread == i && bit[i].since == i && bit[i].pc == i,
                "bit %u", i);
}
END_TEST

START_TEST(exit_holding_is_told) {
  Told told =
      told_unlocks(LANE0 "SHL R1, R0, 2; LDSLK P0, RZ, [R1]; @P6 STSUL [R1], R0; @P6 EXIT; NOP; EXIT", 5, true, NULL);
  ck_assert_uint_eq(told.count, 4);
  ck_assert_uint_eq(told.lanes, 0x1e);
}
END_TEST

/* ---- when bits become free, and blocks of one SM ---- */

START_TEST(a_launch_finds_the_bits_free) {
  g_autoptr(Lab) lab = lab_new("", ".shared 128\nLDSLK P0, R1, [RZ]; EXIT");
  lab_launch(lab, 1, 32);
  lab_launch(lab, 1, 32);
  lab_finish(lab);
  ck_assert_uint_eq(lab_warp(lab, 0)->pred[0], 1); /* of the second launch, which ran in the same slot */
  ck_assert_uint_eq(lab->gpu->counters.lock_failures, 62);
}
END_TEST

START_TEST(a_later_block_finds_them_as_they_are) {
  g_autoptr(Lab) lab = lab_new("sm.max_blocks=1", ".shared 128\nLDSLK P0, R1, [RZ]; EXIT");
  lab_launch(lab, 2, 32);
  lab_finish(lab);
  ck_assert_uint_eq(lab_warp(lab, 0)->pred[0], 0);
  ck_assert_uint_eq(lab->gpu->counters.lock_failures, 63);
}
END_TEST

/* Blocks of 4 KiB lie 4 KiB apart, so that word 0 of each has the same bit; blocks of 128 bytes have bits of their
 * own. */
START_TEST(blocks_of_one_sm_share_the_bits) {
  for (unsigned small = 0; small < 2; small++) {
    g_autofree char *text = g_strdup_printf(".shared %u\nLDSLK P0, R1, [RZ]; EXIT", small ? 128 : 4096);
    g_autoptr(Lab) lab = lab_new("", text);
    lab_launch(lab, 8, 32);
    lab_finish(lab);
    unsigned winners = 0;
    for (unsigned slot = 0; slot < 8; slot++)
      winners += lab_warp(lab, slot)->pred[0];
    ck_assert_uint_eq(winners, small ? 8 : 1);
    for (unsigned i = 0; i < 1024; i++)
      ck_assert_msg(lab->gpu->sms[0].lock_unit.bit[i].held == (small ? i % 32 == 0 && i < 256 : i == 0), "bit %u", i);
  }
}
END_TEST

/* ---- timing ---- */

#define TIMES                                                                              \
  "sm.issue_interval=2 sm.latency.alu=18 sm.latency.sysreg=18 sm.latency.branch_taken=18 " \
  "sm.latency.branch_not_taken=18 "                                                        \
  "sm.shared.latency=50 sm.shared.pass_interval=2"

/* Each instruction of the lock loop, cycle by cycle: S2R 18, SHL 18; the lock 50 and its branch 18 ... */
START_TEST(costs_what_plain_accesses_cost) {
  static const uint64_t cycles[] = {0, 18, 36, 86, 104, 106};
  static const char *const texts[] = {
      ".shared 4096\nS2R R0, SR_LaneId; SHL R1, R0, %u; LDSLK P0, R2, [R1]; IADD R2, R2, 0x1; STSUL [R1], R2; EXIT",
      ".shared 4096\nS2R R0, SR_LaneId; SHL R1, R0, %u; LDS R2, [R1]; IADD R2, R2, 0x1; STS [R1], R2; EXIT",
  };
  for (unsigned plain = 0; plain < 2; plain++) {
    for (unsigned shift = 2; shift <= 7; shift++) {
      g_autofree char *text = g_strdup_printf(texts[plain], shift);
      g_autoptr(Lab) lab = lab_new(TIMES, text);
      lab_launch(lab, 1, 32);
      lab_finish(lab);
      for (unsigned pc = 0; pc < G_N_ELEMENTS(cycles); pc++) {
        uint64_t replays = pc > 2 ? 2 * ((1u << (shift - 2)) - 1) : 0; /* of the load, before its result */
        ck_assert_msg(lab_cycle(lab, 0, pc, 0) == cycles[pc] + replays, "%s: instruction %u issues at %d, not %d",
                      plain ? "plain" : "lock", pc, (int)lab_cycle(lab, 0, pc, 0), (int)(cycles[pc] + replays));
      }
    }
  }
}
END_TEST

/* A failed attempt costs the same: 50 for the lock, 18 for the branch back. */
START_TEST(a_failed_attempt_costs_the_same) {
  g_autoptr(Lab) lab = lab_new(TIMES, ".shared 128\nagain: LDSLK P0, R2, [RZ]; @!P0 BRA again; EXIT");
  lab_launch(lab, 1, 1);
  lab_place(lab);
  lab->gpu->sms[0].lock_unit.bit[0].held = true;
  ck_assert_int_eq(gpu_run(lab->gpu, 9, UINT64_MAX), GPU_BUDGET);
  for (unsigned round = 0; round < 4; round++) {
    ck_assert_uint_eq(lab_cycle(lab, 0, 0, round), 68 * round);
    ck_assert_uint_eq(lab_cycle(lab, 0, 1, round), 68 * round + 50);
  }
}
END_TEST

/* Aliases in different banks replay: 8 bits and 32 words make 4 passes, 2 cycles apart. */
START_TEST(aliases_replay) {
  g_autoptr(Lab) lab = lab_new(TIMES " sm.lock_unit.bits=8",
                               ".shared 4096\nS2R R0, SR_LaneId; SHL R1, R0, 2; "
                               "LDSLK P0, R2, [R1]; MOV R3, R2; STSUL [R1], R2; LDS R4, [R1]; MOV R5, R4; EXIT");
  lab_launch(lab, 1, 32);
  lab_finish(lab);
  ck_assert_uint_eq(lab_cycle(lab, 0, 3, 0), 36 + 50 + 3 * 2);
  ck_assert_uint_eq(lab_cycle(lab, 0, 4, 0), 94);
  ck_assert_uint_eq(lab_cycle(lab, 0, 5, 0), 96);
  ck_assert_uint_eq(lab_cycle(lab, 0, 6, 0),
                    94 + 4 * 2 + 50); /* behind the 4 passes of the STSUL, in one of its own */
}
END_TEST

/* ---- mutual exclusion ---- */

/* 8 warps, each lane adds its number to one of four counters under its lock bit, ten times. */
START_TEST(protects_a_counter) {
  static const char *const policies[] = {"loose-round-robin", "greedy-then-oldest", "youngest", "random"};
  g_autofree char *settings = g_strdup_printf("sm.jitter_cycles=2 sm.policy=%s", policies[_i]);
  g_autoptr(Lab) lab =
      lab_new(settings, ".shared 16\nS2R R0, SR_Tid_X; MOV R9, 10; LOP.AND R1, R0, 3; SHL R1, R1, 2\n"
                        "again: SSY next; LDSLK P0, R2, [R1]; @P0 IADD R2, R2, R0; @P0 STSUL [R1], R2; "
                        "@P0 IADD R9, R9, -0x1; NOP.S; next: ISETP.NE P1, PT, R9, RZ, PT; @P1 BRA again; EXIT");
  lab_launch(lab, 1, 256);
  lab_finish(lab);
  for (uint32_t word = 0; word < 4; word++) {
    uint32_t sum = 0;
    for (uint32_t t = word; t < 256; t += 4)
      sum += 10 * t;
    ck_assert_uint_eq(lab->gpu->sms[0].shared.words[word], sum);
  }
  const Counters *counters = &lab->gpu->counters;
  ck_assert_uint_eq(counters->lock_attempts - counters->lock_failures, 2560);
  ck_assert_uint_eq(counters->lock_releases, 2560);
  ck_assert_uint_eq(counters->lock_bits, 4);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("lock_unit");
  TCase *tcase = tcase_create("lock_unit");
  tcase_add_test(tcase, address_bits_2_to_11_select_the_bit);
  tcase_add_loop_test(tcase, bits_and_low_bit_are_parameters, 0, G_N_ELEMENTS(sizes));
  tcase_add_test(tcase, a_bit_is_taken_once);
  tcase_add_loop_test(tcase, one_winner_a_bit_the_lowest_lane, 0, G_N_ELEMENTS(contests));
  tcase_add_test(tcase, a_held_bit_is_given_to_nobody);
  tcase_add_test(tcase, stsul_frees_whoever_holds);
  tcase_add_test(tcase, another_warp_frees_it);
  tcase_add_test(tcase, plain_accesses_leave_the_bits_alone);
  tcase_add_test(tcase, exit_holding_is_told);
  tcase_add_test(tcase, a_launch_finds_the_bits_free);
  tcase_add_test(tcase, a_later_block_finds_them_as_they_are);
  tcase_add_test(tcase, blocks_of_one_sm_share_the_bits);
  tcase_add_test(tcase, costs_what_plain_accesses_cost);
  tcase_add_test(tcase, a_failed_attempt_costs_the_same);
  tcase_add_test(tcase, aliases_replay);
  tcase_add_loop_test(tcase, protects_a_counter, 0, 4);
  tcase_add_loop_test(tcase, stscul_stores_and_frees_what_is_held, 0, G_N_ELEMENTS(puts));
  tcase_set_timeout(tcase, 30);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
