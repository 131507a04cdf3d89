"""FedFed's rounds of distillation, and its base's with shared examples: Yang et al. 2023,
Algorithms 1 and 2 and Eq. (9) to (11)."""

import torch
import torch.nn.functional as F
from torch import nn

from .common import average, cohort, model, train, updated_copies
from .models import BetaVae, kl_to_normal


def protect(x, s):
    """Clips each image to the norm rho, and adds noise."""
    norms = x.flatten(1).norm(dim=1).clamp_min(1e-12)
    clipped = x * (s.rho / norms).clamp_max(1).view(-1, 1, 1, 1)
    return clipped + s.sigma * torch.randn_like(x)


def generator_and_judge(s):
    return nn.ModuleList([BetaVae(s.shape[0], s.shape[1]), model(s)])


def adamw(pair, s):
    return torch.optim.AdamW(pair.parameters(), s.distill_lr, weight_decay=1e-6, fused=True)


def distill_step(pair, optimizer, x, y, s):
    """A step on Eq. (9)."""
    generator, judge = pair
    optimizer.zero_grad()
    again, mu, log_var = generator(x)
    loss = (s.reconstruct * F.mse_loss(again, x)
            + s.classify * F.cross_entropy(judge(protect(x - again, s)), y)
            + s.kl * kl_to_normal(mu, log_var)
            + s.direct * F.cross_entropy(judge(x), y))
    loss.backward()
    optimizer.step()


def distill(pair, client, s):
    """A client's steps, by AdamW that begins anew in each round."""
    optimizer, steps = adamw(pair, s), 0
    for x, y in client.batches(1, s.distill_batch):
        distill_step(pair, optimizer, x, y, s)
        steps += 1
    return steps


def rounds(s):
    clients, server = cohort(s), model(s)
    pair = generator_and_judge(s)
    sizes = [len(client.y) for client in clients]
    # What all clients have shared; it is random here.
    pool_x = torch.rand(s.clients * s.examples, *s.shape)
    pool_y = torch.randint(0, s.classes, (len(pool_x),))

    def a_round_of_distillation():
        pairs, steps = updated_copies(pair, clients, lambda mine, client: distill(mine, client, s))
        pair.load_state_dict(average(pairs, sizes))
        return steps

    def train_with_shared(net, client):
        def loss(x, y):
            """Eq. (10), with private and shared examples as one batch."""
            rows = torch.randint(0, len(pool_y), (s.shared_batch,))
            z = net(torch.cat([x, pool_x[rows]]))
            shared = F.cross_entropy(z[len(y):], pool_y[rows])
            return F.cross_entropy(z[:len(y)], y) + s.shared * shared

        return train(net, client, s, loss)

    def a_round():
        nets, steps = updated_copies(server, clients, train_with_shared)
        server.load_state_dict(average(nets, sizes))
        return steps

    return {"distill": a_round_of_distillation, "train": a_round}
