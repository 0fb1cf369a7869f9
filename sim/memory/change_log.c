#include "sim/memory/change_log.h"

#include <stdbool.h>

#include "base/pages.h"

void change_log_init(ChangeLog *log, uint32_t words) {
  *log = (ChangeLog){.count = words / CHANGE_LOG_LINE + 1};
  log->lines = PAGES_NEW(ChangeRecord, log->count);
}

/* Frees what belongs to a line, but not its first record. */
static void free_line(ChangeRecord *line) {
  g_free(line->lanes);
  if (line->behind == CHANGE_WORDS_APART) {
    g_free(line->each);
    return;
  }
  for (ChangeRecord *record = line->next, *next; record; record = next) {
    next = record->next;
    g_free(record->lanes);
    g_free(record);
  }
}

void change_log_clear(ChangeLog *log) {
  for (uint32_t i = 0; log->spread && i < log->count; i++)
    free_line(&log->lines[i]);
  pages_free(log->lines);
  *log = (ChangeLog){0};
}

static uint32_t lane_of(const ChangeRecord *record, uint32_t at) {
  return record->behind == CHANGE_LANES_APART ? record->lanes[at] : (at - record->behind) % CHANGE_LOG_LINE;
}

WordChange change_log_get(const ChangeLog *log, uint32_t word) {
  uint32_t at = word % CHANGE_LOG_LINE;
  const ChangeRecord *line = &log->lines[word / CHANGE_LOG_LINE];
  if (line->behind == CHANGE_WORDS_APART)
    return line->words >> at & 1 ? line->each[at] : (WordChange){.thread = THREAD_NONE};
  for (const ChangeRecord *record = line; record; record = record->next)
    if (record->words >> at & 1)
      return (WordChange){.cycle = record->cycle,
                          .thread = thread_id(record->launch, record->block, record->thread + lane_of(record, at)),
                          .pc = record->pc};
  return (WordChange){.thread = THREAD_NONE};
}

/* ---- changes ---- */

static void begin(ChangeRecord *record, const WordChange *first, uint32_t words, uint8_t behind) {
  record->cycle = first->cycle;
  record->block = first->thread.block;
  record->launch = first->thread.launch;
  record->thread = (uint16_t)first->thread.thread;
  record->pc = first->pc;
  record->words = words;
  record->behind = behind;
}

/* True if the record is that of this instruction. */
static bool is_of(const ChangeRecord *record, const WordChange *first) {
  return record->cycle == first->cycle && record->block == first->thread.block &&
         record->launch == first->thread.launch && record->thread == first->thread.thread && record->pc == first->pc;
}

/* The record's instruction has changed these words, too. */
static void extend(ChangeLog *log, ChangeRecord *record, uint32_t words, uint8_t behind) {
  if (record->behind == behind) {
    record->words |= words;
    return;
  }
  if (!record->lanes) {
    record->lanes = g_new(uint8_t, CHANGE_LOG_LINE);
    __atomic_store_n(&log->spread, true, __ATOMIC_RELAXED);
  }
  for (uint32_t at = 0; record->behind != CHANGE_LANES_APART && at < CHANGE_LOG_LINE; at++)
    record->lanes[at] = (uint8_t)lane_of(record, at);
  for (uint32_t rest = words; rest; rest &= rest - 1) {
    uint32_t at = (uint32_t)__builtin_ctz(rest);
    record->lanes[at] = (uint8_t)((at - behind) % CHANGE_LOG_LINE);
  }
  record->behind = CHANGE_LANES_APART;
  record->words |= words;
}

/* So many words from number `at` of a line whose words have a record each. */
static void note_each(ChangeRecord *line, uint32_t at, uint32_t count, const WordChange *first, unsigned lane) {
  line->words |= (UINT32_MAX >> (CHANGE_LOG_LINE - count)) << at;
  for (uint32_t i = 0; i < count; i++) {
    line->each[at + i] = *first;
    line->each[at + i].thread.thread += lane + i;
  }
}

/* The words of a line get a record each. */
static void take_apart(ChangeLog *log, ChangeRecord *line) {
  WordChange *each = g_new(WordChange, CHANGE_LOG_LINE);
  uint32_t first = (uint32_t)(line - log->lines) * CHANGE_LOG_LINE, words = 0;
  for (uint32_t at = 0; at < CHANGE_LOG_LINE; at++)
    each[at] = change_log_get(log, first + at);
  for (const ChangeRecord *record = line; record; record = record->next)
    words |= record->words;
  free_line(line);
  *line = (ChangeRecord){.words = words, .behind = CHANGE_WORDS_APART, .each = each};
}

enum { RECORDS_MAX = 4 };

/* Words of a line some of which have been changed by others. False: it has no room for that. */
static bool note_beside(ChangeLog *log, ChangeRecord *line, uint32_t words, uint8_t behind, const WordChange *first) {
  ChangeRecord *own = NULL, *free = NULL, *last = NULL;
  unsigned records = 0;
  for (ChangeRecord *record = line; record; last = record, record = record->next, records++) {
    if (record->words && is_of(record, first)) {
      own = record;
      continue;
    }
    record->words &= ~words;
    free = record->words ? free : record;
  }
  if (own) {
    extend(log, own, words, behind);
    return true;
  }
  if (!free && records == RECORDS_MAX)
    return false;
  if (!free) {
    free = last->next = g_new0(ChangeRecord, 1);
    __atomic_store_n(&log->spread, true, __ATOMIC_RELAXED);
  }
  begin(free, first, words, behind);
  return true;
}

void change_log_note_words(ChangeLog *log, uint32_t word, uint32_t count, const WordChange *first, unsigned lane) {
  for (uint32_t part; count; word += part, lane += part, count -= part) {
    uint32_t at = word % CHANGE_LOG_LINE;
    ChangeRecord *line = &log->lines[word / CHANGE_LOG_LINE];
    part = MIN(count, CHANGE_LOG_LINE - at);
    uint32_t words = (UINT32_MAX >> (CHANGE_LOG_LINE - part)) << at;
    uint8_t behind = (uint8_t)((at - lane) % CHANGE_LOG_LINE);
    bool apart = line->behind == CHANGE_WORDS_APART;
    if (!apart && !(line->words & ~words) && !line->next) {
      begin(line, first, words, behind);
      continue;
    }
    if (!apart && note_beside(log, line, words, behind, first))
      continue;
    if (!apart)
      take_apart(log, line);
    note_each(line, at, part, first, lane);
  }
}

void change_log_forget(ChangeLog *log, uint32_t first, uint32_t count) {
  for (uint32_t word = first, part; word < first + count; word += part) {
    uint32_t at = word % CHANGE_LOG_LINE;
    part = MIN(first + count - word, CHANGE_LOG_LINE - at);
    uint32_t words = (UINT32_MAX >> (CHANGE_LOG_LINE - part)) << at;
    ChangeRecord *line = &log->lines[word / CHANGE_LOG_LINE];
    line->words &= ~words;
    for (ChangeRecord *record = line->behind == CHANGE_WORDS_APART ? NULL : line->next; record; record = record->next)
      record->words &= ~words;
  }
}
