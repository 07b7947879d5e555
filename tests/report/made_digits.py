"""Runs of tasks on drawn digits, made by hand: known errors, untrained networks."""

import numpy as np
import torch
from made_runs import bare_record

from nalm.experiment.run import Case, Run
from nalm.experiment.store import Record, Store
from nalm.models import ModelSpec
from nalm.report.digits.cases import DigitRuns
from nalm.report.digits.section import digits_section
from nalm.tasks import MnistComparison, MnistIsolated, MnistSequential, MnistSeries

LOGS = np.array([0, 50, 100])
CHOSEN = 1
"""Errors of other logs are a thousand times larger: nothing of them may be shown."""
PRODUCT = MnistSequential("mul", digits="drawn").reduced()
QUOTIENT = MnistIsolated("div", digits="drawn").reduced()
COUNT = MnistSeries("count", digits="drawn").reduced()
LARGER = MnistComparison("gt", digits="drawn").reduced()


def digit_run(model, task, seed=0, **options):
    """A seed of a case; its weights are drawn afresh."""
    return Run(Case(ModelSpec.parse(model), task, **options), seed)


def digit_record(run: Run, error: float = 1.0, read: float = 1.0, weights=(1.0, 1.0), **changes) -> Record:
    """A run with this error of every kind, this share of digits read right, and these weights at the end."""
    torch.manual_seed(run.seed)
    network = run.case.build()
    held = {name: p.detach().numpy().copy() for name, p in network.named_parameters()}
    history = {}
    if "unit.weight" in held and held["unit.weight"].size == 2:
        start = np.full(2, 0.5, np.float32)
        path = np.stack([start + share * (np.float32(weights) - start) for share in (0, 0.5, 1)])
        history = {"unit.weight": path.reshape(3, 1, 2)}
    values = {
        "steps": LOGS,
        "validation": _curve(np.float64(error)),
        "test": _curve(np.float64(error)),
        "chosen": CHOSEN,
        "chosen_parameters": held,
        "final_parameters": held,
        "history_steps": LOGS,
        "history": history,
        "errors": {f"test/{m.name}": _curve(_measured(m, error, read)) for m in run.case.task.measures[1:]},
    }
    return bare_record(run, **{**values, **changes})


def _curve(value):
    """A curve `*shape x logs` with this value at the chosen step."""
    curve = np.stack([value * 1000] * len(LOGS), -1)
    curve[..., CHOSEN] = value
    return curve


def _measured(measure, error, read):
    if measure.name != "digits":
        return np.full(measure.shape, error)
    right, wrong = np.eye(10) * 0.1, np.eye(10)[(np.arange(10) + 1) % 10] * 0.1
    return np.broadcast_to(read * right + (1 - read) * wrong, measure.shape)


def product_records(references=3):
    """On products: a reference with errors 1, 2, 3; an NMU that succeeds for two of three; an LSTM."""
    made = [digit_record(digit_run("mul", PRODUCT, seed), 1.0 + seed, 0.99) for seed in range(references)]
    for seed, (error, last) in enumerate([(1.0, 1.0), (2.0, 1.0), (9e9, 0.9)]):
        made.append(digit_record(digit_run("nmu", PRODUCT, seed), error, 0.9 + seed / 100, (1.0, last)))
    return [*made, digit_record(digit_run("lstm", PRODUCT), 9e9, 0.1)]


def store_of(path, records):
    """Store these runs."""
    with Store(path) as store:
        store.add(records)
    return path


def section_of(records):
    """The parts of the section about these runs."""
    runs, by_id = DigitRuns(), {record.id: record for record in records}
    assert list(runs.set_apart(records)) == []
    return digits_section(runs, lambda ids, names: [by_id[name] for name in ids])
