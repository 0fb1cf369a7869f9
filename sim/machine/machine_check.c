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

void machine_check(const Machine *machine, MachineCheckReport report, gpointer user) {
  Checker checker = {machine, report, user};
  check_threads(&checker);
  require_at_most(&checker, "grid.max_block_threads", "sm.max_threads");
  require_at_most(&checker, "sm.schedulers", "sm.max_warps");
  check_registers(&checker);
  require_at_most(&checker, "sm.shared.max_block_bytes", "sm.shared.bytes");
  require_power_of_two(&checker, "sm.shared.granule");
  check_granules(&checker);
  require_power_of_two(&checker, "memory.segment");
}
