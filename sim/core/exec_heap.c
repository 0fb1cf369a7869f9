/* malloc() and free() of kernels, and accesses to memory that they didn't give, or have taken back. */
#include <glib.h>

#include "sim/core/access.h"
#include "sim/core/record.h"
#include "sim/memory/heap.h"

#define HEX64 "0x%" G_GINT64_MODIFIER "x"

static WordChange caller(const Issue *issue, unsigned lane) {
  WordChange who = access_change(issue, issue->now);
  who.thread = thread_plus(who.thread, lane);
  return who;
}

/* The chip has one heap: calls are served one after the other, lanes in order. */
static void wait_for_turn(Issue *issue) {
  Gpu *gpu = issue->gpu;
  const Machine *machine = gpu->machine;
  uint64_t start = MAX(issue->now, gpu->heap->free_at);
  gpu->heap->free_at = start + (uint64_t)machine->heap.interval * (uint32_t)__builtin_popcount(issue->mask);
  issue->ready =
      MAX(gpu->heap->free_at, start + machine->heap.interval) - machine->heap.interval + machine->heap.latency;
  issue->next = MAX(issue->next, issue->ready);
}

/* What is taken, and from where on the next search begins, belong to the machine's state. */
static uint64_t take(Issue *issue, unsigned lane, uint64_t bytes, uint64_t alignment) {
  Heap *heap = issue->gpu->heap;
  WordChange who = caller(issue, lane);
  uint32_t next = heap->next;
  uint64_t address = heap_take(heap, bytes, alignment, &who);
  if (!address)
    return 0;
  gpu_hash_change(issue->gpu, HASH_HEAP, 0, next, heap->next);
  gpu_hash_change(issue->gpu, HASH_HEAP, address - heap->base, 0, (uint32_t)bytes);
  ProbePoint point = issue_point(issue, 1u << lane);
  PROBE_FIRE(issue->gpu, heap, &point, address, bytes, false);
  return address;
}

void exec_MALLOC(Issue *issue) {
  const Inst *inst = issue->inst;
  bool wide = inst->wide & WIDE_DST;
  uint32_t rows[2][WARP_LANES] = {{0}};
  for (uint32_t rest = issue->gpu->heap ? issue->mask : 0; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    uint64_t bytes = access_pointer(issue, inst->a, inst->wide & WIDE_A, lane);
    uint64_t address = take(issue, lane, bytes, MAX(issue_operand(issue, inst->b)[lane], 1));
    rows[0][lane] = (uint32_t)address;
    rows[1][lane] = (uint32_t)(address >> 32);
  }
  if (issue->gpu->heap)
    wait_for_turn(issue);
  issue_write(issue, inst->dst, rows[0]);
  if (wide && (uint32_t)inst->dst < warp_block(issue->sm, issue->warp)->launch->kernel->nregs)
    issue_write(issue, (int16_t)(inst->dst + 1), rows[1]);
}

/* ---- faults ---- */

static void raise_at(Issue *issue, unsigned lane, uint64_t address, const HeapPiece *piece, char *message,
                     const char *repair) {
  bool first = !issue->gpu->fault.happened;
  record_fault(issue, 1u << lane, "global", address, message, g_strdup(repair));
  if (!first || !piece)
    return;
  issue->gpu->fault.taken = piece->taken;
  if (piece->freed)
    issue->gpu->fault.given = piece->given;
}

void access_raise_heap(Issue *issue, unsigned lane, uint64_t address, uint32_t bytes) {
  const Heap *heap = issue->gpu->heap;
  const HeapPiece *piece = heap_piece(heap, address);
  uint64_t at = address - heap->base;
  const char *repair = "keep the index within what malloc() was asked for, or ask for more";
  GString *text = g_string_new(NULL);
  g_string_printf(text, "%u-byte access to global address " HEX64 " in the device heap, ", bytes, address);
  if (heap_access(heap, address, bytes) == HEAP_FREED) {
    g_string_append_printf(text, "byte %u of %u bytes that free() has taken back", (uint32_t)at - piece->offset,
                           piece->bytes);
    repair = "free memory only when no thread uses it any more";
  } else if (piece && !piece->freed) {
    g_string_append_printf(text, "byte %u of memory for which malloc() was asked for %u bytes",
                           (uint32_t)at - piece->offset, piece->bytes);
  } else {
    g_string_append(text, "in no memory that malloc() returned");
    piece = NULL;
  }
  raise_at(issue, lane, address, piece, g_string_free(text, FALSE), repair);
}

static void raise_free(Issue *issue, unsigned lane, uint64_t address, HeapAnswer answer) {
  const Heap *heap = issue->gpu->heap;
  const HeapPiece *piece = heap && answer == HEAP_FREED ? heap_piece(heap, address) : NULL;
  raise_at(issue, lane, address, piece,
           g_strdup_printf("free() of global address " HEX64 ", %s", address,
                           piece ? "which was freed before" : "which malloc() in a kernel didn't return"),
           piece ? "free each piece of memory once" : "pass what malloc() returned, or NULL");
}

/* ---- giving back ---- */

void exec_FREE(Issue *issue) {
  const Inst *inst = issue->inst;
  Heap *heap = issue->gpu->heap;
  for (uint32_t rest = issue->mask; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    uint64_t address = access_pointer(issue, inst->a, inst->wide & WIDE_A, lane);
    HeapAnswer answer = address == 0 ? HEAP_FINE : heap ? heap_can_give(heap, address) : HEAP_NEVER;
    if (answer != HEAP_FINE) {
      raise_free(issue, lane, address, answer);
      return;
    }
    if (address == 0)
      continue;
    uint32_t bytes = heap_piece(heap, address)->bytes;
    WordChange who = caller(issue, lane);
    ProbePoint point = issue_point(issue, 1u << lane);
    PROBE_FIRE(issue->gpu, heap, &point, address, bytes, true);
    heap_give(heap, address, &who);
    gpu_hash_change(issue->gpu, HASH_HEAP, address - heap->base, bytes, 0);
  }
  if (heap)
    wait_for_turn(issue);
}
