#include "sim/memory/part.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/pages.h"

/* So many parts of a cycle are put in order one by one. */
enum { FEW = 6 };

void part_queue_init(PartQueue *queue, uint32_t sms) {
  uint32_t words = (sms + 63) / 64;
  *queue = (PartQueue){
      .side = aligned_alloc(sizeof(PartSide), sms * sizeof(PartSide)),
      .sms = sms,
      .order = {.sms = g_new0(uint64_t, words), .of = g_new0(PartPlaces, 64 * words), .words = words},
  };
  queue->pool = pages_reserve(PARTS_MAX, sizeof(Part), &queue->pool_room);
  queue->room = queue->pool_room;
  if (!queue->side)
    g_error("no memory for the parts of %u SMs", sms);
  for (uint32_t sm = 0; sm < sms; sm++)
    queue->side[sm] = (PartSide){.free = NULL};
}

void part_queue_clear(PartQueue *queue) {
  size_t used = (size_t)queue->chunks << PART_CHUNK_SHIFT;
  if (queue->steps)
    pages_give_back(queue->steps, queue->steps_room, sizeof *queue->steps, used);
  pages_give_back(queue->pool, queue->pool_room, sizeof *queue->pool, used);
  for (uint32_t sm = 0; sm < queue->sms; sm++) {
    g_free(queue->side[sm].free);
    g_free(queue->side[sm].sent.due);
    g_free(queue->side[sm].answered.due);
  }
  free(queue->side);
  g_free(queue->far);
  g_free(queue->done);
  g_free(queue->free);
  g_free(queue->batch);
  g_free(queue->order.sms);
  g_free(queue->order.of);
  for (uint32_t i = 0; i < PARTS_SPAN; i++)
    g_free(queue->slot[i].part);
}

void part_queue_follow(PartQueue *queue) {
  LS_REQUIRE("parts-followed-late", queue->chunks == 0);
  queue->followed = true;
  queue->steps = pages_reserve(queue->room, sizeof *queue->steps, &queue->steps_room);
  queue->room = MIN(queue->pool_room, queue->steps_room);
}

/* ---- the pool ---- */

void part_queue_grow(PartQueue *queue, uint32_t sm) {
  uint32_t number = __atomic_fetch_add(&queue->chunks, 1, __ATOMIC_RELAXED), first = number << PART_CHUNK_SHIFT;
  if (first + PART_CHUNK > queue->room)
    g_error("no memory for %u parts of accesses", first);
  PartSide *side = &queue->side[sm];
  side->parts += PART_CHUNK;
  side->free = g_renew(uint32_t, side->free, side->parts);
  for (uint32_t i = PART_CHUNK; i-- > 0;)
    side->free[side->free_count++] = first + i;
}

/* ---- by time ---- */

void part_slot_grow(PartSlot *slot) {
  slot->size = slot->size ? slot->size * 2 : 8;
  slot->part = g_renew(uint64_t, slot->part, slot->size);
}

void part_box_grow(PartBox *box) {
  box->size = MAX(64, 2 * box->size);
  box->due = g_renew(PartDue, box->due, box->size);
}

void part_queue_unpack(PartQueue *queue, PartBox *box, uint32_t sm) {
  for (uint32_t i = 0; i < box->count; i++)
    part_queue_enter(queue, box->due[i].part, sm, box->due[i].due);
  box->count = 0;
}

static bool far_before(const PartQueue *queue, uint32_t a, uint32_t b) {
  const Part *first = part_at(queue, a), *second = part_at(queue, b);
  return first->due != second->due ? first->due < second->due : first->number < second->number;
}

void part_queue_push_far(PartQueue *queue, uint32_t part) {
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
  return queue->far_count ? part_at(queue, queue->far[0])->due : UINT64_MAX;
}

static uint64_t number_of(const PartQueue *queue, const PartSlot *slot, uint32_t place) {
  return part_at(queue, (uint32_t)slot->part[place])->number;
}

/* Few parts are put in order one by one: a part's number has its SM in the upper bits. */
static void sort_few(PartQueue *queue, const PartSlot *slot) {
  uint64_t numbers[FEW];
  uint32_t *batch = queue->batch;
  for (uint32_t place = 0; place < slot->count; place++) {
    uint64_t number = number_of(queue, slot, place);
    uint32_t hole = place;
    for (; hole > 0 && numbers[hole - 1] > number; hole--) {
      numbers[hole] = numbers[hole - 1];
      batch[hole] = batch[hole - 1];
    }
    numbers[hole] = number;
    batch[hole] = (uint32_t)slot->part[place];
  }
}

/* Counts the parts of each SM, and gives each a place in the batch for its own. */
static void divide(PartOrder *order, const PartSlot *slot) {
  uint32_t at = 0;
  for (uint32_t place = 0; place < slot->count; place++) {
    uint32_t sm = (uint32_t)(slot->part[place] >> 32);
    order->sms[sm / 64] |= UINT64_C(1) << sm % 64;
    order->of[sm].count++;
  }
  for (uint32_t word = 0; word < order->words; word++) {
    for (uint64_t rest = order->sms[word]; rest; rest &= rest - 1) {
      PartPlaces *own = &order->of[64 * word + (uint32_t)__builtin_ctzll(rest)];
      own->first = own->next = at;
      at += own->count;
      own->count = 0;
    }
    order->sms[word] = 0;
  }
}

static void sort_slot(PartQueue *queue, const PartSlot *slot) {
  uint32_t *batch = queue->batch;
  if (slot->count <= FEW) {
    sort_few(queue, slot);
    return;
  }
  divide(&queue->order, slot);
  for (uint32_t place = 0; place < slot->count; place++) {
    PartPlaces *own = &queue->order.of[slot->part[place] >> 32];
    uint32_t part = (uint32_t)slot->part[place], hole = own->next++;
    for (; hole > own->first && part_at(queue, batch[hole - 1])->number > part_at(queue, part)->number; hole--)
      batch[hole] = batch[hole - 1];
    batch[hole] = part;
  }
}

uint32_t part_queue_take(PartQueue *queue, uint64_t due) {
  queue->now = due;
  while (queue->far_count && part_at(queue, queue->far[0])->due - due < PARTS_SPAN) {
    uint32_t part = far_pop(queue);
    part_queue_put(queue, part, part_at(queue, part)->sm, part_at(queue, part)->due);
  }
  uint32_t number = (uint32_t)(due % PARTS_SPAN), count = queue->slot[number].count;
  PartSlot *slot = &queue->slot[number];
  if (G_UNLIKELY(queue->batch_size < slot->size)) {
    queue->batch_size = slot->size;
    queue->batch = g_renew(uint32_t, queue->batch, slot->size);
  }
  sort_slot(queue, slot);
  slot->count = 0;
  queue->occupied[number / 64] &= ~(UINT64_C(1) << number % 64);
  return count;
}

void part_queue_grow_done(PartQueue *queue) {
  queue->done_size = MAX(64, 2 * queue->done_size);
  queue->done = g_renew(PartDone, queue->done, queue->done_size);
}

void part_queue_grow_free(PartQueue *queue) {
  queue->free_size = MAX(64, 2 * queue->free_size);
  queue->free = g_renew(PartPlacesFree, queue->free, queue->free_size);
}
