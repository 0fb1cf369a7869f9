#include "sim/core/launch.h"

#include "base/assert.h"
#include "base/pages.h"
#include "sim/core/cached.h"
#include "sim/core/cluster.h"
#include "sim/core/decode.h"
#include "sim/core/locks.h"
#include "sim/core/occupancy.h"
#include "sim/core/sm.h"

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

enum { HOPPER_ARGS = 0x210 };

/* The bank is laid out as sm_90 has it. */
static bool is_hopper(const Kernel *kernel) { return kernel->param_base >= HOPPER_ARGS; }

/* Where sm_70 and later have %envreg1 and %envreg2, the workspace of a cooperative grid, high word first. */
static uint32_t workspace_offset(const Kernel *kernel) {
  enum { ENVREG1 = 0x8c, ENVREG1_HOPPER = 0x44 };
  return is_hopper(kernel) ? ENVREG1_HOPPER : ENVREG1;
}

bool launch_reads_workspace(const Kernel *kernel) {
  uint32_t workspace = workspace_offset(kernel);
  for (uint32_t i = 0; kernel->bank == BANK_VOLTA && i < kernel->nconsts; i++) {
    const ConstRef *ref = &kernel->consts[i];
    if (ref->kind == CONST_BANK && (ref->value == workspace || ref->value == workspace + 4))
      return true;
  }
  return false;
}

/* Where the bytes of shared memory begin that the system has behind all others. */
static uint32_t place_of_system(const LaunchConfig *config) {
  enum { ALIGN = 16 };
  return (config->kernel->shared_bytes + config->shared_bytes + ALIGN - 1) / ALIGN * ALIGN;
}

/* A float of which lanes make an integer by truncation: the least that isn't below 1 / blocks. */
static uint32_t inverse_of(uint32_t blocks) {
  float inverse = 1.0f / (float)blocks;
  uint32_t word;
  memcpy(&word, &inverse, sizeof word);
  return (double)inverse * blocks < 1 ? word + 1 : word;
}

/* What sm_90 says of clusters: whether the launch has some, how many blocks they have, a float of each to divide by,
 * and how many clusters there are; and, apart, their blocks as one number (nvcc 13.0: cooperative_groups). */
static uint32_t cluster_word(const LaunchConfig *config, const uint32_t cluster[3], uint32_t offset) {
  enum { EXPLICIT = 0x140, BLOCKS = 0x144, INVERSES = 0x150, CLUSTERS = 0x15c, END = 0x168, ALL_BLOCKS = 0x188 };
  if (offset == EXPLICIT)
    return config->cluster[0] || config->kernel->cluster[0];
  if (offset == ALL_BLOCKS)
    return cluster[0] * cluster[1] * cluster[2];
  if (offset < BLOCKS || offset >= END)
    return 0;
  unsigned axis = (offset - BLOCKS) / 4 % 3;
  return offset < INVERSES   ? cluster[axis]
         : offset < CLUSTERS ? inverse_of(cluster[axis])
                             : config->grid[axis] / cluster[axis];
}

/* Blocks of each cluster. */
static void cluster_of(const LaunchConfig *config, uint32_t cluster[3]) {
  const uint32_t *own = config->kernel->cluster, *given = config->cluster[0] ? config->cluster : own;
  for (unsigned axis = 0; axis < 3; axis++)
    cluster[axis] = MAX(given[axis], 1u);
}

/* The constant bank of sm_70 and later: ntid at 0, nctaid at 0xc, the windows of shared and local memory at 0x18 and
 * 0x20, the stack pointer at 0x28, dynamic shared bytes at 0x2c; the workspace; how many SMs there are at 0x10c, and
 * what of a block's shared memory is the system's at 0x114, and where it is at 0x124 (it is the first on sm_90);
 * arguments. */
static uint32_t volta_word(const Machine *machine, const LaunchConfig *config, uint32_t offset) {
  enum {
    NCTAID = 0xc,
    SHARED = 0x18,
    LOCAL = 0x20,
    STACK = 0x28,
    DYNAMIC = 0x2c,
    SMS = 0x10c,
    SYSTEM_SHARED = 0x114,
    SYSTEM_SHARED_AT = 0x124
  };
  uint32_t base = config->kernel->param_base, word = 0, workspace = workspace_offset(config->kernel);
  if (offset < NCTAID)
    return config->block[offset / 4];
  if (offset < NCTAID + 12)
    return config->grid[(offset - NCTAID) / 4];
  if (offset == SHARED)
    return SHARED_WINDOW;
  if (offset == LOCAL)
    return LOCAL_WINDOW;
  if (offset == STACK)
    return config->kernel->local_bytes;
  if (offset == DYNAMIC)
    return config->shared_bytes;
  if (offset == SMS)
    return machine->gpu.sms;
  if (offset == SYSTEM_SHARED)
    return config->kernel->shared_system;
  if (offset == SYSTEM_SHARED_AT && config->kernel->shared_behind)
    return place_of_system(config);
  if (offset == workspace || offset == workspace + 4)
    return (uint32_t)(offset == workspace ? config->envreg >> 32 : config->envreg);
  if (offset >= base && offset - base < config->args_bytes)
    memcpy(&word, config->args + (offset - base), MIN(4u, config->args_bytes - (offset - base)));
  if (offset >= base || !is_hopper(config->kernel))
    return word;
  uint32_t cluster[3];
  cluster_of(config, cluster);
  return cluster_word(config, cluster, offset);
}

static uint32_t const_value(const Machine *machine, const LaunchConfig *config, const ConstRef *ref) {
  switch (ref->kind) {
  case CONST_BANK:
    return config->kernel->bank == BANK_VOLTA ? volta_word(machine, config, ref->value)
                                              : bank_word(config, ref->value);
  case CONST_SYMBOL:
    LS_REQUIRE("launch-symbols", config->symbols && ref->symbol < config->program->variables->len);
    return (uint32_t)config->symbols[ref->symbol] + ref->value;
  case CONST_IMMEDIATE: break;
  }
  return ref->value;
}

static uint32_t *make_const_rows(const Machine *machine, const LaunchConfig *config) {
  const Kernel *kernel = config->kernel;
  uint32_t *rows = g_aligned_alloc((size_t)kernel->nconsts * WARP_LANES + 1, sizeof *rows, HOST_LINE);
  for (uint32_t i = 0; i < kernel->nconsts; i++) {
    uint32_t value = const_value(machine, config, &kernel->consts[i]);
    for (uint32_t lane = 0; lane < WARP_LANES; lane++)
      rows[i * WARP_LANES + lane] = value;
  }
  return rows;
}

/* Machine code indexes the whole bank. */
static void keep_params(const Machine *machine, Launch *launch, const LaunchConfig *config) {
  uint32_t before = config->kernel->bank == BANK_VOLTA ? config->kernel->param_base : 0;
  launch->param_bytes = before + MAX(config->args_bytes, config->kernel->param_bytes);
  launch->params = g_malloc0(launch->param_bytes + 4u);
  for (uint32_t at = 0; at < before; at += 4) {
    uint32_t word = volta_word(machine, config, at);
    memcpy(launch->params + at, &word, sizeof word);
  }
  if (config->args_bytes)
    memcpy(launch->params + before, config->args, config->args_bytes);
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

/* The kernel's own clusters and the launch's have to be the same. */
static char *refuse_cluster_of_kernel(const LaunchConfig *config) {
  const uint32_t *own = config->kernel->cluster, *given = config->cluster;
  if (!own[0] || !given[0] || memcmp(own, given, sizeof config->cluster) == 0)
    return NULL;
  return g_strdup_printf("the launch has clusters of %u x %u x %u blocks, and its kernel is for clusters of "
                         "%u x %u x %u (__cluster_dims__, .reqnctapercluster)",
                         given[0], given[1], given[2], own[0], own[1], own[2]);
}

static char *refuse_cluster(const Machine *machine, const LaunchConfig *config) {
  uint32_t cluster[3];
  char *why = refuse_cluster_of_kernel(config);
  cluster_of(config, cluster);
  uint64_t blocks = (uint64_t)cluster[0] * cluster[1] * cluster[2];
  if (why || blocks == 1)
    return why;
  if (machine->sm.cluster.blocks == 1)
    return g_strdup_printf("the launch has clusters of %" G_GUINT64_FORMAT
                           " blocks, and %s has no clusters (sm.cluster.blocks is 1); sm_90 has them",
                           blocks, machine->name);
  if (blocks > machine->sm.cluster.blocks)
    return g_strdup_printf("the launch has clusters of %" G_GUINT64_FORMAT " blocks, %s can have %u "
                           "(sm.cluster.blocks)%s",
                           blocks, machine->name, machine->sm.cluster.blocks,
                           blocks <= 16 ? "; larger ones, which CUDA calls not portable, aren't modelled" : "");
  for (unsigned axis = 0; axis < 3; axis++)
    if (config->grid[axis] % cluster[axis])
      return g_strdup_printf("the grid has %u blocks in %c, which isn't a multiple of the cluster's %u",
                             config->grid[axis], "xyz"[axis], cluster[axis]);
  if (machine->sm.convergence != CONVERGENCE_BARRIER)
    return g_strdup_printf("clusters of several blocks need convergence barriers (sm.convergence: barrier), %s has a "
                           "SIMT stack",
                           machine->name);
  return NULL;
}

/* A program is made for one way of divergence. */
static char *refuse_convergence(const Machine *machine, const Kernel *kernel) {
  bool groups = machine->sm.convergence == CONVERGENCE_BARRIER;
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    const Inst *inst = &kernel->insts[pc];
    bool wants_groups =
        inst->op == OP_BSSY || inst->op == OP_BSYNC || inst->op == OP_BREAK || inst->op == OP_CLUSTERBAR;
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
  uint64_t shared = (uint64_t)config->kernel->shared_bytes - config->kernel->shared_system + config->shared_bytes;
  if (shared > machine->sm.shared.max_block_bytes)
    return g_strdup_printf("the block has %" G_GUINT64_FORMAT " bytes of shared memory, %s allows at most %u", shared,
                           machine->name, machine->sm.shared.max_block_bytes);
  if (shared && occupancy_block_shared(machine, (uint32_t)shared) > machine->sm.shared.bytes)
    return g_strdup_printf(
        "the block takes %u bytes of shared memory with what the system keeps of it (%u), an SM of "
        "%s has %u",
        occupancy_block_shared(machine, (uint32_t)shared), machine->sm.shared.reserved, machine->name,
        machine->sm.shared.bytes);
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

/* What the kernel's instructions say of the launch. */
static void decode_all(const Gpu *gpu, Launch *launch) {
  launch->decoded = g_new(Decoded, launch->kernel->ninsts);
  for (uint32_t i = 0; i < launch->kernel->ninsts; i++) {
    const Inst *inst = &launch->kernel->insts[i];
    launch->decoded[i] = decode_inst(gpu, launch->kernel, inst);
    launch->tracks_unset |= (inst->flags & INST_MAYBE_UNSET) != 0;
    launch->orderly |= inst->op == OP_PRINTF || inst->op == OP_MALLOC || inst->op == OP_FREE ||
                       inst->op == OP_SYNCBLOCKS || launch->cluster_blocks > 1 || locks_are_meant(gpu, inst);
    launch->uses_l1 |= op_info[inst->op].unit == UNIT_GLOBAL && cached_is_load(gpu->machine, inst) &&
                       op_info[inst->op].flags & OPF_LOAD;
  }
  if (launch->kernel->control)
    decode_in_order(gpu, launch->kernel, launch->decoded);
  else if (machine_knows_code(gpu->machine))
    decode_stall_counts(gpu, launch->kernel, launch->decoded);
  decode_ways(gpu, launch->kernel, launch->decoded);
  /* Who comes to the first part of an instruction comes to its last. */
  for (uint32_t i = launch->kernel->ninsts; i-- > 1;)
    if (launch->kernel->insts[i - 1].flags & INST_FUSED) {
      Decoded *part = &launch->decoded[i - 1];
      part->sends = launch->decoded[i].sends;
      part->constant = part->constant ? part->constant : launch->decoded[i].constant;
    }
}

Launch *launch_new(const Gpu *gpu, const LaunchConfig *config, char **why) {
  *why = refuse_grid(gpu->machine, config);
  if (!*why)
    *why = refuse_cluster(gpu->machine, config);
  if (*why)
    return NULL;
  Launch *launch = g_new0(Launch, 1);
  launch->program = config->program;
  launch->kernel = config->kernel;
  launch->index = gpu->launches->len;
  memcpy(launch->grid, config->grid, sizeof launch->grid);
  memcpy(launch->block, config->block, sizeof launch->block);
  launch->blocks = (uint64_t)config->grid[0] * config->grid[1] * config->grid[2];
  cluster_of(config, launch->cluster);
  launch->cluster_blocks = launch->cluster[0] * launch->cluster[1] * launch->cluster[2];
  launch->explicit_cluster = config->cluster[0] || config->kernel->cluster[0];
  uint64_t threads = MIN((uint64_t)config->block[0] * config->block[1], UINT32_MAX);
  launch->block_threads = (uint32_t)MIN(threads * config->block[2], UINT32_MAX - WARP_LANES);
  launch->block_warps = (launch->block_threads + WARP_LANES - 1) / WARP_LANES;
  launch->shared_bytes = config->kernel->shared_bytes + config->shared_bytes;
  if (config->kernel->shared_behind)
    launch->shared_bytes = place_of_system(config) + config->kernel->shared_behind;
  launch->carveout = config->carveout;
  launch->stream = config->stream;
  launch->previous = newest_of_stream(gpu, config->stream);
  launch->envreg = config->envreg;
  *why = refuse_convergence(gpu->machine, launch->kernel);
  if (!*why)
    *why = refuse_block(gpu->machine, config, launch);
  if (!*why && launch->cluster_blocks > 1)
    *why = cluster_refuse_room(gpu, launch, config->shared_bytes);
  if (*why) {
    g_free(launch);
    return NULL;
  }
  launch->name = g_strdup(config->name ? config->name : config->kernel->name);
  keep_params(gpu->machine, launch, config);
  launch->const_rows = make_const_rows(gpu->machine, config);
  decode_all(gpu, launch);
  return launch;
}

void launch_free(Launch *launch) {
  g_free(launch->name);
  g_free(launch->params);
  g_aligned_free(launch->const_rows);
  g_free(launch->decoded);
  g_free(launch);
}
