/* mc_fatbin.h - cubins and PTX inside other files: fat binaries (`nvcc -fatbin`), and what holds them, objects and
 * executables of the host.
 *
 * A fat binary has an entry for each architecture, PTX among them; a file of the host has a fat binary for each of
 * its source files. Those with kernels are its units.
 * Any bytes may come; what is wrong is an error. */
#ifndef LOCKSTEP_ISA_MC_MC_FATBIN_H
#define LOCKSTEP_ISA_MC_MC_FATBIN_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"

/* A cubin with code, or PTX with a kernel. */
typedef struct McFatEntry {
  bool ptx;
  unsigned sm;         /* 90 for sm_90; of PTX, compute_90 */
  unsigned unit;       /* from 0 */
  const char *problem; /* why it couldn't be unpacked: what comes behind "it"; NULL: it could */
  const uint8_t *at;   /* in the file, or in `unpacked` */
  gsize length;
  uint8_t *unpacked; /* owned by the array; NULL: it isn't compressed */
} McFatEntry;

/* True if the bytes begin as a fat binary does, or as an object or executable of the host. */
bool mc_is_fatbin(const uint8_t *bytes, gsize length);
/* All of them, as the file has them (GArray of McFatEntry); NULL after errors. The bytes are the caller's, and must
 * stay as long as the array. */
GArray *mc_fatbin_read(const char *file, const uint8_t *bytes, gsize length, Diag *diag);
unsigned mc_fatbin_units(const GArray *entries);
/* True if a unit has machine code that runs on a GPU of that compute capability (0: any). */
bool mc_fatbin_has_code(const GArray *entries, unsigned unit, unsigned capability);
/* The cubin of a unit that such a GPU runs: of its generation, the newest that isn't newer (capability 0: the
 * oldest). NULL after an error, which names the architectures that are there. */
const McFatEntry *mc_fatbin_choose(const char *file, const GArray *entries, unsigned unit, unsigned capability,
                                   Diag *diag);
/* The PTX of a unit that a driver would compile for such a GPU: the newest that isn't newer; else the oldest. NULL if
 * there is none that can be read. */
const McFatEntry *mc_fatbin_ptx(const GArray *entries, unsigned unit, unsigned capability);
/* A hint for each PTX of the unit that couldn't be unpacked. Returns false. */
bool mc_fatbin_say_packed(const GArray *entries, unsigned unit, Diag *diag);

#endif
