"""fedround's random choices in numpy: every one is a SplitMix64 stream of a seed and a key.

Drawing the same initial parameters, clients, cohorts and orders on both sides leaves the update
rules as the only thing that can differ.
"""

import math

import numpy as np

SEED, INIT, PARTITION, SAMPLE, SHUFFLE = 20260, 1, 2, 3, 4
GAMMA = np.uint64(0x9E3779B97F4A7C15)


def mix(z):
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def stream(n, *key, seed=SEED):
    with np.errstate(over="ignore"):
        state = np.full(1, seed, np.uint64)
        for k in key:
            state = mix(state + GAMMA * np.uint64(k + 1))
        return mix(state + GAMMA * np.arange(1, n + 1, dtype=np.uint64))


def permutation(n, *key, seed=SEED):
    return np.argsort(stream(n, *key, seed=seed), kind="stable")


def uniform(n, bound, *key, seed=SEED):
    unit = (stream(n, *key, seed=seed) >> np.uint64(40)) / 2.0**24
    return ((2.0 * unit - 1.0) * bound).astype(np.float32)


def order(n, rnd, client, epoch, seed=SEED):
    """A client's examples in one local epoch, from 0; the first one's key has no epoch."""
    return permutation(n, SHUFFLE, rnd, client, *[epoch] * (epoch > 0), seed=seed)


def partition(text, labels, clients, seed=SEED):
    """`iid`, `shards:N` or `dirichlet:ALPHA`: the indices of each client's examples."""
    kind, _, argument = text.partition(":")
    if kind == "iid":
        return np.array_split(permutation(len(labels), PARTITION, seed=seed), clients)
    if kind == "shards":
        total = clients * int(argument)
        shards = np.array_split(np.argsort(labels, kind="stable"), total)
        dealt = permutation(total, PARTITION, seed=seed).reshape(clients, -1)
        return [np.concatenate([shards[s] for s in hand]) for hand in dealt]
    if kind == "dirichlet":
        return dirichlet(labels, clients, float(argument), seed)
    raise ValueError(f"unknown partition {text}")


def dirichlet(labels, clients, alpha, seed):
    """Shares of each class from Dir(alpha), drawn anew until every client has 10 examples."""
    members = [np.flatnonzero(labels == c) for c in range(10)]
    for attempt in range(1000):
        sizes, cuts = np.zeros(clients, int), []
        for c, mine in enumerate(members):
            words = iter(stream(64 * clients, PARTITION, 0, attempt, c, seed=seed).tolist())
            logs = np.array([log_gamma(alpha, words) for _ in range(clients)])
            # Who has an equal share of everything already gets nothing of later classes.
            logs[sizes * clients > len(labels)] = -np.inf
            share = np.cumsum([math.exp(l - logs.max()) for l in logs])
            cut = (share / share[-1] * len(mine)).astype(int)
            cut[-1] = len(mine)
            cuts.append(cut)
            sizes += np.diff(cut, prepend=0)
        if sizes.min() >= 10:
            break
    parts = [[] for _ in range(clients)]
    for c, (mine, cut) in enumerate(zip(members, cuts)):
        shuffled = mine[permutation(len(mine), PARTITION, 1, c, seed=seed)]
        for part, piece in zip(parts, np.split(shuffled, cut[:-1])):
            part.append(piece)
    return [np.concatenate(part) for part in parts]


def unit(words):
    return (next(words) >> 11) / 2.0**53


def log_gamma(alpha, words):
    """The logarithm of a Gamma(alpha, 1) draw (Marsaglia and Tsang, 2000)."""
    if alpha < 1.0:
        boost = math.log(1.0 - unit(words)) / alpha
        return log_gamma(alpha + 1.0, words) + boost
    d = alpha - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        radius = math.sqrt(-2.0 * math.log(1.0 - unit(words)))
        x = radius * math.cos(math.tau * unit(words))
        v = (1.0 + c * x) ** 3
        if v <= 0.0:
            continue
        u = 1.0 - unit(words)
        if math.log(u) < 0.5 * x * x + d - d * v + d * math.log(v):
            return math.log(d) + math.log(v)
