#include "tests/unit/mem_script.h"

#include <glib.h>
#include <string.h>

#include "sim/engine/wheel.h"
#include "sim/memory/memsys.h"
#include "tests/unit/lab.h"

/* An access that was made. */
typedef struct Access {
  MemRequest request;
  char *name;                /* `as NAME`, or NULL */
  uint64_t performed, reply; /* when its last lanes were, and when the SM has the reply */
  uint64_t on, sent, read;   /* of MemNext, in cycles */
  uint64_t sm, warp, sent_milli;
  uint32_t done; /* lanes that were performed */
  bool replied;
} Access;

/* What can be expected of an access: the cycle of that. */
static const struct Moment {
  const char *name;
  size_t offset;
} moments[] = {
    {"reply", offsetof(Access, reply)}, {"performed", offsetof(Access, performed)}, {"goes-on", offsetof(Access, on)},
    {"sent", offsetof(Access, sent)},   {"read", offsetof(Access, read)},
};

/* What is expected of an access, looked at once all accesses have been served. */
typedef struct Expectation {
  const Access *access;
  guint what; /* one of `moments` */
  uint64_t cycle;
  guint line;
} Expectation;

typedef struct Script {
  Machine *machine;
  Backing *backing;
  Counters counters;
  MemSys *memsys; /* made with the first access */
  GPtrArray *accesses;
  GArray *expected;          /* Expectation */
  uint64_t seed, at, served; /* of the access before; the newest that was performed */
  bool failed_order;         /* something was performed before what had been performed already */
} Script;

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

/* `enqueue` and `dequeue`, whose result has two words. */
static bool read_queue(const char *word, MemRequest *request) {
  bool puts = g_strcmp0(word, "enqueue") == 0;
  if (!puts && g_strcmp0(word, "dequeue") != 0)
    return false;
  request->kind = MEM_ATOMIC;
  request->queue = puts ? MEM_ENQUEUE : MEM_DEQUEUE;
  request->bytes = puts ? 4 : 8;
  return true;
}

/* `load`, `keep`, `store.64`, `atomic`, `exchange`, `cas`, `red`, `red.f64` of floating-point numbers */
static char *read_kind(const char *word, MemRequest *request) {
  static const char *const kinds[] = {[MEM_LOAD] = "load", [MEM_STORE] = "store", [MEM_ATOMIC] = "atomic"};
  g_auto(GStrv) parts = g_strsplit(word ? word : "", ".", 2);
  uint64_t bits = 32;
  if (read_queue(word, request))
    return NULL;
  const char *width = parts[0] ? parts[1] : NULL;
  request->floats = width && *width == 'f';
  if (width && (!is_number(width + request->floats, &bits) || bits < 8 || bits > 128 || bits & (bits - 1)))
    return wanted("8, 16, 32, 64 or 128, behind an f if they are floating-point numbers", width);
  request->bytes = (uint32_t)bits / 8;
  request->unused = g_strcmp0(parts[0], "red") == 0;
  request->cas = g_strcmp0(parts[0], "cas") == 0;
  request->exchange = g_strcmp0(parts[0], "exchange") == 0;
  request->keeps = g_strcmp0(parts[0], "keep") == 0;
  if (request->unused || request->cas || request->exchange || request->keeps) {
    request->kind = request->keeps ? MEM_LOAD : MEM_ATOMIC;
    return NULL;
  }
  for (unsigned i = 0; i < G_N_ELEMENTS(kinds); i++)
    if (g_strcmp0(parts[0], kinds[i]) == 0) {
      request->kind = (MemKind)i;
      return NULL;
    }
  return wanted("load, keep, store, atomic, exchange, cas, red, enqueue or dequeue", word);
}

typedef struct Options {
  uint32_t mask;
  uint64_t step, turn, warp, scheduler;
  const char *name;
} Options;

/* `x32`, `mask 0xf0`, `step 128`, `turn 2`, `warp 1`, `scheduler 1`, `as first` */
static char *read_options(const Script *script, Words *words, Options *options) {
  for (const char *word; (word = next_word(words));) {
    uint64_t number;
    if (*word == 'x' && is_number(word + 1, &number) && number >= 1 && number <= 32) {
      options->mask = UINT32_MAX >> (32 - number);
      continue;
    }
    const char *value = next_word(words);
    if (strcmp(word, "as") == 0 && value) {
      options->name = value;
      continue;
    }
    if (!is_number(value, &number))
      return wanted("a number", value);
    if (strcmp(word, "mask") == 0 && number && number <= UINT32_MAX)
      options->mask = (uint32_t)number;
    else if (strcmp(word, "step") == 0)
      options->step = number;
    else if (strcmp(word, "turn") == 0 && number)
      options->turn = number;
    else if (strcmp(word, "warp") == 0)
      options->warp = number;
    else if (strcmp(word, "scheduler") == 0 && number < script->machine->sm.schedulers)
      options->scheduler = number;
    else
      return wanted("x1 to x32, mask, step, turn, warp, a scheduler of the SM or as", word);
  }
  return NULL;
}

static Access *last_access(const Script *script) {
  return g_ptr_array_index(script->accesses, script->accesses->len - 1);
}

static void performed(void *user, MemRequest *request, uint32_t lanes, uint64_t time) {
  Script *script = user;
  Access *access = (Access *)request;
  script->failed_order |= time < script->served || access->done & lanes;
  script->served = time;
  access->performed = time;
  access->done |= lanes;
}

static void replied(void *user, MemRequest *request, uint64_t time) {
  (void)user;
  Access *access = (Access *)request;
  access->reply = time;
  access->replied = true;
}

/* What the warp's access before said. */
static uint64_t sent_before(const Script *script, uint64_t sm, uint64_t warp) {
  for (guint i = script->accesses->len; i-- > 0;) {
    const Access *access = g_ptr_array_index(script->accesses, i);
    if (access->sm == sm && access->warp == warp)
      return access->sent_milli;
  }
  return 0;
}

static void submit(Script *script, const MemRequest *request, uint64_t warp) {
  if (!script->memsys) {
    MemClient client = {.user = script, .perform = performed, .reply = replied};
    script->memsys = memsys_new(script->machine, script->seed, script->backing, &client, &script->counters);
  }
  Access *access = g_new0(Access, 1);
  access->request = *request;
  access->sm = request->sm;
  access->warp = warp;
  memsys_run(script->memsys, script->at);
  MemNext next = memsys_goes_on(script->memsys, &access->request, script->at, sent_before(script, access->sm, warp));
  access->on = next.cycle;
  access->sent_milli = next.sent_milli;
  access->sent = next.sent_milli / 1000;
  access->read = next.read;
  g_ptr_array_add(script->accesses, access);
  memsys_send(script->memsys, &access->request, script->at, &script->counters);
}

static char *do_access(Script *script, Words *words) {
  uint64_t at, sm, address = 0;
  Options options = {.mask = 1, .step = 4, .turn = 32};
  const char *word = next_word(words);
  if (!is_number(word, &at) || at < script->at || at < script->served)
    return wanted("a cycle no earlier than that of the access before, and than what was served so far", word);
  word = next_word(words);
  if (!word || !g_str_has_prefix(word, "SM") || !is_number(word + 2, &sm) || sm >= script->machine->gpu.sms)
    return wanted("an SM of the machine, such as SM0", word);
  MemRequest request = {.sm = (uint32_t)sm};
  char *why = read_kind(next_word(words), &request);
  if (!why)
    why = read_place(script, next_word(words), &address);
  if (!why)
    why = read_options(script, words, &options);
  if (why)
    return why;
  uint32_t mask = options.mask;
  request.mask = mask;
  request.scheduler = (uint32_t)options.scheduler;
  for (uint32_t lane = 0; lane < 32; lane++) {
    request.address[lane] = mask >> lane & 1 ? address + lane % options.turn * options.step : 0;
    if (mask >> lane & 1 && (request.address[lane] % request.bytes ||
                             !backing_find(script->backing, request.address[lane], request.bytes)))
      return g_strdup_printf("lane %u has no aligned word of a buffer there", lane);
  }
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const BackingBuffer *buffer = backing_find(script->backing, request.address[__builtin_ctz(rest)], 1);
    request.host |= buffer->host;
  }
  script->at = at;
  submit(script, &request, options.warp);
  last_access(script)->name = g_strdup(options.name);
  return NULL;
}

static char *repeat(Script *script, Words *words) {
  uint64_t times;
  const char *word = next_word(words);
  if (!is_number(word, &times) || times < 2 || !script->accesses->len)
    return wanted("an access before, and a number from 2 on", word);
  MemRequest request = last_access(script)->request;
  uint64_t warp = last_access(script)->warp;
  while (--times)
    submit(script, &request, warp);
  return NULL;
}

/* ---- the other lines ---- */

static char *set_machine(Script *script, Words *words) {
  g_autofree char *settings = g_strjoinv(" ", words->word + words->at);
  if (script->backing->buffers->len || script->accesses->len)
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
  guint index = backing_add(script->backing, name, (uint32_t)count, NULL);
  if (words->word[words->at] && strcmp(words->word[words->at], "host") == 0)
    backing_buffer(script->backing, index)->host = next_word(words) != NULL;
  return NULL;
}

/* Serves all accesses so far, and looks at what was expected of them. Returns the first that came out otherwise, with
 * its line. */
static char *serve_all(Script *script, guint *line) {
  if (script->memsys)
    memsys_run(script->memsys, WHEEL_NEVER);
  char *found = NULL;
  for (guint i = 0; i < script->expected->len && !found; i++) {
    const Expectation *e = &g_array_index(script->expected, Expectation, i);
    uint64_t is = *(const uint64_t *)((const char *)e->access + moments[e->what].offset);
    *line = e->line;
    if (!e->access->replied || e->access->done != e->access->request.mask)
      found = g_strdup("the access isn't served");
    else if (is != e->cycle)
      found =
          g_strdup_printf("%s is %" G_GUINT64_FORMAT ", not %" G_GUINT64_FORMAT, moments[e->what].name, is, e->cycle);
  }
  if (!found && script->failed_order)
    found = g_strdup("accesses were performed out of order, or twice");
  g_array_set_size(script->expected, 0);
  return found;
}

static const Access *find_access(const Script *script, const char *name) {
  for (guint i = script->accesses->len; i-- > 0;) {
    const Access *access = g_ptr_array_index(script->accesses, i);
    if (g_strcmp0(access->name, name) == 0)
      return access;
  }
  return NULL;
}

/* The place of that word in `moments`, or their number. */
static guint find_moment(const char *word) {
  guint i = 0;
  while (i < G_N_ELEMENTS(moments) && g_strcmp0(word, moments[i].name) != 0)
    i++;
  return i;
}

/* ---- what the units have counted ---- */

typedef struct StatsField {
  const char *name;
  size_t offset;
} StatsField;

#define FIELD(type, member) \
  { #member, offsetof(type, member) }
static const StatsField slice_fields[] = {
    FIELD(SliceStats, arrived),     FIELD(SliceStats, crossed),  FIELD(SliceStats, loads),
    FIELD(SliceStats, stores),      FIELD(SliceStats, atomics),  FIELD(SliceStats, operations),
    FIELD(SliceStats, hits),        FIELD(SliceStats, misses),   FIELD(SliceStats, pending),
    FIELD(SliceStats, full),        FIELD(SliceStats, waited),   FIELD(SliceStats, busy),
    FIELD(SliceStats, atomic_busy), FIELD(SliceStats, hostages), FIELD(SliceStats, hostage),
    FIELD(SliceStats, in.messages), FIELD(SliceStats, in.bytes), FIELD(SliceStats, out.messages),
    FIELD(SliceStats, out.bytes),
};
static const StatsField port_fields[] = {
    FIELD(PortStats, out.messages), FIELD(PortStats, out.bytes), FIELD(PortStats, in.messages),
    FIELD(PortStats, in.bytes),     FIELD(PortStats, stopped),
};
static const StatsField channel_fields[] = {
    FIELD(ChannelStats, read.bytes),
    FIELD(ChannelStats, written.bytes),
    FIELD(ChannelStats, rows),
    FIELD(ChannelStats, busy),
};

/* `FIELD NUMBER`, of what lies at `stats`. */
static char *expect_field(Words *words, const void *stats, const StatsField *fields, size_t count) {
  const char *name = next_word(words);
  uint64_t number, is;
  if (!is_number(next_word(words), &number))
    return wanted("a field and a number", name);
  for (size_t i = 0; i < count; i++) {
    if (g_strcmp0(fields[i].name, name) != 0)
      continue;
    memcpy(&is, (const char *)stats + fields[i].offset, sizeof is);
    return is == number ? NULL
                        : g_strdup_printf("%s is %" G_GUINT64_FORMAT ", not %" G_GUINT64_FORMAT, name, is, number);
  }
  return wanted("a field of mem_stats.h", name);
}

/* `slice 0 waited 25000`, `slice 0 peak 2`, `port 1 out.bytes 32`, `channel 0 rows 1` */
static char *expect_stats(Script *script, const char *what, uint64_t index, Words *words) {
  const MemStats *stats = memsys_stats(script->memsys);
  bool slice = strcmp(what, "slice") == 0, port = strcmp(what, "port") == 0;
  if (index >= (slice ? stats->slices : port ? stats->sms : stats->channels))
    return g_strdup_printf("there is no %s %" G_GUINT64_FORMAT, what, index);
  if (port)
    return expect_field(words, &stats->port[index], port_fields, G_N_ELEMENTS(port_fields));
  if (!slice)
    return expect_field(words, &stats->channel[index], channel_fields, G_N_ELEMENTS(channel_fields));
  uint64_t peak = stats->slice[index].peak;
  static const StatsField peak_field = {"peak", 0};
  const char *next = words->word[words->at];
  return next && strcmp(next, "peak") == 0
             ? expect_field(words, &peak, &peak_field, 1)
             : expect_field(words, &stats->slice[index], slice_fields, G_N_ELEMENTS(slice_fields));
}

/* All has been served: what the units have counted fits together. NULL: it does. */
static char *unbalanced(const Script *script) {
  if (!script->memsys)
    return NULL;
  const MemStats *stats = memsys_stats(script->memsys);
  uint64_t sent = 0, got = 0, bytes_in = 0, came = stats->host_out.messages, done = stats->host_in.messages;
  uint64_t bytes_back = stats->host_in.bytes, operations = 0, waiting = 0, looked_up = 0;
  for (uint32_t i = 0; i < stats->sms; i++) {
    sent += stats->port[i].out.messages;
    got += stats->port[i].in.messages;
    bytes_in += stats->port[i].in.bytes;
  }
  for (uint32_t i = 0; i < stats->slices; i++) {
    const SliceStats *slice = &stats->slice[i];
    came += slice->arrived;
    looked_up += slice->hits + slice->misses + slice->pending;
    done += slice->loads + slice->stores + slice->atomics;
    bytes_back += slice->out.bytes;
    operations += slice->operations;
    waiting += slice->waiting;
  }
  bool tags = !looked_up || looked_up == sent - stats->host_out.messages;
  bool atomics = stats->host_in.messages || operations == script->counters.global_atomics;
  return sent == got && sent == came && sent == done && bytes_in == bytes_back && atomics && tags && !waiting &&
                 stats->away.messages == stats->home.messages
             ? NULL
             : g_strdup("what the units have counted doesn't add up");
}

/* `reply 614`, `performed 312`, `goes-on 12`, `first reply 614`, `segments 3` */
static char *expect(Script *script, Words *words, guint line, guint *wrong) {
  const char *what = next_word(words), *value = next_word(words);
  const Access *access = script->accesses->len ? last_access(script) : NULL;
  guint moment = find_moment(what);
  if (moment == G_N_ELEMENTS(moments) && find_moment(value) < G_N_ELEMENTS(moments)) {
    access = find_access(script, what);
    if (!access)
      return g_strdup_printf("there is no access `%s`", what);
    moment = find_moment(value);
    what = value;
    value = next_word(words);
  }
  uint64_t number;
  if (!is_number(value, &number))
    return wanted("a number", value);
  if (moment < G_N_ELEMENTS(moments)) {
    if (!access)
      return wanted("an access before", what);
    Expectation expectation = {access, moment, number, line};
    g_array_append_val(script->expected, expectation);
    return NULL;
  }
  char *found = serve_all(script, wrong);
  if (found)
    return found;
  *wrong = line;
  if (strcmp(what, "slice") == 0 || strcmp(what, "port") == 0 || strcmp(what, "channel") == 0)
    return script->memsys ? expect_stats(script, what, number, words) : wanted("an access before", what);
  for (unsigned i = 0; i < COUNTER_COUNT; i++) {
    g_autofree char *global = g_strdup_printf("global_%s", what);
    if (strcmp(counter_info[i].name, what) != 0 && strcmp(counter_info[i].name, global) != 0)
      continue;
    uint64_t is = counter_value(&script->counters, i);
    return is == number ? NULL
                        : g_strdup_printf("%s is %" G_GUINT64_FORMAT ", not %" G_GUINT64_FORMAT, what, is, number);
  }
  return wanted("reply, performed, accesses, segments, atomics or another counter", what);
}

static char *set_seed(Script *script, Words *words) {
  const char *word = next_word(words);
  return is_number(word, &script->seed) ? NULL : wanted("a number", word);
}

static char *do_line(Script *script, const char *line, guint number, guint *wrong) {
  g_auto(GStrv) text = g_strsplit(line, "#", 2), parts = g_strsplit_set(text[0] ? text[0] : "", " \t", -1);
  Words words = {.word = parts};
  const char *first = next_word(&words);
  if (!first)
    return NULL;
  char *why = strcmp(first, "machine") == 0  ? set_machine(script, &words)
              : strcmp(first, "buffer") == 0 ? add_buffer(script, &words)
              : strcmp(first, "at") == 0     ? do_access(script, &words)
              : strcmp(first, "times") == 0  ? repeat(script, &words)
              : strcmp(first, "seed") == 0   ? set_seed(script, &words)
              : strcmp(first, "expect") == 0 ? expect(script, &words, number, wrong)
                                             : wanted("machine, seed, buffer, at, times or expect", first);
  const char *rest = why ? NULL : next_word(&words);
  return rest ? wanted("the end of the line", rest) : why;
}

static void free_access(gpointer data) {
  Access *access = data;
  g_free(access->name);
  g_free(access);
}

char *mem_script_run(const char *name, const char *text) {
  Script script = {.machine = lab_machine(""),
                   .backing = backing_new(),
                   .accesses = g_ptr_array_new_with_free_func(free_access),
                   .expected = g_array_new(FALSE, FALSE, sizeof(Expectation))};
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  char *found = NULL;
  for (guint i = 0; lines[i] && !found; i++) {
    guint line = i + 1;
    g_autofree char *why = do_line(&script, lines[i], i + 1, &line);
    if (why)
      found = g_strdup_printf("%s:%u: %s", name, line, why);
  }
  guint line = 0;
  g_autofree char *why = found ? NULL : serve_all(&script, &line);
  if (why)
    found = g_strdup_printf("%s:%u: %s", name, line, why);
  if (!found)
    found = unbalanced(&script);
  if (script.memsys)
    memsys_free(script.memsys);
  g_array_free(script.expected, TRUE);
  g_ptr_array_free(script.accesses, TRUE);
  backing_free(script.backing);
  machine_free(script.machine);
  return found;
}
