"""Madsen & Johansen 2020: the ten-parameter function and the arithmetic dataset."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from nalm.papers.claims import Claim, alike, best, better, both, full, lower, none, some
from nalm.papers.entry import Grid
from nalm.papers.madsen2020.programs import gates
from nalm.papers.metrics import MEDIAN_SOLVED_AT, SOLVED_AT, SPARSITY, SUCCESS
from nalm.papers.shared.series import Series, joined, table
from nalm.recipes import Ramp, Recipe, UnitPenalty
from nalm.tasks import ArithmeticDataset, RangeTask, TenParameters

STEPS = 5_000_000
QUICK = 0.02
"""Fraction of the five million steps that the quick protocol takes."""
PLAIN = Recipe(iterations=STEPS)
SUMS = replace(PLAIN, penalties=(UnitPenalty(0.01, Ramp(5e3, 5e4)),))
PRODUCTS = replace(PLAIN, penalties=(UnitPenalty(10.0, Ramp(1e6, 2e6)),))
"""Table 4: the penalty on units of sums and of products; the other units have none."""

_FOUR = (SUCCESS, MEDIAN_SOLVED_AT, SOLVED_AT, SPARSITY)
"""The columns of the paper's tables."""
NAC_NMU = Series("NAC•,NMU", "nac+nac-mul(weight=linear)", recipe=PRODUCTS)
NAC_SIGMA = Series("NAC•,σ", "nac+nac-mul(weight=sigmoid)", recipe=PLAIN)
NAC_MUL = Series("NAC•", "nac+nac-mul", recipe=PLAIN)
NAC = Series("NAC+", "nac+nac", recipe=PLAIN)
GATED = Series("Gated NAU/NMU", "gated-nau-nmu+gated-nau-nmu", recipe=PRODUCTS)
LINEAR = Series("Linear", "linear+linear", recipe=PLAIN)
NALU = Series("NALU", "nalu+nalu", recipe=PLAIN)
NAU = Series("NAU", "nau+nau", recipe=SUMS)
NMU = Series("NMU", "nau+nmu", recipe=PRODUCTS)
RELU = Series("ReLU", "linear+linear(activation=relu)", recipe=PLAIN)
RELU6 = Series("ReLU6", "linear+linear(activation=relu6)", recipe=PLAIN)
_OPS = ("mul", "div", "add", "sub", "sqrt", "square")
_HIDDEN = (2, 3, 4, 5, 6, 7, 8, 9, 10)
_RANGES = {
    "U[-2,-1]": "-2:-1",
    "U[-2,2]": "-2:2",
    "U[0,1]": "0:1=>1:5",
    "U[0.1,0.2]": "0.1:0.2",
    "U[1,2]": "1:2",
    "U[1.1,1.2]": "1.1:1.2",
    "U[10,20]": "10:20",
}
_LAMBDAS = (0.0, 0.01, 0.1, 1.0, 10.0, 100.0)
_SIZES = (4, 10, 25, 50, 75, 100, 125, 150, 175, 200, 225, 250, 275, 300)
_OVERLAPS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
_SUBSETS = (0.05, 0.1, 0.25, 0.5)


def _on(*ops: str) -> dict[str, RangeTask]:
    return {op: ArithmeticDataset(op) for op in ops}


def _hidden(series: Iterable[Series]) -> list[tuple[str, Series]]:
    return [(f"hidden {size}", replace(each, hidden=size)) for size in _HIDDEN for each in series]


def _by_hidden_size(*series: Series):  # type: ignore[no-untyped-def]
    """The default multiplication task with increasing hidden sizes."""
    return joined(*(table([each], {column: ArithmeticDataset("mul")}) for column, each in _hidden(series)))


def _strengths(series: Series, recipe: Recipe) -> list[tuple[str, Series]]:
    (part,) = recipe.penalties
    assert isinstance(part, UnitPenalty)
    return [
        (f"λ={value:g}", replace(series, recipe=replace(recipe, penalties=(replace(part, strength=value),))))
        for value in _LAMBDAS
    ]


def _sweep(id: str, op: str, series: Series, recipe: Recipe) -> Grid:
    """Figures 10 to 12: strengths of the sparsity penalty."""
    return Grid(
        id,
        f"Arithmetic dataset, {op}: strength of the penalty of the {series.label}",
        "Madsen & Johansen 2020, appendix C.6",
        50,
        joined(*(table([each], {name: ArithmeticDataset(op)}) for name, each in _strengths(series, recipe))),
        quick_steps=QUICK,
    )


def _parameters() -> dict[str, RangeTask]:
    """Figure 8: the tasks that vary one parameter of the dataset at a time."""
    sizes = {f"input size {n}": ArithmeticDataset("mul", inputs=n) for n in _SIZES}
    overlaps = {f"overlap {r:g}": ArithmeticDataset("mul", overlap_ratio=r) for r in _OVERLAPS}
    subsets = {f"subset {r:g}": ArithmeticDataset("mul", subset_ratio=r) for r in _SUBSETS}
    return {**sizes, **overlaps, **subsets}


_GATED_NOTE = (
    "Table 4 gives no penalty for the gated NAU/NMU: for all operations it is that of the products, as in "
    "the public program."
)
_RELU_NOTE = (
    "ReLU and ReLU6: table 4 has them in both layers. The public program rectifies the first layer only, and "
    "so do ours; it draws that layer's weights from He's distribution, ours are from Xavier's."
)
_INPUTS_NOTE = (
    "With more than 100 inputs the public program trains for 10 or 15 million steps, and the figure has "
    "models solved after 5 million; ours stop there, as appendix C.2 says."
)
_GATED = (
    Series("Gated NAU/NMU", "nau+gated-nau-nmu", recipe=PRODUCTS),
    Series("NALU (separate)", "nac+nalu(shared=false)", recipe=PLAIN),
    Series("NALU (shared)", "nac+nalu", recipe=PLAIN),
)
_SIMPLE = replace(PLAIN, iterations=200_000)

ENTRIES = (
    Grid(
        "madsen2020:table1",
        "The ten-parameter function",
        "Madsen & Johansen 2020, section 1.1",
        100,
        table(
            (
                replace(NAC_MUL, recipe=_SIMPLE),
                replace(NALU, recipe=_SIMPLE),
                replace(NMU, recipe=replace(PRODUCTS, iterations=200_000)),
            ),
            {"mul": TenParameters()},
        ),
        note="200,000 steps, as in the public program; the paper states none.",
        claims=(
            Claim("NMU", "succeeds more often", both(better("NMU", "NAC•"), better("NMU", "NALU"))),
            Claim("NMU", "converges faster", both(
                lower("solved at", "NMU", "NAC•"), lower("solved at", "NMU", "NALU")
            )),
        ),
    ),
    Grid(
        "madsen2020:table2",
        "Arithmetic dataset: three operations",
        "Madsen & Johansen 2020, section 4.1.2",
        100,
        joined(
            table((NAC_MUL, NALU, NMU), _on("mul")),
            table((NAC, LINEAR, NALU, NAU), _on("add", "sub")),
        ),
        metrics=_FOUR,
        quick_steps=QUICK,
        claims=(
            *(
                Claim("NMU", f"succeeds more often on mul than the {row}", better("NMU", row, ["mul"]))
                for row in ("NAC•", "NALU")
            ),
            Claim("NMU", "is faster on mul than the NAC•", lower("solved at", "NMU", "NAC•", ["mul"])),
            Claim("NAU", "succeeds like the NAC+ on both", alike("NAU", "NAC+", ["add", "sub"])),
            *(
                Claim("NAU", f"is {word} than the NAC+ on both", both(
                    *(lower(metric, "NAU", "NAC+", [op]) for op in ("add", "sub"))
                ))
                for word, metric in (("faster", "solved at"), ("sparser", "sparsity"))
            ),
            Claim("Linear", "has a hard time on sub", better("NAU", "Linear", ["sub"])),
        ),
    ),
    Grid(
        "madsen2020:table5",
        "Arithmetic dataset: gates",
        "Madsen & Johansen 2020, appendix C.5",
        100,
        table(_GATED, _on("mul", "add")),
        metrics=_FOUR,
        quick_steps=QUICK,
        note=_GATED_NOTE,
    ),
    Grid(
        "madsen2020:table6",
        "Arithmetic dataset: all models on all operations",
        "Madsen & Johansen 2020, appendix C.7",
        100,
        table(
            (NAC_NMU, NAC_SIGMA, NAC_MUL, NAC, GATED, LINEAR, NALU, NAU, NMU, RELU, RELU6), _on(*_OPS)
        ),
        metrics=_FOUR,
        quick_steps=QUICK,
        note=f"{_RELU_NOTE} {_GATED_NOTE}",
        claims=(
            Claim("all", "no model divides", both(*(
                none(series.label, ["div"])
                for series in (NAC_NMU, NAC_SIGMA, NAC_MUL, NAC, GATED, LINEAR, NALU, NAU, NMU, RELU, RELU6)
            ))),
            Claim("NMU", "learns squares", full("NMU", ["square"])),
            Claim("Gated NAU/NMU", "works very poorly", none("Gated NAU/NMU")),
        ),
    ),
    Grid(
        "madsen2020:fig3",
        "Arithmetic dataset, multiplication: hidden size and range",
        "Madsen & Johansen 2020, section 4.1.3",
        50,
        joined(
            table(
                (NMU, NAC_NMU, NAC_SIGMA, NAC_MUL, NALU),
                {column: ArithmeticDataset("mul", name) for column, name in _RANGES.items()},
            ),
            _by_hidden_size(NMU, NAC_NMU, NAC_SIGMA, NAC_MUL, NALU),
        ),
        quick_steps=QUICK,
        claims=(
            Claim("NMU", "copes with a hidden size of 10", best(
                "NMU", ["NAC•,NMU", "NAC•", "NAC•,σ", "NALU"], ["hidden 10"]
            )),
            Claim("NMU", "copes with negative inputs", some("NMU", ["U[-2,2]"])),
            Claim("all", "no model learns U[1.1,1.2]", both(*(
                none(s.label, ["U[1.1,1.2]"]) for s in (NMU, NAC_NMU, NAC_SIGMA, NAC_MUL, NALU)
            ))),
        ),
    ),
    Grid(
        "madsen2020:fig7",
        "Arithmetic dataset, multiplication: ablation of the NMU",
        "Madsen & Johansen 2020, appendix C.3",
        50,
        _by_hidden_size(
            NMU,
            Series("NMU, no R_sparse", "nau(penalised=false)+nmu(penalised=false)", recipe=PRODUCTS),
            Series("NMU, no W-clamp", "nau(clamp=false)+nmu(clamp=false)", recipe=PRODUCTS),
            Series(
                "NMU, no R_sparse, no W-clamp",
                "nau(clamp=false;penalised=false)+nmu(clamp=false;penalised=false)",
                recipe=PRODUCTS,
            ),
        ),
        quick_steps=QUICK,
        claims=(
            Claim("NMU, no R_sparse", "fails at larger sizes", none("NMU, no R_sparse", ["hidden 10"])),
            Claim("NMU, no W-clamp", "makes little difference", alike("NMU, no W-clamp", "NMU")),
        ),
    ),
    Grid(
        "madsen2020:fig8",
        "Arithmetic dataset, multiplication: parameters of the dataset",
        "Madsen & Johansen 2020, appendix C.4",
        50,
        table((NAC_NMU, NAC_SIGMA, NAC_MUL, GATED, NALU, NMU), _parameters()),
        quick_steps=QUICK,
        note=f"{_INPUTS_NOTE} {_GATED_NOTE}",
    ),
    gates.Gates(
        "madsen2020:fig9",
        "Arithmetic dataset: what gates choose",
        "Madsen & Johansen 2020, appendix C.5",
        100,
        table(_GATED, _on("mul", "add")),
        metrics=(gates.ADDS, gates.UNDECIDED),
        main=2,
        quick_steps=QUICK,
        claims=gates.CLAIMS,
        draw=gates.draw,
        note=(
            "Gates depend on the input: their mean over the training range at the chosen step. "
            f"{_GATED_NOTE}"
        ),
    ),
    _sweep("madsen2020:fig10", "add", NAU, SUMS),
    _sweep("madsen2020:fig11", "sub", NAU, SUMS),
    _sweep("madsen2020:fig12", "mul", NMU, PRODUCTS),
)  # fmt: skip
