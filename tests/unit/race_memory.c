#include "tests/unit/race_memory.h"

#include <string.h>

#include "tests/unit/unit.h"

enum { FIRST_LINE = 3, WARPS = 5 };

/* One a line, from FIRST_LINE on. R5 is 1, R8 is &word[0]. */
static const struct {
  const char *name, *text;
} insts[] = {
    {"put", "ST [R8], R5;"},
    {"get", "LD R7, [R8];"},
    {"vput", "ST.WT [R8], R5;"}, /* volatile, like all .WT and .CV */
    {"vget", "LD.CV R7, [R8];"},
    {"clear", "ST [R8+0x4], RZ;"},
    {"look", "LD R6, [R8+0x4];"},
    {"set", "ST.WT [R8+0x4], R5;"},
    {"see", "LD.CV R6, [R8+0x4];"},
    {"rel", "ST.CS [R8+0x4], R5;"}, /* release */
    {"acq", "LD.CS R6, [R8+0x4];"}, /* acquire */
    {"lock", "ATOM.CAS R6, [R8+0x4], RZ, R5;"},
    {"free", "ATOM.EXCH RZ, [R8+0x4], RZ;"},
    {"count", "RED.ADD [R8+0x4], R5;"},
    {"set2", "ST.WT [R8+0x8], R5;"},
    {"see2", "LD.CV R6, [R8+0x8];"},
    {"tell", "ST [R8+0x4], R5;"},
    {"poll", "again: LD R6, [R8+0x4];"},
    {"test", "ISETP.EQ.AND P0, pt, R6, RZ, pt;"},
    {"jump", "@P0 BRA again;"},
    {"fence", "MEMBAR.GL;"},
    {"sync", "NOP;"},
    {"bar", "BAR.SYNC 0x0;"},
    {"exit", "EXIT;"},
};

/* An access that is under way. */
typedef struct Under {
  ProbePoint point;
  uint64_t number, address[WARP_LANES];
  uint32_t data[2][WARP_LANES];
  AccessKind kind;
  unsigned actor, inst;
} Under;

unsigned race_memory_inst(const char *name) {
  for (unsigned i = 0; i < G_N_ELEMENTS(insts); i++)
    if (strcmp(insts[i].name, name) == 0)
      return i;
  ck_abort_msg("no instruction %s", name);
}

static ProbePoint point_of(RaceMemory *memory, unsigned actor, unsigned inst, uint32_t lanes) {
  const Sm *sm = &memory->lab->gpu->sms[0];
  const Warp *warp = &sm->warps[actor < 4 ? actor : 0];
  return (ProbePoint){.gpu = memory->lab->gpu,
                      .sm = sm,
                      .block = actor < 4 ? &sm->blocks[warp->block_slot] : &memory->next,
                      .warp = warp,
                      .inst = lab_inst(memory->lab, inst),
                      .pc = inst,
                      .lanes = lanes,
                      .cycle = ++memory->cycle};
}

static void issue_access(RaceMemory *memory, const ProbePoint *point, unsigned actor, unsigned inst) {
  const Inst *what = point->inst;
  Under access = {.point = *point, .number = ++memory->accesses, .actor = actor, .inst = inst};
  access.kind = what->op == OP_LD ? ACCESS_READ : what->op == OP_ST ? ACCESS_WRITE : ACCESS_ATOMIC;
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    access.address[lane] = BACKING_FIRST_ADDRESS + (uint64_t)what->imm;
    access.data[0][lane] =
        what->op == OP_LD ? 0 : warp_operand(point->warp->regs, point->warp->consts, what->b)[lane];
  }
  access.point.block = NULL;
  access.point.warp = NULL;
  PROBE_FIRE(point->gpu, access, point, SPACE_GLOBAL, access.kind, access.address, 4, 0, false, access.number);
  g_array_append_val(memory->under, access);
}

static void perform(RaceMemory *memory, unsigned actor, unsigned inst, uint32_t lanes) {
  guint at = 0;
  while (g_array_index(memory->under, Under, at).actor != actor ||
         g_array_index(memory->under, Under, at).inst != inst)
    ck_assert_uint_lt(++at, memory->under->len);
  Under *access = &g_array_index(memory->under, Under, at);
  uint32_t left = access->point.lanes & ~lanes;
  access->point.lanes &= lanes;
  access->point.cycle = ++memory->cycle;
  AccessPart part = {.number = access->number,
                     .kind = access->kind,
                     .address = access->address,
                     .bytes = 4,
                     .data = (const uint32_t(*)[WARP_LANES])access->data,
                     .last = !left};
  PROBE_FIRE(memory->lab->gpu, performed, &access->point, &part);
  uint32_t *word = &memory->words[(access->address[0] - BACKING_FIRST_ADDRESS) / 4];
  if (access->kind == ACCESS_WRITE)
    *word = access->data[0][0];
  else if (access->kind == ACCESS_ATOMIC)
    *word = (uint32_t)atomic_apply(access->point.inst, *word, access->data[0][0], 1);
  access->point.lanes = left;
  if (!left)
    g_array_remove_index(memory->under, at);
}

/* Warp e comes into the slots of a and b. */
static void replace_block(RaceMemory *memory) {
  memory->next = memory->lab->gpu->sms[0].blocks[0];
  memory->next.index = 2;
  ProbePoint point = point_of(memory, WARPS - 1, 0, ALL_LANES);
  PROBE_FIRE(point.gpu, block_start, &point);
}

static void meet(RaceMemory *memory, const char *warps) {
  ProbePoint point;
  for (const char *warp = warps; *warp; warp++) {
    point = point_of(memory, (unsigned)(*warp - 'a'), race_memory_inst("bar"), ALL_LANES);
    PROBE_FIRE(point.gpu, barrier_arrive, &point, 0, true);
  }
  PROBE_FIRE(point.gpu, barrier_complete, &point, 0, 3, 3);
}

static bool is_plain(const Inst *inst) { return (inst->op == OP_LD || inst->op == OP_ST) && inst->sem == SEM_WEAK; }

void race_memory_step(RaceMemory *memory, const char *step) {
  g_auto(GStrv) parts = g_strsplit(step, ".", 2);
  bool performed = g_str_has_suffix(parts[1], "!");
  if (performed)
    parts[1][strlen(parts[1]) - 1] = '\0';
  unsigned actor = (unsigned)(parts[0][0] - 'a'), inst = race_memory_inst(parts[1]);
  uint32_t lanes = g_ascii_isdigit(parts[0][1]) ? (uint32_t)(parts[0][1] - '0') : performed ? ALL_LANES : 1;
  ck_assert_msg(actor < WARPS, "%s", step);
  ProbePoint point = point_of(memory, actor, inst, lanes);
  if (performed)
    perform(memory, actor, inst, lanes);
  else if (strcmp(parts[1], "fence") == 0)
    PROBE_FIRE(point.gpu, fence, &point);
  else if (strcmp(parts[1], "bar") == 0)
    meet(memory, parts[0]);
  else if (strcmp(parts[1], "exit") == 0)
    replace_block(memory);
  else if (strcmp(parts[1], "sync") == 0) {
    point.lanes = ALL_LANES;
    PROBE_FIRE(point.gpu, warp_sync, &point);
  } else {
    issue_access(memory, &point, actor, inst);
    if (!memory->fermi && !memory->in_order && is_plain(point.inst))
      perform(memory, actor, inst, ALL_LANES);
  }
}

const char *race_memory_name_of(unsigned inst) { return insts[inst].name; }
const char *race_memory_name(unsigned line) { return insts[line - FIRST_LINE].name; }

/* ---- life ---- */

static void free_finding(gpointer finding) { finding_free(finding); }

RaceMemory *race_memory_new(const char *settings, bool fermi) {
  g_autoptr(GString) text = g_string_new(".target sm_20\n.kernel k\n");
  for (unsigned i = 0; i < G_N_ELEMENTS(insts); i++)
    g_string_append_printf(text, "%s\n", insts[i].text);
  g_autofree char *all = g_strconcat("sm.max_blocks=2 ", settings, NULL);
  RaceMemory *memory = g_new0(RaceMemory, 1);
  memory->fermi = fermi;
  memory->findings = g_ptr_array_new_with_free_func(free_finding);
  memory->under = g_array_new(FALSE, FALSE, sizeof(Under));
  memory->lab = lab_new(all, text->str);
  if (!fermi)
    lab_as_ptx(memory->lab->program);
  memory->detector = race_detector_new(memory->lab->gpu, memory->findings, NULL);
  memory->words = lab_buffer(memory->lab, 16);
  lab_launch(memory->lab, 3, 64);
  lab_place(memory->lab);
  for (unsigned slot = 0; slot < 4; slot++)
    for (unsigned lane = 0; lane < WARP_LANES; lane++)
      lab_row(memory->lab, slot, 5)[lane] = 1;
  return memory;
}

void race_memory_finish(RaceMemory *memory) {
  ck_assert_msg(memory->under->len == 0, "something is still under way");
  race_detector_finish(memory->detector);
}

void race_memory_free(RaceMemory *memory) {
  gpu_unsubscribe(memory->lab->gpu, memory->lab->gpu->probe);
  race_detector_free(memory->detector);
  lab_free(memory->lab);
  g_array_free(memory->under, TRUE);
  g_ptr_array_unref(memory->findings);
  g_free(memory);
}
