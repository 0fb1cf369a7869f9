#include "isa/mc/mc_hazards.h"

#include <string.h>

/* Rows of registers, then predicates. */
enum { PREDICATES = 256, ITEMS = PREDICATES + 64, WORDS = ITEMS / 64, STATES_MAX = 1 << 14, FIXED_MAX = 16 };

typedef enum {
  LATENCY_VARIABLE,
  LATENCY_VECTOR,
  LATENCY_MULTIPLY,
  LATENCY_DOUBLE,
  LATENCY_UNIFORM,
  LATENCY_UNIFORM_MOVE
} Latency;

/* Units that return their results in order: a wait for a later one will do. */
typedef enum {
  OUT_OF_ORDER,
  IN_ORDER_CONVERSIONS,
  IN_ORDER_SHARED,
  IN_ORDER_CONSTANTS,
  IN_ORDER_SPACES,
  IN_ORDER_REDUCTIONS
} InOrder;

/* An instruction of machine code with all its parts. */
typedef struct Step {
  uint32_t first, last;
  uint64_t reads[WORDS], writes[WORDS], addresses[WORDS];
  uint8_t stall, write, read, wait; /* scoreboards: CONTROL_NONE */
  uint8_t latency;                  /* Latency */
  uint8_t in_order;                 /* InOrder */
  bool owes;                        /* its results come at no fixed time, so ptxas has it raise a scoreboard */
  bool memory, uniform;             /* it accesses memory; it is of the uniform datapath */
  bool copies;                      /* R2UR, which reads the predicate of .OR late */
  bool settles;                     /* ptxas takes sources of accesses before it as read behind it */
} Step;

typedef struct Search {
  const Kernel *kernel;
  unsigned sm;
  Step *steps;
  uint32_t count;
  uint32_t *step_of; /* of each instruction */
  uint32_t *stamp;   /* of each step: of the search that has been there last */
  uint64_t *seen;    /* in that search: sets of scoreboards, a bit each; or the least distance */
  uint32_t now;      /* the stamp of this search */
  GArray *stack;     /* State */
  GArray *found;     /* CodeHazard */
} Search;

typedef struct State {
  uint32_t step, cover; /* cover: scoreboards whose wait ends it; or cycles since the producer's issue */
} State;

/* ---- what an instruction does ---- */

static bool has(const uint64_t *set, unsigned item) { return set[item / 64] >> item % 64 & 1; }
static void add(uint64_t *set, unsigned item) { set[item / 64] |= UINT64_C(1) << item % 64; }

static bool is_one_of(const char *root, const char *roots) {
  g_autofree char *word = g_strdup_printf(" %s ", root);
  return strstr(roots, word) != NULL;
}

static InOrder order_of(const char *root) {
  if (is_one_of(root, " MUFU I2F F2I F2F FRND POPC FLO BREV FCHK "))
    return IN_ORDER_CONVERSIONS;
  if (is_one_of(root, " LDS LDSM ATOMS SHFL S2R S2UR B2R "))
    return IN_ORDER_SHARED;
  if (is_one_of(root, " QSPC "))
    return IN_ORDER_SPACES;
  if (is_one_of(root, " REDUX "))
    return IN_ORDER_REDUCTIONS;
  return is_one_of(root, " LDC ") ? IN_ORDER_CONSTANTS : OUT_OF_ORDER;
}

static Latency latency_of(const char *root) {
  static const struct {
    const char *roots;
    Latency latency;
  } table[] = {
      {" IADD3 LOP3 SHF ISETP SEL PRMT LEA PLOP3 VIMNMX IMNMX VIMNMX3 VIADDMNMX IABS SGXT BMSK FSEL FSETP FMNMX FSET "
       "MOV P2R R2P I2FP F2FP VOTE VABSDIFF IDP HFMA2 HADD2 HMUL2 HSETP2 FADD FMUL FFMA VIADD CS2R I2I ",
       LATENCY_VECTOR},
      {" IMAD ", LATENCY_MULTIPLY},
      {" DADD DMUL DFMA DSETP ", LATENCY_DOUBLE},
      {" UIADD3 UIMAD ULEA USHF ULOP3 USEL UISETP UPRMT UFLO UBREV UBMSK USGXT UPLOP3 ", LATENCY_UNIFORM},
      {" ULDC UMOV VOTEU UPOPC ", LATENCY_UNIFORM_MOVE},
  };
  for (guint i = 0; i < G_N_ELEMENTS(table); i++)
    if (is_one_of(root, table[i].roots))
      return table[i].latency;
  return LATENCY_VARIABLE;
}

static void add_rows(uint64_t *set, const uint64_t *without, const RegList *list, uint32_t named) {
  for (unsigned i = 0; i < list->count; i++)
    if (list->reg[i] >= 0 && (uint32_t)list->reg[i] < named && !(without && has(without, (unsigned)list->reg[i])))
      add(set, (unsigned)list->reg[i]);
}

/* Constants with an index are read as operands are. */
static bool is_memory(const Inst *inst) {
  Unit unit = op_info[inst->op].unit;
  if (inst->op == OP_LD && (inst->space == MEM_CONST || inst->space == MEM_PARAM))
    return false;
  return unit == UNIT_GLOBAL || unit == UNIT_SHARED || unit == UNIT_LOCAL;
}

static void add_part(Step *step, const Kernel *kernel, const Inst *inst, const char *root) {
  enum { SCRATCH_PREDICATES = 18 };
  uint32_t named = kernel->nregs - kernel->inner_rows, real = (1u << SCRATCH_PREDICATES) - 1;
  RegList reads = inst_reads(inst), writes = inst_writes(inst, kernel->nregs);
  add_rows(step->reads, step->writes, &reads, named);
  step->memory |= is_memory(inst);
  if (is_memory(inst) && strcmp(root, "SYNCS") != 0) { /* SYNCS reads its address as it reads values */
    RegList address = {.count = inst->flags & INST_ADDR64 ? 2 : 1, .reg = {inst->a, (int16_t)(inst->a + 1)}};
    add_rows(step->addresses, step->writes, inst->a >= 0 ? &address : &(RegList){0}, named);
  }
  step->reads[PREDICATES / 64] |= inst_pred_reads(inst) & real & ~step->writes[PREDICATES / 64];
  add_rows(step->writes, NULL, &writes, named);
  step->writes[PREDICATES / 64] |= inst_pred_writes(inst) & real;
}

static void add_control(Step *step, uint32_t control) {
  unsigned write = control >> CONTROL_WRITE_SHIFT & 7, read = control >> CONTROL_READ_SHIFT & 7;
  step->write = write == CONTROL_NONE ? step->write : (uint8_t)write;
  step->read = read == CONTROL_NONE ? step->read : (uint8_t)read;
  step->wait |= (uint8_t)(control >> CONTROL_WAIT_SHIFT & 63);
  step->stall = (uint8_t)MAX(step->stall, control & CONTROL_STALL);
}

/* Instructions of the kernel stand in the order of their addresses: the next one of those from *index on. */
static const McInst *source_of(const McModule *module, const McKernel *source, const Inst *inst, guint *index) {
  while (mc_inst(module, source, *index)->address != inst->address)
    ++*index;
  return mc_inst(module, source, *index);
}

static void make_steps(Search *search, const McModule *module, const McKernel *source) {
  const Kernel *kernel = search->kernel;
  guint index = 0;
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    bool begins = pc == 0 || !(kernel->insts[pc - 1].flags & INST_FUSED);
    if (begins)
      search->steps[search->count++] = (Step){.first = pc, .write = CONTROL_NONE, .read = CONTROL_NONE};
    Step *step = &search->steps[search->count - 1];
    const char *root = source_of(module, source, &kernel->insts[pc], &index)->root;
    step->last = pc;
    step->latency = (uint8_t)latency_of(root);
    step->in_order = (uint8_t)order_of(root);
    step->owes |= step->in_order != OUT_OF_ORDER || is_one_of(root, " LD LDG LDL ATOM ATOMG MATCH REDUX QSPC ");
    step->uniform = root[0] == 'U';
    step->copies |= strcmp(root, "R2UR") == 0;
    step->settles |= strcmp(root, "BAR") == 0 || strcmp(root, "MEMBAR") == 0 || strcmp(root, "YIELD") == 0;
    add_part(step, kernel, &kernel->insts[pc], root);
    add_control(step, kernel->control[pc]);
    if (strcmp(root, "ERRBAR") == 0) /* it waits longer than any latency: ptxas writes a stall of 0 */
      step->stall = FIXED_MAX;
    search->step_of[pc] = search->count - 1;
  }
}

/* ---- paths ---- */

static bool is_guarded(const Inst *inst) { return inst->guard != PRED_TRUE || inst->flags & INST_GUARD_NOT; }

/* The steps behind one; returns how many. */
static unsigned successors(const Search *search, uint32_t from, uint32_t next[2]) {
  const Inst *inst = &search->kernel->insts[search->steps[from].last];
  unsigned count = 0;
  bool leaves = op_info[inst->op].flags & OPF_BRANCH && !is_guarded(inst) && inst->op != OP_BRADIV;
  if (inst->op == OP_BRX || inst->op == OP_ENDCOLLECTIVE)
    return 0;
  if (inst->target != NO_TARGET && (inst->op == OP_BRA || inst->op == OP_BRADIV || inst->op == OP_WARPSYNC))
    next[count++] = search->step_of[inst->target];
  if (!leaves && from + 1 < search->count)
    next[count++] = from + 1;
  return count;
}

/* One of them only has lanes that the other hasn't. */
static bool exclude_each_other(const Search *search, const Step *a, const Step *b) {
  const Inst *one = &search->kernel->insts[a->last], *other = &search->kernel->insts[b->last];
  return one->guard != PRED_TRUE && one->guard == other->guard && (one->flags ^ other->flags) & INST_GUARD_NOT;
}

static bool overwrites(const Search *search, const Step *step, unsigned item) {
  return has(step->writes, item) && !is_guarded(&search->kernel->insts[step->last]);
}

static void start(Search *search) {
  search->now++;
  g_array_set_size(search->stack, 0);
}

static uint64_t *seen_at(Search *search, uint32_t step, uint64_t unseen) {
  if (search->stamp[step] != search->now) {
    search->stamp[step] = search->now;
    search->seen[step] = unseen;
  }
  return &search->seen[step];
}

static void note(Search *search, CodeHazard hazard) {
  for (guint i = search->found->len; i-- > 0;) {
    const CodeHazard *known = &g_array_index(search->found, CodeHazard, i);
    if (known->producer == hazard.producer && known->pc == hazard.pc && known->kind == hazard.kind)
      return;
    if (known->producer != hazard.producer)
      break;
  }
  g_array_append_val(search->found, hazard);
}

static CodeHazard make_hazard(const Step *producer, const Step *consumer, CodeHazardKind kind, unsigned item) {
  return (CodeHazard){.pc = consumer->last,
                      .producer = producer->last,
                      .kind = (uint8_t)kind,
                      .predicate = item >= PREDICATES,
                      .number = (uint8_t)(item % PREDICATES)};
}

/* ---- scoreboards ---- */

/* Pushes the steps behind one: a set of scoreboards is looked at once at each. */
static void push_covered(Search *search, uint32_t from, uint32_t cover) {
  uint32_t next[2];
  for (unsigned i = successors(search, from, next); i-- > 0;) {
    uint64_t *seen = seen_at(search, next[i], 0);
    State state = {next[i], cover};
    if (!(*seen >> cover & 1) && search->stack->len < STATES_MAX)
      g_array_append_val(search->stack, state);
    *seen |= UINT64_C(1) << cover;
  }
}

static uint32_t scoreboard_bit(uint8_t scoreboard) { return scoreboard == CONTROL_NONE ? 0 : 1u << scoreboard; }

static uint32_t raised(const Step *step) { return scoreboard_bit(step->write) | scoreboard_bit(step->read); }

/* The scoreboards of a step that fall behind the producer's result, or behind its reading of its sources. */
static uint32_t falls_behind(const Step *producer, const Step *step, bool sources) {
  bool one_unit = producer->in_order && producer->in_order == step->in_order;
  if (sources)
    return one_unit || (producer->memory && step->memory) ? raised(step) : 0;
  return one_unit ? scoreboard_bit(step->write) : 0;
}

/* `sources`: the item is read by the producer; else it is written. The predicate of an ATOM, which says whether the
 * address was one of shared memory, is there when the sources have been read. */
static void follow_scoreboard(Search *search, uint32_t from, unsigned item, bool sources) {
  const Step *producer = &search->steps[from];
  bool early = sources || (item >= PREDICATES && producer->memory);
  start(search);
  push_covered(search, from, early ? raised(producer) : scoreboard_bit(producer->write));
  while (search->stack->len) {
    State state = g_array_index(search->stack, State, search->stack->len - 1);
    const Step *step = &search->steps[state.step];
    g_array_set_size(search->stack, search->stack->len - 1);
    bool reads = has(step->reads, item) && !sources, meets = reads || has(step->writes, item);
    if (step->wait & state.cover)
      continue;
    if (sources && (step->settles || (meets && (step->memory || raised(step))))) /* it writes in its turn */
      continue;
    if (meets && !exclude_each_other(search, producer, step)) {
      CodeHazardKind kind = sources ? HAZARD_SOURCE : reads ? HAZARD_READ : HAZARD_OVERWRITE;
      note(search, make_hazard(producer, step, kind, item));
      continue;
    }
    if (overwrites(search, step, item))
      continue;
    push_covered(search, state.step, state.cover | falls_behind(producer, step, sources));
  }
}

/* ---- fixed latencies ---- */

static uint32_t cycles_of_predicate(const Search *search, const Step *producer, const Step *consumer, bool guards) {
  enum { GUARD_TURING = 12, GUARD = 13, OPERAND = 4, OF_MOVE = 1 /* PLOP3 behind VOTEU */, OF_COPY = 2 };
  if (producer->latency == LATENCY_UNIFORM_MOVE && !guards)
    return OF_MOVE;
  if (consumer->copies && !guards)
    return OF_COPY;
  bool vector = producer->latency == LATENCY_VECTOR || producer->latency == LATENCY_DOUBLE;
  return !guards || !vector ? OPERAND : search->sm < 80 ? GUARD_TURING : GUARD;
}

static uint32_t cycles_of_register(const Search *search, const Step *producer, const Step *consumer, bool addresses) {
  bool late = consumer->memory || consumer->write != CONTROL_NONE;
  bool multiplies = producer->latency == LATENCY_MULTIPLY || consumer->latency == LATENCY_MULTIPLY;
  switch ((Latency)producer->latency) {
  case LATENCY_DOUBLE: return 6;
  case LATENCY_UNIFORM_MOVE: return 2;
  case LATENCY_UNIFORM: return consumer->uniform ? 4 : late ? 9 : 6;
  default: break;
  }
  if (addresses)
    return search->sm < 80 ? 8 : 5;
  return search->sm >= 90 && multiplies ? 2 : 4;
}

/* How many cycles behind the producer's issue the consumer may read it. */
static uint32_t cycles_of(const Search *search, const Step *producer, const Step *consumer, unsigned item) {
  const Inst *inst = &search->kernel->insts[consumer->last];
  if (item >= PREDICATES)
    return cycles_of_predicate(search, producer, consumer, inst->guard == item - PREDICATES);
  return cycles_of_register(search, producer, consumer, has(consumer->addresses, item));
}

static void push_distance(Search *search, uint32_t from, uint32_t distance) {
  uint32_t next[2];
  distance += MAX(search->steps[from].stall, 1);
  for (unsigned i = successors(search, from, next); i-- > 0 && distance < FIXED_MAX;) {
    uint64_t *seen = seen_at(search, next[i], UINT64_MAX);
    State state = {next[i], distance};
    if (distance >= *seen)
      continue;
    *seen = distance;
    g_array_append_val(search->stack, state);
  }
}

static void follow_latency(Search *search, uint32_t from, unsigned item) {
  const Step *producer = &search->steps[from];
  start(search);
  push_distance(search, from, 0);
  while (search->stack->len) {
    State state = g_array_index(search->stack, State, search->stack->len - 1);
    const Step *step = &search->steps[state.step];
    g_array_set_size(search->stack, search->stack->len - 1);
    uint32_t cycles = cycles_of(search, producer, step, item);
    if (has(step->reads, item) && state.cover < cycles && !exclude_each_other(search, producer, step)) {
      CodeHazard hazard = make_hazard(producer, step, HAZARD_LATENCY, item);
      hazard.distance = (uint8_t)state.cover;
      hazard.latency = (uint8_t)cycles;
      note(search, hazard);
      continue;
    }
    if (!overwrites(search, step, item))
      push_distance(search, state.step, state.cover);
  }
}

/* ---- all ---- */

static void follow_writes(Search *search, uint32_t from) {
  const Step *step = &search->steps[from];
  for (unsigned item = 0; item < ITEMS; item++) {
    if (!step->writes[item / 64]) {
      item |= 63;
      continue;
    }
    if (!has(step->writes, item))
      continue;
    if (step->write != CONTROL_NONE || step->owes)
      follow_scoreboard(search, from, item, false);
    else if (step->latency != LATENCY_VARIABLE)
      follow_latency(search, from, item);
  }
}

/* Uniform registers and predicates are read when the instruction issues. */
static void follow_sources(Search *search, uint32_t from) {
  const Step *step = &search->steps[from];
  uint32_t vector = search->kernel->nregs - search->kernel->uniform_registers;
  if (!step->memory && step->read == CONTROL_NONE)
    return;
  for (unsigned item = 0; item < vector; item++)
    if (has(step->reads, item))
      follow_scoreboard(search, from, item, true);
}

static int by_pc(gconstpointer a, gconstpointer b) {
  const CodeHazard *one = a, *other = b;
  if (one->pc != other->pc)
    return one->pc < other->pc ? -1 : 1;
  return one->producer < other->producer ? -1 : one->producer > other->producer;
}

void mc_hazards_find(const McModule *module, const McKernel *source, Kernel *kernel) {
  uint32_t room = kernel->ninsts + 1;
  Search search = {.kernel = kernel, .sm = source->sm};
  if (!kernel->control || !kernel->ninsts)
    return;
  search.steps = g_new(Step, room);
  search.step_of = g_new(uint32_t, room);
  search.stamp = g_new0(uint32_t, room);
  search.seen = g_new(uint64_t, room);
  search.stack = g_array_new(FALSE, FALSE, sizeof(State));
  search.found = g_array_new(FALSE, TRUE, sizeof(CodeHazard));
  make_steps(&search, module, source);
  for (uint32_t i = 0; i < search.count; i++) {
    follow_writes(&search, i);
    follow_sources(&search, i);
  }
  g_array_sort(search.found, by_pc);
  kernel->nhazards = search.found->len;
  kernel->hazards = (CodeHazard *)g_array_free(search.found, search.found->len == 0);
  g_free(search.steps);
  g_free(search.step_of);
  g_free(search.stamp);
  g_free(search.seen);
  g_array_unref(search.stack);
}
