"""What `numbers` and `surfaces` are called, what they are about and which settings they take; no torch here."""

from demo_models.task import Setting, Task

NUMBERS = Task(
    name="numbers",
    story="A small Transformer translates German number words into English, one morpheme at a time.",
    module="demo_models.numbers",
    metrics={"exact match": "higher", "token loss": "lower"},
    settings=(
        Setting(name="depth", default=6, low=1, high=12, help="layers of the encoder, and as many of the decoder"),
        Setting(
            name="width", default=32, low=8, high=256, help="of embeddings and layers; the feed-forward has twice it"
        ),
        Setting(name="heads", default=4, low=1, high=16, help="of attention; twice as many must divide the width"),
        Setting(
            name="norm", default="post", choices=("post", "pre"), help="layer norm after the sum, or before a layer"
        ),
        Setting(
            name="label_smoothing",
            default=0.0,
            low=0,
            high=0.5,
            changes_baseline=True,
            help="share of the target given to all words",
        ),
        Setting(
            name="source_file",
            default="",
            local=True,
            changes_baseline=True,
            help="your own corpus, one sentence a line; with target_file",
        ),
        Setting(
            name="target_file", default="", local=True, changes_baseline=True, help="its translations, line by line"
        ),
    ),
    batch_size=32,
    steps=500,
    lr=6e-3,
    evaluate_every=100,
    lane_steps_per_second=36.0,
    # What predicting how often each token occurs costs, in nats: the entropy of the target tokens, the end included.
    baseline=2.8207,
    probe_settings={"depth": 2},  # smaller than the race's: the variance is a matter of single coordinates
)

SURFACES = Task(
    name="surfaces",
    story="Two parameters walk down a landscape whose gradient is noisy: see where each method goes.",
    module="demo_models.surfaces",
    metrics={"distance": "lower"},
    settings=(
        Setting(
            name="surface",
            default="rosenbrock",
            choices=("rosenbrock", "beale", "rastrigin", "quadratic"),
            help="the landscape",
        ),
        Setting(
            name="noise", default=1.0, low=0, high=1000, help="standard deviation of each example's gradient noise"
        ),
        Setting(
            name="condition", default=100.0, low=1, high=1e6, help="of the quadratic: how much steeper y is than x"
        ),
    ),
    batch_size=1,
    steps=2000,
    lr=1e-2,
    evaluate_every=500,
    steps_per_frame=200,
    record_every=20,
    lane_steps_per_second=3000.0,
)
