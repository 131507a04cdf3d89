"""What a round of each paper's method does: the one place from which both sides take it.

`hyper` is what `fedround run` gets by `--set`; the PyTorch rounds read the same numbers.
"""

from dataclasses import dataclass
from math import ceil


@dataclass(frozen=True)
class Setting:
    spec: str
    data: str
    shape: tuple  # channels, height, width of an image
    model: str
    clients: int
    examples: int  # of each client
    partition: str
    hyper: dict
    rounds: int = 3  # that are timed, of each phase; one more comes before them
    options: tuple = ()  # of `fedround run` besides
    phases: tuple = ("train",)
    classes: int = 10

    def __getattr__(self, name):
        """A hyper-parameter by its name."""
        if name.startswith("_") or name not in self.hyper:
            raise AttributeError(name)
        return self.hyper[name]

    @property
    def cohort(self):
        """How many clients take part in a round."""
        share = self.hyper.get("share", self.hyper.get("fraction"))
        return max(1, round(share * self.clients))

    def local_steps(self, phase="train"):
        """Steps that the clients of a round take on batches of their examples, all together."""
        h = self.hyper
        if phase == "distill":
            passes = [(1, h["distill_batch"])]
        else:
            passes = [(h["epochs"], h["batch"])]
            passes += [(h["second"], h["second_batch"])] if "second" in h else []
        each = sum(epochs * ceil(self.examples / batch) for epochs, batch in passes)
        return self.cohort * each

    def counted_steps(self, phase="train"):
        """The `client_steps` of fedround in a round: also steps of the clients' models and
        identifiers on FedAA's server."""
        server = self.hyper.get("fine_tune", 0) + self.hyper.get("identifier_steps", 0)
        return self.local_steps(phase) + self.cohort * server

    def describe(self, phase="train"):
        h = self.hyper
        epochs, batch = (1, h["distill_batch"]) if phase == "distill" else (h["epochs"], h["batch"])
        return (f"{self.cohort} of {self.clients} clients with {self.examples} examples, "
                f"`{self.model}` on `{self.data}`, {epochs} x batches of {batch}"
                + f", phase `{phase}`" * (len(self.phases) > 1))

    def total_rounds(self):
        """All rounds of a run: of FedFed, the one that shares is between its two phases."""
        return len(self.phases) * (1 + self.rounds) + len(self.phases) - 1

    def command(self):
        """The arguments of `fedround run`, without folders and threads."""
        hyper = dict(self.hyper)
        if "distill" in self.phases:
            hyper["distill"] = 1 + self.rounds
        sets = [part for name, value in hyper.items() for part in ("--set", f"{name}={value}")]
        return ["run", self.spec, "--data", self.data, "--model", self.model,
                "--clients", self.clients, "--partition", self.partition,
                "--rounds", self.total_rounds(), *self.options, *sets]


SETTINGS = {
    # Table 1 at the small scale. SVHN is not at hand, which leaves four domains.
    "adcol": Setting(
        "adcol", "digits", (3, 28, 28), "adcol-digits", 4, 743, "domains:1:743",
        {"share": 1.0, "epochs": 5, "batch": 64, "lr": 0.01, "momentum": 0.9,
         "weight_decay": 1e-5, "mu": 1.0, "rows": 64, "passes": 1, "d_lr": 0.01,
         "d_momentum": 0.9},
    ),
    # The protocol of `fedround reproduce adfl mnist`, with clients of equal size.
    "adfl": Setting(
        "adfl", "mnist", (1, 28, 28), "cnn", 100, 600, "shards:3",
        {"fraction": 0.1, "epochs": 5, "batch": 32, "lr": 0.01, "momentum": 0.9, "steps": 50,
         "epsilon": 0.01},
    ),
    # Table 1, the rounds that average the global part alone.
    "lg-fedavg-mnist": Setting(
        "lg-fedavg", "mnist", (1, 28, 28), "lg-mlp", 100, 600, "shards:2",
        {"fraction": 0.1, "epochs": 1, "batch": 10, "lr": 0.05, "momentum": 0.5,
         "global": "head"}, rounds=10,
    ),
    "lg-fedavg-cifar-10": Setting(
        "lg-fedavg", "cifar-10", (3, 32, 32), "lg-lenet5", 100, 300, "shards:2",
        {"fraction": 0.1, "epochs": 1, "batch": 50, "lr": 0.1, "momentum": 0.5,
         "global": "features"}, rounds=20,
    ),
    # The paper's network; with an image of each of ten classes from every client.
    "fedaa": Setting(
        "fedaa", "cifar-10", (3, 32, 32), "fedaa-cnn", 150, 200, "iid",
        {"share": 5 / 150, "epochs": 1, "batch": 50, "lr": 0.02, "second": 1, "second_batch": 50,
         "eta": 0.0025, "sigma": 1.0, "iterations": 20, "fine_tune": 10, "identifier_steps": 20,
         "identifier_lr": 4e-4, "adversarial": 1.0},
    ),
    # Of 30,000 images four fifths are set aside, so that a pool of the others fits into memory
    # for every client.
    "fedfed": Setting(
        "fedfed", "cifar-10", (3, 32, 32), "lenet5", 10, 600, "iid",
        {"fraction": 0.5, "epochs": 5, "batch": 64, "lr": 0.01, "momentum": 0.9,
         "weight_decay": 1e-4, "distill_share": 0.5, "distill_batch": 64, "distill_lr": 0.001,
         "reconstruct": 5.0, "classify": 2.0, "kl": 0.005, "direct": 0.4, "rho": 3.0,
         "sigma": 0.15, "shared_batch": 64, "shared": 1.0},
        options=("--public-share", "0.8"), phases=("distill", "train"),
    ),
}
