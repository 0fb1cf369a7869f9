#include "base/quote.h"
#include "sim/cli/command.h"
#include "sim/cli/session.h"
#include "sim/study/check.h"

static const CommandHelp help = {
    .name = "check",
    .synopsis = "SCENARIO...",
    .about = "Runs each scenario (.yaml), or bare program (.sass, .ptx, .cu), under the machine's scheduling\n"
             "policy and the others, both branch orders, other orders of dispatch and several seeds, with warps\n"
             "that are held up, with one that is held up once, and with late stores where a fence may be missing.\n"
             "Reports the worst verdict, everything found on the way, data races, and verdicts and results that\n"
             "depend on the schedule. --schedules N tries N of them, seed after seed. -j N runs N of them at a\n"
             "time; what is printed is the same.",
    .groups = OPTIONS_MACHINE | OPTIONS_SCENARIO | OPTIONS_LAUNCH | OPTIONS_RUN | OPTIONS_SEEDS | OPTIONS_SCHEDULES |
              OPTIONS_FORMAT,
    .example = "  lockstep check traces/listings/*.yaml -m gtx570\n"
               "  lockstep check mine.sass --grid 2 --block 64 --seeds 8\n"
               "  lockstep check mine.cu -m h200 --kernel mine --grid 2 --block 64 --schedules 64\n",
};

static void append_one(GString *text, const char *option, const char *value) {
  g_autofree char *word = value ? quote_word(value) : NULL;
  if (word)
    g_string_append_printf(text, " %s %s", option, word);
}

static void append_many(GString *text, const char *option, char **values) {
  for (char **value = values; value && *value; value++)
    append_one(text, option, *value);
}

/* The options that a repetition of one run needs as well, besides changes of the machine. */
static char *given_text(const Options *options) {
  GString *text = g_string_new(NULL);
  append_many(text, "-p", options->params);
  append_one(text, "--code", options->code_name);
  append_one(text, "--kernel", options->kernel);
  append_one(text, "--grid", options->grid);
  append_one(text, "--block", options->block);
  append_one(text, "--cluster", options->cluster);
  append_one(text, "--shared", options->shared);
  append_one(text, "--heap", options->heap);
  append_many(text, "--buffer", options->buffers);
  append_many(text, "--arg", options->args);
  g_string_append(text, options->cooperative ? " --cooperative" : "");
  return g_string_free(text, FALSE);
}

static char *flags_text(const Options *options) {
  GString *text = g_string_new(options->compiler_flags ? " --" : NULL);
  for (char **flag = options->compiler_flags; flag && *flag; flag++) {
    g_autofree char *word = quote_word(*flag);
    g_string_append_printf(text, " %s", word);
  }
  return g_string_free(text, FALSE);
}

static RunResult *check_one(const Scenario *scenario, const Machine *machine, const Options *options, Diag *diag) {
  CheckOptions check = check_options_default();
  bool races = check.run.races;
  check.run = options_run(options);
  check.run.races = races;
  if (options->seeds > 0)
    check.seeds = (unsigned)options->seeds;
  if (options->schedules > 0)
    check.schedules = (unsigned)options->schedules;
  check.jobs = (unsigned)options->jobs;
  check.step = options->progress ? progress_part : NULL;
  check.step_user = options->progress;
  g_autofree char *given = given_text(options);
  g_autofree char *flags = flags_text(options);
  g_autofree char *name = machine_argument(machine);
  check.given = (Given){name, (const char *const *)options->overrides, given, flags};
  return check_scenario(scenario, machine, &check, diag);
}

static int check(const Options *options, Diag *diag) { return session_run_all(options, check_one, diag); }

int cmd_check(int argc, char **argv) { return session_command(&help, argc, argv, check); }
