#include "sim/detect/race/ways.h"

bool *ways_reach(const Kernel *kernel, const Cfg *cfg, uint32_t start, bool behind, uint32_t past) {
  bool *reached = g_new0(bool, kernel->ninsts);
  g_autoptr(GArray) next = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  g_array_append_val(next, start);
  for (guint i = 0; i < next->len; i++) {
    uint32_t pc = g_array_index(next, uint32_t, i);
    const CfgBlock *block = cfg_block(cfg, cfg->block_of[pc]);
    bool open = true;
    for (pc += behind && i == 0; open && pc <= block->last; pc++) {
      open = !reached[pc] && pc != past;
      reached[pc] = true;
    }
    for (guint k = 0; open && k < block->successors->len; k++) {
      uint32_t first = cfg_block(cfg, g_array_index(block->successors, uint32_t, k))->first;
      g_array_append_val(next, first);
    }
  }
  return reached;
}

bool ways_lead(const Kernel *kernel, const Cfg *cfg, uint32_t start, uint32_t past, uint32_t to) {
  g_autofree bool *reached = ways_reach(kernel, cfg, start, false, past);
  return reached[to];
}
