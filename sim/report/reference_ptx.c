#include <glib.h>
#include <string.h>

#include "isa/lower/ptx_lower.h"
#include "isa/ptx/ptx_example.h"
#include "isa/ptx/ptx_ops.h"
#include "isa/ptx/ptx_parse.h"
#include "sim/report/reference.h"

enum { SHOWN_SEQUENCES = 3, SHOWN_INSTS = 8 };

/* An instruction stands where the lanes of a warp may be apart, between registers that come from memory and go
 * there. */
#define BEFORE                                                                                                  \
  ".version 9.0\n.target sm_90\n.address_size 64\n.func callee(.param .b32 a) { ret; }\n"                       \
  ".visible .entry k(.param .u64 in)\n{ .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %l<9>;"   \
  ".reg .f32 %f<9>; .reg .f64 %d<9>; .reg .b128 %q<9>; TABLE: .branchtargets DONE;"                             \
  "ld.param.u64 %l7, [in]; mov.u32 %r8, %tid.x; setp.eq.u32 %p8, %r8, 0;"                                       \
  "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%l7]; ld.global.v2.u32 {%r5, %r6}, [%l7];"                           \
  "ld.global.v2.u64 {%l1, %l2}, [%l7]; ld.global.v2.u64 {%l3, %l4}, [%l7];"                                     \
  "ld.global.v4.u16 {%h1, %h2, %h3, %h4}, [%l7]; ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%l7];"                 \
  "ld.global.v2.f64 {%d1, %d2}, [%l7]; ld.global.v2.f64 {%d3, %d4}, [%l7];"                                     \
  "ld.global.b128 %q1, [%l7]; ld.global.b128 %q2, [%l7]; ld.global.b128 %q3, [%l7]; ld.global.b128 %q4, [%l7];" \
  "setp.eq.u32 %p1, %r1, 1; setp.eq.u32 %p2, %r2, 2; setp.eq.u32 %p3, %r3, 3; setp.eq.u32 %p4, %r4, 4;"         \
  "setp.eq.u32 %p5, %r5, 5;\n@%p8 bra NEXT; red.global.add.u32 [%l7], %r8;\n"
#define AFTER                                                                                                     \
  ";\nNEXT: st.global.v4.u32 [%l7], {%r1, %r2, %r3, %r4}; DONE: st.global.v2.u64 [%l7], {%l1, %l2};"              \
  "st.global.v2.u64 [%l7], {%l3, %l4}; st.global.v4.u16 [%l7], {%h1, %h2, %h3, %h4};"                             \
  "st.global.v4.f32 [%l7], {%f1, %f2, %f3, %f4}; st.global.v2.f64 [%l7], {%d1, %d2};"                             \
  "st.global.v2.f64 [%l7], {%d3, %d4}; st.global.b128 [%l7], %q1; st.global.b128 [%l7], %q2;"                     \
  "st.global.b128 [%l7], %q3; st.global.b128 [%l7], %q4; @%p1 exit; @%p2 exit; @%p3 exit; @%p4 exit; @%p5 exit; " \
  "ret; }\n"
enum { LINE = 8 }; /* of the instruction */

static const PtxTarget newest = {.capability = 90, .convergence_barriers = true, .max_registers = 255};
static const PtxTarget oldest = {.capability = 20, .max_registers = 255};

/* What the examples of a form showed; each text once, in the order of the examples. */
typedef struct Shown {
  GPtrArray *becomes, *refusals; /* char * */
} Shown;

/* Takes the text. */
static void add_once(GPtrArray *texts, char *text) {
  if (g_ptr_array_find_with_equal_func(texts, text, g_str_equal, NULL))
    g_free(text);
  else
    g_ptr_array_add(texts, text);
}

/* A `|` would end a cell of the table. */
static void append_cell(GString *page, const char *text) {
  for (; *text; text++)
    *text == '|' ? g_string_append(page, "\\|") : g_string_append_c(page, *text);
}

/* The instructions that line LINE became. */
static char *sequence(const Kernel *kernel) {
  GString *text = g_string_new(NULL);
  unsigned count = 0;
  for (uint32_t i = 0; i < kernel->ninsts; i++)
    if (kernel->insts[i].address == LINE && ++count <= SHOWN_INSTS)
      g_string_append_printf(text, "%s%s", count > 1 ? " " : "", op_info[kernel->insts[i].op].sass);
  g_string_append(text, count > SHOWN_INSTS ? " ..." : "");
  return g_string_free(text, FALSE);
}

/* "tanh needs compute capability 7.5, and the machine has 2.0" without what the machine has. */
static char *refusal(const Diag *diag) {
  char *message = g_strdup(diag_item(diag, 0)->message), *machine = strstr(message, ", and the machine has");
  if (machine)
    *machine = '\0';
  return message;
}

static bool lower_example(const char *inst, const PtxTarget *target, Shown *shown) {
  g_autofree char *text = g_strconcat(BEFORE, inst, AFTER, NULL);
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(PtxModule) module = ptx_parse("example.ptx", text, strlen(text), diag);
  g_autoptr(Program) program = module ? ptx_lower(module, target, diag) : NULL;
  const Kernel *kernel = program ? program_kernel(program, 0) : NULL;
  if (!kernel || kernel->refusal)
    add_once(shown->refusals, refusal(kernel ? kernel->refusal : diag));
  else if (target == &newest)
    add_once(shown->becomes, sequence(kernel));
  return kernel && !kernel->refusal;
}

static void append_becomes(GString *page, const GPtrArray *becomes) {
  for (guint i = 0; i < becomes->len && i < SHOWN_SEQUENCES; i++) {
    const char *text = g_ptr_array_index(becomes, i);
    g_string_append_printf(page, "%s%s", i ? "; " : "", *text ? text : "nothing");
  }
  g_string_append(page, becomes->len > SHOWN_SEQUENCES ? "; ..." : "");
}

static void append_refusals(GString *page, const Shown *shown) {
  for (guint i = 0; i < shown->refusals->len; i++)
    g_string_append_printf(page, "%s%s", i ? "; " : "", (const char *)g_ptr_array_index(shown->refusals, i));
}

static void append_form(const PtxOps *ops, uint16_t form, GString *page) {
  Shown shown = {g_ptr_array_new_with_free_func(g_free), g_ptr_array_new_with_free_func(g_free)};
  for (unsigned choice = 0; choice < 2 * ptx_ops_choices(ops, form); choice++) {
    g_autofree char *mnemonic = ptx_ops_example(ops, form, choice / 2, choice % 2);
    g_autofree char *inst = ptx_example(ops, mnemonic);
    if (lower_example(inst, &newest, &shown))
      lower_example(inst, &oldest, &shown);
  }
  g_string_append(page, "| | `");
  ptx_ops_describe(ops, form, page);
  g_string_append(page, "` | ");
  append_cell(page, *ptx_ops_operands(ops, form) ? ptx_ops_operands(ops, form) : "-");
  g_string_append(page, " | ");
  append_becomes(page, shown.becomes);
  g_string_append(page, shown.becomes->len ? " | " : "not supported | ");
  append_refusals(page, &shown);
  g_string_append(page, " |\n");
  g_ptr_array_unref(shown.becomes);
  g_ptr_array_unref(shown.refusals);
}

static void append_forms(const PtxOps *ops, GString *page) {
  PtxOp op = PTX_OP_COUNT;
  g_string_append(page, "| instruction | does / modifiers, in order | operands | becomes | but |\n"
                        "| --- | --- | --- | --- | --- |\n");
  for (unsigned form = 0; form < ptx_ops_form_count(ops); form++) {
    if (ptx_ops_form_op(ops, (uint16_t)form) != op) {
      op = ptx_ops_form_op(ops, (uint16_t)form);
      g_string_append_printf(page, "| %s | ", ptx_op_mnemonic(op));
      append_cell(page, ptx_op_doc(op));
      g_string_append(page, " | | | |\n");
    }
    append_form(ops, (uint16_t)form, page);
  }
}

static void append_list(GString *page, const char *before, const char *const *words) {
  for (const char *const *word = words; *word; word++)
    g_string_append_printf(page, "%s`%s%s`", word == words ? "" : ", ", before, *word);
  g_string_append(page, ".\n");
}

char *reference_ptx(void) {
  PtxOps *ops = ptx_ops_new();
  g_autofree const char **specials = ptx_special_names();
  GString *page = g_string_new(
      "# Instructions of PTX\n\nGenerated from `isa/ptx/ptx_ops.def` by `lockstep doc ptx-forms`, which lowers "
      "examples "
      "of "
      "each form. [ptx.md](ptx.md) says how the text is read.\n\n"
      "Modifiers stand in this order; those in `[ ]` may be left out, those in `{ }` come in any order. Operands: "
      "`d` "
      "a register written, `a` a register or number, `s` what only mov reads, `i` a number, `q` a predicate, `p` as "
      "`a` or a predicate, `M` an "
      "address (in the space behind `:`), `l` a label, `t` a table of branch targets, `C` the operands of a call. "
      "Behind `:` stands the type: "
      "`T` the first of the mnemonic, `U` the second, `W` the first, twice as wide, `*` any; `+`: a wider register "
      "will do; `v`: a vector if there is `.v2` or `.v4`; `=`: or parts in braces; `|`: a second result, a "
      "predicate, "
      "may follow, `||`: has to; `?`: may be left out.\n\n"
      "`becomes` has the instructions of [isa.md](isa.md) that sm_90 runs where the lanes of a warp may be apart, "
      "for "
      "up to three examples (other types and modifiers may differ); a machine with a SIMT stack has no WARPSYNC. "
      "`but` has what is refused with an error: always, or on a machine of less compute capability.\n\n");
  append_forms(ops, page);
  g_string_append(page, "\n## Special registers\n\n");
  append_list(page, "%", specials);
  g_string_append(page,
                  "\n`%pm0` to `%pm7` are refused when a kernel reads them.\n\n## Not supported\n\nThese give an "
                  "error with their line that says so. Instructions: ");
  append_list(page, "", ptx_ops_unsupported());
  g_string_append(page, "\nModifiers: ");
  append_list(page, ".", ptx_ops_unsupported_modifiers());
  ptx_ops_free(ops);
  return g_string_free(page, FALSE);
}
