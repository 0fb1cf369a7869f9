#include "sim/detect/race/handoff.h"

typedef struct HandOff {
  VClock knows;
  uint32_t actor, users;
  uint32_t next; /* unused: number of the next unused one */
} HandOff;

static HandOff *item(const HandOffs *handoffs, uint32_t number) {
  return &g_array_index(handoffs->items, HandOff, number - 1);
}

void handoffs_init(HandOffs *handoffs) {
  *handoffs = (HandOffs){.items = g_array_new(FALSE, TRUE, sizeof(HandOff))};
  g_array_set_size(handoffs->items, 1);
  /* Number 1 is everything, and stays. */
  *item(handoffs, 1) = (HandOff){.knows.floor = VCLOCK_PINNED, .actor = VCLOCK_PINNED, .users = 1};
}

void handoffs_clear(HandOffs *handoffs) {
  for (uint32_t number = 1; number <= handoffs->items->len; number++)
    vclock_clear(&item(handoffs, number)->knows);
  g_array_free(handoffs->items, TRUE);
}

uint32_t handoff_new(HandOffs *handoffs, uint32_t actor, const VClock *knows) {
  uint32_t number = handoffs->free;
  if (number) {
    handoffs->free = item(handoffs, number)->next;
  } else if (handoffs->items->len < HANDOFFS_MAX) {
    g_array_set_size(handoffs->items, handoffs->items->len + 1);
    number = handoffs->items->len;
  } else {
    number = 1; /* everything */
    handoff_use(handoffs, number);
    return number;
  }
  HandOff *new = item(handoffs, number);
  vclock_assign(&new->knows, knows);
  new->actor = actor;
  new->users = 1;
  return number;
}

void handoff_use(HandOffs *handoffs, uint32_t number) {
  if (number)
    item(handoffs, number)->users++;
}

void handoff_drop(HandOffs *handoffs, uint32_t number) {
  if (!number || --item(handoffs, number)->users)
    return;
  vclock_clear(&item(handoffs, number)->knows);
  item(handoffs, number)->next = handoffs->free;
  handoffs->free = number;
}

/* Who knows that time of the actor learned it from it, or from one who did, and with it all that it knew. */
bool handoff_take(const HandOffs *handoffs, uint32_t number, uint32_t time, VClock *clock) {
  if (!number)
    return false;
  const HandOff *from = item(handoffs, number);
  if (number > 1 && vclock_knows(clock, from->actor, time))
    return false;
  vclock_join(clock, &from->knows);
  if (number > 1)
    vclock_advance(clock, from->actor, time);
  return true;
}

void handoff_join(const HandOffs *handoffs, uint32_t number, VClock *clock) {
  if (number)
    vclock_join(clock, &item(handoffs, number)->knows);
}
