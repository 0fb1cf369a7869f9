#!/bin/sh
# Each scenario of traces/ ends as it expects, on each machine that it names (TAP).
set -eu
. "$SRCDIR/tests/script/scenario_set.sh"
cd "$SRCDIR"

scenario_set traces/*/*.yaml
finish
