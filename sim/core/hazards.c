#include "sim/core/hazards.h"

#include <string.h>

#include "sim/core/tell.h"

/* Who writes a row. */
struct OpenRow {
  uint64_t ready;  /* open before; REG_PENDING: until the reply */
  uint64_t number; /* of the access */
  uint32_t pc, lanes;
};

void hazards_start(const Gpu *gpu, const Kernel *kernel, Warp *warp) {
  uint32_t rows = kernel->control && PROBE_WANTED(gpu, hazard) ? kernel->nregs + SINK_ROWS : 0;
  if (rows > warp->open_room) {
    warp->open = g_renew(OpenRow, warp->open, rows);
    warp->open_room = rows;
  }
  warp->open_rows = rows;
  if (rows)
    memset(warp->open, 0, rows * sizeof *warp->open);
}

void hazards_clear(Warp *warp) { g_clear_pointer(&warp->open, g_free); }

void hazards_open(const Issue *issue, const Decoded *decoded, uint64_t ready) {
  const Kernel *kernel = issue->block->launch->kernel;
  Warp *warp = issue->warp;
  uint32_t named = kernel->nregs - kernel->inner_rows;
  if (!warp->open_rows)
    return;
  for (unsigned i = 0; i < decoded->writes; i++)
    if (decoded->write[i] < named)
      warp->open[decoded->write[i]] = (OpenRow){
          .ready = ready, .number = issue->flight ? issue->flight->number : 0, .pc = issue->pc, .lanes = issue->mask};
  if (decoded->writes && ready != REG_PENDING)
    warp->open_until = MAX(warp->open_until, ready);
}

void hazards_close(Warp *warp, const Flight *flight) {
  for (unsigned i = 0; i < flight->decoded->writes && warp->open_rows; i++) {
    OpenRow *row = &warp->open[flight->decoded->write[i]];
    if (row->ready == REG_PENDING && row->number == flight->number)
      row->ready = 0;
  }
}

void hazards_check(const Issue *issue, const Decoded *decoded) {
  const Warp *warp = issue->warp;
  for (unsigned i = 0; i < decoded->hazards && warp->open_rows; i++) {
    const OpenRow *row = &warp->open[decoded->hazard[i]];
    uint32_t lanes = issue->mask & row->lanes;
    if (row->ready <= issue->now || !lanes)
      continue;
    ProbePoint point = issue_point(issue, lanes);
    tell_hazard(&point, decoded->hazard[i], row->pc);
  }
}
