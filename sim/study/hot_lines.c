#include "sim/study/hot_lines.h"

struct HotLines {
  Probe probe;
  uint32_t words;    /* of a line */
  GHashTable *lines; /* HotLine * by its address */
};

static void free_line(gpointer data) {
  HotLine *line = data;
  g_array_free(line->places, TRUE);
  g_free(line);
}

static HotLine *line_of(HotLines *lines, uint64_t address) {
  HotLine *line = g_hash_table_lookup(lines->lines, &address);
  if (line || g_hash_table_size(lines->lines) == HOT_LINES_MAX)
    return line;
  line = g_malloc0(sizeof(HotLine) + lines->words * sizeof line->asks[0]);
  line->address = address;
  line->places = g_array_new(FALSE, FALSE, sizeof(HotPlace));
  g_hash_table_insert(lines->lines, &line->address, line);
  return line;
}

static void count_place(HotLine *line, const Launch *launch, uint32_t pc) {
  for (guint i = 0; i < line->places->len; i++) {
    HotPlace *place = &g_array_index(line->places, HotPlace, i);
    if (place->launch == launch && place->pc == pc) {
      place->requests++;
      return;
    }
  }
  HotPlace place = {launch, pc, 1};
  g_array_append_val(line->places, place);
}

static void count_words(const HotLines *lines, HotLine *line, const MemTrace *trace) {
  const MemRequest *request = trace->request;
  for (uint32_t rest = trace->lanes; rest; rest &= rest - 1) {
    uint64_t word = (request->address[__builtin_ctz(rest)] - line->address) / 4;
    for (uint32_t i = 0; i < MAX(request->bytes / 4, 1u) && word + i < lines->words; i++)
      line->asks[word + i]++;
  }
}

static uint64_t waited(const MemTrace *trace, TraceStep from, TraceStep to) {
  return trace->step[to] > trace->step[from] ? trace->step[to] - trace->step[from] : 0;
}

static void part(void *user, const ProbePart *part) {
  HotLines *lines = user;
  const MemTrace *trace = part->trace;
  HotLine *line = line_of(lines, trace->address);
  if (!line)
    return;
  uint64_t turn = waited(trace, TRACE_ENTERED, TRACE_TURN);
  line->requests++;
  line->waited += turn + (trace->step[TRACE_CROSSED]
                              ? waited(trace, TRACE_ARRIVED, TRACE_CROSSED) + waited(trace, TRACE_HOME, TRACE_SERVED)
                              : waited(trace, TRACE_ARRIVED, TRACE_SERVED));
  switch (trace->request->kind) {
  case MEM_LOAD: line->loads++; break;
  case MEM_STORE: line->stores++; break;
  case MEM_ATOMIC:
    line->atomics++;
    line->operations += (uint64_t)__builtin_popcount(trace->lanes);
    break;
  }
  if (trace->request->kind != MEM_ATOMIC)
    line->hostage += turn;
  count_words(lines, line, trace);
  count_place(line, part->launch, part->pc);
}

HotLines *hot_lines_new(const Machine *machine) {
  HotLines *lines = g_new0(HotLines, 1);
  lines->words = (machine->memory.slices ? machine->memory.l2.line : machine->memory.segment) / 4;
  lines->lines = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, free_line);
  lines->probe = (Probe){.user = lines, .part = part};
  return lines;
}

void hot_lines_free(HotLines *lines) {
  if (!lines)
    return;
  g_hash_table_destroy(lines->lines);
  g_free(lines);
}

Probe *hot_lines_probe(HotLines *lines) { return &lines->probe; }

/* The hotter first; of equal ones the lower address. */
static gint compare(uint64_t a, uint64_t b, const HotLine *first, const HotLine *second) {
  if (a != b)
    return a > b ? -1 : 1;
  return first->address < second->address ? -1 : 1;
}

static gint by_requests(gconstpointer a, gconstpointer b) {
  const HotLine *first = *(HotLine *const *)a, *second = *(HotLine *const *)b;
  return compare(first->requests, second->requests, first, second);
}

static gint by_waits(gconstpointer a, gconstpointer b) {
  const HotLine *first = *(HotLine *const *)a, *second = *(HotLine *const *)b;
  return compare(first->waited, second->waited, first, second);
}

GPtrArray *hot_lines_top(const HotLines *lines, guint count, bool by_waiting) {
  GPtrArray *all = g_ptr_array_new();
  GHashTableIter iter;
  gpointer line;
  g_hash_table_iter_init(&iter, lines->lines);
  while (g_hash_table_iter_next(&iter, NULL, &line))
    if (!by_waiting || ((const HotLine *)line)->waited)
      g_ptr_array_add(all, line);
  g_ptr_array_sort(all, by_waiting ? by_waits : by_requests);
  if (all->len > count)
    g_ptr_array_set_size(all, (gint)count);
  return all;
}

uint32_t hot_lines_word(const HotLines *lines, const HotLine *line, uint32_t *asked) {
  uint32_t best = 0;
  *asked = 0;
  for (uint32_t word = 0; word < lines->words; word++) {
    *asked += line->asks[word] != 0;
    if (line->asks[word] > line->asks[best])
      best = word;
  }
  return best;
}

const HotPlace *hot_lines_place(const HotLine *line) {
  const HotPlace *best = &g_array_index(line->places, HotPlace, 0);
  for (guint i = 1; i < line->places->len; i++) {
    const HotPlace *place = &g_array_index(line->places, HotPlace, i);
    bool earlier =
        place->launch->index < best->launch->index || (place->launch == best->launch && place->pc < best->pc);
    if (place->requests > best->requests || (place->requests == best->requests && earlier))
      best = place;
  }
  return best;
}
