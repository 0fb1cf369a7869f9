#include "sim/detect/race/lost_update.h"

#include "base/bits.h"
#include "sim/core/look.h"
#include "sim/detect/naming/locate.h"
#include "sim/detect/race/race_repair.h"
#include "sim/detect/race/updates.h"

enum { WORDS_MAX = 65536, ROWS_MAX = 2 };

/* Of a kernel. */
typedef struct KernelUpdates {
  GArray *all;          /* Update */
  bool *loads, *stores; /* of each instruction: whether it is one of an update; NULL: there are none */
} KernelUpdates;

/* What a lane did to a word. */
typedef struct Deed {
  ThreadId thread;
  Access access;
} Deed;

/* A lane's load that waits for its store. */
typedef struct Pending {
  Deed load;
  uint32_t value[ROWS_MAX];
  bool overtaken;
  Deed by; /* the newest store of another thread since */
} Pending;

struct LostUpdates {
  const Gpu *gpu;
  const RaceOrder *order;
  GPtrArray *findings;
  GHashTable *kernels; /* Kernel * -> KernelUpdates * */
  GHashTable *words;   /* number of a word -> GArray * of Pending */
  GHashTable *told;    /* file and line of a store -> its Finding * */
  LostExtremes *extremes;
  bool wanted;
};

static void free_kernel(gpointer data) {
  KernelUpdates *updates = data;
  g_array_free(updates->all, TRUE);
  g_free(updates->loads);
  g_free(updates->stores);
  g_free(updates);
}

LostUpdates *lost_updates_new(const Gpu *gpu, const RaceOrder *order, GPtrArray *findings) {
  LostUpdates *updates = g_new0(LostUpdates, 1);
  *updates = (LostUpdates){
      .gpu = gpu,
      .order = order,
      .findings = findings,
      .kernels = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, free_kernel),
      .words = g_hash_table_new_full(bits_hash_key, g_int64_equal, g_free, (GDestroyNotify)g_array_unref),
      .told = g_hash_table_new_full(bits_hash_key, g_int64_equal, g_free, NULL)};
  updates->extremes = lost_extremes_new(gpu, findings);
  return updates;
}

void lost_updates_free(LostUpdates *updates) {
  if (!updates)
    return;
  lost_extremes_free(updates->extremes);
  g_hash_table_destroy(updates->kernels);
  g_hash_table_destroy(updates->words);
  g_hash_table_destroy(updates->told);
  g_free(updates);
}

/* ---- kernels ---- */

static const KernelUpdates *updates_of(LostUpdates *updates, const Kernel *kernel) {
  KernelUpdates *known = g_hash_table_lookup(updates->kernels, kernel);
  if (known)
    return known;
  known = g_new0(KernelUpdates, 1);
  known->all = updates_find(kernel);
  if (known->all->len) {
    known->loads = g_new0(bool, kernel->ninsts);
    known->stores = g_new0(bool, kernel->ninsts);
  }
  for (guint i = 0; i < known->all->len; i++) {
    const Update *update = &g_array_index(known->all, Update, i);
    known->loads[update->load] = known->stores[update->store] = true;
  }
  g_hash_table_insert(updates->kernels, (gpointer)kernel, known);
  return known;
}

/* PTX says what is volatile. */
void lost_updates_begin(LostUpdates *updates, const Launch *launch) {
  if (launch->program->dialect == DIALECT_PTX)
    updates->wanted |= updates_of(updates, launch->kernel)->all->len > 0;
}

bool lost_updates_wants(const LostUpdates *updates) { return updates->wanted; }

/* ---- words ---- */

static uint64_t number_of(const UpdateAccess *access, unsigned lane) {
  uint64_t word = access->address[lane] / 4;
  return access->space == SPACE_GLOBAL ? word : UINT64_C(1) << 62 | (uint64_t)access->point->sm->index << 32 | word;
}

static uint32_t word_now(const LostUpdates *updates, const UpdateAccess *access, unsigned lane, uint32_t row) {
  uint64_t address = access->address[lane] + 4 * (uint64_t)row;
  return access->space == SPACE_GLOBAL ? look_global(updates->gpu, address)
                                       : look_shared(access->point->sm, (uint32_t)address / 4);
}

static ThreadId changed_by(const LostUpdates *updates, const UpdateAccess *access, unsigned lane, uint32_t row) {
  uint64_t address = access->address[lane] + 4 * (uint64_t)row;
  return access->space == SPACE_GLOBAL ? look_global_change(updates->gpu, address).thread
                                       : look_shared_change(access->point->sm, (uint32_t)address / 4).thread;
}

static Deed deed_of(const UpdateAccess *access, unsigned lane) {
  return (Deed){.thread = thread_plus(access->warp->base, lane),
                .access = {.cycle = access->point->cycle,
                           .actor = access->warp->actor,
                           .time = access->warp->time,
                           .lanes = 1u << lane,
                           .pc = access->point->pc,
                           .bytes = CELL_BYTES,
                           .write = access->kind != ACCESS_READ}};
}

/* ---- loads ---- */

static void note_load(LostUpdates *updates, const UpdateAccess *access, unsigned lane) {
  uint64_t word = number_of(access, lane);
  GArray *all = g_hash_table_lookup(updates->words, &word);
  if (!all && g_hash_table_size(updates->words) >= WORDS_MAX)
    return;
  if (!all) {
    all = g_array_new(FALSE, FALSE, sizeof(Pending));
    g_hash_table_insert(updates->words, g_memdup2(&word, sizeof word), all);
  }
  Pending new = {.load = deed_of(access, lane)};
  for (uint32_t row = 0; row < access->bytes / 4; row++)
    new.value[row] = word_now(updates, access, lane, row);
  for (guint i = all->len; i-- > 0;)
    if (thread_equal(g_array_index(all, Pending, i).load.thread, new.load.thread))
      g_array_remove_index_fast(all, i);
  g_array_append_val(all, new);
}

/* ---- stores of others ---- */

static void note_store(LostUpdates *updates, const UpdateAccess *access, unsigned lane) {
  uint64_t word = number_of(access, lane);
  GArray *all = g_hash_table_lookup(updates->words, &word);
  bool strong = access->kind == ACCESS_ATOMIC || access->point->inst->sem != SEM_WEAK;
  for (guint i = all ? all->len : 0; i-- > 0;) {
    Pending *pending = &g_array_index(all, Pending, i);
    if (access->warp && pending->load.access.actor == access->warp->actor)
      continue;
    if (!access->warp || !strong || thread_is_host(access->warp->base) ||
        order_is_before(updates->order, access->warp, 1u << lane, &pending->load.access, true)) {
      g_array_remove_index_fast(all, i);
      continue;
    }
    pending->overtaken = true;
    pending->by = deed_of(access, lane);
  }
}

/* ---- the store ---- */

/* `value`: of the word, before or after; it is taken. */
static void add_deed(const LostUpdates *updates, Finding *finding, const Deed *deed, const char *what, char *value) {
  const Launch *launch = gpu_launch(updates->gpu, deed->thread.launch);
  g_autofree char *source = locate_source(launch, deed->access.pc), *taken = value;
  locate_evidence(
      finding, launch, deed->access.pc,
      g_strdup_printf("%s %s in cycle %" G_GUINT64_FORMAT " (`%s`)", what, taken, deed->access.cycle, source));
}

static const char *repair_of(UpdateKind kind) {
  static const char *const repairs[] = {
      [UPDATE_ADDS] = "make it one atomic operation (atomicAdd() instead of ++ or +=), or hold one lock around it",
      [UPDATE_FLIPS] = "make it one atomic operation (atomicXor()), or hold one lock around it",
      [UPDATE_SETS] = "make it one atomic operation (atomicOr()), or hold one lock around it",
      [UPDATE_CLEARS] = "make it one atomic operation (atomicAnd()), or hold one lock around it",
      [UPDATE_MIXES] = "make it a loop with one atomicCAS(), or hold one lock around it",
      [UPDATE_SCALES] = "make it a loop with one atomicCAS(), or hold one lock around it",
      [UPDATE_RAISES] = "make it one atomic operation (atomicMax()), or hold one lock around it",
      [UPDATE_LOWERS] = "make it one atomic operation (atomicMin()), or hold one lock around it"};
  return repairs[kind];
}

/* All updates of the store's line, as in an unrolled loop; none, if some can't be written so. */
static void add_atomics(LostUpdates *updates, Finding *finding, const Launch *launch, uint32_t store) {
  const GArray *all = updates_of(updates, launch->kernel)->all;
  g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(AtomicUpdate));
  for (guint i = 0; i < all->len; i++) {
    const Update *update = &g_array_index(all, Update, i);
    AtomicUpdate atomic;
    if (!locate_is_alike(launch, store, update->store))
      continue;
    if (!updates_as_atomic(launch->kernel, update, &atomic))
      return;
    g_array_append_val(found, atomic);
  }
  for (guint i = 0; i < found->len; i++)
    finding_add_atomic(finding, launch->kernel->name, &g_array_index(found, AtomicUpdate, i));
}

static char *place_text(const UpdateAccess *access, const LostUpdates *updates, unsigned lane) {
  if (access->space == SPACE_GLOBAL)
    return locate_global_text(updates->gpu, access->address[lane]);
  return locate_shared_text(access->point->block, (uint32_t)access->address[lane]);
}

/* What is said of it. */
static char *loss_text(const Update *update, const char *who, const char *where, const char *other) {
  if (!update_is_extreme(update))
    return g_strdup_printf(
        "%s: loads %s, and stores there what it has made of that: what %s has stored between the two "
        "is lost",
        who, where, other);
  bool raises = update->kind == UPDATE_RAISES;
  return g_strdup_printf(
      "%s: loads %s, and stores there the %s of that and another value: what %s has stored between "
      "the two is %s than both, and lost",
      who, where, raises ? "greater" : "smaller", other, raises ? "greater" : "smaller");
}

/* As of the store, before it has its effect. */
static Finding *new_finding(LostUpdates *updates, const UpdateAccess *access, unsigned lane, const Pending *pending,
                            const Update *update, const UpdateValues *values) {
  const Launch *launch = gpu_launch(updates->gpu, access->warp->base.launch);
  Deed store = deed_of(access, lane);
  uint32_t rows = access->bytes / 4;
  g_autofree char *who = locate_thread_text(updates->gpu, store.thread),
                  *other = locate_thread_text(updates->gpu, pending->by.thread),
                  *where = place_text(access, updates, lane), *stores = g_strdup_printf("then: %s stored", other);
  Finding *finding =
      locate_finding(FINDING_LOST_UPDATE, loss_text(update, who, where, other), launch, access->point->pc);
  add_deed(updates, finding, &pending->load, "first: it loaded", lost_extremes_text(values->loaded, rows, update));
  add_deed(updates, finding, &pending->by, stores, lost_extremes_text(values->now, rows, update));
  add_deed(updates, finding, &store, "last: it stored", lost_extremes_text(values->stored, rows, update));
  if (!race_add_unheeded(finding, launch, access->point->pc)) {
    finding->repair = g_strdup(repair_of(update->kind));
    add_atomics(updates, finding, launch, access->point->pc);
  }
  finding->unless_right = update_is_extreme(update);
  finding->cycle = access->point->cycle;
  finding->block = (int64_t)store.thread.block;
  finding->warp = thread_warp(store.thread);
  finding->lanes = 1u << lane;
  finding->space = g_strdup(access->space == SPACE_GLOBAL ? "global" : "shared");
  finding->address = access->address[lane];
  return finding;
}

/* Of a maximum or minimum only if it stays lost. */
static void tell(LostUpdates *updates, const UpdateAccess *access, unsigned lane, const Pending *pending,
                 const Update *update, const UpdateValues *values) {
  uint64_t key = locate_key(gpu_launch(updates->gpu, access->warp->base.launch), access->point->pc);
  Finding *finding = g_hash_table_lookup(updates->told, &key);
  if (finding) {
    finding->count++;
    return;
  }
  finding = new_finding(updates, access, lane, pending, update, values);
  if (update_is_extreme(update)) {
    LostExtreme lost = {.update = *update,
                        .space = access->space,
                        .address = access->address[lane],
                        .rows = access->bytes / 4,
                        .key = key,
                        .finding = finding};
    if (access->space == SPACE_SHARED) {
      lost.sm = access->point->sm;
      lost.block_slot = access->point->block->slot;
    }
    for (uint32_t row = 0; row < lost.rows; row++)
      lost.value[row] = values->now[row];
    lost_extremes_add(updates->extremes, &lost);
    return;
  }
  g_ptr_array_add(updates->findings, finding);
  g_hash_table_insert(updates->told, g_memdup2(&key, sizeof key), finding);
}

/* Tells it if the store of that update loses what another one has stored. */
static void compare(LostUpdates *updates, const UpdateAccess *access, unsigned lane, const Pending *pending,
                    const Update *update) {
  uint32_t rows = access->bytes / 4, now[ROWS_MAX] = {0}, stored[ROWS_MAX] = {0};
  for (uint32_t row = 0; row < rows; row++) {
    now[row] = word_now(updates, access, lane, row);
    stored[row] = access->data[row][lane];
  }
  UpdateValues values = {pending->value, now, stored};
  bool loses = false;
  for (uint32_t row = 0; row < rows; row++)
    loses |= !updates_keeps(update, &values, row) &&
             thread_equal(changed_by(updates, access, lane, row), pending->by.thread);
  if (loses && pending->overtaken &&
      !order_is_before(updates->order, access->warp, 1u << lane, &pending->by.access, true))
    tell(updates, access, lane, pending, update, &values);
}

static void end_update(LostUpdates *updates, const KernelUpdates *kernel, const UpdateAccess *access, unsigned lane) {
  uint64_t word = number_of(access, lane);
  ThreadId thread = thread_plus(access->warp->base, lane);
  GArray *all = g_hash_table_lookup(updates->words, &word);
  for (guint i = all ? all->len : 0; i-- > 0;) {
    Pending pending = g_array_index(all, Pending, i);
    if (!thread_equal(pending.load.thread, thread))
      continue;
    g_array_remove_index_fast(all, i);
    for (guint k = 0; k < kernel->all->len; k++) {
      const Update *update = &g_array_index(kernel->all, Update, k);
      if (update->load == pending.load.access.pc && update->store == access->point->pc)
        compare(updates, access, lane, &pending, update);
    }
  }
  if (all && !all->len)
    g_hash_table_remove(updates->words, &word);
}

/* Some update of a maximum or minimum ends with that store. */
static bool is_extreme_store(const KernelUpdates *kernel, uint32_t store) {
  for (guint i = 0; i < kernel->all->len; i++) {
    const Update *update = &g_array_index(kernel->all, Update, i);
    if (update->store == store && update_is_extreme(update))
      return true;
  }
  return false;
}

void lost_updates_access(LostUpdates *updates, const UpdateAccess *access) {
  bool known = access->warp && !thread_is_host(access->warp->base);
  const Launch *launch = known ? gpu_launch(updates->gpu, access->warp->base.launch) : NULL;
  const KernelUpdates *kernel =
      known && launch->program->dialect == DIALECT_PTX ? updates_of(updates, launch->kernel) : NULL;
  uint32_t pc = access->point->pc;
  bool loads = kernel && kernel->loads && kernel->loads[pc] && access->kind == ACCESS_READ;
  bool ends = kernel && kernel->stores && kernel->stores[pc] && access->kind == ACCESS_WRITE;
  if (access->kind != ACCESS_READ)
    lost_extremes_access(updates->extremes, access, ends && is_extreme_store(kernel, pc));
  for (uint32_t rest = access->point->lanes; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    if (loads)
      note_load(updates, access, lane);
    else if (ends)
      end_update(updates, kernel, access, lane);
  }
  for (uint32_t rest = access->kind == ACCESS_READ ? 0 : access->point->lanes; rest; rest &= rest - 1)
    note_store(updates, access, (unsigned)__builtin_ctz(rest));
}

void lost_updates_end(LostUpdates *updates, const ProbePoint *point) { lost_extremes_end(updates->extremes, point); }

void lost_updates_finish(LostUpdates *updates) { lost_extremes_finish(updates->extremes); }
