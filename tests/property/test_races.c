/* Random programs of two to four warps, two of which meet at barriers now and then, whose accesses are performed in
 * random order (race_memory.h): the race detector finds what the causality order leaves unordered, and nothing else.
 * The oracle works the order out from who read from whom, for the whole trace at once ("PTX ISA", memory consistency
 * model: release and acquire patterns, observation and causality order).
 *
 * The machine's rules: accesses of a block to one word stay in order; a fence lets its warp go on when all that its
 * block had under way is performed, as does a release before it is issued; an acquire and a poll are waited for. A
 * plain access is performed when it is issued, or behind what its block has under way to the word.
 * Of a race between two accesses the detector tells the nearest pairs only. It also takes observations in the middle
 * of a chain of hand-offs for order: what is a race by that order, too, has to be found. */
#include <glib.h>
#include <string.h>

#include "sim/engine/rng.h"
#include "tests/unit/race_memory.h"
#include "tests/unit/unit.h"

enum { EVENTS = 64, ACTORS = 4, STEPS = 14, WORDS = 3, TRIES = 6, PROGRAMS = 400, PARTS = 10, BARRIERS = 3 };

/* What was issued, in that order. */
typedef struct Done {
  unsigned actor, inst, word;
  bool fence, read, write, strong, release, acquire, atomic;
  int source; /* of a read: the write that it read from; -1: none */
} Done;

typedef struct Actor {
  const char *step[STEPS];
  bool awaits[STEPS]; /* it is repeated until it reads another value than 0, or a lock is taken */
  unsigned steps, next, tries;
  int waits_for; /* event; -1: none */
  bool drains, gave_up;
} Actor;

typedef struct Trial {
  Rng rng;
  RaceMemory *memory;
  GString *script;
  Actor actor[ACTORS];
  Done event[EVENTS];
  unsigned events;
  unsigned under[EVENTS]; /* events under way, in the order of issue */
  unsigned flying;
  int newest[WORDS];       /* write to each word */
  uint64_t before[EVENTS]; /* the base causality order */
  uint64_t before_or_observed[EVENTS];
  unsigned barrier[BARRIERS], barriers, barriers_most; /* how many events were before each */
} Trial;

static unsigned below(Trial *trial, unsigned n) { return (unsigned)rng_below(&trial->rng, n); }
static bool is(const Trial *trial, unsigned event, const char *name) {
  return trial->event[event].inst == race_memory_inst(name);
}

/* ---- programs ---- */

static void add(Actor *actor, const char *step, bool awaits) {
  if (actor->steps == STEPS)
    return;
  actor->awaits[actor->steps] = awaits;
  actor->step[actor->steps++] = step;
}

/* One in `fences` is left out. */
static void add_fence(Trial *trial, Actor *actor, unsigned fences) {
  if (below(trial, fences))
    add(actor, "fence", false);
}

static void add_lock(Trial *trial, Actor *actor, unsigned fences) {
  add(actor, "lock", true);
  add_fence(trial, actor, fences);
  add(actor, below(trial, 2) ? "put" : "get", false);
  add_fence(trial, actor, fences);
  add(actor, "free", false);
}

static void add_hand_off(Trial *trial, Actor *actor, unsigned fences) {
  static const char *const sets[] = {"set", "count", "set2", "rel"}, *const gets[] = {"see", "see2", "acq"};
  if (below(trial, 2)) {
    add_fence(trial, actor, fences);
    add(actor, sets[below(trial, G_N_ELEMENTS(sets))], false);
  } else {
    add(actor, gets[below(trial, G_N_ELEMENTS(gets))], below(trial, 3));
    add_fence(trial, actor, fences);
  }
}

static void write_program(Trial *trial, Actor *actor, unsigned fences) {
  static const char *const data[] = {"put", "get", "put", "get", "vput", "vget"}, *const flags[] = {"look", "clear"};
  for (unsigned i = 2 + below(trial, 4); i > 0; i--) {
    unsigned kind = below(trial, 12);
    if (kind < 4)
      add(actor, data[below(trial, G_N_ELEMENTS(data))], false);
    else if (kind < 9)
      add_hand_off(trial, actor, fences);
    else if (kind < 10)
      add_lock(trial, actor, fences);
    else
      add(actor, kind == 10 ? "lock" : flags[below(trial, G_N_ELEMENTS(flags))], false);
  }
}

/* ---- a run ---- */

static void tell(Trial *trial, unsigned actor, const char *name, const char *end) {
  g_autofree char *step = g_strdup_printf("%c.%s%s", 'a' + (int)actor, name, end);
  g_string_append_printf(trial->script, "%s ", step);
  race_memory_step(trial->memory, step);
}

static bool is_busy(const Trial *trial, unsigned block) {
  for (unsigned i = 0; i < trial->flying; i++)
    if (trial->event[trial->under[i]].actor / 2 == block)
      return true;
  return false;
}

static Done event_of(const Trial *trial, unsigned actor, const char *name) {
  unsigned number = race_memory_inst(name);
  const Inst *inst = lab_inst(trial->memory->lab, number);
  bool atomic = inst->op == OP_ATOM || inst->op == OP_RED;
  return (Done){.actor = actor,
                .inst = number,
                .word = (unsigned)inst->imm / 4,
                .fence = inst->op == OP_MEMBAR,
                .read = atomic || inst->op == OP_LD,
                .write = atomic || inst->op == OP_ST,
                .strong = atomic || inst->sem != SEM_WEAK,
                .release = inst->sem == SEM_RELEASE,
                .acquire = inst->sem == SEM_ACQUIRE,
                .atomic = atomic,
                .source = -1};
}

static bool can_issue(Trial *trial, unsigned number) {
  Actor *actor = &trial->actor[number];
  if (actor->gave_up || actor->next == actor->steps || actor->waits_for >= 0 || trial->events == EVENTS)
    return false;
  Done event = event_of(trial, number, actor->step[actor->next]);
  if ((actor->drains || event.release) && is_busy(trial, number / 2))
    return false;
  return true;
}

/* Of its block's accesses to its word. */
static bool is_first(const Trial *trial, unsigned place) {
  const Done *one = &trial->event[trial->under[place]];
  for (unsigned i = 0; i < place; i++)
    if (trial->event[trial->under[i]].actor / 2 == one->actor / 2 && trial->event[trial->under[i]].word == one->word)
      return false;
  return true;
}

static void perform(Trial *trial, unsigned place) {
  unsigned number = trial->under[place];
  Done *event = &trial->event[number];
  Actor *actor = &trial->actor[event->actor];
  uint32_t value = trial->memory->words[event->word];
  if (is(trial, number, "lock"))
    event->write = value == 0;
  event->source = event->read ? trial->newest[event->word] : -1;
  if (event->write)
    trial->newest[event->word] = (int)number;
  trial->flying--;
  memmove(trial->under + place, trial->under + place + 1, (trial->flying - place) * sizeof *trial->under);
  tell(trial, event->actor, race_memory_name_of(event->inst), "!");
  if (actor->waits_for != (int)number)
    return;
  actor->waits_for = -1;
  if (!actor->awaits[actor->next])
    return;
  if (event->atomic ? event->write : value != 0) {
    actor->next++;
    actor->tries = 0;
  } else {
    actor->gave_up = ++actor->tries == TRIES;
  }
}

static void issue(Trial *trial, unsigned number) {
  Actor *actor = &trial->actor[number];
  const char *name = actor->step[actor->next];
  bool awaits = actor->awaits[actor->next];
  Done *event = &trial->event[trial->events];
  *event = event_of(trial, number, name);
  actor->drains = event->fence;
  if (!event->fence)
    trial->under[trial->flying++] = trial->events;
  if (event->acquire || awaits)
    actor->waits_for = (int)trial->events;
  trial->events++;
  actor->next += !awaits;
  tell(trial, number, name, "");
  if (!event->fence && !event->strong && is_first(trial, trial->flying - 1))
    perform(trial, trial->flying - 1);
}

/* The warps of the first block meet at a barrier, unless one of them waits. */
static void meet(Trial *trial) {
  for (unsigned i = 0; i < 2; i++)
    if (trial->actor[i].waits_for >= 0 || trial->actor[i].drains)
      return;
  trial->barrier[trial->barriers++] = trial->events;
  g_string_append(trial->script, "ab.bar ");
  race_memory_step(trial->memory, "ab.bar");
}

/* The first of those that must stay in order with a random one. */
static unsigned pick(Trial *trial) {
  unsigned last = below(trial, trial->flying), first = 0;
  const Done *one = &trial->event[trial->under[last]];
  while (trial->event[trial->under[first]].actor / 2 != one->actor / 2 ||
         trial->event[trial->under[first]].word != one->word)
    first++;
  return first;
}

static void run(Trial *trial) {
  unsigned pace = below(trial, 4);
  for (;;) {
    unsigned can[ACTORS], count = 0;
    for (unsigned i = 0; i < ACTORS; i++)
      if (can_issue(trial, i))
        can[count++] = i;
    if (count == 0 && trial->flying == 0)
      return;
    if (trial->barriers < trial->barriers_most && below(trial, 6) == 0)
      meet(trial);
    else if (count > 0 && (trial->flying == 0 || below(trial, 4) >= pace))
      issue(trial, can[below(trial, count)]);
    else
      perform(trial, pick(trial));
  }
}

/* ---- the oracle ---- */

static bool has(const uint64_t *order, unsigned from, unsigned to) { return order[from] >> to & 1; }

static int nearest_fence(const Trial *trial, int event, int step) {
  for (int i = event + step; i >= 0 && i < (int)trial->events; i += step)
    if (trial->event[i].fence && trial->event[i].actor == trial->event[event].actor)
      return i;
  return -1;
}

/* The next of the strong writes that a read observes: of a chain of atomic operations each has what the one before
 * left. */
static int next_observed(const Trial *trial, int write) {
  int source = trial->event[write].atomic ? trial->event[write].source : -1;
  return source >= 0 && trial->event[source].strong ? source : -1;
}
static int first_observed(const Trial *trial, unsigned read) {
  int source = trial->event[read].strong ? trial->event[read].source : -1;
  return source >= 0 && trial->event[source].strong ? source : -1;
}

static void close_over(const Trial *trial, uint64_t *order) {
  for (unsigned middle = 0; middle < trial->events; middle++)
    for (unsigned from = 0; from < trial->events; from++)
      order[from] |= has(order, from, middle) ? order[middle] : 0;
}

/* What the block did before a barrier comes before what it did behind. */
static void add_barriers(Trial *trial) {
  for (unsigned i = 0; i < trial->barriers; i++)
    for (unsigned from = 0; from < trial->barrier[i]; from++)
      for (unsigned to = trial->barrier[i]; to < trial->events; to++)
        if (trial->event[from].actor < 2 && trial->event[to].actor < 2)
          trial->before[from] |= UINT64_C(1) << to;
}

static void work_out_order(Trial *trial) {
  add_barriers(trial);
  for (unsigned from = 0; from < trial->events; from++)
    for (unsigned to = from + 1; to < trial->events; to++)
      if (trial->event[from].actor == trial->event[to].actor)
        trial->before[from] |= UINT64_C(1) << to;
  for (unsigned read = 0; read < trial->events; read++) {
    int end = trial->event[read].acquire ? (int)read : nearest_fence(trial, (int)read, 1);
    for (int write = first_observed(trial, read); write >= 0; write = next_observed(trial, write)) {
      int start = trial->event[write].release ? write : nearest_fence(trial, write, -1);
      trial->before_or_observed[write] |= UINT64_C(1) << read;
      if (start >= 0 && end >= 0 && start != end)
        trial->before[start] |= UINT64_C(1) << end;
    }
  }
  close_over(trial, trial->before);
  for (unsigned i = 0; i < trial->events; i++)
    trial->before_or_observed[i] |= trial->before[i];
  close_over(trial, trial->before_or_observed);
}

/* In the causality order. */
static bool comes_before(const Trial *trial, unsigned from, unsigned to) {
  if (has(trial->before, from, to))
    return true;
  for (unsigned read = 0; read < trial->events; read++)
    for (int write = first_observed(trial, read); write >= 0; write = next_observed(trial, write))
      if (write == (int)from && (read == to || has(trial->before, read, to)))
        return true;
  return false;
}

static bool conflict(const Done *a, const Done *b) {
  return !a->fence && !b->fence && a->word == b->word && (a->write || b->write) && !(a->strong && b->strong);
}

/* Some race of these instructions; `sure`: whatever observations count for. */
static bool oracle_races(const Trial *trial, unsigned one, unsigned other, bool sure) {
  for (unsigned i = 0; i < trial->events; i++)
    for (unsigned k = i + 1; k < trial->events; k++) {
      const Done *a = &trial->event[i], *b = &trial->event[k];
      bool asked = sure || (a->inst == one && b->inst == other) || (a->inst == other && b->inst == one);
      bool ordered = sure ? has(trial->before_or_observed, i, k) || has(trial->before_or_observed, k, i)
                          : comes_before(trial, i, k) || comes_before(trial, k, i);
      if (asked && conflict(a, b) && !ordered)
        return true;
    }
  return false;
}

/* ---- the test ---- */

/* Returns whether there is a race. */
static bool check(const Trial *trial, int seed) {
  unsigned told = 0;
  for (guint i = 0; i < trial->memory->findings->len; i++) {
    const Finding *finding = g_ptr_array_index(trial->memory->findings, i);
    if (finding->id != FINDING_DATA_RACE)
      continue;
    const Evidence *first = g_ptr_array_index(finding->evidence, 0), *then = g_ptr_array_index(finding->evidence, 1);
    const char *names[] = {race_memory_name(first->line), race_memory_name(then->line)};
    UNIT_ASSERT(oracle_races(trial, race_memory_inst(names[0]), race_memory_inst(names[1]), false),
                "%d: no race of %s and %s in %s", seed, names[0], names[1], trial->script->str);
    told++;
  }
  bool races = oracle_races(trial, 0, 0, true);
  UNIT_ASSERT(told || !races, "%d: no race found in %s", seed, trial->script->str);
  return races;
}

static bool try_one(int seed) {
  static const unsigned whom[][ACTORS] = {{0, 2}, {0, 1, 2}, {0, 1, 2, 3}};
  Trial trial = {.script = g_string_new(NULL), .newest = {-1, -1, -1}};
  rng_seed(&trial.rng, (uint64_t)seed, 0);
  trial.memory = race_memory_new("", false);
  trial.memory->in_order = true;
  for (unsigned i = 0; i < ACTORS; i++)
    trial.actor[i].waits_for = -1;
  unsigned actors = 2 + below(&trial, 3), fences = 2 + below(&trial, 8);
  trial.barriers_most = actors > 2 ? below(&trial, BARRIERS + 1) : 0;
  for (unsigned i = 0; i < actors; i++)
    write_program(&trial, &trial.actor[whom[actors - 2][i]], fences);
  run(&trial);
  race_memory_finish(trial.memory);
  work_out_order(&trial);
  bool races = check(&trial, seed);
  race_memory_free(trial.memory);
  g_string_free(trial.script, TRUE);
  return races;
}

START_TEST(finds_what_the_causality_order_leaves_unordered) {
  unsigned racy = 0;
  for (int i = 0; i < PROGRAMS; i++)
    racy += try_one(1 + _i * PROGRAMS + i);
  ck_assert_uint_gt(racy, PROGRAMS / 5);
  ck_assert_uint_lt(racy, PROGRAMS * 4 / 5);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("races");
  TCase *tcase = tcase_create("races");
  tcase_set_timeout(tcase, 120);
  tcase_add_loop_test(tcase, finds_what_the_causality_order_leaves_unordered, 0, PARTS);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
