"""A round of AdFL: Danilenka et al. 2022, Algorithm 2 and Eq. (1) to (3)."""

import torch
import torch.nn.functional as F

from .common import average, cohort, model, train, updated_copies


def adversarial_images(net, start, classes, s):
    """Targeted I-FGSM: an image of each class, as the model sees it."""
    x = start.clone().requires_grad_()
    for _ in range(s.steps):
        (g,) = torch.autograd.grad(F.cross_entropy(net(x), classes), x)
        with torch.no_grad():
            x -= s.epsilon * g.sign()
            x.clamp_(0, 1)
    return x.detach()


def rounds(s):
    clients, server = cohort(s), model(s)
    classes = torch.arange(s.classes)

    @torch.no_grad()
    def read(net, images):
        """q: the probability of an image's class, where it is the largest; by maker and class."""
        p = net(torch.cat(images)).softmax(1)
        labels = classes.repeat(len(images))
        top, predicted = p.max(1)
        return (top * (predicted == labels)).view(len(images), s.classes)

    def a_round():
        nets, steps = updated_copies(server, clients, lambda net, client: train(net, client, s))
        start = torch.rand(s.classes, *s.shape)
        images = [adversarial_images(net, start, classes, s) for net in nets]
        q = torch.stack([read(net, images) for net in nets])
        q[range(len(nets)), range(len(nets))] = 0
        # What a model reads of the others' images, and what the others read of its own.
        weights = q.sum((1, 2)) + q.sum((0, 2))
        weights = weights.tolist() if weights.sum() > 0 else [1.0] * len(nets)
        server.load_state_dict(average(nets, weights))
        return steps

    return {"train": a_round}
