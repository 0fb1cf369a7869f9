/* session.h - what the subcommands share: messages, machines, scenarios, output, and running one thing after
 * another. */
#ifndef LOCKSTEP_CLI_SESSION_H
#define LOCKSTEP_CLI_SESSION_H

#include "sim/cli/options.h"
#include "sim/report/paint.h"

/* Exit statuses (SEMANTICS, "Exit status"). */
enum { STATUS_OK = 0, STATUS_FINDING = 1, STATUS_USAGE = 2, STATUS_INPUT = 3, STATUS_UNDECIDED = 4 };

/* Writes the messages to standard error and returns their exit status. */
int session_report(const Diag *diag);
/* A whole command: parses its arguments, prints the help or calls `act`, and reports the messages that are in `diag`
 * then.
 * Returns the worst exit status of all that. */
int session_command(const CommandHelp *help, int argc, char **argv, int (*act)(const Options *options, Diag *diag));
/* True if colour belongs on standard output: a terminal, and no NO_COLOR. */
bool session_colour(void);
/* Writes text to standard output; STATUS_OK, or STATUS_INPUT with a message if it can't be written. */
int session_write(const char *text);

/* The machines that the user named, or those of `fallback` (names, NULL-terminated); Machine *, NULL after errors. */
GPtrArray *session_load_machines(const Options *options, const char *const *fallback, Diag *diag);
/* The machine that a scenario runs on if the user names none: its first, or gtx570 for sm_20. NULL after an error. */
const char *session_default_machine(const Scenario *scenario, Diag *diag);
Scenario *session_load_scenario(const char *path, const Options *options, Diag *diag);

/* What hasn't been done when --limit-seconds or a signal came: a warning, and STATUS_UNDECIDED. */
int session_cut_short(const Options *options, Diag *diag);

/* Runs one scenario on one machine. */
typedef RunResult *(*SessionRunner)(const Scenario *scenario, const Machine *machine, const Options *options,
                                    Diag *diag);
/* Runs every scenario of options->rest on every machine, writes each result in the format wanted as soon as it is
 * there, and returns the worst exit status. */
int session_run_all(const Options *options, SessionRunner runner, Diag *diag);

#endif
