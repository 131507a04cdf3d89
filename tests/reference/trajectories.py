"""Short trajectories of the baselines, the numbers that `tests/programs/trajectories.rs` holds fedround to.

    pip install torch==2.15.0 numpy==2.4.6
    python tests/reference/trajectories.py > tests/reference/trajectories.json

Three clients of 14, 23 and 45 drawn examples, the 2NN, batches of 10, some of them short. A round
gives the parameters' norm, how far they are from the first ones, the loss on 50 test examples, and
four entries of each of the six leaves.
"""

import json

import numpy as np
import torch
from baselines import METHODS, NETS, Federation, Net, evaluate
from draws import stream, uniform

SEED, SIZES, TEST, BATCH = 7, [14, 23, 45], 50, 10

# Method, clients in a round, rounds, local epochs, and what the method adds.
CASES = [
    ("fedavg", 3, 2, 2, {"lr": 0.1}),
    ("fedprox", 3, 2, 2, {"lr": 0.1, "mu": 0.1}),
    ("fedprox", 2, 3, 1, {"lr": 0.1, "mu": 1.0}),
    ("scaffold", 3, 3, 1, {"lr": 0.1}),
    ("scaffold", 2, 4, 2, {"lr": 0.1, "server_lr": 0.5}),
    ("fednova", 3, 2, 1, {"lr": 0.05, "momentum": 0.9}),
    ("fednova", 2, 3, 2, {"lr": 0.05, "momentum": 0.5}),
    ("moon", 3, 3, 1, {"lr": 0.1, "mu": 1.0, "tau": 0.5}),
    ("moon", 2, 4, 2, {"lr": 0.1, "mu": 5.0, "tau": 0.2}),
]


def examples():
    """Inputs in [-1, 1); a client's labels are four of the ten classes."""
    total = sum(SIZES) + TEST
    x = uniform(total * 784, 1.0, 100, seed=SEED).reshape(total, 1, 28, 28)
    first = np.repeat([0, 3, 6, 0], [*SIZES, TEST])
    classes = np.repeat([4, 4, 4, 10], [*SIZES, TEST])
    y = (first + (stream(total, 101, seed=SEED) >> np.uint64(33)).astype(int) % classes) % 10
    return torch.from_numpy(x), torch.from_numpy(y)


def entries(leaf):
    """Four entries, by their place in PyTorch's order; weights are [out, in]."""
    return [(7919 * (i + 1)) % leaf.numel() for i in range(4)]


def main():
    torch.set_num_threads(1)
    x, y = examples()
    parts = np.split(np.arange(sum(SIZES)), np.cumsum(SIZES)[:-1])
    cases = []
    for method, cohort, rounds, epochs, hypers in CASES:
        net = Net(NETS["2nn"], SEED)
        fed = Federation(net, x, y, parts, SEED, cohort, epochs, BATCH, **hypers)
        w, state, trajectory = net.initial, {}, []
        for rnd in range(1, rounds + 1):
            w = METHODS[method](fed, rnd, w, state)
            values = [v.flatten()[entries(v)].tolist() for v in net.leaves(w)]
            trajectory.append({
                "norm": round(float(w.double().norm()), 6),
                "moved": round(float((w.double() - net.initial).norm()), 6),
                "test_loss": round(evaluate(net, w, x[-TEST:], y[-TEST:])[0], 6),
                "entries": [round(v, 6) for v in sum(values, [])],
            })
        cases.append({"method": method, "cohort": cohort, "epochs": epochs, "hyper": hypers,
                      "rounds": trajectory})
    print("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]")


if __name__ == "__main__":
    main()
