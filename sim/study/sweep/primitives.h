/* primitives.h - the primitives of Stuart and Owens (2011) set side by side: the best barrier, mutex and semaphore at
 * a number of blocks (Table 5), and the three characteristics by which section 4 classifies a machine. */
#ifndef LOCKSTEP_STUDY_SWEEP_PRIMITIVES_H
#define LOCKSTEP_STUDY_SWEEP_PRIMITIVES_H

#include "sim/machine/machine.h"
#include "sim/study/sweep/measure.h"

/* The kinds of Table 5. A semaphore's initial value is how many blocks it lets in. */
typedef enum { KIND_BARRIER, KIND_MUTEX, KIND_SEMAPHORE_LOW, KIND_SEMAPHORE_HIGH, KIND_COUNT } PrimitiveKind;
enum { SEMAPHORE_LOW = 1, SEMAPHORE_HIGH = 120 };

/* An implementation that takes more SM cycles for an operation of the largest number of blocks (at least so many) is
 * given up: it can't be the best. */
enum { PRIMITIVE_CYCLES_MOST = 10000, PRIMITIVE_BLOCKS_LEAST = 16 };
/* If nobody says how many operations a block has: so many of all blocks together, but at most so many of one. */
enum { PRIMITIVE_OPERATIONS = 1024, PRIMITIVE_OPS_MOST = 20 };

/* One implementation at a number of blocks. */
typedef struct Contender {
  const char *name; /* "mutex_spin_backoff" */
  double rate;      /* operations a second; 0 if it doesn't complete */
  char *problem;    /* why; NULL */
} Contender;

/* All implementations of a kind at a number of blocks, the fastest first. */
typedef struct Contest {
  PrimitiveKind kind;
  guint blocks;
  GArray *contenders; /* Contender */
} Contest;

/* "mutex", "semaphore (initial value 1)" ... */
const char *primitive_kind_name(PrimitiveKind kind);
/* How many times as fast the first is as the second; infinite if it is alone. */
double contest_margin(const Contest *contest);

/* As many blocks of 128 threads, the paper's, as the machine holds at once; 0 after errors. */
guint primitives_capacity(const Machine *machine, Diag *diag);
/* Contest *, kind by kind, in the order of `blocks` (guint; of barriers as many as are resident at most); `ops`
 * operations a block (0: see above). `machine` is a name or file, `settings` its changes (NULL-terminated), `params`
 * ("imax=4") what changes in the scenarios that have such a param; one that none has is an error (NULL: nothing).
 * NULL after errors, or if it was stopped. */
GPtrArray *primitives_rank(const char *machine, const char *const *settings, const char *const *params,
                           const GArray *blocks, guint ops, guint seeds, const SweepOptions *options, Diag *diag);

/* The three characteristics (section 4), from the memory benchmarks of Table 1 with as many blocks as the machine
 * holds. */
typedef struct Characteristics {
  guint blocks;
  double time[2][2][3];   /* microseconds: [write][contentious][volatile, atomic, volatile preceded by an atomic] */
  double atomic_volatile; /* contentious atomic reads : contentious volatile ones */
  double contentious;     /* contentious volatile reads : noncontentious ones */
  double preceded;        /* contentious volatile reads preceded by an atomic : without */
  bool hostage;           /* do atomic units hold a line hostage? */
} Characteristics;

/* Above these, atomics are slow (they cost an order of magnitude), and a line is held hostage. Below EQUAL_RATIO
 * atomics are as fast as volatile accesses. */
#define SLOW_ATOMICS 10.0
#define HOSTAGE_RATIO 1.25
#define EQUAL_RATIO 1.25

/* False after errors, or if it was stopped. */
bool primitives_classify(const char *machine, const char *const *settings, const SweepOptions *options,
                         Characteristics *found, Diag *diag);
/* The implementation that the characteristics recommend for a kind (sections 4 and 7), and why. */
const char *primitives_recommend(const Characteristics *found, PrimitiveKind kind, const char **why);

/* Why `first` may be faster than `advised`, which the rules of the paper name from their three characteristics alone;
 * NULL if nobody knows. */
const char *primitives_difference(const char *advised, const char *first);

#endif
