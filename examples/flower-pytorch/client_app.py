"""A PyTorch client for `fedround coordinator fedavg` and `fedprox`, beside parties of fedround."""

from collections import OrderedDict

import numpy as np
import torch
from flwr.app import ArrayRecord, ConfigRecord, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from torch import nn
from torch.nn.functional import cross_entropy

app = ClientApp()


def two_nn(inputs=784, classes=10):
    """fedround's model `2nn`, with the names of `fedround export`."""
    features = [
        ("flatten", nn.Flatten()),
        ("fc1", nn.Linear(inputs, 200)),
        ("relu1", nn.ReLU()),
        ("fc2", nn.Linear(200, 200)),
        ("relu2", nn.ReLU()),
    ]
    parts = [("features", nn.Sequential(OrderedDict(features))), ("head", nn.Linear(200, classes))]
    return nn.Sequential(OrderedDict(parts))


def load(context):
    """This client's own examples: `x`, scaled as the coordinator's test examples are, and `y`."""
    data = np.load(context.node_config["data"])
    return torch.from_numpy(data["x"]), torch.from_numpy(data["y"]).long()


@app.query("hello")
def hello(message, context):
    """The coordinator asks who is there, before the first round."""
    answer = {
        "speaks": "arrays",
        "client": context.node_config["partition-id"],
        "num-examples": len(load(context)[1]),
    }
    return Message(RecordDict({"fedround": ConfigRecord(answer)}), reply_to=message)


@app.train()
def train(message, context):
    """Local SGD, with the proximal term of FedProx if the coordinator sends a weight for it."""
    config = message.content["config"]
    x, y = load(context)
    model = two_nn()
    model.load_state_dict(message.content["arrays"].to_torch_state_dict())
    received = [w.detach().clone() for w in model.parameters()]
    optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"])
    losses = []
    for _ in range(config["local-epochs"]):
        for batch in torch.randperm(len(y)).split(config["batch-size"]):
            loss = cross_entropy(model(x[batch]), y[batch])
            if mu := config.get("proximal-mu"):
                pairs = zip(model.parameters(), received, strict=True)
                loss = loss + mu / 2 * sum((w - w_t).square().sum() for w, w_t in pairs)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    metrics = {"num-examples": len(y), "train-loss": sum(losses) / len(losses)}
    content = {"arrays": ArrayRecord(model.state_dict()), "metrics": MetricRecord(metrics)}
    return Message(RecordDict(content), reply_to=message)
