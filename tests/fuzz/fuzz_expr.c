/* Any text as an expression over two names. */
#include "sim/scenario/expr.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

static bool look_up(const char *name, int64_t *value, gpointer user) {
  *value = 7;
  return strcmp(name, "blocks") == 0 || strcmp(name, "ops") == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const names[] = {"blocks", "ops", NULL};
  ExprScope scope = {look_up, NULL, names};
  g_autofree char *text = g_strndup((const char *)data, size);
  g_autoptr(Diag) diag = diag_new();
  int64_t value;
  expr_evaluate(text, &scope, "fuzz.yaml", 1, 1, &value, diag);
  g_free(diag_render(diag));
  return 0;
}
