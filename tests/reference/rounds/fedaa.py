"""A round of FedAA: Algorithms 1 to 4 with the names of classes as the revealed modality."""

import copy

import torch
import torch.nn.functional as F

from .common import average, cohort, model, train, updated_copies
from .models import mlp


def invert(net, y, s):
    """Eq. (4), by PyTorch's L-BFGS, whose search is for strong Wolfe conditions; the tolerances
    are zero, so that all iterations run."""
    x = (s.sigma * torch.randn(len(y), *s.shape)).requires_grad_()
    optimizer = torch.optim.LBFGS(
        [x], max_iter=s.iterations, max_eval=100 * s.iterations, history_size=5,
        tolerance_grad=0, tolerance_change=0, line_search_fn="strong_wolfe")

    def loss():
        optimizer.zero_grad()
        value = F.cross_entropy(net(x), y)
        value.backward()
        return value

    net.requires_grad_(False)
    optimizer.step(loss)
    net.requires_grad_(True)
    return x.detach(), optimizer.state_dict()["state"][0]["func_evals"]


def fine_tune(net, x, y, s):
    """Eq. (5), on the images of the others."""
    optimizer = torch.optim.SGD(net.parameters(), s.eta, fused=True)
    for _ in range(s.fine_tune):
        optimizer.zero_grad()
        F.cross_entropy(net(x), y).backward()
        optimizer.step()


def identify(identifier, v, own, s):
    """Eq. (6), Algorithm 2: steps of the identifier, and how often it is right after them."""
    optimizer = torch.optim.Adam(identifier.parameters(), s.identifier_lr, betas=(0.5, 0.9),
                                 fused=True)
    for _ in range(s.identifier_steps):
        optimizer.zero_grad()
        logits = identifier(v).squeeze(1)
        loss = F.softplus(-logits[own]).mean() + F.softplus(logits[~own]).mean()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        right = (identifier(v).squeeze(1) > 0) == own
    return (right[own].float().mean() + right[~own].float().mean()) / 2


def fool(net, identifier, client, s):
    """Eq. (7), Algorithm 3: the second local pass."""
    identifier.requires_grad_(False)
    optimizer = torch.optim.SGD(net.parameters(), s.eta, fused=True)
    steps = 0
    for x, y in client.batches(s.second, s.second_batch):
        optimizer.zero_grad()
        v = net.features(x)
        fooled = F.softplus(identifier(v)).mean()
        (F.cross_entropy(net.head(v), y) + s.adversarial * fooled).backward()
        optimizer.step()
        steps += 1
    return steps


def rounds(s):
    clients, server = cohort(s), model(s)
    width = server.features(clients[0].x[:1]).shape[1]
    first_identifier = mlp(width, 512, 512, 1)
    sizes = [len(client.y) for client in clients]
    evaluations = []

    def a_round():
        nets, steps = updated_copies(server, clients, lambda net, client: train(net, client, s))
        images, labels = [], [client.y.unique() for client in clients]
        for net, y in zip(nets, labels):
            x, count = invert(net, y, s)
            evaluations.append(count)
            images.append(x)
        x, y = torch.cat(images), torch.cat(labels)
        maker = torch.cat([torch.full((len(y),), k) for k, y in enumerate(labels)])
        for k, net in enumerate(nets):
            fine_tune(net, x[maker != k], y[maker != k], s)
        server.load_state_dict(average(nets, sizes))
        with torch.no_grad():
            v = server.features(x)
        nets, right = [], []
        for k, client in enumerate(clients):
            identifier = copy.deepcopy(first_identifier)
            right.append(identify(identifier, v, maker == k, s))
            net = copy.deepcopy(server)
            steps += fool(net, identifier, client, s)
            nets.append(net)
        server.load_state_dict(average(nets, sizes))
        return steps

    a_round.evaluations = evaluations
    return {"train": a_round}
