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

/* What the words that one warp instruction changed have in common. */
typedef struct SharedChange {
  WordChange first; /* its thread is lane 0 of the warp */
  uint32_t users;   /* words that have it, and the ChangeNote; 0: unused */
  uint32_t next;    /* of an unused one: the next unused one, 0: none */
} SharedChange;

typedef struct ChangeLog {
  ChangePage **pages;
  uint32_t count;        /* pages */
  SharedChange *changes; /* number 1 stands at index 1 */
  uint32_t len, space;   /* of `changes` */
  uint32_t unused;       /* number of the first that no word has; 0: none */
} ChangeLog;

/* A warp instruction that may change words. End it with change_note_end(). */
typedef struct ChangeNote {
  WordChange first; /* its thread is lane 0 of the warp */
  ChangeLog *log;   /* where it stands, as `number`; NULL: nowhere yet */
  uint32_t number;
} ChangeNote;

void change_log_init(ChangeLog *log, uint32_t words);
void change_log_clear(ChangeLog *log);
/* THREAD_NONE for a word that hasn't changed. */
WordChange change_log_get(const ChangeLog *log, uint32_t word);
/* These words haven't changed. */
void change_log_forget(ChangeLog *log, uint32_t first, uint32_t count);

/* For change_log_note(): makes a page; enters the change, which is the note's only so far; gives a number back. */
ChangePage *change_log_page(ChangeLog *log, uint32_t word);
void change_log_enter(ChangeLog *log, ChangeNote *note);
void change_log_release(ChangeLog *log, uint32_t number);

/* `words` words have another change than that now. */
static inline void change_log_drop_words(ChangeLog *log, uint32_t number, uint32_t words) {
  if (number && (log->changes[number].users -= words) == 0)
    change_log_release(log, number);
}
static inline void change_log_drop(ChangeLog *log, uint32_t number) { change_log_drop_words(log, number, 1); }

static inline void change_note_end(ChangeNote *note) {
  if (note->log)
    change_log_drop(note->log, note->number);
  note->log = NULL;
}

/* Lanes of the instruction from `lane` on change so many words in a row. */
void change_log_note_words(ChangeLog *log, uint32_t word, uint32_t count, ChangeNote *note, unsigned lane);
/* Lane `lane` of the instruction changes the word. */
static inline void change_log_note(ChangeLog *log, uint32_t word, ChangeNote *note, unsigned lane) {
  ChangePage *page = log->pages[word / CHANGE_LOG_PAGE];
  uint32_t at = word % CHANGE_LOG_PAGE;
  if (G_UNLIKELY(!page))
    page = change_log_page(log, word);
  if (note->log != log)
    change_log_enter(log, note);
  uint32_t before = page->change[at];
  log->changes[note->number].users++;
  page->change[at] = note->number;
  page->lane[at] = (uint8_t)lane;
  change_log_drop(log, before);
}

#endif
