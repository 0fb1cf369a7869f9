/* report.h - what the detectors of misuse share: one finding for each place, counted when it happens again. Private to
 * sim/detect/misuse. */
#ifndef LOCKSTEP_DETECT_MISUSE_REPORT_H
#define LOCKSTEP_DETECT_MISUSE_REPORT_H

#include "sim/detect/misuse/misuse.h"
#include "sim/detect/naming/locate.h"

struct Misuse {
  Gpu *gpu;
  Probe probe;
  GPtrArray *findings; /* Finding *; borrowed */
  GHashTable *places;  /* kind and place -> Finding *: a program may misuse at very many places */
  /* Of misuse_new(): Kernel * -> bool of each instruction (guesses.h), or NULL; made when asked. */
  GHashTable *guesses;
  struct ProxyWatch *proxies; /* of misuse_new_proxies() */
  GHashTable *skipped; /* of misuse_new_lanes(): launch, instruction and INST_LEAVES -> what past_skipped() says */
};

/* Subscribes `probe`, whose `user` it becomes. */
Misuse *report_new(Gpu *gpu, GPtrArray *findings, Probe probe);
/* All launches of a run are of one program, so a line names a place. */
uint64_t report_key(FindingId id, const ProbePoint *point);
/* "lane 3 reads", "lanes 3-4 read": "s" or "". */
const char *report_ending(const ProbePoint *point);
/* The lanes of the point; newly allocated. */
char *report_who(const ProbePoint *point);
/* True if there is a finding of that key already: then it is counted. */
bool report_is_known(const Misuse *misuse, uint64_t key);
/* Adds a finding. Takes ownership of `message`. */
Finding *report_add_new(Misuse *misuse, FindingId id, uint64_t key, const ProbePoint *point, char *message,
                        const char *repair);
/* Adds a finding, or counts one that is there already: then NULL. Takes ownership of `message`. */
Finding *report_add(Misuse *misuse, FindingId id, const ProbePoint *point, char *message, const char *repair);

#endif
