/* params.h - the parameter table (params.def) as data: paths, units, ranges, and access to the fields of a Machine.
 * Private to sim/machine; others use machine.h. */
#ifndef LOCKSTEP_MACHINE_PARAMS_H
#define LOCKSTEP_MACHINE_PARAMS_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#include "sim/machine/machine.h"
#include "sim/machine/units.h"

typedef enum { PARAM_SECTION, PARAM_U32, PARAM_MILLI, PARAM_FREQ, PARAM_ENUM } ParamKind;

typedef struct Param {
  const char *path; /* sm.lock_unit.bits; of a section sm.lock_unit */
  ParamKind kind;
  Unit unit;
  double dflt, min, max; /* ENUM: enumerators */
  size_t offset;
  const char *const *choices; /* ENUM: spellings by enumerator, NULL-terminated */
  const char *doc;
} Param;

enum {
  PARAM_COUNT = 0
#define BEGIN(base, name, doc)
#define END(name)
#define U32(base, name, dflt, min, max, unit, doc) +1
#define MILLI(base, name, dflt, min, max, unit, doc) +1
#define FREQ(base, name, dflt, min, max, doc) +1
#define ENUM(base, name, type, dflt, choices, doc) +1
#include "sim/machine/params.def"
#undef BEGIN
#undef END
#undef U32
#undef MILLI
#undef FREQ
#undef ENUM
};

/* All rows, sections included, in table order: a section stands before what it holds. */
const Param *param_rows(unsigned *count);
/* The row with a path, or NULL. */
const Param *param_find(const char *path);
/* The index-th parameter (sections don't count), and back. */
const Param *param_at(unsigned index);
unsigned param_index(const Param *param);
/* How deep a row stands: 0 for `sm`, 1 for `sm.latency`, 2 for `sm.latency.alu`. */
unsigned param_depth(const Param *param);
/* The last part of its path: the YAML key. */
const char *param_key(const Param *param);
/* True if the row stands directly in `section` ("" is the top). */
bool param_is_child(const Param *param, const char *section);

double param_get(const Machine *machine, const Param *param);
void param_set(Machine *machine, const Param *param, double value);
/* Reads `text` into the field, after checking unit and range. Returns NULL, or what is wrong, newly allocated. */
char *param_parse(Machine *machine, const Param *param, const char *text);
/* `value` as text that param_parse() reads. Newly allocated. */
char *param_format(const Param *param, double value);

#endif
