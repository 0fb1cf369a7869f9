/* ptx_ops.h - the instructions and modifiers of PTX, from ptx_ops.def and ptx_words.def, and how a mnemonic is read.
 *
 * A mnemonic such as `ld.acquire.gpu.global.u32` is matched against the forms of its instruction; what was found
 * stands in a PtxMods, field by field, and ptx_ops_mnemonic() writes it back in the order of the form.
 * Ownership: a PtxOps (the forms, compiled) is immutable and belongs to who made it. */
#ifndef LOCKSTEP_ISA_PTX_PTX_OPS_H
#define LOCKSTEP_ISA_PTX_PTX_OPS_H

#include <assert.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum {
#define OP(id, mnemonic, doc) PTX_OP_##id,
#define FORM(modifiers, operands)
#include "isa/ptx/ptx_ops.def"
#undef OP
#undef FORM
  PTX_OP_COUNT
} PtxOp;

/* A modifier; types come first. 0 means none. */
typedef enum {
  PTX_NONE,
#define T(id, word, bytes, kind) PTX_##id,
#define W(id, word) PTX_##id,
#include "isa/ptx/ptx_words.def"
#undef T
#undef W
  PTX_WORD_COUNT
} PtxWord;

typedef enum {
  PTX_KIND_NONE,
  PTX_KIND_PRED,
  PTX_KIND_UNSIGNED,
  PTX_KIND_SIGNED,
  PTX_KIND_BITS,
  PTX_KIND_FLOAT
} PtxTypeKind;

enum {
  PTX_FLAG_FTZ = 1 << 0,
  PTX_FLAG_SAT = 1 << 1,
  PTX_FLAG_CC = 1 << 2,
  PTX_FLAG_TO = 1 << 3,
  PTX_FLAG_NC = 1 << 4,
  PTX_FLAG_SYNC = 1 << 5,
  PTX_FLAG_ALIGNED = 1 << 6,
  PTX_FLAG_CTA = 1 << 7,
  PTX_FLAG_WARP = 1 << 8,
  PTX_FLAG_SHIFTAMT = 1 << 9,
  PTX_FLAG_UNI = 1 << 10,
  PTX_FLAG_NAN = 1 << 11,
  PTX_FLAG_XORSIGN = 1 << 12,
  PTX_FLAG_ABS = 1 << 13,
  PTX_FLAG_MMIO = 1 << 14,
  PTX_FLAG_IDX = 1 << 15,
  PTX_FLAG_MASK = 1 << 16,
  PTX_FLAG_PROXY = 1 << 17,
  PTX_FLAG_NOINC = 1 << 18,
  PTX_FLAG_NOFTZ = 1 << 19,
  PTX_FLAG_RELU = 1 << 20,
  PTX_FLAG_BULK = 1 << 21,
  PTX_FLAG_HINT = 1 << 22, /* its last operand is a cache policy */
  PTX_FLAG_READ = 1 << 23,
  PTX_FLAG_ASYNC = 1 << 24,
};

/* What a mnemonic says; each a PtxWord, 0 if it isn't there. */
typedef struct PtxMods {
  uint8_t type, type2; /* in the order in which they are written: cvt.TYPE.TYPE2 */
  uint8_t round;       /* rn rz rm rp, rni ..., approx, full */
  uint8_t cmp, boolop;
  uint8_t space;      /* 0: generic */
  uint8_t sem, scope; /* weak relaxed acquire release acq_rel sc volatile; cta cluster gpu sys */
  uint8_t cache;      /* ca cg cs lu cv wb wt */
  uint8_t evict, evict2, prefetch;
  uint8_t vec; /* v2 v4 */
  uint8_t op;  /* atom, red, redux */
  uint8_t mode,
      mode2;      /* what else tells forms of an instruction apart: lo hi wide, up down, all any, sync arrive red */
  uint32_t flags; /* PTX_FLAG_* */
} PtxMods;
enum { PTX_FIELDS = 16 };
static_assert(sizeof(PtxMods) == PTX_FIELDS + sizeof(uint32_t), "fields are bytes, then the flags");

/* -- words and types -- */

const char *ptx_word_text(PtxWord word);
/* The word, or PTX_NONE. */
PtxWord ptx_word_find(const char *text, gsize length);
PtxTypeKind ptx_type_kind(PtxWord type);
/* The bytes of a value; a predicate has 1. 0 for what isn't a type. */
unsigned ptx_type_bytes(PtxWord type);

/* -- special registers -- */

typedef enum {
#define SPECIAL(id, name, type) PTX_SR_##id,
#include "isa/ptx/ptx_special.def"
#undef SPECIAL
  PTX_SR_COUNT
} PtxSpecial;

/* Without the %. */
const char *ptx_special_name(PtxSpecial special);
PtxWord ptx_special_type(PtxSpecial special);
/* The register of that name (without the %), or PTX_SR_COUNT. */
PtxSpecial ptx_special_find(const char *name, gsize length);
/* All names, NULL-terminated, for "did you mean". Free the array with g_free. */
const char **ptx_special_names(void);

/* -- instructions -- */

enum { PTX_OPERANDS_MAX = 6 };

/* An operand as a form describes it (ptx_ops.def). */
typedef struct PtxShape {
  char kind;    /* d a s i q p M l t C */
  char type;    /* T U W *, or 0 if `word` is the type */
  uint8_t word; /* PtxWord */
  bool optional, wider, vector, parts;
  uint8_t pairs; /* 1: `|p` allowed; 2: needed */
} PtxShape;

typedef struct PtxOps PtxOps;

/* The table of forms. What asks it may complete it: it is for one thread at a time. */
PtxOps *ptx_ops_new(void);
void ptx_ops_free(PtxOps *ops);

typedef struct PtxMnemonic {
  PtxOp op;
  uint16_t form; /* row of ptx_ops.def, from 0 */
  PtxMods mods;
} PtxMnemonic;

/* Why a mnemonic wasn't read: `start` is the byte where it went wrong. */
typedef struct PtxMnemonicError {
  gsize start;
  char *message, *hint; /* newly allocated; hint may be NULL */
  bool unsupported;     /* it is PTX, but what lockstep doesn't run */
} PtxMnemonicError;

/* Reads a mnemonic. On failure returns false and fills *error. */
bool ptx_ops_read(const PtxOps *ops, const char *text, gsize length, PtxMnemonic *mnemonic, PtxMnemonicError *error);
/* Writes it in canonical form. */
void ptx_ops_write(const PtxOps *ops, uint16_t form, const PtxMods *mods, GString *out);
unsigned ptx_ops_form_count(const PtxOps *ops);
PtxOp ptx_ops_form_op(const PtxOps *ops, uint16_t form);
/* The operands of a form; `*count` of them. */
const PtxShape *ptx_ops_shapes(const PtxOps *ops, uint16_t form, unsigned *count);

/* A mnemonic of that form: of the words for each modifier the one with the number `choice`, modulo how many
 * there are; optional modifiers only if `full`. Free with g_free. */
char *ptx_ops_example(const PtxOps *ops, uint16_t form, unsigned choice, bool full);
const char *ptx_op_mnemonic(PtxOp op);
const char *ptx_op_doc(PtxOp op);
/* How many choices of ptx_ops_example() show each word of that form. */
unsigned ptx_ops_choices(const PtxOps *ops, uint16_t form);
/* Appends a form as the reference page writes it: `ld [.weak] .u8 .u16`, and its operands in the letters of
 * ptx_ops.def. */
void ptx_ops_describe(const PtxOps *ops, uint16_t form, GString *out);
const char *ptx_ops_operands(const PtxOps *ops, uint16_t form);
/* Instructions and modifiers of PTX that are known not to be supported; NULL-terminated. */
const char *const *ptx_ops_unsupported(void);
const char *const *ptx_ops_unsupported_modifiers(void);

#endif
