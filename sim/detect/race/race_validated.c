#include "sim/detect/race/race_validated.h"

#include <string.h>

#include "base/bits.h"
#include "sim/detect/naming/locate.h"
#include "sim/detect/race/validates.h"

enum { LOADS_MAX = 8, VOUCHED_MAX = 8, CASES_MAX = 8, WORDS_MAX = 65536 };

/* Of a kernel: what validates, and for each of these instructions what it vouches for. */
typedef struct Looks {
  bool *validates; /* NULL: nothing */
  GHashTable *of;  /* pc -> bool * */
} Looks;

/* A strong load, or a store to a number. */
typedef struct Done {
  Access access;
  ThreadId base;
  uint64_t word, moment; /* which of all accesses to numbers and words it is */
  uint32_t fences[SCOPES];
  bool orders; /* an acquire or a release itself */
  bool atomic; /* an atomic operation */
} Done;

typedef struct WarpLoads {
  Done load[LOADS_MAX]; /* the newest first */
  unsigned count;
} WarpLoads;

/* A load that a later look vouches for. */
typedef struct Vouched {
  Done load, look;
} Vouched;

/* It might have found what `store` left, and the look not what `change` did. */
typedef struct Torn {
  Vouched read;
  Done change, store;
  bool reader_lacks, writer_lacks; /* a fence */
} Torn;

struct RaceValidated {
  GHashTable *kernels; /* Kernel * -> Looks * */
  GHashTable *loads;   /* actor -> WarpLoads * */
  GHashTable *vouched; /* word -> GArray of Vouched */
  GHashTable *numbers; /* words that are looked at again */
  GHashTable *changes; /* actor and word of a number -> Done * */
  GArray *torn;        /* Torn */
  uint64_t moment;
};

static void free_looks(gpointer data) {
  Looks *looks = data;
  g_free(looks->validates);
  g_hash_table_destroy(looks->of);
  g_free(looks);
}

static void free_array(gpointer array) { g_array_free(array, TRUE); }

RaceValidated *race_validated_new(void) {
  RaceValidated *validated = g_new0(RaceValidated, 1);
  validated->kernels = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, free_looks);
  validated->loads = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);
  validated->vouched = g_hash_table_new_full(bits_hash_key, g_int64_equal, g_free, free_array);
  validated->numbers = g_hash_table_new_full(bits_hash_key, g_int64_equal, g_free, NULL);
  validated->changes = g_hash_table_new_full(bits_hash_key, g_int64_equal, g_free, g_free);
  validated->torn = g_array_new(FALSE, FALSE, sizeof(Torn));
  return validated;
}

void race_validated_free(RaceValidated *validated) {
  g_hash_table_destroy(validated->kernels);
  g_hash_table_destroy(validated->loads);
  g_hash_table_destroy(validated->vouched);
  g_hash_table_destroy(validated->numbers);
  g_hash_table_destroy(validated->changes);
  g_array_free(validated->torn, TRUE);
  g_free(validated);
}

/* ---- kernels ---- */

static Looks *looks_of(RaceValidated *validated, const Kernel *kernel) {
  Looks *looks = g_hash_table_lookup(validated->kernels, kernel);
  if (looks)
    return looks;
  looks = g_new0(Looks, 1);
  looks->validates = validates_find(kernel);
  looks->of = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);
  g_hash_table_insert(validated->kernels, (gpointer)kernel, looks);
  return looks;
}

static const bool *vouched_by(Looks *looks, const Kernel *kernel, uint32_t pc) {
  bool *loads = g_hash_table_lookup(looks->of, GUINT_TO_POINTER(pc));
  if (loads)
    return loads;
  loads = g_new0(bool, kernel->ninsts);
  validates_mark(kernel, pc, loads);
  g_hash_table_insert(looks->of, GUINT_TO_POINTER(pc), loads);
  return loads;
}

/* ---- accesses ---- */

static bool acquires(const Inst *inst) {
  return inst->sem == SEM_ACQUIRE || inst->sem == SEM_ACQ_REL || inst->sem == SEM_SC;
}

static Done done_now(Step *step, const Group *group) {
  bool write = step->access->kind != ACCESS_READ;
  const Inst *inst = step->point->inst;
  Done done = {.access = race_words_access(step, group->lanes, group->bytes, write),
               .base = step->warp->base,
               .word = group->word,
               .moment = ++step->watch->validated->moment,
               .orders = write ? order_releases(inst) : acquires(inst),
               .atomic = step->access->kind == ACCESS_ATOMIC};
  for (unsigned i = 0; i < SCOPES; i++)
    done.fences[i] = step->warp->fence_count[i];
  return done;
}

static gint64 change_key(uint32_t actor, uint64_t word) { return (gint64)(rng_mix(actor + UINT64_C(1)) ^ word); }

static void note_load(RaceValidated *validated, const Done *load) {
  gpointer actor = GUINT_TO_POINTER(load->access.actor);
  WarpLoads *loads = g_hash_table_lookup(validated->loads, actor);
  if (!loads) {
    loads = g_new0(WarpLoads, 1);
    g_hash_table_insert(validated->loads, actor, loads);
  }
  loads->count = MIN(loads->count + 1, LOADS_MAX);
  memmove(loads->load + 1, loads->load, (loads->count - 1) * sizeof *loads->load);
  loads->load[0] = *load;
}

static void vouch(RaceValidated *validated, const Done *load, const Done *look) {
  gint64 key = (gint64)load->word;
  GArray *all = g_hash_table_lookup(validated->vouched, &key);
  if (!all && g_hash_table_size(validated->vouched) >= WORDS_MAX)
    return;
  if (!all) {
    all = g_array_new(FALSE, FALSE, sizeof(Vouched));
    g_hash_table_insert(validated->vouched, g_memdup2(&key, sizeof key), all);
  }
  if (all->len == VOUCHED_MAX)
    g_array_remove_index(all, 0);
  Vouched vouched = {*load, *look};
  g_array_append_val(all, vouched);
}

/* Of each load of its round: the newest of that instruction. */
static void look_again(RaceValidated *validated, Looks *looks, const Kernel *kernel, const Done *look) {
  const bool *vouched = vouched_by(looks, kernel, look->access.pc);
  const WarpLoads *loads = g_hash_table_lookup(validated->loads, GUINT_TO_POINTER(look->access.actor));
  gint64 key = (gint64)look->word;
  g_hash_table_add(validated->numbers, g_memdup2(&key, sizeof key));
  for (unsigned i = 0; loads && i < loads->count; i++) {
    const Done *load = &loads->load[i];
    if (load->access.pc == look->access.pc) /* of the round before */
      return;
    if (vouched[load->access.pc] && load->access.lanes & look->access.lanes && load->word != look->word)
      vouch(validated, load, look);
  }
}

/* One for each look and change: whichever load and store show it. */
static bool is_same(const Torn *one, const Torn *other) {
  return one->read.look.access.pc == other->read.look.access.pc && one->change.access.pc == other->change.access.pc &&
         one->read.look.base.launch == other->read.look.base.launch &&
         one->change.base.launch == other->change.base.launch;
}

static void add_torn(GArray *all, const Torn *torn) {
  for (guint i = 0; i < all->len; i++)
    if (is_same(&g_array_index(all, Torn, i), torn))
      return;
  if (all->len < CASES_MAX)
    g_array_append_val(all, *torn);
}

static void store_word(Step *step, const Group *group, const Done *store) {
  RaceValidated *validated = step->watch->validated;
  gint64 key = (gint64)group->word;
  const GArray *all = g_hash_table_lookup(validated->vouched, &key);
  for (guint i = 0; all && i < all->len; i++) {
    const Vouched *read = &g_array_index(all, Vouched, i);
    gint64 number = change_key(store->access.actor, read->look.word);
    const Done *change = g_hash_table_lookup(validated->changes, &number);
    if (!change || change->moment < read->look.moment || read->load.access.actor == store->access.actor ||
        !(read->load.access.bytes & group->bytes))
      continue;
    Nearness near = order_nearness(&step->watch->order, step->warp, &read->load.access);
    Question question = {step, group->lanes};
    AccessOrder order = race_words_order(step, &question);
    Torn torn = {.read = *read, .change = *change, .store = *store};
    torn.reader_lacks = !read->load.orders && read->load.fences[near] == read->look.fences[near];
    torn.writer_lacks = !store->orders && !change->atomic && change->fences[near] == store->fences[near];
    if ((torn.reader_lacks || torn.writer_lacks) && !order.before(order.user, &read->load.access))
      add_torn(validated->torn, &torn);
  }
}

static bool is_watched(const Step *step) {
  return step->access->space == SPACE_GLOBAL && step->strong && step->warp->fences &&
         !thread_is_host(step->warp->base);
}

static void note_change(Step *step, const Group *group) {
  RaceValidated *validated = step->watch->validated;
  Done change = done_now(step, group);
  gint64 key = change_key(change.access.actor, group->word);
  g_hash_table_insert(validated->changes, g_memdup2(&key, sizeof key), g_memdup2(&change, sizeof change));
}

static bool is_number(const RaceValidated *validated, const Group *group) {
  gint64 key = (gint64)group->word;
  return g_hash_table_contains(validated->numbers, &key);
}

void race_validated_issued(Step *step, const Group *group) {
  RaceValidated *validated = step->watch->validated;
  if (!g_hash_table_size(validated->numbers) || step->access->kind != ACCESS_WRITE || !is_watched(step))
    return;
  if (is_number(validated, group)) {
    note_change(step, group);
    return;
  }
  Done store = done_now(step, group);
  store_word(step, group, &store);
}

void race_validated_performed(Step *step, const Group *group) {
  RaceValidated *validated = step->watch->validated;
  if (step->access->kind == ACCESS_WRITE || !is_watched(step))
    return;
  if (step->access->kind == ACCESS_ATOMIC) {
    if (is_number(validated, group) && race_words_writes(step, group))
      note_change(step, group);
    return;
  }
  const Kernel *kernel = gpu_launch(step->point->gpu, step->warp->base.launch)->kernel;
  Looks *looks = looks_of(validated, kernel);
  if (!looks->validates)
    return;
  Done load = done_now(step, group);
  if (looks->validates[step->point->pc])
    look_again(validated, looks, kernel, &load);
  note_load(validated, &load);
}

/* ---- what is said ---- */

static char *who_text(const Gpu *gpu, const Done *done) {
  return locate_lanes_text(gpu, gpu_launch(gpu, done->base.launch), done->base.block, thread_warp(done->base),
                           done->access.lanes);
}

static char *code_text(const Launch *launch, uint32_t pc) {
  g_autofree char *source = locate_source(launch, pc), *line = locate_line_text(launch, pc);
  return g_strdup_printf("`%s` in %s", source, line);
}

static void add_place(Finding *finding, const Gpu *gpu, const Done *done, const char *role, const char *deed) {
  g_autofree char *who = who_text(gpu, done), *where = locate_global_text(gpu, done->word * 4);
  const Launch *launch = gpu_launch(gpu, done->base.launch);
  g_autofree char *source = locate_source(launch, done->access.pc);
  locate_evidence(finding, launch, done->access.pc,
                  g_strdup_printf("%s: %s %s %s in cycle %" G_GUINT64_FORMAT " (`%s`)", role, who, deed, where,
                                  done->access.cycle, source));
}

static void propose(Finding *finding, const Gpu *gpu, const Torn *torn) {
  const Launch *reader = gpu_launch(gpu, torn->read.look.base.launch),
               *writer = gpu_launch(gpu, torn->change.base.launch);
  g_autofree char *look = code_text(reader, torn->read.look.access.pc),
                  *change = code_text(writer, torn->change.access.pc),
                  *before = g_strdup_printf("put __threadfence() right before the second look, %s", look),
                  *behind = g_strdup_printf("put __threadfence() right behind the change, %s", change),
                  *both = g_strdup_printf("%s, and right behind the change, %s", before, change);
  RepairEdit edit[] = {
      {.kind = EDIT_FENCE_BEFORE, .kernel = g_intern_string(reader->kernel->name), .pc = torn->read.look.access.pc},
      {.kind = EDIT_FENCE_BEHIND, .kernel = g_intern_string(writer->kernel->name), .pc = torn->change.access.pc}};
  bool lack_both = torn->reader_lacks && torn->writer_lacks;
  finding->repair = g_strdup(lack_both ? both : torn->reader_lacks ? before : behind);
  finding_add_repair(finding, torn->reader_lacks ? &edit[0] : &edit[1], lack_both ? 2 : 1, g_strdup(finding->repair));
}

static Finding *torn_finding(const Gpu *gpu, const Torn *torn) {
  const Done *load = &torn->read.load, *look = &torn->read.look;
  g_autofree char *who = who_text(gpu, look), *where = locate_global_text(gpu, load->word * 4),
                  *number = locate_global_text(gpu, look->word * 4);
  Finding *finding = locate_finding(
      FINDING_UNORDERED_ACCESS,
      g_strdup_printf("%s: looks whether %s is the same as before it read %s; nothing guarantees that it sees what "
                      "was changed before that was written, and a fence is missing",
                      who, number, where),
      gpu_launch(gpu, look->base.launch), look->access.pc);
  add_place(finding, gpu, look, "first", "read");
  add_place(finding, gpu, &torn->change, "then", "changed");
  add_place(finding, gpu, load, "before the look", "read");
  add_place(finding, gpu, &torn->store, "behind the change", "wrote");
  if (torn->reader_lacks)
    finding_add_evidence(finding, 0,
                         g_strdup("what was read may be newer than the look: no fence stands between the two, and "
                                  "the load is no acquire"));
  if (torn->writer_lacks)
    finding_add_evidence(finding, 0,
                         g_strdup("what was written may come before the change: no fence stands between the two, and "
                                  "the store is no release"));
  propose(finding, gpu, torn);
  finding->cycle = look->access.cycle;
  finding->block = (int64_t)look->base.block;
  finding->warp = thread_warp(look->base);
  finding->lanes = look->access.lanes;
  finding->space = g_strdup("global");
  finding->address = look->word * 4;
  return finding;
}

void race_validated_finish(RaceWatch *watch) {
  const GArray *all = watch->validated->torn;
  for (guint i = 0; i < all->len && !race_trial_asks_older(&watch->trial); i++)
    g_ptr_array_add(watch->report.findings, torn_finding(watch->order.gpu, &g_array_index(all, Torn, i)));
}
