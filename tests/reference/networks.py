"""The larger networks that the papers train, as modules of PyTorch in training mode."""

import torch
import torch.nn.functional as F
from torch import nn


def convolution(channels, filters, size, stride):
    """A convolution without a bias, and the normalisation of its batch."""
    layer = nn.Conv2d(channels, filters, size, stride, size // 2, bias=False)
    return nn.Sequential(layer, nn.BatchNorm2d(filters))


class Block(nn.Module):
    """Convolutions and a shortcut around them: two of 3x3, or 1x1, 3x3 and 1x1 to four times the width."""

    def __init__(self, channels, width, stride, bottleneck):
        super().__init__()
        if bottleneck:
            filters = 4 * width
            layers = [convolution(channels, width, 1, 1), nn.ReLU(),
                      convolution(width, width, 3, stride), nn.ReLU(),
                      convolution(width, filters, 1, 1)]
        else:
            filters = width
            layers = [convolution(channels, width, 3, stride), nn.ReLU(),
                      convolution(width, width, 3, 1)]
        self.layers = nn.Sequential(*layers)
        same = stride == 1 and channels == filters
        self.shortcut = nn.Identity() if same else convolution(channels, filters, 1, stride)

    def forward(self, x):
        return F.relu(self.layers(x) + self.shortcut(x))


def resnet_features(depths, bottleneck, large):
    """A residual network without its mean over places: with the stem for large images, or with a first
    layer of 3x3 and no pool, as it is used for CIFAR-10."""
    layers = [convolution(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)] if large else \
        [convolution(3, 64, 3, 1), nn.ReLU()]
    channels = 64
    for stage, depth in enumerate(depths):
        for i in range(depth):
            width, stride = 64 << stage, 2 if stage > 0 and i == 0 else 1
            layers.append(Block(channels, width, stride, bottleneck))
            channels = 4 * width if bottleneck else width
    return nn.Sequential(*layers)


def resnet18():
    """ResNet-18 for images of 32x32."""
    features = resnet_features([2, 2, 2, 2], False, False)
    return nn.Sequential(features, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


def resnet50():
    """ResNet-50 for images of 224x224."""
    features = resnet_features([3, 4, 6, 3], True, True)
    return nn.Sequential(features, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 10))


def digits_cnn():
    """FedBN's network for digits of 28x28 in colour (Li et al. 2021, Appendix D)."""

    def layer(channels, filters):
        return [nn.Conv2d(channels, filters, 5, 1, 2), nn.BatchNorm2d(filters), nn.ReLU()]

    def dense(inputs, units):
        return [nn.Linear(inputs, units), nn.BatchNorm1d(units), nn.ReLU()]

    return nn.Sequential(*layer(3, 64), nn.MaxPool2d(2), *layer(64, 64), nn.MaxPool2d(2),
                         *layer(64, 128), nn.Flatten(), *dense(128 * 7 * 7, 2048),
                         *dense(2048, 512), nn.Linear(512, 10))


class Captioner(nn.Module):
    """ResNet-50 and an LSTM with soft attention (Xu et al. 2015), as FedAA trains them."""

    def __init__(self, vocabulary, embedding=512, hidden=512, units=512):
        super().__init__()
        self.features = resnet_features([3, 4, 6, 3], True, True)
        places = 2048
        self.place, self.state = nn.Linear(places, hidden), nn.Linear(units, hidden)
        self.score = nn.Linear(hidden, 1)
        self.embedding = nn.Embedding(vocabulary, embedding)
        self.init_h, self.init_c = nn.Linear(places, units), nn.Linear(places, units)
        self.gate = nn.Linear(units, places)
        self.lstm = nn.LSTMCell(embedding + places, units)
        self.words = nn.Linear(units, vocabulary)

    def forward(self, x, words):
        """Logits of each word's successor: `[batch, steps, vocabulary]`."""
        places = self.features(x).flatten(2).transpose(1, 2)
        mean = places.mean(1)
        h, c = self.init_h(mean), self.init_c(mean)
        vectors, logits = self.embedding(words), []
        for t in range(words.shape[1]):
            scores = self.score(F.relu(self.place(places) + self.state(h)[:, None])).squeeze(2)
            seen = torch.einsum("bn,bnf->bf", scores.softmax(1), places)
            seen = torch.sigmoid(self.gate(h)) * seen
            h, c = self.lstm(torch.cat([vectors[:, t], seen], 1), (h, c))
            logits.append(self.words(F.dropout(h, 0.5)))
        return torch.stack(logits, 1)
