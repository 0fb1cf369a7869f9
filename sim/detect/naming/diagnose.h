/* diagnose.h - names a proved deadlock by its wait cycle and explains it (SEMANTICS, "Verdicts", precedence). */
#ifndef LOCKSTEP_DETECT_NAMING_DIAGNOSE_H
#define LOCKSTEP_DETECT_NAMING_DIAGNOSE_H

#include "sim/detect/naming/waitgraph.h"

/* Appends a finding for each wait cycle (the verdict's own first), or for the waits that nobody can end. Returns the
 * verdict. */
Verdict diagnose(const WaitGraph *graph, GPtrArray *findings);

/* ---- shared by the files that explain a deadlock: diagnose.c, cycles; diagnose_waits.c, waits without one ---- */
enum { FINDINGS_SHOWN_MAX = 8 };

bool diagnose_is_compiled(const WarpView *view);
const WarpView *diagnose_view(const WaitGraph *graph, const Node *node);
/* The lanes of the same warp that wait for the same thing; their names, free with g_free; "wait" or "waits". */
uint32_t diagnose_companions(const WaitGraph *graph, const Node *lane, guint thing);
char *diagnose_lanes(const WaitGraph *graph, const Node *node, uint32_t lanes);
const char *diagnose_verb(uint32_t lanes);
/* Who changed a word last. */
WordChange diagnose_word_change(const WaitGraph *graph, WordKey key);
/* "the host, step 1 (poll flag[1]), polls flag[1] until it isn't 0, and sees 0". Free with g_free. */
char *diagnose_host_text(const WaitGraph *graph);
/* A finding about the wait `edge`. `itself`: the lane waits for what it holds. `join`: the cycle's wait for lanes of the same
 * warp, or NULL. */
Finding *diagnose_finding(const WaitGraph *graph, FindingId id, const Edge *edge, bool itself, const Edge *join);

/* Findings for waits for copies in an L1. True if there are any. */
bool diagnose_copies(const WaitGraph *graph, GPtrArray *findings);
/* Findings for waits that are in no cycle, and the verdict. */
Verdict diagnose_waits(const WaitGraph *graph, GPtrArray *findings);

#endif
