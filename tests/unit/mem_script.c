#include "tests/unit/mem_script.h"

#include <glib.h>
#include <string.h>

#include "sim/memory/memsys.h"
#include "tests/unit/lab.h"

/* An access that was made. */
typedef struct Made {
  MemRequest request;           /* first: the memory system gives it back */
  uint64_t performed, answered; /* its last lanes; 0: not yet */
} Made;

/* What is to come of an access; looked at when all have been served. */
typedef struct Expected {
  guint line, access;
  bool reply;
  uint64_t cycle;
} Expected;

typedef struct Script {
  Machine *machine;
  Backing *backing;
  Counters counters;
  MemSys *memsys;  /* made with the first access */
  GPtrArray *made; /* Made *, in order */
  GArray *expected;
  MemRequest request; /* the newest */
  uint64_t at;
  guint line;
} Script;

static void performed(void *user, MemRequest *request, uint32_t lanes, uint64_t time) {
  (void)user;
  (void)lanes;
  ((Made *)request)->performed = time;
}

static void answered(void *user, MemRequest *request, uint64_t time) {
  (void)user;
  ((Made *)request)->answered = time;
}

/* ---- words of a line ---- */

typedef struct Words {
  char **word;
  guint at;
} Words;

static const char *next_word(Words *words) {
  while (words->word[words->at] && !*words->word[words->at])
    words->at++;
  return words->word[words->at] ? words->word[words->at++] : NULL;
}

static bool is_number(const char *word, uint64_t *number) {
  bool hex = word && g_str_has_prefix(word, "0x");
  return word && g_ascii_string_to_unsigned(hex ? word + 2 : word, hex ? 16 : 10, 0, G_MAXUINT64, number, NULL);
}

static char *wanted(const char *what, const char *word) {
  return g_strdup_printf("%s was expected, not `%s`", what, word ? word : "the end of the line");
}

/* ---- accesses ---- */

/* `a[3]`: the address of that word. */
static char *read_place(const Script *script, const char *word, uint64_t *address) {
  g_auto(GStrv) parts = g_strsplit_set(word ? word : "", "[]", -1);
  uint64_t index;
  if (g_strv_length(parts) != 3 || !is_number(parts[1], &index) || *parts[2])
    return wanted("a place such as a[0]", word);
  for (guint i = 0; i < script->backing->buffers->len; i++) {
    const BackingBuffer *buffer = backing_buffer(script->backing, i);
    if (strcmp(buffer->name, parts[0]) != 0)
      continue;
    if (index >= buffer->words)
      return g_strdup_printf("%s has %u words", buffer->name, buffer->words);
    *address = buffer->base + 4 * index;
    return NULL;
  }
  return g_strdup_printf("there is no buffer `%s`", parts[0]);
}

/* `load`, `store.64`, `atomic` */
static char *read_kind(const char *word, MemRequest *request) {
  static const char *const kinds[] = {[MEM_LOAD] = "load", [MEM_STORE] = "store", [MEM_ATOMIC] = "atomic"};
  g_auto(GStrv) parts = g_strsplit(word ? word : "", ".", 2);
  uint64_t bits = 32;
  if (parts[0] && parts[1] && (!is_number(parts[1], &bits) || bits < 8 || bits > 128 || bits & (bits - 1)))
    return wanted("8, 16, 32, 64 or 128", parts[1]);
  request->bytes = (uint32_t)bits / 8;
  for (unsigned i = 0; i < G_N_ELEMENTS(kinds); i++)
    if (g_strcmp0(parts[0], kinds[i]) == 0) {
      request->kind = (MemKind)i;
      return NULL;
    }
  return wanted("load, store or atomic", word);
}

/* `x32`, `mask 0xf0`, `step 128`, `turn 2` */
static char *read_lanes(Words *words, uint32_t *mask, uint64_t *step, uint64_t *turn) {
  for (const char *word; (word = next_word(words));) {
    uint64_t number;
    if (*word == 'x' && is_number(word + 1, &number) && number >= 1 && number <= 32) {
      *mask = UINT32_MAX >> (32 - number);
      continue;
    }
    const char *value = next_word(words);
    if (!is_number(value, &number))
      return wanted("a number", value);
    if (strcmp(word, "mask") == 0 && number && number <= UINT32_MAX)
      *mask = (uint32_t)number;
    else if (strcmp(word, "step") == 0)
      *step = number;
    else if (strcmp(word, "turn") == 0 && number)
      *turn = number;
    else
      return wanted("x1 to x32, mask, step or turn", word);
  }
  return NULL;
}

static void submit(Script *script) {
  MemClient client = {.user = script, .perform = performed, .reply = answered};
  if (!script->memsys)
    script->memsys = memsys_new(script->machine, 1, script->backing, &client, &script->counters);
  Made *made = g_new0(Made, 1);
  made->request = script->request;
  g_ptr_array_add(script->made, made);
  memsys_run(script->memsys, script->at);
  memsys_send(script->memsys, &made->request, script->at);
}

static char *do_access(Script *script, Words *words) {
  uint64_t at, sm, address = 0, step = 4, turn = 32;
  uint32_t mask = 1;
  const char *word = next_word(words);
  if (!is_number(word, &at) || at < script->at)
    return wanted("a cycle no earlier than that of the access before", word);
  word = next_word(words);
  if (!word || !g_str_has_prefix(word, "SM") || !is_number(word + 2, &sm) || sm >= script->machine->gpu.sms)
    return wanted("an SM of the machine, such as SM0", word);
  MemRequest request = {0};
  char *why = read_kind(next_word(words), &request);
  if (!why)
    why = read_place(script, next_word(words), &address);
  if (!why)
    why = read_lanes(words, &mask, &step, &turn);
  if (why)
    return why;
  request.mask = mask;
  for (uint32_t lane = 0; lane < 32; lane++) {
    request.address[lane] = mask >> lane & 1 ? address + lane % turn * step : 0;
    if (mask >> lane & 1 && (request.address[lane] % request.bytes ||
                             !backing_find(script->backing, request.address[lane], request.bytes)))
      return g_strdup_printf("lane %u has no aligned word of a buffer there", lane);
  }
  request.sm = (uint32_t)sm;
  script->request = request;
  script->at = at;
  submit(script);
  return NULL;
}

static char *repeat(Script *script, Words *words) {
  uint64_t times;
  const char *word = next_word(words);
  if (!is_number(word, &times) || times < 2 || !script->made->len)
    return wanted("an access before, and a number from 2 on", word);
  while (--times)
    submit(script);
  return NULL;
}

/* ---- the other lines ---- */

static char *set_machine(Script *script, Words *words) {
  g_autofree char *settings = g_strjoinv(" ", words->word + words->at);
  if (script->backing->buffers->len || script->made->len)
    return g_strdup("the machine comes first");
  machine_free(script->machine);
  script->machine = lab_machine(settings);
  words->at = g_strv_length(words->word);
  return NULL;
}

static char *add_buffer(Script *script, Words *words) {
  const char *name = next_word(words), *size = next_word(words);
  uint64_t count;
  if (!name || !is_number(size, &count) || !count || count > 1 << 24)
    return wanted("a name and its number of words", size);
  if (script->memsys)
    return g_strdup("buffers come before the first access");
  backing_add(script->backing, name, (uint32_t)count, NULL);
  return NULL;
}

/* Of the access before. */
static char *expect_later(Script *script, bool reply, uint64_t cycle) {
  if (!script->made->len)
    return g_strdup("there is no access before");
  Expected expected = {.line = script->line, .access = script->made->len - 1, .reply = reply, .cycle = cycle};
  g_array_append_val(script->expected, expected);
  return NULL;
}

/* A counter: once all accesses so far have been served. */
static char *expect_count(Script *script, const char *what, uint64_t number) {
  uint64_t is;
  if (script->memsys)
    memsys_run(script->memsys, G_MAXUINT64);
  if (g_strcmp0(what, "accesses") == 0)
    is = script->counters.global_accesses;
  else if (g_strcmp0(what, "segments") == 0)
    is = script->counters.global_segments;
  else if (g_strcmp0(what, "atomics") == 0)
    is = script->counters.global_atomics;
  else
    return wanted("reply, performed, accesses, segments or atomics", what);
  return is == number ? NULL
                      : g_strdup_printf("%s is %" G_GUINT64_FORMAT ", not %" G_GUINT64_FORMAT, what, is, number);
}

static char *expect(Script *script, Words *words) {
  const char *what = next_word(words), *value = next_word(words);
  uint64_t number;
  if (!is_number(value, &number))
    return wanted("a number", value);
  bool reply = g_strcmp0(what, "reply") == 0;
  return reply || g_strcmp0(what, "performed") == 0 ? expect_later(script, reply, number)
                                                    : expect_count(script, what, number);
}

static char *do_line(Script *script, const char *line) {
  g_auto(GStrv) text = g_strsplit(line, "#", 2), parts = g_strsplit_set(text[0] ? text[0] : "", " \t", -1);
  Words words = {.word = parts};
  const char *first = next_word(&words);
  if (!first)
    return NULL;
  char *why = strcmp(first, "machine") == 0  ? set_machine(script, &words)
              : strcmp(first, "buffer") == 0 ? add_buffer(script, &words)
              : strcmp(first, "at") == 0     ? do_access(script, &words)
              : strcmp(first, "times") == 0  ? repeat(script, &words)
              : strcmp(first, "expect") == 0 ? expect(script, &words)
                                             : wanted("machine, buffer, at, times or expect", first);
  const char *rest = why ? NULL : next_word(&words);
  return rest ? wanted("the end of the line", rest) : why;
}

/* The first line that expects something else. */
static char *check_expected(const char *name, const Script *script) {
  for (guint i = 0; i < script->expected->len; i++) {
    const Expected *expected = &g_array_index(script->expected, Expected, i);
    const Made *made = g_ptr_array_index(script->made, expected->access);
    uint64_t is = expected->reply ? made->answered : made->performed;
    if (is != expected->cycle)
      return g_strdup_printf("%s:%u: %s is %" G_GUINT64_FORMAT ", not %" G_GUINT64_FORMAT, name, expected->line,
                             expected->reply ? "reply" : "performed", is, expected->cycle);
  }
  return NULL;
}

char *mem_script_run(const char *name, const char *text) {
  Script script = {.machine = lab_machine(""),
                   .backing = backing_new(),
                   .made = g_ptr_array_new_with_free_func(g_free),
                   .expected = g_array_new(FALSE, FALSE, sizeof(Expected))};
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  char *found = NULL;
  for (guint i = 0; lines[i] && !found; i++) {
    script.line = i + 1;
    g_autofree char *why = do_line(&script, lines[i]);
    if (why)
      found = g_strdup_printf("%s:%u: %s", name, i + 1, why);
  }
  if (script.memsys)
    memsys_run(script.memsys, G_MAXUINT64);
  if (!found)
    found = check_expected(name, &script);
  if (script.memsys)
    memsys_free(script.memsys);
  g_ptr_array_free(script.made, TRUE);
  g_array_free(script.expected, TRUE);
  backing_free(script.backing);
  machine_free(script.machine);
  return found;
}
