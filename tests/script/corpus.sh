#!/bin/sh
# Each small program of tests/corpus/ ends as it expects, on each machine that it names (TAP).
set -eu
. "$SRCDIR/tests/script/scenario_set.sh"
cd "$SRCDIR"

# Where x.yaml and its program x.sass stand side by side, x.yaml is the test.
programs() {
  find tests/corpus -maxdepth 1 -name '*.yaml'
  find tests/corpus -maxdepth 1 -name '*.sass' | while read -r file; do
    test -f "${file%.sass}.yaml" || echo "$file"
  done
}

# What ends does so before cycle 450 million; the undecided ones take seconds up to the usual limit.
# shellcheck disable=SC2034 # scenario_set reads it
scenario_limit=500000000
# shellcheck disable=SC2046 # one word for each file
scenario_set $(programs | LC_ALL=C sort)
finish
