/* Registers and predicates of machine code that are used before control bits make sure of them. */
#include "sim/core/tell.h"
#include "sim/detect/misuse/report.h"

/* What the hazard is about, by its name. */
static char *name_of(const Kernel *kernel, const CodeHazard *hazard) {
  enum { UNIFORM_PREDICATES = 10 };
  uint32_t registers = kernel->nregs - kernel->uniform_registers, number = hazard->number;
  if (hazard->predicate)
    return number < UNIFORM_PREDICATES ? g_strdup_printf("P%u", number)
                                       : g_strdup_printf("UP%u", number - UNIFORM_PREDICATES);
  return number < registers ? g_strdup_printf("R%u", number) : g_strdup_printf("UR%u", number - registers);
}

/* A scoreboard of instruction `pc`: the one at `shift` of its control bits; CONTROL_NONE. */
static unsigned scoreboard_of(const Kernel *kernel, uint32_t pc, unsigned shift) {
  for (; kernel->insts[pc].flags & INST_FUSED; pc++)
    ;
  return kernel->control[pc] >> shift & 7;
}

/* Shared memory that an asynchronous copy writes. */
static void meets_copy(void *user, const ProbePoint *point, uint64_t key, uint32_t address, uint32_t copy) {
  const Launch *launch = point->block->launch;
  g_autofree char *who = report_who(point), *line = locate_line_text(launch, copy),
                  *source = locate_source(launch, copy);
  const Inst *inst = &launch->kernel->insts[copy];
  bool leaves = inst->op == OP_BULKSTORE || inst->op == OP_BULKRED, one = !(point->lanes & (point->lanes - 1));
  char *message = g_strdup_printf(
      "%s %s%s shared address 0x%x, which the asynchronous copy `%s` (%s) %s, and nobody has waited for", who,
      leaves ? "change" : "access",
      !one     ? ""
      : leaves ? "s"
               : "es",
      address, source, line, leaves ? "reads" : "writes");
  const char *repair = leaves ? "wait for the copy's group before (cp.async.bulk.wait_group.read), and let other "
                                "threads pass a barrier behind that"
                       : inst->op == OP_BULKLOAD
                           ? "wait for the phase of the mbarrier at which the copy counts before"
                           : "wait for the copy before (cp.async.wait_group, __pipeline_wait_prior), and let "
                             "other threads pass a barrier behind that";
  Finding *finding = report_add_new(user, FINDING_HAZARD, key, point, message, repair);
  finding->space = g_strdup("shared");
  finding->address = address;
  locate_evidence(finding, launch, copy, g_strdup("copied by this"));
}

/* What is said of a hazard. */
typedef struct Told {
  const char *who, *ending, *name, *source, *line;
} Told;

static char *message_of(const CodeHazard *hazard, const Told *told) {
  const char *verb = hazard->kind == HAZARD_READ || hazard->kind == HAZARD_LATENCY ? "read" : "overwrite";
  if (hazard->kind == HAZARD_LATENCY)
    return g_strdup_printf("%s %s%s %s %u cycle%s behind `%s` (%s), which writes it in %u", told->who, verb,
                           told->ending, told->name, hazard->distance, hazard->distance == 1 ? "" : "s", told->source,
                           told->line, hazard->latency);
  return g_strdup_printf("%s %s%s %s, which `%s` (%s) %s yet", told->who, verb, told->ending, told->name,
                         told->source, told->line,
                         hazard->kind == HAZARD_SOURCE ? "may not have read" : "hasn't written");
}

static char *repair_of(const CodeHazard *hazard, unsigned scoreboard, const Told *told) {
  unsigned cycles = (unsigned)(hazard->latency - hazard->distance);
  if (hazard->kind == HAZARD_LATENCY)
    return g_strdup_printf("raise the stall count of %s, or of one between, by %u", told->line, cycles);
  if (scoreboard == CONTROL_NONE)
    return g_strdup_printf("give the instruction of %s a %s scoreboard, and wait for it here", told->line,
                           hazard->kind == HAZARD_SOURCE ? "read" : "write");
  return g_strdup_printf("wait for scoreboard %u here: bit %u of the wait mask", scoreboard, scoreboard);
}

static char *evidence_of(const CodeHazard *hazard, unsigned scoreboard, const Told *told) {
  bool source = hazard->kind == HAZARD_SOURCE;
  if (hazard->kind == HAZARD_LATENCY)
    return g_strdup_printf("%s is written by this, %u cycles behind its issue", told->name, hazard->latency);
  if (scoreboard == CONTROL_NONE)
    return g_strdup_printf(source ? "%s is read by this, which raises no read scoreboard"
                                  : "%s is written by this, at no fixed time, and it raises no write scoreboard",
                           told->name);
  return g_strdup_printf("%s is %s by this: scoreboard %u falls when it %s", told->name, source ? "read" : "written",
                         scoreboard, source ? "has been" : "is there");
}

static void meets_code(void *user, const ProbePoint *point, uint64_t key, const CodeHazard *hazard) {
  const Launch *launch = point->block->launch;
  unsigned shift = hazard->kind == HAZARD_SOURCE ? CONTROL_READ_SHIFT : CONTROL_WRITE_SHIFT;
  unsigned scoreboard = scoreboard_of(launch->kernel, hazard->producer, shift);
  if (hazard->kind == HAZARD_SOURCE && scoreboard == CONTROL_NONE)
    scoreboard = scoreboard_of(launch->kernel, hazard->producer, CONTROL_WRITE_SHIFT);
  g_autofree char *who = report_who(point), *name = name_of(launch->kernel, hazard),
                  *line = locate_line_text(launch, hazard->producer),
                  *source = locate_source(launch, hazard->producer);
  Told told = {who, report_ending(point), name, source, line};
  g_autofree char *repair = repair_of(hazard, scoreboard, &told);
  Finding *finding = report_add_new(user, FINDING_HAZARD, key, point, message_of(hazard, &told), repair);
  locate_evidence(finding, launch, hazard->producer, evidence_of(hazard, scoreboard, &told));
}

/* One for each pair of instructions. */
static void hazard(void *user, const ProbePoint *point, unsigned what, uint32_t producer) {
  uint64_t key = rng_mix(report_key(FINDING_HAZARD, point)) ^ ((uint64_t)point->pc << 32 | producer);
  key |= UINT64_C(1) << 63; /* apart from the keys of places */
  if (report_is_known(user, key))
    return;
  if (what & HAZARD_SHARED)
    meets_copy(user, point, key, what & ~HAZARD_SHARED, producer);
  else
    meets_code(user, point, key, &point->block->launch->kernel->hazards[what & ~HAZARD_CODE]);
}

Misuse *misuse_new_hazards(Gpu *gpu, GPtrArray *findings) {
  return report_new(gpu, findings, (Probe){.hazard = hazard});
}
