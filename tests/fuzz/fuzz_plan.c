/* Any bytes as the plan of a sweep; what is accepted must survive its own text. */
#include <stdlib.h>
#include <string.h>

#include "sim/study/sweep/plan.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Plan) plan = plan_parse("/fuzz.yaml", (const char *)data, size, diag);
  g_free(diag_render(diag));
  if (!plan)
    return 0;
  g_autofree char *text = plan_text(plan);
  g_autoptr(Diag) again_diag = diag_new();
  g_autoptr(Plan) again = plan_parse("/fuzz.yaml", text, strlen(text), again_diag);
  if (!again || plan_points(again) != plan_points(plan))
    abort();
  g_autofree char *text_again = plan_text(again);
  if (strcmp(text, text_again) != 0)
    abort();
  return 0;
}
