"""The adversary of LG-FedAvg's experiment on Adult, with and without clearing its gradients.

Liang, Liu et al. 2020, https://arxiv.org/abs/2001.01523, print an AUC of 50 % of the adversary that
trains along. In the joint rounds of the authors' code (https://github.com/pliang279/LG-FedAvg,
models/Update.py), as far as we read it,

1. `(CE - lam * L_r).backward()` leaves a gradient of `-lam * L_r` in the adversary,
2. `(lam * L_r).backward()` adds `+lam * L_r` to it, and to the representation,
3. one step is taken on all networks.

Nothing is cleared in between. `--loop published` runs that; `cleared` clears the adversary's and the
representation's gradients of the other's loss, which is what the text says: the model descends on
`CE - lam * L_r` and the adversary on `lam * L_r`. `none` has no penalty. After the joint epochs, a new
adversary is fitted to the representations, which no longer change.

    python tests/reference/fair_adversary.py --data DIR --seeds 3
"""

import argparse

import numpy as np
import torch
from torch import nn

COLUMNS = 14
NUMBERS = [0, 2, 4, 10, 11, 12]
RACE, SEX = 8, 9


def read(path):
    """Rows of fields, without the test file's first line."""
    with open(path) as file:
        rows = [line.strip().rstrip(".").split(", ") for line in file]
    return [row for row in rows if len(row) == COLUMNS + 1 and "?" not in row]


def tables(folder):
    """Inputs, incomes and protected attributes of training and test people."""
    train, test = read(f"{folder}/adult.data")[:15000], read(f"{folder}/adult.test")[:15000]
    words = [i for i in range(COLUMNS) if i not in NUMBERS]
    levels = {i: sorted({row[i] for row in train + test}) for i in words}
    number = np.array([[float(row[i]) for i in NUMBERS] for row in train])
    mean, std = number.mean(0), number.std(0)

    def of(rows):
        number = np.array([[float(row[i]) for i in NUMBERS] for row in rows])
        word = [[float(row[i] == level) for i in words for level in levels[i]] for row in rows]
        x = np.concatenate([(number - mean) / std, np.array(word)], 1)
        y = np.array([float(row[-1] == ">50K") for row in rows])
        p = np.array([[float(row[RACE] == "White"), float(row[SEX] == "Male")] for row in rows])
        return [torch.tensor(a, dtype=torch.float32) for a in (x, y, p)]

    return of(train), of(test)


def layers(sizes):
    pairs = list(zip(sizes, sizes[1:]))
    parts = []
    for i, (a, b) in enumerate(pairs):
        parts += [nn.Linear(a, b)] + ([nn.ReLU(), nn.Dropout(0.2)] if i < len(pairs) - 1 else [])
    return nn.Sequential(*parts)


def auc(score, truth):
    """The probability that a positive scores above a negative; ties count half."""
    score, truth = score.numpy().astype(np.float64), truth.numpy() > 0.5
    _, inverse, counts = np.unique(score, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    rank = (last - (counts - 1) / 2)[inverse]
    n, m = truth.sum(), (~truth).sum()
    return (rank[truth].sum() - n * (n + 1) / 2) / (n * m)


def mean_auc(f, r, x, p):
    with torch.no_grad():
        f.eval(), r.eval()
        z = r(f(x))
        f.train(), r.train()
    return np.mean([auc(z[:, a], p[:, a]) for a in range(p.shape[1])])


def batches(n, size=32):
    order = torch.randperm(n)
    return [order[i : i + size] for i in range(0, n, size)]


def train(loop, lam, seed, data, epochs):
    torch.manual_seed(seed)
    (x, y, p), (x_test, y_test, p_test) = data
    bce = nn.BCEWithLogitsLoss()
    f, g, r = layers([x.shape[1], 32, 32, 32]), layers([32, 32, 32, 1]), layers([32, 32, 32, 32, 2])
    sgd = lambda *parts: torch.optim.SGD(
        [w for part in parts for w in part.parameters()], lr=0.1, momentum=0.5
    )

    # Ten epochs apart: the model on incomes, the adversary on representations as they are.
    model, adversary = sgd(f, g), sgd(r)
    for _ in range(10):
        for b in batches(len(x)):
            model.zero_grad()
            bce(g(f(x[b]))[:, 0], y[b]).backward()
            model.step()
            adversary.zero_grad()
            bce(r(f(x[b]).detach()), p[b]).backward()
            adversary.step()
    before = mean_auc(f, r, x_test, p_test)

    model, adversary = sgd(f, g), sgd(r)
    for _ in range(epochs):
        for b in batches(len(x)):
            model.zero_grad(), adversary.zero_grad()
            h = f(x[b])
            task, found = bce(g(h)[:, 0], y[b]), bce(r(h), p[b])
            if loop == "none":
                task.backward(retain_graph=True)
                own = torch.autograd.grad(found, list(r.parameters()))
            elif loop == "published":
                (task - lam * found).backward(retain_graph=True)
                (lam * found).backward()
                own = None
            else:
                own = torch.autograd.grad(lam * found, list(r.parameters()), retain_graph=True)
                (task - lam * found).backward()
            if own is not None:
                for w, gradient in zip(r.parameters(), own):
                    w.grad = gradient
            model.step(), adversary.step()
        if not all(torch.isfinite(w).all() for w in f.parameters()):
            return None

    with torch.no_grad():
        f.eval(), g.eval()
        accuracy = ((g(f(x_test))[:, 0] > 0) == (y_test > 0.5)).float().mean().item()
        h, h_test = f(x), f(x_test)
    along = mean_auc(f, r, x_test, p_test)
    fitted = layers([32, 32, 32, 32, 2])
    adam = torch.optim.Adam(fitted.parameters())
    for _ in range(10):
        for b in batches(len(h)):
            adam.zero_grad()
            bce(fitted(h[b]), p[b]).backward()
            adam.step()
    after = mean_auc(nn.Identity(), fitted, h_test, p_test)
    return 100 * np.array([accuracy, before, along, after])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="folder of adult.data and adult.test")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=10, help="joint epochs")
    parser.add_argument("--lam", type=float, nargs="+", default=[1.0, 30.0])
    args = parser.parse_args()
    torch.set_num_threads(1)
    data = tables(args.data)
    (_, _, _), (_, y, p) = data
    floor = np.mean([auc(y if auc(y, p[:, a]) >= 0.5 else -y, p[:, a]) for a in range(2)])
    print(f"AUC by income alone: {100 * floor:.1f}")
    print("loop       lam  accuracy  before joint  along  fitted afterwards")
    for loop, lam in [("none", 0.0)] + [(l, m) for m in args.lam for l in ("published", "cleared")]:
        found = [train(loop, lam, seed, data, args.epochs) for seed in range(args.seeds)]
        finite = [f for f in found if f is not None]
        if not finite:
            print(f"{loop:9} {lam:4.0f}  not finite")
            continue
        mean, std = np.mean(finite, 0), np.std(finite, 0, ddof=1) if len(finite) > 1 else np.zeros(4)
        cells = "  ".join(f"{m:.1f} ± {s:.1f}" for m, s in zip(mean, std))
        print(f"{loop:9} {lam:4.0f}  {cells}  ({len(finite)} of {len(found)} finite)", flush=True)


main()
