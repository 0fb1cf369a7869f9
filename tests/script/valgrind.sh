#!/bin/sh
# Usage: valgrind.sh UNIT_TEST... - runs unit tests and a few scenarios under valgrind; any error or lost block fails.
set -eu
if test "$VALGRIND" = no; then
  echo "valgrind isn't installed" >&2
  exit 1
fi
passed=0
failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

check() { # check NAME STATUS... -- COMMAND...: runs COMMAND under valgrind; one of the STATUSes is right
  name=$1
  shift
  allowed=" "
  while test "$1" != --; do
    allowed="$allowed$1 "
    shift
  done
  shift
  status=0
  G_SLICE=always-malloc "$VALGRIND" -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite \
    --suppressions="$SRCDIR/tests/script/glib.supp" \
    --child-silent-after-fork=no "$@" >"$log" 2>&1 || status=$?
  case "$allowed" in
  *" $status "*) passed=$((passed + 1)) ;;
  *)
    failed=$((failed + 1))
    echo "FAIL: $name: exit status $status"
    sed 's/^/  /' "$log"
    ;;
  esac
}

export UNIT_PATIENCE=50 CK_DEFAULT_TIMEOUT=300
for test; do
  check "$test" 0 -- "./$test"
done
for scenario in "$SRCDIR"/tests/corpus/simd*.sass "$SRCDIR"/traces/reduction/*.yaml; do
  test -f "$scenario" || continue
  check "$scenario" 0 -- "$LOCKSTEP" run "$scenario"
done
echo "$passed passed, $failed failed"
test $failed = 0
