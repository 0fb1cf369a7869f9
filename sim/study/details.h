/* details.h - what a run did to the machine, unit by unit, as tables (details.def): SMs, slices, channels, links,
 * hottest lines, locks.
 * Ownership: a RunDetails owns all that it holds, and nothing of the run. */
#ifndef LOCKSTEP_STUDY_DETAILS_H
#define LOCKSTEP_STUDY_DETAILS_H

#include "sim/study/hot_lines.h"
#include "sim/study/lock_times.h"

typedef enum {
#define TABLE(id, key, doc) DETAILS_##id,
#define COLUMN(table, name, unit, doc)
#include "sim/study/details.def"
  DETAILS_TABLES
} DetailsTable;

typedef enum {
#define TABLE(id, key, doc)
#define COLUMN(table, name, unit, doc) DETAILS_##table##_##name,
#include "sim/study/details.def"
  DETAILS_COLUMNS
} DetailsColumn;

typedef struct DetailsTableInfo {
  const char *name, *key, *doc;
} DetailsTableInfo;

typedef struct DetailsColumnInfo {
  DetailsTable table;
  const char *name, *unit, *doc;
} DetailsColumnInfo;

extern const DetailsTableInfo details_table_info[DETAILS_TABLES];
extern const DetailsColumnInfo details_column_info[DETAILS_COLUMNS];

typedef enum { DETAIL_NONE, DETAIL_INTEGER, DETAIL_REAL, DETAIL_TEXT } DetailKind;
typedef struct DetailValue {
  DetailKind kind;
  uint64_t integer;
  double real;
  char *text;
} DetailValue;

/* A row: what it is of ("3", "SM to crossbar", "state[3]"), and a value for each column of its table. */
typedef struct DetailRow {
  char *key;
  DetailValue *value;
} DetailRow;

/* A slice with more than so many times the mean load, and so many parts, is warned of; so many of the hottest lines,
 * and locks, are shown. */
enum { DETAILS_WARN_TIMES = 4, DETAILS_WARN_PARTS = 100, DETAILS_HOTTEST = 10 };
/* The first row of the table of locks. */
#define DETAILS_ALL_LOCKS "all"

typedef struct RunDetails {
  MemForm form;
  uint64_t cycles;
  uint32_t schedulers;              /* of an SM */
  GPtrArray *table[DETAILS_TABLES]; /* DetailRow * */
  GPtrArray *warnings;              /* char * */
} RunDetails;

/* Of a run that has ended, after so many cycles. */
RunDetails *details_new(const Gpu *gpu, const HotLines *lines, const LockTimes *locks, uint64_t cycles);
void details_free(RunDetails *details);
/* The first column of a table, and the one behind its last. */
DetailsColumn details_first(DetailsTable table);
DetailsColumn details_end(DetailsTable table);
/* The value of a column in a row of its table. */
const DetailValue *details_value(const DetailRow *row, DetailsColumn column);

#endif
