/* unit.h - the runner of a unit test: one Check program for each module, TAP on standard output for automake.
 * Each test runs in a child process, so that a test can expect LS_REQUIRE to abort. In a loop test put the index into
 * the message: TAP doesn't show it. No message may contain "# TODO" or "# SKIP": automake would believe it. */
#ifndef LOCKSTEP_TESTS_UNIT_H
#define LOCKSTEP_TESTS_UNIT_H

#include <check.h>

/* Runs a suite and frees it. Returns the exit status for main(): 0 if every test passed, else 1. */
int unit_run(Suite *suite);

/* As ck_assert_msg, but free of cost while it holds (Check writes a record for each of its own): for inner loops. */
#define UNIT_ASSERT(condition, ...) \
  do {                              \
    if (!(condition))               \
      ck_abort_msg(__VA_ARGS__);    \
  } while (0)

/* Adds a test that must violate the precondition with the id that it names by unit_expect_precondition(). */
void unit_add_precondition_test(TCase *tcase, const TTest *test);
/* From here on, a violation of LS_REQUIRE(id, ...) passes the test, and one with another id fails it. */
void unit_expect_precondition(const char *id);
/* Processor time of this process so far: other work on the machine doesn't count. */
double unit_cpu_seconds(void);
/* How many times as long as usual a test may take: above 1 under valgrind. */
double unit_patience(void);

#endif
