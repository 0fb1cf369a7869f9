#include "sim/detect/host_proof.h"

#include "sim/core/host.h"

typedef struct HostWalk {
  Explorer *explorer;
  const Host *host;
  GArray *open;  /* uint32_t: steps that it may come to, to be looked at */
  bool *reached; /* one for each step, and for the end */
  bool launches;
} HostWalk;

static ValueSet *word_set(HostWalk *walk, guint buffer, uint32_t index) {
  Gpu *gpu = walk->explorer->gpu;
  uint64_t address = backing_buffer(gpu->backing, buffer)->base + 4 * (uint64_t)index;
  return abstract_word(&walk->explorer->memory, NULL, word_key_global(address));
}

static void may_hold(HostWalk *walk, guint buffer, uint32_t index, uint32_t value) {
  abstract_add(&walk->explorer->memory, word_set(walk, buffer, index), value);
}

/* Stores on their way, to either side, and what only the host sees. */
static void add_views(HostWalk *walk) {
  const Host *host = walk->host;
  for (guint i = 0; i < host->to_gpu->len + host->to_host->len; i++) {
    const HostChange *change = i < host->to_gpu->len
                                   ? &g_array_index(host->to_gpu, HostChange, i)
                                   : &g_array_index(host->to_host, HostChange, i - host->to_gpu->len);
    may_hold(walk, change->buffer, change->index, change->value);
  }
  for (uint32_t i = 0; i < host->count; i++) {
    const HostStep *step = &host->steps[i];
    if (step->kind <= HOST_MODIFY || step->kind == HOST_LEAVE)
      may_hold(walk, step->buffer, step->index, host->view[step->buffer][step->index]);
  }
}

/* It may come to `step`; if a repetition ends there, to its first step again. */
static void reach(HostWalk *walk, uint32_t step) {
  if (walk->reached[step])
    return;
  walk->reached[step] = true;
  g_array_append_val(walk->open, step);
  for (uint32_t i = 0; i < step; i++)
    if (walk->host->steps[i].kind == HOST_REPEAT && i + 1 + walk->host->steps[i].body == step)
      reach(walk, i + 1);
}

static uint32_t innermost_end(const Host *host, uint32_t step) {
  for (uint32_t i = step; i-- > 0;)
    if (host->steps[i].kind == HOST_REPEAT && i + host->steps[i].body >= step)
      return i + 1 + host->steps[i].body;
  return host->count;
}

static bool may_compare(HostWalk *walk, const HostStep *step) {
  const ValueSet *set = word_set(walk, step->buffer, step->index);
  bool may = set->anything;
  for (uint32_t i = 0; i < set->count; i++)
    may |= host_compares(step, set->value[i]);
  return may;
}

static void add_sums(HostWalk *walk, const HostStep *step) {
  ValueSet *set = word_set(walk, step->buffer, step->index), before = *set;
  if (before.anything)
    abstract_add_anything(&walk->explorer->memory, set, true);
  for (uint32_t i = 0; i < before.count && !before.anything; i++)
    abstract_add(&walk->explorer->memory, set, before.value[i] + step->value);
}

/* The launch that it waits for there has finished, or there is none any more. */
static bool has_finished(const HostWalk *walk, uint32_t at) {
  uint32_t index = walk->host->steps[at].launch + walk->host->times[at];
  if (index >= walk->explorer->gpu->launches->len)
    return true;
  const Launch *launch = gpu_launch(walk->explorer->gpu, index);
  return launch->finished_blocks == launch->blocks;
}

static void step_host(HostWalk *walk, uint32_t at) {
  const HostStep *step = &walk->host->steps[at];
  bool goes_on = true;
  switch (step->kind) {
  case HOST_POLL: goes_on = may_compare(walk, step); break;
  case HOST_WRITE: may_hold(walk, step->buffer, step->index, step->value); break;
  case HOST_ADD:
  case HOST_MODIFY: add_sums(walk, step); break;
  case HOST_LAUNCH: walk->launches = true; break;
  case HOST_WAIT: goes_on = has_finished(walk, at); break; /* if it may still finish, the proof ends anyhow */
  case HOST_REPEAT: reach(walk, at + 1 + step->body); break;
  case HOST_LEAVE: reach(walk, innermost_end(walk->host, at)); break;
  case HOST_DELAY: break;
  }
  if (goes_on && (step->kind != HOST_REPEAT || step->count))
    reach(walk, at + 1);
}

bool host_may_write(Explorer *explorer) {
  const Host *host = explorer->gpu->host;
  if (!host)
    return false;
  HostWalk walk = {.explorer = explorer,
                   .host = host,
                   .open = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
                   .reached = g_new0(bool, host->count + 1)};
  add_views(&walk);
  if (host->state == HOST_MODIFYING)
    may_hold(&walk, host->steps[host->at].buffer, host->steps[host->at].index, host->modified);
  if (host->state != HOST_DONE)
    reach(&walk, host->at);
  for (guint i = 0; i < walk.open->len; i++)
    if (g_array_index(walk.open, uint32_t, i) < host->count)
      step_host(&walk, g_array_index(walk.open, uint32_t, i));
  g_array_free(walk.open, TRUE);
  g_free(walk.reached);
  return walk.launches;
}
