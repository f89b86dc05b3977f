"""Code from torch.optim: switches without meaning here are taken, those with another meaning refused in a sentence."""

import pytest
import torch

from radam_core import SGDM, Adam, RAdam, make_optimizer
from radam_core.torch_switches import REFUSED

MAKERS = {
    "RAdam": RAdam,
    "Adam": Adam,
    "SGDM": SGDM,
    "make_optimizer": lambda params, **settings: make_optimizer(params, "radam", **settings),
}


def parameter():
    one = torch.nn.Parameter(torch.ones(3, dtype=torch.float64))
    one.grad = torch.arange(1.0, 4.0, dtype=torch.float64)
    return one


@pytest.mark.parametrize("maker", MAKERS)
def test_what_is_off_or_chosen_by_itself_changes_nothing(maker):
    plain, given = parameter(), parameter()
    off = dict.fromkeys(REFUSED, False)
    for one, settings in ((plain, {}), (given, {"foreach": True, "fused": None, **off})):
        MAKERS[maker]([one], lr=0.1, **settings).step()
    assert torch.equal(plain, given)


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("name", REFUSED)
def test_what_would_train_otherwise_is_refused(maker, name):
    with pytest.raises(ValueError, match=f"{name} must be off, got True: "):
        MAKERS[maker]([parameter()], **{name: True})


def test_a_group_and_a_checkpoint_are_no_way_around_it():
    with pytest.raises(ValueError, match="maximize must be off"):
        RAdam([{"params": [parameter()], "maximize": True}])
    theirs = torch.optim.RAdam([parameter()], maximize=True)
    with pytest.raises(ValueError, match="maximize must be off"):
        RAdam([parameter()]).load_state_dict(theirs.state_dict())
    ours = RAdam([parameter()])
    ours.load_state_dict(torch.optim.RAdam([parameter()]).state_dict())
    assert "maximize" not in ours.param_groups[0]


def test_a_misspelt_setting_is_still_an_error():
    with pytest.raises(TypeError, match="RAdam has no setting treshold"):
        RAdam([parameter()], treshold=4)
