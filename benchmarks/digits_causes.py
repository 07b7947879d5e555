"""Why products of long sequences of digits fail, and one change that helps.

    python benchmarks/digits_causes.py --store runs.sqlite [--json FILE] [--seeds 3] [--jobs 2]

Trains the NMU on products of two digits by the reduced protocol (runs in the store are not trained again) and
asks of each trained network, by length:

- as trained: its error;
- exact weights: its error when the unit's weights are rounded, so that only readings err;
- exact digits: its error when the unit is given the true digits, so that only weights err;
- whole digits: its error when readings are rounded to whole numbers before the unit.

The change: as soon as the weights of the NMU are nearer to 1 than to 0, and stay so, they are made exact, and
a reader that takes the soft index of ten logits is trained behind them for half of the steps, with the same
seeds. Such a reader learns faster than one that regresses a number, but cannot be used before the weights are
exact (`--early` shows it). Whether a run succeeds is judged by the papers' reference: the solved product with
the papers' reader.
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nalm.evaluate.reference import upper_bound
from nalm.experiment.bench import Experiment, do_work, make_work
from nalm.experiment.local import Local
from nalm.experiment.rows import stored_runs
from nalm.experiment.run import Case
from nalm.experiment.store import Record, Store
from nalm.models import ModelSpec
from nalm.models.digit_networks import DigitSequence
from nalm.tasks import MnistSequential, Split
from nalm.tasks.sampling import sample

UNIT, SOLVED = "nmu", "mul"
PUBLISHED, CHANGED = "regression", "warm-classifier"
SHOWN = (2, 5, 10, 15, 20)


def case_of(model: str, reader: str) -> Case:
    """A model with a reader; the other reader has half of the steps."""
    task = MnistSequential("mul").reduced()
    steps = task.steps // 2 if reader == CHANGED else None
    return Case(ModelSpec.parse(model), replace(task, reader=reader), steps, schedule="scaled")


def exact_from(record: Record) -> int | None:
    """The first logged step from which the unit's weights round to what they are at the end, if to ones."""
    weights = np.round(record.history["unit.weight"].reshape(len(record.history_steps), -1))
    settled = [bool((weights[k:] == 1).all()) for k in range(len(weights))]
    return int(record.history_steps[settled.index(True)]) if any(settled) else None


def network_of(case: Case, record: Record) -> DigitSequence:
    """The trained network of a run, at its chosen step."""
    network = case.build()
    network.load_state_dict({name: torch.from_numpy(p) for name, p in record.chosen_parameters.items()})
    assert isinstance(network, DigitSequence)
    return network.eval()


def errors_by_length(results: Tensor, targets: Tensor) -> np.ndarray:
    """Mean squared error after each digit."""
    return (results.double() - targets.double()).square().mean(0).numpy()


@torch.no_grad()
def parts(case: Case, record: Record) -> dict[str, np.ndarray]:
    """The errors of a run by length, as trained and with one of its parts made exact."""
    network, task = network_of(case, record), case.task
    rows = task.block(Split.TEST)
    (images, index), y = sample(task, record.seed, Split.TEST, rows, dtype=torch.float32)
    readings = network.reader(images)[index]
    digits, targets = y[..., 1:], y[..., 0]
    exact = copy.deepcopy(network)
    if hasattr(exact.unit, "snap_"):
        exact.unit.snap_()
    found = {
        "as trained": network.results_of(readings),
        "exact weights": exact.results_of(readings),
        "exact digits": network.results_of(digits),
        "whole digits": exact.results_of(readings.round().clamp(1, 9)),
    }
    by_length = {name: errors_by_length(results[..., 0], targets) for name, results in found.items()}
    right = (readings[..., 0].round() == digits[..., 0]).double().mean()
    return {**by_length, "digit accuracy": right.numpy()}


def summary(errors: list[dict[str, np.ndarray]], bounds: list[float | None]) -> dict[str, Any]:
    """Medians over seeds, and successes by length."""
    names = [name for name in errors[0] if name != "digit accuracy"]
    return {
        "digit accuracy": [float(each["digit accuracy"]) for each in errors],
        "median error": {
            name: {n: float(np.median([each[name][n - 1] for each in errors])) for n in SHOWN}
            for name in names
        },
        "success": {
            name: {n: sum(bool(each[name][n - 1] < (bounds[n - 1] or 0.0)) for each in errors) for n in SHOWN}
            for name in names
        },
        "runs": len(errors),
    }


def main() -> None:
    """Train what is missing, and print a table or JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--early", action="store_true", help="also the other reader from the start")
    given = parser.parse_args()
    names = [(UNIT, PUBLISHED), (SOLVED, PUBLISHED), (SOLVED, CHANGED)]
    cases = {name: case_of(*name) for name in [*names, *([(UNIT, CHANGED)] if given.early else [])]}
    experiment = Experiment("mnist-sequential", tuple(cases.values()), given.seeds)
    with Store(given.store) as store:
        do_work(make_work(experiment, store, given.jobs), store, Local(given.jobs))
        held = dict(stored_runs(experiment, store, curves_only=False))
    errors = {key: [parts(case, record) for record in held[case]] for key, case in cases.items()}
    papers = errors[SOLVED, PUBLISHED]
    bounds = [upper_bound([each["as trained"][k] for each in papers]) for k in range(20)]
    found = {f"{model}, {reader}": summary(each, bounds) for (model, reader), each in errors.items()}
    settled = [exact_from(record) for record in held[cases[UNIT, PUBLISHED]]]
    found["change"] = {"steps": cases[UNIT, PUBLISHED].recipe.iterations, "weights exact from step": settled}
    if given.json == "-":
        json.dump(found, sys.stdout, indent=1)
        return
    if given.json:
        Path(given.json).write_text(json.dumps(found, indent=1) + "\n")
    told_of_change = found.pop("change")
    for name, told in found.items():
        print(f"{name}: digits read {', '.join(f'{a:.1%}' for a in told['digit accuracy'])}")
        for part, by_length in told["median error"].items():
            shown = "  ".join(f"{n}: {e:8.2e} ({told['success'][part][n]})" for n, e in by_length.items())
            print(f"  {part:14} {shown}")
    print("Weights round to ones from step", *settled, "of", told_of_change["steps"])
    print("Median error by length, and in brackets how many runs are below the papers' bound.")


if __name__ == "__main__":
    main()
