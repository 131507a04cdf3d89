"""Flower's own side of a mixed federation: FedAvg on the server, and a client that adds 5."""

import time

import numpy as np
from flwr.app import Array, ArrayRecord, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import ServerApp
from flwr.serverapp.strategy import FedAvg

client = ClientApp()


@client.train()
def train(message, context):
    arrays = message.content["arrays"]
    changed = {name: Array(array.numpy() + np.float32(5)) for name, array in arrays.items()}
    metrics = MetricRecord({"num-examples": 100})
    content = RecordDict({"arrays": ArrayRecord(changed), "metrics": metrics})
    return Message(content=content, reply_to=message)


@client.query()
def query(message, context):
    """An array of a type that fedround does not have."""
    arrays = ArrayRecord({"half": Array(np.zeros(3, dtype=np.float16))})
    return Message(content=RecordDict({"arrays": arrays}), reply_to=message)


server = ServerApp()


@server.main()
def main(grid, context):
    while len(nodes := list(grid.get_node_ids())) < 2:
        time.sleep(0.5)
    half = RecordDict({"arrays": ArrayRecord({"half": Array(np.zeros(3, dtype=np.float16))})})
    requests = [Message(content=half, dst_node_id=nodes[0], message_type="query")]
    (reply,) = grid.send_and_receive(requests, timeout=60)
    assert reply.has_error() and "<f2" in reply.error.reason, reply

    strategy = FedAvg(fraction_evaluate=0.0, min_train_nodes=2, min_available_nodes=2)
    initial = ArrayRecord({"w": Array(np.zeros((2, 3), dtype=np.float32))})
    result = strategy.start(grid=grid, initial_arrays=initial, num_rounds=2)
    # Two rounds of two parties that add 1 and 3.
    found = result.arrays["w"].numpy()
    assert found.shape == (2, 3) and (found == 4).all(), found
