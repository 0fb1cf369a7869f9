#include "isa/flow/writers.h"

#include <string.h>

VInst *writers_inst(const Writers *writers, uint32_t i) { return &g_array_index(writers->vkernel->insts, VInst, i); }

uint32_t writers_unit(const Writers *writers, int32_t reg, unsigned row) {
  return writers->ranges.unit_of_reg[reg] + row;
}

void writers_init(Writers *writers, VKernel *vkernel) {
  *writers = (Writers){.vkernel = vkernel};
  vkernel_flow(vkernel, &writers->flow);
  loops_init(&writers->loops, &writers->flow);
  live_ranges_number(&writers->ranges, vkernel);
  writers->writer = g_new(int32_t, writers->ranges.nunits + 1);
  memset(writers->writer, 0xff, (writers->ranges.nunits + 1) * sizeof *writers->writer);
  for (uint32_t i = 0; i < vkernel->insts->len; i++) {
    VRegUse uses[8];
    unsigned count = vinst_writes(writers_inst(writers, i), uses);
    for (unsigned u = 0; u < count; u++)
      for (unsigned row = 0; row < uses[u].rows; row++) {
        int32_t *writer = &writers->writer[writers_unit(writers, uses[u].reg, uses[u].row + row)];
        *writer = *writer == WRITER_NONE ? (int32_t)i : WRITER_MANY;
      }
  }
}

void writers_clear(Writers *writers) {
  g_free(writers->writer);
  live_ranges_clear(&writers->ranges);
  loops_clear(&writers->loops);
  flow_clear(&writers->flow);
}

bool writers_before(const Writers *writers, uint32_t first, uint32_t later) {
  uint32_t above = writers->flow.block_of[first], below = writers->flow.block_of[later];
  if (first >= later || above == below)
    return first < later;
  return writers->flow.reachable[below] && loops_dominates(&writers->loops, above, below);
}

uint32_t writers_leave_loops(const Writers *writers, uint32_t i, uint32_t place) {
  const Loops *loops = &writers->loops;
  uint32_t home = writers->flow.block_of[i], block = writers->flow.block_of[place];
  int32_t loop;
  while ((loop = loops->loop_of[block]) != NO_TARGET && !loops_contains(loops, (uint32_t)loop, home)) {
    block = (uint32_t)loops->idom[loop];
    place = writers->flow.first[block + 1] - 1;
  }
  return place;
}

const VInst *writers_maker(const Writers *writers, uint32_t i, int32_t reg, uint8_t row, uint8_t rows) {
  if (rows == 0 || reg < 0 || reg == VREG_SINK)
    return NULL;
  const int32_t *writer = writers->writer + writers_unit(writers, reg, row);
  for (unsigned r = 0; r < rows; r++)
    if (writer[r] < 0 || writer[r] != writer[0])
      return NULL;
  return writers_before(writers, (uint32_t)writer[0], i) ? writers_inst(writers, (uint32_t)writer[0]) : NULL;
}
