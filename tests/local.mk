# Tests: `make check` runs unit tests and scripts in parallel, each with TAP output. Two of the scripts run the corpus and
# each scenario of traces/; `make check TESTS=traces/x/y.yaml` runs one of those.

TEST_EXTENSIONS = .sh .yaml .sass
# Where x.yaml and its program x.sass stand side by side, x.yaml is the test: make takes the first.
SUFFIXES = .yaml
TAP_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
LOG_DRIVER = $(TAP_DRIVER)
SH_LOG_DRIVER = $(TAP_DRIVER)
YAML_LOG_DRIVER = $(TAP_DRIVER)
SASS_LOG_DRIVER = $(TAP_DRIVER)
SH_LOG_COMPILER = $(SHELL)
YAML_LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/script/run_scenario.sh
SASS_LOG_COMPILER = $(YAML_LOG_COMPILER)
# Time limits of unit tests are for a machine that has nothing else to do. The heap has large pages where the host has
# them: one takes it as long as 13 small ones, on a virtual machine whose host hears of the first use of each page.
AM_TESTS_ENVIRONMENT = \
  LOCKSTEP='$(abs_top_builddir)/lockstep$(EXEEXT)'; export LOCKSTEP; \
  SRCDIR='$(abs_top_srcdir)'; export SRCDIR; \
  BUILDDIR='$(abs_top_builddir)'; export BUILDDIR; \
  CK_TIMEOUT_MULTIPLIER=10; export CK_TIMEOUT_MULTIPLIER; \
  GLIBC_TUNABLES=glibc.malloc.hugetlb=1; export GLIBC_TUNABLES;

# Unit tests: one Check program tests/unit/test_NAME.c for each module; see tests/unit/unit.h.
UNIT_TESTS = \
  tests/property/test_closure_programs \
  tests/property/test_exploration \
  tests/property/test_litmus \
  tests/property/test_mc_hazards \
  tests/property/test_naming \
  tests/property/test_needed_bits \
  tests/property/test_programs \
  tests/property/test_properties \
  tests/property/test_windows \
  tests/property/test_registers \
  tests/property/test_races \
  tests/property/test_scopes \
  tests/unit/test_allocate \
  tests/unit/test_backing \
  tests/unit/test_barrier \
  tests/unit/test_bulk \
  tests/unit/test_cluster \
  tests/unit/test_cfg \
  tests/unit/test_check \
  tests/unit/test_closure \
  tests/unit/test_converge \
  tests/unit/test_correlation \
  tests/unit/test_counter \
  tests/unit/test_csv_table \
  tests/unit/test_decides \
  tests/unit/test_details \
  tests/unit/test_diag \
  tests/unit/test_disasm \
  tests/unit/test_dispatch \
  tests/unit/test_draw \
  tests/unit/test_dump \
  tests/unit/test_event \
  tests/unit/test_exec \
  tests/unit/test_exec_rows \
  tests/unit/test_unknown_bits \
  tests/unit/test_explore \
  tests/unit/test_explore_few \
  tests/unit/test_explore_flight \
  tests/unit/test_proof_page \
  tests/unit/test_livelock \
  tests/unit/test_repetition \
  tests/unit/test_expr \
  tests/unit/test_graph \
  tests/unit/test_guesses \
  tests/unit/test_fenced \
  tests/unit/test_fences \
  tests/unit/test_finding \
  tests/unit/test_heap \
  tests/unit/test_host \
  tests/unit/test_host_steps \
  tests/unit/test_kernels \
  tests/unit/test_l1 \
  tests/unit/test_l1_sets \
  tests/unit/test_lane_groups \
  tests/unit/test_sync_records \
  tests/unit/test_hold_once \
  tests/unit/test_lane_verdicts \
  tests/unit/test_lanes \
  tests/unit/test_leaders \
  tests/unit/test_layout \
  tests/unit/test_lock_queue \
  tests/unit/test_lock_unit \
  tests/unit/test_lower_cost \
  tests/unit/test_machine \
  tests/unit/test_mc_cubin \
  tests/unit/test_mc_issue \
  tests/unit/test_mc_kernels \
  tests/unit/test_mc_listing \
  tests/unit/test_mem_scripts \
  tests/unit/test_memory \
  tests/unit/test_memory_page \
  tests/unit/test_memsys \
  tests/unit/test_pace \
  tests/unit/test_pages \
  tests/unit/test_polling \
  tests/unit/test_print \
  tests/unit/test_proof_cost \
  tests/unit/test_ptx_forms \
  tests/unit/test_ptx_lower \
  tests/unit/test_ptx_parse \
  tests/unit/test_ptx_places \
  tests/unit/test_ptx_refuse \
  tests/unit/test_ptx_scenario \
  tests/unit/test_race \
  tests/unit/test_race_flight \
  tests/unit/test_race_late \
  tests/unit/test_race_ptx \
  tests/unit/test_report \
  tests/unit/test_rng \
  tests/unit/test_sass \
  tests/unit/test_sass_errors \
  tests/unit/test_scanner \
  tests/unit/test_schedule \
  tests/unit/test_scenario \
  tests/unit/test_scheduler \
  tests/unit/test_settle \
  tests/unit/test_warp_digest \
  tests/unit/test_stillness \
  tests/unit/test_shadow \
  tests/unit/test_shared \
  tests/unit/test_simt \
  tests/unit/test_sink \
  tests/unit/test_orders \
  tests/unit/test_slice_hash \
  tests/unit/test_slots \
  tests/unit/test_spin_history \
  tests/unit/test_swap_loop \
  tests/unit/test_sweep \
  tests/unit/test_unfenced \
  tests/unit/test_uniform \
  tests/unit/test_timeline \
  tests/unit/test_timeline_memory \
  tests/unit/test_units \
  tests/unit/test_unroll \
  tests/unit/test_validates \
  tests/unit/test_wide_loads \
  tests/unit/test_wheel \
  tests/unit/test_yaml_tree
tests_unit_libunit_a_SOURCES = \
  tests/property/litmus.h tests/property/litmus_model.c tests/property/litmus_ptx.c tests/property/litmus_run.c \
  tests/property/litmus_table.c tests/property/litmus_table.h \
  tests/property/random_ptx.c tests/property/random_ptx.h \
  tests/unit/group_lab.c tests/unit/group_lab.h \
  tests/unit/lab.c tests/unit/lab.h \
  tests/unit/mem_script.c tests/unit/mem_script.h \
  tests/unit/oracle.c tests/unit/oracle.h \
  tests/unit/mc_lab.c tests/unit/mc_lab.h \
  tests/unit/mc_vectors.c tests/unit/mc_vectors.h \
  tests/unit/ptx_lab.c tests/unit/ptx_lab.h \
  tests/unit/race_memory.c tests/unit/race_memory.h \
  tests/unit/same.c tests/unit/same.h \
  tests/unit/unit.c tests/unit/unit.h \
  tests/unit/virtual_lab.c tests/unit/virtual_lab.h
tests_unit_test_exec_SOURCES = tests/unit/test_exec.c tests/unit/op_cases.def
tests_unit_test_exec_rows_SOURCES = tests/unit/test_exec_rows.c tests/unit/row_cases.def
tests_unit_test_unknown_bits_SOURCES = tests/unit/test_unknown_bits.c
# A test program runs its cases once, and mostly in the library: without optimisation it takes half the time to compile.
$(patsubst %$(EXEEXT),%.$(OBJEXT),$(UNIT_TESTS)): CFLAGS := $(patsubst -O3,-O0,$(CFLAGS))
# Many programs are linked, each once.
$(check_PROGRAMS): AM_LDFLAGS += $(TEST_LDFLAGS)
LDADD = tests/unit/libunit.a liblockstep.a $(CHECK_LIBS) $(LIBS_ALL)
if HAVE_CHECK
check_LIBRARIES += tests/unit/libunit.a
check_PROGRAMS += $(UNIT_TESTS)
endif

# Fuzz targets. Without clang's libFuzzer a replay main runs them over tests/fuzz/corpus/, which `make check` always does.
FUZZ_TARGETS = \
  tests/fuzz/fuzz_expr \
  tests/fuzz/fuzz_machine \
  tests/fuzz/fuzz_mc_cubin \
  tests/fuzz/fuzz_mc_listing \
  tests/fuzz/fuzz_plan \
  tests/fuzz/fuzz_ptx \
  tests/fuzz/fuzz_ptx_run \
  tests/fuzz/fuzz_run \
  tests/fuzz/fuzz_sass \
  tests/fuzz/fuzz_scenario
check_PROGRAMS += $(FUZZ_TARGETS)
if FUZZING
FUZZ_MAIN = tests/fuzz/fuzz.h
FUZZ_FLAGS = -fsanitize=fuzzer
else
FUZZ_MAIN = tests/fuzz/fuzz.h tests/fuzz/replay.c
FUZZ_FLAGS =
endif
FUZZ_FILE = tests/fuzz/fuzz_file.c tests/fuzz/fuzz_file.h
FUZZ_LIBS = liblockstep.a $(LIBS_ALL)
tests_fuzz_fuzz_expr_SOURCES = tests/fuzz/fuzz_expr.c $(FUZZ_MAIN)
tests_fuzz_fuzz_expr_LDFLAGS = $(FUZZ_FLAGS)
tests_fuzz_fuzz_expr_LDADD = $(FUZZ_LIBS)
tests_fuzz_fuzz_machine_SOURCES = tests/fuzz/fuzz_machine.c $(FUZZ_FILE) $(FUZZ_MAIN)
tests_fuzz_fuzz_machine_LDFLAGS = $(FUZZ_FLAGS)
tests_fuzz_fuzz_machine_LDADD = $(FUZZ_LIBS)
tests_fuzz_fuzz_mc_cubin_SOURCES = tests/fuzz/fuzz_mc_cubin.c $(FUZZ_MAIN)
tests_fuzz_fuzz_mc_cubin_LDFLAGS = $(FUZZ_FLAGS)
tests_fuzz_fuzz_mc_cubin_LDADD = $(FUZZ_LIBS)
tests_fuzz_fuzz_mc_listing_SOURCES = tests/fuzz/fuzz_mc_listing.c $(FUZZ_MAIN)
tests_fuzz_fuzz_mc_listing_LDFLAGS = $(FUZZ_FLAGS)
tests_fuzz_fuzz_mc_listing_LDADD = $(FUZZ_LIBS)
tests_fuzz_fuzz_plan_SOURCES = tests/fuzz/fuzz_plan.c $(FUZZ_MAIN)
tests_fuzz_fuzz_plan_LDFLAGS = $(FUZZ_FLAGS)
tests_fuzz_fuzz_plan_LDADD = $(FUZZ_LIBS)
tests_fuzz_fuzz_ptx_SOURCES = tests/fuzz/fuzz_ptx.c tests/unit/same.c tests/unit/same.h $(FUZZ_MAIN)
tests_fuzz_fuzz_ptx_LDFLAGS = $(FUZZ_FLAGS)
tests_fuzz_fuzz_ptx_LDADD = $(FUZZ_LIBS)
tests_fuzz_fuzz_ptx_run_SOURCES = tests/fuzz/fuzz_ptx_run.c $(FUZZ_MAIN)
tests_fuzz_fuzz_ptx_run_LDFLAGS = $(FUZZ_FLAGS)
tests_fuzz_fuzz_ptx_run_LDADD = $(FUZZ_LIBS)
tests_fuzz_fuzz_run_SOURCES = tests/fuzz/fuzz_run.c $(FUZZ_FILE) $(FUZZ_MAIN)
tests_fuzz_fuzz_run_LDFLAGS = $(FUZZ_FLAGS)
tests_fuzz_fuzz_run_LDADD = $(FUZZ_LIBS)
tests_fuzz_fuzz_sass_SOURCES = tests/fuzz/fuzz_sass.c tests/unit/same.c tests/unit/same.h $(FUZZ_MAIN)
tests_fuzz_fuzz_sass_LDFLAGS = $(FUZZ_FLAGS)
tests_fuzz_fuzz_sass_LDADD = $(FUZZ_LIBS)
tests_fuzz_fuzz_scenario_SOURCES = tests/fuzz/fuzz_scenario.c $(FUZZ_FILE) $(FUZZ_MAIN)
tests_fuzz_fuzz_scenario_LDFLAGS = $(FUZZ_FLAGS)
tests_fuzz_fuzz_scenario_LDADD = $(FUZZ_LIBS)

# Scripts that `make check` runs as tests (TAP), and the ones that only targets below call. The longest stand first,
# and scripts before unit tests: all processors are busy up to the end.
TEST_FILES = \
  tests/script/docs.sh \
  tests/script/first_use.sh \
  tests/script/corpus_check.sh \
  tests/script/corpus_races.sh \
  tests/script/mem_scenarios.sh \
  tests/script/forms.sh \
  tests/script/measured_memory.sh \
  tests/script/traces.sh \
  tests/script/programs_check.sh \
  tests/script/wild.sh \
  tests/script/wild3.sh \
  tests/script/wild4.sh \
  tests/script/wild5.sh \
  tests/script/hardware.sh \
  tests/script/corpus.sh \
  tests/script/wild2.sh \
  tests/script/primitives.sh \
  tests/script/cli.sh \
  tests/script/issue.sh \
  tests/script/client_server.sh \
  tests/script/twins.sh \
  tests/script/threads.sh \
  tests/script/primitives_h200.sh \
  tests/script/mix.sh \
  tests/script/word_locks.sh \
  tests/script/slurm.sh \
  tests/script/irregular.sh \
  tests/script/bulk.sh \
  tests/script/corpus_schedules.sh \
  tests/script/merge.sh \
  tests/script/corpus_findings.sh \
  tests/script/whatif.sh \
  tests/script/measured.sh \
  tests/script/registers.sh \
  tests/script/kernel_cycles.sh \
  tests/script/cycles.sh \
  tests/script/accesses.sh \
  tests/script/studies.sh \
  tests/script/sweep.sh \
  tests/script/needleman.sh \
  tests/script/badinput.sh \
  tests/script/badptx.sh \
  tests/script/determinism.sh \
  tests/script/draw.sh \
  tests/script/fences.sh \
  tests/script/fences_tried.sh \
  tests/script/fuzz_replay.sh \
  tests/script/golden.sh \
  tests/script/install.sh \
  tests/script/layers.sh \
  tests/script/paper.sh \
  tests/script/machine_code.sh \
  tests/script/mbarrier.sh \
  tests/script/copies.sh \
  tests/script/arrivals.sh \
  tests/script/ptx.sh \
  tests/script/plot.sh \
  tests/script/schedules.sh
TESTS += $(TEST_FILES)
if HAVE_CHECK
TESTS += $(UNIT_TESTS)
endif
TEST_HELPERS = \
  tests/script/coverage.sh \
  tests/script/fuzz.sh \
  tests/script/run_scenario.sh \
  tests/script/scenario_set.sh \
  tests/script/check_set.sh \
  tests/script/machines_of.sh \
  tests/script/packages.sh \
  tests/script/setup.sh \
  tests/script/slurm_site.sh \
  tests/script/summary.sh \
  tests/script/gpu_cycles.sh \
  tests/script/wild_set.sh \
  tests/script/tap.sh \
  tests/script/glib.supp \
  tests/script/valgrind.sh

# Whole folders, in which nothing is built: the names of all files are too long for one argument of a command.
TEST_INPUTS = tests/corpus tests/fuzz/corpus tests/ptx tests/kernels tests/converge tests/divergent tests/golden tests/memory tests/machine_code tests/twins tests/batches
TEST_INPUTS += $(call found,tests/bench/*.*)
EXTRA_DIST += $(TEST_FILES) $(TEST_HELPERS) $(TEST_INPUTS)

# `make check` ends with a line for each kind of test and one for all, whatever came of them: this is Automake's rule and
# those lines. A kind that isn't there is a failure where all tests were asked for, that is, without TESTS=.
SUMMARY = $(SHELL) $(srcdir)/tests/script/summary.sh $(if $(filter file,$(origin TESTS)),--all packages.found)
.PHONY: test-summary update-golden check-sanitize check-valgrind fuzz coverage bench
check-TESTS test-summary: packages.found
check-TESTS: $(check_PROGRAMS) $(check_LIBRARIES)
	@rm -f $(TEST_LOGS) $(TEST_LOGS:.log=.trs) $(TEST_SUITE_LOG)
	@status=0; $(MAKE) $(AM_MAKEFLAGS) $(TEST_SUITE_LOG) || status=$$?; \
	$(SUMMARY) $(TEST_LOGS) || status=1; exit $$status
test-summary:
	@$(SUMMARY) $(TEST_LOGS)

# Takes what the commands in tests/golden/ print now as right: read the difference.
update-golden: all
	@$(AM_TESTS_ENVIRONMENT) UPDATE=yes $(SHELL) $(srcdir)/tests/script/golden.sh

# Further trees, each configured its own way, below the build folder.
check-sanitize:
	@mkdir -p _sanitize
	cd _sanitize && { test -f Makefile || $(abs_top_srcdir)/configure -q --enable-sanitizers CFLAGS='-g -O1'; }
	cd _sanitize && UNIT_PATIENCE=4 $(MAKE) $(AM_MAKEFLAGS) check
coverage:
	@mkdir -p _coverage
	cd _coverage && { test -f Makefile || $(abs_top_srcdir)/configure -q --enable-coverage CFLAGS=-g; }
	cd _coverage && { UNIT_PATIENCE=4 $(MAKE) $(AM_MAKEFLAGS) check || :; }
	$(SHELL) $(srcdir)/tests/script/coverage.sh _coverage
fuzz: all
	@SRCDIR='$(abs_top_srcdir)' MAKE='$(MAKE)' $(SHELL) $(srcdir)/tests/script/fuzz.sh $(FUZZ_TARGETS)
check-valgrind: all $(check_LIBRARIES) $(check_PROGRAMS)
	@$(AM_TESTS_ENVIRONMENT) VALGRIND='$(VALGRIND)' $(SHELL) $(srcdir)/tests/script/valgrind.sh $(UNIT_TESTS)
# What tests/script/measured_memory.sh runs; and all rows, which take some minutes.
check_PROGRAMS += tests/measured/mem_rows
tests_measured_mem_rows_SOURCES = tests/measured/mem_rows.c
tests_measured_mem_rows_LDADD = liblockstep.a $(LIBS_ALL)
.PHONY: measured-memory
measured-memory: all tests/measured/mem_rows$(EXEEXT)
	@$(AM_TESTS_ENVIRONMENT) MEASURED=all $(SHELL) $(srcdir)/tests/script/measured_memory.sh
EXTRA_PROGRAMS += tests/property/litmus
tests_property_litmus_SOURCES = tests/property/litmus_tool.c
CLEANFILES += tests/property/litmus$(EXEEXT)

# More seeds of each litmus test; and the page that sets a machine beside a GPU.
LITMUS_SEEDS = 20
WEAK_SEEDS = 32
.PHONY: litmus update-weak-memory
litmus: tests/property/test_litmus$(EXEEXT)
	@$(AM_TESTS_ENVIRONMENT) LITMUS_SEEDS='$(LITMUS_SEEDS)' tests/property/test_litmus$(EXEEXT)
update-weak-memory: tests/property/litmus$(EXEEXT)
	LOCKSTEP_DATA='$(abs_top_srcdir)' tests/property/litmus$(EXEEXT) run h200 $(WEAK_SEEDS) gpu.sms=32 >litmus_model.csv
	{ sed '/^## Side by side/q' $(srcdir)/doc/weak_memory.md && echo && \
	  tests/property/litmus$(EXEEXT) table litmus_model.csv $(srcdir)/validation/hardware/litmus_h200.csv; } >page.md
	cp page.md $(srcdir)/doc/weak_memory.md
	rm -f page.md litmus_model.csv
EXTRA_PROGRAMS += tests/bench/bench
tests_bench_bench_SOURCES = tests/bench/bench.c
tests_bench_bench_LDADD = liblockstep.a $(LIBS_ALL)
CLEANFILES += tests/bench/bench$(EXEEXT)
bench: all tests/bench/bench$(EXEEXT)
	@LOCKSTEP_DATA='$(abs_top_srcdir)' tests/bench/bench$(EXEEXT) $(abs_top_srcdir)/tests/bench ./lockstep$(EXEEXT) \
	  $(filter-out no,$(VALGRIND))

distclean-local:
	rm -rf _sanitize _coverage _fuzz
