"""Trains small models by the command, exports them, and compares PyTorch's probabilities for the exported
weights with `fedround predict`'s. Needs `target/debug/fedround`, or the path of a command as argument.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file

from logits import Cnn, TwoNn

FEDROUND = Path(sys.argv[1] if len(sys.argv) > 1 else "target/debug/fedround").resolve()
TOLERANCE = 1e-5


def fedround(folder, line):
    return subprocess.run(
        [FEDROUND, *line.split()], cwd=folder, check=True, stdout=subprocess.PIPE
    ).stdout


def compare(folder, run, model, images, options=""):
    fedround(folder, f"export {run} --to {run}.pt {options}")
    fedround(folder, f"export {run} --to {run}.safetensors --format safetensors {options}")
    states = [
        torch.load(folder / f"{run}.pt", weights_only=True),
        load_file(folder / f"{run}.safetensors"),
    ]
    found = json.loads(fedround(folder, f"predict {run} images.csv {options}"))
    # As the reader of drawn digits scales bytes.
    x = torch.tensor(images, dtype=torch.float32).reshape(-1, 1, 28, 28) / 255
    worst = 0.0
    for state in states:
        model.load_state_dict(state, strict=True)
        with torch.no_grad():
            expected = torch.softmax(model.eval()(x).double(), 1)
        for row, prediction in zip(expected, found, strict=True):
            own = torch.tensor(list(prediction["probabilities"].values()), dtype=torch.float64)
            worst = max(worst, (row - own).abs().max().item())
    assert worst < TOLERANCE, f"{run}: {worst}"
    print(f"{run}: {len(found)} images, two files, at most {worst:.1e} apart")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        images = np.random.default_rng(1).integers(0, 256, (20, 784))
        np.savetxt(folder / "images.csv", images, fmt="%d", delimiter=",")
        settings = "--clients 4 --rounds 2 --set fraction=1 --quiet"
        fedround(folder, f"run fedavg --model 2nn --out two-nn {settings}")
        compare(folder, "two-nn", TwoNn(), images)
        fedround(folder, f"run fedavg --model cnn --out cnn {settings}")
        compare(folder, "cnn", Cnn(), images)
        fedround(folder, f"run fedrep --model 2nn --out personal {settings}")
        compare(folder, "personal", TwoNn(), images, "--client 2")
