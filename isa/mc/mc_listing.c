#include "isa/mc/mc_listing.h"

#include <string.h>

#include "base/quote.h"
#include "isa/mc/mc_link.h"
#include "isa/mc/mc_listing_reader.h"

/* ---- what the parts share ---- */

bool mc_reader_error(McReader *reader, const char *at, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_autofree char *message = g_strdup_vprintf(format, args);
  va_end(args);
  return diag_error(reader->diag, reader->file, reader->number, (unsigned)(at - reader->line) + 1, "%s", message);
}

char *mc_reader_show(const McReader *reader, const char *at) {
  if (at >= reader->stop)
    return g_strdup("the end of the line");
  gsize length = mc_reader_word(reader, at);
  return quote_bytes(at, MAX(length, 1));
}

bool mc_reader_unexpected(McReader *reader, const char *at, const char *expected) {
  g_autofree char *found = mc_reader_show(reader, at);
  return mc_reader_error(reader, at, "expected %s, found %s", expected, found);
}

void mc_reader_space(McReader *reader) {
  while (reader->p < reader->stop && g_ascii_isspace(*reader->p))
    reader->p++;
}

bool mc_reader_starts(const McReader *reader, const char *text) {
  const char *p = reader->p;
  for (; *text; text++, p++)
    if (p >= reader->stop || *p != *text)
      return false;
  return true;
}

bool mc_reader_take(McReader *reader, const char *text) {
  if (!mc_reader_starts(reader, text))
    return false;
  reader->p += strlen(text);
  return true;
}

gsize mc_reader_word(const McReader *reader, const char *at) {
  const char *p = at;
  while (p < reader->stop && (g_ascii_isalnum(*p) || *p == '_' || *p == '.' || *p == '$'))
    p++;
  return p - at;
}

bool mc_reader_number(McReader *reader, uint64_t *value) {
  const char *at = reader->p;
  bool hex = mc_reader_take(reader, "0x");
  const char *digits = reader->p;
  bool fits = true;
  *value = 0;
  for (; reader->p < reader->stop && g_ascii_isxdigit(*reader->p) && (hex || g_ascii_isdigit(*reader->p));
       reader->p++) {
    uint64_t digit = (uint64_t)g_ascii_xdigit_value(*reader->p), base = hex ? 16 : 10;
    fits = fits && *value <= (UINT64_MAX - digit) / base;
    *value = *value * base + digit;
  }
  if (reader->p == digits || mc_reader_word(reader, reader->p) > 0) {
    reader->p = at;
    return mc_reader_unexpected(reader, at, "a number");
  }
  return fits || mc_reader_error(reader, at, "a number has at most 64 bits");
}

const char *mc_reader_intern(McReader *reader, const char *from, gsize length) {
  char word[256];
  if (length < sizeof word) {
    memcpy(word, from, length);
    word[length] = '\0';
    return mc_module_intern(reader->module, word);
  }
  g_autofree char *copy = g_strndup(from, length);
  return mc_module_intern(reader->module, copy);
}

bool mc_reader_address(McReader *reader, uint64_t *address) {
  const char *p = reader->p;
  if (!mc_reader_starts(reader, "/*"))
    return false;
  uint64_t value = 0;
  guint digits = 0;
  for (p += 2; p < reader->stop && g_ascii_isxdigit(*p); p++, digits++)
    value = value << 4 | (uint64_t)g_ascii_xdigit_value(*p);
  if (digits == 0 || digits > 12 || p + 2 > reader->stop || p[0] != '*' || p[1] != '/')
    return false;
  reader->p = p + 2;
  *address = value;
  mc_reader_space(reader);
  return true;
}

/* ---- headers ---- */

/* The number of `sm_90a`, or 0. */
static unsigned read_sm(McReader *reader) {
  unsigned sm = 0;
  if (mc_reader_take(reader, "sm_"))
    while (reader->p < reader->stop && g_ascii_isdigit(*reader->p) && sm < 10000)
      sm = sm * 10 + (unsigned)(*reader->p++ - '0');
  return sm;
}

/* Code of another architecture in the same file is passed over: who reads one of several chooses by that. */
static bool begin_sm(McReader *reader) {
  mc_reader_space(reader);
  const char *at = reader->p;
  unsigned sm = read_sm(reader);
  if (sm == 0)
    return mc_reader_unexpected(reader, at, "an architecture such as sm_90");
  mc_end_kernel(reader);
  reader->sm = sm;
  reader->skipped_sm = sm < MC_SM_MIN || sm > MC_SM_MAX;
  if (reader->skipped_sm)
    diag_warning(reader->diag, reader->file, reader->number, (unsigned)(at - reader->line) + 1,
                 "code of sm_%u is passed over: lockstep reads that of sm_%d to sm_%d", sm, MC_SM_MIN, MC_SM_MAX);
  return true;
}

/* Older tools of nvdisasm say it so: .headerflags @"EF_CUDA_TEXMODE_UNIFIED EF_CUDA_SM75 ..." */
static bool read_flags(McReader *reader) {
  const char *sm = g_strstr_len(reader->p, reader->stop - reader->p, "EF_CUDA_SM");
  if (!sm || reader->sm)
    return true;
  unsigned number = 0;
  for (const char *p = sm + strlen("EF_CUDA_SM"); p < reader->stop && g_ascii_isdigit(*p) && number < 10000; p++)
    number = number * 10 + (unsigned)(*p - '0');
  reader->sm = number;
  return true;
}

static bool begin_function(McReader *reader) {
  mc_reader_space(reader);
  if (!mc_reader_take(reader, ":"))
    return mc_read_usage_function(reader);
  mc_reader_space(reader);
  const char *name = reader->p;
  gsize length = mc_reader_word(reader, name);
  if (length == 0 || length > MC_WORD_MAX)
    return mc_reader_unexpected(reader, name, "the name of a kernel");
  if (!reader->sm)
    return mc_reader_error(reader, name, "expected `code for sm_90` or the like before the first kernel");
  if (!reader->skipped_sm)
    mc_begin_kernel(reader, mc_reader_intern(reader, name, length));
  return true;
}

/* `arch = sm_75`, `producer = ...`, `Fatbin elf code:`, `=====`, `Resource usage:`: what cuobjdump says of its
 * input. */
static bool is_header(const McReader *reader) {
  const char *p = reader->p;
  gsize length = reader->stop - p;
  if (p[0] == '=')
    return true;
  return length < 256 &&
         (g_strstr_len(p, length, " = ") || p[length - 1] == ':' || mc_reader_starts(reader, "compressed") ||
          mc_reader_starts(reader, "identifier:") || g_strstr_len(p, length, "CONSTANT["));
}

/* False if the line is no header; whether it is a right one is in `diag`. */
static bool read_header(McReader *reader) {
  if (mc_reader_take(reader, "code for ")) {
    begin_sm(reader);
  } else if (mc_reader_take(reader, "arch = ")) {
    unsigned sm = read_sm(reader);
    reader->sm = sm ? sm : reader->sm;
  } else if (mc_reader_starts(reader, "Function ")) {
    mc_reader_take(reader, "Function");
    begin_function(reader);
  } else if (mc_reader_starts(reader, "REG:")) {
    mc_read_usage(reader);
  } else {
    return mc_reader_starts(reader, "GLOBAL:") || is_header(reader);
  }
  return true;
}

/* ---- lines ---- */

static bool read_dotted(McReader *reader, bool has_address, uint64_t address) {
  if (mc_reader_starts(reader, ".."))
    return true; /* the line below a kernel */
  if (mc_reader_word(reader, reader->p) == strlen(".section") && mc_reader_take(reader, ".section"))
    return mc_read_section(reader);
  if (mc_reader_starts(reader, ".headerflags"))
    return read_flags(reader);
  if (reader->kind == MC_NO_SECTION && mc_reader_take(reader, ".target")) {
    mc_reader_space(reader);
    const char *at = reader->p;
    unsigned sm = read_sm(reader);
    if (sm == 0)
      return mc_reader_unexpected(reader, at, "an architecture such as sm_90");
    reader->sm = sm;
    return true;
  }
  return mc_read_directive(reader, has_address, address);
}

/* A label, alone on its line. */
static gsize label_length(const McReader *reader) {
  gsize length = mc_reader_word(reader, reader->p);
  bool alone = length > 0 && reader->p + length + 1 == reader->stop && reader->p[length] == ':';
  return alone && reader->kind != MC_NO_SECTION ? length : 0;
}

static bool read_code(McReader *reader, bool has_address, uint64_t address) {
  if (reader->skipped_sm)
    return true;
  if (!reader->sm || reader->sm < MC_SM_MIN || reader->sm > MC_SM_MAX)
    return mc_reader_error(reader, reader->p, "expected code of sm_%d to sm_%d, found sm_%u", MC_SM_MIN, MC_SM_MAX,
                           reader->sm);
  return mc_read_inst(reader, has_address, address);
}

static bool read_line(McReader *reader) {
  uint64_t address = 0;
  if (reader->p == reader->stop)
    return true;
  bool has_address = mc_reader_address(reader, &address);
  if (!has_address && mc_reader_starts(reader, "/*"))
    return reader->skipped_sm || mc_read_encoding(reader);
  if (reader->half) {
    reader->half = false;
    return mc_reader_unexpected(reader, reader->p, "the second word of the encoding");
  }
  if (mc_reader_starts(reader, "//##"))
    return mc_read_place(reader);
  reader->places_open = false;
  if (mc_reader_starts(reader, "//"))
    return true;
  gsize label = has_address ? 0 : label_length(reader);
  if (label > 0)
    return mc_read_label(reader, label);
  if (mc_reader_starts(reader, "."))
    return read_dotted(reader, has_address, address);
  if (!has_address && read_header(reader))
    return true;
  if (reader->kind != MC_NO_SECTION && reader->kind != MC_TEXT)
    return reader->kind == MC_IGNORED ||
           mc_reader_unexpected(reader, reader->p, "data, a label or a directive of nvdisasm");
  return read_code(reader, has_address, address);
}

static bool next_line(McReader *reader) {
  if (reader->next >= reader->end)
    return false;
  const char *end = memchr(reader->next, '\n', reader->end - reader->next);
  reader->line = reader->p = reader->next;
  reader->stop = end ? end : reader->end;
  reader->next = end ? end + 1 : reader->end;
  reader->number++;
  mc_reader_space(reader);
  while (reader->stop > reader->p && g_ascii_isspace(reader->stop[-1]))
    reader->stop--;
  return true;
}

/* ---- the whole ---- */

static guint hash_frame(gconstpointer key) {
  const McFrame *frame = key;
  return frame->file * 31 + frame->line * 7919 + frame->parent * 104729;
}

static gboolean same_frame(gconstpointer a, gconstpointer b) {
  const McFrame *left = a, *right = b;
  return left->file == right->file && left->line == right->line && left->parent == right->parent;
}

void mc_reader_init(McReader *reader, McModule *module, const char *file, const char *text, gsize length,
                    Diag *diag) {
  *reader = (McReader){.module = module,
                       .file = file,
                       .diag = diag,
                       .next = text,
                       .end = text + length,
                       .mnemonics = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free),
                       .strings = g_string_chunk_new(4096),
                       .blobs = g_array_new(FALSE, TRUE, sizeof(McBlob)),
                       .labels = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free),
                       .names = g_ptr_array_new(),
                       .pending = g_array_new(FALSE, FALSE, sizeof(McPending)),
                       .symbols = g_hash_table_new(NULL, NULL),
                       .files = g_hash_table_new(g_str_hash, g_str_equal),
                       .frames = g_hash_table_new_full(hash_frame, same_frame, g_free, NULL),
                       .places = g_array_new(FALSE, FALSE, sizeof(McFrame)),
                       .usages = g_array_new(FALSE, FALSE, sizeof(McUsage))};
  g_array_set_clear_func(reader->blobs, mc_blob_clear);
}

void mc_reader_clear(McReader *reader) {
  g_hash_table_unref(reader->mnemonics);
  g_string_chunk_free(reader->strings);
  g_array_unref(reader->blobs);
  g_hash_table_unref(reader->labels);
  g_ptr_array_unref(reader->names);
  g_array_unref(reader->pending);
  g_hash_table_unref(reader->symbols);
  g_hash_table_unref(reader->files);
  g_hash_table_unref(reader->frames);
  g_array_unref(reader->places);
  g_array_unref(reader->usages);
}

bool mc_reader_inst_text(McReader *reader, const char *text) {
  GArray *insts = reader->module->insts;
  guint count = insts->len, operands = reader->module->operands->len;
  reader->line = reader->p = text;
  reader->stop = text + strlen(text);
  reader->next = reader->end = reader->stop;
  if (mc_read_inst(reader, false, 0))
    return true;
  reader->kernel->insts -= insts->len - count;
  g_array_set_size(insts, count);
  g_array_set_size(reader->module->operands, operands);
  reader->expected = (uint64_t)reader->kernel->insts * MC_INST_BYTES;
  return false;
}

static void check_kernels(McReader *reader) {
  GArray *kernels = reader->module->kernels;
  for (guint i = 0; i < kernels->len; i++) {
    const McKernel *kernel = &g_array_index(kernels, McKernel, i);
    if (kernel->insts == 0) {
      g_autofree char *name = quote_text(kernel->name);
      diag_error(reader->diag, reader->file, kernel->line, 1, "the kernel %s has no instructions", name);
    }
  }
  if (kernels->len == 0)
    diag_error(reader->diag, reader->file, 0, 0, "this listing has no kernel of sm_%d to sm_%d", MC_SM_MIN,
               MC_SM_MAX);
}

McModule *mc_listing_parse(const char *file, const char *text, gsize length, Diag *diag) {
  if (length > MC_LISTING_BYTES_MAX) {
    diag_error(diag, file, 0, 0, "the listing is above %d MiB", MC_LISTING_BYTES_MAX >> 20);
    return NULL;
  }
  unsigned errors = diag_error_count(diag);
  McReader reader;
  mc_reader_init(&reader, mc_module_new(file), file, text, length, diag);
  while (next_line(&reader))
    read_line(&reader);
  if (reader.half)
    mc_reader_unexpected(&reader, reader.stop, "the second word of the encoding");
  mc_resolve(&reader);
  mc_read_infos(&reader);
  check_kernels(&reader);
  McModule *module = reader.module;
  mc_reader_clear(&reader);
  if (diag_error_count(diag) > errors)
    g_clear_pointer(&module, mc_module_free);
  else
    mc_link(module);
  return module;
}

static unsigned number_behind(const char *line, const char *end, const char *word) {
  const char *at = g_strstr_len(line, end - line, word);
  unsigned number = 0;
  for (at = at ? at + strlen(word) : end; at < end && g_ascii_isdigit(*at) && number < 10000; at++)
    number = number * 10 + (unsigned)(*at - '0');
  return number;
}

/* Headers come before the first instruction. */
bool mc_is_listing(const char *text, gsize length) {
  bool target = false;
  const char *end = text + MIN(length, (gsize)1 << 16);
  for (const char *line = text; line < end;) {
    const char *newline = memchr(line, '\n', end - line), *stop = newline ? newline : end;
    if (number_behind(line, stop, "code for sm_") >= MC_SM_MIN ||
        number_behind(line, stop, "EF_CUDA_SM") >= MC_SM_MIN)
      return true;
    target = target || number_behind(line, stop, ".target\tsm_") >= MC_SM_MIN ||
             number_behind(line, stop, ".target sm_") >= MC_SM_MIN;
    if (g_strstr_len(line, stop - line, ".version"))
      return false; /* PTX */
    if (target && (g_strstr_len(line, stop - line, ".elftype") || g_strstr_len(line, stop - line, ".section")))
      return true;
    line = stop + 1;
  }
  return false;
}
