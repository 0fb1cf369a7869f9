/* change_log.h - who last changed each word of a memory, for findings. Words that one warp instruction changes in a
 * line share what there is to say of it, each with its lane; a line whose words have been changed by several has a
 * record for each of those, or, from the fifth on, one of each word.
 * Threads: changes of words that lie in different lines may be noted side by side.
 * Ownership: a ChangeLog is embedded, and owns its records. */
#ifndef LOCKSTEP_MEMORY_CHANGE_LOG_H
#define LOCKSTEP_MEMORY_CHANGE_LOG_H

#include <glib.h>

#include "sim/memory/thread_id.h"

enum { CHANGE_LOG_LINE = 32 /* words */ };

/* What the words of a line that one warp instruction changed have in common. */
typedef struct ChangeRecord {
  uint64_t cycle, block;
  uint32_t launch, pc;
  uint32_t words;  /* of the line, by bit; 0: the record is free */
  uint16_t thread; /* lane 0 of the warp, in its block */
  uint8_t behind;  /* lane n made word n + behind (modulo 32); CHANGE_LANES_APART: `lanes` says who made each;
                    * CHANGE_WORDS_APART: `each` says all of each of `words` */
  uint8_t *lanes;  /* by word; NULL: never needed so far */
  union {
    struct ChangeRecord *next; /* of the line; no two have a word in common */
    WordChange *each;          /* CHANGE_LOG_LINE of them */
  };
} ChangeRecord;
enum { CHANGE_WORDS_APART = 254, CHANGE_LANES_APART = 255 };

typedef struct ChangeLog {
  ChangeRecord *lines; /* the first record of each */
  uint32_t count;
  bool spread; /* some line has more than that */
} ChangeLog;

void change_log_init(ChangeLog *log, uint32_t words);
void change_log_clear(ChangeLog *log);
/* THREAD_NONE for a word that hasn't changed. */
WordChange change_log_get(const ChangeLog *log, uint32_t word);
/* These words haven't changed. */
void change_log_forget(ChangeLog *log, uint32_t first, uint32_t count);
/* Lanes of an instruction from `lane` on change so many words in a row, at most 32. The thread of `first` is lane
 * 0. */
void change_log_note_words(ChangeLog *log, uint32_t word, uint32_t count, const WordChange *first, unsigned lane);
/* Lane `lane` of the instruction changes the word. */
static inline void change_log_note(ChangeLog *log, uint32_t word, const WordChange *first, unsigned lane) {
  change_log_note_words(log, word, 1, first, lane);
}
/* The word will be changed soon. */
static inline void change_log_prefetch(const ChangeLog *log, uint32_t word) {
  const ChangeRecord *record = &log->lines[word / CHANGE_LOG_LINE];
  __builtin_prefetch(record, 1);
  __builtin_prefetch(&record->next, 1); /* perhaps in another line of the host's cache */
}

#endif
