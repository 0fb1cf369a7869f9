#include "sim/detect/race/lock_step.h"

#include "base/bits.h"
#include "sim/core/look.h"
#include "sim/detect/naming/locate.h"
#include "sim/detect/race/race_reliance.h"
#include "sim/detect/race/race_repair.h"

enum { WORDS_MAX = 1 << 16, WARPS_MAX = 1 << 16, LOADS = 2 };

/* A lane's access to a word. */
typedef struct Deed {
  Access access;
  uint64_t moment;   /* 0: none */
  uint32_t together; /* lanes that executed the instruction */
  uint32_t lane, slot;
  uint32_t value; /* of the word before it */
} Deed;

/* What lanes of the newest warp that has touched a word did to it last. */
typedef struct WordDeeds {
  Deed store;
  Deed load[LOADS]; /* of the newest one: the lowest lane, and the highest; or one that came before */
} WordDeeds;

/* When a warp has last done something that lanes may wait for each other by, and when it has last stored. */
typedef struct WarpDeeds {
  uint64_t tried, stored;
} WarpDeeds;

struct LockSteps {
  const Gpu *gpu;
  RaceWatch *watch;
  GPtrArray *findings;
  GHashTable *words;   /* number of a word -> WordDeeds * */
  GHashTable *warps;   /* actor -> WarpDeeds * */
  GHashTable *told;    /* pair of lines -> Finding * */
  GHashTable *kernels; /* Kernel * -> whether lanes may tell each other something there, as a pointer */
  const Kernel *asked; /* the newest, and what was found */
  bool tells;
  uint64_t moment;
};

/* An access that is told of now. */
typedef struct Now {
  const ProbePoint *point;
  const RaceAccess *access;
  const WarpOrder *warp;
  WarpDeeds *deeds;
} Now;

LockSteps *lock_steps_new(const Gpu *gpu, RaceWatch *watch, GPtrArray *findings) {
  LockSteps *steps = g_new0(LockSteps, 1);
  *steps = (LockSteps){.gpu = gpu,
                       .watch = watch,
                       .findings = findings,
                       .words = g_hash_table_new_full(bits_hash_key, g_int64_equal, g_free, g_free),
                       .kernels = g_hash_table_new(g_direct_hash, g_direct_equal),
                       .warps = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free),
                       .told = g_hash_table_new_full(bits_hash_key, g_int64_equal, g_free, NULL)};
  return steps;
}

void lock_steps_free(LockSteps *steps) {
  if (!steps)
    return;
  g_hash_table_destroy(steps->words);
  g_hash_table_destroy(steps->warps);
  g_hash_table_destroy(steps->kernels);
  g_hash_table_destroy(steps->told);
  g_free(steps);
}

/* ---- kernels ---- */

/* Some instruction loads, and some stores, a word that may be one of shared memory, and is strong. */
static bool find_telling(const Kernel *kernel) {
  bool loads = false, stores = false;
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    const Inst *inst = &kernel->insts[pc];
    uint32_t flags = op_info[inst->op].flags;
    bool counts = inst->sem != SEM_WEAK && !(flags & OPF_ATOMIC) && inst->width == WIDTH_32;
    loads |= counts && flags & OPF_LOAD;
    stores |= counts && flags & OPF_STORE;
  }
  return loads && stores;
}

static bool tells(LockSteps *steps, const Kernel *kernel) {
  if (steps->asked == kernel)
    return steps->tells;
  gpointer known;
  if (!g_hash_table_lookup_extended(steps->kernels, kernel, NULL, &known)) {
    known = GINT_TO_POINTER(find_telling(kernel));
    g_hash_table_insert(steps->kernels, (gpointer)kernel, known);
  }
  steps->asked = kernel;
  steps->tells = GPOINTER_TO_INT(known);
  return steps->tells;
}

/* ---- what is kept ---- */

static WarpDeeds *warp_deeds(LockSteps *steps, const WarpOrder *warp) {
  WarpDeeds *deeds = g_hash_table_lookup(steps->warps, GUINT_TO_POINTER(warp->actor));
  if (deeds || g_hash_table_size(steps->warps) >= WARPS_MAX)
    return deeds;
  deeds = g_new0(WarpDeeds, 1);
  g_hash_table_insert(steps->warps, GUINT_TO_POINTER(warp->actor), deeds);
  return deeds;
}

static uint32_t word_of(const Now *now, unsigned lane) { return (uint32_t)now->access->address[lane] / 4; }

static uint64_t key_of(const Now *now, unsigned lane) {
  return (uint64_t)now->point->sm->index << 32 | word_of(now, lane);
}

static WordDeeds *word_deeds(LockSteps *steps, const Now *now, unsigned lane) {
  uint64_t key = key_of(now, lane);
  WordDeeds *deeds = g_hash_table_lookup(steps->words, &key);
  if (deeds || g_hash_table_size(steps->words) >= WORDS_MAX)
    return deeds;
  deeds = g_new0(WordDeeds, 1);
  g_hash_table_insert(steps->words, g_memdup2(&key, sizeof key), deeds);
  return deeds;
}

static Deed deed_of(const LockSteps *steps, const Now *now, unsigned lane) {
  const ProbePoint *point = now->point;
  return (Deed){.access = {.cycle = point->cycle,
                           .actor = now->warp->actor,
                           .time = now->warp->time,
                           .lanes = 1u << lane,
                           .pc = point->pc,
                           .bytes = CELL_BYTES,
                           .write = now->access->kind == ACCESS_WRITE},
                .moment = steps->moment,
                .together = point->lanes,
                .lane = lane,
                .slot = point->warp->slot,
                .value = look_shared(point->sm, word_of(now, lane))};
}

/* Only that both lanes executed both instructions, in that order, has `earlier` come first. */
static bool is_in_step(const LockSteps *steps, const Now *now, unsigned lane, const Deed *earlier) {
  return earlier->moment > now->deeds->tried && earlier->access.actor == now->warp->actor && earlier->lane != lane &&
         earlier->together >> lane & 1 && now->point->lanes >> earlier->lane & 1 &&
         !order_is_before(&steps->watch->order, now->warp, 1u << lane, &earlier->access, false);
}

/* ---- what is said ---- */

static RepairEdit sync_before(const Launch *launch, uint32_t pc) {
  return (RepairEdit){.kind = EDIT_WARP_SYNC_BEFORE, .kernel = g_intern_string(launch->kernel->name), .pc = pc};
}

/* Both lanes load the word, and store it: `x++` by several lanes. */
static bool is_update(const Now *now, uint32_t lanes, const Deed *load) {
  unsigned lane = (unsigned)__builtin_ctz(lanes);
  return now->access->kind == ACCESS_WRITE && word_of(now, lane) == word_of(now, load->lane) &&
         race_loads_for_update(now->point->block->launch->kernel, load->access.pc);
}

static void add_repairs(Finding *finding, const Launch *launch, uint32_t first, uint32_t then, bool reads) {
  g_autofree char *source = locate_source(launch, then), *line = locate_line_text(launch, then);
  RepairEdit edits[] = {sync_before(launch, then), sync_before(launch, first)};
  if (reads)
    finding_add_repair(finding, edits, 1, g_strdup_printf("put __syncwarp() before `%s` in %s", source, line));
  else
    finding_add_repair(
        finding, edits, 1,
        g_strdup_printf("put __syncwarp() between the loads and the store of `%s` in %s", source, line));
  finding_add_repair(finding, edits, 2,
                     g_strdup_printf("put __syncwarp() before the loads of `%s` in %s, and another one between these "
                                     "and its store",
                                     source, line));
  finding->repair = g_strdup("put __syncwarp() between the two");
}

static void add_end(Finding *finding, const Launch *launch, uint32_t pc, const char *when, const char *who,
                    const char *did, uint64_t cycle) {
  g_autofree char *source = locate_source(launch, pc);
  locate_evidence(finding, launch, pc,
                  g_strdup_printf("%s: %s %s in cycle %" G_GUINT64_FORMAT " (`%s`)", when, who, did, cycle, source));
}

/* `lanes` of the access come behind what `others` did. */
static Finding *make_finding(LockSteps *steps, const Now *now, uint32_t lanes, const Deed *earlier, uint32_t others) {
  const ProbePoint *point = now->point;
  const Launch *launch = point->block->launch;
  ThreadId base = now->warp->base;
  uint32_t warp = thread_warp(base);
  bool reads = now->access->kind == ACCESS_READ;
  uint32_t address = (uint32_t)now->access->address[__builtin_ctz(lanes)];
  g_autofree char *who = locate_lanes_text(steps->gpu, launch, base.block, warp, lanes),
                  *other = locate_lanes_text(steps->gpu, launch, base.block, warp, others),
                  *where = locate_shared_text(point->block, address);
  bool several = lanes & (lanes - 1);
  Finding *finding =
      locate_finding(FINDING_UNORDERED_ACCESS,
                     g_strdup_printf("%s: %s %s%s, which %s %s; only lock-step orders the two, and lanes of a warp "
                                     "don't run in lock-step on this machine",
                                     who, reads ? (several ? "read" : "reads") : (several ? "write" : "writes"),
                                     where, several ? " and so on" : "", other, reads ? "wrote" : "read"),
                     launch, point->pc);
  add_end(finding, launch, earlier->access.pc, "first", other, reads ? "wrote" : "read", earlier->access.cycle);
  add_end(finding, launch, point->pc, "then", who, reads ? "read" : "wrote", point->cycle);
  finding_add_evidence(
      finding, 0,
      g_strdup("nothing orders them: no __syncwarp(), no barrier; volatile keeps a lane's own accesses "
               "in place, and doesn't make it wait for other lanes"));
  if (is_update(now, lanes, earlier))
    finding->repair =
        g_strdup("make it one atomic operation (atomicAdd() instead of ++ or +=), or let one lane do it, "
                 "if the warp is to make one change");
  else
    add_repairs(finding, launch, earlier->access.pc, point->pc, reads);
  finding->cycle = point->cycle;
  finding->block = (int64_t)base.block;
  finding->warp = warp;
  finding->lanes = lanes;
  finding->space = g_strdup("shared");
  finding->address = address;
  g_ptr_array_add(steps->findings, finding);
  return finding;
}

static void tell(LockSteps *steps, const Now *now, uint32_t lanes, const Deed *earlier, uint32_t others,
                 const OlderLanes *older) {
  const Launch *launch = now->point->block->launch;
  uint64_t first = locate_key(launch, earlier->access.pc), then = locate_key(launch, now->point->pc);
  uint64_t key = bits_mix(bits_mix(1, MIN(first, then)), MAX(first, then));
  Finding *finding = g_hash_table_lookup(steps->told, &key);
  if (finding) {
    finding->count++;
  } else {
    finding = make_finding(steps, now, lanes, earlier, others);
    g_hash_table_insert(steps->told, g_memdup2(&key, sizeof key), finding);
  }
  finding_add_older_lanes(finding, older);
}

/* ---- accesses ---- */

/* Lanes that load what others have stored by one instruction: in the other order they find what was there before. */
static void look_at_load(LockSteps *steps, const Now *now) {
  const ProbePoint *point = now->point;
  OlderLanes older = {.cycle = point->cycle, .sm = point->sm->index, .warp = point->warp->slot, .pc = point->pc};
  const Deed *store = NULL;
  uint32_t others = 0;
  for (uint32_t rest = point->lanes; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    WordDeeds *word = word_deeds(steps, now, lane);
    if (!word)
      continue;
    Deed deed = deed_of(steps, now, lane);
    if (is_in_step(steps, now, lane, &word->store) && word->store.value != deed.value &&
        (!store || store->access.pc == word->store.access.pc)) {
      store = &word->store;
      others |= 1u << store->lane;
      older.lanes |= 1u << lane;
      older.value[lane] = store->value;
    }
    if (word->load[0].moment == steps->moment) {
      word->load[1] = deed;
      continue;
    }
    word->load[1] = word->load[0];
    word->load[0] = deed;
  }
  if (store)
    tell(steps, now, older.lanes, store, others, &older);
}

static uint32_t stored_by(const Now *now, unsigned lane) {
  const Warp *warp = now->point->warp;
  return warp_operand(warp->regs, warp->consts, now->point->inst->b)[lane];
}

/* A lane's load, with nothing stored by its warp since, that others store over: in the other order that lane finds
 * the new value. The lowest lane that has one; *over: who stores. */
static const Deed *find_overwritten(LockSteps *steps, const Now *now, unsigned *over) {
  const Deed *found = NULL;
  for (uint32_t rest = now->point->lanes; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    const WordDeeds *word = word_deeds(steps, now, lane);
    for (unsigned i = 0; word && i < LOADS; i++) {
      const Deed *load = &word->load[i];
      if ((found && load->lane >= found->lane) || !is_in_step(steps, now, lane, load) ||
          load->moment < now->deeds->stored || load->value == stored_by(now, lane))
        continue;
      found = load;
      *over = lane;
    }
  }
  return found;
}

static void note_stores(LockSteps *steps, const Now *now) {
  for (uint32_t rest = now->point->lanes; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    WordDeeds *word = word_deeds(steps, now, lane);
    if (!word)
      continue;
    Deed deed = deed_of(steps, now, lane);
    const Access *before = &word->store.access;
    bool twice = before->actor == deed.access.actor && before->pc == deed.access.pc &&
                 before->cycle == deed.access.cycle; /* which of the lanes' values stays isn't known */
    deed.moment = twice ? 0 : deed.moment;
    *word = (WordDeeds){.store = deed};
  }
  now->deeds->stored = steps->moment;
}

static void look_at_store(LockSteps *steps, const Now *now) {
  unsigned lane = 0;
  const Deed *load = find_overwritten(steps, now, &lane);
  if (load) {
    OlderLanes older = {.cycle = load->access.cycle,
                        .sm = now->point->sm->index,
                        .warp = load->slot,
                        .pc = load->access.pc,
                        .lanes = 1u << load->lane};
    older.value[load->lane] = stored_by(now, lane);
    tell(steps, now, 1u << lane, load, 1u << load->lane, &older);
  }
  note_stores(steps, now);
}

/* What isn't strong is a race; what isn't a word isn't looked at. */
static void forget(LockSteps *steps, const Now *now) {
  for (uint32_t rest = now->access->kind == ACCESS_READ ? 0 : now->point->lanes; rest; rest &= rest - 1) {
    uint64_t key = key_of(now, (unsigned)__builtin_ctz(rest));
    g_hash_table_remove(steps->words, &key);
  }
}

void lock_steps_access(LockSteps *steps, const ProbePoint *point, const RaceAccess *access, const WarpOrder *warp) {
  const Launch *launch = point->block->launch;
  /* Older PTX keeps lanes in lock-step. */
  bool apart = launch->program->dialect == DIALECT_PTX && launch->program->target_sm >= 70;
  Now now = {point, access, warp, apart && tells(steps, launch->kernel) ? warp_deeds(steps, warp) : NULL};
  if (!now.deeds)
    return;
  bool waits = race_reliance_waits(steps->watch, launch->kernel, point->pc);
  steps->moment++;
  if (access->kind == ACCESS_ATOMIC || waits)
    now.deeds->tried = steps->moment;
  if (access->space != SPACE_SHARED)
    return;
  if (access->kind == ACCESS_ATOMIC || point->inst->sem == SEM_WEAK || access->bytes != 4)
    forget(steps, &now);
  else if (access->kind == ACCESS_READ && !waits)
    look_at_load(steps, &now);
  else if (access->kind == ACCESS_WRITE)
    look_at_store(steps, &now);
}
