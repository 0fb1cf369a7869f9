/* Who runs next at each branch, BSYNC, YIELD and EXIT: random kernels log the order in which lanes take their
 * steps, beside an H200's logs of the same machine code (validation/hardware/orders.py, orders.cu,
 * orders_h200.txt). The rules were read out of these logs. And lanes that take turns under locks of their own
 * (lane_turns.cu), by its clocks. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/core/gpu.h"
#include "sim/core/symbols.h"
#include "tests/unit/mc_lab.h"
#include "tests/unit/unit.h"

/* The words that a kernel is given, as in orders.cu: its counter, masks and counts at 8, ones at 128, counters at
 * 256, logs from 512 on. */
enum { WORDS = 4096, GIVEN = 8, GIVEN_COUNT = 16, ONES = 128, LOGS = 512, LOG_WORDS = 64, LANES = 32 };
enum { LOCKS_SAME_LEAST = 38, LOCKS_ALIKE_LEAST = 2733 };
enum { KERNELS = 48, CYCLES_MAX = 10000000, DIFFER_MAX = 67 };

static char **lines_of(const char *folder, const char *file) {
  g_autofree char *path = g_build_filename(g_getenv("SRCDIR"), folder, file, NULL), *text = NULL;
  ck_assert_msg(g_file_get_contents(path, &text, NULL, NULL), "%s can't be read", path);
  return g_strsplit(g_strchomp(text), "\n", -1);
}

/* An H200 of two SMs. */
static Machine *small_machine(void) {
  static const char *const overrides[] = {"gpu.sms=2", NULL};
  g_autoptr(Diag) diag = diag_new();
  Machine *machine = machine_load("h200", overrides, diag);
  ck_assert_ptr_nonnull(machine);
  return machine;
}

static const Kernel *find_kernel(const Program *program, unsigned number) {
  g_autofree char *name = g_strdup_printf("o_%u", number);
  for (guint i = 0; i < program->kernels->len; i++)
    if (strcmp(program_kernel(program, i)->name, name) == 0)
      return program_kernel(program, i);
  ck_abort_msg("no kernel %s", name);
}

/* Runs one line of masks.txt: a kernel, its threads, and the words that it is given. */
static void run(const Program *program, const Machine *machine, const char *line, uint32_t words[WORDS],
                unsigned *threads) {
  g_auto(GStrv) field = g_strsplit(line, " ", -1);
  ck_assert_uint_eq(g_strv_length(field), 2 + GIVEN_COUNT);
  *threads = (unsigned)g_ascii_strtoull(field[1], NULL, 10);
  memset(words, 0, WORDS * sizeof *words);
  memset(&words[LOGS], 0xff, LANES * LOG_WORDS * sizeof *words);
  for (unsigned i = 0; i < GIVEN_COUNT; i++)
    words[GIVEN + i] = (uint32_t)g_ascii_strtoull(field[2 + i], NULL, 10);
  for (unsigned lane = 0; lane < LANES; lane++)
    words[ONES + lane] = 1;
  Backing *backing = backing_new();
  guint buffer = backing_add(backing, "m", WORDS, words);
  uint64_t address = backing_buffer(backing, buffer)->base;
  Gpu *gpu = gpu_new(machine, backing, 1);
  LaunchConfig config = {.program = program,
                         .kernel = find_kernel(program, (unsigned)g_ascii_strtoull(field[0], NULL, 10)),
                         .grid = {1, 1, 1},
                         .block = {*threads, 1, 1},
                         .args = (const uint8_t *)&address,
                         .args_bytes = sizeof address};
  g_autofree char *why = NULL;
  ck_assert_msg(gpu_add_launch(gpu, &config, &why), "%s", why);
  ck_assert_msg(gpu_run(gpu, CYCLES_MAX, UINT64_MAX) == GPU_FINISHED, "o_%s with %s threads doesn't end", field[0],
                field[1]);
  memcpy(words, backing_buffer(backing, buffer)->data, WORDS * sizeof *words);
  gpu_free(gpu);
  backing_free(backing);
}

static char *log_of(const uint32_t words[WORDS], unsigned threads) {
  GString *text = g_string_new(NULL);
  for (unsigned lane = 0; lane < threads; lane++) {
    const uint32_t *log = &words[LOGS + lane * LOG_WORDS];
    for (unsigned i = 0; i < LOG_WORDS && log[i] != UINT32_MAX; i++)
      g_string_append_printf(text, "%u ", log[i]);
    g_string_append(text, lane + 1 < threads ? "| " : "");
  }
  return g_string_free(text, FALSE);
}

/* Whether the kernel gives way in a loop. */
static bool yields(const Program *program, const char *line) {
  const Kernel *kernel = find_kernel(program, (unsigned)g_ascii_strtoull(line, NULL, 10));
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
    if (kernel->insts[pc].op == OP_YIELD)
      return true;
  return false;
}

START_TEST(steps_as_the_gpu) {
  Machine *machine = small_machine();
  Program *program = mc_lab_cubin("tests/divergent/orders", "kernels.sm_90.cubin", NULL);
  g_auto(GStrv) masks = lines_of("tests/divergent/orders", "masks.txt");
  g_auto(GStrv) logs = lines_of("validation/hardware", "orders_h200.txt");
  unsigned differ = 0, differ_without = 0, without = 0;
  ck_assert_uint_eq(g_strv_length(masks), g_strv_length(logs));
  for (unsigned i = 0; masks[i]; i++) {
    uint32_t words[WORDS];
    unsigned threads;
    run(program, machine, masks[i], words, &threads);
    g_autofree char *log = log_of(words, threads);
    bool differs = strcmp(g_strchomp(log), g_strchomp(logs[i])) != 0;
    differ += differs;
    without += !yields(program, masks[i]);
    differ_without += differs && !yields(program, masks[i]);
  }
  ck_assert_uint_gt(without, 300);
  ck_assert_msg(differ_without == 0, "%u logs of kernels without YIELD differ from the H200's", differ_without);
  ck_assert_msg(differ <= DIFFER_MAX, "%u logs differ from the H200's, not %d", differ, DIFFER_MAX);
  program_free(program);
  machine_free(machine);
}
END_TEST

enum { ROUNDS = 2, CLOCKS = ROUNDS * LANES * 3, DATA = 64 * LANES };

/* The clocks of lane_turns.cu: begin, has and end of each lane's turn in each round. */
static void run_turns(const Machine *machine, uint32_t clocks[CLOCKS]) {
  enum { LOCKS_ARG, ROUNDS_ARG, CLOCKS_ARG, DATA_ARG, ARGS };
  Program *program = mc_lab_cubin("validation/hardware", "lane_turns.sm_90.cubin", NULL);
  Backing *backing = backing_new();
  uint64_t args[ARGS] = {[ROUNDS_ARG] = ROUNDS};
  guint locks = backing_add(backing, "locks", DATA, NULL), told = backing_add(backing, "clocks", CLOCKS, NULL),
        data = backing_add(backing, "data", DATA, NULL);
  args[LOCKS_ARG] = backing_buffer(backing, locks)->base;
  args[CLOCKS_ARG] = backing_buffer(backing, told)->base;
  args[DATA_ARG] = backing_buffer(backing, data)->base;
  Gpu *gpu = gpu_new(machine, backing, 8); /* a seed that has the locks at home in the SM's half */
  LaunchConfig config = {.program = program,
                         .kernel = program_kernel(program, 0),
                         .grid = {1, 1, 1},
                         .block = {LANES, 1, 1},
                         .args = (const uint8_t *)args,
                         .args_bytes = sizeof args};
  for (int launch = 0; launch < 2; launch++) { /* the first one warms the caches */
    g_autofree char *why = NULL;
    ck_assert_msg(gpu_add_launch(gpu, &config, &why), "%s", why);
  }
  ck_assert(gpu_run(gpu, CYCLES_MAX, UINT64_MAX) == GPU_FINISHED);
  memcpy(clocks, backing_buffer(backing, told)->data, CLOCKS * sizeof *clocks);
  gpu_free(gpu);
  backing_free(backing);
  program_free(program);
}

/* Two lanes have their locks at once, then the next two; and each turn begins within an eighth of the H200's
 * clock. */
START_TEST(turns_of_two) {
  Machine *machine = small_machine();
  uint32_t clocks[CLOCKS];
  run_turns(machine, clocks);
  g_auto(GStrv) rows = lines_of("validation/hardware", "lane_turns_h200.csv");
  ck_assert_uint_eq(g_strv_length(rows), 2 + ROUNDS * LANES);
  for (unsigned i = 0; i < ROUNDS * LANES; i++) {
    g_auto(GStrv) field = g_strsplit(rows[2 + i], ",", -1);
    uint32_t begin = clocks[3 * i] - clocks[0], want = (uint32_t)g_ascii_strtoull(field[2], NULL, 10);
    ck_assert_msg(clocks[3 * i + 1] == clocks[3 * (i & ~1u) + 1], "turn %u isn't with its neighbour", i);
    ck_assert_msg(ABS((int)begin - (int)want) <= (int)want / 8 + 20, "turn %u begins at %u, on the H200 at %u", i,
                  begin, want);
  }
  machine_free(machine);
}
END_TEST

/* ---- locks that lanes of a warp share (lane_locks.cu) ---- */

enum { LOCK_ROUNDS = 4, LOCK_WORDS = 256 * 8, TAKEN = LANES * LOCK_ROUNDS };

/* Runs a kernel of lane_locks.cu and returns the groups of lanes that had their locks at once, as it prints them but
 * for the clocks: "0.0 1.0" and so on; of `*time`, the last clock. */
static GPtrArray *run_locks(const Program *program, const Machine *machine, const char *kernel, uint32_t count,
                            uint32_t seed, uint32_t *time) {
  Backing *backing = backing_new();
  uint64_t args[4] = {[3] = (uint64_t)seed << 32 | count};
  static const uint32_t words[] = {LOCK_WORDS, LOCK_WORDS, TAKEN};
  guint log = 0;
  for (unsigned i = 0; i < G_N_ELEMENTS(words); i++) {
    log = backing_add(backing, "words", words[i], NULL);
    args[i] = backing_buffer(backing, log)->base;
  }
  Gpu *gpu = gpu_new(machine, backing, 8); /* as above */
  const Kernel *found = NULL;
  for (guint i = 0; i < program->kernels->len; i++)
    found = strcmp(program_kernel(program, i)->name, kernel) == 0 ? program_kernel(program, i) : found;
  LaunchConfig config = {.program = program,
                         .kernel = found,
                         .grid = {1, 1, 1},
                         .block = {LANES, 1, 1},
                         .args = (const uint8_t *)args,
                         .args_bytes = sizeof args};
  g_autofree char *why = NULL;
  ck_assert_msg(gpu_add_launch(gpu, &config, &why), "%s", why);
  ck_assert(gpu_run(gpu, CYCLES_MAX, UINT64_MAX) == GPU_FINISHED);
  const uint32_t *taken = backing_buffer(backing, log)->data;
  GPtrArray *groups = g_ptr_array_new_with_free_func(g_free);
  for (uint32_t last = 0, next; (next = UINT32_MAX) == UINT32_MAX; last = next) {
    g_autoptr(GString) group = g_string_new(NULL);
    for (unsigned i = 0; i < TAKEN; i++)
      next = taken[i] > last ? MIN(next, taken[i]) : next;
    if (next == UINT32_MAX)
      break;
    for (unsigned i = 0; i < TAKEN; i++)
      if (taken[i] == next)
        g_string_append_printf(group, "%s%u.%u", group->len ? " " : "", i / LOCK_ROUNDS, i % LOCK_ROUNDS);
    g_ptr_array_add(groups, g_strdup(group->str));
    *time = next;
  }
  gpu_free(gpu);
  backing_free(backing);
  return groups;
}

typedef struct Likeness {
  unsigned logs, same, groups, ours, begun_alike; /* groups from the first one on, until one differs */
  double time, ours_time;
} Likeness;

static void compare_log(const Program *program, const Machine *machine, const char *line, Likeness *all) {
  g_auto(GStrv) field = g_strsplit(line, " | ", -1);
  char kernel[16];
  uint32_t count, seed, ours = 0, theirs = 0;
  ck_assert_int_eq(sscanf(field[0], "%15s %" SCNu32 " %" SCNu32, kernel, &count, &seed), 3);
  g_autoptr(GPtrArray) groups = run_locks(program, machine, kernel, count, seed, &ours);
  unsigned number = g_strv_length(field) - 1, alike = 0;
  while (alike < MIN(number, groups->len) &&
         strcmp(strchr(field[1 + alike], ' ') + 1, g_ptr_array_index(groups, alike)) == 0)
    alike++;
  theirs = (uint32_t)g_ascii_strtoull(field[number], NULL, 10);
  all->logs++;
  all->same += alike == number && number == groups->len;
  all->groups += number;
  all->ours += groups->len;
  all->begun_alike += alike;
  all->time += theirs;
  all->ours_time += ours;
}

/* Lanes that meet behind their locks go as on the H200 to the last group. Of others nearly as many go together, for
 * nearly as long, but from some step on other ones. The times of locks in shared memory set
 * sm.encoded.yielded_beside. */
START_TEST(locks_of_lanes) {
  Machine *machine = small_machine();
  Program *program = mc_lab_cubin("validation/hardware", "lane_locks.sm_90.cubin", NULL);
  g_auto(GStrv) rows = lines_of("validation/hardware", "lane_locks_h200.txt");
  Likeness meeting = {0}, shared = {0}, others = {0};
  for (unsigned i = 0; rows[i]; i++)
    if (*rows[i] != '#')
      compare_log(program, machine, rows[i],
                  g_str_has_prefix(rows[i], "together_shared") ? &shared
                  : g_str_has_prefix(rows[i], "together")      ? &meeting
                                                               : &others);
  printf("# %u, %u and %u of %u, %u and %u logs as the H200's; %u groups of the last for its %u, %u of them before "
         "another one; %.2f, %.2f and %.2f of its time\n",
         meeting.same, shared.same, others.same, meeting.logs, shared.logs, others.logs, others.ours, others.groups,
         others.begun_alike, meeting.ours_time / meeting.time, shared.ours_time / shared.time,
         others.ours_time / others.time);
  ck_assert_uint_eq(meeting.same, meeting.logs);
  ck_assert_uint_eq(shared.same, shared.logs);
  ck_assert_double_lt(ABS(shared.ours_time / shared.time - 1), 0.04);
  ck_assert_uint_ge(others.same, LOCKS_SAME_LEAST);
  ck_assert_uint_ge(others.begun_alike, LOCKS_ALIKE_LEAST);
  ck_assert_double_lt(ABS((double)others.ours / others.groups - 1), 0.1);
  ck_assert_double_lt(ABS(others.ours_time / others.time - 1), 0.15);
  program_free(program);
  machine_free(machine);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("orders");
  TCase *tcase = tcase_create("orders");
  tcase_add_test(tcase, steps_as_the_gpu);
  tcase_add_test(tcase, turns_of_two);
  tcase_add_test(tcase, locks_of_lanes);
  tcase_set_timeout(tcase, 30);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
