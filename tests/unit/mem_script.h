/* mem_script.h - the little language of tests/memory: accesses to global memory, cycle by cycle, and what is to come
 * of them.
 *
 *   # a comment
 *   machine memory.latency=600 memory.segment=128     parameters, before everything else
 *   seed 3                                            of what is drawn at random (0 unless it says otherwise)
 *   buffer a 4096                                     its words; `buffer a 4096 host`: host-mapped
 *   at 9 SM0 keep a[0]                                a load that an L1 keeps
 *   at 10 SM0 load a[0]                               one lane; a[WORD]
 *   at 12 SM3 atomic a[0] x32 step 0                  32 lanes, so many bytes apart (4 unless it says otherwise)
 *   at 12 SM3 store.64 a[0] x4           .8 to .128 bits of each lane; .32 if it says nothing; .f32, .f64 of floats
 *   at 12 SM3 load a[0] mask 0xf0 step 128 turn 2     these lanes; lane l has place l % 2
 *   at 12 SM3 cas.128 a[0] x4 step 128                an atomic with two operands
 *   at 12 SM3 exchange a[0]                           an atomic that stores what doesn't depend on what was there
 *   at 12 SM3 enqueue a[0]                            also dequeue: the queue that begins there (memory.queue)
 *   at 12 SM3 red a[0] as first                       an atomic whose result nobody uses; `as`: a name
 *   at 12 SM0 store a[0] x8 step 128 warp 3          its warp 3 (0 unless it says otherwise)
 *   at 12 SM0 store a[0] scheduler 1                  of a warp of its scheduler 1 (0 unless it says otherwise)
 *   times 20                                          the access before is made 19 times more
 *   expect reply 614                                  of the last access: when its result can be used
 *   expect performed 312                              when the last of its words was read or changed
 *   expect goes-on 12                                 when its scheduler can issue the next
 *   expect sent 28                                    when its warp's stores so far have come to the port, parts and all
 *   expect read 24                                    when its sources have been read, or earlier
 *   expect first reply 614                            of that access, by its name
 *   expect segments 3                                 a counter of all accesses so far, which are all served first (the next one comes later): accesses,
 *                                                     segments, atomics, or another one by its name
 *   expect slice 0 waited 25000                       a number of mem_stats.h, of all accesses so far: of a slice; in thousandths of a cycle
 *   expect port 1 out.bytes 32                        of an SM's port
 *   expect channel 0 rows 1                           of a channel of DRAM
 *
 * Accesses are made in the order of their lines, which must be that of their cycles. What is expected of one is
 * looked at when all have been served. Nothing may be performed twice, or before what was performed already. In the
 * end what the units have counted must add up. */
#ifndef LOCKSTEP_TESTS_MEM_SCRIPT_H
#define LOCKSTEP_TESTS_MEM_SCRIPT_H

/* Runs the script. NULL if all came as expected, otherwise the first line that didn't, or that can't be read, with
 * what was found: "NAME:LINE: ...". Newly allocated. */
char *mem_script_run(const char *name, const char *text);

#endif
