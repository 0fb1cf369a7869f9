/* change_log.h - who last changed each word of a memory, for findings. The words that one warp instruction changes share what
 * there is to say of it; each has its lane. Pages are made when one of their words first changes.
 * Ownership: a ChangeLog is embedded, and owns its pages and changes. */
#ifndef LOCKSTEP_MEMORY_CHANGE_LOG_H
#define LOCKSTEP_MEMORY_CHANGE_LOG_H

#include <glib.h>

#include "sim/memory/thread_id.h"

enum { CHANGE_LOG_PAGE = 256 /* words */ };

typedef struct ChangePage {
  uint32_t change[CHANGE_LOG_PAGE]; /* number of the newest one (from 1); 0: none */
  uint8_t lane[CHANGE_LOG_PAGE];    /* who made it, in the warp */
} ChangePage;

typedef struct ChangeLog {
  ChangePage **pages;
  uint32_t count;  /* pages */
  GArray *changes; /* SharedChange; NULL as long as there was none */
  uint32_t newest; /* number of the last that was noted; 0: none */
  uint32_t unused; /* number of the first that no word has; 0: none */
} ChangeLog;

void change_log_init(ChangeLog *log, uint32_t words);
void change_log_clear(ChangeLog *log);
/* THREAD_NONE for a word that hasn't changed. */
WordChange change_log_get(const ChangeLog *log, uint32_t word);
void change_log_note(ChangeLog *log, uint32_t word, WordChange change);
/* These words haven't changed. */
void change_log_forget(ChangeLog *log, uint32_t first, uint32_t count);

#endif
