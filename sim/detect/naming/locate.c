#include "sim/detect/naming/locate.h"
#include "sim/core/look.h"
#include "sim/core/remote.h"

#include <string.h>

#include "sim/memory/heap.h"

enum { FRAMES_SHOWN_MAX = 4 };

/* Where an instruction comes from. */
typedef struct Place {
  uint16_t file;
  uint32_t line;
  uint32_t frame; /* number of its SourceFrame; 0: nothing was inlined there, and it stands nowhere else */
} Place;

/* The text of a frame's line, or NULL if it is the compiler's, or nobody has it. */
static char *own_line(const Program *program, const SourceFrame *frame) {
  const char *file = program_file_name(program, frame->file);
  if (strstr(file, "/include/") && strstr(file, "cuda"))
    return NULL;
  g_autofree char *line = program_file_line(program, frame->file, frame->line);
  return *line ? g_steal_pointer(&line) : NULL;
}

/* The innermost frame that is the user's: there the thing happens. Without frames the instruction's own. */
static Place place_of(const Launch *launch, uint32_t pc) {
  if (pc >= launch->kernel->ninsts)
    return (Place){0};
  const Inst *inst = &launch->kernel->insts[pc];
  for (uint32_t at = inst->inlined; at;) {
    const SourceFrame *frame = &g_array_index(launch->program->frames, SourceFrame, at - 1);
    g_autofree char *line = own_line(launch->program, frame);
    if (line)
      return (Place){(uint16_t)frame->file, frame->line, at};
    at = frame->parent;
  }
  return (Place){inst->file, inst->line, 0};
}

unsigned locate_line(const Launch *launch, uint32_t pc) { return place_of(launch, pc).line; }

static uint16_t file_of(const Launch *launch, uint32_t pc) { return place_of(launch, pc).file; }

static const char *file_name(const Launch *launch, uint32_t pc) {
  return program_file_name(launch->program, file_of(launch, pc));
}

static char *file_line(const Launch *launch, uint32_t pc) {
  return program_file_line(launch->program, file_of(launch, pc), locate_line(launch, pc));
}

char *locate_line_text(const Launch *launch, uint32_t pc) {
  unsigned line = locate_line(launch, pc);
  if (file_of(launch, pc) == file_of(launch, 0))
    return g_strdup_printf("line %u", line);
  return g_strdup_printf("%s:%u", file_name(launch, pc), line);
}

uint64_t locate_key(const Launch *launch, uint32_t pc) {
  return (uint64_t)file_of(launch, pc) << 32 | locate_line(launch, pc);
}

static bool does_the_same(const Inst *one, const Inst *other) {
  return one->op == other->op && one->space == other->space && one->sem == other->sem && one->cache == other->cache;
}

/* Where the instruction stands in what was inlined: file and line of the innermost frame; 0: nothing was. */
static uint64_t inner_key(const Launch *launch, uint32_t pc) {
  uint32_t inlined = launch->kernel->insts[pc].inlined;
  if (!inlined)
    return 0;
  const SourceFrame *frame = &g_array_index(launch->program->frames, SourceFrame, inlined - 1);
  return (uint64_t)frame->file << 32 | frame->line;
}

/* nvcc gives copies that it makes of a loop's body no line. It is one of the instruction's if no other line has the
 * same of what was inlined. */
static bool is_copy(const Launch *launch, uint32_t pc, uint32_t copy) {
  const Kernel *kernel = launch->kernel;
  uint64_t inner = inner_key(launch, pc), key = locate_key(launch, pc);
  if (locate_line(launch, copy) || !locate_line(launch, pc) || !inner || inner_key(launch, copy) != inner)
    return false;
  for (uint32_t other = 0; other < kernel->ninsts; other++)
    if (does_the_same(&kernel->insts[other], &kernel->insts[pc]) && inner_key(launch, other) == inner &&
        locate_line(launch, other) && locate_key(launch, other) != key)
      return false;
  return true;
}

bool locate_is_alike(const Launch *launch, uint32_t pc, uint32_t other) {
  return does_the_same(&launch->kernel->insts[pc], &launch->kernel->insts[other]) &&
         (locate_key(launch, pc) == locate_key(launch, other) || is_copy(launch, pc, other));
}

GArray *locate_alike(const Launch *launch, uint32_t pc) {
  GArray *all = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  for (uint32_t other = 0; other < launch->kernel->ninsts; other++)
    if (locate_is_alike(launch, pc, other))
      g_array_append_val(all, other);
  return all;
}

/* "mine.h:12 (`lock();`)"; without the text for what the compiler's headers hold. */
static char *frame_text(const Program *program, const SourceFrame *frame) {
  const char *file = program_file_name(program, frame->file);
  g_autofree char *base = g_path_get_basename(file), *line = own_line(program, frame);
  return line ? g_strdup_printf("%s:%u (`%s`)", file, frame->line, line)
              : g_strdup_printf("%s:%u", base, frame->line);
}

/* The frames from number `from` to before `to`, the innermost first. NULL if there are none. */
static char *chain_text(const Program *program, uint32_t from, uint32_t to) {
  g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
  for (uint32_t at = from; at && at != to;) {
    const SourceFrame *frame = &g_array_index(program->frames, SourceFrame, at - 1);
    g_ptr_array_add(texts, frame_text(program, frame));
    at = frame->parent;
  }
  if (texts->len > FRAMES_SHOWN_MAX) { /* the middle of a library tells nobody anything */
    g_ptr_array_remove_range(texts, 1, texts->len - (FRAMES_SHOWN_MAX - 1));
    g_ptr_array_insert(texts, 1, g_strdup("..."));
  }
  if (texts->len == 0)
    return NULL;
  g_ptr_array_add(texts, NULL);
  return g_strjoinv(", in ", (char **)texts->pdata);
}

/* What was inlined at the instruction's place: frames of the compiler. */
static char *inlined_text(const Launch *launch, uint32_t pc) {
  Place place = place_of(launch, pc);
  uint32_t innermost = pc < launch->kernel->ninsts ? launch->kernel->insts[pc].inlined : 0;
  return place.frame ? chain_text(launch->program, innermost, place.frame) : NULL;
}

/* The frames that the place was inlined into. */
static char *callers_text(const Launch *launch, uint32_t pc) {
  Place place = place_of(launch, pc);
  return place.frame ? chain_text(launch->program,
                                  g_array_index(launch->program->frames, SourceFrame, place.frame - 1).parent, 0)
                     : NULL;
}

void locate_evidence(Finding *finding, const Launch *launch, uint32_t pc, char *text) {
  Evidence *evidence = finding_add_evidence(finding, locate_line(launch, pc), text);
  if (g_strcmp0(file_name(launch, pc), finding->file) != 0)
    evidence->file = g_strdup(file_name(launch, pc));
  evidence->source = file_line(launch, pc);
  evidence->callers = callers_text(launch, pc);
}

char *locate_source(const Launch *launch, uint32_t pc) {
  g_autofree char *line = file_line(launch, pc);
  const char *text = line;
  if (g_str_has_prefix(text, "/*") && strstr(text, "*/"))
    text = strstr(text, "*/") + 2;
  g_autofree char *copy = g_strdup(text);
  for (unsigned i = 0; i < 2; i++) {
    char *comment = strstr(copy, i ? "/*" : "//");
    if (comment)
      *comment = '\0';
  }
  return g_strdup(g_strstrip(copy));
}

Finding *locate_finding(FindingId id, char *message, const Launch *launch, uint32_t pc) {
  Finding *finding = finding_new(id, message);
  finding->file = g_strdup(file_name(launch, pc));
  finding->line = locate_line(launch, pc);
  finding->source = file_line(launch, pc);
  finding->inlined = inlined_text(launch, pc);
  finding->callers = callers_text(launch, pc);
  finding->count = 1;
  return finding;
}

char *locate_lanes_text(const Gpu *gpu, const Launch *launch, uint64_t block, uint32_t warp, uint32_t lanes) {
  g_autofree char *which = lanes_text(lanes);
  if (gpu->launches->len > 1)
    return g_strdup_printf("%s of warp %u of block %" G_GUINT64_FORMAT " of launch %u (%s)", which, warp, block,
                           launch->index, launch->name);
  return g_strdup_printf("%s of warp %u of block %" G_GUINT64_FORMAT, which, warp, block);
}

char *locate_thread_text(const Gpu *gpu, ThreadId thread) {
  if (thread_is_host(thread))
    return g_strdup("the host");
  return locate_lanes_text(gpu, gpu_launch(gpu, thread.launch), thread.block, thread_warp(thread),
                           1u << thread_lane(thread));
}

char *locate_change_text(const Gpu *gpu, const WordChange *change) {
  if (thread_is_host(change->thread))
    return g_strdup_printf("cycle %" G_GUINT64_FORMAT, change->cycle);
  g_autofree char *line = locate_line_text(gpu_launch(gpu, change->thread.launch), change->pc);
  return g_strdup_printf("cycle %" G_GUINT64_FORMAT " (%s)", change->cycle, line);
}

char *locate_shared_text(const Block *block, uint32_t physical) {
  if (!block || block->shared_base == 0)
    return g_strdup_printf("shared address 0x%x", physical);
  if (physical >= block->shared_base && physical < block->shared_base + block->shared_bytes)
    return g_strdup_printf("shared address 0x%x (physical 0x%x)", physical - block->shared_base, physical);
  return g_strdup_printf("physical shared address 0x%x", physical);
}

const Block *locate_shared_block(const Gpu *gpu, const Sm *own, uint64_t address) {
  const Sm *sm = &gpu->sms[remote_sm(address, own->index)];
  uint32_t physical = (uint32_t)address;
  for (uint32_t slot = 0; slot < gpu->machine->sm.max_blocks; slot++) {
    const Block *block = &sm->blocks[slot];
    if (block->launch && physical >= block->shared_base && physical < block->shared_base + block->shared_bytes)
      return block;
  }
  return NULL;
}

char *locate_cluster_text(const Gpu *gpu, const Sm *own, uint64_t address) {
  const Block *block = locate_shared_block(gpu, own, address);
  g_autofree char *place = locate_shared_text(block, (uint32_t)address);
  return block ? g_strdup_printf("%s of block %" G_GUINT64_FORMAT, place, block->index) : g_steal_pointer(&place);
}

/* A word of what malloc() returned, or did before it was freed. */
static char *heap_text(const Gpu *gpu, uint64_t address) {
  const HeapPiece *piece = heap_piece(gpu->heap, address);
  if (!piece || heap_access(gpu->heap, address, 1) == HEAP_NEVER)
    return g_strdup_printf("global address 0x%" G_GINT64_MODIFIER "x of the device heap", address);
  const Launch *launch = gpu_launch(gpu, piece->taken.thread.launch);
  g_autofree char *line = locate_line_text(launch, piece->taken.pc);
  return g_strdup_printf("byte %" G_GUINT64_FORMAT " of the %u bytes of malloc() in %s (global 0x%" G_GINT64_MODIFIER
                         "x)",
                         address - gpu->heap->base - piece->offset, piece->bytes, line, address);
}

char *locate_global_text(const Gpu *gpu, uint64_t address) {
  const char *name;
  uint64_t word;
  if (look_in_heap(gpu, address))
    return heap_text(gpu, address);
  if (!look_buffer(gpu, address, &name, &word))
    return g_strdup_printf("global address 0x%" G_GINT64_MODIFIER "x", address);
  return g_strdup_printf("%s[%" G_GUINT64_FORMAT "] (global 0x%" G_GINT64_MODIFIER "x)", name, word, address);
}
