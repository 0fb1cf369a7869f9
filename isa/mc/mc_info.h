/* mc_info.h - attributes of kernels as ptxas leaves them in a cubin: sections .nv.info and .nv.info.KERNEL, as bytes.
 *
 * Each attribute is a format, a number and a value of 0, 1 or 2 bytes, or of as many as it says. Unknown ones are
 * passed over. */
#ifndef LOCKSTEP_ISA_MC_MC_INFO_H
#define LOCKSTEP_ISA_MC_MC_INFO_H

#include "isa/mc/mc_tree.h"

typedef struct McInfo {
  const char *kernel; /* the kernel whose section it is; NULL: of the whole module */
  const uint8_t *bytes;
  gsize length;
  /* The name of the symbol with that index, or NULL. */
  const char *(*symbol)(const void *context, uint32_t index);
  const void *context;
} McInfo;

/* Writes what it says into the module's kernels. False if the bytes end inside an attribute; *at is where that one
 * begins. */
bool mc_info_read(McModule *module, const McInfo *info, gsize *at);
/* The kernel of that name, or NULL. */
McKernel *mc_info_kernel(McModule *module, const char *name);
/* What data sections say of kernels, and where the parameters of a kernel without any would stand. */
void mc_settle_kernels(McModule *module);
/* Where an architecture has a kernel's parameters in c[0x0]. */
int32_t mc_usual_param_base(unsigned sm);

#endif
