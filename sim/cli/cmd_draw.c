#include <string.h>

#include "base/datadir.h"
#include "sim/cli/command.h"
#include "sim/cli/session.h"
#include "sim/report/draw_svg.h"

static const CommandHelp help = {
    .name = "draw",
    .synopsis = "SCENARIO -o FILE.svg",
    .about = "Runs a scenario (.yaml), or bare program (.sass, .ptx, .cu), on a machine, and draws what each lane,\n"
             "or warp, does in each cycle: active, spinning, in memory, waiting for other lanes or at a barrier,\n"
             "holding a lock. Of a run that hangs, what only repeats itself is left out.",
    .groups = OPTIONS_MACHINE | OPTIONS_SCENARIO | OPTIONS_LAUNCH | OPTIONS_RUN | OPTIONS_OUTPUT | OPTIONS_DRAW,
    .example = "  lockstep draw traces/slides/lock_cpu_lanes.yaml -m gtx1080ti -o hang.svg\n"
               "  lockstep draw traces/slides/lock_cpu_lanes.yaml -m h200 --to 6000 -o live.svg\n",
};

static int write_picture(const char *svg, const char *path, Diag *diag) {
  if (!path)
    return session_write(svg);
  datadir_write_file(path, svg, strlen(svg), "the picture", diag);
  return STATUS_OK;
}

static int draw_on(const Scenario *scenario, const Machine *machine, const Options *options, Diag *diag) {
  RunOptions run = options_run(options);
  g_autoptr(DrawRecord) record = draw_record_new();
  run.observer = draw_record_probe(record);
  g_autoptr(RunResult) result = run_scenario(scenario, machine, &run, diag);
  if (!result)
    return STATUS_OK;
  result->changes = options_changes(options);
  DrawOptions wanted = {.rows = options->lanes   ? DRAW_ROWS_LANES
                                : options->warps ? DRAW_ROWS_WARPS
                                                 : DRAW_ROWS_AUTO,
                        .has_from = options->from >= 0,
                        .has_to = options->to >= 0,
                        .from = (uint64_t)MAX(options->from, 0),
                        .to = (uint64_t)MAX(options->to, 0),
                        .cycles = result->cycles,
                        .ended = result->verdict == VERDICT_COMPLETED};
  g_autoptr(Drawing) drawing = drawing_new(record, &wanted, diag);
  if (!drawing)
    return STATUS_OK;
  g_autofree char *svg = draw_svg(drawing, result);
  return write_picture(svg, options->output, diag);
}

/* A name that says another kind of picture would keep SVG all the same. */
static void refuse_other_kinds(const char *path, Diag *diag) {
  static const char *const others[] = {".png",  ".pdf", ".jpg", ".jpeg", ".gif", ".eps",  ".ps",    ".html", ".csv",
                                       ".yaml", ".yml", ".cu",  ".cuh",  ".ptx", ".sass", ".cubin", NULL};
  const char *ending = path ? strrchr(path, '.') : NULL;
  g_autofree char *lower = ending ? g_ascii_strdown(ending, -1) : NULL;
  if (!lower || !g_strv_contains(others, lower))
    return;
  diag_usage(diag, "-o %s: the picture is SVG; expected a name that ends in .svg", path);
  diag_hint(diag, "a browser shows it, and Inkscape or rsvg-convert makes another kind of it");
}

static int draw(const Options *options, Diag *diag) {
  if (g_strv_length(options->rest) != 1)
    diag_usage(diag, "expected one scenario, not %u", g_strv_length(options->rest));
  if (options->machines && g_strv_length(options->machines) > 1)
    diag_usage(diag, "a picture is of one machine, and these are %u", g_strv_length(options->machines));
  if (options->lanes && options->warps)
    diag_usage(diag, "--lanes and --warps: a row is one of them");
  refuse_other_kinds(options->output, diag);
  if (diag_has_errors(diag))
    return STATUS_OK;
  g_autoptr(Scenario) scenario = session_load_scenario(options->rest[0], options, diag);
  const char *fallback[] = {NULL, NULL};
  if (scenario && !options->machines)
    fallback[0] = session_default_machine(scenario, diag);
  g_autoptr(GPtrArray) machines = diag_has_errors(diag) ? NULL : session_load_machines(options, fallback, diag);
  return machines ? draw_on(scenario, g_ptr_array_index(machines, 0), options, diag) : STATUS_OK;
}

int cmd_draw(int argc, char **argv) { return session_command(&help, argc, argv, draw); }
