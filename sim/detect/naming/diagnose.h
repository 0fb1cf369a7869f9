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
/* "boxes[1] (global 0x10004)"; `block`: that of the lane that waits, or NULL. Free with g_free. */
char *diagnose_word(const WaitGraph *graph, WordKey key, const Block *block);
/* What mends a wait for a count. */
extern const char diagnose_repair_count[];
/* Who changed a word last. */
WordChange diagnose_word_change(const WaitGraph *graph, WordKey key);
/* What the word holds now. */
uint32_t diagnose_word_value(const WaitGraph *graph, WordKey key);
/* The instruction on queues that waits for the word of one; NULL: it is another wait. */
const Inst *diagnose_queue_wait(const WaitGraph *graph, const Edge *edge);
/* The edge is a lane's wait for its turn. */
bool diagnose_is_turn(const WaitGraph *graph, const Edge *edge);
/* What would mend the wait; `join`: the cycle's wait for lanes of the same warp, or NULL. NULL: nothing is known. */
const char *diagnose_repair(const WaitGraph *graph, FindingId id, const Edge *edge, const Edge *join);
/* "the host, step 1 (poll flag[1]), polls flag[1] until it isn't 0, and sees 0". Free with g_free. */
char *diagnose_host_text(const WaitGraph *graph);
/* A finding about the wait `edge`. `itself`: the lane waits for what it holds. `join`: the cycle's wait for lanes of the same
 * warp, or NULL. */
Finding *diagnose_finding(const WaitGraph *graph, FindingId id, const Edge *edge, bool itself, const Edge *join);

/* ---- diagnose_mbarrier.c: a word that is a barrier in shared memory; what it lacks joins the finding ---- */

/* `inst` arrives there. False if it does something else. */
bool diagnose_mbarrier_arrives(const WaitGraph *graph, Finding *finding, const Inst *inst, WordKey key);
/* Somebody looks at its phase by the wait. */
void diagnose_mbarrier_look(const WaitGraph *graph, Finding *finding, const Edge *wait);
/* Who would arrive there is in a circle. */
void diagnose_mbarrier_circle(const WaitGraph *graph, Finding *finding, const Edge *act);

/* Findings for waits for copies in an L1. True if there are any. */
bool diagnose_copies(const WaitGraph *graph, GPtrArray *findings);
/* Findings for waits that are in no cycle, and the verdict. */
Verdict diagnose_waits(const WaitGraph *graph, GPtrArray *findings);

#endif
