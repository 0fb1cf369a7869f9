#include "sim/machine/units.h"

#include <math.h>
#include <string.h>

#include "base/quote.h"

typedef struct Spelling {
  const char *text;
  double factor;
} Spelling;

/* One unit: how it is written (the first that fits is used to print), what a message expects, an example. */
typedef struct UnitInfo {
  const char *expected, *example;
  bool required;
  Spelling spellings[8];
} UnitInfo;

static const UnitInfo units[] = {
    [UNIT_COUNT] = {"a plain number", "16", false, {{"", 1}}},
    [UNIT_CYCLES] = {"cycles", "18 cycles", false, {{"cycles", 1}, {"cycle", 1}}},
    [UNIT_BYTES] = {"bytes, KiB, MiB or GiB",
                    "48 KiB",
                    false,
                    {{"GiB", 0x1p30}, {"MiB", 0x1p20}, {"KiB", 0x1p10}, {"bytes", 1}, {"byte", 1}, {"B", 1}}},
    [UNIT_BITS] = {"bits", "1024 bits", false, {{"bits", 1}, {"bit", 1}}},
    [UNIT_BYTES_PER_CYCLE] = {"bytes/cycle",
                              "104 bytes/cycle",
                              false,
                              {{"bytes/cycle", 1}, {"byte/cycle", 1}, {"B/cycle", 1}}},
    [UNIT_HERTZ] = {"Hz, kHz, MHz or GHz", "1464 MHz", true, {{"GHz", 1e9}, {"MHz", 1e6}, {"kHz", 1e3}, {"Hz", 1}}},
};

/* The length of a decimal number at the start of `text`; 0 if there is none. Narrower than strtod, which would take
 * hexadecimal, "nan" and "infinity". */
static size_t scan_number(const char *text) {
  const char *p = text;
  if (*p == '-' || *p == '+')
    p++;
  const char *digits = p;
  while (g_ascii_isdigit(*p))
    p++;
  size_t count = (size_t)(p - digits);
  if (*p == '.') {
    p++;
    for (; g_ascii_isdigit(*p); p++)
      count++;
  }
  if (count == 0)
    return 0;
  if (*p == 'e' || *p == 'E') {
    const char *exponent = p + 1 + (p[1] == '-' || p[1] == '+');
    if (g_ascii_isdigit(*exponent)) {
      for (p = exponent; g_ascii_isdigit(*p); p++)
        ;
    }
  }
  return (size_t)(p - text);
}

static bool find_factor(const UnitInfo *info, const char *spelling, double *factor) {
  for (const Spelling *s = info->spellings; s->text; s++) {
    if (strcmp(s->text, spelling) == 0) {
      *factor = s->factor;
      return true;
    }
  }
  *factor = 1;
  return !*spelling && !info->required;
}

char *units_parse(const char *text, Unit unit, double *value) {
  const UnitInfo *info = &units[unit];
  g_autofree char *trimmed = g_strstrip(g_strdup(text));
  g_autofree char *quoted = quote_text(trimmed);
  size_t length = scan_number(trimmed);
  if (!*trimmed)
    return g_strdup_printf("no value; expected %s, for example `%s`", info->expected, info->example);
  if (length == 0)
    return g_strdup_printf("%s is not a number; expected %s, for example `%s`", quoted, info->expected,
                           info->example);
  const char *spelling = trimmed + length;
  while (g_ascii_isspace(*spelling))
    spelling++;
  double factor;
  if (!find_factor(info, spelling, &factor)) {
    if (!*spelling)
      return g_strdup_printf("%s has no unit; expected %s, for example `%s`", quoted, info->expected, info->example);
    g_autofree char *wrong = quote_text(spelling);
    return g_strdup_printf("%s has the wrong unit %s; expected %s, for example `%s`", quoted, wrong, info->expected,
                           info->example);
  }
  *value = g_ascii_strtod(trimmed, NULL) * factor;
  return isfinite(*value) ? NULL : g_strdup_printf("%s is too large", quoted);
}

/* The spelling to print `value` with. Bytes want a whole number; frequencies stay in MHz, as data sheets do, up to
 * 10 GHz. */
static const Spelling *choose_spelling(double value, Unit unit) {
  const Spelling *s = units[unit].spellings;
  if (unit == UNIT_BYTES) {
    while (s->factor > 1 && (value < s->factor || fmod(value, s->factor) != 0))
      s++;
  } else if (unit == UNIT_HERTZ) {
    while (s->factor > 1 && value < (s->factor == 1e9 ? 1e10 : s->factor))
      s++;
  }
  bool singular = value == 1 && s->factor == 1 && unit != UNIT_COUNT && unit != UNIT_HERTZ;
  return singular ? s + 1 : s;
}

static char *format_with(double value, const Spelling *spelling, int digits) {
  char number[G_ASCII_DTOSTR_BUF_SIZE], format[8];
  g_snprintf(format, sizeof format, "%%.%dg", digits);
  g_ascii_formatd(number, sizeof number, format, value / spelling->factor);
  return *spelling->text ? g_strdup_printf("%s %s", number, spelling->text) : g_strdup(number);
}

char *units_format(double value, Unit unit) {
  const Spelling *spelling = choose_spelling(value, unit);
  double again;
  for (int digits = 10; digits <= 17; digits++) {
    char *text = format_with(value, spelling, digits);
    g_autofree char *problem = units_parse(text, unit, &again);
    if (!problem && again == value)
      return text;
    g_free(text);
  }
  /* Scaling lost the last bit: the base unit needs no scaling. */
  while (spelling->factor != 1)
    spelling++;
  return format_with(value, spelling, 17);
}
