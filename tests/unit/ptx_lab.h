/* ptx_lab.h - programs of PTX, for tests. */
#ifndef LOCKSTEP_TESTS_PTX_LAB_H
#define LOCKSTEP_TESTS_PTX_LAB_H

#include "isa/lower/ptx_lower.h"

/* The program of a text. NULL after errors of the module or of any kernel, in `diag`. */
Program *ptx_lab_lower(const char *file, const char *text, const PtxTarget *target, Diag *diag);

#endif
