/* Registers of machine code that are used before an instruction under way has written them. */
#include "sim/core/tell.h"
#include "sim/detect/misuse/report.h"

/* A row by its name. */
static char *name_of(const Kernel *kernel, unsigned row) {
  uint32_t registers = kernel->nregs - kernel->uniform_registers;
  return row < registers ? g_strdup_printf("R%u", row) : g_strdup_printf("UR%u", row - registers);
}

static bool reads(const Inst *inst, unsigned row) {
  RegList list = inst_reads(inst);
  for (unsigned i = 0; i < list.count; i++)
    if (list.reg[i] == (int16_t)row)
      return true;
  return false;
}

/* The scoreboard that instruction `pc` raises; CONTROL_NONE. */
static unsigned scoreboard_of(const Kernel *kernel, uint32_t pc) {
  return kernel->control[pc] >> CONTROL_WRITE_SHIFT & 7;
}

/* Shared memory that an asynchronous copy writes. */
static void meets_copy(void *user, const ProbePoint *point, uint64_t key, uint32_t address, uint32_t copy) {
  const Launch *launch = point->block->launch;
  g_autofree char *who = report_who(point), *line = locate_line_text(launch, copy),
                  *source = locate_source(launch, copy);
  char *message =
      g_strdup_printf("%s access%s shared address 0x%x, which the asynchronous copy `%s` (%s) writes, and "
                      "nobody has waited for",
                      who, point->lanes & (point->lanes - 1) ? "" : "es", address, source, line);
  Finding *finding = report_add_new(user, FINDING_HAZARD, key, point, message,
                                    "wait for the copy before (cp.async.wait_group, __pipeline_wait_prior), and let "
                                    "other threads pass a barrier behind that");
  finding->space = g_strdup("shared");
  finding->address = address;
  locate_evidence(finding, launch, copy, g_strdup("copied by this"));
}

/* One for each pair of instructions. */
static void hazard(void *user, const ProbePoint *point, unsigned row, uint32_t producer) {
  const Launch *launch = point->block->launch;
  const Kernel *kernel = launch->kernel;
  uint64_t key = rng_mix(report_key(FINDING_HAZARD, point)) ^ ((uint64_t)point->pc << 32 | producer);
  key |= UINT64_C(1) << 63; /* apart from the keys of places */
  if (report_is_known(user, key))
    return;
  if (row & HAZARD_SHARED) {
    meets_copy(user, point, key, row & ~HAZARD_SHARED, producer);
    return;
  }
  unsigned scoreboard = scoreboard_of(kernel, producer);
  g_autofree char *who = report_who(point), *name = name_of(kernel, row), *line = locate_line_text(launch, producer),
                  *source = locate_source(launch, producer);
  g_autofree char *repair =
      scoreboard == CONTROL_NONE
          ? g_strdup_printf("give the instruction of %s a write scoreboard, and wait for it here", line)
          : g_strdup_printf("wait for scoreboard %u here: bit %u of the wait mask", scoreboard, scoreboard);
  char *message =
      g_strdup_printf("%s %s%s %s, which `%s` (%s) hasn't written yet", who,
                      reads(point->inst, row) ? "read" : "overwrite", report_ending(point), name, source, line);
  Finding *finding = report_add_new(user, FINDING_HAZARD, key, point, message, repair);
  locate_evidence(
      finding, launch, producer,
      scoreboard == CONTROL_NONE
          ? g_strdup_printf("%s is written by this, which raises no scoreboard", name)
          : g_strdup_printf("%s is written by this: scoreboard %u falls when it is there", name, scoreboard));
}

Misuse *misuse_new_hazards(Gpu *gpu, GPtrArray *findings) {
  return report_new(gpu, findings, (Probe){.hazard = hazard});
}
