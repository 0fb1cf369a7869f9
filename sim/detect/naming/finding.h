/* finding.h - verdicts and findings: something wrong, with the evidence a person needs to mend it.
 * A plain value: it borrows nothing from the run that made it. */
#ifndef LOCKSTEP_DETECT_NAMING_FINDING_H
#define LOCKSTEP_DETECT_NAMING_FINDING_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "isa/flow/atomics.h"
#include "sim/core/older_load.h"

typedef enum {
#define VERDICT(id, text, rank, doc) VERDICT_##id,
#include "sim/detect/naming/verdicts.def"
  VERDICT_COUNT
} Verdict;

typedef enum { SEVERITY_NOTE, SEVERITY_WARNING, SEVERITY_ERROR } Severity;

typedef enum {
#define FINDING(id, text, severity, doc) FINDING_##id,
#include "sim/detect/naming/findings.def"
  FINDING_COUNT
} FindingId;

const char *verdict_name(Verdict verdict);
const char *verdict_doc(Verdict verdict);
int verdict_rank(Verdict verdict);
/* VERDICT_COUNT if there is no verdict of that name. */
Verdict verdict_from_name(const char *name);
/* All names, NULL-terminated. */
const char *const *verdict_names(void);

const char *finding_name(FindingId id);
const char *finding_doc(FindingId id);
Severity finding_severity(FindingId id);
const char *severity_name(Severity severity); /* "note", "warning", "error" */
FindingId finding_from_name(const char *name);
const char *const *finding_names(void);

/* What mends a barrier in shared memory (mbarrier) that is initialised again while threads use it. */
extern const char finding_repair_again[];
/* What is said of an orphan-wait of which nothing more is known; of one whose word those who wait gave its value. */
extern const char finding_repair_ways_out[], finding_repair_own_word[], finding_repair_count[];
/* True of these three. */
bool finding_repair_is_general(const char *repair);

/* One line of evidence: a place in the source (line 0: none) and what happened or waits there. */
typedef struct Evidence {
  unsigned line;
  char *file;    /* NULL: the finding's */
  char *source;  /* the line's text, or NULL */
  char *callers; /* as the finding's */
  char *text;
} Evidence;

/* Something put into a program, at every access that comes from the same line of the same kernel and has the same
 * opcode. */
typedef enum {
  EDIT_FENCE_BEFORE,
  EDIT_FENCE_BEHIND,
  EDIT_WARP_SYNC_BEFORE,
  EDIT_WARP_SYNC_BEHIND,
  EDIT_BARRIER_BEHIND, /* __syncthreads() */
  EDIT_BARRIER_BEFORE,
  EDIT_SC_FENCE_BEFORE, /* fence.sc */
  EDIT_SC_FENCE_BEHIND,
  EDIT_NOTHING, /* of a doubt: the access itself */
  EDIT_OLDER, /* of a doubt: the load reads an older value, equal to the one that it reads; stands if something races
                 then */
} EditKind;
typedef struct RepairEdit {
  EditKind kind;
  const char *kernel; /* its name, interned */
  uint32_t pc;
  bool in_block;  /* a fence for the block only */
  uint32_t value; /* EDIT_OLDER */
} RepairEdit;

/* A repair that can be tried in the model. */
enum { REPAIR_EDITS_MAX = 2 };
typedef struct Repair {
  RepairEdit edit[REPAIR_EDITS_MAX];
  unsigned edits;
  char *text; /* what is proposed if the finding is gone with it */
} Repair;

/* A fence.sc that may help: behind a store that was overtaken, in a run whose stores may be late
 * (memory.late_stores), or might have been; or where a hand-off lacks one. It is tried by a run of the program
 * with that fence. */
typedef struct LateFence {
  const char *kernel; /* its name, interned */
  GArray *insts;      /* uint32_t, rising: the instruction, and those of the same line like it */
  bool before;        /* it stands before them, not behind */
  char *where;        /* "behind the store of `x = 1;` in line 5 and before the load of `y` in line 6" */
  Evidence *evidence; /* what the store was overtaken by; or NULL */
  bool load;          /* that was a load */
  bool overtaken;     /* it was, in this run; else it might have been */
} LateFence;

/* Where a finding comes from: the run in which its older loads are. */
typedef struct FindingRun {
  unsigned schedule; /* of the check */
  bool as_source;    /* of the PTX of machine code */
  uint64_t cycles;
} FindingRun;

enum { FINDING_OLDER_MAX = 12 };

typedef struct Finding {
  FindingId id;
  char *message;         /* one sentence, starts with a lower-case letter, no full stop */
  char *file;            /* source file, or NULL */
  unsigned line;         /* source line, 0 if unknown */
  char *source;          /* that line's text, or NULL */
  char *inlined;         /* "atomic.hpp:94": what of the compiler was inlined there, the innermost first; or NULL */
  char *callers;         /* "mine.cu:28 (`barrier(x);`)": where that line was inlined, the innermost first; or NULL */
  uint64_t cycle;        /* when it happened or was proved */
  int64_t block, warp;   /* linear block index in its grid, warp in the block; -1 if it concerns several */
  uint32_t lanes;        /* mask of lanes, 0 if it concerns several warps */
  char *space;           /* "shared", "global", or NULL if no address is concerned */
  uint64_t address;      /* byte address in that space, if `space` */
  int64_t lock_bit;      /* -1 if none */
  char *holder;          /* who holds what is waited for, since when and where; or NULL */
  char *repair;          /* how it is usually repaired, or NULL */
  GPtrArray *repairs;    /* Repair *, to be tried in this order; NULL: none. A copy has none */
  unsigned meets[2];     /* lines of the two accesses that would race, if that is what it leads to; 0: not known */
  GPtrArray *fences;     /* LateFence *, the likeliest first; NULL: none. A copy has none */
  AtomicUpdates *atomics; /* that may mend it; NULL: none. A copy has none */
  bool fences_tried;     /* those of the same finding of a later run */
  char *mended_by;       /* the fences that were tried and end it, as a key; NULL: none */
  bool without_fences;   /* a wait where stores are late, of which nobody says which fences might help */
  bool repairs_first;    /* they are tried if no repair helps; else before these */
  bool unless_right;     /* it may do no harm: told unless the scenario expects buffers, and they are as expected */
  const char *otherwise; /* where none of these helps: what can't be tried; NULL: nothing. A constant */
  Repair *doubt;         /* stands only if it is there in spite of this; NULL: no doubt. A copy has none */
  GArray *older;         /* OlderLoad: loads that might have given these values instead; NULL: none */
  GArray *older_lanes;   /* OlderLanes: the same of lanes of a warp that only lock-step orders; NULL: none */
  FindingRun run;        /* in which they are; filled by check */
  GPtrArray *evidence;   /* Evidence *, in reading order */
  uint64_t count;        /* how often it happened (misuse is reported once a place) */
} Finding;

/* A run that shows whether a finding is gone with a repair, or in spite of a doubt. */
typedef struct RepairTrial {
  const Repair *repair;
  const Finding *finding;
} RepairTrial;

Finding *finding_new(FindingId id, char *message_taken);
void finding_free(Finding *finding);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Finding, finding_free)
Finding *finding_copy(const Finding *finding);
/* It says what `other`, the same finding of another run, says. */
void finding_tell_as(Finding *finding, const Finding *other);
/* Takes ownership of `text`. The place can be completed in what is returned. */
Evidence *finding_add_evidence(Finding *finding, unsigned line, char *text);
/* "lane 3", "lanes 0-3, 7", "all 32 lanes". Free with g_free. */
char *lanes_text(uint32_t lanes);
/* "7"; "4294967295 (-1 if signed)" of a number that is a small negative one. Free with g_free. */
char *number_text(uint32_t number);
/* The same kind at the same place; of two accesses it is chance which comes first. */
bool finding_same_place(const Finding *a, const Finding *b);
/* The one of `all` (Finding *) that is the same in this sense; NULL: there is none. */
Finding *finding_find(const GPtrArray *all, const Finding *finding);
/* The same in a trial of `finding`: also with the same kind of doubt, if both have one. What is there for another
 * reason says nothing of it. */
bool finding_comes_again(const Finding *finding, const Finding *in_trial);
/* Adds a repair to be tried. Takes ownership of `text`. */
void finding_add_repair(Finding *finding, const RepairEdit *edits, unsigned count, char *text);
/* Adds a load, unless there are FINDING_OLDER_MAX. */
void finding_add_older(Finding *finding, const OlderLoad *load);
/* The same of lanes, of which few are kept. */
void finding_add_older_lanes(Finding *finding, const OlderLanes *lanes);
/* Adds those of another one. */
void finding_add_all_older(Finding *finding, const Finding *other);
/* It stands: its doubt goes. */
void finding_trust(Finding *finding);
/* Takes ownership of all of the fence, which is a value that isn't needed any longer. */
void finding_add_fence(Finding *finding, const LateFence *fence);
/* Adds one of a kernel, which all of them are of; `kernel`: its name. */
void finding_add_atomic(Finding *finding, const char *kernel, const AtomicUpdate *update);
/* Adds what the fence has as evidence, a copy of it. */
void finding_add_fence_evidence(Finding *finding, const LateFence *fence);
LateFence *late_fence_copy(const LateFence *fence);
void late_fence_free(gpointer fence);
/* The access may not depend on what was handed on before it (decides.h). `access`: EDIT_NOTHING. */
void finding_set_doubt(Finding *finding, RepairEdit access);

#endif
