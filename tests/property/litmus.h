/* litmus.h - small programs that show in which orders accesses take effect: which there are, their PTX, which
 * outcomes the PTX memory model allows, and a run of one on a simulated machine. The same PTX runs on a real GPU
 * (validation/hardware/litmus.cu).
 *
 * Each of two to four threads makes one or two accesses to two words that hold 0; a fence may stand between the two.
 * An outcome is what the loads gave and what the words hold in the end. A kernel makes many tries, each on words of
 * its own, and its threads come together before each. */
#ifndef LOCKSTEP_TESTS_LITMUS_H
#define LOCKSTEP_TESTS_LITMUS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "isa/program.h"
#include "sim/machine/machine.h"

enum {
  LITMUS_THREADS = 4,
  LITMUS_ACCESSES = 2,
  LITMUS_WORDS = 2,
  LITMUS_OUTCOMES = 1 << 12,
  LITMUS_INSTANCES = 16,
  LITMUS_CASES_MAX = 1000
};

typedef enum { LITMUS_NONE, LITMUS_READ, LITMUS_WRITE } LitmusKind;

typedef struct LitmusAccess {
  LitmusKind kind;
  unsigned word, value; /* value: of a write, 1 or 2 */
} LitmusAccess;

/* A test, such as message passing. */
typedef struct LitmusTest {
  const char *name;
  unsigned threads;
  LitmusAccess accesses[LITMUS_THREADS][LITMUS_ACCESSES];
} LitmusTest;

/* Whom an operation includes. */
typedef enum { REACH_NOBODY, REACH_CTA, REACH_GPU, REACH_SYS } LitmusReach;

/* How the accesses are made. */
typedef struct LitmusForm {
  const char *name, *load, *store;
  LitmusReach strong;  /* REACH_NOBODY: weak */
  LitmusReach ordered; /* of loads that acquire and stores that release */
} LitmusForm;

typedef struct LitmusFence {
  const char *name, *text; /* "": none */
  LitmusReach reach;
  bool sc;
} LitmusFence;

/* Where the threads are. */
typedef enum {
  PLACE_WARP,
  PLACE_BLOCK,   /* warps of a block */
  PLACE_SM,      /* blocks of an SM */
  PLACE_TPC,     /* SMs 2k and 2k + 1; of four threads 4k to 4k + 3 */
  PLACE_DISTANT, /* SMs as far apart by number as can be */
  PLACE_COUNT
} LitmusPlace;

extern const LitmusTest litmus_tests[];
extern const LitmusForm litmus_forms[];
extern const LitmusFence litmus_fences[];
extern const unsigned litmus_test_count, litmus_form_count, litmus_fence_count;
extern const char *const litmus_places[PLACE_COUNT];

/* One program: a test with a form and a fence. */
typedef struct LitmusCase {
  const LitmusTest *test;
  const LitmusForm *form;
  const LitmusFence *fence;
} LitmusCase;

/* All there are; accesses that acquire and release have no fences besides. Returns their number, writes at most
 * `room`. */
unsigned litmus_cases(LitmusCase *cases, unsigned room);
/* The name of its kernel. Free with g_free. */
char *litmus_name(const LitmusCase *one);
/* Appends its kernel. */
void litmus_ptx(const LitmusCase *one, GString *out);
/* What stands before the first kernel. */
#define LITMUS_HEAD ".version 8.0\n.target sm_70\n.address_size 64\n"

/* ---- outcomes ----
 * Two bits for each load, in the order of threads and of the program, then two for each word. */

typedef struct LitmusSet {
  bool has[LITMUS_OUTCOMES];
} LitmusSet;

unsigned litmus_reads(const LitmusTest *test);
/* "10/11": loads, then words. Free with g_free. */
char *litmus_outcome_text(const LitmusTest *test, unsigned outcome);
/* The reverse; LITMUS_OUTCOMES if it is none. */
unsigned litmus_outcome_parse(const LitmusTest *test, const char *text);
/* What the PTX memory model allows. */
void litmus_allowed(const LitmusCase *one, LitmusPlace place, LitmusSet *set);
/* What some interleaving of the threads gives. All else is weak. */
void litmus_sequential(const LitmusTest *test, LitmusSet *set);

/* ---- runs ---- */

typedef struct LitmusRun {
  LitmusPlace place;
  uint64_t seed;
  unsigned rounds; /* tries of each of LITMUS_INSTANCES groups of threads */
  unsigned spread; /* a thread begins up to so many cycles after the others are there */
  bool warm;       /* each thread loads both words, plainly, before they come together: the L1 has a copy */
} LitmusRun;

/* A process that makes many runs calls this first: large arrays of a Gpu, most of which a run never touches, come
 * from the system as zeros each time, and aren't cleared by hand. */
void litmus_many_runs(void);
/* The program lowered for a machine. Here and below a mistake is fatal (g_error). Free with program_free. */
Program *litmus_lower(const LitmusCase *one, const Machine *machine);
/* Runs programs of one test, one after the other on one Gpu, and adds to the `counts` of each how often each outcome
 * came. */
void litmus_run(const LitmusTest *test, Program *const *programs, unsigned number, const Machine *machine,
                const LitmusRun *run, unsigned (*counts)[LITMUS_OUTCOMES]);

#endif
