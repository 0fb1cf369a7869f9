/* What the lanes of a warp do together: votes, and values that pass between lanes. Only lanes that execute take part;
 * a member mask counts for the lane that gives it. */
#include "sim/core/exec_rows.h"
#include "sim/core/state.h"
#include "sim/core/undefined.h"

void exec_VOTE(Issue *issue) {
  const Inst *inst = issue->inst;
  uint32_t everybody[WARP_LANES];
  ROW everybody[l] = ALL_LANES;
  const uint32_t *members = inst->flags & INST_HAS_MASK ? issue_operand(issue, inst->a) : everybody;
  uint32_t row[WARP_LANES], value = issue_pred(issue, 0) & issue->mask, all = 0, any = 0;
  ROW {
    row[l] = value & members[l];
    any |= row[l] ? lane_bit[l] : 0;
    all |= row[l] == (issue->mask & members[l]) ? lane_bit[l] : 0;
  }
  issue_write(issue, inst->dst, row);
  issue_set_pred(issue, inst->pdst, inst->mode == VOTE_ALL ? all : inst->mode == VOTE_ANY ? any : all | ~any);
}

/* The lane that `lane` reads from under PTX's shfl: c has the clamp in its bits 4 to 0 and, in bits 12 to 8, ones
 * where lanes of one segment agree. A lane out of range reads itself. */
static unsigned source_lane(ShflMode mode, unsigned lane, uint32_t b, uint32_t c, bool *in_range) {
  int segment = c >> 8 & 31, clamp = c & 31, own = (int)lane, by = b & 31;
  int first = own & segment, last = first | (clamp & ~segment), source = own;
  switch (mode) {
  case SHFL_UP: source = own - by; break;
  case SHFL_DOWN: source = own + by; break;
  case SHFL_BFLY: source = own ^ by; break;
  case SHFL_IDX: source = first | (by & ~segment); break;
  }
  *in_range = mode == SHFL_UP ? source >= last : source <= last;
  return *in_range ? (unsigned)source : lane;
}

uint32_t shuffle_takers(const Issue *issue, uint32_t lanes) {
  const Inst *inst = issue->inst;
  const uint32_t *b = issue_operand(issue, inst->b), *c = issue_operand(issue, inst->c);
  uint32_t takers = 0;
  for (uint32_t rest = issue->mask; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    bool in_range;
    takers |= lanes >> source_lane(inst->mode, lane, b[lane], c[lane], &in_range) & 1 ? 1u << lane : 0;
  }
  return takers;
}

void exec_SHFL(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b),
                 *c = issue_operand(issue, inst->c);
  uint32_t row[WARP_LANES], in_range = 0;
  uint8_t source[WARP_LANES];
  ROW {
    bool fine;
    source[l] = (uint8_t)source_lane(inst->mode, l, b[l], c[l], &fine);
    row[l] = a[source[l]];
    in_range |= fine ? lane_bit[l] : 0;
  }
  issue_write(issue, inst->dst, row);
  issue_set_pred(issue, inst->pdst, in_range);
  if (G_UNLIKELY(issue->mask != ALL_LANES) && issue->gpu && PROBE_WANTED(issue->gpu, undefined_use))
    undefined_shuffled(issue, source);
}

/* Machine code: so many values, one after the other. */
static void take_turns(Issue *issue, uint32_t values) {
  issue->turns = values;
  issue->ready += (uint64_t)(values - 1) * issue->gpu->machine->sm.encoded.value;
}

void exec_MATCH(Issue *issue) {
  static const uint32_t zeros[WARP_LANES];
  const Inst *inst = issue->inst;
  const uint32_t *low = issue_operand(issue, inst->a), *members = issue_operand(issue, inst->b),
                 *high = inst->wide & WIDE_A ? issue_operand(issue, high_row(inst->a)) : zeros;
  uint32_t row[WARP_LANES], agreed = 0, firsts = 0;
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    uint32_t same = 0, taking_part = issue->mask & members[lane];
    ROW same |= low[l] == low[lane] && high[l] == high[lane] ? lane_bit[l] : 0;
    same &= taking_part;
    agreed |= same == taking_part ? lane_bit[lane] : 0;
    firsts += same && issue->mask & lane_bit[lane] && __builtin_ctz(same) == (int)lane;
    row[lane] = inst->mode == MATCH_ANY || same == taking_part ? same : 0;
  }
  issue_write(issue, inst->dst, row);
  issue_set_pred(issue, inst->pdst, agreed);
  if (issue->encoded && inst->mode == MATCH_ANY && firsts)
    take_turns(issue, firsts);
}

static uint32_t reduce(const Inst *inst, const uint32_t *a, uint32_t lanes) {
  uint32_t value = lanes ? a[__builtin_ctz(lanes)] : 0;
  for (uint32_t rest = lanes & (lanes - 1); rest; rest &= rest - 1)
    value = atomic_apply(inst, value, a[__builtin_ctz(rest)], 0);
  return value;
}

void exec_REDUX(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *members = issue_operand(issue, inst->b);
  uint32_t row[WARP_LANES], value = 0, reduced = 0; /* `value` is that of the lanes `reduced`; masks rarely differ */
  ROW {
    uint32_t taking_part = issue->mask & members[l];
    if (taking_part != reduced)
      value = reduce(inst, a, taking_part);
    reduced = taking_part;
    row[l] = value;
  }
  issue_write(issue, inst->dst, row);
}

void exec_ELECT(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *members = issue_operand(issue, inst->a);
  uint32_t row[WARP_LANES], elected = 0;
  ROW {
    uint32_t candidates = issue->mask & members[l];
    row[l] = candidates ? (uint32_t)__builtin_ctz(candidates) : 0;
    elected |= candidates & (0u - candidates) & lane_bit[l];
  }
  issue_write(issue, inst->dst, row);
  issue_set_pred(issue, inst->pdst, elected);
}
