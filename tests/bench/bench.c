/* Speed of the simulator: warp instructions a second of host time, start-up time, peak memory.
 * Usage: bench PROGRAMS-FOLDER LOCKSTEP. Each program runs in a process of its own, so that its peak memory is its own;
 * a figure is the best of RUNS runs, since other work on the machine can only slow one down. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/study/run.h"

enum { RUNS = 5, STARTS = 20 };

static const struct {
  const char *file, *machine, *what;
  double target; /* warp instructions a second (design, section 9) */
} programs[] = {
    {"alu_loop.sass", "gtx570", "ALU loop, 16 blocks of 512", 10e6},
    {"alu_loop_ptx.yaml", "gtx570", "the same in PTX", 10e6},
    {"alu_loop_ptx.yaml", "h200", "the same in PTX on an H200", 10e6},
    {"shared_loop.sass", "gtx570", "shared-memory loop with barriers, 16 blocks of 512", 10e6},
    {"shared_loop_ptx.yaml", "gtx570", "the same in PTX", 10e6},
    {"shared_loop_ptx.yaml", "h200", "the same in PTX on an H200", 10e6},
    {"contended_atomic.sass", "gtx570", "Listing 1, 16 warps on one word", 2e6},
    {"contended_atomic_ptx.yaml", "gtx1080ti", "atomicCAS lock in PTX, 16 warps on one word", 2e6},
    {"contended_atomic_ptx.yaml", "h200", "the same on an H200", 2e6},
    {"spinning_warps.sass", "gtx570", "16 warps spinning on a lock bit", 2e6},
    {"spinning_warps_ptx.yaml", "gtx1080ti", "16 warps spinning on a volatile word in PTX", 2e6},
    {"spinning_warps_ptx.yaml", "h200", "the same on an H200", 2e6},
};

/* What a child reports through a pipe. */
typedef struct Measured {
  double instructions, seconds;
} Measured;

static void print_diag(const Diag *diag) {
  g_autofree char *text = diag_render(diag);
  fputs(text, stderr);
}

static Measured measure(const char *folder, unsigned index) {
  g_autoptr(Diag) diag = diag_new();
  g_autofree char *file = g_build_filename(folder, programs[index].file, NULL);
  g_autoptr(Machine) machine = machine_load(programs[index].machine, NULL, diag);
  ScenarioOptions scenario_options = {0};
  g_autoptr(Scenario) scenario = machine ? scenario_load(file, &scenario_options, diag) : NULL;
  Measured best = {.seconds = INFINITY};
  for (int i = 0; scenario && i < RUNS; i++) {
    RunOptions options = run_options_default();
    g_autoptr(RunResult) result = run_scenario(scenario, machine, &options, diag);
    if (!result || result->verdict != VERDICT_COMPLETED)
      break;
    best.instructions = (double)result->counters.warp_instructions;
    best.seconds = MIN(best.seconds, result->host_seconds);
  }
  print_diag(diag);
  return best;
}

/* Measures in a child; false if it failed. */
static bool measure_apart(const char *folder, unsigned index, Measured *measured, double *peak_mb) {
  int ends[2], status;
  struct rusage usage;
  if (pipe(ends) != 0)
    return false;
  pid_t child = fork();
  if (child == 0) {
    Measured own = measure(folder, index);
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

static double start_up_ms(const char *lockstep, const char *folder) {
  g_autofree char *program = g_strdup_printf("%s/../../traces/listings/listing1.yaml", folder);
  char *argv[] = {(char *)lockstep, "run", program, NULL};
  double best = INFINITY;
  for (int i = 0; i < STARTS; i++) {
    gint64 start = g_get_monotonic_time();
    if (!g_spawn_sync(NULL, argv, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL, NULL, NULL, NULL))
      return NAN;
    best = MIN(best, (double)(g_get_monotonic_time() - start) / 1000);
  }
  return best;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: bench PROGRAMS-FOLDER LOCKSTEP\n");
    return 2;
  }
  int failed = 0;
  printf("%-52s %13s %9s %11s %8s %8s\n", "program", "instructions", "seconds", "million/s", "target", "peak MB");
  for (unsigned i = 0; i < G_N_ELEMENTS(programs); i++) {
    Measured measured;
    double peak;
    if (!measure_apart(argv[1], i, &measured, &peak)) {
      printf("%-52s failed\n", programs[i].what);
      failed = 1;
      continue;
    }
    printf("%-52s %13.0f %9.3f %11.2f %8.0f %8.1f\n", programs[i].what, measured.instructions, measured.seconds,
           measured.instructions / measured.seconds / 1e6, programs[i].target / 1e6, peak);
  }
  printf("start-up and a run of Listing 1: %.1f ms (target 10)\n", start_up_ms(argv[2], argv[1]));
  return failed;
}
