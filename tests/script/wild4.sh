#!/bin/sh
# A fourth such set (validation/wild4), of atomic operations of all kinds and of kernels around locks. The short ones. TAP. TABLE=FILE writes the table of doc/results.md, with
# all of them.
# shellcheck disable=SC2154 # tap.sh has the folder
set -eu
. "$SRCDIR/tests/script/wild_set.sh"
slow="gather bit_set:items=4194304:each=16 transpose_banks"
wild_set wild4 12500

plan 3
judge "$folder/all.csv" 10 15
finish
