#include "isa/flow/unroll.h"

#include "isa/flow/merge.h"
#include "isa/flow/unroll_choice.h"
#include "isa/flow/unroll_copy.h"

/* What a kernel may grow by, and how deep it is looked at: choices. */
enum { GROWTH_MAX = 65536, NESTS_MAX = 8 };

static const VInst *inst_at(const Copier *copier, uint32_t i) {
  return &g_array_index(copier->vkernel->insts, VInst, i);
}

/* ---- constant rounds ---- */

static void write_whole(Copier *copier, const CountedLoop *loop, bool compares) {
  for (uint64_t round = 0; round < loop->trips; round++)
    copier_write_round(copier, loop, (CopyOf){round, loop->trips, compares, round == 0});
}

/* How many of the rounds make one: so many that nothing is left over, or else that they are as large as can be. */
static uint64_t rounds_in_one(const CountedLoop *loop) {
  uint64_t most = MIN(UNROLL_ROUND / (loop->end - loop->first), loop->trips / 2);
  for (uint64_t factor = most; factor > most / 2; factor--)
    if (loop->trips % factor == 0)
      return factor;
  return MAX(most, 1);
}

/* What is left over comes first. */
static void write_rounds(Copier *copier, const CountedLoop *loop) {
  uint64_t factor = rounds_in_one(loop), over = loop->trips % factor;
  for (uint64_t round = 0; round < over; round++)
    copier_write_round(copier, loop, (CopyOf){round, over, false, round == 0});
  uint32_t top = copier_next(copier);
  for (uint64_t round = 0; round < factor; round++)
    copier_write_round(copier, loop, (CopyOf){round, factor, round + 1 == factor, over == 0 && round == 0});
  VInst back = *inst_at(copier, loop->end - 1);
  copier_put_names(copier, &back);
  copier_append_jump(copier, &back, top);
  copier_keep(copier, top);
}

/* ---- rounds of four ---- */

/* What four or two rounds need. */
typedef struct Ahead {
  CmpOp cmp; /* the counter to a bound that lies some rounds before the loop's */
  uint8_t type;
  int32_t far;   /* predicate: the loop's bound has such ones; VPRED_TRUE: it is a constant, and has */
  int32_t again; /* predicate: there are so many rounds */
  int32_t first; /* predicate: no round has been */
} Ahead;

/* A comparison like the loop's, of the counter with another operand. */
static VInst compare_counter(const Copier *copier, const CountedLoop *loop, CmpOp cmp, int32_t bound, uint8_t row) {
  VInst vinst = *inst_at(copier, loop->compare);
  vinst.a = loop->counter;
  vinst.a_row = 0;
  vinst.b = bound;
  vinst.b_row = row;
  vinst.inst.cmp = (uint8_t)cmp;
  return vinst;
}

/* The bound, `rounds` before. */
static int32_t write_bound(Copier *copier, const CountedLoop *loop, unsigned rounds) {
  int64_t before = -loop->step * (int64_t)rounds;
  uint64_t value;
  if (vkernel_constant(copier->vkernel, loop->bound, loop->wide, &value))
    return copier_constant(copier, loop->wide, value + (uint64_t)before);
  VInst sum = copier_sum(copier, loop->wide, vkernel_register(copier->vkernel, loop->wide ? 2 : 1), loop->bound,
                         loop->bound_row, (uint64_t)before, inst_at(copier, loop->compare));
  copier_append(copier, &sum);
  return sum.dst;
}

static void write_predicate(Copier *copier, const CountedLoop *loop, int32_t predicate, bool value) {
  VInst set = vinst_beside(OP_PSETP, inst_at(copier, loop->compare));
  set.pdst = predicate;
  set.inst.psrc_not = value ? 0 : 1;
  copier_append(copier, &set);
}

static void write_far(Copier *copier, const CountedLoop *loop, Ahead *ahead) {
  uint64_t value;
  ahead->far = VPRED_TRUE;
  if (vkernel_constant(copier->vkernel, loop->bound, loop->wide, &value))
    return;
  VInst far = compare_counter(copier, loop, loop->step > 0 ? CMP_GE : CMP_LE, VREG_SINK, 0);
  far.inst.type = ahead->type;
  far.a = loop->bound;
  far.a_row = loop->bound_row;
  far.b = copier_constant(copier, loop->wide, choice_last_bound(loop, ahead->type));
  far.pdst = ahead->far = vkernel_predicate(copier->vkernel);
  copier_append(copier, &far);
}

/* again = the counter hasn't come to that bound; `asks`: and there is one. */
static void write_again(Copier *copier, const CountedLoop *loop, const Ahead *ahead, int32_t bound, bool asks) {
  VInst again = compare_counter(copier, loop, ahead->cmp, bound, 0);
  again.inst.type = ahead->type;
  again.pdst = ahead->again;
  again.psrc[0] = asks ? ahead->far : VPRED_TRUE;
  copier_append(copier, &again);
}

static guint write_branch(Copier *copier, const CountedLoop *loop, int32_t guard, bool negated, uint32_t to) {
  VInst branch = vinst_beside(OP_BRA, inst_at(copier, loop->end - 1));
  branch.guard = guard;
  branch.inst.flags |= negated ? INST_GUARD_NOT : 0;
  return copier_append_jump(copier, &branch, to);
}

/* first = false; do { four rounds } while (counter < bound - 3 steps) */
static void write_four_rounds(Copier *copier, const CountedLoop *loop, const Ahead *ahead, int32_t bound) {
  write_predicate(copier, loop, ahead->first, false);
  uint32_t top = copier_next(copier);
  for (unsigned round = 0; round < UNROLL_FACTOR; round++)
    copier_write_round(copier, loop, (CopyOf){round, UNROLL_FACTOR, false, false});
  write_again(copier, loop, ahead, bound, false);
  write_branch(copier, loop, ahead->again, false, top);
  copier_keep(copier, top);
}

/*   far = bound >= least + 3 steps; again = counter < bound - 3 steps && far; first = true
 *   if (again) { four rounds ... }
 *   if (counter < bound - step && far) { two rounds; first = false }
 *   if (counter < bound || first) the loop as it was */
static void write_four(Copier *copier, const CountedLoop *loop) {
  Ahead ahead = {.cmp = loop->cmp == CMP_NE ? loop->step > 0 ? CMP_LT : CMP_GT : loop->cmp,
                 .type = choice_type_ahead(inst_at(copier, loop->compare), loop),
                 .again = vkernel_predicate(copier->vkernel),
                 .first = vkernel_predicate(copier->vkernel)};
  uint32_t start = copier_next(copier);
  write_predicate(copier, loop, ahead.first, true);
  write_far(copier, loop, &ahead);
  int32_t bound = write_bound(copier, loop, UNROLL_FACTOR - 1);
  write_again(copier, loop, &ahead, bound, true);
  guint past_four = write_branch(copier, loop, ahead.again, true, 0);
  write_four_rounds(copier, loop, &ahead, bound);
  copier_land(copier, past_four);
  bound = write_bound(copier, loop, 1);
  write_again(copier, loop, &ahead, bound, true);
  guint past_two = write_branch(copier, loop, ahead.again, true, 0);
  for (unsigned round = 0; round < UNROLL_FACTOR / 2; round++)
    copier_write_round(copier, loop, (CopyOf){round, UNROLL_FACTOR / 2, false, false});
  write_predicate(copier, loop, ahead.first, false);
  copier_land(copier, past_two);
  VInst rest = compare_counter(copier, loop, loop->cmp, loop->bound, loop->bound_row);
  rest.pdst = ahead.again;
  rest.inst.lop = LOP_OR;
  rest.psrc[0] = ahead.first;
  copier_append(copier, &rest);
  guint past_all = write_branch(copier, loop, ahead.again, true, 0);
  copier_write_loop(copier, loop);
  copier->edit.moved[loop->first] = start;
  copier_land(copier, past_all);
}

/* ---- all ---- */

typedef struct Chosen {
  CountedLoop loop;
  Manner manner;
  bool compares; /* its comparison's result is wanted */
} Chosen;

static int compare_places(gconstpointer x, gconstpointer y) {
  const Chosen *a = x, *b = y;
  return a->loop.first < b->loop.first ? -1 : a->loop.first > b->loop.first;
}

static uint32_t growth_of(const Chosen *chosen) {
  uint32_t length = chosen->loop.end - chosen->loop.first;
  return chosen->manner == WHOLLY      ? (uint32_t)chosen->loop.trips * length
         : chosen->manner == BY_ROUNDS ? 2 * UNROLL_ROUND
                                       : (UNROLL_FACTOR + UNROLL_FACTOR / 2) * length;
}

/* By place. `growth` is what the kernel has grown by. */
static GArray *choose_loops(const Choice *choice, uint32_t *growth) {
  GArray *all = g_array_new(FALSE, FALSE, sizeof(Chosen));
  const GArray *headers = choice->counting->loops->headers;
  for (guint h = 0; h < headers->len; h++) {
    Chosen chosen;
    if (!counting_find(choice->counting, g_array_index(headers, uint32_t, h), &chosen.loop))
      continue;
    chosen.manner = choice_make(choice, &chosen.loop);
    if (chosen.manner == STAYS || *growth + growth_of(&chosen) > GROWTH_MAX)
      continue;
    *growth += growth_of(&chosen);
    chosen.compares = choice_wants_compare(choice, &chosen.loop);
    g_array_append_val(all, chosen);
  }
  g_array_sort(all, compare_places);
  return all;
}

static void write_kernel(VKernel *vkernel, const Counting *counting, const GArray *all) {
  Copier copier;
  uint32_t i = 0, n = vkernel->insts->len;
  copier_init(&copier, vkernel, counting);
  for (guint next = 0; next <= all->len; next++) {
    const Chosen *chosen = next < all->len ? &g_array_index(all, Chosen, next) : NULL;
    for (; i < (chosen ? chosen->loop.first : n); i++) {
      copier.edit.moved[i] = copier_next(&copier);
      copier_append(&copier, inst_at(&copier, i));
    }
    if (!chosen)
      break;
    copier_begin(&copier, &chosen->loop);
    switch (chosen->manner) {
    case WHOLLY: write_whole(&copier, &chosen->loop, chosen->compares); break;
    case BY_ROUNDS: write_rounds(&copier, &chosen->loop); break;
    default: write_four(&copier, &chosen->loop);
    }
    i = chosen->loop.end;
  }
  copier_finish(&copier);
}

/* Which atomic operations become one of a warp tells what they count for; it is looked at again when all is
 * unrolled. */
static void forget_merged(VKernel *vkernel) {
  for (guint i = 0; i < vkernel->insts->len; i++) {
    VInst *vinst = &g_array_index(vkernel->insts, VInst, i);
    if (vinst->inst.op == OP_ATOM || vinst->inst.op == OP_RED || vinst->inst.op == OP_ATOMS)
      vinst->inst.cmp = MERGE_NONE;
  }
}

/* The innermost loops, once. Returns true if some were unrolled. */
static bool unroll_innermost(VKernel *vkernel, unsigned capability, uint32_t *growth) {
  Flow flow;
  Loops loops;
  LiveRanges ranges = {0};
  bool changed = false;
  vkernel_flow(vkernel, &flow);
  loops_init(&loops, &flow);
  if (loops.headers->len && live_ranges_init(&ranges, vkernel, &flow)) {
    Divergence divergence;
    Counting counting;
    divergence_init(&divergence, vkernel, &flow, &loops);
    atomics_merge(vkernel, capability, &flow, &loops, &divergence);
    counting_init(&counting, vkernel, &flow, &loops, &ranges);
    const Choice choice = {vkernel, capability, &counting, &divergence};
    g_autoptr(GArray) all = choose_loops(&choice, growth);
    changed = all->len > 0;
    if (changed)
      write_kernel(vkernel, &counting, all);
    forget_merged(vkernel);
    counting_clear(&counting);
    divergence_clear(&divergence);
  }
  live_ranges_clear(&ranges);
  loops_clear(&loops);
  flow_clear(&flow);
  return changed;
}

void vkernel_unroll(VKernel *vkernel, unsigned capability) {
  uint32_t growth = 0;
  for (unsigned nest = 0; nest < NESTS_MAX && unroll_innermost(vkernel, capability, &growth); nest++)
    ;
}
