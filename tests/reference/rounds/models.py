"""The networks of the rounds, layer by layer those of the crate `fedround-models`."""

import torch
import torch.nn.functional as F
from torch import nn


class Headed(nn.Module):
    """Representations, and logits of them."""

    def __init__(self, features, head):
        super().__init__()
        self.features, self.head = features, head

    def forward(self, x):
        return self.head(self.features(x))


def mlp(*sizes):
    layers = []
    for inputs, outputs in zip(sizes, sizes[1:]):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def two_convolutions(channels, side, first, second):
    """Valid 5x5 convolutions, each with a ReLU and a pool, and the number of their features."""
    layers = [nn.Conv2d(channels, first, 5), nn.ReLU(), nn.MaxPool2d(2),
              nn.Conv2d(first, second, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()]
    return layers, second * (((side - 4) // 2 - 4) // 2) ** 2


def lenet5(channels, side, classes):
    layers, n = two_convolutions(channels, side, 6, 16)
    return Headed(nn.Sequential(*layers, mlp(n, 120, 84), nn.ReLU()), nn.Linear(84, classes))


def cnn(channels, side, classes):
    layers, n = two_convolutions(channels, side, 32, 64)
    return Headed(nn.Sequential(*layers, nn.Linear(n, 512), nn.ReLU()), nn.Linear(512, classes))


def fedaa_cnn(channels, side, classes):
    layers, n = two_convolutions(channels, side, 64, 256)
    return Headed(nn.Sequential(*layers, mlp(n, 512, 256), nn.ReLU()), nn.Linear(256, classes))


def lg_mlp(channels, side, classes):
    features = nn.Sequential(nn.Flatten(), mlp(channels * side**2, 512, 256), nn.ReLU())
    return Headed(features, mlp(256, 256, 128, classes))


def lg_lenet5(channels, side, classes):
    layers, n = two_convolutions(channels, side, 6, 16)
    return Headed(nn.Sequential(*layers), mlp(n, 120, 100, classes))


def adcol_digits(channels, side, classes):
    """FedBN's network, smaller, with ADCOL's projector and predictor of SimSiam's kind."""
    def convolution(inputs, outputs):
        return [nn.Conv2d(inputs, outputs, 5, padding=2), nn.BatchNorm2d(outputs), nn.ReLU()]

    def normalised(inputs, outputs, bias):
        return [nn.Linear(inputs, outputs, bias=bias), nn.BatchNorm1d(outputs), nn.ReLU()]

    encoder = [*convolution(channels, 16), nn.MaxPool2d(2), *convolution(16, 16),
               nn.MaxPool2d(2), *convolution(16, 32), nn.Flatten(),
               *normalised(32 * (side // 4) ** 2, 128, True), *normalised(128, 128, True)]
    projector = [layer for _ in range(3) for layer in normalised(128, 128, False)][:-1]
    predictor = [*normalised(128, 32, False), nn.Linear(32, classes)]
    return Headed(nn.Sequential(*encoder, *projector), nn.Sequential(*predictor))


MODELS = {"lenet5": lenet5, "cnn": cnn, "fedaa-cnn": fedaa_cnn, "lg-mlp": lg_mlp,
          "lg-lenet5": lg_lenet5, "adcol-digits": adcol_digits}


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.layers = nn.Sequential(
            nn.LeakyReLU(), nn.Conv2d(channels, channels, 3, padding=1),
            nn.BatchNorm2d(channels), nn.LeakyReLU(), nn.Conv2d(channels, channels, 1))

    def forward(self, x):
        return x + self.layers(x)


class BetaVae(nn.Module):
    """FedFed's generator: images again, with the means and log variances of their codes."""

    def __init__(self, channels, side, wide=32, latent=2048):
        super().__init__()
        narrow, plane = wide // 2, (wide, side // 4, side // 4)
        flat = wide * (side // 4) ** 2

        def halving(inputs, outputs):
            layer = nn.Conv2d(inputs, outputs, 4, 2, 1, bias=False)
            return [layer, nn.BatchNorm2d(outputs), nn.ReLU()]

        def doubling(inputs, outputs):
            layer = nn.ConvTranspose2d(inputs, outputs, 4, 2, 1, bias=False)
            return [layer, nn.BatchNorm2d(outputs)]

        self.encoder = nn.Sequential(
            *halving(channels, narrow), *halving(narrow, wide), Residual(wide),
            nn.BatchNorm2d(wide), Residual(wide), nn.Flatten())
        self.mu, self.log_var = nn.Linear(flat, latent), nn.Linear(flat, latent)
        self.decoder = nn.Sequential(
            nn.Linear(latent, flat), nn.Unflatten(1, plane), Residual(wide), nn.BatchNorm2d(wide),
            Residual(wide), nn.BatchNorm2d(wide), *doubling(wide, narrow), nn.LeakyReLU(),
            nn.Tanh(), *doubling(narrow, channels), nn.Sigmoid())

    def forward(self, x):
        h = self.encoder(x)
        mu, log_var = self.mu(h), self.log_var(h)
        z = mu + (0.5 * log_var).exp() * torch.randn_like(mu) if self.training else mu
        return self.decoder(z), mu, log_var


def kl_to_normal(mu, log_var):
    return -0.5 * (1 + log_var - mu**2 - log_var.exp()).mean()


def kl_from_uniform(logits):
    return -F.log_softmax(logits, 1).mean() - torch.tensor(float(logits.shape[1])).log()
