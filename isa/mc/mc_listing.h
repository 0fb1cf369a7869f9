/* mc_listing.h - reads listings of machine code: what `cuobjdump -sass` and `nvdisasm -hex` print, of sm_75 to sm_90.
 *
 * Any bytes may come; what can't be read is an error with its line and column, what was found and what was
 * expected. */
#ifndef LOCKSTEP_ISA_MC_MC_LISTING_H
#define LOCKSTEP_ISA_MC_MC_LISTING_H

#include "base/diag.h"
#include "isa/mc/mc_tree.h"

/* True if the text is such a listing, not Fermi SASS: it says so by its headers. */
bool mc_is_listing(const char *text, gsize length);
/* NULL after errors, all of them in `diag`. Instructions whose operands can't be told apart are errors; unknown
 * mnemonics aren't. */
McModule *mc_listing_parse(const char *file, const char *text, gsize length, Diag *diag);
/* One instruction as cuobjdump prints it, without address and encoding: "@P0 ISETP.NE.AND P0, PT, R0, RZ, PT". Free
 * with g_free. */
char *mc_print_inst(const McModule *module, const McInst *inst);

#endif
