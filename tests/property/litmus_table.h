/* litmus_table.h - counts of outcomes from files, as litmus.cu and `litmus run` write them, and tables of them. */
#ifndef LOCKSTEP_TESTS_LITMUS_TABLE_H
#define LOCKSTEP_TESTS_LITMUS_TABLE_H

#include "tests/property/litmus.h"

#define LITMUS_COLUMNS "test,form,fence,place,copies,tries,outcomes"

typedef struct LitmusTally {
  uint64_t tries, weak,
      forbidden; /* weak: no interleaving gives it; forbidden: not allowed by the PTX memory model */
} LitmusTally;

typedef struct LitmusTallies {
  LitmusTally of[16][8][8][PLACE_COUNT][2]; /* by test, form, fence, place, copies in the L1 */
} LitmusTallies;

/* NULL, with a sentence in *why (newly allocated), if there is no such file or it isn't right. Free with g_free. */
LitmusTallies *litmus_read(const char *path, char **why);
/* Of all programs. */
LitmusTally litmus_sum(const LitmusTallies *tallies, LitmusPlace place, bool copies);
/* Appends the tables of doc/weak_memory.md. */
void litmus_table(LitmusTallies *model, LitmusTallies *gpu, GString *out);

#endif
