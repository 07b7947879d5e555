"""A runner of entries for tests: it trains in this process, without a compiler and without a store."""

from __future__ import annotations

from unittest import mock

from nalm.experiment import compute
from nalm.experiment.bench import Experiment
from nalm.experiment.plan import Chunk, make_plan
from nalm.experiment.run import Case, Run
from nalm.experiment.store import Record
from nalm.training.trainers import train_runs


def computed(runs: list[Run]) -> dict[Run, Record]:
    """Runs, trained together where they may be."""
    records = {record.id: record for chunk in make_plan(runs, 1) for record in computed_chunk(chunk)}
    return {run: records[run.id] for run in runs}


def computed_chunk(chunk: Chunk) -> list[Record]:
    """The records of a chunk, of whatever composition."""

    def eagerly(*arguments, **options):  # type: ignore[no-untyped-def]
        return train_runs(*arguments, **options, compiled=False)

    with mock.patch.object(compute, "train_runs", eagerly):
        return compute.compute(chunk)


class InProcess:
    """Trains what an entry asks for."""

    def records(self, experiment: Experiment) -> dict[Case, list[Record]]:
        found = computed(list(experiment.runs()))
        return {
            case: [found[Run(case, seed)] for seed in range(experiment.seeds)] for case in experiment.cases
        }
