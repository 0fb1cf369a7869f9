#include "sim/study/consequences.h"

static bool names_place(const Finding *finding, const char *file, unsigned line) {
  bool found = finding->line == line && g_strcmp0(finding->file, file) == 0;
  for (guint i = 0; i < finding->evidence->len && !found; i++) {
    const Evidence *evidence = g_ptr_array_index(finding->evidence, i);
    found = evidence->line == line && g_strcmp0(evidence->file ? evidence->file : finding->file, file) == 0;
  }
  return found;
}

/* Something else is told that may be why the run ended otherwise. */
static bool is_explained(const GPtrArray *all) {
  for (guint i = 0; i < all->len; i++) {
    const Finding *other = g_ptr_array_index(all, i);
    if (other->id != FINDING_UNEXPECTED_RESULT && finding_severity(other->id) != SEVERITY_NOTE)
      return true;
  }
  return false;
}

bool consequences_has(const GPtrArray *all, const Finding *finding) {
  if (finding->id == FINDING_UNEXPECTED_RESULT)
    return is_explained(all);
  for (guint i = 0; i < all->len && finding->id == FINDING_LOST_UPDATE; i++) {
    const Finding *other = g_ptr_array_index(all, i);
    if ((other->id == FINDING_UNORDERED_ACCESS || other->id == FINDING_DATA_RACE) &&
        names_place(other, finding->file, finding->line))
      return true;
  }
  return false;
}

Finding *consequences_same_fences(const GPtrArray *all, guint index) {
  const Finding *finding = g_ptr_array_index(all, index);
  for (guint i = 0; i < index && finding->mended_by; i++) {
    Finding *other = g_ptr_array_index(all, i);
    if (other->id != finding->id || g_strcmp0(other->mended_by, finding->mended_by) != 0)
      continue;
    Evidence *evidence =
        finding_add_evidence(other, finding->line, g_strdup_printf("what is mended likewise: %s", finding->message));
    evidence->file = g_strdup(finding->file);
    return other;
  }
  return NULL;
}
