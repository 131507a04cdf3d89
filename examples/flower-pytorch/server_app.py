"""A server with Flower's own FedAvg, for parties of fedround that run with `--for-server-app`."""

import torch
from flwr.app import ArrayRecord, ConfigRecord
from flwr.serverapp import ServerApp
from flwr.serverapp.strategy import FedAvg

from client_app import two_nn

app = ServerApp()


@app.main()
def main(grid, context):
    """Settings that are not sent are those of the parties' command lines."""
    result = FedAvg().start(
        grid=grid,
        initial_arrays=ArrayRecord(two_nn().state_dict()),
        num_rounds=3,
        train_config=ConfigRecord({"lr": 0.1, "local-epochs": 1, "batch-size": 10}),
    )
    torch.save(result.arrays.to_torch_state_dict(), "final.pt")
