#include "sim/detect/race_report.h"

#include "sim/base/bits.h"
#include "sim/detect/locate.h"

/* Races of two lines on one word. */
typedef struct WordRaces {
  AccessSpace space;
  uint64_t word;
  bool settled;
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

void race_report_clear(RaceReport *report) {
  g_hash_table_destroy(report->known);
  g_ptr_array_unref(report->pairs);
}

static const Launch *launch_of(const ProbePoint *point, const RaceEnd *end) {
  return gpu_launch(point->gpu, thread_launch(end->base));
}

static char *end_text(const ProbePoint *point, const RaceEnd *end) {
  return locate_lanes_text(point->gpu, launch_of(point, end), thread_block(end->base), thread_warp(end->base),
                           end->lanes);
}

static char *where_text(const ProbePoint *point, const Race *race) {
  return race->space == SPACE_SHARED ? locate_shared_text(point->block, (uint32_t)race->address)
                                     : locate_global_text(point->gpu, race->address);
}

static void add_end(Finding *finding, const ProbePoint *point, const RaceEnd *end, const char *when) {
  g_autofree char *who = end_text(point, end);
  g_autofree char *source = locate_source(launch_of(point, end), end->pc);
  locate_evidence(finding, launch_of(point, end), end->pc,
                  g_strdup_printf("%s: %s %s in cycle %" G_GUINT64_FORMAT " (`%s`)", when, who,
                                  end->write ? "wrote" : "read", end->cycle, source));
}

/* Why nothing orders the two, and what would. */
static void explain(Finding *finding, const Race *race, const RaceEnd *second) {
  const char *why, *repair;
  bool same_launch = thread_launch(race->first.base) == thread_launch(second->base);
  if (race->first.strong || second->strong) {
    why = "one of the two is strong (atomic, volatile, or LDSLK and STSUL), the other isn't";
    repair = race->space == SPACE_SHARED
                 ? "access the word with LDSLK and STSUL only, or put a barrier between the two"
                 : "make both accesses atomic or volatile (.CV, .WT)";
  } else if (!same_launch) {
    why = "the launches are of different streams, which run concurrently";
    repair = "put both launches in one stream, or hand over with an atomic flag and MEMBAR";
  } else if (thread_block(race->first.base) == thread_block(second->base)) {
    why =
        "both warps pass no barrier between the two, and no lock bit, atomic or flag is handed from the first to the "
        "second";
    repair = "put a barrier (BAR) between the two, hold one lock around each, or let the second wait in a loop for a "
             "flag that the first sets afterwards";
  } else {
    why = "blocks have no barrier in common, and no atomic or flag is handed from the first to the second";
    repair = "hand over with a flag that the second waits for in a loop, and MEMBAR before it is set, or split the "
             "kernel into two launches";
  }
  finding_add_evidence(finding, 0, g_strdup(why));
  finding->repair = g_strdup(repair);
}

static Finding *between_warps(const ProbePoint *point, const Race *race, const RaceEnd *second) {
  g_autofree char *first_who = end_text(point, &race->first), *who = end_text(point, second);
  g_autofree char *where = where_text(point, race);
  Finding *finding = locate_finding(FINDING_DATA_RACE,
                                    g_strdup_printf("%s: %s %s, which %s %s, and nothing orders the two", who,
                                                    second->write ? "writes" : "reads", where, first_who,
                                                    race->first.write ? "wrote" : "read"),
                                    point->block->launch, point->pc);
  add_end(finding, point, &race->first, "first");
  add_end(finding, point, second, "then");
  explain(finding, race, second);
  return finding;
}

static Finding *within_instruction(const ProbePoint *point, const Race *race, const RaceEnd *second) {
  g_autofree char *who = end_text(point, second), *where = where_text(point, race);
  Finding *finding = locate_finding(
      FINDING_DATA_RACE, g_strdup_printf("%s: stores different values to %s in one instruction", who, where),
      point->block->launch, point->pc);
  add_end(finding, point, second, "together");
  finding_add_evidence(finding, 0, g_strdup("which of the values stays isn't defined"));
  finding->repair = g_strdup("let one lane store, or give each lane its own word");
  return finding;
}

static Finding *make_finding(const ProbePoint *point, const Race *race, const RaceEnd *second) {
  bool within = race->first.base == second->base;
  Finding *finding = within ? within_instruction(point, race, second) : between_warps(point, race, second);
  finding->cycle = point->cycle;
  finding->block = (int64_t)point->block->index;
  finding->warp = point->warp->warp_in_block;
  finding->lanes = race->lanes;
  finding->space = g_strdup(race->space == SPACE_SHARED ? "shared" : "global");
  finding->address = race->space == SPACE_SHARED ? race->address - point->block->shared_base : race->address;
  return finding;
}

/* Which of two racing accesses comes first is chance, and lanes against each other are a case of their own. */
static RacePair *find_pair(RaceReport *report, const ProbePoint *point, const Race *race, const RaceEnd *second) {
  bool within = race->first.base == second->base;
  uint64_t first = locate_line(launch_of(point, &race->first), race->first.pc);
  uint64_t then = locate_line(point->block->launch, point->pc);
  gint64 lines = (gint64)(MIN(first, then) << 32 | MAX(first, then) | (uint64_t)within << 63);
  RacePair *pair = g_hash_table_lookup(report->known, &lines);
  if (!pair) {
    pair = g_new0(RacePair, 1);
    *pair = (RacePair){.lines = lines, .words = g_array_new(FALSE, FALSE, sizeof(WordRaces))};
    g_ptr_array_add(report->pairs, pair);
    g_hash_table_insert(report->known, &pair->lines, pair);
  }
  return pair;
}

void race_report_add(RaceReport *report, const ProbePoint *point, const Race *race) {
  RaceEnd second = {.base = warp_thread_base(point->block, point->warp),
                    .lanes = race->lanes,
                    .pc = point->pc,
                    .cycle = point->cycle,
                    .write = race->write,
                    .strong = race->strong};
  RacePair *pair = find_pair(report, point, race, &second);
  for (guint i = 0; i < pair->words->len; i++) {
    WordRaces *known = &g_array_index(pair->words, WordRaces, i);
    if (known->settled || (known->space == race->space && known->word == race->word)) {
      known->finding->count++;
      return;
    }
  }
  WordRaces new = {.space = race->space, .word = race->word};
  if (pair->words->len >= RACE_WORDS_MAX)
    return;
  new.finding = make_finding(point, race, &second);
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
  for (guint i = 0; i < report->pairs->len; i++) {
    RacePair *pair = g_ptr_array_index(report->pairs, i);
    if (pair->words->len == 0)
      continue;
    Finding *finding = g_array_index(pair->words, WordRaces, 0).finding;
    for (guint k = 1; k < pair->words->len; k++) {
      Finding *other = g_array_index(pair->words, WordRaces, k).finding;
      finding->count += other->count;
      finding_free(other);
    }
    g_ptr_array_add(report->findings, finding);
    g_array_set_size(pair->words, 0);
  }
}
