#include "sim/report/timeline_rates.h"

#include <string.h>

#include "sim/core/look.h"
#include "sim/core/slots.h"

enum { PERIOD = 64, SAMPLES_MAX = 1024, MILLI = 1000, PERCENT = 100 };

/* Numbers that only rise, at some times: a row has the cycle, and the numbers. */
typedef struct Sampler {
  GArray *rows;     /* uint64_t */
  uint64_t *latest; /* a row that comes last, if its cycle is later than that of the last one */
  guint width;      /* of a row */
  uint64_t period, next;
} Sampler;

/* How a number is shown: as it is, as a share of what the interval has (of issue slots, thousandths of a cycle), or
 * by the cycle. */
typedef enum { SHOW_COUNT, SHOW_SLOTS, SHOW_BUSY, SHOW_RATE } Show;

/* Numbers that stand one behind the other in a row, and are arguments of one counter. */
typedef struct Series {
  const char *name; /* behind the unit's */
  const char *const *args;
  guint count;
  Show show;
} Series;

static const char *const slot_args[] = {
    [STALL_LATENCY] = "latency", [STALL_MEMORY] = "memory", [STALL_BARRIER] = "barrier", [STALL_FENCE] = "fence",
    [STALL_PORT] = "port",       [STALL_EMPTY] = "no warp", [SLOTS_ISSUED] = "issued"};
static const char *const port_args[] = {"out", "in"};
static const char *const served_args[] = {"loads", "stores", "atomics", "lanes of atomics"};
static const char *const busy_args[] = {"slice", "atomic unit"};
static const char *const hostage_args[] = {"waiting"};
static const char *const link_args[] = {"DRAM read", "DRAM written", "to the other half",
                                        "back",      "to the host",  "from the host"};
#define SERIES(name, args, show) \
  { name, args, G_N_ELEMENTS(args), show }
static const Series sm_series[] = {SERIES("issue slots, %", slot_args, SHOW_SLOTS),
                                   SERIES("port, bytes a cycle", port_args, SHOW_RATE)};
static const Series slice_series[] = {
    SERIES("served", served_args, SHOW_COUNT), SERIES("busy, %", busy_args, SHOW_BUSY),
    SERIES("hostages, mean", hostage_args, SHOW_BUSY), SERIES("bytes a cycle", port_args, SHOW_RATE)};
static const Series link_series[] = {SERIES("links, bytes a cycle", link_args, SHOW_RATE)};
enum { SM_WIDTH = 1 + SLOTS_COUNT + 2, SLICE_WIDTH = 9, LINKS_WIDTH = 6 };

struct TimelineRates {
  TimelineFile *file;
  GPtrArray *sms; /* Sampler *, by SM; NULL where nothing was issued */
  Sampler *memory;
  MemForm form;
  uint32_t slices, process, schedulers; /* process: the memory's */
};

/* ---- samples ---- */

static Sampler *sampler_new(guint width) {
  Sampler *sampler = g_new0(Sampler, 1);
  sampler->rows = g_array_new(FALSE, FALSE, sizeof(uint64_t));
  sampler->width = width;
  sampler->period = PERIOD;
  sampler->latest = g_new0(uint64_t, width);
  return sampler;
}

static void sampler_free(gpointer data) {
  Sampler *sampler = data;
  if (sampler)
    g_array_unref(sampler->rows);
  g_free(sampler ? sampler->latest : NULL);
  g_free(sampler);
}

static const uint64_t *row_at(const Sampler *sampler, guint i) {
  return &g_array_index(sampler->rows, uint64_t, i * sampler->width);
}

static guint rows_of(const Sampler *sampler) { return sampler->rows->len / sampler->width; }

/* Every second row goes, and new ones come half as often. */
static void thin_out(Sampler *sampler) {
  guint kept = 0;
  for (guint i = 0; i < rows_of(sampler); i += 2, kept++)
    memmove(&g_array_index(sampler->rows, uint64_t, kept * sampler->width), row_at(sampler, i),
            sampler->width * sizeof(uint64_t));
  g_array_set_size(sampler->rows, kept * sampler->width);
  sampler->period *= 2;
}

/* A row for that cycle, which is to be filled; NULL: it isn't time for one. */
static uint64_t *sampler_row(Sampler *sampler, uint64_t cycle) {
  if (cycle < sampler->next)
    return NULL;
  if (rows_of(sampler) >= SAMPLES_MAX)
    thin_out(sampler);
  sampler->next = cycle - cycle % sampler->period + sampler->period;
  guint at = sampler->rows->len;
  g_array_set_size(sampler->rows, at + sampler->width);
  uint64_t *row = &g_array_index(sampler->rows, uint64_t, at);
  row[0] = cycle;
  return row + 1;
}

static void fill_sm(uint64_t *row, const Gpu *gpu, uint32_t index, uint64_t cycle) {
  slots_read(gpu, index, cycle, row);
  const PortStats *port = &look_memory(gpu)->port[index];
  row[SLOTS_COUNT] = port->out.bytes;
  row[SLOTS_COUNT + 1] = port->in.bytes;
}

static void fill_memory(uint64_t *row, const MemStats *stats) {
  for (uint32_t i = 0; i < stats->slices; i++) {
    const SliceStats *slice = &stats->slice[i];
    const uint64_t numbers[SLICE_WIDTH] = {slice->loads,      slice->stores,    slice->atomics,
                                           slice->operations, slice->busy,      slice->atomic_busy,
                                           slice->hostage,    slice->out.bytes, slice->in.bytes};
    memcpy(row + i * SLICE_WIDTH, numbers, sizeof numbers);
  }
  uint64_t *links = row + stats->slices * SLICE_WIDTH;
  links[0] = links[1] = 0;
  for (uint32_t i = 0; i < stats->channels; i++) {
    links[0] += stats->channel[i].read.bytes;
    links[1] += stats->channel[i].written.bytes;
  }
  links[2] = stats->away.bytes;
  links[3] = stats->home.bytes;
  links[4] = stats->host_out.bytes;
  links[5] = stats->host_in.bytes;
}

static Sampler *sampler_of(TimelineRates *rates, uint32_t sm) {
  if (rates->sms->len <= sm)
    g_ptr_array_set_size(rates->sms, (gint)sm + 1);
  gpointer *sampler = &g_ptr_array_index(rates->sms, sm);
  if (!*sampler)
    *sampler = sampler_new(SM_WIDTH);
  return *sampler;
}

static void begin(TimelineRates *rates, const Gpu *gpu) {
  const MemStats *stats = look_memory(gpu);
  rates->form = stats->form;
  rates->slices = stats->slices;
  rates->process = gpu->machine->gpu.sms;
  rates->schedulers = gpu->machine->sm.schedulers;
  rates->memory = sampler_new(1 + stats->slices * SLICE_WIDTH + LINKS_WIDTH);
}

void timeline_rates_issued(TimelineRates *rates, const Gpu *gpu, const Sm *sm, uint64_t cycle) {
  if (!rates->memory)
    begin(rates, gpu);
  uint64_t *row = sampler_row(sampler_of(rates, sm->index), cycle);
  if (row)
    fill_sm(row, gpu, sm->index, cycle);
  row = sampler_row(rates->memory, cycle);
  if (row)
    fill_memory(row, look_memory(gpu));
}

void timeline_rates_performed(TimelineRates *rates, const Gpu *gpu, uint64_t cycle) {
  if (!rates->memory)
    begin(rates, gpu);
  rates->memory->latest[0] = cycle;
  fill_memory(rates->memory->latest + 1, look_memory(gpu));
}

void timeline_rates_ended(TimelineRates *rates, const Gpu *gpu, const Sm *sm, uint64_t cycle) {
  Sampler *sampler = sampler_of(rates, sm->index);
  sampler->latest[0] = cycle;
  fill_sm(sampler->latest + 1, gpu, sm->index, cycle);
}

/* ---- life ---- */

TimelineRates *timeline_rates_new(TimelineFile *file) {
  TimelineRates *rates = g_new0(TimelineRates, 1);
  rates->file = file;
  rates->sms = g_ptr_array_new_with_free_func(sampler_free);
  return rates;
}

void timeline_rates_restart(TimelineRates *rates) {
  g_ptr_array_set_size(rates->sms, 0);
  g_clear_pointer(&rates->memory, sampler_free);
}

void timeline_rates_free(TimelineRates *rates) {
  timeline_rates_restart(rates);
  g_ptr_array_unref(rates->sms);
  g_free(rates);
}

/* ---- writing ---- */

static void end_sampler(Sampler *sampler) {
  guint count = rows_of(sampler);
  if (!count || sampler->latest[0] > row_at(sampler, count - 1)[0])
    g_array_append_vals(sampler->rows, sampler->latest, sampler->width);
}

/* Thousandths of what is shown. */
static uint64_t shown(const TimelineRates *rates, Show show, uint64_t number, uint64_t cycles) {
  switch (show) {
  case SHOW_SLOTS: return number * PERCENT * MILLI / (cycles * rates->schedulers);
  case SHOW_BUSY: return number / cycles;
  case SHOW_RATE: return number * MILLI / cycles;
  default: return number * MILLI;
  }
}

/* Where a number fell, which a slot that is counted ahead can, it counts as 0. */
static uint64_t rise(const uint64_t *from, const uint64_t *to, guint i) {
  return to[i] > from[i] ? to[i] - from[i] : 0;
}

static bool any_rises(const uint64_t *from, const uint64_t *to, guint count) {
  for (guint i = 0; i < count; i++)
    if (rise(from, to, i))
      return true;
  return false;
}

static void write_counter(const TimelineRates *rates, uint32_t process, const char *unit, const Series *series,
                          const uint64_t *from, const uint64_t *to, guint at) {
  uint64_t cycles = to ? to[0] - from[0] : 1;
  if (!timeline_file_takes(rates->file, 1))
    return;
  g_autofree char *name = g_strconcat(unit, series->name, NULL);
  JsonBuilder *event = timeline_file_begin("C", process);
  timeline_file_add_number(event, "ts", from[0]);
  timeline_file_add_text(event, "name", name);
  timeline_file_begin_args(event);
  for (guint i = 0; i < series->count; i++)
    timeline_file_add_milli(event, series->args[i],
                            to ? shown(rates, series->show, rise(from + at, to + at, i), cycles) : 0);
  timeline_file_end(rates->file, event);
}

/* One series of all intervals. What is 0 throughout is left out, and so is what stays 0. */
static void write_series(const TimelineRates *rates, const Sampler *sampler, uint32_t process, const char *unit,
                         const Series *series, guint at) {
  bool was = false;
  guint count = rows_of(sampler);
  for (guint i = 0; i + 1 < count; i++) {
    const uint64_t *from = row_at(sampler, i), *to = row_at(sampler, i + 1);
    bool is = any_rises(from + at, to + at, series->count);
    if (is || was)
      write_counter(rates, process, unit, series, from, is ? to : NULL, at);
    was = is;
  }
  if (was)
    write_counter(rates, process, unit, series, row_at(sampler, count - 1), NULL, at);
}

static void write_all(const TimelineRates *rates, const Sampler *sampler, uint32_t process, const char *unit,
                      const Series *series, guint count, guint at) {
  for (guint i = 0; i < count; at += series[i++].count)
    write_series(rates, sampler, process, unit, &series[i], at);
}

void timeline_rates_end(TimelineRates *rates) {
  static const char *const units[] = {
      [MEM_IS_SERVER] = "server", [MEM_IS_PARTITIONS] = "partition", [MEM_IS_L2] = "slice"};
  for (guint i = 0; i < rates->sms->len; i++) {
    Sampler *sampler = g_ptr_array_index(rates->sms, i);
    if (!sampler)
      continue;
    end_sampler(sampler);
    write_all(rates, sampler, i, "", sm_series, G_N_ELEMENTS(sm_series), 1);
  }
  if (!rates->memory)
    return;
  end_sampler(rates->memory);
  for (uint32_t i = 0; i < rates->slices; i++) {
    g_autofree char *unit = g_strdup_printf("%s %u, ", units[rates->form], i);
    write_all(rates, rates->memory, rates->process, unit, slice_series, G_N_ELEMENTS(slice_series),
              1 + i * SLICE_WIDTH);
  }
  write_all(rates, rates->memory, rates->process, "", link_series, G_N_ELEMENTS(link_series),
            1 + rates->slices * SLICE_WIDTH);
}
