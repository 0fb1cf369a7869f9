/* hot_lines.h - which lines of global memory are asked for most, and waited for longest: a subscriber to one run.
 * Ownership: the caller's; it may be freed when the run has ended. It borrows launches of the Gpu until then. */
#ifndef LOCKSTEP_STUDY_HOT_LINES_H
#define LOCKSTEP_STUDY_HOT_LINES_H

#include "sim/core/gpu.h"

/* So many different lines are followed; those that come later aren't. */
enum { HOT_LINES_MAX = 1 << 18 };

/* Instruction that asked for a line. */
typedef struct HotPlace {
  const Launch *launch;
  uint32_t pc;
  uint64_t requests;
} HotPlace;

/* Times in thousandths of a cycle. */
typedef struct HotLine {
  uint64_t address;
  uint64_t requests, loads, stores, atomics, operations, waited, hostage;
  GArray *places;  /* HotPlace */
  uint32_t asks[]; /* lanes that asked for each word */
} HotLine;

typedef struct HotLines HotLines;

HotLines *hot_lines_new(const Machine *machine);
void hot_lines_free(HotLines *lines);
Probe *hot_lines_probe(HotLines *lines);
/* The `count` lines with the most requests (by_waiting: that were waited for longest, and at all), the first first.
 * HotLine *, borrowed.
 * Free the array. */
GPtrArray *hot_lines_top(const HotLines *lines, guint count, bool by_waiting);
/* The word of a line that most lanes asked for, the first of several, and how many words somebody asked for. */
uint32_t hot_lines_word(const HotLines *lines, const HotLine *line, uint32_t *asked);
/* The place that asked for a line most often. */
const HotPlace *hot_lines_place(const HotLine *line);

#endif
