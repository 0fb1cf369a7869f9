#include "isa/flow/classes.h"

enum { JOINED_SPANS_MAX = 4096 }; /* a class with more isn't joined any further: joining stays linear */

/* Halves the way as it goes, so that long chains of moves stay cheap. */
uint32_t classes_root(Classes *classes, uint32_t reg, uint32_t *offset) {
  *offset = 0;
  for (;;) {
    Member *member = &classes->members[reg];
    Member *above = &classes->members[member->parent];
    if (member->parent == reg)
      return reg;
    if (above->parent != member->parent) {
      member->offset = (uint8_t)(member->offset + above->offset);
      member->parent = above->parent;
    }
    *offset += member->offset;
    reg = member->parent;
  }
}

void classes_init(Classes *classes, const VKernel *vkernel, const LiveRanges *ranges, const uint8_t *uniform) {
  classes->count = vkernel->rows->len;
  classes->members = g_new(Member, classes->count + 1);
  uint32_t units = ranges->unit_of_reg[classes->count];
  classes->lists = g_new(SpanList, units + 1);
  for (uint32_t u = 0; u < units; u++)
    classes->lists[u] = unit_list(ranges, u);
  for (uint32_t r = 0; r < classes->count; r++)
    classes->members[r] = (Member){.parent = r,
                                   .rows = g_array_index(vkernel->rows, uint8_t, r),
                                   .uniform = uniform && uniform[r],
                                   .list = &classes->lists[ranges->unit_of_reg[r]]};
}

void classes_clear(Classes *classes, const LiveRanges *ranges) {
  for (uint32_t u = 0; u < ranges->unit_of_reg[classes->count]; u++)
    if (classes->lists[u].owned)
      g_free(classes->lists[u].spans);
  g_free(classes->lists);
  g_free(classes->members);
}

SpanList *classes_list(Classes *classes, int32_t reg, unsigned row) {
  uint32_t offset, root = classes_root(classes, (uint32_t)reg, &offset);
  return &classes->members[root].list[offset + row];
}

/* -- joining -- */

/* Makes row `y_row` of register y the same as row `x_row` of register x, if they and the rows beside them allow
 * it. */
static void join(Classes *classes, uint32_t x, uint32_t x_row, uint32_t y, uint32_t y_row) {
  uint32_t x_offset, y_offset, large = classes_root(classes, x, &x_offset),
                               small = classes_root(classes, y, &y_offset);
  int32_t shift = (int32_t)(x_offset + x_row) - (int32_t)(y_offset + y_row);
  if (classes->members[large].rows < classes->members[small].rows) {
    uint32_t swap = large;
    large = small;
    small = swap;
    shift = -shift;
  }
  Member *into = &classes->members[large], *from = &classes->members[small];
  if (large == small || into->uniform != from->uniform || shift < 0 || shift + from->rows > into->rows ||
      shift % from->rows != 0)
    return;
  for (unsigned row = 0; row < from->rows; row++) {
    const SpanList *a = &into->list[(unsigned)shift + row], *b = &from->list[row];
    if (a->count + b->count > JOINED_SPANS_MAX || span_lists_overlap(a, b))
      return;
  }
  for (unsigned row = 0; row < from->rows; row++)
    span_list_merge(&into->list[(unsigned)shift + row], &from->list[row]);
  into->odd |= from->odd;
  from->parent = large;
  from->offset = (uint8_t)shift;
}

void classes_join_moves(Classes *classes, const VKernel *vkernel) {
  for (guint i = 0; i < vkernel->insts->len; i++) {
    const VInst *vinst = &g_array_index(vkernel->insts, VInst, i);
    bool move = vinst->inst.op == OP_MOV || vinst->inst.op == OP_MOV64;
    if (move && vinst->dst != VREG_SINK && vinst->a >= 0 && vinst->a != VREG_SINK)
      join(classes, (uint32_t)vinst->dst, vinst->dst_row, (uint32_t)vinst->a, vinst->a_row);
  }
}
