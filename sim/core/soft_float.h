/* soft_float.h - IEEE arithmetic on bits, for what the host's floating-point unit doesn't do as we need it: directed
 * rounding (without touching the thread's rounding mode) and half precision. Exact, the same on every host, and slow:
 * some 10 ns an operation. Subnormals are kept; a result that is not a number is the format's NaN of exec_rows.h. */
#ifndef LOCKSTEP_CORE_SOFT_FLOAT_H
#define LOCKSTEP_CORE_SOFT_FLOAT_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/program.h"

typedef enum { SOFT_F16, SOFT_F32, SOFT_F64, SOFT_BF16 } SoftFormat;

uint64_t soft_add(SoftFormat format, uint64_t a, uint64_t b, FloatRound round);
uint64_t soft_mul(SoftFormat format, uint64_t a, uint64_t b, FloatRound round);
/* a * b + c, rounded once. */
uint64_t soft_fma(SoftFormat format, uint64_t a, uint64_t b, uint64_t c, FloatRound round);
uint64_t soft_div(SoftFormat format, uint64_t a, uint64_t b, FloatRound round);
uint64_t soft_sqrt(SoftFormat format, uint64_t a, FloatRound round);
uint64_t soft_convert(SoftFormat to, SoftFormat from, uint64_t bits, FloatRound round);
/* The float of +magnitude or -magnitude. */
uint64_t soft_integer(SoftFormat to, bool negative, uint64_t magnitude, FloatRound round);

#endif
