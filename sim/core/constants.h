/* constants.h - constant memory as machine code reads it: an SM's cache of lines for loads, that of blocks behind it,
 * loads whose lanes want several words, and another cache of lines for what instructions name (c[0x0][0x210], ULDC).
 * All are empty at the start of a launch. A load of several words takes them one after the other. A warp whose next
 * instruction names a word of a line that isn't there doesn't issue it until the line has come; of PTX, one that
 * names a parameter; its 64-bit bases are such loads on sm_90. Measured on an H200 (validation/hardware/mc_warp.cu,
 * mc_special.cu, mc_table.cu). Other loads of PTX whose address isn't in a register take sm.latency.constant,
 * whatever they load.
 * Ownership: an Sm holds its ConstCache (state.h). */
#ifndef LOCKSTEP_CORE_CONSTANTS_H
#define LOCKSTEP_CORE_CONSTANTS_H

#include "sim/core/exec.h"
#include "sim/core/state.h"

/* An issued LDC of a word of bank 0, which is at hand in the SM behind its cache of lines. */
void constants_load_known(Issue *issue, uint32_t offset);
/* The executor of a MOV64 of PTX that is an LDC of bank 0 (decode.c). */
void constants_load_base(Issue *issue);
/* True of a load of constants at addresses in registers, where machine code, or what ptxas makes of PTX, is known. */
bool constants_are_looked_up(const Issue *issue);
/* Such a load, issued. */
void constants_load(Issue *issue, const uint64_t address[WARP_LANES]);

enum { CONSTANTS_NO_LINE = UINT8_MAX };

/* The line of constant memory, of 64 bytes, that an operand of the instruction is in; CONSTANTS_NO_LINE: none is. */
uint32_t constants_operand_line(const Kernel *kernel, const Inst *inst);
/* When a warp that comes to such an instruction in cycle `now` can issue it: then, or when the line has come. */
uint64_t constants_operand_comes(Sm *sm, const Launch *launch, uint32_t line, uint64_t now);

#endif
