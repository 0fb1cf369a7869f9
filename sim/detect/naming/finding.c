#include "sim/detect/naming/finding.h"

#include <string.h>

#include "base/assert.h"

typedef struct VerdictInfo {
  const char *name;
  int rank;
  const char *doc;
} VerdictInfo;

static const VerdictInfo verdicts[VERDICT_COUNT] = {
#define VERDICT(id, text, rank, doc) {text, rank, doc},
#include "sim/detect/naming/verdicts.def"
};

static const char *const verdict_name_list[VERDICT_COUNT + 1] = {
#define VERDICT(id, text, rank, doc) text,
#include "sim/detect/naming/verdicts.def"
};

typedef struct FindingInfo {
  const char *name;
  Severity severity;
  const char *doc;
} FindingInfo;

static const FindingInfo kinds[FINDING_COUNT] = {
#define FINDING(id, text, severity, doc) {text, SEVERITY_##severity, doc},
#include "sim/detect/naming/findings.def"
};

static const char *const finding_name_list[FINDING_COUNT + 1] = {
#define FINDING(id, text, severity, doc) text,
#include "sim/detect/naming/findings.def"
};

static unsigned name_index(const char *const *names, const char *name) {
  unsigned index = 0;
  while (names[index] && strcmp(names[index], name) != 0)
    index++;
  return index;
}

const char *verdict_name(Verdict verdict) {
  LS_REQUIRE("verdict-in-table", (unsigned)verdict < VERDICT_COUNT);
  return verdicts[verdict].name;
}

const char *verdict_doc(Verdict verdict) {
  LS_REQUIRE("verdict-in-table", (unsigned)verdict < VERDICT_COUNT);
  return verdicts[verdict].doc;
}

int verdict_rank(Verdict verdict) {
  LS_REQUIRE("verdict-in-table", (unsigned)verdict < VERDICT_COUNT);
  return verdicts[verdict].rank;
}

Verdict verdict_from_name(const char *name) { return (Verdict)name_index(verdict_name_list, name); }
const char *const *verdict_names(void) { return verdict_name_list; }

const char *finding_name(FindingId id) {
  LS_REQUIRE("finding-in-table", (unsigned)id < FINDING_COUNT);
  return kinds[id].name;
}

const char *finding_doc(FindingId id) {
  LS_REQUIRE("finding-in-table", (unsigned)id < FINDING_COUNT);
  return kinds[id].doc;
}

const char finding_repair_ways_out[] =
    "release the lock, send the signal, or come to the barrier, on every path before the thread exits";
const char finding_repair_count[] =
    "release the lock, send the signal, count, or come to the barrier, on every path before the thread exits; or, if "
    "a count may have passed the awaited number before a thread looks, wait until it is at least that number, or use "
    "a counter for each round";
const char finding_repair_own_word[] = "who changed the word last waits for it, too: let no thread take a lock that "
                                       "it has, count a semaphore up as often "
                                       "as down, and let somebody who doesn't wait for the word give the signal";
const char finding_repair_again[] =
    "initialise the barrier once, since each of its phases begins where the last one ends; or put __syncthreads() "
    "before it is initialised again, so that nobody still waits for a phase, and behind that";

bool finding_repair_is_general(const char *repair) {
  return g_strcmp0(repair, finding_repair_ways_out) == 0 || g_strcmp0(repair, finding_repair_own_word) == 0 ||
         g_strcmp0(repair, finding_repair_count) == 0;
}

Severity finding_severity(FindingId id) {
  LS_REQUIRE("finding-in-table", (unsigned)id < FINDING_COUNT);
  return kinds[id].severity;
}

const char *severity_name(Severity severity) {
  static const char *const names[] = {"note", "warning", "error"};
  LS_REQUIRE("severity-in-table", (unsigned)severity < G_N_ELEMENTS(names));
  return names[severity];
}

FindingId finding_from_name(const char *name) { return (FindingId)name_index(finding_name_list, name); }
const char *const *finding_names(void) { return finding_name_list; }

static void evidence_free(gpointer data) {
  Evidence *evidence = data;
  g_free(evidence->text);
  g_free(evidence->file);
  g_free(evidence->source);
  g_free(evidence->callers);
  g_free(evidence);
}

static Evidence *evidence_copy(const Evidence *evidence) {
  Evidence *copy = g_new(Evidence, 1);
  *copy = (Evidence){.line = evidence->line,
                     .file = g_strdup(evidence->file),
                     .source = g_strdup(evidence->source),
                     .callers = g_strdup(evidence->callers),
                     .text = g_strdup(evidence->text)};
  return copy;
}

Finding *finding_new(FindingId id, char *message_taken) {
  LS_REQUIRE("finding-in-table", (unsigned)id < FINDING_COUNT);
  Finding *finding = g_new0(Finding, 1);
  finding->id = id;
  finding->message = message_taken;
  finding->block = finding->warp = -1;
  finding->lock_bit = -1;
  finding->evidence = g_ptr_array_new_with_free_func(evidence_free);
  finding->count = 1;
  return finding;
}

static void repair_free(gpointer data) {
  Repair *repair = data;
  g_free(repair->text);
  g_free(repair);
}

static void free_atomics(AtomicUpdates *atomics) {
  g_array_unref(atomics->all);
  g_free(atomics);
}

void finding_free(Finding *finding) {
  if (!finding)
    return;
  g_free(finding->message);
  g_free(finding->file);
  g_free(finding->source);
  g_free(finding->inlined);
  g_free(finding->callers);
  g_free(finding->space);
  g_free(finding->holder);
  g_free(finding->repair);
  g_free(finding->mended_by);
  if (finding->repairs)
    g_ptr_array_unref(finding->repairs);
  if (finding->fences)
    g_ptr_array_unref(finding->fences);
  g_clear_pointer(&finding->atomics, free_atomics);
  g_clear_pointer(&finding->doubt, repair_free);
  g_clear_pointer(&finding->older, g_array_unref);
  g_clear_pointer(&finding->older_lanes, g_array_unref);
  g_ptr_array_free(finding->evidence, TRUE);
  g_free(finding);
}

static GPtrArray *copy_evidence(const GPtrArray *evidence) {
  GPtrArray *copy = g_ptr_array_new_with_free_func(evidence_free);
  for (guint i = 0; i < evidence->len; i++)
    g_ptr_array_add(copy, evidence_copy(g_ptr_array_index(evidence, i)));
  return copy;
}

Finding *finding_copy(const Finding *finding) {
  Finding *copy = g_new(Finding, 1);
  *copy = *finding;
  copy->message = g_strdup(finding->message);
  copy->file = g_strdup(finding->file);
  copy->source = g_strdup(finding->source);
  copy->inlined = g_strdup(finding->inlined);
  copy->callers = g_strdup(finding->callers);
  copy->space = g_strdup(finding->space);
  copy->holder = g_strdup(finding->holder);
  copy->repair = g_strdup(finding->repair);
  copy->mended_by = g_strdup(finding->mended_by);
  copy->repairs = NULL;
  copy->doubt = NULL;
  copy->fences = NULL;
  copy->atomics = NULL;
  copy->older = finding->older ? g_array_copy(finding->older) : NULL;
  copy->older_lanes = finding->older_lanes ? g_array_copy(finding->older_lanes) : NULL;
  copy->evidence = copy_evidence(finding->evidence);
  return copy;
}

void finding_tell_as(Finding *finding, const Finding *other) {
  g_free(finding->message);
  g_free(finding->repair);
  g_ptr_array_unref(finding->evidence);
  finding->message = g_strdup(other->message);
  finding->repair = g_strdup(other->repair);
  finding->evidence = copy_evidence(other->evidence);
}

Evidence *finding_add_evidence(Finding *finding, unsigned line, char *text) {
  Evidence *evidence = g_new0(Evidence, 1);
  evidence->line = line;
  evidence->text = text;
  g_ptr_array_add(finding->evidence, evidence);
  return evidence;
}

void finding_add_repair(Finding *finding, const RepairEdit *edits, unsigned count, char *text) {
  LS_REQUIRE("repair-edits", count > 0 && count <= REPAIR_EDITS_MAX);
  Repair *repair = g_new0(Repair, 1);
  memcpy(repair->edit, edits, count * sizeof *edits);
  repair->edits = count;
  repair->text = text;
  if (!finding->repairs)
    finding->repairs = g_ptr_array_new_with_free_func(repair_free);
  g_ptr_array_add(finding->repairs, repair);
}

LateFence *late_fence_copy(const LateFence *fence) {
  LateFence *copy = g_new(LateFence, 1);
  *copy = *fence;
  copy->insts = g_array_copy(fence->insts);
  copy->where = g_strdup(fence->where);
  copy->evidence = fence->evidence ? evidence_copy(fence->evidence) : NULL;
  return copy;
}

void late_fence_free(gpointer data) {
  LateFence *fence = data;
  g_array_unref(fence->insts);
  g_free(fence->where);
  g_clear_pointer(&fence->evidence, evidence_free);
  g_free(fence);
}

void finding_add_fence(Finding *finding, const LateFence *fence) {
  if (!finding->fences)
    finding->fences = g_ptr_array_new_with_free_func(late_fence_free);
  g_ptr_array_add(finding->fences, g_memdup2(fence, sizeof *fence));
}

void finding_add_atomic(Finding *finding, const char *kernel, const AtomicUpdate *update) {
  if (!finding->atomics) {
    finding->atomics = g_new(AtomicUpdates, 1);
    *finding->atomics = (AtomicUpdates){g_intern_string(kernel), g_array_new(FALSE, FALSE, sizeof *update)};
  }
  g_array_append_vals(finding->atomics->all, update, 1);
}

void finding_add_fence_evidence(Finding *finding, const LateFence *fence) {
  if (fence->evidence)
    g_ptr_array_add(finding->evidence, evidence_copy(fence->evidence));
}

void finding_set_doubt(Finding *finding, RepairEdit access) {
  g_clear_pointer(&finding->doubt, repair_free);
  finding->doubt = g_new0(Repair, 1);
  finding->doubt->edit[0] = access;
  finding->doubt->edits = 1;
}

void finding_add_older(Finding *finding, const OlderLoad *load) {
  if (!finding->older)
    finding->older = g_array_new(FALSE, FALSE, sizeof *load);
  if (finding->older->len < FINDING_OLDER_MAX)
    g_array_append_val(finding->older, *load);
}

void finding_add_older_lanes(Finding *finding, const OlderLanes *lanes) {
  enum { KEPT = 4 };
  if (!finding->older_lanes)
    finding->older_lanes = g_array_new(FALSE, FALSE, sizeof *lanes);
  if (finding->older_lanes->len < KEPT)
    g_array_append_val(finding->older_lanes, *lanes);
}

void finding_add_all_older(Finding *finding, const Finding *other) {
  for (guint i = 0; other->older && i < other->older->len; i++)
    finding_add_older(finding, &g_array_index(other->older, OlderLoad, i));
}

void finding_trust(Finding *finding) { g_clear_pointer(&finding->doubt, repair_free); }

static unsigned evidence_line(const Finding *finding, unsigned index) {
  return index < finding->evidence->len ? ((const Evidence *)g_ptr_array_index(finding->evidence, index))->line : 0;
}

bool finding_comes_again(const Finding *finding, const Finding *in_trial) {
  const Repair *doubt = finding->doubt, *other = in_trial->doubt;
  return finding_same_place(finding, in_trial) && (!doubt || !other || doubt->edit[0].kind == other->edit[0].kind);
}

bool finding_same_place(const Finding *a, const Finding *b) {
  if (a->id != b->id || g_strcmp0(a->file, b->file) != 0)
    return false;
  if (a->id != FINDING_DATA_RACE && a->id != FINDING_UNORDERED_ACCESS && a->id != FINDING_SPECULATIVE_LOAD &&
      a->id != FINDING_OLDER_VALUE)
    return a->line == b->line;
  unsigned a0 = evidence_line(a, 0), a1 = evidence_line(a, 1), b0 = evidence_line(b, 0), b1 = evidence_line(b, 1);
  return (a0 == b0 && a1 == b1) || (a0 == b1 && a1 == b0);
}

Finding *finding_find(const GPtrArray *all, const Finding *finding) {
  for (guint i = 0; i < all->len; i++)
    if (finding_same_place(g_ptr_array_index(all, i), finding))
      return g_ptr_array_index(all, i);
  return NULL;
}

char *number_text(uint32_t number) {
  enum { SMALL = 65536 };
  bool negative = number >= UINT32_MAX - SMALL + 1;
  return negative ? g_strdup_printf("%u (-%u if signed)", number, 0 - number) : g_strdup_printf("%u", number);
}

char *lanes_text(uint32_t lanes) {
  if (lanes == 0)
    return g_strdup("no lane");
  if (lanes == UINT32_MAX)
    return g_strdup("all 32 lanes");
  GString *out = g_string_new((lanes & (lanes - 1)) ? "lanes " : "lane ");
  const char *separator = "";
  for (unsigned first = 0; first < 32; first++) {
    if (!(lanes >> first & 1))
      continue;
    unsigned last = first;
    while (last < 31 && (lanes >> (last + 1) & 1))
      last++;
    g_string_append_printf(out, "%s%u", separator, first);
    if (last > first)
      g_string_append_printf(out, last == first + 1 ? ", %u" : "-%u", last);
    separator = ", ";
    first = last;
  }
  return g_string_free(out, FALSE);
}
