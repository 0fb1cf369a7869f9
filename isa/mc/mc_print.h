/* mc_print.h - numbers as cuobjdump prints them. */
#ifndef LOCKSTEP_ISA_MC_MC_PRINT_H
#define LOCKSTEP_ISA_MC_MC_PRINT_H

#include <glib.h>
#include <stdint.h>

/* 1, 0.5, 6.75539944105574400000e+15, +INF, -QNAN */
void mc_print_real(GString *out, double real);
/* 0x1f, -0x8 */
void mc_print_integer(GString *out, int64_t value);

#endif
