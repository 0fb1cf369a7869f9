#include <string.h>

#include "base/datadir.h"
#include "base/quote.h"
#include "isa/disasm.h"
#include "isa/flow/cfg.h"
#include "isa/ptx/ptx_print.h"
#include "sim/cli/command.h"
#include "sim/cli/session.h"
#include "sim/scenario/programs.h"

enum { PROGRAM_BYTES_MAX = 16 << 20 };

static const CommandHelp help = {
    .name = "show",
    .synopsis = "PROGRAM",
    .about = "Prints a program (.sass, .ptx, .cu, or the program of a scenario) back as lockstep understood it,\n"
             "its control flow graph, or where the lanes of each branch rejoin. PTX is shown as read; with -m\n"
             "as the instructions that this machine runs.",
    .groups = OPTIONS_MACHINE | OPTIONS_SCENARIO | OPTIONS_SHOW,
    .example = "  lockstep show traces/reduction/tiny_lock.sass\n"
               "  lockstep show mine.sass --cfg | dot -Tsvg > mine.svg\n"
               "  lockstep show mine.ptx -m h200\n",
};

/* The program, with the scenario that it came from, or alone. */
typedef struct Shown {
  Scenario *scenario;
  Programs *alone;
} Shown;

/* The machine that a program is lowered for: the one named, or what a run would take. NULL after errors, or if none
 * is wanted. */
static Machine *load_machine(const Shown *shown, const Options *options, Diag *diag) {
  const char *name = options->machines ? options->machines[0] : NULL;
  const Program *program = shown->scenario ? shown->scenario->program : programs_common(shown->alone);
  if (!name && shown->scenario)
    name = session_default_machine(shown->scenario, diag);
  else if (!name && program->target_sm == 20)
    name = "gtx570";
  if (!name && !shown->scenario) {
    diag_usage(diag, "no machine named for `%s`, whose target is sm_%u", options->rest[0], program->target_sm);
    diag_hint(diag, "name the one to lower it for with -m; `lockstep machine list` shows them");
  }
  return name ? machine_load(name, (const char *const *)options->overrides, diag) : NULL;
}

static bool load(Shown *shown, const Options *options, Diag *diag) {
  const char *path = options->rest[0];
  if (scenario_is_yaml(path)) {
    Options without = *options;
    without.kernel = NULL; /* a scenario's launches don't depend on it */
    shown->scenario = session_load_scenario(path, &without, diag);
    return shown->scenario != NULL;
  }
  g_autofree char *resolved = datadir_resolve(path);
  gsize length = 0;
  g_autofree char *text = datadir_read_file(resolved, PROGRAM_BYTES_MAX, &length, NULL, 0, 0, diag);
  g_autoptr(Diag) ignored = diag_new();
  g_autoptr(Machine) machine =
      options->machines ? machine_load(options->machines[0], (const char *const *)options->overrides, ignored) : NULL;
  const char *const named[] = {options->kernel, NULL};
  ProgramsOptions wanted = {.kernels = options->kernel ? named : NULL,
                            .code = options->code_kind,
                            .capability = machine ? machine->gpu.compute_capability : 0,
                            .flags = (const char *const *)options->compiler_flags};
  if (text)
    shown->alone = programs_open(path, resolved, text, length, &wanted, diag);
  return shown->alone != NULL;
}

static void clear(Shown *shown) {
  scenario_free(shown->scenario);
  programs_free(shown->alone);
}

static char *place(const Kernel *kernel, int32_t pc) {
  if (pc == NO_TARGET)
    return g_strdup("exit");
  return g_strdup_printf("0x%04x line %u", kernel_address(kernel, (uint32_t)pc), kernel->insts[pc].line);
}

/* One line for each instruction that can split a warp, or names where it rejoins. */
static void append_reconvergence(const Kernel *kernel, GString *text) {
  g_string_append_printf(text, "kernel %s\n  %-18s %-28s %-20s %s\n", kernel->name, "at", "instruction", "target",
                         "lanes rejoin at");
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    const Inst *inst = &kernel->insts[pc];
    bool diverges = inst->op == OP_BRA && inst_is_guarded(inst);
    if (!diverges && inst->op != OP_SSY && !(inst->flags & INST_POP))
      continue;
    g_autofree char *at = place(kernel, (int32_t)pc);
    g_autofree char *line = disasm_inst(kernel, inst);
    g_autofree char *target = inst->target == NO_TARGET ? g_strdup("-") : place(kernel, inst->target);
    g_autofree char *rejoin = diverges ? place(kernel, inst->reconv)
                                       : g_strdup(inst->op == OP_SSY ? "its target" : "the enclosing SSY's target");
    g_string_append_printf(text, "  %-18s %-28s %-20s %s\n", at, line, target, rejoin);
  }
}

static void append_flow(const Program *program, guint index, const Options *options, GString *text) {
  const Kernel *kernel = program_kernel(program, index);
  if (options->reconvergence)
    append_reconvergence(kernel, text);
  if (options->cfg) {
    g_autofree char *dot = cfg_dot(program, kernel);
    g_string_append(text, dot);
  }
}

/* The kernel that --kernel names, or (-1) all; -2 after an error. */
static int chosen_kernel(Programs *programs, const Options *options, Diag *diag) {
  bool several;
  int found = options->kernel ? programs_find_kernel(programs, options->kernel, &several) : -1;
  if (!options->kernel || found >= 0)
    return found;
  g_autoptr(Diag) inner = diag_new();
  programs_no_kernel(programs, options->kernel, several, inner, NULL, 0, 0);
  diag_usage(diag, "--kernel: %s", diag_item(inner, 0)->message);
  if (diag_item(inner, 0)->hint)
    diag_hint(diag, "%s", diag_item(inner, 0)->hint);
  return -2;
}

/* What is asked for. A kernel that is refused becomes its errors; the others are shown all the same. */
static char *render(Programs *programs, const Program *program, const Options *options, Diag *diag) {
  int chosen = chosen_kernel(programs, options, diag);
  bool listing = !options->cfg && !options->reconvergence;
  GString *text = g_string_new(NULL);
  for (guint i = 0; chosen > -2 && i < program->kernels->len; i++) {
    const Kernel *kernel = program_kernel(program, i);
    if (chosen >= 0 && i != (guint)chosen)
      continue;
    if (kernel->refusal) {
      diag_note(diag, program->file, kernel->line, 0, "kernel `%s` is refused", kernel->name);
      diag_add_all(diag, kernel->refusal);
    } else if (!listing) {
      append_flow(program, i, options, text);
    } else if (chosen >= 0) {
      g_autofree char *print = disasm_kernel(program, i);
      g_string_append(text, print);
    }
  }
  if (listing && chosen == -1) {
    g_autofree char *print = disasm_program(program);
    g_string_append(text, print);
  }
  return g_string_free(text, FALSE);
}

/* PTX as it was read, unless a machine is named or the question is about one kernel or control flow, which depend on
 * one. */
static char *render_shown(const Shown *shown, const Options *options, Diag *diag) {
  Programs *programs = shown->scenario ? shown->scenario->programs : shown->alone;
  if (!programs_is_ptx(programs) && !programs_is_listing(programs))
    return render(programs, programs_common(programs), options, diag);
  if (programs_is_listing(programs) && !options->machines)
    return render(programs, programs_common(programs), options, diag);
  if (!options->machines && !options->kernel && !options->cfg && !options->reconvergence)
    return ptx_print_module(programs_module(programs));
  g_autoptr(Machine) machine = load_machine(shown, options, diag);
  const Program *program = machine ? programs_for(programs, machine, NULL, diag) : NULL;
  return program ? render(programs, program, options, diag) : NULL;
}

static int show(const Options *options, Diag *diag) {
  if (g_strv_length(options->rest) != 1)
    diag_usage(diag, "one program, please");
  if (options->machines && g_strv_length(options->machines) > 1)
    diag_usage(diag, "one machine, please");
  Shown shown = {NULL, NULL};
  int status = STATUS_OK;
  if (!diag_has_errors(diag) && load(&shown, options, diag)) {
    g_autofree char *text = render_shown(&shown, options, diag);
    g_autofree char *printable = text ? quote_lines(text, strlen(text)) : NULL;
    status = printable ? session_write(printable) : STATUS_OK;
  }
  clear(&shown);
  return status;
}

int cmd_show(int argc, char **argv) { return session_command(&help, argc, argv, show); }
