/* malloc() and free() of one lane. Two words of the heap that no program can access say whether somebody may still
 * come to the one, and to the other: they hold 0, and 1 from then on. */
#include "sim/detect/proof/explore_step.h"
#include "sim/memory/heap.h"

bool explore_is_heap(const LaneWalk *walk, WordKey key) {
  const Heap *heap = walk->explorer->gpu->heap;
  return heap && !word_key_is_local(key) && !word_key_is_shared(key) && key * 4 >= heap->base &&
         key * 4 < heap->base + heap->bytes;
}

static bool may_come(LaneWalk *walk, uint64_t word) {
  return abstract_has(explore_depend(walk, word_key_global(word)), 1);
}

bool explore_may_take(LaneWalk *walk) { return may_come(walk, heap_taking(walk->explorer->gpu->heap)); }

bool explore_may_give(LaneWalk *walk) { return may_come(walk, heap_giving(walk->explorer->gpu->heap)); }

static void comes(LaneWalk *walk, uint64_t word) {
  AbstractMemory *memory = &walk->explorer->memory;
  if (keeps_stores(walk))
    abstract_add(memory, abstract_word(memory, walk->view->sm, word_key_global(word)), 1);
}

void explore_malloc(LaneWalk *walk, LaneState *state, const Inst *inst) {
  if (walk->explorer->gpu->heap)
    comes(walk, heap_taking(walk->explorer->gpu->heap));
  explore_forget_writes(walk, state, inst);
}

/* What was freed, or never was the heap's, is a fault, and so is what others may free before. */
void explore_free(LaneWalk *walk, LaneState *state, const Inst *inst) {
  const Heap *heap = walk->explorer->gpu->heap;
  int16_t high = slot_part(inst->a, inst->wide & WIDE_A ? 1 : 0, inst->wide & WIDE_A);
  bool unknown = slot_unknown(state, inst->a) || slot_unknown(state, high);
  uint64_t address = slot_value(walk, state, inst->a);
  if (inst->wide & WIDE_A)
    address |= (uint64_t)slot_value(walk, state, high) << 32;
  if (!unknown && address == 0)
    return;
  if (unknown || !heap || heap_can_give(heap, address) != HEAP_FINE || explore_may_give(walk))
    explore_fault(walk);
  if (heap)
    comes(walk, heap_giving(heap));
}
