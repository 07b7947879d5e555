"""The rehearsal: a user's module that cannot train is refused at once, in a sentence that says why."""

import random

import numpy as np
import pytest
import torch
from torch import nn

import nalm
from nalm.models import rehearsal
from nalm.tasks import SingleModule


class Plain(nn.Module):
    """A sum that trains; the others below each have one fault."""

    def __init__(self, inputs=2, outputs=1):
        super().__init__()
        self.w = nn.Parameter(torch.rand(outputs, inputs))
        self.register_buffer("calls", torch.zeros(()))

    def reset_parameters(self):
        nn.init.uniform_(self.w)

    def forward(self, x):
        return x @ self.w.mT


class NotFinite(Plain):
    def forward(self, x):
        return torch.log(-x.abs()) @ self.w.mT


class GradientNotFinite(Plain):
    def forward(self, x):
        return x @ self.w.mT + (self.w - self.w.detach()).abs().sqrt().sum()


class ChangesWeights(Plain):
    def forward(self, x):
        self.w.data.clamp_(-2, 2)  # does nothing to the initial weights
        return x @ self.w.mT


class Counts(Plain):
    def forward(self, x):
        self.calls += 1
        return x @ self.w.mT


class WrongShape(Plain):
    def forward(self, x):
        return (x @ self.w.mT).squeeze(-1)


class Tuple(Plain):
    def forward(self, x):
        return x, x


class Detached(Plain):
    def forward(self, x):
        return (x @ self.w.mT).detach()


class Unreached(Plain):
    def __init__(self, inputs=2, outputs=1):
        super().__init__(inputs, outputs)
        self.other = torch.ones(outputs, inputs, requires_grad=True)

    def forward(self, x):
        return x @ self.other.mT


class TorchRandom(Plain):
    def forward(self, x):
        return x @ self.w.mT + torch.randn(1)


class NumpyRandom(Plain):
    def forward(self, x):
        return x @ self.w.mT + np.random.rand()  # noqa: NPY002


class PythonRandom(Plain):
    def forward(self, x):
        return x @ self.w.mT + random.random()


class Branches(Plain):
    def forward(self, x):
        return x @ self.w.mT if x.sum() > 0 else -x @ self.w.mT


class Item(Plain):
    def forward(self, x):
        return x @ self.w.mT * self.w.sum().item()


class Raises(Plain):
    def forward(self, x):
        raise KeyError("spam")


class UnitNotFinite(nalm.NAU):
    def compute(self, x):
        return super().compute(x) / 0 * 0


class UnitChangesWeights(nalm.NAU):
    def compute(self, x):
        self.project_()
        return super().compute(x)


class UnitBranches(nalm.NAU):
    def compute(self, x):
        return super().compute(x) if self.weight.sum() > 0 else 1 - super().compute(x)


class UnitWrongShape(nalm.NAU):
    def compute(self, x):
        return super().compute(x)[..., 0]


FAULTS = {
    NotFinite: "whose output is NaN or infinite in the first step, for every model",
    GradientNotFinite: "whose gradient by `w` is NaN or infinite",
    ChangesWeights: "whose forward changes `w` in place",
    Counts: "whose forward changes `calls` in place",
    WrongShape: r"which gives shape \(16,\) for input of shape \(16, 2\)",
    Tuple: "whose forward returns tuple, not a tensor",
    Detached: "whose output depends on no trained parameter",
    Unreached: "whose parameters get no gradient",
    TorchRandom: "whose forward draws random numbers",
    NumpyRandom: "whose forward draws random numbers",
    PythonRandom: "whose forward draws random numbers",
    Branches: r"a branch depends on data.*test_rehearsal\.py:\d+",
    Item: r"`.item\(\)` needs one number.*test_rehearsal\.py:\d+",
    Raises: r"which fails: KeyError: 'spam' \(.*test_rehearsal\.py:\d+\)",
    UnitNotFinite: "whose output is NaN or infinite",
    UnitChangesWeights: "whose forward changes `weight` in place",
    UnitBranches: "whose output changes next to other models",
    UnitWrongShape: r"gives shape \(2, 16\) for two models at once, not \(2, 16, 1\)",
}


@pytest.mark.parametrize("kind", FAULTS, ids=lambda kind: kind.__name__)
def test_a_module_that_cannot_train_is_refused_before_any_step(kind):
    told = []
    with pytest.raises(nalm.ArgumentError, match=FAULTS[kind]) as caught:
        nalm.train(kind(2, 1), SingleModule("add"), seeds=8, on_progress=told.append)
    assert f"but got {kind.__name__} (" in str(caught.value)
    assert "test_rehearsal.py:" in str(caught.value)
    assert told == []


class LogSpace(Plain):
    """Not finite where inputs are negative, which is a result; finite between 1 and 2."""

    def forward(self, x):
        return torch.exp(torch.log(x) @ self.w.mT)


def test_a_module_that_fails_on_the_range_of_the_task_alone_trains_and_diverges():
    result = nalm.train(LogSpace(), SingleModule("mul", "-2:-1"), seeds=2, iterations=2, log_interval=1)
    assert (result.diverged_at >= 0).all()


class SometimesNotFinite(Plain):
    def forward(self, x):
        return (self.w - 0.5).sum().sqrt() * x @ self.w.mT


def test_one_model_that_is_finite_is_enough():
    module = SometimesNotFinite()
    result = nalm.train(module, SingleModule("add"), seeds=8, iterations=2, log_interval=1, compiled=False)
    assert 0 < int((result.diverged_at >= 0).sum()) < 8


def test_torchs_generator_is_left_as_it_was():
    module, before = Plain(), torch.get_rng_state()
    nalm.train(module, SingleModule("add"), seeds=2, iterations=1, compiled=False)
    assert torch.equal(before, torch.get_rng_state())


def test_units_of_ours_are_not_rehearsed(monkeypatch):
    monkeypatch.setattr("nalm.engine.many_runs.rehearse", lambda *_: pytest.fail("rehearsed"))
    nalm.train("nmu", SingleModule("mul"), iterations=1, compiled=False)


def test_an_error_in_torch_names_the_users_line():
    with pytest.raises(RuntimeError) as caught:
        torch.ones(2) @ torch.ones(3)
    assert "test_rehearsal.py:" in rehearsal.located(caught.value)
