"""Studies that train: their runs are stored, resumed and sent to other processes like those of benchmarks."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from in_process import computed_chunk

from nalm.experiment.plan import Chunk
from nalm.experiment.run import Case, Run
from nalm.experiment.store import Record
from nalm.papers.entries import ENTRIES
from nalm.papers.entry import TrainedStudy
from nalm.papers.mistry2023.programs import learnt_scales
from nalm.papers.reproduce import measure, plan
from nalm.papers.scale import Scale, make_scale
from nalm.papers.schloer2020.programs import runs as inalu_runs
from nalm.papers.trask2018.programs import identity, recurrent, recurrent_runs
from nalm.training.trainers import train_runs

STUDIES = [name for name, entry in ENTRIES.items() if isinstance(entry, TrainedStudy)]
FEW = make_scale("paper", seeds=2, steps=0.0005, rows=["Tanh", "ReLU", "None"])


class Interrupted(Exception):
    pass


class Executor:
    """Computes in this process, and stops after so many chunks."""

    size = 1

    def __init__(self, most: int) -> None:
        self.most, self.chunks = most, 0

    def compute(
        self, chunks: Sequence[Chunk], on_progress: object, checkpoints: Path
    ) -> Iterator[list[Record]]:
        for chunk in chunks:
            if self.chunks == self.most:
                raise Interrupted
            self.chunks += 1
            yield computed_chunk(chunk)


def test_every_entry_that_trains_plans_its_runs():
    assert len(STUDIES) == 59
    assert all(ENTRIES[name].experiments(Scale(quick=True)) for name in [*STUDIES, "trask2018:table1"])


@pytest.mark.parametrize("name", STUDIES)
def test_cases_survive_being_sent_to_another_process(name):
    for experiment in ENTRIES[name].experiments(Scale(quick=True)):
        again = pickle.loads(pickle.dumps(experiment.cases))
        assert [Run(case, 0).id for case in again] == [Run(case, 0).id for case in experiment.cases]
        names = [[name for name, _ in case.build().named_parameters()] for case in (again[0], again[-1])]
        assert all(names)


@pytest.mark.parametrize("name", STUDIES)
def test_no_two_cases_of_a_study_share_runs(name):
    cases = [case for experiment in ENTRIES[name].experiments(Scale(quick=True)) for case in experiment.cases]
    assert len({Run(case, 0).id for case in cases}) == len(cases)


def test_an_interrupted_study_resumes_and_a_finished_one_computes_nothing(tmp_path):
    entry, path = ENTRIES["trask2018:fig1"], tmp_path / "x.sqlite"
    assert plan(entry, FEW, path, 1)["computed_runs"] == 6
    with pytest.raises(Interrupted):
        measure(entry, FEW, path, Executor(most=1))
    assert plan(entry, FEW, path, 1)["computed_runs"] == 4
    rest = Executor(most=9)
    resumed = measure(entry, FEW, path, rest)
    assert rest.chunks == 2
    assert plan(entry, FEW, path, 1)["computed_runs"] == 0
    assert measure(entry, FEW, path, Executor(most=0)).findings == resumed.findings
    whole = measure(entry, FEW, tmp_path / "y.sqlite", Executor(most=9))
    assert whole.findings == resumed.findings


def test_two_entries_share_their_runs(tmp_path):
    path = tmp_path / "x.sqlite"
    measure(ENTRIES["trask2018:fig1"], FEW, path, Executor(most=9))
    assert plan(ENTRIES["trask2018:table5"], FEW, path, 1)["computed_runs"] == 0


# -- a run does not depend on its company ---------------------------------------------------------


def assert_alone_as_in_company(runs: Sequence[Run], alone: int) -> None:
    company = computed_chunk(Chunk(tuple(runs)))[alone]
    (single,) = computed_chunk(Chunk((runs[alone],)))
    for name, value in single.final_parameters.items():
        np.testing.assert_array_equal(value, company.final_parameters[name], strict=True)
    for name in ("validation", "test"):
        np.testing.assert_array_equal(getattr(single, name), getattr(company, name))


def of_seeds(case: Case, *seeds: int) -> list[Run]:
    return [Run(case, seed) for seed in seeds]


def test_a_network_of_the_identity_does_not_depend_on_others():
    assert_alone_as_in_company(of_seeds(identity.case("tanh", 20), 99, 3, 150, 7), 0)


def test_a_recurrent_model_does_not_depend_on_others(monkeypatch):
    monkeypatch.setattr(recurrent, "SAMPLES", 5)
    monkeypatch.setattr(recurrent, "LONG", 12)
    runs = [run for t in ("a", "a / b") for run in of_seeds(recurrent_runs.case("GRU", t, 3), 9, 12, 0)]
    assert_alone_as_in_company(runs, 3)


def test_a_model_between_learnt_scales_does_not_depend_on_others():
    case = learnt_scales.case(learnt_scales.LEARNT, Scale(steps=0.005))
    assert_alone_as_in_company(of_seeds(case, 4, 0, 2), 2)


@pytest.mark.parametrize("experiment", inalu_runs.EXPERIMENTS)
def test_layers_of_the_inalus_authors_do_not_depend_on_others(experiment):
    places = range(len(inalu_runs.EXPERIMENTS[experiment].distributions))[1::-1]
    tasks = [inalu_runs.OneOperation(experiment, op, place) for op in ("mul", "add") for place in places]
    cases = [inalu_runs.case("iNALU(independent W)", task, epochs=2, samples=640) for task in tasks]
    runs = [run for case in cases for run in of_seeds(case, 0, 5, 2)]
    together, alone = (_trained(part) for part in (runs, runs[4:5]))
    for name, value in alone.final_parameters.items():
        assert torch.equal(value[0], together.final_parameters[name][4])
    assert torch.equal(alone.test[0], together.test[4])


def _trained(runs: Sequence[Run]):  # type: ignore[no-untyped-def]
    """Compiled: run eagerly, the last numbers of a row would be rounded in another way."""
    first = runs[0].case
    tasks, recipes = [run.case.task for run in runs], [run.case.recipe for run in runs]
    return train_runs(first.build(), tasks, recipes, [run.seed for run in runs])


def test_another_number_of_steps_is_another_run():
    case = identity.case("tanh", 20)
    assert Run(case, 0).id != Run(replace(case, iterations=30), 0).id
