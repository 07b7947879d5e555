"""CalcNet (Rana et al. 2019; thesis, section 2.3.6; primer, section 5.5) with trained sub-units.

A unit is trained for each of the four operations, on two inputs from U[1, 2). CalcNet then evaluates
expressions by precedence, of whole numbers from 2 to 99, which are larger than all that was trained on.

The texts give no numbers and no settings. Ours: the units, the training of the thesis's single module task,
the expressions. An expression counts as right if its relative error is at most 1 %. A result that is not
finite has an infinite error.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nalm.experiment.bench import Experiment
from nalm.experiment.run import Case
from nalm.experiment.store import Record
from nalm.models import CalcNet, ModelSpec
from nalm.papers.agreement import Finding
from nalm.papers.budget import Budget, chosen_rows
from nalm.papers.claims import Findings, Key
from nalm.papers.entry import Measured, Records
from nalm.papers.mistry2023.programs.calcnet_expressions import Node, expressions
from nalm.papers.scale import Scale
from nalm.papers.shared.findings import median, share
from nalm.papers.shared.networks import chosen_model
from nalm.tasks import OPERATIONS, SingleModule

ROWS: dict[str, tuple[str, str, str, str]] = {
    "G-NALU": ("gnalu", "gnalu", "gnalu", "gnalu"),
    "NALU": ("nalu", "nalu", "nalu", "nalu"),
    "iNALU": ("inalu", "inalu", "inalu", "inalu"),
    "NAU, NMU, NRU": ("nau", "nau", "nmu", "nru"),
    "G-NALU, second order": ("gnalu@second-order",) * 4,
    "NAU, NMU, NRU, second order": (
        *("nau@second-order", "nau@second-order", "nmu@second-order", "nru@second-order"),
    ),
}
"""The units of each row for sums, differences, products and quotients."""
ERROR = "relative error"
DEPTHS = (1, 2, 3, 4, 5)
EXPRESSIONS, LARGEST, RIGHT = 50, 99, 0.01
SEEDS, QUICK_SEEDS = 25, 5


def _budget(scale: Scale) -> Budget:
    return Budget(scale, SEEDS, QUICK_SEEDS)


def cases(scale: Scale) -> dict[str, dict[str, Case]]:
    """The case of each operation, for the rows that the scale asks for."""
    factor = _budget(scale).factor
    found: dict[str, dict[str, Case]] = {}
    for row in chosen_rows(scale, ROWS):
        made = {op: Case(ModelSpec.parse(text), SingleModule(op)) for op, text in zip(OPERATIONS, ROWS[row])}
        found[row] = {op: _shortened(case, factor) for op, case in made.items()}
    return found


def _shortened(case: Case, factor: float) -> Case:
    """The same with a part of the steps; second order needs few in any case."""
    if factor == 1 or case.recipe.trainer == "second-order":
        return case
    return Case(case.model, case.task, max(1, round(factor * case.recipe.iterations)), schedule="scaled")


def plan(scale: Scale) -> list[Experiment]:
    """Every unit on its operation."""
    listed = dict.fromkeys(case for made in cases(scale).values() for case in made.values())
    return [Experiment("mistry2023:section2.3.6", tuple(listed), _budget(scale).seeds)]


def compute(scale: Scale, records: Records) -> Measured:
    """Errors by depth, over all expressions and all seeds."""
    asked = {depth: expressions(depth, EXPRESSIONS, LARGEST) for depth in DEPTHS}
    found: dict[Key, Finding] = {}
    for row, made in cases(scale).items():
        runs = [_network(made, each) for each in zip(*(records[case] for case in made.values()))]
        for depth, listed in asked.items():
            errors = [error for network in runs for error in relative_errors(network, listed)]
            found[row, f"depth {depth}", "success"] = share([error <= RIGHT for error in errors])
            found[row, f"depth {depth}", ERROR] = median(errors)
    return Measured(Findings(found), _budget(scale).reduced())


def _network(made: dict[str, Case], records: tuple[Record, ...]) -> CalcNet:
    """A CalcNet of the units that were trained with one seed."""
    return CalcNet({op: chosen_model(case, r).double() for (op, case), r in zip(made.items(), records)})


def relative_errors(network: CalcNet, nodes: Sequence[Node]) -> list[float]:
    """How far off each expression is, relative to its value."""
    got = np.array(network.evaluate_many([node.text for node in nodes]))
    true = np.array([float(node.value) for node in nodes])
    found: list[float] = np.nan_to_num(np.abs(got - true) / np.abs(true), nan=np.inf).tolist()
    return found
