#include <string.h>

#include "base/datadir.h"
#include "sim/cli/command.h"
#include "sim/cli/session.h"
#include "sim/report/timeline.h"

static const CommandHelp help = {
    .name = "run",
    .synopsis = "SCENARIO...",
    .about = "Runs each scenario (.yaml), or bare program (.sass, .ptx, .cu), on each machine, and says how\n"
             "it ends and how long it takes.",
    .groups = OPTIONS_MACHINE | OPTIONS_SCENARIO | OPTIONS_LAUNCH | OPTIONS_RUN | OPTIONS_THREADS |
              OPTIONS_WAIT_GRAPH | OPTIONS_TIMELINE | OPTIONS_DETAILS | OPTIONS_FORMAT,
    .example = "  lockstep run traces/reduction/tiny_lock.yaml -m gtx570 -m gtx580 --format csv\n"
               "  lockstep run mine.cu -m h200 --kernel mine --grid 2 --block 64 --buffer count=1 --arg count\n",
};

/* A run that ended well has no graph: the file then holds an empty one. */
static void write_graph(const RunResult *result, const char *path, Diag *diag) {
  const char *graph = result->wait_graph_dot ? result->wait_graph_dot : "digraph waits {\n}\n";
  datadir_write_file(path, graph, strlen(graph), "the wait-for graph", diag);
}

static RunResult *run_one(const Scenario *scenario, const Machine *machine, const Options *options, Diag *diag) {
  RunOptions run = options_run(options);
  Timeline *timeline = options->timeline ? timeline_new(options->timeline, TIMELINE_EVENTS_MAX, diag) : NULL;
  if (options->timeline && !timeline)
    return NULL;
  run.observer = timeline ? timeline_probe(timeline) : NULL;
  RunResult *result = run_scenario(scenario, machine, &run, diag);
  if (timeline)
    timeline_close(timeline, diag);
  if (result && options->wait_graph)
    write_graph(result, options->wait_graph, diag);
  return result;
}

static int run(const Options *options, Diag *diag) { return session_run_all(options, run_one, diag); }

int cmd_run(int argc, char **argv) { return session_command(&help, argc, argv, run); }
