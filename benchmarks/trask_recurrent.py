"""Trials of the recurrent tasks of Trask et al. 2018, tables 8 and 9: recipes, starts, published sizes."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import nn

from nalm.experiment.bench import Experiment
from nalm.experiment.run import Case
from nalm.experiment.store import Record
from nalm.models import GivenModel
from nalm.papers.agreement import Finding
from nalm.papers.reproduce import StoreRunner
from nalm.papers.shared.findings import median
from nalm.papers.trask2018.programs import recurrent, recurrent_runs
from nalm.papers.trask2018.programs.recurrent_cells import RecurrentKind, RecurrentNetwork
from nalm.recipes.initialisers import xavier_uniform
from nalm.units.nac import nac_weight
from trask_errors import SEEDS, Cells, Changing, Choice, Errors, compared, medians
from trial import Pair, Trial


def recurrent_errors(run: StoreRunner, cells: Cells) -> dict[tuple[str, str], Errors]:
    """Errors after the last step, in per cent of those of untrained LSTMs."""
    records = run.records(Experiment("causes", tuple(cells.values()), SEEDS))
    base, places = recurrent.untrained_errors(SEEDS), list(recurrent.TARGETS)
    found = {}
    for cell, case in cells.items():
        ours, k = recurrent_runs.trained_errors([records[case]]), places.index(cell[1])
        short, long = (
            (100 * of[0] / np.median(untrained[k])).tolist()
            for of, untrained in (
                (ours.interpolation, base.interpolation),
                (ours.extrapolation, base.extrapolation),
            )
        )
        found[cell] = short, long
    return found


def in_time(change: str, kinds: Sequence[str], changing: Changing, choice: Choice = medians) -> Trial:
    """A change to models of table 9 on all targets."""
    cells = {
        (kind, target): recurrent_runs.case(kind, target, recurrent.STEPS)
        for kind in kinds
        for target in recurrent.TARGETS
    }
    measure = compared(cells, changing, recurrent_errors, choice)
    return Trial("trask2018:table9", ", ".join(kinds), change, measure)


def xavier_network(kind: str, inputs: int, outputs: int) -> nn.Module:
    """A recurrent model whose raw weights start by Xavier's scheme."""
    made = RecurrentNetwork(kind, recurrent.SIZE, inputs)
    drawn = {
        name: (shape, xavier_uniform(shape[1], shape[0])) for name, (shape, _) in made.kind.declared.items()
    }
    made.kind = RecurrentKind(drawn, made.kind.make)
    return made


def with_xavier(case: Case) -> Case:
    """The same recurrent case, started by Xavier's scheme."""
    assert isinstance(case.model, GivenModel)
    kind = case.model.given_name.partition(":")[2]
    model = GivenModel(f"trask2018-recurrent:{kind}, xavier", functools.partial(xavier_network, kind))
    return replace(case, model=model)


RANDOM: dict[str, tuple[float, float]] = {
    "a": (38.03, 330341),
    "a + b": (30.86, 336847),
    "a - b": (30.17, 336769),
    "a × b": (30.69, 336829),
    "a / b": (29.12, 336451),
    "a²": (30.92, 336876),
    "√a": (28.84, 336452),
}
"""The row Random of table 8: errors on short and on long sequences."""


def sizes(run: StoreRunner) -> dict[str, Pair]:
    """The raw errors of our untrained LSTMs, and the paper's; trains nothing."""
    base, pairs = recurrent.untrained_errors(SEEDS), {}
    for k, (column, published) in enumerate(RANDOM.items()):
        ours = (median(base.interpolation[k].tolist()), median(base.extrapolation[k].tolist()))
        for part, found, value in zip(("interpolation", "extrapolation"), ours, published):
            pairs[f"{column}: {part}"] = found, Finding(value, None, None, 1)
    return pairs


def radii(run: StoreRunner) -> dict[str, Pair]:
    """Errors of the NAC on long sequences, and the largest eigenvalue of its recurrent weights."""
    cases = {target: recurrent_runs.case("NAC", target, recurrent.STEPS) for target in recurrent.TARGETS}
    found = recurrent_errors(run, {("NAC", target): case for target, case in cases.items()})
    records = run.records(Experiment("causes", tuple(cases.values()), SEEDS))
    return {
        target: (median(found["NAC", target][1]), median([_radius(record) for record in records[case]]))
        for target, case in cases.items()
    }


def _radius(record: Record) -> float:
    raw = (torch.from_numpy(record.final_parameters[f"cell.{name}"]) for name in ("w_hat", "m_hat"))
    return float(torch.linalg.eigvals(nac_weight(*raw)[:, recurrent.INPUTS :]).abs().max())
