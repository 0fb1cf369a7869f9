/* memsys.h - the way to global memory, and the only header of it that sim/core includes for traffic.
 * An SM sends requests, each a warp's access. The memory system says when the words of which lanes are read or
 * changed, and when the SM has the reply: the caller keeps the words (serve.h), and what waits for replies
 * (flight.h).
 * Models: the units of a machine that has slices (memory.slices; hierarchy.h). Of a machine without them one server
 * for the chip with a latency and a bandwidth, in order of arrival; atomics on one word follow each other at
 * atomic_interval; host-mapped memory has the host's latency.
 * Time: cycles of the SM clock. The server: all SMs are equally far away; a request is performed
 * memory.request_latency cycles after the server took it, and answered when the rest of the latency has passed.
 * Ownership: a request is its sender's, and borrowed from memsys_send() until its reply. */
#ifndef LOCKSTEP_MEMORY_MEMSYS_H
#define LOCKSTEP_MEMORY_MEMSYS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/engine/counter.h"
#include "sim/machine/machine.h"
#include "sim/memory/backing.h"
#include "sim/memory/mem_request.h"
#include "sim/memory/mem_stats.h"
#include "sim/memory/mem_trace.h"

typedef struct MemSys MemSys;

/* The client is copied; `backing` and `counters` are borrowed. */
MemSys *memsys_new(const Machine *machine, uint64_t seed, Backing *backing, const MemClient *client,
                   Counters *counters);
void memsys_free(MemSys *memsys);

/* SM request->sm issues the request in cycle `time`, `sent_milli` is what this said of its warp's access before (0:
 * there was none): returns when the next one can come behind it, in that cycle, or later where the way to the port is
 * taken, and sets request->parts and pieces. That is the SM's own view, and changes nothing else: SMs may call it
 * side by side. */
MemNext memsys_goes_on(MemSys *memsys, MemRequest *request, uint64_t time, uint64_t sent_milli);
/* The SM has the reply of an atomic. Its own view, too: a fence asks the home of a line that the SM accessed since
 * the fence before, and comes there behind those who wait for a turn. How long that takes the reply tells. */
void memsys_replied(MemSys *memsys, const MemRequest *request);
/* A fence of that SM begins in cycle `time`: when it is over at the earliest. The SM waits for what it has under way
 * besides. Its own view, too. `system`: it is one of the system, else of the chip. */
uint64_t memsys_fence(MemSys *memsys, uint32_t sm, uint64_t time, bool system);
/* Fences of the SM send their probes from cycle `start` on (memory.fence_port). Its own view, too. `of_all`: the SM
 * has accessed nothing since they were issued. */
void memsys_send_probes(MemSys *memsys, uint32_t sm, uint64_t start, bool of_all);
/* SM request->sm sends, in cycle `time` or later than all its requests before; memsys_goes_on() came first, in the
 * same order. Accesses and segments are counted in `counters`. */
void memsys_send(MemSys *memsys, MemRequest *request, uint64_t time, Counters *counters);
/* When something is due; WHEEL_NEVER: nothing is under way. */
uint64_t memsys_next(const MemSys *memsys);
/* Does all that is due before cycle `end`. */
void memsys_run(MemSys *memsys, uint64_t end);
/* The same in steps, for windows: memsys_next() is at least `end` less memsys_window(), and nothing is sent between
 * the first step and the last that leaves an SM before memsys_next().
 * 1. Slices serve what is due. SMs may run beside it, and send if memsys_part() came before; else nobody sends before
 * it has ended. Returns how many parts wait for the second step.
 * 2. Words are read and changed, and replies go back to the SMs: those of one share of `shares`. After memsys_part()
 * shares may be done side by side, else there is one.
 * 3. The window ends. */
uint32_t memsys_serve(MemSys *memsys, uint64_t end);
void memsys_pass(MemSys *memsys, uint32_t share, uint32_t shares);
void memsys_settle(MemSys *memsys, uint64_t end);
/* In this window memory and SMs send and answer side by side; `home`, borrowed, is the share that each SM belongs to,
 * of so many, at most MEM_SHARES_MAX. Without it requests of all SMs are sent by time, then by SM. */
enum { MEM_SHARES_MAX = 254 };
void memsys_part(MemSys *memsys, const uint8_t *home, uint32_t shares);
/* True if that can be. */
bool memsys_goes_apart(const MemSys *memsys);
/* The run goes on for long: what the memory system has filled gets large pages of the host (pages_enlarge()). */
void memsys_enlarge(MemSys *memsys);
/* The shortest way between an SM and memory, in cycles: what is sent at t is performed at t plus so many at the
 * earliest, and answered so many after it was performed. */
uint32_t memsys_window(const MemSys *memsys);
/* Which GPC an SM belongs to (memory.crossbar.clusters). */
uint32_t memsys_gpc(const MemSys *memsys, uint32_t sm);
/* What its units have done so far. Borrowed. */
const MemStats *memsys_stats(MemSys *memsys);
/* `follower` is told the way of each part, with the client's user. Before the first memsys_send(). */
void memsys_follow(MemSys *memsys, MemFollower follower);

#endif
