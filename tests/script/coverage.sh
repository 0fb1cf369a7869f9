#!/bin/sh
# Usage: coverage.sh BUILD - prints line coverage of each source file of a tree configured with --enable-coverage.
set -eu
cd "$1"
if command -v lcov >/dev/null; then
  lcov -q --capture --directory . --output-file coverage.info
  lcov -q --extract coverage.info '*/sim/*' '*/isa/*' --output-file coverage.info
  lcov --list coverage.info
else
  find sim isa -name '*.gcda' | while read -r data; do
    gcov -n "$data" 2>/dev/null | awk '/^File .*(sim|isa)\/.*\.c/ { file = $2; getline; print file, $0 }'
  done | sort -u
fi
