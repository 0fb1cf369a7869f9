#include <string.h>

#include "base/datadir.h"
#include "sim/cli/command.h"
#include "sim/cli/primitives_text.h"
#include "sim/cli/session.h"

static const CommandHelp help = {
    .name = "machine",
    .synopsis = "list | show NAME | classify NAME | diff A B | check FILE...",
    .about = "Lists the machines; shows one as YAML, with the source of each value; compares two; or checks\n"
             "files. `classify` measures by simulation how atomics and contention compare with volatile accesses,\n"
             "says which barriers, mutexes and semaphores that calls for, and whether `rank --primitives` agrees.\n"
             "A machine is a name from the list, or a file.",
    .groups = OPTIONS_SETTINGS | OPTIONS_JOBS,
    .example = "  lockstep machine diff gtx570 gtx580\n"
               "  lockstep machine show gtx570 -s sm.lock_unit.bits=2048 > big_locks.yaml\n",
};

static Machine *load(const char *name, const Options *options, Diag *diag) {
  return machine_load(name, (const char *const *)options->overrides, diag);
}

static int list(const Options *options, Diag *diag) {
  g_auto(GStrv) names = machine_list();
  if (!names[0]) {
    g_autofree char *folder = datadir_join("configs", "");
    diag_error(diag, NULL, 0, 0, "no machines in `%s`; is LOCKSTEP_DATA right?", folder);
    return STATUS_OK;
  }
  g_autoptr(GString) text = g_string_new(NULL);
  gsize width = 0;
  for (char **name = names; *name; name++)
    width = MAX(width, strlen(*name));
  for (char **name = names; *name; name++) {
    g_autoptr(Machine) machine = load(*name, options, diag);
    if (machine)
      g_string_append_printf(text, "%-*s  %s\n", (int)width, *name, machine->about ? machine->about : "");
  }
  return session_write(text->str);
}

/* A changed machine isn't the one it was made from: it says what it is, and takes the name of the file that it is
 * kept in. */
static char *dump_changed(Machine *machine, char **changes) {
  g_autofree char *all = g_strjoinv(", ", changes), *about = machine->about;
  machine->about = g_strdup_printf("%s%swith %s", about ? about : "", about ? ", " : "", all);
  g_autofree char *text = machine_dump(machine);
  return g_strdup(g_str_has_prefix(text, "name:") ? strchr(text, '\n') + 1 : text);
}

static int show(const Options *options, Diag *diag) {
  g_autoptr(Machine) machine = load(options->rest[1], options, diag);
  if (!machine)
    return STATUS_OK;
  g_autofree char *text = options->overrides ? dump_changed(machine, options->overrides) : machine_dump(machine);
  return session_write(text);
}

static int diff(const Options *options, Diag *diag) {
  g_autoptr(Machine) a = load(options->rest[1], options, diag);
  g_autoptr(Machine) b = load(options->rest[2], options, diag);
  if (!a || !b)
    return STATUS_OK;
  g_autofree char *text = machine_diff(a, b);
  return session_write(text);
}

static int check(const Options *options, Diag *diag) {
  int status = STATUS_OK;
  for (char **name = options->rest + 1; *name; name++) {
    g_autoptr(Machine) machine = load(*name, options, diag);
    g_autofree char *line = g_strdup_printf("%s: ok\n", *name);
    if (machine)
      status = exit_status_worst(status, session_write(line));
  }
  return status;
}

static int classify(const Options *options, Diag *diag) {
  return primitives_classify_machine(options->rest[1], options, diag);
}

typedef struct Action {
  const char *name;
  guint least, most; /* arguments */
  const char *arguments;
  int (*act)(const Options *options, Diag *diag);
} Action;

static const Action actions[] = {
    {"list", 0, 0, "", list},
    {"show", 1, 1, " NAME", show},
    {"classify", 1, 1, " NAME", classify},
    {"diff", 2, 2, " A B", diff},
    {"check", 1, G_MAXUINT - 1, " FILE...", check},
};

static int act(const Options *options, Diag *diag) {
  static const char *const names[] = {"list", "show", "classify", "diff", "check", NULL};
  guint arguments = g_strv_length(options->rest);
  const char *name = arguments ? options->rest[0] : "";
  for (guint i = 0; i < G_N_ELEMENTS(actions); i++) {
    const Action *action = &actions[i];
    if (strcmp(name, action->name) != 0)
      continue;
    if (arguments - 1 >= action->least && arguments - 1 <= action->most)
      return action->act(options, diag);
    diag_usage(diag, "usage: lockstep machine %s%s", action->name, action->arguments);
    return STATUS_USAGE;
  }
  if (arguments)
    diag_usage(diag, "unknown action `%s`", name);
  else
    diag_usage(diag, "no action named");
  diag_hint_nearest(diag, name, names);
  diag_hint(diag, "actions are list, show, classify, diff and check");
  return STATUS_USAGE;
}

int cmd_machine(int argc, char **argv) { return session_command(&help, argc, argv, act); }
