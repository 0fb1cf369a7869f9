# The table of doc/results.md that sets Table 3 of Li et al. beside the model, in both readings:
# awk -F, -f needleman.awk validation/published/li2015_table3_sum.csv SWEEP.csv. Run by `make update-figures`.
BEGIN {
  count = split("atomic_lock data_parallel tiny_lock", scheme, " ")
  title["atomic_lock"] = "Atomic-Lock"
  title["data_parallel"] = "Data-Parallel"
  title["tiny_lock"] = "Tiny-Lock"
}
FNR == NR {
  if ($1 ~ /^[0-9]+x/) {
    split($1, part, " ")
    published[part[1] part[2]] = $8
  }
  next
}
FNR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
FNR > 1 {
  sub(/^grid_/, "", $1)
  took[$1, $column["tiles"], $column["longest"]] = $column["microseconds"]
}
END {
  print "| us | atomic lock | sum | longest | data-parallel | sum | longest | tiny lock | sum | longest |"
  print "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
  for (tiles = 1; tiles <= 64; tiles *= 2) {
    size = 31 * tiles "x" 31 * tiles
    printf "| %s |", size
    for (i = 1; i <= count; i++)
      printf " %s | %.0f | %.0f |", published[size title[scheme[i]]], took[scheme[i], tiles, 0], took[scheme[i], tiles, 1]
    print ""
  }
}
