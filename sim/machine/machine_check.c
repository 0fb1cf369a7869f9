#include "sim/machine/machine_check.h"

#include "sim/machine/params.h"

typedef struct Checker {
  const Machine *machine;
  MachineCheckReport report;
  gpointer user;
} Checker;

static char *format_value(const Checker *c, const char *path) {
  const Param *param = param_find(path);
  return param_format(param, param_get(c->machine, param));
}

/* Reports that `path`, whose value is in the message, `must` relate to the value of `other`. */
static void report_pair(const Checker *c, const char *path, const char *must, const char *other) {
  g_autofree char *value = format_value(c, path), *other_value = format_value(c, other);
  g_autofree char *message =
      g_strdup_printf("%s is %s, must %s %s, which is %s", path, value, must, other, other_value);
  c->report((const char *const[]){path, other, NULL}, message, c->user);
}

static void require_at_most(const Checker *c, const char *path, const char *other) {
  if (param_get(c->machine, param_find(path)) > param_get(c->machine, param_find(other)))
    report_pair(c, path, "not exceed", other);
}

static void require_power_of_two(const Checker *c, const char *path) {
  uint32_t value = (uint32_t)param_get(c->machine, param_find(path));
  if ((value & (value - 1)) == 0)
    return;
  g_autofree char *text = format_value(c, path);
  g_autofree char *message = g_strdup_printf("%s is %s, must be a power of two", path, text);
  c->report((const char *const[]){path, NULL}, message, c->user);
}

/* A warp has 32 lanes, so one of the two limits would never be met. */
static void check_threads(const Checker *c) {
  const Machine *m = c->machine;
  if (m->sm.max_threads == m->sm.max_warps * 32)
    return;
  g_autofree char *message =
      g_strdup_printf("sm.max_threads is %u, must be 32 times sm.max_warps, which is %u (32 * %u = %u)",
                      m->sm.max_threads, m->sm.max_warps, m->sm.max_warps, m->sm.max_warps * 32);
  c->report((const char *const[]){"sm.max_threads", "sm.max_warps", NULL}, message, c->user);
}

/* One warp with the most registers that a thread can name has to fit, or no such kernel could ever run. */
static void check_registers(const Checker *c) {
  const Machine *m = c->machine;
  uint32_t granule = m->sm.register_granule;
  uint32_t needed = (m->sm.max_thread_registers * 32 + granule - 1) / granule * granule;
  if (needed <= m->sm.registers)
    return;
  g_autofree char *message =
      g_strdup_printf("sm.registers is %u, must hold one warp of sm.max_thread_registers (%u) registers a thread: %u",
                      m->sm.registers, m->sm.max_thread_registers, needed);
  c->report((const char *const[]){"sm.registers", "sm.max_thread_registers", "sm.register_granule", NULL}, message,
            c->user);
}

/* Else the largest block, rounded up to granules, wouldn't fit. */
static void check_granules(const Checker *c) {
  if (c->machine->sm.shared.bytes % c->machine->sm.shared.granule != 0)
    report_pair(c, "sm.shared.bytes", "be a multiple of", "sm.shared.granule");
}

enum { HASHED_SETS = 512 };

/* With the hash: sets that it has. */
static void check_hashed_sets(const Checker *c) {
  uint32_t sets = c->machine->sm.l1.sets;
  if (c->machine->sm.l1.set_hash == L1_SETS_IN_TURN || (sets && sets <= HASHED_SETS && (sets & (sets - 1)) == 0))
    return;
  g_autofree char *message = g_strdup_printf("sm.l1.sets is %u, must be a power of two of at most %d with "
                                             "sm.l1.set_hash: sm_90",
                                             sets, HASHED_SETS);
  c->report((const char *const[]){"sm.l1.sets", "sm.l1.set_hash", NULL}, message, c->user);
}

/* Lines that fill their sets; with more sets, whole lines. */
static void check_l1_sets(const Checker *c) {
  const Machine *m = c->machine;
  require_at_most(c, "sm.l1.kept_ways", "sm.l1.ways");
  check_hashed_sets(c);
  if (m->sm.l1.sets) {
    if (m->sm.l1.bytes % m->sm.l1.line)
      report_pair(c, "sm.l1.bytes", "be a multiple of", "sm.l1.line");
    return;
  }
  uint64_t set = (uint64_t)m->sm.l1.line * m->sm.l1.ways;
  if (m->sm.l1.bytes % set == 0)
    return;
  g_autofree char *message =
      g_strdup_printf("sm.l1.bytes is %u bytes, must be a multiple of sm.l1.line times sm.l1.ways (%u * %u = %u)",
                      m->sm.l1.bytes, m->sm.l1.line, m->sm.l1.ways, (unsigned)set);
  c->report((const char *const[]){"sm.l1.bytes", "sm.l1.line", "sm.l1.ways", NULL}, message, c->user);
}

/* For how long one warp is held up is sm.held_up's matter. */
static void check_hold(const Checker *c) {
  const Machine *m = c->machine;
  if (!m->sm.held_once || m->sm.held_up)
    return;
  g_autofree char *message =
      g_strdup_printf("sm.held_once is %u, but nobody is held up: sm.held_up, the cycles, is 0", m->sm.held_once);
  c->report((const char *const[]){"sm.held_once", "sm.held_up", NULL}, message, c->user);
}

/* An L1 of whole sets of whole lines of whole sectors. */
static void check_l1(const Checker *c) {
  const Machine *m = c->machine;
  if (m->sm.l1.bytes == 0)
    return;
  require_power_of_two(c, "sm.l1.line");
  require_power_of_two(c, "sm.l1.sector");
  require_power_of_two(c, "sm.l1.tag_banks");
  require_at_most(c, "sm.l1.sector", "sm.l1.line");
  if (m->sm.l1.line / m->sm.l1.sector > 32) {
    g_autofree char *message =
        g_strdup_printf("sm.l1.line is %u bytes, must have at most 32 sectors of sm.l1.sector, "
                        "which is %u bytes",
                        m->sm.l1.line, m->sm.l1.sector);
    c->report((const char *const[]){"sm.l1.line", "sm.l1.sector", NULL}, message, c->user);
  }
  if (m->sm.l1.carveout != CARVEOUT_NONE && m->sm.l1.bytes <= m->sm.shared.bytes)
    report_pair(c, "sm.l1.bytes", "exceed with a carveout", "sm.shared.bytes");
  check_l1_sets(c);
}

/* Each slice has a set at least, or there would be a larger L2 than was asked for. */
static void check_sets(const Checker *c) {
  const Machine *m = c->machine;
  uint64_t least = (uint64_t)m->memory.slices * m->memory.l2.ways * m->memory.l2.line;
  if (m->memory.l2.bytes == 0 || m->memory.l2.bytes >= least)
    return;
  g_autofree char *value = format_value(c, "memory.l2.bytes");
  g_autofree char *message =
      g_strdup_printf("memory.l2.bytes is %s, must hold memory.l2.ways lines for each slice (%u "
                      "slices * %u ways * %u bytes = %" G_GUINT64_FORMAT ")",
                      value, m->memory.slices, m->memory.l2.ways, m->memory.l2.line, least);
  c->report((const char *const[]){"memory.l2.bytes", "memory.slices", "memory.l2.ways", "memory.l2.line", NULL},
            message, c->user);
}

/* Slices by halves; lines of whole sectors, at most 32. */
static void check_l2(const Checker *c) {
  const Machine *m = c->machine;
  static const char *const powers[] = {"memory.l2.line", "memory.l2.sector", "memory.l2.granule", "memory.l2.page",
                                       "memory.dram.row", "memory.atomic.cas_span"};
  for (unsigned i = 0; i < G_N_ELEMENTS(powers); i++)
    require_power_of_two(c, powers[i]);
  require_at_most(c, "memory.l2.sector", "memory.l2.line");
  if (m->memory.slices % m->memory.l2.halves)
    report_pair(c, "memory.slices", "be a multiple of", "memory.l2.halves");
  if (m->memory.l2.halves == 2 && m->memory.slices && !m->memory.l2.bytes)
    report_pair(c, "memory.l2.bytes", "hold lines to go with", "memory.l2.halves");
  check_sets(c);
}

/* A granule of less than a line would be a line. A channel without a slice would never be used, and count as one that
 * lines are spread over. */
static void check_slices(const Checker *c) {
  const Machine *m = c->machine;
  if (m->memory.slices == 0)
    return;
  if (m->memory.l2.granule < m->memory.l2.line)
    report_pair(c, "memory.l2.granule", "not be less than", "memory.l2.line");
  uint32_t of_half = m->memory.slices / m->memory.l2.halves;
  if (m->memory.dram.channels <= of_half)
    return;
  g_autofree char *message = g_strdup_printf("memory.dram.channels is %u, must not exceed memory.slices for each of "
                                             "memory.l2.halves, which share them (%u / %u = %u)",
                                             m->memory.dram.channels, m->memory.slices, m->memory.l2.halves, of_half);
  c->report((const char *const[]){"memory.dram.channels", "memory.slices", "memory.l2.halves", NULL}, message,
            c->user);
}

/* A unit has groups of each cluster that take turns, and batches; lines that are locked alone have neither. */
static void check_atomics(const Checker *c) {
  const Machine *m = c->machine;
  static const char *const of_units[] = {"memory.atomic.holds", "memory.atomic.batch_loads", "memory.atomic.groups"};
  static const char *const without[] = {"line", "1", "1"};
  const bool differs[] = {m->memory.atomic.holds != ATOMIC_HOLDS_LINE, m->memory.atomic.batch_loads != 1,
                          m->memory.atomic.groups != 1};
  for (unsigned i = 0; m->memory.atomic.occupies == ATOMIC_OCCUPIES_LINE && i < G_N_ELEMENTS(of_units); i++) {
    g_autofree char *value = format_value(c, of_units[i]);
    g_autofree char *message =
        g_strdup_printf("%s is %s, must be %s with memory.atomic.occupies: line", of_units[i], value, without[i]);
    if (differs[i])
      c->report((const char *const[]){of_units[i], "memory.atomic.occupies", NULL}, message, c->user);
  }
  if (m->memory.atomic.groups > 1 && m->memory.atomic.groups % m->memory.crossbar.clusters)
    report_pair(c, "memory.atomic.groups", "be 1 or a multiple of", "memory.crossbar.clusters");
}

/* Of the plain server: an access is performed before its reply comes. */
static void check_server(const Checker *c) {
  if (c->machine->memory.slices == 0)
    require_at_most(c, "memory.request_latency", "memory.latency");
}

/* A queue lies in one line, which one unit holds. */
static void check_queue(const Checker *c) {
  require_power_of_two(c, "memory.queue.bytes");
  require_at_most(c, "memory.queue.bytes", "memory.l2.line");
  uint32_t bytes = c->machine->memory.queue.bytes;
  if (bytes == 0 || bytes >= 8)
    return;
  g_autofree char *message =
      g_strdup_printf("memory.queue.bytes is %u, must be 0 or at least 8: the word of a queue, and a slot", bytes);
  c->report((const char *const[]){"memory.queue.bytes", NULL}, message, c->user);
}

/* A lock in tags that an SM is given would go back before one of its lanes can come for it, for ever. */
static void check_lock_queue(const Checker *c) {
  require_at_most(c, "sm.lock_queue.l1_ways", "sm.l1.ways");
  require_at_most(c, "sm.lock_queue.l2_ways", "memory.l2.ways");
  if (c->machine->sm.lock_queue.l1_ways > 0 && c->machine->sm.lock_queue.keep == 0)
    report_pair(c, "sm.lock_queue.keep", "be above 0 to go with", "sm.lock_queue.l1_ways");
}

void machine_check(const Machine *machine, MachineCheckReport report, gpointer user) {
  Checker checker = {machine, report, user};
  check_threads(&checker);
  check_hold(&checker);
  require_at_most(&checker, "grid.max_block_threads", "sm.max_threads");
  require_at_most(&checker, "sm.schedulers", "sm.max_warps");
  check_registers(&checker);
  require_at_most(&checker, "sm.shared.max_block_bytes", "sm.shared.bytes");
  require_power_of_two(&checker, "sm.shared.granule");
  check_granules(&checker);
  require_at_most(&checker, "sm.spin_backoff.least", "sm.spin_backoff.most");
  check_lock_queue(&checker);
  check_l1(&checker);
  require_power_of_two(&checker, "memory.segment");
  require_power_of_two(&checker, "memory.buffer_alignment");
  require_power_of_two(&checker, "memory.page");
  check_l2(&checker);
  check_slices(&checker);
  check_atomics(&checker);
  check_server(&checker);
  check_queue(&checker);
}
