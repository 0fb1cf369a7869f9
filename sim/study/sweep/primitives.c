#include "sim/study/sweep/primitives.h"

#include <math.h>
#include <string.h>

#include "base/datadir.h"
#include "sim/scenario/scenario.h"
#include "sim/study/sweep/row.h"

#define PRIMITIVES "traces/primitives/"
#define ACCESSES "traces/accesses/accesses.yaml"
/* Accesses of a block, the paper's: of fewer the one atomic before them would be too large a part. */
#define ACCESSES_COUNT "1000"

/* For machines with locks in tags only (sm.lock_queue). */
#define TAGGED "mutex_tags"

static const struct {
  const char *name;          /* of a semaphore with its initial value */
  const char *contenders[8]; /* NULL behind the last */
  int initial;               /* 0: the scenarios have no such param */
} kinds[KIND_COUNT] = {
    [KIND_BARRIER] = {"barrier", {"barrier_xf", "barrier_atomic"}, 0},
    [KIND_MUTEX] = {"mutex",
                    {"mutex_spin", "mutex_spin_backoff", "mutex_spin_then_backoff", "mutex_fa", "mutex_fa_backoff",
                     "mutex_ring", TAGGED},
                    0},
    [KIND_SEMAPHORE_LOW] = {"semaphore (initial value 1)",
                            {"semaphore_spin", "semaphore_spin_backoff", "semaphore_sleep"},
                            SEMAPHORE_LOW},
    [KIND_SEMAPHORE_HIGH] = {"semaphore (initial value 120)",
                             {"semaphore_spin", "semaphore_spin_backoff", "semaphore_sleep"},
                             SEMAPHORE_HIGH},
};

const char *primitive_kind_name(PrimitiveKind kind) { return kinds[kind].name; }

/* --- plans --- */

static void add_values(PlanPart *part, AxisKind kind, const char *name, const char *const *values) {
  AxisPlace place = {.option = name};
  Axis *axis = axis_new(kind, name, &place);
  for (; *values; values++)
    g_ptr_array_add(axis->values, g_strdup(*values));
  plan_part_put(part, axis);
}

static void add_number(PlanPart *part, const char *name, guint value) {
  g_autofree char *text = g_strdup_printf("%u", value);
  add_values(part, AXIS_PARAM, name, (const char *const[]){text, NULL});
}

static PlanPart *add_part(Plan *plan, const char *machine, const char *const *settings) {
  PlanPart *part = plan_part_new();
  plan_part_name(part->machines, machine, NULL);
  for (; settings && *settings; settings++) {
    const char *equals = strchr(*settings, '=');
    g_autofree char *path = g_strndup(*settings, equals ? (gsize)(equals - *settings) : strlen(*settings));
    add_values(part, AXIS_SETTING, path, (const char *const[]){equals ? equals + 1 : "", NULL});
  }
  g_ptr_array_add(plan->parts, part);
  return part;
}

static GArray *measure(const Plan *plan, const SweepOptions *options, Diag *diag) {
  g_autofree char *header = row_header(plan);
  g_autoptr(Store) store = store_new(header);
  return measure_plan(plan, store, options, diag);
}

/* --- the ranking --- */

static void clear_contender(gpointer data) { g_free(((Contender *)data)->problem); }

static void free_contest(gpointer data) {
  g_array_unref(((Contest *)data)->contenders);
  g_free(data);
}

static gint compare_contenders(gconstpointer a, gconstpointer b) {
  double difference = ((const Contender *)b)->rate - ((const Contender *)a)->rate;
  return difference > 0   ? 1
         : difference < 0 ? -1
                          : strcmp(((const Contender *)a)->name, ((const Contender *)b)->name);
}

double contest_margin(const Contest *contest) {
  const Contender *first = &g_array_index(contest->contenders, Contender, 0);
  return contest->contenders->len > 1 && first[1].rate > 0 ? first->rate / first[1].rate : INFINITY;
}

/* As many blocks of a scenario's launch as the machine holds at once; 0 after errors. */
static guint capacity_of(const char *name, const Machine *machine, Diag *diag) {
  g_autofree char *path = datadir_resolve(name);
  g_autoptr(Scenario) scenario = scenario_load(path, NULL, diag);
  const Program *program = scenario ? scenario_program(scenario, machine, diag) : NULL;
  if (!program)
    return 0;
  const ScenarioLaunch *launch = g_ptr_array_index(scenario->launches, 0);
  Occupancy occupancy = occupancy_of(machine, program_kernel(program, launch->kernel), launch->block, 0);
  uint32_t threads = launch->block[0] * launch->block[1] * launch->block[2];
  if (threads > machine->grid.max_block_threads) {
    diag_error(diag, path, 0, 0, "its blocks have %u threads, %s allows at most %u (grid.max_block_threads)", threads,
               machine->name, machine->grid.max_block_threads);
    return 0;
  }
  if (!occupancy.blocks) {
    g_autofree char *limits = occupancy_limits_text(&occupancy);
    diag_error(diag, path, 0, 0, "an SM of %s has no room for a block of %u threads (it lacks %s)", machine->name,
               threads, limits);
  }
  return occupancy.blocks * machine->gpu.sms;
}

/* At how many blocks a kind is ranked: all blocks of a barrier must be resident, so more than that become that many.
 * NULL after errors. */
static GArray *kind_blocks(PrimitiveKind kind, const GArray *wanted, const Machine *machine, Diag *diag) {
  guint most = G_MAXUINT;
  for (const char *const *name = kinds[kind].contenders; kind == KIND_BARRIER && *name; name++) {
    g_autofree char *path = g_strdup_printf(PRIMITIVES "%s.yaml", *name);
    most = MIN(most, capacity_of(path, machine, diag));
  }
  if (!most)
    return NULL;
  GArray *blocks = g_array_new(FALSE, FALSE, sizeof(guint));
  for (guint i = 0; i < wanted->len; i++) {
    guint number = MIN(g_array_index(wanted, guint, i), most);
    if (!blocks->len || g_array_index(blocks, guint, blocks->len - 1) != number)
      g_array_append_val(blocks, number);
  }
  return blocks;
}

/* What is ranked: a part of a plan for each kind, number of blocks and contender. */
typedef struct Ranking {
  GArray *blocks[KIND_COUNT]; /* guint */
  const char *const *params;  /* borrowed; NULL: none */
  bool tags;                  /* the machine has locks in tags */
  Plan *plan;
} Ranking;

static bool takes_part(const Ranking *ranking, const char *name) {
  return ranking->tags || strcmp(name, TAGGED) != 0;
}

static const char *const *params_of(const char *path, Diag *diag, Scenario **scenario) {
  g_autofree char *file = datadir_resolve(path);
  *scenario = scenario_load(file, NULL, diag);
  return *scenario ? (const char *const *)(*scenario)->params : NULL;
}

/* Those of the ranking's params that the scenario has. */
static void add_params(const Ranking *ranking, PlanPart *part, const char *path) {
  g_autoptr(Diag) ignored = diag_new();
  g_autoptr(Scenario) scenario = NULL;
  const char *const *known = ranking->params ? params_of(path, ignored, &scenario) : NULL;
  for (guint i = 0; known && ranking->params[i]; i++) {
    g_auto(GStrv) pair = g_strsplit(ranking->params[i], "=", 2);
    if (g_strv_contains(known, pair[0]))
      add_values(part, AXIS_PARAM, pair[0], (const char *const[]){pair[1] ? pair[1] : "", NULL});
  }
}

static void add_contender(const Ranking *ranking, PrimitiveKind kind, const char *name, guint blocks, guint ops,
                          const char *machine, const char *const *settings) {
  PlanPart *part = add_part(ranking->plan, machine, settings);
  g_autofree char *path = g_strdup_printf(PRIMITIVES "%s.yaml", name);
  plan_part_name(part->scenarios, path, NULL);
  add_number(part, "blocks", blocks);
  add_number(part, "ops", ops);
  if (kinds[kind].initial)
    add_number(part, "initial", (guint)kinds[kind].initial);
  add_params(ranking, part, path);
}

static void add_contest(Ranking *ranking, PrimitiveKind kind, guint blocks, guint ops, const char *machine,
                        const char *const *settings) {
  ops = ops ? ops : CLAMP(PRIMITIVE_OPERATIONS / blocks, 1, PRIMITIVE_OPS_MOST);
  for (const char *const *name = kinds[kind].contenders; *name; name++)
    if (takes_part(ranking, *name))
      add_contender(ranking, kind, *name, blocks, ops, machine, settings);
  ranking->plan->limit_cycles =
      MAX(ranking->plan->limit_cycles, (uint64_t)PRIMITIVE_CYCLES_MOST * MAX(blocks, PRIMITIVE_BLOCKS_LEAST) * ops);
}

/* Each of them is a param of some contender, and none that the ranking sets itself. */
static bool check_params(const Ranking *ranking, Diag *diag) {
  static const char *const own[] = {"blocks", "ops", "initial", NULL};
  g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(g_free);
  for (guint kind = 0; kind < KIND_COUNT; kind++)
    for (const char *const *name = kinds[kind].contenders; *name; name++) {
      g_autofree char *path = g_strdup_printf(PRIMITIVES "%s.yaml", *name);
      g_autoptr(Scenario) scenario = NULL;
      const char *const *known = params_of(path, diag, &scenario);
      for (; known && *known; known++)
        if (!g_strv_contains(own, *known))
          g_ptr_array_add(all, g_strdup(*known));
    }
  g_ptr_array_add(all, NULL);
  for (guint i = 0; ranking->params[i]; i++) {
    g_auto(GStrv) pair = g_strsplit(ranking->params[i], "=", 2);
    if (!pair[0] || !pair[1])
      return diag_usage(diag, "-p %s: expected NAME=VALUE", ranking->params[i]);
    if (g_strv_contains(own, pair[0]))
      return diag_usage(diag, "-p %s: --primitives sets `%s` itself (--blocks, --ops)", ranking->params[i], pair[0]);
    if (g_strv_contains((const char *const *)all->pdata, pair[0]))
      continue;
    diag_usage(diag, "-p %s: none of the primitives has a param `%s`", ranking->params[i], pair[0]);
    diag_hint_nearest(diag, pair[0], (const char *const *)all->pdata);
    return false;
  }
  return true;
}

static bool ranking_init(Ranking *ranking, const char *name, const char *const *settings, const char *const *params,
                         const GArray *blocks, guint ops, guint seeds, Diag *diag) {
  g_autoptr(Machine) machine = machine_load(name, settings, diag);
  *ranking = (Ranking){.plan = plan_empty(), .params = params};
  if (params && !check_params(ranking, diag))
    return false;
  ranking->plan->seeds = seeds;
  ranking->plan->limit_cycles = 0;
  ranking->tags = machine && machine->sm.lock_queue.l1_ways;
  for (guint kind = 0; machine && kind < KIND_COUNT; kind++) {
    ranking->blocks[kind] = kind_blocks(kind, blocks, machine, diag);
    if (!ranking->blocks[kind])
      return false;
    for (guint i = 0; i < ranking->blocks[kind]->len; i++)
      add_contest(ranking, kind, g_array_index(ranking->blocks[kind], guint, i), ops, name, settings);
  }
  return machine != NULL;
}

static void ranking_clear(Ranking *ranking) {
  for (guint kind = 0; kind < KIND_COUNT; kind++)
    if (ranking->blocks[kind])
      g_array_unref(ranking->blocks[kind]);
  plan_free(ranking->plan);
}

static Contest *read_contest(const Ranking *ranking, PrimitiveKind kind, guint blocks, const GArray *all, guint *at) {
  Contest *contest = g_new0(Contest, 1);
  *contest = (Contest){kind, blocks, g_array_new(FALSE, TRUE, sizeof(Contender))};
  g_array_set_clear_func(contest->contenders, clear_contender);
  for (const char *const *name = kinds[kind].contenders; *name; name++) {
    if (!takes_part(ranking, *name))
      continue;
    const Measured *measured = &g_array_index(all, Measured, (*at)++);
    Contender contender = {
        .name = *name, .rate = measured->completed ? measured->rate : 0, .problem = g_strdup(measured->problem)};
    g_array_append_val(contest->contenders, contender);
  }
  g_array_sort(contest->contenders, compare_contenders);
  return contest;
}

GPtrArray *primitives_rank(const char *machine, const char *const *settings, const char *const *params,
                           const GArray *blocks, guint ops, guint seeds, const SweepOptions *options, Diag *diag) {
  Ranking ranking;
  bool good = ranking_init(&ranking, machine, settings, params, blocks, ops, seeds, diag);
  g_autoptr(GArray) all = good ? measure(ranking.plan, options, diag) : NULL;
  GPtrArray *contests = all ? g_ptr_array_new_with_free_func(free_contest) : NULL;
  guint at = 0;
  for (guint kind = 0; all && kind < KIND_COUNT; kind++)
    for (guint i = 0; i < ranking.blocks[kind]->len; i++)
      g_ptr_array_add(contests,
                      read_contest(&ranking, kind, g_array_index(ranking.blocks[kind], guint, i), all, &at));
  ranking_clear(&ranking);
  return contests;
}

/* --- the characteristics --- */

guint primitives_capacity(const Machine *machine, Diag *diag) { return capacity_of(ACCESSES, machine, diag); }

bool primitives_classify(const char *name, const char *const *settings, const SweepOptions *options,
                         Characteristics *found, Diag *diag) {
  static const struct { const char *atomic, *preceded; } ways[] = {{"0", "0"}, {"1", "0"}, {"0", "1"}};
  g_autoptr(Machine) machine = machine_load(name, settings, diag);
  g_autoptr(Plan) plan = plan_empty();
  *found = (Characteristics){.blocks = machine ? primitives_capacity(machine, diag) : 0};
  if (!found->blocks)
    return false;
  for (guint i = 0; i < G_N_ELEMENTS(ways); i++) {
    PlanPart *part = add_part(plan, name, settings);
    plan_part_name(part->scenarios, ACCESSES, NULL);
    add_number(part, "blocks", found->blocks);
    add_values(part, AXIS_PARAM, "accesses", (const char *const[]){ACCESSES_COUNT, NULL});
    add_values(part, AXIS_PARAM, "atomic", (const char *const[]){ways[i].atomic, NULL});
    add_values(part, AXIS_PARAM, "preceded", (const char *const[]){ways[i].preceded, NULL});
    add_values(part, AXIS_PARAM, "write", (const char *const[]){"0", "1", NULL});
    add_values(part, AXIS_PARAM, "contentious", (const char *const[]){"0", "1", NULL});
  }
  g_autoptr(GArray) all = measure(plan, options, diag);
  if (!all)
    return false;
  for (guint i = 0; i < all->len; i++) {
    const Measured *measured = &g_array_index(all, Measured, i);
    if (!measured->completed)
      return diag_error(diag, ACCESSES, 0, 0, "doesn't complete on %s: %s", name, measured->problem);
    found->time[i / 2 % 2][i % 2][i / 4] = measured->mean;
  }
  found->atomic_volatile = found->time[0][1][1] / found->time[0][1][0];
  found->contentious = found->time[0][1][0] / found->time[0][0][0];
  found->preceded = found->time[0][1][2] / found->time[0][1][0];
  found->hostage = found->preceded > HOSTAGE_RATIO;
  return true;
}

const char *primitives_recommend(const Characteristics *found, PrimitiveKind kind, const char **why) {
  bool slow = found->atomic_volatile >= SLOW_ATOMICS, equal = found->atomic_volatile < EQUAL_RATIO;
  if (kind == KIND_BARRIER) {
    *why = "it needs no atomics, and polls words that nobody else polls";
    return "barrier_xf";
  }
  if (slow) {
    *why = "contended atomics cost an order of magnitude more than volatile accesses: do them once, then poll";
    return kind == KIND_MUTEX ? "mutex_fa" : "semaphore_sleep";
  }
  if (equal) {
    *why = "atomics are as fast as volatile accesses: contention alone counts, and backoff avoids it";
    return kind == KIND_MUTEX ? "mutex_spin_backoff" : "semaphore_spin_backoff";
  }
  if (kind == KIND_SEMAPHORE_HIGH) {
    *why = "below capacity a wait is one atomic, without spinning";
    return "semaphore_sleep";
  }
  *why = found->hostage ? "atomic units hold lines hostage, so polls wait behind atomics: the fewest accesses win"
                        : "atomics cost little, and backoff keeps the line free";
  return kind == KIND_MUTEX ? "mutex_spin_backoff" : "semaphore_spin_backoff";
}

const char *primitives_difference(const char *advised, const char *first) {
  static const struct {
    const char *advised, *first, *why;
  } all[] = {
      {"barrier_xf", "barrier_atomic",
       "it hands over once, from the last atomic to all, where the other goes to one block and back"},
      {"mutex_spin_backoff", "mutex_spin", "the lock may be free while who wants it pauses; -p imax says how long"},
      {"mutex_spin_backoff", "mutex_spin_then_backoff",
       "the lock may be free while who wants it pauses; -p imax says how long"},
      {"semaphore_spin_backoff", "semaphore_spin",
       "the count may be free while who wants it pauses; -p imax says how long"},
      {"mutex_fa", "mutex_ring", "each block polls a word of its own there"},
      {"semaphore_spin_backoff", "semaphore_sleep",
       "the other takes a lock for each wait and for each post, one block after the other; here each is an atomic, "
       "and "
       "who must wait polls"},
  };
  for (guint i = 0; i < G_N_ELEMENTS(all); i++)
    if (strcmp(all[i].advised, advised) == 0 && strcmp(all[i].first, first) == 0)
      return all[i].why;
  return NULL;
}
