"""Trask et al. 2018, section 4.1 and appendix B: sums of two parts of 100 inputs, then an operation."""

from __future__ import annotations

from collections.abc import Iterable

from nalm.papers.agreement import Finding
from nalm.papers.claims import Answer, Check, Claim, Findings
from nalm.papers.published import Published
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
    "seeds; the median over seeds, relative to the median of untrained linear models. A relative error below "
    "the paper's is no merit: sums of 25 numbers lie closer together than the paper's, so that every network "
    "fits them better, even the best linear map."
)


SAME_DATA = (
    "A model that has learnt the function has no error on any data, so that 0.0 per cent is compared. How "
    "far a wrong one is off depends on the data: such numbers are not."
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
    """In each of these columns the error of a row rounds to 0.0; weak if an end of its interval does not."""
    listed = tuple(columns)

    def check(f: Findings) -> Answer:
        worst = max((f[row, c, metric] for c in listed), key=_size)
        ends = [_size(worst) if end is None else end for end in (worst.low, worst.high)]
        return Answer(_size(worst) < most, ends[0] < most <= ends[1], detail=f"highest {_size(worst):.2g}")

    return check


def _size(finding: Finding) -> float:
    return float("inf") if finding.value is None else finding.value


def fails(row: str, columns: Iterable[str], metric: str, most: float = SOLVED) -> Check:
    """In each of these columns the error of a row is too large to round to 0.0."""
    listed = tuple(columns)

    def check(f: Findings) -> Answer:
        least = min(value_of(f, row, c, metric) for c in listed)
        return Answer(least >= most, detail=f"lowest {least:.2g}")

    return check


def value_of(f: Findings, row: str, column: str, metric: str) -> float:
    """An error; infinite if it has no value."""
    return _size(f[row, column, metric])


IN, OUT = INTERPOLATION.name, EXTRAPOLATION.name


def is_solved(published: Published) -> bool:
    """Whether a published percentage is that of a solution, which has no error on any data.

    A network that cannot be a solution may fit the data of training well: that depends on the data, too.
    """
    exact = published.metric == OUT or published.row.startswith(("NAC", "NALU", "None"))
    return published.value < SOLVED and exact


def is_claim(published: Published) -> bool:
    """Whether it is not a number: raw errors, however small, are those of data that the paper leaves open."""
    return published.kind == "claim"


def static_claims() -> tuple[Claim, ...]:
    """What the text says about the static tasks."""
    return (
        *(
            Claim(
                label,
                f"succeeds at addition and subtraction in {word}",
                solves(label, SUMS, metric),
            )
            for label in ("NAC", "NALU")
            for word, metric in (("interpolation", IN), ("extrapolation", OUT))
        ),
        *(
            Claim(
                "NALU",
                f"succeeds at multiplicative operations in {word}",
                solves("NALU", PRODUCTS, metric),
            )
            for word, metric in (("interpolation", IN), ("extrapolation", OUT))
        ),
        Claim("NAC", "does not succeed at multiplicative operations", fails("NAC", PRODUCTS, OUT)),
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
        note="Raw errors depend on the distribution of the inputs, which the paper does not state: shown are "
        "its columns divided by its column Random; table 7 has what can be compared. " + NOTE,
        same_data=is_claim,
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
        note=f"{NOTE} {SAME_DATA} A misprint: by table 6, √a in interpolation is 0.8 for Tanh and 0.2 for "
        "Sigmoid.",
        same_data=is_solved,
        claims=(
            *static_claims(),
            Claim(
                "most",
                "cannot learn functions that generalise outside of the range of training: 5 of 9 baselines "
                "and more fail at extrapolation on every operation but sums",
                lambda f: sum(bool(fails(s.label, PRODUCTS, OUT)(f)) for s in SERIES[:9]) >= 5,
            ),
            *(
                Claim(
                    label,
                    "with a small range of outputs, fails to extrapolate in any case",
                    fails(label, COLUMNS, OUT, 1.0),
                )
                for label in BOUNDED
            ),
        ),
    ),
)
