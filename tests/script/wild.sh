#!/bin/sh
# Programs of synchronization as they occur in the wild, which were written by somebody who didn't know the model (validation/wild): how long they take as PTX,
# as machine code and on a real H200. The short ones. TAP. TABLE=FILE writes the table of doc/results.md, with all of them.
# shellcheck disable=SC2154 # tap.sh has the folder
set -eu
. "$SRCDIR/tests/script/wild_set.sh"
slow="pipeline namedbar_constant:blocks=528:threads=512:steps=40" # they keep all SMs busy
wild_set wild 24000

plan 4
judge "$folder/all.csv" 7 12
point "machine code is nowhere 40 % off" "$(awk -F, '$4 > 1.4 * $2 || $4 < 0.6 * $2' "$folder/all.csv")"
finish
