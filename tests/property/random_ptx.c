#include "tests/property/random_ptx.h"

#include <string.h>

enum { WORDS = RANDOM_WORDS, VALUES = 5, DEPTH_MAX = 3, NODES = 4 };

static unsigned pick(RandomPtx *writer, unsigned n) { return random_ptx_pick(writer, n); }

G_GNUC_PRINTF(2, 3)
static void add(RandomPtx *writer, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_string_append_vprintf(writer->text, format, args);
  va_end(args);
}

/* %v0-%v4 are values; %rd5 becomes a generic address, of a word of global, shared or local memory, with `constants`
 * also of constant memory, and seldom of nothing or of half a word. */
static void write_address(RandomPtx *writer, bool constants) {
  static const char *const bases[] = {"%rd1", "%rd1", "%rd1", "%rd2", "%rd2", "%rd3", "%rd4"};
  bool wild = !pick(writer, 80);
  const char *base = bases[pick(writer, constants ? 7 : 6)];
  if (pick(writer, 3))
    add(writer, "  add.u64 %%rd5, %s, %u;\n", base, wild ? pick(writer, 80) : 4 * pick(writer, 3));
  else
    add(writer, "  and.b32 %%r1, %%v%u, %u;\n  mad.wide.u32 %%rd5, %%r1, 4, %s;\n", pick(writer, VALUES),
        wild ? 31 : WORDS - 1, base);
}

/* An access to [%rd5], of kind `what` below 6. */
static void write_access_there(RandomPtx *writer, unsigned what) {
  static const char *const loads[] = {"ld.volatile.u32", "ld.u32", "ld.volatile.u16", "ld.u8"};
  static const char *const stores[] = {"st.volatile.u32", "st.u32", "st.u8", "st.volatile.u16"};
  static const char *const atomics[] = {"atom.add.u32", "atom.exch.b32", "atom.inc.u32",
                                        "atom.max.s32", "atom.or.b32",   "atom.min.u32"};
  unsigned a = pick(writer, VALUES), b = pick(writer, VALUES), c = pick(writer, VALUES);
  switch (what) {
  case 0:
  case 1: add(writer, "  %s %%v%u, [%%rd5];\n", loads[pick(writer, 4)], a); break;
  case 2:
  case 3: add(writer, "  %s [%%rd5], %%v%u;\n", stores[pick(writer, 4)], a); break;
  case 4: add(writer, "  atom.cas.b32 %%v%u, [%%rd5], %%v%u, %%v%u;\n", a, b, c); break;
  default:
    if (pick(writer, 2))
      add(writer, "  %s %%v%u, [%%rd5], %%v%u;\n", atomics[pick(writer, 6)], a, b);
    else
      add(writer, "  red.add.u32 [%%rd5], %%v%u;\n", b);
    break;
  }
}

/* Stores to constant memory and atomics on local memory are faults: they come seldom. */
static void write_access(RandomPtx *writer) {
  unsigned what = pick(writer, 6);
  write_address(writer, what < 2 || !pick(writer, 6));
  if (what >= 4 && strstr(writer->text->str + writer->text->len - 12, "%rd3") && pick(writer, 8))
    what = 2;
  write_access_there(writer, what);
}

/* ---- the device heap: %rd6 is a pointer, or NULL ---- */

static unsigned node(RandomPtx *writer) { return 8 * pick(writer, NODES); }

/* Seldom more than is left; seldom so little that an access lies behind its end. */
static void write_malloc(RandomPtx *writer) {
  static const unsigned sizes[] = {16, 16, 24, 40, 40, 8, 0, 1200, 3000};
  add(writer,
      "  {\n  .param .b64 size;\n  .param .b64 piece;\n  st.param.b64 [size], %u;\n  call.uni (piece), malloc, "
      "(size);\n"
      "  ld.param.b64 %%rd6, [piece];\n  }\n",
      sizes[pick(writer, pick(writer, 3) ? 5 : G_N_ELEMENTS(sizes))]);
  if (pick(writer, 2))
    add(writer, "  st.volatile.u64 [nodes+%u], %%rd6;\n", node(writer));
}

/* A piece is taken out of `nodes` before it is freed; seldom without that, so that it is freed twice or used
 * again. */
static void write_free(RandomPtx *writer) {
  bool alone = pick(writer, 6);
  if (alone)
    add(writer, "  atom.exch.b64 %%rd6, [nodes+%u], 0;\n", node(writer));
  add(writer, "  {\n  .param .b64 piece;\n  st.param.b64 [piece], %%rd6;\n  call.uni free, (piece);\n  }\n");
  if (alone || pick(writer, 2))
    add(writer, "  mov.u64 %%rd6, 0;\n");
}

static void write_heap_access(RandomPtx *writer) {
  unsigned label = writer->labels++;
  bool guarded = pick(writer, 12);
  if (guarded)
    add(writer, "  setp.eq.u64 %%p1, %%rd6, 0;\n  @%%p1 bra N%u;\n", label);
  add(writer, "  add.u64 %%rd5, %%rd6, %u;\n", 4 * pick(writer, 3));
  write_access_there(writer, pick(writer, 6));
  if (guarded)
    add(writer, "N%u:\n", label);
}

/* A lane spins until a word of its piece changes. */
static void write_heap_wait(RandomPtx *writer) {
  unsigned label = writer->labels++;
  if (writer->gentle)
    return;
  add(writer,
      "  setp.eq.u64 %%p1, %%rd6, 0;\n  @%%p1 bra N%u;\nW%u:\n  ld.volatile.u32 %%r2, [%%rd6+%u];\n"
      "  setp.ne.u32 %%p2, %%r2, %u;\n  @%%p2 bra W%u;\nN%u:\n",
      label, label, 4 * pick(writer, 3), pick(writer, 2), label, label);
}

static void write_heap(RandomPtx *writer) {
  static const char *const hands[] = {
      "  ld.volatile.u64 %%rd6, [nodes+%u];\n", "  st.volatile.u64 [nodes+%u], %%rd6;\n",
      "  atom.exch.b64 %%rd6, [nodes+%u], %%rd6;\n", "  atom.cas.b64 %%rd6, [nodes+%u], 0, %%rd6;\n"};
  switch (pick(writer, 10)) {
  case 0: write_free(writer); break;
  case 1: write_heap_wait(writer); break;
  case 2:
    if (writer->heap == RANDOM_HEAP_ANYWHERE)
      write_malloc(writer);
    break;
  case 3:
  case 4:
  case 5: add(writer, hands[pick(writer, G_N_ELEMENTS(hands))], node(writer)); break;
  default: write_heap_access(writer); break;
  }
}

/* ---- queues, of up to 3 and 2 values ---- */

/* %r2 becomes 1 if it was put or taken. */
static void write_queue_step(RandomPtx *writer, unsigned queue, bool puts) {
  add(writer, "  {\n  .param .b64 queue;\n  .param .b32 value;\n  .param .b64 taken;\n  .param .b32 done;\n");
  add(writer, "  mov.u64 %%rd5, queues+%u;\n  cvta.global.u64 %%rd5, %%rd5;\n  st.param.b64 [queue], %%rd5;\n",
      RANDOM_QUEUE_BYTES * queue);
  if (puts)
    add(writer,
        "  st.param.b32 [value], %%v%u;\n  call.uni (done), __enqueue, (queue, value);\n"
        "  ld.param.b32 %%r2, [done];\n  }\n",
        pick(writer, VALUES));
  else
    add(writer,
        "  call.uni (taken), __dequeue, (queue);\n  ld.param.b64 %%rd7, [taken];\n  }\n"
        "  mov.b64 {%%v%u, %%r2}, %%rd7;\n",
        pick(writer, VALUES));
}

/* Once, or until it is done; seldom something else happens to the queue's words. */
static void write_queue(RandomPtx *writer) {
  unsigned label = writer->labels++, queue = pick(writer, 2), what = pick(writer, 16);
  if (what == 0) {
    add(writer, "  st.volatile.u32 [queues+%u], %%v%u;\n", RANDOM_QUEUE_BYTES * queue + 4 * pick(writer, 3),
        pick(writer, VALUES));
    return;
  }
  if (what == 1) {
    add(writer, "  atom.exch.b32 %%v%u, [queues+%u], %u;\n", pick(writer, VALUES), RANDOM_QUEUE_BYTES * queue,
        0x20000 + pick(writer, 3));
    return;
  }
  bool waits = what < 5 && !writer->gentle;
  if (waits)
    add(writer, "Q%u:\n", label);
  write_queue_step(writer, queue, pick(writer, 2));
  if (waits)
    add(writer, "  setp.eq.u32 %%p2, %%r2, 0;\n  @%%p2 bra Q%u;\n", label);
  else if (pick(writer, 2))
    add(writer, "  setp.eq.u32 %%p0, %%r2, 0;\n");
}

/* ---- statements ---- */

static void write_value(RandomPtx *writer) {
  static const char *const ops[] = {"add.u32", "sub.u32", "xor.b32", "and.b32", "min.u32", "mul.lo.u32"};
  static const char *const narrow[] = {"  rem.u32 %%v%u, %%v%u, %u;\n", "  rem.s32 %%v%u, %%v%u, %u;\n",
                                       "  shr.u32 %%v%u, %%v%u, 2%u;\n", "  shr.s32 %%v%u, %%v%u, 2%u;\n",
                                       "  bfe.u32 %%v%u, %%v%u, 4, %u;\n"};
  unsigned d = pick(writer, VALUES), a = pick(writer, VALUES), b = pick(writer, VALUES);
  switch (pick(writer, 7)) {
  case 0: add(writer, "  mov.u32 %%v%u, %u;\n", d, pick(writer, 4)); break;
  case 3: add(writer, narrow[pick(writer, G_N_ELEMENTS(narrow))], d, a, 1 + pick(writer, 6)); break;
  case 1:
    add(writer, "  mov.u32 %%v%u, %%%s;\n", d, pick(writer, 2) ? "laneid" : pick(writer, 2) ? "ctaid.x" : "tid.x");
    break;
  case 2:
    add(writer, "  setp.lt.u32 %%p1, %%v%u, %u;\n  vote.sync.ballot.b32 %%v%u, %%p1, -1;\n", a, pick(writer, 20), d);
    break;
  default: add(writer, "  %s %%v%u, %%v%u, %%v%u;\n", ops[pick(writer, 6)], d, a, b); break;
  }
}

static void write_test(RandomPtx *writer) {
  static const char *const tests[] = {"eq", "ne", "lt", "ge"};
  add(writer, "  setp.%s.u32 %%p0, %%v%u, %u;\n", tests[pick(writer, 4)], pick(writer, VALUES), pick(writer, 6));
}

static void write_statements(RandomPtx *writer, unsigned depth);

/* Spins on a word or a lock; one that may never come, unless the program is gentle. */
static void write_wait(RandomPtx *writer) {
  unsigned label = writer->labels++, word = 4 * pick(writer, WORDS);
  const char *base = pick(writer, 3) ? "%rd1" : "%rd2";
  bool lock = pick(writer, 2);
  if (writer->gentle)
    return;
  add(writer, "W%u:\n", label);
  if (lock)
    add(writer, "  atom.cas.b32 %%r2, [%s+%u], 0, 1;\n", base, word);
  else
    add(writer, "  ld.volatile.u32 %%r2, [%s+%u];\n", base, word);
  if (pick(writer, 4) == 0)
    add(writer, "  red.add.u32 [%s+%u], 1;\n", base, 4 * pick(writer, WORDS));
  add(writer, "  setp.%s.u32 %%p2, %%r2, %u;\n", lock || pick(writer, 2) ? "ne" : "eq", lock ? 0 : pick(writer, 2));
  if (!lock && pick(writer, 4) == 0)
    add(writer, "  bar.red.%s.pred %%p2, 0, %%p2;\n", pick(writer, 2) ? "and" : "or");
  add(writer, "  @%%p2 bra W%u;\n", label);
  if (!lock)
    return;
  write_statements(writer, DEPTH_MAX);
  if (pick(writer, 8))
    add(writer, "  atom.exch.b32 %%r2, [%s+%u], 0;\n", base, word);
}

static void write_branch(RandomPtx *writer, unsigned depth) {
  unsigned label = writer->labels++;
  write_test(writer);
  add(writer, "  @%%p0 bra E%u;\n", label);
  write_statements(writer, depth + 1);
  if (pick(writer, 2)) {
    add(writer, "  bra.uni J%u;\nE%u:\n", label, label);
    write_statements(writer, depth + 1);
    add(writer, "J%u:\n", label);
  } else {
    add(writer, "E%u:\n", label);
  }
}

static void write_loop(RandomPtx *writer, unsigned depth) {
  unsigned label = writer->labels++;
  add(writer, "  mov.u32 %%c%u, 0;\nL%u:\n", depth, label);
  write_statements(writer, depth + 1);
  add(writer, "  add.u32 %%c%u, %%c%u, 1;\n  setp.lt.u32 %%p1, %%c%u, %u;\n  @%%p1 bra L%u;\n", depth, depth, depth,
      1 + pick(writer, 5), label);
}

static void write_seldom(RandomPtx *writer) {
  static const char *const texts[] = {"  bar.sync 0;\n",
                                      "  bar.sync 0;\n",
                                      "  bar.sync 1, 64;\n",
                                      "  bar.arrive 1, 64;\n",
                                      "  @%p0 exit;\n",
                                      "  @%p0 bar.sync 0;\n",
                                      "  membar.gl;\n",
                                      "  @%p3 trap;\n",
                                      "  bar.sync 1, 96;\n",
                                      "  bar.red.popc.u32 %v1, 0, %p0;\n",
                                      "  bar.red.and.pred %p1, 0, %p0;\n",
                                      "  bar.red.or.pred %p0, 0, %p2;\n"};
  add(writer, "%s", texts[pick(writer, G_N_ELEMENTS(texts))]);
}

static void write_statements(RandomPtx *writer, unsigned depth) {
  for (unsigned count = 1 + pick(writer, depth < DEPTH_MAX ? 4 : 2); count-- > 0;) {
    unsigned what = pick(writer, depth < DEPTH_MAX ? 14 : 9);
    if (writer->heap && pick(writer, 3) == 0)
      write_heap(writer);
    else if (writer->queues && pick(writer, 3) == 0)
      write_queue(writer);
    else if (what < 5)
      write_access(writer);
    else if (what < 8)
      write_value(writer);
    else if (what == 8)
      write_seldom(writer);
    else if (what < 11)
      write_branch(writer, depth);
    else if (what == 11)
      write_wait(writer);
    else
      write_loop(writer, depth);
  }
}

static void write_kernel(RandomPtx *writer, unsigned number) {
  add(writer,
      ".visible .entry k%u(.param .u64 words)\n{\n  .reg .pred %%p<4>;\n  .reg .b32 %%r<4>;\n  .reg .b32 %%v<%d>;\n"
      "  .reg .b32 %%c<%d>;\n  .reg .b64 %%rd<8>;\n  .shared .align 4 .b8 both%u[%d];\n  .local .align 4 .b8 "
      "own%u[%d];\n"
      "  ld.param.u64 %%rd1, [words];\n  mov.u64 %%rd2, both%u;\n  cvta.shared.u64 %%rd2, %%rd2;\n"
      "  mov.u64 %%rd3, own%u;\n  cvta.local.u64 %%rd3, %%rd3;\n  mov.u64 %%rd4, table;\n  cvta.const.u64 %%rd4, "
      "%%rd4;\n"
      "  setp.eq.u32 %%p3, %%r0, 1;\n  setp.eq.u32 %%p0, %%r0, 1;\n",
      number, VALUES, DEPTH_MAX + 2, number, 4 * WORDS, number, 4 * WORDS, number, number);
  for (unsigned value = 0; value < VALUES; value++)
    add(writer, "  mov.u32 %%v%u, %s;\n", value,
        value == 0   ? "%tid.x"
        : value == 1 ? "%ctaid.x"
        : value == 2 ? "1"
                     : "0");
  add(writer, "  mov.u64 %%rd6, 0;\n");
  for (unsigned calls = writer->heap == RANDOM_HEAP_FIRST ? 1 + pick(writer, 2) : 0; calls-- > 0;) {
    if (pick(writer, 2))
      add(writer, "  setp.eq.u32 %%p1, %%v%u, 0;\n  @!%%p1 bra M%u;\n", pick(writer, 2), writer->labels);
    write_malloc(writer);
    add(writer, "M%u:\n", writer->labels++);
  }
  write_statements(writer, 0);
  write_statements(writer, 0);
  add(writer, "  ret;\n}\n");
}

char *random_ptx_module(RandomPtx *writer, unsigned kernels) {
  writer->text =
      g_string_new(".version 7.0\n.target sm_70\n.address_size 64\n.const .align 4 .u32 table[8] = {1, 2, 3, 4};\n");
  if (writer->heap)
    add(writer,
        ".extern .func (.param .b64 piece) malloc (.param .b64 size);\n.extern .func free (.param .b64 piece);\n"
        ".global .align 8 .u64 nodes[%d];\n",
        NODES);
  if (writer->queues)
    add(writer,
        ".extern .func (.param .b32 done) __enqueue (.param .b64 queue, .param .b32 value);\n"
        ".extern .func (.param .b64 taken) __dequeue (.param .b64 queue);\n"
        ".global .align %d .u32 queues[%d] = {196608, 0, 0, 0, 0, 0, 0, 0, 131072};\n",
        RANDOM_QUEUE_BYTES, 2 * RANDOM_QUEUE_BYTES / 4);
  for (unsigned kernel = 0; kernel < kernels; kernel++)
    write_kernel(writer, kernel);
  return g_string_free(g_steal_pointer(&writer->text), FALSE);
}
