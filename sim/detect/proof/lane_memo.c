#include "sim/detect/proof/lane_memo.h"

#include "sim/core/lane_groups.h"
#include "sim/detect/proof/explore_step.h"
#include "sim/detect/proof/explore_groups.h"

enum { COMMON_MAX = 32 };

/* One exploration. */
typedef struct Known {
  LaneState *start;
  RegSet reads; /* registers and predicates that it depends on */
  uint32_t preds;
  const WarpView *view;
  unsigned lane;
  bool common; /* it holds for other warps, too */
  LaneReach reach;
  GPtrArray *masks;
  GArray *adds;     /* LaneAdds */
  GArray *words;    /* WordSeen */
  GArray *explored; /* uint32_t: instructions */
} Known;

struct LaneMemo {
  GPtrArray *of_warp; /* Known * */
  Known *common[COMMON_MAX];
  unsigned next; /* of `common`, to be replaced */
};

static void known_free(gpointer data) {
  Known *known = data;
  if (!known)
    return;
  g_free(known->start);
  g_ptr_array_free(known->masks, TRUE);
  g_array_free(known->adds, TRUE);
  g_array_free(known->words, TRUE);
  g_array_free(known->explored, TRUE);
  g_free(known);
}

LaneMemo *lane_memo_new(void) {
  LaneMemo *memo = g_new0(LaneMemo, 1);
  memo->of_warp = g_ptr_array_new_with_free_func(known_free);
  return memo;
}

void lane_memo_clear(LaneMemo *memo) {
  g_ptr_array_set_size(memo->of_warp, 0);
  for (unsigned i = 0; i < COMMON_MAX; i++) {
    known_free(memo->common[i]);
    memo->common[i] = NULL;
  }
}

void lane_memo_free(LaneMemo *memo) {
  lane_memo_clear(memo);
  g_ptr_array_free(memo->of_warp, TRUE);
  g_free(memo);
}

void lane_memo_next_warp(LaneMemo *memo) { g_ptr_array_set_size(memo->of_warp, 0); }

/* What the states that were explored read, and where they were. */
static void note_reads(Known *known, const KernelFacts *facts) {
  const GArray *visited = facts->states.dirty;
  g_array_append_vals(known->explored, visited->data, visited->len);
  for (guint i = 0; i < visited->len; i++) {
    uint32_t pc = g_array_index(visited, uint32_t, i);
    known->reads = regset_or(known->reads, facts->reads[pc]);
    known->preds |= inst_pred_reads(&facts->kernel->insts[pc]);
  }
}

static GArray *copy_array(const GArray *array, guint size) {
  GArray *copy = g_array_sized_new(FALSE, FALSE, size, array->len);
  return g_array_append_vals(copy, array->data, array->len);
}

void lane_memo_keep(LaneMemo *memo, const LaneWalk *walk, const LaneState *start) {
  const WalkEffects *effects = &walk->effects;
  if (effects->of_lane)
    return;
  Known *known = g_new0(Known, 1);
  uint32_t nregs = walk_nregs(walk);
  known->start = g_malloc(lane_state_bytes(nregs));
  lane_state_copy(known->start, start, nregs);
  known->view = walk->view;
  known->lane = walk->lane;
  known->common = !effects->of_warp && start->level == 0;
  known->reach = walk->reach;
  known->masks = g_ptr_array_new();
  for (guint i = 0; i < effects->masks->len; i++)
    g_ptr_array_add(known->masks, g_ptr_array_index(effects->masks, i));
  known->adds = copy_array(walk->adds, sizeof(LaneAdds));
  known->words = copy_array(effects->words, sizeof(WordSeen));
  known->explored = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  note_reads(known, walk->view->facts);
  if (!known->common) {
    g_ptr_array_add(memo->of_warp, known);
    return;
  }
  known_free(memo->common[memo->next]);
  memo->common[memo->next] = known;
  memo->next = (memo->next + 1) % COMMON_MAX;
}

static bool same_start(const Known *known, const LaneState *start) {
  const LaneState *first = known->start;
  RegSet unknown = regset_and(start->unknown, known->reads);
  if (first->pc != start->pc || first->level != start->level || (first->preds ^ start->preds) & known->preds ||
      (first->preds_unknown ^ start->preds_unknown) & known->preds ||
      !regset_equal(unknown, regset_and(first->unknown, known->reads)))
    return false;
  for (unsigned word = 0; word < G_N_ELEMENTS(unknown.word); word++)
    for (uint64_t rest = known->reads.word[word] & ~unknown.word[word]; rest; rest &= rest - 1) {
      unsigned reg = 64 * word + (unsigned)__builtin_ctzll(rest);
      if (first->regs[reg] != start->regs[reg])
        return false;
    }
  return true;
}

/* Stack entries, groups and convergence barriers hold both lanes or neither. */
static bool stand_together(const WarpView *view, unsigned a, unsigned b) {
  const Warp *warp = view->warp;
  for (uint32_t i = 0; i < warp->depth; i++)
    if ((warp->stack[i].mask >> a ^ warp->stack[i].mask >> b) & 1)
      return false;
  if (!warp->groups)
    return true;
  if (explore_group_of(view, a) != explore_group_of(view, b))
    return false;
  for (unsigned barrier = 0; barrier < CONVERGENCE_BARRIERS; barrier++)
    if (sync_records_members(&warp->groups->sync, barrier, a) !=
        sync_records_members(&warp->groups->sync, barrier, b))
      return false;
  return true;
}

/* For a lane of any warp of the launch. */
static bool holds_for_all(const Known *known, const WarpView *view, const LaneState *start) {
  if (known->view->launch != view->launch || known->view->any_block != view->any_block || !same_start(known, start))
    return false;
  for (guint i = 0; i < known->words->len; i++) {
    const WordSeen *word = &g_array_index(known->words, WordSeen, i);
    if (word->set->changes != word->changes)
      return false;
  }
  return true;
}

/* What both have under way is the same, as far as they read what it brings. */
static bool same_flights(const Known *known, const WarpView *view, unsigned lane) {
  return explore_same_flights(known->view, known->lane, view, lane, &known->reads);
}

static const Known *find(const LaneMemo *memo, const WarpView *view, unsigned lane, const LaneState *start) {
  for (guint i = 0; i < memo->of_warp->len; i++) {
    const Known *known = g_ptr_array_index(memo->of_warp, i);
    if (same_start(known, start) && stand_together(view, known->lane, lane) && same_flights(known, view, lane))
      return known;
  }
  for (unsigned i = 0; i < COMMON_MAX && memo->common[i]; i++)
    if (holds_for_all(memo->common[i], view, start) && same_flights(memo->common[i], view, lane))
      return memo->common[i];
  return NULL;
}

bool lane_memo_repeat(LaneMemo *memo, Explorer *explorer, WarpView *view, unsigned lane, const LaneState *start,
                      LaneReach *reach) {
  const Known *known = find(memo, view, lane, start);
  if (!known)
    return false;
  *reach = known->reach;
  for (guint i = 0; i < known->masks->len; i++)
    view_add_lanes(explorer, view, g_ptr_array_index(known->masks, i), 1u << lane);
  for (guint i = 0; known->common && i < known->words->len; i++)
    abstract_note_reader(&g_array_index(known->words, WordSeen, i).set->readers, view->index);
  for (guint i = 0; known->common && i < known->explored->len; i++)
    view_note_explored(view, g_array_index(known->explored, uint32_t, i));
  explore_repeat_adds(explorer, view, lane, known->adds);
  return true;
}
