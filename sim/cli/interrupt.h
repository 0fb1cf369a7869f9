/* interrupt.h - SIGINT and SIGTERM end a command in good order: runs stop, and what was done so far is reported. The
 * one state of the process that is global, since signals are. */
#ifndef LOCKSTEP_CLI_INTERRUPT_H
#define LOCKSTEP_CLI_INTERRUPT_H

#include <signal.h>

/* From here on the first signal asks runs to stop (Stop.signal), and the process ends by itself soon after. Another
 * one, a second or more after it, or INTERRUPT_GRACE_SECONDS end it at once. */
void interrupt_install(void);
enum { INTERRUPT_GRACE_SECONDS = 10 };

/* What a Stop listens to. */
const volatile sig_atomic_t *interrupt_signal(void);
/* "SIGINT" or "SIGTERM", or NULL if none came. */
const char *interrupt_name(void);
/* 128 + the signal if one came, else `status`. */
int interrupt_status(int status);

#endif
