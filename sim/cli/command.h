/* command.h - what main() knows of each subcommand. */
#ifndef LOCKSTEP_CLI_COMMAND_H
#define LOCKSTEP_CLI_COMMAND_H

/* Each takes its own arguments, argv[0] being the command's name, and returns the exit status. */
#define COMMAND(name, synopsis, doc) int cmd_##name(int argc, char **argv);
#include "sim/cli/commands.def"

#endif
