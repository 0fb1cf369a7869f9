#include "sim/detect/race/race_report.h"

#include "base/bits.h"
#include "sim/core/host.h"
#include "sim/core/lane_groups.h"
#include "sim/detect/naming/locate.h"
#include "sim/detect/race/copy_gap.h"
#include "sim/detect/race/polling.h"
#include "sim/detect/race/race_repair.h"
#include "sim/detect/race/race_text.h"

/* Races of two lines on one word. */
typedef struct WordRaces {
  AccessSpace space;
  uint64_t word;
  bool settled;
  bool missed; /* some read didn't see what it relies on: the finding is of that one */
  Finding *finding;
} WordRaces;

typedef struct RacePair {
  gint64 lines;
  GArray *words; /* WordRaces */
} RacePair;

static void free_pair(gpointer data) {
  RacePair *pair = data;
  for (guint i = 0; i < pair->words->len; i++)
    finding_free(g_array_index(pair->words, WordRaces, i).finding);
  g_array_free(pair->words, TRUE);
  g_free(pair);
}

void race_report_init(RaceReport *report, GPtrArray *findings) {
  *report = (RaceReport){.findings = findings,
                         .pairs = g_ptr_array_new_with_free_func(free_pair),
                         .known = g_hash_table_new(bits_hash_key, g_int64_equal)};
}

void race_report_seek(RaceReport *report, const Finding *sought, Gpu *gpu) {
  report->sought = sought;
  report->ends = gpu;
}

void race_report_clear(RaceReport *report) {
  g_clear_pointer(&report->older, finding_free);
  g_hash_table_destroy(report->known);
  g_ptr_array_unref(report->pairs);
}

/* What would order the two, and why it doesn't. */
typedef struct Reason {
  char *why, *repair;    /* owned */
  const char *otherwise; /* what of that no barrier does, if barriers are tried and don't help */
} Reason;

static Reason because(const char *why, const char *repair) {
  return (Reason){.why = g_strdup(why), .repair = g_strdup(repair)};
}

static Reason whatever_barriers_do(const char *why, const char *repair) {
  Reason reason = because(why, repair);
  reason.otherwise = repair;
  return reason;
}

static Reason unordered_fermi(const Race *race, const RaceEnd *second) {
  if (race->first.strong || second->strong)
    return because("one of the two is strong (atomic, volatile, or LDSLK and STSUL), the other isn't",
                   race->space == SPACE_SHARED ? "access the word with LDSLK and STSUL only, or put a barrier "
                                                 "between the two"
                                               : "make both accesses atomic or volatile (.CV, .WT)");
  if (!race_of_one_launch(race, second))
    return because("the launches are of different streams, which run concurrently",
                   "hand over with an atomic flag and MEMBAR, or put both launches in one stream if neither waits "
                   "for the other");
  if (race_of_one_block(race, second))
    return because("both warps pass no barrier between the two, and no lock bit, atomic or flag is handed from "
                   "the first to the second",
                   "put a barrier (BAR) between the two, hold one lock around each, or let the second wait in "
                   "a loop for a flag that the first sets afterwards");
  return because("blocks have no barrier in common, and no atomic or flag is handed from the first to the second",
                 "hand over with a flag that the second waits for in a loop, and MEMBAR before it is set, or "
                 "split the kernel into two launches");
}

/* Its launch is a cooperative grid. */
static bool is_cooperative(const ProbePoint *point, const RaceEnd *end) {
  return !race_is_host(end) && race_launch_of(point, end)->envreg;
}

static const char *what_is_missing(const ProbePoint *point, const Race *race, const RaceEnd *second) {
  bool lockstep = point->gpu->machine->sm.convergence != CONVERGENCE_BARRIER;
  if (race->cause == RACE_LANES)
    return lockstep
               ? "nothing in the program orders them: no __syncwarp(), no barrier; only the lock-step of this "
                 "machine does, and PTX doesn't promise that"
               : "nothing orders them: no __syncwarp(), no barrier, and lanes of a warp don't run in lock-step on "
                 "this machine";
  if (!race_of_one_launch(race, second))
    return "nothing orders them: the launches are of different streams, which run concurrently";
  if (race_of_one_block(race, second))
    return "nothing orders them: no barrier (__syncthreads()), no atomic or volatile flag that the first hands to "
           "the "
           "second";
  if (race->space == SPACE_SHARED) /* of another block of the cluster */
    return "nothing orders them: no barrier of the cluster (cluster.sync()), no atomic or volatile flag that the "
           "first hands to the second";
  if (is_cooperative(point, second))
    return "nothing orders them: no barrier of the grid (grid.sync()), no atomic or volatile flag that the first "
           "hands to the second";
  return "nothing orders them: blocks have no barrier in common, and no atomic or volatile flag is handed from the "
         "first to the second";
}

#define FENCES_OF_A_FLAG                                                                                           \
  "__threadfence() before it is set and behind where it is seen (and __syncthreads() between, if one thread does " \
  "that for its block)"

/* Of two blocks of a cluster. */
static const char cluster_repair[] = "put cluster.sync() between the two, where all threads of the cluster come by, "
                                     "or hand over with an mbarrier or an "
                                     "atomic flag of the cluster's scope";

/* A strong access and a plain one. */
static const char *repair_of_mixed(const ProbePoint *point, const Race *race, const RaceEnd *second) {
  if (race_sets_first(point, race, second))
    return race_first_value_repair(point, race, second);
  if (race->first.write && second->write)
    return race_both_stores_repair;
  if (race->cause == RACE_LANES)
    return "put __syncwarp() between the two, or make the plain access volatile or atomic, too";
  if (race_of_one_block(race, second))
    return "put __syncthreads() between the two, or make the plain access volatile or atomic, too";
  if (race->space == SPACE_SHARED)
    return cluster_repair;
  return "make the plain access volatile or atomic, too, or, if it has to come behind the other one, hand over with "
         "a flag, " FENCES_OF_A_FLAG;
}

/* Other lanes of the warp are in a loop that tries or polls something while these go on: mostly one that takes a
 * lock, or waits for a flag, for all of them. */
static bool leaves_waiting_lanes(const ProbePoint *point) {
  enum { NEAR = 6 }; /* such a loop is short */
  const Warp *warp = point->warp;
  bool found = false;
  const LaneGroups *groups = warp ? warp->groups : NULL;
  if (!groups || !point->block)
    return false;
  const Kernel *kernel = point->block->launch->kernel;
  g_autofree bool *tries = polling_tries(kernel);
  for (uint32_t i = 0; tries && i < groups->count; i++) {
    const LaneGroup *group = &groups->group[i];
    bool may_run = group->state == GROUP_READY || group->state == GROUP_YIELDED;
    for (uint32_t pc = group->pc - MIN(group->pc, (uint32_t)NEAR);
         may_run && pc < MIN(group->pc + NEAR, kernel->ninsts); pc++)
      found |= tries[pc];
  }
  return found;
}

/* One store, by several threads of a launch. */
static bool stores_alike(const ProbePoint *point, const Race *race, const RaceEnd *second) {
  return race->first.write && second->write && race_of_one_launch(race, second) && race->first.pc == point->pc;
}

static Reason unordered_ptx(const ProbePoint *point, const Race *race, const RaceEnd *second) {
  const char *missing = what_is_missing(point, race, second);
  const CopyGap *copy = copy_gap_find(point, race, second);
  if (copy)
    return because(copy->why, copy->repair);
  if (race_frees(point, &race->first) || race_frees(point, second))
    return whatever_barriers_do(missing, "free memory only when every thread has done with it: behind a barrier, or "
                                         "by the last one of an atomic counter, with __threadfence() before each "
                                         "counts");
  if (race_initialises(point, race, second))
    return because(missing, race_initialise_repair(point, race, second));
  if (race->first.strong || second->strong)
    return (Reason){.why = g_strdup_printf("one of the two is strong (atomic, volatile, relaxed or stronger), the "
                                           "other isn't; %s",
                                           missing),
                    .repair = g_strdup(repair_of_mixed(point, race, second))};
  if (race->cause != RACE_LANES && leaves_waiting_lanes(point))
    return whatever_barriers_do(missing,
                                "if one lane takes the lock, or waits for the flag, for all of its warp, put "
                                "__syncwarp() behind that, and before it gives the lock back");
  if (race->cause != RACE_LANES && stores_alike(point, race, second))
    return whatever_barriers_do(missing,
                                "if all store the same value, or any of theirs will do, make the store volatile or "
                                "atomic; otherwise hold one lock around it, or give each thread a word of its own");
  if (race_is_update(point, race, second))
    return because(missing, "make it one atomic operation (atomicAdd() instead of ++ or +=)");
  if (race->cause == RACE_LANES)
    return because(missing, "put __syncwarp() between the two");
  if (!race_of_one_launch(race, second))
    return because(missing,
                   "hand over with an atomic flag and __threadfence(), or put both launches in one stream if neither "
                   "waits for the other");
  if (race_of_one_block(race, second)) {
    Reason reason = because(missing, "put __syncthreads() between the two, hold one lock around each, or hand over "
                                     "with an atomic or volatile flag and __threadfence_block()");
    reason.otherwise = "hold one lock around each, or hand over with an atomic or volatile flag and "
                       "__threadfence_block()";
    return reason;
  }
  if (race->space == SPACE_SHARED)
    return because(missing, cluster_repair);
  if (is_cooperative(point, second))
    return because(missing,
                   "put grid.sync() between the two, where all threads of the grid come by, or hand over with "
                   "an atomic or volatile flag, " FENCES_OF_A_FLAG);
  return because(missing, "hand over with an atomic or volatile flag, " FENCES_OF_A_FLAG
                          ", or split the kernel into two launches");
}

/* What makes the write at `pc` hand on: itself, if it is a release, or the fence directly before it; NULL. */
static const Inst *release_of(const Kernel *kernel, uint32_t pc) {
  const uint32_t other = OPF_LOAD | OPF_STORE | OPF_ATOMIC | OPF_BRANCH | OPF_BARRIER;
  if (order_releases(&kernel->insts[pc]))
    return &kernel->insts[pc];
  while (pc-- > 0 && !(op_info[kernel->insts[pc].op].flags & other))
    if (kernel->insts[pc].op == OP_MEMBAR)
      return &kernel->insts[pc];
  return NULL;
}

/* A thread of another block can't take what is handed on: what hands it on is for threads of the own block only. */
static bool is_handed_narrowly(const ProbePoint *point, const Race *race, const RaceEnd *second) {
  if (race->cause != RACE_NO_RELEASE || race->handed.writer == THREAD_LAUNCH_HOST || race_of_one_block(race, second))
    return race->cause == RACE_NARROW_RELEASE;
  const Inst *release = release_of(gpu_launch(point->gpu, race->handed.writer)->kernel, race->handed.from);
  return release && order_scope(release) == IN_ONE_BLOCK;
}

/* The order would be there, but for a fence. */
static Reason missing_fence(const ProbePoint *point, const Race *race, const RaceEnd *second) {
  const Launch *writer = gpu_launch(point->gpu, race->handed.writer), *reader = gpu_launch(point->gpu, race->taker);
  g_autofree char *first = locate_line_text(race_launch_of(point, &race->first), race->first.pc);
  g_autofree char *from = locate_line_text(writer, race->handed.from);
  g_autofree char *from_source = locate_source(writer, race->handed.from);
  g_autofree char *to = locate_line_text(reader, race->handed.to);
  g_autofree char *to_source = locate_source(reader, race->handed.to);
  const char *access = race->first.write ? "store" : "load";
  if (is_handed_narrowly(point, race, second) && inst_arrives(&writer->kernel->insts[race->handed.from]))
    return (Reason){
        .why = g_strdup_printf("the %s in %s is handed on by the arrival `%s` in %s, which is for threads of its own "
                               "block only: its scope is too small",
                               access, first, from_source, from),
        .repair = g_strdup_printf("let `%s` in %s arrive for the cluster (mbarrier.arrive.release.cluster)",
                                  from_source, from)};
  if (is_handed_narrowly(point, race, second))
    return (Reason){.why = g_strdup_printf("the %s in %s is handed on by `%s` in %s, but the fence between, or that "
                                           "access, is for threads of its own block only: the scope is too small",
                                           access, first, from_source, from),
                    .repair = g_strdup_printf("make it __threadfence() before `%s` in %s, and the access one for the "
                                              "GPU",
                                              from_source, from)};
  if (race->cause == RACE_NARROW_ACQUIRE) {
    g_autofree char *fence = locate_line_text(reader, race->fence_pc);
    g_autofree char *fence_source = locate_source(reader, race->fence_pc);
    return (Reason){.why = g_strdup_printf("the %s in %s is handed on by `%s` in %s and taken by `%s` in %s, but the "
                                           "fence behind that, `%s` in %s, is for threads of its own block only: its "
                                           "scope is too small",
                                           access, first, from_source, from, to_source, to, fence_source, fence),
                    .repair = g_strdup_printf("put __threadfence() behind `%s` in %s instead", to_source, to)};
  }
  if (race->cause == RACE_NARROW_TAKE)
    return (Reason){
        .why =
            g_strdup_printf("the %s in %s is handed on by `%s` in %s and taken by `%s` in %s, which is for threads "
                            "of its own block only: its scope is too small",
                            access, first, from_source, from, to_source, to),
        .repair = g_strdup_printf("give the access of `%s` in %s the scope of the GPU (.gpu)", to_source, to)};
  if (race->cause == RACE_NO_RELEASE && release_of(writer->kernel, race->handed.from))
    return (Reason){
        .why = g_strdup_printf("the %s in %s comes by way of other threads, the last of which hands it on by "
                               "`%s` in %s, behind a fence; one is missing on the way to there",
                               access, first, from_source, from),
        .repair = g_strdup("put __threadfence() before each store or atomic operation that hands on, and "
                           "behind each load that takes it, on the whole way")};
  if (race->cause == RACE_NO_RELEASE)
    return (Reason){.why = g_strdup_printf("the %s in %s is handed on by `%s` in %s without a fence between", access,
                                           first, from_source, from),
                    .repair = g_strdup_printf(
                        "put __threadfence() before `%s` in %s%s", from_source, from,
                        order_releases(&writer->kernel->insts[race->handed.from]) ? "" : ", or make that a release")};
  return (Reason){
      .why = g_strdup_printf("the %s in %s is handed on by `%s` in %s and taken by `%s` in %s, without a "
                             "fence behind that",
                             access, first, from_source, from, to_source, to),
      .repair = g_strdup_printf("put __threadfence() behind `%s` in %s, or make that an acquire", to_source, to)};
}

/* The host is one of the two, or between them. Its accesses are volatile and in order. */
static Reason beside_host(const ProbePoint *point, const Race *race, const RaceEnd *second) {
  bool narrow = race->cause == RACE_NARROW_RELEASE;
  if (!race_is_host(&race->first) &&
      (race->cause == RACE_NO_RELEASE || narrow || race->handed.writer == THREAD_LAUNCH_HOST)) {
    g_autofree char *line = locate_line_text(race_launch_of(point, &race->first), race->first.pc);
    return (Reason){.why = g_strdup_printf("the %s in %s is handed on through the host without a fence behind it%s",
                                           race->first.write ? "store" : "load", line,
                                           narrow ? " whose scope is the system" : ""),
                    .repair = g_strdup("put __threadfence_system() between the access and the store that tells the "
                                       "host")};
  }
  if (race->cause == RACE_NARROW_ACQUIRE)
    return because(
        "the host hands it over with a volatile store, but the fence behind the load that sees it is for the "
        "GPU only: its scope is too small",
        "make it __threadfence_system()");
  if (race->cause == RACE_NO_ACQUIRE)
    return because("the host hands it over with a volatile store, but the kernel has no fence behind the load that "
                   "sees it",
                   "put __threadfence_system() behind the load that sees the host's store");
  const RaceEnd *gpu = race_is_host(second) ? &race->first : second;
  return because(gpu->strong
                     ? "nothing orders them: the access of the GPU is only for its own block or GPU (.cta, .gpu)"
                     : "nothing orders them: the access of the GPU is plain, and the kernel isn't waited for",
                 "make the access of the GPU volatile or atomic (atomicAdd_system()), or let the host wait for the "
                 "kernel");
}

/* The fence or release is another lane's. */
static Reason missing_sync(const ProbePoint *point, const Race *race) {
  const Launch *launch = race_launch_of(point, &race->first);
  g_autofree char *line = locate_line_text(launch, race->first.pc), *source = locate_source(launch, race->first.pc);
  return (Reason){
      .why = g_strdup_printf("another lane of the warp hands on the %s in %s, by a fence or release that it hasn't "
                             "met these lanes before: a fence orders what its own lane did",
                             race->first.write ? "store" : "load", line),
      .repair = g_strdup_printf("put __syncwarp() behind `%s` in %s, before the lane that hands it on "
                                "comes to its fence",
                                source, line)};
}

static Reason reason_of(const ProbePoint *point, const Race *race, const RaceEnd *second) {
  if (race->cause == RACE_SPECULATIVE)
    return (Reason){
        .why = g_strdup("in these lanes a select drops what is loaded; compilers make a load unconditional where it "
                        "can do no harm: if the source loads under that condition, it has no race here")};
  bool handed = race_is_handed(race);
  if (race_is_host(&race->first) || race_is_host(second) || (handed && race->handed.writer == THREAD_LAUNCH_HOST))
    return beside_host(point, race, second);
  switch (race->cause) {
  case RACE_NO_RELEASE:
  case RACE_NO_ACQUIRE:
  case RACE_NARROW_RELEASE:
  case RACE_NARROW_ACQUIRE:
  case RACE_NARROW_TAKE: return missing_fence(point, race, second);
  case RACE_SCOPES:
    return because("both are strong, but one of them only for threads of its own block (.cta)",
                   "give both the scope of the GPU (.gpu)");
  case RACE_NO_SYNC: return missing_sync(point, race);
  case RACE_READ_ONLY:
    return because("the load is of memory that nothing may write while the kernel runs (ld.global.nc, which __ldg() "
                   "is, and a load by a pointer that is const and __restrict__): no fence or barrier orders it",
                   "load it without __ldg(), and take const __restrict__ from its pointer");
  case RACE_SPECULATIVE:
  case RACE_LANES:
  case RACE_IN_INSTRUCTION:
  case RACE_UNORDERED: break;
  }
  return race_launch_of(point, second)->program->dialect == DIALECT_PTX ? unordered_ptx(point, race, second)
                                                                        : unordered_fermi(race, second);
}

static const char *gap_text(const ProbePoint *point, const Race *race, const RaceEnd *second) {
  switch (is_handed_narrowly(point, race, second) ? RACE_NARROW_RELEASE : race->cause) {
  case RACE_NO_RELEASE:
  case RACE_NO_ACQUIRE: return "a fence is missing between the two";
  case RACE_NARROW_RELEASE: return "the scope of the fence, or of the access that hands over, is too small";
  case RACE_NARROW_ACQUIRE: return "the fence's scope is too small";
  case RACE_NARROW_TAKE: return "the scope of the access that takes what is handed over is too small";
  case RACE_NO_SYNC: return "a __syncwarp() is missing between the two";
  case RACE_READ_ONLY: return "the load is one that comes behind no store of its own kernel";
  case RACE_SPECULATIVE: return "nothing orders the two, but the load is speculative and its value is dropped";
  default: return "nothing orders the two";
  }
}

/* Both are strong, so it is no race: the second isn't sure to see the first. */
static bool is_reliance(const Race *race) {
  return race_is_handed(race) && race->first.strong && race->strong && !race_is_host(&race->first);
}

static FindingId finding_of(const Race *race) {
  if (race->cause == RACE_SPECULATIVE)
    return FINDING_SPECULATIVE_LOAD;
  return is_reliance(race) ? FINDING_UNORDERED_ACCESS : FINDING_DATA_RACE;
}

static Finding *between_accesses(const RaceReport *report, const ProbePoint *point, const Race *race,
                                 const RaceEnd *second) {
  g_autofree char *first_who = race_end_text(point, &race->first), *who = race_end_text(point, second);
  g_autofree char *where = race_where_text(point, race);
  bool several = second->lanes & (second->lanes - 1);
  const char *verb = race_frees(point, second) ? "frees"
                     : second->write           ? (several ? "write" : "writes")
                     : several                 ? "read"
                                               : "reads";
  const RaceEnd *place = race_is_host(second) || race->first.dropped ? &race->first : second;
  const char *sight = !is_reliance(race) ? ""
                      : race->missed     ? "; nothing guarantees that this is seen, and here it isn't"
                                         : "; nothing guarantees that this is seen";
  char *message = g_strdup_printf("%s: %s %s, which %s %s%s, and %s", who, verb, where, first_who,
                                  race_deed(point, &race->first), sight, gap_text(point, race, second));
  Finding *finding = locate_finding(finding_of(race), message, race_launch_of(point, place), place->pc);
  race_add_end(finding, point, &race->first, "first");
  race_add_end(finding, point, second, "then");
  Reason reason = reason_of(point, race, second);
  finding_add_evidence(finding, 0, reason.why);
  race_add_bytes(finding, race);
  if (race->perhaps_dropped && race->cause != RACE_SPECULATIVE)
    finding_add_evidence(
        finding, 0,
        g_strdup("the load's value goes into a select only: where the source loads under a condition, the "
                 "compiler may have made the load unconditional, and there is no race in the source"));
  finding->repair = reason.repair;
  finding->otherwise = reason.otherwise;
  if (race_is_unheeded(finding, point, race, second))
    return finding;
  if (is_reliance(race))
    race_add_doubt(finding, point, second);
  LateDeed one = {race->first.base, race->first.cycle, race->first.pc},
           other = {second->base, second->cycle, point->pc};
  if (report->late && race->cause == RACE_UNORDERED && !race_of_one_block(race, second))
    race_late_explain(report->late, finding, &one, &other);
  bool plain = race->cause == RACE_UNORDERED || race->cause == RACE_LANES,
       behind_copy = plain && copy_gap_find(point, race, second); /* no barrier by itself waits for it */
  if (!finding->fences && race->cause != RACE_SPECULATIVE && !behind_copy)
    race_add_repairs(finding, point, race, second);
  return finding;
}

static Finding *within_instruction(const ProbePoint *point, const Race *race, const RaceEnd *second) {
  g_autofree char *who = race_end_text(point, second), *where = race_where_text(point, race);
  Finding *finding = locate_finding(FINDING_DATA_RACE,
                                    g_strdup_printf("%s: %s different values to %s in one instruction", who,
                                                    second->lanes & (second->lanes - 1) ? "store" : "stores", where),
                                    race_launch_of(point, second), point->pc);
  race_add_end(finding, point, second, "together");
  finding_add_evidence(finding, 0, g_strdup("which of the values stays isn't defined"));
  finding->repair = g_strdup("let one lane store, or give each lane its own word");
  return finding;
}

static Finding *make_finding(const RaceReport *report, const ProbePoint *point, const Race *race,
                             const RaceEnd *second) {
  Finding *finding = race->cause == RACE_IN_INSTRUCTION ? within_instruction(point, race, second)
                                                        : between_accesses(report, point, race, second);
  finding->cycle = point->cycle;
  const RaceEnd *place = race_is_host(second) || race->first.dropped ? &race->first : second;
  finding->block = (int64_t)place->base.block;
  finding->warp = thread_warp(place->base);
  finding->lanes = place->lanes;
  finding->space = g_strdup(race->space == SPACE_SHARED ? "shared" : "global");
  const Block *block = race->space == SPACE_SHARED ? locate_shared_block(point->gpu, point->sm, race->address) : NULL;
  finding->address = block ? (uint32_t)race->address - block->shared_base : race->address;
  return finding;
}

/* Which of two racing accesses comes first is chance, and lanes against each other are a case of their own. */
static uint64_t line_key(const ProbePoint *point, const RaceEnd *end) {
  enum { HOST_STEPS = 1 << 30 }; /* no source has so many lines */
  return race_is_host(end) ? HOST_STEPS + (uint64_t)end->pc : locate_line(race_launch_of(point, end), end->pc);
}

static RacePair *find_pair(RaceReport *report, const ProbePoint *point, const Race *race, const RaceEnd *second) {
  bool within = race->cause == RACE_IN_INSTRUCTION;
  uint64_t first = line_key(point, &race->first), then = line_key(point, second);
  gint64 lines = (gint64)(MIN(first, then) << 32 | MAX(first, then) | (uint64_t)within << 63 |
                          (uint64_t)is_reliance(race) << 31 | (uint64_t)(race->cause == RACE_SPECULATIVE) << 62);
  RacePair *pair = g_hash_table_lookup(report->known, &lines);
  if (!pair) {
    pair = g_new0(RacePair, 1);
    *pair = (RacePair){.lines = lines, .words = g_array_new(FALSE, FALSE, sizeof(WordRaces))};
    g_ptr_array_add(report->pairs, pair);
    g_hash_table_insert(report->known, &pair->lines, pair);
  }
  return pair;
}

/* The first word, or the first where something was missed. */
static guint word_told(const RacePair *pair) {
  for (guint k = 0; k < pair->words->len; k++)
    if (g_array_index(pair->words, WordRaces, k).missed)
      return k;
  return 0;
}

/* Nothing is withdrawn in PTX, which says itself what is volatile; whatever else is found of the pair has its
 * place. */
static void end_if_sought(const RaceReport *report, const Finding *finding) {
  if (report->sought && gpu_launch(report->ends, 0)->program->dialect == DIALECT_PTX &&
      finding_comes_again(report->sought, finding))
    gpu_end(report->ends);
}

/* ---- older values ---- */

/* The first ones and the newest ones of a word: what is left in the end often rests on these. */
static void add_older_load(Finding *finding, const Race *race) {
  enum { FIRST = 2, OF_A_WORD = 4 };
  for (unsigned i = 0; i < race->older_loads; i++) {
    if (finding->older && finding->older->len >= OF_A_WORD)
      g_array_remove_index(finding->older, FIRST);
    finding_add_older(finding, &race->older[i]);
  }
}

/* Of two strong accesses only an update shows that they mustn't be at once. */
static bool excludes(const ProbePoint *point, const Race *race, const RaceEnd *second) {
  if (!race->omitted || race->cause == RACE_SPECULATIVE)
    return false;
  if (!race->first.strong || !race->strong)
    return true;
  return is_reliance(race) && !race->write &&
         race_loads_for_update(race_launch_of(point, second)->kernel, second->pc);
}

static void add_older(RaceReport *report, const ProbePoint *point, const Race *race, const RaceEnd *second) {
  if (!report->older || report->older_stands || !excludes(point, race, second))
    return;
  g_autofree char *where = race_where_text(point, race);
  race_add_end(report->older, point, &race->first, "the one");
  race_add_end(report->older, point, second, "the other");
  finding_add_evidence(report->older, 0,
                       g_strdup_printf("these two, of %s, are ordered only if the newer value is read", where));
  report->older_stands = true;
  if (report->ends)
    gpu_end(report->ends);
}

void race_report_add(RaceReport *report, const ProbePoint *point, const Race *race) {
  RaceEnd second = {.base = race->base,
                    .lanes = race->lanes,
                    .pc = point->pc,
                    .cycle = point->cycle,
                    .write = race->write,
                    .strong = race->strong};
  if (report->seeks_older) {
    add_older(report, point, race, &second);
    return;
  }
  if (report->late && is_reliance(race)) /* what such a run shows of these isn't more than others do */
    return;
  RacePair *pair = find_pair(report, point, race, &second);
  for (guint i = 0; i < pair->words->len; i++) {
    WordRaces *known = &g_array_index(pair->words, WordRaces, i);
    if (known->settled || (known->space == race->space && known->word == race->word)) {
      uint64_t count = known->finding->count + 1;
      if (race->missed && !known->missed) {
        Finding *seen = known->finding;
        known->finding = make_finding(report, point, race, &second);
        finding_add_all_older(known->finding, seen);
        finding_free(seen);
        known->missed = true;
      }
      known->finding->count = count;
      add_older_load(known->finding, race);
      return;
    }
  }
  WordRaces new = {.space = race->space, .word = race->word, .missed = race->missed};
  bool full = pair->words->len >= RACE_WORDS_MAX;
  if (full && (!race->missed || g_array_index(pair->words, WordRaces, word_told(pair)).missed))
    return;
  new.finding = make_finding(report, point, race, &second);
  add_older_load(new.finding, race);
  end_if_sought(report, new.finding);
  if (full) {
    new.finding->count += g_array_index(pair->words, WordRaces, RACE_WORDS_MAX - 1).finding->count;
    finding_free(g_array_index(pair->words, WordRaces, RACE_WORDS_MAX - 1).finding);
    g_array_set_size(pair->words, RACE_WORDS_MAX - 1);
  }
  g_array_append_val(pair->words, new);
}

void race_report_withdraw(RaceReport *report, AccessSpace space, uint64_t word) {
  for (guint i = 0; i < report->pairs->len; i++) {
    RacePair *pair = g_ptr_array_index(report->pairs, i);
    for (guint k = pair->words->len; k-- > 0;) {
      const WordRaces *races = &g_array_index(pair->words, WordRaces, k);
      if (races->settled || races->space != space || races->word != word)
        continue;
      finding_free(races->finding);
      g_array_remove_index(pair->words, k);
    }
  }
}

void race_report_settle(RaceReport *report, AccessSpace space, uint64_t word) {
  for (guint i = 0; i < report->pairs->len; i++) {
    RacePair *pair = g_ptr_array_index(report->pairs, i);
    for (guint k = 0; k < pair->words->len; k++) {
      WordRaces *races = &g_array_index(pair->words, WordRaces, k);
      races->settled |= races->space == space && races->word == word;
    }
  }
}

/* One finding for a pair, which counts for all words. */
void race_report_finish(RaceReport *report) {
  if (report->older_stands)
    g_ptr_array_add(report->findings, g_steal_pointer(&report->older));
  for (guint i = 0; i < report->pairs->len; i++) {
    RacePair *pair = g_ptr_array_index(report->pairs, i);
    if (pair->words->len == 0)
      continue;
    guint told = word_told(pair);
    Finding *finding = g_array_index(pair->words, WordRaces, told).finding;
    for (guint k = 0; k < pair->words->len; k++) {
      Finding *other = g_array_index(pair->words, WordRaces, k).finding;
      if (k == told)
        continue;
      finding->count += other->count;
      finding_add_all_older(finding, other);
      finding_free(other);
    }
    g_ptr_array_add(report->findings, finding);
    g_array_set_size(pair->words, 0);
  }
}
