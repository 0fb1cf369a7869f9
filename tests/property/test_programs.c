/* Random programs without races (from a seed, as text) end with the memory that a sequential interpreter computes,
 * under every policy, branch order and machine. */
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine/rng.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

static const char *const policies[] = {"loose-round-robin", "greedy-then-oldest", "youngest", "random"};
static const char *const orders[] = {"taken-first", "fallthrough-first"};

/* A thread's registers: R0 thread in block, R1 address of its OWN_WORDS global words, R2 of its word of shared
 * memory, R3 scratch, R4-R11 values, R12-R15 counters of nested loops, R16 address of the global sums. P0-P3 are
 * data, P5 scratch, P6 of loops. */
enum {
  FIRST_VALUE = 4,
  VALUES = 8,
  FIRST_COUNTER = 12,
  DEPTH_MAX = 3,
  DATA_PREDS = 4,
  OWN_WORDS = 16,
  SUMS = 4,
  LOCKED = 4,
  FUNCTIONS = 2,
  THREADS_MAX = 96,
  BLOCKS = 3,
};

typedef enum {
  NODE_ALU,
  NODE_TEST,
  NODE_IF,
  NODE_LOOP,
  NODE_BREAK,
  NODE_CONTINUE,
  NODE_CALL,
  NODE_RETURN,
  NODE_PRIVATE,
  NODE_OWN,
  NODE_SUM,
  NODE_LOCKED,
  NODE_EXCHANGE,
  NODE_VOTE,
  NODE_EXIT,
} NodeKind;

/* How a branch or loop is written. */
enum { IF_POP, IF_REACH, IF_IMPLICIT, IF_FORMS };
enum { LOOP_IMPLICIT, LOOP_SSY, LOOP_BREAK, LOOP_CONTINUE, LOOP_FORMS };
enum {
  ALU_ADD,
  ALU_SUB,
  ALU_MUL,
  ALU_MAD,
  ALU_SHL,
  ALU_SHR,
  ALU_AND,
  ALU_OR,
  ALU_XOR,
  ALU_MIN,
  ALU_SEL,
  ALU_IMMEDIATE,
  ALU_OPS
};
static const char *const alu_names[] = {"IADD",    "ISUB",   "IMUL",    "IMAD",  "SHL.W", "SHR.U32.W",
                                        "LOP.AND", "LOP.OR", "LOP.XOR", "IMNMX", "SEL",   "IADD"};
static const char *const compare_names[] = {"LT", "EQ", "LE", "GT", "NE", "GE"};
static const char *const sum_names[SUMS] = {"ADD", "XOR", "MAX", "OR"}; /* one commutative operation for each sum */

typedef struct Node {
  NodeKind kind;
  unsigned op, form;       /* ALU operation or comparison; form of an if or loop */
  unsigned d, a, b, c;     /* registers; d of a test: predicate */
  unsigned pred;           /* guard or condition */
  bool guarded, negated;   /* by the guard */
  uint32_t number;         /* immediate, index, distance */
  unsigned depth;          /* loop */
  GPtrArray *body, *other; /* Node * */
} Node;

static void nodes_free(GPtrArray *nodes);

static void node_free(gpointer data) {
  Node *node = data;
  nodes_free(node->body);
  nodes_free(node->other);
  g_free(node);
}

static void nodes_free(GPtrArray *nodes) {
  if (nodes)
    g_ptr_array_free(nodes, TRUE);
}

typedef struct Maker {
  Rng rng;
  uint32_t threads;
  bool explicit_only; /* no implicit reconvergence: runs on a machine without it, too */
  GPtrArray *main, *functions[FUNCTIONS];
  GString *text;
  unsigned labels;
} Maker;

/* Where a statement stands decides what it may be. */
typedef struct Place {
  unsigned loops, budget;
  bool top, in_function, can_break, can_continue;
} Place;

static unsigned below(Maker *maker, unsigned bound) { return rng_below(&maker->rng, bound); }
static unsigned any_value(Maker *maker) { return FIRST_VALUE + below(maker, VALUES); }

static Node *make_node(Maker *maker, NodeKind kind) {
  Node *node = g_new0(Node, 1);
  *node = (Node){.kind = kind,
                 .d = any_value(maker),
                 .a = any_value(maker),
                 .b = any_value(maker),
                 .c = any_value(maker),
                 .pred = below(maker, DATA_PREDS),
                 .negated = below(maker, 2),
                 .guarded = below(maker, 3) == 0,
                 .op = below(maker, ALU_OPS),
                 .number = below(maker, 4) ? below(maker, 40) : (uint32_t)rng_next(&maker->rng)};
  return node;
}

static GPtrArray *make_nodes(Maker *maker, Place place);

static Node *make_if(Maker *maker, Place place) {
  Node *node = make_node(maker, NODE_IF);
  node->form = maker->explicit_only ? IF_POP + below(maker, 2) : below(maker, IF_FORMS);
  place.top = false;
  place.budget = 1 + below(maker, 4);
  node->body = make_nodes(maker, place);
  node->other = below(maker, 3) ? make_nodes(maker, place) : NULL;
  return node;
}

static Node *make_loop(Maker *maker, Place place) {
  Node *node = make_node(maker, NODE_LOOP);
  node->form = maker->explicit_only ? LOOP_SSY + below(maker, 3) : below(maker, LOOP_FORMS);
  node->depth = place.loops++;
  place.top = false;
  place.budget = 1 + below(maker, 4);
  place.can_break |= node->form == LOOP_BREAK;
  place.can_continue |= node->form == LOOP_CONTINUE;
  node->body = make_nodes(maker, place);
  return node;
}

static Node *make_statement(Maker *maker, Place place) {
  unsigned choice = below(maker, place.top ? 26 : 20);
  if (choice < 6)
    return make_node(maker, NODE_ALU);
  if (choice < 8)
    return make_node(maker, NODE_TEST);
  if (choice < 10 && place.loops < DEPTH_MAX)
    return make_if(maker, place);
  if (choice == 10 && place.loops < DEPTH_MAX && !place.in_function)
    return make_loop(maker, place);
  if (choice == 11 && place.can_break)
    return make_node(maker, NODE_BREAK);
  if (choice == 12 && place.can_continue)
    return make_node(maker, NODE_CONTINUE);
  if (choice == 13)
    return place.in_function ? make_node(maker, NODE_RETURN) : make_node(maker, NODE_CALL);
  if (choice >= 14 && choice <= 17)
    return make_node(maker, choice == 14   ? NODE_PRIVATE
                            : choice == 15 ? NODE_OWN
                            : choice == 16 ? NODE_SUM
                                           : NODE_LOCKED);
  if (choice >= 20)
    return make_node(maker, choice < 23 ? NODE_EXCHANGE : choice < 25 ? NODE_VOTE : NODE_EXIT);
  return make_node(maker, NODE_ALU);
}

static GPtrArray *make_nodes(Maker *maker, Place place) {
  GPtrArray *nodes = g_ptr_array_new_with_free_func(node_free);
  for (unsigned i = 0; i < place.budget; i++)
    g_ptr_array_add(nodes, make_statement(maker, place));
  return nodes;
}

/* ---- as text ---- */

static void put(Maker *maker, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void put(Maker *maker, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_string_append_vprintf(maker->text, format, args);
  va_end(args);
}

static void put_guard(Maker *maker, const Node *node) {
  if (node->guarded)
    put(maker, "@%sP%u ", node->negated ? "!" : "", node->pred);
}

static void put_alu(Maker *maker, const Node *node) {
  put_guard(maker, node);
  put(maker, "%s R%u, R%u, ", alu_names[node->op], node->d, node->a);
  if (node->op == ALU_IMMEDIATE)
    put(maker, "0x%x\n", node->number);
  else if (node->op == ALU_MAD)
    put(maker, "R%u, R%u\n", node->b, node->c);
  else if (node->op == ALU_MIN || node->op == ALU_SEL)
    put(maker, "R%u, %sP%u\n", node->b, node->negated ? "!" : "", node->pred);
  else
    put(maker, "R%u\n", node->b);
}

static void put_nodes(Maker *maker, const GPtrArray *nodes);

static void put_if(Maker *maker, const Node *node) {
  unsigned label = maker->labels++;
  const char *negation = node->negated ? "!" : "";
  if (node->form != IF_IMPLICIT)
    put(maker, "SSY join%u\n", label);
  put(maker, "@%sP%u BRA then%u\n", negation, node->pred, label);
  if (node->other)
    put_nodes(maker, node->other);
  put(maker, node->form == IF_POP ? "NOP.S\n" : "BRA join%u\n", label);
  put(maker, "then%u:\n", label);
  put_nodes(maker, node->body);
  put(maker, node->form == IF_POP ? "NOP.S\njoin%u:\n" : "join%u:\n", label);
}

static void put_loop(Maker *maker, const Node *node) {
  unsigned label = maker->labels++, counter = FIRST_COUNTER + node->depth;
  put(maker, "LOP.AND R%u, R%u, 0x3\n", counter, node->a);
  if (node->form == LOOP_BREAK)
    put(maker, "PBK join%u\n", label);
  else if (node->form == LOOP_SSY || maker->explicit_only)
    put(maker, "SSY join%u\n", label);
  put(maker, "loop%u:\n", label);
  if (node->form == LOOP_CONTINUE)
    put(maker, "PCNT next%u\n", label);
  put_nodes(maker, node->body);
  if (node->form == LOOP_CONTINUE)
    put(maker, "CONT\nnext%u:\n", label);
  put(maker, "IADD R%u, R%u, -0x1\nISETP.GE.AND P6, PT, R%u, RZ, PT\n", counter, counter, counter);
  if (node->form == LOOP_BREAK)
    put(maker, "@!P6 BRK\nBRA loop%u\njoin%u:\n", label, label);
  else
    put(maker, "@P6 BRA loop%u\njoin%u:\n", label, label);
}

/* Each thread publishes a value, and reads the one of a thread further on. */
static void put_exchange(Maker *maker, const Node *node) {
  put(maker, "STS [R2], R%u\nBAR.SYNC 0x%x\n", node->a, node->number % 16);
  put(maker, "IADD R3, R0, 0x%x\nISETP.GE.AND P5, PT, R3, 0x%x, PT\n@P5 IADD R3, R3, -0x%x\n",
      node->number % maker->threads, maker->threads, maker->threads);
  put(maker, "SHL R3, R3, 0x2\nLDS R%u, [R3]\nBAR.SYNC 0x%x\n", node->d, node->number / 16 % 16);
}

static void put_memory(Maker *maker, const Node *node) {
  unsigned label = maker->labels++;
  switch (node->kind) {
  case NODE_PRIVATE: /* the second word of the thread in shared memory */
    put(maker, "STS [R2+0x%x], R%u\nLDS R%u, [R2+0x%x]\n", 4 * THREADS_MAX, node->a, node->d, 4 * THREADS_MAX);
    break;
  case NODE_OWN:
    put_guard(maker, node);
    put(maker, "LD R%u, [R1+0x%x]\nST [R1+0x%x], R%u\n", node->d, node->number % OWN_WORDS * 4,
        node->number / 16 % OWN_WORDS * 4, node->a);
    break;
  case NODE_SUM:
    put_guard(maker, node);
    put(maker, "RED.%s [R16+0x%x], R%u\n", sum_names[node->number % SUMS], 4 * (node->number % SUMS), node->a);
    break;
  default: { /* a word of shared memory under its lock bit; freed before the branch */
    unsigned address = 8 * THREADS_MAX + 4 * (node->number % LOCKED);
    if (maker->explicit_only)
      put(maker, "SSY done%u\n", label);
    put(maker, "again%u: LDSLK P5, R3, [0x%x]\n@P5 IADD R3, R3, R%u\n@P5 STSUL [0x%x], R3\n", label, address, node->a,
        address);
    put(maker, "@!P5 BRA again%u\ndone%u:\n", label, label);
  }
  }
}

static void put_node(Maker *maker, const Node *node) {
  switch (node->kind) {
  case NODE_ALU: put_alu(maker, node); return;
  case NODE_TEST:
    put_guard(maker, node);
    put(maker, "ISETP.%s.AND P%u, PT, R%u, R%u, PT\n", compare_names[node->op % 6], node->d % DATA_PREDS, node->a,
        node->b);
    return;
  case NODE_IF: put_if(maker, node); return;
  case NODE_LOOP: put_loop(maker, node); return;
  case NODE_BREAK: put(maker, "@%sP%u BRK\n", node->negated ? "!" : "", node->pred); return;
  case NODE_CONTINUE: put(maker, "@%sP%u CONT\n", node->negated ? "!" : "", node->pred); return;
  case NODE_CALL: put(maker, "CAL function%u\n", node->number % FUNCTIONS); return;
  case NODE_RETURN: put(maker, "@%sP%u RET\n", node->negated ? "!" : "", node->pred); return;
  case NODE_EXCHANGE: put_exchange(maker, node); return;
  case NODE_VOTE:
    put(maker, "VOTE.ANY R%u, P%u, %sP%u\n", node->d, node->a % DATA_PREDS, node->negated ? "!" : "", node->pred);
    return;
  case NODE_EXIT: put(maker, "@%sP%u EXIT\n", node->negated ? "!" : "", node->pred); return;
  default: put_memory(maker, node); return;
  }
}

static void put_nodes(Maker *maker, const GPtrArray *nodes) {
  for (guint i = 0; i < nodes->len; i++)
    put_node(maker, g_ptr_array_index(nodes, i));
}

/* First and last: values that depend on the thread; values, predicates and the words under locks into the thread's
 * own words. */
static void put_program(Maker *maker) {
  put(maker, ".shared 0x%x\nS2R R0, SR_Tid_X\nS2R R3, SR_CTAid_X\nIMAD R3, R3, c[0x0][0x8], R0\n",
      8 * THREADS_MAX + 4 * LOCKED);
  put(maker, "IMAD R1, R3, 0x%x, c[0x0][0x20]\nSHL R2, R0, 0x2\nMOV R16, c[0x0][0x24]\n", 4 * OWN_WORDS);
  for (unsigned i = 0; i < VALUES; i++)
    put(maker, "IMAD R%u, R3, 0x%x, R3\n", FIRST_VALUE + i, 1u << (4 * i));
  for (unsigned i = 0; i < DATA_PREDS; i++)
    put(maker, "LOP.AND R3, R0, 0x%x\nISETP.NE.AND P%u, PT, R3, RZ, PT\n", 1u << i, i);
  put_nodes(maker, maker->main);
  put(maker, "BAR.SYNC 0x0\n");
  for (unsigned i = 0; i < VALUES; i++)
    put(maker, "ST [R1+0x%x], R%u\n", 4 * i, FIRST_VALUE + i);
  for (unsigned i = 0; i < DATA_PREDS; i++)
    put(maker, "SEL R3, R0, RZ, P%u\nST [R1+0x%x], R3\n", i, 4 * (VALUES + i));
  for (unsigned i = 0; i < LOCKED; i++)
    put(maker, "LDS R3, [0x%x]\nST [R1+0x%x], R3\n", 8 * THREADS_MAX + 4 * i, 4 * (VALUES + DATA_PREDS + i));
  put(maker, "EXIT\n");
  for (unsigned i = 0; i < FUNCTIONS; i++) {
    put(maker, "function%u:\n", i);
    put_nodes(maker, maker->functions[i]);
    put(maker, "RET\n");
  }
}

static void maker_init(Maker *maker, uint64_t seed) {
  *maker = (Maker){.text = g_string_new(NULL)};
  rng_seed(&maker->rng, seed, 77);
  maker->threads = 1 + below(maker, THREADS_MAX);
  maker->explicit_only = below(maker, 2);
  for (unsigned i = 0; i < FUNCTIONS; i++)
    maker->functions[i] = make_nodes(maker, (Place){.in_function = true, .budget = 1 + below(maker, 5)});
  maker->main = make_nodes(maker, (Place){.top = true, .budget = 4 + below(maker, 14)});
  put_program(maker);
}

static void maker_clear(Maker *maker) {
  nodes_free(maker->main);
  for (unsigned i = 0; i < FUNCTIONS; i++)
    nodes_free(maker->functions[i]);
  g_string_free(maker->text, TRUE);
}

/* ---- as a sequential computation: one thread after the other, statement by statement ---- */

typedef struct Thread {
  uint32_t value[VALUES], own[OWN_WORDS], published;
  bool pred[DATA_PREDS], exited;
} Thread;

typedef struct World {
  const Maker *maker;
  Thread thread[THREADS_MAX];
  uint32_t locked[LOCKED], *sums;
} World;

/* How a list of statements was left. */
typedef enum { GO_ON, BROKE, CONTINUED, RETURNED } Leaving;

static uint32_t *value_of(Thread *thread, unsigned reg) { return &thread->value[reg - FIRST_VALUE]; }
static bool condition(const Thread *thread, const Node *node) { return thread->pred[node->pred] != node->negated; }

static uint32_t compute(const Node *node, uint32_t a, uint32_t b, uint32_t c, bool condition_holds) {
  switch (node->op) {
  case ALU_ADD: return a + b;
  case ALU_SUB: return a - b;
  case ALU_MUL: return a * b;
  case ALU_MAD: return a * b + c;
  case ALU_SHL: return a << b % 32;
  case ALU_SHR: return a >> b % 32;
  case ALU_AND: return a & b;
  case ALU_OR: return a | b;
  case ALU_XOR: return a ^ b;
  case ALU_MIN: return ((int32_t)a < (int32_t)b) == condition_holds ? a : b;
  case ALU_SEL: return condition_holds ? a : b;
  default: return a + node->number;
  }
}

static bool compares(unsigned op, int32_t a, int32_t b) {
  switch (op) {
  case 0: return a < b;
  case 1: return a == b;
  case 2: return a <= b;
  case 3: return a > b;
  case 4: return a != b;
  default: return a >= b;
  }
}

static Leaving run_nodes(World *world, Thread *thread, const GPtrArray *nodes);

static Leaving run_loop(World *world, Thread *thread, const Node *node) {
  int rounds = (int)(*value_of(thread, node->a) & 3);
  do {
    Leaving leaving = run_nodes(world, thread, node->body);
    if (leaving == RETURNED || (leaving == BROKE && node->form != LOOP_BREAK) ||
        (leaving == CONTINUED && node->form != LOOP_CONTINUE))
      return leaving;
    if (leaving == BROKE)
      return GO_ON;
  } while (--rounds >= 0);
  return GO_ON;
}

static void run_sum(World *world, const Node *node, uint32_t value) {
  uint32_t *sum = &world->sums[node->number % SUMS];
  switch (node->number % SUMS) {
  case 0: *sum += value; break;
  case 1: *sum ^= value; break;
  case 2: *sum = MAX(*sum, value); break;
  default: *sum |= value; break;
  }
}

static Leaving run_node(World *world, Thread *thread, const Node *node) {
  uint32_t *d = value_of(thread, node->d), a = *value_of(thread, node->a), b = *value_of(thread, node->b);
  bool guard = !node->guarded || condition(thread, node);
  switch (node->kind) {
  case NODE_ALU:
    if (guard)
      *d = compute(node, a, b, *value_of(thread, node->c), condition(thread, node));
    break;
  case NODE_TEST:
    if (guard)
      thread->pred[node->d % DATA_PREDS] = compares(node->op % 6, (int32_t)a, (int32_t)b);
    break;
  case NODE_IF:
    if (condition(thread, node))
      return run_nodes(world, thread, node->body);
    return node->other ? run_nodes(world, thread, node->other) : GO_ON;
  case NODE_LOOP: return run_loop(world, thread, node);
  case NODE_BREAK: return condition(thread, node) ? BROKE : GO_ON;
  case NODE_CONTINUE: return condition(thread, node) ? CONTINUED : GO_ON;
  case NODE_RETURN: return condition(thread, node) ? RETURNED : GO_ON;
  case NODE_CALL: run_nodes(world, thread, world->maker->functions[node->number % FUNCTIONS]); break;
  case NODE_PRIVATE: *d = a; break;
  case NODE_OWN:
    if (guard)
      *d = thread->own[node->number % OWN_WORDS];
    thread->own[node->number / 16 % OWN_WORDS] = *value_of(thread, node->a);
    break;
  case NODE_SUM:
    if (guard)
      run_sum(world, node, a);
    break;
  case NODE_LOCKED: world->locked[node->number % LOCKED] += a; break;
  case NODE_EXIT: thread->exited = condition(thread, node); break;
  default: break;
  }
  return GO_ON;
}

static Leaving run_nodes(World *world, Thread *thread, const GPtrArray *nodes) {
  Leaving leaving = GO_ON;
  for (guint i = 0; i < nodes->len && leaving == GO_ON; i++)
    leaving = run_node(world, thread, g_ptr_array_index(nodes, i));
  return leaving;
}

static void exchange(World *world, const Node *node) {
  uint32_t threads = world->maker->threads;
  for (uint32_t t = 0; t < threads; t++)
    if (!world->thread[t].exited)
      world->thread[t].published = *value_of(&world->thread[t], node->a);
  for (uint32_t t = 0; t < threads; t++)
    if (!world->thread[t].exited)
      *value_of(&world->thread[t], node->d) = world->thread[(t + node->number % threads) % threads].published;
}

static void vote(World *world, const Node *node) {
  uint32_t threads = world->maker->threads;
  for (uint32_t first = 0; first < threads; first += 32) {
    uint32_t ballot = 0;
    for (uint32_t t = first; t < MIN(first + 32, threads); t++)
      ballot |= (uint32_t)(!world->thread[t].exited && condition(&world->thread[t], node)) << (t - first);
    for (uint32_t t = first; t < MIN(first + 32, threads); t++) {
      if (world->thread[t].exited)
        continue;
      *value_of(&world->thread[t], node->d) = ballot;
      world->thread[t].pred[node->a % DATA_PREDS] = ballot != 0;
    }
  }
}

static void run_block(World *world, uint32_t block, uint32_t *own) {
  const Maker *maker = world->maker;
  memset(world->thread, 0, sizeof world->thread);
  memset(world->locked, 0, sizeof world->locked);
  for (uint32_t t = 0; t < maker->threads; t++) {
    Thread *thread = &world->thread[t];
    uint32_t global = block * maker->threads + t;
    for (unsigned i = 0; i < VALUES; i++)
      thread->value[i] = (global << (4 * i)) + global;
    for (unsigned i = 0; i < DATA_PREDS; i++)
      thread->pred[i] = t >> i & 1;
  }
  for (guint i = 0; i < maker->main->len; i++) {
    const Node *node = g_ptr_array_index(maker->main, i);
    if (node->kind == NODE_EXCHANGE)
      exchange(world, node);
    else if (node->kind == NODE_VOTE)
      vote(world, node);
    else
      for (uint32_t t = 0; t < maker->threads; t++)
        if (!world->thread[t].exited)
          run_node(world, &world->thread[t], node);
  }
  for (uint32_t t = 0; t < maker->threads; t++) {
    Thread *thread = &world->thread[t];
    uint32_t *words = thread->own;
    for (unsigned i = 0; i < VALUES && !thread->exited; i++)
      words[i] = thread->value[i];
    for (unsigned i = 0; i < DATA_PREDS && !thread->exited; i++)
      words[VALUES + i] = thread->pred[i] ? t : 0;
    for (unsigned i = 0; i < LOCKED && !thread->exited; i++)
      words[VALUES + DATA_PREDS + i] = world->locked[i];
    memcpy(own + (size_t)(block * maker->threads + t) * OWN_WORDS, words, sizeof thread->own);
  }
}

/* ---- both ---- */

typedef struct Words {
  uint32_t *own, *sums;
  uint32_t count;
} Words;

static void compare_run(const Maker *maker, const Words *right, const char *settings, uint64_t seed) {
  g_autoptr(Lab) lab = lab_new_seeded(settings, maker->text->str, seed);
  const uint32_t *own = lab_buffer(lab, right->count), *sums = lab_buffer(lab, SUMS);
  lab_launch(lab, BLOCKS, maker->threads);
  GpuStop stop = lab_run(lab);
  UNIT_ASSERT(stop == GPU_FINISHED, "%s: stop %d (%s)\n%s", settings, stop, lab->gpu->fault.message,
              maker->text->str);
  for (uint32_t i = 0; i < right->count; i++)
    UNIT_ASSERT(own[i] == right->own[i], "%s: word %u of thread %u of block %u is %x, not %x\n%s", settings,
                i % OWN_WORDS, i / OWN_WORDS % maker->threads, i / OWN_WORDS / maker->threads, own[i], right->own[i],
                maker->text->str);
  for (uint32_t i = 0; i < SUMS; i++)
    UNIT_ASSERT(sums[i] == right->sums[i], "%s: sum %u\n%s", settings, i, maker->text->str);
}

static void compare_program(uint64_t seed) {
  Maker maker;
  maker_init(&maker, seed);
  Words right = {.count = BLOCKS * maker.threads * OWN_WORDS};
  right.own = g_new0(uint32_t, right.count);
  right.sums = g_new0(uint32_t, SUMS);
  g_autofree World *world = g_new0(World, 1);
  world->maker = &maker;
  world->sums = right.sums;
  for (uint32_t block = 0; block < BLOCKS; block++)
    run_block(world, block, right.own);
  for (unsigned run = 0; run < 8; run++) {
    bool without = maker.explicit_only && (run + seed) % 3 == 0;
    g_autofree char *settings =
        g_strdup_printf("gpu.sms=2 sm.jitter_cycles=%u sm.policy=%s sm.simt_stack.branch_order=%s "
                        "sm.simt_stack.implicit_reconvergence=%s "
                        "sm.schedulers=%u sm.latency.alu=%u sm.shared.banks=%u sm.lock_unit.bits=%u sm.max_blocks=%u",
                        run % 4, policies[run % 4], orders[run / 4], without ? "none" : "ipdom", 1 + run % 3,
                        1 + run * 3, run % 2 ? 32 : 16, run == 5 ? 1 : 1024, 1 + run % 3);
    compare_run(&maker, &right, settings, seed);
  }
  g_free(right.own);
  g_free(right.sums);
  maker_clear(&maker);
}

enum { CHUNKS = 8, PROGRAMS = 20 };

START_TEST(programs_without_races_mean_what_they_say) {
  for (uint64_t i = 0; i < PROGRAMS; i++)
    compare_program((uint64_t)_i * PROGRAMS + i);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("programs");
  TCase *tcase = tcase_create("programs");
  tcase_add_loop_test(tcase, programs_without_races_mean_what_they_say, 0, CHUNKS);
  tcase_set_timeout(tcase, 60);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
