"""Trask et al. 2018, section 4.1 and appendix B: sums of two parts of 100 inputs, then an operation."""

from __future__ import annotations

from collections.abc import Iterable

from nalm.papers.claims import Check, Claim, Findings, both
from nalm.papers.shared.series import Series, table
from nalm.papers.trask2018.programs.relative import EXTRAPOLATION, INTERPOLATION, Relative
from nalm.recipes import Recipe
from nalm.tasks import ArithmeticDataset, RangeTask

RECIPE = Recipe(iterations=50_000)
SEEDS = 10
RANGE = "0:1=>1:2"
COLUMNS = {
    "a + b": "add",
    "a - b": "sub",
    "a × b": "mul",
    "a / b": "div",
    "a²": "square",
    "√a": "sqrt",
}
"""The columns, and the names of their operations here."""
SUMS, PRODUCTS = ("a + b", "a - b"), ("a × b", "a / b", "a²", "√a")
ACTIVATIONS = {
    "Relu6": "relu6",
    "Softsign": "softsign",
    "Tanh": "tanh",
    "Sigmoid": "sigmoid",
    "SELU": "selu",
    "ELU": "elu",
    "ReLU": "relu",
    "Crelu": "crelu",
}
BOUNDED = ("Relu6", "Softsign", "Tanh", "Sigmoid")
TASKS: dict[str, RangeTask] = {column: ArithmeticDataset(op, RANGE) for column, op in COLUMNS.items()}
NOTE = (
    "The paper states neither the distribution of the inputs, nor steps, optimiser and seeds. Ours: training "
    "and interpolation on U[0,1), extrapolation on U[1,2), where every sum is beyond all that training can "
    "show; subsets of 25 inputs that share half; Adam with the rate 1e-3, batches of 128, 50,000 steps, 10 "
    "seeds; the median over seeds, relative to the median of untrained linear models."
)


def mlp(label: str, activation: str) -> Series:
    """Two linear layers with an activation between them."""
    return Series(label, f"linear+linear(activation={activation})", recipe=RECIPE)


NONE = Series("None", "linear+linear", recipe=RECIPE)
NAC = Series("NAC", "nac+nac", recipe=RECIPE)
NALU = Series("NALU", "nalu+nalu", recipe=RECIPE)
SERIES = (*(mlp(label, name) for label, name in ACTIVATIONS.items()), NONE, NAC, NALU)
SOLVED = 0.05
"""In per cent: the paper prints smaller errors as 0.0."""


def solves(row: str, columns: Iterable[str], metric: str, most: float = SOLVED) -> Check:
    """In each of these columns the error of a row rounds to 0.0, or the lower end of its interval does."""
    return lambda f: all(least(f, row, c, metric) < most for c in columns)


def least(f: Findings, row: str, column: str, metric: str) -> float:
    """The lower end of an error's interval."""
    finding = f[row, column, metric]
    ends = [end for end in (finding.low, finding.value) if end is not None]
    return min(ends, default=float("inf"))


def fails(row: str, columns: Iterable[str], metric: str, most: float = SOLVED) -> Check:
    """In each of these columns the error of a row is too large to round to 0.0."""
    return lambda f: all((f[row, c, metric].value or 0.0) >= most for c in columns)


def value_of(f: Findings, row: str, column: str, metric: str) -> float:
    """An error; infinite if it has no value."""
    value = f[row, column, metric].value
    return float("inf") if value is None else value


IN, OUT = INTERPOLATION.name, EXTRAPOLATION.name


def static_claims(unit: float = 100.0) -> tuple[Claim, ...]:
    """What the text says about the static tasks; `unit` is the error of an untrained model."""
    solved = SOLVED * unit / 100
    return (
        *(
            Claim(
                label,
                f"succeeds at addition and subtraction in {word}",
                solves(label, SUMS, metric, solved),
            )
            for label in ("NAC", "NALU")
            for word, metric in (("interpolation", IN), ("extrapolation", OUT))
        ),
        *(
            Claim(
                "NALU",
                f"succeeds at multiplicative operations in {word}",
                solves("NALU", PRODUCTS, metric, solved),
            )
            for word, metric in (("interpolation", IN), ("extrapolation", OUT))
        ),
        Claim("NAC", "does not succeed at multiplicative operations", fails("NAC", PRODUCTS, OUT, solved)),
    )


ENTRIES = (
    Relative(
        "trask2018:table6",
        "Static tasks: error over that of an untrained model, by activation",
        "section 4.1, appendix B",
        SEEDS,
        table(SERIES, TASKS),
        threshold=1e-5,
        unit=1.0,
        metrics=(INTERPOLATION, EXTRAPOLATION),
        main=2,
        quick_seeds=3,
        quick_steps=0.1,
        note="Raw errors depend on the distribution of the inputs, which the paper does not state: compared "
        "are its columns divided by its column Random. " + NOTE,
        claims=static_claims(1.0),
    ),
    Relative(
        "trask2018:table7",
        "Static tasks: error in per cent of that of an untrained model",
        "section 4.1, appendix B",
        SEEDS,
        table(SERIES, TASKS),
        threshold=1e-5,
        metrics=(INTERPOLATION, EXTRAPOLATION),
        main=2,
        quick_seeds=3,
        quick_steps=0.1,
        note=NOTE,
        claims=(
            *static_claims(),
            Claim(
                "most",
                "cannot learn functions that generalise outside of the range of training: 5 of 9 baselines "
                "and more fail at extrapolation on every operation but sums",
                lambda f: sum(fails(s.label, PRODUCTS, OUT)(f) for s in SERIES[:9]) >= 5,
            ),
            *(
                Claim(
                    label,
                    "with a small range of outputs, fails to extrapolate in any case",
                    fails(label, COLUMNS, OUT, 1.0),
                )
                for label in BOUNDED
            ),
            Claim(
                "Relu6",
                "fails to extrapolate although it interpolates sums",
                both(solves("Relu6", SUMS, IN, 1.0), fails("Relu6", SUMS, OUT, 1.0)),
            ),
        ),
    ),
)
