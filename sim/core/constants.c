#include "sim/core/constants.h"

#include "base/bits.h"

enum { LINE_SHIFT = 6, BLOCK_SHIFT = 8, LAUNCH_SHIFT = 40 };

/* A launch's own tags. */
static uint64_t tags_of(const Launch *launch) { return ((uint64_t)launch->index + 1) << LAUNCH_SHIFT; }

/* Where the cache keeps a line. Launches begin at places of their own, so that kernels side by side on an SM needn't
 * displace each other's parameters: a guess. */
static uint32_t place_of(uint64_t tag) {
  enum { APART = 13 };
  return (uint32_t)((tag + APART * (tag >> LAUNCH_SHIFT)) % CONST_LINES);
}

/* How much longer something takes whose line isn't there, or still under way; 0: it is there. */
static uint64_t look_up(ConstLines *lines, uint64_t tag, uint64_t now, bool *first) {
  uint64_t *kept = &lines->tag[place_of(tag)], *there = &lines->there[place_of(tag)];
  *first = *kept != tag;
  *kept = tag;
  return *first ? 0 : MAX(*there, now) - now;
}

/* The same of a load that comes to the word at `now`; `inner`: it isn't in memory. */
static uint64_t touch(const Issue *issue, uint64_t address, bool inner, uint64_t now) {
  const Machine *machine = issue->gpu->machine;
  ConstCache *cache = &issue->sm->constants;
  uint64_t launch = tags_of(issue->block->launch) | (uint64_t)inner << 39;
  uint64_t line = launch | address >> LINE_SHIFT, block = launch | address >> BLOCK_SHIFT;
  uint64_t *behind = &cache->block[block % CONST_BLOCKS];
  bool first;
  uint64_t longer = look_up(&cache->loads, line, now, &first);
  if (!first)
    return longer;
  longer = inner || *behind == block ? machine->sm.encoded.constant_line : machine->sm.encoded.constant_block;
  cache->loads.there[place_of(line)] = now + longer;
  *behind = inner ? *behind : block;
  return longer;
}

uint64_t constants_operand_comes(Sm *sm, const Launch *launch, uint32_t line, uint64_t now) {
  bool first;
  uint64_t tag = tags_of(launch) | line, longer = look_up(&sm->constants.operands, tag, now, &first);
  if (first) {
    longer = sm->gpu->machine->sm.latency.operand_line;
    sm->constants.operands.there[place_of(tag)] = now + longer;
  }
  return now + longer;
}

uint32_t constants_operand_line(const Kernel *kernel, const Inst *inst) {
  const int16_t operands[] = {inst->a, inst->b, inst->c};
  bool loads = inst->op == OP_LDC || inst->op == OP_LDC64;
  for (unsigned i = 0; !loads && i < G_N_ELEMENTS(operands); i++)
    if (operands[i] < 0 && ~operands[i] < (int)kernel->nconsts && kernel->consts[~operands[i]].kind == CONST_BANK)
      return kernel->consts[~operands[i]].value >> LINE_SHIFT;
  return CONSTANTS_NO_LINE;
}

void constants_load_known(Issue *issue, uint32_t offset) { issue->ready += touch(issue, offset, true, issue->now); }

void constants_load_base(Issue *issue) {
  const Launch *launch = issue->block->launch;
  uint32_t address = launch->kernel->consts[~issue->inst->a].value;
  uint64_t line = issue->sm->constants.operands.there[place_of(tags_of(launch) | address >> LINE_SHIFT)];
  uint64_t came = line == issue->now ? line - issue->gpu->machine->sm.latency.operand_line : issue->now;
  executors[issue->inst->op](issue);
  uint64_t longer = touch(issue, address, true, came), waited = issue->now - came;
  issue->ready += longer > waited ? longer - waited : 0;
}

bool constants_are_looked_up(const Issue *issue) {
  const Inst *inst = issue->inst;
  bool known = machine_knows_code(issue->gpu->machine) && inst->space == MEM_CONST && inst->a >= 0;
  return known || (issue->encoded && (inst->space == MEM_CONST || inst->space == MEM_PARAM));
}

void constants_load(Issue *issue, const uint64_t address[WARP_LANES]) {
  uint32_t words = 0, value = issue->gpu->machine->sm.encoded.value;
  uint64_t time = issue->now;
  for (uint32_t rest = issue->mask; rest; words++) {
    uint64_t first = address[__builtin_ctz(rest)];
    time += words ? value : 0;
    time += touch(issue, first, issue->inst->space == MEM_PARAM, time);
    for (uint32_t others = rest; others; others &= others - 1) {
      unsigned lane = (unsigned)__builtin_ctz(others);
      rest &= address[lane] == first ? ~lane_bit[lane] : ALL_LANES;
    }
  }
  issue->turns = words;
  issue->ready += time - issue->now;
}
