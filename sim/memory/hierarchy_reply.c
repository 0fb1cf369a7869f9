/* What slices have served: its words are read or changed, and its reply goes back to the SM. */
#include <string.h>

#include "sim/memory/hierarchy.h"
#include "sim/memory/hierarchy_inner.h"
#include "sim/memory/mem_clock.h"

/* So many parts ahead a part comes to the host's cache, its request, and its words. */
enum { PART_AHEAD = 12, REQUEST_AHEAD = 8, WORDS_AHEAD = 4 };

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
  memcpy(trace.step, part_steps(&h->queue, index), sizeof trace.step);
  trace.step[TRACE_PERFORMED] = milli_of(part->due);
  trace.step[TRACE_REPLIED] = back;
  h->client.part(h->client.user, &trace);
}

/* The reply of a part whose words have been read or changed; `milli`: when the slice sends it off. */
static void reply(Hierarchy *h, uint32_t index, uint64_t milli) {
  const Part *part = part_at(&h->queue, index);
  MemRequest *request = part->request;
  Port *port = &h->port[part->sm];
  uint64_t cycle = part->due, back = port_reply(port, &h->port_rules, part, milli) + part->more;
  link_stats_add(&port->in, part->in);
  request->performed |= part->lanes;
  if (G_UNLIKELY(h->client.part != NULL))
    tell_part(h, part, index, back);
  request->answered = MAX(request->answered, back);
  if (part->kind == MEM_ATOMIC)
    request->waited = MAX(request->waited, part->busy);
  part_free(&h->queue, index);
  if (port->held.first != PART_NONE)
    hierarchy_leave_held(h, port, milli_of(cycle));
  if (--request->parts == 0)
    h->client.reply(h->client.user, request, milli_cycle(request->answered));
}

/* Its words are read or changed soon: what is small of it, and what its sender keeps behind that. */
static void prefetch_request(const MemRequest *request) {
  const char *first = (const char *)&request->kind;
  __builtin_prefetch(first);
  __builtin_prefetch(first + 64);
  __builtin_prefetch(first + 128, 1); /* with `answered` */
}

/* What a share has to do with a part that has been served. */
enum { HAS_WORDS = 1, HAS_REPLY = 2 };

/* The parts of a share: the words are its own if no other share's SMs come to them, or by their key; replies go to
 * its own SMs. */
static uint32_t list_share(Hierarchy *h, uint32_t number, uint32_t shares) {
  PartShare *share = &h->share[number];
  uint32_t count = 0, all = h->queue.done_count;
  if (share->size < all + 1) {
    share->size = 2 * all + 1;
    share->done = g_renew(PartDone, share->done, share->size);
  }
  for (uint32_t i = 0; i < all; i++) {
    PartDone done = h->queue.done[i];
    bool own = h->home[done.sm] == number;
    bool words = h->owner[done.key] == SHARE_MIXED ? done.key % shares == number : own;
    done.key = (uint16_t)((words ? HAS_WORDS : 0) | (own ? HAS_REPLY : 0));
    share->done[count] = done;
    count += done.key != 0;
  }
  return count;
}

/* Places on the way that atomics have left: of all SMs, or of those of a share. */
static void free_ways(Hierarchy *h, uint32_t share, bool all) {
  for (uint32_t i = 0; i < h->queue.free_count; i++) {
    const PartPlacesFree *free = &h->queue.free[i];
    if (!all && h->home[free->sm] != share)
      continue;
    Port *port = &h->port[free->sm];
    credits_return(&port->turns, free->turns, free->milli);
    if (h->client.places)
      h->client.places(h->client.user, free->sm, free->turns, milli_cycle(free->milli));
    if (port->held.first != PART_NONE)
      hierarchy_leave_held(h, port, free->milli);
  }
}

void hierarchy_pass(Hierarchy *h, uint32_t share, uint32_t shares) {
  for (uint32_t sm = 0; h->home && share == 0 && sm < h->sms; sm++)
    part_queue_unpack(&h->queue, &h->queue.side[sm].sent, sm);
  bool all = shares == 1;
  uint32_t count = all ? h->queue.done_count : list_share(h, share, shares);
  const PartDone *list = all ? h->queue.done : h->share[share].done;
  for (uint32_t i = 0; i < count; i++) {
    if (i + PART_AHEAD < count)
      __builtin_prefetch(part_at(&h->queue, list[i + PART_AHEAD].part));
    if (i + REQUEST_AHEAD < count)
      prefetch_request(part_at(&h->queue, list[i + REQUEST_AHEAD].part)->request);
    if (i + WORDS_AHEAD < count && h->client.soon && (all || list[i + WORDS_AHEAD].key & HAS_WORDS)) {
      const Part *soon = part_at(&h->queue, list[i + WORDS_AHEAD].part);
      h->client.soon(h->client.user, soon->request, soon->lanes);
    }
    if (all || list[i].key & HAS_WORDS)
      perform(h, part_at(&h->queue, list[i].part));
    if (all || list[i].key & HAS_REPLY)
      reply(h, list[i].part, list[i].milli);
  }
  free_ways(h, share, all);
}

/* ---- side by side ---- */

bool hierarchy_goes_apart(const Hierarchy *h) {
  for (guint i = 0; i < h->backing->buffers->len; i++)
    if (backing_buffer(h->backing, i)->host)
      return false; /* the host's link takes parts of all SMs in order */
  return !h->client.part;
}

void hierarchy_part(Hierarchy *h, const uint8_t *home, uint32_t shares) {
  h->home = home;
  memset(h->owner, 0, sizeof h->owner);
  if (shares <= h->shares)
    return;
  h->share = g_renew(PartShare, h->share, shares);
  memset(&h->share[h->shares], 0, (shares - h->shares) * sizeof *h->share);
  h->shares = shares;
}

void hierarchy_settle(Hierarchy *h) {
  h->queue.done_count = h->queue.free_count = 0;
  for (uint32_t sm = 0; h->home && sm < h->sms; sm++)
    part_queue_unpack(&h->queue, &h->queue.side[sm].answered, sm);
  h->home = NULL;
}
