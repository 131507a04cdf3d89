"""A round of ADCOL: Li, He and Song 2023, Algorithm 1."""

import torch
import torch.nn.functional as F

from .common import cohort, model, train
from .models import kl_from_uniform, mlp


def rounds(s):
    parties = cohort(s)
    nets = [model(s) for _ in parties]
    width = nets[0].features(parties[0].x[:2]).shape[1]
    discriminator = mlp(width, 512, 512, len(parties))
    optimizer = torch.optim.SGD(discriminator.parameters(), s.d_lr, s.d_momentum, fused=True)

    def local(net, party):
        """Eq. (2). The discriminator is as it was received, and the model stays with its party."""
        def loss(x, y):
            r = net.features(x)
            divergence = kl_from_uniform(discriminator(r))
            return F.cross_entropy(net.head(r), y) + s.mu * divergence

        net.train()
        steps = train(net, party, s, loss)
        net.eval()
        with torch.no_grad():
            return torch.cat([net.features(x) for x in party.x.split(s.rows)]), steps

    def a_round():
        discriminator.requires_grad_(False)
        sent, steps = zip(*[local(net, party) for net, party in zip(nets, parties)])
        discriminator.requires_grad_(True)
        r = torch.cat(sent)
        party = torch.arange(len(parties)).repeat_interleave(s.examples)
        for _ in range(s.passes):
            for rows in torch.randperm(len(r)).split(s.rows):
                optimizer.zero_grad()
                F.cross_entropy(discriminator(r[rows]), party[rows]).backward()
                optimizer.step()
        return sum(steps)

    return {"train": a_round}
