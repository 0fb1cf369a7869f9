#!/bin/sh
# lockstep sweep --slurm, --status, --resume and --merge: what is said and written, against small programs that stand for Slurm's; and,
# where there is one, against a real Slurm of one node, with tasks that are killed in the middle (TAP).
set -eu
. "$SRCDIR/tests/script/tap.sh"
. "$SRCDIR/tests/script/slurm_site.sh"
# shellcheck disable=SC2154 # tap.sh makes the folder
trap 'site_stop; rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
real_points=9
plan $((36 + real_points))
# Slurm's daemons want a folder that all may enter; the name has what a shell and Slurm take for something else.
chmod 755 "$folder"
work="$folder/50% of it's"
mkdir "$work"
cd "$work"
mkdir traces
cp "$SRCDIR"/traces/accesses/accesses.* traces

seeds=3
sweep() { # the sweep that the first part is about
  "$LOCKSTEP" sweep traces/accesses.yaml -m gtx580 -m gtx295 -p blocks=1..17:8 -p accesses=400 -p atomic=0,1 --seeds "$seeds" "$@"
}

same() { # prints a complaint unless two files are the same
  cmp -s "$1" "$2" || echo "$1 and $2 differ"
}

holds() { # FILE PATTERN: prints a complaint unless a line of FILE matches
  grep -qE -- "$2" "$1" || {
    echo "nothing matches: $2"
    head -n 20 "$1"
  }
}

sweep -o local.csv 2>err

# --- without Slurm ---

mkdir "$folder/none"
expect "no sbatch" 3 "no .sbatch. in PATH" env PATH="$folder/none" "$LOCKSTEP" sweep traces/accesses.yaml -m gtx580 -o no.csv --slurm
expect "no sbatch: GNU parallel" 3 "parallel lockstep sweep PLAN -j 1 --shard \{\}/3 -o FILE ::: .\(seq 3\)" \
  env PATH="$folder/none" "$LOCKSTEP" sweep traces/accesses.yaml -m gtx580 --seeds 20 -o no.csv --slurm
expect "--slurm without -o" 2 "--slurm needs -o FILE" sweep --slurm
expect "--partition without --slurm" 2 "are for --slurm" sweep -o no.csv --partition short
expect "--limit-seconds with --slurm" 2 "--time says how long a task" sweep -o no.csv --slurm --limit-seconds 8
expect "--status without a submission" 3 "hasn't been submitted: there is no .no.csv.slurm." sweep -o no.csv --status
expect "a backslash in the path" 2 "Slurm takes no backslash" sweep -o 'a\b.csv' --slurm --dry-run
expect "--dry-run prints the script" 0 "^#SBATCH --array=\"1-5\"$" sweep -o no.csv --slurm --dry-run
cp "$folder/out" script
point "--dry-run writes nothing" "$(find . -name 'no*')"
# shellcheck disable=SC2016 # for the task to expand
point "a script's words are quoted" "$(
  holds script "^#SBATCH --output=\"$folder/50%% of it's/no.csv.slurm-logs/%A_%a.log\"$"
  holds script "^cd '$folder/50% of it'.''s' \|\| exit$"
  holds script '"\$SLURM_ARRAY_TASK_ID/5" -j "\$\{SLURM_CPUS_ON_NODE:-1\}"$'
)"

# --- programs that stand for Slurm's: what they say lies in files ---

fake=$folder/fake
mkdir "$fake"
cat >"$fake/sbatch" <<END
#!/bin/sh
echo "\$*" >>"$fake/calls"
env >"$fake/environment"
if grep -q 'partition="nope"' "\$2"; then
  echo "sbatch: error: invalid partition specified: nope" >&2
  echo "sbatch: error: Batch job submission failed: Invalid partition name specified" >&2
  exit 1
fi
cat "$fake/job"
END
cat >"$fake/squeue" <<END
#!/bin/sh
if test -e "$fake/squeue_fails"; then
  cat "$fake/squeue_fails" >&2
  exit 1
fi
cat "$fake/queue"
END
cat >"$fake/sacct" <<END
#!/bin/sh
cat "$fake/accounts"
END
cat >"$fake/scontrol" <<END
#!/bin/sh
echo "MaxArraySize            = \$(cat "$fake/size")"
END
chmod +x "$fake"/*
echo 1001 >"$fake/size"
echo 4242 >"$fake/job"
: >"$fake/queue"
: >"$fake/accounts"
real_path=$PATH
PATH=$fake:$PATH

expect "sbatch refuses: its words" 3 "sbatch refuses the job: invalid partition specified: nope; Batch job submission failed" \
  sweep -o no.csv --slurm --partition nope
point "sbatch refuses: nothing is left behind" "$(find . -name 'no*')"
echo 9 >"$fake/size"
expect "more shards than the site takes" 2 "--shards 20: a job array has at most 8 tasks on this site" sweep -o no.csv --slurm --shards 20
echo 4 >"$fake/size"
expect "as many shards as the site takes" 0 "^submitted job 4242: 36 points in 3 shards$" sweep -o few.csv --slurm
echo 1001 >"$fake/size"
expect "submitted" 0 "^submitted job 4242: 36 points in 5 shards$" \
  env SBATCH_PARTITION=other SBATCH_QOS=mine "$LOCKSTEP" sweep traces/accesses.yaml -m gtx580 -m gtx295 -p blocks=1..17:8 \
  -p accesses=400 -p atomic=0,1 --seeds 3 -o out.csv --slurm --partition long
point "what the command line says goes before the environment" "$(
  holds "$fake/environment" '^SBATCH_QOS=mine$'
  ! grep SBATCH_PARTITION "$fake/environment" || :
)"
expect "submitted already" 3 "was submitted already, as job 4242" sweep -o out.csv --slurm
seeds=4
expect "another plan with the same file" 3 "another plan was submitted with this file" sweep -o out.csv --slurm
seeds=3

# a task is what the script says, wherever it is
(cd / && SLURM_ARRAY_TASK_ID=2 sh "$work/out.csv.slurm.sh") 2>err
cat >"$fake/queue" <<END
4242_1|RUNNING|None
4242_3|FAILED|NonZeroExitCode
4242_4|PENDING|Priority
END
echo "4242_5|CANCELLED by 1000" >"$fake/accounts"
expect "--status" 1 "^5 shards: 1 done, 1 running, 1 waiting, 2 failed$" "$LOCKSTEP" sweep -o out.csv --status
point "--status: points, and Slurm's words" "$(
  holds "$folder/out" '^out.csv: 7 of 36 points done$'
  holds "$folder/out" '^      3       7       0  failed   FAILED, NonZeroExitCode$'
  holds "$folder/out" '^      5       7       0  failed   CANCELLED$'
  holds "$folder/out" '^      4       7       0  waiting  Priority$'
)"
seeds=4
expect "--status of another plan" 3 "another plan was submitted" sweep -o out.csv --status
seeds=3
cp traces/accesses.yaml saved.yaml
echo "# changed" >>traces/accesses.yaml
expect "a scenario has changed since" 3 "have changed since it was submitted" "$LOCKSTEP" sweep -o out.csv --resume
mv saved.yaml traces/accesses.yaml
echo "slurm_load_jobs error: Unable to contact slurm controller" >"$fake/squeue_fails"
expect "Slurm doesn't answer" 3 "squeue doesn't say which tasks there are: slurm_load_jobs error: Unable to contact" \
  "$LOCKSTEP" sweep -o out.csv --resume
rm "$fake/squeue_fails"
echo 4300 >"$fake/job"
expect "--resume submits what failed" 0 "^submitted job 4300: 14 points in 2 shards$" "$LOCKSTEP" sweep -o out.csv --resume
point "and nothing else, where the others went" "$(
  holds out.csv.slurm.sh '^#SBATCH --array="3,5"$'
  holds out.csv.slurm.sh '^#SBATCH --partition="long"$'
  holds out.csv.slurm '^jobs=4242;4300;$'
)"
expect "--fresh while tasks wait" 3 "task 4242_[14] of it is still in Slurm's queue" sweep -o out.csv --slurm --fresh
for shard in 1 3 4 5; do
  SLURM_ARRAY_TASK_ID=$shard sh out.csv.slurm.sh 2>err
done
echo "slurm_load_jobs error: Invalid job id specified" >"$fake/squeue_fails"
expect "all are done, and Slurm has forgotten them" 0 "^5 shards: 5 done, 0 running, 0 waiting, 0 failed$" \
  "$LOCKSTEP" sweep -o out.csv --status
expect "--merge without the plan" 0 "36 points" "$LOCKSTEP" sweep -o out.csv --merge
point "the same bytes as here" "$(same local.csv out.csv)"
cp local.csv whole.csv
expect "nothing is left to submit" 0 "all 36 points are done; nothing was submitted" sweep -o whole.csv --slurm
head -n 10 local.csv >part.csv
sweep -o part.csv --slurm --shards 2 2>err >out
SLURM_ARRAY_TASK_ID=1 sh part.csv.slurm.sh 2>err
point "a shard takes what the file has" "$(holds err '18 points \(5 were there\)')"
seeds=4
expect "--fresh submits anew" 0 "^submitted job 4300: 48 points in 2 shards$" sweep -o part.csv --slurm --shards 2 --fresh
seeds=3
point "and forgets what there was" "$(find . -name 'part.csv' -o -name 'part.csv.shard*')"
printf '[sweep]\nshards=0\ncpus=0\ndigest=0\njobs=1;\n' >bad.csv.slurm
expect "a damaged file: a number" 3 "bad.csv.slurm: error: can't be read: shards must be between 1 and" sweep -o bad.csv --status
printf '[sweep]\nshards=2\ncpus=0\ndigest=0\njobs=1;--all;\n' >bad.csv.slurm
expect "a damaged file: a job" 3 ".--all. isn't the number of a job" sweep -o bad.csv --status
echo half >bad.csv.slurm
expect "a damaged file: no keys" 3 "bad.csv.slurm: error: can't be read: " sweep -o bad.csv --slurm
PATH=$real_path

# --- a real one ---

long() { # a sweep whose shards take some seconds
  "$LOCKSTEP" sweep traces/accesses.yaml -m gtx580 -p blocks=120,128 -p accesses=10000 -p contentious=1 --seeds 6 "$@"
}

rows() { # COUNT FILE: true if the journal has that many
  test "$(cat "$2.journal" 2>/dev/null | wc -l)" -gt "$1"
}

task_process() { # SHARD: prints the process of a task
  grep -slzxF "$work/real.csv.plan.yaml" /proc/[0-9]*/cmdline | while read -r found; do
    grep -slzxF "$1/4" "$found" | cut -d/ -f3
  done
}

settled() { # true if no task is left
  "$LOCKSTEP" sweep -o real.csv --status >"$folder/status" 2>&1 || :
  grep -q " 0 running, 0 waiting" "$folder/status"
}

shard_is() { # SHARD STATE
  "$LOCKSTEP" sweep -o real.csv --status >"$folder/status" 2>&1 || :
  grep -qE "^ *$1 .*  $2" "$folder/status"
}

with_slurm() {
  expect "real: a partition that isn't there" 3 "invalid partition specified: nope" long -o real.csv --slurm --partition nope
  expect "real: more shards than the site takes" 2 "at most 8 tasks" long -o real.csv --slurm --shards 20
  long -o real_local.csv 2>err
  expect "real: submitted" 0 "^submitted job [0-9]+: 12 points in 4 shards$" long -o real.csv --slurm --shards 4
  job=$(sed -n 's/^jobs=\([0-9]*\);$/\1/p' real.csv.slurm)
  wait_for 60 rows 1 real.csv.shard-1-of-4 || :
  victim=$(task_process 1)
  kill -9 "$victim" || :
  wait_for 60 rows 1 real.csv.shard-2-of-4 || :
  scancel "${job}_2"
  point "real: --status shows the task that was killed" "$(wait_for 60 shard_is 1 failed || cat "$folder/status")"
  wait_for 300 settled || :
  point "real: two of four failed" "$(holds "$folder/status" '^4 shards: 2 done, 0 running, 0 waiting, 2 failed$')"
  point "real: SIGTERM ends a task in good order" "$(
    holds "real.csv.slurm-logs/${job}_2.log" 'ended by SIGTERM')"
  expect "real: --resume submits those two" 0 "^submitted job [0-9]+: [0-9]+ points in 2 shards$" \
    "$LOCKSTEP" sweep -o real.csv --resume
  wait_for 300 settled || :
  next=$(sed -n 's/^jobs=[0-9]*;\([0-9]*\);$/\1/p' real.csv.slurm)
  point "real: they went on in their journals" "$(
    for shard in 1 2; do
      holds "real.csv.slurm-logs/${next}_$shard.log" '3 points \([12] (was|were) there\)'
    done
  )"
  "$LOCKSTEP" sweep -o real.csv --merge 2>err || :
  point "real: the same bytes as here" "$(same real_local.csv real.csv)"
}

lacks=$(site_lacks)
if test -z "$lacks" && ! site_start "$folder/site"; then
  lacks="Slurm's daemons didn't start: $(tail -n 1 "$folder/site/slurmctld.log" 2>/dev/null)"
fi
if test -z "$lacks"; then
  with_slurm
else
  for skipped in $(seq $real_points); do
    number=$((number + 1))
    echo "ok $number - real Slurm, $skipped of $real_points # SKIP $lacks"
  done
fi
finish
