#include <string.h>

#include "sim/cli/command.h"
#include "sim/cli/session.h"
#include "sim/report/reference.h"

static const CommandHelp help = {
    .name = "doc",
    .synopsis = "isa | ptx-forms | machine | counters | findings",
    .about = "Prints a reference page as Markdown: instructions, forms of PTX, parameters of machines, counters,\n"
             "or verdicts and findings. They are made from the tables that the program itself works by.",
    .groups = 0,
    .example = "  lockstep doc counters\n",
};

static const struct {
  const char *name;
  char *(*make)(void);
} pages[] = {
    {"isa", reference_isa},           {"ptx-forms", reference_ptx},     {"machine", machine_doc_markdown},
    {"counters", reference_counters}, {"findings", reference_findings},
};

static int print_page(const Options *options, Diag *diag) {
  const char *names[G_N_ELEMENTS(pages) + 1] = {NULL};
  const char *wanted = options->rest[0] ? options->rest[0] : "";
  for (guint i = 0; i < G_N_ELEMENTS(pages); i++) {
    names[i] = pages[i].name;
    if (strcmp(wanted, pages[i].name) == 0 && !options->rest[1]) {
      g_autofree char *text = pages[i].make();
      return session_write(text);
    }
  }
  if (options->rest[0] && options->rest[1])
    diag_usage(diag, "one page, please");
  else
    diag_usage(diag, *wanted ? "no page `%s`" : "no page named%s", wanted);
  diag_hint_nearest(diag, wanted, names);
  diag_hint(diag, "pages are isa, ptx-forms, machine, counters and findings");
  return STATUS_USAGE;
}

int cmd_doc(int argc, char **argv) { return session_command(&help, argc, argv, print_page); }
