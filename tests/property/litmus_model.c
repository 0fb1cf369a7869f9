/* Which outcomes the PTX memory model allows ("PTX ISA", memory consistency model; section names in quotes).
 * Executions are enumerated: what each load reads from, in which order the stores to a word are, in which order the
 * fences. An execution that no axiom forbids gives an allowed outcome. What the text leaves open is allowed here.
 *
 * The words' first values are stores that come before everything ("start of a CUDA kernel synchronizes with start of
 * all threads"), and what they hold in the end is loads that come after everything. No program computes what it
 * stores, so "No Thin Air" forbids nothing; no atomic operation is in them, so "Atomicity" doesn't, either. */
#include <string.h>

#include "tests/property/litmus.h"

enum { EVENTS = 2 * LITMUS_WORDS + LITMUS_THREADS * (LITMUS_ACCESSES + 1), FENCES = LITMUS_THREADS };
enum { THREAD_FIRST = -1, THREAD_END = LITMUS_THREADS };

typedef uint32_t Row; /* of a relation: a bit for each event that comes after */

typedef enum { EVENT_READ, EVENT_WRITE, EVENT_FENCE } EventKind;

typedef struct Event {
  EventKind kind;
  int thread;
  unsigned word, value;
  LitmusReach strong, ordered;
  bool sc;
  unsigned source; /* of a read: the write that it reads from */
} Event;

typedef struct Execution {
  Event events[EVENTS];
  unsigned count;
  bool together; /* all threads are of one block */
  Row program[EVENTS];
  Row fence[EVENTS]; /* Fence-SC order */
  Row order[EVENTS]; /* coherence order */
  LitmusSet *set;
} Execution;

static bool has(const Row *relation, unsigned from, unsigned to) { return relation[from] >> to & 1; }
static void put(Row *relation, unsigned from, unsigned to) { relation[from] |= (Row)1 << to; }

static void close_transitively(Row *relation, unsigned count) {
  for (unsigned via = 0; via < count; via++)
    for (unsigned from = 0; from < count; from++)
      if (has(relation, from, via))
        relation[from] |= relation[via];
}

static bool is_cyclic(const Row *relation, unsigned count) {
  Row closed[EVENTS];
  memcpy(closed, relation, sizeof closed);
  close_transitively(closed, count);
  for (unsigned i = 0; i < count; i++)
    if (has(closed, i, i))
      return true;
  return false;
}

static bool is_memory(const Event *event) { return event->kind != EVENT_FENCE; }
static bool overlap(const Event *a, const Event *b) { return is_memory(a) && is_memory(b) && a->word == b->word; }
static bool is_inner(const Event *event) { return event->thread > THREAD_FIRST && event->thread < THREAD_END; }

/* "Morally strong operations". */
static bool morally_strong(const Execution *run, const Event *a, const Event *b) {
  if (!is_inner(a) || !is_inner(b) || (is_memory(a) && is_memory(b) && a->word != b->word))
    return false;
  LitmusReach needed = run->together ? REACH_CTA : REACH_GPU;
  return a->thread == b->thread || (a->strong >= needed && b->strong >= needed);
}

/* "Release and acquire patterns": the pattern that begins with `first`, if its write is `write`. */
static bool releases(const Execution *run, unsigned first, unsigned write) {
  const Event *a = &run->events[first], *b = &run->events[write];
  if (!a->ordered || b->kind != EVENT_WRITE || a->kind == EVENT_READ || !b->strong)
    return false;
  return first == write || (has(run->program, first, write) && (a->kind == EVENT_FENCE || overlap(a, b)));
}
static bool acquires(const Execution *run, unsigned read, unsigned last) {
  const Event *a = &run->events[read], *b = &run->events[last];
  if (!b->ordered || a->kind != EVENT_READ || b->kind == EVENT_WRITE || !a->strong)
    return false;
  return read == last || (has(run->program, read, last) && (b->kind == EVENT_FENCE || overlap(a, b)));
}

/* "Observation order": a read reads from a write and both are morally strong. */
static bool observes(const Execution *run, unsigned write, unsigned read) {
  const Event *a = &run->events[write], *b = &run->events[read];
  return a->kind == EVENT_WRITE && b->kind == EVENT_READ && b->source == write && morally_strong(run, a, b);
}

/* "Memory synchronization". */
static bool synchronizes(const Execution *run, unsigned first, unsigned last) {
  const Event *a = &run->events[first], *b = &run->events[last];
  if (has(run->fence, first, last) || (a->thread == THREAD_FIRST && b->thread != THREAD_FIRST) ||
      (b->thread == THREAD_END && a->thread != THREAD_END))
    return true;
  if (a->thread == b->thread || !morally_strong(run, a, b))
    return false;
  for (unsigned write = 0; write < run->count; write++)
    for (unsigned read = 0; releases(run, first, write) && read < run->count; read++)
      if (observes(run, write, read) && acquires(run, read, last))
        return true;
  return false;
}

/* "Causality order". False if its base contradicts the order of fences, which "Fence-SC" forbids. */
static bool find_causality(const Execution *run, Row causality[EVENTS]) {
  Row base[EVENTS], same[EVENTS] = {0};
  memcpy(base, run->program, sizeof base);
  for (unsigned a = 0; a < run->count; a++)
    for (unsigned b = 0; b < run->count; b++)
      if (a != b && !has(base, a, b) && synchronizes(run, a, b))
        put(base, a, b);
  close_transitively(base, run->count);
  for (unsigned a = 0; a < run->count; a++)
    for (unsigned b = 0; b < run->count; b++) {
      if (has(base, a, b) && has(run->fence, b, a))
        return false;
      if (has(base, a, b) && overlap(&run->events[a], &run->events[b]))
        put(same, a, b);
    }
  memcpy(causality, same, sizeof same);
  for (unsigned a = 0; a < run->count; a++)
    for (unsigned b = 0; b < run->count; b++)
      if (observes(run, a, b))
        causality[a] |= same[b];
  return true;
}

/* "Coherence order" relates morally strong writes and those related in causality, and no others. */
static bool order_is_right(const Execution *run, const Row causality[EVENTS]) {
  for (unsigned a = 0; a < run->count; a++)
    for (unsigned b = 0; b < run->count; b++) {
      const Event *first = &run->events[a], *second = &run->events[b];
      if (a == b || first->kind != EVENT_WRITE || second->kind != EVENT_WRITE || !overlap(first, second))
        continue;
      bool ordered = has(run->order, a, b);
      if (has(causality, a, b) && !ordered) /* "Coherence" */
        return false;
      if (ordered && !has(causality, a, b) && !morally_strong(run, first, second))
        return false;
      if (!ordered && !has(run->order, b, a) && morally_strong(run, first, second))
        return false;
    }
  return true;
}

/* "Communication order": `read` reads from a write that comes before `write`. */
static bool reads_before(const Execution *run, unsigned read, unsigned write) {
  return has(run->order, run->events[read].source, write);
}

/* "Sequential consistency per location". */
static bool is_consistent_per_word(const Execution *run) {
  Row edges[EVENTS] = {0};
  for (unsigned a = 0; a < run->count; a++)
    for (unsigned b = 0; b < run->count; b++) {
      const Event *first = &run->events[a], *second = &run->events[b];
      if (a == b || !overlap(first, second))
        continue;
      bool writes = first->kind == EVENT_WRITE, written = second->kind == EVENT_WRITE;
      bool communicates =
          writes ? (written ? has(run->order, a, b) : second->source == a) : (written && reads_before(run, a, b));
      if (has(run->program, a, b) || (communicates && morally_strong(run, first, second)))
        put(edges, a, b);
    }
  return !is_cyclic(edges, run->count);
}

/* "Causality". */
static bool is_causal(const Execution *run, const Row causality[EVENTS]) {
  for (unsigned read = 0; read < run->count; read++) {
    if (run->events[read].kind != EVENT_READ)
      continue;
    for (unsigned write = 0; write < run->count; write++) {
      if (run->events[write].kind != EVENT_WRITE || !overlap(&run->events[read], &run->events[write]))
        continue;
      if ((has(causality, read, write) && run->events[read].source == write) ||
          (has(causality, write, read) && reads_before(run, read, write)))
        return false;
    }
  }
  return true;
}

static unsigned outcome_of(const Execution *run) {
  unsigned outcome = 0, reads = 0;
  for (unsigned i = 0; i < run->count; i++) {
    const Event *event = &run->events[i];
    if (event->kind == EVENT_READ) {
      unsigned place = event->thread == THREAD_END ? 2 * LITMUS_THREADS + 2 * event->word : 2 * reads++;
      outcome |= run->events[event->source].value << place;
    }
  }
  return outcome;
}

static void judge(const Execution *run) {
  Row causality[EVENTS];
  if (find_causality(run, causality) && order_is_right(run, causality) && is_consistent_per_word(run) &&
      is_causal(run, causality))
    run->set->has[outcome_of(run)] = true;
}

/* ---- all executions ---- */

/* Pairs of writes to one word, then pairs of fences, from the pair (a, b) on. */
static void choose_orders(Execution *run, unsigned a, unsigned b) {
  for (; a < run->count; a++, b = a + 1)
    for (; b < run->count; b++) {
      const Event *first = &run->events[a], *second = &run->events[b];
      bool writes = first->kind == EVENT_WRITE && second->kind == EVENT_WRITE && overlap(first, second);
      bool fences = first->sc && second->sc && morally_strong(run, first, second);
      if (!writes && !fences)
        continue;
      Row *relation = writes ? run->order : run->fence;
      Row before[EVENTS];
      memcpy(before, relation, sizeof before);
      put(relation, a, b);
      choose_orders(run, a, b + 1);
      memcpy(relation, before, sizeof before);
      if (first->thread == THREAD_FIRST) /* it comes before everything in causality order: "Coherence" */
        return;
      put(relation, b, a);
      choose_orders(run, a, b + 1);
      memcpy(relation, before, sizeof before);
      if (writes) /* unrelated */
        choose_orders(run, a, b + 1);
      return;
    }
  if (!is_cyclic(run->order, run->count) && !is_cyclic(run->fence, run->count)) {
    Execution closed = *run;
    close_transitively(closed.order, run->count);
    close_transitively(closed.fence, run->count);
    judge(&closed);
  }
}

static void choose_sources(Execution *run, unsigned read) {
  while (read < run->count && run->events[read].kind != EVENT_READ)
    read++;
  if (read == run->count) {
    choose_orders(run, 0, 1);
    return;
  }
  for (unsigned write = 0; write < run->count; write++) {
    if (run->events[write].kind != EVENT_WRITE || !overlap(&run->events[write], &run->events[read]))
      continue;
    run->events[read].source = write;
    choose_sources(run, read + 1);
  }
}

static void add(Execution *run, Event event) {
  unsigned index = run->count++;
  for (unsigned i = 0; i < index; i++)
    if (is_inner(&event) && run->events[i].thread == event.thread)
      put(run->program, i, index);
  run->events[index] = event;
}

void litmus_allowed(const LitmusCase *one, LitmusPlace place, LitmusSet *set) {
  Execution run = {.together = place == PLACE_WARP || place == PLACE_BLOCK, .set = set};
  memset(set, 0, sizeof *set);
  for (unsigned word = 0; word < LITMUS_WORDS; word++)
    add(&run, (Event){.kind = EVENT_WRITE, .thread = THREAD_FIRST, .word = word});
  for (unsigned thread = 0; thread < one->test->threads; thread++) {
    const LitmusAccess *accesses = one->test->accesses[thread];
    for (unsigned i = 0; i < LITMUS_ACCESSES && accesses[i].kind; i++) {
      if (i && one->fence->reach)
        add(&run, (Event){.kind = EVENT_FENCE,
                          .thread = (int)thread,
                          .strong = one->fence->reach,
                          .ordered = one->fence->reach,
                          .sc = one->fence->sc});
      add(&run, (Event){.kind = accesses[i].kind == LITMUS_READ ? EVENT_READ : EVENT_WRITE,
                        .thread = (int)thread,
                        .word = accesses[i].word,
                        .value = accesses[i].value,
                        .strong = one->form->strong,
                        .ordered = one->form->ordered});
    }
  }
  for (unsigned word = 0; word < LITMUS_WORDS; word++)
    add(&run, (Event){.kind = EVENT_READ, .thread = THREAD_END, .word = word});
  choose_sources(&run, 0);
}

/* ---- interleavings ---- */

typedef struct Interleaving {
  const LitmusTest *test;
  LitmusSet *set;
  unsigned done[LITMUS_THREADS], words[LITMUS_WORDS], seen[LITMUS_THREADS][LITMUS_ACCESSES];
} Interleaving;

static unsigned interleaved_outcome(const Interleaving *state) {
  unsigned outcome = 0, reads = 0;
  for (unsigned thread = 0; thread < state->test->threads; thread++)
    for (unsigned i = 0; i < LITMUS_ACCESSES; i++)
      if (state->test->accesses[thread][i].kind == LITMUS_READ)
        outcome |= state->seen[thread][i] << 2 * reads++;
  for (unsigned word = 0; word < LITMUS_WORDS; word++)
    outcome |= state->words[word] << (2 * LITMUS_THREADS + 2 * word);
  return outcome;
}

static void interleave(Interleaving state) {
  bool ended = true;
  for (unsigned thread = 0; thread < state.test->threads; thread++) {
    unsigned at = state.done[thread];
    const LitmusAccess *access = &state.test->accesses[thread][at];
    if (at == LITMUS_ACCESSES || !access->kind)
      continue;
    ended = false;
    Interleaving next = state;
    next.done[thread]++;
    if (access->kind == LITMUS_READ)
      next.seen[thread][at] = state.words[access->word];
    else
      next.words[access->word] = access->value;
    interleave(next);
  }
  if (ended)
    state.set->has[interleaved_outcome(&state)] = true;
}

void litmus_sequential(const LitmusTest *test, LitmusSet *set) {
  memset(set, 0, sizeof *set);
  interleave((Interleaving){.test = test, .set = set});
}

/* ---- names of outcomes ---- */

unsigned litmus_reads(const LitmusTest *test) {
  unsigned reads = 0;
  for (unsigned thread = 0; thread < test->threads; thread++)
    for (unsigned i = 0; i < LITMUS_ACCESSES; i++)
      reads += test->accesses[thread][i].kind == LITMUS_READ;
  return reads;
}

char *litmus_outcome_text(const LitmusTest *test, unsigned outcome) {
  GString *text = g_string_new(NULL);
  for (unsigned i = 0; i < litmus_reads(test); i++)
    g_string_append_printf(text, "%u", outcome >> 2 * i & 3);
  g_string_append_c(text, '/');
  for (unsigned word = 0; word < LITMUS_WORDS; word++)
    g_string_append_printf(text, "%u", outcome >> (2 * LITMUS_THREADS + 2 * word) & 3);
  return g_string_free(text, FALSE);
}

unsigned litmus_outcome_parse(const LitmusTest *test, const char *text) {
  unsigned outcome = 0, reads = litmus_reads(test);
  if (strlen(text) != reads + 1 + LITMUS_WORDS || text[reads] != '/' ||
      strspn(text, "0123/") != reads + 1 + LITMUS_WORDS)
    return LITMUS_OUTCOMES;
  for (unsigned i = 0; i < reads; i++)
    outcome |= (unsigned)(text[i] - '0') << 2 * i;
  for (unsigned word = 0; word < LITMUS_WORDS; word++)
    outcome |= (unsigned)(text[reads + 1 + word] - '0') << (2 * LITMUS_THREADS + 2 * word);
  return outcome;
}
