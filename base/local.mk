liblockstep_a_SOURCES += \
  base/assert.h \
  base/bits.h \
  base/datadir.c \
  base/datadir.h \
  base/diag.c \
  base/diag.h \
  base/four.h \
  base/pages.c \
  base/pages.h \
  base/quote.c \
  base/quote.h \
  base/whole_file.c \
  base/whole_file.h \
  base/wide.h
