/* nvcc.h - CUDA source to PTX, by the user's own nvcc: $NVCC, else `nvcc` in PATH, else bin/nvcc in $CUDA_HOME or
 * (without that) /usr/local/cuda. Private to sim/scenario. */
#ifndef LOCKSTEP_SCENARIO_NVCC_H
#define LOCKSTEP_SCENARIO_NVCC_H

#include <glib.h>

#include "base/diag.h"

/* The architecture (75 for sm_75) to compile for: the newest that a machine of that compute capability can run, and
 * at least the oldest that a current nvcc knows. */
unsigned nvcc_arch(unsigned capability);
/* The PTX of the .cu at `path`, compiled with `flags` besides (NULL-terminated, or NULL; one that says the
 * architecture goes before `arch`), shown as `file` in messages; nvcc's own become messages too. NULL after errors
 * (input, or no nvcc at all); free with g_free. */
char *nvcc_compile(const char *path, const char *file, unsigned arch, const char *const *flags, gsize *length,
                   Diag *diag);
/* The same, a cubin. */
char *nvcc_assemble(const char *path, const char *file, unsigned arch, const char *const *flags, gsize *length,
                    Diag *diag);
/* True if there is an nvcc. */
bool nvcc_is_there(void);

#endif
