"""Thesis, appendix D.3.2: comparisons by the Neural Status Register, and what is built on them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from nalm.papers.claims import Answer, Check, Claim, Findings, better, full, none, not_full
from nalm.papers.entry import TrainedStudy
from nalm.papers.metrics import SUCCESS
from nalm.papers.shared.facet_runs import ERROR, FacetLayout, FacetRow, column, columns, columns_of
from nalm.papers.shared.findings import measure
from nalm.tasks import Comparison, Lists, Piecewise, ShortestPaths, Task
from nalm.tasks.comparison import LEAST
from nalm.tasks.piecewise import CONTINUOUS, DISCONTINUOUS

PLAIN, REDUNDANT = "NSR", "NSR, redundancy 10"
SECOND_ORDER, DISCRETE = "NSR, second order", "NSR, redundancy 10, discrete"
_MODELS = {PLAIN: "nsr", REDUNDANT: "nsr(redundancy=10)"}
_ORDERED, _EQUAL = ("lt", "gt", "le", "ge"), ("eq", "ne")
_SOURCE = "thesis, appendix D.3.2, after Faber & Wattenhofer 2020"
_SETTINGS = (
    "The thesis has no numbers, data, settings or seeds: all are ours, 10 seeds. Rows that it does not have "
    "are our changes, measured beside."
)
_METRICS = (SUCCESS, measure(ERROR, "median share of wrong answers"))


def _rows(tasks: Iterable[Task], models: dict[str, str]) -> tuple[FacetRow, ...]:
    return tuple(FacetRow(row, model, task) for task in tasks for row, model in models.items())


def _with_ours(tasks: Sequence[Piecewise | Lists | ShortestPaths]) -> tuple[FacetRow, ...]:
    """The published set-ups, and one that is discrete outside training."""
    ours = (FacetRow(DISCRETE, _MODELS[REDUNDANT], replace(task, discrete=True), of=task) for task in tasks)
    return (*_rows(tasks, _MODELS), *ours)


def _entry(
    name: str, title: str, rows: tuple[FacetRow, ...], claims: tuple[Claim, ...], note: str
) -> TrainedStudy:
    layout = FacetLayout(f"mistry2023:appendixD.3.2{name}", rows)
    return TrainedStudy(
        layout.entry, title, _SOURCE, layout.compute, layout.plan,
        metrics=_METRICS, main=2, in_parts=True, claims=claims, note=f"{_SETTINGS} {note}",
    )  # fmt: skip


def _less_wrong(row: str, place: str, other: str) -> Check:
    """The share of wrong answers of a row is lower in one column than in another."""

    def check(f: Findings) -> Answer:
        a, b = (f[row, name, ERROR] for name in (place, other))
        told = a.high is not None and b.low is not None and a.high < b.low
        holds = a.value is not None and b.value is not None and a.value < b.value
        return Answer(holds, not told, detail=f"{a.value or 0:.3g} against {b.value or 0:.3g}")

    return check


# -- comparisons -------------------------------------------------------------------------------------


def _compared(ops: Iterable[str], kinds: Iterable[str] = tuple(LEAST)) -> list[str]:
    return columns_of([Comparison(op, kind) for kind in kinds for op in ops])


_ALL = [Comparison(op, kind) for kind in LEAST for op in Comparison.ops]
_COMPARISONS = _entry(
    "",
    "Six comparisons of integers and floats, outside the training range",
    _rows(_ALL, {**_MODELS, SECOND_ORDER: "nsr@second-order", "MLP": "mlp"}),
    (
        *(
            Claim(PLAIN, f"learns <, >, <= and >= of {kind}", full(PLAIN, _compared(_ORDERED, [kind])))
            for kind in LEAST
        ),
        Claim(PLAIN, "struggles with = and !=", not_full(PLAIN, _compared(_EQUAL, ["integers"]))),
        Claim(REDUNDANT, "does better at = and !=", better(REDUNDANT, PLAIN, _compared(_EQUAL))),
        *(
            Claim(REDUNDANT, f"learns all six of {kind}", full(REDUNDANT, _compared(Comparison.ops, [kind])))
            for kind in LEAST
        ),
    ),
    "A run succeeds if none of 10,000 answers is wrong, of which a third are about equal numbers and a third "
    "about numbers as close as in training. 'NSR, second order' is one pair of operands, solved instead of "
    "trained.",
)

# -- piecewise functions -----------------------------------------------------------------------------


def _more_in(f: Findings, row: str, ops: Iterable[str], others: Iterable[str]) -> Answer:
    mean = [
        sum(f.rate(row, c).value or 0 for c in listed) / len(listed)
        for listed in (columns_of([Piecewise(op) for op in each]) for each in (ops, others))
    ]
    return Answer(mean[0] > mean[1], detail=f"{mean[0]:.2g} against {mean[1]:.2g}")


def _pieces(op: str) -> list[str]:
    return columns(Piecewise(op))


_PIECES = _entry(
    "-piecewise",
    "Piecewise functions by an NSR and two sums of a NAU",
    (
        *_with_ours([Piecewise(op) for op in Piecewise.ops]),
        *_rows([Piecewise(op) for op in Piecewise.ops], {SECOND_ORDER: "nsr@second-order"}),
    ),
    (
        *(
            Claim(REDUNDANT, f"learns |a - b| and extrapolates: {place}", full(REDUNDANT, [place]))
            for place in _pieces("abs")
        ),
        *(
            Claim(REDUNDANT, f"does not learn a discontinuous function: {op}", none(REDUNDANT, _pieces(op)))
            for op in DISCONTINUOUS
        ),
        Claim(
            REDUNDANT,
            "learns continuous functions more often than discontinuous ones",
            lambda f: _more_in(f, REDUNDANT, CONTINUOUS, DISCONTINUOUS),
        ),
    ),
    "A run succeeds if each of 10,000 results, rounded, is right. The discrete row rounds comparisons and "
    "weights of sums outside training; in the row of second order the network is solved, not trained.",
)

# -- lists ---------------------------------------------------------------------------------------------


def _by_length(op: str) -> list[str]:
    return columns(Lists(op))


_LISTS = _entry(
    "-lists",
    "Minimum and counting by a recurrent NSR, on longer lists",
    _with_ours([Lists(op) for op in Lists.ops]),
    (
        Claim(REDUNDANT, "finds the minimum of lists of every length", full(REDUNDANT, _by_length("min"))),
        Claim(
            REDUNDANT,
            "counts worse in longer lists: 1000 against 10",
            _less_wrong(REDUNDANT, _by_length("count")[0], _by_length("count")[-1]),
        ),
    ),
    "Trained on lists of 10 by the last result alone. A run succeeds if each of 1000 results, rounded, is "
    "right. The discrete row rounds comparisons and weights of sums outside training.",
)

# -- shortest paths ------------------------------------------------------------------------------------

_PATHS = ShortestPaths()
_SMALL, _LARGE, _HEAVY = "5 nodes", "test", "20 nodes, weights x 10"


def _on(split: str) -> str:
    (found,) = (facet for facet in _PATHS.facets() if facet.curve.startswith(f"{split}/"))
    return column(_PATHS, found)


_GRAPHS = _entry(
    "-paths",
    "Shortest paths in the manner of Bellman and Ford, on larger graphs",
    _with_ours([_PATHS]),
    (
        Claim(REDUNDANT, "learns graphs of the size in training", full(REDUNDANT, [_on(_SMALL)])),
        Claim(REDUNDANT, "finds paths in graphs 4 times larger", full(REDUNDANT, [_on(_LARGE)])),
        Claim(
            REDUNDANT,
            "does better in larger graphs with larger weights",
            _less_wrong(REDUNDANT, _on(_HEAVY), _on(_LARGE)),
        ),
    ),
    "A run succeeds if every distance, rounded, is right. The discrete row rounds comparisons and weights "
    "of sums outside training.",
)

ENTRIES = (_COMPARISONS, _PIECES, _LISTS, _GRAPHS)
