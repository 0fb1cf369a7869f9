#include "sim/memory/tags.h"

#include <glib.h>

#include "base/four.h"
#include "base/pages.h"

enum { GROUP = 4 }; /* ways that are looked at together: four_equal() */

static uint32_t round_up(uint64_t bytes, uint32_t to) { return (uint32_t)((bytes + to - 1) / to * to); }

void tags_init(Tags *tags, const Machine *machine) {
  uint32_t line = machine->memory.l2.line, ways = machine->memory.l2.ways;
  *tags = (Tags){.ways = ways,
                 .slices = MAX(machine->memory.slices / machine->memory.l2.halves, 1u),
                 .all = UINT32_MAX >> (32 - line / machine->memory.l2.sector),
                 .warm = machine->memory.l2.start == L2_START_WARM};
  if (!machine->memory.l2.bytes)
    return;
  tags->sets = MAX(machine->memory.l2.bytes / line / ways / machine->memory.slices, 1u);
  tags->lines_at = round_up(ways * sizeof(uint32_t), GROUP * sizeof(uint32_t));
  tags->busy_at = tags->lines_at + ways * (uint32_t)sizeof(TagLine);
  tags->set_bytes = round_up(tags->busy_at + ways * sizeof(uint64_t), HOST_LINE);
  tags->memory = pages_new((gsize)machine->memory.slices * tags->sets * tags->set_bytes + HOST_LINE, 1);
  tags->first_set = tags->memory + (-(uintptr_t)tags->memory & (HOST_LINE - 1));
}

void tags_clear(Tags *tags) { pages_free(tags->memory); }

static char *set_of(const Tags *tags, uint32_t set) { return tags->first_set + set * tags->set_bytes; }

static TagLine *lines_of(const Tags *tags, char *set) { return (TagLine *)(void *)(set + tags->lines_at); }

TagLine *tags_find(Tags *tags, uint32_t set, uint32_t line) {
  char *place = set_of(tags, set);
  const uint32_t *number = (const uint32_t *)(const void *)place;
  uint32_t wanted = line + 1;
  for (uint32_t way = 0; way < tags->ways; way += GROUP) {
    uint32_t found = four_equal(&number[way], wanted);
    if (!found)
      continue;
    TagLine *tag = &lines_of(tags, place)[way + (uint32_t)__builtin_ctz(found)];
    tag->used = ++tags->uses;
    return tag;
  }
  return NULL;
}

bool tags_has_room(const Tags *tags, uint32_t set) {
  const uint32_t *number = (const uint32_t *)(const void *)set_of(tags, set);
  return !number[tags->ways - 1];
}

static bool is_busy(const Tags *tags, const TagLine *tag, uint64_t cycle) {
  return tag->busy && *tags_busy_until(tags, tag) > cycle;
}

TagLine *tags_claim(Tags *tags, uint32_t set, uint32_t line, uint64_t cycle, Evicted *evicted) {
  char *place = set_of(tags, set);
  uint32_t *number = (uint32_t *)(void *)place, oldest = tags->ways;
  TagLine *lines = lines_of(tags, place);
  for (uint32_t way = 0; way < tags->ways; way++) {
    if (!number[way]) {
      oldest = way;
      break;
    }
    if ((oldest == tags->ways || lines[way].used < lines[oldest].used) && !is_busy(tags, &lines[way], cycle))
      oldest = way;
  }
  if (oldest == tags->ways)
    return NULL;
  bool first = !number[oldest];
  *evicted = (Evicted){number[oldest] - 1, lines[oldest].dirty};
  number[oldest] = line + 1;
  lines[oldest] = (TagLine){.used = ++tags->uses, .valid = tags->warm && first ? tags->all : 0};
  return &lines[oldest];
}

uint64_t *tags_busy_until(const Tags *tags, const TagLine *tag) {
  uint64_t place = (uint64_t)((const char *)tag - tags->first_set), set = place / tags->set_bytes;
  char *first = tags->first_set + set * tags->set_bytes;
  return (uint64_t *)(void *)(first + tags->busy_at) + (tag - lines_of(tags, first));
}

void tags_keep_busy(const Tags *tags, TagLine *tag, uint64_t until, bool in_order) {
  *tags_busy_until(tags, tag) = until;
  tag->busy = true;
  tag->in_order = in_order;
}
