/* gpu_list.c - writes the list that run_ptx.cu reads: scenarios as they run on a machine, all expressions evaluated.
 *
 * gpu_list MACHINE FILE.yaml[:NAME=VALUE...]... > LIST       ("x.yaml:blocks=32:fences=1")
 *
 * Scenarios with steps of the CPU, and those that aren't tested on the machine, are left out; the latter not if
 * parameters are given. The list has one item a line, its words separated by blanks:
 *   case NAME                        a scenario, with its parameters as given
 *   module FILE.ptx
 *   buffer NAME WORDS INITIAL...     words; the others are 0
 *   launch KERNEL GX GY GZ BX BY BZ SHARED STREAM COOPERATIVE ARGUMENT...
 * An argument is the name of a buffer, a number, or `=HEX@BYTE:BUFFER...`: bytes, and where addresses of buffers
 * go. */
#include <glib.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "sim/machine/machine.h"
#include "sim/scenario/scenario.h"

static const ScenarioBuffer *buffer_of(const Scenario *scenario, guint index) {
  return g_ptr_array_index(scenario->buffers, index);
}

static void print_buffer(const ScenarioBuffer *buffer) {
  uint32_t given = buffer->init ? buffer->words : 0;
  while (given && !buffer->init[given - 1])
    given--;
  printf("buffer %s %" G_GUINT32_FORMAT, buffer->name, buffer->words);
  for (uint32_t i = 0; i < given; i++)
    printf(" %" G_GUINT32_FORMAT, buffer->init[i]);
  putchar('\n');
}

static void print_bytes(const Scenario *scenario, const void *bytes, gsize count, const GArray *addresses) {
  fputs(" =", stdout);
  for (gsize i = 0; i < count; i++)
    printf("%02x", ((const uint8_t *)bytes)[i]);
  for (guint i = 0; addresses && i < addresses->len; i++) {
    const ScenarioAddress *address = &g_array_index(addresses, ScenarioAddress, i);
    printf("@%" G_GUINT32_FORMAT ":%s", address->offset, buffer_of(scenario, address->buffer)->name);
  }
}

static void print_arg(const Scenario *scenario, const ScenarioArg *arg) {
  switch (arg->kind) {
  case ARG_BUFFER: printf(" %s", buffer_of(scenario, arg->buffer)->name); break;
  case ARG_INTEGER: printf(" %" G_GINT64_FORMAT, arg->integer); break;
  case ARG_F32: print_bytes(scenario, &arg->f32, sizeof arg->f32, NULL); break;
  case ARG_F64: print_bytes(scenario, &arg->f64, sizeof arg->f64, NULL); break;
  case ARG_BYTES:
    print_bytes(scenario, g_bytes_get_data(arg->bytes, NULL), g_bytes_get_size(arg->bytes), arg->addresses);
    break;
  }
}

static void print_launch(const Scenario *scenario, const ScenarioLaunch *launch) {
  const Kernel *kernel = g_ptr_array_index(scenario->program->kernels, launch->kernel);
  const uint32_t *grid = launch->grid, *block = launch->block;
  printf("launch %s %u %u %u %u %u %u %u %d %d", kernel->name, grid[0], grid[1], grid[2], block[0], block[1],
         block[2], launch->shared_bytes, launch->stream, launch->cooperative);
  for (guint i = 0; i < launch->args->len; i++)
    print_arg(scenario, &g_array_index(launch->args, ScenarioArg, i));
  putchar('\n');
}

/* The PTX beside the scenario; NULL if it has none. */
static char *module_of(const char *path) {
  g_autofree char *text = NULL, *folder = g_path_get_dirname(path);
  g_autoptr(GRegex) regex = g_regex_new("^program:\\s*(\\S+\\.ptx)\\s*$", G_REGEX_MULTILINE, 0, NULL);
  g_autoptr(GMatchInfo) match = NULL;
  if (!g_file_get_contents(path, &text, NULL, NULL) || !g_regex_match(regex, text, 0, &match))
    return NULL;
  g_autofree char *name = g_match_info_fetch(match, 1);
  return g_build_filename(folder, name, NULL);
}

static void print_scenario(const Scenario *scenario, const char *name, const char *module) {
  printf("case %s\nmodule %s\n", name, module);
  for (guint i = 0; i < scenario->buffers->len; i++)
    if (buffer_of(scenario, i)->variable < 0)
      print_buffer(buffer_of(scenario, i));
  for (guint i = 0; i < scenario->launches->len; i++)
    print_launch(scenario, g_ptr_array_index(scenario->launches, i));
}

/* False after errors. */
static bool show(const char *machine, const char *item) {
  g_auto(GStrv) parts = g_strsplit(item, ":", -1);
  g_autoptr(Diag) diag = diag_new();
  ScenarioOptions options = {.params = (const char *const *)parts + 1, .machine = machine};
  g_autoptr(Scenario) scenario = scenario_load(parts[0], &options, diag);
  g_autofree char *text = diag_render(diag), *module = module_of(parts[0]);
  fputs(text, stderr);
  if (scenario && module && !scenario->host &&
      (parts[1] || g_strv_contains((const char *const *)scenario->machines, machine))) {
    g_autoptr(GString) name = g_string_new(item);
    g_string_replace(name, ".yaml", "", 1);
    print_scenario(scenario, name->str, module);
  }
  return scenario != NULL;
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fputs("usage: gpu_list MACHINE FILE.yaml[:NAME=VALUE...]...\n", stderr);
    return 2;
  }
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Machine) machine = machine_load(argv[1], NULL, diag);
  if (!machine) {
    g_autofree char *messages = diag_render(diag);
    fputs(messages, stderr);
    return 2;
  }
  bool right = true;
  for (int i = 2; i < argc; i++)
    right &= show(argv[1], argv[i]);
  return right ? 0 : 1;
}
