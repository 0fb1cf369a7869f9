#include "tests/unit/ptx_lab.h"

#include <check.h>
#include <string.h>

#include "isa/ptx/ptx_parse.h"

Program *ptx_lab_lower(const char *file, const char *text, const PtxTarget *target, Diag *diag) {
  g_autoptr(PtxModule) module = ptx_parse(file, text, strlen(text), diag);
  Program *program = module ? ptx_lower(module, target, diag) : NULL;
  bool refused = false;
  for (guint i = 0; program && i < program->kernels->len; i++) {
    const Kernel *kernel = program_kernel(program, i);
    ck_assert_msg(!kernel->refusal == (kernel->ninsts > 0), "kernel %s", kernel->name);
    if (kernel->refusal)
      diag_add_all(diag, kernel->refusal);
    refused |= kernel->refusal != NULL;
  }
  if (refused)
    g_clear_pointer(&program, program_free);
  ck_assert(!program == diag_has_errors(diag));
  return program;
}
