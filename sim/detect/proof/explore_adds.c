/* What a lane's atomic adds make of words, over all ways that it may go. */
#include "sim/detect/proof/explore_step.h"

/* With larger steps a counter comes round before long. */
enum { RISE_MAX = 255 };

static int64_t signed_of(uint32_t number) { return (int64_t)(int32_t)number; }

/* ---- shares ---- */

static AddShare *share_of(WarpView *view, unsigned lane, WordKey key) {
  for (guint i = 0; i < view->shares->len; i++) {
    AddShare *share = &g_array_index(view->shares, AddShare, i);
    if (share->key == key && share->lane == lane)
      return share;
  }
  AddShare new = {.key = key, .lane = lane};
  g_array_append_val(view->shares, new);
  return &g_array_index(view->shares, AddShare, view->shares->len - 1);
}

/* How much more than `known`, which grows to that. */
static uint64_t grow(uint64_t *known, uint64_t sum) {
  uint64_t more = sum > *known ? sum - *known : 0;
  *known += more;
  return more;
}

/* The lane may add so much to the word. */
static void count_adds(Explorer *explorer, WarpView *view, unsigned lane, const LaneAdds *adds) {
  const AddSums *sums = &adds->sums;
  AddSums *known = &share_of(view, lane, adds->key)->sums;
  AddSums more = {.up = grow(&known->up, sums->up),
                  .down = grow(&known->down, sums->down),
                  .later_up = grow(&known->later_up, sums->later_up),
                  .later_down = grow(&known->later_down, sums->later_down),
                  .step = sums->step};
  bool finer = !known->step || sums->step % known->step;
  if (!sums->step || (!finer && !more.up && !more.down && !more.later_up && !more.later_down))
    return;
  known->step = abstract_common_step(sums->step, known->step);
  AbstractMemory *memory = &explorer->memory;
  abstract_add_sums(memory, abstract_word(memory, view->sm, adds->key), &more);
}

void explore_repeat_adds(Explorer *explorer, WarpView *view, unsigned lane, const GArray *adds) {
  for (guint i = 0; i < adds->len; i++)
    count_adds(explorer, view, lane, &g_array_index(adds, LaneAdds, i));
}

/* ---- sums over ways ---- */

/* The search for the highest sum, or with `sign` -1 the lowest one, of what is added to the word on the way to each
 * state. */
typedef struct Ways {
  const StateSet *states;
  const GArray *changes;
  WordKey key;
  int sign;
  int64_t *sum;    /* of each state; INT64_MIN: nobody came there so far */
  uint32_t *first; /* of each state: its first edge; edges stand sorted */
  uint8_t *is_open; /* of each state: its successors are to be looked at */
  uint32_t lowest;  /* no state below it is open */
  bool seen;        /* a search has been on all ways: each edge has one change at most */
} Ways;

static bool is_of(const LaneChange *change, WordKey key) { return change->key == key && !change->unknown; }

/* What is added on the way. False: several changes are made there. */
static bool weigh(const Ways *ways, const StateEdge *edge, int64_t *weight) {
  *weight = 0;
  if (edge->change == SEVERAL_CHANGES)
    return false;
  const LaneChange *change = edge->change ? &g_array_index(ways->changes, LaneChange, edge->change - 1) : NULL;
  if (change && is_of(change, ways->key))
    *weight = ways->sign * signed_of(change->number);
  return true;
}

static void come_to(Ways *ways, uint32_t state, int64_t sum) {
  if (ways->sum[state] >= sum)
    return;
  ways->sum[state] = sum;
  ways->is_open[state] = 1;
  ways->lowest = MIN(ways->lowest, state);
}

/* The lowest open state, which isn't any longer: most edges lead to higher ones, so few states are looked at twice.
 * False: none is open. */
static bool take_lowest(Ways *ways, uint32_t *state) {
  uint32_t left = ways->states->count - ways->lowest;
  uint8_t *open = left ? memchr(ways->is_open + ways->lowest, 1, left) : NULL;
  if (!open)
    return false;
  *open = 0;
  *state = (uint32_t)(open - ways->is_open);
  ways->lowest = *state + 1;
  return true;
}

/* The sums of all numbers of that sign: who comes to no state twice adds no more. */
static int64_t all_of(const Ways *ways, bool before_first) {
  int64_t all = 0;
  for (guint i = 0; i < ways->changes->len; i++) {
    const LaneChange *change = &g_array_index(ways->changes, LaneChange, i);
    if (is_of(change, ways->key) && (!before_first || change->state == NO_STATE))
      all += MAX(ways->sign * signed_of(change->number), 0);
  }
  return all;
}

/* False if the sum grows without end, on a way that comes round, or isn't known. */
static bool follow(Ways *ways, int64_t most) {
  for (uint32_t state; take_lowest(ways, &state);)
    for (uint32_t at = ways->first[state]; at < ways->first[state + 1]; at++) {
      const StateEdge *edge = &g_array_index(ways->states->edges, StateEdge, at);
      int64_t weight;
      if (!weigh(ways, edge, &weight) || ways->sum[state] + weight > most)
        return false;
      come_to(ways, edge->to, ways->sum[state] + weight);
    }
  return true;
}

/* The highest sum of all, as far as it is positive, with what comes before the first state. False: it isn't known. */
static bool find_highest(Ways *ways, int sign, uint64_t *highest) {
  const StateSet *states = ways->states;
  ways->sign = sign;
  int64_t most = all_of(ways, false);
  *highest = 0;
  if (ways->seen && !most)
    return true;
  ways->lowest = states->count;
  if (states->count)
    memset(ways->is_open, 0, states->count);
  for (uint32_t i = 0; i < states->count; i++)
    ways->sum[i] = INT64_MIN;
  for (uint32_t i = 0; i < states->roots; i++)
    come_to(ways, i, 0);
  ways->seen = follow(ways, most);
  int64_t found = 0;
  for (uint32_t i = 0; i < states->count; i++)
    found = MAX(found, ways->sum[i]);
  *highest = (uint64_t)(found + all_of(ways, true));
  return ways->seen;
}

static uint32_t *find_first_edges(const StateSet *states) {
  uint32_t *first = g_new(uint32_t, states->count + 1), edge = 0;
  for (uint32_t state = 0; state <= states->count; state++) {
    while (edge < states->edges->len && g_array_index(states->edges, StateEdge, edge).from < state)
      edge++;
    first[state] = edge;
  }
  return first;
}

/* The sums on all ways of the lane. False: they have no end, or aren't known. */
static bool sum_ways(const LaneWalk *walk, WordKey key, AddSums *sums) {
  const StateSet *states = &walk->view->facts->states;
  if (!states->keeps_edges)
    return false;
  g_autofree uint32_t *first = find_first_edges(states);
  g_autofree int64_t *sum = g_new(int64_t, states->count);
  g_autofree uint8_t *is_open = g_new(uint8_t, states->count);
  Ways ways = {
      .states = states, .changes = walk->changes, .key = key, .sum = sum, .first = first, .is_open = is_open};
  return find_highest(&ways, 1, &sums->up) && find_highest(&ways, -1, &sums->down);
}

/* ---- changes ---- */

/* What a lane does to a word. */
typedef struct Deeds {
  bool unknown; /* it may become anything */
  bool again;   /* the lane may come back to where it adds */
  bool rises;   /* and all that it adds there is positive and small */
  AddSums sums; /* of all numbers, each once */
} Deeds;

static Deeds deeds_of(const LaneWalk *walk, WordKey key) {
  StateSet *states = &walk->view->facts->states;
  Deeds deeds = {.rises = true};
  for (guint i = 0; i < walk->changes->len; i++) {
    const LaneChange *change = &g_array_index(walk->changes, LaneChange, i);
    if (change->key != key)
      continue;
    bool again = change->state != NO_STATE && state_set_returns(states, change->state);
    deeds.unknown |= change->unknown;
    deeds.again |= again;
    deeds.rises &= !again || change->number <= RISE_MAX;
    AddSums one = abstract_sums_of(change->unknown ? 0 : change->number);
    deeds.sums.up += one.up;
    deeds.sums.down += one.down;
    deeds.sums.step = abstract_common_step(one.step, deeds.sums.step);
  }
  deeds.sums.later_up = deeds.sums.up;
  deeds.sums.later_down = deeds.sums.down;
  return deeds;
}

/* A part of a way adds no more than the highest sum less the lowest one. */
static void bound(Deeds *deeds, const AddSums *on_ways) {
  uint64_t all = on_ways->up + on_ways->down;
  AddSums *sums = &deeds->sums;
  sums->up = on_ways->up;
  sums->down = on_ways->down;
  sums->later_up = deeds->again ? all : MIN(all, sums->later_up);
  sums->later_down = deeds->again ? all : MIN(all, sums->later_down);
}

static void apply_to_word(LaneWalk *walk, WordKey key) {
  AbstractMemory *memory = &walk->explorer->memory;
  ValueSet *set = abstract_word(memory, walk->view->sm, key);
  Deeds deeds = deeds_of(walk, key);
  AddSums on_ways;
  if (!deeds.unknown && sum_ways(walk, key, &on_ways)) {
    bound(&deeds, &on_ways);
  } else if (!deeds.unknown && deeds.again && memory->rising && deeds.rises) {
    abstract_add_rising(memory, set);
  } else if (deeds.unknown || deeds.again) {
    abstract_add_anything(memory, set);
    return;
  }
  LaneAdds adds = {key, deeds.sums};
  g_array_append_val(walk->adds, adds);
}

static bool is_first_of_its_word(const GArray *changes, guint index) {
  WordKey key = g_array_index(changes, LaneChange, index).key;
  for (guint i = 0; i < index; i++)
    if (g_array_index(changes, LaneChange, i).key == key)
      return false;
  return true;
}

void explore_apply_changes(LaneWalk *walk) {
  g_array_set_size(walk->adds, 0);
  for (guint i = 0; i < walk->changes->len; i++)
    if (is_first_of_its_word(walk->changes, i))
      apply_to_word(walk, g_array_index(walk->changes, LaneChange, i).key);
  explore_repeat_adds(walk->explorer, walk->view, walk->lane, walk->adds);
}
