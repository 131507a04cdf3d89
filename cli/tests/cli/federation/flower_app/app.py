"""fedround's model `logistic` in NumPy, as an app of Flower: a client, and a server with stock FedAvg."""

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import ServerApp
from flwr.serverapp.strategy import FedAvg, FedProx

client = ClientApp()
server = ServerApp()


def load(context):
    data = np.load(context.node_config["data"])
    return data["x"].reshape(len(data["y"]), -1), data["y"]


@client.query("hello")
def hello(message, context):
    answer = {
        "speaks": "arrays",
        "client": context.node_config["partition-id"],
        "num-examples": len(load(context)[1]),
    }
    return Message(RecordDict({"fedround": ConfigRecord(answer)}), reply_to=message)


@client.train()
def train(message, context):
    config = message.content["config"]
    received = {name: array.numpy() for name, array in message.content["arrays"].items()}
    assert {name: w.shape for name, w in received.items()} == {
        "head.weight": (10, 784),
        "head.bias": (10,),
    }
    x, y = load(context)
    assert len(y) <= config["batch-size"], "this client takes all examples in one batch"
    mu = config.get("proximal-mu", 0.0)
    model = {name: w.copy() for name, w in received.items()}
    losses = []
    for _ in range(config["local-epochs"]):
        logits = x @ model["head.weight"].T + model["head.bias"]
        shifted = logits - logits.max(axis=1, keepdims=True)
        log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
        away = {name: w - received[name] for name, w in model.items()}
        far = sum(float((d * d).sum()) for d in away.values())
        losses.append(float(-log_p[np.arange(len(y)), y].mean()) + mu / 2 * far)
        delta = np.exp(log_p)
        delta[np.arange(len(y)), y] -= 1
        delta /= len(y)
        gradient = {"head.weight": delta.T @ x, "head.bias": delta.sum(axis=0)}
        for name, w in model.items():
            w -= np.float32(config["lr"]) * (gradient[name] + np.float32(mu) * away[name])
    arrays = ArrayRecord({name: Array(w.astype(np.float32)) for name, w in model.items()})
    metrics = MetricRecord({"num-examples": len(y), "train-loss": float(np.mean(losses))})
    return Message(RecordDict({"arrays": arrays, "metrics": metrics}), reply_to=message)


@server.main()
def main(grid, context):
    """Trains from the arrays of one file, with a strategy as Flower has it, to another file."""
    run = context.run_config
    with np.load(run["initial"]) as initial:
        arrays = ArrayRecord({name: Array(initial[name]) for name in initial.files})
    mu = run["proximal-mu"]
    strategy = FedProx(proximal_mu=mu) if mu else FedAvg()
    settings = {"lr": run["lr"]} if run["lr"] else {}
    result = strategy.start(
        grid=grid, initial_arrays=arrays, num_rounds=3, train_config=ConfigRecord(settings)
    )
    losses = [metrics["train-loss"] for metrics in result.train_metrics_clientapp.values()]
    tested = [metrics["eval-loss"] for metrics in result.evaluate_metrics_clientapp.values()]
    assert len(losses) == 3 and losses[0] > losses[1] > losses[2], losses
    assert len(tested) == 3 and tested[0] > tested[1] > tested[2], tested
    assert result.evaluate_metrics_clientapp[3]["eval-acc"] > 0.9
    np.savez(run["result"], **{name: array.numpy() for name, array in result.arrays.items()})
