#include "sim/study/schedule.h"

#define X(enumerator, spelling) spelling,
static const char *const policy_names[] = {SCHEDULER_POLICIES(X)};
static const char *const order_names[] = {BRANCH_ORDERS(X)};
static const char *const dispatch_names[] = {DISPATCH_ORDERS(X)};
#undef X

static Schedule own_schedule(const Machine *machine, uint64_t seed) {
  return (Schedule){.policy = machine->sm.policy,
                    .order = machine->sm.simt_stack.branch_order,
                    .dispatch = machine->grid.dispatch_order,
                    .seed = seed};
}

static GArray *new_schedules(void) { return g_array_new(FALSE, FALSE, sizeof(Schedule)); }

/* The branch orders to try, the machine's own first: the number of them is returned. The smaller way first is one of
 * the two others in each single case, so it is tried only where it is the machine's own. */
static unsigned branch_orders(BranchOrder own, BranchOrder orders[ORDER_COUNT]) {
  unsigned count = 0;
  orders[count++] = own;
  for (BranchOrder order = ORDER_TAKEN_FIRST; order <= ORDER_FALLTHROUGH_FIRST; order++)
    if (order != own)
      orders[count++] = order;
  return count;
}

/* Of the two greedy policies the machine's own is enough, or else the older one. */
static bool differs(SchedulerPolicy own, SchedulerPolicy policy) {
  SchedulerPolicy left_out = own == POLICY_GREEDY ? POLICY_GTO : POLICY_GREEDY;
  return policy != left_out;
}

/* The other orders of dispatch, as long as there are fewer than `count`. */
static void append_reordered(GArray *schedules, Schedule own, guint count) {
  Schedule next = own;
  next.reordered = true;
  for (unsigned dispatch = 0; dispatch < DISPATCH_COUNT && schedules->len < count; dispatch++) {
    next.dispatch = dispatch;
    if (next.dispatch != own.dispatch)
      g_array_append_val(schedules, next);
  }
}

/* Who asks for fewer is in a hurry. Of the others late stores have so many. */
enum { FEW_SEEDS = 4, LATE_SEEDS = 16 };

/* Held up for many round trips to memory, so that others do much meanwhile. */
enum { HELD_CYCLES = 20000, HELD_CYCLES_MAX = 1000000 };
static void append_held(GArray *schedules, Schedule own, guint count) {
  own.held_up = HELD_CYCLES;
  if (schedules->len < count)
    g_array_append_val(schedules, own);
}

/* Late stores: a few round trips to memory, or many, so that other threads come to where a store isn't seen. */
static void append_late(GArray *schedules, Schedule own, guint count) {
  static const uint32_t late[] = {8000, 3000};
  for (unsigned i = 0; i < G_N_ELEMENTS(late) && schedules->len < count; i++) {
    own.late_stores = late[i];
    g_array_append_val(schedules, own);
  }
}

GArray *schedules_count(const Machine *machine, uint64_t seed, unsigned count, ScheduleKinds kinds) {
  GArray *schedules = new_schedules();
  BranchOrder orders[ORDER_COUNT];
  unsigned norders = branch_orders(machine->sm.simt_stack.branch_order, orders);
  for (Schedule own = own_schedule(machine, seed), next = own; schedules->len < count; own.seed++) {
    next.seed = own.seed;
    for (unsigned order = 0; order < norders; order++)
      for (unsigned policy = 0; policy < POLICY_COUNT && schedules->len < count; policy++) {
        next.policy = (own.policy + policy) % POLICY_COUNT;
        next.order = orders[order];
        if (differs(own.policy, next.policy))
          g_array_append_val(schedules, next);
      }
    if (kinds.blocks)
      append_reordered(schedules, own, count);
    if (own.seed - seed < kinds.held)
      append_held(schedules, own, count);
    if (own.seed - seed < kinds.late)
      append_late(schedules, own, count);
  }
  return schedules;
}

GArray *schedules_by_seeds(const Machine *machine, uint64_t seed, unsigned seeds, ScheduleKinds kinds) {
  Schedule own = own_schedule(machine, seed), next = own;
  GArray *schedules = new_schedules();
  for (unsigned i = 0; i < MAX(seeds, 1u); i++, next.seed++)
    g_array_append_val(schedules, next);
  BranchOrder orders[ORDER_COUNT];
  unsigned norders = branch_orders(own.order, orders);
  next = own;
  for (unsigned order = 1; order < norders; order++) {
    next.order = orders[order];
    g_array_append_val(schedules, next);
  }
  next = own;
  for (unsigned policy = 0; policy < POLICY_COUNT; policy++) {
    next.policy = policy;
    if (next.policy != own.policy && differs(own.policy, policy))
      g_array_append_val(schedules, next);
  }
  if (kinds.blocks)
    append_reordered(schedules, own, G_MAXUINT);
  next = own;
  unsigned own_seeds = MAX(seeds, 1u), late_seeds = seeds < FEW_SEEDS ? own_seeds : MAX(seeds, LATE_SEEDS);
  for (unsigned i = 0; i < MIN(kinds.late, late_seeds); i++, next.seed++) {
    next.more = i >= own_seeds;
    append_late(schedules, next, G_MAXUINT);
  }
  next = own;
  for (unsigned i = 0; i < (seeds < FEW_SEEDS ? MIN(kinds.held, MAX(seeds, 1u)) : kinds.held); i++, next.seed++)
    append_held(schedules, next, G_MAXUINT);
  return schedules;
}

/* Where the runs begin in which warps are held up, the last ones of the list. */
static guint first_held(const GArray *schedules) {
  guint first = schedules->len;
  while (first > 0 && g_array_index(schedules, Schedule, first - 1).held_up)
    first--;
  return first;
}

/* Of a short program there are more of them, since each finds what it finds by chance. */
static void leave_out_held(GArray *schedules, uint64_t instructions) {
  enum { INSTRUCTIONS = 100000, SEEDS_MIN = 1 };
  uint64_t wanted = MAX(INSTRUCTIONS / MAX(instructions, 1), SEEDS_MIN);
  guint first = first_held(schedules);
  if (schedules->len - first > wanted)
    g_array_set_size(schedules, first + (guint)wanted);
}

/* In front of these: what one shows is easier to tell. One stands still for as long as all others need, for once. */
static void add_places(GArray *schedules, const FirstRun *run) {
  enum { INSTRUCTIONS = 200000 };
  guint first = first_held(schedules),
        count = (guint)MIN(INSTRUCTIONS / MAX(run->instructions, 1), SCHEDULES_PLACES_MAX);
  if (first == schedules->len)
    return;
  g_autoptr(GArray) numbers = place_log_numbers(run->places, count);
  Schedule own = g_array_index(schedules, Schedule, 0);
  own.held_up = (uint32_t)CLAMP(run->cycles, HELD_CYCLES, HELD_CYCLES_MAX);
  for (guint i = 0; i < numbers->len; i++) {
    own.held_once = g_array_index(numbers, uint32_t, i);
    g_array_insert_val(schedules, first + i, own);
  }
}

/* The same of runs with late stores, in which most instructions are those of threads that wait. */
static void leave_out_late(GArray *schedules, uint64_t instructions) {
  enum { INSTRUCTIONS = 20000 };
  uint64_t left = INSTRUCTIONS / MAX(instructions, 1);
  for (guint i = 0; i < schedules->len;) {
    bool more = g_array_index(schedules, Schedule, i).more;
    if (more && !left) {
      g_array_remove_index(schedules, i);
      continue;
    }
    left -= more;
    i++;
  }
}

void schedules_fit(GArray *schedules, const FirstRun *run) {
  leave_out_held(schedules, run->instructions);
  leave_out_late(schedules, run->instructions);
  add_places(schedules, run);
}

Machine *schedule_machine(const Schedule *schedule, const Machine *machine) {
  Machine *variant = machine_copy(machine);
  variant->sm.policy = schedule->policy;
  variant->sm.simt_stack.branch_order = schedule->order;
  variant->grid.dispatch_order = schedule->dispatch;
  if (schedule->held_up)
    variant->sm.held_up = schedule->held_up;
  if (schedule->held_once)
    variant->sm.held_once = schedule->held_once;
  if (schedule->late_stores)
    variant->memory.late_stores = schedule->late_stores;
  return variant;
}

char *schedule_text(const Schedule *schedule) {
  g_autofree char *held = schedule->held_once ? g_strdup_printf("a warp held up at place %u, ", schedule->held_once)
                          : schedule->held_up ? g_strdup_printf("warps held up to %u cycles, ", schedule->held_up)
                                              : g_strdup("");
  g_autofree char *late =
      schedule->late_stores ? g_strdup_printf("stores up to %u cycles late, ", schedule->late_stores) : g_strdup("");
  return g_strdup_printf("policy %s, branch order %s, %s%s%s%s%sseed %" G_GUINT64_FORMAT,
                         policy_names[schedule->policy], order_names[schedule->order],
                         schedule->reordered ? "dispatch order " : "",
                         schedule->reordered ? dispatch_names[schedule->dispatch] : "",
                         schedule->reordered ? ", " : "", held, late, schedule->seed);
}

ScheduleResult schedule_result(const Schedule *schedule) {
  return (ScheduleResult){.policy = policy_names[schedule->policy],
                          .branch_order = order_names[schedule->order],
                          .dispatch_order = dispatch_names[schedule->dispatch],
                          .reordered = schedule->reordered,
                          .held_up = schedule->held_up,
                          .held_once = schedule->held_once,
                          .late_stores = schedule->late_stores,
                          .seed = schedule->seed};
}

char *schedule_arguments(const ScheduleResult *schedule) {
  g_autofree char *held = schedule->held_up ? g_strdup_printf(" -s sm.held_up=%u", schedule->held_up) : g_strdup(""),
                  *once = schedule->held_once ? g_strdup_printf(" -s sm.held_once=%u", schedule->held_once)
                                              : g_strdup("");
  g_autofree char *late =
      schedule->late_stores ? g_strdup_printf(" -s memory.late_stores=%u", schedule->late_stores) : g_strdup("");
  return g_strdup_printf("-s sm.policy=%s -s sm.simt_stack.branch_order=%s%s%s%s%s%s --seed %" G_GUINT64_FORMAT,
                         schedule->policy, schedule->branch_order,
                         schedule->reordered ? " -s grid.dispatch_order=" : "",
                         schedule->reordered ? schedule->dispatch_order : "", held, once, late, schedule->seed);
}
