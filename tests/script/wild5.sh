#!/bin/sh
# A fifth such set (validation/wild5), of locks, barriers, queues, tables, graphs and transactions that the others lack. The short ones. TAP. TABLE=FILE writes the table of doc/results.md, with
# all of them.
# shellcheck disable=SC2154 # tap.sh has the folder
set -eu
. "$SRCDIR/tests/script/wild_set.sh"
slow="splat:blocks=264:threads=256:width=1024:n=135168"
wild_set wild5 25000

plan 3
judge "$folder/all.csv" 20 15
finish
