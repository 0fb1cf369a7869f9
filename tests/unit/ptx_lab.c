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

Program *ptx_lab_lower_good(const char *text, const PtxTarget *target) {
  g_autoptr(Diag) diag = diag_new();
  Program *program = ptx_lab_lower("k.ptx", text, target, diag);
  g_autofree char *messages = diag_render(diag);
  ck_assert_msg(program, "%s\nin\n%.2000s", messages, text);
  return program;
}

Program *ptx_lab_lower_body(const char *body, const PtxTarget *target) {
  g_autofree char *text = g_strconcat(LAB_OPEN, body, LAB_CLOSE, NULL);
  return ptx_lab_lower_good(text, target);
}

char *ptx_lab_opcodes(const Kernel *kernel) {
  GString *out = g_string_new(NULL);
  for (uint32_t i = 0; i < kernel->ninsts; i++)
    g_string_append_printf(out, "%s%s", i ? " " : "", op_info[kernel->insts[i].op].id);
  return g_string_free(out, FALSE);
}
