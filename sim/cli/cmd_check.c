#include "sim/cli/command.h"
#include "sim/cli/session.h"
#include "sim/study/check.h"

static const CommandHelp help = {
    .name = "check",
    .synopsis = "SCENARIO...",
    .about = "Runs each scenario under the machine's scheduling policy and the others, both branch orders and\n"
             "several seeds, and reports the worst verdict, everything found on the way, data races, and\n"
             "verdicts that depend on the schedule.",
    .groups = OPTIONS_MACHINE | OPTIONS_SCENARIO | OPTIONS_LAUNCH | OPTIONS_RUN | OPTIONS_SEEDS | OPTIONS_FORMAT,
    .example = "  lockstep check traces/listings/*.yaml -m gtx570\n"
               "  lockstep check mine.sass -s sm.lock_unit.bits=2048 --seeds 8\n",
};

static RunResult *check_one(const Scenario *scenario, const Machine *machine, const Options *options, Diag *diag) {
  CheckOptions check = check_options_default();
  bool races = check.run.races;
  check.run = options_run(options);
  check.run.races = races;
  if (options->seeds > 0)
    check.seeds = (unsigned)options->seeds;
  return check_scenario(scenario, machine, &check, diag);
}

int cmd_check(int argc, char **argv) {
  g_autoptr(Diag) diag = diag_new();
  Options options;
  int status = session_options_status(options_parse(&options, &help, argc, argv, diag), diag);
  if (status < 0)
    status = session_run_all(&options, check_one);
  options_clear(&options);
  return status;
}
