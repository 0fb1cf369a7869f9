#include "isa/ptx/ptx_calls.h"

#include <string.h>

/* What a way through the originals costs. The numbers were chosen on programs whose stores say in their address which
 * line they are of: loops of atomic_ref, of plain accesses and of fences, with calls, conditions and lines around. */
enum {
  SKIPPED = 4,      /* an original that has no copy, as the compiler left it out */
  SKIPPED_MAX = 24, /* all that one step leaves out */
  AGAIN = 8,        /* a step back: the body begins anew */
  AGAIN_INSIDE = 4, /* instead, if both are of one call */
  CALLED = 2,       /* at most, between a call and what it has inlined */
  REPEATED = 16,    /* instead, if both are one line: it would still hold */
  NOT_FIRST = 1,    /* more, if there is another one to begin with before, in the block */
  NOT_LAST = 1,     /* more, if there are originals behind where it comes from */
  OTHER_BLOCK = 3,  /* more, if a label stands between */
  UNLIKE = 4,       /* the copy has another instruction or address than the original */
};

enum {
  CHOICES_MAX = 32,   /* originals of a line: how many are tried */
  OLDER_MAX = 256,    /* lines of its place: how many are looked at */
  DEPTH_MAX = 64,     /* calls around a line: how many are looked at */
  RUN_MAX = 4096,     /* lines that are told together */
  CALLS = 4,          /* of a line: how many of the places that it was inlined at are compared */
  COMPARED_INSTS = 16 /* of a line: how many are looked at for an address */
};

/* What is known of a loc, by its number less `first`. */
typedef struct Line {
  uint64_t calls[CALLS]; /* the outermost places that it was inlined at, then its own; 0: there are no more */
  uint32_t looks;        /* a hash of its first access, or of its first instructions */
  uint32_t rank;         /* of an original: how many came before; of what opens a call: of that's first original */
  uint32_t older;        /* of an original: the one of the same place before, or PTX_NO_INDEX */
  bool opens;            /* what follows was inlined at it, and no instruction is its own */
  bool not_first;        /* of an original: one such is in the block already */
} Line;

/* An original that a line may be a copy of, or the line itself. */
typedef struct Choice {
  uint32_t line;
  int32_t before, behind; /* the least cost of the run up to here, and of what follows */
} Choice;

/* A line of the run: it has choices from `first` to the next one's. */
typedef struct Step {
  uint32_t line, first;
} Step;

typedef struct Calls {
  PtxModule *module;
  uint32_t first, ranks;
  Line *lines;
  GArray *steps, *choices; /* the run: lines that are told together; the first has one choice */
  GHashTable *places;      /* place -> 1 + newest line that isn't a copy */
  GHashTable *originals;   /* place -> 1 + newest original */
} Calls;

static PtxLoc *loc_of(const Calls *calls, uint32_t line) {
  return &g_array_index(calls->module->locs, PtxLoc, calls->first + line);
}

static uint32_t count_of(const Calls *calls) { return calls->module->locs->len - calls->first; }

enum { COLUMN_BITS = 20 };
static uint64_t place_key(uint32_t file, uint32_t line, uint32_t column) {
  return (uint64_t)file << 44 | (uint64_t)line << COLUMN_BITS | column;
}

static uint64_t own_key(const PtxLoc *loc) { return place_key(loc->file, loc->line, loc->column); }

static uint64_t inlined_key(const PtxLoc *loc) {
  return place_key(loc->inlined_file, loc->inlined_line, loc->inlined_column);
}

static bool is_inlined(const PtxLoc *loc) { return loc->inlined_line != 0; }

static bool read_alike(const PtxLoc *loc, const PtxLoc *other) {
  return own_key(loc) == own_key(other) && inlined_key(loc) == inlined_key(other) &&
         loc->function_name == other->function_name && loc->function_offset == other->function_offset;
}

/* All 64 bits: g_direct_hash takes the low 32 only. */
static guint hash_key(gconstpointer key) {
  uint64_t bits = (uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15u;
  return (guint)(bits >> 32);
}

/* The newest line of a place, or PTX_NO_INDEX. */
static uint32_t newest_at(GHashTable *table, uint64_t key) {
  return GPOINTER_TO_UINT(g_hash_table_lookup(table, GSIZE_TO_POINTER(key))) - 1;
}

static void set_newest(GHashTable *table, uint64_t key, uint32_t line) {
  g_hash_table_insert(table, GSIZE_TO_POINTER(key), GUINT_TO_POINTER(line + 1));
}

/* -- what a line's instructions look like -- */

static bool is_address(const PtxOperand *operand) {
  return operand->kind == PTX_OPERAND_MEM_REG || operand->kind == PTX_OPERAND_MEM_VAR ||
         operand->kind == PTX_OPERAND_MEM_ABSOLUTE;
}

static uint32_t mix(uint32_t hash, uint64_t value) {
  return (hash ^ (uint32_t)value ^ (uint32_t)(value >> 32)) * 0x9e3779b1u + 1;
}

static uint32_t looks_of(const Calls *calls, uint32_t line) {
  const PtxModule *module = calls->module;
  uint32_t at = loc_of(calls, line)->inst,
           end = line + 1 < count_of(calls) ? loc_of(calls, line + 1)->inst : module->insts->len, first = 0;
  for (uint32_t i = at; i < MIN(end, at + COMPARED_INSTS); i++) {
    const PtxInst *inst = ptx_inst(module, i);
    for (uint32_t k = 0; k < inst->noperands; k++) {
      const PtxOperand *operand = ptx_operand(module, inst->operands + k);
      if (is_address(operand))
        return mix(mix(inst->op, operand->kind), operand->bits);
    }
    first = i < at + 2 ? mix(first, inst->op) : first;
  }
  return first;
}

/* -- what a step costs -- */

/* How many calls two lines have in common. */
static int32_t common_calls(const Line *a, const Line *b) {
  int32_t n = 0;
  while (n < CALLS && a->calls[n] && a->calls[n] == b->calls[n])
    n++;
  return n;
}

/* True if `line` was inlined at the place of `call`. */
static bool stands_at(const Line *call, const Line *line) {
  int32_t n = 0;
  while (n < CALLS && call->calls[n])
    n++;
  return n < CALLS && line->calls[n] && common_calls(call, line) == n;
}

/* From an original to that of `line`; to the line itself nothing: what isn't a copy may come anywhere. */
static int32_t step_cost(const Calls *calls, uint32_t from, uint32_t to, uint32_t line) {
  const Line *a = &calls->lines[from], *b = &calls->lines[to];
  if (to == line)
    return 0;
  int32_t most = stands_at(a, b) || (stands_at(b, a) && !b->opens) ? CALLED : SKIPPED_MAX;
  if (b->rank > a->rank || (b->rank == a->rank && a->opens))
    return MIN((int32_t)(MAX(b->rank - a->rank, 1) - 1) * SKIPPED, most);
  if (most == CALLED)
    return CALLED;
  int32_t cost = a == b ? REPEATED : common_calls(a, b) ? AGAIN_INSIDE : AGAIN;
  return cost + (b->not_first ? NOT_FIRST : 0) + (a->rank + 1 < calls->ranks ? NOT_LAST : 0) +
         (loc_of(calls, from)->block != loc_of(calls, to)->block ? OTHER_BLOCK : 0);
}

static int32_t unlike_cost(const Calls *calls, uint32_t line, uint32_t original) {
  return calls->lines[line].looks == calls->lines[original].looks ? 0 : UNLIKE;
}

/* -- a run: lines of which more than one original is possible, from one that is sure to the next -- */

static Choice *choices_of(const Calls *calls, uint32_t step, uint32_t *count) {
  uint32_t first = g_array_index(calls->steps, Step, step).first,
           end =
               step + 1 < calls->steps->len ? g_array_index(calls->steps, Step, step + 1).first : calls->choices->len;
  *count = end - first;
  return &g_array_index(calls->choices, Choice, first);
}

static void cost_before(const Calls *calls, uint32_t step) {
  uint32_t count, ncame = 0;
  uint32_t line = g_array_index(calls->steps, Step, step).line;
  Choice *choices = choices_of(calls, step, &count);
  const Choice *came = step > 0 ? choices_of(calls, step - 1, &ncame) : NULL;
  for (uint32_t i = 0; i < count; i++) {
    int32_t least = came ? INT32_MAX : 0;
    for (uint32_t k = 0; k < ncame; k++)
      least = MIN(least, came[k].before + step_cost(calls, came[k].line, choices[i].line, line));
    choices[i].before = least + unlike_cost(calls, line, choices[i].line);
    choices[i].behind = 0;
  }
}

static void cost_behind(const Calls *calls, uint32_t step) {
  uint32_t count, nnext;
  uint32_t line = g_array_index(calls->steps, Step, step + 1).line;
  Choice *choices = choices_of(calls, step, &count);
  const Choice *next = choices_of(calls, step + 1, &nnext);
  for (uint32_t i = 0; i < count; i++) {
    choices[i].behind = INT32_MAX;
    for (uint32_t k = 0; k < nnext; k++)
      choices[i].behind = MIN(choices[i].behind, step_cost(calls, choices[i].line, next[k].line, line) +
                                                     next[k].behind + unlike_cost(calls, line, next[k].line));
  }
}

/* Both were inlined at the same lines, in whatever columns: who is told of one is told of the other. */
static bool same_lines(const Calls *calls, uint32_t a, uint32_t b) {
  bool same = true;
  for (int32_t n = 0; n < CALLS; n++)
    same &= calls->lines[a].calls[n] >> COLUMN_BITS == calls->lines[b].calls[n] >> COLUMN_BITS;
  return same;
}

/* The best choice of a step is its only one from now on. A line of which two calls on different lines are equally
 * good has no parent. */
static void choose(const Calls *calls, uint32_t step) {
  uint32_t count, line = g_array_index(calls->steps, Step, step).line;
  Choice *choices = choices_of(calls, step, &count);
  const Choice *best = choices;
  for (uint32_t i = 1; i < count; i++)
    best = choices[i].before + choices[i].behind < best->before + best->behind ? &choices[i] : best;
  bool sure = true;
  for (uint32_t i = 0; i < count; i++)
    sure &= loc_of(calls, choices[i].line)->parent == loc_of(calls, best->line)->parent ||
            same_lines(calls, choices[i].line, best->line) ||
            choices[i].before + choices[i].behind > best->before + best->behind;
  if (best->line != line)
    loc_of(calls, line)->parent = sure ? loc_of(calls, best->line)->parent : PTX_NO_INDEX;
  choices[0].line = best->line;
}

/* Settles the lines of the run; the last of them begins the next one. */
static void settle(Calls *calls) {
  if (!calls->steps->len)
    return;
  for (uint32_t step = calls->steps->len - 1; step-- > 0;)
    cost_behind(calls, step);
  for (uint32_t step = 1; step < calls->steps->len; step++)
    choose(calls, step);
  Step last = g_array_index(calls->steps, Step, calls->steps->len - 1);
  Choice chosen = {.line = g_array_index(calls->choices, Choice, last.first).line};
  g_array_set_size(calls->steps, 0);
  g_array_set_size(calls->choices, 0);
  g_array_append_val(calls->choices, chosen);
  last.first = 0;
  g_array_append_val(calls->steps, last);
}

/* -- the lines in their order -- */

/* The originals of a line, newest first; false if there are none. */
static bool add_originals(Calls *calls, uint32_t line) {
  const PtxLoc *loc = loc_of(calls, line);
  guint had = calls->choices->len;
  uint32_t other = newest_at(calls->originals, own_key(loc));
  for (unsigned i = 0; i < OLDER_MAX && other != PTX_NO_INDEX && calls->choices->len < had + CHOICES_MAX; i++) {
    Choice choice = {.line = other};
    if (read_alike(loc_of(calls, other), loc))
      g_array_append_val(calls->choices, choice);
    other = calls->lines[other].older;
  }
  return calls->choices->len > had;
}

/* Where a line was inlined that is like none before: in a call that the line before is of, too, or in the newest. */
static uint32_t find_parent(const Calls *calls, uint32_t line) {
  const PtxLoc *loc = loc_of(calls, line);
  uint32_t newest = newest_at(calls->places, inlined_key(loc));
  uint32_t before = line ? calls->first + line - 1 : PTX_NO_INDEX;
  for (unsigned i = 0; i < DEPTH_MAX && before != PTX_NO_INDEX; i++) {
    if (own_key(ptx_loc(calls->module, before)) == inlined_key(loc))
      return before;
    before = ptx_loc(calls->module, before)->parent;
  }
  return newest == PTX_NO_INDEX ? PTX_NO_INDEX : calls->first + newest;
}

static void set_calls(const Calls *calls, uint32_t line) {
  const PtxLoc *loc = loc_of(calls, line);
  uint64_t *places = calls->lines[line].calls;
  unsigned n = 0;
  if (loc->parent != PTX_NO_INDEX)
    memcpy(places, calls->lines[loc->parent - calls->first].calls, sizeof calls->lines->calls);
  else if (is_inlined(loc))
    places[0] = inlined_key(loc);
  while (n < CALLS && places[n])
    n++;
  if (n < CALLS)
    places[n] = own_key(loc);
}

static void add_original(Calls *calls, uint32_t line) {
  const PtxLoc *loc = loc_of(calls, line);
  Line *own = &calls->lines[line];
  own->rank = calls->ranks++;
  set_calls(calls, line);
  own->older = newest_at(calls->originals, own_key(loc));
  own->not_first = own->older != PTX_NO_INDEX && loc_of(calls, own->older)->block == loc->block &&
                   read_alike(loc_of(calls, own->older), loc);
  set_newest(calls->originals, own_key(loc), line);
  set_newest(calls->places, own_key(loc), line);
  Choice itself = {.line = line};
  g_array_append_val(calls->choices, itself);
}

/* True if a call of the same function was opened where `line` was inlined since the newest original like it: the line
 * is that call's. That the same call is written once more says nothing. */
static bool is_newer_call(const Calls *calls, uint32_t line, uint32_t newest_like) {
  uint32_t call = newest_at(calls->places, inlined_key(loc_of(calls, line))),
           parent = loc_of(calls, newest_like)->parent;
  if (call == PTX_NO_INDEX || call < newest_like || !calls->lines[call].opens)
    return false;
  const PtxLoc *opened = loc_of(calls, call), *older = parent == PTX_NO_INDEX ? NULL : ptx_loc(calls->module, parent);
  return !older || (opened->function_name == older->function_name &&
                    (!read_alike(opened, older) || opened->parent != older->parent));
}

/* A line such as opened a call before, and didn't come by itself yet: what a copy has left of that call's statement.
 * False if it goes on behind the call. */
static bool add_opened(Calls *calls, uint32_t line) {
  const PtxLoc *loc = loc_of(calls, line);
  Choice choice = {.line = newest_at(calls->places, own_key(loc))};
  if (choice.line == PTX_NO_INDEX || !calls->lines[choice.line].opens || !read_alike(loc_of(calls, choice.line), loc))
    return false;
  uint32_t before = calls->first + line - 1;
  for (unsigned i = 0; i < DEPTH_MAX && before != PTX_NO_INDEX; i++) {
    if (before == calls->first + choice.line)
      return false;
    before = ptx_loc(calls->module, before)->parent;
  }
  g_array_append_val(calls->choices, choice);
  return true;
}

/* A line that instructions are of: an original, if its call stands in front of it, or nothing like it came before. */
static void add_line(Calls *calls, uint32_t line, bool opened) {
  Step step = {.line = line, .first = calls->choices->len};
  bool is_copy = !opened && (add_originals(calls, line) || add_opened(calls, line)) &&
                 !is_newer_call(calls, line, g_array_index(calls->choices, Choice, step.first).line);
  bool sure = calls->choices->len == step.first + 1;
  if (!is_copy) {
    g_array_set_size(calls->choices, step.first);
    if (calls->steps->len > 1)
      settle(calls);
    step.first = calls->choices->len;
    if (is_inlined(loc_of(calls, line)) && !opened)
      loc_of(calls, line)->parent = find_parent(calls, line);
    add_original(calls, line);
  }
  g_array_append_val(calls->steps, step);
  cost_before(calls, calls->steps->len - 1);
  if ((sure && is_copy) || calls->steps->len >= RUN_MAX)
    settle(calls);
}

static void find_calls(Calls *calls) {
  for (uint32_t line = 0; line < count_of(calls); line++) {
    PtxLoc *loc = loc_of(calls, line);
    const PtxLoc *next = line + 1 < count_of(calls) ? loc + 1 : NULL;
    bool opened = line && calls->lines[line - 1].opens && is_inlined(loc);
    calls->lines[line].opens =
        next && next->inst == loc->inst && is_inlined(next) && inlined_key(next) == own_key(loc);
    calls->lines[line].looks = looks_of(calls, line);
    loc->parent = opened ? calls->first + line - 1 : PTX_NO_INDEX;
    if (!calls->lines[line].opens) {
      add_line(calls, line, opened);
      continue;
    }
    if (is_inlined(loc) && !opened) {
      settle(calls);
      loc->parent = find_parent(calls, line);
    }
    set_calls(calls, line);
    calls->lines[line].rank = calls->ranks;
    set_newest(calls->places, own_key(loc), line);
  }
  settle(calls);
}

void ptx_calls_find(PtxModule *module, uint32_t first) {
  if (first == module->locs->len)
    return;
  Calls calls = {.module = module, .first = first};
  calls.lines = g_new0(Line, count_of(&calls));
  calls.steps = g_array_new(FALSE, FALSE, sizeof(Step));
  calls.choices = g_array_new(FALSE, FALSE, sizeof(Choice));
  calls.places = g_hash_table_new(hash_key, NULL);
  calls.originals = g_hash_table_new(hash_key, NULL);
  find_calls(&calls);
  g_hash_table_destroy(calls.originals);
  g_hash_table_destroy(calls.places);
  g_array_free(calls.choices, TRUE);
  g_array_free(calls.steps, TRUE);
  g_free(calls.lines);
}
