#include "sim/report/explain.h"

enum { LINE_NUMBER_WIDTH = 6 };

static void append_source(unsigned line, const char *source, Canvas *canvas) {
  if (source && *source)
    paint_plain(canvas, "%*u | %s\n", LINE_NUMBER_WIDTH, line, source);
}

static void append_headline(const Finding *finding, Canvas *canvas) {
  Severity severity = finding_severity(finding->id);
  if (finding->file && finding->line)
    paint_append(canvas, PAINT_BOLD, "%s:%u: ", finding->file, finding->line);
  else if (finding->file)
    paint_append(canvas, PAINT_BOLD, "%s: ", finding->file);
  paint_append(canvas, paint_of_severity(severity), "%s:", severity_name(severity));
  paint_append(canvas, PAINT_BOLD, " %s: %s", finding_name(finding->id), finding->message);
  if (finding->count > 1)
    paint_plain(canvas, " (%" G_GUINT64_FORMAT " times)", finding->count);
  paint_plain(canvas, "\n");
}

/* "block 0, warp 1, lanes 0-3, cycle 812" */
static void append_place(const Finding *finding, Canvas *canvas) {
  if (finding->block < 0 && finding->cycle == 0)
    return; /* it concerns the program as a whole */
  paint_plain(canvas, "  where: ");
  if (finding->block >= 0)
    paint_plain(canvas, "block %" G_GINT64_FORMAT ", ", finding->block);
  if (finding->warp >= 0)
    paint_plain(canvas, "warp %" G_GINT64_FORMAT ", ", finding->warp);
  if (finding->lanes) {
    g_autofree char *lanes = lanes_text(finding->lanes);
    paint_plain(canvas, "%s, ", lanes);
  }
  paint_plain(canvas, "cycle %" G_GUINT64_FORMAT "\n", finding->cycle);
  if (finding->space)
    paint_plain(canvas, "  what: %s address 0x%" G_GINT64_MODIFIER "x", finding->space, finding->address);
  if (finding->space && finding->lock_bit >= 0)
    paint_plain(canvas, ", lock bit %" G_GINT64_FORMAT, finding->lock_bit);
  else if (finding->lock_bit >= 0)
    paint_plain(canvas, "  what: lock bit %" G_GINT64_FORMAT, finding->lock_bit);
  if (finding->space || finding->lock_bit >= 0)
    paint_plain(canvas, "\n");
}

static void append_evidence(const Evidence *evidence, const Finding *finding, Canvas *canvas) {
  if (evidence->file && evidence->line)
    paint_plain(canvas, "  %s:%u: %s\n", evidence->file, evidence->line, evidence->text);
  else if (evidence->line)
    paint_plain(canvas, "  line %u: %s\n", evidence->line, evidence->text);
  else
    paint_plain(canvas, "  %s\n", evidence->text);
  if (evidence->line && (evidence->file || evidence->line != finding->line))
    append_source(evidence->line, evidence->source, canvas);
  if (evidence->callers)
    paint_plain(canvas, "    inlined in %s\n", evidence->callers);
}

void explain_finding(const Finding *finding, Canvas *canvas) {
  append_headline(finding, canvas);
  append_source(finding->line, finding->source, canvas);
  if (finding->inlined)
    paint_plain(canvas, "  inlined from %s\n", finding->inlined);
  if (finding->callers)
    paint_plain(canvas, "  inlined in %s\n", finding->callers);
  append_place(finding, canvas);
  if (finding->holder)
    paint_plain(canvas, "  %s: %s\n", finding->lock_bit >= 0 ? "held by" : "last changed by", finding->holder);
  for (guint i = 0; finding->evidence && i < finding->evidence->len; i++)
    append_evidence(g_ptr_array_index(finding->evidence, i), finding, canvas);
  if (finding->repair) {
    paint_plain(canvas, "  ");
    paint_append(canvas, PAINT_GREEN, "repair:");
    paint_plain(canvas, " %s\n", finding->repair);
  }
}
