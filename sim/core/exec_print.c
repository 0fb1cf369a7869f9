/* printf, assert and trap: what a kernel says to people. */
#include <glib.h>

#include "sim/core/access.h"
#include "sim/core/launch.h"
#include "sim/core/print.h"
#include "sim/core/record.h"

/* CUDA's default buffer for printf. There the newest output overwrites the oldest; here it is dropped. */
enum { PRINTED_MAX = 1024 * 1024 };

typedef struct Peeker {
  const Issue *issue;
  unsigned lane;
} Peeker;

static bool peek(void *user, uint64_t address, uint8_t *byte) {
  const Peeker *peeker = user;
  return access_peek(peeker->issue, peeker->lane, address, byte);
}

static void raise_unreadable(Issue *issue, unsigned lane, uint64_t address) {
  record_fault(issue, 1u << lane, "generic", address,
               g_strdup_printf("printf reads generic address 0x%" G_GINT64_MODIFIER "x, where nothing is", address),
               g_strdup("pass the arguments that the format names; %s needs a string that ends"));
}

/* Lanes in order, each one's output in one piece. */
void exec_PRINTF(Issue *issue) {
  const Inst *inst = issue->inst;
  GString *out = issue->gpu->printed;
  uint32_t taken[32] = {0};
  for (uint32_t rest = issue->mask; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    Peeker peeker = {issue, lane};
    uint64_t format = access_pointer(issue, inst->a, inst->wide & WIDE_A, lane), bad;
    uint64_t args = access_pointer(issue, inst->b, inst->wide & WIDE_B, lane);
    gsize before = out->len;
    int count = print_format(out, peek, &peeker, format, args, &bad);
    if (count < 0) {
      raise_unreadable(issue, lane, bad);
      return;
    }
    if (out->len > PRINTED_MAX) {
      g_string_truncate(out, before);
      issue->gpu->printed_lost++;
      count = -1;
    }
    taken[lane] = (uint32_t)count;
  }
  issue_write(issue, inst->dst, taken);
}

static char *text_at(const Issue *issue, unsigned lane, int16_t slot, bool wide) {
  Peeker peeker = {issue, lane};
  GString *text = g_string_new(NULL);
  uint64_t bad;
  if (!print_string(text, peek, &peeker, access_pointer(issue, slot, wide, lane), &bad))
    g_string_assign(text, "?");
  return g_string_free(text, FALSE);
}

void exec_ASSERTFAIL(Issue *issue) {
  const Inst *inst = issue->inst;
  unsigned lane = (unsigned)__builtin_ctz(issue->mask);
  g_autofree char *condition = text_at(issue, lane, inst->a, inst->wide & WIDE_A);
  g_autofree char *file = text_at(issue, lane, inst->b, inst->wide & WIDE_B);
  record_fault(
      issue, issue->mask, NULL, 0,
      g_strdup_printf("assertion `%s` failed at %s:%u", condition, file, issue_operand(issue, inst->c)[lane]),
      g_strdup("find out why the condition doesn't hold"));
}

/* True if the kernel asks for the workspace of a cooperative launch, as grid.sync() does, and hasn't got one. */
static bool lacks_workspace(const Issue *issue) {
  const Launch *launch = warp_block(issue->sm, issue->warp)->launch;
  bool asks = launch_reads_workspace(launch->kernel);
  for (uint32_t i = 0; i < launch->kernel->ninsts && !asks; i++) {
    const Inst *inst = &launch->kernel->insts[i];
    asks = inst->op == OP_S2R && (inst->mode == SR_ENVREG1 || inst->mode == SR_ENVREG2);
  }
  return asks && launch->envreg == 0;
}

static void raise_undefined(Issue *issue) {
  const Kernel *kernel = warp_block(issue->sm, issue->warp)->launch->kernel;
  const char *name = g_ptr_array_index(kernel->undefined, (guint)issue->inst->imm - 1);
  record_fault(issue, issue->mask, NULL, 0, g_strdup_printf("a call of `%s`, which has no body in this file", name),
               g_strdup("put the function into the file; of those of the system, vprintf, __assertfail, malloc "
                        "and free are built in"));
}

void exec_TRAP(Issue *issue) {
  if (issue->inst->imm) {
    raise_undefined(issue);
    return;
  }
  record_fault(issue, issue->mask, NULL, 0, g_strdup("the program executed a trap"),
               g_strdup(lacks_workspace(issue)
                            ? "launch the kernel cooperatively (cooperative: true, or --cooperative): grid.sync() "
                              "traps without"
                            : "find out why it came here"));
}
