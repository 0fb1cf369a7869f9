#include "sim/core/windows.h"

#include "sim/core/dispatch.h"
#include "sim/core/due.h"
#include "sim/core/sm.h"
#include "sim/core/sm_inner.h"
#include "sim/core/tell.h"
#include "sim/engine/team.h"

/* Shorter windows, and smaller budgets, aren't worth it. */
enum { WINDOW_MIN = 8, BUDGET_MIN = 1000 };

/* ---- when ---- */

/* Somebody follows the machine instruction by instruction. */
static bool is_followed(const Gpu *gpu) {
  return PROBE_WANTED(gpu, access) || PROBE_WANTED(gpu, performed) || PROBE_WANTED(gpu, heap) ||
         PROBE_WANTED(gpu, host) || PROBE_WANTED(gpu, warp_sync) ||
         PROBE_WANTED(gpu, barrier_arrive) || PROBE_WANTED(gpu, barrier_complete) || PROBE_WANTED(gpu, block_start) ||
         PROBE_WANTED(gpu, block_end) || PROBE_WANTED(gpu, issued) || PROBE_WANTED(gpu, joined) ||
         PROBE_WANTED(gpu, replied);
}

static bool launches_fit(const Gpu *gpu) {
  for (guint i = 0; i < gpu->launches->len; i++) {
    const Launch *launch = gpu_launch(gpu, i);
    if (launch->orderly || (gpu->backing->undefined && launch->uses_l1))
      return false;
  }
  return true;
}

bool windows_may_come(const Gpu *gpu) {
  return gpu->budget >= BUDGET_MIN && !gpu->host && !gpu->heap && !gpu->hashes_memory && !gpu->alone &&
         memsys_window(gpu->memsys) >= WINDOW_MIN && launches_fit(gpu) && !is_followed(gpu);
}

/* ---- one window ---- */

typedef struct Window {
  Gpu *gpu;
  uint64_t end;
  uint32_t *used; /* SMs that blocks were placed on */
  uint32_t used_count;
  uint64_t ages;     /* Gpu.ages then */
  uint32_t *running; /* SMs with something to do in it */
  uint32_t count;
  int64_t work;    /* instructions of the newest, and parts of accesses */
  uint32_t served; /* parts of accesses that wait to be performed */
} Window;

static uint64_t earliest(const Window *window) {
  const Gpu *gpu = window->gpu;
  uint64_t first = memsys_next(gpu->memsys);
  for (uint32_t i = 0; i < window->used_count; i++)
    first = MIN(first, gpu->due[window->used[i]]);
  return first;
}

/* Memory, mostly the longest, is the first piece: what SMs send in the window comes there behind it, and its replies come
 * behind it, too. */
static void run_piece(void *user, uint32_t piece) {
  Window *window = user;
  if (piece == 0) {
    window->served = memsys_serve(window->gpu->memsys, window->end);
    return;
  }
  Sm *sm = &window->gpu->sms[window->running[piece - 1]];
  sm->budget = INT64_MAX;
  sm_run_until(sm, window->gpu->due[sm->index], window->end);
}

/* `count` pieces of the window, which don't depend on each other. */
static void share(Window *window, uint32_t count, TeamWork work) {
  Gpu *gpu = window->gpu;
  if (gpu->team && count > 1 && window->work >= gpu->team_work)
    team_run(gpu->team, count, work, window);
  else
    for (uint32_t i = 0; i < count; i++)
      work(window, i);
}

/* SMs and memory. */
static void run_components(Window *window) {
  Gpu *gpu = window->gpu;
  window->count = 0;
  for (uint32_t i = 0; i < window->used_count; i++)
    if (gpu->due[window->used[i]] < window->end)
      window->running[window->count++] = window->used[i];
  gpu->in_window = true;
  share(window, window->count + 1, run_piece);
  gpu->in_window = false;
}

/* ---- what has passed between them ---- */

static uint32_t shares_of(const Window *window) { return window->gpu->backing->undefined ? 1 : window->gpu->threads; }

/* Requests of all SMs go to memory by (cycle, SM, order). */
static void send_requests(Window *window) {
  Gpu *gpu = window->gpu;
  EventQueue *order = &gpu->sends;
  for (uint32_t i = 0; i < window->count; i++) {
    const Sm *sm = &gpu->sms[window->running[i]];
    if (sm->out_count)
      event_queue_push(order, sm->out[0].time, window->running[i]);
  }
  while (order->count) {
    Event event = event_queue_pop(order);
    Sm *sm = &gpu->sms[event.source];
    uint32_t at = sm->out_sent;
    do
      memsys_send(gpu->memsys, sm->out[at].request, sm->out[at].time);
    while (++at < sm->out_count && event_queue_is_first(order, sm->out[at].time, event.source));
    sm->out_sent = at;
    if (at < sm->out_count)
      event_queue_push(order, sm->out[at].time, event.source);
    else
      sm->out_count = sm->out_sent = 0;
  }
}

/* Requests are the first piece, words the others. */
static void pass_piece(void *user, uint32_t piece) {
  Window *window = user;
  if (piece == 0)
    send_requests(window);
  else
    memsys_perform(window->gpu->memsys, piece - 1, shares_of(window));
}

/* What SMs and memory have for each other. */
static void pass_on(Window *window) {
  Gpu *gpu = window->gpu;
  uint32_t parts = 0;
  for (uint32_t i = 0; i < window->count; i++) {
    Sm *sm = &gpu->sms[window->running[i]];
    parts += sm->out_parts;
    sm->out_parts = 0;
  }
  memsys_expect(gpu->memsys, parts);
  share(window, 1 + (window->served ? shares_of(window) : 0), pass_piece);
  memsys_reply(gpu->memsys, window->end);
}

/* The earliest fault counts. */
static void take_faults(Window *window) {
  Gpu *gpu = window->gpu;
  for (uint32_t i = 0; i < window->count; i++) {
    Sm *sm = &gpu->sms[window->running[i]];
    if (!sm->fault)
      continue;
    bool first = !gpu->fault.happened || sm->fault->cycle < gpu->fault.cycle;
    Fault other = first ? gpu->fault : *sm->fault;
    if (first)
      gpu->fault = *sm->fault;
    g_free(other.message);
    g_free(other.repair);
    g_clear_pointer(&sm->fault, g_free);
  }
}

/* Its place is free now, for the dispatcher. */
static void block_ended(Gpu *gpu, Sm *sm, uint32_t slot, uint64_t now) {
  sm_free_block(sm, &sm->blocks[slot]);
  if (!gpu->fault.happened)
    dispatch_refill(gpu, now);
}

static void run_window(Window *window) {
  Gpu *gpu = window->gpu;
  run_components(window);
  pass_on(window);
  window->work = window->served;
  for (uint32_t i = 0; i < window->count; i++) {
    int64_t issued = INT64_MAX - gpu->sms[window->running[i]].budget;
    window->work += issued;
    gpu->budget -= issued;
  }
  take_faults(window);
  tell_all(gpu, window->running, window->count, block_ended);
  dispatch_end_launches(gpu);
}

/* The queue of gpu_run() holds everybody's next event again. */
static void fill_queue(Gpu *gpu) {
  gpu->queue.count = 0;
  for (uint32_t i = 0; i < gpu->machine->gpu.sms; i++)
    if (gpu->due[i] != WHEEL_NEVER)
      event_queue_push(&gpu->queue, gpu->due[i], sm_source(&gpu->sms[i]));
  gpu->memory_event = WHEEL_NEVER;
  due_memory(gpu);
}

static void list_used(Window *window) {
  const Gpu *gpu = window->gpu;
  window->used_count = 0;
  window->ages = gpu->ages;
  for (uint32_t i = 0; i < gpu->machine->gpu.sms; i++)
    if (gpu->sms[i].ready)
      window->used[window->used_count++] = i;
}

void windows_run(Gpu *gpu) {
  uint32_t sms = gpu->machine->gpu.sms, span = memsys_window(gpu->memsys);
  g_autofree uint32_t *numbers = g_new(uint32_t, 2 * sms);
  Window window = {.gpu = gpu, .used = numbers, .running = numbers + sms};
  list_used(&window);
  gpu->runs_windows = true;
  while (gpu->budget > 0 && !gpu->fault.happened && gpu->unfinished_launches && dispatch_waits_for_room(gpu, span)) {
    uint64_t first = earliest(&window);
    if (first == WHEEL_NEVER || first > gpu->limit_cycles)
      break;
    window.end = gpu->limit_cycles - first < span ? gpu->limit_cycles + 1 : first + span;
    run_window(&window);
    if (gpu->ages != window.ages)
      list_used(&window);
  }
  gpu->runs_windows = false;
  fill_queue(gpu);
}
