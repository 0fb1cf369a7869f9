/* mc_fatbin.h - cubins inside other files: fat binaries (`nvcc -fatbin`), and what holds them, objects and
 * executables of the host.
 *
 * A fat binary has an entry for each architecture, PTX among them; a file of the host has one fat binary or more for
 * each source file.
 * Compressed entries aren't read.
 * Any bytes may come; what is wrong is an error. */
#ifndef LOCKSTEP_ISA_MC_MC_FATBIN_H
#define LOCKSTEP_ISA_MC_MC_FATBIN_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"

/* A cubin. The bytes are those of the file. */
typedef struct McFatEntry {
  unsigned sm;
  bool compressed;
  const uint8_t *at;
  gsize length;
} McFatEntry;

/* True if the bytes begin as a fat binary does, or as an object or executable of the host. */
bool mc_is_fatbin(const uint8_t *bytes, gsize length);
/* All cubins with code, as the file has them (GArray of McFatEntry); NULL after errors. The bytes are the
 * caller's. */
GArray *mc_fatbin_read(const char *file, const uint8_t *bytes, gsize length, Diag *diag);
/* The one that a GPU of that compute capability runs (0: of the oldest architecture). NULL after an error, which
 * names the architectures that are there. */
const McFatEntry *mc_fatbin_choose(const char *file, const GArray *entries, unsigned capability, Diag *diag);

#endif
