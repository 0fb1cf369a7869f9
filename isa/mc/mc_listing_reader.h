/* mc_listing_reader.h - what the parts of the reader of listings share: mc_listing.c (lines, headers),
 * mc_listing_inst.c and mc_listing_operand.c (one instruction), mc_listing_place.c (lines of the source),
 * mc_listing_data.c (sections, labels, symbols), mc_listing_info.c (resources). Private to them. */
#ifndef LOCKSTEP_ISA_MC_MC_LISTING_READER_H
#define LOCKSTEP_ISA_MC_MC_LISTING_READER_H

#include "base/diag.h"
#include "isa/mc/mc_tree.h"

enum {
  MC_LISTING_BYTES_MAX = 1 << 30,
  MC_WORD_MAX = 4096,       /* of a name */
  MC_ZEROS_MAX = 256 << 20, /* bytes of initialised sections in one listing */
  MC_SM_MIN = 70,
  MC_SM_MAX = 90, /* whose instructions have 128 bits and these control bits */
};

typedef enum { MC_NO_SECTION, MC_TEXT, MC_INFO, MC_DATA, MC_IGNORED } McSectionKind;

/* Where a label stands. */
typedef struct McLabel {
  const char *section; /* interned */
  uint64_t value;
} McLabel;

/* A name that is looked up when everything has been read. */
typedef struct McPending {
  enum {
    MC_PENDING_OPERAND, /* index: in McModule.operands. It becomes a target if the label is in the instruction's section */
    MC_PENDING_DATA, /* index: in McReader.blobs; a word of `bytes` at `offset` */
    MC_PENDING_SIZE, /* index: in McModule.symbols */
  } kind;
  uint32_t index, offset;
  uint8_t bytes, part;
  const char *section; /* of the instruction, interned */
  const char *name;    /* a label or symbol, in McReader.strings */
  const char *minus;   /* the label that is subtracted, or NULL */
  bool relative;       /* `name@srel`: from the start of its section */
  bool position;       /* `index@(name)`: its place in the symbol table; here in McReader.names */
  int64_t addend;
  uint32_t line, column;
} McPending;

/* Bytes of a section of data or of .nv.info, being read. */
typedef struct McBlob {
  const char *section; /* interned */
  McSectionKind kind;
  bool reserved; /* without bytes in the file */
  uint32_t bytes;
  GByteArray *data; /* NULL if reserved */
  GArray *relocs;   /* McReloc, or NULL */
} McBlob;

/* What a mnemonic says, found once. */
typedef struct McMnemonic {
  const char *name, *root;
  const char *modifiers[MC_MODIFIERS_MAX];
  bool too_long; /* it has more modifiers than that */
  bool target;   /* a number as last operand is a place in the kernel */
  bool base;     /* a register may stand before a number without a comma: `BRX R6 -0x1c0` */
} McMnemonic;

typedef struct McReader {
  McModule *module;
  const char *file;
  Diag *diag;
  const char *next, *end; /* the text behind this line */
  const char *line;       /* the current line */
  const char *p, *stop;   /* what is left of it, without white space before and after */
  uint32_t number;        /* of the line, from 1 */
  unsigned sm;            /* 0: not said yet */
  bool skipped_sm;        /* the code that follows is of an architecture that isn't read */
  GHashTable *mnemonics;  /* text -> McMnemonic */
  GStringChunk *strings;

  McKernel *kernel;  /* the one being read, or NULL; in McModule.kernels */
  uint64_t expected; /* address of the next instruction */
  bool half;         /* the first word of an encoding has been read, and the second one follows */

  McSectionKind kind;
  const char *section; /* interned */
  McBlob *blob;        /* of DATA and INFO */
  uint64_t zeros;
  GArray *blobs;       /* McBlob */
  GHashTable *labels;  /* name -> McLabel */
  GPtrArray *names;    /* strings of `index@(...)` */
  GArray *pending;     /* McPending */
  GHashTable *symbols; /* interned name -> 1 + index in McModule.symbols */

  GHashTable *files;  /* name -> 1 + index in McModule.files */
  GHashTable *frames; /* McFrame -> 1 + index in McModule.frames */
  GArray *places;     /* McFrame: the chain of places before the next instruction, innermost first */
  bool places_open;   /* the line before this one was a place */
  uint32_t place_file, place_line, place_inlined;

  GArray *usages; /* McUsage */
} McReader;

/* What `cuobjdump -res-usage` says of a kernel. */
typedef struct McUsage {
  const char *kernel; /* interned */
  unsigned sm;
  int32_t registers, stack_bytes, shared_bytes, constant_bytes;
} McUsage;

/* mc_listing.c: a reader of that text into that module. */
void mc_reader_init(McReader *reader, McModule *module, const char *file, const char *text, gsize length, Diag *diag);
void mc_reader_clear(McReader *reader);
/* An instruction without address and encoding, into the kernel. False if it can't be read; then the kernel is as it
 * was. */
bool mc_reader_inst_text(McReader *reader, const char *text);
/* An error at `at` of the current line. Returns false. */
bool mc_reader_error(McReader *reader, const char *at, const char *format, ...) G_GNUC_PRINTF(3, 4);
/* "expected EXPECTED, found ...". Returns false. */
bool mc_reader_unexpected(McReader *reader, const char *at, const char *expected);
/* What stands there, for a message: a word, a character, or "the end of the line". Free with g_free. */
char *mc_reader_show(const McReader *reader, const char *at);
void mc_reader_space(McReader *reader);
/* True and past it if the line goes on so. */
bool mc_reader_take(McReader *reader, const char *text);
bool mc_reader_starts(const McReader *reader, const char *text);
/* The length of the word of letters, digits, `_`, `$` and `.` that begins there. */
gsize mc_reader_word(const McReader *reader, const char *at);
/* A number as `0x1f` or `31`, without sign. */
bool mc_reader_number(McReader *reader, uint64_t *value);
/* A place as `/ * 0010 * /` without its spaces, or false and nothing read. */
bool mc_reader_address(McReader *reader, uint64_t *address);
const char *mc_reader_intern(McReader *reader, const char *from, gsize length);

/* mc_listing_operand.c: the operand at reader->p, which goes behind it. An error if false. */
bool mc_read_operand(McReader *reader, McOperand *operand);

/* mc_listing_inst.c: the instruction at reader->p. Adds it to the kernel. */
bool mc_read_inst(McReader *reader, bool has_address, uint64_t address);
/* `/ * 0x... * /`, the first or second word of the encoding. */
bool mc_read_encoding(McReader *reader);
void mc_begin_kernel(McReader *reader, const char *name);
void mc_end_kernel(McReader *reader);

/* mc_listing_place.c: `//## File "x.cu", line 3 inlined at "y.cu", line 5`. */
bool mc_read_place(McReader *reader);
/* The place of the instruction that comes now: nvdisasm says it only where it changes, even from one kernel to the
 * next. */
void mc_settle_place(McReader *reader);

/* mc_listing_data.c. */
bool mc_read_section(McReader *reader);
/* Directives in a section: data, symbols. */
bool mc_read_directive(McReader *reader, bool has_address, uint64_t address);
bool mc_read_label(McReader *reader, gsize length);
/* Looks up all names and hands the data to the module. */
void mc_resolve(McReader *reader);
void mc_blob_clear(gpointer blob);

/* mc_listing_info.c: a line of `cuobjdump -res-usage`. */
bool mc_read_usage_function(McReader *reader);
bool mc_read_usage(McReader *reader);
/* What sections and usages say of kernels. */
void mc_read_infos(McReader *reader);

#endif
