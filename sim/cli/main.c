/* main.c - finds the subcommand. */
#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "sim/cli/command.h"
#include "sim/cli/interrupt.h"
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

static char *help_text(void) {
  GString *text = g_string_new(
      "Usage: lockstep COMMAND [OPTION...] ARGUMENT...\n\n"
      "Predicts how GPU synchronization behaves: whether a program hangs, why, and how long it takes.\n\n"
      "Commands:\n");
  for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
    g_string_append_printf(text, "  %-12s %s\n", commands[i].name, commands[i].doc);
  g_string_append(
      text, "\n`lockstep COMMAND --help` shows a command's options. Exit status: 0 as expected; 1 a finding, or an\n"
            "expectation not met; 2 wrong usage; 3 bad input; 4 undecided; 130 or 143 ended by a signal.\n\n"
            "Example:\n  lockstep check traces/reduction/tiny_lock.yaml -m gtx570\n");
  return g_string_free(text, FALSE);
}

static int reject(const char *name) {
  g_autoptr(Diag) diag = diag_new();
  diag_usage(diag, "unknown %s `%s`", name[0] == '-' ? "option" : "command", name);
  diag_hint_nearest(diag, name, command_names);
  diag_hint(diag, "see `lockstep --help`");
  return session_report(diag);
}

/* GLib gives up where there is no memory; it is the input that asked for too much. */
static void end_without_memory(const char *domain, GLogLevelFlags level, const char *message, gpointer unused) {
  const char *what = strstr(message, "failed to allocate");
  fprintf(stderr, "lockstep: error: out of memory: %s\n", what ? what : message);
  fflush(stderr);
  _exit(STATUS_INPUT);
}

static int run(const Command *command, int argc, char **argv) {
  g_log_set_handler("GLib", G_LOG_LEVEL_ERROR | G_LOG_FLAG_FATAL | G_LOG_FLAG_RECURSION, end_without_memory, NULL);
  interrupt_install();
  int status = command->run(argc, argv);
  if (interrupt_name())
    fprintf(stderr, "lockstep: ended by %s\n", interrupt_name());
  return interrupt_status(status);
}

int main(int argc, char **argv) {
  g_autofree char *help = help_text();
  if (argc < 2) {
    fputs(help, stderr);
    return STATUS_USAGE;
  }
  const char *name = argv[1];
  bool asks = strcmp(name, "help") == 0 && argc > 2; /* `lockstep help run` is `lockstep run --help` */
  if (asks)
    name = argv[2];
  else if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
    return session_write(help);
  else if (strcmp(name, "--version") == 0)
    return session_write(PACKAGE_STRING "\n");
  char *with_help[] = {(char *)name, "--help", NULL};
  for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
    if (strcmp(name, commands[i].name) == 0)
      return asks ? run(&commands[i], 2, with_help) : run(&commands[i], argc - 1, argv + 1);
  return reject(name);
}
