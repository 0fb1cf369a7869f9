#!/bin/sh
# A fourth such set (validation/wild4), of atomic operations of all kinds and of kernels around locks. The short ones. TAP. TABLE=FILE writes the table of doc/results.md, with
# all of them.
# shellcheck disable=SC2154 # tap.sh has the folder
set -eu
. "$SRCDIR/tests/script/wild_set.sh"
slow="multiply_async transpose:width=2048 gather:words=16777216 planes sort:blocks=528:threads=256 chase:threads=256"
wild_set wild4 18000

plan 3
judge "$folder/all.csv" 10 15
finish
