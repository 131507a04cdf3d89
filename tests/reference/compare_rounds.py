"""`fedround run` beside `paper_rounds.py`, in turns: seconds of a round of five papers' methods.

    cargo build --release
    python tests/reference/compare_rounds.py --data-dir DIR [--runs 3] [--only SETTING] [--print]

Prints Markdown; figures are medians over the rounds of all runs, without each run's first round of
a phase. fedround's are the `seconds` of its metrics.jsonl, which leave out evaluation; there are
no checkpoints. Run it on an idle machine: with two threads, eager PyTorch slows down by far more
than its share where another process uses one of two cores. The interpreter must have torch.
"""

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from rounds.settings import SETTINGS

ROOT = Path(__file__).resolve().parents[2]


def ours(name, command):
    """The seconds of fedround's rounds, by phase."""
    s = SETTINGS[name]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        subprocess.run([*command, "--out", str(out), "--quiet"], check=True)
        lines = (out / "metrics.jsonl").read_text().splitlines()
        steps = json.loads((out / "summary.json").read_text())["client_steps"]
    found = [json.loads(line) for line in lines]
    # A phase is called by the layer of its algorithm, too, as in `fedfed.distill`.
    phase_of = lambda row: row.get("phase", "train").split(".")[-1]
    seconds = {p: [r["seconds"] for r in found if phase_of(r) == p] for p in s.phases}
    expected = sum(len(seconds[p]) * s.counted_steps(p) for p in s.phases)
    assert steps == expected, f"{name}: expected {expected} steps, found {steps}"
    return {phase: times[1:] for phase, times in seconds.items()}


def theirs(name, threads):
    """The seconds of PyTorch's rounds, by phase; `paper_rounds.py` checks the number of steps."""
    script = ROOT / "tests/reference/paper_rounds.py"
    command = [sys.executable, script, "--only", name, "--threads", str(threads), "--json"]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {row["phase"]: row["seconds"] for row in map(json.loads, out.splitlines())}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", required=True)
    parser.add_argument("--fedround", default=ROOT / "target/release/fedround")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", choices=SETTINGS, action="append")
    parser.add_argument("--print", action="store_true", help="print fedround's commands alone")
    args = parser.parse_args()
    table = []
    for name in args.only or SETTINGS:
        s = SETTINGS[name]
        command = [args.fedround, *s.command(), "--data-dir", args.data_dir, "--threads",
                   args.threads, "--eval-every", s.total_rounds(), "--checkpoint", "off"]
        command = [str(part) for part in command]
        if args.print:
            print(shlex.join(command))
            continue
        a, b = {p: [] for p in s.phases}, {p: [] for p in s.phases}
        for _ in range(args.runs):
            for seconds, times in (a, ours(name, command)), (b, theirs(name, args.threads)):
                for phase in s.phases:
                    seconds[phase] += times[phase]
        table += [(s, p, median(a[p]), median(b[p])) for p in s.phases]
    if args.print:
        return
    print("| paper | a round | local steps | fedround, s/round | PyTorch, s/round | ratio |")
    print("|---|---|--:|--:|--:|--:|")
    for s, phase, a, b in table:
        print(f"| {s.spec} | {s.describe(phase)} | {s.local_steps(phase):,} "
              f"| {a:.3f} | {b:.3f} | {b / a:.2f} |")


if __name__ == "__main__":
    main()
