"""Thesis, sections 4.6.2 and 6.3.2: running products of MNIST digits, with noise and with other losses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from nalm.papers.claims import Answer, Check, Claim, Findings, better, both, some, surely_more
from nalm.papers.entry import TrainedStudy
from nalm.papers.metrics import THREE
from nalm.papers.mistry2023.changes import loss
from nalm.papers.shared.digit_figures import draw_lengths
from nalm.papers.shared.digits import DigitLayout, DigitRow, by_length, length
from nalm.papers.shared.sequential_digits import PRODUCT, PRODUCT_NOTE, SEEDS, SOLVED, SOLVED_PRODUCT
from nalm.recipes import MAPE, PCCThenMSE, Recipe

_LENGTHS = range(1, 21)
_FAR = range(3, 21)
"""Longer than in training."""
_NMU, _RANGE, _BATCH = "NMU", "sNMU U[1,5]", "sNMU batch"
_MODELS = {_NMU: "nmu", _RANGE: "snmu", _BATCH: "snmu(noise=batch)"}
_SPARSE = 0.01
_LOSS_NOTE = (
    f"{PRODUCT_NOTE} Where PCC-MSE switches to MSE on this task is not stated: after half of the steps; the "
    "750,000 steps of section 6.3.1 are 1.75 times the training here."
)


def _pcc_then_mse(recipe: Recipe) -> Recipe:
    """PCC for half of the steps."""
    return replace(recipe, loss=PCCThenMSE(recipe.iterations / 2))


def _losses(model: str) -> tuple[DigitRow, ...]:
    return (
        DigitRow("MSE", model, PRODUCT),
        DigitRow("PCC-MSE", model, PRODUCT, _pcc_then_mse),
        DigitRow("MAPE", model, PRODUCT, loss(MAPE())),
    )


def _study(
    number: str, title: str, rows: tuple[DigitRow, ...], claims: tuple[Claim, ...], note: str
) -> TrainedStudy:
    layout = DigitLayout(f"mistry2023:fig{number}", rows, SEEDS, by_length(SOLVED), always=(SOLVED,))
    return TrainedStudy(
        layout.entry,
        title,
        "thesis, section 4.6.2" if number == "4.17" else "thesis, section 6.3.2",
        layout.compute,
        layout.plan,
        metrics=THREE,
        in_parts=True,
        claims=claims,
        note=note,
        draw=draw_lengths,
    )


def _below(f: Findings, row: str, other: str) -> list[int]:
    """The lengths at which a row has less success than another."""
    rates = {n: (f.rate(row, length(n)), f.rate(other, length(n))) for n in _LENGTHS}
    return [n for n, (a, b) in rates.items() if (a.value or 0) < (b.value or 0)]


def _told(f: Findings, row: str, other: str) -> bool:
    """Whether the seeds can tell the two rows apart at any length."""
    pairs = [(f.rate(row, length(n)), f.rate(other, length(n))) for n in _LENGTHS]
    return any(surely_more(a, b) or surely_more(b, a) for a, b in pairs)


def below_only_at(row: str, other: str, lengths: Iterable[int]) -> Check:
    """A row has less success than another at these lengths and at no other."""
    expected = list(lengths)

    def check(f: Findings) -> Answer:
        found = _below(f, row, other)
        words = ", ".join(map(str, found)) or "none"
        return Answer(found == expected, not _told(f, row, other), detail=f"lengths: {words}")

    return check


def above_at_several(row: str, other: str) -> Check:
    """A row has more success than another at two lengths or more beyond that of training."""

    def check(f: Findings) -> Answer:
        found = [n for n in _below(f, other, row) if n in _FAR]
        return Answer(len(found) > 1, not _told(f, row, other), detail=f"{len(found)} of {len(_FAR)} lengths")

    return check


def below_at_most_lengths(row: str, other: str) -> Check:
    """A row has less success than another at most lengths beyond that of training."""

    def check(f: Findings) -> Answer:
        found = [n for n in _below(f, row, other) if n in _FAR]
        weak = not _told(f, row, other)
        return Answer(2 * len(found) > len(_FAR), weak, detail=f"{len(found)} of {len(_FAR)} lengths")

    return check


def as_fast_as(row: str, other: str) -> Check:
    """At the length of training, the intervals of the step of success overlap."""

    def check(f: Findings) -> Answer:
        a, b = (f[name, length(2), "solved at"] for name in (row, other))
        if a.value is None or b.value is None:
            return Answer(False, True, detail="no run of one of them succeeds")
        ends = [(x.value if x.low is None else x.low, x.value if x.high is None else x.high) for x in (a, b)]
        overlap = ends[0][0] <= ends[1][1] and ends[1][0] <= ends[0][1]  # type: ignore[operator]
        return Answer(overlap, detail=f"step {a.value:.3g} against {b.value:.3g}")

    return check


def is_sparse(row: str) -> Check:
    """Wherever runs succeed, their weights are discrete."""

    def check(f: Findings) -> Answer:
        errors = [f[row, length(n), "sparsity"].value for n in _LENGTHS]
        held = [error for error in errors if error is not None]
        return Answer(all(e < _SPARSE for e in held), not held, detail=f"highest {max(held, default=0):.2g}")

    return check


def _degrades(other: str = "MSE") -> Claim:
    return Claim("PCC-MSE", "degrades performance at most lengths", below_at_most_lengths("PCC-MSE", other))


_DISCRETE = tuple(Claim(row, "has low sparsity errors", is_sparse(row)) for row in ("MSE", "PCC-MSE", "MAPE"))

ENTRIES = (
    _study(
        "4.17",
        "Sequential MNIST, product: NMU and sNMU",
        (SOLVED_PRODUCT, *(DigitRow(row, model, PRODUCT) for row, model in _MODELS.items())),
        (
            *(
                Claim(row, "outperforms the NMU at several lengths", above_at_several(row, _NMU))
                for row in (_RANGE, _BATCH)
            ),
            Claim(_RANGE, "is below the NMU only at length 15", below_only_at(_RANGE, _NMU, [15])),
            Claim(_BATCH, "is below the NMU at lengths 11 to 14", below_only_at(_BATCH, _NMU, range(11, 15))),
            Claim(
                f"{_RANGE}, {_BATCH}",
                "converge about as fast as the NMU",
                both(*(as_fast_as(row, _NMU) for row in (_RANGE, _BATCH))),
            ),
        ),
        PRODUCT_NOTE,
    ),
    _study(
        "6.4",
        "Sequential MNIST, product, NMU: losses",
        (SOLVED_PRODUCT, *_losses(_MODELS[_NMU])),
        (*_DISCRETE, _degrades()),
        _LOSS_NOTE,
    ),
    _study(
        "6.5",
        "Sequential MNIST, product, sNMU: losses",
        (SOLVED_PRODUCT, *_losses(_MODELS[_RANGE])),
        (
            *_DISCRETE,
            _degrades(),
            Claim(
                "PCC-MSE",
                "outperforms MSE only at lengths 12 and 15",
                below_only_at("MSE", "PCC-MSE", [12, 15]),
            ),
            Claim("MAPE", "works less well than MSE with noise", better("MSE", "MAPE")),
            Claim(
                "MSE", "works well with noise: succeeds at the length of training", some("MSE", [length(2)])
            ),
        ),
        f"{_LOSS_NOTE} The sNMU is that with noise from U[1,5].",
    ),
)
