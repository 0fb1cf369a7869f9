# Sourced by tests/script/slurm.sh: a Slurm of one node on loopback, all of it in one folder, with ports and a socket of its own, so that
# it meets no other. Nothing is installed here: ./runtests does that.
# shellcheck shell=sh

# Where Debian has the daemons.
PATH=$PATH:/usr/sbin
site_pids=

site_lacks() { # prints why there can't be one, if so
  for program in munged slurmctld slurmd sbatch squeue scancel scontrol; do
    command -v "$program" >/dev/null || {
      echo "there is no $program: packages munge, slurmctld, slurmd, slurm-client"
      return
    }
  done
  test "$(id -u)" = 0 || echo "Slurm's daemons are started by root only"
}

site_configure() { # FOLDER PORT
  cat >"$1/slurm.conf" <<END
ClusterName=lockstep
SlurmctldHost=localhost
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$1/munge/socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SlurmctldPort=$2
SlurmdPort=$(($2 + 1))
StateSaveLocation=$1/state
SlurmdSpoolDir=$1/spool
SlurmctldPidFile=$1/slurmctld.pid
SlurmdPidFile=$1/slurmd.pid
SlurmctldLogFile=$1/slurmctld.log
SlurmdLogFile=$1/slurmd.log
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
MaxArraySize=9
SlurmdParameters=config_overrides
NodeName=localhost CPUs=2 State=UNKNOWN
PartitionName=short Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
}

site_answers() {
  sinfo --noheader --format=%T 2>/dev/null | grep -q idle
}

# wait_for SECONDS COMMAND...: false if COMMAND isn't true within that time.
wait_for() {
  wait_left=$(($1 * 10))
  shift
  until "$@"; do
    wait_left=$((wait_left - 1))
    test $wait_left -gt 0 || return 1
    sleep 0.1
  done
}

site_daemon() { # starts one in the background
  "$@" >"$site/${1##*/}.out" 2>&1 &
  site_pids="$! $site_pids"
}

site_start() { # FOLDER; false if it doesn't start
  site=$1
  mkdir -p "$site/munge" "$site/state" "$site/spool"
  chmod 755 "$site" && chmod 711 "$site/munge"
  dd if=/dev/urandom of="$site/munge/key" bs=1024 count=1 2>/dev/null
  chmod 400 "$site/munge/key"
  site_configure "$site" $((20000 + $$ % 6000 * 2))
  SLURM_CONF=$site/slurm.conf
  export SLURM_CONF
  site_daemon munged --foreground --force --socket="$site/munge/socket" --key-file="$site/munge/key" \
    --pid-file="$site/munge/pid" --log-file="$site/munge/log" --seed-file="$site/munge/seed"
  wait_for 10 test -e "$site/munge/socket" || return 1
  site_daemon slurmctld -D
  site_daemon slurmd -D -N localhost
  wait_for 60 site_answers
}

site_stop() { # ends what site_start began, the newest first
  test -n "$site_pids" || return 0
  scancel --user=root 2>/dev/null || :
  for pid in $site_pids; do
    kill "$pid" 2>/dev/null || :
  done
  for pid in $site_pids; do
    wait "$pid" 2>/dev/null || :
  done
  site_pids=
}
