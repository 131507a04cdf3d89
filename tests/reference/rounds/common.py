"""What the rounds have in common: clients with random examples, local SGD, means of models."""

import copy
from dataclasses import dataclass

import torch
import torch.nn.functional as F

from .models import MODELS


@dataclass
class Client:
    x: torch.Tensor
    y: torch.Tensor

    def batches(self, epochs, size):
        for _ in range(epochs):
            order = torch.randperm(len(self.y))
            yield from zip(self.x[order].split(size), self.y[order].split(size))


def cohort(s):
    """The clients of a round. Who they are does not change its work: they are always the same."""
    make = lambda: Client(torch.rand(s.examples, *s.shape),
                          torch.randint(0, s.classes, (s.examples,)))
    return [make() for _ in range(s.cohort)]


def model(s):
    return MODELS[s.model](s.shape[0], s.shape[1], s.classes)


def train(net, client, s, loss=None):
    """FedAvg's local steps; returns how many there were."""
    loss = loss or (lambda x, y: F.cross_entropy(net(x), y))
    optimizer = torch.optim.SGD(net.parameters(), s.lr, s.hyper.get("momentum", 0.0),
                                weight_decay=s.hyper.get("weight_decay", 0.0), fused=True)
    steps = 0
    for x, y in client.batches(s.epochs, s.batch):
        optimizer.zero_grad()
        loss(x, y).backward()
        optimizer.step()
        steps += 1
    return steps


def updated_copies(server, clients, update):
    """A copy of the server's model for each client, after `update(copy, client)`, which returns
    how many steps it took; and the sum of these."""
    nets = [copy.deepcopy(server) for _ in clients]
    return nets, sum(update(net, client) for net, client in zip(nets, clients))


@torch.no_grad()
def average(nets, weights):
    """The weighted mean of models, as a state dict."""
    total = sum(weights)
    states = [net.state_dict() for net in nets]
    return {name: sum(w / total * state[name] for w, state in zip(weights, states))
            for name in states[0]}
