/* States that recur: whether another order ends them, and where there is no other, what keeps the lane from
 * ending. */
#include <glib.h>
#include <string.h>

#include "sim/detect/livelock.h"
#include "sim/detect/progress.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

/* Each block raises its flag, and lowers it again if the other's is up. */
#define AFTER_YOU                                                            \
  "MOV R0, c[0x0][0x20]; S2R R1, SR_CTAid_X; SHL R1, R1, 0x2;\n"             \
  "IADD R2, R0, R1; LOP.XOR R3, R1, 0x4; IADD R3, R0, R3; MOV32I R4, 0x1;\n" \
  "try: ST.CG [R2], R4; LD.CV R5, [R3]; ISETP.EQ.AND P0, pt, R5, RZ, pt;\n"  \
  "@P0 EXIT; ST.CG [R2], RZ; BRA try;\n"
/* Each block exchanges a word of its own, which nobody else changes. */
#define FOR_ITSELF                                                                                       \
  "MOV R0, c[0x0][0x20]; S2R R1, SR_CTAid_X; SHL R1, R1, 0x2; IADD R2, R0, R1; MOV32I R4, 0x1;\n"        \
  "try: ATOM.EXCH R5, [R2], R4; ATOM.EXCH R5, [R2], RZ; ISETP.EQ.AND P0, pt, R5, R4, pt; @P0 BRA try;\n" \
  "EXIT;\n"

/* Each lane takes its own word and then the other lane's, and gives its own back if it doesn't get that. */
#define BOTH_WORDS                                                                  \
  "MOV R0, c[0x0][0x20]; S2R R1, SR_Tid_X; SHL R1, R1, 0x2;\n"                      \
  "IADD R2, R0, R1; LOP.XOR R3, R1, 0x4; IADD R3, R0, R3; MOV32I R4, 0x1;\n"        \
  "try: ATOM.CAS R5, [R2], RZ, R4; ISETP.NE.AND P0, pt, R5, RZ, pt; @P0 BRA try;\n" \
  "ATOM.CAS R5, [R3], RZ, R4; ISETP.EQ.AND P0, pt, R5, RZ, pt; @P0 EXIT; ATOM.EXCH R5, [R2], RZ; BRA try;\n"

static Finding *report(const char *text, uint32_t lanes, bool expected) {
  g_autoptr(Lab) lab = lab_new("gpu.sms=2", text);
  lab_buffer(lab, 2);
  lab_launch(lab, 2, lanes);
  ck_assert_int_eq(gpu_run(lab->gpu, 40, UINT64_MAX), GPU_BUDGET);
  Counters before = lab->gpu->counters;
  uint64_t cycle = lab->gpu->cycle;
  bool ends = false;
  Finding *finding = livelock_report(lab->gpu, &ends);
  ck_assert_int_eq(ends, expected);
  ck_assert(memcmp(&before, &lab->gpu->counters, sizeof before) == 0);
  ck_assert_uint_eq(cycle, lab->gpu->cycle);
  return finding;
}

static const char *evidence(const Finding *finding, guint index) {
  return ((const Evidence *)g_ptr_array_index(finding->evidence, index))->text;
}

START_TEST(shows_an_order_that_ends_it) {
  Finding *finding = report(AFTER_YOU, 1, true);
  ck_assert_ptr_nonnull(strstr(finding->message, "in another order of steps this warp finishes"));
  ck_assert_ptr_nonnull(strstr(finding->repair, "back off by different times"));
  ck_assert_uint_ge(finding->evidence->len, 3);
  ck_assert_ptr_nonnull(strstr(evidence(finding, 0), "an order that ends it"));
  ck_assert_ptr_nonnull(strstr(evidence(finding, finding->evidence->len - 2), "loads"));
  ck_assert_ptr_nonnull(strstr(evidence(finding, finding->evidence->len - 1), "exits"));
  finding_free(finding);
}
END_TEST

START_TEST(claims_no_order_where_it_finds_none) {
  Finding *finding = report(FOR_ITSELF, 1, false);
  ck_assert_ptr_nonnull(strstr(finding->message, "in no order of warps that was tried"));
  ck_assert_ptr_null(strstr(finding->repair, "back off"));
  ck_assert_uint_eq(finding->evidence->len, 0);
  finding_free(finding);
}
END_TEST

START_TEST(lanes_in_step_need_an_order) {
  Finding *finding = report(BOTH_WORDS, 2, false);
  ck_assert_ptr_nonnull(strstr(finding->message, "in no order of warps that was tried"));
  ck_assert_ptr_nonnull(strstr(finding->repair, "take locks in one order"));
  finding_free(finding);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("livelock");
  TCase *tcase = tcase_create("livelock");
  tcase_add_test(tcase, shows_an_order_that_ends_it);
  tcase_add_test(tcase, claims_no_order_where_it_finds_none);
  tcase_add_test(tcase, lanes_in_step_need_an_order);
  tcase_set_timeout(tcase, 60);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
