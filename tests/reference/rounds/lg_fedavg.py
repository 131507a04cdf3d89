"""A round of LG-FedAvg after its warm-up: Liang, Liu et al. 2020, Algorithm 1."""

import copy

from .common import average, cohort, model, train


def rounds(s):
    clients, server = cohort(s), model(s)
    shared = getattr(server, s.hyper["global"])
    own = {"head": "features", "features": "head"}[s.hyper["global"]]
    personal = [copy.deepcopy(getattr(server, own).state_dict()) for _ in clients]

    def a_round():
        parts, steps = [], 0
        for k, client in enumerate(clients):
            net = copy.deepcopy(server)
            getattr(net, own).load_state_dict(personal[k])
            steps += train(net, client, s)
            personal[k] = getattr(net, own).state_dict()
            parts.append(getattr(net, s.hyper["global"]))
        shared.load_state_dict(average(parts, [len(client.y) for client in clients]))
        return steps

    return {"train": a_round}
