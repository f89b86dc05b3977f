import pytest
import torch
from torch import nn
from torch.nn.functional import batch_norm, conv2d, pad, relu

from demo_models.classification import accuracy, cross_entropy
from demo_models.initial import seeded
from demo_models.resnet import Block, make_cifar_resnet, make_resnet18, resnet_group


def parameters(model):
    return sum(p.numel() for p in model.parameters())


def test_resnet_20_has_the_size_he_et_al_give():
    """Table 6 of He et al. 2016: 0.27 M. By hand, width w = 16: stem 9*3*w; 6 convolutions of 9 w^2 in stage one; in
    stage two one of 9*2 w^2 and five of 9*4 w^2, in stage three four times as many; 2 per normalised channel, of which
    there are 7 w + 6 (2 w) + 6 (4 w); and 10 (4 w) + 10 in the head."""
    w = 16
    convolutions = 27 * w + 9 * w * w * (6 + (2 + 5 * 4) * 5)
    assert parameters(make_cifar_resnet(3, 10, 20, w)) == convolutions + 2 * 43 * w + 40 * w + 10 == 269_722


def test_resnet_18_has_its_published_size_but_for_the_stem_and_the_head():
    """11,689,512 with a 7x7 stem (9,408 weights) and 1000 classes (513,000); ours has a 3x3 stem and 10 classes."""
    assert parameters(make_resnet18(3, 10)) == 11_689_512 - 9_408 - 513_000 + 27 * 64 + 5_130


@pytest.mark.parametrize("depth", [8, 14, 20])
def test_depth_counts_the_layers_with_weights_on_the_longest_path(depth):
    model = make_cifar_resnet(1, 10, depth, 4)
    assert sum(isinstance(layer, nn.Conv2d | nn.Linear) for layer in model.modules()) == depth


@pytest.mark.parametrize("depth", [2, 9, 18])
def test_a_depth_that_is_not_6n_plus_2_is_refused(depth):
    with pytest.raises(ValueError, match=rf"depth must be 6n \+ 2 .*, got {depth}"):
        make_cifar_resnet(1, 10, depth, 4)


@pytest.mark.parametrize("project", [False, True])
def test_a_block_is_what_the_formula_says(project):
    """relu(norm(conv(relu(norm(conv x)))) + shortcut x), written out with plain functions."""
    torch.manual_seed(0)
    block, x = Block(3, 8, 2, project).double(), torch.randn(5, 3, 8, 8, dtype=torch.float64)

    def norm(y, layer):
        return batch_norm(y, None, None, layer.weight, layer.bias, training=True)

    inner = relu(norm(conv2d(x, block.conv1.weight, stride=2, padding=1), block.norm1))
    inner = norm(conv2d(inner, block.conv2.weight, padding=1), block.norm2)
    strided = x[:, :, ::2, ::2]
    shortcut = pad(strided, (0, 0, 0, 0, 2, 3))
    if project:
        shortcut = norm(conv2d(strided, block.project.weight), block.project_norm)
    assert torch.equal(block(x), relu(inner + shortcut))


def test_images_shrink_by_four_in_three_stages_and_any_size_works():
    model = make_cifar_resnet(1, 10, 8, 4)
    features = []
    model.stages[-1].register_forward_hook(lambda module, inputs, output: features.append(output.shape))
    for size in (8, 28, 32):
        assert model(torch.zeros(2, 1, size, size)).shape == (2, 10)
    assert features == [(2, 16, 2, 2), (2, 16, 7, 7), (2, 16, 8, 8)]


def test_groups_are_few_and_hold_every_parameter():
    names = [name for name, _ in make_resnet18(3, 10, 4).named_parameters()]
    assert list(dict.fromkeys(map(resnet_group, names))) == ["stem", "stage 1", "stage 2", "stage 3", "stage 4", "head"]


def test_initial_weights_depend_on_the_seed_alone_and_disturb_nobody():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    weights = []
    for seed in (1, 2, 1):
        with seeded(seed):
            weights.append(make_cifar_resnet(1, 10, 8, 4).stem.weight)
    assert torch.equal(torch.rand(3), expected)
    assert torch.equal(weights[0], weights[2])
    assert not torch.equal(weights[0], weights[1])


def test_cross_entropy_is_torchs_for_each_lane():
    logits, labels = torch.randn(3, 5, 10, dtype=torch.float64), torch.randint(10, (3, 5))
    expected = torch.stack([nn.functional.cross_entropy(a, b) for a, b in zip(logits, labels, strict=True)])
    torch.testing.assert_close(cross_entropy(logits, labels), expected, rtol=1e-14, atol=0)


def test_accuracy_counts_over_batches_of_any_size():
    model = make_cifar_resnet(1, 10, 8, 4).eval()
    images = torch.randn(7, 1, 8, 8)
    labels = model(images).argmax(-1)
    labels[:3] = (labels[:3] + 1) % 10
    batches = list(zip(images.split(4), labels.split(4), strict=True))
    assert accuracy(model, batches).item() == pytest.approx(4 / 7)
