#include "isa/cfg.h"
#include "isa/disasm.h"
#include "isa/ptx_parse.h"
#include "isa/ptx_print.h"
#include "isa/sass.h"
#include "sim/base/datadir.h"
#include "sim/cli/command.h"
#include "sim/cli/session.h"

enum { PROGRAM_BYTES_MAX = 16 << 20 };

static const CommandHelp help = {
    .name = "show",
    .synopsis = "PROGRAM",
    .about = "Prints a program (.sass, .ptx, or the program of a scenario) back as lockstep understood it, or\n"
             "a .sass program's control flow graph, or where the lanes of each branch rejoin.",
    .groups = OPTIONS_SCENARIO | OPTIONS_SHOW,
    .example = "  lockstep show traces/reduction/tiny_lock.sass\n"
               "  lockstep show mine.sass --cfg | dot -Tsvg > mine.svg\n",
};

/* The program, with the scenario that owns it if it came from one. */
typedef struct Shown {
  Scenario *scenario;
  Program *program;
} Shown;

static bool load(Shown *shown, const Options *options, Diag *diag) {
  const char *path = options->rest[0];
  if (g_str_has_suffix(path, ".yaml") || g_str_has_suffix(path, ".yml")) {
    shown->scenario = session_load_scenario(path, options, diag);
    shown->program = shown->scenario ? shown->scenario->program : NULL;
    return shown->program != NULL;
  }
  g_autofree char *resolved = datadir_resolve(path);
  gsize length = 0;
  g_autofree char *text = datadir_read_file(resolved, PROGRAM_BYTES_MAX, &length, NULL, 0, 0, diag);
  shown->program = text ? sass_parse(resolved, text, length, diag) : NULL;
  return shown->program != NULL;
}

static void clear(Shown *shown) {
  if (shown->scenario)
    scenario_free(shown->scenario);
  else
    program_free(shown->program);
}

static char *place(const Kernel *kernel, int32_t pc) {
  if (pc == NO_TARGET)
    return g_strdup("exit");
  return g_strdup_printf("0x%04x line %u", kernel->insts[pc].address, kernel->insts[pc].line);
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

static char *render(const Program *program, const Options *options) {
  if (!options->cfg && !options->reconvergence)
    return disasm_program(program);
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < program->kernels->len; i++) {
    const Kernel *kernel = program_kernel(program, i);
    if (options->reconvergence)
      append_reconvergence(kernel, text);
    if (options->cfg) {
      g_autofree char *dot = cfg_dot(program, kernel);
      g_string_append(text, dot);
    }
  }
  return g_string_free(text, FALSE);
}

/* PTX as it was read, before anything is lowered. */
static int show_ptx(const Options *options, Diag *diag) {
  const char *path = options->rest[0];
  gsize length = 0;
  if (options->cfg || options->reconvergence) {
    diag_error(diag, path, 0, 0, "PTX can be read but has no control flow graph yet");
    return STATUS_OK;
  }
  g_autofree char *resolved = datadir_resolve(path);
  g_autofree char *text = datadir_read_file(resolved, PROGRAM_BYTES_MAX, &length, NULL, 0, 0, diag);
  g_autoptr(PtxModule) module = text ? ptx_parse(resolved, text, length, diag) : NULL;
  if (!module)
    return STATUS_OK;
  g_autofree char *printed = ptx_print_module(module);
  return session_write(printed);
}

static int show(const Options *options, Diag *diag) {
  if (g_strv_length(options->rest) != 1)
    diag_usage(diag, "one program, please");
  Shown shown = {NULL, NULL};
  int status = STATUS_OK;
  if (!diag_has_errors(diag) && g_str_has_suffix(options->rest[0], ".ptx"))
    status = show_ptx(options, diag);
  else if (!diag_has_errors(diag) && load(&shown, options, diag)) {
    g_autofree char *text = render(shown.program, options);
    status = session_write(text);
  }
  clear(&shown);
  return exit_status_worst(status, session_report(diag));
}

int cmd_show(int argc, char **argv) {
  g_autoptr(Diag) diag = diag_new();
  Options options;
  int status = session_options_status(options_parse(&options, &help, argc, argv, diag), diag);
  if (status < 0)
    status = show(&options, diag);
  options_clear(&options);
  return status;
}
