/* units.h - numbers with units: "48 KiB", "1464 MHz", "18 cycles", "1024 bits", "104 bytes/cycle", "15". */
#ifndef LOCKSTEP_MACHINE_UNITS_H
#define LOCKSTEP_MACHINE_UNITS_H

#include <glib.h>
#include <stdbool.h>

typedef enum { UNIT_COUNT, UNIT_CYCLES, UNIT_BYTES, UNIT_BITS, UNIT_BYTES_PER_CYCLE, UNIT_HERTZ } Unit;

/* Reads `text` as a number of the base unit (bytes, hertz...). A number alone is one of the base unit, except of
 * frequencies, which need theirs. Returns NULL, or what is wrong ("`18 ns` has the wrong unit `ns`; expected cycles,
 * for example `18 cycles`"), newly allocated. */
char *units_parse(const char *text, Unit unit, double *value);
/* The shortest text that units_parse() reads back to the same value. Newly allocated. */
char *units_format(double value, Unit unit);

#endif
