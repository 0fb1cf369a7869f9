#include "sim/study/details.h"

#include "sim/core/look.h"
#include "sim/core/slots.h"
#include "sim/detect/naming/locate.h"

const DetailsTableInfo details_table_info[DETAILS_TABLES] = {
#define TABLE(id, key, doc) {#id, key, doc},
#define COLUMN(table, name, unit, doc)
#include "sim/study/details.def"
};

const DetailsColumnInfo details_column_info[DETAILS_COLUMNS] = {
#define TABLE(id, key, doc)
#define COLUMN(table, name, unit, doc) {DETAILS_##table, #name, unit, doc},
#include "sim/study/details.def"
};

DetailsColumn details_first(DetailsTable table) {
  DetailsColumn column = 0;
  while (column < DETAILS_COLUMNS && details_column_info[column].table != table)
    column++;
  return column;
}

DetailsColumn details_end(DetailsTable table) {
  DetailsColumn column = details_first(table);
  while (column < DETAILS_COLUMNS && details_column_info[column].table == table)
    column++;
  return column;
}

const DetailValue *details_value(const DetailRow *row, DetailsColumn column) {
  return &row->value[column - details_first(details_column_info[column].table)];
}

/* ---- rows ---- */

static void free_row(gpointer data) {
  DetailRow *row = data;
  g_free(row->key);
  g_free(row->value);
  g_free(row);
}

/* Takes ownership of `key`. */
static DetailRow *add_row(RunDetails *details, DetailsTable table, char *key) {
  DetailRow *row = g_new(DetailRow, 1);
  *row = (DetailRow){key, g_new0(DetailValue, details_end(table) - details_first(table))};
  g_ptr_array_add(details->table[table], row);
  return row;
}

static DetailRow *add_numbered(RunDetails *details, DetailsTable table, uint32_t number) {
  return add_row(details, table, g_strdup_printf("%u", number));
}

static void put(DetailRow *row, DetailsColumn column, uint64_t number) {
  *(DetailValue *)details_value(row, column) = (DetailValue){.kind = DETAIL_INTEGER, .integer = number};
}

static void put_real(DetailRow *row, DetailsColumn column, double number) {
  *(DetailValue *)details_value(row, column) = (DetailValue){.kind = DETAIL_REAL, .real = number};
}

/* Takes ownership of `text`. */
static void put_text(DetailRow *row, DetailsColumn column, char *text) {
  *(DetailValue *)details_value(row, column) = (DetailValue){.kind = DETAIL_TEXT, .text = text};
}

static void put_rank(DetailRow *row, DetailsColumn column, guint rank) {
  if (rank)
    put(row, column, rank);
}

/* Of thousandths of a cycle. Turns that were given beyond the end of a run that was cut off don't count. */
static double share(const RunDetails *details, uint64_t milli) {
  return details->cycles ? MIN((double)milli / MILLI_CYCLE / (double)details->cycles, 1.0) : 0;
}

/* ---- units ---- */

static void add_sm(RunDetails *details, const Gpu *gpu, uint32_t index) {
  const PortStats *port = &look_memory(gpu)->port[index];
  DetailRow *row = add_numbered(details, DETAILS_sms, index);
  uint64_t slots[SLOTS_COUNT];
  slots_read(gpu, index, details->cycles, slots);
  put(row, DETAILS_sms_slots, details->schedulers * details->cycles);
  put(row, DETAILS_sms_issued, slots[SLOTS_ISSUED]);
  put(row, DETAILS_sms_latency, slots[STALL_LATENCY]);
  put(row, DETAILS_sms_memory, slots[STALL_MEMORY]);
  put(row, DETAILS_sms_barrier, slots[STALL_BARRIER]);
  put(row, DETAILS_sms_fence, slots[STALL_FENCE]);
  put(row, DETAILS_sms_port, slots[STALL_PORT]);
  put(row, DETAILS_sms_empty, slots[STALL_EMPTY]);
  put(row, DETAILS_sms_requests, port->out.messages);
  put(row, DETAILS_sms_bytes_out, port->out.bytes);
  put(row, DETAILS_sms_bytes_in, port->in.bytes);
  put(row, DETAILS_sms_stopped, port->stopped);
}

/* Parts that came to a slice. */
static uint64_t load_of(const SliceStats *slice) { return slice->arrived + slice->crossed; }

static void add_slice(RunDetails *details, const MemStats *stats, uint32_t index) {
  const SliceStats *slice = &stats->slice[index];
  DetailRow *row = add_numbered(details, DETAILS_slices, index);
  put(row, DETAILS_slices_requests, load_of(slice));
  put(row, DETAILS_slices_crossed, slice->crossed);
  put(row, DETAILS_slices_loads, slice->loads);
  put(row, DETAILS_slices_stores, slice->stores);
  put(row, DETAILS_slices_atomics, slice->atomics);
  put(row, DETAILS_slices_operations, slice->operations);
  put(row, DETAILS_slices_merged, slice->operations - slice->atomics);
  put(row, DETAILS_slices_hits, slice->hits);
  put(row, DETAILS_slices_misses, slice->misses);
  put(row, DETAILS_slices_pending, slice->pending);
  put(row, DETAILS_slices_full, slice->full);
  put_real(row, DETAILS_slices_queue_mean,
           details->cycles ? (double)slice->waited / MILLI_CYCLE / (double)details->cycles : 0);
  if (stats->form != MEM_IS_SERVER) {
    put(row, DETAILS_slices_queue_peak, slice->peak);
    put_real(row, DETAILS_slices_atomic_busy, share(details, slice->atomic_busy));
  }
  put_real(row, DETAILS_slices_busy, share(details, slice->busy));
  put(row, DETAILS_slices_hostages, slice->hostages);
  put(row, DETAILS_slices_hostage, slice->hostage / MILLI_CYCLE);
  put(row, DETAILS_slices_bytes_in, slice->in.bytes);
  put(row, DETAILS_slices_bytes_out, slice->out.bytes);
}

static void add_channel(RunDetails *details, const ChannelStats *channel, uint32_t index) {
  DetailRow *row = add_numbered(details, DETAILS_channels, index);
  put(row, DETAILS_channels_bytes_read, channel->read.bytes);
  put(row, DETAILS_channels_bytes_written, channel->written.bytes);
  put(row, DETAILS_channels_rows, channel->rows);
  put_real(row, DETAILS_channels_busy, share(details, channel->busy));
}

static void add_link(RunDetails *details, const char *name, LinkStats link) {
  DetailRow *row = add_row(details, DETAILS_links, g_strdup(name));
  put(row, DETAILS_links_messages, link.messages);
  put(row, DETAILS_links_bytes, link.bytes);
  put_real(row, DETAILS_links_bytes_per_cycle, details->cycles ? (double)link.bytes / (double)details->cycles : 0);
}

static void join(LinkStats *sum, LinkStats link) {
  sum->messages += link.messages;
  sum->bytes += link.bytes;
}

/* Only those that the machine has. */
static void add_links(RunDetails *details, const MemStats *stats, const Machine *machine) {
  static const char *const far[] = {
      [MEM_IS_SERVER] = "server", [MEM_IS_PARTITIONS] = "partition", [MEM_IS_L2] = "slice"};
  LinkStats out = {0}, in = {0}, to = {0}, from = {0}, read = {0}, written = {0};
  for (uint32_t i = 0; i < stats->sms; i++) {
    join(&out, stats->port[i].out);
    join(&in, stats->port[i].in);
  }
  for (uint32_t i = 0; i < stats->slices; i++) {
    join(&to, stats->slice[i].in);
    join(&from, stats->slice[i].out);
  }
  for (uint32_t i = 0; i < stats->channels; i++) {
    join(&read, stats->channel[i].read);
    join(&written, stats->channel[i].written);
  }
  g_autofree char *there = g_strdup_printf("crossbar to %s", far[stats->form]);
  g_autofree char *back = g_strdup_printf("%s to crossbar", far[stats->form]);
  g_autofree char *store = g_strdup_printf("%s to DRAM", far[stats->form]);
  g_autofree char *fetch = g_strdup_printf("DRAM to %s", far[stats->form]);
  add_link(details, "SM to crossbar", out);
  add_link(details, there, to);
  if (stats->channels) {
    add_link(details, store, written);
    add_link(details, fetch, read);
  }
  add_link(details, back, from);
  add_link(details, "crossbar to SM", in);
  if (machine->memory.l2.halves == 2) {
    add_link(details, "half to home half", stats->away);
    add_link(details, "home half to half", stats->home);
  }
  if (stats->host_out.messages) {
    add_link(details, "crossbar to host", stats->host_out);
    add_link(details, "host to crossbar", stats->host_in);
  }
}

/* ---- lines ---- */

static guint rank_of(const GPtrArray *top, const HotLine *line) {
  guint index;
  return g_ptr_array_find((GPtrArray *)top, line, &index) ? index + 1 : 0;
}

/* "state[3]"; "global address 0x1234" of the device heap. */
static char *word_name(const Gpu *gpu, uint64_t address) {
  const char *name;
  uint64_t word;
  if (look_buffer(gpu, address, &name, &word))
    return g_strdup_printf("%s[%" G_GUINT64_FORMAT "]", name, word);
  return g_strdup_printf("global address 0x%" G_GINT64_MODIFIER "x", address);
}

static void add_line(RunDetails *details, const Gpu *gpu, const HotLines *lines, const HotLine *line,
                     guint requests_rank, guint waiting_rank) {
  uint32_t asked, word = hot_lines_word(lines, line, &asked);
  const HotPlace *place = hot_lines_place(line);
  Finding *where = locate_finding(FINDING_DATA_RACE, g_strdup(""), place->launch, place->pc);
  DetailRow *row = add_row(details, DETAILS_lines, word_name(gpu, line->address + 4 * (uint64_t)word));
  put_text(row, DETAILS_lines_address, g_strdup_printf("0x%" G_GINT64_MODIFIER "x", line->address));
  put(row, DETAILS_lines_words, asked);
  put(row, DETAILS_lines_requests, line->requests);
  put(row, DETAILS_lines_loads, line->loads);
  put(row, DETAILS_lines_stores, line->stores);
  put(row, DETAILS_lines_atomics, line->atomics);
  put(row, DETAILS_lines_operations, line->operations);
  put(row, DETAILS_lines_waited, line->waited / MILLI_CYCLE);
  put(row, DETAILS_lines_hostage, line->hostage / MILLI_CYCLE);
  put_text(row, DETAILS_lines_file, g_strdup(where->file));
  put(row, DETAILS_lines_source_line, where->line);
  put_text(row, DETAILS_lines_source, locate_source(place->launch, place->pc));
  put(row, DETAILS_lines_asked, place->requests);
  put_rank(row, DETAILS_lines_requests_rank, requests_rank);
  put_rank(row, DETAILS_lines_waiting_rank, waiting_rank);
  finding_free(where);
}

/* Those with the most requests, then those of the longest waits that aren't among them. */
static void add_lines(RunDetails *details, const Gpu *gpu, const HotLines *lines) {
  g_autoptr(GPtrArray) requests = hot_lines_top(lines, DETAILS_HOTTEST, false);
  g_autoptr(GPtrArray) waits = hot_lines_top(lines, DETAILS_HOTTEST, true);
  for (guint i = 0; i < requests->len; i++) {
    const HotLine *line = g_ptr_array_index(requests, i);
    add_line(details, gpu, lines, line, i + 1, rank_of(waits, line));
  }
  for (guint i = 0; i < waits->len; i++) {
    const HotLine *line = g_ptr_array_index(waits, i);
    if (!rank_of(requests, line))
      add_line(details, gpu, lines, line, 0, i + 1);
  }
}

/* ---- locks ---- */

static void put_mean(DetailRow *row, DetailsColumn column, uint64_t milli, uint64_t count) {
  if (count)
    put_real(row, column, (double)milli / MILLI_CYCLE / (double)count);
}

/* Takes ownership of `key`. */
static void add_lock(RunDetails *details, char *key, const LockSums *sums) {
  DetailRow *row = add_row(details, DETAILS_locks, key);
  put(row, DETAILS_locks_taken, sums->taken);
  put(row, DETAILS_locks_failed, sums->failed);
  put_mean(row, DETAILS_locks_held, sums->held, sums->freed);
  put(row, DETAILS_locks_handovers, sums->handovers);
  put_mean(row, DETAILS_locks_from_fence, sums->transfer[TRANSFER_FROM_FENCE], sums->handovers);
  put_mean(row, DETAILS_locks_from_unlock, sums->transfer[TRANSFER_FROM_UNLOCK], sums->handovers);
  put_mean(row, DETAILS_locks_from_port, sums->transfer[TRANSFER_FROM_PORT], sums->handovers);
  put_mean(row, DETAILS_locks_at_l2, sums->transfer[TRANSFER_AT_L2], sums->handovers);
}

static void add_locks(RunDetails *details, const Gpu *gpu, const LockTimes *times) {
  LockSums all = lock_times_all(times);
  if (!all.taken)
    return;
  add_lock(details, g_strdup(DETAILS_ALL_LOCKS), &all);
  g_autoptr(GPtrArray) top = lock_times_top(times, DETAILS_HOTTEST);
  for (guint i = 0; i < top->len; i++) {
    const LockTime *lock = g_ptr_array_index(top, i);
    add_lock(details, word_name(gpu, lock->address), &lock->sums);
  }
}

/* ---- all ---- */

static void warn_of_load(RunDetails *details, const MemStats *stats) {
  uint64_t all = 0;
  uint32_t most = 0;
  for (uint32_t i = 0; i < stats->slices; i++) {
    all += load_of(&stats->slice[i]);
    if (load_of(&stats->slice[i]) > load_of(&stats->slice[most]))
      most = i;
  }
  uint64_t load = load_of(&stats->slice[most]);
  if (load < DETAILS_WARN_PARTS || load * stats->slices <= DETAILS_WARN_TIMES * all)
    return;
  g_ptr_array_add(details->warnings, g_strdup_printf("%s %u has %.1f times the mean load: %" G_GUINT64_FORMAT
                                                     " of %" G_GUINT64_FORMAT " requests",
                                                     stats->form == MEM_IS_L2 ? "slice" : "partition", most,
                                                     (double)load * stats->slices / (double)all, load, all));
}

RunDetails *details_new(const Gpu *gpu, const HotLines *lines, const LockTimes *locks, uint64_t cycles) {
  const MemStats *stats = look_memory(gpu);
  RunDetails *details = g_new0(RunDetails, 1);
  *details = (RunDetails){.form = stats->form,
                          .cycles = cycles,
                          .schedulers = gpu->machine->sm.schedulers,
                          .warnings = g_ptr_array_new_with_free_func(g_free)};
  for (unsigned table = 0; table < DETAILS_TABLES; table++)
    details->table[table] = g_ptr_array_new_with_free_func(free_row);
  for (uint32_t i = 0; i < stats->sms; i++)
    add_sm(details, gpu, i);
  for (uint32_t i = 0; i < stats->slices; i++)
    add_slice(details, stats, i);
  for (uint32_t i = 0; i < stats->channels; i++)
    add_channel(details, &stats->channel[i], i);
  add_links(details, stats, gpu->machine);
  add_lines(details, gpu, lines);
  add_locks(details, gpu, locks);
  warn_of_load(details, stats);
  return details;
}

void details_free(RunDetails *details) {
  if (!details)
    return;
  for (unsigned table = 0; table < DETAILS_TABLES; table++) {
    guint columns = details_end(table) - details_first(table);
    for (guint i = 0; i < details->table[table]->len; i++)
      for (guint column = 0; column < columns; column++)
        g_free(((DetailRow *)g_ptr_array_index(details->table[table], i))->value[column].text);
    g_ptr_array_unref(details->table[table]);
  }
  g_ptr_array_unref(details->warnings);
  g_free(details);
}
