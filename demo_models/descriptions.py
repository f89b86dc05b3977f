"""What `digits`, `images` and `text` are called, what they are about and which settings they take; no torch here."""

from dataclasses import dataclass
from math import ceil

from demo_models.task import Setting, Task

DIGITS = Task(
    name="digits",
    story="A small residual network reads 8x8 handwritten digits; with batch norm, every method trains well.",
    module="demo_models.digits",
    metrics={"accuracy": "higher"},
    settings=(
        Setting(name="depth", default=8, choices=(8, 14, 20), help="layers: 6n + 2, n residual blocks in each stage"),
        Setting(name="width", default=8, low=2, high=32, help="channels of the first of three stages; each doubles it"),
    ),
    batch_size=32,
    steps=500,
    lr=1e-2,
    evaluate_every=50,
    steps_per_frame=10,
    record_every=2,
    lane_steps_per_second=100.0,
    probe_settings={},
)

IMAGES = Task(
    name="images",
    story="The paper's ResNets on CIFAR-10 or Fashion-MNIST, with its crops and flips; needs the files.",
    module="demo_models.images",
    metrics={"accuracy": "higher"},
    settings=(
        Setting(name="dataset", default="cifar10", choices=("cifar10", "fashion-mnist"), help="which images"),
        Setting(
            name="depth",
            default=20,
            choices=(8, 14, 18, 20),
            help="layers: 8, 14 and 20 have three stages as in the paper's CIFAR-10 runs, 18 has ResNet-18's four",
        ),
        Setting(name="width", default=16, low=4, high=64, help="channels of the first stage; each stage doubles it"),
        Setting(name="augment", default=True, help="random crops after padding by 4, and flips"),
        Setting(name="held_out", default=1000, low=100, high=10_000, help="test images to measure accuracy on"),
        Setting(
            name="directory",
            default="",
            local=True,
            help="where the files are; empty: $RADAM_LAB_DATA, or ~/.cache/radam-lab",
        ),
    ),
    batch_size=128,
    steps=1000,
    lr=3e-3,
    evaluate_every=200,
    lane_steps_per_second=2.0,
)

TEXT = Task(
    name="text",
    story="A two-layer LSTM with adaptive softmax reads Python's own documentation and guesses each next word.",
    module="demo_models.text",
    metrics={"perplexity": "lower"},
    settings=(
        Setting(name="vocabulary", default=2000, low=100, high=20_000, help="most words to know; others become <unk>"),
        Setting(name="width", default=64, low=8, high=512, help="of the embedding and of both LSTM layers"),
        Setting(name="length", default=20, low=2, high=100, help="words that the gradient runs back through"),
        Setting(name="context", default=20, low=0, high=200, help="words read before those, without gradient"),
        Setting(
            name="file", default="", local=True, help="a UTF-8 text of at most 20 MB; empty: CPython's documentation"
        ),
    ),
    batch_size=32,
    steps=500,
    lr=1e-2,
    evaluate_every=100,
    lane_steps_per_second=150.0,
    probe_settings={"vocabulary": 500, "width": 32},
)


@dataclass(frozen=True)
class PaperRun:
    """How the paper trained on CIFAR-10 (its Appendix B), as settings of a race on `images`."""

    label: str
    settings: dict[str, int | str]
    lr: float = 0.1
    batch_size: int = 128
    epochs: int = 186
    decay: str = "step"  # a tenth after 81 and again after 122 of the 186 epochs
    weight_decay: float = 1e-4
    held_out: int = 10_000
    train_images: int = 50_000

    @property
    def steps(self) -> int:
        return ceil(self.epochs * self.train_images / self.batch_size)


# ResNet-20 is the paper's own; it trained ResNet-18 on ImageNet, and here it is the larger network for CIFAR-10.
PAPER_RUNS = {
    "resnet-20": PaperRun("ResNet-20 on CIFAR-10, as in the paper", {"dataset": "cifar10", "depth": 20, "width": 16}),
    "resnet-18": PaperRun("ResNet-18 on CIFAR-10", {"dataset": "cifar10", "depth": 18, "width": 64}),
}
