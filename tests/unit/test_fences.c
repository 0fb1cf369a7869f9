/* Orders of memory: fences, releases, and how much may be under way. */
#include <glib.h>

#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

#define TIMES "sm.issue_interval=2 sm.latency.alu=18 "

/* A fence and a release of the chip cost memory.fence_latency besides the wait; those of the block don't. An acquire
 * waits for its reply. */
START_TEST(fences_and_releases_wait) {
  static const struct {
    const char *what, *text;
    MemSem sem;
    MemScope scope;
    uint64_t next;
  } cases[] = {
      {"fence", "MEMBAR.GL", SEM_SC, SCOPE_GPU, 20 - 2 + 600 + 100},
      {"fence of the block", "MEMBAR.CTA", SEM_SC, SCOPE_CTA, 22},
      {"plain store", "ST [R0], R0", SEM_WEAK, SCOPE_GPU, 22},
      {"release", "ST [R0], R0", SEM_RELEASE, SCOPE_GPU, 18 + 600 + 100 + 2},
      {"release to the block", "ST [R0], R0", SEM_RELEASE, SCOPE_CTA, 22},
      {"acquire", "LD R1, [R0]", SEM_ACQUIRE, SCOPE_GPU, 20 + 600},
      {"atomic release", "RED.ADD [R0], R0", SEM_RELEASE, SCOPE_SYS, 18 + 600 + 100 + 2},
      {"relaxed atomic", "RED.ADD [R0], R0", SEM_RELAXED, SCOPE_GPU, 22},
  };
  for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = g_strdup_printf("MOV R0, c[0x0][0x20]; ST [R0], R0; %s; NOP; EXIT", cases[i].text);
    g_autoptr(Lab) lab =
        lab_new(TIMES "memory.latency=600 memory.fence_latency=100 memory.bytes_per_cycle=100000", text);
    lab_buffer(lab, 4);
    lab_inst(lab, 2)->sem = cases[i].sem;
    lab_inst(lab, 2)->scope = cases[i].scope;
    lab_launch(lab, 1, 1);
    lab_finish(lab);
    ck_assert_msg(lab_cycle(lab, 0, 3, 0) == cases[i].next, "%s: %d", cases[i].what, (int)lab_cycle(lab, 0, 3, 0));
  }
}
END_TEST

/* A fence goes to the homes of what was accessed since the last one, however long ago; with nothing to ask it takes
 * its least. */
START_TEST(fences_ask_homes) {
  g_autoptr(Lab) lab =
      lab_new(TIMES "memory.slices=1 memory.l2.bytes=65536 memory.port.queue=8 memory.fence_least=264 "
                    "memory.fence_probe=200 memory.fence_system=1000",
              "MOV R0, c[0x0][0x20]; MEMBAR.GL; LD R1, [R0]; MOV R2, R1; MEMBAR.GL; NOP; MEMBAR.GL; NOP; "
              "MEMBAR.SYS; NOP; EXIT");
  static const struct {
    unsigned pc;
    uint64_t takes;
  } cases[] = {{1, 264}, {4, 140 + 200}, {6, 264}, {8, 1000}};
  lab_buffer(lab, 4);
  lab_launch(lab, 1, 1);
  lab_finish(lab);
  for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
    uint64_t took = lab_cycle(lab, 0, cases[i].pc + 1, 0) - lab_cycle(lab, 0, cases[i].pc, 0);
    ck_assert_msg(took == 2 + cases[i].takes, "the fence at %u takes %d", cases[i].pc, (int)took);
  }
}
END_TEST

/* How long the fences of two warps take behind a store each, and how long after the first one's the second one's is
 * over; the second comes `steps` instructions later. */
static void fence_twice(const char *order, unsigned steps, uint64_t took[2], int64_t *apart) {
  g_autofree char *machine =
      g_strdup_printf(TIMES "memory.slices=1 memory.l2.bytes=65536 memory.port.queue=8 memory.fence_least=400 "
                            "memory.fence_probe=300 memory.fence_port=100 sm.schedulers=2 memory.fence_order=%s",
                      order);
  g_autoptr(GString) text = g_string_new("MOV R0, c[0x0][0x20]; S2R R1, SR_Tid_X; ISETP.LT.AND P0, PT, R1, 0x20, PT; "
                                         "@P0 BRA first; ");
  for (unsigned i = 0; i < steps; i++)
    g_string_append(text, "IADD R2, R2, R2; ");
  g_string_append(text, "first: ST [R0], R0; MEMBAR.GL; NOP; EXIT");
  g_autoptr(Lab) lab = lab_new(machine, text->str);
  lab_buffer(lab, 4);
  lab_launch(lab, 1, 64);
  lab_finish(lab);
  uint64_t over[2];
  for (unsigned warp = 0; warp < 2; warp++) {
    over[warp] = lab_cycle(lab, warp, 6 + steps, 0);
    took[warp] = over[warp] - lab_cycle(lab, warp, 5 + steps, 0);
  }
  *apart = (int64_t)over[1] - (int64_t)over[0];
}

/* memory.fence_order: a fence that comes while another one waits begins when the SM needn't wait for that any longer,
 * but for the time of its probes; or it has nothing to do with it. */
START_TEST(fences_go_by_batch) {
  uint64_t alone[2], took[2];
  int64_t later, apart;
  fence_twice("each-apart", 12, alone, &later);
  ck_assert_int_gt(later, 100);
  fence_twice("by-batch", 12, took, &apart);
  ck_assert_uint_eq(took[0], alone[0]);
  ck_assert_uint_eq(took[1], alone[0] - (uint64_t)later - 100 + 400);
  ck_assert_int_eq(apart, 400 - 100);
}
END_TEST

/* How long a load of the second warp takes that comes while probes of the first one's fence take the port. */
static uint64_t load_beside_fence(unsigned port) {
  g_autofree char *machine =
      g_strdup_printf(TIMES "memory.slices=1 memory.l2.bytes=65536 memory.port.queue=8 memory.fence_least=400 "
                            "memory.fence_probe=300 memory.fence_port=%u sm.schedulers=2 memory.fence_order=by-batch",
                      port);
  g_autoptr(Lab) lab = lab_new(machine, "MOV R0, c[0x0][0x20]; S2R R1, SR_Tid_X; ISETP.LT.AND P0, PT, R1, 0x20, PT; "
                                        "@P0 BRA first; IADD R2, R2, R2; IADD R2, R2, R2; LD R1, [R0]; MOV R2, R1; "
                                        "EXIT; first: ST [R0], R0; MEMBAR.GL; NOP; EXIT");
  lab_buffer(lab, 4);
  lab_launch(lab, 1, 64);
  lab_finish(lab);
  ck_assert_uint_lt(lab_cycle(lab, 0, 10, 0), lab_cycle(lab, 1, 6, 0));
  return lab_cycle(lab, 1, 7, 0) - lab_cycle(lab, 1, 6, 0);
}

/* memory.fence_port: probes take the port from accesses behind them. */
START_TEST(probes_take_the_port) {
  uint64_t beside_none = load_beside_fence(0);
  ck_assert_uint_gt(load_beside_fence(100), beside_none + 50);
  ck_assert_uint_eq(load_beside_fence(300), load_beside_fence(100) + 200);
}
END_TEST

/* memory.block_orders: fence.acq_rel.cta and an acquire of the block wait for loads, not for stores; fence.sc.cta for
 * nothing. */
START_TEST(fences_of_the_block_wait_for_loads) {
  static const struct {
    const char *what, *text, *orders;
    MemSem sem;
    uint64_t next;
  } cases[] = {
      {"acq_rel behind a load", "LD R1, [R0]; MEMBAR.CTA", "loads", SEM_ACQ_REL, 600},
      {"acq_rel behind a store", "ST [R0], R0; MEMBAR.CTA", "loads", SEM_ACQ_REL, 2 + 9},
      {"sc behind a load", "LD R1, [R0]; MEMBAR.CTA", "loads", SEM_SC, 2 + 9},
      {"acq_rel on another machine", "LD R1, [R0]; MEMBAR.CTA", "nothing", SEM_ACQ_REL, 2 + 9},
      {"acquire", "LD R1, [R0]; LD R2, [R0]", "loads", SEM_ACQUIRE, 2 + 600},
      {"acquire on another machine", "LD R1, [R0]; LD R2, [R0]", "nothing", SEM_ACQUIRE, 2 + 2},
  };
  for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = g_strdup_printf("MOV R0, c[0x0][0x20]; %s; NOP; EXIT", cases[i].text);
    g_autofree char *machine = g_strdup_printf(TIMES "memory.latency=600 memory.bytes_per_cycle=100000 "
                                                     "memory.fence_block=9 memory.block_orders=%s",
                                               cases[i].orders);
    g_autoptr(Lab) lab = lab_new(machine, text);
    lab_buffer(lab, 4);
    lab_inst(lab, 2)->sem = cases[i].sem;
    lab_inst(lab, 2)->scope = SCOPE_CTA;
    lab_launch(lab, 1, 1);
    lab_finish(lab);
    uint64_t next = lab_cycle(lab, 0, 3, 0) - lab_cycle(lab, 0, 1, 0);
    ck_assert_msg(next == cases[i].next, "%s: %d", cases[i].what, (int)next);
  }
}
END_TEST

/* memory.port.warp_loads: a load waits for what the warp has under way, a store doesn't. */
START_TEST(a_warp_may_have_one_load_under_way) {
  static const char *const machines[] = {TIMES "memory.latency=600 memory.bytes_per_cycle=100000",
                                         TIMES "memory.latency=600 memory.bytes_per_cycle=100000 "
                                               "memory.port.warp_loads=1"};
  for (unsigned one = 0; one < 2; one++) {
    g_autoptr(Lab) lab =
        lab_new(machines[one], "MOV R0, c[0x0][0x20]; LD R1, [R0]; ST [R0], R0; LD R2, [R0+0x4]; NOP; EXIT");
    lab_buffer(lab, 4);
    lab_launch(lab, 1, 1);
    lab_finish(lab);
    uint64_t first = lab_cycle(lab, 0, 1, 0);
    ck_assert_uint_eq(lab_cycle(lab, 0, 2, 0), first + 2);
    ck_assert_uint_eq(lab_cycle(lab, 0, 3, 0), first + (one ? 600 : 4));
  }
}
END_TEST

/* With so many accesses under way the next waits for a reply; who waits longest goes first. */
START_TEST(accesses_under_way_are_limited) {
  g_autoptr(Lab) lab =
      lab_new(TIMES "memory.latency=600 memory.bytes_per_cycle=100000 memory.port.credits=1 memory.port.queue=1",
              "MOV R0, c[0x0][0x20]; ST [R0], R0; ST [R0+0x4], R0; @!PT ST [R0], R0; NOP; ST [R0+0x8], "
              "R0; ST [R0+0xc], R0; EXIT");
  lab_buffer(lab, 8);
  lab_launch(lab, 1, 1);
  lab_finish(lab);
  uint64_t first = lab_cycle(lab, 0, 1, 0), second = lab_cycle(lab, 0, 2, 0);
  ck_assert_uint_lt(lab_cycle(lab, 0, 4, 0), first + 100); /* an access of no lane needs no room */
  ck_assert_uint_eq(lab_cycle(lab, 0, 5, 0), first + 600);
  ck_assert_uint_eq(lab_cycle(lab, 0, 6, 0), second + 600);
  ck_assert_uint_eq(lab->gpu->end_cycle, second + 600 + 600);
}
END_TEST

/* A release waits as a fence when it is its warp's turn, and no reply may be left then to invite the next. */
START_TEST(releases_wait_for_room_and_end) {
  g_autoptr(Lab) lab =
      lab_new(TIMES "memory.latency=600 memory.bytes_per_cycle=100000 memory.port.credits=1 memory.port.queue=1",
              "MOV R0, c[0x0][0x20]; ST [R0], R0; ST [R0+0x4], R0; ST [R0+0x8], R0; EXIT");
  for (uint32_t pc = 2; pc < 4; pc++) {
    lab_inst(lab, pc)->sem = SEM_RELEASE;
    lab_inst(lab, pc)->scope = SCOPE_GPU;
  }
  lab_buffer(lab, 8);
  lab_launch(lab, 1, 256);
  lab_finish(lab);
  ck_assert_uint_eq(lab->gpu->counters.global_accesses, 8 * 3);
}
END_TEST

/* The same where a release needs no access in the end, since its generic address is one of shared memory. */
START_TEST(releases_to_shared_memory_invite_others) {
  g_autoptr(Lab) lab =
      lab_new(TIMES "memory.latency=600 memory.bytes_per_cycle=100000 memory.port.credits=1 memory.port.queue=1",
              ".shared 128\nMOV R0, c[0x0][0x20]; MOV R2, 0xe0000000; ST [R0], R0; ST [R2], R0; EXIT");
  lab_inst(lab, 3)->space = MEM_GENERIC;
  lab_inst(lab, 3)->sem = SEM_RELEASE;
  lab_inst(lab, 3)->scope = SCOPE_GPU;
  lab_buffer(lab, 8);
  lab_launch(lab, 1, 256);
  lab_finish(lab);
  ck_assert_uint_eq(lab->gpu->counters.global_accesses, 8);
}
END_TEST

START_TEST(who_waits_longest_sends_first) {
  g_autoptr(Lab) lab =
      lab_new(TIMES "memory.latency=600 memory.bytes_per_cycle=100000 memory.port.credits=1 memory.port.queue=1 "
                    "sm.schedulers=1",
              "MOV R0, c[0x0][0x20]; ST [R0], R0; ST [R0], R0; EXIT");
  lab_buffer(lab, 8);
  lab_launch(lab, 1, 128);
  lab_finish(lab);
  uint64_t sent[8], last = 0;
  for (unsigned warp = 0; warp < 4; warp++)
    for (unsigned nth = 0; nth < 2; nth++) {
      sent[2 * warp + nth] = lab_cycle(lab, warp, 1 + nth, 0);
      last = MAX(last, sent[2 * warp + nth]);
    }
  for (unsigned warp = 0; warp < 4; warp++) { /* each sends its first before any sends its second */
    for (unsigned other = 0; other < 4; other++)
      ck_assert_uint_lt(sent[2 * warp], sent[2 * other + 1]);
  }
  ck_assert_uint_ge(last, 3 * 600); /* two at a time */
  ck_assert_uint_lt(last, 6 * 600 + 200);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("fences");
  TCase *tcase = tcase_create("fences");
  tcase_add_test(tcase, fences_and_releases_wait);
  tcase_add_test(tcase, fences_ask_homes);
  tcase_add_test(tcase, fences_go_by_batch);
  tcase_add_test(tcase, probes_take_the_port);
  tcase_add_test(tcase, fences_of_the_block_wait_for_loads);
  tcase_add_test(tcase, a_warp_may_have_one_load_under_way);
  tcase_add_test(tcase, accesses_under_way_are_limited);
  tcase_add_test(tcase, releases_wait_for_room_and_end);
  tcase_add_test(tcase, releases_to_shared_memory_invite_others);
  tcase_add_test(tcase, who_waits_longest_sends_first);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
