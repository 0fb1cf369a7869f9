/* Lines in the slices, those that make room for others, and copies in the half that isn't a line's home. */
#include "base/bits.h"
#include "sim/memory/hierarchy.h"
#include "sim/memory/hierarchy_inner.h"

uint64_t lines_move_sectors(Hierarchy *h, uint32_t slice, uint64_t line, uint32_t sectors, bool writes,
                            uint64_t milli) {
  ChannelStats *stats = &h->stats.channel[dram_channel(&h->dram, slice)];
  link_stats_add(writes ? &stats->written : &stats->read, (uint64_t)bits_count(sectors) << h->coalescer.sector_shift);
  return dram_move(&h->dram, slice, line, sectors, milli, stats);
}

/* Whether the half that isn't the line's home has a copy before anybody has accessed the line: not of what the host
 * has copied there (mem_size_h200.csv), as cudaMemcpy() changes lines where they are at home. */
static bool is_copied(const Hierarchy *h, uint32_t line) {
  if (!slice_map_copied(&h->map, line))
    return false;
  const BackingBuffer *buffer = backing_find(h->backing, (uint64_t)line << h->coalescer.line_shift, 1);
  return !buffer || !buffer->copied;
}

TagLine *lines_claim(Hierarchy *h, const Part *part, uint32_t set, bool at_home, uint64_t cycle, bool *wrote) {
  Evicted evicted;
  TagLine *tag = tags_claim(&h->tags, set, part->line, cycle, &evicted);
  if (tag && !at_home && !is_copied(h, part->line))
    tags_void(tag);
  if (tag && evicted.dirty) {
    if (wrote)
      *wrote = true;
    h->counters->l2_writebacks++;
    lines_move_sectors(h, part->slice % h->map.slices, evicted.line, evicted.dirty, true, milli_of(cycle));
  }
  return tag;
}

TagLine *lines_find_copy(Hierarchy *h, const Part *part, uint32_t set, uint64_t cycle) {
  TagLine *tag = tags_find(&h->tags, set, part->line);
  return tag || !tags_has_room(&h->tags, set) ? tag : lines_claim(h, part, set, false, cycle, NULL);
}

TagLine *lines_copy(Hierarchy *h, const Part *part, uint64_t cycle) {
  if (h->map.halves == 1 || !tags_are_there(&h->tags) || !part->at_home)
    return NULL;
  TagLine *tag = lines_find_copy(h, part, tags_other_set(&h->tags, part->slice, part->set), cycle);
  if (tag && !tag->valid)
    tags_void(tag);
  return tag && tag->valid ? tag : NULL;
}

bool lines_drop_copy(Hierarchy *h, const Part *part, uint64_t cycle) {
  TagLine *copy = lines_copy(h, part, cycle);
  if (copy)
    tags_void(copy);
  return copy != NULL;
}

void lines_keep_copy(Hierarchy *h, const Part *part, uint64_t cycle) {
  if (*lines_passing(h, part))
    return;
  uint32_t set = tags_other_set(&h->tags, part->slice, part->set);
  TagLine *tag = tags_find(&h->tags, set, part->line);
  if (!tag && !(tag = lines_claim(h, part, set, false, cycle, NULL)))
    return;
  tag->valid |= part->sectors;
  if (h->copy_latency && part->kind == MEM_LOAD && !tag->busy)
    *tags_busy_until(&h->tags, tag) = cycle + h->copy_latency; /* for wait_for_copy() */
}
