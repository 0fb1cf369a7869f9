#include "sim/study/place_log.h"

#include "base/bits.h"
#include "sim/core/hold_once.h"

enum { WARPS_LOGGED = 8, PLACES_MAX = 4096 };

/* A warp of a launch at an instruction. */
typedef struct Place {
  gint64 key;
  uint32_t first, second; /* numbers; 0: none */
  uint32_t times;
} Place;

struct PlaceLog {
  Probe probe;
  GPtrArray *places; /* Place *, in the order in which they were come by */
  GHashTable *known; /* Place.key -> Place, borrowed */
  GHashTable *warps; /* launch and instruction -> how many warps have places there */
};

static gint64 key_of(const Launch *launch, uint32_t pc, uint64_t warp) {
  return (gint64)((uint64_t)launch->index << 56 ^ (uint64_t)pc << 32 ^ warp);
}

static bool has_room(PlaceLog *log, const Launch *launch, uint32_t pc) {
  gpointer key = (gpointer)(uintptr_t)((uint64_t)launch->index << 32 | pc);
  guint count = GPOINTER_TO_UINT(g_hash_table_lookup(log->warps, key));
  if (count >= WARPS_LOGGED || log->places->len >= PLACES_MAX)
    return false;
  g_hash_table_insert(log->warps, key, GUINT_TO_POINTER(count + 1));
  return true;
}

static void come_by(PlaceLog *log, const Gpu *gpu, const Launch *launch, uint32_t pc, uint64_t warp) {
  gint64 key = key_of(launch, pc, warp);
  Place *place = g_hash_table_lookup(log->known, &key);
  if (!place) {
    if (!has_room(log, launch, pc))
      return;
    place = g_new0(Place, 1);
    *place = (Place){.key = key,
                     .first = hold_once_number(gpu, launch, pc, warp, 0),
                     .second = pc == HOLD_START ? 0 : hold_once_number(gpu, launch, pc, warp, 1)};
    g_ptr_array_add(log->places, place);
    g_hash_table_insert(log->known, &place->key, place);
  }
  place->times++;
}

static void issued(void *user, const ProbePoint *point, uint64_t until) {
  (void)until;
  const Launch *launch = point->block->launch;
  uint64_t warp = point->block->index * launch->block_warps + point->warp->warp_in_block;
  if (!hold_is_place(&launch->kernel->insts[point->pc], launch->program->dialect))
    return;
  come_by(user, point->gpu, launch, HOLD_START, warp);
  come_by(user, point->gpu, launch, point->pc, warp);
}

PlaceLog *place_log_new(void) {
  PlaceLog *log = g_new0(PlaceLog, 1);
  log->probe = (Probe){.user = log, .issued = issued};
  log->places = g_ptr_array_new_with_free_func(g_free);
  log->known = g_hash_table_new(bits_hash_key, g_int64_equal);
  log->warps = g_hash_table_new(g_direct_hash, g_direct_equal);
  return log;
}

void place_log_free(PlaceLog *log) {
  g_hash_table_destroy(log->warps);
  g_hash_table_destroy(log->known);
  g_ptr_array_unref(log->places);
  g_free(log);
}

Probe *place_log_probe(PlaceLog *log) { return &log->probe; }

static guint greatest_divisor(guint a, guint b) {
  while (b) {
    guint rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* The `numbers`, spread: each once. */
static void append_spread(GArray *all, const GArray *numbers, guint most) {
  guint count = numbers->len, step = count * 5 / 8 | 1; /* near the golden section */
  while (count > 1 && greatest_divisor(step, count) > 1)
    step += 2;
  for (guint i = 0; i < count && all->len < most; i++)
    g_array_append_val(all, g_array_index(numbers, uint32_t, (guint)((uint64_t)i * step % count)));
}

/* Of the last time. */
static uint32_t last_of(const Place *place) {
  uint64_t number = place->first + (uint64_t)(place->times - 1) * (place->second - place->first);
  return number <= HOLD_NUMBER_MAX ? (uint32_t)number : 0;
}

/* Times: 0 the first, 1 the last, 2 the second; each place has them once. */
static uint32_t number_of(const Place *place, unsigned times) {
  if (times == 0 || !place->second)
    return times == 0 ? place->first : 0;
  if (times == 1)
    return place->times > 1 ? last_of(place) : 0;
  return place->times > 2 ? place->second : 0;
}

GArray *place_log_numbers(const PlaceLog *log, guint most) {
  GArray *all = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  for (unsigned times = 0; times < 3; times++) {
    g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (guint i = 0; i < log->places->len; i++) {
      uint32_t number = number_of(g_ptr_array_index(log->places, i), times);
      if (number)
        g_array_append_val(numbers, number);
    }
    append_spread(all, numbers, most);
  }
  return all;
}
