#include "sim/detect/race/stale_swap.h"

#include "base/bits.h"
#include "sim/core/look.h"
#include "sim/detect/naming/locate.h"
#include "sim/detect/race/sources.h"

enum { ROWS_MAX = 2, WORDS_MAX = 65536 };

/* Instructions of one thread: `look` gives what `swap` expects and where `load` reads, and that what is stored. */
typedef struct Chase {
  uint32_t look, load, swap;
} Chase;

/* Of a kernel. */
typedef struct Chases {
  GArray *all;   /* Chase */
  bool *matters; /* of each instruction: it is a look or a load of one; NULL: there are none */
} Chases;

/* A word that somebody has looked at. */
typedef struct Tracked {
  uint32_t value;
  uint32_t changes; /* of the value, so far */
} Tracked;

/* The newest execution of an instruction. */
typedef struct Done {
  uint64_t moment[WARP_LANES]; /* 0: none yet */
  uint64_t cycle[WARP_LANES];
  uint64_t address[WARP_LANES];
  uint32_t changes[WARP_LANES], value[WARP_LANES][ROWS_MAX];
} Done;

/* What is performed now. */
typedef struct Performed {
  const ProbePoint *point;
  const AccessPart *part;
  ThreadId base; /* of its warp's lane 0 */
  const Launch *launch;
} Performed;

struct StaleSwaps {
  const Gpu *gpu;
  GPtrArray *findings;
  GHashTable *kernels; /* Kernel * -> Chases * */
  GHashTable *words;   /* address -> Tracked * */
  GHashTable *done;    /* warp and instruction -> Done * */
  GHashTable *told;    /* kernels' lines that have a finding */
  GArray *changing;    /* uint64_t: addresses that were just written */
  uint64_t moment;
  bool wanted; /* some kernel has a Chase */
};

static void free_chases(gpointer data) {
  Chases *chases = data;
  g_array_free(chases->all, TRUE);
  g_free(chases->matters);
  g_free(chases);
}

StaleSwaps *stale_swaps_new(const Gpu *gpu, GPtrArray *findings) {
  StaleSwaps *swaps = g_new0(StaleSwaps, 1);
  *swaps = (StaleSwaps){.gpu = gpu,
                        .findings = findings,
                        .kernels = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, free_chases),
                        .words = g_hash_table_new_full(bits_hash_key, g_int64_equal, g_free, g_free),
                        .done = g_hash_table_new_full(bits_hash_key, g_int64_equal, g_free, g_free),
                        .told = g_hash_table_new_full(bits_hash_key, g_int64_equal, g_free, NULL),
                        .changing = g_array_new(FALSE, FALSE, sizeof(uint64_t))};
  return swaps;
}

void stale_swaps_free(StaleSwaps *swaps) {
  if (!swaps)
    return;
  g_hash_table_destroy(swaps->kernels);
  g_hash_table_destroy(swaps->words);
  g_hash_table_destroy(swaps->done);
  g_hash_table_destroy(swaps->told);
  g_array_free(swaps->changing, TRUE);
  g_free(swaps);
}

/* ---- kernels ---- */

static uint32_t rows_of(const Inst *inst) { return inst->width == WIDTH_64 ? 2 : 1; }

static bool is_swap(const Inst *inst) {
  return inst->op == OP_ATOM && inst->mode == ATOM_CAS && !(inst->flags & INST_LOCK) &&
         (inst->width == WIDTH_32 || inst->width == WIDTH_64);
}

/* Of both registers of an operand of so many rows. */
static Sources find_sources(const Kernel *kernel, const Cfg *cfg, uint32_t pc, int16_t operand, uint32_t rows) {
  Sources sources = sources_of(kernel, cfg, pc, operand, true);
  if (rows == 1 || operand < 0)
    return sources;
  Sources high = sources_of(kernel, cfg, pc, (int16_t)(operand + 1), true);
  for (unsigned i = 0; i < high.count && sources.count < SOURCES_MAX; i++)
    sources.pc[sources.count++] = high.pc[i];
  return sources;
}

static void add_chase(Chases *chases, const Kernel *kernel, Chase chase) {
  for (guint i = 0; i < chases->all->len; i++) {
    const Chase *other = &g_array_index(chases->all, Chase, i);
    if (other->look == chase.look && other->load == chase.load && other->swap == chase.swap)
      return;
  }
  g_array_append_val(chases->all, chase);
  chases->matters = chases->matters ? chases->matters : g_new0(bool, kernel->ninsts);
  chases->matters[chase.look] = chases->matters[chase.load] = true;
}

static void find_chases(Chases *chases, const Kernel *kernel, const Cfg *cfg, uint32_t swap) {
  const Inst *inst = &kernel->insts[swap];
  Sources stored = find_sources(kernel, cfg, swap, inst->c, rows_of(inst)),
          looks = find_sources(kernel, cfg, swap, inst->b, rows_of(inst));
  for (unsigned i = 0; i < stored.count; i++) {
    const Inst *load = &kernel->insts[stored.pc[i]];
    if (load->op != OP_LD || load->a < 0 || rows_of(load) > ROWS_MAX || inst_is_guarded(load))
      continue;
    Sources places = find_sources(kernel, cfg, stored.pc[i], load->a, load->flags & INST_ADDR64 ? 2 : 1);
    for (unsigned k = 0; k < places.count; k++)
      for (unsigned j = 0; j < looks.count; j++)
        if (places.pc[k] == looks.pc[j] && !inst_is_guarded(&kernel->insts[looks.pc[j]]))
          add_chase(chases, kernel, (Chase){looks.pc[j], stored.pc[i], swap});
  }
}

static const Chases *chases_of(StaleSwaps *swaps, const Kernel *kernel) {
  Chases *chases = g_hash_table_lookup(swaps->kernels, kernel);
  if (chases)
    return chases;
  g_autoptr(Cfg) cfg = NULL;
  chases = g_new0(Chases, 1);
  chases->all = g_array_new(FALSE, FALSE, sizeof(Chase));
  g_hash_table_insert(swaps->kernels, (gpointer)kernel, chases);
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    if (!is_swap(&kernel->insts[pc]))
      continue;
    cfg = cfg ? cfg : cfg_new(kernel);
    find_chases(chases, kernel, cfg, pc);
  }
  return chases;
}

void stale_swaps_begin(StaleSwaps *swaps, const Kernel *kernel) {
  swaps->wanted |= chases_of(swaps, kernel)->all->len > 0;
}

bool stale_swaps_wants(const StaleSwaps *swaps) { return swaps->wanted; }

/* ---- words ---- */

/* What was written last has its new value by now. */
static void see_changes(StaleSwaps *swaps) {
  for (guint i = 0; i < swaps->changing->len; i++) {
    uint64_t *address = &g_array_index(swaps->changing, uint64_t, i);
    Tracked *word = g_hash_table_lookup(swaps->words, address);
    uint32_t value = look_global(swaps->gpu, *address);
    word->changes += word->value != value;
    word->value = value;
  }
  g_array_set_size(swaps->changing, 0);
}

static void note_writes(StaleSwaps *swaps, const ProbePoint *point, const AccessPart *part) {
  for (uint32_t rest = part->kind == ACCESS_READ ? 0 : point->lanes; rest; rest &= rest - 1) {
    uint64_t first = part->address[__builtin_ctz(rest)] / 4 * 4;
    for (uint64_t address = first; address < first + MAX(part->bytes, 4); address += 4)
      if (g_hash_table_contains(swaps->words, &address))
        g_array_append_val(swaps->changing, address);
  }
}

static const Tracked *word_at(StaleSwaps *swaps, uint64_t address) {
  Tracked *word = g_hash_table_lookup(swaps->words, &address);
  if (!word && g_hash_table_size(swaps->words) < WORDS_MAX) {
    word = g_new0(Tracked, 1);
    word->value = look_global(swaps->gpu, address);
    g_hash_table_insert(swaps->words, g_memdup2(&address, sizeof address), word);
  }
  return word;
}

static uint32_t changes_at(StaleSwaps *swaps, uint64_t address, uint32_t rows) {
  uint32_t changes = 0;
  for (uint32_t row = 0; row < rows; row++) {
    const Tracked *word = word_at(swaps, address + 4 * (uint64_t)row);
    changes += word ? word->changes : 0;
  }
  return changes;
}

/* ---- what threads have done ---- */

static uint64_t key_of(const Performed *performed, uint32_t pc) {
  uint64_t block = bits_mix(performed->base.launch + UINT64_C(1), performed->base.block);
  return bits_mix(bits_mix(block, thread_warp(performed->base)), pc);
}

static Done *done_at(const StaleSwaps *swaps, const Performed *performed, uint32_t pc) {
  uint64_t key = key_of(performed, pc);
  return g_hash_table_lookup(swaps->done, &key);
}

static void note_look(StaleSwaps *swaps, const Performed *performed) {
  const ProbePoint *point = performed->point;
  uint64_t key = key_of(performed, point->pc);
  Done *done = g_hash_table_lookup(swaps->done, &key);
  if (!done) {
    done = g_new0(Done, 1);
    g_hash_table_insert(swaps->done, g_memdup2(&key, sizeof key), done);
  }
  uint32_t rows = MIN(rows_of(point->inst), ROWS_MAX);
  for (uint32_t rest = point->lanes; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    uint64_t address = performed->part->address[lane];
    done->moment[lane] = ++swaps->moment;
    done->cycle[lane] = point->cycle;
    done->address[lane] = address;
    done->changes[lane] = changes_at(swaps, address, rows);
    for (uint32_t row = 0; row < rows; row++)
      done->value[lane][row] = look_global(swaps->gpu, address + 4 * (uint64_t)row);
  }
}

/* What the load found isn't there any more, and it wasn't `thread` itself that put the new value there: it knows that
 * one, as where it has marked a place of a list before it takes it out. */
static bool is_stale(StaleSwaps *swaps, const Done *load, ThreadId thread, uint32_t rows) {
  unsigned lane = thread_lane(thread);
  bool differs = false;
  for (uint32_t row = 0; row < rows; row++) {
    uint64_t address = load->address[lane] + 4 * (uint64_t)row;
    differs |= look_global(swaps->gpu, address) != load->value[lane][row] &&
               !thread_equal(look_global_change(swaps->gpu, address).thread, thread);
  }
  return differs && changes_at(swaps, load->address[lane], rows) != load->changes[lane];
}

/* ---- what is said ---- */

static void add_change(Finding *finding, const Gpu *gpu, uint64_t address, const char *what) {
  WordChange change = look_global_change(gpu, address);
  if (thread_is_none(change.thread) || thread_is_host(change.thread))
    return;
  g_autofree char *who = locate_thread_text(gpu, change.thread), *when = locate_change_text(gpu, &change);
  locate_evidence(finding, gpu_launch(gpu, change.thread.launch), change.pc,
                  g_strdup_printf("%s: %s, in %s", what, who, when));
}

static void tell(StaleSwaps *swaps, const Performed *performed, const Chase *chase, unsigned lane) {
  const Launch *launch = performed->launch;
  const Done *look = done_at(swaps, performed, chase->look), *load = done_at(swaps, performed, chase->load);
  uint64_t key = locate_key(launch, chase->swap);
  if (!g_hash_table_add(swaps->told, g_memdup2(&key, sizeof key)))
    return;
  uint32_t warp = thread_warp(performed->base);
  g_autofree char *who = locate_lanes_text(swaps->gpu, launch, performed->base.block, warp, 1u << lane),
                  *where = locate_global_text(swaps->gpu, look->address[lane]),
                  *other = locate_global_text(swaps->gpu, load->address[lane]);
  Finding *finding = locate_finding(
      FINDING_STALE_SWAP,
      g_strdup_printf(
          "%s: finds %s as it was, and swaps it, but it has been changed and changed back since, and what "
          "is stored comes from %s, which is another one by now",
          who, where, other),
      launch, chase->swap);
  locate_evidence(finding, launch, chase->look,
                  g_strdup_printf("it looked at %s in cycle %" G_GUINT64_FORMAT, where, look->cycle[lane]));
  locate_evidence(finding, launch, chase->load,
                  g_strdup_printf("then it read %s in cycle %" G_GUINT64_FORMAT, other, load->cycle[lane]));
  add_change(finding, swaps->gpu, load->address[lane], "what it read was changed last by");
  add_change(finding, swaps->gpu, look->address[lane], "what it looked at was changed last by");
  finding->repair =
      g_strdup("keep a count beside the value in the same word, which each change raises, and swap both "
               "together; or let nobody give back what others may still read");
  finding->cycle = performed->point->cycle;
  finding->block = (int64_t)performed->base.block;
  finding->warp = warp;
  finding->lanes = 1u << lane;
  finding->space = g_strdup("global");
  finding->address = look->address[lane];
  g_ptr_array_add(swaps->findings, finding);
}

/* ---- swaps ---- */

static bool succeeds(const StaleSwaps *swaps, const AccessPart *part, unsigned lane, uint32_t rows) {
  for (uint32_t row = 0; row < rows; row++)
    if (look_global(swaps->gpu, part->address[lane] + 4 * (uint64_t)row) != part->data[row][lane])
      return false;
  return true;
}

/* The newest look at the word of those that may have given what is expected. */
static bool is_newest(const StaleSwaps *swaps, const Performed *performed, const Chases *chases, const Chase *chase,
                      const Done *look, unsigned lane) {
  for (guint i = 0; i < chases->all->len; i++) {
    const Chase *other = &g_array_index(chases->all, Chase, i);
    const Done *done = other->swap == chase->swap ? done_at(swaps, performed, other->look) : NULL;
    if (done && done->address[lane] == look->address[lane] && done->moment[lane] > look->moment[lane])
      return false;
  }
  return true;
}

static void check_swap(StaleSwaps *swaps, const Performed *performed, const Chases *chases, unsigned lane) {
  uint32_t rows = rows_of(performed->point->inst);
  if (!succeeds(swaps, performed->part, lane, rows))
    return;
  for (guint i = 0; i < chases->all->len; i++) {
    const Chase *chase = &g_array_index(chases->all, Chase, i);
    const Done *look = chase->swap == performed->point->pc ? done_at(swaps, performed, chase->look) : NULL,
               *load = look ? done_at(swaps, performed, chase->load) : NULL;
    if (!load || !look->moment[lane] || look->moment[lane] > load->moment[lane] ||
        look->address[lane] != performed->part->address[lane] ||
        !is_newest(swaps, performed, chases, chase, look, lane))
      continue;
    if (changes_at(swaps, look->address[lane], rows) != look->changes[lane] &&
        is_stale(swaps, load, thread_plus(performed->base, lane),
                 rows_of(&performed->launch->kernel->insts[chase->load])))
      tell(swaps, performed, chase, lane);
  }
}

void stale_swaps_performed(StaleSwaps *swaps, const ProbePoint *point, const AccessPart *part, ThreadId base) {
  see_changes(swaps);
  Performed performed = {point, part, base, thread_is_host(base) ? NULL : gpu_launch(swaps->gpu, base.launch)};
  const Chases *chases = performed.launch ? chases_of(swaps, performed.launch->kernel) : NULL;
  if (chases && is_swap(point->inst) && part->kind == ACCESS_ATOMIC)
    for (uint32_t rest = chases->all->len ? point->lanes : 0; rest; rest &= rest - 1)
      check_swap(swaps, &performed, chases, (unsigned)__builtin_ctz(rest));
  if (chases && chases->matters && chases->matters[point->pc])
    note_look(swaps, &performed);
  note_writes(swaps, point, part);
}
