/* The event queue: one order for all events, whatever came first. */
#include <glib.h>
#include <stdlib.h>

#include "sim/engine/event.h"
#include "sim/engine/rng.h"
#include "tests/unit/unit.h"

START_TEST(time_then_source_then_sequence) {
  static const struct {
    uint64_t time;
    uint32_t source;
  } pushes[] = {{5, 2}, {5, 1}, {3, 9}, {5, 2}, {UINT64_MAX - 1, 0}, {0, 7}, {5, 1}};
  static const unsigned right[] = {5, 2, 1, 6, 0, 3, 4}; /* index of push */
  EventQueue queue;
  event_queue_init(&queue, 4);
  for (unsigned i = 0; i < G_N_ELEMENTS(pushes); i++)
    event_queue_push(&queue, pushes[i].time, pushes[i].source);
  for (unsigned i = 0; i < G_N_ELEMENTS(right); i++) {
    Event event = event_queue_pop(&queue);
    ck_assert_uint_eq(event.sequence, right[i]);
    ck_assert(event.time == pushes[right[i]].time && event.source == pushes[right[i]].source);
  }
  ck_assert_uint_eq(queue.count, 0);
  event_queue_clear(&queue);
}
END_TEST

static guint first_of(const GArray *list) {
  guint first = 0;
  for (guint i = 1; i < list->len; i++) {
    const Event *a = &g_array_index(list, Event, i), *b = &g_array_index(list, Event, first);
    bool same_time = a->time == b->time, same_source = a->source == b->source;
    if (a->time < b->time || (same_time && a->source < b->source) ||
        (same_time && same_source && a->sequence < b->sequence))
      first = i;
  }
  return first;
}

/* Against a list that is searched from end to end: pushes, pops and exchanges in any order, beyond the first
 * capacity. */
START_TEST(agrees_with_a_list) {
  enum { PUSH, POP, EXCHANGE };
  EventQueue queue;
  g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(Event));
  Rng rng;
  uint64_t now = 0;
  uint32_t sequence = 0;
  event_queue_init(&queue, 1);
  rng_seed(&rng, 4, (uint64_t)_i);
  for (unsigned step = 0; step < 6000; step++) {
    unsigned action = rng_below(&rng, 10) < (step % 3000 < 1000 ? 5 : 3) ? PUSH : POP + rng_below(&rng, 2);
    if (action == POP && list->len == 0)
      continue;
    Event event = {.time = now + rng_below(&rng, 20), .source = 1 + rng_below(&rng, 8), .sequence = sequence};
    if (action != POP) {
      g_array_append_val(list, event);
      sequence++;
    }
    if (action == PUSH) {
      event_queue_push(&queue, event.time, event.source);
      continue;
    }
    guint first = first_of(list);
    Event right = g_array_index(list, Event, first);
    UNIT_ASSERT(action != POP || !event_queue_is_first(&queue, right.time, right.source), "step %u", step);
    Event got = action == POP ? event_queue_pop(&queue) : event_queue_exchange(&queue, event.time, event.source);
    UNIT_ASSERT(got.time == right.time && got.source == right.source && got.sequence == right.sequence, "step %u",
                step);
    g_array_remove_index(list, first);
    UNIT_ASSERT(queue.count == list->len, "step %u", step);
    now = got.time;
  }
  ck_assert_uint_gt(queue.capacity, 16);
  event_queue_clear(&queue);
}
END_TEST

START_TEST(first_means_before_everything) {
  EventQueue queue;
  event_queue_init(&queue, 4);
  ck_assert(event_queue_is_first(&queue, UINT64_MAX - 1, 9));
  event_queue_push(&queue, 10, 3);
  ck_assert(event_queue_is_first(&queue, 9, 9));
  ck_assert(event_queue_is_first(&queue, 10, 2));
  ck_assert(!event_queue_is_first(&queue, 10, 3)); /* that one was pushed earlier */
  ck_assert(!event_queue_is_first(&queue, 10, 4));
  ck_assert(!event_queue_is_first(&queue, 11, 1));
  event_queue_clear(&queue);
}
END_TEST

/* An event that was overtaken stays in the queue; the receiver knows it by its time. */
START_TEST(overtaken_events_stay) {
  EventQueue queue;
  event_queue_init(&queue, 4);
  event_queue_push(&queue, 50, 1);
  uint64_t waits_for = 20;
  event_queue_push(&queue, waits_for, 1);
  Event event = event_queue_pop(&queue);
  ck_assert_uint_eq(event.time, waits_for);
  waits_for = 60;
  event_queue_push(&queue, waits_for, 1);
  event = event_queue_pop(&queue);
  ck_assert(event.time == 50 && event.time != waits_for);
  ck_assert_uint_eq(event_queue_pop(&queue).time, waits_for);
  event_queue_clear(&queue);
}
END_TEST

START_TEST(an_empty_queue_has_nothing) {
  EventQueue queue;
  event_queue_init(&queue, 4);
  unit_expect_precondition("event-queue-empty");
  event_queue_pop(&queue);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("event");
  TCase *tcase = tcase_create("event");
  tcase_add_test(tcase, time_then_source_then_sequence);
  tcase_add_loop_test(tcase, agrees_with_a_list, 0, 6);
  tcase_add_test(tcase, first_means_before_everything);
  tcase_add_test(tcase, overtaken_events_stay);
  unit_add_precondition_test(tcase, an_empty_queue_has_nothing);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
