/* place.h - which accesses to memory fault, and where the others go. Executors act on these rules, and the proof of
 * deadlocks reckons with them: they are written here and nowhere else. */
#ifndef LOCKSTEP_CORE_PLACE_H
#define LOCKSTEP_CORE_PLACE_H

#include "isa/program.h"
#include "sim/memory/memsys.h"

typedef enum {
  PLACE_FINE,
  PLACE_MISALIGNED,
  PLACE_BEYOND, /* of the block's shared memory, the lane's local memory, the kernel's parameters, or of all buffers */
  PLACE_READ_ONLY,    /* a change of constant memory */
  PLACE_NOT_CONSTANT, /* an access to constant memory, and the address of something else */
  PLACE_NOT_TAKEN,    /* in the device heap, but not (or no longer) memory that malloc() returned */
  PLACE_NO_ATOMICS,   /* an atomic operation on local memory */
  PLACE_NO_QUEUES,    /* a queue in memory of the host, which no queue unit comes to */
} PlaceFault;

/* What the instruction does to memory. */
static inline MemKind place_kind(const Inst *inst) {
  uint32_t flags = op_info[inst->op].flags;
  return flags & OPF_ATOMIC ? MEM_ATOMIC : flags & OPF_STORE ? MEM_STORE : MEM_LOAD;
}

/* The space that the instruction names. */
static inline MemSpace place_space(const Inst *inst) {
  Unit unit = op_info[inst->op].unit;
  return unit == UNIT_SHARED ? MEM_SHARED : unit == UNIT_LOCAL ? MEM_LOCAL : (MemSpace)inst->space;
}

/* True if operand a is an address of two words. Addresses of shared and local memory have one. */
static inline bool place_is_wide(const Inst *inst) {
  return op_info[inst->op].unit == UNIT_GLOBAL && inst->flags & INST_ADDR64 && (inst->a >= 0 || inst->wide & WIDE_A);
}

/* A generic address of shared memory as the window has it, where machine code put a high word before it. */
static inline uint64_t place_canonical(uint64_t address) {
  bool shared = address >> 32 == SHARED_HIGH && (uint32_t)address < WINDOW_BYTES;
  return shared ? SHARED_WINDOW + (uint64_t)(uint32_t)address : address;
}

/* The address, from the words of operand a. */
static inline uint64_t place_address(const Inst *inst, uint32_t low, uint32_t high) {
  uint64_t offset = (uint64_t)(int64_t)inst->imm;
  return place_is_wide(inst) ? place_canonical((low | (uint64_t)high << 32) + offset) : (uint32_t)(low + offset);
}

/* The space that a generic address lies in: shared, local or global memory. In the first two windows, the low word
 * less the window's start is the byte. */
static inline MemSpace place_window(uint64_t address) {
  return address - SHARED_WINDOW < WINDOW_BYTES  ? MEM_SHARED
         : address - LOCAL_WINDOW < WINDOW_BYTES ? MEM_LOCAL
                                                 : MEM_GLOBAL;
}

/* An access to byte `at` of `limit`: shared memory, local memory, parameters. */
static inline PlaceFault place_in(uint64_t at, uint32_t bytes, uint32_t limit) {
  return at & (bytes - 1) ? PLACE_MISALIGNED : bytes > limit || at > limit - bytes ? PLACE_BEYOND : PLACE_FINE;
}

static inline PlaceFault place_in_local(MemKind kind, uint64_t at, uint32_t bytes, uint32_t limit) {
  return kind == MEM_ATOMIC ? PLACE_NO_ATOMICS : place_in(at, bytes, limit);
}

/* An access to a buffer; *buffer is the one that holds all its bytes, or NULL. `constant`: the instruction names
 * constant memory. */
PlaceFault place_in_buffer(Backing *backing, MemKind kind, bool constant, uint64_t address, uint32_t bytes,
                           BackingBuffer **buffer);

/* A copy in bulk: the bytes in global memory and in the block's shared memory, and the mbarrier there that they count
 * at. */
typedef struct BulkPlace {
  uint64_t address;
  uint32_t shared, barrier, bytes;
  bool counts, changes; /* it counts at a barrier; it changes global memory */
} BulkPlace;
typedef enum {
  BULK_FINE,
  BULK_ODD_SIZE, /* misaligned: the size, what lies in shared memory, the barrier, what lies in global memory */
  BULK_ODD_SHARED,
  BULK_ODD_BARRIER,
  BULK_ODD_GLOBAL,
  BULK_BEYOND_SHARED, /* of the block's shared memory; or in no buffer, or beyond its end */
  BULK_BEYOND_BARRIER,
  BULK_BEYOND_GLOBAL,
  BULK_NOT_TAKEN, /* as in PlaceFault */
  BULK_READ_ONLY
} BulkFault;
enum { BULK_ALIGNMENT = 16, BULK_BARRIER_BYTES = 8 };
/* *buffer holds all its bytes, or NULL. `limit`: the block's bytes of shared memory. No bytes: a copy of nothing. */
BulkFault place_of_bulk(Backing *backing, const BulkPlace *place, uint32_t limit, BackingBuffer **buffer);

/* The same of an operation on a queue (queue_unit.h), which takes so many bytes. */
PlaceFault place_of_queue(Backing *backing, uint64_t address, uint32_t bytes, BackingBuffer **buffer);

#endif
