#include "sim/memory/part.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

void part_queue_init(PartQueue *queue) { *queue = (PartQueue){.free = PART_NONE}; }

void part_queue_clear(PartQueue *queue) {
  free(queue->pool);
  g_free(queue->steps);
  g_free(queue->far);
  g_free(queue->done);
  g_free(queue->batch.part);
  for (uint32_t i = 0; i < PARTS_SPAN; i++)
    g_free(queue->slot[i].part);
}

void part_queue_follow(PartQueue *queue) {
  LS_REQUIRE("parts-followed-late", queue->size == 0);
  queue->followed = true;
}

/* ---- the pool ---- */

static void grow_pool(PartQueue *queue) {
  uint32_t old = queue->size;
  queue->size = old ? old * 2 : 256;
  Part *pool = aligned_alloc(sizeof(Part), queue->size * sizeof(Part));
  if (!pool)
    g_error("no memory for %u parts of accesses", queue->size);
  if (old)
    memcpy(pool, queue->pool, old * sizeof(Part));
  free(queue->pool);
  queue->pool = pool;
  if (queue->followed)
    queue->steps = g_realloc_n(queue->steps, queue->size, sizeof *queue->steps);
  for (uint32_t part = queue->size; part-- > old;) {
    queue->pool[part].next = queue->free;
    queue->free = part;
  }
  queue->free_count += queue->size - old;
}

void part_queue_reserve(PartQueue *queue, uint32_t parts) {
  while (queue->free_count < parts)
    grow_pool(queue);
}

uint32_t part_new(PartQueue *queue) {
  if (G_UNLIKELY(queue->free == PART_NONE))
    grow_pool(queue);
  uint32_t part = queue->free;
  queue->free = queue->pool[part].next;
  queue->free_count--;
  if (queue->free != PART_NONE)
    __builtin_prefetch(&queue->pool[queue->free], 1);
  if (G_UNLIKELY(queue->followed))
    memset(queue->steps[part], 0, sizeof *queue->steps);
  return part;
}

void part_free(PartQueue *queue, uint32_t part) {
  queue->free_count++;
  queue->pool[part].next = queue->free;
  queue->free = part;
}

/* ---- by time ---- */

static void grow_slot(PartSlot *slot) {
  slot->size = slot->size ? slot->size * 2 : 8;
  slot->part = g_renew(uint32_t, slot->part, slot->size);
}

static void put_in_slot(PartQueue *queue, uint32_t part, uint64_t due) {
  uint32_t number = (uint32_t)(due % PARTS_SPAN);
  PartSlot *slot = &queue->slot[number];
  if (G_UNLIKELY(slot->count == slot->size))
    grow_slot(slot);
  slot->part[slot->count++] = part;
  queue->occupied[number / 64] |= UINT64_C(1) << number % 64;
}

static bool far_before(const PartQueue *queue, uint32_t a, uint32_t b) {
  const Part *first = &queue->pool[a], *second = &queue->pool[b];
  return first->due != second->due ? first->due < second->due : first->number < second->number;
}

static void far_push(PartQueue *queue, uint32_t part) {
  if (queue->far_count == queue->far_size) {
    queue->far_size = queue->far_size ? queue->far_size * 2 : 64;
    queue->far = g_renew(uint32_t, queue->far, queue->far_size);
  }
  uint32_t hole = queue->far_count++;
  for (; hole > 0 && far_before(queue, part, queue->far[(hole - 1) / 2]); hole = (hole - 1) / 2)
    queue->far[hole] = queue->far[(hole - 1) / 2];
  queue->far[hole] = part;
}

static uint32_t far_pop(PartQueue *queue) {
  uint32_t first = queue->far[0], last = queue->far[--queue->far_count], hole = 0;
  for (uint32_t child; (child = 2 * hole + 1) < queue->far_count; hole = child) {
    if (child + 1 < queue->far_count && far_before(queue, queue->far[child + 1], queue->far[child]))
      child++;
    if (!far_before(queue, queue->far[child], last))
      break;
    queue->far[hole] = queue->far[child];
  }
  queue->far[hole] = last;
  return first;
}

void part_queue_push(PartQueue *queue, uint32_t part, uint64_t due) {
  queue->pool[part].due = due;
  if (due - queue->now < PARTS_SPAN)
    put_in_slot(queue, part, due);
  else
    far_push(queue, part);
}

uint64_t part_queue_next(const PartQueue *queue) {
  uint32_t start = (uint32_t)(queue->now % PARTS_SPAN), word = start / 64;
  uint64_t bits = queue->occupied[word] & UINT64_MAX << start % 64;
  for (uint32_t i = 0; i <= PARTS_WORDS; i++) {
    if (bits) {
      uint32_t slot = word * 64 + (uint32_t)__builtin_ctzll(bits);
      return queue->now + (slot - start) % PARTS_SPAN;
    }
    word = (word + 1) % PARTS_WORDS;
    bits = queue->occupied[word];
  }
  return queue->far_count ? queue->pool[queue->far[0]].due : UINT64_MAX;
}

/* By insertion: the SMs send one after the other, so that they are nearly in order. */
static void sort_batch(const PartQueue *queue) {
  uint32_t *batch = queue->batch.part, count = queue->batch.count;
  for (uint32_t i = 1; i < count; i++) {
    uint32_t part = batch[i], hole = i;
    uint64_t number = queue->pool[part].number;
    for (; hole > 0 && queue->pool[batch[hole - 1]].number > number; hole--)
      batch[hole] = batch[hole - 1];
    batch[hole] = part;
  }
}

uint32_t part_queue_take(PartQueue *queue, uint64_t due) {
  queue->now = due;
  while (queue->far_count && queue->pool[queue->far[0]].due - due < PARTS_SPAN) {
    uint32_t part = far_pop(queue);
    put_in_slot(queue, part, queue->pool[part].due);
  }
  uint32_t number = (uint32_t)(due % PARTS_SPAN);
  PartSlot emptied = {.part = queue->batch.part, .size = queue->batch.size};
  queue->batch = queue->slot[number];
  queue->slot[number] = emptied;
  queue->occupied[number / 64] &= ~(UINT64_C(1) << number % 64);
  sort_batch(queue);
  return queue->batch.count;
}

void part_queue_done(PartQueue *queue, uint32_t part, uint64_t milli) {
  if (G_UNLIKELY(queue->done_count == queue->done_size)) {
    queue->done_size = MAX(64, 2 * queue->done_size);
    queue->done = g_renew(PartDone, queue->done, queue->done_size);
  }
  queue->done[queue->done_count++] = (PartDone){milli, part};
}
