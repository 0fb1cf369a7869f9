#include "sim/machine/params.h"

#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "base/quote.h"

#define SPELLING(enumerator, spelling) spelling,
static const Param rows[] = {
#define BEGIN(base, name, doc) {#base, PARAM_SECTION, UNIT_COUNT, 0, 0, 0, 0, NULL, doc},
#define END(name)
#define U32(base, name, dflt, min, max, unit, doc) \
  {#base "." #name, PARAM_U32, UNIT_##unit, dflt, min, max, offsetof(Machine, base.name), NULL, doc},
#define MILLI(base, name, dflt, min, max, unit, doc) \
  {#base "." #name, PARAM_MILLI, UNIT_##unit, dflt, min, max, offsetof(Machine, base.name), NULL, doc},
#define FREQ(base, name, dflt, min, max, doc) \
  {#base "." #name, PARAM_FREQ, UNIT_HERTZ, dflt, min, max, offsetof(Machine, base.name), NULL, doc},
#define ENUM(base, name, type, dflt, choices, doc) \
  {#base "." #name,                                \
   PARAM_ENUM,                                     \
   UNIT_COUNT,                                     \
   dflt,                                           \
   0,                                              \
   0,                                              \
   offsetof(Machine, base.name),                   \
   (const char *const[]){choices(SPELLING) NULL},  \
   doc},
#include "sim/machine/params.def"
#undef BEGIN
#undef END
#undef U32
#undef MILLI
#undef FREQ
#undef ENUM
};

/* param_get() and param_set() move an ENUM as a uint32_t. */
#define BEGIN(base, name, doc)
#define END(name)
#define U32(base, name, dflt, min, max, unit, doc)
#define MILLI(base, name, dflt, min, max, unit, doc)
#define FREQ(base, name, dflt, min, max, doc)
#define ENUM(base, name, type, dflt, choices, doc) _Static_assert(sizeof(type) == sizeof(uint32_t), #type);
#include "sim/machine/params.def"
#undef BEGIN
#undef END
#undef U32
#undef MILLI
#undef FREQ
#undef ENUM

const Param *param_rows(unsigned *count) {
  *count = G_N_ELEMENTS(rows);
  return rows;
}

const Param *param_find(const char *path) {
  for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++)
    if (strcmp(rows[i].path, path) == 0)
      return &rows[i];
  return NULL;
}

const Param *param_at(unsigned index) {
  LS_REQUIRE("param-index", index < PARAM_COUNT);
  const Param *row = rows;
  for (;; row++)
    if (row->kind != PARAM_SECTION && index-- == 0)
      return row;
}

unsigned param_index(const Param *param) {
  LS_REQUIRE("param-not-section", param->kind != PARAM_SECTION);
  unsigned index = 0;
  for (const Param *row = rows; row < param; row++)
    index += row->kind != PARAM_SECTION;
  return index;
}

unsigned param_depth(const Param *param) {
  unsigned depth = 0;
  for (const char *p = param->path; *p; p++)
    depth += *p == '.';
  return depth;
}

const char *param_key(const Param *param) {
  const char *dot = strrchr(param->path, '.');
  return dot ? dot + 1 : param->path;
}

bool param_is_child(const Param *param, const char *section) {
  size_t length = strlen(section);
  const char *key = param_key(param);
  if (length == 0)
    return key == param->path;
  return (size_t)(key - param->path) == length + 1 && strncmp(param->path, section, length) == 0;
}

double param_get(const Machine *machine, const Param *param) {
  const char *field = (const char *)machine + param->offset;
  if (param->kind == PARAM_FREQ) {
    double value;
    memcpy(&value, field, sizeof value);
    return value;
  }
  uint32_t value;
  memcpy(&value, field, sizeof value);
  return param->kind == PARAM_MILLI ? (double)value / MILLI_CYCLE : value;
}

/* The nearest number of thousandths. */
static double thousandths(double value) { return round(value * MILLI_CYCLE); }

void param_set(Machine *machine, const Param *param, double value) {
  char *field = (char *)machine + param->offset;
  uint32_t whole = param->kind == PARAM_FREQ    ? 0
                   : param->kind == PARAM_MILLI ? (uint32_t)thousandths(value)
                                                : (uint32_t)value;
  if (param->kind == PARAM_FREQ)
    memcpy(field, &value, sizeof value);
  else
    memcpy(field, &whole, sizeof whole);
}

static char *parse_choice(Machine *machine, const Param *param, const char *text) {
  for (unsigned i = 0; param->choices[i]; i++) {
    if (strcmp(param->choices[i], text) == 0) {
      param_set(machine, param, i);
      return NULL;
    }
  }
  g_autofree char *quoted = quote_text(text);
  g_autofree char *list = g_strjoinv("`, `", (char **)param->choices);
  return g_strdup_printf("%s is %s, must be one of `%s`", param->path, *text ? quoted : "empty", list);
}

char *param_parse(Machine *machine, const Param *param, const char *text) {
  if (param->kind == PARAM_ENUM)
    return parse_choice(machine, param, text);
  double value;
  g_autofree char *problem = units_parse(text, param->unit, &value);
  if (problem)
    return g_strdup_printf("%s: %s", param->path, problem);
  g_autofree char *found = units_format(value, param->unit);
  if (value < param->min || value > param->max) {
    g_autofree char *min = units_format(param->min, param->unit), *max = units_format(param->max, param->unit);
    return g_strdup_printf("%s is %s, must lie between %s and %s", param->path, found, min, max);
  }
  if (param->kind == PARAM_U32 && value != floor(value))
    return g_strdup_printf("%s is %s, must be a whole number", param->path, found);
  if (param->kind == PARAM_MILLI && value != thousandths(value) / MILLI_CYCLE)
    return g_strdup_printf("%s is %s, must be a multiple of 0.001 cycles", param->path, found);
  param_set(machine, param, value);
  return NULL;
}

char *param_format(const Param *param, double value) {
  return param->kind == PARAM_ENUM ? g_strdup(param->choices[(unsigned)value]) : units_format(value, param->unit);
}
