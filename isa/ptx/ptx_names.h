/* ptx_names.h - names and their numbers, from 1; 0 is none.
 * Ownership: a PtxNames owns copies of the names. */
#ifndef LOCKSTEP_ISA_PTX_PTX_NAMES_H
#define LOCKSTEP_ISA_PTX_PTX_NAMES_H

#include <glib.h>
#include <stdint.h>

enum { PTX_NAMES_MAX = 1 << 19 };

typedef struct PtxNames PtxNames;

PtxNames *ptx_names_new(void);
void ptx_names_free(PtxNames *names);
/* The number of that name, or 0 if it isn't there. */
uint32_t ptx_names_find(const PtxNames *names, const char *text, gsize length);
/* The number of that name, a new one if need be; 0 if there are PTX_NAMES_MAX already. */
uint32_t ptx_names_add(PtxNames *names, const char *text, gsize length);
/* The name; "" for 0. */
const char *ptx_names_text(const PtxNames *names, uint32_t id);

#endif
