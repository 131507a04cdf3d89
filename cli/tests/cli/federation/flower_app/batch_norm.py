

class Normed(nn.Module):
    """fedround's model `adcol-digits` for greyscale images, which has batch normalisation."""

    def __init__(self):
        super().__init__()
        self.features = nn.ModuleDict(
            {
                "conv1": nn.Conv2d(1, 16, 5, padding=2),
                "norm1": nn.BatchNorm2d(16),
                "conv2": nn.Conv2d(16, 16, 5, padding=2),
                "norm2": nn.BatchNorm2d(16),
                "conv3": nn.Conv2d(16, 32, 5, padding=2),
                "norm3": nn.BatchNorm2d(32),
                "fc1": nn.Linear(1568, 128),
                "norm4": nn.BatchNorm1d(128),
                "fc2": nn.Linear(128, 128),
                "norm5": nn.BatchNorm1d(128),
            }
        )
        layers = [nn.Linear(128, 128, bias=False) for _ in range(3)]
        norms = [nn.BatchNorm1d(128) for _ in range(3)]
        projector = {"layers": nn.ModuleList(layers), "norms": nn.ModuleList(norms)}
        self.projector = nn.ModuleDict(projector)
        hidden, head = nn.Linear(128, 32, bias=False), nn.Linear(32, 10)
        predictor = {"hidden": hidden, "norm": nn.BatchNorm1d(32), "head": head}
        self.predictor = nn.ModuleDict(predictor)

    def load_state_dict(self, state):
        # The coordinator does not send `num_batches_tracked`.
        return super().load_state_dict(state, strict=False)

    def forward(self, x):
        f = self.features
        for i in range(1, 4):
            x = f[f"norm{i}"](f[f"conv{i}"](x)).relu()
            x = nn.functional.max_pool2d(x, 2) if i < 3 else x.flatten(1)
        x = f["norm4"](f["fc1"](x)).relu()
        x = f["norm5"](f["fc2"](x)).relu()
        for i in range(3):
            x = x.relu() if i else x
            x = self.projector["norms"][i](self.projector["layers"][i](x))
        p = self.predictor
        return p["head"](p["norm"](p["hidden"](x)).relu())


# The client above makes its model by this name.
two_nn = Normed
