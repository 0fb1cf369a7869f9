#include "sim/core/look.h"

static const BackingBuffer *buffer_at(const Gpu *gpu, uint64_t address) {
  return backing_find(gpu->backing, address & ~UINT64_C(3), 4);
}

static uint32_t word_in(const BackingBuffer *buffer, uint64_t address) {
  return (uint32_t)((address - buffer->base) / 4);
}

uint32_t look_global(const Gpu *gpu, uint64_t address) {
  const BackingBuffer *buffer = buffer_at(gpu, address);
  return buffer ? buffer->data[word_in(buffer, address)] : 0;
}

uint32_t look_shared(const Sm *sm, uint32_t word) { return sm->shared.words[word]; }

uint32_t look_local(const Sm *sm, uint32_t slot, uint32_t word, unsigned lane) {
  return local_memory_word(&sm->warps[slot].local, word, lane);
}

WordChange look_global_change(const Gpu *gpu, uint64_t address) {
  const BackingBuffer *buffer = buffer_at(gpu, address);
  return buffer ? change_log_get(&buffer->changes, word_in(buffer, address)) : (WordChange){.thread = THREAD_NONE};
}

WordChange look_shared_change(const Sm *sm, uint32_t word) { return change_log_get(&sm->shared.changes, word); }

bool look_buffer(const Gpu *gpu, uint64_t address, const char **name, uint64_t *word) {
  const BackingBuffer *buffer = buffer_at(gpu, address);
  if (!buffer || buffer->heap)
    return false;
  *name = buffer->name;
  *word = word_in(buffer, address);
  return true;
}

bool look_in_heap(const Gpu *gpu, uint64_t address) {
  const BackingBuffer *buffer = buffer_at(gpu, address);
  return buffer && buffer->heap;
}

uint64_t look_address(const Gpu *gpu, uint32_t buffer, uint32_t word) {
  return backing_buffer(gpu->backing, buffer)->base + 4 * (uint64_t)word;
}

BufferLook look_words(const Gpu *gpu, uint32_t buffer) {
  const BackingBuffer *from = backing_buffer(gpu->backing, buffer);
  return (BufferLook){from->name, from->data, from->words, from->base};
}

uint64_t look_digest(const Gpu *gpu) { return backing_digest(gpu->backing); }

const LockBit *look_bit(const Sm *sm, uint32_t bit) { return &sm->lock_unit.bit[bit]; }

const MemStats *look_memory(const Gpu *gpu) { return memsys_stats(gpu->memsys); }

Choices look_choices(const Gpu *gpu) {
  Choices choices = {0};
  for (uint32_t i = 0; i < gpu->used_sms; i++) {
    const Sm *sm = &gpu->sms[i];
    if (!sm->ready)
      continue;
    choices.ways |= sm->ordered;
    for (uint32_t k = 0; k < gpu->machine->sm.schedulers; k++)
      choices.warps |= sm->scheduler[k].chose;
  }
  return choices;
}

bool look_launch_ends(const Gpu *gpu) {
  for (guint i = 0; i < gpu->launches->len; i++) {
    const Launch *launch = gpu_launch(gpu, i);
    if (!launch->finished && launch->finished_blocks == launch->blocks)
      return true;
  }
  return false;
}
