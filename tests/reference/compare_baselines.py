"""`fedround run` beside `baselines.py` on real data: the accuracies of docs/benchmarks/baselines.md.

    cargo build --release
    pip install torch==2.15.0 numpy==2.4.6
    python tests/reference/compare_baselines.py --data-dir DIR [--data cifar-10] [--only scaffold]

Prints a Markdown table, row by row as cells are done: mean and standard deviation of the test
accuracy over the seeds, in per cent.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SEEDS = 3
# Data: partition, clients, rounds, batch; all with lenet5, cohorts of ten and one local epoch.
TASKS = {"mnist": ("shards:2", 50, 30, 50), "cifar-10": ("dirichlet:0.1", 50, 30, 20)}
COHORT, LR = 10, 0.05
# SCAFFOLD's variates, with a fifth of the clients a round, make larger steps unstable.
OWN_LR = {"scaffold": 0.02}
METHODS = {
    "fedavg": [],
    "fedprox": ["mu=0.1"],
    "scaffold": [],
    "fednova": ["momentum=0.5"],
    "moon": ["mu=1.0"],
}


def sets(assignments):
    return [word for assignment in assignments for word in ("--set", assignment)]


def ours(method, data, data_dir):
    partition, clients, rounds, batch = TASKS[data]
    schedule = [f"fraction={COHORT / clients}", f"batch={batch}", f"lr={OWN_LR.get(method, LR)}"]
    accuracies = []
    for seed in range(1, SEEDS + 1):
        with tempfile.TemporaryDirectory() as out:
            command = [ROOT / "target/release/fedround", "run", method, "--data", data,
                       "--data-dir", data_dir, "--model", "lenet5", "--partition", partition,
                       "--clients", clients, "--rounds", rounds, "--eval-every", rounds,
                       "--seed", seed, "--out", out, "--json",
                       *sets(schedule + METHODS[method])]
            accuracies.append(run(command)["test_accuracy"])
    return accuracies


def theirs(method, data, data_dir):
    partition, clients, rounds, batch = TASKS[data]
    return run([sys.executable, ROOT / "tests/reference/baselines.py", "--method", method,
                "--data", data, "--data-dir", data_dir, "--partition", partition,
                "--clients", clients, "--cohort", COHORT, "--rounds", rounds, "--batch", batch,
                "--lr", OWN_LR.get(method, LR), "--seeds", SEEDS, *sets(METHODS[method])])["test_accuracy"]


def run(command):
    out = subprocess.run([str(c) for c in command], check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(out.stdout)


def cell(accuracies):
    return f"{100 * statistics.mean(accuracies):.2f} ± {100 * statistics.stdev(accuracies):.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", required=True)
    parser.add_argument("--data", choices=TASKS)
    parser.add_argument("--only", choices=METHODS)
    args = parser.parse_args()
    print("| data | method | fedround | PyTorch | difference | by seed |")
    print("|---|---|--:|--:|--:|--:|")
    for data in [args.data] if args.data else TASKS:
        for method in [args.only] if args.only else METHODS:
            a, b = ours(method, data, args.data_dir), theirs(method, data, args.data_dir)
            differences = [100 * (x - y) for x, y in zip(a, b)]
            each = ", ".join(f"{d:+.2f}" for d in differences)
            print(f"| {data} | {method} | {cell(a)} | {cell(b)} "
                  f"| {statistics.mean(differences):+.2f} | {each} |", flush=True)


if __name__ == "__main__":
    main()
