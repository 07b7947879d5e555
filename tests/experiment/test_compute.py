"""Chunks: what ideal weights are worth close to zero, plain modules by seed, records of all of it."""

import pytest
import torch

from nalm.evaluate.outcome import limits, outcome_of
from nalm.experiment.compute import compute, ideal_errors
from nalm.experiment.plan import Chunk
from nalm.experiment.run import Case, Run
from nalm.models import ModelSpec
from nalm.tasks import RANGE_SETS, Reciprocal, SingleModule, Split


@pytest.mark.parametrize("unit", ["realnpu", "nru", "nmru", "npu"])
@pytest.mark.parametrize("inputs", [1, 2])
def test_close_to_zero_ideal_weights_are_a_solution(unit, inputs):
    spec = ModelSpec.parse(unit)
    cases = [Case(spec, Reciprocal(range=name, inputs=inputs)) for name in RANGE_SETS["near-zero"]]
    runs = [Run(case, seed) for case in cases for seed in range(3)]
    errors = ideal_errors(spec.build(inputs, 1), runs, compiled=False)
    for run in runs:
        test, validation = errors[run][Split.TEST], errors[run][Split.VALIDATION]
        below = limits(run.case.task, test, validation)
        assert outcome_of(validation, test, False, below) == "solved"
        worse = test * (1 + 1e-5) + 1e-6
        assert outcome_of(validation, worse, False, below) == "not_extrapolating"


def test_a_task_with_a_threshold_of_its_own_needs_no_ideal_weights():
    spec = ModelSpec.parse("nmu")
    assert ideal_errors(spec.build(2, 1), [Run(Case(spec, SingleModule("mul")), 0)]) == {}


PLAIN = """\
import torch


class Plain(torch.nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(out_features, in_features))

    def forward(self, x):
        return (self.weight * x[..., None, :]).prod(-1)
"""


def test_a_plain_module_is_made_anew_for_each_seed_and_recorded(tmp_path):
    (tmp_path / "mine.py").write_text(PLAIN)
    spec = ModelSpec.parse(f"{tmp_path / 'mine.py'}:Plain")
    case = Case(spec, SingleModule("mul"), 2)
    records = compute(Chunk(tuple(Run(case, seed) for seed in (3, 4, 3))))
    first, other, again = (torch.from_numpy(r.chosen_parameters["weight"]) for r in records)
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert records[0].test[0] == pytest.approx(records[2].test[0])
    assert records[0].sparsity is None
    assert records[0].identity["layers"][0]["unit"] == "Plain"
    assert records[0].machine["compiled"]
