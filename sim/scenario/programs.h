/* programs.h - the program of a scenario, for each machine that it runs on.
 *
 * SASS is one program for all machines. PTX is lowered for a machine when it is first asked for, and kept; CUDA
 * source is compiled to PTX first, for an architecture that suits the machine. What the loader needs before a machine
 * is known (kernels, parameters, marks, variables) is that of one lowering for a machine that has every instruction.
 * Threads: programs_for() may be called from several at once. */
#ifndef LOCKSTEP_SCENARIO_PROGRAMS_H
#define LOCKSTEP_SCENARIO_PROGRAMS_H

#include "base/diag.h"
#include "isa/program.h"
#include "isa/ptx/ptx_tree.h"
#include "sim/machine/machine.h"
#include "sim/scenario/nvcc.h"

typedef struct Programs Programs;

/* What a program of CUDA source or PTX runs as (--code). */
typedef enum {
  CODE_BEST, /* CUDA source as machine code if nvcc is there and makes it for the machine; what is in an executable as
              * machine code if it has that for the machine; PTX as PTX */
  CODE_PTX,  /* PTX, lowered here */
  CODE_MACHINE, /* machine code: what stands beside it, `name.sm_90.sass` or `name.sm_90.cubin` for name.ptx or name.cu; else, of
                 * CUDA source, what nvcc makes; of an executable, what it has */
} CodeKind;

/* How a program is read. Of a .cu: the capability of the machine that will probably run it, flags of the user for the
 * compiler (NULL-terminated, or NULL), and what was compiled before (borrowed; NULL: nothing is kept). Of a file of
 * the host that holds code of several source files (units, mc_fatbin.h) which of them is meant, or, for
 * programs_open(), the names of the kernels that it must have (NULL-terminated; NULL: none is named). */
typedef struct ProgramsOptions {
  CodeKind code;
  unsigned capability;
  unsigned unit;
  const char *const *kernels;
  const char *const *flags;
  NvccCache *compiled;
} ProgramsOptions;

/* True if a path ends so (".sass"), in any case, and isn't all ending. */
bool programs_has_ending(const char *path, const char *ending);
/* True of machine code that isn't text: a cubin, a fat binary, an executable or object of the host. */
bool programs_is_binary(const char *text, gsize length);
/* From the text of a program, or its bytes; the ending of `file`, its name as shown, says what it is. Of a .cu,
 * `path` is what nvcc reads. NULL after errors. */
Programs *programs_new(const char *file, const char *path, const char *text, gsize length,
                       const ProgramsOptions *options, Diag *diag);
/* The same, of the unit that has the kernels. */
Programs *programs_open(const char *file, const char *path, const char *text, gsize length,
                        const ProgramsOptions *options, Diag *diag);
void programs_free(Programs *programs);
/* What holds on every machine. Borrowed. */
Program *programs_common(const Programs *programs);
/* True if it is machine code without PTX: a listing, a cubin, a file of the host that has nothing else. */
bool programs_is_listing(const Programs *programs);
/* True if parameters and such come from PTX (or CUDA source). */
bool programs_is_ptx(const Programs *programs);
/* The PTX as it was read; NULL of SASS. Borrowed. */
const PtxModule *programs_module(const Programs *programs);
/* Bytes of an address: 4 of SASS (sm_20), 4 or 8 of PTX. */
uint32_t programs_address_bytes(const Programs *programs);
/* True if what runs may be machine code of the program: then that a kernel is refused as PTX says nothing. */
bool programs_may_run_code(const Programs *programs);
/* Index of the kernel of that name: as it is, or as it was before C++ mangled it, with or without template arguments,
 * namespaces and parameters. -1 if there is none, or (*several) if that leaves several. */
int programs_find_kernel(Programs *programs, const char *name, bool *several);
/* As people write them, NULL-terminated; free with g_strfreev. */
char **programs_kernel_names(Programs *programs);
/* One of them, for a message. Free with g_free. */
char *programs_kernel_name(Programs *programs, guint kernel);
/* The error for a kernel that wasn't found, with the nearest, or all. Returns false. */
bool programs_no_kernel(Programs *programs, const char *name, bool several, Diag *diag, const char *file,
                        unsigned line, unsigned column);
/* Before the first machine: some launch has clusters of blocks. */
void programs_set_clusters(Programs *programs);
/* The program that a machine runs, of each kernel with the instructions if `wanted` is true of it (NULL: of all);
 * NULL after errors. Borrowed; stays valid as long as `programs`. */
const Program *programs_for(Programs *programs, const Machine *machine, const bool *wanted, Diag *diag);
/* Of a program that the machine runs as machine code the PTX that was made from the same source, as the machine would
 * run it; NULL if that isn't at hand, or it doesn't run as machine code. Borrowed; stays valid as long as
 * `programs`. */
const Program *programs_source_for(Programs *programs, const Machine *machine, const bool *wanted, Diag *diag);

#endif
