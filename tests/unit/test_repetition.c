/* Warps that only repeat themselves, and warps that count on, but seldom. */
#include <glib.h>

#include "sim/detect/proof/repetition.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

/* Each block looks for a flag that nobody raises, at 16 words in turn, and after so many rounds, a power of two,
 * comes by `seldom`. The rounds are masked, so that their number is the same again after that many. */
#define LOOKS(mask, seldom)                                                                   \
  "MOV R0, c[0x0][0x20]; MOV R1, RZ; MOV R6, RZ;\n"                                           \
  "look: LOP.AND R2, R1, 0xf; SHL R2, R2, 0x2; IADD R2, R0, R2; LD.CV R5, [R2];\n"            \
  "ISETP.NE.AND P0, pt, R5, RZ, pt; @P0 EXIT; IADD R1, R1, 0x1; LOP.AND R1, R1, " #mask ";\n" \
  "ISETP.NE.AND P0, pt, R1, RZ, pt; @P0 BRA look;\n" seldom "BRA look;\n"
/* The work of a block: it ends after so many of these. */
#define COUNTS "IADD R6, R6, 0x1; ISETP.EQ.AND P1, pt, R6, 0xffff, pt; @P1 EXIT;\n"

static bool repeats(const char *text) {
  g_autoptr(Lab) lab = lab_new("gpu.sms=2", text);
  lab_buffer(lab, 16);
  lab_launch(lab, 2, 1);
  ck_assert_int_eq(gpu_run(lab->gpu, 1000, UINT64_MAX), GPU_BUDGET);
  GpuStop stop;
  RepetitionSeen *seen = repetition_seen_new();
  bool repeats = repetition_watch(lab->gpu, seen, UINT64_MAX, UINT64_MAX, &stop);
  repetition_seen_free(seen);
  ck_assert_int_eq(stop, GPU_BUDGET);
  return repeats;
}

START_TEST(rounds_repeat) { ck_assert(repeats(LOOKS(0x7f, ""))); }
END_TEST

/* One of 1152 states is new, fewer than what noise alone may leave unseen; but no loop's counter stands still. */
START_TEST(who_counts_seldom_does_not_repeat) { ck_assert(!repeats(LOOKS(0x7f, COUNTS))); }
END_TEST

int main(void) {
  Suite *suite = suite_create("repetition");
  TCase *tcase = tcase_create("repetition");
  tcase_add_test(tcase, rounds_repeat);
  tcase_add_test(tcase, who_counts_seldom_does_not_repeat);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
