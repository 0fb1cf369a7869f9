# Every scenario and program below this folder is distributed and installed, and every scenario is a test
# (tests/script/traces.sh). A .bin file holds data of a scenario, and the .c beside it is the program that computed it. A .ptx is made
# from the .cu beside it by make_ptx.sh.
nobase_dist_pkgdata_DATA += $(call found,traces/*/*.yaml traces/*/*.sass traces/*/*.ptx traces/*/*.cu traces/*/*.cuh traces/*/*.cubin traces/*/*.fatbin traces/*/*.bin traces/*/*.md)
EXTRA_DIST += $(call found,traces/*/*.c) traces/make_ptx.sh

# In the size of the blog: a million critical sections, one after the other, while 640 warps spin. Takes about an hour.
.PHONY: validate-long
validate-long: lockstep$(EXEEXT)
	./lockstep run $(srcdir)/traces/blog/lanes_volatile_fences.yaml -p blocks=1024 -p threads=1024 -m gtx1060 \
	  --limit-cycles 4000000000
