#include "sim/core/host.h"

static const HostStep *step_at(const Host *host) { return &host->steps[host->at]; }

static uint64_t latency(const Host *host) { return host->gpu->machine->host.latency; }

bool host_compares(const HostStep *step, uint32_t word) {
  switch (step->compare) {
  case HOST_EQ: return word == step->value;
  case HOST_NE: return word != step->value;
  case HOST_LT: return (int32_t)word < (int32_t)step->value;
  case HOST_GE: return (int32_t)word >= (int32_t)step->value;
  case HOST_ODD: return word & 1;
  case HOST_EVEN: return !(word & 1);
  }
  return false;
}

/* ---- making ---- */

static bool uses_word(HostStepKind kind) { return kind <= HOST_MODIFY || kind == HOST_LEAVE; }

static char *refuse_word(const Gpu *gpu, const HostStep *step) {
  if (step->buffer >= gpu->backing->buffers->len)
    return g_strdup_printf("buffer %u of %u", step->buffer, gpu->backing->buffers->len);
  const BackingBuffer *buffer = backing_buffer(gpu->backing, step->buffer);
  if (!buffer->host)
    return g_strdup_printf("`%s` isn't host-mapped memory", buffer->name);
  if (step->index >= buffer->words)
    return g_strdup_printf("word %u of `%s`, which has %u", step->index, buffer->name, buffer->words);
  return NULL;
}

typedef struct Check {
  const Gpu *gpu;
  const HostStep *steps;
  bool *started; /* launches */
  char *why;
} Check;

static bool check_launch(Check *check, const HostStep *step, uint64_t rounds) {
  guint launches = check->gpu->launches->len;
  if (rounds == 0)
    return true;
  if (step->launch >= launches || rounds > launches - step->launch) {
    check->why = g_strdup_printf("launch %" G_GUINT64_FORMAT " of %u", step->launch + rounds - 1, launches);
    return false;
  }
  for (uint64_t i = 0; step->kind == HOST_LAUNCH && i < rounds; i++) {
    if (check->started[step->launch + i]) {
      check->why = g_strdup_printf("launch %" G_GUINT64_FORMAT " is started twice", step->launch + i);
      return false;
    }
    check->started[step->launch + i] = true;
  }
  return true;
}

/* Steps [from, to), which come `rounds` times in all. */
static bool check_steps(Check *check, uint32_t from, uint32_t to, uint32_t depth, uint64_t rounds) {
  for (uint32_t i = from; i < to; i++) {
    const HostStep *step = &check->steps[i];
    if (uses_word(step->kind) && (check->why = refuse_word(check->gpu, step)))
      return false;
    if ((step->kind == HOST_LAUNCH || step->kind == HOST_WAIT) && !check_launch(check, step, rounds))
      return false;
    if (step->kind == HOST_LEAVE && depth == 0) {
      check->why = g_strdup("nothing is repeated here that could be left");
      return false;
    }
    if (step->kind != HOST_REPEAT)
      continue;
    if (depth == HOST_DEPTH_MAX || step->body > to - i - 1) {
      check->why = depth == HOST_DEPTH_MAX ? g_strdup_printf("more than %d repetitions in each other", HOST_DEPTH_MAX)
                                           : g_strdup("a repetition of more steps than follow");
      return false;
    }
    uint64_t inner = MIN(rounds * step->count, (uint64_t)UINT32_MAX);
    if (!check_steps(check, i + 1, i + 1 + step->body, depth + 1, inner))
      return false;
    i += step->body;
  }
  return true;
}

static void copy_views(Host *host) {
  const Backing *backing = host->gpu->backing;
  host->buffers = backing->buffers->len;
  host->view = g_new0(uint32_t *, host->buffers + 1);
  for (guint i = 0; i < host->buffers; i++) {
    const BackingBuffer *buffer = backing_buffer(backing, i);
    if (buffer->host)
      host->view[i] = g_memdup2(buffer->data, (gsize)MAX(buffer->words, 1u) * 4);
  }
}

bool gpu_set_host(Gpu *gpu, const HostStep *steps, uint32_t count, char **why) {
  Check check = {.gpu = gpu, .steps = steps, .started = g_new0(bool, gpu->launches->len + 1)};
  bool fine = check_steps(&check, 0, count, 0, 1);
  *why = check.why;
  if (fine) {
    Host *host = g_new0(Host, 1);
    host->gpu = gpu;
    host->steps = g_memdup2(steps, count * sizeof *steps);
    host->count = count;
    host->times = g_new0(uint32_t, count + 1);
    host->to_host = g_array_new(FALSE, FALSE, sizeof(HostChange));
    host->to_gpu = g_array_new(FALSE, FALSE, sizeof(HostChange));
    copy_views(host);
    for (guint i = 0; i < gpu->launches->len; i++)
      gpu_launch(gpu, i)->held = check.started[i];
    gpu->host = host;
    event_queue_push(&gpu->queue, 0, HOST_SOURCE);
  }
  g_free(check.started);
  return fine;
}

void host_free(Host *host) {
  if (!host)
    return;
  for (guint i = 0; i < host->buffers; i++)
    g_free(host->view[i]);
  g_free(host->view);
  g_free(host->steps);
  g_free(host->times);
  g_array_free(host->to_host, TRUE);
  g_array_free(host->to_gpu, TRUE);
  g_free(host);
}

/* ---- the two views ---- */

static HostChange *change_at(GArray *changes, guint i) { return &g_array_index(changes, HostChange, i); }

static bool is_of_word(const HostChange *change, guint buffer, uint32_t index) {
  return change->buffer == buffer && change->index == index;
}

static bool on_its_way(GArray *changes, guint buffer, uint32_t index) {
  for (guint i = 0; i < changes->len; i++)
    if (is_of_word(change_at(changes, i), buffer, index))
      return true;
  return false;
}

static void show_gpu(Host *host, const HostChange *change, uint64_t now) {
  BackingBuffer *buffer = backing_buffer(host->gpu->backing, change->buffer);
  uint32_t *word = &buffer->data[change->index];
  backing_define(buffer, change->index, 15, 15);
  if (*word == change->value)
    return;
  gpu_hash_change(host->gpu, HASH_GLOBAL, buffer->base / 4 + change->index, *word, change->value);
  *word = change->value;
  WordChange by = {.cycle = now, .thread = THREAD_HOST};
  change_log_note(&buffer->changes, change->index, &by, 0);
}

static void show_host(Host *host, const HostChange *change) {
  host->view[change->buffer][change->index] = change->value;
}

/* What has arrived by `now`. */
static void arrive(Host *host, uint64_t now) {
  guint done = 0;
  while (done < host->to_host->len && change_at(host->to_host, done)->when <= now)
    show_host(host, change_at(host->to_host, done++));
  g_array_remove_range(host->to_host, 0, done);
  for (done = 0; done < host->to_gpu->len && change_at(host->to_gpu, done)->when <= now; done++)
    show_gpu(host, change_at(host->to_gpu, done), now);
  g_array_remove_range(host->to_gpu, 0, done);
}

/* Both sides agree on the word, whatever was on its way. */
static void settle_word(Host *host, guint buffer, uint32_t index, uint64_t now) {
  for (guint i = host->to_host->len; i-- > 0;) /* the newest first: it stays */
    if (is_of_word(change_at(host->to_host, i), buffer, index)) {
      show_host(host, change_at(host->to_host, i));
      for (guint j = i + 1; j-- > 0;)
        if (is_of_word(change_at(host->to_host, j), buffer, index))
          g_array_remove_index(host->to_host, j);
      break;
    }
  for (guint i = 0; i < host->to_gpu->len;) {
    if (!is_of_word(change_at(host->to_gpu, i), buffer, index)) {
      i++;
      continue;
    }
    show_gpu(host, change_at(host->to_gpu, i), now);
    g_array_remove_index(host->to_gpu, i);
  }
}

static uint32_t *view_of(Host *host, const HostStep *step) { return &host->view[step->buffer][step->index]; }

static void tell(const Host *host, HostDeed deed, uint32_t launch, uint64_t now) {
  if (!PROBE_WANTED(host->gpu, host))
    return;
  const HostStep *step = step_at(host);
  HostPoint point = {.gpu = host->gpu, .step = host->at, .launch = launch, .cycle = now};
  if (uses_word(step->kind))
    point.address = backing_buffer(host->gpu->backing, step->buffer)->base + 4 * (uint64_t)step->index;
  PROBE_FIRE(host->gpu, host, &point, deed);
}

/* A look at the word. */
static uint32_t read_word(Host *host, const HostStep *step, uint64_t now) {
  tell(host, HOST_READS, 0, now);
  return *view_of(host, step);
}

static void send_to_gpu(Host *host, const HostStep *step, uint64_t now) {
  HostChange change = {now + latency(host), step->buffer, step->index, *view_of(host, step)};
  g_array_append_val(host->to_gpu, change);
}

/* A plain store. One of the GPU that is on its way comes after it, and the GPU keeps that. */
static void store(Host *host, const HostStep *step, uint32_t value, uint64_t now) {
  tell(host, HOST_WRITES, 0, now);
  *view_of(host, step) = value;
  if (!on_its_way(host->to_host, step->buffer, step->index))
    send_to_gpu(host, step, now);
}

static void add(Host *host, const HostStep *step, uint64_t now) {
  tell(host, HOST_ADDS, 0, now);
  settle_word(host, step->buffer, step->index, now);
  *view_of(host, step) += step->value;
  send_to_gpu(host, step, now);
}

/* ---- what the GPU does to it ---- */

/* The host's event must be due by `time`. */
static void wake(Host *host, uint64_t time) {
  if (time >= host->event_time)
    return;
  host->event_time = time;
  event_queue_push(&host->gpu->queue, time, HOST_SOURCE);
}

/* The first look of the poll that comes at `time` or later. */
static uint64_t next_look(const Host *host, uint64_t time) {
  uint64_t interval = host->gpu->machine->host.poll_interval;
  return time <= host->began ? host->began : host->began + (time - host->began + interval - 1) / interval * interval;
}

void host_note_store(Host *host, guint buffer, uint32_t index, uint32_t value, uint64_t now) {
  arrive(host, now);
  for (guint i = host->to_gpu->len; i-- > 0;) /* they come before this store */
    if (is_of_word(change_at(host->to_gpu, i), buffer, index))
      g_array_remove_index(host->to_gpu, i);
  HostChange change = {now + latency(host), buffer, index, value};
  g_array_append_val(host->to_host, change);
  if (host->state == HOST_POLLING && host->next == WHEEL_NEVER) {
    host->next = next_look(host, change.when);
    wake(host, host->next);
  }
}

void host_before_atomic(Host *host, guint buffer, uint32_t index, uint64_t now) {
  arrive(host, now);
  settle_word(host, buffer, index, now);
}

void host_after_atomic(Host *host, guint buffer, uint32_t index, uint32_t value, uint64_t now) {
  host->view[buffer][index] = value;
  if (host->state == HOST_POLLING) {
    host->next = MIN(host->next, next_look(host, now + 1));
    wake(host, host->next);
  }
}

static bool awaits(const Host *host, const Launch *launch) {
  return host->state == HOST_WAITING && step_at(host)->launch + host->times[host->at] == launch->index;
}

void host_launch_finished(Host *host, const Launch *launch, uint64_t now) {
  if (!awaits(host, launch))
    return;
  host->next = now + latency(host);
  wake(host, host->next);
}

/* ---- its program ---- */

static const Launch *launch_of_step(const Host *host) {
  return gpu_launch(host->gpu, step_at(host)->launch + host->times[host->at]);
}

/* Goes on behind the steps that end here; ends the rounds of repetitions. */
static void go_to(Host *host, uint32_t step) {
  host->at = step;
  while (host->depth) {
    uint32_t repeat = host->loop[host->depth - 1].step;
    if (host->at != repeat + 1 + host->steps[repeat].body)
      break;
    if (host->loop[host->depth - 1].left) {
      host->loop[host->depth - 1].left--;
      host->at = repeat + 1;
      break;
    }
    host->depth--;
  }
}

static void finish_step(Host *host, uint64_t now) {
  host->times[host->at]++;
  host->gpu->progress++;
  host->state = HOST_ACTING;
  host->next = now + 1;
  go_to(host, host->at + 1);
}

static void begin_repeat(Host *host, uint64_t now) {
  const HostStep *step = step_at(host);
  uint32_t at = host->at;
  host->times[at]++;
  host->next = now + 1;
  if (step->count == 0 || step->body == 0) {
    go_to(host, at + 1 + step->body);
    return;
  }
  host->loop[host->depth].step = at;
  host->loop[host->depth++].left = step->count - 1;
  host->at = at + 1;
}

static void leave(Host *host, uint64_t now) {
  const HostStep *step = step_at(host);
  if (!host_compares(step, read_word(host, step, now))) {
    finish_step(host, now);
    return;
  }
  uint32_t repeat = host->loop[--host->depth].step;
  host->times[host->at]++;
  host->gpu->progress++;
  host->next = now + 1;
  go_to(host, repeat + 1 + host->steps[repeat].body);
}

static void poll(Host *host, uint64_t now) {
  if (host->state != HOST_POLLING) {
    host->state = HOST_POLLING;
    host->began = now;
  }
  const HostStep *step = step_at(host);
  if (host_compares(step, read_word(host, step, now)))
    finish_step(host, now);
  else
    host->next = host->to_host->len ? next_look(host, change_at(host->to_host, 0)->when) : WHEEL_NEVER;
}

static void modify(Host *host, uint64_t now) {
  const HostStep *step = step_at(host);
  if (host->state == HOST_MODIFYING) {
    store(host, step, host->modified, now);
    finish_step(host, now);
    return;
  }
  host->state = HOST_MODIFYING;
  host->modified = read_word(host, step, now) + step->value;
  host->next = now + step->cycles;
}

static void start_launch(Host *host, uint64_t now) {
  Launch *launch = gpu_launch(host->gpu, step_at(host)->launch + host->times[host->at]);
  for (guint i = 0; i < host->to_gpu->len; i++)
    show_gpu(host, change_at(host->to_gpu, i), now);
  g_array_set_size(host->to_gpu, 0);
  launch->held = false;
  tell(host, HOST_STARTS, launch->index, now);
  host->released = true;
  finish_step(host, now);
}

static void wait_for_launch(Host *host, uint64_t now) {
  const Launch *launch = launch_of_step(host);
  bool waited = host->state == HOST_WAITING;
  host->state = HOST_WAITING;
  if (!launch->finished)
    host->next = WHEEL_NEVER;
  else if (waited) {
    tell(host, HOST_AWAITED, launch->index, now);
    finish_step(host, now);
  } else
    host->next = now + latency(host); /* it had finished, perhaps just now: its stores show by then */
}

static void act(Host *host, uint64_t now) {
  const HostStep *step = step_at(host);
  switch (step->kind) {
  case HOST_POLL: poll(host, now); return;
  case HOST_WRITE: store(host, step, step->value, now); break;
  case HOST_ADD: add(host, step, now); break;
  case HOST_MODIFY: modify(host, now); return;
  case HOST_DELAY:
    finish_step(host, now);
    host->next = now + MAX(step->cycles, 1u);
    return;
  case HOST_LAUNCH: start_launch(host, now); return;
  case HOST_WAIT: wait_for_launch(host, now); return;
  case HOST_REPEAT: begin_repeat(host, now); return;
  case HOST_LEAVE: leave(host, now); return;
  }
  finish_step(host, now);
}

uint64_t host_run(Host *host, uint64_t now) {
  host->gpu->cycle = now;
  arrive(host, now);
  if (host->state != HOST_DONE && host->next <= now) {
    if (host->at < host->count)
      act(host, now);
    if (host->at == host->count) {
      host->state = HOST_DONE;
      host->next = WHEEL_NEVER;
    }
  }
  uint64_t shows = host->to_gpu->len ? change_at(host->to_gpu, 0)->when : WHEEL_NEVER;
  host->event_time = MIN(host->next, shows);
  return host->event_time;
}

bool host_is_still(const Host *host) {
  if (!host)
    return true;
  bool waits = host->state == HOST_DONE || host->next == WHEEL_NEVER;
  return waits && host->to_host->len == 0 && host->to_gpu->len == 0;
}

char *host_step_text(const Host *host, uint32_t step) {
  static const char *const names[] = {"poll", "write", "add", "modify", "delay", "launch", "wait", "repeat", "leave"};
  const HostStep *at = &host->steps[step];
  const char *name = names[at->kind];
  if (uses_word(at->kind))
    return g_strdup_printf("step %u (%s %s[%u])", step + 1, name,
                           backing_buffer(host->gpu->backing, at->buffer)->name, at->index);
  return g_strdup_printf("step %u (%s)", step + 1, name);
}

char *host_text(const Host *host) {
  static const char *const until[] = {[HOST_EQ] = "is %d",         [HOST_NE] = "isn't %d", [HOST_LT] = "is below %d",
                                      [HOST_GE] = "is %d or more", [HOST_ODD] = "is odd",  [HOST_EVEN] = "is even"};
  if (host->state == HOST_DONE)
    return g_strdup("has done all its steps");
  const HostStep *step = step_at(host);
  if (host->state == HOST_WAITING)
    return g_strdup_printf("waits for launch %u to finish", launch_of_step(host)->index);
  if (host->state != HOST_POLLING)
    return g_strdup_printf("is at step %u", host->at + 1);
  g_autofree char *condition = step->compare >= HOST_ODD ? g_strdup(until[step->compare])
                                                         : g_strdup_printf(until[step->compare], (int)step->value);
  return g_strdup_printf("polls %s[%u] until it %s, and sees %d",
                         backing_buffer(host->gpu->backing, step->buffer)->name, step->index, condition,
                         (int)host->view[step->buffer][step->index]);
}
