/* timeline_file.h - a file of Chrome trace events: which are written, and how.
 * Events are written as they come, up to a number; from the first one that there is no room for, none is. If the run
 * that tells them is started over, it tells the same again: what is in the file isn't written twice.
 * The file is there when all of it is (base/whole_file.h).
 * Ownership: owns the open file. */
#ifndef LOCKSTEP_REPORT_TIMELINE_FILE_H
#define LOCKSTEP_REPORT_TIMELINE_FILE_H

#include <json-glib/json-glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"

typedef struct TimelineFile TimelineFile;

/* NULL after an error. */
TimelineFile *timeline_file_open(const char *path, uint64_t events, Diag *diag);
/* Ends the file, with a warning if events were left out. False after an error. */
bool timeline_file_close(TimelineFile *file, Diag *diag);
/* The run was started over. */
void timeline_file_restart(TimelineFile *file);

/* True if the next `count` events are to be written, which belong together: then each is. They count as told in any
 * case. */
bool timeline_file_takes(TimelineFile *file, uint32_t count);
/* An event of kind `kind` (its object is open), once timeline_file_takes() said so. Followed by
 * timeline_file_end(). */
JsonBuilder *timeline_file_begin(const char *kind, uint32_t process);
/* Closes the event, of which the arguments are open, and writes it. */
void timeline_file_end(TimelineFile *file, JsonBuilder *event);

void timeline_file_add_number(JsonBuilder *event, const char *name, uint64_t value);
void timeline_file_add_text(JsonBuilder *event, const char *name, const char *text);
/* Thousandths: a whole number where it is one. */
void timeline_file_add_milli(JsonBuilder *event, const char *name, uint64_t milli);
void timeline_file_begin_args(JsonBuilder *event);

/* Events that name a process, or a track in it. */
void timeline_file_name_process(TimelineFile *file, uint32_t process, const char *name);
void timeline_file_name_track(TimelineFile *file, uint32_t process, uint64_t track, const char *name);

#endif
