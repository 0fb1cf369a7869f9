/* change_log.h - who last changed each word of a memory, for findings. Pages are made when one of their words first changes.
 * Ownership: a ChangeLog is embedded, and owns its pages. */
#ifndef LOCKSTEP_MEMORY_CHANGE_LOG_H
#define LOCKSTEP_MEMORY_CHANGE_LOG_H

#include "sim/memory/thread_id.h"

enum { CHANGE_LOG_PAGE = 256 /* words */ };

typedef struct ChangeLog {
  WordChange **pages;
  uint32_t count;
} ChangeLog;

void change_log_init(ChangeLog *log, uint32_t words);
void change_log_clear(ChangeLog *log);
/* THREAD_NONE for a word that hasn't changed. */
WordChange change_log_get(const ChangeLog *log, uint32_t word);
void change_log_note(ChangeLog *log, uint32_t word, WordChange change);
/* These words haven't changed. */
void change_log_forget(ChangeLog *log, uint32_t first, uint32_t count);

#endif
