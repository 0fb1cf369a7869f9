/* printf and assert in kernels: formats, and where their arguments come from. */
#include <glib.h>
#include <string.h>

#include "sim/core/access.h"
#include "sim/core/print.h"
#include "sim/engine/rng.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

#define MINUS(n) ((uint32_t) - (int32_t)(n))

typedef struct Strings {
  const char *bytes;
  uint32_t count;
} Strings;

static bool peek_string(void *user, uint64_t address, uint8_t *byte) {
  const Strings *strings = user;
  if (address < 16 || address - 16 >= strings->count)
    return false;
  *byte = (uint8_t)strings->bytes[address - 16];
  return true;
}

/* The format lies at 16; "text" behind it; then the arguments, which begin at a multiple of 8. */
static int print(GString *out, const char *format, const void *args, uint32_t bytes) {
  g_autoptr(GByteArray) all = g_byte_array_new();
  g_byte_array_append(all, (const guint8 *)format, (guint)strlen(format) + 1);
  while ((all->len + 16) % 8)
    g_byte_array_append(all, (const guint8 *)"", 1);
  guint at = all->len;
  if (bytes)
    g_byte_array_append(all, args, bytes);
  Strings strings = {(const char *)all->data, all->len};
  uint64_t bad;
  return print_format(out, peek_string, &strings, 16, 16 + at, &bad);
}

typedef struct PrintCase {
  const char *format;
  uint32_t words[6];
  uint32_t bytes;
  const char *output;
  int taken;
} PrintCase;

static const PrintCase prints[] = {
    {"plain", {0}, 0, "plain", 0},
    {"%d %u", {MINUS(5), 5}, 8, "-5 5", 2},
    {"%i|%5d|%-5d|%05d|%+d", {1, 2, 3, 4, 5}, 20, "1|    2|3    |00004|+5", 5},
    {"%x %X %#x %o", {255, 255, 255, 8}, 16, "ff FF 0xff 10", 4},
    {"%c%c", {'a', 'b'}, 8, "ab", 2},
    {"%d %f", {1, 0, 0, 0x3ff80000}, 16, "1 1.500000", 2}, /* 8-byte aligned */
    {"%.2f|%8.1e|%g", {0, 0x3ff80000, 0, 0x40590000, 0, 0x3fe00000}, 24, "1.50| 1.0e+02|0.5", 3},
    {"%lld %llx", {MINUS(1), MINUS(1), 0, 1}, 16, "-1 100000000", 2},
    {"%ld", {5, 1}, 8, "4294967301", 1},
    {"%hd %hhu", {0xffff, 0x1ff}, 8, "-1 255", 2},
    {"%*d", {4, 7}, 8, "   7", 2},
    {"%.*f", {1, 0, 0, 0x3ff80000}, 16, "1.5", 2},
    {"%*d|", {MINUS(4), 7}, 8, "7   |", 2},
    {"100%%", {0}, 0, "100%", 0},
    {"%s", {0, 0}, 8, "(null)", 1},
    {"%p", {0x1234, 0}, 8, "0x1234", 1},
    {"%q %d", {3}, 4, "%q 3", 1}, /* none of ours: as it stands */
    {"%n%d", {3}, 4, "%n3", 1},
    {"end %", {0}, 0, "end %", 0},
    {"end %-08.3", {0}, 0, "end %-08.3", 0},
    {"%s", {16, 0}, 8, "%s", 1}, /* its own format */
    {"%5s|%-5s|%.1s", {16, 0, 16, 0, 16, 0}, 24, "%5s|%-5s|%.1s|%5s|%-5s|%.1s|%", 3},
    {"%d", {0}, 0, NULL, -1},    /* the argument isn't there */
    {"%s", {8, 0}, 8, NULL, -1}, /* nothing lies there */
};

START_TEST(prints_formats) {
  const PrintCase *c = &prints[_i];
  g_autoptr(GString) out = g_string_new("before ");
  int taken = print(out, c->format, c->words, c->bytes);
  ck_assert_msg(taken == c->taken, "%s: %d arguments", c->format, taken);
  ck_assert_msg(strcmp(out->str + 7, c->output ? c->output : "") == 0, "%s: \"%s\"", c->format, out->str + 7);
}
END_TEST

/* No format crashes: random ones of the characters that mean something. */
START_TEST(prints_any_format) {
  static const char letters[] = "%%%%d-+ #0.*lhsfxcpq9";
  Rng rng;
  rng_seed(&rng, 1, (uint64_t)_i);
  for (unsigned round = 0; round < 2000; round++) {
    char format[24] = {0};
    uint32_t args[64];
    for (unsigned i = 0; i < 1 + rng_below(&rng, 22); i++)
      format[i] = letters[rng_below(&rng, sizeof letters - 1)];
    for (unsigned i = 0; i < 64; i++)
      args[i] = rng_below(&rng, 2) ? (uint32_t)rng_next(&rng) : rng_below(&rng, 64);
    g_autoptr(GString) out = g_string_new(NULL);
    int taken = print(out, format, args, sizeof args);
    UNIT_ASSERT(taken >= -1 && taken <= 23, "%s: %d", format, taken);
  }
}
END_TEST

/* Lanes in order, arguments from each one's local memory; the result is the number of arguments. */
START_TEST(kernels_print) {
  g_autoptr(Lab) lab = lab_new_local("", "IADD R6, R0, R2; EXIT; MOV R8, RZ", 8);
  static const char format[] = "lane %d\n";
  uint32_t *data = lab_buffer(lab, 4);
  memcpy(data, format, sizeof format);
  Inst *inst = lab_inst(lab, 0);
  inst->op = OP_PRINTF;
  inst->wide = WIDE_A | WIDE_B;
  lab_launch(lab, 1, 3);
  lab_place(lab);
  lab_set_row(lab, 0, (uint32_t)backing_buffer(lab->backing, 0)->base, 0);
  lab_set_row(lab, 2, LOCAL_WINDOW + 4, 0);
  local_memory_store(&lab_warp(lab, 0)->local, 1, 7, ALL_LANES, (const uint32_t[32]){0, 10, 20});
  lab_finish(lab);
  ck_assert_str_eq(lab->gpu->printed->str, "lane 0\nlane 10\nlane 20\n");
  ck_assert_uint_eq(lab_row(lab, 0, 6)[2], 1);
}
END_TEST

START_TEST(kernels_print_rubbish) {
  g_autoptr(Lab) lab = lab_new_local("", "IADD R6, R0, R2; EXIT; MOV R8, RZ", 8);
  lab_inst(lab, 0)->op = OP_PRINTF;
  lab_launch(lab, 1, 1);
  lab_place(lab);
  lab_set_row(lab, 0, 0x44, 0);
  lab_expect_fault(lab, "printf reads generic address 0x44");
}
END_TEST

START_TEST(assertions_fail) {
  g_autoptr(Lab) lab = lab_new("", "IMAD R8, R0, R2, R4; EXIT; MOV R9, RZ");
  char *data = (char *)lab_buffer(lab, 8);
  strcpy(data, "x > 0");
  strcpy(data + 8, "k.cu");
  Inst *inst = lab_inst(lab, 0);
  inst->op = OP_ASSERTFAIL;
  inst->wide = WIDE_A | WIDE_B;
  lab_launch(lab, 1, 32);
  lab_place(lab);
  lab_set_row(lab, 0, (uint32_t)backing_buffer(lab->backing, 0)->base, 0);
  lab_set_row(lab, 2, (uint32_t)backing_buffer(lab->backing, 0)->base + 8, 0);
  lab_set_row(lab, 4, 12, 0);
  lab_expect_fault(lab, "assertion `x > 0` failed at k.cu:12");
}
END_TEST

int main(void) {
  Suite *suite = suite_create("print");
  TCase *tcase = tcase_create("print");
  tcase_add_loop_test(tcase, prints_formats, 0, G_N_ELEMENTS(prints));
  tcase_add_loop_test(tcase, prints_any_format, 0, 4);
  tcase_add_test(tcase, kernels_print);
  tcase_add_test(tcase, kernels_print_rubbish);
  tcase_add_test(tcase, assertions_fail);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
