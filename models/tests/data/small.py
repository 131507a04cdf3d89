"""Writes small.pt, small-legacy.pt and small-checkpoint.pt, which models/tests/models/weights.rs loads: PyTorch's state_dict
of an LSTM, a normalisation and a linear layer, whose i-th number is 0.7 cos(k i) with a k of each
tensor. Written by torch 2.15.
"""

from collections import OrderedDict

import torch

ENTRIES = [
    ("rnn.weight_ih_l0", (8, 2), 1.0),
    ("rnn.weight_hh_l0", (8, 2), 2.0),
    ("rnn.bias_ih_l0", (8,), 3.0),
    ("rnn.bias_hh_l0", (8,), 5.0),
    ("bn.weight", (2,), 0.1),
    ("bn.bias", (2,), 0.5),
    ("bn.running_mean", (2,), 1.1),
    ("bn.running_var", (2,), 0.3),
    ("fc.weight", (3, 2), 1.3),
    ("fc.bias", (3,), 1.7),
]

state = OrderedDict()
for name, shape, k in ENTRIES:
    numbers = torch.arange(torch.Size(shape).numel(), dtype=torch.float32)
    state[name] = (0.7 * torch.cos(k * numbers)).reshape(shape)
state["bn.num_batches_tracked"] = torch.tensor(3)
torch.save(state, "small.pt")
torch.save(state, "small-legacy.pt", _use_new_zipfile_serialization=False)

# What training scripts save: parameters of several types and layouts beside other things.
state["fc.weight"] = torch.nn.Parameter(state["fc.weight"].t().contiguous().t())
state["bn.bias"] = state["bn.bias"].double()
torch.save({"epoch": 3, "lr": 0.1, "state_dict": state}, "small-checkpoint.pt")
