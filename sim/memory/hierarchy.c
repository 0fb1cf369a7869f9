#include <string.h>

#include "base/bits.h"
#include "sim/memory/hierarchy.h"
#include "sim/memory/hierarchy_inner.h"
#include "sim/memory/mem_clock.h"

/* ---- what is counted, and told ---- */

/* The part has been performed in its slice. */
static void count_performed(Hierarchy *h, const Part *part) {
  SliceStats *stats = &h->stats.slice[part->slice];
  link_stats_add(&stats->out, part->in);
  if (part->away)
    link_stats_add(&h->stats.home, part->in);
  switch (part->kind) {
  case MEM_LOAD: stats->loads++; return;
  case MEM_STORE: stats->stores++; return;
  default: stats->atomics++; stats->operations += bits_count(part->lanes);
  }
}

/* ---- the reply ---- */

static Away *away_of(const Hierarchy *h, const Part *part) {
  return &h->away[part->sm * AWAY_LINES + part->line % AWAY_LINES];
}

/* The part, which had its turn in its slice, is looked up again in cycle `due`; waits: what it waits there, in
 * thousandths. */
static void look_up_again(Hierarchy *h, uint32_t index, uint64_t due, uint64_t waits) {
  Part *part = part_at(&h->queue, index);
  part->stage = PART_LOOKUP;
  h->slice[part->slice].waiting++;
  slice_stats_wait(&h->stats.slice[part->slice], waits);
  part_queue_push(&h->queue, index, due);
}

/* What waited here is looked up again, later in this cycle. */
static void look_again(Hierarchy *h, Away *away, uint64_t cycle) {
  for (uint32_t index = away->parked.first, next; index != PART_NONE; index = next) {
    next = part_at(&h->queue, index)->next;
    look_up_again(h, index, cycle, 0);
  }
  away->parked.first = PART_NONE;
}

/* What crossed to its line's home is performed there. A load's half has a copy then, and a store's if it had one
 * before or the store wrote whole sectors. */
static inline void end_crossing(Hierarchy *h, const Part *part, uint64_t cycle) {
  if (--away_of(h, part)->crossed == 0)
    look_again(h, away_of(h, part), cycle);
  if (part->kind != MEM_LOAD)
    --*lines_passing(h, part);
  if (part->kind == MEM_LOAD || part->copied)
    lines_keep_copy(h, part, cycle);
}

/* Its words are to be read or changed in this cycle; `milli`: when the slice sends the reply off. */
static inline void perform(Hierarchy *h, uint32_t index, uint64_t cycle, uint64_t milli) {
  Part *part = part_at(&h->queue, index);
  part->due = cycle;
  if (part->away)
    end_crossing(h, part, cycle);
  part_queue_done(&h->queue, index, milli, h->home ? hierarchy_note_owner(h, part) : 0);
}

static inline void perform_in_slice(Hierarchy *h, uint32_t index, uint64_t cycle) {
  const Part *part = part_at(&h->queue, index);
  uint32_t first = hierarchy_first_slice(h, part);
  uint64_t milli = milli_of(cycle) + h->latency + crossbar_back(&h->crossbar, part->sm, first);
  if (part->away && part->kind == MEM_LOAD)
    milli += crossbar_wait_back(&h->crossbar, part, milli_of(cycle));
  if (part->away)
    milli += crossbar_back_over(&h->crossbar, part->slice) + (part->kind == MEM_ATOMIC ? h->crossbar.far_atomic : 0);
  count_performed(h, part);
  gate_leave(h, index, cycle);
  if (part->kind == MEM_ATOMIC)
    milli += part->unused ? h->reduction_latency : part->exchange ? h->exchange_latency : h->atomic_latency;
  perform(h, index, cycle, milli);
}

/* What a part takes of its slice, or of one in its SM's half on its way to the other one. */
static uint64_t slice_takes(const Hierarchy *h, const Part *part) {
  uint32_t sectors = part->shape.sector_count;
  if (part->shape.joined)
    return 0;
  switch (part->kind) {
  case MEM_LOAD: return MAX(h->load, h->load_sector * sectors);
  case MEM_STORE: return MAX(h->store, h->store_sector * sectors);
  default:
    if (!h->pass || part->at_home)
      return h->atomic;
    if (part_is_short(part))
      return h->pass_reduction * MAX(sectors, part->shape.turns);
    if (!(part->lanes & (part->lanes - 1)))
      return h->pass;
    return h->pass * MAX(sectors << part->cas, part->shape.turns);
  }
}

/* ---- the atomic unit ---- */

/* From the slice of its SM's half to the line's home. */
static void go_over(Hierarchy *h, uint32_t index, uint64_t cycle) {
  Part *part = part_at(&h->queue, index);
  uint64_t over = crossbar_over(&h->crossbar, part->slice);
  uint32_t turns = part->kind == MEM_ATOMIC ? part->shape.turns : !part->shape.joined;
  uint64_t milli = crossbar_cross(&h->crossbar, part, turns, milli_of(cycle));
  if (tags_are_there(&h->tags))
    part->set = tags_other_set(&h->tags, part->slice, part->set);
  part->slice = hierarchy_other_slice(h, part);
  part->at_home = true;
  part->stage = PART_CROSSES;
  part->away = true;
  h->counters->l2_crossings++;
  h->stats.slice[part->slice].crossed++;
  link_stats_add(&h->stats.away, part->out);
  part_note(&h->queue, index, TRACE_CROSSED, milli);
  part_queue_push(&h->queue, index, milli_cycle(milli + over));
}

/* The part waits for its turn in the atomic unit, or has waited since `entered`. */
static void count_turn(Hierarchy *h, uint32_t index, const AtomicTurn *turn, uint64_t entered, bool waited) {
  const Part *part = part_at(&h->queue, index);
  SliceStats *stats = &h->stats.slice[part->slice];
  uint64_t waits = turn->start - milli_of(entered);
  if (waited)
    stats->waited += waits;
  else
    slice_stats_wait(stats, waits);
  if (part->passes)
    return;
  if (part->kind != MEM_ATOMIC) {
    h->counters->l2_held++;
    stats->hostages++;
    stats->hostage += waits;
  }
  part_note(&h->queue, index, TRACE_ENTERED, milli_of(entered));
  part_note(&h->queue, index, TRACE_TURN, turn->start);
  part_note(&h->queue, index, TRACE_TURN_OVER, turn->end);
}

/* It is settled when the part has its turn. Returns the cycle of that. */
static uint64_t settle_turn(Hierarchy *h, uint32_t index, uint64_t entered, bool waited, uint64_t cycle) {
  Part *part = part_at(&h->queue, index);
  Slice *slice = &h->slice[part->slice];
  MemKind kind = part->passes ? MEM_STORE : part->kind;
  uint64_t busy = part->passes         ? slice_takes(h, part)
                  : kind == MEM_ATOMIC ? part->busy
                  : kind == MEM_STORE  ? h->atomic_rules.store_busy
                                       : h->atomic_rules.load_busy;
  if (kind == MEM_ATOMIC && slice->atomics.last != part->line + 1)
    part->more += h->switch_latency;
  AtomicTurn turn = atomic_unit_enter(&slice->atomics, &h->atomic_rules, part->line, kind, busy, milli_of(cycle));
  slice->free_at = MAX(slice->free_at, turn.entered);
  if (!part->passes)
    part->busy = (uint32_t)MIN(turn.start - milli_of(entered), UINT32_MAX);
  count_turn(h, index, &turn, entered, waited);
  part->stage = PART_TURN;
  return milli_cycle(turn.start);
}

/* A part that waited for others to have their turns is next. */
static void call(Hierarchy *h, uint32_t index, uint64_t cycle) {
  Part *part = part_at(&h->queue, index);
  Slice *slice = &h->slice[part->slice];
  slice->arbiter.begun++;
  atomic_unit_called(&slice->atomics, part->line);
  part_queue_push(&h->queue, index, settle_turn(h, index, part->due, true, cycle));
}

/* The unit has begun with the last part that was called: the next one is called, and loads that share its turn. */
static void call_next(Hierarchy *h, Slice *slice, uint64_t cycle) {
  uint32_t index = arbiter_next(&slice->arbiter, &h->arbiter_rules, &h->queue),
           line = part_at(&h->queue, index)->line;
  bool loads = part_at(&h->queue, index)->kind == MEM_LOAD;
  call(h, index, cycle);
  while ((index = arbiter_rider(&slice->arbiter, &h->queue)) != PART_NONE)
    call(h, index, cycle);
  for (uint32_t batched = 1; loads && batched < h->atomic_rules.batch_loads; batched++) {
    index = arbiter_load(&slice->arbiter, &h->arbiter_rules, &h->queue, line);
    if (index == PART_NONE)
      return;
    call(h, index, cycle);
  }
}

static void take_turn(Hierarchy *h, uint32_t index, uint64_t cycle) {
  Part *part = part_at(&h->queue, index);
  Slice *slice = &h->slice[part->slice];
  h->stats.slice[part->slice].waiting--;
  if (part->passes) {
    part->passes = false;
    go_over(h, index, cycle);
  } else {
    if (part->kind != MEM_LOAD)
      lines_drop_copy(h, part, cycle);
    perform_in_slice(h, index, cycle);
  }
  if (slice->arbiter.begun && --slice->arbiter.begun == 0 && slice->arbiter.waiting)
    call_next(h, slice, cycle);
}

static void enter_atomic_unit(Hierarchy *h, uint32_t index, uint64_t cycle) {
  Part *part = part_at(&h->queue, index);
  Slice *slice = &h->slice[part->slice];
  if (slice->arbiter.begun) {
    part->due = cycle;
    atomic_unit_wait(&slice->atomics, &h->atomic_rules, part->line, milli_of(cycle));
    slice_stats_queue(&h->stats.slice[part->slice]);
    arbiter_wait(&slice->arbiter, &h->arbiter_rules, &h->queue, index);
    return;
  }
  uint64_t due = settle_turn(h, index, cycle, false, cycle);
  slice->arbiter.begun = h->arbiter_rules.groups > 1;
  if (due == cycle)
    take_turn(h, index, cycle);
  else
    part_queue_push(&h->queue, index, due);
}

/* ---- the slice ---- */

/* The unit is busy, or is to begin with what was called to it: what comes now comes behind that. */
static bool is_behind_atomics(const Slice *slice, uint64_t cycle) {
  return slice->arbiter.begun || atomic_unit_busy(&slice->atomics, milli_of(cycle));
}

/* To the line's home, in the other half. Behind a store or an atomic the copy here can't be read: who comes later
 * crosses behind it. */
static void cross(Hierarchy *h, uint32_t index, TagLine *tag, uint64_t cycle) {
  Part *part = part_at(&h->queue, index);
  Slice *slice = &h->slice[part->slice];
  if (part->kind != MEM_LOAD) {
    bool had = tag && !(part->sectors & ~tag->valid);
    part->copied = part->kind == MEM_STORE && (had || part->shape.quad_or_whole);
    if (tag)
      tags_void(tag);
    ++*lines_passing(h, part);
  }
  away_of(h, part)->crossed++;
  part->passes = h->atomic_rules.whole && is_behind_atomics(slice, cycle);
  if (part->passes)
    enter_atomic_unit(h, index, cycle);
  else
    go_over(h, index, cycle);
}

/* A part in the half that isn't its line's home: true if it goes to the other one, or waits behind what went there.
 */
static bool goes_home(Hierarchy *h, uint32_t index, TagLine *tag, uint64_t cycle) {
  Part *part = part_at(&h->queue, index);
  MemKind kind = part->kind;
  Away *away = away_of(h, part);
  bool resumed = part->parked;
  away->waiting -= resumed;
  part->parked = false;
  bool crosses = kind != MEM_LOAD || !tag || part->sectors & ~tag->valid;
  if ((away->waiting && !resumed) || (away->crossed && !crosses)) {
    part->parked = true;
    away->waiting++;
    part_list_append(&h->queue, &away->parked, index);
    return true;
  }
  if (crosses)
    cross(h, index, tag, cycle);
  if (resumed && !away->crossed)
    look_again(h, away, cycle);
  return crosses;
}

/* The part waits for its line. */
static void wait_until(Hierarchy *h, uint32_t index, uint64_t until) {
  part_at(&h->queue, index)->stage = PART_FILLED;
  part_note(&h->queue, index, TRACE_FILLED, milli_of(until));
  part_queue_push(&h->queue, index, until);
}

/* The sectors that aren't there come from memory, `later` cycles later: the part waits for them. */
static void fetch(Hierarchy *h, uint32_t index, TagLine *tag, uint64_t cycle, uint32_t later) {
  Part *part = part_at(&h->queue, index);
  uint32_t lacking = part->sectors & ~(tag ? tag->valid : 0);
  uint64_t back =
      lines_move_sectors(h, part->slice % h->map.slices, part->line, lacking, false, milli_of(cycle + later));
  uint64_t due = MAX(milli_cycle(back), cycle + 1);
  h->counters->l2_misses++;
  h->stats.slice[part->slice].misses++;
  if (tag) {
    tag->valid |= lacking;
    tags_keep_busy(&h->tags, tag, due, false);
  } else {
    untagged_add(&h->slice[part->slice].untagged, part->line, due);
  }
  gate_leave(h, index, cycle);
  wait_until(h, index, due);
}

/* The line is on its way without a tag: true if the part waits for it. */
static bool waits_for_untagged(Hierarchy *h, uint32_t index, uint64_t cycle) {
  const Part *part = part_at(&h->queue, index);
  uint64_t until = untagged_until(&h->slice[part->slice].untagged, part->line, cycle);
  if (until)
    look_up_again(h, index, until, milli_of(until - cycle));
  return until;
}

/* The line's tag is busy: true if it still is, and the part waits. A store that has joined another one comes with
 * those that wait already. */
static bool waits_for_line(Hierarchy *h, uint32_t index, TagLine *tag, uint64_t cycle) {
  uint64_t *until = tags_busy_until(&h->tags, tag);
  if (*until + tag->in_order <= cycle) {
    tag->busy = false;
    return false;
  }
  if (!part_at(&h->queue, index)->shape.joined)
    *until += tag->in_order;
  if (!tag->in_order)
    gate_leave(h, index, cycle);
  wait_until(h, index, *until);
  return true;
}

/* True if a load or store that is served now has to go through the atomic unit. */
static bool is_held(Hierarchy *h, const Part *part, uint64_t cycle) {
  AtomicUnit *unit = &h->slice[part->slice].atomics;
  if (h->atomic_rules.whole)
    return is_behind_atomics(&h->slice[part->slice], cycle);
  return unit->count && atomic_unit_holds(unit, &h->atomic_rules, part->line, milli_of(cycle));
}

/* The slice isn't free before `until`. */
static void take_more(Hierarchy *h, uint32_t index, uint64_t until, uint64_t cycle) {
  Slice *slice = &h->slice[index];
  uint64_t from = MAX(slice->free_at, milli_of(cycle));
  if (until <= from)
    return;
  h->stats.slice[index].busy += until - from;
  slice->free_at = until;
}

/* A load or a store has its turn: what the slice takes more for it. */
static void write_after_read(Hierarchy *h, const Part *part, uint64_t cycle) {
  RecentLoads *loads = &h->recent_loads[part->slice];
  uint64_t free_at = MAX(h->slice[part->slice].free_at, milli_of(cycle));
  if (part->kind == MEM_LOAD)
    recent_loads_add(loads, part->line, cycle + h->read_window);
  else if (recent_loads_end(loads, part->line, cycle))
    take_more(h, part->slice, free_at + h->write_after_read, cycle);
}

/* The line is there, or nothing is to be fetched for it. `copied`: the other half may have a copy. */
static inline void access_line(Hierarchy *h, uint32_t index, TagLine *tag, bool copied, uint64_t cycle) {
  Part *part = part_at(&h->queue, index);
  MemKind kind = part->kind;
  if (tag && kind != MEM_LOAD) {
    tag->valid |= part->sectors;
    tag->dirty |= part->sectors;
  }
  if (h->recent_loads && kind != MEM_ATOMIC)
    write_after_read(h, part, cycle);
  if (kind == MEM_ATOMIC || is_held(h, part, cycle)) {
    enter_atomic_unit(h, index, cycle);
    return;
  }
  if (kind == MEM_STORE && copied && lines_drop_copy(h, part, cycle))
    take_more(h, part->slice, milli_of(cycle) + h->shared_store, cycle);
  perform_in_slice(h, index, cycle);
}

/* A store or an atomic at home, and the other half has a copy, or will have it soon: it waits until that is void, and
 * the line with it. */
static void wait_for_copy(Hierarchy *h, uint32_t index, TagLine *tag, const TagLine *copy, uint64_t cycle) {
  uint64_t until = milli_cycle(milli_of(cycle) + h->invalidate);
  if (h->copy_latency)
    until = MAX(until, *tags_busy_until(&h->tags, copy));
  tags_keep_busy(&h->tags, tag, until, true);
  wait_until(h, index, until);
}

/* Its turn in the slice has come. */
static void look_up(Hierarchy *h, uint32_t index, uint64_t cycle) {
  Part *part = part_at(&h->queue, index);
  if (!tags_are_there(&h->tags)) {
    bool writes = part->kind == MEM_STORE;
    uint64_t back = lines_move_sectors(h, part->slice, part->line, part->sectors, writes, milli_of(cycle));
    part->more += (uint32_t)(back - milli_of(cycle));
    access_line(h, index, NULL, true, cycle);
    return;
  }
  if (G_UNLIKELY(h->slice[part->slice].untagged.count) && part->at_home && waits_for_untagged(h, index, cycle))
    return;
  TagLine *tag;
  bool wrote = false;
  if (!part->at_home && part->kind != MEM_LOAD) {
    tag = lines_find_copy(h, part, part->set, cycle);
  } else {
    tag = tags_find(&h->tags, part->set, part->line);
    if (!tag)
      tag = lines_claim(h, part, part->set, part->at_home, cycle, &wrote);
  }
  if (!part->at_home && goes_home(h, index, tag, cycle))
    return;
  if (tag && tag->busy && waits_for_line(h, index, tag, cycle)) {
    h->counters->l2_pending++;
    h->stats.slice[part->slice].pending++;
    return;
  }
  if (part->kind != MEM_STORE && (!tag || part->sectors & ~tag->valid)) {
    fetch(h, index, tag, cycle, wrote ? h->write_back : 0);
    return;
  }
  h->counters->l2_hits++;
  h->stats.slice[part->slice].hits++;
  bool waits = h->invalidate && tag && part->kind != MEM_LOAD && !part->shape.joined;
  const TagLine *copy = waits ? lines_copy(h, part, cycle) : NULL;
  if (copy)
    wait_for_copy(h, index, tag, copy, cycle);
  else
    access_line(h, index, tag, !waits, cycle);
}

/* The part takes its place in the slice, where there is room, and waits for its turn. True: it has its turn at once,
 * which it can if `at_once`: no earlier part of its SM is still to be served in this cycle. */
static inline bool enter_slice(Hierarchy *h, uint32_t index, uint64_t cycle, bool at_once) {
  Part *part = part_at(&h->queue, index);
  Slice *slice = &h->slice[part->slice];
  SliceStats *stats = &h->stats.slice[part->slice];
  uint64_t milli = part->shape.joined ? milli_of(cycle) : crossbar_pass(&h->crossbar, part->slice, milli_of(cycle));
  uint64_t start = MAX(milli, slice->free_at), due = milli_cycle(start);
  uint64_t takes = slice_takes(h, part);
  if (part->kind == MEM_STORE && !part->shape.joined) {
    takes += slice->stored == part->line + 1 ? h->store_again : 0;
    slice->stored = part->line + 1;
  }
  slice->free_at = start + takes;
  stats->busy += takes;
  part_note(&h->queue, index, TRACE_SERVED, start);
  if (due == cycle && at_once && slice->waiting == 0)
    return true;
  slice->waiting++;
  slice_stats_wait(stats, start - milli_of(cycle));
  part->stage = PART_LOOKUP;
  part_queue_push(&h->queue, index, due);
  return false;
}

void hierarchy_enter_slice(Hierarchy *h, uint32_t index, uint64_t cycle) { enter_slice(h, index, cycle, false); }

/* True: it has its turn in the slice at once. */
static inline bool arrive(Hierarchy *h, uint32_t index, uint64_t cycle) {
  Part *part = part_at(&h->queue, index);
  SliceStats *stats = &h->stats.slice[part->slice];
  stats->arrived++;
  link_stats_add(&stats->in, part->out);
  part_note(&h->queue, index, TRACE_ARRIVED, milli_of(cycle));
  if (G_LIKELY(gate_lets_in(h, part, cycle)))
    return enter_slice(h, index, cycle, true);
  gate_stop(h, index, cycle);
  return false;
}

/* ---- ways that SMs share ---- */

/* The part has come as far as its way takes it: true if others of its TPC or cluster kept it waiting, and it comes
 * later. The path lies in front of the way, which is as long for all SMs of a TPC: so they can wait behind it, where
 * all of them are looked at in order. */
static bool waits_for_path(Hierarchy *h, uint32_t index, uint64_t cycle) {
  Part *part = part_at(&h->queue, index);
  uint64_t due = milli_of(cycle);
  if (h->crossbar.path_free)
    due = crossbar_path(&h->crossbar, part, due);
  if (h->crossbar.line_due) {
    due = crossbar_cluster(&h->crossbar, part, port_part_takes(&h->port_rules, part), due);
    due = crossbar_in_order(&h->crossbar, part, due);
  }
  due = milli_cycle(due);
  if (due == cycle)
    return false;
  part->stage = PART_PATH;
  part_queue_push(&h->queue, index, due);
  return true;
}

/* ---- time ---- */

/* A part leaves the queue of its slice: its turn has come. */
static void leave_queue(Hierarchy *h, uint32_t slice) {
  h->slice[slice].waiting--;
  h->stats.slice[slice].waiting--;
}

/* Its line has come. */
static void go_on_filled(Hierarchy *h, uint32_t index, uint64_t cycle) {
  const Part *part = part_at(&h->queue, index);
  access_line(h, index, tags_are_there(&h->tags) ? tags_find(&h->tags, part->set, part->line) : NULL, true, cycle);
}

/* What is due other than a turn in a slice. */
static void serve_other(Hierarchy *h, uint32_t index, uint64_t cycle) {
  switch ((PartStage)part_at(&h->queue, index)->stage) {
  case PART_RESUMES: gate_resume(h, index, cycle); return;
  case PART_TURN: take_turn(h, index, cycle); return;
  case PART_FILLED: go_on_filled(h, index, cycle); return;
  default:
    link_stats_add(&h->stats.host_in, part_at(&h->queue, index)->in);
    gate_free_way(h, part_at(&h->queue, index), cycle);
    perform(h, index, cycle, milli_of(cycle) + h->host_latency);
    return;
  }
}

static void serve(Hierarchy *h, uint32_t index, uint64_t cycle) {
  const Part *part = part_at(&h->queue, index);
  PartStage stage = (PartStage)part->stage;
  uint32_t slice = part->slice;
  bool turn = stage == PART_LOOKUP;
  if (turn)
    leave_queue(h, slice);
  else if (stage == PART_ARRIVES || stage == PART_PATH)
    turn =
        !(h->crossbar.shares && stage == PART_ARRIVES && waits_for_path(h, index, cycle)) && arrive(h, index, cycle);
  else if (stage == PART_CROSSES) {
    part_note(&h->queue, index, TRACE_HOME, milli_of(cycle));
    turn = enter_slice(h, index, cycle, true);
  } else
    serve_other(h, index, cycle);
  if (turn)
    look_up(h, index, cycle);
  if (stage == PART_LOOKUP && G_UNLIKELY(gates_wait(&h->gates, slice)))
    gate_admit(h, slice, cycle);
}

uint64_t hierarchy_next(const Hierarchy *h) { return part_queue_next(&h->queue); }

/* Parts that are due so many cycles from now on come to the host's cache, and the tags of those that are due sooner.
 */
enum { PARTS_AHEAD = 6, TAGS_AHEAD = 3 };

static void look_ahead(Hierarchy *h, uint64_t cycle) {
  for (h->parts_seen = MAX(h->parts_seen, cycle); h->parts_seen < cycle + PARTS_AHEAD; h->parts_seen++) {
    const PartSlot *slot = part_queue_at(&h->queue, h->parts_seen);
    for (uint32_t i = 0; i < slot->count; i++)
      __builtin_prefetch(part_at(&h->queue, (uint32_t)slot->part[i]), 1);
  }
  h->tags_seen = tags_are_there(&h->tags) ? MAX(h->tags_seen, cycle) : UINT64_MAX;
  for (; h->tags_seen < cycle + TAGS_AHEAD; h->tags_seen++) {
    const PartSlot *slot = part_queue_at(&h->queue, h->tags_seen);
    for (uint32_t i = 0; i < slot->count; i++) { /* gcc drops a function that does nothing else */
      const Part *part = part_at(&h->queue, (uint32_t)slot->part[i]);
      tags_prefetch(&h->tags, part->set);
      if (h->map.halves == 2)
        tags_prefetch(&h->tags, tags_other_set(&h->tags, part->slice, part->set));
    }
  }
}

/* What is due in one cycle. */
static void serve_cycle(Hierarchy *h, uint64_t cycle) {
  uint32_t count = part_queue_take(&h->queue, cycle);
  const uint32_t *batch = h->queue.batch;
  for (uint32_t i = 0; i < count; i++)
    serve(h, batch[i], cycle);
}

uint32_t hierarchy_serve(Hierarchy *h, uint64_t end) {
  for (uint64_t cycle; (cycle = part_queue_next(&h->queue)) < end;) {
    look_ahead(h, cycle);
    serve_cycle(h, cycle);
  }
  return h->queue.done_count + h->queue.free_count;
}

void hierarchy_run(Hierarchy *h, uint64_t end) {
  for (uint64_t cycle; (cycle = part_queue_next(&h->queue)) < end;) {
    serve_cycle(h, cycle);
    hierarchy_pass(h, 0, 1);
    hierarchy_settle(h);
  }
}
