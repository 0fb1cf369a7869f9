#include "isa/flow/cfg.h"

#include "isa/disasm.h"
#include "isa/flow/dataflow.h"
#include "isa/flow/flow.h"
#include "isa/flow/past.h"

static void free_block(gpointer data) {
  CfgBlock *block = data;
  g_array_unref(block->successors);
  g_array_unref(block->predecessors);
  g_free(block);
}

static GArray *copy_row(const FlowEdges *edges, uint32_t block) {
  uint32_t count = edges->start[block + 1] - edges->start[block];
  GArray *row = g_array_sized_new(FALSE, FALSE, sizeof(uint32_t), count);
  g_array_append_vals(row, edges->to + edges->start[block], count);
  return row;
}

Cfg *cfg_new(const Kernel *kernel) {
  Flow flow;
  flow_init(&flow, kernel);
  g_autofree int32_t *ipdom = flow_postdominators(&flow);
  Cfg *cfg = g_new0(Cfg, 1);
  cfg->blocks = g_ptr_array_new_with_free_func(free_block);
  for (uint32_t b = 0; b < flow.nblocks; b++) {
    CfgBlock *block = g_new0(CfgBlock, 1);
    *block = (CfgBlock){
        .first = flow.first[b],
        .last = flow.first[b + 1] - 1,
        .successors = copy_row(&flow.out, b),
        .predecessors = copy_row(&flow.in, b),
        .exits = flow.exits[b],
        .reachable = flow.reachable[b],
        .ipdom = ipdom[b],
    };
    g_ptr_array_add(cfg->blocks, block);
  }
  cfg->block_of = g_memdup2(flow.block_of, kernel->ninsts * sizeof *flow.block_of);
  flow_clear(&flow);
  return cfg;
}

void cfg_free(Cfg *cfg) {
  if (!cfg)
    return;
  g_ptr_array_unref(cfg->blocks);
  g_free(cfg->block_of);
  g_free(cfg);
}

int32_t cfg_past_end(const Kernel *kernel) {
  Flow flow;
  flow_init(&flow, kernel);
  int32_t past_end = flow.past_end;
  flow_clear(&flow);
  return past_end;
}

static void annotate_joins(Kernel *kernel, const Flow *flow) {
  Flow local;
  flow_init_within_functions(&local, flow, kernel);
  g_autofree int32_t *ipdom = flow_postdominators(&local);
  flow_clear(&local);
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
    kernel->insts[pc].flags &= ~(uint32_t)INST_JOIN_TARGET;
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    Inst *inst = &kernel->insts[pc];
    if (inst->op == OP_SSY && inst->target != NO_TARGET)
      kernel->insts[inst->target].flags |= INST_JOIN_TARGET;
    if (inst->op != OP_BRA)
      continue;
    int32_t block = ipdom[flow->block_of[pc]];
    inst->reconv = block == NO_TARGET ? NO_TARGET : (int32_t)flow->first[block];
    if (inst->reconv != NO_TARGET && inst_is_guarded(inst))
      kernel->insts[inst->reconv].flags |= INST_JOIN_TARGET;
  }
}

void cfg_annotate(Kernel *kernel) {
  Flow flow;
  flow_init(&flow, kernel);
  annotate_joins(kernel, &flow);
  dataflow_mark_unset(kernel, &flow);
  past_mark(kernel, &flow);
  flow_clear(&flow);
}

Liveness cfg_liveness(const Kernel *kernel) {
  Flow flow;
  flow_init(&flow, kernel);
  Liveness live = dataflow_liveness(kernel, &flow);
  flow_clear(&flow);
  return live;
}

/* -- DOT -- */

static void append_escaped(GString *out, const char *text) {
  for (const char *p = text; *p; p++) {
    if (*p == '"' || *p == '\\')
      g_string_append_c(out, '\\');
    g_string_append_c(out, *p);
  }
}

static void append_block(GString *out, const Kernel *kernel, const Flow *flow, uint32_t block) {
  g_string_append_printf(out, "  b%u [label=\"", block);
  for (uint32_t pc = flow->first[block]; pc < flow->first[block + 1]; pc++) {
    g_autofree char *text = disasm_inst(kernel, &kernel->insts[pc]);
    g_string_append_printf(out, "%04x  ", kernel_address(kernel, pc));
    append_escaped(out, text);
    g_string_append(out, "\\l");
  }
  g_string_append(out, flow->reachable[block] ? "\"];\n" : "\", style=dotted];\n");
}

static const char *edge_label(const Kernel *kernel, const Flow *flow, uint32_t block, uint32_t next) {
  const Inst *last = &kernel->insts[flow->first[block + 1] - 1];
  bool forks = last->op == OP_BRA && flow->out.start[block + 1] - flow->out.start[block] > 1;
  if (!forks)
    return "";
  return (int32_t)flow->first[next] == last->target ? " [label=\"taken\"]" : " [label=\"else\"]";
}

static void append_edges(GString *out, const Kernel *kernel, const Flow *flow, uint32_t block) {
  for (uint32_t e = flow->out.start[block]; e < flow->out.start[block + 1]; e++)
    g_string_append_printf(out, "  b%u -> b%u%s;\n", block, flow->out.to[e],
                           edge_label(kernel, flow, block, flow->out.to[e]));
  if (flow->exits[block])
    g_string_append_printf(out, "  b%u -> exit;\n", block);
  const Inst *last = &kernel->insts[flow->first[block + 1] - 1];
  if (last->op == OP_BRA && inst_is_guarded(last) && last->reconv != NO_TARGET)
    g_string_append_printf(out, "  b%u -> b%u [style=dashed, constraint=false, label=\"reconverges\"];\n", block,
                           flow->block_of[last->reconv]);
}

char *cfg_dot(const Program *program, const Kernel *kernel) {
  Flow flow;
  flow_init(&flow, kernel);
  GString *out = g_string_new("digraph \"");
  append_escaped(out, kernel->name);
  g_string_append(out, "\" {\n  label=\"");
  append_escaped(out, program->file);
  g_string_append(out, ": ");
  append_escaped(out, kernel->name);
  g_string_append(out, "\";\n  node [shape=box, fontname=\"monospace\"];\n  exit [shape=oval];\n");
  for (uint32_t b = 0; b < flow.nblocks; b++)
    append_block(out, kernel, &flow, b);
  for (uint32_t b = 0; b < flow.nblocks; b++)
    append_edges(out, kernel, &flow, b);
  g_string_append(out, "}\n");
  flow_clear(&flow);
  return g_string_free(out, FALSE);
}
