/* mc_cubin_reader.h - what the parts of the reader of cubins share: mc_cubin.c (sections, code), mc_cubin_data.c
 * (symbols, data, relocations), mc_cubin_line.c (lines of the source). Private to them. */
#ifndef LOCKSTEP_ISA_MC_MC_CUBIN_READER_H
#define LOCKSTEP_ISA_MC_MC_CUBIN_READER_H

#include "base/diag.h"
#include "isa/mc/mc_cubin_elf.h"
#include "isa/mc/mc_tree.h"

/* A symbol as relocations and attributes count it. */
typedef struct McCubinSymbol {
  const char *name; /* in the file's bytes; of a section, its name */
  guint section;    /* 0: defined elsewhere */
  uint64_t value;
  bool entry;
} McCubinSymbol;

typedef struct McCubin {
  const char *file;
  Diag *diag;
  unsigned errors; /* in it before this file */
  McElf elf;
  McModule *module;
  GArray *symbols; /* McCubinSymbol, as in the file */
} McCubin;

/* An error about a section. Returns false. */
bool mc_cubin_error(McCubin *cubin, guint section, const char *format, ...) G_GNUC_PRINTF(3, 4);
/* The symbol, or NULL. */
const McCubinSymbol *mc_cubin_symbol(const McCubin *cubin, guint64 index);
/* Of which kernel the section has the code, or NULL. */
McKernel *mc_cubin_kernel(McCubin *cubin, guint section);

/* What the instruction does isn't known: `?.0x38d`, with its guard and without operands. */
void mc_cubin_make_unknown(McModule *module, McInst *inst, uint64_t low);

/* mc_cubin_data.c */
void mc_cubin_read_symbols(McCubin *cubin);
void mc_cubin_read_data(McCubin *cubin);
void mc_cubin_read_relocations(McCubin *cubin);
/* mc_cubin_line.c: .debug_line, into the instructions. */
void mc_cubin_read_lines(McCubin *cubin);

#endif
