#include <glib.h>
#include <stdlib.h>

#include "sim/machine/units.h"
#include "tests/unit/unit.h"

typedef struct Reading {
  const char *text;
  Unit unit;
  double value;
  const char *problem; /* NULL: `value` is read */
} Reading;

static const Reading readings[] = {
    {"18 cycles", UNIT_CYCLES, 18, NULL},
    {"1 cycle", UNIT_CYCLES, 1, NULL},
    {"18", UNIT_CYCLES, 18, NULL},
    {" 18cycles ", UNIT_CYCLES, 18, NULL},
    {"1.5 cycles", UNIT_CYCLES, 1.5, NULL},
    {"-3 cycles", UNIT_CYCLES, -3, NULL},
    {"48 KiB", UNIT_BYTES, 49152, NULL},
    {"1.5KiB", UNIT_BYTES, 1536, NULL},
    {"1 MiB", UNIT_BYTES, 1048576, NULL},
    {"2 GiB", UNIT_BYTES, 2147483648.0, NULL},
    {"128 bytes", UNIT_BYTES, 128, NULL},
    {"1 byte", UNIT_BYTES, 1, NULL},
    {"128 B", UNIT_BYTES, 128, NULL},
    {"128", UNIT_BYTES, 128, NULL},
    {"1024 bits", UNIT_BITS, 1024, NULL},
    {"1024", UNIT_BITS, 1024, NULL},
    {"104 bytes/cycle", UNIT_BYTES_PER_CYCLE, 104, NULL},
    {"104", UNIT_BYTES_PER_CYCLE, 104, NULL},
    {"1464 MHz", UNIT_HERTZ, 1464e6, NULL},
    {"1.464 GHz", UNIT_HERTZ, 1464e6, NULL},
    {"1464000 kHz", UNIT_HERTZ, 1464e6, NULL},
    {"1464e6 Hz", UNIT_HERTZ, 1464e6, NULL},
    {"16", UNIT_COUNT, 16, NULL},
    {"1e3", UNIT_COUNT, 1000, NULL},
    {".5", UNIT_COUNT, 0.5, NULL},
    {"18 ns", UNIT_CYCLES, 0, "`18 ns` has the wrong unit `ns`; expected cycles, for example `18 cycles`"},
    {"18 Cycles", UNIT_CYCLES, 0,
     "`18 Cycles` has the wrong unit `Cycles`; expected cycles, for example `18 cycles`"},
    {"48 KB", UNIT_BYTES, 0,
     "`48 KB` has the wrong unit `KB`; expected bytes, KiB, MiB or GiB, for example `48 KiB`"},
    {"48 cycles", UNIT_BYTES, 0,
     "`48 cycles` has the wrong unit `cycles`; expected bytes, KiB, MiB or GiB, for example `48 KiB`"},
    {"1024 bytes", UNIT_BITS, 0, "`1024 bytes` has the wrong unit `bytes`; expected bits, for example `1024 bits`"},
    {"104 bytes", UNIT_BYTES_PER_CYCLE, 0,
     "`104 bytes` has the wrong unit `bytes`; expected bytes/cycle, for example `104 bytes/cycle`"},
    {"16 sms", UNIT_COUNT, 0, "`16 sms` has the wrong unit `sms`; expected a plain number, for example `16`"},
    {"1464", UNIT_HERTZ, 0, "`1464` has no unit; expected Hz, kHz, MHz or GHz, for example `1464 MHz`"},
    {"1464 mhz", UNIT_HERTZ, 0,
     "`1464 mhz` has the wrong unit `mhz`; expected Hz, kHz, MHz or GHz, for example `1464 MHz`"},
    {"0x10", UNIT_COUNT, 0, "`0x10` has the wrong unit `x10`; expected a plain number, for example `16`"},
    {"", UNIT_CYCLES, 0, "no value; expected cycles, for example `18 cycles`"},
    {"  ", UNIT_CYCLES, 0, "no value; expected cycles, for example `18 cycles`"},
    {"fast", UNIT_CYCLES, 0, "`fast` is not a number; expected cycles, for example `18 cycles`"},
    {"cycles", UNIT_CYCLES, 0, "`cycles` is not a number; expected cycles, for example `18 cycles`"},
    {"nan", UNIT_COUNT, 0, "`nan` is not a number; expected a plain number, for example `16`"},
    {"inf", UNIT_COUNT, 0, "`inf` is not a number; expected a plain number, for example `16`"},
    {"-", UNIT_COUNT, 0, "`-` is not a number; expected a plain number, for example `16`"},
    {".", UNIT_COUNT, 0, "`.` is not a number; expected a plain number, for example `16`"},
    {"1e", UNIT_COUNT, 0, "`1e` has the wrong unit `e`; expected a plain number, for example `16`"},
    {"1 2", UNIT_COUNT, 0, "`1 2` has the wrong unit `2`; expected a plain number, for example `16`"},
    {"1e999", UNIT_COUNT, 0, "`1e999` is too large"},
    {"1\n2", UNIT_COUNT, 0, "`1\\x0a2` has the wrong unit `2`; expected a plain number, for example `16`"},
};

START_TEST(reads) {
  const Reading *r = &readings[_i];
  double value = 0;
  g_autofree char *problem = units_parse(r->text, r->unit, &value);
  if (r->problem) {
    ck_assert_str_eq(problem ? problem : "(accepted)", r->problem);
  } else {
    ck_assert_msg(!problem, "case %d: %s", _i, problem);
    ck_assert_msg(value == r->value, "case %d: %s gave %g", _i, r->text, value);
  }
}
END_TEST

typedef struct Printing {
  double value;
  Unit unit;
  const char *text;
} Printing;

static const Printing printings[] = {
    {18, UNIT_CYCLES, "18 cycles"},
    {1, UNIT_CYCLES, "1 cycle"},
    {0, UNIT_CYCLES, "0 cycles"},
    {49152, UNIT_BYTES, "48 KiB"},
    {1048576, UNIT_BYTES, "1 MiB"},
    {1 << 30, UNIT_BYTES, "1 GiB"},
    {128, UNIT_BYTES, "128 bytes"},
    {1025, UNIT_BYTES, "1025 bytes"},
    {1, UNIT_BYTES, "1 byte"},
    {1024, UNIT_BITS, "1024 bits"},
    {1, UNIT_BITS, "1 bit"},
    {104, UNIT_BYTES_PER_CYCLE, "104 bytes/cycle"},
    {1464e6, UNIT_HERTZ, "1464 MHz"},
    {1e6, UNIT_HERTZ, "1 MHz"},
    {1e11, UNIT_HERTZ, "100 GHz"},
    {1500, UNIT_HERTZ, "1.5 kHz"},
    {1, UNIT_HERTZ, "1 Hz"},
    {16, UNIT_COUNT, "16"},
    {1, UNIT_COUNT, "1"},
    {2147483647, UNIT_COUNT, "2147483647"},
};

START_TEST(prints) {
  const Printing *p = &printings[_i];
  g_autofree char *text = units_format(p->value, p->unit);
  ck_assert_str_eq(text, p->text);
}
END_TEST

START_TEST(prints_what_it_reads) {
  g_autoptr(GRand) rand = g_rand_new_with_seed((guint32)_i);
  for (Unit unit = UNIT_COUNT; unit <= UNIT_HERTZ; unit++) {
    double value = _i % 2 ? g_rand_int(rand) : g_rand_double_range(rand, 1, 1e11), again = -1;
    g_autofree char *text = units_format(value, unit);
    g_autofree char *problem = units_parse(text, unit, &again);
    ck_assert_msg(!problem && again == value, "seed %d, unit %d: %.17g printed as %s", _i, unit, value, text);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("units");
  TCase *tcase = tcase_create("units");
  tcase_add_loop_test(tcase, reads, 0, G_N_ELEMENTS(readings));
  tcase_add_loop_test(tcase, prints, 0, G_N_ELEMENTS(printings));
  tcase_add_loop_test(tcase, prints_what_it_reads, 0, 200);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
