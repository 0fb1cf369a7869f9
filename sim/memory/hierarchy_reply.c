/* What slices have served: its words are read or changed, and its reply goes back to the SM. */
#include <string.h>

#include "sim/memory/hierarchy.h"
#include "sim/memory/hierarchy_inner.h"
#include "sim/memory/mem_clock.h"

/* So many parts ahead a part comes to the host's cache, its request, and its words. */
enum { PART_AHEAD = 12, REQUEST_AHEAD = 8, WORDS_AHEAD = 4 };

static const Part *done_part(const Hierarchy *h, uint32_t place) { return &h->queue.pool[h->queue.done[place].part]; }

/* The words of a part. */
static void perform(Hierarchy *h, const Part *part) {
  h->client.perform(h->client.user, part->request, part->lanes, part->due);
}

static void tell_part(Hierarchy *h, const Part *part, uint32_t index, uint64_t back) {
  bool host = part->stage == PART_HOST;
  MemTrace trace = {.request = part->request,
                    .address = (uint64_t)part->line << h->coalescer.line_shift,
                    .lanes = part->lanes,
                    .slice = host ? TRACE_NO_SLICE : part->slice,
                    .first = host         ? TRACE_NO_SLICE
                             : part->away ? hierarchy_other_slice(h, part)
                                          : part->slice,
                    .last = part->request->parts == 1};
  memcpy(trace.step, h->queue.steps[index], sizeof trace.step);
  trace.step[TRACE_PERFORMED] = milli_of(part->due);
  trace.step[TRACE_REPLIED] = back;
  h->client.part(h->client.user, &trace);
}

/* The reply of a part whose words have been read or changed; `milli`: when the slice sends it off. */
static void reply(Hierarchy *h, uint32_t index, uint64_t milli) {
  const Part *part = &h->queue.pool[index];
  MemRequest *request = part->request;
  Port *port = &h->port[part->sm];
  uint64_t cycle = part->due, back = port_reply(port, &h->port_rules, part, milli) + part->more;
  link_stats_add(&h->stats.port[part->sm].in, part->in);
  request->performed |= part->lanes;
  if (G_UNLIKELY(h->client.part != NULL))
    tell_part(h, part, index, back);
  request->answered = MAX(request->answered, back);
  if (part->kind == MEM_ATOMIC)
    request->waited = MAX(request->waited, part->busy);
  part_free(&h->queue, index);
  for (uint32_t next; (next = port->held.first) != PART_NONE && port_has_credit(port, &h->queue.pool[next]);) {
    port->held.first = h->queue.pool[next].next;
    hierarchy_leave(h, next, milli_of(cycle));
  }
  if (--request->parts == 0)
    h->client.reply(h->client.user, request, milli_cycle(request->answered));
}

void hierarchy_settle(Hierarchy *h) {
  for (uint32_t i = 0; i < h->queue.done_count; i++) {
    PartDone done = h->queue.done[i];
    perform(h, &h->queue.pool[done.part]);
    reply(h, done.part, done.milli);
  }
  h->queue.done_count = 0;
}

static bool is_of_share(const Hierarchy *h, const Part *part, uint32_t share, uint32_t shares) {
  return shares == 1 || ((uint64_t)part->line << h->coalescer.line_shift >> SHARE_SHIFT) % shares == share;
}

/* Its words are read or changed soon: what is small of it, and what its sender keeps behind that. */
static void prefetch_request(const MemRequest *request) {
  const char *first = (const char *)&request->kind;
  __builtin_prefetch(first);
  __builtin_prefetch(first + 64);
  __builtin_prefetch(first + 128);
}

void hierarchy_perform(Hierarchy *h, uint32_t share, uint32_t shares) {
  for (uint32_t i = 0, count = h->queue.done_count; i < count; i++) {
    const Part *part = done_part(h, i);
    if (i + PART_AHEAD < count)
      __builtin_prefetch(done_part(h, i + PART_AHEAD));
    if (i + REQUEST_AHEAD < count)
      prefetch_request(done_part(h, i + REQUEST_AHEAD)->request);
    if (i + WORDS_AHEAD < count && h->client.soon) {
      const Part *soon = done_part(h, i + WORDS_AHEAD);
      h->client.soon(h->client.user, soon->request, soon->lanes);
    }
    if (is_of_share(h, part, share, shares))
      perform(h, part);
  }
}

void hierarchy_reply(Hierarchy *h) {
  if (h->client.part)
    hierarchy_settle(h); /* who follows sees each part's effect before the next one's */
  for (uint32_t i = 0, count = h->queue.done_count; i < count; i++) {
    if (i + PART_AHEAD < count)
      __builtin_prefetch(done_part(h, i + PART_AHEAD), 1);
    if (i + REQUEST_AHEAD < count)
      __builtin_prefetch(&done_part(h, i + REQUEST_AHEAD)->request->answered, 1);
    reply(h, h->queue.done[i].part, h->queue.done[i].milli);
  }
  h->queue.done_count = 0;
}
