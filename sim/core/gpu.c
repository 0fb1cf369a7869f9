#include "sim/core/gpu.h"

#include "base/assert.h"
#include "sim/core/cached.h"
#include "sim/core/host.h"
#include "sim/core/occupancy.h"
#include "sim/core/serve.h"
#include "sim/core/windows.h"
#include "sim/engine/team.h"
#include "sim/memory/heap.h"

/* ---- making ---- */

Gpu *gpu_new(const Machine *machine, Backing *backing, uint64_t seed) {
  Gpu *gpu = g_new0(Gpu, 1);
  gpu->machine = machine;
  gpu->seed = seed;
  gpu->backing = backing;
  gpu->sms = g_new0(Sm, machine->gpu.sms);
  gpu->due = g_new0(uint64_t, machine->gpu.sms);
  event_queue_init(&gpu->sends, 64);
  event_queue_init(&gpu->queue, 64 + 4 * machine->gpu.sms);
  gpu->memory_event = WHEEL_NEVER;
  MemClient client = {.user = gpu, .perform = serve_perform, .reply = serve_reply};
  gpu->memsys = memsys_new(machine, seed, backing, &client, &gpu->counters);
  gpu->launches = g_ptr_array_new();
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
    sm_init(&gpu->sms[i], gpu, i);
  return gpu;
}

static void launch_free(Launch *launch) {
  g_free(launch->params);
  g_free(launch->const_rows);
  g_free(launch->decoded);
  g_free(launch);
}

void gpu_free(Gpu *gpu) {
  if (!gpu)
    return;
  for (uint32_t i = 0; i < gpu->machine->gpu.sms; i++)
    sm_clear(&gpu->sms[i]);
  for (guint i = 0; i < gpu->launches->len; i++)
    launch_free(gpu_launch(gpu, i));
  g_ptr_array_free(gpu->launches, TRUE);
  g_array_free(gpu->marks, TRUE);
  event_queue_clear(&gpu->queue);
  event_queue_clear(&gpu->sends);
  team_free(gpu->team);
  g_free(gpu->due);
  memsys_free(gpu->memsys);
  heap_free(gpu->heap);
  host_free(gpu->host);
  g_string_free(gpu->printed, TRUE);
  g_free(gpu->fault.message);
  g_free(gpu->fault.repair);
  g_free(gpu->sms);
  g_free(gpu);
}

void gpu_subscribe(Gpu *gpu, Probe *probe) {
  probe->next = gpu->probe;
  gpu->probe = probe;
}

void gpu_unsubscribe(Gpu *gpu, Probe *probe) {
  Probe **link = &gpu->probe;
  while (*link != probe)
    link = &(*link)->next;
  *link = probe->next;
}

Launch *gpu_launch(const Gpu *gpu, uint32_t index) { return g_ptr_array_index(gpu->launches, index); }

void gpu_add_heap(Gpu *gpu, uint32_t bytes) { gpu->heap = heap_new(gpu->backing, bytes); }

/* ---- launches ---- */

/* The constant bank of sm_20: ntid at 0x8, nctaid at 0x14, arguments from 0x20. */
static uint32_t bank_word(const LaunchConfig *config, uint32_t offset) {
  enum { NTID = 0x8, NCTAID = 0x14, ARGS = PARAM_BANK_OFFSET };
  uint32_t word = 0;
  if (offset >= NTID && offset < NTID + 12)
    return config->block[(offset - NTID) / 4];
  if (offset >= NCTAID && offset < NCTAID + 12)
    return config->grid[(offset - NCTAID) / 4];
  if (offset >= ARGS && offset - ARGS < config->args_bytes)
    memcpy(&word, config->args + (offset - ARGS), MIN(4u, config->args_bytes - (offset - ARGS)));
  return word;
}

static uint32_t const_value(const LaunchConfig *config, const ConstRef *ref) {
  switch (ref->kind) {
  case CONST_BANK: return bank_word(config, ref->value);
  case CONST_SYMBOL:
    LS_REQUIRE("launch-symbols", config->symbols && ref->symbol < config->program->variables->len);
    return (uint32_t)config->symbols[ref->symbol] + ref->value;
  case CONST_IMMEDIATE: break;
  }
  return ref->value;
}

static uint32_t *make_const_rows(const LaunchConfig *config) {
  const Kernel *kernel = config->kernel;
  uint32_t *rows = g_new(uint32_t, (size_t)kernel->nconsts * WARP_LANES + 1);
  for (uint32_t i = 0; i < kernel->nconsts; i++) {
    uint32_t value = const_value(config, &kernel->consts[i]);
    for (uint32_t lane = 0; lane < WARP_LANES; lane++)
      rows[i * WARP_LANES + lane] = value;
  }
  return rows;
}

static void keep_params(Launch *launch, const LaunchConfig *config) {
  launch->param_bytes = MAX(config->args_bytes, config->kernel->param_bytes);
  launch->params = g_malloc0(launch->param_bytes + 1u);
  if (config->args_bytes)
    memcpy(launch->params, config->args, config->args_bytes);
}

static void add_wait(Decoded *decoded, int16_t reg) {
  for (unsigned i = 0; i < decoded->waits; i++)
    if (decoded->wait[i] == reg)
      return;
  LS_REQUIRE("decoded-waits", decoded->waits < G_N_ELEMENTS(decoded->wait));
  decoded->wait[decoded->waits++] = (uint8_t)reg;
}

/* How an instruction goes by whose guard holds in no lane: it takes its issue slot, a branch until it is known where the
 * warp goes on. Its destinations are held as long as its unit takes (measured of LDS); no request leaves the SM. */
static void decode_skip(Decoded *decoded, const Gpu *gpu, Opcode op) {
  bool branches = op == OP_BRA || op == OP_BRK || op == OP_CONT || op == OP_RET || op == OP_CAL;
  decoded->skip = branches ? gpu->machine->sm.latency.branch_not_taken : gpu->machine->sm.issue_interval;
  decoded->skip_latency = op_info[op].unit == UNIT_GLOBAL ? gpu->unit_latency[UNIT_SHARED] : decoded->latency;
}

static Decoded decode(const Gpu *gpu, const Kernel *kernel, const Inst *inst) {
  RegList reads = inst_reads(inst), writes = inst_writes(inst, kernel->nregs);
  PipeKind pipe = pipe_of(inst, writes.count > 0);
  Decoded decoded = {.executor = executors[inst->op],
                     .latency = pipe_latency(gpu->machine, pipe, gpu->unit_latency[op_info[inst->op].unit]),
                     .pipe = pipe,
                     .interval = pipe_interval(gpu->machine, pipe),
                     .sends = op_info[inst->op].unit == UNIT_GLOBAL && inst->op != OP_MEMBAR,
                     .releases =
                         cached_is_release(inst) && op_info[inst->op].unit == UNIT_GLOBAL && inst->op != OP_MEMBAR};
  decode_skip(&decoded, gpu, inst->op);
  for (unsigned i = 0; i < reads.count; i++)
    add_wait(&decoded, reads.reg[i]);
  for (unsigned i = 0; i < writes.count; i++) {
    add_wait(&decoded, writes.reg[i]);
    decoded.write[decoded.writes++] = (uint8_t)writes.reg[i];
  }
  decoded.pred_write = inst_pred_writes(inst);
  decoded.pred_wait = inst_pred_reads(inst) | decoded.pred_write;
  return decoded;
}

static char *refuse_grid(const Machine *machine, const LaunchConfig *config) {
  const uint32_t limit[3] = {machine->grid.max_x, machine->grid.max_y, machine->grid.max_z};
  for (unsigned axis = 0; axis < 3; axis++) {
    if (config->grid[axis] == 0)
      return g_strdup("the grid has no blocks");
    if (config->grid[axis] > limit[axis])
      return g_strdup_printf("the grid has %u blocks in %c, %s can launch at most %u", config->grid[axis],
                             "xyz"[axis], machine -> name, limit[axis]);
    if (config->block[axis] == 0)
      return g_strdup("the block has no threads");
  }
  return NULL;
}

/* A program is made for one way of divergence. */
static char *refuse_convergence(const Machine *machine, const Kernel *kernel) {
  bool groups = machine->sm.convergence == CONVERGENCE_BARRIER;
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    const Inst *inst = &kernel->insts[pc];
    bool wants_groups = inst->op == OP_BSSY || inst->op == OP_BSYNC || inst->op == OP_BREAK;
    bool wants_stack = inst->flags & INST_POP || inst->op == OP_SSY || inst->op == OP_PBK || inst->op == OP_BRK ||
                       inst->op == OP_PCNT || inst->op == OP_CONT || inst->op == OP_CAL || inst->op == OP_RET;
    if (groups ? wants_stack : wants_groups)
      return g_strdup_printf("line %u: %s%s is for machines with %s (sm.convergence: %s), %s has %s", inst->line,
                             op_info[inst->op].sass, inst->flags & INST_POP ? ".S" : "",
                             groups ? "a SIMT stack" : "convergence barriers", groups ? "simt-stack" : "barrier",
                             machine->name, groups ? "convergence barriers" : "a SIMT stack");
  }
  return NULL;
}

static char *refuse_block(const Machine *machine, const LaunchConfig *config, const Launch *launch) {
  uint64_t threads = (uint64_t)config->block[0] * config->block[1];
  threads = threads > UINT32_MAX ? threads : threads * config->block[2];
  if (threads > machine->grid.max_block_threads)
    return g_strdup_printf("the block has %" G_GUINT64_FORMAT " threads, %s allows at most %u", threads,
                           machine->name, machine->grid.max_block_threads);
  if (config->block[2] > machine->grid.max_block_z)
    return g_strdup_printf("the block has %u threads in z, %s allows at most %u", config->block[2], machine->name,
                           machine->grid.max_block_z);
  uint64_t shared = (uint64_t)config->kernel->shared_bytes + config->shared_bytes;
  if (shared > machine->sm.shared.max_block_bytes)
    return g_strdup_printf("the block has %" G_GUINT64_FORMAT " bytes of shared memory, %s allows at most %u", shared,
                           machine->name, machine->sm.shared.max_block_bytes);
  if (kernel_registers(config->kernel) > machine->sm.max_thread_registers)
    return g_strdup_printf("a thread needs %u registers, %s has %u for each", kernel_registers(config->kernel),
                           machine->name, machine->sm.max_thread_registers);
  if (sm_block_registers(machine, launch) > machine->sm.registers)
    return g_strdup_printf("the block needs %u registers, an SM of %s has %u", sm_block_registers(machine, launch),
                           machine->name, machine->sm.registers);
  if (config->kernel->local_bytes > LOCAL_BYTES_MAX)
    return g_strdup_printf("a thread needs %u bytes of local memory, it can have at most %d",
                           config->kernel->local_bytes, LOCAL_BYTES_MAX);
  if (launch->block_warps > machine->sm.max_warps || launch->block_warps * WARP_LANES > machine->sm.max_threads)
    return g_strdup_printf("the block has %u warps, more than an SM of %s holds", launch->block_warps, machine->name);
  return NULL;
}

static const Launch *newest_of_stream(const Gpu *gpu, int stream) {
  for (guint i = gpu->launches->len; i-- > 0;)
    if (gpu_launch(gpu, i)->stream == stream)
      return gpu_launch(gpu, i);
  return NULL;
}

bool gpu_add_launch(Gpu *gpu, const LaunchConfig *config, char **why) {
  LS_REQUIRE("gpu-launch-late", gpu->ages == 0);
  *why = refuse_grid(gpu->machine, config);
  if (*why)
    return false;
  Launch *launch = g_new0(Launch, 1);
  launch->program = config->program;
  launch->kernel = config->kernel;
  launch->index = gpu->launches->len;
  memcpy(launch->grid, config->grid, sizeof launch->grid);
  memcpy(launch->block, config->block, sizeof launch->block);
  launch->blocks = (uint64_t)config->grid[0] * config->grid[1] * config->grid[2];
  uint64_t threads = MIN((uint64_t)config->block[0] * config->block[1], UINT32_MAX);
  launch->block_threads = (uint32_t)MIN(threads * config->block[2], UINT32_MAX - WARP_LANES);
  launch->block_warps = (launch->block_threads + WARP_LANES - 1) / WARP_LANES;
  launch->shared_bytes = config->kernel->shared_bytes + config->shared_bytes;
  launch->stream = config->stream;
  launch->previous = newest_of_stream(gpu, config->stream);
  launch->envreg = config->envreg;
  *why = refuse_convergence(gpu->machine, launch->kernel);
  if (!*why)
    *why = refuse_block(gpu->machine, config, launch);
  if (*why) {
    g_free(launch);
    return false;
  }
  keep_params(launch, config);
  launch->const_rows = make_const_rows(config);
  launch->decoded = g_new(Decoded, launch->kernel->ninsts);
  for (uint32_t i = 0; i < launch->kernel->ninsts; i++) {
    launch->decoded[i] = decode(gpu, launch->kernel, &launch->kernel->insts[i]);
    const Inst *inst = &launch->kernel->insts[i];
    launch->tracks_unset |= (inst->flags & INST_MAYBE_UNSET) != 0;
    launch->orderly |= inst->op == OP_PRINTF || inst->op == OP_MALLOC || inst->op == OP_FREE;
    launch->uses_l1 |= op_info[inst->op].unit == UNIT_GLOBAL && cached_is_load(gpu->machine, inst) &&
                       op_info[inst->op].flags & OPF_LOAD;
  }
  gpu->register_rows = MAX(gpu->register_rows, launch->kernel->nregs + SINK_ROWS);
  g_ptr_array_add(gpu->launches, launch);
  gpu->unfinished_blocks += launch->blocks;
  gpu->unfinished_launches++;
  gpu->undispatched++;
  return true;
}

/* ---- dispatching ---- */

/* A launch may run once the one before it in its stream has finished, and with it all earlier ones, and the host has
 * started it. */
static bool may_run(const Launch *launch) {
  const Launch *previous = launch->previous;
  return !launch->held && (!previous || previous->finished);
}

/* A kernel that starts alone on the chip finds all lock bits free. */
static void free_lock_bits(Gpu *gpu) {
  for (guint i = 0; i < gpu->launches->len; i++) {
    const Launch *launch = gpu_launch(gpu, i);
    if (launch->next_block != launch->finished_blocks)
      return;
  }
  for (uint32_t i = 0; i < gpu->machine->gpu.sms; i++)
    if (gpu->sms[i].ready)
      lock_unit_release_all(&gpu->sms[i].lock_unit);
}

/* Shared memory of the blocks of a launch that an SM may hold at once. */
static uint32_t shared_wanted(const Gpu *gpu, const Launch *launch) {
  if (!launch->shared_bytes)
    return 0;
  uint64_t even = (launch->blocks + gpu->machine->gpu.sms - 1) / gpu->machine->gpu.sms;
  Occupancy occupancy =
      occupancy_of(gpu->machine, launch->kernel, launch->block, launch->shared_bytes - launch->kernel->shared_bytes);
  return (uint32_t)MIN(even, occupancy.blocks) * occupancy_block_shared(gpu->machine, launch->shared_bytes);
}

/* A kernel that starts sees what was written before. Where the L1 is what shared memory leaves, it has its new size. */
static void renew_l1s(Gpu *gpu) {
  uint32_t wanted = 0;
  for (guint i = 0; i < gpu->launches->len; i++) {
    const Launch *launch = gpu_launch(gpu, i);
    if (launch->started && !launch->finished)
      wanted = MAX(wanted, shared_wanted(gpu, launch));
  }
  uint32_t bytes = l1_bytes_beside(gpu->machine, wanted);
  for (uint32_t i = 0; i < gpu->machine->gpu.sms; i++) {
    L1 **l1 = &gpu->sms[i].l1;
    if (*l1)
      l1_invalidate(*l1);
    if (bytes != gpu->l1_bytes)
      g_clear_pointer(l1, l1_free);
  }
  gpu->l1_bytes = bytes;
}

/* ---- the order of blocks ---- */

/* A seeded permutation of the numbers below 4^half: a Feistel network of four rounds. */
static uint64_t shuffle(uint64_t number, unsigned half, uint64_t key) {
  uint64_t mask = (UINT64_C(1) << half) - 1, left = number >> half, right = number & mask;
  for (uint64_t round = 0; round < 4; round++) {
    uint64_t mixed = rng_mix(right ^ rng_mix(key + round)) & mask, next = left ^ mixed;
    left = right;
    right = next;
  }
  return left << half | right;
}

/* The numbers below `count` permuted: those that the shuffle takes beyond are shuffled on. */
static uint64_t shuffle_below(uint64_t number, uint64_t count, uint64_t key) {
  unsigned half = 1;
  while (half < 32 && UINT64_C(1) << (2 * half) < count)
    half++;
  do
    number = shuffle(number, half, key);
  while (number >= count);
  return number;
}

/* The block of a launch that is dispatched in turn `turn`, by grid.dispatch_order. */
static uint64_t block_in_turn(const Gpu *gpu, const Launch *launch, uint64_t turn) {
  switch (gpu->machine->grid.dispatch_order) {
  case DISPATCH_REVERSE: return launch->blocks - 1 - turn;
  case DISPATCH_RANDOM: return shuffle_below(turn, launch->blocks, rng_mix(gpu->seed) + launch->index);
  default: return turn;
  }
}

bool gpu_block_is_pending(const Gpu *gpu, const Launch *launch, uint64_t block) {
  if (gpu->machine->grid.dispatch_order != DISPATCH_RANDOM) {
    uint64_t first, last;
    gpu_pending_blocks(gpu, launch, &first, &last);
    return block >= first && block <= last;
  }
  for (uint64_t turn = launch->next_block; turn < launch->blocks; turn++)
    if (block_in_turn(gpu, launch, turn) == block)
      return true;
  return false;
}

void gpu_pending_blocks(const Gpu *gpu, const Launch *launch, uint64_t *first, uint64_t *last) {
  DispatchOrder order = gpu->machine->grid.dispatch_order;
  *first = order == DISPATCH_FORWARD ? launch->next_block : 0;
  *last = launch->blocks - 1 - (order == DISPATCH_REVERSE ? launch->next_block : 0);
}

static bool place_somewhere(Gpu *gpu, Launch *launch, uint64_t now) {
  uint64_t block = block_in_turn(gpu, launch, launch->next_block);
  uint32_t sms = gpu->machine->gpu.sms;
  for (uint32_t i = 0; i < sms; i++) {
    uint32_t index = (gpu->next_sm + i) % sms;
    if (sm_try_place(&gpu->sms[index], launch, block, now)) {
      gpu->next_sm = (index + 1) % sms;
      return true;
    }
  }
  return false;
}

/* All that the launch follows has ended. Its blocks may wait for room all the same. */
static void start(Gpu *gpu, Launch *launch, uint64_t now) {
  launch->started = true;
  launch->free_at = now + gpu->machine->grid.launch_overhead;
  renew_l1s(gpu);
}

/* Places the launch's next block, if an SM has room. During the overhead of a launch the dispatcher is free for blocks of
 * others. */
static bool dispatch_block(Gpu *gpu, Launch *launch, uint64_t now) {
  uint64_t free_at = MAX(now, gpu->dispatch_free_at);
  bool starting = launch->free_at > free_at;
  uint64_t when = starting ? MAX(launch->free_at, gpu->starts_free_at) : free_at;
  if (launch->next_block == 0)
    free_lock_bits(gpu);
  if (!place_somewhere(gpu, launch, when))
    return false;
  if (++launch->next_block == launch->blocks)
    gpu->undispatched--;
  if (starting)
    gpu->starts_free_at = launch->free_at = when + gpu->machine->grid.dispatch_interval;
  else
    gpu->dispatch_free_at = when + gpu->machine->grid.dispatch_interval;
  return true;
}

/* Blocks in the machine's order, one each dispatch_interval, to the SMs in turn, as long as one has room. */
void gpu_dispatch(Gpu *gpu, uint64_t now) {
  for (guint i = 0; i < gpu->launches->len; i++) {
    Launch *launch = gpu_launch(gpu, i);
    if (launch->next_block == launch->blocks || !may_run(launch))
      continue;
    if (!launch->started)
      start(gpu, launch, now);
    while (launch->next_block < launch->blocks && dispatch_block(gpu, launch, now))
      ;
  }
}

/* The launch ends when its blocks have exited and their stores are performed. */
static void end_launch(Gpu *gpu, Launch *launch) {
  if (launch->finished || launch->finished_blocks < launch->blocks || launch->under_way)
    return;
  launch->finished = true;
  gpu->unfinished_launches--;
  gpu->end_cycle = MAX(gpu->end_cycle, launch->last_end);
  if (gpu->host)
    host_launch_finished(gpu->host, launch, launch->last_end);
}

void gpu_block_finished(Gpu *gpu, Launch *launch, uint64_t now) {
  launch->finished_blocks++;
  launch->last_end = MAX(launch->last_end, now);
  gpu->unfinished_blocks--;
  end_launch(gpu, launch);
  if (!gpu->fault.happened)
    gpu_dispatch(gpu, now);
}

void gpu_access_ended(Gpu *gpu, Launch *launch, uint64_t now) {
  gpu_add_accesses(launch, -1, now);
  if (launch->under_way || launch->finished_blocks < launch->blocks)
    return;
  end_launch(gpu, launch);
  if (!gpu->fault.happened)
    gpu_dispatch(gpu, now);
}

void gpu_add_accesses(Launch *launch, int64_t more, uint64_t last_end) {
  launch->under_way += (uint64_t)more;
  launch->last_end = MAX(launch->last_end, last_end);
}

void gpu_end_launches(Gpu *gpu) {
  for (guint i = 0; i < gpu->launches->len; i++)
    end_launch(gpu, gpu_launch(gpu, i));
}

/* ---- running ---- */

static bool host_waits(const Gpu *gpu) { return gpu->host && gpu->host->state != HOST_DONE; }

/* The host's event, unless it was overtaken. Returns when the next is due. */
static uint64_t run_host(Gpu *gpu, uint64_t time) {
  if (gpu->host->event_time != time)
    return WHEEL_NEVER;
  gpu->budget--;
  return host_run(gpu->host, time);
}

static uint32_t memory_source(const Gpu *gpu) { return 1 + gpu->machine->gpu.sms; }

void gpu_memory_is_due(Gpu *gpu) {
  uint64_t next = memsys_next(gpu->memsys);
  if (next >= gpu->memory_event)
    return;
  gpu->memory_event = next;
  event_queue_push(&gpu->queue, next, memory_source(gpu));
}

/* The memory's event, unless it was overtaken. Within a cycle it comes behind all SMs. */
static void run_memory(Gpu *gpu, uint64_t time) {
  if (gpu->memory_event != time)
    return;
  gpu->memory_event = WHEEL_NEVER;
  memsys_run(gpu->memsys, time + 1);
  gpu_memory_is_due(gpu);
}

void gpu_collect(Gpu *gpu) {
  for (uint32_t i = 0; i < gpu->machine->gpu.sms; i++) {
    Sm *sm = &gpu->sms[i];
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

static GpuStop run(Gpu *gpu) {
  uint64_t due = WHEEL_NEVER; /* of who ran last, not yet in the queue */
  uint32_t source = 0;
  bool windows = windows_may_come(gpu);
  for (;;) {
    if (windows && !gpu->undispatched && gpu->budget > 0 && !gpu->fault.happened)
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
    if (event.source == memory_source(gpu)) {
      run_memory(gpu, event.time);
      continue;
    }
    if (gpu->due[event.source - 1] != event.time)
      continue; /* overtaken */
    source = event.source;
    due = sm_run(&gpu->sms[event.source - 1], event.time);
  }
}

GpuStop gpu_run(Gpu *gpu, uint64_t instructions, uint64_t limit_cycles) {
  gpu->budget = (int64_t)MIN(instructions, (uint64_t)INT64_MAX);
  gpu->limit_cycles = limit_cycles;
  if (gpu->ages == 0)
    gpu_dispatch(gpu, 0);
  GpuStop stop = run(gpu);
  gpu_collect(gpu);
  return stop;
}

void gpu_set_threads(Gpu *gpu, uint32_t threads) {
  g_clear_pointer(&gpu->team, team_free);
  if (threads > 1)
    gpu->team = team_new(threads);
  gpu->team_work = TEAM_WORK_MIN;
}

/* ---- what the core records ---- */

void gpu_raise_fault(Issue *issue, uint32_t lanes, const char *space, uint64_t address, char *message, char *repair) {
  Gpu *gpu = issue->gpu;
  Fault *fault = &gpu->fault;
  if (gpu->in_window && !issue->sm->fault)
    issue->sm->fault = g_new0(Fault, 1);
  if (gpu->in_window)
    fault = issue->sm->fault;
  issue->sm->faulted = true;
  if (fault->happened) {
    g_free(message);
    g_free(repair);
    return;
  }
  const Block *block = warp_block(issue->sm, issue->warp);
  *fault = (Fault){.happened = true,
                   .message = message,
                   .launch = block->launch->index,
                   .block = block->index,
                   .warp = issue->warp->warp_in_block,
                   .lanes = lanes,
                   .pc = (uint32_t)(issue->inst - block->launch->kernel->insts),
                   .cycle = issue->now,
                   .space = space,
                   .address = address,
                   .repair = repair,
                   .taken.thread = THREAD_NONE,
                   .given.thread = THREAD_NONE};
}

void gpu_mark(Gpu *gpu, uint32_t number, uint64_t now) {
  for (guint i = 0; i < gpu->marks->len; i++) {
    MarkTime *mark = &g_array_index(gpu->marks, MarkTime, i);
    if (mark->number == number) {
      mark->last = now;
      return;
    }
  }
  MarkTime mark = {.number = number, .first = now, .last = now};
  g_array_append_val(gpu->marks, mark);
}

const MarkTime *gpu_mark_time(const Gpu *gpu, uint32_t number) {
  for (guint i = 0; i < gpu->marks->len; i++)
    if (g_array_index(gpu->marks, MarkTime, i).number == number)
      return &g_array_index(gpu->marks, MarkTime, i);
  return NULL;
}

void gpu_set_shared_data(Gpu *gpu, uint32_t offset, uint32_t bytes) {
  gpu->data_offset = offset;
  gpu->data_bytes = bytes;
}

void gpu_count_shared_bytes(const Gpu *gpu, Sm *sm, const Block *block) {
  uint64_t all = 0, beyond = 0;
  for (uint32_t offset = 0; offset < block->shared_bytes; offset++) {
    uint32_t address = block->shared_base + offset;
    if (!(sm->shared.touched[address / 4] >> (address % 4) & 1))
      continue;
    all++;
    beyond += offset < gpu->data_offset || offset >= gpu->data_offset + gpu->data_bytes;
  }
  sm->counters.shared_bytes = MAX(sm->counters.shared_bytes, all);
  sm->counters.shared_bytes_beyond_data = MAX(sm->counters.shared_bytes_beyond_data, beyond);
  sm->counters.lock_bits = MAX(sm->counters.lock_bits, sm->lock_unit.distinct);
}
