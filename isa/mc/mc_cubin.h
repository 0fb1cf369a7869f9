/* mc_cubin.h - reads cubins, which `nvcc -cubin` and ptxas write: ELF files of machine code of sm_75 to sm_90.
 *
 * Everything nvdisasm would say of one is in the module: code with its encodings, data, symbols, resources, and with
 * -lineinfo the lines of the source and where they were inlined. An instruction whose encoding is unknown has the
 * root `?` and its opcode bits as modifier, `?.0x38d`, without operands.
 * Any bytes may come; what is wrong is an error that names the section or the byte. */
#ifndef LOCKSTEP_ISA_MC_MC_CUBIN_H
#define LOCKSTEP_ISA_MC_MC_CUBIN_H

#include "base/diag.h"
#include "isa/mc/mc_tree.h"

/* True if the bytes begin as a cubin does. */
bool mc_is_cubin(const uint8_t *bytes, gsize length);
/* NULL after errors, all of them in `diag`. The bytes are the caller's and aren't needed afterwards. */
McModule *mc_cubin_read(const char *file, const uint8_t *bytes, gsize length, Diag *diag);

#endif
