#include "sim/memory/change_log.h"

#include <glib.h>

void change_log_init(ChangeLog *log, uint32_t words) {
  log->count = words / CHANGE_LOG_PAGE + 1;
  log->pages = g_new0(WordChange *, log->count);
}

void change_log_clear(ChangeLog *log) {
  for (uint32_t i = 0; i < log->count; i++)
    g_free(log->pages[i]);
  g_free(log->pages);
  *log = (ChangeLog){0};
}

WordChange change_log_get(const ChangeLog *log, uint32_t word) {
  const WordChange *page = log->pages[word / CHANGE_LOG_PAGE];
  return page ? page[word % CHANGE_LOG_PAGE] : (WordChange){.thread = THREAD_NONE};
}

void change_log_note(ChangeLog *log, uint32_t word, WordChange change) {
  WordChange **page = &log->pages[word / CHANGE_LOG_PAGE];
  if (!*page) {
    *page = g_new(WordChange, CHANGE_LOG_PAGE);
    for (uint32_t i = 0; i < CHANGE_LOG_PAGE; i++)
      (*page)[i] = (WordChange){.thread = THREAD_NONE};
  }
  (*page)[word % CHANGE_LOG_PAGE] = change;
}

void change_log_forget(ChangeLog *log, uint32_t first, uint32_t count) {
  for (uint32_t word = first; word < first + count; word++) {
    WordChange *page = log->pages[word / CHANGE_LOG_PAGE];
    if (page)
      page[word % CHANGE_LOG_PAGE] = (WordChange){.thread = THREAD_NONE};
    else
      word |= CHANGE_LOG_PAGE - 1; /* to the end of the page */
  }
}
