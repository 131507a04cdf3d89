#!/usr/bin/env bash
# Tests and measures a GPU: all that gpu.md has of one, in one command. It takes two machines, or one:
#
#   gpu.sh build cuda FOLDER              where Rust is: puts the programs and this script in FOLDER
#   FOLDER/gpu.sh run cuda DATA RESULTS   where the GPU is: needs FOLDER and the data, nothing else
#
# `wgpu` in place of `cuda` does the same through Vulkan. DATA is as for `fedround bench --data-dir`.
# RESULTS gets a log of each step, the tables, their JSON, and summary.txt, which has each step's end.
#
# Environment of `build`: PROFILE=release, FLAGS= (of cargo, such as --config …).
# Environment of `run`:
#   BUDGET=1440               seconds for all; what has no time left is skipped, and said so
#   LIMIT=420                 seconds for one step
#   TASKS="2nn-mnist pfl-cifar10"  COHORTS="1 50"  RUNS=3
#   ROUNDS=                   of all; if not set, 110 for a cohort of one, 12 for 50
#   TESTS="memory reads kernel_time devices"   beside `replay`
#   PEERS=                    a folder of other programs' reports on the same machine
#   BENCH=                    more arguments of `fedround bench`
#   BLAZEFL="lenet5 resnet18" models of BlazeFL's setting; empty: it is left out
set -euo pipefail

usage() {
  sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2
  exit 2
}

build() { # FEATURE FOLDER
  local feature=$1 folder=$2 flags lines name
  mkdir -p "$folder"
  folder=$(cd "$folder" && pwd)
  cp "${BASH_SOURCE[0]}" "$folder/gpu.sh"
  cd "$(dirname "${BASH_SOURCE[0]}")/../.."
  read -ra flags <<<"--profile ${PROFILE:-release} --locked ${FLAGS:-}"
  # Cargo names the programs that it makes.
  lines=$({
    cargo build --workspace --bin fedround --features "$feature" "${flags[@]}" --message-format=json
    cargo test -p fedround-simulation --features "$feature" --no-run "${flags[@]}" --message-format=json \
      --test replay --test memory --test reads --test kernel_time --test devices
  } | grep '"executable":"')
  for name in fedround replay memory reads kernel_time devices; do
    cp "$(sed -n "s|.*\"executable\":\"\([^\"]*/$name\(-[0-9a-f]*\)\?\)\".*|\1|p" <<<"$lines" | tail -1)" \
      "$folder/$name"
    # Symbols are most of what would travel.
    strip "$folder/$name" || true
  done
  ls -l "$folder"
}

# Runs a step within the time that is left; its output goes to a log.
step() { # NAME COMMAND…
  local name=$1 begun=$SECONDS left=$((${BUDGET:-1440} - SECONDS)) limit=${LIMIT:-420} said
  shift
  if [ "$left" -lt 20 ]; then
    said="skipped: of BUDGET=${BUDGET:-1440} s nothing is left"
    failed=1
  elif timeout $((left < limit ? left : limit)) "$@" >"$results/$name.log" 2>&1; then
    said="ok"
  else
    said="failed with status $? (124: out of time), see $name.log"
    failed=1
  fi
  printf '%-28s %4d s  %s\n' "$name" $((SECONDS - begun)) "$said" | tee -a "$results/summary.txt"
}

# A table, and its JSON; it is the step's log.
bench() { # TASK WHAT ROUNDS ARGUMENTS…
  local task=$1 name=$1-$2 rounds=${ROUNDS:-$3} more
  local json=$results/$task/$name.json
  shift 3
  read -ra more <<<"${BENCH:-}"
  step "$name" "$here/fedround" bench --task "$task" "$@" --device "$device" --data-dir "$data" \
    --threads "$(nproc)" --rounds "$rounds" --runs "${RUNS:-3}" --markdown \
    --out "$json" "${more[@]}"
  # Of a step that failed: later ones read the folder.
  [ -s "$json" ] || rm -f "$json"
}

run() { # DEVICE DATA RESULTS
  device=$1 data=$2 failed=0
  here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
  mkdir -p "$3"
  results=$(cd "$3" && pwd)
  { date -u; nvidia-smi || true; nproc; } >"$results/summary.txt" 2>&1
  # What is compiled, and chosen by timing, is kept here for the next process.
  export XDG_CACHE_HOME=$results/cache
  step doctor "$here/fedround" doctor --device "$device"
  # What is asked of a GPU first: that replays are right, and what they and the rest give.
  # One test after another, as a recording forbids other threads to use the GPU; each says at once what is
  # wrong, so that a step that is out of time shows it.
  step replay "$here/replay" --test-threads 1 --nocapture
  local task cohort name rounds
  # The first round of a process that finds nothing there, and of the next.
  mkdir -p "$results/2nn-mnist"
  for name in first-process next-process; do
    RUNS=1 bench 2nn-mnist "$name" 2
  done
  for task in ${TASKS:-2nn-mnist pfl-cifar10}; do
    mkdir -p "$results/$task"
    for cohort in ${COHORTS:-1 50}; do
      rounds=$((10 + 100 / cohort)) name=cohort-$cohort
      bench "$task" "$name" "$rounds" --cohort "$cohort" --graphs off
      bench "$task" "$name-replayed" "$rounds" --cohort "$cohort" --graphs require
    done
    bench "$task" factors 12 --factors
    if [ "${device%%:*}" = cuda ]; then
      bench "$task" bf16 12 --precision bf16
    fi
    # A table of all, after one more row of its own.
    bench "$task" all 12 --peers "$results/$task" ${PEERS:+--peers "$PEERS"}
  done
  for name in ${TESTS:-memory reads kernel_time devices}; do
    step "$name" "$here/$name" --test-threads 1 --nocapture
  done
  # BlazeFL's published setting: 100 clients of two shards of CIFAR-10, all of them in each of five rounds.
  mkdir -p "$results/lenet-cifar10"
  for name in ${BLAZEFL-lenet5 resnet18}; do
    RUNS=1 bench lenet-cifar10 "blazefl-$name" 5 --model "$name" --cohort 100 --lr 0.1 --set epochs=5
  done
  printf '\n%s\n' "$results:" && cat "$results/summary.txt"
  return "$failed"
}

case "${1:-} $#" in
  "build 3") build "$2" "$3" ;;
  "run 4") run "$2" "$3" "$4" ;;
  *) usage ;;
esac
