"""`fedround bench` beside `fedavg_torch.py`, interleaved: the tables of docs/benchmarks/cpu.md.

    cargo build --release
    python tests/reference/compare.py --data-dir DIR [--runs 3]

Prints Markdown; figures are medians over the runs. The interpreter must have torch and numpy.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TASKS = ["lr-mnist", "2nn-mnist", "cnn-mnist", "lenet-cifar10", "pfl-cifar10"]


def run(command):
    out = subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True)
    return json.loads(out.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", required=True)
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    rows = []
    for task in TASKS:
        ours, theirs = [], []
        for _ in range(args.runs):
            rest = ["--task", task, "--data-dir", args.data_dir]
            ours.append(run([ROOT / "target/release/fedround", "bench", *rest]))
            theirs.append(run([sys.executable, ROOT / "tests/reference/fedavg_torch.py", *rest]))
        rows.append((task, ours, theirs))
    median = lambda runs, key: statistics.median(r[key] for r in runs)
    print("| task | fedround, client-steps/s | PyTorch, client-steps/s | ratio | first round, s | peak MB |")
    print("|---|--:|--:|--:|--:|--:|")
    for task, ours, theirs in rows:
        a, b = median(ours, "client_steps_per_s"), median(theirs, "client_steps_per_s")
        first, rss = median(ours, "time_to_first_round_s"), median(ours, "peak_rss_mb")
        print(f"| {task} | {a:,.0f} | {b:,.0f} | {a / b:.2f} | {first:.2f} | {rss:.0f} |")
    print()
    print("| task | rounds | `params_l2` | PyTorch | `test_loss` | PyTorch |")
    print("|---|--:|--:|--:|--:|--:|")
    for task, [a, *_], [b, *_] in rows:
        print(f"| {task} | {a['rounds']} | {a['params_l2']:.6f} | {b['params_l2']:.6f} "
              f"| {a['test_loss']:.6f} | {b['test_loss']:.6f} |")


if __name__ == "__main__":
    main()
