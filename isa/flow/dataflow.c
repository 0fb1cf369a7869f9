#include "isa/flow/dataflow.h"

#include <string.h>

#include "base/assert.h"

enum { PREDICATES = PRED_ROWS };

/* A set of registers and predicates (bit 9: the carry). */
typedef struct Names {
  RegSet regs;
  uint32_t preds;
} Names;

static const Names NONE = {0};

static Names all_names(void) { return (Names){regset_all(), UINT32_MAX}; }
static Names both(Names a, Names b) { return (Names){regset_and(a.regs, b.regs), a.preds & b.preds}; }
static Names either(Names a, Names b) { return (Names){regset_or(a.regs, b.regs), a.preds | b.preds}; }
static Names without(Names a, Names b) { return (Names){regset_without(a.regs, b.regs), a.preds & ~b.preds}; }
static bool same(Names a, Names b) { return regset_equal(a.regs, b.regs) && a.preds == b.preds; }
static bool covers(Names a, Names b) { return regset_empty(regset_without(b.regs, a.regs)) && !(b.preds & ~a.preds); }

static RegSet register_set(RegList list) {
  RegSet set = {0};
  for (unsigned i = 0; i < list.count; i++)
    if (list.reg[i] < REGSET_MAX)
      regset_put(&set, (unsigned)list.reg[i]);
  return set;
}

static Names names_read(const Inst *inst) { return (Names){register_set(inst_reads(inst)), inst_pred_reads(inst)}; }

static Names names_written(const Inst *inst, uint32_t nregs) {
  return (Names){register_set(inst_writes(inst, nregs)), inst_pred_writes(inst)};
}

static bool never_runs(const Inst *inst) { return inst->guard == PRED_TRUE && (inst->flags & INST_GUARD_NOT); }

/* A queue of blocks, each in it at most once. */
typedef struct Worklist {
  uint32_t *ring;
  uint8_t *queued;
  uint32_t size, head, count;
} Worklist;

static void add(Worklist *list, uint32_t block) {
  if (list->queued[block])
    return;
  list->queued[block] = 1;
  list->ring[(list->head + list->count++) % list->size] = block;
}

static uint32_t take(Worklist *list) {
  uint32_t block = list->ring[list->head];
  list->head = (list->head + 1) % list->size;
  list->count--;
  list->queued[block] = 0;
  return block;
}

static Worklist make_worklist(uint32_t size) {
  return (Worklist){.ring = g_new(uint32_t, size + 1), .queued = g_new0(uint8_t, size + 1), .size = size};
}

static void clear_worklist(Worklist *list) {
  g_free(list->ring);
  g_free(list->queued);
}

/* -- what is set -- */

/* What is set inside a block: for good, and under each predicate (index 0: where it is true, 1: false). */
typedef struct Assigned {
  Names always;
  Names under[PREDICATES][2];
} Assigned;

static Names set_for(const Assigned *state, const Inst *inst) {
  if (inst->guard == PRED_TRUE)
    return state->always;
  return either(state->always, state->under[inst->guard][(inst->flags & INST_GUARD_NOT) != 0]);
}

static void assign(Assigned *state, const Inst *inst, uint32_t nregs) {
  if (never_runs(inst))
    return;
  Names written = names_written(inst, nregs);
  for (unsigned p = 0; p < PREDICATES; p++)
    if (written.preds >> p & 1)
      state->under[p][0] = state->under[p][1] = NONE;
  if (inst->guard == PRED_TRUE) {
    state->always = either(state->always, written);
  } else if (!(written.preds >> inst->guard & 1)) {
    Names *under = state->under[inst->guard], *mine = &under[(inst->flags & INST_GUARD_NOT) != 0];
    *mine = either(*mine, written);
    state->always = either(state->always, both(under[0], under[1]));
  }
}

static Names assigned_by_block(const Kernel *kernel, const Flow *flow, uint32_t block) {
  Assigned state = {0};
  for (uint32_t pc = flow->first[block]; pc < flow->first[block + 1]; pc++)
    assign(&state, &kernel->insts[pc], kernel->nregs);
  return state.always;
}

static void mark_block(Kernel *kernel, const Flow *flow, uint32_t block, Names set) {
  Assigned state = {.always = set};
  for (uint32_t pc = flow->first[block]; pc < flow->first[block + 1]; pc++) {
    Inst *inst = &kernel->insts[pc];
    Names guard = {.preds = inst->guard == PRED_TRUE ? 0 : 1u << inst->guard};
    bool known = never_runs(inst) || (covers(state.always, guard) && covers(set_for(&state, inst), names_read(inst)));
    inst->flags = known ? inst->flags & ~(uint32_t)INST_MAYBE_UNSET : inst->flags | INST_MAYBE_UNSET;
    assign(&state, inst, kernel->nregs);
  }
}

void dataflow_mark_unset(Kernel *kernel, const Flow *flow) {
  uint32_t n = flow->nblocks;
  g_autofree Names *made = g_new(Names, n + 1), *set = g_new(Names, n + 1);
  Worklist list = make_worklist(n);
  for (uint32_t b = 0; b < n; b++) {
    made[b] = assigned_by_block(kernel, flow, b);
    bool root = b == 0 || flow->in.start[b] == flow->in.start[b + 1];
    set[b] = root ? NONE : all_names();
    add(&list, b);
  }
  while (list.count) {
    uint32_t b = take(&list);
    Names out = either(set[b], made[b]);
    for (uint32_t e = flow->out.start[b]; e < flow->out.start[b + 1]; e++) {
      uint32_t next = flow->out.to[e];
      Names less = both(set[next], out);
      if (!same(less, set[next])) {
        set[next] = less;
        add(&list, next);
      }
    }
  }
  for (uint32_t b = 0; b < n; b++)
    mark_block(kernel, flow, b, set[b]);
  clear_worklist(&list);
}

/* -- what is wanted -- */

/* The names wanted before an instruction, from those wanted behind it. A guarded write leaves other lanes' values. */
static Names wanted_before(const Inst *inst, uint32_t nregs, Names after) {
  if (never_runs(inst))
    return after;
  Names written = inst_is_guarded(inst) ? NONE : names_written(inst, nregs);
  return either(without(after, written), names_read(inst));
}

static Names wanted_at_end(const Flow *flow, const Names *wanted, uint32_t block) {
  Names end = NONE;
  for (uint32_t e = flow->out.start[block]; e < flow->out.start[block + 1]; e++)
    end = either(end, wanted[flow->out.to[e]]);
  return end;
}

/* A block's transfer is `use | (end & ~kill)`: found once, so that a round of a loop costs nothing per
 * instruction. */
typedef struct Transfer {
  Names use, keep;
} Transfer;

static Transfer transfer_of(const Kernel *kernel, const Flow *flow, uint32_t block) {
  Transfer transfer = {.use = NONE, .keep = all_names()};
  for (uint32_t pc = flow->first[block + 1]; pc-- > flow->first[block];) {
    transfer.use = wanted_before(&kernel->insts[pc], kernel->nregs, transfer.use);
    transfer.keep = wanted_before(&kernel->insts[pc], kernel->nregs, transfer.keep);
  }
  return transfer;
}

static void fill_liveness(const Kernel *kernel, const Flow *flow, const Names *wanted, Liveness *live) {
  for (uint32_t b = 0; b < flow->nblocks; b++) {
    Names now = wanted_at_end(flow, wanted, b);
    for (uint32_t pc = flow->first[b + 1]; pc-- > flow->first[b];) {
      now = wanted_before(&kernel->insts[pc], kernel->nregs, now);
      live->live_regs[pc] = now.regs;
      live->live_preds[pc] = now.preds;
    }
  }
}

Liveness dataflow_liveness(const Kernel *kernel, const Flow *flow) {
  LS_REQUIRE("dataflow-registers", kernel->nregs <= REGSET_MAX);
  uint32_t n = flow->nblocks;
  Liveness live = {g_new0(RegSet, kernel->ninsts + 1), g_new0(uint32_t, kernel->ninsts + 1)};
  if (flow->incomplete) {
    memset(live.live_regs, 0xff, kernel->ninsts * sizeof *live.live_regs);
    memset(live.live_preds, 0xff, kernel->ninsts * sizeof *live.live_preds);
    return live;
  }
  g_autofree Names *wanted = g_new0(Names, n + 1);
  g_autofree Transfer *transfers = g_new(Transfer, n + 1);
  Worklist list = make_worklist(n);
  for (uint32_t b = n; b-- > 0;) {
    transfers[b] = transfer_of(kernel, flow, b);
    add(&list, b);
  }
  while (list.count) {
    uint32_t b = take(&list);
    Names more = either(transfers[b].use, both(transfers[b].keep, wanted_at_end(flow, wanted, b)));
    if (same(more, wanted[b]))
      continue;
    wanted[b] = more;
    for (uint32_t e = flow->in.start[b]; e < flow->in.start[b + 1]; e++)
      add(&list, flow->in.to[e]);
  }
  fill_liveness(kernel, flow, wanted, &live);
  clear_worklist(&list);
  return live;
}

void liveness_clear(Liveness *liveness) {
  g_free(liveness->live_regs);
  g_free(liveness->live_preds);
  *liveness = (Liveness){0};
}
