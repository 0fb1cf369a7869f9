liblockstep_a_SOURCES += \
  isa/allocate.c \
  isa/cfg.c \
  isa/cfg.h \
  isa/color.c \
  isa/color.h \
  isa/converge.c \
  isa/dataflow.c \
  isa/dataflow.h \
  isa/disasm.c \
  isa/disasm.h \
  isa/divergence.c \
  isa/divergence.h \
  isa/flow.c \
  isa/flow.h \
  isa/lexer.c \
  isa/lexer.h \
  isa/live_range.c \
  isa/live_range.h \
  isa/loops.c \
  isa/loops.h \
  isa/opcode.c \
  isa/opcode.h \
  isa/opcodes.def \
  isa/cfg.c isa/cfg.h \
  isa/color.c isa/color.h \
  isa/converge.c \
  isa/dataflow.c isa/dataflow.h \
  isa/disasm.c isa/disasm.h \
  isa/divergence.c isa/divergence.h \
  isa/flow.c isa/flow.h \
  isa/lexer.c isa/lexer.h \
  isa/live_range.c isa/live_range.h \
  isa/loops.c isa/loops.h \
  isa/opcode.c isa/opcode.h isa/opcodes.def \
  isa/postdom.c \
  isa/program.c \
  isa/program.h \
  isa/ptx_body.c \
  isa/ptx_check.c \
  isa/ptx_inst.c \
  isa/ptx_lexer.c \
  isa/ptx_lexer.h \
  isa/ptx_lower.c \
  isa/ptx_lower.h \
  isa/ptx_lower_bits.c \
  isa/ptx_lower_control.c \
  isa/ptx_lower_convert.c \
  isa/ptx_lower_float.c \
  isa/ptx_lower_int.c \
  isa/ptx_lower_line.c \
  isa/ptx_lower_mem.c \
  isa/ptx_lower_param.c \
  isa/ptx_lower_scan.c \
  isa/ptx_lower_state.h \
  isa/ptx_lower_sync.c \
  isa/ptx_lower_value.c \
  isa/ptx_lower_var.c \
  isa/ptx_module.c \
  isa/ptx_names.c \
  isa/ptx_names.h \
  isa/ptx_operand.c \
  isa/ptx_ops.c \
  isa/ptx_ops.def \
  isa/ptx_ops.h \
  isa/ptx_parse.c \
  isa/ptx_parse.h \
  isa/ptx_parser.h \
  isa/ptx_print.c \
  isa/ptx_print.h \
  isa/ptx_special.def \
  isa/ptx_tree.c \
  isa/ptx_tree.h \
  isa/ptx_var.c \
  isa/ptx_words.c \
  isa/ptx_words.def \
  isa/regset.h \
  isa/sass.c \
  isa/sass.h \
  isa/sass_form.c \
  isa/sass_names.c \
  isa/sass_names.h \
  isa/sass_operand.c \
  isa/sass_parser.h \
  isa/virtual.c \
  isa/virtual.h \
  isa/virtual_view.h \
  isa/yield.c \
  isa/yield.h
  isa/sass_names.c isa/sass_names.h \
  isa/sass_operand.c isa/sass_parser.h \
  isa/virtual.c isa/virtual.h isa/virtual_view.h \
  isa/yield.c isa/yield.h
