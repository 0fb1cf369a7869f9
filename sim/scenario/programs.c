#include "sim/scenario/programs.h"

#include <string.h>

#include "base/datadir.h"
#include "base/quote.h"
#include "isa/lower/ptx_lower.h"
#include "isa/mc/mc_cubin.h"
#include "isa/mc/mc_fatbin.h"
#include "isa/mc/mc_listing.h"
#include "isa/mc/mc_lower.h"
#include "isa/ptx/ptx_parse.h"
#include "isa/sass/sass.h"
#include "sim/scenario/demangle.h"

enum { KERNELS_SHOWN_MAX = 400, SOURCE_BYTES_MAX = 16 << 20, CAPABILITY_ALL = 999, REGISTERS_ALL = 255 };

/* One PTX text; a .cu has one for each architecture that was asked for. */
typedef struct PtxText {
  unsigned arch; /* 0: it was there as PTX */
  char *text;
  gsize length;
  PtxModule *module;
} PtxText;

typedef struct Version {
  PtxTarget target;
  unsigned arch;
  bool machine_code;
  bool *wanted; /* of its kernels; NULL: all */
  Program *program;
} Version;

/* A listing of machine code; one beside PTX is of one architecture. */
typedef struct Listing {
  unsigned arch; /* 0: of all that it has */
  McModule *module;
} Listing;

struct Programs {
  char *file, *path;
  char **flags;        /* for nvcc; NULL: none */
  NvccCache *compiled; /* NULL: none */
  bool is_cuda, is_listing;
  char *binary;  /* what `fat` points into; NULL: it is no fat binary */
  GArray *fat;   /* McFatEntry: what is in it */
  unsigned unit; /* of it, that is meant */
  CodeKind code;
  bool clusters; /* programs_set_clusters() */
  Program *common;
  char **readable;     /* names of its kernels, demangled; NULL: nobody has asked */
  char **brief;        /* without what tells no two of them apart; NULL: nobody has asked */
  GMutex lock;         /* of what follows */
  GPtrArray *texts;    /* PtxText *; empty for SASS */
  GPtrArray *versions; /* Version * */
  GPtrArray *listings; /* Listing * */
};

static void free_text(gpointer data) {
  PtxText *text = data;
  ptx_module_free(text->module);
  g_free(text->text);
  g_free(text);
}

static void free_version(gpointer data) {
  program_free(((Version *)data)->program);
  g_free(((Version *)data)->wanted);
  g_free(data);
}

static void free_listing(gpointer data) {
  mc_module_free(((Listing *)data)->module);
  g_free(data);
}

bool programs_has_ending(const char *path, const char *ending) {
  gsize length = strlen(path), tail = strlen(ending);
  return length > tail && g_ascii_strcasecmp(path + length - tail, ending) == 0;
}

/* ---- sources ---- */

/* The folder of a path with its slash, "" for the current one. */
static char *folder_prefix(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? g_strndup(path, (gsize)(slash + 1 - path)) : g_strdup("");
}

/* A file that the PTX was made from is usually still beside it: then it is shown as the PTX is named, whatever the
 * path was where nvcc ran. */
static void name_source(Program *program, uint16_t index, const char *file, const char *path) {
  g_autofree char *base = g_path_get_basename(program_file_name(program, index));
  g_autofree char *shown_folder = folder_prefix(file), *real_folder = folder_prefix(path);
  g_autofree char *beside = g_strconcat(real_folder, base, NULL);
  g_autofree char *shown = g_strconcat(shown_folder, base, NULL);
  g_autoptr(Diag) ignored = diag_new();
  gsize length = 0;
  if (!g_file_test(beside, G_FILE_TEST_IS_REGULAR))
    return;
  g_autofree char *text = datadir_read_file(beside, SOURCE_BYTES_MAX, &length, NULL, 0, 0, ignored);
  if (text)
    program_fill_source(program, index, shown, text, length);
}

static Program *lower(const Programs *programs, const PtxText *text, const PtxTarget *target, Diag *diag) {
  Program *program = ptx_lower(text->module, target, diag);
  if (!program)
    return NULL;
  program_set_source(program, text->text, text->length);
  for (guint i = 1; i < program->sources->len; i++)
    name_source(program, (uint16_t)i, programs->file, programs->path);
  return program;
}

/* ---- texts ---- */

/* Takes `text`. NULL after errors. */
static const PtxText *add_text(Programs *programs, unsigned arch, char *text, gsize length, Diag *diag) {
  /* What nvcc made of a .cu has lines of its own, and so has the PTX in an executable. */
  g_autofree char *name =
      programs->is_cuda || programs->fat ? g_strdup_printf("%s (PTX)", programs->file) : g_strdup(programs->file);
  PtxModule *module = ptx_parse(name, text, length, diag);
  if (!module) {
    g_free(text);
    return NULL;
  }
  PtxText *entry = g_new(PtxText, 1);
  *entry = (PtxText){arch, text, length, module};
  g_ptr_array_add(programs->texts, entry);
  return entry;
}

static NvccSource cuda_source(const Programs *programs) {
  return (NvccSource){programs->path, programs->file, (const char *const *)programs->flags, programs->compiled};
}

/* The PTX for a machine of that capability, compiled if need be. */
static const PtxText *find_text(Programs *programs, unsigned capability, Diag *diag) {
  unsigned arch = programs->is_cuda ? nvcc_arch(capability) : 0;
  for (guint i = 0; i < programs->texts->len; i++) {
    const PtxText *text = g_ptr_array_index(programs->texts, i);
    if (text->arch == arch)
      return text;
  }
  gsize length;
  NvccSource source = cuda_source(programs);
  char *compiled = nvcc_compile(&source, arch, &length, diag);
  return compiled ? add_text(programs, arch, compiled, length, diag) : NULL;
}

static bool make_common(Programs *programs, unsigned capability, Diag *diag) {
  static const PtxTarget all = {.capability = CAPABILITY_ALL,
                                .convergence_barriers = true,
                                .max_registers = REGISTERS_ALL,
                                .clusters = true,
                                .without_code = true};
  const PtxText *text = find_text(programs, capability, diag);
  programs->common = text ? lower(programs, text, &all, diag) : NULL;
  return programs->common != NULL;
}

/* ---- machine code ---- */

static const McModule *add_listing(Programs *programs, unsigned arch, const char *file, const char *bytes,
                                   gsize length, Diag *diag) {
  bool binary = mc_is_cubin((const uint8_t *)bytes, length);
  if (!binary && memchr(bytes, '\0', length)) {
    diag_error(diag, file, 0, 0,
               "neither a cubin nor a listing of machine code (`cuobjdump -sass`, `nvdisasm -hex`)");
    return NULL;
  }
  McModule *module = binary ? mc_cubin_read(file, (const uint8_t *)bytes, length, diag)
                            : mc_listing_parse(file, bytes, length, diag);
  if (!module)
    return NULL;
  Listing *listing = g_new(Listing, 1);
  *listing = (Listing){arch, module};
  g_ptr_array_add(programs->listings, listing);
  return module;
}

/* The cubin of a fat binary for a machine of that capability (0: the oldest). */
static const McModule *unpack(Programs *programs, unsigned capability, Diag *diag) {
  const McFatEntry *entry = mc_fatbin_choose(programs->file, programs->fat, programs->unit, capability, diag);
  for (guint i = 0; entry && i < programs->listings->len; i++) {
    const Listing *listing = g_ptr_array_index(programs->listings, i);
    if (listing->arch == entry->sm)
      return listing->module;
  }
  return entry ? add_listing(programs, entry->sm, programs->file, (const char *)entry->at, entry->length, diag)
               : NULL;
}

/* A name without its last ending. */
static char *stem_of(const char *name) { return g_strndup(name, (gsize)(strrchr(name, '.') - name)); }

/* Machine code beside the program. NULL without an error if there is none. */
static const McModule *find_beside(Programs *programs, unsigned arch, Diag *diag) {
  static const char *const endings[] = {"sass", "cubin"};
  g_autofree char *stem = stem_of(programs->file), *real_stem = stem_of(programs->path);
  for (guint i = 0; i < G_N_ELEMENTS(endings); i++) {
    g_autofree char *shown = g_strdup_printf("%s.sm_%u.%s", stem, arch, endings[i]);
    g_autofree char *path = g_strdup_printf("%s.sm_%u.%s", real_stem, arch, endings[i]);
    gsize length = 0;
    if (!g_file_test(path, G_FILE_TEST_IS_REGULAR))
      continue;
    g_autofree char *bytes = datadir_read_file(path, SOURCE_BYTES_MAX, &length, NULL, 0, 0, diag);
    return bytes ? add_listing(programs, arch, shown, bytes, length, diag) : NULL;
  }
  return NULL;
}

/* What nvcc makes of CUDA source. */
static const McModule *assemble(Programs *programs, unsigned arch, Diag *diag) {
  gsize length;
  NvccSource source = cuda_source(programs);
  g_autofree char *bytes = nvcc_assemble(&source, arch, &length, diag);
  g_autofree char *name = g_strdup_printf("%s (sm_%u)", programs->file, arch);
  return bytes ? add_listing(programs, arch, name, bytes, length, diag) : NULL;
}

/* The machine code for a machine of that capability: the program itself, what stands beside it, what nvcc makes. */
static const McModule *find_listing(Programs *programs, unsigned capability, Diag *diag) {
  if (programs->fat)
    return unpack(programs, capability, diag);
  unsigned arch = programs->is_listing ? 0 : nvcc_arch(capability), errors = diag_error_count(diag);
  for (guint i = 0; i < programs->listings->len; i++) {
    const Listing *listing = g_ptr_array_index(programs->listings, i);
    if (listing->arch == arch)
      return listing->module;
  }
  const McModule *module = find_beside(programs, arch, diag);
  if (module || diag_error_count(diag) > errors)
    return module;
  if (programs->is_cuda)
    return assemble(programs, arch, diag);
  g_autofree char *stem = stem_of(programs->file);
  diag_error(diag, programs->file, 0, 0,
             "there is no machine code beside it: neither %s.sm_%u.sass nor %s.sm_%u.cubin", stem, arch, stem, arch);
  diag_hint(diag, "on a machine with CUDA, `nvcc -cubin -lineinfo -arch=sm_%u` makes a cubin of the source", arch);
  return NULL;
}

static const char *made_by(const Programs *programs, const McModule *module) {
  return programs->is_cuda && g_str_has_prefix(module->file, programs->file) ? ", compiled by nvcc" : "";
}

/* Of which architectures a listing has code: `sm_75, sm_86`. */
static char *architectures(const McModule *module) {
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (guint i = 0; i < module->kernels->len; i++) {
    g_autofree char *name = g_strdup_printf("sm_%u", mc_kernel(module, i)->sm);
    if (!g_ptr_array_find(names, g_intern_string(name), NULL))
      g_ptr_array_add(names, (gpointer)g_intern_string(name));
  }
  g_ptr_array_add(names, NULL);
  return g_strjoinv(", ", (char **)names->pdata);
}

/* The program for one architecture of a listing; `like` says how the kernels are numbered, NULL: as the listing has
 * them. */
static Program *lower_listing(const Programs *programs, const McModule *module, const PtxTarget *target,
                              const Program *like, Diag *diag) {
  unsigned arch = mc_choose_arch(module, target->capability);
  if (!arch) {
    g_autofree char *there = architectures(module);
    diag_error(diag, programs->file, 0, 0, "no machine code that runs on a GPU of compute capability %u.%u, only %s",
               target->capability / 10, target->capability % 10, there);
    return NULL;
  }
  Program *program = mc_lower(module, arch, like, target->wanted, target->clusters, diag);
  if (program && programs->is_listing && !programs->fat) {
    g_autofree char *text = g_strjoinv("\n", programs->common->lines);
    program_set_source(program, text, strlen(text));
  }
  if (program && like)
    program->made_of = g_strdup_printf("machine code of sm_%u%s", arch, made_by(programs, module));
  for (guint i = 1; program && i < program->sources->len; i++)
    name_source(program, (uint16_t)i, programs->file, programs->path);
  return program;
}

/* What holds on every machine: of the oldest architecture, whose kernels the others have, too. */
static bool make_listing_common(Programs *programs, const char *text, gsize length, unsigned capability, Diag *diag) {
  const McModule *module = programs->fat ? unpack(programs, capability, diag)
                                         : add_listing(programs, 0, programs->file, text, length, diag);
  unsigned oldest = 0;
  for (guint i = 0; module && i < module->kernels->len; i++)
    oldest = oldest ? MIN(oldest, mc_kernel(module, i)->sm) : mc_kernel(module, i)->sm;
  unsigned arch = module && capability ? mc_choose_arch(module, capability) : 0;
  programs->common = module ? mc_lower(module, arch ? arch : oldest, NULL, NULL, false, diag) : NULL;
  if (programs->common && !programs->fat && !mc_is_cubin((const uint8_t *)text, length))
    program_set_source(programs->common, text, length);
  return programs->common != NULL;
}

static bool add_unpacked(Programs *programs, const McFatEntry *ptx, Diag *diag) {
  gsize length = strnlen((const char *)ptx->at, ptx->length);
  return add_text(programs, 0, g_strndup((const char *)ptx->at, length), length, diag) != NULL;
}

/* Keeps a fat binary, and the PTX in it: then that is the program, and the cubins are machine code of it. PTX that
 * can't be read isn't needed where there is machine code. False after errors. */
static bool keep_binary(Programs *programs, const char *text, gsize length, unsigned capability, Diag *diag) {
  g_autoptr(Diag) ignored = diag_new();
  programs->binary = g_memdup2(text, length);
  programs->fat = mc_fatbin_read(programs->file, (const uint8_t *)programs->binary, length, diag);
  if (!programs->fat)
    return false;
  const McFatEntry *ptx = mc_fatbin_ptx(programs->fat, programs->unit, capability);
  bool needed = !mc_fatbin_has_code(programs->fat, programs->unit, capability);
  programs->is_listing = !ptx || !add_unpacked(programs, ptx, needed ? diag : ignored);
  return !programs->is_listing || !ptx || !needed;
}

bool programs_is_binary(const char *text, gsize length) {
  return mc_is_cubin((const uint8_t *)text, length) || mc_is_fatbin((const uint8_t *)text, length);
}

static bool no_ptx(const Programs *programs, Diag *diag) {
  diag_error(diag, programs->file, 0, 0, "it has no PTX that can be read, which --code ptx asks for");
  return programs->fat && mc_fatbin_say_packed(programs->fat, programs->unit, diag);
}

static bool read_program(Programs *programs, const char *text, gsize length, unsigned capability, Diag *diag) {
  const char *file = programs->file;
  bool text_ends = programs_has_ending(file, ".sass") || programs_has_ending(file, ".ptx") || programs->is_cuda;
  bool fat = !text_ends && mc_is_fatbin((const uint8_t *)text, length);
  programs->is_listing = (programs_has_ending(file, ".sass") && mc_is_listing(text, length)) ||
                         programs_has_ending(file, ".cubin") || (!text_ends && programs_is_binary(text, length));
  if (fat && !keep_binary(programs, text, length, capability, diag))
    return false;
  if (programs->is_listing && programs->code == CODE_PTX)
    return no_ptx(programs, diag);
  if (programs->is_listing)
    return make_listing_common(programs, text, length, capability, diag);
  if (programs_has_ending(file, ".sass")) {
    programs->common = sass_parse(file, text, length, diag);
    return programs->common != NULL;
  }
  return (programs->is_cuda || fat || add_text(programs, 0, g_strndup(text, length), length, diag)) &&
         make_common(programs, capability, diag);
}

Programs *programs_new(const char *file, const char *path, const char *text, gsize length,
                       const ProgramsOptions *options, Diag *diag) {
  const char *const *flags = options->flags;
  bool is_cuda = programs_has_ending(file, ".cu");
  if (!is_cuda && flags && *flags) {
    diag_usage(diag, "`-- %s`: flags of the compiler are for a .cu, and %s isn't one", *flags, file);
    return NULL;
  }
  Programs *programs = g_new0(Programs, 1);
  programs->file = g_strdup(file);
  programs->path = g_strdup(path);
  programs->is_cuda = is_cuda;
  programs->code = options->code;
  programs->unit = options->unit;
  programs->compiled = options->compiled ? nvcc_cache_ref(options->compiled) : NULL;
  programs->flags = g_strdupv((char **)flags);
  programs->texts = g_ptr_array_new_with_free_func(free_text);
  programs->versions = g_ptr_array_new_with_free_func(free_version);
  programs->listings = g_ptr_array_new_with_free_func(free_listing);
  g_mutex_init(&programs->lock);
  if (!read_program(programs, text, length, options->capability, diag))
    g_clear_pointer(&programs, programs_free);
  return programs;
}

void programs_free(Programs *programs) {
  if (!programs)
    return;
  program_free(programs->common);
  g_ptr_array_free(programs->versions, TRUE);
  g_ptr_array_free(programs->texts, TRUE);
  g_ptr_array_free(programs->listings, TRUE);
  g_mutex_clear(&programs->lock);
  if (programs->fat)
    g_array_unref(programs->fat);
  if (programs->compiled)
    nvcc_cache_unref(programs->compiled);
  g_free(programs->binary);
  g_free(programs->file);
  g_free(programs->path);
  g_strfreev(programs->flags);
  g_strfreev(programs->readable);
  g_strfreev(programs->brief);
  g_free(programs);
}

Program *programs_common(const Programs *programs) { return programs->common; }

bool programs_is_listing(const Programs *programs) { return programs->is_listing; }

bool programs_is_ptx(const Programs *programs) { return programs->common->dialect == DIALECT_PTX; }

const PtxModule *programs_module(const Programs *programs) {
  return programs->texts->len ? ((const PtxText *)g_ptr_array_index(programs->texts, 0))->module : NULL;
}

uint32_t programs_address_bytes(const Programs *programs) {
  const PtxModule *module = programs_module(programs);
  return module ? module->address_size / 8 : programs->is_listing ? 8 : 4;
}

/* ---- kernels ---- */

/* True if C++ made `mangled` of a function called `name`, whatever its parameters: _Z4spinPi of spin. */
static bool is_mangled(const char *mangled, const char *name) {
  g_autofree char *start = g_strdup_printf("_Z%zu%s", strlen(name), name);
  return g_str_has_prefix(mangled, start);
}

static char **mangled_names(const Program *program) {
  char **names = g_new0(char *, program->kernels->len + 1);
  for (guint i = 0; i < program->kernels->len; i++)
    names[i] = g_strdup(program_kernel(program, i)->name);
  return names;
}

/* As people write them; as they are if there is nothing to do, or nobody who does it. */
static char **readable_names(Programs *programs) {
  if (programs->readable)
    return programs->readable;
  char **names = mangled_names(programs->common);
  bool mangled = false;
  for (char **name = names; programs->common->dialect != DIALECT_FERMI_SASS && *name; name++)
    mangled |= g_str_has_prefix(*name, "_Z");
  char **readable = mangled ? demangle_names(names) : NULL;
  programs->readable = readable ? readable : g_steal_pointer(&names);
  if (readable)
    g_strfreev(names);
  return programs->readable;
}

/* Without c++filt only functions that are neither templates nor in a namespace are found by the names that people
 * write. */
static bool is_called(Programs *programs, guint kernel, const char *name) {
  const char *own = program_kernel(programs->common, kernel)->name;
  return is_mangled(own, name) || demangle_matches(readable_names(programs)[kernel], name);
}

int programs_find_kernel(Programs *programs, const char *name, bool *several) {
  const GPtrArray *kernels = programs->common->kernels;
  int found = -1;
  *several = false;
  for (guint i = 0; i < kernels->len; i++)
    if (strcmp(program_kernel(programs->common, i)->name, name) == 0)
      return (int)i;
  for (guint i = 0; programs->common->dialect != DIALECT_FERMI_SASS && i < kernels->len; i++)
    if (is_called(programs, i, name)) {
      *several = found >= 0;
      if (*several)
        return -1;
      found = (int)i;
    }
  return found;
}

static const char *const *brief_names(Programs *programs) {
  if (!programs->brief)
    programs->brief = demangle_brief(readable_names(programs));
  return (const char *const *)programs->brief;
}

char **programs_kernel_names(Programs *programs) {
  g_mutex_lock(&programs->lock); /* several runs may ask at once */
  char **names = g_strdupv((char **)brief_names(programs));
  g_mutex_unlock(&programs->lock);
  return names;
}

char *programs_kernel_name(Programs *programs, guint kernel) {
  g_mutex_lock(&programs->lock);
  char *name = g_strdup(brief_names(programs)[kernel]);
  g_mutex_unlock(&programs->lock);
  return name;
}

bool programs_no_kernel(Programs *programs, const char *name, bool several, Diag *diag, const char *file,
                        unsigned line, unsigned column) {
  g_auto(GStrv) names = programs_kernel_names(programs);
  for (guint i = 0, kept = 0; several && names[i]; i++) { /* those that it may mean */
    char *own = g_steal_pointer(&names[i]);
    if (is_called(programs, i, name))
      names[kept++] = own;
    else
      g_free(own);
  }
  g_autofree char *quoted = quote_text(name), *all = g_strjoinv("`, `", names);
  if (several)
    diag_error(diag, file, line, column, "%s has several kernels %s", programs->file, quoted);
  else
    diag_error(diag, file, line, column, "unknown kernel %s in %s", quoted, programs->file);
  if (!several)
    diag_hint_nearest(diag, name, (const char *const *)names);
  if (strlen(all) < KERNELS_SHOWN_MAX)
    diag_hint(diag, "kernels: `%s`", all);
  return false;
}

/* ---- one machine ---- */

static bool same_kernels(const Programs *programs, const bool *a, const bool *b) {
  return a && b ? memcmp(a, b, programs->common->kernels->len * sizeof *a) == 0 : a == b;
}

static const Version *find_version(const Programs *programs, const PtxTarget *target, unsigned arch,
                                   bool machine_code) {
  for (guint i = 0; i < programs->versions->len; i++) {
    const Version *version = g_ptr_array_index(programs->versions, i);
    if (version->target.capability == target->capability &&
        version->target.convergence_barriers == target->convergence_barriers &&
        version->target.max_registers == target->max_registers &&
        version->target.sm_registers == target->sm_registers &&
        version->target.register_granule == target->register_granule &&
        version->target.clusters == target->clusters && version->arch == arch &&
        version->machine_code == machine_code && same_kernels(programs, version->wanted, target->wanted))
      return version;
  }
  return NULL;
}

static const Version *keep_version(Programs *programs, const PtxTarget *target, unsigned arch, bool machine_code,
                                   Program *program) {
  Version *version = g_new(Version, 1);
  bool *wanted = target->wanted ? g_memdup2(target->wanted, programs->common->kernels->len * sizeof *wanted) : NULL;
  *version = (Version){*target, arch, machine_code, wanted, program};
  g_ptr_array_add(programs->versions, version);
  return version;
}

bool programs_may_run_code(const Programs *programs) {
  return programs->code == CODE_MACHINE ||
         (programs->code == CODE_BEST && (programs->fat || (programs->is_cuda && nvcc_is_there())));
}

/* True if CUDA source or PTX is to run as machine code on a machine of that capability. */
static bool runs_code(const Programs *programs, unsigned capability) {
  enum { OLDEST = 75 };
  if (programs->is_listing || programs->code == CODE_MACHINE)
    return true;
  return programs_may_run_code(programs) && capability >= OLDEST &&
         (!programs->fat || mc_fatbin_has_code(programs->fat, programs->unit, capability));
}

static const Version *make_code_version(Programs *programs, const PtxTarget *target, unsigned arch, Diag *diag) {
  const McModule *module = find_listing(programs, target->capability, diag);
  const Program *like = programs->is_listing && !programs->fat ? NULL : programs->common;
  Program *program = module ? lower_listing(programs, module, target, like, diag) : NULL;
  return program ? keep_version(programs, target, arch, true, program) : NULL;
}

/* Why CUDA source, or what is in an executable, runs as PTX. */
static char *why_ptx(const Programs *programs) {
  return g_strdup(programs->code == CODE_PTX ? "PTX, as --code says"
                  : programs->fat            ? "PTX: it has no machine code for that machine"
                                             : "PTX: nvcc makes no machine code for that machine");
}

static const Version *make_version(Programs *programs, const PtxTarget *target, const Machine *machine, Diag *diag) {
  const PtxText *text = find_text(programs, target->capability, diag);
  Program *program = text ? lower(programs, text, target, diag) : NULL;
  if (!program)
    return NULL;
  if (programs->is_cuda || programs->fat)
    program->made_of = why_ptx(programs);
  if (!programs->is_cuda && program->target_sm > target->capability)
    diag_note(diag, programs->file, 0, 0, "the program is for sm_%u, newer than %s, which is sm_%u",
              program->target_sm, machine->name, target->capability);
  if (target->convergence_barriers && program->target_sm < 70)
    diag_note(diag, programs->file, 0, 0,
              "the program is for sm_%u: ptxas puts no YIELD into loops of programs for less than sm_70, so a lane "
              "that waits in a "
              "loop lets no other lane of its warp run",
              program->target_sm);
  return keep_version(programs, target, text->arch, false, program);
}

static const Program *program_in_form(Programs *programs, const Machine *machine, const bool *wanted,
                                      bool machine_code, Diag *diag) {
  PtxTarget target = {.capability = machine->gpu.compute_capability,
                      .convergence_barriers = machine->sm.convergence == CONVERGENCE_BARRIER,
                      .max_registers = machine->sm.max_thread_registers,
                      .sm_registers = machine->sm.registers,
                      .register_granule = machine->sm.register_granule,
                      .clusters = programs->clusters,
                      .wanted = wanted};
  unsigned arch = programs->is_cuda ? nvcc_arch(target.capability) : 0;
  g_mutex_lock(&programs->lock);
  const Version *version = find_version(programs, &target, arch, machine_code);
  if (!version && machine_code)
    version = make_code_version(programs, &target, arch, diag);
  else if (!version)
    version = make_version(programs, &target, machine, diag);
  g_mutex_unlock(&programs->lock);
  return version ? version->program : NULL;
}

void programs_set_clusters(Programs *programs) { programs->clusters = true; }

const Program *programs_for(Programs *programs, const Machine *machine, const bool *wanted, Diag *diag) {
  if (!programs_is_ptx(programs) && !programs->is_listing)
    return programs->common;
  return program_in_form(programs, machine, wanted, runs_code(programs, machine->gpu.compute_capability), diag);
}

const Program *programs_source_for(Programs *programs, const Machine *machine, const bool *wanted, Diag *diag) {
  if (!programs_is_ptx(programs) || !runs_code(programs, machine->gpu.compute_capability))
    return NULL;
  return program_in_form(programs, machine, wanted, false, diag);
}
