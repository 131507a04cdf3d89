"""One local SGD step in eager PyTorch, beside `cargo bench -p fedround-exec --bench step`.

    pip install torch==2.15.0 numpy==2.4.6
    python tests/reference/step_torch.py [--threads N]

Prints the median milliseconds of a step: forward, gradients and one fused update. `--resnet` measures
ResNet-18 for CIFAR-10 in training mode, and `--papers` the larger networks of the papers and a step of
FedFed's distillation.
"""

import argparse
import time
from statistics import median

import torch
import torch.nn.functional as F
from fedavg_torch import TASKS, forward, initial
from networks import Captioner, digits_cnn, resnet18, resnet50
from rounds.fedfed import adamw, distill_step, generator_and_judge
from rounds.settings import SETTINGS


def time_steps(name, step, steps):
    """Prints the median of some steps, without the first two."""
    times = []
    for _ in range(steps + 2):
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    print(f"{name}: {1e3 * median(times[2:]):.1f} ms", flush=True)


def time_sgd(name, parameters, loss, steps):
    """Prints the median of steps of plain SGD."""

    def step():
        grads = torch.autograd.grad(loss(), parameters)
        with torch.no_grad():
            torch._foreach_add_(parameters, grads, alpha=-0.05)

    time_steps(name, step, steps)


def time_classifier(name, model, side, batch, steps):
    x, y = torch.rand(batch, 3, side, side), torch.randint(0, 10, (batch,))
    time_sgd(f"{name} batch {batch}", list(model.parameters()),
             lambda: F.cross_entropy(model(x), y), steps)


def time_resnet():
    for batch, steps in [(10, 15), (50, 9)]:
        time_classifier("resnet18", resnet18(), 32, batch, steps)


def time_papers():
    time_classifier("digits-cnn", digits_cnn(), 28, 32, 15)
    time_classifier("resnet50, 224x224", resnet50(), 224, 16, 5)
    vocabulary, batch = 1000, 16
    model = Captioner(vocabulary)
    x, words = torch.rand(batch, 3, 128, 128), torch.randint(1, vocabulary, (batch, 16))

    def loss():
        logits = model(x, words[:, :-1])
        return F.cross_entropy(logits.flatten(0, 1), words[:, 1:].flatten())

    time_sgd(f"captioner, 128x128 batch {batch}", list(model.parameters()), loss, 5)
    time_generator(SETTINGS["fedfed"])


def time_generator(s):
    """FedFed's distillation."""
    pair = generator_and_judge(s)
    optimizer, batch = adamw(pair, s), s.distill_batch
    x, y = torch.rand(batch, *s.shape), torch.randint(0, s.classes, (batch,))
    time_steps(f"fedfed's generator, 32x32 batch {batch}",
               lambda: distill_step(pair, optimizer, x, y, s), 15)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--resnet", action="store_true")
    parser.add_argument("--papers", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    if args.resnet:
        return time_resnet()
    if args.papers:
        return time_papers()
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
