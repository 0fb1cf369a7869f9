#include "sim/memory/change_log.h"

void change_log_init(ChangeLog *log, uint32_t words) {
  *log = (ChangeLog){.count = words / CHANGE_LOG_PAGE + 1};
  log->pages = g_new0(ChangePage *, log->count);
}

void change_log_clear(ChangeLog *log) {
  for (uint32_t i = 0; i < log->count; i++)
    g_free(log->pages[i]);
  g_free(log->pages);
  g_free(log->changes);
  *log = (ChangeLog){0};
}

WordChange change_log_get(const ChangeLog *log, uint32_t word) {
  const ChangePage *page = log->pages[word / CHANGE_LOG_PAGE];
  uint32_t number = page ? page->change[word % CHANGE_LOG_PAGE] : 0;
  if (!number)
    return (WordChange){.thread = THREAD_NONE};
  WordChange change = log->changes[number].first;
  change.thread = thread_plus(change.thread, page->lane[word % CHANGE_LOG_PAGE]);
  return change;
}

ChangePage *change_log_page(ChangeLog *log, uint32_t word) {
  return log->pages[word / CHANGE_LOG_PAGE] = g_new0(ChangePage, 1);
}

void change_log_enter(ChangeLog *log, ChangeNote *note) {
  uint32_t number = log->unused;
  if (number) {
    log->unused = log->changes[number].next;
  } else {
    number = log->len++ + 1;
    if (number >= log->space) {
      log->space = MAX(16, 2 * log->space);
      log->changes = g_renew(SharedChange, log->changes, log->space);
    }
  }
  log->changes[number] = (SharedChange){.first = note->first, .users = 1};
  change_note_end(note);
  note->log = log;
  note->number = number;
}

void change_log_release(ChangeLog *log, uint32_t number) {
  log->changes[number].next = log->unused;
  log->unused = number;
}

/* The same for words of one page. */
static void note_words(ChangeLog *log, ChangePage *page, uint32_t at, uint32_t count, ChangeNote *note,
                       unsigned lane) {
  log->changes[note->number].users += count;
  uint32_t before = page->change[at], since = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (page->change[at + i] != before) {
      change_log_drop_words(log, before, i - since);
      before = page->change[at + i];
      since = i;
    }
    page->change[at + i] = note->number;
    page->lane[at + i] = (uint8_t)(lane + i);
  }
  change_log_drop_words(log, before, count - since);
}

void change_log_note_words(ChangeLog *log, uint32_t word, uint32_t count, ChangeNote *note, unsigned lane) {
  if (note->log != log)
    change_log_enter(log, note);
  for (uint32_t done = 0, part; done < count; done += part) {
    uint32_t at = (word + done) % CHANGE_LOG_PAGE;
    ChangePage *page = log->pages[(word + done) / CHANGE_LOG_PAGE];
    if (!page)
      page = change_log_page(log, word + done);
    part = MIN(count - done, CHANGE_LOG_PAGE - at);
    note_words(log, page, at, part, note, lane + done);
  }
}

void change_log_forget(ChangeLog *log, uint32_t first, uint32_t count) {
  for (uint32_t word = first; word < first + count; word++) {
    ChangePage *page = log->pages[word / CHANGE_LOG_PAGE];
    if (!page) {
      word |= CHANGE_LOG_PAGE - 1; /* to the end of the page */
      continue;
    }
    change_log_drop(log, page->change[word % CHANGE_LOG_PAGE]);
    page->change[word % CHANGE_LOG_PAGE] = 0;
  }
}
