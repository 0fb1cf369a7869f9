# Published figures are distributed and installed: `lockstep validate` reads them.
nobase_dist_pkgdata_DATA += $(call found,validation/published/*.csv)
