/* loader.h - what the files that load a scenario share; private to sim/scenario.
 *
 * scenario_load.c opens files; yaml.c reads the YAML form; bare.c a bare program's directives and the command line;
 * loader.c single values and buffers, limits.c what params may be, init.c and init_graph.c what buffers hold, args.c
 * arguments, layout.c structs for both; expect.c expectations.
 * Values are given as YamlNodes, also by bare.c, so that both forms have one set of checks and messages. */
#ifndef LOCKSTEP_SCENARIO_LOADER_H
#define LOCKSTEP_SCENARIO_LOADER_H

#include "sim/machine/yaml_tree.h"
#include "sim/scenario/expr.h"
#include "sim/scenario/scenario.h"

/* Caps that keep hostile input cheap. */
enum {
  SCENARIO_FILE_MAX = 16 << 20,  /* bytes of a scenario or program text */
  SCENARIO_WORDS_MAX = 1 << 25,  /* words of all buffers together: 128 MiB */
  SCENARIO_ARG_BYTES_MAX = 4096, /* argument bytes of one launch (c[0x0][0x20] and on, sm_20) */
};

typedef struct Loader {
  Scenario *scenario;
  const ScenarioOptions *options; /* may be NULL */
  Diag *diag;
  const char *file; /* names the place of what is being read; changes while the command line is read */
  char *folder;     /* the scenario's folder, as displayed and as opened; "" for the current one */
  char *real_folder;
  GPtrArray *kernels;     /* const char *, then NULL: what launches of a YAML scenario name; NULL: none */
  GPtrArray *param_names; /* char *, the last is NULL */
  GArray *param_values;   /* int64_t */
  uint64_t words;         /* of all buffers so far */
  GChecksum *digest;      /* of the files that were read */
} Loader;

/* A scalar node that is part of `text` on the stack: valid while `text` is. */
YamlNode loader_scalar(char *text, unsigned line, unsigned column);
/* Reads a value of the command line: `read` gets it as a scalar, and its errors become errors of usage that start
 * with `option`. */
bool loader_option(Loader *loader, const char *option, const char *text,
                   bool (*read)(Loader *loader, const YamlNode *node, gpointer data), gpointer data);
/* An error at a node. Returns false. */
bool loader_error(Loader *loader, const YamlNode *node, const char *format, ...) G_GNUC_PRINTF(3, 4);
/* Checks the type of a node: "WHAT: expected a list, found ...". */
bool loader_expect(Loader *loader, const YamlNode *node, YamlNodeType type, const char *what);
/* Reports each key of a mapping that isn't in `allowed`. */
bool loader_check_keys(Loader *loader, const YamlNode *mapping, const char *const *allowed, const char *what);

/* `true` or `false`. */
bool loader_bool(Loader *loader, const YamlNode *node, const char *what, bool *value);
/* The value of a parameter by name; an ExprLookup whose `user` is the Loader. */
bool loader_param(const char *name, int64_t *value, gpointer loader);
/* A param that isn't the user's: the number of a launch (`index`). The last one that was pushed gets a value, or
 * goes. */
void loader_push_param(Loader *loader, const char *name);
void loader_set_last_param(Loader *loader, int64_t value);
void loader_pop_param(Loader *loader);
/* Evaluates a scalar; `what` names it in messages. False after an error. */
bool loader_integer(Loader *loader, const YamlNode *node, const char *what, int64_t *value);
/* The same, and it must lie in lowest..highest. */
bool loader_range(Loader *loader, const YamlNode *node, const char *what, int64_t lowest, int64_t highest,
                  int64_t *value);
/* True of a number that only a float can hold: `0.5`, `1e6`. */
bool loader_is_fraction(const YamlNode *node);
/* A floating-point number, or an expression. */
bool loader_real(Loader *loader, const YamlNode *node, const char *what, double *value);
/* A value of one 32-bit word, signed or unsigned. */
bool loader_word(Loader *loader, const YamlNode *node, const char *what, int64_t *value);
/* The size of the device heap (it reads an option, too). */
bool loader_read_heap(Loader *loader, const YamlNode *node, gpointer unused);
/* `name`, grid, block or cluster: an expression or a list of one to three. */
bool loader_dims(Loader *loader, const YamlNode *node, const char *name, uint32_t dims[3]);
/* Reads a file of little-endian words, relative to the scenario. NULL after errors; free with g_free. */
uint32_t *loader_word_file(Loader *loader, const YamlNode *node, uint64_t *words);

/* Adds a buffer of zeros; false after errors, with a buffer of that name all the same if only its size is wrong. */
bool loader_add_buffer(Loader *loader, const YamlNode *name, const YamlNode *words);
/* What the buffer of that name holds at first (init.c); call it when all buffers and the program are there. A buffer
 * that couldn't be added is passed over. */
bool loader_init_buffer(Loader *loader, const YamlNode *name, const YamlNode *init);
/* `init: {graph: ...}` (init_graph.c): a part of a seeded graph. */
bool loader_init_graph(Loader *loader, ScenarioBuffer *buffer, const YamlNode *node);
/* An error: the scalar names neither a param nor a buffer. Returns false. */
bool loader_unknown_name(Loader *loader, const YamlNode *node);
/* Index of a buffer by name, or -1. */
int loader_find_buffer(const Loader *loader, const char *name);
/* True of a scalar that is a name and no param's: it must be a buffer's. */
bool loader_is_buffer(const Loader *loader, const YamlNode *node);
/* The same as loader_find_buffer(); an unknown one is an error that names the nearest. */
int loader_known_buffer(Loader *loader, const YamlNode *name);
/* Adds a buffer for each module variable of the program; call it when all others are there. */
bool loader_add_variables(Loader *loader);
/* Appends an argument to a launch: of PTX it takes the type of its parameter, of SASS it is one or more words. */
bool loader_add_arg(Loader *loader, ScenarioLaunch *launch, const YamlNode *node);
/* After the last argument: their total size, and whether the kernel reads words or has parameters that no argument
 * gives. A missing argument is an error of usage if `usage`. */
bool loader_check_args(Loader *loader, const ScenarioLaunch *launch, bool usage);
/* The kernel's own limits on the block (.maxntid, .reqntid). */
bool loader_check_block(Loader *loader, const ScenarioLaunch *launch);
/* Index of a kernel by name, after an error -1. */
int loader_find_kernel(Loader *loader, const YamlNode *name);
ScenarioLaunch *loader_launch_new(const char *file, unsigned line, unsigned column);
ScenarioLaunch *loader_launch_copy(const ScenarioLaunch *launch);

/* The `limits` of a scenario, if there are any (limits.c); call it when all params are there. */
bool loader_read_limits(Loader *loader, const YamlNode *root);

/* The `host` of a scenario, if there is one (host_steps.c). */
bool loader_read_host(Loader *loader, const YamlNode *root);

/* Expectations (expect.c). */
bool loader_add_verdict(Loader *loader, Expectation *expect, const YamlNode *name);
bool loader_add_finding(Loader *loader, Expectation *expect, const YamlNode *name);
bool loader_add_expected_buffer(Loader *loader, Expectation *expect, const YamlNode *name, const YamlNode *value);

/* Fills loader->scenario from YAML (`root`), or from its program's directives and the command line. */
bool loader_read_yaml(Loader *loader, const YamlTree *tree);
bool loader_read_bare(Loader *loader);
/* Reads and parses the program that `node` names. */
bool loader_read_program(Loader *loader, const YamlNode *node);

#endif
