/* Clusters of blocks: where they go, when they meet, what they do to each other's shared memory and how long it
 * takes, and which launches are refused. */
#include <string.h>

#include "sim/core/cluster.h"
#include "sim/core/look.h"
#include "sim/core/remote.h"
#include "sim/machine/machine.h"
#include "sim/scenario/scenario.h"
#include "sim/study/simulation.h"
#include "tests/unit/unit.h"

enum { WORDS = 512 };

#define HEAD ".version 8.5\n.target sm_90\n.address_size 64\n.shared .align 8 .b32 word[64];\n"
#define OPEN                                                                                     \
  ".visible .entry k(.param .u64 out) {\n.reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %l<8>;\n" \
  "ld.param.u64 %l1, [out]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mov.u32 %r3, %cluster_ctarank;\n"
#define CLOSE "\nDONE: ret; }\n"
/* The out word of the block: [%l2]. */
#define OUT "mul.wide.u32 %l2, %r1, 4; add.s64 %l2, %l1, %l2;\n"
#define MEET "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"

typedef struct Run {
  Machine *machine;
  Scenario *scenario;
  Simulation simulation;
  RunOptions options;
  Diag *diag;
  bool good;
} Run;

/* A launch of `body` with those blocks and threads, on an h200 with such settings (NULL-terminated, or NULL). */
static void begin(Run *run, const char *body, const char *grid, const char *block, const char *cluster,
                  const char *const *settings) {
  static const char *const buffers[] = {"out=512", NULL}, *const args[] = {"out", NULL};
  g_autofree char *text = g_strconcat(HEAD OPEN, body, CLOSE, NULL);
  ScenarioOptions options = {
      .kernel = "k", .grid = grid, .block = block, .cluster = cluster, .buffers = buffers, .args = args};
  *run = (Run){.diag = diag_new(), .options = {.seed = 1}};
  run->machine = machine_load("h200", settings, run->diag);
  ck_assert_ptr_nonnull(run->machine);
  run->scenario = scenario_parse("k.ptx", text, strlen(text), &options, run->diag);
  g_autofree char *messages = diag_render(run->diag);
  ck_assert_msg(run->scenario != NULL, "%s", messages);
  run->good = simulation_init(&run->simulation, run->scenario, run->machine, &run->options, 1, run->diag);
}

static void end(Run *run) {
  simulation_clear(&run->simulation);
  scenario_free(run->scenario);
  machine_free(run->machine);
  diag_free(run->diag);
}

static void finish(Run *run) {
  g_autofree char *messages = diag_render(run->diag);
  ck_assert_msg(run->good, "%s", messages);
  GpuStop stop = gpu_run(run->simulation.gpu, UINT64_MAX, 1000000);
  ck_assert_msg(stop == GPU_FINISHED, "stop %d: %s", stop, run->simulation.gpu->fault.message);
}

static uint32_t out(const Run *run, uint32_t word) {
  return look_words(run->simulation.gpu, run->simulation.buffers[0]).words[word];
}

/* ---- places ---- */

/* All blocks of a cluster run in one GPC, each on an SM of its own as long as there is room. */
START_TEST(blocks_of_a_cluster_share_a_gpc) {
  static const char *const orders[] = {"forward", "reverse", "random"};
  for (unsigned i = 0; i < G_N_ELEMENTS(orders); i++) {
    g_autofree char *order = g_strdup_printf("grid.dispatch_order=%s", orders[i]);
    const char *const settings[] = {order, NULL};
    Run run;
    begin(&run, OUT "mov.u32 %r4, %smid; st.global.u32 [%l2], %r4;", "64", "32", "8", settings);
    finish(&run);
    for (uint32_t cluster = 0; cluster < 8; cluster++) {
      uint32_t gpc = memsys_gpc(run.simulation.gpu->memsys, out(&run, 8 * cluster));
      for (uint32_t rank = 1; rank < 8; rank++) {
        ck_assert_uint_eq(memsys_gpc(run.simulation.gpu->memsys, out(&run, 8 * cluster + rank)), gpc);
        for (uint32_t before = 0; before < rank; before++)
          ck_assert_uint_ne(out(&run, 8 * cluster + rank), out(&run, 8 * cluster + before));
      }
    }
    ck_assert_uint_eq(run.simulation.gpu->clusters->len, 0); /* all are gone */
    end(&run);
  }
}
END_TEST

/* Where blocks fill an SM, clusters come one behind another, and several blocks lie on one SM. */
START_TEST(clusters_wait_for_room) {
  static const char *const settings[] = {"gpu.sms=4", "memory.crossbar.clusters=2", NULL};
  Run run;
  begin(&run,
        OUT MEET "mov.u32 %r4, word; mapa.shared::cluster.u32 %r5, %r4, 0;\n"
                 "red.shared::cluster.add.u32 [%r5], 1;\n" MEET
                 "ld.shared::cluster.u32 %r6, [%r5]; st.global.u32 [%l2], %r6;\n" MEET,
        "64", "1024", "4", settings);
  finish(&run);
  for (uint32_t block = 0; block < 64; block++)
    ck_assert_uint_eq(out(&run, block), 4096);
  end(&run);
}
END_TEST

START_TEST(numbers_go_there_and_back) {
  Launch launch = {.grid = {6, 4, 2}, .cluster = {3, 2, 1}, .cluster_blocks = 6, .blocks = 48};
  for (uint64_t cluster = 0; cluster < 8; cluster++)
    for (uint32_t rank = 0; rank < 6; rank++) {
      uint64_t block = cluster_block(&launch, cluster, rank);
      const uint32_t ctaid[3] = {(uint32_t)(block % 6), (uint32_t)(block / 6 % 4), (uint32_t)(block / 24)};
      ck_assert_uint_lt(block, 48);
      ck_assert_uint_eq(cluster_of_block(&launch, block), cluster);
      ck_assert_uint_eq(cluster_rank(&launch, ctaid), rank);
    }
  ck_assert_uint_eq(cluster_block(&launch, 3, 4),
                    4 + 6 * 3); /* the second cluster of the second row: x 3 to 5, y 2 and 3 */
}
END_TEST

/* ---- times ---- */

/* From one clock to the next, with `what` between them, in the block of rank 1; the second clock waits for %r6. */
static uint32_t cycles_of(const char *what, const char *const *settings) {
  Run run;
  g_autofree char *body =
      g_strconcat(OUT "mov.u32 %r4, word; mapa.shared::cluster.u32 %r5, %r4, 0; mov.u32 %r6, 0;\n" MEET
                      "setp.ne.u32 %p1, %r3, 1; @%p1 bra LAST;\nmov.u32 %r7, %clock;\n",
                  what,
                  "and.b32 %r6, %r6, 0; mov.u32 %r8, %clock; add.u32 %r8, %r8, %r6; sub.u32 %r8, %r8, %r7;\n"
                  "st.global.u32 [%l2], %r8;\nLAST:\n" MEET,
                  NULL);
  begin(&run, body, "2", "1", "2", settings);
  finish(&run);
  uint32_t cycles = out(&run, 1);
  end(&run);
  return cycles;
}

/* A chain of loads takes sm.cluster.latency each, whatever else there is around it. */
START_TEST(loads_take_their_latency) {
  for (unsigned latency = 100; latency <= 300; latency += 100) {
    g_autofree char *setting = g_strdup_printf("sm.cluster.latency=%u", latency);
    const char *const settings[] = {setting, "sm.jitter_cycles=0", "sm.cluster.line_interval=0", NULL};
    static const char one[] = "ld.shared::cluster.u32 %r6, [%r5]; add.u32 %r5, %r5, %r6;\n",
                      two[] = "ld.shared::cluster.u32 %r6, [%r5]; add.u32 %r5, %r5, %r6;\n"
                              "ld.shared::cluster.u32 %r6, [%r5]; add.u32 %r5, %r5, %r6;\n",
                      three[] = "ld.shared::cluster.u32 %r6, [%r5]; add.u32 %r5, %r5, %r6;\n"
                                "ld.shared::cluster.u32 %r6, [%r5]; add.u32 %r5, %r5, %r6;\n"
                                "ld.shared::cluster.u32 %r6, [%r5]; add.u32 %r5, %r5, %r6;\n";
    uint32_t first = cycles_of(one, settings), second = cycles_of(two, settings), third = cycles_of(three, settings);
    ck_assert_uint_eq(third - second, second - first);
    ck_assert_uint_ge(third - second, latency);
    ck_assert_uint_le(third - second, latency + 12); /* the addition, and its issue */
  }
}
END_TEST

/* Bytes of a copy in bulk go on to the other block by half of what its latency has beyond that of shared memory. */
START_TEST(copies_in_bulk_go_on) {
  uint32_t cycles[2];
  for (unsigned i = 0; i < 2; i++) {
    g_autofree char *setting = g_strdup_printf("sm.cluster.latency=%u", 100 + 200 * i);
    const char *const settings[] = {setting, "sm.jitter_cycles=0", "sm.cluster.line_interval=0", NULL};
    Run run;
    begin(&run,
          OUT "mov.u32 %r4, word; mbarrier.init.shared::cta.b64 [%r4], 1;\n"
              "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 128;\n" MEET "mov.u32 %r7, %clock;\n"
              "xor.b32 %r6, %r3, 1; mapa.shared::cluster.u32 %r5, %r4, %r6; add.u32 %r9, %r5, 16;\n"
              "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r9], [%l1], 128, [%r5];\n"
              "AGAIN: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r4], 0;\n@!%p1 bra AGAIN;\n"
              "mov.u32 %r8, %clock; sub.u32 %r8, %r8, %r7; st.global.u32 [%l2], %r8;\n" MEET,
          "2", "1", "2", settings);
    finish(&run);
    cycles[i] = out(&run, 0);
    end(&run);
  }
  ck_assert_uint_ge(cycles[1] - cycles[0], 100 - 10);
  ck_assert_uint_le(cycles[1] - cycles[0], 100 + 10);
}
END_TEST

/* A launch ends with its last copy, although all threads have exited by then. */
START_TEST(copies_outlive_their_blocks) {
  Run run;
  begin(&run,
        "mov.u32 %r4, word; mbarrier.init.shared::cta.b64 [%r4], 1; xor.b32 %r6, %r3, 1;\n"
        "mapa.shared::cluster.u32 %r5, %r4, %r6; add.u32 %r9, %r5, 16;\n" MEET
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r9], [%l1], 128, [%r5];",
        "4", "1", "2", NULL);
  finish(&run);
  ck_assert_uint_eq(run.simulation.gpu->clusters->len, 0);
  end(&run);
}
END_TEST

/* Whoever waits goes on sm.cluster.barrier_latency after the last has arrived: of blocks of one warp, all of which
 * have arrived when they come to the wait, and of more. */
START_TEST(the_barrier_takes_its_latency) {
  static const char *const threads[] = {"32", "128"};
  uint32_t cycles[2];
  for (unsigned i = 0; i < 2; i++) {
    g_autofree char *setting = g_strdup_printf("sm.cluster.barrier_latency=%u", 100 + 150 * i);
    const char *const settings[] = {setting, "sm.jitter_cycles=0", NULL};
    Run run;
    begin(&run,
          OUT MEET "mov.u32 %r7, %clock;\n" MEET MEET "mov.u32 %r8, %clock; sub.u32 %r8, %r8, %r7;\n"
                   "st.global.u32 [%l2], %r8;",
          "8", threads[_i], "8", settings);
    finish(&run);
    cycles[i] = out(&run, 3);
    end(&run);
  }
  ck_assert_uint_eq(cycles[1] - cycles[0], 2 * 150);
}
END_TEST

/* ---- what goes wrong ---- */

static const struct {
  const char *grid, *cluster, *settings, *message;
} refusals[] = {
    {"6", "4", NULL, "the grid has 6 blocks in x, which isn't a multiple of the cluster's 4"},
    {"4,3", "2,2", NULL, "the grid has 3 blocks in y, which isn't a multiple of the cluster's 2"},
    {"16", "16", NULL, "the launch has clusters of 16 blocks, h200 can have 8 (sm.cluster.blocks); larger ones"},
    {"64", "64", NULL, "the launch has clusters of 64 blocks, h200 can have 8 (sm.cluster.blocks)"},
    {"4", "4", "sm.cluster.blocks=2", "the launch has clusters of 4 blocks, h200 can have 2"},
    {"4", "4", "sm.cluster.blocks=1", "h200 has no clusters (sm.cluster.blocks is 1); sm_90 has them"},
    {"4", "4", "sm.convergence=simt-stack", "clusters of several blocks need convergence barriers"},
    {"8", "8", "gpu.sms=3", "a cluster has 8 blocks, and a GPC of h200 holds at most 4 of them: 2 on each of 2 SMs"},
};

START_TEST(refuses_launches) {
  const char *const settings[] = {refusals[_i].settings, NULL};
  Run run;
  begin(&run, "", refusals[_i].grid, "1024", refusals[_i].cluster, settings);
  g_autofree char *messages = diag_render(run.diag);
  ck_assert(!run.good);
  ck_assert_msg(strstr(messages, refusals[_i].message) != NULL, "%s", messages);
  end(&run);
}
END_TEST

static const struct {
  const char *body, *message;
} faults[] = {
    {"barrier.cluster.arrive; barrier.cluster.arrive;", "a second arrival at the barrier of the cluster"},
    {"barrier.cluster.wait;", "a wait at the barrier of the cluster by a thread that hasn't arrived there"},
    {"mov.u32 %r4, word; mapa.shared::cluster.u32 %r5, %r4, 2; ld.shared::cluster.u32 %r6, [%r5];"
     "st.global.u32 [%l1], %r6;",
     "access to shared memory of block rank 2 of a cluster of 2 blocks"},
    {"mov.u32 %r4, word; mapa.shared::cluster.u32 %r5, %r4, 1; st.shared::cluster.u32 [%r5+256], 1;" MEET,
     "access to shared address 0x100"},
    {"mov.u32 %r4, word; xor.b32 %r6, %r3, 1; mapa.shared::cluster.u32 %r5, %r4, %r6;"
     "st.shared::cluster.u32 [%r5+256], 1;" MEET,
     "beyond its 256 bytes"},
    {"mov.u32 %r4, word; xor.b32 %r6, %r3, 1; mapa.shared::cluster.u32 %r5, %r4, %r6;"
     "st.shared::cluster.u32 [%r5+2], 1;" MEET,
     "misaligned 4-byte access to shared address 0x2 of block rank"},
    {"mov.u32 %r4, word; xor.b32 %r6, %r3, 1; mapa.shared::cluster.u32 %r5, %r4, %r6;"
     "st.shared.u32 [%r5], 1;" MEET,
     "beyond the block's 256 bytes"},
    {"mov.u32 %r4, word; xor.b32 %r6, %r3, 1; mapa.shared::cluster.u32 %r5, %r4, %r6;"
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], [%l1], 16, [%r4];",
     "copy in bulk to one block's shared memory, with an mbarrier in another one's"},
    {"mov.u32 %r4, word; mapa.shared::cluster.u32 %r5, %r4, 2;"
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], [%l1], 16, [%r5];",
     "copy in bulk to shared memory of a block that the cluster doesn't have"},
    {"mov.u32 %r4, word; xor.b32 %r6, %r3, 1; mapa.shared::cluster.u32 %r5, %r4, %r6;"
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], [%l1], 512, [%r5];",
     "beyond the block's 256 bytes"},
    {"mov.u32 %r4, word; xor.b32 %r6, %r3, 1; mapa.shared::cluster.u32 %r5, %r4, %r6;"
     "cp.async.bulk.global.shared::cta.bulk_group [%l1], [%r5], 16;",
     "copy in bulk out of another block's shared memory"},
};

START_TEST(faults_have_names) {
  Run run;
  begin(&run, faults[_i].body, "2", "1", "2", NULL);
  g_autofree char *messages = diag_render(run.diag);
  ck_assert_msg(run.good, "%s", messages);
  GpuStop stop = gpu_run(run.simulation.gpu, UINT64_MAX, 1000000);
  ck_assert_int_eq(stop, GPU_FAULT);
  const char *message = run.simulation.gpu->fault.message;
  ck_assert_msg(strstr(message, faults[_i].message) != NULL, "%s", message);
  end(&run);
}
END_TEST

static Suite *make_suite(void) {
  Suite *suite = suite_create("cluster");
  TCase *places = tcase_create("places");
  tcase_add_test(places, blocks_of_a_cluster_share_a_gpc);
  tcase_add_test(places, clusters_wait_for_room);
  tcase_add_test(places, numbers_go_there_and_back);
  suite_add_tcase(suite, places);
  TCase *times = tcase_create("times");
  tcase_add_test(times, loads_take_their_latency);
  tcase_add_test(times, copies_in_bulk_go_on);
  tcase_add_test(times, copies_outlive_their_blocks);
  tcase_add_loop_test(times, the_barrier_takes_its_latency, 0, 2);
  suite_add_tcase(suite, times);
  TCase *wrong = tcase_create("wrong");
  tcase_add_loop_test(wrong, refuses_launches, 0, G_N_ELEMENTS(refusals));
  tcase_add_loop_test(wrong, faults_have_names, 0, G_N_ELEMENTS(faults));
  suite_add_tcase(suite, wrong);
  return suite;
}

int main(void) { return unit_run(make_suite()); }
