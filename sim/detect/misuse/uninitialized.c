/* Values of memory, and of registers of PTX, that nothing has written, and those that no lane gave. */
#include "sim/core/look.h"
#include "sim/core/undefined.h"
#include "sim/detect/misuse/report.h"

static void add_use(Finding *finding, const ProbePoint *point, const UndefinedFrom *from) {
  bool of_other_warp = from->warp != point->warp->warp_in_block;
  g_autofree char *users = of_other_warp ? report_who(point) : lanes_text(point->lanes);
  if (from->pc != point->pc || of_other_warp)
    locate_evidence(finding, point->block->launch, point->pc,
                    g_strdup_printf("%s use%s it here", users, report_ending(point)));
}

static void use_of_register(Misuse *misuse, const ProbePoint *point, const UndefinedFrom *from) {
  ProbePoint read = *point;
  read.pc = from->pc;
  read.inst = &point->block->launch->kernel->insts[from->pc];
  g_autofree char *who = report_who(point);
  Finding *finding = report_add(
      misuse, FINDING_UNSET_REGISTER, &read,
      g_strdup_printf("%s use%s a value that nothing has written: it stands in %s%u here (and is 0)", who,
                      report_ending(point), from->kind == UNDEFINED_PREDICATE ? "P" : "R", (unsigned)from->address),
      "give it a value on every path to here");
  if (finding)
    add_use(finding, point, from);
}

static const char *why_absent(const ProbePoint *point, const UndefinedFrom *from) {
  if (from->kind == UNDEFINED_OUTSIDE)
    return "isn't in the mask";
  bool exists = from->warp * WARP_LANES + from->address < point->block->launch->block_threads;
  return exists ? "has exited" : "has no thread";
}

/* A shuffle gave it, which read from a lane that takes no part. */
static void use_of_shuffle(Misuse *misuse, const ProbePoint *point, const UndefinedFrom *from) {
  ProbePoint read = *point;
  bool exited = from->kind == UNDEFINED_EXITED;
  read.pc = from->pc;
  read.inst = &point->block->launch->kernel->insts[from->pc];
  read.lanes = 1u << from->lane;
  g_autofree char *who =
      locate_lanes_text(point->gpu, point->block->launch, point->block->index, from->warp, read.lanes);
  Finding *finding = report_add(
      misuse, FINDING_SYNC_MASK, &read,
      g_strdup_printf("%s reads from lane %u by a shuffle; that lane %s, so the value is undefined, and it is used",
                      who, (unsigned)from->address, why_absent(point, from)),
      exited
          ? "let all lanes come to the shuffle that others read from (with a neutral value), and return behind it; "
            "let blocks be of whole warps"
          : "read only from lanes of the mask, or let that lane take part: its bit in the mask, and the shuffle on "
            "its way, too");
  if (!finding)
    return;
  finding->warp = from->warp;
  add_use(finding, point, from);
}

/* The first word of a barrier in shared memory (mbarrier). */
static bool is_of_barrier(const Inst *inst) {
  return op_info[inst->op].unit == UNIT_SHARED && op_info[inst->op].flags & OPF_ATOMIC && inst->mode == ATOM_ARRIVE;
}

static const char *repair_of(const Gpu *gpu, const UndefinedFrom *from, const Inst *load) {
  if (is_of_barrier(load))
    return "initialise the barrier before, in one thread, and put __syncthreads() behind that";
  if (from->space != MEM_GLOBAL)
    return "write it before, in every thread that has a part of it";
  return look_in_heap(gpu, from->address) ? "write it before: malloc() and new leave memory as they find it"
                                          : "initialize the buffer (cudaMemset()), or write it before";
}

/* Found at the load, when its value matters. */
static void undefined_use(void *user, const ProbePoint *point, const UndefinedFrom *from) {
  if (from->kind == UNDEFINED_EXITED || from->kind == UNDEFINED_OUTSIDE) {
    use_of_shuffle(user, point, from);
    return;
  }
  if (from->kind != UNDEFINED_MEMORY) {
    use_of_register(user, point, from);
    return;
  }
  ProbePoint load = *point;
  load.pc = from->pc;
  load.inst = &point->block->launch->kernel->insts[from->pc];
  if (report_is_known(user, report_key(FINDING_UNINITIALIZED_READ, &load)))
    return;
  load.lanes = 1u << from->lane;
  g_autofree char *who =
      locate_lanes_text(point->gpu, point->block->launch, point->block->index, from->warp, load.lanes);
  g_autofree char *where = from->space == MEM_SHARED ? locate_shared_text(point->block, (uint32_t)from->address)
                           : from->space == MEM_LOCAL
                               ? g_strdup_printf("local address 0x%" G_GINT64_MODIFIER "x", from->address)
                               : locate_global_text(point->gpu, from->address);
  Finding *finding = report_add(user, FINDING_UNINITIALIZED_READ, &load,
                                g_strdup_printf("%s reads %s, which nothing has written", who, where),
                                repair_of(point->gpu, from, load.inst));
  finding->warp = from->warp;
  finding->space = g_strdup(from->space == MEM_SHARED ? "shared" : from->space == MEM_LOCAL ? "local" : "global");
  finding->address = from->space == MEM_SHARED ? from->address - point->block->shared_base : from->address;
  add_use(finding, point, from);
}

Misuse *misuse_new_uninitialized(Gpu *gpu, GPtrArray *findings) {
  return report_new(gpu, findings, (Probe){.undefined_use = undefined_use});
}
