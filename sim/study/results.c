#include "sim/study/results.h"

#include <string.h>

/* What is shown of the buffers: the first words of the first few short ones. */
enum { SHOWN_BUFFERS = 6, SHOWN_WORDS = 8 };
enum { DIGEST_BYTES = 1 << 20 };

static void clear_kind(gpointer data) {
  ResultKind *kind = data;
  g_free(kind->digest);
  g_free(kind->buffers);
  g_free(kind->differs);
}

void results_init(Results *results) {
  *results = (Results){.kinds = g_array_new(FALSE, FALSE, sizeof(ResultKind)), .varies = g_byte_array_new()};
  g_array_set_clear_func(results->kinds, clear_kind);
}

void results_clear(Results *results) {
  g_array_unref(results->kinds);
  g_clear_pointer(&results->buffers, g_ptr_array_unref);
  g_byte_array_unref(results->varies);
}

static const ResultBuffer *buffer_at(const GPtrArray *buffers, guint i) { return g_ptr_array_index(buffers, i); }

static gsize bytes_of(const ResultBuffer *result) { return (gsize)result->words * sizeof *result->data; }

/* Two results of one scenario: the same buffers, of the same length. */
static bool are_alike(const GPtrArray *first, const GPtrArray *now) {
  for (guint i = 0; i < first->len; i++) {
    const ResultBuffer *one = buffer_at(first, i), *other = buffer_at(now, i);
    if (one->words && memcmp(one->data, other->data, bytes_of(one)) != 0)
      return false;
  }
  return true;
}

/* For results that aren't as the first: those are kept. */
static char *digest_of(const GPtrArray *buffers) {
  g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
  for (guint i = 0; i < buffers->len; i++)
    for (gsize done = 0, step; done < bytes_of(buffer_at(buffers, i)); done += step) {
      step = MIN(bytes_of(buffer_at(buffers, i)) - done, (gsize)DIGEST_BYTES);
      g_checksum_update(checksum, (const guchar *)buffer_at(buffers, i)->data + done, (gssize)step);
    }
  return g_strdup(g_checksum_get_string(checksum));
}

static char *buffers_text(const GPtrArray *buffers) {
  GString *text = g_string_new(NULL);
  guint shown = 0;
  for (guint i = 0; i < buffers->len && shown < SHOWN_BUFFERS; i++) {
    const ResultBuffer *result = buffer_at(buffers, i);
    if (result->words > SHOWN_WORDS)
      continue;
    g_string_append_printf(text, "%s%s =", shown++ ? ", " : "", result->name);
    for (uint32_t word = 0; word < result->words; word++)
      g_string_append_printf(text, " %d", (int32_t)result->data[word]);
  }
  return g_string_free(text, FALSE);
}

static char *first_difference(const GPtrArray *first, const GPtrArray *now) {
  for (guint i = 0; i < first->len; i++)
    for (uint32_t word = 0; word < buffer_at(first, i)->words; word++) {
      int32_t was = (int32_t)buffer_at(first, i)->data[word], is = (int32_t)buffer_at(now, i)->data[word];
      if (was != is)
        return g_strdup_printf("%s[%u] is %d instead of %d", buffer_at(now, i)->name, word, is, was);
    }
  return NULL;
}

static gsize words_of(const GPtrArray *buffers) {
  gsize words = 0;
  for (guint i = 0; i < buffers->len; i++)
    words += buffer_at(buffers, i)->words;
  return words;
}

static void note_varying(Results *results, const GPtrArray *now) {
  enum { BITS = 8 };
  if (!results->varies->len) {
    g_byte_array_set_size(results->varies, (guint)(words_of(now) / BITS + 1));
    memset(results->varies->data, 0, results->varies->len);
  }
  gsize at = 0;
  for (guint i = 0; i < now->len; i++) {
    const ResultBuffer *one = buffer_at(results->buffers, i), *other = buffer_at(now, i);
    for (uint32_t word = 0; word < one->words; word++, at++)
      if (one->data[word] != other->data[word])
        results->varies->data[at / BITS] |= (guint8)(1u << at % BITS);
  }
}

static bool varies(const Results *results, gsize at) {
  enum { BITS = 8 };
  return results->varies->len && results->varies->data[at / BITS] >> at % BITS & 1;
}

/* A large buffer, many of whose words hang on the schedule: a queue, or sums of floats. That a word of it is alike in
 * all runs that there were is chance. */
static bool is_of_schedules(const Results *results, gsize first, uint32_t words) {
  enum { WORDS_LEAST = 64, PART = 8 };
  uint32_t varying = 0;
  for (uint32_t word = 0; word < words; word++)
    varying += varies(results, first + word);
  return words >= WORDS_LEAST && varying >= words / PART;
}

bool results_are_among(const Results *results, const RunResult *run, bool has_expected) {
  gsize at = 0;
  for (guint i = 0; i < run->buffers->len; i++) {
    const ResultBuffer *one = buffer_at(results->buffers, i), *other = buffer_at(run->buffers, i);
    bool skips = has_expected && is_of_schedules(results, at, one->words);
    for (uint32_t word = 0; word < one->words; word++, at++)
      if (!skips && one->data[word] != other->data[word] && !varies(results, at))
        return false;
  }
  return true;
}

guint results_add(Results *results, RunResult *run, guint schedule, bool counts) {
  g_autoptr(GPtrArray) buffers = g_steal_pointer(&run->buffers);
  if (run->verdict != VERDICT_COMPLETED || !buffers)
    return 0;
  if (results->buffers && are_alike(results->buffers, buffers)) {
    g_array_index(results->kinds, ResultKind, 0).schedules++;
    return 1;
  }
  if (results->buffers && counts)
    note_varying(results, buffers);
  g_autofree char *digest = results->buffers ? digest_of(buffers) : NULL;
  for (guint i = 1; i < results->kinds->len; i++) {
    ResultKind *kind = &g_array_index(results->kinds, ResultKind, i);
    if (g_str_equal(kind->digest, digest)) {
      kind->schedules++;
      return i + 1;
    }
  }
  ResultKind kind = {.digest = g_steal_pointer(&digest),
                     .buffers = buffers_text(buffers),
                     .differs = results->buffers ? first_difference(results->buffers, buffers) : NULL,
                     .schedules = 1,
                     .first = schedule};
  g_array_append_val(results->kinds, kind);
  if (!results->buffers)
    results->buffers = g_steal_pointer(&buffers);
  return results->kinds->len;
}

void results_add_again(Results *results, guint kind) {
  if (kind)
    g_array_index(results->kinds, ResultKind, kind - 1).schedules++;
}
