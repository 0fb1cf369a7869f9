#include "isa/flow/switch_arm.h"

enum { TESTS_MAX = 64 };

/* A test at the end of a block: goes to `target` if the register and the number compare so, else to the next
 * block. */
typedef struct Test {
  int32_t reg;
  int64_t number;
  CmpOp cmp;
  bool negated;
  uint32_t target, next;
} Test;

static const VInst *inst_at(const VKernel *vkernel, uint32_t i) { return &g_array_index(vkernel->insts, VInst, i); }

static int64_t extend(uint32_t value, bool is_signed) { return is_signed ? (int64_t)(int32_t)value : (int64_t)value; }

/* `alone`: nothing else may stand in the block. */
static bool find_test(const VKernel *vkernel, const Flow *flow, uint32_t block, bool alone, Test *test) {
  uint32_t first = flow->first[block], end = flow->first[block + 1];
  if (end - first < 2 || (alone && end - first != 2) || block + 1 >= flow->nblocks)
    return false;
  const VInst *branch = inst_at(vkernel, end - 1), *set = NULL;
  for (uint32_t i = first; i < end - 1; i++)
    if (inst_at(vkernel, i)->pdst == branch->guard)
      set = inst_at(vkernel, i);
  if (branch->inst.op != OP_BRA || branch->guard == VPRED_TRUE || branch->inst.target == NO_TARGET || !set ||
      set->inst.op != OP_ISETP || vinst_is_guarded(set) || set->psrc[0] != VPRED_TRUE || set->a < 0 ||
      set->a == VREG_SINK || set->b >= 0)
    return false;
  const ConstRef *constant = &vkernel->kernel->consts[~set->b];
  if (constant->kind != CONST_IMMEDIATE)
    return false;
  *test = (Test){.reg = set->a,
                 .number = extend(constant->value, set->inst.type == TYPE_S32),
                 .cmp = (CmpOp)set->inst.cmp,
                 .negated = branch->inst.flags & INST_GUARD_NOT,
                 .target = flow->block_of[branch->inst.target],
                 .next = block + 1};
  return true;
}

static bool takes(const Test *test, int64_t value) {
  bool holds = false;
  switch (test->cmp) {
  case CMP_EQ: holds = value == test->number; break;
  case CMP_NE: holds = value != test->number; break;
  case CMP_LT: holds = value < test->number; break;
  case CMP_LE: holds = value <= test->number; break;
  case CMP_GT: holds = value > test->number; break;
  case CMP_GE: holds = value >= test->number; break;
  default: break;
  }
  return holds != test->negated;
}

/* Past blocks that do nothing but go elsewhere. */
static uint32_t follow(const VKernel *vkernel, const Flow *flow, uint32_t block) {
  for (unsigned i = 0; i < TESTS_MAX && flow->first[block + 1] - flow->first[block] == 1; i++) {
    const VInst *only = inst_at(vkernel, flow->first[block]);
    if (only->inst.op != OP_BRA || vinst_is_guarded(only) || only->inst.target == NO_TARGET)
      break;
    block = flow->block_of[only->inst.target];
  }
  return block;
}

/* The tests of the tree below `root`, itself among them. How many. */
static unsigned find_tree(const VKernel *vkernel, const Flow *flow, const Test *root, Test tests[TESTS_MAX]) {
  unsigned count = 0;
  tests[count++] = *root;
  for (unsigned i = 0; i < count; i++) {
    uint32_t ways[2] = {tests[i].target, tests[i].next};
    for (unsigned way = 0; way < 2 && count < TESTS_MAX; way++) {
      Test test;
      if (find_test(vkernel, flow, follow(vkernel, flow, ways[way]), true, &test) && test.reg == root->reg)
        tests[count++] = test;
    }
  }
  return count;
}

int32_t switch_first_arm(const VKernel *vkernel, const Flow *flow, uint32_t block) {
  Test root, tests[TESTS_MAX], test;
  if (!find_test(vkernel, flow, block, false, &root) || root.cmp == CMP_EQ || root.cmp == CMP_NE)
    return NO_TARGET;
  unsigned count = find_tree(vkernel, flow, &root, tests);
  int64_t lowest = INT64_MAX;
  for (unsigned i = 0; i < count; i++)
    if (tests[i].cmp == CMP_EQ || tests[i].cmp == CMP_NE)
      lowest = MIN(lowest, tests[i].number);
  if (lowest == INT64_MAX)
    return NO_TARGET;
  uint32_t at = follow(vkernel, flow, takes(&root, lowest) ? root.target : root.next);
  for (unsigned steps = 0; steps < TESTS_MAX; steps++) {
    if (!find_test(vkernel, flow, at, true, &test) || test.reg != root.reg)
      return (int32_t)at;
    at = follow(vkernel, flow, takes(&test, lowest) ? test.target : test.next);
  }
  return NO_TARGET;
}
