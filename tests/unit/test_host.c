/* The host beside the GPU: its steps, what each side sees of the other's stores and when, and who waits for ever. */
#include <glib.h>
#include <string.h>

#include "sim/core/host.h"
#include "sim/detect/progress.h"
#include "sim/engine/rng.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

#define HOST "host.latency=1000 host.poll_interval=100 "

/* A host-mapped buffer whose address becomes the next argument: always buffer 0 here. */
static uint32_t *host_buffer(Lab *lab, uint32_t words) {
  BackingBuffer *buffer = backing_buffer(lab->backing, backing_add(lab->backing, "flag", words, NULL));
  buffer->host = true;
  lab_arg(lab, (uint32_t)buffer->base);
  return buffer->data;
}

static void set_host(Lab *lab, const HostStep *steps, uint32_t count) {
  g_autofree char *why = NULL;
  ck_assert_msg(gpu_set_host(lab->gpu, steps, count, &why), "%s", why);
}
#define SET_HOST(lab, ...) \
  set_host(lab, (const HostStep[]){__VA_ARGS__}, sizeof((HostStep[]){__VA_ARGS__}) / sizeof(HostStep))

/* The verdict and its finding, as `run` comes to them. */
static Verdict judge(Lab *lab, GPtrArray *findings) {
  ProgressOptions options = {.limit_cycles = 100000000, .livelocks = true};
  Outcome outcome = progress_run(lab->gpu, &options, findings);
  outcome_clear(&outcome);
  return outcome.verdict;
}

#define EXPECT_VERDICT(lab, verdict, words)                                                                      \
  do {                                                                                                           \
    g_autoptr(GPtrArray) findings_ = g_ptr_array_new_with_free_func((GDestroyNotify)finding_free);               \
    ck_assert_int_eq(judge(lab, findings_), verdict);                                                            \
    if (*(words))                                                                                                \
      ck_assert_msg(findings_->len > 0 && finding_says(g_ptr_array_index(findings_, 0), words), "no %s", words); \
  } while (0)

static bool finding_says(const Finding *finding, const char *words) {
  bool says = strstr(finding->message, words) != NULL;
  for (guint i = 0; i < finding->evidence->len; i++)
    says |= strstr(((Evidence *)g_ptr_array_index(finding->evidence, i))->text, words) != NULL;
  return says;
}

/* ---- the programs of the slides: even numbers by the host, odd ones by the GPU ---- */

#define PERSISTENT(pause)                                                                       \
  "MOV R0, c[0x0][0x20]; MOV32I R6, " pause ";\n"                                               \
  "poll: LD.CV R2, [R0]; LOP.AND R3, R2, 0x1; ISETP.EQ.AND P0, pt, R3, RZ, pt; @P0 BRA poll;\n" \
  "IADD R2, R2, 0x1; ST.WT [R0], R2; MOV R5, R6;\n"                                             \
  "late: IADD R5, R5, -0x1; ISETP.GT.AND P0, pt, R5, RZ, pt; @P0 BRA late;\n"                   \
  "LD.CV R4, [R0]; ISETP.LT.AND P0, pt, R4, 0xa, pt; @P0 BRA poll; EXIT;"

typedef struct Persistent {
  const char *name, *text;
  uint64_t late_host;
  uint32_t last;
} Persistent;

static const Persistent persistents[] = {
    {"in step", PERSISTENT("0x1"), 1, 11},
    {"the host tests late: 10 gets lost", PERSISTENT("0x1"), 100000, 10},
    {"the GPU tests late", PERSISTENT("0x400"), 1, 11},
};

/* The host: do { while (*counter is odd); print; ++*counter; } while (*counter < 10). It made 11 of the 10 that it
 * printed. */
START_TEST(counts_with_a_persistent_kernel) {
  const Persistent *p = &persistents[_i];
  g_autoptr(Lab) lab = lab_new(HOST, p->text);
  uint32_t *counter = host_buffer(lab, 1);
  lab_launch(lab, 1, 1);
  SET_HOST(lab, {.kind = HOST_LAUNCH}, {.kind = HOST_REPEAT, .count = 1000, .body = 4},
           {.kind = HOST_POLL, .compare = HOST_EVEN}, {.kind = HOST_MODIFY, .value = 1},
           {.kind = HOST_DELAY, .cycles = p->late_host}, {.kind = HOST_LEAVE, .compare = HOST_GE, .value = 10});
  EXPECT_VERDICT(lab, VERDICT_COMPLETED, "");
  ck_assert_msg(*counter == p->last, "%s: ends at %u", p->name, *counter);
  ck_assert_uint_eq(lab->gpu->host->view[0][0], p->last);
}
END_TEST

START_TEST(counts_with_a_kernel_a_step) {
  g_autoptr(Lab) lab =
      lab_new(HOST "grid.launch_overhead=500", "MOV R0, c[0x0][0x20]; LD R1, [R0]; IADD R1, R1, 0x1; "
                                               "ST [R0], R1; EXIT;");
  uint32_t *counter = host_buffer(lab, 1);
  for (int i = 0; i < 5; i++)
    lab_launch_grid(lab, 0, 1, 1, 0, i);
  SET_HOST(lab, {.kind = HOST_REPEAT, .count = 5, .body = 3}, {.kind = HOST_LAUNCH}, {.kind = HOST_WAIT},
           {.kind = HOST_MODIFY, .value = 1});
  EXPECT_VERDICT(lab, VERDICT_COMPLETED, "");
  ck_assert_uint_eq(*counter, 10);
  ck_assert_uint_eq(lab->gpu->host->view[0][0], 10);
  for (unsigned i = 1; i < 5; i++) /* each a round trip after the one before */
    ck_assert_uint_ge(lab_issue(lab, 5 * i)->cycle, lab_issue(lab, 5 * i - 1)->cycle + 1000 + 500);
}
END_TEST

/* ---- when stores show ---- */

START_TEST(the_gpu_sees_a_store_after_the_latency) {
  g_autoptr(Lab) lab = lab_new(HOST, "MOV R0, c[0x0][0x20]; wait: LD.CV R1, [R0]; ISETP.EQ.AND P0, pt, R1, RZ, pt; "
                                     "@P0 BRA wait; EXIT;");
  host_buffer(lab, 1);
  lab_launch(lab, 1, 1);
  SET_HOST(lab, {.kind = HOST_DELAY, .cycles = 5000}, {.kind = HOST_WRITE, .value = 3});
  lab_finish(lab);
  ck_assert_uint_ge(lab->gpu->end_cycle, 7000); /* and its load takes the latency, too */
  ck_assert_uint_le(lab->gpu->end_cycle, 9000);
  ck_assert_uint_eq(change_log_get(&backing_buffer(lab->backing, 0)->changes, 0).cycle, 6000);
  ck_assert(thread_is_host(change_log_get(&backing_buffer(lab->backing, 0)->changes, 0).thread));
}
END_TEST

START_TEST(the_host_sees_a_store_at_a_poll_after_the_latency) {
  g_autoptr(Lab) lab = lab_new(HOST "sm.latency.alu=18", "MOV R0, c[0x0][0x20]; MOV32I R1, 0x5; ST [R0], R1; EXIT;");
  host_buffer(lab, 2);
  lab_launch(lab, 1, 1);
  SET_HOST(lab, {.kind = HOST_POLL, .compare = HOST_EQ, .value = 5}, {.kind = HOST_WRITE, .index = 1, .value = 9});
  lab_finish(lab);
  uint64_t stored = lab_cycle(lab, 0, 2, 0), looked = (stored + 1000 + 99) / 100 * 100;
  ck_assert_uint_eq(change_log_get(&backing_buffer(lab->backing, 0)->changes, 1).cycle, looked + 1 + 1000);
}
END_TEST

/* Stores that cross: the GPU's arrives later at the host and stays, on both sides. */
START_TEST(both_sides_end_with_one_value) {
  Rng rng;
  rng_seed(&rng, 3, (uint64_t)_i);
  HostStep steps[25] = {[24] = {.kind = HOST_WAIT}}; /* then everything has arrived */
  for (unsigned i = 0; i < 24; i += 2) {
    steps[i] = (HostStep){.kind = HOST_DELAY, .cycles = 1 + rng_below(&rng, 700)};
    steps[i + 1] = (HostStep){.kind = i % 4 ? HOST_WRITE : HOST_ADD, .index = rng_below(&rng, 2), .value = 1000 + i};
  }
  g_autofree char *text = g_strdup_printf(
      "MOV R0, c[0x0][0x20]; MOV32I R1, 0x10;\n"
      "again: ST [R0], R1; MOV32I R5, 0x%x; late: IADD R5, R5, -0x1; ISETP.GT.AND P0, pt, R5, RZ, pt; @P0 BRA late;\n"
      "RED.ADD [R0+0x4], R1; IADD R1, R1, -0x1; ISETP.GT.AND P0, pt, R1, RZ, pt; @P0 BRA again; EXIT;",
      1 + rng_below(&rng, 20));
  g_autoptr(Lab) lab = lab_new(HOST, text);
  uint32_t *words = host_buffer(lab, 2);
  lab_launch(lab, 1, 1);
  set_host(lab, steps, 25);
  lab_finish(lab);
  for (unsigned i = 0; i < 2; i++)
    ck_assert_msg(words[i] == lab->gpu->host->view[0][i], "seed %d: word %u is %u, the host's %u", _i, i, words[i],
                  lab->gpu->host->view[0][i]);
}
END_TEST

/* Atomics of both sides never lose an update; a read and a later write do. */
START_TEST(only_atomics_keep_all_updates) {
  static const HostStepKind kinds[] = {HOST_ADD, HOST_MODIFY};
  for (unsigned i = 0; i < 2; i++) {
    g_autoptr(Lab) lab = lab_new(HOST, "MOV R0, c[0x0][0x20]; MOV32I R1, 0x1; MOV32I R2, 0x40;\n"
                                       "again: ATOM.ADD R3, [R0], R1; IADD R2, R2, -0x1; "
                                       "ISETP.GT.AND P0, pt, R2, RZ, pt; MOV R4, R3; @P0 BRA again; EXIT;");
    uint32_t *counter = host_buffer(lab, 1);
    lab_launch(lab, 2, 32);
    SET_HOST(lab, {.kind = HOST_REPEAT, .count = 50, .body = 2}, {.kind = kinds[i], .value = 1, .cycles = 300},
             {.kind = HOST_DELAY, .cycles = 700});
    lab_finish(lab);
    ck_assert_uint_eq(*counter, lab->gpu->host->view[0][0]);
    ck_assert_msg((*counter == 2 * 32 * 64 + 50) == (kinds[i] == HOST_ADD), "kind %d: %u", kinds[i], *counter);
  }
}
END_TEST

/* ---- who waits for ever ---- */

#define WAIT_FOR(compare) /* the GPU waits for flag[0] to compare so with 3, then sets flag[1] */           \
  "MOV R0, c[0x0][0x20]; MOV32I R2, 0x1; wait: LD.CV R1, [R0]; ISETP." compare ".AND P0, pt, R1, 0x3, pt; " \
  "@!P0 BRA wait; ST [R0+0x4], R2; EXIT;"

START_TEST(a_slow_host_is_no_deadlock) {
  g_autoptr(Lab) lab = lab_new(HOST, WAIT_FOR("EQ"));
  host_buffer(lab, 2);
  lab_launch(lab, 1, 1);
  SET_HOST(lab, {.kind = HOST_DELAY, .cycles = 30000000}, {.kind = HOST_WRITE, .value = 3},
           {.kind = HOST_POLL, .index = 1, .compare = HOST_NE});
  EXPECT_VERDICT(lab, VERDICT_COMPLETED, "");
  ck_assert_uint_ge(lab->gpu->end_cycle, 30000000);
}
END_TEST

START_TEST(the_gpu_waits_for_a_value_the_host_never_writes) {
  g_autoptr(Lab) lab = lab_new(HOST, WAIT_FOR("EQ"));
  host_buffer(lab, 2);
  lab_launch(lab, 1, 1);
  SET_HOST(lab, {.kind = HOST_WRITE, .value = 2});
  EXPECT_VERDICT(lab, VERDICT_ORPHAN_WAIT, "the host has done all its steps");
}
END_TEST

START_TEST(both_wait_for_each_other) {
  g_autoptr(Lab) lab = lab_new(HOST, WAIT_FOR("EQ"));
  host_buffer(lab, 2);
  lab_launch(lab, 1, 1);
  SET_HOST(lab, {.kind = HOST_POLL, .index = 1, .compare = HOST_NE}, {.kind = HOST_WRITE, .value = 3});
  EXPECT_VERDICT(lab, VERDICT_LOCK_ORDER_DEADLOCK,
                 "the host, step 1 (poll flag[1]), polls flag[1] until it isn't 0, and sees 0");
}
END_TEST

START_TEST(each_is_named_where_it_would_act) {
  g_autoptr(Lab) lab = lab_new(HOST, WAIT_FOR("EQ"));
  host_buffer(lab, 2);
  lab_launch(lab, 1, 1);
  SET_HOST(lab, {.kind = HOST_WAIT}, {.kind = HOST_ADD, .value = 3});
  EXPECT_VERDICT(lab, VERDICT_LOCK_ORDER_DEADLOCK, "the host, step 2 (add flag[0]), would change it");
}
END_TEST

/* The host waits for what the thread would do, and the thread for what nobody does. */
START_TEST(the_host_waits_for_an_orphan) {
  g_autoptr(Lab) lab = lab_new(HOST, WAIT_FOR("EQ"));
  host_buffer(lab, 2);
  lab_launch(lab, 1, 1);
  SET_HOST(lab, {.kind = HOST_POLL, .index = 1, .compare = HOST_NE}, {.kind = HOST_WRITE, .index = 1});
  EXPECT_VERDICT(lab, VERDICT_ORPHAN_WAIT, "the host polls flag[1]");
}
END_TEST

/* Nobody sets the word that the host polls, and its write behind that is what the thread waits for. */
START_TEST(the_host_is_the_orphan) {
  g_autoptr(Lab) lab = lab_new(HOST, WAIT_FOR("EQ"));
  host_buffer(lab, 3);
  lab_launch(lab, 1, 1);
  SET_HOST(lab, {.kind = HOST_POLL, .index = 2, .compare = HOST_NE}, {.kind = HOST_WRITE, .value = 3});
  EXPECT_VERDICT(lab, VERDICT_ORPHAN_WAIT,
                 "step 1 (poll flag[2]), polls flag[2] until it isn't 0, and sees 0; nobody");
}
END_TEST

/* Adds that come once leave the word bounded, so that the hang is proved before the host ends: it never holds 3
 * unless 3 is added. */
START_TEST(an_add_of_the_host_comes_once) {
  for (uint32_t value = 1; value <= 3; value++) {
    g_autoptr(Lab) lab = lab_new(HOST, WAIT_FOR("EQ"));
    host_buffer(lab, 2);
    lab_launch(lab, 1, 1);
    SET_HOST(lab, {.kind = HOST_ADD, .value = value}, {.kind = HOST_DELAY, .cycles = 3000000},
             {.kind = HOST_ADD, .value = 0 - value}, {.kind = HOST_DELAY, .cycles = 30000000});
    if (value == 3)
      EXPECT_VERDICT(lab, VERDICT_COMPLETED, "");
    else
      EXPECT_VERDICT(lab, VERDICT_ORPHAN_WAIT, "");
    ck_assert_uint_le(lab->gpu->cycle, value == 3 ? UINT64_MAX : 20000000);
  }
}
END_TEST

START_TEST(the_host_waits_alone) {
  g_autoptr(Lab) lab = lab_new(HOST, "EXIT;");
  host_buffer(lab, 1);
  lab_launch(lab, 1, 1);
  SET_HOST(lab, {.kind = HOST_POLL, .compare = HOST_ODD});
  EXPECT_VERDICT(lab, VERDICT_ORPHAN_WAIT, "the host polls flag[0] until it is odd, and sees 0; no thread is left");
}
END_TEST

/* A kernel that only the host would start, behind a poll that nobody satisfies; and one that it does start. */
START_TEST(a_launch_behind_a_poll) {
  for (unsigned comes = 0; comes < 2; comes++) {
    g_autoptr(Lab) lab = lab_new(HOST, "MOV R0, c[0x0][0x20]; MOV32I R1, 0x1; ST [R0], R1; EXIT;");
    host_buffer(lab, 1);
    lab_launch(lab, 1, 1);
    lab_launch_grid(lab, 0, 1, 1, 0, 1);
    SET_HOST(lab, {.kind = HOST_POLL, .compare = comes ? HOST_EQ : HOST_LT, .value = comes},
             {.kind = HOST_LAUNCH, .launch = 1}, {.kind = HOST_WAIT, .launch = 1});
    if (comes)
      EXPECT_VERDICT(lab, VERDICT_COMPLETED, "");
    else
      EXPECT_VERDICT(lab, VERDICT_ORPHAN_WAIT, "the host polls flag[0]");
    ck_assert_uint_eq(gpu_launch(lab->gpu, 1)->finished_blocks, comes);
  }
}
END_TEST

/* A delay after the last kernel's end isn't taken for a hang. */
START_TEST(the_host_may_go_on_alone) {
  g_autoptr(Lab) lab = lab_new(HOST, "EXIT;");
  host_buffer(lab, 1);
  lab_launch(lab, 1, 1);
  SET_HOST(lab, {.kind = HOST_REPEAT, .count = 40000, .body = 1}, {.kind = HOST_DELAY, .cycles = 10},
           {.kind = HOST_WRITE, .value = 1});
  EXPECT_VERDICT(lab, VERDICT_COMPLETED, "");
}
END_TEST

/* ---- steps that are wrong ---- */

START_TEST(refuses_wrong_steps) {
  static const struct {
    HostStep steps[3];
    uint32_t count;
    const char *why;
  } cases[] = {
      {{{.kind = HOST_WRITE, .buffer = 7}}, 1, "buffer 7 of 2"},
      {{{.kind = HOST_WRITE, .buffer = 1}}, 1, "`buffer` isn't host-mapped"},
      {{{.kind = HOST_POLL, .index = 4}}, 1, "word 4 of `flag`, which has 4"},
      {{{.kind = HOST_LAUNCH, .launch = 2}}, 1, "launch 2 of 2"},
      {{{.kind = HOST_REPEAT, .count = 3, .body = 1}, {.kind = HOST_LAUNCH}}, 2, "launch 2 of 2"},
      {{{.kind = HOST_LAUNCH}, {.kind = HOST_LAUNCH}}, 2, "started twice"},
      {{{.kind = HOST_LEAVE}}, 1, "nothing is repeated"},
      {{{.kind = HOST_REPEAT, .count = 1, .body = 2}, {.kind = HOST_DELAY}}, 2, "more steps than follow"},
      {{{.kind = HOST_REPEAT, .count = 1, .body = 1},
        {.kind = HOST_REPEAT, .count = 1, .body = 1},
        {.kind = HOST_DELAY}},
       3,
       "more steps than follow"},
  };
  for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(Lab) lab = lab_new(HOST, "EXIT;");
    host_buffer(lab, 4);
    lab_buffer(lab, 4);
    lab_launch(lab, 1, 1);
    lab_launch(lab, 1, 1);
    g_autofree char *why = NULL;
    ck_assert_msg(!gpu_set_host(lab->gpu, cases[i].steps, cases[i].count, &why), "case %u", i);
    ck_assert_msg(strstr(why, cases[i].why) != NULL, "case %u: %s", i, why);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("host");
  TCase *tcase = tcase_create("host");
  tcase_add_loop_test(tcase, counts_with_a_persistent_kernel, 0, G_N_ELEMENTS(persistents));
  tcase_add_test(tcase, counts_with_a_kernel_a_step);
  tcase_add_test(tcase, the_gpu_sees_a_store_after_the_latency);
  tcase_add_test(tcase, the_host_sees_a_store_at_a_poll_after_the_latency);
  tcase_add_loop_test(tcase, both_sides_end_with_one_value, 0, 20);
  tcase_add_test(tcase, only_atomics_keep_all_updates);
  tcase_add_test(tcase, a_slow_host_is_no_deadlock);
  tcase_add_test(tcase, the_gpu_waits_for_a_value_the_host_never_writes);
  tcase_add_test(tcase, both_wait_for_each_other);
  tcase_add_test(tcase, each_is_named_where_it_would_act);
  tcase_add_test(tcase, the_host_waits_for_an_orphan);
  tcase_add_test(tcase, the_host_is_the_orphan);
  tcase_add_test(tcase, an_add_of_the_host_comes_once);
  tcase_add_test(tcase, the_host_waits_alone);
  tcase_add_test(tcase, a_launch_behind_a_poll);
  tcase_add_test(tcase, the_host_may_go_on_alone);
  tcase_add_test(tcase, refuses_wrong_steps);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
