liblockstep_a_SOURCES += \
  isa/cfg.c isa/cfg.h \
  isa/dataflow.c isa/dataflow.h \
  isa/disasm.c isa/disasm.h \
  isa/flow.c isa/flow.h \
  isa/lexer.c isa/lexer.h \
  isa/opcode.c isa/opcode.h isa/opcodes.def \
  isa/postdom.c \
  isa/program.c isa/program.h \
  isa/sass.c isa/sass.h \
  isa/sass_form.c \
  isa/sass_names.c isa/sass_names.h \
  isa/sass_operand.c isa/sass_parser.h
