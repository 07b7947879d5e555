"""Thesis, section 4.6.1 and appendix F: the product of two MNIST digits, isolated or in colour channels."""

from __future__ import annotations

from nalm.papers.claims import Answer, Check, Claim, Findings, both, full, none, not_full
from nalm.papers.entry import Draw, TrainedStudy
from nalm.papers.metrics import SUCCESS, Metric
from nalm.papers.mistry2023.programs import digit_pairs as pairs
from nalm.papers.mistry2023.programs.digit_pairs import ALL, LABELS, OUTPUT, READ_AS, at_part, digit
from nalm.papers.shared.digit_checks import above, at_least, below, narrower, within
from nalm.papers.shared.digit_figures import draw_accuracies, draw_confusions, draw_curves, draw_paths
from nalm.papers.shared.digits import ACCURACY, DigitLayout, DigitRow, Reading
from nalm.papers.shared.findings import measure
from nalm.tasks import MnistColour, MnistIsolated
from nalm.tasks.digits._base import DigitTask

ISOLATED, COLOUR = MnistIsolated("mul"), MnistColour()
FOLDS = {ISOLATED.name: 10, COLOUR.name: 3}
MUL, FC, NMU, RANGE, BATCH = "MUL", "FC", "NMU", "sNMU U[1,5]", "sNMU batch"
MODELS = {MUL: "mul", FC: "fc-product", NMU: "nmu", RANGE: "snmu", BATCH: "snmu(noise=batch)"}
SNMUS = (RANGE, BATCH)
_ALL_DIGITS = tuple(digit(d) for d in range(10))
_ENDS = tuple(at_part(label, 1.0) for label in LABELS)
_ACCURACY = (measure(ACCURACY, rising=True),)
_EXACT, _ROUNDED = "test/wrong", "test/wrong_rounded"

ISOLATED_NOTE = (
    "The thesis makes 1000 samples of each pair beforehand, tests the network of the last epoch, and says "
    "neither which images pairs of the test are made of, nor how folds are drawn. Ours are drawn afresh, "
    "tests show MNIST's test images, and the network is chosen by its error on training pairs that are shown "
    "by held-out images; fold = seed. The result is compared as it is, without rounding; labels are rounded. "
    "Accuracies in training are not measured."
)
COLOUR_NOTE = (
    "The thesis's numbers of samples contradict its table: 51 x 1100 = 56,100, printed 61,710. How the 51, "
    "15 and 34 pairs are drawn and where the spline's control points start is not stated: see the task "
    "mnist-colour. Labels and results are rounded. Accuracies in training are not measured."
)


def _rows(task: DigitTask, *names: str) -> tuple[DigitRow, ...]:
    return tuple(DigitRow(name, MODELS[name], task) for name in names or MODELS)


def _study(
    number: str,
    title: str,
    rows: tuple[DigitRow, ...],
    read: Reading,
    claims: tuple[Claim, ...],
    note: str = "",
    *,
    metrics: tuple[Metric, ...] = _ACCURACY,
    draw: Draw = draw_accuracies,
    lends_spread: bool = False,
) -> TrainedStudy:
    task = rows[0].task
    layout = DigitLayout(f"mistry2023:fig{number}", rows, FOLDS[task.name], read)
    section = "appendix F" if number.startswith("F") else "section 4.6.1"
    common = ISOLATED_NOTE if task is ISOLATED else COLOUR_NOTE
    return TrainedStudy(
        layout.entry, title, f"thesis, {section}", layout.compute, layout.plan,
        metrics=metrics, in_parts=True, claims=claims, note=f"{common} {note}".strip(), draw=draw,
        lends_spread=lends_spread,
    )  # fmt: skip


def reads(row: str, pairs_read: dict[int, int], least: float = 0.5) -> Check:
    """A row reads these digits as those, in at least this share of cases."""

    def check(f: Findings) -> Answer:
        found = {d: int(f[row, digit(d), READ_AS].value or 0) for d in pairs_read}
        shares = [f[row, digit(d), pairs.SHARE].value or 0.0 for d in pairs_read]
        words = ", ".join(f"{d} as {as_} ({s:.0%})" for (d, as_), s in zip(found.items(), shares))
        return Answer(found == pairs_read and min(shares) >= least, detail=words)

    return check


def has_diagonal(row: str, *, expected: bool = True) -> Check:
    """Every digit is read as itself more often than as any other; or one of them is not."""

    def check(f: Findings) -> Answer:
        right = [d for d in range(10) if f[row, digit(d), READ_AS].value == d]
        return Answer((len(right) == 10) == expected, detail=f"{len(right)} of 10 digits")

    return check


def _reads_most(row: str, number: int) -> Check:
    def check(f: Findings) -> Answer:
        most = f[row, ALL, READ_AS].value
        return Answer(most == number, detail=f"reads {most:g} most often")

    return check


_READ = (measure(READ_AS, "", rising=None), measure(pairs.SHARE, "share", rising=None))
_ISOLATED_FOLD = "Of the ten folds, which the thesis does not name, the first is shown."
_HARD_FOLD = "The fold is the one in which the rows have the lowest accuracy on average."

ENTRIES = (
    _study(
        "4.10", "Isolated digits, product: accuracies", _rows(ISOLATED), pairs.pair_accuracies(_EXACT),
        (
            *(Claim(row, "outperforms the NMU", above(row, NMU, OUTPUT)) for row in SNMUS),
            Claim(RANGE, "outperforms the solved multiplication", above(RANGE, MUL, OUTPUT)),
            Claim(FC, "reads digits to a reasonable accuracy, but does not multiply", both(
                at_least(FC, LABELS, 50), *(above(row, FC, OUTPUT) for row in (NMU, *SNMUS)))),
        ),
        "Published means of as many folds have no spread: they are compared as if it were ours.",
        lends_spread=True,
    ),
    _study(
        "4.11", "Isolated digits, product: paths of the weights", _rows(ISOLATED, FC, NMU, *SNMUS),
        pairs.paths,
        (
            Claim(FC, "does not converge to (1, 1) in any run", none(FC)),
            *(Claim(row, "converges to (1, 1) in all runs", full(row)) for row in SNMUS),
            Claim(NMU, "does not converge to (1, 1) in all runs", not_full(NMU)),
        ),
        "Weights count as 1 within 1e-6, after the last step.",
        metrics=(SUCCESS,), draw=draw_paths,
    ),
    _study(
        "4.14", "Colour channels, product: accuracies", _rows(COLOUR), pairs.pair_accuracies(_ROUNDED, MUL),
        (
            Claim(BATCH, "is comparable to the solved multiplication", within(BATCH, MUL, OUTPUT, 5)),
            Claim(BATCH, "has tighter bounds than the solved multiplication", narrower(BATCH, MUL, [OUTPUT])),
            Claim(BATCH, "reads the first digit better than the solved multiplication",
                  above(BATCH, MUL, LABELS[0])),
            Claim(RANGE, "is weaker than with batch noise", above(BATCH, RANGE, OUTPUT)),
        ),
        "Published means of as many folds have no spread: they are compared as if it were ours.",
        lends_spread=True,
    ),
    _study(
        "4.15", "Colour channels, product: paths of the weights", _rows(COLOUR, FC, NMU, *SNMUS), pairs.paths,
        (
            Claim(NMU, "fails to converge to (1, 1) in a fold", not_full(NMU)),
            *(Claim(row, "converges to (1, 1) in all folds", full(row)) for row in SNMUS),
            Claim(FC, "is unable to converge reliably", not_full(FC)),
        ),
        "Weights count as 1 within 1e-6, after the last step.",
        metrics=(SUCCESS,), draw=draw_paths,
    ),
    _study(
        "F.1", "Isolated digits, product: accuracy by digit", _rows(ISOLATED),
        pairs.by_digit(pairs.first_seed),
        (
            Claim(MUL, "is unable to read zeros", below(MUL, [digit(0)], 1)),
            Claim(FC, "misreads all 6, 7 and 8", below(FC, [digit(d) for d in (6, 7, 8)], 1)),
            *(Claim(row, "reads at least 96 % of every digit", at_least(row, _ALL_DIGITS, 96))
              for row in (NMU, *SNMUS)),
        ),
        _ISOLATED_FOLD,
    ),
    _study(
        "F.2", "Isolated digits, product: confusion matrices", _rows(ISOLATED),
        pairs.confusions(pairs.first_seed),
        (
            Claim(MUL, "reads zeros as ones", reads(MUL, {0: 1}, 0.99)),
            Claim(FC, "reads 6, 7, 8 as 7, 8, 9", reads(FC, {6: 7, 7: 8, 8: 9}, 0.99)),
            *(Claim(row, "is a strong classifier of every digit", has_diagonal(row))
              for row in (NMU, *SNMUS)),
        ),
        _ISOLATED_FOLD, metrics=_READ, draw=draw_confusions,
    ),
    _study(
        "F.3", "Colour channels, product: accuracy by digit", _rows(COLOUR),
        pairs.by_digit(pairs.hardest_seed(_ROUNDED)),
        (
            Claim(BATCH, "reads every digit better than the solved multiplication", both(
                *(above(BATCH, MUL, column) for column in _ALL_DIGITS))),
        ),
        _HARD_FOLD,
    ),
    _study(
        "F.4", "Colour channels, product: confusion matrices", _rows(COLOUR),
        pairs.confusions(pairs.hardest_seed(_ROUNDED)),
        (
            *(Claim(row, "has a distinct diagonal", has_diagonal(row)) for row in (MUL, BATCH)),
            *(Claim(row, "has no distinct diagonal", has_diagonal(row, expected=False))
              for row in (FC, NMU, RANGE)),
            Claim(FC, "is biased towards 3", _reads_most(FC, 3)),
        ),
        _HARD_FOLD, metrics=_READ, draw=draw_confusions,
    ),
    _study(
        "F.5", "Isolated digits, product: accuracy over time", _rows(ISOLATED), pairs.over_time,
        (
            Claim(RANGE, "is above the solved multiplication after about 600 epochs", both(
                *(above(RANGE, MUL, at_part(label, part)) for label in LABELS for part in (0.8, 1.0)))),
            *(Claim(row, "has tight bounds, tighter than the NMU's", narrower(row, NMU, _ENDS))
              for row in SNMUS),
        ),
        "Epochs are shares of the 1000 of the full protocol.", draw=draw_curves,
    ),
    _study(
        "F.6", "Colour channels, product: accuracy over time", _rows(COLOUR), pairs.over_time,
        (
            Claim(BATCH, "has tighter bounds than the solved multiplication", narrower(BATCH, MUL, _ENDS)),
            Claim(RANGE, "learns no reasonable classifier", below(RANGE, _ENDS, 50)),
            *(Claim(row, "is better than the NMU", both(*(above(row, NMU, end) for end in _ENDS)))
              for row in SNMUS),
        ),
        "Epochs are shares of the 1000 of the full protocol.", draw=draw_curves,
    ),
)  # fmt: skip
