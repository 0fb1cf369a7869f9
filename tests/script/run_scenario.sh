#!/bin/sh
# Usage: run_scenario.sh FILE - one of the scenarios of corpus.sh and traces.sh, for `make check TESTS=FILE` (TAP).
set -eu
. "$SRCDIR/tests/script/scenario_set.sh"

scenario_set "$1"
finish
