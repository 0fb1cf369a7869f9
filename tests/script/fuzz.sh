#!/bin/sh
# Usage: fuzz.sh TARGET... - with clang's libFuzzer, builds the targets in _fuzz/ and runs each for FUZZ_SECONDS (20),
# keeping what it finds below _fuzz/; without, replays the corpus.
set -eu
: "${MAKE:=make}" "${FUZZ_SECONDS:=20}" "${FUZZ_CC:=clang}"
mkdir -p _fuzz
echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return d && n ? 0 : 0; }' >_fuzz/try.c
if ! "$FUZZ_CC" -fsanitize=fuzzer,address _fuzz/try.c -o _fuzz/try 2>/dev/null; then
  echo "no libFuzzer here: replaying the corpus"
  exec "$MAKE" check TESTS=tests/script/fuzz_replay.sh
fi
cd _fuzz
test -f Makefile || "$SRCDIR/configure" -q --enable-fuzzing CC="$FUZZ_CC" CFLAGS='-g -O1'
"$MAKE" "$@"
failed=0
for target; do
  name=${target##*/fuzz_}
  mkdir -p "corpus/$name" "crash/$name"
  if ! "./$target" -max_total_time="$FUZZ_SECONDS" -timeout=10 -rss_limit_mb=1024 -max_len=4096 -print_final_stats=1 \
    -artifact_prefix="crash/$name/" "corpus/$name" "$SRCDIR/tests/fuzz/corpus/$name" >"$name.log" 2>&1; then
    failed=$((failed + 1))
    tail -40 "$name.log"
  fi
  awk -v name="$name" '/number_of_executed_units/ { print name ": " $2 " inputs tried" }' "$name.log"
done
echo "$failed of $# targets failed"
test $failed = 0
