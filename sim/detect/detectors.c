#include "sim/detect/detectors.h"

#include "sim/detect/misuse/misuse.h"
#include "sim/detect/race/race.h"

typedef enum { DETECT_ALWAYS, DETECT_CHECK } DetectorRuns;

typedef struct Detector {
  DetectorRuns runs;
  gpointer (*attach)(Gpu *gpu, GPtrArray *findings, const RepairTrial *trial);
  bool (*conclude)(gpointer self);
  void (*detach)(gpointer self);
} Detector;

#define DETECTOR(id, runs, type, attach, conclude, detach, doc)                          \
  static gpointer attach_##id(Gpu *gpu, GPtrArray *findings, const RepairTrial *trial) { \
    (void)trial;                                                                         \
    return attach;                                                                       \
  }                                                                                      \
  static bool conclude_##id(gpointer data) {                                             \
    type *self = data;                                                                   \
    (void)self;                                                                          \
    return conclude;                                                                     \
  }                                                                                      \
  static void detach_##id(gpointer data) { detach((type *)data); }
#include "sim/detect/detectors.def"

static const Detector table[] = {
#define DETECTOR(id, runs, type, attach, conclude, detach, doc) \
  {DETECT_##runs, attach_##id, conclude_##id, detach_##id},
#include "sim/detect/detectors.def"
};

struct Detectors {
  gpointer self[G_N_ELEMENTS(table)]; /* NULL: not attached */
};

Detectors *detectors_attach(Gpu *gpu, GPtrArray *findings, bool check, const RepairTrial *trial) {
  Detectors *detectors = g_new0(Detectors, 1);
  for (guint i = 0; i < G_N_ELEMENTS(table); i++)
    if (check || table[i].runs == DETECT_ALWAYS)
      detectors->self[i] = table[i].attach(gpu, findings, trial);
  return detectors;
}

bool detectors_conclude(Detectors *detectors) {
  bool stands = true;
  for (guint i = 0; i < G_N_ELEMENTS(table); i++)
    if (detectors->self[i])
      stands &= table[i].conclude(detectors->self[i]);
  return stands;
}

void detectors_free(Detectors *detectors) {
  for (guint i = 0; detectors && i < G_N_ELEMENTS(table); i++)
    if (detectors->self[i])
      table[i].detach(detectors->self[i]);
  g_free(detectors);
}
