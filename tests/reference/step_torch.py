"""One local SGD step in eager PyTorch, beside `cargo bench -p fedround-exec --bench step`.

    pip install torch==2.15.0 numpy==2.4.6
    python tests/reference/step_torch.py [--threads N]

Prints the median milliseconds of a step: forward, gradients and one fused update.
"""

import argparse
import time
from statistics import median

import torch
import torch.nn.functional as F
from fedavg_torch import TASKS, forward, initial


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2)
    torch.set_num_threads(parser.parse_args().threads)
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
