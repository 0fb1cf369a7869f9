#!/bin/sh
# Runs each fuzz target over the inputs kept for it: tests/fuzz/corpus/NAME/ for fuzz_NAME, and for PTX tests/ptx/ (TAP, one
# point a target).
set -eu
targets="expr machine mc_cubin mc_listing ptx ptx_run run sass scenario"
echo "1..9"
number=0
failed=0
for target in $targets; do
  number=$((number + 1))
  program=$BUILDDIR/tests/fuzz/fuzz_$target
  status=0
  more=
  case $target in ptx*) more="$SRCDIR/tests/ptx/*_sm90.ptx" ;; esac
  # shellcheck disable=SC2086 # file names
  output=$(timeout 120 "$program" "$SRCDIR/tests/fuzz/corpus/$target"/* $more 2>&1) || status=$?
  if test "$status" = 0; then
    echo "ok $number - $target"
  else
    failed=1
    echo "not ok $number - $target: exit status $status"
    printf '%s\n' "$output" | tail -40 | sed 's/^/# /'
  fi
done
exit $failed
