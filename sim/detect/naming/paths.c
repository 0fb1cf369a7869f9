#include "sim/detect/naming/paths.h"

#include "isa/flow/cfg.h"

static void add_predecessors(const CfgBlock *block, GArray *blocks, bool *seen) {
  for (guint i = 0; i < block->predecessors->len; i++) {
    uint32_t from = g_array_index(block->predecessors, uint32_t, i);
    if (!seen[from])
      g_array_append_val(blocks, from);
    seen[from] = true;
  }
}

bool paths_lead(const Kernel *kernel, PathsMark mark, const void *user, uint32_t pc) {
  g_autoptr(Cfg) cfg = cfg_new(kernel);
  g_autofree bool *seen = g_new0(bool, cfg->blocks->len);
  g_autoptr(GArray) blocks = g_array_new(FALSE, FALSE, sizeof(uint32_t)); /* whose instructions may all be before */
  const CfgBlock *own = cfg_block(cfg, cfg->block_of[pc]);
  bool found = false;
  for (uint32_t at = own->first; at < pc; at++)
    found |= mark(&kernel->insts[at], user);
  add_predecessors(own, blocks, seen);
  for (guint i = 0; i < blocks->len && !found; i++) {
    const CfgBlock *block = cfg_block(cfg, g_array_index(blocks, uint32_t, i));
    for (uint32_t at = block->first; at <= block->last; at++)
      found |= mark(&kernel->insts[at], user);
    add_predecessors(block, blocks, seen);
  }
  return found;
}
