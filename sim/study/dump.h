/* dump.h - what buffers hold at the end of a run, for who asked to see it. */
#ifndef LOCKSTEP_STUDY_DUMP_H
#define LOCKSTEP_STUDY_DUMP_H

#include "base/diag.h"
#include "sim/study/run.h"

/* How the words of a buffer are read: the number behind the letter is that of the bits. */
typedef enum {
  DUMP_U32,
  DUMP_S32,
  DUMP_X32,
  DUMP_F32,
  DUMP_U64,
  DUMP_S64,
  DUMP_X64,
  DUMP_F64,
  DUMP_FORMATS
} DumpFormat;

/* A buffer that is shown. */
typedef struct BufferDump {
  const ResultBuffer *buffer; /* of RunResult.buffers */
  DumpFormat format;
} BufferDump;

extern const char *const dump_format_names[DUMP_FORMATS + 1]; /* "u32", ...; NULL behind the last */

static inline uint32_t dump_words_each(DumpFormat format) { return format < DUMP_U64 ? 1 : 2; }
/* How many values a buffer has; a last word that is half a value counts as one, whose other half is 0. */
uint32_t dump_count(const BufferDump *dump);
/* The words of one value, the lower ones first. */
uint64_t dump_value(const BufferDump *dump, uint32_t number);

/* False, with an error in `diag`, if some of `wanted`, "NAME" or "NAME:FORMAT", is no buffer of the scenario, or no
 * format. */
bool dump_check(const char *const *wanted, const Scenario *scenario, Diag *diag);
/* BufferDump for each of `wanted`, which dump_check() let pass, among the buffers of a run of that scenario. Free
 * with g_array_unref(). */
GArray *dump_choose(const char *const *wanted, const GPtrArray *buffers);

#endif
