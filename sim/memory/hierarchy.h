/* hierarchy.h - the memory system in units: ports of SMs, crossbar, slices of L2 with tags and atomic units, DRAM,
 * host link.
 * The way of a request (hierarchy.c has a function for each step): the coalescer makes parts of it, one for each
 * line. Each leaves its SM's port in order, comes to the slice of its line, waits for its turn there, and finds its
 * line in the tags or waits until it has come from DRAM. Then its words are read or changed. An atomic takes its turn
 * in the atomic unit before that, and so does what comes to a line that an atomic holds. The reply goes back through
 * the crossbar into the port.
 * Two halves: a part comes to its line's slice in the SM's own half. An atomic crosses to the home half; so does a
 * load that finds no copy.
 * A store is performed where it comes, and the copy of the other half is void.
 * Order: parts of one SM to one line never overtake each other.
 * Does not model: messages between the halves other than those parts; a slice's banks; virtual memory.
 * Time: cycles of the SM clock outside, thousandths inside. What happens in a cycle happens by rising SM.
 * Ownership: owns its units; requests are borrowed until their reply. */
#ifndef LOCKSTEP_MEMORY_HIERARCHY_H
#define LOCKSTEP_MEMORY_HIERARCHY_H

#include "sim/engine/counter.h"
#include "sim/machine/machine.h"
#include "sim/memory/backing.h"
#include "sim/memory/mem_request.h"
#include "sim/memory/mem_stats.h"

typedef struct Hierarchy Hierarchy;

/* As memsys.h has it. machine->memory.slices > 0. */
Hierarchy *hierarchy_new(const Machine *machine, uint64_t seed, Backing *backing, const MemClient *client,
                         Counters *counters);
void hierarchy_free(Hierarchy *hierarchy);
void hierarchy_send(Hierarchy *hierarchy, MemRequest *request, uint64_t time, Counters *counters);
void hierarchy_replied(Hierarchy *h, const MemRequest *request);
uint64_t hierarchy_fence(Hierarchy *h, uint32_t sm, uint64_t time, bool system);
void hierarchy_send_probes(Hierarchy *h, uint32_t sm, uint64_t start, bool of_all);
uint32_t hierarchy_gpc(const Hierarchy *h, uint32_t sm);
MemNext hierarchy_goes_on(Hierarchy *hierarchy, MemRequest *request, uint64_t time, uint64_t sent_milli);
uint64_t hierarchy_next(const Hierarchy *hierarchy);
void hierarchy_run(Hierarchy *hierarchy, uint64_t end);
bool hierarchy_goes_apart(const Hierarchy *hierarchy);
void hierarchy_part(Hierarchy *hierarchy, const uint8_t *home, uint32_t shares);
uint32_t hierarchy_serve(Hierarchy *hierarchy, uint64_t end);
void hierarchy_pass(Hierarchy *hierarchy, uint32_t share, uint32_t shares);
void hierarchy_settle(Hierarchy *hierarchy);
void hierarchy_enlarge(Hierarchy *hierarchy);
uint32_t hierarchy_window(const Hierarchy *hierarchy);
const MemStats *hierarchy_stats(Hierarchy *hierarchy);
void hierarchy_follow(Hierarchy *hierarchy, MemFollower follower);

#endif
