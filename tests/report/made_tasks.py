"""Runs of tasks with a section each, made by hand: known errors, untrained networks."""

import numpy as np
from made_runs import bare_record

from nalm.experiment.run import Case, Run
from nalm.experiment.store import Record
from nalm.models import ModelSpec
from nalm.report.task_sections import task_runs, task_sections
from nalm.tasks import Epidemic, GridWorld, Language, Lists, Logic, Programs, ShortestPaths

LOGS = np.array([0, 50, 100])
CHOSEN = 1
"""Errors of other logs are a thousand times larger: nothing of them may be shown."""


def task_run(model, task, seed=0, **options):
    """A seed of a case."""
    return Run(Case(ModelSpec.parse(model), task, **options), seed)


def task_record(run: Run, error=0.25, errors=None, **changes) -> Record:
    """A run with this decisive error on every set, and others by name; those of sets alike if not given."""
    task = run.case.task
    names = [f"{split}/{m.name}" for split in ("validation", *task.tests) for m in task.measures]
    shapes = {f"{split}/{m.name}": m.shape for split in ("validation", *task.tests) for m in task.measures}
    held = {name: np.full(shapes[name], error) for name in names} | (errors or {})
    decisive = task.measures[0].name
    values = {
        "steps": LOGS,
        "validation": _curve(np.float64(error)),
        "test": _curve(np.float64(error)),
        "chosen": CHOSEN,
        "errors": {
            name: _curve(np.asarray(value, float))
            for name, value in held.items()
            if name not in (f"validation/{decisive}", f"test/{decisive}")
        },
    }
    return bare_record(run, **{**values, **changes})


def _curve(value):
    """A curve `*shape x logs` with this value at the chosen step."""
    curve = np.stack([value * 1000] * len(LOGS), -1)
    curve[..., CHOSEN] = value
    return curve


def every_kind() -> list[Record]:
    """Two runs of a model on each kind of task."""
    epidemic = task_run("realnpu+nau", Epidemic("sir"), hidden=4)
    held = {name: p.detach().numpy().copy() for name, p in epidemic.case.build().named_parameters()}
    return [
        *(task_record(task_run("nalu", Language("outputs").reduced(), seed), 1.5 + seed) for seed in (0, 1)),
        *(task_record(task_run("linear", Language("summed").reduced(), seed), 40.0) for seed in (0, 1)),
        *(task_record(task_run("lstm", Programs("sum").reduced(), seed)) for seed in (0, 1)),
        *(task_record(task_run("nac", GridWorld("instruct").reduced(), seed), 0.1) for seed in (0, 1)),
        *(task_record(task_run("nsr", Lists("min"), seed), 0.0) for seed in (0, 1)),
        task_record(task_run("nsr", ShortestPaths()), 0.0),
        task_record(task_run("nlrl+nlrl", Logic("xor"), hidden=8), 0.001),
        task_record(epidemic, 1e-9, chosen_parameters=held),
    ]


def sections_of(records):
    """The sections about these runs, by title."""
    runs, by_id = task_runs(), {record.id: record for record in records}
    assert list(runs.set_apart(records)) == []
    made = task_sections(runs, lambda ids, names: [by_id[name] for name in ids])
    return {section["title"]: section for section in made}
