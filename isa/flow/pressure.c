#include "isa/flow/pressure.h"

#include <string.h>

/* A value of the stretch: what one row of a register holds from one write to the next. */
typedef struct Value {
  uint32_t reads, left; /* instructions that read it, and those that haven't been issued */
  bool stays;           /* it is wanted behind the stretch, or was never written */
} Value;

/* What an instruction does: values from `from` on, of Pressure.touched, first those that it reads. */
typedef struct Touches {
  guint from;
  unsigned reads, writes;
} Touches;

struct Pressure {
  LiveRanges ranges;
  uint16_t *rows;     /* in use before each instruction, as they are */
  uint32_t *stamp_of; /* of each unit: the last stretch that touches it */
  uint32_t *value_of; /* its value there, so far */
  uint32_t *span_of;  /* the span of each unit that was looked at last: stretches come in their order */
  uint32_t stamp;
  unsigned peak, now, start;
  GArray *values;  /* Value */
  GArray *touched; /* uint32_t: values */
  GArray *touches; /* Touches, of each instruction of the stretch */
};

static void count_rows(Pressure *pressure, const VKernel *vkernel) {
  uint32_t n = vkernel->insts->len, registers = pressure->ranges.unit_of_reg[vkernel->rows->len];
  g_autofree int32_t *change = g_new0(int32_t, n + 2);
  int32_t rows = 0;
  for (uint32_t s = 0; s < pressure->ranges.start[registers]; s++) {
    Span span = g_array_index(pressure->ranges.spans, Span, s); /* holds a value at 2i if from <= 2i < to */
    change[(span.from + 1) / 2]++;
    change[MIN((span.to + 1) / 2, n + 1)]--;
  }
  pressure->rows = g_new(uint16_t, n + 1);
  for (uint32_t i = 0; i <= n; i++) {
    rows += change[i];
    pressure->rows[i] = (uint16_t)MIN(rows, UINT16_MAX);
    pressure->peak = MAX(pressure->peak, pressure->rows[i]);
  }
}

Pressure *pressure_new(const VKernel *vkernel) {
  Pressure *pressure = g_new0(Pressure, 1);
  Flow flow;
  vkernel_flow(vkernel, &flow);
  bool ok = live_ranges_init(&pressure->ranges, vkernel, &flow);
  flow_clear(&flow);
  pressure->values = g_array_new(FALSE, FALSE, sizeof(Value));
  pressure->touched = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  pressure->touches = g_array_new(FALSE, FALSE, sizeof(Touches));
  if (!ok) {
    pressure_free(pressure);
    return NULL;
  }
  count_rows(pressure, vkernel);
  uint32_t units = pressure->ranges.nunits + 1;
  pressure->stamp_of = g_new0(uint32_t, units);
  pressure->value_of = g_new(uint32_t, units);
  pressure->span_of = g_new(uint32_t, units);
  memcpy(pressure->span_of, pressure->ranges.start, units * sizeof *pressure->span_of);
  return pressure;
}

void pressure_free(Pressure *pressure) {
  if (!pressure)
    return;
  live_ranges_clear(&pressure->ranges);
  g_free(pressure->rows);
  g_free(pressure->stamp_of);
  g_free(pressure->value_of);
  g_free(pressure->span_of);
  g_array_unref(pressure->values);
  g_array_unref(pressure->touched);
  g_array_unref(pressure->touches);
  g_free(pressure);
}

unsigned pressure_peak(const Pressure *pressure) { return pressure->peak; }
unsigned pressure_now(const Pressure *pressure) { return pressure->now; }

/* ---- a stretch ---- */

static Value *value_at(const Pressure *pressure, uint32_t value) {
  return &g_array_index(pressure->values, Value, value);
}

/* The unit's span that ends at that position or behind it, or NULL; positions never go back. */
static const Span *span_at(Pressure *pressure, uint32_t unit, uint32_t position) {
  uint32_t *span = &pressure->span_of[unit], spans = pressure->ranges.start[unit + 1];
  while (*span < spans && g_array_index(pressure->ranges.spans, Span, *span).to < position)
    (*span)++;
  return *span < spans ? &g_array_index(pressure->ranges.spans, Span, *span) : NULL;
}

/* Whether the unit holds a value before instruction `first`. */
static bool is_held_before(Pressure *pressure, uint32_t unit, uint32_t first) {
  const Span *span = span_at(pressure, unit, 2 * first);
  return span && span->from <= 2 * first && span->to > 2 * first;
}

/* Whether it holds one behind the instruction before `end`, there or where that branches to. */
static bool is_held_behind(Pressure *pressure, uint32_t unit, uint32_t end) {
  const Span *span = span_at(pressure, unit, 2 * end);
  return span && span->from < 2 * end;
}

/* The unit has a new value. */
static uint32_t begin_value(Pressure *pressure, uint32_t unit) {
  Value value = {0};
  pressure->stamp_of[unit] = pressure->stamp;
  pressure->value_of[unit] = pressure->values->len;
  g_array_append_val(pressure->values, value);
  return pressure->value_of[unit];
}

/* What the unit has before the stretch; nothing that anybody wrote frees no row. */
static uint32_t found_value(Pressure *pressure, uint32_t unit, uint32_t first) {
  uint32_t value = begin_value(pressure, unit);
  value_at(pressure, value)->stays = !is_held_before(pressure, unit, first);
  return value;
}

static void note(Pressure *pressure, unsigned *count, uint32_t value) {
  g_array_append_val(pressure->touched, value);
  (*count)++;
}

static void note_reads(Pressure *pressure, const VInst *vinst, uint32_t first, Touches *touches) {
  VRegUse uses[8];
  unsigned count = vinst_reads(vinst, uses);
  for (unsigned u = 0; u < count; u++)
    for (unsigned row = 0; row < uses[u].rows; row++) {
      uint32_t unit = pressure->ranges.unit_of_reg[uses[u].reg] + uses[u].row + row;
      bool known = pressure->stamp_of[unit] == pressure->stamp;
      uint32_t value = known ? pressure->value_of[unit] : found_value(pressure, unit, first);
      value_at(pressure, value)->reads++;
      note(pressure, &touches->reads, value);
    }
}

/* A write under a guard goes on with the value that is there, if there is one in the stretch. */
static void note_writes(Pressure *pressure, const VInst *vinst, Touches *touches) {
  VRegUse uses[8];
  unsigned count = vinst_writes(vinst, uses);
  bool some = vinst_is_guarded(vinst) && !vinst->own;
  for (unsigned u = 0; u < count; u++)
    for (unsigned row = 0; row < uses[u].rows; row++) {
      uint32_t unit = pressure->ranges.unit_of_reg[uses[u].reg] + uses[u].row + row;
      if (some && pressure->stamp_of[unit] == pressure->stamp) {
        value_at(pressure, pressure->value_of[unit])->reads++;
        note(pressure, &touches->reads, pressure->value_of[unit]);
      } else {
        note(pressure, &touches->writes, begin_value(pressure, unit));
      }
    }
}

/* The last value of each unit that is wanted behind the stretch. */
static void find_staying(Pressure *pressure, const VKernel *vkernel, guint first, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    const VInst *vinst = &g_array_index(vkernel->insts, VInst, first + i);
    VRegUse uses[16];
    unsigned n = vinst_reads(vinst, uses);
    n += vinst_writes(vinst, uses + n);
    for (unsigned u = 0; u < n; u++)
      for (unsigned row = 0; row < uses[u].rows; row++) {
        uint32_t unit = pressure->ranges.unit_of_reg[uses[u].reg] + uses[u].row + row;
        value_at(pressure, pressure->value_of[unit])->stays |= is_held_behind(pressure, unit, first + count);
      }
  }
}

void pressure_begin(Pressure *pressure, const VKernel *vkernel, guint first, unsigned count) {
  pressure->stamp++;
  g_array_set_size(pressure->values, 0);
  g_array_set_size(pressure->touched, 0);
  g_array_set_size(pressure->touches, 0);
  for (unsigned i = 0; i < count; i++) {
    const VInst *vinst = &g_array_index(vkernel->insts, VInst, first + i);
    Touches touches = {.from = pressure->touched->len};
    note_reads(pressure, vinst, first, &touches);
    note_writes(pressure, vinst, &touches);
    g_array_append_val(pressure->touches, touches);
  }
  find_staying(pressure, vkernel, first, count);
  pressure->start = pressure->rows[first];
  pressure_restart(pressure);
}

void pressure_restart(Pressure *pressure) {
  pressure->now = pressure->start;
  for (guint v = 0; v < pressure->values->len; v++)
    value_at(pressure, v)->left = value_at(pressure, v)->reads;
}

/* ---- one by one ---- */

/* How often the instruction reads the value: a sum of one register with itself reads it twice. */
static unsigned reads_of(const Pressure *pressure, const Touches *touches, uint32_t value) {
  unsigned count = 0;
  for (unsigned r = 0; r < touches->reads; r++)
    count += g_array_index(pressure->touched, uint32_t, touches->from + r) == value;
  return count;
}

int pressure_change(const Pressure *pressure, unsigned number) {
  const Touches *touches = &g_array_index(pressure->touches, Touches, number);
  int change = 0;
  for (unsigned r = 0; r < touches->reads; r++) {
    uint32_t v = g_array_index(pressure->touched, uint32_t, touches->from + r);
    const Value *value = value_at(pressure, v);
    bool first = true;
    for (unsigned before = 0; before < r; before++)
      first &= g_array_index(pressure->touched, uint32_t, touches->from + before) != v;
    change -= first && !value->stays && value->left == reads_of(pressure, touches, v);
  }
  for (unsigned w = 0; w < touches->writes; w++) {
    const Value *value =
        value_at(pressure, g_array_index(pressure->touched, uint32_t, touches->from + touches->reads + w));
    change += value->reads > 0 || value->stays;
  }
  return change;
}

void pressure_issue(Pressure *pressure, unsigned number) {
  const Touches *touches = &g_array_index(pressure->touches, Touches, number);
  pressure->now = (unsigned)((int)pressure->now + pressure_change(pressure, number));
  for (unsigned r = 0; r < touches->reads; r++)
    value_at(pressure, g_array_index(pressure->touched, uint32_t, touches->from + r))->left--;
}
