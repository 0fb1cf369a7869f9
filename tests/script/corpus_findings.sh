#!/bin/sh
# `lockstep run` finds what the scenarios of tests/corpus/ list as misuse, on each machine that they name (TAP): the tests of
# the scenarios themselves only tell that nothing else is found.
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$SRCDIR"

# missed ID: scenarios that list the finding, and in whose run it isn't.
missed() {
  for file in $(grep -lE "^  findings: .*\<$1\>" tests/corpus/*.yaml); do
    for machine in $(sed -n 's/^machines: *\[\(.*\)\]/\1/p' "$file" | tr ',' ' '); do
      "$LOCKSTEP" run "$file" -m "$machine" >"$folder/out" 2>"$folder/err" || :
      grep -q ": warning: $1: " "$folder/out" || echo "$file on $machine: no $1"
    done
  done
  grep -qE "^  findings: .*\<$1\>" tests/corpus/*.yaml || echo "no scenario lists $1"
}

plan 3
for id in partial-barrier sync-mask uninitialized-read; do
  point "each $id that is listed" "$(missed $id)"
done
finish
