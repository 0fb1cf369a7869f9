/* scenario.h - a program with its launches, data and expectations (design, section 6), read from YAML, or from the
 * directives of a bare program (SEMANTICS, "Programs and scenarios"), with all expressions evaluated.
 * Ownership: a Scenario owns everything below it, the Programs included; immutable once loaded, but for the lowered
 * programs that scenario_program() keeps. */
#ifndef LOCKSTEP_SCENARIO_SCENARIO_H
#define LOCKSTEP_SCENARIO_SCENARIO_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "isa/program.h"
#include "sim/core/host.h"
#include "sim/detect/naming/finding.h"
#include "sim/machine/machine.h"
#include "sim/scenario/programs.h"

/* The address of a buffer in a value that is given as bytes: it isn't known before the buffers have their places. */
typedef struct ScenarioAddress {
  uint32_t offset; /* byte in the value */
  guint buffer;
  uint32_t bytes; /* of the address: 4 or 8 */
} ScenarioAddress;

typedef struct ScenarioBuffer {
  char *name;
  uint32_t words;    /* 4-byte words */
  uint32_t *init;    /* `words` initial values; NULL: zeros, or those that a variable brings */
  GArray *addresses; /* ScenarioAddress in `init`; NULL: none */
  bool undefined;    /* they are zeros that no program may rely on: `init: undefined` */
  bool host;         /* host-mapped memory */
  int variable;      /* index of the program's module variable that it is, which brings its own values; else -1 */
} ScenarioBuffer;

typedef enum { ARG_BUFFER, ARG_INTEGER, ARG_F32, ARG_F64, ARG_BYTES } ScenarioArgKind;

typedef struct ScenarioArg {
  ScenarioArgKind kind;
  guint buffer;      /* ARG_BUFFER: index into buffers */
  int64_t integer;   /* ARG_INTEGER */
  float f32;         /* ARG_F32 */
  double f64;        /* ARG_F64 */
  GBytes *bytes;     /* ARG_BYTES */
  GArray *addresses; /* ScenarioAddress in `bytes`; NULL: none */
} ScenarioArg;

typedef struct ScenarioLaunch {
  guint kernel; /* index into program->kernels */
  uint32_t grid[3], block[3];
  uint32_t cluster[3];   /* blocks of each cluster; 0: as the kernel has it, else one */
  uint32_t shared_bytes; /* dynamic shared memory, added to the kernel's static one */
  uint32_t carveout; /* 1 and the percent of an SM's shared memory that the launch asks for; 0: nothing */
  int stream;
  bool cooperative; /* all its blocks are resident together; `%envreg1` and `%envreg2` give its workspace */
  GArray *args;     /* ScenarioArg */
  char *file;       /* where the launch was written, for messages about its limits; NULL: on the command line */
  unsigned line, column;
} ScenarioLaunch;

/* What a buffer must hold after the run. */
typedef struct ExpectBuffer {
  guint buffer;
  bool is_sum; /* compare the sum of all words (as uint64) with `sum` */
  int64_t sum;
  GArray *words; /* int64_t, compared with the first words (modulo 2^32); NULL if is_sum */
} ExpectBuffer;

typedef struct Expectation {
  GArray *verdicts; /* Verdict, `completed` if none is stated; more than one: under `check` each must occur and no
                         * other; `run` accepts any */
  GArray *findings; /* FindingId that are allowed to occur, besides those that explain an expected verdict */
  GArray *buffers;  /* ExpectBuffer */
} Expectation;

typedef struct Region {
  uint32_t from, to; /* mark numbers: from the first `from` of any warp to the last `to` of any warp */
} Region;

typedef struct ScenarioMeasure {
  bool has_operations;
  int64_t operations;
  bool has_region;
  Region region;
  bool longest_launch; /* what is measured is the launch that takes longest, not the time until the last has ended */
  uint64_t window; /* the run ends after so many SM cycles, undecided: of one that would last too long; 0: never */
  bool has_shared_data; /* this range of each block's shared memory is data, not cost of synchronization */
  uint32_t shared_data_offset, shared_data_bytes;
  bool has_transfers; /* the program measures how long locks go from owner to owner */
  guint transfers;    /* the buffer where it adds that up (MEASURED_TRANSFER_WORDS) */
} ScenarioMeasure;

/* Nanoseconds, and the number of transfers; 64 bits each. */
enum { MEASURED_TRANSFER_WORDS = 4 };

typedef struct Scenario {
  char *name;  /* file name without folder and ending */
  char *file;  /* as the user named it */
  char *about; /* may be NULL for a bare program */
  Program *
      program; /* what holds of the program on every machine (kernels, parameters, variables); run scenario_program() */
  struct Programs *programs;
  GPtrArray *buffers;  /* ScenarioBuffer *, the program's module variables last */
  GPtrArray *launches; /* ScenarioLaunch *, in order */
  uint32_t heap_bytes; /* of the device heap, if a kernel calls malloc() */
  GArray *host;        /* HostStep, whose `buffer` is an index into buffers; NULL: there is no host */
  unsigned host_line, host_column;
  ScenarioMeasure measure;
  char **machines; /* NULL-terminated, maybe empty: where the expectations are tested */
  char **params;   /* names of its params, NULL-terminated */
  char *digest;    /* SHA-256 of all files that were read for it, but those that a compiler includes */
  bool has_expectation;
  Expectation expect;
  GHashTable *expect_on; /* machine name -> Expectation *, keys replaced for that machine */
} Scenario;

/* What the command line adds for a scenario or a bare program. All may be NULL. */
typedef struct ScenarioOptions {
  const char *const *params; /* "blocks=128" (-p) */
  const char *
      kernel; /* --kernel, --grid, --block, --cluster, --shared, --cooperative, --heap, --buffer, --arg */
  const char *grid, *block, *cluster, *shared, *heap;
  const char *const *buffers;
  const char *const *args;
  bool cooperative;
  bool scenario_only;                /* who asks has none of these options */
  const char *machine;               /* the first one named: says what a .cu is compiled for */
  const char *const *settings;       /* what is changed of it (-s) */
  const char *const *compiler_flags; /* of a .cu (behind `--`) */
  CodeKind code;                     /* what PTX and CUDA source run as */
  NvccCache *compiled;               /* what was made of a .cu before; NULL: nothing is kept */
} ScenarioOptions;

/* Loads `.yaml`/`.yml` as a scenario, `.sass`, `.ptx` and `.cu` as a bare program (of a bare program, what is missing
 * to launch it is an error that names it). NULL after errors. */
Scenario *scenario_load(const char *path, const ScenarioOptions *options, Diag *diag);
/* The same from text; the ending of `file` says what it is, and its folder is where a scenario's program is looked
 * for. */
Scenario *scenario_parse(const char *file, const char *text, gsize length, const ScenarioOptions *options,
                         Diag *diag);
/* What a file is, by its ending. */
bool scenario_is_yaml(const char *path);
bool scenario_is_program(const char *path);
/* An empty one, named after its file: scenario_load() fills it. */
Scenario *scenario_new(const char *file);
void scenario_free(Scenario *scenario);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Scenario, scenario_free)

/* The program that a machine runs: the same for all if it is SASS, else lowered for the machine when it is first
 * asked for. NULL after errors, those of a kernel that is launched but refused among them. Borrowed from `scenario`.
 * May be called from several threads. */
const Program *scenario_program(const Scenario *scenario, const Machine *machine, Diag *diag);
/* Of what runs as machine code its PTX, as the machine would run it; NULL, often without an error, if there is none
 * that can run. */
const Program *scenario_source(const Scenario *scenario, const Machine *machine, Diag *diag);

/* Bytes of an argument, which stands at a multiple of them, of a kernel whose parameters nobody has declared: machine
 * code has addresses of 8 bytes; a struct has its own size. */
uint32_t scenario_bare_arg_bytes(const Program *program, const ScenarioArg *arg);
/* True if `program` can run the kernel of a launch; otherwise its errors are there, once for all launches of the
 * kernel. */
bool scenario_launch_runs(const Scenario *scenario, const Program *program, guint launch, Diag *diag);
/* The same before a machine is known. True also if it may be machine code that runs, which isn't there yet. */
bool scenario_launch_may_run(const Scenario *scenario, guint launch, Diag *diag);

void expectation_init(Expectation *expect);
void expectation_clear(Expectation *expect);
/* The expectation that holds on a machine, or NULL if the scenario states none. */
const Expectation *scenario_expectation(const Scenario *scenario, const char *machine);

/* True if a finding is listed, or explains an expected verdict. */
bool expectation_allows(const Expectation *expect, FindingId id);
/* One sentence (newly allocated char *) for each kind of finding that isn't allowed. `findings` holds Finding *. */
void expectation_findings(const Expectation *expect, const GPtrArray *findings, GPtrArray *failures);
/* Compares what a run gave. Appends one sentence (newly allocated char *) to `failures` for each thing not met:
 * verdict, a finding that isn't allowed, a buffer value ("counter[0] is 31, expected 32"). `memory` gives the final
 * words of each buffer (const uint32_t *, in the order of scenario->buffers); buffers are compared only if the
 * verdict is completed; their failures stand last. `findings` holds Finding *. Returns how many buffers failed. */
guint expectation_compare(const Scenario *scenario, const Expectation *expect, Verdict verdict,
                          const GPtrArray *findings, const uint32_t *const *memory, GPtrArray *failures);

#endif
