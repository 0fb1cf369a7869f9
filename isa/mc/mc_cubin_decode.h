/* mc_cubin_decode.h - an instruction's 128 bits to the text that cuobjdump prints, by the table of
 * mc_cubin_forms.def.
 *
 * An encoding that the table lacks, or that has bits set which no field of its row reads, has no text: it is never
 * guessed. */
#ifndef LOCKSTEP_ISA_MC_MC_CUBIN_DECODE_H
#define LOCKSTEP_ISA_MC_MC_CUBIN_DECODE_H

#include "isa/mc/mc_cubin_fields.h"

/* Appends the instruction with its guard to `text`, or leaves that as it is and returns false. */
bool mc_decode(const McEncoding *encoding, GString *text);
/* The row that reads the encoding, by its place in the table, whatever its rest: the bits that none of its fields
 * reads. mc_decode() wants them to be what the row says. For tests, and for who extends the table. */
typedef struct McFormMatch {
  unsigned row;
  uint64_t rest_low, rest_high;
} McFormMatch;
bool mc_decode_match(const McEncoding *encoding, GString *text, McFormMatch *match);

#endif
