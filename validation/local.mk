# Published figures are distributed and installed: `lockstep validate` reads them.
nobase_dist_pkgdata_DATA += $(call found,validation/published/*.csv validation/figures/*.yaml)
# The CUDA programs and what they printed: for people who measure again (doc/hardware.md).
EXTRA_DIST += $(filter-out %.c,$(call found,validation/hardware/*)) validation/wild validation/wild2 validation/wild3 validation/wild4 validation/wild5 validation/mix
# `make validation/hardware/gpu_list`: what run_ptx.cu runs.
EXTRA_PROGRAMS += validation/hardware/gpu_list
validation_hardware_gpu_list_SOURCES = validation/hardware/gpu_list.c
validation_hardware_gpu_list_LDADD = liblockstep.a $(LIBS_ALL)
CLEANFILES += validation/hardware/gpu_list$(EXEEXT)
