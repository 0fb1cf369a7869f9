#include <string.h>

#include "base/datadir.h"
#include "sim/cli/command.h"
#include "sim/cli/session.h"
#include "sim/report/timeline.h"
#include "sim/study/dump.h"

static const CommandHelp help = {
    .name = "run",
    .synopsis = "SCENARIO...",
    .about = "Runs each scenario (.yaml), or bare program (.sass, .ptx, .cu), on each machine, and says how\n"
             "it ends and how long it takes. What a GPU doesn't tell, such as how far a buffer is from an SM,\n"
             "is up to the seed. With --seeds N the run of the median time is shown, with the least and the\n"
             "most of the others.",
    .groups = OPTIONS_MACHINE | OPTIONS_SCENARIO | OPTIONS_LAUNCH | OPTIONS_RUN | OPTIONS_RUN_SEEDS | OPTIONS_JOBS |
              OPTIONS_THREADS | OPTIONS_WAIT_GRAPH | OPTIONS_TIMELINE | OPTIONS_DETAILS |
              OPTIONS_DUMP | OPTIONS_FORMAT,
    .example = "  lockstep run traces/reduction/tiny_lock.yaml -m gtx570 -m gtx580 --format csv\n"
               "  lockstep run mine.cu -m h200 --kernel mine --grid 2 --block 64 --buffer count=1 --arg count\n",
};

/* A run that ended well has no graph: the file then holds an empty one. */
static void write_graph(const RunResult *result, const char *path, Diag *diag) {
  const char *graph = result->wait_graph_dot ? result->wait_graph_dot : "digraph waits {\n}\n";
  datadir_write_file(path, graph, strlen(graph), "the wait-for graph", diag);
}

static RunResult *run_seeds(const Scenario *scenario, const Machine *machine, const Options *options, Diag *diag) {
  SampleTask task = {.scenario = scenario, .machine = machine, .seeds = (unsigned)options->seeds};
  SamplesOptions samples = options_samples(options);
  return samples_median(&task, &samples, diag);
}

static RunResult *run_one(const Scenario *scenario, const Machine *machine, const Options *options, Diag *diag) {
  RunOptions run = options_run(options);
  const char *const *dumps = (const char *const *)options->dumps;
  if (!dump_check(dumps, scenario, diag))
    return NULL;
  run.keep_buffers = dumps != NULL;
  Timeline *timeline = options->timeline ? timeline_new(options->timeline, TIMELINE_EVENTS_MAX, diag) : NULL;
  if (options->timeline && !timeline)
    return NULL;
  run.observer = timeline ? timeline_probe(timeline) : NULL;
  RunResult *result =
      options->seeds > 1 ? run_seeds(scenario, machine, options, diag) : run_scenario(scenario, machine, &run, diag);
  if (timeline)
    timeline_close(timeline, diag);
  if (result && dumps)
    result->dumps = dump_choose(dumps, result->buffers);
  if (result && options->wait_graph)
    write_graph(result, options->wait_graph, diag);
  return result;
}

static int run(const Options *options, Diag *diag) {
  if (options->timeline && options->seeds > 1) {
    diag_usage(diag, "--timeline is for one run, and --seeds %d makes %d", (int)options->seeds, (int)options->seeds);
    return STATUS_OK;
  }
  if (options->dumps && (options->seeds > 1 || options->format == FORMAT_CSV)) {
    diag_usage(diag, "--dump is for one run, %s",
               options->seeds > 1 ? "and --seeds makes several" : "as text or JSON, and not for rows of CSV");
    return STATUS_OK;
  }
  return session_run_all(options, run_one, diag);
}

int cmd_run(int argc, char **argv) { return session_command(&help, argc, argv, run); }
