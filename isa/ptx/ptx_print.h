/* ptx_print.h - prints a PtxModule as PTX that ptx_parse() accepts: the parse of the print equals the module. */
#ifndef LOCKSTEP_ISA_PTX_PTX_PRINT_H
#define LOCKSTEP_ISA_PTX_PTX_PRINT_H

#include "isa/ptx/ptx_tree.h"

/* Free with g_free. */
char *ptx_print_module(const PtxModule *module);

#endif
