/* nvcc.h - CUDA source to PTX, by the user's own nvcc: $NVCC, else `nvcc` in PATH, else bin/nvcc in $CUDA_HOME or
 * (without that) /usr/local/cuda. Private to sim/scenario, but for the cache. */
#ifndef LOCKSTEP_SCENARIO_NVCC_H
#define LOCKSTEP_SCENARIO_NVCC_H

#include <glib.h>

#include "base/diag.h"

/* The architecture (75 for sm_75) to compile for: the newest that a machine of that compute capability can run, and
 * at least the oldest that a current nvcc knows. */
unsigned nvcc_arch(unsigned capability);
/* What nvcc has made for one command, so that a scenario which is loaded again and again is compiled once. A source
 * that changes meanwhile stays what it was. References are counted; any number of threads may use it. */
typedef struct NvccCache NvccCache;
NvccCache *nvcc_cache_new(void);
NvccCache *nvcc_cache_ref(NvccCache *cache);
void nvcc_cache_unref(NvccCache *cache);

/* A .cu: where it is, what messages call it, and what the user has for the compiler besides (NULL-terminated, or
 * NULL; a flag that says the architecture goes before `arch`). */
typedef struct NvccSource {
  const char *path, *file;
  const char *const *flags;
  NvccCache *cache; /* NULL: none */
} NvccSource;

/* Its PTX; what nvcc says becomes messages, the first time. NULL after errors (input, or no nvcc at all); free with
 * g_free. */
char *nvcc_compile(const NvccSource *source, unsigned arch, gsize *length, Diag *diag);
/* The same, a cubin. */
char *nvcc_assemble(const NvccSource *source, unsigned arch, gsize *length, Diag *diag);
/* True if there is an nvcc. */
bool nvcc_is_there(void);

#endif
