/* vkernel_converge: BSSY and BSYNC around branches that may diverge, BREAK where lanes leave a loop between them,
 * YIELD, WARPSYNC (doc/warps.md, "Convergence barriers"). */
#include <string.h>

#include "isa/flow/apart.h"
#include "isa/flow/between.h"
#include "isa/flow/breaks.h"
#include "isa/flow/merge.h"
#include "isa/flow/preheader.h"
#include "isa/flow/short_branch.h"
#include "isa/flow/yield.h"

enum { REGION_STEPS_MAX = 50000000, OPEN_MAX = 4096 };

/* Branches that meet at the same block share a barrier: BSSY where `begin` ends, BSYNC where `end` begins. */
typedef struct Meeting {
  uint32_t begin, end;
  int32_t loop;  /* NO_TARGET, or the header of a loop: those who leave it don't come to `end`, but BREAK */
  bool at_start; /* BSSY stands before the first block, which is a loop's header */
  uint32_t barrier;
} Meeting;

typedef struct Converge {
  VKernel *vkernel;
  unsigned capability;
  Flow flow;
  Loops loops;
  Divergence divergence;
  Rounds rounds;
  Yields yields;
  uint32_t *enter, *leave; /* of the post-dominator tree */
  uint8_t *sync_before;    /* of each instruction: a WARPSYNC goes before it */
  uint8_t *drop;           /* of each instruction */
  uint8_t *syncs;          /* of each block: all lanes have to come together in it */
  bool has_syncs;          /* some block does */
  uint8_t *begins_synced;  /* of each block: it begins with a WARPSYNC of all lanes */
  uint8_t
      *synced_inside; /* of each block: its ways don't meet at a BSYNC, since all lanes must come together before */
  GArray *meetings;   /* Meeting */
  uint32_t *seen, stamp;
  uint64_t steps;
} Converge;

static const VInst *inst_at(const Converge *converge, uint32_t i) {
  return &g_array_index(converge->vkernel->insts, VInst, i);
}

static bool postdominates(const Converge *converge, uint32_t above, uint32_t below) {
  return converge->enter[above] <= converge->enter[below] && converge->enter[below] < converge->leave[above];
}

/* -- WARPSYNC -- */

/* A block barrier gets a WARPSYNC unless the lanes are together for certain; a WARPSYNC of all lanes goes if they
 * are. */
static void choose_syncs(Converge *converge) {
  const Flow *flow = &converge->flow;
  for (uint32_t b = 0; b < flow->nblocks; b++) {
    bool unproven = converge->yields.unproven[b];
    for (uint32_t i = flow->first[b]; i < flow->first[b + 1]; i++) {
      const VInst *vinst = inst_at(converge, i);
      bool apart = unproven || converge->divergence.diverged[b] || (i == flow->first[b] && converge->yields.at[b]);
      bool warpsync = is_full_warpsync(converge->vkernel, vinst);
      converge->drop[i] = vinst->inst.op == OP_NOP || (warpsync && !apart);
      converge->sync_before[i] = apart && op_info[vinst->inst.op].flags & OPF_BARRIER && !vinst_is_guarded(vinst);
      if (i == flow->first[b])
        converge->begins_synced[b] = converge->sync_before[i] || (warpsync && apart && converge->capability >= 90);
      unproven = yields_unproven_behind(&converge->yields, converge->vkernel, &converge->divergence, b, i, unproven);
    }
  }
}

/* -- which branches -- */

/* Whether all lanes have to come together in some block of `region`. */
static bool syncs_inside(Converge *converge, const GArray *region) {
  converge->steps += region->len;
  for (guint r = 0; r < region->len; r++)
    if (converge->syncs[g_array_index(region, uint32_t, r)])
      return true;
  return false;
}

/* The blocks in which all lanes have to come together. */
static void find_syncs(Converge *converge) {
  const Flow *flow = &converge->flow;
  converge->syncs = g_new0(uint8_t, flow->nblocks + 1);
  for (uint32_t b = 0; b < flow->nblocks; b++)
    for (uint32_t i = flow->first[b]; i < flow->first[b + 1]; i++) {
      const VInst *vinst = inst_at(converge, i);
      bool syncs =
          is_aligned_barrier(vinst) || (converge->capability >= 90 && is_full_warpsync(converge->vkernel, vinst));
      converge->syncs[b] |= syncs;
      converge->has_syncs |= syncs;
    }
}

/* A counted loop behind (or around) a YIELD: its exit is the same for all lanes, but they may be in different
 * rounds. */
static bool leaves_unproven_loop(const Converge *converge, uint32_t block) {
  int32_t loop = converge->loops.loop_of[block];
  const Flow *flow = &converge->divergence.flow;
  if (loop == NO_TARGET || !converge->yields.unproven[loop] || converge->yields.at[loop] ||
      converge->divergence.diverged[loop])
    return false;
  for (uint32_t e = flow->out.start[block]; e < flow->out.start[block + 1]; e++)
    if (!loops_contains(&converge->loops, (uint32_t)loop, flow->out.to[e]))
      return true;
  return false;
}

static bool parts(const Converge *converge, uint32_t block) {
  return converge->flow.reachable[block] && divergence_forks(&converge->divergence, block) &&
         (converge->divergence.branches[block] || leaves_unproven_loop(converge, block));
}

/* Where all lanes have to come together between a branch and where its ways meet they can't part there. Behind the
 * ways of such a branch nobody has brought the lanes together. */
static void find_synced_inside(Converge *converge) {
  Between syncs;
  g_autoptr(GArray) region = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  between_init(&syncs, &converge->divergence.flow);
  for (uint32_t b = 0; b < converge->flow.nblocks; b++)
    if (converge->syncs[b])
      between_add(&syncs, b);
  for (uint32_t b = 0; b < converge->flow.nblocks; b++) {
    int32_t end = converge->divergence.ipdom[b];
    if (!parts(converge, b) || end == NO_TARGET || !between_any(&syncs, b, end) || converge->steps > REGION_STEPS_MAX)
      continue;
    g_array_set_size(region, 0);
    divergence_region(&converge->divergence, b, converge->seen, ++converge->stamp, region);
    converge->synced_inside[b] = syncs_inside(converge, region);
    if (converge->synced_inside[b] && converge->divergence.branches[b])
      yields_part_at(&converge->yields, converge->vkernel, &converge->divergence, &converge->flow, (uint32_t)end);
  }
  between_clear(&syncs);
}

static bool may_meet_at(const Converge *converge, int32_t end) {
  return end != NO_TARGET && !converge->divergence.only_exits[end] && !converge->begins_synced[end];
}

/* -- where -- */

static uint32_t common_dominator(const Converge *converge, uint32_t a, uint32_t b) {
  while (!loops_dominates(&converge->loops, a, b))
    a = (uint32_t)converge->loops.idom[a];
  return a;
}

/* The outermost loop around `block` that doesn't contain `end`. */
static int32_t loop_to_leave(const Converge *converge, uint32_t block, uint32_t end) {
  int32_t found = NO_TARGET;
  for (int32_t loop = converge->loops.loop_of[block]; loop != NO_TARGET; loop = converge->loops.parent[loop]) {
    if (loops_contains(&converge->loops, (uint32_t)loop, end))
      break;
    found = loop;
  }
  return found;
}

/* Whether all who pass `begin` come to the meeting's end, but for those who leave its loop. */
static bool leads_to_end(const Converge *converge, const Meeting *meeting, uint32_t begin) {
  if (meeting->loop == NO_TARGET)
    return postdominates(converge, meeting->end, begin);
  int32_t loop = converge->loops.loop_of[begin];
  return loop != NO_TARGET && loops_contains(&converge->loops, (uint32_t)loop, meeting->end) &&
         rounds_postdominates(&converge->rounds, (uint32_t)loop, meeting->end, begin);
}

/* Before the loops that the meeting point lies behind; then up to where all who come to that point pass by. */
static bool place_begin(const Converge *converge, Meeting *meeting) {
  const Loops *loops = &converge->loops;
  int32_t loop = loop_to_leave(converge, meeting->begin, meeting->end);
  if (loop != NO_TARGET && loops->idom[loop] == NO_TARGET) {
    meeting->begin = 0;
    meeting->at_start = true;
    return loop == 0 && postdominates(converge, meeting->end, 0);
  }
  if (loop != NO_TARGET)
    meeting->begin = (uint32_t)loops->idom[loop];
  while (!loops_dominates(loops, meeting->begin, meeting->end) &&
         !loops_dominates(loops, meeting->end, meeting->begin)) {
    int32_t above = loops->idom[meeting->begin];
    if (above == NO_TARGET || !leads_to_end(converge, meeting, (uint32_t)above) ||
        loop_to_leave(converge, (uint32_t)above, meeting->end) != NO_TARGET)
      break;
    meeting->begin = (uint32_t)above;
  }
  return leads_to_end(converge, meeting, meeting->begin);
}

/* Those without breaks first. */
static int compare_ends(gconstpointer x, gconstpointer y) {
  const Meeting *a = x, *b = y;
  if (a->end != b->end)
    return a->end < b->end ? -1 : 1;
  if (a->loop != b->loop)
    return a->loop < b->loop ? -1 : 1;
  return a->begin < b->begin ? -1 : a->begin > b->begin;
}

/* Where the ways of a branch meet: at its post-dominator, and in each round of the loops around it that this lies
 * behind. */
static void note_branch(const Converge *converge, uint32_t block, GArray *branches) {
  const Loops *loops = &converge->loops;
  int32_t meet = converge->divergence.ipdom[block], last = NO_TARGET;
  Meeting branch = {.begin = block, .end = (uint32_t)meet, .loop = NO_TARGET};
  if (may_meet_at(converge, meet) && !converge->synced_inside[block])
    g_array_append_val(branches, branch);
  for (int32_t loop = rounds_innermost(&converge->rounds, block); loop != NO_TARGET; loop = loops->parent[loop]) {
    if (meet != NO_TARGET && loops_contains(loops, (uint32_t)loop, (uint32_t)meet))
      break;
    int32_t end = rounds_meeting(&converge->rounds, (uint32_t)loop, block);
    if (end == last || !may_meet_at(converge, end))
      continue;
    last = end;
    branch.end = (uint32_t)end;
    branch.loop = loop;
    g_array_append_val(branches, branch);
  }
}

/* The blocks between the ends of a meeting in a round. */
static void find_region(Converge *converge, const Meeting *meeting, GArray *region) {
  g_array_set_size(region, 0);
  rounds_region(&converge->rounds, (uint32_t)meeting->loop, meeting->begin, meeting->end, converge->seen,
                ++converge->stamp, region);
}

/* The branches share an end. */
static bool place_meeting(Converge *converge, const Meeting *branches, guint count, GArray *region) {
  Meeting meeting = branches[0];
  meeting.loop = branches[count - 1].loop;
  for (guint i = 1; i < count; i++)
    meeting.begin = common_dominator(converge, meeting.begin, branches[i].begin);
  if (!place_begin(converge, &meeting))
    return false;
  if (meeting.loop != NO_TARGET)
    meeting.loop = converge->loops.loop_of[meeting.begin];
  if (meeting.loop != NO_TARGET && converge->has_syncs) {
    find_region(converge, &meeting, region);
    if (syncs_inside(converge, region) || converge->steps > REGION_STEPS_MAX)
      return false;
  }
  g_array_append_val(converge->meetings, meeting);
  return true;
}

static void find_meetings(Converge *converge) {
  g_autoptr(GArray) branches = g_array_new(FALSE, FALSE, sizeof(Meeting));
  g_autoptr(GArray) region = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  for (uint32_t b = 0; b < converge->flow.nblocks; b++)
    if (parts(converge, b))
      note_branch(converge, b, branches);
  g_array_sort(branches, compare_ends);
  const Meeting *branch = (const Meeting *)branches->data;
  for (guint i = 0, n; i < branches->len; i += n) {
    guint without_breaks = 0;
    for (n = 0; i + n < branches->len && branch[i + n].end == branch[i].end; n++)
      without_breaks += branch[i + n].loop == NO_TARGET;
    if (!place_meeting(converge, branch + i, n, region) && without_breaks && without_breaks < n)
      place_meeting(converge, branch + i, without_breaks, region);
  }
}

/* -- barriers -- */

/* Lower for the outer of two meetings that begin in one block. */
static uint64_t end_order(const Converge *converge, const Meeting *meeting) {
  int32_t loop = meeting->at_start ? NO_TARGET : converge->loops.loop_of[meeting->begin];
  if (loop == NO_TARGET || !loops_contains(&converge->loops, (uint32_t)loop, meeting->end))
    return converge->enter[meeting->end];
  return (uint64_t)converge->flow.nblocks + 1 + rounds_order(&converge->rounds, (uint32_t)loop, meeting->end);
}

/* Outer meetings before those within them. */
static int compare_meetings(gconstpointer x, gconstpointer y, gpointer data) {
  const Converge *converge = data;
  const Meeting *a = x, *b = y;
  uint32_t a_begin = a->at_start ? 0 : converge->loops.enter[a->begin] + 1;
  uint32_t b_begin = b->at_start ? 0 : converge->loops.enter[b->begin] + 1;
  if (a_begin != b_begin)
    return a_begin < b_begin ? -1 : 1;
  uint64_t a_end = end_order(converge, a), b_end = end_order(converge, b);
  return a_end < b_end ? -1 : a_end > b_end;
}

static bool is_open_at(const Converge *converge, const Meeting *outer, const Meeting *inner) {
  const Loops *loops = &converge->loops;
  if (!loops_dominates(loops, outer->begin, inner->begin))
    return false;
  if (outer->loop != NO_TARGET && !loops_contains(loops, (uint32_t)outer->loop, inner->begin))
    return false;
  return !loops_dominates(loops, outer->end, inner->begin) || loops_dominates(loops, outer->end, outer->begin);
}

/* Barriers by depth of nesting. The sixteen outermost levels have one; deeper branches do without: their lanes meet
 * where those of the level above do. */
static void choose_barriers(Converge *converge) {
  g_autoptr(GArray) open = g_array_new(FALSE, FALSE, sizeof(Meeting));
  guint kept = 0;
  g_array_sort_with_data(converge->meetings, compare_meetings, converge);
  for (guint m = 0; m < converge->meetings->len; m++) {
    Meeting meeting = g_array_index(converge->meetings, Meeting, m);
    while (open->len &&
           !loops_dominates(&converge->loops, g_array_index(open, Meeting, open->len - 1).begin, meeting.begin))
      g_array_set_size(open, open->len - 1);
    uint32_t taken = 0;
    for (guint o = open->len > OPEN_MAX ? open->len - OPEN_MAX : 0; o < open->len; o++) {
      const Meeting *outer = &g_array_index(open, Meeting, o);
      if (is_open_at(converge, outer, &meeting))
        taken |= 1u << outer->barrier;
    }
    while (meeting.barrier < CONVERGENCE_BARRIERS && (taken >> meeting.barrier & 1))
      meeting.barrier++;
    if (meeting.barrier == CONVERGENCE_BARRIERS)
      continue;
    g_array_append_val(open, meeting);
    g_array_index(converge->meetings, Meeting, kept++) = meeting;
    uint32_t *used = &converge->vkernel->kernel->convergence_barriers;
    *used = MAX(*used, meeting.barrier + 1);
  }
  g_array_set_size(converge->meetings, kept);
}

/* -- breaks -- */

/* Convergence barriers, by bit, that lanes leave where they go from a block to its branch's target, and to the next
 * block. */
typedef struct Breaks {
  uint32_t to_target, to_next;
} Breaks;

static void note_breaks(const Converge *converge, const Meeting *meeting, uint32_t block, Breaks *breaks) {
  const Flow *flow = &converge->flow;
  const VInst *last = inst_at(converge, flow->first[block + 1] - 1);
  bool branches = last->inst.op == OP_BRA && last->inst.target != NO_TARGET;
  for (uint32_t e = flow->out.start[block]; e < flow->out.start[block + 1]; e++) {
    uint32_t to = flow->out.to[e];
    if (loops_contains(&converge->loops, (uint32_t)meeting->loop, to) || converge->divergence.only_exits[to])
      continue;
    bool jumps = branches && flow->block_of[last->inst.target] == to;
    *(jumps ? &breaks[block].to_target : &breaks[block].to_next) |= 1u << meeting->barrier;
  }
}

/* Of each block. */
static Breaks *find_breaks(Converge *converge) {
  Breaks *breaks = g_new0(Breaks, converge->flow.nblocks + 1);
  g_autoptr(GArray) region = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  for (guint m = 0; m < converge->meetings->len; m++) {
    const Meeting *meeting = &g_array_index(converge->meetings, Meeting, m);
    if (meeting->loop == NO_TARGET)
      continue;
    find_region(converge, meeting, region);
    note_breaks(converge, meeting, meeting->begin, breaks);
    for (guint r = 0; r < region->len; r++)
      note_breaks(converge, meeting, g_array_index(region, uint32_t, r), breaks);
  }
  return breaks;
}

/* -- the instructions -- */

/* A branch that goes to a meeting point without having passed the BSSY: it goes behind the BSYNC. */
typedef struct Bypass {
  uint32_t inst, block;
} Bypass;

typedef struct Writer {
  Converge *converge;
  VEdit edit;
  int32_t *ends;    /* of each block: the meeting that ends where it begins, or -1 */
  uint32_t *begins; /* blocks + 1: the meetings in by_begin that begin in each block */
  uint32_t *by_begin;
  Breaks *breaks;   /* of each block */
  uint32_t *behind; /* of each block: where it goes on behind its BSYNC */
  GArray *bypasses;
} Writer;

static bool passes_by(const Writer *writer, uint32_t from, uint32_t to) {
  if (writer->ends[to] < 0)
    return false;
  const Meeting *meeting = &g_array_index(writer->converge->meetings, Meeting, writer->ends[to]);
  const Loops *loops = &writer->converge->loops;
  bool inside = loops_dominates(loops, meeting->begin, from) &&
                (loops_dominates(loops, to, meeting->begin) || !loops_dominates(loops, to, from));
  return !inside;
}

static void write_begin(Writer *writer, const Meeting *meeting, const VInst *beside) {
  VInst begin = vinst_beside(OP_BSSY, beside);
  begin.inst.mode = (uint8_t)meeting->barrier;
  begin.inst.target = (int32_t)writer->converge->flow.first[meeting->end];
  vedit_append(&writer->edit, &begin);
}

static void write_begins(Writer *writer, uint32_t block, bool at_start) {
  const Converge *converge = writer->converge;
  for (uint32_t k = writer->begins[block]; k < writer->begins[block + 1]; k++) {
    const Meeting *meeting = &g_array_index(converge->meetings, Meeting, writer->by_begin[k]);
    if (meeting->at_start == at_start)
      write_begin(writer, meeting, inst_at(converge, at_start ? 0 : converge->flow.first[block + 1] - 1));
  }
}

static void write_start(Writer *writer, uint32_t block) {
  Converge *converge = writer->converge;
  uint32_t first = converge->flow.first[block];
  if (block == 0)
    write_begins(writer, 0, true);
  writer->edit.moved[first] = writer->edit.insts->len;
  if (writer->ends[block] >= 0) {
    VInst sync = vinst_beside(OP_BSYNC, inst_at(converge, first));
    sync.inst.mode = (uint8_t)g_array_index(converge->meetings, Meeting, writer->ends[block]).barrier;
    vedit_append(&writer->edit, &sync);
  }
  writer->behind[block] = writer->edit.insts->len;
  if (converge->yields.at[block]) {
    VInst yield = vinst_beside(OP_YIELD, inst_at(converge, first));
    vedit_append(&writer->edit, &yield);
  }
}

static void note_bypass(Writer *writer, uint32_t from, uint32_t to) {
  Bypass bypass = {writer->edit.insts->len, to};
  if (passes_by(writer, from, to))
    g_array_append_val(writer->bypasses, bypass);
}

static void write_inst(Writer *writer, uint32_t block, uint32_t i) {
  Converge *converge = writer->converge;
  const VInst *vinst = inst_at(converge, i);
  if (i > converge->flow.first[block])
    writer->edit.moved[i] = writer->edit.insts->len;
  if (converge->sync_before[i]) {
    VInst sync = vinst_beside(OP_WARPSYNC, vinst);
    sync.inst.mode = vinst->inst.flags & INST_UNALIGNED ? WARPSYNC_ANY : WARPSYNC_ALL;
    sync.a = vkernel_immediate(converge->vkernel, UINT32_MAX);
    vedit_append(&writer->edit, &sync);
  }
  if (vinst->inst.op == OP_BRA && vinst->inst.target != NO_TARGET)
    note_bypass(writer, block, converge->flow.block_of[vinst->inst.target]);
  if (converge->drop[i])
    vedit_leave_out(&writer->edit, vinst);
  else
    vedit_append(&writer->edit, vinst);
}

/* A way around the BSYNC for a block that runs into it. */
static void write_end(Writer *writer, uint32_t block) {
  const Converge *converge = writer->converge;
  const Flow *flow = &converge->flow;
  const VInst *last = inst_at(converge, flow->first[block + 1] - 1);
  bool falls = !(op_info[last->inst.op].flags & OPF_BRANCH) || vinst_is_guarded(last);
  if (!falls || block + 1 == flow->nblocks || !passes_by(writer, block, block + 1))
    return;
  note_bypass(writer, block, block + 1);
  VInst around = vinst_beside(OP_BRA, last);
  around.inst.target = (int32_t)flow->first[block + 1];
  vedit_append(&writer->edit, &around);
}

/* The innermost first, under the guard of the branch where only those who take it leave, or only those who don't. */
static void write_breaks(Writer *writer, uint32_t block, const VInst *last) {
  Breaks breaks = writer->breaks[block];
  bool branches = op_info[last->inst.op].flags & OPF_BRANCH;
  for (unsigned barrier = CONVERGENCE_BARRIERS; barrier-- > 0;) {
    bool jumps = breaks.to_target >> barrier & 1, falls = breaks.to_next >> barrier & 1;
    if (!jumps && !falls)
      continue;
    VInst leave = vinst_beside(OP_BREAK, last);
    leave.inst.mode = (uint8_t)barrier;
    if (branches && jumps != falls && vinst_is_guarded(last)) {
      leave.guard = last->guard;
      leave.inst.flags |= (last->inst.flags ^ (falls ? INST_GUARD_NOT : 0)) & INST_GUARD_NOT;
    }
    vedit_append(&writer->edit, &leave);
  }
}

/* An order of lanes that was left out at the end of the block can't be that of the next instruction where others come
 * to that, too: rounds of a loop, say. */
static void keep_order(Writer *writer, uint32_t block) {
  const Flow *flow = &writer->converge->flow;
  if (!writer->edit.synced || block + 1 == flow->nblocks || flow->in.start[block + 2] - flow->in.start[block + 1] < 2)
    return;
  VInst nop = vinst_beside(OP_NOP, inst_at(writer->converge, flow->first[block + 1] - 1));
  vedit_append(&writer->edit, &nop);
}

static void write_block(Writer *writer, uint32_t block) {
  const Flow *flow = &writer->converge->flow;
  uint32_t last = flow->first[block + 1] - 1;
  bool branches = op_info[inst_at(writer->converge, last)->inst.op].flags & OPF_BRANCH;
  write_start(writer, block);
  for (uint32_t i = flow->first[block]; i < last; i++)
    write_inst(writer, block, i);
  if (!branches)
    write_inst(writer, block, last);
  if (branches && last > flow->first[block])
    writer->edit.moved[last] = writer->edit.insts->len;
  write_begins(writer, block, false);
  write_breaks(writer, block, inst_at(writer->converge, last));
  if (branches)
    write_inst(writer, block, last);
  write_end(writer, block);
  keep_order(writer, block);
}

static void index_meetings(Writer *writer) {
  const GArray *meetings = writer->converge->meetings;
  uint32_t n = writer->converge->flow.nblocks;
  writer->ends = g_new(int32_t, n + 1);
  memset(writer->ends, 0xff, (n + 1) * sizeof *writer->ends);
  writer->begins = g_new0(uint32_t, n + 1);
  writer->by_begin = g_new(uint32_t, meetings->len + 1);
  for (guint m = 0; m < meetings->len; m++) {
    const Meeting *meeting = &g_array_index(meetings, Meeting, m);
    writer->ends[meeting->end] = (int32_t)m;
    writer->begins[meeting->begin + 1]++;
  }
  for (uint32_t b = 0; b < n; b++)
    writer->begins[b + 1] += writer->begins[b];
  g_autofree uint32_t *next = g_memdup2(writer->begins, (n + 1) * sizeof *next);
  for (guint m = 0; m < meetings->len; m++)
    writer->by_begin[next[g_array_index(meetings, Meeting, m).begin]++] = m;
}

static void mark_together(const Converge *converge) {
  for (uint32_t b = 0; b < converge->flow.nblocks; b++) {
    VInst *last = &g_array_index(converge->vkernel->insts, VInst, converge->flow.first[b + 1] - 1);
    last->together = last->inst.op == OP_BRA && !converge->divergence.branches[b];
  }
}

static void write_kernel(Converge *converge) {
  mark_together(converge);
  Writer writer = {.converge = converge,
                   .breaks = find_breaks(converge),
                   .behind = g_new0(uint32_t, converge->flow.nblocks + 1),
                   .bypasses = g_array_new(FALSE, FALSE, sizeof(Bypass))};
  vedit_init(&writer.edit, converge->vkernel);
  index_meetings(&writer);
  for (uint32_t b = 0; b < converge->flow.nblocks; b++)
    write_block(&writer, b);
  vedit_finish(&writer.edit, converge->vkernel);
  for (guint i = 0; i < writer.bypasses->len; i++) {
    Bypass bypass = g_array_index(writer.bypasses, Bypass, i);
    g_array_index(converge->vkernel->insts, VInst, bypass.inst).inst.target = (int32_t)writer.behind[bypass.block];
  }
  g_array_unref(writer.bypasses);
  g_free(writer.breaks);
  g_free(writer.behind);
  g_free(writer.ends);
  g_free(writer.begins);
  g_free(writer.by_begin);
}

void vkernel_converge(VKernel *vkernel, unsigned capability, bool yields) {
  vkernel_fold_masks(vkernel);
  preheaders_insert(vkernel);
  yields_mark(vkernel, yields ? capability : NO_YIELDS);
  apart_mark(vkernel);
  short_branches_predicate(vkernel);
  Converge converge = {.vkernel = vkernel,
                       .capability = capability,
                       .meetings = g_array_new(FALSE, FALSE, sizeof(Meeting)),
                       .sync_before = g_new0(uint8_t, vkernel->insts->len + 1),
                       .drop = g_new0(uint8_t, vkernel->insts->len + 1)};
  vkernel_flow(vkernel, &converge.flow);
  uint32_t n = converge.flow.nblocks;
  loops_init(&converge.loops, &converge.flow);
  divergence_init(&converge.divergence, vkernel, &converge.flow, &converge.loops);
  if (atomics_merge(vkernel, capability, &converge.flow, &converge.loops, &converge.divergence)) {
    divergence_clear(&converge.divergence);
    divergence_init(&converge.divergence, vkernel, &converge.flow, &converge.loops);
  }
  rounds_init(&converge.rounds, &converge.divergence.flow, &converge.loops);
  yields_init(&converge.yields, vkernel, yields ? capability : NO_YIELDS, &converge.flow, &converge.loops,
              &converge.divergence);
  yields_unmark(vkernel);
  converge.enter = g_new0(uint32_t, n + 1);
  converge.leave = g_new0(uint32_t, n + 1);
  converge.seen = g_new0(uint32_t, n + 1);
  converge.begins_synced = g_new0(uint8_t, n + 1);
  loops_number_tree(converge.divergence.ipdom, n, converge.enter, converge.leave);
  converge.synced_inside = g_new0(uint8_t, n + 1);
  find_syncs(&converge);
  find_synced_inside(&converge);
  choose_syncs(&converge);
  find_meetings(&converge);
  choose_barriers(&converge);
  write_kernel(&converge);
  yields_clear(&converge.yields);
  rounds_clear(&converge.rounds);
  divergence_clear(&converge.divergence);
  loops_clear(&converge.loops);
  flow_clear(&converge.flow);
  g_array_unref(converge.meetings);
  g_free(converge.seen);
  g_free(converge.enter);
  g_free(converge.leave);
  g_free(converge.syncs);
  g_free(converge.begins_synced);
  g_free(converge.synced_inside);
  g_free(converge.sync_before);
  g_free(converge.drop);
}
