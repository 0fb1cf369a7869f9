#include "sim/detect/race/validates.h"

#include "isa/flow/cfg.h"
#include "sim/detect/race/sources.h"
#include "sim/detect/race/ways.h"

static bool is_strong_load(const Inst *inst) {
  return sources_is_load(inst) && !(op_info[inst->op].flags & OPF_ATOMIC);
}

static bool is_same_address(const Inst *one, const Inst *other) {
  return one->a == other->a && one->imm == other->imm && one->space == other->space && one->width == other->width;
}

/* ---- what two values that differ decide ---- */

enum { BLOCKS_MAX = 8 };

/* What is known of predicates, a bit each. */
typedef struct Facts {
  uint32_t holds, fails;
} Facts;

/* Where threads go on that find two values different, and where others may. */
typedef struct Choice {
  uint32_t way, other;
} Choice;

static Facts fact(bool holds) { return (Facts){holds, !holds}; }

static Facts known(const Facts *facts, unsigned pred, bool negated) {
  Facts one = {facts->holds >> pred & 1, facts->fails >> pred & 1};
  return negated ? (Facts){one.fails, one.holds} : one;
}

static Facts known_source(const Facts *facts, const Inst *inst, unsigned i) {
  return known(facts, inst->psrc[i], inst->psrc_not >> i & 1);
}

static Facts combined(unsigned logic, Facts one, Facts other) {
  if (logic == LOP_AND)
    return (Facts){one.holds & other.holds, one.fails | other.fails};
  if (logic == LOP_OR)
    return (Facts){one.holds | other.holds, one.fails & other.fails};
  return (Facts){0, 0};
}

static void learn(Facts *facts, unsigned pred, Facts one) {
  if (pred >= PRED_TRUE)
    return;
  facts->holds = (facts->holds & ~(1u << pred)) | one.holds << pred;
  facts->fails = (facts->fails & ~(1u << pred)) | one.fails << pred;
}

/* `differs`: it compares the two. */
static void compute(Facts *facts, const Inst *inst, bool differs) {
  Facts main = {0, 0}, rest = {0, 0};
  if (differs) {
    main = fact(inst->cmp == CMP_NE || inst->cmp == CMP_NEU);
    rest = known_source(facts, inst, 0);
  } else if (inst->op == OP_PSETP) {
    main = combined(inst->lop, known_source(facts, inst, 0), known_source(facts, inst, 1));
    rest = known_source(facts, inst, 2);
  }
  unsigned logic = differs ? inst->lop : inst->lop2;
  Facts yes = combined(logic, main, rest), no = combined(logic, (Facts){main.fails, main.holds}, rest);
  bool clear = !differs && inst->op != OP_PSETP;
  for (unsigned pred = 0; pred < PRED_TRUE; pred++)
    if (inst_pred_writes(inst) >> pred & 1 && (clear || inst_is_guarded(inst)))
      learn(facts, pred, (Facts){0, 0});
  if (!clear && !inst_is_guarded(inst)) {
    learn(facts, inst->pdst2, no);
    learn(facts, inst->pdst, yes);
  }
}

/* Whether the comparison alone decides, where its values differ, which way its branch takes. */
static bool choose_different(const Kernel *kernel, const Cfg *cfg, uint32_t compared, Choice *choice) {
  Facts facts = {.holds = 1u << PRED_TRUE};
  uint32_t pc = compared;
  for (unsigned i = 0; i < BLOCKS_MAX; i++) {
    const CfgBlock *block = cfg_block(cfg, cfg->block_of[pc]);
    for (; pc <= block->last; pc++)
      compute(&facts, &kernel->insts[pc], pc == compared);
    const Inst *last = &kernel->insts[block->last];
    if (block->successors->len == 1) {
      pc = cfg_block(cfg, g_array_index(block->successors, uint32_t, 0))->first;
      continue;
    }
    Facts guard = known(&facts, last->guard, last->flags & INST_GUARD_NOT);
    if (block->successors->len != 2 || last->op != OP_BRA || last->target < 0 || !(guard.holds || guard.fails))
      return false;
    uint32_t next = block->last + 1, target = (uint32_t)last->target;
    *choice = guard.holds ? (Choice){target, next} : (Choice){next, target};
    return true;
  }
  return false;
}

/* ---- pairs ---- */

/* Two loads, and where their values are compared. */
typedef struct Pair {
  uint32_t first, second, compared;
} Pair;

/* Keeps of `passed` what lies between the two, on a way to the second without the first. False: the address may
 * change there. */
static bool keep_between(const Kernel *kernel, const Cfg *cfg, const Pair *pair, bool *passed) {
  int16_t address = kernel->insts[pair->second].a;
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    passed[pc] &= pc != pair->first && pc != pair->second;
    if (!passed[pc])
      continue;
    g_autofree bool *there = ways_reach(kernel, cfg, pc, true, pair->first);
    passed[pc] = there[pair->second];
    if (passed[pc] && inst_writes_to(&kernel->insts[pc], kernel->nregs, address))
      return false;
  }
  return true;
}

/* Each round has both looks: the second can't be come to without the first, as in a poll, and the two are compared
 * before the first comes again; else the second was the look that began that round, and its loop begins with the
 * first. */
static bool is_round(const Pair *pair, const bool *from_first, const bool *again) {
  return from_first[pair->second] && !again[pair->second] && again[pair->compared];
}

/* The second look is that which the next round begins with: the first one stands before the loop, which goes on where
 * the two differ, and is left for good only where they are the same. A poll is left where they differ. */
static bool is_turned(const Kernel *kernel, const Cfg *cfg, const Pair *pair, const bool *from_first,
                      const bool *again) {
  Choice choice;
  return from_first[pair->second] && again[pair->second] && again[pair->compared] &&
         choose_different(kernel, cfg, pair->compared, &choice) &&
         ways_lead(kernel, cfg, choice.way, pair->first, pair->second) &&
         !ways_lead(kernel, cfg, choice.other, pair->first, pair->second);
}

/* Nothing but the comparison and a sleep lies on the ways from the second look to `poll`. */
static bool leads_at_once(const Kernel *kernel, const Cfg *cfg, const Pair *pair, uint32_t poll, const bool *again) {
  const uint32_t others = OPF_LOAD | OPF_STORE | OPF_ATOMIC | OPF_BARRIER;
  g_autofree bool *passed = ways_reach(kernel, cfg, pair->second, true, poll);
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    if (!passed[pc] || !again[pc] || pc == pair->first || pc == poll ||
        !(op_info[kernel->insts[pc].op].flags & others))
      continue;
    if (ways_lead(kernel, cfg, pc, pair->first, poll))
      return false;
  }
  return true;
}

/* The second look is the first one of a poll that goes on as long as the two are the same, and that the compiler took
 * out of its loop: `key = *p; ... while (*p == key);`. */
static bool begins_poll(const Kernel *kernel, const Cfg *cfg, const GArray *pairs, const Pair *pair,
                        const bool *again) {
  for (guint i = 0; i < pairs->len; i++) {
    const Pair *poll = &g_array_index(pairs, Pair, i);
    if (poll->first != pair->first || poll->second == pair->second || !again[poll->second])
      continue;
    g_autofree bool *round = ways_reach(kernel, cfg, poll->second, true, poll->first);
    if (round[poll->second] && leads_at_once(kernel, cfg, pair, poll->second, again))
      return true;
  }
  return false;
}

/* What paths from the first to the second pass, and from the second to itself, if that begins the next round; NULL:
 * it is no such pair. */
static bool *find_between(const Kernel *kernel, const Cfg *cfg, const GArray *pairs, const Pair *pair) {
  uint32_t first = pair->first, second = pair->second;
  g_autofree bool *without = ways_reach(kernel, cfg, 0, false, first),
                  *again = ways_reach(kernel, cfg, second, true, first);
  bool *passed = ways_reach(kernel, cfg, first, true, second);
  bool once = is_round(pair, passed, again), turned = !once && is_turned(kernel, cfg, pair, passed, again);
  for (uint32_t pc = 0; turned && pc < kernel->ninsts; pc++)
    passed[pc] |= again[pc];
  if (!(once || turned) || without[second] || inst_is_guarded(&kernel->insts[first]) ||
      begins_poll(kernel, cfg, pairs, pair, again) || !keep_between(kernel, cfg, pair, passed))
    g_clear_pointer(&passed, g_free);
  return passed;
}

static void add_pair(GArray *pairs, uint32_t first, uint32_t second, uint32_t compared) {
  Pair pair = {first, second, compared};
  for (guint i = 0; i < pairs->len; i++) {
    const Pair *other = &g_array_index(pairs, Pair, i);
    if (other->first == first && other->second == second && other->compared == compared)
      return;
  }
  g_array_append_val(pairs, pair);
}

static bool compares(const Inst *inst) {
  return (inst->op == OP_ISETP || inst->op == OP_ISETP64) &&
         (inst->cmp == CMP_EQ || inst->cmp == CMP_NE || inst->cmp == CMP_EQU || inst->cmp == CMP_NEU);
}

/* Loads of one address that are compared, either way round. */
static GArray *find_pairs(const Kernel *kernel, const Cfg *cfg) {
  GArray *pairs = g_array_new(FALSE, FALSE, sizeof(Pair));
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    const Inst *inst = &kernel->insts[pc];
    if (!compares(inst) || inst->a < 0 || inst->b < 0)
      continue;
    Sources one = sources_of(kernel, cfg, pc, inst->a, false), other = sources_of(kernel, cfg, pc, inst->b, false);
    for (unsigned i = 0; i < one.count; i++)
      for (unsigned k = 0; k < other.count; k++)
        if (one.pc[i] != other.pc[k] && is_same_address(&kernel->insts[one.pc[i]], &kernel->insts[other.pc[k]])) {
          add_pair(pairs, one.pc[i], other.pc[k], pc);
          add_pair(pairs, other.pc[k], one.pc[i], pc);
        }
  }
  return pairs;
}

static bool may_have_any(const Kernel *kernel) {
  unsigned loads = 0;
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
    loads += is_strong_load(&kernel->insts[pc]);
  return loads > 2 && loads <= VALIDATES_LOADS_MAX;
}

static bool has_load(const Kernel *kernel, const bool *between) {
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
    if (between[pc] && is_strong_load(&kernel->insts[pc]))
      return true;
  return false;
}

bool *validates_find(const Kernel *kernel) {
  if (!may_have_any(kernel))
    return NULL;
  g_autoptr(Cfg) cfg = cfg_new(kernel);
  g_autoptr(GArray) pairs = find_pairs(kernel, cfg);
  bool *validates = NULL;
  for (guint i = 0; i < pairs->len; i++) {
    const Pair *pair = &g_array_index(pairs, Pair, i);
    g_autofree bool *between = find_between(kernel, cfg, pairs, pair);
    if (!between || !has_load(kernel, between))
      continue;
    validates = validates ? validates : g_new0(bool, kernel->ninsts);
    validates[pair->second] = true;
  }
  return validates;
}

void validates_mark(const Kernel *kernel, uint32_t pc, bool *loads) {
  if (!may_have_any(kernel) || !is_strong_load(&kernel->insts[pc]))
    return;
  g_autoptr(Cfg) cfg = cfg_new(kernel);
  g_autoptr(GArray) pairs = find_pairs(kernel, cfg);
  for (guint i = 0; i < pairs->len; i++) {
    const Pair *pair = &g_array_index(pairs, Pair, i);
    g_autofree bool *between = pair->second == pc ? find_between(kernel, cfg, pairs, pair) : NULL;
    for (uint32_t at = 0; between && at < kernel->ninsts; at++)
      loads[at] |= between[at] && is_strong_load(&kernel->insts[at]);
  }
}
