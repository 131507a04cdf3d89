"""FedAvg in plain PyTorch on the tasks of `fedround bench`: the reference for exactness and speed.

    pip install torch==2.15.0 numpy==2.4.6
    python tests/reference/fedavg_torch.py --task 2nn-mnist --data-dir DIR [--rounds N] [--threads N]

One client after another, eager autograd, one fused update a step. Every random choice is a
SplitMix64 stream, so that the figures can be compared with `fedround bench` digit by digit.
Prints JSON: client_steps_per_s (first round left out), params_l2, test_loss, test_accuracy.
"""

import argparse
import gzip
import json
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from draws import INIT, SAMPLE, SEED, order, partition, permutation, uniform

# data, clients, split, cohort, batch, lr, rounds, layers; a layer is ("c", in, out, kernel),
# ("f", in, out) or "p" for a 2x2 max pool. ReLU follows every convolution and linear layer but
# the last.
TASKS = {
    "lr-mnist": ("mnist", 1000, "iid", 10, 10, 0.03, 100, [("f", 784, 10)]),
    "2nn-mnist": ("mnist", 100, "shards:2", 10, 10, 0.05, 20,
                  [("f", 784, 200), ("f", 200, 200), ("f", 200, 10)]),
    "cnn-mnist": ("mnist", 100, "shards:2", 10, 20, 0.05, 3,
                  [("c", 1, 32, 5), "p", ("c", 32, 64, 5), "p", ("f", 1024, 512), ("f", 512, 10)]),
    "pfl-cifar10": ("cifar", 600, "iid", 50, 10, 0.1, 2,
                    [("c", 3, 32, 3), ("c", 32, 64, 3), "p", ("f", 12544, 128), ("f", 128, 10)]),
    "lenet-cifar10": ("cifar", 100, "shards:2", 10, 50, 0.05, 5,
                      [("c", 3, 6, 5), "p", ("c", 6, 16, 5), "p",
                       ("f", 400, 120), ("f", 120, 84), ("f", 84, 10)]),
}


def initial(layers, seed=SEED):
    params = []
    for i, (_, inputs, outputs, *kernel) in enumerate(l for l in layers if l != "p"):
        shape = (outputs, inputs, *kernel, *kernel)
        fan_in = int(np.prod(shape[1:]))
        for part, dims in enumerate([shape, shape[:1]]):
            values = uniform(int(np.prod(dims)), fan_in**-0.5, INIT, i, part, seed=seed)
            params.append(torch.from_numpy(values.reshape(dims)))
    return params


def forward(layers, params, x):
    params, last = iter(params), layers[-1]
    for layer in layers:
        if layer == "p":
            x = F.max_pool2d(x, 2)
            continue
        w, b = next(params), next(params)
        x = F.conv2d(x, w, b) if layer[0] == "c" else F.linear(x.flatten(1), w, b)
        if layer is not last:
            x = F.relu(x)
    return x


def read(path):
    packed = path.with_name(path.name + ".gz")
    return gzip.decompress(packed.read_bytes()) if packed.exists() else path.read_bytes()


def load(name, root):
    if name == "mnist":
        def part(kind):
            images = np.frombuffer(read(root / "mnist" / f"{kind}-images-idx3-ubyte"), np.uint8, offset=16)
            labels = np.frombuffer(read(root / "mnist" / f"{kind}-labels-idx1-ubyte"), np.uint8, offset=8)
            return images.reshape(-1, 1, 28, 28).astype(np.float32) / np.float32(255), labels
        return *part("train"), *part("t10k")
    folder = root / "cifar-10-batches-bin"

    def rows(names):
        data = np.concatenate([np.frombuffer(read(folder / n), np.uint8) for n in names])
        data = data.reshape(-1, 3073)
        x = data[:, 1:].reshape(-1, 3, 32, 32).astype(np.float32) / np.float32(255)
        return (x - np.float32(0.5)) / np.float32(0.25), data[:, 0]
    return *rows([f"data_batch_{i}.bin" for i in (1, 2, 3)]), *rows(["test_batch.bin"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=TASKS, required=True)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    data, clients, split, cohort, batch, lr, rounds, layers = TASKS[args.task]
    rounds = args.rounds or rounds
    torch.set_num_threads(args.threads)
    x, y, test_x, test_y = load(data, args.data_dir)
    x, labels, test_x, test_y = (torch.from_numpy(np.array(a)) for a in (x, y, test_x, test_y))
    labels, test_y = labels.long(), test_y.long()
    parts = partition(split, y, clients)
    server = initial(layers)
    model = [p.clone().requires_grad_() for p in server]
    steps, start = 0, time.perf_counter()
    for rnd in range(1, rounds + 1):
        total = [torch.zeros_like(p) for p in server]
        for client in permutation(clients, SAMPLE, rnd)[:cohort]:
            mine = torch.from_numpy(parts[client][order(len(parts[client]), rnd, int(client), 0)])
            with torch.no_grad():
                torch._foreach_copy_(model, server)
            for xb, yb in zip(x[mine].split(batch), labels[mine].split(batch)):
                grads = torch.autograd.grad(F.cross_entropy(forward(layers, model, xb), yb), model)
                with torch.no_grad():
                    torch._foreach_add_(model, grads, alpha=-lr)
                steps += 1
            with torch.no_grad():
                torch._foreach_add_(total, model, alpha=1.0 / cohort)
        server = [p.detach() for p in total]
        if rnd == 1 and rounds > 1:
            steps, start = 0, time.perf_counter()
    seconds = time.perf_counter() - start
    with torch.no_grad():
        logits = torch.cat([forward(layers, server, c) for c in test_x.split(250)]).double()
    print(json.dumps({
        "task": args.task, "rounds": rounds, "client_steps_per_s": round(steps / seconds, 2),
        "params_l2": round(float(sum(p.double().square().sum() for p in server)) ** 0.5, 6),
        "test_loss": round(float(F.cross_entropy(logits, test_y)), 6),
        "test_accuracy": round(float((logits.argmax(1) == test_y).double().mean()), 5),
    }))


if __name__ == "__main__":
    main()
