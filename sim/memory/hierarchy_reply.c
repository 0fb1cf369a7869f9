/* What slices have served: its words are read or changed, and its reply goes back to the SM. */
#include <string.h>

#include "sim/memory/hierarchy.h"
#include "sim/memory/hierarchy_inner.h"
#include "sim/memory/mem_clock.h"

/* So many parts ahead a part's request and words come to the host's cache. */
enum { AHEAD = 8 };

/* The words of a part. */
static void perform(Hierarchy *h, const Part *part) {
  h->client.perform(h->client.user, part->request, part->lanes, part->due);
}

static void tell_part(Hierarchy *h, const Part *part, uint32_t index, uint64_t back) {
  bool host = part->stage == PART_HOST;
  MemTrace trace = {.request = part->request,
                    .address = part->line << h->coalescer.line_shift,
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
  part_free(&h->queue, index);
  if (port->held.first != PART_NONE) {
    uint32_t next = port->held.first;
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

void hierarchy_perform(Hierarchy *h, uint32_t share, uint32_t shares) {
  const PartQueue *queue = &h->queue;
  for (uint32_t i = 0; i < queue->done_count; i++) {
    const Part *part = &queue->pool[queue->done[i].part];
    if (i + AHEAD < queue->done_count)
      __builtin_prefetch(queue->pool[queue->done[i + AHEAD].part].request);
    if (shares == 1 || (part->line << h->coalescer.line_shift >> SHARE_SHIFT) % shares == share)
      perform(h, part);
  }
}

void hierarchy_reply(Hierarchy *h) {
  if (h->client.part)
    hierarchy_settle(h); /* who follows sees each part's effect before the next one's */
  for (uint32_t i = 0; i < h->queue.done_count; i++)
    reply(h, h->queue.done[i].part, h->queue.done[i].milli);
  h->queue.done_count = 0;
}
