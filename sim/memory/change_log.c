#include "sim/memory/change_log.h"

/* What the words that one warp instruction changed have in common. */
typedef struct SharedChange {
  WordChange first; /* its thread is lane 0 of the warp */
  uint32_t words;   /* that have it; 0: unused */
  uint32_t next;    /* of an unused one: the next unused one, 0: none */
} SharedChange;

static SharedChange *change_at(const ChangeLog *log, uint32_t number) {
  return &g_array_index(log->changes, SharedChange, number - 1);
}

void change_log_init(ChangeLog *log, uint32_t words) {
  *log = (ChangeLog){.count = words / CHANGE_LOG_PAGE + 1};
  log->pages = g_new0(ChangePage *, log->count);
}

void change_log_clear(ChangeLog *log) {
  for (uint32_t i = 0; i < log->count; i++)
    g_free(log->pages[i]);
  g_free(log->pages);
  if (log->changes)
    g_array_free(log->changes, TRUE);
  *log = (ChangeLog){0};
}

WordChange change_log_get(const ChangeLog *log, uint32_t word) {
  const ChangePage *page = log->pages[word / CHANGE_LOG_PAGE];
  uint32_t number = page ? page->change[word % CHANGE_LOG_PAGE] : 0;
  if (!number)
    return (WordChange){.thread = THREAD_NONE};
  WordChange change = change_at(log, number)->first;
  change.thread = thread_plus(change.thread, page->lane[word % CHANGE_LOG_PAGE]);
  return change;
}

static void drop(ChangeLog *log, uint32_t number) {
  SharedChange *change = number ? change_at(log, number) : NULL;
  if (!change || --change->words)
    return;
  change->next = log->unused;
  log->unused = number;
  if (log->newest == number)
    log->newest = 0;
}

/* The number of an unused one. */
static uint32_t take_unused(ChangeLog *log) {
  uint32_t number = log->unused;
  if (number) {
    log->unused = change_at(log, number)->next;
    return number;
  }
  if (!log->changes)
    log->changes = g_array_new(FALSE, TRUE, sizeof(SharedChange));
  g_array_set_size(log->changes, log->changes->len + 1);
  return log->changes->len;
}

static bool is_same(const WordChange *a, const WordChange *b) {
  return a->cycle == b->cycle && a->pc == b->pc && thread_equal(a->thread, b->thread);
}

void change_log_note(ChangeLog *log, uint32_t word, WordChange change) {
  ChangePage **page = &log->pages[word / CHANGE_LOG_PAGE];
  uint32_t in_page = word % CHANGE_LOG_PAGE, lane = thread_lane(change.thread);
  change.thread.thread -= lane;
  if (!*page)
    *page = g_new0(ChangePage, 1);
  uint32_t number = log->newest, before = (*page)->change[in_page];
  if (!number || !is_same(&change_at(log, number)->first, &change)) {
    log->newest = number = take_unused(log);
    *change_at(log, number) = (SharedChange){.first = change};
  }
  change_at(log, number)->words++;
  (*page)->change[in_page] = number;
  (*page)->lane[in_page] = (uint8_t)lane;
  drop(log, before);
}

void change_log_forget(ChangeLog *log, uint32_t first, uint32_t count) {
  for (uint32_t word = first; word < first + count; word++) {
    ChangePage *page = log->pages[word / CHANGE_LOG_PAGE];
    if (!page) {
      word |= CHANGE_LOG_PAGE - 1; /* to the end of the page */
      continue;
    }
    drop(log, page->change[word % CHANGE_LOG_PAGE]);
    page->change[word % CHANGE_LOG_PAGE] = 0;
  }
}
