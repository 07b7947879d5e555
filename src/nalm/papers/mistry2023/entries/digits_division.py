"""Thesis, section 5.10 and appendix G.8: the quotient of two MNIST digits."""

from __future__ import annotations

from dataclasses import replace

from nalm.papers.claims import Answer, Check, Claim, Findings, both
from nalm.papers.entry import Draw, TrainedStudy
from nalm.papers.mistry2023.programs import digit_pairs as pairs
from nalm.papers.mistry2023.programs.digit_pairs import FOLDS
from nalm.papers.shared.digit_checks import above, at_least, below, within
from nalm.papers.shared.digit_figures import draw_accuracies, draw_folds
from nalm.papers.shared.digits import ACCURACY, DigitLayout, DigitRow, Reading
from nalm.papers.shared.findings import measure
from nalm.papers.shared.series import Change
from nalm.recipes import ClipNorm, Recipe
from nalm.tasks import MnistIsolated

QUOTIENT, SEEDS = MnistIsolated("div"), 10
TEST, _WRONG = "test", "test/wrong_5dp"
DIV, MLP, REAL_NPU, NRU, NMRU = "DIV", "MLP", "Real NPU (mod.)", "NRU", "NMRU"
UNITS = {REAL_NPU: "realnpu@modified", NRU: "nru", NMRU: "nmru"}
PLAIN, CLIPPED = "No gnc", "With gnc=1"
_LOWEST, _MEDIAN, _HIGHEST = FOLDS

NOTE = (
    "The thesis makes 1000 samples of each pair beforehand, tests the network of the last epoch, and says "
    "neither which images pairs of the test are made of, nor how folds are drawn, nor how strong the L2 "
    "penalty of the MLP is, which has none here. Ours are drawn afresh, tests show MNIST's test images, and "
    "the network is chosen "
    "by its error on training pairs that are shown by held-out images; fold = seed. Results and targets are "
    "rounded to 5 decimals. The thesis starts the unit from the same weights in every fold, here each seed "
    "has its own."
)


def clip(norm: float | None) -> Change:
    """Gradients clipped to a norm, or not clipped."""
    part = None if norm is None else ClipNorm(norm)

    def change(recipe: Recipe) -> Recipe:
        return replace(recipe, clip_norm=part)

    return change


def _row(name: str, norm: float | None = None) -> DigitRow:
    return DigitRow(name, UNITS[name], QUOTIENT, clip(norm))


_DIV, _MLP = DigitRow(DIV, "div", QUOTIENT), DigitRow(MLP, "mlp(hidden=256x256)", QUOTIENT)
_OF_TABLE = (_DIV, _MLP, _row(REAL_NPU), _row(NRU), _row(NMRU, 1.0))
_BY_CLIP = ((PLAIN, None), (CLIPPED, 1.0))
_OF_CLIPS = (
    replace(_DIV, row=PLAIN, column=DIV),
    *(replace(_row(name, norm), row=row, column=name) for row, norm in _BY_CLIP for name in UNITS),
)


def _clipped(name: str, norm: float | None) -> str:
    return name if norm is None else f"{name}, gnc={norm:g}"


_OF_FIGURE = (_DIV, *(replace(_row(n, c), row=_clipped(n, c)) for n in UNITS for _, c in _BY_CLIP))


def _study(
    number: str, title: str, rows: tuple[DigitRow, ...], read: Reading, claims: tuple[Claim, ...], draw: Draw
) -> TrainedStudy:
    layout = DigitLayout(f"mistry2023:{number}", rows, SEEDS, read)
    source = "thesis, appendix G.8" if "G" in number else "thesis, section 5.10"
    return TrainedStudy(
        layout.entry, title, source, layout.compute, layout.plan,
        metrics=(measure(ACCURACY, rising=True),), in_parts=True, claims=claims, note=NOTE, draw=draw,
    )  # fmt: skip


def _spread(f: Findings, row: str) -> float:
    return (f[row, _HIGHEST, ACCURACY].value or 0.0) - (f[row, _LOWEST, ACCURACY].value or 0.0)


def _spreads_most(row: str, others: tuple[str, ...]) -> Check:
    """The accuracies of its folds are further apart than those of any other row."""

    def check(f: Findings) -> Answer:
        widest = max(_spread(f, other) for other in others)
        return Answer(
            _spread(f, row) > widest, detail=f"{_spread(f, row):.3g} points; others {widest:.3g} at most"
        )

    return check


ENTRIES = (
    _study(
        "table5.5",
        "Isolated digits, division: accuracies",
        _OF_TABLE,
        pairs.outputs(_WRONG, TEST),
        (
            Claim(REAL_NPU, "is on par with the solved division", within(REAL_NPU, DIV, TEST, 1)),
            Claim(NRU, "outperforms the solved division", above(NRU, DIV, TEST)),
            Claim(NMRU, "is the worst of the units", both(*(above(n, NMRU, TEST) for n in (REAL_NPU, NRU)))),
            Claim(MLP, "has nearly no success", below(MLP, [TEST], 1)),
            Claim(MLP, "is the worst", both(*(above(n, MLP, TEST) for n in (DIV, *UNITS)))),
        ),
        draw_accuracies,
    ),
    _study(
        "fig5.17",
        "Isolated digits, division: accuracies of the folds",
        tuple(row for row in _OF_TABLE if row.row != MLP),
        pairs.folds(_WRONG),
        (
            Claim(REAL_NPU, "is consistent: 90 % or more in every fold", at_least(REAL_NPU, [_LOWEST], 90)),
            Claim(NRU, "can outperform the solved division: its best fold", above(NRU, DIV, _HIGHEST)),
            Claim(NMRU, "struggles with robustness: its folds differ most",
                  _spreads_most(NMRU, (DIV, REAL_NPU, NRU))),
        ),
        draw_folds,
    ),
    _study(
        "tableG.1",
        "Isolated digits, division: clipping of gradients",
        _OF_CLIPS,
        pairs.outputs(_WRONG),
        (
            Claim(NRU, "is worse with clipping", above(PLAIN, CLIPPED, NRU)),
            *(Claim(name, "is better with clipping", above(CLIPPED, PLAIN, name))
              for name in (REAL_NPU, NMRU)),
        ),
        draw_accuracies,
    ),
    _study(
        "figG.10",
        "Isolated digits, division: clipping of gradients, accuracies of the folds",
        _OF_FIGURE,
        pairs.folds(_WRONG),
        (
            Claim(NRU, "is worse with clipping: its lowest fold", above(NRU, _clipped(NRU, 1.0), _LOWEST)),
            *(Claim(name, "is better with clipping: its median fold",
                    above(_clipped(name, 1.0), name, _MEDIAN)) for name in (REAL_NPU, NMRU)),
        ),
        draw_folds,
    ),
)  # fmt: skip
