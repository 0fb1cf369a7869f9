#include "isa/flow/schedule.h"

#include "isa/flow/loops.h"
#include "isa/flow/pressure.h"

/* So long is a stretch. Arithmetic comes before at most so many others, since registers are held meanwhile: with 5 of
 * them 481 of 868 kernels take what ptxas gives them, with 8 472 (tests/script/registers.sh). */
enum { STRETCH_MAX = 128, AHEAD = 5 };
/* Where the warp would wait for more than LONG cycles, ptxas takes what stands further behind, and sends loads that
 * do, while there are registers: 32 in all, which cost no occupancy, or some more than the kernel has at its
 * fullest place anyhow. Of those that a thread has at most some stay free, since pairs are aligned; where registers
 * of four rows leave holes, FOURS_ROWS more do. */
enum { LONG = 8, FREE_ROWS = 28, FOURS_ROWS = 2, MORE_ROWS = 8, SPARE_ROWS = 4 };
/* Cycles, of an H200, about; what matters is which is longer. A predicate is mostly a guard. */
enum { ACCESS = 4, ARITHMETIC = 5, GUARD = 13, SHARED = 25, SPECIAL = 25, WIDE_ARITHMETIC = 40, GLOBAL = 250 };

/* One instruction of the stretch. */
typedef struct Entry {
  VInst vinst;
  uint32_t path;  /* cycles from its issue to the end of the stretch, at least */
  uint32_t from;  /* cycle in which what it depends on is there, so far */
  unsigned waits; /* so many that it depends on haven't been issued */
  bool moves;     /* it passes others that it doesn't depend on; those that don't keep their order */
  bool stops;     /* the warp waits at it: nothing sinks below it, and what can had better come first */
  bool loads;     /* a plain load: it passes others of its kind */
  bool copies;    /* a move between registers, which mostly become one */
  bool done;
} Entry;

typedef struct Stretch {
  VKernel *vkernel;
  Entry entry[STRETCH_MAX];
  uint32_t lag[STRETCH_MAX][STRETCH_MAX]; /* [before][after]: cycles in between; 0: they don't depend */
  unsigned count;
  guint first;           /* where the stretch begins */
  Pressure *pressure;    /* NULL: it isn't known */
  int limit;             /* rows in use, where what comes far ahead takes some */
  int rows[STRETCH_MAX]; /* in use behind each entry, if those that aren't issued come in their order */
  unsigned next;         /* the first that isn't issued */
} Stretch;

/* ---- what depends on what ---- */

static bool meets(const VRegUse *a, unsigned as, const VRegUse *b, unsigned bs) {
  for (unsigned i = 0; i < as; i++)
    for (unsigned k = 0; k < bs; k++)
      if (a[i].reg == b[k].reg)
        return true;
  return false;
}

static bool preds_meet(const int32_t *a, unsigned as, const int32_t *b, unsigned bs) {
  for (unsigned i = 0; i < as; i++)
    for (unsigned k = 0; k < bs; k++)
      if (a[i] == b[k])
        return true;
  return false;
}

/* What an instruction reads and writes. */
typedef struct Uses {
  VRegUse read[8], written[8];
  int32_t pread[4], pwritten[2];
  unsigned reads, writes, preads, pwrites;
} Uses;

static Uses uses_of(const VInst *vinst) {
  Uses uses;
  uses.reads = vinst_reads(vinst, uses.read);
  uses.writes = vinst_writes(vinst, uses.written);
  uses.preads = vinst_pred_reads(vinst, uses.pread);
  uses.pwrites = vinst_pred_writes(vinst, uses.pwritten);
  return uses;
}

static bool is_bank(const VKernel *vkernel, int32_t operand) {
  return operand < 0 && vkernel->kernel->consts[~operand].kind == CONST_BANK;
}

/* Between registers, where it mostly becomes nothing. */
static bool is_copy(const VInst *vinst) {
  return (vinst->inst.op == OP_MOV || vinst->inst.op == OP_MOV64) && vinst->a >= 0 && !vinst_is_guarded(vinst);
}

/* ptxas has an LDC.64 for a copy of 64 bits of the constant bank. */
static bool loads_base(const VKernel *vkernel, const VInst *vinst) {
  return vkernel->loads_bases && vinst->inst.op == OP_MOV64 && is_bank(vkernel, vinst->a);
}

/* Until a register that it writes can be read. The warp waits for an access that acquires, and for one that a warp
 * makes of its lanes' (merge.h). */
static uint32_t latency(const VKernel *vkernel, const VInst *vinst) {
  const Inst *inst = &vinst->inst;
  if (is_copy(vinst))
    return 1;
  if (loads_base(vkernel, vinst))
    return SHARED;
  switch (op_info[inst->op].unit) {
  case UNIT_GLOBAL:
    if (inst->space == MEM_PARAM || inst->space == MEM_CONST)
      return SHARED;
    return inst->sem > SEM_RELAXED || (inst->op == OP_ATOM && inst->cmp != MERGE_NONE) ? 1 : GLOBAL;
  case UNIT_SHARED:
  case UNIT_LOCAL:
  case UNIT_SHUFFLE: return SHARED;
  case UNIT_SYSREG:
  case UNIT_VOTE: return SPECIAL;
  case UNIT_SFU:
  case UNIT_FP64:
  case UNIT_DIVIDE: return WIDE_ARITHMETIC;
  default: return ARITHMETIC;
  }
}

/* Cycles by which `after` stands behind `before` at least, as far as registers go; 0: it needn't. */
static uint32_t lag_between(const VKernel *vkernel, const VInst *before, const Uses *first, const VInst *after,
                            const Uses *second) {
  if (preds_meet(first->pwritten, first->pwrites, second->pread, second->preads))
    return after->guard >= 0 && preds_meet(first->pwritten, first->pwrites, &after->guard, 1) ? GUARD : ARITHMETIC;
  if (meets(first->written, first->writes, second->read, second->reads))
    return latency(vkernel, before);
  bool again = meets(first->written, first->writes, second->written, second->writes) ||
               meets(first->read, first->reads, second->written, second->writes) ||
               preds_meet(first->pwritten, first->pwrites, second->pwritten, second->pwrites) ||
               preds_meet(first->pread, first->preads, second->pwritten, second->pwrites);
  return again ? 1 : 0;
}

/* ---- what may move ---- */

static bool is_constant_load(const Inst *inst) {
  return inst->op == OP_LD && (inst->space == MEM_PARAM || inst->space == MEM_CONST);
}

static bool may_move(const VInst *vinst) {
  const uint32_t fixed = INST_MARKS | INST_SYNCED | INST_CARRY_IN | INST_CARRY_OUT;
  return (unit_is_arithmetic(op_info[vinst->inst.op].unit) || is_constant_load(&vinst->inst)) &&
         !(vinst->inst.flags & fixed);
}

/* Lanes of a warp come together, part or give way there, or a flag is passed on that no operand names; or somebody
 * measures what stands before or behind. */
static bool ends_stretch(const VInst *vinst) {
  const Inst *inst = &vinst->inst;
  if ((inst->op == OP_S2R && special_is_clock(inst->mode)) || inst->flags & (INST_CARRY_IN | INST_CARRY_OUT))
    return true;
  return op_info[inst->op].unit == UNIT_CONTROL && inst->op != OP_BSSY && inst->op != OP_BRA;
}

static bool is_access(const VInst *vinst) {
  Unit unit = op_info[vinst->inst.op].unit;
  return unit == UNIT_GLOBAL || unit == UNIT_SHARED || unit == UNIT_LOCAL;
}

/* The warp doesn't go on before it is over. */
static bool stops(const VInst *vinst) {
  const Inst *inst = &vinst->inst;
  if (op_info[inst->op].unit == UNIT_BARRIER || inst->op == OP_MEMBAR)
    return true;
  return op_info[inst->op].unit == UNIT_GLOBAL && inst->sem > SEM_RELAXED;
}

/* ---- one stretch ---- */

/* `before` is a load, and `after` decides for a select behind it, which may drop what was loaded: who loads in vain
 * is told by that order (sim/detect/race/speculation.c). */
static bool decides_select(const Stretch *stretch, const Uses uses[], unsigned before, unsigned after) {
  const Inst *load = &stretch->entry[before].vinst.inst;
  if (load->op != OP_LD || is_constant_load(load) || !uses[after].pwrites)
    return false;
  for (unsigned i = after + 1; i < stretch->count; i++)
    if (stretch->entry[i].vinst.inst.op == OP_SEL &&
        preds_meet(uses[after].pwritten, uses[after].pwrites, uses[i].pread, uses[i].preads))
      return true;
  return false;
}

/* A plain access. */
static bool is_plain_kind(const Inst *inst, MemSpace *space) {
  bool shared = inst->op == OP_LDS || inst->op == OP_STS;
  *space = shared ? MEM_SHARED : inst->space;
  return inst->sem == SEM_WEAK && inst->cache != CACHE_CV && !(shared && inst->lop);
}

/* A plain access that names its space. */
static bool is_plain(const Inst *inst, MemSpace *space) {
  return is_plain_kind(inst, space) && *space != MEM_GENERIC;
}

/* Loads of this kind come in any order. */
static bool is_plain_load(const VInst *vinst) {
  MemSpace space;
  const Inst *inst = &vinst->inst;
  return (inst->op == OP_LDS || (inst->op == OP_LD && inst->space != MEM_LOCAL)) && is_plain_kind(inst, &space) &&
         !(inst->flags & (INST_MARKS | INST_SYNCED));
}

static int32_t bytes_of(const Inst *inst) { return inst->width == WIDTH_128 ? 16 : inst->width == WIDTH_64 ? 8 : 4; }

/* Entries `before` and `after` count from one register, which keeps its value in between, and meet nowhere. */
static bool lie_apart(const Stretch *stretch, const Uses uses[], unsigned before, unsigned after) {
  const VInst *first = &stretch->entry[before].vinst, *second = &stretch->entry[after].vinst;
  VRegUse base = {.reg = first->a};
  if (first->a < 0 || first->a != second->a || first->a_row != second->a_row ||
      (first->inst.imm < second->inst.imm + bytes_of(&second->inst) &&
       second->inst.imm < first->inst.imm + bytes_of(&first->inst)))
    return false;
  for (unsigned i = before; i < after; i++)
    if (meets(uses[i].written, uses[i].writes, &base, 1))
      return false;
  return true;
}

/* A store or an atomic operation, volatile or relaxed at most, that names its space: none of a lock unit, a barrier
 * or a copy. */
static bool is_unordered_store(const Inst *inst, MemSpace *space) {
  uint32_t flags = op_info[inst->op].flags;
  bool shared = op_info[inst->op].unit == UNIT_SHARED, stores = inst->op == OP_ST || inst->op == OP_STS;
  *space = shared ? MEM_SHARED : inst->space;
  if (!stores && inst->op != OP_ATOM && inst->op != OP_RED && inst->op != OP_ATOMS)
    return false;
  return inst->sem <= SEM_RELAXED && *space != MEM_GENERIC && !(flags & (OPF_LOCK | OPF_UNLOCK)) &&
         (stores || inst->mode != ATOM_ARRIVE) && !inst_is_syncs(inst);
}

/* `after` is a plain load, `before` a plain store to other words, or a store or an atomic operation in another space
 * that orders nothing: ptxas sends the load first. A thread can tell only by a race, since no fence stands between
 * the two. */
static bool passes_store(const Stretch *stretch, const Uses uses[], unsigned before, unsigned after) {
  const Inst *store = &stretch->entry[before].vinst.inst, *load = &stretch->entry[after].vinst.inst;
  MemSpace stored, loaded;
  if ((load->op != OP_LD && load->op != OP_LDS) || !is_plain(load, &loaded))
    return false;
  if (is_unordered_store(store, &stored) && stored != loaded)
    return true;
  return (store->op == OP_ST || store->op == OP_STS) && is_plain(store, &stored) && stored == loaded &&
         lie_apart(stretch, uses, before, after);
}

/* Nothing sinks below it: a fence of its own, and what a short branch has brought, before which a block ended. ptxas
 * has what doesn't matter to them below barriers and accesses that acquire or release. */
static bool stays_above(const VInst *vinst) {
  return vinst->inst.op == OP_MEMBAR || (stops(vinst) && vinst_is_guarded(vinst));
}

static void find_lags(Stretch *stretch) {
  Uses uses[STRETCH_MAX];
  for (unsigned i = 0; i < stretch->count; i++)
    uses[i] = uses_of(&stretch->entry[i].vinst);
  for (unsigned i = 0; i < stretch->count; i++) {
    const Entry *before = &stretch->entry[i];
    for (unsigned k = i + 1; k < stretch->count; k++) {
      const Entry *after = &stretch->entry[k];
      uint32_t lag = lag_between(stretch->vkernel, &before->vinst, &uses[i], &after->vinst, &uses[k]);
      bool keeps =
          !before->moves && !after->moves && !(before->loads && after->loads) && !passes_store(stretch, uses, i, k);
      uint32_t apart = keeps && is_access(&before->vinst) && is_access(&after->vinst) ? ACCESS : 1;
      keeps |= stays_above(&after->vinst) || decides_select(stretch, uses, i, k);
      stretch->lag[i][k] = MAX(lag, keeps ? apart : 0);
    }
  }
}

static void find_paths(Stretch *stretch) {
  for (unsigned i = stretch->count; i-- > 0;) {
    Entry *entry = &stretch->entry[i];
    int32_t preds[2];
    entry->path = vinst_pred_writes(&entry->vinst, preds) ? GUARD : 1;
    for (unsigned k = i + 1; k < stretch->count; k++)
      if (stretch->lag[i][k])
        entry->path = MAX(entry->path, stretch->lag[i][k] + stretch->entry[k].path);
  }
}

/* True if `a` is issued rather than `b`, which comes before it, in cycle `now` or when it can. */
static bool goes_first(const Entry *a, const Entry *b, uint32_t now) {
  uint32_t at = MAX(a->from, now) + (a->stops ? GUARD : 0), other = MAX(b->from, now) + (b->stops ? GUARD : 0);
  return at != other ? at < other : a->path > b->path;
}

/* Registers are there for what it brings until its place comes. */
static bool has_room(const Stretch *stretch, unsigned i) {
  if (!stretch->pressure)
    return stretch->entry[i].loads;
  int change = pressure_change(stretch->pressure, i);
  if (change > 0 && (int)pressure_now(stretch->pressure) + change > stretch->limit)
    return false;
  for (unsigned before = stretch->next; before < i && change > 0; before++)
    if (stretch->rows[before] + change > stretch->limit)
      return false;
  return true;
}

/* The better of two that can issue, in cycle `now`; `best` stands before `i`, if it is one. A branch comes last. */
static unsigned better(const Stretch *stretch, unsigned best, unsigned i, uint32_t now) {
  if (best == STRETCH_MAX)
    return i;
  return stretch->entry[i].vinst.inst.op != OP_BRA && goes_first(&stretch->entry[i], &stretch->entry[best], now)
             ? i
             : best;
}

/* The next one: the first that can issue, and of those the one that most has to wait for. Those far behind come into
 * it if the warp would wait long. */
static unsigned choose(const Stretch *stretch, uint32_t now) {
  unsigned best = STRETCH_MAX, far = 0, seen = 0;
  for (unsigned i = 0; i < stretch->count; i++) {
    const Entry *entry = &stretch->entry[i];
    unsigned passed = seen;
    seen += !entry->done && !entry->copies;
    if (entry->done || entry->waits)
      continue;
    if (entry->moves && passed >= AHEAD)
      far = far ? far : i;
    else if (passed < AHEAD || !entry->loads || has_room(stretch, i))
      best = better(stretch, best, i, now);
  }
  if (!far || (best < STRETCH_MAX && stretch->entry[best].from <= now + LONG))
    return best;
  for (unsigned i = far; i < stretch->count; i++) {
    const Entry *entry = &stretch->entry[i];
    if (!entry->done && !entry->waits && entry->moves && has_room(stretch, i))
      best = better(stretch, best, i, now);
  }
  return best;
}

static void begin_order(Stretch *stretch) {
  stretch->next = 0;
  for (unsigned i = 0; i < stretch->count; i++)
    for (unsigned before = 0; before < i; before++)
      stretch->entry[i].waits += stretch->lag[before][i] > 0;
  if (!stretch->pressure)
    return;
  pressure_begin(stretch->pressure, stretch->vkernel, stretch->first, stretch->count);
  for (unsigned i = 0; i < stretch->count; i++) {
    pressure_issue(stretch->pressure, i);
    stretch->rows[i] = (int)pressure_now(stretch->pressure);
  }
  pressure_restart(stretch->pressure);
}

static void issue(Stretch *stretch, unsigned i) {
  stretch->entry[i].done = true;
  if (stretch->pressure) {
    int change = pressure_change(stretch->pressure, i);
    for (unsigned before = stretch->next; before < i; before++)
      stretch->rows[before] += change;
    pressure_issue(stretch->pressure, i);
  }
  while (stretch->next < stretch->count && stretch->entry[stretch->next].done)
    stretch->next++;
}

static void end_stretch(Stretch *stretch) {
  uint32_t now = 0;
  if (!stretch->count)
    return;
  find_lags(stretch);
  find_paths(stretch);
  begin_order(stretch);
  for (unsigned done = 0; done < stretch->count; done++) {
    unsigned next = choose(stretch, now);
    Entry *entry = &stretch->entry[next];
    uint32_t at = MAX(entry->from, now);
    now = at + !entry->copies;
    issue(stretch, next);
    for (unsigned after = next + 1; after < stretch->count; after++)
      if (stretch->lag[next][after]) {
        stretch->entry[after].from = MAX(stretch->entry[after].from, at + stretch->lag[next][after]);
        stretch->entry[after].waits--;
      }
    g_array_index(stretch->vkernel->insts, VInst, stretch->first + done) = entry->vinst;
  }
  stretch->count = 0;
}

static void add(Stretch *stretch, guint i) {
  const VInst *vinst = &g_array_index(stretch->vkernel->insts, VInst, i);
  if (stretch->count == STRETCH_MAX)
    end_stretch(stretch);
  if (stretch->count == 0)
    stretch->first = i;
  stretch->entry[stretch->count++] = (Entry){.vinst = *vinst,
                                             .moves = may_move(vinst),
                                             .stops = stops(vinst),
                                             .loads = is_plain_load(vinst),
                                             .copies = is_copy(vinst)};
}

static uint8_t *find_starts(const VKernel *vkernel) {
  Flow flow;
  vkernel_flow(vkernel, &flow);
  uint8_t *starts = g_new0(uint8_t, vkernel->insts->len + 1);
  for (uint32_t b = 0; b < flow.nblocks; b++)
    starts[flow.first[b]] = 1;
  for (uint32_t m = 0; m < vkernel->kernel->nmarks; m++)
    starts[vkernel->kernel->marks[m].pc] = 1;
  for (uint32_t l = 0; l < vkernel->kernel->nlabels; l++)
    starts[vkernel->kernel->labels[l].pc] = 1;
  flow_clear(&flow);
  return starts;
}

/* ---- bases of addresses ---- */

enum { BASES_MAX = 16 };

/* Bases that have been loaded in the block. */
typedef struct Bases {
  int32_t constant[BASES_MAX], reg[BASES_MAX];
  unsigned count;
} Bases;

/* The register that has the constant, by a load before the instruction if it is the first. */
static int32_t base_register(VKernel *vkernel, Bases *bases, VEdit *edit, const VInst *vinst, int32_t constant) {
  for (unsigned i = 0; i < bases->count; i++)
    if (bases->constant[i] == constant)
      return bases->reg[i];
  if (bases->count == BASES_MAX)
    return constant;
  VInst load = vinst_beside(OP_MOV64, vinst);
  load.inst.wide = WIDE_DST | WIDE_A;
  load.a = constant;
  load.dst = vkernel_register(vkernel, 2);
  vedit_append(edit, &load);
  bases->constant[bases->count] = constant;
  bases->reg[bases->count++] = load.dst;
  return load.dst;
}

/* Of each block: it is in a loop that has no other in it, whose bases ptxas loads before it. */
static bool *find_inner_loops(const Flow *flow) {
  Loops loops;
  loops_init(&loops, flow);
  bool *inner = g_new0(bool, flow->nblocks + 1);
  for (uint32_t block = 0; block < flow->nblocks; block++)
    inner[block] = loops.loop_of[block] != NO_TARGET;
  for (guint i = 0; i < loops.headers->len; i++) {
    int32_t parent = loops.parent[g_array_index(loops.headers, uint32_t, i)];
    for (uint32_t block = 0; parent != NO_TARGET && block < flow->nblocks; block++)
      inner[block] = inner[block] && loops.loop_of[block] != parent;
  }
  loops_clear(&loops);
  return inner;
}

/* A sum with a base in the constant bank waits for the load of that (IMAD.WIDE, which has no constant on sm_90). */
static void load_bases(VKernel *vkernel) {
  Flow flow;
  vkernel_flow(vkernel, &flow);
  g_autofree bool *inner = find_inner_loops(&flow);
  Bases bases = {.count = 0};
  VEdit edit;
  vedit_init(&edit, vkernel);
  guint n = vkernel->insts->len;
  for (guint i = 0; i < n; i++) {
    VInst vinst = g_array_index(vkernel->insts, VInst, i);
    uint32_t block = flow.block_of[i];
    bases.count = flow.first[block] == i ? 0 : bases.count;
    edit.moved[i] = edit.insts->len;
    if (vinst.inst.op == OP_IADD64 && !inner[block] && !vinst_is_guarded(&vinst)) {
      if (is_bank(vkernel, vinst.a))
        vinst.a = base_register(vkernel, &bases, &edit, &vinst, vinst.a);
      else if (is_bank(vkernel, vinst.b))
        vinst.b = base_register(vkernel, &bases, &edit, &vinst, vinst.b);
    }
    vedit_append(&edit, &vinst);
  }
  vedit_finish(&edit, vkernel);
  flow_clear(&flow);
}

/* ---- giving way ---- */

/* A YIELD at the head of a loop that polls by a load comes behind that, and takes its time while the load is under
 * way; before an atomic it stays. */
static void yield_behind_load(VKernel *vkernel, guint at, const uint8_t *starts) {
  for (guint i = at + 1; i < vkernel->insts->len && !starts[i]; i++) {
    const VInst *vinst = &g_array_index(vkernel->insts, VInst, i);
    if ((vinst->inst.op == OP_LD && !is_constant_load(&vinst->inst)) || vinst->inst.op == OP_LDS) {
      VInst yield = g_array_index(vkernel->insts, VInst, at);
      for (guint k = at; k < i; k++)
        g_array_index(vkernel->insts, VInst, k) = g_array_index(vkernel->insts, VInst, k + 1);
      g_array_index(vkernel->insts, VInst, i) = yield;
      return;
    }
    if (!may_move(vinst))
      return;
  }
}

/* Registers of four rows leave holes between others. */
static bool has_fours(const VKernel *vkernel) {
  for (guint r = 0; r < vkernel->rows->len; r++)
    if (g_array_index(vkernel->rows, uint8_t, r) == 4)
      return true;
  return false;
}

/* `rows`: so many registers a thread has. */
static void measure_pressure(Stretch *stretch, unsigned rows) {
  stretch->pressure = pressure_new(stretch->vkernel);
  if (!stretch->pressure)
    return;
  unsigned free = FREE_ROWS - (has_fours(stretch->vkernel) ? FOURS_ROWS : 0);
  unsigned peak = pressure_peak(stretch->pressure), most = MAX(free, peak + MORE_ROWS);
  if (most + SPARE_ROWS > rows)
    most = MAX(peak, rows - MIN(rows, SPARE_ROWS));
  stretch->limit = (int)MIN(most, INT16_MAX);
}

void vkernel_schedule(VKernel *vkernel, unsigned rows) {
  if (vkernel->loads_bases)
    load_bases(vkernel);
  g_autofree Stretch *stretch = g_new0(Stretch, 1);
  g_autofree uint8_t *starts = find_starts(vkernel);
  bool tries = false;  /* from a try until the comparison that says how it went: sim/core/try_wait.c looks for them */
  bool synced = false; /* behind a WARPSYNC, which names of findings know by what stands next to it */
  stretch->vkernel = vkernel;
  for (guint i = 0; i < vkernel->insts->len; i++)
    if (g_array_index(vkernel->insts, VInst, i).inst.op == OP_YIELD)
      yield_behind_load(vkernel, i, starts);
  measure_pressure(stretch, rows);
  for (guint i = 0; i < vkernel->insts->len; i++) {
    const VInst *vinst = &g_array_index(vkernel->insts, VInst, i);
    tries |= vinst->inst.op == OP_LDS && vinst->inst.lop == LDS_TRIES_PHASE;
    bool ends = tries || ends_stretch(vinst) || (synced && !may_move(vinst));
    synced = vinst->inst.op == OP_WARPSYNC;
    if (starts[i] || ends)
      end_stretch(stretch);
    if (!ends)
      add(stretch, i);
    tries &= vinst->inst.op != OP_ISETP || vinst->inst.mode != ISETP_OF_TRY;
  }
  end_stretch(stretch);
  pressure_free(stretch->pressure);
}
