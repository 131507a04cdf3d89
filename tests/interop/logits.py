"""Prints logits.json: logits of PyTorch's models with given weights on given images.

models/tests/models/interop.rs writes the same weights as fedround exports them, and compares what its
models compute. The i-th number of a tensor is a cosine of f i², where f = 0.1 + 0.37 t and t is the
tensor's place among the sorted names:

    weights of layers     2 cos(f i²) / sqrt(inputs of an output)
    running variances and weights of normalisations     1 + cos(f i²) / 2
    biases and running means     cos(f i²) / 10
    images     cos(0.05 i²)

Cosines are of doubles, rounded to floats.
"""

import json

import numpy as np
import torch
from torch import nn
from torch.nn.functional import max_pool2d, relu


class TwoNn(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.ModuleDict({"fc1": nn.Linear(784, 200), "fc2": nn.Linear(200, 200)})
        self.head = nn.Linear(200, 10)

    def forward(self, x):
        h = relu(self.features["fc1"](x.flatten(1)))
        return self.head(relu(self.features["fc2"](h)))


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.ModuleDict(
            {
                "conv1": nn.Conv2d(1, 32, 5),
                "conv2": nn.Conv2d(32, 64, 5),
                "fc1": nn.Linear(1024, 512),
            }
        )
        self.head = nn.Linear(512, 10)

    def forward(self, x):
        f = self.features
        h = max_pool2d(relu(f["conv1"](x)), 2)
        h = max_pool2d(relu(f["conv2"](h)), 2)
        return self.head(relu(f["fc1"](h.flatten(1))))


class NormedCnn(nn.Module):
    """fedaa-cnn-bn with fewer units, for 3x32x32."""

    def __init__(self):
        super().__init__()
        self.features = nn.ModuleDict(
            {
                "conv1": nn.Conv2d(3, 8, 5),
                "norm1": nn.BatchNorm2d(8),
                "conv2": nn.Conv2d(8, 16, 5),
                "norm2": nn.BatchNorm2d(16),
                "fc1": nn.Linear(400, 32),
                "fc2": nn.Linear(32, 24),
            }
        )
        self.head = nn.Linear(24, 10)

    def forward(self, x):
        f = self.features
        h = max_pool2d(relu(f["norm1"](f["conv1"](x))), 2)
        h = max_pool2d(relu(f["norm2"](f["conv2"](h))), 2)
        h = relu(f["fc1"](h.flatten(1)))
        return self.head(relu(f["fc2"](h)))


class Gates(nn.Module):
    """An LSTM whose last output is classified."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(28, 16, batch_first=True)
        self.head = nn.Linear(16, 10)

    def forward(self, x):
        _, (last, _) = self.lstm(x.squeeze(1))
        return self.head(last[0])


MODELS = {
    "2nn": (TwoNn, (2, 1, 28, 28)),
    "cnn": (Cnn, (2, 1, 28, 28)),
    "normed-cnn": (NormedCnn, (2, 3, 32, 32)),
    "lstm": (Gates, (2, 1, 28, 28)),
}


def waves(frequency, shape):
    n = int(np.prod(shape))
    return np.cos(frequency * np.arange(n, dtype=np.float64) ** 2).reshape(shape)


def values(name, shape, frequency):
    wave = waves(frequency, shape)
    if name.endswith("running_var") or (len(shape) == 1 and name.endswith("weight")):
        return 1 + wave / 2
    if len(shape) == 1:
        return wave / 10
    return 2 * wave / np.sqrt(np.prod(shape[1:]))


def weights(model):
    names = sorted(name for name in model.state_dict() if "num_batches" not in name)
    shapes = {name: tuple(model.state_dict()[name].shape) for name in names}
    return {
        name: torch.tensor(values(name, shapes[name], 0.1 + 0.37 * t), dtype=torch.float32)
        for t, name in enumerate(names)
    }


def images(shape):
    return torch.tensor(waves(0.05, shape), dtype=torch.float32)


if __name__ == "__main__":
    found = {}
    for name, (make, shape) in MODELS.items():
        model = make().eval()
        model.load_state_dict(weights(model), strict=True)
        with torch.no_grad():
            found[name] = [[float(z) for z in row] for row in model(images(shape))]
    print(json.dumps(found, indent=1))
