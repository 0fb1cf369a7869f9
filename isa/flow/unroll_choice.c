#include "isa/flow/unroll_choice.h"

/* Seen with ptxas 13.0: rounds of at most SMALL instructions, of SMALL_WITH_LOADS if it loads from global memory, are
 * unrolled by four. What an access counts for, and an atomic operation that the lanes of a warp make one. */
enum { SMALL = 18, SMALL_WITH_LOADS = 46, ACCESS = 2, MERGED = 11, DIVISION = 20, SIDE_MAX = 8 };
/* A choice: so many instructions a loop may become when it is unrolled whole; ptxas unrolls loops of a few
 * instructions whole up to thousands of them. */
enum { WHOLE = 1024 };

static const VInst *inst_at(const Choice *choice, uint32_t i) {
  return &g_array_index(choice->vkernel->insts, VInst, i);
}

static const OpInfo *info_of(const VInst *vinst) { return &op_info[vinst->inst.op]; }

/* ---- how much a round is ---- */

/* The loop has the product of 32 bits that a sum of 64 bits adds: they are one instruction. */
static bool adds_product(const Choice *choice, const CountedLoop *loop, const VInst *sum) {
  for (uint32_t i = loop->first; i < loop->end; i++) {
    const VInst *vinst = inst_at(choice, i);
    if (vinst->inst.op == OP_IMULW && vinst->dst >= 0 && (vinst->dst == sum->a || vinst->dst == sum->b))
      return true;
  }
  return false;
}

static bool is_global(const VInst *vinst) {
  return info_of(vinst)->unit == UNIT_GLOBAL && vinst->inst.space != MEM_PARAM && vinst->inst.space != MEM_CONST;
}

static uint32_t cost_of_arithmetic(const Choice *choice, const CountedLoop *loop, const VInst *vinst) {
  switch (vinst->inst.op) {
  case OP_MOV:
  case OP_MOV64:
  case OP_SHL: /* part of an addition, mostly */
  case OP_SHL64:
  case OP_CVT: return 0;
  case OP_IADD64:
  case OP_ISUB64: return vinst->dst == vinst->a || adds_product(choice, loop, vinst) ? 0 : 2;
  case OP_IMULW:
  case OP_IMADW: return 1;
  default: return vinst_operands(vinst).dst == 2 && info_of(vinst)->unit == UNIT_ALU ? 2 : 1;
  }
}

static uint32_t cost_of(const Choice *choice, const CountedLoop *loop, uint32_t i) {
  const VInst *vinst = inst_at(choice, i);
  const OpInfo *info = info_of(vinst);
  uint32_t guard = vinst_is_guarded(vinst) && vinst->inst.op != OP_BRA ? 1 : 0;
  if (i == loop->compare || i == loop->steps || i + 1 == loop->end || vinst->inst.op == OP_NOP)
    return 0;
  if (info->flags & OPF_ATOMIC)
    return guard + (vinst->inst.cmp != MERGE_NONE ? MERGED : ACCESS);
  if (info->unit == UNIT_DIVIDE)
    return guard + DIVISION;
  if (is_global(vinst) || info->flags & OPF_STORE)
    return guard + ACCESS;
  if (info->flags & OPF_LOAD) /* shared memory, parameters */
    return guard;
  return guard + (unit_is_arithmetic(info->unit) ? cost_of_arithmetic(choice, loop, vinst) : 1);
}

/* ---- what is in it ---- */

/* What a loop has that decides. */
typedef struct Content {
  uint32_t cost, accesses; /* accesses: of shared memory and parameters, which count for nothing in `cost` */
  bool loads;              /* from global memory */
  bool together;           /* lanes do it together, or it pauses, or it is an atomic operation */
  bool stores_if;          /* a store to global memory under a condition */
  bool barred;             /* a fence, or what isn't known */
} Content;

static bool is_barred(const Choice *choice, const VInst *vinst) {
  enum { WITHOUT_WARPSYNC = 90 }; /* before sm_90 a shuffle, a vote or a __syncwarp() keeps ptxas from it */
  switch (vinst->inst.op) {
  case OP_WARPSYNC: return choice->capability < WITHOUT_WARPSYNC;
  case OP_MEMBAR:
  case OP_CCTL:
  case OP_PRINTF:
  case OP_ASSERTFAIL:
  case OP_MALLOC:
  case OP_FREE:
  case OP_TRAP:
  case OP_SYNCBLOCKS: return true;
  default: return inst_is_bulk(&vinst->inst);
  }
}

static bool brings_together(const VInst *vinst) {
  const OpInfo *info = info_of(vinst);
  if (info->flags & (OPF_ATOMIC | OPF_BARRIER) || info->unit == UNIT_SHUFFLE || info->unit == UNIT_VOTE)
    return true;
  return info->unit == UNIT_CONTROL && vinst->inst.op != OP_BRA && vinst->inst.op != OP_NOP &&
         vinst->inst.op != OP_EXIT && vinst->inst.op != OP_COPYEND;
}

static bool is_marked(const Kernel *kernel, const CountedLoop *loop) {
  for (uint32_t m = 0; m < kernel->nmarks; m++)
    if (kernel->marks[m].pc >= loop->first && kernel->marks[m].pc < loop->end)
      return true;
  return false;
}

static Content look(const Choice *choice, const CountedLoop *loop) {
  Content content = {.barred = is_marked(choice->vkernel->kernel, loop)};
  for (uint32_t b = loop->header; b <= loop->latch; b++) {
    bool always = loops_dominates(choice->counting->loops, b, loop->latch);
    uint32_t side = 0;
    for (uint32_t i = choice->counting->flow->first[b]; i < choice->counting->flow->first[b + 1]; i++) {
      const VInst *vinst = inst_at(choice, i);
      const OpInfo *info = info_of(vinst);
      uint32_t cost = cost_of(choice, loop, i);
      content.cost += cost;
      side += cost;
      content.accesses += info->flags & OPF_LOAD && !is_global(vinst) ? ACCESS : 0;
      content.loads |= is_global(vinst) && info->flags & OPF_LOAD && !(info->flags & OPF_ATOMIC);
      content.together |= brings_together(vinst);
      content.stores_if |= is_global(vinst) && info->flags & OPF_STORE && (!always || vinst_is_guarded(vinst));
      content.barred |= is_barred(choice, vinst) || (b == loop->header && vinst->rolled);
    }
    content.stores_if |= !always && side > SIDE_MAX; /* it doesn't become predicated instructions */
  }
  return content;
}

/* ---- how ----  */

/* Up to so many rounds of so much ptxas unrolls whole. */
static bool is_whole(uint32_t cost, uint64_t trips) {
  static const struct {
    uint32_t cost, trips;
  } seen[] = {{1, 3591}, {2, 1451}, {3, 814}, {4, 519}, {5, 369}, {6, 277}, {7, 218}, {8, 234}, {10, 161},
              {12, 118}, {16, 67},  {20, 48}, {24, 34}, {30, 23}, {40, 13}, {60, 7},  {80, 4}};
  for (unsigned i = 0; i < G_N_ELEMENTS(seen); i++)
    if (cost <= seen[i].cost)
      return trips <= seen[i].trips;
  return trips == 1;
}

static bool has_direction(const CountedLoop *loop) {
  switch (loop->cmp) {
  case CMP_LT:
  case CMP_LE: return loop->step > 0;
  case CMP_GT:
  case CMP_GE: return loop->step < 0;
  default: return loop->cmp == CMP_NE;
  }
}

bool choice_wants_compare(const Choice *choice, const CountedLoop *loop) {
  int32_t pred = inst_at(choice, loop->compare)->pdst;
  for (uint32_t i = loop->first; i + 1 < loop->end; i++) {
    int32_t read[4];
    unsigned count = vinst_pred_reads(inst_at(choice, i), read);
    for (unsigned p = 0; p < count; p++)
      if (read[p] == pred)
        return true;
  }
  uint32_t unit = choice->counting->ranges->unit_of_reg[choice->vkernel->rows->len] + (uint32_t)pred;
  return counting_survives(choice->counting, loop, unit, true, true);
}

uint8_t choice_type_ahead(const VInst *compare, const CountedLoop *loop) {
  return loop->cmp != CMP_NE ? compare->inst.type : loop->wide ? TYPE_S64 : TYPE_S32;
}

uint64_t choice_last_bound(const CountedLoop *loop, uint8_t type) {
  bool is_signed = type == TYPE_S32 || type == TYPE_S64;
  int64_t way = loop->step * (UNROLL_FACTOR - 1);
  if (way > 0)
    return (!is_signed ? 0 : loop->wide ? (uint64_t)INT64_MIN : (uint32_t)INT32_MIN) + (uint64_t)way;
  return (!is_signed ? loop->wide ? UINT64_MAX : UINT32_MAX : loop->wide ? INT64_MAX : INT32_MAX) + (uint64_t)way;
}

/* False: the bound is a constant that hasn't. */
static bool has_bounds_ahead(const Choice *choice, const CountedLoop *loop) {
  uint64_t bound, last;
  uint8_t type = choice_type_ahead(inst_at(choice, loop->compare), loop);
  if (!vkernel_constant(choice->vkernel, loop->bound, loop->wide, &bound))
    return true;
  last = choice_last_bound(loop, type);
  if (!loop->wide) { /* as 64 bits */
    bool is_signed = type == TYPE_S32;
    bound = is_signed ? (uint64_t)(int32_t)bound : (uint32_t)bound;
    last = is_signed ? (uint64_t)(int32_t)last : (uint32_t)last;
    return loop->step > 0 ? (int64_t)bound >= (int64_t)last : (int64_t)bound <= (int64_t)last;
  }
  if (type == TYPE_S64)
    return loop->step > 0 ? (int64_t)bound >= (int64_t)last : (int64_t)bound <= (int64_t)last;
  return loop->step > 0 ? bound >= last : bound <= last;
}

Manner choice_make(const Choice *choice, const CountedLoop *loop) {
  Content content = look(choice, loop);
  uint32_t length = loop->end - loop->first;
  if (content.barred)
    return STAYS;
  if (loop->trips && is_whole(MAX(content.cost + content.accesses, 1), loop->trips) && loop->trips * length <= WHOLE)
    return WHOLLY;
  if (choice_wants_compare(choice, loop))
    return STAYS;
  if (loop->trips)
    return length * 2 <= UNROLL_ROUND && loop->trips > 1 ? BY_ROUNDS : STAYS;
  if (!has_bounds_ahead(choice, loop))
    return STAYS;
  bool same = !choice->divergence->branches[loop->latch];
  bool small = content.cost <= (uint32_t)(content.loads ? SMALL_WITH_LOADS : SMALL);
  if (!small || loop->old || !loop->lone_exit || !has_direction(loop) || (content.stores_if && !same) ||
      (content.together && (!same || !counting_is_known(choice->counting, loop))))
    return STAYS;
  return BY_FOUR;
}
