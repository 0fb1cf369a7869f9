# The machines that scenarios and bare programs name. Sourced.
# shellcheck shell=sh

# machines_of FILE...: a line `FILE MACHINE` for each machine that a file names, as `machines: [a, b]` or as a list with one `- a` on each line; the
# GTX 570 where it names none.
machines_of() {
  awk '
    function say(file, names,   n, name, i) {
      gsub(/[][,"]/, " ", names)
      n = split(names, name, " ")
      for (i = 1; i <= n; i++) print file, name[i]
      return n
    }
    BEGIN {
      for (i = 1; i < ARGC; i++) {
        found = inside = 0
        while ((getline line <ARGV[i]) > 0) {
          sub(/#.*/, "", line)
          if (sub(/^machines:/, "", line)) { found += say(ARGV[i], line); inside = 1 }
          else if (inside && sub(/^ *- */, "", line)) found += say(ARGV[i], line)
          else inside = 0
        }
        close(ARGV[i])
        if (!found) print ARGV[i], "gtx570"
      }
    }' "$@"
}
