# Every machine in this folder is distributed and installed.
nobase_dist_pkgdata_DATA += $(call found,configs/*.yaml)
