#include "tests/unit/unit.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A status that nothing else exits with. */
enum { PRECONDITION_STATUS = 87 };

int unit_run(Suite *suite) {
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? 1 : 0;
}

void unit_add_precondition_test(TCase *tcase, const TTest *test) {
  tcase_add_exit_test(tcase, test, PRECONDITION_STATUS);
}

static void leave(const char *domain, GLogLevelFlags level, const char *message, gpointer user) {
  g_autofree char *wanted = g_strdup_printf("precondition %s violated", (const char *)user);
  if (strstr(message, wanted))
    _exit(PRECONDITION_STATUS);
  fprintf(stderr, "expected \"%s\", got \"%s\"\n", wanted, message);
}

void unit_expect_precondition(const char *id) { g_log_set_default_handler(leave, (gpointer)id); }

double unit_cpu_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

double unit_patience(void) {
  const char *factor = g_getenv("UNIT_PATIENCE");
  return factor ? g_ascii_strtod(factor, NULL) : 1;
}
