# Lock transfers of Wang et al.'s Table 3, by four definitions, from the CSV of `lockstep validate wang2019_table3`.
# Usage: awk -F, -f transfers.awk table3.csv
BEGIN {
  print "| transfer of a lock, cycles | published | from the fence | from the unlock | from the port | at the L2 |"
  print "| --- | --- | --- | --- | --- | --- |"
}
# 2192 as it stands, 24269 with a comma.
function digits(n) {
  if (n == "") return ""
  n = int(n + 0.5)
  return n < 10000 ? n : int(n / 1000) "," sprintf("%03d", n % 1000)
}
function name_of(row, word) {
  split(row, word, " ")
  if (word[1] ~ /^ht/) return toupper(substr(word[1], 1, 2)) substr(word[1], 3) ", `each` " word[2]
  sub(/^[^ ]* /, "", row)
  return toupper(substr(word[1], 1, 3)) substr(word[1], 4) ", " row
}
match($2, /: (from the (fence|unlock|port)|at the L2)$/) {
  row = substr($2, 1, RSTART - 1)
  if (!(row in published)) rows[++count] = row
  published[row] = $8
  time[row, substr($2, RSTART + 2)] = $11
}
END {
  for (i = 1; i <= count; i++) {
    row = rows[i]
    print "| " name_of(row) " | " digits(published[row]) " | " digits(time[row, "from the fence"]) " | " digits(time[row, "from the unlock"]) " | " \
      digits(time[row, "from the port"]) " | " digits(time[row, "at the L2"]) " |"
  }
}
