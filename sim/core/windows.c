#include "sim/core/windows.h"

#include <string.h>
#include <time.h>

#include "sim/core/cached.h"
#include "sim/core/dispatch.h"
#include "sim/core/due.h"
#include "sim/core/sm.h"
#include "sim/core/sm_inner.h"
#include "sim/core/tell.h"
#include "sim/engine/team.h"

/* Shorter windows, and smaller budgets, aren't worth it. */
enum { WINDOW_MIN = 8, BUDGET_MIN = 1000 };
/* The work of so many windows counts when it is decided whether threads share the next one. */
enum { USUAL_OF = 8 };
/* So many requests before it is sent a request comes to the host's cache. */
enum { REQUEST_AHEAD = 3 };

/* A part of an access costs the host as much as so many instructions. */
enum { PART_WORK = 8 };
/* Large pages of the host (pages_enlarge()) cost some milliseconds: they come behind so much work, a fifteenth of a
 * second or more. */
enum { ENLARGE_WORK = 1 << 18 };
/* Shares of what passes between SMs and memory, for each thread: others help with its second one. */
enum { SHARES_EACH = 2 };

/* ---- when ---- */

/* Somebody follows the machine instruction by instruction. */
static bool is_followed(const Gpu *gpu) {
  return PROBE_WANTED(gpu, access) || PROBE_WANTED(gpu, performed) || PROBE_WANTED(gpu, heap) ||
         PROBE_WANTED(gpu, host) || PROBE_WANTED(gpu, warp_sync) || PROBE_WANTED(gpu, bulk) ||
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
  uint64_t start, end;
  uint32_t *used; /* SMs that blocks were placed on */
  uint32_t used_count;
  uint64_t ages;     /* Gpu.ages then */
  uint32_t *running; /* SMs with something to do in it */
  uint32_t *order;   /* the same as threads share them, and where those of each thread end */
  uint32_t ends[TEAM_THREADS_MAX];
  uint32_t count;
  int64_t work;    /* instructions of it, and parts of accesses */
  uint32_t served; /* parts of accesses that wait to be performed */
  bool shared;     /* by the team */
  bool apart;      /* ... and what passes between SMs and memory, too */
} Window;

static uint64_t earliest(const Window *window) {
  const Gpu *gpu = window->gpu;
  uint64_t first = memsys_next(gpu->memsys);
  for (uint32_t i = 0; i < window->used_count; i++)
    first = MIN(first, gpu->due[window->used[i]]);
  return first;
}

/* Memory, mostly the longest, is the first piece: what SMs send in the window comes there behind it, and its replies
 * come behind it, too. */
static void run_piece(void *user, uint32_t piece, uint32_t thread) {
  Window *window = user;
  if (piece == 0) {
    window->served = memsys_serve(window->gpu->memsys, window->end);
    return;
  }
  Sm *sm = &window->gpu->sms[window->shared ? window->order[piece - 1] : window->running[piece - 1]];
  if (window->shared)
    window->gpu->home[sm->index] = (uint8_t)thread;
  sm->budget = INT64_MAX;
  sm_run_until(sm, window->gpu->due[sm->index], window->end);
}

/* Brings SMs in order of the threads that ran them last. Memory, the first piece, is the caller's. */
static void go_home(Window *window) {
  Gpu *gpu = window->gpu;
  uint32_t *ends = window->ends, *order = window->order;
  memset(ends, 0, gpu->threads * sizeof *ends);
  for (uint32_t i = 0; i < window->count; i++)
    ends[gpu->home[window->running[i]]]++;
  for (uint32_t thread = 0, end = 0; thread < gpu->threads; thread++) {
    uint32_t own = ends[thread];
    ends[thread] = end;
    end += own;
  }
  for (uint32_t i = 0; i < window->count; i++) {
    uint32_t sm = window->running[i], place = ends[gpu->home[sm]]++;
    order[place] = sm;
    gpu->share[sm] = (uint8_t)(SHARES_EACH * gpu->home[sm] + place % SHARES_EACH);
  }
  for (uint32_t thread = 0; thread < gpu->threads; thread++)
    ends[thread]++;
}

static bool is_worth_sharing(const Gpu *gpu) { return gpu->team && gpu->usual_work >= gpu->team_work; }

/* SMs and memory. */
static void run_components(Window *window) {
  Gpu *gpu = window->gpu;
  window->count = 0;
  for (uint32_t i = 0; i < window->used_count; i++)
    if (gpu->due[window->used[i]] < window->end)
      window->running[window->count++] = window->used[i];
  window->shared = is_worth_sharing(gpu) && pace_shares(&gpu->pace);
  window->apart = window->shared && gpu->goes_apart;
  if (window->shared)
    go_home(window);
  if (window->apart)
    memsys_part(gpu->memsys, gpu->share, SHARES_EACH * gpu->threads);
  gpu->in_window = true;
  if (window->shared && window->count)
    team_run(gpu->team, window->ends, run_piece, window);
  else
    for (uint32_t i = 0; i <= window->count; i++)
      run_piece(window, i, 0);
  gpu->in_window = false;
}

/* ---- what has passed between them ---- */

/* A place for each request of the window, of all SMs, by (cycle, SM, order): those of each cycle are counted
 * first. */
static void order_requests(const Window *window, uint32_t places[], SmSend sorted[]) {
  const Gpu *gpu = window->gpu;
  uint64_t span = window->end - window->start;
  memset(places, 0, (span + 1) * sizeof *places);
  for (uint32_t i = 0; i < window->count; i++) {
    const Sm *sm = &gpu->sms[window->running[i]];
    for (uint32_t at = 0; at < sm->out_count; at++)
      places[sm->out[at].time - window->start + 1]++;
  }
  for (uint64_t cycle = 1; cycle < span; cycle++)
    places[cycle] += places[cycle - 1];
  for (uint32_t i = 0; i < window->count; i++) {
    Sm *sm = &gpu->sms[window->running[i]];
    for (uint32_t at = 0; at < sm->out_count; at++)
      sorted[places[sm->out[at].time - window->start]++] = sm->out[at];
    sm->out_count = 0;
  }
}

/* Requests of all SMs go to memory. */
static void send_requests(Window *window) {
  Gpu *gpu = window->gpu;
  uint32_t count = 0, span = (uint32_t)(window->end - window->start);
  for (uint32_t i = 0; i < window->count; i++)
    count += gpu->sms[window->running[i]].out_count;
  if (count == 0)
    return;
  if (gpu->sends_space < count) {
    gpu->sends_space = 2 * count;
    gpu->sends = g_renew(SmSend, gpu->sends, gpu->sends_space);
  }
  if (gpu->send_cycles < span) {
    gpu->send_cycles = span;
    gpu->send_places = g_renew(uint32_t, gpu->send_places, span + 1);
  }
  order_requests(window, gpu->send_places, gpu->sends);
  for (uint32_t i = 0; i < count; i++) {
    if (i + REQUEST_AHEAD < count)
      mem_request_prefetch(gpu->sends[i + REQUEST_AHEAD].request);
    memsys_send(gpu->memsys, gpu->sends[i].request, gpu->sends[i].time, &gpu->counters);
  }
}

static void pass_piece(void *user, uint32_t piece, uint32_t thread) {
  Window *window = user;
  (void)thread;
  memsys_pass(window->gpu->memsys, piece, SHARES_EACH * window->gpu->threads);
}

/* What SMs and memory have for each other. */
static void pass_on(Window *window) {
  Gpu *gpu = window->gpu;
  if (!gpu->goes_apart)
    send_requests(window);
  if (window->apart) {
    for (uint32_t thread = 0; thread < gpu->threads; thread++)
      window->ends[thread] = SHARES_EACH * (thread + 1);
    team_run(gpu->team, window->ends, pass_piece, window);
  } else if (window->served)
    memsys_pass(gpu->memsys, 0, 1);
  memsys_settle(gpu->memsys, window->end);
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

/* What has been filled so far gets large pages, once the run has done enough to be worth it, and whenever it has done
 * as much again. */
static void enlarge(Gpu *gpu) {
  if (G_LIKELY(gpu->window_work < gpu->enlarge_at))
    return;
  if (gpu->enlarge_at) {
    cached_enlarge(gpu);
    memsys_enlarge(gpu->memsys);
    backing_enlarge(gpu->backing);
  }
  gpu->enlarge_at = MAX(ENLARGE_WORK, 2 * gpu->window_work);
}

static uint64_t nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void run_window(Window *window) {
  Gpu *gpu = window->gpu;
  bool timed = is_worth_sharing(gpu);
  uint64_t began = timed ? nanoseconds() : 0;
  run_components(window);
  pass_on(window);
  uint64_t took = timed ? nanoseconds() - began : 0;
  window->work = PART_WORK * (int64_t)window->served;
  for (uint32_t i = 0; i < window->count; i++) {
    int64_t issued = INT64_MAX - gpu->sms[window->running[i]].budget;
    window->work += issued;
    gpu->budget -= issued;
  }
  if (timed)
    pace_note(&gpu->pace, (uint64_t)window->work, took);
  gpu->usual_work += (window->work - gpu->usual_work) / (gpu->usual_work ? USUAL_OF : 1);
  gpu->window_work += window->work;
  enlarge(gpu);
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
  for (uint32_t i = 0; i < gpu->used_sms; i++)
    if (gpu->sms[i].ready)
      window->used[window->used_count++] = i;
}

void windows_run(Gpu *gpu) {
  uint32_t sms = gpu->machine->gpu.sms, span = memsys_window(gpu->memsys);
  g_autofree uint32_t *numbers = g_new(uint32_t, 3 * sms);
  Window window = {.gpu = gpu, .used = numbers, .running = numbers + sms, .order = numbers + 2 * sms};
  list_used(&window);
  gpu->runs_windows = true;
  gpu->goes_apart =
      memsys_goes_apart(gpu->memsys) && !gpu->backing->undefined && SHARES_EACH * gpu->threads <= MEM_SHARES_MAX;
  while (gpu->budget > 0 && !gpu->fault.happened && gpu->unfinished_launches && dispatch_waits_for_room(gpu, span)) {
    uint64_t first = earliest(&window);
    if (first == WHEEL_NEVER || first > gpu->limit_cycles)
      break;
    window.start = first;
    window.end = gpu->limit_cycles - first < span ? gpu->limit_cycles + 1 : first + span;
    run_window(&window);
    if (gpu->ages != window.ages)
      list_used(&window);
  }
  gpu->runs_windows = false;
  fill_queue(gpu);
}
