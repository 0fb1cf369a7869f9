#!/bin/sh
# Usage: summary.sh LOG... - adds up automake's results (the .trs beside each .log) and prints "N passed, N failed" last.
# Exit status 1 if something failed or has no result. That a test with a failed point also exits with 1 doesn't count twice.
set -eu
printf '%s\n' "$@" | awk '
  {
    sub(/\.log$/, ".trs")
    found = points = errors = 0
    while ((getline line < $0) > 0) {
      if (line !~ /^:test-result:/)
        continue
      found = 1
      if (line ~ /: *(PASS|XFAIL)/) passed++
      else if (line ~ /: *SKIP/) skipped++
      else if (line ~ /: *ERROR/) errors++
      else points++
    }
    failed += points ? points : errors
    close($0)
    if (!found) { print "no result: " $0; failed++ }
  }
  END {
    if (skipped) print skipped " skipped"
    print passed + 0 " passed, " failed + 0 " failed"
    exit failed > 0
  }'
