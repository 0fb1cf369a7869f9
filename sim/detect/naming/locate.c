#include "sim/detect/naming/locate.h"

#include <string.h>

enum { FRAMES_SHOWN_MAX = 4 };

unsigned locate_line(const Launch *launch, uint32_t pc) {
  return pc < launch->kernel->ninsts ? launch->kernel->insts[pc].line : 0;
}

static uint16_t file_of(const Launch *launch, uint32_t pc) {
  return pc < launch->kernel->ninsts ? launch->kernel->insts[pc].file : 0;
}

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

/* "mine.h:12 (`lock();`)"; NULL for what the compiler's headers hold, if only lines of one's own are wanted. */
static char *frame_text(const Program *program, const SourceFrame *frame, bool own_only) {
  const char *file = program_file_name(program, frame->file);
  bool toolkit = strstr(file, "/include/") && strstr(file, "cuda");
  g_autofree char *base = g_path_get_basename(file), *line = program_file_line(program, frame->file, frame->line);
  if (!toolkit && *line)
    return g_strdup_printf("%s:%u (`%s`)", file, frame->line, line);
  return own_only ? NULL : g_strdup_printf("%s:%u", base, frame->line);
}

/* The frames that were inlined, the innermost first; the outermost is the instruction's own place. NULL if none were. */
static char *inlined_text(const Launch *launch, uint32_t pc, bool own_only) {
  const GArray *frames = launch->program->frames;
  uint32_t at = pc < launch->kernel->ninsts ? launch->kernel->insts[pc].inlined : 0;
  g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
  while (at) {
    const SourceFrame *frame = &g_array_index(frames, SourceFrame, at - 1);
    char *text = frame->parent ? frame_text(launch->program, frame, own_only) : NULL;
    if (text)
      g_ptr_array_add(texts, text);
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

void locate_evidence(Finding *finding, const Launch *launch, uint32_t pc, char *text) {
  Evidence *evidence = finding_add_evidence(finding, locate_line(launch, pc), text);
  if (g_strcmp0(file_name(launch, pc), finding->file) != 0)
    evidence->file = g_strdup(file_name(launch, pc));
  evidence->source = file_line(launch, pc);
  evidence->inlined = inlined_text(launch, pc, true);
}

char *locate_source(const Launch *launch, uint32_t pc) {
  g_autofree char *line = file_line(launch, pc);
  const char *text = line;
  if (g_str_has_prefix(text, "/*") && strstr(text, "*/"))
    text = strstr(text, "*/") + 2;
  g_autofree char *copy = g_strdup(text);
  char *comment = strstr(copy, "//");
  if (comment)
    *comment = '\0';
  return g_strdup(g_strstrip(copy));
}

Finding *locate_finding(FindingId id, char *message, const Launch *launch, uint32_t pc) {
  Finding *finding = finding_new(id, message);
  finding->file = g_strdup(file_name(launch, pc));
  finding->line = locate_line(launch, pc);
  finding->source = file_line(launch, pc);
  finding->inlined = inlined_text(launch, pc, false);
  finding->count = 1;
  return finding;
}

char *locate_lanes_text(const Gpu *gpu, const Launch *launch, uint64_t block, uint32_t warp, uint32_t lanes) {
  g_autofree char *which = lanes_text(lanes);
  if (gpu->launches->len > 1)
    return g_strdup_printf("%s of warp %u of block %" G_GUINT64_FORMAT " of launch %u (%s)", which, warp, block,
                           launch->index, launch->kernel->name);
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

char *locate_global_text(const Gpu *gpu, uint64_t address) {
  const BackingBuffer *buffer = backing_find(gpu->backing, address, 4);
  if (!buffer)
    return g_strdup_printf("global address 0x%" G_GINT64_MODIFIER "x", address);
  return g_strdup_printf("%s[%" G_GUINT64_FORMAT "] (global 0x%" G_GINT64_MODIFIER "x)", buffer->name,
                         (address - buffer->base) / 4, address);
}
