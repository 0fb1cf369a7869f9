#include "sim/memory/tags.h"

#include <glib.h>

void tags_init(Tags *tags, const Machine *machine) {
  uint32_t line = machine->memory.l2.line;
  *tags = (Tags){.ways = machine->memory.l2.ways,
                 .slices = MAX(machine->memory.slices / machine->memory.l2.halves, 1u),
                 .all = UINT32_MAX >> (32 - line / machine->memory.l2.sector),
                 .warm = machine->memory.l2.start == L2_START_WARM};
  if (!machine->memory.l2.bytes)
    return;
  tags->sets = MAX(machine->memory.l2.bytes / line / tags->ways / machine->memory.slices, 1u);
  gsize ways = (gsize)machine->memory.slices * tags->sets * tags->ways;
  tags->numbers = g_new0(uint64_t, ways);
  tags->lines = g_new0(TagLine, ways);
}

void tags_clear(Tags *tags) {
  g_free(tags->numbers);
  g_free(tags->lines);
}

/* The first way of the line's set. Lines have 32 bits of a number: addresses have 39 at most. */
static uint64_t set_of(const Tags *tags, uint32_t slice, uint64_t line) {
  return ((uint64_t)slice * tags->sets + (uint32_t)line / tags->slices % tags->sets) * tags->ways;
}

void tags_prefetch(const Tags *tags, uint32_t slice, uint64_t line) {
  if (tags->lines)
    __builtin_prefetch(&tags->numbers[set_of(tags, slice, line)]);
}

static TagLine *way_of(const Tags *tags, uint32_t slice, uint64_t line) {
  uint64_t set = set_of(tags, slice, line);
  const uint64_t *numbers = &tags->numbers[set];
  for (uint32_t way = 0; way < tags->ways; way++)
    if (numbers[way] == line + 1)
      return &tags->lines[set + way];
  return NULL;
}

TagLine *tags_find(Tags *tags, uint32_t slice, uint64_t line) {
  TagLine *tag = way_of(tags, slice, line);
  if (tag)
    tag->used = ++tags->uses;
  return tag;
}

TagLine *tags_claim(Tags *tags, uint32_t slice, uint64_t line, uint64_t cycle, Evicted *evicted) {
  uint64_t set = set_of(tags, slice, line), *numbers = &tags->numbers[set];
  TagLine *lines = &tags->lines[set];
  uint32_t oldest = tags->ways;
  for (uint32_t way = 0; way < tags->ways; way++) {
    if (!numbers[way]) {
      oldest = way;
      break;
    }
    if (lines[way].busy_until <= cycle && (oldest == tags->ways || lines[way].used < lines[oldest].used))
      oldest = way;
  }
  if (oldest == tags->ways)
    return NULL;
  bool first = !numbers[oldest];
  *evicted = (Evicted){numbers[oldest] - 1, lines[oldest].dirty};
  numbers[oldest] = line + 1;
  lines[oldest] = (TagLine){.used = ++tags->uses, .valid = tags->warm && first ? tags->all : 0};
  return &lines[oldest];
}
