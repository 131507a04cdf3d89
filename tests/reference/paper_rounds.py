"""Seconds of a round of each of five papers' methods in eager PyTorch, on random data.

    pip install torch==2.15.0 numpy==2.4.6
    python tests/reference/paper_rounds.py [--only PAPER] [--rounds N] [--threads N] [--json]

One client after another, with `torch.optim` in its fused form. What a round does is in
rounds/settings.py, from which `compare_rounds.py` takes the command of fedround, too. The data is
random, since its values do not change the work. There is one exception: in FedAA, L-BFGS stops to
search when it has found a step, on both sides, so that the number of its evaluations depends on
the loss. PyTorch's is printed.
"""

import argparse
import json
import time
from statistics import median

import torch
from rounds import adcol, adfl, fedaa, fedfed, lg_fedavg
from rounds.settings import SETTINGS

MODULES = {"adcol": adcol, "adfl": adfl, "lg-fedavg": lg_fedavg, "fedaa": fedaa, "fedfed": fedfed}


def measure(name, rounds=None):
    """The seconds of each timed round, by phase, after one round of warm-up."""
    s, rows = SETTINGS[name], []
    torch.manual_seed(1)
    for phase, a_round in MODULES[s.spec].rounds(s).items():
        seconds = []
        for _ in range(1 + (rounds or s.rounds)):
            start = time.perf_counter()
            steps = a_round()
            seconds.append(time.perf_counter() - start)
            assert steps == s.local_steps(phase), (name, phase, steps)
        row = {"setting": name, "phase": phase, "local_steps": steps, "seconds": seconds[1:]}
        if hasattr(a_round, "evaluations"):
            row["lbfgs_evaluations"] = median(a_round.evaluations)
        rows.append(row)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=SETTINGS, action="append")
    parser.add_argument("--rounds", type=int, help="timed rounds, in place of each setting's")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", action="store_true", help="one JSON object a row")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    for name in args.only or SETTINGS:
        for row in measure(name, args.rounds):
            if args.json:
                print(json.dumps(row))
                continue
            rest = f"{row['local_steps']} local steps"
            if "lbfgs_evaluations" in row:
                rest += f", {row['lbfgs_evaluations']:g} evaluations of L-BFGS for a client"
            print(f"{name}, {row['phase']}: {median(row['seconds']):.3f} s a round, {rest}")


if __name__ == "__main__":
    main()
