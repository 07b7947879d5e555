"""Golden results: the numbers of a run change only together with `NUMERICS_VERSION`.

Write them anew, after raising the version, with `python tests/engine/test_golden.py`.
"""

import json
from pathlib import Path

import pytest
import torch

from nalm import NUMERICS_VERSION
from nalm.models import ModelSpec
from nalm.tasks import ArithmeticDataset, SingleModule
from nalm.training.trainers import train_runs

GOLDEN = Path(__file__).with_name("golden.json")
MODELS = (
    "nac", "nac-mul", "nalu", "inalu", "gnalu", "nau", "nmu", "snmu", "realnpu", "npu", "nru", "nmru",
    "nau+nmu",
)  # fmt: skip


def curve(name):
    """Validation errors of seed 3 at steps 0, 50 and 100, in float64 so that processors agree."""
    spec = ModelSpec.parse(name)
    op = spec.units[-1].ops[0]
    task = ArithmeticDataset(op, inputs=20) if "+" in name else SingleModule(op)
    result = train_runs(
        spec.build(task.in_features, 1), [task], [spec.make_recipe(op, 2)], [3],
        iterations=100, log_interval=50, dtype=torch.float64, compiled=False,
    )  # fmt: skip
    return result.validation[0].tolist()


def test_the_golden_results_are_of_this_version():
    golden = json.loads(GOLDEN.read_text())
    assert golden["numerics_version"] == NUMERICS_VERSION
    assert set(golden["curves"]) == set(MODELS)


@pytest.mark.parametrize("name", MODELS)
def test_the_numbers_are_those_of_this_version(name):
    golden = json.loads(GOLDEN.read_text())["curves"][name]
    assert curve(name) == pytest.approx(golden, rel=1e-6)


if __name__ == "__main__":
    content = {"numerics_version": NUMERICS_VERSION, "curves": {name: curve(name) for name in MODELS}}
    GOLDEN.write_text(json.dumps(content, indent=2) + "\n")
