liblockstep_a_SOURCES += \
  sim/base/assert.h \
  sim/base/bits.h \
  sim/base/datadir.c \
  sim/base/datadir.h \
  sim/base/diag.c \
  sim/base/diag.h \
  sim/base/quote.c \
  sim/base/quote.h \
  sim/core/access.c \
  sim/core/access.h \
  sim/core/barrier.c \
  sim/core/barrier.h \
  sim/core/cached.c \
  sim/core/cached.h \
  sim/core/exec.h \
  sim/core/exec_alu.c \
  sim/core/exec_bits.c \
  sim/core/exec_convert.c \
  sim/core/exec_ctrl.c \
  sim/core/exec_double.c \
  sim/core/exec_float.c \
  sim/core/exec_global.c \
  sim/core/exec_groups.c \
  sim/core/exec_local.c \
  sim/core/exec_print.c \
  sim/core/exec_rows.h \
  sim/core/exec_shared.c \
  sim/core/exec_sync.c \
  sim/core/exec_warp.c \
  sim/core/exec_wide.c \
  sim/core/gpu.c \
  sim/core/gpu.h \
  sim/core/host.c \
  sim/core/host.h \
  sim/core/lane_groups.c \
  sim/core/lane_groups.h \
  sim/core/occupancy.c \
  sim/core/occupancy.h \
  sim/core/print.c \
  sim/core/print.h \
  sim/core/probe.h \
  sim/core/simt_stack.c \
  sim/core/simt_stack.h \
  sim/core/sm.c \
  sim/core/sm.h \
  sim/core/soft_float.c \
  sim/core/soft_float.h \
  sim/core/symbols.c \
  sim/core/symbols.h \
  sim/core/warp.h \
  sim/detect/abstract_memory.c \
  sim/detect/abstract_memory.h \
  sim/detect/detectors.def \
  sim/detect/diagnose.c \
  sim/detect/diagnose.h \
  sim/detect/explore.c \
  sim/detect/explore.h \
  sim/detect/explore_groups.c \
  sim/detect/explore_groups.h \
  sim/detect/explore_memory.c \
  sim/detect/explore_step.c \
  sim/detect/explore_step.h \
  sim/detect/explore_value.c \
  sim/detect/explore_warp.c \
  sim/detect/finding.c \
  sim/detect/finding.h \
  sim/detect/handoff.c \
  sim/detect/handoff.h \
  sim/detect/host_proof.c \
  sim/detect/host_proof.h \
  sim/detect/lane_order.c \
  sim/detect/lane_order.h \
  sim/detect/lane_state.c \
  sim/detect/lane_state.h \
  sim/detect/locate.c \
  sim/detect/locate.h \
  sim/detect/misuse.c \
  sim/detect/misuse.h \
  sim/detect/polling.c \
  sim/detect/polling.h \
  sim/detect/progress.c \
  sim/detect/progress.h \
  sim/detect/race.c \
  sim/detect/race.h \
  sim/detect/race_order.c \
  sim/detect/race_order.h \
  sim/detect/race_report.c \
  sim/detect/race_report.h \
  sim/detect/recurrence.c \
  sim/detect/recurrence.h \
  sim/detect/settle.c \
  sim/detect/settle.h \
  sim/detect/shadow.c \
  sim/detect/shadow.h \
  sim/detect/vclock.c \
  sim/detect/vclock.h \
  sim/detect/verdicts.def \
  sim/detect/waitgraph.c \
  sim/detect/waitgraph.h \
  sim/detect/waitgraph_entry.c \
  sim/detect/waitgraph_text.c \
  sim/engine/counter.c \
  sim/engine/counter.h \
  sim/engine/counters.def \
  sim/engine/event.c \
  sim/engine/event.h \
  sim/detect/finding.c sim/detect/finding.h sim/detect/detectors.def sim/detect/verdicts.def \
  sim/detect/handoff.c sim/detect/handoff.h \
  sim/detect/lane_state.c sim/detect/lane_state.h \
  sim/detect/lane_order.c sim/detect/lane_order.h \
  sim/detect/locate.c sim/detect/locate.h \
  sim/detect/misuse.c sim/detect/misuse.h \
  sim/detect/polling.c sim/detect/polling.h \
  sim/detect/progress.c sim/detect/progress.h \
  sim/detect/race.c sim/detect/race.h \
  sim/detect/race_order.c sim/detect/race_order.h \
  sim/detect/race_report.c sim/detect/race_report.h \
  sim/detect/recurrence.c sim/detect/recurrence.h \
  sim/detect/settle.c sim/detect/settle.h \
  sim/detect/shadow.c sim/detect/shadow.h \
  sim/detect/vclock.c sim/detect/vclock.h \
  sim/detect/waitgraph.c sim/detect/waitgraph.h sim/detect/waitgraph_text.c \
  sim/engine/counter.c sim/engine/counter.h sim/engine/counters.def \
  sim/engine/event.c sim/engine/event.h \
  sim/engine/rng.h \
  sim/engine/wheel.h \
  sim/machine/machine.c \
  sim/machine/machine.h \
  sim/machine/machine_check.c \
  sim/machine/machine_check.h \
  sim/machine/machine_dump.c \
  sim/machine/machine_load.c \
  sim/machine/params.c \
  sim/machine/params.def \
  sim/machine/params.h \
  sim/machine/units.c \
  sim/machine/units.h \
  sim/machine/yaml_tree.c \
  sim/machine/yaml_tree.h \
  sim/memory/backing.c \
  sim/memory/backing.h \
  sim/memory/l1.c \
  sim/memory/l1.h \
  sim/memory/lock_unit.c \
  sim/memory/lock_unit.h \
  sim/memory/memsys.c \
  sim/memory/memsys.h \
  sim/memory/shared.c \
  sim/memory/shared.h \
  sim/memory/thread_id.h \
  sim/report/csv.c \
  sim/report/csv.h \
  sim/report/explain.c \
  sim/report/explain.h \
  sim/report/json.c \
  sim/report/json.h \
  sim/report/paint.c \
  sim/report/paint.h \
  sim/report/reference.c \
  sim/report/reference.h \
  sim/report/text.c \
  sim/report/text.h \
  sim/report/text_validation.c \
  sim/report/timeline.c \
  sim/report/timeline.h \
  sim/scenario/args.c \
  sim/scenario/bare.c \
  sim/scenario/expect.c \
  sim/scenario/expr.c \
  sim/scenario/expr.h \
  sim/scenario/host_steps.c \
  sim/scenario/loader.c \
  sim/scenario/loader.h \
  sim/scenario/nvcc.c \
  sim/scenario/nvcc.h \
  sim/scenario/programs.c \
  sim/scenario/programs.h \
  sim/scenario/scenario.c \
  sim/scenario/scenario.h \
  sim/scenario/yaml.c \
  sim/study/check.c \
  sim/study/check.h \
  sim/study/correlation.c \
  sim/study/correlation.h \
  sim/study/csv_table.c \
  sim/study/csv_table.h \
  sim/study/rank.c \
  sim/study/rank.h \
  sim/study/run.c \
  sim/study/run.h \
  sim/study/validate.c \
  sim/study/validate.h

bin_PROGRAMS += lockstep
lockstep_SOURCES = \
  sim/cli/cmd_check.c \
  sim/cli/cmd_doc.c \
  sim/cli/cmd_machine.c \
  sim/cli/cmd_rank.c \
  sim/cli/cmd_run.c \
  sim/cli/cmd_show.c \
  sim/cli/cmd_validate.c \
  sim/cli/command.h sim/cli/commands.def \
  sim/cli/main.c \
  sim/cli/options.c sim/cli/options.h \
  sim/cli/progress.c sim/cli/progress.h \
  sim/cli/session.c sim/cli/session.h
lockstep_LDADD = liblockstep.a $(LIBS_ALL)
