/* Speed of the simulator: warp instructions a second of processor time, host instructions for each, start-up time,
 * peak memory.
 * Usage: bench PROGRAMS-FOLDER LOCKSTEP [VALGRIND]. Each program runs in a process of its own, so that its peak
 * memory is its own. A time is the best of RUNS runs, of the processor and not of the clock on the wall, since other
 * work on the machine can only slow one down. Rows are so long that the first touch of memory counts little. Host
 * instructions are counted by valgrind, and come out the same on a busy machine. Threads are compared by the clock on
 * the wall, so these rows want a machine with two idle processors.
 * `bench --one PROGRAMS-FOLDER INDEX ROUNDS` runs one program: that is what valgrind counts. `bench --team
 * PROGRAMS-FOLDER LOCKSTEP` compares threads only. */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sim/study/check.h"

enum { RUNS = 5, STARTS = 20, FEWER = 20 };

typedef struct Row {
  const char *file, *machine, *what;
  const char *params; /* besides `rounds`, or NULL */
  unsigned rounds;
  double target; /* million warp instructions a second, 0: none */
  bool checks;   /* all schedules of `check`, for the instructions of one */
} Row;

static const Row rows[] = {
    {"alu_loop.yaml", "gtx570", "ALU loop, 16 blocks of 512", NULL, 3000, 10, false},
    {"alu_loop_ptx.yaml", "gtx570", "  in PTX", NULL, 3000, 10, false},
    {"alu_loop_ptx.yaml", "h200", "  in PTX, H200: 16 busy SMs", NULL, 3000, 10, false},
    {"alu_loop_ptx.yaml", "h200", "  in PTX, H200: 1 busy SM", "blocks=1", 40000, 10, false},
    {"alu_loop_ptx.yaml", "h200", "  in PTX, H200: 132 busy SMs", "blocks=132", 2000, 10, false},
    {"alu_loop_ptx.yaml", "h200", "  in PTX, H200: 3000 blocks, most of which wait", "blocks=3000", 20, 10, false},
    {"shared_loop.yaml", "gtx570", "shared-memory loop with barriers, 16 blocks of 512", NULL, 2400, 10, false},
    {"shared_loop_ptx.yaml", "gtx570", "  in PTX", NULL, 2400, 10, false},
    {"shared_loop_ptx.yaml", "h200", "  in PTX, H200: 16 busy SMs", NULL, 2400, 10, false},
    {"shared_loop_ptx.yaml", "h200", "  in PTX, H200: check", NULL, 100, 0, true},
    {"shared_loop_ptx.yaml", "h200", "  in PTX, H200: 1 busy SM", "blocks=1", 40000, 10, false},
    {"shared_loop_ptx.yaml", "h200", "  in PTX, H200: 132 busy SMs", "blocks=132", 1500, 10, false},
    {"contended_atomic.yaml", "gtx570", "Listing 1, 16 warps on one word", NULL, 64, 2, false},
    {"contended_atomic_ptx.yaml", "gtx1080ti", "atomicCAS lock in PTX, 16 warps on one word", NULL, 4, 2, false},
    {"contended_atomic_ptx.yaml", "h200", "  H200", NULL, 4, 2, false},
    {"contended_atomic_ptx.yaml", "h200", "  H200: check", NULL, 1, 0, true},
    {"spinning_warps.yaml", "gtx570", "16 warps spin on a lock bit", NULL, 150000, 2, false},
    {"spinning_warps_ptx.yaml", "gtx1080ti", "16 warps spin on a volatile word in PTX", NULL, 150000, 2, false},
    {"spinning_warps_ptx.yaml", "h200", "  H200", NULL, 150000, 2, false},
    {"code_alu_ptx.yaml", "h200", "one source, ALU loop, 16 busy SMs of an H200: PTX", NULL, 3000, 10, false},
    {"code_alu_sass.yaml", "h200", "  machine code", NULL, 4000, 10, false},
    {"code_alu_sass.yaml", "h200", "  machine code: check", NULL, 200, 0, true},
    {"code_shared_ptx.yaml", "h200", "  shared-memory loop with barriers: PTX", NULL, 2400, 10, false},
    {"code_shared_sass.yaml", "h200", "  machine code", NULL, 3000, 10, false},
    {"code_shared_sass.yaml", "h200", "  machine code: check", NULL, 100, 0, true},
    {"code_atomics_ptx.yaml", "h200", "  atomicCAS lock, 16 warps on one word: PTX", NULL, 4, 2, false},
    {"code_atomics_sass.yaml", "h200", "  machine code", NULL, 4, 2, false},
    {"code_spinning_ptx.yaml", "h200", "  16 warps spin on a volatile word: PTX", NULL, 100000, 2, false},
    {"code_spinning_sass.yaml", "h200", "  machine code", NULL, 200000, 2, false},
    {"one_word.yaml", "h200", "atomicAdd on one word, 32 blocks of 256, H200", NULL, 2000, 2, false},
    {"one_word.yaml", "h200", "  check", NULL, 20, 0, true},
    {"one_word.yaml", "h200", "  on the 32 words of one line", "spread=32", 2000, 2, false},
    {"stream.yaml", "h200", "streaming through global memory, H200", NULL, 3000, 6, false},
    {"stream.yaml", "h200", "  132 busy SMs", "blocks=132", 400, 6, false},
    {"stream.yaml", "h200", "  check", NULL, 40, 0, true},
    {"stream.yaml", "h200", "  a line for each lane", "stride=32", 600, 2, false},
};

/* Programs whose SMs and memory threads can share, by the clock on the wall. */
typedef struct TeamRow {
  const char *file, *what, *params;
  unsigned rounds; /* and as many again, so that what comes before the first one is taken off */
} TeamRow;

static const TeamRow team_rows[] = {
    {"alu_loop_ptx.yaml", "ALU loop in PTX, 8 busy SMs", "blocks=8", 12000},
    {"shared_loop_ptx.yaml", "shared-memory loop with barriers, 8 busy SMs", "blocks=8", 8000},
    {"stream.yaml", "streaming, 8 busy SMs", "blocks=8", 5000},
    {"stream.yaml", "  16 busy SMs", "blocks=16", 2500},
    {"stream.yaml", "  132 busy SMs", "blocks=132", 250},
    {"stream.yaml", "a line for each lane, 8 busy SMs", "blocks=8 stride=32", 1000},
    {"stream.yaml", "  16 busy SMs", "blocks=16 stride=32", 500},
    {"stream.yaml", "  132 busy SMs", "blocks=132 stride=32", 40},
};

/* What a child reports through a pipe. */
typedef struct Measured {
  double instructions, seconds;
} Measured;

static void print_diag(const Diag *diag) {
  g_autofree char *text = diag_render(diag);
  fputs(text, stderr);
}

static double processor_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static Scenario *load(const char *folder, const Row *row, unsigned rounds, Diag *diag) {
  g_autofree char *file = g_build_filename(folder, row->file, NULL);
  g_autofree char *given = g_strdup_printf("rounds=%u", rounds);
  const char *params[] = {given, row->params, NULL};
  ScenarioOptions options = {.params = params};
  return scenario_load(file, &options, diag);
}

/* A function of its own, since valgrind counts within it. */
__attribute__((noinline)) static RunResult *run_row(const Row *row, const Scenario *scenario, const Machine *machine,
                                                    Diag *diag) {
  CheckOptions check = check_options_default();
  check.jobs = 1;
  return row->checks ? check_scenario(scenario, machine, &check, diag)
                     : run_scenario(scenario, machine, &check.run, diag);
}

static Measured measure(const char *folder, const Row *row, unsigned rounds, unsigned runs) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Machine) machine = machine_load(row->machine, NULL, diag);
  g_autoptr(Scenario) scenario = machine ? load(folder, row, rounds, diag) : NULL;
  Measured best = {.seconds = INFINITY};
  for (unsigned i = 0; scenario && i < runs; i++) {
    double start = processor_seconds();
    g_autoptr(RunResult) result = run_row(row, scenario, machine, diag);
    if (!result || result->verdict != VERDICT_COMPLETED)
      break;
    best.instructions = (double)result->counters.warp_instructions;
    best.seconds = MIN(best.seconds, processor_seconds() - start);
  }
  if (!isfinite(best.seconds)) /* notes about the programs would stand between the rows */
    print_diag(diag);
  return best;
}

/* Measures in a child; false if it failed. */
static bool measure_apart(const char *folder, const Row *row, unsigned rounds, unsigned runs, Measured *measured,
                          double *peak_mb) {
  int ends[2], status;
  struct rusage usage;
  if (pipe(ends) != 0)
    return false;
  pid_t child = fork();
  if (child == 0) {
    Measured own = measure(folder, row, rounds, runs);
    bool written = write(ends[1], &own, sizeof own) == (ssize_t)sizeof own;
    _exit(written && isfinite(own.seconds) ? 0 : 1);
  }
  close(ends[1]);
  bool fine = child > 0 && read(ends[0], measured, sizeof *measured) == (ssize_t)sizeof *measured;
  close(ends[0]);
  fine = wait4(child, &status, 0, &usage) == child && fine && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  *peak_mb = (double)usage.ru_maxrss / 1024;
  return fine;
}

/* Host instructions of `rounds` rounds by callgrind, which counts within run_row() only; NAN without valgrind. */
static double count_host(const char *self, const char *valgrind, const char *folder, unsigned index,
                         unsigned rounds) {
  g_autofree char *which = g_strdup_printf("%u", index), *times = g_strdup_printf("%u", rounds);
  const char *argv[] = {valgrind,
                        "--tool=callgrind",
                        "--callgrind-out-file=/dev/null",
                        "--toggle-collect=run_row*",
                        self,
                        "--one",
                        folder,
                        which,
                        times,
                        NULL};
  g_autofree char *messages = NULL;
  if (!g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL,
                    &messages, NULL, NULL))
    return NAN;
  const char *collected = strstr(messages, "Collected : ");
  return collected ? strtod(collected + strlen("Collected : "), NULL) : NAN;
}

/* Host instructions for each warp instruction of a run. What comes before the first one is taken off, by the
 * difference of two numbers of rounds. */
static double host_each(const char *self, const char *valgrind, const char *folder, unsigned index) {
  unsigned few = MAX(rows[index].rounds / FEWER, 1u), more = 2 * few;
  Row run = rows[index];
  Measured of_few, of_more;
  double peak;
  run.checks = false;
  if (!measure_apart(folder, &run, few, 1, &of_few, &peak) || !measure_apart(folder, &run, more, 1, &of_more, &peak))
    return NAN;
  double host = count_host(self, valgrind, folder, index, more) - count_host(self, valgrind, folder, index, few);
  return host / (of_more.instructions - of_few.instructions);
}

static double start_up_ms(const char *lockstep, const char *folder) {
  g_autofree char *program = g_strdup_printf("%s/../../traces/listings/listing1.yaml", folder);
  char *argv[] = {(char *)lockstep, "run", program, NULL};
  double best = INFINITY;
  for (int i = 0; i < STARTS; i++) {
    struct rusage before, after;
    getrusage(RUSAGE_CHILDREN, &before);
    if (!g_spawn_sync(NULL, argv, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL, NULL, NULL, NULL))
      return NAN;
    getrusage(RUSAGE_CHILDREN, &after);
    double user = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) * 1000 +
                  (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec) / 1000;
    double kernel = (double)(after.ru_stime.tv_sec - before.ru_stime.tv_sec) * 1000 +
                    (double)(after.ru_stime.tv_usec - before.ru_stime.tv_usec) / 1000;
    best = MIN(best, user + kernel);
  }
  return best;
}

/* By the clock on the wall; INFINITY if it failed. */
static double wall_seconds(const char *lockstep, const char *folder, const TeamRow *row, unsigned rounds,
                           const char *threads) {
  g_autofree char *file = g_build_filename(folder, row->file, NULL), *given = g_strdup_printf("rounds=%u", rounds);
  g_auto(GStrv) params = g_strsplit(row->params, " ", -1);
  g_autoptr(GPtrArray) argv = g_ptr_array_new();
  const char *const first[] = {lockstep, "run", file, "-m", "h200", "--threads", threads, "-p", given};
  for (guint i = 0; i < G_N_ELEMENTS(first); i++)
    g_ptr_array_add(argv, (char *)first[i]);
  for (char **param = params; *param; param++) {
    g_ptr_array_add(argv, (char *)"-p");
    g_ptr_array_add(argv, *param);
  }
  g_ptr_array_add(argv, NULL);
  int status;
  gint64 start = g_get_monotonic_time();
  if (!g_spawn_sync(NULL, (char **)argv->pdata, NULL, G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL, NULL,
                    NULL, NULL, NULL, &status, NULL) ||
      !WIFEXITED(status) || WEXITSTATUS(status) > 1)
    return INFINITY; /* 1: it came to its end, with a finding */
  return (double)(g_get_monotonic_time() - start) / G_USEC_PER_SEC;
}

/* The seconds that `rounds` rounds take on one thread and on two: the least of all runs, which take turns, since
 * other work on the machine slows each of them down. */
static bool print_team(const char *lockstep, const char *folder, const TeamRow *row) {
  static const char *const threads[] = {"1", "2"};
  double least[2][2] = {{INFINITY, INFINITY}, {INFINITY, INFINITY}};
  for (unsigned run = 0; run < RUNS; run++)
    for (unsigned team = 0; team < 2; team++)
      for (unsigned times = 1; times <= 2; times++)
        least[team][times - 1] =
            MIN(least[team][times - 1], wall_seconds(lockstep, folder, row, times * row->rounds, threads[team]));
  double one = least[0][1] - least[0][0], two = least[1][1] - least[1][0];
  bool fine = isfinite(one) && isfinite(two);
  if (fine)
    printf("%-52s %9.3f %9.3f %9.2f\n", row->what, one, two, one / two);
  else
    printf("%-52s failed\n", row->what);
  return fine;
}

enum { TRIPS = 100000 };

typedef struct Court {
  _Alignas(128) atomic_uint ball;
} Court;

static gpointer send_back(gpointer data) {
  Court *court = data;
  for (unsigned trip = 0; trip < TRIPS; trip++) {
    while (atomic_load(&court->ball) != 2 * trip + 1)
      ;
    atomic_store(&court->ball, 2 * trip + 2);
  }
  return NULL;
}

/* Nanoseconds in which a line of the host's cache goes to another thread's processor and back: what threads that
 * share a run wait for. */
static double round_trip(void) {
  Court court = {.ball = 0};
  GThread *thread = g_thread_new("back", send_back, &court);
  gint64 start = g_get_monotonic_time();
  for (unsigned trip = 0; trip < TRIPS; trip++) {
    atomic_store(&court.ball, 2 * trip + 1);
    while (atomic_load(&court.ball) != 2 * trip + 2)
      ;
  }
  double took = (double)(g_get_monotonic_time() - start);
  g_thread_join(thread);
  return took * 1000 / TRIPS;
}

static bool print_teams(const char *lockstep, const char *folder) {
  bool fine = true;
  printf("a line of the host's cache to another processor and back: %.0f ns\n", round_trip());
  printf("%-52s %9s %9s %9s\n", "by the clock on the wall (target 1.7)", "1 thread", "2", "one/two");
  for (unsigned i = 0; i < G_N_ELEMENTS(team_rows); i++)
    fine &= print_team(lockstep, folder, &team_rows[i]);
  return fine;
}

static bool print_row(const char *self, const char *folder, const char *valgrind, unsigned index) {
  const Row *row = &rows[index];
  Measured measured;
  double peak;
  printf("%-52s", row->what);
  fflush(stdout);
  if (!measure_apart(folder, row, row->rounds, row->checks ? 1 : RUNS, &measured, &peak)) {
    printf(" failed\n");
    return false;
  }
  printf(" %13.0f %9.3f %9.2f", measured.instructions, measured.seconds,
         measured.instructions / measured.seconds / 1e6);
  g_autofree char *target = row->target > 0 ? g_strdup_printf("%.0f", row->target) : g_strdup("-");
  printf(" %7s", target);
  if (valgrind)
    printf(" %8.0f", host_each(self, valgrind, folder, index));
  printf(" %8.1f\n", peak);
  return true;
}

int main(int argc, char **argv) {
  if (argc == 5 && strcmp(argv[1], "--one") == 0) {
    unsigned index = (unsigned)strtoul(argv[3], NULL, 10);
    return index < G_N_ELEMENTS(rows) &&
                   isfinite(measure(argv[2], &rows[index], (unsigned)strtoul(argv[4], NULL, 10), 1).seconds)
               ? 0
               : 1;
  }
  if (argc == 4 && strcmp(argv[1], "--team") == 0)
    return print_teams(argv[3], argv[2]) ? 0 : 1;
  if (argc != 3 && argc != 4) {
    fprintf(stderr, "usage: bench PROGRAMS-FOLDER LOCKSTEP [VALGRIND]\n");
    return 2;
  }
  const char *valgrind = argc == 4 ? argv[3] : NULL;
  bool fine = true;
  printf("%-52s %13s %9s %9s %7s%s %8s\n", "program", "instructions", "CPU s", "million/s", "target",
         valgrind ? "  host/in" : "", "peak MB");
  for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++)
    fine &= print_row(argv[0], argv[1], valgrind, i);
  printf("start-up and a run of Listing 1: %.1f ms (target 10)\n", start_up_ms(argv[2], argv[1]));
  fine &= print_teams(argv[2], argv[1]);
  return fine ? 0 : 1;
}
