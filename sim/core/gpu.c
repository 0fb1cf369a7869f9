#include "sim/core/gpu.h"

#include "base/assert.h"
#include "base/pages.h"
#include "sim/core/cached.h"
#include "sim/core/dispatch.h"
#include "sim/core/due.h"
#include "sim/core/hold_once.h"
#include "sim/core/host.h"
#include "sim/core/serve.h"
#include "sim/core/windows.h"
#include "sim/engine/team.h"
#include "sim/memory/heap.h"
#include "sim/memory/lock_queue.h"

/* ---- making ---- */

/* The memory system answers an access. */
static void take_reply(void *user, MemRequest *request, uint64_t time) {
  Gpu *gpu = user;
  sm_answer(&gpu->sms[request->sm], (Flight *)request, time);
}

/* Atomics of an SM have been let into their slices. */
static void free_places(void *user, uint32_t sm, uint32_t turns, uint64_t time) {
  Gpu *gpu = user;
  sm_free_places(&gpu->sms[sm], turns, time);
}

static uint32_t random_phase(uint64_t seed) {
  enum { STREAM = 0x736c6570, PHASE_BITS = 20 };
  Rng rng;
  rng_seed(&rng, seed, STREAM);
  return (uint32_t)(rng_next(&rng) >> (64 - PHASE_BITS));
}

Gpu *gpu_new(const Machine *machine, Backing *backing, uint64_t seed) {
  Gpu *gpu = g_new0(Gpu, 1);
  gpu->machine = machine;
  gpu->seed = seed;
  gpu->threads = 1;
  gpu->timer_phase = random_phase(seed);
  gpu->holds_up = machine->sm.held_up > 0;
  gpu->backing = backing;
  gpu->sms = PAGES_NEW(Sm, machine->gpu.sms);
  gpu->l1_memory = g_new0(char *, machine->gpu.sms / L1_NEIGHBOURS + 1);
  gpu->due = g_new0(uint64_t, machine->gpu.sms);
  gpu->home = g_new0(uint8_t, machine->gpu.sms);
  gpu->share = g_new0(uint8_t, machine->gpu.sms);
  event_queue_init(&gpu->queue, 64 + 4 * machine->gpu.sms);
  gpu->memory_event = WHEEL_NEVER;
  MemClient client = {.user = gpu,
                      .perform = serve_perform,
                      .soon = serve_soon,
                      .reply = take_reply,
                      .places = free_places};
  gpu->memsys = memsys_new(machine, seed, backing, &client, &gpu->counters);
  gpu->locks = lock_queues_new(machine, &gpu->counters);
  gpu->launches = g_ptr_array_new();
  gpu->clusters = g_ptr_array_new_with_free_func(g_free);
  gpu->marks = g_array_new(FALSE, TRUE, sizeof(MarkTime));
  gpu->printed = g_string_new(NULL);
  gpu->limit_cycles = UINT64_MAX;
  const uint32_t latency[UNIT_COUNT] = {
      [UNIT_ALU] = machine->sm.latency.alu,         [UNIT_VOTE] = machine->sm.latency.vote,
      [UNIT_SYSREG] = machine->sm.latency.sysreg,   [UNIT_SHARED] = machine->sm.shared.latency,
      [UNIT_GLOBAL] = machine->memory.latency,      [UNIT_BARRIER] = machine->sm.barrier.arrive_to_resume,
      [UNIT_CONTROL] = machine->sm.issue_interval,  [UNIT_SFU] = machine->sm.latency.sfu,
      [UNIT_FP64] = machine->sm.latency.fp64,       [UNIT_DIVIDE] = machine->sm.latency.divide,
      [UNIT_SHUFFLE] = machine->sm.latency.shuffle, [UNIT_LOCAL] = machine->sm.latency.local,
  };
  memcpy(gpu->unit_latency, latency, sizeof latency);
  for (uint32_t i = 0; i < machine->gpu.sms; i++)
    gpu->due[i] = WHEEL_NEVER;
  return gpu;
}

void gpu_free(Gpu *gpu) {
  if (!gpu)
    return;
  for (uint32_t i = 0; i < gpu->used_sms; i++)
    sm_clear(&gpu->sms[i]);
  for (guint i = 0; i < gpu->launches->len; i++)
    launch_free(gpu_launch(gpu, i));
  g_ptr_array_free(gpu->launches, TRUE);
  g_array_free(gpu->marks, TRUE);
  event_queue_clear(&gpu->queue);
  g_free(gpu->sends);
  g_free(gpu->send_places);
  team_free(gpu->team);
  g_free(gpu->due);
  g_free(gpu->home);
  g_free(gpu->share);
  g_ptr_array_free(gpu->clusters, TRUE);
  memsys_free(gpu->memsys);
  lock_queues_free(gpu->locks);
  heap_free(gpu->heap);
  host_free(gpu->host);
  g_string_free(gpu->printed, TRUE);
  g_free(gpu->fault.message);
  g_free(gpu->fault.repair);
  cached_free_memory(gpu);
  g_free(gpu->l1_memory);
  pages_free(gpu->sms);
  g_free(gpu);
}

Probe *gpu_set_probes(Gpu *gpu, Probe *probes) {
  Probe *before = gpu->probe;
  gpu->probe = probes;
  gpu->heard = (Probe){0};
#define HEAR(callback) \
  if (probe->callback) \
    gpu->heard.callback = probe->callback;
  for (const Probe *probe = probes; probe; probe = probe->next) {
    PROBE_EACH(HEAR)
  }
#undef HEAR
  return before;
}

void gpu_watch_memory(Gpu *gpu, bool on) {
  gpu->watches += on;
  gpu->hashes_memory = on;
  gpu->l1_hash = (L1Hash){.value = &gpu->memory_hash, .watch = on ? gpu->watches : 0};
}

void gpu_note_value(Gpu *gpu, uint64_t number) {
  gpu->new_values += g_hash_table_add(gpu->memory_values, GSIZE_TO_POINTER(number));
}

uint64_t gpu_memory_hash(Gpu *gpu) {
  cached_settle_hash(gpu);
  return gpu->memory_hash;
}

void gpu_subscribe(Gpu *gpu, Probe *probe) {
  probe->next = gpu->probe;
  gpu_set_probes(gpu, probe);
}

void gpu_unsubscribe(Gpu *gpu, Probe *probe) {
  Probe **link = &gpu->probe;
  while (*link != probe)
    link = &(*link)->next;
  *link = probe->next;
  gpu_set_probes(gpu, gpu->probe);
}

void gpu_add_heap(Gpu *gpu, uint32_t bytes) { gpu->heap = heap_new(gpu->backing, bytes); }

bool gpu_add_launch(Gpu *gpu, const LaunchConfig *config, char **why) {
  LS_REQUIRE("gpu-launch-late", gpu->ages == 0);
  Launch *launch = launch_new(gpu, config, why);
  if (!launch)
    return false;
  uint32_t rows = launch->kernel->nregs + SINK_ROWS;
  gpu->register_rows = MAX(gpu->register_rows, rows);
  gpu->ready_rows = MAX(gpu->ready_rows, rows + CONTROL_SCOREBOARDS);
  launch->hold_places = hold_once_places(launch);
  g_ptr_array_add(gpu->launches, launch);
  gpu->unfinished_blocks += launch->blocks;
  gpu->unfinished_launches++;
  gpu->undispatched++;
  return true;
}

void gpu_set_older(Gpu *gpu, OlderRun *older) { gpu->older = older; }

void gpu_set_shared_data(Gpu *gpu, uint32_t offset, uint32_t bytes) {
  gpu->data_offset = offset;
  gpu->data_bytes = bytes;
}

/* ---- running ---- */

static bool host_waits(const Gpu *gpu) { return gpu->host && gpu->host->state != HOST_DONE; }

/* The host's event, unless it was overtaken. Returns when the next is due. */
static uint64_t run_host(Gpu *gpu, uint64_t time) {
  if (gpu->host->event_time != time)
    return WHEEL_NEVER;
  gpu->budget--;
  uint64_t next = host_run(gpu->host, time);
  if (gpu->host->released)
    dispatch_blocks(gpu, time);
  gpu->host->released = false;
  return next;
}

/* The memory's event, unless it was overtaken. Within a cycle it comes behind all SMs. */
static void run_memory(Gpu *gpu, uint64_t time) {
  if (gpu->memory_event != time)
    return;
  gpu->memory_event = WHEEL_NEVER;
  memsys_run(gpu->memsys, time + 1);
  due_memory(gpu);
}

void gpu_collect(Gpu *gpu) {
  for (uint32_t i = 0; i < gpu->used_sms; i++) {
    Sm *sm = &gpu->sms[i];
    if (!sm->ready)
      continue; /* no block has ever been there */
    sm->issued += sm->counters.warp_instructions;
    counters_add(&gpu->counters, &sm->counters);
    gpu->progress += sm->progress;
    gpu->cycle = MAX(gpu->cycle, sm->cycle);
    sm->progress = 0;
  }
}

/* All goes by the queue again. */
static void run_windows(Gpu *gpu, uint64_t *due, uint32_t source) {
  if (*due != WHEEL_NEVER)
    event_queue_push(&gpu->queue, *due, source);
  *due = WHEEL_NEVER;
  windows_run(gpu);
}

/* The SM runs until another source comes first. Where blocks or launches may have ended in it, others follow. Returns
 * when its next event is due. */
static uint64_t run_sm(Gpu *gpu, Sm *sm, uint64_t time) {
  uint64_t next = sm_run(sm, time);
  if (G_LIKELY(sm->ended == WHEEL_NEVER))
    return next;
  dispatch_end_launches(gpu);
  if (!gpu->fault.happened)
    dispatch_refill(gpu, sm->ended);
  sm->ended = WHEEL_NEVER;
  return next;
}

static GpuStop run(Gpu *gpu) {
  uint64_t due = WHEEL_NEVER; /* of who ran last, not yet in the queue */
  uint32_t source = 0;
  bool windows = windows_may_come(gpu);
  uint32_t window = memsys_window(gpu->memsys);
  for (;;) {
    if (windows && gpu->budget > 0 && !gpu->fault.happened && dispatch_waits_for_room(gpu, window))
      run_windows(gpu, &due, source);
    bool stops = gpu->budget <= 0 || gpu->fault.happened;
    if (due != WHEEL_NEVER && (stops || due > gpu->limit_cycles)) {
      event_queue_push(&gpu->queue, due, source);
      due = WHEEL_NEVER;
    }
    if (gpu->fault.happened)
      return GPU_FAULT;
    bool done = !gpu->unfinished_launches && !host_waits(gpu);
    if (due == WHEEL_NEVER && (gpu->queue.count == 0 || (done && host_is_still(gpu->host))))
      return done ? GPU_FINISHED : GPU_BLOCKED;
    if (stops)
      return GPU_BUDGET;
    if (due == WHEEL_NEVER && gpu->queue.heap[0].time > gpu->limit_cycles)
      return GPU_LIMIT;
    Event event = due == WHEEL_NEVER ? event_queue_pop(&gpu->queue) : event_queue_exchange(&gpu->queue, due, source);
    if (event.source == HOST_SOURCE) {
      due = run_host(gpu, event.time);
      source = HOST_SOURCE;
      continue;
    }
    due = WHEEL_NEVER;
    if (event.source == due_memory_source(gpu)) {
      run_memory(gpu, event.time);
      continue;
    }
    if (gpu->due[event.source - 1] != event.time)
      continue; /* overtaken */
    source = event.source;
    due = run_sm(gpu, &gpu->sms[event.source - 1], event.time);
  }
}

GpuStop gpu_run(Gpu *gpu, uint64_t instructions, uint64_t limit_cycles) {
  gpu->budget = (int64_t)MIN(instructions, (uint64_t)INT64_MAX);
  gpu->limit_cycles = limit_cycles;
  if (gpu->ages == 0 && PROBE_WANTED(gpu, part))
    memsys_follow(gpu->memsys, serve_part);
  if (gpu->ages == 0) {
    hold_once_begin(gpu);
    dispatch_blocks(gpu, 0);
  }
  GpuStop stop = run(gpu);
  gpu_collect(gpu);
  return stop;
}

void gpu_end(Gpu *gpu) { gpu->limit_cycles = 0; }

void gpu_set_threads(Gpu *gpu, uint32_t threads) {
  g_clear_pointer(&gpu->team, team_free);
  gpu->threads = MAX(threads, 1);
  memset(gpu->home, 0, gpu->machine->gpu.sms);
  memset(gpu->share, 0, gpu->machine->gpu.sms);
  if (threads > 1)
    gpu->team = team_new(threads);
  gpu->team_work = TEAM_WORK_MIN;
}
