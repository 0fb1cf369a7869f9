#include "tests/unit/mc_lab.h"

#include "isa/mc/mc_cubin.h"
#include "isa/mc/mc_lower.h"
#include "tests/unit/unit.h"

Program *mc_lab_cubin(const char *folder, const char *file, const Program *like) {
  return mc_lab_cubin_of(folder, file, 90, like);
}

Program *mc_lab_cubin_of(const char *folder, const char *file, unsigned sm, const Program *like) {
  g_autofree char *path = g_build_filename(g_getenv("SRCDIR"), folder, file, NULL), *bytes = NULL;
  gsize length;
  ck_assert_msg(g_file_get_contents(path, &bytes, &length, NULL), "%s can't be read", path);
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(McModule) module = mc_cubin_read(file, (const uint8_t *)bytes, length, diag);
  Program *program = module ? mc_lower(module, mc_choose_arch(module, sm), like, NULL, false, diag) : NULL;
  for (guint i = 0; program && i < program->kernels->len; i++)
    if (program_kernel(program, i)->refusal)
      diag_add_all(diag, program_kernel(program, i)->refusal);
  g_autofree char *messages = diag_render(diag);
  ck_assert_msg(program != NULL && !diag_has_errors(diag), "%s", messages);
  return program;
}
