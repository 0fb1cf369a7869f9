/* Which source file of an executable a scenario means: the one that has its kernels. */
#include "isa/mc/mc_fatbin.h"
#include "sim/scenario/programs.h"

/* How many units of code the bytes hold: 1 of what isn't a file of the host; 0 if it can't be read. */
static unsigned units_of(const char *file, const char *text, gsize length) {
  if (!mc_is_fatbin((const uint8_t *)text, length))
    return 1;
  g_autoptr(Diag) ignored = diag_new();
  g_autoptr(GArray) entries = mc_fatbin_read(file, (const uint8_t *)text, length, ignored);
  return entries ? mc_fatbin_units(entries) : 0;
}

static bool has_all(Programs *programs, const char *const *kernels) {
  bool several;
  for (; *kernels; kernels++)
    if (programs_find_kernel(programs, *kernels, &several) < 0 && !several)
      return false;
  return true;
}

static void add_names(Programs *programs, GPtrArray *names) {
  g_auto(GStrv) own = programs_kernel_names(programs);
  for (char **name = own; *name; name++)
    g_ptr_array_add(names, g_strdup(*name));
}

/* None of the units has all the kernels that are named, or none is named. */
static void no_unit(const char *file, const char *const *kernels, GPtrArray *names, unsigned units, Diag *diag) {
  g_ptr_array_add(names, NULL);
  g_autofree char *all = g_strjoinv("`, `", (char **)names->pdata);
  if (!kernels || !*kernels)
    diag_usage(diag, "%s has code of %u source files with kernels: say which with --kernel NAME", file, units);
  else if (kernels[1])
    diag_error(diag, file, 0, 0,
               "it has code of %u source files, and none of them has all the kernels that are launched", units);
  else
    diag_error(diag, file, 0, 0, "it has code of %u source files, and none of them has a kernel `%s`", units,
               *kernels);
  if (kernels && *kernels && !kernels[1])
    diag_hint_nearest(diag, *kernels, (const char *const *)names->pdata);
  diag_hint(diag, "kernels: `%s`", all);
}

Programs *programs_open(const char *file, const char *path, const char *text, gsize length,
                        const ProgramsOptions *options, Diag *diag) {
  unsigned units = units_of(file, text, length);
  if (units < 2)
    return programs_new(file, path, text, length, options, diag);
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  for (unsigned unit = 0; unit < units; unit++) {
    ProgramsOptions one = *options;
    one.unit = unit;
    Programs *programs = programs_new(file, path, text, length, &one, diag);
    if (!programs || (options->kernels && *options->kernels && has_all(programs, options->kernels)))
      return programs;
    add_names(programs, names);
    programs_free(programs);
  }
  no_unit(file, options->kernels, names, units, diag);
  return NULL;
}
