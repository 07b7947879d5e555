"""Which operation a gate has chosen."""

import numpy as np
import pytest
import torch

from nalm.evaluate.judged import Judged
from nalm.experiment.run import Case
from nalm.papers.agreement import Finding
from nalm.papers.claims import Findings
from nalm.papers.entries import ENTRIES
from nalm.papers.madsen2020.programs.gates import CLAIMS, mean_gate


class Record:
    def __init__(self, case: Case, gate: float) -> None:
        model = case.build()
        with torch.no_grad():
            model[0].select_(torch.ones_like(model[0].weights()["W"]))
            model[1].gate.fill_(gate)
        self.seed = 0
        self.chosen_parameters = {k: np.array(p) for k, p in model.state_dict().items()}


@pytest.mark.parametrize("row", ["Gated NAU/NMU", "NALU (separate)", "NALU (shared)"])
@pytest.mark.parametrize(("gate", "expected"), [(1.0, 1.0), (-1.0, 0.0), (0.0, 0.5)])
def test_the_gate_is_that_of_the_second_layer_on_training_data(row, gate, expected):
    (case,) = ENTRIES["madsen2020:fig9"].places[row, "mul"].cases
    assert mean_gate(case, Judged(Record(case, gate), None, None)) == pytest.approx(expected, abs=1e-6)


def shares(add, mul):
    rows = ("Gated NAU/NMU", "NALU (separate)", "NALU (shared)")
    found = {
        "add": Finding(add, add - 0.05, add + 0.05, 100),
        "mul": Finding(mul, mul - 0.05, mul + 0.05, 100),
    }
    return Findings({(row, op, "adds"): found[op] for row in rows for op in found})


def test_a_choice_is_random_unless_it_is_surely_better_where_it_should_be():
    assert all(claim.check(shares(0.5, 0.48)) for claim in CLAIMS[:3])
    assert not CLAIMS[0].check(shares(0.9, 0.1))


def test_separate_weights_add_more_often_only_if_their_share_is_higher():
    equal = shares(0.5, 0.5)
    assert not CLAIMS[3].check(equal)
    more = Findings(
        {**equal, **{("NALU (separate)", op, "adds"): Finding(0.9, 0.8, 1, 100) for op in ("add", "mul")}}
    )
    assert CLAIMS[3].answer(more).holds
    assert not CLAIMS[3].answer(more).weak
