# Prints doc/results.md with the tables of Stuart and Owens as `lockstep validate --format csv` has them now, between the
# marks of each: awk -f results.awk VALIDATION.csv results.md. Run by `make update-results`.
function cell(name, group, column) {
  key = suite "|" group "|" name "|" column
  return key in published ? sprintf(" %s : %.3g (%+.1f %%) |", published[key], predicted[key], error[key]) : " |"
}
function table(group, shown, k, i) {
  if (!(suite "|" group in names))
    return
  printf "\n%s\n\n| |", group == "fitted" ? "Fitted:" : "Predicted:"
  for (k = 1; k <= 4; k++)
    printf " %s |", columns[k]
  print "\n| --- | --- | --- | --- | --- |"
  shown = split(names[suite "|" group], list, "|")
  for (i = 1; i <= shown; i++) {
    printf "| %s |", list[i]
    for (k = 1; k <= 4; k++)
      printf "%s", cell(list[i], group, columns[k])
    print ""
  }
}
BEGIN { split("GTX 295 read|GTX 295 write|GTX 580 read|GTX 580 write", columns, "|") }
FNR == NR {
  split($0, field, ",")
  split(field[2], part, ": ")
  group = field[1] "|" field[5]
  if (field[1] == "suite" || field[2] == field[7]) # a baseline is 1
    next
  if (!((group "|" part[2]) in seen))
    names[group] = count[group]++ ? names[group] "|" part[2] : part[2]
  seen[group "|" part[2]] = 1
  key = group "|" part[2] "|" part[1]
  published[key] = field[8]
  predicted[key] = field[11]
  error[key] = field[13]
  sum[group] += field[13] < 0 ? -field[13] : field[13]
  rows[group]++
  next
}
/^<!-- stuart2011/ {
  print
  suite = $2
  table("fitted")
  table("test")
  printf "\nMean error of fitted rows %.1f %%, of predicted ones %.1f %%.\n\n", sum[suite "|fitted"] / rows[suite "|fitted"],
         sum[suite "|test"] / rows[suite "|test"]
  skips = 1
  next
}
/^<!-- end/ { skips = 0 }
!skips { print }
