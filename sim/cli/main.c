/* main.c - finds the subcommand. */
#include <glib.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "sim/cli/command.h"
#include "sim/cli/session.h"

#include "config.h"

typedef struct Command {
  const char *name, *synopsis, *doc;
  int (*run)(int argc, char **argv);
} Command;

static const Command commands[] = {
#define COMMAND(name, synopsis, doc) {#name, synopsis, doc, cmd_##name},
#include "sim/cli/commands.def"
};

static const char *const command_names[] = {
#define COMMAND(name, synopsis, doc) #name,
#include "sim/cli/commands.def"
    NULL,
};

static void print_help(FILE *out) {
  fprintf(out, "Usage: lockstep COMMAND [OPTION...] ARGUMENT...\n\n"
               "Predicts how GPU synchronization behaves: whether a program hangs, why, and how long it takes.\n\n"
               "Commands:\n");
  for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
    fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].doc);
  fprintf(out,
          "\n`lockstep COMMAND --help` shows a command's options. Exit status: 0 as expected; 1 a finding, or an\n"
          "expectation not met; 2 wrong usage; 3 bad input; 4 undecided.\n\n"
          "Example:\n  lockstep check traces/reduction/tiny_lock.yaml -m gtx570\n");
}

static int reject(const char *name) {
  g_autoptr(Diag) diag = diag_new();
  diag_usage(diag, "unknown %s `%s`", name[0] == '-' ? "option" : "command", name);
  diag_hint_nearest(diag, name, command_names);
  diag_hint(diag, "see `lockstep --help`");
  return session_report(diag);
}

int main(int argc, char **argv) {
  if (argc < 2) {
    print_help(stderr);
    return STATUS_USAGE;
  }
  const char *name = argv[1];
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
    print_help(stdout);
    return STATUS_OK;
  }
  if (strcmp(name, "--version") == 0) {
    printf("%s\n", PACKAGE_STRING);
    return STATUS_OK;
  }
  for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
    if (strcmp(name, commands[i].name) == 0)
      return commands[i].run(argc - 1, argv + 1);
  return reject(name);
}
