#include "isa/ptx/ptx_ops.h"

#include <string.h>

#include "base/diag.h"

enum { ELEMENTS_MAX = 16, CHOICES_MAX = 24, MODIFIERS_MAX = 24, SHOWN_MAX = 60 };

/* One modifier of a form: a flag, or one of some words for a field. */
typedef struct Element {
  uint8_t field; /* index in PtxMods, or FIELD_FLAG */
  bool optional;
  uint8_t group; /* elements with the same number, not 0, come in any order */
  uint8_t nwords;
  uint8_t words[CHOICES_MAX];
  uint32_t flag;
} Element;

enum { FIELD_FLAG = 0xff };

typedef struct FormRow {
  PtxOp op;
  const char *modifiers, *operands;
  Element elements[ELEMENTS_MAX];
  unsigned nelements, nshapes;
  PtxShape shapes[PTX_OPERANDS_MAX];
  bool compiled; /* the elements and shapes are there: when somebody first asks for the form */
} FormRow;

struct PtxOps {
  FormRow *forms;
  unsigned nforms;
  uint16_t first[PTX_OP_COUNT + 1]; /* forms of an instruction: first[op] up to first[op + 1] */
};

typedef struct OpRow {
  const char *mnemonic, *doc;
} OpRow;

static const OpRow op_rows[] = {
#define OP(id, mnemonic, doc) {mnemonic, doc},
#define FORM(modifiers, operands)
#include "isa/ptx/ptx_ops.def"
#undef OP
#undef FORM
};

/* Rows in the order of the file: an instruction has no modifiers, a form has both. */
typedef struct SourceRow {
  int op;
  const char *modifiers, *operands;
} SourceRow;

static const SourceRow source_rows[] = {
#define OP(id, mnemonic, doc) {PTX_OP_##id, NULL, NULL},
#define FORM(modifiers, operands) {-1, modifiers, operands},
#include "isa/ptx/ptx_ops.def"
#undef OP
#undef FORM
};

static const char *const fields[PTX_FIELDS] = {"type", "type2", "round", "cmp",   "boolop", "space",
                                               "sem",  "scope", "cache", "evict", "evict2", "prefetch",
                                               "vec",  "op",    "mode",  "mode2"};
static const PtxWord flag_words[] = {
    PTX_FTZ,      PTX_SAT,   PTX_CC,       PTX_TO,      PTX_NC,   PTX_SYNC, PTX_ALIGNED, PTX_CTA,  PTX_WARP,
    PTX_SHIFTAMT, PTX_UNI,   PTX_NAN_WINS, PTX_XORSIGN, PTX_ABS,  PTX_MMIO, PTX_IDX,     PTX_MASK, PTX_PROXY,
    PTX_NOINC,    PTX_NOFTZ, PTX_RELU,     PTX_BULK,    PTX_HINT, PTX_READ, PTX_ASYNC};

/* -- compiling the table -- */

static uint8_t field_of(const char *name, gsize length) {
  for (uint8_t i = 0; i < PTX_FIELDS; i++)
    if (strlen(fields[i]) == length && memcmp(fields[i], name, length) == 0)
      return i;
  g_error("ptx_ops.def: no field %.*s", (int)length, name);
}

static uint8_t word_of(const char *text, gsize length) {
  PtxWord word = ptx_word_find(text, length);
  if (word == PTX_NONE)
    g_error("ptx_ops.def: no word %.*s", (int)length, text);
  return (uint8_t)word;
}

static void compile_element(Element *element, const char *text, gsize length) {
  element->optional = text[length - 1] == '?';
  length -= element->optional;
  const char *colon = memchr(text, ':', length), *end = text + length;
  bool is_flag = !colon || colon[1] == ':';
  element->field = is_flag ? FIELD_FLAG : field_of(text, (gsize)(colon - text));
  for (const char *p = is_flag ? text : colon + 1; p < end;) {
    const char *slash = memchr(p, '/', (gsize)(end - p)), *stop = slash ? slash : end;
    g_assert(element->nwords < CHOICES_MAX);
    element->words[element->nwords++] = word_of(p, (gsize)(stop - p));
    p = stop + 1;
  }
  for (unsigned i = 0; is_flag && i < G_N_ELEMENTS(flag_words); i++)
    if (flag_words[i] == element->words[0])
      element->flag = 1u << i;
  g_assert(!is_flag || element->flag);
}

static void compile_modifiers(FormRow *form) {
  g_auto(GStrv) parts = g_strsplit(form->modifiers, " ", -1);
  uint8_t group = 0, groups = 0;
  for (char **part = parts; *part; part++) {
    const char *text = *part;
    gsize length = strlen(text);
    if (length == 0)
      continue;
    if (*text == '(') {
      group = ++groups;
      text++;
      length--;
    }
    bool closes = text[length - 1] == ')';
    Element *element = &form->elements[form->nelements++];
    g_assert(form->nelements < ELEMENTS_MAX);
    element->group = group;
    compile_element(element, text, length - closes);
    group = closes ? 0 : group;
  }
}

static void compile_shape(PtxShape *shape, const char *text) {
  shape->kind = *text++;
  if (*text == ':') {
    gsize n = strspn(++text, G_CSET_a_2_z G_CSET_DIGITS);
    if (n)
      shape->word = word_of(text, n);
    else
      shape->type = *text;
    text += MAX(n, 1);
  }
  for (; *text; text++) {
    shape->optional |= *text == '?';
    shape->wider |= *text == '+';
    shape->vector |= *text == 'v';
    shape->parts |= *text == '=';
    shape->pairs = (uint8_t)(shape->pairs + (*text == '|'));
  }
}

static void compile_operands(FormRow *form) {
  g_auto(GStrv) parts = g_strsplit(form->operands, " ", -1);
  for (char **part = parts; *part; part++) {
    if (!**part)
      continue;
    g_assert(form->nshapes < PTX_OPERANDS_MAX);
    compile_shape(&form->shapes[form->nshapes++], *part);
  }
}

static const FormRow *form_at(const PtxOps *ops, unsigned index) {
  FormRow *form = &ops->forms[index];
  if (form->compiled)
    return form;
  compile_modifiers(form);
  compile_operands(form);
  form->compiled = true;
  return form;
}

PtxOps *ptx_ops_new(void) {
  PtxOps *ops = g_new0(PtxOps, 1);
  ops->forms = g_new0(FormRow, G_N_ELEMENTS(source_rows));
  int op = 0;
  for (unsigned i = 0; i < G_N_ELEMENTS(source_rows); i++) {
    const SourceRow *row = &source_rows[i];
    if (!row->modifiers) {
      op = row->op;
      ops->first[op] = (uint16_t)ops->nforms;
      continue;
    }
    FormRow *form = &ops->forms[ops->nforms++];
    form->op = (PtxOp)op;
    form->modifiers = row->modifiers;
    form->operands = row->operands;
  }
  ops->first[PTX_OP_COUNT] = (uint16_t)ops->nforms;
  return ops;
}

void ptx_ops_free(PtxOps *ops) {
  if (!ops)
    return;
  g_free(ops->forms);
  g_free(ops);
}

unsigned ptx_ops_form_count(const PtxOps *ops) { return ops->nforms; }
PtxOp ptx_ops_form_op(const PtxOps *ops, uint16_t form) { return ops->forms[form].op; }
const char *ptx_op_mnemonic(PtxOp op) { return op_rows[op].mnemonic; }

const PtxShape *ptx_ops_shapes(const PtxOps *ops, uint16_t form, unsigned *count) {
  *count = form_at(ops, form)->nshapes;
  return form_at(ops, form)->shapes;
}

/* -- reading -- */

/* The modifiers of a mnemonic: where each starts (behind its dot) and ends. */
typedef struct Split {
  unsigned count;
  gsize start[MODIFIERS_MAX], end[MODIFIERS_MAX];
  PtxWord word[MODIFIERS_MAX];
} Split;

static bool element_takes(const Element *element, PtxWord word) {
  for (unsigned i = 0; i < element->nwords; i++)
    if (element->words[i] == word)
      return true;
  return false;
}

static bool is_set(const Element *element, const PtxMods *mods) {
  return element->field == FIELD_FLAG ? mods->flags & element->flag : ((const uint8_t *)mods)[element->field] != 0;
}

static void set(const Element *element, PtxWord word, PtxMods *mods) {
  if (element->field == FIELD_FLAG)
    mods->flags |= element->flag;
  else
    ((uint8_t *)mods)[element->field] = (uint8_t)word;
}

/* The end of the group that starts at element `e`. */
static unsigned group_end(const FormRow *form, unsigned e) {
  unsigned end = e + 1;
  while (form->elements[e].group && end < form->nelements && form->elements[end].group == form->elements[e].group)
    end++;
  return end;
}

/* Matches the modifiers; returns how many of them it got through. `*missing` is the element that then lacked, if
 * any. */
static unsigned match(const FormRow *form, const Split *split, PtxMods *mods, const Element **missing) {
  unsigned i = 0;
  *missing = NULL;
  for (unsigned e = 0; e < form->nelements;) {
    unsigned end = group_end(form, e);
    for (bool again = true; again && i < split->count;) {
      again = false;
      for (unsigned k = e; k < end && !again; k++) {
        again = !is_set(&form->elements[k], mods) && element_takes(&form->elements[k], split->word[i]);
        if (again)
          set(&form->elements[k], split->word[i++], mods);
      }
    }
    for (unsigned k = e; k < end && !*missing; k++)
      if (!form->elements[k].optional && !is_set(&form->elements[k], mods))
        *missing = &form->elements[k];
    if (*missing)
      return i;
    e = end;
  }
  return i;
}

static const char *const unsupported_ops[] = {
    "alloca",
    "clusterlaunchcontrol",
    "dp2a",
    "istypep",
    "ldmatrix",
    "mma",
    "movmatrix",
    "multimem",
    "stackrestore",
    "stacksave",
    "stmatrix",
    "subp",
    "suld",
    "suq",
    "sured",
    "sust",
    "tcgen05",
    "tensormap",
    "tex",
    "tld4",
    "txq",
    "vabsdiff",
    "vabsdiff2",
    "vabsdiff4",
    "vadd",
    "vadd2",
    "vadd4",
    "vavrg2",
    "vavrg4",
    "vmad",
    "vmax",
    "vmax2",
    "vmax4",
    "vmin",
    "vmin2",
    "vmin4",
    "vset",
    "vset2",
    "vset4",
    "vshl",
    "vshr",
    "vsub",
    "vsub2",
    "vsub4",
    "wgmma",
    "wmma",
    NULL,
};
static const char *const unsupported_words[] = {
    "f16",
    "f16x2",
    "bf16",
    "bf16x2",
    "tf32",
    "u128",
    "s128",
    "v2",
    "v4",
    "v8",
    "f32x2",
    "e4m3x2",
    "e5m2x2",
    "noftz",
    "relu",
    "satfinite",
    "rna",
    "rs",
    "cluster",
    "unified",
    "async",
    "tensormap",
    "proxy",
    "tex",
    "surf",
    "sampler",
    "texmode_unified",
    "tensor",
    "multicast::cluster",
    NULL,
};

static bool listed(const char *const *list, const char *text, gsize length) {
  for (; *list; list++)
    if (strlen(*list) == length && memcmp(*list, text, length) == 0)
      return true;
  return false;
}

static bool fail(PtxMnemonicError *error, gsize start, char *message, char *hint) {
  *error = (PtxMnemonicError){start, message, hint, false};
  return false;
}

static bool fail_unsupported(PtxMnemonicError *error, gsize start, char *message) {
  *error = (PtxMnemonicError){start, message, NULL, true};
  return false;
}

static bool fail_op(const char *text, gsize length, const Split *split, PtxMnemonicError *error) {
  gsize name = split->count ? split->start[0] - 1 : length, pair = split->count ? split->end[0] : length;
  if (listed(unsupported_ops, text, name))
    return fail_unsupported(error, 0,
                            g_strdup_printf("`%.*s` isn't supported", (int)MIN(pair, (gsize)SHOWN_MAX), text));
  const char *names[PTX_OP_COUNT + 1] = {NULL};
  for (unsigned i = 0; i < PTX_OP_COUNT; i++)
    names[i] = op_rows[i].mnemonic;
  g_autofree char *word = g_strndup(text, MIN(name, (gsize)SHOWN_MAX));
  const char *nearest = diag_nearest(word, names);
  return fail(error, 0, g_strdup_printf("unknown instruction `%s`", word),
              nearest ? g_strdup_printf("did you mean `%s`?", nearest) : NULL);
}

/* Every word that some form of the instruction takes. Free with g_free. */
static const char **candidates(const PtxOps *ops, PtxOp op, bool *known, PtxWord word) {
  const char **names = g_new0(const char *, PTX_WORD_COUNT + 1);
  bool seen[PTX_WORD_COUNT] = {false};
  unsigned count = 0;
  for (unsigned f = ops->first[op]; f < ops->first[op + 1]; f++) {
    const FormRow *form = form_at(ops, f);
    for (unsigned e = 0; e < form->nelements; e++)
      for (unsigned k = 0; k < form->elements[e].nwords; k++)
        seen[form->elements[e].words[k]] = true;
  }
  for (unsigned i = 1; i < PTX_WORD_COUNT; i++)
    if (seen[i])
      names[count++] = ptx_word_text((PtxWord)i);
  *known = word != PTX_NONE && seen[word];
  return names;
}

static char *list_words(const Element *element) {
  GString *list = g_string_new(NULL);
  for (unsigned i = 0; i < element->nwords; i++)
    g_string_append_printf(list, "%s.%s", i ? " " : "", ptx_word_text((PtxWord)element->words[i]));
  return g_string_free(list, FALSE);
}

/* Some form of the instruction goes on with this word in place of modifier number `at`. */
static bool can_stand(const PtxOps *ops, PtxOp op, Split *split, unsigned at, PtxWord word) {
  split->count = at + 1;
  split->word[at] = word;
  for (unsigned f = ops->first[op]; f < ops->first[op + 1]; f++) {
    const Element *missing;
    PtxMods mods = {0};
    if (match(form_at(ops, f), split, &mods, &missing) > at)
      return true;
  }
  return false;
}

/* What can stand in place of modifier number `at`, of those that the instruction has. Free with g_free. */
static char *hint_of_modifier(const PtxOps *ops, PtxOp op, const char *text, const Split *split, unsigned at) {
  enum { SHOWN_WORDS = 8 };
  Split asked = *split;
  GString *list = g_string_new(NULL);
  unsigned count = 0;
  for (unsigned i = 1; i < PTX_WORD_COUNT; i++)
    if (can_stand(ops, op, &asked, at, (PtxWord)i) && count++ < SHOWN_WORDS)
      g_string_append_printf(list, "%s`.%s`", count > 1 ? ", " : "", ptx_word_text((PtxWord)i));
  char *hint = count > SHOWN_WORDS ? g_strdup_printf("%s or %u others can", list->str, count - SHOWN_WORDS)
               : count             ? g_strdup_printf("%s can", list->str)
                                   : g_strdup_printf("nothing can stand behind `%.*s`",
                                         (int)MIN(split->start[at] - 1, (gsize)SHOWN_MAX), text);
  g_string_free(list, TRUE);
  return hint;
}

static bool fail_modifier(const PtxOps *ops, PtxOp op, const char *text, gsize length, const Split *split,
                          unsigned at, PtxMnemonicError *error) {
  bool known;
  const char *name = op_rows[op].mnemonic;
  gsize start = split->start[at], size = MIN(split->end[at] - start, (gsize)SHOWN_MAX);
  g_autofree const char **names = candidates(ops, op, &known, split->word[at]);
  g_autofree char *word = g_strndup(text + start, size);
  if (listed(unsupported_words, word, size) && !known)
    return fail_unsupported(error, start - 1, g_strdup_printf("`.%s` of %s isn't supported", word, name));
  if (known)
    return fail(error, start - 1,
                g_strdup_printf("`.%s` can't stand here in `%.*s`", word, (int)MIN(length, (gsize)SHOWN_MAX), text),
                hint_of_modifier(ops, op, text, split, at));
  const char *nearest = diag_nearest(word, names);
  return fail(error, start - 1, g_strdup_printf("%s has no modifier `.%s`", name, word),
              nearest ? g_strdup_printf("did you mean `.%s`?", nearest) : NULL);
}

static bool split_mnemonic(const char *text, gsize length, Split *split, PtxMnemonicError *error) {
  split->count = 0;
  const char *dot = memchr(text, '.', length);
  for (gsize start = dot ? (gsize)(dot - text) + 1 : length; start < length;) {
    const char *next = memchr(text + start, '.', length - start);
    gsize end = next ? (gsize)(next - text) : length;
    if (split->count == MODIFIERS_MAX)
      return fail(error, start - 1, g_strdup("too many modifiers"), NULL);
    split->start[split->count] = start;
    split->end[split->count] = end;
    split->word[split->count++] = ptx_word_find(text + start, end - start);
    start = end + 1;
  }
  return true;
}

static PtxOp find_op(const char *text, gsize length) {
  for (unsigned i = 0; i < PTX_OP_COUNT; i++)
    if (strlen(op_rows[i].mnemonic) == length && memcmp(op_rows[i].mnemonic, text, length) == 0)
      return (PtxOp)i;
  return PTX_OP_COUNT;
}

bool ptx_ops_read(const PtxOps *ops, const char *text, gsize length, PtxMnemonic *mnemonic, PtxMnemonicError *error) {
  Split split;
  if (!split_mnemonic(text, length, &split, error))
    return false;
  PtxOp op = find_op(text, split.count ? split.start[0] - 1 : length);
  if (op == PTX_OP_COUNT)
    return fail_op(text, length, &split, error);
  unsigned furthest = 0;
  const Element *lacks = NULL;
  for (unsigned f = ops->first[op]; f < ops->first[op + 1]; f++) {
    const Element *missing;
    PtxMods mods = {0};
    unsigned passed = match(form_at(ops, f), &split, &mods, &missing);
    if (passed == split.count && !missing) {
      *mnemonic = (PtxMnemonic){op, (uint16_t)f, mods};
      return true;
    }
    if (passed > furthest || f == ops->first[op]) {
      furthest = passed;
      lacks = missing;
    }
  }
  if (furthest < split.count)
    return fail_modifier(ops, op, text, length, &split, furthest, error);
  g_autofree char *list = list_words(lacks);
  return fail(error, 0, g_strdup_printf("`%.*s` lacks one of %s", (int)MIN(length, (gsize)SHOWN_MAX), text, list),
              NULL);
}

/* -- writing -- */

void ptx_ops_write(const PtxOps *ops, uint16_t form, const PtxMods *mods, GString *out) {
  const FormRow *row = form_at(ops, form);
  g_string_append(out, op_rows[row->op].mnemonic);
  for (unsigned e = 0; e < row->nelements; e++) {
    const Element *element = &row->elements[e];
    if (!is_set(element, mods))
      continue;
    uint8_t word = element->field == FIELD_FLAG ? element->words[0] : ((const uint8_t *)mods)[element->field];
    g_string_append_c(out, '.');
    g_string_append(out, ptx_word_text((PtxWord)word));
  }
}

char *ptx_ops_example(const PtxOps *ops, uint16_t form, unsigned choice, bool full) {
  const FormRow *row = form_at(ops, form);
  GString *text = g_string_new(op_rows[row->op].mnemonic);
  for (unsigned e = 0; e < row->nelements; e++)
    if (full || !row->elements[e].optional) {
      const Element *element = &row->elements[e];
      g_string_append_printf(text, ".%s", ptx_word_text((PtxWord)element->words[choice % element->nwords]));
    }
  return g_string_free(text, FALSE);
}

const char *ptx_op_doc(PtxOp op) { return op_rows[op].doc; }

unsigned ptx_ops_choices(const PtxOps *ops, uint16_t form) {
  unsigned most = 1;
  const FormRow *row = form_at(ops, form);
  for (unsigned e = 0; e < row->nelements; e++)
    most = MAX(most, row->elements[e].nwords);
  return most;
}

const char *ptx_ops_operands(const PtxOps *ops, uint16_t form) { return ops->forms[form].operands; }

void ptx_ops_describe(const PtxOps *ops, uint16_t form, GString *out) {
  const FormRow *row = form_at(ops, form);
  uint8_t group = 0;
  g_string_append(out, op_rows[row->op].mnemonic);
  for (unsigned e = 0; e < row->nelements; e++) {
    const Element *element = &row->elements[e];
    if (element->group != group)
      g_string_append(out, element->group ? " {" : " }");
    group = element->group;
    g_string_append(out, element->optional ? " [" : " ");
    for (unsigned i = 0; i < element->nwords; i++)
      g_string_append_printf(out, "%s.%s", i ? " " : "", ptx_word_text((PtxWord)element->words[i]));
    g_string_append(out, element->optional ? "]" : "");
    if (element->nwords > 1 && !element->optional && e + 1 < row->nelements)
      g_string_append(out, ",");
  }
  g_string_append(out, group ? " }" : "");
}

const char *const *ptx_ops_unsupported(void) { return unsupported_ops; }

const char *const *ptx_ops_unsupported_modifiers(void) { return unsupported_words; }
