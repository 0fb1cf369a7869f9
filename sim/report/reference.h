/* reference.h - the reference pages that are generated from the tables: doc/isa.md, doc/ptx-forms.md,
 * doc/counters.md, doc/findings.md. */
#ifndef LOCKSTEP_REPORT_REFERENCE_H
#define LOCKSTEP_REPORT_REFERENCE_H

/* Markdown; free with g_free. */
char *reference_isa(void);
char *reference_ptx(void);
char *reference_counters(void);
char *reference_findings(void);

#endif
