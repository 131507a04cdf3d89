"""One local SGD step in eager PyTorch, beside `cargo bench -p fedround-exec --bench step`.

    pip install torch==2.15.0 numpy==2.4.6
    python tests/reference/step_torch.py [--threads N]

Prints the median milliseconds of a step: forward, gradients and one fused update. `--resnet` measures
ResNet-18 for CIFAR-10 in training mode.
"""

import argparse
import time
from statistics import median

import torch
import torch.nn.functional as F
from torch import nn
from fedavg_torch import TASKS, forward, initial


def convolution(channels, filters, size, stride):
    layer = nn.Conv2d(channels, filters, size, stride, size // 2, bias=False)
    return nn.Sequential(layer, nn.BatchNorm2d(filters))


class Block(nn.Module):
    """A basic block: two 3x3 convolutions and a shortcut."""

    def __init__(self, channels, filters, stride):
        super().__init__()
        self.first = convolution(channels, filters, 3, stride)
        self.second = convolution(filters, filters, 3, 1)
        same = stride == 1 and channels == filters
        self.shortcut = nn.Identity() if same else convolution(channels, filters, 1, stride)

    def forward(self, x):
        return F.relu(self.second(F.relu(self.first(x))) + self.shortcut(x))


def resnet18():
    """ResNet-18 with a first layer of 3x3 and no pool, as it is used for CIFAR-10."""
    layers = [convolution(3, 64, 3, 1), nn.ReLU()]
    for channels, filters, stride in [(64, 64, 1), (64, 128, 2), (128, 256, 2), (256, 512, 2)]:
        layers += [Block(channels, filters, stride), Block(filters, filters, 1)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


def time_resnet():
    for batch, steps in [(10, 15), (50, 9)]:
        model = resnet18()
        parameters = list(model.parameters())
        x, y = torch.rand(batch, 3, 32, 32), torch.randint(0, 10, (batch,))
        times = []
        for _ in range(steps + 2):
            start = time.perf_counter()
            grads = torch.autograd.grad(F.cross_entropy(model(x), y), parameters)
            with torch.no_grad():
                torch._foreach_add_(parameters, grads, alpha=-0.05)
            times.append(time.perf_counter() - start)
        print(f"resnet18 batch {batch}: {1e3 * median(times[2:]):.0f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--resnet", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    if args.resnet:
        return time_resnet()
    for task, batch, steps in [("2nn-mnist", 10, 500), ("2nn-mnist", 50, 300),
                               ("cnn-mnist", 20, 60), ("cnn-mnist", 64, 40)]:
        layers = TASKS[task][-1]
        model = [p.requires_grad_() for p in initial(layers)]
        x, y = torch.rand(batch, 1, 28, 28), torch.randint(0, 10, (batch,))
        times = []
        for _ in range(steps + 10):
            start = time.perf_counter()
            grads = torch.autograd.grad(F.cross_entropy(forward(layers, model, x), y), model)
            with torch.no_grad():
                torch._foreach_add_(model, grads, alpha=-0.05)
            times.append(time.perf_counter() - start)
        print(f"{task} batch {batch}: {1e3 * median(times[10:]):.3f} ms")


if __name__ == "__main__":
    main()
