#include "isa/mc/mc_fatbin.h"

#include <string.h>

#include "isa/mc/mc_cubin.h"
#include "isa/mc/mc_cubin_elf.h"

#define FATBIN_MAGIC UINT32_C(0xba55ed50)

/* A fat binary: a head, then entries, each with a head of its own. Where the fields are, in bytes. */
enum {
  HEAD_BYTES = 16,
  HEAD_SIZE = 6,   /* 16 bits: of the head */
  HEAD_LENGTH = 8, /* 64: of all entries */
  ENTRY_BYTES = 64,
  ENTRY_KIND = 0,   /* 16 */
  ENTRY_SIZE = 4,   /* 32: of the entry's head */
  ENTRY_LENGTH = 8, /* 64: of what follows it */
  ENTRY_ARCH = 28,  /* 32: 90 for sm_90 */
  ENTRY_FLAGS = 40, /* 64 */
  KIND_CUBIN = 2,
  FLAGS_COMPRESSED = 0x2000 | 0x8000, /* LZ4, Zstandard */
};

typedef struct Reader {
  const char *file;
  Diag *diag;
  const uint8_t *start; /* of what is read, for messages */
  GArray *entries;
} Reader;

static uint64_t number_at(const uint8_t *at, unsigned bytes) {
  uint64_t value = 0;
  for (unsigned i = 0; i < bytes; i++)
    value |= (uint64_t)at[i] << 8 * i;
  return value;
}

static bool begins_fatbin(const uint8_t *bytes, gsize length) {
  return length >= HEAD_BYTES && number_at(bytes, 4) == FATBIN_MAGIC;
}

bool mc_is_fatbin(const uint8_t *bytes, gsize length) {
  return begins_fatbin(bytes, length) ||
         (length >= SELFMAG && memcmp(bytes, ELFMAG, SELFMAG) == 0 && !mc_is_cubin(bytes, length));
}

static bool cut_off(Reader *reader, const uint8_t *at) {
  return diag_error(reader->diag, reader->file, 0, 0,
                    "the fat binary is cut off, or has an unknown form, at byte %" G_GSIZE_FORMAT " of it",
                    (gsize)(at - reader->start));
}

static bool has_code(const uint8_t *bytes, gsize length) {
  McElf elf;
  const char *problem;
  bool found = false;
  if (mc_elf_open(&elf, bytes, length, MC_ELF_CUDA, &problem))
    for (guint i = 1; i < elf.count && !found; i++)
      found = g_str_has_prefix(mc_elf_name(&elf, i), ".text.");
  mc_elf_clear(&elf);
  return found;
}

/* The entry at `at`; *length is that of what is left, and becomes that of the entry. */
static bool read_entry(Reader *reader, const uint8_t *at, gsize *length) {
  uint64_t head = *length >= ENTRY_BYTES ? number_at(at + ENTRY_SIZE, 4) : 0;
  if (head < ENTRY_BYTES || head > *length || number_at(at + ENTRY_LENGTH, 8) > *length - head)
    return cut_off(reader, at);
  McFatEntry entry = {.sm = (unsigned)number_at(at + ENTRY_ARCH, 4),
                      .compressed = (number_at(at + ENTRY_FLAGS, 8) & FLAGS_COMPRESSED) != 0,
                      .at = at + head,
                      .length = number_at(at + ENTRY_LENGTH, 8)};
  if (number_at(at + ENTRY_KIND, 2) == KIND_CUBIN && (entry.compressed || has_code(entry.at, entry.length)))
    g_array_append_val(reader->entries, entry);
  *length = head + entry.length;
  return true;
}

/* Fat binaries one behind another, with zeros between them. */
static bool read_all(Reader *reader, const uint8_t *at, const uint8_t *end) {
  reader->start = at;
  while (at < end) {
    if (*at == 0) {
      at++;
      continue;
    }
    gsize left = (gsize)(end - at);
    uint64_t head = begins_fatbin(at, left) ? number_at(at + HEAD_SIZE, 2) : 0;
    if (head < HEAD_BYTES || head > left || number_at(at + HEAD_LENGTH, 8) > left - head)
      return cut_off(reader, at);
    const uint8_t *stop = at + head + number_at(at + HEAD_LENGTH, 8);
    gsize length;
    for (at += head; at < stop; at += length) {
      length = (gsize)(stop - at);
      if (!read_entry(reader, at, &length))
        return false;
    }
  }
  return true;
}

/* Executables have theirs in a section of the host's; what `-rdc=true` makes is linked there, and an object has it
 * unlinked in another. */
static bool read_host(Reader *reader, const uint8_t *bytes, gsize length) {
  static const char *const names[] = {".nv_fatbin", "__nv_relfatbin"};
  McElf elf;
  const char *problem;
  bool good = mc_elf_open(&elf, bytes, length, MC_ELF_ANY, &problem), found = false;
  if (!good)
    diag_error(reader->diag, reader->file, 0, 0, "this is no file with CUDA code that can be read: %s", problem);
  for (guint n = 0; good && n < G_N_ELEMENTS(names) && !reader->entries->len; n++) {
    guint at = mc_elf_find(&elf, names[n]);
    McBytes section = mc_elf_bytes(&elf, at);
    found |= at != 0;
    good = section.at == NULL || read_all(reader, section.at, section.at + section.length);
  }
  mc_elf_clear(&elf);
  return good && (found || diag_error(reader->diag, reader->file, 0, 0,
                                      "there is no CUDA code in it: it has no section `.nv_fatbin`"));
}

GArray *mc_fatbin_read(const char *file, const uint8_t *bytes, gsize length, Diag *diag) {
  Reader reader = {.file = file, .diag = diag, .entries = g_array_new(FALSE, FALSE, sizeof(McFatEntry))};
  bool good =
      begins_fatbin(bytes, length) ? read_all(&reader, bytes, bytes + length) : read_host(&reader, bytes, length);
  if (!good)
    g_clear_pointer(&reader.entries, g_array_unref);
  return reader.entries;
}

/* ---- choosing ---- */

static const McFatEntry *entry_at(const GArray *entries, guint index) {
  return &g_array_index(entries, McFatEntry, index);
}

static bool runs_on(unsigned sm, unsigned capability) { return sm / 10 == capability / 10 && sm <= capability; }

static char *architectures(const GArray *entries) {
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < entries->len; i++) {
    bool known = false;
    for (guint j = 0; j < i; j++)
      known |= entry_at(entries, j)->sm == entry_at(entries, i)->sm;
    if (!known)
      g_ptr_array_add(names, g_strdup_printf("sm_%u", entry_at(entries, i)->sm));
  }
  g_ptr_array_add(names, NULL);
  return g_strjoinv(", ", (char **)names->pdata);
}

static const McFatEntry *none(const char *file, const GArray *entries, unsigned capability, Diag *diag) {
  g_autofree char *there = architectures(entries);
  diag_error(diag, file, 0, 0, "no machine code that runs on a GPU of compute capability %u.%u, only %s",
             capability / 10, capability % 10, *there ? there : "PTX, or nothing");
  diag_hint(diag, "compile it with -gencode arch=compute_%u,code=sm_%u", capability, capability);
  return NULL;
}

const McFatEntry *mc_fatbin_choose(const char *file, const GArray *entries, unsigned capability, Diag *diag) {
  const McFatEntry *best = NULL;
  guint alike = 0;
  for (guint i = 0; i < entries->len; i++) {
    const McFatEntry *entry = entry_at(entries, i);
    if (capability && !runs_on(entry->sm, capability))
      continue;
    bool better = !best || (capability ? entry->sm > best->sm : entry->sm < best->sm);
    alike = better ? 1 : alike + (entry->sm == best->sm);
    best = better ? entry : best;
  }
  if (!best)
    return none(file, entries, capability, diag);
  bool packed = false;
  for (guint i = 0; i < entries->len; i++)
    packed |= entry_at(entries, i)->sm == best->sm && entry_at(entries, i)->compressed;
  if (alike == 1 && !packed)
    return best;
  if (!packed)
    diag_error(diag, file, 0, 0,
               "it has %u cubins of sm_%u with code, from several source files, and no one of them is all", alike,
               best->sm);
  else
    diag_error(diag, file, 0, 0, "its cubin of sm_%u is compressed, and lockstep doesn't unpack it", best->sm);
  diag_hint(diag, "`cuobjdump -xelf all %s` writes each cubin to a file of its own, which lockstep runs", file);
  return NULL;
}
