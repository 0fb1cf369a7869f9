# Published figures are distributed and installed: `lockstep validate` reads them.
nobase_dist_pkgdata_DATA += $(call found,validation/published/*.csv validation/figures/*.yaml)
# The CUDA programs and what they printed: for people who measure again (doc/hardware.md).
EXTRA_DIST += $(call found,validation/hardware/*)
