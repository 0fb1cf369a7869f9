#!/bin/sh
# Usage: summary.sh [--all PACKAGES] LOG... - adds up automake's results (the .trs beside each .log): a line for each kind of
# test, then "N passed, N failed". Exit status 1 if something failed or has no result. That a test with a failed point also
# exits with 1 doesn't count twice. With --all the LOGs are all tests that were built, and PACKAGES is packages.found: a kind
# without a test then fails, unless this machine lacks what it needs.
set -eu
packages=
if test $# = 0; then # make check TESTS=
  echo "0 passed, 0 failed"
  exit
fi
if test "$1" = --all; then
  packages=$2
  shift 2
fi
printf '%s\n' "$@" | awk -v packages="$packages" '
  BEGIN {
    kinds = split("unit property corpus scenarios fuzz-replay golden hardware documents scripts", kind)
    for (i = 1; i <= kinds; i++)
      known[kind[i]] = 1
    needs["unit"] = needs["property"] = "check"
    while (packages && (getline line < packages) > 0)
      if (line ~ /: no$/) {
        sub(/[ :].*/, "", line)
        absent[line] = 1
      }
  }
  function kind_of(log_file) {
    if (log_file ~ /(^|\/)traces\// || log_file ~ /\/traces\.log$/) return "scenarios"
    if (log_file ~ /\/corpus\.log$/) return "corpus"
    if (log_file ~ /\/fuzz_replay\.log$/) return "fuzz-replay"
    if (log_file ~ /\/golden\.log$/) return "golden"
    if (log_file ~ /\/hardware\.log$/) return "hardware"
    if (log_file ~ /\/docs\.log$/) return "documents"
    if (log_file ~ /(^|\/)tests\/script\//) return "scripts"
    sub(/.*tests\//, "", log_file)
    sub(/\/.*/, "", log_file)
    return log_file
  }
  {
    its = kind_of($0)
    if (!known[its]++)
      kind[++kinds] = its
    there[its] = 1
    sub(/\.log$/, ".trs")
    found = points = errors = 0
    while ((getline line < $0) > 0) {
      if (line !~ /^:test-result:/)
        continue
      found = 1
      if (line ~ /: *(PASS|XFAIL)/) passed[its]++
      else if (line ~ /: *SKIP/) skipped[its]++
      else if (line ~ /: *ERROR/) errors++
      else points++
    }
    failed[its] += points ? points : errors
    close($0)
    if (!found) { print "no result: " $0; failed[its]++ }
  }
  END {
    for (i = 1; i <= kinds; i++) {
      its = kind[i]
      if (there[its])
        print its ": " passed[its] + 0 " passed, " failed[its] + 0 " failed" (skipped[its] ? ", " skipped[its] " skipped" : "")
      else if (packages && absent[needs[its]])
        print its ": none, since " needs[its] " is not installed"
      else if (packages) {
        print its ": none was built, though this machine could run them"
        failed[its]++
      }
      all_passed += passed[its]
      all_failed += failed[its]
    }
    print all_passed + 0 " passed, " all_failed + 0 " failed"
    exit all_failed > 0
  }'
