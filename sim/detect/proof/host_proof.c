#include "sim/detect/proof/host_proof.h"
#include "sim/core/look.h"

#include "sim/core/host.h"

typedef struct HostWalk {
  Explorer *explorer;
  const Host *host;
  GArray *open;  /* uint32_t: steps that it may come to, to be looked at */
  bool *reached; /* one for each step, and for the end */
  bool launches;
  bool freed; /* nothing holds it, and its stores don't count */
} HostWalk;

static ValueSet *word_set(HostWalk *walk, guint buffer, uint32_t index) {
  Gpu *gpu = walk->explorer->gpu;
  uint64_t address = look_address(gpu, buffer, index);
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

static bool is_repeated(const Host *host, uint32_t step) {
  for (uint32_t i = 0; i < step; i++)
    if (host->steps[i].kind == HOST_REPEAT && i + host->steps[i].body >= step)
      return true;
  return false;
}

/* An atomic add that comes once. */
static void add_once(HostWalk *walk, uint32_t at) {
  const HostStep *step = &walk->host->steps[at];
  if (walk->explorer->host_added[at])
    return;
  walk->explorer->host_added[at] = true;
  AddSums sums = abstract_sums_of(step->value);
  abstract_add_sums(&walk->explorer->memory, word_set(walk, step->buffer, step->index), &sums);
}

static void add_sums(HostWalk *walk, const HostStep *step) {
  ValueSet *set = word_set(walk, step->buffer, step->index);
  uint32_t count = set->anything ? 0 : set->count, before[VALUES_MAX];
  memcpy(before, set->value, count * sizeof *before);
  if (set->anything)
    abstract_add_anything(&walk->explorer->memory, set);
  for (uint32_t i = 0; i < count; i++)
    abstract_add(&walk->explorer->memory, set, before[i] + step->value);
}

/* The launch that it waits for there has finished, or there is none any more. */
static bool has_finished(const HostWalk *walk, uint32_t at) {
  uint32_t index = walk->host->steps[at].launch + walk->host->times[at];
  if (index >= walk->explorer->gpu->launches->len)
    return true;
  const Launch *launch = gpu_launch(walk->explorer->gpu, index);
  return launch->finished_blocks == launch->blocks; /* its stores may still be under way: they will be performed */
}

/* What the step may do to memory. */
static void act(HostWalk *walk, uint32_t at) {
  const HostStep *step = &walk->host->steps[at];
  switch (step->kind) {
  case HOST_WRITE: may_hold(walk, step->buffer, step->index, step->value); break;
  case HOST_ADD:
    if (!is_repeated(walk->host, at)) {
      add_once(walk, at);
      break;
    }
    G_GNUC_FALLTHROUGH;
  case HOST_MODIFY: add_sums(walk, step); break;
  case HOST_LAUNCH: walk->launches = true; break;
  default: break;
  }
}

static bool goes_on(HostWalk *walk, uint32_t at) {
  const HostStep *step = &walk->host->steps[at];
  switch (step->kind) {
  case HOST_POLL: return walk->freed || may_compare(walk, step);
  case HOST_WAIT: return walk->freed || has_finished(walk, at); /* if it may still finish, the proof ends anyhow */
  case HOST_REPEAT: return step->count;
  default: return true;
  }
}

static void step_host(HostWalk *walk, uint32_t at) {
  const HostStep *step = &walk->host->steps[at];
  if (!walk->freed)
    act(walk, at);
  if (step->kind == HOST_REPEAT)
    reach(walk, at + 1 + step->body);
  else if (step->kind == HOST_LEAVE)
    reach(walk, innermost_end(walk->host, at));
  if (goes_on(walk, at))
    reach(walk, at + 1);
}

static void walk_on(HostWalk *walk) {
  const Host *host = walk->host;
  walk->open = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  walk->reached = g_new0(bool, host->count + 1);
  if (host->state != HOST_DONE)
    reach(walk, host->at);
  for (guint i = 0; i < walk->open->len; i++)
    if (g_array_index(walk->open, uint32_t, i) < host->count)
      step_host(walk, g_array_index(walk->open, uint32_t, i));
  g_array_free(walk->open, TRUE);
}

GArray *host_would_change(Explorer *explorer) {
  HostWalk walk = {.explorer = explorer, .host = explorer->gpu->host, .freed = true};
  GArray *steps = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  walk_on(&walk);
  for (uint32_t i = 0; i < walk.host->count; i++) {
    HostStepKind kind = walk.host->steps[i].kind;
    if (walk.reached[i] && (kind == HOST_WRITE || kind == HOST_ADD || kind == HOST_MODIFY))
      g_array_append_val(steps, i);
  }
  g_free(walk.reached);
  return steps;
}

bool host_may_write(Explorer *explorer) {
  const Host *host = explorer->gpu->host;
  if (!host)
    return false;
  HostWalk walk = {.explorer = explorer, .host = host};
  if (!explorer->host_added)
    explorer->host_added = g_new0(bool, host->count + 1);
  add_views(&walk);
  if (host->state == HOST_MODIFYING)
    may_hold(&walk, host->steps[host->at].buffer, host->steps[host->at].index, host->modified);
  walk_on(&walk);
  g_free(walk.reached);
  return walk.launches;
}
