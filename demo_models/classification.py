"""What image tasks share: the loss of a batch and the accuracy on held-out images, one number per lane."""

from collections.abc import Iterable

from torch import Tensor
from torch.nn.functional import log_softmax

from demo_models.resnet import ResNet


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Mean -log p(label) over [..., batch, classes], in nats."""
    return -log_softmax(logits, -1).gather(-1, labels.unsqueeze(-1)).squeeze(-1).mean(-1)


def accuracy(model: ResNet, batches: Iterable[tuple[Tensor, Tensor]]) -> Tensor:
    """The share of images [count, channels, height, width] whose own class gets the highest score."""
    bias = model.head.bias  # has a lane axis if the model has
    correct, count = bias.new_zeros(bias.shape[:-1]), 0
    for images, labels in batches:
        shown = images.to(bias).expand(*bias.shape[:-1], *images.shape)
        correct += (model(shown).argmax(-1) == labels.to(bias.device)).sum(-1)
        count += len(labels)
    return correct / count
