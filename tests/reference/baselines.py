"""FedAvg, FedProx, SCAFFOLD, FedNova and MOON in plain PyTorch, each from its paper.

    pip install torch==2.15.0 numpy==2.4.6
    python tests/reference/baselines.py --method scaffold --data mnist --data-dir DIR \\
        --partition dirichlet:0.1 --clients 20 --cohort 10 --rounds 30 --seeds 3

One client after another. A model's parameters are one flat vector, so that a rule reads as in the
paper. Partition, initial parameters, cohorts and batch orders are `fedround run`'s of the same
seed (draws.py), so that the update rules are what is compared. Prints JSON.
"""

import argparse
import json
import statistics
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch
import torch.nn.functional as F
from draws import SAMPLE, order, partition, permutation
from fedavg_torch import TASKS, forward, initial, load

NETS = {
    "2nn": TASKS["2nn-mnist"][-1],
    "lenet5": TASKS["lenet-cifar10"][-1],
    "lenet5-grey": [("c", 1, 6, 5), "p", ("c", 6, 16, 5), "p",
                    ("f", 256, 120), ("f", 120, 84), ("f", 84, 10)],
}
# What a method adds to the schedule.
HYPERS = {"mu": 0.0, "momentum": 0.0, "server_lr": 1.0, "tau": 0.5}


class Net:
    """A model as functions of a flat vector."""

    def __init__(self, layers, seed):
        values = initial(layers, seed)
        self.layers, self.shapes = layers, [v.shape for v in values]
        self.initial = torch.cat([v.flatten() for v in values])

    def leaves(self, w):
        sizes = [shape.numel() for shape in self.shapes]
        return [v.view(shape) for v, shape in zip(w.split(sizes), self.shapes)]

    def predict(self, w, x):
        return forward(self.layers, self.leaves(w), x)

    def features(self, w, x):
        """What the last layer is given."""
        return F.relu(forward(self.layers[:-1], self.leaves(w), x))


class Federation:
    """Clients, and who trains when on what."""

    def __init__(self, net, x, y, parts, seed, cohort, epochs, batch, lr, **hypers):
        self.net, self.x, self.y, self.parts, self.seed = net, x, y, parts, seed
        self.cohort_size, self.epochs, self.batch = cohort, epochs, batch
        self.h = SimpleNamespace(lr=lr, **{**HYPERS, **hypers})

    def cohort(self, rnd):
        clients = permutation(len(self.parts), SAMPLE, rnd, seed=self.seed)
        return [int(k) for k in clients[:self.cohort_size]]

    def batches(self, rnd, k):
        part = self.parts[k]
        for epoch in range(self.epochs):
            rows = torch.from_numpy(part[order(len(part), rnd, k, epoch, seed=self.seed)])
            yield from zip(self.x[rows].split(self.batch), self.y[rows].split(self.batch))

    def shares(self, cohort):
        """p_k: a client's share of the cohort's examples."""
        total = sum(len(self.parts[k]) for k in cohort)
        return [len(self.parts[k]) / total for k in cohort]

    def cross_entropy(self, w, batch):
        return F.cross_entropy(self.net.predict(w, batch[0]), batch[1])

    def gradient(self, w, batch, loss=None):
        w = w.detach().requires_grad_()
        return torch.autograd.grad((loss or self.cross_entropy)(w, batch), w)[0]


def fedavg(fed, rnd, x, state):
    """McMahan et al. 2017, Algorithm 1."""
    cohort, mean = fed.cohort(rnd), 0
    for k, p in zip(cohort, fed.shares(cohort)):
        w = x
        for b in fed.batches(rnd, k):
            w = w - fed.h.lr * fed.gradient(w, b)
        mean = mean + p * w
    return mean


def fedprox(fed, rnd, x, state):
    """Li et al. 2020, Algorithm 2: steps on F_k(w) + mu/2 |w - x|^2; FedAvg's means."""
    cohort, mean = fed.cohort(rnd), 0
    for k, p in zip(cohort, fed.shares(cohort)):
        w = x
        for b in fed.batches(rnd, k):
            w = w - fed.h.lr * (fed.gradient(w, b) + fed.h.mu * (w - x))
        mean = mean + p * w
    return mean


def scaffold(fed, rnd, x, state):
    """Karimireddy et al. 2020, Algorithm 1, option II."""
    cohort, lr = fed.cohort(rnd), fed.h.lr
    c, variates = state.get("c", torch.zeros_like(x)), state.setdefault("c_k", {})
    dx, dc = 0, 0
    for k in cohort:
        c_k, y, steps = variates.get(k, torch.zeros_like(x)), x, 0
        for b in fed.batches(rnd, k):
            y = y - lr * (fed.gradient(y, b) - c_k + c)
            steps += 1
        renewed = c_k - c + (x - y) / (steps * lr)
        dx, dc = dx + (y - x) / len(cohort), dc + (renewed - c_k) / len(cohort)
        variates[k] = renewed
    # Line 17: c moves by |S|/N of the cohort's mean.
    state["c"] = c + len(cohort) / len(fed.parts) * dc
    return x + fed.h.server_lr * dx


def fednova(fed, rnd, x, state):
    """Wang et al. 2020, Eq. (7), for local SGD with momentum, whose |a|_1 has a closed form."""
    cohort, rho = fed.cohort(rnd), fed.h.momentum
    tau_eff, mean = 0, 0
    for k, p in zip(cohort, fed.shares(cohort)):
        w, v, steps = x, torch.zeros_like(x), 0
        for b in fed.batches(rnd, k):
            v = rho * v + fed.gradient(w, b)
            w = w - fed.h.lr * v
            steps += 1
        a = (steps - rho * (1 - rho**steps) / (1 - rho)) / (1 - rho)
        tau_eff, mean = tau_eff + p * a, mean + p * (x - w) / a
    return x - tau_eff * mean


def moon(fed, rnd, x, state):
    """Li, He and Song 2021, Algorithm 1, with the network's features for z."""
    cohort, mean = fed.cohort(rnd), 0
    for k, p in zip(cohort, fed.shares(cohort)):
        w, previous = x, state.get(k, x)

        def loss(w, batch):
            z = fed.net.features(w, batch[0])
            with torch.no_grad():
                others = [fed.net.features(other, batch[0]) for other in (x, previous)]
            # Eq. (3) is a cross-entropy of which the global model's z is the right class.
            similar = torch.stack([F.cosine_similarity(z, other) for other in others], 1)
            near = torch.zeros(len(z), dtype=torch.long)
            contrast = F.cross_entropy(similar / fed.h.tau, near)
            return fed.cross_entropy(w, batch) + fed.h.mu * contrast

        for b in fed.batches(rnd, k):
            w = w - fed.h.lr * fed.gradient(w, b, loss)
        mean, state[k] = mean + p * w, w
    return mean


METHODS = {f.__name__: f for f in (fedavg, fedprox, scaffold, fednova, moon)}


def evaluate(net, w, x, y):
    """Mean cross-entropy and accuracy."""
    with torch.no_grad():
        logits = torch.cat([net.predict(w, chunk) for chunk in x.split(250)]).double()
    return float(F.cross_entropy(logits, y)), float((logits.argmax(1) == y).double().mean())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--method", choices=METHODS, required=True)
    parser.add_argument("--data", choices=["mnist", "cifar-10"], required=True)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--model", choices=["2nn", "lenet5"], default="lenet5")
    parser.add_argument("--partition", default="shards:2")
    for name, default in [("clients", 20), ("cohort", 10), ("rounds", 30), ("epochs", 1),
                          ("batch", 50), ("seeds", 1), ("threads", 1)]:
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE",
                        help=f"one of {', '.join(HYPERS)}")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    hypers = {name: float(value) for name, value in (s.split("=") for s in args.set)}
    layers = NETS[args.model + "-grey" * (args.data == "mnist" and args.model == "lenet5")]
    x, labels, test_x, test_y = load("cifar" if args.data == "cifar-10" else args.data, args.data_dir)
    x, y, test_x, test_y = (torch.from_numpy(np.array(a)) for a in (x, labels, test_x, test_y))
    y, test_y = y.long(), test_y.long()
    accuracies, start = [], time.perf_counter()
    for seed in range(1, args.seeds + 1):
        net = Net(layers, seed)
        fed = Federation(net, x, y, partition(args.partition, labels, args.clients, seed), seed,
                         args.cohort, args.epochs, args.batch, args.lr, **hypers)
        w, state = net.initial, {}
        for rnd in range(1, args.rounds + 1):
            w = METHODS[args.method](fed, rnd, w, state)
        accuracies.append(evaluate(net, w, test_x, test_y)[1])
    print(json.dumps({
        "method": args.method, "data": args.data, "partition": args.partition,
        "test_accuracy": [round(a, 5) for a in accuracies],
        "mean": round(statistics.mean(accuracies), 5),
        "std": round(statistics.stdev(accuracies), 5) if args.seeds > 1 else None,
        "seconds": round(time.perf_counter() - start, 1),
    }))


if __name__ == "__main__":
    main()
