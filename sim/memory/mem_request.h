/* mem_request.h - what SMs ask of the memory system, and who is told what becomes of it (memsys.h has the contract).
 * Ownership: a request is its sender's, and borrowed from memsys_send() until its reply. */
#ifndef LOCKSTEP_MEMORY_MEM_REQUEST_H
#define LOCKSTEP_MEMORY_MEM_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

typedef enum { MEM_LOAD, MEM_STORE, MEM_ATOMIC } MemKind;

/* What an atomic asks of a queue unit. */
typedef enum { MEM_NO_QUEUE, MEM_ENQUEUE, MEM_DEQUEUE } MemQueue;

/* What goes along with a piece from the SM to the slice (part.h): two bytes. */
typedef struct MemShape {
  uint16_t sector_count : 6; /* up to 32 */
  uint16_t turns : 6;        /* of an atomic, in the atomic unit; up to 32. Of a joined store: its data, in sectors */
  uint16_t
      joined : 1; /* a store that joins one before it at the port (memory.port.merge_lines); an atomic that rides */
  uint16_t home : 1;   /* the half of the L2 that is the line's home */
  uint16_t banked : 1; /* of an atomic: all lanes of its request are on one bank (memory.port.bank_turn_interval) */
  /* Of an atomic: of 128 bits. The slices take no longer for it (mem_wide_h200.csv, `try`). Of a store: it writes all
   * of its sectors' bytes, so that it takes no mask along (memory.port.store_mask_interval), and the half of its SM
   * keeps a copy (memory.l2.halves of two). */
  uint16_t quad_or_whole : 1;
} MemShape;

/* How a piece leaves its SM. */
typedef struct MemPackets {
  /* Of an atomic: it leaves its SM in packets, each with at most a lane on a word. So many have several lanes. Of a
   * store: 1 if it is all of its access. */
  uint16_t several : 6;
  /* Of a compare-and-swap on several words: turns of lanes with their memory.atomic.cas_span to themselves. */
  uint16_t alone : 6;
} MemPackets;

/* What an access asks of one line. There are up to MEM_PIECES. */
enum { MEM_PIECES = 32 };
typedef struct MemPiece {
  uint32_t lanes, sectors; /* by bit */
  uint32_t line;           /* its number */
  uint32_t busy;           /* of an atomic: what it takes of its atomic unit, in thousandths of a cycle */
  uint16_t slice;          /* that it goes to, in its SM's half */
  MemShape shape;
  MemPackets packets;
} MemPiece;

/* One warp's access. */
typedef struct MemRequest {
  uint64_t address[32];
  MemKind kind;
  uint32_t sm;        /* who sends it */
  uint32_t scheduler; /* of that SM */
  uint32_t mask;      /* lanes that take part */
  uint32_t bytes;     /* of each lane */
  bool run;           /* all lanes access one piece of memory, one lane's bytes behind the other's */
  bool together;      /* those that take part all access the same bytes */
  bool host;          /* some lane goes to host-mapped memory */
  bool keeps;         /* of a load: whole sectors are kept, in an L1 */
  bool unused;        /* of an atomic: a reduction (RED), which returns nothing */
  bool exchange;      /* of an atomic: what it stores doesn't depend on what was there (EXCH) */
  bool cas;           /* of an atomic: it has two operands (CAS) */
  bool floats;        /* of an atomic: it adds floating-point numbers */
  bool merged;        /* of an atomic: its lanes bring one operation (MergeMode) */
  bool rides;         /* of an atomic: a word of a vector behind the first, whose operation takes the time of all */
  MemQueue queue;     /* of an atomic: on the queue at each lane's address; `bytes` are those of its result */
  uint32_t
      performed; /* lanes whose words have been read or changed; the sender sets those that had no need to come */
  /* The memory system's own while the request is under way: parts that aren't answered yet, when it was sent, and the
   * newest answer. */
  uint32_t parts;
  uint32_t pieces; /* where its pieces are, until they have been sent (PortPieces) */
  uint64_t sent;
  uint64_t from; /* thousandths: when its first part comes to the port, behind its warp's stores before */
  uint64_t answered;
  /* Thousandths: the longest way to a line's home and back; of an atomic, how long its parts waited for a turn. */
  uint32_t way, waited;
  /* Thousandths: probes of fences take the port so long before it; the last ones not before `probes_until`. */
  uint64_t probes, probes_until;
} MemRequest;

/* A store, or a reduction: its warp has no need of its reply. */
static inline bool mem_request_is_posted(const MemRequest *request) {
  return request->kind == MEM_STORE || (request->kind == MEM_ATOMIC && request->unused);
}

/* It will be sent soon. */
static inline void mem_request_prefetch(const MemRequest *request) {
  __builtin_prefetch(&request->kind);
  __builtin_prefetch(&request->parts, 1);
}

struct MemTrace;
/* A part of an access has been performed: its way. */
typedef void (*MemFollower)(void *user, const struct MemTrace *trace);

/* Behind an access: the cycle in which its scheduler can issue the next one; when the parts of its warp's stores so
 * far have come to the port, in thousandths of a cycle; how long its parts take the port, in thousandths (0: not
 * known); how many credits they take, how many of merged stores, and how many places on their way
 * (memory.port.turns); the cycle in which its sources are read, or earlier; and that in which it leaves the port. */
typedef struct MemNext {
  uint64_t cycle, sent_milli, takes_milli, read, leaves;
  uint32_t credits, merged, turns;
} MemNext;

/* Who is told what becomes of requests. */
typedef struct MemClient {
  void *user;
  /* The words of these lanes are read or changed now. Calls come by rising time; on one line, in the order of
   * service. */
  void (*perform)(void *user, MemRequest *request, uint32_t lanes, uint64_t time);
  /* These lanes will be performed soon: may bring words to the host's cache. NULL: nobody wants to know. */
  void (*soon)(void *user, const MemRequest *request, uint32_t lanes);
  /* The last lanes have been performed. The SM has the reply in cycle `time`: of a store, the acknowledgement that
   * fences wait for. */
  void (*reply)(void *user, MemRequest *request, uint64_t time);
  /* So many places on the way from that SM, of those that its accesses took, are free in cycle `time`, as the SM
   * knows then. Calls of an SM come by rising time. NULL: nobody wants to know. */
  void (*places)(void *user, uint32_t sm, uint32_t turns, uint64_t time);
  MemFollower part; /* set by memsys_follow(); NULL: nobody follows, and no ways are kept */
} MemClient;

#endif
