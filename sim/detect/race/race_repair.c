#include "sim/detect/race/race_repair.h"

#include <string.h>

#include "sim/detect/naming/locate.h"
#include "sim/detect/naming/paths.h"
#include "sim/detect/race/race_order.h"
#include "sim/detect/race/unheeded.h"

const char race_both_stores_repair[] =
    "make both stores atomic or volatile (a lock is freed with __threadfence(), then atomicExch())";
const char race_plain_access_repair[] = "make the plain access volatile or atomic, too";

/* The store's value is what the load gave and something added: nothing but straight code between the two. */
static bool stores_sum(const Kernel *kernel, uint32_t load, uint32_t store) {
  int16_t value = kernel->insts[store].b;
  for (uint32_t pc = store; pc-- > load;) {
    const Inst *inst = &kernel->insts[pc];
    RegList writes = inst_writes(inst, kernel->nregs), reads = inst_reads(inst);
    bool sets = false, uses = false;
    for (unsigned i = 0; i < writes.count; i++)
      sets |= writes.reg[i] == value;
    if (pc == load)
      return sets;
    if (!sets)
      continue;
    const char *name = op_info[inst->op].id;
    if (!strstr(name, "ADD") && inst->op != OP_MOV)
      return false;
    for (unsigned i = 0; i < reads.count && !uses; i++) {
      RegList loaded = inst_writes(&kernel->insts[load], kernel->nregs);
      for (unsigned k = 0; k < loaded.count; k++)
        uses |= reads.reg[i] == loaded.reg[k];
      if (uses)
        value = reads.reg[i];
    }
    if (!uses)
      return false;
  }
  return false;
}

static bool writes_register(const Kernel *kernel, uint32_t pc, int16_t reg) {
  RegList writes = inst_writes(&kernel->insts[pc], kernel->nregs);
  for (unsigned i = 0; i < writes.count; i++)
    if (writes.reg[i] == reg)
      return true;
  return false;
}

/* Both name one address, which the registers still hold at the store. */
static bool one_address(const Kernel *kernel, uint32_t load, uint32_t store) {
  const Inst *first = &kernel->insts[load], *then = &kernel->insts[store];
  for (uint32_t pc = load; pc < store; pc++)
    if (writes_register(kernel, pc, first->a))
      return false;
  return first->a == then->a && first->imm == then->imm;
}

bool race_is_update(const ProbePoint *point, const Race *race, const RaceEnd *second) {
  const Launch *launch = race_launch_of(point, second);
  if (race_launch_of(point, &race->first)->kernel != launch->kernel || race->first.strong || second->strong ||
      (race->first.write && second->write))
    return false;
  uint32_t load = race->first.write ? point->pc : race->first.pc,
           store = race->first.write ? race->first.pc : point->pc;
  return locate_key(launch, race->first.pc) == locate_key(launch, point->pc) &&
         one_address(launch->kernel, load, store) && stores_sum(launch->kernel, load, store);
}

/* A compare-and-swap asks whether the word is still what was loaded: of its operands b is that, and no sum. */
static bool asks(const Inst *inst) { return op_info[inst->op].flags & OPF_ATOMIC && inst->mode == ATOM_CAS; }

bool race_loads_for_update(const Kernel *kernel, uint32_t load) {
  enum { NEAR = 16 };
  const Inst *first = &kernel->insts[load];
  for (uint32_t pc = load + 1; pc < MIN(kernel->ninsts, load + NEAR); pc++) {
    const Inst *then = &kernel->insts[pc];
    if (op_info[then->op].flags & OPF_STORE && op_info[then->op].unit == op_info[first->op].unit && !asks(then) &&
        one_address(kernel, load, pc) && stores_sum(kernel, load, pc))
      return true;
  }
  return false;
}

static RepairEdit edit_at(const Launch *launch, uint32_t pc, EditKind kind, bool in_block) {
  return (RepairEdit){.kind = kind, .kernel = g_intern_string(launch->kernel->name), .pc = pc, .in_block = in_block};
}

/* "`done = 1;` in line 5" */
static char *code_text(const Launch *launch, uint32_t pc) {
  g_autofree char *source = locate_source(launch, pc), *line = locate_line_text(launch, pc);
  return g_strdup_printf("`%s` in %s", source, line);
}

/* What is tried by runs with the fences, where what is known of this run isn't enough to tell that they help. */
static void add_fence(Finding *finding, const Launch *launch, uint32_t pc, bool before, char *where) {
  LateFence fence = {.kernel = g_intern_string(launch->kernel->name),
                     .insts = locate_alike(launch, pc),
                     .before = before,
                     .where = where};
  finding_add_fence(finding, &fence);
  finding->repairs_first = true;
}

/* A fence on the side that lacks it, then on both. */
static void try_fences(Finding *finding, const ProbePoint *point, const Race *race, bool in_block) {
  const Launch *writer = gpu_launch(point->gpu, race->handed.writer), *reader = gpu_launch(point->gpu, race->taker);
  const char *fence = in_block ? "__threadfence_block()" : "__threadfence()";
  g_autofree char *from = code_text(writer, race->handed.from), *to = code_text(reader, race->handed.to);
  RepairEdit both[] = {edit_at(writer, race->handed.from, EDIT_FENCE_BEFORE, in_block),
                       edit_at(reader, race->handed.to, EDIT_FENCE_BEHIND, in_block)};
  if (race->cause == RACE_NO_RELEASE || race->cause == RACE_NARROW_RELEASE)
    finding_add_repair(
        finding, &both[0], 1,
        g_strdup_printf("put %s before %s%s", fence, from,
                        order_releases(&writer->kernel->insts[race->handed.from]) ? "" : ", or make that a release"));
  else
    finding_add_repair(finding, &both[1], 1, g_strdup_printf("put %s behind %s, or make that an acquire", fence, to));
  finding_add_repair(finding, both, 2, g_strdup_printf("put %s before %s, and behind %s", fence, from, to));
  if (in_block)
    return;
  bool writer_lacks = race->cause == RACE_NO_RELEASE || race->cause == RACE_NARROW_RELEASE;
  if (writer_lacks)
    add_fence(finding, writer, race->handed.from, true, g_strdup_printf("before %s", from));
  add_fence(finding, reader, race->handed.to, false, g_strdup_printf("behind %s", to));
  if (!writer_lacks)
    add_fence(finding, writer, race->handed.from, true, g_strdup_printf("before %s", from));
}

/* "the load of `x = *p;` in line 5", "`free(p);` in line 6" */
static char *access_text(const Launch *launch, uint32_t pc, bool write) {
  g_autofree char *code = code_text(launch, pc);
  if (launch->kernel->insts[pc].op == OP_FREE)
    return g_steal_pointer(&code);
  return g_strdup_printf("the %s of %s", write ? "store" : "load", code);
}

/* Between the two, behind the first or before the second; or, where the second was to come first, the other way
 * round. */
static void try_barriers(Finding *finding, const ProbePoint *point, const Race *race, const RaceEnd *second) {
  const Launch *launch = race_launch_of(point, second);
  g_autofree char *first = access_text(launch, race->first.pc, race->first.write),
                  *then = access_text(launch, point->pc, race->write);
  RepairEdit behind_first = edit_at(launch, race->first.pc, EDIT_BARRIER_BEHIND, false),
             before_then = edit_at(launch, point->pc, EDIT_BARRIER_BEFORE, false),
             before_first = edit_at(launch, race->first.pc, EDIT_BARRIER_BEFORE, false),
             behind_then = edit_at(launch, point->pc, EDIT_BARRIER_BEHIND, false);
  finding_add_repair(finding, &behind_first, 1,
                     g_strdup_printf("put __syncthreads() behind %s, before %s", first, then));
  finding_add_repair(finding, &before_then, 1,
                     g_strdup_printf("put __syncthreads() before %s, behind %s", then, first));
  if (race->first.pc == point->pc)
    return;
  finding_add_repair(finding, &before_first, 1,
                     g_strdup_printf("put __syncthreads() before %s, behind %s", first, then));
  finding_add_repair(finding, &behind_then, 1,
                     g_strdup_printf("put __syncthreads() behind %s, before %s", then, first));
}

/* The same of lanes of one warp, with a barrier of the warp. */
static void try_warp_syncs(Finding *finding, const ProbePoint *point, const Race *race, const RaceEnd *second) {
  const Launch *launch = race_launch_of(point, second);
  g_autofree char *first = code_text(launch, race->first.pc), *then = code_text(launch, point->pc);
  RepairEdit before_then = edit_at(launch, point->pc, EDIT_WARP_SYNC_BEFORE, false),
             behind_first = edit_at(launch, race->first.pc, EDIT_WARP_SYNC_BEHIND, false),
             behind_then = edit_at(launch, point->pc, EDIT_WARP_SYNC_BEHIND, false);
  finding_add_repair(finding, &before_then, 1, g_strdup_printf("put __syncwarp() before %s", then));
  if (race->first.pc == point->pc)
    return;
  finding_add_repair(finding, &behind_first, 1, g_strdup_printf("put __syncwarp() behind %s", first));
  finding_add_repair(finding, &behind_then, 1, g_strdup_printf("put __syncwarp() behind %s", then));
}

/* ---- barriers in shared memory ---- */

static const Inst *inst_of(const ProbePoint *point, const RaceEnd *end) {
  return race_is_host(end) ? NULL : &race_launch_of(point, end)->kernel->insts[end->pc];
}

/* It arrives at a barrier, or looks at its phase. */
static bool uses_barrier(const Inst *inst) {
  return inst && op_info[inst->op].unit == UNIT_SHARED &&
         ((op_info[inst->op].flags & OPF_ATOMIC && inst->mode == ATOM_ARRIVE) || (inst->op == OP_LDS && inst->lop));
}

static bool initialises(const Inst *inst) {
  return inst && inst->op == OP_ATOMS && inst->mode == ATOM_EXCH && inst->lop;
}

const RaceEnd *race_initialises(const ProbePoint *point, const Race *race, const RaceEnd *second) {
  const Inst *one = inst_of(point, &race->first), *other = inst_of(point, second);
  if (race->first.write && (initialises(one) || (!uses_barrier(one) && uses_barrier(other))))
    return &race->first;
  return second->write && (initialises(other) || (!uses_barrier(other) && uses_barrier(one))) ? second : NULL;
}

static bool is_same(const Inst *inst, const void *user) { return inst == user; }

/* It may be used before it is initialised, by what races with that. */
static bool initialises_again(const ProbePoint *point, const Race *race, const RaceEnd *second) {
  const RaceEnd *init = race_initialises(point, race, second), *use = init == second ? &race->first : second;
  if (!race_of_one_launch(race, second) || init->pc == use->pc)
    return false;
  const Kernel *kernel = race_launch_of(point, init)->kernel;
  return paths_lead(kernel, is_same, &kernel->insts[use->pc], init->pc);
}

const char *race_initialise_repair(const ProbePoint *point, const Race *race, const RaceEnd *second) {
  if (initialises_again(point, race, second))
    return finding_repair_again;
  if (!race_of_one_block(race, second))
    return "let one thread of each block initialise its barrier, and put cluster.sync() behind that (not "
           "__syncthreads(), which other blocks don't wait at), before any thread of the cluster uses it";
  return "let one thread initialise the barrier, and put __syncthreads() behind that, before any thread uses it";
}

/* One thread initialises it, and all of the block use it: the barrier goes before the use, whichever came first
 * here. */
static void try_before_use(Finding *finding, const ProbePoint *point, const RaceEnd *init, const RaceEnd *use) {
  const Launch *launch = race_launch_of(point, use);
  g_autofree char *first = code_text(launch, init->pc), *then = code_text(launch, use->pc);
  RepairEdit before = edit_at(launch, use->pc, EDIT_BARRIER_BEFORE, false);
  finding_add_repair(finding, &before, 1,
                     g_strdup_printf("put __syncthreads() behind the initialisation of the barrier, %s, before any "
                                     "thread uses it (%s)",
                                     first, then));
}

/* ---- words that get a first value ---- */

static bool is_strong(const Inst *inst, const void *user) {
  (void)user;
  uint32_t flags = op_info[inst->op].flags;
  bool strong = inst->sem != SEM_WEAK || inst->cache == CACHE_CV || inst->cache == CACHE_WT;
  return flags & OPF_ATOMIC || (flags & (OPF_LOAD | OPF_STORE) && strong);
}

bool race_sets_first(const ProbePoint *point, const Race *race, const RaceEnd *second) {
  const RaceEnd *plain = race->first.strong ? second : &race->first;
  if (race_is_host(&race->first) || race_is_host(second) || !race_of_one_launch(race, second) ||
      race->first.strong == second->strong || !race->first.write || !second->write)
    return false;
  return !paths_lead(race_launch_of(point, plain)->kernel, is_strong, NULL, plain->pc);
}

const char *race_first_value_repair(const ProbePoint *point, const Race *race, const RaceEnd *second) {
  if (race->space == SPACE_SHARED && race_launch_of(point, second)->cluster_blocks > 1)
    return "put cluster.sync() behind the store that gives the word its first value, where all threads of the "
           "cluster come by, before any of them uses it";
  if (race_of_one_block(race, second))
    return "put __syncthreads() behind the store that gives the word its first value, where all threads of the block "
           "come by, before any of them uses it";
  return "give the word its first value before the launch (cudaMemset(), or a kernel before this one): other blocks "
         "may use it before the store, and lose what they did";
}

bool race_add_unheeded(Finding *finding, const Launch *launch, uint32_t pc) {
  int32_t attempt = launch->program->dialect == DIALECT_PTX ? unheeded_attempt(launch->kernel, pc) : NO_TARGET;
  if (attempt == NO_TARGET)
    return false;
  g_autofree char *tries = code_text(launch, (uint32_t)attempt), *access = code_text(launch, pc);
  locate_evidence(finding, launch, (uint32_t)attempt,
                  g_strdup_printf("%s may find the lock taken, and %s follows all the same: what the attempt returns "
                                  "doesn't decide that",
                                  tries, access));
  g_free(finding->repair);
  finding->repair = g_strdup_printf("heed what the attempt at the lock, %s, returns: repeat it until the lock was "
                                    "free, or go past %s if it wasn't, and past what gives it back",
                                    tries, access);
  return true;
}

bool race_is_unheeded(Finding *finding, const ProbePoint *point, const Race *race, const RaceEnd *second) {
  if ((race->cause != RACE_UNORDERED && race->cause != RACE_LANES) || race_is_host(&race->first) ||
      race_is_host(second))
    return false;
  bool found = race_add_unheeded(finding, race_launch_of(point, second), second->pc) ||
               race_add_unheeded(finding, race_launch_of(point, &race->first), race->first.pc);
  if (found)
    finding->otherwise = NULL;
  return found;
}

void race_add_doubt(Finding *finding, const ProbePoint *point, const RaceEnd *second) {
  finding_set_doubt(finding, edit_at(race_launch_of(point, second), second->pc, EDIT_NOTHING, false));
}

/* Arrived for the own block only: no fence makes up for that. */
static bool arrives_narrowly(const ProbePoint *point, const Race *race) {
  return race_is_handed(race) && race->cause != RACE_NO_ACQUIRE && race->handed.writer != THREAD_LAUNCH_HOST &&
         inst_arrives(&gpu_launch(point->gpu, race->handed.writer)->kernel->insts[race->handed.from]) &&
         gpu_launch(point->gpu, race->handed.writer)->kernel->insts[race->handed.from].scope == SCOPE_CTA;
}

void race_add_repairs(Finding *finding, const ProbePoint *point, const Race *race, const RaceEnd *second) {
  if (race_is_host(&race->first) || race_is_host(second) ||
      race_launch_of(point, second)->program->dialect != DIALECT_PTX || race->cause == RACE_READ_ONLY ||
      race->cause == RACE_NARROW_TAKE || (arrives_narrowly(point, race) && !race_of_one_block(race, second)))
    return;
  const RaceEnd *init = race_of_one_block(race, second) ? race_initialises(point, race, second) : NULL;
  if (init && race->cause != RACE_NO_SYNC && race->cause != RACE_SCOPES) {
    try_before_use(finding, point, init, init == second ? &race->first : second);
    finding->otherwise = race_initialise_repair(point, race, second);
    return;
  }
  if (race_is_handed(race) && race->handed.writer != THREAD_LAUNCH_HOST) {
    if (race_of_one_block(race, second))
      try_fences(finding, point, race, true);
    try_fences(finding, point, race, false);
    return;
  }
  if (race->cause == RACE_NO_SYNC) {
    const Launch *launch = race_launch_of(point, &race->first);
    g_autofree char *first = code_text(launch, race->first.pc);
    RepairEdit edit = edit_at(launch, race->first.pc, EDIT_WARP_SYNC_BEHIND, false);
    finding_add_repair(
        finding, &edit, 1,
        g_strdup_printf("put __syncwarp() behind %s, before the lane that hands it on comes to its fence", first));
    bool of_block = __builtin_popcount(race->first.lanes) > WARP_LANES / 2; /* not by some lanes of a branch */
    if (of_block && (uint64_t)launch->block[0] * launch->block[1] * launch->block[2] > WARP_LANES)
      finding->otherwise = "put __syncthreads() behind the first access, before the thread that hands it on for its "
                           "block comes to its fence";
    return;
  }
  if (race_is_update(point, race, second) || !race_of_one_block(race, second))
    return;
  if (race->cause == RACE_LANES)
    try_warp_syncs(finding, point, race, second);
  const uint32_t *block = race_launch_of(point, second)->block;
  if (race->cause == RACE_LANES && (uint64_t)block[0] * block[1] * block[2] > WARP_LANES)
    finding->otherwise = "put __syncthreads() between the two, where all threads of the block come by";
  if (race->cause == RACE_LANES || race->cause == RACE_UNORDERED)
    try_barriers(finding, point, race, second);
  if (race->first.strong != second->strong)
    finding->otherwise = race_sets_first(point, race, second) ? race_first_value_repair(point, race, second)
                         : race->first.write && second->write ? race_both_stores_repair
                                                              : race_plain_access_repair;
}
