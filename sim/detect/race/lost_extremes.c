#include "sim/detect/race/lost_extremes.h"

#include <string.h>

#include "base/bits.h"
#include "sim/core/look.h"
#include "sim/detect/naming/locate.h"

enum { LOSSES_MAX = 1024 };

struct LostExtremes {
  const Gpu *gpu;
  GPtrArray *findings;
  GArray *held;     /* LostExtreme */
  GHashTable *told; /* file and line -> its Finding * */
};

static void clear_lost(gpointer data) { finding_free(((LostExtreme *)data)->finding); }

LostExtremes *lost_extremes_new(const Gpu *gpu, GPtrArray *findings) {
  LostExtremes *extremes = g_new0(LostExtremes, 1);
  *extremes = (LostExtremes){.gpu = gpu,
                             .findings = findings,
                             .held = g_array_new(FALSE, FALSE, sizeof(LostExtreme)),
                             .told = g_hash_table_new_full(bits_hash_key, g_int64_equal, g_free, NULL)};
  g_array_set_clear_func(extremes->held, clear_lost);
  return extremes;
}

void lost_extremes_free(LostExtremes *extremes) {
  g_array_free(extremes->held, TRUE);
  g_hash_table_destroy(extremes->told);
  g_free(extremes);
}

void lost_extremes_add(LostExtremes *extremes, const LostExtreme *lost) {
  if (extremes->held->len < LOSSES_MAX)
    g_array_append_val(extremes->held, *lost);
  else
    finding_free(lost->finding);
}

/* ---- later ---- */

static void read_now(const LostExtremes *extremes, const LostExtreme *lost, uint32_t now[2]) {
  for (uint32_t row = 0; row < lost->rows; row++) {
    uint64_t address = lost->address + 4 * (uint64_t)row;
    now[row] = lost->space == SPACE_GLOBAL ? look_global(extremes->gpu, address)
                                           : look_shared(lost->sm, (uint32_t)address / 4);
  }
}

static bool is_healed(const LostExtremes *extremes, const LostExtreme *lost) {
  uint32_t now[2] = {0};
  read_now(extremes, lost, now);
  return updates_outdoes(&lost->update, now, lost->value);
}

static bool touches(const UpdateAccess *access, const LostExtreme *lost) {
  if (access->space != lost->space || (lost->space == SPACE_SHARED && access->point->sm != lost->sm))
    return false;
  bool found = false;
  for (uint32_t rest = access->point->lanes; rest && !found; rest &= rest - 1) {
    uint64_t address = access->address[__builtin_ctz(rest)];
    found = address < lost->address + 4 * (uint64_t)lost->rows && lost->address < address + access->bytes;
  }
  return found;
}

void lost_extremes_access(LostExtremes *extremes, const UpdateAccess *access, bool raises) {
  bool operates = access->kind == ACCESS_ATOMIC && access->warp && access->point->inst->mode != ATOM_EXCH;
  for (guint i = extremes->held->len; i-- > 0;) {
    const LostExtreme *lost = &g_array_index(extremes->held, LostExtreme, i);
    if (touches(access, lost) && (!(raises || operates) || is_healed(extremes, lost)))
      g_array_remove_index(extremes->held, i);
  }
}

/* ---- the end ---- */

char *lost_extremes_text(const uint32_t *words, uint32_t rows, const Update *update) {
  float narrow;
  double wide;
  memcpy(&narrow, words, sizeof narrow);
  if (rows == 1 && !update->floats)
    return update_is_extreme(update) && update->type == TYPE_S32 ? g_strdup_printf("%d", (int32_t)words[0])
                                                                 : number_text(words[0]);
  if (rows == 1)
    return g_strdup_printf("%g", (double)narrow);
  memcpy(&wide, words, sizeof wide);
  return update->floats ? g_strdup_printf("%g", wide)
                        : g_strdup_printf("%" G_GUINT64_FORMAT, (uint64_t)words[1] << 32 | words[0]);
}

static void tell(LostExtremes *extremes, LostExtreme *lost) {
  Finding *known = g_hash_table_lookup(extremes->told, &lost->key);
  uint32_t now[2] = {0};
  if (known) {
    known->count++;
    return;
  }
  read_now(extremes, lost, now);
  g_autofree char *value = lost_extremes_text(now, lost->rows, &lost->update);
  finding_add_evidence(lost->finding, 0, g_strdup_printf("it stays lost: in the end the word holds %s", value));
  g_hash_table_insert(extremes->told, g_memdup2(&lost->key, sizeof lost->key), lost->finding);
  g_ptr_array_add(extremes->findings, g_steal_pointer(&lost->finding));
}

/* `block`: of that block's shared memory; NULL: of global memory. */
static void end(LostExtremes *extremes, const ProbePoint *block) {
  for (guint i = 0; i < extremes->held->len; i++) {
    LostExtreme *lost = &g_array_index(extremes->held, LostExtreme, i);
    bool here = block ? lost->space == SPACE_SHARED && lost->sm == block->sm && lost->block_slot == block->block->slot
                      : lost->space == SPACE_GLOBAL;
    if (here && !is_healed(extremes, lost))
      tell(extremes, lost);
  }
  for (guint i = extremes->held->len; block && i-- > 0;) {
    const LostExtreme *lost = &g_array_index(extremes->held, LostExtreme, i);
    if (lost->space == SPACE_SHARED && lost->sm == block->sm && lost->block_slot == block->block->slot)
      g_array_remove_index(extremes->held, i);
  }
}

void lost_extremes_end(LostExtremes *extremes, const ProbePoint *point) { end(extremes, point); }

void lost_extremes_finish(LostExtremes *extremes) { end(extremes, NULL); }
