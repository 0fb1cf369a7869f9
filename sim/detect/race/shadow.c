#include "sim/detect/race/shadow.h"

#include <string.h>

#include "base/bits.h"
#include "base/wide.h"

struct ShadowPage {
  Row row[SHADOW_PAGE_ROWS];
};
enum { PAGE_WORDS = SHADOW_PAGE_ROWS * ROW_WORDS };

static void free_page(gpointer data) {
  ShadowPage *page = data;
  for (unsigned i = 0; i < SHADOW_PAGE_ROWS; i++) {
    Row *row = &page->row[i];
    for (unsigned word = 0; row->cells && word < ROW_WORDS; word++) {
      g_free(row->cells[word].list.access);
      g_free(row->cells[word].parts);
    }
    g_free(row->cells);
    g_free(row->list.access);
  }
  g_free(page);
}

void shadow_init(Shadow *shadow) {
  *shadow = (Shadow){.pages = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, free_page)};
}

void shadow_clear(Shadow *shadow) { g_hash_table_destroy(shadow->pages); }

/* NULL: there is none, or, if one is to be made, no room for it. */
static ShadowPage *find_page(Shadow *shadow, uint64_t number, bool make) {
  unsigned slot = (unsigned)((number ^ (number >> 12) * 7) % SHADOW_RECENT);
  if (shadow->recent[slot].page && shadow->recent[slot].number == number)
    return shadow->recent[slot].page;
  ShadowPage *page = g_hash_table_lookup(shadow->pages, (gpointer)(uintptr_t)number);
  if (!page && make && g_hash_table_size(shadow->pages) < SHADOW_PAGES_MAX) {
    page = g_new0(ShadowPage, 1);
    g_hash_table_insert(shadow->pages, (gpointer)(uintptr_t)number, page);
  }
  if (page) {
    shadow->recent[slot].number = number;
    shadow->recent[slot].page = page;
  }
  return page;
}

Row *shadow_row(Shadow *shadow, uint64_t word) {
  ShadowPage *page = find_page(shadow, word / PAGE_WORDS, true);
  return page ? &page->row[word % PAGE_WORDS / ROW_WORDS] : NULL;
}

static void free_list(Shadow *shadow, AccessList *list) {
  shadow->accesses -= list->space;
  g_free(list->access);
  *list = (AccessList){0};
}

/* ---- lists ---- */

/* Eight bytes of an access, from `actor` (with `time`) or `chain` (with what follows) on: lists are long where many
 * warps poll. */
static inline uint64_t eight_bytes(const Access *access, size_t offset) {
  uint64_t bytes;
  memcpy(&bytes, (const char *)access + offset, sizeof bytes);
  return bytes;
}
static inline uint64_t who_of(const Access *access) { return eight_bytes(access, offsetof(Access, actor)); }
static inline uint64_t what_of(const Access *access) { return eight_bytes(access, offsetof(Access, chain)); }

/* Whose access it is, and of when, nearly: a list is mostly searched for one that it hasn't. */
typedef uint16_t Tag;
static inline Tag tag_of(const Access *access) { return (Tag)(who_of(access) * UINT64_C(0x9e3779b97f4a7c15) >> 48); }
static inline Tag *tags_of(const AccessList *list) { return (Tag *)(void *)(list->access + list->space); }

/* More accesses than this are worth a look at all tags. */
enum { TAGS_MIN = 8 };

WIDE_CLONES static bool find_tag(const Tag *tag, unsigned count, Tag wanted) {
  unsigned found = 0;
  for (unsigned i = 0; i < count; i++)
    found += tag[i] == wanted;
  return found;
}

/* False: the list has no access of that warp and time. */
static inline bool may_have(const AccessList *list, const Access *access) {
  return list->count < TAGS_MIN || find_tag(tags_of(list), list->count, tag_of(access));
}

static void grow(AccessList *list, unsigned space) {
  Access *larger = g_malloc(space * (sizeof *larger + sizeof(Tag)));
  if (list->count) {
    memcpy(larger, list->access, list->count * sizeof *larger);
    memcpy(larger + space, tags_of(list), list->count * sizeof(Tag));
  }
  g_free(list->access);
  list->access = larger;
  list->space = (uint8_t)space;
}

static void remove_at(AccessList *list, unsigned at) {
  Tag *tag = tags_of(list);
  list->count--;
  memmove(list->access + at, list->access + at + 1, (list->count - at) * sizeof *list->access);
  memmove(tag + at, tag + at + 1, (list->count - at) * sizeof *tag);
}

/* Access number `from` is number `to` from now on. */
static inline void move(AccessList *list, unsigned to, unsigned from) {
  Tag *tag = tags_of(list);
  list->access[to] = list->access[from];
  tag[to] = tag[from];
}

/* Somebody who may have seen the chain isn't in the list. */
static void note_forgotten(AccessList *list, uint32_t chain) {
  if ((int32_t)(chain + 1 - list->forgot) > 0)
    list->forgot = chain + 1;
}

static inline bool may_be_forgotten(const AccessList *list, uint32_t chain) {
  return (int32_t)(chain - list->forgot) < 0;
}

static void append(Shadow *shadow, AccessList *list, const Access *access) {
  if (list->count == list->space) {
    unsigned space = list->space ? MIN(2u * list->space, (unsigned)CELL_ACCESSES_MAX) : 2;
    if (space == list->space || shadow->accesses + (space - list->space) > SHADOW_ACCESSES_MAX) {
      if (list->count == 0)
        return;
      if (list->access[0].strong && !list->access[0].flying)
        note_forgotten(list, list->access[0].chain);
      remove_at(list, 0);
    } else {
      shadow->accesses += space - list->space;
      grow(list, space);
    }
  }
  list->weakest = list->count ? MIN(list->weakest, access->strong) : access->strong;
  tags_of(list)[list->count] = tag_of(access);
  list->access[list->count++] = *access;
}

static void take_apart(Shadow *shadow, Row *row) {
  row->cells = g_new0(Cell, ROW_WORDS);
  shadow->rows++;
  for (unsigned i = 0; i < row->list.count; i++) {
    Access access = row->list.access[i];
    uint32_t words = access.lanes, shift = access.shift;
    access.shift = 0;
    for (; words; words &= words - 1) {
      unsigned word = (unsigned)__builtin_ctz(words);
      access.lanes = 1u << (word - shift) % ROW_WORDS;
      append(shadow, &row->cells[word].list, &access);
    }
  }
  for (unsigned word = 0; word < ROW_WORDS; word++)
    row->cells[word].whole.raced = row->raced >> word & 1;
  free_list(shadow, &row->list);
}

Cell *shadow_cell(Shadow *shadow, uint64_t word) {
  Row *row = shadow_row(shadow, word);
  if (!row)
    return NULL;
  if (!row->cells) {
    if (shadow->rows >= SHADOW_ROWS_MAX)
      return NULL;
    take_apart(shadow, row);
  }
  return &row->cells[word % ROW_WORDS];
}

static void free_cell(Shadow *shadow, Cell *cell) {
  free_list(shadow, &cell->list);
  g_free(cell->parts);
  *cell = (Cell){0};
}

static void forget_row(Shadow *shadow, Row *row, uint64_t first, ShadowForgotten forgotten, void *user) {
  forgotten(user, first, NULL, row);
  for (unsigned word = 0; row->cells && word < ROW_WORDS; word++) {
    forgotten(user, first + word, &row->cells[word], NULL);
    free_cell(shadow, &row->cells[word]);
  }
  shadow->rows -= row->cells != NULL;
  g_free(row->cells);
  free_list(shadow, &row->list);
  *row = (Row){0};
}

/* The cells of a row that was taken apart, from number `from` to before `end`. */
static void forget_cells(Shadow *shadow, Row *row, uint64_t first, unsigned from, unsigned end,
                         ShadowForgotten forgotten, void *user) {
  for (unsigned word = from; word < end; word++) {
    forgotten(user, first + word, &row->cells[word], NULL);
    free_cell(shadow, &row->cells[word]);
  }
}

void shadow_forget(Shadow *shadow, uint64_t first, uint64_t count, ShadowForgotten forgotten, void *user) {
  uint64_t end = first + count;
  for (uint64_t word = first - first % ROW_WORDS; word < end; word += ROW_WORDS) {
    ShadowPage *page = find_page(shadow, word / PAGE_WORDS, false);
    if (!page)
      continue;
    Row *row = &page->row[word % PAGE_WORDS / ROW_WORDS];
    bool whole = word >= first && word + ROW_WORDS <= end;
    if (!whole && !row->cells && row->list.count && shadow->rows < SHADOW_ROWS_MAX)
      take_apart(shadow, row);
    if (!whole && row->cells)
      forget_cells(shadow, row, word, word < first ? (unsigned)(first - word) : 0,
                   (unsigned)MIN(end - word, (uint64_t)ROW_WORDS), forgotten, user);
    else
      forget_row(shadow, row, word, forgotten, user);
  }
}

/* ---- adding ---- */

static inline uint64_t what_bits(Access access) { return what_of(&access); }
#define WHAT(...) what_bits((Access){__VA_ARGS__})

/* Whoever conflicts with `old` conflicts with `next` too, if `next` is ordered after `old`. */
static inline bool covers(const Access *next, const Access *old) {
  const uint64_t kind = WHAT(.bytes = 0xff, .write = true, .dropped = true, .strong = 0xff);
  if (((what_of(next) ^ what_of(old)) & kind) == 0)
    return true;
  return next->write >= old->write && next->dropped <= old->dropped && next->strong <= old->strong &&
         (old->bytes & ~next->bytes) == 0;
}

static bool in_scope(const Access *access, Nearness nearness) { return access->strong > (uint8_t)nearness; }

static bool both_strong_so_near(const Access *next, const Access *old, const AccessOrder *order) {
  if (!next->strong || !old->strong)
    return false;
  Nearness nearness = order->nearness(order->user, old);
  return in_scope(next, nearness) && in_scope(old, nearness);
}

static inline bool both_strong(const Access *next, const Access *old, const AccessOrder *order) {
  return (in_scope(next, order->farthest) && in_scope(old, order->farthest)) || both_strong_so_near(next, old, order);
}

static inline bool is_before(const AccessOrder *order, const Access *old) {
  if (old->actor == order->actor)
    return order->before(order->user, old);
  bool known = vclock_knows(order->clock, old->actor, old->time);
  if (G_UNLIKELY(order->hidden) && known)
    known = !order->hidden(order->user, old);
  return known || (!order->clock_has_all && order->before(order->user, old));
}

static bool conflicts(const Access *next, const Access *old, const AccessOrder *order) {
  return (next->write || old->write) && (next->bytes & old->bytes) && !both_strong(next, old, order);
}

/* A write that has been performed, and is the newest of a chain so far; `newest` is WHAT() of such a one. */
static inline bool is_grown(const Access *old, uint64_t newest, uint8_t bytes) {
  const uint64_t asked = WHAT(.chain = UINT32_MAX, .write = true, .flying = true);
  return (what_of(old) & asked) == newest && old->strong && (old->bytes & bytes);
}

/* The warp did the same, and released nothing since: who it races with was told then. A read doesn't see less for
 * being repeated, unless it is of another value: of another chain, or of one that has grown since. In a row lanes
 * stand for words, which have to be among those of then. */
static bool repeats(const AccessList *list, const Access *access, bool in_row, const AccessOrder *order) {
  bool sees = order->reads && access->strong;
  uint64_t who = who_of(access),
           newest = WHAT(.chain = access->chain, .write = true); /* outside the loop: it is slow */
  if (!may_have(list, access))
    return false;
  for (unsigned i = list->count; i-- > 0;) {
    const Access *old = &list->access[i];
    if (who_of(old) == who) {
      bool alike = !((in_row || order->by_lanes) && access->lanes & ~old->lanes) &&
                   !(order->by_lanes && access->shift != old->shift);
      if (alike && covers(old, access) && (!sees || (old->strong && !old->flying && old->chain == access->chain)))
        return true;
    }
    if (sees && is_grown(old, newest, access->bytes))
      return false;
  }
  return false;
}

/* Something that the access (`next`, if it is in the cell itself) comes after has observed the write number `at`. */
static G_GNUC_NO_INLINE bool was_observed(const Cell *cell, unsigned at, const Access *next,
                                          const AccessOrder *order) {
  const Access *old = &cell->list.access[at];
  if (!old->flying && may_be_forgotten(&cell->list, old->chain))
    return true;
  for (unsigned i = at + 1; i < cell->list.count && !old->flying; i++) {
    const Access *observer = &cell->list.access[i];
    bool is_next =
        next && observer->actor == next->actor && observer->cycle == next->cycle && observer->pc == next->pc;
    if (observer->strong && !observer->flying && !is_next && observer->chain == old->chain &&
        (observer->bytes & old->bytes) && is_before(order, observer))
      return true;
  }
  return false;
}

bool shadow_may_be_unseen(const Cell *cell, const Access *write, const AccessOrder *order) {
  for (unsigned i = cell->list.count; i-- > 0;) {
    const Access *old = &cell->list.access[i];
    if (old->write && old->actor == write->actor && old->time == write->time && old->pc == write->pc)
      return !is_before(order, old) && !was_observed(cell, i, NULL, order);
  }
  return false;
}

bool shadow_observes(const Access *next, const Access *old, const AccessOrder *order) {
  return order->reads && old->write && old->strong && !old->flying && old->chain == next->chain &&
         old->bytes & next->bytes && both_strong(next, old, order);
}

/* Number `at` comes before the access, or before something that this comes after, in observation order or the
 * other. */
static inline bool is_ordered(const Cell *cell, unsigned at, const Access *next, const AccessOrder *order) {
  const Access *old = &cell->list.access[at];
  return shadow_observes(next, old, order) || is_before(order, old) ||
         (old->write && old->strong && was_observed(cell, at, NULL, order));
}

/* Whether a CAS under way writes isn't known yet, nor for other atomic operations where in the chain they will be. */
static bool is_missed(const Access *old, const Access *access) {
  return old->flying ? !old->open : (int32_t)(old->chain - access->chain) > 0;
}

bool shadow_relies(const Cell *cell, const Access *access, const AccessOrder *order, Access *found, bool *missed) {
  for (unsigned i = cell->list.count; i-- > 0;) {
    const Access *old = &cell->list.access[i];
    *missed = is_missed(old, access);
    bool seen = !old->flying && old->chain == access->chain;
    if (old->write && old->strong && (seen || *missed) && old->bytes & access->bytes &&
        both_strong(access, old, order) && order->handed(order->user, old) && !is_before(order, old) &&
        !was_observed(cell, i, access, order)) {
      *found = *old;
      return true;
    }
  }
  return false;
}

/* `old` has seen a write that is still there, and the access doesn't see it, isn't strong, or comes later: others may
 * be ordered by `old` only. */
static bool is_needed(const Cell *cell, unsigned at, const Access *next) {
  const Access *old = &cell->list.access[at];
  bool at_once = next->actor == old->actor && next->time == old->time;
  if (!old->strong || (at_once && next->strong && old->chain == next->chain))
    return false;
  for (unsigned i = 0; i < at; i++)
    if (cell->list.access[i].write && cell->list.access[i].strong && !cell->list.access[i].flying &&
        cell->list.access[i].chain == old->chain)
      return true;
  return false;
}

/* A strong write may come behind `old` and before what the warp does now, since an access of the warp between the two
 * is under way and observes it. */
static bool is_parted(const AccessList *list, unsigned at, const Access *next) {
  const Access *old = &list->access[at];
  for (unsigned i = 0; i < list->count; i++) {
    const Access *between = &list->access[i];
    if (between->open && between->actor == next->actor && between->cycle < next->cycle &&
        (old->actor != next->actor || old->cycle < between->cycle))
      return true;
  }
  return false;
}

/* `first`: nothing before it is dropped. */
static void drop(AccessList *list, const bool *drops, unsigned first) {
  unsigned kept = first;
  for (unsigned i = first; i < list->count; i++)
    if (!drops[i])
      move(list, kept++, i);
  list->count = (uint8_t)kept;
}

bool shadow_is_behind(const Cell *cell, const AccessOrder *order) {
  for (unsigned i = 0; i < cell->list.count; i++)
    if (cell->list.access[i].flying && order->nearness(order->user, &cell->list.access[i]) == IN_ONE_BLOCK)
      return true;
  return false;
}

unsigned shadow_add(Shadow *shadow, Cell *cell, const Access *access, const AccessOrder *order, Access *race,
                    unsigned max) {
  Access next = *access;
  if (!order->reads && !order->later)
    shadow_end_chain(cell, next.bytes);
  next.chain = shadow_chain(cell, next.bytes);
  if (repeats(&cell->list, &next, false, order))
    return 0;
  AccessList *list = &cell->list;
  unsigned races = 0;
  bool drops[CELL_ACCESSES_MAX];
  unsigned first = list->count;
  for (unsigned i = 0; i < list->count; i++) {
    const Access *old = &list->access[i];
    bool conflicting = conflicts(&next, old, order), covered = covers(&next, old);
    bool ordered = (conflicting || covered) && is_ordered(cell, i, &next, order);
    if (conflicting && !ordered && races < max)
      race[races++] = *old;
    drops[i] = covered && ordered && !old->flying && !is_needed(cell, i, &next) && !is_parted(list, i, &next);
    first = drops[i] ? MIN(first, i) : first;
  }
  drop(list, drops, first);
  append(shadow, list, &next);
  return races;
}

unsigned shadow_look(const Cell *cell, const Access *access, const AccessOrder *order, Access *race, unsigned max) {
  unsigned races = 0;
  for (unsigned i = 0; i < cell->list.count && races < max; i++)
    if (conflicts(access, &cell->list.access[i], order) && !is_ordered(cell, i, access, order))
      race[races++] = cell->list.access[i];
  return races;
}

/* The first access that isn't strong for whoever makes `next`, and the other way round: none before it conflicts with
 * that. */
static unsigned first_near(const AccessList *list, const Access *next, const AccessOrder *order) {
  unsigned first = 0;
  if (in_scope(next, order->farthest) && list->weakest > (uint8_t)order->farthest)
    return list->count;
  if (in_scope(next, order->farthest))
    while (first < list->count && in_scope(&list->access[first], order->farthest))
      first++;
  return first;
}

unsigned shadow_issue(Shadow *shadow, Cell *cell, const Access *access, const AccessOrder *order, Access *race,
                      unsigned max) {
  Access guess = *access; /* as it will be if nobody comes between */
  guess.chain = order->reads ? shadow_chain(cell, guess.bytes) : cell->whole.chain + 1;
  if (repeats(&cell->list, &guess, false, order)) {
    if (access->open && cell->list.count < CELL_ACCESSES_MAX / 2)
      append(shadow, &cell->list, access);
    return 0;
  }
  unsigned races = 0;
  for (unsigned i = first_near(&cell->list, &guess, order); i < cell->list.count && races < max; i++) {
    const Access *old = &cell->list.access[i];
    if (conflicts(&guess, old, order) && !is_ordered(cell, i, &guess, order))
      race[races++] = *old;
  }
  append(shadow, &cell->list, access);
  return races;
}

/* Takes lanes out of an access that is under way. False: it was forgotten, or repeated another. */
static bool land(AccessList *list, uint32_t number, const Access *access) {
  for (unsigned i = list->count; i-- > 0;) {
    Access *old = &list->access[i];
    if (old->chain != number || !old->flying || old->bytes != access->bytes || !(old->lanes & access->lanes))
      continue;
    old->lanes &= ~access->lanes;
    if (old->lanes == 0)
      remove_at(list, i);
    return true;
  }
  return false;
}

/* What is asked of each access of a list, taken out of the loop. */
typedef struct Asked {
  const AccessOrder *order;
  const VClockPart *part;
  uint32_t count, first, floor;
} Asked;

static Asked ask(const AccessOrder *order) {
  const VClock *clock = order->clock;
  return (Asked){order, clock->part, clock->count, clock->count ? clock->part[0].first : 0, clock->floor};
}

static inline bool knows(const Asked *asked, const Access *old) {
  uint32_t at = (old->actor - asked->first) / VCLOCK_RUN;
  if (old->actor >= asked->floor && at < asked->count && old->actor - asked->part[at].first < VCLOCK_RUN)
    return asked->part[at].run->time[old->actor % VCLOCK_RUN] >= old->time;
  return vclock_knows(asked->order->clock, old->actor, old->time);
}

/* is_ordered() of a read of another warp needs nothing but the clock. */
static inline bool is_ordered_in(const Asked *asked, const Cell *cell, unsigned at, const Access *next) {
  const Access *old = &cell->list.access[at];
  if (!old->write && old->actor != asked->order->actor && asked->order->clock_has_all)
    return knows(asked, old);
  return is_ordered(cell, at, next, asked->order);
}

static bool did_the_same(const AccessList *list, const Access *access) {
  uint64_t who = who_of(access);
  if (!may_have(list, access))
    return false;
  for (unsigned i = 0; i < list->count; i++)
    if (who_of(&list->access[i]) == who && covers(&list->access[i], access))
      return true;
  return false;
}

bool shadow_perform(Shadow *shadow, Cell *cell, const Access *access, const AccessOrder *order) {
  AccessList *list = &cell->list;
  Access next = *access;
  next.flying = next.open = false;
  if (!order->reads)
    shadow_end_chain(cell, next.bytes);
  next.chain = shadow_chain(cell, next.bytes);
  bool was_there = land(list, access->chain, access);
  if (repeats(list, &next, false, order))
    return false;
  if (!was_there && !did_the_same(list, &next)) { /* the list had no room for it */
    note_forgotten(list, next.chain);
    return true;
  }
  bool drops[CELL_ACCESSES_MAX];
  unsigned first = list->count;
  Asked asked = ask(order);
  for (unsigned i = 0; i < list->count; i++) {
    const Access *old = &list->access[i];
    drops[i] = !old->flying && covers(&next, old) && is_ordered_in(&asked, cell, i, &next) &&
               !is_needed(cell, i, &next) && !is_parted(list, i, &next);
    first = drops[i] ? MIN(first, i) : first;
  }
  drop(list, drops, first);
  append(shadow, list, &next);
  return true;
}

bool shadow_first_read(const Cell *cell, const Access *write, uint32_t actor, Access *found) {
  for (unsigned i = 0; i < cell->list.count; i++) {
    const Access *access = &cell->list.access[i];
    if (access->actor == actor && access->strong && !access->flying && access->chain == write->chain &&
        (access->bytes & write->bytes)) {
      *found = *access;
      return true;
    }
  }
  return false;
}

bool shadow_was_observed(const Cell *cell, const Access *earlier, const AccessOrder *order) {
  if (!earlier->write || !earlier->strong)
    return false;
  /* That is enough if it was dropped: then one of them covers it. */
  bool by_others = !earlier->flying && may_be_forgotten(&cell->list, earlier->chain);
  for (unsigned i = 0; i < cell->list.count; i++) {
    const Access *now = &cell->list.access[i];
    if (now->actor == earlier->actor && now->time == earlier->time && now->pc == earlier->pc &&
        now->bytes == earlier->bytes)
      return was_observed(cell, i, NULL, order);
    by_others |= now->strong && !now->flying && !earlier->flying && now->chain == earlier->chain &&
                 (now->bytes & earlier->bytes) && is_before(order, now);
  }
  return by_others;
}

/* Of plain accesses: if it isn't ordered for all lanes that touched words of both, it may be so for those of each
 * word. */
typedef enum { ROW_ORDERED, ROW_UNORDERED, ROW_UNCLEAR } RowOrdered;

static RowOrdered row_ordered(const Access *next, const Access *old, const AccessOrder *order) {
  if (is_before(order, old))
    return ROW_ORDERED;
  if (order->hidden && order->hidden(order->user, old))
    return ROW_UNCLEAR;
  if (!order->by_lanes || next->actor != old->actor)
    return ROW_UNORDERED;
  return next->shift == old->shift ? ROW_ORDERED : ROW_UNCLEAR; /* each lane comes after itself */
}

/* Adds what `old`, which touched `common` of the words, races with. */
static void add_row_race(const Access *access, const Access *old, uint32_t common, Access *race, unsigned max,
                         unsigned *races) {
  if ((!access->write && !old->write) || *races == max)
    return;
  race[*races] = *old;
  race[(*races)++].lanes = common;
}

bool shadow_look_row(const Row *row, const Access *access, const AccessOrder *order, Access *race, unsigned max,
                     unsigned *races) {
  *races = 0;
  for (unsigned i = 0; i < row->list.count; i++) {
    const Access *old = &row->list.access[i];
    uint32_t common = old->lanes & access->lanes;
    RowOrdered ordered = common ? row_ordered(access, old, order) : ROW_ORDERED;
    if (ordered == ROW_UNCLEAR)
      return false;
    if (ordered == ROW_UNORDERED)
      add_row_race(access, old, common, race, max, races);
  }
  return true;
}

/* Nothing is changed before it is clear that the row can stay whole. */
bool shadow_add_row(Shadow *shadow, Row *row, const Access *access, const AccessOrder *order, Access *race,
                    unsigned max, unsigned *races) {
  AccessList *list = &row->list;
  uint32_t left[ROW_ACCESSES_MAX];
  *races = 0;
  if (repeats(list, access, true, order))
    return true;
  if (list->count >= ROW_ACCESSES_MAX)
    return false;
  for (unsigned i = 0; i < list->count; i++) {
    const Access *old = &list->access[i];
    uint32_t common = old->lanes & access->lanes;
    left[i] = old->lanes;
    if (!common)
      continue;
    RowOrdered ordered = row_ordered(access, old, order);
    if (ordered == ROW_UNCLEAR)
      return false;
    if (ordered == ROW_ORDERED && covers(access, old))
      left[i] &= ~common;
    if (ordered == ROW_UNORDERED)
      add_row_race(access, old, common, race, max, races);
  }
  unsigned kept = 0;
  for (unsigned i = 0; i < list->count; i++) {
    if (!left[i])
      continue;
    move(list, kept, i);
    list->access[kept++].lanes = left[i];
  }
  list->count = (uint8_t)kept;
  append(shadow, list, access);
  return true;
}
