#!/usr/bin/env bash
# Measures what default checkpointing costs: runs of the tasks 2nn-mnist and cnn-mnist, in turns, with
# their own count of the time that checkpoints took beside the time of everything.
#
#   docs/benchmarks/checkpoints.sh target/release/fedround DATA-DIR [RUNS]
set -euo pipefail
program=$1 data=$2 runs=${3:-5}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

run() { # NAME ROUNDS ARGUMENTS...
    local name=$1 rounds=$2 out=$scratch/out
    shift 2
    rm -rf "$out"
    "$program" run fedavg --data mnist --data-dir "$data" --clients 100 --partition shards:2 \
        --set epochs=1 --set fraction=0.1 --threads 2 "$@" --rounds "$rounds" --out "$out" --json |
        python3 -c '
import json, sys
run = json.load(sys.stdin)
spent, total = run["checkpoint_seconds"], run["total_seconds"]
print(f"{sys.argv[1]}: {spent:.3f} of {total:.1f} s, {100 * spent / total:.2f} %")' "$name"
}

for _ in $(seq "$runs"); do
    run 2nn-mnist "${ROUNDS_2NN:-600}" --model 2nn --set batch=10 --set lr=0.05
    run cnn-mnist "${ROUNDS_CNN:-60}" --model cnn --set batch=20 --set lr=0.05
done
