#!/bin/sh
# A second such set, from which nothing has been set (validation/wild2). The short ones. TAP. TABLE=FILE writes the table of doc/results.md, with all of them.
# shellcheck disable=SC2154 # tap.sh has the folder
set -eu
. "$SRCDIR/tests/script/wild_set.sh"
wild_set wild2 14000

plan 3
judge "$folder/all.csv" 10 15
finish
