#include "sim/detect/race/race_older.h"

#include <string.h>

#include "base/bits.h"
#include "sim/core/look.h"
#include "sim/detect/naming/locate.h"
#include "sim/detect/race/older_text.h"

/* Each load in doubt is a run more, so only the first words have such: DOUBTED_WORDS_MAX. */
enum { PAST_WORDS_MAX = 1 << 16, DOUBTED_WORDS_MAX = 1024, PAST_VALUES_MAX = 8, LOOKS_MAX = 8192, CASES_MAX = 8 };

/* A value that the word had, and the write that ended it. */
typedef struct PastValue {
  uint32_t value;
  Access ended_by;
  VClock given; /* what the value's own write handed on; in a trial only */
} PastValue;

typedef struct WordPast {
  gint64 word;
  PastValue values[PAST_VALUES_MAX]; /* oldest first */
  unsigned count;
  uint32_t writes; /* so far */
  bool doubted;    /* its loads may be in doubt */
} WordPast;

typedef struct OlderWriter {
  uint64_t words[OLDER_WRITES];
  uint32_t fences; /* of the GPU, before its newest write */
  uint32_t pc;     /* of that */
} OlderWriter;

/* A warp's loads of a word. */
typedef struct OlderLook {
  gint64 key;
  uint32_t pc, time;      /* of the newest, and of its warp then */
  uint32_t seen, newest;  /* writes that the warp had seen before it began to spin, and has seen by now */
  uint32_t lanes;         /* which have seen the newest */
  VClock known, by_plain; /* what it knew before it began to spin */
  VClock strict[2], pending[SCOPES];
  bool in_doubt; /* the newest is, and the warp has issued nothing since */
  OlderCase found;
} OlderLook;

static void free_past(gpointer data) {
  WordPast *past = data;
  for (unsigned i = 0; i < PAST_VALUES_MAX; i++)
    vclock_clear(&past->values[i].given);
  g_free(past);
}

static void free_look(gpointer data) {
  OlderLook *look = data;
  vclock_clear(&look->known);
  vclock_clear(&look->by_plain);
  for (unsigned i = 0; i < G_N_ELEMENTS(look->strict); i++)
    vclock_clear(&look->strict[i]);
  for (unsigned i = 0; i < SCOPES; i++)
    vclock_clear(&look->pending[i]);
  g_free(look);
}

void race_older_init(RaceOlder *older) {
  *older = (RaceOlder){.words = g_hash_table_new_full(bits_hash_key, g_int64_equal, NULL, free_past),
                       .looks = g_hash_table_new_full(bits_hash_key, g_int64_equal, NULL, free_look),
                       .writers = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free),
                       .in_doubt = g_hash_table_new(g_direct_hash, g_direct_equal),
                       .together = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free),
                       .places = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free),
                       .cases = g_array_new(FALSE, FALSE, sizeof(OlderCase))};
}

void race_older_clear(RaceOlder *older) {
  g_hash_table_destroy(older->in_doubt);
  g_hash_table_destroy(older->places);
  g_hash_table_destroy(older->together);
  g_hash_table_destroy(older->looks);
  g_hash_table_destroy(older->writers);
  g_hash_table_destroy(older->words);
  g_array_free(older->cases, TRUE);
}

/* Where loads in doubt are looked for. */
static bool is_watched(const Step *step) {
  return step->access->space == SPACE_GLOBAL && step->hands_over && step->warp->fences &&
         !thread_is_host(step->warp->base);
}

/* Of shared memory, that of the own block: what is performed when it is issued, and has no number. */
static bool is_own_shared(const Step *step) {
  return step->access->space == SPACE_SHARED && !step->number && step->hands_over && step->warp->fences;
}

/* The word among those of both kinds of memory. */
static gint64 key_of(const Step *step, uint64_t word) {
  enum { SHARED_BIT = 33 }; /* addresses of global memory are smaller */
  return (gint64)(step->access->space == SPACE_GLOBAL ? word
                                                      : race_words_number(step, word) | UINT64_C(1) << SHARED_BIT);
}

static uint32_t value_now(const Step *step, uint64_t word) {
  return step->access->space == SPACE_GLOBAL ? look_global(step->point->gpu, 4 * word)
                                             : look_shared(step->point->sm, (uint32_t)word);
}

/* ---- writes ---- */

static WordPast *past_of(RaceOlder *older, uint64_t word, bool may_be_doubted) {
  gint64 key = (gint64)word;
  WordPast *past = g_hash_table_lookup(older->words, &key);
  if (past || g_hash_table_size(older->words) >= PAST_WORDS_MAX)
    return past;
  past = g_new0(WordPast, 1);
  past->word = key;
  past->doubted = may_be_doubted && older->doubted++ < DOUBTED_WORDS_MAX;
  g_hash_table_insert(older->words, &past->word, past);
  return past;
}

/* The words that a warp wrote last, the newest first. */
static void note_writer(RaceOlder *older, const WarpOrder *warp, uint64_t word, uint32_t pc) {
  uint32_t actor = warp->actor;
  OlderWriter *writer = g_hash_table_lookup(older->writers, GUINT_TO_POINTER(actor));
  if (!writer && g_hash_table_size(older->writers) >= LOOKS_MAX)
    return;
  if (!writer) {
    writer = g_new0(OlderWriter, 1);
    g_hash_table_insert(older->writers, GUINT_TO_POINTER(actor), writer);
  }
  unsigned at = 0;
  while (at < OLDER_WRITES - 1 && writer->words[at] != word)
    at++;
  memmove(writer->words + 1, writer->words, at * sizeof *writer->words);
  writer->words[0] = word;
  writer->fences = warp->fence_count[ON_ONE_GPU];
  writer->pc = pc;
}

void race_older_writes(Step *step, const Group *group) {
  if (!(is_watched(step) || is_own_shared(step)) || !race_words_writes(step, group))
    return;
  if (is_watched(step))
    note_writer(&step->watch->older, step->warp, group->word, step->point->pc);
  WordPast *past = past_of(&step->watch->older, (uint64_t)key_of(step, group->word), is_watched(step));
  if (!past)
    return;
  past->writes++;
  if (past->count == PAST_VALUES_MAX) {
    VClock space = past->values[0].given;
    vclock_clear(&space);
    memmove(past->values, past->values + 1, (PAST_VALUES_MAX - 1) * sizeof *past->values);
    past->values[--past->count].given = space;
  }
  PastValue *value = &past->values[past->count++];
  value->value = value_now(step, group->word);
  value->ended_by = race_words_access(step, group->lanes, group->bytes, true);
  vclock_clear(&value->given);
  if (race_trial_asks_older(&step->watch->trial))
    order_given(&step->watch->order, group->cell, group->bytes, &value->given);
}

/* ---- loads ---- */

static gint64 look_key(uint32_t actor, uint64_t word) {
  enum { WORD_BITS = 34 };
  return (gint64)((uint64_t)actor << WORD_BITS | (word & ((UINT64_C(1) << WORD_BITS) - 1)));
}

static OlderLook *look_of(RaceOlder *older, const WarpOrder *warp, uint64_t word) {
  gint64 key = look_key(warp->actor, word);
  OlderLook *look = g_hash_table_lookup(older->looks, &key);
  if (look || g_hash_table_size(older->looks) >= LOOKS_MAX)
    return look;
  look = g_new0(OlderLook, 1);
  look->key = key;
  look->pc = UINT32_MAX;
  g_hash_table_insert(older->looks, &look->key, look);
  return look;
}

static uint64_t place_of(RaceOlder *older, const Launch *launch, uint32_t pc) {
  uint64_t *places = g_hash_table_lookup(older->places, launch->kernel);
  if (!places) {
    places = g_new0(uint64_t, launch->kernel->ninsts);
    g_hash_table_insert(older->places, (gpointer)launch->kernel, places);
  }
  if (!places[pc])
    places[pc] = locate_key(launch, pc);
  return places[pc];
}

/* The load is the next round of a loop that does nothing but load; compilers make one of `while (x)` before the loop,
 * too. */
static bool goes_on(const OlderLook *look, const Step *step, uint32_t time) {
  RaceOlder *older = &step->watch->older;
  const Launch *launch = gpu_launch(step->point->gpu, step->warp->base.launch);
  uint32_t pc = step->point->pc;
  if (look->pc == UINT32_MAX || look->time != time)
    return false;
  return look->pc == pc || (launch->kernel->insts[look->pc].op == step->point->inst->op &&
                            place_of(older, launch, look->pc) == place_of(older, launch, pc));
}

static void begin_look(OlderLook *look, const Step *step, uint32_t time) {
  const FenceOrder *fences = step->warp->fences;
  look->pc = step->point->pc;
  look->time = time;
  look->seen = look->newest;
  vclock_assign(&look->known, &fences->known);
  vclock_assign(&look->by_plain, &step->warp->clock);
  for (unsigned i = 0; i < G_N_ELEMENTS(look->strict); i++)
    vclock_assign(&look->strict[i], &fences->strict[i]);
  for (unsigned i = 0; i < SCOPES; i++)
    vclock_assign(&look->pending[i], &fences->pending[i]);
}

/* The reader can't read any more what the write ended. */
static bool is_known(const OlderLook *look, const Step *step, const Access *write) {
  const RaceOrder *order = &step->watch->order;
  if (write->actor == step->warp->actor || thread_is_host(g_array_index(order->actors, ThreadId, write->actor)))
    return true;
  bool near = order_nearness(order, step->warp, write) == IN_ONE_BLOCK;
  bool by_plain = !order_is_omitted(step->warp, write) && order_clock_knows(order, &look->by_plain, write);
  return by_plain || order_clock_knows(order, &look->known, write) ||
         order_clock_knows(order, &look->strict[near], write);
}

/* What the group's bytes are of a word. */
static uint32_t part_of(const Group *group, uint32_t word) {
  unsigned first = (unsigned)__builtin_ctz(group->bytes), bytes = (unsigned)__builtin_popcount(group->bytes);
  return word >> 8 * first & (bytes < 4 ? (1u << 8 * bytes) - 1 : UINT32_MAX);
}

/* The newest that is as the one now, if nothing that came behind it is known. */
static const PastValue *find_older(const OlderLook *look, const Step *step, const Group *group,
                                   const WordPast *past) {
  uint32_t now = part_of(group, look_global(step->point->gpu, group->word * 4));
  const PastValue *values = past->values, *found = NULL;
  for (unsigned i = past->count; i-- > 0 && !found;)
    if (part_of(group, values[i].value) == now && values[i].ended_by.bytes & group->bytes)
      found = &values[i];
  for (unsigned i = past->count; found && i-- > 0 && &values[i] >= found;)
    if (past->writes - (past->count - 1 - i) <= look->seen || is_known(look, step, &values[i].ended_by))
      return NULL;
  return found;
}

static OlderCase make_case(const Step *step, const Group *group, const PastValue *value) {
  OlderCase found = {.launch = step->warp->base.launch,
                     .pc = step->point->pc,
                     .word = group->word,
                     .value = part_of(group, value->value),
                     .write = value->ended_by,
                     .writer = g_array_index(step->watch->order.actors, ThreadId, value->ended_by.actor),
                     .reader = step->warp->base,
                     .lanes = group->lanes,
                     .cycle = step->point->cycle};
  const OlderWriter *writer = g_hash_table_lookup(step->watch->older.writers, GUINT_TO_POINTER(step->warp->actor));
  if (writer) {
    memcpy(found.wrote, writer->words, sizeof found.wrote);
    found.store = writer->pc;
    found.fenced = step->warp->fence_count[ON_ONE_GPU] != writer->fences;
  }
  return found;
}

/* It is the load of the trial, or one that may read an older value only because that one did. */
static bool takes_older(Step *step, const Group *group, const PastValue *value) {
  RaceTrial *trial = &step->watch->trial;
  const Launch *launch = gpu_launch(step->point->gpu, step->warp->base.launch);
  return race_trial_takes_older(trial, launch, step->point->pc, part_of(group, value->value)) ||
         (race_trial_asks_older(trial) && order_is_omitted(step->warp, &value->ended_by));
}

/* Lanes of the warp have looked at several words by this load since its loop began, be it that only one of them still
 * does. */
static bool looks_together(RaceOlder *older, const Step *step, uint32_t time) {
  gpointer actor = GUINT_TO_POINTER(step->warp->actor);
  gint64 now = (gint64)((uint64_t)step->point->pc << 32 | time), *known = g_hash_table_lookup(older->together, actor);
  if (step->groups > 1 && !known && g_hash_table_size(older->together) < LOOKS_MAX) {
    known = g_new(gint64, 1);
    g_hash_table_insert(older->together, actor, known);
  }
  if (step->groups > 1 && known)
    *known = now;
  return step->groups > 1 || (known && *known == now);
}

void race_older_sees(Step *step, const Group *group) {
  gint64 key = key_of(step, group->word);
  const WordPast *past = is_own_shared(step) ? g_hash_table_lookup(step->watch->older.words, &key) : NULL;
  OlderLook *look = past ? look_of(&step->watch->older, step->warp, (uint64_t)key) : NULL;
  if (!look)
    return;
  look->lanes = look->newest == past->writes ? look->lanes | group->lanes : group->lanes;
  look->newest = past->writes;
}

bool race_older_reads(Step *step, const WarpMoment *moment, const Group *group, OlderValue *taken) {
  RaceOlder *older = &step->watch->older;
  const Inst *inst = step->point->inst;
  gint64 key = (gint64)group->word;
  if (!is_watched(step) || step->access->kind != ACCESS_READ || step->access->bytes > 4 ||
      order_scope(inst) == IN_ONE_BLOCK || warp_moment_waits(moment))
    return false;
  const WordPast *past = g_hash_table_lookup(older->words, &key);
  OlderLook *look = look_of(older, step->warp, group->word);
  if (!look)
    return false;
  bool together = looks_together(older, step, moment->time);
  if (!goes_on(look, step, moment->time))
    begin_look(look, step, moment->time);
  if (!past)
    return false;
  look->lanes = look->newest == past->writes ? look->lanes | group->lanes : group->lanes;
  look->newest = past->writes;
  gpointer actor = GUINT_TO_POINTER(step->warp->actor);
  if (look->in_doubt)
    g_hash_table_remove(older->in_doubt, actor);
  const PastValue *value = past->doubted ? find_older(look, step, group, past) : NULL;
  if (!value)
    return false;
  look->found = make_case(step, group, value);
  g_hash_table_insert(older->in_doubt, actor, look);
  if (!takes_older(step, group, value))
    return false;
  if (!step->watch->report.older)
    step->watch->report.older = older_place(step->point->gpu, &look->found);
  *taken = (OlderValue){.given = &value->given,
                        .known = &look->known,
                        .pending = look->pending,
                        .time = look->time,
                        .together = together};
  return true;
}

/* ---- values that a load might have given instead ---- */

static bool is_of(const OlderLoad *load, const Access *write) {
  return write->actor == load->writer && write->time == load->time && write->pc == load->pc;
}

bool race_older_again(const Step *step, const Group *group) {
  OlderRun *older = step->point->gpu->older;
  uint64_t first = group->word - step->part;
  gint64 key = (gint64)group->word;
  if (!older || step->access->kind != ACCESS_READ)
    return false;
  if (step->access->space == SPACE_SHARED)
    return !step->number && group->lanes & older->load.lanes &&
           older_run_has_shared(older, step->point->cycle, step->point->sm->index, step->point->warp->slot,
                                step->point->pc);
  if (older_run_has(older, step->number, 4 * first))
    return true;
  const WordPast *past = g_hash_table_lookup(step->watch->older.words, &key);
  if (!older->more || !is_watched(step) || older->load.address != 4 * first ||
      older->load.reader != step->warp->actor || step->access->bytes != older->load.bytes || !past || !past->count ||
      !is_of(&older->load, &past->values[past->count - 1].ended_by))
    return false;
  Question question = {step, group->lanes};
  AccessOrder order = race_words_order(step, &question);
  if (!shadow_may_be_unseen(group->cell, &past->values[past->count - 1].ended_by, &order))
    return false;
  older->more--;
  older->again = step->number;
  return true;
}

/* The oldest value of the word that the reader can read, as far as the order and its own looks tell. */
static unsigned oldest_of(const Step *step, const Group *group, const WordPast *past) {
  gint64 key = look_key(step->warp->actor, (uint64_t)key_of(step, group->word));
  const OlderLook *look = g_hash_table_lookup(step->watch->older.looks, &key);
  Question question = {step, group->lanes};
  AccessOrder order = race_words_order(step, &question);
  unsigned oldest = past->count;
  for (unsigned i = past->count; i-- > 0; oldest = i) {
    const Access *write = &past->values[i].ended_by;
    if (write->actor == step->warp->actor || order.before(order.user, write) ||
        (look && past->writes - (past->count - 1 - i) <= look->newest))
      break;
  }
  return oldest;
}

/* The other word of a load of 64 bits: what it was before the same write, or what it is. */
static uint32_t value_before(const Step *step, uint64_t word, const Access *write) {
  gint64 key = key_of(step, word);
  const WordPast *past = g_hash_table_lookup(step->watch->older.words, &key);
  for (unsigned i = past ? past->count : 0; i-- > 0;) {
    const Access *other = &past->values[i].ended_by;
    if (other->actor == write->actor && other->time == write->time && other->pc == write->pc)
      return past->values[i].value;
  }
  return value_now(step, word);
}

static void add_load(OlderReading *reading, const Step *step, const Group *group, const PastValue *before,
                     const Access *newest) {
  uint64_t first = group->word - step->part;
  OlderLoad load = {.access = step->number,
                    .address = 4 * first,
                    .bytes = step->access->bytes,
                    .reader = step->warp->actor,
                    .writer = newest->actor,
                    .time = newest->time,
                    .pc = newest->pc};
  if (is_own_shared(step)) { /* its warp is there */
    load.cycle = step->point->cycle;
    load.sm = step->point->sm->index;
    load.slot = step->point->warp->slot;
    load.at = step->point->pc;
    load.lanes = group->lanes;
  }
  bool differs = false;
  for (uint32_t part = 0; part < load.bytes / 4; part++) {
    load.value[part] = part == step->part ? before->value : value_before(step, first + part, &before->ended_by);
    differs |= load.value[part] != value_now(step, first + part);
  }
  if (differs)
    reading->load[reading->loads++] = load;
}

/* Each value that the lanes can read, as far as the order and their own looks tell, is as the one now. */
static bool is_alike(const Step *step, const Group *group, const WordPast *past) {
  gint64 key = look_key(step->warp->actor, (uint64_t)key_of(step, group->word));
  const OlderLook *look = g_hash_table_lookup(step->watch->older.looks, &key);
  uint32_t seen = look && !(group->lanes & ~look->lanes) ? look->newest : 0;
  uint32_t now = part_of(group, value_now(step, group->word));
  Question question = {step, group->lanes};
  AccessOrder order = race_words_order(step, &question);
  for (unsigned i = past->count; i-- > 0;) {
    if (past->writes - (past->count - 1 - i) <= seen || order.before(order.user, &past->values[i].ended_by))
      return true;
    if (part_of(group, past->values[i].value) != now)
      return false;
  }
  return past->writes == past->count;
}

OlderReading race_older_before(const Step *step, const Group *group) {
  OlderReading reading = {.loads = 0};
  uint32_t bytes = step->access->bytes;
  bool shared = is_own_shared(step);
  gint64 key = key_of(step, group->word);
  const WordPast *past = is_watched(step) || shared ? g_hash_table_lookup(step->watch->older.words, &key) : NULL;
  if (!past || !past->count)
    return reading;
  reading.alike = is_alike(step, group, past);
  if (bytes != 4 && (shared || bytes != 4 * OLDER_LOAD_WORDS))
    return reading;
  unsigned oldest = oldest_of(step, group, past), last = past->count;
  const Access *newest = &past->values[last - 1].ended_by;
  while (!reading.loads && (last == past->count || last > oldest))
    add_load(&reading, step, group, &past->values[--last], newest);
  if (reading.loads && oldest < last && past->values[oldest].value != past->values[last].value)
    add_load(&reading, step, group, &past->values[oldest], newest);
  return reading;
}

static bool touches(const RaceAccess *access, uint64_t word) {
  for (uint32_t rest = access->lanes; rest; rest &= rest - 1)
    if (access->address[__builtin_ctz(rest)] / 4 == word)
      return true;
  return false;
}

static bool is_same_case(const Gpu *gpu, const OlderCase *one, const OlderCase *other) {
  const Kernel *kernel = gpu_launch(gpu, one->launch)->kernel;
  return one->pc == other->pc && one->value == other->value && gpu_launch(gpu, other->launch)->kernel == kernel;
}

static bool is_told(const GArray *cases, const OlderCase *new, const Gpu *gpu) {
  for (guint i = 0; i < cases->len; i++)
    if (is_same_case(gpu, &g_array_index(cases, OlderCase, i), new))
      return true;
  return false;
}

void race_older_next(RaceWatch *watch, const ProbePoint *point, const WarpOrder *warp, const RaceAccess *access) {
  RaceOlder *older = &watch->older;
  if (!g_hash_table_size(older->in_doubt))
    return;
  gpointer actor = GUINT_TO_POINTER(warp->actor);
  OlderLook *look = g_hash_table_lookup(older->in_doubt, actor);
  if (!look || !(access->lanes & look->found.lanes) || (access->kind == ACCESS_READ && point->pc == look->pc))
    return;
  g_hash_table_remove(older->in_doubt, actor);
  look->in_doubt = false;
  if (access->kind == ACCESS_ATOMIC && touches(access, look->found.word))
    return;
  if (older->cases->len < CASES_MAX && !is_told(older->cases, &look->found, point->gpu))
    g_array_append_val(older->cases, look->found);
}

/* ---- at the end ---- */

/* The writer has looked at a word that the reader wrote before it looked. */
static bool was_announced(const RaceOlder *older, const OlderCase *found) {
  for (unsigned i = 0; i < OLDER_WRITES; i++) {
    gint64 key = look_key(found->write.actor, found->wrote[i]);
    if (found->wrote[i] && found->wrote[i] != found->word && g_hash_table_contains(older->looks, &key))
      return true;
  }
  return false;
}

void race_older_finish(RaceWatch *watch) {
  RaceReport *report = &watch->report;
  for (guint i = 0; i < watch->older.cases->len && !race_trial_asks_older(&watch->trial); i++) {
    OlderCase *found = &g_array_index(watch->older.cases, OlderCase, i);
    found->announced = was_announced(&watch->older, found);
    Finding *finding = older_finding(watch->order.gpu, found);
    if (found->announced)
      older_add_fences(finding, watch->order.gpu, found);
    if (watch->late)
      race_late_explain(watch->late, finding, &(LateDeed){found->reader, found->cycle, found->pc},
                        &(LateDeed){found->writer, found->write.cycle, found->write.pc});
    if (found->fenced && finding->repairs) /* that between its store and the load is there */
      g_clear_pointer(&finding->repairs, g_ptr_array_unref);
    g_ptr_array_add(report->findings, finding);
  }
}
