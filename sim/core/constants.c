#include "sim/core/constants.h"

#include "base/bits.h"
#include "sim/core/state.h"

enum { LINE_SHIFT = 6, BLOCK_SHIFT = 8 };

/* How much longer a load takes whose line isn't there, or still under way; `inner`: not in memory. */
static uint64_t touch(const Issue *issue, uint64_t address, bool inner) {
  const Machine *machine = issue->gpu->machine;
  ConstCache *cache = &issue->sm->constants;
  uint64_t launch = ((uint64_t)issue->block->launch->index + 1) << 40 | (uint64_t)inner << 39;
  uint64_t line = launch | address >> LINE_SHIFT, block = launch | address >> BLOCK_SHIFT;
  uint64_t *kept = &cache->line[line % CONST_LINES], *behind = &cache->block[block % CONST_BLOCKS],
           *there = &cache->there[line % CONST_LINES];
  if (*kept == line)
    return MAX(*there, issue->now) - issue->now;
  *there = issue->now +
           (inner || *behind == block ? machine->sm.encoded.constant_line : machine->sm.encoded.constant_block);
  *kept = line;
  *behind = inner ? *behind : block;
  return *there - issue->now;
}

void constants_load_known(Issue *issue, uint32_t offset) { issue->ready += touch(issue, offset, true); }

void constants_load(Issue *issue, const uint64_t address[WARP_LANES]) {
  uint32_t words = 0;
  for (uint32_t rest = issue->mask; rest; words++) {
    uint64_t first = address[__builtin_ctz(rest)];
    issue->ready += touch(issue, first, issue->inst->space == MEM_PARAM);
    for (uint32_t others = rest; others; others &= others - 1) {
      unsigned lane = (unsigned)__builtin_ctz(others);
      rest &= address[lane] == first ? ~lane_bit[lane] : ALL_LANES;
    }
  }
  issue->turns = words;
  issue->ready += (uint64_t)(words - 1) * issue->gpu->machine->sm.encoded.value;
}
