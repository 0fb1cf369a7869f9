/* diag.h - a list of messages about input, each with its place.
 *
 * Every parser and checker appends here and goes on, so that a user sees several errors in one go. Nothing in this
 * layer prints: a caller renders the list with diag_render() and writes it where it belongs.
 * Ownership: a Diag owns copies of all strings given to it. */
#ifndef LOCKSTEP_BASE_DIAG_H
#define LOCKSTEP_BASE_DIAG_H

#include <glib.h>
#include <stdbool.h>

typedef enum { DIAG_NOTE, DIAG_WARNING, DIAG_ERROR } DiagSeverity;

/* What kind of mistake it was: decides the exit status (2 or 3, SEMANTICS, "Exit status"). */
typedef enum { DIAG_INPUT, DIAG_USAGE } DiagClass;

/* One message. `line` and `column` count from 1; 0 means unknown and isn't printed. `hint` may be NULL. */
typedef struct DiagItem {
  char *file;
  unsigned line, column;
  DiagSeverity severity;
  DiagClass klass;
  char *message;
  char *hint;
} DiagItem;

/* How many errors a rendering shows before it only counts (SEMANTICS, "Errors"). */
enum { DIAG_SHOWN_MAX = 20 };

typedef struct Diag Diag;

Diag *diag_new(void);
void diag_free(Diag *diag);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Diag, diag_free)

/* Appends an error in the file's text. `file` may be NULL (command line). Returns false, so that a parser can
 * `return diag_error(...)`. After 1000 errors further ones are counted but not kept. */
bool diag_error(Diag *diag, const char *file, unsigned line, unsigned column, const char *format, ...)
    G_GNUC_PRINTF(5, 6);
bool diag_warning(Diag *diag, const char *file, unsigned line, unsigned column, const char *format, ...)
    G_GNUC_PRINTF(5, 6);
/* Something worth knowing that is no mistake. */
/* Drops it if it has been said. */
void diag_note(Diag *diag, const char *file, unsigned line, unsigned column, const char *format, ...)
    G_GNUC_PRINTF(5, 6);
/* An error in how the tool was called (exit status 2). Returns false. */
bool diag_usage(Diag *diag, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* Appends copies of all messages of `from`. */
void diag_add_all(Diag *diag, const Diag *from);
/* The same without notes. */
void diag_add_serious(Diag *diag, const Diag *from);
/* Adds a hint ("did you mean ...?") to the newest message. */
void diag_hint(Diag *diag, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* Adds "did you mean `X`?" to the newest message if some candidate is near enough to `found`; else lists nothing.
 * `candidates` is NULL-terminated. */
void diag_hint_nearest(Diag *diag, const char *found, const char *const *candidates);

bool diag_has_errors(const Diag *diag);
unsigned diag_error_count(const Diag *diag);
unsigned diag_count(const Diag *diag);
const DiagItem *diag_item(const Diag *diag, unsigned index);
/* 0 without errors, 2 if all errors are of usage, else 3. */
int diag_exit_status(const Diag *diag);

/* Renders `FILE:LINE:COLUMN: error: ...` lines, hints on a line below, at most DIAG_SHOWN_MAX errors, and each
 * text once. Free with g_free. */
char *diag_render(const Diag *diag);

/* The candidate with the smallest edit distance (Damerau-Levenshtein, case-insensitive), or NULL if none is within
 * a third of the word's length plus one. `candidates` is NULL-terminated. Borrowed from `candidates`. */
const char *diag_nearest(const char *found, const char *const *candidates);

#endif
