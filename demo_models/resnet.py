"""Residual networks for small images (He et al. 2016): the CIFAR kind of 6n + 2 layers, and ResNet-18.

Axes are counted from the end and pooling is a mean, so that the same code runs with a lane axis in front.
"""

from collections.abc import Sequence

from torch import Tensor, nn
from torch.nn.functional import pad, relu

CIFAR_STAGES = 3


class Block(nn.Module):
    """Two 3x3 convolutions with batch norm, added to the input.

    Where the shape changes, the input is either strided and padded with zero channels, which needs no parameters (He's
    option A, for the CIFAR kind), or projected by a 1x1 convolution with batch norm (option B, for ResNet-18).
    """

    def __init__(self, inputs: int, outputs: int, stride: int, project: bool) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.stride, self.new_channels = stride, outputs - inputs
        changes = stride > 1 or outputs != inputs
        self.project = nn.Conv2d(inputs, outputs, 1, stride, bias=False) if changes and project else None
        self.project_norm = nn.BatchNorm2d(outputs) if changes and project else None

    def shortcut(self, x: Tensor) -> Tensor:
        if self.project is not None and self.project_norm is not None:
            return self.project_norm(self.project(x))
        if self.stride > 1:
            x = x[..., :: self.stride, :: self.stride]
        before = self.new_channels // 2
        return pad(x, (0, 0, 0, 0, before, self.new_channels - before)) if self.new_channels else x

    def forward(self, x: Tensor) -> Tensor:
        inner = relu(self.norm1(self.conv1(x)))
        return relu(self.norm2(self.conv2(inner)) + self.shortcut(x))


class ResNet(nn.Module):
    """A 3x3 convolution, stages of blocks that each halve the image and double the width, mean pooling, one linear."""

    def __init__(self, channels: int, classes: int, width: int, blocks: Sequence[int], project: bool) -> None:
        super().__init__()
        self.stem = nn.Conv2d(channels, width, 3, padding=1, bias=False)
        self.stem_norm = nn.BatchNorm2d(width)
        stages, inputs = [], width
        for number, count in enumerate(blocks):
            outputs = width * 2**number
            strides = [1 if number == 0 else 2] + [1] * (count - 1)
            inner = zip([inputs] + [outputs] * (count - 1), strides, strict=True)
            stages.append(nn.Sequential(*(Block(a, outputs, stride, project) for a, stride in inner)))
            inputs = outputs
        self.stages = nn.ModuleList(stages)
        self.head = nn.Linear(inputs, classes)
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d):
                nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x: Tensor) -> Tensor:
        x = relu(self.stem_norm(self.stem(x)))
        for stage in self.stages:
            x = stage(x)
        return self.head(x.mean((-2, -1)))


def make_cifar_resnet(channels: int, classes: int, depth: int, width: int) -> ResNet:
    """He et al.'s Section 4.2: depth 6n + 2, as three stages of n blocks; ResNet-20 there has width 16."""
    blocks, rest = divmod(depth - 2, 2 * CIFAR_STAGES)
    if rest or blocks < 1:
        raise ValueError(f"depth must be 6n + 2 with n at least 1 (8, 14, 20, ...), got {depth}")
    return ResNet(channels, classes, width, [blocks] * CIFAR_STAGES, project=False)


def make_resnet18(channels: int, classes: int, width: int = 64) -> ResNet:
    """ResNet-18's four stages of two blocks, 64 to 512 wide; its 7x7 stem and max-pooling are for larger images."""
    return ResNet(channels, classes, width, [2, 2, 2, 2], project=True)


def resnet_group(parameter: str) -> str:
    """The histogram group of a parameter: the stem, each stage, or the head."""
    part, _, rest = parameter.partition(".")
    return f"stage {int(rest.split('.', 1)[0]) + 1}" if part == "stages" else part.removesuffix("_norm")


def resnet_layer(parameter: str) -> str:
    """The same by block: "stage 2, block 1"."""
    part, _, rest = parameter.partition(".")
    if part != "stages":
        return resnet_group(parameter)
    stage, block, _ = rest.split(".", 2)
    return f"stage {int(stage) + 1}, block {int(block) + 1}"
