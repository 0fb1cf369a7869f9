#include "tests/unit/group_lab.h"

#include <stdlib.h>
#include <string.h>

const char *const group_lab_orders[GROUP_LAB_ORDERS] = {"taken-first", "fallthrough-first"};

#define GROUPS "sm.convergence=barrier sm.lane_groups.switch_latency=18 sm.lane_groups.sync_latency=5 "

typedef struct Stand {
  const char *name, *instead;
  Opcode op;
  uint8_t mode; /* of WARPSYNC */
} Stand;

static const Stand stands[] = {
    {"BSSY", "SSY", OP_BSSY, 0},
    {"BSYNC", "NOP", OP_BSYNC, 0},
    {"BREAK", "NOP", OP_BREAK, 0},
    {"YIELD", "NOP", OP_YIELD, 0},
    {"WARPSYNC", "MOV RZ,", OP_WARPSYNC, WARPSYNC_ANY},
    {"WARPSYNC.ALL", "MOV RZ, RZ", OP_WARPSYNC, WARPSYNC_ALL},
    {"NANOSLEEP", "MOV RZ,", OP_NANOSLEEP, 0},
    {"BAR.SYNC.UNALIGNED", "BAR.SYNC", OP_BAR, 0},
    {"BAR.RED.POPC.UNALIGNED", "BAR.RED.POPC", OP_BAR, 0},
    {"BAR.ARV.UNALIGNED", "BAR.ARV", OP_BAR, 0},
};

typedef struct Change {
  guint pc;
  Opcode op;
  uint8_t mode; /* the barrier of BSSY, BSYNC and BREAK, the kind of WARPSYNC */
} Change;

/* The word `name` in a statement, or NULL. */
static char *find_word(const char *statement, const char *name) {
  char *at = strstr(statement, name);
  bool starts = at && (at == statement || strchr(" :", at[-1]));
  return starts && strchr(" ", at[strlen(name)]) ? at : NULL;
}

static void append_changed(GString *out, const char *statement, guint pc, GArray *changes) {
  for (unsigned i = 0; i < G_N_ELEMENTS(stands); i++) {
    char *at = find_word(statement, stands[i].name);
    if (!at)
      continue;
    Change change = {.pc = pc, .op = stands[i].op, .mode = stands[i].mode};
    char *rest = at + strlen(stands[i].name);
    if (change.op == OP_BSSY || change.op == OP_BSYNC || change.op == OP_BREAK) {
      change.mode = (uint8_t)strtoul(rest, &rest, 10);
      rest += strspn(rest, ", ");
    }
    g_array_append_val(changes, change);
    g_string_append_len(out, statement, at - statement);
    g_string_append_printf(out, "%s %s;", stands[i].instead, rest);
    return;
  }
  g_string_append_printf(out, "%s;", statement);
}

Lab *group_lab_new(const char *settings, const char *text, uint32_t threads) {
  g_autofree char *all = g_strconcat(GROUPS, settings, NULL);
  g_auto(GStrv) statements = g_strsplit(text, ";", -1);
  g_autoptr(GArray) changes = g_array_new(FALSE, FALSE, sizeof(Change));
  g_autoptr(GString) plain = g_string_new(".reg 12\n.shared 1024\n");
  for (guint pc = 0; statements[pc]; pc++)
    append_changed(plain, statements[pc], pc, changes);
  Lab *lab = lab_new(all, plain->str);
  Kernel *kernel = program_kernel(lab->program, 0);
  for (guint i = 0; i < changes->len; i++) {
    Change change = g_array_index(changes, Change, i);
    Inst *inst = &kernel->insts[change.pc];
    if (change.op == OP_BAR) {
      inst->flags |= INST_UNALIGNED;
      continue;
    }
    inst->op = (uint16_t)change.op;
    inst->mode = change.mode;
    inst->dst = 0; /* none of them writes a register */
  }
  lab_buffer(lab, 64);
  lab_launch(lab, 1, threads);
  lab_place(lab);
  for (unsigned slot = 0; slot < (threads + 31) / 32; slot++) {
    static const uint32_t preds[] = {3, 5, 8};
    memcpy(lab_warp(lab, slot)->pred, preds, sizeof preds);
    for (unsigned lane = 0; lane < 32; lane++)
      lab_row(lab, slot, 0)[lane] = lane;
  }
  return lab;
}
